/* Environments, and what a closure captures: the part of its environment that its code mentions. */
#include "core/elaborate_internal.h"

#include "syntax/ast_walk.h"

#include <assert.h>

/* ---- binding and finding ---- */

static void put_before(Env *entry, Env *next)
{
    entry->next = next;
    entry->lineage = lineage_before(next ? &next->lineage : NULL);
}

static Env *push_entry(Elab *e, Scope *sc, EnvKind kind, Name name)
{
    Env *entry = arena_new(e->arena, Env);
    put_before(entry, sc->env);
    entry->kind = kind;
    entry->name = name;
    sc->env = entry;
    return entry;
}

void env_bind_value(Elab *e, Scope *sc, uint32_t pat_id, Name name, Value *v)
{
    Env *entry = push_entry(e, sc, ENV_VALUE, name);
    entry->pat_id = pat_id;
    entry->value = v;
    e->latest[pat_id] = entry;
}

void env_bind_size(Elab *e, Scope *sc, Name name, CoreAtom n)
{
    push_entry(e, sc, ENV_SIZE, name)->value = val_scalar(e, n);
}

void env_bind_fun(Elab *e, Scope *sc, Expr *let_fun)
{
    Env *home = sc->env;
    Env *entry = push_entry(e, sc, ENV_FUN, let_fun->let_fun.def->name);
    entry->home = home;
    entry->let_fun = let_fun;
    entry->recursive = e->checked->let_fun_recursive && e->checked->let_fun_recursive[let_fun->id];
    entry->targs = sc->targs;
    entry->ntargs = sc->ntargs;
    entry->user = sc->user;
}

Env *env_find_pat(const Elab *e, Env *env, uint32_t pat_id)
{
    Env *latest = e->latest[pat_id];
    if (env && latest && lineage_has(&env->lineage, &latest->lineage))
        return latest;
    while (env && !(env->kind == ENV_VALUE && env->pat_id == pat_id))
        env = env->next;
    return env;
}

static bool can_be_size(const Env *entry)
{
    return entry->kind == ENV_SIZE || (entry->kind == ENV_VALUE && ty_is_scalar(entry->value->type) &&
                                       scalar_is_int(ty_scalar(entry->value->type)));
}

Env *env_find_size(Env *env, Name name)
{
    while (env && !(env->name == name && can_be_size(env)))
        env = env->next;
    return env;
}

Env *env_find_fun(Env *env, const Def *def)
{
    while (env && !(env->kind == ENV_FUN && env->let_fun->let_fun.def == def))
        env = env->next;
    return env;
}

Env *env_of_local(Elab *e, const Env *entry)
{
    if (!entry->recursive)
        return entry->home;
    Env *self = arena_new(e->arena, Env);
    *self = *entry;
    put_before(self, entry->home);
    return self;
}

/* ---- what code mentions ---- */

typedef VEC(Env *) Entries;
typedef struct Free {
    Elab *e;
    Env *env;
    Entries found;
} Free;

static void free_entry(Free *f, Env *entry)
{
    if (!entry)
        return; /* bound inside the code */
    for (uint32_t i = 0; i < f->found.n; i++)
        if (f->found.at[i] == entry)
            return;
    vec_push(f->e->arena, &f->found, entry);
}

static void free_size(void *context, const TypeExpr *te)
{
    Free *f = context;
    if (te->kind == TE_ARRAY && te->array.size_kind == SIZE_NAME)
        free_entry(f, env_find_size(f->env, te->array.size_name));
}

static void free_name(void *context, Expr *x)
{
    Free *f = context;
    if (x->kind != E_NAME)
        return;
    const Ref *ref = &f->e->checked->refs[x->id];
    switch (ref->kind) {
    case REF_LOCAL: free_entry(f, env_find_pat(f->e, f->env, ref->pat_id)); return;
    case REF_LOCAL_FUN: free_entry(f, env_find_fun(f->env, ref->def)); return;
    case REF_SIZE: free_entry(f, env_find_size(f->env, ref->size_name)); return;
    case REF_NONE:
    case REF_DEF:
    case REF_PRIM: return;
    }
}

/* Outermost first: rebuilt in this order, names shadow each other as before. */
static void sort_by_depth(Entries *entries)
{
    for (uint32_t i = 1; i < entries->n; i++) {
        Env *x = entries->at[i];
        uint32_t j = i;
        for (; j > 0 && entries->at[j - 1]->lineage.depth > x->lineage.depth; j--)
            entries->at[j] = entries->at[j - 1];
        entries->at[j] = x;
    }
}

static Entries entries_of_local(Elab *e, Env *entry)
{
    Free f = {.e = e, .env = entry->home};
    ast_walk(entry->let_fun->let_fun.def, &(AstVisitor){.context = &f, .expr = free_name, .type = free_size});
    sort_by_depth(&f.found);
    return f.found;
}

static Entries entries_of_closure(Elab *e, const Value *v)
{
    if (v->fun.kind == FUN_LOCAL)
        return entries_of_local(e, v->fun.env);
    Free f = {.e = e, .env = v->fun.env};
    if (v->fun.kind == FUN_LAMBDA) {
        ast_walk_expr(v->fun.expr, &(AstVisitor){.context = &f, .expr = free_name, .type = free_size});
        sort_by_depth(&f.found);
    }
    return f.found;
}

/* ---- the atoms of a closure ---- */

static void entries_atoms(Elab *e, Entries entries, Atoms *out, uint32_t *fuel)
{
    for (uint32_t i = 0; i<entries.n && * fuel> 0; i++) {
        if (entries.at[i]->kind == ENV_FUN)
            entries_atoms(e, entries_of_local(e, entries.at[i]), out, fuel);
        else
            closure_atoms(e, entries.at[i]->value, out, fuel);
    }
}

