/* REDUCE on a GPU where segments are of any length.
 *
 * DP_TEAM: all segments by teams of one size: `lanes` neighbouring work-items, a power of two up to a warp, take a segment. Where any order will do they
 * stride over it, so that loads come side by side, else each has a run of neighbours; then they are joined in order.
 *
 * DP_SPLIT: a work-group takes `rows` neighbouring segments. Their elements, as many whole segments at a time as fit, are computed side by side and kept in
 * local memory. Where all are short and alike a work-item folds a segment there. Else nothing shall wait for the longest one: each item folds a run of DP_ITEMS
 * elements, whatever segments they are in, and leaves a value where a segment ends, and a tail; then an item joins what a segment has of these. Segments of more than
 * DP_TILE elements are on a list (rows.cl), in pieces of 2^piece_log: a team reduces a piece, and the last one of a segment joins them. Where many elements are in
 * neighbouring segments the list has ranges of fewer segments for groups.
 *
 * DP_ROWS: the same, where offsets have not been made: they come from the sums that dp_lengths_rows has left at `offsets`. Where segments are short on average work-items
 * take whole ones from where they are, dp_segreduce_rows, if none is long; else dp_segreduce_split does all. Whatever the lengths are, nothing is read beyond the n
 * elements. */
#if DP_WAY == DP_ROWS
#undef DP_SEG_START
#undef DP_SEG_END
#define DP_KINDS(sums) (*DP_AT(ulong, (sums)))
#define DP_SEG_START(s) dp_row_start(heap, offsets, n, nseg, (s))
#define DP_SEG_END(s) DP_SEG_START((s) + 1)
/* Of segment `base`, and of what its tile has in `all`. starts[j], j <= count, becomes where segment base + j begins, behind `first`; all are in one tile. */
#define DP_FIND_STARTS(base, all, first) \
    const ulong2 tile = dp_tile_of(heap, offsets, min((base), nseg - 1)); \
    const ulong all = tile.y & DP_TILE_SUM, begin = min(tile.x, n); \
    const uint in_tile = (uint)(base) & (DP_TILE_ROWS - 1), left = (uint)min(n - begin, (ulong)UINT_MAX); \
    const ulong numbers = dp_row_numbers(offsets, nseg, (base), in_tile); \
    const uint skipped = in_tile ? min(dp_row_number(heap, numbers, in_tile), left) : 0; \
    const ulong first = begin + skipped;
#define DP_STARTS(starts, base, count, first) \
    { \
        const bool whole = in_tile + (count) == DP_TILE_ROWS || (base) + (count) == nseg; \
        if (all < DP_ROW_FAR) { \
            for (uint j = l; j < (count); j += DP_WG) \
                starts[j] = min((uint)*DP_AT(ushort, DP_ROW_NEAR_AT(numbers, in_tile + j)), left) - skipped; \
        } else { \
            for (uint j = l; j < (count); j += DP_WG) \
                starts[j] = min(*DP_AT(uint, DP_ROW_FAR_AT(numbers, in_tile + j)), left) - skipped; \
        } \
        if (l == 0) \
            starts[count] = (uint)min(whole ? all : dp_row_number(heap, numbers, in_tile + (count)), (ulong)left) - skipped; \
    }
DP_KERNEL void dp_segreduce_rows(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong vals, ulong pos
                                 DP_WORDS DP_OUTS)
{
    const ulong stop = DP_KINDS(offsets) ? 0 : nseg;
    for (ulong s = get_global_id(0); s < stop; s += get_global_size(0))
        DP_WHOLE(s)
}
#else
#define DP_KINDS(sums) DP_TILE_OVER
#define DP_FIND_STARTS(base, all, first) \
    const ulong tile = (base) & ~(DP_TILE_ROWS - 1UL), first = DP_SEG_START(base); \
    const ulong all = DP_SEG_START(min(tile + DP_TILE_ROWS, nseg)) - DP_SEG_START(tile);
#define DP_STARTS(starts, base, count, first) \
    for (uint j = l; j <= (count); j += DP_WG) \
        starts[j] = (uint)(DP_SEG_START((base) + j) - (first));
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
        DP_SEVERAL(8, c.v, i, end, step, s)
        DP_SEVERAL(4, c.v, i, end, step, s)
        for (; i < end && DP_OPEN(c.v); i += step)
            c.v = DP_OP(s, c.v, DP_ELEMENT(i, s));
    }
    return c;
}

