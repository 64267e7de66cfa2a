/* Values from Arrow's arrays: arrow_import.h says how. */
#include "arrow_import.h"
#include "context.h"
#include "dp_status.h"

#include <stdlib.h>
#include <string.h>

static void release_hold(void *owner)
{
    ArrowHold *h = owner;
    for (uint32_t i = 0; i < h->n; i++)
        if (h->arrays[i].release)
            h->arrays[i].release(&h->arrays[i]);
    free(h->arrays);
    dpc_arrow_free_blocks(h->copies);
    free(h);
}

/* ---- numbers ---- */
static bool is_float(DpScalar s) { return s == DP_F32 || s == DP_F64; }
static bool is_signed(DpScalar s) { return s >= DP_I8 && s <= DP_I64; }

/* Integers must fit; floats are made of all numbers. False: this one is none of that type. */
static bool convert(DpScalar from, const char *data, DpScalar to, void *out, uint64_t at)
{
    uint64_t bits = 0;
    memcpy(&bits, data, dp_scalar_bytes(from));
    bits = dp_scalar_load(from, &bits, 0);
    const bool minus = is_signed(from) && (int64_t)bits < 0;
    if (!is_float(to)) {
        dp_scalar_store(to, out, at, bits);
        return (minus ? -bits : bits) <= dp_scalar_limit(to, minus);
    }
    double x = minus ? -(double)-bits : (double)bits;
    float f;
    memcpy(&f, &bits, sizeof f);
    if (is_float(from))
        memcpy(&x, &bits, sizeof x);
    if (from == DP_F32)
        x = (double)f;
    if (to == DP_F32)
        ((float *)out)[at] = (float)x;
    else
        ((double *)out)[at] = x;
    return true;
}

static bool copy_run(ArrowImport *im, const ArrowNode *node, const ArrowRun *r, DpScalar to, char *out, uint64_t *at)
{
    const struct ArrowArray *a = node->chunks[r->chunk];
    const DpScalar from = node->format.scalar;
    const int64_t first = a->offset + r->at;
    const char *data = (const char *)a->buffers[1] + (size_t)first * dp_scalar_bytes(from);
    if (node->format.layout != ARROW_BITS && from == to) {
        memcpy(out + *at * dp_scalar_bytes(to), data, (size_t)r->n * dp_scalar_bytes(to));
        *at += (uint64_t)r->n;
        return true;
    }
    for (int64_t i = 0; i < r->n; i++, ++*at) {
        if (node->format.layout == ARROW_BITS)
            out[*at] = dpc_arrow_bit(a->buffers[1], first + i);
        else if (!convert(from, data + (size_t)i * dp_scalar_bytes(from), to, out, *at))
            return dpc_arrow_fail(im, node, "value %llu is no %s", (unsigned long long)*at, dp_scalar_name(to));
    }
    return true;
}

static bool is_number_for(const ArrowFormat *f, DpScalar to)
{
    if (f->layout == ARROW_BITS || to == DP_BOOL)
        return f->layout == ARROW_BITS && to == DP_BOOL;
    return f->layout == ARROW_NUMBERS && (is_float(to) || !is_float(f->scalar));
}

/* One run of the right numbers, where they lie well: they are not copied. */
static const void *numbers_as_they_lie(const ArrowNode *node, const ArrowRuns *runs, DpScalar s)
{
    if (runs->n != 1 || runs->at[0].chunk == ARROW_ABSENT || node->format.layout != ARROW_NUMBERS ||
        node->format.scalar != s)
        return NULL;
    const struct ArrowArray *a = node->chunks[runs->at[0].chunk];
    const char *data = (const char *)a->buffers[1] + (size_t)(a->offset + runs->at[0].at) * dp_scalar_bytes(s);
    return (uintptr_t)data % dp_scalar_bytes(s) ? NULL : data;
}

