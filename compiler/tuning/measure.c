#include "tuning/measure.h"

#include "dp_activity.h"
#include "support/memory.h"
#include "testing/value_diff.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEAST_RUNS = 3, MOST_RUNS = 40 };
#define RUNS_SECONDS 0.25 /* after LEAST_RUNS, no further one is begun */

static double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void tuner_start(Tuner *t)
{
    t->times = getenv("DP_TUNE_TIMES");
    t->begin = clock_seconds();
}

void tuner_end(Tuner *t)
{
    if (t->first)
        dp_leaves_free(t->first, t->entry->nresults);
    free(t->first);
    t->first = NULL;
}

double tuner_seconds(void *data)
{
    const Tuner *t = data;
    return t->times ? t->counted : clock_seconds() - t->begin;
}

/* ---- settings ---- */

static void print_settings(StrBuf *out, const DpTunings *settings)
{
    char text[128];
    for (DpTuning i = 0; i < PARAM_COUNT; i++) {
        if (!settings->set[i])
            continue;
        dp_params_print_setting(i, settings->value[i], text, sizeof text);
        strbuf_printf(out, "%s%s", out->n ? "," : "", text);
    }
}

/* For tests: by DP_TUNE_TIMES. */
static double counted_us(const Tuner *t, const DpTunings *settings)
{
    double us = 1000;
    char text[128];
    for (const char *at = t->times; at && *at; at += *at == ',') {
        size_t n = strcspn(at, ",:");
        for (DpTuning i = 0; i < PARAM_COUNT; i++) {
            dp_params_print_setting(i, settings->value[i], text, sizeof text);
            if (settings->set[i] && strlen(text) == n && memcmp(text, at, n) == 0 && at[n] == ':')
                us *= strtod(at + n + 1, NULL);
        }
        at += strcspn(at, ",");
    }
    return us;
}

/* ---- runs ---- */

static bool is_same(const Tuner *t, const DpLeaf *result)
{
    for (uint32_t i = 0; i < t->entry->nresults; i++)
        if (!dp_leaf_equal(&t->first[i], &result[i], result[i].scalar == DP_F32 ? TOLERANCE_F32 : TOLERANCE_F64))
            return false;
    return true;
}

/* The first one stays. */
static TuneOutcome compare_result(Tuner *t, DpLeaf *result)
{
    if (!t->first) {
        t->first = result;
        return TUNE_RUNS;
    }
    const TuneOutcome outcome = is_same(t, result) ? TUNE_RUNS : TUNE_DIFFERS;
    dp_leaves_free(result, t->entry->nresults);
    free(result);
    return outcome;
}

typedef struct Runs {
    Tuner *tuner;
    DpRt *rt;
    DpArg *args, *results;
} Runs;

/* Its microseconds. kept: NULL, or leaves for the result. */
static double run_once(const Runs *r, DpLeaf *kept)
{
    const DpEntry *e = r->tuner->entry;
    DpLeaf *shapes = memory_alloc((size_t)e->nresults + 1, sizeof *shapes);
    dp_leaves_init(kept ? kept : shapes, r->tuner->result_type);
    dp_upload_args(r->rt, e, r->tuner->args, r->args);
    dp_settle(r->rt);
    const double start = clock_seconds();
    dp_run(r->rt, e, r->args, r->results);
    dp_check(r->rt);
    const double us = 1e6 * (clock_seconds() - start);
    if (kept)
        dp_download_results(r->rt, e, r->results, kept);
    dp_release_results(r->rt, e, kept ? kept : shapes, r->results);
    free(shapes);
    return us;
}

static void time_runs(const Runs *r, double enough_us, TuneMeasured *m)
{
    const double start = clock_seconds();
    for (int i = 0; i < MOST_RUNS && !dp_failed(r->rt); i++) {
        const double us = run_once(r, NULL);
        if (i == 0 || us < m->us)
            m->us = us;
        if ((enough_us > 0 && m->us > enough_us) || (i + 1 >= LEAST_RUNS && clock_seconds() - start > RUNS_SECONDS))
            return;
    }
}

static void run_all(const Runs *r, double enough_us, TuneMeasured *m)
{
    DpLeaf *result = memory_alloc((size_t)r->tuner->entry->nresults + 1, sizeof *result);
    dp_keep_args(r->rt, r->tuner->entry, r->tuner->args);
    run_once(r, result);
    m->outcome = TUNE_FAILS;
    if (!dp_failed(r->rt))
        m->outcome = compare_result(r->tuner, result);
    else
        free(result);
    if (m->outcome == TUNE_RUNS && !r->tuner->times)
        time_runs(r, enough_us, m);
    if (!dp_failed(r->rt))
        return;
    const DpFailure failure = dp_failure(r->rt);
    m->outcome = TUNE_FAILS;
    r->tuner->status = failure.status;
    snprintf(r->tuner->failure, sizeof r->tuner->failure, "%s%s%.900s", failure.log ? failure.log : "",
             failure.log ? "\n" : "", failure.message);
}

static void run_opened(Tuner *t, DpRt *rt, double enough_us, TuneMeasured *m)
{
    const DpEntry *e = t->entry;
    Runs runs = {t, rt, memory_alloc((size_t)e->nargs + 1, sizeof(DpArg)),
                 memory_alloc((size_t)e->nresults + 1, sizeof(DpArg))};
    dp_set_stack(rt, t->stack_end);
    dp_device_title(rt, t->device, sizeof t->device);
    dp_device_driver(rt, t->driver, sizeof t->driver);
    m->gpu = dp_has_gpu_shape(rt);
    run_all(&runs, enough_us, m);
    free(runs.args);
    free(runs.results);
}

void tuner_measure(void *data, const DpTunings *settings, double enough_us, TuneMeasured *m)
{
    Tuner *t = data;
    StrBuf text = {0};
    DpOpenError error;
    print_settings(&text, settings);
    *m = (TuneMeasured){.outcome = TUNE_FAILS};
    DpOpenOptions open = t->open;
    open.params = text.text;
    open.optimised = true;
    open.asked = m->asked;
    t->status = 0;
    DpRt *rt = dp_rt_open(t->program, &open, &error);
    if (rt) {
        run_opened(t, rt, enough_us, m);
        dp_rt_close(rt);
    } else {
        t->status = error.status;
        snprintf(t->failure, sizeof t->failure, "error: %s", error.text);
    }
    if (t->times)
        m->us = counted_us(t, settings);
    t->counted += 1;
    strbuf_free(&text);
}
