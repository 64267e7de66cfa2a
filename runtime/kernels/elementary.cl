/* exp, log, sin and cos where kernels go by vectors (PoCL): there they must give the same bits for one value and for several, and its own have no
 * instructions for several. One text for both: F is double or a vector of them, I the integers of its width. The errors are below
 * 1 ulp (measured: 0.88); what is special is as in C. f32 is computed as f64 and rounded. Behind this `exp`, `log`, `sin` and `cos` are these.
 *
 * exp: x = k ln 2 + r with |r| <= ln 2 / 2, by a number so large that adding it rounds; its Taylor series to r^13; times 2^k in two steps,
 * for 2^k alone may be none. ln 2 is a sum of two, so that k times the first is exact.
 * log: x = 2^k m with m in [sqrt 1/2, sqrt 2), f = m - 1, s = f / (2 + f): log m = 2 artanh s = f - s (f - R), R = s^2 2/3 + s^4 2/5 + ...
 * sin, cos: x = k pi/2 + r with |r| <= pi/4, pi/2 as a sum of three, of which k times the first two are exact; r as a sum of two; both Taylor
 * series, of which k's last two bits choose one and its sign. */
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#define DP_LN2_HIGH 0x1.62e42fefap-1
#define DP_LN2_LOW 0x1.cf79abc9e3b398p-40
#define DP_ROUNDING 0x1.8p52
#define DP_ELEMENTARY(F, I, EXP, LOG) \
    static inline F EXP(F x) \
    { \
        F a = x > (F)(710.0) ? (F)(710.0) : x; \
        a = a < (F)(-746.0) ? (F)(-746.0) : a; \
        const F shifted = a * (F)(0x1.71547652b82fep+0) + (F)(DP_ROUNDING), k = shifted - (F)(DP_ROUNDING); \
        const F high = a - k * (F)(DP_LN2_HIGH), low = k * (F)(DP_LN2_LOW), r = high - low, lost = (high - r) - low; \
        F p = (F)(1.0 / 6227020800.0); \
        p = p * r + (F)(1.0 / 479001600.0); \
        p = p * r + (F)(1.0 / 39916800.0); \
        p = p * r + (F)(1.0 / 3628800.0); \
        p = p * r + (F)(1.0 / 362880.0); \
        p = p * r + (F)(1.0 / 40320.0); \
        p = p * r + (F)(1.0 / 5040.0); \
        p = p * r + (F)(1.0 / 720.0); \
        p = p * r + (F)(1.0 / 120.0); \
        p = p * r + (F)(1.0 / 24.0); \
        p = p * r + (F)(1.0 / 6.0); \
        p = p * r + (F)(0.5); \
        const F y = (F)(1.0) + (r + (lost + r * r * p)); \
        const I n = __builtin_astype(shifted, I) - __builtin_astype((F)(DP_ROUNDING), I), half_n = n >> 1; \
        const I one = (n - half_n + 1023) << 52, other = (half_n + 1023) << 52; \
        return x != x ? x : y * __builtin_astype(one, F) * __builtin_astype(other, F); \
    } \
    static inline F LOG(F x) \
    { \
        const F a = x < (F)(0x1p-1022) ? x * (F)(0x1p54) : x; \
        const I i = __builtin_astype(a, I), n = (i - 0x3fe6a09e667f3bcdL) >> 52, mantissa = i - (n << 52); \
        const I shifted = n + __builtin_astype((F)(DP_ROUNDING), I); \
        const F above = __builtin_astype(shifted, F) - (F)(DP_ROUNDING); \
        const F k = x < (F)(0x1p-1022) ? above - (F)(54.0) : above; \
        const F f = __builtin_astype(mantissa, F) - (F)(1.0), s = f / ((F)(2.0) + f), z = s * s; \
        F p = (F)(2.0 / 21.0); \
        p = p * z + (F)(2.0 / 19.0); \
        p = p * z + (F)(2.0 / 17.0); \
        p = p * z + (F)(2.0 / 15.0); \
        p = p * z + (F)(2.0 / 13.0); \
        p = p * z + (F)(2.0 / 11.0); \
        p = p * z + (F)(2.0 / 9.0); \
        p = p * z + (F)(2.0 / 7.0); \
        p = p * z + (F)(2.0 / 5.0); \
        p = p * z + (F)(2.0 / 3.0); \
        const F y = k * (F)(DP_LN2_HIGH) + (f - (s * (f - z * p) - k * (F)(DP_LN2_LOW))); \
        const F edge = x == (F)(0.0) ? (F)(-INFINITY) : x < (F)(0.0) ? (F)(NAN) : x; \
        return ((x > (F)(0.0)) & (x < (F)(INFINITY))) ? y : edge; \
    }
