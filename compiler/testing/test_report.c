/* What `dpc test` prints. */
#include "testing/test_run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Style {
    const char *place, *bad, *good, *off;
} Style;

/* Reports go to standard output. */
static Style style(void)
{
    const char *no_colour = getenv("NO_COLOR");
    bool colour = isatty(STDOUT_FILENO) && !(no_colour && *no_colour);
    return colour ? (Style){"\033[1m", "\033[1;31m", "\033[1;32m", "\033[0m"} : (Style){"", "", "", ""};
}

/* "core, fused and flat" */
static void print_evaluators(const bool *on)
{
    int last = -1, n = 0, i = 0;
    for (int e = 0; e < EVALUATORS; e++) {
        n += on[e];
        last = on[e] ? e : last;
    }
    for (int e = 0; e < EVALUATORS; e++)
        if (on[e])
            printf("%s%s", i++ == 0 ? "" : e == last && n > 1 ? " and " : ", ", evaluator_name(e));
}

static void report_failure(const TestRun *t, const Subject *s, Span at, const Failure *f)
{
    Style c = style();
    LineCol place = source_linecol(t->c->session, at.file, at.start);
    printf("%s%s:%u:%u:%s %sfailed:%s %s%s on ", c.place, t->c->path, place.line, place.col, c.off, c.bad, c.off,
           s->block->is_property ? "property " : "", s->block->name);
    print_evaluators(f->on);
    printf("\n%s", f->text);
}

static void report_failures(const TestRun *t, const Subject *s, Span at, const Failures *failures, TestCounts *counts)
{
    counts->failed += failures->n > 0;
    counts->passed += failures->n == 0;
    for (uint32_t i = 0; i < failures->n; i++)
        report_failure(t, s, at, &failures->at[i]);
}

void report_subject(const TestRun *t, const Subject *s, TestCounts *counts)
{
    if (s->block->is_property) {
        report_failures(t, s, s->block->span, &s->failures, counts);
        return;
    }
    for (uint32_t i = 0; i < s->ninputs; i++)
        report_failures(t, s, s->inputs[i].from->span, &s->inputs[i].failures, counts);
}

static void print_counts(TestCounts counts)
{
    Style c = style();
    printf("%s%u passed%s", counts.passed && !counts.failed ? c.good : "", counts.passed, c.off);
    if (counts.failed)
        printf(", %s%u failed%s", c.bad, counts.failed, c.off);
}

void report_file(const char *path, TestCounts counts, int status)
{
    printf("%s: ", path);
    if (status == EXIT_USAGE || (status > EXIT_USAGE && counts.passed + counts.failed == 0))
        printf("not tested, because of errors");
    else if (counts.passed + counts.failed == 0)
        printf("no tests");
    else
        print_counts(counts);
    printf("\n");
}

void report_summary(TestCounts counts, const TestOptions *options, double seconds, uint32_t broken)
{
    bool any = false;
    for (int e = 0; e < EVALUATORS; e++)
        any = any || options->wanted[e];
    print_counts(counts);
    printf(any ? ", on " : ", on no evaluator");
    print_evaluators(options->wanted);
    if (broken)
        printf("; %u file%s not tested, because of errors", broken, broken == 1 ? "" : "s");
    printf("; %.1f s\n", seconds);
}
