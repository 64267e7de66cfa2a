/* Files in every format: round trips, files made elsewhere, wrong files, damaged files. */
#include "../../runtime/values/values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_LEAVES = 16, ERROR_BYTES = 512 };

typedef struct Value {
    DpType *type;
    DpLeaf leaves[MAX_LEAVES];
    bool ok;
    char error[ERROR_BYTES];
} Value;

/* ---- helpers ---- */

static Value value_of(const char *type, const char *text)
{
    Value v = {.type = dp_type_parse(type)};
    assert_non_null(v.type);
    assert_true(dp_type_leaves(v.type) <= MAX_LEAVES);
    DpReader r = {"text", text, strlen(text), 0};
    v.ok = dp_read_text(&r, v.type, v.leaves, v.error, sizeof v.error);
    if (!v.ok || !dp_reader_done(&r))
        fail_msg("%s: %s", text, v.error);
    return v;
}

static void free_value(Value *v)
{
    dp_leaves_free(v->leaves, dp_type_leaves(v->type));
    dp_type_free(v->type);
}

static const DpFormat *format_of(const char *name)
{
    bool known;
    const DpFormat *format = dp_format_of(name, &known);
    assert_true(known);
    return format;
}

/* Reads exactly n bytes of memory, so that the sanitizer sees any access behind them. */
static Value read_bytes(const char *name, const char *type, const void *bytes, size_t n)
{
    Value v = {.type = dp_type_parse(type)};
    char *copy = malloc(n ? n : 1);
    memcpy(copy, bytes, n);
    v.ok = format_of(name)->read(name, copy, n, v.type, v.leaves, (DpError){v.error, sizeof v.error, NULL});
    free(copy);
    return v;
}

/* The bytes of a file in memory; NULL if it cannot be written. */
static char *write_bytes(const char *name, Value *v, size_t *n)
{
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, n);
    bool ok = format_of(name)->write(out, v->type, v->leaves, (DpError){v->error, sizeof v->error, NULL});
    fclose(out);
    if (ok)
        return bytes;
    free(bytes);
    return NULL;
}

static void assert_round_trip(const char *name, const char *type, const char *text)
{
    Value v = value_of(type, text);
    size_t n;
    char *bytes = write_bytes(name, &v, &n);
    if (!bytes)
        fail_msg("%s: %s as %s: %s", name, text, type, v.error);
    Value back = read_bytes(name, type, bytes, n);
    if (!back.ok)
        fail_msg("%s: %s as %s: %s", name, text, type, back.error);
    if (!dp_leaves_equal(v.type, v.leaves, back.leaves, 0))
        fail_msg("%s: %s as %s comes back as another value", name, text, type);
    free(bytes);
    free_value(&v);
    free_value(&back);
}

static void assert_writes(const char *name, const char *type, const char *text, const char *expected)
{
    Value v = value_of(type, text);
    size_t n;
    char *bytes = write_bytes(name, &v, &n);
    assert_non_null(bytes);
    assert_string_equal(bytes, expected);
    free(bytes);
    free_value(&v);
}

static void assert_not_written(const char *name, const char *type, const char *text, const char *message)
{
    Value v = value_of(type, text);
    size_t n;
    assert_null(write_bytes(name, &v, &n));
    if (!strstr(v.error, message))
        fail_msg("%s: the message is: %s", name, v.error);
    free_value(&v);
}

static void assert_reads_bytes(const char *name, const char *type, const void *bytes, size_t n, const char *expected)
{
    Value v = read_bytes(name, type, bytes, n), want = value_of(type, expected);
    if (!v.ok)
        fail_msg("%s: %s", name, v.error);
    assert_true(dp_leaves_equal(v.type, v.leaves, want.leaves, 0));
    free_value(&v);
    free_value(&want);
}

static void assert_reads(const char *name, const char *type, const char *text, const char *expected)
{
    assert_reads_bytes(name, type, text, strlen(text), expected);
}

static void assert_refused_bytes(const char *name, const char *type, const void *bytes, size_t n, const char *message)
{
    Value v = read_bytes(name, type, bytes, n);
    assert_false(v.ok);
    if (!strstr(v.error, message))
        fail_msg("the message is: %s", v.error);
    free_value(&v);
}

static void assert_refused(const char *name, const char *type, const char *text, const char *message)
{
    assert_refused_bytes(name, type, text, strlen(text), message);
}

