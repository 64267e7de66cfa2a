/* Operations with user code: kernels made of the compiler's holes and a template, over a context. */
#include "internal.h"

#include <string.h>

static const DpKernel *info(const DpRt *rt, uint32_t kernel) { return &rt->program->kernels[kernel]; }

static void new_columns(DpRt *rt, uint32_t kernel, uint64_t n, DpCol *outs)
{
    for (uint32_t i = 0; i < info(rt, kernel)->nouts; i++)
        outs[i] = col_new(rt, n, info(rt, kernel)->out_bytes[i]);
}

static uint64_t carry_bytes(const DpRt *rt, uint32_t kernel)
{
    uint32_t bytes = info(rt, kernel)->val_bytes;
    return (bytes ? bytes : 16) + 16;
}

/* n, nseg, offsets: how every template's arguments begin. */
static Args context_args(const DpCtx *c, const Segments *s)
{
    Args a = {.n = 0};
    arg(&a, c->n);
    arg(&a, s->nseg);
    arg(&a, s->offsets);
    return a;
}

/* ---- map, array ---- */
static void run_map(DpRt *rt, uint32_t kernel, uint32_t variant, const DpCtx *c, const uint64_t *words,
                    const DpCol *outs)
{
    Segments s = ctx_segments(c);
    Args a = context_args(c, &s);
    arg_kernel_words(rt, &a, kernel, words);
    arg_columns(&a, outs, info(rt, kernel)->nouts);
    rt_launch(rt, rt_kernel(rt, kernel, variant, s.mode, "dp_map"), 2, rt_map_groups(rt, c->n), &a);
}

void dp_map(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *ctx, const uint64_t *words, DpCol *outs)
{
    new_columns(rt, kernel, dp_ctx_n(ctx), outs);
    if (dp_failed(rt) || !ctx->n)
        return;
    run_map(rt, kernel, variant, ctx, words, outs);
    for (uint32_t i = 0; i < info(rt, kernel)->nouts; i++)
        outs[i].block->maybe_contig = outs[i].bytes == 16;
}

DpCol dp_array(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *ctx, const uint64_t *words, uint32_t count,
               DpRefs *element_refs)
{
    uint64_t n = dp_ctx_n(ctx);
    uint32_t bytes = info(rt, kernel)->out_bytes[0];
    if (dp_failed(rt) || n == 0) {
        dp_refs_release(rt, element_refs);
        return col_new(rt, 0, 16);
    }
    DpCol data = col_new(rt, dp_size_mul(n, count), bytes);
    if (count)
        run_map(rt, kernel, variant, ctx, words, &data);
    block_add_refs(rt, data.block, element_refs);
    DpCol views = views_of_offsets(rt, offsets_regular(count), n, data.addr, data.n, bytes, data.block);
    dp_col_release(rt, &data);
    return views;
}

/* ---- reduce ---- */
static void reduce_chunks(DpRt *rt, uint32_t kernel, uint32_t variant, uint64_t n, uint64_t part, uint32_t chunks,
                          const uint64_t *words)
{
    const uint64_t lead[4] = {n, part, 0, 0};
    Args a = {.n = 0};
    arg_words(&a, lead, 4);
    arg_kernel_words(rt, &a, kernel, words);
    rt_launch(rt, rt_kernel(rt, kernel, variant, 0, "dp_reduce_chunks"), 1, chunks, &a);
}

void dp_reduce_root(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, uint64_t *bits)
{
    const DpKernel *k = info(rt, kernel);
    memset(bits, 0, k->nouts * sizeof *bits);
    if (dp_failed(rt))
        return;
    rt_check_countable(rt, c->n);
    bool groups = rt_group_shape(rt, kernel);
    uint32_t chunks = c->n ? rt_chunks(rt, groups, c->n) : 0;
    bool small = chunks <= 1 && !groups;
    Args last = {.n = 0};
    DpBlock *part = NULL;
    if (small) {
        arg(&last, c->n);
    } else {
        part = block_new(rt, chunks ? chunks : 1, carry_bytes(rt, kernel));
        if (chunks)
            reduce_chunks(rt, kernel, variant, c->n, block_addr(part), chunks, words);
        arg(&last, chunks);
        arg(&last, block_addr(part));
    }
    arg_kernel_words(rt, &last, kernel, words);
    for (uint32_t i = 0; i < k->nouts; i++)
        arg(&last, DP_MAILBOX + 8 * i);
    rt_launch(rt, rt_kernel(rt, kernel, variant, 0, small ? "dp_reduce_small" : "dp_reduce_finish"), 1, 1, &last);
    block_release(rt, part);
    const uint64_t *mail = rt_look(rt);
    for (uint32_t i = 0; i < k->nouts; i++)
        bits[i] = k->out_bytes[i] == 8 ? mail[i] : mail[i] & ((UINT64_C(1) << (8 * k->out_bytes[i])) - 1);
}

