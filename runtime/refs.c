/* References: blocks, sets of blocks, and the arrays and columns that own them. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- blocks ---- */
DpBlock *dp_block_retain(DpBlock *b)
{
    if (b)
        b->count++;
    return b;
}

/* Blocks own sets, and sets own blocks: what becomes free waits in a list, so that no chain, however long, recurses.
 * While it waits its count is not 0: the heap joins neighbours whose count is. */
enum { COUNT_WAITING = INT32_MAX };
static void drop_block(DpBlock *b, DpBlock **waiting)
{
    if (b && --b->count == 0) {
        b->count = COUNT_WAITING;
        dp_block_become(b, BLOCK_RELEASED);
        b->next_free = *waiting;
        *waiting = b;
    }
}

static void drop_refs(DpRefs *r, DpBlock **waiting)
{
    if (!r || --r->count)
        return;
    for (uint32_t i = 0; i < r->n; i++)
        drop_block(r->blocks[i], waiting);
    free(r);
}

static void free_waiting(DpRt *rt, DpBlock *waiting)
{
    while (waiting) {
        DpBlock *b = waiting;
        waiting = b->next_free;
        drop_refs(b->refs, &waiting);
        drop_block(b->contig.offsets.block, &waiting);
        drop_block(b->retired, &waiting);
        drop_block(b->splits.list, &waiting);
        drop_refs(b->shared, &waiting);
        dp_heap_free(rt, b);
    }
}

void dp_block_release(DpRt *rt, DpBlock *b)
{
    DpBlock *waiting = NULL;
    drop_block(b, &waiting);
    free_waiting(rt, waiting);
}

/* ---- sets ---- */
static DpRefs *refs_alloc(DpRt *rt, uint32_t n)
{
    DpRefs *r = malloc(sizeof *r + n * sizeof r->blocks[0]);
    if (!r) {
        dp_rt_fail_host_memory(rt, sizeof *r + n * sizeof r->blocks[0]);
        return NULL;
    }
    r->count = 1;
    r->n = n;
    return r;
}

DpRefs *dp_refs_one(DpRt *rt, DpBlock *b)
{
    if (!b)
        return NULL;
    DpRefs *r = refs_alloc(rt, 1);
    if (r)
        r->blocks[0] = b;
    else
        dp_block_release(rt, b);
    return r;
}

DpRefs *dp_refs_retain(DpRefs *r)
{
    if (r)
        r->count++;
    return r;
}

void dp_refs_release(DpRt *rt, DpRefs *r)
{
    DpBlock *waiting = NULL;
    drop_refs(r, &waiting);
    free_waiting(rt, waiting);
}

DpBlock *dp_refs_find(const DpRefs *r, uint64_t addr)
{
    uint32_t lo = 0, hi = r ? r->n : 0;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        DpBlock *b = r->blocks[mid];
        if (addr < b->addr)
            hi = mid;
        else if (addr >= b->addr + b->bytes)
            lo = mid + 1;
        else
            return b;
    }
    return NULL;
}

/* How many blocks of b are not in a. */
static uint32_t count_missing(const DpRefs *a, const DpRefs *b)
{
    uint32_t missing = 0;
    for (uint32_t i = 0, j = 0; j < b->n; j++) {
        while (i < a->n && a->blocks[i]->addr < b->blocks[j]->addr)
            i++;
        missing += i == a->n || a->blocks[i] != b->blocks[j];
    }
    return missing;
}

static DpRefs *merge_refs(DpRt *rt, const DpRefs *a, const DpRefs *b, uint32_t n)
{
    DpRefs *r = refs_alloc(rt, n);
    for (uint32_t i = 0, j = 0, k = 0; r && k < n; k++) {
        bool from_a = j == b->n || (i < a->n && a->blocks[i]->addr <= b->blocks[j]->addr);
        DpBlock *x = from_a ? a->blocks[i] : b->blocks[j];
        i += i < a->n && a->blocks[i] == x;
        j += j < b->n && b->blocks[j] == x;
        r->blocks[k] = dp_block_retain(x);
    }
    return r;
}

DpRefs *dp_refs_union(DpRt *rt, DpRefs *a, DpRefs *b)
{
    if (!a || !b)
        return a ? a : b;
    uint32_t missing_a = a == b ? 0 : count_missing(b, a), missing_b = a == b ? 0 : count_missing(a, b);
    if (missing_b && missing_a) {
        DpRefs *r = merge_refs(rt, a, b, a->n + missing_b);
        dp_refs_release(rt, b);
        if (!r) /* no memory: at least what was held stays so */
            return a;
        dp_refs_release(rt, a);
        return r;
    }
    /* one holds the other */
    dp_refs_release(rt, missing_b ? a : b);
    return missing_b ? b : a;
}

DpRefs *dp_refs_of_refs(DpRt *rt, const DpRefs *r)
{
    DpRefs *all = NULL;
    for (uint32_t i = 0; r && i < r->n; i++)
        all = dp_refs_union(rt, all, dp_refs_retain(r->blocks[i]->refs));
    return all;
}

