#include "trace/trace.h"

#include "dp_value.h"
#include "values/values.h"

#include <inttypes.h>
#include <string.h>

void trace_start(Trace *t, Session *session, FILE *out)
{
    *t = (Trace){.session = session,
                 .out = out,
                 .most_items = TRACE_ITEMS,
                 .most_events = TRACE_EVENTS,
                 .most_bytes = TRACE_BYTES,
                 .arena = arena_create()};
}

void trace_free(Trace *t)
{
    strbuf_free(&t->text);
    strbuf_free(&t->body);
    if (t->arena)
        arena_destroy(t->arena);
    *t = (Trace){0};
}

/* ---- lines ---- */

static void begin_line(Trace *t, const char *event) { strbuf_printf(&t->text, "{\"event\":\"%s\"", event); }

void trace_end(Trace *t)
{
    strbuf_add(&t->text, "}\n");
    if (!t->out) {
        t->bytes = t->text.n;
        return;
    }
    t->bytes += t->text.n;
    fwrite(t->text.text, 1, t->text.n, t->out); /* who opened the file looks whether all has arrived */
    t->text.n = 0;
}

static void begin_event(Trace *t, const char *event)
{
    begin_line(t, event);
    trace_count(t, "n", t->events++);
    t->left = t->most_items * TRACE_SCALARS;
}

static void write_cut(Trace *t)
{
    const bool events = t->events >= t->most_events;
    t->cut = true;
    begin_event(t, "cut");
    trace_text(t, "at", events ? "events" : "bytes");
    trace_count(t, "limit", events ? t->most_events : t->most_bytes);
    trace_end(t);
}

bool trace_event(Trace *t, const char *event)
{
    if (!t || t->cut)
        return false;
    if (t->events >= t->most_events || t->bytes >= t->most_bytes) {
        write_cut(t);
        return false;
    }
    begin_event(t, event);
    return true;
}

bool trace_last_event(Trace *t, const char *event)
{
    if (t)
        begin_event(t, event);
    return t != NULL;
}

/* ---- members of a line ---- */

void trace_key(Trace *t, const char *key) { strbuf_printf(&t->text, ",\"%s\":", key); }

void trace_count(Trace *t, const char *key, uint64_t n)
{
    trace_key(t, key);
    strbuf_printf(&t->text, "%" PRIu64, n);
}

void trace_text(Trace *t, const char *key, const char *text)
{
    trace_key(t, key);
    if (text)
        diag_json_string(&t->text, text);
    else
        strbuf_add(&t->text, "null");
}

static void put_file(Trace *t, Span at)
{
    strbuf_add(&t->text, "{\"file\":");
    diag_json_string(&t->text, t->session->files.at[at.file]->path);
    LineCol from = source_linecol(t->session, at.file, at.start);
    strbuf_printf(&t->text, ",\"line\":%u,\"column\":%u", from.line, from.col);
}

void trace_place(Trace *t, const char *key, Span at)
{
    trace_key(t, key);
    if (at.end == 0 || at.file >= t->session->files.n) {
        strbuf_add(&t->text, "null");
        return;
    }
    put_file(t, at);
    LineCol to = source_linecol(t->session, at.file, at.end);
    strbuf_printf(&t->text, ",\"end_line\":%u,\"end_column\":%u", to.line, to.col);
    if (at.origin) {
        strbuf_add(&t->text, ",\"library\":");
        put_file(t, source_of_origin(t->session, at.origin));
        strbuf_add(&t->text, "}");
    }
    strbuf_add(&t->text, "}");
}

void trace_failure(Trace *t, const CoreProgram *p, const EvalError *error)
{
    StrBuf text = {0};
    const bool at_site = error->site != CORE_NO_SITE;
    if (at_site)
        core_error_text(&text, &p->sites.at[error->site], error->values);
    trace_text(t, "message", at_site ? text.text : error->text);
    trace_place(t, "place", at_site ? p->sites.at[error->site].span : error->span);
    strbuf_free(&text);
}

/* ---- bodies ---- */

/* Lines are written from one buffer: it and the body's change places meanwhile. */
static void swap_buffers(Trace *t)
{
    StrBuf text = t->text;
    t->text = t->body;
    t->body = text;
}

void trace_body_begin(Trace *t, uint64_t instance)
{
    swap_buffers(t);
    t->left = t->most_items;
    strbuf_printf(&t->text, "%s[%" PRIu64 ",", t->text.n ? "," : "", instance);
}

void trace_body_end(Trace *t)
{
    strbuf_add(&t->text, "]");
    swap_buffers(t);
}

void trace_body(Trace *t)
{
    if (t->body.n == 0)
        return;
    trace_key(t, "body");
    strbuf_printf(&t->text, "[%s]", t->body.text);
    t->body.n = 0;
}

/* ---- before the run ---- */

void trace_head(Trace *t, const char *program, const char *entry, const char *evaluator)
{
    begin_line(t, "trace");
    trace_count(t, "version", 1);
    trace_text(t, "program", program);
    trace_text(t, "entry", entry);
    trace_text(t, "evaluator", evaluator);
    trace_count(t, "most_items", t->most_items);
    trace_count(t, "most_events", t->most_events);
    trace_end(t);
}

uint32_t trace_number(const Trace *t, const void *statement)
{
    uintptr_t number = statement ? (uintptr_t)ptrmap_get(&t->numbers, statement) : 0;
    return number ? (uint32_t)(number - 1) : UINT32_MAX;
}

void trace_statement(Trace *t, const void *statement, const void *within, const char *kind, Span at)
{
    const uint32_t outer = trace_number(t, within);
    ptrmap_put(t->arena, &t->numbers, statement, (void *)(uintptr_t)(t->nstatements + 1));
    begin_line(t, "statement");
    trace_count(t, "id", t->nstatements++);
    trace_key(t, "within");
    strbuf_printf(&t->text, outer == UINT32_MAX ? "null" : "%" PRIu32, outer);
    trace_text(t, "kind", kind);
    trace_place(t, "place", at);
}

/* ---- values ---- */

/* Numbers that JavaScript would round are texts, as are those that JSON does not have. */
void trace_scalar(Trace *t, Scalar s, uint64_t bits)
{
    char text[DP_SCALAR_TEXT];
    uint64_t data = 0;
    dp_scalar_store((DpScalar)s, &data, 0, bits);
    const DpLeaf leaf = {.scalar = (DpScalar)s, .data = &data, .ndata = 1};
    size_t n = dp_print_scalar(text, &leaf, 0);
    const int64_t most = INT64_C(1) << 53, x = (int64_t)bits;
    bool exact = scalar_is_float(s) ? !memchr(text, 'n', n)
                 : s == SC_U64      ? bits <= (uint64_t)most
                                    : x <= most && x >= -most;
    strbuf_add(&t->text, exact ? "" : "\"");
    strbuf_addn(&t->text, text, n);
    strbuf_add(&t->text, exact ? "" : "\"");
}

void trace_list(Trace *t) { strbuf_add(&t->text, "["); }
void trace_list_end(Trace *t) { strbuf_add(&t->text, "]"); }

bool trace_item(Trace *t, uint64_t i, uint64_t n)
{
    if (i >= n)
        return false;
    strbuf_add(&t->text, i ? "," : "");
    if (i < t->most_items && t->left > 0) {
        t->left--;
        return true;
    }
    strbuf_printf(&t->text, "{\"more\":%" PRIu64 "}", n - i);
    return false;
}

void trace_numbers(Trace *t, const char *key, const uint64_t *numbers, uint64_t n)
{
    trace_key(t, key);
    trace_list(t);
    t->left = t->most_items;
    for (uint64_t i = 0; trace_item(t, i, n); i++)
        strbuf_printf(&t->text, "%" PRIu64, numbers[i]);
    trace_list_end(t);
}

void trace_type(Trace *t, CoreType type)
{
    trace_key(t, "type");
    strbuf_add(&t->text, "\"");
    for (int i = 0; i < type.rank; i++)
        strbuf_add(&t->text, "[");
    strbuf_add(&t->text, scalar_name(type.scalar));
    for (int i = 0; i < type.rank; i++)
        strbuf_add(&t->text, "]");
    strbuf_add(&t->text, "\"");
}
