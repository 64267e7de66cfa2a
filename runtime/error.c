/* Failures: the program's own, at a site; memory; the device. The first one stays in the runtime, with its message and
 * place, until dp_clear_failure; what fails after it says nothing new. */
#include "internal.h"

#include "dp_limits.h"
#include "dp_status.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The order of the compiler's ErrorKind. */
enum {
    ERR_INDEX,
    ERR_SLICE,
    ERR_LENGTHS,
    ERR_SIZE,
    ERR_DIVISION,
    ERR_ASSERT,
    ERR_MATCH,
    ERR_EMPTY,
    ERR_NEGATIVE,
    ERR_NEST,
    ERR_DEPTH
};

bool dp_failed(const DpRt *rt) { return rt->status != 0; }

DpFailure dp_failure(const DpRt *rt) { return (DpFailure){rt->status, rt->message, rt->build_log}; }

/* rt->message says what has failed. What was read back from the device counts no more. */
static void enter_failed_state(DpRt *rt, int status)
{
    rt->status = status;
    memset(rt->look, 0, sizeof rt->look);
}

/* Nothing runs and no kernel's report is left. */
bool dp_rt_recover(DpRt *rt)
{
    if (rt->status == EXIT_DEVICE)
        return false;
    if (rt->device->backend->finish(rt->device) || dp_mailbox_clear_record(rt) != DEVICE_OK)
        return false;
    rt->status = 0;
    rt->runs = false;
    rt->message[0] = 0;
    dp_starts_forget(rt);
    dp_lookback_close(rt); /* how many tickets were taken is not known */
    return true;
}

/* The host's recursion has been left, too. */
bool dp_clear_failure(DpRt *rt)
{
    if (!dp_rt_recover(rt))
        return false;
    rt->at = rt->level = rt->lifted_level = 0;
    rt->levels = NULL;
    rt->progress.function = NULL;
    return true;
}

void dp_rt_fail(DpRt *rt, int status, const char *format, ...)
{
    va_list list;
    if (dp_failed(rt))
        return;
    va_start(list, format);
    const char *file = rt->program && rt->program->file ? rt->program->file : NULL;
    int n = file ? snprintf(rt->message, sizeof rt->message, "%s: error: ", file)
                 : snprintf(rt->message, sizeof rt->message, "error: ");
    vsnprintf(rt->message + n, sizeof rt->message - (size_t)n, format, list);
    va_end(list);
    enter_failed_state(rt, status);
}

void dp_rt_check_device(DpRt *rt, DpDeviceStatus done)
{
    if (done != DEVICE_OK)
        dp_rt_fail(rt, EXIT_DEVICE, "device error %s", rt->device->error);
}

/* ---- sites ---- */
static void site_text(char *to, size_t room, const DpSite *site, const int64_t *v)
{
    const char *text = site->text ? site->text : "";
    long long a = v[0], b = v[1], c = v[2];
    switch (site->kind) {
    case ERR_INDEX: snprintf(to, room, "index %lld out of bounds for length %lld", a, b); break;
    case ERR_SLICE: snprintf(to, room, "slice %lld:%lld out of bounds for length %lld", a, b, c); break;
    case ERR_LENGTHS: snprintf(to, room, "unequal lengths: %lld and %lld", a, b); break;
    case ERR_SIZE: snprintf(to, room, "size mismatch: %s is %lld, but this length is %lld", text, a, b); break;
    case ERR_DIVISION: snprintf(to, room, "division by zero"); break;
    case ERR_ASSERT: snprintf(to, room, "assertion failed"); break;
    case ERR_MATCH: snprintf(to, room, "no case matches"); break;
    case ERR_EMPTY: snprintf(to, room, "%s of an empty sequence", text); break;
    case ERR_NEGATIVE: snprintf(to, room, "negative length %lld", a); break;
    case ERR_NEST:
        snprintf(to, room, "lengths add up to %lld%s, but the sequence has %lld", a, a == INT64_MAX ? " or more" : "",
                 b);
        break;
    case ERR_DEPTH: snprintf(to, room, "%s", DP_TOO_DEEP); break;
    default: snprintf(to, room, "failure of kind %u", site->kind);
    }
}

/* Nothing has failed before: see the callers. */
static void fail_at(DpRt *rt, int status, const DpSite *site, const char *text)
{
    const char *file = site->file ? site->file : rt->program->file;
    snprintf(rt->message, sizeof rt->message, "%s:%u:%u: error: %s%s%s", file ? file : "", site->line, site->col, text,
             site->quote ? "\n" : "", site->quote ? site->quote : "");
    enter_failed_state(rt, status);
}

