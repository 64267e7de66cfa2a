/* Values as Arrow's arrays.
 *
 * Numbers, and the tags of sums, are the value's own. Every array, also a child, may be released by itself and in any
 * thread: each is a user of the value, and the last one frees it. */
#define _POSIX_C_SOURCE 200809L
#include "arrow.h"
#include "context.h"
#include "dp_size.h"
#include "dp_status.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- arrays ---- */
typedef struct Shared {
    atomic_uint users;
    DpcValue *value;
} Shared;

enum { BUFFERS = 3 };
typedef struct OwnedArray {
    Shared *shared;
    const void *buffers[BUFFERS];
    void *made[BUFFERS]; /* those of them that are not the value's */
} OwnedArray;

static void release_array(struct ArrowArray *a)
{
    OwnedArray *own = a->private_data;
    for (int64_t i = 0; i < a->n_children; i++)
        if (a->children[i]->release)
            a->children[i]->release(a->children[i]);
    free(a->children);
    for (uint32_t i = 0; i < BUFFERS; i++)
        free(own->made[i]);
    if (atomic_fetch_sub(&own->shared->users, 1) == 1) {
        dpc_value_free(own->shared->value);
        free(own->shared);
    }
    free(own);
    a->release = NULL;
}

static bool new_array(struct ArrowArray *a, Shared *shared, uint64_t length, uint32_t buffers, uint32_t children)
{
    static const uint64_t zero; /* buffers without bytes are not NULL */
    OwnedArray *own = calloc(1, sizeof *own);
    struct ArrowArray **inside = calloc((size_t)children + 1, sizeof *inside + sizeof **inside);
    if (!own || !inside) {
        free(inside);
        free(own);
        return false;
    }
    for (uint32_t i = 0; i < children; i++) /* they lie behind the pointers to them */
        inside[i] = (struct ArrowArray *)(void *)(inside + children) + i;
    atomic_fetch_add(&shared->users, 1);
    own->shared = shared;
    for (uint32_t i = 1; i < BUFFERS; i++)
        own->buffers[i] = &zero;
    *a = (struct ArrowArray){.length = (int64_t)length,
                             .n_buffers = buffers,
                             .n_children = children,
                             .buffers = own->buffers,
                             .children = inside,
                             .release = release_array,
                             .private_data = own};
    return true;
}

static void *make_buffer(struct ArrowArray *a, uint32_t index, uint64_t n, uint64_t bytes)
{
    OwnedArray *own = a->private_data;
    const uint64_t all = dp_size_mul(n, bytes);
    void *made = all < SIZE_MAX / 2 ? calloc(all + 1, 1) : NULL;
    own->made[index] = made;
    own->buffers[index] = made;
    return made;
}

static void lend_buffer(struct ArrowArray *a, uint32_t index, const void *data)
{
    if (data)
        ((OwnedArray *)a->private_data)->buffers[index] = data;
}

/* ---- schemas ---- */
static void release_schema(struct ArrowSchema *s)
{
    for (int64_t i = 0; i < s->n_children; i++)
        if (s->children[i]->release)
            s->children[i]->release(s->children[i]);
    free(s->children);
    free(s->private_data); /* the format, and the name behind it */
    s->release = NULL;
}

static bool new_schema(struct ArrowSchema *s, const char *format, const char *name, uint32_t children)
{
    const size_t n = strlen(format) + 1;
    char *texts = malloc(n + strlen(name) + 1);
    struct ArrowSchema **inside = calloc((size_t)children + 1, sizeof *inside + sizeof **inside);
    if (!texts || !inside) {
        free(inside);
        free(texts);
        return false;
    }
    for (uint32_t i = 0; i < children; i++)
        inside[i] = (struct ArrowSchema *)(void *)(inside + children) + i;
    strcpy(texts, format);
    strcpy(texts + n, name);
    *s = (struct ArrowSchema){.format = texts,
                              .name = texts + n,
                              .n_children = children,
                              .children = inside,
                              .release = release_schema,
                              .private_data = texts};
    return true;
}

/* ---- types ---- */
typedef struct Export {
    const DpLeaf *leaves;
    Shared *shared;
    DpcError *error;
} Export;

/* Where the values of a type are to go, how many they are, and what they are called. */
typedef struct Place {
    struct ArrowArray *array;
    struct ArrowSchema *schema;
    const char *name;
    uint64_t n;
    uint32_t leaf, level;
    const DpLeaf *tags; /* of an option around it, or NULL */
    uint32_t none;
} Place;

static bool fail_memory(Export *x)
{
    dpc_fail_memory(x->error);
    return false;
}

