#include "support/marks.h"

void marks_begin(StrBuf *b, Span span, const void *node)
{
    TextMarks *m = b->marks;
    if (!m)
        return;
    vec_push(m->arena, &m->open, m->all.n);
    vec_push(m->arena, &m->all, ((TextMark){b->n, b->n, span, node}));
}

void marks_end(StrBuf *b)
{
    TextMarks *m = b->marks;
    if (!m)
        return;
    m->all.at[m->open.at[--m->open.n]].to = b->n;
}
