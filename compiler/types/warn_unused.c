#include "types/check_internal.h"

#include "syntax/ast_walk.h"

#include <string.h>

/* Names that nothing uses, in the program's own file.
 *
 * One walk collects what binds names and what uses them. As every use has its Ref, scopes play no role: a binder
 * is unused if no reference leads to it. A definition is used when an entry reaches it; a file without entries is a
 * library, whose definitions are all used by others. Names that begin with `_` are meant to be unused.
 *
 * A loop's state is its result: a component that the body does not read is no mistake. */

typedef enum BinderKind { BIND_VARIABLE, BIND_PARAMETER, BIND_FIELD /* {y} */, BIND_COUNTER } BinderKind;
typedef struct NamedBinder {
    const Pat *pat;
    BinderKind kind;
} NamedBinder;

/* Imported definitions that are used unqualified have their import in scope->imported_*; M.x is of the import as M. */
typedef struct Unused {
    Checker *c;
    const ModuleScope *scope;
    bool *pats;     /* by Pat.id: used */
    PtrMap funs;    /* local functions used */
    PtrMap imports; /* DEF_IMPORTs used */
    PtrMap ctors;   /* names of constructors used */
    VEC(NamedBinder) binders;
    VEC(Def *) locals; /* local functions */
} Unused;

static bool is_exempt(Name name) { return name[0] == '_'; }

static void note_use(Unused *u, PtrMap *set, const void *what) { ptrmap_put(u->c->arena, set, what, u); }

static bool is_used(const PtrMap *set, const void *what) { return ptrmap_get(set, what) != NULL; }

/* ---- binders ---- */

static void add_binder(Unused *u, const Pat *p, BinderKind kind)
{
    NamedBinder binder = {p, kind};
    if (!is_exempt(p->name))
        vec_push(u->c->arena, &u->binders, binder);
}

static bool is_pun(const PatField *f) { return f->pat->kind == PAT_NAME && f->pat->span.start == f->span.start; }

/* `xs: [n]t` says something, and gives `n`, even if `xs` itself is not read. */
static bool has_size(const TypeExpr *t)
{
    bool found = t->kind == TE_ARRAY && (t->array.size_kind != SIZE_NONE || has_size(t->array.element));
    for (uint32_t i = 0; t->kind == TE_TUPLE && i < t->tuple.n; i++)
        found |= has_size(t->tuple.items[i]);
    for (uint32_t i = 0; t->kind == TE_RECORD && i < t->record.n; i++)
        found |= has_size(t->record.fields[i].type);
    return found;
}

static void add_binders(Unused *u, const Pat *p, BinderKind kind)
{
    switch (p->kind) {
    case PAT_NAME: add_binder(u, p, kind); return;
    case PAT_WILD:
    case PAT_LITERAL: return;
    case PAT_TUPLE:
        for (uint32_t i = 0; i < p->tuple.n; i++)
            add_binders(u, p->tuple.items[i], kind);
        return;
    case PAT_RECORD:
        for (uint32_t i = 0; i < p->record.n; i++)
            add_binders(u, p->record.fields[i].pat, is_pun(&p->record.fields[i]) ? BIND_FIELD : kind);
        return;
    case PAT_ASCRIBE:
        if (kind != BIND_PARAMETER || !has_size(p->ascribe.type))
            add_binders(u, p->ascribe.pat, kind);
        return;
    case PAT_CTOR:
        if (p->ctor.arg)
            add_binders(u, p->ctor.arg, kind);
        return;
    }
}

static void add_params(Unused *u, Pat *const *params, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        add_binders(u, params[i], BIND_PARAMETER);
}

/* `{ x in xs | … }` gives its first binder's elements: a plain name is used by that. */
static void add_each_binders(Unused *u, const Expr *e)
{
    for (uint32_t i = 0; i < e->each.nbinders; i++) {
        const Pat *p = e->each.binders[i].pat, *name = p;
        while (name->kind == PAT_ASCRIBE)
            name = name->ascribe.pat;
        if (i == 0 && !e->each.body && name->kind == PAT_NAME)
            u->pats[name->id] = true;
        add_binders(u, p, BIND_VARIABLE);
    }
}

