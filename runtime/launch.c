/* Programs and kernels: put together from holes and templates, built when first wanted, cached in memory and on disk, launched. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

struct Kernel {
    Kernel *next;
    const char *name;
    cl_kernel kernel;
    uint32_t wg, row;
};

struct Program {
    Program *next;
    uint32_t variant, mode, wg;
    cl_program program;
    Kernel *kernels;
    const char *name;      /* for profiles */
    uint32_t line;
    CacheKey key;
    char *cached_kernels;  /* " name name " : those that the binary on disk has; NULL: there is none */
};

enum { MAX_PARTS = 24 };
typedef struct Source { const char *parts[MAX_PARTS]; uint32_t n; char options[512]; } Source;

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

/* ---- the text of a program ---- */
static void add_part(Source *s, const char *text) { s->parts[s->n++] = text; }

/* A file of runtime/kernels; errors in it are reported by its own lines. */
static void add_file(DpRt *rt, Source *s, const char *name, const char *line_mark)
{
    const char *text = dp_kernel_text(name);
    if (!text)
        rt_fail(rt, 4, "kernel template %s is missing", name);
    add_part(s, line_mark);
    add_part(s, text);
}

static void add_template(DpRt *rt, Source *s, DpKernelKind kind, uint32_t mode)
{
    switch (kind) {
    case DP_K_MAP: add_file(rt, s, "map.cl", "\n#line 1 \"map.cl\"\n"); break;
    case DP_K_REDUCE:
        add_file(rt, s, "carry.cl", "\n#line 1 \"carry.cl\"\n");
        add_file(rt, s, "reduce.cl", "\n#line 1 \"reduce.cl\"\n");
        break;
    case DP_K_SCAN:
        add_file(rt, s, "carry.cl", "\n#line 1 \"carry.cl\"\n");
        add_file(rt, s, "scan.cl", "\n#line 1 \"scan.cl\"\n");
        break;
    case DP_K_PACK: add_file(rt, s, "pack.cl", "\n#line 1 \"pack.cl\"\n"); break;
    case DP_K_SCATTER: add_file(rt, s, "scatter.cl", "\n#line 1 \"scatter.cl\"\n"); break;
    case DP_K_HIST:
        if (mode & MODE_HIST_SORTED) {
            add_file(rt, s, "hist_reduce.cl", "\n#line 1 \"hist_reduce.cl\"\n");
            add_template(rt, s, DP_K_REDUCE, mode);
        } else {
            add_file(rt, s, "histogram.cl", "\n#line 1 \"histogram.cl\"\n");
        }
        break;
    }
}

/* A work-group of one is the CPU's shape. */
static void source_begin(DpRt *rt, Source *s, uint32_t variant, uint32_t mode, uint32_t wg, uint32_t val_bytes, bool lanes)
{
    s->n = 0;
    snprintf(s->options, sizeof s->options,
             "-cl-std=CL1.2 %s-D%s=1 -DDP_VARIANT=%u -DDP_SEGMENTED=%d -DDP_WG=%u -DDP_VAL_BYTES=%u -DDP_LANES=%d",
             rt->fp_options, wg > 1 ? "DP_GPU" : "DP_CPU", variant, mode & MODE_SEGMENTED ? 1 : 0, wg, val_bytes, lanes);
    add_file(rt, s, "dp_scalar.h", "#line 1 \"dp_scalar.h\"\n");
    add_file(rt, s, "common.cl", "\n#line 1 \"common.cl\"\n");
}

/* DP_DUMP_KERNELS=DIR: the options as definitions, then the text, so that a file can be checked by itself. */
static void dump_source(const DpRt *rt, const Source *s, const char *name, uint32_t variant, uint32_t mode)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s_%s_v%u_m%u.cl", rt->dump_dir, name, rt->gpu ? "gpu" : "cpu", variant, mode);
    FILE *f = fopen(path, "w");
    if (!f)
        return;
    fprintf(f, "/* %s */\n", s->options);
    for (const char *p = strstr(s->options, "-D"); p; p = strstr(p + 1, " -D") ? strstr(p + 1, " -D") + 1 : NULL) {
        size_t word = strcspn(p + 2, "= "), value = strcspn(p + 2 + word + 1, " ");
        fprintf(f, "#define %.*s %.*s\n", (int)word, p + 2, (int)value, p + 2 + word + 1);
    }
    for (uint32_t i = 0; i < s->n; i++)
        fputs(s->parts[i], f);
    fclose(f);
}

/* ---- building ---- */
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

