// Sparse and dense matrices: cuSPARSE and cuBLAS, and kernels by hand beside them. A program of its own, as these
// libraries are large.
#include "cuda.cuh"
#include <cublas_v2.h>
#include <cusparse.h>

static void collect_first(Job *job) { device_to(device[1], job->out[0]); }

static void check_library(int status, const char *what)
{
    if (status == 0)
        return;
    std::fprintf(stderr, "cuda: %s: error %d\n", what, status);
    std::exit(4);
}
#define CHECK_LIBRARY(call) check_library((int)(call), #call)

// ---- sparse matrix times vector; arguments: lengths, columns, values, x ----

// Slots: 0 offsets, 1 the result, 2 columns, 3 values, 4 x, 5 cuSPARSE's buffer.
static void spmv_prepare(Job *job)
{
    job_result(job, "f4", job->in[0].count);
    device[0] = device_offsets(job->in[0]);
    device[1] = device_new<float>(job->in[0].count);
    device[2] = device_from<int>(job->in[1]);
    device[3] = device_from<float>(job->in[2]);
    device[4] = device_from<float>(job->in[3]);
}

template <int W>
static __global__ void __launch_bounds__(GROUP)
    spmv_kernel(const int *__restrict__ offsets, const int *__restrict__ columns, const float *__restrict__ values,
                const float *__restrict__ x, float *__restrict__ out, int rows)
{
    int row = (blockIdx.x * GROUP + threadIdx.x) / W, lane = threadIdx.x % W;
    float sum = 0;
    if (row < rows)
        for (int i = offsets[row] + lane, end = offsets[row + 1]; i < end; i += W)
            sum += values[i] * __ldg(x + columns[i]);
#pragma unroll
    for (int d = W / 2; d > 0; d >>= 1)
        sum += __shfl_down_sync(~0u, sum, d, W);
    if (lane == 0 && row < rows)
        out[row] = sum;
}

template <int W> static void spmv_lanes(Job *job)
{
    size_t rows = job->in[0].count;
    timed(job, [&] {
        spmv_kernel<W>
            <<<groups(rows * W), GROUP>>>(at<int>(0), at<int>(2), at<float>(3), at<float>(4), at<float>(1), (int)rows);
    });
}

static struct {
    cusparseHandle_t handle;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t x, out;
} sparse;
static const float one = 1, zero = 0;

// The analysis of the matrix is not timed.
static void spmv_cusparse_prepare(Job *job)
{
    size_t bytes = 0;
    spmv_prepare(job);
    CHECK_LIBRARY(cusparseCreate(&sparse.handle));
    CHECK_LIBRARY(cusparseCreateCsr(&sparse.matrix, (int64_t)job->in[0].count, (int64_t)job->in[3].count,
                                    (int64_t)job->in[1].count, device[0], device[2], device[3], CUSPARSE_INDEX_32I,
                                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    CHECK_LIBRARY(cusparseCreateDnVec(&sparse.x, (int64_t)job->in[3].count, device[4], CUDA_R_32F));
    CHECK_LIBRARY(cusparseCreateDnVec(&sparse.out, (int64_t)job->in[0].count, device[1], CUDA_R_32F));
    CHECK_LIBRARY(cusparseSpMV_bufferSize(sparse.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, sparse.matrix,
                                          sparse.x, &zero, sparse.out, CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG2, &bytes));
    device[5] = device_new<char>(bytes);
    CHECK_LIBRARY(cusparseSpMV_preprocess(sparse.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, sparse.matrix,
                                          sparse.x, &zero, sparse.out, CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG2, device[5]));
}

static void spmv_cusparse(Job *job)
{
    timed(job, [&] {
        cusparseSpMV(sparse.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, sparse.matrix, sparse.x, &zero, sparse.out,
                     CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG2, device[5]);
    });
}

// ---- matrix product, square; by hand: 128 × 128 elements a group, 8 × 8 a lane ----

static __global__ void __launch_bounds__(GROUP)
    matmul_kernel(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int n)
{
    __shared__ float a[16][132], b[16][128];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.y * 128, column = blockIdx.x * 128;
    float c[8][8] = {};
    for (int base = 0; base < n; base += 16) {
#pragma unroll
        for (int q = 0; q < 2; q++) {
            int e = t + q * 256, r = e / 4, k = e % 4 * 4;
            float4 v = *(const float4 *)&A[(size_t)(row + r) * n + base + k];
            a[k][r] = v.x;
            a[k + 1][r] = v.y;
            a[k + 2][r] = v.z;
            a[k + 3][r] = v.w;
            *(float4 *)&b[e / 32][e % 32 * 4] = *(const float4 *)&B[(size_t)(base + e / 32) * n + column + e % 32 * 4];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            float u[8], v[8];
#pragma unroll
            for (int q = 0; q < 4; q++) {
                u[q] = a[k][ty * 4 + q];
                u[q + 4] = a[k][64 + ty * 4 + q];
                v[q] = b[k][tx * 4 + q];
                v[q + 4] = b[k][64 + tx * 4 + q];
            }
#pragma unroll
            for (int p = 0; p < 8; p++)
#pragma unroll
                for (int q = 0; q < 8; q++)
                    c[p][q] += u[p] * v[q];
        }
        __syncthreads();
    }
#pragma unroll
    for (int p = 0; p < 8; p++) {
        size_t at = (size_t)(row + (p < 4 ? ty * 4 + p : 64 + ty * 4 + p - 4)) * n + column + tx * 4;
        *(float4 *)&C[at] = make_float4(c[p][0], c[p][1], c[p][2], c[p][3]);
        *(float4 *)&C[at + 64] = make_float4(c[p][4], c[p][5], c[p][6], c[p][7]);
    }
}

static void matmul_prepare(Job *job)
{
    size_t n = job->in[0].dims[0];
    if (job->in[0].dims[1] != n || job->in[1].dims[1] != n || n % 128 != 0)
        std::exit(3); // only squares of a multiple of 128
    job_result_matrix(job, "f4", n, n);
    device[0] = device_from<float>(job->in[0]);
    device[1] = device_new<float>(n * n);
    device[2] = device_from<float>(job->in[1]);
}

static void matmul(Job *job)
{
    int n = (int)job->in[0].dims[0];
    timed(job, [&] { matmul_kernel<<<dim3(n / 128, n / 128), GROUP>>>(at<float>(0), at<float>(2), at<float>(1), n); });
}

static cublasHandle_t dense;

static void matmul_cublas_prepare(Job *job)
{
    matmul_prepare(job);
    CHECK_LIBRARY(cublasCreate(&dense));
    CHECK_LIBRARY(cublasSetMathMode(dense, CUBLAS_PEDANTIC_MATH)); // f32 throughout
}

static void matmul_cublas(Job *job) // by columns, as in Fortran: the product of the transposes in the other order
{
    int n = (int)job->in[0].dims[0];
    timed(job, [&] {
        cublasSgemm(dense, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, at<float>(2), n, at<float>(0), n, &zero,
                    at<float>(1), n);
    });
}

int main(int argc, char **argv)
{
    const Peer rows[] = {
        {"spmv_1_lane", spmv_prepare, spmv_lanes<1>, collect_first},
        {"spmv_8_lanes", spmv_prepare, spmv_lanes<8>, collect_first},
        {"spmv_cusparse", spmv_cusparse_prepare, spmv_cusparse, collect_first},
        {"matmul", matmul_prepare, matmul, collect_first},
        {"matmul_cublas", matmul_cublas_prepare, matmul_cublas, collect_first},
    };
    return peer_main(argc, argv, rows, sizeof rows / sizeof *rows);
}
