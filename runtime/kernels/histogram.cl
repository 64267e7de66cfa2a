/* HIST: dp_body_at(i) gives a value and a bin of the instance's segment; bins start as the neutral element; out of range is ignored.
 * The bins of all segments lie one behind the other: segment s at bin_offsets[s] ... bin_offsets[s + 1]; with one segment all `size`.
 *
 * dp_hist_fill stores the neutral elements. Then either dp_hist_add combines every value into its bin, by one atomic or a
 * compare-and-swap loop (one value of 4 bytes, or of 8 where the device has 64-bit atomics); or dp_hist_list stores values and
 * bins, the runtime sorts the bins, and reduce.cl combines the runs (hist_reduce.cl).
 *
 * CPU: a work-item a chunk. GPU: a lane an instance, striding over the grid. Guards: i < n. Empty segments have no instances. */
#if DP_CPU
#define DP_KERNEL __kernel __attribute__((reqd_work_group_size(1, 1, 1)))
#define DP_EACH(i, n) \
    for (ulong i = dp_chunk_start(n, get_global_size(0), get_global_id(0)), \
               i##_end = dp_chunk_start(n, get_global_size(0), get_global_id(0) + 1); i < i##_end; i++)
#else
#define DP_KERNEL __kernel __attribute__((reqd_work_group_size(DP_WG, 1, 1)))
#define DP_EACH(i, n) for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
#endif

#if DP_SEGMENTED
#define DP_BINS(s) *DP_AT(ulong, bin_offsets + 8 * (s) + 8) - *DP_AT(ulong, bin_offsets + 8 * (s))
#define DP_FIRST_BIN(s) *DP_AT(ulong, bin_offsets + 8 * (s))
#else
#define DP_BINS(s) size
#define DP_FIRST_BIN(s) 0
#endif

/* n bins; offsets are the bins'. */
DP_KERNEL void dp_hist_fill(DP_HEAP, ulong n, ulong nseg, ulong offsets DP_WORDS DP_OUTS)
{
    DP_EACH(i, n)
        dp_store(heap, i, dp_neutral(heap, DP_SEG_OF(i) DP_PASS) DP_PASS_OUTS);
}

#if DP_HIST_BYTES == 4 || (DP_HIST_BYTES == 8 && defined(DP_HAS_ATOMICS64))
static inline void dp_combine(DP_HEAP, ulong s, ulong bin, dp_val v DP_WORDS DP_OUTS)
{
#ifdef DP_HIST_ATOMIC
    DP_HIST_ATOMIC(heap + o0 + DP_HIST_BYTES * bin, v);
#elif DP_HIST_BYTES == 4
    volatile __global uint *p = DP_AT(uint, o0 + 4 * bin);
    uint seen, now = *p;
    do {
        seen = now;
        now = atomic_cmpxchg(p, seen, dp_bits(dp_op(heap, s, dp_from_bits(seen), v DP_PASS)));
    } while (now != seen);
#else
    volatile __global ulong *p = DP_AT(ulong, o0 + 8 * bin);
    ulong seen, now = *p;
    do {
        seen = now;
        now = atom_cmpxchg(p, seen, dp_bits(dp_op(heap, s, dp_from_bits(seen), v DP_PASS)));
    } while (now != seen);
#endif
}

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
