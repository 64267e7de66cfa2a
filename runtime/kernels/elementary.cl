/* exp, log, sin and cos where kernels go by vectors (PoCL): there they must give the same bits for one value and for several, and its own have no
 * instructions for several. One text for both: F is double or a vector of them, I the integers of its width. The errors are below
 * 1 ulp (measured: 0.91); what is special is as in C. f32 is computed as f64 and rounded, by polynomials of fewer terms (DP_SHORT). Behind this
 * `exp`, `log`, `sin` and `cos` are these, of f32 also `log2`, `log10`, `tanh` and `pow`.
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
/* Of polynomials, from the constant on; by pairs, so that operations do not wait for each other (Estrin). */
#define DP_SERIES_2(F, x, a, b) ((F)(a) + (F)(b) * (x))
#define DP_SERIES_4(F, x, x2, a, b, c, d) (DP_SERIES_2(F, x, a, b) + DP_SERIES_2(F, x, c, d) * (x2))
#define DP_ELEMENTARY(F, I, EXP, LOG) \
    static inline F EXP(F x) \
    { \
        F a = x > (F)(710.0) ? (F)(710.0) : x; \
        a = a < (F)(-746.0) ? (F)(-746.0) : a; \
        const F shifted = a * (F)(0x1.71547652b82fep+0) + (F)(DP_ROUNDING), k = shifted - (F)(DP_ROUNDING); \
        const F high = a - k * (F)(DP_LN2_HIGH), low = k * (F)(DP_LN2_LOW), r = high - low, lost = (high - r) - low; \
        const F r2 = r * r, r4 = r2 * r2; \
        const F p = (DP_SERIES_4(F, r, r2, 0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0) + \
                     DP_SERIES_4(F, r, r2, 1.0 / 720.0, 1.0 / 5040.0, 1.0 / 40320.0, 1.0 / 362880.0) * r4) + \
            DP_SERIES_4(F, r, r2, 1.0 / 3628800.0, 1.0 / 39916800.0, 1.0 / 479001600.0, 1.0 / 6227020800.0) * (r4 * r4); \
        const F y = (F)(1.0) + (r + (lost + r2 * p)); \
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
        const F z2 = z * z, z4 = z2 * z2; \
        const F p = (DP_SERIES_4(F, z, z2, 2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0) + \
                     DP_SERIES_4(F, z, z2, 2.0 / 11.0, 2.0 / 13.0, 2.0 / 15.0, 2.0 / 17.0) * z4) + DP_SERIES_2(F, z, 2.0 / 19.0, 2.0 / 21.0) * (z4 * z4); \
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
        const F z2 = z * z, z4 = z2 * z2; \
        const F p = DP_SERIES_4(F, z, z2, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0) + \
            DP_SERIES_4(F, z, z2, -1.0 / 39916800.0, 1.0 / 6227020800.0, -1.0 / 1307674368000.0, 1.0 / 355687428096000.0) * z4; \
        const F q = DP_SERIES_4(F, z, z2, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0, -1.0 / 3628800.0) + \
            DP_SERIES_4(F, z, z2, 1.0 / 479001600.0, -1.0 / 87178291200.0, 1.0 / 20922789888000.0, -1.0 / 6402373705728000.0) * z4; \
        const F sine = r + (r * z * p + lost * one); \
        const F cosine = one + ((((F)(1.0) - one) - half_z) + (z2 * q - r * lost)); \
        const I n = __builtin_astype(shifted, I) + quarter; \
        const F y = (n & 1) == (I)(0) ? sine : cosine; \
        return (n & 2) == (I)(0) ? y : -y; \
    } \
    static inline F SIN(F x) { return x == (F)(0.0) ? x : SINE(x, (I)(0)); } \
    static inline F COS(F x) { return SINE(x, (I)(1)); }
DP_SINES(double, long, dp_sine_of_f64, dp_sin_of_f64, dp_cos_of_f64)

/* Of f32, widened: polynomials with the least largest relative error (Remez), 2^-39 of e^r - 1, 2^-44 of log, 2^-47 of sin, 2^-42 of cos, in
 * short chains (Estrin). Rounded to f32 the error is below 0.501 ulp. y multiples of log x are as good: pow's exponents are below 2^7.
 *
 * GROWTH: e^r - 1. EXP: 2^k + 2^k (e^r - 1), in one step, as 2^k is in the range of f64. LOG: k a + b log m, so that powers of the base come
 * out exact. TANH: (e^2x - 1) / (e^2x + 1), where the numerator is 2^k (e^r - 1) + (2^k - 1), which loses nothing near 0. */
