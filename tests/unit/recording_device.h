/* A second back end (runtime/device.h), for tests: it counts the calls, lets the k-th fail, keeps the names of the
 * kernels that are launched, and counts what has been made and not given back. Behind it stands OpenCL, or, for a
 * hollow device, nothing: its memory is as large as is wished and holds what the host writes, and kernels do nothing.
 */
#ifndef RECORDING_DEVICE_H
#define RECORDING_DEVICE_H

#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "../../runtime/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { RECORDED_LAUNCHES = 64 };
static struct Recording {
    bool counting, sticky;
    long calls, at; /* 0: none fails; sticky: all from that one on */
    long objects;   /* made and not given back */
    long reads;
    uint64_t hollow_bytes; /* of memory; 0: OpenCL stands behind it */
    uint32_t nlaunches, ncalls;
    const char *launched[RECORDED_LAUNCHES]; /* the last ones, by their number modulo RECORDED_LAUNCHES; hollow only */
} recording;

typedef struct Recorder {
    DpDevice device; /* first */
    DpDevice *real;  /* or NULL */
} Recorder;

static bool recording_fails(void)
{
    if (!recording.counting)
        return false;
    recording.calls++;
    return recording.at && (recording.sticky ? recording.calls >= recording.at : recording.calls == recording.at);
}

/* What the real device did, or would have done, with its words. */
static DpDeviceStatus recorded(DpDevice *d, DpDeviceStatus done, const char *call)
{
    const DpDevice *real = ((Recorder *)d)->real;
    if (done == DEVICE_FAILED && !(real && *real->error))
        snprintf(d->error, sizeof d->error, "a failure in %s", call);
    else if (done && real)
        memcpy(d->error, real->error, sizeof d->error);
    return done;
}

