/* Sorting: one key column at a time, the least significant first, segments last; and what moves along. */
#include "internal.h"

#include <stdlib.h>

/* ---- one key column ---- */

static Kernel *sort_kernel(DpRt *rt, const char *name) { return dp_rt_own_kernel(rt, OWN_SORT, name); }

/* What a kernel over n elements reads and writes of each, for profiles. */
static void say_moved(DpRt *rt, const char *kernel, uint64_t n, uint64_t read, uint64_t written)
{
    dp_profile_moved_own(rt, kernel, n * read, n * written);
}

void dp_sort_begin(DpRt *rt, uint64_t bytes, uint64_t at)
{
    Args a = {.n = 0};
    dp_args_add(&a, bytes / 8);
    dp_args_add(&a, at);
    dp_rt_launch(rt, sort_kernel(rt, "dp_sort_begin"), 2, dp_rt_map_groups(rt, bytes / 8), &a);
}

/* Codes as in radix_sort.cl, of scalars of 4 and 8 bytes. */
static uint64_t code_of(DpScalar scalar)
{
    return scalar == DP_F32 || scalar == DP_F64 ? 2 : scalar == DP_I32 || scalar == DP_I64 ? 1 : 0;
}

/* What is known of a key column of n > 0 elements. */
typedef struct KeyFacts {
    uint64_t differ; /* the bits in which keys differ */
    bool loses;      /* there is a value that its key does not give back */
} KeyFacts;

static KeyFacts key_facts(DpRt *rt, uint64_t n, uint64_t column, DpScalar scalar)
{
    static const char *const kernels[] = {
        [1] = "dp_sort_bits", [2] = "dp_sort_bits", [4] = "dp_sort_bits4", [8] = "dp_sort_bits8"};
    const uint32_t bytes = dp_scalar_bytes(scalar);
    Args a = {.n = 0};
    dp_sort_begin(rt, 0, 0);
    dp_args_add(&a, n);
    dp_args_add(&a, column);
    dp_args_add(&a, bytes < 4 ? scalar : code_of(scalar));
    dp_rt_launch(rt, sort_kernel(rt, kernels[bytes]), 2, dp_rt_map_groups(rt, n), &a);
    say_moved(rt, kernels[bytes], n, bytes, 0);
    const uint64_t *said = dp_rt_look_at_heap(rt);
    return (KeyFacts){said[0], said[1] != 0};
}

/* Elements that are taken from one buffer to the other, pass by pass: at first from a column, or from a block of ours.
 */
typedef struct Moved {
    uint64_t column;   /* or 0 */
    DpBlock *block[2]; /* pass p writes block[p & 1]; what is not from a column is in block[1] before. Owned */
    uint32_t bytes;
} Moved;

typedef struct Passes {
    uint64_t n;
    uint32_t key_bytes, count;
    uint8_t shifts[8];
    uint64_t differ; /* the bits in which keys differ */
    uint64_t code;   /* of the values that the keys are made of (radix_sort.cl); 0: they are keys */
    bool want_keys;
    DpBlock *digits; /* look-back: of all passes, then tickets, then what tiles leave; else NULL */
    Moved keys, along;
} Passes;

/* Passes over the bits in which keys differ, eight from the lowest such bit on; one at least, which copies. */
static void plan_passes(Passes *p, uint64_t differ)
{
    p->differ = differ;
    do {
        uint32_t shift = differ ? (uint32_t)__builtin_ctzll(differ) : 0;
        p->shifts[p->count++] = (uint8_t)shift;
        differ &= ~(UINT64_C(255) << shift);
    } while (differ);
}

static uint64_t moved_from(const Moved *m, uint32_t pass)
{
    return pass == 0 && m->column ? m->column : dp_block_addr(m->block[~pass & 1]);
}

static uint64_t moved_to(DpRt *rt, Moved *m, uint64_t n, uint32_t pass)
{
    if (m->bytes && !m->block[pass & 1])
        m->block[pass & 1] = dp_block_new(rt, n, m->bytes);
    return dp_block_addr(m->block[pass & 1]);
}

/* The block that the last pass wrote, if it is wanted; the other is released. */
static DpBlock *moved_result(DpRt *rt, Moved *m, uint32_t passes, bool wanted)
{
    DpBlock *result = m->block[(passes - 1) & 1];
    dp_block_release(rt, m->block[passes & 1]);
    if (wanted)
        return result;
    dp_block_release(rt, result);
    return NULL;
}

static uint64_t load_code(const Passes *p, uint32_t pass) { return pass == 0 ? p->code : 0; }

/* As in radix_sort.cl: elements of a tile by the bytes of keys; what a digit's state counts. */
enum { SORT_TILE4 = 256 * 16, SORT_TILE8 = 256 * 16, LOOK_BACK_MOST = 1 << 30 };

