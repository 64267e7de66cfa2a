/* Operations without user code: views, elements, selecting and merging columns, flatten, update. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- elements ---- */
/* A column of another block's elements; the block is kept by it. */
static DpCol alias(DpBlock *block, uint64_t addr, uint64_t n, uint32_t bytes)
{
    return (DpCol){dp_block_retain(block), addr, n, bytes};
}

/* Are the elements of the views, in order, the `n` elements from one address on? Then that address. */
static uint64_t contiguous_base(DpRt *rt, const DpCol *views, const DpCtx *c)
{
    const DpContig *whole = dp_col_contig(views);
    return whole && c->n && dp_contig_total(rt, whole) == c->n ? whole->base : 0;
}

uint32_t dp_elem_words(DpRt *rt, const DpCol *views, DpCtx *c, uint64_t word[2])
{
    word[0] = word[1] = 0;
    if (dp_failed(rt))
        return 0;
    word[0] = contiguous_base(rt, views, c);
    word[1] = views->addr;
    if (!word[0])
        dp_write_views(rt, views->block);
    else if (views->block) /* the elements may be views themselves */
        dp_write_views_of(rt, views->block->refs);
    return word[0] != 0;
}

/* Views that a kernel made (the rows of `nest`, say) may well lie one behind the other. The host waits for the answer:
 * that pays where many elements are then reached without their views, and few of them by each. */
static bool layout_pays(const DpRt *rt, const DpCtx *c, const DpCol *views)
{
    return c->n && c->n >= dp_param(rt, PARAM_LAYOUT_ELEMENTS) && c->n / views->n < dp_param(rt, PARAM_LAYOUT_MEAN);
}

static void look_for_layout(DpRt *rt, const DpCtx *c, const DpCol *views, uint32_t element_bytes)
{
    uint64_t n = views->n;
    Args base = {.n = 0}, check = {.n = 0};
    dp_args_add(&base, n);
    dp_args_add(&base, dp_offsets_word(c->offsets));
    dp_args_add(&base, views->addr);
    dp_args_add(&check, n);
    dp_args_add(&check, element_bytes);
    dp_args_add(&check, dp_offsets_word(c->offsets));
    dp_args_add(&check, views->addr);
    dp_rt_move(rt, "dp_contiguous_base", 1, &base);
    dp_rt_move(rt, "dp_contiguous", n, &check);
    const uint64_t *said = dp_rt_look_at_heap(rt);
    if (!said[3] && !dp_failed(rt))
        views->block->contig = (DpContig){dp_offsets_retain(c->offsets), said[2], n, c->n, element_bytes};
}

uint32_t dp_elem_words_of(DpRt *rt, const DpCol *views, DpCtx *c, uint32_t element_bytes, uint64_t word[2])
{
    DpBlock *b = dp_failed(rt) ? NULL : views->block;
    if (b && b->state == BLOCK_LAYOUT_UNKNOWN) {
        if (layout_pays(rt, c, views) && offsets_known(c->offsets) && views->addr == b->addr)
            look_for_layout(rt, c, views, element_bytes);
        dp_block_become(b, offsets_known(b->contig.offsets) ? BLOCK_CONTIGUOUS : BLOCK_PLAIN);
    }
    return dp_elem_words(rt, views, c, word);
}

/* The block's views, if they are equally long and one behind the other. */
static const DpContig *regular_views(const DpBlock *b)
{
    bool known = b->state == BLOCK_LAZY || b->state == BLOCK_CONTIGUOUS;
    return known && b->contig.offsets.stride ? &b->contig : NULL;
}

uint32_t dp_row_words(DpRt *rt, const DpArr *a, uint32_t level, uint64_t word[2])
{
    const DpRefs *refs = dp_failed(rt) ? NULL : a->refs;
    const DpContig *c = NULL;
    uint64_t first = a->addr; /* of the views at level 0, else 0: they are found by their addresses */
    for (uint32_t l = 0; refs && refs->n == 1; l++, first = 0) {
        c = regular_views(refs->blocks[0]);
        if (l == level)
            break;
        refs = refs->blocks[0]->refs;
        c = NULL;
    }
    word[0] = 0;
    word[1] = c ? offsets_length(c->offsets) : DP_NO_ROWS;
    if (c) /* modulo 2^64, as in the kernel */
        word[0] = c->base + (first / 16 - refs->blocks[0]->addr / 16) * word[1] * c->bytes;
    return c != NULL;
}

/* The elements one behind the other; a segment of c without elements takes none of its view's. */
static DpCol gather_elems(DpRt *rt, const DpCol *views, DpCtx *c, uint32_t bytes)
{
    DpCol out = dp_new_col(rt, c->n, bytes);
    if (!out.block)
        return out;
    Args a = {.n = 0};
    dp_args_add(&a, c->n);
    dp_args_add(&a, c->up->n);
    dp_args_add(&a, dp_offsets_word(c->offsets));
    dp_args_add(&a, bytes);
    dp_args_add(&a, out.addr);
    dp_args_add(&a, dp_col_addr(rt, views));
    dp_rt_move(rt, "dp_elems", c->n, &a);
    dp_block_add_refs(rt, out.block, dp_refs_of_col(rt, views, 1));
    return out;
}

DpCol dp_elems(DpRt *rt, const DpCol *views, DpCtx *c, uint32_t bytes)
{
    if (dp_failed(rt))
        return (DpCol){0};
    uint64_t base = contiguous_base(rt, views, c);
    DpBlock *data = base ? dp_refs_owner(rt, views->block->refs, base) : NULL;
    return data ? alias(data, base, c->n, bytes) : gather_elems(rt, views, c, bytes);
}

DpCol dp_elems_root(DpRt *rt, const DpArr *a, DpCtx *c, uint32_t bytes)
{
    (void)c;
    DpBlock *b = a->len && !dp_failed(rt) ? dp_refs_owner(rt, a->refs, a->addr) : NULL;
    return dp_failed(rt) ? (DpCol){0} : alias(b, b ? a->addr : 0, a->len, bytes);
}

/* ---- views ---- */
DpCol dp_views_of_offsets(DpRt *rt, Offsets offsets, uint64_t n, uint64_t base, uint64_t total, uint32_t bytes,
                          DpBlock *data)
{
    DpCol out = dp_new_col(rt, n, 16);
    if (!out.block)
        return out;
    dp_block_be_lazy(out.block, (DpContig){dp_offsets_retain(offsets), base, n, total, bytes});
    dp_block_add_refs(rt, out.block, dp_refs_one(rt, dp_block_retain(data)));
    return out;
}

DpCol dp_views(DpRt *rt, DpCtx *c, const DpCol *data)
{
    if (dp_failed(rt))
        return (DpCol){0};
    const DpCtx *up = c->kind == CTX_NESTED ? c->up : c->up->up;
    return dp_views_of_offsets(rt, dp_ctx_data_offsets(c), up->n, data->addr, data->n, data->bytes, data->block);
}

static DpArr arr_of_col(DpRt *rt, const DpCol *data)
{
    DpArr a = dp_arr_of_block(rt, dp_block_retain(data->block), data->n);
    a.addr = a.refs ? data->addr : 0; /* behind the block's beginning, perhaps */
    return a;
}

DpArr dp_views_root(DpRt *rt, DpCtx *c, const DpCol *data)
{
    (void)c;
    return arr_of_col(rt, data);
}

/* ---- columns ---- */
static void put_rows(DpRt *rt, DpCol *out, const DpCol *values, uint64_t n, Route route)
{
    dp_move_rows(rt, values, n, route, out->addr, out->n);
    dp_block_add_refs(rt, out->block, dp_refs_of_col(rt, values, 0));
}

