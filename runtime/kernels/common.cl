/* In front of every kernel, behind dp_scalar.h: addresses, views, the error record, 64-bit atomics where there are any.
 *
 * The heap is one buffer; an address is a byte offset in it. Its first bytes hold the error record
 * {int state, uint site, long values[3]}, all zero while nothing has failed, and where the host has a word for that, which is set
 * then (DP_POSTED of internal.h; 0: nowhere, and the record's state is set once more). */
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define DP_HAS_ATOMICS64 1
#endif

#define DP_HEAP __global uchar *heap
/* Behind the condition of a while loop that looks at arrays: LLVM would make of "if it holds k + 1, else k" a sum, for which the next round waits. */
#if DP_POCL
#define DP_GOES_ON __asm volatile("")
#else
#define DP_GOES_ON
#endif
#define DP_AT(T, address) ((__global T *)(heap + (address)))

/* In front of loops whose rounds, a constant number of them, are many statements: NVIDIA's compiler would unroll them, for many seconds. */
#ifdef cl_nv_pragma_unroll
#define DP_ROLLED _Pragma("unroll 1")
#else
#define DP_ROLLED
#endif

/* The first failure wins; the others are forgotten. The lane goes on with a harmless value. */
static inline void dp_error(DP_HEAP, uint site, long v0, long v1, long v2)
{
    if (atomic_cmpxchg((volatile __global int *)heap, 0, 1) == 0) {
        *DP_AT(uint, 4) = site;
        *DP_AT(long, 8) = v0;
        *DP_AT(long, 16) = v1;
        *DP_AT(long, 24) = v2;
#ifdef DP_POSTS
        *DP_AT(int, *DP_AT(ulong, 32)) = 1;
#endif
    }
}

/* ---- arrays that a lane makes in memory of its own (CORE_LANE) ----
 *
 * Each item of the launch has an equal share of `memory`, dp_own; from `top` on it is free. What has no room leaves DP_NO_ROOM as
 * the error: then the host has the work done in another way. Elements are of any type in turn, so that accesses must not
 * be told apart by it: DP_ANY. */
#define DP_NO_ROOM 0xffffffffU
/* In front of the shares: how many 16 bytes have been given, how many bytes there are to be given, what a launch's worth is in
 * statements, whether shares lie by turns (of one lane that has all: how many arrays it may begin with), and what is given. */
#define DP_LANE_HEADER 32
/* Rounds of a loop leave behind what they made until it comes to so many bytes, which stay in a cache, or an eighth of the share: then
 * the state moves down. After that as much as the state has, if there is room for twice that: so moves take no longer than rounds. */
#define DP_LANE_SLACK(room) min((room) / 8, 16384UL)
#define DP_LANE_GIVEN(memory) (*DP_AT(ulong, DP_ADDR(memory) + 8))
#define DP_LANE_OPEN(memory) DP_LANE_OPEN_SHARE(dp_lane_share(heap, memory))
#define DP_LANE_OPEN_SHARE(share) \
    const dp_share dp_own = share; \
    const ulong dp_slack = DP_LANE_SLACK(dp_own.end - dp_own.base); \
    ulong dp_top = dp_own.base;
/* One lane that executes a whole loop has all of the memory. A lane that counts may execute so many statements for each launch of a
 * round: where it finds more to do, it leaves all to launches. It begins with `first` times as many, and what loops may spend whose
 * rounds are known by number; what rounds do not need is kept for later ones, up to DP_LANE_KEPT times. One operation of rounds that
 * are known by number may take an eighth: else it would be late that all is left to launches. Where one lane has, others do nothing. */
#define DP_LANE_KEPT 64
#define DP_LANE_OPEN_WHOLE(memory) \
    DP_LANE_OPEN_SHARE(dp_lane_whole(heap, memory)) \
    DP_LANE_COUNT(memory, 4)
#define DP_LANE_COUNT(memory, first) \
    const long dp_spends = *DP_AT(long, DP_ADDR(memory) + 16); \
    long dp_left = *(volatile __global int *)heap ? -0x4000000000000000L : dp_spends * (first), dp_once = 0x7fffffffffffffffL;
#define DP_LANE_LOOK \
    if (dp_left < 0 && !failed) { \
        dp_error(heap, DP_NO_ROOM, 0, 0, 0); \
        failed = 1; \
    }
