/* Packs: the instances of a context for which something holds, and what is stored of them (kernels/pack.cl). */
#include "internal.h"

#include <stdlib.h>

/* The user's kernel or, for splits, our own. */
typedef struct PackProgram {
    bool own;
    uint32_t kernel, variant, mode;
} PackProgram;

static Kernel *kernel_of(DpRt *rt, const PackProgram *p, const char *name)
{
    return p->own ? dp_rt_own_kernel(rt, OWN_TRUTH, name) : dp_rt_kernel(rt, p->kernel, p->variant, p->mode, name);
}

/* n, nseg, offsets, one or three more, the kernel's own words */
typedef struct PackLaunch {
    PackProgram program;
    const DpCtx *c;
    const uint64_t *words, *outs;
    uint32_t nouts, ways, value_bytes, widest; /* widest: column of up to 8 bytes, at least 4 */
    uint64_t mail;
} PackLaunch;

static Args begin_args(const PackLaunch *p)
{
    const Segments s = dp_ctx_segments(p->c);
    Args a = {.n = 0};
    dp_args_add(&a, p->c->n);
    dp_args_add(&a, s.nseg);
    dp_args_add(&a, s.offsets);
    return a;
}

static void add_words(DpRt *rt, const PackLaunch *p, Args *a)
{
    if (p->program.own)
        dp_args_add(a, p->words[0]); /* the column of the condition */
    else
        dp_args_kernel_words(rt, a, p->program.kernel, p->words);
}

/* As pack.cl has it. */
static uint64_t tile_elements(const PackLaunch *p)
{
    const uint32_t local = p->widest + 2 * p->ways + 1;
    return 256 * (p->value_bytes <= 16 && local <= 11 ? 16 : p->value_bytes <= 32 ? 8 : 4);
}

static void run_one_pass(DpRt *rt, const PackLaunch *p)
{
    const uint64_t tile = tile_elements(p), tiles = (p->c->n + tile - 1) / tile;
    Args a = begin_args(p);
    dp_lookback_args(rt, &a, tiles, p->ways);
    dp_args_posted(&a, p->mail);
    add_words(rt, p, &a);
    dp_args_words(&a, p->outs, p->nouts);
    dp_rt_launch(rt, kernel_of(rt, &p->program, "dp_pack_onepass"), 2, (uint32_t)tiles, &a);
}

static void run_two_passes(DpRt *rt, const PackLaunch *p)
{
    const bool small = rt->gpu && p->c->n < tile_elements(p);
    const uint32_t chunks = small ? 1 : dp_rt_chunks(rt, rt->gpu, p->c->n);
    const bool one = small || (!rt->gpu && chunks == 1);
    DpBlock *part = one ? NULL : dp_block_new(rt, chunks * (uint64_t)p->ways, 8);
    Args count = begin_args(p), write, carries = {.n = 0};
    dp_args_add(&count, dp_block_addr(part));
    write = count;
    add_words(rt, p, &count);
    if (!one)
        dp_rt_launch(rt, kernel_of(rt, &p->program, "dp_pack_count"), 1, chunks, &count);
    if (rt->gpu && !one) {
        dp_args_add(&carries, chunks);
        dp_args_add(&carries, dp_block_addr(part));
        dp_args_posted(&carries, p->mail);
        dp_rt_launch(rt, kernel_of(rt, &p->program, "dp_pack_carries"), 1, 1, &carries);
    }
    dp_args_posted(&write, p->mail);
    add_words(rt, p, &write);
    dp_args_words(&write, p->outs, p->nouts);
    dp_rt_launch(rt, kernel_of(rt, &p->program, "dp_pack_write"), 2, chunks, &write);
    dp_block_release(rt, part);
}

static void run_pack(DpRt *rt, const PackLaunch *p)
{
    if (rt->lookback.use && p->c->n >= tile_elements(p))
        run_one_pass(rt, p);
    else
        run_two_passes(rt, p);
}

/* A context that is being made of instances of `up`. Takes the indices (NULL: nobody asks for them) and the offsets of
 * what is kept of each segment (NULL: not known). */
