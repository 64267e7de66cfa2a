/* What a call of libdpc costs on a warm program, beside the same launches by hand, and whether memory stays flat:
 *
 *     cc -O2 bench/calls.c -Ibuild/include -Lbuild -ldpc -lOpenCL -Wl,-rpath,$PWD/build -o build/calls && build/calls
 *
 * On one queue, by turns: a call of `{ a * x + 1 : x in xs }`, whose argument and result are buffers; and a kernel that
 * does the same into a buffer of its own, and the wait for it. The least of the batches' means counts. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dpc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char text[] = "entry main (xs: [f32]) (a: f32) : [f32] = { a * x + 1.0 : x in xs }\n";
static const char by_hand[] = "__kernel void axb(__global const float *xs, float a, __global float *ys)\n"
                              "{\n"
                              "    ys[get_global_id(0)] = a * xs[get_global_id(0)] + 1.0f;\n"
                              "}\n";

typedef struct Bench {
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem xs, ys;
    size_t lanes, group;
    DpcContext *dp;
    DpcValue *args[2];
    DpcError error;
} Bench;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void fail(const char *why)
{
    fprintf(stderr, "%s\n", why ? why : "out of memory");
    exit(1);
}

static long resident_kilobytes(void)
{
    long kilobytes = 0;
    char line[128];
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "VmRSS: %ld", &kilobytes);
    if (f)
        fclose(f);
    return kilobytes;
}

static void call(Bench *b)
{
    DpcValue *r = dpc_call_device(b->dp, "main", (const DpcValue *const *)b->args, 2, &b->error);
    if (!r)
        fail(b->error.text);
    dpc_value_free(r);
}

static void launch(Bench *b)
{
    if (clEnqueueNDRangeKernel(b->queue, b->kernel, 1, NULL, &b->lanes, &b->group, 0, NULL, NULL) != CL_SUCCESS ||
        clFinish(b->queue) != CL_SUCCESS)
        fail("the launch fails");
}

static double mean_of(void (*what)(Bench *b), Bench *b, int times)
{
    double begin = now();
    for (int i = 0; i < times; i++)
        what(b);
    return (now() - begin) / times;
}

static void set_up(Bench *b, const DpcProgram *program, uint32_t n)
{
    cl_platform_id platform;
    cl_device_id device;
    const float two = 2, a = 3;
    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        fail("no device");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    b->queue = clCreateCommandQueue(context, device, 0, NULL);
    b->xs = clCreateBuffer(context, CL_MEM_READ_WRITE, n * sizeof two, NULL, NULL);
    b->ys = clCreateBuffer(context, CL_MEM_READ_WRITE, n * sizeof two, NULL, NULL);
    clEnqueueFillBuffer(b->queue, b->xs, &two, sizeof two, 0, n * sizeof two, 0, NULL, NULL);
    cl_program p = clCreateProgramWithSource(context, 1, (const char *[]){by_hand}, NULL, NULL);
    if (clBuildProgram(p, 1, &device, "", NULL, NULL))
        fail("the kernel does not build");
    b->kernel = clCreateKernel(p, "axb", NULL);
    clSetKernelArg(b->kernel, 0, sizeof b->xs, &b->xs);
    clSetKernelArg(b->kernel, 1, sizeof a, &a);
    clSetKernelArg(b->kernel, 2, sizeof b->ys, &b->ys);
    b->group = 128;
    b->lanes = n;
    b->dp = dpc_open_queue(program, b->queue, NULL, &b->error);
    if (!b->dp)
        fail(b->error.text);
    static const float factor = 3;
    b->args[0] = dpc_buffer("f32", b->xs, 0, 1, &(uint64_t){n});
    b->args[1] = dpc_scalar("f32", &factor);
    DpcValue *r = dpc_call(b->dp, "main", (const DpcValue *const *)b->args, 2, &b->error);
    if (!r || ((const float *)dpc_leaf(r, 0).data)[n - 1] != 7)
        fail(r ? "a wrong result" : b->error.text);
    dpc_value_free(r);
}

int main(int argc, char **argv)
{
    enum { BATCHES = 10 };
    const int times = argc > 1 ? atoi(argv[1]) : 200;
    Bench b = {0};
    DpcProgram *program = dpc_compile("calls.dp", text, &b.error);
    if (!program)
        fail(b.error.text);
    for (uint32_t n = 1024; n <= 1048576; n *= 32) {
        double least[2] = {1e30, 1e30};
        set_up(&b, program, n);
        mean_of(call, &b, times);
        for (int i = 0; i < BATCHES; i++)
            for (int k = 0; k < 2; k++) {
                const double us = mean_of(k ? launch : call, &b, times);
                least[k] = us < least[k] ? us : least[k];
            }
        printf("%u elements: a call %.1f us, by hand %.1f us, %.2f times\n", n, least[0], least[1],
               least[0] / least[1]);
    }
    const long before = resident_kilobytes();
    mean_of(call, &b, 100 * times);
    printf("%d calls more: %ld kB more of memory\n", 100 * times, resident_kilobytes() - before);
    return 0;
}
