/* The runtime on the device at hand, in both shapes of the kernels: rows and arrays, sorting, values, failures and the
 * heap. Reductions are in test_runtime_folds.c, what moves elements in test_runtime_moves.c. */
#include "runtime_world.h"

static void test_rows(void **state)
{
    (void)state;
    for (int kind = 0; kind < SHAPES; kind++) {
        World w = world_of(kind);
        const Shape *s = &w.s;
        uint64_t nseg = s->nseg;
        DpCol all = dp_views(rt, w.c, &w.x), rows;
        dp_map(rt, K_ROWS, 0, w.up, &(uint64_t){dp_col_addr(rt, &all)}, &rows);
        dp_col_set_refs(rt, &rows, dp_refs_of_col(rt, &all, 0));
        DpCtx *c = dp_nested_views(rt, w.up, &rows);
        DpCol elements = dp_elems(rt, &rows, c, 4);
        int32_t *want = alloc(s->n, 4);
        uint64_t n = 0;
        for (uint64_t k = 0; k < nseg; k++)
            for (uint64_t j = 1; j < s->lens[k]; j++)
                want[n++] = s->x[s->offsets[k] + j];
        assert_int_equal(dp_ctx_n(c), n);
        check_col(&elements, memcpy(alloc(n, 4), want, n * 4), "rows", kind);

        /* update: element 2 of each row = its number; only where there is one */
        int64_t *index = alloc(nseg, 8);
        int32_t *value = alloc(nseg, 4), *updated = memcpy(alloc(n, 4), want, n * 4);
        for (uint64_t k = 0, at = 0; k < nseg; k++) {
            uint64_t len = s->lens[k] ? s->lens[k] - 1 : 0;
            index[k] = k % 7 == 6 ? -1 : 2;
            value[k] = (int32_t)k;
            if (index[k] == 2 && len > 2)
                updated[at + 2] = value[k];
            at += len;
        }
        DpCol indices = upload_col(index, nseg, 8), values = upload_col(value, nseg, 4);
        DpCol changed = dp_update(rt, w.up, &rows, false, false, &indices, &values);
        elements = dp_elems(rt, &changed, c, 4);
        check_col(&elements, memcpy(alloc(n, 4), updated, n * 4), "update", kind);
        /* its only holder gives it away: changed where it is; while another holds it: a copy */
        DpCol kept = dp_col_retain(changed), copy = dp_update(rt, w.up, &changed, true, false, &indices, &values);
        assert_true(nseg == 0 || copy.addr != kept.addr);
        dp_col_release(rt, &kept);
        dp_col_release(rt, &changed);
        changed = dp_update(rt, w.up, &copy, true, false, &indices, &values);
        assert_true(n == 0 || changed.addr == copy.addr);
        dp_col_release(rt, &copy);
        elements = dp_elems(rt, &changed, c, 4);
        check_col(&elements, updated, "update in place", kind);
        dp_col_release(rt, &changed);

        /* a second level: 3 rows a group, as [[x]]; flattened both ways */
        uint64_t ngroups = (nseg + 2) / 3;
        uint64_t *group = alloc(ngroups, 8);
        for (uint64_t g = 0; g < ngroups; g++)
            group[g] = g + 1 < ngroups ? 3 : nseg - 3 * g;
        DpCol sizes = upload_col(group, ngroups, 8);
        DpCtx *top = dp_ctx_fn(rt, ngroups), *mid = dp_nested_lens(rt, top, &sizes);
        for (int contiguous = 0; contiguous < 2; contiguous++) {
            DpCol nested = dp_views(rt, mid, contiguous ? &all : &rows), flat = dp_flatten(rt, top, &nested, 4);
            DpCtx *whole = dp_nested_views(rt, top, &flat);
            assert_int_equal(dp_ctx_n(whole), contiguous ? s->n : n);
            elements = dp_elems(rt, &flat, whole, 4);
            assert_true(!contiguous || s->n == 0 || elements.addr == w.x.addr); /* only views were made */
            check_col(&elements, memcpy(alloc(s->n, 4), contiguous ? s->x : want, dp_ctx_n(whole) * 4), "flatten",
                      kind);
            uint64_t *cells = take_col(&flat);
            for (uint64_t g = 0, k = 0; g < ngroups; g++) {
                uint64_t len = 0;
                for (uint64_t j = 0; j < group[g]; j++, k++)
                    len += contiguous || !s->lens[k] ? s->lens[k] : s->lens[k] - 1;
                assert_int_equal(cells[2 * g], len);
            }
            free(cells);
            dp_ctx_release(rt, &whole);
            /* some groups only: their views are not contiguous, the rows may be */
            if (ngroups) {
                DpCol some = dp_slice_col(rt, &nested, ngroups / 2, ngroups - ngroups / 2);
                DpCtx *half = dp_ctx_fn(rt, some.n);
                flat = dp_flatten(rt, half, &some, 4);
                whole = dp_nested_views(rt, half, &flat);
                elements = dp_elems(rt, &flat, whole, 4);
                uint64_t m = elements.n, all_n = contiguous ? s->n : n;
                check_col(&elements, memcpy(alloc(m, 4), (contiguous ? s->x : want) + (all_n - m), m * 4),
                          "flatten half", kind);
                dp_col_release(rt, &flat);
                dp_col_release(rt, &some);
                dp_ctx_release(rt, &whole);
                dp_ctx_release(rt, &half);
            }
            dp_col_release(rt, &nested);
        }
        dp_ctx_release(rt, &mid);
        dp_ctx_release(rt, &top);
        dp_col_release(rt, &sizes);
        dp_col_release(rt, &indices);
        dp_col_release(rt, &values);
        dp_col_release(rt, &rows);
        dp_col_release(rt, &all);
        dp_ctx_release(rt, &c);
        free(group);
        free(index);
        free(value);
        free(want);
        world_free(&w);
    }
}

