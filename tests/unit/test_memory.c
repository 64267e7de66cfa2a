/* Readers and writers of values, types, arguments and kernels in the cache, where memory runs out: each allocation in
 * turn fails, once and from then on. They say so, and give back all that they took. */
#include "../../runtime/cache.h"
#include "../../runtime/values/values.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sanitized.h"

enum { MAX_LEAVES = 16, ERROR_BYTES = 512, MOST_CALLS = 4000 };

/* ---- an allocator that fails ---- */

static long calls, fails_at; /* 0: never */
static bool fails_on;

#ifndef SANITIZED /* which have an allocator of their own */
extern void *__libc_malloc(size_t n), *__libc_calloc(size_t n, size_t size), *__libc_realloc(void *old, size_t n);
void *malloc(size_t n);
void *calloc(size_t n, size_t size);
void *realloc(void *old, size_t n);

static bool fails(void)
{
    calls++;
    bool yes = fails_at && (fails_on ? calls >= fails_at : calls == fails_at);
    if (yes)
        errno = ENOMEM;
    return yes;
}

void *malloc(size_t n) { return fails() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t n) { return fails() ? NULL : __libc_realloc(old, n); }
#endif

/* Runs `f` with each of its allocations failing. How often it has failed then: the C library can do without some. */
typedef bool Attempt(void *data);
static long attempt_all(const char *name, Attempt *f, void *data)
{
    fails_at = 0;
    calls = 0;
    if (!f(data))
        fail_msg("%s: fails with memory", name);
    long n = calls, failures = 0;
    assert_true(n < MOST_CALLS);
    for (int on = 0; on < 2; on++)
        for (long k = 1; k <= n; k++) {
            calls = 0;
            fails_at = k;
            fails_on = on;
            failures += !f(data);
            fails_at = 0;
        }
    return failures;
}

/* Without failures while the tests themselves allocate. */
static long pause_failures(void)
{
    long at = fails_at;
    fails_at = 0;
    return at;
}

/* ---- files ---- */

typedef struct Case {
    const char *name, *type, *value;
} Case;

typedef struct Sample {
    const char *name;
    DpType *type;
    char *bytes;
    size_t n;
    DpLeaf leaves[MAX_LEAVES];
} Sample;

/* A failure says "out of memory", and leaves nothing in the leaves. */
static bool check_failure(const Sample *s, bool ok, const char *error, const DpLeaf *leaves)
{
    if (ok)
        return true;
    long at = pause_failures();
    if (!strstr(error, "out of memory"))
        fail_msg("%s: without memory it says: %s", s->name, error);
    for (uint32_t i = 0; leaves && i < dp_type_leaves(s->type); i++) {
        assert_null(leaves[i].data);
        for (uint32_t level = 0; level < DP_MAX_RANK; level++)
            assert_null(leaves[i].lens[level]);
    }
    fails_at = at;
    return false;
}

static bool read_sample(void *data)
{
    const Sample *s = data;
    DpLeaf leaves[MAX_LEAVES] = {0};
    char error[ERROR_BYTES] = "";
    DpPlace place = dp_place_of(s->name, NULL);
    bool ok = dp_place_read(&place, s->name, s->bytes, s->n, s->type, leaves, (DpError){error, sizeof error, NULL});
    check_failure(s, ok, error, leaves);
    if (!ok)
        return false;
    long at = pause_failures();
    assert_true(dp_leaves_equal(s->type, s->leaves, leaves, 0));
    dp_leaves_free(leaves, dp_type_leaves(s->type));
    fails_at = at;
    return true;
}

