#include "types/check_internal.h"

#include "dp_value.h"

#include <string.h>

/* Types as written to Types. Abbreviations are expanded where they are used; each is checked once by
 * itself first, so that a use never reports its mistakes again. Sizes are skipped here: they are no part
 * of a type. */

typedef enum TypeState { TYPE_UNSEEN, TYPE_VISITING, TYPE_GOOD, TYPE_BROKEN } TypeState;

static TypeState state_of(const Checker *c, const Def *d)
{
    return (TypeState)(uintptr_t)ptrmap_get(&c->type_states, d);
}

static void set_state(Checker *c, const Def *d, TypeState state)
{
    ptrmap_put(c->arena, &c->type_states, d, (void *)(uintptr_t)state);
}

static Type *find_param(const Checker *c, Name name)
{
    for (const TypeEnv *env = c->tenv; env; env = env->outer) {
        for (uint32_t i = 0; i < env->n; i++) {
            if (env->names[i] == name)
                return env->types[i];
        }
    }
    return NULL;
}

Type *find_scalar(const Checker *c, Name name)
{
    for (int i = 0; i < SCALAR_COUNT; i++) {
        if (c->scalar_names[i] == name)
            return c->scalars[i];
    }
    return NULL;
}

/* ---- size of types ---- */

enum { LARGEST_TYPE = 20000 };

/* Counts nodes, but not further than the budget. */
static uint32_t spend(Type *t, uint32_t budget)
{
    if (!t || budget == 0)
        return budget;
    t = type_prune(t);
    budget--;
    switch (t->kind) {
    case TY_TUPLE:
        for (uint32_t i = 0; i < t->tuple.n && budget; i++)
            budget = spend(t->tuple.items[i], budget);
        return budget;
    case TY_RECORD:
    case TY_SUM:
        for (uint32_t i = 0; i < t->record.n && budget; i++)
            budget = spend(t->record.items[i], budget);
        return budget;
    case TY_ARRAY: return spend(t->element, budget);
    case TY_FUN: return spend(t->fun.to, spend(t->fun.from, budget));
    case TY_SCALAR:
    case TY_VAR:
    case TY_RIGID:
    case TY_ERROR: return budget;
    }
    return budget;
}

bool too_large(Checker *c, Span span, Type *t)
{
    if (spend(t, LARGEST_TYPE))
        return false;
    diag_error(c->s, span, DIAG_TYPE_TOO_LARGE, "the type of this is too large: more than %d parts", LARGEST_TYPE);
    return true;
}

/* ---- names ---- */

static void unknown_type(Checker *c, const TypeExpr *te)
{
    Name name = te->name.name;
    if (ptrmap_get(&c->undefined_types, name)) /* once a definition is enough */
        return;
    ptrmap_put(c->arena, &c->undefined_types, name, (void *)te);
    diag_error(c->s, te->span, DIAG_UNDEFINED_TYPE, "type `%s` is not defined", name);
    if (note_library_type(c, te->span, name) || note_foreign_type(c->s, name))
        return;
    Suggestion g = dp_guess_start(name);
    for (const TypeEnv *env = c->tenv; env; env = env->outer) {
        for (uint32_t i = 0; i < env->n; i++)
            suggest_consider(&g, env->names[i]);
    }
    for (int i = 0; i < SCALAR_COUNT; i++)
        suggest_consider(&g, c->scalar_names[i]);
    suggest_consider_map(&g, &c->scope->types);
    suggest_consider_map(&g, &c->scope->imported_types);
    suggest_consider_map(&g, &c->scopes[0].types);
    if (g.best)
        suggest_note(c->s, te->span, &g);
    else if (strlen(name) == 1)
        diag_note(c->s, te->span, "a type parameter is declared behind the definition's name: `def f '%s …`", name);
}

/* Only parameters of abbreviations and abbreviations themselves are looked up while expanding. */
static Type *expand(Checker *c, Def *def, Type **args, uint32_t nargs)
{
    TypeEnv env = {def->type_params, args, nargs, NULL};
    const TypeEnv *saved = c->tenv;
    ModuleScope *saved_scope = c->scope;
    c->tenv = &env;
    c->scope = scope_of(c, def);
    Type *t = convert_type(c, def->result);
    c->tenv = saved;
    c->scope = saved_scope;
    return t;
}

