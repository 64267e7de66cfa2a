/* The elementary functions where kernels go by vectors (PoCL): there they must give the same bits for one value and for several, and the device's
 * own have no instructions for several. One text for both: F is double or a vector of them, I the integers of its width, NAME(f) the name of f.
 * Errors (measured beside 50 digits): exp, log, sin, cos, log2 and log10 below 1 ulp, pow, cosh and hypot below 1.3, the others below 2.5; what
 * is special is as in C. f32 is computed as f64 and rounded, the commonest by polynomials of fewer terms (DP_SHORT). Behind this `exp` is ours.
 *
 * exp: x = k ln 2 + r with |r| <= ln 2 / 2, by a number so large that adding it rounds; its Taylor series to r^13; times 2^k in two steps,
 * for 2^k alone may be none. ln 2 is a sum of two, so that k times the first is exact. sinh, cosh: of e^x / 2, and sinh near 0 by its Taylor series.
 * tanh: (e^2x - 1) / (e^2x + 1), where e^r - 1 loses nothing near 0.
 * log: x = 2^k m with m in [sqrt 1/2, sqrt 2), f = m - 1, s = f / (2 + f): log m = 2 artanh s = f - s (f - R), R = s^2 2/3 + s^4 2/5 + ...
 * log2, log10, pow: log as a sum of two (log_parts): s, s^2 and s^3 as such sums by products whose errors are computed (product), what follows,
 * below 2^-12 of it, by a polynomial. So whole powers of 2 and 10 have whole logarithms, and y log x is right to 2^-64 of itself.
 * atan2: n / d of the smaller by the larger; beyond 1/2 as pi/4 + atan ((n - d) / (n + d)); how many eighths of the circle are added, and
 * whether it is subtracted, say the signs and which was larger. asin, acos: beyond 1/2 by the root of (1 - |x|) / 2. Their polynomials: Chebyshev's.
 * sin, cos, tan: x = k pi/2 + r with |r| <= pi/4, pi/2 as a sum of three, of which k times the first two are exact; r as a sum of two; both Taylor
 * series, of which k's last two bits choose one and its sign. */
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#define DP_LN2_HIGH 0x1.62e42fefap-1
#define DP_LN2_LOW 0x1.cf79abc9e3b398p-40
#define DP_EIGHTH_HIGH 0x1.921fb54442d18p-1 /* pi / 4; times 3 it is exact, too */
#define DP_EIGHTH_LOW 0x1.1a62633145c07p-55
#define DP_ROUNDING 0x1.8p52
/* Of polynomials, from the constant on; by pairs, so that operations do not wait for each other (Estrin). */
#define DP_SERIES_2(F, x, a, b) ((F)(a) + (F)(b) * (x))
#define DP_SERIES_4(F, x, x2, a, b, c, d) (DP_SERIES_2(F, x, a, b) + DP_SERIES_2(F, x, c, d) * (x2))
#define DP_ELEMENTARY(F, I, NAME) \
    static inline F NAME(negated_if)(I sign, F x) { return __builtin_astype(__builtin_astype(x, I) ^ (sign & (I)(1L << 63)), F); } \
    static inline F NAME(size_of)(F x) { return __builtin_astype(__builtin_astype(x, I) & (I)(~(1L << 63)), F); } \
    /* a b, and what it is more */ \
    static inline F NAME(product)(F a, F b, F *more) \
    { \
        const F a_high = __builtin_astype(__builtin_astype(a, I) & (I)(-0x8000000L), F), a_low = a - a_high; \
        const F b_high = __builtin_astype(__builtin_astype(b, I) & (I)(-0x8000000L), F), b_low = b - b_high, p = a * b; \
        *more = (((a_high * b_high - p) + a_high * b_low) + a_low * b_high) + a_low * b_low; \
        return p; \
    } \
    /* e^(x + more) - 1 less k ln 2 in the exponent */ \
    static inline F NAME(growth)(F x, F more, F k) \
    { \
        const F high = x - k * (F)(DP_LN2_HIGH), low = k * (F)(DP_LN2_LOW) - more, r = high - low, lost = (high - r) - low; \
        const F r2 = r * r, r4 = r2 * r2; \
        const F p = (DP_SERIES_4(F, r, r2, 0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0) + \
                     DP_SERIES_4(F, r, r2, 1.0 / 720.0, 1.0 / 5040.0, 1.0 / 40320.0, 1.0 / 362880.0) * r4) + \
            DP_SERIES_4(F, r, r2, 1.0 / 3628800.0, 1.0 / 39916800.0, 1.0 / 479001600.0, 1.0 / 6227020800.0) * (r4 * r4); \
        return r + (lost + r2 * p); \
    } \
    /* e^(x + more) / 2^halvings */ \
    static inline F NAME(exp_parts)(F x, F more, long halvings) \
    { \
        F a = x > (F)(711.0) ? (F)(711.0) : x; \
        a = a < (F)(-746.0) ? (F)(-746.0) : a; \
        const F shifted = a * (F)(0x1.71547652b82fep+0) + (F)(DP_ROUNDING); \
        const F y = (F)(1.0) + NAME(growth)(a, more, shifted - (F)(DP_ROUNDING)); \
        const I n = __builtin_astype(shifted, I) - __builtin_astype((F)(DP_ROUNDING), I) - (I)(halvings), half_n = n >> 1; \
        const I one = (n - half_n + 1023) << 52, other = (half_n + 1023) << 52; \
        return x != x ? x : y * __builtin_astype(one, F) * __builtin_astype(other, F); \
    } \
    static inline F NAME(exp)(F x) { return NAME(exp_parts)(x, (F)(0.0), 0); } \
    /* x = 2^k m */ \
    static inline F NAME(mantissa)(F x, F *k) \
    { \
        const F a = x < (F)(0x1p-1022) ? x * (F)(0x1p54) : x; \
        const I i = __builtin_astype(a, I), n = (i - 0x3fe6a09e667f3bcdL) >> 52; \
        const F above = __builtin_astype(n + __builtin_astype((F)(DP_ROUNDING), I), F) - (F)(DP_ROUNDING); \
        *k = x < (F)(0x1p-1022) ? above - (F)(54.0) : above; \
        return __builtin_astype(i - (n << 52), F); \
    } \
    /* y = log x, but for x that have no logarithm */ \
    static inline F NAME(logarithm)(F x, F y) \
    { \
        const F edge = x == (F)(0.0) ? (F)(-INFINITY) : x < (F)(0.0) ? (F)(NAN) : x; \
        return ((x > (F)(0.0)) & (x < (F)(INFINITY))) ? y : edge; \
    } \
    static inline F NAME(log)(F x) \
    { \
        F k; \
        const F f = NAME(mantissa)(x, &k) - (F)(1.0), s = f / ((F)(2.0) + f), z = s * s; \
        const F z2 = z * z, z4 = z2 * z2; \
        const F p = (DP_SERIES_4(F, z, z2, 2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0) + \
                     DP_SERIES_4(F, z, z2, 2.0 / 11.0, 2.0 / 13.0, 2.0 / 15.0, 2.0 / 17.0) * z4) + DP_SERIES_2(F, z, 2.0 / 19.0, 2.0 / 21.0) * (z4 * z4); \
        return NAME(logarithm)(x, k * (F)(DP_LN2_HIGH) + (f - (s * (f - z * p) - k * (F)(DP_LN2_LOW)))); \
    } \
    /* log x, and what it is more, of finite positive x */ \
    static inline F NAME(log_parts)(F x, F *more) \
    { \
        F k, s_d_more, z_more, w_more, t_more; \
        const F f = NAME(mantissa)(x, &k) - (F)(1.0), d = (F)(2.0) + f, d_more = f - (d - (F)(2.0)), one_by_d = (F)(1.0) / d; \
        const F s = f * one_by_d, s_d = NAME(product)(s, d, &s_d_more), s_more = (((f - s_d) - s_d_more) - s * d_more) * one_by_d; \
        const F z = NAME(product)(s, s, &z_more), w = NAME(product)(s, z, &w_more), t = NAME(product)(w, (F)(0x1.5555555555555p-1), &t_more); \
        w_more += s * (z_more + (F)(2.0) * s * s_more) + s_more * z; \
        t_more += w * (F)(0x1.5555555555555p-55) + w_more * (F)(0x1.5555555555555p-1); \
        const F z2 = z * z; \
        const F p = DP_SERIES_4(F, z, z2, 0x1.999999999999ap-2, 0x1.2492492492522p-2, 0x1.c71c71c6ea871p-3, 0x1.745d177aad02ap-3) + \
            DP_SERIES_4(F, z, z2, 0x1.3b1395c881220p-3, 0x1.1118c9ee5b8a4p-3, 0x1.df7c5bc7c7563p-4, 0x1.e032e4d8436a1p-4) * (z2 * z2); \
        const F whole = k * (F)(DP_LN2_HIGH), two_s = (F)(2.0) * s, first = whole + two_s, high = first + t; \
        const F low = (((two_s - (first - whole)) + (t - (high - first))) + ((F)(2.0) * s_more + t_more)) + (w * z * p + k * (F)(DP_LN2_LOW)); \
        const F y = high + low; \
        *more = low - (y - high); \
        return y; \
    } \
    static inline F NAME(log_of_base)(F x, double one_by_log, double one_by_log_more) \
    { \
        F more, p_more; \
        const F l = NAME(log_parts)(x, &more), p = NAME(product)(l, (F)(one_by_log), &p_more); \
        return NAME(logarithm)(x, p + (p_more + (more * (F)(one_by_log) + l * (F)(one_by_log_more)))); \
    } \
    static inline F NAME(log2)(F x) { return NAME(log_of_base)(x, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56); } \
    static inline F NAME(log10)(F x) { return NAME(log_of_base)(x, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57); } \
    static inline F NAME(whole)(F x) { return x < (F)(0x1p52) ? (x + (F)(0x1p52)) - (F)(0x1p52) : x; } \
    static inline F NAME(pow)(F x, F y) \
    { \
        const F size = NAME(size_of)(x), y_size = NAME(size_of)(y), y_2 = y_size * (F)(0.5); \
        const F y_whole = NAME(whole)(y_size), y_2_whole = NAME(whole)(y_2); \
        const I has_log = (I)(0) != (I)((size > (F)(0.0)) & (size < (F)(INFINITY))); \
        F more, p_more, near = y > (F)(0x1p80) ? (F)(0x1p80) : y; \
        near = near < (F)(-0x1p80) ? (F)(-0x1p80) : near; \
        const F l = NAME(log_parts)(has_log ? size : (F)(1.0), &more), p = NAME(product)(near, l, &p_more); \
        const F exponent = has_log ? p : near * (size == (F)(0.0) ? (F)(-INFINITY) : size); \
        F r = NAME(exp_parts)(exponent, NAME(size_of)(exponent) < (F)(800.0) ? p_more + near * more : (F)(0.0), 0); \
        r = ((__builtin_astype(x, I) < (I)(0)) & (y_size == y_whole) & (y_2 != y_2_whole)) ? -r : r; \
        r = ((x < (F)(0.0)) & (x > (F)(-INFINITY)) & (y_size != y_whole)) ? (F)(NAN) : r; \
        return ((y == (F)(0.0)) | (x == (F)(1.0)) | ((x == (F)(-1.0)) & (y_size == (F)(INFINITY)))) ? (F)(1.0) : r; \
    } \
    static inline F NAME(sinh)(F x) \
    { \
        const F size = NAME(size_of)(x), h = NAME(exp_parts)(size, (F)(0.0), 1), z = x * x, z2 = z * z, z4 = z2 * z2; \
        const F p = (DP_SERIES_4(F, z, z2, 1.0 / 6.0, 1.0 / 120.0, 1.0 / 5040.0, 1.0 / 362880.0) + \
                     DP_SERIES_4(F, z, z2, 1.0 / 39916800.0, 1.0 / 6227020800.0, 1.0 / 1307674368000.0, 1.0 / 355687428096000.0) * z4) + \
            (F)(1.0 / 121645100408832000.0) * (z4 * z4); \
        return size < (F)(1.0) ? x + x * (z * p) : NAME(negated_if)(__builtin_astype(x, I), h - (F)(0.25) / h); \
    } \
    static inline F NAME(cosh)(F x) \
    { \
        const F h = NAME(exp_parts)(NAME(size_of)(x), (F)(0.0), 1); \
        return h + (F)(0.25) / h; \
    } \
    static inline F NAME(tanh)(F x) \
    { \
        const F size = NAME(size_of)(x), a = (F)(2.0) * (size > (F)(22.0) ? (F)(22.0) : size); \
        const F shifted = a * (F)(0x1.71547652b82fep+0) + (F)(DP_ROUNDING); \
        const F power = __builtin_astype((__builtin_astype(shifted, I) - __builtin_astype((F)(DP_ROUNDING), I) + 1023) << 52, F); \
        const F above = power * NAME(growth)(a, (F)(0.0), shifted - (F)(DP_ROUNDING)) + (power - (F)(1.0)); \
        return ((x == (F)(0.0)) | (x != x)) ? x : NAME(negated_if)(__builtin_astype(x, I), above / (above + (F)(2.0))); \
    } \
    /* eighths pi/4 + sign atan (n / d) of 0 <= n <= d */ \
    static inline F NAME(angle)(F n, F d, F eighths, F sign) \
    { \
        const I far = (I)(0) != (I)(n > d * (F)(0.5)); \
        const F t = (far ? n - d : n) / (far ? n + d : d), z = t * t, z2 = z * z, z4 = z2 * z2, k = far ? eighths + sign : eighths; \
        const F p = (DP_SERIES_4(F, z, z2, -0x1.5555555555555p-2, 0x1.99999999998e0p-3, -0x1.24924924881f5p-3, 0x1.c71c71c014e0dp-4) + \
                     DP_SERIES_4(F, z, z2, -0x1.745d16016ea5fp-4, 0x1.3b138e4b5b747p-4, -0x1.110ea393fffe2p-4, 0x1.e1a795c3fb24fp-5) * z4) + \
            (DP_SERIES_4(F, z, z2, -0x1.ad441c37157fap-5, 0x1.7b1d7856d14a5p-5, -0x1.37ce51c509047p-5, 0x1.99984c3613cd5p-6) + \
             (F)(-0x1.2dd40041c2c27p-7) * z4) * (z4 * z4); \
        return k * (F)(DP_EIGHTH_HIGH) + (k * (F)(DP_EIGHTH_LOW) + sign * (t + t * (z * p))); \
    } \
    static inline F NAME(atan)(F x) \
    { \
        const F size = NAME(size_of)(x); \
        const I steep = (I)(0) != (I)(size > (F)(1.0)); \
        return NAME(negated_if)(__builtin_astype(x, I), NAME(angle)(steep ? (F)(1.0) : size, steep ? size : (F)(1.0), steep ? (F)(2.0) : (F)(0.0), \
                                                                     steep ? (F)(-1.0) : (F)(1.0))); \
    } \
    static inline F NAME(atan2)(F y, F x) \
    { \
        const F a = NAME(size_of)(y), b = NAME(size_of)(x); \
        const I steep = (I)(0) != (I)(a > b), left = (I)(0) != (I)(__builtin_astype(x, I) < (I)(0)); \
        const F high = steep ? a : b, low = steep ? b : a, scale = high > (F)(0x1p1000) ? (F)(0.25) : (F)(1.0); \
        const I ends = (I)(0) != (I)((low == (F)(INFINITY)) & (high == (F)(INFINITY))); \
        const F r = NAME(angle)(ends ? (F)(1.0) : low * scale, (ends | ((I)(0) != (I)(high == (F)(0.0)))) ? (F)(1.0) : high * scale, \
                                steep ? (F)(2.0) : left ? (F)(4.0) : (F)(0.0), steep != left ? (F)(-1.0) : (F)(1.0)); \
        return NAME(negated_if)(__builtin_astype(y, I), r); \
    } \
    /* s + s z p(z): asin s where far is not, else asin of the root of (1 - size) / 2 */ \
    static inline F NAME(arc)(F size) \
    { \
        const I far = (I)(0) != (I)(size > (F)(0.5)); \
        const F z = far ? ((F)(1.0) - size) * (F)(0.5) : size * size, s = far ? NAME(sqrt)(z) : size, z2 = z * z, z4 = z2 * z2; \
        const F p = (DP_SERIES_4(F, z, z2, 0x1.5555555555555p-3, 0x1.3333333333389p-4, 0x1.6db6db6dac0eap-5, 0x1.f1c71c7a5e151p-6) + \
                     DP_SERIES_4(F, z, z2, 0x1.6e8ba121b9d5fp-6, 0x1.1c4efd20ebb99p-6, 0x1.c990a42b32b03p-7, 0x1.7b02ef007d23ep-7) * z4) + \
            (DP_SERIES_4(F, z, z2, 0x1.3b462d121c5d2p-7, 0x1.31777489dfd29p-7, 0x1.8dcdf11997e0fp-9, 0x1.40c91fa8deb7ep-6) + \
             DP_SERIES_2(F, z, -0x1.3bd7e353ddbc2p-6, 0x1.e58a4f278e007p-6) * z4) * (z4 * z4); \
        return s + s * (z * p); \
    } \
    static inline F NAME(asin)(F x) \
    { \
        const F size = NAME(size_of)(x), arc = NAME(arc)(size); \
        const F far = (F)(2.0 * DP_EIGHTH_HIGH) - ((F)(2.0) * arc - (F)(2.0 * DP_EIGHTH_LOW)); \
        return NAME(negated_if)(__builtin_astype(x, I), size > (F)(0.5) ? far : arc); \
    } \
    static inline F NAME(acos)(F x) \
    { \
        const F size = NAME(size_of)(x), arc = NAME(arc)(size), two_arcs = (F)(2.0) * arc; \
        const F near = (F)(2.0 * DP_EIGHTH_HIGH) - (NAME(negated_if)(__builtin_astype(x, I), arc) - (F)(2.0 * DP_EIGHTH_LOW)); \
        const F left = (F)(4.0 * DP_EIGHTH_HIGH) - (two_arcs - (F)(4.0 * DP_EIGHTH_LOW)); \
        return size > (F)(0.5) ? (x < (F)(0.0) ? left : two_arcs) : near; \
    } \
    static inline F NAME(hypot)(F x, F y) \
    { \
        const F a = NAME(size_of)(x), b = NAME(size_of)(y), most = a > b ? a : b; \
        const F scale = most > (F)(0x1p500) ? (F)(0x1p-600) : most < (F)(0x1p-400) ? (F)(0x1p600) : (F)(1.0), u = a * scale, v = b * scale; \
        const F r = NAME(sqrt)(u * u + v * v) * (most > (F)(0x1p500) ? (F)(0x1p600) : most < (F)(0x1p-400) ? (F)(0x1p-600) : (F)(1.0)); \
        return ((a == (F)(INFINITY)) | (b == (F)(INFINITY))) ? (F)(INFINITY) : r; \
    }
