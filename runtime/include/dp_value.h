/* Values outside the program: reading and writing them, in every format.
 *
 * A value of a source type is stored leaf by leaf (structure of arrays), leaves in the order of the compiler's
 * core_leaves: (i32, [(f64, [u8])]) has the leaves i32, [f64], [[u8]]; unit is one bool; records' fields and sums'
 * constructors in the order of their names; a sum has a tag leaf (dp_tag_scalar), then the payloads'.
 *
 * A leaf of rank r is a nested sequence in flat form, one array of lengths per level:
 *   [[5,6,7],[],[8]] : [[i32]]   lens[0] = {3}, lens[1] = {3,0,1}, data = {5,6,7,8}
 * Level 0 has one length; level l has as many as the sum of level l-1's. Scalars (rank 0) have ndata = 1.
 *
 * Used by the compiler (`dpc run`, `dpc test`), and by the executables it makes.
 *
 * Where reading or writing fails, errno is ENOMEM if memory ran out, EINVAL if the value or the file is not what it
 * has to be, or the system's reason: dp_status.h makes exit statuses of it. */
#ifndef DP_VALUE_H
#define DP_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum DpScalar { /* the same order as the compiler's Scalar */
                        DP_BOOL,
                        DP_I8,
                        DP_I16,
                        DP_I32,
                        DP_I64,
                        DP_U8,
                        DP_U16,
                        DP_U32,
                        DP_U64,
                        DP_F32,
                        DP_F64,
                        DP_SCALAR_COUNT
} DpScalar;
uint32_t dp_scalar_bytes(DpScalar s);
const char *dp_scalar_name(DpScalar s); /* "i32" */
/* The range of an integer type, as a magnitude on each side of zero. */
uint64_t dp_scalar_limit(DpScalar s, bool negative);
/* Bits as in the compiler's constants: integers extended to 64 bits, f32 in the low half. */
void dp_scalar_store(DpScalar s, void *data, uint64_t at, uint64_t bits);
uint64_t dp_scalar_load(DpScalar s, const void *data, uint64_t at);

typedef enum DpTypeKind { DP_T_SCALAR, DP_T_TUPLE, DP_T_RECORD, DP_T_SUM, DP_T_ARRAY } DpTypeKind;
typedef struct DpType DpType;
struct DpType {
    DpTypeKind kind;
    DpScalar scalar;
    uint32_t n;      /* tuple, record, sum */
    char **names;    /* record, sum */
    DpType **items;  /* tuple, record, sum (NULL: constructor without payload) */
    DpType *element; /* array */
    bool is_text;    /* array: written as `text`, a [u8] whose files are raw bytes */
    uint32_t *order; /* record: the items in the order in which they were written */
};
/* Parses "[(i32, f64)]", "{x: f32, y: f32}", "#a i32 | #b", "text". NULL if malformed. Free with dp_type_free. */
DpType *dp_type_parse(const char *text);
void dp_type_free(DpType *t);
uint32_t dp_type_leaves(const DpType *t); /* how many leaves */
/* The type of the tag of a sum of n constructors: u8, or u16 or u32 where they are more. */
DpScalar dp_tag_scalar(uint32_t n);
enum { DP_MAX_CONSTRUCTORS = 4096 };
/* The leaves of the items before this one; a sum's tag is not counted. */
uint32_t dp_type_leaves_before(const DpType *t, uint32_t item);
/* #none | #c t, of any c? Then what is missing in a file is #none. */
bool dp_type_is_option(const DpType *t, uint32_t *none, uint32_t *some);
/* [u8], a text? */
static inline bool dp_type_is_string(const DpType *t)
{
    return t->kind == DP_T_ARRAY && t->element->kind == DP_T_SCALAR && t->element->scalar == DP_U8;
}

enum { DP_MAX_RANK = 16 };
typedef struct DpLeaf {
    DpScalar scalar;
    uint8_t rank;
    uint64_t *lens[DP_MAX_RANK];
    uint64_t nlens[DP_MAX_RANK];
    void *data; /* malloc'd; natural element size */
    uint64_t ndata;
} DpLeaf;
/* Fills scalar and rank of each leaf, the rest zero. */
void dp_leaves_init(DpLeaf *leaves, const DpType *t);
void dp_leaves_free(DpLeaf *leaves, uint32_t n);
/* The lengths of an array of this shape, and how many elements it has (ndata), for elements that are there already; of
 * one level, so many sequences of this length. False where there is no memory, or no such size. */
bool dp_leaf_make_lengths(DpLeaf *leaf, const uint64_t *shape);
bool dp_leaf_make_level(DpLeaf *leaf, uint32_t level, uint64_t sequences, uint64_t length);

/* ---- reading ---- */
/* Text is read from memory: one value after another, white space and -- comments between. */
typedef struct DpReader {
    const char *path;
    const char *text;
    size_t n, at;
} DpReader;
/* Reads the next value. On failure false, and a message "path:line:column: …" in error (nothing to free). */
bool dp_read_text(DpReader *r, const DpType *t, DpLeaf *leaves, char *error, size_t error_bytes);
/* Only white space and comments left? */
bool dp_reader_done(DpReader *r);
/* Reads a file, "-" for standard input, in the format that a prefix of its name says (`csv:data`), else the type
 * `text`, else the name's ending, see docs/values.md; other endings, and none, are the language's literals, one value
 * and nothing behind it. Sizes declared by a file are checked against its actual length before anything is allocated. A
 * wrong file's message says where: "path:line:column: …" (.csv: "path:line: column N: …", columns of the table), or
 * "path: at byte N: …". Notes go to standard error. What a file may cost is said in runtime/values/values.h. */
bool dp_read_file(const char *name, const DpType *t, DpLeaf *leaves, char *error, size_t error_bytes);
/* The name without the prefix of a format. */
const char *dp_file_path(const char *name);
/* A whole file in memory (NUL-terminated behind its end); NULL and errno on failure. "-" is standard input. Devices,
 * which may never end, give 256 MB at most (EFBIG). */
char *dp_slurp(const char *path, size_t *n);

/* ---- writing ---- */
/* One value on one line, without the newline: floats with the fewest digits that read back the same (always with a
 * point or exponent, or nan/inf/-inf), [u8] as a string literal, other empty sequences as []. False: out of memory,
 * nothing is written. Failures of the stream are its own (dp_stream_done). */
bool dp_write_text(FILE *out, const DpType *t, const DpLeaf *leaves);
/* By the name, as for reading; literals end with a newline. Through dp_output.h: no partial result is left. "-" is
 * standard output, whose own failures are left to dp_stream_done. */
bool dp_write_file(const char *name, const DpType *t, const DpLeaf *leaves, char *error, size_t error_bytes);
/* May a result of this type go to a file of this name? False and a message for endings that no format has, and formats
 * that are only read: to be asked before the value is computed. */
bool dp_output_format_known(const char *name, const DpType *t, char *error, size_t error_bytes);

/* Same values? Floats may differ by `tolerance` relatively (0: exactly the same; nan equals nan). */
bool dp_leaves_equal(const DpType *t, const DpLeaf *a, const DpLeaf *b, double tolerance);
bool dp_leaf_equal(const DpLeaf *a, const DpLeaf *b, double tolerance); /* one leaf */
bool dp_close(double a, double b, double tolerance);                    /* one number */

#endif
