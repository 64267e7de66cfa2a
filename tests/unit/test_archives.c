/* Archives (.npz), packed files (.gz) and images of libjpeg: what is wrong in them, byte by byte. */
#include "../../runtime/values/values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_LEAVES = 8, TEXT_BYTES = 512 };

typedef struct File {
    unsigned char *bytes;
    size_t n;
} File;

static bool is_missing(const char *text) { return strstr(text, "dpc was built without") != NULL; }

/* The literal of what is read from exactly so many bytes, or the message. */
static void read_file(const char *name, const char *type, const void *bytes, size_t n, char out[TEXT_BYTES])
{
    DpType *t = dp_type_parse(type);
    DpLeaf leaves[MAX_LEAVES] = {0};
    DpPlace place = dp_place_of(name, t);
    char error[TEXT_BYTES] = "", *copy = malloc(n ? n : 1);
    memcpy(copy, bytes, n);
    FILE *text = fmemopen(out, TEXT_BYTES, "w");
    if (dp_place_read(&place, name, copy, n, t, leaves, (DpError){error, sizeof error, NULL})) {
        dp_write_text(text, t, leaves);
        dp_leaves_free(leaves, dp_type_leaves(t));
    } else {
        fputs(error, text);
    }
    fputc('\0', text);
    fclose(text);
    dp_type_free(t);
    free(copy);
}

static void gives(const char *name, const char *type, File f, const char *wanted)
{
    char got[TEXT_BYTES];
    read_file(name, type, f.bytes, f.n, got);
    if (!is_missing(got) && strcmp(got, wanted) != 0)
        fail_msg("%s: wanted: %s\ngot: %s", type, wanted, got);
}

/* As it is written. */
static File file_of(const char *name, const char *type, const char *literal)
{
    DpType *t = dp_type_parse(type);
    DpLeaf leaves[MAX_LEAVES];
    DpReader r = {"text", literal, strlen(literal), 0};
    DpPlace place = dp_place_of(name, t);
    char error[TEXT_BYTES] = "", *bytes = NULL;
    File f = {0};
    assert_true(dp_read_text(&r, t, leaves, error, sizeof error));
    FILE *out = open_memstream(&bytes, &f.n);
    if (!dp_place_write(&place, out, t, leaves, (DpError){error, sizeof error, NULL}) && !is_missing(error))
        fail_msg("%s", error);
    fclose(out);
    f.bytes = (unsigned char *)bytes;
    dp_leaves_free(leaves, dp_type_leaves(t));
    dp_type_free(t);
    return f;
}

/* A seed of the fuzzers, without the byte in front that chooses a type. */
static File seed(const char *path)
{
    char name[128];
    File f;
    snprintf(name, sizeof name, "tests/fuzz/corpus/%s", path);
    f.bytes = (unsigned char *)dp_slurp(name, &f.n);
    assert_non_null(f.bytes);
    memmove(f.bytes, f.bytes + 1, --f.n);
    return f;
}

static void refuses(const char *name, const char *type, const char *wanted)
{
    char error[TEXT_BYTES] = "";
    DpType *t = dp_type_parse(type);
    DpLeaf leaves[MAX_LEAVES];
    DpPlace place = dp_place_of(name, t);
    dp_leaves_init(leaves, t);
    assert_false(dp_place_write(&place, stdout, t, leaves, (DpError){error, sizeof error, NULL}));
    assert_string_equal(error, wanted);
    dp_type_free(t);
}

/* ---- archives ---- */

/* Where the parts of an archive of one member are: behind its data, and behind the entry of the directory. */
enum { ENTRY = 46 + 9, END = 22 };

typedef struct Damage {
    const char *wanted;
    int at;      /* from the archive's start; in the directory's entry: ENTRY_AT; in the end's record: END_AT */
    int bytes;   /* 1, 2 or 4 */
    uint32_t is; /* little endian */
} Damage;
#define ENTRY_AT 10000
#define END_AT 20000
#define NOT_VALID(at, what) "a.npz: at byte " at ": not a valid .npz file: " what

