/* LD_PRELOAD: the OpenCL platform under another name. The runtime leaves PoCL's kernels to PoCL's own cache; under
 * any other name it keeps binaries itself, so that this path is tested without another driver.
 *   FAKEPLAT_NAME=TEXT     the name; "Another CL" if it is not set */
#define _GNU_SOURCE /* RTLD_NEXT */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef cl_int PlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void *value, size_t *size);

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void *value, size_t *size)
{
    const char *name = getenv("FAKEPLAT_NAME");
    if (!name)
        name = "Another CL";
    if (what != CL_PLATFORM_NAME) {
        PlatformInfo *real;
        *(void **)&real = dlsym(RTLD_NEXT, "clGetPlatformInfo");
        return real(platform, what, room, value, size);
    }
    if (size)
        *size = strlen(name) + 1;
    if (!value)
        return CL_SUCCESS;
    if (room < strlen(name) + 1)
        return CL_INVALID_VALUE;
    strcpy(value, name);
    return CL_SUCCESS;
}
