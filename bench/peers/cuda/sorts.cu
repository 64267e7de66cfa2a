// Selections, sorts, groups and histograms.
#include "cuda.cuh"
#include <cub/cub.cuh>
#include <cuda/std/functional>

static Temporary temporary;

static void collect_first(Job *job) { device_to(device[1], job->out[0]); }

struct Positive {
    __host__ __device__ bool operator()(int x) const { return x > 0; }
};

// Arguments of most rows: in slot 0 the keys or elements, in 1 the result, in 2 a count.
static int device_count()
{
    int count;
    CHECK(cudaMemcpy(&count, device[2], sizeof count, cudaMemcpyDeviceToHost));
    return count;
}

static void select_prepare(Job *job)
{
    size_t n = job->in[0].count;
    job_result(job, "i4", n);
    device[0] = device_from<int>(job->in[0]);
    device[1] = device_new<int>(n);
    device[2] = device_new<int>(1);
}

static cudaError_t filter_call(Job *job, void *memory, size_t &bytes)
{
    return cub::DeviceSelect::If(memory, bytes, at<int>(0), at<int>(1), at<int>(2), (int)job->in[0].count, Positive{});
}

static void filter_prepare(Job *job)
{
    select_prepare(job);
    temporary.prepare_with([&](void *memory, size_t &bytes) { return filter_call(job, memory, bytes); });
}

static void filter(Job *job)
{
    timed(job, [&] { temporary.run([&](void *memory, size_t &bytes) { filter_call(job, memory, bytes); }); });
}

static void filter_collect(Job *job)
{
    job->out[0].count = (size_t)device_count();
    collect_first(job);
}

static cudaError_t partition_call(Job *job, void *memory, size_t &bytes)
{
    return cub::DevicePartition::If(memory, bytes, at<int>(0), at<int>(1), at<int>(2), (int)job->in[0].count,
                                    Positive{});
}

static void partition_prepare(Job *job)
{
    select_prepare(job);
    job_result(job, "i4", job->in[0].count);
    temporary.prepare_with([&](void *memory, size_t &bytes) { return partition_call(job, memory, bytes); });
}

static void partition(Job *job)
{
    timed(job, [&] { temporary.run([&](void *memory, size_t &bytes) { partition_call(job, memory, bytes); }); });
}

// CUB leaves the second part in reverse order behind the first.
static void partition_collect(Job *job)
{
    collect_first(job);
    size_t n = job->in[0].count, kept = (size_t)device_count();
    const int *all = (const int *)job->out[0].data;
    int *rest = (int *)job->out[1].data;
    for (size_t i = 0; i < n - kept; i++)
        rest[i] = all[n - 1 - i];
    job->out[0].count = kept;
    job->out[1].count = n - kept;
}

// ---- sorts ----

static cudaError_t sort_call(Job *job, void *memory, size_t &bytes)
{
    return cub::DeviceRadixSort::SortKeys(memory, bytes, at<uint32_t>(0), at<uint32_t>(1), (int)job->in[0].count);
}

static void sort_prepare(Job *job)
{
    job_result(job, job->in[0].type, job->in[0].count);
    device[0] = device_from<uint32_t>(job->in[0]);
    device[1] = device_new<uint32_t>(job->in[0].count);
    temporary.prepare_with([&](void *memory, size_t &bytes) { return sort_call(job, memory, bytes); });
}

static void sort(Job *job)
{
    timed(job, [&] { temporary.run([&](void *memory, size_t &bytes) { sort_call(job, memory, bytes); }); });
}

static cudaError_t segsort_call(Job *job, void *memory, size_t &bytes)
{
    return cub::DeviceSegmentedSort::SortKeys(memory, bytes, at<uint32_t>(0), at<uint32_t>(1), (int)job->in[1].count,
                                              (int)job->in[0].count, at<int>(3), at<int>(3) + 1);
}

