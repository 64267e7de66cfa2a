/* Statements that make contexts, and columns without looking at segments. Rules: docs/flattening.md, 2 to 4. */
#include "flat/eval_internal.h"

#include "flat/ref.h"

#include <stdlib.h>
#include <string.h>

/* A statement that would start kernels, over n instances. */
static void count_launch(Eval *e, uint64_t n) { e->counts.launches += n > 0; }
static void count_readback(Eval *e, uint64_t n) { e->counts.readbacks += n > 0; }

static CoreType var_type(const Eval *e, FlatVar v) { return e->frame->fn->vars.at[v].type; }

/* ---- scalar code ---- */

bool exec_host(Eval *e, const FlatStmt *s)
{
    Elem *results = scratch_alloc(e, s->nouts, sizeof *results);
    Inputs in;
    bool ok = inputs_open(e, &in, &s->body.inputs, NULL);
    if (ok) {
        inputs_load(e, &in, 0);
        ok = body_run(e, s->body.block, results);
    }
    for (uint32_t i = 0; ok && i < s->nouts; i++)
        bind_host(e, s->outs[i], results[i], false);
    inputs_close(&in);
    free(results);
    return ok;
}

/* Runs a body over all instances of ctx; result k of instance i goes to data[k]. */
static bool run_over(Eval *e, const FlatBody *body, Ctx *ctx, const CoreType *types, char *const *data, uint32_t k)
{
    if (ctx->n == 0)
        return true;
    Elem *results = scratch_alloc(e, k, sizeof *results);
    Inputs in;
    bool ok = inputs_open(e, &in, &body->inputs, ctx);
    for (uint64_t i = 0; i < ctx->n && ok; i++) {
        inputs_load(e, &in, i);
        ok = body_run(e, body->block, results);
        flat_trace_body(e, i, results);
        for (uint32_t r = 0; ok && r < k; r++)
            elem_store(types[r], data[r] + i * elem_bytes(types[r]), results[r]);
        e->counts.work += k;
    }
    inputs_close(&in);
    free(results);
    return ok;
}

bool exec_kernel(Eval *e, const FlatStmt *s)
{
    Ctx *ctx = var_ctx(e, s->body.ctx);
    char **data = scratch_alloc(e, s->nouts, sizeof *data);
    CoreType *types = scratch_alloc(e, s->nouts, sizeof *types);
    for (uint32_t i = 0; i < s->nouts; i++)
        types[i] = var_type(e, s->outs[i]);
    count_launch(e, ctx->n);
    bool ok = new_cols(e, s->outs, s->nouts, ctx, data) && run_over(e, &s->body, ctx, types, data, s->nouts);
    free(types);
    free(data);
    return ok;
}

bool exec_nothing(Eval *e, const FlatStmt *s)
{
    char *data;
    if (s->ctx != FLAT_ROOT)
        return new_cols(e, s->outs, 1, var_ctx(e, s->ctx), &data);
    bind_host(e, s->outs[0], (Elem){.bits = 0}, true);
    return true;
}

/* One block of n * k elements, item j of instance i at i * k + j. */
static bool run_items(Eval *e, const FlatStmt *s, Ctx *ctx, Stored *block)
{
    uint32_t k = s->body.block->nresults;
    uint64_t n = ctx ? ctx->n : 1;
    Elem *items = scratch_alloc(e, k, sizeof *items);
    Inputs in;
    bool ok = inputs_open(e, &in, &s->body.inputs, ctx);
    for (uint64_t i = 0; i < n && ok; i++) {
        inputs_load(e, &in, i);
        ok = body_run(e, s->body.block, items);
        for (uint32_t j = 0; ok && j < k; j++)
            elem_store(block->type, block->data + (i * k + j) * elem_bytes(block->type), items[j]);
        e->counts.work += k;
    }
    inputs_close(&in);
    free(items);
    return ok;
}

