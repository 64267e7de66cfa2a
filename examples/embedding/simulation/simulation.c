/* A simulation in OpenCL that keeps its state in a buffer of its own, and calls DP for each step:
 *
 *     cc simulation.c $(pkg-config --cflags --libs dpc) -lOpenCL -o simulation && ./simulation
 *
 * The flame that moves over the plate is a kernel of the simulation's; how the plate conducts heat is heat.dp. Both
 * work on the same queue and the same memory: nothing is copied to the host but what is printed. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dpc.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 512, COLUMNS = 512, STEPS = 100 };

static const char flame[] = "__kernel void flame(__global float *plate, int step)\n"
                            "{\n"
                            "    int at = (100 + step) * 512 + 256 + get_global_id(0);\n"
                            "    plate[at] = 1000.0f;\n"
                            "}\n";

static void check(int done, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "%s\n", what ? what : "out of memory");
    exit(1);
}

typedef struct Simulation {
    cl_command_queue queue;
    cl_kernel flame;
    cl_mem plate; /* the state */
    DpcContext *dp;
    DpcError error;
} Simulation;

static void start(Simulation *s, const DpcProgram *program)
{
    cl_platform_id platform;
    cl_device_id device;
    const float cold = 0;
    check(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS, "no OpenCL");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS, "no device");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    s->queue = clCreateCommandQueue(context, device, 0, NULL);
    cl_program kernels = clCreateProgramWithSource(context, 1, (const char *[]){flame}, NULL, NULL);
    check(clBuildProgram(kernels, 1, &device, "", NULL, NULL) == CL_SUCCESS, "the kernel does not build");
    s->flame = clCreateKernel(kernels, "flame", NULL);
    s->plate = clCreateBuffer(context, CL_MEM_READ_WRITE, ROWS * COLUMNS * sizeof cold, NULL, NULL);
    clEnqueueFillBuffer(s->queue, s->plate, &cold, sizeof cold, 0, ROWS * COLUMNS * sizeof cold, 0, NULL, NULL);
    s->dp = dpc_open_queue(program, s->queue, NULL, &s->error);
    check(s->dp != NULL, s->error.text);
    clReleaseProgram(kernels);
    clReleaseContext(context);
}

/* Returns the highest temperature. */
static float step(Simulation *s, const DpcValue *plate, const DpcValue *conducts, int number)
{
    const size_t width = 16;
    clSetKernelArg(s->flame, 0, sizeof s->plate, &s->plate);
    clSetKernelArg(s->flame, 1, sizeof number, &number);
    clEnqueueNDRangeKernel(s->queue, s->flame, 1, NULL, &width, NULL, 0, NULL, NULL);
    DpcValue *next = dpc_call_device(s->dp, "step", (const DpcValue *[]){plate, conducts}, 2, &s->error);
    check(next != NULL, s->error.text);
    check(dpc_copy(next, 0, s->plate, 0, &s->error), s->error.text);
    const float highest = *(const float *)dpc_leaf(next, 1).data;
    dpc_value_free(next);
    return highest;
}

int main(int argc, char **argv)
{
    Simulation s = {0};
    const float quarter = 0.25f;
    DpcProgram *program = dpc_compile_file(argc > 1 ? argv[1] : "heat.dp", &s.error);
    check(program != NULL, s.error.text);
    start(&s, program);
    DpcValue *plate = dpc_buffer("f32", s.plate, 0, 2, (const uint64_t[]){ROWS, COLUMNS});
    DpcValue *conducts = dpc_scalar("f32", &quarter);
    check(plate && conducts, NULL);
    for (int i = 0; i < STEPS; i++) {
        const float highest = step(&s, plate, conducts, i);
        if (i % 20 == 19)
            printf("step %d: at most %.2f degrees\n", i + 1, (double)highest);
    }
    dpc_value_free(conducts);
    dpc_value_free(plate);
    dpc_close(s.dp);
    dpc_program_free(program);
    clReleaseMemObject(s.plate);
    clReleaseKernel(s.flame);
    clReleaseCommandQueue(s.queue);
    return 0;
}
