/* What the values of scalar code are in lanes, neighbouring instances that go through it together (emit_vector.h).
 *
 * Found from what the inputs are: forward over the statements, over loops again until nothing changes any more (a
 * variable only ever goes up). A branch on what varies makes its results vary, a loop of which lanes leave at different
 * times its state. */
#ifndef DPC_OPENCL_SPREAD_H
#define DPC_OPENCL_SPREAD_H

#include "core/core.h"

typedef enum Spread { SPREAD_UNIFORM, SPREAD_NEAR, SPREAD_VARYING } Spread;

typedef struct SpreadFacts {
    bool refused;     /* there is something that vectors cannot do */
    bool wide;        /* a vector has elements of 8 bytes */
    uint32_t vectors; /* costs, in additions: of what is done for all lanes at once, */
    uint32_t lanes;   /* and of what goes lane by lane, for one lane */
} SpreadFacts;

/* spread: of each variable of fn; those that the block gets from outside must be there, the others are written.
 * Adds to facts. */
void spread_block(const CoreFn *fn, const CoreBlock *b, Spread *spread, SpreadFacts *facts);
Spread spread_of(const Spread *spread, CoreAtom a);
/* The atom as a vector: a near value must be written out, as i64. */
void spread_as_vector(const Spread *spread, CoreAtom a, SpreadFacts *facts);
/* Do the lanes of this loop leave it at different times? */
bool spread_loop_diverges(const Spread *spread, const CoreStmt *loop);
/* A comparison or conversion that near values need not be written out for. */
bool spread_near_prim(const Spread *spread, const CoreStmt *s);
/* May a branch be computed where no lane wants it? */
bool spread_is_cheap(const CoreFn *fn, const CoreBlock *b);

#endif
