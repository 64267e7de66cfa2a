/* Offsets from lengths, and whether these are lengths of an array's pieces.
 *
 * On a GPU the pieces of `nest` wait at first (rt->starts): neither are their offsets made nor their lengths looked at.
 * If the next thing that the device does is a segmented reduction of them, that begins with the lengths and checks them
 * (WAY_ROWS); before anything else offsets are made, and failures found (dp_starts_settle). So failures come in the
 * order of the program. */
#include "internal.h"

#include <string.h>

/* ---- making offsets ---- */
static bool in_one_pass(const DpRt *rt, uint64_t n)
{
    return rt->lookback.use && n <= dp_param(rt, PARAM_LENGTHS_ONE_PASS);
}

static void launch_one_pass(DpRt *rt, uint64_t address, uint64_t stride, uint64_t n, uint64_t offsets, uint64_t mail)
{
    enum { TILE = 2048, TILE_WORDS = 6 }; /* as in kernels/lengths.cl */
    const uint64_t numbers[4] = {n, address, stride, offsets}, tiles = (n + TILE - 1) / TILE;
    Args a = {.n = 0};
    dp_args_words(&a, numbers, 4);
    dp_args_posted(&a, mail);
    if (tiles > 1)
        dp_lookback_args(rt, &a, tiles, TILE_WORDS);
    else
        dp_args_words(&a, (const uint64_t[3]){0}, 3);
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_LENGTHS, "dp_lengths_onepass"), 1, (uint32_t)tiles, &a);
}

static void write_offsets(DpRt *rt, uint64_t address, uint64_t stride, uint64_t n, uint64_t offsets, uint64_t mail)
{
    if (in_one_pass(rt, n)) {
        launch_one_pass(rt, address, stride, n, offsets, mail);
        return;
    }
    uint32_t chunks = dp_rt_chunks(rt, rt->gpu, n);
    DpBlock *part = dp_block_new(rt, chunks, 8 * DP_LENGTHS_WORDS);
    const uint64_t numbers[5] = {n, address, stride, offsets, dp_block_addr(part)};
    Args a = {.n = 0};
    dp_args_words(&a, numbers, 5);
    dp_args_posted(&a, mail);
    if (chunks > 1)
        dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_LENGTHS, "dp_lengths_count"), 1, chunks, &a);
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_LENGTHS, "dp_lengths_write"), 1, chunks, &a);
    dp_block_release(rt, part);
}

/* n + 1 offsets from n lengths (n > 0), and what is known of these. */
DpBlock *dp_offsets_of_lengths(DpRt *rt, uint64_t address, uint64_t stride, uint64_t n, uint64_t mail)
{
    DpBlock *offsets = dp_block_new(rt, n + 1 + (mail ? 0 : DP_LENGTHS_WORDS), 8);
    if (!mail && offsets) {
        mail = offsets->addr + 8 * (n + 1);
        offsets->lengths = (DpLengths){.stored = true};
    }
    write_offsets(rt, address, stride, n, dp_block_addr(offsets), mail);
    return offsets;
}

uint64_t dp_offsets_said(DpRt *rt, DpBlock *offsets, const uint64_t *said)
{
    if (dp_failed(rt))
        return 0;
    offsets->lengths = (DpLengths){.known = true, .longest = said[1]};
    return said[0];
}

/* ---- the host looks ---- */
/* One pass says no more than that it is negative. */
static const uint64_t *look_for_least(DpRt *rt, uint64_t address, uint64_t n)
{
    const uint64_t numbers[3] = {n, address, 8};
    Args a = {.n = 0};
    dp_args_words(&a, numbers, 3);
    dp_args_posted(&a, DP_MAILBOX);
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_LENGTHS, "dp_lengths_least"), 1, 1, &a);
    return dp_rt_look(rt);
}

/* Into a block of offsets. */
static void look_at_lengths(DpRt *rt, DpBlock *offsets, uint64_t address, uint64_t n, int64_t *least, int64_t *total)
{
    write_offsets(rt, address, 8, n, dp_block_addr(offsets), DP_MAILBOX);
    const uint64_t *said = dp_rt_look(rt);
    *total = (int64_t)dp_offsets_said(rt, offsets, said);
    if (said[2] && in_one_pass(rt, n))
        said = look_for_least(rt, address, n);
    *least = (int64_t)said[2];
}

DpCol dp_lengths(DpRt *rt, DpCtx *c, const DpArr *lengths, int64_t *least, int64_t *total)
{
    *least = *total = 0;
    if (dp_failed(rt) || c->n == 0)
        return dp_new_col(rt, 0, 8);
    DpBlock *offsets = dp_block_new(rt, c->n + 1, 8);
    look_at_lengths(rt, offsets, dp_arr_addr(rt, lengths), c->n, least, total);
    return (DpCol){offsets, dp_block_addr(offsets), offsets ? c->n : 0, 8};
}

