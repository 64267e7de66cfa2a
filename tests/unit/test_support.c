/* What everything stands on: UTF-8, source files, buffers, arenas and what they do where memory cannot be had;
 * diagnostics that are repeated, cut or too many. */
#include "dp_status.h"
#include "support/memory.h"
#include "support/session.h"
#include "support/strbuf.h"
#include "support/utf8.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- UTF-8 ---- */

static void test_utf8_decode(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length; /* 0: no character */
        uint32_t code;
    } cases[] = {
        {"a", 1, 'a'},
        {"\xc3\xa4", 2, 0xe4},
        {"\xe2\x82\xac", 3, 0x20ac},
        {"\xf0\x9f\x98\x80", 4, 0x1f600},
        {"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
        {"\xed\x9f\xbf", 3, 0xd7ff},
        {"\xee\x80\x80", 3, 0xe000},
        {"\x80", 0, 0},             /* goes on with nothing */
        {"\xc1\x81", 0, 0},         /* longer than it has to be */
        {"\xe0\x9f\xbf", 0, 0},     /* likewise */
        {"\xf0\x8f\xbf\xbf", 0, 0}, /* likewise */
        {"\xed\xa0\x80", 0, 0},     /* a surrogate */
        {"\xed\xbf\xbf", 0, 0},     /* likewise */
        {"\xf4\x90\x80\x80", 0, 0}, /* beyond the last */
        {"\xf5\x80\x80\x80", 0, 0}, /* likewise */
        {"\xe2\x82", 0, 0},         /* cut off */
        {"\xe2"
         "a\xac",
         0, 0}, /* not gone on with */
        {"", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t code = 0;
        assert_int_equal(utf8_decode(cases[i].bytes, strlen(cases[i].bytes), &code), cases[i].length);
        if (cases[i].length)
            assert_int_equal(code, cases[i].code);
    }
}

/* What a terminal would act on instead of showing it. */
static void test_utf8_printable(void **state)
{
    (void)state;
    static const uint32_t shown[] = {' ',    '~',    0xa0,   0xe4,   0x200a, 0x2010, 0x2027,
                                     0x202f, 0x2065, 0x206a, 0xfefe, 0xff00, 0x1f600};
    static const uint32_t hidden[] = {0,      '\n',   '\t',   0x1f,   0x7f,   0x9f,  0x200b,
                                      0x200f, 0x2028, 0x202e, 0x2066, 0x2069, 0xfeff};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        assert_true(utf8_is_printable(shown[i]));
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        assert_false(utf8_is_printable(hidden[i]));
}

/* ---- source files ---- */

static void test_lines(void **state)
{
    (void)state;
    Session *s = session_create();
    uint32_t file = source_add_text(s, "t.dp", "one\r\n\r\ntwo\n", 11, false), n = 7;
    assert_memory_equal(source_line(s, file, 1, &n), "one", 3);
    assert_int_equal(n, 3);
    source_line(s, file, 2, &n);
    assert_int_equal(n, 0);
    assert_memory_equal(source_line(s, file, 3, &n), "two", 3);
    assert_int_equal(n, 3);
    assert_string_equal(source_line(s, file, 0, &n), "");
    assert_int_equal(n, 0);
    assert_string_equal(source_line(s, file, 9, &n), "");
    LineCol place = source_linecol(s, file, 9);
    assert_int_equal(place.line, 3);
    assert_int_equal(place.col, 3);
    session_destroy(s);
}

/* A folder cannot be read, and /dev/zero has no end. */
static void test_unreadable(void **state)
{
    (void)state;
    Session *s = session_create();
    const char *why = NULL;
    assert_int_equal(source_add_file(s, "tests/no such file.dp", &why), UINT32_MAX);
    assert_string_equal(why, "No such file or directory");
    assert_int_equal(source_add_file(s, "tests", &why), UINT32_MAX);
    assert_string_equal(why, "Is a directory");
    assert_int_equal(source_add_file(s, "/dev/zero", &why), UINT32_MAX);
    assert_non_null(strstr(why, "64 MB"));
    assert_int_equal(s->files.n, 0);
    session_destroy(s);
}

/* ---- memory ---- */

/* Address sanitizers would end the program themselves. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

static void allocate_nothing(void)
{
    free(memory_alloc(0, 8));
    free(memory_alloc(8, 0));
    free(memory_resize(NULL, 0, 8));
    free(memory_resize(NULL, 8, 0));
    exit(0);
}

static void allocate_too_much(void) { memory_alloc(SIZE_MAX / 2, 4); }

static void resize_beyond_size_t(void) { memory_resize(NULL, SIZE_MAX / 2, 4); }

static void resize_too_much(void) { memory_resize(NULL, SIZE_MAX / 16, 1); }

static void fill_buffer(void)
{
    StrBuf b = {0};
    strbuf_addn(&b, NULL, SIZE_MAX / 2);
}

static void fill_arena(void) { arena_alloc(arena_create(), SIZE_MAX); }

static void fill_chunk(void) { arena_alloc(arena_create(), SIZE_MAX - 40); }

static void fill_array(void) { arena_array(arena_create(), uint64_t, SIZE_MAX / 4); }

static void grow_beyond_uint(void)
{
    uint32_t cap = UINT32_MAX / 2 + 1;
    arena_grow(arena_create(), NULL, &cap, 1);
}

static void grow_beyond_size_t(void)
{
    uint32_t cap = 8;
    arena_grow(arena_create(), NULL, &cap, SIZE_MAX / 8);
}

/* The status with which a process ends that does this. */
static int status_of(void (*action)(void))
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        freopen("/dev/null", "w", stderr);
        action();
        _exit(99);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Sizes that cannot be had, or not even be computed, end dpc with its status for that. */
static void test_out_of_memory(void **state)
{
    (void)state;
    assert_int_equal(status_of(allocate_nothing), 0);
    static void (*const actions[])(void) = {allocate_too_much, resize_beyond_size_t, resize_too_much,
                                            fill_buffer,       fill_arena,           fill_chunk,
                                            fill_array,        grow_beyond_uint,     grow_beyond_size_t};
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        assert_int_equal(status_of(actions[i]), EXIT_MEMORY);
}

/* ---- diagnostics ---- */

static char *printed(Session *s)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    assert_non_null(out);
    diag_print(s, out, false);
    fclose(out);
    return text;
}

