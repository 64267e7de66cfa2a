/* The programs nobody tuned for, as C: dense and sparse algebra, grids, rays, alignments. */
#include "openmp.h"
#include <math.h>

/* ---- LU without pivots; argument: a matrix, to whose diagonal n is added ---- */

static void lu(Job *job)
{
    size_t n = job->in[0].dims[0];
    float *restrict a = job->out[0].data;
    memcpy(a, job->in[0].data, 4 * n * n);
    for (size_t i = 0; i < n; i++)
        a[i * n + i] += (float)n;
    for (size_t k = 0; k < n; k++) {
        const float *restrict top = a + k * n;
#pragma omp parallel for
        for (size_t i = k + 1; i < n; i++) {
            float *restrict row = a + i * n, f = row[k] / top[k];
            row[k] = f;
            for (size_t j = k + 1; j < n; j++)
                row[j] -= f * top[j];
        }
    }
}

/* ---- k-means; arguments: points, how many centres, rounds ---- */

static void kmeans_prepare(Job *job)
{
    size_t bytes = (size_t)job->number[1] * (job->in[0].dims[1] + 1) * 4;
    job_result_matrix(job, "f4", (size_t)job->number[1], job->in[0].dims[1]);
    job->scratch[0] = bench_allocate(bytes * (size_t)omp_get_max_threads());
}

static size_t nearest(const float *restrict p, const float *restrict centres, size_t k, size_t d)
{
    size_t best = 0;
    float least = INFINITY;
    for (size_t c = 0; c < k; c++) {
        float sum = 0;
        for (size_t j = 0; j < d; j++) {
            float x = p[j] - centres[c * d + j];
            sum += x * x;
        }
        best = sum < least ? c : best;
        least = sum < least ? sum : least;
    }
    return best;
}

static void kmeans(Job *job)
{
    size_t n = job->in[0].dims[0], d = job->in[0].dims[1], k = (size_t)job->number[1], wide = d + 1;
    const float *restrict points = job->in[0].data;
    float *restrict centres = job->out[0].data, *sums = job->scratch[0];
    memcpy(centres, points, 4 * k * d);
    for (int64_t round = 0; round < job->number[2]; round++) {
        memset(sums, 0, 4 * k * wide * (size_t)omp_get_max_threads());
#pragma omp parallel
        {
            float *mine = sums + k * wide * (size_t)omp_get_thread_num();
#pragma omp for
            for (size_t i = 0; i < n; i++) {
                float *row = mine + wide * nearest(points + i * d, centres, k, d);
                for (size_t j = 0; j < d; j++)
                    row[j] += points[i * d + j];
                row[d] += 1;
            }
        }
        for (size_t t = 1; t < (size_t)omp_get_max_threads(); t++)
            for (size_t i = 0; i < k * wide; i++)
                sums[i] += sums[t * k * wide + i];
        for (size_t i = 0; i < k * d; i++) {
            float count = sums[i / d * wide + d];
            centres[i] = sums[i / d * wide + i % d] / (count > 1 ? count : 1);
        }
    }
}

/* ---- hot spot; arguments: temperatures, power, steps ---- */

static void hotspot_prepare(Job *job)
{
    prepare_like_first(job);
    job->scratch[0] = bench_allocate(4 * job->in[0].count);
}

static void hotspot_row(const float *restrict t, const float *restrict power, float *restrict out, size_t y, size_t h,
                        size_t w)
{
    const float *up = t + (y ? y - 1 : 0) * w, *mid = t + y * w, *down = t + (y + 1 < h ? y + 1 : y) * w;
    for (size_t x = 0; x < w; x++) {
        float left = mid[x ? x - 1 : 0], right = mid[x + 1 < w ? x + 1 : x];
        out[y * w + x] = mid[x] + 0.1f * power[y * w + x] + 0.125f * (up[x] + down[x] + left + right - 4 * mid[x]);
    }
}

static void hotspot(Job *job)
{
    size_t h = job->in[0].dims[0], w = job->in[0].dims[1];
    float *from = job->scratch[0], *to = job->out[0].data;
    memcpy(to, job->in[0].data, 4 * h * w);
    for (int64_t step = 0; step < job->number[2]; step++) {
        float *old = to;
        to = from;
        from = old;
#pragma omp parallel for
        for (size_t y = 0; y < h; y++)
            hotspot_row(from, job->in[1].data, to, y, h, w);
    }
    if (to != job->out[0].data)
        memcpy(job->out[0].data, to, 4 * h * w);
}

/* ---- ray casting; arguments: the picture's side, the spheres' three coordinates and radii ---- */

static void raycast_prepare(Job *job)
{
    size_t pixels = (size_t)(job->number[0] * job->number[0]);
    job_result(job, "i4", pixels);
    job_result(job, "f4", pixels);
    job->scratch[0] = bench_allocate(16 * job->in[1].count);
}

typedef struct {
    float x, y, z, radius;
} Sphere;

