/* Contexts: instance sets, their offsets and index vectors, and the paths between them. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* In a failed state all contexts are this one, without instances. */
DpCtx *dp_ctx_nothing(DpRt *rt)
{
    DpCtx *c = &rt->nothing;
    if (!c->count)
        *c = (DpCtx){.count = 1, .kind = CTX_NESTED, .up = c};
    return dp_ctx_retain(c);
}

DpCtx *dp_ctx_new(DpRt *rt, CtxKind kind, DpCtx *up, uint64_t n, Offsets offsets, DpBlock *indices)
{
    DpCtx *c = dp_failed(rt) ? NULL : calloc(1, sizeof *c);
    if (!c) {
        dp_rt_fail_host_memory(rt, sizeof *c);
        dp_offsets_release(rt, &offsets);
        dp_block_release(rt, indices);
        return dp_ctx_nothing(rt);
    }
    *c = (DpCtx){.count = 1, .kind = kind, .n = n, .up = dp_ctx_retain(up), .offsets = offsets, .indices = indices};
    return c;
}

DpCtx *dp_ctx_retain(DpCtx *c)
{
    if (c)
        c->count++;
    return c;
}

void dp_ctx_release(DpRt *rt, DpCtx **ctx)
{
    DpCtx *c = *ctx, *up;
    *ctx = NULL;
    for (; c && --c->count == 0; c = up) {
        up = c->up;
        dp_offsets_release(rt, &c->offsets);
        dp_block_release(rt, c->indices);
        dp_offsets_release(rt, &c->packed);
        for (CtxPath *p = c->paths, *next; p; p = next) {
            next = p->next;
            dp_block_release(rt, p->indices);
            free(p);
        }
        free(c);
    }
}

uint64_t dp_ctx_n(const DpCtx *c) { return c ? c->n : 0; }

/* Of n instances with `cells` reductions each of `length` elements that share what they read: are they to be flattened,
 * to go by tiles? What the reductions give is stored then. */
static bool tiles_pay(const DpRt *rt, uint64_t n, uint64_t cells, uint64_t length)
{
    return length >= dp_param(rt, PARAM_NEST_SHARED) &&
           dp_size_mul(dp_size_mul(n, cells), 8) <= (rt->heap.limit - rt->heap.used) / 8;
}

enum { INTERPRETED_ROUNDS = 4096 }; /* 0.1 ms and more; a launch takes some microseconds */

void dp_rt_interpreted(DpRt *rt)
{
    if (rt->gpu || rt->params.set[PARAM_HOST_ROUNDS])
        return;
    rt->params.set[PARAM_HOST_ROUNDS] = true;
    rt->params.value[PARAM_HOST_ROUNDS] = INTERPRETED_ROUNDS;
}

uint64_t dp_tuning(const DpRt *rt, uint32_t of) { return dp_param(rt, (DpTuning)of); }

uint64_t dp_many(DpRt *rt, const DpCtx *c, uint32_t site, uint32_t of, uint64_t cells, uint64_t length)
{
    const uint64_t choice = dp_param(rt, PARAM_NEST), n = dp_ctx_n(c);
    const uint64_t least = dp_param(rt, dp_nest_param(of));
    const bool lane = choice == NEST_AUTO ? n >= least && !tiles_pay(rt, n, cells, length) : choice == NEST_LANE;
    dp_profile_nest(rt, site, "%s: %llu instances", lane ? "lane" : "flat", (unsigned long long)n);
    return lane;
}

#define MOST_WORK (UINT64_C(1) << 62) /* what is more says that there are too few rounds (core/choose_loops.c) */

