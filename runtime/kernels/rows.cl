/* Behind lengths.cl: what segmented reductions by length (teams.cl) and sorts of short segments (segment_sort.cl) begin with on a GPU, sums of lengths instead of offsets, and the list of what is too long, or too
 * much for one group. */
#if !DP_CPU && DP_FENCE
/* Of a work-group's lanes: `ahead` of each what the sums of those before it come to, and `all`; by warps, or by sixteens. SUMS: a ulong for each lane, in
 * local memory; PART_SUMS: one for each DP_LANES_PART of them. */
#if DP_WARPS
enum { DP_LANES_PART = 32 };
#define DP_LANES_STEP(d) \
    x = dp_warp_up(up_to, d); \
    up_to += (l & 31) >= (d) ? x : 0;
#define DP_LANES_SCAN_PART(SUMS, sum, ahead) \
    { \
        ulong up_to = (sum), x; \
        DP_LANES_STEP(1) DP_LANES_STEP(2) DP_LANES_STEP(4) DP_LANES_STEP(8) DP_LANES_STEP(16) \
        ahead = up_to - (sum); \
    }
#else
enum { DP_LANES_PART = 16 };
#define DP_LANES_SCAN_PART(SUMS, sum, ahead) \
    SUMS[l] = (sum); \
    barrier(CLK_LOCAL_MEM_FENCE); \
    _Pragma("unroll 4") for (uint q = 0; q < 16; q++) ahead += q < (l & 15) ? SUMS[(l & ~15U) + q] : 0;
#endif
#define DP_LANES_SCAN(SUMS, PART_SUMS, sum, ahead, all) \
    DP_LANES_SCAN_PART(SUMS, sum, ahead) \
    if (l % DP_LANES_PART == DP_LANES_PART - 1) \
        PART_SUMS[l / DP_LANES_PART] = ahead + (sum); \
    barrier(CLK_LOCAL_MEM_FENCE); \
    _Pragma("unroll 4") for (uint q = 0; q < DP_WG / DP_LANES_PART; q++) { \
        ahead += q < l / DP_LANES_PART ? PART_SUMS[q] : 0; \
        all += PART_SUMS[q]; \
    }

/* The list of what is to be split by length: segments of more than `most` elements, and of a tile of more than `heavy` elements, which would be too much for groups that take `each`
 * neighbouring segments, ranges of fewer. There is room for `longs`, `most_pieces` and `most_ranges`: what is more is not noted. At `numbers` are three u32, 0 before. */
#define DP_LIST_ARGS ulong list, ulong entries, ulong pieces, ulong most, ulong longs, ulong most_pieces, ulong piece_log, ulong each, ulong heavy, ulong most_ranges, ulong numbers
#define DP_LIST_NUMBER(k) ((volatile __global uint *)(heap + numbers) + (k))
#define DP_LIST_LOCALS() \
    __local uint2 found[DP_LENGTHS_TILE]; /* of a tile's segments of many pieces: which one it is in the tile, and its place behind the tile's first, << 16; its first piece */ \
    __local uint nfound[3], places[2], range[1]; /* how many are long, their pieces, how many have many */
