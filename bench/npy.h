/* One-dimensional and two-dimensional arrays in .npy files (version 1, little endian, C order), for the data of the
 * benchmarks. A failure is told on standard error and ends the process with status 2: these are measuring programs, not
 * the compiler. */
#ifndef BENCH_NPY_H
#define BENCH_NPY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    char type[3]; /* NumPy's, without the order of bytes: i4 u4 i8 u8 f4 f8 b1 */
    size_t rank;  /* 0, 1 or 2 */
    size_t dims[2];
    size_t count; /* elements in all */
    void *data;   /* owned by whoever made it; at a multiple of 64 bytes */
} Array;

/* Elements are not initialised. */
Array array_new(const char *type, size_t count);
Array array_read(const char *path);
void array_write(const char *path, const Array *array);
size_t array_element_bytes(const Array *array);

/* Memory at a multiple of 64 bytes, to be freed with free. */
void *bench_allocate(size_t bytes);
/* Says what is wrong, and ends the process. */
void bench_fail(const char *what, const char *why);

#ifdef __cplusplus
}
#endif
#endif
