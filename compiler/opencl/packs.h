/* What lanes read again and again of arrays that each has for itself: elements that lie apart, and are put side by side
 * once, in front.
 *
 *     { { sum { a[i][k] * b[k][j] : k in 8 } : j in 8 } : i in 8 }        c[k * 8 + j] = b[k][j] of all lanes, 64
 * vectors
 *
 * Of b[k][j] each index is a constant or the position in an operation around, whose length is a constant. So what is
 * read is a box, all of it, and nothing in the lane can fail before. */
#ifndef DPC_OPENCL_PACKS_H
#define DPC_OPENCL_PACKS_H

#include "core/lane.h"
#include "opencl/spread.h"

enum { PACKS_MOST_RANK = 4 };

/* Of what an INDEX or the element of an operation binds: element `at` of `from`, which is no private array. */
typedef struct PackRead {
    bool there;
    bool inside;  /* something else in the lane binds it */
    uint8_t pack; /* a scalar of this one, 1 …; or 0 */
    CoreVar from;
    CoreAtom at;
} PackRead;

typedef struct Pack {
    CoreVar read;   /* the first one, by which the others are found */
    uint64_t cells; /* of the box; 0: they are read once, where they are */
    uint64_t times; /* that one is read, of all */
} Pack;

typedef struct Packs {
    Arena *arena;
    PagedTable reads; /* PackRead by variable */
    PagedTable sizes; /* uint32_t by variable: positions of operations of constant length */
    Pack at[16];
    uint32_t n;
} Packs;

/* Of the lane's block. The table says what varies. */
Packs packs_find(const CoreFn *fn, const Lane *lane, const SpreadTable *table, const CoreBlock *b);
void packs_close(const Packs *p);
static inline PackRead *packs_at(const Packs *p, CoreVar x) { return paged_at(&p->reads, x); }
/* Of which the scalar x is an element, or NULL. */
const Pack *packs_of(const Packs *p, CoreVar x);
/* How many places the index has in the box. */
uint32_t packs_size(const Packs *p, CoreAtom at);

#endif
