/* Work-efficiency: flattening may not raise a program's asymptotic work. Counted, not timed: each program runs on
 * the core interpreter (the sequential work) and on the flat interpreter, at two sizes; the ratio of both may not grow
 * with the size, and the number of lifted calls must follow the depth of the recursion, not its breadth. */
#include "flat/flat_eval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "compile_text.h"
#include "lower_core.h"

typedef struct Counted {
    double core, flat;
    FlatCounts counts;
} Counted;

static Counted count(const char *program, int64_t n)
{
    Session *s = session_create();
    CoreProgram *p = compile_text(s, program);
    Arena *arena = arena_create();
    CoreValue arg = {.type = {SC_I64, 0}, .bits = (uint64_t)n}, expected, got;
    EvalError error = {0};
    Counted c = {0};
    uint64_t work = 0;
    assert_true(core_eval(p, p->entries.at[0].fn, arena, &arg, &expected, NULL, NULL, &error, &work));
    core_fuse(p);
    core_simplify(p);
    lower_core(p);
    FlatProgram *flat = flatten(p);
    flat_liveness(flat);
    assert_true(flat_eval(flat, flat->entries.at[0].fn, arena, &arg, &got, NULL, &error, &c.counts));
    assert_true(expected.bits == got.bits);
    c.core = (double)work;
    c.flat = (double)c.counts.work;
    arena_destroy(arena);
    session_destroy(s);
    return c;
}

/* The ratio stays below `limit`, and is at 4n at most a quarter above that at n. */
static void check_ratio(const char *program, int64_t n, double limit)
{
    Counted small = count(program, n), large = count(program, 4 * n);
    double a = small.flat / small.core, b = large.flat / large.core;
    print_message("work ratio %.2f at %ld, %.2f at %ld; %lu lifted calls\n", a, (long)n, b, (long)(4 * n),
                  (unsigned long)large.counts.lifted_calls);
    assert_true(a < limit && b < limit);
    assert_true(b < 1.25 * a);
}

#define RANDOM "def mix (i: i64) : i64 = ((i * 1103515245 + 12345) >> 3) * 69069 & 0xffffff\n"

static void test_overlapping_slices(void **state)
{
    (void)state;
    check_ratio("entry main (n: i64) : i64 =\n"
                "  let xs = iota n\n"
                "  in sum { sum xs[a:b] : (a, b) in { (i, i + n / 2) : i in n / 2 } }\n",
                200, 4);
}

static void test_free_array(void **state)
{
    (void)state;
    check_ratio("entry main (n: i64) : i64 =\n"
                "  let xs = { i * i : i in 10 * n }\n"
                "  in sum { sum { xs[(i * 7 + k) % (10 * n)] : k in i % 3 } + xs[i] : i in n }\n",
                2000, 4);
}

static void test_quicksort(void **state)
{
    (void)state;
    check_ratio(RANDOM "def qsort (xs: [i64]) : [i64] =\n"
                       "  if length xs < 2 then xs\n"
                       "  else let p = xs[length xs / 2]\n"
                       "       in qsort { x in xs | x < p } ++ { x in xs | x == p } ++ qsort { x in xs | x > p }\n"
                       "entry main (n: i64) : i64 =\n"
                       "  let ys = qsort { mix i : i in n } in sum { if a > b then 1 else 0 : (a, b) in pairs ys }\n",
                1000, 5);
}

static void test_quickhull(void **state)
{
    (void)state;
    check_ratio(RANDOM "def cross ((x,y): (f64,f64)) (((x1,y1),(x2,y2)): ((f64,f64),(f64,f64))) : f64 =\n"
                       "  (x1-x)*(y2-y) - (y1-y)*(x2-x)\n"
                       "def hsplit (points: [(f64,f64)]) (p1: (f64,f64)) (p2: (f64,f64)) : [(f64,f64)] =\n"
                       "  let ds     = { cross p (p1,p2) : p in points }\n"
                       "  let packed = { p in points; d in ds | d > 0.0 }\n"
                       "  in if length packed < 2 then [p1] ++ packed\n"
                       "     else let pm = points[argmax ds]\n"
                       "          in flatten { hsplit packed a b : (a,b) in [(p1,pm),(pm,p2)] }\n"
                       "entry main (n: i64) : i64 =\n"
                       "  let points = { (sin (f64 (mix i)) , cos (f64 (mix (i + n)))) : i in n }\n"
                       "  let xs   = { x : (x,_) in points }\n"
                       "  let minx = points[argmin xs]\n"
                       "  let maxx = points[argmax xs]\n"
                       "  in length (hsplit points minx maxx ++ hsplit points maxx minx)\n",
                1000, 4);
}

