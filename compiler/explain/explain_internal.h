/* Shared by explain.c, which collects, and page.c, which writes. */
#ifndef DPC_EXPLAIN_INTERNAL_H
#define DPC_EXPLAIN_INTERNAL_H

#include "explain/explain.h"
#include "support/marks.h"
#include "trace/trace.h"

typedef struct ExplainedStage {
    Stage stage;
    const char *text;
    size_t bytes;       /* of the text */
    uint32_t lines_cut; /* behind it */
    TextMarks marks;
} ExplainedStage;

typedef struct ExplainedPass {
    const char *name, *level; /* level: what is printed, "core" */
    bool is_left_out;         /* the budget for lines was over */
    VEC(uint32_t) lines;      /* in Explanation.lines */
} ExplainedPass;

typedef enum ExplainedRun { RUN_CORE, RUN_FLAT, EXPLAINED_RUNS } ExplainedRun;

struct Explanation {
    Arena *arena;
    Compilation *c;
    VEC(ExplainedStage) stages;
    VEC(ExplainedPass) passes;
    VEC(Name) lines;
    PtrMap line_numbers; /* + 1 */
    size_t line_bytes;
    StrBuf remarks;         /* JSON, an object a line */
    StrBuf formulas, meter; /* JSON: work and span as formulas; as counted */
    Trace traces[EXPLAINED_RUNS];
    const CoreEntry *entry; /* what was run, or NULL */
    const char *input;      /* as it is shown */
    const char *result;     /* NULL: none, or the run has failed */
};

#endif
