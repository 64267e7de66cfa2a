/* Code that one lane executes: a block of core in which parallel operations run one element after the other, and small
 * arrays are private to the lane (CORE_LANE, docs/flattening.md 12).
 *
 * An array is *private* if the block makes it (map, scan, array, update, …); its lengths are constants. All others lie
 * in the heap and are only read. lane_analyse() finds out which is which; who checks, runs or prints such a block asks
 * it. */
#ifndef DPC_LANE_H
#define DPC_LANE_H

#include "core/core.h"
#include "support/paged.h"

/* LANE_BYTES: of all private arrays together, at most. */
enum { LANE_MOST_RANK = 4, LANE_BYTES = 4096 };

typedef struct LaneVar {
    uint8_t rank;                  /* of a private array; 0: it is none */
    uint32_t dims[LANE_MOST_RANK]; /* its lengths, outermost first */
    CoreVar of; /* a private array: what it is a part or another name of; itself: it has elements of its own */
    bool known; /* an i64 that is always `value` */
    int64_t value;
    uint32_t below; /* an i64, at least 0 and below this; 0: that is not known */
    /* An array may be updated where it is if it is not looked at afterwards. Statements are numbered in order, and so
     * are repetitions: what runs again and again with new variables. */
    bool shared; /* others are parts of it */
    uint32_t repetition, bound_at, last_use;
} LaneVar;

typedef struct Lane {
    const CoreFn *fn;
    PagedTable vars; /* LaneVar by variable of fn */
    uint64_t bytes;  /* of its private arrays */
    uint32_t position, repetition, repetitions;
} Lane;

Lane lane_open(const CoreFn *fn);
void lane_close(Lane *l);
static inline LaneVar *lane_var(const Lane *l, CoreVar v) { return paged_at(&l->vars, v); }

/* Arrays of unknown length that need not be there are computed where they are read. Of a block that is the lane's own.
 */
void lane_fuse(const CoreProgram *p, CoreFn *fn, CoreBlock *block);
/* False: there is something in the block that a lane cannot do. What stands in front of the block is in the heap. */
bool lane_analyse(Lane *l, CoreBlock *b);
/* No result is a private array: so it must be of CORE_LANE. */
bool lane_keeps_arrays(const Lane *l, const CoreBlock *b);
static inline bool lane_is_private(const Lane *l, CoreAtom a) { return !a.is_const && lane_var(l, a.var)->rank > 0; }
/* An i64 that is known. */
bool lane_constant(const Lane *l, CoreAtom a, int64_t *value);
/* 0 <= index < length of the private array, surely. */
bool lane_index_holds(const Lane *l, CoreAtom array, CoreAtom index);
/* Of a private array: all its scalars; those of one element. */
uint64_t lane_elements(const LaneVar *v);
uint64_t lane_stride(const LaneVar *v);
/* In whose memory a private array lies: an update's is the old array's if nobody looks at that any more. */
CoreVar lane_memory(const Lane *l, CoreVar v);
static inline bool lane_owns(const Lane *l, CoreVar v) { return lane_var(l, v)->of == v; }

#endif