/* The kernel of this name for keys of 4 or of 8 bytes, over all elements, of which it reads and writes so many bytes.
 */
static void launch_sized(DpRt *rt, const Passes *p, const char *const names[2], uint32_t groups, Args *a, uint64_t read,
                         uint64_t written)
{
    const char *name = names[p->key_bytes == 8];
    dp_rt_launch(rt, sort_kernel(rt, name), 2, groups, a);
    say_moved(rt, name, p->n, read, written);
}

static uint64_t tiles_of(const Passes *p)
{
    const uint64_t tile = p->key_bytes == 4 ? SORT_TILE4 : SORT_TILE8;
    return (p->n + tile - 1) / tile;
}

/* How many keys have each digit of each pass, and where these begin; and room for what tiles leave, zeroed. */
static void count_all_digits(DpRt *rt, Passes *p)
{
    static const char *const names[] = {"dp_sort_digits4", "dp_sort_digits8"};
    const uint64_t digit_bytes = 1024 * (uint64_t)p->count, status_bytes = digit_bytes * tiles_of(p);
    uint64_t shifts = 0;
    for (uint32_t i = 0; i < p->count; i++)
        shifts |= (uint64_t)p->shifts[i] << 8 * i;
    p->digits = dp_block_new(rt, digit_bytes + 64 + status_bytes, 1);
    dp_sort_begin(rt, digit_bytes + 64 + status_bytes, dp_block_addr(p->digits));
    Args count = {.n = 0}, bases = {.n = 0};
    dp_args_add(&count, p->n);
    dp_args_add(&count, moved_from(&p->keys, 0));
    dp_args_add(&count, shifts);
    dp_args_add(&count, p->count);
    dp_args_add(&count, p->code);
    dp_args_add(&count, dp_block_addr(p->digits));
    launch_sized(rt, p, names, dp_rt_chunks(rt, true, p->n), &count, p->key_bytes, 0);
    dp_args_add(&bases, p->count);
    dp_args_add(&bases, dp_block_addr(p->digits));
    dp_rt_launch(rt, sort_kernel(rt, "dp_sort_bases"), 2, p->count, &bases);
}

/* Where each chunk's digits go. */
static DpBlock *count_digits(DpRt *rt, const Passes *p, uint32_t pass, uint32_t chunks)
{
    static const char *const names[] = {"dp_sort_count4", "dp_sort_count8"};
    DpBlock *counts = dp_block_new(rt, 256 * (uint64_t)chunks, 4);
    Args count = {.n = 0}, starts = {.n = 0};
    dp_args_add(&count, p->n);
    dp_args_add(&count, moved_from(&p->keys, pass));
    dp_args_add(&count, p->shifts[pass]);
    dp_args_add(&count, load_code(p, pass));
    dp_args_add(&count, dp_block_addr(counts));
    launch_sized(rt, p, names, chunks, &count, p->key_bytes, 0);
    dp_args_add(&starts, chunks);
    dp_args_add(&starts, dp_block_addr(counts));
    dp_rt_launch(rt, sort_kernel(rt, "dp_sort_starts"), 2, 1, &starts);
    return counts;
}

static void run_pass(DpRt *rt, Passes *p, uint32_t pass)
{
    static const char *const names[] = {"dp_sort_pass4", "dp_sort_pass8"};
    const bool last = pass + 1 == p->count, look_back = p->digits != NULL;
    const uint32_t chunks = look_back ? (uint32_t)tiles_of(p) : dp_rt_chunks(rt, rt->gpu, p->n);
    const uint64_t digits = dp_block_addr(p->digits), tickets = digits + 1024 * (uint64_t)p->count;
    DpBlock *counts = look_back ? NULL : count_digits(rt, p, pass, chunks);
    Args a = {.n = 0};
    dp_args_add(&a, p->n);
    dp_args_add(&a, moved_from(&p->keys, pass));
    dp_args_add(&a, last && !p->want_keys ? 0 : moved_to(rt, &p->keys, p->n, pass));
    dp_args_add(&a, moved_from(&p->along, pass));
    dp_args_add(&a, moved_to(rt, &p->along, p->n, pass));
    dp_args_add(&a, p->along.bytes);
    dp_args_add(&a, p->shifts[pass]);
    dp_args_add(&a, load_code(p, pass) | (last ? p->code << 8 : 0));
    dp_args_add(&a, look_back ? digits + 1024 * (uint64_t)pass : dp_block_addr(counts));
    dp_args_add(&a, look_back ? tickets + 64 + 1024 * tiles_of(p) * pass : 0);
    dp_args_add(&a, tickets + 8 * (uint64_t)pass);
    const uint64_t keys = p->key_bytes, along = p->along.bytes,
                   given = pass > 0 || p->along.column || p->along.block[1];
    launch_sized(rt, p, names, chunks, &a, keys + along * (given != 0), keys * (!last || p->want_keys) + along);
    dp_block_release(rt, counts);
}

