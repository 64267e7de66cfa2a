/* Sorts within segments that are short enough for one work-group or one work-item, stably, by one key column; kernels for both sizes
 * of keys (DP_K, DP_SORTED: radix_pass.cl).
 *
 * Element i of a segment is the one at pos[i] of the key column (pos == 0: at i). What is made: places[i], the pos of the element that
 * belongs at i; and value[i], of `bytes`, from the key column: either may be 0, not wanted. So several key columns are sorted by one
 * after the other, the last one first.
 *
 * GPU: dp_sort_ranks takes the segments of up to `most` <= DP_SORT_LOCAL / 2 elements, some per work-group; each element counts those of its segment that go
 * before it. dp_sort_groups takes the blocks of longer ones, which dp_sort_list has found: lanes sort runs, which are merged in local memory, each lane its
 * share of the result; dp_sort_merge merges the blocks of a segment, round by round. CPU: dp_sort_segments, a stretch of segments a work-item: by insertion, longer ones by their range, or by digits; where
 * only the first or the last elements are wanted, these are found instead.
 * Empty segments have nothing to do. Barriers stand in loops with uniform bounds. */

/* What is loaded from places `pos`, and stored. */
#define DP_SORT_PLACE(i) (pos ? DP_AT(uint, pos)[i] : (uint)(i))
#define DP_SORT_STORE(i, place) \
    { \
        if (places) \
            DP_OUT(uint, places)[i] = (place); \
        if (value && bytes == 4) \
            DP_OUT(uint, value)[i] = DP_AT(uint, src)[place]; \
        else if (value && bytes == 8) \
            DP_OUT(ulong, value)[i] = DP_AT(ulong, src)[place]; \
        else if (value && bytes == 2) \
            DP_OUT(ushort, value)[i] = DP_AT(ushort, src)[place]; \
        else if (value) \
            DP_OUT(uchar, value)[i] = DP_AT(uchar, src)[place]; \
    }

#if DP_CPU
#define DP_SORT_INSERTED 24 /* elements, at most, that are sorted by insertion */

/* One more behind j in order, to its place among them. */
static inline void DP_SORTED(dp_sort_insert)(__global DP_K *keys, __global uint *at, uint j, DP_K key, uint place)
{
    for (; j > 0 && keys[j - 1] > key; j--) {
        keys[j] = keys[j - 1];
        at[j] = at[j - 1];
    }
    keys[j] = key;
    at[j] = place;
}

/* keys and at, n each, in order, in the other pair: dealt into cells, at least as many as keys, by how far these are above the least one, then
 * inserted. False, and nothing is done: too many are in the same cells. */
static inline bool DP_SORTED(dp_sort_by_range)(__global const DP_K *keys, __global const uint *at, __global DP_K *keys1, __global uint *at1,
                                               uint n, DP_K least, DP_K most)
{
    uint count[DP_SORT_CELLS];
    const uint wanted = min(33 - (uint)clz(n), (uint)DP_SORT_CELL_BITS), has = 8 * sizeof(DP_K) - (uint)clz(most - least);
    const uint bits = min(wanted, has), shift = has - bits, cells = 1u << bits;
    ulong pairs = 0;
    uint sum = 0;
    for (uint c = 0; c < cells; c++)
        count[c] = 0;
    for (uint i = 0; i < n; i++)
        count[(uint)((keys[i] - least) >> shift)]++;
    for (uint c = 0; c < cells; c++) {
        const uint one = count[c];
        count[c] = sum;
        sum += one;
        pairs += (ulong)one * one;
    }
    if (shift > 0 && pairs > 8 * (ulong)n)
        return false;
    for (uint i = 0; i < n; i++) {
        const uint to = count[(uint)((keys[i] - least) >> shift)]++;
        keys1[to] = keys[i];
        at1[to] = at[i];
    }
    for (uint i = 1; i < n && shift > 0; i++)
        DP_SORTED(dp_sort_insert)(keys1, at1, i, keys1[i], at1[i]);
    return true;
}

