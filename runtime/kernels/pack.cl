/* PACK: DP_WAYS selections of the instances i < n, each once and in order: dp_ways(dp_body(i)) has bit w if selection w has i, which becomes
 * its instance `at`: dp_keep stores what is wanted of it, positions or values. n > 0. Totals go to `mail`, a word each. With
 * DP_SEGMENTED also offsets: how many are kept before each segment, at o1, o3 and so on. Empty segments have no instances.
 *
 * GPU: tiles of DP_PACK_ITEMS elements a lane. Elements are evaluated side by side, once, and their values stay in registers; their bits go
 * through local memory to the lanes that count runs of them; these counts are scanned. So an element's place is what stands before its
 * run and the bits before it there. dp_pack_onepass takes its tiles in the order of tickets, and finds what stands before a tile by looking
 * back at the words that the tiles before it have published: a count of the tile alone, or of all up to it (Merrill and Garland 2016).
 * This needs work-groups that go on while others wait; where that is not certain, dp_pack_count counts chunks of tiles,
 * dp_pack_carries makes these exclusive sums, and dp_pack_write evaluates again and stores.
 * CPU: a work-item a chunk; dp_pack_count (not for a single chunk, part is 0 then), dp_pack_write, which adds up the counts before its own.
 * Barriers stand in loops only whose bounds are uniform. */
#define DP_BODY(i, s) dp_body(heap, (i), (s) DP_PASS)
#define DP_KEEP(way, at, i, v) dp_keep(out, (way), (at), (i), (v) DP_PASS_OUTS)

/* The number of elements kept before segment p, of one selection. */
static inline void dp_put_offset(DP_HEAP, uint way, ulong p, ulong before DP_OUTS)
{
    if (way == 0)
        *DP_AT(ulong, o1 + 8 * p) = before;
#if DP_WAYS > 1
    if (way == 1)
        *DP_AT(ulong, o3 + 8 * p) = before;
#endif
#if DP_WAYS > 2
    if (way == 2)
        *DP_AT(ulong, o5 + 8 * p) = before;
#endif
#if DP_WAYS > 3
    if (way == 3)
        *DP_AT(ulong, o7 + 8 * p) = before;
#endif
}
#define DP_PUT_OFFSET(way, p, before) dp_put_offset(out, (way), (p), (before) DP_PASS_OUTS)

#if DP_CPU
/* STATEMENT for each i of the chunk [i, hi), with `dp_val v` and its bits `yes`; BOUNDARY for each segment p that begins there, or ends at n. */
#if DP_SEGMENTED
#define DP_PACK_WALK(BOUNDARY, STATEMENT) \
    for (ulong p = i ? DP_SEG_OF(i - 1) + 1 : 0;;) { \
        for (; p <= nseg && DP_OFFSET(offsets, p) <= i && (i < hi || hi == n); p++) { \
            BOUNDARY \
        } \
        if (i >= hi) \
            break; \
        for (ulong s = p - 1, end = p <= nseg ? min(hi, DP_OFFSET(offsets, p)) : hi; i < end; i++) { \
            dp_val v = DP_BODY(i, s); \
            uint yes = dp_ways(v); \
            STATEMENT \
        } \
    }
#else
#define DP_PACK_WALK(BOUNDARY, STATEMENT) \
    for (; i < hi; i++) { \
        dp_val v = DP_BODY(i, 0); \
        uint yes = dp_ways(v); \
        STATEMENT \
    }
#endif

DP_KERNEL void dp_pack_count(DP_HEAP, ulong n, ulong nseg, ulong offsets, ulong part DP_WORDS)
{
    ulong chunk = get_global_id(0), chunks = get_global_size(0);
    ulong i = dp_chunk_start(n, chunks, chunk), hi = dp_chunk_start(n, chunks, chunk + 1);
    uint count[DP_WAYS] = {0};
    DP_PACK_WALK(, _Pragma("unroll") for (uint w = 0; w < DP_WAYS; w++) count[w] += yes >> w & 1;)
    for (uint w = 0; w < DP_WAYS; w++)
        *DP_AT(ulong, part + 8 * (DP_WAYS * chunk + w)) = count[w];
}

