/* Arguments that stay where their owner has them.
 *
 * An address is a distance from the heap's beginning, modulo 2^64. Where buffers lie in one address space, memory that
 * is not the heap's has such a distance too, and kernels reach it as they reach the heap; so what is lent is a block
 * like others, but in no ledger. It is held once from here until it is given back: with that nobody else ever holds it
 * alone, and what is not held alone is not written. The distance is good for one buffer of the heap, which therefore
 * does not grow meanwhile: a call that needs more fails, and is made once more (dp_grow_for_lent). */
#ifndef DP_CHECKS
#define NDEBUG
#endif
#include "internal.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct Lent {
    DpBlock block; /* first */
    void *buffer;  /* a caller's; NULL: */
    const void *host;
    uint64_t at; /* in the buffer */
} Lent;

/* ---- where it is ---- */
/* What an address may mean: its numbers lie there, and it does not wrap around at the heap. */
static bool usable(uint64_t distance, uint64_t bytes) { return distance != 0 && distance + bytes > distance; }

/* In words of the device: asked once for a buffer and a heap. */
static void find_buffer(DpRt *rt, DpOutside *o)
{
    static atomic_uint_fast64_t numbers; /* of all heaps' buffers */
    if (!rt->heap.number)
        rt->heap.number = 1 + atomic_fetch_add(&numbers, 1);
    if (o->heap == rt->heap.number || dp_failed(rt))
        return;
    dp_moves_flush(rt);
    dp_rt_check_device(rt, rt->device->backend->reach(rt->device, &rt->heap.buffer, DP_MAILBOX, o->buffer));
    rt->unlooked = true;
    const uint64_t distance = dp_rt_look_at_heap(rt)[0];
    if (!dp_failed(rt)) {
        o->heap = rt->heap.number;
        o->distance = distance;
    }
}

static bool is_hosts_memory(const DpRt *rt)
{
    const DpDeviceFacts *f = &rt->device->facts;
    return f->shares_memory && f->one_space && rt->heap.buffer.memory;
}

/* The host's memory pays from a size on: what is copied lies well. */
static bool host_is_reached(DpRt *rt, const DpLeaf *leaf, uint64_t bytes)
{
    return is_hosts_memory(rt) && bytes >= dp_param(rt, PARAM_LENT_BYTES) &&
           (uintptr_t)leaf->data % dp_scalar_bytes(leaf->scalar) == 0;
}

static bool locate(DpRt *rt, const DpLeaf *leaf, DpOutside *o, uint64_t bytes, uint64_t *distance)
{
    if (o && o->buffer) {
        if (!rt->device->facts.one_space)
            return false;
        find_buffer(rt, o);
        *distance = o->distance + o->at;
    } else {
        if (!host_is_reached(rt, leaf, bytes))
            return false;
        *distance = (uint64_t)((uintptr_t)leaf->data - (uintptr_t)rt->heap.buffer.memory);
    }
    return !dp_failed(rt) && usable(*distance, bytes);
}

/* Else kernels would read what is not the buffer's, or the device would fail for good. */
static bool holds(DpRt *rt, void *buffer, uint64_t at, uint64_t bytes)
{
    const uint64_t all = rt->device->backend->object_bytes(rt->device, buffer);
    if (!all)
        dp_rt_fail(rt, EXIT_USAGE, "a buffer is none of the context's");
    else if (at > all || bytes > all - at)
        dp_rt_fail(rt, EXIT_USAGE, "a buffer has %llu bytes, and %llu from byte %llu on are wanted",
                   (unsigned long long)all, (unsigned long long)bytes, (unsigned long long)at);
    return !dp_failed(rt);
}

/* Looked at when it is first used with a heap. */
static bool suits(DpRt *rt, const DpOutside *o, uint64_t bytes)
{
    return !o || !o->buffer || (o->heap && o->heap == rt->heap.number) || holds(rt, o->buffer, o->at, bytes);
}

/* ---- lending ---- */
static DpBlock *lent_block(DpRt *rt, const DpLeaf *leaf, const DpOutside *o, uint64_t distance, uint64_t bytes)
{
    Lent *l = calloc(1, sizeof *l);
    if (!l) {
        dp_rt_fail_host_memory(rt, sizeof *l);
        return NULL;
    }
    l->buffer = o ? o->buffer : NULL;
    l->host = leaf->data;
    l->at = o ? o->at : 0;
    l->block = (DpBlock){.addr = distance, .bytes = bytes, .count = 2, .state = BLOCK_PLAIN, .behind = rt->lent};
    rt->lent = &l->block;
    return &l->block;
}

static DpBlock *copied_block(DpRt *rt, const DpOutside *o, uint64_t n, uint64_t bytes)
{
    DpBlock *b = dp_block_new(rt, n, bytes);
    const DpBuffer from = {.object = o->buffer};
    if (b)
        dp_rt_copy(rt, &from, o->at, b->addr, n * bytes);
    rt->runs = true;
    return b;
}

