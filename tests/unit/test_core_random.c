/* Random core programs through all passes: after each the checker is content, and the program gives the same
 * results, or fails as before. DPC_RANDOM_PROGRAMS sets how many, DPC_RANDOM_SEED where to start. */
#include "core_random.h"

static void report(const Gen *g, uint64_t seed, const char *pass, const char *what, const char *before)
{
    StrBuf after = {0};
    core_print(&after, g->b.p);
    print_error("seed %llu, after %s: %s\n--- before:\n%s\n--- after:\n%s\n", (unsigned long long)seed, pass, what,
                before, after.text);
    strbuf_free(&after);
    fail();
}

static void lower_operators(CoreProgram *p)
{
    core_lower_rows(p);
    core_lower_operators(p);
}

static const struct {
    const char *name;
    void (*run)(CoreProgram *p);
} pipeline[] = {
    {"generation", core_refresh},
    {"simplify", core_simplify},
    {"inline", core_inline},
    {"merge recursion", core_merge_recursion},
    {"accumulators", core_accumulators},
    {"linear loops", core_linear_loops},
    {"tail loops", core_tail_loops},
    {"inline", core_inline},
    {"simplify", core_simplify},
    {"fuse", core_fuse},
    {"simplify", core_simplify},
    {"lower operators", lower_operators},
    {"mask updates", core_mask_updates},
    {"lower loops", core_lower_loops},
    {"simplify", core_simplify},
};

static uint32_t successes;

static void run_seed(uint64_t seed, bool fuse_first)
{
    static Gen g;
    CoreFn *fn = gen_program(&g, seed);
    CoreValue args[RUNS][MAIN_PARAMS];
    Run expected[RUNS];
    for (uint32_t i = 0; i < RUNS; i++)
        random_args(&g, args[i]);
    for (uint32_t pass = 0; pass < sizeof pipeline / sizeof *pipeline; pass++) {
        StrBuf before = {0}, why = {0};
        core_print(&before, g.b.p);
        (fuse_first && pass == 1 ? core_fuse : pipeline[pass].run)(g.b.p);
        if (!core_check(g.b.p, &why))
            report(&g, seed, pipeline[pass].name, why.text, before.text);
        for (uint32_t i = 0; i < RUNS; i++) {
            Run r = run_main(&g, fn, args[i]);
            if (pass == 0)
                expected[i] = r;
            successes += pass == 0 && r.ok;
            if (!same_run(&expected[i], &r))
                report(&g, seed, pipeline[pass].name, r.internal ? r.error.text : "another result", before.text);
        }
        strbuf_free(&before);
        strbuf_free(&why);
    }
    b_close(&g.b);
}

static void test_random_programs(void **state)
{
    (void)state;
    run_random_programs(run_seed, 300);
    print_message("%u runs succeeded\n", successes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
