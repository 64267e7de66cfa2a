#define _POSIX_C_SOURCE 200809L
#include "values.h"

#include "dp_size.h"
#include "dp_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

DpcValue *dpc_value_new(const char *type)
{
    DpcValue *v = type ? calloc(1, sizeof *v) : NULL;
    if (!v)
        return NULL;
    v->type = dp_type_parse(type);
    v->text = strdup(type);
    if (v->type) {
        v->n = dp_type_leaves(v->type);
        v->leaves = calloc((size_t)v->n + 1, sizeof *v->leaves);
    }
    if (v->text && v->leaves) {
        dp_leaves_init(v->leaves, v->type);
        return v;
    }
    dpc_value_free(v);
    return NULL;
}

void dpc_value_free(DpcValue *value)
{
    if (!value)
        return;
    for (uint32_t i = 0; i < value->n && value->leaves; i++)
        if (value->borrowed || (value->kept && value->kept->shown && value->kept->numbers[i].bytes))
            value->leaves[i].data = NULL;
    if (value->leaves)
        dp_leaves_free(value->leaves, value->n);
    if (value->kept)
        dpc_kept_drop(value->kept);
    if (value->release)
        value->release(value->owner);
    free(value->outside);
    free(value->leaves);
    free(value->text);
    dp_type_free(value->type);
    free(value);
}

void dpc_value_own(DpcValue *value, void (*release)(void *owner), void *owner)
{
    value->release = release;
    value->owner = owner;
}

/* What the leaf of a caller refers to is read only. */
static void borrow(DpLeaf *leaf, const void *data, uint64_t count)
{
    memcpy(&leaf->data, &data, sizeof data);
    leaf->ndata = count;
}

DpcValue *dpc_scalar(const char *scalar, const void *number)
{
    DpcValue *v = number ? dpc_value_new(scalar) : NULL;
    if (!v || v->type->kind != DP_T_SCALAR) {
        dpc_value_free(v);
        return NULL;
    }
    v->borrowed = true;
    borrow(v->leaves, number, 1);
    return v;
}

static bool array_type(char text[64], const char *scalar, unsigned rank)
{
    if (!scalar || rank == 0 || rank > DPC_MAX_RANK || strlen(scalar) > 4)
        return false;
    snprintf(text, 64, "%.*s%s%.*s", (int)rank, "[[[[[[[[[[[[[[[[", scalar, (int)rank, "]]]]]]]]]]]]]]]]");
    return true;
}

/* Without its numbers. */
static DpcValue *regular_array(const char *scalar, unsigned rank, const uint64_t *shape)
{
    char text[64];
    DpcValue *v = shape && array_type(text, scalar, rank) ? dpc_value_new(text) : NULL;
    if (!v)
        return NULL;
    v->borrowed = true;
    if (v->n == 1 && v->leaves->rank == rank && dp_leaf_make_lengths(v->leaves, shape))
        return v;
    dpc_value_free(v);
    return NULL;
}

DpcValue *dpc_array(const char *scalar, const void *data, unsigned rank, const uint64_t *shape)
{
    DpcValue *v = regular_array(scalar, rank, shape);
    if (v && (data || v->leaves->ndata == 0)) {
        borrow(v->leaves, data, v->leaves->ndata);
        return v;
    }
    dpc_value_free(v);
    return NULL;
}

/* The numbers of a leaf of an array are in a buffer. */
static bool borrow_buffer(DpcValue *v, uint32_t index, struct _cl_mem *buffer, uint64_t offset)
{
    const DpLeaf *leaf = &v->leaves[index];
    if (!leaf->rank || !buffer || offset % dp_scalar_bytes(leaf->scalar))
        return false;
    if (!v->outside)
        v->outside = calloc(v->n, sizeof *v->outside);
    if (v->outside)
        v->outside[index] = (DpOutside){.buffer = buffer, .at = offset};
    return v->outside != NULL;
}

DpcValue *dpc_buffer(const char *scalar, struct _cl_mem *buffer, uint64_t offset, unsigned rank, const uint64_t *shape)
{
    DpcValue *v = regular_array(scalar, rank, shape);
    if (v && borrow_buffer(v, 0, buffer, offset))
        return v;
    dpc_value_free(v);
    return NULL;
}

/* ---- by leaves ---- */

/* The sum of the lengths of a level; false if that overflows. */
static bool total(const uint64_t *lengths, uint64_t n, uint64_t *sum)
{
    *sum = 0;
    for (uint64_t i = 0; i < n; i++)
        *sum = dp_size_add(*sum, lengths[i]);
    return *sum < DP_SIZE_MAX;
}

static bool copy_leaf(DpLeaf *to, const DpcLeaf *from)
{
    uint64_t n = 1;
    if (from->rank != to->rank || !from->scalar || strcmp(from->scalar, dp_scalar_name(to->scalar)) != 0)
        return false;
    for (uint32_t level = 0; level < to->rank; level++) {
        if (from->sequences[level] != n || (n > 0 && !from->lengths[level]) || !dp_leaf_make_level(to, level, n, 0))
            return false;
        if (n)
            memcpy(to->lens[level], from->lengths[level], n * sizeof(uint64_t));
        if (!total(to->lens[level], n, &n))
            return false;
    }
    borrow(to, from->data, n);
    return from->count == n && (n == 0 || from->data || from->buffer);
}

