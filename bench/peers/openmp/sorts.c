/* Sorts: of all, of rows, by keys with their values, and quicksort as a recursion of tasks. */
#include "openmp.h"
#include <stdlib.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* A pass of a radix sort by the 11 bits from `shift` on: each thread counts its share, and then moves it, in order.
 * `counts` has DIGITS places for each thread. */
#define RADIX_PASS(name, type)                                                                                         \
    static void name(const type *restrict from, type *restrict to, size_t n, unsigned shift, size_t *counts)           \
    {                                                                                                                  \
        _Pragma("omp parallel")                                                                                        \
        {                                                                                                              \
            size_t thread = (size_t)omp_get_thread_num(), threads = (size_t)omp_get_num_threads();                     \
            size_t *own = counts + thread * DIGITS;                                                                    \
            Share s = share_of(n, thread, threads);                                                                    \
            memset(own, 0, DIGITS * sizeof *own);                                                                      \
            for (size_t i = s.from; i < s.to; i++)                                                                     \
                own[from[i] >> shift & (DIGITS - 1)]++;                                                                \
            _Pragma("omp barrier") _Pragma("omp single") counts_to_places(counts, threads);                            \
            for (size_t i = s.from; i < s.to; i++)                                                                     \
                to[own[from[i] >> shift & (DIGITS - 1)]++] = from[i];                                                  \
        }                                                                                                              \
    }

static void counts_to_places(size_t *counts, size_t threads)
{
    size_t place = 0;
    for (size_t d = 0; d < DIGITS; d++)
        for (size_t t = 0; t < threads; t++) {
            size_t count = counts[t * DIGITS + d];
            counts[t * DIGITS + d] = place;
            place += count;
        }
}

RADIX_PASS(radix_pass32, uint32_t)
RADIX_PASS(radix_pass64, uint64_t)

static size_t *counts_new(void) { return bench_allocate(sizeof(size_t) * DIGITS * (size_t)omp_get_max_threads()); }

uint64_t *sort_pairs(uint64_t *keys, uint64_t *other, size_t n, unsigned low, unsigned high)
{
    size_t *counts = counts_new();
    for (unsigned shift = low; shift < high; shift += DIGIT_BITS) {
        radix_pass64(keys, other, n, shift, counts);
        uint64_t *t = keys;
        keys = other;
        other = t;
    }
    free(counts);
    return keys;
}

static void sort_prepare(Job *job)
{
    prepare_like_first(job);
    job->scratch[0] = bench_allocate(job->in[0].count * 8);
    job->scratch[1] = counts_new();
}

static void sort(Job *job) /* u32: three passes */
{
    uint32_t *out = job->out[0].data, *other = job->scratch[0];
    size_t n = job->in[0].count;
    radix_pass32(job->in[0].data, out, n, 0, job->scratch[1]);
    radix_pass32(out, other, n, DIGIT_BITS, job->scratch[1]);
    radix_pass32(other, out, n, 2 * DIGIT_BITS, job->scratch[1]);
}

/* Floats of at least 0 are ordered as their bits are. */
static void sort_f32(Job *job) { sort(job); }

static void sort_i64_prepare(Job *job)
{
    sort_prepare(job);
    job->scratch[2] = bench_allocate(job->in[0].count * 8);
}

static void sort_i64(Job *job)
{
    const uint64_t sign = (uint64_t)1 << 63, *x = job->in[0].data;
    uint64_t *keys = job->scratch[0], *out = job->out[0].data;
    size_t n = job->in[0].count;
#pragma omp parallel for
    for (size_t i = 0; i < n; i++)
        keys[i] = x[i] ^ sign;
    keys = sort_pairs(keys, job->scratch[2], n, 0, 64);
#pragma omp parallel for
    for (size_t i = 0; i < n; i++)
        out[i] = keys[i] ^ sign;
}

/* ---- quicksort, three ways, of one thread or as tasks ---- */

enum { INSERTION = 24, TASK = 10000 };

#define QUICKSORT(name, type)                                                                                          \
    static void name##_insertion(type *x, size_t n)                                                                    \
    {                                                                                                                  \
        for (size_t i = 1; i < n; i++) {                                                                               \
            type v = x[i];                                                                                             \
            size_t j = i;                                                                                              \
            for (; j > 0 && x[j - 1] > v; j--)                                                                         \
                x[j] = x[j - 1];                                                                                       \
            x[j] = v;                                                                                                  \
        }                                                                                                              \
    }                                                                                                                  \
    static inline type name##_median(type a, type b, type c)                                                           \
    {                                                                                                                  \
        return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);                                      \
    }                                                                                                                  \
    /* Hoare's: all of x[0 … *end) are at most the pivot, all of x[*start … n) at least. */                        \
    static void name##_split(type *x, size_t n, size_t *end, size_t *start)                                            \
    {                                                                                                                  \
        type pivot = name##_median(x[0], x[n / 2], x[n - 1]);                                                          \
        size_t i = 0, j = n - 1;                                                                                       \
        for (;;) {                                                                                                     \
            while (x[i] < pivot)                                                                                       \
                i++;                                                                                                   \
            while (x[j] > pivot)                                                                                       \
                j--;                                                                                                   \
            if (i >= j)                                                                                                \
                break;                                                                                                 \
            type t = x[i];                                                                                             \
            x[i++] = x[j];                                                                                             \
            x[j--] = t;                                                                                                \
        }                                                                                                              \
        *end = i;                                                                                                      \
        *start = i + (i == j);                                                                                         \
    }                                                                                                                  \
    static void name(type *x, size_t n)                                                                                \
    {                                                                                                                  \
        while (n > INSERTION) {                                                                                        \
            size_t end, start;                                                                                         \
            name##_split(x, n, &end, &start);                                                                          \
            name(x, end);                                                                                              \
            x += start;                                                                                                \
            n -= start;                                                                                                \
        }                                                                                                              \
        name##_insertion(x, n);                                                                                        \
    }
