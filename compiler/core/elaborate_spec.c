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
    case PAT_CTOR:
        return false;
    case PAT_TUPLE:
        for (uint32_t i = 0; i < p->tuple.n; i++)
            found |= pattern_has_sizes(e, p->tuple.items[i]);
        return found;
    case PAT_RECORD:
        for (uint32_t i = 0; i < p->record.n; i++)
            found |= pattern_has_sizes(e, p->record.fields[i].pat);
        return found;
    case PAT_ASCRIBE:
        return elab_type_has_sizes(e, p->ascribe.type) || pattern_has_sizes(e, p->ascribe.pat);
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

static Name unique_name(Elab *e, const char *base)
{
    Name name = intern_cstr(e->s, base);
    for (uint32_t k = 2;; k++) {
        bool taken = false;
        for (uint32_t i = 0; i < e->fn_names.n && !taken; i++)
            taken = e->fn_names.at[i] == name;
        if (!taken)
            break;
        name = intern_cstr(e->s, arena_printf(e->arena, "%s_%u", base, k));
    }
    vec_push(e->arena, &e->fn_names, name);
    return name;
}

static Spec *find_spec(const Elab *e, Name key)
{
    for (uint32_t i = 0; i < e->specs.n; i++)
        if (e->specs.at[i]->key == key)
            return e->specs.at[i];
    return NULL;
}

static bool too_many(Elab *e, const Def *def)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->specs.n; i++)
        n += def_of(e->specs.at[i]->callee) == def;
    return n >= MAX_SPECS_PER_DEF;
}

static void gather(Elab *e, const Value *f, Value **args, uint32_t n, Atoms *atoms)
{
    uint32_t fuel = MAX_CLOSURE_NODES;
    closure_atoms(e, f, atoms, &fuel);
    for (uint32_t i = 0; i < n; i++)
        closure_atoms(e, args[i], atoms, &fuel);
}

/* One parameter per atom that callee and arguments consist of; both are rebuilt over them. */
static Spec *new_spec(Elab *e, Name key, const Value *f, Value **args, uint32_t n, const Atoms *actual,
                      bool sizes_hold)
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
    return spec;
}

static Spec *specialise(Elab *e, const Value *f, Value **args, uint32_t n, const Atoms *actual, bool sizes_hold)
{
    Name key = key_of(e, f, args, n, sizes_hold);
    Spec *spec = key ? find_spec(e, key) : NULL;
    if (spec)
        return spec;
    if (!key || too_many(e, def_of(f))) {
        elab_give_up(e, "this call would need ever new versions of `%s`: a function passed down its recursion "
                        "grows at each level", def_of(f)->name);
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
        elab_give_up(e, "`%s` is recursive and returns a function inside a tuple or record: this is not supported",
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