/* The rows, one behind the other, as they are read through a column of views. */
static int32_t *rows_through(DpCtx *ctx, const DpCol *views, uint64_t *n)
{
    DpCtx *c = dp_nested_views(rt, ctx, views);
    DpCol elements = dp_elems(rt, views, c, 4);
    *n = dp_ctx_n(c);
    dp_ctx_release(rt, &c);
    return take_col(&elements);
}

static void expect_rows(DpCtx *ctx, const DpCol *views, const int32_t *want, uint64_t n)
{
    uint64_t found;
    int32_t *rows = rows_through(ctx, views, &found);
    assert_int_equal(found, n);
    assert_memory_equal(rows, want, n * 4);
    free(rows);
}

/* Every third row changes its first element, in rows that others hold, too: those alone are copied, and only once. Then
 * half of the rows stop, and the others still change where they are. */
static void test_masked_updates(void **state)
{
    (void)state;
    for (int kind = 0; kind < SHAPES; kind++) {
        World w = world_of(kind);
        const Shape *s = &w.s;
        uint64_t nseg = s->nseg;
        int64_t *index = alloc(nseg, 8);
        int32_t *value = alloc(nseg, 4), *want = memcpy(alloc(s->n, 4), s->x, s->n * 4);
        uint8_t *goes_on = alloc(nseg, 1);
        for (uint64_t k = 0; k < nseg; k++) {
            index[k] = k % 3 == 0 ? 0 : -1;
            value[k] = (int32_t)k;
            goes_on[k] = k % 2 == 0;
            if (k % 3 == 0 && s->lens[k])
                want[s->offsets[k]] = value[k];
        }
        DpCol all = dp_views(rt, w.c, &w.x);
        DpCol indices = upload_col(index, nseg, 8), values = upload_col(value, nseg, 4),
              cond = upload_col(goes_on, nseg, 1);
        DpCol once = dp_update(rt, w.up, &all, false, true, &indices, &values);
        expect_rows(w.up, &once, want, s->n);
        expect_rows(w.up, &all, s->x, s->n);
        uint64_t *before = alloc(nseg, 16), *after = alloc(nseg, 16), *originals = alloc(nseg, 16);
        dp_rt_read(rt, dp_col_addr(rt, &once), before, 16 * nseg);
        dp_rt_read(rt, dp_col_addr(rt, &all), originals, 16 * nseg);
        for (uint64_t k = 0; k < nseg; k++)
            assert_true(s->lens[k] == 0 || (before[2 * k + 1] == originals[2 * k + 1]) == (k % 3 != 0));
        DpCol twice = dp_update(rt, w.up, &once, true, true, &indices, &values);
        dp_col_release(rt, &once);
        dp_rt_read(rt, dp_col_addr(rt, &twice), after, 16 * nseg);
        assert_memory_equal(before, after, 16 * nseg);
        dp_col_release(rt, &all);

        DpCtx *yes = NULL, *no = NULL;
        dp_split(rt, w.up, &cond, &yes, &no);
        DpCol result = dp_new_col(rt, nseg, 16), kept = dp_select(rt, &indices, w.up, yes),
              new_values = dp_select(rt, &values, w.up, yes);
        dp_retire(rt, &twice, w.up, no, yes, &result, w.up, false, 1, 4);
        if (dp_ctx_n(yes)) {
            dp_rt_read(rt, dp_col_addr(rt, &twice), before, 16 * dp_ctx_n(yes));
            DpCol thrice = dp_update(rt, yes, &twice, true, true, &kept, &new_values);
            dp_col_release(rt, &twice);
            twice = thrice;
            dp_rt_read(rt, dp_col_addr(rt, &twice), after, 16 * dp_ctx_n(yes));
            assert_memory_equal(before, after, 16 * dp_ctx_n(yes));
        }
        dp_put(rt, &result, w.up, yes, &twice);
        expect_rows(w.up, &result, want, s->n);
        dp_col_release(rt, &twice);
        dp_col_release(rt, &result);
        dp_col_release(rt, &kept);
        dp_col_release(rt, &new_values);
        dp_col_release(rt, &indices);
        dp_col_release(rt, &values);
        dp_col_release(rt, &cond);
        dp_ctx_release(rt, &yes);
        dp_ctx_release(rt, &no);
        free(index), free(value), free(want), free(goes_on), free(before), free(after), free(originals);
        world_free(&w);
    }
}

static void test_array(void **state)
{
    (void)state;
    const uint64_t sizes[] = {0, 1, 257, 10000};
    for (size_t t = 0; t < 4; t++) {
        uint64_t n = sizes[t];
        int32_t *x = alloc(n, 4), *want = alloc(3 * n, 4);
        for (uint64_t i = 0; i < n; i++) {
            x[i] = (int32_t)(rnd() & 1023);
            want[3 * i] = x[i];
            want[3 * i + 1] = x[i] + 1;
            want[3 * i + 2] = x[i] * x[i];
        }
        DpCol xs = upload_col(x, n, 4);
        DpCtx *c = dp_ctx_fn(rt, n);
        DpCol views = dp_array(rt, K_ARRAY, 0, c, &xs.addr, 3, NULL);
        DpCtx *below = dp_nested_views(rt, c, &views);
        assert_int_equal(dp_ctx_n(below), 3 * n);
        DpCol elements = dp_elems(rt, &views, below, 4);
        check_col(&elements, want, "array", (int)t);
        dp_col_release(rt, &views);
        views = dp_array(rt, K_ARRAY, 0, c, &xs.addr, 0, NULL);
        dp_col_release(rt, &views);
        dp_ctx_release(rt, &below);
        dp_ctx_release(rt, &c);
        dp_col_release(rt, &xs);
        free(x);
        expect_all_free();
    }
}

/* ---- values ---- */
static void test_values(void **state)
{
    (void)state;
    DpType *t = dp_type_parse("[[[i16]]]");
    const char text[] = "[[[5, 6, -7], []], [], [[8]], [[], [9, 10]]]";
    char error[200];
    DpReader r = {"text", text, strlen(text), 0};
    DpLeaf leaf, back;
    dp_leaves_init(&leaf, t);
    dp_leaves_init(&back, t);
    assert_true(dp_read_text(&r, t, &leaf, error, sizeof error));
    DpArr a = dp_upload(rt, &leaf);
    dp_download(rt, &a, &back);
    assert_true(dp_leaves_equal(t, &leaf, &back, 0));
    dp_leaves_free(&back, 1);
    /* a row, then an element of it; flatten of the whole */
    DpArr row = dp_read_view(rt, &a, 3), inner = dp_read_view(rt, &row, 1);
    assert_int_equal(inner.len, 2);
    assert_int_equal(dp_read_scalar(rt, &inner, 1, DP_I16), 10);
    DpArr first = dp_read_view(rt, &a, 0), numbers = dp_read_view(rt, &first, 0);
    assert_int_equal((int64_t)dp_read_scalar(rt, &numbers, 2, DP_I16), -7);
    DpArr flat = dp_flatten_root(rt, &a, 16), flatter = dp_flatten_root(rt, &flat, 2);
    assert_int_equal(flat.len, 5);
    assert_int_equal(flatter.len, 6);
    assert_int_equal(dp_read_scalar(rt, &flatter, 5, DP_I16), 10);
    DpArr tail = dp_flatten_root(rt, &row, 2);
    assert_int_equal(tail.len, 2);
    assert_int_equal(dp_read_scalar(rt, &tail, 0, DP_I16), 9);
    /* everything else may go: the row keeps its numbers */
    dp_arr_release(rt, &a);
    dp_arr_release(rt, &flat);
    dp_arr_release(rt, &flatter);
    dp_arr_release(rt, &tail);
    dp_arr_release(rt, &first);
    dp_arr_release(rt, &numbers);
    assert_int_equal(dp_read_scalar(rt, &inner, 0, DP_I16), 9);
    dp_arr_release(rt, &row);
    dp_arr_release(rt, &inner);
    dp_leaves_free(&leaf, 1);
    dp_type_free(t);
    expect_all_free();
}

