#include "npy.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(2);
}

void *bench_allocate(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (!memory)
        bench_fail("memory", "there is not enough");
    return memory;
}

size_t array_element_bytes(const Array *array) { return (size_t)(array->type[1] - '0'); }

Array array_new(const char *type, size_t count)
{
    Array array = {.rank = 1, .dims = {count, 0}, .count = count};
    memcpy(array.type, type, 2);
    array.data = bench_allocate(count * array_element_bytes(&array));
    return array;
}

/* The head, a Python dictionary: {'descr': '<i4', 'fortran_order': False, 'shape': (3, 4), } */
static Array head_parse(const char *path, const char *head)
{
    Array array = {.rank = 0, .count = 1};
    const char *descr = strstr(head, "'descr'"), *shape = strstr(head, "'shape'");
    const char *type = descr ? strchr(descr + 7, '\'') : NULL;
    const char *at = shape ? strchr(shape, '(') : NULL;
    if (!type || !at || strlen(type) < 4 || strstr(head, "'fortran_order': True") || type[1] == '>')
        bench_fail(path, "a .npy file of another kind");
    memcpy(array.type, type + 2, 2);
    for (at++; *at && *at != ')';) {
        char *end;
        size_t dim = strtoull(at, &end, 10);
        if (end == at || array.rank == 2)
            break;
        array.dims[array.rank++] = dim;
        array.count *= dim;
        at = end + strspn(end, ", ");
    }
    if (*at != ')')
        bench_fail(path, "an array of more than two dimensions");
    return array;
}

Array array_read(const char *path)
{
    FILE *f = fopen(path, "rb");
    unsigned char start[10];
    if (!f || fread(start, 1, 10, f) != 10 || memcmp(start, "\x93NUMPY\x01", 7) != 0)
        bench_fail(path, f ? "not a .npy file of version 1" : strerror(errno));
    size_t length = start[8] + 256u * start[9];
    char *head = bench_allocate(length + 1);
    if (fread(head, 1, length, f) != length)
        bench_fail(path, "cut off");
    head[length] = 0;
    Array array = head_parse(path, head);
    free(head);
    size_t bytes = array.count * array_element_bytes(&array);
    array.data = bench_allocate(bytes);
    if (fread(array.data, 1, bytes, f) != bytes)
        bench_fail(path, "cut off");
    fclose(f);
    return array;
}

void array_write(const char *path, const Array *array)
{
    char shape[64] = "", head[128];
    for (size_t i = 0, used = 0; i < array->rank; i++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%zu,", array->dims[i]);
    const char *order = array->type[0] == 'b' ? "|" : "<";
    int used = snprintf(head, sizeof head, "{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }", order,
                        array->type, shape);
    memset(head + used, ' ', sizeof head - (size_t)used);
    head[117] = '\n'; /* 10 bytes stand before: the data begin at 128 */
    FILE *f = fopen(path, "wb");
    size_t bytes = array->count * array_element_bytes(array);
    if (!f || fwrite("\x93NUMPY\x01\0\x76\0", 1, 10, f) != 10 || fwrite(head, 1, 118, f) != 118 ||
        fwrite(array->data, 1, bytes, f) != bytes || fclose(f) != 0)
        bench_fail(path, strerror(errno));
}