static bool open_place(Export *x, const Place *p, const char *format, uint32_t buffers, uint32_t children)
{
    if (!new_schema(p->schema, format, p->name, children) || !new_array(p->array, x->shared, p->n, buffers, children))
        return fail_memory(x);
    if (!p->tags)
        return true;
    uint8_t *bits = make_buffer(p->array, 0, p->n / 8 + 1, 1);
    if (!bits)
        return fail_memory(x);
    p->schema->flags = ARROW_FLAG_NULLABLE;
    for (uint64_t i = 0; i < p->n; i++) {
        if (dp_scalar_load(p->tags->scalar, p->tags->data, i) == p->none)
            p->array->null_count++;
        else
            bits[i / 8] |= (uint8_t)(1 << i % 8);
    }
    return true;
}

static Place child_place(const Place *p, uint32_t index, const char *name, uint64_t n, uint32_t leaf, uint32_t level)
{
    return (Place){.array = p->array->children[index],
                   .schema = p->schema->children[index],
                   .name = name,
                   .n = n,
                   .leaf = leaf,
                   .level = level};
}

static bool export_values(Export *x, const DpType *t, const Place *p);

static bool export_numbers(Export *x, DpScalar s, const Place *p)
{
    static const char *const formats[DP_SCALAR_COUNT] = {"b", "c", "s", "i", "l", "C", "S", "I", "L", "f", "g"};
    const uint8_t *data = x->leaves[p->leaf].data;
    if (!open_place(x, p, formats[s], 2, 0))
        return false;
    if (s != DP_BOOL) {
        lend_buffer(p->array, 1, data);
        return true;
    }
    uint8_t *bits = make_buffer(p->array, 1, p->n / 8 + 1, 1);
    for (uint64_t i = 0; bits && i < p->n; i++)
        bits[i / 8] |= (uint8_t)(data[i] << i % 8);
    return bits || fail_memory(x);
}

/* How many bytes the character at its beginning has, in UTF-8; 0: it is none. */
static size_t character(const uint8_t *s, uint64_t n)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint32_t bytes = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf8 ? 4 : 0;
    uint32_t code = bytes > 1 ? s[0] & (0x7fu >> bytes) : s[0];
    if (!bytes || bytes > n)
        return 0;
    for (uint32_t i = 1; i < bytes; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    return code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : bytes;
}

static bool check_texts(Export *x, const Place *p)
{
    const DpLeaf *leaf = &x->leaves[p->leaf];
    const uint8_t *bytes = leaf->data;
    for (uint64_t i = 0; i < p->n; i++) {
        uint64_t at = 0, n = leaf->lens[p->level][i];
        for (size_t more; at < n; at += more)
            if (!(more = character(bytes + at, n - at))) {
                dpc_fail(x->error, EXIT_USAGE, "%s%stext %llu is not UTF-8: [u8] is bytes", p->name,
                         *p->name ? ": " : "", (unsigned long long)i);
                return false;
            }
        bytes += n;
    }
    return true;
}

/* Offsets are made of lengths; what is in the arrays is the value's. */
static bool export_arrays(Export *x, const DpType *t, const Place *p)
{
    const bool bytes = dp_type_is_string(t);
    const DpLeaf *leaf = &x->leaves[p->leaf];
    if ((t->is_text && !check_texts(x, p)) || !open_place(x, p,
                                                          !bytes       ? "+L"
                                                          : t->is_text ? "U"
                                                                       : "Z",
                                                          bytes ? 3 : 2, bytes ? 0 : 1))
        return false;
    int64_t *offsets = make_buffer(p->array, 1, p->n + 1, sizeof *offsets);
    if (!offsets)
        return fail_memory(x);
    for (uint64_t i = 0; i < p->n; i++)
        offsets[i + 1] = offsets[i] + (int64_t)leaf->lens[p->level][i];
    if (bytes)
        lend_buffer(p->array, 2, leaf->data);
    const uint64_t n = (uint64_t)offsets[p->n];
    const Place inside = bytes ? *p : child_place(p, 0, "item", n, p->leaf, p->level + 1);
    return bytes || export_values(x, t->element, &inside);
}

/* The field that stands at this place as the type is written; a tuple's are f0, f1 … */
static uint32_t field_at(const DpType *t, uint32_t at, char name[16], const char **called)
{
    const uint32_t i = t->kind == DP_T_RECORD ? t->order[at] : at;
    snprintf(name, 16, "f%u", i);
    *called = t->kind == DP_T_RECORD ? t->names[i] : name;
    return i;
}

static bool export_structs(Export *x, const DpType *t, const Place *p)
{
    bool ok = open_place(x, p, "+s", 1, t->n);
    for (uint32_t k = 0; ok && k < t->n; k++) {
        char name[16];
        const char *called;
        const uint32_t i = field_at(t, k, name, &called);
        const Place child = child_place(p, k, called, p->n, p->leaf + dp_type_leaves_before(t, i), p->level);
        ok = export_values(x, t->items[i], &child);
    }
    return ok;
}