static void damage(File *f, const Damage *d)
{
    size_t entry = f->n - END - ENTRY, end = f->n - END;
    size_t at = d->at >= END_AT     ? end + (size_t)(d->at - END_AT)
                : d->at >= ENTRY_AT ? entry + (size_t)(d->at - ENTRY_AT)
                                    : (size_t)d->at;
    for (int i = 0; i < d->bytes; i++)
        f->bytes[at + (size_t)i] = (unsigned char)(d->is >> 8 * i);
}

/* Of 183 bytes and 144 of the array: the entry is at 183, the end at 238. */
static void test_damaged_archive(void **state)
{
    (void)state;
    static const Damage damages[] = {
        {"[1, -2]", 0, 0, 0},
        {NOT_VALID("0", "the directory of the archive is missing"), END_AT, 1, 'p'},
        {NOT_VALID("0", "the directory of the archive is missing"), END_AT + 20, 2, 1},
        {NOT_VALID("238", "archives of zip64 are not read"), END_AT + 10, 2, 0xffff},
        {NOT_VALID("238", "archives of zip64 are not read"), END_AT + 16, 4, 0xffffffff},
        {NOT_VALID("238", "the directory stands behind its end"), END_AT + 16, 4, 239},
        {NOT_VALID("238", "the directory is damaged"), END_AT + 16, 4, 238},
        {NOT_VALID("182", "the directory is damaged"), END_AT + 16, 4, 182},
        {"a.npz: expected one array, found 2", END_AT + 10, 2, 2},
        {NOT_VALID("183", "the directory is cut off"), ENTRY_AT + 28, 2, 0xffff},
        {NOT_VALID("183", "members of 4 GB and more (zip64) are not read"), ENTRY_AT + 20, 4, 0xffffffff},
        {NOT_VALID("183", "members of 4 GB and more (zip64) are not read"), ENTRY_AT + 24, 4, 0xffffffff},
        {NOT_VALID("183", "members of 4 GB and more (zip64) are not read"), ENTRY_AT + 42, 4, 0xffffffff},
        {NOT_VALID("183", "the member is encrypted"), ENTRY_AT + 8, 2, 1},
        {"[1, -2]", ENTRY_AT + 28, 2, 3},
        {"[1, -2]", ENTRY_AT + 28, 2, 8},
        {NOT_VALID("300", "a member is not where the directory says"), ENTRY_AT + 42, 4, 300},
        {NOT_VALID("255", "a member is not where the directory says"), ENTRY_AT + 42, 4, 255},
        {NOT_VALID("1", "a member is not where the directory says"), ENTRY_AT + 42, 4, 1},
        {NOT_VALID("0", "a member is cut off"), 26, 2, 0xffff},
        {NOT_VALID("0", "a member is cut off"), ENTRY_AT + 20, 4, 300},
        {NOT_VALID("0", "a member cannot have so many bytes"), ENTRY_AT + 20, 4, 100},
        {NOT_VALID("0", "a member is packed in an unknown way"), ENTRY_AT + 10, 2, 12},
        {NOT_VALID("0", "a member is damaged: its checksum is wrong"), ENTRY_AT + 16, 4, 0},
        {"a.npz: member arr_0: the packed bytes are damaged", ENTRY_AT + 10, 2, 8},
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        File f = file_of("a.npz", "[i64]", "[1, -2]");
        assert_int_equal(f.n, 260);
        damage(&f, &damages[i]);
        gives("a.npz", "[i64]", f, damages[i].wanted);
        free(f.bytes);
    }
}

