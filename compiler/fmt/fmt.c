#include "fmt/fmt.h"

#include "fmt/fmt_internal.h"

#include <string.h>

static bool same_text(const char *a, uint32_t na, const char *b, uint32_t nb)
{
    return na == nb && memcmp(a, b, na) == 0;
}

/* The same tokens and comments, in the same order. */
static bool same_words(const Formatter *a, const Formatter *b)
{
    if (a->n != b->n || a->comments.n != b->comments.n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!same_text(a->tokens[i].text, a->tokens[i].n, b->tokens[i].text, b->tokens[i].n))
            return false;
    for (uint32_t i = 0; i < a->comments.n; i++)
        if (!same_text(a->comments.at[i].text, a->comments.at[i].n, b->comments.at[i].text, b->comments.at[i].n))
            return false;
    return true;
}

static bool same_tree(const Module *a, const Module *b)
{
    StrBuf before = {0}, after = {0};
    ast_print(&before, a);
    ast_print(&after, b);
    bool same = before.n == after.n && (before.n == 0 || memcmp(before.text, after.text, before.n) == 0);
    strbuf_free(&before);
    strbuf_free(&after);
    return same;
}

/* Reads the result back: a session of its own keeps what is wrong with it out of the user's diagnostics. */
static bool is_faithful(const Formatter *f, const StrBuf *text)
{
    AstIds ids = {0, 0};
    Formatter again = {.session = session_create()};
    again.file = source_add_text(again.session, "<formatted>", text->n ? text->text : "", text->n, false);
    again.module = parse_module(again.session, again.file, &ids);
    bool same = again.session->error_count == 0 && same_tree(f->module, again.module);
    if (same) {
        fmt_read(&again);
        same = same_words(f, &again);
    }
    session_destroy(again.session);
    return same;
}

FmtStatus fmt_file(Session *s, uint32_t file, StrBuf *out)
{
    AstIds ids = {0, 0};
    Formatter f = {.session = s, .file = file};
    f.module = parse_module(s, file, &ids);
    if (s->error_count)
        return FMT_WRONG;
    fmt_read(&f);
    StrBuf text = {0};
    fmt_write(&f, &text);
    bool ok = is_faithful(&f, &text);
    if (ok)
        strbuf_addn(out, text.text ? text.text : "", text.n);
    strbuf_free(&text);
    return ok ? FMT_OK : FMT_INTERNAL;
}
