#include "types/check_internal.h"

#include <string.h>

/* Quantified variables become TY_RIGID by linking the variable cells to them: the tables, which mention
 * the cells, then show rigids without being touched. */

typedef struct Rigids {
    VEC(Type *) at;
    uint32_t level; /* variables above it are quantified */
} Rigids;

static void collect(Checker *c, Rigids *r, Type *t)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_VAR:
        if (t->var.level <= r->level)
            return;
        for (uint32_t i = 0; i < r->at.n; i++) {
            if (r->at.at[i] == t)
                return;
        }
        vec_push(c->arena, &r->at, t);
        return;
    case TY_TUPLE:
        for (uint32_t i = 0; i < t->tuple.n; i++)
            collect(c, r, t->tuple.items[i]);
        return;
    case TY_RECORD:
    case TY_SUM:
        for (uint32_t i = 0; i < t->record.n; i++) {
            if (t->record.items[i])
                collect(c, r, t->record.items[i]);
        }
        return;
    case TY_ARRAY: collect(c, r, t->element); return;
    case TY_FUN:
        collect(c, r, t->fun.from);
        collect(c, r, t->fun.to);
        return;
    case TY_SCALAR:
    case TY_RIGID:
    case TY_ERROR: return;
    }
}

/* Declared parameters come first, in their order, used or not. */
static void collect_declared(Checker *c, Rigids *r, const Def *def)
{
    for (uint32_t i = 0; i < c->declared.n; i++) {
        const Declared *d = &c->declared.at[i];
        if (d->owner != def)
            continue;
        const Type *t = type_prune(d->var);
        if (t->kind == TY_VAR && t->var.level <= r->level)
            diag_error(c->s, def->name_span, DIAG_RIGID_PARAMETER,
                       "type parameter `%s` of `%s` is not free: it is a type of the outer definition", d->name,
                       def->name);
        collect(c, r, d->var);
    }
}

static bool is_declared(const Rigids *r, Name name)
{
    for (uint32_t i = 0; i < r->at.n; i++) {
        if (r->at.at[i]->var.declared == name)
            return true;
    }
    return false;
}

/* The names a, b, … z, a1, b1, … from *next on, without the declared ones. */
static Name fresh_name(Checker *c, const Rigids *r, uint32_t *next)
{
    for (;;) {
        uint32_t k = (*next)++;
        char letter = (char)('a' + k % 26);
        Name name = intern_cstr(c->s, arena_printf(c->arena, k < 26 ? "%c" : "%c%u", letter, k / 26));
        if (!is_declared(r, name))
            return name;
    }
}

static Type **make_rigids(Checker *c, const Rigids *r, uint32_t first)
{
    Type **rigids = arena_array(c->arena, Type *, r->at.n);
    uint32_t next = 0;
    for (uint32_t i = 0; i < r->at.n; i++) {
        Type *var = r->at.at[i];
        Type *t = arena_new(c->arena, Type);
        t->kind = TY_RIGID;
        t->rigid.name = var->var.declared ? var->var.declared : fresh_name(c, r, &next);
        t->rigid.cls = var->var.cls;
        t->rigid.index = first + i;
        rigids[i] = t;
    }
    for (uint32_t i = 0; i < r->at.n; i++)
        r->at.at[i]->var.link = rigids[i];
    return rigids;
}

void generalise_local(Checker *c, LocalFun *f, Type *t)
{
    force_deferred(c, c->level);
    Rigids r = {.level = c->level};
    collect_declared(c, &r, f->def);
    collect(c, &r, t);
    f->poly = (Poly){t, make_rigids(c, &r, 0), r.at.n}; /* indices: number_local_rigids */
    for (uint32_t i = 0; i < f->own_refs.n; i++) {      /* one instance: its own */
        f->own_refs.at[i]->args = f->poly.rigids;
        f->own_refs.at[i]->nargs = f->poly.n;
    }
    mark_elements(t);
}

/* ---- groups ---- */

/* In a value, literals get their default: `def k = 3` is an i64. */
static void default_literals(Checker *c, Type *t)
{
    Rigids r = {.level = 0};
    collect(c, &r, t);
    for (uint32_t i = 0; i < r.at.n; i++) {
        if (r.at.at[i]->var.is_literal)
            resolve_type(c, r.at.at[i]);
    }
}

/* `entry main = pi` is an f64, too; but what a parameter is has to be known. */
static void default_result_numbers(Checker *c, const Def *def, Type *type)
{
    Rigids params = {.level = 0};
    Type *result = type_prune(type);
    for (uint32_t i = 0; i < def->nparams && result->kind == TY_FUN; i++) {
        collect(c, &params, result->fun.from);
        result = type_prune(result->fun.to);
    }
    Rigids all = params; /* what is in the result only is behind params.at.n */
    collect(c, &all, result);
    for (uint32_t i = params.at.n; i < all.at.n; i++) {
        if (all.at.at[i]->var.cls >= CLASS_NUM)
            resolve_type(c, all.at.at[i]);
    }
}

static void default_before(Checker *c, const Def *def, Type *t)
{
    if (def->is_entry)
        default_result_numbers(c, def, t);
    else if (def->nparams == 0 && type_prune(t)->kind != TY_FUN)
        default_literals(c, t);
}

static void number_local_rigids(Checker *c, uint32_t outermost)
{
    for (uint32_t i = 0; i < c->funs.n; i++) { /* enclosing functions first */
        LocalFun *f = c->funs.at[i];
        f->first = f->outer ? f->outer->first + f->outer->poly.n : outermost;
        for (uint32_t j = 0; j < f->poly.n; j++)
            f->poly.rigids[j]->rigid.index = f->first + j;
    }
}

