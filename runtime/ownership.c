/* What is known of a block, as one state (internal.h says what each promises), and who may change what in place.
 *
 *                 new                 a kernel computed views      looked at: one behind the other
 *     FREE ──────────────► PLAIN ──────────────► LAYOUT_UNKNOWN ──────────────► CONTIGUOUS
 *       ▲                   │ ▲ ◄────────────────── looked at: not so             ▲  │
 *       │                   │ │                                                   │  │ about to be changed
 *    RELEASED ◄── all ──    │ ├───────────────────────────────────────────────────┼──┘
 *                           │ │                               the views written   │
 *                           ├─┼── views known by offsets ─────► LAZY ─────────────┘
 *                           │ └── about to be changed ─── DISJOINT
 *                           └──── views told apart ──────────────┘▲
 *
 * Every change of state goes through dp_block_become; builds with DPC_CHECKS assert that the table allows it, and what
 * the new state promises. */
#ifndef DP_CHECKS
#define NDEBUG
#endif
#include "internal.h"

#include <assert.h>

/* ---- states ---- */
bool dp_block_may_become(BlockState from, BlockState to)
{
#define TO(state) 1u << BLOCK_##state
    static const unsigned allowed[BLOCK_STATES] = {
        [BLOCK_FREE] = TO(PLAIN),
        [BLOCK_PLAIN] = TO(LAYOUT_UNKNOWN) | TO(LAZY) | TO(DISJOINT) | TO(RELEASED),
        [BLOCK_LAYOUT_UNKNOWN] = TO(PLAIN) | TO(CONTIGUOUS) | TO(RELEASED),
        [BLOCK_LAZY] = TO(CONTIGUOUS) | TO(RELEASED),
        [BLOCK_CONTIGUOUS] = TO(PLAIN) | TO(RELEASED),
        [BLOCK_DISJOINT] = TO(PLAIN) | TO(RELEASED),
        [BLOCK_RELEASED] = TO(FREE),
    };
#undef TO
    return allowed[from] >> to & 1;
}

bool dp_block_is_sound(const DpBlock *b)
{
    const bool layout = offsets_known(b->contig.offsets), told_apart = b->retired || b->shared;
    switch (b->state) {
    case BLOCK_FREE: return b->count == 0 && !b->refs && !layout && !told_apart && !b->refs_are_element_refs;
    case BLOCK_PLAIN:
    case BLOCK_LAYOUT_UNKNOWN: return b->count > 0 && !layout && !told_apart;
    case BLOCK_LAZY:
    case BLOCK_CONTIGUOUS: return b->count > 0 && layout && !told_apart && b->contig.n <= b->bytes / 16;
    case BLOCK_DISJOINT: return b->count > 0 && !layout;
    case BLOCK_RELEASED: return b->count > 0;
    case BLOCK_STATES: break;
    }
    return false;
}

/* What goes with the state is set before, or taken away. */
void dp_block_become(DpBlock *b, BlockState to)
{
    assert(dp_block_may_become(b->state, to));
    b->state = to;
    assert(dp_block_is_sound(b));
}

void dp_block_be_lazy(DpBlock *b, DpContig contig)
{
    b->contig = contig;
    dp_block_become(b, BLOCK_LAZY);
}

void dp_block_be_disjoint(DpBlock *b, DpBlock *retired, DpRefs *shared)
{
    b->retired = retired;
    b->shared = shared;
    dp_block_become(b, BLOCK_DISJOINT);
}

void dp_block_forget_contig(DpRt *rt, DpBlock *b)
{
    dp_write_views(rt, b);
    if (b->state != BLOCK_CONTIGUOUS) /* or LAZY, in a failed state */
        return;
    Offsets offsets = b->contig.offsets;
    b->contig = (DpContig){{NULL, 0}, 0, 0, 0, 0};
    dp_block_become(b, BLOCK_PLAIN);
    dp_offsets_release(rt, &offsets);
}

void dp_block_forget_layout(DpRt *rt, DpBlock *b)
{
    dp_block_forget_contig(rt, b);
    dp_block_forget_total(rt, b);
    if (b->state != BLOCK_DISJOINT)
        return;
    DpBlock *retired = b->retired;
    DpRefs *shared = b->shared;
    b->retired = NULL;
    b->shared = NULL;
    dp_block_become(b, BLOCK_PLAIN);
    dp_block_release(rt, retired);
    dp_refs_release(rt, shared);
}

/* ---- who holds what ---- */
DpBlock *dp_refs_owner(DpRt *rt, const DpRefs *r, uint64_t addr)
{
    DpBlock *b = dp_refs_find(r, addr);
    if (b && b->state != BLOCK_FREE && b->state != BLOCK_RELEASED)
        return b;
    assert(dp_failed(rt)); /* then sets may be smaller than they should be */
    dp_rt_fail(rt, EXIT_DEVICE, "no block holds the array at %llx", (unsigned long long)addr);
    return NULL;
}

const DpContig *dp_col_contig(const DpCol *c)
{
    const DpBlock *b = c->block;
    bool known = b && (b->state == BLOCK_LAZY || b->state == BLOCK_CONTIGUOUS);
    return known && c->addr == b->addr && c->n == b->contig.n ? &b->contig : NULL;
}

bool dp_col_disjoint(const DpCol *views)
{
    return dp_col_contig(views) || (views->block && views->block->state == BLOCK_DISJOINT);
}

DpBlock *dp_sole_elements(const DpCol *views)
{
    const DpContig *whole = dp_col_contig(views);
    const DpRefs *refs = views->block ? views->block->refs : NULL;
    bool sole =
        whole && views->block->count == 1 && refs && refs->count == 1 && refs->n == 1 && refs->blocks[0]->count == 1;
    return sole ? refs->blocks[0] : NULL;
}

/* Of the elements' holders all are known: the views, and those of the block of retired views. */
bool dp_holds_alone(const DpCol *views, const DpBlock *elements)
{
    const DpRefs *refs = views->block->refs, *others = views->block->retired ? views->block->retired->refs : NULL;
    if (others == refs)
        return refs->count == 2 && elements->count == 1;
    bool too = others && dp_refs_find(others, elements->addr) == elements;
    return refs->count == 1 && elements->count == 1u + too && (!too || others->count == 1);
}

bool dp_arr_solely_held(const DpArr *a)
{
    return a->refs && a->refs->count == 1 && a->refs->n == 1 && a->refs->blocks[0]->count == 1;
}
