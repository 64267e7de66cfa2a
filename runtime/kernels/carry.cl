/* Between the holes and a template that combines values across chunks: segmented values, and their scan in a work-group.
 *
 * A carry is what a stretch of elements leaves to what follows it: DP_HAS says that there is a value, DP_RESET that a segment began
 * inside, so that nothing from before the stretch reaches its end. Joining carries is associative whatever the operator
 * commutes or not, and a carry with no bits is neutral.
 *
 * In memory a carry takes DP_CARRY_BYTES: uint bits, 4 bytes unused, ulong segment, the value. */
typedef struct { uint bits; dp_val v; } dp_carry;

#define DP_CARRY_BYTES (DP_VAL_BYTES + 16)
#define DP_BODY(i, s) dp_body(heap, (i), (s) DP_PASS)
#ifndef DP_INSTANCE
#define DP_INSTANCE(s) (s) /* the instance that segment s belongs to: itself, but for the bins of a histogram */
#endif
#define DP_NEUTRAL(s) dp_neutral(heap, DP_INSTANCE(s) DP_PASS)
#define DP_OP(s, a, b) dp_op(heap, DP_INSTANCE(s), (a), (b) DP_PASS)
#ifdef DP_MAPS
#define DP_STORE(i, s, v) dp_store(out, (i), dp_then(heap, (i), (s), (v) DP_PASS) DP_PASS_OUTS)
#define DP_STORE_W(i, s, v) dp_then_store_w(heap, out, (i), (s), (v) DP_PASS DP_PASS_OUTS)
#else
#define DP_STORE(i, s, v) dp_store(out, (i), (v) DP_PASS_OUTS)
#define DP_STORE_W(i, s, v) dp_store_w(out, (i), (v) DP_PASS_OUTS)
#endif
#define DP_JOIN(s, a, b) dp_join(heap, (s), (a), (b) DP_PASS)

/* s: the segment that b ends in. */
static inline dp_carry dp_join(DP_HEAP, ulong s, dp_carry a, dp_carry b DP_WORDS)
{
    if (!(b.bits & DP_RESET)) {
        if (a.bits & DP_HAS) {
            if (b.bits & DP_HAS)
                b.v = DP_OP(s, a.v, b.v);
            else
                b.v = a.v;
        }
        b.bits |= a.bits;
    }
    return b;
}

static inline void dp_put_carry(DP_HEAP, ulong part, ulong at, ulong s, dp_carry c)
{
    ulong p = part + at * DP_CARRY_BYTES;
    *DP_AT(uint, p) = c.bits;
    *DP_AT(ulong, p + 8) = s;
    if (c.bits & DP_HAS)
        *DP_AT(dp_val, p + 16) = c.v;
}

static inline dp_carry dp_get_carry(DP_HEAP, ulong part, ulong at)
{
    dp_carry c;
    c.bits = *DP_AT(uint, part + at * DP_CARRY_BYTES);
    c.v = *DP_AT(dp_val, part + at * DP_CARRY_BYTES + 16);
    return c;
}

#define DP_CARRY_SEGMENT(part, at) (*DP_AT(ulong, (part) + (at) * DP_CARRY_BYTES + 8))

/* Values are DP_ELEMENT(i, s); the words vals and pos are for histograms, which put their own there (hist_reduce.cl). */
#ifndef DP_ELEMENT
#define DP_ELEMENT(i, s) DP_BODY(i, s)
#define DP_ELEMENTS(x, count, INDEX, SEGMENT) DP_BODIES(x, count, INDEX, SEGMENT)
#else
#define DP_ELEMENTS(x, count, INDEX, SEGMENT) \
    _Pragma("unroll") for (uint q = 0; q < (count); q++) x[q] = DP_ELEMENT(INDEX, SEGMENT);
#endif

/* Has v got to where nothing that follows changes it any more? */
#ifndef DP_SETTLED
#define DP_OPEN(v) true
#else
#define DP_OPEN(v) (!DP_SETTLED(v))
#endif

/* The segments finished at step d of the merge path (reduce.cl), known to be in [lo, hi]. */
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

#if DP_W
#define DP_BODY_W(i, s) dp_body_w(heap, (i), (s) DP_PASS)
#define DP_OP_W(s, a, b) dp_op_w(heap, DP_INSTANCE(s), (a), (b) DP_PASS)
/* The vector that ends at hi, with `none` for what is in front of lo. */
#define DP_LAST_W(lo, hi, s, none) dp_choose(DP_LANE_NUMBERS < (int)(DP_W - ((hi) - (lo))), (none), DP_BODY_W((hi) - DP_W, s))
#endif

