/* The runtime on the device at hand: maps, reductions and scans against plain loops, in both shapes of the kernels. */
#include "runtime_world.h"

static void test_map(void **state)
{
    (void)state;
    for (int kind = 0; kind < SHAPES; kind++) {
        World w = world_of(kind);
        DpCol out;
        dp_map(rt, K_MAP, 0, w.c, w.w, &out);
        int32_t *want = alloc(w.s.n, 4);
        for (uint64_t i = 0; i < w.s.n; i++)
            want[i] = w.s.x[i] * 2 + (int32_t)segment_of(&w.s, i);
        check_col(&out, want, "map", kind);
        DpCol many[3];
        dp_map(rt, K_MAP_MANY, 0, w.c, w.w, many);
        uint8_t *a = take_col(&many[0]);
        uint16_t *b = take_col(&many[1]);
        uint64_t *c = take_col(&many[2]);
        for (uint64_t i = 0; i < w.s.n; i++) {
            int64_t x = w.s.x[i];
            assert_true(a[i] == (x > 0) && b[i] == (uint16_t)x && c[i] == (uint64_t)(x * x));
        }
        free(a);
        free(b);
        free(c);
        world_free(&w);
    }
}

/* What strategies are chosen by, against a plain count; of offsets that are made of lengths, and of a regular context.
 */
static void test_lengths(void **state)
{
    (void)state;
    for (int kind = 0; kind < SHAPES; kind++) {
        World w = world_of(kind);
        DpLengths want = {.known = true}, got = dp_ctx_lengths(w.c);
        for (uint64_t s = 0; s < w.s.nseg; s++) {
            uint64_t length = w.s.lens[s];
            want.longest = length > want.longest ? length : want.longest;
        }
        if (w.s.nseg) { /* else there are no offsets, and nothing that could be counted */
            assert_true(got.known);
            assert_int_equal(got.longest, want.longest);
        }
        world_free(&w);
    }
    DpCtx *up = dp_nested_root(rt, 1000), *c = dp_nested_regular(rt, up, 5);
    DpLengths rows = dp_ctx_lengths(c), one = dp_ctx_lengths(up);
    assert_true(rows.known && rows.longest == 5);
    assert_true(one.known && one.longest == 1000);
    dp_ctx_release(rt, &c);
    dp_ctx_release(rt, &up);
    expect_all_free();
}

/* Negative and too long ones, sums that stop at the largest size. */
static void test_lengths_of_all_sizes(void **state)
{
    enum { MOST = 9000 };
    const uint64_t most_known = (UINT64_C(1) << 47) - 1; /* as in kernels/lengths.cl */
    static int64_t lens[MOST];
    static uint64_t want[MOST + 1], got[MOST + 1];
    (void)state;
    for (int kind = 0; kind < 8; kind++) {
        const uint64_t n = kind % 2 ? MOST : 2048, longest_at = n - 7;
        uint64_t longest = 0;
        int64_t least = 0;
        for (uint64_t i = 0; i < n; i++) {
            lens[i] = (int64_t)(rnd() % (kind < 4 ? 70 : 2000)) - (kind & 2 ? 3 : 0);
            if (i == longest_at)
                lens[i] = kind < 4 ? INT64_C(1) << 47 << 2 * kind : INT64_MAX;
            const uint64_t length = lens[i] > 0 ? (uint64_t)lens[i] : 0;
            least = lens[i] < least ? lens[i] : least;
            want[i + 1] = dp_size_add(want[i], length);
            longest = length > longest ? length : longest;
        }
        DpCol col = upload_col(lens, n, 8);
        DpCtx *c = dp_nested_root(rt, n);
        DpArr a = dp_arr_of_block(rt, dp_block_retain(col.block), n);
        int64_t said_least, total;
        DpCol starts = dp_lengths(rt, c, &a, &said_least, &total);
        assert_true(said_least == least && (uint64_t)total == want[n]);
        assert_true(starts.block->lengths.longest == (longest < most_known ? longest : most_known));
        dp_rt_read(rt, starts.addr, got, 8 * (n + 1));
        assert_memory_equal(got, want, 8 * (n + 1));
        dp_col_release(rt, &starts);
        dp_arr_release(rt, &a);
        dp_ctx_release(rt, &c);
        dp_col_release(rt, &col);
        expect_all_free();
    }
}

static void compose(uint32_t a[2], uint32_t x, uint32_t extra)
{
    uint32_t b0 = x | 1, b1 = (x >> 3) + extra;
    a[1] = a[1] * b0 + b1;
    a[0] *= b0;
}

