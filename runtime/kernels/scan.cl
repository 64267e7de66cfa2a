/* SCAN: prefixes of every segment, inclusive, or exclusive with DP_EXCLUSIVE 1; n > 0.
 *
 * GPU, one pass: dp_scan_onepass takes tiles in the order of tickets. Values are loaded side by side, once, each lane scans a run of them in
 * registers, the lanes' carries are scanned; what reaches the tile it finds by looking back at what the tiles before it have published:
 * the combination of the tile's own elements, or all that reaches its end. A tile in which a segment begins publishes the latter at once, and
 * one that begins with a segment need not look. A value goes out in words of 4 bytes, each beside its launch's epoch: no fence is
 * needed, nor anything cleared (lookback.c).
 *
 * Elsewhere, reduce, then scan: dp_scan_chunks leaves each chunk's carry (not launched for a single chunk), dp_scan_carries (GPU) turns
 * these into what reaches each chunk, dp_scan_write does the chunk again with that and stores. The body is evaluated twice.
 *
 * CPU: a work-item a chunk of consecutive elements; a chunk's carry needs only the elements behind its last segment start; the writer joins
 * the few carries before its own itself. GPU: a work-group a chunk, in tiles: values are loaded side by side into local memory, each
 * lane scans DP_ITEMS of them, the lanes' carries are scanned, the prefixes go back the same way. Barriers stand in the tile
 * loop only, whose bounds are uniform. Empty segments have no elements and are walked over. */
#ifndef DP_EXCLUSIVE
#define DP_EXCLUSIVE 0
#endif

#if DP_CPU
DP_KERNEL void dp_scan_chunks(DP_HEAP, ulong n, ulong nseg, ulong offsets, ulong part DP_WORDS)
{
    ulong chunk = get_global_id(0), chunks = get_global_size(0);
    ulong lo = dp_chunk_start(n, chunks, chunk), hi = dp_chunk_start(n, chunks, chunk + 1), s = 0;
    dp_carry c;
    c.bits = 0;
    if (lo < hi && chunk + 1 < chunks) { /* nothing follows the last */
        s = DP_SEG_OF(hi - 1);
        ulong start = DP_SEG_START(s);
        c.bits = start >= lo ? DP_RESET | DP_HAS : DP_HAS;
        c.v = DP_RUN(max(start, lo), hi, s, 0, 0);
        if (start >= lo)
            c.v = DP_OP(s, DP_NEUTRAL(s), c.v);
    }
    dp_put_carry(heap, part, chunk, s, c);
}

DP_KERNEL void dp_scan_write(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets,
                             ulong part DP_WORDS DP_OUTS)
{
    ulong chunk = get_global_id(0), chunks = get_global_size(0);
    ulong i = dp_chunk_start(n, chunks, chunk), hi = dp_chunk_start(n, chunks, chunk + 1);
    dp_carry c;
    c.bits = 0;
    for (ulong k = 0; k < chunk; k++)
        c = DP_JOIN(DP_CARRY_SEGMENT(part, k), c, dp_get_carry(heap, part, k));
    dp_val v = c.v;
    for (ulong s = i < hi ? DP_SEG_OF(i) : 0; i < hi; s++) {
        s = DP_SKIP_EMPTY(s, i);
        if (i == DP_SEG_START(s))
            v = DP_NEUTRAL(s);
        for (ulong end = min(hi, DP_SEG_END(s)); i < end; i++) {
            dp_val next = DP_OP(s, v, DP_BODY(i, s));
            dp_store(out, i, DP_EXCLUSIVE ? v : next DP_PASS_OUTS);
            v = next;
        }
    }
}

#elif DP_LOOKBACK
/* Words that tile t publishes: of its own elements (kind 0), of all that reaches its end (1). One word serves as both, and its status says which. */
#define DP_PUBLISHED(kind, t, k) \
    ((volatile __global ulong *)(heap + state + 16))[(2 * (t) + (DP_VAL_WORDS > 1 ? (kind) : 0)) * DP_VAL_WORDS + (k)]