/* ---- CPU: into buckets, and these within a cache (kernels/bucket_sort.cl) ---- */
enum { BUCKETS = 512, MOST_CELL_BITS = 12 }; /* as in radix_sort.cl */
enum { BUCKET_CHUNKS = 4 };                  /* for each compute unit: one work-item adds up what they count */

typedef struct Buckets {
    uint32_t chunks, shift, bits; /* cells: 2^bits, of the key's bits from `shift` on */
    uint32_t n;
    DpBlock *table, *starts;
} Buckets;

/* False: there is a bucket that would keep a unit busy while the others have nothing to do. */
static bool make_buckets(DpRt *rt, const Passes *p, Buckets *b)
{
    static const char *const names[] = {"dp_sort_cells4", "dp_sort_cells8"};
    const uint64_t cells = UINT64_C(1) << b->bits;
    DpBlock *counts = dp_block_new(rt, b->chunks * cells, 4);
    Args count = {.n = 0}, join = {.n = 0};
    dp_args_add(&count, p->n);
    dp_args_add(&count, moved_from(&p->keys, 0));
    dp_args_add(&count, b->shift);
    dp_args_add(&count, b->bits);
    dp_args_add(&count, p->code);
    dp_args_add(&count, dp_block_addr(counts));
    launch_sized(rt, p, names, b->chunks, &count, p->key_bytes, 0);
    b->table = dp_block_new(rt, cells, 2);
    b->starts = dp_block_new(rt, (1 + b->chunks) * (BUCKETS + UINT64_C(1)), 4);
    dp_args_add(&join, b->chunks);
    dp_args_add(&join, p->n);
    dp_args_add(&join, cells);
    dp_args_add(&join, dp_block_addr(counts));
    dp_args_add(&join, dp_block_addr(b->table));
    dp_args_add(&join, dp_block_addr(b->starts));
    dp_rt_launch(rt, sort_kernel(rt, "dp_sort_buckets"), 2, 1, &join);
    dp_block_release(rt, counts);
    const uint64_t *said = dp_rt_look_at_heap(rt);
    b->n = (uint32_t)said[1];
    return !dp_failed(rt) && said[0] <= p->n / rt->device->facts.units;
}

static void deal(DpRt *rt, Passes *p, const Buckets *b)
{
    static const char *const names[] = {"dp_sort_deal4", "dp_sort_deal8"};
    Args a = {.n = 0};
    dp_args_add(&a, p->n);
    dp_args_add(&a, moved_from(&p->keys, 0));
    dp_args_add(&a, moved_to(rt, &p->keys, p->n, 0));
    dp_args_add(&a, moved_from(&p->along, 0));
    dp_args_add(&a, moved_to(rt, &p->along, p->n, 0));
    dp_args_add(&a, p->along.bytes);
    dp_args_add(&a, b->shift);
    dp_args_add(&a, b->bits);
    dp_args_add(&a, p->code);
    dp_args_add(&a, dp_block_addr(b->table));
    dp_args_add(&a, dp_block_addr(b->starts));
    const uint64_t bytes = p->key_bytes + (uint64_t)p->along.bytes;
    launch_sized(rt, p, names, b->chunks, &a, bytes - (p->along.column || p->along.block[1] ? 0 : p->along.bytes),
                 bytes);
}

/* Into the buffer that most buckets end in by themselves. */
static void sort_buckets(DpRt *rt, Passes *p, const Buckets *b)
{
    static const char *const names[] = {"dp_sort_within4", "dp_sort_within8"};
    const uint32_t low = (uint32_t)__builtin_ctzll(p->differ), left = b->shift > low ? b->shift + 4 - low : 0;
    const uint32_t into = (left + MOST_CELL_BITS - 1) / MOST_CELL_BITS & 1;
    Args a = {.n = 0};
    dp_args_add(&a, p->n);
    dp_args_add(&a, b->n);
    dp_args_add(&a, dp_block_addr(b->starts));
    dp_args_add(&a, moved_to(rt, &p->keys, p->n, 0));
    dp_args_add(&a, moved_to(rt, &p->keys, p->n, 1));
    dp_args_add(&a, moved_to(rt, &p->along, p->n, 0));
    dp_args_add(&a, moved_to(rt, &p->along, p->n, 1));
    dp_args_add(&a, p->along.bytes);
    dp_args_add(&a, into);
    dp_args_add(&a, p->want_keys);
    dp_args_add(&a, p->code);
    const uint64_t bytes = p->key_bytes + (uint64_t)p->along.bytes;
    launch_sized(rt, p, names, dp_rt_map_groups(rt, p->n), &a, bytes, bytes - (p->want_keys ? 0 : p->key_bytes));
    p->count = 1 + into;
}

