/* libdpc, as other programs use it (runtime/embed/dpc.h). Under -fsanitize=thread: compilations and calls in threads.
 */
#include "dpc.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sanitized.h"

static const char source[] =
    "type point = {x: i64, y: f32}\n"
    "entry rows (m: [[f32]]) (k: f32) : [f32] = { sum { k * x : x in row } : row in m }\n"
    "entry pick (xs: [i64]) (i: i64) : i64 = xs[i]\n"
    "entry swap (ps: [[point]]) : [[(f32, i64)]] = { { (p.y, p.x) : p in row } : row in ps }\n"
    "entry shapes (xs: [#circle f64 | #none]) : [f64] = { match x case #circle r -> r case #none -> 0.0 : x in xs }\n"
    "def down (n: i64) : i64 = if n == 0 then 0 else (1 + down (n - 1)) % 1000003\n"
    "entry deep (n: i64) : i64 = down n\n"
    "--| The other way round.\n"
    "entry turn (n: i64) (m: [n][k](i64, [3]f32)) (xs: [n](#b | #a point)) : [k][n](i64, [3]f32) = transpose m\n"
    "entry negate (b: bool) (s: i8) : (bool, i8) = (not b, -s)\n";

static DpcProgram *compiled(void)
{
    DpcError error = {0};
    DpcProgram *p = dpc_compile("test.dp", source, &error);
    if (!p)
        fail_msg("%s", error.text);
    return p;
}

static DpcContext *opened(const DpcProgram *p)
{
    DpcError error = {0};
    DpcContext *c = dpc_open(p, NULL, &error);
    if (!c)
        fail_msg("%s", error.text);
    return c;
}

/* The result as a literal, or the error's text; frees the arguments. */
static void expect(DpcContext *c, const char *entry, unsigned count, DpcValue *a, DpcValue *b, const char *wanted)
{
    DpcError error = {0};
    DpcValue *result = dpc_call(c, entry, (const DpcValue *const[]){a, b}, count, &error);
    char *text = result ? dpc_text(result) : NULL;
    const char *got = text ? text : error.text;
    if (!got || (text ? strcmp(text, wanted) != 0 : !strstr(got, wanted)))
        fail_msg("%s: %s, not %s", entry, got ? got : "nothing", wanted);
    assert_int_equal(error.status != 0, !text);
    free(text);
    dpc_error_clear(&error);
    dpc_value_free(result);
    dpc_value_free(a);
    dpc_value_free(b);
}

static DpcValue *literal(const char *type, const char *text)
{
    DpcError error = {0};
    DpcValue *v = dpc_literal(type, text, &error);
    if (!v)
        fail_msg("%s", error.text);
    return v;
}

static void test_calls(void **state)
{
    (void)state;
    const float numbers[] = {1, 2, 3, 4, 5, 6}, k = 2;
    const int64_t ones[] = {7, 8, 9}, two = 2, three = 3;
    const uint8_t yes = 1;
    const int8_t minus = -128;
    DpcProgram *p = compiled();
    DpcContext *c = opened(p);
    expect(c, "rows", 2, dpc_array("f32", numbers, 2, (const uint64_t[]){2, 3}), dpc_scalar("f32", &k), "[12.0, 30.0]");
    expect(c, "rows", 2, dpc_array("f32", NULL, 2, (const uint64_t[]){2, 0}), dpc_scalar("f32", &k), "[0.0, 0.0]");
    expect(c, "pick", 2, dpc_array("i64", ones, 1, (const uint64_t[]){3}), dpc_scalar("i64", &two), "9");
    expect(c, "pick", 2, dpc_array("i64", ones, 1, (const uint64_t[]){3}), dpc_scalar("i64", &three),
           "test.dp:3:43: error: index 3 out of bounds for length 3");
    expect(c, "pick", 2, dpc_array("i64", ones, 1, (const uint64_t[]){3}), dpc_scalar("i64", &two),
           "9"); /* and goes on */
    expect(c, "swap", 1, literal("[[(i64, f32)]]", "[[(1, 2.5)], [], [(3, 4.0), (5, 6.0)]]"), NULL,
           "[[(2.5, 1)], [], [(4.0, 3), (6.0, 5)]]");
    expect(c, "shapes", 1, literal("[#circle f64 | #none]", "[#circle 1.5, #none]"), NULL, "[1.5, 0.0]");
    expect(c, "negate", 2, dpc_scalar("bool", &yes), dpc_scalar("i8", &minus), "(false, -128)");
#ifndef FRAMES_ARE_COUNTED
    const int64_t far = 100000, endless = -1;
    expect(c, "deep", 1, dpc_scalar("i64", &far), NULL, "100000");
    expect(c, "deep", 1, dpc_scalar("i64", &endless), NULL, "recursion too deep");
#endif
    dpc_close(c);
    dpc_program_free(p);
}

