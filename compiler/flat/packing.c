/* What packs store, and which of them are one.
 *
 * A PACK stores the scalars of the instances that it keeps in the pass that tests them: as they are asked for, while
 * the code behind it is flattened, columns are added to it. Positions are then only stored for what else needs the way
 * back. Several filters over one context, whose conditions cannot fail and are known before the first one, are ways of
 * one PACK, if no check stands between them: quicksort's three, partition's two. What a PACK computes beside conditions
 * for instances that it does not keep cannot fail, and is cheap. */
#include "core/build.h"
#include "flat/flatten_internal.h"

#include <assert.h>
#include <string.h>

/* In additions: what a PACK may compute beside its conditions. */
enum { MOST_COST = 4 * CORE_MODERATE };

static uint32_t find_way(const FlatStmt *s, FlatVar ctx)
{
    uint32_t i = 0;
    while (i < s->pack.nways && s->outs[i] != ctx)
        i++;
    return i;
}

/* The PACK that made the context, or NULL. */
static FlatStmt *pack_of(const FlattenFn *f, FlatVar ctx)
{
    for (uint32_t i = f->packings.n; i-- > 0;) {
        FlatStmt *s = f->packings.at[i].stmt;
        if (find_way(s, ctx) < s->pack.nways)
            return s;
    }
    return NULL;
}

FlatVar packing_source(const FlattenFn *f, FlatVar ctx)
{
    const FlatStmt *s = pack_of(f, ctx);
    return s ? s->body.ctx : FLAT_NO_VAR;
}

/* ---- what may be moved to a PACK ---- */

static bool block_may_move(const FlattenFn *f, const CoreBlock *b, uint32_t *cost)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (!packing_may_compute(f, b->stmts.at[i], cost))
            return false;
    return true;
}

bool packing_may_compute(const FlattenFn *f, const CoreStmt *s, uint32_t *cost)
{
    if (core_stmt_fallible(f->core, f->scope, s))
        return false;
    switch (s->kind) {
    case CORE_ATOM:
    case CORE_LENGTH: return true;
    case CORE_PRIM: *cost += core_prim_cost(s->prim.op, atom_type(f, s->prim.args[0]).scalar); break;
    case CORE_IF:
        if (!block_may_move(f, s->if_.then_b, cost) || !block_may_move(f, s->if_.else_b, cost))
            return false;
        break;
    default: return false;
    }
    return *cost <= MOST_COST;
}

/* Variables are numbered as they are bound: is this one there before the PACK? */
static bool known_before(const FlatStmt *s, FlatVar v) { return v < s->outs[0]; }

static bool inputs_known(const FlattenFn *f, const FlatStmt *s, const FlatInputs *inputs)
{
    for (uint32_t i = 0; i < inputs->n; i++) {
        const FlatInput *in = &inputs->at[i];
        FlatVar ctx = in->kind == IN_HOST ? FLAT_ROOT : in->kind == IN_COL ? flat_ctx(f->fn, in->var) : in->ctx;
        if (!flat_ctx_is_below(f->fn, s->body.ctx, ctx) || (in->kind != IN_POS && !known_before(s, in->var)))
            return false;
    }
    return true;
}

/* ---- adding to a PACK ---- */

/* One more result, as output number `at`. */
static void add_out(FlattenFn *f, FlatStmt *s, uint32_t at, FlatVar out, CoreAtom result)
{
    FlatVar *outs = arena_array(f->arena, FlatVar, s->nouts + 1);
    CoreAtom *results = arena_array(f->arena, CoreAtom, s->nouts + 1);
    for (uint32_t i = 0, from = 0; i <= s->nouts; i++) {
        outs[i] = i == at ? out : s->outs[from];
        results[i] = i == at ? result : s->body.block->results[from];
        from += i != at;
    }
    s->outs = outs;
    s->body.block->results = results;
    s->body.block->nresults = ++s->nouts;
}

static bool has_room(const FlatStmt *s, uint32_t n) { return s->nouts - s->pack.nways + n <= FLAT_MAX_PACKED; }

/* The column of `ctx` that has this result already, or FLAT_NO_VAR. */
static FlatVar column_there(const FlattenFn *f, const FlatStmt *s, FlatVar ctx, CoreAtom result)
{
    for (uint32_t i = s->pack.nways; i < s->nouts; i++) {
        CoreAtom r = s->body.block->results[i];
        if (flat_ctx(f->fn, s->outs[i]) == ctx && !r.is_const && !result.is_const && r.var == result.var)
            return s->outs[i];
    }
    return FLAT_NO_VAR;
}

