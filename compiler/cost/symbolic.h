/* Work and span of every definition as formulas of the sizes of its parameters: the rules of the meter (meter.h)
 * applied to sizes instead of values, in core as the program is written. Lengths come from what the kinds of statements
 * say of them (kinds.def) and from the checks that have been passed. What the sizes of the parameters do not tell has a
 * name: how many elements a filter keeps, how many rounds a loop has, a number that the program computes. Nothing is
 * guessed, and a recurrence stays one: the cost of a recursive call is a factor. How it grows is said where the
 * recurrence is simple (recurrence.h). Of branches the larger one counts, so that the formula is a bound; where it is
 * none but what is counted, `exact` says so (for the span: where no sequence is empty). */
#ifndef DPC_SYMBOLIC_H
#define DPC_SYMBOLIC_H

#include "cost/formula.h"
#include "cost/recurrence.h"

/* A sequence's sizes, by depth: how many elements there are at it in all, and in one of the sequences one less deep. */
typedef struct Shape Shape;
struct Shape {
    uint32_t rank;
    const Formula **total;   /* total[0]: its length */
    const Formula **longest; /* longest[0] is unused */
    const Shape **items;     /* of its elements, if these are known one by one; else NULL */
    uint32_t nitems;
};

typedef enum Owned {
    OWNED_NO,
    OWNED_MAYBE,
    OWNED_YES
} Owned; /* as in core_eval.h: is it the only value of its storage? */

typedef struct Known {
    const Formula *value; /* of an integer */
    const Shape *shape;   /* of a sequence */
    Owned owned;
} Known;

typedef struct FnCost {
    const CoreFn *fn;
    Known *params, *results;
    Symbol **sizes; /* those of the parameters, in order: an argument each of a call that is a factor */
    uint32_t nsizes;
    const Formula *work, *span; /* NULL: not yet known */
    bool work_exact, span_exact;
    bool recursive; /* calls of it stay factors */
    Solved solved;  /* how they grow */
} FnCost;

/* By CoreFn.index; in the arena, as long as the program. */
FnCost *symbolic_costs(const CoreProgram *p, Arena *arena);

#endif
