/* The runtime on the device at hand: filters, splits, scatters and histograms against plain loops, in both shapes of
 * the kernels. */
#include "runtime_world.h"

static void test_pack(void **state)
{
    (void)state;
    for (int kind = 0; kind < SHAPES; kind++) {
        World w = world_of(kind);
        for (int seg = 0; seg < 2; seg++) {
            int32_t *kept = alloc(w.s.n, 4);
            uint64_t *lens = alloc(w.s.nseg, 8), n = 0;
            for (uint64_t k = 0; k < w.s.nseg; k++)
                for (uint64_t i = w.s.offsets[k]; i < w.s.offsets[k + 1]; i++)
                    if (((uint64_t)(int64_t)w.s.x[i] + (seg ? k : 0)) & 1) {
                        kept[n++] = w.s.x[i];
                        lens[k]++;
                    }
            DpCtx *p = dp_pack(rt, seg ? K_PACK_SEG : K_PACK, 0, w.c, w.w);
            assert_int_equal(dp_ctx_n(p), n);
            DpCol data = dp_select(rt, &w.x, w.c, p), views = dp_views(rt, p, &data);
            assert_int_equal(views.n, w.s.nseg);
            DpCtx *again = dp_nested_views(rt, w.up, &views);
            assert_int_equal(dp_ctx_n(again), n);
            DpCol copy = dp_elems(rt, &views, again, 4);
            assert_true(n == 0 || copy.addr == data.addr); /* an alias */
            check_col(&copy, kept, "pack", kind);
            uint64_t *cells = take_col(&views);
            for (uint64_t k = 0; k < w.s.nseg; k++)
                assert_int_equal(cells[2 * k], lens[k]);
            free(cells);
            free(lens);
            dp_col_release(rt, &data);
            dp_ctx_release(rt, &again);
            dp_ctx_release(rt, &p);
        }
        world_free(&w);
    }
}

static void test_split_merge(void **state)
{
    (void)state;
    for (int kind = 0; kind < SHAPES; kind++) {
        World w = world_of(kind);
        for (int rule = 0; rule < 3; rule++) {
            uint8_t *cond = alloc(w.s.n, 1);
            uint64_t count = 0;
            for (uint64_t i = 0; i < w.s.n; i++)
                count += cond[i] = rule == 0 ? w.s.x[i] > 0 : rule == 1;
            DpCol column = upload_col(cond, w.s.n, 1);
            DpCtx *yes, *no;
            dp_split(rt, w.c, &column, &yes, &no);
            assert_int_equal(dp_ctx_n(yes), count);
            assert_int_equal(dp_ctx_n(no), w.s.n - count);
            DpCtx *const parts[2] = {yes, no};
            DpCol cols[2] = {dp_select(rt, &w.x, w.c, yes), dp_select(rt, &w.x, w.c, no)};
            DpCol all = dp_merge(rt, w.c, 2, parts, cols), joined = dp_concat(rt, 2, cols);
            int32_t *want = alloc(w.s.n, 4);
            memcpy(want, w.s.x, w.s.n * 4);
            check_col(&all, want, "merge", kind);
            want = alloc(w.s.n, 4);
            uint64_t at = 0;
            for (int round = 1; round >= 0; round--)
                for (uint64_t i = 0; i < w.s.n; i++)
                    if (cond[i] == round)
                        want[at++] = w.s.x[i];
            DpCol slice = dp_slice_col(rt, &joined, count, w.s.n - count);
            int32_t *rest = alloc(w.s.n - count, 4);
            memcpy(rest, want + count, (w.s.n - count) * 4);
            check_col(&slice, rest, "slice", kind);
            check_col(&joined, want, "concat", kind);
            /* two steps up: from the split context to the segments' */
            DpCol per_segment = upload_col(w.s.offsets, w.s.nseg, 8);
            if (dp_ctx_n(yes)) {
                DpCol spread = dp_select(rt, &per_segment, w.up, yes);
                uint64_t *got = take_col(&spread);
                for (uint64_t i = 0, k = 0; i < w.s.n; i++)
                    if (cond[i])
                        assert_int_equal(got[k++], w.s.offsets[segment_of(&w.s, i)]);
                free(got);
                DpCtx *below = dp_ctx_below(rt, yes, w.c);
                DpCol same = dp_select(rt, &w.x, w.c, below);
                want = alloc(count, 4);
                for (uint64_t i = 0, k = 0; i < w.s.n; i++)
                    if (cond[i])
                        want[k++] = w.s.x[i];
                check_col(&same, want, "below", kind);
                dp_ctx_release(rt, &below);
            }
            dp_col_release(rt, &per_segment);
            for (int i = 0; i < 2; i++)
                dp_col_release(rt, &cols[i]);
            dp_col_release(rt, &column);
            dp_ctx_release(rt, &yes);
            dp_ctx_release(rt, &no);
            free(cond);
        }
        world_free(&w);
    }
}