bool exec_array(Eval *e, const FlatStmt *s)
{
    Ctx *ctx = var_ctx(e, s->body.ctx);
    uint64_t n = ctx ? ctx->n : 1, k = s->body.block->nresults;
    Stored *block = stored_new(e, core_element(var_type(e, s->outs[0])), n * k);
    Index *offsets = block ? index_new(e, n + 1) : NULL;
    if (!offsets)
        return false;
    for (uint64_t i = 0; i <= n; i++)
        offsets->at[i] = i * k;
    count_launch(e, ctx ? n : 0);
    return (n == 0 || run_items(e, s, ctx, block)) && bind_arrays(e, s->outs[0], ctx, offsets, block->data, true);
}

/* ---- contexts ---- */

bool exec_nested(Eval *e, const FlatStmt *s)
{
    Ctx *parent = var_ctx(e, flat_ctx(e->frame->fn, s->outs[0]));
    uint64_t n = parent ? parent->n : 1, total = 0;
    bool is_array = var_type(e, s->nested.source).rank > 0;
    bool regular = e->frame->fn->vars.at[s->nested.source].kind == FLAT_HOST; /* one length for all */
    Index *offsets = index_new(e, n + 1);
    if (!offsets)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        Elem x = var_elem(e, s->nested.source, regular ? NULL : parent, i);
        offsets->at[i] = is_array ? x.view.len : x.bits;
        FLAT_ASSERT(e, is_array || (int64_t)x.bits >= 0, "a negative length");
        /* Positions are 32 bits wide where they are stored. */
        if (offsets->at[i] > UINT32_MAX || (total += offsets->at[i]) > UINT32_MAX)
            return flat_eval_fail_memory(e, offsets->at[i] > UINT32_MAX ? offsets->at[i] : total, sizeof(uint64_t));
    }
    ref_offsets(offsets->at, n, offsets->at);
    FLAT_ASSERT(e, ref_offsets_valid(offsets->at, n) && offsets->at[n] == total, "offsets do not ascend");
    Ctx *c = eval_ctx_new(e, CTX_NESTED, parent, total);
    c->offsets = offsets;
    uint64_t scanned = regular ? 0 : n;
    count_launch(e, scanned);
    count_readback(e, scanned);
    e->counts.work += scanned;
    bind_ctx(e, s->outs[0], c);
    return true;
}

/* The body's results for the instances of context i, and the columns of it. */
static bool pack_way(Eval *e, const FlatStmt *s, Ctx *c, char *const *results, uint32_t i)
{
    Index *idx = index_new(e, c->n);
    if (!idx)
        return false;
    uint64_t n = ref_pack((const uint8_t *)results[i], c->n, idx->at);
    Ctx *kept = ctx_select(e, c, idx, n);
    bind_ctx(e, s->outs[i], kept);
    for (uint32_t k = s->pack.nways; k < s->nouts; k++) {
        char *data;
        if (flat_ctx(e->frame->fn, s->outs[k]) != s->outs[i])
            continue;
        if (!new_cols(e, &s->outs[k], 1, kept, &data))
            return false;
        uint32_t bytes = elem_bytes(var_type(e, s->outs[k]));
        for (uint64_t j = 0; j < n; j++)
            memcpy(data + j * bytes, results[k] + idx->at[j] * bytes, bytes);
        e->counts.work += n;
    }
    return true;
}

bool exec_pack(Eval *e, const FlatStmt *s)
{
    Ctx *c = var_ctx(e, s->body.ctx);
    const CoreType flag = {SC_BOOL, 0};
    CoreType *types = scratch_alloc(e, s->nouts, sizeof *types);
    char **results = scratch_alloc(e, s->nouts, sizeof *results);
    bool ok = true;
    for (uint32_t k = 0; k < s->nouts; k++) {
        types[k] = k < s->pack.nways ? flag : var_type(e, s->outs[k]);
        results[k] = ok ? elements_alloc(e, c->n, elem_bytes(types[k])) : NULL;
        ok = results[k] != NULL;
    }
    ok = ok && run_over(e, &s->body, c, types, results, s->nouts);
    for (uint32_t i = 0; i < s->pack.nways && ok; i++)
        ok = pack_way(e, s, c, results, i);
    count_launch(e, c->n);
    count_readback(e, c->n);
    e->counts.work += c->n;
    for (uint32_t k = 0; k < s->nouts; k++)
        free(results[k]);
    free(results);
    free(types);
    return ok;
}

