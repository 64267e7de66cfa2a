// Copy, reductions and scans.
#include "cuda.cuh"
#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

static Temporary temporary;

static void collect_first(Job *job) { device_to(device[1], job->out[0]); }

// ---- copy: four 16-byte elements in flight ----

static __global__ void __launch_bounds__(GROUP)
    copy_kernel(const int4 *__restrict__ from, int4 *__restrict__ to, size_t n)
{
    size_t base = blockIdx.x * (size_t)(4 * GROUP) + threadIdx.x;
    int4 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (base + k * GROUP < n)
            v[k] = from[base + k * GROUP];
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (base + k * GROUP < n)
            to[base + k * GROUP] = v[k];
}

static size_t copy_quads(const Job *job) { return (job->in[0].count * array_element_bytes(&job->in[0]) + 15) / 16; }

static void copy_prepare(Job *job)
{
    job_result(job, job->in[0].type, job->in[0].count);
    size_t bytes = job->in[0].count * array_element_bytes(&job->in[0]);
    device[0] = device_from<char>(job->in[0].data, bytes);
    device[1] = device_new<char>(bytes);
}

static void copy(Job *job)
{
    size_t n = copy_quads(job);
    timed(job, [&] { copy_kernel<<<groups((n + 3) / 4), GROUP>>>(at<int4>(0), at<int4>(1), n); });
}

// ---- sum ----

static void sum_prepare(Job *job)
{
    job_result(job, "i4", 1);
    device[0] = device_from<int>(job->in[0]);
    device[1] = device_new<int>(1);
    temporary.prepare_with([&](void *memory, size_t &bytes) {
        return cub::DeviceReduce::Sum(memory, bytes, at<int>(0), at<int>(1), (int)job->in[0].count);
    });
}

static void sum(Job *job)
{
    timed(job, [&] {
        temporary.run([&](void *memory, size_t &bytes) {
            cub::DeviceReduce::Sum(memory, bytes, at<int>(0), at<int>(1), (int)job->in[0].count);
        });
    });
}

// ---- maximum segment sum: each lane a run of consecutive elements, staged through shared memory by its warp ----

struct __align__(16) Segment { int best, prefix, suffix, sum; };

static __device__ inline Segment then(Segment a, Segment b)
{
    return {max(max(a.best, b.best), a.suffix + b.prefix), max(a.prefix, a.sum + b.prefix),
            max(a.suffix + b.sum, b.suffix), a.sum + b.sum};
}

static __device__ inline void push(Segment &a, int x)
{
    a.sum += x;
    a.prefix = max(a.prefix, a.sum);
    a.suffix = max(a.suffix + x, 0);
    a.best = max(a.best, a.suffix);
}

static __device__ inline Segment warp_reduce(Segment a) // in order; the first lane has the result
{
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        Segment b = {__shfl_down_sync(~0u, a.best, d), __shfl_down_sync(~0u, a.prefix, d),
                     __shfl_down_sync(~0u, a.suffix, d), __shfl_down_sync(~0u, a.sum, d)};
        if ((threadIdx.x & 31) + d < 32)
            a = then(a, b);
    }
    return a;
}

static __device__ inline Segment group_reduce(Segment a)
{
    __shared__ Segment shared[32];
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    a = warp_reduce(a);
    if (lane == 0)
        shared[warp] = a;
    __syncthreads();
    if (warp == 0)
        a = warp_reduce(lane < warps ? shared[lane] : Segment{0, 0, 0, 0});
    return a;
}

