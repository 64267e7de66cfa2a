#include "types/check_internal.h"
#include "support/marks.h"

#include <assert.h>
#include <string.h>

/* ---- tables and builtins ---- */

static Checked *new_tables(Arena *a, Module **modules, uint32_t nmodules, const AstIds *ids)
{
    Checked *out = arena_new(a, Checked);
    out->modules = modules;
    out->nmodules = nmodules;
    out->expr_types = arena_array(a, Type *, ids->expr_count);
    out->pat_types = arena_array(a, Type *, ids->pat_count);
    out->npats = ids->pat_count;
    out->refs = arena_array(a, Ref, ids->expr_count);
    out->local_schemes = arena_array(a, Scheme, ids->expr_count);
    out->let_fun_outer = arena_array(a, uint32_t, ids->expr_count);
    out->exhaustive = arena_array(a, bool, ids->expr_count);
    out->type_defs = arena_new(a, PtrMap);
    out->size_defs = arena_new(a, PtrMap);
    out->let_fun_recursive = arena_array(a, bool, ids->expr_count);
    return out;
}

static void init_scalars(Checker *c)
{
    for (int i = 0; i < SCALAR_COUNT; i++) {
        c->scalars[i] = type_scalar(c->arena, (Scalar)i);
        c->scalar_names[i] = intern_cstr(c->s, scalar_name((Scalar)i));
    }
    c->unit = type_tuple(c->arena, NULL, 0);
    c->error = arena_new(c->arena, Type);
    c->error->kind = TY_ERROR;
}

static void init_builtins(Checker *c)
{
    static const struct {
        const char *name, *type;
    } table[BUILTIN_COUNT] = {
#define BUILTIN(name, parameters, type, ...) {#name, type},
#include "types/builtins.def"
#undef BUILTIN
    };
    AstIds ids = {0, 0}; /* types have no ids */
    for (uintptr_t i = 0; i < BUILTIN_COUNT; i++) {
        TypeExpr *te = parse_type_text(c->s, table[i].type, &ids);
        mark_elements(convert_builtin(c, te, &c->builtins[i]));
        ptrmap_put(c->arena, &c->builtin_names, intern_cstr(c->s, table[i].name), (void *)(i + 1));
    }
}

static void check_types(Checker *c)
{
    for (uint32_t m = 0; m < c->out->nmodules; m++) { /* in source order, so that cycles start there */
        ModuleScope *scope = &c->scopes[m];
        for (uint32_t i = 0; i < scope->module->ndefs; i++) {
            Def *def = scope->module->defs[i];
            if (def->kind == DEF_TYPE && ptrmap_get(&scope->types, def->name) == def) {
                check_type_definition(c, def);
                resolve_type_sizes(c, scope, def);
            }
        }
    }
}

/* A size that names a constant needs that to be an integer. */
static void check_size_constants(Checker *c)
{
    const PtrMap *sizes = c->out->size_defs;
    for (uint32_t i = 0; i < sizes->cap; i++) {
        const TypeExpr *te = sizes->keys[i];
        const Def *def = te ? sizes->values[i] : NULL;
        if (!def || c->failed[def->index])
            continue;
        const Scheme *scheme = &c->out->defs[def->index].scheme;
        Type *t = type_prune(scheme->type);
        if (scheme->nvars || t->kind != TY_SCALAR || !scalar_is_int(t->scalar)) {
            diag_error(c->s, te->array.size_span, DIAG_SIZE_TYPE, "a size is an integer, but `%s` is %s", def->name,
                       describe_type(c, t));
            diag_note(c->s, def->name_span, "it is defined here");
        }
    }
}

/* ---- components ---- */

static void start_group(Checker *c)
{
    c->level = 1;
    c->fun = NULL;
    c->tenv = NULL;
    c->declared.n = 0;
    c->deferred.n = 0;
    c->data.n = 0;
    c->literals.n = 0;
    c->refs.n = 0;
    c->funs.n = 0;
    c->undefined_types = (PtrMap){0};
}

static bool has_rigid(Type *t)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_RIGID: return true;
    case TY_ARRAY: return has_rigid(t->element);
    case TY_FUN: return has_rigid(t->fun.from) || has_rigid(t->fun.to);
    case TY_TUPLE:
    case TY_RECORD:
    case TY_SUM: {
        Type **items = t->kind == TY_TUPLE ? t->tuple.items : t->record.items;
        uint32_t n = t->kind == TY_TUPLE ? t->tuple.n : t->record.n;
        for (uint32_t i = 0; i < n; i++) {
            if (items[i] && has_rigid(items[i]))
                return true;
        }
        return false;
    }
    case TY_SCALAR:
    case TY_VAR:
    case TY_ERROR: return false;
    }
    return false;
}

