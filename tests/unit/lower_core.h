/* What the driver's table has between fusion and flattening. */
#ifndef LOWER_CORE_H
#define LOWER_CORE_H

#include "core/passes.h"

static inline void lower_core(CoreProgram *p)
{
    bool rows = core_lower_rows(p), operators = core_lower_operators(p);
    if (operators)
        core_merge_recursion(p);
    if (rows || operators) {
        core_fuse(p);
        core_simplify(p);
    }
    core_mask_updates(p);
    core_lower_loops(p);
}

#endif