static const char *const scalar_types[] = {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"};
enum { SCALARS = sizeof scalar_types / sizeof *scalar_types };

/* Two values of each type, the extreme ones. */
static const char *const extremes[SCALARS][2] = {{"true", "false"},
                                                 {"-128", "127"},
                                                 {"-32768", "32767"},
                                                 {"-2147483648", "2147483647"},
                                                 {"-9223372036854775808", "9223372036854775807"},
                                                 {"0", "255"},
                                                 {"0", "65535"},
                                                 {"0", "4294967295"},
                                                 {"0", "18446744073709551615"},
                                                 {"-3.4028235e38", "1e-45"},
                                                 {"-1.7976931348623157e308", "5e-324"}};

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* ---- types and checksums ---- */

static void test_types(void **state)
{
    (void)state;
    static const char *const types[] = {"i32",
                                        "[[f64]]",
                                        "()",
                                        "(i32,)",
                                        "(i32, [(f64, [u8])])",
                                        "{}",
                                        "{a: i8, b: [bool]}",
                                        "#a i32 | #b",
                                        "[#a (#c [u8] | #d) | #b (i32, #e)]"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        DpType *t = dp_type_parse(types[i]);
        char *text = dp_type_print(t, false);
        DpType *again = dp_type_parse(text);
        assert_non_null(again);
        assert_true(dp_type_equal(t, again));
        if (i > 0) {
            DpType *other = dp_type_parse(types[i - 1]);
            assert_false(dp_type_equal(t, other));
            dp_type_free(other);
        }
        free(text);
        dp_type_free(t);
        dp_type_free(again);
    }
}

static uint32_t crc_of(const void *bytes, size_t n)
{
    DpCrc crc;
    dp_crc_begin(&crc);
    dp_crc_add(&crc, bytes, n);
    return dp_crc_end(&crc);
}

static void test_crc(void **state)
{
    (void)state;
    DpCrc crc;
    dp_crc_begin(&crc);
    dp_crc_add(&crc, "1234", 4);
    dp_crc_add(&crc, "56789", 5);
    assert_int_equal(dp_crc_end(&crc), 0xcbf43926u); /* the standard's example */
    assert_int_equal(crc_of("123456789", 9), 0xcbf43926u);
    assert_int_equal(crc_of("", 0), 0);
    assert_int_equal(crc_of("The quick brown fox jumps over the lazy dog", 43), 0x414fa339u);
}

/* ---- .csv ---- */

static void test_csv_read(void **state)
{
    (void)state;
    assert_reads("a.csv", "[(i32, f64)]", "1,2.5\r\n-3 , 1e3\n", "[(1, 2.5), (-3, 1000)]");
    assert_reads("a.csv", "[(i32, f64)]", "\n1,+2.5\n\n\r\n3,nan\r", "[(1, 2.5), (3, nan)]");
    assert_reads("a.csv", "[(i32, f64)]", "", "[]");
}

static void test_csv_records(void **state)
{
    (void)state;
    static const char animals[] = "name,size,big\nmouse,0.07,false\n\"elephant, \"\"grey\"\"\n\",3.3,TRUE\n,\"1\",0";
    assert_reads(
        "a.csv", "[{name: [u8], size: f32, big: bool}]", animals,
        "[{name = \"mouse\", size = 0.07, big = false}, {name = \"elephant, \\\"grey\\\"\\n\", size = 3.3, big = true},"
        " {name = \"\", size = 1, big = false}]");
    assert_reads("a.csv", "[{x: i32, y: i32}]", "\xef\xbb\xbf\"y\", x \r\n1,2\r\n", "[{x = 2, y = 1}]");
    assert_reads("a.csv", "[{x: i32, y: i32}]", "x,y", "[]");
    assert_reads("a.csv", "[i64]", "1\n2\n\n3", "[1, 2, 3]");
    assert_reads("a.csv", "[[u8]]", "a b\n\"\"\n\nc", "[\"a b\", \"\", \"c\"]");
    assert_reads("a.csv", "[([u8], [u8])]", ",\na\rb, c \n", "[(\"\", \"\"), (\"a\\rb\", \" c \")]");
}

static void test_csv_refused(void **state)
{
    (void)state;
    assert_refused("a.csv", "[(i32, f64)]", "1,2\n3,x\n", "a.csv:2: column 2: expected a number of type f64, found x");
    assert_refused("a.csv", "[(i32, f64)]", "1,\n", "a.csv:1: column 2: expected a number of type f64, found nothing");
    assert_refused("a.csv", "[(i32, f64)]", "\n\n1\n", "a.csv:3: the line ends after 1 of 2 columns");
    assert_refused("a.csv", "[(i32, f64)]", "1,2,3\n", "a.csv:1: more than 2 columns");
    assert_refused("a.csv", "[i32]", "1,\n", "more than 1 column");
    assert_refused("a.csv", "[i8]", "1\n300", "a.csv:2: column 1: the number is out of the range of i8");
    assert_refused("a.csv", "[i8]", "1.5", "expected a number of type i8, found 1.5");
    assert_refused("a.csv", "[bool]", "yes", "expected true or false, found yes");
    assert_refused("a.csv", "[([u8], i32)]", "\"a\nb\n,1", "a.csv:1: column 1: the closing quote is missing");
    assert_refused("a.csv", "[([u8], i32)]", "\"a\nb\",1\n\"a\"b,1", "a.csv:3: column 1: expected a comma");
    assert_refused("a.csv", "[[u8]]", "a\"b\"", "a quote stands inside a field");
    assert_refused("a.csv", "[{x: i32, y: i32}]", "", "a.csv:1: the header line is missing");
    assert_refused("a.csv", "[{x: i32, y: i32}]", "x,x\n", "column 2: the field stands twice");
    assert_refused("a.csv", "[{x: i32, y: i32}]", "x,z\n", "a.csv:1: there is no column y");
    assert_refused("a.csv", "[{x: i32, y: i32}]", "\nx\n", "a.csv:2: there is no column y");
    assert_refused("a.csv", "[{x: i32, y: i32}]", "x,y\n1,2\n3", "a.csv:3: the line ends");
    static const char *const types[] = {"i32",
                                        "[[[i32]]]",
                                        "[[#none | #some i8]]",
                                        "[(i32, [i32])]",
                                        "[(#none | #some [i8], i8)]",
                                        "[#none | #some (i8, i8)]",
                                        "[()]",
                                        "[#a | #b]",
                                        "[((i32, i32), i32)]",
                                        "(i32, i32)"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        assert_refused("a.csv", types[i], "1,2", "a .csv file holds");
    assert_not_written("a.csv", "[[[i32]]]", "[[[1]]]", "a .csv file holds");
}

static void test_csv_written(void **state)
{
    (void)state;
    assert_writes("a.csv", "[{x: f64, name: [u8], b: bool}]",
                  "[{x = 0.1, name = \"a,b\", b = true}, {x = -inf, name = \"\", b = false}]",
                  "x,name,b\n0.1,\"a,b\",true\n-inf,,false\n");
    assert_writes("a.csv", "[{x: f64}]", "[]", "x\n");
    assert_writes("a.csv", "[[u8]]", "[\"\", \"say \\\"hi\\\"\"]", "\"\"\n\"say \"\"hi\"\"\"\n");
    for (size_t i = 0; i < SCALARS; i++) {
        char type[32], text[160];
        snprintf(type, sizeof type, "[%s]", scalar_types[i]);
        snprintf(text, sizeof text, "[%s, %s]", extremes[i][0], extremes[i][1]);
        assert_round_trip("a.csv", type, text);
        snprintf(type, sizeof type, "[([u8], %s)]", scalar_types[i]);
        snprintf(text, sizeof text, "[(\"a\\n\\r\\\"\\x00,\\xff\", %s), (\"\", %s)]", extremes[i][0], extremes[i][1]);
        assert_round_trip("a.csv", type, text);
    }
    assert_round_trip(
        "a.csv", "[[u8]]",
        "[\"\\x00\\x00\\xfe\\xff\", \"\", \"\\xef\\xbb\\xbf\", \"\\r\", \"\\n\\n\", \" \", \"\\\"\", \"a\\r\"]");
    assert_round_trip("a.csv", "[[u8]]", "[\"\\xff\\xfe\"]");
    assert_round_trip("a.csv", "[[u8]]", "[\"\\xfe\\xff\"]");
    assert_round_trip("a.csv", "[f64]", "[nan, inf, -inf, 0.30000000000000004, -0.0]");
    assert_round_trip("a.csv", "[(i32,)]", "[(1,), (2,)]");
    assert_round_trip("a.csv", "[(i32, i32)]", "[]");
}

/* ---- images ---- */

static void test_pnm_read(void **state)
{
    (void)state;
    assert_reads("a.pgm", "[[u8]]", "P2 # gray\n# more\n3 2\n255\n0 1 2\n253 254 255\n",
                 "[[0, 1, 2], [253, 254, 255]]");
    assert_reads("a.pgm", "[[u8]]", "P5\n3 2 255\nabcdef", "[\"abc\", \"def\"]");
    assert_reads("a.ppm", "[[(u8, u8, u8)]]", "P3 1 2 255 1 2 3\n4 5 6", "[[(1, 2, 3)], [(4, 5, 6)]]");
    assert_reads("a.ppm", "[2][1](u8, u8, u8)", "P6 1 2 255 abcdef", "[[('a', 'b', 'c')], [('d', 'e', 'f')]]");
    assert_reads("a.pgm", "[[u8]]", "P5 0 2 255\n", "[[], []]");
    assert_reads("a.pgm", "[[u8]]", "P2 5 1 15 0 1 7 8 15", "[[0, 17, 119, 136, 255]]");
    assert_reads("a.pgm", "[[u8]]", "P5 2 1 127\n\x7f\x01", "[[255, 2]]");
    assert_reads("a.ppm", "[[(u8, u8, u8)]]", "P6 1 1 65535\n\x80\x80\xff\xff\x01\x01", "[[(128, 255, 1)]]");
    assert_reads("a.pgm", "[[u8]]", "P2 3 1 65535 65535 32768 128", "[[255, 128, 0]]");
    assert_refused("a.pgm", "[[u8]]", "P6 1 2 255 abcdef", "the image gives [h][w](u8, u8, u8)");
    assert_refused("a.ppm", "[[(u8, u8, u8)]]", "P5 1 2 255 ab", "the image gives [h][w]u8");
    assert_refused("a.pgm", "[[i32]]", "P5 1 2 255 ab", "not this parameter's type");
}

static void test_pnm_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "a.pgm: at byte 0: not an image"},
        {"P7", "not an image"},
        {"P5", "at byte 2: expected the width, found the end of the input"},
        {"P5x", "at byte 2: white space is missing"},
        {"P2\n1\nx 255", "a.pgm:3:1: expected the height, found x"},
        {"P5 2 2 65535 ab", "at byte 13: the sizes are larger than the file"},
        {"P5 1 1 65535 abc", "at byte 13: the file is larger than its sizes"},
        {"P5 1 1 65536 abc", "the largest sample is larger than 65535"},
        {"P5 1 1 0 a", "at byte 8: the largest sample is 0"},
        {"P5 2 1 96 `a", "at byte 11: a sample is larger than the largest one"},
        {"P2 1 1 7 8 ", "a.pgm:1:10: a sample is larger than 7"},
        {"P5 2 2 255", "white space is missing before the samples"},
        {"P5 2 2 255 abc", "at byte 11: the sizes are larger than the file"},
        {"P5 2 2 255 abcde", "at byte 11: the file is larger than its sizes"},
        {"P5 4294967295 4294967295 255 abcde", "the sizes are larger than the file"},
        {"P5 4294967296 1 255 abcde", "the width is larger than 4294967295"},
        {"P5 99999999999999999999999 1 255 abcde", "at byte 3: the width is larger"},
        {"P5 0 4294967295 255 ", "the sizes are larger than the file"},
        {"P2 2 2 255 1 2 3", "a.pgm:1:11: the sizes are larger than the file"},
        {"P2 2 1 255 1 256\n", "a.pgm:1:14: a sample is larger than 255"},
        {"P2 2 1 255\n1 \n-1\n", "a.pgm:3:1: expected a sample, found -1"},
        {"P2 2 1 255 1 2 3", "there is more than the samples"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused("a.pgm", "[[u8]]", bad[i].text, bad[i].message);
}

static void test_pnm_written(void **state)
{
    (void)state;
    assert_writes("a.pgm", "[[u8]]", "[\"abc\", \"def\"]", "P5\n3 2\n255\nabcdef");
    assert_writes("a.ppm", "[[(u8, u8, u8)]]", "[[('a', 'b', 'c')]]", "P6\n1 1\n255\nabc");
    assert_round_trip("a.pgm", "[[u8]]", "[]");
    assert_round_trip("a.pgm", "[[u8]]", "[[], []]");
    assert_round_trip("a.pgm", "[[u8]]", "[[0, 10, 35], [13, 32, 255]]");
    assert_round_trip("a.ppm", "[[(u8, u8, u8)]]", "[[(0, 1, 2), (35, 10, 255)]]");
    assert_not_written("a.pgm", "[[u8]]", "[[1], [1, 2]]", "differ in length");
    assert_not_written("a.pgm", "[[(u8, u8, u8)]]", "[]", "a .pgm file holds [h][w]u8");
    assert_not_written("a.ppm", "[[u8]]", "[]", "a .ppm file holds");
}

static bool have_png(void)
{
    Value v = read_bytes("a.png", "[[u8]]", "", 0);
    bool missing = strstr(v.error, "without libspng") != NULL;
    free_value(&v);
    return !missing;
}

/* A palette of two colours with transparency, interlaced; 16 bits gray. */
static const uint8_t palette_png[] = {
    0x89, 'P', 'N',  'G', 13, 10,  26,  10,  0,   0,    0, 13,  'I', 'H', 'D',  'R',  0,   0,   0,   2,    0,
    0,    0,   1,    1,   3,  0,   0,   1,   0,   0,    0, 0,   0,   0,   0,    6,    'P', 'L', 'T', 'E',  255,
    0,    0,   1,    2,   3,  0,   0,   0,   0,   0,    0, 0,   1,   't', 'R',  'N',  'S', 7,   0,   0,    0,
    0,    0,   0,    0,   15, 'I', 'D', 'A', 'T', 0x78, 1, 1,   4,   0,   0xfb, 0xff, 0,   0,   0,   0x80, 0,
    0x84, 0,   0x81, 0,   0,  0,   0,   0,   0,   0,    0, 'I', 'E', 'N', 'D',  0,    0,   0,   0};
static const uint8_t deep_png[] = {
    0x89, 'P',  'N',  'G', 13,   10, 26,   10, 0, 0, 0, 13, 'I', 'H', 'D', 'R', 0,   0,    0,   1, 0, 0, 0,    1,
    16,   0,    0,    0,   0,    0,  0,    0,  0, 0, 0, 0,  14,  'I', 'D', 'A', 'T', 0x78, 1,   1, 3, 0, 0xfc, 0xff,
    0,    0x81, 0x23, 1,   0x28, 0,  0xa5, 0,  0, 0, 0, 0,  0,   0,   0,   'I', 'E', 'N',  'D', 0, 0, 0, 0};

/* Makes the chunks' checksums right, as far as there are whole chunks. */
static void repair_png(uint8_t *b, size_t n)
{
    for (size_t at = 8; n >= 12 && at <= n - 12;) {
        size_t length = (size_t)b[at] << 24 | (size_t)b[at + 1] << 16 | (size_t)b[at + 2] << 8 | b[at + 3];
        if (length > n - at - 12)
            return;
        uint32_t sum = crc_of(b + at + 4, length + 4);
        for (size_t i = 0; i < 4; i++)
            b[at + 8 + length + i] = (uint8_t)(sum >> (24 - 8 * i));
        at += length + 12;
    }
}

static void test_png(void **state)
{
    (void)state;
    if (!have_png()) {
        assert_not_written("a.png", "[[u8]]", "[[1]]", "without libspng");
        skip();
    }
    assert_round_trip("a.png", "[[u8]]", "[[0, 1, 2], [253, 254, 255]]");
    assert_round_trip("a.png", "[[(u8, u8, u8)]]",
                      "[[(0, 1, 2), (35, 10, 255)], [(1, 2, 3), (4, 5, 6)], [(7, 8, 9), (0, 0, 0)]]");
    assert_not_written("a.png", "[[u8]]", "[]", "cannot hold an image of 0 by 0");
    assert_not_written("a.png", "[[u8]]", "[[1], [1, 2]]", "differ in length");
    assert_not_written("a.png", "[u8]", "[]", "a .png file holds");
    uint8_t b[sizeof palette_png];
    memcpy(b, palette_png, sizeof b);
    repair_png(b, sizeof b);
    assert_reads_bytes("a.png", "[[(u8, u8, u8)]]", b, sizeof b, "[[(255, 0, 0), (1, 2, 3)]]");
    assert_reads_bytes("a.png", "[[u8]]", b, sizeof b, "[[76, 2]]");
    memcpy(b, deep_png, sizeof deep_png);
    repair_png(b, sizeof deep_png);
    assert_reads_bytes("a.png", "[[(u8, u8, u8)]]", b, sizeof deep_png, "[[(129, 129, 129)]]");
    assert_reads_bytes("a.png", "[[u8]]", b, sizeof deep_png, "[[129]]");
}

static void test_png_refused(void **state)
{
    (void)state;
    if (!have_png())
        skip();
    uint8_t b[sizeof palette_png];
    memcpy(b, palette_png, sizeof b);
    repair_png(b, sizeof b);
    for (size_t n = 0; n < sizeof b; n++)
        assert_refused_bytes("a.png", "[[u8]]", b, n, "a.png: at byte ");
    assert_refused_bytes("a.png", "[u8]", b, sizeof b, "not this parameter's type");
    assert_refused_bytes("a.png", "[[u8]]", b, 40, "at byte 33: the file is cut off");
    b[42] ^= 1;
    assert_refused_bytes("a.png", "[[u8]]", b, sizeof b, "at byte 33: the chunk is damaged");
    b[42] ^= 1;
    b[16] = 0x7f;
    repair_png(b, sizeof b);
    assert_refused_bytes("a.png", "[[u8]]", b, sizeof b, "at byte 8: ");
    b[16] = 0;
    b[20] = 0x40;
    repair_png(b, sizeof b);
    assert_refused_bytes("a.png", "[[u8]]", b, sizeof b, "at byte 8: the sizes are larger than the file can hold");
    b[20] = 0;
    b[75] ^= 0x55;
    repair_png(b, sizeof b);
    assert_refused_bytes("a.png", "[[u8]]", b, sizeof b, "a.png: at byte ");
}

/* ---- .dpv ---- */

static void test_dpv(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCALARS; i++) {
        char type[32], text[160];
        assert_round_trip("a.dpv", scalar_types[i], extremes[i][0]);
        snprintf(type, sizeof type, "[[%s]]", scalar_types[i]);
        snprintf(text, sizeof text, "[[%s, %s, %s], [], [%s]]", extremes[i][0], extremes[i][1], extremes[i][0],
                 extremes[i][1]);
        assert_round_trip("a.dpv", type, text);
    }
    assert_round_trip("a.dpv", "()", "()");
    assert_round_trip("a.dpv", "[()]", "[(), ()]");
    assert_round_trip("a.dpv", "[[[i32]]]", "[]");
    assert_round_trip("a.dpv", "[f64]", "[nan, -inf, -0.0]");
    assert_round_trip("a.dpv", "[({x: i32, y: [[u8]]}, bool)]",
                      "[({x = 1, y = [\"a\", \"\"]}, true), ({x = 2, y = []}, false)]");
    assert_round_trip("a.dpv", "[#leaf [i32] | #node ([i8], f32) | #nothing]",
                      "[#nothing, #leaf [1, 2], #node ([3], 1.5), #leaf []]");
    assert_round_trip("a.dpv", "[[[(u8, [f32])]]]", "[[], [[], [(1, [1.0, 2.0]), (2, [])]]]");
}

