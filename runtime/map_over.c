/* A map that writes over what it reads: its results go where the elements of an array that ends with it are.
 *
 * The compiler says that every element is only read where its place's result is stored, or at places that stay as they
 * are (flat/in_place.c). Whether others hold the array is known here; if so, or if its elements do not lie as the
 * results will, the map goes to new memory as any other. In place, what stays need not be looked at. */
#include "internal.h"

typedef struct MapOver {
    const DpCol *rows;  /* or NULL */
    const DpArr *array; /* whose rows these are, or, without them, whose elements are written over; or NULL */
    bool given;         /* do they end here? */
    MapStays stays, stays_in_rows;
    int64_t bound, bound_in_rows;
} MapOver;

static DpBlock *only_block(const DpArr *a) { return dp_arr_solely_held(a) ? a->refs->blocks[0] : NULL; }

/* The elements of a column of rows, whose holders are these operands and nobody else: they are given up, and the
 * results take their place. */
static DpBlock *elements_of_rows(const MapOver *over, const DpCtx *c, uint32_t bytes)
{
    const DpCol *rows = over->rows;
    const DpContig *whole = dp_col_contig(rows);
    if (!whole || whole->bytes != bytes || whole->total != c->n || c->kind != CTX_NESTED ||
        !offsets_known(c->offsets) || dp_offsets_word(whole->offsets) != dp_offsets_word(c->offsets))
        return NULL;
    const DpArr *array = over->array;
    const bool both =
        array && array->refs && array->refs->count == 1 && array->refs->n == 1 && array->refs->blocks[0] == rows->block;
    const DpRefs *refs = rows->block->refs;
    const bool alone = rows->block->count == 1u + both && refs && refs->count == 1 && refs->n == 1;
    return alone && refs->blocks[0]->count == 1 ? refs->blocks[0] : NULL;
}

/* Where the results may go; no block: nowhere but to new memory. */
static DpCol place_of(const MapOver *over, const DpCtx *c, uint32_t bytes)
{
    if (!over->given)
        return (DpCol){0};
    if (over->rows) {
        DpBlock *b = elements_of_rows(over, c, bytes);
        return b ? (DpCol){b, over->rows->block->contig.base, c->n, bytes} : (DpCol){0};
    }
    DpBlock *b = over->array->len == c->n ? only_block(over->array) : NULL;
    return b ? (DpCol){b, over->array->addr, c->n, bytes} : (DpCol){0};
}

static uint64_t clamped(int64_t bound, bool next, uint64_t most)
{
    return bound < 0 ? 0 : (uint64_t)bound >= most ? most : (uint64_t)bound + next;
}

/* Positions before *from, and from *end on, stay. */
static void changed(MapStays stays, int64_t bound, uint64_t *from, uint64_t *end)
{
    switch (stays) {
    case STAYS_NONE: break;
    case STAYS_BELOW: *from = clamped(bound, false, *end); break;
    case STAYS_UP_TO: *from = clamped(bound, true, *end); break;
    case STAYS_FROM: *end = clamped(bound, false, *end); break;
    case STAYS_ABOVE: *end = clamped(bound, true, *end); break;
    }
}

static MapRange changing(const MapOver *over, const DpCtx *c)
{
    MapRange r = {0, c->n, 0, true};
    if (!over->rows) {
        changed(over->stays, over->bound, &r.from, &r.end);
        return r;
    }
    const uint64_t length = offsets_length(c->offsets);
    uint64_t from = 0, end = c->up->n, last = length;
    if (c->offsets.block)
        return r;
    changed(over->stays, over->bound, &from, &end);
    changed(over->stays_in_rows, over->bound_in_rows, &r.skip, &last);
    r.from = from * length;
    r.end = r.skip < length ? end * length : r.from;
    return r;
}

void dp_map_over(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *ctx, const uint64_t *words, DpCol *outs,
                 uint32_t nrows, const DpCol *rows, const bool *rows_given, uint32_t narrays, const DpArr *arrays,
                 const bool *arrays_given, uint32_t stays, int64_t bound, uint32_t stays_in_rows, int64_t bound_in_rows)
{
    const MapOver over = {.rows = nrows ? rows : NULL,
                          .array = narrays ? arrays : NULL,
                          .given = (!nrows || rows_given[0]) && (!narrays || arrays_given[0]),
                          .stays = (MapStays)stays,
                          .bound = bound,
                          .stays_in_rows = (MapStays)stays_in_rows,
                          .bound_in_rows = bound_in_rows};
    const DpCol place =
        dp_failed(rt) || !ctx->n ? (DpCol){0} : place_of(&over, ctx, dp_rt_info(rt, kernel)->out_bytes[0]);
    if (!place.block) {
        dp_map(rt, kernel, variant, ctx, words, outs);
        return;
    }
    const MapRange range = changing(&over, ctx);
    dp_block_forget_layout(rt, dp_block_retain(place.block));
    outs[0] = place;
    if (range.from < range.end)
        dp_run_map(rt, kernel, variant, ctx, words, outs, &range);
}
