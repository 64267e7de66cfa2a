/* Segmented operations, and operations on whole arrays. Rules: docs/flattening.md, 7. */
#include "flat/eval_internal.h"

#include "flat/ref.h"

#include <stdlib.h>
#include <string.h>

static void count_launch(Eval *e, uint64_t n) { e->counts.launches += n > 0; }
static void count_readback(Eval *e, uint64_t n) { e->counts.readbacks += n > 0; }
static CoreType var_type(const Eval *e, FlatVar v) { return e->frame->fn->vars.at[v].type; }

/* ---- what reduce, scan and hist share ---- */

typedef struct Reduction {
    Eval *e;
    const FlatStmt *s;
    Ctx *c; /* the elements' context */
    uint32_t k;
    Inputs body, op, neutral, then;
    CoreType *types;      /* of the outputs: the k values, but of a scan with code behind it */
    char **data;          /* of the outputs */
    Elem *stored;         /* SCAN with code behind it: what that gives */
    Elem *acc, *values;   /* values has room for a bin in front */
    const uint64_t *bins; /* HIST: offsets of the outputs */
    bool ok;
} Reduction;

static Reduction reduction_open(Eval *e, const FlatStmt *s)
{
    Ctx *c = var_ctx(e, s->body.ctx);
    FLAT_ASSERT(e, c && c->kind == CTX_NESTED, "a segmented operation over a context that is not nested");
    Reduction r = {.e = e, .s = s, .c = c, .k = s->reduce.op.k, .ok = true};
    r.types = scratch_alloc(e, s->nouts, sizeof *r.types);
    r.data = scratch_alloc(e, s->nouts, sizeof *r.data);
    r.acc = scratch_alloc(e, r.k, sizeof *r.acc);
    r.values = scratch_alloc(e, (r.k > s->nouts ? r.k : s->nouts) + 1u, sizeof *r.values);
    for (uint32_t i = 0; i < s->nouts; i++) {
        CoreType t = var_type(e, s->outs[i]);
        r.types[i] = flat_kind_places(s->kind) || (flat_reduce_stays(s) && i < r.k) ? core_element(t) : t;
    }
    return r;
}

static bool has_then(const FlatStmt *s) { return s->kind == FLAT_S_SCAN && flat_scan_maps(s); }

static void reduction_run(Reduction *r, const RefFold *fold)
{
    Eval *e = r->e;
    bool body = inputs_open(e, &r->body, &r->s->body.inputs, r->c);
    bool op = inputs_open(e, &r->op, &r->s->reduce.op.inputs, r->c->parent);
    bool neutral = inputs_open(e, &r->neutral, &r->s->reduce.op.neutral_inputs, r->c->parent);
    bool then = !has_then(r->s) || inputs_open(e, &r->then, &r->s->reduce.then.inputs, r->c);
    r->ok = body && op && neutral && then;
    if (r->ok)
        ref_fold_segments(r->c->offsets->at, ctx_segments(r->c), fold);
    inputs_close(&r->body);
    inputs_close(&r->op);
    inputs_close(&r->neutral);
    if (has_then(r->s))
        inputs_close(&r->then);
    count_launch(e, r->c->n + (r->c->parent ? r->c->parent->n : 0));
}

static void reduction_close(Reduction *r)
{
    free(r->types);
    free(r->data);
    free(r->acc);
    free(r->values);
    free(r->stored);
}

static void load_neutral(Reduction *r, uint64_t segment)
{
    inputs_load(r->e, &r->neutral, segment);
    for (uint32_t i = 0; i < r->k; i++)
        r->acc[i] = atom_value(r->e, r->s->reduce.op.neutral[i]);
}

/* acc = acc op values */
static void combine(Reduction *r, uint64_t segment, const Elem *values)
{
    const CoreLambda *op = &r->s->reduce.op.op;
    inputs_load(r->e, &r->op, segment);
    for (uint32_t i = 0; i < r->k; i++) {
        r->e->env[op->params[i]] = r->acc[i];
        r->e->env[op->params[r->k + i]] = values[i];
    }
    r->ok = body_run(r->e, op->body, r->acc);
}