void check_type_definition(Checker *c, Def *def)
{
    if (state_of(c, def) != TYPE_UNSEEN)
        return;
    set_state(c, def, TYPE_VISITING);
    c->undefined_types = (PtrMap){0};
    uint32_t errors = c->s->error_count;
    Type **args = arena_array(c->arena, Type *, def->ntype_params);
    for (uint32_t i = 0; i < def->ntype_params; i++)
        args[i] = c->error;
    Type *t = expand(c, def, args, def->ntype_params);
    bool good = c->s->error_count == errors && !too_large(c, def->name_span, t);
    set_state(c, def, good ? TYPE_GOOD : TYPE_BROKEN);
}

/* The type with the name that messages show it by. Scalars and parameters are their own names. */
static Type *named_by(Checker *c, const Type *t, const Def *def, Type **args, uint32_t nargs)
{
    bool composite =
        t->kind == TY_TUPLE || t->kind == TY_RECORD || t->kind == TY_SUM || t->kind == TY_ARRAY || t->kind == TY_FUN;
    if (!composite)
        return (Type *)t;
    TypeAlias *alias = arena_new(c->arena, TypeAlias);
    *alias = (TypeAlias){def, args, nargs};
    Type *named = arena_new(c->arena, Type);
    *named = *t;
    named->alias = alias;
    named->is_text = t->is_text || (is_library(c, def) && strcmp(def->name, "text") == 0);
    return named;
}

static Type *convert_abbreviation(Checker *c, const TypeExpr *te, Def *def)
{
    if (state_of(c, def) == TYPE_VISITING) {
        diag_error(c->s, te->span, DIAG_RECURSIVE_TYPE, "type `%s` is defined by itself", def->name);
        diag_note(c->s, def->name_span, "it is declared here");
        return c->error;
    }
    check_type_definition(c, def);
    ptrmap_put(c->arena, c->out->type_defs, te, def);
    uint32_t n = te->name.nargs;
    Type **args = arena_array(c->arena, Type *, n);
    for (uint32_t i = 0; i < n; i++)
        args[i] = convert_type(c, te->name.args[i]);
    if (n != def->ntype_params) {
        diag_error(c->s, te->span, DIAG_TYPE_ARGUMENTS, "type `%s` takes %u argument%s, not %u", def->name,
                   def->ntype_params, def->ntype_params == 1 ? "" : "s", n);
        diag_note(c->s, def->name_span, "it is declared here");
        return c->error;
    }
    if (state_of(c, def) != TYPE_GOOD)
        return c->error;
    Type *t = expand(c, def, args, n);
    return n && too_large(c, te->span, t) ? c->error : named_by(c, t, def, args, n); /* its arguments may double it */
}

/* M.t. Values do not hide modules here: no type is a field of one. */
static Type *convert_qualified(Checker *c, const TypeExpr *te)
{
    const ModuleScope *m = scope_find_module(c, te->name.module);
    if (!m) {
        diag_error(c->s, te->span, DIAG_UNDEFINED_MODULE, "module `%s` is not defined", te->name.module);
        note_unknown_module(c, te->span, te->name.module, te->name.name, true);
        return c->error;
    }
    Def *def = scope_exported(m, &m->types, te->name.name);
    if (def)
        return convert_abbreviation(c, te, def);
    no_such_member(c, te->span, te->name.module, &m->types, te->name.name);
    return c->error;
}

static Type *convert_name(Checker *c, const TypeExpr *te)
{
    Name name = te->name.name;
    if (te->name.module)
        return convert_qualified(c, te);
    Type *t = find_param(c, name);
    if (!t)
        t = find_scalar(c, name);
    if (t) {
        if (te->name.nargs == 0)
            return t;
        diag_error(c->s, te->span, DIAG_TYPE_ARGUMENTS, "type `%s` takes no arguments", name);
        return c->error;
    }
    Def *def;
    if (!scope_find_type(c, name, te->span, &def))
        unknown_type(c, te);
    else if (def)
        return convert_abbreviation(c, te, def);
    return c->error;
}

/* ---- records and sums ---- */

static bool duplicate_name(Checker *c, TypeKind kind, Name *names, const Span *spans, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (names[i] != names[j])
                continue;
            diag_error(c->s, spans[i], DIAG_NAME_TWICE,
                       kind == TY_SUM ? "constructor `#%s` occurs twice" : "field `%s` occurs twice", names[i]);
            diag_note(c->s, spans[j], "it is already here");
            return true;
        }
    }
    return false;
}