#define DP_LANE_SPEND_MOST(statements) dp_left = (statements) > dp_once ? -1 : dp_left - (statements);
#define DP_LANE_SPEND(statements) DP_LANE_SPEND_MOST(statements) DP_LANE_LOOK
#define DP_LANE_CREDIT(launches, rounds) \
    dp_left += dp_spends * (launches) * ((rounds) < 0 ? 0 : (rounds) < 65536 ? (rounds) : 65536); \
    dp_once = dp_left / 8 > dp_spends * 4 ? dp_left / 8 : dp_spends * 4;
#define DP_LANE_EARN(launches) \
    dp_left += dp_spends * (launches); \
    if (dp_left > dp_spends * DP_LANE_KEPT) \
        dp_left = dp_spends * DP_LANE_KEPT;
#define DP_LANE_ROUND(launches) DP_LANE_EARN(launches) DP_LANE_LOOK

typedef dp_bool __attribute__((may_alias)) dp_bool_any;
typedef dp_i8 __attribute__((may_alias)) dp_i8_any;
typedef dp_i16 __attribute__((may_alias)) dp_i16_any;
typedef dp_i32 __attribute__((may_alias)) dp_i32_any;
typedef dp_i64 __attribute__((may_alias)) dp_i64_any;
typedef dp_u8 __attribute__((may_alias)) dp_u8_any;
typedef dp_u16 __attribute__((may_alias)) dp_u16_any;
typedef dp_u32 __attribute__((may_alias)) dp_u32_any;
typedef dp_u64 __attribute__((may_alias)) dp_u64_any;
typedef dp_f32 __attribute__((may_alias)) dp_f32_any;
#ifdef DP_HAS_F64
typedef dp_f64 __attribute__((may_alias)) dp_f64_any;
#endif
typedef dp_view __attribute__((may_alias)) dp_view_any;

/* A lane's share is [base, end), as if it lay in one piece. On GPUs neighbouring lanes' shares may lie by turns, 16 bytes of
 * each, so that lanes that do the same read and write side by side. Address a of what lies by turns is found DP_ABREAST - 1 times a's
 * whole 16 bytes, and `shift`, further. DP_SHARE_AT is of what is known to lie in the share; an address in no share is one of the heap: DP_LANE_AT
 * asks which it is. */
#ifndef DP_BY_TURNS
#define DP_BY_TURNS 0
#endif
#define DP_ABREAST 32UL
typedef struct dp_share {
    ulong base, end, turns, shift; /* turns: of an address, the bits that lie by turns; else 0, as is the shift */
} dp_share;
static inline dp_share dp_lane_share(DP_HEAP, dp_view memory)
{
    const ulong start = DP_ADDR(memory) + DP_LANE_HEADER + DP_LANE_GIVEN(memory), bytes = DP_ADDR(memory) + DP_LEN(memory) * 8 - start;
    const ulong lane = get_global_id(0), l = lane % DP_ABREAST, all = (get_global_size(0) + DP_ABREAST - 1) & ~(DP_ABREAST - 1);
    const ulong room = bytes / (DP_BY_TURNS ? all : get_global_size(0)) & ~15UL, base = start + room * lane;
    if (!DP_BY_TURNS || !*DP_AT(ulong, DP_ADDR(memory) + 24))
        return (dp_share){base, base + room, 0, 0};
    return (dp_share){base, base + room, ~15UL, base - room * l + 16 * l - base * DP_ABREAST};
}
static inline dp_share dp_lane_whole(DP_HEAP, dp_view memory)
{
    return (dp_share){DP_ADDR(memory) + DP_LANE_HEADER + DP_LANE_GIVEN(memory), DP_ADDR(memory) + DP_LEN(memory) * 8, 0, 0};
}
static inline ulong dp_share_place(dp_share own, ulong address)
{
    return address + (address & own.turns) * (DP_ABREAST - 1) + own.shift;
}
static inline ulong dp_lane_place(dp_share own, ulong address)
{
    return own.turns && address - own.base < own.end - own.base ? dp_share_place(own, address) : address;
}
#if DP_BY_TURNS
#define DP_SHARE_AT(T, address) DP_AT(T, dp_share_place(dp_own, address))
#define DP_LANE_AT(T, address) DP_AT(T, dp_lane_place(dp_own, address))
#else
#define DP_SHARE_AT DP_AT
#define DP_LANE_AT DP_AT
#endif

