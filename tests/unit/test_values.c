/* Values outside the program: text, .npy, .mtx, arguments, tests in comments. */
#include "dp_args.h"
#include "dp_value.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_LEAVES = 16, ERROR_BYTES = 256 };

typedef struct Value {
    DpType *type;
    DpLeaf leaves[MAX_LEAVES];
    bool ok;
    char error[ERROR_BYTES];
} Value;

/* ---- helpers ---- */

static Value read_bytes(const char *type, const char *text, size_t n)
{
    Value v = {.type = dp_type_parse(type)};
    assert_non_null(v.type);
    assert_true(dp_type_leaves(v.type) <= MAX_LEAVES);
    DpReader r = {"t", text, n, 0};
    v.ok = dp_read_text(&r, v.type, v.leaves, v.error, sizeof v.error);
    if (v.ok && !dp_reader_done(&r))
        snprintf(v.error, sizeof v.error, "something is left");
    return v;
}

static Value read_string(const char *type, const char *text) { return read_bytes(type, text, strlen(text)); }

static void free_value(Value *v)
{
    dp_leaves_free(v->leaves, dp_type_leaves(v->type));
    dp_type_free(v->type);
}

static char *written(const DpType *t, const DpLeaf *leaves)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    dp_write_text(out, t, leaves);
    fclose(out);
    return text;
}

/* What is written again after `text` has been read. */
static void assert_reads_as(const char *type, const char *text, const char *expected)
{
    Value v = read_string(type, text);
    if (!v.ok || v.error[0])
        fail_msg("%s as %s: %s", text, type, v.error);
    char *again = written(v.type, v.leaves);
    assert_string_equal(again, expected);
    free(again);
    free_value(&v);
}

static void assert_same(const char *type, const char *text) { assert_reads_as(type, text, text); }

static void assert_refused(const char *type, const char *text, const char *message)
{
    Value v = read_string(type, text);
    if (v.ok)
        fail_msg("%s was read as %s", text, type);
    if (!strstr(v.error, message))
        fail_msg("%s: the message is: %s", text, v.error);
    free_value(&v);
}

/* ---- types ---- */

static void test_types(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "i33",
                                      "[i32",
                                      "(i32",
                                      "{x i32}",
                                      "{x: i32, x: i32}",
                                      "#",
                                      "#a | ",
                                      "i32 i32",
                                      "[]",
                                      "(,)",
                                      "#a i32 i32",
                                      "[[[[[[[[[[[[[[[[[i32]]]]]]]]]]]]]]]]]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_null(dp_type_parse(bad[i]));
    DpType *t = dp_type_parse("(i32, [(f64, [u8])], (), {b: i8, a: [bool]}, #y | #x (i16, [f32]))");
    assert_non_null(t);
    assert_int_equal(dp_type_leaves(t), 9);
    DpLeaf leaves[9];
    dp_leaves_init(leaves, t);
    static const struct {
        DpScalar s;
        uint8_t rank;
    } want[] = {{DP_I32, 0}, {DP_F64, 1}, {DP_U8, 2},  {DP_BOOL, 0}, {DP_BOOL, 1},
                {DP_I8, 0},  {DP_U8, 0},  {DP_I16, 0}, {DP_F32, 1}};
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(leaves[i].scalar, want[i].s);
        assert_int_equal(leaves[i].rank, want[i].rank);
    }
    dp_type_free(t);
    t = dp_type_parse("[n][3](i32)");
    assert_non_null(t);
    assert_int_equal(t->element->kind, DP_T_ARRAY);
    dp_type_free(t);
    char deep[2001];
    memset(deep, '(', 2000);
    deep[2000] = '\0';
    assert_null(dp_type_parse(deep));
}

static void test_layout(void **state)
{
    (void)state;
    Value v = read_string("[[[i32]]]", "[[[5,6,7],[],[8]],[]]");
    assert_true(v.ok);
    const DpLeaf *l = &v.leaves[0];
    assert_int_equal(l->nlens[0], 1);
    assert_int_equal(l->lens[0][0], 2);
    assert_int_equal(l->nlens[1], 2);
    assert_int_equal(l->lens[1][0], 3);
    assert_int_equal(l->lens[1][1], 0);
    assert_int_equal(l->nlens[2], 3);
    assert_int_equal(l->lens[2][0], 3);
    assert_int_equal(l->lens[2][1], 0);
    assert_int_equal(l->lens[2][2], 1);
    assert_int_equal(l->ndata, 4);
    assert_int_equal(((int32_t *)l->data)[3], 8);
    free_value(&v);
}

/* ---- text ---- */

