/* Launches of little work, which the host executes itself (runtime/calls.c), where PoCL is one that allows that. */
#include "recording_device.h" /* first */

#include "runtime_world.h"

static void open_with(const char *params)
{
    DpOpenError error;
    DpOpenOptions options = {.backend = &recording_backend};
    setenv("DP_SHAPE", "cpu", 1);
    setenv("DP_PARAMS", params, 1);
    recording = (struct Recording){.counting = true};
    rt = dp_rt_open(&test_program, &options, &error);
    if (!rt)
        fail_msg("%s", error.text);
    unsetenv("DP_PARAMS");
    if (!rt->device->facts.calls) {
        teardown(NULL);
        skip();
    }
}

enum { FEW = 1, MANY = 100000, ROUNDS = 30, NO_VALUE = -1 };

/* Copies elements; fails at the value `wrong`. */
static void copy(DpCtx *c, const DpCol *xs, int wrong, bool looks)
{
    const uint64_t words[2] = {xs->addr, (uint64_t)(int64_t)wrong};
    DpCol out;
    dp_map(rt, K_FAIL, 0, c, words, &out);
    if (looks)
        dp_check(rt);
    if (looks && !dp_failed(rt)) {
        int32_t *got = alloc(c->n, 4);
        dp_rt_read(rt, out.addr, got, c->n * 4);
        for (uint64_t i = 0; i < c->n; i++)
            assert_int_equal(got[i], 3 * (int)i);
        free(got);
    }
    dp_col_release(rt, &out);
}

/* How many of ROUNDS launches over n elements were calls. */
static uint32_t count_calls(uint64_t n, bool looks)
{
    int32_t *x = alloc(n, 4);
    for (uint64_t i = 0; i < n; i++)
        x[i] = 3 * (int)i;
    DpCol xs = upload_col(x, n, 4);
    DpCtx *c = dp_ctx_fn(rt, n);
    const uint32_t before = recording.ncalls, launched = recording.nlaunches;
    for (int round = 0; round < ROUNDS; round++)
        copy(c, &xs, NO_VALUE, looks);
    dp_check(rt);
    expect_no_failure();
    const uint32_t calls = recording.ncalls - before;
    assert_int_equal(calls + recording.nlaunches - launched, ROUNDS);
    dp_col_release(rt, &xs);
    dp_ctx_release(rt, &c);
    free(x);
    return calls;
}

/* PoCL compiles a kernel when it first runs. */
static void test_small(void **state)
{
    (void)state;
    open_with("call-us=10,call-stretch-us=0");
    assert_int_equal(count_calls(FEW, true), ROUNDS - 1);
    assert_int_equal(count_calls(FEW, true), ROUNDS);
    assert_int_equal(count_calls(MANY, true), 0); /* of a cost that is not known, in several work-groups */
}

static void test_forced(void **state)
{
    (void)state;
    open_with("call-us=1000000000");
    assert_int_equal(count_calls(MANY, true), ROUNDS - 1);
}

static void test_never(void **state)
{
    (void)state;
    open_with("call-us=0");
    assert_int_equal(count_calls(FEW, true), 0);
}

/* What nobody waits for is joined by what comes next, a few times. */
static void test_in_a_row(void **state)
{
    (void)state;
    open_with("call-us=10");
    const uint32_t calls = count_calls(FEW, false);
    assert_true(calls > 0 && calls < ROUNDS - 4);
}

static void set_param(const char *text)
{
    char error[200];
    assert_true(dp_params_read(&rt->params, text, error, sizeof error));
}

/* Launches that are not small are calls where all until the host waits are not much. */
static void test_stretches(void **state)
{
    (void)state;
    open_with("call-us=1000000000");
    count_calls(MANY, true); /* what they take is known */
    set_param("call-us=1,call-stretch-us=0");
    assert_int_equal(count_calls(MANY, true), 0);
    set_param("call-stretch-us=1000000000");
    assert_int_equal(count_calls(MANY, true), ROUNDS);
    set_param("call-us=0");
    assert_int_equal(count_calls(MANY, true), 0);
}

static void test_failures(void **state)
{
    (void)state;
    int32_t x[FEW];
    open_with("call-us=10");
    count_calls(FEW, true);
    for (int i = 0; i < FEW; i++)
        x[i] = 3 * i;
    DpCol xs = upload_col(x, FEW, 4);
    DpCtx *c = dp_ctx_fn(rt, FEW);
    const uint32_t before = recording.ncalls;
    copy(c, &xs, 0, true);
    assert_int_equal(recording.ncalls, before + 1);
    assert_true(dp_failed(rt));
    assert_int_equal(dp_failure(rt).status, 1);
    assert_true(dp_clear_failure(rt));
    copy(c, &xs, NO_VALUE, true);
    dp_col_release(rt, &xs);
    dp_ctx_release(rt, &c);
    expect_no_failure();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_small, teardown),     cmocka_unit_test_teardown(test_forced, teardown),
        cmocka_unit_test_teardown(test_never, teardown),     cmocka_unit_test_teardown(test_in_a_row, teardown),
        cmocka_unit_test_teardown(test_stretches, teardown), cmocka_unit_test_teardown(test_failures, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