enum { DP_MANY_PIECES = 32 }; /* one lane notes as many */
/* Ranges of a tile of `all` elements; 0: it is not heavy. */
static inline uint dp_list_ranges(ulong all, ulong each, ulong heavy, ulong most_ranges)
{
    const uint usual = DP_LENGTHS_TILE / (uint)each;
    uint ranges = usual;
    if (all <= heavy || !most_ranges)
        return 0;
    for (const ulong wanted = heavy / usual; ranges < DP_LENGTHS_TILE && all > ranges * wanted;)
        ranges *= 2;
    return ranges;
}
/* By a work-group: what is on the list of the segments of a tile with so many elements in `all`. LENGTH(s), BEGIN(s): of segment s. has_long: may one be long? */
#define DP_LIST_TILE(tile, all, has_long, LENGTH, BEGIN) \
    { \
        const ulong first_of = (ulong)(tile) * DP_LENGTHS_TILE; \
        const uint ranges = dp_list_ranges((all), each, heavy, most_ranges); \
        const bool any = (has_long) && longs; \
        uint several[DP_LENGTHS_EACH], place = 0, piece = 0; \
        if (l < 3) \
            nfound[l] = 0; \
        barrier(CLK_LOCAL_MEM_FENCE); \
        if (any) { \
            uint segments_of_lane = 0, pieces_of_lane = 0; \
            _Pragma("unroll") for (uint q = 0; q < DP_LENGTHS_EACH; q++) { \
                const ulong s = first_of + q * DP_WG + l, length = s < n ? LENGTH(s) : 0; \
                several[q] = length > most ? (uint)DP_PIECES_OF(length) : 0; \
                segments_of_lane += several[q] != 0; \
                pieces_of_lane += several[q]; \
            } \
            if (segments_of_lane) { \
                place = atomic_add(nfound, segments_of_lane); \
                piece = atomic_add(nfound + 1, pieces_of_lane); \
            } \
        } \
        if (l == 0 && ranges) \
            range[0] = atomic_add(DP_LIST_NUMBER(2), ranges); \
        barrier(CLK_LOCAL_MEM_FENCE); \
        if (l < 2 && nfound[0]) \
            places[l] = atomic_add(DP_LIST_NUMBER(l), nfound[1 - l]); \
        barrier(CLK_LOCAL_MEM_FENCE); \
        for (uint k = l; k < ranges && range[0] + (ulong)ranges <= most_ranges; k += DP_WG) \
            *DP_AT(uint2, list + DP_LIST_HEAD + 8 * (ulong)(range[0] + k)) = \
                (uint2)((uint)first_of + k * (DP_LENGTHS_TILE / ranges), DP_LENGTHS_TILE / ranges); \
        if (any) { \
            _Pragma("unroll") for (uint q = 0; q < DP_LENGTHS_EACH; q++) { \
                const ulong s = first_of + q * DP_WG + l, at = (ulong)places[1] + place, first = (ulong)places[0] + piece; \
                if (several[q] && at < longs && first + several[q] <= most_pieces) { \
                    *DP_AT(uint4, entries + DP_LIST_BYTES * at) = (uint4)((uint)s, (uint)first, 0, 0); \
                    *DP_AT(ulong2, entries + DP_LIST_BYTES * at + 16) = (ulong2)(BEGIN(s), LENGTH(s)); \
                    if (several[q] > DP_MANY_PIECES) \
                        found[atomic_inc(nfound + 2)] = (uint2)(q * DP_WG + l | place << 16, piece); \
                    for (uint p = 0; p < several[q] && several[q] <= DP_MANY_PIECES; p++) \
                        *DP_AT(uint, pieces + 4 * (first + p)) = (uint)at; \
                } \
                place += several[q] != 0; \
                piece += several[q]; \
            } \
        } \
        barrier(CLK_LOCAL_MEM_FENCE); \
        for (uint f = l / 32, many = nfound[2]; f < many; f += DP_WG / 32) { /* by warps */ \
            const ulong s = first_of + (found[f].x & 0xffff), first = (ulong)places[0] + found[f].y; \
            for (uint p = l & 31, end = (uint)DP_PIECES_OF(LENGTH(s)); p < end; p += 32) \
                *DP_AT(uint, pieces + 4 * (first + p)) = places[1] + (found[f].x >> 16); \
        } \
        barrier(CLK_LOCAL_MEM_FENCE); \
    }
/* For what begins with the lengths (DP_ROWS in teams.cl, dp_sort_ranks): sums of n lengths by tiles, as common.cl has them, and a list, if it is not 0, of those of more than `most` elements. At `rows`
 * stands what is known of all, and at `mail`, if that is not 0, whether one has more than `alike` elements. If these are not lengths of pieces of `total` elements, fewer than UINT_MAX, DP_TILE_WRONG is set there,
 * and failure `negative` or `nest` is reported. Sums are plain, and of the lengths' low words: then they are wrong, but not `total` without a word above, and are found once more.
 *
 * Of many tiles dp_lengths_rows, a work-group a tile, leaves the words, and where segments begin in them, and dp_lengths_tiles, which has up to DP_WG tiles a work-group, the rest. Of fewer
 * dp_lengths_once does it all, where work-groups may wait for others (tickets as in pack.cl): a group waits for the words of all tiles before its own. */
