/* Which device of which back end: --device NAME (part of its name) or #K (number in the list), --platform NAME, else
 * DP_DEVICE, else the first GPU, else the first CPU. */
#include "internal.h"
#include "dp_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 64 };
static const DpBackend *const backends[] = {&dp_opencl};

/* Of one back end, or of all. */
static uint32_t find_devices(const DpBackend *only, DpDeviceEntry *found)
{
    uint32_t n = 0;
    if (only)
        return only->list(found, MAX_DEVICES);
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++)
        n += backends[i]->list(found + n, MAX_DEVICES - n);
    return n;
}

static const char dp_device_none[] =
    "no OpenCL device; for the CPU install PoCL (Debian, Ubuntu: apt install pocl-opencl-icd), "
    "or run without one: dpc run --eval=core";

bool dp_device_list(FILE *out, const char **why)
{
    static const char *const kinds[] = {[DEVICE_GPU] = "GPU", [DEVICE_CPU] = "CPU", [DEVICE_OTHER] = "accelerator"};
    DpDeviceEntry found[MAX_DEVICES];
    uint32_t n = find_devices(NULL, found);
    *why = n == 0 ? dp_device_none : NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (found[i].silent)
            *why = "a device does not say what it is";
        else
            fprintf(out, "#%u %s: %s (%s)\n", i, found[i].platform, found[i].name, kinds[found[i].kind]);
    }
    return !*why;
}

/* Is `part` somewhere in `text`, whatever the case? */
static bool contains(const char *text, const char *part)
{
    size_t n = strlen(part);
    for (; strlen(text) >= n; text++) {
        size_t i = 0;
        while (i < n && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
            i++;
        if (i == n)
            return true;
    }
    return false;
}

/* kind: DEVICE_OTHER stands for any. */
static const DpDeviceEntry *pick(const DpDeviceEntry *found, uint32_t n, const DpOpenOptions *options,
                                 DpDeviceKind kind)
{
    const char *device = options->device ? options->device : getenv("DP_DEVICE");
    uint64_t number = 0;
    bool by_number = device && (device[0] == '#' || (dp_parse_count(device, n, &number) && number < n));
    if (by_number && device[0] == '#' && !dp_parse_count(device + 1, n, &number))
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        const DpDeviceEntry *e = &found[i];
        if (e->silent || (options->platform && !contains(e->platform, options->platform)))
            continue;
        if (by_number ? i != number : device && !contains(e->name, device))
            continue;
        if (kind == DEVICE_OTHER || e->kind == kind)
            return e;
    }
    return NULL;
}

/* DP_SHAPE: for tests of the other shape. */
static bool takes_gpu_shape(const DpDevice *d)
{
    const char *shape = getenv("DP_SHAPE");
    if (shape && strcmp(shape, "gpu") == 0)
        return true;
    return d->facts.kind != DEVICE_CPU && !(shape && strcmp(shape, "cpu") == 0);
}

static bool choose(const DpOpenOptions *options, DpDeviceEntry *chosen, DpOpenError *error)
{
    DpDeviceEntry found[MAX_DEVICES];
    uint32_t n = find_devices(options->backend, found);
    const DpDeviceEntry *e = NULL;
    for (int kind = DEVICE_GPU; kind <= DEVICE_OTHER && !e; kind++)
        e = pick(found, n, options, (DpDeviceKind)kind);
    if (!e)
        return dp_open_fails(error, EXIT_DEVICE, "%s",
                             n == 0 ? dp_device_none : "no such device; --list-devices shows them");
    *chosen = *e;
    return true;
}

/* The one that a caller's queue is of. */
static bool choose_of_queue(const DpOpenOptions *options, DpDeviceEntry *chosen, DpOpenError *error)
{
    const DpBackend *backend = options->backend ? options->backend : &dp_opencl;
    char why[96];
    return backend->of_queue(options->queue, chosen, why) ||
           dp_open_fails(error, EXIT_USAGE, "the queue cannot be used: %s", why);
}

/* DP_SPACES=apart: for tests of devices that reach no other buffer from the heap. DP_SPACES=posts: of those that write
 * to the host's memory, where that is the device's, too. */
static void choose_spaces(DpDeviceFacts *f)
{
    const char *spaces = getenv("DP_SPACES");
    f->one_space = f->one_space && !(spaces && strcmp(spaces, "apart") == 0);
    f->posts = f->one_space && (f->posts || (f->shares_memory && spaces && strcmp(spaces, "posts") == 0));
}

bool dp_device_open(DpRt *rt, const DpOpenOptions *options, DpOpenError *error)
{
    DpDeviceEntry entry, *e = &entry;
    char why[96];
    if (!(options->queue ? choose_of_queue(options, e, error) : choose(options, e, error)))
        return false;
    rt->device = e->backend->open(e, options->profile, why);
    if (!rt->device && !*why)
        return dp_open_fails(error, EXIT_MEMORY, "out of memory");
    if (!rt->device)
        return dp_open_fails(error, EXIT_DEVICE, "the device cannot be opened: %s", why);
    rt->gpu = takes_gpu_shape(rt->device);
    choose_spaces(&rt->device->facts);
    return true;
}