DP_KERNEL void dp_pack_write(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong part,
                             ulong mail DP_WORDS DP_OUTS)
{
    ulong chunk = get_global_id(0), chunks = get_global_size(0);
    ulong i = dp_chunk_start(n, chunks, chunk), hi = dp_chunk_start(n, chunks, chunk + 1);
    ulong to[DP_WAYS], stop[DP_WAYS];
    for (uint w = 0; w < DP_WAYS; w++) {
        to[w] = 0;
        for (ulong k = 0; k < chunk; k++)
            to[w] += *DP_AT(ulong, part + 8 * (DP_WAYS * k + w));
        stop[w] = part ? to[w] + *DP_AT(ulong, part + 8 * (DP_WAYS * chunk + w)) : n;
    }
    /* Without a branch: an element is written even where it does not count, and the next one that does overwrites it. After the chunk's last one
     * this would spoil the next chunk's place: then it goes to a place of its own, behind all n, or nothing is left to do. */
#if DP_WAYS == 1 && !DP_SEGMENTED
    DP_PACK_WALK(, if (to[0] == stop[0]) break; DP_KEEP(0, to[0], i, v); to[0] += yes;)
#else
    DP_PACK_WALK(for (uint w = 0; w < DP_WAYS; w++) DP_PUT_OFFSET(w, p, to[w]);,
                 _Pragma("unroll") for (uint w = 0; w < DP_WAYS; w++) {
                     DP_KEEP(w, to[w] == stop[w] ? n : to[w], i, v);
                     to[w] += yes >> w & 1;
                 })
#endif
    if (chunk + 1 == chunks)
        for (uint w = 0; w < DP_WAYS; w++)
            *DP_AT(ulong, mail + 8 * w) = to[w];
}

#else /* GPU */
/* By the size of the values that a lane keeps: 16, 8 or 4. */
#ifndef DP_PACK_ITEMS
#define DP_PACK_ITEMS (DP_VAL_BYTES <= 16 ? 16 : DP_VAL_BYTES <= 32 ? 8 : 4)
#endif
#define DP_PACK_TILE (DP_PACK_ITEMS * DP_WG)
#define DP_COUNT_OF(c, way) ((uint)((c) >> (16 * (way))) & 0xffff) /* counts of all selections in a tile: 16 bits each */

/* The segments that the tile's elements lie in. */
#if DP_SEGMENTED
#define DP_PACK_SEGMENTS() \
    ulong s0 = DP_SEG_OF(base), s1 = DP_SEG_BETWEEN(s0, nseg, base + count - 1);
#else
#define DP_PACK_SEGMENTS() ulong s0 = 0, s1 = 0;
#endif

#define DP_PACK_ELEMENT(i) DP_BODY((i), DP_USES_SEG ? DP_SEG_BETWEEN(s0, s1 + 1, (i)) : 0)
/* v[] and flags, where a tile is full: the lane's elements are at known distances. Else lanes behind the end do the last element again. */
#if DP_LANES
#define DP_PACK_EVALUATE() \
    if (count == DP_PACK_TILE) { \
        _Pragma("unroll") for (uint k = 0; k < DP_PACK_ITEMS; k++) \
            v[k] = DP_PACK_ELEMENT(base + l + k * DP_WG); \
    } else { \
        _Pragma("unroll") for (uint k = 0; k < DP_PACK_ITEMS; k++) \
            v[k] = DP_PACK_ELEMENT(base + min(k * DP_WG + l, count - 1)); \
    }
#else
#define DP_PACK_EVALUATE() \
    _Pragma("unroll") for (uint k = 0; k < DP_PACK_ITEMS; k++) \
        v[k] = DP_PACK_ELEMENT(base + min(k * DP_WG + l, count - 1));
#endif

/* One tile, to be stored: its values v[], and in runs[w][k] the bits of run k and, above, how many stand before it; total: in the tile. */
#define DP_PACK_LOCALS() \
    __local uint flags[DP_PACK_TILE / 4], runs[DP_WAYS][DP_WG]; \
    __local ulong lane_count[DP_WG], group_count[DP_WG / 16]; \
    uint l = get_local_id(0);
