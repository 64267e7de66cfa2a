/* Scalar code: the inputs of bodies, and the core statements in them, on one instance at a time. */
#include "flat/eval_internal.h"

#include <stdlib.h>

/* ---- inputs ---- */

typedef struct Input {
    FlatInputKind kind;
    CoreVar as;
    CoreType type;        /* of the value */
    Elem host;            /* HOST; the array of an ELEM at depth 0 */
    const char *data;     /* COL; the arrays of an ELEM in a context */
    const uint64_t *path; /* COL: to the column's context; ELEM, POS: to the nested context */
    const uint64_t *segment,
        *offsets; /* ELEM, POS: from the nested context to its parent (NULL and data NULL: depth 0) */
    bool at_root; /* ELEM, POS: the nested context has one segment */
} Input;

static bool open_elem(Eval *e, const FlatInput *in, Ctx *ctx, Input *x)
{
    Ctx *nested = var_ctx(e, in->ctx);
    FLAT_ASSERT(e, nested && nested->kind == CTX_NESTED, "elements of a context that is not nested");
    x->offsets = nested->offsets->at;
    x->at_root = !nested->parent;
    if (!ctx_path(e, ctx, nested, &x->path) || (nested->parent && !ctx_path(e, nested, nested->parent, &x->segment)))
        return false;
    if (in->kind == IN_POS)
        return true;
    Value *v = var_read(e, in->var);
    x->type = core_element(v->type);
    if (x->at_root)
        x->host = v->host;
    else
        x->data = var_col(e, in->var, nested->parent)->data;
    return true;
}

bool inputs_open(Eval *e, Inputs *opened, const FlatInputs *inputs, Ctx *ctx)
{
    bool ok = true;
    *opened = (Inputs){scratch_alloc(e, inputs->n, sizeof(Input)), inputs->n};
    for (uint32_t i = 0; i < inputs->n && ok; i++) {
        const FlatInput *in = &inputs->at[i];
        Input *x = &opened->at[i];
        *x = (Input){.kind = in->kind, .as = in->as};
        if (in->kind == IN_HOST) {
            FLAT_ASSERT(e, var_read(e, in->var)->kind == FLAT_HOST, "a host input is none");
            x->host = var_read(e, in->var)->host;
        } else if (in->kind == IN_COL) {
            Value *v = var_read(e, in->var);
            FLAT_ASSERT(e, ctx && v->kind == FLAT_COL, "a column input is none");
            x->type = v->type;
            x->data = v->col.data;
            ok = ctx_path(e, ctx, v->col.ctx, &x->path);
        } else {
            FLAT_ASSERT(e, ctx, "elements at depth 0");
            ok = open_elem(e, in, ctx, x);
        }
    }
    return ok;
}

void inputs_close(Inputs *in) { free(in->at); }

static Elem load_elem(Eval *e, const Input *x, uint64_t instance)
{
    uint64_t j = path_at(x->path, instance);
    uint64_t seg = x->at_root ? 0 : path_at(x->segment, j);
    uint64_t pos = j - x->offsets[seg];
    FLAT_ASSERT(e, j >= x->offsets[seg] && j < x->offsets[seg + 1], "an instance lies outside its segment");
    if (x->kind == IN_POS)
        return (Elem){.bits = pos};
    CoreType array = core_seq(x->type);
    View v = x->at_root ? x->host.view : elem_load(array, x->data + seg * sizeof(View)).view;
    e->counts.work++;
    return elem_load(x->type, view_at(e, array, v, pos));
}

void inputs_load(Eval *e, const Inputs *in, uint64_t instance)
{
    for (uint32_t i = 0; i < in->n; i++) {
        const Input *x = &in->at[i];
        switch (x->kind) {
        case IN_HOST: e->env[x->as] = x->host; break;
        case IN_COL:
            e->env[x->as] = elem_load(x->type, x->data + path_at(x->path, instance) * elem_bytes(x->type));
            e->counts.work++;
            break;
        case IN_ELEM:
        case IN_POS: e->env[x->as] = load_elem(e, x, instance); break;
        }
    }
}

/* ---- operands ---- */

Elem atom_value(const Eval *e, CoreAtom a) { return a.is_const ? (Elem){.bits = a.bits} : e->env[a.var]; }

static CoreType type_of(const Eval *e, CoreAtom a)
{
    return a.is_const ? a.type : core_var_type(e->frame->fn->scope, a.var);
}

static CoreType var_type(const Eval *e, CoreVar v) { return core_var_type(e->frame->fn->scope, v); }

/* ---- statements ---- */

static bool run_prim(Eval *e, const CoreStmt *s)
{
    uint64_t args[3] = {0, 0, 0};
    e->counts.work++;
    if (s->prim.op == PRIM_SELECT) { /* of any type */
        bool first = atom_value(e, s->prim.args[0]).bits;
        e->env[s->vars[0]] = atom_value(e, s->prim.args[first ? 1 : 2]);
        return true;
    }
    for (uint32_t i = 0; i < s->prim.nargs; i++)
        args[i] = atom_value(e, s->prim.args[i]).bits;
    Scalar operand = type_of(e, s->prim.args[0]).scalar;
    if (core_prim_fallible(s->prim.op, operand) && args[1] == 0)
        return flat_eval_fail(e, s->site, s->span, 0, 0, 0);
    e->env[s->vars[0]] = (Elem){.bits = core_prim_apply(s->prim.op, operand, var_type(e, s->vars[0]).scalar, args)};
    return true;
}