static void write_text(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0 && fclose(out) == 0);
}

/* Files of dpc tune: of this device (which a message names), of another, and none. */
static void test_tune_files(void **state)
{
    (void)state;
    char path[] = "/tmp/test_embed_tune_XXXXXX", text[600];
    DpcError error = {0};
    DpcProgram *p = compiled();
    close(mkstemp(path));
    write_text(path, "device=none\nsegreduce=lane\n");
    const DpcOptions options = {.tune = path}, missing = {.tune = "/none/f.tune"};
    assert_null(dpc_open(p, &options, &error));
    assert_int_equal(error.status, 2);
    const char *this = strstr(error.text, "and this is ");
    assert_true(this && strstr(error.text, ":1: it is for the device none, "));
    snprintf(text, sizeof text, "device=%s\nsegreduce=lane\n", this + strlen("and this is "));
    write_text(path, text);
    DpcContext *c = dpc_open(p, &options, &error);
    if (!c)
        fail_msg("%s", error.text);
    const float numbers[] = {1, 2, 3, 4, 5, 6}, k = 2;
    expect(c, "rows", 2, dpc_array("f32", numbers, 2, (const uint64_t[]){2, 3}), dpc_scalar("f32", &k), "[12.0, 30.0]");
    dpc_close(c);
    write_text(path, "device=none\nnests=lane\n");
    assert_null(dpc_open(p, &options, &error));
    assert_non_null(strstr(error.text, ":2: there is no parameter nests; did you mean nest?"));
    assert_null(dpc_open(p, &missing, &error));
    assert_string_equal(error.text, "/none/f.tune: cannot read: No such file or directory");
    dpc_error_clear(&error);
    dpc_program_free(p);
    remove(path);
}

static void test_by_leaves(void **state)
{
    (void)state;
    const uint64_t outer[] = {3}, inner[] = {1, 0, 2}, other[] = {1, 1, 1};
    const int64_t xs[] = {1, 3, 5};
    const float ys[] = {2.5f, 4, 6};
    const uint8_t tags[] = {0, 2};
    const double radius[] = {1, 2};
    DpcLeaf leaves[] = {{"i64", 2, {outer, inner}, {1, 3}, xs, 3, NULL, 0},
                        {"f32", 2, {outer, inner}, {1, 3}, ys, 3, NULL, 0}};
    DpcProgram *p = compiled();
    DpcContext *c = opened(p);
    expect(c, "swap", 1, dpc_value("[[{x: i64, y: f32}]]", leaves), NULL, "[[(2.5, 1)], [], [(4.0, 3), (6.0, 5)]]");
    leaves[1].lengths[1] = other; /* of the same sum, but not the same */
    assert_null(dpc_value("[[(i64, f32)]]", leaves));
    leaves[1].lengths[1] = inner;
    leaves[1].count = 2;
    assert_null(dpc_value("[[(i64, f32)]]", leaves));
    leaves[1].count = 3;
    leaves[0].sequences[1] = 2;
    assert_null(dpc_value("[[(i64, f32)]]", leaves));
    const uint64_t pair[] = {2};
    DpcLeaf shapes[] = {{"u8", 1, {pair}, {1}, tags, 2, NULL, 0}, {"f64", 1, {pair}, {1}, radius, 2, NULL, 0}};
    assert_null(dpc_value("[#circle f64 | #none]", shapes)); /* there is no third constructor */
    assert_null(dpc_value("[f64", leaves));
    assert_null(dpc_array("f63", xs, 1, outer));
    assert_null(dpc_array("i64", xs, 0, outer));
    assert_null(dpc_array("i64", xs, 3, (const uint64_t[]){1 << 20, UINT64_C(1) << 62, 8}));
    assert_null(dpc_scalar("[i64]", xs));
    dpc_close(c);
    dpc_program_free(p);
}

