/* Sorting on the device at hand, in both shapes of the kernels and all their forms, against qsort: segments of all
 * kinds of lengths, keys of all types and distributions, one key and two, columns of all sizes. */
#include "runtime_world.h"

enum { MOST_COLUMNS = 7 };

/* How the keys are distributed. */
typedef enum Keys { ANY, SPECIAL, EQUAL, FEW, LOW_DIGIT, HIGH_DIGIT, ASCENDING, DESCENDING, KEYS_COUNT } Keys;

typedef struct Sorting {
    World w;
    DpScalar type;
    uint32_t nkeys;
    char *data[MOST_COLUMNS]; /* the keys, then others: what belongs to element i is made of i */
    uint8_t types[MOST_COLUMNS];
    uint64_t *order; /* which element goes where */
} Sorting;

static const uint8_t other_types[] = {DP_U8, DP_I16, DP_F32, DP_I64, DP_U32};

static uint64_t random64(void) { return (uint64_t)rnd() << 48 ^ (uint64_t)rnd() << 24 ^ rnd(); }

static uint64_t float_bits(DpScalar type, uint64_t bits, Keys keys)
{
    const double special[] = {0.0, -0.0, (double)NAN, -(double)NAN, INFINITY, -INFINITY, 1e-40, -1e-40};
    double x = keys == SPECIAL ? special[bits % 8] : keys == ANY ? (double)(int64_t)bits / 3 : (double)(int64_t)bits;
    float f = (float)x;
    uint32_t word;
    if (type == DP_F32) {
        memcpy(&word, &f, 4);
        return word;
    }
    memcpy(&bits, &x, 8);
    return bits;
}

static uint64_t make_key(DpScalar type, Keys keys, uint64_t i, uint64_t n)
{
    uint32_t width = 8 * dp_scalar_bytes(type);
    uint64_t x = random64();
    switch (keys) {
    case ANY:
    case SPECIAL: break;
    case EQUAL: x = 42; break;
    case FEW: x %= 3; break;
    case LOW_DIGIT: x &= 255; break;
    case HIGH_DIGIT: x = x << (width - 8) | 5; break;
    case ASCENDING: x = i; break;
    case DESCENDING: x = n - i; break;
    case KEYS_COUNT: break;
    }
    if (type == DP_BOOL)
        return x & 1;
    return type == DP_F32 || type == DP_F64 ? float_bits(type, x, keys) : x;
}

/* ---- the reference ---- */
static const Sorting *at_hand;

#define COMPARE(T)                                                                                                     \
    {                                                                                                                  \
        T x = ((const T *)(const void *)data)[a], y = ((const T *)(const void *)data)[b];                              \
        return x != x || y != y ? (x != x) - (y != y) : (x > y) - (x < y);                                             \
    }

static int compare_keys(const char *data, uint8_t type, uint64_t a, uint64_t b)
{
    switch ((DpScalar)type) {
    case DP_BOOL:
    case DP_U8: COMPARE(uint8_t)
    case DP_I8: COMPARE(int8_t)
    case DP_I16: COMPARE(int16_t)
    case DP_I32: COMPARE(int32_t)
    case DP_I64: COMPARE(int64_t)
    case DP_U16: COMPARE(uint16_t)
    case DP_U32: COMPARE(uint32_t)
    case DP_U64: COMPARE(uint64_t)
    case DP_F32: COMPARE(float)
    case DP_F64: COMPARE(double)
    case DP_SCALAR_COUNT: break;
    }
    return 0;
}

static int compare_elements(const void *p, const void *q)
{
    uint64_t a = *(const uint64_t *)p, b = *(const uint64_t *)q;
    int c = 0;
    for (uint32_t k = 0; k < at_hand->nkeys && c == 0; k++)
        c = compare_keys(at_hand->data[k], at_hand->types[k], a, b);
    return c ? c : a < b ? -1 : 1;
}

/* ---- cases ---- */
static Sorting begin(int kind, DpScalar type, Keys keys, uint32_t nkeys)
{
    Sorting s = {.w = world_of(kind), .type = type, .nkeys = nkeys};
    const uint64_t n = s.w.s.n;
    for (uint32_t k = 0; k < MOST_COLUMNS; k++) {
        s.types[k] = (uint8_t)(k == 0 ? type : k == 1 ? DP_I32 : other_types[k - 2]);
        uint32_t bytes = dp_scalar_bytes((DpScalar)s.types[k]);
        s.data[k] = alloc(n, 8);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t x = k == 0 ? make_key(type, keys, i, n) : k == 1 ? random64() % 3 - 1 : i * 2654435761u + k;
            memcpy(s.data[k] + i * bytes, &x, bytes);
        }
    }
    s.order = alloc(n, 8);
    for (uint64_t i = 0; i < n; i++)
        s.order[i] = i;
    at_hand = &s;
    for (uint64_t k = 0; k < s.w.s.nseg; k++)
        qsort(s.order + s.w.s.offsets[k], s.w.s.lens[k], sizeof *s.order, compare_elements);
    at_hand = NULL;
    return s;
}

static void end(Sorting *s)
{
    for (uint32_t k = 0; k < MOST_COLUMNS; k++)
        free(s->data[k]);
    free(s->order);
    world_free(&s->w);
}

static char *wanted_column(const Sorting *s, uint32_t column)
{
    uint32_t bytes = dp_scalar_bytes((DpScalar)s->types[column]);
    char *want = alloc(s->w.s.n, bytes);
    for (uint64_t i = 0; i < s->w.s.n; i++)
        memcpy(want + i * bytes, s->data[column] + s->order[i] * bytes, bytes);
    return want;
}

