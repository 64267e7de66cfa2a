/* Reductions and scans, plain, with an operator on tuples, and over rows. */
#include "openmp.h"

static void prepare_one_like_first(Job *job) { job_result(job, job->in[0].type, 1); }

static inline int32_t max32(int32_t a, int32_t b) { return a > b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

/* The sum wraps, as the program's does. */
#define SUM(name, type, wide)                                                                                          \
    static void name(Job *job)                                                                                         \
    {                                                                                                                  \
        const type *x = job->in[0].data;                                                                               \
        wide sum = 0;                                                                                                  \
        _Pragma("omp parallel for simd reduction(+ : sum)") for (size_t i = 0; i < job->in[0].count; i++) sum +=       \
            (wide)x[i];                                                                                                \
        *(type *)job->out[0].data = (type)sum;                                                                         \
    }
SUM(sum, int32_t, uint32_t)
SUM(sum_f64, double, double)

static void max_i64(Job *job)
{
    const int64_t *x = job->in[0].data;
    int64_t best = INT64_MIN;
#pragma omp parallel for simd reduction(max : best)
    for (size_t i = 0; i < job->in[0].count; i++)
        best = max64(best, x[i]);
    *(int64_t *)job->out[0].data = best;
}

/* ---- the maximum segment sum ---- */

typedef struct {
    int32_t best, prefix, suffix, sum;
} Segment;

static inline Segment segment_then(Segment a, Segment b)
{
    return (Segment){max32(max32(a.best, b.best), a.suffix + b.prefix), max32(a.prefix, a.sum + b.prefix),
                     max32(b.suffix, a.suffix + b.sum), a.sum + b.sum};
}

static inline Segment segment_of(int32_t x) { return (Segment){max32(x, 0), max32(x, 0), max32(x, 0), x}; }

/* Sixteen lanes, a stretch each, so that the operator becomes vector instructions. */
enum { LANES = 16 };

static Segment mssp_of(const int32_t *x, size_t n)
{
    int32_t best[LANES] = {0}, prefix[LANES] = {0}, suffix[LANES] = {0}, sum[LANES] = {0};
    size_t stretch = n / LANES;
    for (size_t i = 0; i < stretch; i++)
#pragma omp simd
        for (size_t l = 0; l < LANES; l++) {
            int32_t v = x[l * stretch + i];
            sum[l] += v;
            prefix[l] = max32(prefix[l], sum[l]);
            suffix[l] = max32(suffix[l] + v, 0);
            best[l] = max32(best[l], suffix[l]);
        }
    Segment all = {0, 0, 0, 0};
    for (size_t l = 0; l < LANES; l++)
        all = segment_then(all, (Segment){best[l], prefix[l], suffix[l], sum[l]});
    for (size_t i = stretch * LANES; i < n; i++)
        all = segment_then(all, segment_of(x[i]));
    return all;
}

static void mssp_prepare(Job *job)
{
    job_result(job, "i4", 1);
    job->scratch[0] = bench_allocate(sizeof(Segment) * (size_t)omp_get_max_threads());
}

static void mssp(Job *job)
{
    const int32_t *x = job->in[0].data;
    Segment *parts = job->scratch[0], all = {0, 0, 0, 0};
    int threads = 1;
#pragma omp parallel
    {
        Share s = share_of(job->in[0].count, (size_t)omp_get_thread_num(), (size_t)omp_get_num_threads());
        parts[omp_get_thread_num()] = mssp_of(x + s.from, s.to - s.from);
#pragma omp single
        threads = omp_get_num_threads();
    }
    for (int t = 0; t < threads; t++)
        all = segment_then(all, parts[t]);
    *(int32_t *)job->out[0].data = all.best;
}

/* ---- scans: each thread's total, then its own scan from what the threads before it add up to ---- */

static void scan_prepare(Job *job)
{
    prepare_like_first(job);
    job->scratch[0] = bench_allocate(sizeof(double) * (size_t)(omp_get_max_threads() + 1));
}

#define PLUS(a, b) ((a) + (b))
#define SCAN(name, type, neutral, op)                                                                                  \
    static void name(Job *job)                                                                                         \
    {                                                                                                                  \
        const type *restrict x = job->in[0].data;                                                                      \
        type *restrict out = job->out[0].data, *totals = job->scratch[0];                                              \
        _Pragma("omp parallel")                                                                                        \
        {                                                                                                              \
            int thread = omp_get_thread_num();                                                                         \
            Share s = share_of(job->in[0].count, (size_t)thread, (size_t)omp_get_num_threads());                       \
            type total = neutral;                                                                                      \
            for (size_t i = s.from; i < s.to; i++)                                                                     \
                total = op(total, x[i]);                                                                               \
            totals[thread] = total;                                                                                    \
            _Pragma("omp barrier") total = neutral;                                                                    \
            for (int t = 0; t < thread; t++)                                                                           \
                total = op(total, totals[t]);                                                                          \
            for (size_t i = s.from; i < s.to; i++)                                                                     \
                out[i] = total = op(total, x[i]);                                                                      \
        }                                                                                                              \
    }
SCAN(scan, int32_t, 0, PLUS)
SCAN(scan_f64, double, 0, PLUS)
SCAN(scan_max, int32_t, INT32_MIN, max32)

/* ---- the segmented scan with flags ---- */

typedef struct {
    int32_t flag, value;
} Flagged;

static void segscan_flags_prepare(Job *job)
{
    prepare_like_second(job);
    job->scratch[0] = bench_allocate(sizeof(Flagged) * (size_t)omp_get_max_threads());
}

static void segscan_flags(Job *job)
{
    const uint8_t *restrict flags = job->in[0].data;
    const int32_t *restrict x = job->in[1].data;
    int32_t *restrict out = job->out[0].data;
    Flagged *parts = job->scratch[0];
#pragma omp parallel
    {
        int thread = omp_get_thread_num();
        Share s = share_of(job->in[1].count, (size_t)thread, (size_t)omp_get_num_threads());
        size_t i = s.to;
        int32_t sum = 0;
        while (i > s.from && !flags[i - 1]) /* the last segment of the share is enough */
            sum += x[--i];
        parts[thread] = (Flagged){i > s.from, i > s.from ? sum + x[i - 1] : sum};
#pragma omp barrier
        int32_t carry = 0;
        for (int t = thread; t > 0; t--) {
            carry += parts[t - 1].value;
            if (parts[t - 1].flag)
                break;
        }
        for (i = s.from; i < s.to; i++)
            out[i] = carry = (flags[i] ? 0 : carry) + x[i];
    }
}

/* ---- over rows ---- */

#define ROW_FOLD(name, type, neutral, statement)                                                                       \
    static void name(Job *job)                                                                                         \
    {                                                                                                                  \
        const int64_t *lengths = job->in[0].data;                                                                      \
        const type *x = job->in[1].data;                                                                               \
        type *out = job->out[0].data;                                                                                  \
        size_t rows = job->in[0].count, *offsets = job->scratch[0];                                                    \
        blocks_offsets(lengths, rows, offsets);                                                                        \
        _Pragma("omp parallel for schedule(dynamic)") for (size_t b = 0; b < blocks_of(rows); b++)                     \
        {                                                                                                              \
            const type *row = x + offsets[b];                                                                          \
            for (size_t r = b * ROWS_BLOCK; r < rows && r < (b + 1) * ROWS_BLOCK; r++) {                               \
                type a = neutral;                                                                                      \
                for (int64_t k = 0; k < lengths[r]; k++)                                                               \
                    statement;                                                                                         \
                out[r] = a;                                                                                            \
                row += lengths[r];                                                                                     \
            }                                                                                                          \
        }                                                                                                              \
    }
ROW_FOLD(segmax_i32, int32_t, INT32_MIN, a = max32(a, row[k]))

/* The order of the additions is free, as the program's is. */
static void segsum(Job *job)
{
    const int64_t *lengths = job->in[0].data;
    const float *x = job->in[1].data;
    float *out = job->out[0].data;
    size_t rows = job->in[0].count, *offsets = job->scratch[0];
    blocks_offsets(lengths, rows, offsets);
#pragma omp parallel for schedule(dynamic)
    for (size_t b = 0; b < blocks_of(rows); b++) {
        const float *row = x + offsets[b];
        for (size_t r = b * ROWS_BLOCK; r < rows && r < (b + 1) * ROWS_BLOCK; r++) {
            float a = 0;
            if (lengths[r] < 16)
                for (int64_t k = 0; k < lengths[r]; k++)
                    a += row[k];
            else
#pragma omp simd reduction(+ : a)
                for (int64_t k = 0; k < lengths[r]; k++)
                    a += row[k];
            out[r] = a;
            row += lengths[r];
        }
    }
}

static void segscan(Job *job)
{
    const int64_t *lengths = job->in[0].data;
    const int32_t *restrict x = job->in[1].data;
    int32_t *restrict out = job->out[0].data;
    size_t rows = job->in[0].count, *offsets = job->scratch[0];
    blocks_offsets(lengths, rows, offsets);
#pragma omp parallel for schedule(dynamic)
    for (size_t b = 0; b < blocks_of(rows); b++) {
        size_t i = offsets[b];
        for (size_t r = b * ROWS_BLOCK; r < rows && r < (b + 1) * ROWS_BLOCK; r++) {
            int32_t sum = 0;
            for (size_t end = i + (size_t)lengths[r]; i < end; i++)
                out[i] = sum += x[i];
        }
    }
}

/* Each row's sums, then, in stripes of columns, each row onto the next. */
static void integral(Job *job)
{
    size_t n = job->in[0].dims[0], m = job->in[0].dims[1];
    const float *restrict u = job->in[0].data;
    float *restrict out = job->out[0].data;
#pragma omp parallel
    {
#pragma omp for
        for (size_t i = 0; i < n; i++) {
            float sum = 0;
            for (size_t j = 0; j < m; j++)
                out[i * m + j] = sum += u[i * m + j];
        }
        Share s = share_of(m, (size_t)omp_get_thread_num(), (size_t)omp_get_num_threads());
        for (size_t i = 1; i < n; i++)
            for (size_t j = s.from; j < s.to; j++)
                out[i * m + j] += out[(i - 1) * m + j];
    }
}

const Peer rows_of_folds[] = {
    {"sum", prepare_one_like_first, sum, NULL},
    {"sum_f64", prepare_one_like_first, sum_f64, NULL},
    {"max_i64", prepare_one_like_first, max_i64, NULL},
    {"mssp", mssp_prepare, mssp, NULL},
    {"scan", scan_prepare, scan, NULL},
    {"scan_f64", scan_prepare, scan_f64, NULL},
    {"scan_max", scan_prepare, scan_max, NULL},
    {"segscan_flags", segscan_flags_prepare, segscan_flags, NULL},
    {"segscan", prepare_rows_elements, segscan, NULL},
    {"segsum", prepare_rows, segsum, NULL},
    {"segmax_i32", prepare_rows, segmax_i32, NULL},
    {"integral", prepare_like_first, integral, NULL},
};
const size_t rows_of_folds_count = sizeof rows_of_folds / sizeof *rows_of_folds;
