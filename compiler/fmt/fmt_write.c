/* From the layout's decisions to columns, further line breaks and text. */
#include "fmt/fmt_internal.h"

/* ---- columns ---- */

static int column_of(const Formatter *f, Place p)
{
    return (p.token == NOWHERE ? 0 : (int)f->tokens[p.token].at) + p.delta;
}

static int author_column(const Formatter *f, Place p)
{
    return (p.token == NOWHERE ? 0 : (int)f->tokens[p.token].column) + p.delta;
}

static uint32_t line_start(const Formatter *f, const FmtToken *t)
{
    Place chosen = t->places[0];
    for (uint32_t i = t->nplaces; !t->added && i-- > 0;)
        if (author_column(f, t->places[i]) == (int)t->column)
            chosen = t->places[i];
    int column = column_of(f, chosen);
    return column > 0 ? (uint32_t)column : 0;
}

static void find_columns(Formatter *f)
{
    uint32_t line = 0, column = 0;
    for (uint32_t i = 0; i <= f->n; i++) {
        FmtToken *t = &f->tokens[i];
        line += t->newline;
        column = t->newline ? line_start(f, t) : column + t->gap + t->pad;
        t->line = line;
        t->at = column;
        column += t->width;
    }
}

/* ---- alignment ---- */

static bool is_on_line_of_head(const Formatter *f, const FmtToken *t)
{
    return t->align_head && f->tokens[t->align_head - 1].line == t->line;
}

static uint32_t head_column(const Formatter *f, const FmtToken *t) { return f->tokens[t->align_head - 1].at; }

/* The tokens from the first one on whose heads stand below each other in the result, too; the index + 1 of the one
 * behind. */
static uint32_t align_run(Formatter *f, uint32_t first)
{
    uint32_t most = 0, end = first + 1, column = head_column(f, &f->tokens[first]);
    for (; end && head_column(f, &f->tokens[end - 1]) == column; end = f->tokens[end - 1].align_next) {
        const FmtToken *t = &f->tokens[end - 1];
        if (is_on_line_of_head(f, t) && t->at - column > most)
            most = t->at - column;
    }
    for (uint32_t i = first + 1; i != end; i = f->tokens[i - 1].align_next) {
        FmtToken *t = &f->tokens[i - 1];
        if (is_on_line_of_head(f, t))
            t->pad = most - (t->at - column);
    }
    return end;
}

static void align(Formatter *f)
{
    bool *is_below = arena_array(f->session->arena, bool, f->n + 1);
    for (uint32_t i = 0; i <= f->n; i++) {
        f->tokens[i].pad = 0;
        if (f->tokens[i].align_next)
            is_below[f->tokens[i].align_next - 1] = true;
    }
    find_columns(f);
    for (uint32_t i = 0; i <= f->n; i++)
        if (f->tokens[i].align_next && !is_below[i])
            for (uint32_t next = i + 1; next;)
                next = align_run(f, next - 1);
    find_columns(f);
}

/* ---- long lines ---- */

static uint32_t end_of(const FmtToken *t) { return t->at + t->width; }

static bool gains(const Formatter *f, const FmtToken *t)
{
    return t->level != UINT32_MAX && !t->newline && column_of(f, t->places[0]) < (int)t->at;
}

static bool is_alike(const Formatter *f, const FmtToken *t, const FmtToken *best)
{
    return t->node == best->node && t->level == best->level && gains(f, t);
}

static void break_before(FmtToken *t) { t->newline = t->added = true; }

/* As many items on a line as it takes. */
static void fill(Formatter *f, uint32_t first, uint32_t end, const FmtToken *best)
{
    int shift = 0;
    for (uint32_t i = first; i < end; i++) {
        FmtToken *t = &f->tokens[i];
        if (!is_alike(f, t, best))
            continue;
        uint32_t next = i + 1;
        while (next < end && !is_alike(f, &f->tokens[next], best))
            next++;
        if ((int)end_of(&f->tokens[next - 1]) - shift <= FMT_WIDTH)
            continue;
        shift = (int)t->at - column_of(f, t->places[0]);
        break_before(t);
    }
}

static bool break_line(Formatter *f, uint32_t first, uint32_t end)
{
    const FmtToken *best = NULL;
    for (uint32_t i = first + 1; i < end; i++)
        if (gains(f, &f->tokens[i]) && (!best || f->tokens[i].level < best->level))
            best = &f->tokens[i];
    if (!best)
        return false;
    FmtToken chosen = *best; /* as it was before anything is broken */
    if (!chosen.break_all) {
        fill(f, first + 1, end, &chosen);
        return true;
    }
    for (uint32_t i = first + 1; i < end; i++)
        if (is_alike(f, &f->tokens[i], &chosen))
            break_before(&f->tokens[i]);
    return true;
}