#define DP_TILE_WORD(k) (*DP_AT(ulong, part + 16 * (k) + 8))
#define DP_TILE_START(k) (*DP_AT(ulong, part + 16 * (k)))
#define DP_ROWS_LOCALS() \
    __local ulong sums[DP_WG], part_sums[3][DP_WG / DP_LANES_PART]; \
    __local uint kinds[1];
/* The word of tile t, for all lanes. */
#define DP_ROWS_OF_TILE(t, word) \
    __local uint4 staged[DP_LENGTHS_TILE / 4]; \
    const __local uint *own = (__local uint *)staged + l * DP_LENGTHS_EACH; \
    const ulong numbers_of_tile = dp_row_numbers(rows, n, (t) * DP_LENGTHS_TILE, 0); \
    long loaded[DP_LENGTHS_EACH]; \
    uint longest = 0, above = 0, number[DP_LENGTHS_EACH]; \
    ulong sum = 0, ahead = 0, word = 0; \
    if (l == 0) \
        kinds[0] = 0; \
    DP_LENGTHS_LOAD(loaded, (t) * DP_LENGTHS_TILE, (uint)min((ulong)DP_LENGTHS_TILE, n - (t) * DP_LENGTHS_TILE)) \
    _Pragma("unroll") for (uint q = 0; q < DP_LENGTHS_EACH; q++) { \
        above |= (uint)(loaded[q] >> 32); \
        ((__local uint *)staged)[q * DP_WG + l] = (uint)loaded[q]; \
    } \
    barrier(CLK_LOCAL_MEM_FENCE); \
    _Pragma("unroll") for (uint q = 0; q < DP_LENGTHS_EACH; q++) { \
        sum += own[q]; \
        longest = max(longest, own[q]); \
    } \
    const uint kind = (above ? DP_TILE_WRONG : 0) | (longest > alike || !alike ? DP_TILE_OVER : 0) | (longest > most ? DP_TILE_LONG : 0); \
    if (kind) \
        atomic_or(kinds, kind); \
    DP_LANES_SCAN(sums, part_sums[0], sum, ahead, word) \
    _Pragma("unroll") for (uint q = 0; q < DP_LENGTHS_EACH; q++) { \
        number[q] = (uint)min(ahead, (ulong)UINT_MAX); \
        ahead += own[q]; \
    } \
    *DP_AT(ushort8, DP_ROW_NEAR_AT(numbers_of_tile, l * DP_LENGTHS_EACH)) = convert_ushort8_sat( \
        (uint8)(number[0], number[1], number[2], number[3], number[4], number[5], number[6], number[7])); \
    for (uint q = 0; q < DP_LENGTHS_EACH && word >= DP_ROW_FAR; q++) \
        *DP_AT(uint, DP_ROW_FAR_AT(numbers_of_tile, l * DP_LENGTHS_EACH + q)) = number[q]; \
    word |= (ulong)kinds[0] << DP_TILE_KINDS;

