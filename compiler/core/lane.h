/* Code that one lane executes: a block of core in which parallel operations run one element after the other, and
 * arrays are the lane's own (CORE_LANE, docs/flattening.md 12).
 *
 * Without memory, an array is *private* if the block makes it (map, scan, array, update, …); its lengths are constants.
 * All others lie in the heap and are only read.
 *
 * With memory, all arrays are views, as in the heap; those that the block makes lie in a strip of that memory, one
 * behind the other: what an element of a parallel operation or a round of a loop leaves behind is dropped. An array is
 * *owned* if it lies there and is nobody else's part: it may be updated where it is.
 *
 * lane_analyse() finds out which is which; who checks, runs or prints such a block asks it. */
#ifndef DPC_LANE_H
#define DPC_LANE_H

#include "core/core.h"
#include "support/paged.h"

/* LANE_BYTES: of all private arrays together, at most. LANE_STATE_RANK: of a loop's state in memory, which is moved by
 * functions for each rank (kernels/common.cl). */
enum { LANE_MOST_RANK = 4, LANE_BYTES = 4096, LANE_STATE_RANK = 3 };

/* Where an array may lie, and its rows, and theirs: a bit each, beginning with the lowest. None: it has no elements. */
typedef struct LanePlaces {
    uint8_t heap, share;
} LanePlaces;

typedef struct LaneVar {
    uint8_t rank;                  /* of a private array; 0: it is none */
    uint32_t dims[LANE_MOST_RANK]; /* its lengths, outermost first */
    CoreVar of; /* a private array: what it is a part or another name of; itself: it has elements of its own */
    bool known; /* an i64 that is always `value` */
    int64_t value;
    uint32_t below; /* an i64, at least 0 and below this; 0: that is not known */
    /* An array may be updated where it is if it is not looked at afterwards. Statements are numbered in order, and so
     * are repetitions: what runs again and again with new variables. */
    bool shared;  /* others are parts of it */
    bool owned;   /* with memory, likewise */
    bool written; /* a loop's state: a round updates it where it is, so that it must not begin as an array of others */
    bool read_later, reads_last; /* lane_last.c: while it is at work; nobody looks at what this is made of afterwards */
    bool peeks;                  /* likewise: it is a part of array `of_part`, and only elements of it are read */
    CoreVar of_part;
    CoreVar over;            /* likewise: 1 + the array whose place a map's result may take; 0: none */
    uint32_t nreads, npeeks; /* lane_last.c: while it is at work */
    uint32_t repetition, bound_at, last_use;
    LanePlaces places; /* with memory (lane_places.c) */
    bool taken;        /* it is in `taken` of the lane */
    bool parted;       /* an array from in front of the lane that has slices there */
} LaneVar;

typedef struct Lane {
    const CoreFn *fn;
    PagedTable vars;    /* LaneVar by variable of fn */
    uint64_t bytes;     /* of its private arrays */
    bool strip;         /* arrays lie in memory */
    bool abreast;       /* with memory, of several instances side by side: set by who opens it. A loop's state that
                           rounds make then begins as the lanes' own, too, so that all elements are vectors */
    VEC(CoreVar) alien; /* state of loops that is not the lane's own in every round */
    VEC(CoreVar) taken; /* arrays from in front of the lane that it begins with taking into its memory */
    bool surprised;     /* there is one more, so that all is to be looked at again */
    uint32_t position, repetition, repetitions;
} Lane;

/* strip: with memory. */
Lane lane_open(const CoreFn *fn, bool strip);
void lane_close(Lane *l);
static inline LaneVar *lane_var(const Lane *l, CoreVar v) { return paged_at(&l->vars, v); }

/* Arrays of unknown length that need not be there are computed where they are read. Of a block that is the lane's own.
 */
