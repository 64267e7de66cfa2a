/* The heap's buffer: how large it may get, how it is made, how it grows.
 *
 * It begins small and at least doubles whenever a block does not fit: a larger buffer is made, the contents are copied,
 * the old one is released. Addresses are offsets, so they stay; kernels get the buffer at each launch. Where memory is
 * only taken when touched (a CPU device over our own pages, no limit on the address space) it begins as large as it may
 * get, and never grows. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>

#define HEAP_FIRST_BYTES (UINT64_C(256) << 20)
#define HEAP_FIRST_LEAST (UINT64_C(1) << 20) /* less is not worth beginning with */
#define HEAP_MAX_BYTES (UINT64_C(1) << 39)   /* what size classes reach */
enum { DP_HEAP_LEAST = 4096 };
enum { GROWTH_STEPS = 4 };

/* ---- limits ---- */
static uint64_t rounded_down(uint64_t bytes) { return bytes / DP_BLOCK_ALIGN * DP_BLOCK_ALIGN; }

/* An environment variable in bytes, if it says a size below `otherwise`. */
static uint64_t test_size(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    uint64_t bytes = text ? strtoull(text, NULL, 10) : 0;
    return bytes >= DP_HEAP_LEAST && bytes < otherwise ? bytes : otherwise;
}

static void find_limits(DpRt *rt)
{
    Heap *h = &rt->heap;
    uint64_t all = rt->device->facts.memory / 10 * 8;
    if (rt->memory_limit && rt->memory_limit < all)
        all = rt->memory_limit < DP_HEAP_LEAST ? DP_HEAP_LEAST : rt->memory_limit;
    h->limit = rounded_down(test_size("DP_HEAP", all < HEAP_MAX_BYTES ? all : HEAP_MAX_BYTES));
}

static uint64_t first_size(const DpRt *rt)
{
    const Heap *h = &rt->heap;
    bool lazy = rt->device->facts.shares_memory && dp_address_space_left() == UINT64_MAX;
    uint64_t first = lazy || h->limit < HEAP_FIRST_BYTES ? h->limit : HEAP_FIRST_BYTES;
    return rounded_down(test_size("DP_HEAP_START", first));
}

/* ---- making one ---- */
/* What the device and the host need of a limited address space is left to them. */
static bool leaves_space(const DpRt *rt, uint64_t bytes)
{
    uint64_t left = rt->device->facts.shares_memory ? dp_address_space_left() : UINT64_MAX;
    return left >= SPACE_BESIDE_HEAP && bytes <= left - SPACE_BESIDE_HEAP;
}

/* A buffer that begins with the contents of the heap's, if there is one, else with zeros. Devices may grant memory only
 * to refuse it at its first use, so the buffer counts once it has been written. */
static DpDeviceStatus make_buffer(const DpRt *rt, uint64_t bytes, uint64_t contents, DpBuffer *b)
{
    static const unsigned char zeros[DP_HEAP_START];
    const DpBuffer *old = &rt->heap.buffer;
    DpDevice *d = rt->device;
    if (!leaves_space(rt, bytes)) {
        snprintf(d->error, sizeof d->error, "no address space");
        return DEVICE_FAILED;
    }
    DpDeviceStatus done = d->backend->buffer_create(d, bytes, b);
    if (done)
        return done;
    done = old->object ? d->backend->copy(d, old, 0, b, 0, contents) : d->backend->write(d, b, 0, sizeof zeros, zeros);
    done = done || !old->object ? done : d->backend->finish(d);
    if (done)
        d->backend->buffer_release(d, b);
    return done;
}

static void take_buffer(DpRt *rt, DpBuffer b)
{
    if (rt->heap.buffer.object)
        rt->device->backend->buffer_release(rt->device, &rt->heap.buffer);
    rt->heap.buffer = b;
    rt->heap.number = 0;
}
static const DpBuffer no_buffer = {NULL, NULL, 0};

/* From `most` down to `least` in some steps: other processes may have the rest, and both buffers have to fit for a
 * moment. */
