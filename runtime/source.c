/* The text of programs: dp_size.h, dp_scalar.h and common.cl, then for each kernel its settings, segments.cl, its holes
 * and its template.
 *
 * Where several kernels stand in one program (quick.c), every name that a kernel defines is renamed by a suffix, and
 * its macros are undefined behind it.
 *
 * PoCL reads 900 KB of declarations of built-in functions in front of every program: 0.15 s to build it, 0.02 s to find
 * it in the cache. So in the CPU's shape its header is left out, by the name of its guard, and builtins.cl stands for
 * it. */
#include "internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void dp_text_add(DpRt *rt, Text *t, const char *s, size_t n)
{
    if (t->lost)
        return;
    if (t->n + n + 1 > t->room) {
        size_t room = 2 * (t->n + n) + 65536;
        char *at = realloc(t->at, room);
        if (!at) {
            t->lost = true;
            dp_rt_fail_host_memory(rt, room);
            return;
        }
        t->at = at;
        t->room = room;
    }
    memcpy(t->at + t->n, s, n);
    t->n += n;
    t->at[t->n] = 0;
}

static void add(DpRt *rt, Text *t, const char *s) { dp_text_add(rt, t, s, strlen(s)); }

/* A file of runtime/kernels; errors in it are reported by its own lines. */
static void add_file(DpRt *rt, Text *t, const char *name)
{
    char mark[64];
    const char *text = dp_kernel_text(name);
    if (!text) {
        dp_rt_fail(rt, EXIT_DEVICE, "kernel template %s is missing", name);
        return;
    }
    snprintf(mark, sizeof mark, "\n#line 1 \"%s\"\n", name);
    add(rt, t, mark);
    add(rt, t, text);
}

/* Of the text from `start` on, takes out all kernels but `only`. Its lines keep their numbers. */
static void keep_kernel(Text *t, size_t start, const char *only)
{
    static const char kernel[] = "\nDP_KERNEL void ", sorted[] = "DP_SORTED(", end[] = "\n}\n";
    const size_t length = strlen(only);
    char *to = t->at + start, *from = to;
    for (char *at = strstr(from, kernel); at; at = strstr(from, kernel)) {
        const char *name = at + sizeof kernel - 1;
        name += strncmp(name, sorted, sizeof sorted - 1) == 0 ? sizeof sorted - 1 : 0;
        const bool kept = strcspn(name, "()") == length && strncmp(name, only, length) == 0;
        char *last = strstr(at, end), *next = last ? last + sizeof end - 2 : t->at + t->n;
        memmove(to, from, (size_t)((kept ? next : at) - from));
        to += (kept ? next : at) - from;
        for (char *c = at; !kept && c < next; c++)
            if (*c == '\n')
                *to++ = '\n';
        from = next;
    }
    memmove(to, from, (size_t)(t->at + t->n - from) + 1);
    t->n -= (size_t)(from - to);
}

/* Of the file's kernels this one; NULL: all of them. */
static void add_kernels(DpRt *rt, Text *t, const char *name, const char *only)
{
    const size_t start = t->n;
    add_file(rt, t, name);
    if (only && !t->lost)
        keep_kernel(t, start, only);
}

static void add_template(DpRt *rt, Text *t, DpKernelKind kind, uint32_t mode, const char *only)
{
    switch (kind) {
    case DP_K_MAP: add_kernels(rt, t, "map.cl", only); break;
    case DP_K_REDUCE:
        add_kernels(rt, t, "carry.cl", only);
        add_kernels(rt, t, mode / MODE_WAY >= WAY_TILE ? "tile.cl" : "reduce.cl", only);
        if (mode / MODE_WAY >= WAY_TEAM && mode / MODE_WAY <= WAY_ROWS)
            add_kernels(rt, t, "teams.cl", only);
        break;
    case DP_K_SCAN:
        if (mode / MODE_WAY == WAY_COLUMNS) {
            add_kernels(rt, t, "scan_columns.cl", only);
            break;
        }
        add_kernels(rt, t, "carry.cl", only);
        add_kernels(rt, t, "scan_run.cl", only);
        add_kernels(rt, t, mode / MODE_WAY ? "segscan.cl" : "scan.cl", only);
        break;
    case DP_K_PACK: add_kernels(rt, t, "pack.cl", only); break;
    case DP_K_SCATTER:
        add_kernels(rt, t, "combine.cl", only);
        add_kernels(rt, t, "scatter.cl", only);
        if (mode / MODE_WAY) {
            add_kernels(rt, t, "groups.cl", only);
            add_kernels(rt, t, "scatter_windows.cl", only);
        }
        break;
    case DP_K_HIST:
        if (mode & MODE_HIST_SORTED) {
            add_kernels(rt, t, "hist_reduce.cl", only);
            add_template(rt, t, DP_K_REDUCE, mode, only);
        } else {
            add_kernels(rt, t, "combine.cl", only);
            add_kernels(rt, t, "histogram.cl", only);
        }
        break;
    }
}

