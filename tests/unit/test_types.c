/* Inferred types and messages of the checker, on small programs. */
#include "types/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

/* A few definitions in place of the library. */
static const char prelude[] = "def sum xs = reduce (+) 0 xs\n"
                              "def twice__ f x = f (f x)\n"
                              "def thrice f x = f (twice__ f x)\n"
                              "def total xs = sum xs\n";

typedef struct Run {
    Session *session;
    Checked *checked;
    AstIds ids;
    Module *modules[2];
} Run;

static Run start(const char *program)
{
    Run r = {.session = session_create()};
    uint32_t library = source_add_text(r.session, "prelude.dp", prelude, strlen(prelude), true);
    r.modules[0] = parse_module(r.session, library, &r.ids);
    uint32_t file = source_add_text(r.session, "t.dp", program, strlen(program), false);
    r.modules[1] = parse_module(r.session, file, &r.ids);
    assert_int_equal(r.session->error_count, 0);
    r.checked = check_program(r.session, r.modules, 2, &r.ids);
    return r;
}

static void finish(Run *r) { session_destroy(r->session); }

/* What diag_print writes; freed with test_free(). */
static char *messages(Run *r)
{
    FILE *f = tmpfile();
    assert_non_null(f);
    diag_print(r->session, f, false);
    long n = ftell(f);
    char *text = test_malloc((size_t)n + 1);
    rewind(f);
    size_t got = fread(text, 1, (size_t)n, f);
    text[got] = '\0';
    fclose(f);
    return text;
}

static void expect_types(const char *program, const char *expected)
{
    Run r = start(program);
    if (r.session->error_count) {
        char *text = messages(&r);
        print_error("%s", text);
        test_free(text);
        fail();
    }
    StrBuf out = {0};
    checked_print(&out, r.checked);
    assert_string_equal(out.text, expected);
    strbuf_free(&out);
    finish(&r);
}

/* The first message starts with "LINE:COL: LEVEL: TEXT", and there are `errors` errors. */
static void expect_message(const char *program, const char *expected, uint32_t errors)
{
    Run r = start(program);
    uint32_t found = r.session->error_count;
    char *text = messages(&r);
    const char *message = strncmp(text, "t.dp:", 5) == 0 ? text + 5 : text;
    if (strncmp(message, expected, strlen(expected)) != 0 || found != errors) {
        print_error("expected %u errors, first %s\nfound %u:\n%s", errors, expected, found, text);
        fail();
    }
    test_free(text);
    finish(&r);
}

static void expect_error(const char *program, const char *expected) { expect_message(program, expected, 1); }

/* ---- inference ---- */

static void test_generalisation(void **state)
{
    (void)state;
    expect_types("def id x = x\n", "def id : a -> a\n");
    expect_types("def f x = x + 1\n", "def f : a -> a where a num\n");
    expect_types("def f x = x + 1.0\n", "def f : a -> a where a float\n");
    expect_types("def f x y = x < y\n", "def f : a -> a -> bool where a ord\n");
    expect_types("def f x y = x == (y, 1)\n", "def f : (a, b) -> a -> bool where a ord, b num\n");
    expect_types("def compose f g x = f (g x)\n", "def compose : (a -> b) -> (c -> a) -> c -> b\n");
    expect_types("def f 'z (x: z) y = (x, y)\n", "def f : z -> a -> (z, a)\n");
    expect_types("def f 'b (x: b) = x + x\n", "def f : b -> b where b num\n");
}

static void test_values(void **state)
{
    (void)state;
    expect_types("def k = 3\n", "def k : i64\n");
    expect_types("def k = (1, 2.5, 3u8)\n", "def k : (i64, f64, u8)\n");
    expect_types("def tau = 2.0 * pi\n", "def tau : f64\n");
    expect_types("def p = pi\n", "def p : a where a float\n");
    expect_types("def none = []\n", "def none : [a]\n");
    expect_types("def inc = (+ 1)\n", "def inc : a -> a where a num\n");
    expect_types("def k : u16 = 65535\n", "def k : u16\n");
    expect_types("def s = \"abc\"\n", "def s : [u8]\n");
}

