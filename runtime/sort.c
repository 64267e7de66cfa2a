/* Sorting: positions by one key column after the other, the least significant first, segments last. */
#include "internal.h"

#include <stdlib.h>

/* Zeroes the mailbox's first word; positions 0 … n-1 if there is a block for them. */
static void sort_begin(DpRt *rt, uint64_t n, const DpBlock *positions)
{
    Args a = {.n = 0};
    dp_args_add(&a, positions ? n : 0);
    dp_args_add(&a, dp_block_addr(positions));
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_SORT, "dp_sort_begin"), 2, dp_rt_map_groups(rt, positions ? n : 1), &a);
}

/* One stable pass over eight bits. */
static void sort_pass(DpRt *rt, uint64_t n, uint64_t key_bytes, Sorted *from, Sorted *to, uint32_t shift)
{
    uint32_t chunks = dp_rt_chunks(rt, rt->gpu, n);
    DpBlock *counts = dp_block_new(rt, 256 * (uint64_t)chunks, 4);
    Args count = {.n = 0}, starts = {.n = 0}, move = {.n = 0};
    dp_args_add(&count, n);
    dp_args_add(&count, key_bytes);
    dp_args_add(&count, dp_block_addr(from->keys));
    dp_args_add(&count, shift);
    dp_args_add(&count, dp_block_addr(counts));
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_SORT, "dp_sort_count"), 2, chunks, &count);
    dp_args_add(&starts, chunks);
    dp_args_add(&starts, dp_block_addr(counts));
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_SORT, "dp_sort_starts"), 2, 1, &starts);
    dp_args_add(&move, n);
    dp_args_add(&move, key_bytes);
    dp_args_add(&move, dp_block_addr(from->keys));
    dp_args_add(&move, dp_block_addr(from->positions));
    dp_args_add(&move, dp_block_addr(to->keys));
    dp_args_add(&move, dp_block_addr(to->positions));
    dp_args_add(&move, shift);
    dp_args_add(&move, dp_block_addr(counts));
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_SORT, "dp_sort_move"), 2, chunks, &move);
    dp_block_release(rt, counts);
    Sorted swap = *from;
    *from = *to;
    *to = swap;
}

Sorted dp_sort_by(DpRt *rt, uint64_t n, DpBlock *positions, uint64_t column, DpScalar scalar)
{
    uint64_t key_bytes = dp_scalar_bytes(scalar) == 8 ? 8 : 4;
    if (n > DP_MAX_INSTANCES) /* positions are u32 */
        dp_rt_fail_elements(rt, n, 4);
    Sorted at = {dp_block_new(rt, n, key_bytes), positions ? positions : dp_block_new(rt, n, 4)}, other = {NULL, NULL};
    sort_begin(rt, n, positions ? NULL : at.positions);
    Args a = {.n = 0};
    dp_args_add(&a, n);
    dp_args_add(&a, key_bytes);
    dp_args_add(&a, dp_block_addr(at.keys));
    dp_args_add(&a, column);
    dp_args_add(&a, dp_block_addr(at.positions));
    dp_args_add(&a, scalar);
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_SORT, "dp_sort_keys"), 2, dp_rt_map_groups(rt, n), &a);
    /* Only bits in which keys differ need sorting by; a pass takes the eight from the lowest such bit on. */
    uint64_t differ = n > 1 ? dp_rt_look(rt)[0] : 0;
    if (differ)
        other = (Sorted){dp_block_new(rt, n, key_bytes), dp_block_new(rt, n, 4)};
    while (differ && !dp_failed(rt)) {
        uint32_t shift = (uint32_t)__builtin_ctzll(differ);
        sort_pass(rt, n, key_bytes, &at, &other, shift);
        differ &= ~(UINT64_C(255) << shift);
    }
    dp_block_release(rt, other.keys);
    dp_block_release(rt, other.positions);
    return at;
}

/* The elements of nkeys columns in context c, sorted within the segments: whose places they are, as u32; owned. */
static DpBlock *sorted_places(DpRt *rt, const DpCtx *c, uint32_t nkeys, const DpCol *columns, const uint8_t *scalars,
                              uint64_t segments)
{
    DpBlock *positions = NULL;
    for (uint32_t i = nkeys + (segments != 0); i-- > 0;) {
        bool is_segment = segments && i == 0;
        uint32_t key = segments && i > 0 ? i - 1 : i;
        Sorted s = dp_sort_by(rt, c->n, positions, is_segment ? segments : columns[key].addr,
                              is_segment ? DP_U32 : (DpScalar)scalars[key]);
        dp_block_release(rt, s.keys);
        positions = s.positions;
    }
    return positions;
}

/* Positions within the segments, as i64. */
static DpCol local_positions(DpRt *rt, const DpCtx *c, const DpBlock *places)
{
    DpCol out = dp_new_col(rt, c->n, 8);
    if (!out.block)
        return out;
    Segments s = dp_ctx_segments(c);
    Args a = {.n = 0};
    dp_args_add(&a, c->n);
    dp_args_add(&a, s.nseg);
    dp_args_add(&a, s.offsets);
    dp_args_add(&a, out.addr);
    dp_args_add(&a, dp_block_addr(places));
    dp_rt_move(rt, "dp_local_positions", c->n, &a);
    return out;
}

