/* REDUCE: every segment's values combined in order, starting from the neutral element; empty segments get the neutral element.
 *
 * One segment (dp_reduce_*): chunks of elements leave a carry each, then one work-item (CPU) or work-group (GPU) joins them.
 *
 * Segments: in one of several ways, DP_WAY, which segreduce.c chooses by what is known of their lengths.
 *
 * DP_LANE: a work-item takes a whole segment, in a loop. For short segments, or on a CPU many that are no longer than a chunk.
 *
 * DP_TEAM (GPU): `lanes` neighbouring work-items take a segment, a power of two up to the work-group. Where any order will do they
 * stride over it, so that loads come side by side, else each has a run of neighbours; then they are joined in order.
 *
 * DP_SPLIT (GPU): a work-item, or a team of `lanes`, takes a segment of at most `most` elements. Then teams of the work-group take its
 * longer ones, and segments of more than DP_SHARED elements are put on a list, in pieces of DP_PIECE, those of more than DP_ALONE too
 * where the group has many (neighbours of a power law are often alike). A team reduces a piece, and another one joins those of a segment. So it serves all lengths, also those that the host does not know.
 *
 * DP_ROWS (GPU): the same, where offsets have not been made: they come from the sums that dp_lengths_rows (lengths.cl) has left at `offsets`. If
 * no segment is longer than `longest`, teams of `whole` work-items take all of them instead. Whatever the lengths are, nothing is read beyond the n
 * elements.
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
/* Elements i, i + step and so on before end, joined to v in order, as long as there are four of them: so that four loads are under way. */
#if DP_LANES
#define DP_FOUR(v, i, end, step, s) \
    for (; i < end && 3 * (step) < end - i && DP_OPEN(v); i += 4 * (step)) { \
        dp_val x0 = DP_ELEMENT(i, s), x1 = DP_ELEMENT(i + (step), s); \
        dp_val x2 = DP_ELEMENT(i + 2 * (step), s), x3 = DP_ELEMENT(i + 3 * (step), s); \
        v = DP_OP(s, DP_OP(s, DP_OP(s, DP_OP(s, v, x0), x1), x2), x3); \
    }
#else
#define DP_FOUR(v, i, end, step, s)
#endif
#if !DP_SEGMENTED
#if DP_COMMUTATIVE
#define DP_REDUCE_STAGE() __local uint *stage = 0;
#define DP_REDUCE_RESULT(v) DP_OP(0, DP_NEUTRAL(0), v)
/* What the lane finds, in any order: lanes stride over the grid, so that neighbours read side by side, several loads at a time. */
static inline dp_carry dp_reduce_part(DP_HEAP, ulong n, __local uint *stage, uint l, ulong vals, ulong pos DP_WORDS)
{
    dp_carry c;
    c.bits = 0;
    ulong i = get_global_id(0), step = get_global_size(0);
    if (i >= n)
        return c;
    c.bits = DP_HAS;
    c.v = DP_ELEMENT(i, 0);
    i += step;
    DP_FOUR(c.v, i, n, step, 0)
    for (; i < n && DP_OPEN(c.v); i += step)
        c.v = DP_OP(0, c.v, DP_ELEMENT(i, 0));
    return c;
}
#else
/* In order: each lane has a run of neighbouring elements, all runs of a group one behind the other. They advance together, DP_RUN_ITEMS
 * elements at a time, through local memory: so that loads come side by side, and lanes are joined only once, at the end. Kept there is
 * what was loaded, or the values if these are no larger. */
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
#ifndef DP_RUN_ITEMS
#define DP_RUN_ITEMS (!DP_LANES ? 2 : sizeof(dp_kept) <= 4 ? 16 : sizeof(dp_kept) <= 8 ? 8 : sizeof(dp_kept) <= 16 ? 4 : 2)
#endif
#define DP_RUN_SLOTS (DP_RUN_ITEMS * DP_WG / 32 * 33)
typedef union { dp_kept v; uint word[DP_KEPT_WORDS]; } dp_kept_words;
#define DP_REDUCE_RESULT(v) (v) /* lanes begin with the neutral element */
#define DP_REDUCE_STAGE() __local uint stage[DP_KEPT_WORDS * DP_RUN_SLOTS];
/* The group's elements [lo, hi): lane l has [lo + l * run, lo + (l + 1) * run) of them. All groups but the last have as many as they have room. */
#define DP_FETCH_RUNS(k) \
    if (full) { \
        _Pragma("unroll") for (uint q = 0; q < DP_RUN_ITEMS; q++) \
            w[q].v = DP_KEPT(from + (k) + q * (DP_WG / DP_RUN_ITEMS) * run); \
    } else { \
        _Pragma("unroll") for (uint q = 0; q < DP_RUN_ITEMS; q++) \
            w[q].v = DP_KEPT(min(from + (k) + q * (DP_WG / DP_RUN_ITEMS) * run, hi - 1)); \
    }
