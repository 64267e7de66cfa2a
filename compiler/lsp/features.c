#include "lsp/features.h"

#include "cost/symbolic_report.h"
#include "fmt/fmt.h"
#include "syntax/ast_walk.h"
#include "syntax/build.h"
#include "syntax/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "parser.h"

static void add_text_member(StrBuf *out, const char *key, const char *text)
{
    strbuf_printf(out, "\"%s\":", key);
    diag_json_string(out, text ? text : "");
}

static void add_uri_member(StrBuf *out, const char *path)
{
    StrBuf uri = {0};
    add_uri_of_path(&uri, path);
    add_text_member(out, "uri", uri.text);
    strbuf_free(&uri);
}

static void add_location(StrBuf *out, const Analysis *a, Span at)
{
    strbuf_add(out, "{");
    add_uri_member(out, a->s->files.at[at.file]->path);
    strbuf_add(out, ",\"range\":");
    add_range(out, a->s, at);
    strbuf_add(out, "}");
}

/* ---- diagnostics ---- */

/* What is in an imported file is shown at its import. */
static Span place_in_document(const Analysis *a, Span at)
{
    for (uint32_t i = 0; a->own && at.file != a->file && i < a->own->ndefs; i++) {
        const Def *def = a->own->defs[i];
        if (def->kind == DEF_IMPORT && def->module && def->module->file == at.file)
            return def->span;
    }
    return at.file == a->file ? at : span_make(a->file, 0, 0);
}

static void add_message(StrBuf *out, const Analysis *a, const DiagView *d)
{
    StrBuf text = {0};
    if (d->head.at.file != a->file && d->head.at.file < a->s->files.n) {
        const LineCol at = source_linecol(a->s, d->head.at.file, d->head.at.start);
        strbuf_printf(&text, "%s:%u:%u: ", a->s->files.at[d->head.at.file]->path, at.line, at.col);
    }
    strbuf_add(&text, d->head.text);
    for (uint32_t i = 0; i < d->nnotes; i++)
        if (!is_users(a, d->notes[i].at))
            strbuf_printf(&text, "\nnote: %s", d->notes[i].text);
    add_text_member(out, "message", text.text);
    strbuf_free(&text);
}

static void add_related(StrBuf *out, const Analysis *a, const DiagView *d)
{
    const char *separator = ",\"relatedInformation\":[";
    for (uint32_t i = 0; i < d->nnotes; i++) {
        if (!is_users(a, d->notes[i].at))
            continue;
        strbuf_printf(out, "%s{\"location\":", separator);
        add_location(out, a, d->notes[i].at);
        strbuf_add(out, ",");
        add_text_member(out, "message", d->notes[i].text);
        strbuf_add(out, "}");
        separator = ",";
    }
    if (*separator == ',' && separator[1] == '\0')
        strbuf_add(out, "]");
}

static void add_diagnostic(StrBuf *out, const Analysis *a, const DiagView *d)
{
    strbuf_add(out, "{\"range\":");
    add_range(out, a->s, place_in_document(a, d->head.at));
    strbuf_printf(out, ",\"severity\":%d,\"source\":\"dpc\",", d->head.level == DIAG_ERROR ? 1 : 2);
    if (d->head.code != DIAG_NONE)
        strbuf_printf(out, "\"code\":\"%s\",", diag_codes[d->head.code].code);
    if (d->head.code == DIAG_UNUSED_NAME)
        strbuf_add(out, "\"tags\":[1],");
    add_message(out, a, d);
    add_related(out, a, d);
    strbuf_add(out, "}");
}

void add_diagnostics(StrBuf *out, const Document *d, const Analysis *a)
{
    strbuf_add(out, "{");
    add_text_member(out, "uri", d->uri);
    strbuf_add(out, ",\"diagnostics\":[");
    for (uint32_t i = 0; a->own && i < a->ndiags; i++) {
        const DiagView diag = diag_at(a->s, i);
        strbuf_add(out, i ? "," : "");
        add_diagnostic(out, a, &diag);
    }
    strbuf_add(out, "]}");
}

/* ---- hover ---- */

/* Of a definition that an entry uses. */
static void add_cost(StrBuf *out, const Analysis *a, const Def *def)
{
    if (!a->core || def->kind != DEF_VALUE)
        return;
    for (uint32_t i = 0; i < a->core->fns.n; i++) {
        const Span at = a->core->fns.at[i]->span;
        if (at.file != def->span.file || at.start < def->span.start || at.end > def->span.end ||
            strcmp(a->core->fns.at[i]->name, def->name) != 0)
            continue;
        strbuf_add(out, "\n\n```text\n");
        symbolic_print_one(out, a->core, symbolic_costs(a->core, a->s->arena), i, a->s->arena);
        strbuf_add(out, "```");
        return;
    }
}