/* keys, at and the other two, n each, in order; 0 or 1: which pair has the result. differ: bits. */
static inline uint DP_SORTED(dp_sort_by_digits)(__global DP_K *keys, __global uint *at, __global DP_K *keys1, __global uint *at1,
                                                uint n, DP_K differ)
{
    uint count[256], other = 0;
    while (differ) {
        uint shift = 8 * sizeof(DP_K) - 1 - (uint)clz(differ & (~differ + 1)), sum = 0;
        for (uint d = 0; d < 256; d++)
            count[d] = 0;
        for (uint i = 0; i < n; i++)
            count[(uint)(keys[i] >> shift) & 255]++;
        for (uint d = 0; d < 256; d++) {
            uint one = count[d];
            count[d] = sum;
            sum += one;
        }
        for (uint i = 0; i < n; i++) {
            uint to = count[(uint)(keys[i] >> shift) & 255]++;
            keys1[to] = keys[i];
            at1[to] = at[i];
        }
        __global DP_K *k = keys;
        __global uint *a = at;
        keys = keys1;
        at = at1;
        keys1 = k;
        at1 = a;
        other ^= 1;
        differ &= ~((DP_K)255 << shift);
    }
    return other;
}

/* The first `kept` of n keys in order, and at. */
static inline void DP_SORTED(dp_sort_cut)(__global DP_K *keys, __global uint *at, uint n, uint kept)
{
    DP_K differ = 0, least = ~(DP_K)0, most = 0;
    for (uint i = 0; i < n; i++) {
        differ |= keys[i] ^ keys[0];
        least = min(least, keys[i]);
        most = max(most, keys[i]);
    }
    if (differ && (DP_SORTED(dp_sort_by_range)(keys, at, keys + n, at + n, n, least, most) ||
                   DP_SORTED(dp_sort_by_digits)(keys, at, keys + n, at + n, n, differ)))
        for (uint i = 0; i < kept; i++) {
            keys[i] = keys[n + i];
            at[i] = at[n + i];
        }
}

/* The `wanted` > 0 least of the segment's elements, in order: where these are in `at`; where `flip` has all bits the greatest, the last one first.
 * Few are kept in order. Of more, whatever may be one is noted, and when these are twice as many as wanted, half of them go. */
static inline void DP_SORTED(dp_sort_least)(__global uchar *heap, ulong src, uint scalar, ulong pos, ulong start, uint size, uint wanted, DP_K flip,
                                            __global DP_K *keys, __global uint *at)
{
    const bool few = wanted <= DP_SORT_INSERTED;
    uint held = 0;
    DP_K limit = ~(DP_K)0; /* once enough are held, no element that is not below it is wanted */
    for (uint i = 0; i < size; i++) {
        const uint place = DP_SORT_PLACE(start + (flip ? size - 1 - i : i));
        const DP_K key = (DP_K)dp_sort_key(heap, src, place, scalar) ^ flip;
        if (held >= wanted && key >= limit)
            continue;
        if (few) {
            held = min(held + 1, wanted);
            DP_SORTED(dp_sort_insert)(keys, at, held - 1, key, place);
            if (held == wanted)
                limit = keys[wanted - 1];
            continue;
        }
        keys[held] = key;
        at[held++] = place;
        if (held == 2 * wanted) {
            DP_SORTED(dp_sort_cut)(keys, at, held, wanted);
            held = wanted;
            limit = keys[wanted - 1];
        }
    }
    if (!few)
        DP_SORTED(dp_sort_cut)(keys, at, held, wanted);
}

/* Are so many of the first and of the last elements found faster than all are sorted? */
static inline bool DP_SORTED(dp_sort_finds)(uint size, ulong first, ulong last)
{
    const ulong ends = first + last;
    return ends > 0 && size > ends * (ends > DP_SORT_INSERTED ? 16 : first && last ? 2 : 1);
}