void closure_atoms(Elab *e, const Value *v, Atoms *out, uint32_t *fuel)
{
    if (*fuel == 0)
        return;
    --*fuel;
    switch (v->kind) {
    case VALUE_LEAVES: val_atoms(e, v, out); return;
    case VALUE_PRODUCT:
        for (uint32_t i = 0; i < v->product.n; i++)
            closure_atoms(e, v->product.items[i], out, fuel);
        return;
    case VALUE_FUN:
        entries_atoms(e, entries_of_closure(e, v), out, fuel);
        for (uint32_t i = 0; i < v->fun.nargs; i++)
            closure_atoms(e, v->fun.args[i], out, fuel);
        return;
    }
}

/* ---- the identity of a closure ---- */

static void key_types(Elab *e, StrBuf *out, Type **targs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        strbuf_printf(out, "%s%s", i ? "," : "<", type_text(e->arena, targs[i]));
    strbuf_add(out, n ? ">" : "");
}

static void key_entries(Elab *e, Entries entries, StrBuf *out, uint32_t *fuel)
{
    for (uint32_t i = 0; i<entries.n && * fuel> 0; i++) {
        Env *entry = entries.at[i];
        if (entry->kind == ENV_FUN) {
            strbuf_printf(out, "F%u", entry->let_fun->id);
            key_types(e, out, entry->targs, entry->ntargs);
            key_entries(e, entries_of_local(e, entry), out, fuel);
        } else {
            closure_key(e, entry->value, out, fuel);
        }
        strbuf_add(out, ";");
    }
}

static void key_fun(Elab *e, const Value *v, StrBuf *out, uint32_t *fuel)
{
    switch (v->fun.kind) {
    case FUN_LAMBDA: strbuf_printf(out, "L%u", v->fun.expr->id); break;
    case FUN_LOCAL: strbuf_printf(out, "F%u", v->fun.env->let_fun->id); break;
    case FUN_DEF: strbuf_printf(out, "D%u", v->fun.def->index); break;
    case FUN_BUILTIN: strbuf_printf(out, "B%d:%s", (int)v->fun.builtin, type_text(e->arena, v->fun.base)); break;
    case FUN_OP:
        strbuf_printf(out, "O%d%s:%s", (int)v->fun.op, v->fun.flip ? "r" : "", type_text(e->arena, v->fun.base));
        break;
    case FUN_POISON: strbuf_add(out, "!"); break;
    }
    key_types(e, out, v->fun.targs, v->fun.ntargs);
    strbuf_add(out, "{");
    key_entries(e, entries_of_closure(e, v), out, fuel);
    strbuf_add(out, "}(");
    for (uint32_t i = 0; i < v->fun.nargs; i++)
        closure_key(e, v->fun.args[i], out, fuel);
    strbuf_add(out, ")");
}

void closure_key(Elab *e, const Value *v, StrBuf *out, uint32_t *fuel)
{
    if (*fuel == 0)
        return;
    --*fuel;
    switch (v->kind) {
    case VALUE_LEAVES: strbuf_add(out, "v"); return;
    case VALUE_PRODUCT:
        strbuf_add(out, "[");
        for (uint32_t i = 0; i < v->product.n; i++)
            closure_key(e, v->product.items[i], out, fuel);
        strbuf_add(out, "]");
        return;
    case VALUE_FUN: key_fun(e, v, out, fuel); return;
    }
}

/* ---- the same closure over other atoms ---- */

static Env *rebase_entries(Elab *e, Entries entries, const CoreAtom **atoms);

static Env *rebase_entry(Elab *e, Env *entry, const CoreAtom **atoms)
{
    Env *copy = arena_new(e->arena, Env);
    *copy = *entry;
    if (entry->kind == ENV_FUN)
        copy->home = rebase_entries(e, entries_of_local(e, entry), atoms);
    else
        copy->value = closure_rebase(e, entry->value, atoms);
    return copy;
}

static Env *rebase_entries(Elab *e, Entries entries, const CoreAtom **atoms)
{
    Env *env = NULL;
    for (uint32_t i = 0; i < entries.n; i++) {
        Env *copy = rebase_entry(e, entries.at[i], atoms);
        put_before(copy, env);
        env = copy;
    }
    return env;
}

static Value *rebase_fun(Elab *e, const Value *v, const CoreAtom **atoms)
{
    Value *copy = arena_new(e->arena, Value);
    *copy = *v;
    if (v->fun.kind == FUN_LOCAL)
        copy->fun.env = rebase_entry(e, v->fun.env, atoms);
    else
        copy->fun.env = rebase_entries(e, entries_of_closure(e, v), atoms);
    copy->fun.args = arena_array(e->arena, Value *, v->fun.nargs);
    for (uint32_t i = 0; i < v->fun.nargs; i++)
        copy->fun.args[i] = closure_rebase(e, v->fun.args[i], atoms);
    return copy;
}

Value *closure_rebase(Elab *e, const Value *v, const CoreAtom **atoms)
{
    switch (v->kind) {
    case VALUE_LEAVES: {
        const CoreAtom *at = *atoms;
        *atoms += v->leaves.n;
        return val_leaves(e, v->type, at, v->leaves.n);
    }
    case VALUE_PRODUCT: {
        Value **items = arena_array(e->arena, Value *, v->product.n);
        for (uint32_t i = 0; i < v->product.n; i++)
            items[i] = closure_rebase(e, v->product.items[i], atoms);
        return val_product(e, v->type, items);
    }
    case VALUE_FUN: return rebase_fun(e, v, atoms);
    }
    return NULL;
}
