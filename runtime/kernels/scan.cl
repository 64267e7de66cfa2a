/* SCAN: prefixes of every segment, inclusive, or exclusive with DP_EXCLUSIVE 1; n > 0.
 *
 * GPU, one pass: dp_scan_onepass takes tiles in the order of tickets. Values are loaded side by side, once, each lane scans a run of them in
 * registers, the lanes' carries are scanned; what reaches the tile it finds by looking back at what the tiles before it have published:
 * the combination of the tile's own elements, or all that reaches its end. A tile in which a segment begins publishes the latter at once, and
 * one that begins with a segment need not look. A value goes out in words, each beside its launch's epoch: no fence is
 * needed, nor anything cleared (lookback.c).
 *
 * What is stored is the prefix, or what dp_then makes of it and of other things at the same place (DP_STORE).
 *
 * Elsewhere, reduce, then scan: dp_scan_chunks leaves each chunk's carry (not launched for a single chunk), dp_scan_carries (GPU) turns
 * these into what reaches each chunk, dp_scan_write does the chunk again with that and stores. The body is evaluated twice.
 *
 * CPU: a work-item a chunk of consecutive elements; a chunk's carry needs only the elements behind its last segment start; the writer joins
 * the few carries before its own itself. Of longer segments it goes by vectors (scan_run.cl). GPU: a work-group a chunk, in tiles: values are loaded side by side into local memory, each
 * lane scans DP_ITEMS of them, the lanes' carries are scanned, the prefixes go back the same way. Barriers stand in the tile
 * loop only, whose bounds are uniform. Empty segments have no elements and are walked over. */
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
    DP_HELD()
    for (ulong s = i < hi ? DP_SEG_OF(i) : 0; i < hi; s++) {
        s = DP_SKIP_EMPTY(s, i);
        if (i == DP_SEG_START(s))
            v = DP_NEUTRAL(s);
        const ulong end = min(hi, DP_SEG_END(s));
        DP_SCAN_VECTORS(i, end, s, v)
        DP_HOLD()
        for (; i < end; i++) {
            DP_TAKE()
            dp_val next = DP_OP(s, v, DP_BODY(i, s));
            DP_STORE(i, s, DP_EXCLUSIVE ? v : next);
            v = next;
            DP_HOLD()
        }
        DP_TAKE()
    }
}

#elif DP_LOOKBACK
/* A published word: 14 bits of the launch's epoch, 2 of the kind, 48 of the value: all of it where its fields have at most 6 bytes, else each 4 bytes
 * are a word. Kind 0: of the tile's own elements, 1: of all that reaches its end. One word serves as both. */
#ifdef DP_FIELDS
#define DP_FIELD_BYTES(T, field) + sizeof(T)
#define DP_FIELD_SHIFT(T, field) { union { T part; ulong bits; } f; f.bits = 0; f.part = v.field; word = word << 8 * sizeof(T) | f.bits; }
#define DP_FIELD_UNSHIFT(T, field) \
    { union { T part; ulong bits; } f; left -= 8 * sizeof(T); f.bits = word >> left; w.v.field = f.part; }
#define DP_PUBLISHED_BYTES (0 DP_FIELDS(DP_FIELD_BYTES))
#else
#define DP_PUBLISHED_BYTES sizeof(dp_val)
#define DP_FIELDS(F)
#endif
#define DP_PUBLISHED_WORDS (DP_PUBLISHED_BYTES <= 6 ? 1 : DP_VAL_WORDS)
#define DP_PUBLISHED(kind, t, k) \
    ((volatile __global ulong *)(heap + state + 16))[(2 * (t) + (DP_PUBLISHED_WORDS > 1 ? (kind) : 0)) * DP_PUBLISHED_WORDS + (k)]

static inline void dp_publish(DP_HEAP, ulong state, ulong epoch, ulong t, uint kind, dp_val v)
{
    const ulong head = (epoch << 2 | kind) << 48;
    if (DP_PUBLISHED_WORDS == 1) {
        ulong word = 0;
        DP_FIELDS(DP_FIELD_SHIFT)
        DP_PUBLISHED(kind, t, 0) = head | word;
    } else {
        dp_staged w;
        w.v = v;
#pragma unroll
        for (uint k = 0; k < DP_VAL_WORDS; k++)
            DP_PUBLISHED(kind, t, k) = head | w.word[k];
    }
}