DpCol dp_select(DpRt *rt, const DpCol *col, DpCtx *from, DpCtx *to)
{
    uint64_t path = dp_path(rt, to, from);
    DpSum total;
    if (dp_failed(rt))
        return (DpCol){0};
    DpCol out = path == 0 && to->n == from->n ? dp_col_retain(*col) : dp_new_col(rt, to->n, col->bytes);
    if (out.block && out.block != col->block)
        put_rows(rt, &out, col, to->n, (Route){.from = path});
    if (dp_total_below(col, from, to, &total))
        dp_col_know_total(&out, total);
    return out;
}

void dp_put(DpRt *rt, DpCol *out, DpCtx *ctx, DpCtx *part, const DpCol *values)
{
    const uint64_t path = dp_path(rt, part, ctx);
    if (!dp_failed(rt) && part->n)
        put_rows(rt, out, values, part->n, (Route){.to = path});
}

/* The state of those that stop, from where it is to where it belongs. */
static void retire_stopped(DpRt *rt, const DpCol *state, DpCtx *active, DpCtx *no, DpCol *result, DpCtx *ctx)
{
    const uint64_t stopped = dp_path(rt, no, active), began = dp_path(rt, active, ctx);
    if (!dp_failed(rt) && no->n)
        put_rows(rt, result, state, no->n, (Route){stopped, stopped, began});
}

void dp_retire(DpRt *rt, DpCol *state, DpCtx *active, DpCtx *no, DpCtx *yes, DpCol *result, DpCtx *ctx, bool crowded,
               uint32_t rank, uint32_t bytes)
{
    bool disjoint = dp_col_disjoint(state);
    DpRefs *shared = dp_refs_retain(state->block ? state->block->shared : NULL);
    DpCol part = {0};
    if (crowded) {
        part = dp_select_apart(rt, state, active, no, rank, bytes);
        dp_put(rt, result, ctx, no, &part);
        dp_col_release(rt, &part);
    } else {
        retire_stopped(rt, state, active, no, result, ctx);
    }
    part = dp_select(rt, state, active, yes);
    if (disjoint && part.block && part.block != state->block)
        dp_block_be_disjoint(part.block, dp_block_retain(result->block), dp_refs_retain(shared));
    dp_refs_release(rt, shared);
    dp_col_release(rt, state);
    *state = part;
}

/* The columns' views are all of the new one's. */
static void sum_totals(DpCol *out, uint32_t n, const DpCol *cols)
{
    DpSum all = {0, 0}, one;
    for (uint32_t i = 0; i < n; i++) {
        if (!dp_col_total(&cols[i], &one))
            return;
        all = dp_sum_of_both(all, one);
    }
    dp_col_know_total(out, all);
}

DpCol dp_merge(DpRt *rt, DpCtx *ctx, uint32_t nparts, DpCtx *const *parts, const DpCol *cols)
{
    for (uint32_t i = 0; i < nparts && !dp_failed(rt); i++)
        if (parts[i]->n == ctx->n && dp_path(rt, parts[i], ctx) == 0)
            return dp_col_retain(cols[i]);
    DpCol out = dp_new_col(rt, dp_ctx_n(ctx), cols[0].bytes);
    for (uint32_t i = 0; i < nparts; i++)
        dp_put(rt, &out, ctx, parts[i], &cols[i]);
    sum_totals(&out, nparts, cols);
    return out;
}

DpCol dp_concat(DpRt *rt, uint32_t n, const DpCol *cols)
{
    uint64_t all = 0;
    if (dp_failed(rt))
        return (DpCol){0};
    for (uint32_t i = 0; i < n; i++)
        all += cols[i].n;
    for (uint32_t i = 0; i < n; i++)
        if (cols[i].n == all)
            return dp_col_retain(cols[i]);
    DpCol out = dp_new_col(rt, all, cols[0].bytes);
    uint64_t at = out.addr;
    for (uint32_t i = 0; i < n; i++) {
        if (cols[i].n == 0)
            continue;
        dp_move_rows(rt, &cols[i], cols[i].n, (Route){0, 0, 0}, at, cols[i].n);
        at += cols[i].n * out.bytes;
        dp_block_add_refs(rt, out.block, dp_refs_of_col(rt, &cols[i], 0));
    }
    sum_totals(&out, n, cols);
    return out;
}

