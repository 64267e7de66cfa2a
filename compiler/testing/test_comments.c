#include "testing/test_comments.h"

#include "support/memory.h"
#include "types/suggest.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef enum Keyword {
    KEY_NONE,
    KEY_TEST,
    KEY_PROPERTY,
    KEY_BENCH,
    KEY_INPUT,
    KEY_OUTPUT,
    KEY_ERROR,
    KEY_EXPECT,
    KEY_HINT,
    KEY_COUNT
} Keyword;
static const char *const keywords[KEY_COUNT] = {"",       "test",  "property", "bench", "input",
                                                "output", "error", "expect",   "hint"};
const char *const test_fact_names[FACT_COUNT] = {"kernels", "launches", "readbacks", "stored"};

typedef struct Region {
    uint32_t start, end;
} Region; /* of the source */

typedef struct Finder {
    Session *s;
    Module *module;
    const char *text;
    TestFile *out;
    TestBlock *block; /* the last one, or NULL */
    bool in_block;
    /* the case at hand: */
    Span first;
    Region input, result, hint, *open; /* open: what a line without keyword continues */
    bool has_input;
    TestFact facts[SHAPES][FACT_COUNT];
    Keyword result_kind; /* KEY_OUTPUT, KEY_ERROR, or KEY_NONE while there is none */
} Finder;

static Span span_of(const Finder *f, Region r) { return span_make(f->module->file, r.start, r.end); }

/* ---- lines ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static Region skip_blanks(const Finder *f, Region r)
{
    while (r.start < r.end && is_blank(f->text[r.start]))
        r.start++;
    while (r.start < r.end && is_blank(f->text[r.end - 1]))
        r.end--;
    return r;
}

/* The text of a comment line, without its dashes; documentation comments and empty ones are none. */
static bool take_comment(const Finder *f, Region line, Region *text)
{
    line = skip_blanks(f, line);
    if (line.end - line.start < 2 || memcmp(f->text + line.start, "--", 2) != 0)
        return false;
    *text = skip_blanks(f, (Region){line.start + 2, line.end});
    return f->text[line.start + 2] != '|' && text->start < text->end;
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '\'';
}

/* The word that the text begins with, perhaps an empty one. */
static Region first_word(const Finder *f, Region text)
{
    uint32_t end = text.start;
    while (end < text.end && is_name_byte(f->text[end]))
        end++;
    return (Region){text.start, end};
}

static Name word_name(const Finder *f, Region word)
{
    return intern(f->s, f->text + word.start, word.end - word.start);
}

static Keyword take_keyword(const Finder *f, Region *text)
{
    Region word = first_word(f, *text);
    uint32_t n = word.end - word.start;
    bool apart = word.end == text->end || strchr(" \t\r[({\"'#@", f->text[word.end]);
    for (Keyword k = KEY_TEST; apart && k < KEY_COUNT; k++)
        if (strlen(keywords[k]) == n && memcmp(keywords[k], f->text + word.start, n) == 0) {
            *text = skip_blanks(f, (Region){word.end, text->end});
            return k;
        }
    return KEY_NONE;
}

/* ---- names ---- */

static Def *find_def(const Finder *f, Name name)
{
    for (uint32_t i = 0; i < f->module->ndefs; i++)
        if (f->module->defs[i]->kind == DEF_VALUE && f->module->defs[i]->name == name)
            return f->module->defs[i];
    return NULL;
}

static void suggest_def(const Finder *f, Span at, Name name, bool entries)
{
    Suggestion g = dp_guess_start(name);
    for (uint32_t i = 0; i < f->module->ndefs; i++) {
        const Def *def = f->module->defs[i];
        if (def->kind == DEF_VALUE && (def->is_entry || !entries))
            suggest_consider(&g, def->name);
    }
    suggest_note(f->s, at, &g);
}

/* Reports if the block's name is none that it can be about. */
static void check_name(const Finder *f, const TestBlock *b)
{
    Name name = b->name;
    if (!b->def) {
        diag_error(f->s, b->span, DIAG_TEST_NAME, "there is no %s `%s` in this file",
                   b->is_property ? "definition" : "entry", name);
        suggest_def(f, b->span, name, !b->is_property);
    } else if (!b->is_property && !b->def->is_entry) {
        diag_error(f->s, b->span, DIAG_TEST_NAME, "`%s` is no entry, so it has no tests", name);
        diag_note(f->s, b->def->name_span, "write `entry %s` to test it, or `-- property %s` if it is to be true", name,
                  name);
    }
}

