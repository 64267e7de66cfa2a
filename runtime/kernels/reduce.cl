/* REDUCE: every segment's values combined in order, starting from the neutral element; empty segments get the neutral element.
 *
 * One segment (dp_reduce_*): chunks of elements leave a carry each, then one work-item (CPU) or work-group (GPU) joins them.
 *
 * Segments: in one of several ways, DP_WAY, which segreduce.c chooses by what is known of their lengths.
 *
 * DP_LANE: a work-item takes a whole segment, in a loop. For short segments, or on a CPU many that are no longer than a chunk.
 *
 * DP_TEAM, DP_SPLIT, DP_ROWS (GPU): in teams.cl.
 *
 * DP_PATH: balanced by the merge path of elements and segment ends (Merrill and Garland, "Merge-based parallel
 * sparse matrix-vector multiplication", 2016). The path has n + nseg steps: at step d, s segments have been finished and i = d - s
 * elements taken, where s is the largest with offsets[s] + s <= d. A chunk of steps stores the segments that begin and end
 * inside it, and leaves two carries: the head, for the segment that was open at its start, if it ends here; and the tail, for
 * the one open at its end. A last pass joins the carries in order and stores the segments that cross chunks. So one giant segment,
 * millions of tiny and any number of empty ones take the same time.
 * CPU: a work-item a chunk. GPU: a work-group a chunk, in tiles: values are loaded side by side into local memory, each lane walks
 * DP_ITEMS steps of the path, and the lanes' tails are scanned. Barriers stand in the tile loop only, whose bounds are uniform. */
#define DP_PATH 0
#define DP_LANE 1
#define DP_TEAM 2
#define DP_SPLIT 3
#define DP_ROWS 4

#if DP_CPU
/* Elements from which on they go side by side. */
#if DP_W
#define DP_LEAST_RUN DP_W
#elif DP_AS_W
#define DP_LEAST_RUN DP_AS_W
#else
#define DP_LEAST_RUN 32
#endif
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
/* What is computed of neighbours is so by vectors, whatever segments they are in, and waits field by field: for segments that are shorter than a
 * vector. Elements first ... limit - 1 are the work-item's; v is joined by those from i on before end. */
#if DP_W && !DP_USES_SEG && DP_COMPUTES
#define DP_WAITS 1
#define DP_WAITING(N, field) dp_##N waiting_##field[DP_W];
#define DP_PUT_WAITING(N, field) *(dp_##N##_m *)waiting_##field = dp_to_memory_##N(x.field);
#define DP_TAKE_WAITING(N, field) x.field = waiting_##field[i - wait_from];
#define DP_OPEN_WAITING(first, limit) \
    const ulong wait_limit = (limit), wait_most = wait_limit - (first); \
    ulong wait_from = 0, wait_to = 0; \
    DP_VEC_NAMES(DP_WAITING)
#define DP_JOIN_WAITING(v, i, end, s) \
    for (; i < end && wait_most >= DP_W; i++) { \
        if (i >= wait_to) { \
            wait_to = min(i + DP_W, wait_limit); \
            wait_from = wait_to - DP_W; \
            const dp_vec x = DP_BODY_W(wait_from, 0); \
            DP_VEC_NAMES(DP_PUT_WAITING) \
        } \
        dp_val x; \
        DP_VEC_NAMES(DP_TAKE_WAITING) \
        v = DP_OP(s, v, x); \
    }
