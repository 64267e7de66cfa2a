/* What the runtime's tests share: the device in both shapes of the kernels, segments of all kinds of lengths, columns,
 * and comparisons. The kernels' holes stand in runtime_holes.h. */
#ifndef RUNTIME_WORLD_H
#define RUNTIME_WORLD_H

#include "runtime_holes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the runtime under test ---- */
static DpRt *rt;

static void open_shape(const char *shape)
{
    DpOpenError error;
    DpOpenOptions options = {0};
    setenv("DP_SHAPE", shape, 1);
    setenv("DP_POISON", "1", 1);
    setenv("DP_HEAP_START", "20000", 1); /* so that the heap grows in every test */
    rt = dp_rt_open(&test_program, &options, &error);
    if (!rt)
        fail_msg("%s", error.text);
}

static void expect_no_failure(void)
{
    if (dp_failed(rt))
        fail_msg("unexpected failure: %s", dp_failure(rt).message);
}

static int teardown(void **state)
{
    (void)state;
    if (rt)
        dp_rt_close(rt);
    rt = NULL;
    return 0;
}

static inline int open_cpu(void **state)
{
    (void)state;
    open_shape("cpu");
    return 0;
}

static inline int open_gpu(void **state)
{
    (void)state;
    open_shape("gpu");
    return 0;
}

/* As on a GPU, where work-groups may wait for those before them. */
static inline int open_look_back(void **state)
{
    (void)state;
    setenv("DP_PARAMS", "look-back=always", 1);
    open_shape("gpu");
    unsetenv("DP_PARAMS");
    return 0;
}

/* Nothing but what the caller still holds is live. */
static void expect_all_free(void)
{
    expect_no_failure();
    dp_moves_flush(rt); /* they keep what they use */
    assert_true(dp_heap_check(&rt->heap));
    assert_int_equal(rt->heap.used, rt->lookback.block ? rt->lookback.block->bytes : 0);
}

/* ---- data ---- */
static uint32_t seed = 12345;
static uint32_t rnd(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

typedef struct Shape {
    uint64_t nseg, n;
    uint64_t *lens, *offsets;
    int32_t *x;
} Shape;

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
            case 0:
            case 1: break;                                /* none; one empty */
            case 2: s.lens[i] = i == 0 ? 0 : 3000; break; /* empty first */
            case 3: s.lens[i] = i == 2 ? 0 : 2777; break; /* middle */
            case 4: s.lens[i] = i == 4 ? 0 : 4001; break; /* last */
            case 5: s.lens[i] = rnd() % 200; break;
            case 6: s.lens[i] = rnd() % 4; break;                      /* many tiny */
            case 7: s.lens[i] = i == 33333 ? 70000 : rnd() % 2; break; /* a giant among tiny ones */
            case 8: break;                                             /* all empty */
            case 9: s.lens[i] = 256; break;                            /* at the edges */
            case 10: s.lens[i] = i % 1000 == 999 ? 5000 : 0; break;    /* few in a desert */
            case 11: s.lens[i] = i == 1 ? 0 : 65537; break;
            case 12: s.lens[i] = 255 + i % 3; break; /* across the edges */
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
    dp_rt_read(rt, dp_col_addr(rt, c), p, c->n * c->bytes);
    expect_no_failure();
    dp_col_release(rt, c);
    return p;
}

/* The context of a shape, over a function's context of its segments. */
typedef struct World {
    Shape s;
    DpCtx *up, *c;
    DpCol x;
    uint64_t w[4];
} World;

static inline World world_of(int kind)
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

static inline void world_free(World *w)
{
    shape_free(&w->s);
    dp_col_release(rt, &w->x);
    dp_ctx_release(rt, &w->c);
    dp_ctx_release(rt, &w->up);
    expect_all_free();
}

static inline uint64_t segment_of(const Shape *s, uint64_t i)
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
static inline void check_col(DpCol *got, void *want, const char *what, int kind)
{
    uint64_t bytes = got->n * got->bytes;
    void *g = take_col(got);
    expect_equal(g, want, bytes, what, kind);
    free(g);
    free(want);
}

/* ---- groups of tests ---- */
#define BOTH(test)                                                                                                     \
    {#test " (cpu shape)", test, open_cpu, teardown, NULL}, { #test " (gpu shape)", test, open_gpu, teardown, NULL }

#define ONE_PASS(test)                                                                                                 \
    {                                                                                                                  \
#test " (gpu shape, one pass)", test, open_look_back, teardown, NULL                                           \
    }

/* The arguments of main: perhaps a pattern with * for the tests' names. */
#define RUN_TESTS(tests, argc, argv)                                                                                   \
    ((argc) > 1 ? cmocka_set_test_filter((argv)[1]) : (void)0, cmocka_run_group_tests(tests, NULL, NULL))

#endif