static __global__ void __launch_bounds__(GROUP)
    mssp_runs(const int *__restrict__ x, size_t n, size_t run, Segment *parts)
{
    __shared__ int4 staged[8][4 * 33];
    size_t warp = (blockIdx.x * (size_t)GROUP + threadIdx.x) >> 5, base = warp * 32 * run;
    int lane = threadIdx.x & 31;
    int4 *s = staged[threadIdx.x >> 5];
    Segment a = {0, 0, 0, 0};
    for (size_t t = 0; t < run; t += 16) {
        int4 v[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            int q = k * 32 + lane;
            size_t i = base + (size_t)(q / 4) * run + t + (q % 4) * 4;
            v[k] = i + 3 < n ? __ldg((const int4 *)(x + i))
                             : make_int4(i < n ? x[i] : 0, i + 1 < n ? x[i + 1] : 0, i + 2 < n ? x[i + 2] : 0, 0);
        }
        __syncwarp();
#pragma unroll
        for (int k = 0; k < 4; k++) {
            int q = k * 32 + lane;
            s[(q % 4) * 33 + q / 4] = v[k];
        }
        __syncwarp();
#pragma unroll
        for (int k = 0; k < 4; k++) { // zeros behind the end change nothing
            int4 u = s[k * 33 + lane];
            push(a, u.x);
            push(a, u.y);
            push(a, u.z);
            push(a, u.w);
        }
    }
    a = group_reduce(a);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = a;
}

static __global__ void mssp_end(const Segment *parts, int count, int *out)
{
    Segment a = {0, 0, 0, 0};
    int run = (count + blockDim.x - 1) / blockDim.x, from = threadIdx.x * run, end = min(from + run, count);
    for (int i = from; i < end; i++)
        a = then(a, parts[i]);
    a = group_reduce(a);
    if (threadIdx.x == 0)
        *out = a.best;
}

static void mssp_prepare(Job *job)
{
    job_result(job, "i4", 1);
    device[0] = device_from<int>(job->in[0]);
    device[1] = device_new<int>(1);
    device[2] = device_new<Segment>(groups_resident());
}

static void mssp(Job *job)
{
    size_t n = job->in[0].count, lanes = (size_t)groups_resident() * GROUP,
           run = ((n + lanes - 1) / lanes + 15) / 16 * 16;
    timed(job, [&] {
        mssp_runs<<<groups_resident(), GROUP>>>(at<int>(0), n, run, at<Segment>(2));
        mssp_end<<<1, 512>>>(at<Segment>(2), (int)groups_resident(), at<int>(1));
    });
}

// ---- scans ----

static void scan_prepare(Job *job)
{
    size_t n = job->in[0].count;
    job_result(job, "i4", n);
    device[0] = device_from<int>(job->in[0]);
    device[1] = device_new<int>(n);
    temporary.prepare_with([&](void *memory, size_t &bytes) {
        return cub::DeviceScan::InclusiveSum(memory, bytes, at<int>(0), at<int>(1), (int)n);
    });
}

static void scan(Job *job)
{
    timed(job, [&] {
        temporary.run([&](void *memory, size_t &bytes) {
            cub::DeviceScan::InclusiveSum(memory, bytes, at<int>(0), at<int>(1), (int)job->in[0].count);
        });
    });
}

// The segmented scan as a scan with an operator on pairs, which are read from both arrays and written without their
// flags.
struct Flagged {
    int value;
    unsigned flag;
};
struct FlaggedPlus {
    __host__ __device__ Flagged operator()(Flagged a, Flagged b) const
    {
        return {b.flag ? b.value : a.value + b.value, a.flag | b.flag};
    }
};
struct FlaggedAt {
    const int *values;
    const uint8_t *flags;
    __host__ __device__ Flagged operator()(int64_t i) const { return {values[i], flags[i]}; }
};
struct ValueOut {
    struct Place {
        int *to;
        __device__ void operator=(Flagged x) const { *to = x.value; }
    };
    using iterator_category = std::random_access_iterator_tag;
    using value_type = Flagged;
    using difference_type = int64_t;
    using pointer = void;
    using reference = Place;
    int *to;
    __host__ __device__ Place operator[](int64_t i) const { return {to + i}; }
    __host__ __device__ Place operator*() const { return {to}; }
    __host__ __device__ ValueOut operator+(int64_t i) const { return {to + i}; }
};

