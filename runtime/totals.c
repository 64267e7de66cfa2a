/* Sums of lengths that are known without looking: then the size of a nested context need not be read back.
 *
 * A column of views, or of lengths, is known by its total where it was made from others whose totals are known:
 * selected, joined, merged, computed by a kernel that copies views or adds up lengths (dp_col_set_total). They begin
 * with splits: dp_begin_split sums columns over the instances of each side, while it is at them, and the host reads
 * these sums with the sides' sizes. */
#include "internal.h"

DpSum dp_sum_of_both(DpSum a, DpSum b)
{
    return (DpSum){dp_size_add(a.sum, b.sum), a.longest > b.longest ? a.longest : b.longest};
}

static uint64_t longest_of_offsets(Offsets o)
{
    if (o.stride)
        return offsets_length(o);
    return o.block && o.block->lengths.known ? o.block->lengths.longest : DP_ANY_LENGTH;
}

/* Of a whole block's views or lengths. */
static bool block_total(const DpBlock *b, uint64_t *n, DpSum *total)
{
    if (b->total.known) {
        *n = b->total.n;
        *total = b->total.of;
        return true;
    }
    const bool layout = b->state == BLOCK_LAZY || b->state == BLOCK_CONTIGUOUS;
    *n = b->contig.n;
    *total = (DpSum){b->contig.total, longest_of_offsets(b->contig.offsets)};
    return layout && b->contig.total != DP_TOTAL_UNSETTLED;
}

bool dp_col_total(const DpCol *c, DpSum *total)
{
    uint64_t n;
    *total = (DpSum){0, 0};
    return c->n == 0 || (c->block && block_total(c->block, &n, total) && c->addr == c->block->addr && c->n == n);
}

void dp_col_know_total(DpCol *c, DpSum total)
{
    if (c->block && c->addr == c->block->addr)
        c->block->total = (DpTotal){true, c->n, total};
}

void dp_block_forget_total(DpRt *rt, DpBlock *b)
{
    b->total = (DpTotal){.known = false};
    b->contents = ++rt->contents;
    dp_argument_changes(rt, b);
}

/* What the split into `side` and another one has said of the column. */
static bool side_total(const DpCtx *side, const DpCol *col, DpSum *total)
{
    for (uint32_t k = 0; k < side->nsums; k++)
        if (col->block && side->sums[k].contents == col->block->contents && side->sums[k].addr == col->addr) {
            *total = side->sums[k].of;
            return true;
        }
    return false;
}

bool dp_total_below(const DpCol *col, const DpCtx *from, const DpCtx *to, DpSum *total)
{
    *total = (DpSum){0, 0};
    if (to->n == 0)
        return true;
    if (to == from)
        return dp_col_total(col, total);
    if (!to->up)
        return false;
    if (to->kind == CTX_SELECTED && to->up == from && side_total(to, col, total))
        return true;
    if (to->kind == CTX_SELECTED && to->n == to->up->n)
        return dp_total_below(col, from, to->up, total);
    if (to->kind != CTX_NESTED || !to->offsets.stride || !dp_total_below(col, from, to->up, total))
        return false;
    total->sum = dp_size_mul(total->sum, offsets_length(to->offsets));
    return true;
}

/* Do those of the columns that are parts of this block, side by side, make up all of it? */
static bool parts_make_whole(const DpBlock *b, uint32_t n, const DpCol *cols, uint64_t rows)
{
    for (uint32_t i = 0; i < n; i++) {
        if (cols[i].block != b || cols[i].n == 0)
            continue;
        rows -= cols[i].n;
        for (uint32_t j = 0; j < i; j++)
            if (cols[j].block == b && cols[j].addr < cols[i].addr + cols[i].n * cols[i].bytes &&
                cols[i].addr < cols[j].addr + cols[j].n * cols[j].bytes)
                return false;
    }
    return rows == 0;
}

static bool first_of_block(const DpCol *cols, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++)
        if (cols[j].block == cols[i].block && cols[j].n)
            return false;
    return true;
}

/* The total of column i over the context; of parts of one block with the first of them. */
static bool total_with_parts(const DpCtx *to, uint32_t n, const DpCol *cols, DpCtx *const *from, uint32_t i,
                             DpSum *total)
{
    const DpCol *c = &cols[i];
    uint64_t rows;
    if (dp_total_below(c, from[i], to, total))
        return true;
    if (from[i] != to || !c->block || !block_total(c->block, &rows, total) ||
        !parts_make_whole(c->block, n, cols, rows))
        return false;
    total->sum = first_of_block(cols, i) ? total->sum : 0;
    return true;
}

/* The longest is at most the sum of the columns' longest. */
void dp_col_set_total(DpRt *rt, DpCol *out, DpCtx *ctx, uint32_t n, const DpCol *cols, DpCtx *const *from,
                      uint64_t each)
{
    if (dp_failed(rt))
        return;
    DpSum all = {dp_size_mul(ctx->n, each), each};
    for (uint32_t i = 0; i < n; i++) {
        DpSum one;
        if (!total_with_parts(ctx, n, cols, from, i, &one))
            return;
        all.sum = dp_size_add(all.sum, one.sum);
        all.longest = all.longest > DP_ANY_LENGTH - one.longest ? DP_ANY_LENGTH : all.longest + one.longest;
    }
    dp_col_know_total(out, all);
}