/* keys: room for 2 n of them, at: for 2 n u32. first, last: as in DpSortTypes */
DP_KERNEL void DP_SORTED(dp_sort_segments)(DP_HEAPS, ulong n, ulong nseg, ulong offsets, ulong src, ulong scalar, ulong pos,
                                           ulong places, ulong value, ulong bytes, ulong keys, ulong at, ulong first, ulong last)
{
    ulong from = dp_chunk_start(n, get_global_size(0), get_global_id(0));
    ulong to = dp_chunk_start(n, get_global_size(0), get_global_id(0) + 1);
    /* the segments that begin in [from, to) */
    ulong s = from < to ? dp_segment_between(heap, offsets, 0, nseg, from) : nseg;
    if (s < nseg && DP_OFFSET(offsets, s) < from)
        s++;
    for (; s < nseg; s++) {
        ulong start = DP_OFFSET(offsets, s), end = DP_OFFSET(offsets, s + 1);
        if (start >= to)
            break;
        uint size = (uint)(end - start);
        __global DP_K *k = DP_OUT(DP_K, keys) + 2 * start;
        __global uint *a = DP_OUT(uint, at) + 2 * start;
        if (DP_SORTED(dp_sort_finds)(size, first, last)) {
            if (first)
                DP_SORTED(dp_sort_least)(heap, src, (uint)scalar, pos, start, size, (uint)first, 0, k, a);
            for (uint i = 0; i < first; i++)
                DP_SORT_STORE(start + i, a[i])
            if (last)
                DP_SORTED(dp_sort_least)(heap, src, (uint)scalar, pos, start, size, (uint)last, ~(DP_K)0, k, a);
            for (uint i = 0; i < last; i++)
                DP_SORT_STORE(end - 1 - i, a[i])
            continue;
        }
        DP_K differ = 0, least = ~(DP_K)0, most = 0;
        for (uint i = 0; i < size; i++) {
            const uint place = DP_SORT_PLACE(start + i);
            const DP_K key = (DP_K)dp_sort_key(heap, src, place, (uint)scalar);
            if (size <= DP_SORT_INSERTED) {
                DP_SORTED(dp_sort_insert)(k, a, i, key, place);
                continue;
            }
            k[i] = key;
            a[i] = place;
            differ |= key ^ k[0];
            least = min(least, key);
            most = max(most, key);
        }
        if (differ && (DP_SORTED(dp_sort_by_range)(k, a, k + size, a + size, size, least, most) ||
                       DP_SORTED(dp_sort_by_digits)(k, a, k + size, a + size, size, differ)))
            a += size;
        for (uint i = 0; i < size; i++)
            DP_SORT_STORE(start + i, a[i])
    }
}

#else
/* A key's value, where all have one. */
static inline DP_K DP_SORTED(dp_sort_value)(DP_K key, uint scalar)
{
    return scalar == 3 || scalar == 4 ? key ^ (DP_K)1 << (8 * sizeof(DP_K) - 1) : key;
}
#define DP_SORT_GIVES_BACK(scalar) ((scalar) == 3 || (scalar) == 4 || (scalar) == 7 || (scalar) == 8)

/* Element i of what is here belongs at i of the segment that begins at `start`. */
#define DP_SORT_DONE(i, key, at) \
    { \
        if (!places && DP_SORT_GIVES_BACK(scalar)) { \
            DP_OUT(DP_K, value)[start + (i)] = DP_SORTED(dp_sort_value)(key, (uint)scalar); \
        } else { \
            const uint place = DP_SORT_PLACE(start + (at)); \
            DP_SORT_STORE(start + (i), place) \
        } \
    }

