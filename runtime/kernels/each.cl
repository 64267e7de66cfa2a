/* In front of move.cl and radix_sort.cl: loops over elements.
 *
 * CPU: a work-item a chunk. GPU: a lane an element, striding over the grid. Guards: i < n. Kernels over elements of
 * segments walk the segments (CPU) or search tile by tile (GPU); empty ones are skipped. Elements have 1, 2, 4, 8 or 16 bytes: the loop is
 * chosen outside; where compiling it five times takes longer than it is worth (DP_ANY_VARIANT), within. `out` is the heap again, for
 * what is written is never what is read. */
#define DP_HEAPS __global uchar *restrict heap, __global uchar *restrict out
#define DP_OUT(T, address) ((__global T *)(out + (address)))
#if DP_CPU
#define DP_EACH(i, n) \
    for (ulong i = dp_chunk_start(n, get_global_size(0), get_global_id(0)), \
               i##_end = dp_chunk_start(n, get_global_size(0), get_global_id(0) + 1); i < i##_end; i++)
/* STATEMENT for each i of each segment s, which begins at `start`. PREPARE once a segment. */
#define DP_EACH_IN_SEGMENT(PREPARE, STATEMENT) \
    { \
        ulong i = dp_chunk_start(n, get_global_size(0), get_global_id(0)); \
        ulong hi = dp_chunk_start(n, get_global_size(0), get_global_id(0) + 1); \
        for (ulong s = i < hi ? dp_segment_between(heap, offsets, 0, nseg, i) : 0; i < hi; s++) { \
            s = dp_skip_empty(heap, offsets, nseg, s, i); \
            ulong start = DP_OFFSET(offsets, s), end = min(hi, DP_OFFSET(offsets, s + 1)); \
            PREPARE \
            for (; i < end; i++) { \
                STATEMENT \
            } \
        } \
    }
#else
#define DP_EACH(i, n) for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
/* A work-group a chunk: its segments are found tile by tile, and an element's among these. */
#define DP_EACH_IN_SEGMENT(PREPARE, STATEMENT) \
    { \
        ulong at = dp_chunk_start(n, get_num_groups(0), get_group_id(0)); \
        ulong hi = dp_chunk_start(n, get_num_groups(0), get_group_id(0) + 1); \
        ulong last = at < hi ? dp_segment_between(heap, offsets, 0, nseg, at) : 0; \
        for (; at < hi; at += 4 * DP_WG) { \
            ulong end = min(hi, at + 4 * DP_WG), first = last; \
            last = dp_segment_near(heap, offsets, first, nseg, end - 1); \
            for (ulong i = at + get_local_id(0); i < end; i += DP_WG) { \
                ulong s = dp_segment_between(heap, offsets, first, last + 1, i), start = DP_OFFSET(offsets, s); \
                PREPARE \
                STATEMENT \
            } \
        } \
    }
#endif
/* Element j at `from` becomes element i at `to`. */
#if DP_ANY_VARIANT
#define DP_EACH_SIZE(LOOP) LOOP()
#define DP_MOVE(T, to, i, from, j) dp_move_element(heap, out, (to) + (i) * bytes, (from) + (j) * bytes, bytes)
static inline void dp_move_element(DP_HEAPS, ulong to, ulong from, ulong bytes)
{
    switch (bytes) {
    case 1: *DP_OUT(uchar, to) = *DP_AT(uchar, from); break;
    case 2: *DP_OUT(ushort, to) = *DP_AT(ushort, from); break;
    case 4: *DP_OUT(uint, to) = *DP_AT(uint, from); break;
    case 8: *DP_OUT(ulong, to) = *DP_AT(ulong, from); break;
    default: *DP_OUT(ulong2, to) = *DP_AT(ulong2, from);
    }
}
#else
#define DP_EACH_SIZE(LOOP) \
    switch (bytes) { \
    case 1: LOOP(uchar) break; \
    case 2: LOOP(ushort) break; \
    case 4: LOOP(uint) break; \
    case 8: LOOP(ulong) break; \
    default: LOOP(ulong2) \
    }
#define DP_MOVE(T, to, i, from, j) DP_OUT(T, to)[i] = DP_AT(T, from)[j]
#endif