static void test_scatter(void **state)
{
    (void)state;
    for (int kind = 0; kind < SHAPES; kind++) {
        World w = world_of(kind);
        /* destinations twice as long as the segments; element j goes to 2 j + 1 - (segment odd), some out of range */
        uint64_t *lens = alloc(w.s.nseg, 8), total = 0;
        for (uint64_t k = 0; k < w.s.nseg; k++)
            total += lens[k] = w.s.lens[k] * 2 - (w.s.lens[k] > 3);
        int32_t *dest = alloc(total, 4), *want = alloc(total, 4);
        int64_t *index = alloc(w.s.n, 8);
        for (uint64_t i = 0; i < total; i++)
            want[i] = dest[i] = (int32_t)rnd();
        for (uint64_t k = 0, at = 0; k < w.s.nseg; at += lens[k++])
            for (uint64_t j = 0; j < w.s.lens[k]; j++) {
                int64_t to = (int64_t)(2 * j + 1) - (int64_t)(k & 1) - (j == 5 ? 1000000 : 0);
                index[w.s.offsets[k] + j] = to;
                if (to >= 0 && (uint64_t)to < lens[k])
                    want[at + (uint64_t)to] = w.s.x[w.s.offsets[k] + j];
            }
        DpCol dest_lens = upload_col(lens, w.s.nseg, 8), data = upload_col(dest, total, 4),
              indices = upload_col(index, w.s.n, 8);
        DpCtx *room = dp_nested_lens(rt, w.up, &dest_lens);
        for (int consume = 0; consume < 2; consume++) {
            DpCol views = dp_views(rt, room, &data), out;
            const bool may[1] = {consume};
            if (consume)
                dp_col_release(rt, &data);
            w.w[1] = indices.addr;
            dp_scatter(rt, K_SCATTER, 0, w.c, w.w, &views, may, &out);
            assert_true(!consume || out.block == views.block || w.s.n == 0);
            dp_col_release(rt, &views);
            DpCol elements = dp_elems(rt, &out, room, 4);
            check_col(&elements, memcpy(alloc(total, 4), want, total * 4), "scatter", kind);
            dp_col_release(rt, &out);
        }
        dp_col_release(rt, &indices);
        dp_col_release(rt, &dest_lens);
        dp_ctx_release(rt, &room);
        free(lens);
        free(dest);
        free(want);
        free(index);
        world_free(&w);
    }
}

static void test_scatter_root(void **state)
{
    (void)state;
    const uint64_t n = 5000, room = 3000;
    int32_t *x = alloc(n, 4), *dest = alloc(room, 4), *want = alloc(room, 4);
    int64_t *index = alloc(n, 8);
    for (uint64_t i = 0; i < room; i++)
        want[i] = dest[i] = -1;
    for (uint64_t i = 0; i < n; i++) {
        x[i] = (int32_t)i;
        index[i] = (int64_t)(i * 7919 % n) - 100;
        if (index[i] >= 0 && index[i] < (int64_t)room)
            want[index[i]] = x[i];
    }
    DpCol xs = upload_col(x, n, 4), indices = upload_col(index, n, 8);
    DpCtx *c = dp_nested_root(rt, n);
    uint64_t words[2] = {xs.addr, indices.addr};
    for (int consume = 0; consume < 2; consume++) {
        DpArr a = dp_array_root(rt, dest, 4, room, NULL), out;
        const bool may[1] = {consume};
        dp_scatter_root(rt, K_SCATTER, 0, c, words, &a, may, &out);
        assert_true((out.addr == a.addr) == consume);
        dp_arr_release(rt, &a);
        DpCtx *rc = dp_nested_root(rt, room);
        DpCol elements = dp_elems_root(rt, &out, rc, 4);
        check_col(&elements, memcpy(alloc(room, 4), want, room * 4), "scatter", consume);
        dp_arr_release(rt, &out);
        dp_ctx_release(rt, &rc);
    }
    dp_col_release(rt, &xs);
    dp_col_release(rt, &indices);
    dp_ctx_release(rt, &c);
    free(x);
    free(dest);
    free(want);
    free(index);
    expect_all_free();
}

