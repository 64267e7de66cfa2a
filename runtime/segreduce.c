/* Segmented reductions, and scans: which of the ways of kernels/reduce.cl, by what is known of the segments' lengths.
 *
 * CPU: a chunk of neighbouring segments a work-item, if none is so long that chunks would be uneven; else the path.
 *
 * GPU, by the bytes of a mean segment and the longest: where all are short an item takes one, where they are long and
 * alike a team; else a group takes several side by side, and those that are too long for that go in pieces. Little work
 * goes by the path, which is the one kernel that serves all, and so need not be compiled once more.
 *
 * Rows of `nest` whose lengths nobody has looked at (starts.c) are reduced by a kernel that begins with their lengths:
 * no offsets, no statistics, and the host waits for nothing.
 *
 * Both: a regular nest whose instances share what they read goes by tile (kernels/tile.cl), where it fills tiles and,
 * on a GPU, the tiles its units: in smaller tiles if not in large ones. */
#include "internal.h"

enum { PIECE_LANES = 32 }; /* as in kernels/teams.cl */

typedef struct Way {
    WayKind kind;
    uint32_t lanes; /* of a team */
} Way;

/* ---- regular nests ---- */
/* Instances in batches of rows x columns, each with a segment of `length` elements. */
typedef struct Nest {
    uint64_t length, rows, columns, batches;
} Nest;

static bool is_regular(const DpCtx *c)
{
    return c && c->kind == CTX_NESTED && c->up && dp_offsets_word(c->offsets) & DP_REGULAR;
}

/* Is there one of the shape that the kernel's body shares things in? */
static bool find_nest(const DpRt *rt, const SegReduce *r, Nest *nest)
{
    const DpTile *tile = &rt->program->kernels[r->kernel].tile;
    const DpCtx *segments = r->nest ? r->nest->up : NULL;
    if (!tile->shape || !r->n || !is_regular(r->nest))
        return false;
    *nest = (Nest){r->n / segments->n, 1, segments->n, 1};
    if (tile->shape == DP_TILE_FLAT)
        return true;
    if (!is_regular(segments) || (tile->batched && !is_regular(segments->up)))
        return false;
    nest->columns = offsets_length(segments->offsets);
    nest->rows = tile->batched ? offsets_length(segments->up->offsets) : segments->up->n;
    nest->batches = segments->n / (nest->columns * nest->rows);
    return true;
}

enum { LOCAL_BYTES = 32 << 10 }; /* all devices have them */

/* Of what a GPU's tile stages. */
static uint64_t local_bytes(const DpKernel *k, const TileSize *size)
{
    const DpTile *tile = &k->tile;
    if (tile->shape != DP_TILE_BLOCKS)
        return (uint64_t)size->columns * size->pieces * size->depth *
                   (tile->stream_bytes + 5 * (uint64_t)tile->row_bytes) +
               (size->pieces > 1 ? (uint64_t)size->columns * size->pieces * k->val_size : 0);
    return size->depth * (tile->stream_bytes + (uint64_t)tile->row_bytes * (size->rows + 4) +
                          (uint64_t)tile->column_bytes * (size->columns + 4));
}

/* LEAST_STEP: positions from one barrier to the next, where each lane has one instance. */
enum {
    LANES_ACROSS = 16,
    SMALL_TILE = 16,
    LEAST_TILE = 4,
    MOST_STATEMENTS = 2048,
    MOST_UNROLLED = 8192,
    LEAST_STEP = 64
};

/* Of blocks on a GPU: what an item keeps, as nearly square as may be. Its code repeats the body for each. */
static void block_item(const DpRt *rt, const DpKernel *k, WayKind tile, TileSize *size)
{
    const uint32_t words = (k->val_size + 3) / 4, cost = k->cost ? k->cost : MOST_STATEMENTS;
    uint32_t most = (uint32_t)dp_param(rt, PARAM_TILE_WORDS) / words;
    most = most > MOST_STATEMENTS / cost ? MOST_STATEMENTS / cost : most;
    const uint32_t bound = tile == WAY_LEAST_TILE ? LEAST_TILE : tile == WAY_SMALL_TILE ? SMALL_TILE : most;
    most = most > bound ? bound : most;
    size->item_rows = size->item_columns = 2;
    while (size->item_rows * size->item_columns * 2 <= most && size->item_columns < 8) {
        if (size->item_rows == size->item_columns)
            size->item_rows *= 2;
        else
            size->item_columns *= 2;
    }
}

