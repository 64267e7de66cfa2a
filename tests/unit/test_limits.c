/* What evaluations may take: memory, time and levels of recursion, on core, fused and flat. */
#include "flat/flat_eval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "compile_text.h"
#include "lower_core.h"
#include "sanitized.h"

typedef enum Evaluator { ON_CORE, ON_FUSED, ON_FLAT, EVALUATORS } Evaluator;

typedef struct Outcome {
    bool ok;
    uint64_t bits;
    EvalError error;
    double seconds;
} Outcome;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A program for one evaluator. */
typedef struct Ready {
    Session *session;
    CoreProgram *core;
    FlatProgram *flat; /* or NULL */
} Ready;

static Ready compile_for(Evaluator on, const char *program)
{
    Ready r = {.session = session_create()};
    r.core = compile_text(r.session, program);
    if (on != ON_CORE) {
        core_fuse(r.core);
        core_simplify(r.core);
    }
    if (on == ON_FLAT) {
        lower_core(r.core);
        r.flat = flatten(r.core);
        flat_liveness(r.flat);
    }
    return r;
}

/* main, of i64 to i64. */
static Outcome run_ready(const Ready *r, int64_t n, const EvalLimits *limits)
{
    Arena *arena = arena_create();
    CoreValue arg = {.type = {SC_I64, 0}, .bits = (uint64_t)n}, result;
    Outcome o = {.seconds = 0};
    double begun = now();
    o.ok = r->flat ? flat_eval(r->flat, r->flat->entries.at[0].fn, arena, &arg, &result, limits, &o.error, NULL)
                   : core_eval(r->core, r->core->entries.at[0].fn, arena, &arg, &result, limits, NULL, &o.error, NULL);
    o.seconds = now() - begun;
    o.bits = o.ok ? result.bits : 0;
    arena_destroy(arena);
    return o;
}

static Outcome run_on(Evaluator on, const char *program, int64_t n, const EvalLimits *limits)
{
    Ready r = compile_for(on, program);
    Outcome o = run_ready(&r, n, limits);
    session_destroy(r.session);
    return o;
}

static void assert_value(const char *program, int64_t n, const EvalLimits *limits, int64_t expected)
{
    for (Evaluator on = ON_CORE; on < EVALUATORS; on++) {
        Outcome o = run_on(on, program, n, limits);
        if (!o.ok)
            print_error("%s\n", o.error.text);
        assert_true(o.ok);
        assert_int_equal((int64_t)o.bits, expected);
    }
}

static void assert_failure(const char *program, int64_t n, const EvalLimits *limits, EvalErrorKind kind,
                           const char *text)
{
    for (Evaluator on = ON_CORE; on < EVALUATORS; on++) {
        Outcome o = run_on(on, program, n, limits);
        assert_false(o.ok);
        if (o.error.kind != kind || !strstr(o.error.text, text))
            print_error("on evaluator %d: %s\n", (int)on, o.error.text);
        assert_int_equal(o.error.kind, kind);
        assert_non_null(strstr(o.error.text, text));
        assert_true(o.error.span.end > 0); /* there is a place */
    }
}

/* ---- memory: what is alive, not what was ever made ---- */

#define LOOP "entry main (n: i64) : i64 = sum (loop a = iota n for i < n do map (+ i) a)\n"
/* Rows of rows, most of them dead; slices and rows are held by what looks at them. */
#define ROWS                                                                                                           \
    "entry main (n: i64) : i64 =\n"                                                                                    \
    "  let start = { iota 50 : _i in 20 }\n"                                                                           \
    "  let rows = loop rows = start for i < n do rows with [i % 20] = { x + 1 : x in rows[(i + 7) % 20] }[1:]\n"       \
    "                                                       ++ [i]\n"                                                  \
    "  in sum { sum row : row in rows }\n"
/* Accumulators of arrays, which only the interpreter holds between elements. */
#define FOLDS                                                                                                          \
    "entry main (n: i64) : i64 =\n"                                                                                    \
    "  let sums = reduce (\\xs ys -> { x + y : x in xs; y in ys }) (replicate 10 0) { { i + j : j in 10 } : i in n "   \
    "}\n"                                                                                                              \
    "  let all = scan (\\xs ys -> { max x y : x in xs; y in ys }) (replicate 10 0) { { i * j % 17 : j in 10 } : i in " \
    "50 }\n"                                                                                                           \
    "  in sum sums + sum { sum xs : xs in all }\n"