DpCol dp_slice_col(DpRt *rt, const DpCol *col, uint64_t from, uint64_t n)
{
    if (dp_failed(rt))
        return (DpCol){0};
    return alias(n ? col->block : NULL, n ? col->addr + from * col->bytes : 0, n, col->bytes);
}

/* ---- flatten ---- */
/* The one block in which all views of `refs` lie, if it is a contiguous layout of views itself. */
static DpBlock *contiguous_inner(const DpRefs *refs)
{
    DpBlock *b = refs && refs->n == 1 ? refs->blocks[0] : NULL;
    return b && offsets_known(b->contig.offsets) ? b : NULL;
}

/* dst[k] = fine[coarse[k]] for k <= n */
static Offsets offsets_of_offsets(DpRt *rt, Offsets fine, Offsets coarse, uint64_t n)
{
    if (fine.stride && coarse.stride)
        return offsets_regular(offsets_length(fine) * offsets_length(coarse));
    DpBlock *out = dp_block_new(rt, n + 1, 8);
    const Move m = {MOVE_OFFSETS,
                    .n = n + 1,
                    .dst = dp_block_addr(out),
                    .src = dp_offsets_word(coarse),
                    .offsets = dp_offsets_word(fine),
                    .written = 8 * (n + 1)};
    dp_move_add(rt, &m);
    return (Offsets){out, 0};
}

/* All inner views contiguous: arithmetic on views. Where the outer ones are contiguous over the whole of them, so is
 * the result. */
static DpCol flatten_views(DpRt *rt, const DpCol *views, DpBlock *inner, uint32_t bytes)
{
    const DpContig *outer = dp_col_contig(views), *in = &inner->contig;
    DpBlock *data = dp_contig_total(rt, in) ? dp_refs_owner(rt, inner->refs, in->base) : NULL;
    if (outer && dp_contig_total(rt, outer) == in->n && (outer->base == inner->addr || in->n == 0)) {
        Offsets offsets = offsets_of_offsets(rt, in->offsets, outer->offsets, views->n);
        DpCol out = dp_views_of_offsets(rt, offsets, views->n, in->base, in->total, bytes, data);
        dp_offsets_release(rt, &offsets);
        return out;
    }
    DpCol out = dp_new_col(rt, views->n, 16);
    Args a = {.n = 0};
    dp_args_add(&a, views->n);
    dp_args_add(&a, bytes);
    dp_args_add(&a, out.addr);
    dp_args_add(&a, dp_col_addr(rt, views));
    dp_args_add(&a, inner->addr);
    dp_args_add(&a, dp_offsets_word(in->offsets));
    dp_args_add(&a, in->base);
    dp_rt_move(rt, "dp_flatten_views", views->n, &a);
    dp_block_add_refs(rt, out.block, dp_refs_one(rt, dp_block_retain(data)));
    return out;
}

/* The elements of all inner views of `rows` (whose instances are c's) stored anew. */
static DpCol gather_rows(DpRt *rt, DpCtx *c, const DpCol *rows, uint32_t bytes, DpCtx **elements)
{
    *elements = dp_nested_views(rt, c, rows);
    return dp_elems(rt, rows, *elements, bytes);
}