/* n elements with nothing in them; after a failure n may be anything. */
static inline dp_view dp_lane_make(DP_HEAP, ulong *top, dp_share dp_own, ulong n, uint bytes, dp_bool *failed)
{
    const ulong at = *top;
    if (*failed)
        return dp_make_view(0, dp_own.base);
    if (n > (dp_own.end - at) / bytes) {
        dp_error(heap, DP_NO_ROOM, (long)n, 0, 0);
        *failed = 1;
        return dp_make_view(0, dp_own.base);
    }
    *top = at + (n * bytes + 15 & ~15UL);
    return dp_make_view(n, at);
}

/* Where an array lies that makes way for what is made of it, if that is no longer. */
static inline dp_view dp_lane_over(DP_HEAP, ulong *top, dp_share dp_own, dp_view v, ulong n, uint bytes, dp_bool *failed)
{
    return n <= DP_LEN(v) && !*failed ? dp_make_view(n, DP_ADDR(v)) : dp_lane_make(heap, top, dp_own, n, bytes, failed);
}

static inline ulong dp_lane_limit(dp_share dp_own, ulong mark, ulong top, ulong slack)
{
    const ulong state = top - mark, room = dp_own.end - top;
    return top + max(slack, min(state, room > state ? (room - state) / 2 : 0));
}

/* n elements into the share, or out of it. Places may overlap if the new one comes first. */
#define DP_LANE_TAKE(T, TO, FROM) \
    for (ulong k = 0; k < n; k++) \
        *TO(T, to + k * sizeof(T)) = *FROM(T, from + k * sizeof(T));
#define DP_LANE_TAKES(name, TO, FROM) \
    static inline void name(DP_HEAP, dp_share dp_own, ulong to, ulong from, ulong n, uint bytes) \
    { \
        if (to == from) \
            return; \
        switch (bytes) { \
        case 1: DP_LANE_TAKE(dp_u8_any, TO, FROM) break; \
        case 2: DP_LANE_TAKE(dp_u16_any, TO, FROM) break; \
        case 4: DP_LANE_TAKE(dp_u32_any, TO, FROM) break; \
        case 8: DP_LANE_TAKE(dp_u64_any, TO, FROM) break; \
        default: DP_LANE_TAKE(dp_view_any, TO, FROM) \
        } \
    }
DP_LANE_TAKES(dp_lane_put, DP_SHARE_AT, DP_LANE_AT)
DP_LANE_TAKES(dp_lane_put_out, DP_AT, DP_SHARE_AT)

static inline dp_view dp_lane_copy(DP_HEAP, ulong *top, dp_share dp_own, dp_view v, uint bytes, dp_bool *failed)
{
    const dp_view made = dp_lane_make(heap, top, dp_own, DP_LEN(v), bytes, failed);
    dp_lane_put(heap, dp_own, DP_ADDR(made), DP_ADDR(v), DP_LEN(made), bytes);
    return made;
}

/* A loop's state that begins as an array from in front of the lane: a copy of that may be there already (dp_lane_begins), once. In
 * front of what is given stand the arrays, their lengths and the copies. */
static inline dp_view dp_lane_begin(DP_HEAP, dp_view memory, ulong *top, dp_share dp_own, dp_view v, uint bytes, dp_bool *failed)
{
    const ulong n = *DP_AT(ulong, DP_ADDR(memory) + 24);
    for (ulong k = 0; k < n; k++) {
        __global ulong *begin = DP_AT(ulong, DP_ADDR(memory) + DP_LANE_HEADER + 24 * k);
        const ulong copy = begin[2];
        if (begin[0] == DP_ADDR(v) && begin[1] == DP_LEN(v) && copy) {
            begin[2] = 0;
            return dp_make_view(DP_LEN(v), copy);
        }
    }
    return dp_lane_copy(heap, top, dp_own, v, bytes, failed);
}

/* The length of all rows; 0 where there are none. */
static inline long dp_lane_row(DP_HEAP, dp_share dp_own, dp_view rows, dp_bool *failed)
{
    const ulong n = DP_LEN(rows) > 0 && !*failed ? DP_LEN(*DP_LANE_AT(dp_view_any, DP_ADDR(rows))) : 0;
    for (ulong i = 1; i < DP_LEN(rows) && !*failed; i++)
        if (DP_LEN(*DP_LANE_AT(dp_view_any, DP_ADDR(rows) + 16 * i)) != n) {
            dp_error(heap, DP_NO_ROOM, 0, 0, 0);
            *failed = 1;
        }
    return (long)n;
}