#define DP_PACK_TILE_COUNT() \
    dp_val v[DP_PACK_ITEMS]; \
    ulong c = 0, total = 0; \
    DP_PACK_EVALUATE() \
    _Pragma("unroll") for (uint k = 0; k < DP_PACK_ITEMS; k++) { \
        ((__local uchar *)flags)[k * DP_WG + l] = k * DP_WG + l < count ? (uchar)dp_ways(v[k]) : 0; \
    } \
    barrier(CLK_LOCAL_MEM_FENCE); \
    uint bits[DP_WAYS]; \
    _Pragma("unroll") for (uint w = 0; w < DP_WAYS; w++) { \
        bits[w] = 0; \
        _Pragma("unroll") for (uint q = 0; q < DP_PACK_ITEMS / 4; q++) /* four bytes to four bits */ \
            bits[w] |= ((flags[l * (DP_PACK_ITEMS / 4) + q] >> w & 0x01010101) * 0x01020408 >> 24 & 15) << 4 * q; \
        c += (ulong)popcount(bits[w]) << 16 * w; \
    } \
    lane_count[l] = c; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    ulong ahead = 0; \
    _Pragma("unroll") for (uint q = 0; q < 15; q++) \
        ahead += q < (l & 15) ? lane_count[(l & ~15U) + q] : 0; \
    if ((l & 15) == 15) \
        group_count[l >> 4] = ahead + c; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    _Pragma("unroll") for (uint q = 0; q < DP_WG / 16; q++) { \
        ahead += q < l >> 4 ? group_count[q] : 0; \
        total += group_count[q]; \
    } \
    _Pragma("unroll") for (uint w = 0; w < DP_WAYS; w++) \
        runs[w][l] = bits[w] | DP_COUNT_OF(ahead, w) << 16; \
    barrier(CLK_LOCAL_MEM_FENCE);

/* How many of the tile's elements before element j are kept. */
static inline uint dp_rank(__local const uint *runs, uint j)
{
    uint run = runs[j / DP_PACK_ITEMS];
    return (run >> 16) + popcount(run & ((1U << j % DP_PACK_ITEMS) - 1));
}

/* Stores the tile's values; before[w]: how many stand before it. */
#if DP_SEGMENTED
#define DP_PACK_OFFSETS() \
    ulong p_end = base + count == n ? nseg + 1 : s1 + 1; \
    for (ulong p = (base ? DP_SEG_OF(base - 1) + 1 : 0) + l; p < p_end; p += DP_WG) { \
        uint j = (uint)(DP_OFFSET(offsets, p) - base); \
        _Pragma("unroll") for (uint w = 0; w < DP_WAYS; w++) \
            DP_PUT_OFFSET(w, p, before[w] + (j < count ? dp_rank(runs[w], j) : DP_COUNT_OF(total, w))); \
    }
#else
#define DP_PACK_OFFSETS()
#endif
#define DP_PACK_STORE() \
    _Pragma("unroll") for (uint k = 0; k < DP_PACK_ITEMS; k++) { \
        uint j = k * DP_WG + l, yes = j < count ? dp_ways(v[k]) : 0; \
        _Pragma("unroll") for (uint w = 0; w < DP_WAYS; w++) \
            if (yes >> w & 1) \
                DP_KEEP(w, before[w] + dp_rank(runs[w], j), base + j, v[k]); \
    } \
    DP_PACK_OFFSETS()

#if DP_LOOKBACK
/* A published word: status and 2 + 30 bits of the epoch (so that nothing need be cleared), 1: of the tile alone, 2: of all up to it; the count. */
#define DP_PUBLISHED(way, t) ((volatile __global ulong *)(heap + state + 16))[(t) * DP_WAYS + (way)]

#define DP_WINDOW (DP_WG / (DP_WAYS == 3 ? 4 : DP_WAYS))