/* key[q] = the key of element from + l + q * DP_WG, of n > 0; behind these it is any. Loads are under way together. */
#define DP_SORT_LOAD(key, items, from, n) \
    if (bytes == sizeof(DP_K) && !pos) { \
        DP_UNROLL for (uint q = 0; q < (items); q++) \
            key[q] = DP_AT(DP_K, src)[(from) + min(l + q * DP_WG, (n) - 1)]; \
        DP_UNROLL for (uint q = 0; q < (items); q++) \
            key[q] = (DP_K)dp_sort_key_of(key[q], (uint)scalar); \
    } else { \
        DP_UNROLL for (uint q = 0; q < (items); q++) \
            if (l + q * DP_WG < (n)) \
                key[q] = (DP_K)dp_sort_key(heap, src, DP_SORT_PLACE((from) + l + q * DP_WG), (uint)scalar); \
    }

/* How many of a segment's elements go before the one at `mine`: lesser ones, and equal ones in front of it. Four at a time: behind
 * the last one stand greatest keys. */
static inline uint DP_SORTED(dp_sort_rank)(__local const DP_K4 *fours, uint size, uint mine)
{
    __local const DP_K *keys = (__local const DP_K *)fours;
    const DP_K key = keys[mine], above = key == ~(DP_K)0 ? key : key + 1;
    const uint own = mine / 4;
    uint rank = 0;
    for (uint q = 0; 4 * q < size; q++) {
        const DP_K4 four = fours[q];
        const DP_K limit = q < own ? above : key;
        rank += (uint)(four.x < limit) + (uint)(four.y < limit) + (uint)(four.z < limit) + (uint)(four.w < limit);
    }
    const DP_K4 four = fours[own];
    rank += (uint)(four.x == key && mine % 4 > 0) + (uint)(four.y == key && mine % 4 > 1) + (uint)(four.z == key && mine % 4 > 2);
    for (uint i = 0; above == key && i < 4 * own; i++)
        rank += keys[i] == key;
    return rank;
}

/* Where a segment's keys are: each begins with a four, and has room to its end. */
#define DP_SORT_ROOM (DP_SORT_LOCAL + 4 * DP_WG)
#define DP_SORT_FOUR(s, begin) (((begin) + 3 * (s)) / 4)

/* Where segment s begins: by offsets, or by sums of lengths. */
#define DP_SORT_START(s) (sums ? dp_row_start(heap, sums, n, nseg, (s)) : DP_OFFSET(offsets, (s)))

