/* Stable radix sort of one key column, eight bits a pass from the lowest, with something moved along: nothing, or an element of 4 or 8
 * bytes each (another column, or u32 positions; pay == 0 stands for 0, 1, 2 ...).
 *
 * Keys are 4 or 8 bytes whose unsigned order is the sorting order. Where a column of such a size has only values that can be made
 * from their keys, keys are made when the first pass loads and unmade when the last one stores (`codes`); else dp_sort_keys makes
 * them before. dp_sort_bits collects the bits in which keys differ: passes over equal digits are skipped by the host. The kernels over keys
 * are in radix_pass.cl, for both sizes.
 *
 * GPU: a work-group of 256 sorts a tile in local memory, and where its digits go is known in one of two ways:
 *   look-back  (status != 0) dp_sort_digits counts the digits of all passes in one go, dp_sort_bases adds these up, and in a pass
 *              tiles are taken in order by a ticket; a tile leaves how many of each digit it has, then how many there are up to it, and
 *              adds up what its predecessors left. Only where work-groups that have begun go on by themselves.
 *   chunks     a pass is dp_sort_count (digits per chunk), dp_sort_starts, dp_sort_pass with a work-group a chunk of tiles.
 * CPU: chunks, a work-item each. Barriers stand in loops with uniform bounds only. n > 0. */

/* Floats: negative ones upside down, then the sign bit flipped; nan last; -0 equals 0. */
static inline ulong dp_key_f32(uint bits)
{
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return UINT_MAX;
    if (bits == 0x80000000u)
        bits = 0;
    return bits ^ (bits >> 31 ? UINT_MAX : 0x80000000u);
}

static inline ulong dp_key_f64(ulong bits)
{
    if ((bits & 0x7fffffffffffffffUL) > 0x7ff0000000000000UL)
        return ULONG_MAX;
    if (bits == 0x8000000000000000UL)
        bits = 0;
    return bits ^ (bits >> 63 ? ULONG_MAX : 0x8000000000000000UL);
}

/* scalar: DpScalar */
static inline ulong dp_sort_key(__global uchar *heap, ulong src, ulong j, uint scalar)
{
    switch (scalar) {
    case 0: case 5: return DP_AT(uchar, src)[j];
    case 1: return (ulong)(DP_AT(char, src)[j] + 128);
    case 2: return (ulong)(DP_AT(short, src)[j] + 32768);
    case 3: return DP_AT(uint, src)[j] ^ 0x80000000u;
    case 4: return DP_AT(ulong, src)[j] ^ 0x8000000000000000UL;
    case 6: return DP_AT(ushort, src)[j];
    case 7: return DP_AT(uint, src)[j];
    case 8: return DP_AT(ulong, src)[j];
    case 9: return dp_key_f32(DP_AT(uint, src)[j]);
    default: return dp_key_f64(DP_AT(ulong, src)[j]);
    }
}

/* The mailbox's first words, and `zeros` words of 8 bytes at `at`, = 0 */
DP_KERNEL void dp_sort_begin(DP_HEAPS, ulong zeros, ulong at)
{
    if (get_global_id(0) == 0) {
        DP_OUT(ulong, DP_MAILBOX)[0] = 0;
        DP_OUT(ulong, DP_MAILBOX)[1] = 0;
    }
    DP_EACH(i, zeros)
        DP_OUT(ulong, at)[i] = 0;
}

/* Mailbox: word 0: the bits in which keys differ; 1: not 0 if one does not give back its value. Of a work-item's share; on a GPU the
 * work-group's is put together in `all`. */
static inline void dp_sort_post_bits(__global uchar *out, ulong differ, bool loses, __local uint *all)
{
    const uint words[3] = {(uint)differ, (uint)(differ >> 32), loses};
    volatile __global uint *bits = DP_OUT(uint, DP_MAILBOX);
#if DP_CPU
    for (uint k = 0; k < 3; k++)
        atomic_or(bits + k, words[k]);
#else
    const uint l = get_local_id(0);
    if (l < 3)
        all[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 3; k++)
        if (words[k])
            atomic_or(all + k, words[k]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 3)
        atomic_or(bits + l, all[l]);
#endif
}
#if DP_CPU
#define DP_SORT_POST_BITS(differ, loses) dp_sort_post_bits(out, differ, loses, 0);
#else
#define DP_SORT_POST_BITS(differ, loses) \
    __local uint all[3]; \
    dp_sort_post_bits(out, differ, loses, all);
#endif

/* Of keys of one or two bytes, which are not given back; of others: radix_pass.cl */
DP_KERNEL void dp_sort_bits(DP_HEAPS, ulong n, ulong src, ulong scalar)
{
    ulong first = dp_sort_key(heap, src, 0, (uint)scalar), differ = 0;
    DP_EACH(i, n)
        differ |= dp_sort_key(heap, src, i, (uint)scalar) ^ first;
    DP_SORT_POST_BITS(differ, true)
}

/* Mailbox 0: the longest of n segments, as u32. */
DP_KERNEL void dp_sort_longest(DP_HEAPS, ulong n, ulong offsets)
{
    uint longest = 0;
    DP_EACH(s, n)
        longest = max(longest, (uint)(DP_OFFSET(offsets, s + 1) - DP_OFFSET(offsets, s)));
    volatile __global uint *most = DP_OUT(uint, DP_MAILBOX);
    if (longest > *most)
        atomic_max(most, longest);
}

/* keys[i] = key of src[pos[i]] */
DP_KERNEL void dp_sort_keys(DP_HEAPS, ulong n, ulong key_bytes, ulong keys, ulong src, ulong pos, ulong scalar)
{
    DP_EACH(i, n) {
        ulong key = dp_sort_key(heap, src, dp_at(heap, pos, i), (uint)scalar);
        if (key_bytes == 4)
            DP_OUT(uint, keys)[i] = (uint)key;
        else
            DP_OUT(ulong, keys)[i] = key;
    }
}

/* Codes of keys: 0: values are their keys; 1: with the highest bit flipped; 2: floats. In `codes` of a pass the lowest byte is of
 * what is loaded, the next of what is stored. */

#if DP_CPU
DP_KERNEL void dp_sort_starts(DP_HEAPS, ulong chunks, ulong counts)
{
    uint sum = 0;
    for (ulong k = 0; k < 256 * chunks; k++) {
        uint count = DP_OUT(uint, counts)[k];
        DP_OUT(uint, counts)[k] = sum;
        sum += count;
    }
}

#else /* GPU; DP_WG is 256 here: a lane for each digit */
enum {
    DP_SORT_ITEMS = 16, /* keys a lane */
    DP_SORT_TILE = DP_WG * DP_SORT_ITEMS,
    DP_SORT_ROW = 32, /* lanes that rank their keys together */
    DP_SORT_ROWS = DP_WG / DP_SORT_ROW,
    DP_SORT_AHEAD = 8, /* tiles looked back at in one go */
    DP_SORT_LOCAL = 2048 /* elements of a segment that a work-group sorts (segment_sort.cl) */
};
/* Of a digit in a tile: nothing is known yet (0); how many; how many up to this tile. n < 2^30. */
#define DP_SORT_OWN 0x40000000u
#define DP_SORT_ALL 0x80000000u
#define DP_SORT_NUMBER 0x3fffffffu

/* Among the lanes of a row. On NVIDIA's devices a row is a warp. Others are not asked to unroll loops with barriers. */
#ifdef cl_nv_pragma_unroll
#define DP_ROW_BARRIER() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#define DP_UNROLL _Pragma("unroll")
#else
#define DP_ROW_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define DP_UNROLL
#endif

/* The first tile of a chunk. */
static inline ulong dp_sort_chunk(ulong n, ulong chunk)
{
    return dp_chunk_start((n + DP_SORT_TILE - 1) / DP_SORT_TILE, get_num_groups(0), chunk);
}

/* The sum of x of the lanes before l. work: 2 * DP_WG, not in use before. Two barriers. */
static inline uint dp_sort_sum_before(uint x, __local uint *work, uint l)
{
    work[l] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16) {
        uint sum = 0;
        for (uint j = 16 * l; j < 16 * l + 16; j++) {
            uint one = work[j];
            work[j] = sum;
            sum += one;
        }
        work[DP_WG + l] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = work[l];
    for (uint j = 0; j < l / 16; j++)
        before += work[DP_WG + j];
    return before;
}

/* How many of digit l are in the tiles before t, by what they left. */
static inline uint dp_sort_look_back(volatile __global uint *status, ulong t, uint l)
{
    uint sum = 0;
    while (t) {
        uint left[DP_SORT_AHEAD], known = 0;
        bool open = true;
        DP_UNROLL for (uint j = 0; j < DP_SORT_AHEAD; j++)
            left[j] = t > j ? status[(t - 1 - j) * 256 + l] : 0;
        DP_UNROLL for (uint j = 0; j < DP_SORT_AHEAD; j++) {
            open = open && left[j];
            sum += open ? left[j] & DP_SORT_NUMBER : 0;
            known += open;
            if (open && left[j] & DP_SORT_ALL) {
                open = false;
                known = (uint)min(t, (ulong)UINT_MAX);
            }
        }
        t -= known;
    }
    return sum;
}

/* Where each digit's keys begin, in place; a work-group a pass. */
DP_KERNEL void dp_sort_bases(DP_HEAPS, ulong passes, ulong digits)
{
    __local uint work[2 * DP_WG];
    const uint l = get_local_id(0);
    const ulong at = get_group_id(0) * 256 + l;
    const uint before = dp_sort_sum_before(DP_AT(uint, digits)[at], work, l);
    DP_OUT(uint, digits)[at] = before;
}

DP_KERNEL void dp_sort_starts(DP_HEAPS, ulong chunks, ulong counts)
{
    __local uint work[2 * DP_WG];
    uint l = get_local_id(0), sum = 0;
    for (ulong k = l * chunks; k < (l + 1) * chunks; k++)
        sum += DP_OUT(uint, counts)[k];
    uint before = dp_sort_sum_before(sum, work, l);
    for (ulong k = l * chunks; k < (l + 1) * chunks; k++) {
        uint count = DP_OUT(uint, counts)[k];
        DP_OUT(uint, counts)[k] = before;
        before += count;
    }
}
#endif