static inline void dp_publish(DP_HEAP, ulong state, ulong epoch, ulong t, uint kind, dp_val v)
{
    dp_staged w;
    w.v = v;
#pragma unroll
    for (uint k = 0; k < DP_VAL_WORDS; k++)
        DP_PUBLISHED(kind, t, k) = (epoch << 2 | kind) << 32 | w.word[k];
}

/* Waits for tile t; of which kind it is. */
static inline uint dp_await(DP_HEAP, ulong state, ulong epoch, ulong t, __local dp_val *v)
{
    dp_staged w;
    ulong word = 0;
    uint kind = 0;
    do {
        if (DP_VAL_WORDS > 1)
            kind = DP_PUBLISHED(1, t, 0) >> 34 == epoch;
        word = DP_PUBLISHED(kind, t, 0);
    } while (word >> 34 != epoch);
    kind = (uint)(word >> 32) & 1;
    w.word[0] = (uint)word;
#pragma unroll
    for (uint k = 1; k < DP_VAL_WORDS; k++) {
        do
            word = DP_PUBLISHED(kind, t, k);
        while (word >> 34 != epoch);
        w.word[k] = (uint)word;
    }
    *v = w.v;
    return kind;
}

DP_KERNEL void dp_scan_onepass(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong state,
                               ulong epoch, ulong tickets DP_WORDS DP_OUTS)
{
    DP_STAGE(stage);
    __local dp_carry sh[2][DP_WG];
    __local dp_val seen[DP_WG], reach;
    __local uint ticket[1], nearest;
    uint l = get_local_id(0);
    if (l == 0)
        ticket[0] = atomic_inc((volatile __global uint *)(heap + state)) - (uint)tickets;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong t = ticket[0], base = t * DP_TILE;
    const uint count = (uint)min((ulong)DP_TILE, n - base);
    ulong s0 = DP_SEG_OF(base), s1 = DP_SEG_BETWEEN(s0, nseg, base + count - 1);
#define DP_SCAN_ELEMENT(i) DP_BODY((i), DP_USES_SEG ? DP_SEG_BETWEEN(s0, s1 + 1, (i)) : 0)
#if DP_LANES
    if (count == DP_TILE) {
#pragma unroll
        for (uint k = 0; k < DP_ITEMS; k++)
            dp_stage_put(stage, k * DP_WG + l, DP_SCAN_ELEMENT(base + l + k * DP_WG));
    } else
#endif
        for (uint j = l; j < count; j += DP_WG)
            dp_stage_put(stage, j, DP_SCAN_ELEMENT(base + j));
    barrier(CLK_LOCAL_MEM_FENCE);

    /* r[k]: the combination of the lane's elements up to k, or (exclusive) before k, as far as they are in k's segment. */
    const uint first = min(l * (uint)DP_ITEMS, count), m = min((uint)DP_ITEMS, count - first);
    const ulong begin = base + first;
    const ulong s_begin = m ? DP_SEG_BETWEEN(s0, s1 + 1, begin) : s1;
    ulong s_end = s_begin, stop = DP_SEG_END(s_begin);
    bool start = begin == DP_SEG_START(s_begin);
    uint starts = 0;
    dp_val r[DP_ITEMS];
    dp_carry c;
    c.bits = 0;
#pragma unroll
    for (uint k = 0; k < DP_ITEMS; k++)
        if (k < m) {
            if (DP_SEGMENTED && begin + k == stop) {
                s_end = DP_SKIP_EMPTY(s_end + 1, stop);
                stop = DP_SEG_END(s_end);
                start = true;
            }
            if (start) {
                c.bits = DP_RESET | DP_HAS;
                c.v = DP_NEUTRAL(s_end);
                starts |= 1U << k;
                start = false;
            }
            dp_val x = dp_stage_get(stage, first + k), next = c.bits & DP_HAS ? DP_OP(s_end, c.v, x) : x;
            r[k] = DP_EXCLUSIVE ? c.v : next;
            c.v = next;
            c.bits |= DP_HAS;
        }
    DP_GROUP_SCAN()

    const dp_carry total = sh[DP_SCANNED][DP_WG - 1];
    const bool begins = base == DP_SEG_START(s0); /* with a segment: nothing reaches it */
    dp_val sum = total.v;
    bool some = false;
    if (l == 0)
        dp_publish(heap, state, epoch, t, total.bits & DP_RESET ? 1 : 0, total.v);
    uint done = begins;
    for (long back = (long)t - 1; !done; back -= DP_WG) {
        if (l == 0)
            nearest = DP_WG;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (back >= (long)l && dp_await(heap, state, epoch, (ulong)back - l, &seen[l]))
            atomic_min(&nearest, l);
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint many = min(nearest + 1, (uint)DP_WG); /* tile 0 has published all: so many there are */
        if (8 * l < many) {
            uint q = min(8 * l + 7, many - 1);
            dp_val v = seen[q];
            while (q-- > 8 * l)
                v = DP_OP(s0, v, seen[q]);
            seen[8 * l] = v;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l == 0) {
            uint g = (many - 1) / 8;
            dp_val v = seen[8 * g];
            while (g-- > 0)
                v = DP_OP(s0, v, seen[8 * g]);
            sum = some ? DP_OP(s0, v, sum) : v;
            some = true;
        }
        done = nearest < DP_WG;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0 && !begins) {
        if (!(total.bits & DP_RESET))
            dp_publish(heap, state, epoch, t, 1, DP_OP(s0, sum, total.v));
        reach = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    dp_carry before;
    before.bits = begins ? 0 : DP_HAS;
    if (!begins)
        before.v = reach;
    c.bits = 0;
    if (l)
        c = sh[DP_SCANNED][l - 1];
    c = DP_JOIN(s0, before, c);
#pragma unroll
    for (uint k = 0; k < DP_ITEMS; k++)
        if (k < m) {
            bool open = !(starts & ((2U << k) - 1)); /* its segment began before the lane */
            dp_stage_put(stage, first + k, !open ? r[k] : DP_EXCLUSIVE && k == 0 ? c.v : DP_OP(s_begin, c.v, r[k]));
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = l; j < count; j += DP_WG)
        dp_store(out, base + j, dp_stage_get(stage, j) DP_PASS_OUTS);
}

#else /* GPU */
/* The carry of elements [i, hi) of one lane, read from the tile's stage; with STORE the prefixes replace the values. */
#define DP_SCAN_LANE(STORE) \
    for (ulong i = begin, s = s_begin; i < end; i++) { \
        s = DP_SKIP_EMPTY(s, i); \
        dp_val x = dp_stage_get(stage, (uint)(i - base)); \
        if (i == DP_SEG_START(s)) { \
            c.bits = DP_RESET | DP_HAS; \
            c.v = DP_NEUTRAL(s); \
        } \
        dp_val next = c.bits & DP_HAS ? DP_OP(s, c.v, x) : x; \
        if (STORE) \
            dp_stage_put(stage, (uint)(i - base), DP_EXCLUSIVE ? c.v : next); \
        c.v = next; \
        c.bits |= DP_HAS; \
        s_end = s; \
    }

/* One tile: loads it, scans the lanes' carries; afterwards `before` is what reaches this lane from the tile's other lanes. */
#define DP_SCAN_TILE() \
    ulong base = t * DP_TILE, s0 = 0, s1 = 0; \
    uint count = (uint)min((ulong)DP_TILE, n - base); \
    if (DP_SEGMENTED) { \
        s0 = DP_SEG_OF(base); \
        s1 = DP_SEG_BETWEEN(s0, nseg, base + count - 1); \
    } \
    for (uint j = l; j < count; j += DP_WG) { \
        ulong s = DP_USES_SEG ? DP_SEG_BETWEEN(s0, s1 + 1, base + j) : 0; \
        dp_stage_put(stage, j, DP_BODY(base + j, s)); \
    } \
    barrier(CLK_LOCAL_MEM_FENCE); \
    ulong begin = base + min(l * (uint)DP_ITEMS, count), end = base + min((l + 1) * (uint)DP_ITEMS, count); \
    ulong s_begin = begin < end ? DP_SEG_BETWEEN(s0, s1 + 1, begin) : s1, s_end = s_begin; \
    dp_carry c; \
    c.bits = 0; \
    DP_SCAN_LANE(0) \
    DP_GROUP_SCAN()

DP_KERNEL void dp_scan_chunks(DP_HEAP, ulong n, ulong nseg, ulong offsets, ulong part DP_WORDS)
{
    DP_STAGE(stage);
    __local dp_carry sh[2][DP_WG];
    uint l = get_local_id(0);
    ulong tiles = (n + DP_TILE - 1) / DP_TILE, s_last = 0;
    ulong t = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0));
    ulong t_end = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0) + 1);
    dp_carry carry;
    carry.bits = 0;
    for (; t < t_end; t++) {
        DP_SCAN_TILE()
        carry = DP_JOIN(s1, carry, sh[DP_SCANNED][DP_WG - 1]);
        s_last = s1;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        dp_put_carry(heap, part, get_group_id(0), s_last, carry);
}

