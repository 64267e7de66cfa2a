// Maps, gathers and scatters, stencil, Mandelbrot, n-body, loops of different lengths.
#include "cuda.cuh"
#include <cub/cub.cuh>

static Temporary temporary;

static void collect_first(Job *job) { device_to(device[1], job->out[0]); }

// ---- saxpy ----

static __global__ void __launch_bounds__(GROUP)
    saxpy_kernel(const float4 *__restrict__ x, const float4 *__restrict__ y, float4 *__restrict__ out, size_t quads)
{
    size_t i = blockIdx.x * (size_t)GROUP + threadIdx.x;
    if (i >= quads) // the arrays have room behind their ends
        return;
    float4 u = x[i], v = y[i];
    out[i] = make_float4(2.5f * u.x + v.x, 2.5f * u.y + v.y, 2.5f * u.z + v.z, 2.5f * u.w + v.w);
}

static void saxpy_prepare(Job *job)
{
    size_t n = job->in[0].count;
    job_result(job, "f4", n);
    device[0] = device_from<float>(job->in[0]);
    device[1] = device_new<float>(n);
    device[2] = device_from<float>(job->in[1]);
}

static void saxpy(Job *job)
{
    size_t quads = (job->in[0].count + 3) / 4;
    timed(job, [&] { saxpy_kernel<<<groups(quads), GROUP>>>(at<float4>(0), at<float4>(2), at<float4>(1), quads); });
}

// ---- scatter and gather ----

static __global__ void __launch_bounds__(GROUP)
    scatter_kernel(const int *__restrict__ index, const int *__restrict__ x, int *__restrict__ out, size_t n)
{
    size_t i = blockIdx.x * (size_t)GROUP + threadIdx.x;
    if (i < n)
        out[index[i]] = x[i];
}

static __global__ void __launch_bounds__(GROUP)
    gather_kernel(const int *__restrict__ index, const int *__restrict__ x, int *__restrict__ out, size_t n)
{
    size_t i = blockIdx.x * (size_t)GROUP + threadIdx.x;
    if (i < n)
        out[i] = x[index[i]];
}

static void moves_prepare(Job *job)
{
    size_t n = job->in[0].count;
    job_result(job, "i4", job->in[1].count);
    device[0] = device_from<int>(job->in[0]);
    device[1] = device_new<int>(job->in[1].count);
    device[2] = device_from<int>(job->in[1]);
    device[3] = device_new<int>(n);
    device[4] = device_new<int>(n);
}

static void scatter(Job *job)
{
    size_t n = job->in[0].count;
    timed(job, [&] { scatter_kernel<<<groups(n), GROUP>>>(at<int>(0), at<int>(2), at<int>(1), n); });
}

static void gather(Job *job)
{
    size_t n = job->in[0].count;
    timed(job, [&] { gather_kernel<<<groups(n), GROUP>>>(at<int>(0), at<int>(2), at<int>(1), n); });
}

// The pairs are sorted by the top 8 bits of their places first, so that those being written lie in the cache.
static cudaError_t scatter_sort(Job *job, void *memory, size_t &bytes)
{
    int bits = 1;
    while ((size_t)1 << bits < job->in[1].count)
        bits++;
    return cub::DeviceRadixSort::SortPairs(memory, bytes, at<uint32_t>(0), at<uint32_t>(3), at<int>(2), at<int>(4),
                                           (int)job->in[0].count, bits > 8 ? bits - 8 : 0, bits);
}

static void scatter_sorted_prepare(Job *job)
{
    moves_prepare(job);
    temporary.prepare_with([&](void *memory, size_t &bytes) { return scatter_sort(job, memory, bytes); });
}

static void scatter_sorted(Job *job)
{
    size_t n = job->in[0].count;
    timed(job, [&] {
        temporary.run([&](void *memory, size_t &bytes) { scatter_sort(job, memory, bytes); });
        scatter_kernel<<<groups(n), GROUP>>>(at<int>(3), at<int>(4), at<int>(1), n);
    });
}

// ---- Black–Scholes, f64 ----

