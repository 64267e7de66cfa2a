/* SCATTER: dp_body_at(i) gives a value and an index into the destination of the instance's segment; out of range is ignored, of
 * several values to one index one is stored. With an operator (DP_HIST_BYTES) they are combined with what is there: by
 * dp_combine, or by one work-item, where there is none. The outputs are copies of the destinations, laid out one behind the other:
 * segment s at dest_offsets[s] ... dest_offsets[s + 1]; with one segment all `length` elements.
 *
 * CPU: a work-item a chunk of consecutive instances. GPU: in tiles (segments.cl). Guards: i < n. Empty
 * segments have no instances and are walked over. */
#define DP_SCATTER_ONE(i, s) \
    { \
        long index = -1; \
        dp_val v = dp_body_at(heap, (i), (s), &index DP_PASS); \
        if (index >= 0 && (ulong)index < room) \
            DP_PUT((s), base + (ulong)index, v) \
    }
#ifndef DP_HIST_BYTES
#define DP_PUT(s, at, v) dp_store(out, (at), (v)DP_PASS_OUTS);
#elif defined(DP_BITS)
#define DP_PUT(s, at, v) dp_combine(out, (s), (at), (v)DP_PASS DP_PASS_OUTS);
#else
#define DP_PUT(s, at, v) dp_store(out, (at), dp_op(out, (s), dp_load(out, (at)DP_PASS_OUTS), (v)DP_PASS) DP_PASS_OUTS);
#define DP_BY_ONE 1
#endif
#if DP_SEGMENTED
#define DP_ROOM(s) (DP_OFFSET(dest_offsets, (s) + 1) - DP_OFFSET(dest_offsets, (s)))
#define DP_BASE(s) DP_OFFSET(dest_offsets, (s))
#else
#define DP_ROOM(s) length
#define DP_BASE(s) 0
#endif

DP_KERNEL void dp_scatter(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong length,
                          ulong dest_offsets DP_WORDS DP_OUTS)
{
#ifdef DP_BY_ONE
    ulong item = 0, items = 1;
    if (get_global_id(0) > 0)
        return;
#else
    ulong item = get_global_id(0), items = get_global_size(0);
#endif
#if DP_CPU
    ulong i = dp_chunk_start(n, items, item), hi = dp_chunk_start(n, items, item + 1);
    for (ulong s = i < hi ? DP_SEG_OF(i) : 0; i < hi; s++) {
        s = DP_SKIP_EMPTY(s, i);
        ulong room = DP_ROOM(s), base = DP_BASE(s);
        for (ulong end = min(hi, DP_SEG_END(s)); i < end; i++)
            DP_SCATTER_ONE(i, s)
    }
#elif defined(DP_BY_ONE)
    for (ulong i = 0; i < n; i++) {
        ulong s = DP_SEG_OF(i), room = DP_ROOM(s), base = DP_BASE(s);
        DP_SCATTER_ONE(i, s)
    }
#else
    const bool chunked = DP_SEGMENTED;
    ulong at = DP_TILES_START(chunked), hi = DP_TILES_END(chunked), l = get_local_id(0);
    ulong last = chunked && at < hi ? DP_SEG_OF(at) : 0;
    for (; at < hi; at += DP_TILES_STEP(chunked)) {
        ulong end = min(hi, at + DP_TILE_ELEMENTS), first = last;
        if (chunked)
            last = DP_SEG_NEAR(first, end - 1);
#if DP_AT_ONCE > 1
        if (end - at == DP_TILE_ELEMENTS) {
            ulong room[DP_AT_ONCE], base[DP_AT_ONCE], of[DP_AT_ONCE];
            dp_val v[DP_AT_ONCE];
            long index[DP_AT_ONCE];
#pragma unroll
            for (uint q = 0; q < DP_AT_ONCE; q++) {
                ulong i = at + q * DP_WG + l, s = DP_SEG_BETWEEN(first, last + 1, i);
                index[q] = -1;
                v[q] = dp_body_at(heap, i, s, &index[q] DP_PASS);
                of[q] = s;
                room[q] = DP_ROOM(s);
                base[q] = DP_BASE(s);
            }
#pragma unroll
            for (uint q = 0; q < DP_AT_ONCE; q++)
                if (index[q] >= 0 && (ulong)index[q] < room[q])
                    DP_PUT(of[q], base[q] + (ulong)index[q], v[q])
            continue;
        }
#endif
        for (ulong i = at + l; i < end; i += DP_WG) {
            ulong s = DP_SEG_BETWEEN(first, last + 1, i), room = DP_ROOM(s), base = DP_BASE(s);
            DP_SCATTER_ONE(i, s)
        }
    }
#endif
}
