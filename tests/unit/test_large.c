/* More than 2^32 elements, on a device with nothing behind it that claims the memory: what does not number elements
 * works, and what does says so. Never is it "out of memory" where there is memory. */
#include "recording_device.h" /* first */

#include "runtime_sequences.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const uint64_t MORE = 5000000000; /* than are numbered */
static DpRt *rt;

static int open_hollow(void **state)
{
    (void)state;
    DpOpenError error;
    DpOpenOptions options = {.backend = &recording_backend};
    recording = (struct Recording){.hollow_bytes = UINT64_C(1) << 39};
    rt = dp_rt_open(&test_program, &options, &error);
    assert_non_null(rt);
    return 0;
}

static int close_hollow(void **state)
{
    (void)state;
    assert_int_equal(rt->heap.live, rt->words.block != NULL);
    assert_true(dp_heap_check(&rt->heap));
    dp_rt_close(rt);
    return 0;
}

static void expect_numbered(void)
{
    assert_int_equal(dp_failure(rt).status, EXIT_MEMORY);
    assert_string_equal(dp_failure(rt).message, "f.dp: error: too many elements: 5000000000 in one operation, at most "
                                                "4294967295 are numbered");
    assert_true(dp_clear_failure(rt));
}

static void expect_well(void)
{
    if (dp_failed(rt))
        fail_msg("%s", dp_failure(rt).message);
}

static DpArr large(uint64_t n) { return dp_arr_of_block(rt, dp_block_new(rt, n, 1), n); }

/* Kept, read, changed, sliced, summed. */
static void test_works(void **state)
{
    (void)state;
    const uint8_t x = 42;
    DpArr a = large(MORE), b = dp_update_root(rt, &a, false, (int64_t)MORE - 1, &x, 1, NULL);
    expect_well();
    assert_int_equal(b.len, MORE);
    assert_int_equal(dp_read_scalar(rt, &b, MORE - 1, DP_U8), 42);
    DpCol col = dp_elems_root(rt, &a, NULL, 1), part = dp_slice_col(rt, &col, MORE - 10, 10);
    assert_true(part.n == 10 && part.addr == a.addr + MORE - 10);
    DpCtx *c = dp_nested_root(rt, MORE);
    uint64_t bits[DP_MAX_OUTS];
    dp_reduce_root(rt, K_SUM, 0, c, &col.addr, bits);
    expect_well();
    DpArr again = dp_views_root(rt, c, &col);
    assert_true(again.len == MORE && again.addr == a.addr);
    dp_arr_release(rt, &again);
    dp_ctx_release(rt, &c);
    dp_col_release(rt, &part);
    dp_col_release(rt, &col);
    dp_arr_release(rt, &b);
    dp_arr_release(rt, &a);
    expect_well();
}

/* A loop's state that could be stored anew in less memory is left where it is: storing it would number its elements. */
static void test_compaction(void **state)
{
    (void)state;
    DpArr a = large(3 * MORE);
    a.len = MORE;
    dp_compact_root(rt, &a, 1, 1);
    expect_well();
    assert_int_equal(a.len, MORE);
    dp_arr_release(rt, &a);
    DpCol data = {dp_block_new(rt, 3 * MORE, 1), 0, MORE, 1};
    data.addr = data.block->addr;
    DpCol views = dp_views_of_offsets(rt, offsets_regular(MORE), 1, data.addr, MORE, 1, data.block);
    dp_col_release(rt, &data);
    dp_compact(rt, &views, 1, 1);
    expect_well();
    assert_int_equal(dp_col_contig(&views)->total, MORE);
    dp_col_release(rt, &views);
}

/* Instances that columns or indices are made for. */
static void test_refused(void **state)
{
    (void)state;
    DpCtx *c = dp_nested_root(rt, MORE), *packed;
    const uint64_t word = 0;
    DpCol out[DP_MAX_OUTS];
    DpArr keys = large(MORE);
    const uint8_t scalar = DP_U8;
    dp_map(rt, K_MAP, 0, c, &word, out);
    expect_numbered();
    dp_scan(rt, K_SCAN, 0, c, &word, out);
    expect_numbered();
    packed = dp_pack(rt, K_PACK, 0, c, &word);
    dp_ctx_release(rt, &packed);
    expect_numbered();
    DpArr order;
    dp_argsort_root(rt, 1, &(const DpSortTypes){1, &scalar, 0, NULL, 0, 0}, &keys, NULL, &order);
    dp_arr_release(rt, &order);
    expect_numbered();
    Sorted sorted = dp_sort_by(rt, MORE, keys.addr, DP_U8); /* a histogram's values by their bins */
    dp_block_release(rt, sorted.keys);
    dp_block_release(rt, sorted.along);
    expect_numbered();
    dp_arr_release(rt, &keys);
    dp_ctx_release(rt, &c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_works, open_hollow, close_hollow),
        cmocka_unit_test_setup_teardown(test_compaction, open_hollow, close_hollow),
        cmocka_unit_test_setup_teardown(test_refused, open_hollow, close_hollow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