static void test_update_root(void **state)
{
    (void)state;
    int64_t x[4] = {1, 2, 3, 4}, v = 77;
    DpArr a = dp_array_root(rt, x, 8, 4, NULL), held = dp_arr_retain(a);
    uint64_t old = a.addr;
    DpArr b = dp_update_root(rt, &a, true, 2, &v, 8, NULL); /* held: copied */
    assert_true(b.addr != old && dp_read_scalar(rt, &a, 2, DP_I64) == 3);
    dp_arr_release(rt, &a);
    assert_int_equal(dp_read_scalar(rt, &held, 2, DP_I64), 3);
    assert_int_equal(dp_read_scalar(rt, &b, 2, DP_I64), 77);
    old = b.addr;
    DpArr c = dp_update_root(rt, &b, true, 0, &v, 8, NULL); /* in place */
    assert_true(c.addr == old);
    dp_arr_release(rt, &b);
    DpArr d = dp_update_root(rt, &c, false, 9, &v, 8, NULL); /* out of range: unchanged */
    assert_int_equal(dp_read_scalar(rt, &d, 0, DP_I64), 77);
    assert_int_equal(dp_read_scalar(rt, &d, 1, DP_I64), 2);
    dp_arr_release(rt, &held);
    dp_arr_release(rt, &c);
    dp_arr_release(rt, &d);
    expect_all_free();
}

/* ---- compaction ---- */
enum { ROW = 1000, ROWS = 3, ROUNDS = 50 };

static DpArr row_of(int64_t x)
{
    int64_t *xs = alloc(ROW, 8);
    for (int i = 0; i < ROW; i++)
        xs[i] = x;
    DpArr row = dp_array_root(rt, xs, 8, ROW, NULL);
    free(xs);
    return row;
}

/* Each row is replaced over and over; row r is ROUNDS - ROWS + r in the end. */
static DpArr replaced_rows(void)
{
    DpArr row = row_of(0);
    uint64_t views[ROWS][2];
    for (int r = 0; r < ROWS; r++)
        memcpy(views[r], (uint64_t[2]){row.len, row.addr}, 16);
    DpArr t = dp_array_root(rt, views, 16, ROWS, dp_refs_of_arr(rt, &row, 0));
    dp_arr_release(rt, &row);
    for (int k = 0; k < ROUNDS; k++) {
        row = row_of(k);
        const uint64_t view[2] = {row.len, row.addr};
        DpArr old = t;
        t = dp_update_root(rt, &old, true, (k + ROWS - ROUNDS % ROWS) % ROWS, view, 16, dp_refs_of_arr(rt, &row, 0));
        dp_arr_release(rt, &old);
        dp_arr_release(rt, &row);
    }
    return t;
}

static void check_rows(const DpArr *t)
{
    for (uint64_t r = 0; r < ROWS; r++) {
        DpArr row = dp_read_view(rt, t, r);
        assert_int_equal(row.len, ROW);
        assert_int_equal(dp_read_scalar(rt, &row, r * 99, DP_I64), ROUNDS - ROWS + (int64_t)r);
        dp_arr_release(rt, &row);
    }
}

static void test_compact_rows(void **state)
{
    (void)state;
    DpArr t = replaced_rows(), held = dp_arr_retain(t);
    uint64_t before = rt->heap.used, addr = t.addr;
    assert_true(before > ROUNDS * ROW * 8);
    dp_compact_root(rt, &t, 2, 8); /* held elsewhere: nothing would be freed */
    assert_true(t.addr == addr && rt->heap.used == before);
    dp_arr_release(rt, &held);
    dp_compact_root(rt, &t, 2, 8);
    assert_true(rt->heap.used < 2 * ROWS * ROW * 8);
    check_rows(&t);
    addr = t.addr;
    dp_compact_root(rt, &t, 2, 8); /* nothing to gain */
    assert_true(t.addr == addr);
    dp_arr_release(rt, &t);
    expect_all_free();
}

