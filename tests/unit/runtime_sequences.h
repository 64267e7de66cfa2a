/* What a program does with the runtime, written as generated code is: operations in a row, whatever becomes of them,
 * and at the end all is released. Each gives a digest of what it computed. Shared by the tests of failures and of
 * threads. */
#ifndef RUNTIME_SEQUENCES_H
#define RUNTIME_SEQUENCES_H

#include "runtime_holes.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 5, ELEMENTS = 10, MANY = 9000 };
static const int64_t row_lengths[ROWS] = {3, 0, 4, 1, 2};
static const int32_t row_elements[ELEMENTS] = {5, -3, 12, 7, 7, 30, -8, 1, 0, 22};

typedef uint64_t Sequence(DpRt *rt);

/* ---- columns ---- */
static DpCol column(DpRt *rt, const void *data, uint64_t n, uint32_t bytes)
{
    DpArr a = dp_array_root(rt, data, bytes, n, NULL);
    DpCol col = dp_elems_root(rt, &a, NULL, bytes);
    dp_arr_release(rt, &a);
    return col;
}

static uint64_t mix(uint64_t digest, const void *bytes, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        digest = (digest ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return digest;
}

/* Of scalars; releases the column. */
static uint64_t take(DpRt *rt, uint64_t digest, DpCol *c)
{
    unsigned char bytes[16 * ELEMENTS];
    uint64_t n = c->n * c->bytes < sizeof bytes ? c->n * c->bytes : sizeof bytes;
    dp_rt_read(rt, c->addr, bytes, n);
    dp_col_release(rt, c);
    return mix(digest, bytes, n);
}

/* Of views of scalars. */
static uint64_t take_views(DpRt *rt, uint64_t digest, DpCtx *up, DpCol *views, uint32_t bytes)
{
    DpCtx *c = dp_nested_views(rt, up, views);
    DpCol elements = dp_elems(rt, views, c, bytes);
    dp_ctx_release(rt, &c);
    dp_col_release(rt, views);
    return take(rt, digest, &elements);
}

static uint64_t take_arr(DpRt *rt, uint64_t digest, DpArr *a, uint32_t bytes)
{
    DpCol elements = dp_elems_root(rt, a, NULL, bytes);
    dp_arr_release(rt, a);
    return take(rt, digest, &elements);
}

/* ---- rows of different lengths ---- */
typedef struct Rows {
    DpCtx *up, *c;
    DpCol x, caps; /* an i32 for each element, and for each row */
    uint64_t words[2];
} Rows;

static Rows rows_begin(DpRt *rt)
{
    static const int32_t caps[ROWS] = {4, 9, 2, 7, 7};
    Rows r = {.up = dp_ctx_fn(rt, ROWS)};
    DpCol lens = column(rt, row_lengths, ROWS, 8);
    r.c = dp_nested_lens(rt, r.up, &lens);
    dp_col_release(rt, &lens);
    r.x = column(rt, row_elements, ELEMENTS, 4);
    r.caps = column(rt, caps, ROWS, 4);
    r.words[0] = r.x.addr;
    r.words[1] = r.caps.addr;
    return r;
}

static void rows_end(DpRt *rt, Rows *r)
{
    dp_col_release(rt, &r->x);
    dp_col_release(rt, &r->caps);
    dp_ctx_release(rt, &r->c);
    dp_ctx_release(rt, &r->up);
}

/* ---- the sequences ---- */
static uint64_t run_folds(DpRt *rt)
{
    Rows r = rows_begin(rt);
    DpCol outs[3];
    uint64_t bits[2], d = 0;
    dp_map(rt, K_MAP, 0, r.c, r.words, outs);
    d = take(rt, d, &outs[0]);
    dp_map(rt, K_MAP_MANY, 0, r.c, r.words, outs);
    for (int i = 0; i < 3; i++)
        d = take(rt, d, &outs[i]);
    dp_reduce(rt, K_CAPPED, 0, r.c, r.words, outs);
    d = take(rt, d, &outs[0]);
    dp_reduce_root(rt, K_COMPOSE, 0, r.c, r.words, bits);
    d = mix(d, bits, sizeof bits);
    dp_scan(rt, K_SCAN_EXCLUSIVE, 0, r.c, r.words, outs);
    d = take(rt, take(rt, d, &outs[0]), &outs[1]);
    rows_end(rt, &r);
    return d;
}

/* Selections, what they are made of, and their paths. */
static uint64_t run_selections(DpRt *rt)
{
    static const uint8_t condition[ROWS] = {1, 0, 1, 1, 0};
    Rows r = rows_begin(rt);
    DpCtx *kept = dp_pack(rt, K_PACK_SEG, 0, r.c, r.words), *yes, *no;
    DpCol some = dp_select(rt, &r.x, r.c, kept), views = dp_views(rt, kept, &some);
    uint64_t d = take(rt, take_views(rt, 0, r.up, &views, 4), &some);
    DpCol cond = column(rt, condition, ROWS, 1);
    dp_split(rt, r.up, &cond, &yes, &no);
    DpCol parts[2] = {dp_select(rt, &r.caps, r.up, yes), dp_select(rt, &r.caps, r.up, no)};
    DpCol merged = dp_merge(rt, r.up, 2, (DpCtx *const[2]){yes, no}, parts);
    DpCol both = dp_concat(rt, 2, parts), slice = dp_slice_col(rt, &both, 0, dp_failed(rt) ? 0 : 2);
    d = take(rt, take(rt, take(rt, d, &merged), &slice), &both);
    DpCtx *inner = dp_nested_regular(rt, yes, 3), *below = dp_ctx_below(rt, inner, r.up);
    DpCol far = dp_select(rt, &r.caps, r.up, below), out = dp_new_col(rt, ROWS, 4);
    d = mix(take(rt, d, &far), &(uint64_t){dp_ctx_n(below)}, 8);
    dp_put(rt, &out, r.up, yes, &parts[0]);
    dp_put(rt, &out, r.up, no, &parts[1]);
    d = take(rt, d, &out);
    for (int i = 0; i < 2; i++)
        dp_col_release(rt, &parts[i]);
    dp_col_release(rt, &cond);
    dp_ctx_release(rt, &below);
    dp_ctx_release(rt, &inner);
    dp_ctx_release(rt, &yes);
    dp_ctx_release(rt, &no);
    dp_ctx_release(rt, &kept);
    rows_end(rt, &r);
    return d;
}

/* The rows without their first elements, as a kernel's views. */
static DpCol shorter_rows(DpRt *rt, Rows *r)
{
    DpCol all = dp_views(rt, r->c, &r->x), rows;
    dp_map(rt, K_ROWS, 0, r->up, &(uint64_t){dp_col_addr(rt, &all)}, &rows);
    dp_col_set_refs(rt, &rows, dp_refs_of_col(rt, &all, 0));
    dp_col_release(rt, &all);
    return rows;
}

static uint64_t run_views(DpRt *rt)
{
    static const int64_t groups[2] = {2, 3};
    Rows r = rows_begin(rt);
    DpCol rows = shorter_rows(rt, &r), sizes = column(rt, groups, 2, 8);
    uint64_t word[2], d = 0;
    DpCtx *c = dp_nested_views(rt, r.up, &rows), *top = dp_ctx_fn(rt, 2), *mid = dp_nested_lens(rt, top, &sizes);
    d = mix(d, &(uint32_t){dp_elem_words_of(rt, &rows, c, 4, word)}, 4);
    DpCol nested = dp_views(rt, mid, &rows), flat = dp_flatten(rt, top, &nested, 4);
    d = take_views(rt, d, top, &flat, 4);
    DpCol contiguous = dp_views(rt, r.c, &r.x), twice = dp_views(rt, mid, &contiguous);
    flat = dp_flatten(rt, top, &twice, 4);
    d = take_views(rt, d, top, &flat, 4);
    DpArr whole = dp_views_root(rt, mid, &rows), flattened = dp_flatten_root(rt, &whole, 4);
    d = take_arr(rt, d, &flattened, 4);
    DpArr row = dp_read_view(rt, &whole, 2);
    d = mix(d, &(uint64_t){dp_read_scalar(rt, &row, 1, DP_I32)}, 8);
    dp_arr_release(rt, &row);
    dp_arr_release(rt, &whole);
    DpCol made = dp_array(rt, K_ARRAY, 0, r.up, r.words, 3, NULL);
    d = take_views(rt, d, r.up, &made, 4);
    dp_col_release(rt, &twice);
    dp_col_release(rt, &contiguous);
    dp_col_release(rt, &nested);
    dp_col_release(rt, &sizes);
    dp_col_release(rt, &rows);
    dp_ctx_release(rt, &mid);
    dp_ctx_release(rt, &top);
    dp_ctx_release(rt, &c);
    rows_end(rt, &r);
    return d;
}

/* Arrays that are changed, in place and not, retired and stored anew. */
static uint64_t run_updates(DpRt *rt)
{
    static const int64_t indices[ROWS] = {1, 0, 2, -1, 0};
    static const int32_t values[ROWS] = {100, 101, 102, 103, 104}, value = 77;
    static const uint8_t condition[ROWS] = {1, 0, 1, 0, 1};
    Rows r = rows_begin(rt);
    DpCol rows = shorter_rows(rt, &r), index = column(rt, indices, ROWS, 8), x = column(rt, values, ROWS, 4);
    DpCol copy = dp_update(rt, r.up, &rows, false, false, &index, &x);
    DpCol masked = dp_update(rt, r.up, &rows, true, true, &index, &x);
    DpCol again = dp_update(rt, r.up, &copy, false, true, &index, &x);
    dp_col_release(rt, &copy);
    copy = dp_update(rt, r.up, &again, true, true, &index, &x);
    dp_col_release(rt, &again);
    uint64_t d = take_views(rt, 0, r.up, &masked, 4);
    DpCol cond = column(rt, condition, ROWS, 1), result = dp_new_col(rt, ROWS, 16);
    DpCtx *yes, *no;
    dp_split(rt, r.up, &cond, &yes, &no);
    dp_retire(rt, &copy, r.up, no, yes, &result, r.up, true, 1, 4);
    dp_compact(rt, &copy, 1, 4);
    DpCol apart = dp_select_apart(rt, &rows, r.up, yes, 1, 4);
    d = take_views(rt, take_views(rt, d, yes, &apart, 4), yes, &copy, 4);
    DpArr a = dp_array_root(rt, row_elements, 4, ELEMENTS, NULL), kept = dp_arr_retain(a);
    DpArr changed = dp_update_root(rt, &a, true, 3, &value, 4, NULL);
    dp_arr_release(rt, &a);
    a = dp_update_root(rt, &changed, true, 4, &value, 4, NULL);
    dp_arr_release(rt, &changed);
    dp_compact_root(rt, &a, 1, 4);
    d = take_arr(rt, take_arr(rt, d, &a, 4), &kept, 4);
    dp_ctx_release(rt, &yes);
    dp_ctx_release(rt, &no);
    dp_col_release(rt, &result);
    dp_col_release(rt, &cond);
    dp_col_release(rt, &x);
    dp_col_release(rt, &index);
    dp_col_release(rt, &rows);
    rows_end(rt, &r);
    return d;
}

static uint64_t run_scatters(DpRt *rt)
{
    static const int64_t places[ELEMENTS] = {0, 1, -1, 2, 0, 0, 1, 3, 1, 0}, bins[ROWS] = {4, 0, 2, 16, 1};
    static const bool keep = false, consume = true;
    Rows r = rows_begin(rt);
    DpCol index = column(rt, places, ELEMENTS, 8), sizes = column(rt, bins, ROWS, 8), outs[2];
    const uint64_t words[2] = {r.x.addr, index.addr};
    DpCol rows = shorter_rows(rt, &r), once, twice;
    dp_scatter(rt, K_SCATTER, 0, r.c, words, &rows, &keep, &once);
    dp_scatter(rt, K_SCATTER, 0, r.c, words, &once, &consume, &twice);
    dp_col_release(rt, &once);
    uint64_t d = take_views(rt, 0, r.up, &twice, 4);
    DpCtx *all = dp_nested_root(rt, ELEMENTS);
    DpArr dest = dp_array_root(rt, row_elements, 4, 4, NULL), arrs[2];
    dp_scatter_root(rt, K_SCATTER, 0, all, words, &dest, &keep, arrs);
    d = take_arr(rt, d, &arrs[0], 4);
    dp_hist(rt, K_COUNT, 0, r.c, r.words, &sizes, outs);
    d = take_views(rt, d, r.up, &outs[0], 4);
    dp_hist(rt, K_HIST_SEG, 0, r.c, r.words, &sizes, outs);
    d = take_views(rt, take_views(rt, d, r.up, &outs[0], 4), r.up, &outs[1], 4);
    dp_hist_regular(rt, K_COUNT, 0, r.c, r.words, 3, outs);
    d = take_views(rt, d, r.up, &outs[0], 4);
    dp_hist_root(rt, K_HIST_PAIR, 0, all, r.words, 15, arrs);
    d = take_arr(rt, take_arr(rt, d, &arrs[0], 4), &arrs[1], 4);
    dp_hist_root(rt, K_HIST_MIN, 0, all, r.words, 3, arrs);
    d = take_arr(rt, d, &arrs[0], 8);
    dp_arr_release(rt, &dest);
    dp_ctx_release(rt, &all);
    dp_col_release(rt, &rows);
    dp_col_release(rt, &sizes);
    dp_col_release(rt, &index);
    rows_end(rt, &r);
    return d;
}

static uint64_t run_sorts(DpRt *rt)
{
    static const uint8_t scalars[2] = {DP_I32, DP_I32};
    Rows r = rows_begin(rt);
    DpCol views = dp_views(rt, r.c, &r.x), keys[2] = {views, views};
    const DpSortTypes types = {2, scalars, 1, scalars, 0, 0};
    DpCol sorted[2];
    dp_argsort(rt, 1, r.up, &types, keys, &views, sorted);
    uint64_t d = take_views(rt, take_views(rt, 0, r.up, &sorted[0], 8), r.up, &sorted[1], 4);
    DpArr key = dp_array_root(rt, row_elements, 4, ELEMENTS, NULL), outs[2];
    dp_argsort_root(rt, 1, &(const DpSortTypes){1, scalars, 1, scalars, 0, 0}, &key, &key, outs);
    d = take_arr(rt, take_arr(rt, d, &outs[0], 8), &outs[1], 4);
    dp_arr_release(rt, &key);
    dp_col_release(rt, &views);
    rows_end(rt, &r);
    return d;
}

/* So many elements that the device works on several parts of them. */
static uint64_t run_many(DpRt *rt)
{
    static int32_t xs[MANY];
    DpCtx *c = dp_nested_root(rt, MANY);
    DpCol x = column(rt, xs, MANY, 4), outs[2];
    uint64_t bits[2], d = 0;
    dp_reduce_root(rt, K_COMPOSE, 0, c, &x.addr, bits);
    d = mix(d, bits, sizeof bits);
    dp_scan(rt, K_SCAN, 0, c, &x.addr, outs);
    d = take(rt, take(rt, d, &outs[0]), &outs[1]);
    DpCtx *kept = dp_pack(rt, K_PACK, 0, c, &x.addr);
    d = mix(d, &(uint64_t){dp_ctx_n(kept)}, 8);
    dp_ctx_release(rt, &kept);
    dp_col_release(rt, &x);
    dp_ctx_release(rt, &c);
    return d;
}

/* [[[i32]]] in and out again, and a level of a recursion around it. */
static uint64_t run_values(DpRt *rt)
{
    uint64_t outer = 2, middle[2] = {2, 3}, inner[ROWS], d = 0;
    int32_t xs[ELEMENTS];
    enum { LEVELS = 4 };
    DpLevel levels[LEVELS];
    for (int i = 0; i < ROWS; i++)
        inner[i] = (uint64_t)row_lengths[i];
    memcpy(xs, row_elements, sizeof xs);
    const DpLeaf in = {.scalar = DP_I32,
                       .rank = 3,
                       .lens = {&outer, middle, inner},
                       .nlens = {1, 2, ROWS},
                       .data = xs,
                       .ndata = ELEMENTS};
    DpLeaf out = {.scalar = DP_I32, .rank = 3};
    DpArr a = dp_upload(rt, &in);
    DpCtx *c = dp_ctx_fn(rt, ROWS);
    DpCol numbers = column(rt, row_lengths, ROWS, 8);
    for (int i = 0; i < LEVELS; i++) /* at the fourth the arguments are looked at */
        dp_enter_lifted(rt, &levels[i], "f", ROWS, 1, &numbers, &(uint8_t){0});
    dp_need(rt, c, 8);
    for (int i = 0; i < LEVELS; i++)
        dp_leave(rt);
    dp_download(rt, &a, &out);
    for (int i = 0; i < 3; i++)
        d = mix(d, out.lens[i], 8 * out.nlens[i]);
    d = mix(d, out.data, 4 * out.ndata);
    dp_leaves_free(&out, 1);
    dp_col_release(rt, &numbers);
    dp_ctx_release(rt, &c);
    dp_arr_release(rt, &a);
    return d;
}

static const struct {
    const char *name;
    Sequence *run;
} sequences[] = {
    {"folds", run_folds},       {"selections", run_selections}, {"views", run_views},        {"updates", run_updates},
    {"scatters", run_scatters}, {"sorts", run_sorts},           {"many elements", run_many}, {"values", run_values},
};
enum { SEQUENCES = sizeof sequences / sizeof *sequences };

#endif
