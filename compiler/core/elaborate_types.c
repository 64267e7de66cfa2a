/* Types during elaboration: rigid variables replaced by what the specialisation at hand gives them, and
 * the leaves that products dissolve into. */
#include "core/elaborate_internal.h"

#include <assert.h>

/* ---- leaves ---- */

CoreTypes ty_leaves(Elab *e, Type *t)
{
    CoreTypes out = {0};
    core_leaves(e->arena, t, &out);
    return out;
}

uint32_t ty_leaf_count(Elab *e, Type *t)
{
    t = type_prune(t);
    if (t->kind == TY_SCALAR)
        return 1;
    return ty_leaves(e, t).n;
}

bool ty_leaves_all_scalar(Elab *e, Type *t)
{
    CoreTypes leaves = ty_leaves(e, t);
    for (uint32_t i = 0; i < leaves.n; i++)
        if (leaves.at[i].rank > 0)
            return false;
    return true;
}

/* ---- instances ---- */

Type *elab_type(Elab *e, const Scope *sc, Type *t)
{
    t = type_prune(t);
    if (t->kind == TY_SCALAR)
        return t;
    return type_prune(type_substitute(e->arena, t, sc->targs, sc->ntargs));
}

static uint32_t array_depth(Type *t)
{
    uint32_t depth = 0;
    for (t = type_prune(t); t->kind == TY_ARRAY; t = type_prune(t->element))
        depth++;
    return depth;
}

Type *elab_expr_type(Elab *e, const Scope *sc, const Expr *x)
{
    Type *t = elab_type(e, sc, e->checked->expr_types[x->id]);
    if (array_depth(t) > 200)
        elab_give_up(e, DIAG_TYPE_TOO_LARGE, "sequences nested more than 200 deep are not supported");
    return t;
}

Type **elab_types(Elab *e, const Scope *sc, Type *const *ts, uint32_t n)
{
    Type **out = arena_array(e->arena, Type *, n);
    for (uint32_t i = 0; i < n; i++)
        out[i] = elab_type(e, sc, ts[i]);
    return out;
}

/* ---- questions ---- */

bool ty_has_function(Type *t)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_FUN: return true;
    case TY_ARRAY: return ty_has_function(t->element);
    case TY_TUPLE:
        for (uint32_t i = 0; i < t->tuple.n; i++)
            if (ty_has_function(t->tuple.items[i]))
                return true;
        return false;
    case TY_RECORD:
    case TY_SUM:
        for (uint32_t i = 0; i < t->record.n; i++)
            if (t->record.items[i] && ty_has_function(t->record.items[i]))
                return true;
        return false;
    case TY_SCALAR:
    case TY_VAR:
    case TY_RIGID:
    case TY_ERROR: return false;
    }
    return false;
}

uint32_t ty_arity(Type *t)
{
    uint32_t n = 0;
    for (t = type_prune(t); t->kind == TY_FUN; t = type_prune(t->fun.to))
        n++;
    return n;
}

Type *ty_after(Type *t, uint32_t nargs)
{
    for (t = type_prune(t); nargs > 0; nargs--) {
        assert(t->kind == TY_FUN && "elaborate: more arguments than the type has");
        t = type_prune(t->fun.to);
    }
    return t;
}

bool ty_is_scalar(Type *t) { return type_prune(t)->kind == TY_SCALAR; }

Scalar ty_scalar(Type *t)
{
    t = type_prune(t);
    return t->kind == TY_SCALAR ? t->scalar : SC_BOOL;
}

uint32_t ty_field(Type *t, Name name)
{
    t = type_prune(t);
    if (t->kind == TY_RECORD || t->kind == TY_SUM)
        for (uint32_t i = 0; i < t->record.n; i++)
            if (t->record.names[i] == name)
                return i;
    return UINT32_MAX;
}

/* ---- matching a library function's type against its arguments' ---- */

void ty_match(Type *pattern, Type *ground, Type **args)
{
    pattern = type_prune(pattern);
    ground = type_prune(ground);
    while (pattern->kind == TY_ARRAY && ground->kind == TY_ARRAY) {
        pattern = type_prune(pattern->element);
        ground = type_prune(ground->element);
    }
    assert((pattern->kind == TY_RIGID || pattern->kind == TY_SCALAR) && "elaborate: a library function of parts");
    if (pattern->kind == TY_RIGID)
        args[pattern->rigid.index] = ground;
}