/* ---- pieces that wait ---- */
/* The host's next choice needs no statistics where there is little work, or none at all (unasked). */
static bool checks_on_device(const DpRt *rt, const Starts *s, bool unasked)
{
    enum { AUTO, HOST };
    const uint64_t asked = dp_param(rt, PARAM_CHECK_LENGTHS), work = s->n + (uint64_t)s->total;
    return in_one_pass(rt, s->n) &&
           (asked == AUTO ? unasked || work < dp_param(rt, PARAM_SEGREDUCE_PATH) : asked != HOST);
}

static uint64_t said_addr(const Starts *s) { return dp_block_addr(s->offsets) + 8 * (s->n + 1); }

static DpLengths stored_lengths(const DpRt *rt, const Starts *s)
{
    const bool many = s->n + (uint64_t)s->total >= dp_param(rt, PARAM_SEGREDUCE_PATH);
    return (DpLengths){.stored = true, .worth_a_look = many};
}

static void check_on_device(DpRt *rt, const Starts *s)
{
    const uint64_t addr = dp_block_addr(s->offsets), from = s->lengths.addr;
    const uint64_t numbers[] = {s->n, from, 8, addr, said_addr(s), (uint64_t)s->total, s->negative, s->nest};
    Args a = {.n = 0};
    launch_one_pass(rt, from, 8, s->n, addr, said_addr(s));
    dp_args_words(&a, numbers, 8);
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_LENGTHS, "dp_lengths_check"), 1, 1, &a);
    s->offsets->lengths = stored_lengths(rt, s);
}

static void check_on_host(DpRt *rt, const Starts *s)
{
    int64_t least, sum;
    look_at_lengths(rt, s->offsets, s->lengths.addr, s->n, &least, &sum);
    if (least < 0)
        dp_fail(rt, s->negative, least, 0, 0);
    else if (sum != s->total)
        dp_fail(rt, s->nest, sum, s->total, 0);
}

/* Offsets of lengths that have been checked. */
static void write_again(DpRt *rt, const Starts *s)
{
    write_offsets(rt, s->lengths.addr, 8, s->n, dp_block_addr(s->offsets), said_addr(s));
    s->offsets->lengths = stored_lengths(rt, s);
}

static void release(DpRt *rt, Starts *s)
{
    dp_arr_release(rt, &s->lengths);
    dp_block_release(rt, s->sums);
    dp_block_release(rt, s->list);
    dp_block_release(rt, s->offsets);
    *s = (Starts){.offsets = NULL};
}

Starts dp_starts_take(DpRt *rt)
{
    const Starts s = rt->starts;
    rt->starts = (Starts){.offsets = NULL};
    return s;
}

void dp_starts_forget(DpRt *rt) { release(rt, &rt->starts); }

static void settle(DpRt *rt, bool unasked)
{
    Starts s = dp_starts_take(rt);
    const uint32_t at = rt->at;
    if (!s.offsets)
        return;
    rt->at = s.place;
    if (dp_failed(rt) || (s.checked && s.offsets->count == 1))
        ; /* nobody else holds them */
    else if (s.checked)
        write_again(rt, &s);
    else if (checks_on_device(rt, &s, unasked))
        check_on_device(rt, &s);
    else
        check_on_host(rt, &s);
    rt->at = at;
    release(rt, &s);
}

void dp_starts_settle(DpRt *rt) { settle(rt, false); }

void dp_starts_settle_unasked(DpRt *rt, const DpCtx *c)
{
    settle(rt, c->kind == CTX_NESTED && c->offsets.block == rt->starts.offsets);
}

/* What is to wait is there, and addresses are final. */
static void wait_for_use(DpRt *rt, const DpArr *lengths, DpBlock *offsets, Starts s)
{
    const uint64_t from = dp_arr_addr(rt, lengths);
    s.offsets = dp_block_retain(offsets);
    s.lengths = dp_arr_retain(*lengths);
    s.lengths.addr = from;
    s.place = rt->at;
    rt->starts = s;
    rt->unlooked = true;
    if (!rt->gpu || !dp_source_has_fence(rt))
        dp_starts_settle(rt);
}

DpCol dp_starts(DpRt *rt, DpCtx *c, const DpArr *lengths, int64_t total, uint32_t negative, uint32_t nest)
{
    dp_starts_settle(rt);
    if (!dp_failed(rt) && c->n == 0 && total != 0)
        dp_fail(rt, nest, 0, total, 0);
    if (dp_failed(rt) || c->n == 0)
        return dp_new_col(rt, 0, 8);
    DpBlock *offsets = dp_block_new(rt, c->n + 1 + DP_LENGTHS_WORDS, 8);
    if (offsets)
        wait_for_use(rt, lengths, offsets, (Starts){.n = c->n, .total = total, .negative = negative, .nest = nest});
    return (DpCol){offsets, dp_block_addr(offsets), offsets ? c->n : 0, 8};
}

