/* Making a failing input smaller.
 *
 * A step tries simpler arguments one after another until one is taken: shorter sequences first (halves, quarters, …
 * single elements; those that share a size all at once, with the integer that names it), then simpler constructors,
 * then simpler scalars (of equal ones all at once, then each alone). Integers go towards 0, from negative to positive;
 * floats from nan and inf to fractions, to fewer digits, to integers, towards 0; characters to `a`. All that is tried
 * has the right sizes.
 *
 * Each candidate is simpler than what it is made from in one well-founded order (elements, constructors, scalars), so
 * repeated steps end: at arguments of which no candidate is taken, a local minimum. */
#ifndef DPC_VALUE_SHRINK_H
#define DPC_VALUE_SHRINK_H

#include "testing/sizes.h"

typedef enum ShrinkVerdict { SHRINK_NEXT, SHRINK_TAKE, SHRINK_STOP } ShrinkVerdict;
/* Judges a candidate, which lives only until it returns. */
typedef ShrinkVerdict ShrinkJudge(void *data, const Tree *args);

/* One step; true if a candidate was taken: args are changed to it. */
bool shrink_step(Arena *arena, const Signature *s, Tree *args, ShrinkJudge *judge, void *data);

/* Is the scalar b simpler than a, in that order? text: of a [u8]. */
bool scalar_is_simpler(DpScalar s, bool text, uint64_t b, uint64_t a);

#endif