#else
#define DP_OPEN_WAITING(first, limit)
#define DP_JOIN_WAITING(v, i, end, s)
#endif
/* Segments s ... stop - 1, whole ones. */
#define DP_SIDE_BY_SIDE 4
static inline void dp_whole_segments(__global uchar *restrict heap, __global uchar *restrict out, ulong s, ulong stop, ulong n, ulong offsets,
                                     ulong vals, ulong pos DP_WORDS DP_OUTS)
{
    DP_OPEN_WAITING(s < stop ? DP_SEG_START(s) : 0, s < stop ? DP_SEG_START(stop) : 0)
#if DP_APART
    /* Short neighbours of one length are lanes. */
    const ulong length = offsets & ~DP_REGULAR;
    for (; offsets & DP_REGULAR && length < DP_LEAST_RUN && s + DP_W <= stop; s += DP_W) {
        dp_vec v;
        DP_EACH_LANE(l) dp_set_lane(&v, l, DP_NEUTRAL(s + l));
        for (ulong k = 0; k < length; k++)
            v = DP_OP_W(s, v, dp_body_apart(heap, s * length + k, s, length DP_PASS));
        dp_store_w(out, s, v DP_PASS_OUTS);
    }
#elif DP_LANES && !DP_WAITS
    /* Short neighbours of one length go side by side, for each waits for what it has combined so far. */
    const ulong m = offsets & ~DP_REGULAR;
    for (; offsets & DP_REGULAR && m < DP_LEAST_RUN && s + DP_SIDE_BY_SIDE <= stop; s += DP_SIDE_BY_SIDE) {
        dp_val v[DP_SIDE_BY_SIDE];
#pragma unroll
        for (uint q = 0; q < DP_SIDE_BY_SIDE; q++)
            v[q] = DP_NEUTRAL(s + q);
        for (ulong k = 0; k < m; k++) {
#pragma unroll
            for (uint q = 0; q < DP_SIDE_BY_SIDE; q++)
                v[q] = DP_OP(s + q, v[q], DP_ELEMENT((s + q) * m + k, s + q));
        }
#pragma unroll
        for (uint q = 0; q < DP_SIDE_BY_SIDE; q++)
            dp_store(out, s + q, v[q] DP_PASS_OUTS);
    }
#endif
    for (ulong i = s < stop ? DP_SEG_START(s) : 0; s < stop; s++) {
        const ulong end = DP_SEG_END(s);
        dp_val v;
        if (end - i >= DP_LEAST_RUN) {
            v = DP_RUN(i, end, s, vals, pos);
            i = end;
        } else {
            v = DP_NEUTRAL(s);
            DP_JOIN_WAITING(v, i, end, s)
            for (; i < end; i++)
                v = DP_OP(s, v, DP_ELEMENT(i, s));
        }
        dp_store(out, s, v DP_PASS_OUTS);
    }
}
#if DP_WAY == DP_LANE
/* The segments that end in a chunk of the path. */
DP_KERNEL void dp_segreduce_lane(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets,
                                 ulong vals, ulong pos DP_WORDS DP_OUTS)
{
    const ulong chunk = get_global_id(0), chunks = get_global_size(0);
    const ulong s = dp_path_segment(heap, offsets, 0, nseg, dp_chunk_start(n + nseg, chunks, chunk));
    const ulong stop = dp_path_segment(heap, offsets, 0, nseg, dp_chunk_start(n + nseg, chunks, chunk + 1));
    dp_whole_segments(heap, out, s, stop, n, offsets, vals, pos DP_PASS DP_PASS_OUTS);
}
#else
/* Elements [i, end) of segment s, whose first ones may have been before: then there is no neutral element, and perhaps nothing. */
static inline dp_carry dp_segment_part(__global uchar *restrict heap, ulong i, ulong end, ulong s, bool open, ulong vals, ulong pos DP_WORDS)
{
    dp_carry c;
    c.bits = open ? 0 : DP_RESET | DP_HAS;
    if (!open) {
        c.v = DP_NEUTRAL(s);
    } else if (i < end) {
        c.bits = DP_HAS;
        c.v = DP_ELEMENT(i, s);
        i++;
    }
    if (end - i >= DP_LEAST_RUN) {
        c.v = DP_OP(s, c.v, DP_RUN(i, end, s, vals, pos));
        i = end;
    }
    for (; i < end; i++)
        c.v = DP_OP(s, c.v, DP_ELEMENT(i, s));
    return c;
}