static void store_acc(Reduction *r, uint64_t at)
{
    for (uint32_t i = 0; i < r->k; i++)
        elem_store(r->types[i], r->data[i] + at * elem_bytes(r->types[i]), r->acc[i]);
    r->e->counts.work += r->k;
}

static bool run_element(Reduction *r, uint64_t i)
{
    if (!r->ok)
        return false;
    inputs_load(r->e, &r->body, i);
    r->ok = body_run(r->e, r->s->body.block, r->values);
    flat_trace_body(r->e, i, r->values);
    return r->ok;
}

static void begin_segment(void *data, uint64_t segment)
{
    Reduction *r = data;
    if (r->ok)
        load_neutral(r, segment);
}

/* ---- reduce ---- */

/* The columns of the elements' context. */
static void keep_values(Reduction *r, uint64_t i)
{
    for (uint32_t k = r->k; k < r->s->nouts; k++)
        elem_store(r->types[k], r->data[k] + i * elem_bytes(r->types[k]), r->values[k]);
    r->e->counts.work += flat_kept(r->s);
}

static void reduce_element(void *data, uint64_t segment, uint64_t i)
{
    Reduction *r = data;
    if (!run_element(r, i))
        return;
    keep_values(r, i);
    combine(r, segment, r->values);
}

static void reduce_end(void *data, uint64_t segment)
{
    Reduction *r = data;
    if (r->ok && r->c->parent)
        store_acc(r, segment);
}

/* Arrays of one. */
static void bind_staying(Reduction *r)
{
    for (uint32_t i = 0; r->ok && i < r->k; i++) {
        Stored *one = stored_new(r->e, r->types[i], 1);
        r->ok = one != NULL;
        if (!r->ok)
            return;
        elem_store(r->types[i], one->data, r->acc[i]);
        bind_host(r->e, r->s->outs[i], (Elem){.view = view_of(one->data, 1)}, true);
    }
}

bool exec_reduce(Eval *e, const FlatStmt *s)
{
    Reduction r = reduction_open(e, s);
    r.ok = (!r.c->parent || new_cols(e, s->outs, r.k, r.c->parent, r.data)) &&
           new_cols(e, s->outs + r.k, flat_kept(s), r.c, r.data + r.k);
    RefFold fold = {begin_segment, reduce_element, reduce_end, &r};
    if (r.ok)
        reduction_run(&r, &fold);
    if (s->reduce.stays)
        bind_staying(&r);
    for (uint32_t i = 0; r.ok && !r.c->parent && !s->reduce.stays && i < r.k; i++)
        bind_host(e, s->outs[i], r.acc[i], false);
    if (!r.c->parent && !s->reduce.stays)
        count_readback(e, r.c->n);
    reduction_close(&r);
    return r.ok;
}

/* ---- scan ---- */

/* The prefixes, or what is made of them. */
static void store_prefix(Reduction *r, uint64_t i, uint64_t at)
{
    if (!has_then(r->s)) {
        store_acc(r, at);
        return;
    }
    inputs_load(r->e, &r->then, i);
    for (uint32_t k = 0; k < r->k; k++)
        r->e->env[r->s->reduce.prefixes[k]] = r->acc[k];
    r->ok = body_run(r->e, r->s->reduce.then.block, r->stored);
    for (uint32_t k = 0; r->ok && k < r->s->nouts; k++)
        elem_store(r->types[k], r->data[k] + at * elem_bytes(r->types[k]), r->stored[k]);
    r->e->counts.work += r->s->nouts;
}

static void scan_element(void *data, uint64_t segment, uint64_t i)
{
    Reduction *r = data;
    if (!run_element(r, i))
        return;
    const bool turns = flat_scan_turns(r->e->frame->fn, r->s);
    const uint64_t at = turns ? (i - r->c->offsets->at[segment]) * ctx_segments(r->c) + segment : i;
    if (r->s->reduce.exclusive)
        store_prefix(r, i, at);
    if (r->ok)
        combine(r, segment, r->values);
    if (r->ok && !r->s->reduce.exclusive)
        store_prefix(r, i, at);
}

