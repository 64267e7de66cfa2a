/* Serial twins of the segmented primitives: what the kernels compute in parallel, said in the plainest way. The
 * flat interpreter runs on them, and tests compare the kernels' results with theirs. They depend on nothing.
 *
 * A segmentation of n elements into m segments is an array `off` of m + 1 offsets: segment s has the elements
 * off[s] .. off[s+1]-1, off[0] = 0, off[m] = n. Segments may be empty, and m may be 0:
 *
 *     lengths   3 0 1        off   0 3 3 4        segment of each element   0 0 0 2
 *
 * A selection is an ascending vector of indices; a map is any vector of indices. */
#ifndef DP_REF_H
#define DP_REF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- segments ---- */
/* off[0..n] = exclusive scan of lens[0..n-1], and the total, which is also returned. */
uint64_t ref_offsets(const uint64_t *lens, uint64_t n, uint64_t *off);
/* Do the offsets start at 0 and ascend? */
bool ref_offsets_valid(const uint64_t *off, uint64_t nseg);
/* seg[i] = the segment of element i, for all off[nseg] elements. */
void ref_segments(const uint64_t *off, uint64_t nseg, uint64_t *seg);
/* The segment of one element, by bisection: the last s with off[s] <= i. */
uint64_t ref_segment_of(const uint64_t *off, uint64_t nseg, uint64_t i);

/* Runs over all elements in order, telling where segments begin and end. This is all the bookkeeping that
 * segmented reductions and scans need: `begin` sets the accumulator to neutral, `element` combines it with element i
 * (a scan stores it, before or after), `end` stores a reduction's result. Empty segments begin and end too.
 * NULL functions are skipped. */
typedef struct RefFold {
    void (*begin)(void *data, uint64_t segment);
    void (*element)(void *data, uint64_t segment, uint64_t i);
    void (*end)(void *data, uint64_t segment);
    void *data;
} RefFold;
void ref_fold_segments(const uint64_t *off, uint64_t nseg, const RefFold *fold);

/* ---- selecting ---- */
/* idx = the indices i < n with flags[i] != 0, ascending; returns how many. idx has room for n. */
uint64_t ref_pack(const uint8_t *flags, uint64_t n, uint64_t *idx);
/* Stable two-way partition: yes and no get the indices of either kind, ascending; returns the number of yes. */
uint64_t ref_partition(const uint8_t *flags, uint64_t n, uint64_t *yes, uint64_t *no);
/* Offsets of what an ascending selection of n elements leaves of each segment. */
void ref_pack_offsets(const uint64_t *off, uint64_t nseg, const uint64_t *idx, uint64_t n, uint64_t *packed);

/* ---- moving ---- */
/* dst[i] = src[idx[i]], elements of `bytes` each. */
void ref_gather(void *dst, const void *src, size_t bytes, const uint64_t *idx, uint64_t n);
/* dst[idx[i]] = src[i], in order of i. */
void ref_scatter(void *dst, const void *src, size_t bytes, const uint64_t *idx, uint64_t n);
/* out[i] = outer[inner[i]]: first inner, then outer. out may be inner. */
void ref_compose(uint64_t *out, const uint64_t *outer, const uint64_t *inner, uint64_t n);
/* Marks idx[0..n-1] in seen[0..limit-1]; false if one is out of range or was marked before. */
bool ref_mark_once(uint8_t *seen, uint64_t limit, const uint64_t *idx, uint64_t n);

/* ---- sorting ---- */
typedef bool (*RefLess)(void *data, uint64_t a, uint64_t b);
/* Sorts idx by `less`, stably (merge sort). scratch has room for n. */
void ref_sort(uint64_t *idx, uint64_t n, uint64_t *scratch, RefLess less, void *data);

#endif