static DpDeviceStatus take_largest(DpRt *rt, uint64_t least, uint64_t most, uint64_t contents)
{
    Heap *h = &rt->heap;
    const uint64_t largest = rt->device->facts.largest_buffer;
    DpDeviceStatus done = DEVICE_FAILED;
    for (int step = 0; step < GROWTH_STEPS && done;) {
        uint64_t bytes = step + 1 < GROWTH_STEPS ? rounded_down(least + ((most - least) >> 2 * step)) : least;
        DpBuffer b;
        done = make_buffer(rt, bytes, contents, &b);
        if (!done)
            take_buffer(rt, b);
        else if (done == DEVICE_TOO_LARGE && largest < bytes && largest >= least)
            h->limit = most = rounded_down(largest); /* a device that keeps to what it says */
        else
            step++;
    }
    return done;
}

/* ---- growing where the device has no room for both ---- */
/* What the machine can give without pushing others out; nobody knows: all of it. */
static uint64_t host_memory_left(void)
{
    unsigned long long kilobytes = 0;
    char line[128];
    bool found = false;
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && !found && fgets(line, sizeof line, f))
        found = sscanf(line, "MemAvailable: %llu", &kilobytes) == 1;
    if (f)
        fclose(f);
    return found ? kilobytes << 10 : UINT64_MAX;
}

/* The contents wait on the host, while the old buffer is given back and a new one is made: slower than a copy on the
 * device, but the heap may have nearly all of the device. */
static DpDeviceStatus grow_through_host(DpRt *rt, uint64_t least, uint64_t most, uint64_t contents)
{
    Heap *h = &rt->heap;
    DpDevice *d = rt->device;
    const uint64_t old = h->buffer.bytes;
    void *copy = contents < host_memory_left() ? malloc(contents) : NULL;
    if (!copy)
        return DEVICE_FAILED;
    DpDeviceStatus done = d->backend->read(d, &h->buffer, 0, contents, copy);
    if (done) {
        free(copy);
        return done;
    }
    take_buffer(rt, no_buffer);
    done = take_largest(rt, least, most, 0);
    DpDeviceStatus kept = done ? take_largest(rt, old, old, 0) : done;
    if (!kept)
        kept = d->backend->write(d, &h->buffer, 0, contents, copy);
    free(copy);
    if (kept)
        dp_rt_fail(rt, EXIT_MEMORY, "out of memory: while the heap grew, the device gave it to others: %s", d->error);
    return done;
}

/* ---- what heap.c calls ---- */
bool dp_buffer_open(DpRt *rt, DpOpenError *error)
{
    find_limits(rt);
    if (rt->heap.limit < DP_HEAP_LEAST)
        return dp_open_fails(error, EXIT_DEVICE, "the device does not say how much memory it has");
    uint64_t first = first_size(rt), least = first < HEAP_FIRST_LEAST ? first : HEAP_FIRST_LEAST;
    if (take_largest(rt, least, first, 0) == DEVICE_OK)
        return true;
    char size[32];
    dp_size_print(size, sizeof size, least);
    return dp_open_fails(error, EXIT_MEMORY, "out of memory: the device does not grant %s: %s", size,
                         rt->device->error);
}

bool dp_buffer_grow(DpRt *rt, uint64_t least, uint64_t contents)
{
    Heap *h = &rt->heap;
    uint64_t most = 2 * h->buffer.bytes > least ? 2 * h->buffer.bytes : least;
    if (most > h->limit)
        most = h->limit;
    bool grown = least <= most && take_largest(rt, least, most, contents) == DEVICE_OK;
    if (!grown && least <= most && !rt->device->facts.shares_memory)
        grown = grow_through_host(rt, least, most, contents) == DEVICE_OK;
    h->refused = !grown && least <= h->limit;
    dp_mailbox_place(rt);
    return grown;
}

void dp_buffer_close(DpRt *rt) { take_buffer(rt, no_buffer); }
