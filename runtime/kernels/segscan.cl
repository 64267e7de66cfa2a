/* SCAN of short segments: a work-item scans each of its segments in a loop, in one pass and without carries. CPU: a chunk of
 * neighbouring segments a work-item; GPU: a segment. Chosen by segreduce.c, DP_WAY 1; else the template is scan.cl. */
DP_KERNEL void dp_segscan_lane(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets
                               DP_WORDS DP_OUTS)
{
#if DP_CPU
    ulong chunk = get_global_id(0), chunks = get_global_size(0);
    ulong s = dp_path_segment(heap, offsets, 0, nseg, dp_chunk_start(n + nseg, chunks, chunk));
    ulong stop = dp_path_segment(heap, offsets, 0, nseg, dp_chunk_start(n + nseg, chunks, chunk + 1));
    DP_HELD()
    for (; s < stop; s++) {
#else
    for (ulong s = get_global_id(0); s < nseg; s += get_global_size(0)) {
#endif
        ulong i = DP_SEG_START(s), end = DP_SEG_END(s);
        dp_val v = DP_NEUTRAL(s);
        DP_SCAN_VECTORS(i, end, s, v)
        DP_HOLD()
        for (; i < end; i++) {
            DP_TAKE()
            dp_val next = DP_OP(s, v, DP_BODY(i, s));
            DP_STORE(i, s, DP_EXCLUSIVE ? v : next);
            v = next;
            DP_HOLD()
        }
    }
}