/* ---- misspelt keywords ---- */

static bool is_plural(const char *word, const char *keyword)
{
    size_t n = strlen(keyword);
    return strncmp(word, keyword, n) == 0 && strcmp(word + n, "s") == 0;
}

/* The keyword from `from` on that the word was meant to be, or NULL. */
static const char *meant(const Finder *f, Name word, Keyword from)
{
    Suggestion g = dp_guess_start(word);
    for (Keyword k = from; k < KEY_COUNT; k++)
        suggest_consider(&g, intern_cstr(f->s, keywords[k]));
    return g.best && !is_plural(word, g.best) ? g.best : NULL;
}

static void report_misspelt(const Finder *f, Region word, const char *keyword)
{
    diag_error(f->s, span_of(f, word), DIAG_TEST_COMMENT, "`-- %s` means nothing in a test; did you mean `-- %s`?",
               word_name(f, word), keyword);
}

/* `-- ouput 3` in a test, or `-- tset main` in front of one. Does it end the text that is open? */
static bool check_spelling(const Finder *f, Region text)
{
    Region word = first_word(f, text);
    if (word.start == word.end)
        return false;
    const char *keyword = f->in_block || f->has_input ? meant(f, word_name(f, word), KEY_INPUT) : NULL;
    if (keyword) {
        report_misspelt(f, word, keyword);
        return true;
    }
    Region name = skip_blanks(f, (Region){word.end, text.end}), second = first_word(f, name);
    const Def *def = second.end == name.end && second.start < second.end ? find_def(f, word_name(f, second)) : NULL;
    keyword = def ? meant(f, word_name(f, word), KEY_TEST) : NULL;
    if (keyword && (strcmp(keyword, "property") == 0 || (strcmp(keyword, "test") == 0 && def->is_entry)))
        report_misspelt(f, word, keyword);
    return false;
}

/* ---- cases ---- */

/* Blanks instead of the dashes at the beginning of further lines. */
static TestText text_of(const Finder *f, Region r)
{
    uint32_t n = r.end - r.start;
    char *text = arena_strndup(f->s->arena, f->text + r.start, n);
    for (uint32_t i = 0; i < n; i++) {
        if (text[i] != '\n')
            continue;
        while (i + 1 < n && is_blank(text[i + 1]))
            i++;
        for (uint32_t k = i + 1; k <= i + 2 && k < n; k++)
            text[k] = ' ';
    }
    return (TestText){text, n, f->module->file, r.start};
}

/* In one line, with one blank where there were several, and without the dashes. */
static const char *hint_of(const Finder *f)
{
    TestText text = text_of(f, f->hint);
    StrBuf line = {0};
    for (uint32_t i = 0; i < text.n; i++) {
        bool blank = text.text[i] == '\n' || is_blank(text.text[i]);
        if (!blank || (line.n && line.text[line.n - 1] != ' '))
            strbuf_addn(&line, blank ? " " : text.text + i, 1);
    }
    const char *hint = arena_strndup(f->s->arena, line.n ? line.text : "", line.n);
    strbuf_free(&line);
    return hint;
}

/* The bytes of the string literal, with nothing but comments around it; NULL after a message. The empty text, which any
 * failure contains, is refused. */
static const char *read_message(const Finder *f, const TestText *text)
{
    if (text->n == 0 || text->text[0] != '"') {
        Span at = span_make(text->file, text->start, text->start + (text->n > 0));
        diag_error(f->s, at, DIAG_TEST_COMMENT, "`-- error` takes a string, a part of the expected message");
        return NULL;
    }
    DpType *t = dp_type_parse("[u8]");
    DpLeaf leaf = {0};
    const char *result = NULL;
    if (t && read_test_values(f->s, text, &t, NULL, 1, &leaf)) {
        result = arena_strndup(f->s->arena, leaf.ndata ? leaf.data : "", (size_t)leaf.ndata);
        dp_leaves_free(&leaf, 1);
    }
    dp_type_free(t);
    if (result && !*result) {
        diag_error(f->s, span_make(text->file, text->start, text->start + 2), DIAG_TEST_COMMENT,
                   "any error contains this text: write a part of the expected message");
        return NULL;
    }
    return result;
}

