/* The kernels of radix_sort.cl that depend on the size of keys: DP_K, the type; DP_SORTED(name), the name with the size.
 * keys_to == 0: the keys are not wanted any more. */

/* A value's key, and a key's value, by the masks for where the highest bit is 1 and where it is 0. */
static inline DP_K DP_SORTED(dp_sort_flip)(DP_K x, DP_K high, DP_K low)
{
    return x ^ (x >> (8 * sizeof(DP_K) - 1) ? high : low);
}

/* code: as below. A float that its key does not give back: -0, nan. */
DP_KERNEL void DP_SORTED(dp_sort_bits)(DP_HEAPS, ulong n, ulong src, ulong code)
{
    const DP_K low = DP_SORT_MASK(code, false), high = DP_SORT_MASK(code, true), top = (DP_K)1 << (8 * sizeof(DP_K) - 1);
    const DP_K infinite = sizeof(DP_K) == 4 ? (DP_K)0x7f800000u : (DP_K)0x7ff0000000000000UL;
    const DP_K first = DP_SORTED(dp_sort_flip)(DP_AT(DP_K, src)[0], high, low);
    DP_K differ = 0;
    uint loses = 0;
#if DP_CPU
    DP_EACH(i, n) {
        DP_K x = DP_AT(DP_K, src)[i];
        differ |= DP_SORTED(dp_sort_flip)(x, high, low) ^ first;
        loses |= x == top | (x & ~top) > infinite;
    }
#else
    const uint l = get_local_id(0);
    DP_EACH_TILE(some, n, DP_AT(DP_K, src), {
        DP_UNROLL for (uint q = 0; q < DP_SORT_AT_ONCE; q++) {
            DP_K x = some[q]; /* of lanes behind the end: the last one */
            differ |= DP_SORTED(dp_sort_flip)(x, high, low) ^ first;
            loses |= x == top | (x & ~top) > infinite;
        }
    })
#endif
    DP_SORT_POST_BITS(differ, code == 2 && loses)
}

#if DP_CPU
DP_KERNEL void DP_SORTED(dp_sort_count)(DP_HEAPS, ulong n, ulong keys, ulong shift, ulong codes, ulong counts)
{
    uint count[256];
    const DP_K low = DP_SORT_MASK(codes & 255, false), high = DP_SORT_MASK(codes & 255, true);
    for (uint d = 0; d < 256; d++)
        count[d] = 0;
    DP_EACH(i, n) {
        DP_K x = DP_AT(DP_K, keys)[i];
        count[(uint)(DP_SORTED(dp_sort_flip)(x, high, low) >> shift) & 255]++;
    }
    for (uint d = 0; d < 256; d++)
        DP_OUT(uint, counts)[d * get_global_size(0) + get_global_id(0)] = count[d];
}