static void test_compact_columns(void **state)
{
    (void)state;
    DpArr t = replaced_rows();
    /* all rows, one of them, none: as a column; all below is stored anew */
    uint64_t views[3][2] = {{ROWS, t.addr}, {1, t.addr + 16}, {0, 0}};
    DpArr nest = dp_array_root(rt, views, 16, 3, dp_refs_of_arr(rt, &t, 0));
    DpCol col = dp_elems_root(rt, &nest, NULL, 16);
    dp_arr_release(rt, &t);
    dp_arr_release(rt, &nest);
    dp_compact(rt, &col, 2, 8);
    assert_true(rt->heap.used < 2 * (ROWS + 1) * ROW * 8);
    nest = dp_views_root(rt, NULL, &col);
    t = dp_read_view(rt, &nest, 0);
    check_rows(&t);
    dp_arr_release(rt, &t);
    t = dp_read_view(rt, &nest, 1);
    assert_int_equal(t.len, 1);
    DpArr row = dp_read_view(rt, &t, 0);
    assert_int_equal(dp_read_scalar(rt, &row, ROW - 1, DP_I64), ROUNDS - ROWS + 1);
    dp_arr_release(rt, &row);
    dp_arr_release(rt, &t);
    dp_arr_release(rt, &nest);
    dp_col_release(rt, &col);
    expect_all_free();
}

static void test_compact_slice(void **state)
{
    (void)state;
    DpArr a = row_of(7);
    a.len = 3;
    a.addr += 8 * 500;
    dp_compact_root(rt, &a, 1, 8);
    dp_moves_flush(rt);
    assert_int_equal(rt->heap.used, DP_BLOCK_ALIGN);
    assert_int_equal(dp_read_scalar(rt, &a, 2, DP_I64), 7);
    dp_arr_release(rt, &a);
    expect_all_free();
}

/* Nothing to store anew: no views, views of what is held elsewhere, elements that are all alive. */
static void test_compact_kept(void **state)
{
    (void)state;
    DpCol none = {0};
    dp_compact(rt, &none, 1, 8);
    assert_int_equal(none.n, 0);
    DpArr row = row_of(7);
    const uint64_t view[2] = {row.len, row.addr};
    DpArr nest = dp_array_root(rt, view, 16, 1, dp_refs_of_arr(rt, &row, 0));
    DpCol col = dp_elems_root(rt, &nest, NULL, 16);
    dp_arr_release(rt, &row);
    dp_arr_release(rt, &nest);
    uint64_t before = rt->heap.used;
    DpBlock *block = col.block;
    dp_compact(rt, &col, 1, 8);
    DpCol held = dp_col_retain(col);
    dp_compact(rt, &col, 1, 8);
    assert_ptr_equal(col.block, block);
    assert_int_equal(rt->heap.used, before);
    dp_col_release(rt, &held);
    dp_col_release(rt, &col);
    /* many views of the same elements: stored anew they would take more */
    row = row_of(7);
    uint64_t views[ROWS][2];
    for (int r = 0; r < ROWS; r++)
        memcpy(views[r], (uint64_t[2]){row.len, row.addr}, 16);
    DpArr t = dp_array_root(rt, views, 16, ROWS, dp_refs_of_arr(rt, &row, 0));
    dp_arr_release(rt, &row);
    before = rt->heap.used;
    dp_compact_root(rt, &t, 2, 8);
    assert_int_equal(rt->heap.used, before);
    dp_arr_release(rt, &t);
    expect_all_free();
}

/* Rows of blocks of their own; row i is of i. */
static DpArr scattered_rows(int rows, int length)
{
    uint64_t *views = alloc((uint64_t)rows, 16);
    int64_t *xs = alloc((uint64_t)length, 8);
    DpRefs *refs = NULL;
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < length; k++)
            xs[k] = i;
        DpArr row = dp_array_root(rt, xs, 8, (uint64_t)length, NULL);
        memcpy(views + 2 * i, (uint64_t[2]){row.len, row.addr}, 16);
        refs = dp_refs_union(rt, refs, dp_refs_of_arr(rt, &row, 0));
        dp_arr_release(rt, &row);
    }
    DpArr t = dp_array_root(rt, views, 16, (uint64_t)rows, refs);
    free(views);
    free(xs);
    return t;
}