/* Room for so many numbers of a leaf, zeros. */
static bool make_data(ArrowImport *im, uint32_t index, uint64_t n)
{
    DpLeaf *leaf = &im->leaves[index];
    leaf->ndata = n;
    leaf->data = dpc_arrow_alloc(im, &im->hold->copies, n, dp_scalar_bytes(leaf->scalar));
    if (leaf->data)
        memset(leaf->data, 0, n * dp_scalar_bytes(leaf->scalar));
    return leaf->data != NULL;
}

static bool import_numbers(ArrowImport *im, DpScalar s, const ArrowNode *node, const ArrowRuns *runs, uint32_t index)
{
    DpLeaf *leaf = &im->leaves[index];
    const void *data = numbers_as_they_lie(node, runs, s);
    uint64_t at = 0;
    leaf->ndata = dpc_arrow_total(runs);
    if (!is_number_for(&node->format, s))
        return dpc_arrow_fail(im, node, "%s is wanted, not %s", dp_scalar_name(s), node->format.name);
    if (data) {
        memcpy(&leaf->data, &data, sizeof data); /* it is only read */
        return true;
    }
    if (!make_data(im, index, leaf->ndata))
        return false;
    for (uint64_t i = 0; i < runs->n; i++) {
        const ArrowRun *r = &runs->at[i];
        if (r->chunk == ARROW_ABSENT) {
            at += (uint64_t)r->n;
        } else if (!node->chunks[r->chunk]->buffers[1]) {
            return dpc_arrow_fail(im, node, "the Arrow array is malformed: a buffer is NULL");
        } else if (!copy_run(im, node, r, s, leaf->data, &at)) {
            return false;
        }
    }
    return true;
}

/* ---- lists and texts ---- */
static bool set_lengths(ArrowImport *im, const DpType *t, uint32_t leaf, uint32_t level, const uint64_t *lengths,
                        uint64_t n)
{
    for (uint32_t i = 0; i < dp_type_leaves(t); i++) {
        if (!dp_leaf_make_level(&im->leaves[leaf + i], level, n, 0))
            return dpc_arrow_fail_memory(im);
        if (n)
            memcpy(im->leaves[leaf + i].lens[level], lengths, n * sizeof *lengths);
    }
    return true;
}

static int64_t bytes_of_text(const ArrowFormat *f, const struct ArrowArray *a)
{
    ArrowExtent last;
    if (!a->length || dpc_arrow_extent(f, a, a->length - 1, &last))
        return 0; /* what is wrong is found slot by slot */
    return last.at + last.n;
}

/* The bytes of texts as arrays of u8. `first`: those of a chunk, of which views have several. */
static bool bytes_node(ArrowImport *im, const ArrowNode *of, ArrowNode *bytes, uint32_t *first)
{
    static const struct ArrowSchema schema = {.format = "C"};
    const bool views = of->format.layout == ARROW_TEXT_VIEW;
    uint64_t all = 0;
    for (uint32_t i = 0; i < of->n; i++) {
        first[i] = (uint32_t)all;
        all += views ? (uint64_t)of->chunks[i]->n_buffers - 2 : 1;
    }
    struct ArrowArray *arrays = all < ARROW_ABSENT ? dpc_arrow_alloc(im, &im->scratch, all, sizeof *arrays) : NULL;
    const void **buffers = arrays ? dpc_arrow_alloc(im, &im->scratch, all, 2 * sizeof *buffers) : NULL;
    if (!buffers || !dpc_arrow_new_node(im, bytes, of, &schema, (uint32_t)all))
        return all < ARROW_ABSENT ? false : dpc_arrow_fail_memory(im);
    bytes->format = (ArrowFormat){.scalar = DP_U8, .name = "bytes"};
    for (uint32_t i = 0; i < of->n; i++) {
        const struct ArrowArray *a = of->chunks[i];
        const int64_t last = a->n_buffers - 1;
        for (uint32_t k = first[i]; k < (i + 1 < of->n ? first[i + 1] : all); k++) {
            const int64_t other = k - first[i]; /* of views: 0, the views, then the others */
            int64_t n = views ? 16 * (a->offset + a->length) : bytes_of_text(&of->format, a);
            if (views && other)
                memcpy(&n, (const char *)a->buffers[last] + 8 * (other - 1), sizeof n);
            buffers[2 * k + 1] = of->format.layout == ARROW_BYTES ? a->buffers[1] : a->buffers[views ? 1 + other : 2];
            arrays[k] = (struct ArrowArray){.length = n, .n_buffers = 2, .buffers = &buffers[2 * k]};
            bytes->chunks[k] = &arrays[k];
        }
    }
    return true;
}