/* A work-group takes per_group < DP_WG segments, and of these as many at a time as have DP_SORT_LOCAL elements. sums: of dp_lengths_rows, or 0, then there are offsets. */
DP_KERNEL void DP_SORTED(dp_sort_ranks)(DP_HEAPS, ulong offsets, ulong src, ulong scalar, ulong pos, ulong places,
                                        ulong value, ulong bytes, ulong per_group, ulong most, ulong n, ulong nseg, ulong sums)
{
    __local DP_K4 fours[DP_SORT_ROOM / 4];
    __local uint owners[DP_SORT_LOCAL / 4];
    __local uchar *owner = (__local uchar *)owners; /* which of the segments; DP_WG - 1: none that is made here */
    __local uint ends[DP_WG], next[1];
    const uint l = get_local_id(0);
    const ulong s0 = get_group_id(0) * per_group, start = DP_SORT_START(s0);
    const uint segments = (uint)(min(s0 + per_group, nseg) - s0), lanes = DP_WG / segments;
    ends[l] = l < segments ? (uint)(DP_SORT_START(s0 + l + 1) - start) : 0xffffffffu;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint all = ends[segments - 1], step = all <= DP_SORT_LOCAL ? DP_SORT_LOCAL : DP_SORT_LOCAL / 2;
    const uint own = l % segments, lane = l / segments, from = own ? ends[own - 1] : 0, to = ends[own];
    for (uint base = 0; base < all; base = next[0]) {
        /* Elements [base, base + here) are at hand; results are made of segments that begin in the first `step`. What is in a segment of more than `most` is passed over. */
        const uint here = min(all - base, (uint)DP_SORT_LOCAL);
        DP_K key[DP_SORT_LOCAL / DP_WG];
        DP_SORT_LOAD(key, DP_SORT_LOCAL / DP_WG, start + base, here)
        for (uint i = l; i < DP_SORT_LOCAL / 4; i += DP_WG)
            owners[i] = 0x01010101U * (DP_WG - 1);
        for (uint i = l; i < DP_SORT_ROOM / 4; i += DP_WG)
            fours[i] = (DP_K4)(~(DP_K)0);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < lanes && to - from <= most && from >= base && from - base < step)
            for (uint i = from + lane; i < to; i += lanes)
                owner[i - base] = (uchar)own;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l == 0)
            next[0] = base + step;
        DP_UNROLL for (uint q = 0; q < DP_SORT_LOCAL / DP_WG; q++) {
            const uint i = l + q * DP_WG, s = owner[i];
            if (s == DP_WG - 1)
                continue;
            const uint begin = (s ? ends[s - 1] : 0) - base;
            ((__local DP_K *)(fours + DP_SORT_FOUR(s, begin)))[i - begin] = key[q];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0 && to - from > most && from <= base + step && to > base + step)
            next[0] = to;
        for (uint i = l; i < here; i += DP_WG) {
            const uint s = owner[i];
            if (s == DP_WG - 1)
                continue;
            const uint begin = (s ? ends[s - 1] : 0) - base;
            __local const DP_K4 *segment = fours + DP_SORT_FOUR(s, begin);
            const uint rank = DP_SORTED(dp_sort_rank)(segment, ends[s] - base - begin, i - begin);
            DP_SORT_DONE(base + begin + rank, ((__local const DP_K *)segment)[i - begin], base + i)
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* ---- longer ones: merge sort ---- */
/* A lane's run in order: neighbours change places as long as one is greater. */
static inline void DP_SORTED(dp_sort_run)(DP_K *key, ushort *place)
{
    DP_UNROLL for (uint round = 0; round < DP_SORT_RUN; round++)
        DP_UNROLL for (uint q = round & 1; q + 1 < DP_SORT_RUN; q += 2) {
            const DP_K x = key[q], y = key[q + 1];
            const ushort a = place[q], b = place[q + 1];
            const bool behind = x > y;
            key[q] = behind ? y : x;
            key[q + 1] = behind ? x : y;
            place[q] = behind ? b : a;
            place[q + 1] = behind ? a : b;
        }
}

/* How many of the first `rank` elements of two runs merged are of the first: of a ones from keys on, and b from keys + behind on. */
#define DP_SORT_SPLIT(result, keys, a, behind, b, rank) \
    { \
        uint lo = (rank) > (b) ? (rank) - (b) : 0, hi = min((uint)(rank), (uint)(a)); \
        while (lo < hi) { \
            const uint mid = (lo + hi) / 2; \
            if ((keys)[mid] <= (keys)[(behind) + (rank) - 1 - mid]) \
                lo = mid + 1; \
            else \
                hi = mid; \
        } \
        result = lo; \
    }

/* Of the two runs keys[first ... middle) and keys[middle ... end), merged, the lane's elements from `rank` on. */
static inline void DP_SORTED(dp_sort_merge_lane)(__local const DP_K *keys, __local const ushort *at, uint first, uint middle, uint end, uint rank,
                                                 DP_K *key, ushort *place)
{
    uint i;
    DP_SORT_SPLIT(i, keys + first, middle - first, middle - first, end - middle, rank)
    uint j = middle + rank - i;
    i += first;
    DP_UNROLL for (uint q = 0; q < DP_SORT_RUN; q++) {
        const bool one = j >= end || (i < middle && keys[min(i, end - 1)] <= keys[j]);
        const uint from = min(one ? i : j, end - 1);
        key[q] = keys[from];
        if (at)
            place[q] = at[from];
        i += one;
        j += !one;
    }
}

/* Of each block on the list (dp_sort_list) its segment, where it begins in that, where the segment begins, and how many elements that has. */
#define DP_SORT_BLOCK_AT(part) \
    const uint2 block = DP_AT(uint2, blocks + 8)[part]; \
    const ulong start = DP_OFFSET(offsets, (ulong)block.x); \
    const uint base = block.y * DP_SORT_BLOCK, all = (uint)(DP_OFFSET(offsets, (ulong)block.x + 1) - start);

/* Blocks are sorted. Those of segments longer than one are left for dp_sort_merge: keys, and at: where in the segment. at: NULL where keys are all that moves. */
static inline void DP_SORTED(dp_sort_blocks)(DP_HEAPS, ulong offsets, ulong src, ulong scalar, ulong pos, ulong places,
                                             ulong value, ulong bytes, ulong blocks, ulong keys_to, ulong at_to, __local DP_K *keys, __local ushort *at)
{
    const uint l = get_local_id(0);
    const uint several = *DP_AT(uint, blocks);
    for (uint part = get_group_id(0); part < several; part += (uint)get_num_groups(0)) {
        DP_SORT_BLOCK_AT(part)
        const uint size = min(all - base, (uint)DP_SORT_BLOCK), own = l * DP_SORT_RUN;
        DP_K key[DP_SORT_RUN];
        ushort place[DP_SORT_RUN];
        DP_SORT_LOAD(key, DP_SORT_RUN, start + base, size)
        DP_UNROLL for (uint q = 0; q < DP_SORT_RUN; q++)
            if (l + q * DP_WG < size)
                keys[l + q * DP_WG] = key[q];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (own < size) {
            DP_UNROLL for (uint q = 0; q < DP_SORT_RUN; q++) {
                key[q] = own + q < size ? keys[own + q] : ~(DP_K)0;
                place[q] = (ushort)(own + q);
            }
            DP_SORTED(dp_sort_run)(key, place);
            DP_UNROLL for (uint q = 0; q < DP_SORT_RUN; q++)
                if (own + q < size) {
                    keys[own + q] = key[q];
                    if (at)
                        at[own + q] = place[q];
                }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint width = DP_SORT_RUN; width < size; width *= 2) {
            const uint first = own - own % (2 * width), middle = min(first + width, size), end = min(first + 2 * width, size);
            if (own < size)
                DP_SORTED(dp_sort_merge_lane)(keys, at, first, middle, end, own - first, key, place);
            barrier(CLK_LOCAL_MEM_FENCE);
            DP_UNROLL for (uint q = 0; q < DP_SORT_RUN; q++)
                if (own + q < size) {
                    keys[own + q] = key[q];
                    if (at)
                        at[own + q] = place[q];
                }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        for (uint i = l; i < size; i += DP_WG)
            if (all > DP_SORT_BLOCK) {
                DP_OUT(DP_K, keys_to)[start + base + i] = keys[i];
                if (at)
                    DP_OUT(ushort, at_to)[start + base + i] = (ushort)(base + at[i]);
            } else
                DP_SORT_DONE(i, keys[i], at ? at[i] : i)
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

DP_KERNEL void DP_SORTED(dp_sort_groups)(DP_HEAPS, ulong offsets, ulong src, ulong scalar, ulong pos, ulong places,
                                         ulong value, ulong bytes, ulong blocks, ulong keys_to, ulong at_to)
{
    __local DP_K keys[DP_SORT_BLOCK];
    __local ushort at[DP_SORT_BLOCK];
    DP_SORTED(dp_sort_blocks)(heap, out, offsets, src, scalar, pos, places, value, bytes, blocks, keys_to, at_to, keys, at);
}
DP_KERNEL void DP_SORTED(dp_sort_key_groups)(DP_HEAPS, ulong offsets, ulong src, ulong scalar, ulong pos, ulong places,
                                             ulong value, ulong bytes, ulong blocks, ulong keys_to, ulong at_to)
{
    __local DP_K keys[DP_SORT_BLOCK];
    DP_SORTED(dp_sort_blocks)(heap, out, offsets, src, scalar, pos, places, value, bytes, blocks, keys_to, at_to, keys, (__local ushort *)0);
}

/* Of segments longer than `width`, a multiple of the block, sorted runs of that length become runs of twice the length, or the whole segment. */
static inline void DP_SORTED(dp_sort_runs)(DP_HEAPS, ulong offsets, ulong src, ulong scalar, ulong pos, ulong places,
                                           ulong value, ulong bytes, ulong blocks, ulong width, ulong keys_from, ulong at_from, ulong keys_to, ulong at_to,
                                           __local DP_K *keys, __local ushort *at, __local uint *split)
{
    const uint l = get_local_id(0), own = l * DP_SORT_RUN;
    const uint several = *DP_AT(uint, blocks);
    for (uint part = get_group_id(0); part < several; part += (uint)get_num_groups(0)) {
        DP_SORT_BLOCK_AT(part)
        const uint first = base - base % (2 * (uint)width), middle = min(first + (uint)width, all);
        const uint end = min(first + 2 * (uint)width, all), size = all > width ? min(all - base, (uint)DP_SORT_BLOCK) : 0;
        __global const DP_K *from = DP_AT(DP_K, keys_from) + start + first;
        if (l < 2)
            DP_SORT_SPLIT(split[l], from, middle - first, middle - first, end - middle, base - first + l * size)
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint a = split[1] - split[0], a_from = first + split[0], b_from = middle + (base - first) - split[0];
        DP_K key[DP_SORT_RUN];
        ushort place[DP_SORT_RUN];
        for (uint i = l; i < size; i += DP_WG) {
            const ulong there = start + (i < a ? a_from + i : b_from + (i - a));
            keys[i] = DP_AT(DP_K, keys_from)[there];
            if (at)
                at[i] = DP_AT(ushort, at_from)[there];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (own < size)
            DP_SORTED(dp_sort_merge_lane)(keys, at, 0, a, size, own, key, place);
        barrier(CLK_LOCAL_MEM_FENCE);
        DP_UNROLL for (uint q = 0; q < DP_SORT_RUN; q++)
            if (own + q < size) {
                keys[own + q] = key[q];
                if (at)
                    at[own + q] = place[q];
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = l; i < size; i += DP_WG)
            if (2 * width < all) {
                DP_OUT(DP_K, keys_to)[start + base + i] = keys[i];
                if (at)
                    DP_OUT(ushort, at_to)[start + base + i] = at[i];
            } else
                DP_SORT_DONE(base + i, keys[i], at ? at[i] : base + i)
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
DP_KERNEL void DP_SORTED(dp_sort_merge)(DP_HEAPS, ulong offsets, ulong src, ulong scalar, ulong pos, ulong places,
                                        ulong value, ulong bytes, ulong blocks, ulong width, ulong keys_from, ulong at_from, ulong keys_to, ulong at_to)
{
    __local DP_K keys[DP_SORT_BLOCK];
    __local ushort at[DP_SORT_BLOCK];
    __local uint split[2];
    DP_SORTED(dp_sort_runs)(heap, out, offsets, src, scalar, pos, places, value, bytes, blocks, width, keys_from, at_from, keys_to, at_to, keys, at, split);
}
DP_KERNEL void DP_SORTED(dp_sort_key_merge)(DP_HEAPS, ulong offsets, ulong src, ulong scalar, ulong pos, ulong places,
                                            ulong value, ulong bytes, ulong blocks, ulong width, ulong keys_from, ulong at_from, ulong keys_to, ulong at_to)
{
    __local DP_K keys[DP_SORT_BLOCK];
    __local uint split[2];
    DP_SORTED(dp_sort_runs)(heap, out, offsets, src, scalar, pos, places, value, bytes, blocks, width, keys_from, at_from, keys_to, at_to, keys, (__local ushort *)0, split);
}
#endif