/* No byte is dead, but the blocks are many and small; or not so small. */
static void test_compact_scattered(void **state)
{
    (void)state;
    expect_no_failure();
    enum { MANY = 1500, SMALL = DP_BLOCK_ALIGN / 8, SOME = 1030, LARGE = 2200 };
    DpArr t = scattered_rows(MANY, SMALL);
    assert_true(rt->heap.live > MANY);
    dp_compact_root(rt, &t, 2, 8);
    assert_true(rt->heap.live < 10);
    DpArr row = dp_read_view(rt, &t, 700);
    assert_int_equal(dp_read_scalar(rt, &row, SMALL - 1, DP_I64), 700);
    dp_arr_release(rt, &row);
    dp_arr_release(rt, &t);
    t = scattered_rows(SOME, LARGE);
    dp_compact_root(rt, &t, 2, 8);
    assert_true(rt->heap.live > SOME);
    dp_arr_release(rt, &t);
    expect_all_free();
}

/* Of four instances those of `mask` stop, whose arrays are 1 / 100 of what is held. apart: they are stored anew. */
static void select_apart(unsigned mask, bool apart)
{
    expect_no_failure();
    enum { INSTANCES = 4 };
    uint8_t stops[INSTANCES];
    uint64_t views[INSTANCES][2];
    DpArr row = row_of(7);
    for (int i = 0; i < INSTANCES; i++) {
        stops[i] = mask >> i & 1;
        memcpy(views[i], (uint64_t[2]){ROW / 100, row.addr + (uint64_t)i * 8}, 16);
    }
    DpArr t = dp_array_root(rt, views, 16, INSTANCES, dp_refs_of_arr(rt, &row, 0));
    dp_arr_release(rt, &row);
    DpCol col = dp_elems_root(rt, &t, NULL, 16), cond = upload_col(stops, INSTANCES, 1);
    DpCtx *c = dp_ctx_fn(rt, INSTANCES), *yes = NULL, *no = NULL;
    dp_arr_release(rt, &t);
    dp_split(rt, c, &cond, &yes, &no);
    DpCol part = dp_select_apart(rt, &col, c, yes, 1, 8);
    if (part.n)
        assert_true(apart == (part.block->refs->blocks[0] != col.block->refs->blocks[0]));
    dp_col_release(rt, &part);
    dp_ctx_release(rt, &yes);
    dp_ctx_release(rt, &no);
    dp_ctx_release(rt, &c);
    dp_col_release(rt, &cond);
    dp_col_release(rt, &col);
    expect_all_free();
}

static void test_select_apart(void **state)
{
    (void)state;
    select_apart(0, false);
    select_apart(2, true);
    select_apart(15, false);
    DpCol none = {0};
    DpCtx *c = dp_ctx_fn(rt, 0);
    DpCol part = dp_select_apart(rt, &none, c, c, 1, 8);
    assert_int_equal(part.n, 0);
    dp_col_release(rt, &part);
    dp_ctx_release(rt, &c);
}

/* ---- failures ---- */
/* That there is one, of this status and with this in its message; the runtime then goes on. */
static void expect_failure(int status, const char *message)
{
    assert_int_equal(dp_failure(rt).status, status);
    if (!strstr(dp_failure(rt).message, message))
        fail_msg("%s\nnot: %s", dp_failure(rt).message, message);
    assert_true(dp_clear_failure(rt));
}

