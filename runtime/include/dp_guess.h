/* "Did you mean": the candidate at the smallest edit distance from a word, if that is small for its length. */
#ifndef DP_GUESS_H
#define DP_GUESS_H

#include <stdint.h>

typedef struct DpGuess {
    const char *wanted, *best; /* best: NULL if there is none; borrowed from the caller, as is wanted */
    uint32_t distance;
} DpGuess;
DpGuess dp_guess_start(const char *wanted);
void dp_guess_consider(DpGuess *g, const char *candidate);

#endif
