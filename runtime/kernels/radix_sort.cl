/* Stable radix sort, 8 bits a pass from the lowest, of u32 or u64 keys (key_bytes) with u32 positions.
 *
 * dp_sort_keys makes keys whose unsigned order is the sorting order, and collects in the mailbox the bits in which keys differ: passes
 * over equal digits are skipped by the host. A pass: dp_sort_count (digits per chunk), dp_sort_starts (one work-item or
 * work-group: where each chunk's digits go, counts[digit * chunks + chunk]), dp_sort_move.
 *
 * CPU: a work-item a chunk, its 256 counters in private memory. GPU: a work-group of 256 a chunk, in tiles of a key a lane; a lane's
 * rank among the equal digits of its tile is counted by looking at the tile's digits in local memory, all lanes at the same one (a broadcast).
 * Barriers stand in the tile loop only, whose bounds are uniform. pos == 0 stands for positions 0, 1, 2 .... n > 0. */
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

/* keys[i] = key of src[pos[i]] */
DP_KERNEL void dp_sort_keys(DP_HEAPS, ulong n, ulong key_bytes, ulong keys, ulong src, ulong pos, ulong scalar)
{
    ulong first = dp_sort_key(heap, src, dp_at(heap, pos, 0), (uint)scalar), differ = 0;
    DP_EACH(i, n) {
        ulong key = dp_sort_key(heap, src, dp_at(heap, pos, i), (uint)scalar);
        differ |= key ^ first;
        if (key_bytes == 4)
            DP_OUT(uint, keys)[i] = (uint)key;
        else
            DP_OUT(ulong, keys)[i] = key;
    }
    volatile __global uint *bits = DP_OUT(uint, DP_MAILBOX);
    if ((uint)differ & ~bits[0])
        atomic_or(bits, (uint)differ);
    if ((uint)(differ >> 32) & ~bits[1])
        atomic_or(bits + 1, (uint)(differ >> 32));
}

/* The mailbox's first word = 0; pos[i] = i for i < n */
DP_KERNEL void dp_sort_begin(DP_HEAPS, ulong n, ulong pos)
{
    if (get_global_id(0) == 0)
        *DP_OUT(ulong, DP_MAILBOX) = 0;
    DP_EACH(i, n)
        DP_OUT(uint, pos)[i] = (uint)i;
}

#define DP_DIGIT(i) \
    (key_bytes == 4 ? DP_AT(uint, keys)[i] >> (uint)shift & 255u : (uint)(DP_AT(ulong, keys)[i] >> shift) & 255u)

#if DP_CPU
DP_KERNEL void dp_sort_count(DP_HEAPS, ulong n, ulong key_bytes, ulong keys, ulong shift, ulong counts)
{
    uint count[256];
    for (uint d = 0; d < 256; d++)
        count[d] = 0;
    DP_EACH(i, n)
        count[DP_DIGIT(i)]++;
    for (uint d = 0; d < 256; d++)
        DP_OUT(uint, counts)[d * get_global_size(0) + get_global_id(0)] = count[d];
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

DP_KERNEL void dp_sort_move(DP_HEAPS, ulong n, ulong key_bytes, ulong keys, ulong pos, ulong keys_to, ulong pos_to, ulong shift,
                            ulong counts)
{
    uint start[256];
    for (uint d = 0; d < 256; d++)
        start[d] = DP_AT(uint, counts)[d * get_global_size(0) + get_global_id(0)];
    DP_EACH(i, n) {
        uint to = start[DP_DIGIT(i)]++;
        if (key_bytes == 4)
            DP_OUT(uint, keys_to)[to] = DP_AT(uint, keys)[i];
        else
            DP_OUT(ulong, keys_to)[to] = DP_AT(ulong, keys)[i];
        DP_OUT(uint, pos_to)[to] = (uint)dp_at(heap, pos, i);
    }
}

#else /* GPU; DP_WG is 256 here */
/* Tiles of this chunk: [t, t_end). */
#define DP_SORT_TILES() \
    ulong tiles = (n + DP_WG - 1) / DP_WG; \
    ulong t = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0)); \
    ulong t_end = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0) + 1);

DP_KERNEL void dp_sort_count(DP_HEAPS, ulong n, ulong key_bytes, ulong keys, ulong shift, ulong counts)
{
    __local uint count[256];
    uint l = get_local_id(0);
    count[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    DP_SORT_TILES()
    for (ulong i = t * DP_WG + l; i < min(n, t_end * DP_WG); i += DP_WG)
        atomic_inc(&count[DP_DIGIT(i)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    DP_OUT(uint, counts)[l * get_num_groups(0) + get_group_id(0)] = count[l];
}

DP_KERNEL void dp_sort_starts(DP_HEAPS, ulong chunks, ulong counts)
{
    __local uint sh[256];
    uint l = get_local_id(0), sum = 0;
    for (ulong k = l * chunks; k < (l + 1) * chunks; k++)
        sum += DP_OUT(uint, counts)[k];
    sh[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < 256; d <<= 1) {
        uint left = l >= d ? sh[l - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sh[l] += left;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    sum = l ? sh[l - 1] : 0;
    for (ulong k = l * chunks; k < (l + 1) * chunks; k++) {
        uint count = DP_OUT(uint, counts)[k];
        DP_OUT(uint, counts)[k] = sum;
        sum += count;
    }
}

DP_KERNEL void dp_sort_move(DP_HEAPS, ulong n, ulong key_bytes, ulong keys, ulong pos, ulong keys_to, ulong pos_to, ulong shift,
                            ulong counts)
{
    __local uint start[256], count[256], digits[256];
    uint l = get_local_id(0);
    start[l] = DP_AT(uint, counts)[l * get_num_groups(0) + get_group_id(0)];
    DP_SORT_TILES()
    for (; t < t_end; t++) {
        ulong i = t * DP_WG + l;
        uint digit = i < n ? DP_DIGIT(i) : 256;
        count[l] = 0;
        digits[l] = digit;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint rank = 0;
        for (uint j = 0; j < DP_WG; j++)
            rank += (j < l) & (digits[j] == digit);
        if (i < n) {
            uint to = start[digit] + rank;
            atomic_inc(&count[digit]);
            if (key_bytes == 4)
                DP_OUT(uint, keys_to)[to] = DP_AT(uint, keys)[i];
            else
                DP_OUT(ulong, keys_to)[to] = DP_AT(ulong, keys)[i];
            DP_OUT(uint, pos_to)[to] = (uint)dp_at(heap, pos, i);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        start[l] += count[l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif
