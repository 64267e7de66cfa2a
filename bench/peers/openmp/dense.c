/* Arithmetic: compiled with -ffast-math, so that exp and log become vector functions and 1 / sqrt an estimate and a
 * step. */
#include "openmp.h"
#include <math.h>

/* ---- Black–Scholes, f64; arguments: prices, strikes, times ---- */

static void blackscholes_prepare(Job *job)
{
    prepare_like_first(job);
    prepare_like_first(job);
}

static inline double normal(double d)
{
    double k = 1.0 / (1.0 + 0.2316419 * fabs(d));
    double poly = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    double c = 0.39894228040143267794 * exp(-0.5 * d * d) * poly;
    return d > 0 ? 1 - c : c;
}

static void blackscholes(Job *job)
{
    const double *restrict price = job->in[0].data, *restrict strike = job->in[1].data,
                           *restrict time = job->in[2].data;
    double *restrict call = job->out[0].data, *restrict put = job->out[1].data;
#pragma omp parallel for simd
    for (size_t i = 0; i < job->in[0].count; i++) {
        double s = price[i], k = strike[i], t = time[i], r = 0.02, v = 0.30, q = v * sqrt(t);
        double d1 = (log(s / k) + (r + 0.5 * v * v) * t) / q, d2 = d1 - q;
        double c1 = normal(d1), c2 = normal(d2), e = exp(-r * t);
        call[i] = s * c1 - k * e * c2;
        put[i] = k * e * (1.0 - c2) - s * (1.0 - c1);
    }
}

/* ---- n-body, f32; arguments: x, y, z, masses ---- */

static void nbody_prepare(Job *job)
{
    for (int axis = 0; axis < 3; axis++)
        prepare_like_first(job);
}

static void nbody(Job *job)
{
    const float *restrict x = job->in[0].data, *restrict y = job->in[1].data, *restrict z = job->in[2].data;
    const float *restrict mass = job->in[3].data;
    float *restrict ax = job->out[0].data, *restrict ay = job->out[1].data, *restrict az = job->out[2].data;
    size_t n = job->in[0].count;
#pragma omp parallel for
    for (size_t i = 0; i < n; i++) {
        float a = 0, b = 0, c = 0, xi = x[i], yi = y[i], zi = z[i];
#pragma omp simd reduction(+ : a, b, c)
        for (size_t j = 0; j < n; j++) {
            float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi, d2 = dx * dx + dy * dy + dz * dz + 0.0001f;
            float inverse = 1.0f / sqrtf(d2), s = mass[j] * inverse * inverse * inverse;
            a += s * dx;
            b += s * dy;
            c += s * dz;
        }
        ax[i] = a;
        ay[i] = b;
        az[i] = c;
    }
}

/* ---- matrix product, f32: tiles of 8 × 32 elements stay in registers ---- */

enum { TILE_ROWS = 8, TILE_COLUMNS = 32 };

static void matmul_prepare(Job *job) { job_result_matrix(job, "f4", job->in[0].dims[0], job->in[1].dims[1]); }

static void tile(const float *restrict a, const float *restrict b, float *restrict c, size_t m, size_t k)
{
    float sums[TILE_ROWS][TILE_COLUMNS] = {{0}};
    for (size_t l = 0; l < m; l++)
        for (size_t i = 0; i < TILE_ROWS; i++)
#pragma omp simd
            for (size_t j = 0; j < TILE_COLUMNS; j++)
                sums[i][j] += a[i * m + l] * b[l * k + j];
    for (size_t i = 0; i < TILE_ROWS; i++)
        memcpy(c + i * k, sums[i], sizeof sums[i]);
}

/* A tile at the edge, element by element. */
static void tile_edge(const float *a, const float *b, float *c, size_t m, size_t k, size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            float sum = 0;
            for (size_t l = 0; l < m; l++)
                sum += a[i * m + l] * b[l * k + j];
            c[i * k + j] = sum;
        }
}

static void matmul(Job *job)
{
    size_t n = job->in[0].dims[0], m = job->in[0].dims[1], k = job->in[1].dims[1];
    const float *a = job->in[0].data, *b = job->in[1].data;
    float *c = job->out[0].data;
#pragma omp parallel for collapse(2)
    for (size_t j = 0; j < k; j += TILE_COLUMNS)
        for (size_t i = 0; i < n; i += TILE_ROWS) {
            size_t rows = n - i < TILE_ROWS ? n - i : TILE_ROWS, columns = k - j < TILE_COLUMNS ? k - j : TILE_COLUMNS;
            if (rows == TILE_ROWS && columns == TILE_COLUMNS)
                tile(a + i * m, b + j, c + i * k + j, m, k);
            else
                tile_edge(a + i * m, b + j, c + i * k + j, m, k, rows, columns);
        }
}

const Peer rows_of_dense[] = {
    {"blackscholes", blackscholes_prepare, blackscholes, NULL},
    {"nbody", nbody_prepare, nbody, NULL},
    {"matmul", matmul_prepare, matmul, NULL},
};
const size_t rows_of_dense_count = sizeof rows_of_dense / sizeof *rows_of_dense;
