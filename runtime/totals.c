/* Sums of lengths that are known without looking: then the size of a nested context need not be read back.
 *
 * A column of views, or of lengths, is known by its total where it was made from others whose totals are known:
 * selected, joined, merged, computed by a kernel that copies views or adds up lengths (dp_col_set_total). They begin
 * with splits: dp_begin_split sums columns over the instances of each side, while it is at them, and the host reads
 * these sums with the sides' sizes. */
#include "internal.h"

/* Of a whole block's views or lengths. */
static bool block_total(const DpBlock *b, uint64_t *n, uint64_t *sum)
{
    if (b->total.known) {
        *n = b->total.n;
        *sum = b->total.sum;
        return true;
    }
    const bool layout = b->state == BLOCK_LAZY || b->state == BLOCK_CONTIGUOUS;
    *n = b->contig.n;
    *sum = b->contig.total;
    return layout && b->contig.total != DP_TOTAL_UNSETTLED;
}

bool dp_col_total(const DpCol *c, uint64_t *sum)
{
    uint64_t n;
    *sum = 0;
    return c->n == 0 || (c->block && block_total(c->block, &n, sum) && c->addr == c->block->addr && c->n == n);
}

void dp_col_know_total(DpCol *c, uint64_t sum)
{
    if (c->block && c->addr == c->block->addr)
        c->block->total = (DpTotal){true, c->n, sum};
}

void dp_block_forget_total(DpRt *rt, DpBlock *b)
{
    b->total = (DpTotal){false, 0, 0};
    b->contents = ++rt->contents;
}

/* What the split into `side` and another one has said of the column. */
static bool side_total(const DpCtx *side, const DpCol *col, uint64_t *sum)
{
    for (uint32_t k = 0; k < side->nsums; k++)
        if (col->block && side->sums[k].contents == col->block->contents && side->sums[k].addr == col->addr) {
            *sum = side->sums[k].sum;
            return true;
        }
    return false;
}

bool dp_total_below(const DpCol *col, const DpCtx *from, const DpCtx *to, uint64_t *sum)
{
    *sum = 0;
    if (to->n == 0)
        return true;
    if (to == from)
        return dp_col_total(col, sum);
    if (!to->up)
        return false;
    if (to->kind == CTX_SELECTED && to->up == from && side_total(to, col, sum))
        return true;
    if (to->kind == CTX_SELECTED && to->n == to->up->n)
        return dp_total_below(col, from, to->up, sum);
    if (to->kind != CTX_NESTED || !to->offsets.stride || !dp_total_below(col, from, to->up, sum))
        return false;
    *sum = dp_size_mul(*sum, offsets_length(to->offsets));
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
                             uint64_t *sum)
{
    const DpCol *c = &cols[i];
    uint64_t rows;
    if (dp_total_below(c, from[i], to, sum))
        return true;
    if (from[i] != to || !c->block || !block_total(c->block, &rows, sum) || !parts_make_whole(c->block, n, cols, rows))
        return false;
    *sum = first_of_block(cols, i) ? *sum : 0;
    return true;
}

void dp_col_set_total(DpRt *rt, DpCol *out, DpCtx *ctx, uint32_t n, const DpCol *cols, DpCtx *const *from,
                      uint64_t each)
{
    uint64_t all = dp_failed(rt) ? 0 : dp_size_mul(ctx->n, each);
    for (uint32_t i = 0; i < n && !dp_failed(rt); i++) {
        uint64_t sum;
        if (!total_with_parts(ctx, n, cols, from, i, &sum))
            return;
        all = dp_size_add(all, sum);
    }
    if (!dp_failed(rt))
        dp_col_know_total(out, all);
}