static void add_hover_text(StrBuf *out, const Analysis *a, const Occurrence *o)
{
    strbuf_add(out, "```dp\n");
    add_signature(out, a, o);
    strbuf_add(out, "\n```");
    if (o->def && o->def->doc)
        strbuf_printf(out, "\n\n%s", o->def->doc);
    if (o->def)
        add_cost(out, a, o->def);
}

static void add_hover(Request *r, const StrBuf *text, Span at)
{
    strbuf_add(r->out, "{\"contents\":{\"kind\":\"markdown\",");
    add_text_member(r->out, "value", text->text);
    strbuf_add(r->out, "},\"range\":");
    add_range(r->out, r->a->s, at);
    strbuf_add(r->out, "}");
}

void lsp_hover(Request *r)
{
    StrBuf text = {0};
    const Occurrence *o = analysis_name_at(r->a, r->offset);
    const Expr *e = o ? NULL : analysis_expr_at(r->a, r->offset);
    Type *t = e ? r->a->checked->expr_types[e->id] : NULL;
    if (o) {
        add_hover_text(&text, r->a, o);
        add_hover(r, &text, o->span);
    } else {
        StrBuf type = {0};
        print_known_type(&type, t);
        if (type.n) {
            strbuf_printf(&text, "```dp\n%s\n```", type.text);
            add_hover(r, &text, e->span);
        } else {
            strbuf_add(r->out, "null");
        }
        strbuf_free(&type);
    }
    strbuf_free(&text);
}

/* ---- where a name is ---- */

void lsp_definition(Request *r)
{
    Span at;
    const Occurrence *o = analysis_name_at(r->a, r->offset);
    const Def *import = analysis_def_at(r->a, r->offset);
    if (o && definition_of(o, &at) && is_users(r->a, at))
        add_location(r->out, r->a, at);
    else if (!o && import && import->kind == DEF_IMPORT && r->offset <= import->span.end && import->module &&
             is_users(r->a, span_make(import->module->file, 0, 0)))
        add_location(r->out, r->a, span_make(import->module->file, 0, 0));
    else
        strbuf_add(r->out, "null");
}

/* The same definition in whatever analysis: a place in a file. */
typedef struct Target {
    const char *path, *name;
    uint32_t start;
} Target;

static bool target_of(const Analysis *a, const Occurrence *o, Target *t)
{
    Span at;
    if (!o || !definition_of(o, &at) || !is_users(a, at))
        return false;
    *t = (Target){a->s->files.at[at.file]->path, o->def ? o->def->name : o->pat->name, at.start};
    return true;
}

static bool is_target(const Analysis *a, const Occurrence *o, const Target *t)
{
    Span at;
    return definition_of(o, &at) && at.start == t->start && is_users(a, at) &&
           strcmp(a->s->files.at[at.file]->path, t->path) == 0;
}

/* Calls `visit` for each place of the target in a file, once: by the documents' analyses. */
typedef struct Places {
    const Target *target;
    void (*visit)(void *context, const Analysis *a, const Occurrence *o);
    void *context;
} Places;

static bool is_seen(const Documents *ds, uint32_t before, const char *path)
{
    for (uint32_t i = 0; i < before; i++)
        for (uint32_t f = 0; ds->at[i]->now && f < ds->at[i]->now->s->files.n; f++)
            if (strcmp(ds->at[i]->now->s->files.at[f]->path, path) == 0)
                return true;
    return false;
}

static void visit_places(Request *r, const Places *p)
{
    for (uint32_t d = 0; d < r->documents->n; d++) {
        const Analysis *a = document_analysis(r->documents, r->documents->at[d]);
        for (uint32_t i = 0; i < a->names.n; i++) {
            const Occurrence *o = &a->names.at[i];
            if (is_target(a, o, p->target) && !is_seen(r->documents, d, a->s->files.at[o->span.file]->path))
                p->visit(p->context, a, o);
        }
    }
}

typedef struct List {
    StrBuf *out;
    const char *separator;
    bool with_definition;
} List;

static void add_reference(void *context, const Analysis *a, const Occurrence *o)
{
    List *l = context;
    if (o->defines && !l->with_definition)
        return;
    strbuf_add(l->out, l->separator);
    add_location(l->out, a, o->span);
    l->separator = ",";
}

void lsp_references(Request *r)
{
    Target t;
    const Json *with = json_get(json_get(r->params, "context"), "includeDeclaration");
    List list = {r->out, "", !with || strcmp(with->text, "false") != 0};
    strbuf_add(r->out, "[");
    if (target_of(r->a, analysis_name_at(r->a, r->offset), &t))
        visit_places(r, &(Places){&t, add_reference, &list});
    strbuf_add(r->out, "]");
}

void lsp_highlights(Request *r)
{
    Target t;
    const char *separator = "";
    strbuf_add(r->out, "[");
    const bool found = target_of(r->a, analysis_name_at(r->a, r->offset), &t);
    for (uint32_t i = 0; found && i < r->a->names.n; i++) {
        const Occurrence *o = &r->a->names.at[i];
        if (o->span.file != r->a->file || !is_target(r->a, o, &t))
            continue;
        strbuf_printf(r->out, "%s{\"kind\":%d,\"range\":", separator, o->defines ? 3 : 2);
        add_range(r->out, r->a->s, o->span);
        strbuf_add(r->out, "}");
        separator = ",";
    }
    strbuf_add(r->out, "]");
}

/* ---- renaming ---- */

static bool is_new_name(const char *name)
{
    TokenList tokens = {0};
    Session *s = session_create();
    scan_tokens(s, source_add_text(s, "name", name, strlen(name), false), &tokens);
    const bool good = tokens.n == 2 && tokens.at[0].kind == T_NAME && tokens.at[0].span.start == 0 &&
                      tokens.at[0].span.end == strlen(name);
    session_destroy(s);
    return good;
}

typedef struct Edit {
    const char *path; /* the session's */
    Session *s;
    Span span;
    const char *text;
} Edit;
typedef struct Edits {
    Arena *arena;
    const char *name;
    VEC(Edit) list;
} Edits;

/* A punned field keeps its name. */
static void add_edit(void *context, const Analysis *a, const Occurrence *o)
{
    Edits *e = context;
    const SourceFile *file = a->s->files.at[o->span.file];
    const char *text = e->name;
    if (o->is_pun)
        text =
            arena_printf(e->arena, "%.*s = %s", (int)(o->span.end - o->span.start), file->text + o->span.start, text);
    Edit edit = {file->path, a->s, o->span, text};
    vec_push(e->arena, &e->list, edit);
}

static int compare_edits(const void *left, const void *right)
{
    const Edit *a = left, *b = right;
    const int c = strcmp(a->path, b->path);
    return c ? c : a->span.start < b->span.start ? -1 : a->span.start > b->span.start;
}

/* A text with the edits of its file in it. */
static char *edited(Arena *arena, const Edits *e, const char *path, const char *text, size_t n, size_t *made)
{
    StrBuf out = {0};
    size_t at = 0;
    for (uint32_t i = 0; i < e->list.n; i++) {
        const Edit *edit = &e->list.at[i];
        if (strcmp(edit->path, path) != 0 || edit->span.start < at || edit->span.end > n)
            continue;
        strbuf_addn(&out, text + at, edit->span.start - at);
        strbuf_add(&out, edit->text);
        at = edit->span.end;
    }
    strbuf_addn(&out, text + at, n - at);
    char *copy = arena_strndup(arena, out.n ? out.text : "", out.n);
    *made = out.n;
    strbuf_free(&out);
    return copy;
}

/* Files as they would be. */
typedef struct Renamed {
    SourceOverlay overlay;
    Request *r;
    const Edits *edits;
} Renamed;

static const char *renamed_text(const SourceOverlay *overlay, const char *path, size_t *n)
{
    const Renamed *x = (const Renamed *)overlay;
    const Documents *ds = x->r->documents;
    const Document *d = document_of_path(ds, path);
    if (d)
        return edited(x->edits->arena, x->edits, path, d->text, d->n, n);
    for (uint32_t i = 0; i < ds->n; i++)
        for (uint32_t f = 0; ds->at[i]->now && f < ds->at[i]->now->s->files.n; f++) {
            const SourceFile *file = ds->at[i]->now->s->files.at[f];
            if (!file->is_stdlib && strcmp(file->path, path) == 0)
                return edited(x->edits->arena, x->edits, path, file->text, file->length, n);
        }
    return NULL;
}

/* Does each document have the mistakes that it had, and the name the places that it had? */
static bool means_the_same(Request *r, const Edits *e)
{
    Renamed x = {{renamed_text}, r, e};
    bool same = true;
    for (uint32_t d = 0; same && d < r->documents->n; d++) {
        const Analysis *old = r->documents->at[d]->now;
        Analysis *new = analysis_make(r->documents->at[d]->path, &x.overlay);
        same = new->own &&new->s->error_count == old->s->error_count &&new->names.n == old->names.n;
        for (uint32_t i = 0; same && i < old->names.n; i++) {
            const Occurrence *a = &old->names.at[i], *b = &new->names.at[i];
            same = !a->pat == !b->pat && !a->def == !b->def && (!a->pat || a->pat->id == b->pat->id) &&
                   (!a->def || (a->def->index == b->def->index && a->def->kind == b->def->kind));
        }
        analysis_free(new);
    }
    return same;
}

static void add_edits(StrBuf *out, const Edits *e)
{
    strbuf_add(out, "{\"changes\":{");
    for (uint32_t i = 0; i < e->list.n; i++) {
        const Edit *edit = &e->list.at[i];
        const bool begins = i == 0 || strcmp(edit[-1].path, edit->path) != 0;
        if (begins) {
            StrBuf uri = {0};
            add_uri_of_path(&uri, edit->path);
            strbuf_add(out, i ? "]," : "");
            diag_json_string(out, uri.text);
            strbuf_add(out, ":[");
            strbuf_free(&uri);
        }
        strbuf_printf(out, "%s{\"range\":", begins ? "" : ",");
        add_range(out, edit->s, edit->span);
        strbuf_add(out, ",");
        add_text_member(out, "newText", edit->text);
        strbuf_add(out, "}");
    }
    strbuf_add(out, e->list.n ? "]}}" : "}}");
}

void lsp_prepare_rename(Request *r)
{
    Target t;
    const Occurrence *o = analysis_name_at(r->a, r->offset);
    if (!target_of(r->a, o, &t)) {
        strbuf_add(r->out, "null");
        return;
    }
    strbuf_add(r->out, "{\"range\":");
    add_range(r->out, r->a->s, o->span);
    strbuf_add(r->out, ",");
    add_text_member(r->out, "placeholder", t.name);
    strbuf_add(r->out, "}");
}

void lsp_rename(Request *r)
{
    Target t;
    Edits edits = {.arena = r->a->s->arena, .name = json_text(r->params, "newName")};
    if (!target_of(r->a, analysis_name_at(r->a, r->offset), &t)) {
        r->error = "nothing here can be renamed";
        return;
    }
    if (!is_new_name(edits.name)) {
        r->error = "this is not a name";
        return;
    }
    visit_places(r, &(Places){&t, add_edit, &edits});
    if (edits.list.n)
        qsort(edits.list.at, edits.list.n, sizeof(Edit), compare_edits);
    if (means_the_same(r, &edits))
        add_edits(r->out, &edits);
    else
        r->error = "with this name the program would mean something else";
}

/* ---- formatting ---- */

void lsp_format(Request *r)
{
    StrBuf text = {0};
    Session *s = session_create();
    const uint32_t file = source_add_text(s, r->document->path, r->document->text, r->document->n, false);
    if (fmt_file(s, file, &text) == FMT_OK) {
        strbuf_add(r->out, "[{\"range\":");
        add_range(r->out, s, span_make(file, 0, s->files.at[file]->length));
        strbuf_add(r->out, ",");
        add_text_member(r->out, "newText", text.text);
        strbuf_add(r->out, "}]");
    } else {
        strbuf_add(r->out, "null"); /* what is wrong has been said */
    }
    strbuf_free(&text);
    session_destroy(s);
}

/* ---- hints of types ---- */

typedef struct Hints {
    Request *r;
    const char *separator;
} Hints;

static void add_hint(Hints *h, Span at, Type *t)
{
    StrBuf type = {0};
    print_known_type(&type, t);
    if (type.n) {
        strbuf_printf(h->r->out, "%s{\"position\":", h->separator);
        add_position(h->r->out, h->r->a->s, at.file, at.end);
        strbuf_add(h->r->out, ",\"label\":");
        StrBuf label = {0};
        strbuf_printf(&label, ": %s", type.text);
        diag_json_string(h->r->out, label.text);
        strbuf_add(h->r->out, ",\"kind\":1,\"paddingLeft\":true}");
        strbuf_free(&label);
        h->separator = ",";
    }
    strbuf_free(&type);
}

static void add_pattern_hint(Hints *h, const Pat *p)
{
    if (p->kind == PAT_NAME)
        add_hint(h, p->span, h->r->a->checked->pat_types[p->id]);
}

