/* What readers of values have to bear: sizes that lie, compressed images, marks of encodings, long words, odd line
 * ends. */
#include "../../runtime/values/values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_LEAVES = 16, ERROR_BYTES = 512 };

/* ---- helpers ---- */

/* Reads exactly n bytes; the value as text (malloc'd), or the message. */
static char *read_as_text(const char *name, const char *type, const void *bytes, size_t n, bool *ok)
{
    bool known;
    DpType *t = dp_type_parse(type);
    DpLeaf leaves[MAX_LEAVES];
    char error[ERROR_BYTES] = "no message", *copy = malloc(n ? n : 1), *text = NULL;
    size_t length = 0;
    assert_non_null(t);
    dp_leaves_init(leaves, t);
    memcpy(copy, bytes, n);
    *ok = dp_format_of(name, &known)->read(name, copy, n, t, leaves, (DpError){error, sizeof error, NULL});
    free(copy);
    FILE *out = open_memstream(&text, &length);
    if (*ok)
        dp_write_text(out, t, leaves);
    else
        fputs(error, out);
    fclose(out);
    if (*ok)
        dp_leaves_free(leaves, dp_type_leaves(t));
    dp_type_free(t);
    return text;
}

static void assert_gives(const char *name, const char *type, const void *bytes, size_t n, const char *expected)
{
    bool ok;
    char *text = read_as_text(name, type, bytes, n, &ok);
    if (!ok || strcmp(text, expected) != 0)
        fail_msg("%s as %s: %.200s, wanted %.200s", name, type, text, expected);
    free(text);
}

static void assert_says(const char *name, const char *type, const void *bytes, size_t n, const char *message)
{
    bool ok;
    char *text = read_as_text(name, type, bytes, n, &ok);
    if (ok || !strstr(text, message))
        fail_msg("%s as %s: %.200s, wanted %.200s", name, type, text, message);
    free(text);
}

static void gives(const char *name, const char *type, const char *text, const char *expected)
{
    assert_gives(name, type, text, strlen(text), expected);
}

static void says(const char *name, const char *type, const char *text, const char *message)
{
    assert_says(name, type, text, strlen(text), message);
}

#define ARRAY "%%MatrixMarket matrix array real general\n"
#define SPARSE "%%MatrixMarket matrix coordinate real general\n"
#define LARGEST "18446744073709551615"

/* ---- sizes ---- */