static const char one_deep[] =
    "def down (k: i64) (xs: [i64]) : i64 = if k <= 0 then xs[0] else sum xs[0:2] + down (k - 1) xs\n"
    "entry main (n: i64) : i64 = let xs = iota n in sum { down (if i == 3 then 1000 else 0) xs : i in n }\n";

static void test_one_deep(void **state)
{
    (void)state;
    check_ratio(one_deep, 5000, 8);
    Counted c = count(one_deep, 100000);
    assert_in_range(c.counts.lifted_calls, 1000, 1010);
    assert_true(c.flat < 40 * 100000.0);
}

static void test_branch_taken_once(void **state)
{
    (void)state;
    check_ratio("entry main (n: i64) : i64 =\n"
                "  sum { if i == 7 then sum { j * i : j in n } else i : i in n }\n",
                2000, 6);
}

static void test_choosing_free_arrays(void **state)
{
    (void)state;
    check_ratio(
        "entry main (n: i64) : i64 =\n"
        "  let xs = iota n\n"
        "  let ys = { 2 * x : x in xs }\n"
        "  in sum { let (a, s) = loop (a, s) = (xs, 0) for k < i % 20 + 1 do\n"
        "                          let b = if (i + k) % 2 == 0 then ys else { x in a[0:2] | x > 1 } ++ xs[1:3]\n"
        "                          in (b, s + sum b[0:2])\n"
        "           in s + length a : i in n }\n",
        200, 8);
}

/* A call in both branches: one lifted call a level, not one a path. */
static void test_calls_are_joined(void **state)
{
    (void)state;
    Counted c = count("def find (xs: [i64]) (q: i64) (lo: i64) (hi: i64) : i64 =\n"
                      "  if hi - lo < 2 then sum xs[lo:hi]\n"
                      "  else let mid = (lo + hi) / 2\n"
                      "       in if xs[mid] <= q then 0 + find xs q mid hi + length xs[mid:mid]\n"
                      "                          else max (find xs q lo mid) (length xs[lo:lo])\n"
                      "entry main (n: i64) : i64 = let xs = iota n in sum { find xs i 0 n : i in n }\n",
                      4096);
    assert_in_range(c.counts.lifted_calls, 12, 14);
    Counted f = count("def fib (n: i64) : i64 = if n < 2 then n else fib (n - 1) + fib (n - 2)\n"
                      "entry main (n: i64) : i64 = fib n\n",
                      18);
    assert_in_range(f.counts.lifted_calls, 17, 19);
    Counted t = count("def tree (d: i64) : i64 = if d == 0 then 1 else sum { tree (d - 1) : _ in 2 } + tree (d - 1)\n"
                      "entry main (n: i64) : i64 = tree n\n",
                      8);
    assert_in_range(t.counts.lifted_calls, 8, 10);
    Counted m = count("def even (n: i64) : bool = if n == 0 then true else !(odd (n - 1))\n"
                      "def odd (n: i64) : bool = if n == 0 then false else !(even (n - 1)) && even (n - 1) != odd 0\n"
                      "entry main (n: i64) : i64 = sum { if even (i % 10) then 1 else 0 : i in n }\n",
                      100);
    assert_in_range(m.counts.lifted_calls, 5, 40);
}

/* Segments that are down to one value retire: n of length 1 and one of length n. */
static void test_retiring_segments(void **state)
{
    (void)state;
    check_ratio("entry main (n: i64) : i64 =\n"
                "  let rows = { { [j] : j in if i == 0 then n else 1 } : i in n }\n"
                "  in sum { length (reduce (++) [] row) : row in rows }\n",
                500, 12);
}