/* Into a file: a stream in memory would fail by itself. */
static bool write_sample(void *data)
{
    const Sample *s = data;
    long at = pause_failures();
    FILE *out = tmpfile();
    char *buffer = malloc(1 << 16), error[ERROR_BYTES] = "";
    setvbuf(out, buffer, _IOFBF, 1 << 16);
    fails_at = at;
    DpPlace place = dp_place_of(s->name, NULL);
    bool ok = dp_place_write(&place, out, s->type, s->leaves, (DpError){error, sizeof error, NULL});
    at = pause_failures();
    if (ok) {
        char *bytes = malloc(s->n + 1);
        rewind(out);
        assert_int_equal(fread(bytes, 1, s->n + 1, out), s->n);
        assert_memory_equal(bytes, s->bytes, s->n);
        free(bytes);
    }
    fclose(out);
    free(buffer);
    fails_at = at;
    return check_failure(s, ok, error, NULL);
}

static Sample sample_of(const Case *c)
{
    Sample s = {.name = c->name, .type = dp_type_parse(c->type)};
    char error[ERROR_BYTES];
    assert_non_null(s.type);
    DpReader r = {"text", c->value, strlen(c->value), 0};
    if (!dp_read_text(&r, s.type, s.leaves, error, sizeof error))
        fail_msg("%s: %s", c->value, error);
    FILE *out = open_memstream(&s.bytes, &s.n);
    DpPlace place = dp_place_of(s.name, NULL);
    if (!dp_place_write(&place, out, s.type, s.leaves, (DpError){error, sizeof error, NULL}))
        fail_msg("%s: %s", c->name, error);
    fclose(out);
    return s;
}

static bool is_missing(const char *name)
{
    char error[ERROR_BYTES] = "";
    DpType *t = dp_type_parse("[[u8]]");
    DpLeaf leaf = {0};
    DpPlace place = dp_place_of(name, NULL);
    dp_place_read(&place, name, "", 0, t, &leaf, (DpError){error, sizeof error, NULL});
    dp_type_free(t);
    return strstr(error, "dpc was built without") != NULL;
}

static void free_sample(Sample *s)
{
    dp_leaves_free(s->leaves, dp_type_leaves(s->type));
    dp_type_free(s->type);
    free(s->bytes);
}

static const Case cases[] = {
    {"a.txt", "[i64]", "[1, -2, 3, 4, 5, 6, 7, 8, 9]"},
    {"a.txt", "{x: [f32], y: (bool, [u8])}", "{x = [1.5, 2.25], y = (true, \"text\")}"},
    {"a.txt", "[#a (i64, [u8]) | #b | #c {p: [[i8]]}]", "[#a (1, \"xy\"), #b, #c {p = [[1], []]}]"},
    {"a.dpv", "[(i32, {name: [u8], size: f32})]",
     "[(1, {name = \"one\", size = 0.5}), (2, {name = \"\", size = 3.0})]"},
    {"a.dpv", "#a [u8] | #b", "#b"},
    {"a.npy", "[[f64]]", "[[1.5, 2.0], [3.0, -4.0]]"},
    {"a.mtx", "[[f32]]", "[[1.5, 2.0], [3.0, -4.0]]"},
    {"a.mtx", "[[(i32, f64)]]", "[[(0, 1.5)], [], [(1, 2.0), (2, 3.0)]]"},
    {"a.csv", "[{id: i32, name: [u8], size: f32}]",
     "[{id = 1, name = \"one, two\", size = 0.5}, {id = 2, name = \"\", size = 3.0}]"},
    {"a.csv", "[(i8, bool)]", "[(1, true), (2, false)]"},
    {"a.pgm", "[[u8]]", "[[1, 2, 3], [4, 5, 6]]"},
    {"a.png", "[[u8]]", "[[1, 2, 3], [4, 5, 6]]"},
    {"a.png", "[[(u8, u8, u8)]]", "[[(1, 2, 3), (4, 5, 6)]]"},
    {"a.json", "[{id: i32, name: [u8], size: f32}]",
     "[{id = 1, name = \"one, two\", size = 0.5}, {id = 2, name = \"\", size = 3.0}]"},
    {"a.json", "[#a (i64, [u8]) | #b]", "[#a (1, \"xy\"), #b]"},
    {"a.ppm", "[[(u8, u8, u8)]]", "[[(1, 2, 3), (4, 5, 6)]]"},
    {"a.json", "[#a (#x i8 | #y) | #b]", "[#b]"},
    {"a.txt", "[{}]", "[{}, {}]"},
    {"a.json", "[{}]", "[{}, {}]"},
    {"a.txt", "[((), i8)]", "[((), 1), ((), 2)]"},
    {"a.json", "[((), {a: (#none | #some [(i8, [u8])])})]", "[((), {a = #none}), ((), {a = #some [(1, \"x\")]})]"},
    {"a.csv", "[{a: (#none | #some i32), b: (#none | #some [u8])}]",
     "[{a = #some 1, b = #none}, {a = #none, b = #some \"x\\\"\"}]"},
    {"a.csv", "[[u8]]", "[\"x\\\"y\", \"\"]"},
    {"a.csv", "[[f64]]", "[[1.5, 2.0], [3.0]]"},
    {"a.tsv", "[(i8, [u8])]", "[(1, \"x\"), (2, \"\")]"},
    {"a.npz", "{x: [f64], y: [[i32]]}", "{x = [1.5], y = [[1], [2]]}"},
    {"a.npz", "([f64], bool)", "([1.5], true)"},
    {"raw:a", "[u8]", "\"bytes\""},
    {"lines:a", "[[u8]]", "[\"one\", \"two\"]"},
    {"a.csv.gz", "[(i8, bool)]", "[(1, true), (2, false)]"},
};
enum { CASES = sizeof cases / sizeof *cases };

