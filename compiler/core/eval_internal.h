/* Shared by the interpreter's files: core_eval.c (scalars, sequences, control) and eval_soac.c (parallel
 * operations). Every function that may fail returns false after filling Eval.error. */
#ifndef DPC_EVAL_INTERNAL_H
#define DPC_EVAL_INTERNAL_H

#include "core/core_eval.h"
#include "core/last_use.h"

typedef struct Eval {
    const CoreProgram *program;
    const LastUse *uses;
    Arena *arena;        /* values */
    EvalError *error;
    uint64_t work;
    uint64_t allocated;  /* bytes of sequences so far */
    uint32_t depth;      /* calls under way */
    uintptr_t stack_end; /* the C stack must not grow below this address */
} Eval;

/* The variables of one call under way. */
typedef struct Frame {
    const CoreFn *fn;
    CoreValue *vars;
} Frame;

bool eval_fail(Eval *e, uint32_t site, Span span, int64_t v0, int64_t v1, int64_t v2);
bool eval_fail_text(Eval *e, Span span, const char *text);

/* Reads an operand for the moment: nothing that outlives the statement may keep the result. */
CoreValue eval_peek(const Frame *f, CoreAtom a);
/* Reads an operand to keep it. The value is owned only if this is the variable's last use. */
CoreValue eval_take(Eval *e, Frame *f, const CoreAtom *a);
/* A new sequence of n elements, owned, zeroed. Fails when there is not enough memory. */
bool eval_new_seq(Eval *e, Span span, CoreType type, uint64_t n, CoreValue *out);
/* Makes *seq owned, by copying its elements if need be. */
bool eval_make_owned(Eval *e, Span span, CoreValue *seq);
CoreValue eval_load(const CoreValue *seq, uint64_t i);
void eval_store(CoreValue *seq, uint64_t i, CoreValue value);

bool eval_block(Eval *e, Frame *f, const CoreBlock *b, CoreValue *results);
/* MAP, REDUCE, SCAN, SCATTER, HIST. */
bool eval_soac(Eval *e, Frame *f, const CoreStmt *s);
bool eval_argsort(Eval *e, Frame *f, const CoreStmt *s);

#endif
