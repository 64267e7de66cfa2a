/* One reader of values (DPC_FUZZ_FORMAT is the ending): the first byte chooses the type and whether checksums are
 * mended, the rest is the file. What is read is written as text, as .dpv and in its own format, and has to be the same
 * value again. */
#include "fuzz.h"

#include "../../runtime/values/values.h"

#include <string.h>

static const char *const types[] = {"[i64]",
                                    "[[f64]]",
                                    "[[(i32, f64)]]",
                                    "[u8]",
                                    "[[u8]]",
                                    "[[(u8, u8, u8)]]",
                                    "[{a: i64, b: [u8], c: f32}]",
                                    "f32",
                                    "[bool]",
                                    "[[i16]]",
                                    "[(i32, {name: [u8], size: f32})]",
                                    "#a i64 | #b | #c [[u16]]",
                                    "[#x (i64, [u8]) | #y]",
                                    "()",
                                    "[[[[i8]]]]",
                                    "u64",
                                    "[()]",
                                    "[[(u8, i8)]]",
                                    "{p: [(f64, f64)], q: [[bool]]}",
                                    "[f32]",
                                    "[([u8], bool, u16, i8)]",
                                    "[{a: #none | #some f32, b: #none | #some [u8]}]",
                                    "[(i64,)]",
                                    "#a (#b i64 | #c) | #d [#e | #f [()]]",
                                    "[[i8]]",
                                    "[[f32]]",
                                    "[[(u64, f32)]]",
                                    "(i8, u32, [[bool]])"};
enum { TYPES = sizeof types / sizeof *types, MEND = 128, ERROR_BYTES = 512 };

/* ---- checksums, which no fuzzer guesses ---- */

static uint32_t crc_of(const uint8_t *bytes, size_t n)
{
    DpCrc crc;
    dp_crc_begin(&crc);
    dp_crc_add(&crc, bytes, n);
    return dp_crc_end(&crc);
}

static void mend_png(uint8_t *b, size_t n)
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

static void mend_dpv(uint8_t *b, size_t n)
{
    if (n < 4)
        return;
    uint32_t sum = crc_of(b, n - 4);
    for (size_t i = 0; i < 4; i++)
        b[n - 4 + i] = (uint8_t)(sum >> (8 * i));
}

/* ---- values ---- */

static DpLeaf *new_leaves(const DpType *t)
{
    DpLeaf *leaves = calloc(dp_type_leaves(t), sizeof *leaves);
    FUZZ_CHECK(leaves, "no memory");
    dp_leaves_init(leaves, t);
    return leaves;
}

static void free_leaves(DpLeaf *leaves, const DpType *t)
{
    dp_leaves_free(leaves, dp_type_leaves(t));
    free(leaves);
}

/* What the writer refuses is not its fault. */
static void check_format(const char *name, const DpType *t, const DpLeaf *leaves)
{
    char error[ERROR_BYTES] = "", *bytes = NULL;
    size_t n = 0;
    DpError e = {error, sizeof error, NULL};
    const DpPlace place = dp_place_of(name, NULL);
    FILE *out = open_memstream(&bytes, &n);
    bool written = dp_place_write(&place, out, t, leaves, e);
    fclose(out);
    FUZZ_CHECK(written || error[0], "%s: refused without a message", name);
    if (written) {
        DpLeaf *back = new_leaves(t);
        FUZZ_CHECK(dp_place_read(&place, name, bytes, n, t, back, e), "%s is not read again: %s\n%.300s", name, error,
                   bytes);
        FUZZ_CHECK(dp_leaves_equal(t, leaves, back, 0), "%s comes back as another value\n%.300s", name, bytes);
        free_leaves(back, t);
    }
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char *const name = "a" DPC_FUZZ_FORMAT;
    char error[ERROR_BYTES] = "";
    const DpPlace place = dp_place_of(name, NULL);
    if (n < 1)
        return 0;
    DpType *t = dp_type_parse(types[bytes[0] % MEND % TYPES]);
    FUZZ_CHECK(t, "a wrong type");
    uint8_t *file = malloc(n);
    memcpy(file, bytes + 1, n - 1);
    if (bytes[0] >= MEND && strcmp(DPC_FUZZ_FORMAT, ".png") == 0)
        mend_png(file, n - 1);
    if (bytes[0] >= MEND && strcmp(DPC_FUZZ_FORMAT, ".dpv") == 0)
        mend_dpv(file, n - 1);
    DpLeaf *leaves = new_leaves(t);
    if (dp_place_read(&place, name, (const char *)file, n - 1, t, leaves, (DpError){error, sizeof error, NULL})) {
        check_format("a.txt", t, leaves);
        check_format("a.dpv", t, leaves);
        check_format(name, t, leaves);
    } else {
        FUZZ_CHECK(error[0], "no message");
        FUZZ_CHECK(strncmp(error, name, strlen(name)) == 0, "a message without the file: %s", error);
        for (uint32_t i = 0; i < dp_type_leaves(t); i++)
            FUZZ_CHECK(!leaves[i].data, "something is left after %s", error);
    }
    free_leaves(leaves, t);
    free(file);
    dp_type_free(t);
    return 0;
}
