/* Filter, partition and histograms. */
#include "openmp.h"

/* ---- filter and partition: each thread counts its share, then writes it where those before it end ---- */

static void select_prepare(Job *job)
{
    prepare_like_first(job);
    job->scratch[0] = bench_allocate(sizeof(size_t) * (size_t)(omp_get_max_threads() + 1));
}

static void partition_prepare(Job *job)
{
    prepare_like_first(job);
    select_prepare(job);
}

/* How many are kept of all shares before `thread`, after a barrier. */
static size_t counts_before(const size_t *counts, int thread)
{
    size_t sum = 0;
    for (int t = 0; t < thread; t++)
        sum += counts[t];
    return sum;
}

/* Without a branch: what is not kept is overwritten by the next. Only the last place may not be. */
#define FILTER(name, type, kept)                                                                                       \
    static void name(Job *job)                                                                                         \
    {                                                                                                                  \
        const type *restrict x = job->in[0].data;                                                                      \
        type *restrict out = job->out[0].data;                                                                         \
        size_t *counts = job->scratch[0];                                                                              \
        _Pragma("omp parallel")                                                                                        \
        {                                                                                                              \
            int thread = omp_get_thread_num(), threads = omp_get_num_threads();                                        \
            Share s = share_of(job->in[0].count, (size_t)thread, (size_t)threads);                                     \
            size_t count = 0;                                                                                          \
            for (size_t i = s.from; i < s.to; i++)                                                                     \
                count += kept(x[i]);                                                                                   \
            counts[thread] = count;                                                                                    \
            _Pragma("omp barrier") size_t at = counts_before(counts, thread), end = at + count;                        \
            for (size_t i = s.from; at < end; i++) {                                                                   \
                out[at] = x[i];                                                                                        \
                at += kept(x[i]);                                                                                      \
            }                                                                                                          \
            if (thread == threads - 1)                                                                                 \
                job->out[0].count = end;                                                                               \
        }                                                                                                              \
    }
#define POSITIVE(x) ((x) > 0)
#define ABOVE_HALF(x) ((x) > 0.5)
FILTER(filter, int32_t, POSITIVE)
FILTER(filter_f64, double, ABOVE_HALF)

static void partition(Job *job)
{
    const int32_t *restrict x = job->in[0].data;
    int32_t *restrict yes = job->out[0].data, *restrict no = job->out[1].data;
    size_t *counts = job->scratch[0];
#pragma omp parallel
    {
        int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        Share s = share_of(job->in[0].count, (size_t)thread, (size_t)threads);
        size_t count = 0;
        for (size_t i = s.from; i < s.to; i++)
            count += x[i] > 0;
        counts[thread] = count;
#pragma omp barrier
        size_t at = counts_before(counts, thread), end = at + count, rest = s.from - at, i = s.from;
        size_t rest_end = rest + (s.to - s.from) - count;
        for (; at < end && rest < rest_end; i++) {
            int keep = x[i] > 0;
            yes[at] = x[i];
            no[rest] = x[i];
            at += (size_t)keep;
            rest += (size_t)!keep;
        }
        memcpy(yes + at, x + i, (end - at) * sizeof *x);
        memcpy(no + rest, x + i, (rest_end - rest) * sizeof *x);
        if (thread == threads - 1) {
            job->out[0].count = end;
            job->out[1].count = rest_end;
        }
    }
}

/* ---- histograms: one of each thread's own, then their sum ---- */

static void histogram_prepare(Job *job, size_t bins)
{
    job_result(job, "i4", bins);
    job->scratch[0] = bench_allocate(4 * bins * (size_t)omp_get_max_threads());
}

static void histogram256_prepare(Job *job) { histogram_prepare(job, 256); }
static void histogram1m_prepare(Job *job) { histogram_prepare(job, 1 << 20); }

static inline int32_t max32(int32_t a, int32_t b) { return a > b ? a : b; }

#define PLUS(a, b) ((a) + (b))
#define HISTOGRAM(name, neutral, op, value)                                                                            \
    static void name(Job *job)                                                                                         \
    {                                                                                                                  \
        const int32_t *restrict index = job->in[0].data;                                                               \
        const int32_t *restrict x = job->in[1].data;                                                                   \
        int32_t *out = job->out[0].data, *all = job->scratch[0];                                                       \
        size_t bins = job->out[0].count;                                                                               \
        (void)x;                                                                                                       \
        _Pragma("omp parallel")                                                                                        \
        {                                                                                                              \
            int threads = omp_get_num_threads();                                                                       \
            int32_t *restrict own = all + bins * (size_t)omp_get_thread_num();                                         \
            Share s = share_of(job->in[0].count, (size_t)omp_get_thread_num(), (size_t)threads);                       \
            for (size_t b = 0; b < bins; b++)                                                                          \
                own[b] = neutral;                                                                                      \
            for (size_t i = s.from; i < s.to; i++)                                                                     \
                own[index[i]] = op(own[index[i]], value);                                                              \
            _Pragma("omp barrier") _Pragma("omp for") for (size_t b = 0; b < bins; b++)                                \
            {                                                                                                          \
                int32_t a = all[b];                                                                                    \
                for (int t = 1; t < threads; t++)                                                                      \
                    a = op(a, all[bins * (size_t)t + b]);                                                              \
                out[b] = a;                                                                                            \
            }                                                                                                          \
        }                                                                                                              \
    }
HISTOGRAM(histogram, 0, PLUS, 1)
HISTOGRAM(histogram_max, INT32_MIN, max32, x[i])

enum { SMALL_BINS = 16 };

static void histograms_prepare(Job *job) { job_result_matrix(job, "f4", job->in[0].dims[0], SMALL_BINS); }

/* A row of weights for each of the eight histograms; a row is shared by the threads. */
static void histograms(Job *job)
{
    size_t rows = job->in[0].dims[0], columns = job->in[0].dims[1];
    float *out = job->out[0].data;
    memset(out, 0, rows * SMALL_BINS * sizeof *out);
    for (size_t r = 0; r < rows; r++) {
        const int32_t *index = (const int32_t *)job->in[0].data + r * columns;
        const float *weight = (const float *)job->in[1].data + r * columns;
        float *bins = out + r * SMALL_BINS;
#pragma omp parallel for reduction(+ : bins[:SMALL_BINS])
        for (size_t i = 0; i < columns; i++)
            bins[index[i]] += weight[i];
    }
}

const Peer rows_of_selections[] = {
    {"filter", select_prepare, filter, NULL},
    {"filter_f64", select_prepare, filter_f64, NULL},
    {"partition", partition_prepare, partition, NULL},
    {"histogram256", histogram256_prepare, histogram, NULL},
    {"histogram1m", histogram1m_prepare, histogram, NULL},
    {"histogram_max", histogram256_prepare, histogram_max, NULL},
    {"histograms", histograms_prepare, histograms, NULL},
};
const size_t rows_of_selections_count = sizeof rows_of_selections / sizeof *rows_of_selections;