static void test_recursion(void **state)
{
    (void)state;
    expect_types("def fact n = if n == 0 then 1 else n * fact (n - 1)\n", "def fact : a -> a where a num\n");
    expect_types("def f n = let g k = if k == 0 then n else g (k - 1) in g (n + 1)\n", "def f : a -> a where a num\n");
    expect_types("def f n xs = let g k x = if k == 0 then [x] else g (k - 1) x in (g n n, g 1 xs)\n",
                 "def f : a -> b -> ([a], [b]) where a num\n");
    expect_types("def even n = if n == 0 then true else odd (n - 1)\n"
                 "def odd n = if n == 0 then false else even (n - 1)\n",
                 "def even : a -> bool where a num\ndef odd : a -> bool where a num\n");
    expect_types("def f 'a (x: a) (n: i64) : a = if n == 0 then x else g x (n - 1)\n"
                 "def g 'b (x: b) (n: i64) : b = f x n\n",
                 "def f : b -> i64 -> b\ndef g : b -> i64 -> b\n");
    expect_types("def use = (id 1, id true)\ndef id x = x\n", "def use : (i64, bool)\ndef id : a -> a\n");
}

static void test_local_functions(void **state)
{
    (void)state;
    expect_types("def f x = let g y = (x, y) in (g 1i32, g true)\n", "def f : a -> ((a, i32), (a, bool))\n");
    expect_types("def f (x: f32) = let k = 2 in k * x\n", "def f : f32 -> f32\n");
    expect_types("def f (x: f32) = let g y = y * x in g 2\n", "def f : f32 -> f32\n");
    expect_types("def f p = let g () = p.x in let q = (p : {x: i64}) in g ()\n", "def f : {x: i64} -> i64\n");
    expect_types("def f (x: i8) = let g 'a (y: a) : (a, i8) = (y, x) in (g 1.5f64, g x)\n",
                 "def f : i8 -> ((f64, i8), (i8, i8))\n");
}

static void test_literals(void **state)
{
    (void)state;
    expect_types("def f (x: f32) = 2 * x\n", "def f : f32 -> f32\n");
    expect_types("def f (x: u8) = x << 3\n", "def f : u8 -> u8\n");
    expect_types("def f (x: u8) (n: i64) = x << n\n", "def f : u8 -> i64 -> u8\n");
    expect_types("entry main (x: i8) = (x + 127, x - 127, -128 + x)\n", "entry main : i8 -> (i8, i8, i8)\n");
    expect_types("entry main (xs: [i64]) = { 1 : x in xs }\n", "entry main : [i64] -> [i64]\n");
    expect_types("entry main = inf\n", "entry main : f64\n");
}

static void test_each(void **state)
{
    (void)state;
    expect_types("def f xs = { x : x in xs }\n", "def f : [a] -> [a]\n");
    expect_types("def f n = { i : i in n + 1 }\n", "def f : a -> [a] where a int\n");
    expect_types("def f (n: u8) = { (i, j) : i in n; j in 10i64 }\n", "def f : u8 -> [(u8, i64)]\n");
    expect_types("def f ns = map (\\n -> { i : i in n }) (ns : [i32])\n", "def f : [i32] -> [[i32]]\n");
    expect_types("def f ps = { (x, _) in ps | x > 0i8 }\n", "def f : [(i8, a)] -> [(i8, a)]\n");
    expect_types("def f xs ys = { x * y : x in xs; y in ys }\n", "def f : [a] -> [a] -> [a] where a num\n");
}

static void test_records(void **state)
{
    (void)state;
    expect_types("type point = {y: f64, x: f64}\ndef f (p: point) = p with x = p.y\n",
                 "def f : {x: f64, y: f64} -> {x: f64, y: f64}\n");
    expect_types("def f (ps: [{x: i32}]) = map (\\p -> p.x) ps\n", "def f : [{x: i32}] -> [i32]\n");
    expect_types("def f (ps: [{x: i32}]) = ps |> map (\\p -> p.x + 1) |> sum\n", "def f : [{x: i32}] -> i32\n");
    expect_types("def f {x = a, y} = a + y\n", "def f : {x: a, y: a} -> a where a num\n");
    expect_types("def f p = let s = p.0 + 1 in (s, (p : (i8, bool)).1)\n", "def f : (i8, bool) -> (i8, bool)\n");
}

static void test_sums(void **state)
{
    (void)state;
    expect_types("type opt 'a = #none | #some a\ndef f x = match x case #some y -> y + 1 case #none -> 0\n",
                 "def f : (#none | #some a) -> a where a num\n");
    expect_types("def f (x: #a i8 | #b) : #a i8 | #b = match x case #a y -> #b case #b -> #a 1\n",
                 "def f : (#a i8 | #b) -> (#a i8 | #b)\n");
    expect_types("type t = #b | #a i64\ndef xs = [#b, #a 3]\n", "def xs : [#a i64 | #b]\n");
    expect_types("type t = #x\ntype u = #x | #y\ndef f (p: u) = p == #x\n", "def f : (#x | #y) -> bool\n");
}

static void test_loops(void **state)
{
    (void)state;
    expect_types("def fib (n: i64) = (loop (a, b) = (0, 1) for _ < n do (b, a + b)).0\n",
                 "def fib : i64 -> a where a num\n");
    expect_types("def f (xs: [f32]) = loop s = 0 for x in xs do s + x\n", "def f : [f32] -> f32\n");
    expect_types("def f (n: u32) = loop s = 0 for i < n do s + i\n", "def f : u32 -> u32\n");
    expect_types("def f x = loop y = x while y > 1 do y / 2\n", "def f : a -> a where a num\n");
}

static void test_sizes(void **state)
{
    (void)state;
    expect_types("def f (xs: [n]i8) : i64 = n\n", "def f : [i8] -> i64\n");
    expect_types("def f (n: i32) (xs: [n]i8) : i32 = n\n", "def f : i32 -> [i8] -> i32\n");
    expect_types("def f n (xs: [n][m]f64) : [m][n]f64 = transpose xs m\ndef transpose xs m = xs\n",
                 "def f : a -> [[f64]] -> [[f64]] where a int\ndef transpose : a -> b -> a\n");
    expect_types("def f (g: [k]i8 -> i8) (xs: [i8]) = g xs\n", "def f : ([i8] -> i8) -> [i8] -> i8\n");
}

static void test_names(void **state)
{
    (void)state;
    /* the library's own references keep their meaning */
    expect_types("def sum (x: bool) = !x\nentry main (xs: [i8]) = sum (total xs == 1)\n",
                 "def sum : bool -> bool\nentry main : [i8] -> bool\n");
    expect_types("def f length = length + 1\n", "def f : a -> a where a num\n");
}

/* ---- side tables ---- */

static const Expr *body_of(const Run *r, uint32_t def) { return r->modules[1]->defs[def]->body; }

static void test_rigid_numbering(void **state)
{
    (void)state;
    Run r = start("def f 'a (x: a) = let g y = let h z = (x, y, z) in h y in g 1.5f32\n");
    assert_int_equal(r.session->error_count, 0);
    const Expr *g = body_of(&r, 0), *h = g->let_fun.def->body;
    assert_int_equal(r.checked->let_fun_outer[g->id], 1);
    assert_int_equal(r.checked->local_schemes[g->id].nvars, 1);
    assert_int_equal(r.checked->let_fun_outer[h->id], 2);
    assert_int_equal(r.checked->local_schemes[h->id].nvars, 1);
    Type *z = r.checked->local_schemes[h->id].type->fun.from;
    assert_int_equal(z->kind, TY_RIGID);
    assert_int_equal(z->rigid.index, 2);
    const Ref *call = &r.checked->refs[g->let_fun.body->apply.fn->id];
    assert_int_equal(call->kind, REF_LOCAL_FUN);
    assert_int_equal(call->nargs, 1);
    assert_int_equal(call->args[0]->scalar, SC_F32);
    finish(&r);
}

static void test_own_references_are_identity(void **state)
{
    (void)state;
    Run r = start("def f x n = if n == 0i64 then x else f x (n - 1)\ndef g y = f (y, 1i8) 3\n");
    assert_int_equal(r.session->error_count, 0);
    const Expr *inner = body_of(&r, 0)->if_.else_e;
    const Ref *own = &r.checked->refs[inner->apply.fn->id];
    assert_int_equal(own->kind, REF_DEF);
    assert_int_equal(own->nargs, 1);
    assert_int_equal(own->args[0]->kind, TY_RIGID);
    assert_int_equal(own->args[0]->rigid.index, 0);
    const Ref *outer = &r.checked->refs[body_of(&r, 1)->apply.fn->id];
    assert_string_equal(type_text(r.session->arena, outer->args[0]), "(a, i8)");
    assert_true(checked_find(r.checked, intern_cstr(r.session, "f"))->recursive);
    assert_false(checked_find(r.checked, intern_cstr(r.session, "g"))->recursive);
    finish(&r);
}

static void test_references(void **state)
{
    (void)state;
    Run r = start("def f (xs: [n]i8) = n\ndef g (n: i64) (xs: [n]i8) = n\n");
    assert_int_equal(r.checked->refs[body_of(&r, 0)->id].kind, REF_SIZE);
    assert_int_equal(r.checked->refs[body_of(&r, 1)->id].kind, REF_LOCAL);
    finish(&r);
}

/* ---- errors ---- */

static void test_name_errors(void **state)
{
    (void)state;
    expect_error("def f count = cuont\n", "1:15: error: `cuont` is not defined");
    expect_error("def f x = twice__ f x\n", "1:11: error: `twice__` is not defined");
    expect_error("def f x (x, y) = y\n", "1:10: error: `x` is bound twice");
    expect_error("def f x = x\ndef f y = y\n", "2:5: error: `f` is defined twice");
    expect_error("def f (x: number) = x\n", "1:11: error: type `number` is not defined");
    expect_error("type t = (t, i8)\n", "1:11: error: type `t` is defined by itself");
}