bool exec_scan(Eval *e, const FlatStmt *s)
{
    Reduction r = reduction_open(e, s);
    Ctx *of = var_ctx(e, flat_ctx(e->frame->fn, s->outs[0]));
    FLAT_ASSERT(e, of->n == r.c->n, "a scan that turns what is no rectangle");
    r.stored = scratch_alloc(e, s->nouts, sizeof *r.stored);
    r.ok = new_cols(e, s->outs, s->nouts, of, r.data);
    RefFold fold = {begin_segment, scan_element, NULL, &r};
    if (r.ok)
        reduction_run(&r, &fold);
    reduction_close(&r);
    return r.ok;
}

/* ---- hist ---- */

static void hist_begin(void *data, uint64_t segment)
{
    Reduction *r = data;
    if (!r->ok)
        return;
    load_neutral(r, segment);
    for (uint64_t i = r->bins[segment]; i < r->bins[segment + 1]; i++)
        store_acc(r, i);
}

static void hist_element(void *data, uint64_t segment, uint64_t i)
{
    Reduction *r = data;
    if (!run_element(r, i))
        return;
    uint64_t bin = r->values[0].bits; /* negative: huge; out of range: ignored */
    if (bin >= r->bins[segment + 1] - r->bins[segment])
        return;
    uint64_t at = r->bins[segment] + bin;
    for (uint32_t j = 0; j < r->k; j++)
        r->acc[j] = elem_load(r->types[j], r->data[j] + at * elem_bytes(r->types[j]));
    r->e->counts.work += r->k;
    combine(r, segment, r->values + 1);
    if (r->ok)
        store_acc(r, at);
}

/* One number for all segments. */
static bool is_of_host(const Eval *e, FlatVar v) { return e->frame->fn->vars.at[v].kind == FLAT_HOST; }

/* Offsets of arrays whose lengths are given by a function of the segment. */
static Index *offsets_of(Eval *e, FlatVar v, Ctx *parent)
{
    uint64_t n = parent ? parent->n : 1, total = 0;
    bool is_array = var_type(e, v).rank > 0;
    Index *offsets = index_new(e, n + 1);
    for (uint64_t i = 0; offsets && i < n; i++) {
        Elem x = var_elem(e, v, is_of_host(e, v) ? NULL : parent, i);
        offsets->at[i] = is_array ? x.view.len : x.bits;
        FLAT_ASSERT(e, is_array || (int64_t)x.bits >= 0, "a negative length");
        if (offsets->at[i] > UINT32_MAX || (total += offsets->at[i]) > UINT32_MAX) {
            flat_eval_fail_memory(e, offsets->at[i] > UINT32_MAX ? offsets->at[i] : total, sizeof(uint64_t));
            return NULL;
        }
    }
    if (offsets)
        ref_offsets(offsets->at, n, offsets->at);
    return offsets;
}

bool exec_hist(Eval *e, const FlatStmt *s)
{
    Reduction r = reduction_open(e, s);
    Index *bins = offsets_of(e, s->reduce.size, r.c->parent);
    r.ok = bins != NULL;
    for (uint32_t i = 0; i < r.k && r.ok; i++) {
        Stored *block = stored_new(e, r.types[i], bins->at[bins->n - 1]);
        r.ok = block != NULL;
        r.data[i] = block ? block->data : NULL;
    }
    RefFold fold = {hist_begin, hist_element, NULL, &r};
    if (r.ok) {
        r.bins = bins->at;
        reduction_run(&r, &fold);
    }
    for (uint32_t i = 0; i < r.k && r.ok; i++)
        r.ok = bind_arrays(e, s->outs[i], r.c->parent, bins, r.data[i], true);
    if (r.c->parent && !is_of_host(e, s->reduce.size))
        count_readback(e, r.c->parent->n);
    reduction_close(&r);
    return r.ok;
}

