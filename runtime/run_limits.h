/* --timeout and --memory of an executable. */
#ifndef DP_RUN_LIMITS_H
#define DP_RUN_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* From now on: in so many seconds the process ends with a message and EXIT_TIME, and open outputs are removed. 0:
 * never. */
void dp_limit_time(double seconds);
/* From now on the process ends with EXIT_MEMORY when it takes more than this and LIMIT_OPENCL_BYTES, as looked at a
 * hundred times a second: OpenCL implementations reserve far more address space than they use, so the system's own
 * limits do not serve. What is on the device has a limit of its own, DpOpenOptions.memory. False if there is no thread
 * for it. */
bool dp_limit_memory(uint64_t bytes);
static const uint64_t LIMIT_OPENCL_BYTES = UINT64_C(512000000); /* for OpenCL itself, which compiles kernels */

#endif
