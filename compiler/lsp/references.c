#include "lsp/references.h"

#include "lsp/features.h"
#include "lsp/library_files.h"
#include "lsp/workspace.h"

#include <string.h>

bool target_of(const Analysis *a, const Occurrence *o, Target *t)
{
    Span at;
    if (!o || !definition_of(o, &at))
        return false;
    const SourceFile *file = a->s->files.at[at.file];
    *t = (Target){file->path, o->def ? o->def->name : o->pat->name, at.start,
                  file->is_stdlib || library_has_file(file->path)};
    return true;
}

/* ---- programs ---- */

/* The number of the file in an analysis, under whatever path; UINT32_MAX: it has none such. */
static uint32_t file_of_path(const Analysis *a, const char *path)
{
    for (uint32_t f = 0; f < a->s->files.n; f++)
        if (is_same_file(a->s->files.at[f]->path, path))
            return f;
    return UINT32_MAX;
}

static bool is_known(const Views *v, const char *path)
{
    for (uint32_t i = 0; i < v->list.n; i++)
        if (file_of_path(v->list.at[i].a, path) != UINT32_MAX)
            return true;
    return false;
}

static void add_view(Views *v, const char *path, const Analysis *a, Analysis *owned, const Target *t)
{
    View view = {path, a, owned, file_of_path(a, t->path), arena_array(v->arena, bool, a->s->files.n)};
    for (uint32_t f = 0; f < a->s->files.n; f++)
        view.is_first[f] = !is_known(v, a->s->files.at[f]->path);
    vec_push(v->arena, &v->list, view);
}

void views_open(Views *v, Documents *ds, const Target *t)
{
    PathList paths = {0};
    *v = (Views){.arena = arena_create(), .documents = ds};
    for (uint32_t d = 0; d < ds->n; d++)
        add_view(v, ds->at[d]->path, document_analysis(ds, ds->at[d]), NULL, t);
    workspace_files_with(v->arena, ds, t->name, &paths);
    for (uint32_t i = 0; i < paths.n; i++) {
        if (is_known(v, paths.at[i]))
            continue;
        Analysis *a = analysis_make(paths.at[i], &ds->overlay);
        add_view(v, paths.at[i], a, a, t);
    }
}

void views_close(Views *v)
{
    for (uint32_t i = 0; i < v->list.n; i++)
        analysis_free(v->list.at[i].owned);
    arena_destroy(v->arena);
}

/* ---- places ---- */

bool view_has_target(const View *view, const Occurrence *o, const Target *t)
{
    Span at;
    return definition_of(o, &at) && at.start == t->start && at.file == view->target;
}

void views_visit(const Views *v, const Target *t, void (*visit)(void *context, const Analysis *a, const Occurrence *o),
                 void *context)
{
    for (uint32_t i = 0; i < v->list.n; i++) {
        const View *view = &v->list.at[i];
        for (uint32_t k = 0; view->target != UINT32_MAX && k < view->a->names.n; k++) {
            const Occurrence *o = &view->a->names.at[k];
            if (view->is_first[o->span.file] && view_has_target(view, o, t))
                visit(context, view->a, o);
        }
    }
}

/* ---- answers ---- */

void lsp_definition(Request *r)
{
    Span at;
    const Occurrence *o = analysis_name_at(r->a, r->offset);
    const Def *import = analysis_def_at(r->a, r->offset);
    if (o && definition_of(o, &at))
        add_location(r->out, r->a, at);
    else if (!o && import && import->kind == DEF_IMPORT && r->offset <= import->span.end && import->module)
        add_location(r->out, r->a, span_make(import->module->file, 0, 0));
    else
        strbuf_add(r->out, "null");
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
    if (target_of(r->a, analysis_name_at(r->a, r->offset), &t)) {
        Views views;
        views_open(&views, r->documents, &t);
        views_visit(&views, &t, add_reference, &list);
        views_close(&views);
    }
    strbuf_add(r->out, "]");
}

void lsp_highlights(Request *r)
{
    const char *separator = "";
    Span wanted, at;
    const Occurrence *here = analysis_name_at(r->a, r->offset);
    const bool found = here && definition_of(here, &wanted);
    strbuf_add(r->out, "[");
    for (uint32_t i = 0; found && i < r->a->names.n; i++) {
        const Occurrence *o = &r->a->names.at[i];
        if (o->span.file != r->a->file || !definition_of(o, &at) || at.file != wanted.file || at.start != wanted.start)
            continue;
        strbuf_printf(r->out, "%s{\"kind\":%d,\"range\":", separator, o->defines ? 3 : 2);
        add_range(r->out, r->a->s, o->span);
        strbuf_add(r->out, "}");
        separator = ",";
    }
    strbuf_add(r->out, "]");
}
