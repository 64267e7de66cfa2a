/* Offsets from lengths, and what strategies are chosen by: the total and the longest.
 *
 * The n lengths are i64, `stride` bytes from one to the next (views begin with theirs). A negative one (its failure will be
 * recorded) counts as 0; sums are sizes (dp_size.h). n + 1 offsets are stored, and three words brought to the mailbox, to `mail`: the
 * sum; the longest, at most DP_LONG; the least, if it is negative, else 0.
 *
 * dp_lengths_count leaves for each chunk what its lengths come to, DP_LENGTHS words; dp_lengths_write goes over them again. Of a
 * single chunk it finds that out itself. On a GPU whose work-groups may wait for others dp_lengths_onepass does it all, by tickets and
 * looking back as in pack.cl. For the least it says no more than whether it is negative, -1; then dp_lengths_least finds it. */
enum { DP_LENGTHS = 3 };
#define DP_LONG ((1UL << 47) - 1) /* longer than any array */
#define DP_SUM(part, k) (*DP_AT(ulong, (part) + 8 * DP_LENGTHS * (k)))
#define DP_LONGEST(part, k) (*DP_AT(ulong, (part) + 8 * (DP_LENGTHS * (k) + 1)))
#define DP_LEAST(part, k) (*DP_AT(long, (part) + 8 * (DP_LENGTHS * (k) + 2)))

#define DP_LENGTH(i) (*DP_AT(long, address + (i) * stride))
static inline ulong dp_length(DP_HEAP, ulong address, ulong stride, ulong i) { return (ulong)max(DP_LENGTH(i), 0L); }

#if DP_CPU
typedef ulong8 dp_eight __attribute__((aligned(8)));
enum { DP_LENGTHS_BLOCK = 64 };

/* Blocks of ordinary lengths in vectors. */
static inline void dp_lengths_of_chunk(DP_HEAP, ulong lo, ulong hi, ulong address, ulong stride, ulong part)
{
    ulong sum = 0, longest = 0;
    long least = 0;
    for (ulong i = lo, end; i < hi; i = end) {
        ulong all = 0, top = 0;
        end = min(hi, i + DP_LENGTHS_BLOCK);
        if (stride == 8 && end - i == DP_LENGTHS_BLOCK) {
            dp_eight sums = 0, tops = 0;
            for (uint k = 0; k < DP_LENGTHS_BLOCK; k += 8) {
                dp_eight x = *DP_AT(dp_eight, address + 8 * (i + k));
                sums += x;
                tops = x > tops ? x : tops;
            }
            for (uint k = 0; k < 8; k++) {
                all += sums[k];
                top = max(top, tops[k]);
            }
        } else {
            for (ulong k = i; k < end; k++) {
                all += (ulong)DP_LENGTH(k);
                top = max(top, (ulong)DP_LENGTH(k));
            }
        }
        if (top <= DP_LONG) {
            sum = dp_size_add(sum, all);
            longest = max(longest, top);
            continue;
        }
        for (ulong k = i; k < end; k++) {
            ulong length = dp_length(heap, address, stride, k);
            sum = dp_size_add(sum, length);
            longest = max(longest, length);
            least = min(least, DP_LENGTH(k));
        }
    }
    DP_SUM(part, 0) = sum;
    DP_LONGEST(part, 0) = min(longest, DP_LONG);
    DP_LEAST(part, 0) = least;
}

DP_KERNEL void dp_lengths_count(DP_HEAP, ulong n, ulong address, ulong stride, ulong offsets, ulong part, ulong mail)
{
    ulong chunk = get_global_id(0), chunks = get_global_size(0);
    dp_lengths_of_chunk(heap, dp_chunk_start(n, chunks, chunk), dp_chunk_start(n, chunks, chunk + 1), address, stride,
                        part + 8 * DP_LENGTHS * chunk);
}

