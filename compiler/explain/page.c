/* The page: the template explain/page.html with its script, its style, the stages as text, and what is known of them as
 * JSON. */
#include "explain/explain_internal.h"

#include "support/embedded.h"
#include "syntax/ast_walk.h"

#include <string.h>

/* ---- HTML ---- */

static bool is_users(const SourceFile *f) { return !f->is_stdlib; }

/* A newline behind <pre> would not count. */
static void put_section(StrBuf *out, const char *name, const char *title, const char *text, size_t n)
{
    strbuf_printf(out, "<section class=\"stage\" id=\"stage-%s\" data-stage=\"%s\"><h2>", name, name);
    strbuf_add_html(out, title, strlen(title));
    strbuf_add(out, "</h2>\n<pre tabindex=\"0\">\n");
    strbuf_add_html(out, text, n);
    strbuf_add(out, "</pre></section>\n");
}

static void put_stages(StrBuf *out, const Explanation *x)
{
    const Session *s = x->c->session;
    for (uint32_t i = 0, k = 0; i < s->files.n; i++) {
        const SourceFile *f = s->files.at[i];
        if (!is_users(f))
            continue;
        const char *name = k == 0 ? "source" : arena_printf(x->arena, "source-%u", i);
        put_section(out, name, k++ == 0 ? "source" : f->path, f->text, f->length);
    }
    for (uint32_t i = 0; i < x->stages.n; i++) {
        const ExplainedStage *stage = &x->stages.at[i];
        const char *name = stage->stage == STAGE_OPENCL ? "kernels" : stage_name(stage->stage);
        put_section(out, name, name, stage->text, stage->bytes);
    }
}

/* ---- JSON ---- */

static void put_key(StrBuf *out, const char *key) { strbuf_printf(out, ",\n\"%s\":", key); }

static void put_text(StrBuf *out, const char *key, const char *text)
{
    put_key(out, key);
    if (text)
        diag_json_string(out, text);
    else
        strbuf_add(out, "null");
}

static void put_files(StrBuf *out, const Explanation *x)
{
    const Session *s = x->c->session;
    bool any = false;
    put_key(out, "files");
    strbuf_add(out, "[");
    for (uint32_t i = 0; i < s->files.n; i++) {
        const SourceFile *f = s->files.at[i];
        if (!is_users(f))
            continue;
        strbuf_printf(out, "%s{\"index\":%u,\"path\":", any ? "," : "", i);
        any = true;
        diag_json_string(out, f->path);
        strbuf_printf(out, ",\"stage\":\"source%s\"}",
                      i == x->c->modules.list.at[1]->file ? "" : arena_printf(x->arena, "-%u", i));
    }
    strbuf_add(out, "]");
}

typedef struct TypeList {
    StrBuf *out;
    const Checked *checked;
    bool any;
} TypeList;

/* [file, from, to, type, name]: name is null but for variables where they are bound. */
static void put_type(TypeList *l, Span at, Type *type, const char *name)
{
    StrBuf text = {0};
    if (!type || at.end == 0)
        return;
    type_print(&text, type);
    strbuf_printf(l->out, "%s[%u,%u,%u,", l->any ? ",\n" : "", at.file, at.start, at.end);
    l->any = true;
    diag_json_string(l->out, text.text);
    strbuf_add(l->out, ",");
    if (name)
        diag_json_string(l->out, name);
    else
        strbuf_add(l->out, "null");
    strbuf_add(l->out, "]");
    strbuf_free(&text);
}

static void put_expr_type(void *context, Expr *e)
{
    TypeList *l = context;
    put_type(l, e->span, l->checked->expr_types[e->id], NULL);
}

static void put_pat_type(void *context, const Pat *p)
{
    TypeList *l = context;
    if (p->kind == PAT_NAME)
        put_type(l, p->span, l->checked->pat_types[p->id], p->name);
}

static void put_types(StrBuf *out, const Explanation *x)
{
    const Checked *checked = x->c->checked;
    TypeList l = {out, checked, false};
    const AstVisitor visitor = {&l, put_expr_type, put_pat_type, NULL};
    put_key(out, "types");
    strbuf_add(out, "[");
    for (uint32_t i = 1; i < checked->nmodules; i++) {
        const Module *m = checked->modules[i];
        for (uint32_t k = 0; k < m->ndefs && is_users(x->c->session->files.at[m->file]); k++)
            if (m->defs[k]->kind == DEF_VALUE)
                ast_walk(m->defs[k], &visitor);
    }
    strbuf_add(out, "]");
}

/* [from, to, file, start, end, library's path and line or null, statement of the trace or null]. A mark that goes
 * beyond the text is cut. */
static void put_mark(StrBuf *out, const Explanation *x, const ExplainedStage *stage, const TextMark *m)
{
    const Trace *trace = stage->stage == STAGE_FLAT   ? &x->traces[RUN_FLAT]
                         : stage->stage == STAGE_CORE ? &x->traces[RUN_CORE]
                                                      : NULL;
    const uint32_t statement = trace ? trace_number(trace, m->node) : UINT32_MAX;
    Session *s = x->c->session;
    strbuf_printf(out, "[%zu,%zu,%u,%u,%u,", m->from, m->to < stage->bytes ? m->to : stage->bytes, m->span.file,
                  m->span.start, m->span.end);
    const Span library = m->span.origin ? source_of_origin(s, m->span.origin) : m->span;
    if (library.file < s->files.n && s->files.at[library.file]->is_stdlib)
        strbuf_printf(out, "\"%s:%u\"", s->files.at[library.file]->path,
                      source_linecol(s, library.file, library.start).line);
    else
        strbuf_add(out, "null");
    strbuf_printf(out, statement == UINT32_MAX ? ",null]" : ",%u]", statement);
}

static void put_stage_marks(StrBuf *out, const Explanation *x)
{
    put_key(out, "stages");
    strbuf_add(out, "[");
    for (uint32_t i = 0; i < x->stages.n; i++) {
        const ExplainedStage *stage = &x->stages.at[i];
        bool any = false;
        strbuf_printf(out, "%s\n{\"name\":\"%s\",\"lines_cut\":%u,\"marks\":[", i ? "," : "",
                      stage->stage == STAGE_OPENCL ? "kernels" : stage_name(stage->stage), stage->lines_cut);
        for (uint32_t k = 0; k < stage->marks.all.n; k++) {
            const TextMark *m = &stage->marks.all.at[k];
            if (m->from >= stage->bytes || m->span.end == 0 || m->span.file >= x->c->session->files.n)
                continue;
            strbuf_add(out, any ? ",\n" : "");
            any = true;
            put_mark(out, x, stage, m);
        }
        strbuf_add(out, "]}");
    }
    strbuf_add(out, "]");
}

static void put_passes(StrBuf *out, const Explanation *x)
{
    put_key(out, "lines");
    strbuf_add(out, "[");
    for (uint32_t i = 0; i < x->lines.n; i++) {
        strbuf_add(out, i ? ",\n" : "");
        diag_json_string(out, x->lines.at[i]);
    }
    strbuf_add(out, "]");
    put_key(out, "passes");
    strbuf_add(out, "[");
    for (uint32_t i = 0; i < x->passes.n; i++) {
        const ExplainedPass *pass = &x->passes.at[i];
        strbuf_printf(out, "%s\n{\"name\":\"%s\",\"level\":\"%s\",\"left_out\":%s,\"lines\":[", i ? "," : "",
                      pass->name, pass->level, pass->is_left_out ? "true" : "false");
        for (uint32_t k = 0; k < pass->lines.n; k++)
            strbuf_printf(out, "%s%u", k ? "," : "", pass->lines.at[k]);
        strbuf_add(out, "]}");
    }
    strbuf_add(out, "]");
}

/* Objects, each on its line, as a list. */
static void put_json_lines(StrBuf *out, const char *key, const StrBuf *lines)
{
    put_key(out, key);
    strbuf_add(out, "[");
    for (size_t i = 0; i < lines->n; i++)
        if (lines->text[i] != '\n')
            strbuf_addn(out, lines->text + i, 1);
        else if (i + 1 < lines->n)
            strbuf_add(out, ",\n");
    strbuf_add(out, "]");
}

/* Between tags of a script no `<` may stand as it is. */
static void put_data(StrBuf *out, const Explanation *x)
{
    StrBuf json = {0};
    strbuf_add(&json, "{\"version\":1");
    put_text(&json, "program", x->c->path);
    put_text(&json, "entry", x->entry ? x->entry->name : NULL);
    put_text(&json, "signature", x->entry ? x->entry->signature : NULL);
    put_text(&json, "input", x->input);
    put_text(&json, "result", x->result);
    put_files(&json, x);
    put_types(&json, x);
    put_stage_marks(&json, x);
    put_passes(&json, x);
    put_json_lines(&json, "remarks", &x->remarks);
    put_key(&json, "formulas");
    strbuf_add(&json, x->formulas.n ? x->formulas.text : "[]");
    put_key(&json, "meter");
    strbuf_add(&json, x->meter.n ? x->meter.text : "null");
    put_json_lines(&json, "core_trace", &x->traces[RUN_CORE].text);
    put_json_lines(&json, "trace", &x->traces[RUN_FLAT].text);
    strbuf_add(&json, "}");
    for (size_t i = 0, n; i < json.n; i += n) {
        n = strcspn(json.text + i, "<");
        strbuf_addn(out, json.text + i, n);
        if (json.text[i + n] == '<') {
            strbuf_add(out, "\\u003c");
            n++;
        }
    }
    strbuf_free(&json);
}

/* ---- the template ---- */

static void put_embedded(StrBuf *out, const char *ending)
{
    for (const EmbeddedFile *f = embedded_files; f->name; f++) {
        const size_t n = strlen(f->name), m = strlen(ending);
        if (strncmp(f->name, "explain/", 8) == 0 && n > m && strcmp(f->name + n - m, ending) == 0)
            strbuf_addn(out, f->text, f->length);
    }
}

static void put_hole(StrBuf *out, const Explanation *x, const char *hole, size_t n)
{
    if (strncmp(hole, "TITLE", n) == 0)
        strbuf_add_html(out, x->c->path, strlen(x->c->path));
    else if (strncmp(hole, "STYLE", n) == 0)
        put_embedded(out, ".css");
    else if (strncmp(hole, "SCRIPT", n) == 0)
        put_embedded(out, ".js");
    else if (strncmp(hole, "STAGES", n) == 0)
        put_stages(out, x);
    else if (strncmp(hole, "DATA", n) == 0)
        put_data(out, x);
}

void explanation_write(const Explanation *x, FILE *out)
{
    const EmbeddedFile *page = embedded_find("explain/page.html");
    StrBuf text = {0};
    for (const char *at = page ? page->text : ""; *at;) {
        size_t n = strcspn(at, "@");
        strbuf_addn(&text, at, n);
        at += n;
        if (*at == '@') { /* @HOLE@ */
            n = strcspn(at + 1, "@");
            put_hole(&text, x, at + 1, n);
            at += n + 2;
        }
    }
    fwrite(text.text, 1, text.n, out);
    strbuf_free(&text);
}