#define DP_ROW_BEGIN(s) dp_row_start(heap, rows, total, n, (s))
#define DP_ROW_LENGTH(s) dp_length(heap, address, stride, (s))
#define DP_STAGED_LENGTH(s) ((const __local uint *)staged)[(s) - t * DP_LENGTHS_TILE]
/* By the group that `ends`: of all tiles' sum and kinds. lows: a long for each lane. */
#define DP_ROWS_END(ends, all) \
    { \
        const bool is_wrong = (all) != total || (kinds[0] & DP_TILE_WRONG); \
        long low = 0; \
        ulong found_sum = 0; \
        if ((ends) && l == 0) { \
            *DP_AT(ulong, rows) = is_wrong ? DP_TILE_WRONG : kinds[0] & DP_TILE_OVER; \
            if (mail) \
                *DP_AT(ulong, mail) = kinds[0] & DP_TILE_OVER; \
        } \
        for (ulong i = l; i < n && is_wrong && (ends); i += DP_WG) { \
            found_sum = dp_size_add(found_sum, dp_length(heap, address, stride, i)); \
            low = min(low, DP_LENGTH(i)); \
        } \
        sums[l] = found_sum; \
        lows[l] = low; \
        barrier(CLK_LOCAL_MEM_FENCE); \
        if (l == 0 && is_wrong && (ends)) { \
            for (uint k = 1; k < DP_WG; k++) { \
                found_sum = dp_size_add(found_sum, sums[k]); \
                low = min(low, lows[k]); \
            } \
            if (low < 0) \
                dp_error(heap, (uint)negative, low, 0, 0); \
            else \
                dp_error(heap, (uint)nest, (long)found_sum, (long)total, 0); \
        } \
    }

DP_KERNEL void dp_lengths_rows(DP_HEAP, ulong n, ulong address, ulong rows, ulong alike, ulong most, ulong list)
{
    DP_ROWS_LOCALS()
    const uint l = get_local_id(0);
    const ulong stride = 8, t = get_group_id(0), part = rows + DP_SUMS_HEAD;
    DP_ROWS_OF_TILE(t, word)
    if (l == 0)
        DP_TILE_WORD(t) = word;
    if (t == 0 && l < 3 && list)
        *DP_AT(uint, list + 4 * l) = 0;
}

