#include "lsp/document.h"

#include "support/memory.h"
#include "support/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *text, size_t n)
{
    char *made = memory_alloc(n + 1, 1);
    memcpy(made, text, n);
    return made;
}

/* ---- URIs ---- */

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

/* A path that is not absolute was a URI of another kind, or is beside one. */
void add_uri_of_path(StrBuf *out, const char *path)
{
    if (*path == '/')
        strbuf_add(out, "file://");
    for (; *path; path++) {
        const unsigned char c = (unsigned char)*path;
        if (isalnum(c) || strchr("/-._~:", c))
            strbuf_addn(out, path, 1);
        else
            strbuf_printf(out, "%%%02X", c);
    }
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
        if (strcmp(ds->at[i]->path, path) == 0)
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
    free(d->text);
    d->n = strlen(text);
    d->text = copy(text, d->n);
    for (uint32_t i = 0; i < ds->n; i++) /* others may import it */
        ds->at[i]->changed = true;
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

uint32_t offset_of_position(Session *s, uint32_t file, const Json *position)
{
    const SourceFile *f = s->files.at[file];
    const uint64_t line = json_number(position, "line", 0), character = json_number(position, "character", 0);
    uint32_t n = 0;
    const uint32_t last = source_linecol(s, file, f->length).line;
    if (line >= last)
        return f->length;
    const char *text = source_line(s, file, (uint32_t)line + 1, &n);
    uint32_t i = 0;
    for (uint64_t count = 0; i < n && count < character;) {
        uint32_t code = 0;
        const size_t length = utf8_decode(text + i, n - i, &code);
        count += length && code >= 0x10000 ? 2 : 1;
        i += length ? (uint32_t)length : 1;
    }
    return (uint32_t)(text - f->text) + i;
}