DP_KERNEL void dp_lengths_write(DP_HEAP, ulong n, ulong address, ulong stride, ulong offsets, ulong part, ulong mail)
{
    ulong chunk = get_global_id(0), chunks = get_global_size(0), sum = 0;
    ulong i = dp_chunk_start(n, chunks, chunk), hi = dp_chunk_start(n, chunks, chunk + 1);
    if (chunks == 1)
        dp_lengths_of_chunk(heap, 0, n, address, stride, part);
    for (ulong k = 0; k < chunk; k++)
        sum = dp_size_add(sum, DP_SUM(part, k));
    if (dp_size_add(sum, DP_SUM(part, chunk)) < DP_SIZE_MAX)
        for (; i < hi; i++) {
            *DP_AT(ulong, offsets + 8 * i) = sum;
            sum += dp_length(heap, address, stride, i);
        }
    for (; i < hi; i++) {
        *DP_AT(ulong, offsets + 8 * i) = sum;
        sum = dp_size_add(sum, dp_length(heap, address, stride, i));
    }
    if (chunk + 1 < chunks)
        return;
    *DP_AT(ulong, offsets + 8 * n) = sum;
    DP_SUM(mail, 0) = sum;
    ulong longest = 0;
    long least = 0;
    for (ulong k = 0; k < chunks; k++) {
        longest = max(longest, DP_LONGEST(part, k));
        least = min(least, DP_LEAST(part, k));
    }
    DP_LONGEST(mail, 0) = longest;
    DP_LEAST(mail, 0) = least;
}

#else /* GPU */
enum { DP_LENGTHS_EACH = 8, DP_LENGTHS_TILE = DP_LENGTHS_EACH * DP_WG };
#define DP_LENGTHS_SLOT(j) ((j) + (j) / 16)


/* In any order. */
#define DP_LENGTHS_LOAD(LENGTHS, at, count) \
    _Pragma("unroll") for (uint q = 0; q < DP_LENGTHS_EACH; q++) { \
        const uint j = q * DP_WG + l; \
        LENGTHS[q] = j < (count) ? DP_LENGTH((at) + j) : 0; \
    }

#if DP_LOOKBACK
/* What tile t has published: two words, each with 14 bits of the launch's epoch and 2 of the kind, 1: of the tile alone, 2: of all up to it.
 * 48 bits of the sum; 47 of the longest and one that is set if there is a negative one. Where 48 bits do not hold the sum they are all ones,
 * and it stands behind the words of all tiles, in two. */
#define DP_PUBLISHED(t) ((volatile __global ulong2 *)(heap + state + 16))[t]
#define DP_PUBLISHED_HALF(t, kind, side) \
    ((volatile __global ulong *)(heap + state + 16))[2 * tiles + 4 * (t) + 2 * ((kind) - 1) + (side)]
#define DP_TOO_LONG ((1UL << 48) - 1)
#define DP_NEGATIVE (1UL << 47)

static inline void dp_lengths_publish(DP_HEAP, ulong state, ulong epoch, ulong tiles, ulong t, ulong kind, ulong sum, ulong top)
{
    const ulong head = (epoch << 2 | kind) << 48;
    if (sum >= DP_TOO_LONG) {
        DP_PUBLISHED_HALF(t, kind, 0) = epoch << 50 | (uint)sum;
        DP_PUBLISHED_HALF(t, kind, 1) = epoch << 50 | sum >> 32;
    }
    DP_PUBLISHED(t) = (ulong2)(head | min(sum, DP_TOO_LONG), head | top);
}

static inline ulong dp_lengths_half(DP_HEAP, ulong state, ulong epoch, ulong tiles, ulong t, uint kind, uint side)
{
    ulong word;
    do
        word = DP_PUBLISHED_HALF(t, kind, side);
    while (word >> 50 != epoch);
    return (uint)word;
}

/* The kind of what it has published; the sum and the longest. */
static inline uint dp_lengths_await(DP_HEAP, ulong state, ulong epoch, ulong tiles, ulong t, ulong *sum, ulong *top)
{
    ulong2 words;
    do
        words = DP_PUBLISHED(t);
    while (words.x >> 50 != epoch || words.x >> 48 != words.y >> 48);
    const uint kind = (uint)(words.x >> 48) & 3;
    *top = words.y & DP_TOO_LONG;
    *sum = words.x & DP_TOO_LONG;
    if (*sum == DP_TOO_LONG)
        *sum = dp_lengths_half(heap, state, epoch, tiles, t, kind, 0) |
               dp_lengths_half(heap, state, epoch, tiles, t, kind, 1) << 32;
    return kind;
}

