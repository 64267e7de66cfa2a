/* Scalar blocks of core (ATOM PRIM LENGTH INDEX SLICE CHECK IF LOOP, and LANE: emit_lane.c) as OpenCL C. An array is a
 * view, dp_view.
 *
 * FAILING LANES. In a kernel a lane that fails goes on with a harmless value (zero, an empty view, divisor 1), but
 * leaves its loops, and does not touch memory unchecked any more: where the code has such places, the function has a
 * variable `failed`. A `while` loop might have been handed nonsense by an earlier kernel whose failure the host has not
 * seen yet; then `failed` starts as what the heap's error record says, so that no kernel can run for ever. */
#ifndef DPC_OPENCL_EMIT_SCALAR_H
#define DPC_OPENCL_EMIT_SCALAR_H

#include "core/lane.h"
#include "plan/kernel.h"

typedef struct ScalarEmitter {
    StrBuf *out;
    const CoreFn *fn;
    int depth;            /* of indentation: 4 spaces each */
    bool has_flag;        /* the function has a variable `failed` */
    bool may_have_failed; /* a fallible statement stands before this place */
    bool declared;        /* what statements bind has been declared before them */
    bool tries;           /* failures are not told: they set the function's *odd */
    const PlanRows *rows; /* what macros DP_ROWw make when it is indexed */
    uint32_t nrows;
    uint32_t nconditions; /* of paths, so far: they number their names */
    const Lane *lane;     /* the code is in a lane's block, with arrays of its own; or NULL */
    const CoreBlock
        *straight;   /* the code of this block is to have roots and quotients of f32 without branches; or NULL */
    uint32_t nmarks; /* of the lane's memory, so far: they number their names */
    bool spends;     /* the lane is a loop's, which counts what it does */
    bool one_lane;   /* and executes all of that loop alone */
    CoreAtom memory; /* of the one lane */
    uint32_t inside; /* so many parallel operations of a lane */
    uint32_t wide;   /* elements of a lane's operations that go side by side (emit_wide.h); 0: one after the other */
    uint32_t says;   /* the variable that says whether the while loop around goes on, plus 1; or 0 */
    bool *gives_up;  /* of vector code: becomes true where it says `goto again` */
} ScalarEmitter;

/* What a block contains, its blocks included. */
typedef struct ScalarFacts {
    bool fallible; /* something that may fail */
    bool loop, while_loop;
    bool unchecked; /* an index without a check of its own */
    bool makes;     /* arrays, in a lane */
    bool relies;    /* such an index behind something that may have failed */
    bool writes;    /* where an index says, without a look at it */
    uint32_t statements;
} ScalarFacts;
/* lane: the one whose block, or a part of it, b is; or NULL. */
ScalarFacts scalar_facts(const CoreFn *fn, const Lane *lane, const CoreBlock *b);

/* Declares `failed` where the block needs it. */
void emit_scalar_flag(ScalarEmitter *e, const CoreBlock *b);
/* Is it nothing but arithmetic, which may be evaluated with wrong values? *roots becomes true if it has square roots or
 * quotients of f32 (emit_straight.c). */
bool emit_is_arithmetic(const CoreFn *fn, const CoreBlock *b, bool *roots);
/* The statements of the block; its results are used with emit_atom. */
void emit_scalar_block(ScalarEmitter *e, const CoreBlock *b);
void emit_scalar_stmt(ScalarEmitter *e, const CoreStmt *s);
void emit_atom(ScalarEmitter *e, CoreAtom a);
void emit_var(ScalarEmitter *e, CoreVar v);
/* "dp_f32" or "dp_view". */
const char *emit_value_type(CoreType t);

#endif
