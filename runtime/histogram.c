/* Histograms: bins of values, by the ways of kernels/histogram.cl. */
#include "internal.h"

typedef struct Bins {
    uint64_t n;
    uint64_t size, offsets;
    uint64_t longest;
} Bins; /* all bins; one segment's size, or the segments' offsets; most of one segment */

typedef enum Way { WAY_BEST, WAY_CHUNKS, WAY_ADD, WAY_HOT, WAY_SORT } Way; /* as in params.def */

/* Chunks with bins of their own. */
typedef struct Chunks {
    uint32_t n;
    uint64_t each;   /* elements */
    uint32_t shift;  /* GPU: log2 of copies in local memory */
    uint64_t passes; /* GPU: work-groups of a chunk, each for a part of the bins; else 1 */
    uint32_t sides;  /* CPU: copies of a chunk's bins, or 0 */
    bool wide;       /* GPU: each has room for twice as many bins */
    bool parts;      /* joined by dp_hist_merge, else combined into the common bins */
} Chunks;            /* n is 0: this way does not serve */

/* One histogram at work. */
typedef struct Hist {
    DpRt *rt;
    uint32_t kernel, variant;
    const DpKernel *info;
    const DpCtx *c;
    const uint64_t *words;
    const Bins *bins;
    const DpCol *data;
    Segments s;
    bool atomic;          /* one compare-and-swap holds a value */
    uint32_t value_bytes; /* of a value in a part; at most */
    Way way;
    Chunks chunks;
    uint64_t copies; /* of all bins, one behind the other, in `data`: WAY_HOT */
} Hist;

/* LOCAL_BYTES as in histogram.cl. */
enum {
    LOCAL_BYTES = 16384,
    LOCAL_REACH = 16384,     /* elements that bins in local memory serve, at least, where copies are made of them */
    LEAST_A_BIN = 2,         /* elements: then bins of a chunk's own pay */
    MOST_A_GROUP = 16384,    /* elements, where work-groups are fewer than compute units */
    HOT_CHUNK = 8192,        /* elements, at least, for one sample */
    MOST_COPIED_BINS = 4096, /* CPU */
    LEAST_A_COPY = 4,        /* elements for each bin of each copy */
    COMMON_BYTES = 1 << 24,  /* of all copies */
    SIDES = 4,               /* CPU, as in histogram.cl: bins for each of so many neighbours */
    MOST_SIDE_BINS = 1024
};

/* Values for one bin are added by one instruction there, but in local memory they would wait for each other. */
static bool adds_best_in_common(const DpRt *rt, const DpKernel *k)
{
    return k->combining == DP_ADDS_F64 && rt->device->facts.adds_f64;
}

bool dp_rt_atomic_bins(const DpRt *rt, const DpKernel *k)
{
    return k->swap_bytes == 4 || (k->swap_bytes == 8 && rt->device->facts.atomics64);
}

/* Of chunks' own bins: in twice the local memory, if wide. */
static void launch_chunks(const Hist *h, bool wide, const char *name, uint32_t groups, Args *a)
{
    dp_args_kernel_words(h->rt, a, h->kernel, h->words);
    dp_args_columns(a, h->data, h->info->nouts);
    dp_rt_launch(h->rt, dp_rt_kernel(h->rt, h->kernel, h->variant, h->s.mode | MODE_WAY * wide, name), 2, groups, a);
}

static void launch(const Hist *h, const char *name, uint32_t heaps, uint32_t groups, Args *a, bool outs)
{
    dp_args_kernel_words(h->rt, a, h->kernel, h->words);
    if (outs)
        dp_args_columns(a, h->data, h->info->nouts);
    dp_rt_launch(h->rt, dp_rt_kernel(h->rt, h->kernel, h->variant, h->s.mode, name), heaps, groups, a);
}

/* The context, and the bins' size or offsets. */
static Args elements_args(const Hist *h)
{
    Args a = dp_args_context(h->c, &h->s);
    dp_args_add(&a, h->bins->size);
    dp_args_add(&a, h->bins->offsets);
    return a;
}

