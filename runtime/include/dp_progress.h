/* A recursion in parallel code that gets nowhere: `f` on [] calls itself on [] twice, and so each level has twice as
 * many instances and nothing is new in any of them. Depth would end it after 2^20000 calls, memory after a minute. But
 * if a call of a function for a set of arguments needs a call of it for just the same set, it never ends: programs are
 * deterministic. So at some levels (4, 8, 16 …) the distinct arguments are noted, and at the next they are compared:
 * looking at them makes a device wait, so the first levels are looked at only where they have many instances already.
 *
 * Scalars are compared bit by bit, small arrays of scalars by their contents; another array that is not empty counts as
 * something new. */
#ifndef DP_PROGRESS_H
#define DP_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A parameter's values, one per instance: `bytes` wide, or, where elements have bytes, views {length, address}.
 * An element is a scalar (1, 2, 4 or 8 bytes) or a view itself (DP_VIEW_BYTES). */
enum { DP_VIEW_BYTES = 16 };
typedef struct DpArguments {
    const void *values;
    uint32_t bytes, element_bytes;
} DpArguments;

/* Copies `bytes` bytes at a view's address to `to`. */
typedef void DpFetch(void *data, uint64_t address, uint64_t bytes, void *to);

enum { DP_DISTINCT = 16, DP_ARGUMENT_BYTES = 256 };
typedef struct DpProgress {
    const void *function; /* whose arguments are noted: a name or anything else that is its own; NULL: none are */
    uint32_t level, n;    /* n distinct rows */
    DpFetch *fetch;
    void *fetch_data;
    size_t bytes[DP_DISTINCT];
    unsigned char rows[DP_DISTINCT][DP_ARGUMENT_BYTES];
} DpProgress;

enum { DP_PROGRESS_LEVEL = 16, DP_PROGRESS_MANY = 4096 /* instances */ };

static inline bool dp_progress_first(uint32_t level) { return (level & (level - 1)) == 0; }

/* Are the arguments of this level of the function, with n instances, looked at? The first is level 1. Levels that are
 * powers of two are, and each level behind one that had few. */
static inline bool dp_progress_due(const DpProgress *p, const void *function, uint32_t level, uint64_t n)
{
    if (p->function == function && p->level + 1 == level && dp_progress_first(p->level))
        return true;
    return dp_progress_first(level) && (level >= DP_PROGRESS_LEVEL || (level >= 4 && n >= DP_PROGRESS_MANY));
}

/* The distinct arguments of n instances, to *to, whose `fetch` is set. False if there are too many, or too large
 * arrays. */
bool dp_arguments_distinct(DpProgress *to, const DpArguments *arguments, uint32_t count, uint64_t n);

/* Called for each level that is due, with p->fetch set. True if the function is called just as it was at the level
 * above, by which it is called. */
bool dp_progress_stuck(DpProgress *p, const void *function, uint32_t level, const DpArguments *arguments,
                       uint32_t count, uint64_t n);

#endif