/* ---- the list of what is split by length ---- */
enum { ROWS_TILE = 2048 }; /* as in kernels/lengths.cl and teams.cl */

static uint64_t tiles_of(uint64_t n) { return (n + ROWS_TILE - 1) / ROWS_TILE; }

enum { SUMS_HEAD = 16, ROW_BYTES = 6, LIST_HEAD = 16, LIST_BYTES = 32, RANGE_BYTES = 8 }; /* as in kernels/common.cl */
enum { LEAST_PIECE_LOG = 10, MOST_PIECE_LOG = 14, UNIT_PIECES = 128 }; /* of elements; pieces wanted for a unit */
enum { UNIT_GROUPS = 8, GROUP_ELEMENTS = 1024 };                       /* wanted for a unit; for a group */

static uint64_t rows_of_group(const DpRt *rt, uint64_t groups, uint64_t elements, uint64_t rows)
{
    const uint64_t asked = dp_param(rt, PARAM_SPLIT_ROWS);
    uint64_t each = ROWS_TILE;
    while (each > 1 && (asked ? each > asked : each * groups > rows && each * elements > 2 * GROUP_ELEMENTS * rows))
        each /= 2;
    return each;
}

/* What a group of them takes on average is enough for one; groups for ranges start though there may be none, so only
 * much more than that is too much where nobody has looked at the lengths. */
static void add_ranges(const DpRt *rt, Splits *l, uint64_t elements, uint64_t rows, DpLengths lengths)
{
    const uint64_t usual = (lengths.known ? 1 : 4) * (elements / rows + 1) * l->rows,
                   least = dp_param(rt, PARAM_SPLIT_HEAVY), wanted = usual < least ? least : usual;
    const bool alike = lengths.known && dp_size_mul(lengths.longest, l->rows) <= wanted;
    l->heavy = wanted * (ROWS_TILE / l->rows);
    l->nranges = alike || elements <= l->heavy ? 0 : 2 * (elements / wanted + 1);
}

Splits dp_splits(const DpRt *rt, uint64_t elements, uint64_t rows, uint64_t most, DpLengths lengths)
{
    const uint64_t units = rt->device->facts.units, fit = elements / (most + 1), pieces = UNIT_PIECES * units;
    Splits l = {.groups = UNIT_GROUPS * units, .most = most, .piece_log = LEAST_PIECE_LOG};
    l.rows = rows_of_group(rt, l.groups, elements, rows);
    while (l.piece_log < MOST_PIECE_LOG && elements >> (l.piece_log + 1) >= pieces)
        l.piece_log++;
    l.longs = lengths.known && lengths.longest <= most ? 0 : fit < rows ? fit : rows;
    l.npieces = l.longs ? l.longs + (elements >> l.piece_log) : 0;
    add_ranges(rt, &l, elements, rows, lengths);
    return l;
}

uint64_t dp_splits_entries(const Splits *l, uint64_t list) { return list + LIST_HEAD + RANGE_BYTES * l->nranges; }
uint64_t dp_splits_pieces(const Splits *l, uint64_t list) { return dp_splits_entries(l, list) + LIST_BYTES * l->longs; }

static DpBlock *new_list(DpRt *rt, const Splits *l)
{
    return l->longs || l->nranges ? dp_block_new(rt, dp_splits_pieces(l, 0) + 4 * l->npieces, 1) : NULL;
}

/* numbers: where kernels count what is on it. */
static void add_list(Args *a, const Splits *l, DpBlock *list, uint64_t numbers)
{
    const uint64_t at = dp_block_addr(list), entries = dp_splits_entries(l, at), pieces = dp_splits_pieces(l, at);
    const uint64_t words[] = {at,           entries, pieces,   l->most,    l->longs, l->npieces,
                              l->piece_log, l->rows, l->heavy, l->nranges, numbers};
    dp_args_words(a, words, 11);
}

static bool is_kept(const SplitsKept *kept, const SplitsKept *wanted)
{
    return kept->list && kept->rows == wanted->rows && kept->offset == wanted->offset &&
           kept->contents == wanted->contents && memcmp(&kept->of, &wanted->of, sizeof kept->of) == 0;
}

