/* REDUCE on a GPU where segments are of any length.
 *
 * DP_TEAM: all segments by teams of one size: `lanes` neighbouring work-items, a power of two up to a warp, take a segment. Where any order will do they
 * stride over it, so that loads come side by side, else each has a run of neighbours; then they are joined in order.
 *
 * DP_SPLIT: a work-group takes `rows` neighbouring segments. Their elements, as many whole segments at a time as fit, are computed side by side and kept in
 * local memory, so that nothing waits for the longest one; then a work-item takes a segment there, or a part of DP_PART elements of a longer one. Segments of more
 * than `most` elements are on a list (rows.cl), in pieces of 2^piece_log: a team reduces a piece, and the last one of a segment joins them. Where many elements are in
 * neighbouring segments the list has ranges of fewer segments for groups.
 *
 * DP_ROWS: the same, where offsets have not been made: they come from the sums that dp_lengths_rows has left at `offsets`. Where segments are short on average work-items
 * take whole ones from where they are, dp_segreduce_rows, if none is long; else dp_segreduce_split does all. Whatever the lengths are, nothing is read beyond the n
 * elements. */
enum { DP_TILE_ROWS = 2048 };
#if DP_WAY == DP_ROWS
#undef DP_SEG_START
#undef DP_SEG_END
#define DP_ONE_IS_LONG(sums) (*DP_AT(ulong, (sums)) != 0)
static inline ulong dp_tile_start(DP_HEAP, ulong sums, ulong s) { return *DP_AT(ulong, sums + DP_SUMS_HEAD + 16 * (s / DP_TILE_ROWS)); }
static inline ulong dp_row_start(DP_HEAP, ulong sums, ulong n, ulong nseg, ulong s)
{
    const ulong numbers = sums + DP_SUMS_HEAD + 16 * ((nseg + DP_TILE_ROWS - 1) / DP_TILE_ROWS);
    return s < nseg ? min(dp_tile_start(heap, sums, s) + *DP_AT(uint, numbers + 4 * s), n) : n;
}
#define DP_SEG_START(s) dp_row_start(heap, offsets, n, nseg, (s))
#define DP_SEG_END(s) DP_SEG_START((s) + 1)
#define DP_LIST_START(s) dp_tile_start(heap, offsets, (s)) /* what the list's begin at */
DP_KERNEL void dp_segreduce_rows(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong vals, ulong pos
                                 DP_WORDS DP_OUTS)
{
    const ulong s = get_global_id(0);
    if (s < nseg && !DP_ONE_IS_LONG(offsets))
        DP_WHOLE(s)
}
#else
#define DP_ONE_IS_LONG(sums) true
#define DP_LIST_START(s) 0
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
enum { DP_PART = 65, DP_PARTS = 2 * DP_TILE / DP_PART + 1 };
enum { DP_PIECE_LANES = 32, DP_TEAMS = DP_WG / DP_PIECE_LANES };
#define DP_PARTS_OF(elements) (((elements) + DP_PART - 1) / DP_PART)
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

/* The end of the segments from `at` on whose elements fit into local memory, as many for each work-item if that is so. */
static inline uint dp_fitting(__local const uint *starts, uint at, uint count)
{
    const uint from = starts[at];
    uint to = min(at + DP_WG, count);
    if (starts[to] - from > DP_TILE)
        return dp_last_start(starts, from, at, to, DP_TILE);
    for (uint next = min(to + DP_WG, count); to < count && starts[next] - from <= DP_TILE; next = min(next + DP_WG, count))
        to = next;
    return to;
}

/* Elements j ... end - 1 in local memory, joined to v. Of a function that changes a struct that it is given PoCL 3.1 makes wrong code here. */
#define DP_FOLD(v, j, end, s) \
    for (; j < end && DP_OPEN(v); j++) \
        v = DP_OP(s, v, dp_stage_get(stage + DP_SLOT(j)));
/* list: 0 where there is none. part: a carry for each piece. The first groups, `firsts`, take ranges of tiles of more than `heavy` elements. if_long: is there nothing to do unless
 * one is long? */