static FlatVar add_column(FlattenFn *f, FlatStmt *s, FlatVar ctx, CoreAtom result)
{
    FlatVar out = column_there(f, s, ctx, result);
    if (out != FLAT_NO_VAR)
        return out;
    out = new_col(f, ctx, atom_type(f, result), result.is_const ? NULL : f->scope->vars.at[result.var].hint);
    add_out(f, s, s->nouts, out, result);
    return out;
}

bool packing_store(FlattenFn *f, FlatVar ctx, const FlatBody *body, FlatVar *outs)
{
    FlatStmt *s = pack_of(f, ctx);
    if (!s || !has_room(s, body->block->nresults) || !inputs_known(f, s, &body->inputs))
        return false;
    flat_body_add(f->core, f->scope, &s->body, body);
    for (uint32_t i = 0; i < body->block->nresults; i++)
        outs[i] = add_column(f, s, ctx, body->block->results[i]);
    return true;
}

/* ---- values of what was kept ---- */

/* The context nearest to `ctx`, itself or above, that was packed from `source`; or FLAT_NO_VAR. */
static FlatVar packed_from(const FlattenFn *f, FlatVar ctx, FlatVar source)
{
    for (FlatVar up; ctx != FLAT_ROOT && ctx != FLAT_NO_VAR; ctx = up) {
        up = ctx_parent(f, ctx);
        if (up == source)
            return f->fn->vars.at[ctx].ctx_kind == CTX_SELECTED ? ctx : FLAT_NO_VAR;
    }
    return FLAT_NO_VAR;
}

static CoreType input_type(const FlattenFn *f, const FlatInput *in)
{
    if (in->kind == IN_POS)
        return core_scalar(SC_I64);
    CoreType t = f->fn->vars.at[in->var].type;
    return in->kind == IN_ELEM ? core_element(t) : t;
}

/* The value `in` of a context that one above `ctx` (or itself) was packed from, as a column of that one; or
 * FLAT_NO_VAR. */
static FlatVar packed_input(FlattenFn *f, FlatVar ctx, const FlatInput *in)
{
    if (in->kind == IN_HOST || ctx == FLAT_ROOT)
        return FLAT_NO_VAR;
    FlatVar source = in->kind == IN_COL ? flat_ctx(f->fn, in->var) : in->ctx;
    FlatVar kept = packed_from(f, ctx, source);
    FlatStmt *s = kept == FLAT_NO_VAR ? NULL : pack_of(f, kept);
    CoreType t = input_type(f, in);
    bool views = t.rank > 0 && in->kind != IN_ELEM; /* these stay where they are if all are kept (SELECT) */
    if (!s || views || !has_room(s, 1) || (in->kind != IN_POS && !known_before(s, in->var)))
        return FLAT_NO_VAR;
    FlatInput there = *in;
    there.as = flat_body_input(&s->body, in);
    if (there.as == CORE_NO_VAR) {
        there.as = fresh_core_var(f, t, f->scope->vars.at[in->as].hint);
        vec_push(f->arena, &s->body.inputs, there);
    }
    return add_column(f, s, kept, core_var_atom(there.as, t));
}

void packing_input(FlattenFn *f, FlatVar ctx, FlatInput *in)
{
    FlatVar col = packed_input(f, ctx, in);
    if (col != FLAT_NO_VAR)
        *in = (FlatInput){IN_COL, in->as, col, FLAT_NO_VAR};
}

bool packing_value(FlattenFn *f, FlatVar ctx, CoreAtom a, FlatVar *out)
{
    if (a.is_const || ctx == FLAT_ROOT)
        return false;
    Val v = var_state(f, a.var)->val;
    FlatInput in = {IN_COL, a.var, v.var, FLAT_NO_VAR};
    switch (v.kind) {
    case VAL_COL: break;
    case VAL_ELEM: in = (FlatInput){IN_ELEM, a.var, v.var, v.ctx}; break;
    case VAL_POSITION: in = (FlatInput){IN_POS, a.var, FLAT_NO_VAR, v.ctx}; break;
    default: return false;
    }
    if (packed_from(f, ctx, v.ctx) != ctx)
        return false;
    FlatVar col = packed_input(f, ctx, &in);
    *out = col == FLAT_NO_VAR ? *out : col;
    return col != FLAT_NO_VAR;
}

/* ---- conditions ---- */

/* Statements that may stand between filters that become one. */
enum { MOST_BETWEEN = 32 };

/* Where s stands in this block, if it is among the last statements; else their end. */
static uint32_t find_near(const FlattenFn *f, const FlatStmt *s)
{
    const uint32_t n = f->block->stmts.n, first = n > MOST_BETWEEN ? n - MOST_BETWEEN : 0;
    for (uint32_t i = n; i-- > first;)
        if (f->block->stmts.at[i] == s)
            return i;
    return n;
}

