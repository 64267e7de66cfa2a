#include "lsp/analysis.h"

#include "core/passes.h"
#include "support/ptrmap.h"
#include "syntax/ast_walk.h"

#include <string.h>

const BuiltinText builtin_texts[BUILTIN_COUNT] = {
#define BUILTIN(name, parameters, type, ...) {#name, parameters, type},
#include "types/builtins.def"
#undef BUILTIN
};

/* ---- names ---- */

typedef struct Collector {
    Analysis *a;
    const Pat **pats; /* by Pat.id: those of kind PAT_NAME */
    const Def *def;   /* at hand */
    PtrMap puns;      /* Pats and Exprs that name a field, too; the walk comes to them behind their records */
} Collector;

static void add_name(Collector *c, Occurrence o)
{
    if (o.span.end > o.span.start)
        vec_push(c->a->s->arena, &c->a->names, o);
}

/* Does the source have the name there? Puns and qualified names are found so. */
static bool is_text(const Analysis *a, Span at, const char *text)
{
    const SourceFile *file = a->s->files.at[at.file];
    const size_t n = strlen(text);
    return at.start + n <= file->length && memcmp(file->text + at.start, text, n) == 0;
}

static Span name_span(Span at, const char *name)
{
    return span_make(at.file, at.start, at.start + (uint32_t)strlen(name));
}

static void find_pat(void *context, const Pat *p)
{
    Collector *c = context;
    if (p->kind == PAT_NAME)
        c->pats[p->id] = p;
}

static void visit_pat(void *context, const Pat *p)
{
    Collector *c = context;
    for (uint32_t i = 0; p->kind == PAT_RECORD && i < p->record.n; i++) {
        const PatField *f = &p->record.fields[i];
        if (f->pat->kind == PAT_NAME && f->pat->span.start == f->span.start)
            ptrmap_put(c->a->s->arena, &c->puns, f->pat, c);
    }
    if (p->kind == PAT_NAME)
        add_name(c,
                 (Occurrence){.span = p->span, .pat = p, .defines = true, .is_pun = ptrmap_get(&c->puns, p) != NULL});
}

static void add_use(Collector *c, const Expr *e, Span at)
{
    const Ref *ref = &c->a->checked->refs[e->id];
    Occurrence o = {.span = at, .expr = e, .is_pun = ptrmap_get(&c->puns, e) != NULL};
    if (ref->kind == REF_LOCAL)
        o.pat = c->pats[ref->pat_id];
    else if (ref->kind == REF_DEF || ref->kind == REF_LOCAL_FUN)
        o.def = ref->def;
    if (ref->kind != REF_NONE)
        add_name(c, o);
}

static void visit_expr(void *context, Expr *e)
{
    Collector *c = context;
    for (uint32_t i = 0; e->kind == E_RECORD && i < e->record.n; i++) {
        const ExprField *f = &e->record.fields[i];
        if (f->value->kind == E_NAME && f->value->span.start == f->span.start)
            ptrmap_put(c->a->s->arena, &c->puns, f->value, c);
    }
    if (e->kind == E_NAME && is_text(c->a, e->span, e->name))
        add_use(c, e, name_span(e->span, e->name));
    else if (e->kind == E_FIELD)
        add_use(c, e, e->field.name_span);
    else if (e->kind == E_LET_FUN)
        add_name(c, (Occurrence){.span = e->let_fun.def->name_span, .def = e->let_fun.def, .defines = true});
}

/* The parameter of the definition that a size names, if there is one of that name only. */
static const Pat *size_parameter(const Collector *c, Name name)
{
    const Pat *found = NULL;
    for (uint32_t i = 0; i < c->a->ids.pat_count; i++) {
        const Pat *p = c->pats[i];
        const bool is_here = p && p->name == name && p->span.file == c->def->span.file &&
                             p->span.start >= c->def->span.start && p->span.end <= c->def->span.end;
        if (is_here && found)
            return NULL;
        found = is_here ? p : found;
    }
    return found;
}

