/* Scalar blocks of core (ATOM PRIM LENGTH INDEX SLICE CHECK IF LOOP) as text of the C family: one emitter for
 * OpenCL C and for the host's C. What differs stands in a Dialect.
 *
 *                     kernel                                host
 *   a view            dp_view, a value                      DpArr, owns a reference
 *   xs[i]             *DP_AT(T, DP_ADDR(xs) + i * size)     dp_read_scalar / dp_read_view (waits)
 *   a failure         dp_error(heap, …), and goes on        dp_fail(rt, …), which does not return
 *
 * FAILING LANES. In a kernel a lane that fails goes on with a harmless value (zero, an empty view, divisor 1), but
 * leaves its loops, and does not touch memory unchecked any more: where the code has such places, the function has a
 * variable `failed`. A `while` loop might have been handed nonsense by an earlier kernel whose failure the host has not
 * seen yet; then `failed` starts as what the heap's error record says, so that no kernel can run for ever.
 *
 * HOST VIEWS are counted: all array variables that a block binds are declared, empty, in front of it
 * (emit_scalar_locals), assignments release the old value, and emit_scalar_releases ends it. */
#ifndef DPC_OPENCL_EMIT_SCALAR_H
#define DPC_OPENCL_EMIT_SCALAR_H

#include "core/core.h"

typedef struct Dialect Dialect;

typedef struct ScalarEmitter {
    StrBuf *out;
    const CoreFn *fn;
    const Dialect *dialect;
    const char *const *names; /* by CoreVar: its name where it is not the usual one; or NULL */
    int depth;                /* of indentation: 4 spaces each */
    bool has_flag;            /* the function has a variable `failed` */
    bool may_have_failed;     /* a fallible statement stands before this place */
    bool declared;            /* what statements bind has been declared before them */
    uint32_t nconditions;     /* of paths, so far: they number their names */
} ScalarEmitter;

struct Dialect {
    const char *view_type;
    bool counted;                                                      /* views own references */
    void (*length)(ScalarEmitter *e, CoreAtom array);                  /* of type dp_u64 */
    void (*element)(ScalarEmitter *e, CoreAtom array, CoreAtom index); /* checked before; views: owned */
    void (*slice)(ScalarEmitter *e, const CoreStmt *s);                /* checked before; owned */
    /* The code that reports a failure at a site; values[i] are texts. */
    void (*fail)(ScalarEmitter *e, uint32_t site, const char *const values[3]);
};
extern const Dialect kernel_dialect, host_dialect;

/* What a block contains, its blocks included. */
typedef struct ScalarFacts {
    bool fallible; /* something that may fail */
    bool loop, while_loop;
    bool unchecked; /* an index without a check of its own */
    bool relies;    /* such an index behind something that may have failed */
    uint32_t statements;
} ScalarFacts;
ScalarFacts scalar_facts(const CoreFn *fn, const CoreBlock *b);

/* Declares `failed` where the block needs it. Kernels only. */
void emit_scalar_flag(ScalarEmitter *e, const CoreBlock *b);
/* Hosts only. */
void emit_scalar_locals(ScalarEmitter *e, const CoreBlock *b);
void emit_scalar_releases(ScalarEmitter *e, const CoreBlock *b);

/* The statements of the block; its results are used with emit_atom. */
void emit_scalar_block(ScalarEmitter *e, const CoreBlock *b);
void emit_atom(ScalarEmitter *e, CoreAtom a);
void emit_var(ScalarEmitter *e, CoreVar v);
/* "dp_f32", or the dialect's view type. */
const char *emit_value_type(const ScalarEmitter *e, CoreType t);

#endif
