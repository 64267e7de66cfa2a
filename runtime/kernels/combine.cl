/* Before histogram.cl and scatter.cl: dp_combine makes the value number `bin` of output 0 that one combined with v, by the operator of
 * segment s, while others combine with it, too: by one atomic, or by compare-and-swap. It is there if DP_BITS is: for one value of 4
 * bytes, or of 8 where the device has 64-bit atomics. */
#if DP_HIST_BYTES == 4
#define DP_BITS uint
#define DP_SWAP atomic_cmpxchg
#elif DP_HIST_BYTES == 8 && defined(DP_HAS_ATOMICS64)
#define DP_BITS ulong
#define DP_SWAP atom_cmpxchg
#endif

#ifdef DP_BITS
/* Values that change nothing need no turn: the greatest of many, say, is soon found. */
#if defined(DP_HIST_ATOMIC) && DP_HIST_SETTLES
#define DP_COMBINE(space, p, s, v) \
    { \
        const DP_BITS seen = *(volatile space DP_BITS *)(p); \
        if (dp_bits(dp_op(heap, (s), dp_from_bits(seen), (v) DP_PASS)) != seen) \
            DP_HIST_ATOMIC(space, p, v); \
    }
#elif defined(DP_HIST_ATOMIC)
#define DP_COMBINE(space, p, s, v) DP_HIST_ATOMIC(space, p, v);
#else
#define DP_COMBINE(space, p, s, v) \
    { \
        volatile space DP_BITS *at = (volatile space DP_BITS *)(p); \
        DP_BITS seen = *at; \
        for (;;) { \
            DP_BITS want = dp_bits(dp_op(heap, (s), dp_from_bits(seen), (v) DP_PASS)); \
            DP_BITS now = want == seen ? seen : DP_SWAP(at, seen, want); \
            if (now == seen) \
                break; \
            seen = now; \
        } \
    }
#endif
/* Sums of f64 take one instruction on NVIDIA's GPUs. (Those of f32 would lose numbers that are not normal.) */
static inline void dp_combine(DP_HEAP, ulong s, ulong bin, dp_val v DP_WORDS DP_OUTS)
{
#if DP_HIST_ADDS_F64 && DP_NVIDIA
    asm volatile("red.global.add.f64 [%0], %1;" ::"l"(heap + o0 + DP_HIST_BYTES * bin), "d"(v.v0) : "memory");
#else
    DP_COMBINE(__global, heap + o0 + DP_HIST_BYTES * bin, s, v)
#endif
}
#endif
