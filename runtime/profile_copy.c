/* What a device's memory gives at most: how fast a copy goes that is too long for caches. By the driver's own copy and
 * by a kernel, whichever is faster: on a CPU the former has one thread. */
#include "internal.h"

enum { COPIES = 4, ROUNDS = 3 };
#define SHARED_BYTES (UINT64_C(128) << 20) /* where buffers are the host's memory: zeros to be touched first */
#define DEVICE_BYTES (UINT64_C(256) << 20)
#define LEAST_BYTES (UINT64_C(8) << 20)

typedef struct CopyTest {
    DpRt *rt;
    DpBuffer buffer; /* both places, side by side */
    uint64_t bytes;
    Kernel *kernel; /* NULL: the driver copies */
} CopyTest;

static bool make_buffer(CopyTest *t)
{
    const DpBackend *backend = t->rt->device->backend;
    t->bytes = t->rt->device->facts.shares_memory ? SHARED_BYTES : DEVICE_BYTES;
    for (; t->bytes >= LEAST_BYTES; t->bytes /= 2)
        if (backend->buffer_create(t->rt->device, 2 * t->bytes, &t->buffer) == DEVICE_OK)
            return backend->fill(t->rt->device, &t->buffer, 0, 2 * t->bytes, 1) == DEVICE_OK;
    return false;
}

static DpDeviceStatus copy_once(const CopyTest *t)
{
    DpDevice *d = t->rt->device;
    const uint64_t n = t->bytes / 16;
    const Args args = {.n = 3, .at = {n, t->bytes, 0}};
    return t->kernel ? dp_rt_launch_on(t->rt, &t->buffer, t->kernel, 2, dp_rt_map_groups(t->rt, n), &args)
                     : d->backend->copy(d, &t->buffer, 0, &t->buffer, t->bytes, t->bytes);
}

/* Several at once, so that asking and waiting for them does not count; microseconds of one, or 0. */
static double time_copies(const CopyTest *t)
{
    const DpBackend *backend = t->rt->device->backend;
    const double start = dp_profile_now();
    DpDeviceStatus done = DEVICE_OK;
    for (uint32_t i = 0; i < COPIES && !done; i++)
        done = copy_once(t);
    done = done ? done : backend->finish(t->rt->device);
    return done ? 0 : (dp_profile_now() - start) / COPIES;
}

/* Read and written; the best of some, behind one that does not count. */
static double speed(const CopyTest *t)
{
    double best = 0;
    for (uint32_t i = 0; i <= ROUNDS; i++) {
        const double us = time_copies(t), now = us > 0 ? 2e-3 * (double)t->bytes / us : 0;
        if (i > 0 && now > best)
            best = now;
    }
    return best;
}

double dp_profile_copy(DpRt *rt, uint64_t *bytes)
{
    CopyTest t = {.rt = rt};
    double best = 0;
    *bytes = 0;
    if (dp_failed(rt))
        return 0;
    if (make_buffer(&t)) {
        best = speed(&t);
        t.kernel = dp_rt_own_kernel(rt, OWN_MOVE, "dp_copy");
        const double by_kernel = t.kernel ? speed(&t) : 0;
        best = by_kernel > best ? by_kernel : best;
        *bytes = t.bytes;
    }
    rt->device->backend->buffer_release(rt->device, &t.buffer);
    if (dp_failed(rt)) /* the run itself has not */
        dp_clear_failure(rt);
    return best;
}
