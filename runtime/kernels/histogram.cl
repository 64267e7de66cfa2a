/* HIST: dp_body_at(i) gives a value and a bin of the instance's segment; bins start as the neutral element; out of range is ignored.
 * The bins of all segments lie one behind the other: segment s at bin_offsets[s] ... bin_offsets[s + 1]; with one segment all `size`.
 *
 * Three ways. CPU, bins not more than values: each chunk combines into bins of its own (dp_hist_chunks), dp_hist_merge joins these.
 * One value of 4 bytes, or of 8 where the device has 64-bit atomics: dp_hist_fill stores the neutral elements, dp_hist_add combines
 * by one atomic or a compare-and-swap loop (GPU: dp_hist_local in local memory first, if there are few bins). Else dp_hist_list
 * stores values and bins, the runtime sorts the bins, and reduce.cl combines the runs (hist_reduce.cl).
 *
 * CPU: a work-item a chunk. GPU: a lane an instance, striding over the grid. Guards: i < n. Empty segments have no instances. */
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
#else
#define DP_BINS(s) size
#define DP_FIRST_BIN(s) 0
#endif

#if DP_CPU
/* Bin b of the chunk is the dp_val number b from part + chunk * bins * DP_VAL_BYTES on. */
DP_KERNEL void dp_hist_chunks(DP_HEAP, ulong n, ulong nseg, ulong offsets, ulong size, ulong bin_offsets, ulong bins, ulong part DP_WORDS)
{
    ulong chunk = get_global_id(0), chunks = get_global_size(0);
    ulong i = dp_chunk_start(n, chunks, chunk), hi = dp_chunk_start(n, chunks, chunk + 1);
    __global dp_val *own = DP_AT(dp_val, part + chunk * bins * DP_VAL_BYTES);
    for (ulong s = 0; s < nseg; s++) {
        ulong from = DP_FIRST_BIN(s), to = from + DP_BINS(s);
        for (ulong b = from; b < to; b++)
            own[b] = dp_neutral(heap, s DP_PASS);
    }
    for (ulong s = i < hi ? DP_SEG_OF(i) : 0; i < hi; s++) {
        s = DP_SKIP_EMPTY(s, i);
        ulong room = DP_BINS(s);
        __global dp_val *first = own + DP_FIRST_BIN(s);
        for (ulong end = min(hi, DP_SEG_END(s)); i < end; i++) {
            long bin = -1;
            dp_val v = dp_body_at(heap, i, s, &bin DP_PASS);
            if (bin >= 0 && (ulong)bin < room)
                first[bin] = dp_op(heap, s, first[bin], v DP_PASS);
        }
    }
}

/* n bins; offsets are the bins'. */
DP_KERNEL void dp_hist_merge(DP_HEAP, ulong n, ulong nseg, ulong offsets, ulong chunks, ulong part DP_WORDS DP_OUTS)
{
    DP_EACH(i, n) {
        ulong s = DP_SEG_OF(i);
        dp_val v = DP_AT(dp_val, part)[i];
        for (ulong k = 1; k < chunks; k++)
            v = dp_op(heap, s, v, DP_AT(dp_val, part + k * n * DP_VAL_BYTES)[i] DP_PASS);
        dp_store(heap, i, v DP_PASS_OUTS);
    }
}
#endif

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

#if DP_GPU && !DP_SEGMENTED && DP_HIST_BYTES == 4 && defined(DP_HIST_ATOMIC)
/* Few bins (size <= DP_HIST_LOCAL): each work-group combines into bins in local memory, as many copies of them as there is room for, one
 * after the other for its warps; then its bins into the common ones. The atomic is the same, of another address space. */
#ifndef DP_HIST_LOCAL
#define DP_HIST_LOCAL 4096
#endif
DP_KERNEL void dp_hist_local(DP_HEAP, ulong n, ulong nseg, ulong offsets, ulong size, ulong bin_offsets DP_WORDS DP_OUTS)
{
    __local uint bins[DP_HIST_LOCAL];
    uint l = get_local_id(0), bin_count = (uint)size, copies = max(1u, min(DP_WG / 32u, DP_HIST_LOCAL / bin_count));
    uint nothing = dp_bits(dp_neutral(heap, 0 DP_PASS));
    for (uint b = l; b < bin_count * copies; b += DP_WG)
        bins[b] = nothing;
    barrier(CLK_LOCAL_MEM_FENCE);
    __local uint *own = bins + l / 32 % copies * bin_count;
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        long bin = -1;
        dp_val v = dp_body_at(heap, i, 0, &bin DP_PASS);
        if (bin >= 0 && bin < (long)size) {
            DP_HIST_ATOMIC(__local, own + bin, v);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = l; b < bin_count * copies; b += DP_WG)
        if (bins[b] != nothing)
            dp_combine(heap, 0, b % bin_count, dp_from_bits(bins[b]) DP_PASS DP_PASS_OUTS);
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