static void test_scalars(void **state)
{
    (void)state;
    assert_same("bool", "true");
    assert_same("i8", "-128");
    assert_same("i64", "-9223372036854775808");
    assert_same("u64", "18446744073709551615");
    assert_reads_as("i32", "1_000", "1000");
    assert_reads_as("i32", "-0x7f", "-127");
    assert_reads_as("u8", "0b1010_1010", "170");
    assert_reads_as("u8", "'a'", "97");
    assert_reads_as("u8", "'\\''", "39");
    assert_reads_as("i32", "42i32", "42");
    assert_reads_as("f64", "42", "42.0");
    assert_reads_as("f64", "-0x10", "-16.0");
    assert_reads_as("f32", "1f32", "1.0");
    assert_reads_as("i32", " -- nothing\n\t7 -- seven\n", "7");
    assert_reads_as("i32", "((7))", "7");
    assert_reads_as("u32", "0x1f32", "7986");
    assert_refused("i8", "128", "128 is out of the range of i8");
    assert_refused("i8", "-129", "out of the range");
    assert_refused("u8", "-1", "out of the range");
    assert_refused("u64", "18446744073709551616", "out of the range");
    assert_refused("i32", "1.5", "expected an i32, found 1.5");
    assert_refused("i32", "1i64", "expected an i32");
    assert_refused("i32", "12x", "expected an i32, found 12x");
    assert_refused("i32", "0x", "expected an i32");
    assert_refused("i32", "nan", "expected an i32");
    assert_refused("i32", "", "expected an i32, found the end of the input");
    assert_refused("f64", "1.", "expected an f64");
    assert_refused("f64", ".5", "expected an f64");
    assert_refused("f64", "1e", "expected an f64");
    assert_refused("f64", "1e400", "out of the range");
    assert_refused("f32", "1e39", "out of the range");
    assert_refused("bool", "truth", "expected true or false, found truth");
    assert_refused("u8", "'ab'", "one byte");
    assert_refused("u8", "''", "missing");
    assert_refused("i32", "\n\n  ]", "t:3:3: expected an i32, found ]");
}

static void test_composites(void **state)
{
    (void)state;
    assert_same("[i32]", "[]");
    assert_same("[[i32]]", "[[1, 2], [], [3]]");
    assert_same("(i32, f64)", "(1, 2.5)");
    assert_same("()", "()");
    assert_same("[()]", "[(), ()]");
    assert_same("[({x: i32, y: [[u8]]}, bool)]", "[({x = 1, y = [\"a\", \"\"]}, true), ({x = 2, y = []}, false)]");
    assert_reads_as("{x: i32, y: i32}", "{ y = 2 , x = 1 , }", "{x = 1, y = 2}");
    assert_reads_as("[i32]", "[1,2,3,]", "[1, 2, 3]");
    assert_reads_as("(i32, i32)", "(1,2,)", "(1, 2)");
    assert_same("#a i32 | #b", "#a -3");
    assert_reads_as("#a i32 | #b", "#a (-3)", "#a -3");
    assert_same("[#leaf [i32] | #node ([i8], f32) | #nothing]", "[#nothing, #leaf [1, 2], #node ([3], 1.5), #leaf []]");
    assert_same("[#a (#c [u8] | #d)]", "[#a #c \"x\", #a #d]");
    assert_same("[[[(u8, [f32])]]]", "[[], [[], [(1, [1.0, 2.0]), (2, [])]]]");
    assert_refused("[i32]", "[1 2]", "t:1:4: expected ], found 2");
    assert_refused("[i32]", "[1,\n2", "t:2:2: expected ], found the end of the input");
    assert_refused("[i32]", "[,]", "expected an i32, found ,");
    assert_refused("(i32, i32)", "(1)", "expected ,, found )");
    assert_refused("{x: i32}", "{}", "the field x is missing");
    assert_refused("{x: i32}", "{x = 1, x = 2}", "stands twice");
    assert_refused("{x: i32}", "{z = 1}", "the name of a field, found z");
    assert_refused("#a | #b", "#c", "a constructor of the type, found #c");
    assert_refused("#a i32", "#a", "expected an i32");
    assert_refused("i32", "(1", "expected ), found the end");
}