/* n elements in nseg segments; vals and pos for sorted histograms. */
static void run_segreduce(DpRt *rt, uint32_t kernel, uint32_t variant, uint32_t mode, uint64_t n, uint64_t nseg,
                          uint64_t offsets, uint64_t vals, uint64_t pos, const uint64_t *words, const DpCol *outs)
{
    const DpKernel *k = info(rt, kernel);
    uint32_t chunks = rt_chunks(rt, rt_group_shape(rt, kernel), n + nseg);
    DpBlock *part = block_new(rt, 2 * (uint64_t)chunks, carry_bytes(rt, kernel));
    const uint64_t lead[6] = {n, nseg, offsets, block_addr(part), vals, pos};
    Args first = {.n = 0}, second = {.n = 0};
    arg_words(&first, lead, 6);
    arg_kernel_words(rt, &first, kernel, words);
    arg_columns(&first, outs, k->nouts);
    rt_launch(rt, rt_kernel(rt, kernel, variant, mode, "dp_segreduce_chunks"), 2, chunks, &first);
    arg(&second, chunks);
    arg(&second, block_addr(part));
    arg_kernel_words(rt, &second, kernel, words);
    arg_columns(&second, outs, k->nouts);
    if (chunks > 1)
        rt_launch(rt, rt_kernel(rt, kernel, variant, mode, "dp_segreduce_finish"), 1, 1, &second);
    block_release(rt, part);
}

void dp_reduce(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, DpCol *outs)
{
    if (dp_failed(rt)) {
        new_columns(rt, kernel, 0, outs);
        return;
    }
    rt_check_countable(rt, c->n);
    new_columns(rt, kernel, c->up->n, outs);
    Segments s = ctx_segments(c);
    if (c->up->n)
        run_segreduce(rt, kernel, variant, s.mode, c->n, s.nseg, s.offsets, 0, 0, words, outs);
}

/* ---- scan ---- */
void dp_scan(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, DpCol *outs)
{
    const DpKernel *k = info(rt, kernel);
    new_columns(rt, kernel, dp_ctx_n(c), outs);
    if (dp_failed(rt) || c->n == 0)
        return;
    Segments s = ctx_segments(c);
    uint32_t chunks = rt_chunks(rt, rt_group_shape(rt, kernel), c->n);
    DpBlock *part = block_new(rt, chunks, carry_bytes(rt, kernel));
    Args a = context_args(c, &s), carries = {.n = 0};
    arg(&a, block_addr(part));
    arg_kernel_words(rt, &a, kernel, words);
    if (chunks > 1) {
        rt_launch(rt, rt_kernel(rt, kernel, variant, s.mode, "dp_scan_chunks"), 1, chunks, &a);
        arg(&carries, chunks);
        arg(&carries, block_addr(part));
        arg_kernel_words(rt, &carries, kernel, words);
        if (rt_group_shape(rt, kernel))
            rt_launch(rt, rt_kernel(rt, kernel, variant, s.mode, "dp_scan_carries"), 1, 1, &carries);
    }
    arg_columns(&a, outs, k->nouts);
    rt_launch(rt, rt_kernel(rt, kernel, variant, s.mode, "dp_scan_write"), 2, chunks, &a);
    block_release(rt, part);
}

/* ---- scatter ---- */
/* The columns are the destinations' elements, fresh, in the order of their owners. */
static void run_scatter(DpRt *rt, uint32_t kernel, uint32_t variant, const DpCtx *c, const uint64_t *words,
                        uint64_t length, uint64_t dest_offsets, const DpCol *data)
{
    Segments s = ctx_segments(c);
    Args a = context_args(c, &s);
    arg(&a, length);
    arg(&a, dest_offsets);
    arg_kernel_words(rt, &a, kernel, words);
    arg_columns(&a, data, info(rt, kernel)->nouts);
    rt_launch(rt, rt_kernel(rt, kernel, variant, s.mode, "dp_scatter"), 2, rt_map_groups(rt, c->n), &a);
}

