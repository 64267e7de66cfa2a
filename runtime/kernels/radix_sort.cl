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
 * CPU: chunks, a work-item each; many keys by bucket_sort.cl. Barriers stand in loops with uniform bounds only. n > 0. */

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

/* scalar: DpScalar; bits: of a value of 4 or 8 bytes */
static inline ulong dp_sort_key_of(ulong bits, uint scalar)
{
    switch (scalar) {
    case 3: return bits ^ 0x80000000u;
    case 4: return bits ^ 0x8000000000000000UL;
    case 9: return dp_key_f32((uint)bits);
    case 10: return dp_key_f64(bits);
    default: return bits;
    }
}

static inline ulong dp_sort_key(__global uchar *heap, ulong src, ulong j, uint scalar)
{
    switch (scalar) {
    case 0: case 5: return DP_AT(uchar, src)[j];
    case 1: return (ulong)(DP_AT(char, src)[j] + 128);
    case 2: return (ulong)(DP_AT(short, src)[j] + 32768);
    case 6: return DP_AT(ushort, src)[j];
    case 3: return dp_sort_key_of(DP_AT(uint, src)[j], 3);
    case 4: return dp_sort_key_of(DP_AT(ulong, src)[j], 4);
    case 7: return DP_AT(uint, src)[j];
    case 8: return DP_AT(ulong, src)[j];
    case 9: return dp_sort_key_of(DP_AT(uint, src)[j], 9);
    default: return dp_sort_key_of(DP_AT(ulong, src)[j], 10);
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

#if DP_CPU
/* Of each segment the first elements and the last: dst[to + i] = src[places[from + i]] for i below `first`, where segment s begins at `to` by the
 * one offsets and at `from` by the others, and likewise up to its ends. src 0: the places, as u32, or as i64 from `to` on. */
DP_KERNEL void dp_sort_ends(DP_HEAPS, ulong nseg, ulong to, ulong from, ulong first, ulong last, ulong places, ulong src, ulong bytes, ulong dst)
{
#define DP_EACH_END(STATEMENT) \
    DP_EACH(s, nseg) { \
        const ulong start = DP_OFFSET(to, s), end = DP_OFFSET(to, s + 1), at = DP_OFFSET(from, s), at_end = DP_OFFSET(from, s + 1); \
        const ulong most = end - start, firsts = min(first, most), lasts = min(last, most); \
        for (ulong k = 0; k < firsts + lasts; k++) { \
            const ulong i = k < firsts ? start + k : end - (k - firsts + 1); \
            const uint place = DP_AT(uint, places)[k < firsts ? at + k : at_end - (k - firsts + 1)]; \
            STATEMENT \
        } \
    }
#define DP_LOOP(T) DP_EACH_END(DP_MOVE(T, dst, i, src, place);)
    if (src)
        DP_EACH_SIZE(DP_LOOP)
    else if (bytes == 4)
        DP_EACH_END(DP_OUT(uint, dst)[i] = place;)
    else
        DP_EACH_END(DP_OUT(ulong, dst)[i] = place - start;)
#undef DP_LOOP
#undef DP_EACH_END
}
#endif

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

/* parts: of each work-group the least and the greatest key of a column. */
DP_KERNEL void dp_sort_range(DP_HEAPS, ulong n, ulong src, ulong scalar, ulong parts)
{
    ulong least = ULONG_MAX, most = 0;
    DP_EACH(i, n) {
        const ulong key = dp_sort_key(heap, src, i, (uint)scalar);
        least = min(least, key);
        most = max(most, key);
    }
#if !DP_CPU
    __local ulong all[2][DP_WG];
    const uint l = get_local_id(0);
    all[0][l] = least;
    all[1][l] = most;
    for (uint step = DP_WG / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < step) {
            all[0][l] = min(all[0][l], all[0][l + step]);
            all[1][l] = max(all[1][l], all[1][l + step]);
        }
    }
    if (l > 0)
        return;
    least = all[0][0];
    most = all[1][0];
#endif
    DP_OUT(ulong, parts)[2 * get_group_id(0)] = least;
    DP_OUT(ulong, parts)[2 * get_group_id(0) + 1] = most;
}

/* Mailbox: the least and the greatest key of each of a few columns, of whose parts there are `groups`. */
DP_KERNEL void dp_sort_ranges(DP_HEAPS, ulong columns, ulong groups, ulong parts)
{
    for (ulong c = get_global_id(0); c < columns; c += get_global_size(0)) {
        ulong least = ULONG_MAX, most = 0;
        for (ulong g = c * groups; g < (c + 1) * groups; g++) {
            least = min(least, DP_AT(ulong, parts)[2 * g]);
            most = max(most, DP_AT(ulong, parts)[2 * g + 1]);
        }
        DP_OUT(ulong, DP_MAILBOX)[2 * c] = least;
        DP_OUT(ulong, DP_MAILBOX)[2 * c + 1] = most;
    }
}

/* keys[i]: what the key of src[pos[i]] is above `least`; not the first of them: in front of what is there, of `shift` bits */
DP_KERNEL void dp_sort_join(DP_HEAPS, ulong n, ulong key_bytes, ulong keys, ulong src, ulong pos, ulong scalar, ulong least, ulong shift,
                            ulong joins)
{
    DP_EACH(i, n) {
        ulong key = dp_sort_key(heap, src, dp_at(heap, pos, i), (uint)scalar) - least;
        key = shift < 64 ? key << shift : 0;
        if (key_bytes == 4)
            DP_OUT(uint, keys)[i] = (uint)key | (joins ? DP_OUT(uint, keys)[i] : 0);
        else
            DP_OUT(ulong, keys)[i] = key | (joins ? DP_OUT(ulong, keys)[i] : 0);
    }
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
 * what is loaded, the next of what is stored. The bits to be flipped where the highest bit is 1 (top), and where it is 0: */
#define DP_SORT_MASK(code, top) ((code) == 0 ? (DP_K)0 : (code) == 2 && (top) ? ~(DP_K)0 : (DP_K)1 << (8 * sizeof(DP_K) - 1))

#if DP_CPU
enum { DP_SORT_BUCKETS = 512, DP_SORT_CELL_BITS = 12, DP_SORT_CELLS = 1 << DP_SORT_CELL_BITS }; /* bucket_sort.cl */
/* Behind where the buckets begin: where each chunk's part of them does. */
#define DP_SORT_CHUNK_STARTS(starts, chunk) (DP_OUT(uint, starts) + (1 + (chunk)) * (DP_SORT_BUCKETS + 1))

/* counts: of chunks, of their cells. Two neighbouring buckets have more than n / 255 keys. Mailbox: the most keys of a bucket; how
 * many buckets there are. */
DP_KERNEL void dp_sort_buckets(DP_HEAPS, ulong chunks, ulong n, ulong cells, ulong counts, ulong table, ulong starts)
{
    __global uint *begin = DP_OUT(uint, starts);
    const uint most = (uint)(n / 255) + 1;
    uint keys[DP_SORT_CELLS], bucket = 0, size = 0, largest = 0;
    for (ulong k = 0; k < (1 + chunks) * (DP_SORT_BUCKETS + 1); k++)
        begin[k] = 0;
    for (ulong c = 0; c < cells; c++)
        keys[c] = 0;
    for (ulong k = 0; k < chunks; k++)
        for (ulong c = 0; c < cells; c++)
            keys[c] += DP_AT(uint, counts)[k * cells + c];
    for (ulong c = 0; c < cells; c++) {
        if (size && size + keys[c] > most) {
            begin[bucket + 1] = begin[bucket] + size;
            bucket++;
            size = 0;
        }
        size += keys[c];
        largest = max(largest, size);
        DP_OUT(ushort, table)[c] = (ushort)bucket;
    }
    for (ulong k = 0; k < chunks; k++)
        for (ulong c = 0; c < cells; c++)
            DP_SORT_CHUNK_STARTS(starts, k)[DP_OUT(ushort, table)[c]] += DP_AT(uint, counts)[k * cells + c];
    begin[bucket + 1] = (uint)n;
    for (uint b = 0; b <= bucket; b++) {
        uint at = begin[b];
        for (ulong k = 0; k < chunks; k++) {
            uint one = DP_SORT_CHUNK_STARTS(starts, k)[b];
            DP_SORT_CHUNK_STARTS(starts, k)[b] = at;
            at += one;
        }
    }
    DP_OUT(ulong, DP_MAILBOX)[0] = largest;
    DP_OUT(ulong, DP_MAILBOX)[1] = bucket + 1;
}

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
    DP_SORT_ITEMS4 = 16, /* keys a lane, of 4 bytes */
    DP_SORT_ITEMS8 = 16, /* of 8 bytes */
    DP_SORT_ROW = 32, /* lanes that rank their keys together */
    DP_SORT_ROWS = DP_WG / DP_SORT_ROW,
    DP_SORT_AHEAD = 8, /* tiles looked back at in one go */
    DP_SORT_LOCAL = 2048, /* segment_sort.cl: elements in local memory, where segments are ranked */
    DP_SORT_RUN = 15 /* of a lane, where a work-group sorts a segment; odd, so that lanes meet different banks */
};
#define DP_SORT_BLOCK (DP_WG * DP_SORT_RUN) /* what a work-group sorts at once */

/* The blocks of segments longer than `least`: at `blocks` how many they are, a u32, 0 before, and 8 bytes further for each a uint2, the segment, and which of its blocks it is. There is room for all. */
DP_KERNEL void dp_sort_list(DP_HEAPS, ulong nseg, ulong offsets, ulong least, ulong blocks)
{
    __local uint found[1], place[1];
    const uint l = get_local_id(0);
    for (ulong first = (ulong)get_group_id(0) * DP_WG; first < nseg; first += (ulong)get_num_groups(0) * DP_WG) {
        const ulong s = first + l, length = s < nseg ? DP_OFFSET(offsets, s + 1) - DP_OFFSET(offsets, s) : 0;
        const uint several = length > least ? (uint)((length + DP_SORT_BLOCK - 1) / DP_SORT_BLOCK) : 0;
        if (l == 0)
            found[0] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint ahead = several ? atomic_add(found, several) : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l == 0)
            place[0] = found[0] ? atomic_add((volatile __global uint *)(out + blocks), found[0]) : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < several; k++)
            DP_OUT(uint2, blocks + 8)[place[0] + ahead + k] = (uint2)((uint)s, k);
    }
}
#define DP_SORT_ITEMS (sizeof(DP_K) == 4 ? DP_SORT_ITEMS4 : DP_SORT_ITEMS8)
#define DP_SORT_TILE (DP_WG * DP_SORT_ITEMS)
/* Of a digit in a tile: nothing is known yet (0); how many; how many up to this tile. n < 2^30. */
#define DP_SORT_OWN 0x40000000u
#define DP_SORT_ALL 0x80000000u
#define DP_SORT_NUMBER 0x3fffffffu