/* Joins the teams' parts c in order; lane 0 of each has the whole in sh[l]. Every lane must come here. A team is within a warp, the lanes
 * that go together on NVIDIA's GPUs. */
#define DP_TEAM_STEP(d) \
    if ((k & (2 * (d) - 1)) == 0) \
        sh[l] = DP_JOIN(s, sh[l], sh[l + (d)]); \
    DP_WARP_BARRIER();
#define DP_TEAM_BEGIN() \
    sh[l] = c; \
    DP_WARP_BARRIER();
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
enum { DP_PIECE_LANES = 32, DP_TEAMS = DP_WG / DP_PIECE_LANES };
/* Rounds in which the work-group's teams take numbers below `count`; p: the team's, if it is there. */
#define DP_TEAM_ROUNDS(count, first, step, p, there) \
    for (uint round = (first), p = round + l / DP_PIECE_LANES, there = p < (count); round < (count); \
         round += (step), p += (step), there = p < (count))

/* What lane k of a team finds in `several` pieces of segment s, of which the first is `first`. Read through `out`, as they have
 * been written in this kernel perhaps. */
static inline dp_carry dp_pieces_part(__global uchar *out, __global uchar *heap, ulong s, ulong part, ulong first, ulong several, uint k DP_WORDS)
{
    dp_carry c;
    c.bits = 0;
    const ulong run = (several + DP_PIECE_LANES - 1) / DP_PIECE_LANES, last = min(k * run + run, several);
    for (ulong p = k * run; p < last; p++)
        c = DP_JOIN(s, c, dp_get_carry(out, part, first + p));
    return c;
}

