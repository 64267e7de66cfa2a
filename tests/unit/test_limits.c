/* What evaluations may take: memory, time and levels of recursion, on core, fused and flat. */
#include "flat/flat_eval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "compile_text.h"

typedef enum Evaluator { ON_CORE, ON_FUSED, ON_FLAT, EVALUATORS } Evaluator;

typedef struct Outcome { bool ok; uint64_t bits; EvalError error; double seconds; } Outcome;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* main, of i64 to i64. */
static Outcome run_on(Evaluator on, const char *program, int64_t n, const EvalLimits *limits)
{
    Session *s = session_create();
    CoreProgram *p = compile_text(s, program);
    Arena *arena = arena_create();
    CoreValue arg = {.type = {SC_I64, 0}, .bits = (uint64_t)n}, result;
    Outcome o = {.seconds = 0};
    if (on != ON_CORE) {
        core_fuse(p);
        core_simplify(p);
    }
    FlatProgram *flat = on == ON_FLAT ? flatten(p) : NULL;
    if (flat)
        flat_liveness(flat);
    double begun = now();
    o.ok = flat ? flat_eval(flat, flat->entries.at[0].fn, arena, &arg, &result, limits, &o.error, NULL)
                : core_eval(p, p->entries.at[0].fn, arena, &arg, &result, limits, &o.error, NULL);
    o.seconds = now() - begun;
    o.bits = o.ok ? result.bits : 0;
    arena_destroy(arena);
    session_destroy(s);
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

static void assert_failure(const char *program, int64_t n, const EvalLimits *limits, EvalErrorKind kind, const char *text)
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
#define ROWS \
    "entry main (n: i64) : i64 =\n" \
    "  let start = { iota 50 : _i in 20 }\n" \
    "  let rows = loop rows = start for i < n do rows with [i % 20] = { x + 1 : x in rows[(i + 7) % 20] }[1:]\n" \
    "                                                       ++ [i]\n" \
    "  in sum { sum row : row in rows }\n"
/* Accumulators of arrays, which only the interpreter holds between elements. */
#define FOLDS \
    "entry main (n: i64) : i64 =\n" \
    "  let sums = reduce (\\xs ys -> { x + y : x in xs; y in ys }) (replicate 10 0) { { i + j : j in 10 } : i in n }\n" \
    "  let all = scan (\\xs ys -> { max x y : x in xs; y in ys }) (replicate 10 0) { { i * j % 17 : j in 10 } : i in 50 }\n" \
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
    assert_failure("entry main (n: i64) : i64 = let a = scan (+) 0 (iota n) in a[n - 1] + sum { a[(i * i) % n] : i in n }\n",
                   INT64_C(1) << 31, NULL, EVAL_NO_MEMORY, "out of memory: 17.2 GB requested, 4.3 GB there");
}

/* ---- time ---- */

static void test_time(void **state)
{
    (void)state;
    const EvalLimits short_time = {.seconds = 0.3};
    const char *const endless[] = {
        "entry main (n: i64) : i64 = loop x = n while true do x\n",
        "entry main (n: i64) : i64 = loop x = n while x >= 0 do (x + 1) % 1000\n",
        "entry main (n: i64) : i64 = sum { loop x = i while x >= 0 do (x + 1) % 1000 : i in 10 }\n",
        "entry main (n: i64) : i64 = loop x = n for _ < 1000000000000 do sum { x ^ j : j in 10 }\n",
        "def f (x: i64) : i64 = if x == n0 then 0 else f ((x + 1) % 1000)\ndef n0 = 2000\n"
        "entry main (n: i64) : i64 = f n\n"};
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++)
        assert_failure(endless[i], 1, &short_time, EVAL_NO_TIME, "time limit of 0.3 s reached");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_live_memory),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