bool exec_split(Eval *e, const FlatStmt *s)
{
    Ctx *c = var_ctx(e, s->ctx);
    const Col *cond = var_col(e, s->split.cond, c);
    Index *yes = index_new(e, c->n), *no = yes ? index_new(e, c->n) : NULL;
    if (!no)
        return false;
    uint64_t k = ref_partition((const uint8_t *)cond->data, c->n, yes->at, no->at);
    bind_ctx(e, s->outs[0], ctx_select(e, c, yes, k));
    bind_ctx(e, s->outs[1], ctx_select(e, c, no, c->n - k));
    count_launch(e, c->n);
    count_readback(e, c->n);
    e->counts.work += c->n;
    return true;
}

/* ---- elements ---- */

/* The elements of a column of views, if they are known to lie one behind the other; NULL otherwise. */
static char *contig_elements(Eval *e, const Col *views, const Ctx *c)
{
    const Stored *s = stored_at(e, (uintptr_t)views->data);
    if (!s || !s->offsets)
        return NULL;
    uint64_t first = (uint64_t)(views->data - s->data) / sizeof(View), n = views->ctx->n;
    FLAT_ASSERT(e, first + n <= s->n, "a column reaches out of its block");
    uint64_t from = s->offsets->at[first];
    FLAT_ASSERT(e, s->offsets->at[first + n] - from == c->n, "arrays and context differ in length");
    return s->base + from * elem_bytes(core_element(views->type));
}

static bool copy_elements(Eval *e, FlatVar out, const Col *views, Ctx *c)
{
    char *data;
    if (!new_cols(e, &out, 1, c, &data))
        return false;
    uint32_t bytes = elem_bytes(core_element(views->type));
    for (uint64_t i = 0; i < views->ctx->n; i++) {
        View v = elem_load(views->type, views->data + i * sizeof v).view;
        FLAT_ASSERT(e, v.len == c->offsets->at[i + 1] - c->offsets->at[i], "arrays and context differ in length");
        view_copy(e, views->type, v, data + c->offsets->at[i] * bytes);
    }
    e->counts.moved += c->n;
    e->counts.work += c->n;
    count_launch(e, c->n);
    return true;
}

static bool elems_at_root(Eval *e, FlatVar out, const Value *array, Ctx *c)
{
    View v = array->host.view;
    FLAT_ASSERT(e, v.len == c->n, "an array and its context differ in length");
    char *data = v.len ? view_at(e, array->type, v, 0) : no_elements();
    bind_col(e, out, c, data);
    return true;
}

bool exec_elems(Eval *e, const FlatStmt *s)
{
    Ctx *c = var_ctx(e, s->ctx);
    for (uint32_t i = 0; i < s->nouts; i++) {
        bool ok = true;
        if (!c->parent) {
            ok = elems_at_root(e, s->outs[i], var_read(e, s->arrays.arrays[i]), c);
        } else {
            const Col *views = var_col(e, s->arrays.arrays[i], c->parent);
            char *alias = c->n ? contig_elements(e, views, c) : no_elements();
            if (alias)
                bind_col(e, s->outs[i], c, alias);
            else
                ok = copy_elements(e, s->outs[i], views, c);
        }
        if (!ok)
            return false;
    }
    return true;
}

bool exec_select(Eval *e, const FlatStmt *s)
{
    Ctx *c = var_ctx(e, s->ctx);
    for (uint32_t i = 0; i < s->nouts; i++) {
        const Value *v = var_read(e, s->arrays.arrays[i]);
        const uint64_t *path = NULL;
        if (c->n && !ctx_path(e, c, v->col.ctx, &path))
            return false;
        char *data = c->n ? v->col.data : no_elements();
        if (path) {
            uint32_t bytes = elem_bytes(v->type);
            Stored *copy = stored_new(e, v->type, c->n);
            if (!copy)
                return false;
            ref_gather(copy->data, data, bytes, path, c->n);
            e->counts.moved += c->n;
            e->counts.work += c->n;
            data = copy->data;
        }
        bind_col(e, s->outs[i], c, data);
    }
    return true;
}