static DpCol at_places(DpRt *rt, const DpCol *column, const DpBlock *places)
{
    DpCol out = dp_new_col(rt, column->n, column->bytes);
    if (!out.block)
        return out;
    Args a = {.n = 0};
    dp_args_add(&a, column->n);
    dp_args_add(&a, column->bytes);
    dp_args_add(&a, out.addr);
    dp_args_add(&a, column->addr);
    dp_args_add(&a, dp_block_addr(places));
    dp_rt_move(rt, "dp_gather", column->n, &a);
    return out;
}

/* The keys, then the columns, as elements of c; the results are elements of c, too. */
static void sort_columns(DpRt *rt, const DpCtx *c, uint32_t positions, const DpSortTypes *t, const DpCol *elements,
                         uint64_t segments, DpCol *outs)
{
    DpBlock *places = c->n ? sorted_places(rt, c, t->nkeys, elements, t->keys, segments) : NULL;
    if (positions)
        outs[0] = local_positions(rt, c, places);
    for (uint32_t i = 0; i < t->ncolumns; i++)
        outs[positions + i] = at_places(rt, &elements[t->nkeys + i], places);
    dp_block_release(rt, places);
}

/* Room for keys and columns; NULL where there is none, or in a failed state. */
static DpCol *new_elements(DpRt *rt, const DpSortTypes *t)
{
    size_t n = (size_t)t->nkeys + 2 * (size_t)t->ncolumns + 1; /* and, at the root, what is sorted */
    DpCol *elements = dp_failed(rt) ? NULL : calloc(n, sizeof *elements);
    if (!elements)
        dp_rt_fail_host_memory(rt, n * sizeof *elements);
    return elements;
}

static void free_elements(DpRt *rt, const DpSortTypes *t, DpCol *elements)
{
    for (uint32_t i = 0; i < t->nkeys + t->ncolumns; i++)
        dp_col_release(rt, &elements[i]);
    free(elements);
}

void dp_argsort(DpRt *rt, uint32_t positions, DpCtx *ctx, const DpSortTypes *types, const DpCol *keys,
                const DpCol *columns, DpCol *outs)
{
    const uint32_t nkeys = types->nkeys, nouts = positions + types->ncolumns;
    DpCol *elements = dp_ctx_n(ctx) ? new_elements(rt, types) : NULL;
    if (!elements) {
        for (uint32_t i = 0; i < nouts; i++)
            outs[i] = dp_new_col(rt, 0, 16);
        return;
    }
    DpCtx *c = dp_nested_views(rt, ctx, &keys[0]);
    for (uint32_t i = 0; i < nkeys; i++)
        elements[i] = dp_elems(rt, &keys[i], c, dp_scalar_bytes((DpScalar)types->keys[i]));
    for (uint32_t i = 0; i < types->ncolumns; i++)
        elements[nkeys + i] = dp_elems(rt, &columns[i], c, dp_scalar_bytes((DpScalar)types->columns[i]));
    uint64_t segments = c->n && ctx->n > 1 ? dp_path_indices(rt, c, ctx) : 0;
    sort_columns(rt, c, positions, types, elements, segments, outs);
    for (uint32_t i = 0; i < nouts; i++) {
        DpCol data = outs[i];
        outs[i] = dp_views_of_offsets(rt, c->offsets, ctx->n, data.addr, data.n, data.bytes, data.block);
        dp_col_release(rt, &data);
    }
    free_elements(rt, types, elements);
    dp_ctx_release(rt, &c);
}

void dp_argsort_root(DpRt *rt, uint32_t positions, const DpSortTypes *types, const DpArr *keys, const DpArr *columns,
                     DpArr *outs)
{
    const uint32_t nkeys = types->nkeys, nouts = positions + types->ncolumns;
    DpCol *elements = new_elements(rt, types);
    for (uint32_t i = 0; i < nouts; i++)
        outs[i] = (DpArr){0, 0, NULL};
    if (!elements)
        return;
    DpCtx *c = dp_nested_root(rt, keys[0].len);
    DpCol *sorted = elements + nkeys + types->ncolumns;
    for (uint32_t i = 0; i < nkeys; i++)
        elements[i] = dp_elems_root(rt, &keys[i], c, dp_scalar_bytes((DpScalar)types->keys[i]));
    for (uint32_t i = 0; i < types->ncolumns; i++)
        elements[nkeys + i] = dp_elems_root(rt, &columns[i], c, dp_scalar_bytes((DpScalar)types->columns[i]));
    sort_columns(rt, c, positions, types, elements, 0, sorted);
    for (uint32_t i = 0; i < nouts; i++)
        outs[i] = dp_arr_of_block(rt, sorted[i].block, sorted[i].n);
    free_elements(rt, types, elements);
    dp_ctx_release(rt, &c);
}