static DpCtx *unsized(DpRt *rt, DpCtx *up, DpBlock *indices, DpBlock *offsets)
{
    DpCtx *c = dp_ctx_new(rt, CTX_SELECTED, up, 0, (Offsets){NULL, 0}, indices);
    if (dp_failed(rt))
        dp_block_release(rt, offsets);
    else
        c->packed = (Offsets){offsets, 0};
    return c;
}

/* The context with its size, which has arrived. All instances: the identity; none: nothing is stored. */
static DpCtx *sized(DpRt *rt, DpCtx *c, uint64_t n)
{
    if (dp_failed(rt)) {
        dp_ctx_release(rt, &c);
        return dp_ctx_nothing(rt);
    }
    c->n = n;
    c->pathless = !c->indices && n != c->up->n && n != 0;
    if (n == c->up->n || n == 0) {
        dp_block_release(rt, c->indices);
        c->indices = NULL;
    }
    dp_block_shrink(rt, c->indices, 4 * n);
    return c;
}

/* On a CPU places for each chunk beside what is kept, where the kernel puts what does not count. */
static DpBlock *new_block(DpRt *rt, const DpCtx *c, uint64_t bytes)
{
    enum { APART = 64 }; /* as in pack.cl */
    return dp_block_new(rt, c->n + (rt->gpu ? 0 : APART * (uint64_t)dp_rt_chunks(rt, false, c->n)), bytes);
}

static DpCol *new_columns(DpRt *rt, const DpKernel *k, const DpCtx *c, uint32_t ways)
{
    uint32_t n = k->nouts - 2 * ways;
    DpCol *cols = calloc(n + 1, sizeof *cols);
    if (!cols)
        dp_rt_fail_host_memory(rt, (n + 1) * sizeof *cols);
    for (uint32_t j = 0; cols && j < n && c->n; j++) {
        DpBlock *b = new_block(rt, c, k->out_bytes[2 * ways + j]);
        cols[j] = (DpCol){b, dp_block_addr(b), c->n, k->out_bytes[2 * ways + j]};
    }
    return cols;
}

static uint32_t widest_column(const DpKernel *k, uint32_t ways)
{
    for (uint32_t i = 2 * ways; i < k->nouts; i++)
        if (k->out_bytes[i] == 8)
            return 8;
    return 4;
}

DpPending dp_begin_pack(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, uint32_t ways,
                        uint32_t positions)
{
    const DpKernel *k = &rt->program->kernels[kernel];
    dp_rt_check_numbered(rt, c);
    const DpPending p = c->n ? dp_pending_begin(rt, ways) : dp_pending_known(rt, 0);
    if (!p)
        return p;
    const Segments s = dp_ctx_segments(c);
    DpBlock *idx[DP_MOST_WAYS] = {NULL}, *offsets[DP_MOST_WAYS] = {NULL};
    DpCol *cols = new_columns(rt, k, c, ways);
    uint64_t outs[DP_MAX_OUTS];
    for (uint32_t w = 0; w < ways; w++) {
        idx[w] = c->n && positions >> w & 1 ? new_block(rt, c, 4) : NULL;
        offsets[w] = c->n ? dp_block_new(rt, s.nseg + 1, 8) : NULL;
        outs[2 * w] = dp_block_addr(idx[w]);
        outs[2 * w + 1] = dp_block_addr(offsets[w]);
    }
    for (uint32_t i = 2 * ways; i < k->nouts; i++)
        outs[i] = cols ? cols[i - 2 * ways].addr : 0;
    const PackLaunch launch = {.program = {false, kernel, variant, s.mode},
                               .c = c,
                               .words = words,
                               .outs = outs,
                               .nouts = k->nouts,
                               .ways = ways,
                               .value_bytes = k->val_bytes ? k->val_bytes : 16,
                               .widest = widest_column(k, ways),
                               .mail = dp_pending_mail(rt, p)};
    dp_profile_moved(rt, kernel, c->n, s.nseg, 0); /* what is kept is written: counted when that is known */
    if (c->n)
        run_pack(rt, &launch);
    dp_pending_launched(rt, p);
    for (uint32_t w = 0; w < ways; w++) {
        if (!s.mode)
            dp_block_release(rt, offsets[w]);
        rt->mail.at[p].ctx[w] = unsized(rt, c, idx[w], s.mode ? offsets[w] : NULL);
    }
    rt->mail.at[p].cols = cols;
    rt->mail.at[p].kernel = kernel;
    return p;
}

