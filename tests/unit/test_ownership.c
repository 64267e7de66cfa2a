/* The states of blocks (runtime/ownership.c), on a device with nothing behind it: what operations make of them, and
 * that no others are possible. */
#include "recording_device.h" /* first */

#include "runtime_sequences.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static DpRt *rt;

static int open_hollow(void **state)
{
    (void)state;
    DpOpenError error;
    DpOpenOptions options = {.backend = &recording_backend};
    recording = (struct Recording){.hollow_bytes = UINT64_C(1) << 30};
    rt = dp_rt_open(&test_program, &options, &error);
    assert_non_null(rt);
    return 0;
}

static int close_hollow(void **state)
{
    (void)state;
    assert_false(dp_failed(rt));
    assert_int_equal(rt->heap.live, 0);
    assert_true(dp_heap_check(&rt->heap));
    dp_rt_close(rt);
    assert_int_equal(recording.objects, 0);
    return 0;
}

/* ---- the table ---- */
static void test_table(void **state)
{
    (void)state;
    for (BlockState from = BLOCK_FREE; from < BLOCK_STATES; from++) {
        const bool live = from != BLOCK_FREE && from != BLOCK_RELEASED;
        assert_int_equal(dp_block_may_become(from, BLOCK_RELEASED), live);
        assert_int_equal(dp_block_may_become(from, BLOCK_FREE), from == BLOCK_RELEASED);
        assert_false(dp_block_may_become(from, from));
        for (BlockState to = BLOCK_LAYOUT_UNKNOWN; live && to < BLOCK_RELEASED; to++) /* by what nothing is known of */
            assert_true(from == BLOCK_PLAIN || to == BLOCK_CONTIGUOUS || !dp_block_may_become(from, to));
    }
    assert_false(dp_block_may_become(BLOCK_LAZY, BLOCK_PLAIN)); /* its views would be lost */
}

#ifdef DP_CHECKS
/* In builds that check, a step that is not in the table ends the process; in others it is only wrong. */
static void expect_abort(void (*wrong)(DpBlock *b), DpBlock *b)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        fclose(stderr);
        signal(SIGABRT, SIG_DFL);
        wrong(b);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void free_what_is_held(DpBlock *b) { dp_block_become(b, BLOCK_FREE); }
static void be_lazy_without_layout(DpBlock *b) { dp_block_be_lazy(b, (DpContig){.n = 1}); }
static void read_view_of_nothing(DpBlock *b)
{
    const uint64_t view[2] = {1, 12345};
    DpArr a = {1, b->addr, dp_refs_one(rt, dp_block_retain(b))};
    dp_rt_write(rt, b->addr, view, sizeof view);
    dp_read_view(rt, &a, 0);
}

static void test_asserted(void **state)
{
    (void)state;
    DpBlock *b = dp_block_new(rt, 1, 16);
    expect_abort(free_what_is_held, b);
    expect_abort(be_lazy_without_layout, b);
    expect_abort(read_view_of_nothing, b);
    dp_block_release(rt, b);
}
#endif

/* ---- the life of views ---- */
static DpCol computed_views(DpCtx *ctx, const DpCol *of)
{
    DpCol out;
    dp_map(rt, K_ROWS, 0, ctx, &(uint64_t){dp_col_addr(rt, of)}, &out);
    return out;
}

/* The kernels that look whether views lie one behind the other do nothing here: we answer for them. */
static BlockState looked_at(const DpCol *views, DpCtx *c, bool contiguous)
{
    const uint64_t answer[4] = {0, 0, views->addr, !contiguous};
    uint64_t words[2];
    char error[64];
    assert_true(dp_params_read(&rt->params, "layout-elements=0", error, sizeof error));
    dp_rt_write(rt, DP_MAILBOX, answer, sizeof answer);
    dp_elem_words_of(rt, views, c, 4, words);
    return views->block->state;
}

