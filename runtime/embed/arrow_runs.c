/* Fields of Arrow's arrays and runs of their slots: see arrow_import.h. */
#include "arrow_import.h"
#include "context.h"
#include "dp_status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */
void dpc_arrow_free_blocks(ArrowBlocks *b)
{
    for (ArrowBlocks *next; b; b = next) {
        next = b->next;
        free(b);
    }
}

bool dpc_arrow_fail_memory(ArrowImport *im)
{
    dpc_fail_memory(im->error);
    return false;
}

void *dpc_arrow_alloc(ArrowImport *im, ArrowBlocks **blocks, uint64_t n, uint64_t bytes)
{
    enum { HEAD = 16 }; /* numbers behind it are aligned */
    const uint64_t all = dp_size_mul(n, bytes);
    ArrowBlocks *b = all < SIZE_MAX - HEAD ? malloc(HEAD + all) : NULL;
    if (!b) {
        dpc_arrow_fail_memory(im);
        return NULL;
    }
    b->next = *blocks;
    *blocks = b;
    return (char *)b + HEAD;
}

/* "prices.low": the names from the column on. */
static size_t print_path(char *to, size_t room, const ArrowNode *node)
{
    size_t n = node->above ? print_path(to, room, node->above) : 0;
    const char *name = node->schema->name ? node->schema->name : "";
    const int more = snprintf(to + n, room - n, "%s%s", n && *name ? "." : "", name);
    return more > 0 && (size_t)more < room - n ? n + (size_t)more : n;
}

bool dpc_arrow_fail(ArrowImport *im, const ArrowNode *node, const char *format, ...)
{
    char path[200] = "", what[300];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    print_path(path, sizeof path, node);
    dpc_fail(im->error, EXIT_USAGE, "%s%s: %s", *path ? "column " : "the column", path, what);
    return false;
}

/* ---- nodes ---- */
bool dpc_arrow_open_node(ArrowImport *im, ArrowNode *node)
{
    if (!dpc_arrow_format(node->schema->format, &node->format))
        return dpc_arrow_fail(im, node, "Arrow's format %s is not read",
                              node->schema->format ? node->schema->format : "NULL");
    const char *wrong = dpc_arrow_check_schema(&node->format, node->schema);
    if (wrong)
        return dpc_arrow_fail(im, node, "the Arrow schema is malformed: %s", wrong);
    for (uint32_t i = 0; i < node->n; i++) {
        wrong = dpc_arrow_check(&node->format, node->schema, node->chunks[i]);
        if (wrong)
            return dpc_arrow_fail(im, node, "the Arrow array is malformed: %s", wrong);
    }
    return true;
}

bool dpc_arrow_new_node(ArrowImport *im, ArrowNode *node, const ArrowNode *above, const struct ArrowSchema *schema,
                        uint32_t n)
{
    *node = (ArrowNode){.above = above, .schema = schema, .n = n};
    node->chunks = dpc_arrow_alloc(im, &im->scratch, n, sizeof *node->chunks);
    return node->chunks != NULL;
}

bool dpc_arrow_child_node(ArrowImport *im, const ArrowNode *of, int64_t index, ArrowNode *child)
{
    if (!dpc_arrow_new_node(im, child, of, of->schema->children[index], of->n))
        return false;
    for (uint32_t i = 0; i < of->n; i++)
        child->chunks[i] = of->chunks[i]->children[index];
    return dpc_arrow_open_node(im, child);
}

static bool dictionary_node(ArrowImport *im, const ArrowNode *of, ArrowNode *values)
{
    if (!dpc_arrow_new_node(im, values, of, of->schema->dictionary, of->n))
        return false;
    for (uint32_t i = 0; i < of->n; i++)
        values->chunks[i] = of->chunks[i]->dictionary;
    return dpc_arrow_open_node(im, values);
}

/* ---- runs ---- */
bool dpc_arrow_add_run(ArrowImport *im, ArrowRuns *r, uint32_t chunk, int64_t at, int64_t n)
{
    ArrowRun *last = r->n ? &r->at[r->n - 1] : NULL;
    if (n == 0)
        return true;
    if (last && last->chunk == chunk && (chunk == ARROW_ABSENT || last->at + last->n == at)) {
        last->n += n;
        return true;
    }
    if (r->n == r->room) {
        const uint64_t room = r->room ? 2 * r->room : 8;
        ArrowRun *more = room < SIZE_MAX / sizeof *more ? realloc(r->at, room * sizeof *more) : NULL;
        if (!more)
            return dpc_arrow_fail_memory(im);
        r->at = more;
        r->room = room;
    }
    r->at[r->n++] = (ArrowRun){at, n, chunk};
    return true;
}

