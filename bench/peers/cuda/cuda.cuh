// What the rows in CUDA share. Time is by events around all that a run launches; arguments are on the device before,
// results fetched after.
#pragma once
#include "../peer.h"
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call) check((call), #call)

static inline void check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    std::fprintf(stderr, "cuda: %s: %s\n", what, cudaGetErrorString(status));
    std::exit(4);
}

enum { GROUP = 256 };

static inline unsigned groups(size_t n) { return (unsigned)((n + GROUP - 1) / GROUP); }

// A few work-groups for each multiprocessor, for kernels that walk over all elements.
static inline unsigned groups_resident()
{
    int units = 0;
    CHECK(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, 0));
    return (unsigned)units * 8;
}

template <class T> T *device_new(size_t count)
{
    T *memory;
    CHECK(cudaMalloc(&memory, count * sizeof(T) + 256));
    CHECK(cudaMemset(memory, 0, count * sizeof(T) + 256));
    return memory;
}

template <class T> T *device_from(const void *data, size_t count)
{
    T *memory = device_new<T>(count);
    CHECK(cudaMemcpy(memory, data, count * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

template <class T> T *device_from(const Array &array) { return device_from<T>(array.data, array.count); }

static inline void device_to(const void *memory, Array &array)
{
    CHECK(cudaMemcpy(array.data, memory, array.count * array_element_bytes(&array), cudaMemcpyDeviceToHost));
}

// Rows of a matrix or a nested sequence: where each begins, and where the last ends.
static inline int *device_offsets(const Array &lengths)
{
    int *offsets = (int *)bench_allocate(sizeof(int) * (lengths.count + 1));
    offsets[0] = 0;
    for (size_t i = 0; i < lengths.count; i++)
        offsets[i + 1] = offsets[i] + (int)((const int64_t *)lengths.data)[i];
    int *device = device_from<int>(offsets, lengths.count + 1);
    std::free(offsets);
    return device;
}

// Memory for a call of CUB, whose size the call itself says when it gets none: prepare_with([&](void *memory, size_t
// &bytes) {…}).
struct Temporary {
    void *memory = nullptr;
    size_t bytes = 0;
    template <class F> void prepare_with(F call)
    {
        size_t needed = 0;
        CHECK(call(nullptr, needed));
        if (needed <= bytes && memory)
            return;
        CHECK(cudaFree(memory));
        CHECK(cudaMalloc(&memory, needed + 16));
        bytes = needed + 16;
    }
    template <class F> void run(F call)
    {
        size_t given = bytes;
        call(memory, given);
    }
};

// Runs and waits; the time by events.
template <class F> void timed(Job *job, F work)
{
    static cudaEvent_t start, end;
    if (!start) {
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&end));
    }
    CHECK(cudaEventRecord(start));
    work();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaGetLastError());
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, end));
    job->device_ms = ms;
}

// One row a process: these are its arguments, result and scratch on the device.
static void *device[8];
template <class T> T *at(int slot) { return (T *)device[slot]; }

#define TABLE(name)                                                                                                    \
    extern const Peer name[];                                                                                          \
    extern const size_t name##_count;
TABLE(rows_of_folds)
TABLE(rows_of_sorts)
TABLE(rows_of_maps)
TABLE(rows_of_hull)
#undef TABLE
