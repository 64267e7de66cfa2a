/* Sparse matrices, graphs, and the convex hull. */
#include "openmp.h"

/* ---- sparse matrix times vector ---- */

/* Arguments: lengths, columns, values, x. */
static void spmv_prepare(Job *job)
{
    job_result(job, job->in[2].type, job->in[0].count);
    job->scratch[0] = bench_allocate(sizeof(size_t) * (blocks_of(job->in[0].count) + 1));
}

#define SPMV(name, type)                                                                                               \
    static void name(Job *job)                                                                                         \
    {                                                                                                                  \
        const int64_t *lengths = job->in[0].data;                                                                      \
        const int32_t *columns = job->in[1].data;                                                                      \
        const type *values = job->in[2].data, *x = job->in[3].data;                                                    \
        type *out = job->out[0].data;                                                                                  \
        size_t rows = job->in[0].count, *offsets = job->scratch[0];                                                    \
        blocks_offsets(lengths, rows, offsets);                                                                        \
        _Pragma("omp parallel for schedule(dynamic)") for (size_t b = 0; b < blocks_of(rows); b++)                     \
        {                                                                                                              \
            size_t i = offsets[b];                                                                                     \
            for (size_t r = b * ROWS_BLOCK; r < rows && r < (b + 1) * ROWS_BLOCK; r++) {                               \
                type a = 0;                                                                                            \
                size_t end = i + (size_t)lengths[r];                                                                   \
                _Pragma("omp simd reduction(+ : a)") for (size_t k = i; k < end; k++) a += values[k] * x[columns[k]];  \
                out[r] = a;                                                                                            \
                i = end;                                                                                               \
            }                                                                                                          \
        }                                                                                                              \
    }
SPMV(spmv, float)
SPMV(spmv_f64, double)

/* ---- PageRank, ten rounds; arguments: lengths of the rows, their sources ---- */

static void pagerank_prepare(Job *job)
{
    size_t n = job->in[0].count;
    job_result(job, "f4", n);
    job->scratch[0] = bench_allocate(sizeof(size_t) * (blocks_of(n) + 1));
    job->scratch[1] = bench_allocate(4 * n);
    job->scratch[2] = bench_allocate(4 * n * (size_t)omp_get_max_threads());
}

/* How often each node occurs, counted by each thread for itself first. */
static void degrees(const int32_t *sources, size_t edges, size_t nodes, int32_t *all)
{
#pragma omp parallel
    {
        int threads = omp_get_num_threads();
        int32_t *own = all + nodes * (size_t)omp_get_thread_num();
        Share s = share_of(edges, (size_t)omp_get_thread_num(), (size_t)threads);
        memset(own, 0, nodes * sizeof *own);
        for (size_t i = s.from; i < s.to; i++)
            own[sources[i]]++;
#pragma omp barrier
#pragma omp for
        for (size_t v = 0; v < nodes; v++)
            for (int t = 1; t < threads; t++)
                all[v] += all[nodes * (size_t)t + v];
    }
}

static void pagerank_round(Job *job, const int32_t *degree)
{
    const int64_t *lengths = job->in[0].data;
    const int32_t *sources = job->in[1].data;
    size_t n = job->in[0].count, *offsets = job->scratch[0];
    float *rank = job->out[0].data, *share = job->scratch[1];
#pragma omp parallel for
    for (size_t v = 0; v < n; v++)
        share[v] = degree[v] == 0 ? 0 : rank[v] / (float)degree[v];
#pragma omp parallel for schedule(dynamic)
    for (size_t b = 0; b < blocks_of(n); b++) {
        size_t i = offsets[b];
        for (size_t r = b * ROWS_BLOCK; r < n && r < (b + 1) * ROWS_BLOCK; r++) {
            float a = 0;
            size_t end = i + (size_t)lengths[r];
#pragma omp simd reduction(+ : a)
            for (size_t k = i; k < end; k++)
                a += share[sources[k]];
            rank[r] = 0.15f / (float)n + 0.85f * a;
            i = end;
        }
    }
}

static void pagerank(Job *job)
{
    size_t n = job->in[0].count;
    int32_t *degree = job->scratch[2];
    float *rank = job->out[0].data;
    degrees(job->in[1].data, job->in[1].count, n, degree);
    blocks_offsets(job->in[0].data, n, job->scratch[0]);
    for (size_t v = 0; v < n; v++)
        rank[v] = 1.0f / (float)n;
    for (int round = 0; round < 10; round++)
        pagerank_round(job, degree);
}

/* ---- breadth-first search from node 0, level by level; arguments: lengths, neighbours ---- */

static void bfs_prepare(Job *job)
{
    size_t n = job->in[0].count;
    job_result(job, "i4", n);
    job->scratch[0] = bench_allocate(8 * (n + 1));
    job->scratch[1] = bench_allocate(4 * n);
    job->scratch[2] = bench_allocate(4 * n);
}

/* The nodes of `frontier` give their new neighbours this level, and `next` has them; their number. */
static size_t bfs_level(const size_t *offsets, const int32_t *neighbours, int32_t *levels, const int32_t *frontier,
                        size_t count, int32_t *next, int32_t level)
{
    size_t found = 0;
#pragma omp parallel for schedule(dynamic, 64)
    for (size_t f = 0; f < count; f++)
        for (size_t i = offsets[frontier[f]]; i < offsets[frontier[f] + 1]; i++) {
            int32_t w = neighbours[i], unseen = -1;
            if (__atomic_load_n(&levels[w], __ATOMIC_RELAXED) >= 0 ||
                !__atomic_compare_exchange_n(&levels[w], &unseen, level, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                continue;
            next[__atomic_fetch_add(&found, 1, __ATOMIC_RELAXED)] = w;
        }
    return found;
}

static void bfs(Job *job)
{
    const int64_t *lengths = job->in[0].data;
    int32_t *levels = job->out[0].data, *frontier = job->scratch[1], *next = job->scratch[2];
    size_t n = job->in[0].count, *offsets = job->scratch[0], count = 1;
    offsets[0] = 0;
    for (size_t v = 0; v < n; v++) {
        offsets[v + 1] = offsets[v] + (size_t)lengths[v];
        levels[v] = -1;
    }
    levels[0] = 0;
    frontier[0] = 0;
    for (int32_t level = 1; count > 0; level++) {
        count = bfs_level(offsets, job->in[1].data, levels, frontier, count, next, level);
        int32_t *t = frontier;
        frontier = next;
        next = t;
    }
}

/* ---- quickhull: in place, a task for each large part; arguments: x, y ---- */

typedef struct {
    double x, y;
} Point;

/* The hull of a part: its points stand where the part stood, from its beginning on. */
typedef struct {
    Point *points;
    size_t count;
} Hull;

enum { TASK_POINTS = 20000 };

static inline double cross(Point p, Point a, Point b) { return (a.x - p.x) * (b.y - p.y) - (a.y - p.y) * (b.x - p.x); }

static inline void exchange(Point *v, size_t i, size_t j)
{
    Point t = v[i];
    v[i] = v[j];
    v[j] = t;
}

/* Brings what is left of the line from a to b to the front; how many. */
static size_t split(Point *v, size_t n, Point a, Point b)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (cross(v[i], a, b) > 0)
            exchange(v, i, k++);
    return k;
}

/* The corners strictly left of the line from a to b, in order; all n > 0 points are left of it. */
static void hull_of(Point *v, size_t n, Point a, Point b, Hull *hull)
{
    size_t far = 0;
    for (size_t i = 1; i < n; i++)
        if (cross(v[i], a, b) > cross(v[far], a, b))
            far = i;
    Point corner = v[far];
    exchange(v, far, n - 1);
    size_t before = split(v, n - 1, a, corner), after = split(v + before, n - 1 - before, corner, b);
    Hull left = {v, 0}, right = {v + before, 0};
#pragma omp task shared(left) if (before > TASK_POINTS)
    if (before > 0)
        hull_of(v, before, a, corner, &left);
    if (after > 0)
        hull_of(v + before, after, corner, b, &right);
#pragma omp taskwait
    memmove(v + left.count + 1, right.points,
            right.count * sizeof *v); /* not onto its own points: before > left.count */
    v[left.count] = corner;
    *hull = (Hull){v, left.count + 1 + right.count};
}

static void quickhull_prepare(Job *job)
{
    prepare_like_first(job);
    prepare_like_first(job);
    job->scratch[0] = bench_allocate(job->in[0].count * sizeof(Point));
}

static void quickhull(Job *job)
{
    const double *x = job->in[0].data, *y = job->in[1].data;
    Point *v = job->scratch[0];
    size_t n = job->in[0].count, low = 0, high = 0;
#pragma omp parallel for
    for (size_t i = 0; i < n; i++)
        v[i] = (Point){x[i], y[i]};
    for (size_t i = 1; i < n; i++) {
        low = x[i] < x[low] ? i : low;
        high = x[i] > x[high] ? i : high;
    }
    Point a = v[low], b = v[high];
    size_t above = split(v, n, a, b), below = split(v + above, n - above, b, a);
    Hull upper = {v, 0}, lower = {v + above, 0};
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(upper)
        if (above > 0)
            hull_of(v, above, a, b, &upper);
        if (below > 0)
            hull_of(v + above, below, b, a, &lower);
#pragma omp taskwait
    }
    double *out_x = job->out[0].data, *out_y = job->out[1].data;
    const Hull parts[] = {{&a, 1}, upper, {&b, 1}, lower};
    size_t k = 0;
    for (int p = 0; p < 4; p++)
        for (size_t i = 0; i < parts[p].count; i++, k++) {
            out_x[k] = parts[p].points[i].x;
            out_y[k] = parts[p].points[i].y;
        }
    job->out[0].count = job->out[1].count = k;
}

const Peer rows_of_graphs[] = {
    {"spmv", spmv_prepare, spmv, NULL},
    {"spmv_f64", spmv_prepare, spmv_f64, NULL},
    {"pagerank", pagerank_prepare, pagerank, NULL},
    {"bfs", bfs_prepare, bfs, NULL},
    {"quickhull", quickhull_prepare, quickhull, NULL},
};
const size_t rows_of_graphs_count = sizeof rows_of_graphs / sizeof *rows_of_graphs;
