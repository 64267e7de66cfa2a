/* Sorts within segments that are short enough for one work-group or one work-item each (kernels/segment_sort.cl). */
#include "internal.h"

/* As in radix_sort.cl and segment_sort.cl: elements that a work-group has in local memory, to count and to merge. */
enum { SORT_LOCAL = 2048, SORT_BLOCK = 256 * 15, SORT_GROUP_ELEMENTS = 1536 };

/* A work-item of a CPU must not have most of the work. */
bool dp_segments_are_short(const DpRt *rt, const Segmented *s)
{
    enum { ALONE = 16 }; /* so many times longer ones, where no places are kept, which are u16 */
    const uint64_t parts = dp_param(rt, PARAM_SORT_PARTS) * rt->device->facts.units,
                   most = dp_param(rt, PARAM_SORT_SEGMENT);
    if (rt->gpu)
        return s->longest <= most * (s->keys_only ? ALONE : 1);
    return s->longest <= most && (s->longest <= SORT_LOCAL || s->longest <= s->n / parts);
}

bool dp_sort_key_is_value(DpScalar t) { return t == DP_I32 || t == DP_I64 || t == DP_U32 || t == DP_U64; }

static void launch(DpRt *rt, const char *name, uint64_t groups, const Args *a)
{
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_SORT, name), 2, (uint32_t)groups, a);
}

/* All elements: keys, where they come from, and what is stored of each, places or values. */
static void say_moved(DpRt *rt, const char *name, const Segmented *s, const SegmentSort *k)
{
    const uint64_t key = k->key->bytes;
    dp_profile_moved_own(rt, name, s->n * (key + (k->from ? 4 : 0)),
                         s->n * ((k->places ? 4 : 0) + (k->values ? key : 0)));
}

static void segment_sort_args(Args *a, const SegmentSort *k)
{
    dp_args_add(a, k->key->addr);
    dp_args_add(a, k->scalar);
    dp_args_add(a, dp_block_addr(k->from));
    dp_args_add(a, dp_block_addr(k->places));
    dp_args_add(a, dp_block_addr(k->values));
    dp_args_add(a, k->key->bytes);
}

static void sort_segments_cpu(DpRt *rt, const Segmented *s, const SegmentSort *k, bool wide)
{
    DpBlock *keys = dp_block_new(rt, 2 * s->n, wide ? 8 : 4), *at = dp_block_new(rt, 2 * s->n, 4);
    Args a = {.n = 0};
    dp_args_add(&a, s->n);
    dp_args_add(&a, s->nseg);
    dp_args_add(&a, s->offsets);
    segment_sort_args(&a, k);
    dp_args_add(&a, dp_block_addr(keys));
    dp_args_add(&a, dp_block_addr(at));
    dp_args_add(&a, k->ends.first);
    dp_args_add(&a, k->ends.last);
    const char *name = wide ? "dp_sort_segments8" : "dp_sort_segments4";
    launch(rt, name, dp_rt_map_groups(rt, s->n), &a);
    say_moved(rt, name, s, k);
    dp_block_release(rt, keys);
    dp_block_release(rt, at);
}

/* Segments longer than a block: sorted blocks in two buffers by turns. */
typedef struct Runs {
    DpBlock *keys[2], *at[2];
} Runs;

static Runs new_runs(DpRt *rt, const Segmented *s, bool wide, bool places)
{
    Runs r = {{NULL, NULL}, {NULL, NULL}};
    for (uint32_t i = 0; i < 2 && s->longest > (UINT64_C(1) * SORT_BLOCK << i); i++) {
        r.keys[i] = dp_block_new(rt, s->n, wide ? 8 : 4);
        r.at[i] = places ? dp_block_new(rt, s->n, 2) : NULL;
    }
    return r;
}

static void runs_args(Args *a, const Runs *r, uint32_t which)
{
    dp_args_add(a, dp_block_addr(r->keys[which]));
    dp_args_add(a, dp_block_addr(r->at[which]));
}

/* Is nothing else wanted? */
static bool keys_are_all(const SegmentSort *k) { return !k->places && dp_sort_key_is_value(k->scalar); }

/* The blocks of those longer than `ranked`. */
static DpBlock *list_blocks(DpRt *rt, const Segmented *s, uint64_t ranked, uint64_t *most)
{
    const uint64_t longs = s->n / (ranked + 1), words = (s->nseg + 255) / 256, groups = dp_rt_map_groups(rt, s->nseg);
    *most = (longs < s->nseg ? longs : s->nseg) + s->n / SORT_BLOCK + 1;
    DpBlock *blocks = dp_block_new(rt, 1 + *most, 8);
    Args a = {.n = 0};
    dp_sort_begin(rt, 8, dp_block_addr(blocks));
    dp_args_add(&a, s->nseg);
    dp_args_add(&a, s->offsets);
    dp_args_add(&a, ranked);
    dp_args_add(&a, dp_block_addr(blocks));
    launch(rt, "dp_sort_list", words < groups ? words : groups, &a);
    return blocks;
}