/* Blanks or a comma, then a word or a sign; an empty one at the text's end. */
static Region next_word(const Finder *f, Region *text)
{
    while (text->start < text->end && strchr(" \t,", f->text[text->start]))
        text->start++;
    Region word = {text->start, text->start};
    while (word.end < text->end && !strchr(" \t,", f->text[word.end]))
        word.end++;
    text->start = word.end;
    return word;
}

static bool read_fact(Finder *f, Region *text)
{
    Name name = word_name(f, next_word(f, text));
    bool of_cpu = strcmp(name, "cpu") == 0, of_gpu = strcmp(name, "gpu") == 0;
    if (of_cpu || of_gpu)
        name = word_name(f, next_word(f, text));
    Name number = word_name(f, next_word(f, text));
    TestFact fact = {.stated = true, .at_most = strcmp(number, "<=") == 0};
    if (fact.at_most)
        number = word_name(f, next_word(f, text));
    char *end;
    fact.n = strtoull(number, &end, 10);
    if (!isdigit((unsigned char)number[0]) || *end)
        return false;
    for (int i = 0; i < FACT_COUNT; i++)
        if (strcmp(name, test_fact_names[i]) == 0) {
            if (!of_gpu)
                f->facts[SHAPE_CPU][i] = fact;
            if (!of_cpu)
                f->facts[SHAPE_GPU][i] = fact;
            return true;
        }
    return false;
}

/* "launches 3, readbacks <= 1"; behind a second `--` stands a comment. */
static void read_facts(Finder *f, Region text)
{
    Region all = text;
    for (uint32_t i = text.start; i + 1 < text.end; i++)
        if (memcmp(f->text + i, "--", 2) == 0)
            text.end = i;
    while (text.end > text.start && is_blank(f->text[text.end - 1]))
        text.end--;
    bool ok = text.start < text.end;
    while (ok && text.start < text.end)
        ok = read_fact(f, &text);
    if (!ok)
        diag_error(f->s, span_of(f, all), DIAG_TEST_COMMENT,
                   "`-- expect` takes numbers of kernels, launches, readbacks or stored: `launches 3, readbacks <= 1`");
}

static bool has_inputs_only(const TestBlock *b) { return b->is_property || b->is_bench; }

static TestBlock *add_block(Finder *f, Keyword kind, Name name, Span span)
{
    TestBlock *b = arena_new(f->s->arena, TestBlock);
    b->is_property = kind == KEY_PROPERTY;
    b->is_bench = kind == KEY_BENCH;
    b->name = name;
    b->span = span;
    b->def = find_def(f, name);
    if (b->is_bench)
        vec_push(f->s->arena, &f->out->benches, b);
    else
        vec_push(f->s->arena, &f->out->blocks, b);
    f->block = b;
    return b;
}

/* Cases outside of blocks, before there is one. */
static TestBlock *block_of_case(Finder *f)
{
    if (f->block && (f->in_block || !has_inputs_only(f->block)))
        return f->block;
    return add_block(f, KEY_TEST, intern_cstr(f->s, "main"), f->first);
}

static void add_case(Finder *f)
{
    TestCase c = {.span = f->first, .input = {"", 0, f->module->file, f->first.start}};
    if (f->has_input)
        c.input = text_of(f, f->input);
    TestText result = f->result_kind ? text_of(f, f->result) : (TestText){0};
    if (f->result_kind == KEY_ERROR)
        c.error = read_message(f, &result);
    else
        c.output = result;
    memcpy(c.facts, f->facts, sizeof c.facts);
    c.hint = f->hint.start < f->hint.end ? hint_of(f) : NULL;
    TestBlock *b = block_of_case(f);
    if (has_inputs_only(b) && f->result_kind)
        diag_error(f->s, f->first, DIAG_TEST_COMMENT,
                   b->is_bench ? "a bench has inputs only: its results are those of the tests"
                               : "a property has inputs only: its result is to be `true`");
    else
        vec_push(f->s->arena, &b->cases, c);
}

