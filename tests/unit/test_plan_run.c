/* Plans executed in process: several programs one after the other, each on a runtime of its own, and one of them twice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "commands/driver.h"
#include "opencl/program.h"

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

static void run_entry(DpRt *rt, const DpEntry *entry, DpArg *args, DpArg *results)
{
    plan_run(entry->plan, rt, args, results);
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
    assert_int_equal(dp_main(second ? 6 : 5, argv, opencl_program(c->plan, c->path, run_entry)), 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_after_the_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
