/* SCATTER on a GPU, of values that would go all over a large destination, one line of memory each: the destination is divided into windows of
 * 2^shift elements that fit into caches. Elements are dealt out to these, in runs, and then stored window by window. Behind scatter.cl, with
 * DP_WAY 1.
 *
 *   dp_scatter_look   a work-group a spot: what the host decides by
 *   dp_scatter_begin  counts = 0
 *   dp_scatter_deal   a work-group a tile, or a chunk of tiles: each window's elements come together in local memory. Window w has the elements
 *                     from w * room on, in no order: places and values. What has no room is stored at once.
 *   dp_scatter_store  a work-group a tile of these
 *
 * Guards: i < n, and of each window's count. Barriers stand in straight lines and uniform loops only. Work-groups have 256 lanes, one for
 * each window. */
#ifndef DP_BY_ONE
enum {
    DP_DEALT_ITEMS = sizeof(dp_val) <= 4 ? 16 : sizeof(dp_val) <= 8 ? 8 : 4, /* of a lane */
    DP_DEALT_TILE = DP_WG * DP_DEALT_ITEMS,
    DP_STORED_ITEMS = 16,
    DP_STORED_TILE = DP_WG * DP_STORED_ITEMS,
    DP_SPOT = 1 << 20 /* elements of a spot, of which each lane asks three neighbours */
};
#define DP_NO_PLACE UINT_MAX

/* Where element i of segment s goes, and its value. */
static inline uint dp_scatter_place(__global uchar *restrict heap, ulong i, ulong s, ulong length, ulong dest_offsets, dp_val *v DP_WORDS)
{
    long index = -1;
    *v = dp_body_at(heap, i, s, &index DP_PASS);
    return index >= 0 && (ulong)index < DP_ROOM(s) ? (uint)(DP_BASE(s) + (ulong)index) : DP_NO_PLACE;
}

/* Mailbox, a word a work-group: how many windows its elements go to; in the upper half how many of them have neighbours at irregular places. */
DP_KERNEL void dp_scatter_look(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong length,
                               ulong dest_offsets, ulong shift DP_WORDS DP_OUTS)
{
    __local uint met[DP_WG], irregular, windows;
    const uint l = get_local_id(0);
    const ulong size = min(n, (ulong)DP_SPOT), start = (n - size) * get_group_id(0) / get_num_groups(0);
    dp_val v;
    uint at[3];
    met[l] = 0;
    if (l == 0)
        irregular = windows = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 3; k++) {
        const ulong i = min(start + size * l / DP_WG + k, n - 1);
        at[k] = dp_scatter_place(heap, i, DP_SEG_OF(i), length, dest_offsets, &v DP_PASS);
    }
    if (at[0] != DP_NO_PLACE)
        met[(at[0] >> shift) & (DP_WG - 1)] = 1;
    if (at[1] - at[0] != at[2] - at[1])
        atomic_inc(&irregular);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (met[l])
        atomic_inc(&windows);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        ((__global ulong *)(out + DP_MAILBOX))[get_group_id(0)] = windows | (ulong)irregular << 32;
}

DP_KERNEL void dp_scatter_begin(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong length,
                                ulong dest_offsets, ulong counts DP_WORDS DP_OUTS)
{
    ((__global uint *)(out + counts))[get_local_id(0)] = 0;
}

