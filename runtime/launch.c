/* Programs and kernels: put together from holes and templates, built when first wanted, launched. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

struct Kernel {
    Kernel *next;
    const char *name;
    Program *program;
    Kernel *code;           /* the one that is built for it: itself, or the same of another place */
    DpDeviceKernel *kernel; /* NULL: not built yet, but perhaps quickly */
    DpDeviceKernel *plain;  /* the GPU's shape: built quickly; NULL: not */
    QuickCase quick;
    bool launched;
    CallTimes called[2]; /* built quickly, and optimised */
};

/* A kernel in one variant and mode. */
struct Program {
    Program *next;
    uint32_t index; /* of its chain in rt->programs */
    Instance instance;
    Built *built;       /* the CPU's shape: all kernels; NULL: not yet */
    const char *suffix; /* of its names in what is built */
    Kernel *kernels;
    const char *name;
    const DpKernel *user; /* NULL: one of the runtime's own */
    uint32_t wg;
};

/* ---- how much of the device to use ---- */
/* A chunk's carry is joined by one work-item (CPU) or one work-group (GPU). */
uint32_t dp_rt_chunks(const DpRt *rt, bool groups, uint64_t n)
{
    uint64_t most = dp_param(rt, PARAM_CHUNKS_PER_UNIT) * rt->device->facts.units, least = 8,
             limit = groups ? 1024 : 64;
    most = most < least ? least : most > limit ? limit : most;
    uint64_t chunks = n / dp_param(rt, PARAM_CHUNK_ELEMENTS);
    return (uint32_t)(chunks < 1 ? 1 : chunks > most ? most : chunks);
}

/* Maps may be uneven, an element may be a whole computation: more and smaller chunks. */
uint32_t dp_rt_map_groups(const DpRt *rt, uint64_t n)
{
    uint64_t most = rt->gpu ? 32 * rt->device->facts.units : 64, each = dp_param(rt, PARAM_MAP_ELEMENTS);
    uint64_t groups = (n + each - 1) / each;
    return (uint32_t)(groups < 1 ? 1 : groups > most ? most : groups);
}

/* Elements with loops: each may be all the work that there is. */
uint32_t dp_rt_loop_groups(const DpRt *rt, uint64_t n)
{
    return rt->gpu ? dp_rt_map_groups(rt, n) : n < 1 ? 1 : n > 64 ? 64 : (uint32_t)n;
}

/* ---- shapes ---- */
static bool keeps_values_locally(const DpKernel *k)
{
    return k->kind == DP_K_REDUCE || k->kind == DP_K_SCAN || k->kind == DP_K_HIST;
}

enum { LARGEST_LOCAL_VALUE = 128 };

bool dp_rt_group_shape(const DpRt *rt, uint32_t kernel)
{
    const DpKernel *k = &rt->program->kernels[kernel];
    return rt->gpu && !(keeps_values_locally(k) && k->val_bytes > LARGEST_LOCAL_VALUE);
}

/* Local memory for two or three work-group arrays of values: large values, small work-groups. */
uint32_t dp_rt_group_size(const DpRt *rt, uint32_t kernel)
{
    const DpKernel *k = &rt->program->kernels[kernel];
    if (!dp_rt_group_shape(rt, kernel))
        return 1;
    if (!keeps_values_locally(k))
        return 256;
    if (k->kind == DP_K_SCAN && rt->lookback.use)
        return k->val_bytes <= 64 ? 128 : 64;
    return k->val_bytes <= 32 ? 256 : k->val_bytes <= 64 ? 128 : 64;
}

/* Segments of different lengths take turns with the device's units in smaller work-groups: these end when the longest
 * one does. */