static void test_readers(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        if (is_missing(cases[i].name))
            continue;
        Sample s = sample_of(&cases[i]);
        assert_true(attempt_all(s.name, read_sample, &s) > 0);
        free_sample(&s);
    }
}

static void test_writers(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        if (is_missing(cases[i].name))
            continue;
        Sample s = sample_of(&cases[i]);
        attempt_all(s.name, write_sample, &s);
        free_sample(&s);
    }
}

#define ZEROS "00000000000000000000000000000000000000000000000000"
#define LONG_ONE "1." ZEROS ZEROS ZEROS

/* What only others write: read, with the value that it has. */
static void test_foreign(void **state)
{
    (void)state;
    static const struct {
        Case c;
        const char *bytes;
    } foreign[] = {
        {{"a.mtx", "[[f64]]", "[[0.0, -1.5], [1.5, 0.0]]"},
         "%%MatrixMarket matrix array real skew-symmetric\n2 2\n1.5\n"},
        {{"a.mtx", "[[(u8, i16)]]", "[[(0, 1), (1, 1)], [(0, 1)]]"},
         "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n"},
        {{"a.pgm", "[[u8]]", "[[0, 255], [255, 0]]"}, "P2 2 2 1 0 1 1 0\n"},
        {{"a.ppm", "[[(u8, u8, u8)]]", "[[(7, 8, 9)]]"}, "P3 1 1 255 7 8 9\n"},
        {{"a.csv", "[f64]", "[0.12345678901234567890123456789012345678901234567890123456789012345678901234567890]"},
         "0.12345678901234567890123456789012345678901234567890123456789012345678901234567890\n"},
        {{"a.txt", "f64", "1.0"}, LONG_ONE},
        {{"a.json", "[f64]", "[1.0]"}, "[" LONG_ONE "]"},
        {{"a.json", "{a: (#none | #some [u8]), b: bool}", "{a = #none, b = true}"}, "{\"b\": true}"},
        {{"a.mtx", "[[f64]]", "[[1.0]]"}, "%%MatrixMarket matrix array real general\n1 1\n" LONG_ONE "\n"},
        {{"a.csv", "[{a: (#none | #some [u8]), b: bool}]", "[{a = #none, b = true}]"}, "b\ntrue\n"},
        {{"a.csv", "[{a: (#none | #some i8), b: bool}]", "[{a = #none, b = true}]"}, "b\ntrue\n"},
        {{"a.csv", "[f64]", "[1.0]"}, LONG_ONE "\n"},
    };
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        Case as_text = foreign[i].c;
        as_text.name = "a.txt";
        Sample s = sample_of(&as_text);
        s.name = foreign[i].c.name;
        free(s.bytes);
        s.bytes = strdup(foreign[i].bytes);
        s.n = strlen(s.bytes);
        assert_true(attempt_all(s.name, read_sample, &s) > 0);
        free_sample(&s);
    }
}