static bool import_values(ArrowImport *im, const DpType *t, ArrowNode node, const ArrowRuns *runs, uint32_t leaf,
                          uint32_t level);

/* The lengths of the lists that the runs are, and the runs of what is in them. first: of bytes_node, or NULL. */
static bool open_lists(ArrowImport *im, const ArrowNode *node, const ArrowNode *inside, const uint32_t *first,
                       const ArrowRuns *runs, uint64_t *lengths, ArrowRuns *to)
{
    bool ok = true;
    for (uint64_t i = 0; ok && i < runs->n; i++) {
        const ArrowRun r = runs->at[i];
        if (r.chunk == ARROW_ABSENT) {
            memset(lengths, 0, (size_t)r.n * sizeof *lengths);
            lengths += r.n;
        }
        for (int64_t k = 0; ok && r.chunk != ARROW_ABSENT && k < r.n; k++) {
            ArrowExtent e;
            const char *wrong = dpc_arrow_extent(&node->format, node->chunks[r.chunk], r.at + k, &e);
            if (wrong)
                return dpc_arrow_fail(im, node, "the Arrow array is malformed: %s", wrong);
            *lengths++ = (uint64_t)e.n;
            const uint32_t chunk =
                first ? first[r.chunk] + (uint32_t)(node->format.layout == ARROW_TEXT_VIEW ? e.buffer + 1 : 0)
                      : r.chunk;
            ok = dpc_arrow_add_slots(im, inside, to, chunk, e.at, e.n);
        }
    }
    return ok;
}

static bool import_lists(ArrowImport *im, const DpType *t, const ArrowNode *node, const ArrowRuns *runs, uint32_t leaf,
                         uint32_t level)
{
    const ArrowLayout l = node->format.layout;
    const bool bytes = l == ARROW_TEXT || l == ARROW_BIG_TEXT || l == ARROW_TEXT_VIEW || l == ARROW_BYTES;
    const bool lists =
        l == ARROW_LIST || l == ARROW_LARGE || l == ARROW_VIEWS || l == ARROW_BIG_VIEWS || l == ARROW_FIXED;
    const uint64_t n = dpc_arrow_total(runs);
    if (!lists && !(bytes && dp_type_is_string(t)))
        return dpc_arrow_fail(im, node, "lists are wanted, not %s", node->format.name);
    uint64_t *lengths = dpc_arrow_alloc(im, &im->scratch, n, sizeof *lengths);
    uint32_t *first = bytes ? dpc_arrow_alloc(im, &im->scratch, node->n, sizeof *first) : NULL;
    ArrowRuns within = {0};
    ArrowNode inside;
    bool ok = lengths && (!bytes || first);
    ok = ok && (bytes ? bytes_node(im, node, &inside, first) : dpc_arrow_child_node(im, node, 0, &inside));
    ok = ok && open_lists(im, node, &inside, first, runs, lengths, &within) &&
         set_lengths(im, t, leaf, level, lengths, n) && import_values(im, t->element, inside, &within, leaf, level + 1);
    free(within.at);
    return ok;
}

/* ---- tuples, records and sums ---- */
/* A record's fields are found by name, and others may be there; a tuple's by their places. -1, and why. */
static int64_t child_of(ArrowImport *im, const ArrowNode *node, const DpType *t, uint32_t item)
{
    int64_t found = -1, n = 0;
    if (t->kind == DP_T_TUPLE)
        return item;
    for (int64_t i = 0; i < node->schema->n_children; i++) {
        const char *name = node->schema->children[i]->name;
        if (name && strcmp(name, t->names[item]) == 0) {
            found = i;
            n++;
        }
    }
    if (n != 1)
        dpc_arrow_fail(im, node, "%s field %s", n ? "there is more than one" : "there is no", t->names[item]);
    return n == 1 ? found : -1;
}

