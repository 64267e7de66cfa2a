#ifndef DPC_OPENCL_SAME_KERNELS_H
#define DPC_OPENCL_SAME_KERNELS_H

#include "dp_rt.h"
#include "plan/plan.h"

/* Sets their `same`: kernels that differ in nothing but the names of variables, and in their places in the program, are
 * built once. */
void same_kernels(const Plan *plan, DpKernel *kernels, uint32_t n);

#endif