static void test_packed_members(void **state)
{
    (void)state;
    static const Damage damages[] = {
        {"[1, -2]", 0, 0, 0},
        {NOT_VALID("0", "a member cannot have so many bytes"), ENTRY_AT + 24, 4, 0x7fffffff},
        {"a.npz: member arr_0: the packed bytes are damaged", ENTRY_AT + 24, 4, 200},
        {"a.npz: member arr_0: the packed bytes are damaged", ENTRY_AT + 24, 4, 100},
        {"a.npz: member arr_0: the packed bytes are damaged", ENTRY_AT + 20, 4, 20},
        {"a.npz: member arr_0: the packed bytes are damaged", 45, 4, 0xffffffff},
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        File f = seed("npz/one_deflated");
        damage(&f, &damages[i]);
        gives("a.npz", "[i64]", f, damages[i].wanted);
        free(f.bytes);
    }
}

#define LONG_NAME "a_name_that_is_longer_than_what_a_message_shows_of_it_which_are_eighty_bytes_and_no_more_than_that"

static void test_arrays(void **state)
{
    (void)state;
    File f = file_of("a.npz", "{" LONG_NAME ": [i8], b: f32}", "{" LONG_NAME " = [1], b = 2}");
    gives("a.npz", "([i8], f32)", f, "([1], 2.0)");
    gives("a.npz", "([i8], [f32])", f, "a.npz: member b: expected 1 dimension, found 0");
    gives("a.npz", "(f32, [i8], i8)", f, "a.npz: expected 3 arrays, found 2");
    gives("a.npz", "{b: f32, c: i8}", f, "a.npz: there is no array c");
    gives("a.npz", "{" LONG_NAME ": [u8]}", f,
          "a.npz: member a_name_that_is_longer_than_what_a_message_shows_of_it_which_are_eighty_bytes_and: expected "
          "elements of type u8 ('|u1'), found '|i1'");
    gives("a.npz", "{x: [i8]}", f, "a.npz: expected 1 arrays, found 2");
    gives("a.npz", "[(i8, i8)]", f,
          "a.npz: a .npz file holds arrays of scalars, for the fields of a record or the items of a tuple");
    gives("a.npz", "{b: (i8, i8)}", f,
          "a.npz: a .npz file holds arrays of scalars, for the fields of a record or the items of a tuple");
    gives("a.npz", "()", f,
          "a.npz: a .npz file holds arrays of scalars, for the fields of a record or the items of a tuple");
    f.bytes[f.n - END - 46 - strlen("b.npy")] = 'p'; /* the second entry */
    gives("a.npz", "([i8], f32)", f, NOT_VALID("576", "the directory is damaged"));
    gives("a.npz", "{b: f32}", f, NOT_VALID("576", "the directory is damaged"));
    free(f.bytes);
    /* a short file, and a long one: a comment may stand at the end */
    f = (File){calloc(1, 100000), 21};
    gives("a.npz", "[i8]", f, NOT_VALID("0", "the directory of the archive is missing"));
    f.n = 100000;
    gives("a.npz", "[i8]", f, NOT_VALID("0", "the directory of the archive is missing"));
    free(f.bytes);
    refuses("a.npz", "[(i8, i8)]",
            "a .npz file holds arrays of scalars, in a record or a tuple, which the result is not");
}

/* Each member of a record or tuple that cannot be written as .npy stops it. */
static void test_ragged(void **state)
{
    (void)state;
    static const char *const types[] = {"[[i8]]", "(bool, [[i8]])"};
    static const char *const values[] = {"[[1], []]", "(true, [[1], []])"};
    for (size_t i = 0; i < 2; i++) {
        DpType *t = dp_type_parse(types[i]);
        DpLeaf leaves[MAX_LEAVES];
        DpReader r = {"text", values[i], strlen(values[i]), 0};
        char error[TEXT_BYTES] = "", *bytes = NULL;
        size_t n;
        assert_true(dp_read_text(&r, t, leaves, error, sizeof error));
        FILE *out = open_memstream(&bytes, &n);
        assert_false(dp_write_npz(out, t, leaves, (DpError){error, sizeof error, NULL}));
        fclose(out);
        free(bytes);
        assert_non_null(strstr(error, "differ in length"));
        dp_leaves_free(leaves, dp_type_leaves(t));
        dp_type_free(t);
    }
}

/* ---- packed files ---- */