/* ---- chunks with bins of their own ---- */
static Chunks chunks_of(uint64_t n, uint64_t count)
{
    if (n == 0 || count == 0)
        return (Chunks){.n = 0};
    uint64_t each = (n + count - 1) / count;
    return (Chunks){.n = (uint32_t)((n + each - 1) / each), .each = each, .passes = 1};
}

/* CPU: so many that own bins cost no more than the elements. Those of one segment begin, and are merged, in vectors. */
static Chunks serial_chunks(const Hist *h)
{
    enum { BINS_AN_ELEMENT = 4 };
    const Bins *b = h->bins;
    const uint64_t room = (h->s.mode ? 1 : BINS_AN_ELEMENT) * h->c->n;
    uint64_t most = room >= b->n ? (room - b->n) / b->longest + 1 : 0;
    uint32_t wanted = b->longest > MOST_COPIED_BINS ? h->rt->device->facts.units : dp_rt_chunks(h->rt, false, h->c->n);
    bool pays = most >= wanted || (most >= 1 && !h->atomic);
    Chunks k = chunks_of(h->c->n, pays ? (most < wanted ? most : wanted) : 0);
    k.parts = true;
    k.sides = !b->offsets && b->n <= MOST_SIDE_BINS && k.n && k.each >= 4 * SIDES * b->n ? SIDES : 0;
    return k;
}

/* GPU. The bins of one segment or of several side by side are in local memory, in as many copies as there is room for
 * and as still reach over many elements. */
static Chunks group_chunks(const Hist *h)
{
    const uint64_t n = h->c->n, bins = h->bins->n, longest = h->bins->longest;
    const uint64_t least_slots = LOCAL_BYTES / (h->atomic            ? h->info->swap_bytes
                                                : h->info->val_bytes ? h->info->val_bytes
                                                                     : 16);
    const bool wide = h->atomic && !h->bins->offsets && longest > least_slots;
    const uint64_t slots = least_slots << wide;
    const uint64_t typical = h->bins->offsets ? (bins + h->s.nseg - 1) / h->s.nseg : bins;
    const uint64_t least = 8 * typical > 1024 ? 8 * typical : 1024, copies = dp_param(h->rt, PARAM_HIST_COPIES);
    uint64_t groups = n / least, most = (dp_param(h->rt, PARAM_HIST_GROUPS) << wide) * h->rt->device->facts.units;
    const uint64_t passes = h->bins->offsets ? 1 : (longest + slots - 1) / slots;
    if (passes > (adds_best_in_common(h->rt, h->info) ? 1 : dp_param(h->rt, PARAM_HIST_PASSES)) ||
        (h->atomic ? n < LEAST_A_BIN * bins || typical > passes * slots : longest > passes * slots))
        return (Chunks){.n = 0};
    Chunks k = chunks_of(n, groups < 1 ? 1 : groups < most ? groups : most);
    while (2u << k.shift <= copies && typical << (k.shift + 1) <= slots &&
           (slots >> (k.shift + 1)) * (n / bins) >= LOCAL_REACH)
        k.shift++;
    while (k.shift && !h->atomic && longest << k.shift > slots)
        k.shift--;
    k.passes = passes;
    k.wide = wide;
    k.parts = longest << k.shift <= passes * slots && (k.n * longest <= n || !h->atomic);
    return k.parts || passes == 1 ? k : (Chunks){.n = 0};
}

/* Too few work-groups, for chunks that are long: the common bins serve better. */
static bool leaves_units(const Hist *h, const Chunks *k)
{
    return h->atomic && !h->bins->offsets && k->shift == 0 && k->each > MOST_A_GROUP &&
           k->n * k->passes < h->rt->device->facts.units;
}