/* A longest one with its sign, as it is published: with DP_NEGATIVE it is larger than any without. */
static inline ulong dp_lengths_top(ulong a, ulong b) { return max(a & ~DP_NEGATIVE, b & ~DP_NEGATIVE) | ((a | b) & DP_NEGATIVE); }

/* Of 16 neighbours each. More of them at once take registers, of which the next work-groups have need. */
#define DP_OF_SIXTEEN(all, STATEMENT) \
    _Pragma("unroll 4") for (uint q = 0; q < 16; q++) { \
        const ulong x = all[(l & ~15U) + q]; \
        STATEMENT \
    }

/* state: 0 of a single tile. */
DP_KERNEL void dp_lengths_onepass(DP_HEAP, ulong n, ulong address, ulong stride, ulong offsets, ulong mail, ulong state, ulong epoch,
                                  ulong tickets)
{
    __local ulong sums[DP_WG], tops[DP_WG], stage[DP_LENGTHS_SLOT(DP_LENGTHS_TILE)];
    __local ulong group_sums[DP_WG / 16], group_tops[DP_WG / 16];
    __local uint ticket[1], nearest[1];
    const uint l = get_local_id(0);
    __local ulong *loaded = stage + DP_LENGTHS_SLOT(l), *own = stage + DP_LENGTHS_SLOT(l * DP_LENGTHS_EACH); /* see carry.cl */
    const ulong tiles = get_num_groups(0);
    if (l == 0)
        ticket[0] = state ? atomic_inc((volatile __global uint *)(heap + state)) - (uint)tickets : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong t = ticket[0], at = t * DP_LENGTHS_TILE;
    const uint count = (uint)min((ulong)DP_LENGTHS_TILE, n - at);
    long length[DP_LENGTHS_EACH];
    ulong top = 0, sum = 0, ahead = 0, total = 0, before = 0, up_to[DP_LENGTHS_EACH];
    DP_LENGTHS_LOAD(length, at, count)
#pragma unroll
    for (uint q = 0; q < DP_LENGTHS_EACH; q++) {
        top = dp_lengths_top(top, length[q] < 0 ? DP_NEGATIVE : min((ulong)length[q], DP_LONG));
        loaded[DP_LENGTHS_SLOT(q * DP_WG)] = (ulong)max(length[q], 0L);
    }
    tops[l] = top;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint q = 0; q < DP_LENGTHS_EACH; q++) {
        up_to[q] = sum;
        sum = dp_size_add(sum, own[q]);
    }
    sums[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    DP_OF_SIXTEEN(sums, ahead = dp_size_add(ahead, q < (l & 15) ? x : 0);)
    if ((l & 15) == 15) {
        group_sums[l / 16] = dp_size_add(ahead, sum);
        DP_OF_SIXTEEN(tops, top = dp_lengths_top(top, x);)
        group_tops[l / 16] = top;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 4
    for (uint q = 0; q < DP_WG / 16; q++) {
        ahead = dp_size_add(ahead, q < l / 16 ? group_sums[q] : 0);
        total = dp_size_add(total, group_sums[q]);
        top = dp_lengths_top(top, group_tops[q]);
    }
    if (l == 0 && state)
        dp_lengths_publish(heap, state, epoch, tiles, t, t ? 1 : 2, total, top);
    uint open = t > 0;
    for (long back = (long)t - 1; open; back -= DP_WG) {
        ulong seen = 0, seen_top = 0;
        if (l == 0)
            nearest[0] = DP_WG;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (back >= (long)l && dp_lengths_await(heap, state, epoch, tiles, (ulong)back - l, &seen, &seen_top) == 2)
            atomic_min(nearest, l);
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[l] = l <= nearest[0] ? seen : 0;
        tops[l] = l <= nearest[0] ? seen_top : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((l & 15) == 0) {
            seen = seen_top = 0;
            DP_OF_SIXTEEN(sums, seen = dp_size_add(seen, x);)
            DP_OF_SIXTEEN(tops, seen_top = dp_lengths_top(seen_top, x);)
            group_sums[l / 16] = seen;
            group_tops[l / 16] = seen_top;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 4
        for (uint q = 0; q < DP_WG / 16; q++) {
            before = dp_size_add(before, group_sums[q]);
            top = dp_lengths_top(top, group_tops[q]);
        }
        open = nearest[0] == DP_WG;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    total = dp_size_add(before, total);
    if (l == 0 && t)
        dp_lengths_publish(heap, state, epoch, tiles, t, 2, total, top);
    if (l == 0 && t + 1 == tiles) {
        *DP_AT(ulong, offsets + 8 * n) = total;
        DP_SUM(mail, 0) = total;
        DP_LONGEST(mail, 0) = top & DP_LONG;
        DP_LEAST(mail, 0) = top & DP_NEGATIVE ? -1 : 0;
    }
    before = dp_size_add(before, ahead);
#pragma unroll
    for (uint q = 0; q < DP_LENGTHS_EACH; q++)
        own[q] = dp_size_add(before, up_to[q]);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint q = 0; q < DP_LENGTHS_EACH; q++) {
        const uint j = q * DP_WG + l;
        if (j < count)
            *DP_AT(ulong, offsets + 8 * (at + j)) = loaded[DP_LENGTHS_SLOT(q * DP_WG)];
    }
}

/* The least of n lengths, or 0, in lane 0. */
static inline long dp_lengths_low(DP_HEAP, ulong n, ulong address, ulong stride, __local long *lows, uint l)
{
    long low = 0;
    for (ulong i = l; i < n; i += DP_WG)
        low = min(low, DP_LENGTH(i));
    lows[l] = low;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < DP_WG && l == 0; k++)
        low = min(low, lows[k]);
    return low;
}

/* The least length, which is negative. One work-group. */
DP_KERNEL void dp_lengths_least(DP_HEAP, ulong n, ulong address, ulong stride, ulong mail)
{
    __local long lows[DP_WG];
    const uint l = get_local_id(0);
    const long low = dp_lengths_low(heap, n, address, stride, lows, l);
    if (l == 0)
        DP_LEAST(mail, 0) = low;
}

/* Are these, of which dp_lengths_onepass has left `said`, lengths of pieces of `total` elements? Else it reports the failure,
 * and lets the offsets end there. One work-group. */
DP_KERNEL void dp_lengths_check(DP_HEAP, ulong n, ulong address, ulong stride, ulong offsets, ulong said, ulong total, ulong negative,
                                ulong nest)
{
    __local long lows[DP_WG];
    const uint l = get_local_id(0);
    const ulong sum = DP_SUM(said, 0), wrong = sum != total || DP_LEAST(said, 0) < 0 ? n : 0;
    const long low = dp_lengths_low(heap, wrong, address, stride, lows, l);
    for (ulong i = l; i < wrong; i += DP_WG)
        *DP_AT(ulong, offsets + 8 * i) = min(*DP_AT(ulong, offsets + 8 * i), total);
    if (l == 0 && wrong) {
        *DP_AT(ulong, offsets + 8 * n) = total;
        if (low < 0)
            dp_error(heap, (uint)negative, low, 0, 0);
        else
            dp_error(heap, (uint)nest, (long)sum, (long)total, 0);
    }
}

#endif
/* Lane 0 gets the sum, the maximum and the minimum of all. */
#define DP_LENGTHS_JOIN() \
    sums[l] = sum; \
    tops[l] = top; \
    lows[l] = low; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    for (uint d = DP_WG / 2; d; d /= 2) { \
        if (l < d) { \
            sums[l] = dp_size_add(sums[l], sums[l + d]); \
            tops[l] = max(tops[l], tops[l + d]); \
            lows[l] = min(lows[l], lows[l + d]); \
        } \
        barrier(CLK_LOCAL_MEM_FENCE); \
    }

DP_KERNEL void dp_lengths_count(DP_HEAP, ulong n, ulong address, ulong stride, ulong offsets, ulong part, ulong mail)
{
    __local ulong sums[DP_WG], tops[DP_WG];
    __local long lows[DP_WG];
    uint l = get_local_id(0);
    long low = 0;
    ulong chunk = get_group_id(0), chunks = get_num_groups(0), sum = 0, top = 0;
    ulong hi = dp_chunk_start(n, chunks, chunk + 1);
#pragma unroll 4
    for (ulong i = dp_chunk_start(n, chunks, chunk) + l; i < hi; i += DP_WG) {
        ulong length = dp_length(heap, address, stride, i);
        sum = dp_size_add(sum, length);
        top = max(top, length);
        low = min(low, DP_LENGTH(i));
    }
    DP_LENGTHS_JOIN()
    if (l == 0) {
        DP_SUM(part, chunk) = sums[0];
        DP_LONGEST(part, chunk) = min(tops[0], DP_LONG);
        DP_LEAST(part, chunk) = lows[0];
    }
}

/* Straight-line, for a barrier may not stand in a nested loop. */
#define DP_LENGTHS_STEP(d, from, to) \
    all = sums[from][l]; \
    if (l >= d) \
        all = dp_size_add(all, sums[from][l - d]); \
    sums[to][l] = all; \
    barrier(CLK_LOCAL_MEM_FENCE);

DP_KERNEL void dp_lengths_write(DP_HEAP, ulong n, ulong address, ulong stride, ulong offsets, ulong part, ulong mail)
{
    __local ulong sums[2][DP_WG], tops[DP_WG], stage[DP_LENGTHS_TILE + DP_LENGTHS_TILE / 16];
    __local long lows[DP_WG];
    long low = 0;
    uint l = get_local_id(0);
    ulong chunk = get_group_id(0), chunks = get_num_groups(0), base = 0, top = 0, all = 0;
    ulong at = dp_chunk_start(n, chunks, chunk), hi = dp_chunk_start(n, chunks, chunk + 1);
    for (ulong k = l; k < chunk; k += DP_WG)
        all = dp_size_add(all, DP_SUM(part, k));
    sums[0][l] = all;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = DP_WG / 2; d; d /= 2) {
        if (l < d)
            sums[0][l] = dp_size_add(sums[0][l], sums[0][l + d]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    base = sums[0][0];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (; at < hi; at += DP_LENGTHS_TILE) {
        ulong mine[DP_LENGTHS_EACH];
        uint count = (uint)min((ulong)DP_LENGTHS_TILE, hi - at);
#pragma unroll
        for (uint q = 0; q < DP_LENGTHS_EACH; q++) {
            uint j = q * DP_WG + l;
            ulong length = j < count ? dp_length(heap, address, stride, at + j) : 0;
            stage[j + j / 16] = length;
            if (chunks == 1 && j < count) {
                top = max(top, length);
                low = min(low, DP_LENGTH(at + j));
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        ulong sum = 0;
#pragma unroll
        for (uint q = 0; q < DP_LENGTHS_EACH; q++) {
            uint j = l * DP_LENGTHS_EACH + q;
            mine[q] = sum;
            sum = dp_size_add(sum, stage[j + j / 16]);
        }
        sums[0][l] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        DP_LENGTHS_STEP(1, 0, 1) DP_LENGTHS_STEP(2, 1, 0) DP_LENGTHS_STEP(4, 0, 1) DP_LENGTHS_STEP(8, 1, 0)
        DP_LENGTHS_STEP(16, 0, 1) DP_LENGTHS_STEP(32, 1, 0) DP_LENGTHS_STEP(64, 0, 1) DP_LENGTHS_STEP(128, 1, 0)
        ulong before = l ? dp_size_add(base, sums[0][l - 1]) : base;
#pragma unroll
        for (uint q = 0; q < DP_LENGTHS_EACH; q++) {
            uint j = l * DP_LENGTHS_EACH + q;
            stage[j + j / 16] = dp_size_add(before, mine[q]);
        }
        base = dp_size_add(base, sums[0][DP_WG - 1]);
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint q = 0; q < DP_LENGTHS_EACH; q++) {
            uint j = q * DP_WG + l;
            if (j < count)
                *DP_AT(ulong, offsets + 8 * (at + j)) = stage[j + j / 16];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (ulong k = l; k < chunks && chunks > 1 && chunk == 0; k += DP_WG) {
        top = max(top, DP_LONGEST(part, k));
        low = min(low, DP_LEAST(part, k));
    }
    tops[l] = top;
    lows[l] = low;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = DP_WG / 2; d; d /= 2) {
        if (l < d) {
            tops[l] = max(tops[l], tops[l + d]);
            lows[l] = min(lows[l], lows[l + d]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (chunk + 1 == chunks && l == 0) {
        *DP_AT(ulong, offsets + 8 * n) = base;
        DP_SUM(mail, 0) = base;
    }
    if (chunk == 0 && l == 0) {
        DP_LONGEST(mail, 0) = min(tops[0], DP_LONG);
        DP_LEAST(mail, 0) = lows[0];
    }
}
#endif

/* Where views are not written their stride is 0, and `address` is the word of their offsets. */
static inline ulong dp_split_length(DP_HEAP, ulong address, ulong stride, ulong i)
{
    return stride ? dp_length(heap, address, stride, i) : DP_OFFSET(address, i + 1) - DP_OFFSET(address, i);
}

/* A split of n instances by a column of bools: those for which it holds go to `yes`, the others to `no`, as u32, in order. To the mailbox, to
 * `mail`: how many there are of each, and what the lengths in each of so many columns come to on either side (DP_SUM_WORDS): their sums, the
 * longest. On a GPU dp_split_sums takes up to DP_SPLIT_SMALL instances; of more dp_sides_sum leaves this for each chunk, and dp_sides_finish puts it
 * together. */
enum { DP_SUM_WORDS = 4 };
#define DP_SPLIT_COLUMNS ulong a0, ulong s0, ulong a1, ulong s1, ulong a2, ulong s2, ulong a3, ulong s3
#define DP_SPLIT_ADDRESS(k) ((k) < 2 ? ((k) == 0 ? a0 : a1) : ((k) == 2 ? a2 : a3))
#define DP_SPLIT_STRIDE(k) ((k) < 2 ? ((k) == 0 ? s0 : s1) : ((k) == 2 ? s2 : s3))
#define DP_WORD(address, k) (*DP_AT(ulong, (address) + 8 * (k)))

#if DP_CPU
DP_KERNEL void dp_split_sums(DP_HEAP, ulong n, ulong cond, ulong yes, ulong no, ulong mail, ulong columns, DP_SPLIT_COLUMNS)
{
    ulong count = 0;
    for (ulong i = 0; i < n; i++) {
        const bool holds = *DP_AT(uchar, cond + i) != 0;
        *DP_AT(uint, holds ? yes + 4 * count : no + 4 * (i - count)) = (uint)i;
        count += holds;
    }
    DP_WORD(mail, 0) = count;
    DP_WORD(mail, 1) = n - count;
    for (uint k = 0; k < columns; k++) {
        const ulong address = DP_SPLIT_ADDRESS(k), stride = DP_SPLIT_STRIDE(k);
        ulong sums[2] = {0, 0}, tops[2] = {0, 0};
        for (ulong i = 0; i < n; i++) {
            const uint side = *DP_AT(uchar, cond + i) == 0;
            const ulong length = dp_split_length(heap, address, stride, i);
            sums[side] = dp_size_add(sums[side], length);
            tops[side] = max(tops[side], length);
        }
        for (uint side = 0; side < 2; side++) {
            DP_WORD(mail, 2 + DP_SUM_WORDS * k + side) = sums[side];
            DP_WORD(mail, 4 + DP_SUM_WORDS * k + side) = tops[side];
        }
    }
}

#else
enum { DP_SPLIT_SMALL = 4096 };

/* Words 0 and 1 of each column are sums, 2 and 3 the longest. */
#define DP_SIDES_JOIN(w, a, b) ((w) & 2 ? max((a), (b)) : dp_size_add((a), (b)))

/* Lane l's part of column k over the instances [lo, hi). */
static inline void dp_sides_of_column(DP_HEAP, ulong cond, ulong lo, ulong hi, ulong address, ulong stride, uint l,
                                      __local ulong (*words)[DP_WG])
{
    ulong sums[2] = {0, 0}, tops[2] = {0, 0};
    for (ulong i = lo + l; i < hi; i += DP_WG) {
        const ulong length = dp_split_length(heap, address, stride, i);
        const bool holds = *DP_AT(uchar, cond + i) != 0;
        sums[0] = dp_size_add(sums[0], holds ? length : 0);
        sums[1] = dp_size_add(sums[1], holds ? 0 : length);
        tops[0] = max(tops[0], holds ? length : 0);
        tops[1] = max(tops[1], holds ? 0 : length);
    }
    for (uint side = 0; side < 2; side++) {
        words[side][l] = sums[side];
        words[2 + side][l] = tops[side];
    }
}

/* The lanes' words, halved: lanes below d take those of lanes d further. */
static inline void dp_sides_halve(uint d, uint l, uint nwords, __local ulong (*words)[DP_WG])
{
    if (l < d)
        for (uint w = 0; w < nwords; w++)
            words[w][l] = DP_SIDES_JOIN(w, words[w][l], words[w][l + d]);
}

/* One work-group. */
DP_KERNEL void dp_split_sums(DP_HEAP, ulong n, ulong cond, ulong yes, ulong no, ulong mail, ulong columns, DP_SPLIT_COLUMNS)
{
    __local uchar flags[DP_SPLIT_SMALL];
    __local ulong words[4 * DP_SUM_WORDS][DP_WG];
    __local uint counts[2][DP_WG];
    const uint l = get_local_id(0), run = (uint)(n + DP_WG - 1) / DP_WG, first = l * run;
    uint count = 0;
    for (uint j = l; j < run * DP_WG; j += DP_WG)
        flags[j] = j < n ? *DP_AT(uchar, cond + j) != 0 : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint q = 0; q < run; q++)
        count += flags[first + q];
    counts[0][l] = count;
    for (uint k = 0; k < columns; k++)
        dp_sides_of_column(heap, cond, 0, n, DP_SPLIT_ADDRESS(k), DP_SPLIT_STRIDE(k), l, words + DP_SUM_WORDS * k);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1, from = 0; d < DP_WG; d *= 2, from ^= 1) { /* eight steps: the last one leaves them in counts[0] */
        counts[from ^ 1][l] = counts[from][l] + (l >= d ? counts[from][l - d] : 0);
        dp_sides_halve(DP_WG / (2 * d), l, DP_SUM_WORDS * (uint)columns, words);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    count = counts[0][l] - count;
    for (uint i = first; i < first + run && i < n; i++) {
        *DP_AT(uint, flags[i] ? yes + 4 * count : no + 4 * (i - count)) = i;
        count += flags[i];
    }
    if (l < 2)
        DP_WORD(mail, l) = l ? n - counts[0][DP_WG - 1] : counts[0][DP_WG - 1];
    if (l < DP_SUM_WORDS * columns)
        DP_WORD(mail, 2 + l) = words[l][0];
}

DP_KERNEL void dp_sides_sum(DP_HEAP, ulong n, ulong cond, ulong part, ulong columns, DP_SPLIT_COLUMNS)
{
    __local ulong words[4 * DP_SUM_WORDS][DP_WG];
    const uint l = get_local_id(0);
    const ulong chunk = get_group_id(0), chunks = get_num_groups(0);
    const ulong lo = dp_chunk_start(n, chunks, chunk), hi = dp_chunk_start(n, chunks, chunk + 1);
    for (uint k = 0; k < columns; k++)
        dp_sides_of_column(heap, cond, lo, hi, DP_SPLIT_ADDRESS(k), DP_SPLIT_STRIDE(k), l, words + DP_SUM_WORDS * k);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = DP_WG / 2; d; d /= 2) {
        dp_sides_halve(d, l, DP_SUM_WORDS * (uint)columns, words);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l < DP_SUM_WORDS * columns)
        DP_WORD(part, DP_SUM_WORDS * columns * chunk + l) = words[l][0];
}

/* One work-group. */
DP_KERNEL void dp_sides_finish(DP_HEAP, ulong chunks, ulong part, ulong said, ulong columns)
{
    __local ulong words[4 * DP_SUM_WORDS][DP_WG];
    const uint l = get_local_id(0), nwords = DP_SUM_WORDS * (uint)columns;
    for (uint w = 0; w < nwords; w++) {
        ulong all = 0;
        for (ulong k = l; k < chunks; k += DP_WG)
            all = DP_SIDES_JOIN(w, all, DP_WORD(part, nwords * k + w));
        words[w][l] = all;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = DP_WG / 2; d; d /= 2) {
        dp_sides_halve(d, l, nwords, words);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l < nwords)
        DP_WORD(said, l) = words[l][0];
}
#endif