/* Waits for tile t; of which kind it is. */
static inline uint dp_await(DP_HEAP, ulong state, ulong epoch, ulong t, dp_val *v)
{
    dp_staged w;
    ulong word = 0;
    uint kind = 0;
    do {
        if (DP_PUBLISHED_WORDS > 1)
            kind = DP_PUBLISHED(1, t, 0) >> 50 == epoch;
        word = DP_PUBLISHED(kind, t, 0);
    } while (word >> 50 != epoch);
    kind = (uint)(word >> 48) & 1;
    if (DP_PUBLISHED_WORDS == 1) {
        uint left = 8 * DP_PUBLISHED_BYTES;
        DP_FIELDS(DP_FIELD_UNSHIFT)
    } else {
        w.word[0] = (uint)word;
#pragma unroll
        for (uint k = 1; k < DP_VAL_WORDS; k++) {
            do
                word = DP_PUBLISHED(kind, t, k);
            while (word >> 50 != epoch);
            w.word[k] = (uint)word;
        }
    }
    *v = w.v;
    return kind;
}

/* s: of the segments s ... s + many - 1 the last one that begins no later than i, looked for by all lanes together: a round asks as many of
 * them as there are lanes. Straight-line: loops with barriers that begin with another loop's end are too much for PoCL. */
#define DP_SEGMENT_ROUND(s, many, i) \
    if (l == 0) \
        farthest[0] = 0; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    { \
        const ulong step = (many + DP_WG - 1) / DP_WG; \
        if (l * step < many && DP_OFFSET(offsets, s + l * step) <= i) \
            atomic_max(&farthest[0], l); \
        barrier(CLK_LOCAL_MEM_FENCE); \
        s += farthest[0] * step; \
        many = min(step, many - farthest[0] * step); \
    } \
    barrier(CLK_LOCAL_MEM_FENCE);
#define DP_WINDOW 32 /* tiles that are looked at together */