uint32_t dp_tile_lanes(const DpRt *rt, uint32_t kernel)
{
    const DpTile *tile = &rt->program->kernels[kernel].tile;
    const uint64_t asked = dp_param(rt, PARAM_VECTORS);
    const bool possible = rt->device->facts.vectors && !dp_rt_group_shape(rt, kernel);
    return possible && (asked == 1 || (asked == 0 && tile->vector_pays)) ? tile->lanes : 0;
}

uint32_t dp_batch_lanes(const DpRt *rt, uint32_t kernel)
{
    const bool possible =
        rt->device->facts.vectors && !dp_rt_group_shape(rt, kernel) && dp_param(rt, PARAM_VECTORS) < 2;
    return possible ? rt->program->kernels[kernel].tile.batch_lanes : 0;
}

enum { STRIP_VALUES = 16, STRIP_ROWS = 8, MOST_STRIP_STATEMENTS = 512, WIDE_STRIP = 8, SMALL_STRIP = 4 };

/* Are the tile's lanes neighbouring columns, side by side in memory, of which nothing is kept? */
static bool is_near(const DpRt *rt, uint32_t kernel)
{
    return rt->program->kernels[kernel].tile.near && dp_tile_lanes(rt, kernel) > 0;
}

/* Of a strip on a CPU: as many vectors as there are registers for. Two side by side share what rows load, and hide each
 * other's latency. Where elements lie side by side across the columns, a strip that is wider reads more of each row. */
static void strip_item(const DpKernel *k, WayKind tile, bool near, TileSize *size)
{
    const uint32_t cost = k->cost ? k->cost : MOST_STRIP_STATEMENTS;
    const uint32_t wide = near && k->tile.shape != DP_TILE_BLOCKS ? WIDE_STRIP : 2;
    uint32_t most = STRIP_VALUES / k->nouts;
    most = most > MOST_STRIP_STATEMENTS / cost ? MOST_STRIP_STATEMENTS / cost : most;
    const uint32_t wanted = tile == WAY_TILE ? wide : tile == WAY_SMALL_TILE && wide > 2 ? SMALL_STRIP : 1;
    while (2 * size->item_columns <= (wanted < most ? wanted : most))
        size->item_columns *= 2;
    while (k->tile.shape == DP_TILE_BLOCKS && size->item_rows < STRIP_ROWS &&
           2 * size->item_rows * size->item_columns <= most)
        size->item_rows *= 2;
}

TileSize dp_tile_size(const DpRt *rt, uint32_t kernel, WayKind tile)
{
    const DpKernel *k = &rt->program->kernels[kernel];
    const uint32_t lanes = dp_rt_group_size(rt, kernel);
    const bool blocks = k->tile.shape == DP_TILE_BLOCKS;
    TileSize size = {1, 1, 1, 1, (uint32_t)dp_param(rt, PARAM_TILE_UNROLL), 1, lanes};
    if (!dp_rt_group_shape(rt, kernel)) {
        const uint32_t wide = dp_tile_lanes(rt, kernel);
        strip_item(k, tile, is_near(rt, kernel), &size);
        size.rows = size.item_rows;
        size.columns = size.item_columns * (wide ? wide : 1);
    } else if (blocks) {
        block_item(rt, k, tile, &size);
        size.rows = lanes / LANES_ACROSS * size.item_rows;
        size.columns = LANES_ACROSS * size.item_columns;
        size.depth = dp_param(rt, PARAM_TILE_DEPTH) < 16 ? 8 : 16;
        size.depth = local_bytes(k, &size) > LOCAL_BYTES ? 8 : size.depth;
    } else if (tile != WAY_TILE) {
        while (size.pieces * 2 <= dp_param(rt, PARAM_TILE_PIECES))
            size.pieces *= 2;
        size.columns = lanes / size.pieces;
        while (size.columns * size.depth < LEAST_STEP)
            size.depth *= 2;
        size.depth = local_bytes(k, &size) > LOCAL_BYTES ? 1 : size.depth;
    }
    while (size.unroll > 1 && size.unroll * size.item_rows * size.item_columns * k->cost > MOST_UNROLLED)
        size.unroll /= 2;
    size.unroll = k->cost ? size.unroll : 1;
    return size;
}

static uint64_t tile_groups(const Nest *nest, const TileSize *size)
{
    return nest->batches * ((nest->rows + size->rows - 1) / size->rows) *
           ((nest->columns + size->columns - 1) / size->columns);
}

enum { CUT_GROUPS = 4, CUT_ASKED = 20, CUT_JOINED = 32 }; /* of a unit; for tests; as in kernels/tile.cl */

/* Into how many pieces segments are cut for a GPU's tiles in rows and columns, where these are few. */
static uint64_t cuts_of(const DpRt *rt, const SegReduce *r, const Nest *nest, const TileSize *size)
{
    const uint64_t tiles = tile_groups(nest, size), units = rt->device->facts.units;
    const bool asked = rt->params.set[PARAM_TILE_CUT];
    const uint64_t wanted = asked ? CUT_ASKED : CUT_GROUPS * units / tiles,
                   most = nest->length / dp_param(rt, PARAM_TILE_CUT);
    const bool blocks = rt->program->kernels[r->kernel].tile.shape == DP_TILE_BLOCKS;
    if (!blocks || !dp_rt_group_shape(rt, r->kernel) || (!asked && 2 * tiles > units) || most < 2)
        return 1;
    return wanted < most ? wanted : most;
}

static bool fits(const DpRt *rt, const SegReduce *r, const TileSize *size)
{
    return !dp_rt_group_shape(rt, r->kernel) || local_bytes(&rt->program->kernels[r->kernel], size) <= LOCAL_BYTES;
}

/* Is a tile of this size filled well enough? */
static bool fills(const DpRt *rt, const SegReduce *r, const Nest *nest, WayKind tile)
{
    const TileSize size = dp_tile_size(rt, r->kernel, tile);
    const uint64_t groups = tile_groups(nest, &size);
    const uint64_t filled = 100 * r->segments.nseg / (groups * size.rows * size.columns);
    return fits(rt, r, &size) && groups < UINT32_MAX && filled >= dp_param(rt, PARAM_TILE_FILL);
}

enum { FULL_GROUPS = 8, PIECE_LEAST = 16 }; /* of a unit that has work to hide latency with; of positions */

/* Are segments worth cutting into pieces, if there are few? */
static bool is_cut(const TileSize *small, const Nest *nest)
{
    return small->pieces > 1 && nest->length >= PIECE_LEAST * (uint64_t)small->pieces;
}

enum { BRIEF = 128, FEW_UNITS = 16 }; /* positions that take no longer than a launch; one unit of so many */

/* Of blocks that do not fill the device's units in large tiles. */
static WayKind choose_small_block(const DpRt *rt, const SegReduce *r, const Nest *nest)
{
    const TileSize small = dp_tile_size(rt, r->kernel, WAY_SMALL_TILE);
    const TileSize least = dp_tile_size(rt, r->kernel, WAY_LEAST_TILE);
    const uint64_t units = rt->device->facts.units;
    if (fills(rt, r, nest, WAY_SMALL_TILE) && tile_groups(nest, &small) * cuts_of(rt, r, nest, &small) >= 3 * units / 4)
        return WAY_SMALL_TILE;
    const uint64_t groups = tile_groups(nest, &least) * cuts_of(rt, r, nest, &least);
    return fills(rt, r, nest, WAY_LEAST_TILE) && (nest->length <= BRIEF || groups >= units / FEW_UNITS) ? WAY_LEAST_TILE
                                                                                                        : WAY_PATH;
}

/* The widest strip of neighbouring columns that leaves some for all units. */
static WayKind choose_near(const DpRt *rt, const SegReduce *r, const Nest *nest)
{
    const uint64_t units = rt->device->facts.units, wanted[] = {4 * units, 2 * units, 1};
    for (uint32_t i = 0; i < 3; i++) {
        const WayKind tile = (WayKind)(WAY_TILE + i);
        const TileSize size = dp_tile_size(rt, r->kernel, tile);
        if (size.columns <= nest->columns && tile_groups(nest, &size) >= wanted[i])
            return tile;
    }
    return WAY_PATH;
}

/* WAY_PATH: by no tile. forced: by any that is possible. */
static WayKind choose_tile(const DpRt *rt, const SegReduce *r, bool forced)
{
    Nest nest;
    if (!find_nest(rt, r, &nest))
        return WAY_PATH;
    const DpTile *tile = &rt->program->kernels[r->kernel].tile;
    const TileSize large = dp_tile_size(rt, r->kernel, WAY_TILE), small = dp_tile_size(rt, r->kernel, WAY_SMALL_TILE);
    const uint64_t units = rt->device->facts.units;
    if (is_near(rt, r->kernel) && (forced || !tile->own_rows))
        return choose_near(rt, r, &nest);
    if (forced && fits(rt, r, &small))
        return WAY_SMALL_TILE;
    /* Where each instance has a row of its own, neighbours would load from different ones: a team, or a lane along the
     * row. */
    if (nest.length < dp_param(rt, PARAM_TILE_LENGTH) || tile->own_rows)
        return WAY_PATH;
    const bool groups = dp_rt_group_shape(rt, r->kernel);
    const uint64_t wanted = units * (groups && is_cut(&small, &nest) ? FULL_GROUPS : 1);
    if (fills(rt, r, &nest, WAY_TILE) && tile_groups(&nest, &large) * cuts_of(rt, r, &nest, &large) >= wanted)
        return WAY_TILE;
    if (groups && tile->shape == DP_TILE_BLOCKS)
        return choose_small_block(rt, r, &nest);
    return fills(rt, r, &nest, WAY_SMALL_TILE) && tile_groups(&nest, &small) >= (groups ? units / 4 : units)
               ? WAY_SMALL_TILE
               : WAY_PATH;
}

/* As in kernels/tile.cl: of what a work-item keeps of a matrix's columns, and of a row. */
enum { BATCH_BYTES = 32 << 10, MOST_COLUMNS = 16 };

/* Are there enough matrices that are so small? */
static bool goes_by_batches(const DpRt *rt, const SegReduce *r)
{
    Nest nest;
    const DpTile *tile = &rt->program->kernels[r->kernel].tile;
    const uint64_t lanes = dp_batch_lanes(rt, r->kernel);
    if (!lanes || !find_nest(rt, r, &nest) || nest.batches < lanes || nest.columns > MOST_COLUMNS)
        return false;
    return dp_size_mul(dp_size_mul(nest.length, nest.columns), lanes * tile->column_bytes) <= BATCH_BYTES &&
           dp_size_mul(nest.length, lanes * tile->row_bytes) <= BATCH_BYTES;
}

/* ---- the choice ---- */
static uint64_t mean_bytes(const DpRt *rt, const SegReduce *r)
{
    const uint32_t bytes = rt->program->kernels[r->kernel].in_bytes;
    return r->n / r->segments.nseg * (bytes ? bytes : 4);
}

static uint32_t team_lanes(const DpRt *rt, const SegReduce *r)
{
    const uint64_t wanted = mean_bytes(rt, r) / dp_param(rt, PARAM_TEAM_BYTES), most = dp_param(rt, PARAM_TEAM_MOST);
    uint32_t lanes = 2;
    while (lanes < wanted && 2 * lanes <= most)
        lanes *= 2;
    return lanes;
}

static Way choose_cpu(const DpRt *rt, const SegReduce *r)
{
    const uint64_t work = r->n + r->segments.nseg, chunk = work / dp_rt_chunks(rt, false, work);
    return (Way){r->lengths.known && r->lengths.longest <= chunk / 4 ? WAY_LANE : WAY_PATH, 0};
}

/* Would items that take a short segment each store columns far from their neighbours'? The path loads and stores side
 * by side. */
static bool keeps_short(const DpRt *rt, const SegReduce *r)
{
    return rt->program->kernels[r->kernel].kept_bytes > 0 && mean_bytes(rt, r) <= dp_param(rt, PARAM_LANE_BYTES) * 4;
}

/* Of elements that an item reduces: where it has many more than its neighbours these wait for it. */
static uint64_t most_of_item(const DpRt *rt, const SegReduce *r)
{
    const uint64_t alike = dp_size_mul(r->n / r->segments.nseg + 1, dp_param(rt, PARAM_REDUCE_ALIKE));
    const uint64_t most = dp_param(rt, PARAM_LANE_LONGEST);
    return alike < most ? alike : most;
}

/* Are segments short enough for an item each? */
static bool suits_lanes(const DpRt *rt, const SegReduce *r)
{
    const bool scans = rt->program->kernels[r->kernel].kind == DP_K_SCAN;
    return r->lengths.known && r->lengths.longest <= (scans ? dp_param(rt, PARAM_LANE_LONGEST) : most_of_item(rt, r)) &&
           mean_bytes(rt, r) <= dp_param(rt, scans ? PARAM_LANE_BYTES : PARAM_REDUCE_BYTES);
}

static Way by_any_length(const DpRt *rt, const SegReduce *r)
{
    return (Way){r->n < UINT32_MAX && dp_source_has_fence(rt) ? WAY_SPLIT : WAY_PATH, 0};
}

/* Items of a unit for teams: enough, and so many that long segments do not matter. They do not either where the longest
 * is at most so many times the mean, or has no more than so many elements for an item. */
enum { TEAMS_FILL = 256, TEAMS_EVEN = 4096, TEAMS_ALIKE = 4, TEAMS_SHORT = 256 };

/* Where short and long ones are mixed the mean says little: most are shorter. */
static Way choose_gpu(const DpRt *rt, const SegReduce *r)
{
    const uint32_t lanes = team_lanes(rt, r);
    const uint64_t items = r->segments.nseg * lanes, units = rt->device->facts.units;
    const bool fills = items >= TEAMS_FILL * units,
               even = items >= TEAMS_EVEN * units || r->lengths.longest <= r->n / r->segments.nseg * TEAMS_ALIKE ||
                      r->lengths.longest <= TEAMS_SHORT * (uint64_t)lanes;
    if (keeps_short(rt, r))
        return (Way){WAY_PATH, 0};
    if (suits_lanes(rt, r))
        return (Way){WAY_LANE, 0};
    if (r->lengths.known && mean_bytes(rt, r) >= dp_param(rt, PARAM_TEAM_LEAST) && fills && even &&
        r->lengths.longest / lanes <= dp_param(rt, PARAM_LANE_LONGEST))
        return (Way){WAY_TEAM, lanes};
    return by_any_length(rt, r);
}

enum { ASKED_BATCHES = 2 + WAY_TILE }; /* of the parameter's words the last one */

/* Elements from which on. By any other way what lies across the columns would be loaded one by one. */
static uint64_t tile_least(const DpRt *rt, const SegReduce *r)
{
    return dp_param(rt, is_near(rt, r->kernel) ? PARAM_CHUNK_ELEMENTS : PARAM_SEGREDUCE_PATH);
}

static Way choose(const DpRt *rt, const SegReduce *r)
{
    const bool groups = dp_rt_group_shape(rt, r->kernel);
    const uint64_t asked = dp_param(rt, PARAM_SEGREDUCE);
    const WayKind tile = choose_tile(rt, r, asked == 1 + WAY_TILE);
    if (tile != WAY_PATH && (asked == 1 + WAY_TILE || (!asked && r->n >= tile_least(rt, r))))
        return (Way){tile, 0};
    const bool batches = asked == ASKED_BATCHES || (!asked && r->n >= dp_param(rt, PARAM_SEGREDUCE_PATH));
    if (batches && goes_by_batches(rt, r))
        return (Way){WAY_BATCHES, 0};
    if (asked && asked != 1 + WAY_TILE && asked != ASKED_BATCHES) {
        const WayKind kind = (WayKind)(asked - 1);
        if (groups && (kind == WAY_SPLIT || kind == WAY_ROWS)) /* ROWS: nothing waits for it */
            return by_any_length(rt, r);
        return (Way){groups || kind == WAY_PATH ? kind : WAY_LANE, team_lanes(rt, r)};
    }
    if (r->n + r->segments.nseg < dp_param(rt, PARAM_SEGREDUCE_PATH))
        return (Way){WAY_PATH, 0};
    return groups ? choose_gpu(rt, r) : choose_cpu(rt, r);
}

/* Not of few elements, nor where even the mean segment is too long for a lane. */
bool dp_segscan_asks_lengths(const DpRt *rt, const SegReduce *r)
{
    return r->mode && !dp_param(rt, PARAM_SEGSCAN) && r->n + r->segments.nseg >= dp_param(rt, PARAM_SEGREDUCE_PATH) &&
           (!dp_rt_group_shape(rt, r->kernel) || mean_bytes(rt, r) <= dp_param(rt, PARAM_LANE_BYTES));
}

static bool is_scanned_by_lane(const DpRt *rt, const SegReduce *r)
{
    const uint64_t asked = dp_param(rt, PARAM_SEGSCAN);
    if (!dp_segscan_asks_lengths(rt, r))
        return asked == 1 + WAY_LANE;
    return (dp_rt_group_shape(rt, r->kernel) ? choose_gpu(rt, r) : choose_cpu(rt, r)).kind == WAY_LANE;
}

