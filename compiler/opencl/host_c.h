/* The host program as C: the plan's instructions, each as the call of its row in plan/plan_ops.def, one C function for
 * each of the plan's, and behind them the tables of program.h.
 *
 * NAMES are those of the plan's dump: a3_xs an array, c4 a column, x5 a context, s6 a scalar. A block declares its
 * registers. Blocks nested deeper than compilers' brackets may be (clang: 256) are written with labels instead. */
#ifndef DPC_OPENCL_HOST_C_H
#define DPC_OPENCL_HOST_C_H

#include "dp_tune.h"
#include "plan/plan.h"

/* The whole program as one C file, which has the tune file in it, if there is one. main: its main, too; else its last
 * name is the table `program`. */
void emit_host_c(StrBuf *out, Plan *plan, const char *dp_path, DpTune tune, bool main);

#endif