static void test_failures(void **state)
{
    (void)state;
    int32_t x[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = i;
    uint64_t words[2];
    DpCol xs = upload_col(x, 1000, 4), out;
    DpCtx *c = dp_ctx_fn(rt, 1000);
    words[0] = xs.addr;
    words[1] = 5000;
    dp_map(rt, K_FAIL, 0, c, words, &out);
    dp_check(rt);
    expect_no_failure();
    dp_col_release(rt, &out);
    words[1] = 789;
    dp_map(rt, K_FAIL, 0, c, words, &out);
    dp_check(rt);
    dp_col_release(rt, &out);
    expect_failure(1, "f.dp:3:9: error: index 12 out of bounds for length 10\n  entry main = xs[12]\n          ^^^^^^");
    dp_check(rt); /* the record is clear again */
    expect_no_failure();
    dp_fail(rt, 2, 3, 4, 0);
    expect_failure(1, "f.dp:2:1: error: size mismatch: n is 3, but this length is 4\n  \tg xs\n  ^");
    DpCol big = dp_new_col(rt, 2000000000, 8), more = dp_new_col(rt, 4000000000, 16);
    dp_col_release(rt, &big);
    dp_col_release(rt, &more);
    assert_non_null(strstr(dp_failure(rt).message, ".0 GB requested"));
    expect_failure(3, "f.dp: error: out of memory: ");
    static DpLevel levels[20000];
    size_t level = 0;
    while (!dp_failed(rt))
        dp_enter(rt, &levels[level++], "f");
    for (size_t i = 0; i < level; i++)
        dp_leave(rt);
    assert_true(level >= 1000 && rt->level == 0);
    expect_failure(1, "f.dp: error: recursion too deep");
    dp_col_release(rt, &xs);
    dp_ctx_release(rt, &c);
    expect_all_free();
}

/* ---- the heap's ledger ---- */
static void test_heap(void **state)
{
    (void)state;
    enum { N = 300 };
    DpBlock *blocks[N] = {NULL};
    for (int round = 0; round < 20000; round++) {
        uint32_t i = rnd() % N;
        if (blocks[i]) {
            if (rnd() % 4 == 0)
                dp_block_shrink(rt, blocks[i], blocks[i]->bytes / 2);
            dp_block_release(rt, blocks[i]);
            blocks[i] = NULL;
        } else {
            uint64_t bytes = rnd() % 8 == 0 ? rnd() % 3000000 : rnd() % 3000;
            blocks[i] = dp_block_new(rt, bytes, 1);
            assert_true(bytes == 0 || (blocks[i]->bytes >= bytes && blocks[i]->bytes < bytes + DP_BLOCK_ALIGN));
        }
        if (round % 500 == 0)
            assert_true(dp_heap_check(&rt->heap));
    }
    for (int i = 0; i < N; i++)
        dp_block_release(rt, blocks[i]);
    expect_all_free();
    assert_null(rt->heap.blocks->behind); /* one free block again */
}

static void fill(DpBlock *b, uint32_t number, uint64_t *words)
{
    for (uint64_t i = 0; i < b->bytes / 8; i++)
        words[i] = number * UINT64_C(0x9e3779b97f4a7c15) + i;
}

/* What lies in the heap, before and behind holes, is there after it has grown; so is the record of errors. */
static void test_growth(void **state)
{
    (void)state;
    enum { N = 60, MOST = 1 << 20 };
    DpBlock *blocks[N];
    uint64_t *words = alloc(MOST, 8), *got = alloc(MOST, 8), first = rt->heap.buffer.bytes;
    uint32_t grown = 0;
    for (uint32_t i = 0; i < N; i++) {
        uint64_t before = rt->heap.buffer.bytes;
        blocks[i] = dp_block_new(rt, i % 7 == 6 ? 8 * (uint64_t)i * 2000 : 1000 + 997 * i, 1);
        fill(blocks[i], i, words);
        dp_rt_write(rt, blocks[i]->addr, words, blocks[i]->bytes);
        grown += rt->heap.buffer.bytes > before;
        assert_true(dp_heap_check(&rt->heap));
        if (i % 5 == 4) {
            dp_block_release(rt, blocks[i - 2]);
            blocks[i - 2] = NULL;
        }
    }
    assert_true(grown >= 5 && rt->heap.buffer.bytes >= 32 * first);
    for (uint32_t i = 0; i < N; i++) {
        if (!blocks[i])
            continue;
        fill(blocks[i], i, words);
        dp_rt_read(rt, blocks[i]->addr, got, blocks[i]->bytes);
        assert_memory_equal(got, words, blocks[i]->bytes);
        dp_block_release(rt, blocks[i]);
    }
    free(words);
    free(got);
    expect_all_free();
}

/* A heap that may grow no further: the message has the numbers, and what was there stays. */
static void test_limit(void **state)
{
    (void)state;
    rt->heap.limit = 10000000 / DP_BLOCK_ALIGN * DP_BLOCK_ALIGN;
    DpBlock *b = dp_block_new(rt, 4000000, 1), *more;
    uint64_t x = 42, y = 0;
    dp_rt_write(rt, b->addr, &x, sizeof x);
    assert_null(dp_block_new(rt, 7000000, 1));
    expect_failure(3, "f.dp: error: out of memory: 7.0 MB requested, 6.0 MB free of 10.0 MB");
    assert_null(dp_new_col(rt, UINT64_MAX / 2, 16).block);
    expect_failure(3, "f.dp: error: out of memory: more than 9.2 EB requested, 6.0 MB free of 10.0 MB");
    more = dp_block_new(rt, 5000000, 1);
    dp_rt_read(rt, b->addr, &y, sizeof y);
    assert_true(x == y && rt->heap.buffer.bytes <= rt->heap.limit);
    dp_block_release(rt, more);
    dp_block_release(rt, b);
    expect_all_free();
}

/* More elements than are numbered, on a device that has the memory. */
static void test_numbered(void **state)
{
    (void)state;
    rt->heap.limit = UINT64_C(1) << 39;
    assert_null(dp_new_col(rt, 5000000000, 1).block);
    expect_failure(3, "f.dp: error: too many elements: 5000000000 in one operation, at most 4294967295 are numbered");
}

/* What has not been written, or has been released, is filled with the pattern. */
static void test_poison(void **state)
{
    (void)state;
    const uint64_t written = 42, pattern = UINT64_C(0xa5a5a5a5a5a5a5a5);
    uint64_t x = 0;
    DpBlock *b = dp_block_new(rt, 1000, 1);
    uint64_t address = b->addr + 992;
    dp_rt_read(rt, address, &x, sizeof x);
    assert_true(x == pattern);
    dp_rt_write(rt, address, &written, sizeof written);
    dp_rt_read(rt, address, &x, sizeof x);
    assert_true(x == written);
    dp_block_release(rt, b);
    dp_rt_read(rt, address, &x, sizeof x);
    assert_true(x == pattern);
    expect_all_free();
}

/* ---- building ---- */
static DpDeviceKernel *built(const char *name, const char *kernel)
{
    Text t = {.at = NULL};
    dp_source_begin(rt, &t, false);
    dp_text_add(rt, &t, kernel, strlen(kernel));
    return dp_program_kernel(rt, dp_program_build(rt, &t, &(BuildTask){.name = name}), name);
}

/* A built-in function that builtins.cl does not declare is found in the device's header. */
static void test_builtins(void **state)
{
    (void)state;
    DpBlock *b = dp_block_new(rt, 1, 4);
    DpDeviceKernel *k = built("dp_try", "__kernel void dp_try(__global uchar *heap, ulong to)\n"
                                        "{ *DP_AT(uint, to) = mad24(3u, 4u, 5u) + clz(1u); }\n");
    const DpLaunch launch = {&rt->heap.buffer, 1, 1, 1, 1, &b->addr};
    dp_rt_check_device(rt, rt->device->backend->launch(rt->device, k, &launch, NULL));
    uint32_t found = 0;
    dp_rt_read(rt, b->addr, &found, sizeof found);
    assert_int_equal(found, 17 + 31);
    rt->device->backend->kernel_release(rt->device, k);
    dp_block_release(rt, b);
    rt->dump_dir = NULL; /* its texts are looked at by tests/kernels.sh */
    assert_null(built("dp_wrong", "__kernel void dp_wrong(__global uint *to) { *to = nothing(3); }\n"));
    assert_int_equal(dp_failure(rt).status, 4);
    assert_string_equal(dp_failure(rt).message,
                        "f.dp: error: kernel dp_wrong does not build: CL_BUILD_PROGRAM_FAILURE in clBuildProgram");
    assert_non_null(strstr(dp_failure(rt).log, "nothing"));
    assert_false(dp_clear_failure(rt));
}

static void test_refs(void **state)
{
    (void)state;
    DpBlock *b[6];
    for (int i = 0; i < 6; i++)
        b[i] = dp_block_new(rt, 1000, 1);
    DpRefs *x = NULL, *y = NULL;
    for (int i = 5; i >= 0; i -= 2)
        x = dp_refs_union(rt, x, dp_refs_one(rt, b[i]));
    for (int i = 0; i < 6; i += 2)
        y = dp_refs_union(rt, y, dp_refs_one(rt, b[i]));
    assert_int_equal(x->n, 3);
    DpRefs *all = dp_refs_union(rt, x, y), *same = dp_refs_union(rt, all, dp_refs_retain(all));
    assert_ptr_equal(all, same);
    assert_int_equal(all->n, 6);
    for (int i = 0; i < 6; i++) {
        assert_ptr_equal(dp_refs_find(all, b[i]->addr), b[i]);
        assert_ptr_equal(dp_refs_find(all, b[i]->addr + 999), b[i]);
    }
    assert_ptr_equal(dp_refs_union(rt, all, dp_refs_one(rt, dp_block_retain(b[3]))), all);
    dp_refs_release(rt, all);
    expect_all_free();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_heap),
        BOTH(test_growth),
        BOTH(test_limit),
        BOTH(test_numbered),
        BOTH(test_poison),
        BOTH(test_refs),
        BOTH(test_rows),
        BOTH(test_masked_updates),
        BOTH(test_array),
        BOTH(test_values),
        BOTH(test_update_root),
        BOTH(test_compact_rows),
        BOTH(test_compact_columns),
        BOTH(test_compact_slice),
        BOTH(test_compact_kept),
        BOTH(test_compact_scattered),
        BOTH(test_select_apart),
        BOTH(test_failures),
        BOTH(test_builtins),
    };
    return RUN_TESTS(tests, argc, argv);
}
