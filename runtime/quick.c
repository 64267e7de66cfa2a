/* Kernels that are not worth an optimising compiler yet.
 *
 * PoCL takes 0.12 s of CPU time for each kernel that runs, however small; without optimisation and all of them as cases
 * of one kernel, a hundredth of that:
 *
 *     __kernel void dp_quick(__global uchar *heap, ulong which, ulong a0, ulong a1, ...)
 *     {
 *         switch (which) {
 *         case 0: dp_map_0_m1(heap, heap, a0, a1, a2, a3); break;
 *
 * In the CPU's shape a kernel has one work-item a group and no barriers, so that the templates' kernels may be
 * functions. They are the same text and give the same results to the bit: nothing but the compiler's effort differs.
 * One instance serves all variants: the words say at run time what is contiguous (DP_ANY_VARIANT), and what is not
 * segmented is one segment of regular length.
 *
 * A GPU's driver compiles all kernels of a program at once, for 0.1 s and more each. So there each kernel is a program
 * of its own (launch.c), built when it first runs, and its first text is the one that is optimised later, only compiled
 * with less effort.
 *
 * A kernel is optimised (launch.c) before a launch with which its work, in statements and by all runs so far, would
 * exceed QUICK_WORK (or QUICK_GPU_WORK): so what is lost to slow code is never much more than what compiling costs. How
 * much each has done is kept beside the built kernels, by the digest of the program's holes. Kernels with loops are
 * always optimised, for nobody knows what their elements cost; they are few.
 *
 * DP_TIER=quick and DP_TIER=optimised, for tests: all that can be, or nothing. With DP_TIER=unoptimised all kernels are
 * those of DP_TIER=optimised, and the compiler is asked not to optimise them: PoCL takes a fifth of the time in the
 * GPU's shape. */
#include "internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* About 0.1 s of code that is not optimised. */
#define QUICK_WORK (UINT64_C(1) << 24)
/* About as long as a GPU's driver takes for a kernel. */
#define QUICK_GPU_WORK (UINT64_C(1) << 33)
/* By so much, 35 us on an H200, a launch without optimisation takes longer, however few its elements are: 4096 of them
 * come to a compilation. */
#define QUICK_GPU_LAUNCH (UINT64_C(1) << 21)
enum {
    NOT_REMEMBERED = 64,   /* less than this part of it is not */
    QUICK_TEXT = 64 << 10, /* bytes of holes in one program: compilers take more than linear time */
    OWN_COST = 12          /* statements for an element in the runtime's own kernels */
};

/* ---- the templates' kernels ---- */
typedef enum When { ALWAYS, UNSEGMENTED, SEGMENTED, ATOMIC } When;
enum { QUICK_MOVE = DP_K_HIST + 1, QUICK_LENGTHS, QUICK_SORT };
typedef struct Entry {
    uint32_t template;
    const char *name;
    uint32_t heaps, numbers;
    bool words, outs;
    uint32_t counts;
    When when;
} Entry;

