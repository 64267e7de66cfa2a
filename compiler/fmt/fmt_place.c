/* The words of fmt_layout.c: which tokens an expression has, and what may be decided for one. */
#include "fmt/fmt_internal.h"

#include "parser.h"

/* ---- tokens ---- */

Place fmt_at(uint32_t token, int delta) { return (Place){token, delta}; }

uint32_t fmt_token_at(const Formatter *f, uint32_t start)
{
    uint32_t low = 0, high = f->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (f->tokens[mid].start < start)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

uint32_t fmt_token_before(const Formatter *f, uint32_t end) { return fmt_token_at(f, end) - 1; }

uint32_t fmt_find_token(const Formatter *f, uint32_t from, int kind)
{
    while (from < f->n && f->tokens[from].kind != kind)
        from++;
    return from;
}

uint32_t fmt_last_token(const Formatter *f, const Expr *e, uint32_t first)
{
    bool in_parentheses = f->tokens[first].start < e->span.start;
    return in_parentheses ? f->tokens[first].partner : fmt_token_before(f, e->span.end);
}

bool fmt_has_parentheses(const Formatter *f, const Expr *e, uint32_t first)
{
    return f->tokens[first].start < e->span.start;
}

bool fmt_is_opening(int kind)
{
    return kind == T_PAREN_OPEN || kind == T_ARRAY_OPEN || kind == T_INDEX_OPEN || kind == T_BRACE_OPEN;
}

bool fmt_is_closing(int kind) { return kind == T_PAREN_CLOSE || kind == T_BRACKET_CLOSE || kind == T_BRACE_CLOSE; }

/* ---- decisions ---- */

void fmt_place(Formatter *f, uint32_t token, Place first)
{
    f->tokens[token].places[0] = first;
    f->tokens[token].nplaces = 1;
}

void fmt_or_place(Formatter *f, uint32_t token, Place other)
{
    FmtToken *t = &f->tokens[token];
    if (t->nplaces < MOST_PLACES)
        t->places[t->nplaces++] = other;
}

void fmt_may_break(Formatter *f, uint32_t token, uint32_t node, uint32_t rank, bool all)
{
    FmtToken *t = &f->tokens[token];
    t->level = f->depth * RANKS + rank;
    t->node = node * RANKS + rank;
    t->break_all = all;
}

uint32_t fmt_new_node(Formatter *f) { return ++f->nodes; }

Place fmt_base(const Formatter *f, uint32_t first, Place base)
{
    return f->tokens[first].newline ? fmt_at(first, 0) : base;
}

Place fmt_indented(Place p, int by) { return fmt_at(p.token, p.delta + by); }

bool fmt_is_dense(const Formatter *f, uint32_t first, uint32_t last)
{
    for (uint32_t i = first + 1; i <= last; i++)
        if (f->tokens[i].gap > 0 || f->tokens[i].newline)
            return false;
    return true;
}

bool fmt_was_dense(const Formatter *f, uint32_t op)
{
    return f->tokens[op].adjacent && f->tokens[op + 1].adjacent && !f->tokens[op].newline;
}

void fmt_make_dense(Formatter *f, uint32_t op) { f->tokens[op].gap = f->tokens[op + 1].gap = 0; }

void fmt_align_pair(Formatter *f, uint32_t above, uint32_t above_head, uint32_t below, uint32_t below_head)
{
    FmtToken *a = &f->tokens[above], *b = &f->tokens[below];
    bool aligned = a->column == b->column && f->tokens[above_head].column == f->tokens[below_head].column;
    if (!aligned || !f->tokens[below_head].newline)
        return;
    for (uint32_t i = above_head + 1; i <= above; i++)
        if (f->tokens[i].newline)
            return;
    for (uint32_t i = below_head + 1; i <= below; i++)
        if (f->tokens[i].newline)
            return;
    a->align_head = above_head + 1;
    b->align_head = below_head + 1;
    a->align_next = below + 1;
}
