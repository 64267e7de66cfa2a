#include "lsp/features.h"

#include "lsp/references.h"
#include "syntax/build.h"
#include "syntax/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "parser.h"

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
    const Views *views;
    const Edits *edits;
} Renamed;

/* The path by which the edits call the file. */
static const char *path_of_edits(const Edits *e, const char *path)
{
    for (uint32_t i = 0; i < e->list.n; i++)
        if ((i == 0 || strcmp(e->list.at[i].path, e->list.at[i - 1].path) != 0) &&
            is_same_file(e->list.at[i].path, path))
            return e->list.at[i].path;
    return path;
}

static const char *renamed_text(const SourceOverlay *overlay, const char *path, size_t *n)
{
    const Renamed *x = (const Renamed *)overlay;
    const Document *d = document_of_path(x->views->documents, path);
    const char *name = path_of_edits(x->edits, path);
    if (d)
        return edited(x->edits->arena, x->edits, name, d->text, d->n, n);
    for (uint32_t i = 0; i < x->views->list.n; i++) {
        const Session *s = x->views->list.at[i].a->s;
        for (uint32_t f = 0; f < s->files.n; f++)
            if (!s->files.at[f]->is_stdlib && strcmp(s->files.at[f]->path, path) == 0)
                return edited(x->edits->arena, x->edits, name, s->files.at[f]->text, s->files.at[f]->length, n);
    }
    return NULL;
}

/* Does each program have the mistakes that it had, and the name the places that it had? */
static bool means_the_same(const Views *views, const Edits *e)
{
    Renamed x = {{renamed_text}, views, e};
    bool same = true;
    for (uint32_t k = 0; same && k < views->list.n; k++) {
        const Analysis *old = views->list.at[k].a;
        Analysis *new = analysis_make(views->list.at[k].path, &x.overlay);
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
    if (!target_of(r->a, o, &t) || t.is_library) {
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
    if (t.is_library) {
        r->error = "this is a name of the library";
        return;
    }
    if (!is_new_name(edits.name)) {
        r->error = "this is not a name";
        return;
    }
    Views views;
    views_open(&views, r->documents, &t);
    views_visit(&views, &t, add_edit, &edits);
    if (edits.list.n)
        qsort(edits.list.at, edits.list.n, sizeof(Edit), compare_edits);
    if (means_the_same(&views, &edits))
        add_edits(r->out, &edits);
    else
        r->error = "with this name the program would mean something else";
    views_close(&views);
}
