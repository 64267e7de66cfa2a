/* LD_PRELOAD: the OpenCL platform under another name. The runtime leaves PoCL's kernels to PoCL's own cache; under
 * any other name it keeps binaries itself, so that this path is tested without another driver.
 *   FAKEPLAT_NAME=TEXT     the name; "Another CL" if it is not set
 *   FAKEPLAT_MEMORY=BYTES  the device has memory of its own, and no more than that */
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

/* ---- memory ---- */

typedef cl_int DeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *value, size_t *size);
typedef cl_mem CreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *memory, cl_int *code);
typedef cl_int ReleaseMemory(cl_mem memory);
typedef cl_int MemoryInfo(cl_mem memory, cl_mem_info what, size_t room, void *value, size_t *size);

static size_t taken;

static size_t memory_limit(void)
{
    const char *text = getenv("FAKEPLAT_MEMORY");
    return text ? strtoull(text, NULL, 10) : 0;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *value, size_t *size)
{
    DeviceInfo *real;
    *(void **)&real = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    cl_int code = real(device, what, room, value, size);
    if (code == CL_SUCCESS && value && what == CL_DEVICE_HOST_UNIFIED_MEMORY && memory_limit())
        *(cl_bool *)value = CL_FALSE;
    return code;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *memory, cl_int *code)
{
    CreateBuffer *real;
    *(void **)&real = dlsym(RTLD_NEXT, "clCreateBuffer");
    if (memory_limit() && taken + bytes > memory_limit()) {
        *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return NULL;
    }
    cl_mem made = real(context, flags, bytes, memory, code);
    taken += made ? bytes : 0;
    return made;
}

cl_int clReleaseMemObject(cl_mem memory)
{
    ReleaseMemory *real;
    MemoryInfo *info;
    size_t bytes = 0;
    *(void **)&real = dlsym(RTLD_NEXT, "clReleaseMemObject");
    *(void **)&info = dlsym(RTLD_NEXT, "clGetMemObjectInfo");
    info(memory, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    taken -= bytes;
    return real(memory);
}
