/* MAP: dp_store(i, dp_body(i)) for all i < n.
 *
 * CPU: one work-item a chunk, its elements in order, segment by segment, or turned, in squares (way 2, below). GPU: in tiles (segments.cl). Guards: i < n. Empty segments have no instances and are walked over.
 * `out` is the heap again: what a map stores is fresh, so that the loads through `heap` may be taken not to alias it.
 *
 * In place (dp_map_over, only where DP_OVER is) an element is stored where the body has read it, or else nobody reads it. What stands before instance `from`, from n on, and
 * at the first `skip` places of each segment stays as it is: these need not be looked at. On a CPU that is way 1.
 * Ways 3 and 4, on a CPU: segments of one length, shorter than a vector of 16, or of 8. Then vectors have 8 lanes, or 4. */
#if DP_OVER || (DP_CPU && DP_ANY_VARIANT)
#define DP_FRESH
#else
#define DP_FRESH restrict
#endif
#if DP_CPU && DP_WAY == 2
/* Segments of one length m, turned: where loads of neighbouring segments lie side by side (a transpose), in squares of segments by elements.
 * With vectors, lanes are segments first, and elements of one when they are stored. */
enum { SIDE = DP_W ? DP_W : 16 };
#if DP_W
#if DP_W == 16
#define DP_MIXED_LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define DP_MIXED_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#else
#define DP_MIXED_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define DP_MIXED_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#endif
/* Lanes of the first half of the vectors alternate with those of the second: as often as DP_W can be halved, each is where the other was. */
#define DP_TURN_FIELD(N, field) \
    { \
        dp_##N##_w from[DP_W], to[DP_W]; \
        _Pragma("unroll") for (uint q = 0; q < DP_W; q++) from[q] = x[q].field; \
        _Pragma("unroll") for (uint round = 1; round < DP_W; round *= 2) { \
            _Pragma("unroll") for (uint q = 0; q < DP_W / 2; q++) { \
                to[2 * q] = __builtin_shufflevector(from[q], from[q + DP_W / 2], DP_MIXED_LOW); \
                to[2 * q + 1] = __builtin_shufflevector(from[q], from[q + DP_W / 2], DP_MIXED_HIGH); \
            } \
            _Pragma("unroll") for (uint q = 0; q < DP_W; q++) from[q] = to[q]; \
        } \
        _Pragma("unroll") for (uint q = 0; q < DP_W; q++) x[q].field = from[q]; \
    }
