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
typedef enum NestOf { NEST_OF_OPERATIONS, NEST_OF_LOOPS, NEST_OF_CALLS } NestOf;
static inline DpTuning dp_nest_param(NestOf of)
{
    return of == NEST_OF_CALLS ? PARAM_NEST_CALLS : of == NEST_OF_LOOPS ? PARAM_NEST_LOOPS : PARAM_NEST_LANES;
}

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
