/* The scalar semantics of prims.def, on constant bits. */
#include "core/core.h"

#include "dp_size.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static double as_f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t f64_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float as_f32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, sizeof x);
    return x;
}

static uint64_t f32_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* ---- integers ---- */

static uint32_t int_width(Scalar s) { return 8 * scalar_bytes(s); }

/* Cuts to the width and extends by the type's sign: the canonical bits. */
static uint64_t int_wrap(Scalar s, uint64_t x)
{
    uint32_t unused = 64 - int_width(s);
    x <<= unused;
    if (!scalar_is_signed(s))
        return x >> unused;
    bool negative = x >> 63;
    x >>= unused;
    return negative && unused ? x | ~(UINT64_MAX >> unused) : x;
}

static bool int_negative(Scalar s, uint64_t x) { return scalar_is_signed(s) && x >> 63; }

static uint64_t int_magnitude(Scalar s, uint64_t x) { return int_negative(s, x) ? 0 - x : x; }

static bool int_less(Scalar s, uint64_t x, uint64_t y)
{
    uint64_t flip = scalar_is_signed(s) ? UINT64_C(1) << 63 : 0;
    return (x ^ flip) < (y ^ flip);
}

/* Through magnitudes, so that the smallest integer over -1 wraps. */
static uint64_t int_div(Scalar s, uint64_t x, uint64_t y)
{
    uint64_t q = int_magnitude(s, x) / int_magnitude(s, y);
    return int_negative(s, x) != int_negative(s, y) ? 0 - q : q;
}

static uint64_t int_mod(Scalar s, uint64_t x, uint64_t y)
{
    uint64_t r = int_magnitude(s, x) % int_magnitude(s, y);
    return int_negative(s, x) ? 0 - r : r;
}

static uint64_t int_pow(Scalar s, uint64_t x, uint64_t e)
{
    if (int_negative(s, e)) {
        if (x == 1)
            return 1;
        if (x == UINT64_MAX) /* -1 */
            return e & 1 ? x : 1;
        return 0;
    }
    uint64_t power = 1;
    for (; e; e >>= 1, x *= x)
        if (e & 1)
            power *= x;
    return power;
}

static uint64_t int_shr(Scalar s, uint64_t x, uint32_t count)
{
    uint64_t y = x >> count;
    return int_negative(s, x) && count ? y | ~(UINT64_MAX >> count) : y;
}

static uint64_t int_popcount(Scalar s, uint64_t x)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < int_width(s); i++)
        n += x >> i & 1;
    return n;
}

static uint64_t int_clz(Scalar s, uint64_t x)
{
    uint32_t width = int_width(s), n = 0;
    while (n < width && !(x >> (width - 1 - n) & 1))
        n++;
    return n;
}

static uint64_t int_ctz(Scalar s, uint64_t x)
{
    uint32_t width = int_width(s), n = 0;
    while (n < width && !(x >> n & 1))
        n++;
    return n;
}

static uint64_t int_apply(CorePrim p, Scalar s, const uint64_t *a)
{
    uint64_t x = a[0], y = core_prim_arity(p) > 1 ? a[1] : 0;
    uint32_t count = (uint32_t)(y & (int_width(s) - 1));
    switch (p) {
    case PRIM_ADD: return x + y;
    case PRIM_SUB: return x - y;
    case PRIM_MUL: return x * y;
    case PRIM_DIV: return int_div(s, x, y);
    case PRIM_MOD: return int_mod(s, x, y);
    case PRIM_POW: return int_pow(s, x, y);
    case PRIM_AND: return x & y;
    case PRIM_OR: return x | y;
    case PRIM_XOR: return x ^ y;
    case PRIM_SHL: return x << count;
    case PRIM_SHR: return int_shr(s, x, count);
    case PRIM_MIN: return int_less(s, y, x) ? y : x;
    case PRIM_MAX: return int_less(s, x, y) ? y : x;
    case PRIM_NEG: return 0 - x;
    case PRIM_COMPLEMENT: return ~x;
    case PRIM_ABS: return int_magnitude(s, x);
    case PRIM_SIGN: return int_negative(s, x) ? UINT64_MAX : x != 0;
    case PRIM_POPCOUNT: return int_popcount(s, x);
    case PRIM_CLZ: return int_clz(s, x);
    case PRIM_CTZ: return int_ctz(s, x);
    case PRIM_SIZE_ADD: return dp_size_add(x, y);
    case PRIM_SIZE_MUL: return dp_size_mul(x, y);
    default: assert(0 && "core_prim_apply: not an integer operation"); return 0;
    }
}