static void test_results(void **state)
{
    (void)state;
    DpcProgram *p = compiled();
    DpcContext *c = opened(p);
    DpcError error = {0};
    DpcValue *in = literal("[[(i64, f32)]]", "[[(1, 2.5)], [], [(3, 4.0), (5, 6.0)]]");
    DpcValue *out = dpc_call(c, "swap", (const DpcValue *const[]){in}, 1, &error);
    assert_non_null(out);
    assert_int_equal(dpc_leaf_count(out), 2);
    const DpcLeaf leaf = dpc_leaf(out, 1);
    assert_string_equal(leaf.scalar, "i64");
    assert_int_equal(leaf.rank, 2);
    assert_int_equal(leaf.sequences[1], 3);
    assert_int_equal(leaf.lengths[1][2], 2);
    assert_int_equal(leaf.count, 3);
    assert_memory_equal(leaf.data, ((const int64_t[]){1, 3, 5}), 24);
    assert_null(dpc_leaf(out, 2).scalar);
    dpc_value_free(out);
    dpc_value_free(in);
    dpc_close(c);
    dpc_program_free(p);
}

static const DpcOptions shown = {.params = "shown-bytes=0"}; /* results stay where a CPU has them, small ones, too */

static DpcValue *called(DpcContext *c, const char *entry, DpcValue *a, DpcValue *b)
{
    DpcError error = {0};
    DpcValue *result = dpc_call(c, entry, (const DpcValue *const[]){a, b}, b ? 2 : 1, &error);
    if (!result)
        fail_msg("%s", error.text);
    dpc_value_free(a);
    dpc_value_free(b);
    return result;
}

static void expect_text(const DpcValue *v, const char *wanted)
{
    char *text = dpc_text(v);
    assert_string_equal(text, wanted);
    free(text);
}

/* What is read where it was computed is its owner's: no later call writes it, and it outlives its context and program.
 */
static void test_results_where_they_are(void **state)
{
    (void)state;
    DpcError error = {0};
    DpcProgram *p = compiled();
    DpcContext *c = dpc_open(p, &shown, &error), *other = dpc_open(p, &shown, &error);
    const float k = 2;
    assert_true(c && other);
    DpcValue *first = called(c, "rows", literal("[[f32]]", "[[1.0, 2.0], [], [3.0]]"), dpc_scalar("f32", &k));
    DpcValue *pairs = called(c, "swap", literal("[[(i64, f32)]]", "[[(1, 2.5)], [], [(3, 4.0)]]"), NULL);
    DpcValue *again = called(c, "rows", literal("[[f32]]", "[[5.0], [7.0], [9.0]]"), dpc_scalar("f32", &k));
    expect_text(first, "[6.0, 0.0, 6.0]");
    expect_text(pairs, "[[(2.5, 1)], [], [(4.0, 3)]]");
    expect_text(again, "[10.0, 14.0, 18.0]");
    const DpcLeaf leaf = dpc_leaf(first, 0);
    assert_null(leaf.buffer);
#ifndef SANITIZED /* whose malloc gives such addresses, too */
    assert_int_equal((uintptr_t)leaf.data % 64, 0);
#endif
    assert_int_equal(dpc_fetch(first, &error), 0);
    assert_string_equal(error.text, "the value does not stay on a device");
    DpcValue *row = dpc_value(
        "[[f32]]", &(DpcLeaf){"f32", 2, {(const uint64_t[]){1}, (const uint64_t[]){3}}, {1, 1}, leaf.data, 3, NULL, 0});
    DpcValue *sums = called(other, "rows", row, dpc_scalar("f32", &k)); /* an argument like others, elsewhere, too */
    expect_text(sums, "[24.0]");
    dpc_close(c);
    dpc_close(other);
    dpc_program_free(p);
    expect_text(first, "[6.0, 0.0, 6.0]");
    expect_text(pairs, "[[(2.5, 1)], [], [(4.0, 3)]]");
    dpc_value_free(first);
    expect_text(again, "[10.0, 14.0, 18.0]");
    dpc_value_free(again);
    dpc_value_free(pairs);
    dpc_value_free(sums);
    dpc_error_clear(&error);
}