#define DP_OF_F64(name) dp_##name##_of_f64
static inline double dp_sqrt_of_f64(double x) { return sqrt(x); }
DP_ELEMENTARY(double, long, DP_OF_F64)

#define DP_HALF_PI_HIGH 0x1.921fb544p+0
#define DP_HALF_PI_MIDDLE 0x1.0b4611a6p-34
#define DP_HALF_PI_LOW 0x1.3198a2e037073p-69
#define DP_SINE_MOST 0x1p20 /* beyond: the device's own, one value after the other */
#define DP_SINES(F, I, NAME) \
    static inline F NAME(sine)(F x, I quarter) \
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
    static inline F NAME(sin)(F x) { return x == (F)(0.0) ? x : NAME(sine)(x, (I)(0)); } \
    static inline F NAME(cos)(F x) { return NAME(sine)(x, (I)(1)); } \
    static inline F NAME(tan)(F x) { return x == (F)(0.0) ? x : NAME(sine)(x, (I)(0)) / NAME(sine)(x, (I)(1)); }
DP_SINES(double, long, DP_OF_F64)

/* Of f32, widened: polynomials with the least largest relative error (Remez), 2^-39 of e^r - 1, 2^-44 of log, 2^-47 of sin, 2^-42 of cos, in
 * short chains (Estrin). Rounded to f32 the error is below 0.501 ulp. y multiples of log x are as good: pow's exponents are below 2^7.
 *
 * growth: e^r - 1. exp: 2^k + 2^k (e^r - 1), in one step, as 2^k is in the range of f64. log: k a + b log m, so that powers of the base come
 * out exact. tanh: (e^2x - 1) / (e^2x + 1), where the numerator is 2^k (e^r - 1) + (2^k - 1), which loses nothing near 0. */
