/* The data of the benchmarks: data FILE KIND NUMBER…
 *
 * Each number is a function of its index and a seed (a 64-bit mix, SplitMix64's finaliser), so that every run, machine
 * and number of threads makes the same file. FILE is a .npy file; of `words` and `trades` a text of so many bytes.
 * `data` alone lists the kinds. */
#include "npy.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t seed, uint64_t i)
{
    uint64_t a = (i + 1) * 0x9e3779b97f4a7c15u + seed * 0xd1342543de82ef95u;
    a = (a ^ (a >> 30)) * 0xbf58476d1ce4e5b9u;
    a = (a ^ (a >> 27)) * 0x94d049bb133111ebu;
    return a ^ (a >> 31);
}

/* In [0, 1). */
static double unit(uint64_t seed, uint64_t i) { return (double)(mix(seed, i) >> 11) * 0x1p-53; }

/* ---- numbers ---- */

static int32_t below(uint64_t seed, uint64_t i, uint64_t limit)
{
    return (int32_t)((mix(seed, i) >> 32) * limit >> 32);
}

static Array ints(const uint64_t *n)
{
    Array a = array_new("i4", n[0]);
    int32_t *x = a.data;
#pragma omp parallel for
    for (size_t i = 0; i < n[0]; i++)
        x[i] = below(1, i, 201) - 100;
    return a;
}

static Array ints_below(const uint64_t *n)
{
    Array a = array_new("i4", n[0]);
    int32_t *x = a.data;
#pragma omp parallel for
    for (size_t i = 0; i < n[0]; i++)
        x[i] = below(2, i, n[1]);
    return a;
}

static Array bits32(const char *type, size_t count)
{
    Array a = array_new(type, count);
    uint32_t *x = a.data;
#pragma omp parallel for
    for (size_t i = 0; i < count; i++)
        x[i] = (uint32_t)mix(3, i);
    return a;
}

static Array random_ints(const uint64_t *n) { return bits32("i4", n[0]); }
static Array random_keys(const uint64_t *n) { return bits32("u4", n[0]); }

static Array random_longs(const uint64_t *n)
{
    Array a = array_new("i8", n[0]);
    uint64_t *x = a.data;
#pragma omp parallel for
    for (size_t i = 0; i < n[0]; i++)
        x[i] = mix(4, i);
    return a;
}

static Array floats(const uint64_t *n) /* rounded down: never 1 */
{
    Array a = array_new("f4", n[0]);
    float *x = a.data;
#pragma omp parallel for
    for (size_t i = 0; i < n[0]; i++)
        x[i] = (float)(mix(16 + n[1], i) >> 40) * 0x1p-24f;
    return a;
}

static Array matrix(const uint64_t *n)
{
    Array a = floats((uint64_t[]){n[0] * n[1], n[2]});
    a.rank = 2;
    a.dims[0] = n[0];
    a.dims[1] = n[1];
    return a;
}

static Array ints_matrix(const uint64_t *n)
{
    Array a = ints_below((uint64_t[]){n[0] * n[1], n[2]});
    a.rank = 2;
    a.dims[0] = n[0];
    a.dims[1] = n[1];
    return a;
}

/* n numbers between low and high, both in hundredths. */
static Array doubles(const uint64_t *n)
{
    Array a = array_new("f8", n[0]);
    double *x = a.data, low = (double)n[2] / 100, width = (double)(n[3] - n[2]) / 100;
#pragma omp parallel for
    for (size_t i = 0; i < n[0]; i++)
        x[i] = low + width * unit(32 + n[1], i);
    return a;
}

static Array flags(const uint64_t *n)
{
    Array a = array_new("b1", n[0]);
    uint8_t *x = a.data;
#pragma omp parallel for
    for (size_t i = 0; i < n[0]; i++)
        x[i] = mix(5, i) % 100 == 0;
    return a;
}

/* Coordinate x (0) or y (1) of points in the unit disc. */
static Array disc(const uint64_t *n)
{
    Array a = array_new("f8", n[0]);
    double *x = a.data;
#pragma omp parallel for
    for (size_t i = 0; i < n[0]; i++) {
        double radius = sqrt(unit(6, i)), angle = 2 * 3.14159265358979323846 * unit(7, i);
        x[i] = radius * (n[1] ? sin(angle) : cos(angle));
    }
    return a;
}

