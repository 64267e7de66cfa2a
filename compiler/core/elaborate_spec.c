/* Specialisation: which core function a call goes to.
 *
 * A function is specialised by its types and by the identity of the functions among its arguments:
 * their code, their types, and the functions they captured in turn. What those captured of data becomes
 * extra parameters. So a function argument that is passed unchanged down a recursion leads to the same
 * specialisation again, over other captured values.
 *
 * Sizes of rows in parameters (`[n][m]t`) are checked by the caller, who often knows that they hold: a check in
 * the function would look at every row in every call, also in those that pass the same matrix down a recursion or
 * into each element of a map. Only what is called from outside checks its own. */
#include "core/elaborate_internal.h"

#include <assert.h>

enum { MAX_SPECS_PER_DEF = 200, MAX_CLOSURE_NODES = 20000 };

static const Def *def_of(const Value *f)
{
    return f->fun.kind == FUN_DEF ? f->fun.def : f->fun.env->let_fun->let_fun.def;
}

/* ---- sizes of rows ---- */

static bool pattern_has_sizes(const Elab *e, const Pat *p)
{
    bool found = false;
    switch (p->kind) {
    case PAT_NAME:
    case PAT_WILD:
    case PAT_LITERAL:
    case PAT_CTOR: return false;
    case PAT_TUPLE:
        for (uint32_t i = 0; i < p->tuple.n; i++)
            found |= pattern_has_sizes(e, p->tuple.items[i]);
        return found;
    case PAT_RECORD:
        for (uint32_t i = 0; i < p->record.n; i++)
            found |= pattern_has_sizes(e, p->record.fields[i].pat);
        return found;
    case PAT_ASCRIBE: return elab_type_has_sizes(e, p->ascribe.type) || pattern_has_sizes(e, p->ascribe.pat);
    }
    return false;
}

static bool has_rows(Elab *e, Type *t)
{
    CoreTypes leaves = ty_leaves(e, t);
    for (uint32_t i = 0; i < leaves.n; i++)
        if (leaves.at[i].rank > 1)
            return true;
    return false;
}

static bool sizes_of_rows(Elab *e, const Value *f, Value **args, uint32_t n)
{
    const Def *def = def_of(f);
    for (uint32_t i = 0; i < n && i < def->nparams; i++)
        if (!ty_has_function(args[i]->type) && pattern_has_sizes(e, def->params[i]) && has_rows(e, args[i]->type))
            return true;
    return false;
}

static void check_sizes(Elab *e, const Value *f, Value **args, uint32_t n)
{
    Scope sc = elab_scope_of(e, f);
    const Def *def = def_of(f);
    for (uint32_t i = 0; i < n && i < def->nparams; i++)
        elab_bind_pattern(e, &sc, def->params[i], args[i]);
}

/* ---- versions ---- */

static Name key_of(Elab *e, const Value *f, Value **args, uint32_t n, bool sizes_hold)
{
    uint32_t fuel = MAX_CLOSURE_NODES;
    StrBuf key = {0};
    strbuf_add(&key, sizes_hold ? "S" : "");
    closure_key(e, f, &key, &fuel);
    for (uint32_t i = 0; i < n; i++)
        closure_key(e, args[i], &key, &fuel);
    Name name = fuel > 0 ? intern(e->s, key.text, key.n) : NULL;
    strbuf_free(&key);
    return name;
}

static uint32_t count_in(const PtrMap *m, const void *key) { return (uint32_t)(uintptr_t)ptrmap_get(m, key); }

static void set_count(Elab *e, PtrMap *m, const void *key, uint32_t n)
{
    ptrmap_put(e->arena, m, key, (void *)(uintptr_t)n);
}

static Name unique_name(Elab *e, const char *base)
{
    Name first = intern_cstr(e->s, base), name = first;
    uint32_t k = count_in(&e->fn_names, first);
    for (; count_in(&e->fn_names, name); k++)
        name = intern_cstr(e->s, arena_printf(e->arena, "%s_%u", base, k));
    set_count(e, &e->fn_names, first, k > 2 ? k : 2);
    if (name != first)
        set_count(e, &e->fn_names, name, 2);
    return name;
}

static void gather(Elab *e, const Value *f, Value **args, uint32_t n, Atoms *atoms)
{
    uint32_t fuel = MAX_CLOSURE_NODES;
    closure_atoms(e, f, atoms, &fuel);
    for (uint32_t i = 0; i < n; i++)
        closure_atoms(e, args[i], atoms, &fuel);
}

