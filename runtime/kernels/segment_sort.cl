/* Sorts within segments that are short enough for one work-group or one work-item, stably, by one key column; kernels for both sizes
 * of keys (DP_K, DP_SORTED: radix_pass.cl).
 *
 * Element i of a segment is the one at pos[i] of the key column (pos == 0: at i). What is made: places[i], the pos of the element that
 * belongs at i; and value[i], of `bytes`, from the key column: either may be 0, not wanted. So several key columns are sorted by one
 * after the other, the last one first.
 *
 * GPU: dp_sort_ranks takes the segments of up to `most` <= DP_SORT_LOCAL / 2 elements, some per work-group; each element counts those of its segment that go
 * before it. dp_sort_groups takes those longer than `least`, none longer than DP_SORT_LOCAL, a work-group each: a bitonic network over
 * keys and places in local memory. CPU: dp_sort_segments, a stretch of segments a work-item: by insertion, longer ones by digits.
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
#define DP_SORT_INSERTED 48 /* elements, at most, that are sorted by insertion */

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

/* keys: room for 2 n of them, at: for 2 n u32 */
DP_KERNEL void DP_SORTED(dp_sort_segments)(DP_HEAPS, ulong n, ulong nseg, ulong offsets, ulong src, ulong scalar, ulong pos,
                                           ulong places, ulong value, ulong bytes, ulong keys, ulong at)
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
        DP_K differ = 0;
        for (uint i = 0; i < size; i++) {
            uint place = DP_SORT_PLACE(start + i);
            DP_K key = (DP_K)dp_sort_key(heap, src, place, (uint)scalar);
            differ |= i ? key ^ k[0] : 0;
            uint j = i;
            if (size <= DP_SORT_INSERTED)
                for (; j > 0 && k[j - 1] > key; j--) {
                    k[j] = k[j - 1];
                    a[j] = a[j - 1];
                }
            k[j] = key;
            a[j] = place;
        }
        if (size > DP_SORT_INSERTED && DP_SORTED(dp_sort_by_digits)(k, a, k + size, a + size, size, differ))
            a += size;
        for (uint i = 0; i < size; i++)
            DP_SORT_STORE(start + i, a[i])
    }
}

#else
/* A work-group takes per_group segments, and of these as many at a time as have DP_SORT_LOCAL elements. */
DP_KERNEL void DP_SORTED(dp_sort_ranks)(DP_HEAPS, ulong nseg, ulong offsets, ulong src, ulong scalar, ulong pos, ulong places,
                                        ulong value, ulong bytes, ulong per_group, ulong most)
{
    __local DP_K keys[DP_SORT_LOCAL];
    __local uint ends[DP_WG];
    const uint l = get_local_id(0);
    const ulong s0 = get_group_id(0) * per_group, last = min(s0 + per_group, nseg);
    const ulong start = DP_OFFSET(offsets, s0);
    const uint segments = (uint)(last - s0);
    ends[l] = l < segments ? (uint)(DP_OFFSET(offsets, s0 + l + 1) - start) : 0xffffffffu;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint all = ends[segments - 1], step = all <= DP_SORT_LOCAL ? DP_SORT_LOCAL : DP_SORT_LOCAL / 2;
    for (uint base = 0; base < all; base += step) {
        /* Elements [base, base + DP_SORT_LOCAL) are here; results are made of segments that begin in the first `step`. */
        for (uint i = l; i < DP_SORT_LOCAL && base + i < all; i += DP_WG)
            keys[i] = (DP_K)dp_sort_key(heap, src, DP_SORT_PLACE(start + base + i), (uint)scalar);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = base + l; i < min(all, base + DP_SORT_LOCAL); i += DP_WG) {
            uint lo = 0, hi = segments - 1; /* the first segment that ends behind i */
            while (lo < hi) {
                uint mid = (lo + hi) / 2;
                if (ends[mid] > i)
                    hi = mid;
                else
                    lo = mid + 1;
            }
            uint begin = lo ? ends[lo - 1] : 0, end = ends[lo];
            if (begin < base || begin - base >= step || end - begin > most)
                continue;
            DP_K key = keys[i - base];
            uint rank = 0;
            for (uint j = begin; j < i; j++)
                rank += keys[j - base] <= key;
            for (uint j = i + 1; j < end; j++)
                rank += keys[j - base] < key;
            uint place = DP_SORT_PLACE(start + i);
            DP_SORT_STORE(start + begin + rank, place)
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Segments longer than `least`, which are few or all. */
DP_KERNEL void DP_SORTED(dp_sort_groups)(DP_HEAPS, ulong nseg, ulong offsets, ulong src, ulong scalar, ulong pos, ulong places,
                                         ulong value, ulong bytes, ulong least)
{
    __local DP_K keys[DP_SORT_LOCAL];
    __local ushort at[DP_SORT_LOCAL];
    const uint l = get_local_id(0);
    for (ulong s = get_group_id(0); s < nseg; s += get_num_groups(0)) {
        const ulong start = DP_OFFSET(offsets, s), length = DP_OFFSET(offsets, s + 1) - start;
        const uint size = length > least ? (uint)length : 0;
        uint room = 1;
        while (room < size)
            room <<= 1;
        for (uint i = l; i < room; i += DP_WG) {
            keys[i] = i < size ? (DP_K)dp_sort_key(heap, src, DP_SORT_PLACE(start + i), (uint)scalar) : ~(DP_K)0;
            at[i] = (ushort)i;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 2; k <= room; k <<= 1)
            for (uint j = k >> 1; j; j >>= 1) {
                for (uint t = l; t < room / 2; t += DP_WG) {
                    uint i = 2 * t - (t & (j - 1)), q = i + j;
                    DP_K x = keys[i], y = keys[q];
                    ushort a = at[i], b = at[q];
                    bool behind = x > y || (x == y && a > b), up = (i & k) == 0;
                    if (behind == up) {
                        keys[i] = y;
                        keys[q] = x;
                        at[i] = b;
                        at[q] = a;
                    }
                }
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        for (uint i = l; i < size; i += DP_WG) {
            uint place = DP_SORT_PLACE(start + at[i]);
            DP_SORT_STORE(start + i, place)
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif
