/* What a call of libdpc costs on a warm program, beside the same launches by hand, and whether memory stays flat:
 *
 *     cc -O2 bench/calls.c -Ibuild/include -Lbuild -ldpc -lOpenCL -Wl,-rpath,$PWD/build -o build/calls && build/calls
 *
 * On one queue, by turns: a call of an entry whose argument and result are buffers; and a kernel that does the same
 * into a buffer of its own, and the wait for it. `{ a * x + 1 : x in xs }` cannot fail. `{ xs[n - 1 - i] : i in n }`
 * can: there the kernel by hand looks, too, and the wait is for a word that says how it went. The least of the batches'
 * means counts. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dpc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char text[] = "entry scaled (xs: [f32]) (a: f32) : [f32] = { a * x + 1.0 : x in xs }\n"
                           "entry turned (xs: [f32]) (n: i64) : [f32] = { xs[n - 1 - i] : i in iota n }\n";
static const char by_hand[] =
    "__kernel void scaled(__global const float *xs, float a, __global float *ys)\n"
    "{\n"
    "    ys[get_global_id(0)] = a * xs[get_global_id(0)] + 1.0f;\n"
    "}\n"
    "__kernel void turned(__global const float *xs, uint n, __global float *ys, uint length,\n"
    "                     __global uint *failed)\n"
    "{\n"
    "    const uint i = n - 1 - get_global_id(0);\n"
    "    if (i < length)\n"
    "        ys[get_global_id(0)] = xs[i];\n"
    "    else\n"
    "        *failed = 1;\n"
    "}\n";

enum { SCALED, TURNED, ENTRIES };
static const char *const names[ENTRIES] = {"scaled", "turned"};

typedef struct Bench {
    cl_command_queue queue;
    cl_kernel kernels[ENTRIES];
    cl_mem xs, ys, failed;
    size_t lanes, group;
    DpcContext *dp;
    DpcValue *args[ENTRIES][2];
    DpcError error;
    int64_t count;
    int entry;
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
    DpcValue *r = dpc_call_device(b->dp, names[b->entry], (const DpcValue *const *)b->args[b->entry], 2, &b->error);
    if (!r)
        fail(b->error.text);
    dpc_value_free(r);
}

static void launch(Bench *b)
{
    cl_uint failed = 0;
    cl_int code = clEnqueueNDRangeKernel(b->queue, b->kernels[b->entry], 1, NULL, &b->lanes, &b->group, 0, NULL, NULL);
    if (b->entry == TURNED)
        code = code ? code : clEnqueueReadBuffer(b->queue, b->failed, CL_TRUE, 0, 4, &failed, 0, NULL, NULL);
    else
        code = code ? code : clFinish(b->queue);
    if (code || failed)
        fail("the launch fails");
}

static double mean_of(void (*what)(Bench *b), Bench *b, int times)
{
    double begin = now();
    for (int i = 0; i < times; i++)
        what(b);
    return (now() - begin) / times;
}

static void set_up_by_hand(Bench *b, uint32_t n)
{
    cl_platform_id platform;
    cl_device_id device;
    const float two = 2, a = 3;
    const cl_uint zero = 0;
    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        fail("no device");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    b->queue = clCreateCommandQueue(context, device, 0, NULL);
    b->xs = clCreateBuffer(context, CL_MEM_READ_WRITE, n * sizeof two, NULL, NULL);
    b->ys = clCreateBuffer(context, CL_MEM_READ_WRITE, n * sizeof two, NULL, NULL);
    b->failed = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof zero, NULL, NULL);
    clEnqueueFillBuffer(b->queue, b->xs, &two, sizeof two, 0, n * sizeof two, 0, NULL, NULL);
    clEnqueueFillBuffer(b->queue, b->failed, &zero, sizeof zero, 0, sizeof zero, 0, NULL, NULL);
    cl_program p = clCreateProgramWithSource(context, 1, (const char *[]){by_hand}, NULL, NULL);
    if (clBuildProgram(p, 1, &device, "", NULL, NULL))
        fail("the kernels do not build");
    for (int i = 0; i < ENTRIES; i++) {
        b->kernels[i] = clCreateKernel(p, names[i], NULL);
        clSetKernelArg(b->kernels[i], 0, sizeof b->xs, &b->xs);
        clSetKernelArg(b->kernels[i], 2, sizeof b->ys, &b->ys);
    }
    clSetKernelArg(b->kernels[SCALED], 1, sizeof a, &a);
    clSetKernelArg(b->kernels[TURNED], 1, sizeof n, &n);
    clSetKernelArg(b->kernels[TURNED], 3, sizeof n, &n);
    clSetKernelArg(b->kernels[TURNED], 4, sizeof b->failed, &b->failed);
    b->group = 128;
    b->lanes = n;
}

static void set_up(Bench *b, const DpcProgram *program, const uint32_t *n)
{
    static const float factor = 3, wanted[ENTRIES] = {7, 2};
    set_up_by_hand(b, *n);
    b->dp = dpc_open_queue(program, b->queue, NULL, &b->error);
    if (!b->dp)
        fail(b->error.text);
    b->args[SCALED][0] = b->args[TURNED][0] = dpc_buffer("f32", b->xs, 0, 1, &(uint64_t){*n});
    b->args[SCALED][1] = dpc_scalar("f32", &factor);
    b->count = *n;
    b->args[TURNED][1] = dpc_scalar("i64", &b->count);
    for (int i = 0; i < ENTRIES; i++) {
        DpcValue *r = dpc_call(b->dp, names[i], (const DpcValue *const *)b->args[i], 2, &b->error);
        if (!r || ((const float *)dpc_leaf(r, 0).data)[*n - 1] != wanted[i])
            fail(r ? "a wrong result" : b->error.text);
        dpc_value_free(r);
    }
}

static void compare(Bench *b, uint32_t n, int times)
{
    enum { BATCHES = 10 };
    double least[2] = {1e30, 1e30};
    mean_of(call, b, times);
    for (int i = 0; i < BATCHES; i++)
        for (int k = 0; k < 2; k++) {
            const double us = mean_of(k ? launch : call, b, times);
            least[k] = us < least[k] ? us : least[k];
        }
    printf("%s, %u elements: a call %.1f us, by hand %.1f us, %.2f times\n", names[b->entry], n, least[0], least[1],
           least[0] / least[1]);
}

static void grow(const char *what, void (*with)(Bench *b), Bench *b, int times)
{
    const long before = resident_kilobytes();
    mean_of(with, b, times);
    printf("%d %s more: %ld kB more of memory\n", times, what, resident_kilobytes() - before);
}

int main(int argc, char **argv)
{
    const int times = argc > 1 ? atoi(argv[1]) : 200;
    static Bench benches[3];
    DpcProgram *program = dpc_compile("calls.dp", text, &benches[0].error);
    if (!program)
        fail(benches[0].error.text);
    static const uint32_t sizes[3] = {1024, 32768, 1048576};
    for (int k = 0; k < 3; k++)
        set_up(&benches[k], program, &sizes[k]);
    for (int entry = 0; entry < ENTRIES; entry++)
        for (int k = 0; k < 3; k++) {
            benches[k].entry = entry;
            compare(&benches[k], sizes[k], times);
        }
    grow("launches by hand", launch, &benches[0], 100 * times);
    grow("calls", call, &benches[0], 100 * times);
    return 0;
}
