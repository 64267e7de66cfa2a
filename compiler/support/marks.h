/* Which part of a printed text is about what: a printer brackets what it prints of a node, and whoever wants to know
 * puts a TextMarks behind the buffer's `marks`. Without one, nothing happens. */
#ifndef DPC_MARKS_H
#define DPC_MARKS_H

#include "support/session.h"

typedef struct TextMark {
    size_t from, to;  /* of the text */
    Span span;        /* where the node comes from */
    const void *node; /* the printer's: a statement, an instruction, a kernel; or NULL */
} TextMark;

typedef struct TextMarks {
    Arena *arena;
    VEC(TextMark) all;  /* in the order in which they begin; they lie one in the other or apart */
    VEC(uint32_t) open; /* those that have begun */
} TextMarks;

void marks_begin(StrBuf *b, Span span, const void *node);
void marks_end(StrBuf *b);

#endif
