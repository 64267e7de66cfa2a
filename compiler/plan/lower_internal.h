/* Inside lowering: what its files share. */
#ifndef DPC_PLAN_LOWER_INTERNAL_H
#define DPC_PLAN_LOWER_INTERNAL_H

#include "plan/plan.h"

#include "support/ptrmap.h"

typedef struct LengthForm LengthForm;
typedef struct Lower {
    Plan *plan;
    PlanFn *fn;
    const FlatFn *flat;
    PlanBlock *block;   /* where instructions go */
    Span span;          /* of the statement at hand */
    PlanOperand *vars;  /* by FlatVar: what stands for it */
    PlanOperand *cores; /* by core variable, within a host body */
    uint32_t here;      /* the place last named in these straight-line instructions, plus 1, or 0 */
    uint32_t nkernels;  /* in this function, so far */
    bool *positions;    /* by FlatVar: a context whose instances' positions are asked for */
    bool *single;       /* by FlatVar: a context of one instance */
    LengthForm **forms; /* by FlatVar: what its lengths are made of, or NULL (lower_totals.c) */
    bool *wanted;       /* by FlatVar: a column whose total shall be known */
    bool *ended;        /* by FlatVar: a column behind its last use */
    PtrMap *places;     /* where a place begins in the text -> those that are in plan->places */
} Lower;

/* ---- operands ---- */
PlanOperand lower_reg(Lower *w, PlanType type, CoreType core, const char *hint); /* a new one, of this block */
PlanOperand lower_scalar(Lower *w, Scalar s, const char *hint);
PlanOperand lower_like(Lower *w, PlanOperand o); /* a new one of the same type */
PlanOperand lower_new_var(Lower *w, FlatVar v);  /* a new one that stands for v from now on */
static inline PlanOperand lower_number(uint64_t n) { return (PlanOperand){.kind = OPERAND_NUMBER, .bits = n}; }
static inline PlanOperand lower_const(Scalar s, uint64_t bits)
{
    return (PlanOperand){.kind = OPERAND_CONST, .scalar = s, .bits = bits};
}
PlanOperand lower_list(Lower *w, uint32_t n); /* to be filled */
PlanOperand lower_vars(Lower *w, const FlatVar *vars, uint32_t n);
PlanOperand lower_new_vars(Lower *w, const FlatVar *vars, uint32_t n);
static inline const FlatVarInfo *lower_info(const Lower *w, FlatVar v) { return &w->flat->vars.at[v]; }
/* Of an element of the array or column. */
PlanType lower_type(const Lower *w, PlanOperand o);

/* ---- instructions ---- */
PlanInstr *lower_emit(Lower *w, PlanOp op, uint32_t n, const PlanOperand *args);
#define EMIT(w, OP, ...)                                                                                               \
    lower_emit((w), PLAN_OP_##OP, sizeof((PlanOperand[]){__VA_ARGS__}) / sizeof(PlanOperand),                          \
               (PlanOperand[]){__VA_ARGS__})
void lower_copy(Lower *w, PlanOperand to, PlanOperand from);
/* to = a op b, of operands of the type. */
void lower_prim(Lower *w, PlanOperand to, CorePrim op, PlanOperand a, PlanOperand b);
/* What an instruction begins: the one behind it awaits that. */
PlanOperand lower_pending(Lower *w);
/* sums: columns whose totals on both sides are wanted. */
void lower_split(Lower *w, PlanOperand ctx, PlanOperand cond, PlanOperand sums, PlanOperand yes, PlanOperand no);
/* Instructions go to a new block until lower_end. */
PlanBlock *lower_begin(Lower *w);
void lower_end(Lower *w, PlanBlock *outer);
/* The state's next values, at once. */
void lower_next_state(Lower *w, uint32_t n, const PlanOperand *params, const PlanOperand *values);

/* ---- lower_scalar.c: bodies at depth 0 ---- */
void lower_host(Lower *w, const FlatStmt *s);
void lower_array_root(Lower *w, const FlatStmt *s);

/* ---- lower_launch.c: statements with kernels ---- */
PlanOperand lower_refs_none(Lower *w);
/* The set and what elements of `of` after `depth` further indexings may point into: a new register. */
PlanOperand lower_refs_add(Lower *w, PlanOperand set, PlanOperand of, uint32_t depth);
void lower_launches(Lower *w, const FlatStmt *s);

/* ---- lower_lengths.c ---- */
/* Statement i of the block, if it is one of those of `nest` that go together; else false, and nothing is done. */
bool lower_lengths(Lower *w, const FlatBlock *b, uint32_t i);

/* ---- lower_totals.c ---- */
void lower_find_totals(Lower *w);               /* of the function */
void lower_totals(Lower *w, const FlatStmt *s); /* behind each statement's instructions */
/* The columns to be summed by the split that is statement i, and by those of the loop's rounds. */
PlanOperand lower_sums_of_split(Lower *w, const FlatBlock *b, uint32_t i);
PlanOperand lower_sums_of_state(Lower *w, const FlatStmt *loop);

/* ---- positions.c ---- */
bool *lower_positions(Arena *arena, const FlatFn *fn);

/* ---- lower_control.c ---- */
/* ok = nothing has failed yet. Afterwards the runtime's operations do nothing, and return what is empty; so code goes
 * on and releases what it holds, but its loops and recursions have to end. */
PlanOperand lower_running(Lower *w);
/* Ends the loop after a failure, too. ok: from before it. counted: it ends by itself. */
void lower_guard(Lower *w, PlanInstr *loop, PlanOperand ok, bool counted);
void lower_block(Lower *w, const FlatBlock *b);
void lower_if(Lower *w, const FlatStmt *s);
void lower_loop(Lower *w, const FlatStmt *s);
void lower_lifted_loop(Lower *w, const FlatStmt *s);
void lower_call(Lower *w, const FlatStmt *s);
void lower_call_lifted(Lower *w, const FlatStmt *s);

/* ---- lower.c ---- */
void lower_stmt(Lower *w, const FlatBlock *b, uint32_t i); /* statement i of the block */

#endif
