/* A recursion in parallel code that gets nowhere: `f` on [] calls itself on [] twice, and so each level has twice as many instances
 * and nothing is new in any of them. Depth would end it after 2^20000 calls, memory after a minute. But if a call of a
 * function for a set of arguments needs a call of it for just the same set, it never ends: programs are deterministic. So at
 * some levels (4, 8, 16 …) the distinct arguments are noted, and at the next they are compared.
 *
 * Scalars are compared bit by bit; arrays only as far as they are empty: one that is not counts as something new. */
#ifndef DP_PROGRESS_H
#define DP_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A parameter's values, one per instance: `bytes` wide, or views {length, address}. */
typedef struct DpArguments { const void *values; uint32_t bytes; bool views; } DpArguments;

enum { DP_DISTINCT = 16, DP_ARGUMENT_BYTES = 256 };
typedef struct DpProgress {
    const void *function; /* whose arguments are noted: a name or anything else that is its own; NULL: none are */
    uint32_t level, n;    /* n distinct rows of `bytes` bytes */
    size_t bytes;
    unsigned char rows[DP_DISTINCT][DP_ARGUMENT_BYTES];
} DpProgress;

/* Are the arguments of this level looked at? The first is level 1. */
static inline bool dp_progress_due(uint32_t level)
{
    return level >= 4 && ((level & (level - 1)) == 0 || ((level - 1) & (level - 2)) == 0);
}

/* The distinct arguments of n instances, to *to. False if there are too many, or arrays that are not empty. */
bool dp_arguments_distinct(DpProgress *to, const DpArguments *arguments, uint32_t count, uint64_t n);

/* Called for each level that is due. True if the function is called just as it was at the level above, by which it is called. */
bool dp_progress_stuck(DpProgress *p, const void *function, uint32_t level, const DpArguments *arguments, uint32_t count,
                       uint64_t n);

#endif