static bool export_nothing(Export *x, const Place *p)
{
    const bool ok = open_place(x, p, "n", 0, 0);
    if (ok)
        p->array->null_count = (int64_t)p->n;
    return ok;
}

static bool export_union(Export *x, const DpType *t, const Place *p)
{
    enum { MOST = 127 };
    char format[8 + 4 * MOST] = "+us:";
    int at = (int)strlen(format);
    if (t->n > MOST) {
        dpc_fail(x->error, EXIT_USAGE, "%u constructors are more than a union of Arrow can have", t->n);
        return false;
    }
    for (uint32_t i = 0; i < t->n; i++)
        at += snprintf(format + at, sizeof format - (size_t)at, "%s%u", i ? "," : "", i);
    bool ok = open_place(x, p, format, 1, t->n);
    if (ok)
        ((OwnedArray *)p->array->private_data)->buffers[0] = ((OwnedArray *)p->array->private_data)->buffers[1];
    if (ok)
        lend_buffer(p->array, 0, x->leaves[p->leaf].data);
    for (uint32_t i = 0; ok && i < t->n; i++) {
        const Place child = child_place(p, i, t->names[i], p->n, p->leaf + 1 + dp_type_leaves_before(t, i), p->level);
        ok = t->items[i] ? export_values(x, t->items[i], &child) : export_nothing(x, &child);
    }
    return ok;
}

static bool export_values(Export *x, const DpType *t, const Place *p)
{
    uint32_t some;
    Place payload = *p;
    switch (t->kind) {
    case DP_T_SCALAR: return export_numbers(x, t->scalar, p);
    case DP_T_ARRAY: return export_arrays(x, t, p);
    case DP_T_TUPLE:
    case DP_T_RECORD: return export_structs(x, t, p);
    case DP_T_SUM:
        if (!dp_type_is_option(t, &payload.none, &some) || t->items[some]->kind == DP_T_SUM)
            return export_union(x, t, p);
        payload.tags = &x->leaves[p->leaf];
        payload.leaf = p->leaf + 1;
        return export_values(x, t->items[some], &payload);
    }
    return false;
}

/* ---- columns ---- */
/* A tuple or record of arrays of one length is a table. */
static bool is_table(Export *x, const DpType *t, uint64_t *n)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->items[i]->kind != DP_T_ARRAY) {
            dpc_fail(x->error, EXIT_USAGE, "a table of Arrow has arrays, and nothing else");
            return false;
        }
        const uint64_t length = x->leaves[dp_type_leaves_before(t, i)].lens[0][0];
        if (i && length != *n) {
            dpc_fail(x->error, EXIT_USAGE, "a table of Arrow has columns of one length, not %llu and %llu",
                     (unsigned long long)*n, (unsigned long long)length);
            return false;
        }
        *n = length;
    }
    return true;
}

static bool export_column(Export *x, const DpType *t, Place *p)
{
    if (t->kind == DP_T_ARRAY) {
        p->n = x->leaves[0].lens[0][0];
        p->level = 1;
        return export_values(x, t->element, p);
    }
    if (t->kind != DP_T_TUPLE && t->kind != DP_T_RECORD) {
        dpc_fail(x->error, EXIT_USAGE, "a column of Arrow is an array, and no other type");
        return false;
    }
    bool ok = is_table(x, t, &p->n) && open_place(x, p, "+s", 1, t->n);
    for (uint32_t k = 0; ok && k < t->n; k++) {
        char name[16];
        const char *called;
        const uint32_t i = field_at(t, k, name, &called);
        const Place child = child_place(p, k, called, p->n, dp_type_leaves_before(t, i), 1);
        ok = export_values(x, t->items[i]->element, &child);
    }
    return ok;
}

int dpc_to_arrow(DpcValue *value, struct ArrowSchema *schema, struct ArrowArray *array, DpcError *error)
{
    Shared *shared = calloc(1, sizeof *shared);
    Export x = {.leaves = value->leaves, .shared = shared, .error = error};
    Place all = {.array = array, .schema = schema, .name = ""};
    *schema = (struct ArrowSchema){0};
    *array = (struct ArrowArray){0};
    if (!shared)
        return fail_memory(&x);
    bool ok = true;
    for (uint32_t i = 0; ok && i < value->n; i++)
        ok = value->leaves[i].data || !value->leaves[i].ndata;
    if (!ok)
        dpc_fail(error, EXIT_USAGE, "the value's numbers are on a device: dpc_fetch brings them");
    if (ok && export_column(&x, value->type, &all)) {
        shared->value = value;
        return 1;
    }
    if (schema->release)
        schema->release(schema);
    if (array->release)
        array->release(array);
    else
        free(shared);
    return 0;
}