static __device__ inline double normal(double d)
{
    double k = 1.0 / (1.0 + 0.2316419 * fabs(d));
    double poly = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    double c = 0.39894228040143267794 * exp(-0.5 * d * d) * poly;
    return d > 0 ? 1 - c : c;
}

static __global__ void __launch_bounds__(GROUP)
    blackscholes_kernel(const double *__restrict__ price, const double *__restrict__ strike,
                        const double *__restrict__ time, double *__restrict__ call, double *__restrict__ put, size_t n)
{
    size_t i = blockIdx.x * (size_t)GROUP + threadIdx.x;
    if (i >= n)
        return;
    double s = price[i], k = strike[i], t = time[i], r = 0.02, v = 0.30, q = v * sqrt(t);
    double d1 = (log(s / k) + (r + 0.5 * v * v) * t) / q, d2 = d1 - q;
    double c1 = normal(d1), c2 = normal(d2), e = exp(-r * t);
    call[i] = s * c1 - k * e * c2;
    put[i] = k * e * (1.0 - c2) - s * (1.0 - c1);
}

static void blackscholes_prepare(Job *job)
{
    size_t n = job->in[0].count;
    for (int k = 0; k < 3; k++)
        device[2 + k] = device_from<double>(job->in[k]);
    for (int k = 0; k < 2; k++) {
        job_result(job, "f8", n);
        device[k] = device_new<double>(n);
    }
}

static void blackscholes(Job *job)
{
    size_t n = job->in[0].count;
    timed(job, [&] {
        blackscholes_kernel<<<groups(n), GROUP>>>(at<double>(2), at<double>(3), at<double>(4), at<double>(0),
                                                  at<double>(1), n);
    });
}

static void blackscholes_collect(Job *job)
{
    device_to(device[0], job->out[0]);
    device_to(device[1], job->out[1]);
}

// ---- Mandelbrot: tiles of 16 × 16 pixels ----

static __global__ void __launch_bounds__(GROUP) mandel_kernel(int *out, int n)
{
    int j = blockIdx.x * 16 + threadIdx.x % 16, i = blockIdx.y * 16 + threadIdx.x / 16;
    if (i >= n || j >= n)
        return;
    float cr = j * 3.0f / n - 2.25f, ci = i * 3.0f / n - 1.5f, zr = 0, zi = 0;
    int count = 0;
    while (count < 255 && zr * zr + zi * zi <= 4.0f) {
        float next = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = next;
        count++;
    }
    out[(size_t)i * n + j] = count;
}

static void mandel_prepare(Job *job)
{
    size_t n = (size_t)job->number[0];
    job_result_matrix(job, "i4", n, n);
    device[1] = device_new<int>(n * n);
}

static void mandel(Job *job)
{
    int n = (int)job->number[0];
    timed(job, [&] { mandel_kernel<<<dim3((n + 15) / 16, (n + 15) / 16), GROUP>>>(at<int>(1), n); });
}

// ---- the stencil ----

static __global__ void __launch_bounds__(GROUP)
    jacobi_kernel(const float *__restrict__ u, float *__restrict__ out, int n, int m)
{
    int j = blockIdx.x * 32 + threadIdx.x % 32, i = blockIdx.y * 8 + threadIdx.x / 32;
    if (i >= n || j >= m)
        return;
    size_t at = (size_t)i * m + j;
    bool edge = i == 0 || i == n - 1 || j == 0 || j == m - 1;
    out[at] = edge ? u[at] : 0.25f * (u[at - m] + u[at + m] + u[at - 1] + u[at + 1]);
}

static void jacobi_prepare(Job *job)
{
    job_result_matrix(job, "f4", job->in[0].dims[0], job->in[0].dims[1]);
    device[0] = device_from<float>(job->in[0]);
    device[1] = device_new<float>(job->in[0].count);
}

static void jacobi(Job *job)
{
    int n = (int)job->in[0].dims[0], m = (int)job->in[0].dims[1];
    timed(job, [&] { jacobi_kernel<<<dim3((m + 31) / 32, (n + 7) / 8), GROUP>>>(at<float>(0), at<float>(1), n, m); });
}

// ---- n-body: tiles of 256 bodies in shared memory ----

