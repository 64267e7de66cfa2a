/* The search of dpc tune, on measurements that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tuning/search.h"

#include <string.h>

/* A program that asks for `nest` and, where that is `lane`, for `nest-lanes`. */
typedef struct World {
    int measured, told, refused;
    bool even;   /* lanes are as fast as all else */
    int outlier; /* the number of a measurement that takes too little; 0: none does */
    TuneOutcome of_flat;
    DpTuning last;
} World;

static bool holds(const DpTunings *s, DpTuning id, const char *setting)
{
    char text[128];
    if (!s->set[id])
        return false;
    dp_params_print_setting(id, s->value[id], text, sizeof text);
    return strcmp(text, setting) == 0;
}

static void measure(void *data, const DpTunings *s, double enough_us, TuneMeasured *m)
{
    World *w = data;
    (void)enough_us;
    const bool lane = holds(s, PARAM_NEST, "nest=lane"), flat = holds(s, PARAM_NEST, "nest=flat");
    *m = (TuneMeasured){.outcome = flat ? w->of_flat : TUNE_RUNS, .us = 100};
    m->asked[PARAM_NEST] = true;
    m->asked[PARAM_NEST_LANES] = lane;
    if (lane && !w->even)
        m->us = holds(s, PARAM_NEST_LANES, "nest-lanes=1024") ? 40 : 50;
    if (flat)
        m->us = 10;
    if (w->outlier && w->measured == w->outlier)
        m->us *= 0.4;
    w->measured++;
}

static double seconds(void *data) { return ((World *)data)->measured; }

static void tell(void *listener, const TuneStep *step)
{
    World *w = listener;
    w->told++;
    w->refused += step->verdict == TUNE_REFUSED;
    w->last = step->id;
}

static TuneOutcome search(World *w, const char *fixed, double budget, TuneFound *found)
{
    TuneSearch s = {.budget = budget, .measure = measure, .seconds = seconds, .tell = tell, .data = w, .listener = w};
    char error[128];
    assert_true(dp_params_read(&s.fixed, fixed, error, sizeof error));
    return tune_search(&s, found);
}

static void takes_what_is_faster_and_then_asked_for(void **state)
{
    (void)state;
    World w = {.of_flat = TUNE_DIFFERS};
    TuneFound f;
    assert_int_equal(search(&w, NULL, 1000, &f), TUNE_RUNS);
    assert_true(f.complete && f.found[PARAM_NEST] && f.found[PARAM_NEST_LANES]);
    assert_int_equal(f.value[PARAM_NEST], 2);
    assert_int_equal(f.value[PARAM_NEST_LANES], 1024);
    assert_true(f.first_us > 99 && f.last_us < 41 && f.before_us[PARAM_NEST_LANES] < 51);
    assert_true(w.refused >= 1); /* flat, each time that it was tried: the result is another */
    for (DpTuning i = 0; i < PARAM_COUNT; i++)
        assert_true(!f.found[i] || i == PARAM_NEST || i == PARAM_NEST_LANES);
}

static void refuses_what_fails(void **state)
{
    (void)state;
    World w = {.of_flat = TUNE_FAILS};
    TuneFound f;
    assert_int_equal(search(&w, "nest-lanes=64", 1000, &f), TUNE_RUNS);
    assert_int_equal(f.value[PARAM_NEST], 2);
    assert_false(f.found[PARAM_NEST_LANES]); /* the user has set it */
    assert_true(w.refused >= 1);
}

static void leaves_what_the_user_has_set(void **state)
{
    (void)state;
    World w = {.of_flat = TUNE_RUNS};
    TuneFound f;
    assert_int_equal(search(&w, "nest=auto", 1000, &f), TUNE_RUNS);
    assert_int_equal(w.measured, 2);
    assert_false(f.found[PARAM_NEST]);
}

static void does_not_take_noise(void **state)
{
    (void)state;
    for (int outlier = 2; outlier < 5; outlier++) { /* flat, lane, and what lane would replace */
        World w = {.of_flat = TUNE_FAILS, .even = true, .outlier = outlier};
        TuneFound f;
        assert_int_equal(search(&w, "nest-lanes=64", 1000, &f), TUNE_RUNS);
        assert_false(f.found[PARAM_NEST]);
        assert_int_equal(w.told, 2);
    }
}

static void ends_with_its_budget(void **state)
{
    (void)state;
    World w = {.of_flat = TUNE_DIFFERS};
    TuneFound f;
    assert_int_equal(search(&w, NULL, 3, &f), TUNE_RUNS);
    assert_false(f.complete);
    assert_int_equal(w.measured, 3);
}

static void says_that_the_first_run_fails(void **state)
{
    (void)state;
    World w = {.of_flat = TUNE_FAILS};
    TuneFound f;
    assert_int_equal(search(&w, "nest=flat", 10, &f), TUNE_FAILS);
    assert_int_equal(w.told, 0);
}

/* Each value to try is one that the parameter takes. */
static void tries_are_values(void **state)
{
    (void)state;
    for (DpTuning id = 0; id < PARAM_COUNT; id++) {
        for (const char *at = dp_params_tries(id); *at; at += strspn(at, " ")) {
            char setting[128], error[128];
            int n = (int)strcspn(at, " ");
            DpTunings p = {{false}, {0}};
            snprintf(setting, sizeof setting, "%s=%.*s", dp_params_name(id), n, at);
            if (!dp_params_read(&p, setting, error, sizeof error))
                fail_msg("%s: %s", setting, error);
            at += n;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_is_faster_and_then_asked_for),
        cmocka_unit_test(refuses_what_fails),
        cmocka_unit_test(leaves_what_the_user_has_set),
        cmocka_unit_test(does_not_take_noise),
        cmocka_unit_test(ends_with_its_budget),
        cmocka_unit_test(says_that_the_first_run_fails),
        cmocka_unit_test(tries_are_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
