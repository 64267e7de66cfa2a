/* A program's tests, in its comments:
 *
 *     -- test main
 *     -- input  [1, 2]
 *     --        [3, 4]            -- continued; what stands behind a second `--` is a comment
 *     -- output [4, 6]
 *     -- input  [1] [2, 3]
 *     -- error  "unequal lengths"
 *
 * A case belongs to the entry of the last `-- test`, or to main. Under a `-- test` line everything must make sense, up to the
 * first line that is no comment or an empty one; elsewhere `-- input` counts only where an `-- output` or `-- error` follows
 * it, as prose may begin with that word. */
#include "values.h"

#include <stdlib.h>
#include <string.h>

typedef enum Keyword { KEY_NONE, KEY_TEST, KEY_INPUT, KEY_OUTPUT, KEY_ERROR } Keyword;

typedef struct Text { char *at; size_t n; } Text; /* at: NULL or malloc'd, NUL-terminated */

typedef struct Finder {
    const char *at; /* of the next line */
    uint32_t line;  /* of the current one */
    DpTestCase *cases;
    int n;
    Text entry;
    Text input, *open; /* open: what a continuation line belongs to */
    Text result;
    Keyword result_kind; /* KEY_OUTPUT, KEY_ERROR, or KEY_NONE while there is none */
    bool has_input, in_block;
    uint32_t case_line;
    DpError error;
} Finder;

/* ---- lines ---- */

typedef struct Line { const char *text; size_t n; } Line;

static bool next_line(Finder *f, Line *line)
{
    if (!*f->at)
        return false;
    const char *end = strchr(f->at, '\n');
    line->text = f->at;
    line->n = end ? (size_t)(end - f->at) : strlen(f->at);
    f->at += line->n + (end != NULL);
    f->line++;
    return true;
}

static Line skip_blanks(Line line)
{
    while (line.n && (*line.text == ' ' || *line.text == '\t' || *line.text == '\r')) {
        line.text++;
        line.n--;
    }
    return line;
}

/* The text of a comment line, without its dashes; documentation comments and empty ones are none. */
static bool take_comment(Line line, Line *text)
{
    line = skip_blanks(line);
    if (line.n < 2 || memcmp(line.text, "--", 2) != 0)
        return false;
    *text = skip_blanks((Line){line.text + 2, line.n - 2});
    return line.text[2] != '|' && text->n > 0;
}

static Keyword take_keyword(Line *line)
{
    static const char *const words[] = {"", "test", "input", "output", "error"};
    for (Keyword k = KEY_TEST; k <= KEY_ERROR; k++) {
        size_t n = strlen(words[k]);
        bool here = line->n >= n && memcmp(line->text, words[k], n) == 0;
        if (here && (line->n == n || strchr(" \t\r[({\"'#", line->text[n]))) {
            *line = skip_blanks((Line){line->text + n, line->n - n});
            return k;
        }
    }
    return KEY_NONE;
}

/* ---- texts ---- */

static bool fail(Finder *f, uint32_t line, const char *what) { return dp_error(f->error, "line %u: %s", (unsigned)line, what); }

static bool append(Finder *f, Text *t, Line line)
{
    char *grown = realloc(t->at, t->n + line.n + 2);
    if (!grown)
        return fail(f, f->line, "out of memory");
    if (t->n)
        grown[t->n++] = '\n'; /* ends the comment of the line before */
    memcpy(grown + t->n, line.text, line.n);
    t->n += line.n;
    grown[t->n] = '\0';
    t->at = grown;
    return true;
}

static void clear(Text *t)
{
    free(t->at);
    *t = (Text){0};
}

/* The bytes of the string literal in `text`, with nothing but comments around it. */
static char *read_message(const char *text)
{
    DpType *t = dp_type_parse("[u8]");
    DpLeaf leaf = {0};
    char why[64], *result = NULL;
    DpReader r = {"", text, strlen(text), 0, 1};
    if (t && dp_read_text(&r, t, &leaf, why, sizeof why)) {
        bool plain = dp_reader_done(&r) && (leaf.ndata == 0 || !memchr(leaf.data, 0, (size_t)leaf.ndata));
        result = plain ? malloc((size_t)leaf.ndata + 1) : NULL;
        if (result) {
            if (leaf.ndata)
                memcpy(result, leaf.data, (size_t)leaf.ndata);
            result[leaf.ndata] = '\0';
        }
        dp_leaves_free(&leaf, 1);
    }
    dp_type_free(t);
    return result;
}