#endif
DP_KERNEL void dp_map(__global uchar *DP_FRESH heap, __global uchar *DP_FRESH out, ulong n, ulong nseg, ulong offsets, ulong from, ulong skip DP_WORDS DP_OUTS)
{
    const ulong m = offsets & ~DP_REGULAR, along = (m + SIDE - 1) / SIDE, squares = (nseg + SIDE - 1) / SIDE * along;
    const ulong last = dp_chunk_start(squares, get_global_size(0), get_global_id(0) + 1);
    for (ulong at = dp_chunk_start(squares, get_global_size(0), get_global_id(0)); at < last; at++) {
        const ulong s0 = at / along * SIDE, j0 = (at - at / along * along) * SIDE;
#if DP_W
        /* Where less than a square is left, the last one begins before it: some elements are computed twice. */
        if (nseg >= DP_W && m >= DP_W) {
            const ulong s = min(s0, nseg - DP_W), i = s * m + min(j0, m - DP_W);
            dp_vec x[DP_W];
            DP_IN_TURN(q) x[q] = dp_body_across(heap, i + q, s, m DP_PASS);
            DP_VEC_NAMES(DP_TURN_FIELD)
            DP_IN_TURN(q) dp_store_w(out, i + q * m, x[q] DP_PASS_OUTS);
            continue;
        }
#endif
        for (ulong s = s0; s < min(s0 + SIDE, nseg); s++)
            for (ulong i = s * m + j0; i < s * m + min(j0 + SIDE, m); i++)
                dp_store(out, i, dp_body(heap, i, s DP_PASS) DP_PASS_OUTS);
    }
}
#elif DP_CPU
DP_KERNEL void dp_map(__global uchar *DP_FRESH heap, __global uchar *DP_FRESH out, ulong n, ulong nseg, ulong offsets, ulong from, ulong skip DP_WORDS DP_OUTS)
{
#if DP_W && !(DP_SEGMENTED && DP_USES_SEG)
    /* chunks of whole vectors, and what is left */
    const ulong vectors = (n - from + DP_W - 1) / DP_W;
    ulong i = from + DP_W * dp_chunk_start(vectors, get_global_size(0), get_global_id(0));
    ulong hi = min(n, from + DP_W * dp_chunk_start(vectors, get_global_size(0), get_global_id(0) + 1));
#else
    ulong i = from + dp_chunk_start(n - from, get_global_size(0), get_global_id(0));
    ulong hi = from + dp_chunk_start(n - from, get_global_size(0), get_global_id(0) + 1);
#endif
#if DP_SEGMENTED && DP_USES_SEG
    for (ulong s = i < hi ? DP_SEG_OF(i) : 0; i < hi; s++) {
        s = DP_SKIP_EMPTY(s, i);
        ulong end = min(hi, DP_SEG_END(s));
        if (skip)
            i = max(i, min(end, DP_SEG_START(s) + skip));
#if DP_W && DP_WAY == 1
        /* The last vector may overlap with others: it is computed before they are stored. */
        if (i + DP_W <= end) {
            const ulong last = end - DP_W;
            dp_vec rest;
            for (ulong at = last;; at = i, i += DP_W) {
                const dp_vec v = dp_body_w(heap, at, s DP_PASS);
                if (at == last)
                    rest = v;
                else
                    dp_store_w(out, at, v DP_PASS_OUTS);
                if (i >= last)
                    break;
            }
            dp_store_w(out, last, rest DP_PASS_OUTS);
            i = end;
        }
#elif DP_W
        /* Where a segment's rest is narrower than a vector, the last vector begins before it: some elements are computed twice. */
        for (const ulong last = end - DP_W; i + DP_W <= end;) {
            dp_store_w(out, i, dp_body_w(heap, i, s DP_PASS) DP_PASS_OUTS);
            i = i < last ? min(i + DP_W, last) : end;
        }
#if DP_SPILLS
        /* What a vector stores beyond a shorter one's end is overwritten with the next segment's. */
        if (i < end && i + DP_W <= hi) {
            dp_store_w(out, i, dp_body_w(heap, i, s DP_PASS) DP_PASS_OUTS);
            i = end;
        }
#endif
#endif
        for (; i < end; i++)
            dp_store(out, i, dp_body(heap, i, s DP_PASS) DP_PASS_OUTS);
    }
#else
#if DP_W && DP_WAY == 1
    for (; i + DP_W <= hi; i += DP_W)
        dp_store_w(out, i, dp_body_w(heap, i, 0 DP_PASS) DP_PASS_OUTS);
#elif DP_W
    /* As above: what is left of a chunk is done with elements before it once more. */
    for (const ulong last = hi - DP_W; i + DP_W <= hi;) {
        dp_store_w(out, i, dp_body_w(heap, i, 0 DP_PASS) DP_PASS_OUTS);
        i = i < last ? min(i + DP_W, last) : hi;
    }
#endif
    for (; i < hi; i++)
        dp_store(out, i, dp_body(heap, i, 0 DP_PASS) DP_PASS_OUTS);
#endif
}
#elif DP_WAY
/* Segments of one length m, in tiles of neighbouring segments: an element's segment is where it lies in the tile, and neither
 * searched nor divided for. Way 1: lanes side by side are neighbours in a segment, and a lane's elements neighbours across segments. Way 2, turned: where loads of neighbouring
 * segments lie side by side (a transpose), lanes are neighbours across segments; values change places in local memory before
 * they are stored. Guards: s < nseg, j < m. */