static bool run_buckets(DpRt *rt, Passes *p)
{
    const uint32_t highest = 63 - (uint32_t)__builtin_clzll(p->differ | 1);
    const uint32_t chunks = dp_rt_chunks(rt, false, p->n), most = BUCKET_CHUNKS * rt->device->facts.units;
    Buckets b = {.chunks = chunks < most ? chunks : most, .bits = 8};
    while (b.bits < MOST_CELL_BITS && p->n >> (b.bits + 8))
        b.bits++;
    b.shift = highest + 1 > b.bits ? highest + 1 - b.bits : 0;
    const bool even = make_buckets(rt, p, &b);
    if (even) {
        deal(rt, p, &b);
        sort_buckets(rt, p, &b);
    }
    dp_block_release(rt, b.table);
    dp_block_release(rt, b.starts);
    return even;
}

static void run_all(DpRt *rt, Passes *p)
{
    if (!rt->gpu && p->count > 1 && p->n >= dp_param(rt, PARAM_SORT_BUCKETS) && run_buckets(rt, p))
        return;
    if (dp_rt_looks_back(rt) && p->n < LOOK_BACK_MOST)
        count_all_digits(rt, p);
    for (uint32_t i = 0; i < p->count && !dp_failed(rt); i++)
        run_pass(rt, p, i);
    dp_block_release(rt, p->digits);
}

static Sorted run_passes(DpRt *rt, Passes *p)
{
    run_all(rt, p);
    return (Sorted){moved_result(rt, &p->keys, p->count, p->want_keys),
                    moved_result(rt, &p->along, p->count, p->along.bytes > 0)};
}

/* Of elements that lie as in `places` (owned; NULL: as they are): the keys of the column, as a block. */
static DpBlock *make_keys(DpRt *rt, uint64_t n, uint64_t column, DpScalar scalar, const DpBlock *places)
{
    const uint32_t bytes = dp_scalar_bytes(scalar) == 8 ? 8 : 4;
    DpBlock *keys = dp_block_new(rt, n, bytes);
    Args a = {.n = 0};
    dp_args_add(&a, n);
    dp_args_add(&a, bytes);
    dp_args_add(&a, dp_block_addr(keys));
    dp_args_add(&a, column);
    dp_args_add(&a, dp_block_addr(places));
    dp_args_add(&a, scalar);
    dp_rt_launch(rt, sort_kernel(rt, "dp_sort_keys"), 2, dp_rt_map_groups(rt, n), &a);
    say_moved(rt, "dp_sort_keys", n, dp_scalar_bytes(scalar) + (places ? UINT64_C(4) : 0), bytes);
    return keys;
}

/* The key column's values, if they are wanted and none is lost, and `along` (a column of 4 or 8 bytes; 0: places). */
static Sorted sort_values(DpRt *rt, uint64_t n, uint64_t column, DpScalar scalar, const KeyFacts *facts, bool want_keys,
                          const DpCol *along, bool places)
{
    Passes p = {.n = n, .key_bytes = dp_scalar_bytes(scalar) == 8 ? 8 : 4, .want_keys = want_keys};
    plan_passes(&p, facts->differ);
    p.keys.bytes = p.key_bytes;
    if (facts->loses) {
        p.keys.block[1] = make_keys(rt, n, column, scalar, NULL);
    } else {
        p.keys.column = column;
        p.code = code_of(scalar);
    }
    p.along.column = along ? along->addr : 0;
    p.along.bytes = along ? along->bytes : places ? 4 : 0;
    return run_passes(rt, &p);
}

Sorted dp_sort_by(DpRt *rt, uint64_t n, uint64_t column, DpScalar scalar)
{
    if (n > DP_MAX_INSTANCES) /* positions are u32 */
        dp_rt_fail_elements(rt, n, 4);
    const KeyFacts facts = key_facts(rt, n, column, scalar);
    return sort_values(rt, n, column, scalar, &facts, true, NULL, true);
}

/* ---- several key columns ---- */

/* Places (owned; NULL: 0, 1, 2 …) sorted further, stably, by a column. */
static DpBlock *sort_places(DpRt *rt, uint64_t n, uint64_t column, DpScalar scalar, DpBlock *places)
{
    const KeyFacts facts = key_facts(rt, n, column, scalar);
    if (!places)
        return sort_values(rt, n, column, scalar, &facts, false, NULL, true).along;
    Passes p = {.n = n, .key_bytes = dp_scalar_bytes(scalar) == 8 ? 8 : 4};
    if (!facts.differ)
        return places;
    plan_passes(&p, facts.differ);
    p.keys.bytes = p.key_bytes;
    p.keys.block[1] = make_keys(rt, n, column, scalar, places);
    p.along.bytes = 4;
    p.along.block[1] = places;
    return run_passes(rt, &p).along;
}

