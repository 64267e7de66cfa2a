#include "support/strbuf.h"

#include "support/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `more` bytes and a NUL. */
static void reserve(StrBuf *b, size_t more)
{
    if (more < b->cap - b->n)
        return;
    if (more > SIZE_MAX / 4 - b->n)
        memory_out();
    size_t cap = b->cap ? b->cap : 64;
    while (cap - b->n <= more)
        cap *= 2;
    b->text = memory_resize(b->text, cap, 1);
    b->cap = cap;
}

void strbuf_addn(StrBuf *b, const char *text, size_t n)
{
    reserve(b, n);
    if (n)
        memcpy(b->text + b->n, text, n);
    b->n += n;
    b->text[b->n] = '\0';
}

void strbuf_add(StrBuf *b, const char *text) { strbuf_addn(b, text, strlen(text)); }

void strbuf_printf(StrBuf *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n > 0) {
        reserve(b, (size_t)n);
        vsnprintf(b->text + b->n, (size_t)n + 1, format, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

/* Blanks in front of very deep code would outweigh the code. */
#define MOST_INDENTED 200

void strbuf_indent(StrBuf *b, int depth)
{
    static const char spaces[] = "                                ";
    size_t n = 0;
    if (depth > 0)
        n = 2 * (size_t)(depth < MOST_INDENTED ? depth : MOST_INDENTED);
    while (n) {
        size_t part = n < sizeof spaces - 1 ? n : sizeof spaces - 1;
        strbuf_addn(b, spaces, part);
        n -= part;
    }
}

void strbuf_add_html(StrBuf *b, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '<')
            strbuf_add(b, "&lt;");
        else if (text[i] == '&')
            strbuf_add(b, "&amp;");
        else if (text[i] == '"')
            strbuf_add(b, "&quot;");
        else
            strbuf_addn(b, text + i, 1);
    }
}

void strbuf_free(StrBuf *b)
{
    free(b->text);
    *b = (StrBuf){0};
}
