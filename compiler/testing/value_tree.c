#include "testing/value_tree.h"
#include "support/memory.h"

#include "dp_output.h"

#include <stdlib.h>
#include <string.h>

/* ---- from leaves ---- */

typedef struct Source {
    Arena *arena;
    const DpLeaf *leaves;
    uint64_t (*at)[DP_MAX_RANK + 1]; /* per leaf: the next length of each level, and in [rank] the next element */
} Source;

/* The value that begins at leaf *leaf, `level` sequences deep; *leaf moves behind it. */
static Tree take(Source *s, const DpType *t, uint32_t *leaf, uint32_t level);

static uint64_t take_bits(Source *s, uint32_t leaf)
{
    const DpLeaf *l = &s->leaves[leaf];
    return dp_scalar_load(l->scalar, l->data, s->at[leaf][l->rank]++);
}

static Tree take_items(Source *s, const DpType *t, uint32_t *leaf, uint32_t level)
{
    Tree v = {.n = t->n, .items = arena_array(s->arena, Tree, t->n)};
    if (t->n == 0)
        take_bits(s, (*leaf)++);
    for (uint32_t i = 0; i < t->n; i++)
        v.items[i] = take(s, t->items[i], leaf, level);
    return v;
}

/* The payloads of other constructors are read, too: their places have to be passed. */
static Tree take_sum(Source *s, const DpType *t, uint32_t *leaf, uint32_t level)
{
    Tree v = {.bits = take_bits(s, (*leaf)++)};
    for (uint32_t i = 0; i < t->n; i++) {
        if (!t->items[i])
            continue;
        Tree payload = take(s, t->items[i], leaf, level);
        if (i != v.bits)
            continue;
        v.n = 1;
        v.items = arena_new(s->arena, Tree);
        v.items[0] = payload;
    }
    return v;
}

static Tree take_array(Source *s, const DpType *t, uint32_t *leaf, uint32_t level)
{
    uint32_t first = *leaf, nleaves = dp_type_leaves(t);
    Tree v = {.n = s->leaves[first].lens[level][s->at[first][level]]};
    for (uint32_t i = 0; i < nleaves; i++)
        s->at[first + i][level]++;
    v.items = arena_array(s->arena, Tree, v.n);
    for (uint64_t i = 0; i < v.n; i++) {
        *leaf = first;
        v.items[i] = take(s, t->element, leaf, level + 1);
    }
    *leaf = first + nleaves;
    return v;
}

static Tree take(Source *s, const DpType *t, uint32_t *leaf, uint32_t level)
{
    switch (t->kind) {
    case DP_T_SCALAR: return (Tree){.bits = take_bits(s, (*leaf)++)};
    case DP_T_TUPLE:
    case DP_T_RECORD: return take_items(s, t, leaf, level);
    case DP_T_SUM: return take_sum(s, t, leaf, level);
    case DP_T_ARRAY: return take_array(s, t, leaf, level);
    }
    return (Tree){0};
}

Tree tree_of_leaves(Arena *arena, const DpType *t, const DpLeaf *leaves)
{
    Source s = {arena, leaves, arena_alloc(arena, dp_type_leaves(t) * sizeof *s.at)};
    uint32_t leaf = 0;
    return take(&s, t, &leaf, 0);
}

/* ---- to leaves: counted first, then stored ---- */

typedef struct Sink {
    DpLeaf *leaves;
    bool storing;
} Sink;

static void put_bits(Sink *k, uint32_t leaf, uint64_t bits)
{
    DpLeaf *l = &k->leaves[leaf];
    if (k->storing)
        dp_scalar_store(l->scalar, l->data, l->ndata, bits);
    l->ndata++;
}

static void put_length(Sink *k, uint32_t leaf, uint32_t level, uint64_t n)
{
    DpLeaf *l = &k->leaves[leaf];
    if (k->storing)
        l->lens[level][l->nlens[level]] = n;
    l->nlens[level]++;
}