DpCol fresh_copy(DpRt *rt, DpCol col)
{
    if (!col.block || col.block->count == 1)
        return col;
    DpCol copy = col_new(rt, col.n, col.bytes);
    move_copy(rt, copy.addr, dp_col_addr(rt, &col), col.n, col.bytes);
    block_add_refs(rt, copy.block, dp_refs_of_col(rt, &col, 0));
    dp_col_release(rt, &col);
    return copy;
}

DpBlock *sole_elements(const DpCol *dest)
{
    const DpContig *whole = col_contig(dest);
    const DpRefs *refs = dest->block ? dest->block->refs : NULL;
    bool sole =
        whole && dest->block->count == 1 && refs && refs->count == 1 && refs->n == 1 && refs->blocks[0]->count == 1;
    return sole ? refs->blocks[0] : NULL;
}

/* Of the elements' holders all are known: the views, and those parked in the block that the views are told apart from.
 */
bool holds_alone(const DpCol *views, const DpBlock *elements)
{
    const DpRefs *refs = views->block->refs, *others = views->block->parked ? views->block->parked->refs : NULL;
    if (others == refs)
        return refs->count == 2 && elements->count == 1;
    bool too = others && refs_find(others, elements->addr) == elements;
    return refs->count == 1 && elements->count == 1u + too && (!too || others->count == 1);
}

void dp_scatter(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, const DpCol *dests,
                const bool *consume, DpCol *outs)
{
    const DpKernel *k = info(rt, kernel);
    rt_check_countable(rt, dp_ctx_n(c));
    DpCtx *room = dp_ctx_n(c) ? dp_nested_views(rt, c->up, &dests[0]) : NULL;
    if (!room || room->n == 0) {
        for (uint32_t i = 0; i < k->nouts; i++)
            outs[i] = dp_failed(rt) ? (DpCol){0} : dp_col_retain(dests[i]);
        dp_ctx_release(rt, &room);
        return;
    }
    DpCol data[DP_MAX_OUTS];
    for (uint32_t i = 0; i < k->nouts; i++) {
        DpBlock *own = consume[i] ? sole_elements(&dests[i]) : NULL;
        if (own) {
            block_forget_layout(rt, own);
            data[i] = (DpCol){block_retain(own), dests[i].block->contig.base, room->n, k->out_bytes[i]};
            outs[i] = dp_col_retain(dests[i]);
        } else {
            data[i] = fresh_copy(rt, dp_elems(rt, &dests[i], room, k->out_bytes[i]));
            outs[i] =
                views_of_offsets(rt, room->offsets, c->up->n, data[i].addr, room->n, data[i].bytes, data[i].block);
        }
        if (outs[i].block)
            outs[i].block->elements_too = true;
    }
    run_scatter(rt, kernel, variant, c, words, 0, offsets_word(room->offsets), data);
    for (uint32_t i = 0; i < k->nouts; i++)
        dp_col_release(rt, &data[i]);
    dp_ctx_release(rt, &room);
}

void dp_scatter_root(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, const DpArr *dests,
                     const bool *consume, DpArr *outs)
{
    const DpKernel *k = info(rt, kernel);
    DpCol data[DP_MAX_OUTS];
    rt_check_countable(rt, dp_ctx_n(c));
    for (uint32_t i = 0; i < k->nouts; i++) {
        if (dp_failed(rt)) {
            outs[i] = (DpArr){0, 0, NULL};
            continue;
        }
        if (c->n == 0 || dests[i].len == 0 || (consume[i] && arr_solely_held(&dests[i]))) {
            outs[i] = dp_arr_retain(dests[i]);
            data[i] = (DpCol){NULL, dests[i].addr, dests[i].len, k->out_bytes[i]};
            if (c->n && dests[i].len)
                block_forget_layout(rt, dests[i].refs->blocks[0]);
            continue;
        }
        data[i] = col_new(rt, dests[i].len, k->out_bytes[i]);
        move_copy(rt, data[i].addr, dp_arr_addr(rt, &dests[i]), dests[i].len, k->out_bytes[i]);
        block_add_refs(rt, data[i].block, dp_refs_of_arr(rt, &dests[i], 1));
        outs[i] = arr_of_block(rt, data[i].block, data[i].n);
    }
    if (!dp_failed(rt) && c->n && dests[0].len)
        run_scatter(rt, kernel, variant, c, words, dests[0].len, 0, data);
}

/* ---- histograms ---- */
typedef struct Bins {
    uint64_t n;
    uint64_t size, offsets;
} Bins; /* all bins; one segment's size, or the segments' offsets */

enum { MOST_LOCAL_BINS = 4096, MOST_COPIED_BINS = 4096 }; /* the first as in histogram.cl */

