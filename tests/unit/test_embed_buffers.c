/* libdpc on a queue of the caller's: arguments in buffers of the caller's and in its memory, results that stay on the
 * device. What dpc must not touch lies on pages that nobody may write, between pages that nobody may read. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define CL_TARGET_OPENCL_VERSION 120
#include "dpc.h"

#include <CL/cl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

static const char source[] =
    "entry scaled (xs: [f32]) (k: f32) : [f32] = { k * x : x in xs }\n"
    "entry total (xs: [f32]) : f32 = sum xs\n"
    "entry same (xs: [f32]) : ([f32], [f32]) = (xs, xs[1:])\n"
    "entry set (xs: [f32]) : [f32] = xs with [0] = 5.0\n"
    "entry grown (xs: [i32]) : i32 = sum { sum (scan (+) 0 (xs ++ { x + i32 i : x in xs })) : i in iota 40 }\n"
    "entry rows (m: [[i32]]) : [[i32]] = { row : row in m | length row > 1 }\n"
    "entry steps (xs: [f32]) (n: i64) : [f32] =\n"
    "  loop ys = xs for i < n do ys with [i] = ys[i] + 1.0\n"
    "entry bytes (xs: [u8]) : [u8] = { x + 1 : x in xs }\n"
    "entry ends (xs: [f32]) : ([f32], f32) = (sort xs, xs[length xs - 1])\n"
    "entry none (xs: [f32]) : [[f32]] = { take 0 xs : i in iota 2 }\n";

typedef struct Cl {
    cl_context context;
    cl_command_queue queue;
    DpcProgram *program;
    DpcContext *on;
} Cl;

static cl_device_id first_device(void)
{
    cl_platform_id platform;
    cl_device_id device;
    assert_int_equal(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    return device;
}

static Cl open_all(const char *params)
{
    DpcError error = {0};
    cl_device_id device = first_device();
    Cl c = {.context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL)};
    c.queue = clCreateCommandQueue(c.context, device, 0, NULL);
    c.program = dpc_compile("test.dp", source, &error);
    c.on = c.program ? dpc_open_queue(c.program, c.queue, &(DpcOptions){.params = params}, &error) : NULL;
    if (!c.on)
        fail_msg("%s", error.text);
    return c;
}

static void close_all(Cl *c)
{
    dpc_close(c->on);
    dpc_program_free(c->program);
    cl_uint users = 0;
    for (int wait = 0; users != 1 && wait < 1000; wait++) { /* the device's threads leave commands a little later */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        clGetCommandQueueInfo(c->queue, CL_QUEUE_REFERENCE_COUNT, sizeof users, &users, NULL);
    }
    assert_int_equal(users, 1); /* dpc has left it */
    clReleaseCommandQueue(c->queue);
    clReleaseContext(c->context);
}

/* n numbers at the end (or the beginning) of pages between others that cannot be read, and themselves not written. */
enum { PAGE = 4096 };
typedef struct Guarded {
    unsigned char *map;
    size_t bytes;
    void *numbers;
} Guarded;

static Guarded guarded(const void *numbers, size_t bytes, bool at_end)
{
    const size_t inside = (bytes + PAGE - 1) / PAGE * PAGE;
    Guarded g = {.bytes = inside + 2 * PAGE};
    g.map = mmap(NULL, g.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.map != MAP_FAILED && mprotect(g.map + PAGE, inside, PROT_READ | PROT_WRITE) == 0);
    g.numbers = g.map + PAGE + (at_end ? inside - bytes : 0);
    memcpy(g.numbers, numbers, bytes);
    assert_int_equal(mprotect(g.map + PAGE, inside, PROT_READ), 0);
    return g;
}

static DpcValue *call(DpcContext *c, const char *entry, DpcValue *a, DpcValue *b, bool keep)
{
    DpcError error = {0};
    const DpcValue *args[] = {a, b};
    DpcValue *result =
        keep ? dpc_call_device(c, entry, args, b ? 2 : 1, &error) : dpc_call(c, entry, args, b ? 2 : 1, &error);
    if (!result)
        fail_msg("%s: %s", entry, error.text);
    return result;
}

static void expect_text(DpcValue *v, const char *wanted)
{
    char *text = dpc_text(v);
    assert_string_equal(text, wanted);
    free(text);
    dpc_value_free(v);
}

static DpcValue *floats(const float *xs, uint64_t n) { return dpc_array("f32", xs, 1, &n); }

