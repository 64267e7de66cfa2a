/* In front of the templates of scans, scan.cl and segscan.cl: neighbours of one segment by vectors, on a CPU. */
#ifndef DP_EXCLUSIVE
#define DP_EXCLUSIVE 0
#endif

#if DP_CPU && DP_W
#define DP_SCAN_W DP_W
#define DP_LANES_BEFORE(T, field) before.field = DP_BEHIND(next.field, reach.field, 1);
#define DP_LAST_LANES(T, field) reach.field = DP_LAST_LANE(next.field);
/* The prefixes of elements i ... end - 1 of one segment, whole vectors, which v reaches; what reaches the next one. Vectors are scanned each for itself,
 * so that they wait for each other in one operation only. */
static inline dp_val dp_scan_run(__global uchar *restrict heap, __global uchar *restrict out, ulong i, ulong end, ulong s, dp_val v DP_WORDS DP_OUTS)
{
    const dp_vec none = dp_none(heap, s DP_PASS);
    dp_vec reach = dp_wide(v);
    for (; i < end; i += DP_W) {
        const dp_vec next = DP_OP_W(s, reach, dp_scan_lanes(heap, s, DP_BODY_W(i, s), none DP_PASS));
#if DP_EXCLUSIVE
        dp_vec before;
        DP_VEC_FIELDS(DP_LANES_BEFORE)
        DP_STORE_W(i, s, before);
#else
        DP_STORE_W(i, s, next);
#endif
        DP_VEC_FIELDS(DP_LAST_LANES)
    }
    return dp_lane(reach, 0);
}
#elif DP_CPU && DP_AS_W
#define DP_SCAN_W DP_AS_W
/* The same without vectors. */
static inline dp_val dp_scan_run(__global uchar *restrict heap, __global uchar *restrict out, ulong i, ulong end, ulong s, dp_val v DP_WORDS DP_OUTS)
{
    for (; i < end; i += DP_AS_W) {
        dp_val own[DP_AS_W], reach = v;
        for (uint l = 0; l < DP_AS_W; l++)
            own[l] = DP_BODY(i + l, s);
        dp_scan_lanes(heap, s, own DP_PASS);
        for (uint l = 0; l < DP_AS_W; l++) {
            const dp_val next = DP_OP(s, reach, own[l]);
            DP_STORE(i + l, s, DP_EXCLUSIVE ? v : next);
            v = next;
        }
    }
    return v;
}
#endif

/* As many of elements i ... end - 1 as are whole vectors, if it is worth it; i and v are then those that follow. */
#ifdef DP_SCAN_W
#define DP_SCAN_VECTORS(i, end, s, v) \
    if ((i) + 2 * DP_SCAN_W <= (end)) { \
        const ulong whole = (i) + ((end) - (i)) / DP_SCAN_W * DP_SCAN_W; \
        v = dp_scan_run(heap, out, (i), whole, (s), (v) DP_PASS DP_PASS_OUTS); \
        i = whole; \
    }
#else
#define DP_SCAN_VECTORS(i, end, s, v)
#endif
