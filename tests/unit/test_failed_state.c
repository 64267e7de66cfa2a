/* Each call of the host's allocator and of the device fails in turn, once or from then on, in the middle of what a
 * program does with the runtime, and nobody looks until its end: it gets there, the failure is kept, all is given back,
 * and the runtime goes on. The linker puts the functions below in the place of the allocator's (--wrap); OpenCL's own
 * calls fail in tests/attack. */
#include "recording_device.h"
#include "runtime_sequences.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* ---- calls that fail ---- */
static struct Injection {
    bool counting, sticky;
    long calls, at;   /* 0: none fails */
    long allocations; /* alive */
} injection;

typedef enum Kind { OF_MEMORY, OF_DEVICE } Kind;

static bool allocation_fails(void)
{
    if (!injection.counting)
        return false;
    injection.calls++;
    return injection.at && (injection.sticky ? injection.calls >= injection.at : injection.calls == injection.at);
}

void *__real_malloc(size_t n), *__real_calloc(size_t n, size_t size), *__real_realloc(void *old, size_t n);
void *__wrap_malloc(size_t n), *__wrap_calloc(size_t n, size_t size), *__wrap_realloc(void *old, size_t n);
char *__real_strdup(const char *s), *__wrap_strdup(const char *s);
void __real_free(void *p), __wrap_free(void *p);

static void *counted(void *p)
{
    injection.allocations += p != NULL;
    return p;
}

void *__wrap_malloc(size_t n) { return allocation_fails() ? NULL : counted(__real_malloc(n)); }
void *__wrap_calloc(size_t n, size_t size) { return allocation_fails() ? NULL : counted(__real_calloc(n, size)); }
char *__wrap_strdup(const char *s) { return allocation_fails() ? NULL : counted(__real_strdup(s)); }
void *__wrap_realloc(void *old, size_t n)
{
    if (allocation_fails())
        return NULL;
    void *p = __real_realloc(old, n);
    injection.allocations += p && !old;
    return p;
}
void __wrap_free(void *p)
{
    injection.allocations -= p != NULL;
    __real_free(p);
}

static void inject(Kind kind, long at, bool sticky)
{
    injection.calls = recording.calls = 0;
    injection.at = recording.at = at;
    injection.sticky = recording.sticky = sticky;
    injection.counting = kind == OF_MEMORY;
    recording.counting = kind == OF_DEVICE;
}

/* How many calls there were. */
static long end_injection(void)
{
    injection.counting = recording.counting = false;
    return injection.calls + recording.calls;
}

/* ---- runtimes ---- */
static DpRt *open_runtime(DpOpenError *error)
{
    DpOpenOptions options = {.backend = &recording_backend};
    return dp_rt_open(&test_program, &options, error);
}

static int set_shape(void **state)
{
    setenv("DP_SHAPE", *state, 1);
    setenv("DP_TIER", strcmp(*state, "cpu") == 0 ? "quick" : "optimised", 1); /* no kernel is made in the middle */
    unsetenv("DP_POISON");
    setenv("DP_HEAP_START", "4096", 1);
    return 0;
}

static void expect_all_free(const DpRt *rt)
{
    assert_true(dp_heap_check(&rt->heap));
    assert_int_equal(rt->heap.live, (rt->words.block != NULL) + (rt->lookback.block != NULL));
}

/* The failure is there, of the kind that was injected; then the runtime is made to go on. A device's failure was ours:
 * the device is well. */
static void expect_failure(DpRt *rt, Kind kind, const char *name, long at)
{
    end_injection();
    if (dp_failure(rt).status != EXIT_MEMORY && dp_failure(rt).status != EXIT_DEVICE)
        fail_msg("%s: call %ld of kind %d: status %d: %s", name, at, kind, dp_failure(rt).status,
                 dp_failure(rt).message);
    assert_true(strlen(dp_failure(rt).message) > 0);
    if (dp_failure(rt).status == EXIT_DEVICE) {
        assert_false(dp_clear_failure(rt));
        rt->status = EXIT_MEMORY;
    }
    assert_true(dp_clear_failure(rt));
    assert_false(dp_failed(rt));
}

/* Each k-th call within one sequence on an open device, whose kernels are built. */
static void fail_each(DpRt *rt, int s, Kind kind, bool sticky)
{
    const char *name = sequences[s].name;
    uint64_t digest = sequences[s].run(rt);
    assert_false(dp_failed(rt));
    long allocations = injection.allocations, objects = recording.objects, failures = 0;
    inject(kind, 0, false);
    assert_true(sequences[s].run(rt) == digest);
    long n = end_injection();
    for (long k = 1; k <= n; k++) {
        inject(kind, k, sticky);
        sequences[s].run(rt);
        end_injection();
        if (dp_failed(rt)) {
            failures++;
            expect_failure(rt, kind, name, k);
        }
        expect_all_free(rt);
        if (injection.allocations != allocations || recording.objects != objects)
            fail_msg("%s: call %ld of kind %d: %ld allocations and %ld objects are left", name, k, kind,
                     injection.allocations - allocations, recording.objects - objects);
        if (k % 16 == 0)
            assert_true(sequences[s].run(rt) == digest);
    }
    assert_true(sequences[s].run(rt) == digest);
    assert_false(dp_failed(rt));
    assert_true(failures > n / 2); /* some calls can be done without */
}

