/* Random arguments for a function, of its parameters' types and sizes.
 *
 * The numbers come from SplitMix64 (a counter, mixed), started from the seed, the function's name and the case's
 * number: so every case can be made again, whatever was made before it. Cases grow: the first has empty sequences and
 * numbers near zero, the last tenth sequences of up to 300 elements, longer than a work-group. In half of the cases
 * some scalars are extreme: the least and the largest, and nan and inf. Some sequences have their elements from a few
 * values, so that elements are equal; most texts are made of letters, digits and white space. */
#ifndef DPC_VALUE_RANDOM_H
#define DPC_VALUE_RANDOM_H

#include "testing/sizes.h"

typedef struct RandomCase {
    uint64_t seed;
    const char *name;       /* of the function */
    uint32_t number, count; /* 0-based, of how many */
} RandomCase;

/* s->nparams values. */
Tree *random_arguments(Arena *arena, const Signature *s, RandomCase which);

#endif