static bool is_struct_for(ArrowImport *im, const ArrowNode *node, const DpType *t)
{
    if (node->format.layout != ARROW_STRUCT)
        return dpc_arrow_fail(im, node, "structs are wanted, not %s", node->format.name);
    if (t->kind == DP_T_TUPLE && node->schema->n_children != t->n)
        return dpc_arrow_fail(im, node, "%u fields are wanted, not %lld", t->n, (long long)node->schema->n_children);
    return true;
}

static bool import_structs(ArrowImport *im, const DpType *t, const ArrowNode *node, const ArrowRuns *runs,
                           uint32_t leaf, uint32_t level)
{
    ArrowRuns beside = {0};
    bool ok = is_struct_for(im, node, t) && dpc_arrow_runs_beside(im, node, runs, &beside);
    ok = ok && (t->n || make_data(im, leaf, dpc_arrow_total(runs))); /* unit: a bool */
    for (uint32_t i = 0; ok && i < t->n; i++) {
        const int64_t at = child_of(im, node, t, i);
        ArrowNode child;
        ok = at >= 0 && dpc_arrow_child_node(im, node, at, &child) &&
             import_values(im, t->items[i], child, &beside, leaf + dp_type_leaves_before(t, i), level);
    }
    free(beside.at);
    return ok;
}

static bool import_present(ArrowImport *im, const DpType *t, const ArrowNode *node, const ArrowRuns *runs,
                           const ArrowMissing *missing, uint32_t leaf, uint32_t level);

/* What is not there is #none. */
static bool import_option(ArrowImport *im, const DpType *t, const ArrowNode *node, const ArrowRuns *runs, uint32_t leaf,
                          uint32_t level)
{
    static const ArrowMissing nothing;
    uint32_t none, some;
    uint64_t at = 0;
    if (!dp_type_is_option(t, &none, &some))
        return dpc_arrow_fail(im, node, "a union is wanted, not %s", node->format.name);
    if (!make_data(im, leaf, dpc_arrow_total(runs)))
        return false;
    for (uint64_t i = 0; i < runs->n; i++)
        for (int64_t k = 0; k < runs->at[i].n; k++)
            dp_scalar_store(im->leaves[leaf].scalar, im->leaves[leaf].data, at++,
                            runs->at[i].chunk == ARROW_ABSENT ? none : some);
    return import_present(im, t->items[some], node, runs, &nothing, leaf + 1, level);
}

enum { UNION_IDS = 128 };
typedef struct ArrowUnion {
    ArrowNode *children;
    uint32_t constructors[UNION_IDS]; /* of each child; t->n: none of the type's */
    int16_t child[UNION_IDS];         /* of each id, or -1 */
    ArrowRuns *runs;                  /* of each constructor */
} ArrowUnion;

static bool open_union(ArrowImport *im, const DpType *t, const ArrowNode *node, ArrowUnion *u)
{
    const int64_t n = node->schema->n_children;
    const char *id = node->format.ids;
    memset(u->child, -1, sizeof u->child);
    u->children = n <= UNION_IDS ? dpc_arrow_alloc(im, &im->scratch, (uint64_t)n, sizeof *u->children) : NULL;
    u->runs = dpc_arrow_alloc(im, &im->scratch, t->n, sizeof *u->runs);
    if (!u->children || !u->runs)
        return n <= UNION_IDS ? false : dpc_arrow_fail(im, node, "a union of %lld types is not read", (long long)n);
    memset(u->runs, 0, t->n * sizeof *u->runs);
    for (int64_t i = 0; i < n; i++) {
        char *end;
        const long number = strtol(id, &end, 10);
        if (end == id || number < 0 || number >= UNION_IDS || !node->schema->children[i]->name ||
            !dpc_arrow_child_node(im, node, i, &u->children[i]))
            return im->error->status
                       ? false
                       : dpc_arrow_fail(im, node, "the Arrow schema is malformed: %s", node->schema->format);
        id = end + (*end == ',');
        u->child[number] = (int16_t)i;
        u->constructors[i] = 0;
        while (u->constructors[i] < t->n && strcmp(t->names[u->constructors[i]], node->schema->children[i]->name) != 0)
            u->constructors[i]++;
    }
    return true;
}

