/* clang-format off */
/* The scalar operations of compiler/core/prims.def as functions: dp_<prim>_<type> and dp_convert_<from>_<to>.
 *
 * ONE TEXT FOR TWO LANGUAGES. Generated host programs include this file as C11; the runtime puts the same file in front of
 * every kernel as OpenCL C 1.2. So a scalar expression has one spelling and one meaning on both sides.
 *
 *   types       dp_bool (a byte, 0 or 1) dp_i8 dp_i16 dp_i32 dp_i64 dp_u8 dp_u16 dp_u32 dp_u64 dp_f32 dp_f64, dp_view
 *   prims       dp_add_i32(a, b)  dp_sqrt_f32(a)  dp_lt_u8(a, b) : dp_bool  dp_select_f64(cond, a, b)  dp_select_view(cond, a, b)
 *   conversions dp_convert_f64_i8(a)
 *   bits        dp_from_bits_i16(dp_u64), dp_to_bits_i16(x): values as the bits of core constants (integers extended by their
 *               sign, floats by their own bits, f32 in the low half)
 *   views       dp_make_view(len, addr), DP_LEN(v), DP_ADDR(v)
 *   failures    dp_error(heap, site, v0, v1, v2): on the host `heap` is the DpRt *, which is failed then
 *
 * Every function is total and free of undefined behaviour: integers wrap (through unsigned arithmetic), a zero divisor gives
 * 0 (the check that reports it stands before), shifts take the count modulo the width, float to int saturates.
 * f64 exists where the device has it. */
#ifndef DP_SCALAR_H
#define DP_SCALAR_H

/* ---- what differs between the languages ---- */
#if defined(__OPENCL_C_VERSION__) || defined(__OPENCL_VERSION__)
/* With DP_CONTRACT a product and a sum may become one operation, also where they are of different functions. NVIDIA's compiler does that unless it is
 * told about contraction at all: for it ON means within one expression. */
#if DP_CONTRACT && DP_NVIDIA
#define DP_CONTRACTION
#elif DP_CONTRACT
#define DP_CONTRACTION _Pragma("OPENCL FP_CONTRACT ON") _Pragma("clang fp contract(fast)")
#else
#define DP_CONTRACTION _Pragma("OPENCL FP_CONTRACT OFF")
#endif
DP_CONTRACTION
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define DP_HAS_F64 1
#endif

typedef uchar dp_bool; typedef char dp_i8; typedef short dp_i16; typedef int dp_i32; typedef long dp_i64;
typedef uchar dp_u8; typedef ushort dp_u16; typedef uint dp_u32; typedef ulong dp_u64; typedef float dp_f32;
#ifdef DP_HAS_F64
typedef double dp_f64;
#endif
typedef ulong2 dp_view; /* x = length, y = address */
#define DP_LEN(v) ((v).x)
#define DP_ADDR(v) ((v).y)
#define dp_make_view(len, addr) ((ulong2)((len), (addr)))
/* A lane's own arrays: n elements of one become those of another. */
#define DP_COPY(to, from, n) for (int dp_k = 0; dp_k < (n); dp_k++) (to)[dp_k] = (from)[dp_k]

#define DP_FN static inline
#define DP_F32_CALL(name) name
#define dp_popcount_wide32(x) popcount((dp_u32)(x))
#define dp_popcount_wide64(x) popcount((dp_u64)(x))
#define dp_clz_wide32(x) clz((dp_u32)(x))
#define dp_clz_wide64(x) clz((dp_u64)(x))
DP_FN dp_f32 dp_f32_of_u32(dp_u32 x) { return as_float(x); }
DP_FN dp_u32 dp_u32_of_f32(dp_f32 x) { return as_uint(x); }
#ifdef DP_HAS_F64
DP_FN dp_f64 dp_f64_of_u64(dp_u64 x) { return as_double(x); }
DP_FN dp_u64 dp_u64_of_f64(dp_f64 x) { return as_ulong(x); }
#endif

#else /* C11 */
#include "dp_size.h"
#include <math.h>
#include <stdint.h>
#include <string.h>
#define DP_HAS_F64 1

typedef uint8_t dp_bool; typedef int8_t dp_i8; typedef int16_t dp_i16; typedef int32_t dp_i32; typedef int64_t dp_i64;
typedef uint8_t dp_u8; typedef uint16_t dp_u16; typedef uint32_t dp_u32; typedef uint64_t dp_u64; typedef float dp_f32;
typedef double dp_f64;
typedef struct dp_view { uint64_t len, addr; } dp_view;
#define DP_LEN(v) ((v).len)
#define DP_ADDR(v) ((v).addr)
#define dp_make_view(len, addr) ((dp_view){(uint64_t)(len), (uint64_t)(addr)})

