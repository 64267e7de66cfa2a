/* Runtimes in one process: one after the other, and in several threads at once, each used by one of them. Under
 * -fsanitize=thread this shows that they share nothing but what is locked. */
#include "runtime_sequences.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { THREADS = 3, ROUNDS = 5 };
typedef struct Work {
    bool fails; /* in each round, in the middle */
    bool opened, failed;
    uint64_t digests[SEQUENCES];
    bool same; /* in all rounds */
} Work;

static void *work(void *data)
{
    Work *w = data;
    DpOpenError error;
    DpOpenOptions options = {0};
    DpRt *rt = dp_rt_open(&test_program, &options, &error);
    w->opened = rt != NULL;
    if (!rt)
        return NULL;
    w->same = true;
    for (int round = 0; round < ROUNDS; round++) {
        for (int s = 0; s < SEQUENCES; s++) {
            uint64_t digest = sequences[s].run(rt);
            w->same = w->same && (round == 0 || digest == w->digests[s]);
            w->digests[s] = digest;
        }
        if (w->fails) {
            dp_fail(rt, 1, 12, 10, 0);
            run_views(rt);
            w->same = w->same && dp_failure(rt).status == EXIT_PROGRAM && dp_clear_failure(rt);
        }
    }
    w->failed = dp_failed(rt) || rt->heap.live != (rt->words.block != NULL);
    dp_rt_close(rt);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    Work alone = {.fails = false}, each[THREADS] = {{.fails = false}, {.fails = true}};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &each[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    work(&alone); /* and once more, when all are closed */
    assert_true(alone.opened && alone.same && !alone.failed);
    for (int i = 0; i < THREADS; i++) {
        assert_true(each[i].opened && each[i].same && !each[i].failed);
        assert_memory_equal(each[i].digests, alone.digests, sizeof alone.digests);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
