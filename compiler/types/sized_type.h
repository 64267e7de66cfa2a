/* The types of a function's parameters with their sizes, which types alone do not have:
 *
 *     def p (n: i64) (xs: [n]f32) (m: [n][k]i32) : bool
 *     params[0]: i64, size n      params[1]: [f32], length n      params[2]: [[i32]], length n, its rows k
 *
 * An integer parameter whose name is used as a size has that size's value. Sizes inside of sums are not checked by
 * the language, so they do not occur here. */
#ifndef DPC_SIZED_TYPE_H
#define DPC_SIZED_TYPE_H

#include "support/strbuf.h"
#include "dp_value.h"
#include "types/check.h"

typedef enum SizeRule { SIZED_FREE, SIZED_LITERAL, SIZED_NAME } SizeRule;

typedef struct SizedType SizedType;
struct SizedType {
    const DpType *type; /* NULL: the payload of a constructor without one */
    SizeRule rule;      /* of an array's length; SIZED_NAME of an integer: it is that size */
    int64_t literal;
    uint32_t name;    /* SIZED_NAME: which, below Signature.nsizes */
    SizedType *items; /* as type->items, or the one element */
};

typedef struct Signature {
    SizedType *params;
    uint32_t nparams;
    SizedType result; /* as it is declared */
    uint32_t nsizes;
    Name *size_names;
    uint32_t *size_depths; /* by size: how many sequences at most are around one of that length */
} Signature;

/* Of a checked definition; types: its parameters' outside types, and the result's (NULL: it is not wanted), which are
 * kept. */
Signature signature_of(Arena *arena, const Checked *checked, const Def *def, DpType *const *types, uint32_t n,
                       const DpType *result);
/* Without any sizes. */
Signature signature_plain(Arena *arena, DpType *const *types, uint32_t n);

/* A type of the signature as declared, "[n](i64, text)". */
void signature_print_type(StrBuf *out, const Signature *s, const SizedType *t);

#endif