struct DpRt;
void dp_fail(struct DpRt *rt, uint32_t site, int64_t v0, int64_t v1, int64_t v2);
#define dp_error(heap, site, v0, v1, v2) dp_fail((heap), (site), (int64_t)(v0), (int64_t)(v1), (int64_t)(v2))

#define DP_FN static inline
#define DP_F32_CALL(name) name##f
#define dp_popcount_wide32(x) __builtin_popcount(x)
#define dp_popcount_wide64(x) __builtin_popcountll(x)
#define dp_clz_wide32(x) ((x) ? __builtin_clz(x) : 32)
#define dp_clz_wide64(x) ((x) ? __builtin_clzll(x) : 64)
DP_FN dp_f32 dp_f32_of_u32(dp_u32 x) { dp_f32 y; memcpy(&y, &x, sizeof y); return y; }
DP_FN dp_u32 dp_u32_of_f32(dp_f32 x) { dp_u32 y; memcpy(&y, &x, sizeof y); return y; }
DP_FN dp_f64 dp_f64_of_u64(dp_u64 x) { dp_f64 y; memcpy(&y, &x, sizeof y); return y; }
DP_FN dp_u64 dp_u64_of_f64(dp_f64 x) { dp_u64 y; memcpy(&y, &x, sizeof y); return y; }
#endif

/* ---- every type ---- */
#define DP_COMPARISONS(N) \
    DP_FN dp_bool dp_eq_##N(dp_##N a, dp_##N b) { return a == b; } \
    DP_FN dp_bool dp_ne_##N(dp_##N a, dp_##N b) { return a != b; } \
    DP_FN dp_bool dp_lt_##N(dp_##N a, dp_##N b) { return a < b; } \
    DP_FN dp_bool dp_le_##N(dp_##N a, dp_##N b) { return a <= b; } \
    DP_FN dp_bool dp_gt_##N(dp_##N a, dp_##N b) { return a > b; } \
    DP_FN dp_bool dp_ge_##N(dp_##N a, dp_##N b) { return a >= b; } \
    DP_FN dp_##N dp_select_##N(dp_bool c, dp_##N a, dp_##N b) { return c ? a : b; }

DP_FN dp_view dp_select_view(dp_bool c, dp_view a, dp_view b)
{
    return dp_make_view(c ? DP_LEN(a) : DP_LEN(b), c ? DP_ADDR(a) : DP_ADDR(b));
}

/* ---- bool ---- */
DP_COMPARISONS(bool)
DP_FN dp_bool dp_less_nan_last_bool(dp_bool a, dp_bool b) { return a < b; }
DP_FN dp_bool dp_and_bool(dp_bool a, dp_bool b) { return (dp_bool)(a & b); }
DP_FN dp_bool dp_or_bool(dp_bool a, dp_bool b) { return (dp_bool)(a | b); }
DP_FN dp_bool dp_xor_bool(dp_bool a, dp_bool b) { return (dp_bool)(a ^ b); }
DP_FN dp_bool dp_not_bool(dp_bool a) { return !a; }
DP_FN dp_bool dp_min_bool(dp_bool a, dp_bool b) { return (dp_bool)(a & b); }
DP_FN dp_bool dp_max_bool(dp_bool a, dp_bool b) { return (dp_bool)(a | b); }
DP_FN dp_bool dp_mul_bool(dp_bool a, dp_bool b) { return (dp_bool)(a & b); }

