/* The formatter: the same program, the same text when formatted again, and the layout of tests/fmt. */
#include "fmt/fmt.h"
#include "syntax/tokens.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static FmtStatus format(const char *path, const char *text, size_t n, StrBuf *out)
{
    Session *s = session_create();
    FmtStatus status = fmt_file(s, source_add_text(s, path, text, n, false), out);
    session_destroy(s);
    return status;
}

/* FMT_OK says that tree, tokens and comments are the same. */
static void expect_stable(const char *path, const char *text, size_t n, StrBuf *out)
{
    StrBuf again = {0};
    if (format(path, text, n, out) != FMT_OK)
        fail_msg("%s: cannot be formatted:\n%.*s", path, (int)n, text);
    if (format(path, out->text, out->n, &again) != FMT_OK || strcmp(out->text, again.text) != 0)
        fail_msg("%s: not stable:\n%s\n---- again ----\n%s", path, out->text, again.text ? again.text : "");
    strbuf_free(&again);
}

/* ---- the same program with as many and as few line breaks as can be ---- */

/* The text between two tokens: a `[` behind a value must stay where it is, and so must a comment's line. */
static void add_between(StrBuf *out, const char *text, uint32_t from, uint32_t to, const char *blank)
{
    if (memchr(text + from, '-', to - from))
        strbuf_addn(out, text + from, to - from);
    else if (to > from)
        strbuf_add(out, blank);
}

static void respace(Session *s, uint32_t file, const char *blank, StrBuf *out)
{
    TokenList tokens = {0};
    const SourceFile *source = s->files.at[file];
    uint32_t from = 0;
    scan_tokens(s, file, &tokens);
    for (uint32_t i = 0; i + 1 < tokens.n; i++) {
        Span at = tokens.at[i].span;
        add_between(out, source->text, from, at.start, blank);
        strbuf_addn(out, source->text + at.start, at.end - at.start);
        from = at.end;
    }
    strbuf_addn(out, source->text + from, source->length - from);
}

static void check_respaced(Session *s, uint32_t file, const char *blank)
{
    StrBuf text = {0}, out = {0};
    respace(s, file, blank, &text);
    expect_stable(s->files.at[file]->path, text.text, text.n, &out);
    strbuf_free(&out);
    strbuf_free(&text);
}

static void check_file(const char *path)
{
    const char *why = "";
    StrBuf out = {0};
    Session *s = session_create();
    uint32_t file = source_add_file(s, path, &why);
    assert_true(file != UINT32_MAX);
    expect_stable(path, s->files.at[file]->text, s->files.at[file]->length, &out);
    check_respaced(s, file, "\n");
    check_respaced(s, file, " ");
    check_respaced(s, file, "\n\n   ");
    strbuf_free(&out);
    session_destroy(s);
}

static void check_files(const char *pattern)
{
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_file(found.gl_pathv[i]);
    globfree(&found);
}

static void test_examples(void **state)
{
    (void)state;
    check_files("examples/*/*.dp");
}

static void test_library(void **state)
{
    (void)state;
    check_files("stdlib/*.dp");
}

static void test_programs(void **state)
{
    (void)state;
    check_files("tests/run/*.dp");
}

/* What is formatted in this tree stays so. */
static void expect_formatted(const char *pattern)
{
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *why = "";
        StrBuf out = {0};
        Session *s = session_create();
        uint32_t file = source_add_file(s, found.gl_pathv[i], &why);
        assert_int_equal(fmt_file(s, file, &out), FMT_OK);
        if (strcmp(out.text, s->files.at[file]->text) != 0)
            fail_msg("%s: not formatted; `dpc fmt` makes it\n%s", found.gl_pathv[i], out.text);
        strbuf_free(&out);
        session_destroy(s);
    }
    globfree(&found);
}

static void test_formatted(void **state)
{
    (void)state;
    expect_formatted("examples/*/*.dp");
    expect_formatted("stdlib/*.dp");
}

/* ---- layouts ---- */

/* tests/fmt/NAME.in becomes NAME.out. */
static void test_layouts(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob("tests/fmt/*.in", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *why = "", *path = found.gl_pathv[i];
        StrBuf wanted = {0}, out = {0};
        Session *s = session_create();
        uint32_t in = source_add_file(s, path, &why);
        strbuf_printf(&wanted, "%.*s.out", (int)(strlen(path) - 3), path);
        uint32_t expected = source_add_file(s, wanted.text, &why);
        assert_true(in != UINT32_MAX && expected != UINT32_MAX);
        expect_stable(path, s->files.at[in]->text, s->files.at[in]->length, &out);
        assert_string_equal(out.text, s->files.at[expected]->text);
        strbuf_free(&wanted);
        strbuf_free(&out);
        session_destroy(s);
    }
    globfree(&found);
}

static void expect(const char *source, const char *wanted)
{
    StrBuf out = {0};
    expect_stable("t.dp", source, strlen(source), &out);
    assert_string_equal(out.text, wanted);
    strbuf_free(&out);
}

static void test_files(void **state)
{
    (void)state;
    StrBuf out = {0};
    assert_int_equal(format("empty.dp", "", 0, &out), FMT_OK);
    assert_int_equal(out.n, 0);
    strbuf_free(&out);
    expect("-- only a comment", "-- only a comment\n");
    expect("\xef\xbb\xbf"
           "def k=1\r\n\r\n\r\n\r\n-- end  \r\n",
           "def k = 1\n\n-- end\n");
    expect("\n\n--|doc\n\ndef k=1 --why\n\n", "--|doc\n\ndef k = 1  --why\n");
}

/* Blanks that mean something. */
static void test_spaces(void **state)
{
    (void)state;
    expect("def f=a - -b", "def f = a - -b\n");
    expect("def f=- - b", "def f = - -b\n");
    expect("def f=g [1]+xs[1 ]", "def f = g [1] + xs[1]\n");
    expect("def f=#a[1]", "def f = #a [1]\n");
    expect("def f=t . 0 . 1.x", "def f = t.0.1.x\n");
    expect("def f=1 .0", "def f = 1 .0\n");
    expect("def f (x:[ n ] i32) (y :pair[i32]([ n ]f32)):[i32]=x",
           "def f (x: [n]i32) (y: pair [i32] ([n]f32)) : [i32] = x\n");
}

static void test_wrong_programs(void **state)
{
    (void)state;
    static const char *const sources[] = {"def f = (", "def = 1", "def f = 1 +", "def f = \"a", "}", "def f = 300u8"};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        StrBuf out = {0};
        assert_int_equal(format("wrong.dp", sources[i], strlen(sources[i]), &out), FMT_WRONG);
        assert_int_equal(out.n, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),  cmocka_unit_test(test_library),        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_formatted), cmocka_unit_test(test_layouts),        cmocka_unit_test(test_files),
        cmocka_unit_test(test_spaces),    cmocka_unit_test(test_wrong_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
