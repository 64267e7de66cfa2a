/* Are two results the same? compare TOLERANCE A B…
 *
 * A is a .dpv file (docs/values.md), what dpc's program wrote; B… what a peer wrote: .npy files, an array each, or one
 * file in Futhark's binary format. Sequences are compared element by element without regard to how they are nested.
 * TOLERANCE is 0      equal to the bit 1e-4   |a - b| at most that share of |b| and the mean of all |b| 1e-3%  so large
 * a share of the elements may differ set    the elements of all arrays together are tuples (points, pairs) in any order
 * Prints what differs, and exits with 1 if something does. */
#include "npy.h"
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARRAYS = 16 };

typedef struct {
    size_t count;
    Array arrays[MAX_ARRAYS];
} Result;

static unsigned char *file_read(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        bench_fail(path, strerror(errno));
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    unsigned char *bytes = bench_allocate(*size);
    if (fread(bytes, 1, *size, f) != *size)
        bench_fail(path, "it cannot be read");
    fclose(f);
    return bytes;
}

static Array *result_add(Result *result, const char *path, const char *type, size_t count, void *data)
{
    if (result->count == MAX_ARRAYS)
        bench_fail(path, "too many arrays");
    Array *array = &result->arrays[result->count++];
    *array = (Array){.rank = 1, .dims = {count, 0}, .count = count, .data = data};
    memcpy(array->type, type, 2);
    return array;
}

/* ---- .dpv ---- */

static const char *dpv_scalar(const char **at)
{
    static const struct {
        const char *name, *type;
    } names[] = {{"i8", "i1"},  {"i16", "i2"}, {"i32", "i4"}, {"i64", "i8"}, {"u8", "u1"},  {"u16", "u2"},
                 {"u32", "u4"}, {"u64", "u8"}, {"f32", "f4"}, {"f64", "f8"}, {"bool", "b1"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i].name);
        if (strncmp(*at, names[i].name, length) == 0) {
            *at += length;
            return names[i].type;
        }
    }
    return NULL;
}

/* A leaf of `rank` levels at `at`; the place behind it. */
static unsigned char *dpv_leaf(Result *result, const char *path, unsigned char *at, const unsigned char *end,
                               size_t rank, const char *type)
{
    uint64_t sequences = 1;
    for (size_t level = 0; level < rank; level++) {
        uint64_t sum = 0, length;
        if ((uint64_t)(end - at) / 8 < sequences)
            bench_fail(path, "cut off");
        for (uint64_t i = 0; i < sequences; i++, at += 8) {
            memcpy(&length, at, 8);
            sum += length;
        }
        sequences = sum;
    }
    Array *array = result_add(result, path, type, sequences, at);
    size_t bytes = sequences * array_element_bytes(array);
    if ((uint64_t)(end - at) < bytes)
        bench_fail(path, "cut off");
    return at + (bytes + 7) / 8 * 8;
}

static Result dpv_read(const char *path)
{
    Result result = {0};
    size_t size, rank = 0;
    unsigned char *bytes = file_read(path, &size);
    if (size < 20 || memcmp(bytes,
                            "\x89"
                            "DPV\r\n\x1a\n",
                            8) != 0)
        bench_fail(path, "not a .dpv file");
    uint32_t length;
    memcpy(&length, bytes + 12, 4);
    if (length > size - 20)
        bench_fail(path, "cut off");
    char *type = bench_allocate(length + 1);
    memcpy(type, bytes + 16, length);
    type[length] = 0;
    unsigned char *at = bytes + (16 + length + 7) / 8 * 8;
    for (const char *t = type; *t;) {
        rank += *t == '[';
        rank -= *t == ']';
        const char *scalar = strchr("[](), ", *t) ? NULL : dpv_scalar(&t);
        if (scalar)
            at = dpv_leaf(&result, path, at, bytes + size - 4, rank, scalar);
        else if (strchr("[](), ", *t))
            t++;
        else
            bench_fail(path, "a type with names");
    }
    free(type);
    return result;
}

/* ---- Futhark's ---- */

/* b, version 2, rank, a type of four letters, the dimensions, the elements; one value after the other */
static Result futhark_read(const char *path)
{
    Result result = {0};
    size_t size;
    unsigned char *bytes = file_read(path, &size), *at = bytes, *end = bytes + size;
    while (end - at >= 7 && *at == 'b') {
        char name[5] = {0};
        memcpy(name, at + 3, 4);
        const char *text = name + strspn(name, " "), *type = dpv_scalar(&text);
        size_t rank = at[2], count = 1;
        at += 7;
        for (size_t i = 0; i < rank && end - at >= 8; i++, at += 8) {
            uint64_t dim;
            memcpy(&dim, at, 8);
            count *= dim;
        }
        if (!type)
            bench_fail(path, "a value of another type");
        Array *array = result_add(&result, path, type, count, at);
        if ((size_t)(end - at) / array_element_bytes(array) < count)
            bench_fail(path, "cut off");
        at += count * array_element_bytes(array);
        at += at < end && *at == '\n';
    }
    return result;
}

