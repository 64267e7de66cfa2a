/* Limits of evaluation that the interpreters and the devices have in common, and the words in which they are reported.
 */
#ifndef DP_LIMITS_H
#define DP_LIMITS_H

#include <stddef.h>
#include <stdint.h>

enum {
    /* Levels of recursion in parallel code, and all levels of the interpreters. A level on a device launches kernels,
     * so that a recursion without an end is noticed after seconds; in host code a level costs next to nothing, and only
     * its stack ends it (runtime/error.c). */
    DP_MAX_LEVELS = 20000,
    /* Of a recursion that is a loop (compiler/core/linear_loops.c), or one with a stack (stack_threads.c). */
    DP_MOST_ROUNDS = 1 << 22,
    DP_MOST_FRAMES = 1 << 20,
    DP_MEMORY_TEXT = 160,
    DP_LEVEL_TEXT = 120
};

#define DP_TOO_DEEP "recursion too deep"
/* What an operation goes over without storing it, a sum for example, has no limit but time; beyond so many elements,
 * days on any device, that limit is no honest answer. */
#define DP_MAX_COUNTED (UINT64_C(1) << 48)
#define DP_UNKNOWN_BYTES UINT64_MAX

/* "out of memory: 1.1 GB requested, 0.9 GB free of 4.3 GB"; `free` may be DP_UNKNOWN_BYTES. */
void dp_memory_text(char to[DP_MEMORY_TEXT], uint64_t requested, uint64_t free, uint64_t all);
/* "too many elements: 5000000000 in one operation, at most 4294967295 are numbered": `what` is done with them. */
void dp_elements_text(char to[DP_MEMORY_TEXT], uint64_t n, uint64_t most, const char *what);
/* ", in level 25 of the recursion of f"; for level 0 nothing. */
void dp_level_text(char to[DP_LEVEL_TEXT], uint32_t level, const char *function);

#endif
