/* The runtime on the device at hand, in both shapes of the kernels: every operation against plain loops, over segment lengths of all
 * kinds. The kernels' holes stand in runtime_holes.h. */
#include "runtime_holes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the runtime under test ---- */
static DpRt *rt;
static jmp_buf failed;
static DpFailure last_failure;
static char last_message[1024];

static void on_failure(void *data, const DpFailure *f)
{
    (void)data;
    last_failure = *f;
    snprintf(last_message, sizeof last_message, "%s", f->message);
    longjmp(failed, 1);
}

static void open_shape(const char *shape)
{
    char error[256];
    OpenOptions options = {NULL, NULL, false};
    setenv("DP_SHAPE", shape, 1);
    rt = rt_open(&test_program, &options, error, sizeof error);
    if (!rt)
        fail_msg("%s", error);
    dp_set_failure(rt, on_failure, NULL);
}

static void expect_no_failure(void)
{
    if (setjmp(failed))
        fail_msg("unexpected failure: %s", last_message);
}

static int teardown(void **state)
{
    (void)state;
    if (rt)
        rt_close(rt);
    rt = NULL;
    return 0;
}

static int open_cpu(void **state)
{
    (void)state;
    open_shape("cpu");
    return 0;
}

static int open_gpu(void **state)
{
    (void)state;
    open_shape("gpu");
    return 0;
}

/* Nothing but what the caller still holds is live. */
static void expect_all_free(void)
{
    assert_true(heap_check(&rt->heap));
    assert_int_equal(rt->heap.used, 0);
}

