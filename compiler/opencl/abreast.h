/* Lanes with memory that go side by side: which arrays of the heap, of which each lane has one of its own, are put into
 * the lanes' memory first, element by element side by side.
 *
 *     lane { … loop … for k < n do { x = index row k; … } }        row: one for each lane, read at the same places
 *
 * What an operation goes over, or what is read in a loop or an operation at places that all lanes have in common, so
 * that most of it is read at least once. And what branches hand on or, if lengths differ, the lane changes. */
#ifndef DPC_OPENCL_ABREAST_H
#define DPC_OPENCL_ABREAST_H

#include "core/lane.h"
#include "opencl/spread.h"

/* Opens the lane `s` and looks at it; without memory likewise. False: vectors cannot. table: what is known of
 * variables; known: of those bound in the lane, too, else nothing is taken for where it is read. To be closed in any
 * case. */
bool abreast_open(Lane *lane, const CoreFn *fn, const CoreStmt *s, const SpreadTable *table, bool known);

#endif
