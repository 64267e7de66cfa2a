/* Shared by choose_lanes.c, where parallel code in parallel code becomes code of one lane, choose_loops.c, where loops
 * outside parallel code do, and regular_versions.c. */
#ifndef DPC_CHOOSE_LANES_INTERNAL_H
#define DPC_CHOOSE_LANES_INTERNAL_H

#include "core/build.h"
#include "core/passes.h"
#include "core/stack_loops.h"
#include "params.h"

/* COPIED: statements of second versions, as many as the program has, and some more. */
enum { CHOOSE_COPIED = 500 };

/* The lane's code as a statement; returns what it gives. memory: or a constant. */
const CoreAtom *choose_emit_lane(CoreBuilder *b, CoreBlock *code, CoreAtom memory, LaneOf of);
/* A block with such lanes, which have memory: what they give, and whether that means something. */
CoreBlock *choose_in_memory(CoreBuilder *b, CoreBlock *code, LaneOf of);
/* Is there nothing that no lane can do, and something parallel, or calls of what `stacks` (or NULL) has loops for, of
 * so many statements at most? A look before a copy is made. */
bool choose_is_possible(StackLoops *stacks, uint32_t budget, CoreBlock *b);
/* Adds the block's statements to *(uint32_t *)ctx. */
void choose_count(void *ctx, CoreBlock *b);

#endif
