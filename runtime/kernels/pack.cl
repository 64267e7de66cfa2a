/* PACK: DP_WAYS selections of the instances i < n, each once and in order: dp_ways(dp_body(i)) has bit w if selection w has i, which becomes
 * its instance `at`: there is stored what is wanted of it, positions or values. n > 0. Totals go to `mail`, a word each. With
 * DP_SEGMENTED also offsets: how many are kept before each segment, at o1, o3 and so on. Empty segments have no instances.
 *
 * GPU: tiles of DP_PACK_ITEMS elements a lane. Elements are evaluated side by side, once, and their values stay in registers; their bits go
 * through local memory to the lanes that count runs of them; these counts are scanned, and the lanes put the rank of each element of their
 * run, among those of the tile that a selection keeps, beside it. What is kept is put together in local memory by these ranks, a column at a time,
 * and stored from there side by side. dp_pack_onepass takes its tiles in the order of tickets, and finds what stands before a tile by looking back at
 * the words that the tiles before it have published: a count of the tile alone, or of all up to it (Merrill and Garland 2016).
 * This needs work-groups that go on while others wait; where that is not certain, dp_pack_count counts chunks of tiles,
 * dp_pack_carries makes these exclusive sums, and dp_pack_write evaluates again and stores. Less than a tile is dp_pack_write alone; part is 0 then.
 * CPU: a work-item a chunk; dp_pack_count (not for a single chunk, part is 0 then), dp_pack_write, which adds up the counts before its own.
 * Barriers stand in loops only whose bounds are uniform. */
#define DP_BODY(i, s) dp_body(heap, (i), (s) DP_PASS)
#define DP_KEPT_AT(T, o, at) (*(__global T *)(out + (o) + (at) * sizeof(T)))

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
#define DP_PACK_APART 64 /* as in pack.c */
/* What is stored of element i, the `at`th that the selection keeps. */
#define DP_PACK_KEEP(at_way, bytes, T, o, value) \
    if (way == at_way) \
        DP_KEPT_AT(T, o, at) = value;
static inline void dp_keep(__global uchar *out, uint way, ulong at, ulong i, dp_val v DP_OUTS)
{
    DP_KEPT_FIRST(DP_PACK_KEEP)
    DP_KEPT_REST(DP_PACK_KEEP)
}
#define DP_KEEP(way, at, i, v) dp_keep(out, (way), (at), (i), (v) DP_PASS_OUTS)

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
     * this would spoil the next chunk's place: then it goes to a place behind all n, which no other chunk's cache line has, or nothing is left to
     * do. */
    const ulong beside = n + DP_PACK_APART * chunk;
#if DP_WAYS == 1 && !DP_SEGMENTED
    DP_PACK_WALK(, if (to[0] == stop[0]) break; DP_KEEP(0, to[0], i, v); to[0] += yes;)
#else
    DP_PACK_WALK(for (uint w = 0; w < DP_WAYS; w++) DP_PUT_OFFSET(w, p, to[w]);,
                 _Pragma("unroll") for (uint w = 0; w < DP_WAYS; w++) {
                     DP_KEEP(w, to[w] == stop[w] ? beside : to[w], i, v);
                     to[w] += yes >> w & 1;
                 })
#endif
    if (chunk + 1 == chunks)
        for (uint w = 0; w < DP_WAYS; w++)
            *DP_AT(ulong, mail + 8 * w) = to[w];
}

#else /* GPU */
/* As in pack.c: by the size of the values that a lane keeps, and so that all fits into 48 KiB of local memory. */
#define DP_PACK_LOCAL (DP_KEPT_BYTES + 2 * DP_WAYS + 1)
#define DP_PACK_ITEMS (DP_VAL_BYTES <= 16 && DP_PACK_LOCAL <= 11 ? 16 : DP_VAL_BYTES <= 32 ? 8 : 4)
#define DP_PACK_TILE (DP_PACK_ITEMS * DP_WG)
#define DP_RUN_WORDS (DP_PACK_ITEMS / 4) /* of a run's flags, a byte each */
/* Counts of all selections in a tile: 16 bits each. */
#if DP_WAYS <= 2
#define DP_COUNTS uint
#else
#define DP_COUNTS ulong
#endif
#define DP_COUNT_OF(c, way) ((uint)((c) >> (16 * (way))) & 0xffff)
#define DP_ADD_BYTES(word) ((word) * 0x01010101U >> 24)

/* The segments that the tile's elements lie in. */
#if DP_SEGMENTED
#define DP_PACK_SEGMENTS() \
    ulong s0 = DP_SEG_OF(base), s1 = DP_SEG_BETWEEN(s0, nseg, base + count - 1);