/* Sizes of rows are not looked at again in each call: not down a recursion, nor for each element of a map. */
static void test_sizes_of_rows(void **state)
{
    (void)state;
    const char *program =
        "def at (grid: [h][w]i64) (i: i64) (j: i64) : i64 = grid[clamp 0 (h - 1) i][clamp 0 (w - 1) j]\n"
        "def down (grid: [h][w]i64) (i: i64) : i64 = if i == h then w else at grid i 1 + down grid (i + 1)\n"
        "def total (grid: [h][w]i64) (same: [h][w]i64) : i64 =\n"
        "  sum { at grid i 0 + at same i 1 : i in h } + down grid 0\n"
        "def with_self (grid: [[i64]]) : i64 = total grid grid\n"
        "entry main (n: i64) : i64 =\n"
        "  with_self { [i, j] : (i, j) in zip (reverse (iota n)) (iota n) }\n";
    Counted small = count(program, 100), large = count(program, 400);
    print_message("work of sized rows: %.0f at 100, %.0f at 400\n", small.core, large.core);
    assert_true(large.core < 5 * small.core);
    assert_true(large.flat < 5 * small.flat);
    const char *unknown = "def at (grid: [h][w]i64) (i: i64) : i64 = grid[i][w - 1]\n"
                          "def total (grid: [[i64]]) (is: [i64]) : i64 = sum { at grid i : i in is }\n"
                          "entry main (n: i64) : i64 = total { iota (3 + i / n) : i in n } (reverse (iota n))\n";
    small = count(unknown, 100), large = count(unknown, 400);
    assert_true(large.core < 5 * small.core);
    assert_true(large.flat < 5 * small.flat);
}

/* A constant table is made once, not for each element. */
static void test_constant_tables(void **state)
{
    (void)state;
    Counted c = count("def table : [256]i64 = { loop c = i for _ < 8 do if c & 1 == 1 then 40961 ^ (c >> 1) else c >> "
                      "1 : i in 256 }\n"
                      "def weights : [4]i64 = [8, 4, 2, 1]\n"
                      "entry main (n: i64) : i64 =\n"
                      "  sum { loop c = i for k < 4 do table[(c ^ i) & 255] ^ (c >> 8) * weights[k] : i in n }\n",
                      1000);
    print_message("work of constant tables: %.0f, flat %.0f\n", c.core, c.flat);
    assert_true(c.core < 100 * 1000);
    assert_true(c.flat < 100 * 1000);
}

/* Keys of joins are looked for between those of neighbours, not in all of the other side. */
static void test_joins(void **state)
{
    (void)state;
    Counted c =
        count(RANDOM "def keyed (n: i64) (seed: i64) : [(i64, i64)] = { (mix (i + seed) % 100000, i) : i in n }\n"
                     "entry main (n: i64) : i64 = length (join (keyed n 1) (keyed n n))\n",
              1000);
    print_message("work of a join: %.0f, flat %.0f\n", c.core, c.flat);
    assert_true(c.core < 150 * 1000);
}

/* Four times the elements, at most `factor` times the work: sums of rows whose lengths differ much. */
static void check_growth(const char *body, double factor)
{
    char program[800];
    snprintf(program, sizeof program,
             RANDOM "def row (n: i64) (r: i64) : [i64] = { mix (i + r) : i in if r == 0 then n else r %% 4 }\n"
                    "entry main (n: i64) : i64 = sum { %s : xs in { row n r : r in n } }\n",
             body);
    Counted small = count(program, 1000), large = count(program, 4000);
    print_message("%s: work %.0f, then %.1f times\n", body, small.flat, large.flat / small.flat);
    assert_true(large.flat < factor * small.flat);
}

/* Nothing of the prelude that works on keys or bins is quadratic, also where one row has nearly all elements. */
static void test_keys_in_rows(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "sum (sort xs)",
        "length (unique xs)",
        "length (run_lengths xs)",
        "length (group_by (% 1000) xs)",
        "length (group_by (\\x -> (x % 10, x % 7)) xs)",
        "length (join { (x, 0) : x in xs } { (x, 1) : x in xs })",
        "sum (histogram (length xs) xs)",
        "length (reduce_by_index (++) [] (length xs) xs { [x] : x in xs })",
        "length (partition2 (> 9) xs).1",
        "length (transpose (unflatten 1 (length xs) xs))",
        "length (replicated_iota { x % 3 : x in xs })",
        "length (lengths_from_flags { x % 3 == 0 : x in xs })",
        "length (reduce (++) [] { [x] : x in xs })",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        check_growth(bodies[i], 6);
}

/* Four times the size, at most `factor` times the work; `body` makes an i64 of n. */
static void check_library(const char *imports, const char *body, int64_t n, double factor)
{
    char program[1200];
    snprintf(program, sizeof program, "%s" RANDOM "entry main (n: i64) : i64 =\n  %s\n", imports, body);
    Counted small = count(program, n), large = count(program, 4 * n);
    print_message("%.60s: work %.0f, then %.1f times\n", body, small.flat, large.flat / small.flat);
    assert_true(large.flat < factor * small.flat);
}

