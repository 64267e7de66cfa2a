/* Opening and closing the runtime. */
#include "internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static bool open_queue(DpRt *rt, const OpenOptions *options, char *error, size_t error_bytes)
{
    cl_int code;
    rt->context = clCreateContext(NULL, 1, &rt->device, NULL, NULL, &code);
    if (code == CL_SUCCESS)
        rt->queue = clCreateCommandQueue(rt->context, rt->device, options->profile ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
    if (code != CL_SUCCESS)
        snprintf(error, error_bytes, "the device cannot be opened: %s", cl_error_name(code));
    return code == CL_SUCCESS;
}

static bool open_all(DpRt *rt, const OpenOptions *options, char *error, size_t error_bytes)
{
    return device_choose(rt, options, error, error_bytes) && open_queue(rt, options, error, error_bytes) &&
           heap_open(rt, error, error_bytes);
}

/* PoCL keeps compiled kernels itself, and asked for a program's binary it first compiles all of its kernels once more, for any
 * work-group size: half of a cold run. */
static bool keeps_binaries(const DpRt *rt)
{
    cl_platform_id platform = NULL;
    char name[64] = "";
    clGetDeviceInfo(rt->device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
    return strcmp(name, "Portable Computing Language") == 0;
}

DpRt *rt_open(const DpProgram *program, const OpenOptions *options, char *error, size_t error_bytes)
{
    DpRt *rt = calloc(1, sizeof *rt);
    uint32_t n = OWN_COUNT + program->nkernels;
    Program **programs = calloc(n, sizeof *programs);
    if (!rt || !programs) {
        snprintf(error, error_bytes, "out of memory");
        free(rt);
        free(programs);
        return NULL;
    }
    rt->program = program;
    rt->programs = programs;
    rt->nprograms = n;
    rt->profile.on = options->profile;
    rt->memory_limit = options->memory;
    rt->dump_dir = getenv("DP_DUMP_KERNELS");
    rt->cache_dir = getenv("DP_NO_CACHE") ? NULL : cache_directory();
    device_prepare();
    /* PoCL catches SIGFPE for the whole process; kernels never divide by zero, and the host's signals are none of its business. */
    struct sigaction floating;
    sigaction(SIGFPE, NULL, &floating);
    bool opened = open_all(rt, options, error, error_bytes);
    sigaction(SIGFPE, &floating, NULL);
    if (!opened) {
        rt_close(rt);
        return NULL;
    }
    if (keeps_binaries(rt)) {
        free(rt->cache_dir);
        rt->cache_dir = NULL;
    }
    return rt;
}

void rt_save(DpRt *rt)
{
    clFinish(rt->queue);
    launch_save(rt);
}

void rt_close(DpRt *rt)
{
    if (rt->queue)
        rt_save(rt);
    profile_close(rt);
    launch_close(rt);
    heap_close(rt);
    if (rt->queue)
        clReleaseCommandQueue(rt->queue);
    if (rt->context)
        clReleaseContext(rt->context);
    free(rt->cache_dir);
    free(rt);
}