#else
#define DP_PACK_SEGMENTS() ulong s0 = 0, s1 = 0;
#endif

#define DP_PACK_SEGMENT(i) (DP_USES_SEG ? DP_SEG_BETWEEN(s0, s1 + 1, (i)) : 0)
/* A tile is full: its elements stand at known distances. The last one begins earlier, for that, and skips those of the tile before it. Only
 * n < DP_PACK_TILE is in dp_pack_write's one tile, where lanes behind the end do the last element again. */
#define DP_PACK_FULL() \
    dp_val all[DP_PACK_ITEMS]; \
    DP_BODIES(all, DP_PACK_ITEMS, base + l + q * DP_WG, DP_PACK_SEGMENT(base + l + q * DP_WG))
#define DP_PACK_PART() \
    dp_val all[DP_PACK_ITEMS]; \
    DP_BODIES(all, DP_PACK_ITEMS, base + min(q * DP_WG + l, count - 1), DP_PACK_SEGMENT(base + min(q * DP_WG + l, count - 1)))

/* One tile: its values all[], ranks[w], which say how many of the elements before each one selection w keeps, and total, in the tile. */
#define DP_ALIGNED __attribute__((aligned(16)))
#define DP_PACK_LOCALS() \
    __local uint flags[DP_PACK_TILE / 4] DP_ALIGNED, ranks[DP_WAYS][DP_PACK_TILE / 2] DP_ALIGNED; \
    __local uint lane_counts[DP_WAYS][DP_WG / 4] DP_ALIGNED; \
    __local uint row_counts[DP_WAYS][DP_WG / 32] DP_ALIGNED; \
    __local uint stage[DP_PACK_TILE * DP_KEPT_BYTES / 4] DP_ALIGNED; \
    uint l = get_local_id(0);
#define DP_PACK_TILE_COUNT() \
    _Pragma("unroll") for (uint k = 0; k < DP_PACK_ITEMS; k++) \
        ((__local uchar *)flags + l)[k * DP_WG] = (uchar)dp_ways(all[k]); \
    if (skip || count < DP_PACK_TILE) \
        for (uint j = l; j < DP_PACK_TILE; j += DP_WG) \
            if (j < skip || j >= count) \
                ((__local uchar *)flags)[j] = 0; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    uint run[DP_RUN_WORDS]; \
    DP_COUNTS own = 0, ahead = 0, total = 0; \
    _Pragma("unroll") for (uint q = 0; q < DP_RUN_WORDS; q++) \
        run[q] = flags[l * DP_RUN_WORDS + q]; \
    _Pragma("unroll") for (uint w = 0; w < DP_WAYS; w++) { \
        uint sum = 0; \
        _Pragma("unroll") for (uint q = 0; q < DP_RUN_WORDS; q++) \
            sum += run[q] >> w & 0x01010101U; \
        ((__local uchar *)lane_counts[w])[l] = (uchar)DP_ADD_BYTES(sum); \
        own |= (DP_COUNTS)DP_ADD_BYTES(sum) << 16 * w; \
    } \
    barrier(CLK_LOCAL_MEM_FENCE); \
    _Pragma("unroll") for (uint w = 0; w < DP_WAYS; w++) { /* of those before it in its row of 16 lanes, by bytes: at most 240 */ \
        uint sum = 0; \
        _Pragma("unroll") for (uint q = 0; q < 4; q++) { \
            const int bits = 8 * ((int)(l & 15) - 4 * (int)q); \
            const uint before = lane_counts[w][(l >> 4) * 4 + q] & (bits >= 32 ? ~0U : bits <= 0 ? 0U : (1U << (bits & 31)) - 1); \
            sum += before; \
        } \
        ahead |= (DP_COUNTS)DP_ADD_BYTES(sum) << 16 * w; \
    } \
    if ((l & 15) == 15) \
        _Pragma("unroll") for (uint w = 0; w < DP_WAYS; w++) \
            ((__local ushort *)row_counts[w])[l >> 4] = (ushort)(DP_COUNT_OF(ahead, w) + DP_COUNT_OF(own, w)); \
    barrier(CLK_LOCAL_MEM_FENCE); \
    _Pragma("unroll") for (uint w = 0; w < DP_WAYS; w++) { /* two rows a word */ \
        uint rows = l & 16 ? ((__local const ushort *)row_counts[w])[l / 16 - 1] : 0, sum = 0; \
        _Pragma("unroll") for (uint q = 0; q < DP_WG / 32; q++) { \
            rows += q < l >> 5 ? row_counts[w][q] : 0; \
            sum += row_counts[w][q]; \
        } \
        ahead += (DP_COUNTS)((rows & 0xffff) + (rows >> 16)) << 16 * w; \
        total |= (DP_COUNTS)((sum & 0xffff) + (sum >> 16)) << 16 * w; \
    }
#define DP_PACK_TILE_RANKS() \
    _Pragma("unroll") for (uint w = 0; w < DP_WAYS; w++) { /* two ranks a word */ \
        uint rank = DP_COUNT_OF(ahead, w) * 0x10001U; \
        _Pragma("unroll") for (uint q = 0; q < DP_RUN_WORDS; q++) { \
            const uint bytes = run[q] >> w & 0x01010101U, no = bytes ^ 0x01010101U; \
            const uint upto = bytes * 0x01010101U, before = upto - bytes; \
            ranks[w][(l * DP_RUN_WORDS + q) * 2] = rank + ((before & 0xff) | (before & 0xff00) << 8 | (no & 1) << 15 | (no & 0x100) << 23); \
            ranks[w][(l * DP_RUN_WORDS + q) * 2 + 1] = \
                rank + ((before >> 16 & 0xff) | before >> 24 << 16 | (no & 0x10000) >> 1 | (no & 0x1000000) << 7); \
            rank += (upto >> 24) * 0x10001U; \
        } \
    } \
    barrier(CLK_LOCAL_MEM_FENCE);

#define DP_RANK(way, j) (((__local const ushort *)ranks[way])[j] & 0x7fff)
/* DO for the lane's elements v = all[i] that a selection keeps, whose place is `rank`. */
#define DP_PACK_EACH(way, DO) \
    { \
        ushort places[DP_PACK_ITEMS]; \
        _Pragma("unroll") for (uint k = 0; k < DP_PACK_ITEMS; k++) \
            places[k] = ((__local const ushort *)ranks[way] + l)[k * DP_WG]; \
        _Pragma("unroll") for (uint k = 0; k < DP_PACK_ITEMS; k++) { \
            const ulong i = base + l + k * DP_WG; \
            const dp_val v = all[k]; \
            const uint rank = places[k]; \
            if (rank < 0x8000) { \
                DO \
            } \
        } \
    }
/* A column of what is kept, values of so many bytes: put together in the stage and stored from there, so that work-items side by side store side by
 * side, from a multiple of 32 elements on. Of 16 bytes: stored at once, which is as fast. before[w]: how many stand before the tile. */
#define DP_PACK_STAGE(way, bytes, T, o, value) DP_PACK_STAGE_##bytes(way, T, value)
#define DP_PACK_UNSTAGE(way, bytes, T, o, value) DP_PACK_UNSTAGE_##bytes(way, T, o, value)
#define DP_PACK_STAGE_1(way, T, value) DP_PACK_EACH(way, ((__local T *)stage)[rank] = value;) barrier(CLK_LOCAL_MEM_FENCE);
#define DP_PACK_STAGE_2 DP_PACK_STAGE_1
#define DP_PACK_STAGE_4 DP_PACK_STAGE_1
#define DP_PACK_STAGE_8 DP_PACK_STAGE_1
#define DP_PACK_STAGE_16(way, T, value)
#define DP_PACK_UNSTAGE_1(way, T, o, value) \
    { \
        const uint off = (uint)before[way] & 31, end = DP_COUNT_OF(total, way) + off; \
        __global T *to = (__global T *)(out + o) + (before[way] - off) + l; \
        __local const T *from = (__local const T *)stage + (int)(l - off); \
        for (uint first = 0; first + l < end; first += 4 * DP_WG) { \
            _Pragma("unroll") for (uint q = 0; q < 4; q++) \
                if (first + l + q * DP_WG < end && (q || first + l >= off)) \
                    to[first + q * DP_WG] = from[first + q * DP_WG]; \
        } \
    }
#define DP_PACK_UNSTAGE_2 DP_PACK_UNSTAGE_1
#define DP_PACK_UNSTAGE_4 DP_PACK_UNSTAGE_1
#define DP_PACK_UNSTAGE_8 DP_PACK_UNSTAGE_1
#define DP_PACK_UNSTAGE_16(way, T, o, value) DP_PACK_EACH(way, DP_KEPT_AT(T, o, before[way] + rank) = value;)
#define DP_PACK_NEXT(way, bytes, T, o, value) \
    barrier(CLK_LOCAL_MEM_FENCE); \
    DP_PACK_STAGE_##bytes(way, T, value) \
    DP_PACK_UNSTAGE_##bytes(way, T, o, value)

