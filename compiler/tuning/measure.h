/* What the search of `dpc tune` asks for (search.h), on a device: an entry's runs with its arguments.
 *
 * A measurement opens the device anew, so that it is what a program with these settings would be: one run to build the
 * kernels, whose result is compared with that of the first measurement, then several that are timed as by -t. */
#ifndef DPC_TUNING_MEASURE_H
#define DPC_TUNING_MEASURE_H

#include "dp_rt.h"
#include "tuning/search.h"

typedef struct Tuner {
    const DpProgram *program;
    const DpEntry *entry;
    const DpLeaf *args;
    const DpType *result_type;
    DpOpenOptions open; /* but for the tuning parameters */
    uintptr_t stack_end;

    const char *times;     /* DP_TUNE_TIMES, for tests, or NULL; see tuner_seconds */
    double begin, counted; /* seconds of the clock, and counted ones */
    DpLeaf *first;         /* the first result; owned; NULL: not yet */
    int status;            /* of the last failure: 0: none */
    char failure[1024];    /* what it said */
    char device[256], driver[128];
} Tuner;

/* Fills in what is not the caller's. */
void tuner_start(Tuner *t);
void tuner_end(Tuner *t);
/* For TuneSearch; data: the Tuner. */
void tuner_measure(void *data, const DpTunings *settings, double enough_us, TuneMeasured *m);
/* Since the start. With DP_TUNE_TIMES="NAME=VALUE:FACTOR,…" nothing depends on a clock: a measurement counts as a
 * second, and a run as a millisecond times the factors of the settings that hold. */
double tuner_seconds(void *data);

#endif
