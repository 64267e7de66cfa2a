/* What is begun and awaited at once, for tests that want the number now. */
#ifndef DPC_RUNTIME_WAITS_H
#define DPC_RUNTIME_WAITS_H

#include "../../runtime/internal.h"

static inline DpCtx *dp_pack(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words)
{
    DpCtx *kept, **const contexts[1] = {&kept};
    dp_await_pack(rt, dp_begin_pack(rt, kernel, variant, c, words, 1, 1), 0, NULL, NULL, 1, contexts);
    return kept;
}

static inline void dp_split(DpRt *rt, DpCtx *ctx, const DpCol *cond, DpCtx **yes, DpCtx **no)
{
    dp_await_split(rt, dp_begin_split(rt, ctx, cond, 0, NULL), yes, no);
}

/* The results are u32s. */
static inline void dp_reduce_root(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words,
                                  uint64_t *bits)
{
    const uint8_t scalars[] = {DP_U32, DP_U32};
    dp_await_scalars(rt, dp_begin_reduce_root(rt, kernel, variant, c, words), rt->program->kernels[kernel].nouts,
                     scalars, bits);
}

static inline uint64_t dp_read_scalar(DpRt *rt, const DpArr *a, uint64_t index, DpScalar scalar)
{
    uint64_t bits;
    const uint8_t tag = (uint8_t)scalar;
    dp_await_scalars(rt, dp_begin_read(rt, a, index, scalar), 1, &tag, &bits);
    return bits;
}

static inline DpArr dp_read_view(DpRt *rt, const DpArr *a, uint64_t index)
{
    return dp_await_view(rt, dp_begin_read_view(rt, a, index));
}

#endif