static int64_t *wanted_positions(const Sorting *s)
{
    int64_t *want = alloc(s->w.s.n, 8);
    for (uint64_t k = 0; k < s->w.s.nseg; k++)
        for (uint64_t i = s->w.s.offsets[k]; i < s->w.s.offsets[k + 1]; i++)
            want[i] = (int64_t)(s->order[i] - s->w.s.offsets[k]);
    return want;
}

/* Sorts the columns, a bit of `wanted` each, and with `positions` says where they come from. */
static void check(const Sorting *s, uint32_t positions, uint32_t wanted, int number)
{
    DpCol columns[MOST_COLUMNS], outs[MOST_COLUMNS + 1], views[MOST_COLUMNS], some[MOST_COLUMNS];
    uint8_t types[MOST_COLUMNS];
    uint32_t n = 0, which[MOST_COLUMNS];
    for (uint32_t k = 0; k < MOST_COLUMNS; k++) {
        columns[k] = upload_col(s->data[k], s->w.s.n, dp_scalar_bytes((DpScalar)s->types[k]));
        views[k] = dp_views(rt, s->w.c, &columns[k]);
        if (wanted >> k & 1) {
            types[n] = s->types[k];
            some[n] = views[k];
            which[n++] = k;
        }
    }
    const DpSortTypes t = {s->nkeys, s->types, n, types, 0, 0};
    dp_argsort(rt, positions, s->w.up, &t, views, some, outs);
    for (uint32_t i = 0; i < n + positions; i++) {
        bool is_positions = i < positions;
        uint32_t k = is_positions ? 0 : which[i - positions];
        uint32_t bytes = is_positions ? 8 : dp_scalar_bytes((DpScalar)s->types[k]);
        DpCol elements = dp_elems(rt, &outs[i], s->w.c, bytes);
        void *want = is_positions ? (void *)wanted_positions(s) : wanted_column(s, k);
        check_col(&elements, want, is_positions ? "positions" : "column", number * 10 + (int)k);
        dp_col_release(rt, &outs[i]);
    }
    for (uint32_t k = 0; k < MOST_COLUMNS; k++) {
        dp_col_release(rt, &columns[k]);
        dp_col_release(rt, &views[k]);
    }
}

/* What is moved along differs with what is wanted. */
static const struct {
    uint32_t nkeys, positions, wanted;
} wishes[] = {{1, 0, 1},      {1, 1, 0},     {1, 0, 8 + 16 + 32}, {1, 0, 16},
              {1, 0, 1 + 32}, {1, 1, 1 + 4}, {2, 0, 3},           {2, 1, 127}};
enum { WISHES = sizeof wishes / sizeof *wishes };

static void check_case(int kind, DpScalar type, Keys keys, uint32_t first_wish, uint32_t step)
{
    for (uint32_t i = first_wish; i < WISHES; i += step) {
        Sorting s = begin(kind, type, keys, wishes[i].nkeys);
        check(&s, wishes[i].positions, wishes[i].wanted, (kind * 100 + (int)type) * 10 + (int)keys);
        end(&s);
    }
}

static void test_types(void **state)
{
    (void)state;
    for (int type = 0; type < DP_SCALAR_COUNT; type++)
        for (int keys = 0; keys < KEYS_COUNT; keys++)
            check_case(type % 2 ? 8 : 22, (DpScalar)type, (Keys)keys, (uint32_t)keys % 4, 4);
}

static void test_shapes(void **state)
{
    (void)state;
    for (int kind = 0; kind < SHAPES; kind++) {
        check_case(kind, kind % 2 ? DP_F32 : DP_U32, ANY, 0, 1);
        check_case(kind, DP_F64, SPECIAL, (uint32_t)kind % 4, 4);
    }
}

static void test_root(void **state)
{
    (void)state;
    const uint64_t sizes[] = {0, 1, 2, 1000, 200000};
    for (size_t t = 0; t < 5; t++) {
        uint64_t n = sizes[t];
        uint32_t *x = alloc(n, 4);
        for (uint64_t i = 0; i < n; i++)
            x[i] = rnd() % 1000000;
        DpArr a = dp_array_root(rt, x, 4, n, NULL), outs[2];
        const uint8_t scalar = DP_U32;
        dp_argsort_root(rt, 1, &(const DpSortTypes){1, &scalar, 1, &scalar, 0, 0}, &a, &a, outs);
        assert_int_equal(outs[0].len, n);
        DpCtx *c = dp_nested_root(rt, n);
        DpCol col = dp_elems_root(rt, &outs[0], c, 8), keys = dp_elems_root(rt, &outs[1], c, 4);
        int64_t *p = take_col(&col);
        uint32_t *sorted = take_col(&keys);
        for (uint64_t i = 0; i < n; i++)
            assert_true(sorted[i] == x[p[i]]);
        for (uint64_t i = 1; i < n; i++)
            assert_true(x[p[i - 1]] < x[p[i]] || (x[p[i - 1]] == x[p[i]] && p[i - 1] < p[i]));
        free(p);
        free(sorted);
        free(x);
        dp_ctx_release(rt, &c);
        dp_arr_release(rt, &a);
        dp_arr_release(rt, &outs[0]);
        dp_arr_release(rt, &outs[1]);
        expect_all_free();
    }
}

#define LOOK_BACK(test)                                                                                                \
    {                                                                                                                  \
#test " (look-back)", test, open_look_back, teardown, NULL                                                     \
    }

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_types),       LOOK_BACK(test_types), BOTH(test_shapes),
        LOOK_BACK(test_shapes), BOTH(test_root),       LOOK_BACK(test_root),
    };
    return RUN_TESTS(tests, argc, argv);
}