/* ---- the ways ---- */
static Kernel *kernel_of(DpRt *rt, const SegReduce *r, WayKind way, const char *name)
{
    return dp_rt_kernel(rt, r->kernel, r->variant, r->mode | MODE_WAY * (uint32_t)way, name);
}

/* So many segments, elements, and where the segments begin: how the arguments of all begin, but for those of the last
 * pass over the path. */
static Args lead(const SegReduce *r)
{
    Args a = {.n = 0};
    dp_args_add(&a, r->n);
    dp_args_add(&a, r->segments.nseg);
    dp_args_add(&a, r->segments.offsets);
    return a;
}

static void launch(DpRt *rt, const SegReduce *r, WayKind way, const char *name, uint32_t heaps, uint64_t groups,
                   Args *a)
{
    dp_args_kernel_words(rt, a, r->kernel, r->words);
    dp_args_columns(a, r->outs, rt->program->kernels[r->kernel].nouts);
    dp_rt_launch(rt, kernel_of(rt, r, way, name), heaps, (uint32_t)groups, a);
}

static void by_path(DpRt *rt, const SegReduce *r)
{
    const uint32_t chunks = dp_rt_chunks(rt, dp_rt_group_shape(rt, r->kernel), r->n + r->segments.nseg);
    DpBlock *part = dp_block_new(rt, 2 * (uint64_t)chunks, dp_rt_carry_bytes(rt, r->kernel));
    Args first = lead(r), second = {.n = 0};
    dp_args_add(&first, dp_block_addr(part));
    dp_args_add(&first, r->vals);
    dp_args_add(&first, r->pos);
    launch(rt, r, WAY_PATH, "dp_segreduce_chunks", 2, chunks, &first);
    dp_args_add(&second, chunks);
    dp_args_add(&second, dp_block_addr(part));
    if (chunks > 1)
        launch(rt, r, WAY_PATH, "dp_segreduce_finish", 1, 1, &second);
    dp_block_release(rt, part);
}

enum { MOST_GROUPS = 1 << 22 };

static uint32_t way_group(const DpRt *rt, const SegReduce *r, WayKind way)
{
    return dp_rt_way_group(rt, r->kernel, MODE_WAY * (uint32_t)way);
}

/* Work-groups so that each of n things has `lanes` items. */
static uint64_t groups_for(const DpRt *rt, const SegReduce *r, WayKind way, uint64_t n, uint32_t lanes)
{
    const uint32_t each = way_group(rt, r, way) / lanes;
    return (n + each - 1) / each;
}

static uint64_t lane_groups(const DpRt *rt, const SegReduce *r)
{
    if (!dp_rt_group_shape(rt, r->kernel))
        return dp_rt_chunks(rt, false, r->n + r->segments.nseg);
    const uint64_t groups = groups_for(rt, r, WAY_LANE, r->segments.nseg, 1);
    return groups < MOST_GROUPS ? groups : MOST_GROUPS;
}

static void by_lane(DpRt *rt, const SegReduce *r)
{
    Args a = lead(r);
    dp_args_add(&a, r->vals);
    dp_args_add(&a, r->pos);
    launch(rt, r, WAY_LANE, "dp_segreduce_lane", 2, lane_groups(rt, r), &a);
}

static void by_team(DpRt *rt, const SegReduce *r, uint32_t lanes)
{
    Args a = lead(r);
    dp_args_add(&a, r->vals);
    dp_args_add(&a, r->pos);
    dp_args_add(&a, lanes);
    launch(rt, r, WAY_TEAM, "dp_segreduce_team", 2, groups_for(rt, r, WAY_TEAM, r->segments.nseg, lanes), &a);
}

