/* The heap's buffer: how large it may get, how it is made, how it grows.
 *
 * It begins small and at least doubles whenever a block does not fit: a larger buffer is made, the contents are copied,
 * the old one is released. Addresses are offsets, so they stay; kernels get the buffer at each launch. Where memory is
 * only taken when touched (a CPU device over our own pages, no limit on the address space) it begins as large as it may
 * get, and never grows. */
#define _DEFAULT_SOURCE /* madvise */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAP_FIRST_BYTES (UINT64_C(256) << 20)
#define HEAP_FIRST_LEAST (UINT64_C(1) << 20) /* less is not worth beginning with */
#define HEAP_MAX_BYTES (UINT64_C(1) << 39)   /* what size classes reach */
enum { DP_HEAP_LEAST = 4096 };
enum { GROWTH_STEPS = 4 };

/* ---- limits ---- */
static uint64_t device_size(const DpRt *rt, cl_device_info what)
{
    cl_ulong x = 0;
    clGetDeviceInfo(rt->device, what, sizeof x, &x, NULL);
    return x;
}

static uint64_t rounded_down(uint64_t bytes) { return bytes / DP_BLOCK_ALIGN * DP_BLOCK_ALIGN; }

/* An environment variable in bytes, if it says a size below `otherwise`. */
static uint64_t test_size(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    uint64_t bytes = text ? strtoull(text, NULL, 10) : 0;
    return bytes >= DP_HEAP_LEAST && bytes < otherwise ? bytes : otherwise;
}

static bool shares_memory(const DpRt *rt)
{
    cl_bool shared = CL_FALSE;
    cl_device_type type = 0;
    clGetDeviceInfo(rt->device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof shared, &shared, NULL);
    clGetDeviceInfo(rt->device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    return shared && (type & CL_DEVICE_TYPE_CPU);
}

static void find_limits(DpRt *rt)
{
    Heap *h = &rt->heap;
    uint64_t all = device_size(rt, CL_DEVICE_GLOBAL_MEM_SIZE) / 10 * 8;
    h->largest = device_size(rt, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    h->shared = shares_memory(rt);
    if (rt->memory_limit && rt->memory_limit < all)
        all = rt->memory_limit < DP_HEAP_LEAST ? DP_HEAP_LEAST : rt->memory_limit;
    h->limit = rounded_down(test_size("DP_HEAP", all < HEAP_MAX_BYTES ? all : HEAP_MAX_BYTES));
}

static uint64_t first_size(const DpRt *rt)
{
    const Heap *h = &rt->heap;
    bool lazy = h->shared && dp_address_space_left() == UINT64_MAX;
    uint64_t first = lazy || h->limit < HEAP_FIRST_BYTES ? h->limit : HEAP_FIRST_BYTES;
    return rounded_down(test_size("DP_HEAP_START", first));
}

/* ---- making one ---- */
typedef struct Buffer {
    cl_mem buffer;
    void *memory;
    uint64_t bytes;
} Buffer;

static void drop_buffer(const Buffer *b)
{
    if (b->buffer)
        clReleaseMemObject(b->buffer);
    if (b->memory)
        munmap(b->memory, b->bytes);
}

/* On a CPU device the buffer is our own memory, in large pages if the system has them: far fewer page faults. What
 * OpenCL and the host need of a limited address space is left to them. */
static cl_int map_buffer(const DpRt *rt, Buffer *b)
{
    cl_int code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    uint64_t left = dp_address_space_left();
    if (left < SPACE_BESIDE_HEAP || b->bytes > left - SPACE_BESIDE_HEAP)
        return code;
    void *p = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return code;
    madvise(p, b->bytes, MADV_HUGEPAGE);
    b->buffer = clCreateBuffer(rt->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, b->bytes, p, &code);
    b->memory = p;
    return code;
}

/* A buffer that begins with the contents of the heap's, if there is one, else with zeros. Devices may grant memory only
 * to refuse it at its first use, so the buffer counts once it has been written. */
static cl_int make_buffer(const DpRt *rt, uint64_t bytes, uint64_t contents, Buffer *b)
{
    static const unsigned char zeros[DP_HEAP_START];
    const Heap *h = &rt->heap;
    cl_int code = CL_SUCCESS;
    *b = (Buffer){NULL, NULL, bytes};
    if (h->shared)
        code = map_buffer(rt, b);
    else
        b->buffer = clCreateBuffer(rt->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code != CL_SUCCESS) {
        b->buffer = NULL;
    } else if (b->memory) { /* fresh pages are zeros */
        code = clFinish(rt->queue);
        if (code == CL_SUCCESS && h->memory)
            memcpy(b->memory, h->memory, contents);
    } else if (h->buffer) {
        code = clEnqueueCopyBuffer(rt->queue, h->buffer, b->buffer, 0, 0, contents, 0, NULL, NULL);
        code = code == CL_SUCCESS ? clFinish(rt->queue) : code;
    } else {
        code = clEnqueueWriteBuffer(rt->queue, b->buffer, CL_TRUE, 0, sizeof zeros, zeros, 0, NULL, NULL);
    }
    if (code != CL_SUCCESS)
        drop_buffer(b);
    return code;
}

static void take_buffer(DpRt *rt, const Buffer *b)
{
    Heap *h = &rt->heap;
    const Buffer old = {h->buffer, h->memory, h->bytes};
    drop_buffer(&old);
    h->buffer = b->buffer;
    h->memory = b->memory;
    h->bytes = b->bytes;
}

/* From `most` down to `least` in some steps: other processes may have the rest, and both buffers have to fit for a
 * moment. */
static cl_int take_largest(DpRt *rt, uint64_t least, uint64_t most, uint64_t contents)
{
    Heap *h = &rt->heap;
    cl_int code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    for (int step = 0; step < GROWTH_STEPS && code != CL_SUCCESS;) {
        uint64_t bytes = step + 1 < GROWTH_STEPS ? rounded_down(least + ((most - least) >> 2 * step)) : least;
        Buffer b;
        code = make_buffer(rt, bytes, contents, &b);
        if (code == CL_SUCCESS)
            take_buffer(rt, &b);
        else if (code == CL_INVALID_BUFFER_SIZE && h->largest < bytes && h->largest >= least)
            h->limit = most = rounded_down(h->largest); /* a device that keeps to what it says */
        else
            step++;
    }
    return code;
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
static cl_int grow_through_host(DpRt *rt, uint64_t least, uint64_t most, uint64_t contents)
{
    Heap *h = &rt->heap;
    const uint64_t old = h->bytes;
    const Buffer none = {NULL, NULL, 0};
    void *copy = contents < host_memory_left() ? malloc(contents) : NULL;
    if (!copy)
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    cl_int code = clEnqueueReadBuffer(rt->queue, h->buffer, CL_TRUE, 0, contents, copy, 0, NULL, NULL);
    if (code != CL_SUCCESS) {
        free(copy);
        return code;
    }
    take_buffer(rt, &none);
    code = take_largest(rt, least, most, 0);
    cl_int kept = code == CL_SUCCESS ? code : take_largest(rt, old, old, 0);
    if (kept == CL_SUCCESS)
        kept = clEnqueueWriteBuffer(rt->queue, h->buffer, CL_TRUE, 0, contents, copy, 0, NULL, NULL);
    free(copy);
    if (kept != CL_SUCCESS)
        dp_rt_fail(rt, EXIT_MEMORY, "out of memory: while the heap grew, the device gave it to others: %s",
                   dp_cl_error_name(kept));
    return code;
}

/* ---- what heap.c calls ---- */
bool dp_buffer_open(DpRt *rt, DpOpenError *error)
{
    find_limits(rt);
    if (rt->heap.limit < DP_HEAP_LEAST)
        return dp_open_fails(error, EXIT_DEVICE, "the device does not say how much memory it has");
    uint64_t first = first_size(rt), least = first < HEAP_FIRST_LEAST ? first : HEAP_FIRST_LEAST;
    cl_int code = take_largest(rt, least, first, 0);
    if (code == CL_SUCCESS)
        return true;
    char size[32];
    dp_size_print(size, sizeof size, least);
    return dp_open_fails(error, EXIT_MEMORY, "out of memory: the device does not grant %s: %s", size,
                         dp_cl_error_name(code));
}

bool dp_buffer_grow(DpRt *rt, uint64_t least, uint64_t contents)
{
    Heap *h = &rt->heap;
    uint64_t most = 2 * h->bytes > least ? 2 * h->bytes : least;
    if (most > h->limit)
        most = h->limit;
    cl_int code = least <= most ? take_largest(rt, least, most, contents) : CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (code != CL_SUCCESS && least <= most && !h->shared)
        code = grow_through_host(rt, least, most, contents);
    h->refused = code != CL_SUCCESS && least <= h->limit;
    return code == CL_SUCCESS;
}

void dp_buffer_close(DpRt *rt)
{
    const Buffer none = {NULL, NULL, 0};
    if (rt->heap.buffer && clFinish(rt->queue) != CL_SUCCESS)
        rt->heap.memory = NULL; /* what still runs may write to it: it is left to the device */
    take_buffer(rt, &none);
}
