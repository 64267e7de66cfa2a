/* Tuning parameters: the table is params.def. A runtime has a value of each from when its device is chosen; it does not
 * change. `--param NAME=VALUE` and, before it, the variable DP_PARAMS ("NAME=VALUE,...") override. */
#ifndef DP_PARAMS_H
#define DP_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum DpTuning {
#define NUMBER(id, ...) PARAM_##id,
#define CHOICE(id, ...) PARAM_##id,
#include "params.def"
    PARAM_COUNT
} DpTuning;

typedef enum NestChoice { NEST_AUTO, NEST_FLAT, NEST_LANE } NestChoice; /* the words of PARAM_NEST and PARAM_LOOPS */

/* What the flattened version would be, of two versions of code that each instance may execute in a lane: parallel
 * operations, rounds of a loop, levels of a recursion. The parameter that decides between them. */
typedef enum NestOf {
    NEST_OF_OPERATIONS,
    NEST_OF_LOOPS,
    NEST_OF_STEPS, /* rounds of scalar code and updates only */
    NEST_OF_TRIES, /* of other loops; the lane counts what it does, and may leave it to launches */
    NEST_OF_CALLS,
    NEST_OF_CHAINS,  /* calls that wait for others, so that levels are no measure of the launches */
    NEST_OF_COLUMNS, /* reductions of columns, side by side in memory */
    NEST_OF_VECTORS  /* operations whose lengths are all constants, and which tiles could do, or which give arrays */
} NestOf;
/* Which positions stay as they are where a map writes over what it reads: those that compare so with a bound. */
typedef enum MapStays { STAYS_NONE, STAYS_BELOW, STAYS_UP_TO, STAYS_FROM, STAYS_ABOVE } MapStays;
static inline DpTuning dp_nest_param(NestOf of)
{
    switch (of) {
    case NEST_OF_LOOPS: return PARAM_NEST_LOOPS;
    case NEST_OF_STEPS: return PARAM_NEST_STEPS;
    case NEST_OF_TRIES: return PARAM_NEST_TRIES;
    case NEST_OF_CALLS: return PARAM_NEST_CALLS;
    case NEST_OF_CHAINS: return PARAM_NEST_CHAINS;
    case NEST_OF_COLUMNS: return PARAM_NEST_COLUMNS;
    case NEST_OF_VECTORS: return PARAM_NEST_VECTORS;
    default: return PARAM_NEST_LANES;
    }
}

/* What a lane with memory is: each instance of a nest; the same, but it counts what it does; likewise, where rounds are
 * maps, of which a GPU does large ones by launches, however many instances there are; a loop at depth 0. */
typedef enum LaneOf { LANE_OF_NEST, LANE_OF_TRY, LANE_OF_ROUNDS, LANE_OF_LOOP } LaneOf;
/* On a CPU so many elements of a lane's operation cost as much as one, where they go by vectors (vector_inside). */
enum { DP_LANE_WIDE = 4 };
static inline bool dp_lane_counts(uint32_t of) { return of == LANE_OF_TRY || of == LANE_OF_ROUNDS; }

/* What was asked for, of any device. */
typedef struct DpTunings {
    bool set[PARAM_COUNT];
    uint64_t value[PARAM_COUNT];
} DpTunings;

/* "NAME=VALUE,...", on top of what is set; NULL: nothing. False and a message, with a guess, if it is another. */
bool dp_params_read(DpTunings *p, const char *text, char *error, size_t error_bytes);
/* The value: as set, else the default of the shape. */
uint64_t dp_params_value(const DpTunings *p, DpTuning id, bool gpu);
/* Its name, and the values to measure, with blanks between. */
const char *dp_params_name(DpTuning id);
const char *dp_params_tries(DpTuning id);
/* "NAME=VALUE" */
void dp_params_print_setting(DpTuning id, uint64_t value, char *text, size_t bytes);
/* The word that a choice has; of a number NULL. */
const char *dp_params_word(DpTuning id, uint64_t value, size_t *length);

#endif