static void test_strings(void **state)
{
    (void)state;
    assert_same("[u8]", "\"\"");
    assert_same("[u8]", "\"a\\n\\t\\\"\\\\ \\x00\\xff\\x7f\"");
    assert_same("[u8]", "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\"");
    assert_reads_as("[u8]", "[104, 'i']", "\"hi\"");
    assert_reads_as("[u8]", "\"\\101\\0\\x41g\"", "\"A\\x00Ag\"");
    assert_reads_as("[u8]", "\"a--b\"", "\"a--b\"");
    assert_reads_as("[u8]", "\"\xc3\"", "\"\\xc3\"");
    assert_reads_as("[u8]", "\"\xed\xa0\x80\"", "\"\\xed\\xa0\\x80\""); /* a surrogate */
    assert_reads_as("[u8]", "\"\xe2\x80\xae\"", "\"\\xe2\\x80\\xae\""); /* turns the text around */
    assert_refused("[u8]", "\"abc", "closing quote is missing");
    assert_refused("[u8]", "\"abc\n\"", "closing quote is missing");
    assert_refused("[u8]", "\"\\q\"", "unknown escape");
    assert_refused("[u8]", "\"\\x4\"", "two hexadecimal digits");
    assert_refused("[u8]", "\"\\777\"", "larger than a byte");
    assert_refused("[u8]", "\"\\", "unknown escape");
    Value v = read_bytes("[i32]", "[1,\0 2]", 7);
    assert_false(v.ok);
    assert_non_null(strstr(v.error, "the byte 0x00"));
    free_value(&v);
}

