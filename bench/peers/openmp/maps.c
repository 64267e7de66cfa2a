/* Maps, gathers and scatters, the stencil, loops of different lengths, and the copy that all are measured by. */
#include "openmp.h"

#define SAXPY(name, type)                                                                                              \
    static void name(Job *job)                                                                                         \
    {                                                                                                                  \
        const type *restrict x = job->in[0].data, *restrict y = job->in[1].data;                                       \
        type *restrict out = job->out[0].data;                                                                         \
        _Pragma("omp parallel for simd") for (size_t i = 0; i < job->out[0].count; i++) out[i] =                       \
            (type)2.5 * x[i] + y[i];                                                                                   \
    }
SAXPY(saxpy, float)
SAXPY(saxpy_f64, double)

#define GATHER(name, type)                                                                                             \
    static void name(Job *job)                                                                                         \
    {                                                                                                                  \
        const int32_t *restrict index = job->in[0].data;                                                               \
        const type *restrict x = job->in[1].data;                                                                      \
        type *restrict out = job->out[0].data;                                                                         \
        _Pragma("omp parallel for") for (size_t i = 0; i < job->in[0].count; i++) out[i] = x[index[i]];                \
    }
GATHER(gather, int32_t)
GATHER(gather_f64, double)

/* All places are zero first, as in the program: who scatters does not know that it is a permutation. */
#define SCATTER(name, type)                                                                                            \
    static void name(Job *job)                                                                                         \
    {                                                                                                                  \
        const int32_t *restrict index = job->in[0].data;                                                               \
        const type *restrict x = job->in[1].data;                                                                      \
        type *restrict out = job->out[0].data;                                                                         \
        _Pragma("omp parallel for simd") for (size_t i = 0; i < job->out[0].count; i++) out[i] = 0;                    \
        _Pragma("omp parallel for") for (size_t i = 0; i < job->in[0].count; i++) out[index[i]] = x[i];                \
    }
SCATTER(scatter, int32_t)
SCATTER(scatter_f64, double)

static void copy(Job *job)
{
    const char *from = job->in[0].data;
    char *to = job->out[0].data;
    size_t bytes = job->in[0].count * array_element_bytes(&job->in[0]);
#pragma omp parallel
    {
        Share s = share_of(bytes, (size_t)omp_get_thread_num(), (size_t)omp_get_num_threads());
        memcpy(to + s.from, from + s.from, s.to - s.from);
    }
}

static void jacobi(Job *job)
{
    size_t n = job->in[0].dims[0], m = job->in[0].dims[1];
    const float *restrict u = job->in[0].data;
    float *restrict out = job->out[0].data;
#pragma omp parallel for
    for (size_t i = 0; i < n; i++) {
        const float *row = u + i * m;
        if (i == 0 || i == n - 1) {
            memcpy(out + i * m, row, m * sizeof *row);
            continue;
        }
        const float *up = row - m, *down = row + m;
        out[i * m] = row[0];
        out[i * m + m - 1] = row[m - 1];
        for (size_t j = 1; j + 1 < m; j++)
            out[i * m + j] = 0.25f * (up[j] + down[j] + row[j - 1] + row[j + 1]);
    }
}

/* Sixteen pixels of a line at a time, so that the loop over them becomes vector instructions. */
enum { LANES = 16, ROUNDS = 255 };

static void mandel_lanes(size_t n, size_t i, size_t j, int32_t *out)
{
    float cr[LANES], ci = (float)i * 3.0f / (float)n - 1.5f, zr[LANES] = {0}, zi[LANES] = {0};
    int32_t count[LANES] = {0}, active = 1;
    for (size_t l = 0; l < LANES; l++)
        cr[l] = (float)(j + l) * 3.0f / (float)n - 2.25f;
    for (int round = 0; active && round < ROUNDS; round++) {
        active = 0;
        for (size_t l = 0; l < LANES; l++) {
            float rr = zr[l] * zr[l], ii = zi[l] * zi[l], next = 2.0f * zr[l] * zi[l] + ci;
            int32_t on = rr + ii <= 4.0f;
            zr[l] = on ? rr - ii + cr[l] : zr[l];
            zi[l] = on ? next : zi[l];
            count[l] += on;
            active |= on;
        }
    }
    for (size_t l = 0; l < LANES && j + l < n; l++)
        out[l] = count[l];
}

static void mandel_prepare(Job *job) { job_result_matrix(job, "i4", (size_t)job->number[0], (size_t)job->number[0]); }

static void mandel(Job *job)
{
    size_t n = (size_t)job->number[0];
    int32_t *out = job->out[0].data;
#pragma omp parallel for schedule(dynamic, 8)
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j += LANES)
            mandel_lanes(n, i, j, out + i * n + j);
}

static void varloop_prepare(Job *job) { job_result(job, "i8", (size_t)job->number[0]); }

static void varloop(Job *job)
{
    int64_t n = job->number[0], *out = job->out[0].data;
#pragma omp parallel for schedule(static, 1024)
    for (int64_t i = 0; i < n; i++) {
        int64_t a[8], b[8], sum = 0;
        for (int k = 0; k < 8; k++)
            a[k] = i + k;
        for (int64_t t = 0; t < i % 64; t++) {
            for (int k = 0; k < 8; k++)
                b[k] = (a[k] * 3 + a[(k + 1) % 8] + t) % 1000003;
            memcpy(a, b, sizeof a);
        }
        for (int k = 0; k < 8; k++)
            sum += a[k];
        out[i] = sum;
    }
}

const Peer rows_of_maps[] = {
    {"copy", prepare_like_first, copy, NULL},
    {"saxpy", prepare_like_first, saxpy, NULL},
    {"saxpy_f64", prepare_like_first, saxpy_f64, NULL},
    {"gather", prepare_like_second, gather, NULL},
    {"gather_f64", prepare_like_second, gather_f64, NULL},
    {"scatter", prepare_like_second, scatter, NULL},
    {"scatter_f64", prepare_like_second, scatter_f64, NULL},
    {"jacobi", prepare_like_first, jacobi, NULL},
    {"mandel", mandel_prepare, mandel, NULL},
    {"varloop", varloop_prepare, varloop, NULL},
};
const size_t rows_of_maps_count = sizeof rows_of_maps / sizeof *rows_of_maps;
