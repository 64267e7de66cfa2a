/* Operations with user code: kernels made of the compiler's holes and a template, over a context. */
#include "internal.h"

#include <string.h>

void dp_rt_new_columns(DpRt *rt, uint32_t kernel, uint64_t n, DpCol *outs)
{
    for (uint32_t i = 0; i < dp_rt_info(rt, kernel)->nouts; i++)
        outs[i] = dp_new_col(rt, n, dp_rt_info(rt, kernel)->out_bytes[i]);
}

uint64_t dp_rt_carry_bytes(const DpRt *rt, uint32_t kernel)
{
    uint32_t bytes = dp_rt_info(rt, kernel)->val_bytes;
    return (bytes ? bytes : 16) + 16;
}

Args dp_args_context(const DpCtx *c, const Segments *s)
{
    Args a = {.n = 0};
    dp_args_add(&a, c->n);
    dp_args_add(&a, s->nseg);
    dp_args_add(&a, s->offsets);
    return a;
}

/* ---- map, array ---- */
/* As in kernels/map.cl. */
enum {
    WAY_LINEAR,
    WAY_GRID, /* on a GPU */
    GRID_COLUMNS = 64,
    TURNED_SIDE = 32,
    VECTORS_OF_ITEM = 2,
    MOST_TURNED = 16 /* bytes of a value */
};

uint32_t dp_map_width(uint32_t way, uint32_t lanes)
{
    const uint32_t most = way == WAY_EIGHTS ? 8 : way == WAY_FOURS ? 4 : lanes;
    return lanes < most ? lanes : most;
}

bool dp_map_spills(const DpKernel *k, uint32_t variant)
{
    return k->spills == DP_SPILLS_ALWAYS || (k->spills && !(k->spills & ~variant));
}

/* On a CPU: vectors no wider than short segments, unless they may go beyond these. */
static uint32_t narrow_way(const DpKernel *k, uint32_t variant, uint64_t length)
{
    if (length >= k->lanes || length < 4 || dp_map_spills(k, variant))
        return WAY_LINEAR;
    return length < 8 ? WAY_FOURS : WAY_EIGHTS;
}

static uint32_t map_way(const DpRt *rt, const DpKernel *k, uint32_t variant, const DpCtx *c, const Segments *s)
{
    const uint64_t length = s->offsets & ~DP_REGULAR, least = rt->gpu ? TURNED_SIDE : 2;
    const bool fits = !rt->gpu || (k->val_bytes <= MOST_TURNED && k->kind == DP_K_MAP);
    if (!rt->gpu && !k->cost && k->lanes && k->vector_pays && !k->vector_inside &&
        !(s->mode & MODE_SEGMENTED)) /* few elements, each of which may be all the work */
        return narrow_way(k, variant, c->n / rt->device->facts.units);
    if (!(s->mode & MODE_SEGMENTED) || !(s->offsets & DP_REGULAR))
        return WAY_LINEAR;
    const uint64_t asked = dp_param(rt, PARAM_MAP_WAY);
    if (asked == 1 + WAY_TURNED && fits)
        return WAY_TURNED;
    if (asked)
        return asked == 1 + WAY_LINEAR ? WAY_LINEAR : rt->gpu ? WAY_GRID : narrow_way(k, variant, length);
    if (c->n < dp_param(rt, PARAM_MAP_GRID))
        return WAY_LINEAR;
    if (k->across && fits && length >= least && s->nseg >= least)
        return WAY_TURNED;
    if (!rt->gpu)
        return narrow_way(k, variant, length);
    return length >= GRID_COLUMNS && k->cost ? WAY_GRID : WAY_LINEAR; /* measured: with loops the latter */
}

uint64_t dp_rt_columns_bytes(const DpCol *cols, uint32_t n)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        bytes += cols[i].n * cols[i].bytes;
    return bytes;
}

/* Where elements go by vectors, every item has some of these. */
static uint32_t loop_groups(const DpRt *rt, uint32_t kernel, uint32_t way, uint64_t n)
{
    const uint32_t width = dp_map_width(way, dp_rt_vector_width(rt, kernel)), units = rt->device->facts.units;
    const uint32_t groups = dp_rt_loop_groups(rt, n);
    if (width == 0 || n < width)
        return groups;
    const uint64_t most = n / (VECTORS_OF_ITEM * width);
    return most > groups ? groups : most > units ? (uint32_t)most : units < groups ? units : groups;
}

