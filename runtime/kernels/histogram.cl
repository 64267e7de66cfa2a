/* HIST: dp_body_at(i) gives a value and a bin of the instance's segment; bins start as the neutral element; out of range is ignored.
 * The bins of all segments lie one behind the other: segment s at bin_offsets[s] ... bin_offsets[s + 1]; with one segment all `size`.
 *
 * Four ways.
 * 1. Chunks of `each` consecutive instances have bins of their own (dp_hist_chunks), dp_hist_merge joins these. CPU: a work-item a chunk, its
 *    bins in the part, DP_HIST_SIDES times if they are few (stride). GPU: a work-group a chunk, its bins in local memory, several copies side by side, so that neighbouring lanes seldom
 *    meet, then in the part or, where the parts would be too many, combined into the common bins.
 *    Only bins of segments that lie in the chunk: those of chunk c are at part + c * stride from their number on, in values. These do not
 *    overlap, if no segment has more than `stride` bins. dp_hist_merge asks those chunks that the bin's segment lies in.
 * 2. One value of 4 bytes, or of 8 where the device has 64-bit atomics: dp_hist_fill stores the neutral elements, dp_hist_add combines
 *    into the common bins, by one atomic or a compare-and-swap loop.
 * 3. GPU: dp_hist_hot likewise, but each work-group looks first at a sample of its chunk, and holds bins that it meets
 *    twice in local memory: many values for one bin would stand in line otherwise. Work-groups share
 *    several copies of all bins, which dp_hist_join joins: bins that get many values are often neighbours.
 * 4. dp_hist_list stores values and bins, the runtime sorts the bins, and reduce.cl combines the runs (hist_reduce.cl).
 *
 * Guards: i < n. Empty segments have no instances. Barriers stand in straight lines and uniform loops only. */