static __global__ void __launch_bounds__(GROUP) nbody_kernel(const float4 *__restrict__ bodies, float *__restrict__ ax,
                                                             float *__restrict__ ay, float *__restrict__ az, int n)
{
    __shared__ float4 tile[GROUP];
    int i = blockIdx.x * GROUP + threadIdx.x;
    float4 me = bodies[min(i, n - 1)];
    float x = 0, y = 0, z = 0;
    for (int base = 0; base < n; base += GROUP) {
        __syncthreads();
        tile[threadIdx.x] =
            base + threadIdx.x < n ? bodies[base + threadIdx.x] : make_float4(0, 0, 0, 0); // without mass
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < GROUP; j++) {
            float4 q = tile[j];
            float dx = q.x - me.x, dy = q.y - me.y, dz = q.z - me.z, d2 = dx * dx + dy * dy + dz * dz + 0.0001f;
            float inverse = rsqrtf(d2), s = q.w * inverse * inverse * inverse;
            x += s * dx;
            y += s * dy;
            z += s * dz;
        }
    }
    if (i < n) {
        ax[i] = x;
        ay[i] = y;
        az[i] = z;
    }
}

static void nbody_prepare(Job *job)
{
    size_t n = job->in[0].count;
    float4 *bodies = (float4 *)bench_allocate(n * sizeof *bodies);
    const float *x = (const float *)job->in[0].data, *y = (const float *)job->in[1].data;
    const float *z = (const float *)job->in[2].data, *mass = (const float *)job->in[3].data;
    for (size_t i = 0; i < n; i++)
        bodies[i] = make_float4(x[i], y[i], z[i], mass[i]);
    device[3] = device_from<float4>(bodies, n);
    std::free(bodies);
    for (int k = 0; k < 3; k++) {
        job_result(job, "f4", n);
        device[k] = device_new<float>(n);
    }
}

static void nbody(Job *job)
{
    size_t n = job->in[0].count;
    timed(job,
          [&] { nbody_kernel<<<groups(n), GROUP>>>(at<float4>(3), at<float>(0), at<float>(1), at<float>(2), (int)n); });
}

static void nbody_collect(Job *job)
{
    for (int k = 0; k < 3; k++)
        device_to(device[k], job->out[k]);
}

// ---- loops of different lengths over an array of 8, an instance a lane ----

static __global__ void __launch_bounds__(GROUP) varloop_kernel(int64_t *out, int64_t n)
{
    int64_t i = blockIdx.x * (int64_t)GROUP + threadIdx.x, a[8], b[8], sum = 0;
    if (i >= n)
        return;
#pragma unroll
    for (int k = 0; k < 8; k++)
        a[k] = i + k;
    for (int64_t t = 0; t < i % 64; t++) {
#pragma unroll
        for (int k = 0; k < 8; k++)
            b[k] = (a[k] * 3 + a[(k + 1) % 8] + t) % 1000003;
#pragma unroll
        for (int k = 0; k < 8; k++)
            a[k] = b[k];
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        sum += a[k];
    out[i] = sum;
}

static void varloop_prepare(Job *job)
{
    job_result(job, "i8", (size_t)job->number[0]);
    device[1] = device_new<int64_t>((size_t)job->number[0]);
}

static void varloop(Job *job)
{
    timed(job, [&] { varloop_kernel<<<groups((size_t)job->number[0]), GROUP>>>(at<int64_t>(1), job->number[0]); });
}

extern const Peer rows_of_maps[] = {
    {"saxpy", saxpy_prepare, saxpy, collect_first},
    {"scatter", moves_prepare, scatter, collect_first},
    {"scatter_sorted", scatter_sorted_prepare, scatter_sorted, collect_first},
    {"gather", moves_prepare, gather, collect_first},
    {"blackscholes", blackscholes_prepare, blackscholes, blackscholes_collect},
    {"mandel", mandel_prepare, mandel, collect_first},
    {"jacobi", jacobi_prepare, jacobi, collect_first},
    {"nbody", nbody_prepare, nbody, nbody_collect},
    {"varloop", varloop_prepare, varloop, collect_first},
};
extern const size_t rows_of_maps_count = sizeof rows_of_maps / sizeof *rows_of_maps;