/* ---- scatter ---- */

/* Copies of the arrays v of context `parent`, one behind the other; their offsets in *offsets. */
static Stored *copy_arrays(Eval *e, FlatVar v, Ctx *parent, Index **offsets)
{
    CoreType t = var_type(e, v);
    *offsets = offsets_of(e, v, parent);
    if (!*offsets)
        return NULL;
    uint64_t n = parent ? parent->n : 1, total = (*offsets)->at[n];
    Stored *copy = stored_new(e, core_element(t), total);
    if (!copy)
        return NULL;
    for (uint64_t i = 0; i < n; i++)
        view_copy(e, t, var_elem(e, v, parent, i).view, copy->data + (*offsets)->at[i] * elem_bytes(copy->type));
    e->counts.moved += total;
    e->counts.work += total;
    return copy;
}

typedef struct Dest {
    Stored *copy;
    Index *offsets;
} Dest;

static void count_reads(void *ctx, FlatVar v)
{
    uint32_t *reads = ctx;
    reads[v]++;
}

/* May the statement write into the array itself? It must die here, be held by nothing else, and be read only once: a
 * scatter whose body looks at the destination must not see its own writes. */
static bool may_consume(Eval *e, const FlatStmt *s, FlatVar v)
{
    Value *x = var_read(e, v);
    bool dies = false;
    for (uint32_t i = 0; i < s->ndies; i++)
        dies = dies || s->dies[i] == v;
    if (!dies || x->kind != FLAT_HOST || !x->owned || x->host.view.len == 0)
        return false;
    uint32_t *reads = scratch_alloc(e, e->frame->fn->vars.n, sizeof *reads);
    flat_stmt_reads(s, count_reads, reads);
    bool once = reads[v] == 1;
    free(reads);
    return once;
}

/* The block of an array that may be consumed. Its views will no longer be one behind the other. */
static Stored *consume(Eval *e, FlatVar v)
{
    Stored *s = stored_at(e, var_read(e, v)->host.view.addr);
    FLAT_ASSERT(e, s && s->n == var_read(e, v)->host.view.len, "an owned array is not a whole block");
    if (s->type.rank)
        stored_set_contig(s, NULL, NULL);
    return s;
}

static Stored *take_or_copy(Eval *e, const FlatStmt *s, FlatVar v, Ctx *parent, Index **offsets)
{
    if (parent || !may_consume(e, s, v))
        return copy_arrays(e, v, parent, offsets);
    *offsets = offsets_of(e, v, NULL);
    return *offsets ? consume(e, v) : NULL;
}

static bool scatter_run(Eval *e, const FlatStmt *s, Ctx *c, const Dest *dests)
{
    Elem *values = scratch_alloc(e, s->nouts + 1u, sizeof *values);
    Inputs in;
    const uint64_t *seg = NULL;
    bool ok = inputs_open(e, &in, &s->body.inputs, c) && (!c->parent || ctx_path(e, c, c->parent, &seg));
    for (uint64_t i = 0; i < c->n && ok; i++) {
        inputs_load(e, &in, i);
        ok = body_run(e, s->body.block, values);
        flat_trace_body(e, i, values);
        uint64_t segment = c->parent ? path_at(seg, i) : 0, at = values[0].bits;
        for (uint32_t k = 0; k < s->nouts && ok; k++) {
            const uint64_t *off = dests[k].offsets->at;
            if (at >= off[segment + 1] - off[segment])
                continue; /* out of range: ignored */
            CoreType t = dests[k].copy->type;
            elem_store(t, dests[k].copy->data + (off[segment] + at) * elem_bytes(t), values[k + 1]);
            e->counts.moved++;
            e->counts.work++;
        }
    }
    inputs_close(&in);
    free(values);
    count_launch(e, c->n + (c->parent ? c->parent->n : 0));
    return ok;
}

