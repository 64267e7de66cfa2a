/* What kernels tell the host: whether something has failed, and numbers.
 *
 * Both lie in the heap's first bytes, which one read brings. Where the device also writes to the host's memory
 * (facts.posts), a second mailbox is there, laid out like these bytes: kernels post numbers there (dp_args_posted), and
 * in its first word that something has failed; the host waits until kernels have come to an end and looks, which takes
 * 5 to 14 us less than a read on an H200. The record of a failure stays in the heap, as which one is the first is
 * decided by an atomic; so do the first DP_OWN_WORDS words, which some kernels read themselves. */
#include "internal.h"

#include <string.h>

/* ---- the host's own ---- */
/* Where the host's mailbox is for kernels: as far from the heap as a kernel says it is, if what a second one then
 * writes there arrives. Else the heap's is all. */
void dp_mailbox_place(DpRt *rt)
{
    DpDevice *d = rt->device;
    const DpBackend *backend = d->backend;
    const DpBuffer *heap = &rt->heap.buffer;
    Posted *m = &rt->mail.posted;
    uint64_t distance = 0;
    m->distance = 0;
    if (!m->buffer.object || !heap->object)
        return;
    volatile uint64_t *first = m->buffer.memory;
    bool placed = !backend->reach(d, heap, DP_POSTED, m->buffer.object) &&
                  !backend->read(d, heap, DP_POSTED, sizeof distance, &distance) &&
                  !backend->reach(d, heap, distance, m->buffer.object) && !backend->finish(d) && *first == distance;
    *first = 0;
    if (placed)
        m->distance = distance;
    else
        dp_rt_check_device(rt, backend->fill(d, heap, DP_POSTED, sizeof distance, 0));
}

void dp_mailbox_open(DpRt *rt)
{
    Posted *m = &rt->mail.posted;
    DpDevice *d = rt->device;
    if (!d->facts.posts || d->backend->host_buffer_create(d, DP_LOOK_BYTES, &m->buffer) != DEVICE_OK)
        return;
    memset(m->buffer.memory, 0, DP_LOOK_BYTES);
    dp_mailbox_place(rt);
}

void dp_mailbox_close(DpRt *rt)
{
    if (rt->mail.posted.buffer.object)
        rt->device->backend->buffer_release(rt->device, &rt->mail.posted.buffer);
}

void dp_args_posted(Args *a, uint64_t address)
{
    if (address && address < DP_LOOK_BYTES)
        a->posted[a->nposted++] = a->n;
    dp_args_add(a, address);
}

void dp_args_place(const DpRt *rt, Args *a)
{
    for (uint32_t i = 0; i < a->nposted; i++)
        if (a->posted[i] < MAX_ARGS)
            a->at[a->posted[i]] += rt->mail.posted.distance;
}

DpDeviceStatus dp_mailbox_touch(DpRt *rt)
{
    const DpBackend *backend = rt->device->backend;
    void *object = rt->mail.posted.buffer.object;
    return object ? backend->reach(rt->device, &rt->heap.buffer, DP_MAILBOX, object)
                  : backend->fill(rt->device, &rt->heap.buffer, DP_MAILBOX, 8, 0);
}

DpDeviceStatus dp_mailbox_clear_record(DpRt *rt)
{
    const unsigned char zeros[DP_POSTED] = {0};
    if (rt->mail.posted.buffer.memory)
        *(volatile uint64_t *)rt->mail.posted.buffer.memory = 0;
    return rt->device->backend->write(rt->device, &rt->heap.buffer, 0, sizeof zeros, zeros);
}

/* ---- looking ---- */
static DpDeviceStatus read_heap(DpRt *rt, uint64_t bytes)
{
    return rt->device->backend->read(rt->device, &rt->heap.buffer, 0, bytes, rt->look);
}

/* into rt->look */
static DpDeviceStatus bring(DpRt *rt, bool from_heap)
{
    const Posted *m = &rt->mail.posted;
    const uint64_t own = from_heap ? DP_MAILBOX + 8 * (uint64_t)DP_OWN_WORDS : DP_MAILBOX;
    if (!m->distance)
        return read_heap(rt, sizeof rt->look);
    DpDeviceStatus done = from_heap ? read_heap(rt, own) : rt->device->backend->finish(rt->device);
    const volatile uint64_t *posted = m->buffer.memory;
    if (!done && !from_heap && posted[0])
        done = read_heap(rt, DP_POSTED);
    for (uint64_t i = own / 8; i < sizeof rt->look / 8; i++)
        rt->look[i] = posted[i];
    return done;
}

static const uint64_t *look(DpRt *rt, bool from_heap)
{
    if (!rt->starts.checked)
        dp_starts_settle(rt);
    if (dp_failed(rt)) {
        dp_settle_packs(rt);
        return rt->look + DP_MAILBOX / 8;
    }
    ProfilePhase before = dp_profile_switch(rt, PHASE_LOOK);
    dp_profile_count(rt, PHASE_LOOK, sizeof rt->look);
    rt->profile.looks++;
    dp_stretch_ends(rt);
    dp_rt_check_device(rt, bring(rt, from_heap));
    rt->mail.arrived = rt->mail.begun;
    rt->unlooked = rt->runs = false;
    dp_profile_switch(rt, before);
    if (rt->compiling)
        dp_activity("running");
    rt->compiling = false;
    dp_rt_report(rt);
    dp_settle_packs(rt);
    return rt->look + DP_MAILBOX / 8;
}

const uint64_t *dp_rt_look(DpRt *rt) { return look(rt, false); }

const uint64_t *dp_rt_look_at_heap(DpRt *rt) { return look(rt, true); }

bool dp_rt_see(DpRt *rt)
{
    const bool looks = rt->unlooked || rt->unsettled.n;
    if (looks)
        dp_rt_look(rt);
    return looks;
}

/* Waiting takes less time than reading. */
void dp_check(DpRt *rt)
{
    dp_rt_see(rt);
    if (!rt->runs || dp_failed(rt))
        return;
    ProfilePhase before = dp_profile_switch(rt, PHASE_LOOK);
    dp_profile_count(rt, PHASE_LOOK, 0);
    rt->profile.looks++;
    dp_stretch_ends(rt);
    dp_rt_check_device(rt, rt->device->backend->finish(rt->device));
    rt->runs = false;
    dp_profile_switch(rt, before);
}
