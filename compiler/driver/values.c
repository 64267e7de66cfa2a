#include "driver/values.h"
#include "support/memory.h"

#include <assert.h>
#include <string.h>

/* ---- outside to inside ---- */

typedef struct Cursor {
    Arena *arena;
    const DpLeaf *leaf;
    uint64_t at[DP_MAX_RANK + 1]; /* next length of each level; next element in [rank] */
} Cursor;

static uint64_t load_bits(const DpLeaf *leaf, uint64_t i)
{
    const void *data = leaf->data;
    switch (leaf->scalar) {
    case DP_I8: return (uint64_t)(int64_t)((const int8_t *)data)[i];
    case DP_I16: return (uint64_t)(int64_t)((const int16_t *)data)[i];
    case DP_I32: return (uint64_t)(int64_t)((const int32_t *)data)[i];
    case DP_BOOL:
    case DP_U8: return ((const uint8_t *)data)[i];
    case DP_U16: return ((const uint16_t *)data)[i];
    case DP_U32:
    case DP_F32: return ((const uint32_t *)data)[i];
    case DP_I64:
    case DP_U64:
    case DP_F64: return ((const uint64_t *)data)[i];
    case DP_SCALAR_COUNT: break;
    }
    return 0;
}

static CoreValue take_value(Cursor *c, uint8_t level)
{
    const DpLeaf *leaf = c->leaf;
    uint8_t rank = (uint8_t)(leaf->rank - level);
    CoreValue v = {.type = {(Scalar)leaf->scalar, rank}};
    if (rank == 0) {
        v.bits = load_bits(leaf, c->at[level]++);
        return v;
    }
    v.n = leaf->lens[level][c->at[level]++];
    if (rank == 1) {
        v.scalars = arena_array(c->arena, uint64_t, v.n + 1);
        for (uint64_t i = 0; i < v.n; i++)
            v.scalars[i] = load_bits(leaf, c->at[level + 1]++);
    } else {
        v.items = arena_array(c->arena, CoreValue, v.n + 1);
        for (uint64_t i = 0; i < v.n; i++)
            v.items[i] = take_value(c, (uint8_t)(level + 1));
    }
    return v;
}

CoreValue value_of_leaf(Arena *arena, const DpLeaf *leaf)
{
    Cursor c = {.arena = arena, .leaf = leaf};
    return take_value(&c, 0);
}

/* ---- inside to outside: counted first, then stored ---- */

static void count(const CoreValue *v, DpLeaf *leaf, uint32_t level)
{
    if (v->type.rank == 0) {
        leaf->ndata++;
        return;
    }
    leaf->nlens[level]++;
    if (v->type.rank == 1)
        leaf->ndata += v->n;
    else
        for (uint64_t i = 0; i < v->n; i++)
            count(&v->items[i], leaf, level + 1);
}

static void store_bits(DpLeaf *leaf, uint64_t bits)
{
    uint64_t i = leaf->ndata++;
    switch (scalar_bytes((Scalar)leaf->scalar)) {
    case 1: ((uint8_t *)leaf->data)[i] = (uint8_t)bits; break;
    case 2: ((uint16_t *)leaf->data)[i] = (uint16_t)bits; break;
    case 4: ((uint32_t *)leaf->data)[i] = (uint32_t)bits; break;
    default: ((uint64_t *)leaf->data)[i] = bits; break;
    }
}

static void store(const CoreValue *v, DpLeaf *leaf, uint32_t level)
{
    if (v->type.rank == 0) {
        store_bits(leaf, v->bits);
        return;
    }
    leaf->lens[level][leaf->nlens[level]++] = v->n;
    for (uint64_t i = 0; i < v->n; i++) {
        if (v->type.rank == 1)
            store_bits(leaf, v->scalars[i]);
        else
            store(&v->items[i], leaf, level + 1);
    }
}

/* Room for as many as have been counted; the counts start again. */
static void make_room(DpLeaf *leaf)
{
    for (uint32_t level = 0; level < leaf->rank; level++) {
        leaf->lens[level] = memory_alloc((size_t)leaf->nlens[level] + 1, sizeof(uint64_t));
        leaf->nlens[level] = 0;
    }
    leaf->data = memory_alloc((size_t)leaf->ndata + 1, scalar_bytes((Scalar)leaf->scalar));
    leaf->ndata = 0;
}

void leaf_of_value(const CoreValue *v, DpLeaf *leaf)
{
    *leaf = (DpLeaf){.scalar = (DpScalar)v->type.scalar, .rank = v->type.rank};
    assert(v->type.rank <= DP_MAX_RANK); /* entry_types_make refuses others */
    count(v, leaf, 0);
    make_room(leaf);
    store(v, leaf, 0);
}