/* Does code of the block fail from statement i on? Conditions trust in the checks in front of them. */
static bool fails_from(const FlattenFn *f, uint32_t i)
{
    for (; i < f->block->stmts.n; i++) {
        const FlatStmt *s = f->block->stmts.at[i];
        if ((s->kind == FLAT_S_HOST || s->kind == FLAT_S_KERNEL) &&
            core_block_fallible(f->core, f->scope, s->body.block))
            return true;
    }
    return false;
}

/* Scalar code, and elements that are certainly there: every instance computes its condition anyway. */
static bool is_condition(const FlattenFn *f, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        const bool simple = s->kind == CORE_ATOM || s->kind == CORE_LENGTH || s->kind == CORE_PRIM ||
                            s->kind == CORE_INDEX ||
                            (s->kind == CORE_IF && is_condition(f, s->if_.then_b) && is_condition(f, s->if_.else_b));
        if (!simple || core_stmt_fallible(f->core, f->scope, s))
            return false;
    }
    return true;
}

/* The place behind `at`, where s stands, of what makes this scalar on the host of what is known before s; else their
 * end. */
static uint32_t scalar_behind(const FlattenFn *f, const FlatStmt *s, uint32_t at, FlatVar v)
{
    const uint32_t n = f->block->stmts.n;
    for (uint32_t i = at + 1; i < n; i++) {
        const FlatStmt *host = f->block->stmts.at[i];
        for (uint32_t k = 0; k < host->nouts && host->kind == FLAT_S_HOST; k++)
            if (host->outs[k] == v)
                return inputs_known(f, s, &host->body.inputs) ? i : n;
    }
    return n;
}

/* Is all that the body reads known before s, or made of it by the host? */
static bool inputs_near(const FlattenFn *f, const FlatStmt *s, uint32_t at, const FlatInputs *inputs)
{
    for (uint32_t i = 0; i < inputs->n; i++) {
        const FlatInputs one = {.at = &inputs->at[i], .n = 1};
        if (!inputs_known(f, s, &one) &&
            (one.at->kind != IN_HOST || scalar_behind(f, s, at, one.at->var) == f->block->stmts.n))
            return false;
    }
    return true;
}

/* What the host makes of these goes in front of s. */
static void bring_inputs(const FlattenFn *f, const FlatStmt *s, uint32_t at, const FlatInputs *inputs)
{
    FlatStmt **stmts = f->block->stmts.at;
    for (uint32_t i = 0; i < inputs->n; i++) {
        uint32_t from = inputs->at[i].kind == IN_HOST ? scalar_behind(f, s, at, inputs->at[i].var) : f->block->stmts.n;
        if (from == f->block->stmts.n)
            continue;
        FlatStmt *host = stmts[from];
        memmove(stmts + at + 1, stmts + at, (from - at) * sizeof(FlatStmt *));
        stmts[at++] = host;
    }
}

/* A PACK of the same context in the same block, to which this condition may be added; or NULL. */
static FlatStmt *pack_beside(FlattenFn *f, const FlatBody *body)
{
    if (!is_condition(f, body->block))
        return NULL;
    for (uint32_t i = f->packings.n; i-- > 0;) {
        FlatStmt *s = f->packings.at[i].stmt;
        if (f->packings.at[i].block != f->block || s->body.ctx != body->ctx || s->pack.nways >= FLAT_MAX_WAYS)
            continue;
        const uint32_t at = find_near(f, s);
        if (at < f->block->stmts.n && !fails_from(f, at + 1) && inputs_near(f, s, at, &body->inputs)) {
            bring_inputs(f, s, at, &body->inputs);
            return s;
        }
    }
    return NULL;
}

FlatVar packing_add(FlattenFn *f, FlatBody body, Span span)
{
    FlatStmt *s = pack_beside(f, &body);
    FlatVar out;
    if (s) {
        flat_body_add(f->core, f->scope, &s->body, &body);
        out = new_ctx(f, CTX_SELECTED, body.ctx);
        add_out(f, s, s->pack.nways++, out, body.block->results[0]);
        return out;
    }
    s = flat_emit(f, FLAT_S_PACK, span, 1);
    s->ctx = body.ctx;
    s->body = body;
    s->pack.nways = 1;
    out = s->outs[0] = new_ctx(f, CTX_SELECTED, body.ctx);
    vec_push(f->arena, &f->packings, ((Packing){s, f->block}));
    return out;
}