/* Packed files and images that no writer of this library makes, with what they give where there is memory. */
static void test_stored(void **state)
{
    (void)state;
    static const struct {
        const char *name, *type, *file;
    } stored[] = {
        {"a.jpg", "[[u8]]", "tests/fuzz/corpus/jpg/gray"},
        {"a.jpg", "[[(u8, u8, u8)]]", "tests/fuzz/corpus/jpg/progressive"},
        {"a.npz", "[i64]", "tests/fuzz/corpus/npz/one_deflated"},
    };
    for (size_t i = 0; i < sizeof stored / sizeof *stored; i++) {
        Sample s = {.name = stored[i].name, .type = dp_type_parse(stored[i].type)};
        char error[ERROR_BYTES] = "";
        DpPlace place = dp_place_of(s.name, NULL);
        s.bytes = dp_slurp(stored[i].file, &s.n);
        assert_non_null(s.bytes);
        memmove(s.bytes, s.bytes + 1, --s.n); /* the fuzzer's own byte */
        if (!is_missing(s.name)) {
            if (!dp_place_read(&place, s.name, s.bytes, s.n, s.type, s.leaves, (DpError){error, sizeof error, NULL}))
                fail_msg("%s", error);
            assert_true(attempt_all(stored[i].file, read_sample, &s) > 0);
        }
        free_sample(&s);
    }
}

/* ---- the cache of kernels ---- */

static bool load(void *folder)
{
    size_t n;
    unsigned char *bytes = dp_cache_load(folder, dp_cache_key(NULL, 0), &n);
    free(bytes);
    return bytes != NULL;
}

/* An entry that there is no memory for is as none. */
static void test_cache(void **state)
{
    (void)state;
    char folder[] = "/tmp/test_memory.XXXXXX";
    assert_non_null(mkdtemp(folder));
    dp_cache_store(folder, dp_cache_key(NULL, 0), (const unsigned char *)"bytes", 5);
    assert_true(attempt_all("the cache", load, folder) > 0);
    dp_folder_remove(folder);
}

/* How many there are. */
static bool count_entries(void *folder) { return dp_cache_use(folder).entries == 1; }

/* The entry goes, if there is memory to look at it. */
static bool trim(void *folder)
{
    long at = pause_failures();
    size_t n;
    dp_cache_store(folder, dp_cache_key(NULL, 0), (const unsigned char *)"bytes", 5);
    fails_at = at;
    dp_cache_clear(folder);
    at = pause_failures();
    unsigned char *bytes = dp_cache_load(folder, dp_cache_key(NULL, 0), &n);
    free(bytes);
    fails_at = at;
    return !bytes;
}

static void test_looking_at_cache(void **state)
{
    (void)state;
    char folder[] = "/tmp/test_memory.XXXXXX";
    assert_non_null(mkdtemp(folder));
    dp_cache_store(folder, dp_cache_key(NULL, 0), (const unsigned char *)"bytes", 5);
    assert_true(attempt_all("the cache's use", count_entries, folder) > 0);
    assert_true(attempt_all("clearing the cache", trim, folder) > 0);
    dp_folder_remove(folder);
}

/* ---- whole files, arguments, types ---- */