/* The example of docs/values.md. */
static const uint8_t example_dpv[] = {0x89, 'D', 'P', 'V', 13,  10,  26,  10,   1,    0, 0, 0, 7, 0, 0,
                                      0,    '[', '[', 'i', '1', '6', ']', ']',  0,    2, 0, 0, 0, 0, 0,
                                      0,    0,   2,   0,   0,   0,   0,   0,    0,    0, 1, 0, 0, 0, 0,
                                      0,    0,   0,   1,   0,   2,   0,   0xff, 0xff, 0, 0, 0, 0, 0, 0};

static void repair_dpv(uint8_t *b, size_t n)
{
    if (n < 4)
        return;
    uint32_t sum = crc_of(b, n - 4);
    for (size_t i = 0; i < 4; i++)
        b[n - 4 + i] = (uint8_t)(sum >> 8 * i);
}

static void assert_dpv_damaged(const char *type, size_t at, uint8_t byte, const char *message)
{
    uint8_t b[sizeof example_dpv];
    memcpy(b, example_dpv, sizeof b);
    b[at] = byte;
    repair_dpv(b, sizeof b);
    assert_refused_bytes("a.dpv", type, b, sizeof b, message);
}

static void test_dpv_bytes(void **state)
{
    (void)state;
    uint8_t b[sizeof example_dpv + 1];
    memcpy(b, example_dpv, sizeof example_dpv);
    repair_dpv(b, sizeof example_dpv);
    Value v = value_of("[[i16]]", "[[1, 2], [-1]]");
    size_t n;
    char *bytes = write_bytes("a.dpv", &v, &n);
    assert_int_equal(n, sizeof example_dpv);
    assert_memory_equal(bytes, b, n);
    free(bytes);
    free_value(&v);
    assert_reads_bytes("a.dpv", "[[i16]]", b, n, "[[1, 2], [-1]]");
    for (size_t cut = 0; cut < n; cut++)
        assert_refused_bytes("a.dpv", "[[i16]]", b, cut, "a.dpv: at byte ");
    assert_refused_bytes("a.dpv", "[[u16]]", b, n,
                         "at byte 16: expected a value of type [[u16]], found one of type [[i16]]");
    b[50] ^= 4;
    assert_refused_bytes("a.dpv", "[[i16]]", b, n, "a.dpv: at byte 56: the file is damaged: its checksum is wrong");
    assert_dpv_damaged("[[i16]]", 0, 'x', "at byte 0: not a .dpv file");
    assert_dpv_damaged("[[i16]]", 8, 2, "at byte 8: unknown version");
    assert_dpv_damaged("[[i16]]", 15, 255, "at byte 12: the type's text is larger");
    assert_dpv_damaged("[[i16]]", 18, 'j', "at byte 16: malformed type");
    assert_dpv_damaged("[[i16]]", 23, 1, "at byte 23: expected a zero");
    assert_dpv_damaged("[[i16]]", 31, 0x80, "at byte 24: the length is larger than the file");
    assert_dpv_damaged("[[i16]]", 24, 20, "at byte 32: the file is cut off");
    assert_dpv_damaged("[[i16]]", 40, 3, "at byte 48: the file is cut off");
    assert_dpv_damaged("[[i16]]", 55, 1, "at byte 55: expected a zero");
}

