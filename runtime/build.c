/* Programs are built from their texts, or loaded from the cache. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* What was built at once: one kernel with its helpers, or a part of quick.c. */
struct Built {
    Built *next;
    DpDeviceProgram *program;
    const char *name;
    char sign[SIGN_BYTES]; /* behind the names of its kernels */
};

/* DP_DUMP_KERNELS=DIR: the texts as they are built. */
static void dump_source(const DpRt *rt, const Text *t, const BuildTask *task)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s_%s_v%u_m%u%s%s.cl", rt->dump_dir, task->name, rt->gpu ? "gpu" : "cpu",
             task->number, task->mode, task->only ? "." : "", task->only ? task->only : "");
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

static DpDeviceProgram *build_from_source(DpRt *rt, const DpBuild *build, const char *name)
{
    char *log;
    DpDeviceProgram *p = rt->device->backend->build(rt->device, build, &log);
    if (p)
        return p;
    free(rt->build_log);
    rt->build_log = log;
    dp_rt_fail(rt, EXIT_DEVICE, "kernel %s does not build: %s", name, rt->device->error);
    return NULL;
}

static bool uses_cache(const DpRt *rt) { return rt->cache_dir && !rt->device->facts.keeps_built; }

static DpDeviceProgram *build_from_cache(DpRt *rt, const DpBuild *build, CacheKey key)
{
    size_t n = 0;
    unsigned char *binary = uses_cache(rt) ? dp_cache_load(rt->cache_dir, key, &n) : NULL;
    DpDeviceProgram *p = binary ? rt->device->backend->load(rt->device, build, binary, n) : NULL;
    free(binary);
    return p;
}

/* As soon as a program is built, so that a run that fails later leaves it to the next one. What cannot be stored is
 * built again then: nothing here fails. */
static void store_binary(const DpRt *rt, DpDeviceProgram *p, CacheKey key)
{
    size_t n = 0;
    unsigned char *binary = uses_cache(rt) ? rt->device->backend->binary(rt->device, p, &n) : NULL;
    if (binary)
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
    const bool quickly = task->quickly || rt->quick.unoptimised;
    if (task->suffix)
        dp_source_sign(rt, t, task->suffix, task->quickly, b->sign);
    if (t->lost) {
        free(t->at);
        free(b);
        return NULL;
    }
    const DpBuild build = {t->at, !quickly, dp_source_declares_builtins(rt)};
    const char *const keys[] = {rt->device->facts.identity, quickly ? "quickly" : "", t->at};
    const CacheKey key = dp_cache_key(keys, 3);
    b->name = task->name;
    if (rt->dump_dir)
        dump_source(rt, t, task);
    announce(rt, task);
    b->program = build_from_cache(rt, &build, key);
    if (!b->program) {
        b->program = build_from_source(rt, &build, task->name);
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

DpDeviceKernel *dp_program_kernel(DpRt *rt, const Built *b, const char *name)
{
    char full[160];
    leave_space_to_build(rt);
    if (dp_failed(rt))
        return NULL;
    snprintf(full, sizeof full, "%s%s", name, b->sign);
    DpDeviceKernel *k = rt->device->backend->kernel(rt->device, b->program, full);
    if (!k && !rt->device->error[0])
        dp_rt_fail_host_memory(rt, sizeof full);
    else if (!k)
        dp_rt_fail(rt, EXIT_DEVICE, "no kernel %s in %s: %s", name, b->name, rt->device->error);
    return k;
}

void dp_build_close(DpRt *rt)
{
    for (Built *b = rt->built, *next; b; b = next) {
        next = b->next;
        rt->device->backend->program_release(rt->device, b->program);
        free(b);
    }
    rt->built = NULL;
}
