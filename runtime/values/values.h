/* What the readers and writers of values share. Private to runtime/values.
 *
 * Everything here reports failures by returning false with a message, out of memory included: the
 * library is linked into programs that have their own way to stop.
 *
 * WHAT A FILE MAY COST. Every reader takes time and memory linear in the bytes of the file plus those of the value that
 * it gives, by a factor that depends on the type only, and the value is bounded by the file:
 *   - each element, and each row that is not empty, has bytes of its own in the file;
 *   - a header may promise DP_FREE_LENGTHS rows without such bytes (0 columns), in all leaves and levels together;
 *   - images are compressed: DP_FREE_IMAGE_BYTES and DP_DEFLATE_MOST times the file's bytes at most, and memory is only
 *     touched as far as the image has been decoded;
 *   - .gz files and members of .npz and .h5 are read as they are unpacked, which are DP_DEFLATE_MOST times as many
 * bytes at most. Recursion is as deep as the type, never as the file. What a header promises is checked before anything
 * is allocated (dp_shape_plausible), so that the arithmetic behind that cannot overflow. */
#ifndef DP_VALUES_H
#define DP_VALUES_H

#include "dp_args.h"
#include "dp_value.h"

#if defined(__GNUC__)
#define DP_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define DP_PRINTF(text, first)
#endif

/* ---- messages ---- */
/* Where a message goes; always returns false, so that `return dp_error(…)` fails. errno becomes EINVAL. */
typedef struct DpError {
    char *text;
    size_t bytes;
    FILE *notes; /* where remarks go about what was read; NULL: nowhere */
} DpError;
/* "note: path: …" and a newline. */
void dp_note(DpError e, const char *path, const char *format, ...) DP_PRINTF(3, 4);
bool dp_error(DpError e, const char *format, ...) DP_PRINTF(2, 3);
/* About the place text[at] of a text file: "path:line:column: …", columns in bytes. */
bool dp_error_at(DpError e, const char *path, const char *text, size_t at, const char *format, ...) DP_PRINTF(5, 6);
bool dp_error_memory(DpError e, const char *path); /* ENOMEM; path: "" for writers, whose messages lack it */
/* A printable description of what stands at text[0..n): "end of the input", or its first word in quotes. */
enum { DP_FOUND_BYTES = 80 };
void dp_describe(char out[DP_FOUND_BYTES], const char *text, size_t n);

/* ---- memory ---- */
/* malloc of n elements (at least one byte); NULL also where the product overflows. */
void *dp_alloc_array(uint64_t n, size_t bytes);

/* ---- what a file may cost ---- */
enum { DP_FREE_LENGTHS = 1 << 20, DP_FREE_IMAGE_BYTES = 1 << 28, DP_DEFLATE_MOST = 1032 };
/* May a file of so many bytes hold an array of this shape, in so many leaves, if it has room for `most` elements? Then
 * *count is their number, and no number of lengths or elements overflows. */
bool dp_shape_plausible(const uint64_t *shape, uint32_t rank, uint32_t leaves, uint64_t file_bytes, uint64_t most,
                        uint64_t *count);
/* Writers refuse what would not be read again: too many empty rows. least_bytes: what the file has at least. `format`:
 * "a .npy file". */
bool dp_shape_writable(const uint64_t *shape, uint32_t rank, uint32_t leaves, uint64_t least_bytes, const char *format,
                       DpError e);

/* ---- scalars ---- */
static inline bool dp_scalar_is_float(DpScalar s) { return s == DP_F32 || s == DP_F64; }
uint64_t dp_bits_of_double(DpScalar s, double x); /* s is a float type; rounds */

/* Files have an order of bytes, and so has the machine. */
bool dp_host_is_little(void);
void dp_swap_bytes(void *data, uint64_t n, size_t bytes); /* of each of n elements */
/* The text of a number or bool that reads back the same (floats: with the fewest digits); not terminated. */
enum { DP_SCALAR_TEXT = 64 };
size_t dp_print_scalar(char text[DP_SCALAR_TEXT], const DpLeaf *leaf, uint64_t at);