/* Leaves that do not fit together must not come in. */
static void test_dpv_together(void **state)
{
    (void)state;
    Value v = value_of("[(i64, #a [u8] | #b)]", "[(1, #a \"x\"), (2, #b)]");
    size_t n;
    uint8_t *b = (uint8_t *)write_bytes("a.dpv", &v, &n);
    const size_t data = 16 + 24; /* header, type */
    assert_memory_equal(b + data, "\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\1\0\0", 36);
    b[data + 33] = 2;
    repair_dpv(b, n);
    assert_refused_bytes("a.dpv", "[(i64, #a [u8] | #b)]", b, n, "constructor's number is too large");
    b[data + 33] = 1;
    b[data + 24] = 1; /* one tag for two elements; the padding hides the other */
    b[data + 33] = 0;
    repair_dpv(b, n);
    assert_refused_bytes("a.dpv", "[(i64, #a [u8] | #b)]", b, n, "differ in their lengths of level 0");
    free(b);
    free_value(&v);
    v = value_of("[bool]", "[true]");
    b = (uint8_t *)write_bytes("a.dpv", &v, &n);
    b[n - 4 - 8] = 2;
    repair_dpv(b, n);
    assert_refused_bytes("a.dpv", "[bool]", b, n, "at byte 32: a bool is neither 0 nor 1");
    free(b);
    free_value(&v);
    v = value_of("[#a [()] | #b]", "[#b, #a [()]]");
    b = (uint8_t *)write_bytes("a.dpv", &v, &n);
    b[n - 4 - 8] = 1;
    repair_dpv(b, n);
    assert_refused_bytes("a.dpv", "[#a [()] | #b]", b, n, "leaf 1: a unit is not 0");
    free(b);
    free_value(&v);
}