DP_KERNEL void dp_lengths_tiles(DP_HEAP, ulong n, ulong address, ulong rows, ulong tiles, ulong total, ulong negative, ulong nest,
                                ulong mail, DP_LIST_ARGS)
{
    enum { SEVERAL = 8 };
    DP_ROWS_LOCALS()
    DP_LIST_LOCALS()
    __local long lows[DP_WG];
    __local uint listed[1], tile_listed[DP_WG]; /* of the group's tiles those that have something for the list */
    const uint l = get_local_id(0), group = get_group_id(0), groups = get_num_groups(0);
    const ulong stride = 8, part = rows + DP_SUMS_HEAD, lo = dp_chunk_start(tiles, groups, group), hi = dp_chunk_start(tiles, groups, group + 1);
    const ulong of_own = lo + l < hi ? DP_TILE_WORD(lo + l) : 0, own = of_own & DP_TILE_SUM;
    ulong mine = 0, mine_before = 0, kind = 0, ahead = 0, all = 0, before = 0, unused = 0;
    if (l == 0)
        kinds[0] = listed[0] = 0;
    for (ulong k = l; k < tiles; k += SEVERAL * DP_WG) {
        ulong word[SEVERAL];
#pragma unroll
        for (uint q = 0; q < SEVERAL; q++)
            word[q] = k + q * DP_WG < tiles ? DP_TILE_WORD(k + q * DP_WG) : 0;
#pragma unroll
        for (uint q = 0; q < SEVERAL; q++) {
            mine += word[q] & DP_TILE_SUM;
            mine_before += k + q * DP_WG < lo ? word[q] & DP_TILE_SUM : 0;
            kind |= word[q];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (kind >> DP_TILE_KINDS)
        atomic_or(kinds, (uint)(kind >> DP_TILE_KINDS));
    DP_LANES_SCAN(sums, part_sums[0], mine, ahead, all)
    ahead = 0;
    DP_LANES_SCAN(sums, part_sums[1], mine_before, ahead, before)
    ahead = 0;
    DP_LANES_SCAN(sums, part_sums[2], own, ahead, unused)
    if (lo + l < hi)
        DP_TILE_START(lo + l) = before + ahead;
    if (lo + l < hi && list && (of_own >> DP_TILE_KINDS & DP_TILE_LONG || (most_ranges && own > heavy)))
        tile_listed[atomic_inc(listed)] = l;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* tiles' starts */
    for (uint k = 0, several = listed[0]; k < several; k++) {
        const ulong t = lo + tile_listed[k], word = DP_TILE_WORD(t);
        DP_LIST_TILE(t, word & DP_TILE_SUM, word >> DP_TILE_KINDS & DP_TILE_LONG, DP_ROW_LENGTH, DP_ROW_BEGIN)
    }
    DP_ROWS_END(group + 1 == groups, all)
}

#if DP_LOOKBACK
/* What tile t has published: 14 bits of the launch's epoch, its kinds, its sum. */
#define DP_TILE_PUBLISHED(t) ((volatile __global ulong *)(heap + state + 16))[t]
enum { DP_PUBLISHED_KINDS = 46 };
#define DP_PUBLISHED_SUM ((1UL << DP_PUBLISHED_KINDS) - 1)
DP_KERNEL void dp_lengths_once(DP_HEAP, ulong n, ulong address, ulong rows, ulong tiles, ulong total, ulong negative, ulong nest,
                               ulong mail, DP_LIST_ARGS, ulong alike, ulong state, ulong epoch, ulong tickets)
{
    DP_ROWS_LOCALS()
    DP_LIST_LOCALS()
    __local long lows[DP_WG];
    __local uint ticket[1];
    const uint l = get_local_id(0);
    if (l == 0)
        ticket[0] = atomic_inc((volatile __global uint *)(heap + state)) - (uint)tickets;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong stride = 8, t = ticket[0], part = rows + DP_SUMS_HEAD;
    DP_ROWS_OF_TILE(t, word)
    if (l == 0 && t == 0 && list) {
        for (uint k = 0; k < 3; k++)
            *DP_AT(uint, list + 4 * k) = 0;
        DP_DEVICE_FENCE();
    }
    if (l == 0)
        DP_TILE_PUBLISHED(t) = epoch << 50 | (word >> DP_TILE_KINDS) << DP_PUBLISHED_KINDS | (word & DP_TILE_SUM);
    ulong mine = 0, before = 0;
    uint others = 0;
    for (ulong k = l; k < t; k += DP_WG) {
        ulong published;
        do
            published = DP_TILE_PUBLISHED(k);
        while (published >> 50 != epoch);
        mine += published & DP_PUBLISHED_SUM;
        others |= (uint)(published >> DP_PUBLISHED_KINDS) & 15;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (others)
        atomic_or(kinds, others);
    ahead = 0;
    DP_LANES_SCAN(sums, part_sums[1], mine, ahead, before)
    if (l == 0) {
        DP_DEVICE_FENCE(); /* the list is empty */
        DP_TILE_START(t) = before;
        DP_TILE_WORD(t) = word;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    DP_LIST_TILE(t, list ? word & DP_TILE_SUM : 0, list && (word >> DP_TILE_KINDS & DP_TILE_LONG), DP_STAGED_LENGTH, DP_ROW_BEGIN)
    DP_ROWS_END(t + 1 == tiles, before + (word & DP_TILE_SUM))
}
#endif

/* The list of segments whose offsets are there. `counter`: a u32, 0 before and after. */
#define DP_ITS_BEGIN(s) DP_OFFSET(offsets, (s))
#define DP_ITS_LENGTH(s) (DP_OFFSET(offsets, (s) + 1) - DP_OFFSET(offsets, (s)))
DP_KERNEL void dp_lengths_list(DP_HEAP, ulong n, ulong offsets, ulong counter, DP_LIST_ARGS)
{
    __local uint last[1];
    DP_LIST_LOCALS()
    const uint l = get_local_id(0), t = get_group_id(0);
    const ulong base = (ulong)t * DP_LENGTHS_TILE;
    const ulong all = DP_OFFSET(offsets, min(base + DP_LENGTHS_TILE, n)) - DP_OFFSET(offsets, base);
    DP_LIST_TILE(t, all, all > most, DP_ITS_LENGTH, DP_ITS_BEGIN)
    if (l == 0) {
        DP_IS_LAST_GROUP(last[0], counter)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (last[0]) {
        DP_DEVICE_FENCE();
        if (l < 3 && list)
            *DP_AT(uint, list + 4 * l) = atomic_xchg(DP_LIST_NUMBER(l), 0U);
    }
}
#endif