static DpRefs *deeper(DpRt *rt, DpRefs *r, uint32_t depth)
{
    for (; depth; depth--) {
        DpRefs *below = dp_refs_of_refs(rt, r);
        dp_refs_release(rt, r);
        r = below;
    }
    return r;
}

DpRefs *dp_refs_of_arr(DpRt *rt, const DpArr *a, uint32_t depth) { return deeper(rt, dp_refs_retain(a->refs), depth); }

DpRefs *dp_refs_of_col(DpRt *rt, const DpCol *c, uint32_t depth)
{
    return deeper(rt, dp_refs_retain(c->block ? c->block->refs : NULL), depth);
}

void dp_block_add_refs(DpRt *rt, DpBlock *b, DpRefs *refs)
{
    if (b && b->state != BLOCK_LAZY)
        dp_write_views_of(rt, refs);
    if (b)
        b->refs = dp_refs_union(rt, b->refs, refs);
    else
        dp_refs_release(rt, refs);
}

void dp_arr_set_element_refs(DpRt *rt, DpArr *a, DpRefs *refs)
{
    for (uint32_t i = 0; a->refs && i < a->refs->n; i++)
        dp_block_add_refs(rt, a->refs->blocks[i], dp_refs_retain(refs));
    dp_refs_release(rt, refs);
}

void dp_col_set_refs(DpRt *rt, DpCol *c, DpRefs *refs)
{
    if (c->block && c->block->refs_are_element_refs) {
        DpRefs *arrays = c->block->refs;
        for (uint32_t i = 0; arrays && i < arrays->n; i++)
            dp_block_add_refs(rt, arrays->blocks[i], dp_refs_retain(refs));
        dp_refs_release(rt, refs);
    } else {
        dp_block_add_refs(rt, c->block, refs);
    }
}

/* ---- arrays and columns ---- */
DpArr dp_arr_retain(DpArr a)
{
    dp_refs_retain(a.refs);
    return a;
}

void dp_arr_release(DpRt *rt, DpArr *a)
{
    dp_refs_release(rt, a->refs);
    *a = (DpArr){0, 0, NULL};
}

DpCol dp_col_retain(DpCol c)
{
    dp_block_retain(c.block);
    return c;
}

void dp_col_release(DpRt *rt, DpCol *c)
{
    dp_block_release(rt, c->block);
    *c = (DpCol){NULL, 0, 0, 0};
}

DpArr dp_arr_of_block(DpRt *rt, DpBlock *b, uint64_t n)
{
    DpArr a = {n, dp_block_addr(b), dp_refs_one(rt, b)};
    if (dp_failed(rt))
        dp_arr_release(rt, &a);
    return a;
}

DpCol dp_new_col(DpRt *rt, uint64_t n, uint32_t bytes)
{
    if (n > DP_MAX_INSTANCES)
        dp_rt_fail_elements(rt, n, bytes);
    DpBlock *b = dp_block_new(rt, n, bytes);
    return dp_failed(rt) ? (DpCol){0} : (DpCol){b, dp_block_addr(b), n, bytes};
}

/* ---- views that are known, but not written ---- */
/* Recurses as deep as arrays are nested. */
void dp_write_views_of(DpRt *rt, const DpRefs *r)
{
    for (uint32_t i = 0; r && i < r->n; i++)
        dp_write_views(rt, r->blocks[i]);
}

static void write_views(DpRt *rt, DpBlock *b)
{
    const DpContig *c = &b->contig;
    const DpCol views = {b, b->addr, c->n, 16};
    dp_move_rows(rt, &views, c->n, (Route){0, 0, 0}, b->addr, c->n);
    if (!dp_failed(rt))
        dp_block_become(b, BLOCK_CONTIGUOUS);
    dp_write_views_of(rt, b->refs);
}

enum { FEW_VIEWS = 4096 }; /* cost nothing in a launch that there is anyway */

/* The other columns of a pack that has just been made: points' coordinates are wanted together. */
static void write_beside(DpRt *rt, const DpBlock *b)
{
    for (uint32_t i = 0; b->unsettled && b->contig.n <= FEW_VIEWS && i < rt->unsettled.n; i++) {
        DpBlock *other = rt->unsettled.at[i].views;
        if (other && other->state == BLOCK_LAZY && other->contig.offsets.block == b->contig.offsets.block)
            write_views(rt, other);
    }
}

void dp_write_views(DpRt *rt, DpBlock *b)
{
    if (!b || b->state != BLOCK_LAZY || dp_failed(rt))
        return;
    write_views(rt, b);
    write_beside(rt, b);
}

uint64_t dp_col_addr(DpRt *rt, const DpCol *c)
{
    dp_write_views(rt, c->block);
    return c->addr;
}

uint64_t dp_arr_addr(DpRt *rt, const DpArr *a)
{
    dp_write_views_of(rt, a->refs);
    return a->addr;
}