DP_KERNEL void dp_scatter_deal(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong length,
                               ulong dest_offsets, ulong shift, ulong room, ulong counts, ulong places, ulong values DP_WORDS DP_OUTS)
{
    __local dp_val staged[DP_DEALT_TILE];
    __local uint place[DP_DEALT_TILE], count[DP_WG], first[DP_WG], to[DP_WG], work[2 * DP_WG];
    const uint l = get_local_id(0);
    const ulong tiles = (n + DP_DEALT_TILE - 1) / DP_DEALT_TILE;
    const ulong t_end = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0) + 1);
    ulong t = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0)), last = t < t_end ? DP_SEG_OF(t * DP_DEALT_TILE) : 0;
    for (; t < t_end; t++) {
        const ulong start = t * DP_DEALT_TILE, end = min(n, start + DP_DEALT_TILE), before = last;
        dp_val v[DP_DEALT_ITEMS];
        uint at[DP_DEALT_ITEMS], rank[DP_DEALT_ITEMS];
        last = DP_SEG_NEAR(before, end - 1);
        count[l] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        DP_UNROLL for (uint q = 0; q < DP_DEALT_ITEMS; q++) {
            const ulong i = start + q * DP_WG + l, some = min(i, end - 1);
            at[q] = dp_scatter_place(heap, some, DP_SEG_BETWEEN(before, last + 1, some), length, dest_offsets, &v[q] DP_PASS);
            if (i >= end)
                at[q] = DP_NO_PLACE;
        }
        DP_UNROLL for (uint q = 0; q < DP_DEALT_ITEMS; q++)
            if (at[q] != DP_NO_PLACE)
                rank[q] = atomic_inc(&count[at[q] >> shift]);
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint own = count[l], ahead = dp_sum_before(own, work, l);
        first[l] = ahead;
        to[l] = (own ? atomic_add((volatile __global uint *)(out + counts) + l, own) : 0) - ahead;
        barrier(CLK_LOCAL_MEM_FENCE);
        DP_UNROLL for (uint q = 0; q < DP_DEALT_ITEMS; q++)
            if (at[q] != DP_NO_PLACE) {
                const uint k = first[at[q] >> shift] + rank[q];
                place[k] = at[q];
                staged[k] = v[q];
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint all = first[DP_WG - 1] + count[DP_WG - 1];
        DP_UNROLL for (uint q = 0; q < DP_DEALT_ITEMS; q++) {
            const uint k = q * DP_WG + l;
            if (k < all) {
                const uint where = place[k], w = where >> shift, j = to[w] + k;
                if (j < room) {
                    ((__global uint *)(out + places))[w * room + j] = where;
                    ((__global dp_val *)(out + values))[w * room + j] = staged[k];
                } else
                    DP_PUT(0, where, staged[k])
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* An exchange takes less of an H200's memory than a store of part of a line (1.95 ms for 2^27 elements instead of 2.39). */
#ifdef DP_EXCHANGES
#define DP_PUT_IN_WINDOW(at, v) atomic_xchg((volatile __global uint *)(out + o0) + (at), dp_bits(v));
#else
#define DP_PUT_IN_WINDOW(at, v) DP_PUT(0, (at), (v))
#endif

/* n: elements that were dealt; nothing asks for it. */
DP_KERNEL void dp_scatter_store(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong windows, ulong room, ulong counts,
                                ulong places, ulong values DP_WORDS DP_OUTS)
{
    const ulong tiles = (room + DP_STORED_TILE - 1) / DP_STORED_TILE, w = get_group_id(0) / tiles;
    const ulong start = (get_group_id(0) - w * tiles) * DP_STORED_TILE, have = min((ulong)DP_AT(uint, counts)[w], room);
    const uint size = start < have ? (uint)min(have - start, (ulong)DP_STORED_TILE) : 0, l = get_local_id(0);
    __global const uint *place = DP_AT(uint, places) + w * room + start;
    __global const dp_val *value = DP_AT(dp_val, values) + w * room + start;
    if (size == DP_STORED_TILE) {
        for (uint base = 0; base < DP_STORED_TILE; base += 8 * DP_WG) {
            uint at[8];
            dp_val v[8];
            DP_UNROLL for (uint q = 0; q < 8; q++) {
                at[q] = place[base + q * DP_WG + l];
                v[q] = value[base + q * DP_WG + l];
            }
            DP_UNROLL for (uint q = 0; q < 8; q++)
                DP_PUT_IN_WINDOW(at[q], v[q])
        }
        return;
    }
    for (uint k = l; k < size; k += DP_WG)
        DP_PUT_IN_WINDOW(place[k], value[k])
}
#endif
