/* OpenCL 1.2 as a back end: the one file that calls it.
 *
 * PoCL, the CPU's, is special in three ways, which the facts tell: it keeps built kernels itself, and asked for a
 * program's binary it first compiles all kernels once more, for any work-group size (half of a cold run); it compiles
 * a kernel when that first runs; and it reads 900 KB of declarations in front of every program. */
#define _DEFAULT_SOURCE /* madvise */
#define CL_TARGET_OPENCL_VERSION 120
#include "device.h"
#include "device_pocl.h"

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef struct Opened {
    DpDevice device; /* first */
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    bool under_way;         /* something that has not been waited for; where facts.calls */
    uint32_t skip, skipped; /* so many waits sleep at once; when looking last was in vain */
    cl_kernel distance;     /* of `reach`; NULL: not yet needed */
    cl_kernel sweep;        /* likewise */
    char options[64];       /* of all builds */
} Opened;

/* ---- failures ---- */
static const char *code_name(cl_int code)
{
    static const struct {
        cl_int code;
        const char *name;
    } names[] = {
        {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
        {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
        {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
        {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
        {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
        {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
        {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
        {CL_INVALID_VALUE, "CL_INVALID_VALUE"},
        {CL_INVALID_BINARY, "CL_INVALID_BINARY"},
        {CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS"},
        {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
        {CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX"},
        {CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
        {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
        {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
        {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
        {CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
        {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
        {-9999, "an illegal access"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].code == code)
            return names[i].name;
    return "an unknown code";
}

static DpDeviceStatus status(DpDevice *d, cl_int code, const char *call)
{
    if (code == CL_SUCCESS)
        return DEVICE_OK;
    snprintf(d->error, sizeof d->error, "%s in %s", code_name(code), call);
    return code == CL_INVALID_BUFFER_SIZE ? DEVICE_TOO_LARGE : DEVICE_FAILED;
}
#define CALL(d, function, ...) status((d), function(__VA_ARGS__), #function)

/* ---- which there are ---- */
/* One that does not even tell its name is none. */
static void describe(DpDeviceEntry *e, cl_platform_id platform, cl_device_id device)
{
    cl_device_type type = 0;
    *e = (DpDeviceEntry){.backend = &dp_opencl, .handles = {platform, device}};
    e->silent =
        clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof e->platform - 1, e->platform, NULL) != CL_SUCCESS ||
        !device || clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL) != CL_SUCCESS ||
        clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof e->name - 1, e->name, NULL) != CL_SUCCESS;
    e->kind = type & CL_DEVICE_TYPE_GPU ? DEVICE_GPU : type & CL_DEVICE_TYPE_CPU ? DEVICE_CPU : DEVICE_OTHER;
}

static uint32_t opencl_list(DpDeviceEntry *to, uint32_t room)
{
    enum { MOST = 16 };
    cl_platform_id platforms[MOST];
    cl_uint np = 0;
    uint32_t n = 0;
    if (clGetPlatformIDs(MOST, platforms, &np) != CL_SUCCESS)
        return 0;
    for (cl_uint p = 0; p < np && p < MOST; p++) {
        cl_device_id devices[MOST] = {NULL};
        cl_uint nd = 0;
        const cl_int code = clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST, devices, &nd);
        if (code == CL_DEVICE_NOT_FOUND)
            continue;
        if (code != CL_SUCCESS)
            nd = 1; /* nobody knows how many */
        for (cl_uint d = 0; d < nd && d < MOST && n < room; d++)
            describe(&to[n++], platforms[p], code == CL_SUCCESS ? devices[d] : NULL);
    }
    return n;
}

static bool opencl_of_queue(void *object, DpDeviceEntry *to, char error[96])
{
    cl_command_queue queue = object;
    cl_device_id device = NULL;
    cl_platform_id platform = NULL;
    cl_command_queue_properties properties = 0;
    snprintf(error, 96, "not a queue of OpenCL");
    if (clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) != CL_SUCCESS ||
        clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) != CL_SUCCESS ||
        clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL) != CL_SUCCESS)
        return false;
    snprintf(error, 96, "the queue's commands have to run in order");
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        return false;
    describe(to, platform, device);
    to->queue = queue;
    return true;
}

/* ---- opening ---- */
static uint64_t size_fact(const Opened *o, cl_device_info what)
{
    cl_ulong x = 0;
    clGetDeviceInfo(o->id, what, sizeof x, &x, NULL);
    return x;
}

static void find_facts(Opened *o, const DpDeviceEntry *e)
{
    DpDeviceFacts *f = &o->device.facts;
    const bool pocl = strcmp(e->platform, "Portable Computing Language") == 0;
    cl_uint units = 1;
    cl_bool unified = CL_FALSE;
    size_t argument_bytes = 0;
    char extensions[8192] = "", version[64] = "";
    clGetDeviceInfo(o->id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    clGetDeviceInfo(o->id, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL);
    clGetDeviceInfo(o->id, CL_DEVICE_MAX_PARAMETER_SIZE, sizeof argument_bytes, &argument_bytes, NULL);
    clGetDeviceInfo(o->id, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL);
    clGetDeviceInfo(o->id, CL_DRIVER_VERSION, sizeof version - 1, version, NULL);
    f->kind = e->kind;
    f->units = units;
    f->memory = size_fact(o, CL_DEVICE_GLOBAL_MEM_SIZE);
    f->largest_buffer = size_fact(o, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    f->argument_bytes = argument_bytes < 1024 ? 1024 : argument_bytes; /* what OpenCL guarantees */
    f->shares_memory = unified && e->kind == DEVICE_CPU;
    f->atomics64 = strstr(extensions, "cl_khr_int64_base_atomics") != NULL;
    f->one_space = pocl || strncmp(e->platform, "NVIDIA", 6) == 0;
    f->posts = f->one_space && strstr(extensions, "cl_nv_create_buffer") != NULL;
    f->straight_roots = f->adds_f64 = strncmp(e->platform, "NVIDIA", 6) == 0;
    f->dialect = pocl ? "#define DP_POCL 1\n" : f->straight_roots ? "#define DP_NVIDIA 1\n" : NULL;
    f->calls = pocl && !e->queue && f->shares_memory && dp_pocl_is_known(version);
    f->keeps_built = f->compiles_late = f->long_header = f->vectors = pocl;
}

static void identify(Opened *o, const DpDeviceEntry *e)
{
    char version[128] = "", driver[128] = "";
    cl_device_fp_config fp = 0;
    clGetDeviceInfo(o->id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof fp, &fp, NULL);
    clGetDeviceInfo(o->id, CL_DEVICE_VERSION, sizeof version - 1, version, NULL);
    clGetDeviceInfo(o->id, CL_DRIVER_VERSION, sizeof driver - 1, driver, NULL);
    snprintf(o->options, sizeof o->options, "-cl-std=CL1.2 -w%s",
             fp & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
    snprintf(o->device.facts.identity, sizeof o->device.facts.identity, "%.100s\n%.150s\n%.120s\n%.120s\n%s",
             e->platform, e->name, version, driver, o->options);
}

static void opencl_close(DpDevice *d)
{
    Opened *o = (Opened *)d;
    if (o->distance)
        clReleaseKernel(o->distance);
    if (o->sweep)
        clReleaseKernel(o->sweep);
    if (o->queue)
        clReleaseCommandQueue(o->queue);
    if (o->context)
        clReleaseContext(o->context);
    free(o);
}

static DpDeviceStatus make_queue(Opened *o, bool timed)
{
    cl_int code;
    o->context = clCreateContext(NULL, 1, &o->id, NULL, NULL, &code);
    DpDeviceStatus made = status(&o->device, code, "clCreateContext");
    if (made)
        return made;
    o->queue = clCreateCommandQueue(o->context, o->id, timed ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
    return status(&o->device, code, "clCreateCommandQueue");
}

static DpDeviceStatus take_queue(Opened *o, cl_command_queue queue)
{
    DpDevice *d = &o->device;
    cl_context context;
    DpDeviceStatus done = CALL(d, clGetCommandQueueInfo, queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    done = done ? done : CALL(d, clRetainContext, context);
    o->context = done ? NULL : context;
    done = done ? done : CALL(d, clRetainCommandQueue, queue);
    o->queue = done ? NULL : queue;
    return done;
}

static DpDevice *opencl_open(const DpDeviceEntry *e, bool timed, char error[96])
{
    Opened *o = calloc(1, sizeof *o);
    error[0] = 0;
    if (!o)
        return NULL;
    o->device.backend = &dp_opencl;
    o->id = e->handles[1];
    if (e->queue ? take_queue(o, e->queue) : make_queue(o, timed)) {
        snprintf(error, 96, "%s", o->device.error);
        opencl_close(&o->device);
        return NULL;
    }
    find_facts(o, e);
    identify(o, e);
    return &o->device;
}

enum { LOOKS_US = 50, APART_US = 2, MOST_SKIPPED = 63 };

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static cl_int event_status(cl_event event)
{
    cl_int at = CL_COMPLETE;
    return clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof at, &at, NULL) == CL_SUCCESS ? at
                                                                                                        : CL_COMPLETE;
}

/* Small kernels are done sooner than a thread that sleeps is woken: for a moment the host looks again and again. That
 * takes a core from those that compute: where kernels take longer, most of the next waits sleep at once. */
static void look_for_end(Opened *o)
{
    cl_event end;
    if (o->skip > 0 && o->skip--)
        return;
    if (clEnqueueMarkerWithWaitList(o->queue, 0, NULL, &end) != CL_SUCCESS)
        return;
    clFlush(o->queue);
    const double began = now_us();
    double at = began;
    while (event_status(end) > CL_COMPLETE && at - began < LOOKS_US)
        for (const double looked = at; at - looked < APART_US;)
            at = now_us();
    o->skipped = at - began < LOOKS_US ? 0 : o->skipped < MOST_SKIPPED ? 2 * o->skipped + 1 : MOST_SKIPPED;
    o->skip = o->skipped;
    clReleaseEvent(end);
}

static DpDeviceStatus opencl_finish(DpDevice *d)
{
    Opened *o = (Opened *)d;
    if (d->facts.calls && !o->under_way)
        return DEVICE_OK;
    if (d->facts.shares_memory)
        look_for_end(o);
    o->under_way = false;
    return CALL(d, clFinish, o->queue);
}

/* ---- memory ---- */
/* Where host and device share memory the buffer is our own, in large pages if the system has them: far fewer page
 * faults. NULL where the host does not give it. */
static void *map_pages(uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

static DpDeviceStatus opencl_buffer_create(DpDevice *d, uint64_t bytes, DpBuffer *made)
{
    cl_int code = CL_OUT_OF_HOST_MEMORY;
    const bool shares = d->facts.shares_memory;
    *made = (DpBuffer){NULL, shares ? map_pages(bytes) : NULL, bytes};
    if (!shares || made->memory)
        made->object = clCreateBuffer(((Opened *)d)->context, CL_MEM_READ_WRITE | (shares ? CL_MEM_USE_HOST_PTR : 0),
                                      bytes, made->memory, &code);
    if (code != CL_SUCCESS) {
        if (made->memory)
            munmap(made->memory, bytes);
        *made = (DpBuffer){NULL, NULL, 0};
    }
    return status(d, code, "clCreateBuffer");
}

/* cl_nv_create_buffer: buffers that stay in the host's memory, where the device writes and reads them over the bus.
 * OpenCL's own headers do not have it. */
typedef cl_mem (*CreateBufferNv)(cl_context, cl_mem_flags, cl_bitfield, size_t, void *, cl_int *);
enum { LOCATION_HOST_NV = 1, PINNED_NV = 2 };

static CreateBufferNv create_buffer_nv(const Opened *o)
{
    cl_platform_id platform = NULL;
    clGetDeviceInfo(o->id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    void *address = platform ? clGetExtensionFunctionAddressForPlatform(platform, "clCreateBufferNV") : NULL;
    CreateBufferNv function;
    memcpy(&function, &address, sizeof function); /* C has no conversion from one to the other */
    return function;
}

static DpDeviceStatus opencl_host_buffer_create(DpDevice *d, uint64_t bytes, DpBuffer *made)
{
    Opened *o = (Opened *)d;
    cl_int code = CL_INVALID_OPERATION;
    if (d->facts.shares_memory)
        return opencl_buffer_create(d, bytes, made);
    *made = (DpBuffer){NULL, NULL, bytes};
    const CreateBufferNv create = create_buffer_nv(o);
    if (create)
        made->object = create(o->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, LOCATION_HOST_NV | PINNED_NV,
                              bytes, NULL, &code);
    if (code == CL_SUCCESS)
        made->memory = clEnqueueMapBuffer(o->queue, made->object, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                                          NULL, NULL, &code);
    if (code != CL_SUCCESS && made->object)
        clReleaseMemObject(made->object);
    if (code != CL_SUCCESS)
        *made = (DpBuffer){NULL, NULL, 0};
    return status(d, code, "clCreateBufferNV");
}

/* What still runs may write to our own pages: if it does not come to an end, they are left to the device. */
static void opencl_buffer_release(DpDevice *d, DpBuffer *b)
{
    const cl_command_queue queue = ((Opened *)d)->queue;
    const bool over = b->memory && clFinish(queue) == CL_SUCCESS, ours = over && d->facts.shares_memory;
    if (over && !ours)
        clEnqueueUnmapMemObject(queue, b->object, b->memory, 0, NULL, NULL);
    if (b->object)
        clReleaseMemObject(b->object);
    if (ours)
        munmap(b->memory, b->bytes);
    *b = (DpBuffer){NULL, NULL, 0};
}

static DpDeviceStatus opencl_fill(DpDevice *d, const DpBuffer *b, uint64_t at, uint64_t bytes, unsigned char with)
{
    ((Opened *)d)->under_way = true;
    return CALL(d, clEnqueueFillBuffer, ((Opened *)d)->queue, b->object, &with, 1, at, bytes, 0, NULL, NULL);
}

/* Where the host has the memory, waiting and copying is all, likewise below. */
static DpDeviceStatus opencl_copy(DpDevice *d, const DpBuffer *from, uint64_t at, const DpBuffer *to, uint64_t to_at,
                                  uint64_t bytes)
{
    if (!from->memory || !to->memory) {
        ((Opened *)d)->under_way = true;
        return CALL(d, clEnqueueCopyBuffer, ((Opened *)d)->queue, from->object, to->object, at, to_at, bytes, 0, NULL,
                    NULL);
    }
    DpDeviceStatus done = opencl_finish(d);
    if (!done)
        memcpy((char *)to->memory + to_at, (const char *)from->memory + at, bytes);
    return done;
}

static DpDeviceStatus opencl_read(DpDevice *d, const DpBuffer *b, uint64_t at, uint64_t bytes, void *to)
{
    if (!b->memory)
        return CALL(d, clEnqueueReadBuffer, ((Opened *)d)->queue, b->object, CL_TRUE, at, bytes, to, 0, NULL, NULL);
    DpDeviceStatus done = opencl_finish(d);
    if (!done)
        memcpy(to, (const char *)b->memory + at, bytes);
    return done;
}

static DpDeviceStatus opencl_write(DpDevice *d, const DpBuffer *b, uint64_t at, uint64_t bytes, const void *from)
{
    if (!b->memory)
        return CALL(d, clEnqueueWriteBuffer, ((Opened *)d)->queue, b->object, CL_TRUE, at, bytes, from, 0, NULL, NULL);
    DpDeviceStatus done = opencl_finish(d);
    if (!done)
        memcpy((char *)b->memory + at, from, bytes);
    return done;
}

/* ---- programs ---- */
static char *build_log(const Opened *o, cl_program p)
{
    size_t n = 0;
    clGetProgramBuildInfo(p, o->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &n);
    char *log = calloc(1, n + 1);
    if (log)
        clGetProgramBuildInfo(p, o->id, CL_PROGRAM_BUILD_LOG, n, log, NULL);
    return log;
}

/* header: else it is left out, by the name of its guard. */
static cl_int build_program(const Opened *o, cl_program p, const DpBuild *build, bool header)
{
    char options[128];
    snprintf(options, sizeof options, "%s%s%s", o->options, build->optimised ? "" : " -cl-opt-disable",
             header ? "" : " -D_OPENCL_H_");
    return clBuildProgram(p, 1, &o->id, options, NULL, NULL);
}

/* Where a text brings built-in functions along and does not build, PoCL's header is another, or the text calls what it
 * does not declare: again, with that header. */
static DpDeviceProgram *opencl_build(DpDevice *d, const DpBuild *build, char **log)
{
    const Opened *o = (Opened *)d;
    cl_int code;
    *log = NULL;
    cl_program p = clCreateProgramWithSource(o->context, 1, (const char *[]){build->text}, NULL, &code);
    if (status(d, code, "clCreateProgramWithSource"))
        return NULL;
    code = build_program(o, p, build, !build->brings_builtins);
    if (code != CL_SUCCESS && build->brings_builtins)
        code = build_program(o, p, build, true);
    if (status(d, code, "clBuildProgram") == DEVICE_OK)
        return (DpDeviceProgram *)p;
    *log = build_log(o, p);
    clReleaseProgram(p);
    return NULL;
}

/* With the options of its source: an NVIDIA binary is code for a virtual machine, which the driver compiles once more,
 * and optimises unless it is told not to (1.3 s for a quicksort). */
static DpDeviceProgram *opencl_load(DpDevice *d, const DpBuild *as, const unsigned char *binary, size_t n)
{
    const Opened *o = (Opened *)d;
    cl_int code, loaded;
    cl_program p = clCreateProgramWithBinary(o->context, 1, &o->id, &n, &binary, &loaded, &code);
    if (status(d, code, "clCreateProgramWithBinary") == DEVICE_OK &&
        status(d, build_program(o, p, as, true), "clBuildProgram") == DEVICE_OK)
        return (DpDeviceProgram *)p;
    if (p)
        clReleaseProgram(p);
    return NULL;
}

static unsigned char *opencl_binary(DpDevice *d, DpDeviceProgram *program, size_t *n)
{
    cl_program p = (cl_program)program;
    (void)d;
    *n = 0;
    if (clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof *n, n, NULL) != CL_SUCCESS || *n == 0)
        return NULL;
    unsigned char *binary = malloc(*n);
    if (binary && clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
        return binary;
    free(binary);
    return NULL;
}

static void opencl_program_release(DpDevice *d, DpDeviceProgram *p)
{
    (void)d;
    clReleaseProgram((cl_program)p);
}

/* ---- kernels ---- */
struct DpDeviceKernel {
    cl_kernel kernel;
    char name[128];
    bool launched, sought;    /* its function */
    DpPoclFunction *function; /* NULL: it is not known */
    void *library;            /* of the function */
};

static DpDeviceKernel *opencl_kernel(DpDevice *d, DpDeviceProgram *p, const char *name)
{
    DpDeviceKernel *k = calloc(1, sizeof *k);
    cl_int code;
    d->error[0] = 0;
    if (!k)
        return NULL;
    snprintf(k->name, sizeof k->name, "%s", name);
    k->kernel = clCreateKernel((cl_program)p, name, &code);
    if (status(d, code, "clCreateKernel") == DEVICE_OK)
        return k;
    free(k);
    return NULL;
}

static void opencl_kernel_release(DpDevice *d, DpDeviceKernel *k)
{
    (void)d;
    if (!k)
        return;
    clReleaseKernel(k->kernel);
    dp_pocl_release(k->library);
    free(k);
}

static DpDeviceStatus set_arguments(DpDevice *d, cl_kernel k, const DpLaunch *l)
{
    DpDeviceStatus done = DEVICE_OK;
    for (cl_uint i = 0; !done && i < l->heaps; i++)
        done = CALL(d, clSetKernelArg, k, i, sizeof(cl_mem), &l->heap->object);
    for (cl_uint i = 0; !done && i < l->n; i++)
        done = CALL(d, clSetKernelArg, k, l->heaps + i, sizeof(cl_ulong), &l->numbers[i]);
    return done;
}

static uint64_t event_time(cl_event event, cl_profiling_info which)
{
    cl_ulong at = 0;
    return clGetEventProfilingInfo(event, which, sizeof at, &at, NULL) == CL_SUCCESS ? at : 0;
}

/* Waits. */
static DpDeviceStatus time_event(DpDevice *d, cl_event event, DpLaunchTimes *times)
{
    DpDeviceStatus done = CALL(d, clWaitForEvents, 1, &event);
    *times =
        (DpLaunchTimes){event_time(event, CL_PROFILING_COMMAND_QUEUED), event_time(event, CL_PROFILING_COMMAND_SUBMIT),
                        event_time(event, CL_PROFILING_COMMAND_START), event_time(event, CL_PROFILING_COMMAND_END)};
    if (times->ended < times->begun)
        times->ended = 0;
    clReleaseEvent(event);
    return done;
}

static DpDeviceStatus opencl_launch(DpDevice *d, DpDeviceKernel *k, const DpLaunch *l, DpLaunchTimes *times)
{
    const size_t local = l->lanes, global = local * l->groups;
    cl_event event = NULL;
    DpDeviceStatus done = set_arguments(d, k->kernel, l);
    k->launched = ((Opened *)d)->under_way = true;
    done = done ? done
                : CALL(d, clEnqueueNDRangeKernel, ((Opened *)d)->queue, k->kernel, 1, NULL, &global, &local, 0, NULL,
                       times ? &event : NULL);
    return event ? time_event(d, event, times) : done;
}

static bool opencl_call(DpDevice *d, DpDeviceKernel *k, const DpLaunch *l)
{
    if (((Opened *)d)->under_way || !k->launched || l->lanes > 1 || !dp_pocl_computes_alike() || !dp_pocl_has_stack())
        return false;
    if (!k->sought)
        k->function = dp_pocl_find(k->name, &k->library);
    k->sought = true;
    return k->function && dp_pocl_call(k->function, l);
}

/* ---- kernels of our own ---- */
static const DpBuild distance_text = {
    .text = "__kernel void dp_distance(__global uchar *heap, ulong at, __global uchar *other)\n"
            "{\n"
            "    *(__global ulong *)(heap + at) = (ulong)other - (ulong)heap;\n"
            "}\n",
    .brings_builtins = true}; /* it needs none */
static const DpBuild sweep_text = {
    .text = "__kernel void dp_sweep(__global uchar *heap, ulong at, __global const uint4 *from, ulong n)\n"
            "{\n"
            "    uint4 sum = 0;\n"
            "    for (ulong i = get_global_id(0); i < n; i += get_global_size(0))\n"
            "        sum += from[i];\n"
            "    if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == 1)\n" /* or nothing would be read */
            "        *(__global uint *)(heap + at) = sum.x;\n"
            "}\n",
    .optimised = true};

static cl_kernel own_kernel(Opened *o, const DpBuild *build, const char *name)
{
    char *log;
    DpDeviceProgram *p = opencl_build(&o->device, build, &log);
    cl_int code = CL_SUCCESS;
    free(log);
    if (!p)
        return NULL;
    cl_kernel k = clCreateKernel((cl_program)p, name, &code);
    clReleaseProgram((cl_program)p); /* the kernel holds it */
    return status(&o->device, code, "clCreateKernel") ? NULL : k;
}

static DpDeviceStatus opencl_reach(DpDevice *d, const DpBuffer *heap, uint64_t at, void *object)
{
    Opened *o = (Opened *)d;
    const size_t one = 1;
    const cl_ulong word = at;
    cl_mem other = object;
    o->distance = o->distance ? o->distance : own_kernel(o, &distance_text, "dp_distance");
    o->under_way = true;
    DpDeviceStatus done = o->distance ? DEVICE_OK : DEVICE_FAILED;
    done = done ? done : CALL(d, clSetKernelArg, o->distance, 0, sizeof(cl_mem), &heap->object);
    done = done ? done : CALL(d, clSetKernelArg, o->distance, 1, sizeof word, &word);
    done = done ? done : CALL(d, clSetKernelArg, o->distance, 2, sizeof other, &other);
    return done ? done : CALL(d, clEnqueueNDRangeKernel, o->queue, o->distance, 1, NULL, &one, &one, 0, NULL, NULL);
}

static DpDeviceStatus opencl_sweep(DpDevice *d, const DpBuffer *heap, uint64_t at, const DpBuffer *from, uint64_t bytes)
{
    Opened *o = (Opened *)d;
    const size_t lanes = 256, all = lanes * 8 * d->facts.units;
    const cl_ulong numbers[2] = {at, bytes / sizeof(cl_uint4)};
    o->sweep = o->sweep ? o->sweep : own_kernel(o, &sweep_text, "dp_sweep");
    o->under_way = true;
    DpDeviceStatus done = o->sweep ? DEVICE_OK : DEVICE_FAILED;
    done = done ? done : CALL(d, clSetKernelArg, o->sweep, 0, sizeof(cl_mem), &heap->object);
    done = done ? done : CALL(d, clSetKernelArg, o->sweep, 1, sizeof numbers[0], &numbers[0]);
    done = done ? done : CALL(d, clSetKernelArg, o->sweep, 2, sizeof(cl_mem), &from->object);
    done = done ? done : CALL(d, clSetKernelArg, o->sweep, 3, sizeof numbers[1], &numbers[1]);
    return done ? done : CALL(d, clEnqueueNDRangeKernel, o->queue, o->sweep, 1, NULL, &all, &lanes, 0, NULL, NULL);
}

static uint64_t opencl_object_bytes(const DpDevice *d, void *object)
{
    cl_context context = NULL;
    size_t bytes = 0;
    const bool ours = clGetMemObjectInfo(object, CL_MEM_CONTEXT, sizeof context, &context, NULL) == CL_SUCCESS &&
                      context == ((const Opened *)d)->context;
    return ours && clGetMemObjectInfo(object, CL_MEM_SIZE, sizeof bytes, &bytes, NULL) == CL_SUCCESS ? bytes : 0;
}

static DpDeviceStatus opencl_wait(DpDevice *d, uint32_t n, void *const *events)
{
    DpDeviceStatus done = DEVICE_OK;
    for (uint32_t i = 0; !done && i < n; i++) {
        const cl_event event = events[i];
        done = CALL(d, clWaitForEvents, 1, &event);
    }
    return done;
}

static void *opencl_event_create(const DpDevice *d) { return clCreateUserEvent(((const Opened *)d)->context, NULL); }

static void opencl_event_end(void *event, bool well)
{
    clSetUserEventStatus(event, well ? CL_COMPLETE : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

static void opencl_event_release(void *event) { clReleaseEvent(event); }

const DpBackend dp_opencl = {
    .list = opencl_list,
    .of_queue = opencl_of_queue,
    .open = opencl_open,
    .close = opencl_close,
    .finish = opencl_finish,
    .buffer_create = opencl_buffer_create,
    .host_buffer_create = opencl_host_buffer_create,
    .buffer_release = opencl_buffer_release,
    .fill = opencl_fill,
    .copy = opencl_copy,
    .reach = opencl_reach,
    .sweep = opencl_sweep,
    .object_bytes = opencl_object_bytes,
    .wait = opencl_wait,
    .event_create = opencl_event_create,
    .event_end = opencl_event_end,
    .event_release = opencl_event_release,
    .read = opencl_read,
    .write = opencl_write,
    .build = opencl_build,
    .load = opencl_load,
    .binary = opencl_binary,
    .program_release = opencl_program_release,
    .kernel = opencl_kernel,
    .kernel_release = opencl_kernel_release,
    .launch = opencl_launch,
    .call = opencl_call,
};