/* ---- uses ---- */

static void use_def(Unused *u, const Expr *e, const Def *def)
{
    if (e->kind == E_FIELD) {
        note_use(u, &u->imports, e->field.value->name); /* by its alias */
        return;
    }
    const Imported *x = ptrmap_get(&u->scope->imported_values, e->name);
    if (x && x->def == def)
        note_use(u, &u->imports, x->import);
}

static void use_name(Unused *u, const Expr *e)
{
    const Ref *ref = &u->c->out->refs[e->id];
    switch (ref->kind) {
    case REF_LOCAL: u->pats[ref->pat_id] = true; return;
    case REF_LOCAL_FUN: note_use(u, &u->funs, ref->def); return;
    case REF_DEF: use_def(u, e, ref->def); return;
    case REF_NONE:
    case REF_PRIM:
    case REF_SIZE: return;
    }
}

static void visit_expr(void *context, Expr *e)
{
    Unused *u = context;
    switch (e->kind) {
    case E_NAME:
    case E_FIELD: use_name(u, e); return;
    case E_CTOR: note_use(u, &u->ctors, e->ctor.name); return;
    case E_LET: add_binders(u, e->let.pat, BIND_VARIABLE); return;
    case E_LET_FUN:
        vec_push(u->c->arena, &u->locals, e->let_fun.def);
        add_params(u, e->let_fun.def->params, e->let_fun.def->nparams);
        return;
    case E_MATCH:
        for (uint32_t i = 0; i < e->match.n; i++)
            add_binders(u, e->match.cases[i].pat, BIND_VARIABLE);
        return;
    case E_LAMBDA: add_params(u, e->lambda.params, e->lambda.nparams); return;
    case E_LOOP:
        if (e->loop.binder)
            add_binders(u, e->loop.binder, e->loop.kind == LOOP_FOR_COUNT ? BIND_COUNTER : BIND_VARIABLE);
        return;
    case E_EACH: add_each_binders(u, e); return;
    default: return; /* binds nothing and names nothing */
    }
}

static void visit_pat(void *context, const Pat *p)
{
    Unused *u = context;
    if (p->kind == PAT_CTOR)
        note_use(u, &u->ctors, p->ctor.name);
}

static void visit_type(void *context, const TypeExpr *t)
{
    Unused *u = context;
    uintptr_t variable = (uintptr_t)ptrmap_get(&u->c->known_sizes, t);
    if (variable)
        u->pats[variable - 1] = true;
    if (t->kind != TE_NAME)
        return;
    const Def *def = checked_type_def(u->c->out, t);
    const Imported *x = ptrmap_get(&u->scope->imported_types, t->name.name);
    if (t->name.module)
        note_use(u, &u->imports, t->name.module);
    else if (x && x->def == def)
        note_use(u, &u->imports, x->import);
}

static void collect(Unused *u, const Def *def)
{
    AstVisitor visitor = {u, visit_expr, visit_pat, visit_type};
    if (def->kind == DEF_VALUE && !def->is_entry) /* an entry's parameters are its interface */
        add_params(u, def->params, def->nparams);
    ast_walk(def, &visitor);
}

/* ---- type parameters ---- */

typedef struct TypeParamUse {
    const Checked *checked;
    Name name;
    bool found;
} TypeParamUse;

static void visit_type_param(void *context, const TypeExpr *t)
{
    TypeParamUse *use = context;
    if (t->kind == TE_NAME && t->name.name == use->name && !t->name.module && !checked_type_def(use->checked, t))
        use->found = true;
}

