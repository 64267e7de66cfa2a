/* MAP: dp_store(i, dp_body(i)) for all i < n.
 *
 * CPU: one work-item a chunk, its elements in order, segment by segment. GPU: a lane an element, work-groups striding over
 * the grid; a lane finds its own segment. Guards: i < n. Empty segments have no instances and are walked over.
 * `out` is the heap again: what a map stores is fresh, so that the loads through `heap` may be taken not to alias it. */
#if DP_CPU
DP_KERNEL void dp_map(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets DP_WORDS DP_OUTS)
{
    ulong i = dp_chunk_start(n, get_global_size(0), get_global_id(0));
    ulong hi = dp_chunk_start(n, get_global_size(0), get_global_id(0) + 1);
#if DP_SEGMENTED && DP_USES_SEG
    for (ulong s = i < hi ? DP_SEG_OF(i) : 0; i < hi; s++) {
        s = DP_SKIP_EMPTY(s, i);
        for (ulong end = min(hi, DP_SEG_END(s)); i < end; i++)
            dp_store(out, i, dp_body(heap, i, s DP_PASS) DP_PASS_OUTS);
    }
#else
    for (; i < hi; i++)
        dp_store(out, i, dp_body(heap, i, 0 DP_PASS) DP_PASS_OUTS);
#endif
}
#else
DP_KERNEL void dp_map(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets DP_WORDS DP_OUTS)
{
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        ulong s = DP_USES_SEG ? DP_SEG_OF(i) : 0;
        dp_store(out, i, dp_body(heap, i, s DP_PASS) DP_PASS_OUTS);
    }
}
#endif