/* The columns become blocks, and each segment a view (docs/flattening.md, 3). */
bool exec_views(Eval *e, const FlatStmt *s)
{
    Ctx *c = var_ctx(e, s->ctx), *nested = c->kind == CTX_NESTED ? c : c->parent;
    FLAT_ASSERT(e, nested && nested->kind == CTX_NESTED, "views of a context that is neither nested nor packed");
    Index *offsets = nested->offsets;
    uint64_t n = ctx_segments(nested);
    if (c->map) {
        offsets = index_new(e, n + 1);
        if (!offsets)
            return false;
        ref_pack_offsets(nested->offsets->at, n, c->map->at, c->n, offsets->at);
        e->counts.work += c->n;
    }
    FLAT_ASSERT(e, ref_offsets_valid(offsets->at, n) && offsets->at[n] == c->n, "offsets of packed segments");
    count_launch(e, nested->parent ? n : 0);
    for (uint32_t i = 0; i < s->nouts; i++) {
        const Col *col = var_col(e, s->arrays.arrays[i], c);
        if (!bind_arrays(e, s->outs[i], nested->parent, offsets, col->data, false))
            return false;
        e->counts.work += nested->parent ? n : 0;
    }
    return true;
}

/* ---- merging (docs/flattening.md, 4) ---- */

static bool check_partition(Eval *e, const FlatStmt *s, const Ctx *c)
{
    uint8_t *seen = elements_alloc(e, c->n, 1);
    uint64_t sum = 0;
    bool ok = seen != NULL;
    for (uint32_t p = 0; ok && p < s->merge.nparts; p++) {
        Ctx *part = var_ctx(e, s->merge.parts[p].ctx);
        const uint64_t *map;
        ok = ctx_path(e, part, c, &map);
        sum += part->n;
        FLAT_ASSERT(e, !ok || (map ? ref_mark_once(seen, c->n, map, part->n) : part->n == c->n), "parts overlap");
    }
    FLAT_ASSERT(e, !ok || sum == c->n, "parts do not make up the whole");
    free(seen);
    return ok;
}

static bool put_part(Eval *e, const FlatPart *p, uint32_t k, Ctx *c, char *data)
{
    Ctx *part = var_ctx(e, p->ctx);
    const Col *col = var_col(e, p->cols[k], part);
    const uint64_t *path;
    if (part->n == 0)
        return true;
    if (!ctx_path(e, part, c, &path))
        return false;
    ref_scatter(data, col->data, elem_bytes(col->type), path, part->n);
    return true;
}

/* The part that is the whole, if one is. */
static const FlatPart *whole_part(Eval *e, const FlatStmt *s, const Ctx *c)
{
    for (uint32_t p = 0; p < s->merge.nparts; p++)
        if (var_ctx(e, s->merge.parts[p].ctx)->n == c->n)
            return &s->merge.parts[p];
    return NULL;
}

bool exec_merge(Eval *e, const FlatStmt *s)
{
    Ctx *c = var_ctx(e, s->ctx);
    if (!check_partition(e, s, c))
        return false;
    const FlatPart *whole = whole_part(e, s, c);
    for (uint32_t k = 0; k < s->nouts; k++) {
        if (whole) {
            bind_col(e, s->outs[k], c, var_col(e, whole->cols[k], var_ctx(e, whole->ctx))->data);
            continue;
        }
        char *data;
        if (!new_cols(e, &s->outs[k], 1, c, &data))
            return false;
        for (uint32_t p = 0; p < s->merge.nparts; p++)
            if (!put_part(e, &s->merge.parts[p], k, c, data))
                return false;
        e->counts.moved += c->n;
        e->counts.work += c->n;
    }
    if (!whole)
        count_launch(e, c->n);
    return true;
}

char *gather_col(Eval *e, CoreType t, const char *data, const Index *idx, uint64_t n)
{
    Stored *s = stored_new(e, t, n);
    if (!s)
        return NULL;
    ref_gather(s->data, data, elem_bytes(t), idx->at, n);
    e->counts.moved += n;
    e->counts.work += n;
    return s->data;
}