/* A random permutation: a Feistel network on the next even number of bits, applied until it ends below n. */
static Array permutation(const uint64_t *n)
{
    unsigned half = 1;
    while ((uint64_t)1 << 2 * half < n[0])
        half++;
    uint64_t low = ((uint64_t)1 << half) - 1;
    Array a = array_new("i4", n[0]);
    int32_t *x = a.data;
#pragma omp parallel for
    for (size_t i = 0; i < n[0]; i++) {
        uint64_t v = i;
        do
            for (unsigned round = 0; round < 4; round++)
                v = (v & low) << half | ((v >> half ^ mix(8 + round, v & low)) & low);
        while (v >= n[0]);
        x[i] = (int32_t)v;
    }
    return a;
}

/* ---- lengths of rows, which add up to n ---- */

/* Geometric, `mean` on average; `empty` rows in a hundred are empty besides. The last is cut off at the sum. */
static Array geometric(uint64_t total, double mean, uint64_t empty)
{
    size_t rows = 0, room = 1024;
    int64_t *x = malloc(room * 8);
    double scale = 1 / log(1 - 1 / (mean + 1));
    for (uint64_t sum = 0; x && sum < total; rows++) {
        if (rows == room)
            x = realloc(x, (room *= 2) * 8);
        if (!x)
            break;
        uint64_t length = mix(13, rows) % 100 < empty ? 0 : (uint64_t)(log(1 - unit(14, rows)) * scale);
        length = length < total - sum ? length : total - sum;
        x[rows] = (int64_t)length;
        sum += length;
    }
    if (!x)
        bench_fail("memory", "there is not enough");
    Array a = array_new("i8", rows);
    memcpy(a.data, x, rows * 8);
    free(x);
    return a;
}

static Array lengths(const uint64_t *n) { return geometric(n[0], (double)n[1], 0); }
static Array lengths_empty(const uint64_t *n) { return geometric(n[0], (double)n[1], 90); }

static Array lengths_equal(const uint64_t *n)
{
    size_t rows = (n[0] + n[1] - 1) / n[1];
    Array a = array_new("i8", rows);
    for (size_t i = 0; i < rows; i++)
        ((int64_t *)a.data)[i] = (int64_t)(i + 1 < rows ? n[1] : n[0] - i * n[1]);
    return a;
}

/* n[1] rows, Pareto of exponent 1, none longer than about n[2]. */
static Array lengths_power(const uint64_t *n)
{
    size_t rows = n[1];
    double *weight = bench_allocate(rows * 8), sum = 0, cut = 0;
    for (size_t i = 0; i < rows; i++)
        sum += weight[i] = 1 / (1 - unit(15, i)) - 0.99;
    double most = (double)n[2] * sum / (double)n[0];
    for (size_t i = 0; i < rows; i++)
        cut += weight[i] = weight[i] < most ? weight[i] : most;
    Array a = array_new("i8", rows);
    int64_t *x = a.data, left = (int64_t)n[0];
    for (size_t i = 0; i < rows; i++) {
        x[i] = (int64_t)(weight[i] * ((double)n[0] / cut));
        x[i] = x[i] < (int64_t)n[2] ? x[i] : (int64_t)n[2];
        left -= x[i];
    }
    for (size_t i = 0; left > 0; i = i + 1 < rows ? i + 1 : 0, left--)
        x[i]++;
    free(weight);
    return a;
}

/* ---- matrices and graphs ---- */

/* The five-point stencil on a square of n[0] × n[0]: the rows' lengths, and their columns. */
static size_t stencil_row(size_t side, size_t row, int32_t *columns)
{
    size_t i = row / side, j = row % side, k = 0;
    if (i > 0)
        columns[k++] = (int32_t)(row - side);
    if (j > 0)
        columns[k++] = (int32_t)row - 1;
    columns[k++] = (int32_t)row;
    if (j + 1 < side)
        columns[k++] = (int32_t)row + 1;
    if (i + 1 < side)
        columns[k++] = (int32_t)(row + side);
    return k;
}

static Array stencil_lengths(const uint64_t *n)
{
    Array a = array_new("i8", n[0] * n[0]);
    int32_t columns[5];
    for (size_t row = 0; row < a.count; row++)
        ((int64_t *)a.data)[row] = (int64_t)stencil_row(n[0], row, columns);
    return a;
}

static Array stencil_columns(const uint64_t *n)
{
    Array a = array_new("i4", 5 * n[0] * n[0] - 4 * n[0]);
    int32_t columns[5], *out = a.data;
    for (size_t row = 0; row < n[0] * n[0]; row++) {
        size_t k = stencil_row(n[0], row, columns);
        memcpy(out, columns, 4 * k);
        out += k;
    }
    return a;
}

