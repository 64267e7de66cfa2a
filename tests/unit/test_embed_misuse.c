/* libdpc in the hands of callers that get things wrong: what can be told is an error, with a message; memory stays flat
 * whatever fails; two contexts share a queue; a forked process is told that it has none. */
#define CL_TARGET_OPENCL_VERSION 120
#define _DEFAULT_SOURCE
#include "dpc.h"

#include <CL/cl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sanitized.h"

static const char source[] = "entry pick (xs: [i64]) (i: i64) : i64 = xs[i]\n"
                             "entry twice (xs: [f32]) : [f32] = { 2.0 * x : x in xs }\n"
                             "entry grid (m: [[f32]]) : [f32] = { sum row : row in m }\n";

static DpcError error;

static void expect_error(const void *result, int status, const char *text)
{
    assert_null(result);
    assert_int_equal(error.status, status);
    if (!strstr(error.text, text))
        fail_msg("%s, not %s", error.text, text);
    dpc_error_clear(&error);
}

static DpcProgram *compiled(void)
{
    DpcProgram *p = dpc_compile("test.dp", source, &error);
    if (!p)
        fail_msg("%s", error.text);
    return p;
}

static DpcContext *opened(const DpcProgram *p)
{
    DpcContext *c = dpc_open(p, NULL, &error);
    if (!c)
        fail_msg("%s", error.text);
    return c;
}

/* ---- NULL ---- */
static void test_null_programs(void **state)
{
    (void)state;
    expect_error(dpc_compile(NULL, source, &error), 2, "NULL");
    expect_error(dpc_compile("a.dp", NULL, &error), 2, "NULL");
    expect_error(dpc_compile_file(NULL, &error), 2, "NULL");
    expect_error(dpc_explain(NULL, source, NULL, NULL, 0, &error), 2, "NULL");
    expect_error(dpc_open(NULL, NULL, &error), 2, "the program is NULL");
    assert_null(dpc_compile("a.dp", "entry main = ", NULL)); /* nobody wants to know why */
    assert_string_equal(dpc_warnings(NULL), "");
    assert_int_equal(dpc_entry_count(NULL), 0);
    assert_null(dpc_entry(NULL, 0).name);
    dpc_program_free(NULL);
    dpc_close(NULL);
    dpc_error_clear(NULL);
}

static void test_null_calls(void **state)
{
    (void)state;
    DpcProgram *p = compiled();
    DpcContext *c = opened(p);
    assert_null(dpc_entry(p, 99).name);
    expect_error(dpc_call(NULL, "pick", NULL, 0, &error), 2, "the context is NULL");
    expect_error(dpc_call_device(NULL, "pick", NULL, 0, &error), 2, "the context is NULL");
    expect_error(dpc_call(c, NULL, NULL, 0, &error), 2, "there is no entry NULL");
    expect_error(dpc_call(c, "pick", NULL, 2, &error), 2, "argument xs of pick: [i64] is wanted, not NULL");
    assert_null(dpc_call(c, "pick", NULL, 2, NULL));
    expect_error(dpc_start(NULL, "pick", NULL, 0, NULL, &error), 2, "the context is NULL");
    expect_error(dpc_start(c, NULL, NULL, 0, NULL, &error), 2, "NULL");
    expect_error(dpc_start(c, "pick", NULL, 2, NULL, &error), 2, "NULL");
    expect_error(dpc_start(c, "pick", NULL, 0, &(DpcStart){.waits = 1}, &error), 2, "NULL");
    expect_error(dpc_finish(NULL, &error), 2, "the task is NULL");
    assert_true(dpc_is_done(NULL));
    assert_null(dpc_event(NULL));
    dpc_close(c);
    dpc_program_free(p);
}

