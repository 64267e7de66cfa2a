/* Sets of small numbers as bits, all of one size. Those that nobody has any more are used again, so that there are as
 * many as are in use at once. */
#ifndef DPC_SETS_H
#define DPC_SETS_H

#include "support/arena.h"

#include <string.h>

typedef uint64_t *Set;

typedef struct Sets {
    Arena *arena;
    uint32_t words; /* of 64 numbers, in each set */
    VEC(Set) spare;
} Sets;

static inline Sets sets_of(Arena *arena, uint32_t numbers)
{
    return (Sets){.arena = arena, .words = (numbers + 63) / 64};
}

static inline Set set_new(Sets *l)
{
    if (l->spare.n == 0)
        return arena_array(l->arena, uint64_t, l->words + 1);
    return memset(l->spare.at[--l->spare.n], 0, l->words * sizeof(uint64_t));
}

static inline void set_drop(Sets *l, Set s) { vec_push(l->arena, &l->spare, s); }

/* What `to` has is lost. */
static inline void set_assign(const Sets *l, Set to, const uint64_t *from) { memcpy(to, from, l->words * sizeof *to); }

static inline Set set_copy(Sets *l, const uint64_t *from)
{
    Set s = set_new(l);
    set_assign(l, s, from);
    return s;
}

static inline bool set_has(const uint64_t *s, uint32_t i) { return (s[i / 64] >> (i % 64)) & 1; }
static inline void set_add(Set s, uint32_t i) { s[i / 64] |= (uint64_t)1 << (i % 64); }
static inline void set_remove(Set s, uint32_t i) { s[i / 64] &= ~((uint64_t)1 << (i % 64)); }

/* to |= a & ~b; b: NULL for the empty set */
static inline void set_unite(const Sets *l, Set to, const uint64_t *a, const uint64_t *b)
{
    for (uint32_t i = 0; i < l->words; i++)
        to[i] |= a[i] & (b ? ~b[i] : ~(uint64_t)0);
}

static inline void set_subtract(const Sets *l, Set from, const uint64_t *s)
{
    for (uint32_t i = 0; i < l->words; i++)
        from[i] &= ~s[i];
}

#endif