/* As hist, into bins that are there. */
static bool accumulate_run(Eval *e, const FlatStmt *s, const Dest *dests)
{
    Reduction r = reduction_open(e, s);
    RefFold fold = {NULL, hist_element, NULL, &r};
    r.bins = dests[0].offsets->at;
    for (uint32_t i = 0; i < s->nouts; i++)
        r.data[i] = dests[i].copy->data;
    reduction_run(&r, &fold);
    reduction_close(&r);
    return r.ok;
}

bool exec_scatter(Eval *e, const FlatStmt *s)
{
    Ctx *c = var_ctx(e, s->body.ctx);
    FLAT_ASSERT(e, c && c->kind == CTX_NESTED, "a scatter over a context that is not nested");
    Dest *dests = scratch_alloc(e, s->nouts, sizeof *dests);
    bool ok = true;
    for (uint32_t i = 0; i < s->nouts && ok; i++) {
        dests[i].copy = take_or_copy(e, s, s->reduce.dests[i], c->parent, &dests[i].offsets);
        ok = dests[i].copy != NULL;
    }
    for (uint32_t i = 0; i < s->body.inputs.n; i++)
        if (s->body.inputs.at[i].kind != IN_POS)
            var_share(e, s->body.inputs.at[i].var); /* its rows may be put */
    if (c->parent)
        count_readback(e, c->parent->n);
    ok = ok && (s->reduce.op.k ? accumulate_run(e, s, dests) : scatter_run(e, s, c, dests));
    for (uint32_t i = 0; i < s->nouts && ok; i++)
        ok = bind_arrays(e, s->outs[i], c->parent, dests[i].offsets, dests[i].copy->data, true);
    free(dests);
    return ok;
}

/* ---- argsort ---- */

typedef struct Sorting {
    Eval *e;
    CoreType *types; /* of the keys' arrays */
    View *keys;      /* of the instance at hand */
    uint32_t n;
} Sorting;

static bool key_less(const Sorting *x, uint32_t k, uint64_t a, uint64_t b)
{
    CoreType t = core_element(x->types[k]);
    const char *base = (const char *)(uintptr_t)x->keys[k].addr;
    uint64_t args[2] = {elem_load(t, base + a * elem_bytes(t)).bits, elem_load(t, base + b * elem_bytes(t)).bits};
    return core_prim_apply(PRIM_LESS_NAN_LAST, t.scalar, SC_BOOL, args);
}

static bool sorts_before(void *data, uint64_t a, uint64_t b)
{
    Sorting *x = data;
    x->e->counts.work++;
    for (uint32_t k = 0; k < x->n; k++) {
        if (key_less(x, k, a, b))
            return true;
        if (key_less(x, k, b, a))
            return false;
    }
    return false;
}

/* What nobody reads is not in order here, either. */
static void spoil_middle(Eval *e, const FlatStmt *s, uint64_t *perm, uint64_t n)
{
    int64_t ends[2] = {0, 0};
    for (uint32_t i = 0; i < s->arrays.nends; i++)
        ends[i] = (int64_t)var_elem(e, s->arrays.ends[i], NULL, 0).bits;
    const uint64_t first = ends[0] > 0 ? (uint64_t)ends[0] : 0, last = ends[1] > 0 ? (uint64_t)ends[1] : 0;
    for (uint64_t i = first; (first || last) && i < n && n - i > last; i++)
        perm[i] = i;
}

static bool sort_instance(Eval *e, const FlatStmt *s, Ctx *ctx, Sorting *x, uint64_t i, uint64_t *perm, uint64_t n)
{
    for (uint32_t k = 0; k < x->n; k++) {
        x->keys[k] = var_elem(e, s->arrays.arrays[k], ctx, i).view;
        FLAT_ASSERT(e, x->keys[k].len == n, "sort keys of different lengths");
        if (n)
            (void)view_at(e, x->types[k], x->keys[k], n - 1);
    }
    uint64_t *scratch = elements_alloc(e, n, sizeof *scratch);
    if (!scratch)
        return false;
    for (uint64_t j = 0; j < n; j++)
        perm[j] = j;
    ref_sort(perm, n, scratch, sorts_before, x);
    spoil_middle(e, s, perm, n);
    free(scratch);
    e->counts.work += n;
    return flat_eval_tick(e);
}