uint32_t dp_rt_way_group(const DpRt *rt, uint32_t kernel, uint32_t mode)
{
    const DpKernelKind kind = rt->program->kernels[kernel].kind;
    const uint32_t way = mode / MODE_WAY;
    const bool segments = (kind == DP_K_REDUCE || kind == DP_K_HIST) && (way == WAY_LANE || way == WAY_TEAM);
    uint32_t group = dp_rt_group_size(rt, kernel);
    while (segments && group > 32 && group > dp_param(rt, PARAM_SEGREDUCE_GROUP))
        group /= 2;
    return group;
}

/* A tile of values of up to 16 bytes takes 32 KiB of local memory, of larger ones 16. The outputs are the parts of the
 * values. */
uint32_t dp_rt_scan_items(const DpRt *rt, uint32_t kernel)
{
    const DpKernel *k = &rt->program->kernels[kernel];
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < k->nouts; i++)
        bytes = (bytes + 2 * k->out_bytes[i] - 1) / k->out_bytes[i] * k->out_bytes[i];
    return bytes <= 8 ? 32 : bytes <= 16 ? 16 : 4;
}

/* ---- programs ---- */
static Program *find_program(Program *chain, const Instance *i)
{
    while (chain && (chain->instance.variant != i->variant || chain->instance.mode != i->mode))
        chain = chain->next;
    return chain;
}

static Program *add_program(DpRt *rt, uint32_t index, const Instance *i)
{
    Program *p = calloc(1, sizeof *p);
    if (!p) {
        dp_rt_fail_host_memory(rt, sizeof *p);
        return NULL;
    }
    p->index = index;
    p->instance = *i;
    p->next = rt->programs[index];
    rt->programs[index] = p;
    return p;
}

static Program *user_program(DpRt *rt, const Instance *i)
{
    const DpKernel *k = &rt->program->kernels[i->kernel];
    Program *p = find_program(rt->programs[OWN_COUNT + i->kernel], i);
    if (p)
        return p;
    p = add_program(rt, OWN_COUNT + i->kernel, i);
    if (!p)
        return NULL;
    p->name = k->name;
    p->suffix = "";
    p->user = k;
    p->wg = dp_rt_way_group(rt, i->kernel, i->mode);
    return p;
}

static Program *own_program(DpRt *rt, OwnProgram own)
{
    static const char *const names[OWN_COUNT] = {"dp_move", "dp_lengths", "dp_truth", "dp_sort"};
    const Instance none = {0, 0, 0};
    Program *p = rt->programs[own];
    if (p)
        return p;
    p = add_program(rt, own, &none);
    if (!p)
        return NULL;
    p->name = names[own];
    p->suffix = dp_own_suffix[own];
    p->wg = rt->gpu ? 256 : 1;
    return p;
}

/* ---- building ---- */
/* A program of its own for each instance: PoCL compiles those of its kernels that run, for 0.05 s beside. A GPU's
 * driver compiles all of them, so there each kernel is one (only). */
static Built *build(DpRt *rt, const Program *p, const char *only, bool quickly)
{
    Text t = {.at = NULL};
    dp_source_begin(rt, &t, p->user && p->user->contracts && dp_param(rt, PARAM_CONTRACT));
    if (p->user)
        dp_source_instance(rt, &t, &p->instance, "", only);
    else
        dp_source_own(rt, &t, (OwnProgram)p->index, 0, only);
    const BuildTask task = {.name = p->name,
                            .suffix = p->suffix,
                            .only = only,
                            .quickly = quickly,
                            .first = p->index,
                            .end = p->index + 1,
                            .number = p->instance.variant,
                            .mode = p->instance.mode};
    return dp_program_build(rt, &t, &task);
}

/* ---- kernels ---- */
/* NULL in a failed state, likewise below. */
static Kernel *find_kernel(DpRt *rt, Program *p, const char *name);

static Kernel *code_of(DpRt *rt, Kernel *k)
{
    Instance i = k->program->instance;
    const uint32_t same = k->program->user ? k->program->user->same : 0;
    if (!same) {
        dp_quick_find(rt, &k->quick, k->program->index, &i, k->name);
        return k;
    }
    i.kernel = same - 1;
    return find_kernel(rt, user_program(rt, &i), k->name);
}