static void test_errors(void **state)
{
    (void)state;
    DpcError error = {0};
    assert_null(dpc_compile("wrong.dp", "entry main (x: i64) : bool = x + 1\n", &error));
    assert_int_equal(error.status, 2);
    assert_non_null(strstr(error.text, "wrong.dp:1:"));
    assert_non_null(strstr(error.text, "^"));
    assert_null(dpc_compile_file("/nowhere/f.dp", &error));
    assert_non_null(strstr(error.text, "cannot read /nowhere/f.dp"));
    DpcProgram *p = compiled();
    assert_int_equal(dpc_entry_count(p), 7);
    const DpcEntry e = dpc_entry(p, 2);
    assert_string_equal(e.name, "swap");
    assert_string_equal(e.param_names[0], "ps");
    assert_string_equal(e.result_type, "[[(f32, i64)]]");
    assert_null(e.doc);
    const DpcEntry sized = dpc_entry(p, 5);
    assert_string_equal(sized.param_types[1], "[[(i64, [f32])]]");
    assert_string_equal(sized.sized_params[0], "i64");
    assert_string_equal(sized.sized_params[1], "[n][k](i64, [3]f32)");
    assert_string_equal(sized.sized_params[2], "[n](#a {x: i64, y: f32} | #b)");
    assert_string_equal(sized.sized_result, "[k][n](i64, [3]f32)");
    assert_string_equal(sized.doc, "The other way round.");
    assert_null(dpc_entry(p, 7).name);
    assert_null(dpc_open(p, &(DpcOptions){.device = "no such device"}, &error));
    assert_int_equal(error.status, 4);
    assert_null(dpc_open(p, &(DpcOptions){.params = "no_such_parameter=1"}, &error));
    assert_int_equal(error.status, 2);
    assert_null(dpc_literal("[i64]", "[1, true]", &error));
    assert_non_null(strstr(error.text, "literal:1:5"));
    assert_null(dpc_literal("[i64]", "[1] 2", &error));
    DpcContext *c = opened(p);
    expect(c, "none", 0, NULL, NULL, "there is no entry none");
    expect(c, "pick", 1, literal("[i64]", "[1]"), NULL, "pick takes 2 arguments, not 1");
    expect(c, "pick", 2, literal("[i32]", "[1]"), literal("i64", "0"),
           "argument xs of pick: [i64] is wanted, not [i32]");
    expect(c, "pick", 2, NULL, literal("i64", "0"), "not NULL");
    dpc_close(c);
    dpc_program_free(p);
    dpc_error_clear(&error);
    dpc_error_clear(&error); /* twice is harmless */
}

