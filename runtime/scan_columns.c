/* Scans of columns, whose prefixes are stored as columns: kernels/scan_columns.cl. */
#include "internal.h"

enum { STRIP_VECTORS = 8 /* kernels/scan_columns.cl */, MOST_STRIPS = 64, COLUMN_LANES = 2048 };

static void launch_columns(DpRt *rt, const SegReduce *r, const char *name, uint32_t heaps, uint64_t groups, Args *a)
{
    dp_args_kernel_words(rt, a, r->kernel, r->words);
    dp_args_columns(a, r->outs, heaps == 2 ? dp_rt_info(rt, r->kernel)->nouts : 0);
    const uint32_t mode = r->mode | MODE_WAY * (uint32_t)WAY_COLUMNS;
    dp_rt_launch(rt, dp_rt_kernel(rt, r->kernel, r->variant, mode, name), heaps, (uint32_t)groups, a);
}

/* As many chunks of rows as fill the device. */
static void scan_columns(DpRt *rt, const SegReduce *r)
{
    const bool groups = dp_rt_group_shape(rt, r->kernel);
    const uint64_t rows = r->n / r->segments.nseg, size = dp_rt_group_size(rt, r->kernel);
    const uint64_t strip = groups ? 1 : (uint64_t)STRIP_VECTORS * 16;
    const uint64_t strips = (r->segments.nseg + strip - 1) / strip;
    const uint64_t wanted = (uint64_t)rt->device->facts.units * (groups ? COLUMN_LANES : 4) / strips;
    const uint64_t most = rows / dp_param(rt, PARAM_COLUMN_ROWS);
    const uint64_t chunks = wanted < 1 || most < 1 ? 1 : wanted < most ? wanted : most;
    const uint64_t launched = groups ? (strips * chunks + size - 1) / size : strips * chunks;
    const uint64_t at_most = groups ? 1 << 20 : MOST_STRIPS;
    DpBlock *part = dp_block_new(rt, (chunks - 1) * r->segments.nseg, dp_rt_info(rt, r->kernel)->val_bytes);
    Args fold = {.n = 0};
    dp_args_add(&fold, r->n);
    dp_args_add(&fold, r->segments.nseg);
    dp_args_add(&fold, r->segments.offsets);
    dp_args_add(&fold, dp_block_addr(part));
    dp_args_add(&fold, chunks);
    Args write = fold;
    dp_profile_way(rt, "columns: %llu by %llu chunks", (unsigned long long)r->segments.nseg,
                   (unsigned long long)chunks);
    if (chunks > 1)
        launch_columns(rt, r, "dp_columns_fold", 1, launched < at_most ? launched : at_most, &fold);
    launch_columns(rt, r, "dp_columns_write", 2, launched < at_most ? launched : at_most, &write);
    dp_profile_way(rt, "%s", "");
    dp_block_release(rt, part);
}

void dp_scan_turned(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, DpCol *outs)
{
    dp_rt_new_columns(rt, kernel, dp_ctx_n(c), outs);
    if (dp_failed(rt) || c->n == 0)
        return;
    const Segments s = dp_ctx_segments(c);
    dp_profile_moved(rt, kernel, c->n, s.nseg, dp_rt_columns_bytes(outs, dp_rt_info(rt, kernel)->nouts));
    const SegReduce r = {kernel, variant, s.mode, c->n, s, dp_ctx_lengths(c), 0, 0, words, outs, c};
    scan_columns(rt, &r);
}
