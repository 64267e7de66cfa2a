/* MAP: dp_store(i, dp_body(i)) for all i < n.
 *
 * CPU: one work-item a chunk, its elements in order, segment by segment. GPU: in tiles (segments.cl). Guards: i < n. Empty segments have no instances and are walked over.
 * `out` is the heap again: what a map stores is fresh, so that the loads through `heap` may be taken not to alias it. */
#if DP_CPU
DP_KERNEL void dp_map(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets DP_WORDS DP_OUTS)
{
    ulong i = dp_chunk_start(n, get_global_size(0), get_global_id(0));
    ulong hi = dp_chunk_start(n, get_global_size(0), get_global_id(0) + 1);
#if DP_SEGMENTED && DP_USES_SEG
    for (ulong s = i < hi ? DP_SEG_OF(i) : 0; i < hi; s++) {
        s = DP_SKIP_EMPTY(s, i);
        ulong end = min(hi, DP_SEG_END(s));
#if DP_W
        for (; i + DP_W <= end; i += DP_W)
            dp_store_w(out, i, dp_body_w(heap, i, s DP_PASS) DP_PASS_OUTS);
#endif
        for (; i < end; i++)
            dp_store(out, i, dp_body(heap, i, s DP_PASS) DP_PASS_OUTS);
    }
#else
#if DP_W
    for (; i + DP_W <= hi; i += DP_W)
        dp_store_w(out, i, dp_body_w(heap, i, 0 DP_PASS) DP_PASS_OUTS);
#endif
    for (; i < hi; i++)
        dp_store(out, i, dp_body(heap, i, 0 DP_PASS) DP_PASS_OUTS);
#endif
}
#else
#define DP_VALUE(i) dp_body(heap, (i), chunked ? DP_SEG_BETWEEN(first, last + 1, (i)) : 0 DP_PASS)
DP_KERNEL void dp_map(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets DP_WORDS DP_OUTS)
{
    const bool chunked = DP_USES_SEG && DP_SEGMENTED;
    ulong at = DP_TILES_START(chunked), hi = DP_TILES_END(chunked), l = get_local_id(0);
    ulong last = chunked && at < hi ? DP_SEG_OF(at) : 0;
    for (; at < hi; at += DP_TILES_STEP(chunked)) {
        ulong end = min(hi, at + DP_TILE_ELEMENTS), first = last;
        if (chunked)
            if (chunked)
            last = DP_SEG_NEAR(first, end - 1);
#if DP_AT_ONCE > 1
        if (end - at == DP_TILE_ELEMENTS) {
            dp_val v[DP_AT_ONCE];
#pragma unroll
            for (uint q = 0; q < DP_AT_ONCE; q++)
                v[q] = DP_VALUE(at + q * DP_WG + l);
#pragma unroll
            for (uint q = 0; q < DP_AT_ONCE; q++)
                dp_store(out, at + q * DP_WG + l, v[q] DP_PASS_OUTS);
            continue;
        }
#endif
        for (ulong i = at + l; i < end; i += DP_WG)
            dp_store(out, i, DP_VALUE(i) DP_PASS_OUTS);
    }
}
#endif