#define DP_COMBINE_RUN(there) \
    _Pragma("unroll") for (uint j = 0; j < DP_RUN_ITEMS; j++) \
        if (there) { \
            dp_kept_words one; \
            _Pragma("unroll") for (uint p = 0; p < DP_KEPT_WORDS; p++) \
                one.word[p] = stage[p * DP_RUN_SLOTS + DP_SLOT(l * DP_RUN_ITEMS + j)]; \
            c.v = DP_OP(0, c.v, DP_MADE(one.v, mine + k + j)); \
        }
static inline dp_carry dp_reduce_part(DP_HEAP, ulong n, __local uint *stage, uint l, ulong vals, ulong pos DP_WORDS)
{
    enum { TILE = DP_RUN_ITEMS * DP_WG };
    const ulong tiles = (n + TILE - 1) / TILE, group = get_group_id(0), groups = get_num_groups(0);
    const ulong lo = TILE * dp_chunk_start(tiles, groups, group), hi = min(n, TILE * dp_chunk_start(tiles, groups, group + 1));
    const ulong run = lo < hi ? (hi - lo + TILE - 1) / TILE * DP_RUN_ITEMS : 0;
    const ulong from = lo + l / DP_RUN_ITEMS * run + l % DP_RUN_ITEMS, mine = lo + l * run;
    const bool full = hi - lo == run * DP_WG;
    dp_kept_words w[DP_RUN_ITEMS];
    dp_carry c;
    c.bits = run && mine < hi ? DP_HAS : 0;
    c.v = DP_NEUTRAL(0);
    if (run) {
        DP_FETCH_RUNS(0)
    }
    for (ulong k = 0; k < run; k += DP_RUN_ITEMS) {
#pragma unroll
        for (uint q = 0; q < DP_RUN_ITEMS; q++) {
#pragma unroll
            for (uint p = 0; p < DP_KEPT_WORDS; p++)
                stage[p * DP_RUN_SLOTS + DP_SLOT(q * DP_WG + l)] = w[q].word[p];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (k + DP_RUN_ITEMS < run) { /* under way while these are combined */
            DP_FETCH_RUNS(k + DP_RUN_ITEMS)
        }
        if (full) {
            DP_COMBINE_RUN(true)
        } else {
            DP_COMBINE_RUN(mine + k + j < hi)
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return c;
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
    dp_carry c = dp_reduce_part(heap, n, stage, l, vals, pos DP_PASS);
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
    dp_carry c = dp_reduce_part(heap, n, stage, l, vals, pos DP_PASS);
    DP_GROUP_SCAN()
    if (l == DP_WG - 1) {
        dp_put_carry(heap, part, get_group_id(0), 0, c);
        DP_IS_LAST_GROUP(last[0], counter)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#if DP_NVIDIA /* PoCL bears no return before a barrier */
    if (!last[0])
        return;
#endif
    if (last[0])
        DP_DEVICE_FENCE();
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
    for (ulong s = get_global_id(0); s < nseg; s += get_global_size(0)) {
        ulong i = DP_SEG_START(s), end = DP_SEG_END(s);
        dp_val v = DP_NEUTRAL(s);
        DP_FOUR(v, i, end, 1, s)
        for (; i < end && DP_OPEN(v); i++)
            v = DP_OP(s, v, DP_ELEMENT(i, s));
        dp_store(out, s, v DP_PASS_OUTS);
    }
}
#elif DP_WAY == DP_TEAM || DP_WAY == DP_SPLIT || DP_WAY == DP_ROWS
#if DP_WAY == DP_ROWS
#undef DP_SEG_START
#undef DP_SEG_END
enum { DP_ROWS_TILE = 2048 };
static inline ulong dp_row_start(DP_HEAP, ulong rows, ulong n, ulong nseg, ulong s)
{
    const ulong part = rows + 32, numbers = part + 16 * ((nseg + DP_ROWS_TILE - 1) / DP_ROWS_TILE);
    return s < nseg ? min(*DP_AT(ulong, part + 16 * (s / DP_ROWS_TILE)) + *DP_AT(uint, numbers + 4 * s), n) : n;
}
#define DP_SEG_START(s) dp_row_start(heap, offsets, n, nseg, (s))
#define DP_SEG_END(s) dp_row_start(heap, offsets, n, nseg, (s) + 1)
#endif
/* Whole segments are long enough for eight loads to be under way. */
#if DP_WAY == DP_TEAM && DP_LANES
#define DP_EIGHT(v, i, end, step, s) \
    for (; i < end && 7 * (step) < end - i; i += 8 * (step)) { \
        dp_val x[8]; \
        _Pragma("unroll") for (uint q = 0; q < 8; q++) x[q] = DP_ELEMENT(i + q * (step), s); \
        _Pragma("unroll") for (uint q = 0; q < 8; q++) v = DP_OP(s, v, x[q]); \
    }
#else
#define DP_EIGHT(v, i, end, step, s)
#endif
/* What lane k of the team's finds in elements [i, end). */
static inline dp_carry dp_team_part(DP_HEAP, ulong i, ulong end, ulong s, uint k, uint lanes, ulong vals, ulong pos DP_WORDS)
{
    dp_carry c;
    c.bits = 0;
    ulong step = 1;
    if (DP_COMMUTATIVE) {
        i += k;
        step = lanes;
    } else {
        ulong run = (end - i + lanes - 1) / lanes;
        i = min(i + k * run, end);
        end = min(i + run, end);
    }
    if (i < end) {
        c.bits = DP_HAS;
        c.v = DP_ELEMENT(i, s);
        i += step;
        DP_EIGHT(c.v, i, end, step, s)
        DP_FOUR(c.v, i, end, step, s)
        for (; i < end && DP_OPEN(c.v); i += step)
            c.v = DP_OP(s, c.v, DP_ELEMENT(i, s));
    }
    return c;
}

/* Joins the teams' parts c in order; lane 0 of each has the whole in sh[l]. Every lane must come here. A team is within a warp, the lanes
 * that go together on NVIDIA's GPUs. */
#if DP_NVIDIA
#define DP_TEAM_BARRIER() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#else
#define DP_TEAM_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#endif
#define DP_TEAM_STEP(d) \
    if ((k & (2 * (d) - 1)) == 0) \
        sh[l] = DP_JOIN(s, sh[l], sh[l + (d)]); \
    DP_TEAM_BARRIER();
#define DP_TEAM_BEGIN() \
    sh[l] = c; \
    DP_TEAM_BARRIER();
#define DP_TEAM_JOIN() \
    DP_TEAM_BEGIN() \
    for (uint d = 1; d < lanes; d *= 2) { \
        DP_TEAM_STEP(d) \
    }
/* Of DP_PIECE_LANES. Straight-line, for a barrier may not stand in a nested loop. */
#define DP_PIECE_JOIN() \
    DP_TEAM_BEGIN() \
    DP_TEAM_STEP(1) DP_TEAM_STEP(2) DP_TEAM_STEP(4) DP_TEAM_STEP(8) DP_TEAM_STEP(16)

/* The end of a segment: c has the values of all of it, if there are any. */
static inline void dp_team_store(DP_HEAP, ulong s, dp_carry c DP_WORDS DP_OUTS)
{
    dp_val v = DP_NEUTRAL(s);
    if (c.bits & DP_HAS)
        v = DP_OP(s, v, c.v);
    dp_store(heap, s, v DP_PASS_OUTS);
}
#if DP_WAY == DP_TEAM
DP_KERNEL void dp_segreduce_team(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets,
                                 ulong vals, ulong pos, ulong many DP_WORDS DP_OUTS)
{
    __local dp_carry sh[DP_WG];
    uint lanes = (uint)many, l = get_local_id(0), k = l & (lanes - 1);
    ulong s = get_group_id(0) * (DP_WG / lanes) + l / lanes;
    dp_carry c;
    c.bits = 0;
    if (s < nseg)
        c = dp_team_part(heap, DP_SEG_START(s), DP_SEG_END(s), s, k, lanes, vals, pos DP_PASS);
    DP_TEAM_JOIN()
    if (k == 0 && s < nseg)
        dp_team_store(out, s, sh[l] DP_PASS DP_PASS_OUTS);
}
#else
/* At `list` for each long segment itself, its first piece, and how many of its pieces are done; at `pieces` for each piece where its
 * segment stands in the list. At `counts` the u32 numbers of pieces and of long segments; they are 0 before. */
enum { DP_ALONE = 256, DP_PIECE = 1024, DP_SHARED = 2 * DP_PIECE, DP_PIECE_LANES = 32, DP_TEAMS = DP_WG / DP_PIECE_LANES };
#define DP_LIST_SEGMENT(j) (*DP_AT(uint, list + 16 * (ulong)(j)))
#define DP_LIST_FIRST(j) (*DP_AT(uint, list + 16 * (ulong)(j) + 4))
#define DP_LIST_DONE(j) ((volatile __global uint *)(out + list + 16 * (ulong)(j) + 8))
/* Rounds in which the work-group's teams take numbers below `count`; p: the team's, if it is there. */
#define DP_TEAM_ROUNDS(count, first, step, p, there) \
    for (uint round = (first), p = round + l / DP_PIECE_LANES, there = p < (count); round < (count); \
         round += (step), p += (step), there = p < (count))

DP_KERNEL void dp_segreduce_short(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets,
                                  ulong vals, ulong pos, ulong counts, ulong list, ulong pieces, ulong most, ulong many
#if DP_WAY == DP_ROWS
                                  , ulong longest, ulong whole
#endif
                                   DP_WORDS DP_OUTS)
{
    __local dp_carry sh[DP_WG];
    __local uint shared[DP_WG], shareds[1], middling[1], longs[1];
    __local uint4 found[DP_WG]; /* of long ones: place in the list, first piece, number of pieces */
#if DP_WAY == DP_ROWS
    const bool alike = *DP_AT(ulong, offsets + 8) <= longest;
    most = alike ? ULONG_MAX : most;
    many = alike ? whole : many;
#endif
    const uint l = get_local_id(0), lanes = (uint)many;
    const ulong base = get_group_id(0) * (ulong)(DP_WG / lanes);
    uint k = l & (lanes - 1);
    ulong s = base + l / lanes;
    bool mine = s < nseg;
    dp_carry c;
    c.bits = 0;
    ulong elements = 0; /* if nobody has taken them */
    if (l == 0)
        shareds[0] = middling[0] = longs[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mine) {
        ulong i = DP_SEG_START(s), end = DP_SEG_END(s);
        mine = end - i <= most;
        if (mine && lanes == 1) {
            dp_val v = DP_NEUTRAL(s);
            DP_FOUR(v, i, end, 1, s)
            for (; i < end && DP_OPEN(v); i++)
                v = DP_OP(s, v, DP_ELEMENT(i, s));
            dp_store(out, s, v DP_PASS_OUTS);
        } else if (mine) {
            c = dp_team_part(heap, i, end, s, k, lanes, vals, pos DP_PASS);
        } else if (k == 0) {
            elements = end - i;
            if (elements > DP_ALONE && elements <= DP_SHARED)
                atomic_inc(middling);
        }
    }
    DP_TEAM_JOIN()
    if (mine && k == 0 && lanes > 1)
        dp_team_store(out, s, sh[l] DP_PASS DP_PASS_OUTS);
#if DP_WAY == DP_ROWS && DP_NVIDIA /* PoCL bears no return before a barrier */
    if (alike)
        return;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (elements > 0 && elements <= (list && middling[0] > 2 * DP_TEAMS ? DP_ALONE : DP_SHARED)) {
        shared[atomic_inc(shareds)] = l / lanes;
    } else if (elements > 0) {
        volatile __global uint *number = (volatile __global uint *)(out + counts);
        uint count = (uint)((elements + DP_PIECE - 1) / DP_PIECE);
        uint first = atomic_add(number, count), j = atomic_inc(number + 1);
        *(__global uint4 *)(out + list + 16 * (ulong)j) = (uint4)((uint)s, first, 0, 0);
        found[atomic_inc(longs)] = (uint4)(j, first, count, 0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    k = l & (DP_PIECE_LANES - 1);
    for (uint q = 0; q < longs[0]; q++)
        for (uint p = l; p < found[q].z; p += DP_WG)
            *(__global uint *)(out + pieces + 4 * (ulong)(found[q].y + p)) = found[q].x;
    const uint count = shareds[0];
    DP_TEAM_ROUNDS(count, 0, DP_TEAMS, q, there)
    {
        c.bits = 0;
        if (there) {
            s = base + shared[q];
            c = dp_team_part(heap, DP_SEG_START(s), DP_SEG_END(s), s, k, DP_PIECE_LANES, vals, pos DP_PASS);
        }
        DP_PIECE_JOIN()
        if (there && k == 0)
            dp_team_store(out, s, sh[l] DP_PASS DP_PASS_OUTS);
    }
}

/* How many pieces segment s has; what lane k of a team finds in those of the segment whose first one is `first`. Read through `out`, as they have
 * been written in this kernel perhaps. */
#define DP_PIECES_OF(s) ((DP_SEG_END(s) - DP_SEG_START(s) + DP_PIECE - 1) / DP_PIECE)
static inline dp_carry dp_pieces_part(__global uchar *out, __global uchar *heap, ulong s, ulong part, ulong first, ulong several, uint k DP_WORDS)
{
    dp_carry c;
    c.bits = 0;
    const ulong run = (several + DP_PIECE_LANES - 1) / DP_PIECE_LANES, last = min(k * run + run, several);
    for (ulong p = k * run; p < last; p++)
        c = DP_JOIN(s, c, dp_get_carry(out, part, first + p));
    return c;
}

/* Where there is a fence, the team that does the last piece of a segment joins them: then dp_segreduce_join has nothing to do. */
DP_KERNEL void dp_segreduce_pieces(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets,
                                   ulong vals, ulong pos, ulong counts, ulong list, ulong pieces, ulong part, ulong next DP_WORDS DP_OUTS)
{
    __local dp_carry sh[DP_WG];
    __local uint last[DP_TEAMS];
    const uint l = get_local_id(0), k = l & (DP_PIECE_LANES - 1), count = *DP_AT(uint, counts);
    if (get_group_id(0) == 0 && l < 2) /* for the next time */
        *(__global uint *)(out + next + 4 * l) = 0;
    DP_TEAM_ROUNDS(count, (uint)get_group_id(0) * DP_TEAMS, (uint)get_num_groups(0) * DP_TEAMS, p, there)
    {
        ulong s = 0, first = 0, several = 0;
        uint j = 0;
        dp_carry c;
        c.bits = 0;
        if (there) {
            j = *DP_AT(uint, pieces + 4 * (ulong)p);
            s = DP_LIST_SEGMENT(j);
            first = DP_LIST_FIRST(j);
            ulong i = DP_SEG_START(s) + (p - first) * DP_PIECE, end = DP_SEG_END(s);
            several = DP_PIECES_OF(s);
            c = dp_team_part(heap, i, min(i + DP_PIECE, end), s, k, DP_PIECE_LANES, vals, pos DP_PASS);
        }
        DP_PIECE_JOIN()
        uint is_last = 0;
        if (there && k == 0) {
            dp_put_carry(out, part, p, s, sh[l]);
#if DP_FENCE
            DP_DEVICE_FENCE();
            is_last = atomic_inc(DP_LIST_DONE(j)) + 1 == several;
#endif
        }
        if (k == 0)
            last[l / DP_PIECE_LANES] = is_last;
#if DP_FENCE
        DP_TEAM_BARRIER();
        const bool joins = last[l / DP_PIECE_LANES];
        c.bits = 0;
        if (joins) {
            DP_DEVICE_FENCE();
            c = dp_pieces_part(out, heap, s, part, first, several, k DP_PASS);
        }
        DP_PIECE_JOIN()
        if (joins && k == 0)
            dp_team_store(out, s, sh[l] DP_PASS DP_PASS_OUTS);
#endif
    }
}

DP_KERNEL void dp_segreduce_join(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets,
                                 ulong counts, ulong list, ulong part DP_WORDS DP_OUTS)
{
    __local dp_carry sh[DP_WG];
    const uint l = get_local_id(0), k = l & (DP_PIECE_LANES - 1), count = *DP_AT(uint, counts + 4);
    DP_TEAM_ROUNDS(count, (uint)get_group_id(0) * DP_TEAMS, (uint)get_num_groups(0) * DP_TEAMS, j, there)
    {
        ulong s = 0;
        dp_carry c;
        c.bits = 0;
        if (there) {
            s = DP_LIST_SEGMENT(j);
            c = dp_pieces_part(out, heap, s, part, DP_LIST_FIRST(j), DP_PIECES_OF(s), k DP_PASS);
        }
        DP_PIECE_JOIN()
        if (there && k == 0)
            dp_team_store(out, s, sh[l] DP_PASS DP_PASS_OUTS);
    }
}
#endif
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