static bool read_file(void *data)
{
    const Sample *s = data;
    DpLeaf leaves[MAX_LEAVES] = {0};
    char error[ERROR_BYTES] = "";
    bool ok = dp_read_file(s->name, s->type, leaves, error, sizeof error);
    if (!ok && (errno == ENOMEM || strstr(error, strerror(ENOMEM)))) /* fopen's own words */
        return false;
    check_failure(s, ok, error, leaves);
    dp_leaves_free(leaves, dp_type_leaves(s->type));
    return ok;
}

static bool write_file(void *data)
{
    const Sample *s = data;
    char error[ERROR_BYTES] = "";
    bool ok = dp_write_file(s->name, s->type, s->leaves, error, sizeof error);
    if (!ok && errno == ENOMEM)
        assert_non_null(strstr(error, "emory"));
    return ok;
}

static void test_whole_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/test_memory.XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.txt", folder);
    static char long_value[200000] = "[";
    for (size_t n = 1; n + 8 < sizeof long_value; n += 6)
        strcpy(long_value + n, "12345,");
    strcat(long_value, "1]");
    Case c = {path, "[i64]", long_value};
    Sample s = sample_of(&c);
    assert_true(attempt_all("a written file", write_file, &s) > 0);
    assert_true(attempt_all("a file", read_file, &s) > 0);
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* no temporary files either */
    free_sample(&s);
}

static bool parse_type(void *data)
{
    DpType *t = dp_type_parse(data);
    if (!t)
        return false;
    char *text = dp_type_print(t, true);
    bool ok = text != NULL;
    if (ok)
        assert_string_equal(text, data);
    free(text);
    dp_type_free(t);
    return ok;
}

/* Many elements, so that what is collected in memory grows. */
static void test_long_packed(void **state)
{
    (void)state;
    static const char *const names[] = {"a.npz", "a.csv.gz"};
    static char value[100000] = "[";
    for (size_t n = 1; n + 8 < sizeof value; n += 6)
        strcpy(value + n, "12345,");
    strcat(value, "1]");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (is_missing(names[i]))
            continue;
        const Case c = {names[i], "[i32]", value};
        Sample s = sample_of(&c);
        assert_true(attempt_all(s.name, write_sample, &s) > 0);
        assert_true(attempt_all(s.name, read_sample, &s) > 0);
        free_sample(&s);
    }
}

static void test_type_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {"{b: [text], a: i8}", "[(i32, f64)]", "{x: f32, y: [[u8]]}",
                                        "#a (i64, bool) | #b", "[{p: (), q: (i8,)}]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_true(attempt_all(texts[i], parse_type, (void *)(uintptr_t)texts[i]) > 0);
}

static bool read_arguments(void *data)
{
    DpType *type = data;
    DpLeaf leaves[2][MAX_LEAVES] = {0};
    DpParam params[] = {{.name = "x", .type = type, .leaves = leaves[0]},
                        {.name = "y", .type = type, .leaves = leaves[1]}};
    char error[ERROR_BYTES] = "", *words[] = {(char[]){"[\"a\", \"b\"]"}, (char[]){"[]"}};
    bool ok = dp_read_args(2, words, params, 2, error, sizeof error);
    if (!ok)
        assert_non_null(strstr(error, "out of memory"));
    for (int i = 0; i < 2; i++) {
        if (!ok)
            assert_null(leaves[i][0].data);
        dp_leaves_free(leaves[i], 1);
    }
    return ok;
}

static void test_arguments(void **state)
{
    (void)state;
    DpType *t = dp_type_parse("[[u8]]");
    assert_true(attempt_all("arguments", read_arguments, t) > 0);
    dp_type_free(t);
}

