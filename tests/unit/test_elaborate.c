/* The elaborator: programs of tests/run (elaborate_*.dp) through the core interpreter, structure goldens, and
 * what programs cannot show: places in the library, limits, what is and is not specialised. */
#include "elaborate_run.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <glob.h>

/* ---- programs with their expected results ---- */

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("cannot read %s", path);
    StrBuf text = {0};
    char part[4096];
    size_t n;
    while ((n = fread(part, 1, sizeof part, f)) > 0)
        strbuf_addn(&text, part, n);
    fclose(f);
    return text.text;
}

/* The rest of the line behind `label`, or NULL; in `out`. */
static const char *comment(const char *text, const char *label, char *out, size_t size)
{
    const char *at = strstr(text, label);
    if (!at)
        return NULL;
    at += strlen(label);
    size_t n = strcspn(at, "\n");
    assert_true(n < size);
    memcpy(out, at, n);
    out[n] = '\0';
    return out;
}

static bool runs_as_expected(const char *path)
{
    char expected[2000], place[40], line[2100];
    char *text = read_file(path);
    StrBuf result = {0};
    run_program(text, &result);
    bool same = false;
    if (comment(text, "-- output ", expected, sizeof expected)) {
        same = strcmp(expected, result.text) == 0;
        snprintf(line, sizeof line, "%s", expected);
    } else if (comment(text, "-- error \"", expected, sizeof expected)) {
        expected[strcspn(expected, "\"")] = '\0';
        assert_non_null(comment(text, "-- fails at ", place, sizeof place));
        snprintf(line, sizeof line, "t.dp:%s: error: %s", place, expected);
        same = strcmp(line, result.text) == 0;
    }
    if (!same)
        print_error("%s: expected %s, got %s\n", path, line, result.text);
    strbuf_free(&result);
    free(text);
    return same;
}

static void programs(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob("tests/run/elaborate_*.dp", 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= 50);
    bool all = true;
    for (size_t i = 0; i < files.gl_pathc; i++)
        all = runs_as_expected(files.gl_pathv[i]) && all;
    globfree(&files);
    assert_true(all);
}

/* ---- goldens: tests/unit/elaborate/NAME.dp and NAME.txt ---- */

static void check_golden(const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "tests/unit/elaborate/%s.dp", name);
    char *text = read_file(path);
    snprintf(path, sizeof path, "tests/unit/elaborate/%s.txt", name);
    char *expected = read_file(path);
    Session *s = session_create();
    StrBuf out = {0};
    CoreProgram *p = program_of(s, text, &out);
    if (p)
        core_print(&out, p);
    if (getenv("DPC_REBASE")) { /* tests/rebase.sh */
        FILE *f = fopen(path, "w");
        assert_true(f && fputs(out.text, f) >= 0 && fclose(f) == 0);
    } else {
        assert_string_equal(out.text, expected);
    }
    strbuf_free(&out);
    session_destroy(s);
    free(text);
    free(expected);
}

static void goldens(void **state)
{
    (void)state;
    check_golden("matmul");
    check_golden("each");
    check_golden("recursion");
    check_golden("sums");
    check_golden("match");
}

/* ---- single cases ---- */

static void expect(const char *text, const char *expected)
{
    StrBuf out = {0};
    run_program(text, &out);
    if (!strstr(out.text, expected))
        fail_msg("expected %s, got %s", expected, out.text);
    strbuf_free(&out);
}

static void library_places(void **state)
{
    (void)state;
    expect("entry main : i64 =\n  let xs = [1, 2]\n  in check_same xs (iota 3)",
           "t.dp:3:6: error: unequal lengths: 2 and 3");
    expect("entry main : [i64] =\n  reduce (\\a b -> [a[0] + b[1]])\n    [0] [[1], [2]]",
           "t.dp:2:28: error: index 1 out of bounds for length 1");
}

static void orders(void **state)
{
    (void)state;
    expect("entry main : [bool] = { is_less (a, b) (2, 2.0) : (a, b) in [(1, 9.0), (2, 1.0), (2, 2.0), (2, nan), (3, "
           "0.0)] }",
           "[true, true, false, false, false]");
    expect("entry main : [bool] = { is_less a b : (a, b) in [(nan, nan), (nan, inf), (1.0, nan)] }",
           "[false, false, true]");
}

static void undetermined_types(void **state)
{
    (void)state;
    expect("entry main : i64 = length [] + length [[]] + length (flatten [])", "1");
}