/* ---- comparing ---- */

static double element(const Array *a, size_t i)
{
    const unsigned char *at = (const unsigned char *)a->data + i * array_element_bytes(a);
    float f;
    double d;
    int32_t s;
    uint32_t u;
    int64_t l;
    switch (a->type[0] << 8 | a->type[1]) {
    case 'f' << 8 | '4': memcpy(&f, at, 4); return (double)f;
    case 'f' << 8 | '8': memcpy(&d, at, 8); return d;
    case 'i' << 8 | '4': memcpy(&s, at, 4); return (double)s;
    case 'u' << 8 | '4': memcpy(&u, at, 4); return (double)u;
    case 'i' << 8 | '8': memcpy(&l, at, 8); return (double)l;
    default: return *at;
    }
}

static int differ(const Array *a, const Array *b, double tolerance, double share)
{
    size_t size = array_element_bytes(a), wrong = 0, first = 0;
    double sum = 0;
    if (strcmp(a->type, b->type) != 0 || a->count != b->count) {
        printf("%zu elements of type %s, but %zu of %s\n", a->count, a->type, b->count, b->type);
        return 1;
    }
    if (memcmp(a->data, b->data, a->count * size) == 0)
        return 0;
    for (size_t i = 0; tolerance > 0 && i < b->count; i++)
        sum += fabs(element(b, i));
    double mean = b->count ? sum / (double)b->count : 0;
    for (size_t i = 0; i < a->count; i++) {
        double x = element(a, i), y = element(b, i);
        int same = tolerance > 0 ? fabs(x - y) <= tolerance * (fabs(y) + mean) : x == y;
        if (!same && wrong++ == 0)
            first = i;
    }
    if ((double)wrong <= share * (double)a->count)
        return 0;
    printf("%zu of %zu elements differ, first number %zu: %.9g and %.9g\n", wrong, a->count, first, element(a, first),
           element(b, first));
    return 1;
}

static size_t tuple_size; /* qsort has no context */

static int tuples_order(const void *a, const void *b) { return memcmp(a, b, tuple_size); }

/* All arrays of a result as one of tuples, sorted by their bytes. */
static unsigned char *tuples_sorted(const Result *r)
{
    unsigned char *all = bench_allocate(r->arrays[0].count * tuple_size);
    for (size_t k = 0, offset = 0; k < r->count; k++) {
        size_t size = array_element_bytes(&r->arrays[k]);
        for (size_t i = 0; i < r->arrays[0].count; i++)
            memcpy(all + i * tuple_size + offset, (unsigned char *)r->arrays[k].data + i * size, size);
        offset += size;
    }
    qsort(all, r->arrays[0].count, tuple_size, tuples_order);
    return all;
}

static int sets_differ(const Result *a, const Result *b)
{
    tuple_size = 0;
    for (size_t k = 0; k < a->count; k++) {
        tuple_size += array_element_bytes(&a->arrays[k]);
        if (a->arrays[k].count != b->arrays[k].count || a->arrays[k].count != a->arrays[0].count ||
            strcmp(a->arrays[k].type, b->arrays[k].type) != 0) {
            printf("%zu tuples, but %zu\n", a->arrays[k].count, b->arrays[k].count);
            return 1;
        }
    }
    unsigned char *x = tuples_sorted(a), *y = tuples_sorted(b);
    int wrong = memcmp(x, y, a->arrays[0].count * tuple_size) != 0;
    if (wrong)
        printf("the sets differ\n");
    free(x);
    free(y);
    return wrong;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: compare TOLERANCE A.dpv B…\n");
        return 2;
    }
    Result a = dpv_read(argv[2]), b = {0};
    if (strstr(argv[3], ".npy"))
        for (int i = 3; i < argc; i++) {
            Array array = array_read(argv[i]);
            result_add(&b, argv[i], array.type, array.count, array.data);
        }
    else
        b = futhark_read(argv[3]);
    if (a.count != b.count || a.count == 0) {
        printf("%zu arrays, but %zu\n", a.count, b.count);
        return 1;
    }
    if (strcmp(argv[1], "set") == 0)
        return sets_differ(&a, &b);
    double number = atof(argv[1]);
    int share = strchr(argv[1], '%') != NULL, wrong = 0;
    for (size_t k = 0; k < a.count; k++)
        wrong |= differ(&a.arrays[k], &b.arrays[k], share ? 0 : number, share ? number / 100 : 0);
    return wrong;
}
