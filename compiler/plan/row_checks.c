/* Which reductions ask whether all rows of a host array have one length, as core/lower_rows.c makes them:
 *
 *     reduce (row <- xs) { m = length row; e = eq m n; w = select e -1 m; -> w } max -1
 *
 * The runtime often knows that, and then nothing is launched. */
#include "plan/plan.h"

static const FlatInput *input_of(const FlatInputs *inputs, CoreAtom a)
{
    for (uint32_t i = 0; !a.is_const && i < inputs->n; i++)
        if (inputs->at[i].as == a.var)
            return &inputs->at[i];
    return NULL;
}

static bool is_number(CoreAtom a, uint64_t bits) { return a.is_const && a.bits == bits; }

static bool is_var(CoreAtom a, const CoreStmt *def) { return !a.is_const && a.var == def->vars[0]; }

/* The greatest of i64, none being -1. */
static bool takes_greatest(const FlatOp *op)
{
    const CoreBlock *b = op->op.body;
    return op->k == 1 && is_number(op->neutral[0], UINT64_MAX) && b->stmts.n == 1 &&
           core_as_prim(b->stmts.at[0], PRIM_MAX) && is_var(b->results[0], b->stmts.at[0]);
}

bool plan_is_row_check(const PlanKernel *k, PlanRowCheck *check)
{
    const FlatInputs *inputs = &k->stmt->body.inputs;
    const CoreBlock *b = k->stmt->body.block;
    CoreStmt *const *at = b->stmts.at;
    if (k->kind != PLAN_REDUCE || b->stmts.n != 3 || at[0]->kind != CORE_LENGTH || at[1]->kind != CORE_PRIM ||
        at[1]->prim.op != PRIM_EQ || at[2]->kind != CORE_PRIM || at[2]->prim.op != PRIM_SELECT ||
        !is_var(b->results[0], at[2]) || !takes_greatest(&k->stmt->reduce.op))
        return false;
    const CoreAtom *eq = at[1]->prim.args, *select = at[2]->prim.args;
    const bool first = is_var(eq[0], at[0]);
    const FlatInput *row = input_of(inputs, at[0]->length.array), *size = input_of(inputs, eq[first]);
    *check = (PlanRowCheck){.size = eq[first]};
    if (!first && !is_var(eq[1], at[0]))
        return false;
    if (!is_var(select[0], at[1]) || !is_number(select[1], UINT64_MAX) || !is_var(select[2], at[0]))
        return false;
    if (!row || row->kind != IN_ELEM || row->ctx != k->stmt->body.ctx || k->fn->vars.at[row->var].kind != FLAT_HOST)
        return false;
    check->rows = row->var;
    check->host_size = size ? size->var : FLAT_NO_VAR;
    return size ? size->kind == IN_HOST : eq[first].is_const;
}
