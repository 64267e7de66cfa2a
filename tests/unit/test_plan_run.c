/* Plans executed in process: several programs one after the other, each on a runtime of its own, and one of them twice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Flat has contexts of the same names. */
#define CTX_FN RUNTIME_CTX_FN
#define CTX_NESTED RUNTIME_CTX_NESTED
#define CTX_SELECTED RUNTIME_CTX_SELECTED
#include "../../runtime/internal.h"
#undef CTX_FN
#undef CTX_NESTED
#undef CTX_SELECTED

#include "driver/driver.h"
#include "opencl/program.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char sums[] = "entry main (xs: [i64]) (k: i64) : (i64, [i64]) =\n"
                           "  let ys = loop ys = xs for i < k do { y + i : y in ys }\n"
                           "  in (sum { x * x : x in xs }, ys)\n";
static const char sorts[] = "def sorted (xs: [f64]) : [f64] =\n"
                            "  if length xs < 2 then xs\n"
                            "  else let p = xs[length xs / 2]\n"
                            "       let parts = { sorted part : part in [{ x in xs | x < p }, { x in xs | x > p }] }\n"
                            "       in parts[0] ++ { x in xs | x == p } ++ parts[1]\n"
                            "entry main (rows: [[f64]]) : [[f64]] = { sorted row : row in rows }\n";

static Compilation *compile(const char *name, const char *text)
{
    Compilation *c = compilation_create(name);
    c->text = text;
    c->text_bytes = strlen(text);
    c->check = true;
    assert_true(compile_to(c, STAGE_PLAN));
    return c;
}

/* The result's text. */
static void expect(const Compilation *c, char *first, char *second, const char *result)
{
    char path[] = "/tmp/test_plan_XXXXXX", output[64], text[256];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(output, sizeof output, "text:%s", path);
    char *argv[] = {(char[]){"program"}, (char[]){"-o"}, output, (char[]){"--"}, first, second, NULL};
    assert_int_equal(dp_main(second ? 6 : 5, argv, opencl_program(c->plan, c->path)), 0);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    unlink(path);
    assert_string_equal(text, result);
}

static void test_one_after_the_other(void **state)
{
    (void)state;
    Compilation *a = compile("sums.dp", sums), *b = compile("sorts.dp", sorts);
    char numbers[] = "[1, 2, 3]", more[] = "[-1]", k[] = "3", rows[] = "[[3, 1, 2], [], [5, 5, 4]]";
    expect(a, numbers, k, "(14, [4, 5, 6])\n");
    expect(b, rows, NULL, "[[1.0, 2.0, 3.0], [], [4.0, 5.0, 5.0]]\n");
    expect(a, more, k, "(1, [2])\n");
    compilation_destroy(a);
    expect(b, rows, NULL, "[[1.0, 2.0, 3.0], [], [4.0, 5.0, 5.0]]\n");
    compilation_destroy(b);
}

/* ---- failures ---- */

/* Loops and recursions whose end only comes by what was read, at depth 0 and in parallel code. */
static const char fails[] = "entry loops (xs: [i64]) : i64 = loop i = 0 while xs[i] != 1 do i + 1\n"
                            "entry scalars (xs: [i64]) : i64 =\n"
                            "  let x = xs[7] in loop x = x while x != 1 do if x % 2 == 0 then x / 2 else 3 * x + 1\n"
                            "entry arrays (xs: [i64]) : [i64] = loop ys = xs while sum ys != 0 do { ys[y] : y in ys }\n"
                            "entry divides (xs: [i64]) : i64 = 10 / (xs[0] - 4) + xs[9]\n"
                            "def deep (xs: [i64]) (i: i64) : i64 = if xs[i] == 1 then i else 1 + deep xs (i + 1) % 7\n"
                            "entry recurses (xs: [i64]) : i64 = deep xs 0\n"
                            "entry lifted (xs: [i64]) : [i64] = { deep xs x : x in xs }\n"
                            "entry each (xs: [i64]) : [i64] = { loop i = x while xs[i] != 1 do i + 1 : x in xs }\n"
                            "entry good (xs: [i64]) : i64 = deep (xs ++ [1]) 0 + sum { x * x : x in xs }\n";

static DpArg argument(DpRt *rt)
{
    static const int64_t numbers[] = {4, 2, 3};
    return (DpArg){.arr = dp_array_root(rt, numbers, 8, 3, NULL)};
}

static void fail_and_go_on(DpRt *rt, const DpEntry *e)
{
    DpArg arg = argument(rt), result = {0};
    e->run(rt, e, &arg, &result);
    dp_check(rt);
    const char *what = strcmp(e->name, "divides") == 0 ? "division by zero" : "out of bounds for length 3";
    if (!dp_failed(rt) || !strstr(dp_failure(rt).message, what))
        fail_msg("%s: %s", e->name, dp_failed(rt) ? dp_failure(rt).message : "no failure");
    if (strchr(e->result_type, '['))
        dp_arr_release(rt, &result.arr);
    if (rt->heap.live != 0)
        fail_msg("%s leaves %llu blocks", e->name, (unsigned long long)rt->heap.live);
    assert_true(dp_clear_failure(rt));
}

static void test_failures_come_back(void **state)
{
    (void)state;
    Compilation *c = compile("fails.dp", fails);
    const DpProgram *p = opencl_program(c->plan, c->path);
    DpOpenOptions options = {0};
    DpOpenError error;
    DpRt *rt = dp_rt_open(p, &options, &error);
    assert_non_null(rt);
    for (uint32_t i = 0; i + 1 < p->nentries; i++)
        fail_and_go_on(rt, &p->entries[i]);
    const DpEntry *good = &p->entries[p->nentries - 1];
    DpArg arg = argument(rt), result = {0};
    good->run(rt, good, &arg, &result);
    dp_check(rt);
    assert_false(dp_failed(rt));
    assert_int_equal(result.bits, 6 + 29);
    assert_int_equal(rt->heap.live, 0);
    dp_rt_close(rt);
    compilation_destroy(c);
}

/* ---- threads ---- */
/* A program on a runtime of its own, several times; in a thread, where assertions of cmocka have no place. */
typedef struct Runs {
    const DpProgram *program;
    const DpEntry *entry;
    bool with_count; /* (xs: [i64]) (k: i64) : (i64, [i64]), with k = 3; else (xs: [i64]) : i64 */
    uint64_t wanted;
    bool right;
} Runs;

static bool run_right(DpRt *rt, const Runs *r)
{
    DpArg args[2] = {argument(rt), {.bits = 3}}, results[2] = {{0}, {0}};
    r->entry->run(rt, r->entry, args, results);
    if (r->with_count)
        dp_arr_release(rt, &results[1].arr);
    dp_check(rt);
    return !dp_failed(rt) && results[0].bits == r->wanted && rt->heap.live == 0;
}

static void *run_often(void *data)
{
    enum { OFTEN = 20 };
    Runs *r = data;
    DpOpenError error;
    DpOpenOptions options = {0};
    DpRt *rt = dp_rt_open(r->program, &options, &error);
    r->right = rt != NULL;
    for (int i = 0; i < OFTEN && r->right; i++)
        r->right = run_right(rt, r);
    if (rt)
        dp_rt_close(rt);
    return NULL;
}

/* Two plans at once, each with its runtime: in a build with DPC_SANITIZE=thread this shows that they share nothing. */
static void test_two_threads(void **state)
{
    (void)state;
    Compilation *a = compile("sums.dp", sums), *b = compile("fails.dp", fails);
    const DpProgram *first = opencl_program(a->plan, a->path), *second = opencl_program(b->plan, b->path);
    Runs runs[] = {{first, &first->entries[0], true, 29, false},
                   {second, &second->entries[second->nentries - 1], false, 6 + 29, false}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_often, &runs[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_true(runs[0].right && runs[1].right);
    compilation_destroy(a);
    compilation_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_after_the_other),
                                       cmocka_unit_test(test_failures_come_back), cmocka_unit_test(test_two_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