void lane_fuse(const CoreProgram *p, CoreFn *fn, CoreBlock *block);
/* Of what updates, loops and branches take over: sets reads_last of what they bind (lane_last.c). */
void lane_find_last_reads(Lane *l, const CoreBlock *block);
/* False: there is something in the block that a lane cannot do. What stands in front of the block is in the heap. */
bool lane_analyse(Lane *l, CoreBlock *b);
/* No result is a private array or, with memory, an array of arrays: so it must be of CORE_LANE. */
bool lane_keeps_arrays(const Lane *l, const CoreBlock *b);
static inline bool lane_is_private(const Lane *l, CoreAtom a) { return !a.is_const && lane_var(l, a.var)->rank > 0; }
/* With memory, of a block that has been analysed: where its arrays lie (lane_places.c). */
typedef enum LanePlace { LANE_IN_EITHER, LANE_IN_HEAP, LANE_IN_SHARE } LanePlace;
void lane_find_places(Lane *l, CoreBlock *b);
LanePlace lane_place(const Lane *l, CoreAtom array);
/* May it lie in the heap, as far as is known? */
bool lane_may_be_outside(const Lane *l, CoreAtom array);
/* An i64 that is known. */
bool lane_constant(const Lane *l, CoreAtom a, int64_t *value);
/* 0 <= index < length of the private array, surely. */
bool lane_index_holds(const Lane *l, CoreAtom array, CoreAtom index);
/* Of a private array: all its scalars; those of one element. */
uint64_t lane_elements(const LaneVar *v);
uint64_t lane_stride(const LaneVar *v);
/* Do the instances of the operation `around`, whose body is b, share what the reductions in it read? How many of these
 * there are for an instance, and how long they are: atoms from outside or, with `rows`, lengths of sequences
 * (lane_shares.c). */
typedef struct LaneShared {
    bool any, in_loop; /* in a loop over arrays */
    CoreAtom cells, length;
} LaneShared;
LaneShared lane_shares(const CoreFn *fn, const CoreSoac *around, CoreBlock *b, bool rows);
/* Do the operations in b, the body of the operation `around`, read neighbouring elements for neighbouring instances, or
 * the same for all, and go over as many for each (lane_windows.c)? COLUMNS: only elements of rows that they go over. */
typedef enum LaneBeside { LANE_APART, LANE_WINDOWS, LANE_COLUMNS } LaneBeside;
LaneBeside lane_reads_beside(const CoreFn *fn, const CoreSoac *around, CoreBlock *b);
/* In whose memory a private array lies: an update's is the old array's if nobody looks at that any more. */
CoreVar lane_memory(const Lane *l, CoreVar v);
/* With memory: has the loop to begin with a copy of what its state i starts as? */
bool lane_copies_state(const Lane *l, const CoreStmt *loop, uint32_t i);
/* With memory, of what has been analysed: is this a loop's state that begins as a copy of an array from in front of the
 * lane, of scalars? That may be there already, as the host has it copied (dp_lane_begins). */
bool lane_begins_outside(const Lane *l, const CoreStmt *loop, uint32_t i);
/* Calls `each` with such arrays, as often as one loop begins with them; in rounds of loops there are none. */
void lane_each_begin(const Lane *l, CoreBlock *b, void (*each)(void *ctx, CoreAtom array), void *ctx);
/* What an operation costs a lane: so many statements for so many elements, of those that are all alike and filled in
 * LANE_FILLED. */
enum { LANE_FILLED = 8 };
typedef struct LaneCost {
    uint32_t statements, elements;
} LaneCost;
/* An array of anything, of which only what is stored later is read: map n () { x = nothing; -> x } */
static inline bool lane_is_room(const CoreStmt *s)
{
    return s->kind == CORE_MAP && s->soac.body->stmts.n == 1 && s->soac.body->stmts.at[0]->kind == CORE_NOTHING;
}
static inline LaneCost lane_cost(const CoreStmt *stmt)
{
    const CoreSoac *s = &stmt->soac;
    if (lane_is_room(stmt))
        return (LaneCost){0, 1};
    const uint32_t n = s->body->stmts.n + (s->guard ? s->guard->stmts.n : 0) + s->ninputs;
    return n > 0 ? (LaneCost){n - s->ninputs + 1, 1} : (LaneCost){1, LANE_FILLED};
}
/* What a round of a loop outside parallel code takes without lanes: launches, one at least; those for operations inside
 * of operations; and elements that the host reads. loops: those of loops in it, too, once each. */
typedef struct RoundCost {
    uint32_t launches, inside, reads;
} RoundCost;
RoundCost round_cost(const CoreStmt *loop, bool loops);
/* There a read takes as long as a launch, and an operation in others is some. */
static inline uint32_t round_on_gpu(RoundCost r) { return r.launches + r.inside + r.reads; }
/* With memory: could the operation's elements go side by side, in vectors of a CPU (opencl/emit_wide.h)? Then
 * DP_LANE_WIDE cost as much as one. */
bool lane_goes_wide(const CoreFn *fn, const CoreStmt *s);
static inline bool lane_owns(const Lane *l, CoreVar v) { return lane_var(l, v)->of == v; }

#endif