/* The columns' elements in the order, column by column, bound behind the positions, if these are wanted. */
static bool bind_sorted(Eval *e, const FlatStmt *s, Ctx *ctx, Index *offsets, Stored *order)
{
    const uint32_t nkeys = s->arrays.nkeys, positions = s->nouts - (s->arrays.n - nkeys);
    const uint64_t n = ctx ? ctx->n : 1, *from = (const uint64_t *)(const void *)order->data;
    if (positions && !bind_arrays(e, s->outs[0], ctx, offsets, order->data, true))
        return false;
    for (uint32_t k = nkeys; k < s->arrays.n; k++) {
        CoreType t = core_element(var_type(e, s->arrays.arrays[k]));
        Stored *out = stored_new(e, t, offsets->at[n]);
        if (!out)
            return false;
        for (uint64_t i = 0; i < n; i++) {
            View v = var_elem(e, s->arrays.arrays[k], ctx, i).view;
            FLAT_ASSERT(e, v.len == offsets->at[i + 1] - offsets->at[i], "sorted columns of different lengths");
            for (uint64_t j = offsets->at[i]; j < offsets->at[i + 1]; j++)
                memcpy(out->data + j * elem_bytes(t), (const char *)(uintptr_t)v.addr + from[j] * elem_bytes(t),
                       elem_bytes(t));
        }
        e->counts.work += offsets->at[n];
        if (!bind_arrays(e, s->outs[positions + k - nkeys], ctx, offsets, out->data, true))
            return false;
    }
    return true;
}

bool exec_argsort(Eval *e, const FlatStmt *s)
{
    Ctx *ctx = var_ctx(e, s->ctx);
    uint64_t n = ctx ? ctx->n : 1;
    Index *offsets = offsets_of(e, s->arrays.arrays[0], ctx);
    Stored *out = offsets ? stored_new(e, (CoreType){SC_I64, 0}, offsets->at[n]) : NULL;
    if (!out)
        return false;
    Sorting x = {.e = e, .n = s->arrays.nkeys};
    x.types = scratch_alloc(e, x.n, sizeof *x.types);
    x.keys = scratch_alloc(e, x.n, sizeof *x.keys);
    for (uint32_t k = 0; k < x.n; k++)
        x.types[k] = var_type(e, s->arrays.arrays[k]);
    bool ok = true;
    for (uint64_t i = 0; i < n && ok; i++) {
        uint64_t from = offsets->at[i];
        ok = sort_instance(e, s, ctx, &x, i, (uint64_t *)(void *)out->data + from, offsets->at[i + 1] - from);
    }
    free(x.types);
    free(x.keys);
    count_launch(e, offsets->at[n]);
    if (ctx)
        count_readback(e, n);
    return ok && bind_sorted(e, s, ctx, offsets, out);
}

/* ---- flatten ---- */

/* The one block that holds the rows of all instances, if they are contiguous in it; NULL otherwise. */
static Stored *contig_rows(Eval *e, FlatVar v, Ctx *ctx)
{
    Stored *one = NULL;
    for (uint64_t i = 0, n = ctx ? ctx->n : 1; i < n; i++) {
        View view = var_elem(e, v, ctx, i).view;
        if (view.len == 0)
            continue;
        Stored *s = stored_at(e, view.addr);
        FLAT_ASSERT(e, s, "a view lies in no block");
        if (!s->offsets || (one && s != one))
            return NULL;
        one = s;
    }
    return one;
}

/* addr' = ioff[addr], len' = ioff[addr+len] - ioff[addr]: no element is touched. */
static Elem flatten_contig(const Stored *rows, CoreType array, View v)
{
    if (v.len == 0)
        return (Elem){0};
    uint64_t first = (v.addr - (uintptr_t)rows->data) / sizeof(View);
    const uint64_t *off = rows->offsets->at;
    uint64_t len = off[first + v.len] - off[first];
    const char *from = rows->base + off[first] * elem_bytes(core_element(core_element(array)));
    return (Elem){.view = view_of(from, len)};
}