static void test_warm(void **state)
{
    (void)state;
    DpOpenError error;
    long allocations = injection.allocations, objects = recording.objects;
    DpRt *rt = open_runtime(&error);
    assert_non_null(rt);
    rt->heap.always_compact = true;
    for (int s = 0; s < SEQUENCES; s++) { /* the heap grows */
        sequences[s].run(rt);
        if (rt->heap.live > (rt->words.block != NULL))
            fail_msg("%s leaves %llu blocks", sequences[s].name, (unsigned long long)rt->heap.live);
    }
    for (int s = 0; s < SEQUENCES; s++)
        for (int kind = 0; kind < 2; kind++)
            for (int sticky = 0; sticky < 2; sticky++)
                fail_each(rt, s, (Kind)kind, sticky);
    dp_rt_close(rt);
    assert_int_equal(injection.allocations, allocations);
    assert_int_equal(recording.objects, objects);
}

/* Opening, building kernels, growing: on a runtime that is opened for it, and closed in whatever state it is. */
static void fail_cold(Kind kind, long k, bool sticky, uint64_t digest)
{
    DpOpenError error;
    long allocations = injection.allocations, objects = recording.objects;
    inject(kind, k, sticky);
    DpRt *rt = open_runtime(&error);
    if (rt) {
        uint64_t got = run_sorts(rt);
        end_injection();
        assert_true(dp_failed(rt) || got == digest);
        expect_all_free(rt);
        injection.counting = sticky && kind == OF_MEMORY; /* a device that does not finish could still write */
        dp_rt_close(rt);
    }
    end_injection();
    if (injection.allocations != allocations || recording.objects != objects)
        fail_msg("call %ld of kind %d: %ld allocations and %ld objects are left", k, kind,
                 injection.allocations - allocations, recording.objects - objects);
}

static void test_cold(void **state)
{
    (void)state;
    DpOpenError error;
    for (int kind = 0; kind < 2; kind++) {
        inject((Kind)kind, 0, false);
        DpRt *rt = open_runtime(&error);
        assert_non_null(rt);
        uint64_t digest = run_sorts(rt);
        dp_rt_close(rt);
        long n = end_injection();
        for (long k = 1; k <= n; k += k < 40 ? 1 : 1 + n / 40) /* the first ones open it */
            fail_cold((Kind)kind, k, k % 2 == 0, digest);
    }
}

/* ---- what is whole stays whole ---- */
static void test_kept(void **state)
{
    (void)state;
    DpOpenError error;
    DpRt *rt = open_runtime(&error);
    assert_non_null(rt);
    DpArr a = dp_array_root(rt, row_elements, 4, ELEMENTS, NULL);
    DpCtx *c = dp_nested_root(rt, ELEMENTS);
    dp_fail(rt, 1, 12, 10, 0);
    assert_int_equal(dp_failure(rt).status, EXIT_PROGRAM);
    DpCol nothing = dp_elems_root(rt, &a, c, 4);
    assert_int_equal(nothing.n, 0);
    assert_int_equal(dp_read_scalar(rt, &a, 2, DP_I32), 0);
    DpCtx *none = dp_nested_regular(rt, c, 3), *more = dp_nested_views(rt, none, &nothing);
    assert_true(none && more && dp_ctx_n(none) == 0 && dp_ctx_n(more) == 0);
    dp_fail(rt, 0, 0, 0, 0);
    assert_non_null(strstr(dp_failure(rt).message, "index 12 out of bounds for length 10"));
    for (long call = 1; call <= 2; call++) { /* a device that does not finish, or takes no write: it stays failed */
        inject(OF_DEVICE, call, false);
        assert_false(dp_clear_failure(rt));
        end_injection();
        assert_true(dp_failed(rt));
    }
    assert_true(dp_clear_failure(rt));
    assert_int_equal(dp_read_scalar(rt, &a, 2, DP_I32), row_elements[2]);
    uint64_t digest = run_folds(rt);
    assert_true(!dp_failed(rt) && run_folds(rt) == digest);
    dp_ctx_release(rt, &more);
    dp_ctx_release(rt, &none);
    dp_ctx_release(rt, &c);
    dp_arr_release(rt, &a);
    expect_all_free(rt);
    dp_rt_close(rt);
}

int main(int argc, char **argv)
{
    static char cpu[] = "cpu", gpu[] = "gpu";
    const struct CMUnitTest tests[] = {
        {"test_warm (cpu shape)", test_warm, set_shape, NULL, cpu},
        {"test_warm (gpu shape)", test_warm, set_shape, NULL, gpu},
        {"test_cold", test_cold, set_shape, NULL, cpu},
        {"test_kept", test_kept, set_shape, NULL, cpu},
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
