/* Lists that grow at their head and share their tails, as scopes do: is an entry in a list? In logarithmic time, since
 * each entry also knows one further down (Myers, "An applicative random-access stack", 1983).
 *
 * With it a table of the latest entry of each name answers most lookups in scopes of thousands of names: the latest
 * one, if it is in the list at hand, is the nearest one. */
#ifndef DPC_LINEAGE_H
#define DPC_LINEAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Lineage {
    const struct Lineage *next, *jump;
    uint32_t depth; /* how many entries the list has; the last one's is 1 */
} Lineage;

/* An entry in front of the list `next`, NULL for none. */
static inline Lineage lineage_before(const Lineage *next)
{
    if (!next)
        return (Lineage){NULL, NULL, 1};
    const Lineage *jump = next->jump;
    uint32_t steps = next->depth - (jump ? jump->depth : 0);
    uint32_t below = jump ? jump->depth - (jump->jump ? jump->jump->depth : 0) : 0;
    return (Lineage){next, jump && steps == below ? jump->jump : next, next->depth + 1};
}

static inline bool lineage_has(const Lineage *list, const Lineage *entry)
{
    while (list && list->depth > entry->depth)
        list = list->jump && list->jump->depth >= entry->depth ? list->jump : list->next;
    return list == entry;
}

#endif
