#include "types/check_internal.h"

#include <math.h>

/* Rules about finished types: ranges of literals, and no functions inside data. */

/* ---- literals ---- */

static uint64_t largest(Scalar s)
{
    uint32_t bits = 8 * scalar_bytes(s) - (scalar_is_signed(s) ? 1 : 0);
    return UINT64_MAX >> (64 - bits);
}

static void check_int(Checker *c, const Expr *e, Scalar s)
{
    bool negative = e->integer.negative && e->integer.magnitude != 0;
    uint64_t limit = largest(s);
    if (negative)
        limit = scalar_is_signed(s) ? limit + 1 : 0;
    if (e->integer.magnitude <= limit)
        return;
    if (scalar_is_signed(s))
        diag_error(c->s, e->span, DIAG_LITERAL_RANGE, "the literal does not fit: %s goes from %lld to %lld",
                   scalar_name(s), -(long long)largest(s) - 1, (long long)largest(s));
    else
        diag_error(c->s, e->span, DIAG_LITERAL_RANGE, "the literal does not fit: %s goes from 0 to %llu",
                   scalar_name(s), (unsigned long long)largest(s));
}

static void check_float(Checker *c, const Expr *e, Scalar s)
{
    double value = s == SC_F32 ? (double)(float)e->floating.value : e->floating.value;
    if (isinf(value))
        diag_error(c->s, e->span, DIAG_LITERAL_RANGE, "the literal is larger than every number of type %s",
                   scalar_name(s));
}

void check_literals(Checker *c)
{
    for (uint32_t i = 0; i < c->literals.n; i++) {
        const Expr *e = c->literals.at[i].e;
        const Type *t = resolve_type(c, c->literals.at[i].type);
        if (t->kind != TY_SCALAR)
            continue;
        if (e->kind == E_FLOAT)
            check_float(c, e, t->scalar);
        else if (scalar_is_int(t->scalar))
            check_int(c, e, t->scalar);
    }
}

/* ---- no functions inside data ---- */

bool contains_function(Type *t)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_FUN: return true;
    case TY_TUPLE:
        for (uint32_t i = 0; i < t->tuple.n; i++) {
            if (contains_function(t->tuple.items[i]))
                return true;
        }
        return false;
    case TY_RECORD:
    case TY_SUM:
        for (uint32_t i = 0; i < t->record.n; i++) {
            if (t->record.items[i] && contains_function(t->record.items[i]))
                return true;
        }
        return false;
    case TY_ARRAY: return contains_function(t->element);
    case TY_SCALAR:
    case TY_VAR:
    case TY_RIGID:
    case TY_ERROR: return false;
    }
    return false;
}

static void mark(Type *t, bool inside)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_RIGID: t->rigid.is_data = t->rigid.is_data || inside; return;
    case TY_TUPLE:
        for (uint32_t i = 0; i < t->tuple.n; i++)
            mark(t->tuple.items[i], inside);
        return;
    case TY_RECORD:
    case TY_SUM:
        for (uint32_t i = 0; i < t->record.n; i++) {
            if (t->record.items[i])
                mark(t->record.items[i], inside);
        }
        return;
    case TY_ARRAY: mark(t->element, true); return;
    case TY_FUN:
        mark(t->fun.from, false);
        mark(t->fun.to, false);
        return;
    case TY_SCALAR:
    case TY_VAR:
    case TY_ERROR: return;
    }
}

void mark_elements(Type *t) { mark(t, false); }

static const char *data_text(DataKind kind)
{
    switch (kind) {
    case DATA_ELEMENT: return "the elements of a sequence";
    case DATA_IF: return "the branches of an `if`";
    case DATA_MATCH: return "the cases of a `match`";
    case DATA_LOOP: return "the parts of a loop's state";
    }
    return "";
}

static void check_data_use(Checker *c, const DataUse *use)
{
    Type *t = resolve_type(c, use->type);
    if (!contains_function(t)) {
        mark(t, true);
        return;
    }
    if (mentions_error(t))
        return;
    diag_error(c->s, use->span, DIAG_FUNCTION_AS_DATA, "%s cannot %s functions, but this is %s", data_text(use->kind),
               t->kind == TY_FUN ? "be" : "contain", describe_type(c, t));
    if (t->kind == TY_FUN && use->kind == DATA_IF)
        diag_note_text(c->s, "let the function choose: `\\x -> if c then ... else ...`");
}

/* A polymorphic function that makes data of its type parameter cannot take a function there. */
static void check_instance(Checker *c, const RefUse *use)
{
    const Ref *ref = &c->out->refs[use->e->id];
    for (uint32_t i = 0; i < ref->nargs; i++) {
        if (!use->rigids[i]->rigid.is_data)
            continue;
        Type *arg = resolve_type(c, ref->args[i]);
        if (!contains_function(arg)) {
            mark(arg, true);
            continue;
        }
        if (mentions_error(arg))
            return;
        diag_error(c->s, use->e->span, DIAG_FUNCTION_AS_DATA,
                   "`%s` is used here with %s, but functions cannot be elements of sequences or results of a choice",
                   use->e->name, describe_type(c, arg));
        return;
    }
}

void check_data_uses(Checker *c)
{
    for (uint32_t i = 0; i < c->data.n; i++)
        check_data_use(c, &c->data.at[i]);
    for (uint32_t i = 0; i < c->refs.n; i++) {
        if (!c->refs.at[i].own_group)
            check_instance(c, &c->refs.at[i]);
    }
}