/* An object that was made, or NULL. */
static void *recorded_object(DpDevice *d, void *made, const char *call)
{
    recording.objects += made != NULL;
    if (!made)
        recorded(d, DEVICE_FAILED, call);
    return made;
}
#define REAL(d) (((Recorder *)(d))->real)
/* The status of a call of the real one, unless it is to fail or there is none. */
#define PASS(d, name, ...)                                                                                             \
    recorded((d), recording_fails() ? DEVICE_FAILED : REAL(d) ? dp_opencl.name(REAL(d), __VA_ARGS__) : DEVICE_OK, #name)

extern const DpBackend recording_backend;

static uint32_t recording_list(DpDeviceEntry *to, uint32_t room)
{
    uint32_t n = 1;
    if (recording_fails())
        return 0;
    if (recording.hollow_bytes)
        *to = (DpDeviceEntry){.kind = DEVICE_CPU, .platform = "tests", .name = "hollow"};
    else
        n = dp_opencl.list(to, room);
    for (uint32_t i = 0; i < n && i < room; i++)
        to[i].backend = &recording_backend;
    return n;
}

static DpDevice *recording_open(const DpDeviceEntry *e, bool timed, char error[96])
{
    snprintf(error, 96, "a failure in open");
    Recorder *r = recording_fails() ? NULL : calloc(1, sizeof *r);
    if (r && !recording.hollow_bytes)
        r->real = dp_opencl.open(e, timed, error);
    if (!r || (!r->real && !recording.hollow_bytes)) {
        free(r);
        return NULL;
    }
    recording.objects++;
    if (r->real)
        r->device.facts = r->real->facts;
    else
        r->device.facts = (DpDeviceFacts){.identity = "hollow",
                                          .kind = DEVICE_CPU,
                                          .units = 2,
                                          .memory = recording.hollow_bytes,
                                          .largest_buffer = recording.hollow_bytes,
                                          .argument_bytes = 1024,
                                          .shares_memory = true,
                                          .keeps_built = true};
    r->device.backend = &recording_backend;
    return &r->device;
}

static void recording_close(DpDevice *d)
{
    if (REAL(d))
        dp_opencl.close(REAL(d));
    recording.objects--;
    free(d);
}

static DpDeviceStatus recording_finish(DpDevice *d)
{
    return recorded(d, recording_fails() ? DEVICE_FAILED : REAL(d) ? dp_opencl.finish(REAL(d)) : DEVICE_OK, "finish");
}

static DpDeviceStatus recording_buffer_create(DpDevice *d, uint64_t bytes, DpBuffer *made)
{
    DpDeviceStatus done = PASS(d, buffer_create, bytes, made);
    if (!done && !REAL(d)) {
        void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        *made = p == MAP_FAILED ? (DpBuffer){NULL, NULL, 0} : (DpBuffer){p, p, bytes};
        done = recorded(d, p == MAP_FAILED ? DEVICE_FAILED : DEVICE_OK, "mmap");
    }
    recording.objects += done == DEVICE_OK;
    return done;
}

static void recording_buffer_release(DpDevice *d, DpBuffer *b)
{
    recording.objects--;
    if (REAL(d))
        dp_opencl.buffer_release(REAL(d), b);
    else
        munmap(b->memory, b->bytes);
    *b = (DpBuffer){NULL, NULL, 0};
}

static DpDeviceStatus recording_fill(DpDevice *d, const DpBuffer *b, uint64_t at, uint64_t bytes, unsigned char with)
{
    return PASS(d, fill, b, at, bytes, with);
}

static DpDeviceStatus recording_copy(DpDevice *d, const DpBuffer *from, uint64_t at, const DpBuffer *to, uint64_t to_at,
                                     uint64_t bytes)
{
    DpDeviceStatus done = PASS(d, copy, from, at, to, to_at, bytes);
    if (!done && !REAL(d))
        memcpy((char *)to->memory + to_at, (const char *)from->memory + at, bytes);
    return done;
}

static DpDeviceStatus recording_read(DpDevice *d, const DpBuffer *b, uint64_t at, uint64_t bytes, void *to)
{
    recording.reads++;
    DpDeviceStatus done = PASS(d, read, b, at, bytes, to);
    if (!done && !REAL(d))
        memcpy(to, (const char *)b->memory + at, bytes);
    return done;
}

static DpDeviceStatus recording_write(DpDevice *d, const DpBuffer *b, uint64_t at, uint64_t bytes, const void *from)
{
    DpDeviceStatus done = PASS(d, write, b, at, bytes, from);
    if (!done && !REAL(d))
        memcpy((char *)b->memory + at, from, bytes);
    return done;
}

/* A hollow device's programs and kernels are what they are asked by: itself, and the kernel's name. */
static DpDeviceProgram *recording_build(DpDevice *d, const DpBuild *build, char **log)
{
    *log = NULL;
    void *made = recording_fails() ? NULL : REAL(d) ? (void *)dp_opencl.build(REAL(d), build, log) : (void *)d;
    return recorded_object(d, made, "build");
}

static DpDeviceProgram *recording_load(DpDevice *d, const DpBuild *as, const unsigned char *binary, size_t n)
{
    return recorded_object(d, recording_fails() || !REAL(d) ? NULL : (void *)dp_opencl.load(REAL(d), as, binary, n),
                           "load");
}

static unsigned char *recording_binary(DpDevice *d, DpDeviceProgram *p, size_t *n)
{
    return recording_fails() || !REAL(d) ? NULL : dp_opencl.binary(REAL(d), p, n);
}

static void recording_program_release(DpDevice *d, DpDeviceProgram *p)
{
    recording.objects--;
    if (REAL(d))
        dp_opencl.program_release(REAL(d), p);
}

static DpDeviceKernel *recording_kernel(DpDevice *d, DpDeviceProgram *p, const char *name)
{
    void *made = recording_fails() ? NULL : REAL(d) ? (void *)dp_opencl.kernel(REAL(d), p, name) : strdup(name);
    return recorded_object(d, made, "kernel");
}

static void recording_kernel_release(DpDevice *d, DpDeviceKernel *k)
{
    recording.objects -= k != NULL;
    if (REAL(d))
        dp_opencl.kernel_release(REAL(d), k);
    else
        free(k);
}

static DpDeviceStatus recording_launch(DpDevice *d, DpDeviceKernel *k, const DpLaunch *launch, DpLaunchTimes *times)
{
    if (!REAL(d))
        recording.launched[recording.nlaunches % RECORDED_LAUNCHES] = (const char *)k;
    recording.nlaunches++;
    return PASS(d, launch, k, launch, times);
}

static bool recording_call(DpDevice *d, DpDeviceKernel *k, const DpLaunch *launch)
{
    const bool called = REAL(d) && dp_opencl.call(REAL(d), k, launch);
    recording.ncalls += called;
    return called;
}

const DpBackend recording_backend = {
    .list = recording_list,
    .open = recording_open,
    .close = recording_close,
    .finish = recording_finish,
    .buffer_create = recording_buffer_create,
    .host_buffer_create = recording_buffer_create,
    .buffer_release = recording_buffer_release,
    .fill = recording_fill,
    .copy = recording_copy,
    .read = recording_read,
    .write = recording_write,
    .build = recording_build,
    .load = recording_load,
    .binary = recording_binary,
    .program_release = recording_program_release,
    .kernel = recording_kernel,
    .kernel_release = recording_kernel_release,
    .launch = recording_launch,
    .call = recording_call,
};

#endif