#define DP_SHORT(F, I, NAME) \
    static inline F NAME(growth)(F r) \
    { \
        const F z = r * r; \
        const F low = ((F)(0x1.000000005dee5p-1) + (F)(0x1.5555557dd31fcp-3) * r) + z * ((F)(0x1.5555541e51933p-5) + (F)(0x1.1110a25f7ccbdp-7) * r); \
        const F high = ((F)(0x1.6c18d32f66645p-10) + (F)(0x1.a1855fdc58131p-13) * r) + z * (F)(0x1.9e89372357005p-16); \
        return r + z * (low + (z * z) * high); \
    } \
    static inline F NAME(exp)(F x) \
    { \
        F a = x > (F)(100.0) ? (F)(100.0) : x; \
        a = a < (F)(-110.0) ? (F)(-110.0) : a; \
        const F shifted = a * (F)(0x1.71547652b82fep+0) + (F)(DP_ROUNDING), k = shifted - (F)(DP_ROUNDING); \
        const F y = (F)(1.0) + NAME(growth)(a - k * (F)(0x1.62e42fefa39efp-1)); \
        const I n = __builtin_astype(shifted, I) - __builtin_astype((F)(DP_ROUNDING), I); \
        return x != x ? x : __builtin_astype(__builtin_astype(y, I) + (n << 52), F); \
    } \
    static inline F NAME(log)(F x, double of_2, double of_e) \
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
    static inline F NAME(tanh)(F x) \
    { \
        F a = x > (F)(22.0) ? (F)(22.0) : x; \
        a = (F)(2.0) * (a < (F)(-22.0) ? (F)(-22.0) : a); \
        const F shifted = a * (F)(0x1.71547652b82fep+0) + (F)(DP_ROUNDING), k = shifted - (F)(DP_ROUNDING); \
        const I n = __builtin_astype(shifted, I) - __builtin_astype((F)(DP_ROUNDING), I); \
        const F power = __builtin_astype((n + 1023) << 52, F); \
        const F above = power * NAME(growth)(a - k * (F)(0x1.62e42fefa39efp-1)) + (power - (F)(1.0)); \
        return ((x == (F)(0.0)) | (x != x)) ? x : above / (above + (F)(2.0)); \
    } \
    static inline F NAME(pow)(F x, F y) \
    { \
        const F size = x < (F)(0.0) ? -x : x, y_2 = y * (F)(0.5); \
        const F y_whole = (y + (F)(DP_ROUNDING)) - (F)(DP_ROUNDING), y_2_whole = (y_2 + (F)(DP_ROUNDING)) - (F)(DP_ROUNDING); \
        F r = NAME(exp)(y * NAME(log)(size, 0x1.62e42fefa39efp-1, 1.0)); \
        r = ((__builtin_astype(x, I) < (I)(0)) & (y == y_whole) & (y_2 != y_2_whole)) ? -r : r; \
        r = ((x < (F)(0.0)) & (x > (F)(-INFINITY)) & (y != y_whole)) ? (F)(NAN) : r; \
        return ((y == (F)(0.0)) | (x == (F)(1.0)) | ((x == (F)(-1.0)) & ((y == (F)(INFINITY)) | (y == (F)(-INFINITY))))) ? (F)(1.0) : r; \
    } \
    static inline F NAME(sine)(F x, I quarter) \
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
#define DP_OF_F32(name) dp_##name##_of_f32
DP_SHORT(double, long, DP_OF_F32)
#define DP_LOG_E 0x1.62e42fefa39efp-1, 1.0
#define DP_LOG_2 1.0, 0x1.71547652b82fep+0
#define DP_LOG_10 0x1.34413509f79ffp-2, 0x1.bcb7b1526e50ep-2