/* Of the column's rows, of a column for all, so many are there. */
static DpCol sized_column(DpRt *rt, DpCol col, uint64_t n)
{
    if (n == 0 || dp_failed(rt)) {
        dp_col_release(rt, &col);
        return dp_new_col(rt, 0, 16);
    }
    col.n = n;
    dp_block_shrink(rt, col.block, n * col.bytes);
    if (col.bytes == 16)
        dp_block_become(col.block, BLOCK_LAYOUT_UNKNOWN);
    return col;
}

void dp_await_pack(DpRt *rt, DpPending p, uint32_t ncols, const uint8_t *of, DpCol *cols, uint32_t ways,
                   DpCtx **const *contexts)
{
    const uint64_t *said = dp_pending_await(rt, p);
    Pending *pack = &rt->mail.at[p];
    for (uint32_t w = 0; w < ways; w++)
        *contexts[w] = p ? sized(rt, pack->ctx[w], said[w]) : dp_ctx_nothing(rt);
    for (uint32_t j = 0; j < ncols; j++)
        cols[j] = p && pack->cols ? sized_column(rt, pack->cols[j], said[of[j]]) : (DpCol){0};
    if (p && pack->cols)
        dp_profile_moved(rt, pack->kernel, 0, 0, dp_rt_columns_bytes(cols, ncols));
    if (p)
        free(pack->cols);
    pack->cols = NULL;
}

/* ---- packs whose sizes nobody waits for ---- */
void dp_settle_packs(DpRt *rt)
{
    Unsettled *u = &rt->unsettled;
    const bool arrived = !dp_failed(rt);
    for (uint32_t i = 0; i < u->n; i++) {
        DpBlock *views = u->at[i].views, *data = u->at[i].data;
        const uint64_t n = arrived ? rt->look[DP_MAILBOX / 8 + u->at[i].word] : 0;
        if (views) {
            views->unsettled = false;
            if (views->contig.total == DP_TOTAL_UNSETTLED)
                views->contig.total = n;
        }
        if (data) {
            data->unsettled = false;
            if (arrived)
                dp_profile_moved(rt, u->at[i].kernel, 0, 0, n * u->at[i].bytes);
            if (arrived)
                dp_block_shrink(rt, data, (n ? n : 1) * u->at[i].bytes);
        }
    }
    rt->mail.open -= u->packs;
    u->n = u->packs = 0;
}

void dp_unsettled_forget(DpRt *rt, const DpBlock *b)
{
    Unsettled *u = &rt->unsettled;
    for (uint32_t i = 0; i < u->n; i++) {
        u->at[i].views = u->at[i].views == b ? NULL : u->at[i].views;
        u->at[i].data = u->at[i].data == b ? NULL : u->at[i].data;
    }
}

uint64_t dp_contig_total(DpRt *rt, const DpContig *c)
{
    if (c->total == DP_TOTAL_UNSETTLED)
        dp_rt_look(rt);
    return c->total;
}

/* With their sizes, which have arrived or must be waited for. */
static void settled_views(DpRt *rt, DpPending p, uint32_t ncols, const uint8_t *of, DpCol *views, uint32_t ways)
{
    DpCtx *contexts[DP_MOST_WAYS] = {NULL}, **places[DP_MOST_WAYS] = {NULL};
    for (uint32_t w = 0; w < ways; w++)
        places[w] = &contexts[w];
    dp_await_pack(rt, p, ncols, of, views, ways, places);
    for (uint32_t j = 0; j < ncols; j++) {
        DpCol col = views[j];
        views[j] = dp_views(rt, contexts[of[j]], &col);
        dp_col_release(rt, &col);
    }
    for (uint32_t w = 0; w < ways; w++)
        dp_ctx_release(rt, &contexts[w]);
}