#define DP_COLUMNS (DP_WAY == 2 ? 32 : 128)
#define DP_LANE_ROWS (DP_WG / DP_COLUMNS) /* of a tile, side by side */
#define DP_ROWS (DP_WAY == 2 ? 32 : DP_LANE_ROWS * DP_AT_ONCE)
DP_KERNEL void dp_map(__global uchar *DP_FRESH heap, __global uchar *DP_FRESH out, ulong n, ulong nseg, ulong offsets, ulong from, ulong skip DP_WORDS DP_OUTS)
{
    const ulong m = offsets & ~DP_REGULAR, across = (m + DP_COLUMNS - 1) / DP_COLUMNS;
    const ulong top = from ? dp_divide(from, m) : 0, bottom = n < nseg * m ? dp_divide(n, m) : nseg, down = (bottom - top + DP_ROWS - 1) / DP_ROWS;
    const uint x = get_local_id(0) % DP_COLUMNS, y = get_local_id(0) / DP_COLUMNS;
    /* the tile's place is counted on, which takes one division for all tiles of a work-group */
    const ulong step_down = dp_divide(get_num_groups(0), across), step_across = get_num_groups(0) - step_down * across;
    ulong down_at = dp_divide(get_group_id(0), across), across_at = get_group_id(0) - down_at * across;
#if DP_WAY == 2
    __local dp_val turned[DP_ROWS][DP_COLUMNS + 1];
#endif
    while (down_at < down) {
        const ulong s0 = top + down_at * DP_ROWS, j0 = across_at * DP_COLUMNS;
#if DP_WAY == 2
#pragma unroll
        for (uint q = y; q < DP_COLUMNS; q += DP_LANE_ROWS)
            if (s0 + x < bottom && j0 + q < m)
                turned[x][q] = dp_body(heap, (s0 + x) * m + j0 + q, s0 + x DP_PASS);
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint q = y; q < DP_ROWS; q += DP_LANE_ROWS)
            if (s0 + q < bottom && j0 + x < m)
                dp_store(out, (s0 + q) * m + j0 + x, turned[q][x] DP_PASS_OUTS);
        barrier(CLK_LOCAL_MEM_FENCE);
#else
        const bool inside = j0 + x < m && j0 + x >= skip;
        const ulong s = s0 + y * DP_AT_ONCE, i = s * m + j0 + x;
        if (inside && s0 + DP_ROWS <= bottom) {
            dp_val v[DP_AT_ONCE];
            DP_BODIES(v, DP_AT_ONCE, i + q * m, s + q)
#pragma unroll
            for (uint q = 0; q < DP_AT_ONCE; q++)
                dp_store(out, i + q * m, v[q] DP_PASS_OUTS);
        } else {
            for (uint q = 0; q < DP_AT_ONCE; q++)
                if (inside && s + q < bottom)
                    dp_store(out, i + q * m, dp_body(heap, i + q * m, s + q DP_PASS) DP_PASS_OUTS);
        }
#endif
        across_at += step_across;
        down_at += step_down;
        if (across_at >= across) {
            across_at -= across;
            down_at++;
        }
    }
}
#else
#define DP_VALUE_SEGMENT(i) (chunked ? DP_SEG_BETWEEN(first, last + 1, (i)) : 0)
DP_KERNEL void dp_map(__global uchar *DP_FRESH heap, __global uchar *DP_FRESH out, ulong n, ulong nseg, ulong offsets, ulong from, ulong skip DP_WORDS DP_OUTS)
{
    const bool chunked = DP_USES_SEG && DP_SEGMENTED;
    n -= from;
    ulong at = from + DP_TILES_START(chunked), hi = from + DP_TILES_END(chunked), l = get_local_id(0);
    ulong last = chunked && at < hi ? DP_SEG_OF(at) : 0;
    for (; at < hi; at += DP_TILES_STEP(chunked)) {
        ulong end = min(hi, at + DP_TILE_ELEMENTS), first = last;
        if (chunked)
            last = DP_SEG_NEAR(first, end - 1);
#if DP_AT_ONCE > 1
        if (end - at == DP_TILE_ELEMENTS) {
            dp_val v[DP_AT_ONCE];
            DP_BODIES(v, DP_AT_ONCE, at + q * DP_WG + l, DP_VALUE_SEGMENT(at + q * DP_WG + l))
#pragma unroll
            for (uint q = 0; q < DP_AT_ONCE; q++)
                dp_store(out, at + q * DP_WG + l, v[q] DP_PASS_OUTS);
            continue;
        }
#endif
        for (ulong i = at + l; i < end; i += DP_WG)
            dp_store(out, i, dp_body(heap, i, DP_VALUE_SEGMENT(i) DP_PASS) DP_PASS_OUTS);
    }
}
#endif