/* STATEMENT for some[DP_SORT_AT_ONCE] of n keys at `from`, loaded together: a lane l has every DP_WG-th of a tile. Where a tile is not full, it has
 * `left` keys, and behind these the last one again. */
#define DP_SORT_AT_ONCE 8
#define DP_EACH_TILE(some, n, from, STATEMENT) \
    for (ulong first_of = (ulong)get_group_id(0) * DP_SORT_AT_ONCE * DP_WG; first_of < (n); \
         first_of += (ulong)get_num_groups(0) * DP_SORT_AT_ONCE * DP_WG) { \
        __global const DP_K *tile = (from) + first_of; \
        const uint left = (uint)min((ulong)DP_SORT_AT_ONCE * DP_WG, (n) - first_of); \
        const bool full = left == DP_SORT_AT_ONCE * DP_WG; \
        DP_K some[DP_SORT_AT_ONCE]; \
        if (full) { \
            DP_UNROLL for (uint q = 0; q < DP_SORT_AT_ONCE; q++) \
                some[q] = tile[q * DP_WG + l]; \
        } else { \
            DP_UNROLL for (uint q = 0; q < DP_SORT_AT_ONCE; q++) \
                some[q] = tile[min(q * DP_WG + l, left - 1)]; \
        } \
        STATEMENT \
    }

/* The first tile of a chunk, of tiles of so many keys. */
static inline ulong dp_sort_chunk(ulong n, ulong tile, ulong chunk)
{
    return dp_chunk_start((n + tile - 1) / tile, get_num_groups(0), chunk);
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
    const uint before = dp_sum_before(DP_AT(uint, digits)[at], work, l);
    DP_OUT(uint, digits)[at] = before;
}

DP_KERNEL void dp_sort_starts(DP_HEAPS, ulong chunks, ulong counts)
{
    __local uint work[2 * DP_WG];
    uint l = get_local_id(0), sum = 0;
    for (ulong k = l * chunks; k < (l + 1) * chunks; k++)
        sum += DP_OUT(uint, counts)[k];
    uint before = dp_sum_before(sum, work, l);
    for (ulong k = l * chunks; k < (l + 1) * chunks; k++) {
        uint count = DP_OUT(uint, counts)[k];
        DP_OUT(uint, counts)[k] = before;
        before += count;
    }
}
#endif