bool rt_atomic_bins(const DpRt *rt, const DpKernel *k)
{
    return k->swap_bytes == 4 || (k->swap_bytes == 8 && rt->atomics64);
}

/* Work-groups that first combine into bins in local memory: so few that joining those costs little; 0: not at all. */
static uint32_t local_hist_groups(const DpRt *rt, const DpKernel *k, const DpCtx *c, const Bins *bins)
{
    bool may = rt->gpu && !bins->offsets && k->swap_bytes == 4 && k->atomic;
    if (!may || bins->n > MOST_LOCAL_BINS)
        return 0;
    uint64_t groups = c->n / (8 * bins->n), most = 4 * rt->units;
    return (uint32_t)(groups < most ? groups : most);
}

static void hist_atomic(DpRt *rt, uint32_t kernel, uint32_t variant, const DpCtx *c, const uint64_t *words,
                        const Bins *bins, const DpCol *data)
{
    const DpKernel *k = info(rt, kernel);
    Segments s = ctx_segments(c);
    Args fill = {.n = 0}, add = context_args(c, &s);
    arg(&fill, bins->n);
    arg(&fill, s.nseg);
    arg(&fill, bins->offsets);
    arg_kernel_words(rt, &fill, kernel, words);
    arg_columns(&fill, data, k->nouts);
    rt_launch(rt, rt_kernel(rt, kernel, variant, s.mode, "dp_hist_fill"), 1, rt_map_groups(rt, bins->n), &fill);
    if (c->n == 0)
        return;
    arg(&add, bins->size);
    arg(&add, bins->offsets);
    arg_kernel_words(rt, &add, kernel, words);
    arg_columns(&add, data, k->nouts);
    uint32_t groups = local_hist_groups(rt, k, c, bins);
    if (groups)
        rt_launch(rt, rt_kernel(rt, kernel, variant, s.mode, "dp_hist_local"), 1, groups, &add);
    else
        rt_launch(rt, rt_kernel(rt, kernel, variant, s.mode, "dp_hist_add"), 1, rt_map_groups(rt, c->n), &add);
}

/* Bins of their own for each chunk, then joined. */
static void hist_private(DpRt *rt, uint32_t kernel, uint32_t variant, const DpCtx *c, const uint64_t *words,
                         const Bins *bins, uint32_t chunks, const DpCol *data)
{
    const DpKernel *k = info(rt, kernel);
    Segments s = ctx_segments(c);
    DpBlock *part = block_new(rt, chunks * bins->n, k->val_bytes ? k->val_bytes : 16);
    Args own = context_args(c, &s), merge = {.n = 0};
    arg(&own, bins->size);
    arg(&own, bins->offsets);
    arg(&own, bins->n);
    arg(&own, block_addr(part));
    arg_kernel_words(rt, &own, kernel, words);
    rt_launch(rt, rt_kernel(rt, kernel, variant, s.mode, "dp_hist_chunks"), 1, chunks, &own);
    arg(&merge, bins->n);
    arg(&merge, s.nseg);
    arg(&merge, bins->offsets);
    arg(&merge, chunks);
    arg(&merge, block_addr(part));
    arg_kernel_words(rt, &merge, kernel, words);
    arg_columns(&merge, data, k->nouts);
    rt_launch(rt, rt_kernel(rt, kernel, variant, s.mode, "dp_hist_merge"), 1, rt_map_groups(rt, bins->n), &merge);
    block_release(rt, part);
}

/* The u32 instance of each bin, or NULL where there is one. */
static DpBlock *bin_instances(DpRt *rt, const Segments *s, const Bins *bins)
{
    if (!s->mode)
        return NULL;
    DpBlock *b = block_new(rt, bins->n, 4);
    Args a = {.n = 0};
    arg(&a, bins->n);
    arg(&a, s->nseg);
    arg(&a, bins->offsets);
    arg(&a, block_addr(b));
    rt_move(rt, "dp_segments", bins->n, &a);
    return b;
}

/* Values sorted by bin; offsets[b] is where bin b begins. How many values have a bin. */
static uint64_t bounds_of_bins(DpRt *rt, const Bins *bins, const DpBlock *keys, uint64_t n, DpBlock *offsets)
{
    Args a = {.n = 0};
    uint64_t inside = 0;
    arg(&a, bins->n + 1);
    arg(&a, block_addr(offsets));
    arg(&a, block_addr(keys));
    arg(&a, n);
    rt_move(rt, "dp_bounds", bins->n + 1, &a);
    rt_read(rt, block_addr(offsets) + 8 * bins->n, &inside, sizeof inside);
    return inside;
}

static void hist_sorted(DpRt *rt, uint32_t kernel, uint32_t variant, const DpCtx *c, const uint64_t *words,
                        const Bins *bins, const DpCol *data)
{
    const DpKernel *k = info(rt, kernel);
    Segments s = ctx_segments(c);
    DpBlock *vals = NULL, *offsets = block_new(rt, bins->n + 1, 8);
    Sorted sorted = {NULL, NULL};
    if (c->n) {
        DpBlock *bin = block_new(rt, c->n, 4);
        vals = block_new(rt, c->n, k->val_bytes ? k->val_bytes : 16);
        Args list = context_args(c, &s);
        arg(&list, bins->size);
        arg(&list, bins->offsets);
        arg(&list, block_addr(bin));
        arg(&list, block_addr(vals));
        arg_kernel_words(rt, &list, kernel, words);
        rt_launch(rt, rt_kernel(rt, kernel, variant, s.mode, "dp_hist_list"), 1, rt_map_groups(rt, c->n), &list);
        sorted = sort_by(rt, c->n, NULL, block_addr(bin), DP_U32);
        block_release(rt, bin);
    }
    uint64_t inside = bounds_of_bins(rt, bins, sorted.keys, c->n, offsets);
    DpBlock *instances = bin_instances(rt, &s, bins);
    const uint64_t instances_addr = block_addr(instances);
    rt_write(rt, DP_BIN_INSTANCES, &instances_addr, sizeof instances_addr);
    run_segreduce(rt, kernel, variant, MODE_SEGMENTED | MODE_HIST_SORTED, inside, bins->n, block_addr(offsets),
                  block_addr(vals), block_addr(sorted.positions), words, data);
    block_release(rt, instances);
    block_release(rt, sorted.keys);
    block_release(rt, sorted.positions);
    block_release(rt, vals);
    block_release(rt, offsets);
}

static void run_hist(DpRt *rt, uint32_t kernel, uint32_t variant, const DpCtx *c, const uint64_t *words,
                     const Bins *bins, DpCol *data)
{
    rt_check_countable(rt, dp_ctx_n(c));
    new_columns(rt, kernel, bins->n, data);
    if (dp_failed(rt) || bins->n == 0)
        return;
    bool groups = rt_group_shape(rt, kernel), atomic = rt_atomic_bins(rt, info(rt, kernel));
    uint64_t most = c->n / bins->n; /* so that own bins cost no more than the elements */
    uint32_t chunks = bins->n > MOST_COPIED_BINS ? rt->units : rt_chunks(rt, groups, c->n);
    if (!groups && (most >= chunks || (most >= 1 && !atomic)))
        hist_private(rt, kernel, variant, c, words, bins, most < chunks ? (uint32_t)most : chunks, data);
    else if (atomic)
        hist_atomic(rt, kernel, variant, c, words, bins, data);
    else
        hist_sorted(rt, kernel, variant, c, words, bins, data);
}

void dp_hist(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, const DpCol *size,
             DpCol *outs)
{
    const DpKernel *k = info(rt, kernel);
    uint64_t nseg = dp_failed(rt) ? 0 : c->up->n, total = 0;
    if (nseg == 0) {
        for (uint32_t i = 0; i < k->nouts; i++)
            outs[i] = col_new(rt, 0, 16);
        return;
    }
    DpBlock *offsets = offsets_of_lengths(rt, size->addr, 8, nseg, &total);
    Bins bins = {total, 0, block_addr(offsets)};
    DpCol data[DP_MAX_OUTS];
    run_hist(rt, kernel, variant, c, words, &bins, data);
    for (uint32_t i = 0; i < k->nouts; i++) {
        outs[i] = views_of_offsets(rt, (Offsets){offsets, 0}, nseg, data[i].addr, total, data[i].bytes, data[i].block);
        if (outs[i].block)
            outs[i].block->elements_too = true;
        dp_col_release(rt, &data[i]);
    }
    block_release(rt, offsets);
}

void dp_hist_root(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, int64_t size,
                  DpArr *outs)
{
    Bins bins = {size > 0 ? (uint64_t)size : 0, size > 0 ? (uint64_t)size : 0, 0};
    DpCol data[DP_MAX_OUTS];
    run_hist(rt, kernel, variant, c, words, &bins, data);
    for (uint32_t i = 0; i < info(rt, kernel)->nouts; i++)
        outs[i] = arr_of_block(rt, data[i].block, data[i].n);
}
