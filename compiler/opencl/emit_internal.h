/* What the emitters of a kernel's holes share: emit_kernel.c and emit_body.c, emit_vector.c for the same code on
 * vectors, and emit_tile.c for it in parts. */
#ifndef DPC_OPENCL_EMIT_INTERNAL_H
#define DPC_OPENCL_EMIT_INTERNAL_H

#include "opencl/emit_scalar.h"
#include "plan/plan.h"

#define HEAP "__global uchar *heap"

typedef struct KernelEmitter {
    StrBuf *out;
    const Plan *plan;
    const PlanKernel *k;
    bool tiled; /* the position in the segment is a parameter, k */
} KernelEmitter;

/* Statements from which on compiling takes longer than it is worth: where the body is repeated for several elements,
 * and where it is there for vectors, too. */
enum { EMIT_MANY_STATEMENTS = 120, EMIT_MANY_IN_VECTORS = 480 };

/* Does the body's first result say where the others go? */
static inline bool emit_has_place(const PlanKernel *k) { return flat_kind_places(k->stmt->kind) > 0; }

/* How values lie in memory: bool is a byte, as in variables. */
const char *emit_memory_type(CoreType t);
ScalarEmitter emit_scalar_emitter(const KernelEmitter *ke);
/* "T x = …;": an input at instance i of segment s. */
void emit_input(KernelEmitter *ke, ScalarEmitter *e, const FlatInput *in);
void emit_inputs(KernelEmitter *ke, ScalarEmitter *e, const FlatInputs *inputs);
/* Its value alone, and of COL and ELEM the address. */
void emit_input_value(KernelEmitter *ke, StrBuf *out, const FlatInput *in);
void emit_input_address(KernelEmitter *ke, StrBuf *out, const FlatInput *in);
/* Of IN_COL, IN_ELEM and IN_POS: the context in which it has an element for each instance. */
FlatVar emit_input_context(const PlanKernel *k, const FlatInput *in);
/* Where value j of instance i is stored, as an address. */
void emit_out_address(KernelEmitter *ke, uint32_t j);
/* Where column i that a reduction keeps has instance i. */
void emit_kept_place(KernelEmitter *ke, uint32_t i);
/* emit_body.c */
void emit_body_functions(KernelEmitter *ke);
/* Instead of vectors of instances: the body, in which a lane's operations go by vectors (emit_wide.h). */
void emit_wide_body(KernelEmitter *ke, uint32_t lanes);
/* Compilers and debuggers name the .dp line. */
void emit_line_directive(KernelEmitter *ke);
/* The results as a dp_val, and the end of the function. */
void emit_return(ScalarEmitter *e, const CoreAtom *results, uint32_t n);

#endif
