/* Radix sort on a CPU with one pass over main memory; kernels for both sizes of keys (DP_K, DP_SORTED: radix_pass.cl).
 *
 * Keys fall into 2^bits cells by the highest bits in which they differ (dp_sort_cells counts them, chunk by chunk); neighbouring cells make
 * up to 256 buckets of about as many keys each (dp_sort_buckets, in radix_sort.cl); dp_sort_deal moves keys, and what goes along, to their
 * buckets, a chunk a work-item; dp_sort_within sorts each bucket by digits, from one buffer to the other and back, while it is in a
 * cache. Where one bucket has too many keys, the host takes passes over all of them instead. n > 0. */
#if DP_CPU
DP_KERNEL void DP_SORTED(dp_sort_cells)(DP_HEAPS, ulong n, ulong keys, ulong shift, ulong bits, ulong code, ulong counts)
{
    uint count[DP_SORT_CELLS];
    const DP_K low = DP_SORT_MASK(code, false), high = DP_SORT_MASK(code, true);
    const uint cells = 1u << bits;
    for (uint c = 0; c < cells; c++)
        count[c] = 0;
    DP_EACH(i, n) {
        DP_K x = DP_AT(DP_K, keys)[i];
        count[(uint)(DP_SORTED(dp_sort_flip)(x, high, low) >> shift) & (cells - 1)]++;
    }
    for (uint c = 0; c < cells; c++)
        DP_OUT(uint, counts)[get_global_id(0) * cells + c] = count[c];
}

/* table: the bucket of each cell. starts: as dp_sort_buckets leaves them. */
DP_KERNEL void DP_SORTED(dp_sort_deal)(DP_HEAPS, ulong n, ulong keys, ulong keys_to, ulong pay, ulong pay_to, ulong pay_bytes, ulong shift,
                                       ulong bits, ulong code, ulong table, ulong starts)
{
    uint start[DP_SORT_BUCKETS];
    const DP_K low = DP_SORT_MASK(code, false), high = DP_SORT_MASK(code, true);
    const uint mask = (1u << bits) - 1;
    for (uint b = 0; b < DP_SORT_BUCKETS; b++)
        start[b] = DP_SORT_CHUNK_STARTS(starts, get_global_id(0))[b];
    DP_EACH(i, n) {
        DP_K x = DP_AT(DP_K, keys)[i], key = DP_SORTED(dp_sort_flip)(x, high, low);
        uint to = start[DP_AT(ushort, table)[(uint)(key >> shift) & mask]]++;
        DP_OUT(DP_K, keys_to)[to] = key;
        if (pay_bytes == 4)
            DP_OUT(uint, pay_to)[to] = pay ? DP_AT(uint, pay)[i] : (uint)i;
        else if (pay_bytes == 8)
            DP_OUT(ulong, pay_to)[to] = DP_AT(ulong, pay)[i];
    }
}

/* Element i becomes element `to`: its key, by the masks for where the highest bit is 1 and 0, and what goes along. */
#define DP_SORT_MOVE(i, to, high, low) \
    { \
        if (keeps) \
            k1[to] = DP_SORTED(dp_sort_flip)(k0[i], high, low); \
        if (pay_bytes == 4) \
            ((__global uint *)(out + p1))[to] = ((__global uint *)(out + p0))[i]; \
        else if (pay_bytes == 8) \
            ((__global ulong *)(out + p1))[to] = ((__global ulong *)(out + p0))[i]; \
    }

/* One bucket of `size` keys, which are in buffer 0, keys k0 and addresses p0 of what goes along; the result belongs into buffer `into`. */
static inline void DP_SORTED(dp_sort_bucket)(__global uchar *out, __global DP_K *k0, __global DP_K *k1, ulong p0, ulong p1, uint size,
                                             ulong pay_bytes, uint into, bool wanted, DP_K high, DP_K low)
{
    uint count[DP_SORT_CELLS], at = 0;
    DP_K differ = 0;
    for (uint i = 0; i < size; i++)
        differ |= k0[i] ^ k0[0];
    const uint from = differ ? 8 * sizeof(DP_K) - 1 - (uint)clz(differ & (~differ + 1)) : 0;
    const uint span = 8 * sizeof(DP_K) - (uint)clz(differ) - from, most = size < 1024 ? 8 : size < 8192 ? 10 : DP_SORT_CELL_BITS;
    const uint passes = differ ? (span + most - 1) / most : 0, bits = passes ? (span + passes - 1) / passes : 0;
    const uint digits = 1u << bits, all = max(passes, 1u) + ((passes ^ into) & 1 && passes);
    for (uint pass = 0; pass < all; pass++) {
        const uint shift = from + pass * bits;
        const bool last = pass + 1 == all, keeps = !last || wanted;
        const DP_K to_high = last ? high : 0, to_low = last ? low : 0;
        if (pass >= passes) { /* into the other buffer, or only made values of keys */
            if (!passes && !into) {
                k1 = k0;
                p1 = p0;
            }
            for (uint i = 0; i < size; i++)
                DP_SORT_MOVE(i, i, to_high, to_low)
        } else {
            for (uint d = 0; d < digits; d++)
                count[d] = 0;
            for (uint i = 0; i < size; i++)
                count[(uint)(k0[i] >> shift) & (digits - 1)]++;
            uint sum = 0;
            for (uint d = 0; d < digits; d++) {
                uint one = count[d];
                count[d] = sum;
                sum += one;
            }
            for (uint i = 0; i < size; i++) {
                uint to = count[(uint)(k0[i] >> shift) & (digits - 1)]++;
                DP_SORT_MOVE(i, to, to_high, to_low)
            }
        }
        __global DP_K *k = k0;
        ulong p = p0;
        k0 = k1;
        k1 = k;
        p0 = p1;
        p1 = p;
    }
}
#undef DP_SORT_MOVE

/* Buckets that begin in a work-item's part of [0, n). codes: of what is stored. */
DP_KERNEL void DP_SORTED(dp_sort_within)(DP_HEAPS, ulong n, ulong buckets, ulong starts, ulong keys, ulong keys1, ulong pay, ulong pay1,
                                         ulong pay_bytes, ulong into, ulong wanted, ulong code)
{
    const ulong from = dp_chunk_start(n, get_global_size(0), get_global_id(0));
    const ulong to = dp_chunk_start(n, get_global_size(0), get_global_id(0) + 1);
    const DP_K low = DP_SORT_MASK(code, true), high = DP_SORT_MASK(code, false);
    for (ulong b = 0; b < buckets; b++) {
        const ulong at = DP_AT(uint, starts)[b], size = DP_AT(uint, starts)[b + 1] - at;
        if (at < from || at >= to || !size)
            continue;
        DP_SORTED(dp_sort_bucket)(out, DP_OUT(DP_K, keys) + at, DP_OUT(DP_K, keys1) + at, pay + at * pay_bytes,
                                  pay1 + at * pay_bytes, (uint)size, pay_bytes, (uint)into, wanted, high, low);
    }
}
#endif
