/* A growing text buffer, used by all printers and emitters. Heap memory: strbuf_free at the end. */
#ifndef DPC_STRBUF_H
#define DPC_STRBUF_H

#include <stddef.h>

typedef struct StrBuf {
    char *text; /* always NUL-terminated once something was added; NULL when empty */
    size_t n, cap;
    struct TextMarks *marks; /* of which places the text is (support/marks.h), or NULL */
} StrBuf;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void strbuf_printf(StrBuf *b, const char *format, ...);
void strbuf_add(StrBuf *b, const char *text);
void strbuf_addn(StrBuf *b, const char *text, size_t n);
void strbuf_indent(StrBuf *b, int depth);                    /* 2*depth spaces */
void strbuf_add_html(StrBuf *b, const char *text, size_t n); /* text of a page, or of an attribute in double quotes */
void strbuf_free(StrBuf *b);

#endif