void dp_run_map(DpRt *rt, uint32_t kernel, uint32_t variant, const DpCtx *c, const uint64_t *words, const DpCol *outs,
                const MapRange *range)
{
    const Segments s = dp_ctx_segments(c);
    const DpKernel *k = dp_rt_info(rt, kernel);
    const uint64_t n = range->end - range->from;
    dp_profile_moved(rt, kernel, n, s.nseg, n * dp_rt_columns_bytes(outs, k->nouts) / c->n);
    const uint64_t length = range->skip ? offsets_length(c->offsets) : 1;
    Args a = {.elements = n / length * (length - range->skip)};
    dp_args_add(&a, range->end);
    dp_args_add(&a, s.nseg);
    dp_args_add(&a, s.offsets);
    dp_args_add(&a, range->from);
    dp_args_add(&a, range->skip);
    dp_args_kernel_words(rt, &a, kernel, words);
    dp_args_columns(&a, outs, k->nouts);
    const uint32_t way = !rt->gpu && range->in_place ? WAY_IN_PLACE : map_way(rt, k, variant, c, &s);
    const uint32_t groups = k->cost ? dp_rt_map_groups(rt, n) : loop_groups(rt, kernel, way, n);
    dp_rt_launch(rt, dp_rt_kernel(rt, kernel, variant, s.mode | MODE_WAY * way, "dp_map"), 2, groups, &a);
}

void dp_map(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *ctx, const uint64_t *words, DpCol *outs)
{
    dp_rt_new_columns(rt, kernel, dp_ctx_n(ctx), outs);
    if (dp_failed(rt) || !ctx->n)
        return;
    dp_run_map(rt, kernel, variant, ctx, words, outs, &(MapRange){0, ctx->n, 0, false});
    for (uint32_t i = 0; i < dp_rt_info(rt, kernel)->nouts; i++)
        if (outs[i].bytes == 16)
            dp_block_become(outs[i].block, BLOCK_LAYOUT_UNKNOWN);
}

DpCol dp_array(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *ctx, const uint64_t *words, uint32_t count,
               DpRefs *element_refs)
{
    uint64_t n = dp_ctx_n(ctx);
    uint32_t bytes = dp_rt_info(rt, kernel)->out_bytes[0];
    if (dp_failed(rt) || n == 0) {
        dp_refs_release(rt, element_refs);
        return dp_new_col(rt, 0, 16);
    }
    DpCol data = dp_new_col(rt, dp_size_mul(n, count), bytes);
    if (count)
        dp_run_map(rt, kernel, variant, ctx, words, &data, &(MapRange){0, ctx->n, 0, false});
    dp_block_add_refs(rt, data.block, element_refs);
    DpCol views = dp_views_of_offsets(rt, offsets_regular(count), n, data.addr, data.n, bytes, data.block);
    dp_col_release(rt, &data);
    return views;
}

/* ---- reduce ---- */
/* n, the carries' room, and what histograms put there; in one kernel also where the groups are counted. */
static Args chunk_args(uint64_t n, uint64_t part)
{
    const uint64_t lead[4] = {n, part, 0, 0};
    Args a = {.n = 0};
    dp_args_words(&a, lead, 4);
    return a;
}

static void launch_reduce(DpRt *rt, uint32_t kernel, uint32_t variant, const char *name, uint32_t chunks, Args *a,
                          const uint64_t *words, uint32_t nouts, const uint64_t *outs)
{
    dp_args_kernel_words(rt, a, kernel, words);
    for (uint32_t i = 0; i < nouts; i++)
        dp_args_posted(a, outs[i]);
    dp_rt_launch(rt, dp_rt_kernel(rt, kernel, variant, 0, name), 1, chunks, a);
}