static void hist_chunks(const Hist *h, const Chunks *k)
{
    const uint64_t stride = h->bins->longest * (k->sides ? k->sides : 1);
    DpBlock *part = k->parts ? dp_block_new(h->rt, h->bins->n + k->n * stride, h->value_bytes) : NULL;
    Args own = elements_args(h), merge = {.n = 0};
    dp_args_add(&own, k->each);
    dp_args_add(&own, k->shift);
    dp_args_add(&own, k->passes);
    dp_args_add(&own, dp_block_addr(part));
    dp_args_add(&own, stride);
    launch_chunks(h, k->wide, "dp_hist_chunks", (uint32_t)(k->n * k->passes), &own);
    if (!part)
        return;
    dp_args_add(&merge, h->bins->n);
    dp_args_add(&merge, h->s.nseg);
    dp_args_add(&merge, h->s.offsets);
    dp_args_add(&merge, h->bins->size);
    dp_args_add(&merge, h->bins->offsets);
    dp_args_add(&merge, h->c->n);
    dp_args_add(&merge, k->each);
    dp_args_add(&merge, dp_block_addr(part));
    dp_args_add(&merge, stride);
    launch_chunks(h, k->wide, "dp_hist_merge", dp_rt_map_groups(h->rt, 32 * h->bins->n), &merge);
    dp_block_release(h->rt, part);
}

/* ---- the common bins ---- */
static void hist_fill(const Hist *h)
{
    const uint64_t n = h->copies * h->bins->n;
    Args fill = {.n = 0};
    dp_args_add(&fill, n);
    dp_args_add(&fill, h->s.nseg);
    dp_args_add(&fill, h->bins->offsets);
    launch(h, "dp_hist_fill", 1, dp_rt_map_groups(h->rt, n), &fill, true);
}

/* Where some bins get many of the values, work-groups would wait for each other at these: so they have copies beside
 * each other, as many as stay in the device's cache. */
static uint64_t common_copies(const Hist *h)
{
    const uint64_t bytes = dp_size_mul(h->bins->n, h->value_bytes);
    uint64_t copies = h->s.mode ? 1 : dp_param(h->rt, PARAM_HIST_COMMON);
    while (copies > 1 && (bytes > COMMON_BYTES / copies || h->c->n < LEAST_A_COPY * copies * h->bins->n))
        copies /= 2;
    return copies;
}

static void hist_join(const Hist *h)
{
    Args join = {.n = 0};
    dp_args_add(&join, h->bins->n);
    dp_args_add(&join, h->copies);
    launch(h, "dp_hist_join", 1, dp_rt_map_groups(h->rt, h->bins->n), &join, true);
}

static void hist_add(const Hist *h)
{
    if (h->c->n == 0)
        return;
    Args add = elements_args(h);
    if (h->way == WAY_HOT) {
        const uint64_t most = dp_param(h->rt, PARAM_HIST_GROUPS) * h->rt->device->facts.units;
        const uint64_t groups = h->c->n / HOT_CHUNK + 1;
        const Chunks k = chunks_of(h->c->n, groups < most ? groups : most);
        dp_args_add(&add, k.each);
        dp_args_add(&add, h->copies);
        launch(h, "dp_hist_hot", 2, k.n, &add, true);
    } else {
        launch(h, "dp_hist_add", 1, dp_rt_map_groups(h->rt, h->c->n), &add, true);
    }
}

/* ---- by sorting ---- */
/* The u32 instance of each bin, or NULL where there is one. */
static DpBlock *bin_instances(DpRt *rt, const Segments *s, const Bins *bins)
{
    if (!s->mode)
        return NULL;
    DpBlock *b = dp_block_new(rt, bins->n, 4);
    Args a = {.n = 0};
    dp_args_add(&a, bins->n);
    dp_args_add(&a, s->nseg);
    dp_args_add(&a, bins->offsets);
    dp_args_add(&a, dp_block_addr(b));
    dp_rt_move(rt, "dp_segments", bins->n, &a);
    return b;
}

