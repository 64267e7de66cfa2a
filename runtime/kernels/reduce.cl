/* REDUCE: every segment's values combined in order, starting from the neutral element; empty segments get the neutral element.
 *
 * One segment (dp_reduce_*): chunks of elements leave a carry each, then one work-item (CPU) or work-group (GPU) joins them.
 *
 * Segments (dp_segreduce_*): balanced by the merge path of elements and segment ends (Merrill and Garland, "Merge-based parallel
 * sparse matrix-vector multiplication", 2016). The path has n + nseg steps: at step d, s segments have been finished and i = d - s
 * elements taken, where s is the largest with offsets[s] + s <= d. A chunk of steps stores the segments that begin and end
 * inside it, and leaves two carries: the head, for the segment that was open at its start, if it ends here; and the tail, for
 * the one open at its end. A last pass joins the carries in order and stores the segments that cross chunks. So one giant segment,
 * millions of tiny and any number of empty ones take the same time.
 *
 * CPU: a work-item a chunk. GPU: a work-group a chunk, in tiles: values are loaded side by side into local memory, each lane walks
 * DP_ITEMS steps of the path, and the lanes' tails are scanned. Barriers stand in the tile loop only, whose bounds are uniform. */

/* The segments finished at step d of the path, known to be in [lo, hi]. */
static inline ulong dp_path_segment(DP_HEAP, ulong offsets, ulong lo, ulong hi, ulong d)
{
    if (offsets & DP_REGULAR)
        return min(max(dp_divide(d, (offsets & ~DP_REGULAR) + 1), lo), hi);
    for (hi++; hi - lo > 1;) {
        ulong mid = lo + (hi - lo) / 2;
        if (*DP_AT(ulong, offsets + 8 * mid) + mid <= d)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

#if DP_CPU
#if !DP_SEGMENTED
DP_KERNEL void dp_reduce_chunks(DP_HEAP, ulong n, ulong part, ulong vals, ulong pos DP_WORDS)
{
    ulong chunk = get_global_id(0), chunks = get_global_size(0);
    ulong i = dp_chunk_start(n, chunks, chunk), hi = dp_chunk_start(n, chunks, chunk + 1);
    dp_carry c;
    c.bits = 0;
    if (i < hi) {
        c.bits = DP_HAS;
        c.v = DP_RUN(i, hi, 0, vals, pos);
    }
    dp_put_carry(heap, part, chunk, 0, c);
}

/* All of it, where one chunk is enough. */
DP_KERNEL void dp_reduce_small(DP_HEAP, ulong n DP_WORDS DP_OUTS)
{
    const ulong vals = 0, pos = 0;
    dp_val v = DP_NEUTRAL(0);
    for (ulong i = 0; i < n; i++)
        v = DP_OP(0, v, DP_ELEMENT(i, 0));
    dp_store(heap, 0, v DP_PASS_OUTS);
}

DP_KERNEL void dp_reduce_finish(DP_HEAP, ulong chunks, ulong part DP_WORDS DP_OUTS)
{
    dp_val v = DP_NEUTRAL(0);
    for (ulong k = 0; k < chunks; k++) {
        dp_carry c = dp_get_carry(heap, part, k);
        if (c.bits & DP_HAS)
            v = DP_OP(0, v, c.v);
    }
    dp_store(heap, 0, v DP_PASS_OUTS);
}
#else
DP_KERNEL void dp_segreduce_chunks(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets,
                                   ulong part, ulong vals, ulong pos DP_WORDS DP_OUTS)
{
    ulong chunk = get_global_id(0), chunks = get_global_size(0);
    ulong d = dp_chunk_start(n + nseg, chunks, chunk), stop = dp_chunk_start(n + nseg, chunks, chunk + 1);
    ulong s = dp_path_segment(heap, offsets, 0, nseg, d), i = d - s, first = s;
    dp_carry head, c;
    head.bits = c.bits = 0;
    bool open = d < stop && i > DP_SEG_START(s); /* the segment began before this chunk */
    while (s + i < stop) {
        ulong end = DP_SEG_END(s), to = min(end, stop - s);
        c.bits = open ? 0 : DP_RESET | DP_HAS;
        if (!open) {
            c.v = DP_NEUTRAL(s);
        } else if (i < to) {
            c.bits = DP_HAS;
            c.v = DP_ELEMENT(i, s);
            i++;
        }
        if (to - i >= 128) {
            c.v = DP_OP(s, c.v, DP_RUN(i, to, s, vals, pos));
            i = to;
        }
        for (; i < to; i++)
            c.v = DP_OP(s, c.v, DP_ELEMENT(i, s));
        if (s + end >= stop)
            break;
        if (open) {
            head = c;
            head.bits |= DP_EMITTED;
        } else {
            dp_store(out, s, c.v DP_PASS_OUTS);
        }
        c.bits = DP_RESET;
        open = false;
        s++;
    }
    dp_put_carry(heap, part, chunk, first, head);
    dp_put_carry(heap, part, chunks + chunk, s, c);
}

DP_KERNEL void dp_segreduce_finish(DP_HEAP, ulong chunks, ulong part DP_WORDS DP_OUTS)
{
    dp_carry carry;
    carry.bits = 0;
    for (ulong k = 0; k < chunks; k++) {
        dp_carry head = dp_get_carry(heap, part, k), tail = dp_get_carry(heap, part, chunks + k);
        if (head.bits & DP_EMITTED) {
            ulong s = DP_CARRY_SEGMENT(part, k);
            dp_store(heap, s, DP_JOIN(s, carry, head).v DP_PASS_OUTS);
        }
        carry = DP_JOIN(DP_CARRY_SEGMENT(part, chunks + k), carry, tail);
    }
}
#endif

#else /* GPU */
#if !DP_SEGMENTED
#if DP_COMMUTATIVE
/* Any order: lanes stride over the grid, so that neighbours read side by side. */
DP_KERNEL void dp_reduce_chunks(DP_HEAP, ulong n, ulong part, ulong vals, ulong pos DP_WORDS)
{
    __local dp_carry sh[2][DP_WG];
    uint l = get_local_id(0);
    const ulong s_end = 0;
    dp_carry c;
    c.bits = 0;
    ulong i = get_global_id(0);
    if (i < n) {
        c.bits = DP_HAS;
        c.v = DP_ELEMENT(i, 0);
        for (i += get_global_size(0); i < n; i += get_global_size(0))
            c.v = DP_OP(0, c.v, DP_ELEMENT(i, 0));
    }
    DP_GROUP_SCAN()
    if (l == DP_WG - 1)
        dp_put_carry(heap, part, get_group_id(0), 0, c);
}
#else
/* In order: each lane has a run of neighbouring elements, all runs of a group one behind the other. They advance together, DP_ITEMS
 * elements at a time, through local memory: so that loads come side by side, and lanes are joined only once, at the end. */
DP_KERNEL void dp_reduce_chunks(DP_HEAP, ulong n, ulong part, ulong vals, ulong pos DP_WORDS)
{
    DP_STAGE(stage);
    __local dp_carry sh[2][DP_WG];
    uint l = get_local_id(0);
    const ulong s_end = 0;
    ulong lo = dp_chunk_start(n, get_num_groups(0), get_group_id(0));
    ulong hi = dp_chunk_start(n, get_num_groups(0), get_group_id(0) + 1);
    ulong run = (hi - lo + DP_TILE - 1) / DP_TILE * DP_ITEMS;
    dp_carry c;
    c.bits = 0;
    for (ulong k = 0; k < run; k += DP_ITEMS) {
#pragma unroll
        for (uint q = 0; q < DP_ITEMS; q++) {
            uint j = q * DP_WG + l;
            ulong i = lo + j / DP_ITEMS * run + k + j % DP_ITEMS;
            if (i < hi)
                dp_stage_put(stage, j, DP_ELEMENT(i, 0));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        ulong first = lo + l * run + k;
#pragma unroll
        for (uint j = 0; j < DP_ITEMS; j++)
            if (first + j < hi) {
                dp_val v = dp_stage_get(stage, l * DP_ITEMS + j);
                c.v = c.bits ? DP_OP(0, c.v, v) : v;
                c.bits = DP_HAS;
            }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    DP_GROUP_SCAN()
    if (l == DP_WG - 1)
        dp_put_carry(heap, part, get_group_id(0), 0, c);
}
#endif

DP_KERNEL void dp_reduce_finish(DP_HEAP, ulong chunks, ulong part DP_WORDS DP_OUTS)
{
    __local dp_carry sh[2][DP_WG];
    uint l = get_local_id(0);
    const ulong s_end = 0;
    dp_carry c;
    c.bits = 0;
    for (ulong k = dp_chunk_start(chunks, DP_WG, l); k < dp_chunk_start(chunks, DP_WG, l + 1); k++)
        c = DP_JOIN(0, c, dp_get_carry(heap, part, k));
    DP_GROUP_SCAN()
    if (l == DP_WG - 1) {
        dp_val v = DP_NEUTRAL(0);
        if (c.bits & DP_HAS)
            v = DP_OP(0, v, c.v);
        dp_store(heap, 0, v DP_PASS_OUTS);
    }
}
#else
DP_KERNEL void dp_segreduce_chunks(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets,
                                   ulong part, ulong vals, ulong pos DP_WORDS DP_OUTS)
{
    DP_STAGE(stage);
    __local dp_carry sh[2][DP_WG];
    uint l = get_local_id(0);
    ulong chunk = get_group_id(0), chunks = get_num_groups(0), total = n + nseg;
    ulong tiles = (total + DP_TILE - 1) / DP_TILE;
    ulong t = dp_chunk_start(tiles, chunks, chunk), t_end = dp_chunk_start(tiles, chunks, chunk + 1);
    dp_carry carry; /* of the chunk's tiles so far; the same in every lane */
    carry.bits = 0;
    if (l == 0)
        dp_put_carry(heap, part, chunk, 0, carry);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* before another lane writes the head there */
    ulong s1 = 0;
    for (; t < t_end; t++) {
        ulong d0 = t * DP_TILE, d1 = min(d0 + DP_TILE, total);
        ulong s0 = dp_path_segment(heap, offsets, 0, nseg, d0), i0 = d0 - s0;
        s1 = dp_path_segment(heap, offsets, s0, min(nseg, s0 + DP_TILE), d1);
        uint count = (uint)(d1 - s1 - i0);
        for (uint j = l; j < count; j += DP_WG) {
            ulong s = DP_USES_SEG ? DP_SEG_BETWEEN(s0, min(s1 + 1, nseg), i0 + j) : 0;
            dp_stage_put(stage, j, DP_ELEMENT(i0 + j, s));
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        ulong d = min(d0 + l * DP_ITEMS, d1), stop = min(d + DP_ITEMS, d1);
        ulong s = dp_path_segment(heap, offsets, s0, s1, d), i = d - s, head_s = s;
        bool open = d < stop && i > DP_SEG_START(s);
        dp_carry head, c;
        head.bits = c.bits = 0;
        if (d < stop && !open) {
            c.bits = DP_RESET | DP_HAS;
            c.v = DP_NEUTRAL(s);
        }
        for (; d < stop; d++) {
            if (i < DP_SEG_END(s)) {
                dp_val x = dp_stage_get(stage, (uint)(i - i0));
                c.v = c.bits & DP_HAS ? DP_OP(s, c.v, x) : x;
                c.bits |= DP_HAS;
                i++;
            } else {
                if (open) {
                    head = c;
                    head.bits |= DP_EMITTED;
                    open = false;
                } else {
                    dp_store(out, s, c.v DP_PASS_OUTS);
                }
                s++;
                c.bits = DP_RESET;
                if (d + 1 < stop) {
                    c.bits = DP_RESET | DP_HAS;
                    c.v = DP_NEUTRAL(s);
                }
            }
        }
        ulong s_end = s;
        DP_GROUP_SCAN()
        dp_carry before;
        before.bits = 0;
        if (l)
            before = sh[DP_SCANNED][l - 1];
        before = DP_JOIN(s0, carry, before);
        if (head.bits & DP_EMITTED) {
            dp_carry whole = DP_JOIN(head_s, before, head);
            if (before.bits & DP_RESET)
                dp_store(out, head_s, whole.v DP_PASS_OUTS);
            else
                dp_put_carry(heap, part, chunk, head_s, whole);
        }
        carry = DP_JOIN(s0, carry, sh[DP_SCANNED][DP_WG - 1]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        dp_put_carry(heap, part, chunks + chunk, s1, carry);
}

DP_KERNEL void dp_segreduce_finish(DP_HEAP, ulong chunks, ulong part DP_WORDS DP_OUTS)
{
    __local dp_carry sh[2][DP_WG];
    uint l = get_local_id(0);
    ulong lo = dp_chunk_start(chunks, DP_WG, l), hi = dp_chunk_start(chunks, DP_WG, l + 1), s_end = 0;
    dp_carry c;
    c.bits = 0;
    for (ulong k = lo; k < hi; k++) {
        s_end = DP_CARRY_SEGMENT(part, chunks + k);
        c = DP_JOIN(s_end, c, dp_get_carry(heap, part, chunks + k));
    }
    DP_GROUP_SCAN()
    c.bits = 0;
    if (l)
        c = sh[DP_SCANNED][l - 1];
    for (ulong k = lo; k < hi; k++) {
        dp_carry head = dp_get_carry(heap, part, k);
        if (head.bits & DP_EMITTED) {
            ulong s = DP_CARRY_SEGMENT(part, k);
            dp_store(heap, s, DP_JOIN(s, c, head).v DP_PASS_OUTS);
        }
        c = DP_JOIN(DP_CARRY_SEGMENT(part, chunks + k), c, dp_get_carry(heap, part, chunks + k));
    }
}
#endif
#endif