static int32_t cast(const Sphere *s, size_t n, float x, float y, float *distance)
{
    int32_t hit = -1;
    float least = INFINITY, a = x * x + y * y + 1;
    for (size_t i = 0; i < n; i++) {
        float b = s[i].x * x + s[i].y * y + s[i].z;
        float square = s[i].x * s[i].x + s[i].y * s[i].y + s[i].z * s[i].z;
        float d = b * b - a * (square - s[i].radius * s[i].radius);
        if (d < 0)
            continue;
        float t = (b - sqrtf(d)) / a;
        if (t > 0 && t < least) {
            least = t;
            hit = (int32_t)i;
        }
    }
    *distance = least;
    return hit;
}

static void raycast(Job *job)
{
    size_t side = (size_t)job->number[0], n = job->in[1].count;
    const float *x = job->in[1].data, *y = job->in[2].data, *z = job->in[3].data, *r = job->in[4].data;
    int32_t *hits = job->out[0].data;
    float *distances = job->out[1].data;
    Sphere *spheres = job->scratch[0];
    for (size_t i = 0; i < n; i++)
        spheres[i] = (Sphere){8 * x[i] - 4, 8 * y[i] - 4, 2 + 8 * z[i], 0.1f + 0.3f * r[i]};
#pragma omp parallel for
    for (size_t p = 0; p < side * side; p++)
        hits[p] = cast(spheres, n, ((float)(p % side) + 0.5f) / (float)side - 0.5f,
                       ((float)(p / side) + 0.5f) / (float)side - 0.5f, distances + p);
}

/* ---- Smith–Waterman; arguments: two matrices, whose rows are aligned ---- */

static void smithwaterman_prepare(Job *job) { job_result(job, "i4", job->in[0].dims[0]); }

static int32_t align(const int32_t *a, size_t n, const int32_t *b, size_t m)
{
    int32_t row[m + 1], best = 0;
    memset(row, 0, sizeof row);
    for (size_t i = 0; i < n; i++) {
        int32_t corner = 0;
        for (size_t j = 0; j < m; j++) {
            int32_t match = corner + (a[i] == b[j] ? 2 : -1);
            int32_t gap = (row[j] > row[j + 1] ? row[j] : row[j + 1]) - 1;
            int32_t here = match > gap ? match : gap;
            here = here > 0 ? here : 0;
            corner = row[j + 1];
            row[j + 1] = here;
            best = here > best ? here : best;
        }
    }
    return best;
}

static void smithwaterman(Job *job)
{
    size_t n = job->in[0].dims[1], m = job->in[1].dims[1];
    const int32_t *xs = job->in[0].data, *ys = job->in[1].data;
    int32_t *out = job->out[0].data;
#pragma omp parallel for
    for (size_t i = 0; i < job->in[0].dims[0]; i++)
        out[i] = align(xs + i * n, n, ys + i * m, m);
}

/* ---- diffusion by alternating directions; arguments: rates, the first grid, steps ---- */

static void diffusion_prepare(Job *job)
{
    size_t most = job->in[1].dims[0] > job->in[1].dims[1] ? job->in[1].dims[0] : job->in[1].dims[1];
    job_result(job, "f4", job->in[0].count);
    job->scratch[0] = bench_allocate(4 * (job->in[1].count + most) * (size_t)omp_get_max_threads());
}

/* n unknowns, `stride` apart; c has room for n. */
static void tridiagonal(float *restrict x, float *restrict c, size_t n, size_t stride, float r)
{
    for (size_t i = 0; i < n; i++) {
        float m = 1 / (1 + 2 * r - r * (i ? c[i - 1] : 0));
        c[i] = r * m;
        x[i * stride] = (x[i * stride] + (i ? r * x[(i - 1) * stride] : 0)) * m;
    }
    for (size_t i = n - 1; i-- > 0;)
        x[i * stride] += c[i] * x[(i + 1) * stride];
}

static void diffusion(Job *job)
{
    size_t h = job->in[1].dims[0], w = job->in[1].dims[1], most = h > w ? h : w;
    const float *rates = job->in[0].data;
    float *out = job->out[0].data;
#pragma omp parallel for
    for (size_t o = 0; o < job->in[0].count; o++) {
        float *u = (float *)job->scratch[0] + (size_t)omp_get_thread_num() * (h * w + most), *c = u + h * w;
        memcpy(u, job->in[1].data, 4 * h * w);
        for (int64_t step = 0; step < job->number[2]; step++) {
            for (size_t i = 0; i < h; i++)
                tridiagonal(u + i * w, c, w, 1, rates[o]);
            for (size_t j = 0; j < w; j++)
                tridiagonal(u + j, c, h, w, 0.5f * rates[o]);
        }
        out[o] = u[h / 2 * w + w / 2];
    }
}

/* ---- a sparse triangular system; arguments: lengths, columns, values, right-hand side ---- */

static void trisolve_prepare(Job *job) { job_result(job, "f4", job->in[3].count); }