/* The column as views by the pack's offsets. */
static DpCol views_by_pack(DpRt *rt, const DpCtx *c, const DpCol *col)
{
    return dp_views_of_offsets(rt, c->packed, c->up->up->n, col->addr, DP_TOTAL_UNSETTLED, col->bytes, col->block);
}

static void settle_later(DpRt *rt, const Pending *pack, uint32_t word, DpBlock *views, DpBlock *data)
{
    Unsettled *u = &rt->unsettled;
    if (!views)
        return;
    views->unsettled = data->unsettled = true;
    u->at[u->n].word = word;
    u->at[u->n].bytes = views->contig.bytes;
    u->at[u->n].kernel = pack->kernel;
    u->at[u->n].views = views;
    u->at[u->n++].data = data;
}

void dp_packed_views(DpRt *rt, DpPending p, uint32_t ncols, const uint8_t *of, DpCol *views, uint32_t ways)
{
    Pending *pack = &rt->mail.at[p];
    bool later = p && pack->begun > rt->mail.arrived && pack->cols && rt->unsettled.n + ncols <= DP_MOST_UNSETTLED;
    for (uint32_t w = 0; later && w < ways; w++)
        later = offsets_known(pack->ctx[w]->packed);
    if (!later) {
        settled_views(rt, p, ncols, of, views, ways);
        return;
    }
    for (uint32_t j = 0; j < ncols; j++)
        views[j] = views_by_pack(rt, pack->ctx[of[j]], &pack->cols[j]);
    rt->unsettled.packs++; /* its words stay open until then */
    for (uint32_t j = 0; j < ncols; j++) {
        settle_later(rt, pack, p + of[j], views[j].block, pack->cols[j].block);
        dp_col_release(rt, &pack->cols[j]);
    }
    if (pack->begun <= rt->mail.arrived) /* the heap was full, and the host has looked */
        dp_settle_packs(rt);
    for (uint32_t w = 0; w < ways; w++)
        dp_ctx_release(rt, &pack->ctx[w]);
    free(pack->cols);
    pack->cols = NULL;
}

static void split_only(DpRt *rt, const DpCtx *ctx, const DpCol *cond, const uint64_t sides[2], uint64_t mail)
{
    const DpCtx flat = {.kind = CTX_FN, .n = ctx->n}; /* the condition is a column: segments do not matter */
    const uint64_t outs[4] = {sides[0], 0, sides[1], 0};
    const PackLaunch launch = {.program = {.own = true},
                               .c = &flat,
                               .words = &cond->addr,
                               .outs = outs,
                               .nouts = 4,
                               .ways = 2,
                               .value_bytes = 16,
                               .widest = 4,
                               .mail = mail};
    run_pack(rt, &launch);
}

/* A column of lengths or views for kernels: its address and stride; of views that are not written their offsets and 0.
 */
static void add_lengths(Args *a, const DpCol *c)
{
    const DpBlock *b = c->block;
    const bool lazy = b && b->state == BLOCK_LAZY;
    const uint64_t first = lazy ? (c->addr - b->addr) / 16 : 0;
    const Offsets o = lazy ? b->contig.offsets : (Offsets){NULL, 0};
    dp_args_add(a, !lazy ? c->addr : o.stride ? o.stride : o.block->addr + 8 * first);
    dp_args_add(a, lazy ? 0 : c->bytes);
}

enum { SPLIT_SMALL = 4096, SUM_WORDS = 4 }; /* as in kernels/lengths.cl */

/* What the lengths of columns come to on each side goes behind the sides' sizes. */
static void add_columns(Args *a, uint32_t nsums, const DpCol *cols)
{
    dp_args_add(a, nsums);
    for (uint32_t k = 0; k < DP_MOST_SUMS; k++)
        add_lengths(a, &cols[k < nsums ? k : 0]);
}