/* All rows' elements, one behind the other. */
static inline dp_view dp_lane_flatten(DP_HEAP, ulong *top, dp_share dp_own, dp_view rows, uint bytes, dp_bool *failed)
{
    ulong n = 0;
    if (*failed)
        return dp_make_view(0, 0);
    for (ulong i = 0; i < DP_LEN(rows); i++)
        n += DP_LEN(*DP_LANE_AT(dp_view_any, DP_ADDR(rows) + 16 * i));
    const dp_view made = dp_lane_make(heap, top, dp_own, n, bytes, failed);
    ulong at = DP_ADDR(made);
    for (ulong i = 0; i < DP_LEN(rows) && !*failed; i++) {
        const dp_view row = *DP_LANE_AT(dp_view_any, DP_ADDR(rows) + 16 * i);
        dp_lane_put(heap, dp_own, at, DP_ADDR(row), DP_LEN(row), bytes);
        at += DP_LEN(row) * bytes;
    }
    return made;
}

/* What lies in [from, to), with all rows that do, anew; the rest stays: an array of rows, too, that lies before, and has had rows
 * replaced where it is. By how deep rows are nested. */
#define DP_LANE_LIES(v, from, to) (DP_LEN(v) > 0 && DP_ADDR(v) >= (from) && DP_ADDR(v) < (to))
static inline dp_view dp_lane_move1(DP_HEAP, ulong *top, dp_share dp_own, dp_view v, uint bytes, ulong from, ulong to, dp_bool *failed)
{
    return DP_LANE_LIES(v, from, to) ? dp_lane_copy(heap, top, dp_own, v, bytes, failed) : v;
}
#define DP_LANE_MOVE(rank, below) \
    static inline dp_view dp_lane_move##rank(DP_HEAP, ulong *top, dp_share dp_own, dp_view v, uint bytes, ulong from, ulong to, dp_bool *failed) \
    { \
        const dp_view rows = dp_lane_move1(heap, top, dp_own, v, 16, from, to, failed); \
        for (ulong i = 0; DP_LANE_LIES(rows, dp_own.base, dp_own.end) && i < DP_LEN(rows) && !*failed; i++) { \
            __global dp_view_any *row = DP_SHARE_AT(dp_view_any, DP_ADDR(rows) + 16 * i); \
            *row = dp_lane_move##below(heap, top, dp_own, *row, bytes, from, to, failed); \
        } \
        return rows; \
    }
DP_LANE_MOVE(2, 1)
DP_LANE_MOVE(3, 2)

/* An array that a lane gives: as it is if it lies in the heap, else where it stays. */
static inline dp_view dp_lane_give(DP_HEAP, dp_view memory, dp_view v, uint bytes, dp_share dp_own, dp_bool *failed)
{
    const ulong size = (DP_LEN(v) * bytes + 15) / 16, room = DP_LANE_GIVEN(memory) / 16;
    if (*failed || !DP_LANE_LIES(v, dp_own.base, dp_own.end))
        return *failed ? dp_make_view(0, 0) : v;
    const ulong at = size > room ? room : atomic_add((volatile __global uint *)DP_AT(uint, DP_ADDR(memory)), (uint)size);
    if (at + size > room) {
        dp_error(heap, DP_NO_ROOM, (long)size, 0, 0);
        *failed = 1;
        return dp_make_view(0, 0);
    }
    const dp_view given = dp_make_view(DP_LEN(v), DP_ADDR(memory) + DP_LANE_HEADER + 16 * at);
    dp_lane_put_out(heap, dp_own, DP_ADDR(given), DP_ADDR(v), DP_LEN(v), bytes);
    return given;
}

/* Offsets: where the segments of a context begin, and after the last one where it ends. A word of two kinds: the address of
 * stored u64 numbers or, with the highest bit, the length that all segments have: a *regular* context needs nothing stored. */
