/* Places that are sums and multiples of what loops and parallel operations count: `base`, and of each counter so many
 * times its value, modulo 2^64, as places are computed. One comparison says of all rounds whether a place is in bounds.
 */
#ifndef DPC_PLACES_H
#define DPC_PLACES_H

#include "core/build.h"

/* PLACES_TERMS: counters that a place is made of; PLACES_DEPTH: of the sums and products that it is. */
enum { PLACES_TERMS = 4, PLACES_DEPTH = 8 };

/* What is known where the comparison is to stand. */
typedef struct PlaceScope {
    void *ctx;
    bool (*is_outside)(void *ctx, CoreAtom a);            /* the same in all rounds */
    const CoreAtom *(*counted_to)(void *ctx, CoreAtom a); /* of a counter: below what it stays; else NULL */
    const CoreStmt *(*def)(void *ctx, CoreAtom a);        /* what binds it, or NULL */
} PlaceScope;

typedef struct Place {
    CoreAtom base;
    struct PlaceTerm {
        CoreVar counter;
        CoreAtom count, factor;
    } terms[PLACES_TERMS];
    uint32_t n;
} Place;

/* Emits what it takes. False: the value is no such place. */
bool place_of(const PlaceScope *scope, CoreBuilder *b, Place *place, CoreAtom value);
/* Adds `factor` times the value to the place. */
bool place_add(const PlaceScope *scope, CoreBuilder *b, Place *place, CoreAtom value, CoreAtom factor);
/* Just a counter. */
bool place_is_counter(const Place *place);
/* How far the place goes above its base and below it: sizes, each in some round if all counters have any. */
typedef struct Reach {
    CoreAtom above, below;
} Reach;
Reach place_reach(CoreBuilder *b, const Place *place);

/* Sums and products, of constants at once. */
bool place_is_value(CoreAtom a, int64_t value);
CoreAtom place_plus(CoreBuilder *b, CoreAtom x, CoreAtom y);
CoreAtom place_times(CoreBuilder *b, CoreAtom x, CoreAtom y);
CoreAtom place_size_plus(CoreBuilder *b, CoreAtom x, CoreAtom y);

#endif
