/* The kernels' side of a plan: the *holes* that fill a template of runtime/kernels (its README lists them). The
 * argument words and the variants' meaning are described in plan/kernel.h.
 *
 * A kernel's text stands between dp_scalar.h and common.cl in front, and the template behind. Example (the body of a
 * sum of products over rows, the rows' numbers contiguous if bit 0 is set):
 *
 *     typedef struct dp_val { dp_f32 v0; } dp_val;
 *     #if (DP_VARIANT >> 0) & 1
 *     #define DP_ELEM0 (w0 + i * 4)
 *     #else
 *     #define DP_ELEM0 (DP_ADDR(*DP_AT(dp_view, w1 + s * 16)) + (i - *DP_AT(ulong, w2 + s * 8)) * 4)
 *     #endif
 *     DP_INLINE dp_val dp_body(__global uchar *heap, ulong i, ulong s DP_WORDS)
 *     {
 *         dp_f32 x4_v = *DP_AT(dp_f32, DP_ELEM0);
 *         …
 *
 * So the code of a body has no tests of its own, and in the plain variants reads straight from the start of its arrays.
 */
#ifndef DPC_OPENCL_EMIT_KERNEL_H
#define DPC_OPENCL_EMIT_KERNEL_H

#include "dp_rt.h"
#include "plan/plan.h"

void emit_kernel_source(StrBuf *out, const Plan *plan, const PlanKernel *k);
/* What the runtime is told of it beside the text: cost, fallible, contracts, segment_free, long_body, across,
 * swap_bytes. Returns its statements. */
uint32_t emit_kernel_facts(DpKernel *to, const Plan *plan, const PlanKernel *k);
/* May products and sums of floats be one operation, rounded once? (contract.c) */
bool emit_contracts(const PlanKernel *k);
/* `dump --stage=opencl`: all kernels. */
void emit_kernels_text(StrBuf *out, const Plan *plan);

#endif
