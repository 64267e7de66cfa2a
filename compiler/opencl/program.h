/* What the runtime is told of a program besides what it does: kernels, places, entries (runtime/include/dp_rt.h).
 * Printed in the C host program (host_c.h), and handed to the runtime as it is when a plan is run in process. */
#ifndef DPC_OPENCL_PROGRAM_H
#define DPC_OPENCL_PROGRAM_H

#include "dp_rt.h"
#include "plan/plan.h"

/* In the plan's arena. Its entries execute the plan (plan_run). */
const DpProgram *opencl_program(Plan *plan, const char *dp_path);

#endif
