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
    uint64_t bits;              /* rank 0 */
    uint64_t n;                 /* rank > 0 */
    union { uint64_t *scalars; CoreValue *items; };
    bool owned;                 /* the evaluator's own: no other value shares this storage. False from outside */
};

typedef struct EvalError {
    uint32_t site;      /* CORE_NO_SITE: none of the program's own (recursion too deep …) */
    int64_t values[3];
    const char *text;   /* set when site is CORE_NO_SITE: "recursion too deep" */
    Span span;
} EvalError;

/* Returns false and fills *error on a run-time failure. *work, if not NULL, receives the number of scalar
 * operations, elements read and elements written: the sequential work. */
bool core_eval(const CoreProgram *p, const CoreFn *fn, Arena *arena, const CoreValue *args, CoreValue *results,
               EvalError *error, uint64_t *work);

#endif