static cudaError_t segscan_call(Job *job, void *memory, size_t &bytes)
{
    auto in =
        thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), FlaggedAt{at<int>(2), at<uint8_t>(0)});
    return cub::DeviceScan::InclusiveScan(memory, bytes, in, ValueOut{at<int>(1)}, FlaggedPlus{},
                                          (int)job->in[1].count);
}

static void segscan_flags_prepare(Job *job)
{
    job_result(job, "i4", job->in[1].count);
    device[0] = device_from<uint8_t>(job->in[0]);
    device[1] = device_new<int>(job->in[1].count);
    device[2] = device_from<int>(job->in[1]);
    temporary.prepare_with([&](void *memory, size_t &bytes) { return segscan_call(job, memory, bytes); });
}

static void segscan_flags(Job *job)
{
    timed(job, [&] { temporary.run([&](void *memory, size_t &bytes) { segscan_call(job, memory, bytes); }); });
}

// Over rows: the keys of the elements are given.
static void segscan_prepare(Job *job)
{
    size_t n = job->in[1].count;
    job_result(job, "i4", n);
    int *keys = (int *)bench_allocate(n * sizeof(int));
    for (size_t row = 0, i = 0; row < job->in[0].count; row++)
        for (int64_t k = 0; k < ((const int64_t *)job->in[0].data)[row]; k++)
            keys[i++] = (int)row;
    device[0] = device_from<int>(keys, n);
    device[1] = device_new<int>(n);
    device[2] = device_from<int>(job->in[1]);
    std::free(keys);
    temporary.prepare_with([&](void *memory, size_t &bytes) {
        return cub::DeviceScan::InclusiveSumByKey(memory, bytes, at<int>(0), at<int>(2), at<int>(1), (int)n);
    });
}

static void segscan(Job *job)
{
    timed(job, [&] {
        temporary.run([&](void *memory, size_t &bytes) {
            cub::DeviceScan::InclusiveSumByKey(memory, bytes, at<int>(0), at<int>(2), at<int>(1),
                                               (int)job->in[1].count);
        });
    });
}

// ---- sums of rows: W lanes a row; and tiles of elements, whose border rows are added by atomics ----

template <int W>
static __global__ void __launch_bounds__(GROUP)
    rows_lanes(const float *__restrict__ x, const int *__restrict__ offsets, float *__restrict__ out, int rows)
{
    int row = (blockIdx.x * GROUP + threadIdx.x) / W, lane = threadIdx.x % W;
    float sum = 0;
    if (row < rows)
        for (int i = offsets[row] + lane, end = offsets[row + 1]; i < end; i += W)
            sum += x[i];
#pragma unroll
    for (int d = W / 2; d > 0; d >>= 1)
        sum += __shfl_down_sync(~0u, sum, d, W);
    if (lane == 0 && row < rows)
        out[row] = sum;
}

static const int TILE = 4096;

static __global__ void tiles_first(const int *__restrict__ offsets, int rows, int n, int tiles, int *__restrict__ first)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t > tiles)
        return;
    int element = (int)min((long long)t * TILE, (long long)n), low = 0,
        high = rows; // the last row that begins there or before
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (offsets[middle] <= element)
            low = middle;
        else
            high = middle - 1;
    }
    first[t] = low;
}