static void visit_type(void *context, const TypeExpr *t)
{
    Collector *c = context;
    const Analysis *a = c->a;
    if (t->kind == TE_NAME) {
        const Def *def = checked_type_def(a->checked, t);
        const uint32_t skip = t->name.module ? (uint32_t)strlen(t->name.module) + 1 : 0;
        Span at = t->span;
        at.start += skip;
        if (def && is_text(a, at, t->name.name))
            add_name(c, (Occurrence){.span = name_span(at, t->name.name), .def = def});
    } else if (t->kind == TE_ARRAY && t->array.size_kind == SIZE_NAME) {
        const Def *def = checked_size_def(a->checked, t);
        const Pat *pat = def ? NULL : size_parameter(c, t->array.size_name);
        if (def || pat)
            add_name(c, (Occurrence){.span = t->array.size_span, .def = def, .pat = pat});
    }
}

static void walk_users(Collector *c, const AstVisitor *v)
{
    for (uint32_t m = 0; m < c->a->modules.list.n; m++) {
        const Module *module = c->a->modules.list.at[m];
        for (uint32_t i = 0; i < module->ndefs && is_users(c->a, module->defs[i]->span); i++) {
            c->def = module->defs[i];
            ast_walk(c->def, v);
        }
    }
}

static void collect_names(Analysis *a)
{
    Collector c = {.a = a, .pats = arena_array(a->s->arena, const Pat *, a->ids.pat_count)};
    walk_users(&c, &(AstVisitor){.context = &c, .pat = find_pat});
    for (uint32_t m = 0; m < a->modules.list.n; m++) {
        const Module *module = a->modules.list.at[m];
        for (uint32_t i = 0; i < module->ndefs; i++) {
            const Def *def = module->defs[i];
            if (def->kind != DEF_IMPORT && is_users(a, def->span))
                add_name(&c, (Occurrence){.span = def->name_span, .def = def, .defines = true});
        }
    }
    walk_users(&c, &(AstVisitor){.context = &c, .expr = visit_expr, .pat = visit_pat, .type = visit_type});
}

/* ---- the analysis ---- */

/* After mistakes of the grammar, what the checker says is about what is not there; its tables are good all the same. */
static void check(Analysis *a)
{
    Session *s = a->s;
    a->is_parsed = s->error_count == 0;
    a->ndiags = diag_count(s);
    a->checked = check_program(s, a->modules.list.at, a->modules.list.n, &a->ids);
    if (a->is_parsed && s->error_count == 0)
        a->core = elaborate(s, a->checked);
    if (s->error_count)
        a->core = NULL;
    if (a->is_parsed)
        a->ndiags = diag_count(s);
}

Analysis *analysis_make(const char *path, const SourceOverlay *overlay)
{
    return analysis_make_with_entry(path, overlay, NULL);
}

Analysis *analysis_make_with_entry(const char *path, const SourceOverlay *overlay, const char *name)
{
    const char *why = "";
    Session *s = session_create();
    Analysis *a = arena_new(s->arena, Analysis);
    a->s = s;
    s->overlay = overlay;
    if (!load_program(s, path, &a->ids, &a->modules, &why))
        return a;
    a->own = a->modules.list.at[1];
    a->file = a->own->file;
    for (uint32_t i = 0; name && i < a->own->ndefs; i++)
        if (a->own->defs[i]->kind == DEF_VALUE && strcmp(a->own->defs[i]->name, name) == 0)
            a->own->defs[i]->is_entry = true;
    check(a);
    collect_names(a);
    return a;
}

void analysis_free(Analysis *a)
{
    if (!a)
        return;
    if (a->core && a->core->arena != a->s->arena)
        arena_destroy(a->core->arena);
    session_destroy(a->s);
}

/* ---- what is where ---- */

bool is_users(const Analysis *a, Span at) { return at.file < a->s->files.n && !a->s->files.at[at.file]->is_stdlib; }

static bool contains(const Analysis *a, Span at, uint32_t offset)
{
    return at.file == a->file && at.start <= offset && offset <= at.end;
}