/* n[0] rows of at most n[1] elements to the left of the diagonal: their lengths, and columns in any order. */
static Array triangle_lengths(const uint64_t *n)
{
    Array a = array_new("i8", n[0]);
    for (size_t i = 0; i < n[0]; i++)
        ((int64_t *)a.data)[i] = (int64_t)(i < n[1] ? i : n[1]);
    return a;
}

static Array triangle_columns(const uint64_t *n)
{
    size_t short_rows = n[0] < n[1] ? n[0] : n[1], k = 0;
    Array a = array_new("i4", short_rows * (short_rows - 1) / 2 + (n[0] - short_rows) * n[1]);
    for (size_t i = 0; i < n[0]; i++)
        for (size_t j = 0; j < i && j < n[1]; j++, k++)
            ((int32_t *)a.data)[k] = below(9, k, i);
    return a;
}

/* RMAT with 2^scale nodes, 16 edges a node, each in both directions, sorted by their first end. */
typedef struct {
    size_t nodes, edges;
    int32_t *from, *to; /* of the edges in one direction */
} Edges;

static Edges rmat(uint64_t scale)
{
    Edges e = {.nodes = (size_t)1 << scale, .edges = (size_t)16 << scale};
    e.from = bench_allocate(4 * e.edges);
    e.to = bench_allocate(4 * e.edges);
#pragma omp parallel for
    for (size_t i = 0; i < e.edges; i++) {
        uint32_t a = 0, b = 0;
        for (uint64_t level = 0; level < scale; level++) {
            double p = unit(64 + level, i);
            a = 2 * a + (p > 0.76);
            b = 2 * b + ((p > 0.57 && p <= 0.76) || p > 0.95);
        }
        e.from[i] = (int32_t)a;
        e.to[i] = (int32_t)b;
    }
    return e;
}

static Array rmat_lengths(const uint64_t *n)
{
    Edges e = rmat(n[0]);
    Array a = array_new("i8", e.nodes);
    int64_t *x = a.data;
    memset(x, 0, 8 * e.nodes);
    for (size_t i = 0; i < e.edges; i++) {
        x[e.from[i]]++;
        x[e.to[i]]++;
    }
    return a;
}

static Array rmat_targets(const uint64_t *n)
{
    Edges e = rmat(n[0]);
    Array a = array_new("i4", 2 * e.edges);
    int32_t *out = a.data;
    size_t *place = bench_allocate(8 * (e.nodes + 1));
    memset(place, 0, 8 * (e.nodes + 1));
    for (size_t i = 0; i < e.edges; i++) {
        place[e.from[i] + 1]++;
        place[e.to[i] + 1]++;
    }
    for (size_t v = 0; v < e.nodes; v++)
        place[v + 1] += place[v];
    for (size_t i = 0; i < e.edges; i++)
        out[place[e.from[i]]++] = e.to[i];
    for (size_t i = 0; i < e.edges; i++)
        out[place[e.to[i]]++] = e.from[i];
    return a;
}

/* ---- texts ---- */

/* A word of 1 to `most` letters, some of which are more frequent. */
static size_t spell(char *word, uint64_t seed, uint64_t number, const char *alphabet, size_t most)
{
    size_t length = 1 + mix(seed, number) % most, letters = strlen(alphabet);
    for (size_t i = 0; i < length; i++) {
        double u = unit(seed + 1, 16 * number + i);
        word[i] = alphabet[(size_t)(u * u * (double)letters)];
    }
    return length;
}

/* Lines of twelve words, the k-th most frequent about 1 / k as often as the first. */
static size_t words_line(char *line, uint64_t number)
{
    size_t used = 0;
    for (uint64_t i = 12 * number; i < 12 * number + 12; i++) {
        uint64_t word = (uint64_t)exp(unit(100, i) * log(20000));
        used += spell(line + used, 101, word, "etaoinshrdlucmfwypvbgkjqxz", 10);
        line[used++] = ' ';
    }
    memcpy(line + used - 1, ".\n", 2);
    return used + 1;
}

static size_t trades_line(char *line, uint64_t number)
{
    char symbol[8] = "";
    if (number == 0)
        return (size_t)sprintf(line, "time,symbol,price,quantity\n");
    spell(symbol, 103, mix(105, number) % 500, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 4);
    return (size_t)sprintf(line, "%llu,%s,%.2f,%d\n", 1700000000ull + (unsigned long long)number, symbol,
                           1 + 499 * unit(106, number), 1 + below(107, number, 1000));
}

static void text_write(const char *path, size_t line_of(char *, uint64_t), uint64_t bytes)
{
    char line[256];
    FILE *f = fopen(path, "wb");
    int failed = !f;
    for (uint64_t sum = 0, number = 0; !failed && sum < bytes; number++) {
        size_t length = line_of(line, number);
        failed = fwrite(line, 1, length, f) != length;
        sum += length;
    }
    if (failed || fclose(f) != 0)
        bench_fail(path, "it cannot be written");
}

/* ---- the command ---- */

static const struct {
    const char *name;
    Array (*make)(const uint64_t *);
    size_t (*line)(char *, uint64_t);
    int numbers;
    const char *help;
} kinds[] = {
    {"ints", ints, NULL, 1, "COUNT: i32 from -100 to 100"},
    {"below", ints_below, NULL, 2, "COUNT LIMIT: i32 from 0 to LIMIT - 1"},
    {"random-ints", random_ints, NULL, 1, "COUNT: any i32"},
    {"random-keys", random_keys, NULL, 1, "COUNT: any u32"},
    {"random-longs", random_longs, NULL, 1, "COUNT: any i64"},
    {"floats", floats, NULL, 2, "COUNT SEED: f32 from 0 to 1"},
    {"matrix", matrix, NULL, 3, "ROWS COLUMNS SEED: f32 from 0 to 1"},
    {"below-matrix", ints_matrix, NULL, 3, "ROWS COLUMNS LIMIT: i32 from 0 to LIMIT - 1"},
    {"doubles", doubles, NULL, 4, "COUNT SEED LOW HIGH: f64 from LOW to HIGH hundredths"},
    {"flags", flags, NULL, 1, "COUNT: bool, one in a hundred true"},
    {"disc", disc, NULL, 2, "COUNT AXIS: f64, x (0) or y (1) of points in the unit disc"},
    {"permutation", permutation, NULL, 1, "COUNT: i32, each number below COUNT once"},
    {"lengths", lengths, NULL, 2, "TOTAL MEAN: i64, geometric"},
    {"lengths-equal", lengths_equal, NULL, 2, "TOTAL LENGTH: i64, the last the rest"},
    {"lengths-empty", lengths_empty, NULL, 2, "TOTAL MEAN: i64, geometric or, nine in ten, 0"},
    {"lengths-power", lengths_power, NULL, 3, "TOTAL ROWS LONGEST: i64, a power law"},
    {"stencil-lengths", stencil_lengths, NULL, 1, "SIDE: i64, rows of the five-point matrix of a square"},
    {"stencil-columns", stencil_columns, NULL, 1, "SIDE: i32, its columns"},
    {"triangle-lengths", triangle_lengths, NULL, 2, "ROWS MOST: i64, rows of a sparse triangular matrix"},
    {"triangle-columns", triangle_columns, NULL, 2, "ROWS MOST: i32, their columns"},
    {"rmat-lengths", rmat_lengths, NULL, 1, "SCALE: i64, neighbours of 2^SCALE nodes of a power-law graph"},
    {"rmat-targets", rmat_targets, NULL, 1, "SCALE: i32, the neighbours"},
    {"words", NULL, words_line, 1, "BYTES: a text, for examples/wordcount"},
    {"trades", NULL, trades_line, 1, "BYTES: a table in CSV, for examples/trades"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

int main(int argc, char **argv)
{
    uint64_t numbers[4] = {0};
    for (int k = 0; argc > 2 && k < KINDS; k++) {
        if (strcmp(argv[2], kinds[k].name) != 0 || argc != 3 + kinds[k].numbers)
            continue;
        for (int i = 3; i < argc; i++)
            numbers[i - 3] = strtoull(argv[i], NULL, 10);
        if (kinds[k].line) {
            text_write(argv[1], kinds[k].line, numbers[0]);
        } else {
            Array array = kinds[k].make(numbers);
            array_write(argv[1], &array);
        }
        return 0;
    }
    fprintf(stderr, "usage: data FILE KIND NUMBER…\n");
    for (int k = 0; k < KINDS; k++)
        fprintf(stderr, "  %-16s %s\n", kinds[k].name, kinds[k].help);
    return 2;
}
