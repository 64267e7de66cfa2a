/* The k-th OpenCL call fails, with a status that the call may give. */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include "attack.h"

#include <CL/cl.h>

/* A call that returns a status. */
#define STATUS(code, name, parameters, arguments)                                                                      \
    cl_int name parameters                                                                                             \
    {                                                                                                                  \
        ATTACK_REAL(name);                                                                                             \
        return attack_hits(#name, CALLER) ? code : real arguments;                                                     \
    }

/* A call that returns an object, and its status by `err`. */
#define OBJECT(code, type, name, parameters, arguments)                                                                \
    type name parameters                                                                                               \
    {                                                                                                                  \
        ATTACK_REAL(name);                                                                                             \
        if (!attack_hits(#name, CALLER))                                                                               \
            return real arguments;                                                                                     \
        if (err)                                                                                                       \
            *err = code;                                                                                               \
        return NULL;                                                                                                   \
    }

typedef void(CL_CALLBACK *ContextCallback)(const char *, const void *, size_t, void *);
typedef void(CL_CALLBACK *BuildCallback)(cl_program, void *);

OBJECT(CL_OUT_OF_HOST_MEMORY, cl_context, clCreateContext,
       (const cl_context_properties *p, cl_uint n, const cl_device_id *d, ContextCallback f, void *u, cl_int *err),
       (p, n, d, f, u, err))
OBJECT(CL_OUT_OF_HOST_MEMORY, cl_command_queue, clCreateCommandQueue,
       (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *err), (c, d, p, err))
OBJECT(CL_MEM_OBJECT_ALLOCATION_FAILURE, cl_mem, clCreateBuffer,
       (cl_context c, cl_mem_flags f, size_t n, void *h, cl_int *err), (c, f, n, h, err))
OBJECT(CL_OUT_OF_HOST_MEMORY, cl_program, clCreateProgramWithSource,
       (cl_context c, cl_uint n, const char **s, const size_t *l, cl_int *err), (c, n, s, l, err))
OBJECT(CL_INVALID_BINARY, cl_program, clCreateProgramWithBinary,
       (cl_context c, cl_uint n, const cl_device_id *d, const size_t *l, const unsigned char **b, cl_int *status,
        cl_int *err),
       (c, n, d, l, b, status, err))
OBJECT(CL_OUT_OF_HOST_MEMORY, cl_kernel, clCreateKernel, (cl_program p, const char *name, cl_int *err), (p, name, err))

STATUS(CL_OUT_OF_HOST_MEMORY, clGetPlatformIDs, (cl_uint n, cl_platform_id *p, cl_uint *count), (n, p, count))
STATUS(CL_OUT_OF_HOST_MEMORY, clGetDeviceIDs,
       (cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *d, cl_uint *count), (p, t, n, d, count))
STATUS(CL_OUT_OF_HOST_MEMORY, clGetDeviceInfo, (cl_device_id d, cl_device_info i, size_t n, void *v, size_t *r),
       (d, i, n, v, r))
STATUS(CL_OUT_OF_HOST_MEMORY, clGetPlatformInfo, (cl_platform_id p, cl_platform_info i, size_t n, void *v, size_t *r),
       (p, i, n, v, r))
STATUS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram,
       (cl_program p, cl_uint n, const cl_device_id *d, const char *o, BuildCallback f, void *u), (p, n, d, o, f, u))
STATUS(CL_OUT_OF_HOST_MEMORY, clGetProgramInfo, (cl_program p, cl_program_info i, size_t n, void *v, size_t *r),
       (p, i, n, v, r))
STATUS(CL_OUT_OF_HOST_MEMORY, clGetProgramBuildInfo,
       (cl_program p, cl_device_id d, cl_program_build_info i, size_t n, void *v, size_t *r), (p, d, i, n, v, r))
STATUS(CL_OUT_OF_RESOURCES, clSetKernelArg, (cl_kernel k, cl_uint i, size_t n, const void *v), (k, i, n, v))
STATUS(CL_OUT_OF_RESOURCES, clEnqueueNDRangeKernel,
       (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l, cl_uint n,
        const cl_event *w, cl_event *e),
       (q, k, d, o, g, l, n, w, e))
STATUS(CL_OUT_OF_RESOURCES, clEnqueueWriteBuffer,
       (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t c, const void *p, cl_uint n, const cl_event *w,
        cl_event *e),
       (q, m, b, o, c, p, n, w, e))
STATUS(CL_OUT_OF_RESOURCES, clEnqueueReadBuffer,
       (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t c, void *p, cl_uint n, const cl_event *w,
        cl_event *e),
       (q, m, b, o, c, p, n, w, e))
STATUS(CL_OUT_OF_RESOURCES, clEnqueueCopyBuffer,
       (cl_command_queue q, cl_mem a, cl_mem m, size_t o, size_t to, size_t c, cl_uint n, const cl_event *w,
        cl_event *e),
       (q, a, m, o, to, c, n, w, e))
STATUS(CL_OUT_OF_RESOURCES, clEnqueueFillBuffer,
       (cl_command_queue q, cl_mem m, const void *p, size_t size, size_t o, size_t c, cl_uint n, const cl_event *w,
        cl_event *e),
       (q, m, p, size, o, c, n, w, e))
STATUS(CL_OUT_OF_RESOURCES, clFinish, (cl_command_queue q), (q))
STATUS(CL_OUT_OF_RESOURCES, clFlush, (cl_command_queue q), (q))
STATUS(CL_OUT_OF_HOST_MEMORY, clGetKernelWorkGroupInfo,
       (cl_kernel k, cl_device_id d, cl_kernel_work_group_info i, size_t n, void *v, size_t *r), (k, d, i, n, v, r))
STATUS(CL_OUT_OF_RESOURCES, clWaitForEvents, (cl_uint n, const cl_event *e), (n, e))
STATUS(CL_OUT_OF_HOST_MEMORY, clGetEventProfilingInfo, (cl_event e, cl_profiling_info i, size_t n, void *v, size_t *r),
       (e, i, n, v, r))