/* v is NULL for the payload of another constructor than the value's. */
static void put(Sink *k, const DpType *t, const Tree *v, uint32_t *leaf, uint32_t level)
{
    switch (t->kind) {
    case DP_T_SCALAR: put_bits(k, (*leaf)++, v ? v->bits : 0); return;
    case DP_T_TUPLE:
    case DP_T_RECORD:
        if (t->n == 0)
            put_bits(k, (*leaf)++, 0);
        for (uint32_t i = 0; i < t->n; i++)
            put(k, t->items[i], v ? &v->items[i] : NULL, leaf, level);
        return;
    case DP_T_SUM:
        put_bits(k, (*leaf)++, v ? v->bits : 0);
        for (uint32_t i = 0; i < t->n; i++)
            if (t->items[i])
                put(k, t->items[i], v && v->bits == i ? &v->items[0] : NULL, leaf, level);
        return;
    case DP_T_ARRAY: break;
    }
    uint32_t first = *leaf, nleaves = dp_type_leaves(t);
    for (uint32_t i = 0; i < nleaves; i++)
        put_length(k, first + i, level, v ? v->n : 0);
    for (uint64_t i = 0; v && i < v->n; i++) {
        *leaf = first;
        put(k, t->element, &v->items[i], leaf, level + 1);
    }
    *leaf = first + nleaves;
}

/* Room for as many as have been counted; the counts start again. */
static void make_room(DpLeaf *leaf)
{
    for (uint32_t level = 0; level < leaf->rank; level++) {
        leaf->lens[level] = memory_alloc((size_t)leaf->nlens[level] + 1, sizeof(uint64_t));
        leaf->nlens[level] = 0;
    }
    leaf->data = memory_alloc((size_t)leaf->ndata + 1, dp_scalar_bytes(leaf->scalar));
    leaf->ndata = 0;
}

void tree_to_leaves(const DpType *t, const Tree *v, DpLeaf *leaves)
{
    uint32_t n = dp_type_leaves(t), leaf = 0;
    Sink k = {leaves, false};
    dp_leaves_init(leaves, t);
    put(&k, t, v, &leaf, 0);
    for (uint32_t i = 0; i < n; i++)
        make_room(&leaves[i]);
    k.storing = true;
    leaf = 0;
    put(&k, t, v, &leaf, 0);
}

/* ---- trees alone ---- */

static uint32_t simplest_constructor(const DpType *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!t->items[i])
            return i;
    return 0;
}

Tree tree_simplest(Arena *arena, const DpType *t)
{
    Tree v = {0};
    switch (t->kind) {
    case DP_T_SCALAR:
    case DP_T_ARRAY: return v;
    case DP_T_TUPLE:
    case DP_T_RECORD:
        v.n = t->n;
        v.items = arena_array(arena, Tree, t->n);
        for (uint32_t i = 0; i < t->n; i++)
            v.items[i] = tree_simplest(arena, t->items[i]);
        return v;
    case DP_T_SUM:
        v.bits = simplest_constructor(t);
        if (t->items[v.bits]) {
            v.n = 1;
            v.items = arena_new(arena, Tree);
            v.items[0] = tree_simplest(arena, t->items[v.bits]);
        }
        return v;
    }
    return v;
}

Tree tree_copy(Arena *arena, const Tree *v)
{
    Tree copy = {v->bits, v->n, arena_array(arena, Tree, v->n)};
    for (uint64_t i = 0; i < v->n; i++)
        copy.items[i] = tree_copy(arena, &v->items[i]);
    return copy;
}

bool tree_equal(const Tree *a, const Tree *b)
{
    if (a->bits != b->bits || a->n != b->n)
        return false;
    for (uint64_t i = 0; i < a->n; i++)
        if (!tree_equal(&a->items[i], &b->items[i]))
            return false;
    return true;
}

void tree_print(StrBuf *out, const DpType *t, const Tree *v)
{
    DpLeaf *leaves = memory_alloc(dp_type_leaves(t), sizeof *leaves);
    DpMemoryFile file;
    tree_to_leaves(t, v, leaves);
    bool written = dp_memory_open(&file) && dp_write_text(file.file, t, leaves);
    char *text = written ? dp_memory_close(&file) : NULL;
    if (!text)
        memory_out();
    dp_leaves_free(leaves, dp_type_leaves(t));
    strbuf_add(out, text);
    free(text);
    free(leaves);
}

/* ---- floats ---- */

double float_of_bits(DpScalar s, uint64_t bits)
{
    if (s == DP_F32) {
        uint32_t half = (uint32_t)bits;
        float f;
        memcpy(&f, &half, sizeof f);
        return f;
    }
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

uint64_t bits_of_float(DpScalar s, double x)
{
    uint64_t bits;
    if (s == DP_F32) {
        float f = (float)x;
        uint32_t half;
        memcpy(&half, &f, sizeof half);
        return half;
    }
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