DpCol dp_flatten(DpRt *rt, DpCtx *ctx, const DpCol *views, uint32_t bytes)
{
    if (dp_failed(rt) || ctx->n == 0)
        return dp_new_col(rt, 0, 16);
    DpBlock *inner = views->block ? contiguous_inner(views->block->refs) : NULL;
    if (inner)
        return flatten_views(rt, views, inner, bytes);
    DpCtx *c = dp_nested_views(rt, ctx, views), *elements = NULL;
    DpCol rows = dp_elems(rt, views, c, 16), data = gather_rows(rt, c, &rows, bytes, &elements);
    Offsets offsets =
        c->n ? offsets_of_offsets(rt, elements->offsets, c->offsets, ctx->n) : dp_offsets_retain(c->offsets);
    DpCol out = dp_views_of_offsets(rt, offsets, ctx->n, data.addr, data.n, bytes, data.block);
    dp_offsets_release(rt, &offsets);
    dp_col_release(rt, &data);
    dp_col_release(rt, &rows);
    dp_ctx_release(rt, &elements);
    dp_ctx_release(rt, &c);
    return out;
}

DpArr dp_flatten_root(DpRt *rt, const DpArr *a, uint32_t bytes)
{
    if (dp_failed(rt) || a->len == 0)
        return (DpArr){0, 0, NULL};
    DpBlock *inner = contiguous_inner(a->refs);
    if (inner) {
        const DpContig *in = &inner->contig;
        uint64_t first = (a->addr - inner->addr) / 16, ends[2] = {0, dp_contig_total(rt, in)};
        if (in->offsets.stride) {
            ends[0] = first * offsets_length(in->offsets);
            ends[1] = (first + a->len) * offsets_length(in->offsets);
        } else if (a->len != in->n) {
            dp_rt_read(rt, in->offsets.block->addr + 8 * first, &ends[0], 8);
            dp_rt_read(rt, in->offsets.block->addr + 8 * (first + a->len), &ends[1], 8);
        }
        DpBlock *data = ends[1] > ends[0] ? dp_refs_owner(rt, inner->refs, in->base) : NULL;
        DpArr out = dp_arr_of_block(rt, dp_block_retain(data), ends[1] - ends[0]);
        out.addr = out.refs ? in->base + ends[0] * bytes : 0;
        return out;
    }
    DpCtx *c = dp_nested_root(rt, a->len), *elements = NULL;
    DpCol rows = dp_elems_root(rt, a, c, 16), data = gather_rows(rt, c, &rows, bytes, &elements);
    DpArr out = arr_of_col(rt, &data);
    dp_col_release(rt, &data);
    dp_col_release(rt, &rows);
    dp_ctx_release(rt, &elements);
    dp_ctx_release(rt, &c);
    return out;
}

/* ---- update ---- */
/* The segments of `data` by their offsets, or with offsets 0 by the views in `data`. */
static void update_in(DpRt *rt, DpCtx *ctx, uint64_t offsets, uint64_t data, const DpCol *index, const DpCol *values)
{
    Args a = {.n = 0};
    dp_args_add(&a, ctx->n);
    dp_args_add(&a, values->bytes);
    if (offsets)
        dp_args_add(&a, offsets);
    dp_args_add(&a, data);
    dp_args_add(&a, index->addr);
    dp_args_add(&a, dp_col_addr(rt, values));
    dp_rt_move(rt, offsets ? "dp_update" : "dp_update_views", ctx->n, &a);
}

/* The ranges of addresses of the blocks that the column does not hold alone; *n: how many. */
static DpBlock *shared_ranges(DpRt *rt, const DpCol *arrays, uint64_t *n)
{
    const DpRefs *refs = arrays->block->refs;
    *n = 0;
    for (uint32_t i = 0; refs && i < refs->n; i++)
        *n += !dp_holds_alone(arrays, refs->blocks[i]);
    if (*n == 0)
        return NULL;
    uint64_t *ranges = malloc(16 * *n), k = 0;
    if (!ranges) {
        dp_rt_fail_host_memory(rt, 16 * *n);
        return NULL;
    }
    for (uint32_t i = 0; i < refs->n; i++) {
        const DpBlock *b = refs->blocks[i];
        if (!dp_holds_alone(arrays, b)) {
            ranges[k++] = b->addr;
            ranges[k++] = b->addr + b->bytes;
        }
    }
    DpBlock *out = dp_block_new(rt, *n, 16);
    dp_rt_write(rt, dp_block_addr(out), ranges, 16 * *n);
    free(ranges);
    return out;
}

