/* The rows in OpenCL C: what the device gives to somebody who writes kernels by hand, without extensions. A GPU runs
 * those of gpu.cl, a CPU those of cpu.cl (BENCH_SHAPE=gpu: the former there, too). The device is the first whose name
 * contains BENCH_DEVICE. Time is from the start of the first kernel to the end of the last, by the device's clock. */
#include "../peer.h"
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) check(call, #call)

enum { GROUP = 256, TILE = 16 * GROUP, MAX_BUFFERS = 6, MAX_EVENTS = 4, KERNELS_BYTES = 1 << 16, CPU_CHUNKS = 64 };

/* One row a process: there is one of each. */
static struct {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    cl_program program;
    int gpu;
    cl_uint units;
    cl_kernel kernels[2];
    cl_mem buffers[MAX_BUFFERS];
    cl_event events[MAX_EVENTS];
    int event_count;
    cl_uint launch; /* of the scan */
} cl;

static void check(cl_int status, const char *what)
{
    if (status == CL_SUCCESS)
        return;
    fprintf(stderr, "opencl: %s: error %d\n", what, status);
    exit(4);
}

static void device_choose(void)
{
    const char *wanted = getenv("BENCH_DEVICE");
    cl_platform_id platforms[16];
    cl_uint platform_count = 0;
    CHECK(clGetPlatformIDs(16, platforms, &platform_count));
    for (cl_uint p = 0; p < platform_count && p < 16; p++) {
        cl_device_id devices[16];
        cl_uint count = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &count) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < count && d < 16; d++) {
            char name[256] = "";
            CHECK(clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL));
            if (wanted && !strstr(name, wanted))
                continue;
            cl.device = devices[d];
            return;
        }
    }
    bench_fail("opencl", "there is no such device");
}

/* The text of NAME.cl, from the folder of the program. */
static char *kernels_read(const char *name)
{
    char path[4096] = "", *text = bench_allocate(KERNELS_BYTES + 1);
    const char *folder = getenv("BENCH_KERNELS");
    snprintf(path, sizeof path, "%s/%s.cl", folder ? folder : ".", name);
    FILE *f = fopen(path, "rb");
    if (!f)
        bench_fail(path, "it cannot be read (BENCH_KERNELS is the folder)");
    text[fread(text, 1, KERNELS_BYTES, f)] = 0;
    fclose(f);
    return text;
}