/* A value: its tag, and its place among the payloads of its constructor, which is not there among those of others. */
static bool add_case(ArrowImport *im, const DpType *t, const ArrowNode *node, ArrowUnion *u, const ArrowRun *r,
                     int64_t k, uint32_t *tag)
{
    const struct ArrowArray *a = r->chunk == ARROW_ABSENT ? NULL : node->chunks[r->chunk];
    const int8_t id = a ? ((const int8_t *)a->buffers[0])[a->offset + r->at + k] : 0;
    const int child = a && id >= 0 ? u->child[id] : -1;
    int32_t place = 0;
    *tag = child < 0 ? t->n : u->constructors[child];
    if (a && child < 0)
        return dpc_arrow_fail(im, node, "the Arrow array is malformed: there is no type %d", id);
    if (a && *tag == t->n)
        return dpc_arrow_fail(im, node, "there is no constructor %s", node->schema->children[child]->name);
    if (a && node->format.layout == ARROW_DENSE)
        memcpy(&place, (const char *)a->buffers[1] + 4 * (a->offset + r->at + k), sizeof place);
    const int64_t at = !a ? 0 : node->format.layout == ARROW_DENSE ? place : a->offset + r->at + k;
    *tag = a ? *tag : 0;
    bool ok = true;
    for (uint32_t c = 0; ok && c < t->n; c++)
        ok =
            !t->items[c] || (a && c == *tag ? dpc_arrow_add_slots(im, &u->children[child], &u->runs[c], r->chunk, at, 1)
                                            : dpc_arrow_add_run(im, &u->runs[c], ARROW_ABSENT, 0, 1));
    return ok;
}

/* n values that are not there: zeros and empty arrays. */
static bool import_nothing(ArrowImport *im, const DpType *t, uint64_t n, uint32_t leaf, uint32_t level)
{
    if (t->kind == DP_T_ARRAY) {
        uint64_t *lengths = dpc_arrow_alloc(im, &im->scratch, n, sizeof *lengths);
        if (lengths)
            memset(lengths, 0, n * sizeof *lengths);
        return lengths && set_lengths(im, t, leaf, level, lengths, n) &&
               import_nothing(im, t->element, 0, leaf, level + 1);
    }
    bool ok = true;
    if (t->kind == DP_T_SCALAR || t->kind == DP_T_SUM || t->n == 0)
        ok = make_data(im, leaf++, n);
    for (uint32_t i = 0; ok && t->kind != DP_T_SCALAR && i < t->n; i++)
        ok = !t->items[i] || import_nothing(im, t->items[i], n, leaf + dp_type_leaves_before(t, i), level);
    return ok;
}

/* Of a constructor that there may be no child of. */
static bool import_payload(ArrowImport *im, const DpType *t, const ArrowNode *node, const ArrowUnion *u, uint32_t c,
                           uint32_t leaf, uint32_t level)
{
    leaf += 1 + dp_type_leaves_before(t, c);
    for (int64_t i = 0; i < node->schema->n_children; i++)
        if (u->constructors[i] == c)
            return import_values(im, t->items[c], u->children[i], &u->runs[c], leaf, level);
    return import_nothing(im, t->items[c], dpc_arrow_total(&u->runs[c]), leaf, level);
}

static bool import_union(ArrowImport *im, const DpType *t, const ArrowNode *node, const ArrowRuns *runs, uint32_t leaf,
                         uint32_t level)
{
    ArrowUnion u = {0};
    uint64_t at = 0;
    bool ok = open_union(im, t, node, &u) && make_data(im, leaf, dpc_arrow_total(runs));
    for (uint64_t i = 0; ok && i < runs->n; i++)
        for (int64_t k = 0; ok && k < runs->at[i].n; k++) {
            uint32_t tag;
            ok = add_case(im, t, node, &u, &runs->at[i], k, &tag);
            if (ok)
                dp_scalar_store(im->leaves[leaf].scalar, im->leaves[leaf].data, at++, tag);
        }
    for (uint32_t c = 0; ok && c < t->n; c++)
        ok = !t->items[c] || import_payload(im, t, node, &u, c, leaf, level);
    for (uint32_t c = 0; u.runs && c < t->n; c++)
        free(u.runs[c].at);
    return ok;
}

