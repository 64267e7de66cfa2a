/* Work and span as the meter counts them: what the counts of lines and definitions add up to, on random core programs.
 */
#include "core_random.h"
#include "cost/meter.h"

enum { LINES = 40 };

/* ---- lines for statements that have none ---- */

static void spread_block(void *ctx, CoreBlock *b)
{
    Gen *g = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const uint32_t line = rnd(g, LINES);
        b->stmts.at[i]->span = span_make(0, line, line);
        core_stmt_blocks(b->stmts.at[i], spread_block, g);
    }
}

static void spread_lines(Gen *g)
{
    char text[LINES + 1];
    memset(text, '\n', LINES);
    assert_int_equal(source_add_text(g->b.p->session, "t.dp", text, LINES, false), 0);
    for (uint32_t i = 0; i < g->b.p->fns.n; i++) {
        g->b.p->fns.at[i]->span = span_make(0, i, i);
        spread_block(g, g->b.p->fns.at[i]->body);
    }
}

/* ---- what always holds ---- */

static uint32_t successes;

static void check_sums(Meter *m)
{
    uint32_t nlines = 0, ndefs = 0;
    uint64_t work = 0, span = 0, own = 0;
    const MeterLine *lines = meter_lines(m, &nlines);
    const MeterDef *defs = meter_defs(m, &ndefs);
    for (uint32_t i = 0; i < nlines; i++) {
        work += lines[i].work;
        span += lines[i].span;
        assert_true(lines[i].times > 0 && (i == 0 || lines[i - 1].line < lines[i].line));
    }
    assert_int_equal(work, meter_work(m));
    assert_int_equal(span, meter_span(m));
    for (uint32_t i = 0; i < ndefs; i++) {
        own += defs[i].own_work;
        assert_true(defs[i].own_work <= defs[i].work && defs[i].work <= meter_work(m));
        assert_true(defs[i].span <= defs[i].work && defs[i].span <= meter_span(m));
    }
    assert_int_equal(own, meter_work(m));
    assert_true(meter_span(m) <= meter_work(m));
}

static void run_seed(uint64_t seed, bool simplified)
{
    static Gen g;
    CoreFn *fn = gen_program(&g, seed);
    CoreValue args[MAIN_PARAMS], results[MAIN_RESULTS];
    EvalError error = {0};
    if (simplified)
        core_simplify(g.b.p);
    core_refresh(g.b.p);
    spread_lines(&g);
    random_args(&g, args);
    Meter *m = meter_create(g.b.p);
    const EvalObserver observer = meter_observer(m);
    if (core_eval(g.b.p, fn, g.b.p->arena, args, results, NULL, &observer, &error, NULL)) {
        successes++;
        check_sums(m);
    }
    meter_destroy(m);
    b_close(&g.b);
}

static void test_sums_of_random_programs(void **state)
{
    (void)state;
    run_random_programs(run_seed, 300);
    print_message("%u runs succeeded\n", successes);
    assert_true(successes > 100);
}

static void test_log(void **state)
{
    (void)state;
    const uint64_t n[] = {0, 1, 2, 3, 4, 5, 8, 9, 1024, 1025, UINT64_MAX};
    const uint32_t log[] = {0, 0, 1, 2, 2, 3, 3, 4, 10, 11, 64};
    for (uint32_t i = 0; i < sizeof n / sizeof *n; i++)
        assert_int_equal(meter_log(n[i]), log[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_log), cmocka_unit_test(test_sums_of_random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