static bool same_lengths(const DpLeaf *a, const DpLeaf *b, uint32_t level)
{
    return a->nlens[level] == b->nlens[level] &&
           (a->nlens[level] == 0 || memcmp(a->lens[level], b->lens[level], a->nlens[level] * sizeof(uint64_t)) == 0);
}

static bool tags_are_known(const DpLeaf *tags, uint32_t constructors)
{
    for (uint64_t i = 0; i < tags->ndata; i++)
        if (!tags->data || dp_scalar_load(tags->scalar, tags->data, i) >= constructors)
            return false;
    return true;
}

/* Have the leaves of an array the same lengths, and do tags say what is there? */
static bool fits(const DpType *t, const DpLeaf *leaves, uint32_t level)
{
    switch (t->kind) {
    case DP_T_SCALAR: return true;
    case DP_T_ARRAY:
        for (uint32_t i = 1; i < dp_type_leaves(t); i++)
            if (!same_lengths(leaves, leaves + i, level))
                return false;
        return fits(t->element, leaves, level + 1);
    case DP_T_SUM:
        if (!tags_are_known(leaves++, t->n))
            return false;
        break;
    case DP_T_TUPLE:
    case DP_T_RECORD: break;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->items[i] && !fits(t->items[i], leaves, level))
            return false;
        leaves += t->items[i] ? dp_type_leaves(t->items[i]) : 0;
    }
    return true;
}

DpcValue *dpc_value(const char *type, const DpcLeaf *leaves)
{
    DpcValue *v = leaves ? dpc_value_new(type) : NULL;
    if (!v)
        return NULL;
    bool ok = v->borrowed = true;
    for (uint32_t i = 0; ok && i < v->n; i++)
        ok = copy_leaf(&v->leaves[i], &leaves[i]) &&
             (leaves[i].data || !leaves[i].count || borrow_buffer(v, i, leaves[i].buffer, leaves[i].offset));
    if (ok && fits(v->type, v->leaves, 0))
        return v;
    dpc_value_free(v);
    return NULL;
}

DpcValue *dpc_literal(const char *type, const char *text, DpcError *error)
{
    char why[512];
    DpReader reader = {"literal", text, text ? strlen(text) : 0, 0};
    DpcValue *v = text ? dpc_value_new(type) : NULL;
    if (!v) {
        dpc_fail(error, EXIT_USAGE, "not a type, or out of memory: %s", !text ? "no text" : type ? type : "NULL");
        return NULL;
    }
    bool read = dp_read_text(&reader, v->type, v->leaves, why, sizeof why);
    if (read && dp_reader_done(&reader))
        return v;
    dpc_fail(error, EXIT_USAGE, "%s", read ? "one value is wanted, and more follows" : why);
    if (!read)
        v->n = 0; /* nothing is left to free */
    dpc_value_free(v);
    return NULL;
}

/* ---- reading ---- */

static bool same_arrays(const DpType *a, const DpType *b)
{
    if (a->kind == DP_T_SCALAR || a->kind == DP_T_ARRAY)
        return a->kind == b->kind &&
               (a->kind == DP_T_SCALAR ? a->scalar == b->scalar : same_arrays(a->element, b->element));
    if ((a->kind == DP_T_SUM) != (b->kind == DP_T_SUM) || b->kind == DP_T_SCALAR || b->kind == DP_T_ARRAY ||
        a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!a->items[i] != !b->items[i] || (a->items[i] && !same_arrays(a->items[i], b->items[i])))
            return false;
    return true;
}

bool dpc_value_is(const DpcValue *value, const char *type)
{
    DpType *wanted = dp_type_parse(type);
    bool is = wanted && same_arrays(value->type, wanted);
    dp_type_free(wanted);
    return is;
}

unsigned dpc_leaf_count(const DpcValue *value) { return value ? value->n : 0; }

DpcLeaf dpc_leaf(const DpcValue *value, unsigned index)
{
    DpcLeaf out = {0};
    if (index >= dpc_leaf_count(value))
        return out;
    const DpLeaf *leaf = &value->leaves[index];
    out.scalar = dp_scalar_name(leaf->scalar);
    out.rank = leaf->rank;
    for (uint32_t level = 0; level < leaf->rank; level++) {
        out.lengths[level] = leaf->lens[level];
        out.sequences[level] = leaf->nlens[level];
    }
    out.data = leaf->data;
    out.count = leaf->ndata;
    if (value->outside) {
        out.buffer = value->outside[index].buffer;
        out.offset = value->outside[index].at;
    } else if (value->kept && !value->kept->shown && leaf->rank) {
        out.buffer = dpc_kept_buffer(value->kept);
        out.offset = value->kept->numbers[index].addr;
    }
    return out;
}

static bool is_on_host(const DpcValue *value)
{
    for (uint32_t i = 0; i < value->n; i++)
        if (!value->leaves[i].data && value->leaves[i].ndata)
            return false;
    return true;
}

char *dpc_text(const DpcValue *value)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = value && is_on_host(value) ? open_memstream(&text, &bytes) : NULL;
    bool ok = out && dp_write_text(out, value->type, value->leaves);
    if (out && fclose(out) == 0 && ok)
        return text;
    free(text);
    return NULL;
}