static const Entry entries[] = {
#define KERNEL(template, name, heaps, numbers, words, outs, counts, when)                                              \
    {template, #name, heaps, numbers, words, outs, counts, when},
#include "kernels.def"
#undef KERNEL
};
enum { ENTRIES = sizeof entries / sizeof entries[0] };

/* What a program's kernels take behind their numbers. */
typedef struct Parameters {
    uint32_t template, words, outs;
    bool atomic;
} Parameters;

static Parameters parameters_of(const DpRt *rt, uint32_t program)
{
    switch (program) {
    case OWN_MOVE: return (Parameters){QUICK_MOVE, 0, 0, false};
    case OWN_SORT: return (Parameters){QUICK_SORT, 0, 0, false};
    case OWN_LENGTHS: return (Parameters){QUICK_LENGTHS, 0, 0, false};
    case OWN_TRUTH: return (Parameters){DP_K_PACK, 1, 4, false};
    default: break;
    }
    const DpKernel *k = &rt->program->kernels[program - OWN_COUNT];
    return (Parameters){k->kind, dp_words_in_heap(rt, k) ? 1 : k->nwords, k->nouts, dp_rt_atomic_bins(rt, k)};
}

/* Of an element, in statements; 0: not known. */
static uint32_t cost_of(const DpRt *rt, uint32_t program)
{
    return program < OWN_COUNT ? OWN_COST : rt->program->kernels[program - OWN_COUNT].cost;
}

static uint32_t number_count(const Entry *e, const Parameters *p)
{
    return e->numbers + (e->words ? p->words : 0) + (e->outs ? p->outs : 0);
}

static bool stands_in(const Entry *e, const Parameters *p, uint32_t mode)
{
    bool there = e->when == ALWAYS || (e->when == ATOMIC && p->atomic) ||
                 (e->when == UNSEGMENTED && !(mode & MODE_SEGMENTED)) ||
                 (e->when == SEGMENTED && mode & MODE_SEGMENTED);
    return there && e->template == p->template && number_count(e, p) <= QUICK_ARGS;
}

/* The mode that serves this one; the runtime's own kernels have no other. */
static uint32_t mode_for(const Parameters *p, uint32_t program, uint32_t mode)
{
    bool any = p->template == DP_K_MAP || p->template == DP_K_SCAN || p->template == DP_K_PACK;
    return program >= OWN_COUNT && any ? MODE_SEGMENTED : mode;
}

/* ---- parts ---- */
typedef struct Case {
    const Entry *entry;
    uint32_t program, mode, numbers;
} Case;

/* One OpenCL program, for the programs first … end - 1 of rt->programs. */
struct QuickPart {
    uint32_t first, end;
    Case *cases;
    uint32_t ncases; /* NULL: not yet collected */
    uint32_t nargs;
    Built *built;           /* NULL: not yet */
    DpDeviceKernel *kernel; /* all of its cases */
};

static void add_cases(const DpRt *rt, QuickPart *part, uint32_t program, uint32_t mode)
{
    const Parameters p = parameters_of(rt, program);
    bool never = rt->quick.use == QUICK_BY_WORK && cost_of(rt, program) == 0;
    if (never || mode_for(&p, program, mode) != mode)
        return;
    for (const Entry *e = entries; e < entries + ENTRIES; e++) {
        if (!stands_in(e, &p, mode))
            continue;
        uint32_t numbers = number_count(e, &p);
        part->cases[part->ncases++] = (Case){e, program, mode, numbers};
        part->nargs = numbers > part->nargs ? numbers : part->nargs;
    }
}

static void collect_cases(DpRt *rt, QuickPart *part)
{
    uint64_t room = (uint64_t)(part->end - part->first) * 2 * ENTRIES;
    part->cases = calloc(room, sizeof *part->cases);
    if (!part->cases) {
        dp_rt_fail_host_memory(rt, room * sizeof *part->cases);
        return;
    }
    for (uint32_t program = part->first; program < part->end; program++) {
        if (program >= OWN_COUNT && rt->program->kernels[program - OWN_COUNT].same)
            continue;
        add_cases(rt, part, program, 0);
        if (program >= OWN_COUNT)
            add_cases(rt, part, program, MODE_SEGMENTED);
    }
}

/* The first parts have the runtime's own kernels, and are the same in all programs; few programs sort. */
static void divide(DpRt *rt)
{
    Quick *q = &rt->quick;
    q->parts = calloc(rt->nprograms, sizeof *q->parts); /* OWN_COUNT are more than its two parts */
    if (!q->parts) {
        dp_rt_fail_host_memory(rt, rt->nprograms * sizeof *q->parts);
        return;
    }
    q->parts[q->nparts++] = (QuickPart){.first = 0, .end = OWN_SORT};
    q->parts[q->nparts++] = (QuickPart){.first = OWN_SORT, .end = OWN_COUNT};
    size_t text = QUICK_TEXT;
    for (uint32_t i = OWN_COUNT; i < rt->nprograms; i++) {
        const DpKernel *k = &rt->program->kernels[i - OWN_COUNT];
        const size_t n = k->same ? 0 : strlen(k->source);
        if (text + n > QUICK_TEXT) {
            q->parts[q->nparts++].first = i;
            text = 0;
        }
        text += n;
        q->parts[q->nparts - 1].end = i + 1;
    }
}

/* NULL in a failed state. */
static QuickPart *part_of(DpRt *rt, uint32_t program)
{
    if (!rt->quick.parts)
        divide(rt);
    QuickPart *part = rt->quick.parts;
    while (part && program >= part->end)
        part++;
    if (part && !part->cases)
        collect_cases(rt, part);
    return dp_failed(rt) ? NULL : part;
}

/* ---- text ---- */
static void case_suffix(char *to, size_t room, uint32_t program, uint32_t mode)
{
    if (program < OWN_COUNT)
        snprintf(to, room, "%s", dp_own_suffix[program]);
    else
        snprintf(to, room, "_%u_m%u", program - OWN_COUNT, mode);
}

static void add_line(DpRt *rt, Text *t, const char *line) { dp_text_add(rt, t, line, strlen(line)); }

static void add_numbers(DpRt *rt, Text *t, const char *type, uint32_t n)
{
    char one[32];
    for (uint32_t i = 0; i < n; i++) {
        snprintf(one, sizeof one, ", %sa%u", type, i);
        add_line(rt, t, one);
    }
}

static void add_switch(DpRt *rt, Text *t, const QuickPart *part)
{
    char line[160], suffix[48];
    add_line(
        rt, t,
        "\n__kernel __attribute__((reqd_work_group_size(1, 1, 1)))\nvoid dp_quick(__global uchar *heap, ulong which");
    add_numbers(rt, t, "ulong ", part->nargs);
    add_line(rt, t, ")\n{\n    switch (which) {\n");
    for (uint32_t i = 0; i < part->ncases; i++) {
        const Case *c = &part->cases[i];
        case_suffix(suffix, sizeof suffix, c->program, c->mode);
        snprintf(line, sizeof line, "    case %u: %s%s(%s", i, c->entry->name, suffix,
                 c->entry->heaps == 2 ? "heap, heap" : "heap");
        add_line(rt, t, line);
        add_numbers(rt, t, "", c->numbers);
        add_line(rt, t, "); break;\n");
    }
    add_line(rt, t, "    }\n}\n");
}

static void add_functions(DpRt *rt, Text *t, const QuickPart *part)
{
    char suffix[48];
    for (uint32_t own = part->first; own < part->end && own < OWN_COUNT; own++)
        dp_source_own(rt, t, (OwnProgram)own, MODE_QUICK, NULL);
    for (uint32_t i = 0; i < part->ncases; i++) {
        const Case *c = &part->cases[i], *before = c - 1;
        if (c->program < OWN_COUNT || (i > 0 && before->program == c->program && before->mode == c->mode))
            continue;
        const Instance instance = {c->program - OWN_COUNT, 0, c->mode | MODE_QUICK};
        case_suffix(suffix, sizeof suffix, c->program, c->mode);
        dp_source_instance(rt, t, &instance, suffix, NULL);
    }
}

static void build_part(DpRt *rt, QuickPart *part)
{
    const BuildTask task = {.name = "dp_quick",
                            .suffix = "",
                            .quickly = true,
                            .first = part->first,
                            .end = part->end,
                            .number = (uint32_t)(part - rt->quick.parts)};
    Text t = {.at = NULL};
    dp_source_begin(rt, &t, false);
    add_functions(rt, &t, part);
    add_switch(rt, &t, part);
    part->built = dp_program_build(rt, &t, &task);
}

/* ---- work ---- */
static CacheKey records_key(const DpRt *rt)
{
    const char *pocl = getenv("POCL_CACHE_DIR");
    const char *const place[] = {"work", rt->device->facts.identity, pocl ? pocl : ""};
    CacheKey key = dp_cache_key(place, 3);
    for (uint32_t i = 0; i < rt->program->nkernels; i++)
        key = dp_cache_key_more(key, rt->program->kernels[i].source);
    return key;
}

static uint32_t add_record(DpRt *rt, const char *kernel, uint64_t work)
{
    Quick *q = &rt->quick;
    if (q->nrecords == q->records_room) {
        uint32_t room = q->records_room ? 2 * q->records_room : 64;
        WorkRecord *records = realloc(q->records, room * sizeof *records);
        if (!records) {
            dp_rt_fail_host_memory(rt, room * sizeof *records);
            return 0;
        }
        q->records = records;
        q->records_room = room;
    }
    WorkRecord *r = &q->records[q->nrecords];
    snprintf(r->kernel, sizeof r->kernel, "%s", kernel);
    r->work = work;
    return q->nrecords++;
}

/* Lines of a kernel and its work. */
static void load_records(DpRt *rt)
{
    size_t n = 0;
    char *text = rt->cache_dir ? (char *)dp_cache_load(rt->cache_dir, records_key(rt), &n) : NULL, *rest = NULL;
    if (text)
        text[n] = 0;
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
        char *space = strchr(line, ' ');
        if (!space)
            break;
        *space = 0;
        add_record(rt, line, strtoull(space + 1, NULL, 10));
    }
    free(text);
}