static uint32_t end_of_line(const Formatter *f, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < f->n && !f->tokens[end].newline)
        end++;
    return end;
}

static bool break_long_lines(Formatter *f)
{
    bool broken = false;
    for (uint32_t i = 0; i < f->n;) {
        uint32_t end = end_of_line(f, i);
        if (end_of(&f->tokens[end - 1]) > FMT_WIDTH)
            broken |= break_line(f, i, end);
        i = end;
    }
    return broken;
}

/* ---- text ---- */

static void blanks(StrBuf *out, uint32_t n)
{
    for (; n > 0; n--)
        strbuf_addn(out, " ", 1);
}

/* The comment behind the last token of the line before, or NULL. */
static const FmtComment *trailing_comment(const Formatter *f, uint32_t token)
{
    const FmtToken *t = &f->tokens[token];
    if (!t->ncomments || !f->comments.at[t->first_comment].trailing)
        return NULL;
    return &f->comments.at[t->first_comment];
}

/* Whether the comments behind two lines, which end before the tokens `above` and `below`, stand below each other
 * in the source with nothing between the lines. */
static bool is_comment_aligned(const Formatter *f, uint32_t above, uint32_t below)
{
    const FmtComment *a = trailing_comment(f, above), *b = trailing_comment(f, below);
    return a && b && a->column == b->column && f->tokens[above].ncomments == 1 && !f->tokens[above].blank_before;
}

/* Where the comment behind the line before `token` stands: two blanks behind the longest line of its group. */
static uint32_t comment_column(const Formatter *f, uint32_t first, uint32_t token)
{
    uint32_t most = end_of(&f->tokens[token - 1]);
    for (uint32_t above = first; above > 0 && is_comment_aligned(f, above, token);) {
        uint32_t start = above - 1;
        if (end_of(&f->tokens[above - 1]) > most)
            most = end_of(&f->tokens[above - 1]);
        while (start > 0 && !f->tokens[start].newline)
            start--;
        token = above;
        above = start;
    }
    return most;
}

static uint32_t comment_place(const Formatter *f, uint32_t token)
{
    uint32_t first = token - 1, most;
    while (first > 0 && !f->tokens[first].newline)
        first--;
    most = comment_column(f, first, token);
    for (uint32_t below = token; below < f->n;) { /* the lines that follow belong to the group, too */
        uint32_t end = end_of_line(f, below);
        if (!is_comment_aligned(f, below, end))
            break;
        if (end_of(&f->tokens[end - 1]) > most)
            most = end_of(&f->tokens[end - 1]);
        below = end;
    }
    return most + 2;
}

static void write_comments(const Formatter *f, StrBuf *out, uint32_t token, uint32_t column)
{
    const FmtToken *t = &f->tokens[token];
    for (uint32_t i = 0; i < t->ncomments; i++) {
        const FmtComment *c = &f->comments.at[t->first_comment + i];
        if (c->trailing) {
            blanks(out, comment_place(f, token) - end_of(t - 1));
        } else {
            if (out->n)
                strbuf_add(out, c->blank_before ? "\n\n" : "\n");
            blanks(out, column);
        }
        strbuf_addn(out, c->text, c->n);
    }
}

/* Comments in front of a closing bracket belong to the items. */
static uint32_t own_line_column(const FmtToken *t)
{
    bool closes = t->n == 1 && (*t->text == ')' || *t->text == ']' || *t->text == '}');
    return t->at + (closes ? 2 : 0);
}

void fmt_write(Formatter *f, StrBuf *out)
{
    do {
        fmt_layout(f);
        align(f);
    } while (break_long_lines(f));
    for (uint32_t i = 0; i <= f->n; i++) {
        const FmtToken *t = &f->tokens[i];
        write_comments(f, out, i, own_line_column(t));
        if (i == f->n)
            break;
        if (t->newline && out->n)
            strbuf_add(out, t->blank_before ? "\n\n" : "\n");
        blanks(out, t->newline ? t->at : t->at - end_of(t - 1));
        strbuf_addn(out, t->text, t->n);
    }
    if (out->n)
        strbuf_add(out, "\n");
}