static void device_open(const char *options)
{
    cl_int status;
    cl_device_type type;
    device_choose();
    CHECK(clGetDeviceInfo(cl.device, CL_DEVICE_TYPE, sizeof type, &type, NULL));
    CHECK(clGetDeviceInfo(cl.device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof cl.units, &cl.units, NULL));
    const char *shape = getenv("BENCH_SHAPE");
    cl.gpu = shape ? strcmp(shape, "gpu") == 0 : (type & CL_DEVICE_TYPE_GPU) != 0;
    cl.context = clCreateContext(NULL, 1, &cl.device, NULL, NULL, &status);
    CHECK(status);
    cl.queue = clCreateCommandQueue(cl.context, cl.device, CL_QUEUE_PROFILING_ENABLE, &status);
    CHECK(status);
    const char *text = kernels_read(cl.gpu ? "gpu" : "cpu");
    cl.program = clCreateProgramWithSource(cl.context, 1, &text, NULL, &status);
    CHECK(status);
    if (clBuildProgram(cl.program, 1, &cl.device, options, NULL, NULL) != CL_SUCCESS) {
        static char log[1 << 16];
        clGetProgramBuildInfo(cl.program, cl.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        bench_fail("opencl", log);
    }
}

static void kernel_set(int k, const char *name)
{
    cl_int status;
    cl.kernels[k] = clCreateKernel(cl.program, name, &status);
    check(status, name);
}

static void kernel_buffer(int k, cl_uint position, int buffer)
{
    CHECK(clSetKernelArg(cl.kernels[k], position, sizeof(cl_mem), &cl.buffers[buffer]));
}

static void kernel_uint(int k, cl_uint position, size_t value)
{
    cl_uint v = (cl_uint)value;
    CHECK(clSetKernelArg(cl.kernels[k], position, sizeof v, &v));
}

static void kernel_ulong(int k, cl_uint position, size_t value)
{
    cl_ulong v = value;
    CHECK(clSetKernelArg(cl.kernels[k], position, sizeof v, &v));
}

static void buffer_make(int b, size_t bytes)
{
    cl_int status;
    cl.buffers[b] = clCreateBuffer(cl.context, CL_MEM_READ_WRITE, bytes + 256, NULL, &status);
    CHECK(status);
    cl_uint zero = 0;
    CHECK(clEnqueueFillBuffer(cl.queue, cl.buffers[b], &zero, sizeof zero, 0, (bytes + 256) / 4 * 4, 0, NULL, NULL));
}

static void buffer_from(int b, const Array *array)
{
    size_t bytes = array->count * array_element_bytes(array);
    buffer_make(b, bytes);
    if (bytes)
        CHECK(clEnqueueWriteBuffer(cl.queue, cl.buffers[b], CL_TRUE, 0, bytes, array->data, 0, NULL, NULL));
}

static void buffer_to(int b, Array *array)
{
    size_t bytes = array->count * array_element_bytes(array);
    if (bytes)
        CHECK(clEnqueueReadBuffer(cl.queue, cl.buffers[b], CL_TRUE, 0, bytes, array->data, 0, NULL, NULL));
}

static void launch(int k, size_t groups, size_t group)
{
    size_t global = groups * group;
    CHECK(clEnqueueNDRangeKernel(cl.queue, cl.kernels[k], 1, NULL, &global, &group, 0, NULL,
                                 &cl.events[cl.event_count++]));
}

/* Waits, and takes the time from the first launch to the last. */
static void finish(Job *job)
{
    cl_ulong start, end;
    CHECK(clFinish(cl.queue));
    CHECK(clGetEventProfilingInfo(cl.events[0], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
    CHECK(clGetEventProfilingInfo(cl.events[cl.event_count - 1], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
    job->device_ms = (double)(end - start) * 1e-6;
    while (cl.event_count > 0)
        CHECK(clReleaseEvent(cl.events[--cl.event_count]));
}

static size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

static size_t groups_resident(void) { return (size_t)cl.units * 8; }

/* Buffers 0: the first argument; 1: the result; 2: parts. */
static void buffers_of(Job *job, const Array *in, size_t parts_bytes)
{
    buffer_from(0, in);
    buffer_make(1, job->out[0].count * array_element_bytes(&job->out[0]));
    buffer_make(2, parts_bytes);
}

static void collect_first(Job *job) { buffer_to(1, &job->out[0]); }

/* ---- copy, on a GPU ---- */

static void copy_prepare(Job *job)
{
    job_result(job, job->in[0].type, job->in[0].count);
    setenv("BENCH_SHAPE", "gpu", 1);
    device_open("-DWG=256 -DFLAGS=0");
    buffers_of(job, &job->in[0], 0);
    kernel_set(0, "copy");
    kernel_buffer(0, 0, 0);
    kernel_buffer(0, 1, 1);
    kernel_uint(0, 2, ceil_div(job->in[0].count * array_element_bytes(&job->in[0]), 16));
}

static void copy(Job *job)
{
    launch(0, ceil_div(job->in[0].count * array_element_bytes(&job->in[0]), 16 * 4 * GROUP), GROUP);
    finish(job);
}

/* ---- sum and maximum segment sum ---- */

static void reduce_prepare(Job *job, const char *first, const char *second)
{
    size_t n = job->in[0].count;
    job_result(job, "i4", 1);
    device_open("-DWG=256 -DFLAGS=0");
    buffers_of(job, &job->in[0], 1 << 20);
    buffer_make(3, 64);
    kernel_set(0, first);
    kernel_buffer(0, 0, 0);
    if (cl.gpu)
        kernel_uint(0, 1, n);
    else
        kernel_ulong(0, 1, n);
    if (second) {
        kernel_set(1, second);
        kernel_buffer(1, 0, 2);
        kernel_buffer(1, 2, 1);
    }
}

static void sum_prepare(Job *job)
{
    reduce_prepare(job, "sum", NULL);
    kernel_buffer(0, 2, 2);
    if (cl.gpu) {
        kernel_buffer(0, 3, 3);
        kernel_buffer(0, 4, 1);
        return;
    }
    kernel_set(1, "sum_end");
    kernel_buffer(1, 0, 2);
    kernel_uint(1, 1, CPU_CHUNKS);
    kernel_buffer(1, 2, 1);
}

static void reduce_on_cpu(Job *job)
{
    launch(0, CPU_CHUNKS, 1);
    launch(1, 1, 1);
    finish(job);
}

static void sum(Job *job)
{
    if (!cl.gpu) {
        reduce_on_cpu(job);
        return;
    }
    launch(0, groups_resident(), GROUP);
    finish(job);
}

/* Consecutive elements of a work-item, a multiple of 16. */
static size_t mssp_run(const Job *job)
{
    return ceil_div(ceil_div(job->in[0].count, groups_resident() * GROUP), 16) * 16;
}

static void mssp_prepare(Job *job)
{
    reduce_prepare(job, "mssp", "mssp_end");
    if (cl.gpu)
        kernel_uint(0, 2, mssp_run(job));
    kernel_buffer(0, cl.gpu ? 3 : 2, 2);
    kernel_uint(1, 1, cl.gpu ? groups_resident() : CPU_CHUNKS);
}

static void mssp(Job *job)
{
    if (!cl.gpu) {
        reduce_on_cpu(job);
        return;
    }
    launch(0, groups_resident(), GROUP);
    launch(1, 1, GROUP);
    finish(job);
}

/* ---- scans ---- */

/* On a GPU buffers 3 and 4 are the states of the tiles and the counter of tickets; 5 the flags. */
static void scan_prepare_gpu(Job *job, const Array *in, const Array *flags)
{
    size_t tiles = ceil_div(in->count, TILE);
    buffers_of(job, in, 0);
    buffer_make(3, 8 * tiles);
    buffer_make(4, 64);
    buffer_from(5, flags);
    kernel_set(0, "scan");
    kernel_buffer(0, 0, 0);
    kernel_buffer(0, 1, 5);
    kernel_buffer(0, 2, 1);
    kernel_uint(0, 3, in->count);
    kernel_buffer(0, 4, 3);
    kernel_buffer(0, 5, 4);
}

/* Two launches over chunks, the first with their totals for the second. */
static void chunks_prepare(Job *job, const char *first, const char *second)
{
    buffers_of(job, &job->in[0], 4 * CPU_CHUNKS);
    for (int k = 0; k < 2; k++) {
        kernel_set(k, k == 0 ? first : second);
        kernel_buffer(k, 0, 0);
        kernel_ulong(k, 1, job->in[0].count);
        kernel_buffer(k, 2, 2);
    }
    kernel_buffer(1, 3, 1);
}

static void chunks_run(Job *job)
{
    launch(0, CPU_CHUNKS, 1);
    launch(1, CPU_CHUNKS, 1);
    finish(job);
}

static void scan_prepare(Job *job)
{
    Array none = array_new("b1", 0);
    job_result(job, "i4", job->in[0].count);
    device_open("-DWG=256 -DFLAGS=0");
    if (cl.gpu)
        scan_prepare_gpu(job, &job->in[0], &none);
    else
        chunks_prepare(job, "sum", "scan");
}

static void scan_on_gpu(Job *job)
{
    kernel_uint(0, 6, ++cl.launch);
    launch(0, ceil_div(job->out[0].count, TILE), GROUP);
    finish(job);
}

static void scan(Job *job)
{
    if (cl.gpu)
        scan_on_gpu(job);
    else
        chunks_run(job);
}

static void segscan_flags_prepare(Job *job)
{
    job_result(job, "i4", job->in[1].count);
    setenv("BENCH_SHAPE", "gpu", 1);
    device_open("-DWG=256 -DFLAGS=1");
    scan_prepare_gpu(job, &job->in[1], &job->in[0]);
}

/* ---- filter, on a CPU ---- */

static void filter_prepare(Job *job)
{
    job_result(job, "i4", job->in[0].count);
    setenv("BENCH_SHAPE", "cpu", 1);
    device_open("");
    chunks_prepare(job, "filter_count", "filter_write");
}

static void filter_collect(Job *job)
{
    Array parts = array_new("i4", CPU_CHUNKS);
    buffer_to(2, &parts);
    job->out[0].count = 0;
    for (int i = 0; i < CPU_CHUNKS; i++)
        job->out[0].count += (size_t)((int32_t *)parts.data)[i];
    buffer_to(1, &job->out[0]);
}

int main(int argc, char **argv)
{
    const Peer rows[] = {
        {"copy", copy_prepare, copy, collect_first},
        {"sum", sum_prepare, sum, collect_first},
        {"mssp", mssp_prepare, mssp, collect_first},
        {"scan", scan_prepare, scan, collect_first},
        {"segscan_flags", segscan_flags_prepare, scan_on_gpu, collect_first},
        {"filter", filter_prepare, chunks_run, filter_collect},
    };
    return peer_main(argc, argv, rows, sizeof rows / sizeof *rows);
}
