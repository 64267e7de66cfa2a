/* The programs nobody tuned for, as C: trees, short rows, graphs, texts. */
#include "openmp.h"
#include <math.h>
#include <stdlib.h>

/* ---- Barnes–Hut; arguments: x, y, masses of bodies in the unit square ---- */

typedef struct {
    double x, y, mass, side;
    size_t size; /* of the subtree */
} Node;

typedef struct {
    double x, y, mass;
} Body;

typedef struct {
    Node *nodes;
    size_t count, room;
    Body *bodies, *other;
} Tree;

static void barneshut_prepare(Job *job)
{
    prepare_like_first(job);
    prepare_like_first(job);
    Tree *tree = job->scratch[0] = bench_allocate(sizeof *tree);
    tree->room = 16 * job->in[0].count + 16;
    tree->nodes = bench_allocate(sizeof(Node) * tree->room);
    tree->bodies = bench_allocate(sizeof(Body) * job->in[0].count);
    tree->other = bench_allocate(sizeof(Body) * job->in[0].count);
}

/* The bodies from `from` to `to` by their quadrants, in order; the quadrants' ends. */
static void quadrants(Tree *t, size_t from, size_t to, double x, double y, size_t ends[4])
{
    size_t at = from;
    for (int q = 0; q < 4; q++) {
        for (size_t i = from; i < to; i++)
            if ((t->bodies[i].y >= y) * 2 + (t->bodies[i].x >= x) == q)
                t->other[at++] = t->bodies[i];
        ends[q] = at;
    }
    memcpy(t->bodies + from, t->other + from, sizeof(Body) * (to - from));
}

static void build(Tree *t, size_t from, size_t to, double x, double y, double side)
{
    if (t->count == t->room)
        bench_fail("Barnes-Hut", "too many nodes");
    size_t me = t->count++, ends[4];
    Node node = {.side = side};
    for (size_t i = from; i < to; i++) {
        node.mass += t->bodies[i].mass;
        node.x += t->bodies[i].x * t->bodies[i].mass;
        node.y += t->bodies[i].y * t->bodies[i].mass;
    }
    node.x /= node.mass;
    node.y /= node.mass;
    if (to - from > 1 && side > 1.0 / 1024) {
        double h = side / 2;
        quadrants(t, from, to, x + h, y + h, ends);
        for (size_t q = 0; q < 4; q++) {
            if (ends[q] > from)
                build(t, from, ends[q], q & 1 ? x + h : x, q & 2 ? y + h : y, h);
            from = ends[q];
        }
    }
    node.size = t->count - me;
    t->nodes[me] = node;
}

static void barneshut(Job *job)
{
    Tree *t = job->scratch[0];
    const double *xs = job->in[0].data, *ys = job->in[1].data, *masses = job->in[2].data;
    double *fx = job->out[0].data, *fy = job->out[1].data;
    size_t n = job->in[0].count;
    for (size_t i = 0; i < n; i++)
        t->bodies[i] = (Body){xs[i], ys[i], masses[i]};
    t->count = 0;
    build(t, 0, n, 0, 0, 1);
#pragma omp parallel for schedule(dynamic, 64)
    for (size_t i = 0; i < n; i++) {
        double a = 0, b = 0;
        for (size_t k = 0; k < t->count;) {
            const Node *node = t->nodes + k;
            double dx = node->x - xs[i], dy = node->y - ys[i], r2 = dx * dx + dy * dy;
            if (node->size == 1 || node->side * node->side < 0.25 * r2) {
                double w = node->mass / ((r2 + 0.01) * sqrt(r2 + 0.01));
                a += dx * w;
                b += dy * w;
                k += node->size;
            } else {
                k++;
            }
        }
        fx[i] = a;
        fy[i] = b;
    }
}

/* ---- many small sorts; arguments: lengths, keys, marks; stable ---- */

enum { SHORT_MOST = 4096 };

static void smallsorts(Job *job)
{
    const int64_t *lengths = job->in[0].data;
    const float *keys = job->in[1].data;
    const int32_t *marks = job->in[2].data;
    int32_t *out = job->out[0].data;
    size_t rows = job->in[0].count, *offsets = job->scratch[0];
    blocks_offsets(lengths, rows, offsets);
#pragma omp parallel for schedule(dynamic)
    for (size_t b = 0; b < blocks_of(rows); b++) {
        float sorted[SHORT_MOST];
        size_t from = offsets[b];
        for (size_t r = b * ROWS_BLOCK; r < rows && r < (b + 1) * ROWS_BLOCK; r++) {
            for (size_t i = 0; i < (size_t)lengths[r]; i++) {
                float key = keys[from + i];
                size_t k = i;
                for (; k > 0 && sorted[k - 1] > key; k--) {
                    sorted[k] = sorted[k - 1];
                    out[from + k] = out[from + k - 1];
                }
                sorted[k] = key;
                out[from + k] = marks[from + i];
            }
            from += (size_t)lengths[r];
        }
    }
}