DP_KERNEL void dp_segreduce_split(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets,
                                  ulong vals, ulong pos, ulong list, ulong entries, ulong pieces, ulong part, ulong most, ulong piece_log, ulong rows,
                                  ulong heavy, ulong firsts, ulong if_long
                                   DP_WORDS DP_OUTS)
{
    __local uint4 room[(DP_VAL_WORDS * DP_SLOTS + 3) / 4];
    __local uint starts[DP_TILE_ROWS + 1], *stage = (__local uint *)room;
    __local dp_carry *sh = (__local dp_carry *)room;
    __local uint last[DP_TEAMS];
    __local dp_val sums[DP_PARTS];
    __local uint parts[DP_PARTS], part_rows[DP_PARTS]; /* where they begin and end in local memory; whose they are */
    __local uint longer[DP_PARTS];                     /* segments of several parts, and their first ones */
    __local uint numbers[2];                           /* of parts, of longer ones */
    __local ushort long_rows[DP_TILE_ROWS];
    __local uint nlong[1];
    const uint l = get_local_id(0), group = get_group_id(0);
    const bool works = !if_long || DP_ONE_IS_LONG(offsets);

    /* ---- neighbouring segments: where they begin ---- */
    const bool ranged = group < firsts;
    const uint2 range = ranged && group < *DP_AT(uint, list + 8) ? *DP_AT(uint2, list + DP_LIST_HEAD + 8 * (ulong)group) : (uint2)(0, 0);
    const ulong base = ranged ? range.x : min((group - firsts) * rows, nseg), tile = base & ~(DP_TILE_ROWS - 1UL);
    uint count = works ? (uint)min(ranged ? range.y : rows, nseg - base) : 0;
    if (!ranged && firsts && DP_SEG_START(min(tile + DP_TILE_ROWS, nseg)) - DP_SEG_START(tile) > heavy)
        count = 0; /* it is in ranges */
    if (l < 2)
        numbers[l] = 0;
    if (l == 0)
        nlong[0] = 0;
    const ulong first = DP_SEG_START(base);
    for (uint j = l; j <= count; j += DP_WG)
        starts[j] = (uint)(DP_SEG_START(base + j) - first);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = l; j < count; j += DP_WG) {
        const uint length = starts[j + 1] - starts[j];
        if (length > most)
            long_rows[atomic_inc(nlong)] = (ushort)j;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint at = 0; at < count;) {
        uint to = dp_fitting(starts, at, count);
        for (uint q = 0; q < nlong[0]; q++)
            to = long_rows[q] >= at ? min(to, (uint)long_rows[q]) : to;
        const uint from = starts[at], elements = starts[to] - from;
        const ulong i = first + from;
        uint j = l;
#if DP_LANES
        for (; j + 7 * DP_WG < elements; j += 8 * DP_WG) {
            dp_val x[8];
            DP_ELEMENTS(x, 8, i + j + q * DP_WG, DP_FLAT_SEGMENT(j + q * DP_WG))
#pragma unroll
            for (uint q = 0; q < 8; q++)
                dp_stage_put(stage + DP_SLOT(j + q * DP_WG), x[q]);
        }
        if (j < elements) {
            dp_val x[7];
            const uint end = elements - 1;
            DP_ELEMENTS(x, 7, i + min(j + q * DP_WG, end), DP_FLAT_SEGMENT(min(j + q * DP_WG, end)))
#pragma unroll
            for (uint q = 0; q < 7; q++)
                if (j + q * DP_WG < elements)
                    dp_stage_put(stage + DP_SLOT(j + q * DP_WG), x[q]);
        }
#else
        for (; j < elements; j += DP_WG)
            dp_stage_put(stage + DP_SLOT(j), DP_ELEMENT(i + j, DP_FLAT_SEGMENT(j)));
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint row = at + l; row < to; row += DP_WG) {
            const ulong s = base + row;
            const uint b = starts[row] - from, e = starts[row + 1] - from;
            if (e - b <= DP_PART) {
                dp_val v = DP_NEUTRAL(s);
                uint j = b;
                DP_FOLD(v, j, e, s)
                dp_store(out, s, v DP_PASS_OUTS);
            } else {
                const uint several = DP_PARTS_OF(e - b), p = atomic_add(numbers, several);
                longer[atomic_inc(numbers + 1)] = row | p << 16;
                for (uint q = 0; q < several; q++) {
                    parts[p + q] = (b + q * DP_PART) << 16 | min(b + (q + 1) * DP_PART, e);
                    part_rows[p + q] = row;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint nparts = numbers[0], nlonger = numbers[1];
        for (uint p = l; p < nparts; p += DP_WG) {
            const ulong s = base + part_rows[p];
            const uint end = parts[p] & 0xFFFF;
            uint j = parts[p] >> 16;
            dp_val v = dp_stage_get(stage + DP_SLOT(j));
            j++;
            DP_FOLD(v, j, end, s)
            sums[p] = v;
        }
#if DP_NVIDIA /* PoCL bears no barrier behind a condition */
        if (nparts)
#endif
            barrier(CLK_LOCAL_MEM_FENCE);
        if (l < 2 && nparts)
            numbers[l] = 0;
        for (uint p = l; p < nlonger; p += DP_WG) {
            const uint row = longer[p] & 0xFFFF, several = DP_PARTS_OF(starts[row + 1] - starts[row]);
            const ulong s = base + row;
            dp_val v = DP_NEUTRAL(s);
            for (uint q = 0; q < several; q++)
                v = DP_OP(s, v, sums[(longer[p] >> 16) + q]);
            dp_store(out, s, v DP_PASS_OUTS);
        }
        at = max(to, at + 1); /* a long one is on the list */
    }

    /* ---- pieces ---- */
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint npieces = works && list ? *DP_AT(uint, list) : 0, k = l & (DP_PIECE_LANES - 1);
    DP_TEAM_ROUNDS(npieces, group * DP_TEAMS, (uint)get_num_groups(0) * DP_TEAMS, p, there)
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
            const ulong begin = DP_LIST_START(s) + elements.x, i = begin + ((p - first) << piece_log);
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