/* One parameter per atom that callee and arguments consist of; both are rebuilt over them. */
static Spec *new_spec(Elab *e, Name key, const Value *f, Value **args, uint32_t n, const Atoms *actual, bool sizes_hold)
{
    const Def *def = def_of(f);
    CoreFn *fn = arena_new(e->arena, CoreFn);
    fn->name = unique_name(e, def->name);
    fn->span = elab_place(e, &(Scope){.user = e->at}, def->span);
    fn->recursive = f->fun.kind == FUN_LOCAL || e->checked->defs[def->index].recursive;
    fn->index = e->p->fns.n;
    vec_push(e->arena, &e->p->fns, fn);
    fn->nparams = actual->n;
    fn->params = arena_array(e->arena, CoreVar, actual->n);
    CoreAtom *formal = arena_array(e->arena, CoreAtom, actual->n);
    for (uint32_t i = 0; i < actual->n; i++) {
        fn->params[i] = core_new_var(e->p, fn, actual->at[i].type, NULL);
        formal[i] = core_var_atom(fn->params[i], actual->at[i].type);
    }
    CoreTypes results = ty_leaves(e, ty_after(f->fun.base, n));
    fn->results = results.at;
    fn->nresults = results.n;
    Spec *spec = arena_new(e->arena, Spec);
    *spec = (Spec){.key = key, .fn = fn, .nargs = n, .user = e->at, .sizes_hold = sizes_hold};
    CoreFn *outer = e->fn;
    e->fn = NULL; /* the values are rebuilt outside any function: nothing is known of their lengths yet */
    const CoreAtom *at = formal;
    spec->callee = closure_rebase(e, f, &at);
    spec->args = arena_array(e->arena, Value *, n);
    for (uint32_t i = 0; i < n; i++)
        spec->args[i] = closure_rebase(e, args[i], &at);
    assert(at == formal + actual->n && "elaborate: closure rebuilt over other atoms than it has");
    e->fn = outer;
    vec_push(e->arena, &e->specs, spec);
    ptrmap_put(e->arena, &e->specs_by_key, key, spec);
    set_count(e, &e->specs_of_def, def, count_in(&e->specs_of_def, def) + 1);
    return spec;
}

static Spec *specialise(Elab *e, const Value *f, Value **args, uint32_t n, const Atoms *actual, bool sizes_hold)
{
    Name key = key_of(e, f, args, n, sizes_hold);
    Spec *spec = key ? ptrmap_get(&e->specs_by_key, key) : NULL;
    if (spec)
        return spec;
    if (!key) {
        elab_give_up(e, DIAG_EXPANSION,
                     "this call passes more than %d values to `%s`, with those that its function "
                     "arguments have captured",
                     MAX_CLOSURE_NODES, def_of(f)->name);
        return NULL;
    }
    if (count_in(&e->specs_of_def, def_of(f)) >= MAX_SPECS_PER_DEF) {
        elab_give_up(e, DIAG_SPECIALISATION,
                     "this call would need ever new versions of `%s`: a function passed down its recursion "
                     "grows at each level",
                     def_of(f)->name);
        return NULL;
    }
    return new_spec(e, key, f, args, n, actual, sizes_hold);
}

Spec *elab_specialise(Elab *e, const Value *f, Value **args, uint32_t n)
{
    Atoms actual = {0};
    gather(e, f, args, n, &actual);
    return specialise(e, f, args, n, &actual, false);
}

Value *elab_call(Elab *e, const Value *f, Value **args, uint32_t n)
{
    Type *result = ty_after(f->fun.base, n);
    Atoms actual = {0};
    if (ty_has_function(result))
        elab_give_up(e, DIAG_RECURSIVE_RESULT,
                     "`%s` is recursive, so that it cannot return a function, not even inside "
                     "a tuple or record",
                     def_of(f)->name);
    gather(e, f, args, n, &actual);
    bool sizes = sizes_of_rows(e, f, args, n);
    if (sizes)
        check_sizes(e, f, args, n);
    Spec *spec = e->gave_up ? NULL : specialise(e, f, args, n, &actual, sizes);
    if (!spec)
        return val_default(e, result);
    CoreStmt *s = anf_stmt(e, CORE_CALL);
    s->call.fn = spec->fn;
    s->call.args = actual.at;
    s->call.nargs = actual.n;
    CoreAtom *out = anf_bind(e, s, spec->fn->results, spec->fn->nresults);
    anf_push(e, s);
    return val_from_atoms(e, result, out);
}
