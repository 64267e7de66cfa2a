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
/* What becomes of a result of the lane's code that is rows of rows (lane_rows.c): they are given one behind the other
 * and, where they are not known to be `rows` of one length, their lengths as result `lengths`. */
typedef struct GivenRows {
    bool parted, regular;
    uint32_t lengths;
    CoreAtom rows, length;
} GivenRows;
bool lane_rows_can_be_given(const CoreFn *fn, const CoreBlock *code);
/* Appended to the code, whose results these are then; what has become of each. */
GivenRows *lane_rows_part(CoreBuilder *b, CoreBlock *code);
/* Is the length of all arrays that lie `levels` below xs, or of xs, known to be n (known_rows.c)? */
bool core_checked_length(const CoreFn *fn, CoreAtom xs, uint32_t levels, CoreAtom *n);
/* Likewise, as s makes it: by maps of maps, of lengths from outside of them all. */
bool core_made_length(const CoreStmt *s, CoreAtom xs, uint32_t levels, CoreAtom *n);
/* What its code changes and lies in front of a lane, made in it if that is as cheap as a copy; variables from `first`
 * on are the code's (lane_fills.c). scratch, map: as for core_copy_within. */
void lane_fills(CoreBuilder *b, CoreBlock *code, const CoreStmt *around, CoreVar first, Arena *scratch,
                CoreCopyMap *map);
/* A copy of the code, in which rows of rows are arrays (lane_tables.c), or NULL. `around`: the operation whose body it
 * is; `alone`: of one instance. copies, map: as for core_copy_within. */
CoreBlock *lane_tables(CoreBuilder *b, CoreBlock *code, const CoreStmt *around, bool alone, Arena *copies,
                       CoreCopyMap *map, GivenRows **given);
/* Rows of rows again: xs are their elements, and `results` all that the lane gives. */
CoreAtom lane_rows_join(CoreBuilder *b, const GivenRows *g, CoreAtom xs, const CoreAtom *results);
/* Is there nothing that no lane can do, and something parallel, or calls of what `stacks` (or NULL) has loops for, of
 * so many statements at most? A look before a copy is made. */
bool choose_is_possible(StackLoops *stacks, uint32_t budget, CoreBlock *b);
/* Adds the block's statements to *(uint32_t *)ctx. */
void choose_count(void *ctx, CoreBlock *b);

#endif
