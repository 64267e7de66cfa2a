/* The flat interpreter: runs flat programs on the CPU, without OpenCL, one segmented operation at a
 * time, on the serial primitives of flat/ref.h. It checks the dynamic invariants (offsets ascend, views lie
 * inside live blocks, contexts of parts partition their parent …) with assertions that name the statement, and
 * counts what the program does, so that tests can see work-efficiency. */
#ifndef DPC_FLAT_EVAL_H
#define DPC_FLAT_EVAL_H

#include "core/core_eval.h"
#include "flat/flat.h"

typedef struct FlatCounts {
    uint64_t work; /* scalar operations executed + elements read + elements written, in bodies and moves */
    uint64_t
        moved; /* elements copied by MERGE, ELEMS (when not an alias), FLATTEN, SCATTER, UPDATE, gathers of columns */
    uint64_t launches;  /* statements that would launch kernels, each run counted once (N > 0) */
    uint64_t readbacks; /* statements after which the host must know a size or value */
    uint64_t lifted_calls;
    uint64_t max_depth; /* of nested function calls */
    uint64_t live_bytes_max;
} FlatCounts;

/* Instances from which on a context has many: few, so that tests come to both versions of code. */
enum { FLAT_EVAL_MANY = 4 };
/* Statements up to which a loop's round has few, likewise. */
enum { FLAT_EVAL_FEW = 32 };

/* As core_eval. */
bool flat_eval(const FlatProgram *p, const FlatFn *fn, Arena *arena, const CoreValue *args, CoreValue *results,
               const EvalLimits *limits, EvalError *error, FlatCounts *counts);

#endif