/* ---- all of them ---- */
static bool import_present(ArrowImport *im, const DpType *t, const ArrowNode *node, const ArrowRuns *runs,
                           const ArrowMissing *missing, uint32_t leaf, uint32_t level)
{
    if (t->kind == DP_T_SUM && dpc_arrow_is_union(&node->format))
        return import_union(im, t, node, runs, leaf, level);
    if (t->kind == DP_T_SUM && (missing->n || node->format.layout != ARROW_NOTHING))
        return import_option(im, t, node, runs, leaf, level);
    if (missing->n)
        return dpc_arrow_fail(
            im, node, "%llu values are missing, the first is number %llu: a type #none | #some t has room for that",
            (unsigned long long)missing->n, (unsigned long long)missing->first);
    if (node->format.layout == ARROW_NOTHING)
        return import_nothing(im, t, dpc_arrow_total(runs), leaf, level);
    if (t->kind == DP_T_SCALAR)
        return import_numbers(im, t->scalar, node, runs, leaf);
    return t->kind == DP_T_ARRAY ? import_lists(im, t, node, runs, leaf, level)
                                 : import_structs(im, t, node, runs, leaf, level);
}

/* The values of a type that stand in sequences of this level. */
static bool import_values(ArrowImport *im, const DpType *t, ArrowNode node, const ArrowRuns *runs, uint32_t leaf,
                          uint32_t level)
{
    ArrowRuns present = {0};
    ArrowMissing missing = {0};
    const bool ok = dpc_arrow_find_present(im, &node, runs, &present, &missing) &&
                    import_present(im, t, &node, &present, &missing, leaf, level);
    free(present.at);
    return ok;
}

/* A column is an array; a table a tuple or record of such. */
static bool import_column(ArrowImport *im, const DpType *t, const ArrowNode *node, const ArrowRuns *runs, uint32_t leaf)
{
    ArrowRuns beside = {0};
    const uint64_t n = dpc_arrow_total(runs);
    if (t->kind == DP_T_ARRAY)
        return set_lengths(im, t, leaf, 0, &n, 1) && import_values(im, t->element, *node, runs, leaf, 1);
    if (t->kind != DP_T_TUPLE && t->kind != DP_T_RECORD)
        return dpc_arrow_fail(im, node, "a column is an array, and no other type");
    bool ok = is_struct_for(im, node, t) && dpc_arrow_runs_beside(im, node, runs, &beside);
    for (uint32_t i = 0; ok && i < t->n; i++) {
        const int64_t at = child_of(im, node, t, i);
        ArrowNode child;
        ok = at >= 0 && dpc_arrow_child_node(im, node, at, &child) &&
             import_column(im, t->items[i], &child, &beside, leaf + dp_type_leaves_before(t, i));
    }
    free(beside.at);
    return ok;
}

static bool import_chunks(ArrowImport *im, const DpType *t, const struct ArrowSchema *schema,
                          const struct ArrowArray *arrays, uint32_t n)
{
    ArrowRuns all = {0};
    ArrowNode node;
    bool ok = dpc_arrow_new_node(im, &node, NULL, schema, n);
    for (uint32_t i = 0; ok && i < n; i++)
        node.chunks[i] = &arrays[i];
    ok = ok && dpc_arrow_open_node(im, &node);
    for (uint32_t i = 0; ok && i < n; i++)
        ok = dpc_arrow_add_run(im, &all, i, 0, arrays[i].length);
    ok = ok && import_column(im, t, &node, &all, 0);
    free(all.at);
    return ok;
}

