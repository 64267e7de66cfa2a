/* Operations of one lane with memory (emit_lane.c) whose elements go through the code side by side, W at a time: what a
 * CPU's vector instructions are for where there are not enough lanes to go so (emit_vector.h).
 *
 *     ys : [f64] = map n at k (x <- xs) { … -> v }    while (k < n) {
 *                                                         if (n - k >= 8) {
 *                                                             dp_f64_w x = dp_load_f64_w(heap, xs + k * 8); …
 *                                                             dp_store_f64_w(heap, ys + k * 8, v);
 *                                                             k += 8;
 *                                                             continue;
 *                                                         again1:;
 *                                                         }
 *                                                         for (to = min(k + 8, n); k < to; k++) { the scalar code }
 *                                                     }
 *
 * What the vectors cannot do, or where one of their elements would fail, the scalar code does, for as many elements. A
 * reduction whose order does not matter has a vector of what has been combined so far, beside the scalar one. */
#ifndef DPC_OPENCL_EMIT_WIDE_H
#define DPC_OPENCL_EMIT_WIDE_H

#include "opencl/emit_scalar_internal.h"

/* Elements side by side in the lanes' operations of this code, so that none is wider than registers are; 0: none of
 * them can, or it would not pay. */
uint32_t emit_wide_lanes(const CoreFn *fn, const CoreBlock *b);

/* Of an operation of the lane at hand. */
bool emit_goes_wide(const ScalarEmitter *e, const CoreStmt *s);
/* In front of its loop; in its round, before the scalar code; behind the loop. */
void emit_wide_begin(ScalarEmitter *e, const CoreStmt *s);
void emit_wide_elements(ScalarEmitter *e, const CoreStmt *s);
void emit_wide_end(ScalarEmitter *e, const CoreStmt *s);

#endif