/* Segment j of the group's begins starts[j] elements behind the first one. Of lo ... hi - 1 the last that begins at most i behind lo's `from`. */
static inline uint dp_last_start(__local const uint *starts, uint from, uint lo, uint hi, uint i)
{
    while (hi - lo > 1) {
        const uint mid = lo + (hi - lo) / 2;
        if (starts[mid] - from <= i)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}
#if DP_USES_SEG
#define DP_FLAT_SEGMENT(j) (base + dp_last_start(starts, from, at, to, (j)))
#else
#define DP_FLAT_SEGMENT(j) 0
#endif

/* Of a run of DP_ITEMS elements in local memory, the lane's, of which `many` are there: where a segment ends, which bits of `ends` say, its value so far in this run is put
 * in the place of its last element; what no end follows is `tails[l]`. */
#define DP_FOLD_STEP(q) \
    { \
        const dp_val x = dp_stage_get(run + (q)); \
        if (begins) { \
            v = x; \
            s = DP_FLAT_SEGMENT(l * DP_ITEMS + (q)); \
        } else { \
            v = DP_OP(s, v, x); \
        } \
        begins = ends >> (q) & 1; \
        if (begins) \
            dp_stage_put(run + (q), v); \
    }
/* Elements j ... end - 1 in local memory, joined to v. Of a function that changes a struct that it is given PoCL 3.1 makes wrong code here. */
#define DP_FOLD(v, j, end, s) \
    for (; j < end && DP_OPEN(v); j++) \
        v = DP_OP(s, v, dp_stage_get(stage + DP_SLOT(j)));
/* Lanes whose tails are joined where all are of one segment; elements up to which one lane folds a segment, if all are alike; elements whose loads a lane has under way
 * together. */
enum { DP_TAILS = 16, DP_MOST_EVEN = 64 };
#if DP_COST > 0 && DP_COST < 9
enum { DP_TOGETHER = DP_ITEMS };
#else
enum { DP_TOGETHER = DP_ITEMS < 8 ? DP_ITEMS : 8 };
#endif
#if DP_NVIDIA
#define DP_BARRIER_IF(needed) \
    if (needed) \
        barrier(CLK_LOCAL_MEM_FENCE);
#else /* PoCL bears no barrier behind a condition */
#define DP_BARRIER_IF(needed) barrier(CLK_LOCAL_MEM_FENCE);
#endif

/* list: 0 where there is none. part: a carry for each piece. The first groups, `firsts`, take ranges of tiles of more than `heavy` elements. */
DP_KERNEL void dp_segreduce_split(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets,
                                  ulong vals, ulong pos, ulong list, ulong entries, ulong pieces, ulong part, ulong piece_log, ulong rows,
                                  ulong heavy, ulong firsts DP_WORDS DP_OUTS)
{
    __local uint4 room[(DP_VAL_WORDS * DP_SLOTS + 3) / 4];
    __local uint starts[DP_TILE_ROWS + 1], *stage = (__local uint *)room;
    __local dp_carry *sh = (__local dp_carry *)room;
    __local uint last[DP_TEAMS];
    __local uint ends_at[DP_TILE / 32]; /* a bit for each element: is it the last one of its segment? */
    __local dp_val tails[DP_WG], joined[DP_WG / DP_TAILS];
    __local uint uneven[1], longer[1]; /* is one much longer than others, longer than two times DP_TAILS runs? */
    const uint l = get_local_id(0), group = get_group_id(0);
    const uint npieces = list ? *DP_AT(uint, list) : 0;
    const bool idle = DP_KINDS(offsets) != DP_TILE_OVER; /* they are alike, or no lengths */
#if DP_NVIDIA /* PoCL bears no return before a barrier */
    if (idle)
        return;
#endif

    /* ---- neighbouring segments: where they begin ---- */
    const bool ranged = group < firsts;
    const uint2 range = ranged && group < *DP_AT(uint, list + 8) ? *DP_AT(uint2, list + DP_LIST_HEAD + 8 * (ulong)group) : (uint2)(0, 0);
    const ulong base = min(ranged ? (ulong)range.x : (group - firsts) * rows, nseg); /* the last tile has fewer */
    DP_FIND_STARTS(base, all, first)
    uint count = idle ? 0 : (uint)min(ranged ? range.y : rows, nseg - base);
    if (!ranged && firsts && all > heavy)
        count = 0; /* it is in ranges */
    if (l < DP_TILE / 32)
        ends_at[l] = 0;
    if (l == 0)
        uneven[0] = longer[0] = 0;
    DP_STARTS(starts, base, count, first)
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint at = 0; at < count;) {
        const uint from = starts[at], to = starts[count] - from <= DP_TILE ? count : dp_last_start(starts, from, at, count, DP_TILE), elements = starts[to] - from;
        for (uint row = at + l; row < to; row += DP_WG) {
            const uint b = starts[row] - from, e = starts[row + 1] - from;
            if (e > b)
                atomic_or(ends_at + (e - 1) / 32, 1U << (e - 1) % 32);
            if (e - b > DP_MOST_EVEN || (e - b) * (to - at) > 2 * elements)
                uneven[0] = 1;
            if (e - b > 2 * DP_TAILS * DP_ITEMS)
                longer[0] = 1;
        }
        const uint i = (uint)first + from;
#if DP_LANES
        for (uint j = l, end = elements - 1; j < elements; j += DP_TOGETHER * DP_WG) {
            dp_val x[DP_TOGETHER];
            DP_ELEMENTS(x, DP_TOGETHER, i + min(j + q * DP_WG, end), DP_FLAT_SEGMENT(min(j + q * DP_WG, end)))
#pragma unroll
            for (uint q = 0; q < DP_TOGETHER; q++)
                dp_stage_put(stage + DP_SLOT(j) + q * DP_STAGE_NEXT, x[q]);
        }
#else
        for (uint j = l; j < elements; j += DP_WG)
            dp_stage_put(stage + DP_SLOT(j), DP_ELEMENT(i + j, DP_FLAT_SEGMENT(j)));
#endif
        barrier(CLK_LOCAL_MEM_FENCE);

        /* ---- folded by runs of equal length, where segments are not alike ---- */
        const bool runs = uneven[0], joins = longer[0];
        if (runs) {
            const uint mine = l * DP_ITEMS, many = mine < elements ? min(elements - mine, (uint)DP_ITEMS) : 0, ends = ends_at[mine / 32] >> mine % 32;
            __local uint *run = DP_STAGE_RUN(stage, DP_ITEMS);
            dp_val v = DP_NEUTRAL(base);
            ulong s = base;
            bool begins = true;
            if (many == DP_ITEMS) {
#pragma unroll
                for (uint q = 0; q < DP_ITEMS; q++)
                    DP_FOLD_STEP(q)
            } else {
                for (uint q = 0; q < many; q++)
                    DP_FOLD_STEP(q)
            }
            tails[l] = v;
        }
        DP_BARRIER_IF(runs)
        if (joins && l < DP_WG / DP_TAILS && (l + 1) * DP_TAILS * DP_ITEMS <= elements) {
            uint any_end = 0;
            for (uint q = 0; q < DP_TAILS * DP_ITEMS / 32; q++)
                any_end |= ends_at[l * (DP_TAILS * DP_ITEMS / 32) + q];
            const ulong s = DP_FLAT_SEGMENT(l * DP_TAILS * DP_ITEMS);
            dp_val all = tails[l * DP_TAILS];
            for (uint q = 1; q < DP_TAILS && !any_end; q++)
                all = DP_OP(s, all, tails[l * DP_TAILS + q]);
            joined[l] = all;
        }
        DP_BARRIER_IF(joins)
        if (l < DP_TILE / 32)
            ends_at[l] = 0;
        if (l == 0 && runs)
            uneven[0] = longer[0] = 0;
        for (uint row = at + l; row < to; row += DP_WG) {
            const ulong s = base + row;
            const uint e = starts[row + 1] - from;
            uint b = starts[row] - from;
            dp_val v = DP_NEUTRAL(s);
            if (!runs) {
                DP_FOLD(v, b, e, s)
            } else if (e > b) {
                const uint last_run = (e - 1) / DP_ITEMS;
                for (uint r = b / DP_ITEMS; r < last_run;) {
                    const bool whole = joins && r % DP_TAILS == 0 && r * DP_ITEMS >= b && r + DP_TAILS <= last_run;
                    v = DP_OP(s, v, whole ? joined[r / DP_TAILS] : tails[r]);
                    r += whole ? DP_TAILS : 1;
                }
                v = DP_OP(s, v, dp_stage_get(stage + DP_SLOT(e - 1)));
            }
            dp_store(out, s, v DP_PASS_OUTS);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        at = max(to, at + 1); /* a long one is on the list */
    }

    /* ---- pieces ---- */
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint k = l & (DP_PIECE_LANES - 1);
    DP_TEAM_ROUNDS(idle ? 0 : npieces, group * DP_TEAMS, (uint)get_num_groups(0) * DP_TEAMS, p, there)
    {
        ulong s = 0, first = 0, several = 0, done = 0;
        dp_carry c;
        c.bits = 0;
        if (there) {
            const ulong entry = entries + DP_LIST_BYTES * (ulong)*DP_AT(uint, pieces + 4 * (ulong)p);
            const uint2 whose = *DP_AT(uint2, entry);
            const ulong2 elements = *DP_AT(ulong2, entry + 16);
            s = whose.x;
            first = whose.y;
            done = entry + 8;
            several = DP_PIECES_OF(elements.y);
            const ulong begin = elements.x, i = begin + ((p - first) << piece_log);
            c = dp_team_part(heap, i, min(i + (1UL << piece_log), begin + elements.y), s, k, DP_PIECE_LANES, vals, pos DP_PASS);
        }
        DP_PIECE_JOIN()
        uint is_last = 0;
        if (there && k == 0) {
            dp_put_carry(out, part, p, s, sh[l]);
            DP_DEVICE_FENCE();
            is_last = atomic_inc((volatile __global uint *)(out + done)) + 1 == several;
            if (is_last)
                *(volatile __global uint *)(out + done) = 0; /* for the next time */
        }
        if (k == 0)
            last[l / DP_PIECE_LANES] = is_last;
        DP_WARP_BARRIER();
        const bool joins = last[l / DP_PIECE_LANES];
        c.bits = 0;
        if (joins) {
            DP_DEVICE_FENCE();
            c = dp_pieces_part(out, heap, s, part, first, several, k DP_PASS);
        }
        DP_PIECE_JOIN()
        if (joins && k == 0)
            dp_team_store(out, s, sh[l] DP_PASS DP_PASS_OUTS);
    }
}
#endif
