/* Numbers and failures that kernels post to the host's memory (runtime/mailbox.c), and arguments that stay on the
 * device (dp_keep_args), with PoCL as a device that does so. */
#include "runtime_world.h"

static int opened(void **state, int (*open)(void **))
{
    setenv("DP_SPACES", "posts", 1);
    open(state);
    unsetenv("DP_SPACES");
    return 0;
}

static int posting_cpu(void **state) { return opened(state, open_cpu); }

static int posting_gpu(void **state) { return opened(state, open_gpu); }

/* n lengths from `first` on, one more each. */
static void expect_sums(int64_t first, uint64_t n)
{
    int64_t *x = alloc(n, 8), sum = 0, least, total;
    for (uint64_t i = 0; i < n; i++)
        sum += x[i] = first + (int64_t)i;
    DpArr lengths = dp_array_root(rt, x, 8, n, NULL);
    DpCtx *c = dp_ctx_fn(rt, n);
    DpCol col = dp_lengths(rt, c, &lengths, &least, &total);
    assert_int_equal(total, sum);
    assert_int_equal(least, first < 0 ? first : 0);
    dp_col_release(rt, &col);
    dp_ctx_release(rt, &c);
    dp_arr_release(rt, &lengths);
    free(x);
}

static void numbers_arrive(void **state)
{
    (void)state;
    if (!rt->device->facts.posts)
        skip();
    assert_int_not_equal(rt->mail.posted.distance, 0);
    expect_sums(1, 3);
    expect_sums(5, 3000);
    const uint64_t bytes = rt->heap.buffer.bytes;
    expect_sums(7, 600000); /* the heap grows */
    assert_true(rt->heap.buffer.bytes > bytes);
    assert_int_not_equal(rt->mail.posted.distance, 0);
    expect_sums(2, 100);
    expect_all_free();
}

/* As kernels leave the record: not in the mailbox of the host, which only says that there is one. */
static void failures_arrive(void **state)
{
    (void)state;
    if (!rt->device->facts.posts)
        skip();
    int32_t x[4] = {1, 2, 3, 4};
    DpCol xs = upload_col(memcpy(alloc(4, 4), x, sizeof x), 4, 4);
    DpCtx *c = dp_ctx_fn(rt, 4);
    for (int round = 0; round < 3; round++) {
        const uint64_t words[2] = {xs.addr, round == 1 ? (uint64_t)-1 : 3};
        DpCol out;
        dp_map(rt, K_FAIL, 0, c, words, &out);
        dp_check(rt);
        assert_int_equal(dp_failed(rt), round != 1);
        dp_col_release(rt, &out);
        assert_true(round == 1 || dp_clear_failure(rt));
        expect_sums(1, 10);
    }
    dp_col_release(rt, &xs);
    dp_ctx_release(rt, &c);
    expect_all_free();
}

/* ---- arguments of several calls ---- */
static void fill_leaf(DpLeaf *leaf, const DpType *t, uint64_t n, int64_t step)
{
    dp_leaves_init(leaf, t);
    leaf->ndata = n;
    leaf->lens[0] = memcpy(alloc(1, 8), &n, 8);
    leaf->nlens[0] = 1;
    int64_t *x = leaf->data = alloc(n, 8);
    for (int64_t k = 0; k < (int64_t)n; k++)
        x[k] = step * k;
}

static void expect_numbers(const DpArr *a, const DpLeaf *leaf, const DpType *t)
{
    DpLeaf back;
    dp_leaves_init(&back, t);
    dp_download(rt, a, &back);
    assert_true(dp_leaf_equal(&back, leaf, 0));
    dp_leaves_free(&back, 1);
}

/* In a device's own memory; so much that runs begin with clean caches. */
static void arguments_stay(void **state)
{
    (void)state;
    if (!rt->device->facts.posts)
        skip();
    enum { N = 9 << 20, M = 5 };
    DpType *t = dp_type_parse("[i64]");
    DpLeaf leaves[2];
    fill_leaf(&leaves[0], t, N, 3);
    fill_leaf(&leaves[1], t, M, -1);
    const DpEntry entry = {.nargs = 2};
    rt->device->facts.shares_memory = false;
    dp_keep_args(rt, &entry, leaves);
    assert_int_equal(rt->kept.buffer.object != NULL, 8 * (N + M) <= rt->device->facts.memory / 16);
    for (int round = 0; round < 2; round++) {
        DpArg args[2];
        dp_upload_args(rt, &entry, leaves, args);
        dp_settle(rt);
        for (int i = 0; i < 2; i++) {
            expect_numbers(&args[i].arr, &leaves[i], t);
            dp_arr_release(rt, &args[i].arr);
        }
    }
    dp_forget_args(rt);
    assert_null(rt->kept.buffer.object);
    rt->device->facts.shares_memory = true;
    dp_leaves_free(leaves, 2);
    dp_type_free(t);
    expect_all_free();
}

/* Where the device shares the host's memory the numbers stay where the second call has them, if the first one has not
 * changed them; else each call gets its own, and changes these in place. */
static void arguments_stay_in_blocks(void **state)
{
    (void)state;
    if (!rt->device->facts.shares_memory)
        skip();
    enum { ROUNDS = 4, N = 1000 };
    DpType *t = dp_type_parse("[i64]");
    DpLeaf leaf;
    fill_leaf(&leaf, t, N, 7);
    const DpEntry entry = {.nargs = 1};
    for (int changes = 0; changes < 2; changes++) {
        DpArg arg;
        const DpBlock *second = NULL;
        dp_keep_args(rt, &entry, &leaf);
        for (int round = 0; round < ROUNDS; round++) {
            dp_upload_args(rt, &entry, &leaf, &arg);
            expect_numbers(&arg.arr, &leaf, t);
            DpBlock *b = arg.arr.refs->blocks[0];
            assert_false(b->total.known);
            b->total = (DpTotal){.known = true};
            if (changes) {
                DpArr changed = dp_update_root(rt, &arg.arr, true, 3, &(int64_t){99}, 8, NULL);
                assert_ptr_equal(changed.refs->blocks[0], b);
                dp_arr_release(rt, &changed);
            }
            dp_arr_release(rt, &arg.arr);
            second = round == 1 ? b : second;
            if (round > 1)
                assert_int_equal(b == second && b->count, !changes);
        }
        dp_forget_args(rt);
        expect_all_free();
    }
    dp_leaves_free(&leaf, 1);
    dp_type_free(t);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_arrive, posting_cpu, teardown),
        cmocka_unit_test_setup_teardown(numbers_arrive, posting_gpu, teardown),
        cmocka_unit_test_setup_teardown(failures_arrive, posting_cpu, teardown),
        cmocka_unit_test_setup_teardown(failures_arrive, posting_gpu, teardown),
        cmocka_unit_test_setup_teardown(arguments_stay, posting_cpu, teardown),
        cmocka_unit_test_setup_teardown(arguments_stay_in_blocks, open_cpu, teardown),
    };
    return RUN_TESTS(tests, argc, argv);
}