/* Elements of a lane whose loads are under way together, in the GPU's shape, and statements of an element up to which
 * that pays. */
enum { AT_ONCE = 4, CHEAP = 48 };

typedef struct Settings {
    uint32_t wg, val_bytes;
    uint32_t cost;  /* of an element, in statements; 0: not known */
    bool lanes;     /* code for several elements may be repeated */
    uint32_t width; /* of vectors; 0: there are none. Quick code has none, but combines in the order of those to come */
} Settings;

/* In the CPU's shape quick.c makes functions of kernels. */
static void add_settings(DpRt *rt, Text *t, const Instance *i, Settings s)
{
    char settings[480];
    bool quick = i->mode & MODE_QUICK;
    snprintf(settings, sizeof settings,
             "\n#define %s 1\n#define DP_VARIANT %u\n#define DP_ANY_VARIANT %d\n#define DP_SEGMENTED %d\n#define "
             "DP_WAY %u\n#define DP_WG %u\n"
             "#define DP_VAL_BYTES %u\n#define DP_COST %u\n#define DP_LANES %d\n#define DP_AT_ONCE %d\n#define "
             "DP_LOOKBACK %d\n#define "
             "DP_W %u\n#define DP_AS_W %u\n#define DP_KERNEL %s\n",
             s.wg > 1 ? "DP_GPU" : "DP_CPU", i->variant, quick, i->mode & MODE_SEGMENTED ? 1 : 0, i->mode / MODE_WAY,
             s.wg, s.val_bytes, s.cost, s.lanes, s.cost && s.cost <= CHEAP ? AT_ONCE : 1, rt->lookback.use,
             quick ? 0 : s.width, quick ? s.width : 0,
             quick && !rt->gpu ? "static" : "__kernel __attribute__((reqd_work_group_size(DP_WG, 1, 1)))");
    add(rt, t, settings);
}

/* Are roots and quotients in a tile straight code? */
static bool has_straight_roots(const DpRt *rt, const Instance *i)
{
    const uint64_t asked = dp_param(rt, PARAM_TILE_STRAIGHT);
    return dp_rt_group_shape(rt, i->kernel) && (asked == 1 || (asked == 0 && rt->device->facts.straight_roots));
}

static void add_tile_settings(DpRt *rt, Text *t, const Instance *i)
{
    const TileSize size = dp_tile_size(rt, i->kernel, (WayKind)(i->mode / MODE_WAY));
    char settings[200];
    snprintf(settings, sizeof settings,
             "#define DP_TM %u\n#define DP_TN %u\n#define DP_BK %u\n#define DP_PIECES %u\n"
             "#define DP_UNROLL _Pragma(\"unroll %u\")\n#define DP_STRAIGHT %d\n",
             size.item_rows, size.item_columns, size.depth, size.pieces, size.unroll, has_straight_roots(rt, i));
    add(rt, t, settings);
    if (has_straight_roots(rt, i))
        add_file(rt, t, "roots.cl");
}

