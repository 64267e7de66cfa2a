#include "lsp/features.h"

#include "cost/symbolic_report.h"
#include "fmt/fmt.h"
#include "lsp/library_files.h"
#include "syntax/ast_walk.h"

#include <stdlib.h>
#include <string.h>

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

/* False: the definition is no function of the program, because no entry uses it or it is small. */
static bool add_cost_of(StrBuf *out, const Analysis *a, const Def *def)
{
    for (uint32_t i = 0; i < a->core->fns.n; i++) {
        const Span at = a->core->fns.at[i]->span;
        if (at.file != def->span.file || at.start < def->span.start || at.end > def->span.end ||
            strcmp(a->core->fns.at[i]->name, def->name) != 0)
            continue;
        strbuf_add(out, "\n\n```text\n");
        symbolic_print_one(out, a->core, symbolic_costs(a->core, a->s->arena), i, a->s->arena);
        strbuf_add(out, "```");
        return true;
    }
    return false;
}

/* It is compiled alone if the document has not got it: if its types say enough, and nothing is wrong with it. */
static void add_cost(StrBuf *out, const Request *r, const Def *def)
{
    const SourceFile *file = r->a->s->files.at[def->span.file];
    if (def->kind != DEF_VALUE || !r->a->core || add_cost_of(out, r->a, def))
        return;
    char *library = file->is_stdlib ? library_file_path(file->path) : NULL;
    Analysis *alone = analysis_make_with_entry(library ? library : file->path, &r->documents->overlay, def->name);
    for (uint32_t i = 0; alone->core && i < alone->own->ndefs; i++)
        if (alone->own->defs[i]->span.start == def->span.start && add_cost_of(out, alone, alone->own->defs[i]))
            break;
    analysis_free(alone);
    free(library);
}

static void add_hover_text(StrBuf *out, const Request *r, const Occurrence *o)
{
    strbuf_add(out, "```dp\n");
    add_signature(out, r->a, o);
    strbuf_add(out, "\n```");
    if (o->def && o->def->doc)
        strbuf_printf(out, "\n\n%s", o->def->doc);
    if (o->def)
        add_cost(out, r, o->def);
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
        add_hover_text(&text, r, o);
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

/* ---- formatting ---- */

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static size_t blanks(const char *text, size_t at)
{
    size_t n = 0;
    while (is_blank(text[at + n]))
        n++;
    return n;
}

/* An edit for each run of blanks that is another one in the new text: nothing else differs. Those of a range only,
 * where the request has one. */
static void add_blank_edits(Request *r, Session *s, uint32_t file, const char *new)
{
    const char *old = s->files.at[file]->text, *separator = "";
    const Json *range = json_get(r->params, "range");
    const size_t from = range ? offset_of_position(s, file, json_get(range, "start")) : 0;
    const size_t to = range ? offset_of_position(s, file, json_get(range, "end")) : s->files.at[file]->length;
    for (size_t i = 0, k = 0; old[i] || new[k];) {
        const size_t n = blanks(old, i), m = blanks(new, k);
        if ((n != m || memcmp(old + i, new + k, n) != 0) && i >= from && i + n <= to) {
            strbuf_printf(r->out, "%s{\"range\":", separator);
            add_range(r->out, s, span_make(file, (uint32_t)i, (uint32_t)(i + n)));
            strbuf_add(r->out, ",\"newText\":");
            diag_json_string(r->out, arena_strndup(s->arena, new + k, m));
            strbuf_add(r->out, "}");
            separator = ",";
        }
        i += n, k += m;
        if (!old[i] || old[i] != new[k])
            return;
        i++, k++;
    }
}

void lsp_format(Request *r)
{
    StrBuf text = {0};
    Session *s = session_create();
    const uint32_t file = source_add_text(s, r->document->path, r->document->text, r->document->n, false);
    if (fmt_file(s, file, &text) == FMT_OK) {
        strbuf_add(r->out, "[");
        add_blank_edits(r, s, file, text.n ? text.text : "");
        strbuf_add(r->out, "]");
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