#define DP_SHORT(F, I, GROWTH, EXP, LOG, TANH, POW, SINE) \
    static inline F GROWTH(F r) \
    { \
        const F z = r * r; \
        const F low = ((F)(0x1.000000005dee5p-1) + (F)(0x1.5555557dd31fcp-3) * r) + z * ((F)(0x1.5555541e51933p-5) + (F)(0x1.1110a25f7ccbdp-7) * r); \
        const F high = ((F)(0x1.6c18d32f66645p-10) + (F)(0x1.a1855fdc58131p-13) * r) + z * (F)(0x1.9e89372357005p-16); \
        return r + z * (low + (z * z) * high); \
    } \
    static inline F EXP(F x) \
    { \
        F a = x > (F)(100.0) ? (F)(100.0) : x; \
        a = a < (F)(-110.0) ? (F)(-110.0) : a; \
        const F shifted = a * (F)(0x1.71547652b82fep+0) + (F)(DP_ROUNDING), k = shifted - (F)(DP_ROUNDING); \
        const F y = (F)(1.0) + GROWTH(a - k * (F)(0x1.62e42fefa39efp-1)); \
        const I n = __builtin_astype(shifted, I) - __builtin_astype((F)(DP_ROUNDING), I); \
        return x != x ? x : __builtin_astype(__builtin_astype(y, I) + (n << 52), F); \
    } \
    static inline F LOG(F x, double of_2, double of_e) \
    { \
        const I i = __builtin_astype(x, I), n = (i - 0x3fe6a09e667f3bcdL) >> 52, mantissa = i - (n << 52); \
        const I shifted = n + __builtin_astype((F)(DP_ROUNDING), I); \
        const F k = __builtin_astype(shifted, F) - (F)(DP_ROUNDING); \
        const F f = __builtin_astype(mantissa, F) - (F)(1.0), s = f / ((F)(2.0) + f), z = s * s; \
        const F p = ((F)(0x1.555555561e471p-1) + (F)(0x1.999996a94052cp-2) * z) + \
                    (z * z) * (((F)(0x1.249411f22f28ap-2) + (F)(0x1.c62b13647d6c0p-3) * z) + (z * z) * (F)(0x1.9115a02dc4f5dp-3)); \
        const F y = k * (F)(of_2) + (s * ((F)(2.0) + z * p)) * (F)(of_e); \
        const F edge = x == (F)(0.0) ? (F)(-INFINITY) : x < (F)(0.0) ? (F)(NAN) : x; \
        return ((x > (F)(0.0)) & (x < (F)(INFINITY))) ? y : edge; \
    } \
    static inline F TANH(F x) \
    { \
        F a = x > (F)(22.0) ? (F)(22.0) : x; \
        a = (F)(2.0) * (a < (F)(-22.0) ? (F)(-22.0) : a); \
        const F shifted = a * (F)(0x1.71547652b82fep+0) + (F)(DP_ROUNDING), k = shifted - (F)(DP_ROUNDING); \
        const I n = __builtin_astype(shifted, I) - __builtin_astype((F)(DP_ROUNDING), I); \
        const F power = __builtin_astype((n + 1023) << 52, F); \
        const F above = power * GROWTH(a - k * (F)(0x1.62e42fefa39efp-1)) + (power - (F)(1.0)); \
        return ((x == (F)(0.0)) | (x != x)) ? x : above / (above + (F)(2.0)); \
    } \
    static inline F POW(F x, F y) \
    { \
        const F size = x < (F)(0.0) ? -x : x, y_2 = y * (F)(0.5); \
        const F y_whole = (y + (F)(DP_ROUNDING)) - (F)(DP_ROUNDING), y_2_whole = (y_2 + (F)(DP_ROUNDING)) - (F)(DP_ROUNDING); \
        F r = EXP(y * LOG(size, 0x1.62e42fefa39efp-1, 1.0)); \
        r = ((__builtin_astype(x, I) < (I)(0)) & (y == y_whole) & (y_2 != y_2_whole)) ? -r : r; \
        r = ((x < (F)(0.0)) & (x > (F)(-INFINITY)) & (y != y_whole)) ? (F)(NAN) : r; \
        return ((y == (F)(0.0)) | (x == (F)(1.0)) | ((x == (F)(-1.0)) & ((y == (F)(INFINITY)) | (y == (F)(-INFINITY))))) ? (F)(1.0) : r; \
    } \
    static inline F SINE(F x, I quarter) \
    { \
        const F shifted = x * (F)(0x1.45f306dc9c883p-1) + (F)(DP_ROUNDING), k = shifted - (F)(DP_ROUNDING); \
        const F r = ((x - k * (F)(DP_HALF_PI_HIGH)) - k * (F)(DP_HALF_PI_MIDDLE)) - k * (F)(DP_HALF_PI_LOW), z = r * r, zz = z * z; \
        const F p = ((F)(-0x1.55555555523fep-3) + (F)(0x1.1111110ca2d04p-7) * z) + \
                    zz * (((F)(-0x1.a019f95afcd6ep-13) + (F)(0x1.71d77d329e0a1p-19) * z) + zz * (F)(-0x1.a966f69f61c8cp-26)); \
        const F q = ((F)(0x1.5555554ed8d9ep-5) + (F)(-0x1.6c16b8295ecb0p-10) * z) + zz * ((F)(0x1.a010de58cb2b4p-16) + (F)(-0x1.241e838938bb9p-22) * z); \
        const I n = __builtin_astype(shifted, I) + quarter; \
        const F y = (n & 1) == (I)(0) ? r + (r * z) * p : ((F)(1.0) - (F)(0.5) * z) + zz * q; \
        return ((x == (F)(0.0)) & (quarter == (I)(0))) ? x : (n & 2) == (I)(0) ? y : -y; \
    }