/* More than zlib is given at once, of what cannot be packed and of what can. */
static void test_long_packed(void **state)
{
    (void)state;
    enum { BYTES = 3 << 20 };
    DpError e = {(char[TEXT_BYTES]){0}, TEXT_BYTES, NULL};
    char *bytes = malloc(BYTES), *packed = NULL;
    size_t n = 0, length;
    for (int noise = 0; noise < 2; noise++) {
        uint64_t x = 1;
        for (size_t i = 0; i < BYTES; i++, x = x * 6364136223846793005u + 1442695040888963407u)
            bytes[i] = (char)(noise ? x >> 56 : 7);
        FILE *out = open_memstream(&packed, &n);
        bool ok = dp_gzip(out, bytes, BYTES, e);
        fclose(out);
        char *back = ok ? dp_gunzip("a.gz", packed, n, &length, e) : NULL;
        if (back) {
            assert_int_equal(length, BYTES);
            assert_memory_equal(back, bytes, BYTES);
        } else if (!is_missing(e.text)) {
            fail_msg("%s", e.text);
        }
        free(back);
        free(packed);
    }
    free(bytes);
}

static void test_damaged_gzip(void **state)
{
    (void)state;
    File f = seed("gz/two");
    gives("a.csv.gz", "[(i64, f64)]", f, "[(1, 2.0), (3, 4.0)]");
    for (size_t n = 0; n < f.n; n++) {
        char got[TEXT_BYTES];
        read_file("a.csv.gz", "[(i64, f64)]", f.bytes, n, got);
        assert_true(is_missing(got) || strstr(got, "the gzip'd file is cut off") || strcmp(got, "[(1, 2.0)]") == 0);
    }
    f.bytes[0] ^= 1;
    gives("a.csv.gz", "[(i64, f64)]", f, "a.csv.gz: at byte 2: the gzip'd file is damaged");
    free(f.bytes);
}

/* ---- JPEG ---- */

static size_t find_marker(File f, int marker)
{
    size_t at = 0;
    while (f.bytes[at] != 0xff || f.bytes[at + 1] != marker)
        at++;
    return at;
}

static void test_jpeg(void **state)
{
    (void)state;
    File f = seed("jpg/gray");
    gives("a.jpg", "[i8]", f,
          "a.jpg: a JPEG file holds [h][w]u8 or [h][w](u8, u8, u8), which is not this parameter's type");
    size_t sizes = find_marker(f, 0xc0) + 5; /* height and width */
    unsigned char old[4];
    memcpy(old, f.bytes + sizes, 4);
    memset(f.bytes + sizes, 0x7f, 4);
    gives("a.jpg", "[[u8]]", f, "a.jpg: the image of 32639 by 32639 is larger than the file may hold");
    memcpy(f.bytes + sizes, (const unsigned char[]){0x3f, 0xff, 0x3f, 0xff}, 4);
    gives("a.jpg", "[[u8]]", f, "a.jpg: the image of 16383 by 16383 is larger than the file may hold");
    memcpy(f.bytes + sizes, old, 4);
    gives("a.jpg", "[[u8]]", (File){f.bytes, 0}, "a.jpg: not a valid JPEG file: Empty input file");
    gives("a.jpg", "[[u8]]", (File){f.bytes, f.n - 2}, "a.jpg: not a valid JPEG file: Premature end of JPEG file");
    free(f.bytes);
}

static void put(File *f, const void *bytes, size_t n)
{
    memcpy(f->bytes + f->n, bytes, n);
    f->n += n;
}

