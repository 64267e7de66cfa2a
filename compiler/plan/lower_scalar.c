/* Scalar code at depth 0: core statements become instructions one by one. Views are arrays, which own references. */
#include "plan/lower_internal.h"

#include "plan/emit_text.h"

static CoreType atom_type(const Lower *w, CoreAtom a) { return core_atom_type(w->flat->scope, a); }

static PlanOperand operand(const Lower *w, CoreAtom a)
{
    return a.is_const ? lower_const(a.type.scalar, a.bits) : w->cores[a.var];
}

static PlanOperand new_core(Lower *w, CoreVar v)
{
    const CoreVarInfo *info = &w->flat->scope->vars.at[v];
    return w->cores[v] = lower_reg(w, info->type.rank > 0 ? PLAN_ARR : PLAN_SCALAR, info->type, info->hint);
}

static void lower_core_block(Lower *w, const CoreBlock *b);

/* ---- scalars ---- */

/* Arrays own something: a choice between two is a branch. */
static void lower_select_array(Lower *w, const CoreStmt *s)
{
    PlanOperand out = new_core(w, s->vars[0]);
    PlanInstr *in = EMIT(w, IF, operand(w, s->prim.args[0]));
    for (uint32_t i = 0; i < 2; i++) {
        PlanBlock *outer = lower_begin(w);
        in->blocks[i] = w->block;
        lower_copy(w, out, operand(w, s->prim.args[1 + i]));
        lower_end(w, outer);
    }
}

static void lower_core_prim(Lower *w, const CoreStmt *s)
{
    const CoreAtom *args = s->prim.args;
    if (s->prim.op == PRIM_SELECT && core_var_type(w->flat->scope, s->vars[0]).rank > 0) {
        lower_select_array(w, s);
        return;
    }
    bool divides = core_prim_fallible(s->prim.op, atom_type(w, args[0]).scalar);
    if (divides && s->site != CORE_NO_SITE && (!args[1].is_const || args[1].bits == 0))
        EMIT(w, CHECK_DIVISOR, operand(w, args[1]), lower_number(s->site));
    PlanOperand list = lower_list(w, s->prim.nargs);
    for (uint32_t i = 0; i < s->prim.nargs; i++)
        list.list.at[i] = operand(w, args[i]);
    EMIT(w, PRIM, new_core(w, s->vars[0]), list)->prim = s->prim.op;
}

static void lower_check(Lower *w, const CoreStmt *s)
{
    PlanOperand values[3];
    for (uint32_t i = 0; i < 3; i++)
        values[i] = i < s->check.nvalues ? operand(w, s->check.values[i]) : lower_const(SC_I64, 0);
    EMIT(w, CHECK, operand(w, s->check.cond), lower_number(s->site), values[0], values[1], values[2]);
}

/* ---- sequences ---- */

static void lower_index(Lower *w, const CoreStmt *s)
{
    PlanOperand array = operand(w, s->index.array), index = operand(w, s->index.index);
    if (s->site != CORE_NO_SITE)
        EMIT(w, CHECK_INDEX, index, array, lower_number(s->site));
    PlanOperand out = new_core(w, s->vars[0]), p = lower_pending(w), outs = lower_list(w, 1);
    outs.list.at[0] = out;
    if (lower_type(w, out) == PLAN_ARR) {
        EMIT(w, READ_VIEW, p, array, index);
        EMIT(w, AWAIT_VIEW, out, p);
    } else {
        EMIT(w, READ, p, array, index);
        EMIT(w, AWAIT, outs, p);
    }
}

static void lower_slice(Lower *w, const CoreStmt *s)
{
    PlanOperand array = operand(w, s->slice.array), from = operand(w, s->slice.from), to = operand(w, s->slice.to);
    if (s->site != CORE_NO_SITE)
        EMIT(w, CHECK_SLICE, from, to, array, lower_number(s->site));
    EMIT(w, PART, new_core(w, s->vars[0]), array, from, to,
         lower_number(emit_element_bytes(atom_type(w, s->slice.array))));
}

/* ---- control ---- */

static PlanOperand *operands(Lower *w, const CoreAtom *atoms, uint32_t n)
{
    PlanOperand *list = arena_array(w->plan->arena, PlanOperand, n + 1);
    for (uint32_t i = 0; i < n; i++)
        list[i] = operand(w, atoms[i]);
    return list;
}

