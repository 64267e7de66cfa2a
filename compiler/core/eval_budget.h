/* What an evaluation may take, and what it has taken: both interpreters count here.
 *
 * MEMORY is the bytes of arrays and call frames that are alive, as of the last collection, and what was stored since.
 * An interpreter collects when budget_is_due says so, or before it gives up. TIME is looked at once in a while:
 * budget_tick is called for each block that is run. */
#ifndef DPC_EVAL_BUDGET_H
#define DPC_EVAL_BUDGET_H

#include "core/core_eval.h"

#include "dp_size.h"

#include <time.h>

typedef struct EvalBudget {
    uint64_t limit;      /* of bytes alive */
    uint64_t live, most; /* bytes now, and at most so far */
    uint64_t frames;     /* of them in call frames, which no collection frees */
    uint64_t collect_at;
    double seconds; /* 0: no limit */
    struct timespec deadline;
    uint32_t ticks;
} EvalBudget;

/* limits: NULL for the defaults. first_collection: bytes below which a collection never pays. */
void budget_begin(EvalBudget *b, const EvalLimits *limits, uint64_t first_collection);

static inline bool budget_is_due(const EvalBudget *b) { return b->live >= b->collect_at; }
static inline bool budget_has_room(const EvalBudget *b, uint64_t bytes)
{
    return b->live <= b->limit && bytes <= b->limit - b->live;
}
static inline void budget_take(EvalBudget *b, uint64_t bytes)
{
    b->live += bytes;
    if (b->live > b->most)
        b->most = b->live;
}
/* After a collection, which found so many bytes of arrays alive. */
void budget_collected(EvalBudget *b, uint64_t arrays, uint64_t first_collection);

bool budget_time_is_up(const EvalBudget *b);
enum { BUDGET_TICKS = 4096 }; /* blocks between two looks at the clock */
/* False when the time is up. */
static inline bool budget_tick(EvalBudget *b)
{
    return ++b->ticks % BUDGET_TICKS != 0 || b->seconds == 0 || !budget_time_is_up(b);
}

/* Zeroed memory, to be freed; NULL when the machine has no more. */
void *eval_zeroed(uint64_t bytes);

/* ---- the errors of a budget ---- */
/* There was no room for so many bytes. level: of the recursion of `function`; 0 outside of recursions. */
void budget_fail_memory(const EvalBudget *b, EvalError *error, Span span, uint64_t bytes, uint32_t level,
                        const char *function);
void budget_fail_time(const EvalBudget *b, EvalError *error, Span span);
void eval_error_set(EvalError *error, EvalErrorKind kind, Span span, const char *text);

#endif
