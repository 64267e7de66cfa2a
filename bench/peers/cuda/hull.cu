// Quickhull, level by level over the points and the number of the side that each belongs to; a read-back a level. f64.
#include "cuda.cuh"
#include <algorithm>
#include <utility>

typedef unsigned long long Key;

// No fused multiply and add: with it a corner is left of its own side.
static __device__ inline double cross(double2 a, double2 b, double2 p)
{
    return __dsub_rn(__dmul_rn(a.x - p.x, b.y - p.y), __dmul_rn(a.y - p.y, b.x - p.x));
}

struct Side {
    double2 a, b;
};
struct State {
    int points, sides, corners, padding;
};

enum { CUT = 512, MOST_SIDES = 1 << 20, MOST_LEVELS = 200 };

// Unsigned numbers in the order of doubles.
static __device__ inline Key key_of(double x)
{
    Key u = (Key)__double_as_longlong(x);
    return (u >> 63) ? ~u : u | 0x8000000000000000ull;
}

static __global__ void extremes(const double2 *p, int n, Key *keys) // of -x and x
{
    __shared__ Key shared[2];
    if (threadIdx.x < 2)
        shared[threadIdx.x] = 0;
    __syncthreads();
    Key low = 0, high = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        low = max(low, key_of(-p[i].x));
        high = max(high, key_of(p[i].x));
    }
    for (int d = 16; d; d >>= 1) {
        low = max(low, __shfl_down_sync(~0u, low, d));
        high = max(high, __shfl_down_sync(~0u, high, d));
    }
    if ((threadIdx.x & 31) == 0) {
        atomicMax(&shared[0], low);
        atomicMax(&shared[1], high);
    }
    __syncthreads();
    if (threadIdx.x < 2)
        atomicMax(&keys[threadIdx.x], shared[threadIdx.x]);
}

static __global__ void extremes_find(const double2 *p, int n, const Key *keys, double2 *ends)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (key_of(-p[i].x) == keys[0])
            ends[0] = p[i];
        if (key_of(p[i].x) == keys[1])
            ends[1] = p[i];
    }
}

static __global__ void begin(Side *sides, Key *best, int *far, int *number, const double2 *ends, double2 *hull,
                             State *state)
{
    sides[0] = {ends[0], ends[1]};
    sides[1] = {ends[1], ends[0]};
    for (int k = 0; k < 2; k++) {
        hull[k] = ends[k];
        best[k] = 0;
        far[k] = -1;
        number[k] = k;
    }
    *state = {0, 2, 2, 0};
}

// Points that stay go behind those of the other groups, in no order.
static __device__ inline void append(bool keep, double2 q, int side, double2 *points, int *sides, int *count)
{
    __shared__ int own, base;
    __syncthreads();
    if (threadIdx.x == 0)
        own = 0;
    __syncthreads();
    int place = keep ? atomicAdd(&own, 1) : 0;
    __syncthreads();
    if (threadIdx.x == 0)
        base = atomicAdd(count, own);
    __syncthreads();
    if (keep) {
        points[base + place] = q;
        sides[base + place] = side;
    }
}

static __global__ void __launch_bounds__(CUT)
    cut_first(const double2 *p, int n, const double2 *ends, double2 *points, int *sides, State *state)
{
    int i = blockIdx.x * CUT + threadIdx.x, side = 0;
    bool keep = false;
    double2 q = {0, 0};
    if (i < n) {
        q = p[i];
        double d = cross(ends[0], ends[1], q);
        bool above = d > 0, below = !above && cross(ends[1], ends[0], q) > 0;
        keep = above || below;
        side = above ? 0 : 1;
    }
    append(keep, q, side, points, sides, &state->points);
}

static __global__ void __launch_bounds__(GROUP)
    distances(const double2 *p, int *sides, int n, const int *number, const Side *side, Key *best)
{
    for (int i = blockIdx.x * GROUP + threadIdx.x; i < n; i += gridDim.x * GROUP) {
        int s = number[sides[i]];
        sides[i] = s;
        Key d = (Key)__double_as_longlong(cross(side[s].a, side[s].b, p[i])); // positive: its bits are in order
        if (d > *(volatile Key *)&best[s])
            atomicMax(&best[s], d);
    }
}

static __global__ void __launch_bounds__(GROUP)
    farthest(const double2 *p, const int *sides, int n, const Side *side, const Key *best, int *far)
{
    for (int i = blockIdx.x * GROUP + threadIdx.x; i < n; i += gridDim.x * GROUP) {
        int s = sides[i];
        if ((Key)__double_as_longlong(cross(side[s].a, side[s].b, p[i])) == best[s])
            far[s] = i;
    }
}

static __global__ void __launch_bounds__(CUT) cut(const double2 *p, const int *sides, int n, const Side *side,
                                                  const int *far, double2 *points, int *to, int *alive, State *state)
{
    int i = blockIdx.x * CUT + threadIdx.x, next = 0;
    bool keep = false;
    double2 q = {0, 0};
    if (i < n) {
        q = p[i];
        int s = sides[i];
        if (i != far[s]) {
            double2 corner = p[far[s]];
            bool first = cross(side[s].a, corner, q) > 0;
            keep = first || cross(corner, side[s].b, q) > 0;
            next = 2 * s + (first ? 0 : 1);
            if (keep)
                alive[next] = 1;
        }
    }
    append(keep, q, next, points, to, &state->points);
}