static __global__ void __launch_bounds__(GROUP)
    tiles_sum(const float *__restrict__ x, const int *__restrict__ offsets, const int *__restrict__ first,
              float *__restrict__ out, int rows, int n)
{
    __shared__ float shared[TILE];
    int from = blockIdx.x * TILE, to = min(from + TILE, n);
#pragma unroll
    for (int k = 0; k < TILE / (4 * GROUP); k++) {
        int i = from + (k * GROUP + threadIdx.x) * 4;
        if (i + 3 < n)
            *(float4 *)&shared[i - from] = *(const float4 *)&x[i];
        else
            for (int j = 0; j < 4; j++)
                if (i + j < n)
                    shared[i + j - from] = x[i + j];
    }
    int low = first[blockIdx.x], high = min(first[blockIdx.x + 1], rows - 1);
    __syncthreads();
    int count = high - low + 1, width = count >= 128  ? 1
                                        : count >= 64 ? 2
                                        : count >= 32 ? 4
                                        : count >= 16 ? 8
                                        : count >= 8  ? 16
                                                      : 32;
    int lane = threadIdx.x % width, step = GROUP / width;
    for (int base = low; base <= high; base += step) {
        int row = base + threadIdx.x / width, begin = 0, end = 0, b = 0, e = 0;
        float sum = 0;
        if (row <= high) {
            begin = offsets[row];
            end = offsets[row + 1];
            b = max(begin, from);
            e = min(end, to);
        }
        for (int i = b + lane; i < e; i += width)
            sum += shared[i - from];
        for (int d = width / 2; d > 0; d >>= 1)
            sum += __shfl_down_sync(~0u, sum, d, width);
        if (lane == 0 && row <= high && e > b) {
            if (begin >= from && end <= to)
                out[row] = sum;
            else
                atomicAdd(&out[row], sum);
        }
    }
}

static int tiles_of(const Job *job) { return (int)((job->in[1].count + TILE - 1) / TILE); }

static void segsum_prepare(Job *job)
{
    job_result(job, "f4", job->in[0].count);
    device[0] = device_offsets(job->in[0]);
    device[1] = device_new<float>(job->in[0].count);
    device[2] = device_from<float>(job->in[1]);
    device[3] = device_new<int>(tiles_of(job) + 1);
}

template <int W> static void segsum_lanes(Job *job)
{
    size_t rows = job->in[0].count;
    timed(job, [&] { rows_lanes<W><<<groups(rows * W), GROUP>>>(at<float>(2), at<int>(0), at<float>(1), (int)rows); });
}

static void segsum_tiles(Job *job)
{
    int rows = (int)job->in[0].count, n = (int)job->in[1].count, tiles = tiles_of(job);
    timed(job, [&] {
        cudaMemsetAsync(device[1], 0, sizeof(float) * rows);
        tiles_first<<<groups(tiles + 1), GROUP>>>(at<int>(0), rows, n, tiles, at<int>(3));
        tiles_sum<<<tiles, GROUP>>>(at<float>(2), at<int>(0), at<int>(3), at<float>(1), rows, n);
    });
}

static void segsum_cub_prepare(Job *job)
{
    segsum_prepare(job);
    temporary.prepare_with([&](void *memory, size_t &bytes) {
        return cub::DeviceSegmentedReduce::Sum(memory, bytes, at<float>(2), at<float>(1), (int)job->in[0].count,
                                               at<int>(0), at<int>(0) + 1);
    });
}

static void segsum_cub(Job *job)
{
    timed(job, [&] {
        temporary.run([&](void *memory, size_t &bytes) {
            cub::DeviceSegmentedReduce::Sum(memory, bytes, at<float>(2), at<float>(1), (int)job->in[0].count,
                                            at<int>(0), at<int>(0) + 1);
        });
    });
}

extern const Peer rows_of_folds[] = {
    {"copy", copy_prepare, copy, collect_first},
    {"sum", sum_prepare, sum, collect_first},
    {"mssp", mssp_prepare, mssp, collect_first},
    {"scan", scan_prepare, scan, collect_first},
    {"segscan_flags", segscan_flags_prepare, segscan_flags, collect_first},
    {"segscan", segscan_prepare, segscan, collect_first},
    {"segsum_1_lane", segsum_prepare, segsum_lanes<1>, collect_first},
    {"segsum_8_lanes", segsum_prepare, segsum_lanes<8>, collect_first},
    {"segsum_32_lanes", segsum_prepare, segsum_lanes<32>, collect_first},
    {"segsum_tiles", segsum_prepare, segsum_tiles, collect_first},
    {"segsum_cub", segsum_cub_prepare, segsum_cub, collect_first},
};
extern const size_t rows_of_folds_count = sizeof rows_of_folds / sizeof *rows_of_folds;
