/* In front of kernels where the device's header of built-in functions is left out (source.c): those that kernels call.
 *
 * Declared as in clang's opencl-c.h, so that both may stand in one program. */
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define DP_EACH_FLOAT(DECLARE, name) DECLARE(float, name) DECLARE(double, name)
#else
#define DP_EACH_FLOAT(DECLARE, name) DECLARE(float, name)
#endif
#define DP_BUILTIN __attribute__((overloadable))
#define DP_CONST_BUILTIN __attribute__((overloadable, const))
#define DP_ONE(T, name) T DP_CONST_BUILTIN name(T);
#define DP_TWO(T, name) T DP_CONST_BUILTIN name(T, T);
#define DP_THREE(T, name) T DP_CONST_BUILTIN name(T, T, T);
#define DP_WORK_ITEM(name) size_t DP_CONST_BUILTIN name(uint);
#define DP_ATOMIC(T, name) T DP_BUILTIN name(volatile __global T *, T);
#define DP_COMPARE_AND_SWAP(T, name) T DP_BUILTIN name(volatile __global T *, T, T);

DP_WORK_ITEM(get_global_id) DP_WORK_ITEM(get_global_size) DP_WORK_ITEM(get_group_id) DP_WORK_ITEM(get_num_groups)
DP_EACH_FLOAT(DP_ONE, acos) DP_EACH_FLOAT(DP_ONE, asin) DP_EACH_FLOAT(DP_ONE, atan) DP_EACH_FLOAT(DP_ONE, ceil)
DP_EACH_FLOAT(DP_ONE, cos) DP_EACH_FLOAT(DP_ONE, cosh) DP_EACH_FLOAT(DP_ONE, exp) DP_EACH_FLOAT(DP_ONE, fabs)
DP_EACH_FLOAT(DP_ONE, floor) DP_EACH_FLOAT(DP_ONE, log) DP_EACH_FLOAT(DP_ONE, log10) DP_EACH_FLOAT(DP_ONE, log2)
DP_EACH_FLOAT(DP_ONE, rint) DP_EACH_FLOAT(DP_ONE, sin) DP_EACH_FLOAT(DP_ONE, sinh) DP_EACH_FLOAT(DP_ONE, sqrt)
DP_EACH_FLOAT(DP_ONE, tan) DP_EACH_FLOAT(DP_ONE, tanh) DP_EACH_FLOAT(DP_ONE, trunc)
DP_EACH_FLOAT(DP_TWO, atan2) DP_EACH_FLOAT(DP_TWO, fmod) DP_EACH_FLOAT(DP_TWO, hypot) DP_EACH_FLOAT(DP_TWO, pow)
DP_EACH_FLOAT(DP_THREE, fma)
DP_ONE(uint, clz) DP_ONE(ulong, clz) DP_ONE(uint, popcount) DP_ONE(ulong, popcount)
DP_TWO(int, max) DP_TWO(uint, max) DP_TWO(long, max) DP_TWO(ulong, max)
DP_TWO(int, min) DP_TWO(uint, min) DP_TWO(long, min) DP_TWO(ulong, min)
DP_ATOMIC(int, atomic_add) DP_ATOMIC(uint, atomic_add) DP_ATOMIC(int, atomic_and) DP_ATOMIC(uint, atomic_and)
DP_ATOMIC(int, atomic_max) DP_ATOMIC(uint, atomic_max) DP_ATOMIC(int, atomic_min) DP_ATOMIC(uint, atomic_min)
DP_ATOMIC(int, atomic_or) DP_ATOMIC(uint, atomic_or) DP_ATOMIC(int, atomic_xor) DP_ATOMIC(uint, atomic_xor)
DP_COMPARE_AND_SWAP(int, atomic_cmpxchg) DP_COMPARE_AND_SWAP(uint, atomic_cmpxchg)
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
DP_ATOMIC(long, atom_add) DP_ATOMIC(ulong, atom_add)
DP_COMPARE_AND_SWAP(ulong, atom_cmpxchg)
#endif
