/* Before the holes: the segments of a nested context of n instances, for templates. They are described by nseg and offsets (see
 * common.cl), or with DP_SEGMENTED 0 all n are one segment. */
#if DP_SEGMENTED
#define DP_SEG_START(s) DP_OFFSET(offsets, (s))
#define DP_SEG_END(s) DP_OFFSET(offsets, (s) + 1)
#define DP_SEG_BETWEEN(lo, hi, i) dp_segment_between(heap, offsets, (lo), (hi), (i))
#define DP_SKIP_EMPTY(s, i) dp_skip_empty(heap, offsets, nseg, (s), (i))
#else
#define DP_SEG_START(s) ((ulong)0)
#define DP_SEG_END(s) (n)
#define DP_SEG_BETWEEN(lo, hi, i) ((ulong)0)
#define DP_SKIP_EMPTY(s, i) (s)
#endif
#define DP_SEG_OF(i) DP_SEG_BETWEEN(0, nseg, (i))