/* Arguments of the host are read where they lie, to their last byte and no further, and never written. */
static void test_host_memory(void **state)
{
    (void)state;
    enum { MOST = 5000 };
    static float xs[MOST];
    Cl c = open_all("lent-bytes=0");
    for (int i = 0; i < MOST; i++)
        xs[i] = (float)(i % 7);
    for (uint64_t n = 1; n < MOST; n = n * 3 + 1)
        for (int at_end = 0; at_end < 2; at_end++) {
            Guarded g = guarded(xs, n * sizeof *xs, at_end);
            const float k = 2;
            double sum = 0;
            DpcValue *in = floats(g.numbers, n), *factor = dpc_scalar("f32", &k);
            DpcValue *scaled = call(c.on, "scaled", in, factor, false), *total = call(c.on, "total", in, NULL, false);
            DpcValue *set = call(c.on, "set", in, NULL, false), *ends = call(c.on, "ends", in, NULL, false);
            DpcValue *same = call(c.on, "same", in, NULL, false);
            munmap(g.map, g.bytes);
            for (uint64_t i = 0; i < n; i++) {
                assert_true(((const float *)dpc_leaf(scaled, 0).data)[i] == 2 * xs[i]);
                assert_true(((const float *)dpc_leaf(set, 0).data)[i] == (i ? xs[i] : 5));
                assert_true(((const float *)dpc_leaf(same, 0).data)[i] == xs[i]);
                sum += xs[i];
            }
            assert_true(*(const float *)dpc_leaf(total, 0).data == (float)sum);
            assert_true(*(const float *)dpc_leaf(ends, 1).data == xs[n - 1]);
            assert_int_equal(dpc_leaf(same, 1).count, n - 1);
            DpcValue *const all[] = {in, factor, scaled, total, set, ends, same};
            for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
                dpc_value_free(all[i]);
        }
    close_all(&c);
}

