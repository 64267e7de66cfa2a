/* The code of bodies: scalar core statements whose free variables are inputs. Types of scalar operations have been
 * checked by core_check before flattening; here it is scopes, views, and that nothing parallel is left. */
#include "core/lane.h"
#include "flat/flat_check.h"

static const CoreType type_i64 = {SC_I64, 0}, type_bool = {SC_BOOL, 0};

void flat_check_core_begin(FlatChecker *c) { c->core_round++; }

static bool in_range(FlatChecker *c, CoreVar v)
{
    if (v >= c->fn->scope->vars.n)
        flat_check_fail(c, "core variable %u is out of range", v);
    return c->ok;
}

static void want(FlatChecker *c, CoreType found, CoreType expected, const char *what)
{
    if (!core_type_equal(found, expected))
        flat_check_fail(c, "in a body: %s is %s of rank %u instead of %s of rank %u", what, scalar_name(found.scalar),
                        found.rank, scalar_name(expected.scalar), expected.rank);
}

static void bind(FlatChecker *c, CoreVar v)
{
    if (!in_range(c, v))
        return;
    if (c->core_scope[v] == c->core_round)
        flat_check_fail(c, "in a body: core variable %u is bound twice", v);
    c->core_scope[v] = c->core_round;
}

void flat_check_core_bind(FlatChecker *c, CoreVar v, CoreType t)
{
    bind(c, v);
    if (c->ok)
        want(c, core_var_type(c->fn->scope, v), t, "an input");
}

CoreType flat_check_core_atom(FlatChecker *c, CoreAtom a)
{
    if (a.is_const)
        return a.type;
    if (!in_range(c, a.var))
        return type_bool;
    if (c->core_scope[a.var] != c->core_round)
        flat_check_fail(c, "in a body: core variable %u is no input", a.var);
    return core_var_type(c->fn->scope, a.var);
}

static void want_atom(FlatChecker *c, CoreAtom a, CoreType t, const char *what)
{
    want(c, flat_check_core_atom(c, a), t, what);
}

static CoreType view_atom(FlatChecker *c, CoreAtom a)
{
    CoreType t = flat_check_core_atom(c, a);
    if (c->ok && t.rank == 0)
        flat_check_fail(c, "in a body: an array is expected");
    return t.rank ? t : core_seq(t);
}

static CoreType out_type(FlatChecker *c, const CoreStmt *s, uint32_t i)
{
    return in_range(c, s->vars[i]) ? core_var_type(c->fn->scope, s->vars[i]) : type_bool;
}

/* Binders inside a branch go out of scope: later uses would read what was never computed. */
static void unbind_block(FlatChecker *c, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        for (uint32_t k = 0; k < b->stmts.at[i]->nvars; k++)
            c->core_scope[b->stmts.at[i]->vars[k]] = UINT32_MAX;
}