/* What the library's modules promise, at depth 0 and in rows: 4 times for 4 times the size where it is
 * linear, at most 6 where it is n log n, some more for expected work. */
static void test_library(void **state)
{
    (void)state;
    check_library("import \"order\"\n", "kth_smallest (n / 3) { mix i : i in n }", 4000, 6.5);
    check_library("import \"order\"\n", "sum { kth_smallest (n / 3) { mix (i * j) : i in n } : j in 3 }", 4000, 6.5);
    check_library("import \"order\"\n", "sum (top_k 10 { mix i : i in n })", 4000, 6.5);
    check_library("import \"order\"\n", "sum (merge { 2 * i : i in n } { 3 * i : i in n })", 2000, 6);
    check_library("import \"order\"\n",
                  "(argsort_sequences { { mix (i % 20 + j) % 3 : j in if i == 0 then n else i % 9 } : i in n })[n / 2]",
                  1000, 6);
    check_library("import \"graph\"\n", "sum (bfs_levels (from_undirected_edges n { (i, i / 2) : i in n }) 0)", 2000,
                  6);
    check_library("import \"graph\"\n",
                  "sum (topological_levels { { 2 * i + 1 + j : j in 2 | 2 * i + 1 + j < n } : i in n })", 2000, 6);
    check_library("import \"graph\"\n",
                  "length (spanning_forest n { (mix i % n, mix (i + n) % n, mix (i * i) % 99) : i in 3 * n })", 1000,
                  6.5);
    check_library("import \"integers\"\n", "length (primes_below n)", 4000, 6);
    check_library("import \"text\"\n", "sum (matching_brackets { if mix i % 2 == 0 then '(' else ')' : i in n })", 2000,
                  6);
    check_library("import \"fft\"\n", "length (fft { (f64 i, 0.0) : i in n })", 1024, 6);
    check_library("import \"geometry\"\n",
                  "length (convex_hull { (sin (f64 (mix i)) * f64 (mix (3 * i)), f64 (mix (i + n))) : i in n })", 2000,
                  6);
    check_library("import \"segments\"\n", "length (windows 3 (iota n)) + length (chunks 7 (iota n))", 2000, 5);
}

/* Operators that are parallel code: len-1 of their calls for a reduction, at most 2 len for a scan, whether there is
 * one sequence or many of different lengths. */
static void test_parallel_operators(void **state)
{
    (void)state;
    static const char add[] = "def _add (a: [i64]) (b: [i64]) : [i64] = { x + y : x in a; y in b }\n"
                              "def _row (i: i64) : [i64] = { i + j : j in 8 }\n"
                              "def _slow (a: i64) (b: i64) : i64 = sum { if j == 0 then a else b : j in [0, 1] }\n";
    static const char *const results[] = {
        "sum (reduce _add (_row 0) { _row i : i in n })",
        "sum { sum xs : xs in scan _add (_row 0) { _row i : i in n } }",
        "sum { sum xs : xs in scanx _add (_row 0) { _row i : i in n } }",
        "sum (scan _slow 0 { i : i in 4 * n })",
        "sum { sum (scan _slow 0 { j : j in if i == 0 then n else 1 }) : i in n }",
        "sum { sum (reduce_by_index _slow 0 (n / 4) { mix i % n : i in n } { i : i in n }) : _ in 2 }",
        "sum { sum xs : xs in reduce_by_index _add (_row 0) (n / 4) { mix i % n : i in n } { _row i : i in n } }",
    };
    for (uint32_t i = 0; i < sizeof results / sizeof *results; i++) {
        char program[1024];
        snprintf(program, sizeof program, RANDOM "%sentry main (n: i64) : i64 = %s\n", add, results[i]);
        check_ratio(program, 300, 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlapping_slices),
        cmocka_unit_test(test_free_array),
        cmocka_unit_test(test_quicksort),
        cmocka_unit_test(test_quickhull),
        cmocka_unit_test(test_one_deep),
        cmocka_unit_test(test_branch_taken_once),
        cmocka_unit_test(test_choosing_free_arrays),
        cmocka_unit_test(test_calls_are_joined),
        cmocka_unit_test(test_retiring_segments),
        cmocka_unit_test(test_sizes_of_rows),
        cmocka_unit_test(test_constant_tables),
        cmocka_unit_test(test_joins),
        cmocka_unit_test(test_retiring_segments),
        cmocka_unit_test(test_keys_in_rows),
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_parallel_operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