/* Ends the case at hand, if there is one. */
static void finish_case(Finder *f)
{
    bool inputs_only = f->in_block && has_inputs_only(f->block);
    if (f->result_kind || (f->has_input && inputs_only))
        add_case(f);
    else if (f->has_input && f->in_block)
        diag_error(f->s, f->first, DIAG_TEST_COMMENT, "this `-- input` has neither `-- output` nor `-- error`");
    f->open = NULL;
    f->has_input = false;
    memset(f->facts, 0, sizeof f->facts);
    f->hint = (Region){0};
    f->result_kind = KEY_NONE;
}

/* `-- test NAME`, and nothing else but a comment: other lines that begin with the word are prose. */
static void begin_block(Finder *f, Keyword k, Region keyword, Region rest)
{
    Region name = first_word(f, rest), behind = skip_blanks(f, (Region){name.end, rest.end});
    if (behind.start < behind.end && (behind.end - behind.start < 2 || memcmp(f->text + behind.start, "--", 2) != 0))
        return;
    bool is_named = name.start < name.end;
    if (k != KEY_TEST && !is_named)
        return;
    f->in_block = true;
    Name wanted = is_named ? word_name(f, name) : intern_cstr(f->s, "main");
    TestBlock *b = add_block(f, k, wanted, span_of(f, is_named ? name : keyword));
    if (b->is_property && b->def)
        b->def->is_property = true;
}

static void begin_input(Finder *f, Region keyword, Region rest)
{
    f->has_input = true;
    f->first = span_of(f, keyword);
    f->input = rest;
    f->open = &f->input;
}

static void begin_result(Finder *f, Keyword k, Region keyword, Region rest)
{
    if (!f->has_input) {
        if (!f->in_block)
            return;
        f->first = span_of(f, keyword); /* an entry without parameters, or a mistake that the input's reading shows */
    }
    f->result_kind = k;
    f->result = rest;
    f->open = &f->result;
}

static void begin_facts(Finder *f, Region keyword, Region rest)
{
    f->open = NULL;
    if (f->result_kind == KEY_OUTPUT)
        read_facts(f, rest);
    else
        diag_error(f->s, span_of(f, keyword), DIAG_TEST_COMMENT, "`-- expect` stands behind an `-- output`");
}

static void begin_hint(Finder *f, Region keyword, Region rest)
{
    f->open = NULL;
    if (f->result_kind) {
        f->hint = rest;
        f->open = &f->hint;
    } else {
        diag_error(f->s, span_of(f, keyword), DIAG_TEST_COMMENT,
                   "`-- hint` stands behind an `-- output` or an `-- error`");
    }
}

static void use_comment(Finder *f, Region text)
{
    Region keyword = first_word(f, text);
    Keyword k = take_keyword(f, &text);
    if ((k == KEY_EXPECT || k == KEY_HINT) && !f->result_kind && !f->in_block)
        k = KEY_NONE; /* prose */
    if (k == KEY_NONE) {
        if (check_spelling(f, text))
            f->open = NULL;
        if (f->open)
            f->open->end = text.end;
        return;
    }
    if (k == KEY_EXPECT) {
        begin_facts(f, keyword, text);
        return;
    }
    if (k == KEY_HINT) {
        begin_hint(f, keyword, text);
        return;
    }
    bool continues_case = (k == KEY_OUTPUT || k == KEY_ERROR) && !f->result_kind;
    if (!continues_case)
        finish_case(f);
    if (k == KEY_TEST || k == KEY_PROPERTY || k == KEY_BENCH)
        begin_block(f, k, keyword, text);
    else if (k == KEY_INPUT)
        begin_input(f, keyword, text);
    else
        begin_result(f, k, keyword, text);
}

static void find_lines(Finder *f, uint32_t length)
{
    for (uint32_t at = 0; at < length;) {
        const char *newline = memchr(f->text + at, '\n', length - at);
        uint32_t end = newline ? (uint32_t)(newline - f->text) : length;
        Region text;
        if (take_comment(f, (Region){at, end}, &text)) {
            use_comment(f, text);
        } else {
            finish_case(f);
            f->in_block = false;
        }
        at = end + 1;
    }
    finish_case(f);
}

