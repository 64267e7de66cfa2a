/* Bodies and operators a second time, for several instances side by side: what a CPU's vector instructions are for.
 *
 * W neighbouring instances ("lanes") go through the code together, 16 where no value has more than 4 bytes, else 8. A
 * variable is
 *
 *   UNIFORM  the same in all lanes: the scalar of emit_scalar.h
 *   NEAR     an i64, base + lane: the scalar `base`. Positions, and what is added to them: elements at such
 *            indices lie side by side
 *   VARYING  a vector: of bool a mask (kernels/vector.cl)
 *
 * A branch on what varies is taken if any lane wants it, and the results are chosen lane by lane; a loop runs until no
 * lane is on. Loads are masked. Where a lane would fail, the function gives up and does all lanes one after the other
 * by the scalar code, so that there is one text that says what failing is.
 *
 * Example: { v * x[i + 1] : v in y at i }, 16 lanes:
 *
 *     static inline dp_vec dp_body_w(__global uchar *heap, ulong i, ulong s DP_WORDS)
 *     {
 *         dp_f32_w x4_v = dp_load_f32_w(heap, DP_ELEM0);
 *         dp_i64 x5_i = (dp_i64)i;
 *         dp_i64 x6 = dp_add_i64(x5_i, 1L);
 *         dp_bool_w out7 = 0;
 *         dp_f32_w x7 = dp_near_load_f32_w(heap, x, x6, DP_ALL, &out7);
 *         if (dp_any(out7)) return DP_AGAIN;
 *         … */
#ifndef DPC_OPENCL_EMIT_VECTOR_H
#define DPC_OPENCL_EMIT_VECTOR_H

#include "plan/plan.h"

typedef struct VectorFacts {
    uint32_t lanes;      /* 0: the kernel has no vector form */
    bool pays;           /* it is probably faster */
    bool memory;         /* its lanes have memory */
    bool inside;         /* vectors are of operations inside of its lanes (emit_wide.h) */
    uint32_t tile_lanes; /* the same, of the form for tiles (emit_tile_vector.h), or of a map's for turned squares */
    bool tile_pays;
    bool tile_near;       /* its lanes must be neighbouring columns */
    uint32_t batch_lanes; /* of the form for tiles whose lanes are batches, where these pay */
    uint32_t spills;      /* as in DpKernel */
} VectorFacts;

/* The vector holes of a kernel (runtime/kernels/README.md), if it has any. */
VectorFacts emit_kernel_vector(StrBuf *out, const Plan *plan, const PlanKernel *k);

#endif
