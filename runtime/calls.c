/* Launches of little work: whether the host executes them itself, instead of handing them to threads of the device
 * (device_pocl.h), is decided by what they took when it did so before.
 *
 * A thread of the device takes 2 to 4 us to begin, in which a core goes through thousands of elements. So where nothing
 * is under way, the host does itself what takes less than `call-us`. Where something is, what comes next joins it; only
 * when some in a row have been small the host waits, and goes on by itself. */
#include "internal.h"

#include <time.h>

enum {
    IN_A_ROW = 8, /* small launches before the host waits for what is under way */
    TRIES = 3,    /* calls by which it is known what a kernel takes */
    BASE = 64,    /* elements that take as long as a call of none */
    NS_IN_US = 1000,
    STATEMENTS = 32 /* in a ns, by vectors */
};
static const double NOT_KNOWN = 1e12, MORE = 1.25, LESS = 0.98;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Before it was called a few times, of which the first one waits for pages: as long as the fastest code takes, so that
 * it is tried. What goes by one core anyway may be tried, too. Of loops nobody knows. */
static double expected_ns(const CallTimes *times, const CallWork *work)
{
    if (times->calls >= TRIES)
        return times->each_ns * (double)(work->elements + BASE);
    return work->groups == 1 ? 0 : work->cost > 0 ? (double)(work->elements * work->cost) / STATEMENTS : NOT_KNOWN;
}

/* ---- stretches ---- */
static void stretch_begins(DpRt *rt, CallTimes *first)
{
    const double most = (double)dp_param(rt, PARAM_CALL_STRETCH_US) * NS_IN_US;
    rt->stretch = (Stretch){first, 0, first->stretch_ns > 0 && first->stretch_ns <= most};
}

void dp_stretch_ends(DpRt *rt)
{
    if (rt->stretch.first)
        rt->stretch.first->stretch_ns = rt->stretch.ns;
    rt->stretch.first = NULL;
}

/* What was too long is forgotten little by little, as something else may have kept the core busy. */
static bool is_small(DpRt *rt, CallTimes *times, const CallWork *work)
{
    if (!rt->stretch.first)
        stretch_begins(rt, times);
    const double expected = expected_ns(times, work);
    const uint64_t alone = dp_param(rt, PARAM_CALL_US),
                   all = rt->stretch.by_host ? dp_param(rt, PARAM_CALL_STRETCH_US) : 0;
    const bool small = alone > 0 && expected <= (double)(alone > all ? alone : all) * NS_IN_US;
    rt->stretch.ns += expected;
    times->each_ns *= small ? 1 : LESS;
    return small;
}

/* At times it is not this thread's turn: one call that takes longer than others says little, two in a row say all. */
static void remember(CallTimes *times, const CallWork *work, double ns)
{
    const double each = ns / (double)(work->elements + BASE), most = times->each_ns * MORE;
    const bool longer = times->calls > 1 && each > most;
    times->each_ns = longer && !times->longer ? most : each;
    times->longer = longer;
    times->calls++;
}

static bool timed_call(DpRt *rt, CallTimes *times, const CallWork *work, DpDeviceKernel *kernel, const DpLaunch *launch)
{
    const double began = now_ns();
    const bool called = rt->device->backend->call(rt->device, kernel, launch);
    if (called)
        remember(times, work, now_ns() - began);
    return called;
}

bool dp_call(DpRt *rt, CallTimes *times, const CallWork *work, DpDeviceKernel *kernel, const DpLaunch *launch)
{
    const bool small = rt->device->facts.calls && !rt->profile.on && is_small(rt, times, work);
    rt->small_launches = small ? rt->small_launches + 1 : 0;
    if (!small || timed_call(rt, times, work, kernel, launch))
        return small;
    if (rt->small_launches <= IN_A_ROW)
        return false;
    rt->small_launches = 0;
    dp_stretch_ends(rt);
    dp_rt_check_device(rt, rt->device->backend->finish(rt->device));
    return !dp_failed(rt) && timed_call(rt, times, work, kernel, launch);
}
