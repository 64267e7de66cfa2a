/* Kernels that PoCL has compiled, as functions.
 *
 * PoCL makes a library of each kernel, loads it when the kernel first runs, and calls a function of it for every
 * work-group, on threads of its own: 2 to 4 us for a launch, however little there is to do, and more until a thread
 * that sleeps is awake. The function by itself takes a few ns. So a launch of little work, with nothing under way
 * before it, is a few calls of this function by the host.
 *
 * The library is found among those that the process has loaded by the kernel's name, which must be the only one of its
 * kind: dp_source_sign puts a digest of the text into it. How these functions are called is no part of OpenCL, but has
 * stayed as it is over many of PoCL's versions; only those are called of which it is known (dp_pocl_is_known). */
#ifndef DP_DEVICE_POCL_H
#define DP_DEVICE_POCL_H

#include "device.h"

/* For one work-group: pointers to its arguments (a buffer's is a pointer, too), the context, and which one it is. */
typedef void DpPoclFunction(void **arguments, void *context, size_t x, size_t y, size_t z);

/* By what it says of its version (CL_DRIVER_VERSION). */
bool dp_pocl_is_known(const char *version);
/* Of a kernel that has run; NULL: none is found. The library stays loaded until it is released. */
DpPoclFunction *dp_pocl_find(const char *kernel, void **library);
void dp_pocl_release(void *library); /* NULL is harmless */
/* Does the calling thread compute as PoCL's threads do: to the nearest, denormal numbers and all? */
bool dp_pocl_computes_alike(void);
/* Has it as much stack left as kernels may take? That of PoCL's threads is the system's usual one. */
bool dp_pocl_has_stack(void);
/* All work-groups of a launch, of one work-item each. False, and nothing is done, if it has too many arguments. */
bool dp_pocl_call(DpPoclFunction *function, const DpLaunch *launch);

#endif