const Occurrence *analysis_name_at(const Analysis *a, uint32_t offset)
{
    const Occurrence *found = NULL;
    for (uint32_t i = 0; i < a->names.n; i++) {
        const Occurrence *o = &a->names.at[i];
        if (contains(a, o->span, offset) && (!found || o->span.start > found->span.start))
            found = o;
    }
    return found;
}

typedef struct Search {
    const Analysis *a;
    uint32_t offset;
    const Expr *found;
} Search;

static void visit_smallest(void *context, Expr *e)
{
    Search *s = context;
    if (contains(s->a, e->span, s->offset) && e->span.end > e->span.start &&
        (!s->found || e->span.end - e->span.start < s->found->span.end - s->found->span.start))
        s->found = e;
}

const Expr *analysis_expr_at(const Analysis *a, uint32_t offset)
{
    Search s = {.a = a, .offset = offset};
    for (uint32_t i = 0; a->own && i < a->own->ndefs; i++)
        if (contains(a, a->own->defs[i]->span, offset))
            ast_walk(a->own->defs[i], &(AstVisitor){.context = &s, .expr = visit_smallest});
    return s.found;
}

Def *analysis_def_at(const Analysis *a, uint32_t offset)
{
    Def *found = NULL;
    for (uint32_t i = 0; a->own && i < a->own->ndefs; i++) {
        Def *def = a->own->defs[i];
        if (def->span.file == a->file && def->span.start <= offset && (!found || def->span.start > found->span.start))
            found = def;
    }
    return found;
}

bool definition_of(const Occurrence *o, Span *at)
{
    *at = o->def ? o->def->name_span : o->pat ? o->pat->span : SPAN_NONE;
    return o->def || o->pat;
}

/* ---- texts ---- */

static bool has_error(Type *t)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_ERROR: return true;
    case TY_ARRAY: return has_error(t->element);
    case TY_FUN: return has_error(t->fun.from) || has_error(t->fun.to);
    case TY_TUPLE:
        for (uint32_t i = 0; i < t->tuple.n; i++)
            if (has_error(t->tuple.items[i]))
                return true;
        return false;
    case TY_RECORD:
    case TY_SUM:
        for (uint32_t i = 0; i < t->record.n; i++)
            if (t->record.items[i] && has_error(t->record.items[i]))
                return true;
        return false;
    case TY_SCALAR:
    case TY_VAR:
    case TY_RIGID: return false;
    }
    return false;
}

void print_known_type(StrBuf *out, Type *t)
{
    if (t && !has_error(t))
        type_print(out, t);
}

static void add_scheme(StrBuf *out, const Analysis *a, const Def *def)
{
    const DefInfo *info = def->index < a->checked->ndefs ? &a->checked->defs[def->index] : NULL;
    const Scheme *scheme = info && info->def == def ? &info->scheme : NULL; /* a local function has no index */
    if (scheme && scheme->type && !has_error(scheme->type)) {
        strbuf_add(out, " : ");
        scheme_print(out, scheme);
    }
}

void add_signature(StrBuf *out, const Analysis *a, const Occurrence *o)
{
    Type *t = NULL;
    if (o->def && o->def->kind == DEF_TYPE) {
        const SourceFile *file = a->s->files.at[o->def->span.file];
        strbuf_addn(out, file->text + o->def->span.start, o->def->span.end - o->def->span.start);
    } else if (o->def) {
        strbuf_printf(out, "%s %s", o->def->is_entry ? "entry" : "def", o->def->name);
        add_scheme(out, a, o->def);
    } else if (o->pat) {
        t = a->checked->pat_types[o->pat->id];
        strbuf_printf(out, "%s%s", o->pat->name, t && !has_error(t) ? " : " : "");
        print_known_type(out, t);
    } else if (o->expr && a->checked->refs[o->expr->id].kind == REF_PRIM) {
        const BuiltinText *b = &builtin_texts[a->checked->refs[o->expr->id].builtin];
        strbuf_printf(out, "%s %s : %s", b->name, b->parameters, b->type);
    } else if (o->expr) {
        t = a->checked->expr_types[o->expr->id];
        strbuf_printf(out, "%s : ", o->expr->kind == E_NAME ? o->expr->name : o->expr->field.name);
        print_known_type(out, t);
    }
}
