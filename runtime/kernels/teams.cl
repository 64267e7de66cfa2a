/* REDUCE on a GPU by teams: `lanes` neighbouring work-items, a power of two up to a warp, take a segment. Where any order will do they stride over
 * it, so that loads come side by side, else each has a run of neighbours; then they are joined in order.
 *
 * DP_TEAM: all segments by teams of one size.
 *
 * DP_SPLIT: a work-item, or a team of `lanes`, takes a segment of at most `most` elements. Then teams of the work-group take its
 * longer ones, and segments of more than DP_SHARED elements are put on a list, in pieces of DP_PIECE, those of more than DP_ALONE too
 * where the group has many (neighbours of a power law are often alike). A team reduces a piece, and another one joins those of a segment. So it
 * serves all lengths, also those that the host does not know.
 *
 * DP_ROWS: the same, where offsets have not been made: they come from the sums that dp_lengths_rows (lengths.cl) has left at `offsets`. If
 * no segment is longer than `longest`, teams of `whole` work-items take all of them instead. Whatever the lengths are, nothing is read beyond the n
 * elements. */
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
#if DP_WAY == DP_TEAM /* whole segments are long enough */
        DP_SEVERAL(8, c.v, i, end, step, s)
#endif
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
            DP_ALL_OF(v, i, end, s)
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