DP_ELEMENTARY(double, long, dp_exp_of_f64, dp_log_of_f64)

#define DP_HALF_PI_HIGH 0x1.921fb544p+0
#define DP_HALF_PI_MIDDLE 0x1.0b4611a6p-34
#define DP_HALF_PI_LOW 0x1.3198a2e037073p-69
#define DP_SINE_MOST 0x1p20 /* beyond: the device's own, one value after the other */
#define DP_SINES(F, I, SINE, SIN, COS) \
    static inline F SINE(F x, I quarter) \
    { \
        const F shifted = x * (F)(0x1.45f306dc9c883p-1) + (F)(DP_ROUNDING), k = shifted - (F)(DP_ROUNDING); \
        const F high = x - k * (F)(DP_HALF_PI_HIGH), middle = k * (F)(DP_HALF_PI_MIDDLE), near = high - middle; \
        const F low = k * (F)(DP_HALF_PI_LOW) - ((high - near) - middle), r = near - low, lost = (near - r) - low; \
        const F z = r * r, half_z = z * (F)(0.5), one = (F)(1.0) - half_z; \
        F p = (F)(1.0 / 355687428096000.0); \
        p = p * z + (F)(-1.0 / 1307674368000.0); \
        p = p * z + (F)(1.0 / 6227020800.0); \
        p = p * z + (F)(-1.0 / 39916800.0); \
        p = p * z + (F)(1.0 / 362880.0); \
        p = p * z + (F)(-1.0 / 5040.0); \
        p = p * z + (F)(1.0 / 120.0); \
        p = p * z + (F)(-1.0 / 6.0); \
        F q = (F)(-1.0 / 6402373705728000.0); \
        q = q * z + (F)(1.0 / 20922789888000.0); \
        q = q * z + (F)(-1.0 / 87178291200.0); \
        q = q * z + (F)(1.0 / 479001600.0); \
        q = q * z + (F)(-1.0 / 3628800.0); \
        q = q * z + (F)(1.0 / 40320.0); \
        q = q * z + (F)(-1.0 / 720.0); \
        q = q * z + (F)(1.0 / 24.0); \
        const F sine = r + (r * z * p + lost * one); \
        const F cosine = one + ((((F)(1.0) - one) - half_z) + (z * z * q - r * lost)); \
        const I n = __builtin_astype(shifted, I) + quarter; \
        const F y = (n & 1) == (I)(0) ? sine : cosine; \
        return (n & 2) == (I)(0) ? y : -y; \
    } \
    static inline F SIN(F x) { return x == (F)(0.0) ? x : SINE(x, (I)(0)); } \
    static inline F COS(F x) { return SINE(x, (I)(1)); }
DP_SINES(double, long, dp_sine_of_f64, dp_sin_of_f64, dp_cos_of_f64)

#define DP_OVERLOADED static inline __attribute__((overloadable))
DP_OVERLOADED double dp_exp(double x) { return dp_exp_of_f64(x); }
DP_OVERLOADED double dp_log(double x) { return dp_log_of_f64(x); }
DP_OVERLOADED float dp_exp(float x) { return (float)dp_exp_of_f64((double)x); }
DP_OVERLOADED float dp_log(float x) { return (float)dp_log_of_f64((double)x); }
DP_OVERLOADED double dp_sin(double x) { return fabs(x) <= DP_SINE_MOST ? dp_sin_of_f64(x) : sin(x); }
DP_OVERLOADED double dp_cos(double x) { return fabs(x) <= DP_SINE_MOST ? dp_cos_of_f64(x) : cos(x); }
DP_OVERLOADED float dp_sin(float x) { return (float)dp_sin((double)x); }
DP_OVERLOADED float dp_cos(float x) { return (float)dp_cos((double)x); }
#define sin dp_sin
#define cos dp_cos
#define exp dp_exp
#define log dp_log
#endif
