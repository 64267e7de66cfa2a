/* The host program: C that calls the runtime (runtime/include/dp_rt.h), one function per flat function, one piece of
 * code per statement, in order. Kernels are numbered, and their words filled, by the plan (emit_plan.h).
 *
 * NAMES. v3_xs: a HOST scalar (dp_i64 …), a HOST array (DpArr) or a column (DpCol); c4: a context (DpCtx *); x5_a: a
 * core variable within a HOST statement.
 *
 * OWNERSHIP. Every array, column and context variable owns a reference. All of a block's variables are declared, empty,
 * at its start, so that releasing one is always harmless. A variable is released after the statement where it dies. A
 * function owns its parameters, a loop its state: an argument that dies at the call, and occurs once, is moved
 * (dp_*_move leaves the variable empty), any other is retained; likewise for initial values, next states and the
 * results of blocks. What dies at a call is released before it, for a recursion must not keep every level's input.
 *
 * LIFTED LOOPS. The state's columns are those of the running instances; each round splits them, puts the state of those
 * that stop into the outs, where their place is, and selects the others'. See emit_lifted_loop. */
#ifndef DPC_OPENCL_EMIT_HOST_H
#define DPC_OPENCL_EMIT_HOST_H

#include "opencl/emit_kernel.h"

/* The whole program as one C file; flat_liveness has run. False, after a diagnostic, if it needs more than the runtime
 * offers. */
bool emit_opencl_program(StrBuf *host_c, const FlatProgram *p, const char *dp_path);

#endif