static void test_floats(void **state)
{
    (void)state;
    static const char *const same[] = {"0.0",
                                       "-0.0",
                                       "1.0",
                                       "0.1",
                                       "-2.5",
                                       "nan",
                                       "inf",
                                       "-inf",
                                       "1e16",
                                       "1e22",
                                       "1.5e300",
                                       "5e-324",
                                       "1e-6",
                                       "2.2250738585072014e-308",
                                       "1.7976931348623157e308",
                                       "123456.789",
                                       "1234567890123456.0",
                                       "0.30000000000000004"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_same("f64", same[i]);
    assert_reads_as("f64", "1.0e-5", "0.00001");
    assert_reads_as("f64", "4.9406564584124654e-320", "4.9407e-320");
    assert_same("f32", "0.1");
    assert_same("f32", "3.4028235e38");
    assert_same("f32", "1e-45");
    assert_same("f32", "16777216.0");
    assert_reads_as("f32", "0.100000001", "0.1");
    assert_reads_as("f32", "16777217", "16777216.0");
    assert_reads_as("f64", "1E5", "100000.0");
    assert_reads_as("f64", "1e-0007", "1e-7");
    assert_reads_as("f64", "-nan", "nan");
    assert_reads_as("f64", "1e-400", "0.0");
}

/* Every bit pattern must come back; the fewest digits are at most 17 and 9. */
static void test_float_bits(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    DpType *t64 = dp_type_parse("f64"), *t32 = dp_type_parse("f32");
    for (int i = 0; i < 20000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        double x;
        float y;
        uint32_t half = (uint32_t)(seed >> 20);
        memcpy(&x, &seed, sizeof x);
        memcpy(&y, &half, sizeof y);
        DpLeaf a = {.scalar = DP_F64, .data = &x, .ndata = 1}, b = {.scalar = DP_F32, .data = &y, .ndata = 1};
        char *text = written(t64, &a);
        assert_true(isnan(x) ? strcmp(text, "nan") == 0 : strtod(text, NULL) == x && strlen(text) <= 26);
        free(text);
        text = written(t32, &b);
        assert_true(isnan(y) ? strcmp(text, "nan") == 0 : strtof(text, NULL) == y && strlen(text) <= 20);
        free(text);
    }
    dp_type_free(t64);
    dp_type_free(t32);
}

static uint64_t next_bits(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

/* A million numbers as text and back, bit for bit but for the payloads of nans. */
static void assert_bits_survive(const char *type, DpScalar scalar, uint64_t count)
{
    uint64_t seed = 0x2545f4914f6cdd1du;
    size_t bytes = dp_scalar_bytes(scalar);
    DpLeaf leaf = {.scalar = scalar,
                   .rank = 1,
                   .lens = {&count},
                   .nlens = {1},
                   .data = calloc(count, bytes),
                   .ndata = count},
           back;
    for (uint64_t i = 0; i < count; i++)
        dp_scalar_store(scalar, leaf.data, i, next_bits(&seed));
    DpType *t = dp_type_parse(type);
    char error[ERROR_BYTES], *text = written(t, &leaf);
    DpReader r = {"text", text, strlen(text), 0};
    if (!dp_read_text(&r, t, &back, error, sizeof error))
        fail_msg("%s", error);
    assert_int_equal(back.ndata, count);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t a = dp_scalar_load(scalar, leaf.data, i), b = dp_scalar_load(scalar, back.data, i);
        bool nan = scalar == DP_F32 ? (a & 0x7fffffff) > 0x7f800000 : (a & INT64_MAX) > 0x7ff0000000000000;
        if (nan ? !(scalar == DP_F32 ? (b & 0x7fffffff) > 0x7f800000 : (b & INT64_MAX) > 0x7ff0000000000000) : a != b)
            fail_msg("%016llx came back as %016llx", (unsigned long long)a, (unsigned long long)b);
    }
    free(text);
    free(leaf.data);
    dp_leaves_free(&back, 1);
    dp_type_free(t);
}

static void test_million_floats(void **state)
{
    (void)state;
    assert_bits_survive("[f32]", DP_F32, 500000);
    assert_bits_survive("[f64]", DP_F64, 500000);
}

static void test_several_values(void **state)
{
    (void)state;
    const char *text = "[1, 2] -- first\n(3, true)[] \"x\"";
    static const char *const types[] = {"[i64]", "(u8, bool)", "[f32]", "[u8]"};
    DpReader r = {"t", text, strlen(text), 0};
    for (size_t i = 0; i < 4; i++) {
        DpType *t = dp_type_parse(types[i]);
        DpLeaf leaves[2];
        char error[ERROR_BYTES];
        assert_false(dp_reader_done(&r));
        assert_true(dp_read_text(&r, t, leaves, error, sizeof error));
        dp_leaves_free(leaves, dp_type_leaves(t));
        dp_type_free(t);
    }
    assert_true(dp_reader_done(&r));
    assert_refused("i32", "1\"a\"", "white space behind the value");
}

static void test_equality(void **state)
{
    (void)state;
    Value a = read_string("(f64, [i32])", "(1.0, [1])"), b = read_string("(f64, [i32])", "(1.0000000001, [1])");
    assert_false(dp_leaves_equal(a.type, a.leaves, b.leaves, 0));
    assert_true(dp_leaves_equal(a.type, a.leaves, b.leaves, 1e-9));
    free_value(&b);
    b = read_string("(f64, [i32])", "(1.0, [1, 1])");
    assert_false(dp_leaves_equal(a.type, a.leaves, b.leaves, 1));
    free_value(&a);
    free_value(&b);
    a = read_string("[f32]", "[nan, inf, 0]");
    b = read_string("[f32]", "[nan, inf, -0.0]");
    assert_true(dp_leaves_equal(a.type, a.leaves, b.leaves, 0));
    ((float *)b.leaves[0].data)[1] = -INFINITY;
    assert_false(dp_leaves_equal(a.type, a.leaves, b.leaves, 0.5));
    free_value(&a);
    free_value(&b);
}

/* ---- files ---- */

typedef struct Folder {
    char path[64];
} Folder;

static int make_folder(void **state)
{
    Folder *f = malloc(sizeof *f);
    const char *tmp = getenv("TMPDIR");
    snprintf(f->path, sizeof f->path, "%.40s/dpvalXXXXXX", tmp ? tmp : "/tmp");
    *state = f;
    return mkdtemp(f->path) ? 0 : -1;
}

static int remove_folder(void **state)
{
    Folder *f = *state;
    int failed = rmdir(f->path); /* nothing may have been left behind */
    free(f);
    return failed;
}

static void file_name(char *out, size_t n, void **state, const char *name)
{
    snprintf(out, n, "%s/%s", ((Folder *)*state)->path, name);
}

static Value read_file_of(void **state, const char *name, const char *type, const void *bytes, size_t n)
{
    char path[128];
    file_name(path, sizeof path, state, name);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    fwrite(bytes, 1, n, out);
    fclose(out);
    Value v = {.type = dp_type_parse(type)};
    v.ok = dp_read_file(path, v.type, v.leaves, v.error, sizeof v.error);
    unlink(path);
    return v;
}

static void assert_file(void **state, const char *name, const char *type, const void *bytes, size_t n,
                        const char *expected)
{
    Value v = read_file_of(state, name, type, bytes, n);
    if (!v.ok)
        fail_msg("%s: %s", name, v.error);
    char *text = written(v.type, v.leaves);
    assert_string_equal(text, expected);
    free(text);
    free_value(&v);
}

static void assert_file_refused(void **state, const char *name, const char *type, const void *bytes, size_t n,
                                const char *message)
{
    Value v = read_file_of(state, name, type, bytes, n);
    assert_false(v.ok);
    if (!strstr(v.error, message))
        fail_msg("the message is: %s", v.error);
    free_value(&v);
}

/* A .npy file of version 1 or 2; returns its length. */
static size_t make_npy(char *out, int version, const char *header, const void *data, size_t n)
{
    size_t length = strlen(header), at = version == 1 ? 10 : 12;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (char)version;
    out[7] = 0;
    out[8] = (char)(length & 0xff);
    out[9] = (char)(length >> 8);
    if (version > 1)
        out[10] = out[11] = 0;
    memcpy(out + at, header, length);
    if (n)
        memcpy(out + at + length, data, n);
    return at + length + n;
}

static void test_npy_read(void **state)
{
    char file[512];
    const int32_t six[] = {1, 2, 3, 4, 5, 6};
    const float floats[] = {1.5f, -2.0f};
    const uint8_t bools[] = {0, 1, 7};
    size_t n = make_npy(file, 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }\n", six, sizeof six);
    assert_file(state, "a.npy", "[[i32]]", file, n, "[[1, 2, 3], [4, 5, 6]]");
    assert_file_refused(state, "a.npy", "[i32]", file, n, "expected 1 dimension, found 2");
    assert_file_refused(state, "a.npy", "[[f32]]", file, n, "expected elements of type f32 ('<f4'), found '<i4'");
    assert_file_refused(state, "a.npy", "[(i32, i32)]", file, n, "not this parameter's type");
    for (size_t cut = 0; cut < n; cut++)
        assert_file_refused(state, "a.npy", "[[i32]]", file, cut, "not a valid .npy file");
    n = make_npy(file, 1, "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }\n", six, sizeof six);
    assert_file(state, "a.npy", "[[i32]]", file, n, "[[1, 3, 5], [2, 4, 6]]");
    n = make_npy(file, 2, "{\"shape\":(1,3,2),\"fortran_order\":True,\"descr\":\"<i4\"}", six, sizeof six);
    assert_file(state, "a.npy", "[[[i32]]]", file, n, "[[[1, 4], [2, 5], [3, 6]]]");
    n = make_npy(file, 1, "{'descr': '<i4', 'fortran_order': True, 'shape': (1, 2, 1, 3, 1)}", six, sizeof six);
    assert_file(state, "a.npy", "[[[[[i32]]]]]", file, n, "[[[[[1], [3], [5]]], [[[2], [4], [6]]]]]");
    n = make_npy(file, 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", floats, sizeof floats);
    assert_file(state, "a.npy", "[f32]", file, n, "[1.5, -2.0]");
    n = make_npy(file, 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", bools, sizeof bools);
    assert_file(state, "a.npy", "[bool]", file, n, "[false, true, true]");
    n = make_npy(file, 1, "{'descr': '<i4', 'fortran_order': False, 'shape': ()}", six, 4);
    assert_file(state, "a.npy", "i32", file, n, "1");
    n = make_npy(file, 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (3, 0)}", six, 0);
    assert_file(state, "a.npy", "[[i32]]", file, n, "[[], [], []]");
}

static void test_npy_refused(void **state)
{
    static const struct {
        const char *header, *message;
    } bad[] = {
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "larger than the file"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999,1)}", "too large"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1000000000000, 0)}", "larger than the file"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2)}", "the file is larger"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (2, 4)}", "larger than the file"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (2 4)}", "malformed shape"},
        {"{'descr': '<i4', 'fortran_order': False}", "incomplete"},
        {"{'descr': '>i8', 'fortran_order': False, 'shape': (2, 3)}", "found '>i8'"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (2, 3)}", "found '<c16'"},
        {"{'descr': [('x', '<i4')], 'fortran_order': False, 'shape': (2, 3)}", "a string is missing"},
        {"{'descr': '<i4", "unterminated"},
        {"", "malformed header"},
        {"{'descr': '', 'fortran_order': False, 'shape': (2, 3)}", "found ''"},
    };
    char file[512];
    const int32_t six[] = {1, 2, 3, 4, 5, 6};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t n = make_npy(file, 1, bad[i].header, six, sizeof six);
        assert_file_refused(state, "a.npy", "[[i32]]", file, n, bad[i].message);
    }
}