DP_SHORT(double, long, dp_growth_of_f32, dp_exp_of_f32, dp_log_of_f32, dp_tanh_of_f32, dp_pow_of_f32, dp_sine_of_f32)
#define DP_LOG_E 0x1.62e42fefa39efp-1, 1.0
#define DP_LOG_2 1.0, 0x1.71547652b82fep+0
#define DP_LOG_10 0x1.34413509f79ffp-2, 0x1.bcb7b1526e50ep-2

#define DP_OVERLOADED static inline __attribute__((overloadable))
DP_OVERLOADED double dp_exp(double x) { return dp_exp_of_f64(x); }
DP_OVERLOADED double dp_log(double x) { return dp_log_of_f64(x); }
DP_OVERLOADED float dp_exp(float x) { return (float)dp_exp_of_f32((double)x); }
DP_OVERLOADED float dp_log(float x) { return (float)dp_log_of_f32((double)x, DP_LOG_E); }
DP_OVERLOADED double dp_log2(double x) { return log2(x); }
DP_OVERLOADED float dp_log2(float x) { return (float)dp_log_of_f32((double)x, DP_LOG_2); }
DP_OVERLOADED double dp_log10(double x) { return log10(x); }
DP_OVERLOADED float dp_log10(float x) { return (float)dp_log_of_f32((double)x, DP_LOG_10); }
DP_OVERLOADED double dp_tanh(double x) { return tanh(x); }
DP_OVERLOADED float dp_tanh(float x) { return (float)dp_tanh_of_f32((double)x); }
DP_OVERLOADED double dp_pow(double x, double y) { return pow(x, y); }
DP_OVERLOADED float dp_pow(float x, float y) { return (float)dp_pow_of_f32((double)x, (double)y); }
DP_OVERLOADED double dp_sin(double x) { return fabs(x) <= DP_SINE_MOST ? dp_sin_of_f64(x) : sin(x); }
DP_OVERLOADED double dp_cos(double x) { return fabs(x) <= DP_SINE_MOST ? dp_cos_of_f64(x) : cos(x); }
DP_OVERLOADED float dp_sin(float x) { return (float)(fabs(x) <= DP_SINE_MOST ? dp_sine_of_f32((double)x, 0) : sin((double)x)); }
DP_OVERLOADED float dp_cos(float x) { return (float)(fabs(x) <= DP_SINE_MOST ? dp_sine_of_f32((double)x, 1) : cos((double)x)); }
#define sin dp_sin
#define cos dp_cos
#define exp dp_exp
#define log dp_log
#define log2 dp_log2
#define log10 dp_log10
#define tanh dp_tanh
#define pow dp_pow
#endif