static void merge_sort(DpRt *rt, const Segmented *s, const SegmentSort *k, const Args *segments, uint64_t ranked,
                       bool wide)
{
    const bool alone = keys_are_all(k);
    const uint64_t bytes = (wide ? 8U : 4U) + (alone ? 0U : 2U), units = rt->device->facts.units;
    uint64_t groups = dp_param(rt, PARAM_SORT_GROUPS) * units, nblocks;
    DpBlock *list = list_blocks(rt, s, ranked, &nblocks);
    Runs runs = new_runs(rt, s, wide, !alone);
    Args blocks = *segments;
    groups = groups < nblocks ? groups : nblocks;
    dp_args_add(&blocks, dp_block_addr(list));
    runs_args(&blocks, &runs, 0);
    const char *name =
        alone ? (wide ? "dp_sort_key_groups8" : "dp_sort_key_groups4") : (wide ? "dp_sort_groups8" : "dp_sort_groups4");
    const char *step =
        alone ? (wide ? "dp_sort_key_merge8" : "dp_sort_key_merge4") : (wide ? "dp_sort_merge8" : "dp_sort_merge4");
    launch(rt, name, groups, &blocks);
    say_moved(rt, name, s, k);
    uint32_t from = 0;
    for (uint64_t width = SORT_BLOCK; width < s->longest && !dp_failed(rt); width *= 2, from ^= 1) {
        Args merge = *segments;
        dp_args_add(&merge, dp_block_addr(list));
        dp_args_add(&merge, width);
        runs_args(&merge, &runs, from);
        runs_args(&merge, &runs, from ^ 1);
        launch(rt, step, groups, &merge);
        dp_profile_moved_own(rt, step, s->n * bytes, s->n * bytes);
    }
    for (uint32_t i = 0; i < 2; i++) {
        dp_block_release(rt, runs.keys[i]);
        dp_block_release(rt, runs.at[i]);
    }
    dp_block_release(rt, list);
}

/* Of dp_sort_ranks: segments for a work-group, so that all units have some and a group has enough of them. */
static uint64_t segments_of_group(const DpRt *rt, const Segmented *s)
{
    enum { LEAST_ELEMENTS = 256, MOST = 255, UNIT_GROUPS = 8 };
    const uint64_t mean = s->n / s->nseg + 1, fit = SORT_GROUP_ELEMENTS / mean + 1, few = LEAST_ELEMENTS / mean + 1;
    const uint64_t share = s->nseg / (UNIT_GROUPS * rt->device->facts.units), wanted = share > few ? share : few;
    const uint64_t each = wanted < fit ? wanted : fit;
    return each < MOST ? each : MOST;
}

static void rank(DpRt *rt, const Segmented *s, const Args *segments, uint64_t ranked, const char *name)
{
    const uint64_t per_group = segments_of_group(rt, s);
    Args a = *segments;
    dp_args_add(&a, per_group);
    dp_args_add(&a, ranked);
    dp_args_add(&a, s->n);
    dp_args_add(&a, s->nseg);
    dp_args_add(&a, s->waiting ? dp_block_addr(s->waiting->sums) : 0);
    launch(rt, name, (s->nseg + per_group - 1) / per_group, &a);
}

/* The host looks at what dp_lengths_rows has said. If one is longer, offsets are made after all. */
static void find_longest(DpRt *rt, Segmented *s)
{
    s->waiting->are_alike = !dp_rt_look(rt)[0];
    if (s->waiting->are_alike || dp_failed(rt))
        return;
    rt->starts = *s->waiting;
    s->longest = dp_ctx_look_at_lengths(rt, s->of).longest;
    s->waiting = NULL;
}

static void sort_segments_gpu(DpRt *rt, Segmented *s, const SegmentSort *k, bool wide)
{
    const char *ranks = wide ? "dp_sort_ranks8" : "dp_sort_ranks4";
    const uint64_t ranked = dp_param(rt, PARAM_SORT_RANKED);
    Args segments = {.n = 0};
    dp_args_add(&segments, s->offsets);
    segment_sort_args(&segments, k);
    if (ranked)
        rank(rt, s, &segments, ranked, ranks);
    if (s->waiting && !s->waiting->are_alike)
        find_longest(rt, s);
    if (s->longest <= ranked)
        say_moved(rt, ranks, s, k);
    else if (dp_segments_are_short(rt, s))
        merge_sort(rt, s, k, &segments, ranked, wide);
}

void dp_sort_segments(DpRt *rt, Segmented *s, const SegmentSort *k)
{
    const bool wide = k->key->bytes == 8;
    if (rt->gpu)
        sort_segments_gpu(rt, s, k, wide);
    else
        sort_segments_cpu(rt, s, k, wide);
}