/* What a loop hands on from element to element, `v`, is held field by field: a struct of up to 16 bytes comes out of a function as one or two
 * words, and a loop's variable would be these, packed and unpacked in each round (a segmented scan: 2 to 3 times slower). */
#if DP_CPU && defined(DP_FIELDS)
#define DP_FIELD_HELD(T, field) T held_##field;
#define DP_FIELD_HOLD(T, field) held_##field = v.field;
#define DP_FIELD_TAKE(T, field) v.field = held_##field;
#define DP_HELD() DP_FIELDS(DP_FIELD_HELD)
#define DP_HOLD() DP_FIELDS(DP_FIELD_HOLD)
#define DP_TAKE() DP_FIELDS(DP_FIELD_TAKE)
#else
#define DP_HELD()
#define DP_HOLD()
#define DP_TAKE()
#endif

#if DP_CPU && DP_W && DP_WAY < 5
/* Of neighbouring lanes, each the combination of all up to it (Kogge and Stone). */
#define DP_LANE_STEP(d) DP_VEC_FIELDS(DP_LANES_BEHIND_##d) a = DP_OP_W(s, before, a);
#define DP_LANES_BEHIND_1(T, field) before.field = DP_BEHIND(a.field, none.field, 1);
#define DP_LANES_BEHIND_2(T, field) before.field = DP_BEHIND(a.field, none.field, 2);
#define DP_LANES_BEHIND_4(T, field) before.field = DP_BEHIND(a.field, none.field, 4);
#define DP_LANES_BEHIND_8(T, field) before.field = DP_BEHIND(a.field, none.field, 8);
static inline dp_vec dp_scan_lanes(DP_HEAP, ulong s, dp_vec a, dp_vec none DP_WORDS)
{
    dp_vec before;
    DP_LANE_STEP(1) DP_LANE_STEP(2) DP_LANE_STEP(4)
#if DP_W == 16
    DP_LANE_STEP(8)
#endif
    return a;
}

/* `none` for it: the neutral element, which LLVM 15 must not know, as it makes slow instructions of shuffles with zeros (vpexpandd). */
static inline dp_vec dp_none(DP_HEAP, ulong s DP_WORDS)
{
    volatile dp_val hidden;
    *(dp_val *)&hidden = DP_NEUTRAL(s);
    dp_val none = *(volatile dp_val *)&hidden;
    return dp_wide(none);
}

/* Of two vectors, one behind the other, neighbours combined by twos. */
#define DP_TAKE_FIRST(T, field) first.field = __builtin_shufflevector(a.field, b.field, DP_FIRST_LANES);
#define DP_TAKE_SECOND(T, field) second.field = __builtin_shufflevector(a.field, b.field, DP_SECOND_LANES);
static inline dp_vec dp_pairs(DP_HEAP, ulong s, dp_vec a, dp_vec b DP_WORDS)
{
    dp_vec first, second;
    DP_VEC_FIELDS(DP_TAKE_FIRST)
    DP_VEC_FIELDS(DP_TAKE_SECOND)
    return DP_OP_W(s, first, second);
}

/* The combination of DP_W * DP_W elements from lo on, by a tree of pairs: fewer shuffles, and fewer values at a time, than blocks that are transposed. */
static inline dp_val dp_tree(DP_HEAP, ulong lo, ulong s, dp_vec none DP_WORDS)
{
    dp_vec fours[DP_W / 4];
    for (uint k = 0; k < DP_W / 4; k++, lo += 4 * DP_W) {
        const dp_vec a = dp_pairs(heap, s, DP_BODY_W(lo, s), DP_BODY_W(lo + DP_W, s) DP_PASS);
        const dp_vec b = dp_pairs(heap, s, DP_BODY_W(lo + 2 * DP_W, s), DP_BODY_W(lo + 3 * DP_W, s) DP_PASS);
        fours[k] = dp_pairs(heap, s, a, b DP_PASS);
    }
    for (uint n = DP_W / 8; n > 0; n /= 2)
        for (uint k = 0; k < n; k++)
            fours[k] = dp_pairs(heap, s, fours[2 * k], fours[2 * k + 1] DP_PASS);
    return dp_lane(dp_scan_lanes(heap, s, fours[0], none DP_PASS), DP_W - 1);
}
#elif DP_CPU && DP_AS_W
static inline void dp_scan_lanes(DP_HEAP, ulong s, dp_val *a DP_WORDS)
{
    for (uint d = 1; d < DP_AS_W; d *= 2)
        for (uint l = DP_AS_W; l-- > 0;)
            a[l] = DP_OP(s, l < d ? DP_NEUTRAL(s) : a[l - d], a[l]);
}
#endif