static void fail_at_number(DpRt *rt, uint32_t number, const int64_t *values)
{
    if (number >= rt->program->nsites) {
        dp_rt_fail(rt, EXIT_DEVICE, "a kernel reported failure %u, which does not exist", number);
        return;
    }
    const DpSite *site = &rt->program->sites[number];
    char text[256];
    site_text(text, sizeof text, site, values);
    fail_at(rt, EXIT_PROGRAM, site, text);
}

/* A kernel may have reported what came before. */
void dp_fail(DpRt *rt, uint32_t number, int64_t v0, int64_t v1, int64_t v2)
{
    const int64_t values[3] = {v0, v1, v2};
    dp_rt_look(rt);
    if (!dp_failed(rt))
        fail_at_number(rt, number, values);
}

/* ---- anywhere ---- */
void dp_at(DpRt *rt, uint32_t site)
{
    dp_profile_place(rt, site + 1);
    rt->at = site + 1;
}

void dp_rt_fail_here(DpRt *rt, int status, const char *what)
{
    char text[DP_MEMORY_TEXT + DP_LEVEL_TEXT], level[DP_LEVEL_TEXT] = "";
    if (dp_failed(rt)) /* before the levels are counted: each may come here on the way out */
        return;
    if (status == EXIT_MEMORY)
        dp_rt_level_text(rt, level);
    snprintf(text, sizeof text, "%s%s", what, level);
    if (rt->at > 0 && rt->program && rt->at <= rt->program->nsites)
        fail_at(rt, status, &rt->program->sites[rt->at - 1], text);
    else
        dp_rt_fail(rt, status, "%s", text);
}

static void fail_heap(DpRt *rt, dp_size bytes, uint64_t used)
{
    const Heap *h = &rt->heap;
    uint64_t all = h->refused ? h->buffer.bytes : h->limit;
    char text[DP_MEMORY_TEXT], said[DP_MEMORY_TEXT + 40];
    dp_memory_text(text, bytes, all - used, all);
    snprintf(said, sizeof said, "%s%s", text, h->refused ? "; the device grants no more" : "");
    dp_rt_fail_here(rt, EXIT_MEMORY, said);
}

void dp_rt_fail_memory(DpRt *rt, dp_size bytes)
{
    dp_rt_look(rt);
    fail_heap(rt, bytes, rt->heap.used);
}

void dp_rt_fail_need(DpRt *rt, dp_size bytes, uint64_t held)
{
    dp_rt_look(rt);
    fail_heap(rt, bytes, held);
}

void dp_rt_fail_host_memory(DpRt *rt, dp_size bytes)
{
    char size[32], text[80];
    if (dp_failed(rt))
        return;
    dp_size_print(size, sizeof size, bytes);
    snprintf(text, sizeof text, "out of memory: %s requested on the host", size);
    dp_rt_fail_here(rt, EXIT_MEMORY, text);
}

void dp_rt_fail_elements(DpRt *rt, uint64_t n, uint32_t bytes)
{
    dp_size all = dp_size_mul(n, bytes);
    dp_rt_look(rt);
    if (all > rt->heap.limit - rt->heap.used) {
        fail_heap(rt, all, rt->heap.used);
        return;
    }
    char text[DP_MEMORY_TEXT];
    dp_elements_text(text, n, DP_MAX_INSTANCES, "numbered");
    dp_rt_fail_here(rt, EXIT_MEMORY, text);
}

void dp_rt_check_countable(DpRt *rt, uint64_t n)
{
    char text[DP_MEMORY_TEXT];
    if (n <= DP_MAX_COUNTED)
        return;
    dp_rt_look(rt);
    dp_elements_text(text, n, DP_MAX_COUNTED, "counted");
    dp_rt_fail_here(rt, EXIT_MEMORY, text);
}

/* ---- what kernels report ---- */
void dp_rt_report(DpRt *rt)
{
    if ((uint32_t)rt->look[0] == 0)
        return;
    uint64_t look[4];
    memcpy(look, rt->look, sizeof look);
    rt->look[0] = 0;
    dp_mailbox_clear_record(rt);
    const int64_t values[3] = {(int64_t)look[1], (int64_t)look[2], (int64_t)look[3]};
    if (look[0] >> 32 == DP_NO_ROOM)
        rt->lanes_lacked = true;
    else
        fail_at_number(rt, (uint32_t)(look[0] >> 32), values);
}