static cl_mem buffer_of(const Cl *c, const void *data, size_t bytes)
{
    cl_int code;
    cl_mem b = clCreateBuffer(c->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(clEnqueueWriteBuffer(c->queue, b, CL_TRUE, 0, bytes, data, 0, NULL, NULL), CL_SUCCESS);
    return b;
}

static void expect_buffer(const Cl *c, cl_mem b, const float *wanted, uint64_t n)
{
    float got[16];
    assert_int_equal(clEnqueueReadBuffer(c->queue, b, CL_TRUE, 0, n * sizeof *got, got, 0, NULL, NULL), CL_SUCCESS);
    assert_memory_equal(got, wanted, n * sizeof *got);
}

static void test_buffers(void **state)
{
    (void)state;
    const float xs[] = {1, 2, 3, 4, 6, 7}, k = 2;
    Cl c = open_all(NULL);
    cl_mem b = buffer_of(&c, xs, sizeof xs);
    DpcValue *in = dpc_buffer("f32", b, 8, 1, &(uint64_t){3}), *factor = dpc_scalar("f32", &k);
    expect_text(call(c.on, "scaled", in, factor, false), "[6.0, 8.0, 12.0]");
    expect_text(call(c.on, "set", in, NULL, false), "[5.0, 4.0, 6.0]");
    expect_text(call(c.on, "same", in, NULL, false), "([3.0, 4.0, 6.0], [4.0, 6.0])");
    expect_text(call(c.on, "none", in, NULL, false), "[[], []]");
    expect_text(call(c.on, "ends", in, NULL, false), "([3.0, 4.0, 6.0], 6.0)");
    DpcValue *rounds = dpc_scalar("i64", &(int64_t){2});
    expect_text(call(c.on, "steps", in, rounds, false), "[4.0, 5.0, 6.0]");
    dpc_value_free(rounds);
    expect_buffer(&c, b, xs, 6);
    const float other[] = {8, 8, 8, 9, 9, 9}; /* what is in it is looked at by each call */
    clEnqueueWriteBuffer(c.queue, b, CL_TRUE, 0, sizeof other, other, 0, NULL, NULL);
    expect_text(call(c.on, "total", in, NULL, false), "26.0");
    dpc_value_free(in);
    /* rows by leaves, from a buffer */
    const int32_t numbers[] = {1, 2, 3, 4, 5, 6};
    cl_mem ints = buffer_of(&c, numbers, sizeof numbers);
    const uint64_t lengths[] = {3, 1, 2}, n = 3;
    DpcLeaf rows = {
        .scalar = "i32", .rank = 2, .lengths = {&n, lengths}, .sequences = {1, 3}, .count = 6, .buffer = ints};
    in = dpc_value("[[i32]]", &rows);
    expect_text(call(c.on, "rows", in, NULL, false), "[[1, 2, 3], [5, 6]]");
    dpc_value_free(in);
    rows.offset = 2; /* not a multiple of an i32 */
    assert_null(dpc_value("[[i32]]", &rows));
    assert_null(dpc_buffer("f32", b, 2, 1, &(uint64_t){3}));
    assert_null(dpc_buffer("f32", NULL, 0, 1, &(uint64_t){3}));
    clReleaseMemObject(ints);
    clReleaseMemObject(b);
    dpc_value_free(factor);
    close_all(&c);
}

/* Results that stay: arguments of other calls, copied to a buffer, fetched, and freed behind their context. */
static void test_results_stay(void **state)
{
    (void)state;
    const float xs[] = {1, 2, 3, 4}, k = 2, zeros[8] = {0};
    DpcError error = {0};
    Cl c = open_all(NULL);
    cl_mem b = buffer_of(&c, xs, sizeof xs), out = buffer_of(&c, zeros, sizeof zeros);
    DpcValue *in = dpc_buffer("f32", b, 0, 1, &(uint64_t){4}), *factor = dpc_scalar("f32", &k);
    DpcValue *once = call(c.on, "scaled", in, factor, true), *twice = call(c.on, "scaled", once, factor, true);
    DpcValue *same = call(c.on, "same", in, NULL, true); /* not the caller's buffer */
    DpcLeaf leaf = dpc_leaf(twice, 0);
    assert_true(leaf.buffer && leaf.buffer != b && !leaf.data && leaf.count == 4 && leaf.lengths[0][0] == 4);
    assert_null(dpc_text(twice));
    assert_int_equal(dpc_copy(twice, 0, out, 8, &error), 1);
    expect_buffer(&c, out, (const float[]){0, 0, 4, 8, 12, 16, 0, 0}, 8);
    clEnqueueWriteBuffer(c.queue, b, CL_TRUE, 0, sizeof xs, zeros, 0, NULL, NULL);
    assert_true(dpc_fetch(once, &error) && dpc_fetch(twice, &error) && dpc_fetch(same, &error));
    assert_int_equal(dpc_fetch(in, &error), 0);
    assert_int_equal(dpc_copy(twice, 1, out, 0, &error), 0);
    assert_string_equal(error.text, "leaf 1 is no array, or the buffer NULL");
    expect_text(once, "[2.0, 4.0, 6.0, 8.0]");
    expect_text(same, "([1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 4.0])");
    expect_text(call(c.on, "set", twice, NULL, false), "[5.0, 8.0, 12.0, 16.0]");
    expect_text(call(c.on, "total", twice, NULL, true), "40.0"); /* a scalar is the host's */
    DpcContext *other = dpc_open_queue(c.program, c.queue, NULL, &error);
    assert_null(dpc_call(other, "total", (const DpcValue *[]){twice}, 1, &error));
    assert_string_equal(error.text, "argument xs of total: it stays on the device of another context");
    dpc_close(other);
    clReleaseMemObject(b);
    clReleaseMemObject(out);
    dpc_value_free(factor);
    dpc_value_free(in);
    dpc_close(c.on);
    c.on = NULL;
    expect_text(twice, "[4.0, 8.0, 12.0, 16.0]");
    dpc_error_clear(&error);
    close_all(&c);
}

/* A heap that is too small for a call grows, although addresses go from it. */
static void test_growth(void **state)
{
    (void)state;
    enum { N = 300000 };
    int32_t *xs = malloc(N * sizeof *xs);
    uint32_t wanted = 0, running = 0;
    for (int i = 0; i < N; i++)
        xs[i] = i % 5;
    for (int32_t k = 0; k < 40; k++) {
        running = 0;
        for (int i = 0; i < 2 * N; i++) {
            running += (uint32_t)(i < N ? xs[i] : xs[i - N] + k);
            wanted += running;
        }
    }
    setenv("DP_HEAP_START", "1000000", 1);
    Cl c = open_all(NULL);
    unsetenv("DP_HEAP_START");
    cl_mem b = buffer_of(&c, xs, N * sizeof *xs);
    for (int i = 0; i < 2; i++) {
        DpcValue *in = i ? dpc_array("i32", xs, 1, &(uint64_t){N}) : dpc_buffer("i32", b, 0, 1, &(uint64_t){N});
        DpcValue *sum = call(c.on, "grown", in, NULL, false);
        assert_int_equal(*(const uint32_t *)dpc_leaf(sum, 0).data, wanted);
        dpc_value_free(sum);
        dpc_value_free(in);
    }
    clReleaseMemObject(b);
    free(xs);
    close_all(&c);
}

/* The numbers of results that stay are there for the caller's own commands. */
static void test_moves_are_done(void **state)
{
    (void)state;
    int32_t got[3] = {0};
    Cl c = open_all(NULL);
    DpcValue *in = dpc_literal("[[i32]]", "[[1], [2, 3], [4], [5, 6, 7]]", NULL);
    DpcValue *out = call(c.on, "rows", in, NULL, true);
    const DpcLeaf leaf = dpc_leaf(out, 0);
    assert_int_equal(leaf.count, 5);
    assert_int_equal(
        clEnqueueReadBuffer(c.queue, leaf.buffer, CL_TRUE, leaf.offset + 8, sizeof got, got, 0, NULL, NULL),
        CL_SUCCESS);
    assert_memory_equal(got, ((const int32_t[]){5, 6, 7}), sizeof got);
    dpc_value_free(out);
    dpc_value_free(in);
    close_all(&c);
}

/* Calls that go on meanwhile: one after the other, behind the events that they wait for. */
static void test_tasks(void **state)
{
    (void)state;
    enum { TASKS = 8 };
    const float xs[] = {1, 2, 3, 4}, k = 2;
    DpcError error = {0};
    Cl c = open_all(NULL);
    cl_event gate = clCreateUserEvent(c.context, NULL);
    DpcValue *in = floats(xs, 4), *factor = dpc_scalar("f32", &k);
    const DpcValue *const args[] = {in, factor};
    const DpcStart behind = {.on_device = 1, .waits = 1, .events = &gate};
    DpcTask *first = dpc_start(c.on, "scaled", args, 2, &behind, &error), *others[TASKS];
    for (int i = 0; i < TASKS; i++)
        others[i] = dpc_start(c.on, i % 4 == 3 ? "nothing" : "total", args, 1, NULL, &error);
    assert_false(dpc_is_done(first));
    clSetUserEventStatus(gate, CL_COMPLETE);
    const cl_event done = dpc_event(first);
    assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
    DpcValue *scaled = dpc_finish(first, &error);
    assert_non_null(scaled);
    for (int i = 0; i < TASKS; i++) {
        DpcValue *total = dpc_finish(others[i], &error);
        assert_int_equal(total == NULL, i % 4 == 3);
        if (total)
            expect_text(total, "10.0");
        else
            assert_string_equal(error.text, "there is no entry nothing");
    }
    assert_true(dpc_fetch(scaled, &error));
    expect_text(scaled, "[2.0, 4.0, 6.0, 8.0]");
    clReleaseEvent(gate);
    /* an event that has failed; and a task that outlives its context */
    gate = clCreateUserEvent(c.context, NULL);
    clSetUserEventStatus(gate, -5);
    first = dpc_start(c.on, "scaled", args, 2, &behind, &error);
    DpcTask *last = dpc_start(c.on, "total", args, 1, NULL, &error);
    assert_null(dpc_finish(first, &error));
    assert_int_equal(error.status, 4);
    dpc_close(c.on);
    c.on = NULL;
    assert_true(dpc_is_done(last));
    expect_text(dpc_finish(last, &error), "10.0");
    clReleaseEvent(gate);
    dpc_value_free(in);
    dpc_value_free(factor);
    dpc_error_clear(&error);
    close_all(&c);
}

static void test_refusals(void **state)
{
    (void)state;
    DpcError error = {0};
    Cl c = open_all(NULL);
    cl_device_id device = first_device();
    cl_int code;
    assert_null(dpc_open_queue(c.program, NULL, NULL, &error));
    assert_string_equal(error.text, "the queue is NULL");
    cl_command_queue any = clCreateCommandQueue(c.context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    if (code == CL_SUCCESS) {
        assert_null(dpc_open_queue(c.program, any, NULL, &error));
        assert_string_equal(error.text, "the queue cannot be used: the queue's commands have to run in order");
        clReleaseCommandQueue(any);
    }
    dpc_error_clear(&error);
    close_all(&c);
}

/* On devices whose buffers do not lie in one address space, what is lent is copied. */
static int spaces_apart(void **state)
{
    (void)state;
    return setenv("DP_SPACES", "apart", 1);
}

static int spaces_as_ever(void **state)
{
    (void)state;
    return unsetenv("DP_SPACES");
}
#define APART(test)                                                                                                    \
    {                                                                                                                  \
#test ", copied", test, spaces_apart, spaces_as_ever, NULL                                                     \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_host_memory),
                                       cmocka_unit_test(test_buffers),
                                       cmocka_unit_test(test_results_stay),
                                       cmocka_unit_test(test_growth),
                                       cmocka_unit_test(test_moves_are_done),
                                       cmocka_unit_test(test_tasks),
                                       APART(test_host_memory),
                                       APART(test_buffers),
                                       APART(test_results_stay),
                                       APART(test_growth),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