static void store_records(DpRt *rt)
{
    Quick *q = &rt->quick;
    Text t = {.at = NULL};
    char line[sizeof q->records->kernel + 24];
    for (uint32_t i = 0; i < q->nrecords; i++) {
        snprintf(line, sizeof line, "%s %" PRIu64 "\n", q->records[i].kernel, q->records[i].work);
        add_line(rt, &t, line);
    }
    if (t.at && !t.lost && rt->cache_dir)
        dp_cache_store(rt->cache_dir, records_key(rt), (const unsigned char *)t.at, t.n);
    free(t.at);
    q->unstored = 0;
}

static uint32_t record_of(DpRt *rt, uint32_t program, const Instance *i, const char *name)
{
    Quick *q = &rt->quick;
    char kernel[sizeof q->records->kernel];
    if (!q->loaded)
        load_records(rt);
    q->loaded = true;
    snprintf(kernel, sizeof kernel, "%s_%u_v%u_m%u", name, program, i->variant, i->mode);
    for (uint32_t r = 0; r < q->nrecords; r++)
        if (strcmp(q->records[r].kernel, kernel) == 0)
            return r;
    return add_record(rt, kernel, 0);
}

/* ---- use ---- */
void dp_quick_open(DpRt *rt, const DpOpenOptions *options)
{
    const char *tier = getenv("DP_TIER");
    /* The GPU's shape on a device that compiles late (PoCL) is for tests. */
    bool pays = rt->device->facts.compiles_late != rt->gpu && !options->optimised;
    rt->quick.most_work = rt->gpu ? QUICK_GPU_WORK : QUICK_WORK;
    rt->quick.use = pays ? QUICK_BY_WORK : QUICK_NEVER;
    rt->quick.unoptimised = tier && strcmp(tier, "unoptimised") == 0;
    if (rt->quick.unoptimised || (tier && strcmp(tier, "optimised") == 0))
        rt->quick.use = QUICK_NEVER;
    if (tier && strcmp(tier, "quick") == 0)
        rt->quick.use = QUICK_ALWAYS;
}

