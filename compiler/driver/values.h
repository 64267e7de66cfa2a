/* Between the interpreters' values and the values outside the program (runtime/include/dp_value.h). */
#ifndef DPC_VALUES_H
#define DPC_VALUES_H

#include "core/core_eval.h"
#include "dp_value.h"

CoreValue value_of_leaf(Arena *arena, const DpLeaf *leaf);
/* Fills the leaf, freed with dp_leaves_free. */
void leaf_of_value(const CoreValue *v, DpLeaf *leaf);

#endif
