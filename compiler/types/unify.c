#include "types/check_internal.h"

#include <string.h>

Type *new_var(Checker *c, TypeClass cls)
{
    Type *t = arena_new(c->arena, Type);
    t->kind = TY_VAR;
    t->var.cls = cls;
    t->var.level = c->level;
    t->var.id = c->next_var++;
    return t;
}

bool has_error(Type *t) { return type_prune(t)->kind == TY_ERROR; }

static bool items_mention_error(Type **items, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (items[i] && mentions_error(items[i]))
            return true;
    }
    return false;
}

bool mentions_error(Type *t)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_TUPLE: return items_mention_error(t->tuple.items, t->tuple.n);
    case TY_RECORD:
    case TY_SUM: return items_mention_error(t->record.items, t->record.n);
    case TY_ARRAY: return mentions_error(t->element);
    case TY_FUN: return mentions_error(t->fun.from) || mentions_error(t->fun.to);
    case TY_ERROR: return true;
    case TY_SCALAR:
    case TY_VAR:
    case TY_RIGID: return false;
    }
    return false;
}

/* ---- classes ---- */

bool class_has_scalar(TypeClass cls, Scalar s)
{
    switch (cls) {
    case CLASS_ANY:
    case CLASS_ORD:
    case CLASS_SCALAR: return true;
    case CLASS_NUM: return s != SC_BOOL;
    case CLASS_INT: return scalar_is_int(s);
    case CLASS_FLOAT: return scalar_is_float(s);
    }
    return false;
}

/* The classes form a chain ANY > ORD > SCALAR > NUM with INT and FLOAT below: the meet of two is
 * the later one, but INT and FLOAT have none. */
static bool class_meet(TypeClass a, TypeClass b, TypeClass *meet)
{
    *meet = a > b ? a : b;
    return !((a == CLASS_INT && b == CLASS_FLOAT) || (a == CLASS_FLOAT && b == CLASS_INT));
}

static bool narrow(TypeClass *cls, TypeClass by)
{
    TypeClass meet;
    if (!class_meet(*cls, by, &meet))
        return false;
    *cls = meet;
    return true;
}

static bool constrain_items(Checker *c, Type **items, uint32_t n, TypeClass cls)
{
    for (uint32_t i = 0; i < n; i++) {
        if (items[i] && !constrain(c, items[i], cls))
            return false;
    }
    return true;
}

bool constrain(Checker *c, Type *t, TypeClass cls)
{
    t = type_prune(t);
    if (cls == CLASS_ANY)
        return true;
    switch (t->kind) {
    case TY_SCALAR: return class_has_scalar(cls, t->scalar);
    case TY_TUPLE: return cls == CLASS_ORD && constrain_items(c, t->tuple.items, t->tuple.n, cls);
    case TY_RECORD:
    case TY_SUM: return cls == CLASS_ORD && constrain_items(c, t->record.items, t->record.n, cls);
    case TY_VAR: return narrow(&t->var.cls, cls);
    case TY_RIGID: return narrow(&t->rigid.cls, cls);
    case TY_ERROR: return true;
    case TY_ARRAY: return cls == CLASS_ORD && constrain(c, t->element, cls);
    case TY_FUN: return false;
    }
    return false;
}

/* ---- binding ---- */

/* Is `var` a part of t? On the way, levels go down to the variable's. */
static bool occurs(Type *var, Type *t)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_VAR:
        if (t == var)
            return true;
        if (t->var.level > var->var.level)
            t->var.level = var->var.level;
        return false;
    case TY_TUPLE:
        for (uint32_t i = 0; i < t->tuple.n; i++) {
            if (occurs(var, t->tuple.items[i]))
                return true;
        }
        return false;
    case TY_RECORD:
    case TY_SUM:
        for (uint32_t i = 0; i < t->record.n; i++) {
            if (t->record.items[i] && occurs(var, t->record.items[i]))
                return true;
        }
        return false;
    case TY_ARRAY: return occurs(var, t->element);
    case TY_FUN: return occurs(var, t->fun.from) || occurs(var, t->fun.to);
    case TY_SCALAR:
    case TY_RIGID:
    case TY_ERROR: return false;
    }
    return false;
}