#if DP_CPU
/* Values lo ... hi - 1 of segment s combined in order, lo < hi. With DP_LANES (for small bodies: the code is repeated) some lanes each
 * take their part of them, side by side field by field: independent chains, which the compiler turns into vector instructions
 * (measured: 2.5 times faster for a float, 5 times for a struct of four). Where any order will do they take neighbours, so that
 * loads are vectors, too (4 times). Eight lanes where all fields have four bytes, 32 of a single one; for other
 * fields PoCL 3.1 keeps eight in memory, and four are 10 to 20 times faster. */
static inline dp_val dp_run(DP_HEAP, ulong lo, ulong hi, ulong s, ulong vals, ulong pos DP_WORDS)
{
    dp_val all = DP_NEUTRAL(s);
#if DP_W && DP_WAY < 5
    /* Whole vectors. Where what is left is less than one, the last vector begins before it, and has the neutral element in the lanes in front: so
     * only what is shorter than a vector goes one by one. */
    const bool whole = hi - lo >= DP_W;
    if (DP_COMMUTATIVE && whole) {
        dp_vec a = dp_wide(all), b = a; /* hides how long an operation takes */
        for (; hi - lo >= 2 * DP_W; lo += 2 * DP_W) {
            a = DP_OP_W(s, a, DP_BODY_W(lo, s));
            b = DP_OP_W(s, b, DP_BODY_W(lo + DP_W, s));
        }
        if (hi - lo >= DP_W) {
            a = DP_OP_W(s, a, DP_BODY_W(lo, s));
            lo += DP_W;
        }
        if (lo < hi)
            b = DP_OP_W(s, b, DP_LAST_W(lo, hi, s, dp_wide(all)));
        a = DP_OP_W(s, a, b);
        for (uint n = 1; n < DP_W; n *= 2)
            a = dp_pairs(heap, s, a, a DP_PASS);
        return DP_OP(s, all, dp_lane(a, 0));
    }
    const dp_vec none = DP_COMMUTATIVE ? dp_wide(all) : dp_none(heap, s DP_PASS);
    for (; !DP_COMMUTATIVE && hi - lo >= DP_W * DP_W; lo += DP_W * DP_W)
        all = DP_OP(s, all, dp_tree(heap, lo, s, none DP_PASS));
    for (; !DP_COMMUTATIVE && hi - lo >= DP_W; lo += DP_W)
        all = DP_OP(s, all, dp_lane(dp_scan_lanes(heap, s, DP_BODY_W(lo, s), none DP_PASS), DP_W - 1));
    if (!DP_COMMUTATIVE && whole && lo < hi) {
        all = DP_OP(s, all, dp_lane(dp_scan_lanes(heap, s, DP_LAST_W(lo, hi, s, none), none DP_PASS), DP_W - 1));
        lo = hi;
    }
#elif DP_AS_W
    /* The same without vectors: code that is compiled quickly gives the bits of what takes its place. */
    const dp_val first = all;
    dp_val run[DP_AS_W];
    const bool whole = hi - lo >= DP_AS_W;
    const ulong last = hi - DP_AS_W;
    if (DP_COMMUTATIVE && whole) {
        const ulong stop = hi - (hi - lo) % DP_AS_W;
        for (uint l = 0; l < DP_AS_W; l++) {
            dp_val a = first, b = first;
            ulong k = lo;
            for (; stop - k >= 2 * DP_AS_W; k += 2 * DP_AS_W) {
                a = DP_OP(s, a, DP_ELEMENT(k + l, s));
                b = DP_OP(s, b, DP_ELEMENT(k + DP_AS_W + l, s));
            }
            if (k < stop)
                a = DP_OP(s, a, DP_ELEMENT(k + l, s));
            if (stop < hi)
                b = DP_OP(s, b, last + l >= stop ? DP_ELEMENT(last + l, s) : first);
            run[l] = DP_OP(s, a, b);
        }
        for (uint d = 1; d < DP_AS_W; d *= 2)
            for (uint l = 2 * d - 1; l < DP_AS_W; l += 2 * d)
                run[l] = DP_OP(s, run[l - d], run[l]);
        return DP_OP(s, first, run[DP_AS_W - 1]);
    }
    for (; !DP_COMMUTATIVE && hi - lo >= DP_AS_W * DP_AS_W; lo += DP_AS_W * DP_AS_W) {
        dp_val a[DP_AS_W];
        for (uint l = 0; l < DP_AS_W; l++) {
            for (uint k = 0; k < DP_AS_W; k++)
                run[k] = DP_ELEMENT(lo + l * DP_AS_W + k, s);
            for (uint d = 1; d < DP_AS_W; d *= 2)
                for (uint k = 0; k < DP_AS_W; k += 2 * d)
                    run[k] = DP_OP(s, run[k], run[k + d]);
            a[l] = run[0];
        }
        dp_scan_lanes(heap, s, a DP_PASS);
        all = DP_OP(s, all, a[DP_AS_W - 1]);
    }
    for (ulong from = lo; !DP_COMMUTATIVE && whole && lo < hi; lo = from += DP_AS_W) {
        from = from < last ? from : last;
        for (uint l = 0; l < DP_AS_W; l++)
            run[l] = from + l < lo ? first : DP_ELEMENT(from + l, s);
        dp_scan_lanes(heap, s, run DP_PASS);
        all = DP_OP(s, all, run[DP_AS_W - 1]);
    }
#elif DP_LANES && defined(DP_FIELDS)
#define DP_LANE_ODD(T, field) || sizeof(T) != 4
#define DP_LANE_ARRAY(T, field) T lane_##field[lanes];
#define DP_LANE_GET(T, field) v.field = lane_##field[l];
#define DP_LANE_PUT(T, field) lane_##field[l] = v.field;
    enum { wide = sizeof(dp_val) == 4 ? 32 : 8, lanes = 0 DP_FIELDS(DP_LANE_ODD) ? 4 : DP_COMMUTATIVE ? wide : 8 };
    ulong m = (hi - lo) / lanes;
    if (m >= 4) {
        dp_val v = all;
        DP_FIELDS(DP_LANE_ARRAY)
        for (uint l = 0; l < lanes; l++) {
            DP_FIELDS(DP_LANE_PUT)
        }
        for (ulong k = 0; k < m; k++)
            for (uint l = 0; l < lanes; l++) {
                DP_FIELDS(DP_LANE_GET)
                v = DP_OP(s, v, DP_ELEMENT(DP_COMMUTATIVE ? lo + k * lanes + l : lo + l * m + k, s));
                DP_FIELDS(DP_LANE_PUT)
            }
        for (uint l = 0; l < lanes; l++) {
            DP_FIELDS(DP_LANE_GET)
            all = DP_OP(s, all, v);
        }
        lo += lanes * m;
    }
#endif
    for (; lo < hi; lo++)
        all = DP_OP(s, all, DP_ELEMENT(lo, s));
    return all;
}
#ifdef DP_SETTLED
/* Piece by piece, until nothing changes any more. */
#define DP_PIECE_OF_RUN 256
static inline dp_val dp_run_settled(DP_HEAP, ulong lo, ulong hi, ulong s, ulong vals, ulong pos DP_WORDS)
{
    dp_val all = DP_NEUTRAL(s);
    for (ulong to; lo < hi && !DP_SETTLED(all); lo = to) {
        to = hi - lo < DP_PIECE_OF_RUN ? hi : lo + DP_PIECE_OF_RUN;
        all = DP_OP(s, all, dp_run(heap, lo, to, s, vals, pos DP_PASS));
    }
    return all;
}
#define DP_RUN(lo, hi, s, vals, pos) dp_run_settled(heap, (lo), (hi), (s), (vals), (pos) DP_PASS)
#else
#define DP_RUN(lo, hi, s, vals, pos) dp_run(heap, (lo), (hi), (s), (vals), (pos) DP_PASS)
#endif
#endif