/* Where most are short. */
bool dp_sort_begins_with_lengths(DpRt *rt, const DpCtx *c, Segmented *s, Starts *waiting)
{
    enum { HOST = 1, RARE = 8 };
    const uint64_t ranked = dp_param(rt, PARAM_SORT_RANKED), nseg = rt->starts.n;
    if (!dp_starts_wait_for(rt, c) || dp_param(rt, PARAM_CHECK_LENGTHS) == HOST || c->n > nseg * (ranked / RARE) ||
        nseg > dp_param(rt, PARAM_ROWS_MOST) || !dp_starts_add_sums(rt, 0, ranked))
        return false;
    *waiting = dp_starts_take(rt);
    *s = (Segmented){
        .n = c->n, .nseg = nseg, .offsets = dp_ctx_segments(c).offsets, .longest = ranked, .of = c, .waiting = waiting};
    dp_starts_sum(rt, waiting, DP_MAILBOX);
    return true;
}

/* ---- the first and the last elements only, on a CPU ---- */
enum {
    END_PART = 16,
    MOST_PARTS = 256
}; /* a part of all elements has so many times those wanted; at most so many parts */

SortEnds dp_sort_ends(const DpRt *rt, const Segmented *s, const DpSortTypes *t)
{
    const uint64_t first = t->first > 0 ? (uint64_t)t->first : 0, last = t->last > 0 ? (uint64_t)t->last : 0;
    const bool some = first < s->longest && last < s->longest - first && !rt->gpu;
    return some ? (SortEnds){first, last} : (SortEnds){0, 0};
}

static void end_places(DpRt *rt, const Segmented *s, uint64_t to, SortEnds ends, const DpBlock *places,
                       const DpCol *column, uint32_t bytes, uint64_t out)
{
    Args a = {.n = 0};
    dp_args_add(&a, s->nseg);
    dp_args_add(&a, to);
    dp_args_add(&a, s->offsets);
    dp_args_add(&a, ends.first);
    dp_args_add(&a, ends.last);
    dp_args_add(&a, dp_block_addr(places));
    dp_args_add(&a, column ? column->addr : 0);
    dp_args_add(&a, bytes);
    dp_args_add(&a, out);
    launch(rt, "dp_sort_ends", dp_rt_map_groups(rt, s->nseg), &a);
}

DpCol dp_sort_end_elements(DpRt *rt, const Segmented *s, uint64_t from, SortEnds ends, const DpBlock *places,
                           const DpCol *column)
{
    const uint32_t bytes = column ? column->bytes : 8;
    DpCol out = dp_new_col(rt, s->n, bytes);
    const Segmented there = {.n = s->n, .nseg = s->nseg, .offsets = from, .longest = s->longest};
    if (out.block)
        end_places(rt, &there, s->offsets, ends, places, column, bytes, out.addr);
    return out;
}

/* Of so many parts the places of their ends, part by part, and what is searched in these. */
static DpBlock *candidates(DpRt *rt, Segmented *parts, SegmentSort *k)
{
    const uint64_t each = k->ends.first + k->ends.last;
    k->places = dp_block_new(rt, parts->n, 4);
    dp_sort_segments(rt, parts, k);
    DpBlock *list = dp_block_new(rt, parts->nseg * each, 4);
    end_places(rt, parts, offsets_regular(each).stride, k->ends, k->places, NULL, 4, dp_block_addr(list));
    dp_block_release(rt, k->places);
    return list;
}

DpBlock *dp_sort_root_ends(DpRt *rt, uint64_t n, const DpCol *key, DpScalar scalar, SortEnds ends, uint64_t *count)
{
    const uint64_t each = ends.first + ends.last, chunks = dp_rt_chunks(rt, false, n), most = n / END_PART / each;
    uint64_t at[MOST_PARTS + 1], parts = chunks < most ? chunks : most;
    if (parts < 2 || dp_failed(rt))
        return NULL;
    parts = parts < MOST_PARTS ? parts : MOST_PARTS;
    for (uint64_t i = 0; i <= parts; i++)
        at[i] = n / parts * i + n % parts * i / parts;
    DpBlock *offsets = dp_block_new(rt, parts + 1, 8);
    dp_rt_write(rt, dp_block_addr(offsets), at, (parts + 1) * sizeof *at);
    SegmentSort k = {.key = key, .scalar = scalar, .ends = ends};
    Segmented all = {.n = n, .nseg = parts, .offsets = dp_block_addr(offsets), .longest = n / parts + 1};
    DpBlock *list = candidates(rt, &all, &k);
    Segmented some = {
        .n = parts * each, .nseg = 1, .offsets = offsets_regular(parts * each).stride, .longest = parts * each};
    k.from = list;
    k.places = dp_block_new(rt, some.n, 4);
    dp_sort_segments(rt, &some, &k);
    dp_block_release(rt, list);
    dp_block_release(rt, offsets);
    *count = some.n;
    return k.places;
}