void lower_levels(Type *t, uint32_t level)
{
    Type limit = {.kind = TY_VAR, .var = {.level = level}};
    occurs(&limit, t);
}

static bool fail(Checker *c, UnifyFailure failure, Type *declared)
{
    c->failure = failure;
    c->failed_declared = declared;
    return false;
}

/* The definition with that type parameter. */
static const Def *owner_of(const Checker *c, const Type *var)
{
    uint32_t i = 0;
    while (c->declared.at[i].var != var)
        i++;
    return c->declared.at[i].owner;
}

/* Two declared parameters are different types, unless they belong to two definitions that call each
 * other: inside a component there is one instance only. */
static bool declared_clash(const Checker *c, const Type *a, const Type *b)
{
    if (!a->var.declared || !b->var.declared)
        return false;
    return owner_of(c, a) == owner_of(c, b);
}

static bool unify_vars(Checker *c, Type *a, Type *b)
{
    if (declared_clash(c, a, b))
        return fail(c, FAIL_DECLARED, a);
    if (a->var.declared) { /* the declared one stays */
        Type *t = a;
        a = b;
        b = t;
    }
    if (!narrow(&b->var.cls, a->var.cls))
        return fail(c, FAIL_MISMATCH, NULL);
    if (a->var.level < b->var.level)
        b->var.level = a->var.level;
    b->var.is_literal = b->var.is_literal || a->var.is_literal;
    a->var.link = b;
    return true;
}

static bool bind_var(Checker *c, Type *var, Type *t)
{
    if (t->kind == TY_ERROR) {
        if (!var->var.declared)
            var->var.link = t;
        return true;
    }
    if (var->var.declared)
        return fail(c, FAIL_DECLARED, var);
    if (occurs(var, t))
        return fail(c, FAIL_INFINITE, NULL);
    if (!constrain(c, t, var->var.cls))
        return fail(c, FAIL_MISMATCH, NULL);
    var->var.link = t;
    return true;
}

/* ---- unification ---- */

static bool unify_items(Checker *c, Type **a, Type **b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!a[i] != !b[i])
            return fail(c, FAIL_MISMATCH, NULL);
        if (a[i] && !unify(c, a[i], b[i]))
            return false;
    }
    return true;
}

static bool unify_named(Checker *c, Type *a, Type *b)
{
    size_t bytes = a->record.n * sizeof(Name);
    if (a->record.n != b->record.n || (bytes && memcmp(a->record.names, b->record.names, bytes) != 0))
        return fail(c, FAIL_MISMATCH, NULL);
    return unify_items(c, a->record.items, b->record.items, a->record.n);
}

static bool unify_same_kind(Checker *c, Type *a, Type *b)
{
    switch (a->kind) {
    case TY_SCALAR: return a->scalar == b->scalar || fail(c, FAIL_MISMATCH, NULL);
    case TY_TUPLE:
        if (a->tuple.n != b->tuple.n)
            return fail(c, FAIL_MISMATCH, NULL);
        return unify_items(c, a->tuple.items, b->tuple.items, a->tuple.n);
    case TY_RECORD:
    case TY_SUM: return unify_named(c, a, b);
    case TY_ARRAY: return unify(c, a->element, b->element);
    case TY_FUN: return unify(c, a->fun.from, b->fun.from) && unify(c, a->fun.to, b->fun.to);
    case TY_VAR:
    case TY_RIGID:
    case TY_ERROR: break;
    }
    return fail(c, FAIL_MISMATCH, NULL);
}

bool unify(Checker *c, Type *a, Type *b)
{
    a = type_prune(a);
    b = type_prune(b);
    if (a == b)
        return true;
    if (a->kind == TY_VAR && b->kind == TY_VAR)
        return unify_vars(c, a, b);
    if (a->kind == TY_VAR)
        return bind_var(c, a, b);
    if (b->kind == TY_VAR)
        return bind_var(c, b, a);
    if (a->kind == TY_ERROR || b->kind == TY_ERROR) /* one message is enough */
        return true;
    return a->kind == b->kind ? unify_same_kind(c, a, b) : fail(c, FAIL_MISMATCH, NULL);
}
