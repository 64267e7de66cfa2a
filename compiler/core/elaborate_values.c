/* Elaboration-time values: trees of core atoms shaped by their source types. */
#include "core/elaborate_internal.h"

#include <assert.h>

Value *val_leaves(Elab *e, Type *t, const CoreAtom *atoms, uint32_t n)
{
    Value *v = arena_new(e->arena, Value);
    v->kind = VALUE_LEAVES;
    v->type = t;
    v->leaves.n = n;
    v->leaves.atoms = arena_array(e->arena, CoreAtom, n);
    for (uint32_t i = 0; i < n; i++)
        v->leaves.atoms[i] = atoms[i];
    return v;
}

Value *val_sequence(Elab *e, Type *t, const CoreAtom *atoms, uint32_t n, CoreAtom length)
{
    Value *v = val_leaves(e, t, atoms, n);
    v->leaves.length_known = true;
    v->leaves.length = length;
    return v;
}

Value *val_as_long(Elab *e, Type *t, const CoreAtom *atoms, uint32_t n, const Value *xs)
{
    Value *v = val_leaves(e, t, atoms, n);
    v->leaves.length_known = xs->leaves.length_known;
    v->leaves.length = xs->leaves.length;
    return v;
}

Value *val_scalar(Elab *e, CoreAtom a)
{
    assert(a.type.rank == 0 && "elaborate: a scalar was expected");
    return val_leaves(e, type_scalar(e->arena, a.type.scalar), &a, 1);
}

Value *val_unit(Elab *e, Type *t)
{
    CoreAtom a = core_const(SC_BOOL, 0);
    return val_leaves(e, t, &a, 1);
}

Value *val_product(Elab *e, Type *t, Value **items)
{
    t = type_prune(t);
    uint32_t n = t->kind == TY_TUPLE ? t->tuple.n : t->record.n;
    if (n == 0)
        return val_unit(e, t);
    Value *v = arena_new(e->arena, Value);
    v->kind = VALUE_PRODUCT;
    v->type = t;
    v->product.items = items;
    v->product.n = n;
    return v;
}

Value *val_fun(Elab *e, FunKind kind, Type *t, const Scope *sc)
{
    Value *v = arena_new(e->arena, Value);
    v->kind = VALUE_FUN;
    v->type = t;
    v->fun.kind = kind;
    v->fun.base = t;
    if (sc) {
        v->fun.env = sc->env;
        v->fun.targs = sc->targs;
        v->fun.ntargs = sc->ntargs;
        v->fun.user = sc->user;
    }
    return v;
}

static Value *from_atoms(Elab *e, Type *t, const CoreAtom **at);

static Value *product_from_atoms(Elab *e, Type *t, Type *const *types, uint32_t n, const CoreAtom **at)
{
    Value **items = arena_array(e->arena, Value *, n);
    for (uint32_t i = 0; i < n; i++)
        items[i] = from_atoms(e, types[i], at);
    return val_product(e, t, items);
}

static Value *from_atoms(Elab *e, Type *t, const CoreAtom **at)
{
    t = type_prune(t);
    if (t->kind == TY_TUPLE && t->tuple.n > 0)
        return product_from_atoms(e, t, t->tuple.items, t->tuple.n, at);
    if (t->kind == TY_RECORD && t->record.n > 0)
        return product_from_atoms(e, t, t->record.items, t->record.n, at);
    if (t->kind == TY_FUN)
        return val_fun(e, FUN_POISON, t, NULL);
    uint32_t n = ty_leaf_count(e, t);
    Value *v = val_leaves(e, t, *at, n);
    *at += n;
    return v;
}

Value *val_from_atoms(Elab *e, Type *t, const CoreAtom *atoms) { return from_atoms(e, t, &atoms); }

Value *val_default(Elab *e, Type *t)
{
    CoreTypes types = ty_leaves(e, t);
    CoreAtom *atoms = arena_array(e->arena, CoreAtom, types.n);
    for (uint32_t i = 0; i < types.n; i++)
        atoms[i] = types.at[i].rank > 0 ? anf_array(e, types.at[i], NULL, 0) : core_const(types.at[i].scalar, 0);
    return val_from_atoms(e, t, atoms);
}

void val_atoms(Elab *e, const Value *v, Atoms *out)
{
    switch (v->kind) {
    case VALUE_LEAVES:
        for (uint32_t i = 0; i < v->leaves.n; i++)
            vec_push(e->arena, out, v->leaves.atoms[i]);
        return;
    case VALUE_PRODUCT:
        for (uint32_t i = 0; i < v->product.n; i++)
            val_atoms(e, v->product.items[i], out);
        return;
    case VALUE_FUN: /* the checker refuses these; should one come through, say so */
        if (v->fun.kind != FUN_POISON)
            elab_give_up(e, DIAG_FUNCTION_AS_DATA,
                         "a function cannot be stored here: functions may only be passed, named and called");
        return;
    }
}

CoreAtom val_atom(const Value *v)
{
    assert(v->kind == VALUE_LEAVES && v->leaves.n == 1 && "elaborate: one leaf was expected");
    return v->leaves.atoms[0];
}

CoreAtom val_first_leaf(const Value *v)
{
    while (v->kind == VALUE_PRODUCT)
        v = v->product.items[0];
    if (v->kind == VALUE_LEAVES)
        return v->leaves.atoms[0];
    return core_const(SC_BOOL, 0);
}

bool val_has_function(const Value *v)
{
    switch (v->kind) {
    case VALUE_LEAVES: return false;
    case VALUE_FUN: return true;
    case VALUE_PRODUCT:
        for (uint32_t i = 0; i < v->product.n; i++)
            if (val_has_function(v->product.items[i]))
                return true;
        return false;
    }
    return false;
}