static uint64_t int_compare(CorePrim p, Scalar s, uint64_t x, uint64_t y)
{
    switch (p) {
    case PRIM_EQ: return x == y;
    case PRIM_NE: return x != y;
    case PRIM_LT:
    case PRIM_LESS_NAN_LAST: return int_less(s, x, y);
    case PRIM_LE: return !int_less(s, y, x);
    case PRIM_GT: return int_less(s, y, x);
    case PRIM_GE: return !int_less(s, x, y);
    default: assert(0 && "core_prim_apply: not a comparison"); return 0;
    }
}

/* ---- floats: each operation in the operand's own precision ---- */

static double f64_round_even(double x)
{
    double whole = floor(x), rest = x - whole; /* exact; independent of the rounding mode */
    if (rest > 0.5 || (rest == 0.5 && fmod(whole, 2.0) != 0.0))
        whole += 1.0;
    return copysign(whole, x);
}

static double f64_sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }

static double f64_apply(CorePrim p, double x, double y, double z)
{
    switch (p) {
    case PRIM_ADD: return x + y;
    case PRIM_SUB: return x - y;
    case PRIM_MUL: return x * y;
    case PRIM_DIV: return x / y;
    case PRIM_MOD: return fmod(x, y);
    case PRIM_POW: return pow(x, y);
    case PRIM_MIN: return isnan(x) || y < x ? y : x;
    case PRIM_MAX: return isnan(x) || y > x ? y : x;
    case PRIM_NEG: return -x;
    case PRIM_ABS: return fabs(x);
    case PRIM_SIGN: return f64_sign(x);
    case PRIM_SQRT: return sqrt(x);
    case PRIM_EXP: return exp(x);
    case PRIM_LOG: return log(x);
    case PRIM_LOG2: return log2(x);
    case PRIM_LOG10: return log10(x);
    case PRIM_SIN: return sin(x);
    case PRIM_COS: return cos(x);
    case PRIM_TAN: return tan(x);
    case PRIM_ASIN: return asin(x);
    case PRIM_ACOS: return acos(x);
    case PRIM_ATAN: return atan(x);
    case PRIM_ATAN2: return atan2(x, y);
    case PRIM_SINH: return sinh(x);
    case PRIM_COSH: return cosh(x);
    case PRIM_TANH: return tanh(x);
    case PRIM_FLOOR: return floor(x);
    case PRIM_CEIL: return ceil(x);
    case PRIM_ROUND: return f64_round_even(x);
    case PRIM_TRUNC: return trunc(x);
    case PRIM_FMA: return fma(x, y, z);
    case PRIM_HYPOT: return hypot(x, y);
    default: assert(0 && "core_prim_apply: not a float operation"); return 0;
    }
}

/* The operations that a double would round twice have their own single version; for the others below
 * (+ - * / sqrt and the exact ones) rounding the double result gives the correctly rounded single. */
static float f32_apply(CorePrim p, float x, float y, float z)
{
    switch (p) {
    case PRIM_POW: return powf(x, y);
    case PRIM_EXP: return expf(x);
    case PRIM_LOG: return logf(x);
    case PRIM_LOG2: return log2f(x);
    case PRIM_LOG10: return log10f(x);
    case PRIM_SIN: return sinf(x);
    case PRIM_COS: return cosf(x);
    case PRIM_TAN: return tanf(x);
    case PRIM_ASIN: return asinf(x);
    case PRIM_ACOS: return acosf(x);
    case PRIM_ATAN: return atanf(x);
    case PRIM_ATAN2: return atan2f(x, y);
    case PRIM_SINH: return sinhf(x);
    case PRIM_COSH: return coshf(x);
    case PRIM_TANH: return tanhf(x);
    case PRIM_FMA: return fmaf(x, y, z);
    case PRIM_HYPOT: return hypotf(x, y);
    default: return (float)f64_apply(p, (double)x, (double)y, (double)z);
    }
}

static uint64_t float_compare(CorePrim p, double x, double y)
{
    switch (p) {
    case PRIM_EQ: return x == y;
    case PRIM_NE: return x != y;
    case PRIM_LT: return x < y;
    case PRIM_LE: return x <= y;
    case PRIM_GT: return x > y;
    case PRIM_GE: return x >= y;
    case PRIM_LESS_NAN_LAST: return (isnan(y) && !isnan(x)) || x < y;
    case PRIM_ISNAN: return x != x;
    case PRIM_ISINF: return fabs(x) == (double)INFINITY;
    default: assert(0 && "core_prim_apply: not a comparison"); return 0;
    }
}

