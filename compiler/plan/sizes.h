/* Sizes as text: how many instances a context has, as a formula of the lengths of what the function is given.
 *
 *     { sum { v * x[j] : (j, v) in row } : row in rows }     length(rows), and sum(length(row))
 *     { { f i j : j in m } : i in n }                        n * m
 *     { x in xs | x > 0 }                                    at most length(xs)
 *
 * What is not known by such a formula is its variable's name, or "?". */
#ifndef DPC_PLAN_SIZES_H
#define DPC_PLAN_SIZES_H

#include "flat/flat.h"

typedef struct Sizes {
    Arena *arena; /* of the texts */
    const FlatFn *fn;
    const FlatStmt **def; /* by variable: the statement that binds it, or NULL */
} Sizes;

Sizes sizes_of(Arena *arena, const FlatFn *fn);
/* Of a HOST scalar. */
const char *sizes_scalar(const Sizes *z, FlatVar v);
/* Of a context, or of depth 0: "1". */
const char *sizes_context(const Sizes *z, FlatVar ctx);
/* Has each segment of the context, and of those above it, as many instances as the others? */
bool sizes_regular(const Sizes *z, FlatVar ctx);
/* "a * b", without factors of 1. */
const char *sizes_product(const Sizes *z, const char *a, const char *b);

#endif
