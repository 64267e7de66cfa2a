/* From the text to tokens, comments and the author's line breaks. */
#include "fmt/fmt_internal.h"

#include "syntax/build.h"

#include "parser.h"

uint32_t fmt_width(const char *text, uint32_t n)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < n; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

/* Moves to `to`; `column` is counted on the way. */
typedef struct Cursor {
    const char *text;
    uint32_t at, column;
} Cursor;

static uint32_t column_at(Cursor *c, uint32_t to)
{
    for (; c->at < to; c->at++)
        if (c->text[c->at] == '\n')
            c->column = 0;
        else
            c->column += fmt_width(c->text + c->at, 1);
    return c->column;
}

static void add_comment(Formatter *f, Cursor *c, uint32_t at, uint32_t end, uint32_t newlines, bool is_behind_token)
{
    const char *text = c->text;
    uint32_t n = end - at;
    while (n > 0 && (text[at + n - 1] == ' ' || text[at + n - 1] == '\t' || text[at + n - 1] == '\r'))
        n--;
    bool trailing = newlines == 0 && is_behind_token;
    FmtComment comment = {text + at, n, column_at(c, at), trailing, newlines > 1};
    vec_push(f->session->arena, &f->comments, comment);
}

/* Between two tokens there is nothing but white space and comments. */
static void read_between(Formatter *f, FmtToken *t, Cursor *c, uint32_t from)
{
    const char *text = c->text;
    uint32_t newlines = 0;
    t->first_comment = f->comments.n;
    t->adjacent = from == t->start && from > 0;
    for (uint32_t i = from; i < t->start;) {
        if (text[i] == '-') {
            uint32_t end = i;
            while (end < t->start && text[end] != '\n')
                end++;
            add_comment(f, c, i, end, newlines, t > f->tokens && f->comments.n == t->first_comment);
            newlines = 0;
            t->newline = true;
            i = end;
        } else {
            newlines += text[i++] == '\n';
        }
    }
    t->ncomments = f->comments.n - t->first_comment;
    t->newline = t->newline || newlines > 0;
    t->column = column_at(c, t->start);
    t->blank_before = newlines > 1;
}

static void match_brackets(Formatter *f)
{
    VEC(uint32_t) open = {0};
    for (uint32_t i = 0; i < f->n; i++) {
        switch (f->tokens[i].kind) {
        case T_PAREN_OPEN:
        case T_INDEX_OPEN:
        case T_ARRAY_OPEN:
        case T_BRACE_OPEN: vec_push(f->session->arena, &open, i); break;
        case T_PAREN_CLOSE:
        case T_BRACKET_CLOSE:
        case T_BRACE_CLOSE:
            f->tokens[i].partner = open.at[--open.n];
            f->tokens[f->tokens[i].partner].partner = i;
            break;
        }
    }
}

void fmt_read(Formatter *f)
{
    const SourceFile *file = f->session->files.at[f->file];
    bool has_byte_order_mark = file->length >= 3 && fmt_width(file->text, 3) == 1 && file->text[0] == '\xef' &&
                               file->text[1] == '\xbb' && file->text[2] == '\xbf';
    TokenList list = {0};
    scan_tokens(f->session, f->file, &list);
    f->n = list.n - 1;
    f->tokens = arena_array(f->session->arena, FmtToken, list.n);
    Cursor cursor = {file->text, 0, 0};
    uint32_t from = has_byte_order_mark ? 3 : 0;
    for (uint32_t i = 0; i < list.n; i++) {
        FmtToken *t = &f->tokens[i];
        bool is_end = i == f->n;
        t->kind = list.at[i].kind;
        t->start = is_end ? file->length : list.at[i].span.start; /* the end's own place is behind the last token */
        t->end = is_end ? file->length : list.at[i].span.end;
        t->text = file->text + t->start;
        t->n = t->end - t->start;
        t->width = fmt_width(t->text, t->n);
        read_between(f, t, &cursor, from);
        from = t->end;
    }
    f->tokens[0].newline = f->tokens[f->n].newline = true;
    match_brackets(f);
}