static void warn_type_params(Checker *c, const Def *def)
{
    for (uint32_t i = 0; i < def->ntype_params; i++) {
        TypeParamUse use = {c->out, def->type_params[i], false};
        AstVisitor visitor = {.context = &use, .type = visit_type_param};
        ast_walk(def, &visitor);
        if (use.found || is_exempt(use.name))
            continue;
        Span at = def->type_param_spans[i];
        diag_warning(c->s, at, DIAG_UNUSED_NAME, "the type parameter `'%s` is not used", use.name);
        diag_note_text(c->s, "write `'_%s` if that is meant", use.name);
    }
}

/* ---- what is reported ---- */

static void warn_binder(Checker *c, const NamedBinder *b)
{
    Name name = b->pat->name;
    Span at = b->pat->span;
    switch (b->kind) {
    case BIND_VARIABLE:
        diag_warning(c->s, at, DIAG_UNUSED_NAME, "`%s` is not used", name);
        diag_note_text(c->s, "write `_%s` or `_` if that is meant", name);
        return;
    case BIND_PARAMETER:
        diag_warning(c->s, at, DIAG_UNUSED_NAME, "the parameter `%s` is not used", name);
        diag_note_text(c->s, "write `_%s` or `_` if that is meant", name);
        return;
    case BIND_FIELD:
        diag_warning(c->s, at, DIAG_UNUSED_NAME, "the field `%s` is not used", name);
        diag_note_text(c->s, "write `%s = _` if that is meant", name);
        return;
    case BIND_COUNTER:
        diag_warning(c->s, at, DIAG_UNUSED_NAME, "the loop counter `%s` is not used", name);
        diag_note_text(c->s, "write `_` if that is meant");
        return;
    }
}

static void warn_locals(Unused *u)
{
    Checker *c = u->c;
    for (uint32_t i = 0; i < u->binders.n; i++) {
        if (!u->pats[u->binders.at[i].pat->id])
            warn_binder(c, &u->binders.at[i]);
    }
    for (uint32_t i = 0; i < u->locals.n; i++) {
        const Def *def = u->locals.at[i];
        warn_type_params(c, def);
        if (is_used(&u->funs, def) || is_exempt(def->name))
            continue;
        diag_warning(c->s, def->name_span, DIAG_UNUSED_NAME, "the function `%s` is not used", def->name);
        diag_note_text(c->s, "write `_%s` if that is meant", def->name);
    }
}

/* ---- names in comments ---- */

typedef VEC(Name) Names;

/* What stands behind the word in a comment that begins with it; NULL: it does not. An empty word: behind the dashes. */
static const char *behind_word(const char *line, const char *word)
{
    line += strspn(line, " \t");
    if (strncmp(line, "--", 2) != 0)
        return NULL;
    line += 2 + strspn(line + 2, " \t");
    if (strncmp(line, word, strlen(word)) != 0)
        return NULL;
    line += strlen(word);
    return line + strspn(line, " \t");
}

static size_t name_length(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_'");
}

/* NAME of `-- property NAME`, and all words of `-- input = …` up to the end of the comment. */
static Names names_in_comments(Checker *c)
{
    Names names = {0};
    bool in_input = false;
    const char *line = c->s->files.at[c->scopes[1].module->file]->text;
    for (const char *end; *line; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        const char *property = behind_word(line, "property"), *input = behind_word(line, "input");
        const char *word = property ? property : behind_word(line, "");
        in_input = word && ((in_input && !input) || (input && *input == '='));
        for (size_t n; word && (in_input || property) && word < end; word += n ? n : 1)
            if ((n = name_length(word)) > 0)
                vec_push(c->arena, &names, intern(c->s, word, (uint32_t)n));
    }
    return names;
}

/* The module may give a sum type whose constructors are used, without its name. */
static bool gives_constructor(const Unused *u, const Module *m)
{
    for (uint32_t i = 0; i < m->ndefs; i++) {
        const Def *d = m->defs[i];
        if (d->kind != DEF_TYPE || d->result->kind != TE_SUM)
            continue;
        for (uint32_t k = 0; k < d->result->record.n; k++) {
            if (is_used(&u->ctors, d->result->record.fields[k].name))
                return true;
        }
    }
    return false;
}

