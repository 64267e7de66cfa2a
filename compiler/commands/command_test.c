/* dpc test: the tests and properties in programs' comments, on every evaluator. */
#include "dp_args.h"
#include "testing/test_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_CASES = 100, MOST_CASES = 1000000 };

/* "core,flat" */
static bool read_evaluators(const char *text, bool *wanted)
{
    memset(wanted, 0, EVALUATORS * sizeof *wanted);
    for (;; text++) {
        size_t n = strcspn(text, ",");
        Stage stage = evaluator_stage(text, n);
        bool device = n == 6 && memcmp(text, "device", 6) == 0;
        if (!stage && !device)
            return false;
        wanted[device ? DEVICE : (int)(stage - STAGE_CORE)] = true;
        text += n;
        if (!*text)
            return true;
    }
}

static bool read_count(const char *text, uint64_t most, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && *value <= most;
}

static int read_option(TestOptions *o, const char *arg)
{
    const char *evaluators = option_value(arg, "--eval"), *cases = option_value(arg, "--cases");
    const char *seed = option_value(arg, "--seed"), *only = option_value(arg, "--only");
    const char *timeout = option_value(arg, "--timeout"), *memory = option_value(arg, "--memory");
    uint64_t n;
    int status = EXIT_OK;
    if (diagnostics_option(arg, &o->messages, &status))
        return status;
    if (timeout || memory) {
        o->limits.timeout = timeout ? timeout : o->limits.timeout;
        o->limits.memory = memory ? memory : o->limits.memory;
        return read_limits(&o->limits);
    }
    if (!evaluators && !cases && !seed && !only)
        return usage_error("dpc test has no option %s", arg);
    if (only && !*only)
        return usage_error("--only takes the name of an entry or a property");
    if (only)
        o->only = only;
    if (evaluators && !read_evaluators(evaluators, o->wanted))
        return usage_error("--eval takes a list of core, fused, flat and device");
    if (cases) {
        if (!read_count(cases, MOST_CASES, &n) || n == 0)
            return usage_error("--cases takes a number from 1 to %d", (int)MOST_CASES);
        o->cases = (uint32_t)n;
    }
    if (seed && !read_count(seed, UINT64_MAX, &o->seed))
        return usage_error("--seed takes a number");
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
        tested.wanted[DEVICE] = tested.wanted[DEVICE] && of_file != EXIT_DEVICE;
        total.passed += counts.passed;
        total.failed += counts.failed;
    }
    report_summary(total, &tested, now() - start, broken);
    if (options->only && status == EXIT_OK && total.passed == 0)
        return usage_error("there is no test or property of %s", options->only);
    return status;
}

int command_test(int argc, char **argv)
{
    TestOptions options = {.wanted = {true, true, true, true}, .seed = 1, .cases = DEFAULT_CASES};
    int i = 0;
    bool words = true;
    for (; at_option(argc, argv, &i, &words); i++) {
        int status = read_option(&options, argv[i]);
        if (status)
            return status;
    }
    if (i == argc)
        return usage_error("dpc test takes the names of .dp files");
    return test_files(argv + i, argc - i, &options);
}