static void smallsorts_prepare(Job *job)
{
    const int64_t *lengths = job->in[0].data;
    for (size_t r = 0; r < job->in[0].count; r++)
        if (lengths[r] > SHORT_MOST)
            bench_fail("small sorts", "a row is too long");
    prepare_rows_elements(job);
    job->out[0].type[0] = 'i';
}

/* ---- triangles; arguments: lengths, neighbours in any order, perhaps several times ---- */

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void triangles_prepare(Job *job)
{
    job_result(job, "i8", 1);
    job->scratch[0] = bench_allocate(sizeof(size_t) * (job->in[0].count + 1));
    job->scratch[1] = bench_allocate(sizeof(size_t) * job->in[0].count);
    job->scratch[2] = bench_allocate(4 * job->in[1].count);
}

/* Each row sorted and without duplicates: from start[u] to end[u]. */
static void rows_unique(Job *job, const size_t *start, size_t *end)
{
    int32_t *to = job->scratch[2];
    memcpy(to, job->in[1].data, 4 * job->in[1].count);
#pragma omp parallel for schedule(dynamic, 64)
    for (size_t u = 0; u < job->in[0].count; u++) {
        size_t at = start[u];
        qsort(to + at, start[u + 1] - at, 4, by_number);
        for (size_t i = at; i < start[u + 1]; i++)
            if (at == start[u] || to[at - 1] != to[i])
                to[at++] = to[i];
        end[u] = at;
    }
}

/* How many numbers behind v two rows share. */
static int64_t common(const int32_t *a, const int32_t *a_end, const int32_t *b, const int32_t *b_end, int32_t v)
{
    int64_t count = 0;
    while (b < b_end && *b <= v)
        b++;
    while (a < a_end && b < b_end) {
        count += *a == *b;
        int32_t x = *a, y = *b;
        a += x <= y;
        b += y <= x;
    }
    return count;
}

static void triangles(Job *job)
{
    const int64_t *lengths = job->in[0].data;
    size_t nodes = job->in[0].count, *start = job->scratch[0], *end = job->scratch[1];
    const int32_t *to = job->scratch[2];
    int64_t count = 0;
    start[0] = 0;
    for (size_t u = 0; u < nodes; u++)
        start[u + 1] = start[u] + (size_t)lengths[u];
    rows_unique(job, start, end);
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : count)
    for (size_t u = 0; u < nodes; u++)
        for (size_t i = start[u]; i < end[u]; i++)
            if ((size_t)to[i] > u) {
                size_t v = (size_t)to[i];
                count += common(to + i + 1, to + end[u], to + start[v], to + end[v], to[i]);
            }
    *(int64_t *)job->out[0].data = count;
}

/* ---- suffix array by prefix doubling; argument: letters ---- */

enum { RANK_BITS = 21 };

static void suffixarray_prepare(Job *job)
{
    size_t n = job->in[0].count;
    if (n >= (size_t)1 << (RANK_BITS - 1))
        bench_fail("suffix array", "the text is too long");
    job_result(job, "i8", n);
    for (int k = 0; k < 3; k++)
        job->scratch[k] = bench_allocate(8 * n);
}

static void suffixarray(Job *job)
{
    size_t n = job->in[0].count, mask = ((size_t)1 << RANK_BITS) - 1, distinct = 0;
    int64_t *order = job->out[0].data, *rank = job->scratch[2];
    for (size_t i = 0; i < n; i++)
        rank[i] = ((const int32_t *)job->in[0].data)[i] + 1;
    for (size_t k = 1; distinct < n; k *= 2) {
        uint64_t *keys = job->scratch[0];
        for (size_t i = 0; i < n; i++)
            keys[i] = (uint64_t)rank[i] << 43 | (uint64_t)(i + k < n ? rank[i + k] : 0) << 22 | i;
        keys = sort_pairs(keys, job->scratch[1], n, 22, 64);
        distinct = 0;
        for (size_t p = 0; p < n; p++) {
            distinct += p == 0 || keys[p] >> 22 != keys[p - 1] >> 22;
            order[p] = (int64_t)(keys[p] & mask);
            rank[order[p]] = (int64_t)distinct;
        }
    }
}

const Peer rows_of_irregular[] = {
    {"barneshut", barneshut_prepare, barneshut, NULL},
    {"smallsorts", smallsorts_prepare, smallsorts, NULL},
    {"triangles", triangles_prepare, triangles, NULL},
    {"suffixarray", suffixarray_prepare, suffixarray, NULL},
};
const size_t rows_of_irregular_count = sizeof rows_of_irregular / sizeof *rows_of_irregular;
