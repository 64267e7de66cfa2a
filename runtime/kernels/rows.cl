/* Behind lengths.cl: what segmented reductions by length (teams.cl) begin with on a GPU, sums of lengths instead of offsets, and the list of what is too long, or too
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
 * neighbouring segments, ranges of fewer. There is room for `longs`, `most_pieces` and `most_ranges`: what is more is not noted. At `numbers` are three u32, 0 before and after. */
#define DP_LIST_ARGS ulong list, ulong entries, ulong pieces, ulong most, ulong longs, ulong most_pieces, ulong piece_log, ulong each, ulong heavy, ulong most_ranges, ulong numbers
#define DP_LIST_NUMBER(k) ((volatile __global uint *)(heap + numbers) + (k))
#define DP_LIST_LOCALS() \
    __local ulong2 found_elements[DP_WG]; \
    __local uint4 found[DP_WG]; /* segment, first piece, number of pieces */ \
    __local uint nfound[2], places[2], any_long[1], range[1];
/* By all lanes at once: those with `is_long` have one, `segment`, of `length` elements from `begin` on. */
#define DP_LIST_LONG(is_long, segment, begin, length) \
    if (l < 2) \
        nfound[l] = 0; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    if (is_long) { \
        const uint k = (uint)DP_PIECES_OF((ulong)(length)), f = atomic_inc(nfound), p = atomic_add(nfound + 1, k); \
        found[f] = (uint4)((uint)(segment), p, k, 0); \
        found_elements[f] = (ulong2)((begin), (length)); \
    } \
    barrier(CLK_LOCAL_MEM_FENCE); \
    if (l < 2 && nfound[0]) \
        places[l] = atomic_add(DP_LIST_NUMBER(l), nfound[1 - l]); \
    barrier(CLK_LOCAL_MEM_FENCE); \
    for (uint f = l / 32; f < nfound[0]; f += DP_WG / 32) { \
        const ulong place = (ulong)places[1] + f, first = (ulong)places[0] + found[f].y, several = found[f].z; \
        const bool fits = place < longs && first + several <= most_pieces; \
        if (fits && (l & 31) == 0) { \
            *DP_AT(uint4, entries + DP_LIST_BYTES * place) = (uint4)(found[f].x, (uint)first, 0, 0); \
            *DP_AT(ulong2, entries + DP_LIST_BYTES * place + 16) = found_elements[f]; \
        } \
        for (uint p = l & 31; p < several && fits; p += 32) \
            *DP_AT(uint, pieces + 4 * (first + p)) = (uint)place; \
    } \
    barrier(CLK_LOCAL_MEM_FENCE);
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
/* After a barrier behind which range[0] is where they stand. */
#define DP_LIST_RANGES(ranges, tile) \
    for (uint k = l; k < (ranges) && range[0] + (ulong)(ranges) <= most_ranges; k += DP_WG) \
        *DP_AT(uint2, list + DP_LIST_HEAD + 8 * (ulong)(range[0] + k)) = \
            (uint2)((uint)(tile) * DP_LENGTHS_TILE + k * (DP_LENGTHS_TILE / (ranges)), DP_LENGTHS_TILE / (ranges));
/* By the last group: the numbers stand in the list. */
#define DP_LIST_END(none) \
    if (l < 3 && list) { \
        const uint number = atomic_xchg(DP_LIST_NUMBER(l), 0U); \
        *DP_AT(uint, list + 4 * l) = (none) ? 0 : number; \
    }

/* For reductions that begin with the lengths (DP_ROWS in teams.cl): each work-group goes over a tile of lengths. At `rows` a word, not 0 if one has more than `alike` elements, and, from
 * DP_SUMS_HEAD on, two words for each tile, of which the first becomes the sum of the tiles before it, then for each length a u32, the sum of those before it in its tile. Segments of more than `most` elements are put on the
 * list, where they begin in their tile. The group that comes last scans the tiles; if these are not lengths of pieces of `total` elements, fewer than UINT_MAX, it reports
 * failure `negative` or `nest`. `counter`: a u32, 0 before and after. Sums are plain, and of the lengths' low words: then they are wrong, but not `total` without a word
 * above, and are found once more. */