/* Of slots that the array may lack. */
bool dpc_arrow_add_slots(ArrowImport *im, const ArrowNode *node, ArrowRuns *r, uint32_t chunk, int64_t at, int64_t n)
{
    const int64_t length = node->chunks[chunk]->length;
    if (at < 0 || n < 0 || at > length || n > length - at)
        return dpc_arrow_fail(im, node, "the Arrow array is malformed: it has %lld values, and more are wanted",
                              (long long)length);
    return dpc_arrow_add_run(im, r, chunk, at, n);
}

uint64_t dpc_arrow_total(const ArrowRuns *r)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < r->n; i++)
        n = dp_size_add(n, (uint64_t)r->at[i].n);
    return n;
}

/* The runs of children that have a slot beside each of theirs. */
bool dpc_arrow_runs_beside(ArrowImport *im, const ArrowNode *node, const ArrowRuns *runs, ArrowRuns *to)
{
    bool ok = true;
    for (uint64_t i = 0; ok && i < runs->n; i++) {
        const ArrowRun *r = &runs->at[i];
        ok = dpc_arrow_add_run(im, to, r->chunk, r->chunk == ARROW_ABSENT ? 0 : r->at + node->chunks[r->chunk]->offset,
                               r->n);
    }
    return ok;
}

/* ---- nulls and dictionaries ---- */
static bool has_nulls(const ArrowNode *node, uint32_t chunk)
{
    const struct ArrowArray *a = node->chunks[chunk];
    return node->format.layout == ARROW_NOTHING ||
           (!dpc_arrow_is_union(&node->format) && a->null_count != 0 && a->buffers[0]);
}

static bool is_null(const ArrowNode *node, const struct ArrowArray *a, int64_t slot)
{
    return node->format.layout == ARROW_NOTHING || !dpc_arrow_bit(a->buffers[0], a->offset + slot);
}

/* Nulls are not there. */
static bool drop_nulls(ArrowImport *im, const ArrowNode *node, const ArrowRuns *runs, ArrowRuns *to,
                       ArrowMissing *missing)
{
    bool ok = true;
    uint64_t before = 0;
    for (uint64_t i = 0; ok && i < runs->n; i++) {
        const ArrowRun r = runs->at[i];
        if (r.chunk == ARROW_ABSENT || !has_nulls(node, r.chunk))
            ok = dpc_arrow_add_run(im, to, r.chunk, r.at, r.n);
        else
            for (int64_t k = 0; ok && k < r.n; k++) {
                const bool null = is_null(node, node->chunks[r.chunk], r.at + k);
                if (null && missing->n++ == 0)
                    missing->first = before + (uint64_t)k;
                ok = dpc_arrow_add_run(im, to, null ? ARROW_ABSENT : r.chunk, null ? 0 : r.at + k, 1);
            }
        before += (uint64_t)r.n;
    }
    return ok;
}

static int64_t load_integer(const ArrowNode *node, const struct ArrowArray *a, int64_t slot)
{
    const uint32_t width = dp_scalar_bytes(node->format.scalar);
    uint64_t bits;
    memcpy(&bits, (const char *)a->buffers[1] + (size_t)(a->offset + slot) * width, width);
    return (int64_t)dp_scalar_load(node->format.scalar, &bits, 0);
}

/* The slots of a dictionary that the indices name. */
static bool look_up(ArrowImport *im, const ArrowNode *node, const ArrowNode *values, const ArrowRuns *runs,
                    ArrowRuns *to)
{
    const DpScalar s = node->format.scalar;
    bool ok = node->format.layout == ARROW_NUMBERS && s != DP_F32 && s != DP_F64;
    if (!ok)
        return dpc_arrow_fail(im, node, "the indices of a dictionary are %s", node->format.name);
    for (uint64_t i = 0; ok && i < runs->n; i++) {
        const ArrowRun r = runs->at[i];
        if (r.chunk == ARROW_ABSENT)
            ok = dpc_arrow_add_run(im, to, ARROW_ABSENT, 0, r.n);
        for (int64_t k = 0; ok && r.chunk != ARROW_ABSENT && k < r.n; k++)
            ok = dpc_arrow_add_slots(im, values, to, r.chunk, load_integer(node, node->chunks[r.chunk], r.at + k), 1);
    }
    return ok;
}

/* The slots that are there, in what the indices of dictionaries stand for, if there are some: then node becomes that.
 */
bool dpc_arrow_find_present(ArrowImport *im, ArrowNode *node, const ArrowRuns *runs, ArrowRuns *to,
                            ArrowMissing *missing)
{
    bool ok = drop_nulls(im, node, runs, to, missing);
    while (ok && node->schema->dictionary) {
        ArrowRuns found = {0};
        ArrowNode values;
        ok = dictionary_node(im, node, &values) && look_up(im, node, &values, to, &found);
        values.above = node->above;
        free(to->at);
        *to = (ArrowRuns){0};
        ok = ok && drop_nulls(im, &values, &found, to, missing);
        free(found.at);
        *node = values;
    }
    return ok;
}