/* ---- .mtx, .npy ---- */

static void test_mtx_written(void **state)
{
    (void)state;
    assert_writes("a.mtx", "[[(i32, f64)]]", "[[(1, 0.5)], [], [(0, -2), (3, 1e300)]]",
                  "%%MatrixMarket matrix coordinate real general\n3 4 3\n1 2 0.5\n3 1 -2.0\n3 4 1e300\n");
    assert_writes("a.mtx", "[[u8]]", "[[1, 2], [3, 4]]",
                  "%%MatrixMarket matrix array integer general\n2 2\n1\n3\n2\n4\n");
    for (size_t i = 1; i < SCALARS; i++) {
        char type[32], text[160];
        snprintf(type, sizeof type, "[[(u16, %s)]]", scalar_types[i]);
        snprintf(text, sizeof text, "[[(0, %s), (65535, %s)], []]", extremes[i][0], extremes[i][1]);
        assert_round_trip("a.mtx", type, text);
        snprintf(type, sizeof type, "[[%s]]", scalar_types[i]);
        snprintf(text, sizeof text, "[[%s], [%s]]", extremes[i][0], extremes[i][1]);
        assert_round_trip("a.mtx", type, text);
    }
    assert_round_trip("a.mtx", "[[(i64, f32)]]", "[]");
    assert_round_trip("a.mtx", "[[(i64, f32)]]", "[[], []]");
    assert_round_trip("a.mtx", "[[f32]]", "[[], []]");
    assert_round_trip("a.mtx", "[[f32]]", "[[nan, -inf]]");
    assert_not_written("a.mtx", "[[(i64, f32)]]", "[[(-1, 0)]]", "negative");
    assert_not_written("a.mtx", "[[f32]]", "[[1], [1, 2]]", "differ in length");
    assert_not_written("a.mtx", "[[bool]]", "[]", "a .mtx file holds");
    assert_not_written("a.mtx", "[[(f32, f32)]]", "[]", "a .mtx file holds");
}