uint64_t dp_few(DpRt *rt, uint64_t work, uint64_t wide, uint32_t launches, uint32_t on_gpu, uint32_t site)
{
    if (rt->device->facts.vectors && dp_param(rt, PARAM_VECTORS) != 2)
        work -= wide - wide / DP_LANE_WIDE;
    const uint64_t choice = dp_param(rt, PARAM_LOOPS);
    const uint64_t most = dp_size_mul(dp_param(rt, PARAM_LOOP_LANE), rt->gpu ? on_gpu : launches);
    const bool lane = choice == NEST_AUTO ? work <= most : choice == NEST_LANE;
    const char *way = lane ? "loop by a lane" : "loop of launches";
    if (work > MOST_WORK)
        dp_profile_nest(rt, site, "%s: few rounds", way);
    else
        dp_profile_nest(rt, site, "%s: rounds of %llu", way, (unsigned long long)work);
    return lane;
}

/* PART_OF_HEAP: of that, for few lanes; PART_OF_BUFFER: of what there is of it, if that is more. ANY_SPENDING: no lane
 * has so much to do, and the products of it fit. LESS: so much less is asked for where there is no place of so many. */
enum { GIVEN_HEADER = 32, PART_OF_HEAP = 128, PART_OF_BUFFER = 8, SIDE_BY_SIDE = 4, LESS = 8 };
enum { MANY_ON_GPU = 16384, SOME_ON_GPU = 1024 };
/* Arrays that a loop's lane begins with: what the memory says of each, so many at most, and how long they are. */
enum { BEGIN_WORDS = 3, MOST_BEGINS = 4, LONG_BEGIN = 16384, LONG_BEGIN_ON_GPU = 512 };
#define ANY_SPENDING (UINT64_C(1) << 36)

/* The bytes of the lanes' shares, and of what they may give; for few lanes as many as for the one of a loop. */
static void lane_bytes(const DpRt *rt, const DpCtx *c, uint32_t of, uint64_t *shares, uint64_t *given)
{
    const uint64_t items = (uint64_t)dp_rt_loop_groups(rt, dp_ctx_n(c)) * (rt->gpu ? 256 : 1);
    const uint64_t asked = dp_param(rt, PARAM_LOOP_MEMORY), there = rt->heap.buffer.bytes / PART_OF_BUFFER;
    const uint64_t some = rt->heap.limit / PART_OF_HEAP > there ? rt->heap.limit / PART_OF_HEAP : there;
    const uint64_t least = (asked < some ? asked : some) / 2;
    const bool whole = of == LANE_OF_LOOP;
    *shares = whole ? 0 : items * dp_param(rt, PARAM_LANE_MEMORY);
    *given = whole ? 0 : dp_size_mul(dp_ctx_n(c), dp_param(rt, PARAM_LANE_GIVEN));
    *shares = *shares > least ? *shares : least;
    *given = *given > least ? *given : least;
}

/* The statements that a lane may execute for each launch that its rounds would be: any number where instances are many;
 * few on a CPU are side by side in vectors, still. On a GPU a launch does more for several instances, but takes longer
 * for many, too. */
static uint64_t lane_spends(const DpRt *rt, const DpCtx *c, uint32_t of)
{
    const uint64_t choice = dp_param(rt, of == LANE_OF_LOOP ? PARAM_LOOPS : PARAM_NEST);
    const uint64_t n = of == LANE_OF_LOOP ? 1 : dp_ctx_n(c), least = dp_param(rt, PARAM_LOOP_LANE);
    const bool bounded = of == LANE_OF_LOOP || (of == LANE_OF_ROUNDS && rt->gpu);
    if (choice == NEST_LANE || (!bounded && n >= dp_param(rt, PARAM_NEST_LANES)) || (rt->gpu && n >= MANY_ON_GPU))
        return ANY_SPENDING;
    if (rt->gpu)
        return of == LANE_OF_LOOP ? least : least / SIDE_BY_SIDE * (1 + n / SOME_ON_GPU);
    return dp_size_mul(least, n < SIDE_BY_SIDE ? n : SIDE_BY_SIDE);
}

/* Each item of a map's launch has an equal share, for all instances that it executes; in front of the shares are the
 * bytes that may be given (kernels/common.cl). Half of what is free, at most: what else the lanes give comes besides.
 */
