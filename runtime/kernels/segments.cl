/* Before the holes: the segments of a nested context of n instances, for templates. They are described by nseg and offsets (see
 * common.cl), or with DP_SEGMENTED 0 all n are one segment. */
#if DP_SEGMENTED
#define DP_SEG_START(s) DP_OFFSET(offsets, (s))
#define DP_SEG_END(s) DP_OFFSET(offsets, (s) + 1)
#define DP_SEG_BETWEEN(lo, hi, i) dp_segment_between(heap, offsets, (lo), (hi), (i))
#define DP_SEG_NEAR(s, i) dp_segment_near(heap, offsets, (s), nseg, (i))
#define DP_SKIP_EMPTY(s, i) dp_skip_empty(heap, offsets, nseg, (s), (i))
#else
#define DP_SEG_START(s) ((ulong)0)
#define DP_SEG_END(s) (n)
#define DP_SEG_BETWEEN(lo, hi, i) ((ulong)0)
#define DP_SEG_NEAR(s, i) ((ulong)0)
#define DP_SKIP_EMPTY(s, i) (s)
#endif
#define DP_SEG_OF(i) DP_SEG_BETWEEN(0, nseg, (i))

/* What a round of a loop would be: launches, and what these come to on a GPU. */
#if DP_CPU
#define DP_LAUNCHES(launches, on_gpu) (launches)
#else
#define DP_LAUNCHES(launches, on_gpu) (on_gpu)
#endif

/* GPU: work-groups go in tiles of DP_AT_ONCE elements a lane, whose loads are under way together. Where elements look at their
 * segments, a work-group's tiles are neighbours, and the segments first ... last of a tile are found once, from those of the
 * tile before; else they stride over the grid. */
#define DP_TILE_ELEMENTS (DP_WG * DP_AT_ONCE)
#define DP_CHUNK_START(g) min(n, dp_chunk_start((n + DP_WG - 1) / DP_WG, get_num_groups(0), (g)) * DP_WG)
#define DP_TILES_START(chunked) ((chunked) ? DP_CHUNK_START(get_group_id(0)) : (ulong)get_group_id(0) * DP_TILE_ELEMENTS)
#define DP_TILES_END(chunked) ((chunked) ? DP_CHUNK_START(get_group_id(0) + 1) : n)
#define DP_TILES_STEP(chunked) ((chunked) ? DP_TILE_ELEMENTS : (ulong)get_num_groups(0) * DP_TILE_ELEMENTS)

/* Bodies of few statements are part of the loops that they stand in, however often these repeat them: so what does not change moves out. */
#if DP_CPU && DP_AT_ONCE > 1 && !DP_ANY_VARIANT
#define DP_INLINE static inline __attribute__((always_inline))
#else
#define DP_INLINE static inline
#endif

/* GPU: x[q] becomes the body's value of element INDEX of segment SEGMENT, expressions of q, for all q < count, whose loads are under way together.
 * dp_body_try, where there is one, tells no failure, which the next loads would wait for, but makes odd 1: then the bodies are gone through once more. */
#define DP_BODIES_PLAIN(x, count, INDEX, SEGMENT) \
    _Pragma("unroll") for (uint q = 0; q < (count); q++) x[q] = dp_body(heap, (INDEX), (SEGMENT) DP_PASS);
#define DP_BODIES_TRIED(x, count, INDEX, SEGMENT) \
    { \
        uint odd = 0; \
        _Pragma("unroll") for (uint q = 0; q < (count); q++) x[q] = dp_body_try(heap, (INDEX), (SEGMENT), &odd DP_PASS); \
        for (uint q = 0; odd && q < (count); q++) \
            dp_body(heap, (INDEX), (SEGMENT) DP_PASS); \
    }
#define DP_BODIES DP_BODIES_PLAIN
