/* What the readers and writers of values share. Private to runtime/values.
 *
 * Everything here reports failures by returning false with a message, out of memory included: the
 * library is linked into programs that have their own way to stop. */
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
/* Where a message goes; always returns false, so that `return dp_error(…)` fails. */
typedef struct DpError { char *text; size_t bytes; } DpError;
bool dp_error(DpError e, const char *format, ...) DP_PRINTF(2, 3);
bool dp_error_memory(DpError e, const char *path);
/* A printable description of what stands at text[0..n): "end of the input", or its first word in quotes. */
enum { DP_FOUND_BYTES = 80 };
void dp_describe(char out[DP_FOUND_BYTES], const char *text, size_t n);

/* ---- memory ---- */
/* malloc of n elements (at least one byte); NULL also where the product overflows. */
void *dp_alloc_array(uint64_t n, size_t bytes);
/* May a file of so many bytes stand for so many rows or lengths? Rows may be empty, so that their number is not
 * bounded by the data; but absurd numbers in a header must not fill the memory. */
bool dp_count_plausible(uint64_t n, uint64_t file_bytes);

/* ---- scalars ---- */
const char *dp_scalar_name(DpScalar s); /* "i32" */
static inline bool dp_scalar_is_float(DpScalar s) { return s == DP_F32 || s == DP_F64; }
/* The range of an integer type, as a magnitude on each side of zero. */
uint64_t dp_scalar_limit(DpScalar s, bool negative);
/* Bits as in the compiler's constants: integers extended to 64 bits, f32 in the low half. */
void dp_scalar_store(DpScalar s, void *data, uint64_t at, uint64_t bits);
uint64_t dp_scalar_load(DpScalar s, const void *data, uint64_t at);
uint64_t dp_bits_of_double(DpScalar s, double x); /* s is a float type; rounds */

/* ---- literals ---- */
typedef enum DpLiteral { DP_LIT_OK, DP_LIT_MALFORMED, DP_LIT_KIND, DP_LIT_RANGE, DP_LIT_SUFFIX } DpLiteral;
/* Reads a number, without its sign, as a value of type s. DP_LIT_KIND: a float where an integer is wanted. */
DpLiteral dp_parse_number(const char *text, size_t n, bool negative, DpScalar s, uint64_t *bits);
/* One character of a string or character literal at text[*at], which is not the closing quote; NULL, or what is wrong. */
const char *dp_parse_character(const char *text, size_t n, size_t *at, uint8_t *byte);

/* ---- leaves under construction ---- */
typedef struct DpBuilder {
    DpLeaf *leaf;
    uint64_t cap_lens[DP_MAX_RANK], cap_data;
} DpBuilder;
bool dp_build_length(DpBuilder *b, uint32_t level, uint64_t n);
bool dp_build_scalar(DpBuilder *b, uint64_t bits);

/* A type that is a nested sequence of one scalar type: [[f32]] gives rank 2. */
bool dp_type_is_regular(const DpType *t, DpScalar *scalar, uint32_t *rank);

/* ---- formats ---- */
bool dp_read_npy(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e);
bool dp_write_npy(FILE *out, const DpType *t, const DpLeaf *leaf, DpError e);
bool dp_read_mtx(const char *path, const char *text, size_t n, const DpType *t, DpLeaf *leaves, DpError e);

typedef enum DpFormat { DP_FORMAT_TEXT, DP_FORMAT_NPY, DP_FORMAT_MTX, DP_FORMAT_UNSUPPORTED } DpFormat;
/* By the ending of the name; *known: the name has an ending that the language lists. */
DpFormat dp_format_of(const char *path, bool *known);

/* ---- text ---- */
/* Moves past white space and comments. */
void dp_skip_space(DpReader *r);

#endif