static CoreType *out_types(FlatChecker *c, const CoreVar *vars, uint32_t n)
{
    CoreType *types = arena_array(c->arena, CoreType, n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (in_range(c, vars[i]))
            types[i] = core_var_type(c->fn->scope, vars[i]);
    return types;
}

static void check_loop(FlatChecker *c, const CoreStmt *s)
{
    CoreType *types = out_types(c, s->loop.params, s->loop.nparams);
    for (uint32_t i = 0; i < s->loop.nparams && c->ok; i++) {
        want_atom(c, s->loop.inits[i], types[i], "a loop's initial value");
        bind(c, s->loop.params[i]);
    }
    if (s->loop.cond)
        flat_check_core_block(c, s->loop.cond, &type_bool, 1);
    else
        want_atom(c, s->loop.count, type_i64, "a loop's count");
    if (s->loop.index != CORE_NO_VAR)
        bind(c, s->loop.index);
    flat_check_core_block(c, s->loop.body, types, s->loop.nparams);
}

/* ---- code that a lane executes from beginning to end: types have been checked by core_check, too ---- */

static void check_lane_block(void *ctx, CoreBlock *b);

static void use_atom(void *ctx, CoreAtom *a) { flat_check_core_atom(ctx, *a); }
static void bind_var(void *ctx, CoreVar *v)
{
    if (*v != CORE_NO_VAR)
        bind(ctx, *v);
}

static void check_lane_block(void *ctx, CoreBlock *b)
{
    FlatChecker *c = ctx;
    for (uint32_t i = 0; i < b->stmts.n && c->ok; i++) {
        CoreStmt *s = b->stmts.at[i];
        core_stmt_atoms(s, use_atom, c);
        core_stmt_binders(s, bind_var, c);
        core_stmt_blocks(s, check_lane_block, c);
        for (uint32_t j = 0; j < s->nvars && c->ok; j++)
            bind(c, s->vars[j]);
    }
    for (uint32_t i = 0; i < b->nresults && c->ok; i++)
        use_atom(c, &b->results[i]);
    if (c->ok)
        unbind_block(c, b);
}

static void check_lane(FlatChecker *c, const CoreStmt *s)
{
    if (!s->lane.memory.is_const)
        want_atom(c, s->lane.memory, (CoreType){SC_U64, 1}, "a lane's memory");
    check_lane_block(c, s->lane.block);
    if (c->ok && s->nvars != s->lane.block->nresults)
        flat_check_fail(c, "a lane has %u results instead of %u", s->lane.block->nresults, s->nvars);
    for (uint32_t i = 0; i < s->nvars && c->ok; i++)
        want(c, core_atom_type(c->fn->scope, s->lane.block->results[i]), out_type(c, s, i), "a lane's result");
    Lane lane = lane_open(c->fn->scope, !s->lane.memory.is_const);
    if (c->ok && (!lane_analyse(&lane, s->lane.block) || !lane_keeps_arrays(&lane, s->lane.block)))
        flat_check_fail(c, "a lane has code that it cannot do");
    lane_close(&lane);
}

static void check_stmt(FlatChecker *c, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_ATOM: want_atom(c, s->atom, out_type(c, s, 0), "a copy"); break;
    case CORE_PRIM:
        for (uint32_t i = 0; i < s->prim.nargs; i++)
            flat_check_core_atom(c, s->prim.args[i]);
        break;
    case CORE_LENGTH: view_atom(c, s->length.array); break;
    case CORE_INDEX:
        want_atom(c, s->index.index, type_i64, "an index");
        want(c, core_element(view_atom(c, s->index.array)), out_type(c, s, 0), "an element");
        break;
    case CORE_SLICE:
        want_atom(c, s->slice.from, type_i64, "a slice's start");
        want_atom(c, s->slice.to, type_i64, "a slice's end");
        want(c, view_atom(c, s->slice.array), out_type(c, s, 0), "a slice");
        break;
    case CORE_CHECK:
        want_atom(c, s->check.cond, type_bool, "a check");
        for (uint32_t i = 0; i < s->check.nvalues; i++)
            want_atom(c, s->check.values[i], type_i64, "a check's value");
        break;
    case CORE_IF: {
        CoreType *types = out_types(c, s->vars, s->nvars);
        want_atom(c, s->if_.cond, type_bool, "a condition");
        flat_check_core_block(c, s->if_.then_b, types, s->nvars);
        flat_check_core_block(c, s->if_.else_b, types, s->nvars);
        break;
    }
    case CORE_LOOP: check_loop(c, s); break;
    case CORE_LANE: check_lane(c, s); break;
    case CORE_PARALLEL: flat_check_fail(c, "a body has a statement that is not scalar code"); break;
    }
    for (uint32_t i = 0; i < s->nvars && c->ok; i++)
        bind(c, s->vars[i]);
}

void flat_check_core_block(FlatChecker *c, const CoreBlock *b, const CoreType *types, uint32_t n)
{
    if (!c->ok)
        return;
    if (!b || b->nresults != n) {
        flat_check_fail(c, "a body has %u results instead of %u", b ? b->nresults : 0, n);
        return;
    }
    for (uint32_t i = 0; i < b->stmts.n && c->ok; i++)
        check_stmt(c, b->stmts.at[i]);
    for (uint32_t i = 0; i < n && c->ok; i++)
        want_atom(c, b->results[i], types[i], "a body's result");
    if (c->ok)
        unbind_block(c, b);
}