static void test_explain(void **state)
{
    (void)state;
    DpcError error = {0};
    DpcValue *in = literal("[i64]", "[7, 8, 9]"), *at = literal("i64", "2"), *far = literal("i64", "3");
    char *plain = dpc_explain("test.dp", source, "pick", NULL, 0, &error);
    char *run = dpc_explain("test.dp", source, "pick", (const DpcValue *const[]){in, at}, 2, &error);
    char *failed = dpc_explain("test.dp", source, "pick", (const DpcValue *const[]){in, far}, 2, &error);
    assert_true(plain && run && failed);
    assert_true(strstr(plain, "<html") && !strstr(plain, "[7, 8, 9] 2") && strstr(run, "[7, 8, 9] 2"));
    assert_non_null(strstr(failed, "index 3 out of bounds for length 3"));
    assert_null(dpc_explain("test.dp", source, "pick", (const DpcValue *const[]){at, in}, 2, &error));
    assert_non_null(strstr(error.text, "no arguments of pick (xs: [i64]) (i: i64) : i64"));
    assert_null(dpc_explain("test.dp", source, "none", NULL, 0, &error));
    assert_non_null(strstr(error.text, "there is no entry none"));
    assert_null(dpc_explain("test.dp", "entry main = nothing", NULL, NULL, 0, &error));
    assert_non_null(strstr(error.text, "test.dp:1:14: error: "));
    free(plain);
    free(run);
    free(failed);
    dpc_value_free(in);
    dpc_value_free(at);
    dpc_value_free(far);
    dpc_error_clear(&error);
}

/* Imports of a text are files beside its name. */
static void test_imports(void **state)
{
    (void)state;
    DpcError error = {0};
    const char *text = "import \"numbers\" as N\nentry main (x: i64) : i64 = N.square x\n";
    DpcProgram *p = dpc_compile("tests/run/modules/main.dp", text, &error);
    if (!p)
        fail_msg("%s", error.text);
    assert_string_equal(dpc_warnings(p), "");
    dpc_program_free(p);
    p = dpc_compile("warned.dp", "entry main (x: i64) : i64 = let y = x in x\n", &error);
    assert_non_null(p);
    assert_ptr_equal(strstr(dpc_warnings(p), "warned.dp:1:33: warning: "), dpc_warnings(p));
    dpc_program_free(p);
    assert_null(dpc_compile("tests/main.dp", text, &error));
    assert_non_null(strstr(error.text, "no file tests/numbers.dp"));
    dpc_error_clear(&error);
}

enum { THREADS = 3, ROUNDS = 20 };
typedef struct Work {
    const DpcProgram *shared; /* NULL: compiles its own */
    bool right;
} Work;

static void *work(void *data)
{
    Work *w = data;
    DpcError error = {0};
    DpcProgram *own = w->shared ? NULL : dpc_compile("own.dp", source, &error);
    const DpcProgram *p = own ? own : w->shared;
    DpcContext *c = p ? dpc_open(p, NULL, &error) : NULL;
    const int64_t xs[] = {4, 5, 6}, at = 1, outside = 9;
    w->right = c != NULL;
    for (int i = 0; w->right && i < ROUNDS; i++) {
        DpcValue *array = dpc_array("i64", xs, 1, (const uint64_t[]){3});
        DpcValue *index = dpc_scalar("i64", i % 4 == 3 ? &outside : &at);
        DpcValue *result = dpc_call(c, "pick", (const DpcValue *const[]){array, index}, 2, &error);
        w->right =
            i % 4 == 3 ? !result && error.status == 1 : result && *(const int64_t *)dpc_leaf(result, 0).data == 5;
        dpc_value_free(result);
        dpc_value_free(index);
        dpc_value_free(array);
    }
    dpc_close(c);
    dpc_program_free(own);
    dpc_error_clear(&error);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    DpcProgram *p = compiled();
    Work each[THREADS] = {{.shared = p}, {.shared = p}, {.shared = NULL}};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &each[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert_true(each[i].right);
    dpc_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls),
                                       cmocka_unit_test(test_tune_files),
                                       cmocka_unit_test(test_by_leaves),
                                       cmocka_unit_test(test_results),
                                       cmocka_unit_test(test_results_where_they_are),
                                       cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_imports),
                                       cmocka_unit_test(test_explain),
                                       cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