static cl_program build_from_source(DpRt *rt, const Source *s, const char *name)
{
    cl_int code;
    const char *parts[MAX_PARTS];
    memcpy(parts, s->parts, sizeof parts);
    cl_program p = clCreateProgramWithSource(rt->context, s->n, parts, NULL, &code);
    CL_OK(rt, code);
    code = clBuildProgram(p, 1, &rt->device, s->options, NULL, NULL);
    if (code != CL_SUCCESS)
        fail_build(rt, p, name, code);
    return p;
}

/* A cached file is a line of kernel names, then the device's binary. */
static cl_program build_from_cache(DpRt *rt, Program *program)
{
    size_t n = 0;
    unsigned char *bytes = rt->cache_dir ? cache_load(rt->cache_dir, program->key, &n) : NULL;
    unsigned char *newline = bytes ? memchr(bytes, '\n', n) : NULL;
    cl_program p = NULL;
    if (newline) {
        const unsigned char *binary = newline + 1;
        size_t length = n - (size_t)(binary - bytes);
        cl_int code, status;
        p = clCreateProgramWithBinary(rt->context, 1, &rt->device, &length, &binary, &status, &code);
        if (code != CL_SUCCESS || clBuildProgram(p, 1, &rt->device, "", NULL, NULL) != CL_SUCCESS) {
            if (p)
                clReleaseProgram(p);
            p = NULL;
        } else {
            *newline = 0;
            program->cached_kernels = strdup((const char *)bytes);
        }
    }
    free(bytes);
    return p;
}

static CacheKey source_key(const DpRt *rt, const Source *s)
{
    const char *texts[MAX_PARTS + 2];
    texts[0] = rt->device_id;
    texts[1] = s->options;
    memcpy(texts + 2, s->parts, s->n * sizeof texts[0]);
    return cache_key(texts, s->n + 2);
}

static Program *add_program(DpRt *rt, Program **chain, const Source *s, const char *name, uint32_t variant, uint32_t mode)
{
    Program *p = calloc(1, sizeof *p);
    if (!p)
        rt_fail_memory(rt, sizeof *p);
    p->variant = variant;
    p->mode = mode;
    p->name = name;
    if (rt->dump_dir)
        dump_source(rt, s, name, variant, mode);
    p->key = source_key(rt, s);
    p->program = build_from_cache(rt, p);
    if (!p->program) {
        p->program = build_from_source(rt, s, name);
    }
    p->next = *chain;
    *chain = p;
    return p;
}

static bool is_cached(const Program *p, const char *name)
{
    const char *at = p->cached_kernels;
    size_t n = strlen(name);
    for (; at && (at = strstr(at, name)); at += n)
        if (at[-1] == ' ' && at[n] == ' ')
            return true;
    return false;
}

static Kernel *find_kernel(DpRt *rt, Program *p, const char *name)
{
    for (Kernel *k = p->kernels; k; k = k->next)
        if (strcmp(k->name, name) == 0)
            return k;
    Kernel *k = calloc(1, sizeof *k);
    if (!k)
        rt_fail_memory(rt, sizeof *k);
    cl_int code;
    k->name = name;
    k->kernel = clCreateKernel(p->program, name, &code);
    if (code != CL_SUCCESS) {
        free(k);
        rt_fail(rt, 4, "no kernel %s in %s: %s", name, p->name, cl_error_name(code));
    }
    k->wg = p->wg;
    k->row = profile_row(&rt->profile, p->name, name, p->line);
    k->next = p->kernels;
    p->kernels = k;
    return k;
}

static Program *find_program(Program *chain, uint32_t variant, uint32_t mode)
{
    while (chain && (chain->variant != variant || chain->mode != mode))
        chain = chain->next;
    return chain;
}

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
static uint32_t group_size(const DpRt *rt, uint32_t kernel)
{
    const DpKernel *k = &rt->program->kernels[kernel];
    if (!rt_group_shape(rt, kernel))
        return 1;
    if (!keeps_values_locally(k))
        return 256;
    return k->val_bytes <= 32 ? 256 : k->val_bytes <= 64 ? 128 : 64;
}

/* Lanes repeat the body; compiling takes longer than it is worth where it is long. */
enum { LONGEST_IN_LANES = 6000 };