/* outs: where each result goes. */
static void reduce_at_root(DpRt *rt, uint32_t kernel, uint32_t variant, uint64_t n, const uint64_t *words,
                           const uint64_t *outs)
{
    const uint32_t nouts = dp_rt_info(rt, kernel)->nouts;
    const bool groups = dp_rt_group_shape(rt, kernel);
    const uint32_t chunks = n ? dp_rt_chunks(rt, groups, n) : 1;
    const uint64_t asked = dp_param(rt, PARAM_REDUCE); /* measured: of several values two are faster */
    const bool one = groups && dp_source_has_fence(rt) && (asked ? asked == 1 : nouts == 1);
    if (!groups && chunks == 1) {
        Args small = {.n = 1, .at = {n}};
        launch_reduce(rt, kernel, variant, "dp_reduce_small", 1, &small, words, nouts, outs);
        return;
    }
    DpBlock *part = dp_block_new(rt, chunks, dp_rt_carry_bytes(rt, kernel));
    Args all = chunk_args(n, dp_block_addr(part)), last = {.n = 2, .at = {chunks, dp_block_addr(part)}};
    if (one) {
        dp_args_add(&all, DP_REDUCE_COUNT);
        launch_reduce(rt, kernel, variant, "dp_reduce_all", chunks, &all, words, nouts, outs);
    } else {
        launch_reduce(rt, kernel, variant, "dp_reduce_chunks", chunks, &all, words, 0, NULL);
        launch_reduce(rt, kernel, variant, "dp_reduce_finish", 1, &last, words, nouts, outs);
    }
    dp_block_release(rt, part);
}

DpPending dp_begin_reduce_root(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words)
{
    const DpKernel *k = dp_rt_info(rt, kernel);
    dp_rt_check_countable(rt, c->n);
    dp_profile_moved(rt, kernel, c->n, 1, dp_size_mul(c->n, k->kept_bytes));
    DpPending p = dp_pending_begin(rt, k->nouts);
    uint64_t mail[DP_MAX_OUTS];
    for (uint32_t i = 0; p && i < k->nouts; i++)
        mail[i] = dp_pending_mail(rt, p) + 8 * (uint64_t)i;
    if (p)
        reduce_at_root(rt, kernel, variant, c->n, words, mail);
    dp_pending_launched(rt, p);
    return p;
}

void dp_reduce_stays(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, DpArr *outs)
{
    const DpKernel *k = dp_rt_info(rt, kernel);
    DpCol data[DP_MAX_OUTS];
    uint64_t at[DP_MAX_OUTS];
    dp_rt_check_countable(rt, c->n);
    dp_profile_moved(rt, kernel, c->n, 1, dp_size_mul(c->n, k->kept_bytes));
    dp_rt_new_columns(rt, kernel, 1, data);
    for (uint32_t i = 0; i < k->nouts; i++) {
        at[i] = data[i].addr;
        outs[i] = dp_arr_of_block(rt, data[i].block, data[i].n);
    }
    if (dp_failed(rt))
        return;
    rt->profile.blocks -= k->nouts; /* single numbers */
    reduce_at_root(rt, kernel, variant, c->n, words, at);
}

DpPending dp_begin_check_rows(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words,
                              const DpArr *rows, int64_t size)
{
    const uint64_t none = UINT64_MAX;
    uint64_t word[2]; /* where they are, and their length */
    if (dp_ctx_n(c) == 0)
        return dp_pending_known(rt, none);
    if (!dp_row_words(rt, rows, 0, word))
        return dp_begin_reduce_root(rt, kernel, variant, c, words);
    return dp_pending_known(rt, word[1] == (uint64_t)size ? none : word[1]);
}

void dp_reduce(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, DpCol *outs)
{
    if (dp_failed(rt)) {
        dp_rt_new_columns(rt, kernel, 0, outs);
        return;
    }
    dp_rt_check_countable(rt, c->n);
    dp_rt_new_columns(rt, kernel, c->up->n, outs);
    const Segments s = dp_ctx_segments(c);
    const DpKernel *k = dp_rt_info(rt, kernel);
    dp_profile_moved(rt, kernel, c->n, s.nseg, dp_rt_columns_bytes(outs, k->nouts) + dp_size_mul(c->n, k->kept_bytes));
    SegReduce r = {kernel, variant, s.mode, c->n, s, {.known = false}, 0, 0, words, outs, c};
    if (!c->up->n || dp_segreduce_by_rows(rt, &r))
        return;
    dp_starts_settle(rt);
    r.lengths = dp_ctx_lengths(c);
    if (!r.lengths.known && r.lengths.worth_a_look)
        r.lengths = dp_ctx_look_at_lengths(rt, c);
    dp_segreduce(rt, &r);
}