static size_t make_npy(char *out, const char *descr, const void *data, size_t n)
{
    char header[128];
    int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (2,)}", descr);
    memcpy(out, "\x93NUMPY\x01\x00\x00\x00", 10);
    out[8] = (char)length;
    memcpy(out + 10, header, (size_t)length);
    memcpy(out + 10 + length, data, n);
    return 10 + (size_t)length + n;
}

static void test_npy(void **state)
{
    (void)state;
    char file[256];
    size_t n = make_npy(file, ">i4", "\0\0\1\2\xff\xff\xff\xfe", 8);
    assert_reads_bytes("a.npy", "[i32]", file, n, "[258, -2]");
    n = make_npy(file, "<i4", "\2\1\0\0\xfe\xff\xff\xff", 8);
    assert_reads_bytes("a.npy", "[i32]", file, n, "[258, -2]");
    n = make_npy(file, ">f8", "\x3f\xf8\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", 16);
    assert_reads_bytes("a.npy", "[f64]", file, n, "[1.5, -2]");
    assert_refused_bytes("a.npy", "[f64]", file, n - 1, "a.npy: at byte ");
    n = make_npy(file, ">u1", "ab", 2);
    assert_reads_bytes("a.npy", "[u8]", file, n, "\"ab\"");
    n = make_npy(file, "|i4", "\0\0\1\2\xff\xff\xff\xfe", 8);
    assert_refused_bytes("a.npy", "[i32]", file, n, "found '|i4'");
    for (size_t i = 0; i < SCALARS; i++) {
        char type[32], text[160];
        snprintf(type, sizeof type, "[[%s]]", scalar_types[i]);
        snprintf(text, sizeof text, "[[%s], [%s]]", extremes[i][0], extremes[i][1]);
        assert_round_trip("a.npy", type, text);
    }
}