#if DP_CPU
#define DP_EACH(i, n) \
    for (ulong i = dp_chunk_start(n, get_global_size(0), get_global_id(0)), \
               i##_end = dp_chunk_start(n, get_global_size(0), get_global_id(0) + 1); i < i##_end; i++)
#else
#define DP_EACH(i, n) for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
#endif

#if DP_SEGMENTED
#define DP_BINS(s) (DP_OFFSET(bin_offsets, (s) + 1) - DP_OFFSET(bin_offsets, (s)))
#define DP_FIRST_BIN(s) DP_OFFSET(bin_offsets, (s))
#define DP_BIN_SEGMENT(lo, hi, b) dp_segment_between(heap, bin_offsets, (lo), (hi), (b))
#else
#define DP_BINS(s) size
#define DP_FIRST_BIN(s) ((s) * size)
#define DP_BIN_SEGMENT(lo, hi, b) ((ulong)0)
#endif

/* ---- 1: bins of their own ---- */
#if DP_CPU
#define DP_HIST_SIDES 4
#define DP_HIST_COMBINE(COUNTS) \
    _Pragma("unroll") for (uint q = 0; q < DP_HIST_SIDES; q++) \
        if (COUNTS) { \
            __global dp_val *to = own + q * apart + bin[q]; \
            *to = dp_op(heap, 0, *to, v[q] DP_PASS); \
        }
DP_KERNEL void dp_hist_chunks(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong size,
                              ulong bin_offsets, ulong each, ulong shift, ulong passes, ulong part, ulong stride DP_WORDS DP_OUTS)
{
    ulong chunk = get_global_id(0), i = min(n, chunk * each), hi = min(n, i + each);
    __global dp_val *own = (__global dp_val *)(out + part) + chunk * stride;
#if !DP_SEGMENTED
    /* Several elements at a time, as most lie within: then none is asked by itself, and more of them are under way together. Where there is room,
     * neighbours have bins of their own, so that none waits for the one before. */
    const ulong apart = stride >= DP_HIST_SIDES * size ? size : 0, sides = apart ? DP_HIST_SIDES : 1;
    if (i + DP_HIST_SIDES <= hi) {
        for (ulong b = 0; b < sides * size; b++)
            own[b] = dp_neutral(heap, 0 DP_PASS);
        for (; i + DP_HIST_SIDES <= hi; i += DP_HIST_SIDES) {
            dp_val v[DP_HIST_SIDES];
            long bin[DP_HIST_SIDES];
            bool within = true;
#pragma unroll
            for (uint q = 0; q < DP_HIST_SIDES; q++) {
                bin[q] = -1;
                v[q] = dp_body_at(heap, i + q, 0, &bin[q] DP_PASS);
                within &= (ulong)bin[q] < size;
            }
            if (DP_VAL_BYTES <= 8 && within) {
                DP_HIST_COMBINE(true)
            } else {
                DP_HIST_COMBINE((ulong)bin[q] < size)
            }
        }
        for (ulong b = 0; b < size && apart; b++)
            for (uint q = 1; q < DP_HIST_SIDES; q++)
                own[b] = dp_op(heap, 0, own[b], own[q * size + b] DP_PASS);
    }
#endif
    const bool begun = i > chunk * each;
    for (ulong s = i < hi ? DP_SEG_OF(i) : 0; i < hi; s++) {
        s = DP_SKIP_EMPTY(s, i);
        ulong room = DP_BINS(s);
        __global dp_val *first = own + DP_FIRST_BIN(s);
        for (ulong b = 0; b < room && !begun; b++)
            first[b] = dp_neutral(heap, s DP_PASS);
        for (ulong end = min(hi, DP_SEG_END(s)); i < end; i++) {
            long bin = -1;
            dp_val v = dp_body_at(heap, i, s, &bin DP_PASS);
            if (bin >= 0 && (ulong)bin < room)
                first[bin] = dp_op(heap, s, first[bin], v DP_PASS);
        }
    }
}
#else
/* Elements of a lane under way together: more where combining is one instruction. */
#if defined(DP_HIST_ATOMIC) && DP_AT_ONCE > 1
#define DP_HIST_ONCE (2 * DP_AT_ONCE)
#else
#define DP_HIST_ONCE DP_AT_ONCE
#endif
#define DP_HIST_TILE (DP_WG * DP_HIST_ONCE)
/* Where a value goes: without segments what is held has a number below DP_SLOTS. */
#if DP_SEGMENTED
#define DP_HIST_PLACE ulong
#define DP_HIST_NOWHERE ULONG_MAX
#else
#define DP_HIST_PLACE uint
#define DP_HIST_NOWHERE UINT_MAX
#endif
#ifndef DP_HIST_LOCAL
#define DP_HIST_LOCAL 16384 /* bytes; in way 1 twice as many: for bins that are gone through in passes, fewer passes */
#endif
#ifdef DP_BITS
#define DP_SLOTS ((DP_WAY + 1) * DP_HIST_LOCAL / DP_HIST_BYTES)
#define DP_SLOT DP_BITS
#define DP_TO_SLOT(v) dp_bits(v)
#define DP_OF_SLOT(x) dp_from_bits(x)
#define DP_COMBINE_LOCALLY(k, s, v) DP_COMBINE(__local, own + (k), (s), (v))
#else
/* Values of other sizes: a lane at a time. The loser of a race comes again when the winner has left the branch. */
#define DP_SLOTS (DP_HIST_LOCAL / DP_VAL_BYTES)
#define DP_SLOT dp_val
#define DP_TO_SLOT(v) (v)
#define DP_OF_SLOT(x) (x)
#define DP_COMBINE_LOCALLY(k, s, v) \
    for (bool waits = true; waits;) \
        if (atomic_cmpxchg(&taken[k], 0u, 1u) == 0) { \
            mem_fence(CLK_LOCAL_MEM_FENCE); \
            dp_val before = *(volatile __local dp_val *)&own[k]; \
            own[k] = dp_op(heap, (s), before, (v) DP_PASS); \
            mem_fence(CLK_LOCAL_MEM_FENCE); \
            atomic_xchg(&taken[k], 0u); \
            waits = false; \
        }
#endif
/* Where lanes wait for each other to combine, each keeps what comes to one bin itself: that to which more comes than to all others, if
 * there is one (Boyer and Moore's vote). Were most values for one bin, all lanes would wait for each other. */
#if DP_SEGMENTED || defined(DP_HIST_ATOMIC)
#define DP_COMBINE_HELD(place, s, v) DP_COMBINE_LOCALLY(((uint)(place) << shift) + copy, s, v)
#define DP_LEAVE_HELD
#else
#define DP_COMBINE_HELD(place, s, v) \
    if ((place) == mine) { \
        kept = dp_op(heap, (s), kept, (v) DP_PASS); \
        votes++; \
    } else if (votes == 0) { \
        DP_LEAVE_HELD \
        mine = (place); \
        kept = (v); \
        votes = 1; \
    } else { \
        votes--; \
        DP_COMBINE_LOCALLY(((uint)(place) << shift) + copy, s, v) \
    }
#define DP_LEAVE_HELD \
    if (mine != DP_HIST_NOWHERE) \
        DP_COMBINE_LOCALLY(((uint)mine << shift) + copy, 0, kept)
#endif
/* Element `at`, whose value goes nowhere unless `wanted`, is number q of those under way. */
#if DP_SEGMENTED
#define DP_HIST_INSIDE(t) ((ulong)bin < (last == s ? room : DP_BINS(t)))
#define DP_HIST_PLACE_OF(t) (DP_FIRST_BIN(t) - base + (ulong)bin)
#else
#define DP_HIST_INSIDE(t) ((ulong)bin - base < count) /* and of this pass */
#define DP_HIST_PLACE_OF(t) ((ulong)bin - base)
#endif
#define DP_HIST_FETCH(at, wanted) \
    { \
        const ulong i = (at), t = last == s ? s : DP_SEG_BETWEEN(s, last + 1, i); \
        long bin = -1; \
        v[q] = dp_body_at(heap, i, t, &bin DP_PASS); \
        of[q] = t; \
        to[q] = DP_HIST_INSIDE(t) && (wanted) ? (DP_HIST_PLACE)DP_HIST_PLACE_OF(t) : DP_HIST_NOWHERE; \
    }
/* The chunk in stretches of segments whose bins fit, 2^shift copies of them. A single segment whose bins do not is combined
 * into the common bins; there is none where there is a part. The one segment of all values is gone through in tiles that stride over the
 * grid, and `passes` times, side by side, each for as many of the bins as fit. */
DP_KERNEL void dp_hist_chunks(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong size,
                              ulong bin_offsets, ulong each, ulong shift, ulong passes, ulong part, ulong stride DP_WORDS DP_OUTS)
{
    __local DP_SLOT own[DP_SLOTS];
#ifndef DP_BITS
    __local uint taken[DP_SLOTS];
#endif
    uint l = get_local_id(0), copy = l & ((1u << shift) - 1);
    ulong fit = DP_SLOTS >> shift, chunk = get_group_id(0) / passes;
    ulong at = DP_SEGMENTED ? min(n, chunk * each) : 0, hi = DP_SEGMENTED ? min(n, at + each) : n, s = 0, behind = 0;
    ulong start = DP_SEGMENTED ? 0 : chunk * DP_HIST_TILE;
    ulong step = DP_SEGMENTED ? DP_HIST_TILE : get_num_groups(0) / passes * DP_HIST_TILE;
    if (at < hi) {
        s = DP_SEG_OF(at);
        behind = DP_SEG_BETWEEN(s, nseg, hi - 1) + 1;
    }
    while (at < hi) {
        s = DP_SKIP_EMPTY(s, at);
        ulong last = s, base = DP_FIRST_BIN(s); /* the segments s ... last */
        for (ulong beyond = behind; beyond - last > 1;) {
            ulong mid = last + (beyond - last) / 2;
            if (DP_FIRST_BIN(mid + 1) - base <= fit)
                last = mid;
            else
                beyond = mid;
        }
        ulong end = min(hi, DP_SEG_END(last)), count = DP_FIRST_BIN(last + 1) - base, room = DP_BINS(s);
        if (passes > 1) {
            base = get_group_id(0) % passes * fit;
            count = min(fit, size - base);
        }
        bool held = count <= fit;
        for (uint k = l; held && k < count << shift; k += DP_WG) {
            own[k] = DP_TO_SLOT(dp_neutral(heap, DP_BIN_SEGMENT(s, last + 1, base + (k >> shift)) DP_PASS));
#ifndef DP_BITS
            taken[k] = 0;
#endif
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#if !DP_SEGMENTED && !defined(DP_HIST_ATOMIC)
        DP_HIST_PLACE mine = DP_HIST_NOWHERE;
        dp_val kept = dp_neutral(heap, s DP_PASS);
        uint votes = 0;
#endif
        for (ulong tile = at + start; tile < end; tile += step) {
            dp_val v[DP_HIST_ONCE];
            ulong of[DP_HIST_ONCE];
            DP_HIST_PLACE to[DP_HIST_ONCE];
            if (end - tile >= DP_HIST_TILE) {
#pragma unroll
                for (uint q = 0; q < DP_HIST_ONCE; q++)
                    DP_HIST_FETCH(tile + l + q * DP_WG, true)
            } else {
                const uint left = (uint)(end - tile);
#pragma unroll
                for (uint q = 0; q < DP_HIST_ONCE; q++)
                    DP_HIST_FETCH(tile + min(l + q * DP_WG, left - 1), l + q * DP_WG < left)
            }
#pragma unroll
            for (uint q = 0; q < DP_HIST_ONCE; q++) {
                if (to[q] == DP_HIST_NOWHERE)
                    continue;
                if (held) {
                    DP_COMBINE_HELD(to[q], of[q], v[q])
                }
#ifdef DP_BITS
                else
                    dp_combine(out, of[q], base + to[q], v[q] DP_PASS DP_PASS_OUTS);
#endif
            }
        }
        DP_LEAVE_HELD
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint h = shift; h-- > 0;) { /* the copies, half of them joined with the other half */
            for (uint k = l; held && k < count << h; k += DP_WG) {
                uint b = k >> h, p = (b << shift) + (k & ((1u << h) - 1));
                ulong t = DP_BIN_SEGMENT(s, last + 1, base + b);
                own[p] = DP_TO_SLOT(dp_op(heap, t, DP_OF_SLOT(own[p]), DP_OF_SLOT(own[p + (1u << h)]) DP_PASS));
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        for (uint b = l; held && b < count; b += DP_WG) {
            ulong t = DP_BIN_SEGMENT(s, last + 1, base + b);
            dp_val v = DP_OF_SLOT(own[b << shift]);
            if (part)
                ((__global dp_val *)(out + part))[chunk * stride + base + b] = v;
#ifdef DP_BITS
            else if (dp_bits(v) != dp_bits(dp_neutral(heap, t DP_PASS)))
                dp_combine(out, t, base + b, v DP_PASS DP_PASS_OUTS);
#endif
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        at = end;
    }
}
#endif

/* n bins, of `elements` instances in chunks. GPU: DP_SIDES lanes a bin. */
#if DP_CPU
#define DP_SIDES 1
#else
#define DP_SIDES (DP_WG / 8)
#endif
#define DP_MERGED 8
#define DP_MERGED_BINS (DP_VAL_BYTES <= 8 ? 16 : 4) /* CPU */
DP_KERNEL void dp_hist_merge(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong size,
                             ulong bin_offsets, ulong elements, ulong each, ulong part, ulong stride DP_WORDS DP_OUTS)
{
#if DP_CPU && !DP_SEGMENTED
    ulong b = dp_chunk_start(n, get_global_size(0), get_global_id(0));
    const ulong stop = dp_chunk_start(n, get_global_size(0), get_global_id(0) + 1), chunks = elements ? (elements - 1) / each + 1 : 0;
    for (; chunks && b + DP_MERGED_BINS <= stop; b += DP_MERGED_BINS) { /* in vectors */
        dp_val v[DP_MERGED_BINS];
#pragma unroll
        for (uint q = 0; q < DP_MERGED_BINS; q++)
            v[q] = DP_AT(dp_val, part)[b + q];
        for (ulong k = 1; k < chunks; k++) {
#pragma unroll
            for (uint q = 0; q < DP_MERGED_BINS; q++)
                v[q] = dp_op(heap, 0, v[q], DP_AT(dp_val, part)[k * stride + b + q] DP_PASS);
        }
#pragma unroll
        for (uint q = 0; q < DP_MERGED_BINS; q++)
            dp_store(out, b + q, v[q] DP_PASS_OUTS);
    }
    for (; b < stop; b++) {
        const uint side = 0;
#elif DP_CPU
    DP_EACH(b, n) {
        const uint side = 0;
#else
    __local dp_val shared[DP_WG];
    __local uchar some[DP_WG];
    uint l = get_local_id(0), side = l / 8;
    for (ulong from = get_group_id(0) * 8; from < n; from += get_num_groups(0) * 8) {
        ulong b = min(from + l % 8, n - 1);
#endif
        ulong s = DP_BIN_SEGMENT(0, nseg, b);
#if DP_SEGMENTED
        ulong start = DP_OFFSET(offsets, s), end = DP_OFFSET(offsets, s + 1);
#else
        ulong start = 0, end = elements;
#endif
        ulong k = start / each + side, behind = start < end ? (end - 1) / each + 1 : 0;
        const bool any = k < behind;
        dp_val v = dp_neutral(heap, s DP_PASS);
        if (any)
            v = DP_AT(dp_val, part)[k * stride + b];
        k += DP_SIDES;
        for (; k + (DP_MERGED - 1) * DP_SIDES < behind; k += DP_MERGED * DP_SIDES) { /* loads under way together */
            dp_val some_of[DP_MERGED];
#pragma unroll
            for (uint q = 0; q < DP_MERGED; q++)
                some_of[q] = DP_AT(dp_val, part)[(k + q * DP_SIDES) * stride + b];
#pragma unroll
            for (uint q = 0; q < DP_MERGED; q++)
                v = dp_op(heap, s, v, some_of[q] DP_PASS);
        }
        for (; k < behind; k += DP_SIDES)
            v = dp_op(heap, s, v, DP_AT(dp_val, part)[k * stride + b] DP_PASS);
#if DP_GPU
        shared[l] = v;
        some[l] = any;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = l + 8; side == 0 && j < DP_WG && some[j]; j += 8)
            v = dp_op(heap, s, v, shared[j] DP_PASS);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (side == 0 && from + l < n)
#endif
            dp_store(out, b, v DP_PASS_OUTS);
    }
}

/* ---- 2: into the common bins ---- */
/* n bins; offsets are the bins'. */
DP_KERNEL void dp_hist_fill(DP_HEAP, ulong n, ulong nseg, ulong offsets DP_WORDS DP_OUTS)
{
    DP_EACH(i, n)
        dp_store(heap, i, dp_neutral(heap, DP_SEG_OF(i) DP_PASS) DP_PASS_OUTS);
}

#ifdef DP_BITS
DP_KERNEL void dp_hist_add(DP_HEAP, ulong n, ulong nseg, ulong offsets, ulong size, ulong bin_offsets DP_WORDS DP_OUTS)
{
    DP_EACH(i, n) {
        ulong s = DP_SEG_OF(i);
        long bin = -1;
        dp_val v = dp_body_at(heap, i, s, &bin DP_PASS);
        if (bin >= 0 && (ulong)bin < DP_BINS(s))
            dp_combine(heap, s, DP_FIRST_BIN(s) + (ulong)bin, v DP_PASS DP_PASS_OUTS);
    }
}
#endif

/* ---- 3: the same, with the frequent bins in local memory ---- */
#if DP_GPU && defined(DP_BITS)
#define DP_COPIES 8
#define DP_HOT (DP_SLOTS / DP_COPIES)
#define DP_SAMPLES 1 /* of a lane: they are computed twice */
#define DP_PLACE(bin) ((uint)(bin) * 2654435769u % DP_HOT)

DP_KERNEL void dp_hist_hot(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong size,
                           ulong bin_offsets, ulong each, ulong copies DP_WORDS DP_OUTS)
{
    __local DP_BITS own[DP_SLOTS];
    __local uint bins[DP_HOT], times[DP_HOT], hits; /* bins: number + 1, or 0 */
    uint l = get_local_id(0);
    ulong lo = min(n, get_group_id(0) * each), hi = min(n, lo + each), first = 0, last = 0, mine[DP_SAMPLES];
    if (lo < hi) {
        first = DP_SEG_OF(lo);
        last = DP_SEG_BETWEEN(first, nseg, hi - 1);
    }
    for (uint k = l; k < DP_HOT; k += DP_WG)
        bins[k] = times[k] = 0;
    if (l == 0)
        hits = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint q = 0; q < DP_SAMPLES; q++) {
        mine[q] = ULONG_MAX;
        if (hi > lo) {
            ulong i = lo + (hi - lo) * (q * DP_WG + l) / (DP_SAMPLES * DP_WG), s = DP_SEG_BETWEEN(first, last + 1, i);
            long bin = -1;
            dp_body_at(heap, i, s, &bin DP_PASS);
            if (bin >= 0 && (ulong)bin < DP_BINS(s))
                mine[q] = DP_FIRST_BIN(s) + (ulong)bin;
        }
        if (mine[q] != ULONG_MAX)
            atomic_cmpxchg(&bins[DP_PLACE(mine[q])], 0u, (uint)mine[q] + 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint q = 0; q < DP_SAMPLES; q++)
        if (mine[q] != ULONG_MAX && bins[DP_PLACE(mine[q])] == (uint)mine[q] + 1)
            atomic_inc(&times[DP_PLACE(mine[q])]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = l; k < DP_HOT; k += DP_WG) {
        if (times[k] < 2) {
            bins[k] = 0;
            continue;
        }
        atomic_add(&hits, times[k]);
        DP_BITS nothing = dp_bits(dp_neutral(heap, DP_BIN_SEGMENT(first, last + 1, bins[k] - 1) DP_PASS));
        for (uint c = 0; c < DP_COPIES; c++)
            own[k * DP_COPIES + c] = nothing;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool some = hits >= DP_SAMPLES * DP_WG / 16;
    const ulong copy = get_group_id(0) % copies * size;
    for (ulong i = lo + l; i < hi; i += DP_WG) {
        ulong s = DP_SEG_BETWEEN(first, last + 1, i);
        long bin = -1;
        dp_val v = dp_body_at(heap, i, s, &bin DP_PASS);
        if (bin < 0 || (ulong)bin >= DP_BINS(s))
            continue;
        ulong b = DP_FIRST_BIN(s) + (ulong)bin;
        if (some && bins[DP_PLACE(b)] == (uint)b + 1)
            DP_COMBINE(__local, own + DP_PLACE(b) * DP_COPIES + l % DP_COPIES, s, v)
        else
            dp_combine(out, s, copy + b, v DP_PASS DP_PASS_OUTS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = l; some && k < DP_HOT; k += DP_WG) {
        if (!bins[k])
            continue;
        ulong b = bins[k] - 1, s = DP_BIN_SEGMENT(first, last + 1, b);
        dp_val v = dp_from_bits(own[k * DP_COPIES]);
        for (uint c = 1; c < DP_COPIES; c++)
            v = dp_op(heap, s, v, dp_from_bits(own[k * DP_COPIES + c]) DP_PASS);
        dp_combine(out, s, copy + b, v DP_PASS DP_PASS_OUTS);
    }
}

/* n bins, the copies of which stand behind them. */
DP_KERNEL void dp_hist_join(DP_HEAP, ulong n, ulong copies DP_WORDS DP_OUTS)
{
    __global const DP_BITS *bits = DP_AT(DP_BITS, o0);
    DP_EACH(b, n) {
        dp_val v = dp_from_bits(bits[b]);
        for (ulong c = 1; c < copies; c++)
            v = dp_op(heap, 0, v, dp_from_bits(bits[c * n + b]) DP_PASS);
        dp_store(heap, b, v DP_PASS_OUTS);
    }
}
#endif

/* ---- 4: to be sorted ---- */
/* keys: u32 bins, 2^32 - 1 for values that go nowhere. */
DP_KERNEL void dp_hist_list(DP_HEAP, ulong n, ulong nseg, ulong offsets, ulong size, ulong bin_offsets, ulong keys, ulong vals DP_WORDS)
{
    DP_EACH(i, n) {
        ulong s = DP_SEG_OF(i);
        long bin = -1;
        dp_val v = dp_body_at(heap, i, s, &bin DP_PASS);
        bool inside = bin >= 0 && (ulong)bin < DP_BINS(s);
        *DP_AT(uint, keys + 4 * i) = inside ? (uint)(DP_FIRST_BIN(s) + (ulong)bin) : UINT_MAX;
        *DP_AT(dp_val, vals + DP_VAL_BYTES * i) = v;
    }
}
