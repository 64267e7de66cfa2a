/* Arguments of calls, and what is kept of them where several calls have the same: a call takes its arguments over, but
 * each is to find what the one before found, as other programs do that go over the same data again.
 *
 * A device with memory of its own has the numbers in a buffer beside the heap, from where each call gets a copy. Where
 * it shares the host's memory the first call says whether it changes them in place; if not, the next ones get the
 * blocks of the second (numbers that one core has just written are read at half the speed). What is known of them, sums
 * of lengths for one, is forgotten. */
#include "internal.h"

#include <stdlib.h>

static uint64_t numbers_bytes(const DpLeaf *leaf)
{
    return leaf->rank ? dp_size_mul(leaf->ndata, dp_scalar_bytes(leaf->scalar)) : 0;
}

/* In the buffer one begins behind the other. */
static uint64_t kept_bytes(const DpLeaf *leaf)
{
    return dp_size_mul(numbers_bytes(leaf) / DP_BLOCK_ALIGN + 1, DP_BLOCK_ALIGN);
}

/* A block with the numbers, from the buffer if that has them at `at`, else from the host. */
static DpBlock *new_numbers(DpRt *rt, const DpLeaf *leaf, bool in_buffer, uint64_t at)
{
    const uint64_t bytes = numbers_bytes(leaf);
    dp_profile_count(rt, PHASE_UPLOAD, bytes);
    DpBlock *b = dp_block_new(rt, leaf->ndata, dp_scalar_bytes(leaf->scalar));
    if (b && in_buffer)
        dp_rt_copy(rt, &rt->kept.buffer, at, b->addr, bytes);
    else if (b)
        dp_rt_write(rt, b->addr, leaf->data, bytes);
    return b;
}

DpArr dp_upload(DpRt *rt, const DpLeaf *leaf)
{
    ProfilePhase before = dp_profile_switch(rt, PHASE_UPLOAD);
    DpArr a = dp_arr_over(rt, leaf, new_numbers(rt, leaf, false, 0));
    dp_profile_switch(rt, before);
    return a;
}

/* kept: where the block is to be found by the next call, or NULL; at: where the buffer has the numbers. */
static DpBlock *upload_numbers(DpRt *rt, const DpLeaf *leaf, DpBlock **kept, uint64_t at)
{
    if (kept && *kept) {
        dp_block_forget_total(rt, *kept);
        return dp_block_retain(*kept);
    }
    DpBlock *b = new_numbers(rt, leaf, rt->kept.buffer.object != NULL, at);
    if (b && kept && rt->kept.calls == 0)
        b->argument = true;
    else if (kept && !rt->kept.changed)
        *kept = dp_block_retain(b);
    return b;
}

void dp_upload_args(DpRt *rt, const DpEntry *entry, const DpLeaf *leaves, DpArg *args)
{
    KeptArgs *k = &rt->kept;
    ProfilePhase before = dp_profile_switch(rt, PHASE_UPLOAD);
    uint64_t at = 0;
    for (uint32_t i = 0; i < entry->nargs; i++) {
        if (leaves[i].rank)
            args[i].arr =
                dp_arr_over(rt, &leaves[i], upload_numbers(rt, &leaves[i], k->blocks ? &k->blocks[i] : NULL, at));
        else
            args[i].bits = dp_scalar_load(leaves[i].scalar, leaves[i].data, 0);
        at += kept_bytes(&leaves[i]);
    }
    k->calls++;
    dp_profile_switch(rt, before);
    dp_check(rt);
}

static void keep_in_buffer(DpRt *rt, const DpEntry *entry, const DpLeaf *leaves, uint64_t all)
{
    const DpBackend *backend = rt->device->backend;
    if (backend->buffer_create(rt->device, all, &rt->kept.buffer) != DEVICE_OK)
        return;
    uint64_t at = 0;
    for (uint32_t i = 0; i < entry->nargs; i++) {
        const uint64_t bytes = numbers_bytes(&leaves[i]);
        if (bytes && !dp_failed(rt))
            dp_rt_check_device(rt, backend->write(rt->device, &rt->kept.buffer, at, bytes, leaves[i].data));
        at += kept_bytes(&leaves[i]);
    }
}

/* Not where they take much of the memory, which the heap may need. */
void dp_keep_args(DpRt *rt, const DpEntry *entry, const DpLeaf *leaves)
{
    enum { MOST_PART = 16 };
    const uint64_t memory = rt->device->facts.memory, limit = rt->memory_limit;
    uint64_t all = 0;
    for (uint32_t i = 0; i < entry->nargs; i++)
        all = dp_size_add(all, kept_bytes(&leaves[i]));
    if (!all || all > (limit && limit < memory ? limit : memory) / MOST_PART || dp_failed(rt))
        return;
    rt->kept = (KeptArgs){.n = entry->nargs};
    if (rt->device->facts.shares_memory)
        rt->kept.blocks = calloc(entry->nargs, sizeof *rt->kept.blocks);
    else
        keep_in_buffer(rt, entry, leaves, all);
}

void dp_argument_changes(DpRt *rt, const DpBlock *b) { rt->kept.changed = rt->kept.changed || b->argument; }

void dp_forget_args(DpRt *rt)
{
    KeptArgs *k = &rt->kept;
    for (uint32_t i = 0; k->blocks && i < k->n; i++)
        dp_block_release(rt, k->blocks[i]);
    free(k->blocks);
    if (k->buffer.object)
        rt->device->backend->buffer_release(rt->device, &k->buffer);
    *k = (KeptArgs){.n = 0};
}

/* A run begins when what uploads leave behind is over: the device is idle, and what launches and read-backs need is at
 * hand again on the host (behind 400 MB a run's first ones took 20 us more on an H200). */
void dp_settle(DpRt *rt)
{
    enum { SWEPT_LEAST = 64 << 20, SWEPT_MOST = 256 << 20 }; /* bytes: more than caches have */
    const DpBackend *backend = rt->device->backend;
    const DpBuffer *buffer = &rt->kept.buffer;
    const uint64_t kept = buffer->object ? buffer->bytes : 0;
    uint64_t word;
    /* What copying has left in the caches would be written back meanwhile, as slowly as it is read. */
    if (kept >= SWEPT_LEAST && !dp_failed(rt))
        dp_rt_check_device(rt, backend->sweep(rt->device, &rt->heap.buffer, DP_MAILBOX, buffer,
                                              kept < SWEPT_MOST ? kept : SWEPT_MOST));
    for (uint32_t k = 0; k < 2 && !rt->device->facts.shares_memory && !dp_failed(rt); k++) {
        dp_rt_check_device(rt, dp_mailbox_touch(rt));
        if (!dp_failed(rt))
            dp_rt_check_device(rt, backend->read(rt->device, &rt->heap.buffer, DP_MAILBOX, 8, &word));
    }
    if (!dp_failed(rt))
        dp_rt_check_device(rt, backend->finish(rt->device));
}