static Kernel *find_kernel(DpRt *rt, Program *p, const char *name)
{
    for (Kernel *k = p ? p->kernels : NULL; k; k = k->next)
        if (strcmp(k->name, name) == 0)
            return k;
    Kernel *k = p ? calloc(1, sizeof *k) : NULL;
    if (!k) {
        dp_rt_fail_host_memory(rt, sizeof *k);
        return NULL;
    }
    k->name = name;
    k->program = p;
    k->code = code_of(rt, k);
    if (dp_failed(rt)) {
        free(k);
        return NULL;
    }
    k->next = p->kernels;
    p->kernels = k;
    return k;
}

Kernel *dp_rt_kernel(DpRt *rt, uint32_t kernel, uint32_t variant, uint32_t mode, const char *name)
{
    const Instance i = {kernel, variant, dp_source_mode(rt, kernel, variant, mode)};
    return find_kernel(rt, user_program(rt, &i), name);
}

Kernel *dp_rt_own_kernel(DpRt *rt, OwnProgram own, const char *name)
{
    return find_kernel(rt, own_program(rt, own), name);
}

static DpDeviceKernel *made_kernel(DpRt *rt, const Kernel *k, const Built *built)
{
    char full[128];
    if (!built)
        return NULL;
    snprintf(full, sizeof full, "%s%s", k->name, k->program->suffix);
    return dp_program_kernel(rt, built, full);
}

static DpDeviceKernel *optimised_kernel(DpRt *rt, Kernel *k)
{
    Program *p = k->program;
    if (k->kernel)
        return k->kernel;
    if (!rt->gpu && !p->built)
        p->built = build(rt, p, NULL, false);
    k->kernel = made_kernel(rt, k, rt->gpu ? build(rt, p, k->name, false) : p->built);
    return k->kernel;
}

/* In the GPU's shape. */
static DpDeviceKernel *plain_kernel(DpRt *rt, Kernel *k)
{
    if (!k->plain)
        k->plain = made_kernel(rt, k, build(rt, k->program, k->name, true));
    return k->plain;
}

/* ---- launching ---- */
enum {
    COST_OF_LOOPS = 256, /* an element's, where nobody knows it */
    COST_OF_OWN = 16     /* in the runtime's own kernels */
};

void dp_args_add(Args *a, uint64_t x)
{
    if (a->n < MAX_ARGS)
        a->at[a->n] = x;
    a->n++;
}

void dp_args_words(Args *a, const uint64_t *words, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        dp_args_add(a, words[i]);
}

void dp_args_columns(Args *a, const DpCol *columns, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        dp_args_add(a, columns[i].addr);
}

/* The kernel for these arguments, by which `launch` is completed. NULL in a failed state. numbers: with room for those
 * of quick.c's kernels, which have one parameter list for all. */
static DpDeviceKernel *prepared_kernel(DpRt *rt, Kernel *k, const Args *args, DpLaunch *launch,
                                       uint64_t numbers[1 + QUICK_ARGS])
{
    if (args->n > MAX_ARGS) {
        dp_rt_fail(rt, EXIT_DEVICE, "kernel %s has %u arguments", k->name, args->n);
        return NULL;
    }
    uint32_t nargs = 0;
    const bool quick = !k->kernel && dp_quick_serves(rt, &k->quick, args->at);
    DpDeviceKernel *kernel = !quick    ? optimised_kernel(rt, k)
                             : rt->gpu ? plain_kernel(rt, k)
                                       : dp_quick_kernel(rt, &k->quick, &nargs);
    if (!kernel || nargs == 0)
        return kernel;
    numbers[0] = k->quick.which;
    memcpy(&numbers[1], args->at, args->n * sizeof *numbers);
    memset(&numbers[1 + args->n], 0, (nargs - args->n) * sizeof *numbers);
    launch->heaps = 1;
    launch->n = 1 + nargs;
    launch->numbers = numbers;
    return kernel;
}