/* The first parameter of an entry whose type is open. */
static void note_open_param(Checker *c, const DefInfo *info)
{
    Type *t = info->scheme.type;
    for (uint32_t i = 0; i < info->def->nparams; i++, t = type_prune(t->fun.to)) {
        const Pat *p = info->def->params[i];
        if (!has_rigid(t->fun.from))
            continue;
        if (p->kind == PAT_NAME)
            diag_note(c->s, p->span, "this parameter, for example: `(%s: t)`", p->name);
        else
            diag_note(c->s, p->span, "this parameter, for example");
        return;
    }
}

static void check_entry(Checker *c, const DefInfo *info)
{
    Type *t = info->scheme.type;
    if (mentions_error(t))
        return;
    const bool is_expression = strcmp(info->def->name, EXPRESSION_ENTRY) == 0;
    if (info->scheme.nvars) {
        diag_error(c->s, info->def->name_span, DIAG_ENTRY_TYPE,
                   "the types of %s have to be known, but this is %s; annotate it",
                   is_expression ? "what is evaluated" : "an entry", describe_type(c, t));
        note_open_param(c, info);
        return;
    }
    for (uint32_t i = 0; i < info->def->nparams; i++) {
        if (contains_function(t->fun.from))
            diag_error(c->s, info->def->params[i]->span, DIAG_ENTRY_TYPE, "an entry's parameters cannot be functions");
        t = type_prune(t->fun.to);
    }
    if (contains_function(t))
        diag_error(c->s, info->def->result ? info->def->result->span : info->def->name_span, DIAG_ENTRY_TYPE,
                   "%s cannot be a function, but this is %s", is_expression ? "what is evaluated" : "an entry's result",
                   describe_type(c, t));
}

/* `dpc test` makes its arguments up. */
static void check_property(Checker *c, const DefInfo *info)
{
    Type *t = info->scheme.type;
    if (info->scheme.nvars) {
        diag_error(c->s, info->def->name_span, DIAG_TEST_NAME,
                   "the types of a property have to be known, but this is %s; annotate it", describe_type(c, t));
        return;
    }
    for (t = type_prune(t); t->kind == TY_FUN; t = type_prune(t->fun.to)) {
        if (contains_function(t->fun.from))
            diag_error(c->s, info->def->name_span, DIAG_TEST_NAME, "a property's parameters cannot be functions");
    }
    if (t->kind != TY_SCALAR || t->scalar != SC_BOOL)
        diag_error(c->s, info->def->result ? info->def->result->span : info->def->name_span, DIAG_TEST_NAME,
                   "a property's result has to be a bool, but this is %s", describe_type(c, t));
}

static void check_group(Checker *c, const uint32_t *defs, uint32_t n)
{
    uint32_t errors = c->s->error_count;
    start_group(c);
    c->scope = scope_of(c, c->out->defs[defs[0]].def); /* files do not import each other in circles */
    Signature **sigs = arena_array(c->arena, Signature *, n);
    for (uint32_t i = 0; i < n; i++) {
        sigs[i] = infer_signature(c, c->out->defs[defs[i]].def);
        c->monos[defs[i]] = sigs[i]->type;
    }
    for (uint32_t i = 0; i < n; i++)
        infer_body(c, c->out->defs[defs[i]].def, sigs[i]);
    generalise_group(c, defs, n, sigs);
    check_literals(c);
    if (c->s->error_count == errors)
        check_data_uses(c);
    for (uint32_t i = 0; i < n; i++) {
        const DefInfo *info = &c->out->defs[defs[i]];
        if (info->def->is_entry && c->s->error_count == errors)
            check_entry(c, info);
        if (info->def->is_property && c->s->error_count == errors)
            check_property(c, info);
    }
    for (uint32_t i = 0; i < n; i++)
        c->failed[defs[i]] = c->failed[defs[i]] || c->s->error_count != errors;
}

static bool calls_itself(const Checker *c, uint32_t def)
{
    for (uint32_t i = 0; i < c->calls[def].to.n; i++) {
        if (c->calls[def].to.at[i] == def)
            return true;
    }
    return false;
}

/* In the order of the source, so that names of types come out in that order. */
static void sort_indices(uint32_t *at, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t x = at[i], j = i;
        for (; j > 0 && at[j - 1] > x; j--)
            at[j] = at[j - 1];
        at[j] = x;
    }
}

/* A constant that needs itself has no value; with a function between them it may have one. */
static void check_constant_cycle(Checker *c, const uint32_t *defs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const DefInfo *info = &c->out->defs[defs[i]];
        if (info->def->nparams || c->failed[defs[i]] || contains_function(info->scheme.type))
            return;
    }
    const Def *first = c->out->defs[defs[0]].def;
    diag_error(c->s, first->name_span, DIAG_CONSTANT_CYCLE, "the constant `%s` is defined by itself", first->name);
    for (uint32_t i = 1; i < n; i++)
        diag_note(c->s, c->out->defs[defs[i]].def->name_span, "and by `%s`", c->out->defs[defs[i]].def->name);
    for (uint32_t i = 0; i < n; i++)
        c->failed[defs[i]] = true;
}