/* Keys by which elements are sorted, the most significant first: what segment they are in, if there are several, and
 * columns. */
enum { MOST_RANGES = 8 }; /* of which the mailbox has room for the ranges */
typedef struct SortKeys {
    uint64_t n; /* elements */
    uint32_t nkeys, ncolumns;
    const DpCol *columns;
    const uint8_t *scalars;
    uint64_t segments, nseg; /* a column, u32, or 0; all are less than nseg */
    bool known;
    struct {
        uint64_t least;
        uint32_t bits; /* of what keys are above the least */
    } ranges[MOST_RANGES];
} SortKeys;

static uint64_t key_column(const SortKeys *k, uint32_t i)
{
    return k->segments && i == 0 ? k->segments : k->columns[i - (k->segments != 0)].addr;
}

static DpScalar key_scalar(const SortKeys *k, uint32_t i)
{
    return k->segments && i == 0 ? DP_U32 : (DpScalar)k->scalars[i - (k->segments != 0)];
}

static uint32_t bits_of(uint64_t x) { return x ? 64 - (uint32_t)__builtin_clzll(x) : 0; }

static void find_ranges(DpRt *rt, SortKeys *k)
{
    const uint32_t groups = dp_rt_map_groups(rt, k->n), first = k->segments != 0;
    DpBlock *parts = dp_block_new(rt, 2 * (uint64_t)groups * k->ncolumns, 8);
    for (uint32_t i = 0; i < k->ncolumns; i++) {
        Args a = {.n = 0};
        dp_args_add(&a, k->n);
        dp_args_add(&a, k->columns[i].addr);
        dp_args_add(&a, k->scalars[i]);
        dp_args_add(&a, dp_block_addr(parts) + 16 * (uint64_t)groups * i);
        dp_rt_launch(rt, sort_kernel(rt, "dp_sort_range"), 2, groups, &a);
    }
    Args all = {.n = 0};
    dp_args_add(&all, k->ncolumns);
    dp_args_add(&all, groups);
    dp_args_add(&all, dp_block_addr(parts));
    dp_rt_launch(rt, sort_kernel(rt, "dp_sort_ranges"), 2, 1, &all);
    dp_block_release(rt, parts);
    const uint64_t *said = dp_rt_look_at_heap(rt);
    for (uint32_t i = 0; i < k->ncolumns; i++) {
        k->ranges[first + i].least = said[2 * i];
        k->ranges[first + i].bits = bits_of(said[2 * i + 1] - said[2 * i]);
    }
    k->ranges[0].bits = first ? bits_of(k->nseg - 1) : k->ranges[0].bits;
    k->known = !dp_failed(rt);
}

/* Places sorted further, stably, by the keys from `from` on before `to`, side by side in one of `bits`. */
static DpBlock *sort_joined(DpRt *rt, const SortKeys *k, uint32_t from, uint32_t to, uint32_t bits, DpBlock *places)
{
    Passes p = {.n = k->n, .key_bytes = bits <= 32 ? 4 : 8};
    uint32_t shift = 0;
    p.keys.bytes = p.key_bytes;
    p.keys.block[1] = dp_block_new(rt, k->n, p.key_bytes);
    for (uint32_t i = to; i-- > from; shift += k->ranges[i].bits) {
        Args a = {.n = 0};
        dp_args_add(&a, k->n);
        dp_args_add(&a, p.key_bytes);
        dp_args_add(&a, dp_block_addr(p.keys.block[1]));
        dp_args_add(&a, key_column(k, i));
        dp_args_add(&a, dp_block_addr(places));
        dp_args_add(&a, key_scalar(k, i));
        dp_args_add(&a, k->ranges[i].least);
        dp_args_add(&a, shift);
        dp_args_add(&a, i + 1 < to);
        dp_rt_launch(rt, sort_kernel(rt, "dp_sort_join"), 2, dp_rt_map_groups(rt, k->n), &a);
    }
    plan_passes(&p, bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX);
    p.along.bytes = 4;
    p.along.block[1] = places;
    return run_passes(rt, &p).along;
}

/* Whose places the elements are, as u32, once they are sorted; owned. Keys whose ranges are small enough are one
 * together. */
