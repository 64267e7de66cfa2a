/* Arrow's arrays as the library sees them. Private to the library.
 *
 * An array has a format, a text in its schema; what is said about it here is its *layout*: where the buffers are that
 * its values lie in. A slot is the place of a value: slot i of an array with an offset is number offset + i in its
 * buffers, and in the children of a struct. */
#ifndef DPC_EMBED_ARROW_H
#define DPC_EMBED_ARROW_H

#include "values.h"

typedef enum ArrowLayout {
    ARROW_NUMBERS,   /* buffers: validity, numbers */
    ARROW_BITS,      /* validity, bits */
    ARROW_NOTHING,   /* no buffers: all slots are null */
    ARROW_LIST,      /* validity, offsets of 32 bits; a child */
    ARROW_LARGE,     /* likewise, of 64 bits */
    ARROW_VIEWS,     /* validity, offsets and sizes of 32 bits; a child */
    ARROW_BIG_VIEWS, /* likewise, of 64 bits */
    ARROW_FIXED,     /* validity; a child with `size` values for each slot */
    ARROW_TEXT,      /* validity, offsets of 32 bits, bytes */
    ARROW_BIG_TEXT,  /* likewise, of 64 bits */
    ARROW_TEXT_VIEW, /* validity, views, bytes …, how many each of these has */
    ARROW_BYTES,     /* validity, `size` bytes for each slot */
    ARROW_STRUCT,    /* validity; children */
    ARROW_SPARSE,    /* types, children of as many slots */
    ARROW_DENSE      /* types, offsets; children */
} ArrowLayout;

typedef struct ArrowFormat {
    ArrowLayout layout;
    DpScalar scalar;  /* of numbers, and of bits */
    int64_t size;     /* of what has a fixed one */
    const char *name; /* for messages: "f64", "lists" */
    const char *ids;  /* of unions: "0,1,2" */
} ArrowFormat;

static inline bool dpc_arrow_is_union(const ArrowFormat *f)
{
    return f->layout == ARROW_SPARSE || f->layout == ARROW_DENSE;
}

/* False: none that is read. */
bool dpc_arrow_format(const char *text, ArrowFormat *format);
/* Is there all that the schema and the array must have? NULL, or what is wrong. */
const char *dpc_arrow_check_schema(const ArrowFormat *f, const struct ArrowSchema *schema);
const char *dpc_arrow_check(const ArrowFormat *f, const struct ArrowSchema *schema, const struct ArrowArray *array);

/* Where the bytes of a text are; a list's values are in its child. */
typedef struct ArrowExtent {
    int64_t at, n;
    int64_t buffer; /* of ARROW_TEXT_VIEW: -1, the views themselves, or one of the others; else 0 */
} ArrowExtent;
/* Of a slot of a list or text. NULL, or what is wrong: whether that many are there is asked by the caller. */
const char *dpc_arrow_extent(const ArrowFormat *f, const struct ArrowArray *a, int64_t slot, ArrowExtent *to);

/* A bit of a bitmap, of validity or of bools. */
static inline bool dpc_arrow_bit(const void *bits, int64_t i) { return ((const uint8_t *)bits)[i / 8] >> i % 8 & 1; }

#endif
