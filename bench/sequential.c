/* Plain sequential C for the same work: what one core does, without tricks. Times in microseconds, the
 * median of `runs`, one line a workload: NAME TIME. Usage: sequential N FOLDER, on the .npy inputs of run.sh. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 7 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* The data of a one-dimensional .npy file; `count` receives the number of elements of `bytes` each. */
static void *load(const char *folder, const char *name, size_t bytes, size_t *count)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    FILE *f = fopen(path, "rb");
    unsigned char head[10];
    if (!f || fread(head, 1, 10, f) != 10) {
        perror(path);
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    size_t start = 10 + (size_t)head[8] + 256 * (size_t)head[9], size = (size_t)ftell(f) - start;
    fseek(f, (long)start, SEEK_SET);
    char *data = malloc(size + 16);
    if (!data || fread(data, 1, size, f) != size)
        exit(1);
    fclose(f);
    *count = size / bytes;
    return data;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static volatile int64_t sink;

#define MEASURE(name, ...) \
    do { \
        double t[RUNS]; \
        for (int run = 0; run < RUNS; run++) { \
            double start = now(); \
            __VA_ARGS__; \
            t[run] = now() - start; \
        } \
        qsort(t, RUNS, sizeof *t, by_value); \
        printf("%s %.0f\n", name, t[RUNS / 2]); \
    } while (0)

static int32_t max32(int32_t a, int32_t b) { return a > b ? a : b; }

static int32_t mssp(const int32_t *x, size_t n)
{
    int32_t best = 0, here = 0;
    for (size_t i = 0; i < n; i++) {
        here = max32(here + x[i], 0);
        best = max32(best, here);
    }
    return best;
}

static size_t filter(const int32_t *x, int32_t *out, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] > 0)
            out[k++] = x[i];
    return k;
}

static void scan(const int32_t *x, int32_t *out, size_t n)
{
    uint32_t s = 0;
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)(s += (uint32_t)x[i]);
}

static void spmv(const int64_t *len, size_t rows, const int32_t *col, const float *val, const float *x, float *y)
{
    size_t k = 0;
    for (size_t r = 0; r < rows; r++) {
        float s = 0;
        for (int64_t j = 0; j < len[r]; j++, k++)
            s += val[k] * x[col[k]];
        y[r] = s;
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    size_t n, rows, nnz, m;
    int32_t *x = load(argv[1], "ints", 4, &n), *out = calloc(n, 4);
    MEASURE("sum", uint32_t s = 0; for (size_t i = 0; i < n; i++) s += (uint32_t)x[i]; sink = s);
    MEASURE("scan", scan(x, out, n); sink = out[n / 2]);
    MEASURE("mssp", sink = mssp(x, n));
    MEASURE("filter", sink = (int64_t)filter(x, out, n));
    int64_t *len = load(argv[1], "lengths", 8, &rows);
    int32_t *col = load(argv[1], "columns", 4, &nnz);
    float *val = load(argv[1], "values", 4, &nnz), *vec = load(argv[1], "floats", 4, &m), *y = calloc(rows, 4);
    MEASURE("spmv", spmv(len, rows, col, val, vec, y); sink = (int64_t)y[0]);
    fprintf(stderr, "n = %zu, matrix of %zu rows, %zu non-zeros\n", n, rows, nnz);
    return 0;
}
