/* The search of `dpc tune`: which values of the tuning parameters make a run fast. One parameter is varied after the
 * other, from what is fastest so far (coordinate descent), until a round changes nothing or the time is over.
 *
 * Only parameters that the run asks for are varied, and none that the user has set. What is measured as faster is
 * measured once more, with what it would replace in between, and taken only if it is faster by a few per cent both
 * times: so the noise of a machine takes nothing. The search itself knows no clock and no device: `measure` does. */
#ifndef DPC_TUNING_SEARCH_H
#define DPC_TUNING_SEARCH_H

#include "params.h"

typedef enum TuneOutcome {
    TUNE_RUNS,
    TUNE_DIFFERS, /* it has another result than the first run */
    TUNE_FAILS
} TuneOutcome;

typedef struct TuneMeasured {
    TuneOutcome outcome;
    double us;               /* the least of several runs */
    bool asked[PARAM_COUNT]; /* which parameters the runs looked at */
    bool gpu;                /* the shape of the kernels: which defaults hold */
} TuneMeasured;

/* What has become of a value that was tried. */
typedef enum TuneVerdict { TUNE_TAKEN, TUNE_NOT_FASTER, TUNE_REFUSED /* its outcome says why */ } TuneVerdict;
typedef struct TuneStep {
    DpTuning id;
    uint64_t value;
    const TuneMeasured *measured;
    double best_us; /* before */
    TuneVerdict verdict;
} TuneStep;

typedef struct TuneSearch {
    DpTunings fixed; /* what the user has set */
    double budget;   /* seconds: no measurement is begun after them */
    /* Runs with these settings. Runs that take longer than enough_us (0: none does) need not be repeated. */
    void (*measure)(void *data, const DpTunings *settings, double enough_us, TuneMeasured *m);
    double (*seconds)(void *data); /* since the beginning */
    void (*tell)(void *listener, const TuneStep *step);
    void *data, *listener; /* of the first two; of tell */
} TuneSearch;

typedef struct TuneFound {
    bool found[PARAM_COUNT];
    uint64_t value[PARAM_COUNT];
    double before_us[PARAM_COUNT], after_us[PARAM_COUNT]; /* when it was taken */
    double first_us, last_us;
    bool complete; /* the budget was enough */
} TuneFound;

/* The outcome of the first run: what is found is empty unless it runs. */
TuneOutcome tune_search(const TuneSearch *s, TuneFound *found);

#endif
