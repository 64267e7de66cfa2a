/* Which indexes need no check: compiler/core/order.c. */
#include "core_builder.h"

#include "compile_text.h"

static void count_checked(void *ctx, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        *(uint32_t *)ctx += (s->kind == CORE_INDEX || s->kind == CORE_SLICE) && s->site != CORE_NO_SITE;
        core_stmt_blocks(s, count_checked, ctx);
    }
}

/* How many indexes and slices of the program's only function keep their checks? */
static uint32_t checked_of(const char *program)
{
    Session *s = session_create();
    const CoreProgram *p = compile_text(s, program);
    assert_int_equal(p->fns.n, 1);
    uint32_t n = 0;
    count_checked(&n, p->fns.at[0]->body);
    session_destroy(s);
    return n;
}

static void test_stencils(void **state)
{
    (void)state;
    assert_int_equal(checked_of("entry main (u: [n]f64) = "
                                "{ if i == 0 || i == n - 1 then u[i] else u[i-1] + u[i+1] : i in n }"),
                     0);
    assert_int_equal(
        checked_of("entry main (u: [n]f64) = { if i > 0 && i < n - 1 then u[i-1] + u[i+1] else u[i] : i in n }"), 0);
    assert_int_equal(
        checked_of("entry main (u: [n][m]f64) = { { if i < 2 || i >= n - 2 || j < 2 || m - 2 <= j then 0.0 "
                   "else u[i-2][j] + u[i+2][j] + u[i][j-1] + u[i][j+2] : j in m } : i in n }"),
        0);
    /* one too far */
    assert_int_equal(checked_of("entry main (u: [n]f64) = "
                                "{ if i == 0 || i == n - 1 then u[i] else u[i-2] + u[i+2] : i in n }"),
                     2);
    assert_int_equal(checked_of("entry main (u: [n]f64) = { if i != n - 1 then u[i-1] + u[i+1] else u[i] : i in n }"),
                     1);
}

static void test_clamped(void **state)
{
    (void)state;
    assert_int_equal(checked_of("entry main (u: [n]f64) = { u[max (i - 1) 0] + u[min (i + 1) (n - 1)] : i in n }"), 0);
    assert_int_equal(checked_of("entry main (u: [n]f64) = { u[n - 1 - i] + u[i / 2] : i in n }"), 0);
    assert_int_equal(checked_of("entry main (u: [n]f64) = { u[if i + 1 < n then i + 1 else 0] : i in n }"), 0);
    assert_int_equal(checked_of("entry main (u: [n]f64) = { u[max (i - 1) 0] + u[min (i + 1) n] : i in n }"), 1);
    assert_int_equal(checked_of("entry main (u: [n]f64) (k: i64) = { u[(i + k) % n] : i in n }"), 1);
}

/* A number of one's own instead of a length. */
static void test_numbers(void **state)
{
    (void)state;
    assert_int_equal(checked_of("entry main (n: i64) = let u = scan (+) 0 (iota n) in "
                                "{ if i == 0 || i == n - 1 then u[i] else u[i-1] + u[i+1] : i in n }"),
                     0);
    assert_int_equal(checked_of("entry main (n: i64) (m: i64) = let u = scan (+) 0 (iota n) in "
                                "{ if i == 0 || i == n - 1 then 0 else u[i-1] + u[i+1] : i in m }"),
                     2);
}

/* Sums that may wrap around say nothing. */
static void test_far_numbers(void **state)
{
    (void)state;
    assert_int_equal(
        checked_of(
            "entry main (u: [f64]) (ks: [i64]) = { if k + 1 < length u && k >= 0 then u[k + 1] else 0.0 : k in ks }"),
        1);
    assert_int_equal(
        checked_of(
            "entry main (u: [f64]) (ks: [i64]) = { if k < length u && k >= 1 then u[k - 1] else 0.0 : k in ks }"),
        0);
    assert_int_equal(checked_of("entry main (u: [f64]) (ks: [i64]) = { if k - 1 >= 0 && k - 1 < length u then u[k - 1] "
                                "else 0.0 : k in ks }"),
                     0);
}

static void test_bytes(void **state)
{
    (void)state;
    assert_int_equal(checked_of("entry main (xs: [u8]) = let t = { i * i : i in 256 } in { t[i64 x] : x in xs }"), 0);
    assert_int_equal(checked_of("entry main (t: [256]f64) (xs: [u8]) = { t[i64 x] : x in xs }"), 0);
    assert_int_equal(checked_of("entry main (t: [255]f64) (xs: [u8]) = { t[i64 x] : x in xs }"), 1);
    assert_int_equal(checked_of("entry main (t: [16]f64) (xs: [i64]) = { t[x & 15] : x in xs }"), 0);
}