static void test_hist(void **state)
{
    (void)state;
    for (int kind = 0; kind < SHAPES; kind++) {
        World w = world_of(kind);
        uint64_t nseg = w.s.nseg, total = 0;
        int64_t *sizes = alloc(nseg, 8);
        uint64_t *at = alloc(nseg, 8);
        uint32_t *limit = alloc(nseg, 4);
        for (uint64_t k = 0; k < nseg; k++) {
            sizes[k] = (int64_t)(k % 5 == 4 ? 0 : k % 3 == 2 ? 3 : 15);
            limit[k] = rnd() % 500;
            at[k] = total;
            total += (uint64_t)sizes[k];
        }
        int32_t *counts = alloc(total, 4);
        int64_t *least = alloc(total, 8);
        uint32_t *sum = alloc(total, 4), *most = alloc(total, 4), *capped = alloc(total, 4);
        for (uint64_t b = 0; b < total; b++)
            least[b] = 1000000000000;
        for (uint64_t i = 0; i < w.s.n; i++) {
            uint64_t k = segment_of(&w.s, i);
            int64_t bin = (w.s.x[i] & 15) - 1;
            if (bin < 0 || bin >= sizes[k])
                continue;
            uint64_t b = at[k] + (uint64_t)bin;
            uint32_t x = (uint32_t)w.s.x[i];
            counts[b]++;
            least[b] = w.s.x[i] < least[b] ? w.s.x[i] : least[b];
            sum[b] += x;
            most[b] = x > most[b] ? x : most[b];
            capped[b] = capped[b] + (x & 127) < limit[k] ? capped[b] + (x & 127) : limit[k];
        }
        DpCol size = upload_col(sizes, nseg, 8), limits = upload_col(limit, nseg, 4), out[2];
        DpCtx *bins = dp_nested_lens(rt, w.up, &size);
        w.w[1] = limits.addr;
        dp_hist(rt, K_COUNT, 0, w.c, w.w, &size, out);
        DpCol data = dp_elems(rt, &out[0], bins, 4);
        check_col(&data, counts, "count", kind);
        dp_col_release(rt, &out[0]);
        dp_hist(rt, K_HIST_MIN, 0, w.c, w.w, &size, out);
        data = dp_elems(rt, &out[0], bins, 8);
        check_col(&data, least, "least", kind);
        dp_col_release(rt, &out[0]);
        for (int seg = 0; seg < 2; seg++) {
            dp_hist(rt, seg ? K_HIST_SEG : K_HIST_PAIR, 0, w.c, w.w, &size, out);
            for (int i = 0; i < 2; i++) {
                const uint32_t *want = i == 0 ? sum : seg ? capped : most;
                data = dp_elems(rt, &out[i], bins, 4);
                check_col(&data, memcpy(alloc(total, 4), want, total * 4), "pairs", kind);
                dp_col_release(rt, &out[i]);
            }
        }
        dp_col_release(rt, &size);
        dp_col_release(rt, &limits);
        dp_ctx_release(rt, &bins);
        free(sizes);
        free(at);
        free(limit);
        free(sum);
        free(most);
        free(capped);
        world_free(&w);
    }
}