static uint64_t float_apply(CorePrim p, Scalar s, const uint64_t *a)
{
    uint32_t n = core_prim_arity(p);
    uint64_t x = a[0], y = n > 1 ? a[1] : 0, z = n > 2 ? a[2] : 0;
    if (s == SC_F32)
        return f32_bits(f32_apply(p, as_f32(x), as_f32(y), as_f32(z)));
    return f64_bits(f64_apply(p, as_f64(x), as_f64(y), as_f64(z)));
}

/* ---- bool ---- */

static uint64_t bool_apply(CorePrim p, uint64_t x, uint64_t y)
{
    switch (p) {
    case PRIM_AND:
    case PRIM_MIN:
    case PRIM_MUL: return x & y;
    case PRIM_OR:
    case PRIM_MAX: return x | y;
    case PRIM_XOR: return x ^ y;
    case PRIM_NOT: return !x;
    default: assert(0 && "core_prim_apply: not an operation on bool"); return 0;
    }
}

/* ---- conversions ---- */

static uint64_t float_to_int(Scalar to, double x)
{
    if (isnan(x))
        return 0;
    uint32_t width = int_width(to);
    x = trunc(x);
    if (scalar_is_signed(to)) {
        double limit = ldexp(1.0, (int)width - 1); /* 2^(w-1): exact; the largest value lies below */
        if (x >= limit)
            return (UINT64_C(1) << (width - 1)) - 1;
        if (x < -limit)
            return 0 - (UINT64_C(1) << (width - 1));
        return (uint64_t)(int64_t)x;
    }
    if (x >= ldexp(1.0, (int)width))
        return UINT64_MAX >> (64 - width);
    return x <= 0 ? 0 : (uint64_t)x;
}

/* One rounding from the integer to the target: f32 is not reached through f64. */
static uint64_t int_to_float(Scalar from, Scalar to, uint64_t x)
{
    if (scalar_is_signed(from))
        return to == SC_F32 ? f32_bits((float)(int64_t)x) : f64_bits((double)(int64_t)x);
    return to == SC_F32 ? f32_bits((float)x) : f64_bits((double)x);
}

static uint64_t convert(Scalar from, Scalar to, uint64_t x)
{
    if (from == to)
        return x;
    if (scalar_is_float(from)) {
        double value = from == SC_F32 ? (double)as_f32(x) : as_f64(x);
        if (to == SC_BOOL)
            return value != 0.0; /* NaN differs from zero */
        if (to == SC_F32)
            return f32_bits((float)value);
        return to == SC_F64 ? f64_bits(value) : float_to_int(to, value);
    }
    if (to == SC_BOOL)
        return x != 0;
    return scalar_is_float(to) ? int_to_float(from, to, x) : int_wrap(to, x);
}

/* ---- all together ---- */

static uint64_t compare(CorePrim p, Scalar s, const uint64_t *a)
{
    uint64_t x = a[0], y = core_prim_arity(p) > 1 ? a[1] : 0;
    if (s == SC_F32)
        return float_compare(p, (double)as_f32(x), (double)as_f32(y));
    if (s == SC_F64)
        return float_compare(p, as_f64(x), as_f64(y));
    return int_compare(p, s, x, y);
}

uint64_t core_prim_apply(CorePrim p, Scalar operand, Scalar result, const uint64_t *args)
{
    switch (p) {
    case PRIM_SELECT: return args[0] ? args[1] : args[2];
    case PRIM_CONVERT: return convert(operand, result, args[0]);
    case PRIM_EQ:
    case PRIM_NE:
    case PRIM_LT:
    case PRIM_LE:
    case PRIM_GT:
    case PRIM_GE:
    case PRIM_LESS_NAN_LAST:
    case PRIM_ISNAN:
    case PRIM_ISINF: return compare(p, operand, args);
    default: break;
    }
    if (operand == SC_BOOL)
        return bool_apply(p, args[0], core_prim_arity(p) > 1 ? args[1] : 0);
    if (scalar_is_float(operand))
        return float_apply(p, operand, args);
    return int_wrap(operand, int_apply(p, operand, args));
}