/* Of the runtime's own only those that check lengths. */
static bool records_failures(const Program *p) { return p->user ? p->user->fallible : p->index == OWN_LENGTHS; }

/* The first argument of most kernels is how many elements there are. */
static uint64_t elements_of(const Args *args) { return args->elements ? args->elements : args->n ? args->at[0] : 0; }

/* In statements, as far as it is known. */
static uint64_t work_of(const DpKernel *user, const Args *args)
{
    return user ? elements_of(args) * (user->cost ? user->cost : COST_OF_LOOPS) : 0;
}

static void launch_or_call(DpRt *rt, Kernel *k, DpDeviceKernel *kernel, const DpLaunch *launch, const Args *args)
{
    const DpKernel *user = k->program->user;
    const CallWork work = {elements_of(args), launch->groups, user ? user->cost : COST_OF_OWN};
    DpLaunchTimes times = {0};
    rt->runs = true;
    if (dp_call(rt, &k->called[kernel == k->code->kernel], &work, kernel, launch) || dp_failed(rt))
        return;
    dp_rt_check_device(rt, rt->device->backend->launch(rt->device, kernel, launch, rt->profile.on ? &times : NULL));
    if (rt->profile.on && !dp_failed(rt))
        dp_profile_launch(rt, user, k->program->name, launch, &times, !k->launched);
}

void dp_rt_launch(DpRt *rt, Kernel *k, uint32_t heaps, uint32_t groups, const Args *args)
{
    dp_starts_settle(rt);
    dp_moves_flush(rt);
    if (dp_failed(rt))
        return;
    uint64_t numbers[1 + QUICK_ARGS];
    Args placed;
    if (args->nposted && rt->mail.posted.distance) {
        placed = *args;
        dp_args_place(rt, &placed);
        args = &placed;
    }
    DpLaunch launch = {&rt->heap.buffer, heaps, args->n, groups, k->program->wg, args->at};
    ProfilePhase before = dp_profile_switch(rt, PHASE_COMPILING);
    DpDeviceKernel *kernel = prepared_kernel(rt, k->code, args, &launch, numbers);
    dp_profile_switch(rt, before);
    if (dp_failed(rt))
        return;
    rt->profile.launches++;
    rt->work += work_of(k->program->user, args);
    rt->unlooked |= records_failures(k->program);
    launch_or_call(rt, k, kernel, &launch, args);
    k->launched = true;
}

DpDeviceStatus dp_rt_launch_on(DpRt *rt, const DpBuffer *heap, Kernel *k, uint32_t heaps, uint32_t groups,
                               const Args *args)
{
    DpDeviceKernel *kernel = k ? optimised_kernel(rt, k->code) : NULL;
    const DpLaunch launch = {heap, heaps, args->n, groups, k ? k->program->wg : 1, args->at};
    return kernel ? rt->device->backend->launch(rt->device, kernel, &launch, NULL) : DEVICE_FAILED;
}

void dp_rt_move(DpRt *rt, const char *name, uint64_t n, const Args *args)
{
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_MOVE, name), 2, dp_rt_map_groups(rt, n), args);
}

/* ---- closing ---- */
static void free_programs(DpRt *rt, Program *p)
{
    for (Program *next; p; p = next) {
        next = p->next;
        for (Kernel *k = p->kernels, *after; k; k = after) {
            after = k->next;
            rt->device->backend->kernel_release(rt->device, k->kernel);
            rt->device->backend->kernel_release(rt->device, k->plain);
            free(k);
        }
        free(p);
    }
}

void dp_launch_close(DpRt *rt)
{
    for (uint32_t i = 0; i < rt->nprograms; i++)
        free_programs(rt, rt->programs[i]);
    dp_build_close(rt);
    free(rt->programs);
    free(rt->announced);
    rt->programs = NULL;
    rt->announced = NULL;
    rt->nprograms = 0;
}