static void test_type_errors(void **state)
{
    (void)state;
    expect_error("def f (x: i64) = x + 1.5\n", "1:22: error: expected i64, found a float");
    expect_error("def f (xs: [i64]) = xs + 1\n", "1:21: error: expected a number, found [i64]");
    expect_error("def f 'a (x: a) : i64 = x\n", "1:25: error: expected i64, found a");
    expect_error("def f 'a 'b (x: a) : b = x\n", "1:26: error: expected b, found a");
    expect_error("def f x = x x\n", "1:13: error: infinite type");
    expect_error("def f x = if x then 1 else \"a\"\n", "1:28: error: expected a number, found [u8]");
    expect_error("def f (g: i8 -> i8) = [1] == [g]\n", "1:30: error: expected [number], found [i8 -> i8]");
    expect_error("def f (g: i8 -> i8) = g < g\n", "1:23: error: expected a value that can be compared");
    expect_error("def f (x: i64) = f 1 2\n", "1:18: error: infinite type");
    expect_error("def f (x: i64) = x\ndef g = f 1 2\n", "2:13: error: too many arguments: `f` takes 1");
    expect_error("def f (x: i64) = (\\y -> y) 1 2\n", "1:30: error: too many arguments");
    expect_error("def f x = { g x : x in 1.5 }\ndef g x = x\n", "1:24: error: expected a sequence or an integer");
}

static void test_data_errors(void **state)
{
    (void)state;
    expect_error("def f p = p.x\n", "1:11: error: the type of this is not known here");
    expect_error("def f (p: {x: i8}) = p.y\n", "1:24: error: {x: i8} has no field `y`");
    expect_error("def f (p: (i8, i8)) = p.2\n", "1:23: error: (i8, i8) has no component 2");
    expect_error("def f x = #some x\n", "1:11: error: the sum type of `#some` is not known here");
    expect_error("def f (x: #a i8) = match x case #b -> 1\n", "1:33: error: #a i8 has no constructor `#b`");
    expect_error("def f = {x = 1, x = 2}\n", "1:17: error: field `x` occurs twice");
}

static void test_literal_errors(void **state)
{
    (void)state;
    expect_error("def f (x: u8) = x + 256\n", "1:21: error: the literal does not fit: u8 goes from 0 to 255");
    expect_error("def k : u8 = -1\n", "1:14: error: the literal does not fit");
    expect_error("def k = 9223372036854775808\n", "1:9: error: the literal does not fit");
    expect_error("def f (x: f32) = x + 1e39\n", "1:22: error: the literal is larger");
    expect_types("def k = -9223372036854775808\n", "def k : i64\n");
}

static void test_size_errors(void **state)
{
    (void)state;
    expect_error("def f (xs: [i8]) : [n]i8 = xs\n", "1:21: error: size `n` is not known here");
    expect_error("def f (n: f32) (xs: [n]i8) = xs\n", "1:22: error: a size is an integer, but `n` is f32");
    expect_error("def f (xs: [n]i8) (n: i64) = xs\n", "1:20: error: `n` is already the size");
}

static void test_function_errors(void **state)
{
    (void)state;
    expect_error("def f x = [\\y -> y + x]\n", "1:12: error: the elements of a sequence cannot be functions");
    expect_error("def f (xs: [i8]) = map (+) xs\n", "1:20: error: `map` is used here with i8 -> i8");
    expect_error("def f c = if c then (+ 1) else (+ 2)\n", "1:11: error: the branches of an `if` cannot be functions");
    expect_error("def pick c x y = if c then x else y\ndef f c = pick c (+ 1) (+ 2i8)\n",
                 "2:11: error: `pick` is used here");
    expect_error("entry main (f: i8 -> i8) = f 1\n", "1:13: error: an entry's parameters cannot be functions");
    expect_error("entry main x = x\n", "1:7: error: the types of an entry have to be known");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generalisation),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_local_functions),
        cmocka_unit_test(test_literals),
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_rigid_numbering),
        cmocka_unit_test(test_own_references_are_identity),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_name_errors),
        cmocka_unit_test(test_type_errors),
        cmocka_unit_test(test_data_errors),
        cmocka_unit_test(test_literal_errors),
        cmocka_unit_test(test_size_errors),
        cmocka_unit_test(test_function_errors),
    };
    return cmocka_run_group_tests_name("types", tests, NULL, NULL);
}
