/* Values as trees: what tests compare, generate and make smaller. Leaves (dp_value.h) are what the evaluators take and
 * give; a tree is the same value in the form in which single parts of it can be looked at, exchanged and taken out.
 *
 *     [(1, #some 2), (3, #none)] : [(i32, #none | #some i32)]
 *     n = 2, items[0]: n = 2, items[0]: bits = 1
 *                             items[1]: bits = 1 (the tag), n = 1, items[0]: bits = 2
 *            items[1]: n = 2, items[0]: bits = 3
 *                             items[1]: bits = 0 (the tag), n = 0
 *
 * A tree does not know its type; the functions take both. */
#ifndef DPC_VALUE_TREE_H
#define DPC_VALUE_TREE_H

#include "dp_value.h"
#include "support/arena.h"
#include "support/strbuf.h"

typedef struct Tree Tree;
struct Tree {
    uint64_t bits; /* scalar: as dp_scalar_load gives them; sum: the constructor */
    uint64_t n;    /* items: a sequence's elements, a tuple's or record's parts, a sum's payload (0 or 1) */
    Tree *items;
};

/* A type and the value's leaves; the tree lives in the arena. */
Tree tree_of_leaves(Arena *arena, const DpType *t, const DpLeaf *leaves);
/* Fills the leaves, freed with dp_leaves_free. */
void tree_to_leaves(const DpType *t, const Tree *v, DpLeaf *leaves);
/* All zeros, empty sequences, and the first of the constructors without a payload, or the first. */
Tree tree_simplest(Arena *arena, const DpType *t);
Tree tree_copy(Arena *arena, const Tree *v);
bool tree_equal(const Tree *a, const Tree *b); /* bit for bit */
/* In the language's literal syntax. */
void tree_print(StrBuf *out, const DpType *t, const Tree *v);

/* The value of a float's bits, and the bits of that type. */
double float_of_bits(DpScalar s, uint64_t bits);
uint64_t bits_of_float(DpScalar s, double x);

#endif