static void by_tile(DpRt *rt, const SegReduce *r, WayKind way)
{
    Nest nest;
    if (!find_nest(rt, r, &nest))
        return;
    const TileSize size = dp_tile_size(rt, r->kernel, way);
    const uint64_t tiles = tile_groups(&nest, &size), chunks = dp_rt_chunks(rt, false, r->n + r->segments.nseg);
    const uint64_t nseg = r->segments.nseg, cuts = cuts_of(rt, r, &nest, &size);
    const bool groups = dp_rt_group_shape(rt, r->kernel);
    DpBlock *parts = NULL;
    if (cuts > 1 && !(parts = dp_block_new(rt, cuts * nseg, rt->program->kernels[r->kernel].val_size)))
        return;
    const uint64_t numbers[] = {
        r->n, nseg, nest.length, nest.rows, nest.columns, cuts, parts ? dp_block_addr(parts) : 0};
    Args a = {.n = 0}, joined = {.n = 0};
    dp_args_words(&a, numbers, groups ? 7 : 5);
    launch(rt, r, way, "dp_segreduce_tile", 2, groups ? tiles * cuts : tiles < chunks ? tiles : chunks, &a);
    if (!parts)
        return;
    dp_args_words(&joined, (const uint64_t[]){nseg, cuts, dp_block_addr(parts)}, 3);
    launch(rt, r, way, "dp_segreduce_joined", 1, (nseg + CUT_JOINED - 1) / CUT_JOINED, &joined);
    dp_block_release(rt, parts);
}

static void by_batches(DpRt *rt, const SegReduce *r)
{
    Nest nest;
    if (!find_nest(rt, r, &nest))
        return;
    const uint64_t lanes = dp_batch_lanes(rt, r->kernel), groups = (nest.batches + lanes - 1) / lanes;
    const uint64_t chunks = dp_rt_chunks(rt, false, r->n + r->segments.nseg);
    const uint64_t numbers[] = {r->n, r->segments.nseg, nest.length, nest.rows, nest.columns};
    Args a = {.n = 0};
    dp_args_words(&a, numbers, 5);
    launch(rt, r, WAY_BATCHES, "dp_segreduce_tile", 2, groups < chunks ? groups : chunks, &a);
}

/* Elements that fit into a group's local memory: DP_TILE in kernels/carry.cl. */
static uint64_t most_of_group(const DpRt *rt, const SegReduce *r)
{
    const uint32_t size = rt->program->kernels[r->kernel].val_size;
    return (uint64_t)(size <= 4 ? 16 : size <= 8 ? 8 : size <= 16 ? 4 : 2) * way_group(rt, r, WAY_SPLIT);
}

/* Segments at the kernel's `offsets`. */
static void split(DpRt *rt, const SegReduce *r, WayKind way, const Splits *l, DpBlock *list)
{
    const uint64_t groups = l->nranges + (r->segments.nseg + l->rows - 1) / l->rows;
    const uint64_t wanted = groups_for(rt, r, way, l->npieces, PIECE_LANES),
                   of_pieces = wanted < l->groups ? wanted : l->groups;
    DpBlock *part = dp_block_new(rt, l->npieces, dp_rt_carry_bytes(rt, r->kernel));
    const uint64_t at = dp_block_addr(list), entries = dp_splits_entries(l, at), pieces = dp_splits_pieces(l, at);
    const uint64_t numbers[] = {r->vals,      r->pos,  at,       entries,   pieces, dp_block_addr(part),
                                l->piece_log, l->rows, l->heavy, l->nranges};
    Args a = lead(r);
    dp_args_words(&a, numbers, 10);
    launch(rt, r, way, "dp_segreduce_split", 2, groups > of_pieces ? groups : of_pieces, &a);
    dp_block_release(rt, part);
}

static void by_length(DpRt *rt, const SegReduce *r)
{
    const Splits l = dp_splits(rt, r->n, r->segments.nseg, most_of_group(rt, r), r->lengths);
    DpBlock *keeper = r->nest && r->nest->kind == CTX_NESTED ? r->nest->offsets.block : NULL;
    DpBlock *list = dp_splits_list(rt, &l, r->segments.nseg, r->segments.offsets, keeper);
    split(rt, r, WAY_SPLIT, &l, list);
    dp_block_release(rt, list);
}

static void report(DpRt *rt, const SegReduce *r, Way way)
{
    size_t length;
    const uint64_t asked = way.kind == WAY_BATCHES ? ASKED_BATCHES : way.kind > WAY_TILE ? 1 + WAY_TILE : 1 + way.kind;
    const char *name = dp_params_word(PARAM_SEGREDUCE, asked, &length);
    char team[32] = "", longest[32] = "unknown";
    if (way.kind == WAY_TEAM)
        snprintf(team, sizeof team, " of %u", way.lanes);
    if (way.kind >= WAY_TILE && way.kind < WAY_BATCHES) {
        const TileSize size = dp_tile_size(rt, r->kernel, way.kind);
        snprintf(team, sizeof team, " of %u x %u", size.rows, size.columns);
    }
    if (r->lengths.known)
        snprintf(longest, sizeof longest, "%llu", (unsigned long long)r->lengths.longest);
    dp_profile_way(rt, "%.*s%s: mean %.1f, longest %s", (int)length, name, team,
                   (double)r->n / (double)r->segments.nseg, longest);
}