/* ---- instances side by side ---- */
/* What holes and templates define, macros apart. */
static const char *const defined_names[] = {
    "dp_val",
    "dp_body",
    "dp_body_at",
    "dp_body_try",
    "dp_loads",
    "dp_fetch",
    "dp_make",
    "dp_kept",
    "dp_kept_words",
    "dp_kept_quad",
    "dp_made",
    "dp_then",
    "dp_store",
    "dp_load",
    "dp_neutral",
    "dp_op",
    "dp_bits",
    "dp_from_bits",
    "dp_combine",
    "dp_carry",
    "dp_join",
    "dp_put_carry",
    "dp_get_carry",
    "dp_staged",
    "dp_stage_put",
    "dp_stage_get",
    "dp_run",
    "dp_run_settled",
    "dp_path_segment",
    "dp_bin_instance",
    "dp_map",
    "dp_reduce_chunks",
    "dp_reduce_small",
    "dp_reduce_all",
    "dp_reduce_part",
    "dp_segment_part",
    "dp_whole_segments",
    "dp_reduce_finish",
    "dp_segreduce_chunks",
    "dp_segreduce_finish",
    "dp_publish",
    "dp_await",
    "dp_scan_onepass",
    "dp_scan_chunks",
    "dp_scan_carries",
    "dp_scan_write",
    "dp_scan_run",
    "dp_scan_lanes",
    "dp_ways",
    "dp_keep",
    "dp_put_offset",
    "dp_pack_onepass",
    "dp_pack_count",
    "dp_pack_carries",
    "dp_pack_write",
    "dp_scatter",
    "dp_hist_chunks",
    "dp_hist_merge",
    "dp_hist_fill",
    "dp_hist_add",
    "dp_hist_hot",
    "dp_hist_list",
    "dp_move_element",
};
const char *const dp_own_suffix[OWN_COUNT] = {"", "", "_truth", ""};

static void add_renames(DpRt *rt, Text *t, const char *suffix)
{
    char line[128];
    for (size_t i = 0; i < sizeof defined_names / sizeof defined_names[0]; i++) {
        snprintf(line, sizeof line, "#define %s %s%s\n", defined_names[i], defined_names[i], suffix);
        add(rt, t, line);
    }
}

/* Undefines every macro that the text defines from `start` on. */
static void add_undefines(DpRt *rt, Text *t, size_t start)
{
    static const char define[] = "#define ";
    size_t end = t->n;
    add(rt, t, "\n");
    for (size_t at = start; at + sizeof define < end; at++) {
        if (memcmp(t->at + at, define, sizeof define - 1) != 0)
            continue;
        size_t name = at + sizeof define - 1, n = 0;
        while (isalnum((unsigned char)t->at[name + n]) || t->at[name + n] == '_')
            n++;
        char line[128];
        snprintf(line, sizeof line, "#undef %.*s\n", (int)(n < 100 ? n : 100), t->at + name);
        add(rt, t, line);
    }
}

bool dp_source_declares_builtins(const DpRt *rt) { return rt->device->facts.long_header && !rt->gpu; }

bool dp_source_has_fence(const DpRt *rt) { return rt->device->facts.dialect; }

void dp_source_begin(DpRt *rt, Text *t, bool contract)
{
    if (rt->device->facts.dialect)
        add(rt, t, rt->device->facts.dialect);
    if (rt->device->facts.posts)
        add(rt, t, "#define DP_POSTS 1\n");
    if (dp_source_declares_builtins(rt))
        add_file(rt, t, "builtins.cl");
    if (rt->device->facts.vectors)
        add_file(rt, t, "elementary.cl");
    add_file(rt, t, "dp_size.h");
    if (contract)
        add(rt, t, "\n#define DP_CONTRACT 1\n");
    add_file(rt, t, "dp_scalar.h");
    if (rt->gpu)
        add(rt, t, "\n#define DP_BY_TURNS 1\n");
    add_file(rt, t, "common.cl");
}

/* ---- names that there are only once ---- */
static void add_sign(DpRt *rt, Text *t, const char *name, size_t length, const char *suffix, const char *sign)
{
    char line[400];
    const int n = length < 100 ? (int)length : 100;
    snprintf(line, sizeof line, "#define %.*s%s %.*s%s%s\n", n, name, suffix, n, name, suffix, sign);
    add(rt, t, line);
}

