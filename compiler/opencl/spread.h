/* What the values of scalar code are in lanes, neighbouring instances that go through it together (emit_vector.h).
 *
 * Found from what the inputs are: forward over the statements, over loops again until nothing changes any more (a
 * variable only ever goes up). A branch on what varies makes its results vary, a loop of which lanes leave at different
 * times its state. In code that each lane executes from beginning to end (core/lane.h) arrays may vary, too: private
 * ones are arrays of vectors, of others each lane has a view of its own.
 *
 * INSIDE. What i == 0 || i == n - 1 or max 0 (i - 1) are differs between lanes only where the bound lies among them.
 * For the inside it is assumed that it does not: then positions compare alike in all lanes, and a bounded position is
 * the position. Likewise for bits of positions: i >> 4 is the same in all lanes, i & x a position or, where it is
 * compared, the same. Not so for bounds that go on in a loop, which would meet all lanes one after the other, nor for
 * constants that lie among any lanes. */
#ifndef DPC_OPENCL_SPREAD_H
#define DPC_OPENCL_SPREAD_H

#include "core/lane.h"
#include "support/paged.h"

/* SECOND: an i64, base + 2 * lane, as `base`: every second place. */
typedef enum Spread { SPREAD_UNIFORM, SPREAD_NEAR, SPREAD_SECOND, SPREAD_VARYING } Spread;

typedef struct SpreadVar {
    uint8_t spread; /* a Spread */
    bool agreed;    /* uniform because that is assumed */
    bool in_loop;   /* may differ from round to round */
    bool compared;  /* that is what is asked of it */
    bool hands_on;  /* an array in lanes' memory that one of two branches gives, and is where `of` is */
    CoreVar of;
    /* An array in lanes' memory of which each lane has `length` elements: a number, or as many as an array has that the
     * lane has taken. Or a number that is as many. */
    bool ragged;
    CoreVar length;
    /* A place that is `there` for all lanes for which `when` holds (or does not), and nowhere for the others. */
    bool chosen, unless;
    CoreAtom there;
    CoreVar when;
} SpreadVar;

typedef struct SpreadTable {
    PagedTable vars; /* SpreadVar by variable of the function */
    bool inside;
    bool ragged; /* lanes with memory may have arrays of different lengths */
} SpreadTable;

typedef struct SpreadFacts {
    bool assumes;     /* there is something that holds inside only */
    bool refused;     /* there is something that vectors cannot do */
    bool wide;        /* a vector has elements of 8 bytes */
    bool memory;      /* there are lanes with memory */
    bool agrees;      /* it is supposed that arrays of theirs are of one length */
    uint64_t vectors; /* costs, in additions: of what is done for all lanes at once, */
    uint64_t lanes;   /* and of what goes lane by lane, for one lane */
} SpreadFacts;

/* The table has what the block gets from outside; the others are written. Adds to facts. */
void spread_block(const CoreFn *fn, const CoreBlock *b, SpreadTable *table, SpreadFacts *facts);
Spread spread_of(const SpreadTable *table, CoreAtom a);
static inline SpreadVar *spread_var(const SpreadTable *table, CoreVar v) { return paged_at(&table->vars, v); }
/* An array that the lane makes in memory of its own: its place is the same in all lanes (UNIFORM), its elements are
 * vectors. */
bool spread_is_shared(const CoreFn *fn, const Lane *lane, CoreAtom x);
/* The atom as a vector: a position must be written out, as i64. */
void spread_as_vector(const SpreadTable *table, CoreAtom a, SpreadFacts *facts);
/* Do the lanes of this loop leave it at different times? */
bool spread_loop_diverges(const SpreadTable *table, const CoreStmt *loop);
/* A comparison or conversion that near values need not be written out for. */
bool spread_near_prim(const SpreadTable *table, const CoreStmt *s);
/* What the two values of a branch or `select` become. */
Spread spread_choice(const SpreadTable *table, CoreAtom cond, CoreAtom a, CoreAtom b);
/* A quotient or remainder of i64 by a constant above 1, which is products (kernels/vector.cl). */
bool spread_divides(const CoreFn *fn, const CoreStmt *s);
/* May a branch be computed where no lane wants it? */
bool spread_is_cheap(const CoreFn *fn, const CoreBlock *b);

#endif
