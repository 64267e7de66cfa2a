/* Programs and kernels: put together from holes and templates, built when first wanted, cached in memory and on disk, launched. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

struct Kernel {
    Kernel *next;
    const char *name;
    cl_kernel kernel;
    uint32_t wg, row;
    bool launched;
};

/* What was built at once: one kernel with its helpers, or a batch. */
struct Built {
    Built *next;
    cl_program program;
    const char *name;
};

/* A kernel in one variant and mode. */
struct Program {
    Program *next;
    Instance instance;
    Built *built;
    char suffix[48];       /* of its names in the batch */
    Kernel *kernels;
    const char *name;
    const DpKernel *user;  /* NULL: one of the runtime's own */
    uint32_t wg;
};

/* ---- how much of the device to use ---- */
/* A chunk's carry is joined by one work-item (CPU) or one work-group (GPU). */
uint32_t rt_chunks(const DpRt *rt, bool groups, uint64_t n)
{
    uint64_t most = groups ? 8 * rt->units : 4 * rt->units, least = 8, limit = groups ? 1024 : 64;
    most = most < least ? least : most > limit ? limit : most;
    uint64_t chunks = n / (groups ? 1024 : 2048);
    return (uint32_t)(chunks < 1 ? 1 : chunks > most ? most : chunks);
}

/* Maps may be uneven, an element may be a whole computation: more and smaller chunks. */
uint32_t rt_map_groups(const DpRt *rt, uint64_t n)
{
    uint64_t most = rt->gpu ? 32 * rt->units : 64, each = rt->gpu ? 256 : 64;
    uint64_t groups = (n + each - 1) / each;
    return (uint32_t)(groups < 1 ? 1 : groups > most ? most : groups);
}

/* ---- shapes ---- */
static bool keeps_values_locally(const DpKernel *k)
{
    return k->kind == DP_K_REDUCE || k->kind == DP_K_SCAN || k->kind == DP_K_HIST;
}

enum { LARGEST_LOCAL_VALUE = 128 };

bool rt_group_shape(const DpRt *rt, uint32_t kernel)
{
    const DpKernel *k = &rt->program->kernels[kernel];
    return rt->gpu && !(keeps_values_locally(k) && k->val_bytes > LARGEST_LOCAL_VALUE);
}

/* Local memory for two or three work-group arrays of values: large values, small work-groups. */
uint32_t rt_group_size(const DpRt *rt, uint32_t kernel)
{
    const DpKernel *k = &rt->program->kernels[kernel];
    if (!rt_group_shape(rt, kernel))
        return 1;
    if (!keeps_values_locally(k))
        return 256;
    return k->val_bytes <= 32 ? 256 : k->val_bytes <= 64 ? 128 : 64;
}

/* ---- building ---- */
/* DP_DUMP_KERNELS=DIR: the texts as they are built. */
static void dump_source(const DpRt *rt, const Text *t, const char *name, const Instance *i)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s_%s_v%u_m%u.cl", rt->dump_dir, name, rt->gpu ? "gpu" : "cpu", i ? i->variant : 0, i ? i->mode : 0);
    FILE *f = fopen(path, "w");
    if (!f)
        return;
    fputs(t->at, f);
    fclose(f);
}

/* Programs are built, and by PoCL also their kernels when they first run, by a compiler that ends the process where it gets no memory. */
static void leave_space_to_build(DpRt *rt)
{
    if (dp_address_space_left() < BUILD_SPACE)
        rt_fail_host_memory(rt, BUILD_SPACE);
}

static void fail_build(DpRt *rt, cl_program p, const char *name, cl_int code)
{
    size_t n = 0;
    clGetProgramBuildInfo(p, rt->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &n);
    char *log = calloc(1, n + 1);
    if (log)
        clGetProgramBuildInfo(p, rt->device, CL_PROGRAM_BUILD_LOG, n, log, NULL);
    if (log)
        fprintf(stderr, "%s\n", log);
    free(log);
    rt_fail(rt, 4, "kernel %s does not build: %s", name, cl_error_name(code));
}

/* NULL if a batch does not build: then its kernels are built one by one, and the one to blame is named. */
static cl_program build_from_source(DpRt *rt, const Text *t, const char *options, const char *name, bool batch)
{
    cl_int code;
    const char *text = t->at;
    cl_program p = clCreateProgramWithSource(rt->context, 1, &text, NULL, &code);
    CL_OK(rt, code);
    code = clBuildProgram(p, 1, &rt->device, options, NULL, NULL);
    if (code != CL_SUCCESS && !batch)
        fail_build(rt, p, name, code);
    if (code != CL_SUCCESS) {
        clReleaseProgram(p);
        p = NULL;
    }
    return p;
}