static void segsort_prepare(Job *job)
{
    job_result(job, "u4", job->in[1].count);
    device[0] = device_from<uint32_t>(job->in[1]);
    device[1] = device_new<uint32_t>(job->in[1].count);
    device[3] = device_offsets(job->in[0]);
    temporary.prepare_with([&](void *memory, size_t &bytes) { return segsort_call(job, memory, bytes); });
}

static void segsort(Job *job)
{
    timed(job, [&] { temporary.run([&](void *memory, size_t &bytes) { segsort_call(job, memory, bytes); }); });
}

// ---- group by keys below 2^20, and sum ----

static cudaError_t groupby_sort(Job *job, void *memory, size_t &bytes)
{
    return cub::DeviceRadixSort::SortPairs(memory, bytes, at<uint32_t>(0), at<uint32_t>(4), at<int>(3), at<int>(5),
                                           (int)job->in[0].count, 0, 20);
}

static cudaError_t groupby_reduce(Job *job, void *memory, size_t &bytes)
{
    return cub::DeviceReduce::ReduceByKey(memory, bytes, at<uint32_t>(4), at<uint32_t>(1), at<int>(5), at<int>(6),
                                          at<int>(2), ::cuda::std::plus<>{}, (int)job->in[0].count);
}

static void groupby_prepare(Job *job)
{
    size_t n = job->in[0].count;
    job_result(job, "i4", n);
    job_result(job, "i4", n);
    device[0] = device_from<uint32_t>(job->in[0]);
    device[3] = device_from<int>(job->in[1]);
    for (int slot : {1, 4, 5, 6})
        device[slot] = device_new<int>(n);
    device[2] = device_new<int>(1);
    temporary.prepare_with([&](void *memory, size_t &bytes) { return groupby_sort(job, memory, bytes); });
    temporary.prepare_with([&](void *memory, size_t &bytes) { return groupby_reduce(job, memory, bytes); });
}

static void groupby(Job *job)
{
    timed(job, [&] {
        temporary.run([&](void *memory, size_t &bytes) { groupby_sort(job, memory, bytes); });
        temporary.run([&](void *memory, size_t &bytes) { groupby_reduce(job, memory, bytes); });
    });
}

static void groupby_collect(Job *job)
{
    job->out[0].count = job->out[1].count = (size_t)device_count();
    collect_first(job);
    device_to(device[6], job->out[1]);
}

// ---- histograms: 256 bins sixteen times in shared memory; many in global memory ----

enum { COPIES = 16 };

static __global__ void __launch_bounds__(GROUP)
    histogram_shared(const int *__restrict__ x, size_t n, int *__restrict__ out)
{
    __shared__ int bins[256 * COPIES];
    for (int i = threadIdx.x; i < 256 * COPIES; i += GROUP)
        bins[i] = 0;
    __syncthreads();
    int *own = bins + threadIdx.x % COPIES;
    size_t lane = blockIdx.x * (size_t)GROUP + threadIdx.x, lanes = (size_t)gridDim.x * GROUP;
    for (size_t i = lane; i < n / 4; i += lanes) {
        int4 v = ((const int4 *)x)[i];
        atomicAdd(own + v.x * COPIES, 1);
        atomicAdd(own + v.y * COPIES, 1);
        atomicAdd(own + v.z * COPIES, 1);
        atomicAdd(own + v.w * COPIES, 1);
    }
    if (lane < n % 4)
        atomicAdd(own + x[n / 4 * 4 + lane] * COPIES, 1);
    __syncthreads();
    int sum = 0;
    for (int r = 0; r < COPIES; r++)
        sum += bins[threadIdx.x * COPIES + r];
    if (sum)
        atomicAdd(out + threadIdx.x, sum);
}

