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

/* The parts of a statement that are evaluated as blocks, or as a function's body. */
typedef enum EvalPart {
    PART_GUARD,    /* of an element */
    PART_BODY,     /* of an element */
    PART_OPERATOR, /* for an element */
    PART_CONDITION,
    PART_ROUND,
    PART_BRANCH, /* of an `if`: index 0 is `then`, 1 `else`; of a lane: 0 */
    PART_CALL    /* fn is the function called; the entry's statement is NULL */
} EvalPart;

/* Who looks on while a program runs: for counts of work and span, for traces. `vars` are the values of fn's variables,
 * as far as they are bound. Every statement is started; what fails, and what it stands in, is neither left nor done.
 * Parts of parallel operations come in the order of their elements; `index` is the element, or the round. */
typedef struct EvalObserver {
    void *ctx;
    void (*start)(void *ctx, const CoreFn *fn, const CoreStmt *s, const CoreValue *vars);
    void (*enter)(void *ctx, const CoreFn *fn, const CoreStmt *s, EvalPart part, uint64_t index, const CoreValue *vars);
    void (*leave)(void *ctx, const CoreFn *fn, const CoreStmt *s, EvalPart part);
    /* copied: elements of sequences that an update, scatter or accumulate had to copy, as others look at them */
    void (*done)(void *ctx, const CoreFn *fn, const CoreStmt *s, const CoreValue *vars, uint64_t copied);
} EvalObserver;

/* What PARAM gives in the interpreters: of either parameter, what asks for the second version. */
enum { EVAL_PARAM = 100 };

/* Returns false and fills *error on a run-time failure. limits: NULL for the defaults. observer: or NULL. *work, if not
 * NULL, receives the number of scalar operations, elements read and elements written: the sequential work. */
bool core_eval(const CoreProgram *p, const CoreFn *fn, Arena *arena, const CoreValue *args, CoreValue *results,
               const EvalLimits *limits, const EvalObserver *observer, EvalError *error, uint64_t *work);

#endif