Type *named_type(Checker *c, TypeKind kind, Name *names, const Span *spans, Type **items, uint32_t n)
{
    if (duplicate_name(c, kind, names, spans, n))
        return c->error;
    Name *sorted_names = arena_array(c->arena, Name, n);
    Type **sorted = arena_array(c->arena, Type *, n);
    uint32_t *from = arena_array(c->arena, uint32_t, n), *order = arena_array(c->arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) { /* insertion sort: few fields */
        uint32_t j = i;
        for (; j > 0 && strcmp(names[from[j - 1]], names[i]) > 0; j--)
            from[j] = from[j - 1];
        from[j] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        sorted_names[i] = names[from[i]];
        sorted[i] = items[from[i]];
        order[from[i]] = i;
    }
    Type *t = type_named(c->arena, kind, sorted_names, sorted, n);
    t->record.order = kind == TY_RECORD ? order : NULL;
    return t;
}

static Type *convert_named(Checker *c, const TypeExpr *te, TypeKind kind)
{
    uint32_t n = te->record.n;
    if (kind == TY_SUM && n > DP_MAX_CONSTRUCTORS) {
        diag_error(c->s, te->span, DIAG_TYPE_TOO_LARGE, "this type has %u constructors, and %d are the most", n,
                   DP_MAX_CONSTRUCTORS);
        return c->error;
    }
    Name *names = arena_array(c->arena, Name, n);
    Span *spans = arena_array(c->arena, Span, n);
    Type **items = arena_array(c->arena, Type *, n);
    for (uint32_t i = 0; i < n; i++) {
        const TypeField *f = &te->record.fields[i];
        names[i] = f->name;
        spans[i] = f->span;
        items[i] = f->type ? convert_type(c, f->type) : NULL;
        if (kind == TY_SUM && f->type && f->type->kind == TE_NAME && f->type->name.nargs &&
            find_scalar(c, f->type->name.name))
            diag_note_text(c->s, "several values of a constructor are a tuple: `#%s (%s, …)`", f->name,
                           f->type->name.name);
    }
    return named_type(c, kind, names, spans, items, n);
}

static Type *convert_tuple(Checker *c, const TypeExpr *te)
{
    Type **items = arena_array(c->arena, Type *, te->tuple.n);
    for (uint32_t i = 0; i < te->tuple.n; i++)
        items[i] = convert_type(c, te->tuple.items[i]);
    return type_tuple(c->arena, items, te->tuple.n);
}

/* A size that names a variable needs that variable to be an integer. */
static void check_size(Checker *c, const TypeExpr *te)
{
    uintptr_t known = (uintptr_t)ptrmap_get(&c->known_sizes, te);
    if (!known)
        return;
    Type *t = c->out->pat_types[known - 1];
    if (t && !constrain(c, t, CLASS_INT))
        diag_error(c->s, te->array.size_span, DIAG_SIZE_TYPE, "a size is an integer, but `%s` is %s",
                   te->array.size_name, describe_type(c, t));
}

Type *convert_type(Checker *c, const TypeExpr *te)
{
    switch (te->kind) {
    case TE_NAME: return convert_name(c, te);
    case TE_TUPLE: return convert_tuple(c, te);
    case TE_RECORD: return convert_named(c, te, TY_RECORD);
    case TE_SUM: return convert_named(c, te, TY_SUM);
    case TE_ARRAY: {
        check_size(c, te);
        Type *element = convert_type(c, te->array.element);
        if (type_prune(element)->kind == TY_FUN)
            diag_error(c->s, te->array.element->span, DIAG_FUNCTION_AS_DATA,
                       "the elements of a sequence cannot be functions");
        return type_array(c->arena, element);
    }
    case TE_FUN: {
        Type *from = convert_type(c, te->fun.from);
        return type_fun(c->arena, from, convert_type(c, te->fun.to));
    }
    }
    return c->error;
}

/* ---- sums by constructor ---- */

static bool declares_ctor(const Def *d, Name ctor)
{
    if (d->result->kind != TE_SUM)
        return false;
    for (uint32_t i = 0; i < d->result->record.n; i++) {
        if (d->result->record.fields[i].name == ctor)
            return true;
    }
    return false;
}

static uint32_t count_ctor(const PtrMap *types, Name ctor, Def **found)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < types->cap; i++) {
        Def *d = types->values[i];
        if (types->keys[i] && declares_ctor(d, ctor)) {
            *found = d;
            n++;
        }
    }
    return n;
}

