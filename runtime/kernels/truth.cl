/* Holes for pack.cl: a column of bools at w0; the instances for which it holds, and the others. Positions only. */
#define DP_WORDS , ulong w0
#define DP_PASS , w0
#define DP_OUTS , ulong o0, ulong o1, ulong o2, ulong o3
#define DP_PASS_OUTS , o0, o1, o2, o3
#define DP_USES_SEG 0
#define DP_WAYS 2
typedef struct { uchar v0; } dp_val;

static inline dp_val dp_body(DP_HEAP, ulong i, ulong s DP_WORDS)
{
    dp_val v = {*DP_AT(uchar, w0 + i)};
    return v;
}

static inline uint dp_ways(dp_val v) { return v.v0 ? 1 : 2; }

#define DP_KEPT_FIRST(F) F(0, 4, uint, o0, (uint)i)
#define DP_KEPT_REST(F) F(1, 4, uint, o2, (uint)i)
#define DP_KEPT_BYTES 4