/* ---- literals ---- */
typedef enum DpLiteral {
    DP_LIT_OK,
    DP_LIT_MALFORMED,
    DP_LIT_KIND,
    DP_LIT_RANGE,
    DP_LIT_SUFFIX,
    DP_LIT_MEMORY
} DpLiteral;
/* Reads a number, without its sign, as a value of type s. DP_LIT_KIND: a float where an integer is wanted. */
DpLiteral dp_parse_number(const char *text, size_t n, bool negative, DpScalar s, uint64_t *bits);
/* Reads a decimal number as other programs print it, sign included: `1.`, `.5`, `+2e3`, `NaN`, `-Infinity`; s is a
 * float type. */
DpLiteral dp_parse_real(const char *text, size_t n, DpScalar s, uint64_t *bits);
/* Reads decimal digits, and nothing else. */
DpLiteral dp_parse_size(const char *text, size_t n, uint64_t *size);
/* One character of a string or character literal at text[*at], which is not the closing quote; NULL, or what is wrong.
 */
const char *dp_parse_character(const char *text, size_t n, size_t *at, uint8_t *byte);

/* ---- leaves under construction ---- */
typedef struct DpBuilder {
    DpLeaf *leaf;
    uint64_t cap_lens[DP_MAX_RANK], cap_data;
} DpBuilder;
bool dp_build_length(DpBuilder *b, uint32_t level, uint64_t n);
bool dp_build_scalar(DpBuilder *b, uint64_t bits);
bool dp_build_bytes(DpBuilder *b, const char *bytes, size_t n); /* of a leaf of u8 */
/* An array of type t whose leaves begin with builders[first]. Its length's place is taken before its elements are
 * added, as their own lengths stand behind it on deeper levels only; `level` is how many arrays are open around it. */
bool dp_build_begin_array(DpBuilder *builders, const DpType *t, uint32_t first, uint32_t level, uint64_t *slot);
void dp_build_end_array(DpBuilder *builders, const DpType *t, uint32_t first, uint32_t level, uint64_t slot,
                        uint64_t count);
/* A value that is not there, such as the payload of another constructor: zeros and empty arrays. */
bool dp_build_nothing(DpBuilder *builders, const DpType *t, uint32_t *leaf, uint32_t level);

/* ---- regular leaves ---- */
/* Allocates the leaf for an array of this shape, with its lengths and without its elements. The shape must have been
 * found plausible (dp_shape_plausible). On failure what was allocated is left to dp_leaves_free. */
bool dp_leaf_make(DpLeaf *leaf, const uint64_t *shape);
/* The shape, if all sequences of a level have the same length. */
bool dp_leaf_shape(const DpLeaf *leaf, uint64_t *shape);
/* A type that is a nested sequence of one scalar type: [[f32]] gives rank 2. */
bool dp_type_is_regular(const DpType *t, DpScalar *scalar, uint32_t *rank);

/* ---- types ---- */
bool dp_type_equal(const DpType *a, const DpType *b);
/* Which dp_type_parse reads; malloc'd, NULL: out of memory. declared: with `text`, and fields as they were written. */
char *dp_type_print(const DpType *t, bool declared);
/* [text] or [[u8]]? */
static inline bool dp_type_is_strings(const DpType *t)
{
    return t->kind == DP_T_ARRAY && dp_type_is_string(t->element);
}

/* ---- matrices ---- */
bool dp_mtx_type(const DpType *t, bool *coordinate); /* [[(i, t)]] or [[t]], t a number? */

/* ---- images: [h][w]u8 is gray, [h][w](u8, u8, u8) is coloured ---- */
bool dp_image_type(const DpType *t, uint32_t *channels); /* 1 or 3 */
/* Leaves with lengths and without samples; false, and nothing to free, if memory runs out. */
bool dp_image_make(uint64_t h, uint64_t w, uint32_t channels, DpLeaf *leaves);
/* Fills the leaves from h * w * channels samples, pixel by pixel. */
bool dp_image_store(const char *path, const uint8_t *samples, uint64_t h, uint64_t w, uint32_t channels, DpLeaf *leaves,
                    DpError e);
/* The samples of a value, pixel by pixel (malloc'd); NULL and a message where rows differ in length. */
uint8_t *dp_image_load(const DpLeaf *leaves, uint32_t channels, uint64_t *h, uint64_t *w, DpError e);

/* ---- checksums: CRC-32 as in PNG and zip ---- */
typedef struct DpCrc {
    uint32_t table[8][256];
    uint32_t state;
} DpCrc;
void dp_crc_begin(DpCrc *c);
void dp_crc_add(DpCrc *c, const void *bytes, size_t n);
uint32_t dp_crc_end(DpCrc *c); /* the sum; the next one may be begun by dp_crc_add */