/* "DP_KERNEL void dp_map(", and "DP_KERNEL void DP_SORTED(dp_sort_pass)(", of which there are two (add_sized). */
static void add_signs(DpRt *rt, Text *t, const char *text, const char *suffix, const char *sign)
{
    static const char kernel[] = "DP_KERNEL void ", sorted[] = "DP_SORTED(";
    for (const char *at = strstr(text, kernel); at; at = strstr(at, kernel)) {
        at += sizeof kernel - 1;
        const bool twice = strncmp(at, sorted, sizeof sorted - 1) == 0;
        at += twice ? sizeof sorted - 1 : 0;
        const size_t length = strcspn(at, "()");
        add_sign(rt, t, at, length, twice ? "4" : suffix, sign);
        if (twice)
            add_sign(rt, t, at, length, "8", sign);
    }
}

void dp_source_sign(DpRt *rt, Text *t, const char *suffix, bool quick, char sign[SIGN_BYTES])
{
    sign[0] = 0;
    if (!rt->device->facts.calls || rt->gpu || !t->at || t->lost)
        return;
    const char *const texts[] = {t->at};
    const CacheKey digest = dp_cache_key(texts, 1);
    Text signed_text = {.at = NULL};
    snprintf(sign, SIGN_BYTES, "_%016" PRIx64, digest.a ^ digest.b);
    if (quick)
        add_sign(rt, &signed_text, "dp_quick", 8, "", sign);
    else
        add_signs(rt, &signed_text, t->at, suffix, sign);
    dp_text_add(rt, &signed_text, t->at, t->n);
    free(t->at);
    *t = signed_text;
}

static uint32_t vector_lanes(const DpRt *rt, uint32_t kernel)
{
    const DpKernel *k = &rt->program->kernels[kernel];
    const uint64_t asked = dp_param(rt, PARAM_VECTORS);
    const bool possible = k->lanes && rt->device->facts.vectors && !dp_rt_group_shape(rt, kernel);
    return possible && (asked == 1 || (asked == 0 && k->vector_pays)) ? k->lanes : 0;
}

uint32_t dp_rt_vector_width(const DpRt *rt, uint32_t kernel)
{
    return rt->program->kernels[kernel].vector_inside ? 0 : vector_lanes(rt, kernel);
}

/* How many instances side by side, or elements of one, once it is optimised; 0: one. */
static uint32_t vector_width(const DpRt *rt, const Instance *i)
{
    const DpKernel *k = &rt->program->kernels[i->kernel];
    if (k->kind == DP_K_REDUCE && i->mode / MODE_WAY == WAY_BATCHES)
        return dp_batch_lanes(rt, i->kernel);
    if ((k->kind == DP_K_REDUCE && i->mode / MODE_WAY >= WAY_TILE) ||
        (k->kind == DP_K_MAP && i->mode / MODE_WAY == WAY_TURNED))
        return dp_tile_lanes(rt, i->kernel);
    if (k->vector_inside)
        return vector_lanes(rt, i->kernel);
    const uint32_t width = dp_rt_vector_width(rt, i->kernel);
    return k->kind == DP_K_MAP ? dp_map_width((uint32_t)i->mode / MODE_WAY, width) : width;
}

void dp_source_instance(DpRt *rt, Text *t, const Instance *i, const char *suffix, const char *only)
{
    const DpKernel *k = &rt->program->kernels[i->kernel];
    size_t start = t->n;
    const Settings settings = {dp_rt_way_group(rt, i->kernel, i->mode), k->val_bytes ? k->val_bytes : 16, k->cost,
                               !k->long_body, vector_width(rt, i)};
    add_settings(rt, t, i, settings);
    if (*suffix)
        add_renames(rt, t, suffix);
    if (k->kind == DP_K_SCAN && rt->lookback.use && dp_rt_group_shape(rt, i->kernel)) {
        char items[40];
        snprintf(items, sizeof items, "#define DP_ITEMS %u\n", dp_rt_scan_items(rt, i->kernel));
        add(rt, t, items);
    }
    if (k->kind == DP_K_REDUCE && i->mode / MODE_WAY >= WAY_TILE)
        add_tile_settings(rt, t, i);
    add_file(rt, t, "segments.cl");
    if (dp_words_in_heap(rt, k))
        dp_words_define(rt, t, k);
    add(rt, t, "\n#line 1 \"holes\"\n");
    add(rt, t, k->source);
    if (settings.width && !(i->mode & MODE_QUICK)) {
        if (dp_map_spills(k, i->variant))
            add(rt, t, "\n#define DP_SPILLS 1\n");
        add_file(rt, t, "vector.cl");
        add(rt, t, "\n#line 1 \"vector holes\"\n");
        add(rt, t, k->vector);
    }
    add_template(rt, t, k->kind, i->mode, only);
    if (*suffix)
        add_undefines(rt, t, start);
}