static uint32_t count(const char *text, const char *part)
{
    uint32_t n = 0;
    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

/* The same text at the same place is said once; another text, level or end is another one. */
static void test_repeated(void **state)
{
    (void)state;
    Session *s = session_create();
    uint32_t file = source_add_text(s, "t.dp", "def f = 1\n", 10, false);
    diag_note_text(s, "of nothing");
    for (int i = 0; i < 3; i++)
        diag_error(s, span_make(file, 4, 5), DIAG_TYPE_MISMATCH, "no");
    diag_error(s, span_make(file, 4, 6), DIAG_TYPE_MISMATCH, "no");
    diag_error(s, span_make(file, 4, 5), DIAG_TYPE_MISMATCH, "not at all");
    diag_warning(s, span_make(file, 4, 5), DIAG_UNUSED_NAME, "no");
    diag_error(s, span_make(file, 4, 5), DIAG_TYPE_MISMATCH, "no");
    char *text = printed(s);
    assert_int_equal(count(text, "error: no ["), 2);
    assert_int_equal(count(text, "error: not at all"), 1);
    assert_int_equal(count(text, "warning: no ["), 1);
    assert_int_equal(count(text, "of nothing"), 0);
    free(text);
    session_destroy(s);
}

static void test_too_many(void **state)
{
    (void)state;
    Session *s = session_create();
    uint32_t file = source_add_text(s, "t.dp", "def f = 1 + 2 + 3 + 4 + 5 + 6\n", 30, false);
    for (uint32_t i = 0; i < 21; i++)
        diag_error(s, span_make(file, i, i + 1), DIAG_TYPE_MISMATCH, "number %u.", i);
    char *text = printed(s);
    assert_int_equal(count(text, "error: number"), 20);
    assert_non_null(strstr(text, "\nand 1 more error\n"));
    free(text);
    for (uint32_t i = 0; i < 22; i++)
        diag_error(s, span_make(file, i, i + 1), DIAG_TYPE_MISMATCH, "number %u.", i);
    text = printed(s);
    assert_non_null(strstr(text, "\nand 2 more errors\n"));
    free(text);
    session_destroy(s);
}

/* What is beyond all bounds is not kept, with its notes; it still counts. */
static void test_hopeless(void **state)
{
    (void)state;
    enum { KEPT = 10000, ALL = KEPT + 50 };
    Session *s = session_create();
    s->diag_json = true;
    uint32_t file = source_add_text(s, "t.dp", "def f = 1\n", 10, false);
    for (uint32_t i = 0; i < ALL; i++) {
        diag_error(s, span_make(file, i % 10, 10), DIAG_TYPE_MISMATCH, "number %u.", i);
        diag_note_text(s, "of %u.", i);
    }
    assert_int_equal(s->error_count, ALL);
    char *text = printed(s);
    assert_int_equal(count(text, "\"level\":\"error\""), KEPT);
    assert_int_equal(count(text, "\"level\":\"note\""), KEPT);
    free(text);
    session_destroy(s);
}

static void test_long_text(void **state)
{
    (void)state;
    enum { LONGEST = 4000 };
    Session *s = session_create();
    s->diag_json = true;
    char *name = calloc(LONGEST + 2, 1);
    assert_non_null(name);
    memset(name, 'x', LONGEST);
    diag_error(s, SPAN_NONE, DIAG_NONE, "%s", name);
    diag_note_text(s, "first");
    diag_note_text(s, "second");
    char *text = printed(s);
    assert_non_null(strstr(text, "xxx\""));
    assert_non_null(strstr(text, "\"notes\":[{\"level\":\"note\",\"code\":null,\"message\":\"first\""));
    assert_non_null(strstr(text, "\"notes\":[]},{\"level\":\"note\",\"code\":null,\"message\":\"second\""));
    free(text);
    name[LONGEST] = 'x';
    diag_error(s, SPAN_NONE, DIAG_NONE, "%s", name);
    text = printed(s);
    assert_non_null(strstr(text, "xxx...\""));
    free(text);
    free(name);
    session_destroy(s);
}

static void repeat(StrBuf *b, const char *text, int n)
{
    while (n-- > 0)
        strbuf_add(b, text);
}

/* A long line is cut, but no character is. */
static void expect_cut(const char *before, int nbefore, const char *behind, int nbehind, int shown_before,
                       int shown_behind)
{
    Session *s = session_create();
    StrBuf line = {0}, wanted = {0};
    repeat(&line, before, nbefore);
    uint32_t start = (uint32_t)line.n;
    strbuf_add(&line, "!");
    repeat(&line, behind, nbehind);
    uint32_t file = source_add_text(s, "t.dp", line.text, line.n, false);
    diag_error(s, span_make(file, start, start + 1), DIAG_NONE, "no");
    strbuf_printf(&wanted, "t.dp:1:%u: error: no\n  %s", start + 1, shown_before < nbefore ? "..." : "");
    repeat(&wanted, before, shown_before);
    strbuf_add(&wanted, "!");
    repeat(&wanted, behind, shown_behind);
    strbuf_printf(&wanted, "%s\n  %s", shown_behind < nbehind ? "..." : "", shown_before < nbefore ? "   " : "");
    repeat(&wanted, " ", shown_before);
    strbuf_add(&wanted, "^\n");
    char *text = printed(s);
    assert_string_equal(text, wanted.text);
    free(text);
    strbuf_free(&line);
    strbuf_free(&wanted);
    session_destroy(s);
}

static void test_cut_lines(void **state)
{
    (void)state;
    expect_cut("a", 60, "b", 60, 40, 59);
    expect_cut("a", 5, "b", 120, 5, 94);
    expect_cut("a", 120, "b", 5, 94, 5);
    expect_cut("a", 45, "b", 70, 45, 54);            /* 5 columns are not worth the dots */
    expect_cut("\xe2\x82\xac", 40, "b", 90, 14, 59); /* 40 bytes are 13 1/3 characters */
    expect_cut("a", 60, "\xe2\x82\xac", 40, 40, 20); /* and 59 bytes are 19 2/3 */
    expect_cut("\xc3\xa4", 10, "\xc3\xa4", 10, 10, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utf8_decode), cmocka_unit_test(test_utf8_printable), cmocka_unit_test(test_lines),
        cmocka_unit_test(test_unreadable),  cmocka_unit_test(test_out_of_memory),  cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_too_many),    cmocka_unit_test(test_hopeless),       cmocka_unit_test(test_long_text),
        cmocka_unit_test(test_cut_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