static cl_program build_from_cache(DpRt *rt, CacheKey key)
{
    size_t n = 0;
    unsigned char *binary = rt->cache_dir ? cache_load(rt->cache_dir, key, &n) : NULL;
    if (!binary)
        return NULL;
    cl_int code, status;
    cl_program p = clCreateProgramWithBinary(rt->context, 1, &rt->device, &n, (const unsigned char **)&binary, &status, &code);
    free(binary);
    if (code == CL_SUCCESS && clBuildProgram(p, 1, &rt->device, "", NULL, NULL) == CL_SUCCESS)
        return p;
    if (p)
        clReleaseProgram(p);
    return NULL;
}

/* As soon as a program is built, so that a run that fails later leaves it to the next one. What cannot be stored is built again then:
 * nothing here fails. */
static void store_binary(const DpRt *rt, cl_program p, CacheKey key)
{
    size_t n = 0;
    if (!rt->cache_dir || clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof n, &n, NULL) != CL_SUCCESS || n == 0)
        return;
    unsigned char *binary = malloc(n);
    if (binary && clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
        cache_store(rt->cache_dir, key, binary, n);
    free(binary);
}

/* Takes the text. i: NULL for a batch. */
static Built *build(DpRt *rt, Text *t, const char *name, const Instance *i)
{
    leave_space_to_build(rt);
    Built *b = calloc(1, sizeof *b);
    if (!b)
        rt_fail_host_memory(rt, sizeof *b);
    char options[128];
    snprintf(options, sizeof options, "-cl-std=CL1.2 -w %s", rt->fp_options);
    const char *const keys[] = {rt->device_id, options, t->at};
    const CacheKey key = cache_key(keys, 3);
    b->name = name;
    if (rt->dump_dir)
        dump_source(rt, t, name, i);
    b->program = build_from_cache(rt, key);
    if (!b->program) {
        b->program = build_from_source(rt, t, options, name, !i);
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

static Program *add_program(DpRt *rt, Program **chain, Built *built, const Instance *i, const char *suffix)
{
    Program *p = calloc(1, sizeof *p);
    if (!p)
        rt_fail_host_memory(rt, sizeof *p);
    p->instance = *i;
    p->built = built;
    p->name = built->name;
    snprintf(p->suffix, sizeof p->suffix, "%s", suffix);
    p->next = *chain;
    *chain = p;
    return p;
}

static Kernel *find_kernel(DpRt *rt, Program *p, const char *name)
{
    for (Kernel *k = p->kernels; k; k = k->next)
        if (strcmp(k->name, name) == 0)
            return k;
    char full[128];
    snprintf(full, sizeof full, "%s%s", name, p->suffix);
    leave_space_to_build(rt);
    Kernel *k = calloc(1, sizeof *k);
    if (!k)
        rt_fail_host_memory(rt, sizeof *k);
    cl_int code;
    k->name = name;
    k->kernel = clCreateKernel(p->built->program, full, &code);
    if (code != CL_SUCCESS) {
        free(k);
        rt_fail(rt, 4, "no kernel %s in %s: %s", full, p->name, cl_error_name(code));
    }
    k->wg = p->wg;
    k->row = profile_row(rt, p->user, p->name);
    k->next = p->kernels;
    p->kernels = k;
    return k;
}

static Program *find_program(Program *chain, const Instance *i)
{
    while (chain && (chain->instance.variant != i->variant || chain->instance.mode != i->mode))
        chain = chain->next;
    return chain;
}

static Program *add_user_program(DpRt *rt, Built *built, const Instance *i, const char *suffix)
{
    const DpKernel *k = &rt->program->kernels[i->kernel];
    Program *p = add_program(rt, &rt->programs[OWN_COUNT + i->kernel], built, i, suffix);
    p->name = k->name;
    p->user = k;
    p->wg = rt_group_size(rt, i->kernel);
    return p;
}

/* ---- batches ---- */
/* Kernels of very large programs are built one by one after all. */
enum { MAX_BATCH = 256, MIN_BATCH_KERNELS = 2 };

static void instance_suffix(char *to, size_t room, const Instance *i)
{
    snprintf(to, room, "_%u_v%u_m%u", i->kernel, i->variant, i->mode);
}

/* Everything that is likely to be wanted: always the same, so that the next run finds it in the cache. */
static void build_batch(DpRt *rt)
{
    Instance all[MAX_BATCH + MAX_GUESSES]; /* the last kernel may go beyond */
    uint32_t n = 0;
    for (uint32_t k = 0; k < rt->program->nkernels && n < MAX_BATCH; k++)
        n += source_guess(&rt->program->kernels[k], k, all + n);
    Text t = {NULL, 0, 0};
    char suffix[48];
    source_begin(rt, &t);
    for (uint32_t i = 0; i < n; i++) {
        instance_suffix(suffix, sizeof suffix, &all[i]);
        source_instance(rt, &t, &all[i], suffix);
    }
    Built *b = build(rt, &t, "batch", NULL);
    for (uint32_t i = 0; b && i < n; i++) {
        instance_suffix(suffix, sizeof suffix, &all[i]);
        add_user_program(rt, b, &all[i], suffix);
    }
}

static Program *build_one(DpRt *rt, const Instance *i)
{
    Text t = {NULL, 0, 0};
    source_begin(rt, &t);
    source_instance(rt, &t, i, "");
    return add_user_program(rt, build(rt, &t, rt->program->kernels[i->kernel].name, i), i, "");
}

Kernel *rt_kernel(DpRt *rt, uint32_t kernel, uint32_t variant, uint32_t mode, const char *name)
{
    const Instance i = {kernel, variant, source_mode(&rt->program->kernels[kernel], variant, mode)};
    Program **chain = &rt->programs[OWN_COUNT + kernel];
    ProfilePhase before = profile_switch(rt, PHASE_COMPILING);
    if (rt->batches && rt->program->nkernels >= MIN_BATCH_KERNELS) {
        rt->batches = false; /* once */
        build_batch(rt);
    }
    Program *p = find_program(*chain, &i);
    Kernel *found = find_kernel(rt, p ? p : build_one(rt, &i), name);
    profile_switch(rt, before);
    return found;
}

/* The runtime's own programs are built together. */
static void build_own(DpRt *rt)
{
    static const char *const names[OWN_COUNT] = {"dp_move", "dp_lengths", "dp_truth"};
    const Instance none = {0, 0, 0};
    Text t = {NULL, 0, 0};
    source_begin(rt, &t);
    source_own(rt, &t);
    Built *b = build(rt, &t, "dp_own", &none);
    for (int own = 0; own < OWN_COUNT; own++) {
        Program *p = add_program(rt, &rt->programs[own], b, &none, own_suffix[own]);
        p->name = names[own];
        p->wg = rt->gpu ? 256 : 1;
    }
}

Kernel *rt_own_kernel(DpRt *rt, OwnProgram own, const char *name)
{
    ProfilePhase before = profile_switch(rt, PHASE_COMPILING);
    if (!rt->programs[own])
        build_own(rt);
    Kernel *found = find_kernel(rt, rt->programs[own], name);
    profile_switch(rt, before);
    return found;
}

/* ---- launching ---- */
void arg(Args *a, uint64_t x)
{
    if (a->n < MAX_ARGS)
        a->at[a->n] = x;
    a->n++;
}

void arg_words(Args *a, const uint64_t *words, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        arg(a, words[i]);
}

void arg_columns(Args *a, const DpCol *columns, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        arg(a, columns[i].addr);
}

void rt_launch(DpRt *rt, Kernel *k, uint32_t heaps, uint32_t groups, const Args *args)
{
    if (args->n > MAX_ARGS)
        rt_fail(rt, 4, "kernel %s has %u arguments", k->name, args->n);
    for (cl_uint i = 0; i < heaps; i++)
        CL_OK(rt, clSetKernelArg(k->kernel, i, sizeof(cl_mem), &rt->heap.buffer));
    for (cl_uint i = 0; i < args->n; i++)
        CL_OK(rt, clSetKernelArg(k->kernel, heaps + i, sizeof(cl_ulong), &args->at[i]));
    size_t local = k->wg, global = local * groups;
    cl_event event = NULL;
    rt->profile.launches++;
    profile_switch(rt, rt->profile.phase);
    CL_OK(rt, clEnqueueNDRangeKernel(rt->queue, k->kernel, 1, NULL, &global, &local, 0, NULL, rt->profile.on ? &event : NULL));
    if (event)
        profile_launch(rt, k->row, event, !k->launched, args->n ? args->at[0] : 0);
    k->launched = true;
}

void rt_move(DpRt *rt, const char *name, uint64_t n, const Args *args)
{
    rt_launch(rt, rt_own_kernel(rt, OWN_MOVE, name), 2, rt_map_groups(rt, n), args);
}

/* ---- closing ---- */
static void free_programs(Program *p)
{
    for (Program *next; p; p = next) {
        next = p->next;
        for (Kernel *k = p->kernels, *after; k; k = after) {
            after = k->next;
            clReleaseKernel(k->kernel);
            free(k);
        }
        free(p);
    }
}

void launch_close(DpRt *rt)
{
    for (uint32_t i = 0; i < rt->nprograms; i++)
        free_programs(rt->programs[i]);
    for (Built *b = rt->built, *next; b; b = next) {
        next = b->next;
        clReleaseProgram(b->program);
        free(b);
    }
    free(rt->programs);
    rt->programs = NULL;
    rt->nprograms = 0;
    rt->built = NULL;
}