enum { WAYS = 5 }; /* words of the parameter segreduce */
static void force(DpTuning param, uint64_t value)
{
    rt->params.set[param] = true;
    rt->params.value[param] = value;
}

/* By choice, and in every way a part of the lengths. */
static void test_reduce(void **state)
{
    (void)state;
    for (int at = 0; at < WAYS * SHAPES; at++) {
        const int kind = at % SHAPES, way = at / SHAPES;
        if (way && kind % 3 != way % 3 && kind != 18) /* 18: a giant among tiny ones */
            continue;
        force(PARAM_SEGREDUCE, (uint64_t)way);
        World w = world_of(kind);
        const Shape *s = &w.s;
        int32_t *cap = alloc(s->nseg, 4), *sums = alloc(s->nseg, 4), *capped = alloc(s->nseg, 4);
        uint32_t *c0 = alloc(s->nseg, 4), *c1 = alloc(s->nseg, 4);
        uint64_t *first = alloc(s->nseg, 8), *last = alloc(s->nseg, 8), *last40 = alloc(s->nseg, 8);
        for (uint64_t k = 0; k < s->nseg; k++) {
            uint32_t f[2] = {1, 0};
            uint32_t sum = 0;
            cap[k] = (int32_t)(rnd() % 1000);
            for (uint64_t i = s->offsets[k]; i < s->offsets[k + 1]; i++) {
                uint32_t x = (uint32_t)s->x[i];
                compose(f, x, 0);
                sum += x;
                int32_t y = capped[k] + (int32_t)(x & 7) + (int32_t)(k & 1);
                capped[k] = y < cap[k] ? y : cap[k];
                first[k] = first[k] + x;
                last[k] = last[k] + (x + 9);
                last40[k] = last40[k] + (x + 39);
            }
            sums[k] = (int32_t)sum;
            c0[k] = f[0];
            c1[k] = f[1];
        }
        DpCol caps = upload_col(cap, s->nseg, 4), out, pair[2];
        w.w[1] = caps.addr;
        dp_reduce(rt, K_SUM, 0, w.c, w.w, &out);
        check_col(&out, sums, "sum", kind);
        dp_reduce(rt, K_CAPPED, 0, w.c, w.w, &out);
        check_col(&out, capped, "capped sum", kind);
        dp_reduce(rt, K_COMPOSE, 0, w.c, w.w, pair);
        check_col(&pair[0], c0, "compose 0", kind);
        check_col(&pair[1], c1, "compose 1", kind);
        (void)last40;
        dp_col_release(rt, &caps);
        free(cap);
        free(first);
        free(last);
        free(last40);
        world_free(&w);
    }
}

/* What is to be split by length is looked for once. */
static void test_kept_list(void **state)
{
    (void)state;
    force(PARAM_SEGREDUCE, 1 + WAY_SPLIT);
    World w = world_of(18);
    int32_t *sums = alloc(w.s.nseg, 4);
    for (uint64_t i = 0; i < w.s.n; i++)
        sums[segment_of(&w.s, i)] += w.s.x[i];
    for (uint64_t round = 0; round < 3; round++) {
        const uint64_t before = dp_counts(rt).launches;
        DpCol out;
        dp_reduce(rt, K_SUM, 0, w.c, w.w, &out);
        assert_int_equal(dp_counts(rt).launches - before, round ? 1 : 2);
        check_col(&out, memcpy(alloc(w.s.nseg, 4), sums, w.s.nseg * 4), "sum", 18);
    }
    free(sums);
    world_free(&w);
}

/* Values of 80 and 320 bytes; op is addition in disguise. */
static void test_reduce_wide(void **state)
{
    (void)state;
    const int kinds[] = {0, 4, 9, 12, 16, 17, 18, 24};
    for (size_t t = 0; t < sizeof kinds / sizeof kinds[0]; t++) {
        World w = world_of(kinds[t]);
        for (int huge = 0; huge < 2 * WAYS; huge++) {
            force(PARAM_SEGREDUCE, (uint64_t)huge / 2);
            uint64_t *first = alloc(w.s.nseg, 8), *last = alloc(w.s.nseg, 8);
            for (uint64_t i = 0; i < w.s.n; i++) {
                uint64_t k = segment_of(&w.s, i);
                first[k] += (uint32_t)w.s.x[i];
                last[k] += (uint32_t)w.s.x[i] + (huge & 1 ? 39u : 9u);
            }
            DpCol out[2];
            dp_reduce(rt, huge & 1 ? K_HUGE : K_WIDE, 0, w.c, w.w, out);
            check_col(&out[0], first, "wide", kinds[t]);
            check_col(&out[1], last, "wide, last", kinds[t]);
        }
        world_free(&w);
    }
}