DP_KERNEL void dp_pack_onepass(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong state,
                               ulong epoch, ulong tickets, ulong mail DP_WORDS DP_OUTS)
{
    DP_PACK_LOCALS()
    __local uint ticket[1], nearest[DP_WAYS], seen[DP_WG], seen_sums[DP_WG / 16];
    if (l == 0)
        ticket[0] = atomic_inc((volatile __global uint *)(heap + state)) - (uint)tickets;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong t = ticket[0], base = t * DP_PACK_TILE;
    const uint count = (uint)min((ulong)DP_PACK_TILE, n - base);
    DP_PACK_SEGMENTS()
    DP_PACK_TILE_COUNT()
    if (l < DP_WAYS)
        DP_PUBLISHED(l, t) = (epoch << 2 | (t ? 1 : 2)) << 32 | DP_COUNT_OF(total, l);
    /* Lanes side by side look at the DP_WINDOW tiles before, for each selection up to the nearest that has counted all before it. */
    const uint way = l / DP_WINDOW, q = l % DP_WINDOW;
    uint open = t ? (1U << DP_WAYS) - 1 : 0;
    ulong before[DP_WAYS] = {0};
    for (long back = (long)t - 1; open; back -= DP_WINDOW) {
        const bool looks = way < DP_WAYS && open >> way & 1 && back >= (long)q;
        uint count_there = 0;
        if (l < DP_WAYS)
            nearest[l] = DP_WINDOW;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (looks) {
            ulong word;
            do
                word = DP_PUBLISHED(way, (ulong)back - q);
            while (word >> 34 != epoch);
            count_there = (uint)word;
            if (word >> 32 & 2)
                atomic_min(&nearest[way], q);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        seen[l] = looks && q <= nearest[way] ? count_there : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((l & 15) == 0) {
            uint sum = 0;
            _Pragma("unroll") for (uint k = 0; k < 16; k++)
                sum += seen[l + k];
            seen_sums[l >> 4] = sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint w = 0; w < DP_WAYS; w++) {
            _Pragma("unroll") for (uint g = 0; g < DP_WINDOW / 16; g++)
                before[w] += seen_sums[w * (DP_WINDOW / 16) + g];
            if (nearest[w] < DP_WINDOW)
                open &= ~(1U << w);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    _Pragma("unroll") for (uint w = 0; w < DP_WAYS; w++)
        if (l == w) {
            if (t)
                DP_PUBLISHED(w, t) = (epoch << 2 | 2) << 32 | (before[w] + DP_COUNT_OF(total, w));
            if (base + count == n)
                *DP_AT(ulong, mail + 8 * w) = before[w] + DP_COUNT_OF(total, w);
        }
    DP_PACK_STORE()
}

#else
DP_KERNEL void dp_pack_count(DP_HEAP, ulong n, ulong nseg, ulong offsets, ulong part DP_WORDS)
{
    __local uint all[DP_WAYS];
    uint l = get_local_id(0), mine[DP_WAYS] = {0};
    ulong tiles = (n + DP_PACK_TILE - 1) / DP_PACK_TILE;
    ulong t = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0));
    ulong t_end = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0) + 1);
    if (l < DP_WAYS)
        all[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (; t < t_end; t++) {
        const ulong base = t * DP_PACK_TILE;
        const uint count = (uint)min((ulong)DP_PACK_TILE, n - base);
        DP_PACK_SEGMENTS()
        for (uint j = l; j < count; j += DP_WG) {
            uint yes = dp_ways(DP_PACK_ELEMENT(base + j));
            for (uint w = 0; w < DP_WAYS; w++)
                mine[w] += yes >> w & 1;
        }
    }
    for (uint w = 0; w < DP_WAYS; w++)
        atomic_add(&all[w], mine[w]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < DP_WAYS)
        *DP_AT(ulong, part + 8 * (DP_WAYS * get_group_id(0) + l)) = all[l];
}

/* In place: part[k] becomes the sum of those before. One work-group. */
DP_KERNEL void dp_pack_carries(DP_HEAP, ulong chunks, ulong part, ulong mail)
{
    __local ulong sums[DP_WAYS][DP_WG];
    uint l = get_local_id(0);
    ulong lo = dp_chunk_start(chunks, DP_WG, l), hi = dp_chunk_start(chunks, DP_WG, l + 1);
    for (uint w = 0; w < DP_WAYS; w++) {
        ulong c = 0;
        for (ulong k = lo; k < hi; k++)
            c += *DP_AT(ulong, part + 8 * (DP_WAYS * k + w));
        sums[w][l] = c;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint w = 0; w < DP_WAYS; w++) {
        ulong c = 0;
        for (uint k = 0; k < l; k++)
            c += sums[w][k];
        for (ulong k = lo; k < hi; k++) {
            ulong count = *DP_AT(ulong, part + 8 * (DP_WAYS * k + w));
            *DP_AT(ulong, part + 8 * (DP_WAYS * k + w)) = c;
            c += count;
        }
        if (l == DP_WG - 1)
            *DP_AT(ulong, mail + 8 * w) = c;
    }
}

DP_KERNEL void dp_pack_write(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong part,
                             ulong mail DP_WORDS DP_OUTS)
{
    DP_PACK_LOCALS()
    ulong tiles = (n + DP_PACK_TILE - 1) / DP_PACK_TILE, before[DP_WAYS];
    ulong t = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0));
    ulong t_end = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0) + 1);
    for (uint w = 0; w < DP_WAYS; w++)
        before[w] = *DP_AT(ulong, part + 8 * (DP_WAYS * get_group_id(0) + w));
    for (; t < t_end; t++) {
        const ulong base = t * DP_PACK_TILE;
        const uint count = (uint)min((ulong)DP_PACK_TILE, n - base);
        DP_PACK_SEGMENTS()
        DP_PACK_TILE_COUNT()
        DP_PACK_STORE()
        for (uint w = 0; w < DP_WAYS; w++)
            before[w] += DP_COUNT_OF(total, w);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif
#endif
