#include "repl/repl_internal.h"

#include "support/memory.h"
#include "syntax/load.h"

#include <stdlib.h>
#include <string.h>

static SourcePart part_of(const ReplPart *p)
{
    return (SourcePart){
        .path = p->path, .text = p->text, .bytes = p->bytes, .lines_before = p->lines_before, .is_quiet = true};
}

Compilation *repl_compilation(const Repl *r, ReplKind kind, const char *path, const char *text, uint32_t lines_before)
{
    Compilation *c = compilation_create("input");
    SourcePart *parts = arena_array(c->session->arena, SourcePart, r->nparts + 2);
    uint32_t n = 0;
    parts[n++] = (SourcePart){.path = "input", .text = ""};
    for (uint32_t i = 0; i < r->nparts; i++)
        if (kind != REPL_FILE || !r->parts[i].is_file || strcmp(r->parts[i].path, path) != 0)
            parts[n++] = part_of(&r->parts[i]);
    if (kind != REPL_NOTHING)
        parts[n++] = (SourcePart){.path = path,
                                  .text = text,
                                  .bytes = strlen(text),
                                  .lines_before = lines_before,
                                  .is_expression = kind == REPL_EXPRESSION};
    c->parts = parts;
    c->nparts = n;
    return c;
}

ReplKind repl_kind(const char *text)
{
    static const char *const words[] = {"def", "entry", "type", "import"};
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (strncmp(text, "--", 2) != 0)
            break;
        text += strcspn(text, "\n");
    }
    const size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_'");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (n == strlen(words[i]) && memcmp(text, words[i], n) == 0)
            return REPL_DEFINITIONS;
    return *text ? REPL_EXPRESSION : REPL_NOTHING;
}

static bool is_definition(const char *text)
{
    Session *s = session_create();
    AstIds ids = {0, 0};
    parse_module(s, source_add_text(s, "input", text, strlen(text), false), &ids);
    const bool is = diag_count(s) == 0;
    session_destroy(s);
    return is;
}

/* `let f x = e` without an `in` becomes `def f x = e`: both words have three letters, so that places stay. */
static void let_to_def(char *text)
{
    char *word = text + strspn(text, " \t");
    if (strncmp(word, "let", 3) != 0 || !strchr(" \t", word[3]))
        return;
    memcpy(word, "def", 3);
    if (!is_definition(text))
        memcpy(word, "let", 3);
}

/* The end of the file, which an error may be at, is an empty place. */
bool repl_is_incomplete(char *text)
{
    let_to_def(text);
    Session *s = session_create();
    AstIds ids = {0, 0};
    const uint32_t file = source_add_text(s, "input", text, strlen(text), false);
    if (repl_kind(text) == REPL_DEFINITIONS)
        parse_module(s, file, &ids);
    else
        parse_expression(s, file, &ids);
    bool incomplete = false;
    for (uint32_t i = 0; i < diag_count(s); i++) {
        const Span at = diag_at(s, i).head.at;
        incomplete |= at.start == at.end;
    }
    session_destroy(s);
    return incomplete;
}

void repl_print_definitions(const Compilation *c, bool all)
{
    StrBuf out = {0};
    const Module *own = c->modules.list.at[1];
    const uint32_t last = own->file;
    for (uint32_t i = 0; i < own->ndefs; i++) {
        const Def *def = own->defs[i];
        if (!all && def->span.file != last)
            continue;
        if (def->kind == DEF_VALUE) {
            strbuf_printf(&out, "%s : ", def->name);
            scheme_print(&out, &c->checked->defs[def->index].scheme);
            strbuf_add(&out, "\n");
        } else if (all && def->kind == DEF_IMPORT) {
            strbuf_printf(&out, "import \"%s\"%s%s\n", def->path, def->name ? " as " : "", def->name ? def->name : "");
        } else if (all) {
            strbuf_printf(&out, "type %s\n", def->name);
        }
    }
    if (out.n)
        fputs(out.text, stdout);
    strbuf_free(&out);
}

static char *copy(const char *text)
{
    const size_t n = strlen(text) + 1;
    return memcpy(memory_alloc(n, 1), text, n);
}

bool repl_keep(Repl *r, ReplKind kind, const char *path, const char *text, uint32_t lines_before)
{
    Compilation *c = repl_compilation(r, kind, path, text, lines_before);
    const bool ok = compile_to(c, STAGE_TYPES);
    if (ok) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < r->nparts; i++) {
            ReplPart *p = &r->parts[i];
            if (kind == REPL_FILE && p->is_file && strcmp(p->path, path) == 0) {
                free(p->path);
                free(p->text);
            } else {
                r->parts[kept++] = *p;
            }
        }
        r->parts = memory_resize(r->parts, (size_t)kept + 1, sizeof *r->parts);
        r->parts[kept] = (ReplPart){copy(path), copy(text), strlen(text), lines_before, kind == REPL_FILE};
        r->nparts = kept + 1;
        repl_print_definitions(c, false);
    }
    compilation_destroy(c);
    return ok;
}

void repl_forget(Repl *r)
{
    for (uint32_t i = 0; i < r->nparts; i++) {
        free(r->parts[i].path);
        free(r->parts[i].text);
    }
    r->nparts = 0;
}

char *repl_read_file(const char *path)
{
    const char *why = "";
    Session *s = session_create();
    const uint32_t file = source_add_file(s, path, &why);
    char *text = NULL;
    if (file == UINT32_MAX)
        fprintf(stderr, "error: cannot read %s: %s\n", path, why);
    else
        text = copy(s->files.at[file]->text);
    session_destroy(s);
    return text;
}