/* ---- cases ---- */

static char *take_text(Text *t)
{
    char *text = t->at ? t->at : calloc(1, 1);
    *t = (Text){0};
    return text;
}

static char *copy(const char *text)
{
    size_t n = strlen(text) + 1;
    char *result = malloc(n);
    return result ? memcpy(result, text, n) : NULL;
}

static bool add_case(Finder *f)
{
    DpTestCase *grown = realloc(f->cases, ((size_t)f->n + 1) * sizeof *grown);
    if (!grown)
        return fail(f, f->line, "out of memory");
    f->cases = grown;
    DpTestCase *c = &f->cases[f->n++];
    *c = (DpTestCase){.entry = copy(f->entry.at ? f->entry.at : "main"), .input = take_text(&f->input), .line = f->case_line};
    if (f->result_kind == KEY_ERROR)
        c->error = read_message(f->result.at ? f->result.at : "");
    else
        c->output = take_text(&f->result);
    if (f->result_kind == KEY_ERROR && !c->error)
        return fail(f, f->case_line, "`-- error` takes a string, a part of the expected message");
    if (!c->entry || !c->input || (!c->output && !c->error))
        return fail(f, f->line, "out of memory");
    return true;
}

/* Ends the case at hand, if there is one. */
static bool finish_case(Finder *f)
{
    bool ok = true;
    if (f->result_kind)
        ok = add_case(f);
    else if (f->has_input && f->in_block)
        ok = fail(f, f->case_line, "this `-- input` has neither `-- output` nor `-- error`");
    clear(&f->input);
    clear(&f->result);
    f->open = NULL;
    f->has_input = false;
    f->result_kind = KEY_NONE;
    return ok;
}

/* `-- test NAME`, and nothing else but a comment: other lines that begin with the word are prose. */
static bool begin_block(Finder *f, Line rest)
{
    size_t n = 0;
    while (n < rest.n && !strchr(" \t\r", rest.text[n])) n++;
    Line behind = skip_blanks((Line){rest.text + n, rest.n - n});
    if (behind.n && (behind.n < 2 || memcmp(behind.text, "--", 2) != 0))
        return true;
    f->in_block = true;
    clear(&f->entry);
    return n == 0 || append(f, &f->entry, (Line){rest.text, n});
}

static bool begin_input(Finder *f, Line rest)
{
    f->has_input = true;
    f->case_line = f->line;
    f->open = &f->input;
    return append(f, f->open, rest);
}

static bool begin_result(Finder *f, Keyword kind, Line rest)
{
    if (!f->has_input) {
        if (!f->in_block)
            return true;
        f->case_line = f->line; /* an entry without parameters */
    }
    f->result_kind = kind;
    f->open = &f->result;
    return append(f, f->open, rest);
}

static bool use_comment(Finder *f, Line text)
{
    Keyword k = take_keyword(&text);
    if (k == KEY_NONE)
        return !f->open || append(f, f->open, text);
    bool continues_case = (k == KEY_OUTPUT || k == KEY_ERROR) && !f->result_kind;
    if (!continues_case && !finish_case(f))
        return false;
    if (k == KEY_TEST)
        return begin_block(f, text);
    return k == KEY_INPUT ? begin_input(f, text) : begin_result(f, k, text);
}

static bool find_all(Finder *f)
{
    Line line, text;
    while (next_line(f, &line)) {
        if (take_comment(line, &text)) {
            if (!use_comment(f, text))
                return false;
        } else {
            if (!finish_case(f))
                return false;
            f->in_block = false;
        }
    }
    return finish_case(f);
}

int dp_find_tests(const char *source, DpTestCase **cases, char *error, size_t error_bytes)
{
    Finder f = {.at = source, .error = {error, error_bytes}};
    bool ok = find_all(&f);
    clear(&f.entry);
    clear(&f.input);
    clear(&f.result);
    if (!ok) {
        dp_tests_free(f.cases, f.n);
        f.cases = NULL;
    }
    *cases = f.cases;
    return ok ? f.n : -1;
}

void dp_tests_free(DpTestCase *cases, int n)
{
    for (int i = 0; i < n; i++) {
        free(cases[i].entry);
        free(cases[i].input);
        free(cases[i].output);
        free(cases[i].error);
    }
    free(cases);
}
