/* What the passes that open branches share. */
#ifndef DPC_OPEN_BRANCHES_H
#define DPC_OPEN_BRANCHES_H

#include "core/core.h"

/* Moves the block's parallel operations, and what they need of the block, to the end of `out`. defs: by variable, what
 * binds it, or NULL. */
void open_move_out(const CoreProgram *p, CoreStmt **defs, CoreBlock *b, CoreBlock *out);

#endif
