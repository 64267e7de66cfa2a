/* What `dpc step` stands on: reading JSON, and walking through the events of a trace. */
#include "step/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_json(void **state)
{
    (void)state;
    Arena *a = arena_create();
    const Json *v = json_read(a, " {\"a\": [1, -2.5e3, \"x\\n\\\"\\\\\\u0041\", true, null, []], \"b\": {\"c\": 7}} ");
    assert_non_null(v);
    const Json *item = json_get(v, "a")->first;
    assert_string_equal(item->text, "1");
    item = item->next;
    assert_true(item->kind == JSON_NUMBER && strcmp(item->text, "-2.5e3") == 0);
    item = item->next;
    assert_true(item->kind == JSON_TEXT && strcmp(item->text, "x\n\"\\A") == 0);
    item = item->next;
    assert_true(item->kind == JSON_BOOL && item->next->kind == JSON_NULL && item->next->next->kind == JSON_LIST);
    assert_null(item->next->next->first);
    assert_int_equal(json_number(json_get(v, "b"), "c", 1), 7);
    assert_int_equal(json_number(json_get(v, "b"), "d", 1), 1);
    assert_string_equal(json_text(v, "a"), "");
    const Json *codes =
        json_read(a, "[\"\\u00e9\\u20ac\\ud834\\udd1e\", \"\\ud834x\\udd1e\\u0000\", \"\\u12\\u\"]")->first;
    assert_string_equal(codes->text, "\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e");
    assert_string_equal(codes->next->text, "\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd");
    assert_string_equal(codes->next->next->text, "?12?");
    assert_null(json_get(NULL, "a"));
    arena_destroy(a);
}

static void test_no_json(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",      "[1",       "[1,]",     "{\"a\"}", "{\"a\":}",
                                        "{a:1}", "\"open",   "\"open\\", "[1 2]",   "{\"a\":1,}",
                                        "]",     "{\"a\":1", ",",        "\"\\u12", "[\"a\\"};
    Arena *a = arena_create();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_null(json_read(a, wrong[i]));
    char *deep = malloc(100001);
    memset(deep, '[', 100000);
    deep[100000] = '\0';
    assert_null(json_read(a, deep)); /* and the stack is as it was */
    free(deep);
    arena_destroy(a);
}

/* f calls itself once in an instance: 0 call, 1 step, 2 instance, 3 call, 4 step, 5 return, 6 step of the call, 7 step
 * of the map, 8 return, 9 result. */
#define PLACE(line) "\"place\":{\"file\":\"f.dp\",\"line\":" #line "}"
static const char trace[] =
    "{\"event\":\"trace\",\"program\":\"f.dp\"}\n"
    "{\"event\":\"statement\",\"id\":0,\"within\":null," PLACE(
        1) "}\n"
           "{\"event\":\"statement\",\"id\":1,\"within\":null," PLACE(
               2) "}\n"
                  "{\"event\":\"statement\",\"id\":2,\"within\":1," PLACE(
                      3) "}\n"
                         "{\"event\":\"call\",\"n\":0,\"depth\":1,\"params\":[{\"name\":\"%0.xs\",\"value\":1}]}\n"
                         "{\"event\":\"step\",\"n\":1,\"depth\":1,\"statement\":0,\"outs\":[{\"name\":\"%1\",\"value\":"
                         "2}]}\n"
                         "{\"event\":\"instance\",\"n\":2,\"depth\":1,\"statement\":1,\"instance\":0,\"params\":[{"
                         "\"name\":\"%2.x\",\"value\":3}]}\n"
                         "{\"event\":\"call\",\"n\":3,\"depth\":2,\"statement\":2,\"params\":[{\"name\":\"%0.xs\","
                         "\"value\":4}]}\n"
                         "{\"event\":\"step\",\"n\":4,\"depth\":2,\"statement\":0,\"outs\":[{\"name\":\"%1\",\"value\":"
                         "5}]}\n"
                         "{\"event\":\"return\",\"n\":5,\"depth\":2}\n"
                         "{\"event\":\"step\",\"n\":6,\"depth\":1,\"statement\":2,\"outs\":[]}\n"
                         "{\"event\":\"step\",\"n\":7,\"depth\":1,\"statement\":1,\"outs\":[{\"name\":\"%3.xs\","
                         "\"value\":6}]}\n"
                         "{\"event\":\"return\",\"n\":8,\"depth\":1}\n"
                         "{\"event\":\"result\",\"n\":9,\"depth\":0}\n";

static uint64_t value_at(const Record *r, uint32_t at, const char *name)
{
    return json_number(record_value(r, r->arena, at, name), "value", 0);
}

static void test_walking(void **state)
{
    (void)state;
    Arena *a = arena_create();
    Record r;
    assert_true(record_read(&r, a, arena_strndup(a, trace, strlen(trace))));
    assert_true(r.events.n == 10 && r.statements.n == 3);
    const uint32_t next[] = {1, 7, 6, 4, 5, 6, 7, 8, 9, 9}, back[] = {0, 0, 1, 2, 3, 4, 2, 1, 7, 8};
    const uint32_t out[] = {9, 9, 7, 6, 6, 6, 7, 9, 9, 9};
    for (uint32_t i = 0; i < r.events.n; i++) {
        assert_int_equal(record_next(&r, i), next[i]);
        assert_int_equal(record_back(&r, i), back[i]);
        assert_int_equal(record_out(&r, i), out[i]);
        assert_int_equal(record_inner(&r, i), i < 9 ? i + 1 : 9);
        assert_int_equal(record_before(&r, i), i ? i - 1 : 0);
    }
    assert_int_equal(record_call(&r, 4), 3);
    assert_int_equal(record_call(&r, 7), 0);
    assert_int_equal(record_call(&r, 9), 0);
    assert_int_equal(record_part(&r, 6, 1), 2);
    assert_int_equal(record_part(&r, 4, 1), RECORD_NONE); /* in the other call */
    assert_int_equal(record_line(&r, 6), 3);
    assert_int_equal(record_line(&r, 5), 0);
    arena_destroy(a);
}

static void test_values(void **state)
{
    (void)state;
    Arena *a = arena_create();
    Record r;
    assert_true(record_read(&r, a, arena_strndup(a, trace, strlen(trace))));
    assert_int_equal(value_at(&r, 2, "xs"), 1);
    assert_int_equal(value_at(&r, 4, "xs"), 4);
    assert_int_equal(value_at(&r, 6, "xs"), 1); /* not the inner call's */
    assert_int_equal(value_at(&r, 7, "xs"), 6); /* the latest */
    assert_int_equal(value_at(&r, 7, "%0"), 1);
    assert_int_equal(value_at(&r, 7, "%0.xs"), 1);
    assert_int_equal(value_at(&r, 6, "%1"), 2);
    assert_int_equal(value_at(&r, 4, "x"), 0);
    assert_null(record_value(&r, a, 1, "%3"));
    assert_int_equal(value_at(&r, 9, "xs"), 6);
    char none[] = "{\"event\":\"trace\"}\n";
    assert_false(record_read(&r, a, none));
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_json), cmocka_unit_test(test_no_json),
                                       cmocka_unit_test(test_walking), cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
