/* SCAN whose prefixes are stored turned: segments of one length m side by side are columns of an array of m rows, and the prefix of
 * element k of segment s goes to k * nseg + s. n > 0.
 *
 * A work-item takes a column, or where there are vectors a strip of neighbouring columns, and of it a chunk of rows, from top to bottom: what
 * lies side by side in a row is loaded and stored together. Where columns are too few to fill the device, chunks > 1: dp_columns_fold leaves what each
 * chunk but the last combines to, of all columns side by side, and dp_columns_write begins with those above its own. chunks <= m. */
#ifndef DP_EXCLUSIVE
#define DP_EXCLUSIVE 0
#endif
#define DP_PART(c, s) DP_AT(dp_val, part)[(c) * nseg + (s)]
#define DP_COLUMN_OP(s, a, b) dp_op(heap, (s), (a), (b) DP_PASS)
#define DP_COLUMN_BODY(k, s) dp_body(heap, (s) * m + (k), (s) DP_PASS)
#define DP_DEEP (DP_AT_ONCE > 1 && DP_WG > 1 ? 8 : 1) /* rows whose loads are under way together */

/* Rows k ... hi - 1 of column s; EACH(k, x) does something with the value. */
#define DP_DOWN(s, EACH) \
    for (; DP_DEEP > 1 && k + DP_DEEP <= hi; k += DP_DEEP) { \
        dp_val x[DP_DEEP]; \
        _Pragma("unroll") for (uint q = 0; q < DP_DEEP; q++) x[q] = DP_COLUMN_BODY(k + q, s); \
        _Pragma("unroll") for (uint q = 0; q < DP_DEEP; q++) EACH(k + q, s, x[q]); \
    } \
    for (; k < hi; k++) \
        EACH(k, s, DP_COLUMN_BODY(k, s));
#define DP_FOLD_EACH(k, s, x) v = DP_COLUMN_OP(s, v, x)
#define DP_WRITE_EACH(k, s, x) \
    do { \
        const dp_val next = DP_COLUMN_OP(s, v, x); \
        dp_store(out, (k) * nseg + (s), DP_EXCLUSIVE ? v : next DP_PASS_OUTS); \
        v = next; \
    } while (0)

#define DP_FOLD_COLUMN(s) \
    { \
        ulong k = top; \
        dp_val v = DP_COLUMN_BODY(k, s); \
        k++; \
        DP_DOWN(s, DP_FOLD_EACH) \
        DP_PART(chunk, s) = v; \
    }
#define DP_WRITE_COLUMN(s) \
    { \
        ulong k = top; \
        dp_val v = dp_neutral(heap, (s) DP_PASS); \
        for (ulong c = 0; c < chunk; c++) \
            v = DP_COLUMN_OP(s, v, DP_PART(c, s)); \
        DP_DOWN(s, DP_WRITE_EACH) \
    }

#if DP_W
#define DP_STRIP (8 * DP_W) /* columns */
#define DP_COLUMN_BODY_W(k, s) dp_body_across(heap, (s) * m + (k), (s), m DP_PASS)
#define DP_COLUMN_OP_W(s, a, b) dp_op_w(heap, (s), (a), (b) DP_PASS)
#define DP_PARTS(p, c, s) DP_IN_TURN(l) dp_set_lane(&p, l, DP_PART(c, (s) + l));
/* V vectors side by side, as long as there are so many columns. */
#define DP_FOLD_VECTORS(V) \
    for (; s + (V) * DP_W <= end; s += (V) * DP_W) { \
        dp_vec v[V]; \
        for (uint q = 0; q < (V); q++) \
            v[q] = DP_COLUMN_BODY_W(top, s + q * DP_W); \
        for (ulong k = top + 1; k < hi; k++) \
            for (uint q = 0; q < (V); q++) \
                v[q] = DP_COLUMN_OP_W(s + q * DP_W, v[q], DP_COLUMN_BODY_W(k, s + q * DP_W)); \
        for (uint q = 0; q < (V); q++) \
            DP_IN_TURN(l) DP_PART(chunk, s + q * DP_W + l) = dp_lane(v[q], l); \
    }
#define DP_WRITE_VECTORS(V) \
    for (; s + (V) * DP_W <= end; s += (V) * DP_W) { \
        dp_vec v[V]; \
        for (uint q = 0; q < (V); q++) { \
            DP_IN_TURN(l) dp_set_lane(&v[q], l, dp_neutral(heap, s + q * DP_W + l DP_PASS)); \
            for (ulong c = 0; c < chunk; c++) { \
                dp_vec p; \
                DP_PARTS(p, c, s + q * DP_W) \
                v[q] = DP_COLUMN_OP_W(s + q * DP_W, v[q], p); \
            } \
        } \
        for (ulong k = top; k < hi; k++) \
            for (uint q = 0; q < (V); q++) { \
                const dp_vec next = DP_COLUMN_OP_W(s + q * DP_W, v[q], DP_COLUMN_BODY_W(k, s + q * DP_W)); \
                dp_store_w(out, k * nseg + s + q * DP_W, DP_EXCLUSIVE ? v[q] : next DP_PASS_OUTS); \
                v[q] = next; \
            } \
    }
#else
#define DP_STRIP 1
#define DP_FOLD_VECTORS(V)
#define DP_WRITE_VECTORS(V)
#endif

/* Strips of chunks, the chunks that are `wanted` of each, are the work; the body of the loop gets one. */
#define DP_EACH_STRIP(wanted) \
    const ulong m = offsets & ~DP_REGULAR, strips = (nseg + DP_STRIP - 1) / DP_STRIP; \
    for (ulong at = get_global_id(0); at < strips * (wanted); at += get_global_size(0))
#define DP_THIS_STRIP \
    const ulong chunk = dp_divide(at, strips), top = dp_chunk_start(m, chunks, chunk), hi = dp_chunk_start(m, chunks, chunk + 1); \
    ulong s = (at - chunk * strips) * DP_STRIP; \
    const ulong end = min(nseg, s + DP_STRIP);

DP_KERNEL void dp_columns_fold(DP_HEAP, ulong n, ulong nseg, ulong offsets, ulong part, ulong chunks DP_WORDS)
{
    DP_EACH_STRIP(chunks - 1)
    {
        DP_THIS_STRIP
        DP_FOLD_VECTORS(8)
        DP_FOLD_VECTORS(1)
        for (; s < end; s++)
            DP_FOLD_COLUMN(s)
    }
}

DP_KERNEL void dp_columns_write(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets, ulong part,
                                ulong chunks DP_WORDS DP_OUTS)
{
    DP_EACH_STRIP(chunks)
    {
        DP_THIS_STRIP
        DP_WRITE_VECTORS(8)
        DP_WRITE_VECTORS(1)
        for (; s < end; s++)
            DP_WRITE_COLUMN(s)
    }
}