/* The header of a test without cases may be prose. */
static void check_blocks(Finder *f)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->out->blocks.n; i++) {
        TestBlock *b = f->out->blocks.at[i];
        if (!b->is_property && b->cases.n == 0)
            continue;
        check_name(f, b);
        f->out->blocks.at[kept++] = b;
    }
    f->out->blocks.n = kept;
    for (uint32_t i = 0; i < f->out->benches.n; i++)
        check_name(f, f->out->benches.at[i]);
}

TestFile *find_tests(Session *s, Module *m)
{
    const SourceFile *file = s->files.at[m->file];
    Finder f = {.s = s, .module = m, .text = file->text, .out = arena_new(s->arena, TestFile)};
    find_lines(&f, file->length);
    check_blocks(&f);
    return f.out;
}

const TestCase *find_first_case(Session *s, Module *m, const char *entry)
{
    const TestFile *tests = find_tests(s, m);
    for (uint32_t i = 0; i < tests->blocks.n; i++) {
        const TestBlock *b = tests->blocks.at[i];
        if (!b->is_property && b->cases.n > 0 && strcmp(b->name, entry) == 0)
            return &b->cases.at[0];
    }
    return NULL;
}

/* ---- values ---- */

/* Of the word or character at `at`. */
static Span place(const TestText *text, size_t at)
{
    size_t end = at;
    while (end < text->n && (is_name_byte(text->text[end]) || text->text[end] == '.'))
        end++;
    end += end == at && end < text->n;
    return span_make(text->file, text->start + (uint32_t)at, text->start + (uint32_t)end);
}

/* Values' messages begin with ":LINE: "; the diagnostic has its own place. */
static const char *without_place(const char *message)
{
    const char *colon = strstr(message, ": ");
    return message[0] == ':' && colon ? colon + 2 : message;
}

/* `@path`, from the program's folder. */
static bool read_file_value(Session *s, const TestText *text, DpReader *r, const DpType *t, DpLeaf *leaves)
{
    char error[512];
    size_t start = ++r->at;
    while (r->at < r->n && !strchr(" \t\r\n", r->text[r->at]))
        r->at++;
    const char *program = s->files.at[text->file]->path, *slash = strrchr(program, '/');
    int folder = slash && r->text[start] != '/' ? (int)(slash + 1 - program) : 0;
    const char *path = arena_printf(s->arena, "%.*s%.*s", folder, program, (int)(r->at - start), r->text + start);
    struct stat st;
    bool regular = stat(path, &st) != 0 ||
                   S_ISREG(st.st_mode); /* a device or a pipe may never end; reading says what is missing */
    if (!regular)
        snprintf(error, sizeof error, "%s: not a regular file", path);
    else if (dp_read_file(path, t, leaves, error, sizeof error))
        return true;
    else if (errno == ENOMEM)
        memory_out();
    Span at = span_make(text->file, text->start + (uint32_t)start - 1, text->start + (uint32_t)r->at);
    diag_error(s, at, DIAG_TEST_COMMENT, "%s", error);
    return false;
}

static bool read_value(Session *s, const TestText *text, DpReader *r, const DpType *t, DpLeaf *leaves)
{
    char error[512];
    if (!dp_reader_done(r) && r->text[r->at] == '@')
        return read_file_value(s, text, r, t, leaves);
    if (dp_read_text(r, t, leaves, error, sizeof error))
        return true;
    if (errno == ENOMEM)
        memory_out();
    diag_error(s, place(text, r->at), DIAG_TEST_COMMENT, "%s", without_place(error));
    return false;
}

bool read_test_values(Session *s, const TestText *text, DpType *const *types, const char *const *names, uint32_t n,
                      DpLeaf *leaves)
{
    DpReader r = {"", text->text, text->n, 0};
    DpLeaf *at = leaves;
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++) {
        ok = !(names && dp_reader_done(&r));
        if (!ok)
            diag_error(s, place(text, r.at), DIAG_TEST_COMMENT, "the value of the parameter %s is missing", names[i]);
        ok = ok && read_value(s, text, &r, types[i], at);
        at += ok ? dp_type_leaves(types[i]) : 0;
    }
    if (ok && dp_reader_done(&r))
        return true;
    if (ok)
        diag_error(s, place(text, r.at), DIAG_TEST_COMMENT,
                   names ? "there are more values than parameters" : "one value was expected here");
    dp_leaves_free(leaves, (uint32_t)(at - leaves));
    return false;
}
