/* Offsets from lengths, and what strategies are chosen by: the total, the longest, and how many there are by powers of two.
 *
 * The n lengths are i64, `stride` bytes from one to the next (views begin with theirs). A negative one (its failure has been
 * recorded) counts as 0; sums are sizes (dp_size.h). dp_lengths_count leaves for each chunk what its lengths come to: so many
 * DP_LENGTHS words; dp_lengths_write goes over them again, stores n + 1 offsets, and brings all of it to the mailbox, to `mail`. Of a single
 * chunk it finds that out itself.
 *
 * Word 0: the sum; 1: the longest; 2: the least, if it is negative, else 0; from 3 on u32 counts: [0] of the empty, [k] of those from 2^(k-1) on and below 2^k, the last of all
 * longer ones, too. */
enum { DP_LENGTH_CLASSES = 32, DP_LENGTHS = 3 + DP_LENGTH_CLASSES / 2 };
#define DP_SUM(part, k) (*DP_AT(ulong, (part) + 8 * DP_LENGTHS * (k)))
#define DP_LONGEST(part, k) (*DP_AT(ulong, (part) + 8 * (DP_LENGTHS * (k) + 1)))
#define DP_LEAST(part, k) (*DP_AT(long, (part) + 8 * (DP_LENGTHS * (k) + 2)))
#define DP_COUNTS(part, k) DP_AT(uint, (part) + 8 * (DP_LENGTHS * (k) + 3))

#define DP_LENGTH(i) (*DP_AT(long, address + (i) * stride))
static inline ulong dp_length(DP_HEAP, ulong address, ulong stride, ulong i) { return (ulong)max(DP_LENGTH(i), 0L); }

static inline uint dp_length_class(ulong length) { return min((uint)(64 - clz(length)), (uint)DP_LENGTH_CLASSES - 1); }

#if DP_CPU
/* Two sets of counters: neighbours are often of one class, and would wait for each other. */
static inline void dp_lengths_of_chunk(DP_HEAP, ulong lo, ulong hi, ulong address, ulong stride, ulong part)
{
    uint counts[2][DP_LENGTH_CLASSES];
    ulong sum = 0, longest = 0;
    long least = 0;
    for (uint k = 0; k < DP_LENGTH_CLASSES; k++)
        counts[0][k] = counts[1][k] = 0;
    for (ulong i = lo; i < hi; i++) {
        ulong length = dp_length(heap, address, stride, i);
        sum = dp_size_add(sum, length);
        longest = max(longest, length);
        least = min(least, DP_LENGTH(i));
        counts[i & 1][dp_length_class(length)]++;
    }
    DP_SUM(part, 0) = sum;
    DP_LONGEST(part, 0) = longest;
    DP_LEAST(part, 0) = least;
    for (uint k = 0; k < DP_LENGTH_CLASSES; k++)
        DP_COUNTS(part, 0)[k] = counts[0][k] + counts[1][k];
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
    ulong hi = dp_chunk_start(n, chunks, chunk + 1);
    if (chunks == 1)
        dp_lengths_of_chunk(heap, 0, n, address, stride, part);
    for (ulong k = 0; k < chunk; k++)
        sum = dp_size_add(sum, DP_SUM(part, k));
    for (ulong i = dp_chunk_start(n, chunks, chunk); i < hi; i++) {
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
    for (uint c = 0; c < DP_LENGTH_CLASSES; c++) {
        uint count = 0;
        for (ulong k = 0; k < chunks; k++)
            count += DP_COUNTS(part, k)[c];
        DP_COUNTS(mail, 0)[c] = count;
    }
}

#else /* GPU */
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
    __local uint counts[DP_LENGTH_CLASSES];
    uint l = get_local_id(0);
    long low = 0;
    ulong chunk = get_group_id(0), chunks = get_num_groups(0), sum = 0, top = 0;
    ulong hi = dp_chunk_start(n, chunks, chunk + 1);
    if (l < DP_LENGTH_CLASSES)
        counts[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 4
    for (ulong i = dp_chunk_start(n, chunks, chunk) + l; i < hi; i += DP_WG) {
        ulong length = dp_length(heap, address, stride, i);
        sum = dp_size_add(sum, length);
        top = max(top, length);
        low = min(low, DP_LENGTH(i));
        atomic_inc(&counts[dp_length_class(length)]);
    }
    DP_LENGTHS_JOIN()
    if (l == 0) {
        DP_SUM(part, chunk) = sums[0];
        DP_LONGEST(part, chunk) = tops[0];
        DP_LEAST(part, chunk) = lows[0];
    }
    if (l < DP_LENGTH_CLASSES)
        DP_COUNTS(part, chunk)[l] = counts[l];
}

/* Straight-line, for a barrier may not stand in a nested loop. */
#define DP_LENGTHS_STEP(d, from, to) \
    all = sums[from][l]; \
    if (l >= d) \
        all = dp_size_add(all, sums[from][l - d]); \
    sums[to][l] = all; \
    barrier(CLK_LOCAL_MEM_FENCE);
enum { DP_LENGTHS_EACH = 8, DP_LENGTHS_TILE = DP_LENGTHS_EACH * DP_WG };

DP_KERNEL void dp_lengths_write(DP_HEAP, ulong n, ulong address, ulong stride, ulong offsets, ulong part, ulong mail)
{
    __local ulong sums[2][DP_WG], tops[DP_WG], stage[DP_LENGTHS_TILE + DP_LENGTHS_TILE / 16];
    __local long lows[DP_WG];
    long low = 0;
    __local uint counts[DP_LENGTH_CLASSES];
    uint l = get_local_id(0);
    ulong chunk = get_group_id(0), chunks = get_num_groups(0), base = 0, top = 0, all = 0;
    ulong at = dp_chunk_start(n, chunks, chunk), hi = dp_chunk_start(n, chunks, chunk + 1);
    if (l < DP_LENGTH_CLASSES)
        counts[l] = 0;
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
                atomic_inc(&counts[dp_length_class(length)]);
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
    tops[l] = top;
    lows[l] = low;
    if (chunk + 1 == chunks && l == 0) {
        *DP_AT(ulong, offsets + 8 * n) = base;
        DP_SUM(mail, 0) = base;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (chunk)
        return;
    if (l < DP_LENGTH_CLASSES) {
        uint count = counts[l];
        for (ulong k = 0; k < chunks && chunks > 1; k++)
            count += DP_COUNTS(part, k)[l];
        DP_COUNTS(mail, 0)[l] = count;
    } else if (l == DP_LENGTH_CLASSES) {
        for (uint k = 0; k < DP_WG; k++) {
            top = max(top, tops[k]);
            low = min(low, lows[k]);
        }
        for (ulong k = 0; k < chunks && chunks > 1; k++) {
            top = max(top, DP_LONGEST(part, k));
            low = min(low, DP_LEAST(part, k));
        }
        DP_LONGEST(mail, 0) = top;
        DP_LEAST(mail, 0) = low;
    }
}
#endif