static void test_wrong_values(void **state)
{
    (void)state;
    const uint64_t shape[2] = {UINT64_C(1) << 40, UINT64_C(1) << 40};
    const int64_t n = 1;
    assert_null(dpc_scalar(NULL, &n));
    assert_null(dpc_scalar("i64", NULL));
    assert_null(dpc_scalar("[i64]", &n));
    assert_null(dpc_scalar("%s%n", &n));
    assert_null(dpc_array(NULL, &n, 1, shape));
    assert_null(dpc_array("i64", NULL, 1, shape));
    assert_null(dpc_array("i64", &n, 1, NULL));
    assert_null(dpc_array("i64", &n, 2, shape)); /* more than can be */
    assert_null(dpc_array("i64", &n, 0, shape));
    assert_null(dpc_array("i64", &n, DPC_MAX_RANK + 1, shape));
    assert_null(dpc_array("i65", &n, 1, shape));
    assert_null(dpc_buffer("f32", NULL, 0, 1, shape));
    assert_null(dpc_buffer(NULL, NULL, 0, 1, NULL));
    assert_null(dpc_value(NULL, NULL));
    assert_null(dpc_value("[i64]", NULL));
    assert_null(dpc_value("[i64]", &(DpcLeaf){.rank = 1}));
    assert_null(dpc_value("[[[", &(DpcLeaf){.rank = 1}));
    expect_error(dpc_literal(NULL, "1", &error), 2, "not a type");
    expect_error(dpc_literal("i64", NULL, &error), 2, "no text");
    assert_null(dpc_literal("i64", "x", NULL));
    assert_int_equal(dpc_leaf_count(NULL), 0);
    assert_null(dpc_leaf(NULL, 0).scalar);
    assert_null(dpc_text(NULL));
    assert_int_equal(dpc_fetch(NULL, &error), 0);
    assert_int_equal(dpc_copy(NULL, 0, NULL, 0, &error), 0);
    dpc_error_clear(&error);
    dpc_value_free(NULL);
}

/* ---- buffers ---- */
typedef struct Cl {
    cl_context context;
    cl_command_queue queue;
} Cl;

static Cl open_cl(void)
{
    cl_platform_id platform;
    cl_device_id device;
    assert_int_equal(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    Cl c = {.context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL)};
    c.queue = clCreateCommandQueue(c.context, device, 0, NULL);
    assert_true(c.context && c.queue);
    return c;
}

static void close_cl(Cl *c)
{
    clReleaseCommandQueue(c->queue);
    clReleaseContext(c->context);
}

/* Too short, or of another context: said, and the context goes on. */
static void test_wrong_buffers(void **state)
{
    (void)state;
    const float xs[4] = {1, 2, 3, 4};
    Cl cl = open_cl(), other = open_cl();
    DpcProgram *p = compiled();
    DpcContext *c = dpc_open_queue(p, cl.queue, NULL, &error);
    cl_mem b = clCreateBuffer(cl.context, CL_MEM_COPY_HOST_PTR, sizeof xs, (void *)(uintptr_t)xs, NULL);
    cl_mem foreign = clCreateBuffer(other.context, CL_MEM_READ_WRITE, sizeof xs, NULL, NULL);
    DpcValue *right = dpc_buffer("f32", b, 8, 1, &(uint64_t){2}), *far = dpc_buffer("f32", b, 8, 1, &(uint64_t){3}),
             *theirs = dpc_buffer("f32", foreign, 0, 1, &(uint64_t){4});
    expect_error(dpc_call(c, "twice", (const DpcValue *[]){far}, 1, &error), 2,
                 "a buffer has 16 bytes, and 12 from byte 8 on are wanted");
    expect_error(dpc_call(c, "twice", (const DpcValue *[]){theirs}, 1, &error), 2, "a buffer is none of the context's");
    DpcValue *result = dpc_call_device(c, "twice", (const DpcValue *[]){right}, 1, &error);
    assert_non_null(result);
    assert_int_equal(dpc_copy(result, 0, b, 12, &error), 0);
    assert_non_null(strstr(error.text, "a buffer has 16 bytes, and 8 from byte 12 on are wanted"));
    assert_int_equal(dpc_copy(result, 0, foreign, 0, &error), 0);
    assert_int_equal(dpc_copy(result, 0, b, 0, &error), 1);
    assert_true(dpc_fetch(result, &error));
    assert_true(((const float *)dpc_leaf(result, 0).data)[1] == 8);
    dpc_close(c);
    dpc_program_free(p);
    dpc_value_free(result); /* outlives both */
    dpc_value_free(right);
    dpc_value_free(far);
    dpc_value_free(theirs);
    dpc_error_clear(&error);
    clReleaseMemObject(b);
    clReleaseMemObject(foreign);
    close_cl(&cl);
    close_cl(&other);
}

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

/* ---- threads ---- */
enum { ROUNDS = 100 };
typedef struct Caller {
    DpcContext *context;
    float first;
    bool right;
} Caller;

static void *call_often(void *data)
{
    Caller *w = data;
    DpcError why = {0};
    float xs[64];
    w->right = true;
    for (int i = 0; w->right && i < ROUNDS; i++) {
        for (int k = 0; k < 64; k++)
            xs[k] = w->first + (float)(i + k);
        DpcValue *in = dpc_array("f32", xs, 1, &(uint64_t){64});
        DpcValue *out = dpc_call(w->context, "twice", (const DpcValue *[]){in}, 1, &why);
        const float *got = out ? dpc_leaf(out, 0).data : NULL;
        w->right = got && got[0] == 2 * xs[0] && got[63] == 2 * xs[63];
        dpc_value_free(out);
        dpc_value_free(in);
    }
    dpc_error_clear(&why);
    return NULL;
}