#define DP_OVERLOADED static inline __attribute__((overloadable))
#define DP_OF_BOTH(name) \
    DP_OVERLOADED double dp_##name(double x) { return dp_##name##_of_f64(x); } \
    DP_OVERLOADED float dp_##name(float x) { return (float)dp_##name##_of_f64((double)x); }
#define DP_OF_BOTH_2(name) \
    DP_OVERLOADED double dp_##name(double x, double y) { return dp_##name##_of_f64(x, y); } \
    DP_OVERLOADED float dp_##name(float x, float y) { return (float)dp_##name##_of_f64((double)x, (double)y); }
#define DP_OF_EACH(name, short) \
    DP_OVERLOADED double dp_##name(double x) { return dp_##name##_of_f64(x); } \
    DP_OVERLOADED float dp_##name(float x) { return (float)short; }
#define DP_SINE(name, short) \
    DP_OVERLOADED double dp_##name(double x) { return fabs(x) <= DP_SINE_MOST ? dp_##name##_of_f64(x) : name(x); } \
    DP_OVERLOADED float dp_##name(float x) { return (float)(fabs(x) <= DP_SINE_MOST ? short : name((double)x)); }
DP_OF_BOTH(asin) DP_OF_BOTH(acos) DP_OF_BOTH(atan) DP_OF_BOTH(sinh) DP_OF_BOTH(cosh) DP_OF_BOTH_2(atan2) DP_OF_BOTH_2(hypot)
DP_OF_EACH(exp, dp_exp_of_f32((double)x)) DP_OF_EACH(tanh, dp_tanh_of_f32((double)x)) DP_OF_EACH(log, dp_log_of_f32((double)x, DP_LOG_E))
DP_OF_EACH(log2, dp_log_of_f32((double)x, DP_LOG_2)) DP_OF_EACH(log10, dp_log_of_f32((double)x, DP_LOG_10))
DP_OVERLOADED double dp_pow(double x, double y) { return dp_pow_of_f64(x, y); }
DP_OVERLOADED float dp_pow(float x, float y) { return (float)dp_pow_of_f32((double)x, (double)y); }
DP_SINE(sin, dp_sine_of_f32((double)x, 0)) DP_SINE(cos, dp_sine_of_f32((double)x, 1)) DP_SINE(tan, dp_tan_of_f64((double)x))
#define sin dp_sin
#define cos dp_cos
#define exp dp_exp
#define log dp_log
#define log2 dp_log2
#define log10 dp_log10
#define tanh dp_tanh
#define pow dp_pow
#define tan dp_tan
#define asin dp_asin
#define acos dp_acos
#define atan dp_atan
#define atan2 dp_atan2
#define sinh dp_sinh
#define cosh dp_cosh
#define hypot dp_hypot
#endif