static bool flatten_alias(Eval *e, const FlatStmt *s, Ctx *ctx, const Stored *rows)
{
    FlatVar v = s->arrays.arrays[0];
    CoreType array = var_type(e, v);
    char *data;
    if (!ctx) {
        View view = var_elem(e, v, NULL, 0).view;
        bind_host(e, s->outs[0], flatten_contig(rows, array, view), false);
        return true;
    }
    if (!new_cols(e, s->outs, 1, ctx, &data))
        return false;
    for (uint64_t i = 0; i < ctx->n; i++)
        elem_store(core_element(array), data + i * sizeof(View),
                   flatten_contig(rows, array, var_elem(e, v, ctx, i).view));
    e->counts.work += ctx->n;
    return true;
}

/* Calls nothing but memory: the rows of instance i, to `to` if it is not NULL; returns their total length. */
static uint64_t flatten_rows(Eval *e, CoreType array, View v, char *to)
{
    CoreType row = core_element(array);
    uint64_t total = 0;
    for (uint64_t j = 0; j < v.len; j++) {
        View r = elem_load(row, view_at(e, array, v, j)).view;
        if (to)
            view_copy(e, row, r, to + total * elem_bytes(core_element(row)));
        total += r.len;
    }
    e->counts.work += v.len + (to ? total : 0);
    return total;
}

static bool flatten_copy(Eval *e, const FlatStmt *s, Ctx *ctx)
{
    FlatVar v = s->arrays.arrays[0];
    CoreType array = var_type(e, v);
    uint64_t n = ctx ? ctx->n : 1;
    Index *offsets = index_new(e, n + 1);
    if (!offsets)
        return false;
    for (uint64_t i = 0; i < n; i++)
        offsets->at[i] = flatten_rows(e, array, var_elem(e, v, ctx, i).view, NULL);
    uint64_t total = ref_offsets(offsets->at, n, offsets->at);
    Stored *out = stored_new(e, core_element(core_element(array)), total);
    if (!out)
        return false;
    for (uint64_t i = 0; i < n; i++)
        flatten_rows(e, array, var_elem(e, v, ctx, i).view, out->data + offsets->at[i] * elem_bytes(out->type));
    e->counts.moved += total;
    count_readback(e, n);
    return bind_arrays(e, s->outs[0], ctx, offsets, out->data, true);
}

bool exec_flatten(Eval *e, const FlatStmt *s)
{
    Ctx *ctx = var_ctx(e, s->ctx);
    count_launch(e, ctx ? ctx->n : 1);
    Stored *rows = contig_rows(e, s->arrays.arrays[0], ctx);
    return rows ? flatten_alias(e, s, ctx, rows) : flatten_copy(e, s, ctx);
}

/* ---- update ---- */

/* In place where nothing else can see it (docs/flattening.md, 9); only at depth 0, as the runtime does. */
bool exec_update(Eval *e, const FlatStmt *s)
{
    Ctx *ctx = var_ctx(e, s->ctx);
    uint64_t n = ctx ? ctx->n : 1;
    count_launch(e, n);
    var_share(e, s->update.value);
    Index *offsets;
    Stored *copy = take_or_copy(e, s, s->update.array, ctx, &offsets);
    if (!copy)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = var_elem(e, s->update.index, ctx, i).bits;
        if (at >= offsets->at[i + 1] - offsets->at[i])
            continue;
        elem_store(copy->type, copy->data + (offsets->at[i] + at) * elem_bytes(copy->type),
                   var_elem(e, s->update.value, ctx, i));
        e->counts.work++;
    }
    if (ctx)
        count_readback(e, n);
    return bind_arrays(e, s->outs[0], ctx, offsets, copy->data, true);
}
