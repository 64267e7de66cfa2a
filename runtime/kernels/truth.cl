/* Holes for pack.cl: a column of bools at w0; those that do not hold are listed too. */
#define DP_WORDS , ulong w0
#define DP_PASS , w0
#define DP_USES_SEG 0
#define DP_PACK_REST 1
typedef struct { uchar v0; } dp_val;

static inline dp_val dp_body(DP_HEAP, ulong i, ulong s DP_WORDS)
{
    dp_val v = {*DP_AT(uchar, w0 + i)};
    return v;
}