/* Of a filter's elements there are no more than it looks through. */
static void test_filters(void **state)
{
    (void)state;
    assert_int_equal(checked_of("entry main (xs: [i64]) = let ys = { x : x in xs | x > 3 } in "
                                "if length ys > 2 then xs[2] else sum ys"),
                     0);
    assert_int_equal(checked_of("entry main (xs: [i64]) = let ys = { x : x in xs | x > 3 } in "
                                "if length xs > 2 then ys[2] else sum ys"),
                     1);
    assert_int_equal(checked_of("entry main (xs: [i64]) = let ys = { x : x in xs | x > 3 } in "
                                "if length ys > 2 then xs[3] else sum ys"),
                     1);
}

static void test_multiples(void **state)
{
    (void)state;
    assert_int_equal(checked_of("entry main (rows: [[f64]]) = "
                                "{ { r[2 * i] - r[2 * i + 1] : i in length r / 2 } : r in rows }"),
                     0);
    assert_int_equal(checked_of("entry main (rows: [[f64]]) = "
                                "{ { r[3 * i + 2] - r[3 * (i + 1) - 2] : i in length r / 3 } : r in rows }"),
                     0);
    assert_int_equal(checked_of("entry main (rows: [[f64]]) = "
                                "{ let h = length r / 2 in { r[i] - r[i + h] : i in h } : r in rows }"),
                     0);
    /* one too far, or too near */
    assert_int_equal(checked_of("entry main (rows: [[f64]]) = "
                                "{ { r[2 * i] - r[2 * i + 2] : i in length r / 2 } : r in rows }"),
                     1);
    assert_int_equal(checked_of("entry main (rows: [[f64]]) = "
                                "{ { r[2 * i] - r[2 * i + 1] : i in (length r + 1) / 2 } : r in rows }"),
                     1);
    assert_int_equal(checked_of("entry main (rows: [[f64]]) = "
                                "{ { r[2 * i - 1] - r[3 * i] : i in length r / 2 } : r in rows }"),
                     2);
    assert_int_equal(checked_of("entry main (rows: [[f64]]) (k: i64) = "
                                "{ { r[2 * (i + k)] : i in length r / 2 } : r in rows }"),
                     1);
    assert_int_equal(checked_of("entry main (rows: [[f64]]) = "
                                "{ let h = (length r + 1) / 2 in { r[i + h] : i in h } : r in rows }"),
                     1);
}

static void test_ranges(void **state)
{
    (void)state;
    assert_int_equal(checked_of("entry main (bs: [n][81]u8) = "
                                "{ { sum { b[27 * (k / 3) + 9 * (i / 3) + 3 * (k % 3) + i % 3] : i in 9 } : k in 9 } "
                                ": b in bs }"),
                     0);
    assert_int_equal(checked_of("entry main (bs: [n][80]u8) = "
                                "{ { sum { b[27 * (k / 3) + 9 * (i / 3) + 3 * (k % 3) + i % 3] : i in 9 } : k in 9 } "
                                ": b in bs }"),
                     1);
    assert_int_equal(
        checked_of("entry main (t: [16]f64) (xs: [u32]) = { t[i64 (x & 15)] + t[i64 (x >> 28)] : x in xs }"), 0);
    assert_int_equal(
        checked_of("entry main (t: [15]f64) (xs: [u32]) = { t[i64 (x & 15)] + t[i64 (x % 15)] : x in xs }"), 1);
    assert_int_equal(checked_of("entry main (t: [16]f64) (xs: [i32]) = { t[i64 (x & 15)] : x in xs }"), 1);
}

/* i < n - k, so i + k < n: of numbers that are not negative. */
static void test_differences(void **state)
{
    (void)state;
    assert_int_equal(
        checked_of("entry main (c: [n]f64) (lags: i64) = { sum { c[i] * c[i + k] : i in n - k } : k in lags }"), 0);
    assert_int_equal(checked_of("entry main (c: [n]f64) (lags: i64) = "
                                "{ sum { if i < n - k then c[k + i] else 0.0 : i in n } : k in lags }"),
                     0);
    /* one too far */
    assert_int_equal(checked_of("entry main (c: [n]f64) (lags: i64) = "
                                "{ sum { if i <= n - k then c[k + i] else 0.0 : i in n } : k in lags }"),
                     1);
    assert_int_equal(
        checked_of("entry main (c: [n]f64) (lags: i64) = { sum { c[i + k + 1] : i in n - k } : k in lags }"), 1);
    /* n - k may have wrapped around; k may be negative */
    assert_int_equal(
        checked_of("entry main (c: [f64]) (n: i64) (lags: i64) = { sum { c[i + k] : i in n - k } : k in lags }"), 1);
    assert_int_equal(checked_of("entry main (c: [n]f64) (ks: [i64]) = { sum { c[i + k] : i in n - k } : k in ks }"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stencils),    cmocka_unit_test(test_clamped), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_far_numbers), cmocka_unit_test(test_bytes),   cmocka_unit_test(test_filters),
        cmocka_unit_test(test_multiples),   cmocka_unit_test(test_ranges),  cmocka_unit_test(test_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