/* A gray image of 8 by 8 in scans of one coefficient each, of which there may be 100. */
static File image_of_scans(int scans)
{
    static const unsigned char quantise[] = {0xff, 0xd8, 0xff, 0xdb, 0, 0x43, 0};
    static const unsigned char frame[] = {0xff, 0xc2, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0};
    static const unsigned char codes[] = {0xff, 0xc4, 0, 20}, first[] = {0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0, 0x7f};
    static const unsigned char end[] = {0xff, 0xd9};
    File f = {calloc(1, 1000 + 12 * (size_t)scans), 0};
    put(&f, quantise, sizeof quantise);
    memset(f.bytes + f.n, 1, 64);
    f.n += 64;
    put(&f, frame, sizeof frame);
    for (unsigned char table = 0; table <= 0x10; table += 0x10) { /* one code of one bit, for 0 */
        put(&f, codes, sizeof codes);
        f.bytes[f.n] = table;
        f.bytes[f.n + 1] = 1;
        f.n += 18;
    }
    put(&f, first, sizeof first);
    for (int i = 0; i < scans - 1; i++) { /* each coefficient, in three steps of precision */
        static const unsigned char steps[] = {2, 0x21, 0x10};
        unsigned char k = (unsigned char)(1 + i % 63);
        const unsigned char scan[] = {0xff, 0xda, 0, 8, 1, 1, 0, k, k, steps[i / 63], 0x7f};
        put(&f, scan, sizeof scan);
    }
    put(&f, end, sizeof end);
    return f;
}

static void test_jpeg_scans(void **state)
{
    (void)state;
    File f = image_of_scans(64);
    char got[TEXT_BYTES];
    read_file("a.jpg", "[[u8]]", f.bytes, f.n, got);
    if (!is_missing(got) && strncmp(got, "[\"\\x80\\x80", 10) != 0)
        fail_msg("%s", got);
    free(f.bytes);
    f = image_of_scans(127);
    gives("a.jpg", "[[u8]]", f, "a.jpg: not a valid JPEG file: the image has more than 100 scans");
    free(f.bytes);
}

/* A writer of images whose file is full: the stream says so at its end. */
static void test_full_disk(void **state)
{
    (void)state;
    FILE *out = fopen("/dev/full", "w");
    if (!out)
        skip();
    uint8_t pixel = 7;
    uint64_t one = 1;
    DpLeaf leaf = {.scalar = DP_U8, .rank = 2, .lens = {&one, &one}, .nlens = {1, 1}, .data = &pixel, .ndata = 1};
    DpType *t = dp_type_parse("[[u8]]");
    char error[TEXT_BYTES] = "";
    setvbuf(out, NULL, _IONBF, 0);
    bool ok = dp_write_png(out, t, &leaf, (DpError){error, sizeof error, NULL});
    assert_true(is_missing(error) || (ok && ferror(out)));
    fclose(out);
    leaf.nlens[1] = 0;
    one = 0;
    assert_false(dp_write_png(stdout, t, &leaf, (DpError){error, sizeof error, NULL}));
    dp_type_free(t);
}

/* Scans that come again are damage. */
static void test_jpeg_repeated(void **state)
{
    (void)state;
    enum { SCANS = 200 };
    File f = seed("jpg/progressive"), many = {0};
    size_t first = f.n - 2; /* the last scan's marker: all but the marker of the end belongs to it */
    while (f.bytes[first] != 0xff || f.bytes[first + 1] != 0xda)
        first--;
    size_t scan = f.n - 2 - first;
    many.bytes = malloc(f.n + SCANS * scan);
    memcpy(many.bytes, f.bytes, f.n - 2);
    many.n = f.n - 2;
    for (int i = 0; i < SCANS; i++, many.n += scan)
        memcpy(many.bytes + many.n, f.bytes + first, scan);
    memcpy(many.bytes + many.n, f.bytes + f.n - 2, 2);
    many.n += 2;
    char got[TEXT_BYTES];
    read_file("a.jpg", "[[(u8, u8, u8)]]", many.bytes, many.n, got);
    assert_true(is_missing(got) || strstr(got, "a.jpg: not a valid JPEG file: "));
    free(f.bytes);
    free(many.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_archive),
        cmocka_unit_test(test_packed_members),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_ragged),
        cmocka_unit_test(test_long_packed),
        cmocka_unit_test(test_damaged_gzip),
        cmocka_unit_test(test_jpeg),
        cmocka_unit_test(test_jpeg_scans),
        cmocka_unit_test(test_jpeg_repeated),
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