static Scheme scheme_of(Checker *c, const Poly *p)
{
    TypeClass *classes = arena_array(c->arena, TypeClass, p->n);
    Name *names = arena_array(c->arena, Name, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        classes[i] = p->rigids[i]->rigid.cls;
        names[i] = p->rigids[i]->rigid.name;
    }
    return (Scheme){resolve_type(c, p->type), p->n, classes, names};
}

static void publish_locals(Checker *c)
{
    for (uint32_t i = 0; i < c->funs.n; i++) {
        const LocalFun *f = c->funs.at[i];
        c->out->local_schemes[f->expr_id] = scheme_of(c, &f->poly);
        c->out->let_fun_outer[f->expr_id] = f->first;
    }
}

/* References inside the component are to the same instance: their arguments are the rigids. */
static void publish_own_refs(Checker *c, Type **rigids, uint32_t n)
{
    for (uint32_t i = 0; i < c->refs.n; i++) {
        if (!c->refs.at[i].own_group)
            continue;
        Ref *ref = &c->out->refs[c->refs.at[i].e->id];
        ref->args = rigids;
        ref->nargs = n;
    }
}

/* All members quantify over the same variables: those of any member. */
void generalise_group(Checker *c, const uint32_t *defs, uint32_t n, Signature *const *sigs)
{
    force_deferred(c, 0);
    Rigids r = {.level = 0};
    for (uint32_t i = 0; i < n; i++) {
        Def *def = c->out->defs[defs[i]].def;
        default_before(c, def, sigs[i]->type);
        collect_declared(c, &r, def);
    }
    for (uint32_t i = 0; i < n; i++)
        collect(c, &r, sigs[i]->type);
    Type **rigids = make_rigids(c, &r, 0);
    number_local_rigids(c, r.at.n);
    for (uint32_t i = 0; i < n; i++) {
        c->polys[defs[i]] = (Poly){sigs[i]->type, rigids, r.at.n};
        c->out->defs[defs[i]].scheme = scheme_of(c, &c->polys[defs[i]]);
        c->monos[defs[i]] = NULL;
        mark_elements(sigs[i]->type);
    }
    publish_locals(c);
    publish_own_refs(c, rigids, r.at.n);
}

/* ---- instances ---- */

static Type *copy(Checker *c, Type *t, const Poly *p, Type **args);

static Type **copy_items(Checker *c, Type **items, uint32_t n, const Poly *p, Type **args)
{
    Type **result = items;
    for (uint32_t i = 0; i < n; i++) {
        Type *t = items[i] ? copy(c, items[i], p, args) : NULL;
        if (t != items[i] && result == items) {
            result = arena_array(c->arena, Type *, n);
            memcpy(result, items, n * sizeof *items);
        }
        if (result != items)
            result[i] = t;
    }
    return result;
}

/* Shares what does not mention the quantified variables. */
static Type *copy(Checker *c, Type *t, const Poly *p, Type **args)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_RIGID:
        for (uint32_t i = 0; i < p->n; i++) {
            if (p->rigids[i] == t)
                return args[i];
        }
        return t;
    case TY_TUPLE: {
        Type **items = copy_items(c, t->tuple.items, t->tuple.n, p, args);
        return items == t->tuple.items ? t : type_tuple(c->arena, items, t->tuple.n);
    }
    case TY_RECORD:
    case TY_SUM: {
        Type **items = copy_items(c, t->record.items, t->record.n, p, args);
        return items == t->record.items ? t : type_named(c->arena, t->kind, t->record.names, items, t->record.n);
    }
    case TY_ARRAY: {
        Type *element = copy(c, t->element, p, args);
        return element == t->element ? t : type_array(c->arena, element);
    }
    case TY_FUN: {
        Type *from = copy(c, t->fun.from, p, args), *to = copy(c, t->fun.to, p, args);
        return from == t->fun.from && to == t->fun.to ? t : type_fun(c->arena, from, to);
    }
    case TY_SCALAR:
    case TY_VAR:
    case TY_ERROR: return t;
    }
    return t;
}

Type *instantiate(Checker *c, const Poly *p, Type **args)
{
    if (p->n == 0)
        return p->type;
    for (uint32_t i = 0; i < p->n; i++)
        args[i] = new_var(c, p->rigids[i]->rigid.cls);
    return copy(c, p->type, p, args);
}

/* ---- final types ---- */

/* Only the pointers to variables are replaced, in place: every other node stays what it is. */
Type *resolve_type(Checker *c, Type *t)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_VAR: t->var.link = c->scalars[t->var.cls == CLASS_FLOAT ? SC_F64 : SC_I64]; return t->var.link;
    case TY_TUPLE:
        for (uint32_t i = 0; i < t->tuple.n; i++)
            t->tuple.items[i] = resolve_type(c, t->tuple.items[i]);
        return t;
    case TY_RECORD:
    case TY_SUM:
        for (uint32_t i = 0; i < t->record.n; i++) {
            if (t->record.items[i])
                t->record.items[i] = resolve_type(c, t->record.items[i]);
        }
        return t;
    case TY_ARRAY: t->element = resolve_type(c, t->element); return t;
    case TY_FUN:
        t->fun.from = resolve_type(c, t->fun.from);
        t->fun.to = resolve_type(c, t->fun.to);
        return t;
    case TY_SCALAR:
    case TY_RIGID:
    case TY_ERROR: return t;
    }
    return t;
}
