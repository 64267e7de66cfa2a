/* Scatters, and dp_accumulate's, which combine: element by element or, where indices go all over a large destination,
 * window by window (kernels/scatter_windows.cl). */
#include "internal.h"

/* One scatter at work. The columns are the destinations' elements, fresh, in the order of their owners. */
typedef struct Scatter {
    DpRt *rt;
    uint32_t kernel, variant;
    const DpKernel *info;
    const DpCtx *c;
    const uint64_t *words;
    uint64_t length, dest_offsets; /* of one destination; of the rows' */
    const DpCol *data;
    Segments s;
} Scatter;

static Args scatter_args(const Scatter *w)
{
    Args a = dp_args_context(w->c, &w->s);
    dp_args_add(&a, w->length);
    dp_args_add(&a, w->dest_offsets);
    return a;
}

static void launch(const Scatter *w, uint32_t way, const char *name, uint64_t groups, Args *a)
{
    dp_args_kernel_words(w->rt, a, w->kernel, w->words);
    dp_args_columns(a, w->data, w->info->nouts);
    dp_rt_launch(w->rt, dp_rt_kernel(w->rt, w->kernel, w->variant, w->s.mode | MODE_WAY * way, name), 2,
                 (uint32_t)groups, a);
}

/* ---- window by window ---- */
/* As in scatter_windows.cl. */
enum { WAY_DIRECT, WAY_WINDOWS, MOST_WINDOWS = 256, SPOTS = 16, DEALT_TILE = 4096, MOST_DEALT = 32, SPOT_LANES = 256 };
/* A window's room holds more than its share of elements by one in so many, and by so many. */
enum { SPARE_PART = 8, SPARE = 64 };

typedef struct Windows {
    uint64_t n, shift, room; /* of 2^shift elements of the destination; elements that one has room for */
    uint64_t value_bytes;
    DpBlock *counts, *places, *values;
} Windows;

/* sizeof(dp_val): its fields are what the outputs take. */
static uint64_t value_bytes(const DpKernel *k)
{
    uint64_t bytes = 0, most = 1;
    for (uint32_t i = 0; i < k->nouts; i++) {
        const uint64_t field = k->out_bytes[i];
        bytes = (bytes + field - 1) / field * field + field;
        most = field > most ? field : most;
    }
    return (bytes + most - 1) / most * most;
}

static Windows windows_of(const Scatter *w)
{
    const uint64_t length = w->data[0].n;
    Windows by = {.n = 1, .value_bytes = value_bytes(w->info)};
    while (length >> by.shift >= dp_param(w->rt, PARAM_SCATTER_WINDOWS))
        by.shift++;
    by.n = (length >> by.shift) + 1;
    by.room = w->c->n / by.n;
    by.room += by.room / SPARE_PART + SPARE;
    return by;
}

static bool may_go_by_windows(const Scatter *w, const Windows *by)
{
    const Heap *h = &w->rt->heap;
    const bool one_at_a_time = w->info->combines && (w->s.mode || !dp_rt_atomic_bins(w->rt, w->info));
    return dp_rt_group_shape(w->rt, w->kernel) && !one_at_a_time && by->value_bytes <= MOST_DEALT &&
           w->data[0].n < UINT32_MAX && by->n * by->room * (4 + by->value_bytes) <= (h->limit - h->used) / 2;
}

/* Is the destination larger than caches, are there enough elements to fill its lines, and is a body cheap enough to
 * look at some twice? */
static bool may_pay(const Scatter *w)
{
    const uint64_t length = w->data[0].n;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < w->info->nouts; i++)
        bytes += length * w->info->out_bytes[i];
    return bytes >= dp_param(w->rt, PARAM_SCATTER_LARGE) && w->c->n >= length / 4;
}

/* Do neighbours go to places far apart, without regularity? Asks some of them. */
static bool goes_all_over(const Scatter *w, const Windows *by)
{
    Args look = scatter_args(w);
    dp_args_add(&look, by->shift);
    launch(w, WAY_WINDOWS, "dp_scatter_look", SPOTS, &look);
    const uint64_t *said = dp_rt_look_at_heap(w->rt);
    uint64_t windows = 0, irregular = 0;
    for (uint32_t i = 0; i < SPOTS; i++) {
        windows += said[i] & UINT32_MAX;
        irregular += said[i] >> 32;
    }
    return !dp_failed(w->rt) && windows >= SPOTS * by->n / 4 && irregular >= SPOTS * SPOT_LANES / 2;
}