#if DP_GPU
/* Elements a lane, so that a tile of values takes at most 16 KiB of local memory. */
#ifndef DP_ITEMS
#define DP_ITEMS (sizeof(dp_val) <= 4 ? 16 : sizeof(dp_val) <= 8 ? 8 : sizeof(dp_val) <= 16 ? 4 : 2)
#endif
#define DP_TILE (DP_ITEMS * DP_WG)
/* One slot in 32 is left free, so that lanes reading runs of DP_ITEMS meet different banks. */
#define DP_SLOT(j) ((j) + ((j) >> 5))
#define DP_SLOTS (DP_TILE + DP_TILE / 32)

/* A tile's values in local memory, word by word: as structs they would meet the same banks. */
#define DP_VAL_WORDS ((int)(sizeof(dp_val) + 3) / 4)
typedef union { dp_val v; uint word[DP_VAL_WORDS]; } dp_staged;
#define DP_STAGE(name) __local uint name[DP_VAL_WORDS * DP_SLOTS]
/* Element j is at stage + DP_SLOT(j), those that a lane loads side by side with others at DP_STAGE_LOADED, its run at DP_STAGE_RUN: addresses as sums of
 * one of the lane's own and constants, which take no registers. */
#define DP_STAGE_LOADED(stage) ((stage) + DP_SLOT(l))
#define DP_STAGE_RUN(stage, items) ((stage) + DP_SLOT(l * (items)))
#define DP_STAGE_NEXT (DP_WG + DP_WG / 32) /* of those that it loads */
static inline void dp_stage_put(__local uint *at, dp_val v)
{
    dp_staged w;
    w.v = v;
#pragma unroll
    for (uint k = 0; k < DP_VAL_WORDS; k++)
        at[k * DP_SLOTS] = w.word[k];
}
static inline dp_val dp_stage_get(__local const uint *at)
{
    dp_staged w;
#pragma unroll
    for (uint k = 0; k < DP_VAL_WORDS; k++)
        w.word[k] = at[k * DP_SLOTS];
    return w.v;
}