static void find_case(DpRt *rt, QuickCase *c, uint32_t program, uint32_t instance_mode, const char *name)
{
    QuickPart *part = part_of(rt, program);
    const Parameters p = parameters_of(rt, program);
    const uint32_t mode = mode_for(&p, program, instance_mode);
    for (uint32_t k = 0; part && k < part->ncases; k++) {
        const Case *found = &part->cases[k];
        if (found->program != program || found->mode != mode || strcmp(found->entry->name, name) != 0)
            continue;
        *c = (QuickCase){.there = true, .part = part, .which = k, .counts = found->entry->counts};
        return;
    }
}

void dp_quick_find(DpRt *rt, QuickCase *c, uint32_t program, const Instance *i, const char *name)
{
    *c = (QuickCase){.there = rt->gpu && rt->quick.use != QUICK_NEVER, .counts = 1};
    if (!rt->gpu && rt->quick.use != QUICK_NEVER)
        find_case(rt, c, program, i->mode, name);
    if (!c->there || dp_failed(rt))
        return;
    c->record = record_of(rt, program, i, name);
    c->cost = cost_of(rt, program);
}

bool dp_quick_serves(DpRt *rt, const QuickCase *c, const uint64_t *numbers)
{
    Quick *q = &rt->quick;
    if (!c->there || q->use == QUICK_ALWAYS || c->cost == 0)
        return c->there && q->use == QUICK_ALWAYS;
    uint64_t elements = 0;
    for (uint32_t i = 0; i < c->counts; i++)
        elements += numbers[i];
    uint64_t *work = &q->records[c->record].work;
    if (*work >= q->most_work)
        return false;
    uint64_t more = elements < q->most_work / c->cost ? elements * c->cost : q->most_work;
    more += rt->gpu ? QUICK_GPU_LAUNCH : 0;
    *work += more;
    q->unstored += more;
    if (*work < q->most_work)
        return true;
    store_records(rt); /* now, for the run may fail */
    return false;
}

DpDeviceKernel *dp_quick_kernel(DpRt *rt, const QuickCase *c, uint32_t *nargs)
{
    if (!c->part->built)
        build_part(rt, c->part);
    *nargs = c->part->nargs;
    if (!c->part->kernel)
        c->part->kernel = dp_program_kernel(rt, c->part->built, "dp_quick");
    return c->part->kernel;
}

void dp_quick_close(DpRt *rt)
{
    Quick *q = &rt->quick;
    if (q->unstored >= q->most_work / NOT_REMEMBERED)
        store_records(rt);
    for (uint32_t i = 0; i < q->nparts; i++) {
        const QuickPart *part = &q->parts[i];
        rt->device->backend->kernel_release(rt->device, part->kernel);
        free(part->cases);
    }
    free(q->parts);
    free(q->records);
    *q = (Quick){.use = QUICK_NEVER};
}