static void scatter_in_windows(const Scatter *w, Windows *by)
{
    DpRt *rt = w->rt;
    const uint64_t tiles = (w->c->n + DEALT_TILE - 1) / DEALT_TILE;
    const uint64_t most = dp_rt_map_groups(rt, w->c->n);
    by->counts = dp_block_new(rt, MOST_WINDOWS, 4);
    by->places = dp_block_new(rt, by->n * by->room, 4);
    by->values = dp_block_new(rt, by->n * by->room, by->value_bytes);
    Args begin = scatter_args(w), deal = begin, store = {.n = 0};
    dp_args_add(&begin, dp_block_addr(by->counts));
    launch(w, WAY_WINDOWS, "dp_scatter_begin", 1, &begin);
    dp_args_add(&deal, by->shift);
    dp_args_add(&deal, by->room);
    dp_args_add(&deal, dp_block_addr(by->counts));
    dp_args_add(&deal, dp_block_addr(by->places));
    dp_args_add(&deal, dp_block_addr(by->values));
    launch(w, WAY_WINDOWS, "dp_scatter_deal", w->s.mode && most < tiles ? most : tiles, &deal);
    dp_args_add(&store, w->c->n);
    dp_args_add(&store, by->n);
    dp_args_add(&store, by->room);
    dp_args_add(&store, dp_block_addr(by->counts));
    dp_args_add(&store, dp_block_addr(by->places));
    dp_args_add(&store, dp_block_addr(by->values));
    launch(w, WAY_WINDOWS, "dp_scatter_store", by->n * ((by->room + DEALT_TILE - 1) / DEALT_TILE), &store);
    dp_block_release(rt, by->counts);
    dp_block_release(rt, by->places);
    dp_block_release(rt, by->values);
}

static void run_scatter(const Scatter *w)
{
    enum { BEST, DIRECT, WINDOWS }; /* as in params.def */
    const uint64_t way = dp_param(w->rt, PARAM_SCATTER_WAY);
    Windows by = windows_of(w);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < w->info->nouts; i++)
        bytes += w->info->out_bytes[i];
    dp_profile_moved(w->rt, w->kernel, w->c->n, w->s.nseg, w->c->n * bytes);
    if (way != DIRECT && may_go_by_windows(w, &by) && (way == WINDOWS || (may_pay(w) && goes_all_over(w, &by)))) {
        scatter_in_windows(w, &by);
        return;
    }
    Args a = scatter_args(w);
    launch(w, WAY_DIRECT, "dp_scatter", dp_rt_map_groups(w->rt, w->c->n), &a);
}

void dp_scatter(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, const DpCol *dests,
                const bool *consume, DpCol *outs)
{
    const DpKernel *k = dp_rt_info(rt, kernel);
    dp_rt_check_countable(rt, dp_ctx_n(c));
    DpCtx *room = dp_ctx_n(c) ? dp_nested_views(rt, c->up, &dests[0]) : NULL;
    if (!room || room->n == 0) {
        for (uint32_t i = 0; i < k->nouts; i++)
            outs[i] = dp_failed(rt) ? (DpCol){0} : dp_col_retain(dests[i]);
        dp_ctx_release(rt, &room);
        return;
    }
    DpCol data[DP_MAX_OUTS];
    for (uint32_t i = 0; i < k->nouts; i++) {
        DpBlock *own = consume[i] ? dp_sole_elements(&dests[i]) : NULL;
        if (own) {
            dp_block_forget_layout(rt, own);
            data[i] = (DpCol){dp_block_retain(own), dests[i].block->contig.base, room->n, k->out_bytes[i]};
            outs[i] = dp_col_retain(dests[i]);
        } else {
            data[i] = dp_fresh_copy(rt, dp_elems(rt, &dests[i], room, k->out_bytes[i]));
            outs[i] =
                dp_views_of_offsets(rt, room->offsets, c->up->n, data[i].addr, room->n, data[i].bytes, data[i].block);
        }
        if (outs[i].block)
            outs[i].block->refs_are_element_refs = true;
    }
    run_scatter(
        &(Scatter){rt, kernel, variant, k, c, words, 0, dp_offsets_word(room->offsets), data, dp_ctx_segments(c)});
    for (uint32_t i = 0; i < k->nouts; i++)
        dp_col_release(rt, &data[i]);
    dp_ctx_release(rt, &room);
}

void dp_scatter_root(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, const DpArr *dests,
                     const bool *consume, DpArr *outs)
{
    const DpKernel *k = dp_rt_info(rt, kernel);
    DpCol data[DP_MAX_OUTS];
    dp_rt_check_countable(rt, dp_ctx_n(c));
    for (uint32_t i = 0; i < k->nouts; i++) {
        if (dp_failed(rt)) {
            outs[i] = (DpArr){0, 0, NULL};
            continue;
        }
        if (c->n == 0 || dests[i].len == 0 || (consume[i] && dp_arr_solely_held(&dests[i]))) {
            outs[i] = dp_arr_retain(dests[i]);
            data[i] = (DpCol){NULL, dests[i].addr, dests[i].len, k->out_bytes[i]};
            if (c->n && dests[i].len)
                dp_block_forget_layout(rt, dests[i].refs->blocks[0]);
            continue;
        }
        data[i] = dp_new_col(rt, dests[i].len, k->out_bytes[i]);
        dp_move_copy(rt, data[i].addr, dp_arr_addr(rt, &dests[i]), dests[i].len, k->out_bytes[i]);
        dp_block_add_refs(rt, data[i].block, dp_refs_of_arr(rt, &dests[i], 1));
        outs[i] = dp_arr_of_block(rt, data[i].block, data[i].n);
    }
    if (!dp_failed(rt) && c->n && dests[0].len)
        run_scatter(&(Scatter){rt, kernel, variant, k, c, words, dests[0].len, 0, data, dp_ctx_segments(c)});
}