/* ---- what others call ---- */
/* Of arrays that stay the caller's; the value's hold is without them. */
static DpcValue *import(const char *type, const struct ArrowSchema *schema, const struct ArrowArray *arrays, uint32_t n,
                        DpcError *error)
{
    DpcError own = {0};
    DpcValue *v = type ? dpc_value_new(type) : NULL;
    ArrowHold *hold = calloc(1, sizeof *hold);
    if (!v || !hold) {
        dpc_fail(&own, EXIT_USAGE, "not a type, or out of memory: %s", type ? type : "NULL");
    } else {
        ArrowImport im = {.leaves = v->leaves, .hold = hold, .error = &own};
        v->borrowed = true;
        if (schema && schema->release)
            import_chunks(&im, v->type, schema, arrays, n);
        else
            dpc_fail(&own, EXIT_USAGE, "the Arrow schema is NULL, or has been released");
        dpc_arrow_free_blocks(im.scratch);
    }
    if (!own.status) {
        dpc_value_own(v, release_hold, hold);
        return v;
    }
    dpc_value_free(v);
    if (hold)
        release_hold(hold);
    if (error) {
        dpc_error_clear(error);
        *error = own;
    } else {
        dpc_error_clear(&own);
    }
    return NULL;
}

/* The value's arrays are these now. */
static void hold_arrays(DpcValue *v, struct ArrowArray *arrays, uint32_t n)
{
    ArrowHold *hold = v->owner;
    hold->arrays = arrays;
    hold->n = n;
}

DpcValue *dpc_from_arrow(const char *type, const struct ArrowSchema *schema, struct ArrowArray *array, DpcError *error)
{
    struct ArrowArray *own = malloc(sizeof *own);
    DpcValue *v = NULL;
    if (!own)
        dpc_fail_memory(error);
    else if (!array || !array->release)
        dpc_fail(error, EXIT_USAGE, "the Arrow array is NULL, or has been released");
    else
        v = import(type, schema, array, 1, error);
    if (!v) {
        free(own);
        return NULL;
    }
    *own = *array;
    array->release = NULL;
    hold_arrays(v, own, 1);
    return v;
}

typedef struct Chunks {
    struct ArrowArray *at;
    uint32_t n, room;
} Chunks;

static void release_chunks(Chunks *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        c->at[i].release(&c->at[i]);
    free(c->at);
}

static bool fail_stream(struct ArrowArrayStream *stream, int code, DpcError *error)
{
    const char *why = stream->get_last_error ? stream->get_last_error(stream) : NULL;
    dpc_fail(error, EXIT_USAGE, "the Arrow stream has failed: %s", why ? why : strerror(code));
    return false;
}

static bool read_stream(struct ArrowArrayStream *stream, Chunks *c, DpcError *error)
{
    for (;;) {
        struct ArrowArray next = {0};
        const int code = stream->get_next(stream, &next);
        if (code)
            return fail_stream(stream, code, error);
        if (!next.release)
            return true;
        if (c->n == c->room) {
            const uint32_t room = c->room ? 2 * c->room : 4;
            struct ArrowArray *more = room < ARROW_ABSENT / 2 ? realloc(c->at, room * sizeof *more) : NULL;
            if (!more) {
                next.release(&next);
                dpc_fail_memory(error);
                return false;
            }
            c->at = more;
            c->room = room;
        }
        c->at[c->n++] = next;
    }
}

DpcValue *dpc_from_arrow_stream(const char *type, struct ArrowArrayStream *stream, DpcError *error)
{
    struct ArrowSchema schema = {0};
    Chunks chunks = {0};
    DpcValue *v = NULL;
    if (!stream || !stream->release) {
        dpc_fail(error, EXIT_USAGE, "the Arrow stream is NULL, or has been released");
        return NULL;
    }
    const int code = stream->get_schema(stream, &schema);
    if (code)
        fail_stream(stream, code, error);
    else if (read_stream(stream, &chunks, error))
        v = import(type, &schema, chunks.at, chunks.n, error);
    if (schema.release)
        schema.release(&schema);
    if (v)
        hold_arrays(v, chunks.at, chunks.n);
    else
        release_chunks(&chunks);
    return v;
}