QUICKSORT(quicksort_u32, uint32_t)
QUICKSORT(quicksort_i32, int32_t)

static void quicksort_tasks(int32_t *x, size_t n)
{
    while (n > TASK) {
        size_t end, start;
        quicksort_i32_split(x, n, &end, &start);
#pragma omp task
        quicksort_tasks(x, end);
        x += start;
        n -= start;
    }
    quicksort_i32(x, n);
}

static void quicksort(Job *job)
{
    int32_t *out = job->out[0].data;
    memcpy(out, job->in[0].data, job->in[0].count * sizeof *out);
#pragma omp parallel
#pragma omp single
    quicksort_tasks(out, job->in[0].count);
}

/* ---- rows ---- */

static void segsort(Job *job)
{
    const int64_t *lengths = job->in[0].data;
    uint32_t *out = job->out[0].data;
    size_t rows = job->in[0].count, *offsets = job->scratch[0];
    blocks_offsets(lengths, rows, offsets);
#pragma omp parallel for schedule(dynamic)
    for (size_t b = 0; b < blocks_of(rows); b++) {
        size_t at = offsets[b];
        memcpy(out + at, (uint32_t *)job->in[1].data + at, (offsets[b + 1] - at) * sizeof *out);
        for (size_t r = b * ROWS_BLOCK; r < rows && r < (b + 1) * ROWS_BLOCK; r++) {
            quicksort_u32(out + at, (size_t)lengths[r]);
            at += (size_t)lengths[r];
        }
    }
}

static void medians_prepare(Job *job)
{
    prepare_rows(job);
    job->scratch[1] = bench_allocate(job->in[1].count * 4);
}

static void medians(Job *job)
{
    const int64_t *lengths = job->in[0].data;
    uint32_t *out = job->out[0].data, *sorted = job->scratch[1];
    size_t rows = job->in[0].count, *offsets = job->scratch[0];
    blocks_offsets(lengths, rows, offsets);
#pragma omp parallel for schedule(dynamic)
    for (size_t b = 0; b < blocks_of(rows); b++) {
        uint32_t *row = sorted + offsets[b];
        memcpy(row, (uint32_t *)job->in[1].data + offsets[b], (offsets[b + 1] - offsets[b]) * sizeof *row);
        for (size_t r = b * ROWS_BLOCK; r < rows && r < (b + 1) * ROWS_BLOCK; r++) {
            size_t length = (size_t)lengths[r];
            quicksort_u32(row, length);
            out[r] = length ? row[length / 2] : 0;
            row += length;
        }
    }
}

/* ---- group by key and sum: pairs sorted by key, then a sum for each run ---- */

static void groupby_prepare(Job *job)
{
    prepare_like_first(job);
    prepare_like_second(job);
    job->scratch[0] = bench_allocate(job->in[0].count * 8);
    job->scratch[1] = bench_allocate(job->in[0].count * 8);
}

static void groupby(Job *job)
{
    const uint32_t *keys = job->in[0].data, *values = job->in[1].data;
    uint32_t *out_keys = job->out[0].data, *out_sums = job->out[1].data, most = 0;
    uint64_t *pairs = job->scratch[0];
    size_t n = job->in[0].count, groups = 0;
#pragma omp parallel for reduction(max : most)
    for (size_t i = 0; i < n; i++) {
        pairs[i] = (uint64_t)keys[i] << 32 | values[i];
        most = most > keys[i] ? most : keys[i];
    }
    unsigned bits = 1;
    while (bits < 32 && most >> bits)
        bits++;
    pairs = sort_pairs(pairs, job->scratch[1], n, 32, 32 + bits);
    for (size_t i = 0; i < n; groups++) {
        uint32_t key = (uint32_t)(pairs[i] >> 32), sum = 0;
        for (; i < n && pairs[i] >> 32 == key; i++)
            sum += (uint32_t)pairs[i];
        out_keys[groups] = key;
        out_sums[groups] = sum;
    }
    job->out[0].count = job->out[1].count = groups;
}

const Peer rows_of_sorts[] = {
    {"sort", sort_prepare, sort, NULL},
    {"sort_f32", sort_prepare, sort_f32, NULL},
    {"sort_i64", sort_i64_prepare, sort_i64, NULL},
    {"quicksort", prepare_like_first, quicksort, NULL},
    {"segsort", prepare_rows_elements, segsort, NULL},
    {"medians", medians_prepare, medians, NULL},
    {"groupby", groupby_prepare, groupby, NULL},
};
const size_t rows_of_sorts_count = sizeof rows_of_sorts / sizeof *rows_of_sorts;
