/* Compaction: what a loop carries from round to round, without the dead data behind its views.
 *
 * A block lives while one view points into it, or might: a matrix whose rows are replaced one by one holds the old
 * ones, too. So between a loop's rounds, when the heap has become twice as full as it was (dp_heap_pressure), a state
 * that alone holds blocks of more than twice its elements' bytes is stored anew. It copies what is live and frees twice
 * as much; each block is freed once: all compactions together copy at most half of what was ever stored. Only what it
 * alone holds counts: suffixes of an array that is held elsewhere would be copied in each round and free nothing.
 *
 * Instances that stop take a small part of a round's blocks along (dp_select_apart), which they would keep alive in
 * whole. Theirs are copied if that is at most twice their share, so that many views of the same elements are not.
 *
 * Many small blocks are as bad, since sets of blocks are made anew with every block that joins them. */
#include "internal.h"

enum { CROWDED_BLOCKS = 2048 };
#define CROWDED_BYTES (UINT64_C(32) << 20)
enum { SET_BYTES = 16 }; /* what a set costs whenever a block joins it, per block of it */

DpLimit dp_limit(const DpRt *rt)
{
    const Heap *h = &rt->heap;
    DpLimit limit = {2 * h->used, 2 * h->live};
    if (limit.bytes < CROWDED_BYTES)
        limit.bytes = CROWDED_BYTES;
    if (limit.blocks < CROWDED_BLOCKS)
        limit.blocks = CROWDED_BLOCKS;
    return limit;
}

bool dp_heap_pressure(const DpRt *rt, const DpLimit *limit)
{
    const Heap *h = &rt->heap;
    if (rt->looks.nkept > 0) /* states that are kept fill it */
        return false;
    return h->used > limit->bytes || h->live > limit->blocks || h->always_compact;
}

typedef struct Held {
    uint64_t bytes, blocks;
} Held;

static void hold_set(Held *held, const DpRefs *r);

static void hold_block(Held *held, const DpBlock *b)
{
    if (b->count != 1)
        return;
    held->bytes += b->bytes;
    held->blocks++;
    hold_set(held, b->refs);
}

/* What would be freed with this holder of the set. Recurses as deep as arrays are nested. */
static void hold_set(Held *held, const DpRefs *r)
{
    for (uint32_t i = 0; r && r->count == 1 && i < r->n; i++)
        hold_block(held, r->blocks[i]);
}

/* Does it pay to copy `live` bytes? */
static bool worth_it(const DpRt *rt, const Held *held, uint64_t live)
{
    if (live > held->bytes)
        return false;
    bool scattered = held->blocks > CROWDED_BLOCKS / 2 && live / held->blocks <= SET_BYTES * held->blocks;
    return 2 * live <= held->bytes || scattered || rt->heap.always_compact;
}

/* The column's views, and all below them, stored anew, one behind the other; or {0} where that does not pay. `live`:
 * the bytes of the levels above. */
static DpCol rebuilt(DpRt *rt, const DpCol *views, uint32_t rank, uint32_t bytes, const Held *held, uint64_t live)
{
    DpCtx *up = dp_ctx_fn(rt, views->n), *c = dp_nested_views(rt, up, views);
    uint32_t width = rank > 1 ? 16 : bytes;
    DpCol data = {0}, out = {0};
    live = dp_size_add(live, dp_size_mul(c->n, width));
    if (worth_it(rt, held, live) && c->n && c->n <= DP_MAX_INSTANCES) {
        data = dp_elems(rt, views, c, width);
        if (rank > 1) {
            DpCol below = rebuilt(rt, &data, rank - 1, bytes, held, live);
            dp_col_release(rt, &data);
            data = below;
        } else {
            data = dp_fresh_copy(rt, data);
        }
    }
    if (data.n)
        out = dp_views_of_offsets(rt, c->offsets, views->n, data.addr, data.n, width, data.block);
    dp_col_release(rt, &data);
    dp_ctx_release(rt, &c);
    dp_ctx_release(rt, &up);
    return out;
}

void dp_compact(DpRt *rt, DpCol *views, uint32_t rank, uint32_t bytes)
{
    Held held = {0, 0};
    if (!views->block) /* no elements */
        return;
    hold_block(&held, views->block);
    DpCol out = held.bytes ? rebuilt(rt, views, rank, bytes, &held, views->n * 16) : (DpCol){0};
    if (!out.n)
        return;
    dp_col_release(rt, views);
    *views = out;
}

DpCol dp_select_apart(DpRt *rt, const DpCol *views, DpCtx *from, DpCtx *to, uint32_t rank, uint32_t bytes)
{
    Held held = {0, 1};
    if (views->block)
        hold_block(&held, views->block);
    DpCol part = dp_select(rt, views, from, to);
    if (part.n == views->n || !part.n)
        return part;
    uint64_t share = held.bytes / views->n * part.n; /* of what is held */
    held = (Held){4 * share < held.bytes ? 4 * share : held.bytes, 1};
    DpCol out = rebuilt(rt, &part, rank, bytes, &held, part.n * 16);
    if (!out.n)
        return part;
    dp_col_release(rt, &part);
    return out;
}

static void rebuild_root(DpRt *rt, DpArr *a, uint32_t rank, uint32_t bytes, Held held)
{
    if (!a->len || !held.bytes)
        return;
    uint32_t width = rank > 1 ? 16 : bytes;
    DpCol col = dp_elems_root(rt, a, NULL, width), out = {0};
    if (rank > 1)
        out = rebuilt(rt, &col, rank - 1, bytes, &held, col.n * 16);
    else if (col.n <= DP_MAX_INSTANCES && worth_it(rt, &held, dp_size_mul(col.n, width)))
        out = dp_fresh_copy(rt, dp_col_retain(col));
    dp_col_release(rt, &col);
    if (!out.n)
        return;
    dp_arr_release(rt, a);
    *a = dp_views_root(rt, NULL, &out);
    dp_col_release(rt, &out);
}

void dp_compact_root(DpRt *rt, DpArr *a, uint32_t rank, uint32_t bytes)
{
    Held held = {0, 0};
    hold_set(&held, a->refs);
    rebuild_root(rt, a, rank, bytes, held);
}

void dp_store_anew(DpRt *rt, DpArr *a, uint32_t rank, uint32_t bytes)
{
    rebuild_root(rt, a, rank, bytes, (Held){UINT64_MAX, 0});
}