static void split_and_sum(DpRt *rt, const DpCtx *ctx, const DpCol *cond, const uint64_t sides[2], uint64_t mail,
                          uint32_t nsums, const DpCol *cols)
{
    const uint64_t numbers[4] = {ctx->n, cond->addr, sides[0], sides[1]};
    Args a = {.n = 0};
    dp_args_words(&a, numbers, 4);
    dp_args_posted(&a, mail);
    add_columns(&a, nsums, cols);
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_LENGTHS, "dp_split_sums"), 1, 1, &a);
}

/* By many work-groups, beside the split. */
static void sum_sides(DpRt *rt, const DpCtx *ctx, const DpCol *cond, uint64_t mail, uint32_t nsums, const DpCol *cols)
{
    const uint32_t chunks = dp_rt_chunks(rt, true, ctx->n);
    DpBlock *part = dp_block_new(rt, (uint64_t)chunks * nsums, 8 * SUM_WORDS);
    const uint64_t first[3] = {ctx->n, cond->addr, dp_block_addr(part)};
    const uint64_t second[2] = {chunks, dp_block_addr(part)};
    Args a = {.n = 0}, b = {.n = 0};
    dp_args_words(&a, first, 3);
    add_columns(&a, nsums, cols);
    dp_args_words(&b, second, 2);
    dp_args_posted(&b, mail + 16);
    dp_args_add(&b, nsums);
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_LENGTHS, "dp_sides_sum"), 1, chunks, &a);
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_LENGTHS, "dp_sides_finish"), 1, 1, &b);
    dp_block_release(rt, part);
}

static void run_split(DpRt *rt, const DpCtx *ctx, const DpCol *cond, const uint64_t sides[2], uint64_t mail,
                      uint32_t nsums, const DpCol *cols)
{
    if (nsums && (!rt->gpu || ctx->n <= SPLIT_SMALL)) {
        split_and_sum(rt, ctx, cond, sides, mail, nsums, cols);
        return;
    }
    split_only(rt, ctx, cond, sides, mail);
    if (nsums)
        sum_sides(rt, ctx, cond, mail, nsums, cols);
}

DpPending dp_begin_split(DpRt *rt, DpCtx *ctx, const DpCol *cond, uint32_t nsums, const DpCol *cols)
{
    DpBlock *both[2] = {NULL, NULL};
    dp_rt_check_numbered(rt, ctx);
    const DpPending p = ctx->n ? dp_pending_begin(rt, 2 + SUM_WORDS * nsums) : dp_pending_known(rt, 0);
    if (!p)
        return p;
    nsums = ctx->n && ctx->n <= dp_param(rt, PARAM_SPLIT_SUMS) ? nsums : 0;
    if (ctx->n) {
        both[0] = new_block(rt, ctx, 4);
        both[1] = new_block(rt, ctx, 4);
        const uint64_t sides[2] = {dp_block_addr(both[0]), dp_block_addr(both[1])};
        run_split(rt, ctx, cond, sides, dp_pending_mail(rt, p), nsums, cols);
    }
    dp_pending_launched(rt, p);
    for (uint32_t i = 0; i < 2; i++) {
        DpCtx *side = rt->mail.at[p].ctx[i] = unsized(rt, ctx, both[i], NULL);
        for (uint32_t k = 0; k < nsums && !dp_failed(rt); k++)
            side->sums[side->nsums++] = (SideSum){cols[k].block ? cols[k].block->contents : 0, cols[k].addr, {0, 0}};
    }
    return p;
}

static DpCtx *split_side(DpRt *rt, DpPending p, uint32_t i, const uint64_t *said)
{
    DpCtx *side = p ? sized(rt, rt->mail.at[p].ctx[i], said[i]) : dp_ctx_nothing(rt);
    for (uint32_t k = 0; k < side->nsums; k++)
        side->sums[k].of = (DpSum){said[2 + SUM_WORDS * k + i], said[4 + SUM_WORDS * k + i]};
    return side;
}

void dp_await_split(DpRt *rt, DpPending p, DpCtx **yes, DpCtx **no)
{
    const uint64_t *said = dp_pending_await(rt, p);
    *yes = split_side(rt, p, 0, said);
    *no = split_side(rt, p, 1, said);
}
