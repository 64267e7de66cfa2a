/* Work and span of a run, counted while the core interpreter runs the program as it is written (STAGE_ELABORATED): by
 * statement, line and definition. The rules, for statements in order (docs/language.md says them of the language):
 *
 *     prim, index, slice                work 1                     span 1
 *     atom, length, check, if, loop     that of what they evaluate; nothing of their own, and so for calls
 *     array of k items                  1 + k                      1
 *     flatten to n elements             1 + n                      1
 *     update                            1 + elements copied        1
 *     argsort, n elements               1 + n ceil(log n) k + n c  1 + ceil(log n)        k keys, c columns
 *     rows' lengths, n rows             1 + n                      1 + ceil(log n)
 *     map over n elements               1 + n + sum of bodies      1 + longest body
 *       with a guard                    + sum of guards            + longest guard + ceil(log n)
 *     reduce, scan                      1 + bodies + operators     1 + longest body + ceil(log n) longest operator
 *     accumulate, histogram of m        1 + n + copied or m + bodies + operators    as reduce
 *     scatter                           1 + n + copied + bodies    1 + longest body
 *
 * A block's work and span are the sums of its statements'. In a parallel operation the longest instance counts; it is
 * its statements that the spans of lines are made of, so that these add up to the span of the run. */
#ifndef DPC_METER_H
#define DPC_METER_H

#include "core/core_eval.h"

typedef struct MeterLine {
    uint32_t file, line;
    uint64_t times; /* how often the statement of the line that was executed most */
    uint64_t work;
    uint64_t span; /* its part of the longest chain */
} MeterLine;

/* A definition; of one that was specialised, all versions. */
typedef struct MeterDef {
    const CoreFn *fn; /* the first version */
    uint64_t calls;
    uint64_t work, own_work; /* with that of what it calls (of recursive ones: of outermost calls); without */
    uint64_t span;           /* of the longest call */
} MeterDef;

typedef struct Meter Meter;
/* For one run of core_eval on the program, which outlives it. */
Meter *meter_create(const CoreProgram *p);
void meter_destroy(Meter *m);
EvalObserver meter_observer(Meter *m);

/* After a run that has succeeded. Lines by file and line, definitions in the program's order; *n of them. Those that
 * were not reached are left out. */
uint64_t meter_work(const Meter *m);
uint64_t meter_span(const Meter *m);
const MeterLine *meter_lines(Meter *m, uint32_t *n);
const MeterDef *meter_defs(Meter *m, uint32_t *n);

/* The logarithm to base 2, rounded up; of 0 and 1 it is 0. */
uint32_t meter_log(uint64_t n);

#endif
