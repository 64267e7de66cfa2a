/* Random core programs through flattening: the flat program gives the results of the core program it was made from.
 * DPC_RANDOM_PROGRAMS sets how many, DPC_RANDOM_SEED where to start. */
#include "core_random.h"

#include "flat/flat.h"
#include "flat/flat_eval.h"
#include "lower_core.h"
#include "plan/plan.h"

static void prepare(CoreProgram *p, bool fuses)
{
    core_simplify(p);
    core_inline(p);
    core_merge_recursion(p);
    core_tail_loops(p);
    core_inline(p);
    core_simplify(p);
    if (fuses) {
        core_fuse(p);
        core_simplify(p);
    }
    lower_core(p);
}

static Run run_flat(Gen *g, const FlatProgram *flat, const CoreValue *args)
{
    Run r = {0};
    FlatCounts counts = {0};
    r.ok = flat_eval(flat, flat->entries.at[0].fn, g->b.p->arena, args, r.results, NULL, &r.error, &counts);
    r.internal = !r.ok && r.error.kind != EVAL_AT_SITE;
    return r;
}

static void report(const Gen *g, uint64_t seed, const char *what)
{
    StrBuf text = {0};
    core_print(&text, g->b.p);
    print_error("seed %llu: %s\n%s\n", (unsigned long long)seed, what, text.text);
    strbuf_free(&text);
    fail();
}

/* Flattening is a function: it leaves core as it is, and gives the same again. */
static FlatProgram *flatten_twice(const Gen *g, uint64_t seed)
{
    StrBuf core[2] = {0}, flat[2] = {0};
    FlatProgram *p = NULL;
    core_print(&core[0], g->b.p);
    for (int i = 0; i < 2; i++) {
        p = flatten(g->b.p);
        flat_print(&flat[i], p);
    }
    core_print(&core[1], g->b.p);
    if (strcmp(core[0].text, core[1].text) != 0)
        report(g, seed, "flattening changed core");
    if (strcmp(flat[0].text, flat[1].text) != 0)
        report(g, seed, "the second time, another flat program");
    for (int i = 0; i < 2; i++) {
        strbuf_free(&core[i]);
        strbuf_free(&flat[i]);
    }
    return p;
}

/* Every reference of the plan made of it is released once, on every path. */
static void check_plan(const Gen *g, const FlatProgram *flat, uint64_t seed)
{
    StrBuf why = {0};
    if (g->b.session->files.n == 0)
        source_add_text(g->b.session, "random.dp", " ", 1, false); /* for the places of kernels */
    Plan *plan = plan_lower(flat);
    plan_batch_reads(plan);
    plan_lifetimes(plan);
    if (!plan_check(plan, &why))
        report(g, seed, why.text);
    strbuf_free(&why);
}

static void run_seed(uint64_t seed, bool fuses)
{
    static Gen g;
    CoreFn *fn = gen_program(&g, seed);
    CoreValue args[MAIN_PARAMS];
    StrBuf why = {0};
    prepare(g.b.p, fuses);
    FlatProgram *flat = flatten_twice(&g, seed);
    if (!flat_check(flat, &why))
        report(&g, seed, why.text);
    flat_liveness(flat);
    if (!flat_check(flat, &why))
        report(&g, seed, why.text);
    check_plan(&g, flat, seed);
    for (uint32_t i = 0; i < RUNS; i++) {
        random_args(&g, args);
        Run expected = run_main(&g, fn, args), r = run_flat(&g, flat, args);
        if (!same_run(&expected, &r))
            report(&g, seed, r.internal ? r.error.text : "another result");
    }
    strbuf_free(&why);
    b_close(&g.b);
}

static void test_random_programs(void **state)
{
    (void)state;
    run_random_programs(run_seed, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