/* Values sorted by bin; offsets[b] is where bin b begins. How many values have a bin. */
static uint64_t bounds_of_bins(DpRt *rt, const Bins *bins, const DpBlock *keys, uint64_t n, DpBlock *offsets)
{
    Args a = {.n = 0};
    uint64_t inside = 0;
    dp_args_add(&a, bins->n + 1);
    dp_args_add(&a, dp_block_addr(offsets));
    dp_args_add(&a, dp_block_addr(keys));
    dp_args_add(&a, n);
    dp_rt_move(rt, "dp_bounds", bins->n + 1, &a);
    dp_rt_read(rt, dp_block_addr(offsets) + 8 * bins->n, &inside, sizeof inside);
    return inside;
}

static void hist_sorted(const Hist *h)
{
    DpRt *rt = h->rt;
    DpBlock *vals = NULL, *offsets = dp_block_new(rt, h->bins->n + 1, 8);
    Sorted sorted = {NULL, NULL};
    if (h->c->n) {
        DpBlock *bin = dp_block_new(rt, h->c->n, 4);
        vals = dp_block_new(rt, h->c->n, h->info->val_bytes ? h->info->val_bytes : 16);
        Args list = elements_args(h);
        dp_args_add(&list, dp_block_addr(bin));
        dp_args_add(&list, dp_block_addr(vals));
        launch(h, "dp_hist_list", 1, dp_rt_map_groups(rt, h->c->n), &list, false);
        sorted = dp_sort_by(rt, h->c->n, dp_block_addr(bin), DP_U32);
        dp_block_release(rt, bin);
    }
    uint64_t inside = bounds_of_bins(rt, h->bins, sorted.keys, h->c->n, offsets);
    DpBlock *instances = bin_instances(rt, &h->s, h->bins);
    const uint64_t instances_addr = dp_block_addr(instances);
    dp_rt_write(rt, DP_BIN_INSTANCES, &instances_addr, sizeof instances_addr);
    const SegReduce r = {.kernel = h->kernel,
                         .variant = h->variant,
                         .mode = MODE_SEGMENTED | MODE_HIST_SORTED,
                         .n = inside,
                         .segments = {MODE_SEGMENTED, h->bins->n, dp_block_addr(offsets)},
                         .vals = dp_block_addr(vals),
                         .pos = dp_block_addr(sorted.along),
                         .words = h->words,
                         .outs = h->data};
    dp_segreduce(rt, &r);
    dp_block_release(rt, instances);
    dp_block_release(rt, sorted.keys);
    dp_block_release(rt, sorted.along);
    dp_block_release(rt, vals);
    dp_block_release(rt, offsets);
}

static void choose_way(Hist *h)
{
    const bool groups = dp_rt_group_shape(h->rt, h->kernel);
    const Way asked = (Way)dp_param(h->rt, PARAM_HIST_WAY);
    const bool many = h->c->n >= dp_param(h->rt, PARAM_HIST_SAMPLED);
    if (asked <= WAY_CHUNKS)
        h->chunks = groups ? group_chunks(h) : serial_chunks(h);
    if (asked == WAY_BEST && groups && leaves_units(h, &h->chunks))
        h->chunks.n = 0;
    if (asked == WAY_SORT || (h->chunks.n == 0 && !h->atomic))
        h->way = WAY_SORT;
    else if (h->chunks.n)
        h->way = WAY_CHUNKS;
    else
        h->way =
            groups && h->bins->n < UINT32_MAX && (asked == WAY_HOT || (asked != WAY_ADD && many)) ? WAY_HOT : WAY_ADD;
    h->copies = h->way == WAY_HOT ? common_copies(h) : 1;
}

static void hist_by_way(const Hist *h)
{
    if (h->way == WAY_SORT) {
        hist_sorted(h);
        return;
    }
    if (h->way != WAY_CHUNKS || !h->chunks.parts)
        hist_fill(h);
    if (h->way == WAY_CHUNKS)
        hist_chunks(h, &h->chunks);
    else
        hist_add(h);
    if (h->copies > 1)
        hist_join(h);
}