/* ---- random values and damaged files ---- */

/* Floats of any bits come back from every format that has text. */
static void test_random_floats(void **state)
{
    (void)state;
    uint64_t seed = 11;
    enum { COUNT = 2000 };
    double doubles[COUNT];
    float floats[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t bits = (uint64_t)next_random(&seed) << 33 ^ (uint64_t)next_random(&seed) << 11 ^ next_random(&seed);
        memcpy(&doubles[i], &bits, sizeof bits);
        memcpy(&floats[i], &bits, sizeof *floats);
    }
    static const char *const names[] = {"a.csv", "a.mtx", "a.txt", "a.dpv"};
    uint64_t one[] = {1}, count[] = {COUNT};
    for (size_t i = 0; i < 4; i++)
        for (int wide = 0; wide < 2; wide++) {
            bool matrix = i == 1;
            const char *type = wide ? (matrix ? "[[f64]]" : "[f64]") : (matrix ? "[[f32]]" : "[f32]");
            Value v = {.type = dp_type_parse(type)};
            v.leaves[0] = (DpLeaf){.scalar = wide ? DP_F64 : DP_F32,
                                   .rank = matrix ? 2 : 1,
                                   .ndata = COUNT,
                                   .data = wide ? (void *)doubles : (void *)floats};
            v.leaves[0].lens[0] = matrix ? one : count;
            v.leaves[0].lens[1] = matrix ? count : NULL;
            v.leaves[0].nlens[0] = v.leaves[0].nlens[1] = 1;
            size_t n;
            char *bytes = write_bytes(names[i], &v, &n);
            Value back = read_bytes(names[i], type, bytes, n);
            assert_true(back.ok);
            assert_true(dp_leaves_equal(v.type, v.leaves, back.leaves, 0));
            free(bytes);
            free_value(&back);
            dp_type_free(v.type);
        }
}

static size_t mutate(uint8_t *bytes, size_t n, size_t cap, uint64_t *seed)
{
    static const char likely[] = ",\"\r\n0123456789.-exyPIE#\x00\x01\x02\x7f\x80\xff";
    for (uint32_t k = next_random(seed) % 4 + 1; k > 0; k--) {
        size_t at = n ? next_random(seed) % n : 0;
        uint8_t byte = (uint8_t)likely[next_random(seed) % sizeof likely];
        switch (next_random(seed) % 5) {
        case 0:
            if (n)
                bytes[at] = byte;
            break;
        case 1:
            if (n)
                bytes[at] ^= (uint8_t)(1u << next_random(seed) % 8);
            break;
        case 2:
            if (n < cap) {
                memmove(bytes + at + 1, bytes + at, n++ - at);
                bytes[at] = byte;
            }
            break;
        case 3:
            if (n)
                memmove(bytes + at, bytes + at + 1, --n - at);
            break;
        default: n = next_random(seed) % 8 ? n : at; break;
        }
    }
    return n;
}

/* What has been read can be written in every format, or is refused with a message; and as text it reads back the same.
 */
static void use(Value *v)
{
    static const char *const names[] = {"a.csv", "a.dpv", "a.mtx", "a.npy", "a.pgm", "a.png", "a.ppm", "a.txt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n;
        v->error[0] = '\0';
        char *bytes = write_bytes(names[i], v, &n);
        assert_true(bytes || v->error[0]);
        free(bytes);
    }
}

static void feed(const char *name, const char *type, const uint8_t *bytes, size_t n)
{
    Value v = read_bytes(name, type, bytes, n);
    if (v.ok)
        use(&v);
    else
        assert_non_null(strstr(v.error, name));
    free_value(&v);
}