static void test_reduce_root(void **state)
{
    (void)state;
    const uint64_t sizes[] = {0, 1, 2, 255, 256, 257, 1000, 2048, 4097, 65536, 1000003};
    for (size_t t = 0; t < 2 * sizeof sizes / sizeof sizes[0]; t++) {
        force(PARAM_REDUCE, 1 + (t & 1));
        uint64_t n = sizes[t / 2], got[2];
        int32_t *x = alloc(n, 4);
        uint32_t f[2] = {1, 0}, sum = 0;
        for (uint64_t i = 0; i < n; i++) {
            x[i] = (int32_t)rnd();
            sum += (uint32_t)x[i];
            compose(f, (uint32_t)x[i], 0);
        }
        DpCol col = upload_col(x, n, 4);
        DpCtx *c = dp_nested_root(rt, n);
        dp_reduce_root(rt, K_SUM, 0, c, &col.addr, got);
        assert_int_equal(got[0], sum);
        dp_reduce_root(rt, K_COMPOSE, 0, c, &col.addr, got);
        assert_int_equal(got[0], f[0]);
        assert_int_equal(got[1], f[1]);
        free(x);
        dp_col_release(rt, &col);
        dp_ctx_release(rt, &c);
        expect_all_free();
    }
}

static void test_scan(void **state)
{
    (void)state;
    for (int kind = 0; kind < SHAPES; kind++) {
        World w = world_of(kind);
        for (int at = 0; at < 6; at++) {
            const int exclusive = at % 2;
            force(PARAM_SEGSCAN, (uint64_t)at / 2);
            uint32_t *c0 = alloc(w.s.n, 4), *c1 = alloc(w.s.n, 4);
            for (uint64_t k = 0; k < w.s.nseg; k++) {
                uint32_t f[2] = {1, 0};
                for (uint64_t i = w.s.offsets[k]; i < w.s.offsets[k + 1]; i++) {
                    if (exclusive) {
                        c0[i] = f[0];
                        c1[i] = f[1];
                    }
                    compose(f, (uint32_t)w.s.x[i], exclusive ? (uint32_t)k : 0);
                    if (!exclusive) {
                        c0[i] = f[0];
                        c1[i] = f[1];
                    }
                }
            }
            DpCol out[2];
            dp_scan(rt, exclusive ? K_SCAN_EXCLUSIVE : K_SCAN, 0, w.c, w.w, out);
            check_col(&out[0], c0, exclusive ? "exclusive scan 0" : "scan 0", kind);
            check_col(&out[1], c1, exclusive ? "exclusive scan 1" : "scan 1", kind);
        }
        world_free(&w);
    }
}

/* Over depth 0 there are no offsets. */
static void test_scan_root(void **state)
{
    (void)state;
    const uint64_t sizes[] = {1, 255, 256, 257, 65536, 300001};
    for (size_t t = 0; t < sizeof sizes / sizeof sizes[0]; t++) {
        uint64_t n = sizes[t];
        uint32_t *x = alloc(n, 4), *c0 = alloc(n, 4), *c1 = alloc(n, 4), f[2] = {1, 0};
        for (uint64_t i = 0; i < n; i++) {
            x[i] = rnd();
            compose(f, x[i], 0);
            c0[i] = f[0];
            c1[i] = f[1];
        }
        DpCol col = upload_col(x, n, 4), out[2];
        DpCtx *c = dp_nested_root(rt, n);
        dp_scan(rt, K_SCAN, 0, c, &col.addr, out);
        check_col(&out[0], c0, "scan", (int)t);
        check_col(&out[1], c1, "scan", (int)t);
        free(x);
        dp_col_release(rt, &col);
        dp_ctx_release(rt, &c);
        expect_all_free();
    }
}

/* Pack, the columns of the packed context, and the views of its segments. */

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_lengths_of_all_sizes),
        ONE_PASS(test_lengths_of_all_sizes),
        ONE_PASS(test_lengths),
        BOTH(test_map),
        BOTH(test_lengths),
        BOTH(test_reduce),
        {"test_kept_list (gpu shape)", test_kept_list, open_gpu, teardown, NULL},
        BOTH(test_reduce_wide),
        BOTH(test_reduce_root),
        BOTH(test_scan),
        BOTH(test_scan_root),
        ONE_PASS(test_scan),
        ONE_PASS(test_scan_root),
    };
    return RUN_TESTS(tests, argc, argv);
}