static DpBlock *sorted_places(DpRt *rt, SortKeys *k)
{
    DpBlock *places = NULL;
    if (k->nkeys > 1 && k->nkeys <= MOST_RANGES)
        find_ranges(rt, k);
    for (uint32_t from, to = k->nkeys; to > 0; to = from) {
        from = to - 1;
        uint32_t bits = k->known ? k->ranges[from].bits : 0;
        while (k->known && from > 0 && bits + k->ranges[from - 1].bits <= 64)
            bits += k->ranges[--from].bits;
        places = to - from > 1 ? sort_joined(rt, k, from, to, bits, places)
                               : sort_places(rt, k->n, key_column(k, from), key_scalar(k, from), places);
    }
    return places;
}

/* Positions within the segments, as i64. */
static DpCol local_positions(DpRt *rt, const DpCtx *c, const DpBlock *places)
{
    DpCol out = dp_new_col(rt, c->n, 8);
    if (!out.block)
        return out;
    Segments s = dp_ctx_segments(c);
    Args a = {.n = 0};
    dp_args_add(&a, c->n);
    dp_args_add(&a, s.nseg);
    dp_args_add(&a, s.offsets);
    dp_args_add(&a, out.addr);
    dp_args_add(&a, dp_block_addr(places));
    dp_rt_move(rt, "dp_local_positions", c->n, &a);
    return out;
}

static DpCol at_places(DpRt *rt, const DpCol *column, const DpBlock *places)
{
    DpCol out = dp_new_col(rt, column->n, column->bytes);
    if (out.block)
        dp_move_rows(rt, column, column->n, (Route){.from = dp_block_addr(places)}, out.addr, column->n);
    return out;
}

static bool same_column(const DpCol *a, const DpCol *b) { return a->addr == b->addr && a->bytes == b->bytes; }

static DpCol column_of_block(DpBlock *block, uint64_t n, uint32_t bytes)
{
    return (DpCol){block, dp_block_addr(block), n, bytes};
}

/* By one key, without segments: its own values come out of the sort, and one more column, or places that lead to the
 * others. */
static void sort_by_one(DpRt *rt, const DpCtx *c, uint32_t positions, const DpSortTypes *t, const DpCol *elements,
                        DpCol *outs)
{
    const DpCol *key = &elements[0], *columns = &elements[1], *along = NULL;
    const KeyFacts facts = key_facts(rt, c->n, key->addr, (DpScalar)t->keys[0]);
    uint32_t others = 0;
    for (uint32_t i = 0; i < t->ncolumns; i++)
        if (facts.loses || !same_column(key, &columns[i])) {
            along = &columns[i];
            others++;
        }
    const bool places = positions || others > 1 || (others == 1 && along->bytes != 4 && along->bytes != 8);
    if (places)
        along = NULL;
    Sorted s = sort_values(rt, c->n, key->addr, (DpScalar)t->keys[0], &facts, !facts.loses && others < t->ncolumns,
                           along, places);
    if (positions)
        outs[0] = local_positions(rt, c, s.along);
    for (uint32_t i = 0; i < t->ncolumns; i++) {
        bool is_key = !facts.loses && same_column(key, &columns[i]);
        outs[positions + i] = !is_key && places
                                  ? at_places(rt, &columns[i], s.along)
                                  : column_of_block(dp_block_retain(is_key ? s.keys : s.along), c->n, columns[i].bytes);
    }
    dp_block_release(rt, s.keys);
    dp_block_release(rt, s.along);
}

/* The column's elements, or positions (NULL), in the order of the places, as far as they are wanted. */
static DpCol sorted_elements(DpRt *rt, const DpCtx *c, const Segmented *s, SortEnds ends, const DpBlock *places,
                             const DpCol *column)
{
    if (sort_ends_only(ends))
        return dp_sort_end_elements(rt, s, s->offsets, ends, places, column);
    return column ? at_places(rt, column, places) : local_positions(rt, c, places);
}

/* Within segments that are short: by one key after the other, the last one first. */
static void sort_short(DpRt *rt, const DpCtx *c, Segmented *s, uint32_t positions, const DpSortTypes *t,
                       const DpCol *elements, DpCol *outs)
{
    const DpCol *columns = &elements[t->nkeys];
    SegmentSort k = {.from = NULL};
    const SortEnds ends = dp_sort_ends(rt, s, t);
    uint32_t others = 0;
    for (uint32_t i = 0; i < t->ncolumns; i++)
        others += !same_column(&elements[0], &columns[i]);
    DpBlock *from = NULL;
    for (uint32_t i = t->nkeys; i-- > 0;) {
        k = (SegmentSort){.key = &elements[i], .scalar = (DpScalar)t->keys[i], .from = from};
        k.ends = i > 0 ? k.ends : ends;
        k.places = i > 0 || positions || others ? dp_block_new(rt, s->n, 4) : NULL;
        k.values = i == 0 && others < t->ncolumns ? dp_block_new(rt, s->n, elements[0].bytes) : NULL;
        dp_sort_segments(rt, s, &k);
        dp_block_release(rt, from);
        from = k.places;
    }
    if (positions)
        outs[0] = sorted_elements(rt, c, s, ends, k.places, NULL);
    for (uint32_t i = 0; i < t->ncolumns; i++)
        outs[positions + i] = same_column(&elements[0], &columns[i])
                                  ? column_of_block(dp_block_retain(k.values), s->n, columns[i].bytes)
                                  : sorted_elements(rt, c, s, ends, k.places, &columns[i]);
    dp_block_release(rt, k.places);
    dp_block_release(rt, k.values);
}

/* By one key, without segments, only the first and the last elements. False: it is not worth it. */
static bool sort_root_ends(DpRt *rt, uint64_t n, uint32_t positions, const DpSortTypes *t, const DpCol *elements,
                           DpCol *outs)
{
    const Segmented s = {.n = n, .nseg = 1, .offsets = offsets_regular(n).stride, .longest = n};
    const SortEnds ends = dp_sort_ends(rt, &s, t);
    if (!sort_ends_only(ends))
        return false;
    uint64_t count = 0;
    DpBlock *found = dp_sort_root_ends(rt, n, &elements[0], (DpScalar)t->keys[0], ends, &count);
    if (!found)
        return false;
    const uint64_t from = offsets_regular(count).stride;
    if (positions)
        outs[0] = dp_sort_end_elements(rt, &s, from, ends, found, NULL);
    for (uint32_t i = 0; i < t->ncolumns; i++)
        outs[positions + i] = dp_sort_end_elements(rt, &s, from, ends, found, &elements[1 + i]);
    dp_block_release(rt, found);
    return true;
}

/* The longest of segments of which nothing is known. */
static uint64_t longest_of(DpRt *rt, const Segmented *s)
{
    Args a = {.n = 0};
    dp_sort_begin(rt, 0, 0);
    dp_args_add(&a, s->nseg);
    dp_args_add(&a, s->offsets);
    dp_rt_launch(rt, sort_kernel(rt, "dp_sort_longest"), 2, dp_rt_map_groups(rt, s->nseg), &a);
    return (uint32_t)dp_rt_look_at_heap(rt)[0];
}

/* The segments of c, or all of it as one. */
static Segmented segmented(DpRt *rt, const DpCtx *c)
{
    const Segments segments = dp_ctx_segments(c);
    const DpLengths lengths = dp_ctx_look_at_lengths(rt, c);
    Segmented s = {.n = c->n, .nseg = segments.nseg, .offsets = segments.offsets, .longest = lengths.longest};
    if (!lengths.known)
        s.longest = longest_of(rt, &s);
    return s;
}

/* Are its own elements all that a sort gives? */
static bool keys_only(uint32_t positions, const DpSortTypes *t, const DpCol *elements)
{
    return !positions && t->nkeys == 1 && t->ncolumns == 1 && same_column(&elements[0], &elements[1]) &&
           dp_sort_key_is_value((DpScalar)t->keys[0]);
}

/* Of segments whose offsets wait. False: some are too long to be sorted by themselves, or nothing waits. */
static bool sort_from_lengths(DpRt *rt, const DpCtx *c, uint32_t positions, const DpSortTypes *t, const DpCol *elements,
                              DpCol *outs)
{
    Segmented s;
    Starts waiting;
    if (!dp_sort_begins_with_lengths(rt, c, &s, &waiting))
        return false;
    s.keys_only = keys_only(positions, t, elements);
    sort_short(rt, c, &s, positions, t, elements, outs);
    if (s.waiting)
        rt->starts = waiting;
    const bool done = dp_segments_are_short(rt, &s) || dp_failed(rt);
    for (uint32_t i = 0; i < positions + t->ncolumns && !done; i++)
        dp_col_release(rt, &outs[i]);
    return done;
}

