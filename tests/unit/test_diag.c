/* How diagnostics are printed: as text with notes without a place, and as JSON. */
#include "support/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char source[] = "def f = \"\xff\t\" + 1\ndef g = f\n";

static void expect_printed(Session *s, const char *wanted)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    assert_non_null(out);
    diag_print(s, out, false);
    fclose(out);
    assert_string_equal(text, wanted);
    free(text);
}

static Session *new_session(const char *path, uint32_t *file)
{
    Session *s = session_create();
    *file = source_add_text(s, path, source, sizeof source - 1, false);
    return s;
}

static void test_notes_without_place(void **state)
{
    (void)state;
    uint32_t file;
    Session *s = new_session("t.dp", &file);
    diag_error(s, span_make(file, 25, 26), DIAG_TYPE_MISMATCH, "no");
    diag_note_text(s, "one line");
    diag_note_text(s, "two\nlines\x01");
    diag_note(s, span_make(file, 4, 5), "here");
    expect_printed(s, "t.dp:2:9: error: no [E0301]\n"
                      "  def g = f\n"
                      "          ^\n"
                      "  note: one line\n"
                      "  note: two\n"
                      "    lines\\x01\n"
                      "t.dp:1:5: note: here\n"
                      "  def f = \"\\xff\t\" + 1\n"
                      "      ^\n");
    session_destroy(s);
}

static void test_json(void **state)
{
    (void)state;
    uint32_t file;
    Session *s = new_session("a \"b\"\\\xc3\xa4\xfe.dp", &file);
    s->diag_json = true;
    diag_warning(s, span_make(file, 4, 20), DIAG_UNUSED_NAME,
                 "tab\t, line\n, bell\x07, \x7f, \xe2\x82\xac, half \xe2\x82");
    diag_note_text(s, "first\nsecond");
    diag_error(s, SPAN_NONE, DIAG_NONE, "nowhere");
    expect_printed(s,
                   "{\"level\":\"warning\",\"code\":\"W0201\",\"message\":\"tab\\u0009, line\\n, bell\\u0007, \\u007f, "
                   "\xe2\x82\xac, half \\\\xe2\\\\x82\",\"file\":\"a \\\"b\\\"\\\\\xc3\xa4\\\\xfe.dp\","
                   "\"line\":1,\"column\":5,\"end_line\":2,\"end_column\":4,\"notes\":["
                   "{\"level\":\"note\",\"code\":null,\"message\":\"first\\nsecond\",\"file\":null,\"line\":null,"
                   "\"column\":null,\"end_line\":null,\"end_column\":null,\"notes\":[]}]}\n"
                   "{\"level\":\"error\",\"code\":null,\"message\":\"nowhere\",\"file\":null,\"line\":null,"
                   "\"column\":null,\"end_line\":null,\"end_column\":null,\"notes\":[]}\n");
    session_destroy(s);
}

/* As text at most 20 errors, as JSON all. */
static void test_json_has_all(void **state)
{
    (void)state;
    uint32_t file;
    Session *s = new_session("t.dp", &file);
    s->diag_json = true;
    for (uint32_t i = 0; i < 30; i++)
        diag_error(s, span_make(file, i, i + 1), DIAG_TYPE_MISMATCH, "number %u", i);
    char *text = NULL;
    size_t n = 0, lines = 0;
    FILE *out = open_memstream(&text, &n);
    assert_non_null(out);
    diag_print(s, out, true); /* no colours in JSON */
    fclose(out);
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 30);
    assert_null(strchr(text, '\033'));
    free(text);
    session_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notes_without_place),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_has_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