/* ---- integers: type N, unsigned type U of its width, W the unsigned type of `wide` bits that it is computed in ---- */
#define DP_INTEGERS(N, U, W, bits, wide) \
    DP_COMPARISONS(N) \
    DP_FN dp_bool dp_less_nan_last_##N(dp_##N a, dp_##N b) { return a < b; } \
    DP_FN dp_##N dp_min_##N(dp_##N a, dp_##N b) { return b < a ? b : a; } \
    DP_FN dp_##N dp_max_##N(dp_##N a, dp_##N b) { return a < b ? b : a; } \
    DP_FN dp_##N dp_add_##N(dp_##N a, dp_##N b) { return (dp_##N)((W)a + (W)b); } \
    DP_FN dp_##N dp_sub_##N(dp_##N a, dp_##N b) { return (dp_##N)((W)a - (W)b); } \
    DP_FN dp_##N dp_mul_##N(dp_##N a, dp_##N b) { return (dp_##N)((W)a * (W)b); } \
    DP_FN dp_##N dp_neg_##N(dp_##N a) { return (dp_##N)((W)0 - (W)a); } \
    DP_FN dp_##N dp_and_##N(dp_##N a, dp_##N b) { return (dp_##N)(a & b); } \
    DP_FN dp_##N dp_or_##N(dp_##N a, dp_##N b) { return (dp_##N)(a | b); } \
    DP_FN dp_##N dp_xor_##N(dp_##N a, dp_##N b) { return (dp_##N)(a ^ b); } \
    DP_FN dp_##N dp_complement_##N(dp_##N a) { return (dp_##N)~(W)a; } \
    DP_FN dp_##N dp_shl_##N(dp_##N a, dp_##N b) { return (dp_##N)((W)a << ((W)b & (bits - 1))); } \
    DP_FN dp_##N dp_shr_##N(dp_##N a, dp_##N b) { return (dp_##N)(a >> ((W)b & (bits - 1))); } \
    DP_FN dp_##N dp_popcount_##N(dp_##N a) { return (dp_##N)dp_popcount_wide##wide((W)(U)a); } \
    DP_FN dp_##N dp_clz_##N(dp_##N a) { return (dp_##N)((int)dp_clz_wide##wide((W)(U)a) - (wide - bits)); } \
    /* the ones below the lowest one; for 0 all bits of the type */ \
    DP_FN dp_##N dp_ctz_##N(dp_##N a) { return (dp_##N)dp_popcount_wide##wide((W)(U)(~(W)a & ((W)a - 1u))); } \
    DP_FN dp_##N dp_from_bits_##N(dp_u64 x) { return (dp_##N)x; } \
    DP_FN dp_##N dp_power_##N(dp_##N a, dp_u64 e) \
    { \
        W x = (W)a, power = 1; \
        for (; e; e >>= 1, x *= x) \
            if (e & 1) \
                power *= x; \
        return (dp_##N)power; \
    }

#define DP_SIGNED(N, U, W, bits, wide) \
    DP_INTEGERS(N, U, W, bits, wide) \
    DP_FN dp_u64 dp_to_bits_##N(dp_##N a) { return (dp_u64)(dp_i64)a; } \
    DP_FN dp_##N dp_abs_##N(dp_##N a) { return a < 0 ? dp_neg_##N(a) : a; } \
    DP_FN dp_##N dp_sign_##N(dp_##N a) { return (dp_##N)((a > 0) - (a < 0)); } \
    /* -1 apart: the smallest integer divided by it wraps */ \
    DP_FN dp_##N dp_div_##N(dp_##N a, dp_##N b) { return b == 0 ? (dp_##N)0 : b == -1 ? dp_neg_##N(a) : (dp_##N)(a / b); } \
    DP_FN dp_##N dp_mod_##N(dp_##N a, dp_##N b) { return b == 0 || b == -1 ? (dp_##N)0 : (dp_##N)(a % b); } \
    DP_FN dp_##N dp_pow_##N(dp_##N a, dp_##N e) \
    { \
        if (e < 0) \
            return a == 1 ? (dp_##N)1 : a == -1 ? (dp_##N)(e & 1 ? -1 : 1) : (dp_##N)0; \
        return dp_power_##N(a, (dp_u64)e); \
    }

#define DP_UNSIGNED(N, U, W, bits, wide) \
    DP_INTEGERS(N, U, W, bits, wide) \
    DP_FN dp_u64 dp_to_bits_##N(dp_##N a) { return (dp_u64)a; } \
    DP_FN dp_##N dp_abs_##N(dp_##N a) { return a; } \
    DP_FN dp_##N dp_sign_##N(dp_##N a) { return (dp_##N)(a != 0); } \
    DP_FN dp_##N dp_div_##N(dp_##N a, dp_##N b) { return b == 0 ? (dp_##N)0 : (dp_##N)(a / b); } \
    DP_FN dp_##N dp_mod_##N(dp_##N a, dp_##N b) { return b == 0 ? (dp_##N)0 : (dp_##N)(a % b); } \
    DP_FN dp_##N dp_pow_##N(dp_##N a, dp_##N e) { return dp_power_##N(a, (dp_u64)e); }

DP_SIGNED(i8, dp_u8, dp_u32, 8, 32)
DP_SIGNED(i16, dp_u16, dp_u32, 16, 32)
DP_SIGNED(i32, dp_u32, dp_u32, 32, 32)
DP_SIGNED(i64, dp_u64, dp_u64, 64, 64)
/* mod, without a division where a is below 2 * b, as an index that wraps is. */
DP_FN dp_i64 dp_wrap_i64(dp_i64 a, dp_i64 b)
{
    if (a >= 0 && a < b)
        return a;
    return b > 0 && a >= b && a - b < b ? a - b : dp_mod_i64(a, b);
}
DP_UNSIGNED(u8, dp_u8, dp_u32, 8, 32)
DP_UNSIGNED(u16, dp_u16, dp_u32, 16, 32)
DP_UNSIGNED(u32, dp_u32, dp_u32, 32, 32)
DP_UNSIGNED(u64, dp_u64, dp_u64, 64, 64)
DP_FN dp_i64 dp_size_add_i64(dp_i64 a, dp_i64 b) { return (dp_i64)dp_size_add((dp_u64)a, (dp_u64)b); }
DP_FN dp_i64 dp_size_mul_i64(dp_i64 a, dp_i64 b) { return (dp_i64)dp_size_mul((dp_u64)a, (dp_u64)b); }
DP_FN dp_bool dp_from_bits_bool(dp_u64 x) { return x != 0; }
DP_FN dp_u64 dp_to_bits_bool(dp_bool a) { return (dp_u64)a; }

/* ---- floats: CALL(name) is the language's function of that precision ---- */
#define DP_F64_CALL(name) name
#define DP_FLOAT_FN1(N, CALL, name) DP_FN dp_##N dp_##name##_##N(dp_##N a) { return CALL(name)(a); }
#define DP_FLOATS(N, CALL) \
    DP_COMPARISONS(N) \
    DP_FN dp_bool dp_isnan_##N(dp_##N a) { return a != a; } \
    DP_FN dp_bool dp_isinf_##N(dp_##N a) { return CALL(fabs)(a) == (dp_##N)INFINITY; } \
    DP_FN dp_bool dp_less_nan_last_##N(dp_##N a, dp_##N b) { return b != b ? a == a : a < b; } \
    DP_FN dp_##N dp_add_##N(dp_##N a, dp_##N b) { return a + b; } \
    DP_FN dp_##N dp_sub_##N(dp_##N a, dp_##N b) { return a - b; } \
    DP_FN dp_##N dp_mul_##N(dp_##N a, dp_##N b) { return a * b; } \
    DP_FN dp_##N dp_div_##N(dp_##N a, dp_##N b) { return a / b; } \
    DP_FN dp_##N dp_mod_##N(dp_##N a, dp_##N b) { return CALL(fmod)(a, b); } \
    DP_FN dp_##N dp_pow_##N(dp_##N a, dp_##N b) { return CALL(pow)(a, b); } \
    DP_FN dp_##N dp_min_##N(dp_##N a, dp_##N b) { return a != a ? b : (b < a ? b : a); } \
    DP_FN dp_##N dp_max_##N(dp_##N a, dp_##N b) { return a != a ? b : (b > a ? b : a); } \
    DP_FN dp_##N dp_neg_##N(dp_##N a) { return -a; } \
    DP_FN dp_##N dp_abs_##N(dp_##N a) { return CALL(fabs)(a); } \
    DP_FN dp_##N dp_sign_##N(dp_##N a) { return (dp_##N)((a > 0) - (a < 0)); } \
    DP_FN dp_##N dp_round_##N(dp_##N a) { return CALL(rint)(a); } \
    DP_FN dp_##N dp_atan2_##N(dp_##N a, dp_##N b) { return CALL(atan2)(a, b); } \
    DP_FN dp_##N dp_hypot_##N(dp_##N a, dp_##N b) { return CALL(hypot)(a, b); } \
    DP_FN dp_##N dp_fma_##N(dp_##N a, dp_##N b, dp_##N c) { return CALL(fma)(a, b, c); } \
    DP_FLOAT_FN1(N, CALL, sqrt) DP_FLOAT_FN1(N, CALL, exp) DP_FLOAT_FN1(N, CALL, log) DP_FLOAT_FN1(N, CALL, log2) \
    DP_FLOAT_FN1(N, CALL, log10) DP_FLOAT_FN1(N, CALL, sin) DP_FLOAT_FN1(N, CALL, cos) DP_FLOAT_FN1(N, CALL, tan) \
    DP_FLOAT_FN1(N, CALL, asin) DP_FLOAT_FN1(N, CALL, acos) DP_FLOAT_FN1(N, CALL, atan) DP_FLOAT_FN1(N, CALL, sinh) \
    DP_FLOAT_FN1(N, CALL, cosh) DP_FLOAT_FN1(N, CALL, tanh) DP_FLOAT_FN1(N, CALL, floor) DP_FLOAT_FN1(N, CALL, ceil) \
    DP_FLOAT_FN1(N, CALL, trunc)

DP_FLOATS(f32, DP_F32_CALL)
DP_FN dp_f32 dp_from_bits_f32(dp_u64 x) { return dp_f32_of_u32((dp_u32)x); }
DP_FN dp_u64 dp_to_bits_f32(dp_f32 a) { return dp_u32_of_f32(a); }
#ifdef DP_HAS_F64
DP_FLOATS(f64, DP_F64_CALL)
DP_FN dp_f64 dp_from_bits_f64(dp_u64 x) { return dp_f64_of_u64(x); }
DP_FN dp_u64 dp_to_bits_f64(dp_f64 a) { return dp_u64_of_f64(a); }
#endif

/* ---- conversions ---- */
/* Integers wrap; to a float they are rounded once. */
#define DP_CONVERT_CAST(A, B) DP_FN dp_##B dp_convert_##A##_##B(dp_##A a) { return (dp_##B)a; }
#define DP_CONVERT_BOOL(A) DP_FN dp_bool dp_convert_##A##_bool(dp_##A a) { return a != 0; }
#define DP_CONVERT_INTS(A) \
    DP_CONVERT_CAST(A, i8) DP_CONVERT_CAST(A, i16) DP_CONVERT_CAST(A, i32) DP_CONVERT_CAST(A, i64) \
    DP_CONVERT_CAST(A, u8) DP_CONVERT_CAST(A, u16) DP_CONVERT_CAST(A, u32) DP_CONVERT_CAST(A, u64)
#define DP_CONVERT_FROM_INT(A) DP_CONVERT_INTS(A) DP_CONVERT_BOOL(A) DP_CONVERT_CAST(A, f32)
#define DP_CONVERT_EACH_INT(M) M(bool) M(i8) M(i16) M(i32) M(i64) M(u8) M(u16) M(u32) M(u64)
DP_CONVERT_EACH_INT(DP_CONVERT_FROM_INT)

/* Float to integer truncates and saturates, nan gives 0. `limit` is 2^(bits-1), or 2^bits for unsigned types: exact in f32. */
#define DP_CONVERT_SIGNED(A, B, limit, largest) \
    DP_FN dp_##B dp_convert_##A##_##B(dp_##A a) \
    { \
        dp_##B inside = (dp_##B)(a >= -(dp_##A)limit && a < (dp_##A)limit ? a : (dp_##A)0); \
        return a >= (dp_##A)limit ? (dp_##B)largest : a < -(dp_##A)limit ? (dp_##B)(-(dp_i64)largest - 1) : inside; \
    }
#define DP_CONVERT_UNSIGNED(A, B, limit) \
    DP_FN dp_##B dp_convert_##A##_##B(dp_##A a) \
    { \
        dp_##B inside = (dp_##B)(a > (dp_##A)0 && a < (dp_##A)limit ? a : (dp_##A)0); \
        return a >= (dp_##A)limit ? (dp_##B)~(dp_##B)0 : inside; \
    }
#define DP_CONVERT_FROM_FLOAT(A) \
    DP_CONVERT_BOOL(A) \
    DP_CONVERT_SIGNED(A, i8, 0x1p7f, 0x7f) DP_CONVERT_SIGNED(A, i16, 0x1p15f, 0x7fff) \
    DP_CONVERT_SIGNED(A, i32, 0x1p31f, 0x7fffffff) DP_CONVERT_SIGNED(A, i64, 0x1p63f, 0x7fffffffffffffff) \
    DP_CONVERT_UNSIGNED(A, u8, 0x1p8f) DP_CONVERT_UNSIGNED(A, u16, 0x1p16f) \
    DP_CONVERT_UNSIGNED(A, u32, 0x1p32f) DP_CONVERT_UNSIGNED(A, u64, 0x1p64f) \
    DP_CONVERT_CAST(A, f32)
DP_CONVERT_FROM_FLOAT(f32)
#ifdef DP_HAS_F64
#define DP_CONVERT_INT_F64(A) DP_CONVERT_CAST(A, f64)
DP_CONVERT_EACH_INT(DP_CONVERT_INT_F64)
DP_CONVERT_FROM_FLOAT(f64)
DP_CONVERT_CAST(f32, f64)
DP_CONVERT_CAST(f64, f64)
#endif

#endif