/* ---- packed bytes ---- */
/* The bytes of a gzip'd file, malloc'd; NULL and a message. */
char *dp_gunzip(const char *path, const char *bytes, size_t n, size_t *unpacked, DpError e);
bool dp_gzip(FILE *out, const char *bytes, size_t n, DpError e);
/* Raw deflate into exactly `unpacked` bytes. */
bool dp_inflate(const char *bytes, size_t n, char *out, size_t unpacked, const char *path, DpError e);

/* ---- files of several arrays ---- */
/* The arrays go to the fields of a record by their names, or, where no array has one of them, by order, as to the items
 * of a tuple; a single array is a single member. */
typedef struct DpArchive {
    const char *path, *kind; /* kind: ".npz" */
    DpError error;
    uint32_t members; /* that there are */
    /* Finds the member of this name, or with NULL the one at `index`: *found. The next `read` reads it. */
    bool (*find)(struct DpArchive *a, const char *name, uint32_t index, bool *found);
    bool (*read)(struct DpArchive *a, const DpType *t, DpLeaf *leaf);
    bool (*write)(struct DpArchive *a, const char *name, const DpType *t, const DpLeaf *leaf);
} DpArchive;
/* Can values of this type be in one? Else what a message says of it is written. */
bool dp_archive_takes(const DpArchive *a, const DpType *t, bool writing);
bool dp_archive_read(DpArchive *a, const DpType *t, DpLeaf *leaves);
bool dp_archive_write(DpArchive *a, const DpType *t, const DpLeaf *leaves);

/* ---- formats ---- */
/* Readers are given the whole file, and leave nothing in the leaves when they fail. Writers' messages lack the path. */
typedef bool DpReadFormat(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e);
typedef bool DpWriteFormat(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e);
DpReadFormat dp_read_csv, dp_read_csv_comma, dp_read_csv_semicolon, dp_read_csv_bar, dp_read_tsv, dp_read_dpv,
    dp_read_hdf5, dp_read_jpeg, dp_read_json, dp_read_lines, dp_read_mtx, dp_read_npy, dp_read_npz, dp_read_png,
    dp_read_pnm, dp_read_raw;
DpWriteFormat dp_write_csv, dp_write_csv_semicolon, dp_write_csv_bar, dp_write_tsv, dp_write_dpv, dp_write_hdf5,
    dp_write_json, dp_write_lines, dp_write_mtx, dp_write_npy, dp_write_npz, dp_write_pgm, dp_write_png, dp_write_ppm,
    dp_write_raw;

typedef struct DpFormat {
    const char *name;   /* what stands before the colon of a prefix */
    const char *ending; /* of names, or NULL */
    DpReadFormat *read;
    DpWriteFormat *write; /* NULL: only read */
} DpFormat;
/* By the ending of the name; *known: the name has an ending that the language lists. Literals otherwise. */
const DpFormat *dp_format_of(const char *path, bool *known);

/* What the name of a file stands for: a prefix decides on the format, else `text` and [text], else the ending. */
typedef struct DpPlace {
    const DpFormat *format;
    const char *path;                       /* without the prefix; "-": a standard stream */
    bool is_prefixed, has_ending, is_known; /* known: by its prefix or ending */
    bool is_packed;                         /* .gz stands behind the ending */
} DpPlace;
DpPlace dp_place_of(const char *name, const DpType *t); /* t: NULL where no type is to decide */
bool dp_place_is_literals(const DpPlace *p);
/* Reads what is in memory as the place says; path is for messages. */
bool dp_place_read(const DpPlace *p, const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves,
                   DpError e);
bool dp_place_write(const DpPlace *p, FILE *out, const DpType *t, const DpLeaf *leaves, DpError e);
/* What the format writes, malloc'd; NULL and a message. */
char *dp_write_memory(DpWriteFormat *write, const DpType *t, const DpLeaf *leaves, size_t *n, DpError e);

/* ---- text ---- */
/* Where a text begins: *at is behind the mark of UTF-8, if there is one. False and a message for the marks of UTF-16
 * and 32. */
bool dp_text_begin(const char *path, const char *text, size_t n, size_t *at, DpError e);
/* Moves past white space and comments. */
void dp_skip_space(DpReader *r);
/* "path:line:column: expected `what`, found …", behind white space; returns false. */
bool dp_expected(DpReader *r, const char *what, DpError e);

#endif