static void test_mutated(void **state)
{
    (void)state;
    static const struct {
        const char *name, *type, *text;
    } inputs[] = {
        {"m.csv", "[{name: [u8], size: f32, big: bool}]",
         "[{name = \"mouse\", size = 0.07, big = false}, {name = \"a, \\\"b\\\"\\n\", size = 3.3, big = true}]"},
        {"m.csv", "[[u8]]", "[\"\", \"a\", \"b\\\"\\r\\n\"]"},
        {"m.pgm", "[[u8]]", "[[0, 10, 35], [13, 32, 255]]"},
        {"m.ppm", "[[(u8, u8, u8)]]", "[[(0, 1, 2), (35, 10, 255)]]"},
        {"m.png", "[[u8]]", "[[0, 10, 35], [13, 32, 255]]"},
        {"m.png", "[[(u8, u8, u8)]]", "[[(0, 1, 2), (35, 10, 255)]]"},
        {"m.dpv", "[(i64, #a [u8] | #b)]", "[(1, #a \"x\"), (2, #b)]"},
        {"m.dpv", "[[[(u8, [f32], bool)]]]", "[[], [[], [(1, [1.0, 2.0], true), (2, [], false)]]]"},
        {"m.npy", "[[i16]]", "[[1, 2, 3], [4, 5, 6]]"},
        {"m.mtx", "[[(i32, f32)]]", "[[(1, 0.5)], [], [(0, -2), (3, 1e30)]]"},
        {"m.mtx", "[[i16]]", "[[1, 2, 3], [4, 5, 6]]"},
    };
    uint64_t seed = 5;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        bool png = strcmp(inputs[i].name, "m.png") == 0, dpv = strcmp(inputs[i].name, "m.dpv") == 0;
        if (png && !have_png())
            continue;
        Value v = value_of(inputs[i].type, inputs[i].text);
        size_t n;
        char *original = write_bytes(inputs[i].name, &v, &n);
        assert_non_null(original);
        assert_true(n < 400);
        for (int round = 0; round < 6000; round++) {
            uint8_t bytes[512];
            memcpy(bytes, original, n);
            size_t length = mutate(bytes, n, sizeof bytes, &seed);
            if (png && round % 4)
                repair_png(bytes, length);
            if (dpv && round % 4)
                repair_dpv(bytes, length);
            feed(inputs[i].name, inputs[i].type, bytes, length);
        }
        free(original);
        free_value(&v);
    }
}

static void test_mutated_text(void **state)
{
    (void)state;
    static const struct {
        const char *name, *type, *text;
    } inputs[] = {
        {"m.pgm", "[[u8]]", "P2 # gray\n3 2\n255\n0 1 2\n253 254 255\n"},
        {"m.ppm", "[[(u8, u8, u8)]]", "P3\n1 2 255\n0 1 2\n253 254 255"},
        {"m.csv", "[(i32, f64, bool)]", "1,2.5,true\r\n-0x10, nan ,0\n\"7\",1e300,FALSE"},
    };
    uint64_t seed = 9;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        for (int round = 0; round < 6000; round++) {
            uint8_t bytes[256];
            size_t n = strlen(inputs[i].text);
            memcpy(bytes, inputs[i].text, n);
            feed(inputs[i].name, inputs[i].type, bytes, mutate(bytes, n, sizeof bytes, &seed));
        }
    for (int round = 0; round < 6000 && have_png(); round++) {
        uint8_t bytes[256];
        bool deep = round % 2;
        size_t n = deep ? sizeof deep_png : sizeof palette_png;
        memcpy(bytes, deep ? deep_png : palette_png, n);
        n = mutate(bytes, n, sizeof bytes, &seed);
        repair_png(bytes, n);
        feed("m.png", round % 4 < 2 ? "[[u8]]" : "[[(u8, u8, u8)]]", bytes, n);
    }
}

/* ---- real files ---- */

static void test_files(void **state)
{
    (void)state;
    char folder[64], path[96], error[ERROR_BYTES];
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/dpfmtXXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(folder));
    static const char *const names[] = {"a.csv", "a.dpv", "a.txt", "a.in", "a.npy"};
    Value v = value_of("[f64]", "[0.1, -2, nan]"), back = {.type = dp_type_parse("[f64]")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_true(dp_write_file(path, v.type, v.leaves, error, sizeof error));
        assert_true(dp_read_file(path, back.type, back.leaves, error, sizeof error));
        assert_true(dp_leaves_equal(v.type, v.leaves, back.leaves, 0));
        dp_leaves_free(back.leaves, 1);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/a.png", folder);
    assert_false(dp_write_file(path, v.type, v.leaves, error, sizeof error));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(rmdir(folder), 0);
    free_value(&v);
    free_value(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),        cmocka_unit_test(test_crc),           cmocka_unit_test(test_csv_read),
        cmocka_unit_test(test_csv_records),  cmocka_unit_test(test_csv_refused),   cmocka_unit_test(test_csv_written),
        cmocka_unit_test(test_pnm_read),     cmocka_unit_test(test_pnm_refused),   cmocka_unit_test(test_pnm_written),
        cmocka_unit_test(test_png),          cmocka_unit_test(test_png_refused),   cmocka_unit_test(test_dpv),
        cmocka_unit_test(test_dpv_bytes),    cmocka_unit_test(test_dpv_together),  cmocka_unit_test(test_mtx_written),
        cmocka_unit_test(test_npy),          cmocka_unit_test(test_random_floats), cmocka_unit_test(test_mutated),
        cmocka_unit_test(test_mutated_text), cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