static void warn_imports(Unused *u)
{
    const Module *own = u->scope->module;
    const Names names = names_in_comments(u->c);
    for (uint32_t i = 0; i < names.n; i++) {
        const Imported *x = ptrmap_get(&u->scope->imported_values, names.at[i]);
        note_use(u, &u->imports, x ? (const void *)x->import : names.at[i]);
    }
    for (uint32_t i = 0; i < own->ndefs; i++) {
        const Def *d = own->defs[i];
        if (d->kind != DEF_IMPORT || !d->module || gives_constructor(u, d->module))
            continue;
        if (!is_used(&u->imports, d->name ? (const void *)d->name : d)) {
            diag_warning(u->c->s, d->span, DIAG_UNUSED_NAME, "the import of \"%s\" is not used", d->path);
            diag_note_text(u->c->s, "nothing of it is named in this file");
        }
    }
}

/* ---- definitions ---- */

/* Everything that calls from the roots lead to. */
static void reach(Checker *c, bool *reached, uint32_t root)
{
    VEC(uint32_t) todo = {0};
    if (!reached[root])
        vec_push(c->arena, &todo, root);
    reached[root] = true;
    while (todo.n > 0) {
        const struct CallList *calls = &c->calls[todo.at[--todo.n]];
        for (uint32_t i = 0; i < calls->to.n; i++) {
            uint32_t callee = calls->to.at[i];
            if (!reached[callee])
                vec_push(c->arena, &todo, callee);
            reached[callee] = true;
        }
    }
}

/* What the comments name as properties is called by tests, what inputs name by benches. */
static void reach_comments(Checker *c, bool *reached)
{
    const ModuleScope *own = &c->scopes[1];
    const Names names = names_in_comments(c);
    for (uint32_t i = 0; i < names.n; i++) {
        const Def *def = ptrmap_get(&own->values, names.at[i]);
        if (def)
            reach(c, reached, def->index);
    }
}

static void warn_defs(Checker *c, const Module *own)
{
    bool has_entries = false;
    bool *reached = arena_array(c->arena, bool, c->out->ndefs);
    for (uint32_t i = 0; i < c->out->ndefs; i++) {
        const Def *def = c->out->defs[i].def;
        const bool is_own = c->out->defs[i].module == own;
        if (is_own && (def->is_entry || is_exempt(def->name)))
            reach(c, reached, i);
        has_entries = has_entries || (is_own && def->is_entry);
    }
    reach_comments(c, reached);
    for (uint32_t i = 0; i < c->out->size_defs->cap; i++)
        if (c->out->size_defs->keys[i]) /* those in type definitions, whose uses are not followed */
            reach(c, reached, ((const Def *)c->out->size_defs->values[i])->index);
    for (uint32_t i = 0; has_entries && i < c->out->ndefs; i++) {
        const Def *def = c->out->defs[i].def;
        if (c->out->defs[i].module != own || reached[i])
            continue;
        diag_warning(c->s, def->name_span, DIAG_UNUSED_NAME, "no entry uses `%s`", def->name);
        diag_note_text(c->s, "write `_%s` if that is meant", def->name);
    }
}

void warn_unused(Checker *c)
{
    if (c->out->nmodules < 2 || c->out->modules[1]->is_open)
        return;
    Unused u = {.c = c, .scope = &c->scopes[1], .pats = arena_array(c->arena, bool, c->npats)};
    const Module *own = u.scope->module;
    for (uint32_t i = 0; i < own->ndefs; i++) {
        Def *def = own->defs[i];
        if (def->kind == DEF_IMPORT)
            continue;
        collect(&u, def);
        warn_type_params(c, def);
    }
    warn_locals(&u);
    warn_imports(&u);
    warn_defs(c, own);
}
