/* Levels of recursion: how deep, and whether they get anywhere. */
#include "internal.h"

#include "dp_limits.h"
#include "dp_status.h"

#include <stdlib.h>
#include <string.h>

/* Host code: its stack ends a recursion before MAX_HOST_LEVELS, unless nobody knows where it ends. */
enum { MAX_LEVELS_WITHOUT_LIMIT = 10000, MAX_HOST_LEVELS = 10000000 };
enum { MOST_ARGUMENTS = 64, SAMPLE = 64 };
#define MOST_LOOKED_AT (UINT64_C(1) << 20) /* instances */

void dp_enter(DpRt *rt, DpLevel *level, const char *function)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    bool deep = rt->stack_limit ? here < rt->stack_limit || rt->level >= MAX_HOST_LEVELS
                                : rt->level >= MAX_LEVELS_WITHOUT_LIMIT;
    rt->level++;
    *level = (DpLevel){.outer = rt->levels, .function = function};
    rt->levels = level;
    if (deep)
        dp_rt_fail_here(rt, EXIT_PROGRAM, DP_TOO_DEEP);
    dp_span_begin(rt, &(DpSpan){.name = function, .number = rt->level, .numbered = true});
}

void dp_leave(DpRt *rt)
{
    dp_span_end(rt);
    rt->level--;
    rt->lifted_level -= rt->levels->run > 0;
    rt->levels = rt->levels->outer;
}

void dp_rt_level_text(const DpRt *rt, char *to)
{
    uint32_t level = 0;
    for (const DpLevel *l = rt->levels; l; l = l->outer)
        level += strcmp(l->function, rt->levels->function) == 0;
    dp_level_text(to, level, rt->levels ? rt->levels->function : NULL);
}

/* ---- progress ---- */

static void fetch_bytes(void *data, uint64_t address, uint64_t bytes, void *to)
{
    DpRt *rt = data;
    dp_starts_settle(rt);
    dp_moves_flush(rt);
    if (!dp_failed(rt) && !dp_lent_read(rt, address, to, bytes))
        dp_rt_check_device(rt, rt->device->backend->read(rt->device, &rt->heap.buffer, address, bytes, to));
    if (dp_failed(rt))
        memset(to, 0, bytes);
}

/* The first n values of the columns, where the host can read them; `room` is what has to be freed. */
static bool read_arguments(DpRt *rt, DpArguments *to, void **room, const DpCol *cols, uint32_t count, uint64_t n)
{
    uint64_t bytes = 0, at = 0;
    for (uint32_t k = 0; k < count; k++)
        bytes += n * cols[k].bytes;
    unsigned char *values = *room = malloc(bytes + 1);
    for (uint32_t k = 0; values && k < count; k++) {
        to[k].values = values + at;
        fetch_bytes(rt, dp_col_addr(rt, &cols[k]), n * cols[k].bytes, values + at);
        at += n * cols[k].bytes;
    }
    return values && !dp_failed(rt);
}

/* A few instances show most recursions that get somewhere; only then all are read. */
static bool stuck(DpRt *rt, const DpLevel *level, uint64_t n, uint32_t count, const DpCol *cols,
                  const uint8_t *element_bytes)
{
    DpArguments arguments[MOST_ARGUMENTS];
    DpProgress sample = {.fetch = fetch_bytes, .fetch_data = rt};
    bool all = n <= MOST_LOOKED_AT && count <= MOST_ARGUMENTS, found = false;
    for (uint32_t k = 0; all && k < count; k++)
        arguments[k] = (DpArguments){NULL, cols[k].bytes, element_bytes[k]};
    rt->progress.fetch = fetch_bytes;
    rt->progress.fetch_data = rt;
    for (uint64_t part = n < SAMPLE ? n : SAMPLE; all; part = n) {
        void *room;
        all = read_arguments(rt, arguments, &room, cols, count, part);
        if (all && part == n)
            found = dp_progress_stuck(&rt->progress, level->function, level->run, arguments, count, n);
        else
            all = all && dp_arguments_distinct(&sample, arguments, count, part);
        free(room);
        if (part == n)
            break;
    }
    if (!all)
        rt->progress.function = NULL;
    return found;
}

/* What the levels above hold: all that is taken, less the arguments' blocks, which may end in this one. Where arguments
 * are arrays, too much may end with them to be worth counting. */
static uint64_t held_above(const DpRt *rt, uint32_t count, const DpCol *cols, const uint8_t *element_bytes)
{
    uint64_t used = rt->heap.used;
    for (uint32_t k = 0; k < count; k++) {
        uint64_t own = cols[k].block ? cols[k].block->bytes : 0;
        if (element_bytes[k] || own > used)
            return 0;
        used -= own;
    }
    return used;
}

void dp_need(DpRt *rt, const DpCtx *c, uint32_t bytes)
{
    if (dp_failed(rt))
        return;
    dp_size needed = dp_size_mul(c->n, bytes);
    if (needed > rt->heap.limit - rt->levels->held)
        dp_rt_fail_need(rt, needed, rt->levels->held);
}

void dp_enter_lifted(DpRt *rt, DpLevel *level, const char *function, uint64_t n, uint32_t count, const DpCol *cols,
                     const uint8_t *element_bytes)
{
    const DpLevel *outer = rt->levels;
    bool again = outer && outer->run > 0 && strcmp(outer->function, function) == 0;
    dp_enter(rt, level, function);
    if (rt->lifted_level++ >= DP_MAX_LEVELS)
        dp_rt_fail_here(rt, EXIT_PROGRAM, DP_TOO_DEEP);
    level->run = again ? outer->run + 1 : 1;
    level->held = held_above(rt, count, cols, element_bytes);
    if (!dp_failed(rt) && dp_progress_due(&rt->progress, function, level->run, n) &&
        stuck(rt, level, n, count, cols, element_bytes))
        dp_rt_fail_here(rt, EXIT_PROGRAM, DP_TOO_DEEP);
}
