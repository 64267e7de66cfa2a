/* A table by number, such as one by variable of a function, of which few entries are used: a page of it is made, with
 * zeros, when one of its entries is asked for first. So a look at a small part of a large function does not take the
 * time of all of it. */
#ifndef DPC_PAGED_H
#define DPC_PAGED_H

#include "support/arena.h"

enum { PAGED_ENTRIES = 64 };

typedef struct PagedTable {
    Arena *arena;
    void **pages;
    size_t bytes; /* of an entry */
} PagedTable;

static inline PagedTable paged_create(Arena *arena, uint32_t n, size_t bytes)
{
    return (PagedTable){arena, arena_array(arena, void *, n / PAGED_ENTRIES + 1), bytes};
}

/* Entry i, of n. It stays where it is. */
static inline void *paged_at(const PagedTable *t, uint32_t i)
{
    void **page = &t->pages[i / PAGED_ENTRIES];
    if (!*page)
        *page = arena_array(t->arena, char, PAGED_ENTRIES * t->bytes);
    return (char *)*page + i % PAGED_ENTRIES * t->bytes;
}

#endif