/* Inclusive scan of the lanes' carries c by Hillis and Steele, sh: dp_carry[2][DP_WG]. Every lane must come here. Afterwards c
 * is the lane's prefix and sh[DP_SCANNED] holds all of them. Straight-line, for a barrier may not stand in a nested loop. */
#define DP_SCAN_STEP(d, from, to) \
    { \
        if (l >= d) \
            c = DP_JOIN(s_end, sh[from][l - d], c); \
        sh[to][l] = c; \
        barrier(CLK_LOCAL_MEM_FENCE); \
    }
#if DP_WG == 256
#define DP_SCAN_STEP_64 DP_SCAN_STEP(64, 0, 1)
#define DP_SCAN_STEP_128 DP_SCAN_STEP(128, 1, 0)
#define DP_SCANNED 0
#elif DP_WG == 128
#define DP_SCAN_STEP_64 DP_SCAN_STEP(64, 0, 1)
#define DP_SCAN_STEP_128
#define DP_SCANNED 1
#else /* 64 */
#define DP_SCAN_STEP_64
#define DP_SCAN_STEP_128
#define DP_SCANNED 0
#endif
#define DP_GROUP_SCAN() \
    sh[0][l] = c; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    DP_SCAN_STEP(1, 0, 1) DP_SCAN_STEP(2, 1, 0) DP_SCAN_STEP(4, 0, 1) DP_SCAN_STEP(8, 1, 0) \
    DP_SCAN_STEP(16, 0, 1) DP_SCAN_STEP(32, 1, 0) DP_SCAN_STEP_64 DP_SCAN_STEP_128

/* By one work-group: of `chunks` whose carries begin at `at` in `part` the lane has lo ... hi - 1, and c becomes what reaches the first of them. Lanes without chunks
 * hand on what is before them, by its segment's operator. */
#define DP_SCAN_OF_CHUNKS(at) \
    const ulong lo = dp_chunk_start(chunks, DP_WG, l), hi = dp_chunk_start(chunks, DP_WG, l + 1); \
    const ulong s_end = hi ? DP_CARRY_SEGMENT(part, (at) + hi - 1) : 0; \
    dp_carry c; \
    c.bits = 0; \
    for (ulong k = lo; k < hi; k++) \
        c = DP_JOIN(DP_CARRY_SEGMENT(part, (at) + k), c, dp_get_carry(heap, part, (at) + k)); \
    barrier(CLK_GLOBAL_MEM_FENCE); /* before another lane writes there */ \
    DP_GROUP_SCAN() \
    c.bits = 0; \
    if (l) \
        c = sh[DP_SCANNED][l - 1];
#endif