Kernel *rt_kernel(DpRt *rt, uint32_t kernel, uint32_t variant, uint32_t mode, const char *name)
{
    Program **chain = &rt->programs[OWN_COUNT + kernel], *p = find_program(*chain, variant, mode);
    if (!p) {
        const DpKernel *k = &rt->program->kernels[kernel];
        Source s;
        uint32_t wg = group_size(rt, kernel);
        bool lanes = strlen(k->source) < LONGEST_IN_LANES;
        source_begin(rt, &s, variant, mode, wg, k->val_bytes ? k->val_bytes : 16, lanes);
        add_part(&s, "\n#line 1 \"holes\"\n");
        add_part(&s, k->source);
        add_template(rt, &s, k->kind, mode);
        p = add_program(rt, chain, &s, k->name, variant, mode);
        p->wg = wg;
        p->line = k->line;
    }
    return find_kernel(rt, p, name);
}

Kernel *rt_own_kernel(DpRt *rt, OwnProgram own, const char *name)
{
    static const char *const names[OWN_COUNT] = {"dp_move", "dp_lengths", "dp_truth"};
    Program **chain = &rt->programs[own], *p = *chain;
    if (!p) {
        Source s;
        uint32_t wg = rt->gpu ? 256 : 1;
        source_begin(rt, &s, 0, 0, wg, 16, true);
        switch (own) {
        case OWN_MOVE:
            add_file(rt, &s, "move.cl", "\n#line 1 \"move.cl\"\n");
            add_file(rt, &s, "radix_sort.cl", "\n#line 1 \"radix_sort.cl\"\n");
            break;
        case OWN_LENGTHS:
            add_file(rt, &s, "lengths.cl", "\n#line 1 \"lengths.cl\"\n");
            add_template(rt, &s, DP_K_SCAN, 0);
            break;
        case OWN_TRUTH:
        case OWN_COUNT:
            add_file(rt, &s, "truth.cl", "\n#line 1 \"truth.cl\"\n");
            add_template(rt, &s, DP_K_PACK, 0);
            break;
        }
        p = add_program(rt, chain, &s, names[own], 0, 0);
        p->wg = wg;
    }
    return find_kernel(rt, p, name);
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
    CL_OK(rt, clEnqueueNDRangeKernel(rt->queue, k->kernel, 1, NULL, &global, &local, 0, NULL, rt->profile.on ? &event : NULL));
    if (event)
        profile_add(rt, k->row, event);
}

void rt_move(DpRt *rt, const char *name, uint64_t n, const Args *args)
{
    rt_launch(rt, rt_own_kernel(rt, OWN_MOVE, name), 2, rt_map_groups(rt, n), args);
}

/* ---- closing ---- */
/* PoCL's binary holds the kernels that have run, compiled; so binaries are fetched at the end, if kernels have come since. */
static void store_binary(DpRt *rt, Program *p)
{
    bool news = false;
    size_t names = 2, n = 0;
    for (Kernel *k = p->kernels; k; k = k->next) {
        news = news || !is_cached(p, k->name);
        names += strlen(k->name) + 1;
    }
    if (!news || clGetProgramInfo(p->program, CL_PROGRAM_BINARY_SIZES, sizeof n, &n, NULL) != CL_SUCCESS || n == 0)
        return;
    names += p->cached_kernels ? strlen(p->cached_kernels) : 0;
    unsigned char *bytes = malloc(names + n);
    if (!bytes)
        return;
    /* " old names new names \n" */
    char *text = (char *)bytes;
    size_t at = (size_t)snprintf(text, names, "%s", p->cached_kernels ? p->cached_kernels : " ");
    for (Kernel *k = p->kernels; k; k = k->next)
        if (!is_cached(p, k->name))
            at += (size_t)snprintf(text + at, names - at, "%s ", k->name);
    text[at++] = '\n';
    unsigned char *binary = bytes + at;
    if (clGetProgramInfo(p->program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
        cache_store(rt->cache_dir, p->key, bytes, at + n);
    free(bytes);
}

void launch_save(DpRt *rt)
{
    for (uint32_t i = 0; rt->cache_dir && i < rt->nprograms; i++)
        for (Program *p = rt->programs[i]; p; p = p->next)
            store_binary(rt, p);
}

void launch_close(DpRt *rt)
{
    for (uint32_t i = 0; i < rt->nprograms; i++)
        for (Program *p = rt->programs[i], *next; p; p = next) {
            next = p->next;
            for (Kernel *k = p->kernels, *after; k; k = after) {
                after = k->next;
                clReleaseKernel(k->kernel);
                free(k);
            }
            clReleaseProgram(p->program);
            free(p->cached_kernels);
            free(p);
        }
    free(rt->programs);
    rt->programs = NULL;
    rt->nprograms = 0;
}