DP_KERNEL void dp_scan_onepass(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong state,
                               ulong epoch, ulong tickets DP_WORDS DP_OUTS)
{
    DP_STAGE(stage);
    __local dp_carry sh[2][DP_WG];
    __local dp_val seen[DP_WINDOW], reach[1];
    __local uint ticket[1], farthest[1], kinds[DP_WINDOW];
    const uint l = get_local_id(0);
    __local uint *loaded = DP_STAGE_LOADED(stage), *own = DP_STAGE_RUN(stage, DP_ITEMS);
    if (l == 0)
        ticket[0] = atomic_inc((volatile __global uint *)(heap + state)) - (uint)tickets;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong t = ticket[0], base = t * DP_TILE;
    const uint count = (uint)min((ulong)DP_TILE, n - base);
    ulong s0 = 0, s1 = 0;
#if DP_SEGMENTED
    const ulong last = base + count - 1;
    ulong many = nseg;
    DP_SEGMENT_ROUND(s0, many, base)
    DP_SEGMENT_ROUND(s0, many, base)
    DP_SEGMENT_ROUND(s0, many, base)
    s0 = DP_SEG_BETWEEN(s0, s0 + many, base);
    s1 = s0;
    many = nseg - s0 > DP_WG && DP_OFFSET(offsets, s0 + DP_WG) > last ? DP_WG : nseg - s0;
    DP_SEGMENT_ROUND(s1, many, last)
    s1 = DP_SEG_BETWEEN(s1, s1 + many, last);
#endif
#define DP_SCAN_ELEMENT(i) DP_BODY((i), DP_USES_SEG ? DP_SEG_BETWEEN(s0, s1 + 1, (i)) : 0)
#if DP_LANES
    if (count == DP_TILE) {
#pragma unroll
        for (uint k = 0; k < DP_ITEMS; k++)
            dp_stage_put(loaded + k * DP_STAGE_NEXT, DP_SCAN_ELEMENT(base + l + k * DP_WG));
    } else
#endif
        for (uint j = l; j < count; j += DP_WG)
            dp_stage_put(stage + DP_SLOT(j), DP_SCAN_ELEMENT(base + j));
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
#define DP_SCAN_RUN(THERE) \
    _Pragma("unroll") for (uint k = 0; k < DP_ITEMS; k++) \
        if (THERE) { \
            if (DP_SEGMENTED && begin + k == stop) { \
                s_end = DP_SKIP_EMPTY(s_end + 1, stop); \
                stop = DP_SEG_END(s_end); \
                start = true; \
            } \
            if (start) { \
                c.bits = DP_RESET | DP_HAS; \
                c.v = DP_NEUTRAL(s_end); \
                starts |= 1U << k; \
                start = false; \
            } \
            dp_val x = dp_stage_get(own + k), next = c.bits & DP_HAS ? DP_OP(s_end, c.v, x) : x; \
            r[k] = DP_EXCLUSIVE ? c.v : next; \
            c.v = next; \
            c.bits |= DP_HAS; \
        }
    const bool full = DP_LANES && count == DP_TILE; /* then nothing is asked of each element */
    if (full) {
        DP_SCAN_RUN(true)
    } else {
        DP_SCAN_RUN(k < m)
    }
    DP_GROUP_SCAN()

    const dp_carry total = sh[DP_SCANNED][DP_WG - 1];
    const bool begins = base == DP_SEG_START(s0); /* with a segment: nothing reaches it */
    dp_val sum = total.v;
    bool some = false;
    if (l == 0)
        dp_publish(heap, state, epoch, t, total.bits & DP_RESET ? 1 : 0, total.v);
#if DP_WARPS
    if (l < 32) /* work-item q: of tiles back - q ... to the nearest one that has published all */
        for (long back = (long)t - 1, done = begins; !done; back -= 32) {
            dp_staged w, behind;
            w.v = total.v;
            const uint all = dp_warp_ballot(back >= (long)l ? dp_await(heap, state, epoch, (ulong)back - l, &w.v) : 1);
            const uint last = all ? popcount((all & -all) - 1) : 31;
            _Pragma("unroll") for (uint by = 1; by < 32; by *= 2) {
                _Pragma("unroll") for (uint k = 0; k < DP_VAL_WORDS; k++)
                    behind.word[k] = dp_warp_down(w.word[k], by);
                if (l + by <= last)
                    w.v = DP_OP(s0, behind.v, w.v);
            }
            sum = some ? DP_OP(s0, w.v, sum) : w.v;
            some = true;
            done = all != 0;
        }
#else
    uint done = begins;
    for (long back = (long)t - 1; !done; back -= DP_WINDOW) {
        if (l < DP_WINDOW) {
            dp_val v = total.v;
            kinds[l] = back >= (long)l ? dp_await(heap, state, epoch, (ulong)back - l, &v) : 1;
            seen[l] = v;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l == 0) { /* tile 0 has published all: no further */
            uint q = 0;
            dp_val v = seen[0];
            while (!kinds[q] && q + 1 < DP_WINDOW)
                v = DP_OP(s0, seen[++q], v);
            sum = some ? DP_OP(s0, v, sum) : v;
            some = true;
            farthest[0] = kinds[q];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        done = farthest[0];
    }
#endif
    if (l == 0 && !begins) {
        if (!(total.bits & DP_RESET))
            dp_publish(heap, state, epoch, t, 1, DP_OP(s0, sum, total.v));
        reach[0] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    dp_carry before;
    before.bits = begins ? 0 : DP_HAS;
    if (!begins)
        before.v = reach[0];
    c.bits = 0;
    if (l)
        c = sh[DP_SCANNED][l - 1];
    c = DP_JOIN(s0, before, c);
#define DP_SCAN_PUT(THERE) \
    _Pragma("unroll") for (uint k = 0; k < DP_ITEMS; k++) \
        if (THERE) { \
            bool open = !(starts & ((2U << k) - 1)); /* its segment began before the lane */ \
            dp_stage_put(own + k, !open ? r[k] : DP_EXCLUSIVE && k == 0 ? c.v : DP_OP(s_begin, c.v, r[k])); \
        }
    if (full) {
        DP_SCAN_PUT(true)
    } else {
        DP_SCAN_PUT(k < m)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = l; j < count; j += DP_WG, loaded += DP_STAGE_NEXT)
        DP_STORE(base + j, DP_USES_SEG ? DP_SEG_BETWEEN(s0, s1 + 1, base + j) : 0, dp_stage_get(loaded));
}

#else /* GPU */
/* The carry of elements [i, hi) of one lane, read from the tile's stage; with STORE the prefixes replace the values. */
#define DP_SCAN_LANE(STORE) \
    for (ulong i = begin, s = s_begin; i < end; i++) { \
        s = DP_SKIP_EMPTY(s, i); \
        dp_val x = dp_stage_get(stage + DP_SLOT((uint)(i - base))); \
        if (i == DP_SEG_START(s)) { \
            c.bits = DP_RESET | DP_HAS; \
            c.v = DP_NEUTRAL(s); \
        } \
        dp_val next = c.bits & DP_HAS ? DP_OP(s, c.v, x) : x; \
        if (STORE) \
            dp_stage_put(stage + DP_SLOT((uint)(i - base)), DP_EXCLUSIVE ? c.v : next); \
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
        dp_stage_put(stage + DP_SLOT(j), DP_BODY(base + j, s)); \
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
    ulong tiles = (n + DP_TILE - 1) / DP_TILE;
    ulong t = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0));
    ulong t_end = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0) + 1);
    ulong s_last = t && t == t_end ? DP_SEG_OF(min(t * DP_TILE, n) - 1) : 0; /* a chunk without tiles hands on what is before it */
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
    DP_SCAN_OF_CHUNKS(0)
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
            DP_STORE(base + j, DP_USES_SEG ? DP_SEG_BETWEEN(s0, s1 + 1, base + j) : 0, dp_stage_get(stage + DP_SLOT(j)));
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif
