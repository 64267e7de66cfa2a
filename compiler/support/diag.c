/* Diagnostics: collected while the compiler works, printed once, in the order of the source. */
#include "support/session.h"
#include "support/strbuf.h"
#include "support/utf8.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PRINTED_ERRORS 20
#define MAX_KEPT 10000          /* what a hopeless input may fill memory with */
#define MAX_TEXT 4000           /* bytes of a message: it may quote names and types of any length */
#define MAX_COLUMNS 100         /* of a source line */
#define COLUMNS_BEFORE_CARET 40 /* where a line has to be cut */

/* An error or a warning, with its notes. */
typedef struct Diag {
    DiagMessage head;
    VEC(DiagMessage) notes;
    uint32_t order; /* makes sorting stable */
} Diag;

struct DiagList {
    VEC(Diag) diags;
    bool last_dropped; /* its notes are dropped too */
};

const DiagCodeInfo diag_codes[DIAG_CODE_COUNT] = {
#define DIAG_CODE(name, code, title) [DIAG_##name] = {code, title},
#include "support/diag_codes.def"
#undef DIAG_CODE
};

/* ---- collecting ---- */

static const char *format_text(Session *s, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n < 0)
        n = 0;
    size_t kept = n > MAX_TEXT ? MAX_TEXT : (size_t)n;
    char *text = arena_alloc(s->arena, kept + sizeof "...");
    vsnprintf(text, kept + 1, format, again);
    if (kept < (size_t)n)
        strcpy(text + kept, "...");
    va_end(again);
    return text;
}

static struct DiagList *diag_list(Session *s)
{
    if (!s->diags)
        s->diags = arena_new(s->arena, struct DiagList);
    return s->diags;
}

static void add(Session *s, DiagLevel level, Span at, DiagCode code, const char *format, va_list args)
{
    struct DiagList *list = diag_list(s);
    list->last_dropped = list->diags.n >= MAX_KEPT;
    if (list->last_dropped)
        return;
    Diag diag = {.head = {level, code, at, format_text(s, format, args)}, .order = list->diags.n};
    vec_push(s->arena, &list->diags, diag);
}

void diag_error(Session *s, Span at, DiagCode code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    s->error_count++;
    add(s, DIAG_ERROR, at, code, format, args);
    va_end(args);
}

void diag_warning(Session *s, Span at, DiagCode code, const char *format, ...)
{
    if (s->warnings == WARNINGS_HIDDEN || (at.file < s->files.n && s->files.at[at.file]->is_quiet)) {
        diag_list(s)->last_dropped = true;
        return;
    }
    va_list args;
    va_start(args, format);
    s->warning_count++;
    add(s, s->warnings == WARNINGS_AS_ERRORS ? DIAG_ERROR : DIAG_WARNING, at, code, format, args);
    va_end(args);
}

static void add_note(Session *s, Span at, const char *format, va_list args)
{
    struct DiagList *list = diag_list(s);
    if (list->diags.n == 0 || list->last_dropped)
        return;
    DiagMessage note = {DIAG_NOTE, DIAG_NONE, at, format_text(s, format, args)};
    Diag *owner = &list->diags.at[list->diags.n - 1];
    vec_push(s->arena, &owner->notes, note);
}

void diag_note(Session *s, Span at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(s, at, format, args);
    va_end(args);
}

void diag_note_text(Session *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(s, SPAN_NONE, format, args);
    va_end(args);
}

uint32_t diag_count(const Session *s) { return s->diags ? s->diags->diags.n : 0; }

DiagView diag_at(const Session *s, uint32_t index)
{
    const Diag *d = &s->diags->diags.at[index];
    return (DiagView){d->head, d->notes.at, d->notes.n};
}

/* ---- ordering ---- */

static int compare_numbers(uint32_t a, uint32_t b) { return a < b ? -1 : a > b; }

static int compare_places(Span a, Span b)
{
    int c = compare_numbers(a.file, b.file);
    if (!c)
        c = compare_numbers(a.start, b.start);
    return c;
}

static int compare_diags(const void *left, const void *right)
{
    const Diag *a = left, *b = right;
    int c = compare_places(a->head.at, b->head.at);
    return c ? c : compare_numbers(a->order, b->order);
}

static bool same_diag(const Diag *a, const Diag *b)
{
    return a->head.level == b->head.level && a->head.at.end == b->head.at.end &&
           strcmp(a->head.text, b->head.text) == 0;
}

/* Sorted, so that copies stand at the same place, but perhaps not side by side. */
static bool is_repeated(const Diag *diags, uint32_t i)
{
    for (uint32_t j = i; j-- > 0 && compare_places(diags[j].head.at, diags[i].head.at) == 0;)
        if (same_diag(&diags[j], &diags[i]))
            return true;
    return false;
}

/* ---- printing ---- */

typedef struct Style {
    const char *place, *caret, *off, *level[3];
} Style;

static const Style plain_style = {"", "", "", {"", "", ""}};
static const Style colour_style = {"\033[1m", "\033[1;32m", "\033[0m", {"\033[1;31m", "\033[1;35m", "\033[1;36m"}};

/* Adds one character of s[0..n), whatever its bytes; returns how many bytes it took and adds its width
 * on the screen to *columns. */
static size_t add_visible(StrBuf *out, const char *s, size_t n, size_t *columns)
{
    uint32_t code = 0;
    size_t length = utf8_decode(s, n, &code);
    if (length && (code == '\t' || utf8_is_printable(code))) {
        strbuf_addn(out, s, length);
        *columns += 1;
        return length;
    }
    strbuf_printf(out, "\\x%02x", (unsigned)(unsigned char)s[0]);
    *columns += 4;
    return 1;
}

static void add_textn(StrBuf *out, const char *text, size_t n)
{
    size_t columns = 0;
    for (size_t i = 0; i < n;)
        i += add_visible(out, text + i, n - i, &columns);
}

static void add_text(StrBuf *out, const char *text) { add_textn(out, text, strlen(text)); }

static bool is_continuation(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* The part of a line that is shown: [from, to), around [start, end). */
typedef struct Window {
    uint32_t from, to;
} Window;

static Window choose_window(const char *line, uint32_t n, uint32_t start)
{
    Window w = {0, n};
    if (n <= MAX_COLUMNS)
        return w;
    if (start > COLUMNS_BEFORE_CARET)
        w.from = start - COLUMNS_BEFORE_CARET;
    if (n - w.from < MAX_COLUMNS)
        w.from = n - MAX_COLUMNS;
    if (w.from < 8)
        w.from = 0; /* not worth the dots */
    w.to = n - w.from > MAX_COLUMNS ? w.from + MAX_COLUMNS : n;
    for (int i = 0; i < 3 && w.from > 0 && is_continuation(line[w.from]); i++)
        w.from--;
    for (int i = 0; i < 3 && w.to < n && is_continuation(line[w.to]); i++)
        w.to++;
    return w;
}

static void add_repeated(StrBuf *out, char c, size_t n)
{
    while (n-- > 0)
        strbuf_addn(out, &c, 1);
}

/* The line of source and the carets below it. Tabs before the caret are repeated, so that it lines up. */
static void add_excerpt(StrBuf *out, Session *s, Span at, const Style *style)
{
    LineCol place = source_linecol(s, at.file, at.start);
    uint32_t n;
    const char *line = source_line(s, at.file, place.line, &n);
    uint32_t start = place.col - 1 < n ? place.col - 1 : n;
    uint32_t width = at.end > at.start ? at.end - at.start : 0;
    uint32_t end = n - start < width ? n : start + width;
    Window w = choose_window(line, n, start);
    StrBuf marks = {0};
    size_t caret_width = 0;
    strbuf_add(out, "  ");
    strbuf_add(&marks, "  ");
    if (w.from > 0) {
        strbuf_add(out, "...");
        strbuf_add(&marks, "   ");
    }
    for (uint32_t i = w.from; i < w.to;) {
        size_t columns = 0;
        uint32_t here = i;
        i += (uint32_t)add_visible(out, line + i, w.to - i, &columns);
        if (here < start)
            add_repeated(&marks, line[here] == '\t' ? '\t' : ' ', columns);
        else if (here < end)
            caret_width += columns;
    }
    if (w.to < n)
        strbuf_add(out, "...");
    strbuf_printf(out, "\n%s%s", marks.text, style->caret);
    add_repeated(out, '^', caret_width ? caret_width : 1);
    strbuf_printf(out, "%s\n", style->off);
    strbuf_free(&marks);
}

static const char *keep(Arena *a, StrBuf *text, size_t n)
{
    const char *kept = arena_strndup(a, text->text ? text->text : "", n);
    strbuf_free(text);
    return kept;
}

const char *diag_quote(Arena *a, Session *s, Span at)
{
    StrBuf out = {0};
    add_excerpt(&out, s, at, &plain_style);
    return keep(a, &out, out.n - 1);
}

const char *diag_visible(Arena *a, const char *text)
{
    StrBuf out = {0};
    add_text(&out, text);
    return keep(a, &out, out.n);
}

static const char *const level_text[] = {"error", "warning", "note"};

/* A note without a place, below the excerpt of what it belongs to. */
static void add_note_lines(StrBuf *out, const DiagMessage *m, const Style *style)
{
    strbuf_printf(out, "  %s%s:%s ", style->level[m->level], level_text[m->level], style->off);
    for (const char *line = m->text;;) {
        size_t n = strcspn(line, "\n");
        add_textn(out, line, n);
        strbuf_add(out, "\n");
        if (!line[n])
            return;
        line += n + 1;
        strbuf_add(out, "    ");
    }
}

static void add_message(StrBuf *out, Session *s, const DiagMessage *m, const Style *style)
{
    bool has_place = m->at.file < s->files.n;
    if (!has_place && m->level == DIAG_NOTE) {
        add_note_lines(out, m, style);
        return;
    }
    strbuf_add(out, style->place);
    if (has_place) {
        LineCol place = source_linecol(s, m->at.file, m->at.start);
        add_text(out, s->files.at[m->at.file]->path);
        strbuf_printf(out, ":%u:%u: ", place.line, place.col);
    } else {
        strbuf_add(out, "dpc: ");
    }
    strbuf_printf(out, "%s%s%s:%s ", style->off, style->level[m->level], level_text[m->level], style->off);
    add_text(out, m->text);
    if (m->code != DIAG_NONE)
        strbuf_printf(out, " %s[%s]%s", style->place, diag_codes[m->code].code, style->off);
    strbuf_add(out, "\n");
    if (has_place)
        add_excerpt(out, s, m->at, style);
}

static void add_diag(StrBuf *out, Session *s, const Diag *diag, const Style *style)
{
    add_message(out, s, &diag->head, style);
    for (uint32_t i = 0; i < diag->notes.n; i++)
        add_message(out, s, &diag->notes.at[i], style);
}

/* ---- JSON ---- */

void diag_json_string(StrBuf *out, const char *text)
{
    strbuf_add(out, "\"");
    for (size_t n = strlen(text), i = 0; i < n;) {
        uint32_t code = 0;
        size_t length = utf8_decode(text + i, n - i, &code);
        if (length == 0)
            strbuf_printf(out, "\\\\x%02x", (unsigned)(unsigned char)text[i]);
        else if (code == '\n')
            strbuf_add(out, "\\n");
        else if (code == '"' || code == '\\')
            strbuf_printf(out, "\\%c", (char)code);
        else if (code < 0x20 || code == 0x7f)
            strbuf_printf(out, "\\u%04x", (unsigned)code);
        else
            strbuf_addn(out, text + i, length);
        i += length ? length : 1;
    }
    strbuf_add(out, "\"");
}

static void add_json_place(StrBuf *out, Session *s, Span at)
{
    if (at.file >= s->files.n) {
        strbuf_add(out, ",\"file\":null,\"line\":null,\"column\":null,\"end_line\":null,\"end_column\":null");
        return;
    }
    LineCol from = source_linecol(s, at.file, at.start);
    LineCol to = source_linecol(s, at.file, at.end > at.start ? at.end : at.start);
    strbuf_add(out, ",\"file\":");
    diag_json_string(out, s->files.at[at.file]->path);
    strbuf_printf(out, ",\"line\":%u,\"column\":%u,\"end_line\":%u,\"end_column\":%u", from.line, from.col, to.line,
                  to.col);
}

/* The object is left open. */
static void add_json_message(StrBuf *out, Session *s, const DiagMessage *m)
{
    strbuf_printf(out, "{\"level\":\"%s\",\"code\":", level_text[m->level]);
    if (m->code == DIAG_NONE)
        strbuf_add(out, "null");
    else
        diag_json_string(out, diag_codes[m->code].code);
    strbuf_add(out, ",\"message\":");
    diag_json_string(out, m->text);
    add_json_place(out, s, m->at);
}

static void add_json_diag(StrBuf *out, Session *s, const Diag *diag)
{
    add_json_message(out, s, &diag->head);
    strbuf_add(out, ",\"notes\":[");
    for (uint32_t i = 0; i < diag->notes.n; i++) {
        strbuf_add(out, i ? "," : "");
        add_json_message(out, s, &diag->notes.at[i]);
        strbuf_add(out, ",\"notes\":[]}");
    }
    strbuf_add(out, "]}\n");
}

/* ---- all of them ---- */

static void print_diag(Session *s, FILE *file, const Diag *diag, const Style *style)
{
    StrBuf out = {0};
    if (s->diag_json)
        add_json_diag(&out, s, diag);
    else
        add_diag(&out, s, diag, style);
    fputs(out.text, file);
    strbuf_free(&out);
}

void diag_print(Session *s, FILE *out, bool colour)
{
    struct DiagList *list = diag_list(s);
    const Style *style = colour ? &colour_style : &plain_style;
    uint32_t errors = 0, hidden = 0;
    if (list->diags.n)
        qsort(list->diags.at, list->diags.n, sizeof(Diag), compare_diags);
    for (uint32_t i = 0; i < list->diags.n; i++) {
        const Diag *diag = &list->diags.at[i];
        bool is_error = diag->head.level == DIAG_ERROR;
        if (is_repeated(list->diags.at, i))
            continue;
        if (is_error && errors == MAX_PRINTED_ERRORS && !s->diag_json)
            hidden++;
        else
            print_diag(s, out, diag, style);
        errors += is_error && errors < MAX_PRINTED_ERRORS;
    }
    if (hidden)
        fprintf(out, "and %u more error%s\n", hidden, hidden == 1 ? "" : "s");
    *list = (struct DiagList){0};
}
