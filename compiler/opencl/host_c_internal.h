/* What the files that print the host program share. */
#ifndef DPC_OPENCL_HOST_C_INTERNAL_H
#define DPC_OPENCL_HOST_C_INTERNAL_H

#include "opencl/host_c.h"
#include "opencl/program.h"

typedef struct HostPrinter {
    StrBuf *out;
    const Plan *plan;
    const PlanFn *fn;
    int depth;
    uint32_t file, line; /* of the last comment */
    uint32_t labels;     /* of the function, so far */
} HostPrinter;

void host_fn_name(HostPrinter *h, const PlanFn *fn);
/* "DpCtx *", with what stands before a name. */
void host_type(HostPrinter *h, const PlanRegInfo *info);
/* host_c_instr.c: all but control. */
void host_instr(HostPrinter *h, const PlanInstr *in);
/* A register, or a constant of its own type. */
void host_operand(HostPrinter *h, const PlanOperand *o);
/* "{a1, a2}" */
void host_list(HostPrinter *h, const PlanOperand *o);
/* host_c_tables.c: kernels, sites, entries. */
/* What the runtime is told of a kernel but its texts, its names and places, as initialisers. */
void host_kernel_facts(StrBuf *out, const DpKernel *k);
void host_tables(HostPrinter *h, const DpProgram *p);

#endif