static void test_hist_root(void **state)
{
    (void)state;
    const uint64_t sizes[] = {0, 1, 300, 70000};
    for (size_t t = 0; t < 4; t++) {
        uint64_t n = sizes[t];
        uint32_t *x = alloc(n, 4), sum[15] = {0}, most[15] = {0};
        int32_t counts[15] = {0};
        for (uint64_t i = 0; i < n; i++) {
            x[i] = rnd();
            int64_t bin = (int64_t)(x[i] & 15) - 1;
            if (bin < 0)
                continue;
            counts[bin]++;
            sum[bin] += x[i];
            most[bin] = x[i] > most[bin] ? x[i] : most[bin];
        }
        DpCol xs = upload_col(x, n, 4);
        DpCtx *c = dp_nested_root(rt, n), *bins = dp_nested_root(rt, 15);
        DpArr out[2];
        dp_hist_root(rt, K_COUNT, 0, c, &xs.addr, 15, out);
        DpCol col = dp_elems_root(rt, &out[0], bins, 4);
        check_col(&col, memcpy(alloc(15, 4), counts, 60), "count", (int)t);
        dp_arr_release(rt, &out[0]);
        dp_hist_root(rt, K_HIST_PAIR, 0, c, &xs.addr, 15, out);
        for (int i = 0; i < 2; i++) {
            col = dp_elems_root(rt, &out[i], bins, 4);
            check_col(&col, memcpy(alloc(15, 4), i ? most : sum, 60), "pairs", (int)t);
            dp_arr_release(rt, &out[i]);
        }
        dp_hist_root(rt, K_COUNT, 0, c, &xs.addr, 0, out);
        assert_int_equal(out[0].len, 0);
        dp_arr_release(rt, &out[0]);
        dp_col_release(rt, &xs);
        dp_ctx_release(rt, &c);
        dp_ctx_release(rt, &bins);
        free(x);
        expect_all_free();
    }
}

/* Rows without their first elements: views that are not contiguous. Their elements, flattened, updated, sorted. */

/* Moves that do not depend on each other are one launch, others are not; what they read stays until then. */
static void test_queue(void **state)
{
    (void)state;
    enum { N = 1000, PARTS = 3 };
    int32_t numbers[N];
    for (int i = 0; i < N; i++)
        numbers[i] = i;
    DpCol parts[PARTS];
    for (int k = 0; k < PARTS; k++) {
        numbers[0] = k;
        parts[k] = upload_col(numbers, N, 4);
    }
    const uint64_t launches = rt->profile.launches;
    DpCol joined = dp_concat(rt, PARTS, parts);
    for (int k = 0; k < PARTS; k++)
        dp_col_release(rt, &parts[k]);
    assert_true(rt->profile.launches == launches && rt->moves.n == PARTS && rt->moves.freed);
    DpCol other = upload_col(numbers, N, 4); /* not where they read */
    assert_true(rt->profile.launches == launches + 1 && rt->moves.n == 0 && !rt->moves.freed);

    DpCtx *up = dp_ctx_fn(rt, PARTS), *rows = dp_nested_regular(rt, up, N);
    DpCol views = dp_views(rt, rows, &joined), both[2] = {views, views};
    DpCol twice = dp_concat(rt, 2, both); /* computed, not read: the views themselves are not written */
    assert_true(views.block->state == BLOCK_LAZY && rt->moves.n == 2);
    DpCol again[2] = {twice, views};
    DpCol thrice = dp_concat(rt, 2, again); /* reads what waits */
    assert_true(rt->profile.launches == launches + 2 && rt->moves.n == 2);
    DpCtx *all = dp_ctx_fn(rt, 3 * PARTS), *cells = dp_nested_views(rt, all, &thrice);
    DpCol elements = dp_elems(rt, &thrice, cells, 4);
    int32_t *want = alloc(3 * PARTS * N, 4);
    for (int k = 0; k < 3 * PARTS * N; k++)
        want[k] = k % N ? k % N : k / N % PARTS;
    check_col(&elements, want, "moves", 0);
    DpCol *const ended[] = {&other, &joined, &views, &twice, &thrice};
    for (size_t k = 0; k < sizeof ended / sizeof *ended; k++)
        dp_col_release(rt, ended[k]);
    dp_ctx_release(rt, &cells);
    dp_ctx_release(rt, &all);
    dp_ctx_release(rt, &rows);
    dp_ctx_release(rt, &up);
    expect_all_free();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_pack),      BOTH(test_split_merge), BOTH(test_scatter),  BOTH(test_scatter_root),    BOTH(test_hist),
        BOTH(test_hist_root), BOTH(test_queue),       ONE_PASS(test_pack), ONE_PASS(test_split_merge),
    };
    return RUN_TESTS(tests, argc, argv);
}