/* The keys, then the columns, as elements of c; the results are elements of c, too. */
static void sort_columns(DpRt *rt, DpCtx *c, DpCtx *up, uint32_t positions, const DpSortTypes *t, const DpCol *elements,
                         DpCol *outs)
{
    if (c->n > DP_MAX_INSTANCES)
        dp_rt_fail_elements(rt, c->n, 4);
    if (c->n && !dp_failed(rt)) {
        Segmented s;
        if (sort_from_lengths(rt, c, positions, t, elements, outs))
            return;
        s = segmented(rt, c);
        s.keys_only = keys_only(positions, t, elements);
        if (dp_segments_are_short(rt, &s)) {
            sort_short(rt, c, &s, positions, t, elements, outs);
            return;
        }
    }
    const bool one = !up || up->n == 1;
    if (c->n && t->nkeys == 1 && one && !dp_failed(rt) && sort_root_ends(rt, c->n, positions, t, elements, outs))
        return;
    if (c->n && t->nkeys == 1 && one && !dp_failed(rt)) {
        sort_by_one(rt, c, positions, t, elements, outs);
        return;
    }
    SortKeys keys = {.n = c->n, .ncolumns = t->nkeys, .columns = elements, .scalars = t->keys};
    keys.segments = c->n && !one ? dp_path_indices(rt, c, up) : 0;
    keys.nseg = up ? up->n : 1;
    keys.nkeys = t->nkeys + (keys.segments != 0);
    DpBlock *places = c->n ? sorted_places(rt, &keys) : NULL;
    if (positions)
        outs[0] = local_positions(rt, c, places);
    for (uint32_t i = 0; i < t->ncolumns; i++)
        outs[positions + i] = at_places(rt, &elements[t->nkeys + i], places);
    dp_block_release(rt, places);
}

/* Room for keys and columns; NULL where there is none, or in a failed state. */
static DpCol *new_elements(DpRt *rt, const DpSortTypes *t)
{
    size_t n = (size_t)t->nkeys + 2 * (size_t)t->ncolumns + 1; /* and, at the root, what is sorted */
    DpCol *elements = dp_failed(rt) ? NULL : calloc(n, sizeof *elements);
    if (!elements)
        dp_rt_fail_host_memory(rt, n * sizeof *elements);
    return elements;
}

static void free_elements(DpRt *rt, const DpSortTypes *t, DpCol *elements)
{
    for (uint32_t i = 0; i < t->nkeys + t->ncolumns; i++)
        dp_col_release(rt, &elements[i]);
    free(elements);
}

void dp_argsort(DpRt *rt, uint32_t positions, DpCtx *ctx, const DpSortTypes *types, const DpCol *keys,
                const DpCol *columns, DpCol *outs)
{
    const uint32_t nkeys = types->nkeys, nouts = positions + types->ncolumns;
    DpCol *elements = dp_ctx_n(ctx) ? new_elements(rt, types) : NULL;
    if (!elements) {
        for (uint32_t i = 0; i < nouts; i++)
            outs[i] = dp_new_col(rt, 0, 16);
        return;
    }
    DpCtx *c = dp_nested_views(rt, ctx, &keys[0]);
    for (uint32_t i = 0; i < nkeys; i++)
        elements[i] = dp_elems(rt, &keys[i], c, dp_scalar_bytes((DpScalar)types->keys[i]));
    for (uint32_t i = 0; i < types->ncolumns; i++) {
        uint32_t k = 0;
        while (k < nkeys && !same_column(&keys[k], &columns[i]))
            k++;
        elements[nkeys + i] = k < nkeys ? dp_col_retain(elements[k])
                                        : dp_elems(rt, &columns[i], c, dp_scalar_bytes((DpScalar)types->columns[i]));
    }
    sort_columns(rt, c, ctx, positions, types, elements, outs);
    for (uint32_t i = 0; i < nouts; i++) {
        DpCol data = outs[i];
        outs[i] = dp_views_of_offsets(rt, c->offsets, ctx->n, data.addr, data.n, data.bytes, data.block);
        dp_col_release(rt, &data);
    }
    free_elements(rt, types, elements);
    dp_ctx_release(rt, &c);
}

void dp_argsort_root(DpRt *rt, uint32_t positions, const DpSortTypes *types, const DpArr *keys, const DpArr *columns,
                     DpArr *outs)
{
    const uint32_t nkeys = types->nkeys, nouts = positions + types->ncolumns;
    DpCol *elements = new_elements(rt, types);
    for (uint32_t i = 0; i < nouts; i++)
        outs[i] = (DpArr){0, 0, NULL};
    if (!elements)
        return;
    DpCtx *c = dp_nested_root(rt, keys[0].len);
    DpCol *sorted = elements + nkeys + types->ncolumns;
    for (uint32_t i = 0; i < nkeys; i++)
        elements[i] = dp_elems_root(rt, &keys[i], c, dp_scalar_bytes((DpScalar)types->keys[i]));
    for (uint32_t i = 0; i < types->ncolumns; i++)
        elements[nkeys + i] = dp_elems_root(rt, &columns[i], c, dp_scalar_bytes((DpScalar)types->columns[i]));
    sort_columns(rt, c, NULL, positions, types, elements, sorted);
    for (uint32_t i = 0; i < nouts; i++)
        outs[i] = dp_arr_of_block(rt, sorted[i].block, sorted[i].n);
    free_elements(rt, types, elements);
    dp_ctx_release(rt, &c);
}