static bool run_index(Eval *e, const CoreStmt *s)
{
    View v = atom_value(e, s->index.array).view;
    uint64_t i = atom_value(e, s->index.index).bits; /* negative: huge */
    CoreType array = type_of(e, s->index.array);
    if (i >= v.len && s->site != CORE_NO_SITE)
        return flat_eval_fail(e, s->site, s->span, (int64_t)i, (int64_t)v.len, 0);
    e->counts.work++;
    if (e->stmt->kind == FLAT_S_HOST)
        e->counts.readbacks++;
    e->env[s->vars[0]] = elem_load(core_element(array), view_at(e, array, v, i));
    return true;
}

static bool run_slice(Eval *e, const CoreStmt *s)
{
    View v = atom_value(e, s->slice.array).view;
    uint64_t from = atom_value(e, s->slice.from).bits, to = atom_value(e, s->slice.to).bits;
    if (from > to || to > v.len) {
        FLAT_ASSERT(e, s->site != CORE_NO_SITE, "an unchecked slice out of bounds");
        return flat_eval_fail(e, s->site, s->span, (int64_t)from, (int64_t)to, (int64_t)v.len);
    }
    e->counts.work++;
    uint64_t addr = v.addr + from * elem_bytes(core_element(type_of(e, s->slice.array)));
    e->env[s->vars[0]] = (Elem){.view = {to - from, from == to ? 0 : addr}};
    return true;
}

static bool run_check(Eval *e, const CoreStmt *s)
{
    int64_t v[3] = {0, 0, 0};
    if (atom_value(e, s->check.cond).bits)
        return true;
    for (uint32_t i = 0; i < s->check.nvalues; i++)
        v[i] = (int64_t)atom_value(e, s->check.values[i]).bits;
    return flat_eval_fail(e, s->site, s->span, v[0], v[1], v[2]);
}

/* A block whose results become the values of `vars`, all at once. */
static bool run_into(Eval *e, const CoreBlock *b, const CoreVar *vars, uint32_t n)
{
    Elem few[8], *results = n <= 8 ? few : scratch_alloc(e, n, sizeof *results);
    bool ok = body_run(e, b, results);
    for (uint32_t i = 0; ok && i < n; i++)
        e->env[vars[i]] = results[i];
    if (results != few)
        free(results);
    return ok;
}

static bool run_for(Eval *e, const CoreStmt *s)
{
    int64_t count = (int64_t)atom_value(e, s->loop.count).bits;
    LaneMark m = lane_mark(e);
    for (int64_t i = 0; i < count; i++) {
        if (s->loop.index != CORE_NO_VAR)
            e->env[s->loop.index] = (Elem){.bits = (uint64_t)i};
        if (!run_into(e, s->loop.body, s->loop.params, s->loop.nparams))
            return false;
        lane_tidy(e, m, s->loop.params, s->loop.nparams);
    }
    return true;
}

static bool run_while(Eval *e, const CoreStmt *s)
{
    LaneMark m = lane_mark(e);
    for (;;) {
        Elem holds;
        if (!body_run(e, s->loop.cond, &holds))
            return false;
        if (!holds.bits)
            return true;
        if (!run_into(e, s->loop.body, s->loop.params, s->loop.nparams))
            return false;
        lane_tidy(e, m, s->loop.params, s->loop.nparams);
    }
}

static bool run_loop(Eval *e, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        e->env[s->loop.params[i]] = atom_value(e, s->loop.inits[i]);
    if (!(s->loop.cond ? run_while(e, s) : run_for(e, s)))
        return false;
    for (uint32_t i = 0; i < s->nvars; i++)
        e->env[s->vars[i]] = e->env[s->loop.params[i]];
    return true;
}

static bool run_stmt(Eval *e, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_ATOM: e->env[s->vars[0]] = atom_value(e, s->atom); return true;
    case CORE_PRIM: return run_prim(e, s);
    case CORE_LENGTH: e->env[s->vars[0]] = (Elem){.bits = atom_value(e, s->length.array).view.len}; return true;
    case CORE_INDEX: return run_index(e, s);
    case CORE_SLICE: return run_slice(e, s);
    case CORE_CHECK: return run_check(e, s);
    case CORE_IF:
        return run_into(e, atom_value(e, s->if_.cond).bits ? s->if_.then_b : s->if_.else_b, s->vars, s->nvars);
    case CORE_LOOP: return run_loop(e, s);
    case CORE_LANE: return lane_run(e, s);
    case CORE_PARALLEL: return lane_run_parallel(e, s);
    }
    return false;
}

bool body_run(Eval *e, const CoreBlock *b, Elem *results)
{
    if (!flat_eval_tick(e))
        return false;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (!run_stmt(e, b->stmts.at[i]))
            return false;
    for (uint32_t i = 0; i < b->nresults; i++)
        results[i] = atom_value(e, b->results[i]);
    return true;
}
