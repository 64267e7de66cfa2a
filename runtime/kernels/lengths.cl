/* Holes for scan.cl: offsets from lengths. w0: address of the first length, w1: bytes from one to the next, w2: how many. Scanned over
 * w2 + 1 instances, so that the total comes last; it goes to the mailbox too. A negative length (its failure has been recorded)
 * counts as 0; sums are sizes (dp_size.h). */
#define DP_WORDS , ulong w0, ulong w1, ulong w2
#define DP_PASS , w0, w1, w2
#define DP_OUTS , ulong o0, ulong o1
#define DP_PASS_OUTS , o0, o1
#define DP_USES_SEG 0
#define DP_COMMUTATIVE 1
#define DP_EXCLUSIVE 1
typedef struct { ulong v0; } dp_val;

static inline dp_val dp_body(DP_HEAP, ulong i, ulong s DP_WORDS)
{
    dp_val v;
    long length = i < w2 ? *DP_AT(long, w0 + i * w1) : 0;
    v.v0 = (ulong)max(length, 0L);
    return v;
}

static inline dp_val dp_op(DP_HEAP, ulong s, dp_val a, dp_val b DP_WORDS)
{
    a.v0 = dp_size_add(a.v0, b.v0);
    return a;
}

static inline dp_val dp_neutral(DP_HEAP, ulong s DP_WORDS)
{
    dp_val v = {0};
    return v;
}

/* o1: the number of lengths */
static inline void dp_store(DP_HEAP, ulong i, dp_val v DP_OUTS)
{
    *DP_AT(ulong, o0 + 8 * i) = v.v0;
    if (i == o1)
        *DP_AT(ulong, DP_MAILBOX) = v.v0;
}