/* Writes `text` as type to a file of that name, reads it back. */
static void assert_file_round_trip(void **state, const char *name, const char *type, const char *text)
{
    char path[128];
    file_name(path, sizeof path, state, name);
    Value v = read_string(type, text), back = {.type = dp_type_parse(type)};
    assert_true(v.ok);
    assert_true(dp_write_file(path, v.type, v.leaves, v.error, sizeof v.error));
    back.ok = dp_read_file(path, back.type, back.leaves, back.error, sizeof back.error);
    if (!back.ok)
        fail_msg("%s: %s", name, back.error);
    assert_true(dp_leaves_equal(v.type, v.leaves, back.leaves, 0));
    unlink(path);
    free_value(&v);
    free_value(&back);
}

static void test_files(void **state)
{
    static const char *const scalars[] = {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"};
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        char type[16];
        snprintf(type, sizeof type, "[[%s]]", scalars[i]);
        assert_file_round_trip(state, "x.npy", type,
                               i == 0 ? "[[true, false], [false, true]]" : "[[1, 2, 3], [4, 5, 100]]");
        assert_file_round_trip(state, "x.npy", type, "[]");
    }
    assert_file_round_trip(state, "x.npy", "f64", "2.5");
    assert_file_round_trip(state, "x.npy", "[[[[f32]]]]", "[[[[1], [2]]], [[[3], [4]]]]");
    assert_file_round_trip(state, "x.in", "[([u8], f32)]", "[(\"a\", 0.1)]");
    char path[128];
    file_name(path, sizeof path, state, "y.npy");
    Value v = read_string("[[i32]]", "[[1], [2, 3]]");
    assert_false(dp_write_file(path, v.type, v.leaves, v.error, sizeof v.error));
    assert_non_null(strstr(v.error, "differ in length"));
    assert_int_equal(access(path, F_OK), -1);
    assert_false(dp_write_file("/nowhere/at/all", v.type, v.leaves, v.error, sizeof v.error));
    assert_true(dp_write_file("/dev/null", v.type, v.leaves, v.error, sizeof v.error));
    free_value(&v);
    assert_file_refused(state, "z.txt", "i32", "1 2", 3, ":1:3: expected the end of the input, found 2");
    v = (Value){.type = dp_type_parse("i32")};
    assert_false(dp_read_file("/nowhere.in", v.type, v.leaves, v.error, sizeof v.error));
    assert_string_equal(v.error, "/nowhere.in: No such file or directory");
    assert_false(dp_read_file("/tmp", v.type, v.leaves, v.error, sizeof v.error));
    free_value(&v);
}