static void test_live_memory(void **state)
{
    (void)state;
    const EvalLimits little = {.bytes = 20 << 20};
    assert_value(LOOP, 2000, &little, INT64_C(2001) * (2000 * 1999 / 2)); /* makes 32 MB */
    const EvalLimits less = {.bytes = 8 << 20};
    Outcome core = run_on(ON_CORE, ROWS, 20000, NULL), limited = run_on(ON_CORE, ROWS, 20000, &less);
    assert_true(core.ok && limited.ok);
    assert_value(ROWS, 20000, NULL, (int64_t)core.bits);
    assert_true(core.bits == limited.bits);
    core = run_on(ON_CORE, FOLDS, 100000, NULL);
    assert_true(core.ok);
    assert_value(FOLDS, 100000, NULL, (int64_t)core.bits);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    const EvalLimits little = {.bytes = 1 << 20};
    assert_failure(LOOP, 200000, &little, EVAL_NO_MEMORY, "out of memory: 1.6 MB requested, ");
    assert_failure(LOOP, INT64_MAX, NULL, EVAL_NO_MEMORY, "out of memory: ");
    assert_failure(
        "entry main (n: i64) : i64 = let a = scan (+) 0 (iota n) in a[n - 1] + sum { a[(i * i) % n] : i in n }\n",
        INT64_C(1) << 31, NULL, EVAL_NO_MEMORY, "out of memory: 17.2 GB requested, 2.1 GB free of 2.1 GB");
}

/* ---- time ---- */

/* However little memory there is: the right value, or an error that says so, at a place. From some limit on it is the
 * value. */
static void assert_at_every_limit(const char *program, int64_t n)
{
    for (Evaluator on = ON_CORE; on < EVALUATORS; on++) {
        Ready r = compile_for(on, program);
        Outcome all = run_ready(&r, n, NULL);
        assert_true(all.ok);
        uint32_t failures = 0, in_a_row = 0;
        for (uint64_t bytes = 1; in_a_row < 100; bytes += bytes < 4096 ? 8 : bytes / 64) {
            assert_true(bytes < 1 << 20);
            Outcome o = run_ready(&r, n, &(EvalLimits){.bytes = bytes});
            if (!o.ok && o.error.kind != EVAL_NO_MEMORY)
                print_error("on evaluator %d with %lu bytes: %s\n", (int)on, (unsigned long)bytes, o.error.text);
            if (o.ok)
                assert_int_equal(o.bits, all.bits);
            else
                assert_true(o.error.kind == EVAL_NO_MEMORY && strstr(o.error.text, "memory") && o.error.span.end > 0);
            in_a_row = o.ok ? in_a_row + 1 : 0;
            failures += !o.ok;
        }
        assert_true(failures > 0);
        session_destroy(r.session);
    }
}

static void test_every_limit(void **state)
{
    (void)state;
    /* nested, elems, views, array, reduce, flatten */
    assert_at_every_limit(
        "entry main (n: i64) : i64 = sum (flatten { { x * j : j in iota x } ++ [x, n] : x in iota n })\n", 5);
    /* pack, split, merge, select, scan */
    assert_at_every_limit(
        "def even (x: i64) : bool = x % 2 == 0\n"
        "def f (row: [i64]) : i64 = if length row > 2 then sum { x : x in row | even x } else sum (scan max 0 row)\n"
        "entry main (n: i64) : i64 = sum { f { x * x : x in iota k } : k in iota n }\n",
        6);
    /* sort, hist, scatter, update, of sequences and of sequences of sequences */
    assert_at_every_limit("def g (k: i64) : i64 =\n"
                          "  let xs = { (7 * i) % 5 : i in iota k }\n"
                          "  let ys = scatter (sort xs) xs { 1 : _ in xs }\n"
                          "  let zs = loop zs = histogram 5 xs for i < 3 do zs with [i] = zs[i + 1] + k\n"
                          "  in sum ys + 3 * sum zs\n"
                          "entry main (n: i64) : i64 = g n + sum { g (i + 2) : i in iota n }\n",
                          4);
    /* lifted loops whose instances stop one by one, with arrays as their state */
    assert_at_every_limit("def h (k: i64) : i64 = sum (loop xs = iota k while sum xs < 40 do xs ++ [length xs])\n"
                          "entry main (n: i64) : i64 = sum { h i : i in iota n }\n",
                          5);
    /* recursion on the host, and in all instances at once */
    assert_at_every_limit("def walk (xs: [i64]) (n: i64) : i64 = if n < 1 then sum xs else walk { x + 1 : x in xs } (n "
                          "- 1) + walk xs (n - 2)\n"
                          "entry main (n: i64) : i64 = walk (iota n) n + sum { walk { i : _ in n } i : i in iota n }\n",
                          4);
    /* rows of rows: their slices, their gathering, their update */
    assert_at_every_limit("def rows (n: i64) : [[i64]] = { iota i : i in iota n }\n"
                          "entry main (n: i64) : i64 =\n"
                          "  let a = rows n\n"
                          "  let b = { a[(i * 3) % n] : i in iota n } with [1] = [n, n]\n"
                          "  in sum { sum (flatten (b[0:i] ++ a[i:n])) : i in iota n }\n",
                          5);
}