static void hint_expr(void *context, Expr *e)
{
    if (e->kind == E_LET)
        add_pattern_hint(context, e->let.pat);
    for (uint32_t i = 0; e->kind == E_LET_FUN && i < e->let_fun.def->nparams; i++)
        add_pattern_hint(context, e->let_fun.def->params[i]);
}

/* Behind the name, or the last parameter. */
static void hint_result(Hints *h, const Def *def)
{
    Type *t = def->result ? NULL : h->r->a->checked->expr_types[def->body->id];
    if (t)
        add_hint(h, def->nparams ? def->params[def->nparams - 1]->span : def->name_span, t);
}

void lsp_inlay_hints(Request *r)
{
    Hints h = {r, ""};
    const Json *range = json_get(r->params, "range");
    const uint32_t from = offset_of_position(r->a->s, r->a->file, json_get(range, "start"));
    const uint32_t to = offset_of_position(r->a->s, r->a->file, json_get(range, "end"));
    strbuf_add(r->out, "[");
    for (uint32_t i = 0; i < r->a->own->ndefs; i++) {
        const Def *def = r->a->own->defs[i];
        if (def->kind != DEF_VALUE || (range && (def->span.end < from || def->span.start > to)))
            continue;
        for (uint32_t k = 0; k < def->nparams; k++)
            add_pattern_hint(&h, def->params[k]);
        hint_result(&h, def);
        ast_walk(def, &(AstVisitor){.context = &h, .expr = hint_expr});
    }
    strbuf_add(r->out, "]");
}

/* ---- tests ---- */

/* The name in a line `-- test NAME` or `-- property NAME`; its length, or 0. */
static size_t test_name(const char *line, const char **name)
{
    line += strspn(line, " \t");
    if (strncmp(line, "--", 2) != 0)
        return 0;
    line += 2 + strspn(line + 2, " \t");
    const size_t n = strcspn(line, " \t\r\n");
    if (!(n == 4 && memcmp(line, "test", n) == 0) && !(n == 8 && memcmp(line, "property", n) == 0))
        return 0;
    line += n + strspn(line + n, " \t");
    *name = line;
    const size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_'");
    line += length + strspn(line + length, " \t\r");
    return *line == '\0' || *line == '\n' || strncmp(line, "--", 2) == 0 ? length : 0;
}

void lsp_code_lenses(Request *r)
{
    const char *separator = "", *text = r->a->s->files.at[r->a->file]->text;
    strbuf_add(r->out, "[");
    for (const char *line = text, *end; *line; line = end + (*end == '\n')) {
        const char *name = NULL;
        end = line + strcspn(line, "\n");
        const size_t n = test_name(line, &name);
        if (!n)
            continue;
        const char *words = arena_strndup(r->a->s->arena, name, n);
        strbuf_printf(r->out, "%s{\"range\":", separator);
        add_range(r->out, r->a->s, span_make(r->a->file, (uint32_t)(line - text), (uint32_t)(end - text)));
        strbuf_add(r->out, ",\"command\":{\"title\":\"run test\",\"command\":\"dpc.runTest\",\"arguments\":[");
        diag_json_string(r->out, r->document->path);
        strbuf_add(r->out, ",");
        diag_json_string(r->out, words);
        strbuf_add(r->out, "]}}");
        separator = ",";
    }
    strbuf_add(r->out, "]");
}

/* ---- definitions of the document ---- */

void lsp_symbols(Request *r)
{
    enum { SYMBOL_CONSTANT = 14, SYMBOL_FUNCTION = 12, SYMBOL_STRUCT = 23 };
    const char *separator = "";
    strbuf_add(r->out, "[");
    for (uint32_t i = 0; i < r->a->own->ndefs; i++) {
        const Def *def = r->a->own->defs[i];
        if (def->kind == DEF_IMPORT)
            continue;
        strbuf_printf(r->out, "%s{", separator);
        add_text_member(r->out, "name", def->name);
        strbuf_printf(r->out, ",\"kind\":%d,\"range\":",
                      def->kind == DEF_TYPE ? SYMBOL_STRUCT
                      : def->nparams        ? SYMBOL_FUNCTION
                                            : SYMBOL_CONSTANT);
        add_range(r->out, r->a->s, def->span);
        strbuf_add(r->out, ",\"selectionRange\":");
        add_range(r->out, r->a->s, def->name_span);
        strbuf_add(r->out, "}");
        separator = ",";
    }
    strbuf_add(r->out, "]");
}