DpArr dp_lend(DpRt *rt, const DpLeaf *leaf, DpOutside *o)
{
    const uint64_t width = dp_scalar_bytes(leaf->scalar), bytes = leaf->ndata * width;
    uint64_t distance;
    if (!bytes || dp_failed(rt) || !suits(rt, o, bytes))
        return dp_upload(rt, leaf);
    if (locate(rt, leaf, o, bytes, &distance))
        return dp_arr_over(rt, leaf, lent_block(rt, leaf, o, distance, bytes));
    return o && o->buffer ? dp_arr_over(rt, leaf, copied_block(rt, o, leaf->ndata, width)) : dp_upload(rt, leaf);
}

bool dp_lent_read(DpRt *rt, uint64_t addr, void *to, uint64_t bytes)
{
    const DpBlock *b = rt->lent;
    while (b && addr - b->addr >= b->bytes)
        b = b->behind;
    if (!b)
        return false;
    const Lent *l = (const Lent *)b;
    const DpBackend *backend = rt->device->backend;
    const DpBuffer from = {.object = l->buffer};
    if (l->buffer)
        dp_rt_check_device(rt, backend->read(rt->device, &from, l->at + (addr - b->addr), bytes, to));
    else
        memcpy(to, (const char *)l->host + (addr - b->addr), bytes);
    return true;
}

/* ---- giving back ---- */
/* Recurses as deep as arrays are nested. */
static bool reaches_lent(const DpRt *rt, const DpRefs *r)
{
    for (uint32_t i = 0; r && i < r->n; i++) {
        for (const DpBlock *b = rt->lent; b; b = b->behind)
            if (r->blocks[i] == b)
                return true;
        if (reaches_lent(rt, r->blocks[i]->refs))
            return true;
    }
    return false;
}

/* What has no elements is no work on a device, and what has more than are numbered cannot be: by the host. */
static void own_by_host(DpRt *rt, DpArr *a, const DpLeaf *like)
{
    DpLeaf leaf = {.scalar = like->scalar, .rank = like->rank};
    dp_download(rt, a, &leaf);
    dp_arr_release(rt, a);
    *a = dp_upload(rt, &leaf);
    dp_leaves_free(&leaf, 1);
}

void dp_own_results(DpRt *rt, const DpEntry *entry, const DpLeaf *leaves, DpArg *results)
{
    for (uint32_t i = 0; rt->lent && i < entry->nresults; i++) {
        DpArr *a = &results[i].arr;
        if (!leaves[i].rank || !reaches_lent(rt, a->refs))
            continue;
        dp_store_anew(rt, a, leaves[i].rank, dp_scalar_bytes(leaves[i].scalar));
        if (reaches_lent(rt, a->refs))
            own_by_host(rt, a, &leaves[i]);
    }
}

void dp_give_back(DpRt *rt)
{
    if (!rt->lent)
        return;
    dp_starts_forget(rt);
    dp_moves_flush(rt);
    dp_check(rt); /* kernels that read it have come to an end */
    for (DpBlock *b = rt->lent, *next; b; b = next) {
        next = b->behind;
        assert(b->count == 1);
        if (b->count == 1)
            free(b);
    }
    rt->lent = NULL;
}

bool dp_grow_for_lent(DpRt *rt)
{
    const uint64_t wanted = rt->heap.wanted;
    rt->heap.wanted = 0;
    if (!wanted || rt->status != EXIT_MEMORY || !dp_clear_failure(rt))
        return false;
    if (!dp_heap_grow(rt, wanted))
        dp_rt_fail_memory(rt, wanted);
    return !dp_failed(rt);
}

/* ---- results that stay ---- */
void *dp_heap_object(const DpRt *rt) { return rt->heap.buffer.object; }

void dp_copy_out(DpRt *rt, const DpCol *numbers, void *buffer, uint64_t at)
{
    const DpBuffer to = {.object = buffer};
    dp_moves_flush(rt);
    if (numbers->n && !dp_failed(rt) && holds(rt, buffer, at, numbers->n * numbers->bytes))
        dp_rt_check_device(rt, rt->device->backend->copy(rt->device, &rt->heap.buffer, numbers->addr, &to, at,
                                                         numbers->n * numbers->bytes));
}

/* ---- events ---- */
bool dp_wait_for(DpRt *rt, uint32_t n, void *const *events, char error[96])
{
    const bool well = rt->device->backend->wait(rt->device, n, events) == DEVICE_OK;
    if (!well)
        memcpy(error, rt->device->error, 96);
    return well;
}

void *dp_event_new(const DpRt *rt) { return rt->device->backend->event_create(rt->device); }

void dp_event_end(const DpRt *rt, void *event, bool well) { rt->device->backend->event_end(event, well); }

void dp_event_release(const DpRt *rt, void *event) { rt->device->backend->event_release(event); }

/* ---- the other way: results that the host reads where they are ---- */
/* A heap that may grow moves. */
bool dp_shows_heap(const DpRt *rt) { return is_hosts_memory(rt) && rt->heap.buffer.bytes >= rt->heap.limit; }

void *dp_show(DpRt *rt, const DpCol *numbers)
{
    const uint64_t bytes = numbers->n * numbers->bytes;
    if (!bytes || bytes < dp_param(rt, PARAM_SHOWN_BYTES) || !numbers->block || numbers->block->count != 1)
        return NULL;
    dp_moves_flush(rt);
    dp_check(rt);
    return dp_failed(rt) ? NULL : (char *)rt->heap.buffer.memory + numbers->addr;
}