static void test_time(void **state)
{
    (void)state;
    const EvalLimits short_time = {.seconds = 0.3};
    const char *const endless[] = {
        "entry main (n: i64) : i64 = loop x = n while true do x\n",
        "entry main (n: i64) : i64 = loop x = n while x >= 0 do (x + 1) % 1000\n",
        "entry main (n: i64) : i64 = sum { loop x = i while x >= 0 do (x + 1) % 1000 : i in 10 }\n",
        "entry main (n: i64) : i64 = loop x = n for _ < 1000000000000 do sum { x ^ j : j in 10 }\n",
        ("def f (x: i64) : i64 = if x == n0 then 0 else f ((x + 1) % 1000)\ndef n0 = 2000\n"
         "entry main (n: i64) : i64 = f n\n")};
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++)
        assert_failure(endless[i], 1, &short_time, EVAL_NO_TIME, "time limit of 0.3 s reached");
}

/* ---- recursion ---- */
#ifndef FRAMES_ARE_COUNTED

/* Every level of each has the arguments of the level above, or more than one new call for each: they end long before
 * 20,000 levels have been made of all their calls. */
static void test_endless_recursion(void **state)
{
    (void)state;
    const EvalLimits few = {.bytes = 200 << 20, .seconds = 20};
    const char *const endless[] = {
        "def f (xs: [i64]) : i64 = if length xs == 1 then xs[0]\n"
        "  else let h = length xs / 2 in sum { f p : p in [xs[:h], xs[h:]] }\n"
        "entry main (n: i64) : i64 = f { i : i in n }\n",
        "def f (n: i64) (x: f64) : i64 = if n == 1 then 1 else sum { f (n / 2) x : _ in 3 }\n"
        "entry main (n: i64) : i64 = sum { f (i * n) 0.5 : i in 4 }\n",
        "def f (n: i64) : i64 = if n == 1 then 0 else 1 + sum { f (n - 1) : _ in 1 }\n"
        "entry main (n: i64) : i64 = f n\n",
        "def even (n: i64) : i64 = if n == 1 then 1 else sum { odd (n / 3) + odd (n / 2) : _ in 2 }\n"
        "def odd (n: i64) : i64 = if n == 1 then 0 else sum { even (n / 2) + even (n / 3) : _ in 2 }\n"
        "entry main (n: i64) : i64 = even n\n",
        "def f (xs: [i64]) : i64 = if length xs == 1 then f [] + f [5] else f [5] + f [6]\n"
        "entry main (n: i64) : i64 = sum { f { j : j in i } : i in n + 4 }\n"};
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++)
        assert_failure(endless[i], 0, &few, EVAL_TOO_DEEP, "recursion too deep");
}

/* New arguments at each level: where the levels' calls are joined, memory ends it, and the message says in which level.
 */
static void test_growing_recursion(void **state)
{
    (void)state;
    const EvalLimits few = {.bytes = 50 << 20};
    const char *program = "def t (x: i64) (y: i64) (z: i64) : i64 =\n"
                          "  if x < -1000000 then y else t (t (x + 1) y z) (t (y - 1) z x) (t (z - 1) x y)\n"
                          "entry main (n: i64) : i64 = sum { t x 5 3 : x in n }\n";
    Outcome core = run_on(ON_CORE, program, 2, &few), flat = run_on(ON_FLAT, program, 2, &few);
    assert_int_equal(core.error.kind, EVAL_TOO_DEEP);
    assert_int_equal(flat.error.kind, EVAL_NO_MEMORY);
    assert_non_null(strstr(flat.error.text, " free of 52.4 MB"));
    assert_non_null(strstr(flat.error.text, ", in level 1"));
    assert_non_null(strstr(flat.error.text, " of the recursion of t"));
}

/* Recursions that look endless for a while: deep with one instance, the same arguments twice in different calls, and as
 * many instances as there are numbers. */
static void test_long_recursion(void **state)
{
    (void)state;
    assert_value("def f (n: i64) : i64 = if n == 0 then 0 else 1 + sum { f (n - 1) : _ in 1 }\n"
                 "entry main (n: i64) : i64 = f n\n",
                 5000, NULL, 5000);
    assert_value("def f (n: i64) (m: i64) : i64 = if n == 0 then m else sum { f (n - 1) m : _ in 2 }\n"
                 "entry main (n: i64) : i64 = f n 1\n",
                 15, NULL, 1 << 15);
    assert_value(
        "def f (k: i64) (xs: [i64]) : i64 = if k == 0 then 1 else f (k - 1) [] + sum { f (k - 1) x : x in [xs, []] }\n"
        "entry main (n: i64) : i64 = f n []\n",
        10, NULL, 59049);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_live_memory),       cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_every_limit),       cmocka_unit_test(test_time),
#ifndef FRAMES_ARE_COUNTED
        cmocka_unit_test(test_endless_recursion), cmocka_unit_test(test_growing_recursion),
        cmocka_unit_test(test_long_recursion),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
