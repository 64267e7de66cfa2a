/* What a recursion is looked at for (dp_progress.h): when, and how much is fetched for that. */
#include "dp_progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { INSTANCES = 40 };

typedef struct View {
    uint64_t n, address;
} View;

static void fetch(void *data, uint64_t address, uint64_t bytes, void *to)
{
    ++*(int *)data;
    memcpy(to, (const void *)(uintptr_t)address, bytes);
}

/* Levels 4 and 8 where there are many instances, 16, 32 … always, and the one behind a level that was noted. */
static void looks_when_it_is_due(void **state)
{
    DpProgress none = {.function = NULL}, noted = {.function = "f", .level = 16};
    (void)state;
    assert_false(dp_progress_due(&none, "f", 1, DP_PROGRESS_MANY));
    assert_false(dp_progress_due(&none, "f", 4, DP_PROGRESS_MANY - 1));
    assert_true(dp_progress_due(&none, "f", 4, DP_PROGRESS_MANY));
    assert_false(dp_progress_due(&none, "f", 5, DP_PROGRESS_MANY));
    assert_false(dp_progress_due(&none, "f", 8, 1));
    assert_true(dp_progress_due(&none, "f", 16, 1));
    assert_false(dp_progress_due(&none, "f", 17, 1));
    assert_true(dp_progress_due(&noted, "f", 17, 1));
    assert_false(dp_progress_due(&noted, "g", 17, 1));
    assert_false(dp_progress_due(&noted, "f", 18, 1));
}

/* Of rows that differ in a number no array is fetched. */
static void fetches_arrays_only_of_few_sets(void **state)
{
    static const int64_t elements[2] = {7, 8};
    int64_t numbers[INSTANCES];
    View views[INSTANCES];
    int fetched = 0;
    DpProgress p = {.fetch = fetch, .fetch_data = &fetched};
    const DpArguments arguments[2] = {{numbers, 8, 0}, {views, sizeof *views, 8}};
    (void)state;
    for (int i = 0; i < INSTANCES; i++) {
        numbers[i] = i;
        views[i] = (View){2, (uint64_t)(uintptr_t)elements};
    }
    assert_false(dp_arguments_distinct(&p, arguments, 2, INSTANCES));
    assert_int_equal(fetched, 0);
    for (int i = 0; i < INSTANCES; i++)
        numbers[i] = i % 3;
    assert_true(dp_arguments_distinct(&p, arguments, 2, INSTANCES));
    assert_int_equal(p.n, 3);
    assert_int_equal(fetched, INSTANCES);
}

/* The same arguments at the next level: stuck; other contents of arrays of the same length: not. */
static void compares_contents(void **state)
{
    int64_t elements[2] = {7, 8};
    const View view = {2, (uint64_t)(uintptr_t)elements};
    int fetched = 0;
    DpProgress p = {.fetch = fetch, .fetch_data = &fetched};
    const DpArguments argument = {&view, sizeof view, 8};
    (void)state;
    assert_false(dp_progress_stuck(&p, "f", 16, &argument, 1, 1));
    assert_true(dp_progress_stuck(&p, "f", 17, &argument, 1, 1));
    elements[1] = 9;
    assert_false(dp_progress_stuck(&p, "f", 18, &argument, 1, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_when_it_is_due),
        cmocka_unit_test(fetches_arrays_only_of_few_sets),
        cmocka_unit_test(compares_contents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
