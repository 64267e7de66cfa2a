/* Arguments of entries: words, files, standard input, archives; what is said of wrong ones; limits. Names of files. */
#include "../../runtime/values/values.h"

#include "dp_options.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST_PARAMS = 3, MAX_LEAVES = 8, TEXT_BYTES = 512, MOST_WORDS = 4 };

static char folder[64];

static int enter_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test_arguments.XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static void write_bytes(const char *name, const char *bytes, size_t n)
{
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static int leave_folder(void **state)
{
    (void)state;
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

typedef struct Reading {
    const char *types[MOST_PARAMS]; /* of x, y, z */
    const char *words[MOST_WORDS];
    const char *input, *wanted; /* the literals, or the message */
    size_t error_bytes;         /* 0: enough */
    bool literal;               /* standard input holds literals */
} Reading;

static void read_all(const Reading *r, char out[TEXT_BYTES])
{
    static const char *const names[] = {"x", "y", "z"};
    DpParam params[MOST_PARAMS];
    DpLeaf leaves[MOST_PARAMS][MAX_LEAVES] = {0};
    char error[TEXT_BYTES] = "", *words[MOST_WORDS];
    uint32_t n = 0;
    int argc = 0;
    for (; n < MOST_PARAMS && r->types[n]; n++)
        params[n] = (DpParam){names[n], dp_type_parse(r->types[n]), leaves[n], r->literal};
    for (; argc < MOST_WORDS && r->words[argc]; argc++)
        words[argc] = (char *)(uintptr_t)r->words[argc];
    if (r->input) {
        write_bytes("input", r->input, strlen(r->input));
        assert_non_null(freopen("input", "rb", stdin));
        unlink("input");
    }
    FILE *text = fmemopen(out, TEXT_BYTES, "w");
    bool ok = dp_read_args(argc, words, params, n, error, r->error_bytes ? r->error_bytes : sizeof error);
    if (!ok)
        fputs(error, text);
    for (uint32_t i = 0; i < n; i++) {
        if (ok) {
            fputs(i ? " " : "", text);
            dp_write_text(text, params[i].type, leaves[i]);
            dp_leaves_free(leaves[i], dp_type_leaves(params[i].type));
        }
        dp_type_free((DpType *)(uintptr_t)params[i].type);
    }
    fputc('\0', text);
    fclose(text);
}

static void check_readings(const Reading *readings, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char got[TEXT_BYTES];
        read_all(&readings[i], got);
        if (strcmp(got, readings[i].wanted) != 0)
            fail_msg("%zu: wanted: %s\ngot: %s", i, readings[i].wanted, got);
    }
}

#define CHECK(readings) check_readings(readings, sizeof readings / sizeof *readings)

/* ---- standard input ---- */

static void test_input(void **state)
{
    (void)state;
    static const Reading readings[] = {
        {{"i8", "[i8]"}, {0}, "1 -- one\n[2]\n", "1 [2]", 0, false},
        {{"i8", "[i8]"}, {"-", "[3]"}, "1", "1 [3]", 0, false},
        {{"i8", "i8"},
         {"7", "-"},
         "\xef\xbb\xbf"
         "8",
         "7 8",
         0,
         false},
        {{"i8", "i8"}, {0}, "1", "standard input: the value of the parameter y is missing", 0, false},
        {{"i8"}, {0}, "1 2", "standard input:1:3: expected the end of the input, found 2", 0, false},
        {{"i8", "[u8]"},
         {"-", "raw:-"},
         "1 x",
         "standard input: the parameter y needs it, but another one has read all of it",
         0,
         false},
        {{"[u8]", "i8"},
         {"raw:-", "-"},
         "1",
         "standard input: the parameter y needs it, but x has read all of it",
         0,
         false},
        {{"[u8]"}, {"raw:-"}, "1 x", "\"1 x\"", 0, false},
        {{"text"}, {"-"}, "\"a\"", "\"\\\"a\\\"\"", 0, false},
        {{"text"}, {"-"}, "\"a\"", "\"a\"", 0, true},
        {{"i8", "i8"}, {"7"}, "8", "7 8", 0, false},
        {{"[i8]"}, {"csv:-"}, "1\nx\n", "standard input:2: column 1: expected a number of type i8, found x", 0, false},
        {{"i8"}, {0}, "true", "standard input:1:1: expected an i8, found true (x: i8)", 0, false},
        {{"i8"},
         {0},
         "\xff\xfe\x31",
         "standard input: at byte 0: the text is in UTF-16; it has to be in UTF-8",
         0,
         false},
    };
    CHECK(readings);
}

/* Standard input that cannot be read: a folder. */
static void test_no_input(void **state)
{
    (void)state;
    static const Reading readings[] = {
        {{"i8"}, {0}, NULL, "standard input: Is a directory", 0, false},
        {{"[u8]"}, {"raw:-"}, NULL, "standard input: Is a directory", 0, false},
    };
    assert_non_null(freopen("/", "rb", stdin));
    CHECK(readings);
}

/* ---- words ---- */

static void test_words(void **state)
{
    (void)state;
    assert_int_equal(mkdir("sub", 0700), 0);
    write_bytes("plain", "5", 1);
    static const Reading readings[] = {
        {{"i8", "i8", "i8"}, {"plain", "./plain", "-3"}, NULL, "5 5 -3", 0, false},
        {{"i8"}, {""}, NULL, "argument x:1:1: expected an i8, found the end of the input (x: i8)", 0, false},
        {{"i8"}, {" 1"}, NULL, "1", 0, false},
        {{"[u8]"},
         {"word"},
         NULL,
         "word: No such file or directory (x: [u8]); a text stands in quotes that the shell leaves: '\"word\"'",
         0,
         false},
        {{"[u8]"},
         {"it's"},
         NULL,
         "it's: No such file or directory (x: [u8]); a text stands in quotes that the shell leaves: '\"\u2026\"'",
         0,
         false},
        {{"[u8]"},
         {"a_word_of_more_than_forty_characters_in_all"},
         NULL,
         "a_word_of_more_than_forty_characters_in_all: No such file or directory (x: [u8]); a text stands in quotes "
         "that the shell leaves: '\"\u2026\"'",
         0,
         false},
        {{"[u8]"}, {"word.csv"}, NULL, "word.csv: No such file or directory (x: [u8])", 0, false},
        {{"[u8]"}, {"./word"}, NULL, "./word: No such file or directory (x: [u8])", 0, false},
        {{"[[u8]]"}, {"word"}, NULL, "word: No such file or directory (x: [[u8]])", 0, false},
        {{"[u8]"}, {"plain/word"}, NULL, "plain/word: Not a directory", 0, false},
        {{"[u8]"}, {"sub"}, NULL, "sub: Is a directory", 0, false},
        {{"[u8]"}, {"word"}, NULL, "word: N", 8, false},
        {{"i8"}, {"true"}, NULL, "argumen", 8, false},
        {{"i8"}, {"1", "2"}, NULL, "too many arguments: 2 given, 1 wanted: (x: i8)", 0, false},
        {{0}, {"1"}, NULL, "too many arguments: 1 given, 0 wanted", 0, false},
        {{0}, {0}, NULL, "", 0, false},
    };
    CHECK(readings);
    unlink("plain");
    rmdir("sub");
}

static void test_kinds_of_words(void **state)
{
    (void)state;
    static const char *const files[] = {"a.npy", "1.csv", "1/2", "nano", "-", "csv:1", "trues"};
    static const char *const literals[] = {"", " a", "-1", "0", "9", "true", "false", "nan", "inf", "(a", "'", "#x"};
    static const char *const options[] = {"-o", "--entry", "-infinite", "--1"};
    static const char *const values[] = {"", "o", "-", "--", "-0", "-9", "-inf", "-nan"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_true(dp_arg_is_file(files[i]));
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++)
        assert_false(dp_arg_is_file(literals[i]));
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        assert_true(dp_arg_is_option(options[i]));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_false(dp_arg_is_option(values[i]));
}

/* ---- one archive for all parameters ---- */

static void test_archive(void **state)
{
    (void)state;
    DpType *t = dp_type_parse("{y: [i8], x: f32}");
    DpLeaf leaves[2];
    DpReader r = {"text", "{x = 1.5, y = [1, 2]}", 21, 0};
    char error[TEXT_BYTES];
    assert_true(dp_read_text(&r, t, leaves, error, sizeof error));
    assert_true(dp_write_file("a.npz", t, leaves, error, sizeof error));
    dp_leaves_free(leaves, 2);
    dp_type_free(t);
    assert_non_null(freopen("a.npz", "rb", stdin));
    static const Reading readings[] = {
        {{"f32", "[i8]"}, {"npz:-"}, NULL, "1.5 [1, 2]", 0, false},
        {{"f32", "[i8]"}, {"a.npz"}, NULL, "1.5 [1, 2]", 0, false},
        {{"f32", "[u8]"},
         {"a.npz"},
         NULL,
         "a.npz: member y: expected elements of type u8 ('|u1'), found '|i1'",
         0,
         false},
        {{"f32", "[i8]", "i8"}, {"a.npz"}, NULL, "a.npz: there is no array z", 0, false},
    };
    CHECK(readings);
    unlink("a.npz");
}

/* ---- limits ---- */

static void test_limits(void **state)
{
    (void)state;
    static const char *const times[] = {"", "0", "-1", "1e3", "1.2.3", "1000000001", "1s", "."};
    static const char *const sizes[] = {"", "0", "-1", "x", "1Q", "1kB", "1MM", "18446744073709551616", "20000000T"};
    double seconds;
    uint64_t bytes;
    char error[TEXT_BYTES];
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        assert_false(dp_parse_limits(times[i], "1", &seconds, &bytes, error, sizeof error));
    assert_string_equal(error, "--timeout takes a number of seconds, not .");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_false(dp_parse_limits("1", sizes[i], &seconds, &bytes, error, sizeof error));
    assert_string_equal(error, "--memory takes a number of bytes such as 100M or 2G, not 20000000T");
    assert_true(dp_parse_limits("0.25", "7k", &seconds, &bytes, error, sizeof error));
    assert_true(seconds == 0.25 && bytes == 7000);
    assert_true(dp_parse_limits("1000000000", "2T", &seconds, &bytes, error, sizeof error));
    assert_true(seconds == 1e9 && bytes == UINT64_C(2000000000000));
    assert_true(dp_parse_limits(NULL, "7K", &seconds, &bytes, error, sizeof error));
    assert_true(seconds == 0 && bytes == 7000);
    assert_true(dp_parse_limits(NULL, NULL, &seconds, &bytes, error, sizeof error) && bytes == 0);
}

/* ---- names of files ---- */

static void test_places(void **state)
{
    (void)state;
    static const struct {
        const char *name, *type, *format, *path;
        bool prefixed, ending, known, packed;
    } cases[] = {
        {"a.csv", NULL, "csv", "a.csv", false, true, true, false},
        {"a.csv.gz", NULL, "csv", "a.csv.gz", false, true, true, true},
        {"a.gz", NULL, "text", "a.gz", false, true, false, true},
        {".gz", NULL, "text", ".gz", false, false, false, false},
        {"a.", NULL, "text", "a.", false, false, false, false},
        {"a", NULL, "text", "a", false, false, false, false},
        {"", NULL, "text", "", false, false, false, false},
        {"a.csv/b", NULL, "text", "a.csv/b", false, false, false, false},
        {"a/", NULL, "text", "a/", false, false, false, false},
        {"a/.csv", NULL, "text", "a/.csv", false, false, false, false},
        {"a/b.npy", NULL, "npy", "a/b.npy", false, true, true, false},
        {"json:a.csv", NULL, "json", "a.csv", true, true, true, false},
        {"nothing:a.csv", NULL, "csv", "nothing:a.csv", false, true, true, false},
        {"csvx:a", NULL, "text", "csvx:a", false, false, false, false},
        {"csv;:-", NULL, "csv;", "-", true, false, true, false},
        {"a.csv", "text", "raw", "a.csv", false, true, true, false},
        {"a.dat", "[text]", "lines", "a.dat", false, true, false, false},
        {"a.csv", "[text]", "csv", "a.csv", false, true, true, false},
        {"a.csv", "[u8]", "csv", "a.csv", false, true, true, false},
        {"a.csv", "i8", "csv", "a.csv", false, true, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        DpType *t = cases[i].type ? dp_type_parse(cases[i].type) : NULL;
        DpPlace p = dp_place_of(cases[i].name, t);
        if (strcmp(p.format->name, cases[i].format) != 0 || strcmp(p.path, cases[i].path) != 0 ||
            p.is_prefixed != cases[i].prefixed || p.has_ending != cases[i].ending || p.is_known != cases[i].known ||
            p.is_packed != cases[i].packed)
            fail_msg("%s: %s %s %d %d %d %d", cases[i].name, p.format->name, p.path, p.is_prefixed, p.has_ending,
                     p.is_known, p.is_packed);
        if (t)
            dp_type_free(t);
    }
}

static void refuses(const char *name, const char *type, const char *wanted)
{
    DpType *t = dp_type_parse(type);
    DpLeaf leaves[MAX_LEAVES];
    char error[TEXT_BYTES];
    assert_false(dp_read_file(name, t, leaves, error, sizeof error));
    assert_string_equal(error, wanted);
    dp_type_free(t);
}

static void test_files(void **state)
{
    (void)state;
    refuses("x.parquet", "[i8]", "x.parquet: Parquet is not read: .csv, .npz and .json are");
    refuses("x.parquet", "text", "x.parquet: No such file or directory");
    refuses("csv:x.parquet", "[i8]", "x.parquet: No such file or directory");
    refuses("x.dat", "[i8]", "x.dat: No such file or directory");
    refuses("x", "[i8]", "x: No such file or directory");
    write_bytes("x", "[1] [2]", 7);
    refuses("x", "[i8]", "x:1:5: expected the end of the input, found [");
    refuses("x", "i8", "x:1:1: expected an i8, found [");
    write_bytes("x", "\xff\xfe[", 3);
    refuses("x", "[i8]", "x: at byte 0: the text is in UTF-16; it has to be in UTF-8");
    write_bytes("x.txt.gz", "\x1f\x8b", 2);
    refuses("x.txt.gz", "[i8]", "x.txt.gz: at byte 2: the gzip'd file is cut off");
    unlink("x");
    unlink("x.txt.gz");
}

/* A value that cannot be written, for a reason that the system calls an invalid argument. */
static void test_invalid_write(void **state)
{
    (void)state;
    static const char name[] = "text:/proc/self/coredump_filter";
    DpType *t = dp_type_parse("[i8]");
    DpLeaf leaf;
    DpReader r = {"text", "[1]", 3, 0};
    char error[TEXT_BYTES] = "";
    if (access(dp_file_path(name), W_OK) != 0)
        skip();
    assert_true(dp_read_text(&r, t, &leaf, error, sizeof error));
    assert_false(dp_write_file(name, t, &leaf, error, sizeof error));
    assert_string_equal(error, "/proc/self/coredump_filter: cannot write: Input/output error");
    assert_int_equal(errno, EIO);
    dp_leaves_free(&leaf, 1);
    dp_type_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_input),   cmocka_unit_test(test_no_input), cmocka_unit_test(test_words),
        cmocka_unit_test(test_archive), cmocka_unit_test(test_limits),   cmocka_unit_test(test_kinds_of_words),
        cmocka_unit_test(test_places),  cmocka_unit_test(test_files),    cmocka_unit_test(test_invalid_write),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