/* The arrays to be changed that lie in shared blocks move to a block of their own. */
static void own_arrays(DpRt *rt, DpCtx *ctx, DpCol *arrays, const DpCol *index, uint32_t bytes)
{
    uint64_t n;
    DpBlock *ranges = shared_ranges(rt, arrays, &n);
    if (!ranges)
        return;
    DpCol lens = dp_new_col(rt, ctx->n, 8);
    Args a = {.n = 0}, replace = {.n = 0};
    dp_args_add(&a, ctx->n);
    dp_args_add(&a, lens.addr);
    dp_args_add(&a, dp_col_addr(rt, arrays));
    dp_args_add(&a, index->addr);
    dp_args_add(&a, ranges->addr);
    dp_args_add(&a, n);
    dp_rt_move(rt, "dp_lengths_to_own", ctx->n, &a);
    dp_block_release(rt, ranges);
    DpCtx *c = dp_nested_lens(rt, ctx, &lens);
    dp_col_release(rt, &lens);
    if (c->n) {
        DpCol data = gather_elems(rt, arrays, c, bytes);
        dp_args_add(&replace, ctx->n);
        dp_args_add(&replace, bytes);
        dp_args_add(&replace, arrays->addr);
        dp_args_add(&replace, dp_offsets_word(c->offsets));
        dp_args_add(&replace, data.addr);
        dp_rt_move(rt, "dp_views_replace", ctx->n, &replace);
        dp_block_forget_contig(rt, arrays->block);
        dp_block_add_refs(rt, arrays->block, dp_refs_one(rt, data.block));
    }
    dp_ctx_release(rt, &c);
}

/* A column of the same views, which nobody else holds. */
static DpCol own_views(DpRt *rt, const DpCol *arrays)
{
    DpCol own = dp_new_col(rt, arrays->n, 16);
    if (!own.block)
        return own;
    dp_move_copy(rt, own.addr, dp_col_addr(rt, arrays), arrays->n, 16);
    dp_block_add_refs(rt, own.block, dp_refs_of_col(rt, arrays, 0));
    dp_block_be_disjoint(own.block, NULL, dp_refs_of_col(rt, arrays, 0));
    return own;
}

/* In place where the column holds the elements alone; arrays that are changed and lie in other blocks are copied first.
 */
static DpCol update_own(DpRt *rt, DpCtx *ctx, DpCol arrays, const DpCol *index, const DpCol *values)
{
    if (arrays.block)
        own_arrays(rt, ctx, &arrays, index, values->bytes);
    if (dp_failed(rt)) {
        dp_col_release(rt, &arrays);
        return arrays;
    }
    const DpRefs *refs = arrays.block->refs;
    for (uint32_t i = 0; refs && i < refs->n; i++)
        if (dp_holds_alone(&arrays, refs->blocks[i]))
            dp_block_forget_layout(rt, refs->blocks[i]);
    const DpContig *c = dp_col_contig(&arrays);
    update_in(rt, ctx, c ? dp_offsets_word(c->offsets) : 0, c ? c->base : dp_col_addr(rt, &arrays), index, values);
    DpRefs *below = dp_refs_of_col(rt, values, 0);
    for (uint32_t i = 0; refs && i < refs->n; i++)
        if (dp_holds_alone(&arrays, refs->blocks[i]))
            dp_block_add_refs(rt, refs->blocks[i], dp_refs_retain(below));
    dp_refs_release(rt, below);
    return arrays;
}