/* ---- scan ---- */
static void scan_in_one_pass(DpRt *rt, uint32_t kernel, uint32_t variant, const DpCtx *c, const uint64_t *words,
                             const DpCol *outs)
{
    const uint64_t tile = (uint64_t)dp_rt_scan_items(rt, kernel) * dp_rt_group_size(rt, kernel);
    const uint64_t tiles = (c->n + tile - 1) / tile;
    const Segments s = dp_ctx_segments(c);
    Args a = dp_args_context(c, &s);
    dp_lookback_args(rt, &a, tiles, 2 * (dp_rt_info(rt, kernel)->val_bytes / 4));
    dp_args_kernel_words(rt, &a, kernel, words);
    dp_args_columns(&a, outs, dp_rt_info(rt, kernel)->nouts);
    dp_rt_launch(rt, dp_rt_kernel(rt, kernel, variant, s.mode, "dp_scan_onepass"), 2, (uint32_t)tiles, &a);
}

void dp_scan(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, DpCol *outs)
{
    const DpKernel *k = dp_rt_info(rt, kernel);
    dp_rt_new_columns(rt, kernel, dp_ctx_n(c), outs);
    if (dp_failed(rt) || c->n == 0)
        return;
    Segments s = dp_ctx_segments(c);
    dp_profile_moved(rt, kernel, c->n, s.nseg, dp_rt_columns_bytes(outs, k->nouts));
    SegReduce r = {kernel, variant, s.mode, c->n, s, dp_ctx_lengths(c), 0, 0, words, outs, c};
    if (dp_segscan_asks_lengths(rt, &r))
        r.lengths = dp_ctx_look_at_lengths(rt, c);
    else
        dp_starts_settle_unasked(rt, c);
    if (s.mode && dp_segscan_short(rt, &r))
        return;
    if (rt->lookback.use && dp_rt_group_shape(rt, kernel)) {
        scan_in_one_pass(rt, kernel, variant, c, words, outs);
        return;
    }
    uint32_t chunks = dp_rt_chunks(rt, dp_rt_group_shape(rt, kernel), c->n);
    DpBlock *part = dp_block_new(rt, chunks, dp_rt_carry_bytes(rt, kernel));
    Args a = dp_args_context(c, &s), carries = {.n = 0};
    dp_args_add(&a, dp_block_addr(part));
    dp_args_kernel_words(rt, &a, kernel, words);
    if (chunks > 1) {
        dp_rt_launch(rt, dp_rt_kernel(rt, kernel, variant, s.mode, "dp_scan_chunks"), 1, chunks, &a);
        dp_args_add(&carries, chunks);
        dp_args_add(&carries, dp_block_addr(part));
        dp_args_kernel_words(rt, &carries, kernel, words);
        if (dp_rt_group_shape(rt, kernel))
            dp_rt_launch(rt, dp_rt_kernel(rt, kernel, variant, s.mode, "dp_scan_carries"), 1, 1, &carries);
    }
    dp_args_columns(&a, outs, k->nouts);
    dp_rt_launch(rt, dp_rt_kernel(rt, kernel, variant, s.mode, "dp_scan_write"), 2, chunks, &a);
    dp_profile_way(rt, "%s", "");
    dp_block_release(rt, part);
}

/* ---- copies ---- */
DpCol dp_fresh_copy(DpRt *rt, DpCol col)
{
    if (!col.block)
        return col;
    if (col.block->count == 1) {
        dp_argument_changes(rt, col.block);
        return col;
    }
    DpCol copy = dp_new_col(rt, col.n, col.bytes);
    dp_move_copy(rt, copy.addr, dp_col_addr(rt, &col), col.n, col.bytes);
    dp_block_add_refs(rt, copy.block, dp_refs_of_col(rt, &col, 0));
    dp_col_release(rt, &col);
    return copy;
}