/* ---- data ---- */
static uint32_t seed = 12345;
static uint32_t rnd(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

typedef struct Shape { uint64_t nseg, n; uint64_t *lens, *offsets; int32_t *x; } Shape;

static void *alloc(uint64_t n, size_t bytes)
{
    void *p = calloc(n + 1, bytes);
    assert_non_null(p);
    return p;
}

static Shape shape_begin(uint64_t nseg)
{
    Shape s = {nseg, 0, alloc(nseg, 8), alloc(nseg + 1, 8), NULL};
    return s;
}

static void shape_end(Shape *s)
{
    for (uint64_t i = 0; i < s->nseg; i++)
        s->offsets[i + 1] = s->offsets[i] + s->lens[i];
    s->n = s->offsets[s->nseg];
    s->x = alloc(s->n, 4);
    for (uint64_t i = 0; i < s->n; i++)
        s->x[i] = (int32_t)(rnd() & 0xffff) - 0x8000;
}

static void shape_free(Shape *s)
{
    free(s->lens);
    free(s->offsets);
    free(s->x);
}

/* Kinds of segment lengths. */
enum { SHAPES = 27 };
static Shape make_shape(int kind)
{
    static const uint64_t giants[] = {1, 2, 255, 256, 257, 2047, 2048, 2049, 4096, 65536, 100003};
    Shape s;
    if (kind < 11) { /* one segment */
        s = shape_begin(1);
        s.lens[0] = giants[kind];
    } else {
        static const uint64_t counts[] = {0, 1, 5, 5, 5, 1000, 50000, 50000, 10000, 777, 20000, 3, 513, 4096, 300, 129};
        kind -= 11;
        s = shape_begin(counts[kind]);
        for (uint64_t i = 0; i < s.nseg; i++) {
            switch (kind) {
            case 0: case 1: break;                                    /* none; one empty */
            case 2: s.lens[i] = i == 0 ? 0 : 3000; break;             /* empty first */
            case 3: s.lens[i] = i == 2 ? 0 : 2777; break;             /* middle */
            case 4: s.lens[i] = i == 4 ? 0 : 4001; break;             /* last */
            case 5: s.lens[i] = rnd() % 200; break;
            case 6: s.lens[i] = rnd() % 4; break;                     /* many tiny */
            case 7: s.lens[i] = i == 33333 ? 70000 : rnd() % 2; break; /* a giant among tiny ones */
            case 8: break;                                            /* all empty */
            case 9: s.lens[i] = 256; break;                           /* at the edges */
            case 10: s.lens[i] = i % 1000 == 999 ? 5000 : 0; break;   /* few in a desert */
            case 11: s.lens[i] = i == 1 ? 0 : 65537; break;
            case 12: s.lens[i] = 255 + i % 3; break;                  /* across the edges */
            case 13: s.lens[i] = 1; break;
            case 14: s.lens[i] = i < 150 ? 0 : 700; break;
            default: s.lens[i] = i * i % 1031; break;
            }
        }
    }
    shape_end(&s);
    return s;
}

/* ---- columns ---- */
static DpCol upload_col(const void *data, uint64_t n, uint32_t bytes)
{
    DpArr a = dp_array_root(rt, data, bytes, n, NULL);
    DpCtx *c = dp_nested_root(rt, n);
    DpCol col = dp_elems_root(rt, &a, c, bytes);
    dp_arr_release(rt, &a);
    dp_ctx_release(rt, &c);
    return col;
}

/* malloc'd; releases the column */
static void *take_col(DpCol *c)
{
    void *p = alloc(c->n, c->bytes);
    rt_read(rt, c->addr, p, c->n * c->bytes);
    dp_col_release(rt, c);
    return p;
}

/* The context of a shape, over a function's context of its segments. */
typedef struct World { Shape s; DpCtx *up, *c; DpCol x; uint64_t w[4]; } World;

static World world_of(int kind)
{
    World w = {.s = make_shape(kind)};
    w.up = dp_ctx_fn(rt, w.s.nseg);
    DpCol lens = upload_col(w.s.lens, w.s.nseg, 8);
    w.c = dp_nested_lens(rt, w.up, &lens);
    dp_col_release(rt, &lens);
    assert_int_equal(dp_ctx_n(w.c), w.s.n);
    w.x = upload_col(w.s.x, w.s.n, 4);
    w.w[0] = w.x.addr;
    return w;
}

static void world_free(World *w)
{
    shape_free(&w->s);
    dp_col_release(rt, &w->x);
    dp_ctx_release(rt, &w->c);
    dp_ctx_release(rt, &w->up);
    expect_all_free();
}

static uint64_t segment_of(const Shape *s, uint64_t i)
{
    uint64_t lo = 0, hi = s->nseg;
    while (hi - lo > 1) {
        uint64_t mid = (lo + hi) / 2;
        if (s->offsets[mid] <= i)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static void expect_equal(const void *got, const void *want, uint64_t bytes, const char *what, int kind)
{
    if (memcmp(got, want, bytes) != 0) {
        const int32_t *g = got, *w = want;
        uint64_t i = 0;
        while (g[i] == w[i])
            i++;
        fail_msg("%s, shape %d: word %llu is %d, wanted %d", what, kind, (unsigned long long)i, g[i], w[i]);
    }
}

/* Compares a column with the wanted elements; frees both. */
static void check_col(DpCol *got, void *want, const char *what, int kind)
{
    uint64_t bytes = got->n * got->bytes;
    void *g = take_col(got);
    expect_equal(g, want, bytes, what, kind);
    free(g);
    free(want);
}

/* ---- tests ---- */
static void test_map(void **state)
{
    (void)state;
    expect_no_failure();
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

static void compose(uint32_t a[2], uint32_t x, uint32_t extra)
{
    uint32_t b0 = x | 1, b1 = (x >> 3) + extra;
    a[1] = a[1] * b0 + b1;
    a[0] *= b0;
}

static void test_reduce(void **state)
{
    (void)state;
    expect_no_failure();
    for (int kind = 0; kind < SHAPES; kind++) {
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

/* Values of 80 and 320 bytes; op is addition in disguise. */
static void test_reduce_wide(void **state)
{
    (void)state;
    expect_no_failure();
    const int kinds[] = {0, 4, 9, 12, 16, 17, 18, 24};
    for (size_t t = 0; t < sizeof kinds / sizeof kinds[0]; t++) {
        World w = world_of(kinds[t]);
        for (int huge = 0; huge < 2; huge++) {
            uint64_t *first = alloc(w.s.nseg, 8), *last = alloc(w.s.nseg, 8);
            for (uint64_t i = 0; i < w.s.n; i++) {
                uint64_t k = segment_of(&w.s, i);
                first[k] += (uint32_t)w.s.x[i];
                last[k] += (uint32_t)w.s.x[i] + (huge ? 39u : 9u);
            }
            DpCol out[2];
            dp_reduce(rt, huge ? K_HUGE : K_WIDE, 0, w.c, w.w, out);
            check_col(&out[0], first, "wide", kinds[t]);
            check_col(&out[1], last, "wide, last", kinds[t]);
        }
        world_free(&w);
    }
}

static void test_reduce_root(void **state)
{
    (void)state;
    expect_no_failure();
    const uint64_t sizes[] = {0, 1, 2, 255, 256, 257, 1000, 2048, 4097, 65536, 1000003};
    for (size_t t = 0; t < sizeof sizes / sizeof sizes[0]; t++) {
        uint64_t n = sizes[t], got[2];
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
    expect_no_failure();
    for (int kind = 0; kind < SHAPES; kind++) {
        World w = world_of(kind);
        for (int exclusive = 0; exclusive < 2; exclusive++) {
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
    expect_no_failure();
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
static void test_pack(void **state)
{
    (void)state;
    expect_no_failure();
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
    expect_no_failure();
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
    expect_no_failure();
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
        DpCol dest_lens = upload_col(lens, w.s.nseg, 8), data = upload_col(dest, total, 4), indices = upload_col(index, w.s.n, 8);
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
    expect_no_failure();
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
    expect_no_failure();
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
    expect_no_failure();
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
static void test_rows(void **state)
{
    (void)state;
    expect_no_failure();
    for (int kind = 0; kind < SHAPES; kind++) {
        World w = world_of(kind);
        const Shape *s = &w.s;
        uint64_t nseg = s->nseg;
        DpCol all = dp_views(rt, w.c, &w.x), rows;
        dp_map(rt, K_ROWS, 0, w.up, &all.addr, &rows);
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
        DpCol changed = dp_update(rt, w.up, &rows, &indices, &values);
        elements = dp_elems(rt, &changed, c, 4);
        check_col(&elements, updated, "update", kind);
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
            check_col(&elements, memcpy(alloc(s->n, 4), contiguous ? s->x : want, dp_ctx_n(whole) * 4), "flatten", kind);
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
                check_col(&elements, memcpy(alloc(m, 4), (contiguous ? s->x : want) + (all_n - m), m * 4), "flatten half", kind);
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

static void test_array(void **state)
{
    (void)state;
    expect_no_failure();
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

/* ---- sorting ---- */
typedef struct SortItem { double key; int32_t second; int64_t index; } SortItem;

static int nan_last(double a, double b)
{
    bool less = b != b ? a == a : a < b, more = a != a ? b == b : b < a;
    return less ? -1 : more ? 1 : 0;
}

static int by_key(const void *p, const void *q)
{
    const SortItem *a = p, *b = q;
    int c = nan_last(a->key, b->key);
    if (c == 0)
        c = a->second < b->second ? -1 : a->second > b->second;
    return c ? c : a->index < b->index ? -1 : 1;
}

/* A key of each type, with ties, extremes and NaN; written at data[i], returned as a double that orders the same. */
static double make_key(DpScalar type, void *data, uint64_t i)
{
    uint32_t r = rnd();
    switch (type) {
    case DP_BOOL: return ((uint8_t *)data)[i] = r & 1;
    case DP_U8: return ((uint8_t *)data)[i] = (uint8_t)r;
    case DP_I8: return ((int8_t *)data)[i] = (int8_t)(r & 255);
    case DP_I16: return ((int16_t *)data)[i] = (int16_t)(r & 0xffff);
    case DP_U16: return ((uint16_t *)data)[i] = (uint16_t)r;
    case DP_I32: return ((int32_t *)data)[i] = (int32_t)(r << 8 ^ rnd());
    case DP_U32: return ((uint32_t *)data)[i] = r << 8 ^ rnd();
    case DP_I64: return (double)(((int64_t *)data)[i] = ((int64_t)r << 20) - ((int64_t)1 << 43));
    case DP_U64: return (double)(((uint64_t *)data)[i] = (uint64_t)r << 40);
    case DP_F32: case DP_F64: {
        const double special[] = {0.0, -0.0, NAN, -NAN, INFINITY, -INFINITY, 1e-40, -1e-40};
        double x = r % 5 == 0 ? special[rnd() % 8] : ((double)rnd() - 8e6) / 3;
        if (type == DP_F32)
            return ((float *)data)[i] = (float)x;
        return ((double *)data)[i] = x;
    }
    case DP_SCALAR_COUNT: break;
    }
    return 0;
}

static void check_argsort(int kind, DpScalar type)
{
    World w = world_of(kind);
    const Shape *s = &w.s;
    uint32_t bytes = dp_scalar_bytes(type);
    void *keys = alloc(s->n, bytes);
    SortItem *items = alloc(s->n, sizeof *items);
    int32_t *second = alloc(s->n, 4);
    for (uint64_t i = 0; i < s->n; i++) {
        items[i].key = make_key(type, keys, i);
        items[i].second = second[i] = (int32_t)(rnd() % 3) - 1;
        items[i].index = (int64_t)(i - s->offsets[segment_of(s, i)]);
    }
    for (uint64_t k = 0; k < s->nseg; k++)
        qsort(items + s->offsets[k], s->lens[k], sizeof *items, by_key);
    DpCol columns[2] = {upload_col(keys, s->n, bytes), upload_col(second, s->n, 4)}, views[2];
    for (int i = 0; i < 2; i++)
        views[i] = dp_views(rt, w.c, &columns[i]);
    const uint8_t scalars[2] = {(uint8_t)type, DP_I32};
    DpCol order = dp_argsort(rt, w.up, 2, views, scalars), elements = dp_elems(rt, &order, w.c, 8);
    int64_t *want = alloc(s->n, 8);
    for (uint64_t i = 0; i < s->n; i++)
        want[i] = items[i].index;
    check_col(&elements, want, "argsort", kind * 100 + (int)type);
    dp_col_release(rt, &order);
    for (int i = 0; i < 2; i++) {
        dp_col_release(rt, &columns[i]);
        dp_col_release(rt, &views[i]);
    }
    free(keys);
    free(items);
    free(second);
    world_free(&w);
}

static void test_argsort(void **state)
{
    (void)state;
    expect_no_failure();
    for (int type = 0; type < DP_SCALAR_COUNT; type++)
        check_argsort(type % 2 ? 9 : 16, (DpScalar)type);
    for (int kind = 0; kind < SHAPES; kind++)
        check_argsort(kind, DP_F32);
}

static void test_argsort_root(void **state)
{
    (void)state;
    expect_no_failure();
    const uint64_t sizes[] = {0, 1, 2, 1000, 200000};
    for (size_t t = 0; t < 5; t++) {
        uint64_t n = sizes[t];
        uint32_t *x = alloc(n, 4);
        for (uint64_t i = 0; i < n; i++)
            x[i] = rnd() % 1000000;
        DpArr a = dp_array_root(rt, x, 4, n, NULL);
        const uint8_t scalar = DP_U32;
        DpArr order = dp_argsort_root(rt, 1, &a, &scalar);
        assert_int_equal(order.len, n);
        DpCtx *c = dp_nested_root(rt, n);
        DpCol col = dp_elems_root(rt, &order, c, 8);
        int64_t *p = take_col(&col);
        for (uint64_t i = 1; i < n; i++)
            assert_true(x[p[i - 1]] < x[p[i]] || (x[p[i - 1]] == x[p[i]] && p[i - 1] < p[i]));
        free(p);
        free(x);
        dp_ctx_release(rt, &c);
        dp_arr_release(rt, &a);
        dp_arr_release(rt, &order);
        expect_all_free();
    }
}

/* ---- values ---- */
static void test_values(void **state)
{
    (void)state;
    expect_no_failure();
    DpType *t = dp_type_parse("[[[i16]]]");
    const char text[] = "[[[5, 6, -7], []], [], [[8]], [[], [9, 10]]]";
    char error[200];
    DpReader r = {"text", text, strlen(text), 0, 1};
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
    expect_no_failure();
    int64_t x[4] = {1, 2, 3, 4}, v = 77;
    DpArr a = dp_array_root(rt, x, 8, 4, NULL), held = dp_arr_retain(a);
    uint64_t old = a.addr;
    DpArr b = dp_update_root(rt, &a, true, 2, &v, 8, NULL); /* held: copied */
    assert_true(b.addr != old && a.refs == NULL);
    assert_int_equal(dp_read_scalar(rt, &held, 2, DP_I64), 3);
    assert_int_equal(dp_read_scalar(rt, &b, 2, DP_I64), 77);
    old = b.addr;
    DpArr c = dp_update_root(rt, &b, true, 0, &v, 8, NULL); /* in place */
    assert_true(c.addr == old);
    DpArr d = dp_update_root(rt, &c, false, 9, &v, 8, NULL); /* out of range: unchanged */
    assert_int_equal(dp_read_scalar(rt, &d, 0, DP_I64), 77);
    assert_int_equal(dp_read_scalar(rt, &d, 1, DP_I64), 2);
    dp_arr_release(rt, &held);
    dp_arr_release(rt, &c);
    dp_arr_release(rt, &d);
    expect_all_free();
}

/* ---- failures ---- */
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
    if (setjmp(failed))
        fail_msg("failed: %s", last_message);
    dp_map(rt, K_FAIL, 0, c, words, &out);
    dp_check(rt);
    dp_col_release(rt, &out);
    words[1] = 789;
    if (!setjmp(failed)) {
        dp_map(rt, K_FAIL, 0, c, words, &out);
        dp_check(rt);
        fail_msg("no failure");
    }
    assert_int_equal(last_failure.status, 1);
    assert_string_equal(last_message, "f.dp:3:9: error: index 12 out of bounds for length 10\n  entry main = xs[12]\n          ^^^^^^");
    /* the record is clear again */
    if (setjmp(failed))
        fail_msg("failed: %s", last_message);
    dp_check(rt);
    if (!setjmp(failed)) {
        dp_fail(rt, 2, 3, 4, 0);
    }
    assert_string_equal(last_message, "f.dp:2:1: error: size mismatch: n is 3, but this length is 4\n  \tg xs\n  ^");
    if (!setjmp(failed)) {
        dp_new_col(rt, 2000000000, 8);
        dp_new_col(rt, 4000000000, 16);
        fail_msg("no failure");
    }
    assert_int_equal(last_failure.status, 3);
    assert_non_null(strstr(last_message, "f.dp: error: out of memory: "));
    assert_non_null(strstr(last_message, ".0 GB requested"));
    if (!setjmp(failed)) {
        for (;;)
            dp_enter(rt);
    }
    assert_int_equal(last_failure.status, 1);
    assert_string_equal(last_message, "f.dp: error: recursion too deep");
    assert_true(rt->level >= 1000);
    dp_ctx_release(rt, &c);
}

/* ---- the heap's ledger ---- */
static void test_heap(void **state)
{
    (void)state;
    expect_no_failure();
    enum { N = 300 };
    DpBlock *blocks[N] = {NULL};
    for (int round = 0; round < 20000; round++) {
        uint32_t i = rnd() % N;
        if (blocks[i]) {
            if (rnd() % 4 == 0)
                block_shrink(rt, blocks[i], blocks[i]->bytes / 2);
            block_release(rt, blocks[i]);
            blocks[i] = NULL;
        } else {
            uint64_t bytes = rnd() % 8 == 0 ? rnd() % 3000000 : rnd() % 3000;
            blocks[i] = block_new(rt, bytes);
            assert_true(bytes == 0 || (blocks[i]->bytes >= bytes && blocks[i]->bytes < bytes + DP_BLOCK_ALIGN));
        }
        if (round % 500 == 0)
            assert_true(heap_check(&rt->heap));
    }
    for (int i = 0; i < N; i++)
        block_release(rt, blocks[i]);
    expect_all_free();
    assert_null(rt->heap.blocks->behind); /* one free block again */
}

static void test_refs(void **state)
{
    (void)state;
    expect_no_failure();
    DpBlock *b[6];
    for (int i = 0; i < 6; i++)
        b[i] = block_new(rt, 1000);
    DpRefs *x = NULL, *y = NULL;
    for (int i = 5; i >= 0; i -= 2)
        x = dp_refs_union(rt, x, refs_one(rt, b[i]));
    for (int i = 0; i < 6; i += 2)
        y = dp_refs_union(rt, y, refs_one(rt, b[i]));
    assert_int_equal(x->n, 3);
    DpRefs *all = dp_refs_union(rt, x, y), *same = dp_refs_union(rt, all, refs_retain(all));
    assert_ptr_equal(all, same);
    assert_int_equal(all->n, 6);
    for (int i = 0; i < 6; i++) {
        assert_ptr_equal(refs_find(all, b[i]->addr), b[i]);
        assert_ptr_equal(refs_find(all, b[i]->addr + 999), b[i]);
    }
    assert_ptr_equal(dp_refs_union(rt, all, refs_one(rt, block_retain(b[3]))), all);
    dp_refs_release(rt, all);
    expect_all_free();
}

#define BOTH(test) \
    {#test " (cpu shape)", test, open_cpu, teardown, NULL}, {#test " (gpu shape)", test, open_gpu, teardown, NULL}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_heap), BOTH(test_refs), BOTH(test_map), BOTH(test_reduce), BOTH(test_reduce_wide), BOTH(test_reduce_root),
        BOTH(test_scan), BOTH(test_scan_root), BOTH(test_pack), BOTH(test_split_merge), BOTH(test_scatter), BOTH(test_scatter_root),
        BOTH(test_hist), BOTH(test_hist_root), BOTH(test_rows), BOTH(test_array), BOTH(test_argsort), BOTH(test_argsort_root),
        BOTH(test_values), BOTH(test_update_root), BOTH(test_failures),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]); /* a pattern with * */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