#define MTX(text) (text), sizeof(text) - 1

static void test_mtx(void **state)
{
    static const char real[] =
        "%%MatrixMarket matrix coordinate real general\n% c\n\n 3 4 4\n3 1 2.5\n1 4 1\n1 2 -1e1\n3 1 7\n";
    assert_file(state, "m.mtx", "[[(i32, f32)]]", MTX(real), "[[(1, -10.0), (3, 1.0)], [], [(0, 2.5), (0, 7.0)]]");
    assert_file_refused(state, "m.mtx", "[[(i32, i32)]]", MTX(real), "real numbers, but i32 are wanted");
    assert_file_refused(state, "m.mtx", "[[f32]]", MTX(real), "coordinate format gives rows");
    static const char pattern[] = "%%MatrixMarket MATRIX Coordinate pattern symmetric\r\n2 2 2\r\n1 1\r\n2 1";
    assert_file(state, "m.mtx", "[[(u8, i64)]]", MTX(pattern), "[[(0, 1), (1, 1)], [(0, 1)]]");
    assert_file(state, "m.mtx", "[[(u8, f64)]]", MTX(pattern), "[[(0, 1.0), (1, 1.0)], [(0, 1.0)]]");
    static const char skew[] = "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n3 1 5\n";
    assert_file(state, "m.mtx", "[[(i64, i16)]]", MTX(skew), "[[(2, -5)], [], [(0, 5)]]");
    assert_file(state, "m.mtx", "[[(i64, f64)]]", MTX(skew), "[[(2, -5.0)], [], [(0, 5.0)]]");
    static const char array[] = "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n";
    assert_file(state, "m.mtx", "[[f64]]", MTX(array), "[[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]");
    static const char triangle[] = "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3";
    assert_file(state, "m.mtx", "[[u16]]", MTX(triangle), "[[1, 2], [2, 3]]");
    static const char strict[] = "%%MatrixMarket matrix array integer skew-symmetric\n2 2\n7\n";
    assert_file(state, "m.mtx", "[[i8]]", MTX(strict), "[[0, -7], [7, 0]]");
}