/* In place: part[k] becomes what reaches chunk k. One work-group. */
DP_KERNEL void dp_scan_carries(DP_HEAP, ulong chunks, ulong part DP_WORDS)
{
    __local dp_carry sh[2][DP_WG];
    uint l = get_local_id(0);
    ulong lo = dp_chunk_start(chunks, DP_WG, l), hi = dp_chunk_start(chunks, DP_WG, l + 1), s_end = 0;
    dp_carry c;
    c.bits = 0;
    for (ulong k = lo; k < hi; k++) {
        s_end = DP_CARRY_SEGMENT(part, k);
        c = DP_JOIN(s_end, c, dp_get_carry(heap, part, k));
    }
    DP_GROUP_SCAN()
    c.bits = 0;
    if (l)
        c = sh[DP_SCANNED][l - 1];
    for (ulong k = lo; k < hi; k++) {
        ulong s = DP_CARRY_SEGMENT(part, k);
        dp_carry next = DP_JOIN(s, c, dp_get_carry(heap, part, k));
        dp_put_carry(heap, part, k, s, c);
        c = next;
    }
}

DP_KERNEL void dp_scan_write(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets,
                             ulong part DP_WORDS DP_OUTS)
{
    DP_STAGE(stage);
    __local dp_carry sh[2][DP_WG];
    uint l = get_local_id(0);
    ulong chunk = get_group_id(0), chunks = get_num_groups(0);
    ulong tiles = (n + DP_TILE - 1) / DP_TILE;
    ulong t = dp_chunk_start(tiles, chunks, chunk), t_end = dp_chunk_start(tiles, chunks, chunk + 1);
    dp_carry carry;
    carry.bits = 0;
    if (chunk)
        carry = dp_get_carry(heap, part, chunk);
    for (; t < t_end; t++) {
        DP_SCAN_TILE()
        dp_carry last = sh[DP_SCANNED][DP_WG - 1];
        c.bits = 0;
        if (l)
            c = sh[DP_SCANNED][l - 1];
        c = DP_JOIN(s_begin, carry, c);
        DP_SCAN_LANE(1)
        carry = DP_JOIN(s1, carry, last);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = l; j < count; j += DP_WG)
            dp_store(out, base + j, dp_stage_get(stage, j) DP_PASS_OUTS);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif
