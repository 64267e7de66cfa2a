/* dpc test: the tests and properties in programs' comments, on every evaluator. */
#include "commands/commands.h"

#include "dp_activity.h"
#include "dp_rt.h"
#include "testing/test_run.h"

#include <string.h>
#include <time.h>

enum { DEFAULT_CASES = 100, MOST_CASES = 1000000 };

/* "core,flat": words of the option's choices */
static void read_evaluators(const char *text, bool *wanted)
{
    memset(wanted, 0, EVALUATORS * sizeof *wanted);
    for (; *text; text += *text == ',') {
        size_t n = strcspn(text, ",");
        Stage stage = evaluator_stage(text, n);
        wanted[stage ? evaluator_of(stage) : DEVICE] = true;
        text += n;
    }
}

static int read_numbers(TestOptions *o, const char *cases, const char *seed)
{
    uint64_t n = o->cases;
    if (cases && (!dp_parse_count(cases, MOST_CASES, &n) || n == 0))
        return usage_error("--cases takes a number from 1 to %d, not %s", (int)MOST_CASES, cases);
    if (seed && !dp_parse_count(seed, UINT64_MAX, &o->seed))
        return usage_error("--seed takes a number, not %s", seed);
    o->cases = (uint32_t)n;
    return EXIT_OK;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int test_files(char *const *paths, int n, const TestOptions *options)
{
    TestCounts total = {0};
    TestOptions tested = *options;
    uint32_t broken = 0;
    int status = EXIT_OK;
    double start = now();
    dp_activity_start();
    for (int i = 0; i < n; i++) {
        TestCounts counts = {0};
        int of_file = test_file(paths[i], options, &counts);
        if (n > 1 || of_file == EXIT_USAGE || counts.passed + counts.failed == 0)
            report_file(paths[i], counts, of_file);
        fflush(stdout);
        if (ferror(stdout)) /* main says so */
            return status;
        status = of_file > status ? of_file : status;
        broken += of_file == EXIT_USAGE;
        for (int e = PLAN; e < EVALUATORS; e++)
            tested.wanted[e] = tested.wanted[e] && of_file != EXIT_DEVICE;
        total.passed += counts.passed;
        total.failed += counts.failed;
    }
    report_summary(total, &tested, now() - start, broken);
    if (options->only && status == EXIT_OK && total.passed == 0)
        return usage_error("there is no test or property of %s", options->only);
    return status;
}

int command_test(const CommandLine *a)
{
    const char *const *given = a->values;
    TestOptions o = {.wanted = {true, true, true, true, true},
                     .seed = 1,
                     .cases = DEFAULT_CASES,
                     .only = given[OPTION_ONLY],
                     .params = given[OPTION_EACH_PARAM],
                     .flat_nests = wants_flat_nests(given[OPTION_EACH_PARAM]),
                     .messages = a->messages};
    o.exercise = given[OPTION_EXERCISE];
    if (given[OPTION_EVALS] || o.exercise)
        read_evaluators(given[OPTION_EVALS] ? given[OPTION_EVALS] : "core", o.wanted);
    int status = read_numbers(&o, given[OPTION_CASES], given[OPTION_SEED]);
    if (status == EXIT_OK)
        status = read_limits(&o.limits, given[OPTION_EACH_TIMEOUT], given[OPTION_EACH_MEMORY]);
    char error[256];
    if (status == EXIT_OK && o.params && !dp_params_check(o.params, error, sizeof error))
        status = usage_error("%s", error);
    return status ? status : test_files(a->words, a->n, &o);
}
