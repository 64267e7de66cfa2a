/* Patterns, match and constructors. */
#include "core/elaborate_internal.h"

#include <assert.h>

/* ---- sums: a tag, then every constructor's payload ---- */

Value *elab_sum_payload(Elab *e, const Value *sum, uint32_t ctor)
{
    uint32_t at = 1;
    for (uint32_t i = 0; i < ctor; i++)
        if (sum->type->record.items[i])
            at += ty_leaf_count(e, sum->type->record.items[i]);
    return val_from_atoms(e, sum->type->record.items[ctor], sum->leaves.atoms + at);
}

Value *elab_ctor(Elab *e, const Scope *sc, Expr *x)
{
    Type *type = elab_expr_type(e, sc, x);
    Atoms atoms = {0};
    uint32_t tag = ty_field(type, x->ctor.name);
    vec_push(e->arena, &atoms, core_const(core_tag_type(type->record.n), tag));
    for (uint32_t i = 0; i < type->record.n; i++) {
        if (!type->record.items[i])
            continue;
        bool own = i == tag && x->ctor.arg;
        val_atoms(e, own ? elab_expr(e, sc, x->ctor.arg) : val_default(e, type->record.items[i]), &atoms);
    }
    return val_leaves(e, type, atoms.at, atoms.n);
}

/* ---- binding ---- */

/* A readable name for the variable in dumps. */
static void hint(Elab *e, const Value *v, Name name)
{
    if (v->kind != VALUE_LEAVES)
        return;
    for (uint32_t i = 0; i < v->leaves.n; i++) {
        CoreAtom a = v->leaves.atoms[i];
        if (!a.is_const && !e->fn->vars.at[a.var].hint)
            e->fn->vars.at[a.var].hint = name;
    }
}

void elab_bind_pattern(Elab *e, Scope *sc, const Pat *p, Value *v)
{
    switch (p->kind) {
    case PAT_NAME:
        hint(e, v, p->name);
        env_bind_value(e, sc, p->id, p->name, v);
        return;
    case PAT_WILD:
    case PAT_LITERAL: return;
    case PAT_TUPLE:
        for (uint32_t i = 0; i < p->tuple.n; i++)
            elab_bind_pattern(e, sc, p->tuple.items[i], v->product.items[i]);
        return;
    case PAT_RECORD:
        for (uint32_t i = 0; i < p->record.n; i++) {
            Value *item = v->product.items[ty_field(v->type, p->record.fields[i].name)];
            elab_bind_pattern(e, sc, p->record.fields[i].pat, item);
        }
        return;
    case PAT_ASCRIBE: {
        Span outer = e->at;
        e->at = elab_place(e, sc, p->span);
        elab_sizes(e, sc, p->ascribe.type, v);
        e->at = outer;
        elab_bind_pattern(e, sc, p->ascribe.pat, v);
        return;
    }
    case PAT_CTOR:
        if (p->ctor.arg)
            elab_bind_pattern(e, sc, p->ctor.arg, elab_sum_payload(e, v, ty_field(v->type, p->ctor.name)));
        return;
    }
}

/* ---- testing ---- */

/* Does the pattern match? Total: payloads of other tags are zeros, so they may be looked at. */
static CoreAtom test(Elab *e, const Scope *sc, const Pat *p, const Value *v)
{
    CoreAtom all = core_const(SC_BOOL, 1);
    switch (p->kind) {
    case PAT_NAME:
    case PAT_WILD: return all;
    case PAT_ASCRIBE: return test(e, sc, p->ascribe.pat, v);
    case PAT_LITERAL:
        return p->literal->kind == E_STRING ? elab_equal_text(e, sc, v, p->literal)
                                            : elab_equal(e, v, elab_expr(e, sc, p->literal));
    case PAT_TUPLE:
        for (uint32_t i = 0; i < p->tuple.n; i++)
            all = anf_and(e, all, test(e, sc, p->tuple.items[i], v->product.items[i]));
        return all;
    case PAT_RECORD:
        for (uint32_t i = 0; i < p->record.n; i++) {
            const Value *item = v->product.items[ty_field(v->type, p->record.fields[i].name)];
            all = anf_and(e, all, test(e, sc, p->record.fields[i].pat, item));
        }
        return all;
    case PAT_CTOR: {
        uint32_t k = ty_field(v->type, p->ctor.name);
        if (v->type->record.n > 1)
            all = anf_compare(e, PRIM_EQ, v->leaves.atoms[0], core_const(v->leaves.atoms[0].type.scalar, k));
        if (p->ctor.arg)
            all = anf_and(e, all, test(e, sc, p->ctor.arg, elab_sum_payload(e, v, k)));
        return all;
    }
    }
    return all;
}

/* ---- match ---- */

static Value *case_body(Elab *e, const Scope *sc, const MatchCase *c, Value *subject)
{
    Scope inner = *sc;
    elab_bind_pattern(e, &inner, c->pat, subject);
    return elab_expr(e, &inner, c->body);
}

/* The last case of an exhaustive match needs no test. */
static Value *cases_from(Elab *e, const Scope *sc, const Expr *x, Value *subject, uint32_t i)
{
    const MatchCase *c = &x->match.cases[i];
    bool last = i + 1 == x->match.n;
    if (last && e->checked->exhaustive[x->id])
        return case_body(e, sc, c, subject);
    CoreAtom matches = test(e, sc, c->pat, subject);
    if (last) {
        anf_check(e, matches, ERR_MATCH, NULL, NULL, 0);
        return case_body(e, sc, c, subject);
    }
    if (matches.is_const)
        return matches.bits ? case_body(e, sc, c, subject) : cases_from(e, sc, x, subject, i + 1);
    CoreBlock *outer = anf_block_open(e);
    CoreBlock *then_b = anf_block_close_value(e, outer, case_body(e, sc, c, subject));
    outer = anf_block_open(e);
    CoreBlock *else_b = anf_block_close_value(e, outer, cases_from(e, sc, x, subject, i + 1));
    return elab_if_parts(e, matches, then_b, else_b, elab_expr_type(e, sc, x));
}

Value *elab_match(Elab *e, const Scope *sc, Expr *x)
{
    Value *subject = elab_expr(e, sc, x->match.subject);
    return cases_from(e, sc, x, subject, 0);
}