DpCol dp_update(DpRt *rt, DpCtx *ctx, const DpCol *arrays, bool consume, bool masked, const DpCol *index,
                const DpCol *values)
{
    if (dp_failed(rt) || ctx->n == 0)
        return dp_new_col(rt, 0, 16);
    if (consume && dp_col_disjoint(arrays) && arrays->block->count == 1)
        return update_own(rt, ctx, dp_col_retain(*arrays), index, values);
    if (masked)
        return update_own(rt, ctx, own_views(rt, arrays), index, values);
    DpCtx *c = dp_nested_views(rt, ctx, arrays);
    DpCol data = dp_fresh_copy(rt, dp_elems(rt, arrays, c, values->bytes));
    if (c->n) {
        update_in(rt, ctx, dp_offsets_word(c->offsets), data.addr, index, values);
        dp_block_add_refs(rt, data.block, dp_refs_of_col(rt, values, 0));
    }
    DpCol out = dp_views_of_offsets(rt, c->offsets, ctx->n, data.addr, data.n, values->bytes, data.block);
    dp_col_release(rt, &data);
    dp_ctx_release(rt, &c);
    return out;
}

/* Row `index` of rows of one length that lie one behind the other in a block of scalars: where it is, if another row of
 * that length may be stored there, else 0. Nobody else may hold the elements; the new row may be of the same block, if
 * those who hold that are the row, which the caller has until after the update, and `refs`. */
static uint64_t place_of_row(const DpArr *a, int64_t index, const uint64_t row[2], const DpRefs *refs)
{
    const DpBlock *views = a->refs->blocks[0];
    const uint64_t length = offsets_length(views->contig.offsets), bytes = length * views->contig.bytes;
    if (!views->contig.offsets.stride || row[0] != length || views->contig.bytes == 16 || !views->refs ||
        views->refs->n != 1 || views->refs->count != 1)
        return 0;
    const DpBlock *elements = views->refs->blocks[0];
    const bool within = dp_refs_find(refs, elements->addr) == elements;
    const uint64_t place = views->contig.base + ((a->addr - views->addr) / 16 + (uint64_t)index) * bytes;
    const bool apart = row[1] + bytes <= place || place + bytes <= row[1];
    const bool held_alone = within ? refs->n == 1 && refs->count == 2 && elements->count == 2 : elements->count == 1;
    return held_alone && (apart || row[1] == place) ? place : 0;
}

/* Copied: a view of it instead would be one that does not lie with its neighbours. */
static bool store_row(DpRt *rt, const DpArr *a, int64_t index, const uint64_t row[2], const DpRefs *refs)
{
    const uint64_t place = place_of_row(a, index, row, refs);
    if (!place)
        return false;
    const DpBlock *views = a->refs->blocks[0];
    dp_block_forget_total(rt, views->refs->blocks[0]);
    if (place != row[1])
        dp_move_copy(rt, place, row[1], row[0], views->contig.bytes);
    return true;
}

DpArr dp_update_root(DpRt *rt, const DpArr *a, bool consume, int64_t index, const void *value, uint32_t bytes,
                     DpRefs *value_refs)
{
    const bool inside = index >= 0 && (uint64_t)index < a->len;
    DpArr out;
    if (consume && dp_arr_solely_held(a)) {
        out = dp_arr_retain(*a);
        if (inside && bytes == 16 && store_row(rt, a, index, value, value_refs)) {
            dp_refs_release(rt, value_refs);
            return out;
        }
        dp_block_forget_layout(rt, out.refs->blocks[0]);
    } else {
        DpBlock *b = dp_block_new(rt, a->len, bytes);
        dp_move_copy(rt, dp_block_addr(b), bytes == 16 ? dp_arr_addr(rt, a) : a->addr, a->len, bytes);
        dp_block_add_refs(rt, b, dp_refs_of_arr(rt, a, 1));
        out = dp_arr_of_block(rt, b, a->len);
    }
    if (inside && out.refs) {
        dp_rt_write(rt, out.addr + (uint64_t)index * bytes, value, bytes);
        dp_arr_set_element_refs(rt, &out, value_refs);
    } else {
        dp_refs_release(rt, value_refs);
    }
    return out;
}