DpArr dp_lane_memory(DpRt *rt, const DpCtx *c, bool gives, uint32_t of)
{
    const uint64_t free = (rt->heap.limit - rt->heap.used) / 2;
    uint64_t shares, given;
    lane_bytes(rt, c, of, &shares, &given);
    if (!gives)
        given = 0;
    const uint64_t wanted = dp_size_add(dp_size_add(GIVEN_HEADER, given), shares);
    uint64_t bytes = wanted < free ? wanted : free > GIVEN_HEADER ? free : GIVEN_HEADER;
    if (!dp_heap_has(rt, bytes)) /* as blocks lie apart, or the device gives no more */
        bytes /= LESS;
    if (!dp_heap_has(rt, bytes)) /* then the lanes find no room, and leave all to launches */
        bytes = GIVEN_HEADER;
    bytes = bytes > GIVEN_HEADER ? bytes : GIVEN_HEADER;
    const uint64_t left = (bytes - GIVEN_HEADER) / (shares ? 2 : 1);
    const uint64_t header[4] = {0, (given < left ? given : left) / 16 * 16, lane_spends(rt, c, of),
                                of != LANE_OF_LOOP && dp_ctx_n(c) >= dp_param(rt, PARAM_LANE_TURNS)};
    DpBlock *b = dp_block_new(rt, bytes / 8, 8);
    if (!b)
        return (DpArr){0};
    dp_rt_write(rt, dp_block_addr(b), header, sizeof header);
    rt->begins = (DpBegins){.room = header[1]};
    if (gives) {
        dp_block_release(rt, rt->lanes_gave); /* of a nest that failed */
        rt->lanes_gave = dp_block_retain(b);
    }
    return (DpArr){bytes / 8, dp_block_addr(b), dp_refs_one(rt, b)};
}

/* In front of what may be given stands which arrays are there: where they are from, how long they are, and where they
 * are. The lane takes over each once (kernels/common.cl). */
void dp_lane_begins(DpRt *rt, const DpArr *memory, const DpArr *array, uint32_t bytes)
{
    DpBegins *b = &rt->begins;
    const uint64_t size = dp_size_mul(array->len, bytes), table = MOST_BEGINS * BEGIN_WORDS * 8;
    const uint64_t at = b->n ? b->used : table, long_one = rt->gpu ? LONG_BEGIN_ON_GPU : LONG_BEGIN;
    if (dp_failed(rt) || b->n == MOST_BEGINS || array->len < long_one || at > b->room / 2 || size > b->room / 2 - at)
        return;
    const uint64_t base = memory->addr + GIVEN_HEADER, entry[BEGIN_WORDS] = {array->addr, array->len, base + at};
    dp_rt_copy(rt, &rt->heap.buffer, array->addr, base + at, size);
    dp_rt_write(rt, base + (uint64_t)b->n * sizeof entry, entry, sizeof entry);
    b->used = (at + size + 15) / 16 * 16;
    b->n++;
    const uint64_t given = b->used / 16, n = b->n;
    dp_rt_write(rt, memory->addr, &given, sizeof given);
    dp_rt_write(rt, memory->addr + 24, &n, sizeof n);
}

/* Of the memory of lanes that gave arrays, only these stay. */
static void keep_given(DpRt *rt, bool fitted)
{
    uint32_t given = 0;
    if (fitted && rt->lanes_gave)
        dp_rt_read(rt, dp_block_addr(rt->lanes_gave), &given, sizeof given);
    if (fitted)
        dp_block_shrink(rt, rt->lanes_gave, GIVEN_HEADER + (uint64_t)given * 16);
    dp_block_release(rt, rt->lanes_gave);
    rt->lanes_gave = NULL;
}

/* The host looks; dp_rt_report has found out. */
uint64_t dp_lanes_fitted(DpRt *rt, uint32_t n, const DpCol *results, uint32_t site)
{
    (void)n;
    (void)results;
    dp_rt_look(rt);
    const bool fitted = !rt->lanes_lacked;
    rt->lanes_lacked = false;
    keep_given(rt, fitted && !dp_failed(rt));
    if (!fitted)
        dp_profile_nest(rt, site, "flat, after too little lane-memory, or too much to do");
    return fitted;
}

/* ---- offsets ---- */
uint64_t dp_offsets_word(Offsets o) { return o.block ? o.block->addr : o.stride; }

Offsets dp_offsets_retain(Offsets o)
{
    dp_block_retain(o.block);
    return o;
}

void dp_offsets_release(DpRt *rt, Offsets *o)
{
    dp_block_release(rt, o->block);
    *o = (Offsets){NULL, 0};
}

Segments dp_ctx_segments(const DpCtx *c)
{
    if (c->kind != CTX_NESTED || !offsets_known(c->offsets))
        return (Segments){0, 1, dp_offsets_word(offsets_regular(c->n))};
    return (Segments){MODE_SEGMENTED, c->up->n, dp_offsets_word(c->offsets)};
}

/* ---- making them ---- */
static const Offsets unknown = {NULL, 0};

DpCtx *dp_ctx_fn(DpRt *rt, uint64_t n) { return dp_ctx_new(rt, CTX_FN, NULL, n, unknown, NULL); }

DpCtx *dp_nested_root(DpRt *rt, uint64_t n) { return dp_ctx_new(rt, CTX_NESTED, NULL, n, unknown, NULL); }

DpLengths dp_ctx_lengths(const DpCtx *c)
{
    const Segments s = dp_ctx_segments(c);
    if (c->kind == CTX_NESTED && c->offsets.block)
        return c->offsets.block->lengths;
    DpLengths l = {.known = true, .longest = s.mode ? offsets_length(c->offsets) : c->n};
    return l;
}

DpLengths dp_ctx_look_at_lengths(DpRt *rt, const DpCtx *c)
{
    DpBlock *offsets = c->kind == CTX_NESTED ? c->offsets.block : NULL;
    dp_starts_settle(rt);
    if (offsets && offsets->lengths.stored && !offsets->lengths.known) {
        uint64_t said[DP_LENGTHS_WORDS] = {0};
        dp_rt_read(rt, offsets->addr + 8 * (c->up->n + 1), said, sizeof said);
        dp_offsets_said(rt, offsets, said);
    }
    return dp_ctx_lengths(c);
}

/* More instances than can be counted are more than can be worked on. */
static uint64_t countable(DpRt *rt, uint64_t n)
{
    if (n == DP_SIZE_MAX)
        dp_rt_fail_elements(rt, n, 1);
    return n;
}

/* What is to be the context, in a failed state nothing. */
static DpPending nested_in(DpRt *rt, DpPending p, DpCtx *up, Offsets offsets)
{
    DpCtx *c = dp_ctx_new(rt, CTX_NESTED, up, 0, offsets, NULL);
    rt->mail.at[p].ctx[0] = c;
    return p;
}

/* lengths: a column of them, or of views. */
static DpPending nested(DpRt *rt, DpCtx *up, const DpCol *lengths)
{
    DpSum total;
    if (!up->n)
        return nested_in(rt, dp_pending_known(rt, 0), up, (Offsets){NULL, 0});
    const uint64_t stride = lengths->bytes;
    const uint64_t address = dp_failed(rt) ? 0 : stride == 16 ? dp_col_addr(rt, lengths) : lengths->addr;
    if (dp_col_total(lengths, &total)) {
        DpBlock *offsets = dp_offsets_of_lengths(rt, address, stride, up->n, 0);
        if (offsets && total.longest != DP_ANY_LENGTH)
            offsets->lengths = (DpLengths){.known = true, .longest = total.longest};
        return nested_in(rt, dp_pending_known(rt, total.sum), up, (Offsets){offsets, 0});
    }
    DpPending p = dp_pending_begin(rt, DP_LENGTHS_WORDS);
    DpBlock *offsets = dp_offsets_of_lengths(rt, address, stride, up->n, dp_pending_mail(rt, p));
    dp_pending_launched(rt, p);
    return nested_in(rt, p, up, (Offsets){offsets, 0});
}

DpCtx *dp_nested_regular(DpRt *rt, DpCtx *up, uint64_t length)
{
    if (dp_failed(rt))
        return dp_ctx_nothing(rt);
    const uint64_t n = countable(rt, dp_size_mul(up->n, length));
    return dp_ctx_new(rt, CTX_NESTED, up, n, offsets_regular(length), NULL);
}

DpPending dp_begin_nested_views(DpRt *rt, DpCtx *up, const DpCol *views)
{
    const DpContig *whole = dp_failed(rt) ? NULL : dp_col_contig(views);
    if (whole)
        return nested_in(rt, dp_pending_known(rt, dp_contig_total(rt, whole)), up, dp_offsets_retain(whole->offsets));
    return nested(rt, up, views);
}

DpPending dp_begin_nested_lens(DpRt *rt, DpCtx *up, const DpCol *lens) { return nested(rt, up, lens); }

DpCtx *dp_nested_views(DpRt *rt, DpCtx *up, const DpCol *views)
{
    return dp_await_ctx(rt, dp_begin_nested_views(rt, up, views));
}

DpCtx *dp_nested_lens(DpRt *rt, DpCtx *up, const DpCol *lens)
{
    return dp_await_ctx(rt, dp_begin_nested_lens(rt, up, lens));
}

uint64_t dp_ctx_offsets(DpRt *rt, DpCtx *c)
{
    if (c->offsets.block && c->offsets.block == rt->starts.offsets)
        dp_starts_settle(rt);
    return dp_failed(rt) ? 0 : dp_offsets_word(c->offsets);
}

/* A nested context with its size, which has arrived. */
DpCtx *dp_await_ctx(DpRt *rt, DpPending p)
{
    const uint64_t *said = dp_pending_await(rt, p);
    DpCtx *c = rt->mail.at[p].ctx[0];
    uint64_t n = rt->mail.at[p].begun ? dp_offsets_said(rt, c->offsets.block, said) : said[0];
    if (countable(rt, n) && dp_failed(rt)) {
        dp_ctx_release(rt, &c);
        return dp_ctx_nothing(rt);
    }
    c->n = n;
    return c;
}

void dp_rt_check_numbered(DpRt *rt, const DpCtx *c)
{
    if (c->n > DP_MAX_INSTANCES)
        dp_rt_fail_elements(rt, c->n, 4);
}

/* ---- paths ---- */
/* A path as kernels get it: indices, a stride, or 0, the identity. */
static uint64_t path_word(const CtxPath *p) { return p->indices ? p->indices->addr : p->stride; }

/* dst[i] = then(to(i)) */
static void store_numbers(DpRt *rt, uint64_t n, const DpBlock *dst, uint64_t to, uint64_t then)
{
    const Move m = {MOVE_NUMBERS, .n = n, .dst = dp_block_addr(dst), .to = to, .then = then, .written = 4 * n};
    dp_move_add(rt, &m);
}

/* dst[i] = the segment of element i */
static DpBlock *segment_numbers(DpRt *rt, uint64_t n, uint64_t nseg, uint64_t offsets)
{
    DpBlock *segments = dp_block_new(rt, n, 4);
    if (offsets & DP_REGULAR) {
        store_numbers(rt, n, segments, offsets, 0);
        return segments;
    }
    Args a = {.n = 0};
    dp_args_add(&a, n);
    dp_args_add(&a, nseg);
    dp_args_add(&a, offsets);
    dp_args_add(&a, dp_block_addr(segments));
    dp_rt_move(rt, "dp_segments", n, &a);
    return segments;
}

/* From c to its up; the indices are owned. */
static CtxPath step_up(DpRt *rt, DpCtx *c)
{
    if (c->kind == CTX_SELECTED && c->pathless)
        dp_rt_fail(rt, EXIT_DEVICE, "the positions of a context's instances were not stored");
    if (c->kind == CTX_SELECTED)
        return (CtxPath){.indices = dp_block_retain(c->indices)};
    if (c->offsets.stride)
        return (CtxPath){.stride = c->offsets.stride};
    return (CtxPath){.indices = segment_numbers(rt, c->n, c->up->n, dp_offsets_word(c->offsets))};
}

/* The second path behind the first one, for n instances. */
static CtxPath compose(DpRt *rt, uint64_t n, const CtxPath *first, const CtxPath *second)
{
    bool same = !path_word(first) || !path_word(second);
    if (same)
        first = path_word(first) ? first : second;
    if (same || (first->stride && second->stride)) {
        uint64_t stride =
            same ? first->stride : DP_REGULAR | ((first->stride & ~DP_REGULAR) * (second->stride & ~DP_REGULAR));
        return (CtxPath){.indices = dp_block_retain(first->indices), .stride = stride};
    }
    DpBlock *both = dp_block_new(rt, n, 4);
    store_numbers(rt, n, both, path_word(first), path_word(second));
    return (CtxPath){.indices = both};
}

static CtxPath *find_path(DpCtx *from, const DpCtx *to)
{
    CtxPath *p = from->paths;
    while (p && p->to != to)
        p = p->next;
    return p;
}

/* Takes the path's indices. NULL in a failed state: they may not have been written. */
static CtxPath *keep_path(DpRt *rt, DpCtx *from, DpCtx *to, CtxPath path)
{
    CtxPath *p = dp_failed(rt) ? NULL : malloc(sizeof *p);
    if (!p) {
        dp_rt_fail_host_memory(rt, sizeof *p);
        dp_block_release(rt, path.indices);
        return NULL;
    }
    *p = path;
    p->next = from->paths;
    p->to = to;
    from->paths = p;
    return p;
}

/* The path, made and kept at every context on the way. Contexts on one chain; from != to. Recurses as deep as contexts
 * are nested. NULL in a failed state. */
static CtxPath *path(DpRt *rt, DpCtx *from, DpCtx *to)
{
    CtxPath *p = find_path(from, to);
    if (p)
        return p;
    if (from->up == to)
        return keep_path(rt, from, to, step_up(rt, from));
    CtxPath *first = path(rt, from, from->up), *rest = path(rt, from->up, to);
    if (!first || !rest)
        return NULL;
    return keep_path(rt, from, to, compose(rt, from->n, first, rest));
}

uint64_t dp_path(DpRt *rt, DpCtx *from, DpCtx *to)
{
    if (dp_failed(rt) || from == to || from->n == 0)
        return 0;
    dp_rt_check_numbered(rt, from);
    const CtxPath *p = dp_failed(rt) ? NULL : path(rt, from, to);
    return p ? path_word(p) : 0;
}

/* The same as u32 indices in memory, whatever the path is. */
uint64_t dp_path_indices(DpRt *rt, DpCtx *from, DpCtx *to)
{
    uint64_t word = dp_path(rt, from, to);
    if (!(word & DP_REGULAR))
        return word;
    DpBlock *indices = segment_numbers(rt, from->n, to->n, word);
    if (dp_failed(rt)) {
        dp_block_release(rt, indices);
        return 0;
    }
    find_path(from, to)->indices = indices;
    return indices->addr;
}

DpCtx *dp_ctx_below(DpRt *rt, DpCtx *c, DpCtx *ancestor)
{
    DpBlock *indices = dp_path_indices(rt, c, ancestor) ? find_path(c, ancestor)->indices : NULL;
    return dp_failed(rt) ? dp_ctx_nothing(rt)
                         : dp_ctx_new(rt, CTX_SELECTED, ancestor, c->n, unknown, dp_block_retain(indices));
}

/* ---- what views of a context's columns are made of ---- */
Offsets dp_ctx_data_offsets(const DpCtx *c)
{
    if (c->kind == CTX_NESTED)
        return c->offsets;
    if (!c->indices && c->n == c->up->n)
        return c->up->offsets; /* the identity */
    return c->packed;
}