#define DP_TILE_SUM(k) (*DP_AT(ulong, part + 16 * (k)))
#define DP_TILE_ODD(k) (*DP_AT(ulong, part + 16 * (k) + 8)) /* has one a word above, 1? more than `alike` elements, 2? */
DP_KERNEL void dp_lengths_rows(DP_HEAP, ulong n, ulong address, ulong rows, ulong counter, ulong total, ulong negative, ulong nest,
                               ulong alike, DP_LIST_ARGS)
{
    __local ulong sums[DP_WG], part_sums[DP_WG / DP_LANES_PART];
    __local long lows[DP_WG];
    __local uint4 staged[DP_LENGTHS_TILE / 4];
    __local uint last[1], odd[1], over[1];
    DP_LIST_LOCALS()
    const uint l = get_local_id(0);
    const ulong stride = 8, tiles = get_num_groups(0), part = rows + DP_SUMS_HEAD, sums_at = part + 16 * tiles;
    const ulong t = get_group_id(0), at = t * DP_LENGTHS_TILE + l * DP_LENGTHS_EACH;
    const uint count = (uint)min((ulong)DP_LENGTHS_TILE, n - t * DP_LENGTHS_TILE);
    const __local uint *own = (__local uint *)staged + l * DP_LENGTHS_EACH;
    long low = 0, loaded[DP_LENGTHS_EACH];
    uint longest = 0, above = 0;
    ulong sum = 0, ahead = 0, all = 0;
    if (l == 0)
        any_long[0] = odd[0] = over[0] = 0;
    DP_LENGTHS_LOAD(loaded, t * DP_LENGTHS_TILE, count)
#pragma unroll
    for (uint q = 0; q < DP_LENGTHS_EACH; q++) {
        above |= (uint)(loaded[q] >> 32);
        ((__local uint *)staged)[q * DP_WG + l] = (uint)loaded[q];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint q = 0; q < DP_LENGTHS_EACH; q++) {
        sum += own[q];
        longest = max(longest, own[q]);
    }
    if (above)
        atomic_or(odd, 1U);
    if (longest > alike || !alike)
        over[0] = 1;
    if (longest > most)
        any_long[0] = 1;
    DP_LANES_SCAN(sums, part_sums, sum, ahead, all)
    ulong before = ahead;
    uint number[DP_LENGTHS_EACH];
#pragma unroll
    for (uint q = 0; q < DP_LENGTHS_EACH; q++) {
        number[q] = (uint)min(before, (ulong)UINT_MAX);
        before += own[q];
    }
    if (count == DP_LENGTHS_TILE) {
#pragma unroll
        for (uint q = 0; q < DP_LENGTHS_EACH; q += 4)
            *DP_AT(uint4, sums_at + 4 * (at + q)) = (uint4)(number[q], number[q + 1], number[q + 2], number[q + 3]);
    } else {
#pragma unroll
        for (uint q = 0; q < DP_LENGTHS_EACH; q++)
            if (at + q < n)
                *DP_AT(uint, sums_at + 4 * (at + q)) = number[q];
    }
    before = ahead;
    const uint rounds = any_long[0] && longs ? DP_LENGTHS_EACH : 0;
    for (uint q = 0; q < rounds; q++) {
        const uint length = own[q];
        DP_LIST_LONG(length > most, at + q, before, (ulong)length)
        before += length;
    }
    const uint ranges = dp_list_ranges(all, each, heavy, most_ranges);
    if (l == 0) {
        if (ranges)
            range[0] = atomic_add(DP_LIST_NUMBER(2), ranges);
        DP_TILE_SUM(t) = all;
        DP_TILE_ODD(t) = odd[0] | over[0] << 1;
        DP_IS_LAST_GROUP(last[0], counter)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    DP_LIST_RANGES(ranges, t)
    DP_ONLY_LAST_GROUP(last[0])
    const ulong ours = last[0] ? tiles : 0, lo = dp_chunk_start(ours, DP_WG, l), hi = dp_chunk_start(ours, DP_WG, l + 1);
    ulong of_tile[DP_LENGTHS_EACH];
    above = 0;
    sum = ahead = all = 0;
    for (ulong k = lo; k < hi; k += DP_LENGTHS_EACH) {
        ulong is_odd[DP_LENGTHS_EACH];
#pragma unroll
        for (uint q = 0; q < DP_LENGTHS_EACH; q++) {
            of_tile[q] = k + q < hi ? DP_TILE_SUM(k + q) : 0;
            is_odd[q] = k + q < hi ? DP_TILE_ODD(k + q) : 0;
        }
#pragma unroll
        for (uint q = 0; q < DP_LENGTHS_EACH; q++) {
            sum += of_tile[q];
            above |= (uint)is_odd[q];
        }
    }
    if (above)
        atomic_or(odd, above);
    DP_LANES_SCAN(sums, part_sums, sum, ahead, all)
    for (ulong k = lo; k < hi; k += DP_LENGTHS_EACH) {
#pragma unroll
        for (uint q = 0; q < DP_LENGTHS_EACH; q++)
            of_tile[q] = k + q < hi ? DP_TILE_SUM(k + q) : 0;
#pragma unroll
        for (uint q = 0; q < DP_LENGTHS_EACH; q++) {
            if (k + q < hi)
                DP_TILE_SUM(k + q) = ahead;
            ahead += of_tile[q];
        }
    }
    const ulong wrong = ours && (all != total || (odd[0] & 1)) ? n : 0;
    sum = 0;
    for (ulong i = l; i < wrong; i += DP_WG) {
        sum = dp_size_add(sum, dp_length(heap, address, stride, i));
        low = min(low, DP_LENGTH(i));
    }
    sums[l] = sum;
    lows[l] = low;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (ours)
        DP_LIST_END(wrong)
    if (ours && l == 0)
        *DP_AT(ulong, rows) = odd[0] & 2;
    if (l == 0 && wrong) {
        for (uint k = 1; k < DP_WG; k++) {
            sum = dp_size_add(sum, sums[k]);
            low = min(low, lows[k]);
        }
        if (low < 0)
            dp_error(heap, (uint)negative, low, 0, 0);
        else
            dp_error(heap, (uint)nest, (long)sum, (long)total, 0);
    }
}

/* The list of segments whose offsets are there. `counter` as above. */
DP_KERNEL void dp_lengths_list(DP_HEAP, ulong n, ulong offsets, ulong counter, DP_LIST_ARGS)
{
    __local uint last[1];
    DP_LIST_LOCALS()
    const uint l = get_local_id(0);
    const ulong base = (ulong)get_group_id(0) * DP_LENGTHS_TILE;
    ulong longest = 0;
    if (l == 0)
        any_long[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint q = 0; q < DP_LENGTHS_EACH; q++) {
        const ulong s = base + q * DP_WG + l;
        longest = max(longest, s < n ? DP_OFFSET(offsets, s + 1) - DP_OFFSET(offsets, s) : 0);
    }
    if (longest > most)
        any_long[0] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint rounds = any_long[0] && longs ? DP_LENGTHS_EACH : 0;
    for (uint q = 0; q < rounds; q++) {
        const ulong s = base + q * DP_WG + l, begin = s < n ? DP_OFFSET(offsets, s) : 0, length = s < n ? DP_OFFSET(offsets, s + 1) - begin : 0;
        DP_LIST_LONG(length > most, s, begin, length)
    }
    const ulong all = DP_OFFSET(offsets, min(base + DP_LENGTHS_TILE, n)) - DP_OFFSET(offsets, base);
    const uint ranges = dp_list_ranges(all, each, heavy, most_ranges);
    if (l == 0) {
        if (ranges)
            range[0] = atomic_add(DP_LIST_NUMBER(2), ranges);
        DP_IS_LAST_GROUP(last[0], counter)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    DP_LIST_RANGES(ranges, get_group_id(0))
    if (last[0]) {
        DP_DEVICE_FENCE();
        DP_LIST_END(false)
    }
}
#endif
