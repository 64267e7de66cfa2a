#include "lsp/document.h"

#include "lsp/library_files.h"
#include "support/memory.h"
#include "support/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *copy(const char *text, size_t n)
{
    char *made = memory_alloc(n + 1, 1);
    memcpy(made, text, n);
    return made;
}

/* ---- paths and URIs ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10 : -1;
}

char *path_of_uri(const char *uri)
{
    static const char scheme[] = "file://";
    if (strncmp(uri, scheme, sizeof scheme - 1) != 0)
        return copy(uri, strlen(uri));
    const char *from = uri + sizeof scheme - 1;
    from += strcspn(from, "/"); /* a host is this one */
    char *path = copy(from, strlen(from)), *to = path;
    for (; *from; from++) {
        const bool is_code =
            *from == '%' && hex(from[1]) >= 0 && hex(from[2]) >= 0 && (from[1] != '0' || from[2] != '0');
        *to++ = is_code ? (char)(hex(from[1]) * 16 + hex(from[2])) : *from;
        from += is_code ? 2 : 0;
    }
    *to = '\0';
    return path;
}

bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return strcmp(a, b) == 0 || (strcmp(base_name(a), base_name(b)) == 0 && stat(a, &of_a) == 0 &&
                                 stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);
}

/* Without `x/..`, as editors name their files. */
static char *plain_path(const char *path)
{
    char *made = copy(path, strlen(path));
    for (char *up; (up = strstr(made, "/../"));) {
        char *start = up;
        while (start > made && start[-1] != '/')
            start--;
        start -= start > made;
        memmove(start, up + 3, strlen(up + 3) + 1);
    }
    return made;
}

/* A path that is not absolute was a URI of another kind, or is beside one. */
void add_uri_of_path(StrBuf *out, const char *path)
{
    char *plain = plain_path(path);
    if (*plain == '/')
        strbuf_add(out, "file://");
    for (path = plain; *path; path++) {
        const unsigned char c = (unsigned char)*path;
        if (isalnum(c) || strchr("/-._~:", c))
            strbuf_addn(out, path, 1);
        else
            strbuf_printf(out, "%%%02X", c);
    }
    free(plain);
}

/* Behind so many UTF-16 units of the line line[0..n), a byte that is no UTF-8 counted as one. */
static uint32_t offset_in_line(const char *line, size_t n, uint64_t units)
{
    size_t i = 0;
    for (uint64_t count = 0; i < n && count < units;) {
        uint32_t code = 0;
        const size_t length = utf8_decode(line + i, n - i, &code);
        count += length && code >= 0x10000 ? 2 : 1;
        i += length ? length : 1;
    }
    return (uint32_t)i;
}

/* ---- documents ---- */

static const char *overlay_text(const SourceOverlay *overlay, const char *path, size_t *n)
{
    const Document *d = document_of_path((const Documents *)overlay, path);
    if (d)
        *n = d->n;
    return d ? d->text : NULL;
}

Document *document_find(const Documents *ds, const char *uri)
{
    for (uint32_t i = 0; i < ds->n; i++)
        if (strcmp(ds->at[i]->uri, uri) == 0)
            return ds->at[i];
    return NULL;
}

Document *document_of_path(const Documents *ds, const char *path)
{
    for (uint32_t i = 0; i < ds->n; i++)
        if (is_same_file(ds->at[i]->path, path))
            return ds->at[i];
    return NULL;
}

static void forget_analyses(Document *d)
{
    if (d->good != d->now)
        analysis_free(d->good);
    analysis_free(d->now);
    d->now = d->good = NULL;
}

static void document_free(Document *d)
{
    forget_analyses(d);
    free(d->uri);
    free(d->path);
    free(d->text);
    free(d);
}

/* Takes the heap's text. */
static void take_text(Documents *ds, Document *d, char *text, size_t n)
{
    free(d->text);
    d->n = n;
    d->text = text;
    for (uint32_t i = 0; i < ds->n; i++) /* others may import it */
        ds->at[i]->changed = true;
}

void document_put(Documents *ds, const char *uri, const char *text)
{
    Document *d = document_find(ds, uri);
    if (!d) {
        d = memory_alloc(1, sizeof *d);
        d->uri = copy(uri, strlen(uri));
        d->path = path_of_uri(uri);
        ds->at = memory_resize(ds->at, (size_t)ds->n + 1, sizeof(Document *));
        ds->at[ds->n++] = d;
        ds->overlay.text = overlay_text;
    }
    take_text(ds, d, copy(text, strlen(text)), strlen(text));
}

static size_t offset_in_text(const Document *d, const Json *position)
{
    const char *line = d->text;
    for (uint64_t skip = json_number(position, "line", 0); skip > 0; skip--) {
        const char *end = strchr(line, '\n');
        if (!end)
            return d->n;
        line = end + 1;
    }
    return (size_t)(line - d->text) + offset_in_line(line, strcspn(line, "\n"), json_number(position, "character", 0));
}

void document_change(Documents *ds, const char *uri, const Json *change)
{
    Document *d = document_find(ds, uri);
    const Json *text = json_get(change, "text"), *range = json_get(change, "range");
    if (!text || text->kind != JSON_TEXT)
        return;
    if (!d || !range || range->kind != JSON_OBJECT) {
        document_put(ds, uri, text->text);
        return;
    }
    const size_t from = offset_in_text(d, json_get(range, "start")), end = offset_in_text(d, json_get(range, "end"));
    const size_t to = end > from ? end : from, more = strlen(text->text);
    char *made = memory_alloc(d->n - (to - from) + more + 1, 1);
    memcpy(made, d->text, from);
    memcpy(made + from, text->text, more);
    memcpy(made + from + more, d->text + to, d->n - to);
    take_text(ds, d, made, d->n - (to - from) + more);
}

bool document_is_saved(const Document *d)
{
    FILE *in = fopen(d->path, "rb");
    char *text = memory_alloc(d->n + 2, 1);
    const size_t n = in ? fread(text, 1, d->n + 1, in) : 0;
    const bool same = in && n == d->n && memcmp(text, d->text, n) == 0;
    free(text);
    if (in)
        fclose(in);
    return same;
}

void document_drop(Documents *ds, const char *uri)
{
    for (uint32_t i = 0; i < ds->n; i++) {
        if (strcmp(ds->at[i]->uri, uri) != 0)
            continue;
        document_free(ds->at[i]);
        ds->at[i] = ds->at[--ds->n];
        return;
    }
}

void documents_free(Documents *ds)
{
    for (uint32_t i = 0; i < ds->n; i++)
        document_free(ds->at[i]);
    for (uint32_t i = 0; i < ds->nroots; i++)
        free(ds->roots[i]);
    free(ds->roots);
    free(ds->at);
}

const Analysis *document_analysis(Documents *ds, Document *d)
{
    if (d->now && !d->changed)
        return d->now;
    Analysis *made = analysis_make(d->path, &ds->overlay);
    if (d->now != d->good)
        analysis_free(d->now);
    if (made->is_parsed || !d->good) {
        analysis_free(d->good);
        d->good = made;
    }
    d->now = made;
    d->changed = false;
    return made;
}

/* ---- places ---- */

/* Of s[0..n): UTF-16 units; a byte that is no UTF-8 is one. */
static uint32_t units(const char *s, size_t n)
{
    uint32_t count = 0;
    for (size_t i = 0; i < n;) {
        uint32_t code = 0;
        const size_t length = utf8_decode(s + i, n - i, &code);
        count += length && code >= 0x10000 ? 2 : 1;
        i += length ? length : 1;
    }
    return count;
}

void add_position(StrBuf *out, Session *s, uint32_t file, uint32_t offset)
{
    const SourceFile *f = s->files.at[file];
    const LineCol at = source_linecol(s, file, offset);
    const uint32_t end = offset < f->length ? offset : f->length, start = end - (at.col - 1);
    strbuf_printf(out, "{\"line\":%u,\"character\":%u}", at.line - 1, units(f->text + start, end - start));
}

void add_range(StrBuf *out, Session *s, Span at)
{
    strbuf_add(out, "{\"start\":");
    add_position(out, s, at.file, at.start);
    strbuf_add(out, ",\"end\":");
    add_position(out, s, at.file, at.end > at.start ? at.end : at.start);
    strbuf_add(out, "}");
}

void add_text_member(StrBuf *out, const char *key, const char *text)
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

void add_location(StrBuf *out, const Analysis *a, Span at)
{
    strbuf_add(out, "{");
    const SourceFile *file = a->s->files.at[at.file];
    char *library = file->is_stdlib ? library_file_path(file->path) : NULL;
    add_uri_member(out, library ? library : file->path);
    free(library);
    strbuf_add(out, ",\"range\":");
    add_range(out, a->s, at);
    strbuf_add(out, "}");
}

uint32_t offset_of_position(Session *s, uint32_t file, const Json *position)
{
    const SourceFile *f = s->files.at[file];
    const uint64_t line = json_number(position, "line", 0), character = json_number(position, "character", 0);
    uint32_t n = 0;
    const uint32_t last = source_linecol(s, file, f->length).line;
    if (line >= last)
        return f->length;
    const char *text = source_line(s, file, (uint32_t)line + 1, &n);
    return (uint32_t)(text - f->text) + offset_in_line(text, n, character);
}