#if DP_SEGMENTED
#define DP_PACK_OFFSETS() \
    ulong p_end = base + count == n ? nseg + 1 : s1 + 1; \
    for (ulong p = (base + skip ? DP_SEG_OF(base + skip - 1) + 1 : 0) + l; p < p_end; p += DP_WG) { \
        uint j = (uint)(DP_OFFSET(offsets, p) - base); \
        _Pragma("unroll") for (uint w = 0; w < DP_WAYS; w++) \
            DP_PUT_OFFSET(w, p, before[w] + (j < count ? DP_RANK(w, j) : DP_COUNT_OF(total, w))); \
    }
#else
#define DP_PACK_OFFSETS()
#endif
/* The first column is put together before it is known what stands before the tile. */
#define DP_PACK_STORE() \
    DP_KEPT_FIRST(DP_PACK_UNSTAGE) \
    DP_KEPT_REST(DP_PACK_NEXT) \
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
    const ulong t = ticket[0], base = min(t * DP_PACK_TILE, n - DP_PACK_TILE);
    const uint count = DP_PACK_TILE, skip = (uint)(t * DP_PACK_TILE - base);
    DP_PACK_SEGMENTS()
    DP_PACK_FULL()
    DP_PACK_TILE_COUNT()
    if (l < DP_WAYS)
        DP_PUBLISHED(l, t) = (epoch << 2 | (t ? 1 : 2)) << 32 | DP_COUNT_OF(total, l);
    DP_PACK_TILE_RANKS()
    DP_KEPT_FIRST(DP_PACK_STAGE)
    ulong before[DP_WAYS] = {0};
#if DP_WARPS
    /* A warp for each selection looks at 32 tiles before, and so on, up to the nearest that has counted all before it. */
    if (l < 32 * DP_WAYS) {
        const uint way = l / 32, q = l % 32;
        uint sum = 0, last = t == 0;
        for (long at = (long)t - 1 - q; !last; at -= 32) {
            ulong word = 2UL << 32;
            if (at >= 0)
                do
                    word = DP_PUBLISHED(way, (ulong)at);
                while (word >> 34 != epoch);
            last = dp_warp_ballot(word >> 32 & 2);
            sum += q <= (last ? popcount((last & -last) - 1) : 31) ? (uint)word : 0;
        }
        _Pragma("unroll") for (uint by = 16; by; by /= 2) {
            const uint behind = dp_warp_down(sum, by);
            sum += q + by < 32 ? behind : 0;
        }
        if (q == 0) {
            const uint upto = sum + DP_COUNT_OF(total, way);
            if (t)
                DP_PUBLISHED(way, t) = (epoch << 2 | 2) << 32 | upto;
            if (base + count == n)
                *DP_AT(ulong, mail + 8 * way) = upto;
            seen[way] = sum;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    _Pragma("unroll") for (uint w = 0; w < DP_WAYS; w++)
        before[w] = seen[w];
#else
    /* Lanes side by side look at the DP_WINDOW tiles before, for each selection up to the nearest that has counted all before it. */
    const uint way = l / DP_WINDOW, q = l % DP_WINDOW;
    uint open = t ? (1U << DP_WAYS) - 1 : 0;
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
            uint sum = 0;
            _Pragma("unroll") for (uint g = 0; g < DP_WINDOW / 16; g++)
                sum += seen_sums[w * (DP_WINDOW / 16) + g];
            before[w] += sum;
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
#endif
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
            uint yes = dp_ways(DP_BODY(base + j, DP_PACK_SEGMENT(base + j)));
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

#endif

DP_KERNEL void dp_pack_write(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong part,
                             ulong mail DP_WORDS DP_OUTS)
{
    DP_PACK_LOCALS()
    ulong tiles = (n + DP_PACK_TILE - 1) / DP_PACK_TILE, before[DP_WAYS];
    ulong t = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0));
    ulong t_end = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0) + 1);
    for (uint w = 0; w < DP_WAYS; w++)
        before[w] = part ? *DP_AT(ulong, part + 8 * (DP_WAYS * get_group_id(0) + w)) : 0;
    for (; t < t_end; t++) {
        const ulong base = t * DP_PACK_TILE;
        const uint count = (uint)min((ulong)DP_PACK_TILE, n - base), skip = 0;
        DP_PACK_SEGMENTS()
        DP_PACK_PART()
        DP_PACK_TILE_COUNT()
        DP_PACK_TILE_RANKS()
        DP_KEPT_FIRST(DP_PACK_STAGE)
        DP_PACK_STORE()
        for (uint w = 0; w < DP_WAYS; w++)
            before[w] += DP_COUNT_OF(total, w);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint w = 0; w < DP_WAYS; w++)
        if (l == w && !part)
            *DP_AT(ulong, mail + 8 * w) = before[w];
}
#endif