DpBlock *dp_splits_list(DpRt *rt, const Splits *l, uint64_t rows, uint64_t offsets, DpBlock *keeper)
{
    SplitsKept wanted = {.of = *l, .rows = rows};
    const uint64_t numbers[] = {rows, offsets, DP_REDUCE_COUNT};
    Args a = {.n = 0};
    if (keeper) {
        wanted.offset = offsets - keeper->addr;
        wanted.contents = keeper->contents;
        if (is_kept(&keeper->splits, &wanted))
            return dp_block_retain(keeper->splits.list);
    }
    wanted.list = new_list(rt, l);
    if (!wanted.list)
        return NULL;
    dp_args_words(&a, numbers, 3);
    add_list(&a, l, wanted.list, DP_LIST_COUNTS);
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_LENGTHS, "dp_lengths_list"), 1, (uint32_t)tiles_of(rows), &a);
    if (keeper) {
        dp_block_release(rt, keeper->splits.list);
        keeper->splits = wanted;
        dp_block_retain(wanted.list);
    }
    return wanted.list;
}

/* ---- for reductions and sorts that begin with the lengths ---- */
bool dp_starts_wait_for(const DpRt *rt, const DpCtx *c)
{
    const Starts *s = &rt->starts;
    return s->offsets && c->kind == CTX_NESTED && c->offsets.block == s->offsets && c->n == (uint64_t)s->total &&
           c->n < UINT32_MAX;
}

bool dp_starts_add_sums(DpRt *rt, uint64_t most, uint64_t alike)
{
    static const Splits none = {.rows = 1};
    const Starts *s = &rt->starts;
    if (s->sums && s->splits.most == most && s->alike == alike)
        return true;
    const Splits splits = most ? dp_splits(rt, (uint64_t)s->total, s->n, most, (DpLengths){.known = false}) : none;
    DpBlock *sums = dp_block_new(rt, SUMS_HEAD + (16 + ROW_BYTES * ROWS_TILE) * tiles_of(s->n), 1);
    DpBlock *list = new_list(rt, &splits);
    if (!rt->starts.offsets) {
        dp_block_release(rt, sums);
        dp_block_release(rt, list);
        return false;
    }
    dp_block_release(rt, rt->starts.sums);
    dp_block_release(rt, rt->starts.list);
    rt->starts.sums = sums;
    rt->starts.list = list;
    rt->starts.splits = splits;
    rt->starts.alike = alike;
    rt->starts.summed = rt->starts.are_alike = false;
    return true;
}

/* Each work-group of dp_lengths_tiles reads all tiles' words, and has up to 256 of them. */
static uint64_t groups_of_tiles(const DpRt *rt, uint64_t tiles)
{
    enum { WORDS = 1 << 20, MOST_TILES = 256 };
    const uint64_t wanted = WORDS / tiles, units = rt->device->facts.units,
                   some = (tiles + MOST_TILES - 1) / MOST_TILES;
    const uint64_t least = units > some ? units : some;
    const uint64_t groups = wanted > least ? wanted : least;
    return groups < tiles ? groups : tiles;
}

/* Words of the tiles, and where segments begin in them. */
static void launch_words(DpRt *rt, const Starts *s, uint64_t sums, uint64_t list, uint64_t tiles)
{
    const uint64_t numbers[] = {s->n, s->lengths.addr, sums, s->alike, s->splits.most, list};
    Args a = {.n = 0};
    dp_args_words(&a, numbers, 6);
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_LENGTHS, "dp_lengths_rows"), 1, (uint32_t)tiles, &a);
}

void dp_starts_sum(DpRt *rt, Starts *s, uint64_t mail)
{
    enum { ONCE_TILES = 512 }; /* each work-group waits for all before it */
    const uint64_t sums = dp_block_addr(s->sums), list = dp_block_addr(s->list), tiles = tiles_of(s->n);
    const bool once = rt->lookback.use && tiles <= ONCE_TILES;
    const uint64_t numbers[] = {s->n, s->lengths.addr, sums, tiles, (uint64_t)s->total, s->negative, s->nest};
    Args a = {.n = 0};
    if (s->summed)
        return;
    dp_args_words(&a, numbers, 7);
    dp_args_posted(&a, mail);
    add_list(&a, &s->splits, s->list, list);
    if (once) {
        dp_args_add(&a, s->alike);
        dp_lookback_args(rt, &a, tiles, 1);
    } else {
        launch_words(rt, s, sums, list, tiles);
    }
    dp_rt_launch(rt, dp_rt_own_kernel(rt, OWN_LENGTHS, once ? "dp_lengths_once" : "dp_lengths_tiles"), 1,
                 (uint32_t)(once ? tiles : groups_of_tiles(rt, tiles)), &a);
    s->checked = s->summed = true;
}

DpCol dp_pieces(DpRt *rt, DpCtx *c, const DpCol *starts, const DpArr *of, uint32_t bytes)
{
    if (dp_failed(rt) || c->n == 0)
        return dp_new_col(rt, 0, 16);
    DpBlock *data = of->len ? dp_refs_owner(rt, of->refs, of->addr) : NULL;
    return dp_views_of_offsets(rt, (Offsets){starts->block, 0}, c->n, data ? of->addr : 0, of->len, bytes, data);
}
