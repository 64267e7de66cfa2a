/* Square roots, reciprocals and quotients of f32 in straight code, rounded as sqrt and / are. These branch where an operand
 * is zero, not finite, or so large or small that something on the way leaves the normal numbers; here *odd is DP_ODD or more then, and the
 * value is no good (a maximum of sums is one instruction). What is approximated to a bit or two is corrected by its residual; a quotient twice.
 *
 * No product here is a term of a sum, so that contraction (DP_CONTRACT) changes nothing.
 *
 * On an H200 equal to sqrt and 1 / x for all floats, and to a / b for 2^32 pairs, wherever they are not odd. Elsewhere the approximation
 * is the rounded value, only so that there is a text that can be tested. */
#if DP_NVIDIA
#define DP_APPROXIMATE(y, instruction, exact, x) __asm(instruction ".approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x))
#else
#define DP_APPROXIMATE(y, instruction, exact, x) (y = (exact))
#endif

#define DP_ODD 0x72800000u

/* From 2^-101 on, positive and finite. */
static inline uint dp_odd_root(float x) { return as_uint(x) - 0x0d000000u; }

/* From 2^-60 to 2^54, of any sign. */
static inline uint dp_odd_factor(float x) { return (as_uint(x) << 1) - (67u << 24); }

static inline float dp_straight_sqrt(float x, uint *odd)
{
    float y;
    DP_APPROXIMATE(y, "rsqrt", 1.0f / sqrt(x), x);
    const float root = x * y, residual = fma(-root, root, x);
    *odd = max(*odd, dp_odd_root(x));
    return fma(residual, 0.5f * y, root);
}

/* 1 / x of a root: that is in range. */
static inline float dp_straight_root_reciprocal(float x)
{
    float y;
    DP_APPROXIMATE(y, "rcp", 1.0f / x, x);
    return fma(y, fma(-x, y, 1.0f), y);
}

static inline float dp_straight_reciprocal(float x, uint *odd)
{
    *odd = max(*odd, dp_odd_factor(x));
    return dp_straight_root_reciprocal(x);
}

static inline float dp_straight_div(float a, float b, uint *odd)
{
    const float y = dp_straight_reciprocal(b, odd);
    float q = a * y;
    q = fma(fma(-b, q, a), y, q);
    *odd = max(*odd, dp_odd_factor(a));
    return fma(fma(-b, q, a), y, q);
}