/* A file for keys of so many bytes, 4 or 8, in which its kernels' names end. */
static void add_sized(DpRt *rt, Text *t, const char *name, uint32_t bytes, const char *only)
{
    char sizes[140], unsized[64] = "";
    if (only && only[strlen(only) - 1] == (char)('0' + bytes))
        snprintf(unsized, sizeof unsized, "%.*s", (int)strlen(only) - 1, only);
    size_t start = t->n;
    const char *type = bytes == 4 ? "uint" : "ulong";
    snprintf(sizes, sizeof sizes, "#define DP_K %s\n#define DP_K4 %s4\n#define DP_SORTED(name) name##%u\n", type, type,
             bytes);
    add(rt, t, sizes);
    add_kernels(rt, t, name, only ? unsized : NULL);
    add_undefines(rt, t, start);
}

void dp_source_own(DpRt *rt, Text *t, OwnProgram own, uint32_t mode, const char *only)
{
    const Instance none = {0, 0, mode};
    size_t start = t->n;
    add_settings(rt, t, &none, (Settings){rt->gpu ? 256 : 1, 16, .lanes = true});
    if (*dp_own_suffix[own])
        add_renames(rt, t, dp_own_suffix[own]);
    add_file(rt, t, "segments.cl");
    switch (own) {
    case OWN_MOVE:
        add_file(rt, t, "each.cl");
        add_kernels(rt, t, "move.cl", only);
        add_kernels(rt, t, "moves.cl", only);
        break;
    case OWN_SORT:
        add_file(rt, t, "each.cl");
        if (rt->gpu)
            add_file(rt, t, "groups.cl");
        add_kernels(rt, t, "radix_sort.cl", only);
        add_sized(rt, t, "radix_pass.cl", 4, only);
        add_sized(rt, t, "radix_pass.cl", 8, only);
        add_sized(rt, t, "bucket_sort.cl", 4, only);
        add_sized(rt, t, "bucket_sort.cl", 8, only);
        add_sized(rt, t, "segment_sort.cl", 4, only);
        add_sized(rt, t, "segment_sort.cl", 8, only);
        break;
    case OWN_LENGTHS:
        add_kernels(rt, t, "lengths.cl", only);
        add_kernels(rt, t, "rows.cl", only);
        break;
    case OWN_TRUTH:
        add_kernels(rt, t, "truth.cl", only);
        add_template(rt, t, DP_K_PACK, 0, only);
        break;
    case OWN_COUNT: break;
    }
    add_undefines(rt, t, start);
}

/* ---- modes ---- */
static bool uses_segment(const DpKernel *k, uint32_t variant)
{
    bool free = k->segment_free == DP_SEGMENT_NEVER || (k->segment_free && !(k->segment_free & ~variant));
    return !free;
}

/* The mode in which a kernel is built: in a MAP that does not look at its segment, segments and the ways of going over
 * them make no difference. */
uint32_t dp_source_mode(const DpRt *rt, uint32_t kernel, uint32_t variant, uint32_t mode)
{
    const DpKernel *k = &rt->program->kernels[kernel];
    const bool in_place = !rt->gpu && mode / MODE_WAY == WAY_IN_PLACE;
    if (k->kind != DP_K_MAP || uses_segment(k, variant) || !(mode & MODE_SEGMENTED))
        return mode;
    return (mode % MODE_WAY & ~(uint32_t)MODE_SEGMENTED) + (in_place ? MODE_WAY * WAY_IN_PLACE : 0);
}
