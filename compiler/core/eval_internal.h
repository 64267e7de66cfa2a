/* Shared by the interpreter's files: core_eval.c (scalars, sequences, control), eval_soac.c (parallel
 * operations) and eval_storage.c (memory). Every function that may fail returns false after filling Eval.error. */
#ifndef DPC_EVAL_INTERNAL_H
#define DPC_EVAL_INTERNAL_H

#include "core/eval_budget.h"
#include "core/last_use.h"

/* The variables of one call under way. */
typedef struct Frame Frame;
struct Frame {
    const CoreFn *fn;
    CoreValue *vars; /* zeroed */
    Frame *caller;
};

/* Values that only C code holds while blocks run. */
typedef struct Roots Roots;
struct Roots {
    const CoreValue *values;
    uint32_t n;
    const Roots *outer;
};

typedef struct Eval {
    const CoreProgram *program;
    const LastUse *uses;
    EvalError *error;
    EvalBudget budget;
    const EvalObserver *observer; /* or NULL */
    struct Trace *trace;          /* or NULL: what the observer writes */
    uint64_t work;
    uint64_t copied;             /* elements, by the statement under way */
    struct CoreStorage *storage; /* all arrays */
    Frame *frame;
    const Roots *roots;
    uint32_t depth;      /* calls under way */
    bool gave_up;        /* a lane, since FITTED was asked */
    uintptr_t stack_end; /* the C stack must not grow below this address */
} Eval;

bool eval_fail(Eval *e, uint32_t site, Span span, int64_t v0, int64_t v1, int64_t v2);
bool eval_fail_text(Eval *e, EvalErrorKind kind, Span span, const char *text);
bool eval_fail_memory(Eval *e, Span span, uint64_t bytes);

/* Reads an operand for the moment: nothing that outlives the statement may keep the result. */
CoreValue eval_peek(const Frame *f, CoreAtom a);
/* Reads an operand to keep it. The value is owned only if this is the variable's last use. */
CoreValue eval_take(Eval *e, Frame *f, const CoreAtom *a);
/* A new sequence of n elements, owned, zeroed. Fails when there is not enough memory. What neither a variable nor Roots
 * hold may be collected here. */
bool eval_new_seq(Eval *e, Span span, CoreType type, uint64_t n, CoreValue *out);
/* Makes *seq owned, by copying its elements if need be. */
bool eval_make_owned(Eval *e, Span span, CoreValue *seq);
CoreValue eval_load(const CoreValue *seq, uint64_t i);
void eval_store(CoreValue *seq, uint64_t i, CoreValue value);

/* Counts a step of work; false when the time is up, at the statement under way. */
bool eval_tick(Eval *e);
bool eval_block(Eval *e, Frame *f, const CoreBlock *b, CoreValue *results);
/* A block of the statement, as an observer sees it. */
bool eval_part(Eval *e, Frame *f, const CoreStmt *s, EvalPart part, uint64_t index, const CoreBlock *b,
               CoreValue *results);
/* MAP, REDUCE, SCAN, SCATTER, HIST. */
bool eval_soac(Eval *e, Frame *f, const CoreStmt *s);
bool eval_argsort(Eval *e, Frame *f, const CoreStmt *s);

/* ---- eval_trace.c: what a trace has before the run, of it, and behind it ---- */
void eval_trace_program(Eval *e);
EvalObserver eval_trace_observer(Eval *e);
void eval_trace_end(Eval *e, bool ok, const CoreValue *results, uint32_t n);

/* ---- eval_storage.c ---- */
void storage_begin(Eval *e, const EvalLimits *limits);
void storage_free_all(Eval *e);
/* The value in the arena, as far as it is the evaluator's. */
CoreValue eval_copy_out(Arena *arena, const CoreValue *v);

#endif
