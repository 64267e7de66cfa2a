/* Leaves: the flat storage of values, fixed and under construction. */
#include "values.h"

#include "dp_size.h"

#include <stdlib.h>
#include <string.h>

static uint32_t init_leaves(DpLeaf *leaves, uint32_t at, const DpType *t, uint8_t rank)
{
    switch (t->kind) {
    case DP_T_SCALAR: leaves[at++] = (DpLeaf){.scalar = t->scalar, .rank = rank}; break;
    case DP_T_TUPLE:
    case DP_T_RECORD:
        if (t->n == 0)
            leaves[at++] = (DpLeaf){.scalar = DP_BOOL, .rank = rank};
        for (uint32_t i = 0; i < t->n; i++)
            at = init_leaves(leaves, at, t->items[i], rank);
        break;
    case DP_T_SUM:
        leaves[at++] = (DpLeaf){.scalar = dp_tag_scalar(t->n), .rank = rank};
        for (uint32_t i = 0; i < t->n; i++)
            if (t->items[i])
                at = init_leaves(leaves, at, t->items[i], rank);
        break;
    case DP_T_ARRAY: at = init_leaves(leaves, at, t->element, (uint8_t)(rank + 1)); break;
    }
    return at;
}

void dp_leaves_init(DpLeaf *leaves, const DpType *t) { init_leaves(leaves, 0, t, 0); }

void dp_leaves_free(DpLeaf *leaves, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t level = 0; level < DP_MAX_RANK; level++) {
            free(leaves[i].lens[level]);
            leaves[i].lens[level] = NULL;
            leaves[i].nlens[level] = 0;
        }
        free(leaves[i].data);
        leaves[i].data = NULL;
        leaves[i].ndata = 0;
    }
}

/* Makes room for more elements. */
static bool make_room(void **at, uint64_t n, uint64_t more, uint64_t *cap, size_t bytes)
{
    if (*cap - n >= more)
        return true;
    uint64_t wanted = 2 * *cap > n + more ? 2 * *cap : n + more < 8 ? 8 : n + more;
    void *grown = realloc(*at, (size_t)wanted * bytes);
    if (!grown)
        return false;
    *at = grown;
    *cap = wanted;
    return true;
}

bool dp_build_length(DpBuilder *b, uint32_t level, uint64_t n)
{
    DpLeaf *leaf = b->leaf;
    void *at = leaf->lens[level];
    bool ok = make_room(&at, leaf->nlens[level], 1, &b->cap_lens[level], sizeof(uint64_t));
    leaf->lens[level] = at;
    if (ok)
        leaf->lens[level][leaf->nlens[level]++] = n;
    return ok;
}

bool dp_build_scalar(DpBuilder *b, uint64_t bits)
{
    DpLeaf *leaf = b->leaf;
    if (!make_room(&leaf->data, leaf->ndata, 1, &b->cap_data, dp_scalar_bytes(leaf->scalar)))
        return false;
    dp_scalar_store(leaf->scalar, leaf->data, leaf->ndata++, bits);
    return true;
}

bool dp_build_bytes(DpBuilder *b, const char *bytes, size_t n)
{
    DpLeaf *leaf = b->leaf;
    if (!make_room(&leaf->data, leaf->ndata, n, &b->cap_data, 1))
        return false;
    if (n)
        memcpy((char *)leaf->data + leaf->ndata, bytes, n);
    leaf->ndata += n;
    return true;
}

bool dp_build_begin_array(DpBuilder *builders, const DpType *t, uint32_t first, uint32_t level, uint64_t *slot)
{
    *slot = builders[first].leaf->nlens[level];
    for (uint32_t i = 0; i < dp_type_leaves(t); i++)
        if (!dp_build_length(&builders[first + i], level, 0))
            return false;
    return true;
}

void dp_build_end_array(DpBuilder *builders, const DpType *t, uint32_t first, uint32_t level, uint64_t slot,
                        uint64_t count)
{
    for (uint32_t i = 0; i < dp_type_leaves(t); i++)
        builders[first + i].leaf->lens[level][slot] = count;
}

bool dp_build_nothing(DpBuilder *builders, const DpType *t, uint32_t *leaf, uint32_t level)
{
    uint64_t slot;
    switch (t->kind) {
    case DP_T_SCALAR: return dp_build_scalar(&builders[(*leaf)++], 0);
    case DP_T_ARRAY:
        if (!dp_build_begin_array(builders, t, *leaf, level, &slot))
            return false;
        *leaf += dp_type_leaves(t);
        return true;
    case DP_T_TUPLE:
    case DP_T_RECORD:
        if (t->n == 0)
            return dp_build_scalar(&builders[(*leaf)++], 0);
        break;
    case DP_T_SUM:
        if (!dp_build_scalar(&builders[(*leaf)++], 0))
            return false;
        break;
    }
    for (uint32_t i = 0; i < t->n; i++)
        if (t->items[i] && !dp_build_nothing(builders, t->items[i], leaf, level))
            return false;
    return true;
}

/* lens[0] = {d0}, lens[1] = d0 times d1, … */
bool dp_leaf_make_level(DpLeaf *leaf, uint32_t level, uint64_t sequences, uint64_t length)
{
    uint64_t *lengths = dp_alloc_array(sequences, sizeof *lengths);
    for (uint64_t i = 0; lengths && i < sequences; i++)
        lengths[i] = length;
    leaf->lens[level] = lengths;
    leaf->nlens[level] = sequences;
    return lengths != NULL;
}

bool dp_leaf_make_lengths(DpLeaf *leaf, const uint64_t *shape)
{
    leaf->ndata = 1;
    for (uint32_t level = 0; level < leaf->rank; level++) {
        if (!dp_leaf_make_level(leaf, level, leaf->ndata, shape[level]))
            return false;
        leaf->ndata = dp_size_mul(leaf->ndata, shape[level]);
    }
    return leaf->ndata < DP_SIZE_MAX;
}

bool dp_leaf_make(DpLeaf *leaf, const uint64_t *shape)
{
    if (!dp_leaf_make_lengths(leaf, shape))
        return false;
    leaf->data = dp_alloc_array(leaf->ndata, dp_scalar_bytes(leaf->scalar));
    return leaf->data != NULL;
}

bool dp_leaf_shape(const DpLeaf *leaf, uint64_t *shape)
{
    for (uint32_t level = 0; level < leaf->rank; level++) {
        shape[level] = leaf->nlens[level] ? leaf->lens[level][0] : 0;
        for (uint64_t i = 1; i < leaf->nlens[level]; i++)
            if (leaf->lens[level][i] != shape[level])
                return false;
    }
    return true;
}

bool dp_type_is_regular(const DpType *t, DpScalar *scalar, uint32_t *rank)
{
    *rank = 0;
    for (; t->kind == DP_T_ARRAY; t = t->element)
        ++*rank;
    *scalar = t->kind == DP_T_SCALAR ? t->scalar : DP_BOOL;
    return t->kind == DP_T_SCALAR;
}