static void growing_closures(void **state)
{
    (void)state;
    expect("def f (g: i64 -> i64) (n: i64) : i64 =\n  if n == 0 then g 0 else f (\\x -> g (x + 1)) (n - 1)\n"
           "entry main : i64 = f (+ 1) 3",
           "t.dp:2:27: error: this call would need ever new versions of `f`");
    expect("def f (g: i64 -> i64) (n: i64) : i64 =\n  if n == 0 then g 0 else f (\\x -> g (g x)) (n - 1)\n"
           "entry main : i64 = f (+ 1) 3",
           "error: the program becomes too big");
}

static void exponential_expansion(void **state)
{
    (void)state;
    StrBuf text = {0};
    strbuf_add(&text, "def twice 'a (f: a -> a) (x: a) : a = f (f x)\nentry main : i64 =\n  let t0 x = x + 1\n");
    for (int i = 0; i < 40; i++)
        strbuf_printf(&text, "  let t%d = twice t%d\n", i + 1, i);
    strbuf_add(&text, "  in t40 0\n");
    expect(text.text, "error: the program becomes too big");
    strbuf_free(&text);
}

static void repeat(StrBuf *text, const char *part, int n)
{
    for (int i = 0; i < n; i++)
        strbuf_add(text, part);
}

static void deep_programs(void **state)
{
    (void)state;
    StrBuf text = {0};
    strbuf_add(&text, "entry main : i64 = ");
    repeat(&text, "1 + ", 3000);
    strbuf_add(&text, "1");
    expect(text.text, "3001");
    strbuf_free(&text);
    strbuf_add(&text, "entry main : i64 = ");
    repeat(&text, "let x = 1 ", 3000);
    strbuf_add(&text, "in x");
    expect(text.text, "1");
    strbuf_free(&text);
    strbuf_add(&text, "entry main : i64 = length ");
    repeat(&text, "[", 250);
    repeat(&text, "]", 250);
    expect(text.text, "error: sequences nested more than 200 deep are not supported");
    strbuf_free(&text);
}

static uint32_t count_functions(const char *text)
{
    Session *s = session_create();
    StrBuf why = {0};
    CoreProgram *p = program_of(s, text, &why);
    assert_non_null(p);
    uint32_t n = p->fns.n;
    strbuf_free(&why);
    session_destroy(s);
    return n;
}

static void specialisations(void **state)
{
    (void)state;
    /* passed unchanged down the recursion: one version, whatever it captured */
    assert_int_equal(count_functions("def f (g: i64 -> i64) (n: i64) : i64 = if n == 0 then g 0 else f g (n - 1)\n"
                                     "def twice (k: i64) : i64 = f (+ k) 1 + f (+ k) 2\n"
                                     "entry main (a: i64) : i64 = twice a"),
                     3);
    /* one per type; library functions and higher-order ones leave none */
    assert_int_equal(count_functions("def same 'a (x: a) : a = x\ndef ap 'a (f: a -> a) (x: a) : a = f x\n"
                                     "entry main (a: i64) (b: f64) : (i64, f64, i64, i64) =\n"
                                     "  (same a, same b, ap (+ 1) (same a), sum [a])"),
                     3);
}

static void entries(void **state)
{
    (void)state;
    Session *s = session_create();
    StrBuf why = {0};
    CoreProgram *p = program_of(s,
                                "entry main (xs: [(i32, [f64])]) ((p, _): (i64, bool)) : {b: f64, a: [u8]} =\n"
                                "  {a = \"x\", b = f64 p}\nentry other = main [] (1, true)",
                                &why);
    assert_non_null(p);
    assert_int_equal(p->entries.n, 2);
    assert_string_equal(p->entries.at[0].signature, "main (xs: [(i32, [f64])]) (_: (i64, bool)) : {b: f64, a: [u8]}");
    assert_int_equal(p->entries.at[0].fn->nparams, 4);
    assert_int_equal(p->entries.at[0].fn->nresults, 2);
    assert_string_equal(p->entries.at[1].signature, "other : {a: [u8], b: f64}");
    session_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs),
        cmocka_unit_test(goldens),
        cmocka_unit_test(library_places),
        cmocka_unit_test(orders),
        cmocka_unit_test(undetermined_types),
        cmocka_unit_test(growing_closures),
        cmocka_unit_test(exponential_expansion),
        cmocka_unit_test(deep_programs),
        cmocka_unit_test(specialisations),
        cmocka_unit_test(entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
