#include "tuning/search.h"

#include <stdio.h>
#include <string.h>

#define FASTER 0.97  /* of the time that something takes, to replace it */
#define HOPELESS 1.3 /* likewise: that needs no second run */

typedef struct Descent {
    const TuneSearch *search;
    TuneFound *found;
    DpTunings settings;          /* the fastest so far */
    TuneMeasured best;           /* with them */
    uint32_t taken;              /* how many values so far */
    uint32_t tried[PARAM_COUNT]; /* 1 + `taken`, when it was varied last; 0: not yet */
} Descent;

static bool time_is_left(Descent *d)
{
    if (d->search->seconds(d->search->data) >= d->search->budget)
        d->found->complete = false;
    return d->found->complete;
}

static TuneMeasured measure(const Descent *d, const DpTunings *settings)
{
    TuneMeasured m = {.outcome = TUNE_FAILS};
    d->search->measure(d->search->data, settings, HOPELESS * d->best.us, &m);
    return m;
}

/* Once more what is fastest so far, then the candidate: machines become slower and faster as they like. */
static bool is_faster(Descent *d, const DpTunings *settings, TuneMeasured *m)
{
    if (m->us > FASTER * d->best.us || !time_is_left(d))
        return false;
    const TuneMeasured old = measure(d, &d->settings), again = measure(d, settings);
    if (old.outcome == TUNE_RUNS && old.us < d->best.us)
        d->best.us = old.us;
    if (again.outcome != TUNE_RUNS || again.us > FASTER * d->best.us)
        return false;
    if (again.us < m->us)
        m->us = again.us;
    return true;
}

static void take(Descent *d, DpTuning id, uint64_t value, const DpTunings *settings, const TuneMeasured *m)
{
    const DpTunings none = {{false}, {0}};
    TuneFound *f = d->found;
    f->before_us[id] = d->best.us;
    f->after_us[id] = m->us;
    f->value[id] = value;
    f->found[id] = value != dp_params_value(&none, id, m->gpu);
    d->settings = *settings;
    d->best = *m;
    d->taken++;
}

static void try_value(Descent *d, DpTuning id, uint64_t value)
{
    DpTunings settings = d->settings;
    settings.set[id] = true;
    settings.value[id] = value;
    TuneMeasured m = measure(d, &settings);
    const double best = d->best.us;
    TuneStep step = {id, value, &m, best, TUNE_REFUSED};
    if (m.outcome == TUNE_RUNS)
        step.verdict = is_faster(d, &settings, &m) ? TUNE_TAKEN : TUNE_NOT_FASTER;
    if (step.verdict == TUNE_TAKEN)
        take(d, id, value, &settings, &m);
    d->search->tell(d->search->listener, &step);
}

/* The values to try are written as those of --param. */
static void try_all(Descent *d, DpTuning id)
{
    char setting[128], unused[128];
    for (const char *at = dp_params_tries(id); *at; at += strspn(at, " ")) {
        int n = (int)strcspn(at, " ");
        DpTunings p = {{false}, {0}};
        snprintf(setting, sizeof setting, "%s=%.*s", dp_params_name(id), n, at);
        at += n;
        if (!dp_params_read(&p, setting, unused, sizeof unused) ||
            p.value[id] == dp_params_value(&d->settings, id, d->best.gpu))
            continue;
        if (!time_is_left(d))
            return;
        try_value(d, id, p.value[id]);
    }
}

/* One that the program asks for, and that has not been varied since something was taken. */
static DpTuning next_parameter(const Descent *d)
{
    DpTuning id = 0;
    while (id < PARAM_COUNT && (!d->best.asked[id] || d->search->fixed.set[id] || d->tried[id] == 1 + d->taken))
        id++;
    return id;
}

TuneOutcome tune_search(const TuneSearch *s, TuneFound *found)
{
    Descent d = {.search = s, .found = found, .settings = s->fixed};
    *found = (TuneFound){.complete = true};
    /* Twice: of a process that has just begun, PoCL launches small kernels sooner than ever after. */
    for (int i = 0; i < 2; i++) {
        d.best = (TuneMeasured){.us = 0};
        d.best = measure(&d, &d.settings);
        if (d.best.outcome != TUNE_RUNS)
            return d.best.outcome;
    }
    found->first_us = d.best.us;
    for (DpTuning id = next_parameter(&d); id < PARAM_COUNT && time_is_left(&d); id = next_parameter(&d)) {
        try_all(&d, id);
        d.tried[id] = 1 + d.taken;
    }
    found->last_us = d.best.us;
    return TUNE_RUNS;
}