static void test_views(void **state)
{
    (void)state;
    DpCtx *up = dp_ctx_fn(rt, ROWS), *c = dp_nested_regular(rt, up, 2);
    DpCol data = column(rt, row_elements, ELEMENTS, 4);
    assert_int_equal(data.block->state, BLOCK_PLAIN);
    DpCol views = dp_views(rt, c, &data);
    assert_int_equal(views.block->state, BLOCK_LAZY);
    uint32_t launches = recording.nlaunches;
    assert_non_null(dp_col_contig(&views));
    assert_int_equal(recording.nlaunches, launches); /* known without being written */
    dp_col_addr(rt, &views);
    assert_int_equal(views.block->state, BLOCK_CONTIGUOUS);
    assert_int_equal(recording.nlaunches, launches); /* waits for other moves */
    dp_moves_flush(rt);
    assert_string_equal(recording.launched[launches % RECORDED_LAUNCHES], "dp_moves");
    for (int contiguous = 0; contiguous < 2; contiguous++) {
        DpCol computed = computed_views(up, &views);
        dp_col_set_refs(rt, &computed, dp_refs_of_col(rt, &views, 0));
        assert_int_equal(computed.block->state, BLOCK_LAYOUT_UNKNOWN);
        assert_int_equal(looked_at(&computed, c, contiguous), contiguous ? BLOCK_CONTIGUOUS : BLOCK_PLAIN);
        assert_true(dp_block_is_sound(computed.block));
        dp_col_release(rt, &computed);
    }
    DpCol computed = computed_views(up, &views); /* few elements are not worth a read-back */
    char error[64];
    uint64_t words[2], looks = rt->profile.looks;
    assert_true(dp_params_read(&rt->params, "layout-elements=100", error, sizeof error));
    dp_elem_words_of(rt, &computed, c, 4, words);
    assert_true(computed.block->state == BLOCK_PLAIN && rt->profile.looks == looks && words[0] == 0);
    dp_col_release(rt, &computed);
    dp_col_release(rt, &data);
    assert_ptr_equal(dp_sole_elements(&views), views.block->refs->blocks[0]);
    dp_block_forget_layout(rt, views.block);
    assert_int_equal(views.block->state, BLOCK_PLAIN);
    assert_null(dp_sole_elements(&views));
    dp_col_release(rt, &views);
    dp_ctx_release(rt, &c);
    dp_ctx_release(rt, &up);
}

/* A masked update owns its views, which are told apart from those that they come from; a loop keeps that. */
static void test_disjoint(void **state)
{
    (void)state;
    DpCtx *up = dp_ctx_fn(rt, ROWS), *c = dp_nested_regular(rt, up, 2);
    DpCol data = column(rt, row_elements, ELEMENTS, 4), views = dp_views(rt, c, &data);
    DpCol index = dp_new_col(rt, ROWS, 8), value = dp_new_col(rt, ROWS, 4);
    DpCol out = dp_update(rt, up, &views, false, true, &index, &value);
    assert_int_equal(out.block->state, BLOCK_DISJOINT);
    assert_true(out.block->shared && !dp_holds_alone(&out, data.block));
    assert_true(dp_col_disjoint(&out));
    dp_block_forget_layout(rt, out.block);
    assert_int_equal(out.block->state, BLOCK_PLAIN);
    assert_true(!out.block->shared && !dp_col_disjoint(&out));
    DpCol *const all[] = {&out, &value, &index, &views, &data};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        dp_col_release(rt, all[i]);
    dp_ctx_release(rt, &c);
    dp_ctx_release(rt, &up);
}

/* Blocks that hold each other's views end one after the other, however long the chain is. */
static void test_released(void **state)
{
    (void)state;
    enum { LONG = 100000 };
    DpBlock *b = dp_block_new(rt, 1, 16), *first = b;
    for (int i = 0; i < LONG; i++) {
        DpBlock *next = dp_block_new(rt, 1, 16);
        dp_block_add_refs(rt, next, dp_refs_one(rt, b));
        b = next;
    }
    assert_true(dp_heap_check(&rt->heap));
    dp_block_release(rt, b);
    assert_true(first->state == BLOCK_FREE || rt->heap.blocks->behind == NULL);
}

/* ---- waiting ---- */
/* The host reads the record of failures only where a kernel may have written it; it waits in any case. */
static void test_waits(void **state)
{
    (void)state;
    const uint32_t kernels[] = {K_MAP, K_FAIL, K_MAP};
    const long read[] = {0, 1, 0};
    DpCtx *c = dp_ctx_fn(rt, 10);
    const uint64_t words[2] = {0};
    for (int i = 0; i < 3; i++) {
        DpCol out;
        dp_map(rt, kernels[i], 0, c, words, &out);
        const uint64_t waits = rt->profile.looks;
        const long reads = recording.reads;
        dp_check(rt);
        assert_int_equal(recording.reads - reads, read[i]);
        assert_int_equal(rt->profile.looks - waits, 1);
        dp_check(rt); /* knows it now */
        assert_int_equal(rt->profile.looks - waits, 1);
        dp_col_release(rt, &out);
    }
    dp_ctx_release(rt, &c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_table, open_hollow, close_hollow),
#ifdef DP_CHECKS
        cmocka_unit_test_setup_teardown(test_asserted, open_hollow, close_hollow),
#endif
        cmocka_unit_test_setup_teardown(test_views, open_hollow, close_hollow),
        cmocka_unit_test_setup_teardown(test_disjoint, open_hollow, close_hollow),
        cmocka_unit_test_setup_teardown(test_released, open_hollow, close_hollow),
        cmocka_unit_test_setup_teardown(test_waits, open_hollow, close_hollow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
