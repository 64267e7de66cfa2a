/* Where two values differ: one line for each part, with its place in the value.
 *
 *     at [3].x: expected 4, got 5
 *     at [2]: expected 3 elements, got 4
 *     at [0].#some: expected 0.5, got 0.25 (relative error 0.5)
 *     at .name: expected "left", got "right"
 *
 * Texts [u8] are one part; so are sums whose constructors differ. Sequences of different lengths are compared as far
 * as both go. */
#ifndef DPC_VALUE_DIFF_H
#define DPC_VALUE_DIFF_H

#include "testing/value_tree.h"

/* What floats may differ by, relatively: operators given to reduce and scan may be re-associated. */
#define TOLERANCE_F32 1e-4
#define TOLERANCE_F64 1e-9

/* Appends the first `lines` differences, each on its line, indented by `indent` blanks, and the count of others;
 * returns how many there are. */
uint64_t value_diff(StrBuf *out, const DpType *t, const Tree *expected, const Tree *got, uint32_t lines, int indent);

/* Appends only where the first difference is: "at [3].x", "in its length", "in the length of [2]"; nothing if the
 * values are scalars. Returns whether there is one. */
bool value_diff_place(StrBuf *out, const DpType *t, const Tree *expected, const Tree *got);

#endif