static void test_plausible(void **state)
{
    (void)state;
    static const struct {
        uint64_t shape[3];
        uint32_t rank, leaves;
        uint64_t bytes, most;
        bool plausible;
    } cases[] = {
        {{0, UINT64_MAX}, 2, 1, 60, 0, true},
        {{UINT64_MAX, 0}, 2, 1, 60, 0, false},
        {{1u << 20, 0}, 2, 1, 0, 0, true},
        {{(1u << 20) + 1, 0}, 2, 1, 0, 0, false},
        {{(1u << 20) + 60, 0}, 2, 1, 60, 0, true},
        {{1u << 20, 0}, 2, 3, 0, 0, false},
        {{(1u << 20) / 3, 0}, 2, 3, 0, 0, true},
        {{1u << 19, 1, 0}, 3, 1, 0, 0, true},
        {{(1u << 19) + 1, 1, 0}, 3, 1, 0, 0, false},
        {{UINT32_MAX, UINT32_MAX, 2}, 3, 1, UINT64_MAX, UINT64_MAX, false},
        {{UINT32_MAX, UINT32_MAX}, 2, 1, 60, 60, false},
        {{UINT64_MAX}, 1, 1, 60, 60, false},
        {{60}, 1, 1, 0, 60, true},
        {{61}, 1, 1, 60, 60, false},
        {{0, UINT64_MAX, UINT64_MAX}, 3, 1, 0, 0, true},
        {{0}, 0, 1, 0, 1, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t count;
        bool is =
            dp_shape_plausible(cases[i].shape, cases[i].rank, cases[i].leaves, cases[i].bytes, cases[i].most, &count);
        if (is != cases[i].plausible)
            fail_msg("shape %zu", i);
    }
}

static void test_degenerate(void **state)
{
    (void)state;
    gives("a.mtx", "[[f64]]", ARRAY "0 9223372036854775807", "[]");
    gives("a.mtx", "[[f64]]", ARRAY "0 " LARGEST, "[]");
    gives("a.mtx", "[[f64]]", ARRAY "2 0", "[[], []]");
    says("a.mtx", "[[f64]]", ARRAY LARGEST " 0", ":2:1: the sizes are larger than the file");
    says("a.mtx", "[[f64]]", ARRAY "16000000 0", "the sizes are larger than the file");
    says("a.mtx", "[[f64]]", ARRAY "4294967296 4294967296", "the sizes are larger than the file");
    says("a.mtx", "[[f64]]", "%%MatrixMarket matrix array real symmetric\n4294967297 4294967297\n1\n",
         "the sizes are larger");
    says("a.mtx", "[[f64]]", "%%MatrixMarket matrix array real skew-symmetric\n1000000 1000000\n1\n",
         "the sizes are larger");
    gives("a.mtx", "[[f64]]", "%%MatrixMarket matrix array real skew-symmetric\n1 1\n", "[[0.0]]");
    gives("a.mtx", "[[(u64, f64)]]", SPARSE "0 " LARGEST " 0", "[]");
    says("a.mtx", "[[(u64, f64)]]", SPARSE LARGEST " 0 0", "the sizes are larger than the file");
    says("a.mtx", "[[(u64, f64)]]", SPARSE "1 1 " LARGEST "\n1 1 1", "the sizes are larger than the file");
    says("a.ppm", "[[(u8, u8, u8)]]", "P3 0 16000000 5", "the sizes are larger than the file");
    gives("a.ppm", "[[(u8, u8, u8)]]", "P3 4294967295 0 5", "[]");
    says("a.pgm", "[[u8]]", "P5 4294967295 4294967295 255 ", "the sizes are larger than the file");
}

static void npy_of(char *out, size_t *n, const char *shape)
{
    char header[128];
    int length = snprintf(header, sizeof header, "{'descr': '|u1', 'fortran_order': True, 'shape': (%s), }\n", shape);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)length;
    out[9] = 0;
    memcpy(out + 10, header, (size_t)length);
    *n = 10 + (size_t)length;
}

static void test_degenerate_npy(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *expected;
    } cases[] = {{"0, 9223372036854775807", "[]"}, {"3, 0", "[\"\", \"\", \"\"]"}, {"9223372036854775807, 0", NULL},
                 {"1048577, 0", "long"},           {"2000000, 0", NULL},           {"4294967296, 4294967296", NULL},
                 {"4294967296, 4294967297", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char bytes[160];
        size_t n;
        bool ok;
        npy_of(bytes, &n, cases[i].shape);
        char *text = read_as_text("a.npy", "[[u8]]", bytes, n, &ok);
        assert_int_equal(ok, cases[i].expected != NULL);
        if (cases[i].expected && strcmp(cases[i].expected, "long") != 0)
            assert_string_equal(text, cases[i].expected);
        if (!ok)
            assert_non_null(strstr(text, "the shape is larger than the file"));
        free(text);
    }
    char bytes[160];
    size_t n;
    npy_of(bytes, &n, "1000000, 1, 1, 1, 0"); /* each level would have a million lengths */
    assert_says("a.npy", "[[[[[u8]]]]]", bytes, n, "the shape is larger than the file");
}

/* What cannot be read is not written. */
static void test_empty_rows_written(void **state)
{
    (void)state;
    static const char *const names[] = {"a.npy", "a.mtx", "a.pgm"};
    DpType *t = dp_type_parse("[[u8]]");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (uint64_t rows = DP_FREE_LENGTHS; rows <= 2 * DP_FREE_LENGTHS; rows += DP_FREE_LENGTHS) {
            const uint64_t shape[] = {rows, 0};
            DpLeaf leaf;
            char *bytes = NULL, error[ERROR_BYTES];
            size_t n;
            bool known, ok;
            dp_leaves_init(&leaf, t);
            assert_true(dp_leaf_make(&leaf, shape));
            FILE *out = open_memstream(&bytes, &n);
            ok = dp_format_of(names[i], &known)->write(out, t, &leaf, (DpError){error, sizeof error, NULL});
            fclose(out);
            assert_int_equal(ok, rows == DP_FREE_LENGTHS);
            if (ok)
                free(read_as_text(names[i], "[[u8]]", bytes, n, &ok));
            else
                assert_non_null(strstr(error, "cannot hold so many empty rows"));
            assert_int_equal(ok, rows == DP_FREE_LENGTHS);
            free(bytes);
            dp_leaves_free(&leaf, 1);
        }
    dp_type_free(t);
}

static void test_empty_sparse_rows(void **state)
{
    (void)state;
    DpType *t = dp_type_parse("[[(u8, f32)]]");
    const uint64_t shape[] = {DP_FREE_LENGTHS, 0};
    DpLeaf leaves[2];
    char error[ERROR_BYTES] = "";
    dp_leaves_init(leaves, t);
    assert_true(dp_leaf_make(&leaves[0], shape) && dp_leaf_make(&leaves[1], shape));
    assert_false(dp_write_mtx(stdout, t, leaves, (DpError){error, sizeof error, NULL}));
    assert_string_equal(error, "a .mtx file cannot hold so many empty rows");
    dp_leaves_free(leaves, 2);
    dp_type_free(t);
}

/* ---- .png ---- */

typedef struct Bytes {
    uint8_t *at;
    size_t n;
} Bytes;

static void put(Bytes *b, const void *bytes, size_t n)
{
    b->at = realloc(b->at, b->n + n + 1);
    memcpy(b->at + b->n, bytes, n);
    b->n += n;
}

static void put_u32(Bytes *b, uint64_t x)
{
    uint8_t bytes[] = {(uint8_t)(x >> 24), (uint8_t)(x >> 16), (uint8_t)(x >> 8), (uint8_t)x};
    put(b, bytes, 4);
}

static void put_chunk(Bytes *png, const char *name, const void *data, size_t n)
{
    DpCrc crc;
    put_u32(png, n);
    put(png, name, 4);
    put(png, data, n);
    dp_crc_begin(&crc);
    dp_crc_add(&crc, png->at + png->n - n - 4, n + 4);
    put_u32(png, dp_crc_end(&crc));
}

/* zlib's format, not compressed; fewer than 65536 bytes. */
static Bytes stored(const Bytes *data)
{
    Bytes z = {0};
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < data->n; i++) {
        a = (a + data->at[i]) % 65521;
        b = (b + a) % 65521;
    }
    uint8_t head[] = {
        0x78, 1, 1, (uint8_t)data->n, (uint8_t)(data->n >> 8), (uint8_t)~data->n, (uint8_t)(~data->n >> 8)};
    put(&z, head, sizeof head);
    put(&z, data->at, data->n);
    put_u32(&z, (uint64_t)b << 16 | a);
    return z;
}

static Bytes png_of(uint32_t w, uint32_t h, uint8_t depth, uint8_t colour, bool interlaced, const Bytes *image)
{
    Bytes png = {0}, header = {0};
    const uint8_t rest[] = {depth, colour, 0, 0, interlaced};
    put(&png, "\x89PNG\r\n\x1a\n", 8);
    put_u32(&header, w);
    put_u32(&header, h);
    put(&header, rest, sizeof rest);
    put_chunk(&png, "IHDR", header.at, header.n);
    put_chunk(&png, "IDAT", image->at, image->n);
    put_chunk(&png, "IEND", "", 0);
    free(header.at);
    return png;
}

static bool have_png(void)
{
    bool ok;
    char *text = read_as_text("a.png", "[[u8]]", "", 0, &ok);
    bool missing = strstr(text, "without libspng") != NULL;
    free(text);
    return !missing;
}

/* Every pixel of images of all small sizes comes to its place, interlaced or not. */
static void test_png_rows(void **state)
{
    (void)state;
    static const uint8_t x0[] = {0, 4, 0, 2, 0, 1, 0}, y0[] = {0, 0, 4, 0, 2, 0, 1}, dx[] = {8, 8, 4, 4, 2, 2, 1},
                         dy[] = {8, 8, 8, 4, 4, 2, 2};
    if (!have_png())
        skip();
    for (uint32_t h = 1; h < 18; h++)
        for (uint32_t w = 1; w < 18; w++)
            for (int interlaced = 0; interlaced < 2; interlaced++) {
                Bytes raw = {0};
                char *want = NULL;
                size_t n;
                for (int pass = 0; pass < (interlaced ? 7 : 1); pass++)
                    for (uint32_t y = interlaced ? y0[pass] : 0; y < h; y += interlaced ? dy[pass] : 1)
                        for (uint32_t x = interlaced ? x0[pass] : 0, first = x; x < w; x += interlaced ? dx[pass] : 1) {
                            uint8_t pixel[] = {0, (uint8_t)(17 * y + x), (uint8_t)(3 * x),
                                               (uint8_t)y}; /* behind the filter */
                            put(&raw, pixel + (x > first), 4 - (x > first));
                        }
                FILE *out = open_memstream(&want, &n);
                for (uint32_t y = 0; y < h; y++)
                    for (uint32_t x = 0; x < w; x++)
                        fprintf(out, "%s(%u, %u, %u)%s",
                                x   ? ", "
                                : y ? ", ["
                                    : "[[",
                                (17 * y + x) & 255, 3 * x, y, x + 1 == w ? "]" : "");
                fputc(']', out);
                fclose(out);
                Bytes image = stored(&raw), png = png_of(w, h, 8, 2, interlaced, &image);
                assert_gives("a.png", "[[(u8, u8, u8)]]", png.at, png.n, want);
                assert_says("a.png", "[[u8]]", png.at, png.n - 12, "the file is cut off");
                free(raw.at), free(image.at), free(png.at), free(want);
            }
}

/* Sizes that the bytes of the file cannot have, and such that they could: then the value has a limit, too. */
static void test_png_bombs(void **state)
{
    (void)state;
    if (!have_png())
        skip();
    Bytes image = {calloc(13000, 1), 13000};
    static const struct {
        uint32_t w, h;
        uint8_t depth, colour;
        const char *type, *message;
    } cases[] = {
        {10000, 10000, 1, 0, "[[(u8, u8, u8)]]", "at byte 8: the image is too large for so short a file"},
        {1, 12000000, 1, 0, "[[(u8, u8, u8)]]", "at byte 8: the image is too large for so short a file"},
        {10000, 10000, 8, 0, "[[u8]]", "at byte 8: the sizes are larger than the file can hold"},
        {0x7fffffff, 0x7fffffff, 16, 6, "[[u8]]", "at byte 33: "}, /* libspng refuses that */
        {10000, 10000, 1, 0, "[[u8]]",
         "at byte 33: "}, /* 100 MB, of which none are touched: the first row is damaged */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Bytes png = png_of(cases[i].w, cases[i].h, cases[i].depth, cases[i].colour, false, &image);
        assert_says("a.png", cases[i].type, png.at, png.n, cases[i].message);
        free(png.at);
    }
    free(image.at);
}

/* ---- texts ---- */

static void test_marks(void **state)
{
    (void)state;
    static const struct {
        const char *name, *type, *text, *value;
    } files[] = {{"a.txt", "[i64]", "[1, 2]\r\n", "[1, 2]"},
                 {"a.in", "i64", "-- one\r\n1\r\n", "1"},
                 {"a.csv", "[i64]", "1\r\n2\r\n", "[1, 2]"},
                 {"a.csv", "[{x: i64}]", "x\r\n1\r\n", "[{x = 1}]"},
                 {"a.mtx", "[[f64]]", "%%MatrixMarket matrix array real general\r\n%c\r\n1 1\r\n2\r\n", "[[2.0]]"},
                 {"a.pgm", "[[u8]]", "P2\r\n# gray\r\n1 1\r\n255\r\n7\r\n", "[\"\\a\"]"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char text[128];
        gives(files[i].name, files[i].type, files[i].text, files[i].value);
        if (strcmp(files[i].name, "a.pgm") == 0)
            continue;
        snprintf(text, sizeof text, "\xef\xbb\xbf%s", files[i].text);
        gives(files[i].name, files[i].type, text, files[i].value);
        assert_says(files[i].name, files[i].type,
                    "\xff\xfe"
                    "1\0",
                    4, "at byte 0: the text is in UTF-16; it has to be in UTF-8");
        assert_says(files[i].name, files[i].type,
                    "\xfe\xff\0"
                    "1",
                    4, "UTF-16");
        assert_says(files[i].name, files[i].type,
                    "\xff\xfe\0\0"
                    "1\0\0\0",
                    8, "UTF-32");
        assert_says(files[i].name, files[i].type,
                    "\0\0\xfe\xff\0\0\0"
                    "1",
                    8, "UTF-32");
    }
    says("a.txt", "i64",
         "\xef\xbb\xbf\xef\xbb\xbf"
         "1",
         "a.txt:1:4: expected an i64, found the byte 0xef");
}

/* A word of any length is read as a whole. */
static void test_long_words(void **state)
{
    (void)state;
    char zeros[3001], text[4000];
    memset(zeros, '0', 3000);
    zeros[3000] = '\0';
    snprintf(text, sizeof text, "%s1 1\n0.%.150s1e151\n", ARRAY, zeros);
    gives("a.mtx", "[[f64]]", text, "[[1.0]]");
    snprintf(text, sizeof text, "%s1 1\n%s2.5\n", ARRAY, zeros);
    gives("a.mtx", "[[f32]]", text, "[[2.5]]");
    snprintf(text, sizeof text, "%%%%MatrixMarket matrix array integer general\n1 1\n-%s7x\n", zeros);
    says("a.mtx", "[[i32]]", text, ":3:1: expected an integer, found -00000000000000000000000...");
    snprintf(text, sizeof text, "%%%%MatrixMarket matrix array real general%s\n1 1\n7\n", zeros);
    says("a.mtx", "[[f32]]", text, ":1:34: expected general");
    snprintf(text, sizeof text, "1%se-3000", zeros);
    gives("a.txt", "f64", text, "1.0");
    snprintf(text, sizeof text, "%s7", zeros);
    gives("a.txt", "u8", text, "7");
    gives("a.csv", "[i8]", text, "[7]");
    snprintf(text, sizeof text, "7%s", zeros);
    says("a.txt", "u64", text, "out of the range of u64");
    says("a.csv", "[f64]", text, "out of the range of f64");
    snprintf(text, sizeof text, "0x%s7", zeros);
    gives("a.txt", "i16", text, "7");
}

static void test_mtx_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *word, *value;
    } reals[] = {{"1.", "1.0"},         {".5", "0.5"},    {"+2e3", "2000.0"}, {"-0", "-0.0"},       {"NaN", "nan"},
                 {"-Infinity", "-inf"}, {"INF", "inf"},   {"1e-400", "0.0"},  {"-1e308", "-1e308"}, {"1e999", NULL},
                 {"0x10", NULL},        {"nan(1)", NULL}, {"1e", NULL},       {".", NULL},          {"+", NULL},
                 {"e5", NULL},          {"1,5", NULL},    {"infinit", NULL},  {"--1", NULL},        {"1\xff", NULL}};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        char text[128], value[32];
        snprintf(text, sizeof text, "%s1 1\n%s\n", ARRAY, reals[i].word);
        snprintf(value, sizeof value, "[[%s]]", reals[i].value ? reals[i].value : "");
        if (reals[i].value)
            gives("a.mtx", "[[f64]]", text, value);
        else
            says("a.mtx", "[[f64]]", text, "a.mtx:3:1: ");
    }
    assert_says("a.mtx", "[[f64]]", ARRAY "1 1\n1\0\n", sizeof ARRAY + 6, "a.mtx:3:1: expected a number");
    static const char skew[] = "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 ";
    static const struct {
        const char *type, *number, *value;
    } numbers[] = {{"[[(i32, i8)]]", "-127", "[[(1, 127)], [(0, -127)]]"},
                   {"[[(i32, i8)]]", "-128", NULL},
                   {"[[(i32, u8)]]", "1", NULL},
                   {"[[(i32, u8)]]", "0", "[[(1, 0)], [(0, 0)]]"},
                   {"[[(i32, i64)]]", "-9223372036854775808", NULL},
                   {"[[(i32, f32)]]", "-128", "[[(1, 128.0)], [(0, -128.0)]]"}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s%s", skew, numbers[i].number);
        if (numbers[i].value)
            gives("a.mtx", numbers[i].type, text, numbers[i].value);
        else
            says("a.mtx", numbers[i].type, text, "a.mtx:3:5: the number's negative is out of the range of ");
    }
    says("a.mtx", "[[i8]]", "%%MatrixMarket matrix array integer skew-symmetric\n2 2\n-128\n",
         ":3:1: the number's negative");
}

static void test_bytes(void **state)
{
    (void)state;
    assert_says("a.txt", "[i64]", "[1,\0 2]", 7, "a.txt:1:4: expected an i64, found the byte 0x00");
    assert_says("a.txt", "f64",
                "1e\0"
                "5",
                4, "a.txt:1:1: expected an f64, found 1e");
    assert_gives("a.txt", "[u8]", "\"a\0b\xff\"", 6, "\"a\\x00b\\xff\"");
    assert_says("a.csv", "[f64]", "1\0\n", 3, "column 1: expected a number of type f64");
    char bytes[160];
    size_t n;
    npy_of(bytes, &n, "1");
    bytes[21] = '\x1b'; /* in the type of elements */
    assert_says("a.npy", "[u8]", bytes, n, "a byte that is no text in the header");
}

/* Nesting in the file is counted, not recursed into. */
static void test_deep(void **state)
{
    (void)state;
    enum { DEPTH = 1000000 };
    char *text = malloc(2 * DEPTH + 1);
    memset(text, '(', DEPTH);
    text[DEPTH] = '7';
    memset(text + DEPTH + 1, ')', DEPTH);
    assert_gives("a.txt", "i64", text, 2 * DEPTH + 1, "7");
    assert_says("a.txt", "i64", text, 2 * DEPTH, "a.txt:1:2000001: expected ), found the end of the input");
    memset(text, '[', DEPTH);
    assert_says("a.txt", "[[i64]]", text, DEPTH, "a.txt:1:3: expected an i64, found [");
    free(text);
}

/* ---- .dpv ---- */

/* (tag, payload) with the tag and the payload's first byte as given. */
static void test_absent_payload(void **state)
{
    (void)state;
    static const struct {
        const char *type, *text;
        size_t leaf;
    } cases[] = {
        {"#a i64 | #b", "#b", 1}, {"[#a [u8] | #b]", "[#a \"x\", #b]", 1}, {"#a (i64, #c u8 | #d) | #b", "#b", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        DpType *t = dp_type_parse(cases[i].type);
        DpLeaf leaves[MAX_LEAVES];
        char error[ERROR_BYTES], *bytes = NULL;
        size_t n;
        bool known;
        DpReader r = {"t", cases[i].text, strlen(cases[i].text), 0};
        assert_true(dp_read_text(&r, t, leaves, error, sizeof error));
        const DpFormat *dpv = dp_format_of("a.dpv", &known);
        for (int wrong = 0; wrong < 2; wrong++) {
            DpLeaf *leaf = &leaves[cases[i].leaf];
            if (wrong && leaf->rank)
                leaf->lens[1][0] = 0, leaf->lens[1][1] = 1; /* the text belongs to #b */
            else if (wrong)
                *(uint8_t *)leaf->data = 1;
            FILE *out = open_memstream(&bytes, &n);
            assert_true(dpv->write(out, t, leaves, (DpError){error, sizeof error, NULL}));
            fclose(out);
            if (wrong)
                assert_says("a.dpv", cases[i].type, bytes, n, "belongs to a constructor that it does not have");
            else
                assert_gives("a.dpv", cases[i].type, bytes, n, cases[i].text);
            free(bytes);
        }
        dp_leaves_free(leaves, dp_type_leaves(t));
        dp_type_free(t);
    }
}

/* Tags of more than a byte: 300 constructors, the last one with a payload. */
static void test_wide_tags(void **state)
{
    (void)state;
    char *type = NULL, *bytes = NULL, error[ERROR_BYTES];
    size_t n;
    bool known;
    FILE *out = open_memstream(&type, &n);
    fputc('[', out);
    for (int i = 100; i < 399; i++)
        fprintf(out, "#c%d | ", i);
    fputs("#c399 u8]", out);
    fclose(out);
    static const char text[] = "[#c399 7, #c143, #c100]"; /* 299 and 43 have the same low byte */
    DpType *t = dp_type_parse(type);
    DpLeaf leaves[MAX_LEAVES];
    DpReader r = {"t", text, strlen(text), 0};
    assert_true(dp_read_text(&r, t, leaves, error, sizeof error));
    out = open_memstream(&bytes, &n);
    assert_true(dp_format_of("a.dpv", &known)->write(out, t, leaves, (DpError){error, sizeof error, NULL}));
    fclose(out);
    assert_gives("a.dpv", type, bytes, n, text);
    free(bytes);
    free(type);
    dp_leaves_free(leaves, dp_type_leaves(t));
    dp_type_free(t);
}

/* A type in a file may have many names: they are sorted fast. */
static void test_many_names(void **state)
{
    (void)state;
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    for (int k = 0; k < 400; k++) {
        fputs("[{", out);
        for (int i = 4000; i > 0; i--)
            fprintf(out, "n%d: u8, ", 10000 + i);
        fputs("n: u8}]", out);
    }
    fclose(out);
    assert_null(dp_type_parse(text)); /* one type, and more behind it */
    free(text);
    out = open_memstream(&text, &n);
    fputc('(', out);
    for (int k = 0; k < 400; k++) {
        fputc('{', out);
        for (int i = 4000; i > 0; i--)
            fprintf(out, "n%d: u8, ", 10000 + i);
        fputs("}, ", out);
    }
    fputc(')', out);
    fclose(out);
    assert_null(dp_type_parse(text)); /* too many leaves */
    free(text);
}

/* ---- devices ---- */

static void test_devices(void **state)
{
    (void)state;
    DpType *t = dp_type_parse("i64");
    DpLeaf leaf;
    char error[ERROR_BYTES];
    if (access("/dev/zero", R_OK) != 0)
        skip();
    assert_false(dp_read_file("/dev/zero", t, &leaf, error, sizeof error));
    assert_string_equal(error, "/dev/zero: File too large");
    assert_false(dp_read_file("/dev/null", t, &leaf, error, sizeof error));
    assert_string_equal(error, "/dev/null:1:1: expected an i64, found the end of the input");
    dp_type_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plausible),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_degenerate_npy),
        cmocka_unit_test(test_empty_rows_written),
        cmocka_unit_test(test_empty_sparse_rows),
        cmocka_unit_test(test_png_rows),
        cmocka_unit_test(test_png_bombs),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_long_words),
        cmocka_unit_test(test_mtx_numbers),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_absent_payload),
        cmocka_unit_test(test_wide_tags),
        cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