/* Two contexts on one queue, each with a thread. */
static void test_one_queue(void **state)
{
    (void)state;
    Cl cl = open_cl();
    DpcProgram *p = compiled();
    Caller callers[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        callers[i] = (Caller){dpc_open_queue(p, cl.queue, NULL, &error), (float)(1000 * i), false};
        assert_non_null(callers[i].context);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        assert_true(callers[i].right);
        dpc_close(callers[i].context);
    }
    dpc_program_free(p);
    close_cl(&cl);
}

/* ---- memory ---- */
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

/* Sanitizers and valgrind (which sets the variable) keep what is freed, and take their time. */
static bool is_watched(void)
{
#ifdef SANITIZED
    return true;
#else
    return getenv("DPC_FEW_ROUNDS") != NULL;
#endif
}

/* Of so many rounds the second half takes no more memory than that. */
static void expect_flat(void (*round)(const void *data), const void *data, int rounds, long kilobytes)
{
    const int half = is_watched() ? rounds / 100 : rounds / 2;
    for (int i = 0; i < half; i++)
        round(data);
    const long before = resident_kilobytes();
    for (int i = 0; i < half; i++)
        round(data);
    const long more = resident_kilobytes() - before;
    print_message("%d rounds: %ld kB more in the second half\n", 2 * half, more);
    assert_true(more <= kilobytes || is_watched());
}

static void fail_once(const void *data)
{
    static const int64_t xs[3] = {1, 2, 3}, far = 3;
    DpcValue *in = dpc_array("i64", xs, 1, &(uint64_t){3}), *at = dpc_scalar("i64", &far);
    assert_null(dpc_call((DpcContext *)(uintptr_t)data, "pick", (const DpcValue *[]){in, at}, 2, &error));
    assert_int_equal(error.status, 1);
    dpc_value_free(in);
    dpc_value_free(at);
}

static void compile_wrong(const void *data)
{
    (void)data;
    assert_null(dpc_compile("wrong.dp", "entry main (x: i64) : f32 = x + nothing", &error));
}

static void open_once(const void *data) { dpc_close(opened(data)); }

static void test_memory(void **state)
{
    (void)state;
    DpcProgram *p = compiled();
    DpcContext *c = opened(p);
    expect_flat(fail_once, c, 100000, 512);
    expect_flat(compile_wrong, NULL, 200, 2048);
    dpc_close(c);
    expect_flat(open_once, p, 1000, 2048);
    dpc_program_free(p);
    dpc_error_clear(&error);
}

/* ---- fork ---- */
static int in_child(DpcProgram *p, DpcContext *c, DpcValue *kept, DpcValue *in)
{
    DpcError why = {0};
    bool told = !dpc_call(c, "twice", (const DpcValue *[]){in}, 1, &why) && why.status == 4 &&
                strstr(why.text, "the process that this one was forked from");
    told = told && !dpc_start(c, "twice", (const DpcValue *[]){in}, 1, NULL, &why) && !dpc_fetch(kept, &why);
    told = told && !dpc_leaf(kept, 0).buffer;
    dpc_value_free(kept);
    dpc_close(c);
    dpc_program_free(p);
    dpc_error_clear(&why);
    return told ? 0 : 1;
}

static void test_fork(void **state)
{
    (void)state;
    const float xs[3] = {1, 2, 3};
    DpcProgram *p = compiled();
    DpcContext *c = opened(p);
    DpcValue *in = dpc_array("f32", xs, 1, &(uint64_t){3});
    DpcValue *kept = dpc_call_device(c, "twice", (const DpcValue *[]){in}, 1, &error);
    assert_non_null(kept);
    const pid_t child = fork();
    if (child == 0) { /* becomes another program: valgrind would ask it at its end for what it leaves to its parent */
        const char *said = in_child(p, c, kept, in) ? "false" : "true";
        execlp(said, said, (char *)NULL);
        _exit(2);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(dpc_fetch(kept, &error)); /* it is still there */
    assert_true(((const float *)dpc_leaf(kept, 0).data)[2] == 6);
    dpc_value_free(kept);
    dpc_value_free(in);
    dpc_close(c);
    dpc_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_programs),
        cmocka_unit_test(test_null_calls),
        cmocka_unit_test(test_wrong_values),
        cmocka_unit_test(test_wrong_buffers),
        {"test_wrong_buffers, copied", test_wrong_buffers, spaces_apart, spaces_as_ever, NULL},
        cmocka_unit_test(test_one_queue),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
