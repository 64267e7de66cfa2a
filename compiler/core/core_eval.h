/* The core interpreter: the meaning of core programs, sequential, simple, and the oracle for
 * everything behind it.
 *
 * `core_eval` runs an entry on values. Values live in the given arena. */
#ifndef DPC_CORE_EVAL_H
#define DPC_CORE_EVAL_H

#include "core/core.h"

/* A core value. Scalars as constant bits. A sequence: `n` elements; rank 1 stores bits per element, higher
 * ranks store values. Slices share storage. */
typedef struct CoreValue CoreValue;
struct CoreValue {
    CoreType type;
    union {
        uint64_t bits;               /* rank 0 */
        struct CoreStorage *storage; /* rank > 0: the evaluator's, or NULL for what came from outside */
    };
    uint64_t n; /* rank > 0 */
    union {
        uint64_t *scalars;
        CoreValue *items;
    };
    bool owned; /* the evaluator's own: no other value shares this storage. False from outside */
};

typedef enum EvalErrorKind {
    EVAL_AT_SITE,   /* the program's own error: an index out of bounds … */
    EVAL_TOO_DEEP,  /* recursion */
    EVAL_NO_MEMORY, /* more than EvalLimits.bytes, or the machine has no more: EXIT_MEMORY */
    EVAL_NO_TIME,   /* EvalLimits.seconds are over: EXIT_TIME */
    EVAL_INTERNAL
} EvalErrorKind;

typedef struct EvalError {
    EvalErrorKind kind;
    uint32_t site; /* EVAL_AT_SITE; else CORE_NO_SITE */
    int64_t values[3];
    char text[300]; /* of the other kinds: "recursion too deep" */
    Span span;
    bool machine; /* EVAL_NO_MEMORY: it is the machine that has no more, not EvalLimits.bytes */
} EvalError;

/* What an evaluation may take, and whether it leaves a trace. */
typedef struct EvalLimits {
    uint64_t bytes;      /* of arrays and call frames alive at a time; 0: EVAL_DEFAULT_BYTES */
    double seconds;      /* 0: as long as it takes */
    struct Trace *trace; /* where the evaluation is written down (trace/trace.h), or NULL */
} EvalLimits;
#define EVAL_DEFAULT_BYTES ((uint64_t)1 << 31)

/* Returns false and fills *error on a run-time failure. limits: NULL for the defaults. *work, if not NULL, receives the
 * number of scalar operations, elements read and elements written: the sequential work. */
bool core_eval(const CoreProgram *p, const CoreFn *fn, Arena *arena, const CoreValue *args, CoreValue *results,
               const EvalLimits *limits, EvalError *error, uint64_t *work);

#endif