static void run_hist(DpRt *rt, uint32_t kernel, uint32_t variant, const DpCtx *c, const uint64_t *words,
                     const Bins *bins, DpCol *data)
{
    dp_rt_check_countable(rt, dp_ctx_n(c));
    if (bins->n == 0 || dp_failed(rt)) {
        dp_rt_new_columns(rt, kernel, 0, data);
        return;
    }
    const DpKernel *k = dp_rt_info(rt, kernel);
    const Segments s = dp_ctx_segments(c);
    Hist h = {.rt = rt,
              .kernel = kernel,
              .variant = variant,
              .info = k,
              .c = c,
              .words = words,
              .bins = bins,
              .data = data,
              .s = s,
              .atomic = dp_rt_atomic_bins(rt, k),
              .value_bytes = k->swap_bytes  ? k->swap_bytes
                             : k->val_bytes ? k->val_bytes
                                            : 16};
    choose_way(&h);
    dp_rt_new_columns(rt, kernel, h.copies * bins->n, data);
    if (dp_failed(rt))
        return;
    hist_by_way(&h);
    for (uint32_t i = 0; i < k->nouts; i++)
        data[i].n = bins->n;
    if (h.copies > 1)
        dp_block_shrink(rt, data[0].block, bins->n * data[0].bytes);
    dp_profile_moved(rt, kernel, c->n, s.nseg, dp_rt_columns_bytes(data, k->nouts));
}

/* Of each segment, into bins that lie behind `offsets`. */
static void hist_segments(DpRt *rt, uint32_t kernel, uint32_t variant, const DpCtx *c, const uint64_t *words,
                          Offsets offsets, const Bins *bins, DpCol *outs)
{
    DpCol data[DP_MAX_OUTS];
    run_hist(rt, kernel, variant, c, words, bins, data);
    for (uint32_t i = 0; i < dp_rt_info(rt, kernel)->nouts; i++) {
        outs[i] = dp_views_of_offsets(rt, offsets, c->up->n, data[i].addr, bins->n, data[i].bytes, data[i].block);
        if (outs[i].block)
            outs[i].block->refs_are_element_refs = true;
        dp_col_release(rt, &data[i]);
    }
}

static void no_histograms(DpRt *rt, uint32_t kernel, DpCol *outs)
{
    for (uint32_t i = 0; i < dp_rt_info(rt, kernel)->nouts; i++)
        outs[i] = dp_new_col(rt, 0, 16);
}

void dp_hist(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, const DpCol *size,
             DpCol *outs)
{
    const uint64_t nseg = dp_failed(rt) ? 0 : c->up->n;
    if (nseg == 0) {
        no_histograms(rt, kernel, outs);
        return;
    }
    DpBlock *offsets = dp_offsets_of_lengths(rt, size->addr, 8, nseg, DP_MAILBOX);
    const uint64_t total = dp_offsets_said(rt, offsets, dp_rt_look(rt));
    const Bins bins = {total, 0, dp_block_addr(offsets),
                       offsets && offsets->lengths.known ? offsets->lengths.longest : total};
    hist_segments(rt, kernel, variant, c, words, (Offsets){offsets, 0}, &bins, outs);
    dp_block_release(rt, offsets);
}

void dp_hist_regular(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, int64_t size,
                     DpCol *outs)
{
    const uint64_t nseg = dp_failed(rt) ? 0 : c->up->n, each = size > 0 ? (uint64_t)size : 0;
    if (nseg == 0) {
        no_histograms(rt, kernel, outs);
        return;
    }
    const Offsets offsets = offsets_regular(each);
    const Bins bins = {dp_size_mul(nseg, each), 0, offsets.stride, each};
    hist_segments(rt, kernel, variant, c, words, offsets, &bins, outs);
}

void dp_hist_root(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, int64_t size,
                  DpArr *outs)
{
    const uint64_t n = size > 0 ? (uint64_t)size : 0;
    Bins bins = {n, n, 0, n};
    DpCol data[DP_MAX_OUTS];
    run_hist(rt, kernel, variant, c, words, &bins, data);
    for (uint32_t i = 0; i < dp_rt_info(rt, kernel)->nouts; i++)
        outs[i] = dp_arr_of_block(rt, data[i].block, data[i].n);
}