#define DP_REGULAR 0x8000000000000000UL
#define DP_OFFSET(offsets, k) dp_offset(heap, (offsets), (k))
static inline ulong dp_offset(DP_HEAP, ulong offsets, ulong k)
{
    return offsets & DP_REGULAR ? (offsets & ~DP_REGULAR) * k : *DP_AT(ulong, offsets + 8 * k);
}

/* i / n, by 32-bit numbers where they do: devices have no 64-bit division. */
static inline ulong dp_divide(ulong i, ulong n)
{
    return (i | n) >> 32 ? i / n : (uint)i / (uint)n;
}

/* The segment of element i of a regular context; there is an element, so the length is not 0. */
static inline ulong dp_regular_segment(ulong offsets, ulong i) { return dp_divide(i, offsets & ~DP_REGULAR); }

/* The instance of an ancestor that instance i comes from. Paths: 0 is the identity, an address holds u32 indices, and with the
 * highest bit it is i / stride. */
static inline ulong dp_at(DP_HEAP, ulong path, ulong i)
{
    if (path & DP_REGULAR)
        return dp_regular_segment(path, i);
    return path ? *DP_AT(uint, path + 4 * i) : i;
}

/* The segment s in [lo, hi) with offsets[s] <= i < offsets[s + 1] (empty segments are skipped), if it is one of these. */
static inline ulong dp_segment_between(DP_HEAP, ulong offsets, ulong lo, ulong hi, ulong i)
{
    if (offsets & DP_REGULAR && hi - lo > 2)
        return min(max(dp_regular_segment(offsets, i), lo), hi - 1);
    while (hi - lo > 1) {
        ulong mid = lo + (hi - lo) / 2;
        if (DP_OFFSET(offsets, mid) <= i)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* The same from lo on, where it is probably near. */
static inline ulong dp_segment_near(DP_HEAP, ulong offsets, ulong lo, ulong nseg, ulong i)
{
    ulong hi = lo + 1;
    for (ulong step = 1; hi < nseg && DP_OFFSET(offsets, hi) <= i; step *= 2) {
        lo = hi;
        hi = min(hi + step, nseg);
    }
    return dp_segment_between(heap, offsets, lo, hi, i);
}

/* The first segment from s on that ends behind i: a few steps, then a search, for there may be millions of empty segments. */
static inline ulong dp_skip_empty(DP_HEAP, ulong offsets, ulong nseg, ulong s, ulong i)
{
    if (offsets & DP_REGULAR)
        return i >= (offsets & ~DP_REGULAR) * (s + 1) ? dp_regular_segment(offsets, i) : s;
    for (uint step = 0; step < 16; step++, s++)
        if (*DP_AT(ulong, offsets + 8 * (s + 1)) > i)
            return s;
    return dp_segment_between(heap, offsets, s, nseg, i);
}

/* Chunk `c` of `chunks` of n things begins here; balanced, and free of overflow for n < 2^48. */
static inline ulong dp_chunk_start(ulong n, ulong chunks, ulong c)
{
    return n / chunks * c + n % chunks * c / chunks;
}

/* DP_FENCE: there is a fence behind which the whole device sees what this work-item has written, and this work-item what others
 * had made visible so. On NVIDIA's GPUs mem_fence orders for the work-group only; PoCL's work-items are threads of the CPU. */
#if DP_NVIDIA
#define DP_FENCE 1
#define DP_DEVICE_FENCE() asm volatile("membar.gl;" ::: "memory")
#elif DP_POCL
#define DP_FENCE 1
#define DP_DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

/* For the work-item that has written what its work-group leaves to the others: `last` (a uint) says whether this is the group that comes last. Then
 * a fence behind the next barrier lets the group see what all have left. `counter`: a u32, 0 before and after. */
#define DP_IS_LAST_GROUP(last, counter) \
    DP_DEVICE_FENCE(); \
    last = atomic_inc((volatile __global uint *)(heap + (counter))) + 1 == (uint)get_num_groups(0); \
    if (last) \
        atomic_xchg((volatile __global uint *)(heap + (counter)), 0U);
/* Behind that barrier: only the group that comes last goes on, with that fence. PoCL bears no return before a barrier: there the others find nothing to do. */
#if DP_NVIDIA
#define DP_ONLY_LAST_GROUP(last) \
    if (!(last)) \
        return; \
    DP_DEVICE_FENCE();
#else
#define DP_ONLY_LAST_GROUP(last) \
    if (last) \
        DP_DEVICE_FENCE();
#endif

/* DP_WARPS: the 32 work-items of a row of a work-group can see each other's words without local memory. All of them must come here. */
#if DP_NVIDIA
#define DP_WARPS 1
#define DP_WARP_BARRIER() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
static inline uint dp_warp_ballot(uint yes)
{
    uint r;
    asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff;}" : "=r"(r) : "r"(yes));
    return r;
}
/* The word of the work-item `by` behind, or its own beyond the end. */
static inline uint dp_warp_down(uint word, uint by)
{
    uint r;
    asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(r) : "r"(word), "r"(by));
    return r;
}
/* The word of the work-item `by` before, or its own where there is none. */
static inline ulong dp_warp_up(ulong word, uint by)
{
    uint low, high;
    asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(low) : "r"((uint)word), "r"(by));
    asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(high) : "r"((uint)(word >> 32)), "r"(by));
    return (ulong)high << 32 | low;
}
#else
#define DP_WARP_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#endif