/* ---- beginning with the lengths ---- */
static bool goes_by_rows(const DpRt *rt, const SegReduce *r)
{
    enum { AUTO, HOST };
    const uint64_t asked = dp_param(rt, PARAM_SEGREDUCE), work = r->n + r->segments.nseg;
    if (!dp_starts_wait_for(rt, r->nest) || !dp_rt_group_shape(rt, r->kernel))
        return false;
    if (asked)
        return asked == 1 + WAY_ROWS;
    return work >= dp_param(rt, PARAM_SEGREDUCE_PATH) && dp_param(rt, PARAM_CHECK_LENGTHS) != HOST &&
           !keeps_short(rt, r) && r->segments.nseg <= dp_param(rt, PARAM_ROWS_MOST) &&
           (work <= dp_param(rt, PARAM_ROWS_SMALL) ||
            r->n <= dp_size_mul(r->segments.nseg, dp_param(rt, PARAM_ROWS_MEAN)));
}

enum { ITEM_GROUPS = 64 }; /* for a unit: where one is long they only find that out */

/* The device knows whether one is long. */
static void reduce_rows(DpRt *rt, const SegReduce *r)
{
    SegReduce rows = *r;
    const Starts waiting = dp_starts_take(rt);
    rows.segments.offsets = dp_block_addr(waiting.sums);
    if (waiting.alike) {
        const uint64_t groups = groups_for(rt, r, WAY_ROWS, r->segments.nseg, 1),
                       most = ITEM_GROUPS * (uint64_t)rt->device->facts.units;
        Args a = lead(&rows);
        dp_args_add(&a, r->vals);
        dp_args_add(&a, r->pos);
        launch(rt, &rows, WAY_ROWS, "dp_segreduce_rows", 2, groups < most ? groups : most, &a);
    }
    split(rt, &rows, WAY_ROWS, &waiting.splits, waiting.list);
    rt->starts = waiting;
}

bool dp_segreduce_by_rows(DpRt *rt, const SegReduce *r)
{
    if (!goes_by_rows(rt, r))
        return false;
    const uint64_t alike = mean_bytes(rt, r) <= dp_param(rt, PARAM_REDUCE_BYTES) ? most_of_item(rt, r) : 0;
    const bool waits =
        dp_starts_add_sums(rt, most_of_group(rt, r), alike); /* finding memory may have been a reason to look */
    if (waits) {
        Starts s = dp_starts_take(rt);
        dp_starts_sum(rt, &s, 0);
        rt->starts = s;
        report(rt, r, (Way){WAY_ROWS, 0});
        reduce_rows(rt, r);
        dp_profile_way(rt, "%s", "");
    }
    return waits;
}

bool dp_segscan_short(DpRt *rt, const SegReduce *r)
{
    const bool lane = is_scanned_by_lane(rt, r);
    report(rt, r, (Way){lane ? WAY_LANE : WAY_PATH, 0});
    if (lane) {
        Args a = lead(r);
        launch(rt, r, WAY_LANE, "dp_segscan_lane", 2, lane_groups(rt, r), &a);
        dp_profile_way(rt, "%s", "");
    }
    return lane;
}

void dp_segreduce(DpRt *rt, const SegReduce *r)
{
    const Way way = choose(rt, r);
    report(rt, r, way);
    switch (way.kind) {
    case WAY_PATH: by_path(rt, r); break;
    case WAY_LANE: by_lane(rt, r); break;
    case WAY_TEAM: by_team(rt, r, way.lanes); break;
    case WAY_ROWS:
    case WAY_SPLIT: by_length(rt, r); break;
    case WAY_TILE:
    case WAY_SMALL_TILE:
    case WAY_LEAST_TILE: by_tile(rt, r, way.kind); break;
    case WAY_BATCHES: by_batches(rt, r); break;
    }
    dp_profile_way(rt, "%s", "");
}
