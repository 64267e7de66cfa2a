#include "types/check_internal.h"

#include <string.h>

/* What the top-level names of a module mean: its own definitions come first, then what its unqualified
 * imports bring, then the prelude. Imports bring a module's own definitions, not what it imports itself.
 * Names that end in two underscores stay inside the library. */

bool is_internal(Name name)
{
    size_t n = strlen(name);
    return n > 2 && strcmp(name + n - 2, "__") == 0;
}

ModuleScope *scope_of(const Checker *c, const Def *def) { return c->scope_of_file[def->span.file]; }

bool is_program(const Checker *c, const ModuleScope *m) { return c->out->nmodules > 1 && m == &c->scopes[1]; }

/* ---- a module's own names ---- */

static void declare_name(Checker *c, PtrMap *names, Def *def)
{
    const Def *first = ptrmap_get(names, def->name);
    if (first) {
        diag_error(c->s, def->name_span, DIAG_DEFINED_TWICE, "`%s` is defined twice", def->name);
        diag_note(c->s, first->name_span, "it is already defined here");
    } else {
        ptrmap_put(c->arena, names, def->name, def);
    }
}

static void declare_type(Checker *c, ModuleScope *m, Def *def)
{
    for (int i = 0; i < SCALAR_COUNT; i++) {
        if (def->name == c->scalar_names[i]) {
            diag_error(c->s, def->name_span, DIAG_BUILTIN_TYPE, "type `%s` is built in and cannot be defined",
                       def->name);
            return;
        }
    }
    declare_name(c, &m->types, def);
}

static void declare_value(Checker *c, ModuleScope *m, Def *def)
{
    declare_name(c, &m->values, def);
    def->index = c->out->ndefs++;
    c->out->defs[def->index] = (DefInfo){.def = def, .module = m->module, .is_library = m->is_library};
}

static void check_type_params(Checker *c, const Def *def)
{
    for (uint32_t i = 1; i < def->ntype_params; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (def->type_params[i] == def->type_params[j]) {
                diag_error(c->s, def->name_span, DIAG_NAME_TWICE, "type parameter `%s` occurs twice",
                           def->type_params[i]);
                return;
            }
        }
    }
}

static void declare(Checker *c, ModuleScope *m, Def *def)
{
    check_type_params(c, def);
    switch (def->kind) {
    case DEF_VALUE: declare_value(c, m, def); return;
    case DEF_TYPE: declare_type(c, m, def); return;
    case DEF_IMPORT: return; /* once all modules have their own names */
    }
}

/* ---- imports ---- */

/* Entries of one name (`main`) in several files are nothing to warn of. */
static void warn_hidden(Checker *c, const ModuleScope *m, const Def *own, const Def *def, const Def *import)
{
    if (own && is_program(c, m) && !(own->is_entry && def->is_entry))
        diag_warning(c->s, own->name_span, DIAG_HIDES_IMPORT, "this hides `%s` of \"%s\"", own->name, import->path);
}

/* A file that defines `sum` itself means it; what an import brings, one does not see. */
static void warn_hidden_prelude(Checker *c, const ModuleScope *m, const Def *def, const Def *import)
{
    if (!is_program(c, m) || ptrmap_get(&m->values, def->name) || !is_prelude_name(c, def->name))
        return;
    diag_warning(c->s, import->span, DIAG_HIDES_PRELUDE, "this import hides the prelude's `%s`", def->name);
    diag_note(c->s, def->name_span, "it is defined here");
}

static void bring(Checker *c, PtrMap *names, Def *def, const Def *import)
{
    Imported *old = ptrmap_get(names, def->name);
    if (!old) {
        Imported *x = arena_new(c->arena, Imported);
        *x = (Imported){.def = def, .import = import};
        ptrmap_put(c->arena, names, def->name, x);
    } else if (old->def != def && !old->other) {
        old->other = def;
        old->other_import = import;
    }
}

static void import_names(Checker *c, ModuleScope *m, const ModuleScope *from, const Def *import)
{
    for (uint32_t i = 0; i < from->module->ndefs; i++) {
        Def *def = from->module->defs[i];
        if (def->kind == DEF_VALUE && scope_exported(from, &from->values, def->name) == def) {
            bring(c, &m->imported_values, def, import);
            warn_hidden(c, m, ptrmap_get(&m->values, def->name), def, import);
            warn_hidden_prelude(c, m, def, import);
        } else if (def->kind == DEF_TYPE && scope_exported(from, &from->types, def->name) == def) {
            bring(c, &m->imported_types, def, import);
            warn_hidden(c, m, ptrmap_get(&m->types, def->name), def, import);
        }
    }
}