static void test_mtx_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "does not begin"},
        {"%%MatrixMarket matrix coordinate complex general\n1 1 0\n",
         ":1:34: expected real, integer or pattern, found complex"},
        {"%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n", "found hermitian"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n", ":3:3: entry (3, 1) lies outside"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n", "lies outside"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n% a comment, longer\n", "the file ends early"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n1 2 1\n", "more entries than promised"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 x\n", ":3:5: expected a number, found x"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1\n%      \n", "found the end of the line"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 99999999999\n1 1 1\n", "larger than the file"},
        {"%%MatrixMarket matrix coordinate real general\n9999999999999 2 1\n1 1 1\n", "larger than the file"},
        {"%%MatrixMarket matrix coordinate real general\n2 99999999999999999999 1\n1 1 1\n",
         ":2:3: 99999999999999999999 is out of the range of u64"},
        {"%%MatrixMarket matrix coordinate real general\n2 3000000000 1\n1 1 1\n", "too many for indices of type i32"},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n", "must be square"},
        {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n", "diagonal"},
        {"%%MatrixMarket vector coordinate real general\n", "expected matrix"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_file_refused(state, "m.mtx", "[[(i32, f64)]]", bad[i].text, strlen(bad[i].text), bad[i].message);
    static const char big[] = "%%MatrixMarket matrix array real general\n4294967296 4294967296\n1\n";
    assert_file_refused(state, "m.mtx", "[[f64]]", MTX(big), "larger than the file");
    static const char range[] = "%%MatrixMarket matrix array integer general\n1 1\n300\n";
    assert_file_refused(state, "m.mtx", "[[u8]]", MTX(range), "out of the range of u8");
}

/* ---- arguments ---- */

static void test_arguments(void **state)
{
    (void)state;
    static const char *const files[] = {"a.npy", "1.in", "./1", "data", "x/y"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_true(dp_arg_is_file(files[i]));
    static const char *const literals[] = {"[1]",  "1",      "-1",      "1.5", "true",      "nan",
                                           "-inf", "(1, 2)", "{x = 1}", "#a",  "\"a.npy\"", "'c'"};
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++)
        assert_false(dp_arg_is_file(literals[i]));
    static const char *const options[] = {"-o", "--entry", "-r", "--profile"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        assert_true(dp_arg_is_option(options[i]));
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++)
        assert_false(dp_arg_is_option(literals[i]));
    assert_false(dp_arg_is_option("-"));
    assert_false(dp_arg_is_option("--"));
    DpType *ints = dp_type_parse("[i32]"), *flag = dp_type_parse("bool");
    DpLeaf a[1], b[1];
    DpParam params[] = {{"xs", ints, a, false}, {"go", flag, b, false}};
    char error[ERROR_BYTES];
    char *good[] = {(char[]){"[1, 2]"}, (char[]){"true"}, (char[]){"3"}};
    assert_true(dp_read_args(2, good, params, 2, error, sizeof error));
    assert_int_equal(a[0].ndata, 2);
    dp_leaves_free(a, 1);
    dp_leaves_free(b, 1);
    assert_false(dp_read_args(3, good, params, 2, error, sizeof error));
    assert_string_equal(error, "too many arguments: 3 given, 2 wanted: (xs: [i32]) (go: bool)");
    char *bad[] = {(char[]){"[1]"}, (char[]){"[true]"}};
    assert_false(dp_read_args(2, bad, params, 2, error, sizeof error));
    assert_string_equal(error, "argument go:1:1: expected true or false, found [ (go: bool)");
    char *two[] = {(char[]){"[1] [2]"}, (char[]){"true"}};
    assert_false(dp_read_args(2, two, params, 2, error, sizeof error));
    assert_non_null(strstr(error, "one value"));
    dp_type_free(ints);
    dp_type_free(flag);
}

/* ---- mutated inputs: an error or a value, never a crash ---- */

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static size_t mutate(char *bytes, size_t n, size_t cap, uint64_t *seed)
{
    static const char likely[] = "[](){}#\"'-=,.0123456789exinfat \n%<\\\x00\xff\x80";
    for (uint32_t k = next_random(seed) % 4 + 1; k > 0; k--) {
        size_t at = n ? next_random(seed) % n : 0;
        switch (next_random(seed) % 4) {
        case 0:
            if (n)
                bytes[at] = likely[next_random(seed) % sizeof likely];
            break;
        case 1:
            if (n < cap) {
                memmove(bytes + at + 1, bytes + at, n - at);
                bytes[at] = likely[next_random(seed) % sizeof likely];
                n++;
            }
            break;
        case 2:
            if (n) {
                memmove(bytes + at, bytes + at + 1, n - at - 1);
                n--;
            }
            break;
        default: n = next_random(seed) % 8 ? n : at; break;
        }
    }
    return n;
}

/* Reads exactly n bytes of heap memory, so that the sanitizer sees any access behind them. */
static void feed(const char *name, const char *type, const char *bytes, size_t n, void **state)
{
    if (name) {
        Value v = read_file_of(state, name, type, bytes, n);
        if (!v.ok)
            assert_non_null(strstr(v.error, name));
        free_value(&v);
        return;
    }
    char *copy = malloc(n ? n : 1);
    memcpy(copy, bytes, n);
    Value v = read_bytes(type, copy, n);
    free(copy);
    if (v.ok) {
        char *text = written(v.type, v.leaves);
        Value again = read_string(type, text);
        assert_true(again.ok);
        assert_true(dp_leaves_equal(v.type, v.leaves, again.leaves, 0));
        free(text);
        free_value(&again);
    }
    free_value(&v);
}

static void test_mutated(void **state)
{
    static const char fortran[] =
        "\x93NUMPY\x01\x00\x3c\x00{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }   \n"
        "\x01\0\0\0\x02\0\0\0\x03\0\0\0\x04\0\0\0\x05\0\0\0\x06\0\0";
    static const struct {
        const char *name, *type, *bytes;
        size_t n;
        int rounds;
    } inputs[] = {
        {NULL, "[({x: i32, y: [[u8]]}, bool)]",
         MTX("[({x = 1, y = [\"a\\n\", \"\"]}, true), ({x = 2, y = []}, false)]"), 20000},
        {NULL, "[#leaf [i32] | #node ([i8], f32) | #none]", MTX("[#none, #leaf [1, 2], #node ([3], 1.5e3)]"), 20000},
        {NULL, "[[f64]]", MTX("[[1.5, -nan], [], [-0x1f, 1e300]] -- c\n"), 20000},
        {"m.npy", "[[i32]]", fortran, sizeof fortran, 1500},
        {"m.mtx", "[[(i32, f32)]]",
         MTX("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n3 1 2.5\n1 1 1\n2 2 -1e1\n"), 1500},
        {"m.mtx", "[[u8]]", MTX("%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n"), 1500},
    };
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        for (int round = 0; round < inputs[i].rounds; round++) {
            char bytes[512];
            memcpy(bytes, inputs[i].bytes, inputs[i].n);
            feed(inputs[i].name, inputs[i].type, bytes, mutate(bytes, inputs[i].n, sizeof bytes, &seed), state);
        }
}

static void test_close(void **state)
{
    (void)state;
    assert_true(dp_close(NAN, NAN, 0) && dp_close(INFINITY, INFINITY, 0) && dp_close(1, 1.0625, 0.0625) &&
                dp_close(-2, -2, 0));
    assert_false(dp_close(NAN, 1, 1) || dp_close(1, NAN, 1) || dp_close(INFINITY, 1, 1) || dp_close(1, -INFINITY, 1) ||
                 dp_close(1, 2, 0.25));
    uint64_t lengths[] = {2}, others[] = {3};
    float x[] = {1, 2}, y[] = {1, 3};
    const DpLeaf a = {.scalar = DP_F32, .rank = 1, .lens = {lengths}, .nlens = {1}, .data = x, .ndata = 2};
    DpLeaf b[6];
    for (int i = 0; i < 6; i++)
        b[i] = a;
    b[1].scalar = DP_I32;
    b[2].rank = 0;
    b[3].nlens[0] = 0;
    b[4].lens[0] = others;
    b[5].data = y;
    for (int i = 0; i < 6; i++)
        assert_int_equal(dp_leaf_equal(&a, &b[i], 0), i == 0);
    b[0].ndata = 1; /* with the same lengths: nothing that a reader makes */
    assert_false(dp_leaf_equal(&a, &b[0], 0));
    DpLeaf empty = {.scalar = DP_I8, .rank = 1};
    assert_true(dp_leaf_equal(&empty, &empty, 0));
}

static void test_mutated_types(void **state)
{
    (void)state;
    static const char source[] = "(i32, [(f64, [u8])], (), {b: i8, a: [bool]}, #y | #x (i16, [n]f32))";
    uint64_t seed = 3;
    for (int round = 0; round < 20000; round++) {
        char text[256];
        memcpy(text, source, sizeof source);
        size_t n = mutate(text, sizeof source - 1, sizeof text - 1, &seed);
        text[n] = '\0';
        dp_type_free(dp_type_parse(text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_composites),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_float_bits),
        cmocka_unit_test(test_million_floats),
        cmocka_unit_test(test_several_values),
        cmocka_unit_test(test_equality),
        cmocka_unit_test(test_close),
        cmocka_unit_test_setup_teardown(test_npy_read, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_npy_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_files, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_mtx, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_mtx_refused, make_folder, remove_folder),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test_setup_teardown(test_mutated, make_folder, remove_folder),
        cmocka_unit_test(test_mutated_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