DP_KERNEL void dp_segreduce_chunks(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets,
                                   ulong part, ulong vals, ulong pos DP_WORDS DP_OUTS)
{
    const ulong chunk = get_global_id(0), chunks = get_global_size(0);
    const ulong d = dp_chunk_start(n + nseg, chunks, chunk), d_stop = dp_chunk_start(n + nseg, chunks, chunk + 1);
    ulong s = dp_path_segment(heap, offsets, 0, nseg, d), i = d - s;
    const ulong first = s, stop = dp_path_segment(heap, offsets, s, nseg, d_stop), i_stop = d_stop - stop;
    const bool open = d < d_stop && i > DP_SEG_START(s); /* the segment began before this chunk */
    dp_carry head, tail;
    head.bits = tail.bits = 0;
    if (open && s < stop) {
        head = dp_segment_part(heap, i, DP_SEG_END(s), s, true, vals, pos DP_PASS);
        head.bits |= DP_EMITTED;
        i = DP_SEG_END(s++);
    }
    dp_whole_segments(heap, out, s, stop, n, offsets, vals, pos DP_PASS DP_PASS_OUTS);
    i = s < stop ? DP_SEG_START(stop) : i;
    if (i < i_stop)
        tail = dp_segment_part(heap, i, i_stop, stop, open && first == stop, vals, pos DP_PASS);
    else if (first < stop)
        tail.bits = DP_RESET;
    dp_put_carry(heap, part, chunk, first, head);
    dp_put_carry(heap, part, chunks + chunk, stop, tail);
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
#endif

#else /* GPU */
/* Elements i, i + step and so on before end, joined to v in order, as long as there are so many of them: so that as many loads are under way. */
#if DP_LANES
#define DP_SEVERAL(many, v, i, end, step, s) \
    for (; i < end && ((many) - 1) * (step) < end - i && DP_OPEN(v); i += (many) * (step)) { \
        dp_val x[many]; \
        DP_ELEMENTS(x, many, i + q * (step), s) \
        _Pragma("unroll") for (uint q = 0; q < (many); q++) v = DP_OP(s, v, x[q]); \
    }
#else
#define DP_SEVERAL(many, v, i, end, step, s)
#endif
/* Elements i ... end - 1 by one work-item. */
#define DP_ALL_OF(v, i, end, s) \
    DP_SEVERAL(4, v, i, end, 1, s) \
    for (; i < end && DP_OPEN(v); i++) \
        v = DP_OP(s, v, DP_ELEMENT(i, s));
/* Segment s by one work-item. */
#define DP_WHOLE(s) \
    { \
        ulong i = DP_SEG_START(s), end = DP_SEG_END(s); \
        dp_val v = DP_NEUTRAL(s); \
        DP_ALL_OF(v, i, end, s) \
        dp_store(out, s, v DP_PASS_OUTS); \
    }
#if !DP_SEGMENTED
#if DP_COMMUTATIVE
#define DP_REDUCE_STAGE() __local uint4 *stage = 0;
#define DP_REDUCE_RESULT(v) DP_OP(0, DP_NEUTRAL(0), v)
/* What the lane finds, in any order: lanes stride over the grid, so that neighbours read side by side, several loads at a time. */
static inline dp_carry dp_reduce_part(DP_HEAP, ulong n, __local uint4 *stage, __local dp_carry (*sh)[DP_WG], uint l, ulong vals, ulong pos DP_WORDS)
{
    dp_carry c;
    c.bits = 0;
    ulong i = get_global_id(0), step = get_global_size(0);
    if (i >= n)
        return c;
    c.bits = DP_HAS;
    c.v = DP_ELEMENT(i, 0);
    i += step;
    DP_SEVERAL(4, c.v, i, n, step, 0)
    for (; i < n && DP_OPEN(c.v); i += step)
        c.v = DP_OP(0, c.v, DP_ELEMENT(i, 0));
    return c;
}
#else
/* In order: the group's tiles one after the other, of DP_RUN_ITEMS neighbours a lane, through local memory: so that loads come side by side. The
 * lanes' values are joined in pairs of neighbours. Kept there is what was loaded, or the values if these are no larger. */
#if DP_KEEPS_LOADS
typedef dp_loads dp_kept;
#define DP_KEPT(i) dp_fetch(heap, (i), 0 DP_PASS)
#define DP_MADE(kept, i) dp_make(heap, (kept), (i), 0 DP_PASS)
#else
typedef dp_val dp_kept;
#define DP_KEPT(i) DP_ELEMENT(i, 0)
#define DP_MADE(kept, i) (kept)
#endif
#define DP_KEPT_WORDS ((int)(sizeof(dp_kept) + 3) / 4)
/* On NVIDIA's GPUs as many as make up a line of its cache, where there is local memory for that. */
#if DP_NVIDIA
#define DP_RUN_LINE (2 * DP_WG * sizeof(dp_carry) + DP_WG * 132 <= 48 << 10 ? 2 : 1)
#else
#define DP_RUN_LINE 1
#endif
#define DP_RUN_ITEMS (!DP_LANES ? 2 : DP_RUN_LINE * (sizeof(dp_kept) <= 4 ? 16 : sizeof(dp_kept) <= 8 ? 8 : sizeof(dp_kept) <= 16 ? 4 : 2))
typedef union { dp_kept v; uint word[DP_KEPT_WORDS]; } dp_kept_words;
/* In local memory a lane's run lies in quads, of each word of what is kept: quad g of lane r at g * (DP_WG + 1) + r, so that lanes which read quads of
 * theirs, and those which store what they loaded, meet different banks. Element e of a tile is element e % DP_RUN_ITEMS of lane e / DP_RUN_ITEMS. */
#define DP_QUAD (DP_RUN_ITEMS < 4 ? 2 : 4)
#define DP_RUN_QUADS (DP_RUN_ITEMS / DP_QUAD)
#define DP_QUAD_SLOTS (DP_RUN_QUADS * (DP_WG + 1))
#define DP_QUAD_AT(r, j) (((j) / DP_QUAD * (DP_WG + 1) + (r)) * DP_QUAD + (j) % DP_QUAD)
typedef union { uint4 v[DP_KEPT_WORDS]; uint word[DP_KEPT_WORDS][4]; } dp_kept_quad;
#define DP_REDUCE_RESULT(v) (v) /* lanes begin with the neutral element */
#define DP_REDUCE_STAGE() __local uint4 stage[(DP_KEPT_WORDS * DP_QUAD_SLOTS * DP_QUAD + 3) / 4];
#define DP_STAGE_KEPT(q, kept) \
    { \
        const dp_kept_words of_one = kept; \
        _Pragma("unroll") for (uint p = 0; p < DP_KEPT_WORDS; p++) \
            to[p * DP_QUAD * DP_QUAD_SLOTS + (q) * (DP_WG / DP_RUN_ITEMS * DP_QUAD)] = of_one.word[p]; \
    }
#define DP_COMBINE_KEPT(WORD, j) \
    { \
        dp_kept_words one; \
        _Pragma("unroll") for (uint p = 0; p < DP_KEPT_WORDS; p++) \
            one.word[p] = WORD; \
        c.v = DP_OP(0, c.v, DP_MADE(one.v, mine + (j))); \
    }
/* DP_WIDE_LOADS(F): what is loaded are words that lie one behind the other from F's word on, so that four neighbours are one load. */
#ifdef DP_WIDE_LOADS
#define DP_WIDE_ALIGNED(p, at) ((at) & 15) == 0 &&
#define DP_IS_WIDE (DP_QUAD == 4 && DP_WIDE_LOADS(DP_WIDE_ALIGNED) true)
#define DP_WIDE_LOAD(p, at) x[q].v[p] = *DP_AT(uint4, (at) + 4 * (loaded * TILE + 4 * (q * DP_WG + l)));
#else
#define DP_IS_WIDE false
#define DP_WIDE_LOADS(F)
#endif
/* Tile `tile`, if it is full, on its way: while the tile before it is combined. */
#define DP_WIDE_BEGIN(tile) \
    if (wide && ((tile) + 1) * TILE <= n) { \
        const ulong loaded = tile; \
        _Pragma("unroll") for (uint q = 0; q < DP_RUN_QUADS; q++) { \
            DP_WIDE_LOADS(DP_WIDE_LOAD) \
        } \
    }
/* Of 2 * d neighbours' values d. Those of 32 lanes are joined by one warp. */
#define DP_PAIRS(d, from, to, BARRIER) \
    if (l < (d)) \
        sh[to][l] = DP_JOIN(0, sh[from][2 * l], sh[from][2 * l + 1]); \
    BARRIER;
#if DP_WG > 64
#define DP_PAIRS_64 DP_PAIRS(64, 1, 0, barrier(CLK_LOCAL_MEM_FENCE))
#else
#define DP_PAIRS_64
#endif
#if DP_WG > 128
#define DP_PAIRS_128 DP_PAIRS(128, 0, 1, barrier(CLK_LOCAL_MEM_FENCE))
#else
#define DP_PAIRS_128
#endif
static inline dp_carry dp_reduce_part(DP_HEAP, ulong n, __local uint4 *stage, __local dp_carry (*sh)[DP_WG], uint l, ulong vals, ulong pos DP_WORDS)
{
    enum { TILE = DP_RUN_ITEMS * DP_WG };
    const ulong tiles = (n + TILE - 1) / TILE, group = get_group_id(0), groups = get_num_groups(0);
    const ulong first = dp_chunk_start(tiles, groups, group), last = dp_chunk_start(tiles, groups, group + 1);
    __local uint *words = (__local uint *)stage, *to = words + DP_QUAD_AT(l / DP_RUN_ITEMS, l % DP_RUN_ITEMS);
    const bool wide = DP_IS_WIDE;
    dp_carry all; /* of the tiles so far, in lane 0 */
    all.bits = 0;
    dp_kept_quad x[DP_RUN_QUADS];
    DP_WIDE_BEGIN(first)
    for (ulong t = first; t < last; t++) {
        const ulong at = t * TILE + l, mine = t * TILE + l * DP_RUN_ITEMS;
        const bool full = (t + 1) * TILE <= n;
        if (full && wide) {
#pragma unroll
            for (uint q = 0; q < DP_RUN_QUADS; q++)
#pragma unroll
                for (uint p = 0; p < DP_KEPT_WORDS; p++)
                    stage[p * DP_QUAD_SLOTS + l % DP_RUN_QUADS * (DP_WG + 1) + q * (DP_WG / DP_RUN_QUADS) + l / DP_RUN_QUADS] = x[q].v[p];
        } else if (full) {
            dp_kept_words w[DP_RUN_ITEMS];
#pragma unroll
            for (uint q = 0; q < DP_RUN_ITEMS; q++)
                w[q].v = DP_KEPT(at + q * DP_WG);
#pragma unroll
            for (uint q = 0; q < DP_RUN_ITEMS; q++)
                DP_STAGE_KEPT(q, w[q])
        } else {
            for (uint q = 0; at + q * DP_WG < n; q++) {
                dp_kept_words w;
                w.v = DP_KEPT(at + q * DP_WG);
                DP_STAGE_KEPT(q, w)
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t + 1 < last)
            DP_WIDE_BEGIN(t + 1)
        dp_carry c;
        c.bits = mine < n ? DP_HAS : 0;
        c.v = DP_NEUTRAL(0);
        if (full && DP_QUAD == 4) {
#pragma unroll
            for (uint g = 0; g < DP_RUN_QUADS; g++) {
                dp_kept_quad own;
#pragma unroll
                for (uint p = 0; p < DP_KEPT_WORDS; p++)
                    own.v[p] = stage[p * DP_QUAD_SLOTS + g * (DP_WG + 1) + l];
#pragma unroll
                for (uint j = 0; j < 4; j++)
                    DP_COMBINE_KEPT(own.word[p][j], 4 * g + j)
            }
        } else {
            for (uint j = 0; mine + j < n && j < DP_RUN_ITEMS; j++)
                DP_COMBINE_KEPT(words[p * DP_QUAD * DP_QUAD_SLOTS + DP_QUAD_AT(l, j)], j)
        }
        sh[DP_WG == 128][l] = c;
        barrier(CLK_LOCAL_MEM_FENCE);
        DP_PAIRS_128 DP_PAIRS_64
        DP_PAIRS(32, 0, 1, DP_WARP_BARRIER()) DP_PAIRS(16, 1, 0, DP_WARP_BARRIER()) DP_PAIRS(8, 0, 1, DP_WARP_BARRIER())
        DP_PAIRS(4, 1, 0, DP_WARP_BARRIER()) DP_PAIRS(2, 0, 1, DP_WARP_BARRIER()) DP_PAIRS(1, 1, 0, DP_WARP_BARRIER())
        if (l == 0)
            all = DP_JOIN(0, all, sh[0][0]);
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* one warp may still read what others write next */
    return all;
}
#endif

/* The carries of all groups, joined in order, are the result; in groups for which `chunks` is 0 nothing happens. */
#define DP_REDUCE_CARRIES(chunks) \
    c.bits = 0; \
    for (ulong k = dp_chunk_start(chunks, DP_WG, l); k < dp_chunk_start(chunks, DP_WG, l + 1); k++) \
        c = DP_JOIN(0, c, dp_get_carry(heap, part, k)); \
    DP_GROUP_SCAN() \
    if (l == DP_WG - 1 && chunks) { \
        dp_val v = DP_NEUTRAL(0); \
        if (c.bits & DP_HAS) \
            v = DP_REDUCE_RESULT(c.v); \
        dp_store(heap, 0, v DP_PASS_OUTS); \
    }

DP_KERNEL void dp_reduce_chunks(DP_HEAP, ulong n, ulong part, ulong vals, ulong pos DP_WORDS)
{
    __local dp_carry sh[2][DP_WG];
    DP_REDUCE_STAGE()
    uint l = get_local_id(0);
    const ulong s_end = 0;
    dp_carry c = dp_reduce_part(heap, n, stage, sh, l, vals, pos DP_PASS);
    DP_GROUP_SCAN()
    if (l == DP_WG - 1)
        dp_put_carry(heap, part, get_group_id(0), 0, c);
}

#if DP_FENCE
/* All of it: the group that comes last has the others' carries to join. `counter`: a u32, 0 before and after. */
DP_KERNEL void dp_reduce_all(DP_HEAP, ulong n, ulong part, ulong vals, ulong pos, ulong counter DP_WORDS DP_OUTS)
{
    __local dp_carry sh[2][DP_WG];
    __local uint last[1];
    DP_REDUCE_STAGE()
    uint l = get_local_id(0);
    const ulong s_end = 0;
    dp_carry c = dp_reduce_part(heap, n, stage, sh, l, vals, pos DP_PASS);
    DP_GROUP_SCAN()
    if (l == DP_WG - 1) {
        dp_put_carry(heap, part, get_group_id(0), 0, c);
        DP_IS_LAST_GROUP(last[0], counter)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    DP_ONLY_LAST_GROUP(last[0])
    const ulong chunks = last[0] ? get_num_groups(0) : 0; /* whose carries to join: all, or none */
    DP_REDUCE_CARRIES(chunks)
}
#endif

DP_KERNEL void dp_reduce_finish(DP_HEAP, ulong chunks, ulong part DP_WORDS DP_OUTS)
{
    __local dp_carry sh[2][DP_WG];
    uint l = get_local_id(0);
    const ulong s_end = 0;
    dp_carry c;
    DP_REDUCE_CARRIES(chunks)
}
#elif DP_WAY == DP_LANE
DP_KERNEL void dp_segreduce_lane(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets,
                                 ulong vals, ulong pos DP_WORDS DP_OUTS)
{
    for (ulong s = get_global_id(0); s < nseg; s += get_global_size(0))
        DP_WHOLE(s)
}
#elif DP_WAY == DP_PATH
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
    ulong s1 = t < t_end ? 0 : dp_path_segment(heap, offsets, 0, nseg, min(t * DP_TILE, total)); /* a chunk without tiles hands on what is before it */
    for (; t < t_end; t++) {
        ulong d0 = t * DP_TILE, d1 = min(d0 + DP_TILE, total);
        ulong s0 = dp_path_segment(heap, offsets, 0, nseg, d0), i0 = d0 - s0;
        s1 = dp_path_segment(heap, offsets, s0, min(nseg, s0 + DP_TILE), d1);
        uint count = (uint)(d1 - s1 - i0);
        for (uint j = l; j < count; j += DP_WG) {
            ulong s = DP_USES_SEG ? DP_SEG_BETWEEN(s0, min(s1 + 1, nseg), i0 + j) : 0;
            dp_stage_put(stage + DP_SLOT(j), DP_ELEMENT(i0 + j, s));
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
                dp_val x = dp_stage_get(stage + DP_SLOT((uint)(i - i0)));
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
    DP_SCAN_OF_CHUNKS(chunks)
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
