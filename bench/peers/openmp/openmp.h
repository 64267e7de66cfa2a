/* The rows in C with OpenMP: what a careful C programmer writes for all cores, without intrinsics. Each file has the
 * rows of one kind. */
#ifndef BENCH_OPENMP_H
#define BENCH_OPENMP_H

#include "../peer.h"
#include <omp.h>
#include <string.h>

/* The share of a thread of 0 … n - 1. */
typedef struct {
    size_t from, to;
} Share;
static inline Share share_of(size_t n, size_t thread, size_t threads)
{
    return (Share){n * thread / threads, n * (thread + 1) / threads};
}

/* Rows of different lengths are handed out in blocks of so many. */
enum { ROWS_BLOCK = 512 };
static inline size_t blocks_of(size_t rows) { return (rows + ROWS_BLOCK - 1) / ROWS_BLOCK; }
/* The element with which each block begins; `offsets` has blocks_of(rows) + 1 places. */
void blocks_offsets(const int64_t *lengths, size_t rows, size_t *offsets);

/* Results like an argument: of its type and count. */
void prepare_like(Job *job, const Array *array);
void prepare_like_first(Job *job);
void prepare_like_second(Job *job);
/* A sum or the like of each row: the lengths are the first argument, the elements the second. */
void prepare_rows(Job *job);
void prepare_rows_elements(Job *job);

/* Sorts by bits from `low` to `high` - 1 of the keys, `low` a multiple of 11; the result is in one of both, which is
 * returned. */
uint64_t *sort_pairs(uint64_t *keys, uint64_t *other, size_t n, unsigned low, unsigned high);

#define ROWS(name)                                                                                                     \
    extern const Peer name[];                                                                                          \
    extern const size_t name##_count;
ROWS(rows_of_maps)
ROWS(rows_of_folds)
ROWS(rows_of_selections)
ROWS(rows_of_sorts)
ROWS(rows_of_graphs)
ROWS(rows_of_dense)
ROWS(rows_of_apps)
ROWS(rows_of_irregular)
#undef ROWS

#endif