/* Standard input, as values one after another or all of it for one parameter. */
static bool read_input(void *data)
{
    DpType *type = dp_type_parse("[u8]");
    DpLeaf leaves[MAX_LEAVES] = {0};
    DpParam param = {.name = "x", .type = type, .leaves = leaves};
    char error[ERROR_BYTES] = "", *words[] = {data};
    rewind(stdin);
    bool ok = type && dp_read_args(1, words, &param, 1, error, sizeof error);
    if (type && !ok)
        assert_non_null(strstr(error, "out of memory"));
    dp_leaves_free(leaves, 1);
    if (type)
        dp_type_free(type);
    return ok;
}

/* A wrong value is told with what was wanted, if there is memory for that. */
static bool complain(void *data)
{
    DpLeaf leaf = {0};
    DpParam param = {.name = "x", .type = data, .leaves = &leaf};
    char error[ERROR_BYTES] = "", *words[] = {(char[]){"1"}};
    assert_false(dp_read_args(1, words, &param, 1, error, sizeof error));
    return strstr(error, "(x: [[u8]])") != NULL;
}

/* Both types are told, if there is memory for them. */
static bool complain_of_dpv(void *data)
{
    const Sample *s = data;
    DpType *t = dp_type_parse("[f64]");
    DpLeaf leaf = {0};
    char error[ERROR_BYTES] = "";
    if (!t)
        return false;
    assert_false(dp_read_dpv("a.dpv", s->bytes, s->n, t, &leaf, (DpError){error, sizeof error, NULL}));
    dp_type_free(t);
    return strstr(error, "expected a value of type [f64], found one of type [i8]") != NULL;
}

static bool read_archive(void *data)
{
    DpLeaf leaves[2] = {0};
    DpType *const *types = data;
    DpParam params[] = {{.name = "x", .type = types[0], .leaves = &leaves[0]},
                        {.name = "y", .type = types[1], .leaves = &leaves[1]}};
    char error[ERROR_BYTES] = "", *words[] = {(char[]){"npz:tests/unit/nothing"}};
    snprintf(error, sizeof error, "none");
    bool ok = dp_read_args(1, words, params, 2, error, sizeof error);
    assert_false(ok);
    return strstr(error, "No such file") != NULL;
}

static void test_inputs(void **state)
{
    (void)state;
    FILE *in = tmpfile();
    fputs("\"text\"", in);
    fflush(in);
    assert_true(dup2(fileno(in), STDIN_FILENO) >= 0);
    DpType *types[] = {dp_type_parse("[[u8]]"), dp_type_parse("i8")};
    char each[] = "-", all[] = "raw:-";
    assert_true(attempt_all("values", read_input, each) > 0);
    assert_true(attempt_all("all of it", read_input, all) > 0);
    assert_true(attempt_all("a message", complain, types[0]) > 0);
    assert_true(attempt_all("an archive", read_archive, types) > 0);
    const Case c = {"a.dpv", "[i8]", "[1]"};
    Sample s = sample_of(&c);
    assert_true(attempt_all("types", complain_of_dpv, &s) > 0);
    free_sample(&s);
    dp_type_free(types[0]);
    dp_type_free(types[1]);
    fclose(in);
}

/* What grows as it is read, as it does not say how long it is. */
static void test_growing(void **state)
{
    (void)state;
    size_t n;
    long at = 1;
    if (access("/dev/zero", R_OK) != 0)
        skip();
    for (bool ended = false; !ended; at++) {
        calls = 0;
        fails_at = at;
        fails_on = true;
        char *text = dp_slurp("/dev/zero", &n);
        fails_at = 0;
        assert_null(text);
        ended = errno == EFBIG; /* none was needed after this one */
        assert_true(ended || errno == ENOMEM);
    }
    assert_true(at > 5);
}

int main(void)
{
#ifdef SANITIZED
    return 0;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers),    cmocka_unit_test(test_writers),          cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_stored),     cmocka_unit_test(test_long_packed),      cmocka_unit_test(test_whole_files),
        cmocka_unit_test(test_type_texts), cmocka_unit_test(test_arguments),        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_inputs),     cmocka_unit_test(test_looking_at_cache), cmocka_unit_test(test_growing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