static __global__ void sides_next(const double2 *p, const Side *side, const int *far, int count, int *alive,
                                  int *number, Side *to, double2 *hull, State *state, Key *best, int *far_to)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, s = t / 2;
    if (t >= 2 * count)
        return;
    double2 corner = p[far[s]];
    if ((t & 1) == 0)
        hull[atomicAdd(&state->corners, 1)] = corner;
    if (alive[t]) {
        int id = atomicAdd(&state->sides, 1);
        number[t] = id;
        to[id] = (t & 1) ? Side{corner, side[s].b} : Side{side[s].a, corner};
        best[id] = 0;
        far_to[id] = -1;
        alive[t] = 0;
    }
}

static struct {
    double2 *points, *part[2], *ends, *hull;
    int *sides[2], *far[2], *alive, *number;
    Side *side[2];
    Key *best[2], *keys;
    State *state, *host;
    int corners;
} hull;

static void quickhull_prepare(Job *job)
{
    size_t n = job->in[0].count;
    double2 *points = (double2 *)bench_allocate(n * sizeof *points);
    for (size_t i = 0; i < n; i++)
        points[i] = {((const double *)job->in[0].data)[i], ((const double *)job->in[1].data)[i]};
    hull.points = device_from<double2>(points, n);
    std::free(points);
    for (int k = 0; k < 2; k++) {
        job_result(job, "f8", n + 2);
        hull.part[k] = device_new<double2>(n);
        hull.sides[k] = device_new<int>(n);
        hull.far[k] = device_new<int>(MOST_SIDES);
        hull.side[k] = device_new<Side>(MOST_SIDES);
        hull.best[k] = device_new<Key>(MOST_SIDES);
    }
    hull.alive = device_new<int>(2 * MOST_SIDES);
    hull.number = device_new<int>(2 * MOST_SIDES);
    hull.ends = device_new<double2>(2);
    hull.hull = device_new<double2>(MOST_SIDES);
    hull.keys = device_new<Key>(2);
    hull.state = device_new<State>(1);
    CHECK(cudaMallocHost(&hull.host, sizeof *hull.host));
}

static void state_read()
{
    CHECK(cudaMemcpyAsync(hull.host, hull.state, sizeof(State), cudaMemcpyDeviceToHost));
    CHECK(cudaStreamSynchronize(0));
}

static void quickhull_run(int n)
{
    int resident = (int)groups_resident();
    cudaMemsetAsync(hull.keys, 0, 2 * sizeof(Key));
    extremes<<<resident, GROUP>>>(hull.points, n, hull.keys);
    extremes_find<<<resident, GROUP>>>(hull.points, n, hull.keys, hull.ends);
    begin<<<1, 1>>>(hull.side[0], hull.best[0], hull.far[0], hull.number, hull.ends, hull.hull, hull.state);
    cut_first<<<(n + CUT - 1) / CUT, CUT>>>(hull.points, n, hull.ends, hull.part[0], hull.sides[0], hull.state);
    state_read();
    for (int level = 0, now = 0; hull.host->points > 0 && level < MOST_LEVELS; level++, now ^= 1) {
        int points = hull.host->points, sides = hull.host->sides, other = now ^ 1;
        int blocks = std::min(resident, (int)groups(points));
        const double2 *p = hull.part[now];
        int *side = hull.sides[now];
        distances<<<blocks, GROUP>>>(p, side, points, hull.number, hull.side[now], hull.best[now]);
        farthest<<<blocks, GROUP>>>(p, side, points, hull.side[now], hull.best[now], hull.far[now]);
        cudaMemsetAsync(hull.state, 0, 2 * sizeof(int)); // not the corners
        cut<<<(points + CUT - 1) / CUT, CUT>>>(p, side, points, hull.side[now], hull.far[now], hull.part[other],
                                               hull.sides[other], hull.alive, hull.state);
        sides_next<<<groups(2 * sides), GROUP>>>(p, hull.side[now], hull.far[now], sides, hull.alive, hull.number,
                                                 hull.side[other], hull.hull, hull.state, hull.best[other],
                                                 hull.far[other]);
        state_read();
    }
    hull.corners = hull.host->corners;
}

static void quickhull(Job *job)
{
    timed(job, [&] { quickhull_run((int)job->in[0].count); });
}

static void quickhull_collect(Job *job)
{
    size_t count = (size_t)hull.corners;
    double2 *corners = (double2 *)bench_allocate(count * sizeof *corners);
    CHECK(cudaMemcpy(corners, hull.hull, count * sizeof *corners, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++) {
        ((double *)job->out[0].data)[i] = corners[i].x;
        ((double *)job->out[1].data)[i] = corners[i].y;
    }
    std::free(corners);
    job->out[0].count = job->out[1].count = count;
}

extern const Peer rows_of_hull[] = {{"quickhull", quickhull_prepare, quickhull, quickhull_collect}};
extern const size_t rows_of_hull_count = sizeof rows_of_hull / sizeof *rows_of_hull;