/* What is found of segments that are split by length (teams.cl), at `list`: the u32 numbers of pieces, of long segments and of ranges; from DP_LIST_HEAD on for each range of
 * neighbouring segments a uint2, the first one and how many; at `entries` for each long segment its number, its first piece, how many of its pieces are done, and its elements: where
 * they begin, and how many; at `pieces` for each piece where its segment stands among the long ones. */
enum { DP_SUMS_HEAD = 16, DP_LIST_HEAD = 16, DP_LIST_BYTES = 32 };
#define DP_PIECES_OF(elements) (((elements) + (1UL << piece_log) - 1) >> piece_log) /* of 2^piece_log */

/* Of nseg segments whose offsets have not been made: sums by tiles (rows.cl). At `sums`, behind a head, for each tile where it begins and a word of its sum, and what is known of it; then
 * for each tile where its segments begin in it, as u16, and behind them as u32: these are there if the sum is DP_ROW_FAR or more, for which the first stand. Whatever the lengths are, none begins behind the n elements. */
enum { DP_TILE_ROWS = 2048, DP_TILE_KINDS = 60, DP_ROW_FAR = USHRT_MAX };
enum { DP_TILE_WRONG = 1, DP_TILE_OVER = 2, DP_TILE_LONG = 4 }; /* kinds: is a length beyond u32, `alike`, `most`? The head has them of all, 0: there is nothing to split. */
#define DP_TILE_SUM ((1UL << DP_TILE_KINDS) - 1)
static inline ulong2 dp_tile_of(DP_HEAP, ulong sums, ulong s) { return *DP_AT(ulong2, sums + DP_SUMS_HEAD + 16 * (s / DP_TILE_ROWS)); }
/* Of the tile in which segment s is the `row`th one. */
static inline ulong dp_row_numbers(ulong sums, ulong nseg, ulong s, uint row)
{
    return sums + DP_SUMS_HEAD + 16 * ((nseg + DP_TILE_ROWS - 1) / DP_TILE_ROWS) + (sizeof(ushort) + sizeof(uint)) * (s - row);
}
#define DP_ROW_NEAR_AT(numbers, row) ((numbers) + 2 * (row))
#define DP_ROW_FAR_AT(numbers, row) ((numbers) + 2 * DP_TILE_ROWS + 4 * (row))
static inline uint dp_row_number(DP_HEAP, ulong numbers, uint row)
{
    const uint number = *DP_AT(ushort, DP_ROW_NEAR_AT(numbers, row));
    return number < DP_ROW_FAR ? number : *DP_AT(uint, DP_ROW_FAR_AT(numbers, row));
}
static inline ulong dp_row_start(DP_HEAP, ulong sums, ulong n, ulong nseg, ulong s)
{
    const uint row = (uint)s & (DP_TILE_ROWS - 1);
    return s < nseg ? min(dp_tile_of(heap, sums, s).x + dp_row_number(heap, dp_row_numbers(sums, nseg, s, row), row), n) : n;
}

/* Bits of carries (carry.cl). */
enum { DP_RESET = 1, DP_HAS = 2, DP_EMITTED = 4 };

/* Where a kernel leaves the few words that the host wants to know (DP_MAILBOX in internal.h). */
#define DP_MAILBOX 64
#define DP_BIN_INSTANCES 2048 /* for hist_reduce.cl */