static void lower_core_if(Lower *w, const CoreStmt *s)
{
    const CoreBlock *const branches[2] = {s->if_.then_b, s->if_.else_b};
    for (uint32_t i = 0; i < s->nvars; i++)
        new_core(w, s->vars[i]);
    PlanInstr *in = EMIT(w, IF, operand(w, s->if_.cond));
    for (uint32_t b = 0; b < 2; b++) {
        PlanBlock *outer = lower_begin(w);
        in->blocks[b] = w->block;
        lower_core_block(w, branches[b]);
        for (uint32_t i = 0; i < s->nvars; i++)
            lower_copy(w, w->cores[s->vars[i]], operand(w, branches[b]->results[i]));
        lower_end(w, outer);
    }
}

/* A counted loop counts; a while loop evaluates its condition. */
static void lower_core_loop(Lower *w, const CoreStmt *s)
{
    uint32_t n = s->loop.nparams;
    PlanOperand *params = arena_array(w->plan->arena, PlanOperand, n + 1);
    PlanOperand index = {0}, go = lower_scalar(w, SC_BOOL, "go");
    for (uint32_t i = 0; i < n; i++)
        lower_copy(w, params[i] = new_core(w, s->loop.params[i]), operand(w, s->loop.inits[i]));
    if (!s->loop.cond) {
        index = s->loop.index == CORE_NO_VAR ? lower_scalar(w, SC_I64, "i") : new_core(w, s->loop.index);
        lower_copy(w, index, lower_const(SC_I64, 0));
    }
    PlanOperand ok = lower_running(w);
    PlanInstr *in = EMIT(w, LOOP, go);
    PlanBlock *outer = lower_begin(w);
    in->blocks[0] = w->block;
    if (s->loop.cond) {
        lower_core_block(w, s->loop.cond);
        lower_copy(w, go, operand(w, s->loop.cond->results[0]));
    } else {
        lower_prim(w, go, PRIM_LT, index, operand(w, s->loop.count));
    }
    lower_end(w, outer);
    lower_begin(w);
    in->blocks[1] = w->block;
    lower_core_block(w, s->loop.body);
    lower_next_state(w, n, params, operands(w, s->loop.body->results, n));
    if (!s->loop.cond)
        lower_prim(w, index, PRIM_ADD, index, lower_const(SC_I64, 1));
    lower_end(w, outer);
    lower_guard(w, in, ok, !s->loop.cond);
    for (uint32_t i = 0; i < s->nvars; i++)
        w->cores[s->vars[i]] = params[i];
}

static void lower_core_stmt(Lower *w, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_ATOM: w->cores[s->vars[0]] = operand(w, s->atom); break;
    case CORE_PRIM: lower_core_prim(w, s); break;
    case CORE_LENGTH: EMIT(w, LENGTH, new_core(w, s->vars[0]), operand(w, s->length.array)); break;
    case CORE_INDEX: lower_index(w, s); break;
    case CORE_SLICE: lower_slice(w, s); break;
    case CORE_CHECK: lower_check(w, s); break;
    case CORE_IF: lower_core_if(w, s); break;
    case CORE_LOOP: lower_core_loop(w, s); break;
    case CORE_LANE:
    case CORE_PARALLEL: break; /* not scalar code: flat_check has excluded them */
    }
}

static void lower_core_block(Lower *w, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        lower_core_stmt(w, b->stmts.at[i]);
}

/* ---- statements ---- */

/* Within the body, an input's core variable is the host variable itself. */
static void lower_body_code(Lower *w, const FlatBody *body)
{
    for (uint32_t i = 0; i < body->inputs.n; i++)
        w->cores[body->inputs.at[i].as] = w->vars[body->inputs.at[i].var];
    lower_core_block(w, body->block);
}

void lower_host(Lower *w, const FlatStmt *s)
{
    lower_body_code(w, &s->body);
    for (uint32_t i = 0; i < s->nouts; i++)
        w->vars[s->outs[i]] = operand(w, s->body.block->results[i]);
}

void lower_array_root(Lower *w, const FlatStmt *s)
{
    const CoreBlock *b = s->body.block;
    CoreType element = core_element(lower_info(w, s->outs[0])->type);
    lower_body_code(w, &s->body);
    PlanOperand items = lower_list(w, b->nresults), refs = {0};
    for (uint32_t i = 0; i < b->nresults; i++)
        items.list.at[i] = operand(w, b->results[i]);
    if (element.rank == 0) {
        EMIT(w, ARRAY_ROOT, lower_new_var(w, s->outs[0]), items, lower_number(emit_bytes(element)));
        return;
    }
    refs = lower_refs_none(w); /* the blocks that the views point into live on */
    for (uint32_t i = 0; i < b->nresults; i++)
        refs = lower_refs_add(w, refs, items.list.at[i], 0);
    EMIT(w, ARRAY_ROOT_VIEWS, lower_new_var(w, s->outs[0]), items, refs);
}