static void check_components(Checker *c)
{
    Components cs = components_of(c->arena, c->calls, c->out->ndefs);
    for (uint32_t i = 0; i < cs.n; i++) {
        uint32_t *defs = cs.order + cs.starts[i], n = cs.starts[i + 1] - cs.starts[i];
        sort_indices(defs, n);
        for (uint32_t j = 0; j < n; j++) {
            c->out->defs[defs[j]].scc = i;
            c->out->defs[defs[j]].recursive = n > 1 || calls_itself(c, defs[j]);
        }
        check_group(c, defs, n);
        if (c->out->defs[defs[0]].recursive)
            check_constant_cycle(c, defs, n);
    }
}

/* ---- results ---- */

static void finish_tables(Checker *c, const AstIds *ids)
{
    for (uint32_t i = 0; i < ids->expr_count; i++) {
        if (c->out->expr_types[i])
            c->out->expr_types[i] = resolve_type(c, c->out->expr_types[i]);
        Ref *ref = &c->out->refs[i];
        for (uint32_t j = 0; j < ref->nargs; j++)
            ref->args[j] = resolve_type(c, ref->args[j]);
    }
    for (uint32_t i = 0; i < ids->pat_count; i++) {
        if (c->out->pat_types[i])
            c->out->pat_types[i] = resolve_type(c, c->out->pat_types[i]);
    }
}

#ifndef NDEBUG
static bool any_error(const Checker *c, const AstIds *ids)
{
    for (uint32_t i = 0; i < ids->expr_count; i++) {
        if (c->out->expr_types[i] && has_error(c->out->expr_types[i]))
            return true;
    }
    return false;
}
#endif

Checked *check_program(Session *s, Module **modules, uint32_t nmodules, const AstIds *ids)
{
    Checker *c = arena_new(s->arena, Checker);
    c->s = s;
    c->arena = s->arena;
    c->npats = ids->pat_count;
    c->out = new_tables(s->arena, modules, nmodules, ids);
    init_scalars(c);
    init_builtins(c);
    declare_all(c);
    c->polys = arena_array(c->arena, Poly, c->out->ndefs);
    c->monos = arena_array(c->arena, Type *, c->out->ndefs);
    c->calls = arena_array(c->arena, struct CallList, c->out->ndefs);
    c->binders = arena_array(c->arena, const Pat *, ids->pat_count);
    check_types(c);
    c->failed = arena_array(c->arena, bool, c->out->ndefs);
    for (uint32_t i = 0; i < c->out->ndefs; i++) {
        uint32_t errors = s->error_count;
        resolve_definition(c, c->out->defs[i].def);
        c->failed[i] = s->error_count != errors;
    }
    check_components(c);
    check_size_constants(c);
    finish_tables(c, ids);
    assert((s->error_count || !any_error(c, ids)) && "types: an error that was not reported");
    check_matches(c);
    if (s->error_count == 0) {
        warn_operators(c);
        warn_unused(c);
    }
    return c->out;
}

/* In that module, or in any if it is NULL. */
static DefInfo *find_in_module(const Checked *c, const Module *m, Name name)
{
    for (uint32_t i = c->ndefs; i-- > 0;) {
        if (c->defs[i].def->name == name && (!m || c->defs[i].module == m))
            return &c->defs[i];
    }
    return NULL;
}

DefInfo *checked_find(const Checked *c, Name name)
{
    DefInfo *own = c->nmodules > 1 ? find_in_module(c, c->modules[1], name) : NULL;
    return own ? own : find_in_module(c, NULL, name);
}

DefInfo *checked_find_prelude(const Checked *c, Name name) { return find_in_module(c, c->modules[0], name); }

const Def *checked_type_def(const Checked *c, const TypeExpr *te) { return ptrmap_get(c->type_defs, te); }

Def *checked_size_def(const Checked *c, const TypeExpr *te) { return ptrmap_get(c->size_defs, te); }

/* " where a num, b int": the variables that are not free of conditions. Their names are in the type. */
static void print_classes(StrBuf *out, const Scheme *s)
{
    const char *separator = " where ";
    for (uint32_t i = 0; i < s->nvars; i++) {
        if (s->classes[i] == CLASS_ANY)
            continue;
        strbuf_printf(out, "%s%s %s", separator, s->names[i], type_class_name(s->classes[i]));
        separator = ", ";
    }
}

void scheme_print(StrBuf *out, const Scheme *s)
{
    type_print(out, s->type);
    print_classes(out, s);
}

void checked_print(StrBuf *out, const Checked *c)
{
    for (uint32_t i = 0; i < c->ndefs; i++) {
        const DefInfo *d = &c->defs[i];
        if (d->is_library && c->nmodules > 1)
            continue;
        marks_begin(out, d->def->span, d->def);
        strbuf_printf(out, "%s %s : ", d->def->is_entry ? "entry" : "def", d->def->name);
        scheme_print(out, &d->scheme);
        marks_end(out);
        strbuf_add(out, "\n");
    }
}
