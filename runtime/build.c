/* Programs are built from their texts, or loaded from the cache. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* What was built at once: one kernel with its helpers, or a part of quick.c. */
struct Built {
    Built *next;
    cl_program program;
    const char *name;
};

/* DP_DUMP_KERNELS=DIR: the texts as they are built. */
static void dump_source(const DpRt *rt, const Text *t, const BuildTask *task)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s_%s_v%u_m%u.cl", rt->dump_dir, task->name, rt->gpu ? "gpu" : "cpu", task->number,
             task->mode);
    FILE *f = fopen(path, "w");
    if (!f)
        return;
    fputs(t->at, f);
    fclose(f);
}

/* Programs are built, and by PoCL also their kernels when they first run, by a compiler that ends the process where it
 * gets no memory. */
static void leave_space_to_build(DpRt *rt)
{
    if (dp_address_space_left() < BUILD_SPACE)
        dp_rt_fail_host_memory(rt, BUILD_SPACE);
}

static void fail_build(DpRt *rt, cl_program p, const char *name, cl_int code)
{
    size_t n = 0;
    clGetProgramBuildInfo(p, rt->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &n);
    free(rt->build_log);
    rt->build_log = calloc(1, n + 1);
    if (rt->build_log)
        clGetProgramBuildInfo(p, rt->device, CL_PROGRAM_BUILD_LOG, n, rt->build_log, NULL);
    dp_rt_fail(rt, EXIT_DEVICE, "kernel %s does not build: %s", name, dp_cl_error_name(code));
}

/* Where built-in functions are declared by builtins.cl and it does not build, PoCL's header is another, or the holes
 * call what is not declared there: again, with that header. NULL where that fails, too. */
static cl_program build_from_source(DpRt *rt, const Text *t, const char *options, const char *name)
{
    cl_int code;
    const char *text = t->at;
    cl_program p = clCreateProgramWithSource(rt->context, 1, &text, NULL, &code);
    CL_OK(rt, code);
    if (!p)
        return NULL;
    code = CL_BUILD_PROGRAM_FAILURE;
    if (dp_source_declares_builtins(rt)) {
        char fewer[160];
        snprintf(fewer, sizeof fewer, "%s -D_OPENCL_H_", options);
        code = clBuildProgram(p, 1, &rt->device, fewer, NULL, NULL);
    }
    if (code != CL_SUCCESS)
        code = clBuildProgram(p, 1, &rt->device, options, NULL, NULL);
    if (code == CL_SUCCESS)
        return p;
    fail_build(rt, p, name, code);
    clReleaseProgram(p);
    return NULL;
}

/* With the options of its source: an NVIDIA binary is code for a virtual machine, which the driver compiles once more,
 * and optimises unless it is told not to (1.3 s for a quicksort). PoCL keeps compiled kernels itself, and asked for a
 * program's binary it first compiles all of its kernels once more, for any work-group size: half of a cold run. */
static cl_program build_from_cache(DpRt *rt, CacheKey key, const char *options)
{
    size_t n = 0;
    unsigned char *binary = rt->cache_dir && !rt->pocl ? dp_cache_load(rt->cache_dir, key, &n) : NULL;
    if (!binary)
        return NULL;
    cl_int code, status;
    cl_program p =
        clCreateProgramWithBinary(rt->context, 1, &rt->device, &n, (const unsigned char **)&binary, &status, &code);
    free(binary);
    if (code == CL_SUCCESS && clBuildProgram(p, 1, &rt->device, options, NULL, NULL) == CL_SUCCESS)
        return p;
    if (p)
        clReleaseProgram(p);
    return NULL;
}

/* As soon as a program is built, so that a run that fails later leaves it to the next one. What cannot be stored is
 * built again then: nothing here fails. */
static void store_binary(const DpRt *rt, cl_program p, CacheKey key)
{
    size_t n = 0;
    if (!rt->cache_dir || rt->pocl || clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof n, &n, NULL) != CL_SUCCESS ||
        n == 0)
        return;
    unsigned char *binary = malloc(n);
    if (binary && clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
        dp_cache_store(rt->cache_dir, key, binary, n);
    free(binary);
}

/* Shown until the host next waits for the device, as kernels may be compiled as late as they run. */
static void announce(DpRt *rt, const BuildTask *task)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < rt->nprograms; i++) {
        rt->announced[i] = rt->announced[i] || (i >= task->first && i < task->end);
        n += rt->announced[i];
    }
    dp_activity("compiling kernels %u/%u%s", n, rt->nprograms, rt->cache_dir ? " (first run; kept)" : "");
    rt->compiling = true;
}

Built *dp_program_build(DpRt *rt, Text *t, const BuildTask *task)
{
    leave_space_to_build(rt);
    Built *b = dp_failed(rt) || t->lost ? NULL : calloc(1, sizeof *b);
    if (!b) {
        dp_rt_fail_host_memory(rt, sizeof *b);
        free(t->at);
        return NULL;
    }
    char options[128];
    snprintf(options, sizeof options, "-cl-std=CL1.2 -w %s%s", rt->fp_options, task->options ? task->options : "");
    const char *const keys[] = {rt->device_id, options, t->at};
    const CacheKey key = dp_cache_key(keys, 3);
    b->name = task->name;
    if (rt->dump_dir)
        dump_source(rt, t, task);
    announce(rt, task);
    b->program = build_from_cache(rt, key, options);
    if (!b->program) {
        b->program = build_from_source(rt, t, options, task->name);
        if (b->program)
            store_binary(rt, b->program, key);
    }
    free(t->at);
    if (!b->program) {
        free(b);
        return NULL;
    }
    b->next = rt->built;
    rt->built = b;
    return b;
}

cl_kernel dp_program_kernel(DpRt *rt, const Built *b, const char *name)
{
    cl_int code;
    leave_space_to_build(rt);
    if (dp_failed(rt))
        return NULL;
    cl_kernel k = clCreateKernel(b->program, name, &code);
    if (code != CL_SUCCESS)
        dp_rt_fail(rt, EXIT_DEVICE, "no kernel %s in %s: %s", name, b->name, dp_cl_error_name(code));
    return code == CL_SUCCESS ? k : NULL;
}

void dp_build_close(DpRt *rt)
{
    for (Built *b = rt->built, *next; b; b = next) {
        next = b->next;
        clReleaseProgram(b->program);
        free(b);
    }
    rt->built = NULL;
}