static void import_as(Checker *c, ModuleScope *m, ModuleScope *from, const Def *import)
{
    const ModuleScope *old = ptrmap_get(&m->aliases, import->name);
    if (old && old != from)
        diag_error(c->s, import->name_span, DIAG_DEFINED_TWICE, "`%s` is already another module", import->name);
    else
        ptrmap_put(c->arena, &m->aliases, import->name, from);
}

static void import_module(Checker *c, ModuleScope *m, const Def *import)
{
    if (!import->module) /* reported when it was loaded */
        return;
    ModuleScope *from = c->scope_of_file[import->module->file];
    bool known = false;
    for (uint32_t i = 0; i < m->imports.n; i++)
        known = known || m->imports.at[i] == from;
    if (!known)
        vec_push(c->arena, &m->imports, from);
    if (import->name)
        import_as(c, m, from, import);
    else
        import_names(c, m, from, import);
}

/* ---- all modules ---- */

static void make_scopes(Checker *c)
{
    uint32_t ndefs = 0;
    for (uint32_t i = 0; i < c->out->nmodules; i++)
        ndefs += c->out->modules[i]->ndefs;
    c->out->defs = arena_array(c->arena, DefInfo, ndefs);
    c->scopes = arena_array(c->arena, ModuleScope, c->out->nmodules);
    c->scope_of_file = arena_array(c->arena, ModuleScope *, c->s->files.n);
    for (uint32_t i = 0; i < c->out->nmodules; i++) {
        ModuleScope *m = &c->scopes[i];
        m->module = c->out->modules[i];
        m->is_library = i == 0 || c->s->files.at[m->module->file]->is_stdlib;
        m->may_use_internals = m->is_library || c->s->files.at[m->module->file]->is_library_source;
        c->scope_of_file[m->module->file] = m;
        for (uint32_t d = 0; d < m->module->ndefs; d++) /* a program of several parts has several files */
            c->scope_of_file[m->module->defs[d]->span.file] = m;
    }
}

void declare_all(Checker *c)
{
    make_scopes(c);
    for (uint32_t i = 0; i < c->out->nmodules; i++) {
        ModuleScope *m = &c->scopes[i];
        for (uint32_t d = 0; d < m->module->ndefs; d++)
            declare(c, m, m->module->defs[d]);
    }
    for (uint32_t i = 0; i < c->out->nmodules; i++) {
        ModuleScope *m = &c->scopes[i];
        for (uint32_t d = 0; d < m->module->ndefs; d++) {
            if (m->module->defs[d]->kind == DEF_IMPORT)
                import_module(c, m, m->module->defs[d]);
        }
    }
}

/* ---- looking up ---- */

Def *scope_exported(const ModuleScope *m, const PtrMap *names, Name name)
{
    return m->is_library && is_internal(name) ? NULL : ptrmap_get(names, name);
}

static void ambiguous(Checker *c, Span at, const Imported *x)
{
    Name name = x->def->name;
    diag_error(c->s, at, DIAG_AMBIGUOUS_NAME, "`%s` may be that of \"%s\" or that of \"%s\"", name, x->import->path,
               x->other_import->path);
    diag_note(c->s, x->other_import->span, "`import \"%s\" as M` makes it `M.%s`", x->other_import->path, name);
}

static bool find(Checker *c, Name name, Span at, const PtrMap *own, const PtrMap *imported, const PtrMap *prelude,
                 Def **def)
{
    *def = ptrmap_get(own, name);
    if (*def)
        return true;
    const Imported *x = ptrmap_get(imported, name);
    if (x && x->other) {
        ambiguous(c, at, x);
        return true;
    }
    *def = x ? x->def : c->scope->is_library ? ptrmap_get(prelude, name) : scope_exported(&c->scopes[0], prelude, name);
    return *def != NULL;
}

bool scope_find_value(Checker *c, Name name, Span at, Def **def)
{
    const ModuleScope *m = c->scope;
    return find(c, name, at, &m->values, &m->imported_values, &c->scopes[0].values, def);
}

bool scope_find_type(Checker *c, Name name, Span at, Def **def)
{
    const ModuleScope *m = c->scope;
    return find(c, name, at, &m->types, &m->imported_types, &c->scopes[0].types, def);
}

const ModuleScope *scope_find_module(const Checker *c, Name name)
{
    return c->scope ? ptrmap_get(&c->scope->aliases, name) : NULL;
}

void no_such_member(Checker *c, Span at, Name module, const PtrMap *names, Name name)
{
    diag_error(c->s, at, DIAG_UNDEFINED_MEMBER, "`%s` is not in the module `%s`", name, module);
    Suggestion g = dp_guess_start(name);
    suggest_consider_map(&g, names);
    suggest_note(c->s, at, &g);
}