static __global__ void __launch_bounds__(GROUP)
    histogram_global(const int *__restrict__ x, size_t n, int *__restrict__ out)
{
    size_t lane = blockIdx.x * (size_t)GROUP + threadIdx.x, lanes = (size_t)gridDim.x * GROUP;
    for (size_t i = lane; i < n / 4; i += lanes) {
        int4 v = ((const int4 *)x)[i];
        atomicAdd(out + v.x, 1);
        atomicAdd(out + v.y, 1);
        atomicAdd(out + v.z, 1);
        atomicAdd(out + v.w, 1);
    }
    if (lane < n % 4)
        atomicAdd(out + x[n / 4 * 4 + lane], 1);
}

static void histogram_prepare(Job *job, size_t bins)
{
    job_result(job, "i4", bins);
    device[0] = device_from<int>(job->in[0]);
    device[1] = device_new<int>(bins);
}

static void histogram256_prepare(Job *job) { histogram_prepare(job, 256); }
static void histogram1m_prepare(Job *job) { histogram_prepare(job, 1 << 20); }

static void histogram256(Job *job)
{
    timed(job, [&] {
        cudaMemsetAsync(device[1], 0, 256 * sizeof(int));
        histogram_shared<<<groups_resident(), GROUP>>>(at<int>(0), job->in[0].count, at<int>(1));
    });
}

static void histogram1m(Job *job)
{
    timed(job, [&] {
        cudaMemsetAsync(device[1], 0, job->out[0].count * sizeof(int));
        histogram_global<<<groups_resident(), GROUP>>>(at<int>(0), job->in[0].count, at<int>(1));
    });
}

// Rows of indices below 16 and weights: the groups of column y add to the bins of row y.
enum { SMALL_BINS = 16 };

static __global__ void __launch_bounds__(GROUP)
    histograms_rows(const int *__restrict__ index, const float *__restrict__ weight, size_t columns,
                    float *__restrict__ out)
{
    __shared__ float bins[SMALL_BINS * 32];
    for (int i = threadIdx.x; i < SMALL_BINS * 32; i += GROUP)
        bins[i] = 0;
    __syncthreads();
    size_t base = blockIdx.y * columns;
    for (size_t i = blockIdx.x * (size_t)GROUP + threadIdx.x; i < columns; i += (size_t)gridDim.x * GROUP)
        atomicAdd(&bins[index[base + i] * 32 + threadIdx.x % 32], weight[base + i]);
    __syncthreads();
    if (threadIdx.x < SMALL_BINS) {
        float sum = 0;
        for (int k = 0; k < 32; k++)
            sum += bins[threadIdx.x * 32 + k];
        atomicAdd(&out[blockIdx.y * SMALL_BINS + threadIdx.x], sum);
    }
}

static void histograms_prepare(Job *job)
{
    job_result_matrix(job, "f4", job->in[0].dims[0], SMALL_BINS);
    device[0] = device_from<int>(job->in[0]);
    device[1] = device_new<float>(job->out[0].count);
    device[3] = device_from<float>(job->in[1]);
}

static void histograms(Job *job)
{
    unsigned rows = (unsigned)job->in[0].dims[0];
    timed(job, [&] {
        cudaMemsetAsync(device[1], 0, job->out[0].count * sizeof(float));
        histograms_rows<<<dim3(groups_resident() / (rows ? rows : 1) + 1, rows), GROUP>>>(
            at<int>(0), at<float>(3), job->in[0].dims[1], at<float>(1));
    });
}

extern const Peer rows_of_sorts[] = {
    {"filter", filter_prepare, filter, filter_collect},
    {"partition", partition_prepare, partition, partition_collect},
    {"sort", sort_prepare, sort, collect_first},
    {"segsort", segsort_prepare, segsort, collect_first},
    {"groupby", groupby_prepare, groupby, groupby_collect},
    {"histogram256", histogram256_prepare, histogram256, collect_first},
    {"histogram1m", histogram1m_prepare, histogram1m, collect_first},
    {"histograms", histograms_prepare, histograms, collect_first},
};
extern const size_t rows_of_sorts_count = sizeof rows_of_sorts / sizeof *rows_of_sorts;