Type *sum_with_ctor(Checker *c, Name ctor)
{
    Def *def = NULL;
    uint32_t n = count_ctor(&c->scope->types, ctor, &def);
    if (n == 0) {
        for (uint32_t i = 0; i < c->scope->imports.n; i++)
            n += count_ctor(&c->scope->imports.at[i]->types, ctor, &def);
    }
    if (n == 0)
        n = count_ctor(&c->scopes[0].types, ctor, &def);
    if (n != 1)
        return NULL;
    if (state_of(c, def) != TYPE_GOOD)
        return c->error;
    Type **args = arena_array(c->arena, Type *, def->ntype_params);
    for (uint32_t i = 0; i < def->ntype_params; i++)
        args[i] = new_var(c, CLASS_ANY);
    return named_by(c, expand(c, def, args, def->ntype_params), def, args, def->ntype_params);
}

static void consider_ctors(Suggestion *g, const PtrMap *types)
{
    for (uint32_t i = 0; i < types->cap; i++) {
        const Def *d = types->values[i];
        if (!types->keys[i] || d->result->kind != TE_SUM)
            continue;
        for (uint32_t j = 0; j < d->result->record.n; j++)
            suggest_consider(g, d->result->record.fields[j].name);
    }
}

Suggestion suggest_ctor(const Checker *c, Name wanted)
{
    Suggestion g = dp_guess_start(wanted);
    consider_ctors(&g, &c->scope->types);
    for (uint32_t i = 0; i < c->scope->imports.n; i++)
        consider_ctors(&g, &c->scope->imports.at[i]->types);
    return g;
}

bool is_ctor(const Checker *c, Name name)
{
    Def *def;
    uint32_t n = count_ctor(&c->scope->types, name, &def);
    for (uint32_t i = 0; i < c->scope->imports.n; i++)
        n += count_ctor(&c->scope->imports.at[i]->types, name, &def);
    return n > 0;
}

/* ---- the types of builtins.def ---- */

/* The class is in the variable's letter: see the head of builtins.def. */
static TypeClass class_of_letter(char letter)
{
    switch (letter) {
    case 'n': return CLASS_NUM;
    case 'i':
    case 'j': return CLASS_INT;
    case 'f': return CLASS_FLOAT;
    case 's':
    case 't': return CLASS_SCALAR;
    case 'o': return CLASS_ORD;
    default: return CLASS_ANY;
    }
}

/* Declares the variables of a builtin's type in order of appearance; that order is the order of
 * Ref.args. */
typedef struct Letters {
    Name *names;
    Type **types;
    uint32_t n;
} Letters;

static void declare_letters(Checker *c, const TypeExpr *te, Letters *env)
{
    switch (te->kind) {
    case TE_NAME: {
        if (te->name.name[0] != '\'')
            return;
        for (uint32_t i = 0; i < env->n; i++) {
            if (env->names[i] == te->name.name)
                return;
        }
        Type *t = arena_new(c->arena, Type);
        t->kind = TY_RIGID;
        t->rigid.name = intern_cstr(c->s, te->name.name + 1);
        t->rigid.cls = class_of_letter(te->name.name[1]);
        t->rigid.index = env->n;
        env->names[env->n] = te->name.name;
        env->types[env->n++] = t;
        return;
    }
    case TE_TUPLE:
        for (uint32_t i = 0; i < te->tuple.n; i++)
            declare_letters(c, te->tuple.items[i], env);
        return;
    case TE_ARRAY: declare_letters(c, te->array.element, env); return;
    case TE_FUN:
        declare_letters(c, te->fun.from, env);
        declare_letters(c, te->fun.to, env);
        return;
    case TE_RECORD:
    case TE_SUM: return; /* no builtin has them */
    }
}

Type *convert_builtin(Checker *c, const TypeExpr *te, Poly *out)
{
    enum { MOST_VARIABLES = 8 };
    Letters letters = {arena_array(c->arena, Name, MOST_VARIABLES), arena_array(c->arena, Type *, MOST_VARIABLES), 0};
    declare_letters(c, te, &letters);
    TypeEnv env = {letters.names, letters.types, letters.n, NULL};
    c->tenv = &env;
    *out = (Poly){convert_type(c, te), env.types, env.n};
    c->tenv = NULL;
    return out->type;
}
