/* Sizes: numbers of elements and of bytes, and their sums and products, which must not wrap.
 *
 * ONE TEXT FOR TWO LANGUAGES, like dp_scalar.h: the compiler, the interpreters, the runtime and generated host programs
 * include it as C11, and it stands in front of every kernel. Whatever adds up or multiplies sizes that come from a
 * program does it here.
 *
 * A size is a u64 of at most DP_SIZE_MAX, which is also the largest i64, and stands for itself and for all that is
 * larger: arithmetic stops there. So does the program's memory, long before; a request for so much is answered by "out
 * of memory". */
#ifndef DP_SIZE_H
#define DP_SIZE_H

#if defined(__OPENCL_C_VERSION__) || defined(__OPENCL_VERSION__)
typedef ulong dp_size;
#define DP_SIZE_MAX 0x7fffffffffffffffUL
#else
#include <stddef.h>
#include <stdint.h>
typedef uint64_t dp_size;
#define DP_SIZE_MAX UINT64_C(0x7fffffffffffffff)
#endif

/* Both are associative and commutative on sizes; what is no size counts as the largest. */
static inline dp_size dp_size_add(dp_size a, dp_size b)
{
    return a > DP_SIZE_MAX || b > DP_SIZE_MAX - a ? DP_SIZE_MAX : a + b;
}

static inline dp_size dp_size_mul(dp_size a, dp_size b) { return a && b > DP_SIZE_MAX / a ? DP_SIZE_MAX : a * b; }

#if !defined(__OPENCL_C_VERSION__) && !defined(__OPENCL_VERSION__)
/* "4.0 EB", for messages (runtime/values/memory_text.c). */
void dp_size_print(char *to, size_t room, dp_size bytes);
#endif

#endif