/* One thread: the levels are short. */
static void trisolve(Job *job)
{
    const int64_t *lengths = job->in[0].data;
    const int32_t *column = job->in[1].data;
    const float *value = job->in[2].data, *b = job->in[3].data;
    float *x = job->out[0].data;
    size_t at = 0;
    for (size_t i = 0; i < job->in[3].count; i++) {
        float sum = 0;
        for (size_t end = at + (size_t)lengths[i]; at < end; at++)
            sum += 0.1f * value[at] * x[column[at]];
        x[i] = b[i] - sum;
    }
}

/* ---- power spectra of short signals; argument: a matrix, whose columns are a power of two ---- */

static void smallffts_prepare(Job *job)
{
    size_t n = job->in[0].dims[1];
    job_result_matrix(job, "f8", job->in[0].dims[0], n);
    double *turn = bench_allocate(16 * n);
    for (size_t k = 0; k < n; k++) {
        turn[2 * k] = cos(-2 * 3.14159265358979323846 * (double)k / (double)n);
        turn[2 * k + 1] = sin(-2 * 3.14159265358979323846 * (double)k / (double)n);
    }
    job->scratch[0] = turn;
    job->scratch[1] = bench_allocate(32 * n * (size_t)omp_get_max_threads());
}

/* A round of Stockham's form: `size` results of the round before stand in order. */
static void fft_round(const double *restrict x, double *restrict y, const double *restrict turn, size_t n, size_t size)
{
    for (size_t j = 0; j < n / 2; j += size)
        for (size_t k = 0; k < size; k++) {
            const double *a = x + 2 * (j + k), *b = a + n, *t = turn + 2 * k * (n / 2 / size);
            double re = t[0] * b[0] - t[1] * b[1], im = t[0] * b[1] + t[1] * b[0], *u = y + 2 * (2 * j + k),
                   *v = u + 2 * size;
            u[0] = a[0] + re;
            u[1] = a[1] + im;
            v[0] = a[0] - re;
            v[1] = a[1] - im;
        }
}

static void smallffts(Job *job)
{
    size_t n = job->in[0].dims[1];
    const float *signals = job->in[0].data;
    double *out = job->out[0].data;
#pragma omp parallel for
    for (size_t i = 0; i < job->in[0].dims[0]; i++) {
        double *x = (double *)job->scratch[1] + 4 * n * (size_t)omp_get_thread_num(), *y = x + 2 * n;
        for (size_t k = 0; k < n; k++) {
            x[2 * k] = (double)signals[i * n + k];
            x[2 * k + 1] = 0;
        }
        for (size_t size = 1; size < n; size *= 2) {
            double *old = x;
            fft_round(x, y, job->scratch[0], n, size);
            x = y;
            y = old;
        }
        for (size_t k = 0; k < n; k++)
            out[i * n + k] = x[2 * k] * x[2 * k] + x[2 * k + 1] * x[2 * k + 1];
    }
}

/* ---- inverses by Gauss and Jordan with pivots; arguments: n, matrices as rows, to whose diagonal n is added ---- */

enum { INVERSE_MOST = 64 };

static void inverse(const float *restrict m, float *restrict out, size_t n)
{
    float a[INVERSE_MOST][2 * INVERSE_MOST];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            a[i][j] = m[i * n + j] + (i == j ? (float)n : 0);
            a[i][n + j] = i == j;
        }
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            pivot = fabsf(a[i][k]) > fabsf(a[pivot][k]) ? i : pivot;
        for (size_t j = 0; j < 2 * n; j++) {
            float x = a[pivot][j];
            a[pivot][j] = a[k][j];
            a[k][j] = x;
        }
        float scale = 1 / a[k][k];
        for (size_t j = 0; j < 2 * n; j++)
            a[k][j] *= scale;
        for (size_t i = 0; i < n; i++) {
            float f = a[i][k];
            for (size_t j = 0; i != k && j < 2 * n; j++)
                a[i][j] -= f * a[k][j];
        }
    }
    for (size_t i = 0; i < n; i++)
        memcpy(out + i * n, a[i] + n, 4 * n);
}

static void inverses_prepare(Job *job)
{
    if (job->number[0] > INVERSE_MOST)
        bench_fail("inverses", "matrices are too large");
    prepare_like_second(job);
}

static void inverses(Job *job)
{
    size_t n = (size_t)job->number[0];
    const float *m = job->in[1].data;
    float *out = job->out[0].data;
#pragma omp parallel for
    for (size_t i = 0; i < job->in[1].dims[0]; i++)
        inverse(m + i * n * n, out + i * n * n, n);
}

const Peer rows_of_apps[] = {
    {"lu", prepare_like_first, lu, NULL},
    {"kmeans", kmeans_prepare, kmeans, NULL},
    {"hotspot", hotspot_prepare, hotspot, NULL},
    {"raycast", raycast_prepare, raycast, NULL},
    {"smithwaterman", smithwaterman_prepare, smithwaterman, NULL},
    {"diffusion", diffusion_prepare, diffusion, NULL},
    {"smallffts", smallffts_prepare, smallffts, NULL},
    {"inverses", inverses_prepare, inverses, NULL},
    {"trisolve", trisolve_prepare, trisolve, NULL},
};
const size_t rows_of_apps_count = sizeof rows_of_apps / sizeof *rows_of_apps;