DP_KERNEL void DP_SORTED(dp_sort_pass)(DP_HEAPS, ulong n, ulong keys, ulong keys_to, ulong pay, ulong pay_to, ulong pay_bytes, ulong shift,
                    ulong codes, ulong counts, ulong status, ulong ticket)
{
    uint start[256];
    const DP_K low = DP_SORT_MASK(codes & 255, false), high = DP_SORT_MASK(codes & 255, true);
    const DP_K to_low = DP_SORT_MASK(codes >> 8, true), to_high = DP_SORT_MASK(codes >> 8, false);
    for (uint d = 0; d < 256; d++)
        start[d] = DP_AT(uint, counts)[d * get_global_size(0) + get_global_id(0)];
    DP_EACH(i, n) {
        DP_K x = DP_AT(DP_K, keys)[i], key = DP_SORTED(dp_sort_flip)(x, high, low);
        uint to = start[(uint)(key >> shift) & 255]++;
        if (keys_to)
            DP_OUT(DP_K, keys_to)[to] = DP_SORTED(dp_sort_flip)(key, to_high, to_low);
        if (pay_bytes == 4)
            DP_OUT(uint, pay_to)[to] = pay ? DP_AT(uint, pay)[i] : (uint)i;
        else if (pay_bytes == 8)
            DP_OUT(ulong, pay_to)[to] = DP_AT(ulong, pay)[i];
    }
}
#else
DP_KERNEL void DP_SORTED(dp_sort_count)(DP_HEAPS, ulong n, ulong keys, ulong shift, ulong codes, ulong counts)
{
    __local uint count[256];
    const uint l = get_local_id(0);
    const DP_K low = DP_SORT_MASK(codes & 255, false), high = DP_SORT_MASK(codes & 255, true);
    count[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong t = dp_sort_chunk(n, DP_SORT_TILE, get_group_id(0)), t_end = dp_sort_chunk(n, DP_SORT_TILE, get_group_id(0) + 1);
    for (ulong i = t * DP_SORT_TILE + l; i < min(n, t_end * DP_SORT_TILE); i += DP_WG) {
        DP_K x = DP_AT(DP_K, keys)[i];
        atomic_inc(&count[(uint)(DP_SORTED(dp_sort_flip)(x, high, low) >> shift) & 255]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    DP_OUT(uint, counts)[l * get_num_groups(0) + get_group_id(0)] = count[l];
}

DP_KERNEL void DP_SORTED(dp_sort_digits)(DP_HEAPS, ulong n, ulong keys, ulong shifts, ulong passes, ulong code, ulong digits)
{
    __local uint count[8 * 256];
    const uint l = get_local_id(0);
    const DP_K low = DP_SORT_MASK(code, false), high = DP_SORT_MASK(code, true);
    for (uint i = l; i < 8 * 256; i += DP_WG)
        count[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    DP_EACH_TILE(some, n, DP_AT(DP_K, keys), {
        for (uint p = 0; p < passes; p++) {
            const uint shift = (uint)(shifts >> 8 * p) & 255;
            DP_UNROLL for (uint q = 0; q < DP_SORT_AT_ONCE; q++) {
                DP_K key = DP_SORTED(dp_sort_flip)(some[q], high, low);
                if (full || q * DP_WG + l < left)
                    atomic_add(&count[256 * p + ((uint)(key >> shift) & 255)], 1u);
            }
        }
    })
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = l; i < 256 * passes; i += DP_WG)
        if (count[i])
            atomic_add((volatile __global uint *)DP_OUT(uint, digits) + i, count[i]);
}

DP_KERNEL void DP_SORTED(dp_sort_pass)(DP_HEAPS, ulong n, ulong keys, ulong keys_to, ulong pay, ulong pay_to, ulong pay_bytes, ulong shift,
                    ulong codes, ulong counts, ulong status, ulong ticket)
{
    __local DP_K staged[DP_SORT_TILE]; /* keys, then what moves along; before that which lanes of a row have a digit */
    __local uint count[DP_SORT_ROWS * 256], work[2 * DP_WG], first[256], to[256], taken[1];
    __local uint *who = (__local uint *)staged;
    const uint l = get_local_id(0), row = l / DP_SORT_ROW, lane = l % DP_SORT_ROW;
    const DP_K low = DP_SORT_MASK(codes & 255, false), high = DP_SORT_MASK(codes & 255, true);
    const DP_K to_low = DP_SORT_MASK(codes >> 8, true), to_high = DP_SORT_MASK(codes >> 8, false);
    if (l == 0)
        taken[0] = status ? atomic_inc((volatile __global uint *)DP_OUT(uint, ticket)) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    ulong t = taken[0], t_end = taken[0] + 1;
    if (!status) {
        t = dp_sort_chunk(n, DP_SORT_TILE, get_group_id(0));
        t_end = dp_sort_chunk(n, DP_SORT_TILE, get_group_id(0) + 1);
    }
    const uint part = pay_bytes > sizeof(DP_K) ? DP_SORT_TILE / 2 : DP_SORT_TILE;
    uint start = DP_AT(uint, counts)[status ? l : l * get_num_groups(0) + get_group_id(0)];
    for (; t < t_end; t++) {
        const ulong t0 = t * DP_SORT_TILE;
        const uint size = (uint)min((ulong)DP_SORT_TILE, n - t0), at = row * DP_SORT_ROW * DP_SORT_ITEMS + lane;
        DP_K key[DP_SORT_ITEMS];
        uint rank[DP_SORT_ITEMS];
        DP_UNROLL for (uint q = 0; q < DP_SORT_ITEMS; q++) {
            uint i = at + q * DP_SORT_ROW;
            DP_K x = i < size ? DP_AT(DP_K, keys)[t0 + i] : 0;
            key[q] = i < size ? DP_SORTED(dp_sort_flip)(x, high, low) : ~(DP_K)0;
        }
        for (uint i = l; i < DP_SORT_ROWS * 256; i += DP_WG) {
            count[i] = 0;
            who[i] = 0;
            who[DP_SORT_ROWS * 256 + i] = 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        DP_UNROLL for (uint q = 0; q < DP_SORT_ITEMS; q++) {
            uint slot = row * 256 + ((uint)(key[q] >> shift) & 255), mark = slot + (q & 1) * DP_SORT_ROWS * 256;
            atomic_or(&who[mark], 1u << lane);
            DP_WARP_BARRIER();
            uint same = who[mark], before = popcount(same & ((1u << lane) - 1));
            rank[q] = count[slot] + before;
            DP_WARP_BARRIER();
            if (before == 0) {
                count[slot] += popcount(same);
                who[mark] = 0;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint sum = 0, own, before;
        for (uint r = 0; r < DP_SORT_ROWS; r++) {
            uint one = count[r * 256 + l];
            count[r * 256 + l] = sum;
            sum += one;
        }
        own = sum - (l == ((uint)(~(DP_K)0 >> shift) & 255) ? DP_SORT_TILE - size : 0);
        if (status)
            ((volatile __global uint *)DP_OUT(uint, status))[t * 256 + l] = own | (t ? DP_SORT_OWN : DP_SORT_ALL);
        before = dp_sum_before(sum, work, l);
        first[l] = before;
        barrier(CLK_LOCAL_MEM_FENCE);
        DP_UNROLL for (uint q = 0; q < DP_SORT_ITEMS; q++) {
            uint digit = (uint)(key[q] >> shift) & 255;
            rank[q] += first[digit] + count[row * 256 + digit];
            staged[rank[q]] = key[q];
        }
        uint ahead = status ? dp_sort_look_back((volatile __global uint *)DP_OUT(uint, status), t, l) : 0;
        if (status && t)
            ((volatile __global uint *)DP_OUT(uint, status))[t * 256 + l] = (ahead + own) | DP_SORT_ALL;
        to[l] = start + ahead - before;
        start += status ? 0 : own;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint dest[DP_SORT_ITEMS];
        DP_UNROLL for (uint q = 0; q < DP_SORT_ITEMS; q++) {
            uint i = q * DP_WG + l;
            DP_K k = staged[i];
            dest[q] = to[(uint)(k >> shift) & 255] + i;
            if (i < size && keys_to)
                DP_OUT(DP_K, keys_to)[dest[q]] = DP_SORTED(dp_sort_flip)(k, to_high, to_low);
        }
        /* What moves along takes as many rounds as keys are smaller: part of the tile has room at a time. */
        for (uint base = 0; base < DP_SORT_TILE && pay_bytes; base += part) {
            barrier(CLK_LOCAL_MEM_FENCE);
            DP_UNROLL for (uint q = 0; q < DP_SORT_ITEMS; q++) {
                uint i = at + q * DP_SORT_ROW, to = rank[q] - base;
                if (i < size && to < part && pay_bytes == 4)
                    ((__local uint *)staged)[to] = pay ? DP_AT(uint, pay)[t0 + i] : (uint)(t0 + i);
                else if (i < size && to < part)
                    ((__local ulong *)staged)[to] = DP_AT(ulong, pay)[t0 + i];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            DP_UNROLL for (uint q = 0; q < DP_SORT_ITEMS; q++) {
                uint i = q * DP_WG + l, from = i - base;
                if (i < size && from < part && pay_bytes == 4)
                    DP_OUT(uint, pay_to)[dest[q]] = ((__local uint *)staged)[from];
                else if (i < size && from < part)
                    DP_OUT(ulong, pay_to)[dest[q]] = ((__local ulong *)staged)[from];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif
