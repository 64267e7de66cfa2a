/* What `dpc test` stands on: tests in comments, trees, differences, random arguments, and making them smaller. */
#include "testing/test_comments.h"
#include "testing/value_diff.h"
#include "testing/value_random.h"
#include "testing/value_shrink.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- programs ---- */

enum { MOST_PARAMS = 8 };

typedef struct Program {
    Session *session;
    AstIds ids;
    Module *modules[2];
    TestFile *tests;
} Program;

static Program parse(const char *source)
{
    Program p = {.session = session_create()};
    p.modules[0] = parse_module(p.session, source_add_text(p.session, "prelude.dp", "", 0, true), &p.ids);
    p.modules[1] = parse_module(p.session, source_add_text(p.session, "t.dp", source, strlen(source), false), &p.ids);
    p.tests = find_tests(p.session, p.modules[1]);
    return p;
}

/* What diag_print writes; freed with free(). */
static char *messages(Session *s)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    assert_non_null(out);
    diag_print(s, out, false);
    fclose(out);
    return text;
}

static void assert_messages(const char *source, const char *expected)
{
    Program p = parse(source);
    char *text = messages(p.session);
    if (!strstr(text, expected))
        fail_msg("wanted: %s\ngot: %s", expected, text);
    free(text);
    session_destroy(p.session);
}

/* The types and sizes of a function's parameters: "f (n: i64) (xs: [n]t)". */
typedef struct Params {
    Program program;
    DpType *types[MOST_PARAMS];
    Signature signature;
    Arena *arena;
} Params;

static Params params_of(const char *definition)
{
    Params r = {.program = parse(definition), .arena = arena_create()};
    Module **modules = r.program.modules;
    r.program.session->warnings = WARNINGS_HIDDEN; /* of parameters that nothing uses */
    Checked *checked = check_program(r.program.session, modules, 2, &r.program.ids);
    char *text = messages(r.program.session);
    assert_string_equal(text, "");
    free(text);
    Def *def = modules[1]->defs[modules[1]->ndefs - 1];
    uint32_t n = 0;
    for (Type *t = checked->defs[def->index].scheme.type; type_prune(t)->kind == TY_FUN; t = type_prune(t)->fun.to) {
        StrBuf type = {0};
        type_print(&type, type_prune(t)->fun.from);
        r.types[n] = dp_type_parse(type.text);
        assert_non_null(r.types[n++]);
        strbuf_free(&type);
    }
    r.signature = signature_of(r.arena, checked, def, r.types, n, NULL);
    return r;
}

static void free_params(Params *p)
{
    for (uint32_t i = 0; i < p->signature.nparams; i++)
        dp_type_free(p->types[i]);
    arena_destroy(p->arena);
    session_destroy(p->program.session);
}

/* The values of the text, one for each parameter. */
static Tree *read_args(Params *p, const char *text)
{
    Tree *args = arena_array(p->arena, Tree, p->signature.nparams);
    DpReader r = {"text", text, strlen(text), 0};
    for (uint32_t i = 0; i < p->signature.nparams; i++) {
        char error[200];
        DpLeaf *leaves = arena_array(p->arena, DpLeaf, dp_type_leaves(p->types[i]));
        if (!dp_read_text(&r, p->types[i], leaves, error, sizeof error))
            fail_msg("%s: %s", text, error);
        args[i] = tree_of_leaves(p->arena, p->types[i], leaves);
        dp_leaves_free(leaves, dp_type_leaves(p->types[i]));
    }
    return args;
}

static void print_args(StrBuf *out, const Params *p, const Tree *args)
{
    for (uint32_t i = 0; i < p->signature.nparams; i++) {
        strbuf_add(out, i ? " " : "");
        tree_print(out, p->types[i], &args[i]);
    }
}

/* ---- comments ---- */

static void assert_case(const Program *p, uint32_t block, uint32_t i, const char *input, const char *output,
                        const char *error)
{
    assert_true(block < p->tests->blocks.n && i < p->tests->blocks.at[block]->cases.n);
    const TestCase *c = &p->tests->blocks.at[block]->cases.at[i];
    assert_string_equal(c->input.text, input);
    if (output)
        assert_string_equal(c->output.text, output);
    if (error)
        assert_string_equal(c->error, error);
    else
        assert_null(c->error);
}

static void test_comments(void **state)
{
    (void)state;
    Program p = parse("-- prose about the -- input that\n"
                      "-- input must be sorted\n"
                      "def f x = x -- output 3\n"
                      "-- test main\n"
                      "-- input  [1, 2] -- a comment\n"
                      "--        \"-- none\"\n"
                      "-- output 11\n"
                      "-- input  []\n"
                      "-- error  \"unequal \\\"lengths\"  -- the message\n"
                      "\n"
                      "-- test other\r\n"
                      "-- output 5\r\n"
                      "entry other = 5\n"
                      "entry main = 5\n"
                      "-- test that it works\n"
                      "-- input 1\n"
                      "-- output 2\n"
                      "-- property holds -- always\n"
                      "-- input 7\n"
                      "-- input @there.npy\n"
                      "-- properties are fine\n"
                      "-- property f that is\n"
                      "def holds (x: i64) = true");
    char *text = messages(p.session);
    assert_string_equal(text, "");
    free(text);
    assert_int_equal(p.tests->blocks.n, 3);
    assert_string_equal(p.tests->blocks.at[0]->def->name, "main");
    assert_case(&p, 0, 0, "[1, 2] -- a comment\n          \"-- none\"", "11", NULL);
    assert_case(&p, 0, 1, "[]", NULL, "unequal \"lengths");
    assert_string_equal(p.tests->blocks.at[1]->def->name, "other");
    assert_case(&p, 1, 0, "", "5", NULL);
    assert_case(&p, 1, 1, "1", "2", NULL);
    assert_true(p.tests->blocks.at[2]->is_property);
    assert_true(p.tests->blocks.at[2]->def->is_property);
    assert_case(&p, 2, 0, "7", NULL, NULL);
    assert_int_equal(p.tests->blocks.at[2]->cases.n, 2);
    session_destroy(p.session);
}

static void test_mistakes_in_comments(void **state)
{
    (void)state;
    static const struct {
        const char *source, *message;
    } bad[] = {
        {"-- test main\n-- input 1\n", "t.dp:2:4: error: this `-- input` has neither"},
        {"-- test main\n-- input 1\n-- input 2\n-- output 1", "t.dp:2:4: error: this `-- input` has neither"},
        {"-- test main\n-- input 1\n-- error nothing", "t.dp:3:10: error: `-- error` takes a string"},
        {"-- test main\n-- error \"a\" \"b\"", "t.dp:2:14: error: one value was expected"},
        {"-- test main\n-- error \"a", "t.dp:2:"},
        {"-- test main\n-- error \"\"", "t.dp:2:10: error: any error contains this text"},
        {"-- test main\n-- error \"\\0a\"", "t.dp:2:10: error: any error contains this text"},
        {"-- test mian\n-- output 1", "t.dp:1:9: error: there is no entry `mian` in this file [E0502]"},
        {"-- test mian\n-- output 1", "did you mean `main`?"},
        {"-- test d\n-- output 1", "t.dp:1:9: error: `d` is no entry"},
        {"-- property dd", "t.dp:1:13: error: there is no definition `dd`"},
        {"-- property d\n-- input 3\n-- output 3", "t.dp:2:4: error: a property has inputs only"},
        {"-- test main\n-- input 1\n-- ouput 1\n-- output 1",
         "t.dp:3:4: error: `-- ouput` means nothing in a test; did you mean `-- output`?"},
        {"-- tset main\n-- input 1\n-- output 1", "t.dp:1:4: error: `-- tset`"},
        {"-- proprety d", "t.dp:1:4: error: `-- proprety`"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        StrBuf source = {0};
        strbuf_printf(&source, "%s\n\nentry main = 5\ndef d = 5\n", bad[i].source);
        assert_messages(source.text, bad[i].message);
        strbuf_free(&source);
    }
}

/* Lines that only look like tests are prose. */
static void test_prose_in_comments(void **state)
{
    (void)state;
    static const char *const prose[] = {"-- test data for main",
                                        "-- test main of all",
                                        "-- test other",
                                        "-- input comes first",
                                        "-- input 3",
                                        "-- output 4",
                                        "-- property of rings",
                                        "-- input x\n-- outputs y",
                                        "-- error \"a\"",
                                        "-- inputs of main\n-- tests main",
                                        "-- test\n",
                                        ""};
    for (size_t i = 0; i < sizeof prose / sizeof *prose; i++) {
        StrBuf source = {0};
        strbuf_printf(&source, "%s\n\nentry main = 5\n", prose[i]);
        Program p = parse(source.text);
        char *text = messages(p.session);
        assert_string_equal(text, "");
        assert_int_equal(p.tests->blocks.n, 0);
        free(text);
        session_destroy(p.session);
        strbuf_free(&source);
    }
}

/* The values of the first case of main, as types say. */
static void assert_input_refused(const char *comment, const char *type, const char *message)
{
    StrBuf source = {0};
    strbuf_printf(&source, "-- test main\n%s\n-- output 1\nentry main = 5\n", comment);
    Program p = parse(source.text);
    DpType *types[2] = {dp_type_parse(type), dp_type_parse(type)};
    const char *names[2] = {"x", "y"};
    DpLeaf leaves[16] = {0};
    assert_false(read_test_values(p.session, &p.tests->blocks.at[0]->cases.at[0].input, types, names, 2, leaves));
    char *text = messages(p.session);
    if (!strstr(text, message))
        fail_msg("wanted: %s\ngot: %s", message, text);
    free(text);
    dp_type_free(types[0]);
    dp_type_free(types[1]);
    session_destroy(p.session);
    strbuf_free(&source);
}

static void test_values_in_comments(void **state)
{
    (void)state;
    assert_input_refused("-- input 1 x", "i32", "t.dp:2:12: error: expected an i32, found x [E0501]");
    assert_input_refused("-- input [1,\n--    2] [1\n  --    2]", "[i32]", "t.dp:4:9: error: expected ], found 2");
    assert_input_refused("-- input 1", "i32", "error: the value of the parameter y is missing");
    assert_input_refused("-- input 1 2 3", "i32", "t.dp:2:14: error: there are more values than parameters");
    assert_input_refused("-- input 1 @none.npy 3", "i32", "t.dp:2:12: error: none.npy: No such file");
}

/* ---- trees ---- */

static void assert_tree(const char *type, const char *text)
{
    StrBuf definition = {0}, again = {0};
    strbuf_printf(&definition, "def f (x: %s) = true", type);
    Params p = params_of(definition.text);
    Tree *args = read_args(&p, text);
    print_args(&again, &p, args);
    assert_string_equal(again.text, text);
    Tree copy = tree_copy(p.arena, args);
    assert_true(tree_equal(&copy, args));
    strbuf_free(&again);
    strbuf_free(&definition);
    free_params(&p);
}

static void test_trees(void **state)
{
    (void)state;
    assert_tree("i32", "-7");
    assert_tree("[[u8]]", "[\"a\", \"\", \"bc\"]");
    assert_tree("([(i32, [[bool]])], ())", "([(1, [[true], []]), (2, [])], ())");
    assert_tree("[#b [i8] | #a (f32, [#x | #y u64]) | #c]",
                "[#b [1, 2], #c, #a (0.5, [#x, #y 3]), #b [], #a (nan, [])]");
    assert_tree("{b: [()], a: [[[i16]]]}", "{a = [[], [[]], [[1], [-2, 3]]], b = [(), ()]}");
}

/* Two values of a type, one behind the other. */
static bool equal_values(const char *type, const char *values)
{
    StrBuf definition = {0};
    strbuf_printf(&definition, "def f (x: %s) (y: %s) = true", type, type);
    Params p = params_of(definition.text);
    Tree *args = read_args(&p, values);
    bool equal = tree_equal(&args[0], &args[1]);
    strbuf_free(&definition);
    free_params(&p);
    return equal;
}

static void test_equal_trees(void **state)
{
    (void)state;
    assert_true(equal_values("([i32], #a | #b bool)", "([1, 2], #b true) ([1, 2], #b true)"));
    assert_false(equal_values("([i32], #a | #b bool)", "([1, 2], #b true) ([1, 3], #b true)"));
    assert_false(equal_values("([i32], #a | #b bool)", "([1, 2], #b true) ([1], #b true)"));
    assert_false(equal_values("([i32], #a | #b bool)", "([1, 2], #b true) ([1, 2], #a)"));
    assert_false(equal_values("([i32], #a | #b bool)", "([1, 2], #b true) ([1, 2], #b false)"));
    assert_false(equal_values("f64", "0.0 (-0.0)"));
}

static void assert_simplest(const char *type, const char *wanted)
{
    StrBuf definition = {0}, text = {0};
    strbuf_printf(&definition, "def f (x: %s) = true", type);
    Params p = params_of(definition.text);
    Tree simplest = tree_simplest(p.arena, p.types[0]);
    tree_print(&text, p.types[0], &simplest);
    assert_string_equal(text.text, wanted);
    strbuf_free(&text);
    strbuf_free(&definition);
    free_params(&p);
}

static void test_simplest_trees(void **state)
{
    (void)state;
    assert_simplest("(i32, {x: f32, s: [u8]}, [bool], ())", "(0, {s = \"\", x = 0.0}, [], ())");
    assert_simplest("#a i32 | #b | #c", "#b");
    assert_simplest("#a (i32, #x [u8]) | #b bool", "#a (0, #x \"\")"); /* each has a payload */
}

static void assert_differences(const char *type, const char *expected, const char *got, const char *lines)
{
    StrBuf definition = {0}, text = {0}, out = {0};
    strbuf_printf(&definition, "def f (x: %s) (y: %s) = true", type, type);
    strbuf_printf(&text, "%s %s", expected, got);
    Params p = params_of(definition.text);
    Tree *args = read_args(&p, text.text);
    value_diff(&out, p.types[0], &args[0], &args[1], 3, 1);
    assert_string_equal(out.text ? out.text : "", lines);
    strbuf_free(&out);
    strbuf_free(&text);
    strbuf_free(&definition);
    free_params(&p);
}

static void test_differences(void **state)
{
    (void)state;
    assert_differences("i32", "1", "1", "");
    assert_differences("i32", "1", "2", " expected 1, got 2\n");
    assert_differences("[{x: i32, y: [i8]}]", "[{x = 1, y = []}, {x = 2, y = [1]}]",
                       "[{x = 1, y = []}, {x = 3, y = [2]}]",
                       " at [1].x: expected 2, got 3\n at [1].y[0]: expected 1, got 2\n");
    assert_differences("[i32]", "[1, 2]", "[1]", " expected 2 elements, got 1\n");
    assert_differences("([i32], bool)", "([1], true)", "([1, 2], false)",
                       " at .0: expected 1 element, got 2\n at .1: expected true, got false\n");
    assert_differences("[i32]", "[1, 2, 3, 4, 5]", "[2, 3, 4, 5, 6]",
                       " at [0]: expected 1, got 2\n at [1]: expected 2, got 3\n at [2]: expected 3, got 4\n and 2 "
                       "other differences\n");
    assert_differences("f64", "1.0", "1.0000000001", "");
    assert_differences("f64", "nan", "nan", "");
    assert_differences("f64", "2.0", "1.0", " expected 2.0, got 1.0 (relative error 0.5, 1e-09 is allowed)\n");
    assert_differences("f32", "inf", "1.0", " expected inf, got 1.0\n");
    assert_differences("[#a i32 | #b]", "[#a 1, #b, #a 2]", "[#a 2, #a 1, #a 2]",
                       " at [0].#a: expected 1, got 2\n at [1]: expected #b, got #a 1\n");
    assert_differences("[[u8]]", "[\"abc\"]", "[\"abd\"]", " at [0]: expected \"abc\", got \"abd\"\n");
    assert_differences("[u8]", "\"0123456789012345678901234567890123456789012345678901234567890123456789\"",
                       "\"012345678901234567890123456789012345678901234567890123456789012345678x\"",
                       " from byte 69: expected ...\"901234567890123456789\", got ...\"90123456789012345678x\"\n");
}

/* Long values and texts are cut, and what differs is shown. */
static void test_long_differences(void **state)
{
    (void)state;
    assert_differences(
        "[i32]", "[1, 2, 3, 4]", "[2, 3, 4, 5]",
        " at [0]: expected 1, got 2\n at [1]: expected 2, got 3\n at [2]: expected 3, got 4\n and 1 other "
        "difference\n");
    assert_differences(
        "#a [i64] | #b",
        "#a [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, "
        "25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, "
        "52]",
        "#b",
        " expected #a [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, "
        "25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50"
        ",..., got #b\n");
    const char *wheel =
        "\"0123456789abcdefghijABCDEFGHIJ0123456789abcdefghijABCDEFGHIJ0123456789abcdefghijABCDEFGHIJ\"";
    assert_differences(
        "[u8]", wheel, "\"0123456789abcdefghijABCDE-GHIJ\"",
        " from byte 25: expected ...\"56789abcdefghijABCDEFGHIJ0123456789abcdefghijABCDEFGHIJ01234\"..., got "
        "\"0123456789abcdefghijABCDE-GHIJ\"\n");
    assert_differences("[u8]", wheel, wheel, "");
    assert_differences("[u8]", "\"\"", "\"a\"", " expected \"\", got \"a\"\n");
    assert_differences("f32", "1.0", "1.0000001", "");
}

/* ---- random arguments ---- */

static const char *const signatures[] = {
    "def f (x: bool) (a: i8) (b: i16) (c: u32) (d: u64) (e: f32) (g: f64) = true",
    "def f (xs: [i64]) (s: [u8]) (t: [[u8]]) (u: ()) = true",
    "def f (xss: [[[i32]]]) (p: [(f32, {x: i8, y: [bool]})]) = true",
    "def f (xs: [#leaf | #node (i32, [u8]) | #pair (bool, f64)]) (y: #a | #b) = true",
    "def f (n: i64) (xs: [n]i32) (ys: [n]f32) = true",
    "def f (m: [r][c]f32) (x: [c]f32) (y: [r]f32) = true",
    "def f (a: [n][n]i32) (k: i8) (b: [k][n](i32, [k]u8)) = true",
    "def f (xsss: [[[n]i32]]) (ys: [n]bool) (z: [3][2]u8) = true",
    "type vec 'a = [n]a\ntype two = (vec i32, vec f32)\ndef f (p: two) (v: vec (vec u8)) = true",
    "def f ((n, x): (i64, f32)) (xs: [n]i32) (r: {a: [n]i32, b: [m]i32}) (ys: [m]u8) = true",
    "def f ((a: [n]i32), (b: [n]i32)) = true",
};
enum { SIGNATURES = sizeof signatures / sizeof *signatures };

/* Scalars canonical, tags and lengths as the type says. */
static bool well_typed(const DpType *t, const Tree *v)
{
    bool ok = true;
    switch (t->kind) {
    case DP_T_SCALAR: {
        uint64_t stored = 0;
        dp_scalar_store(t->scalar, &stored, 0, v->bits);
        return v->n == 0 && dp_scalar_load(t->scalar, &stored, 0) == v->bits && (t->scalar != DP_BOOL || v->bits < 2);
    }
    case DP_T_SUM:
        return v->bits < t->n && v->n == (t->items[v->bits] != NULL) &&
               (!v->n || well_typed(t->items[v->bits], &v->items[0]));
    case DP_T_TUPLE:
    case DP_T_RECORD: ok = v->n == t->n; break;
    case DP_T_ARRAY: break;
    }
    for (uint64_t i = 0; ok && i < v->n; i++)
        ok = well_typed(t->kind == DP_T_ARRAY ? t->element : t->items[i], &v->items[i]);
    return ok;
}

static void assert_well_typed(const Params *p, const Tree *args)
{
    for (uint32_t i = 0; i < p->signature.nparams; i++)
        assert_true(well_typed(p->types[i], &args[i]));
    assert_true(sizes_hold(&p->signature, args));
}

static void test_random_arguments(void **state)
{
    (void)state;
    for (size_t k = 0; k < SIGNATURES; k++) {
        Params p = params_of(signatures[k]);
        uint64_t longest = 0, empty = 0, arrays = 0;
        for (uint32_t i = 0; i < 200; i++) {
            Tree *args = random_arguments(p.arena, &p.signature, (RandomCase){42, "f", i, 200});
            Tree *again = random_arguments(p.arena, &p.signature, (RandomCase){42, "f", i, 200});
            assert_well_typed(&p, args);
            for (uint32_t j = 0; j < p.signature.nparams; j++) {
                assert_true(tree_equal(&args[j], &again[j]));
                bool is_array = p.types[j]->kind == DP_T_ARRAY && p.signature.params[j].rule != SIZED_LITERAL;
                longest = is_array && args[j].n > longest ? args[j].n : longest;
                arrays += is_array;
                empty += is_array && args[j].n == 0;
            }
        }
        if (arrays)
            assert_true(longest > 4 && empty > 0);
        free_params(&p);
    }
}

/* Extremes of every type come up, as do equal elements, and long sequences. */
static void test_random_coverage(void **state)
{
    (void)state;
    Params p = params_of("def f (a: i8) (b: u64) (e: f32) (xs: [i32]) = true");
    bool least = false, most = false, nan = false, infinite = false, equal = false, is_long = false,
         negative_zero = false;
    for (uint32_t i = 0; i < 2000; i++) {
        Tree *args = random_arguments(p.arena, &p.signature, (RandomCase){1, "f", i, 2000});
        double x = float_of_bits(DP_F32, args[2].bits);
        least |= args[0].bits == (uint64_t)-128;
        most |= args[1].bits == UINT64_MAX;
        nan |= isnan(x);
        infinite |= isinf(x);
        negative_zero |= x == 0 && signbit(x);
        is_long |= args[3].n > 256;
        equal |= args[3].n == 5 && args[3].items[0].bits == args[3].items[4].bits &&
                 args[3].items[1].bits == args[3].items[0].bits;
    }
    assert_true(least && most && nan && infinite && equal && is_long && negative_zero);
    free_params(&p);
}

/* Random values of all types come back from text and from .dpv files. */
static void assert_comes_back(const DpType *t, const Tree *v, const char *file)
{
    enum { LEAVES = 64 };
    DpLeaf leaves[LEAVES], back[LEAVES];
    char error[300];
    StrBuf text = {0};
    assert_true(dp_type_leaves(t) <= LEAVES);
    tree_to_leaves(t, v, leaves);
    tree_print(&text, t, v);
    DpReader r = {"text", text.text, text.n, 0};
    if (!dp_read_text(&r, t, back, error, sizeof error))
        fail_msg("%s: %s", text.text, error);
    assert_true(dp_reader_done(&r) && dp_leaves_equal(t, leaves, back, 0));
    dp_leaves_free(back, dp_type_leaves(t));
    if (!dp_write_file(file, t, leaves, error, sizeof error) || !dp_read_file(file, t, back, error, sizeof error))
        fail_msg("%s: %s", text.text, error);
    assert_true(dp_leaves_equal(t, leaves, back, 0));
    dp_leaves_free(back, dp_type_leaves(t));
    dp_leaves_free(leaves, dp_type_leaves(t));
    strbuf_free(&text);
}

static void test_random_round_trips(void **state)
{
    (void)state;
    char folder[] = "/tmp/dpc-test-XXXXXX", file[64];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/a.dpv", folder);
    for (size_t k = 0; k < SIGNATURES; k++) {
        Params p = params_of(signatures[k]);
        for (uint32_t i = 0; i < 60; i++) {
            Tree *args = random_arguments(p.arena, &p.signature, (RandomCase){8, "f", i, 60});
            for (uint32_t j = 0; j < p.signature.nparams; j++)
                assert_comes_back(p.types[j], &args[j], file);
        }
        free_params(&p);
    }
    unlink(file);
    rmdir(folder);
}

/* ---- making smaller ---- */

typedef struct Goal {
    const Params *params;
    bool (*fails)(const Tree *args);
    uint64_t tries;
} Goal;

static ShrinkVerdict judge(void *data, const Tree *args)
{
    Goal *g = data;
    g->tries++;
    assert_well_typed(g->params, args);
    return g->fails(args) ? SHRINK_TAKE : SHRINK_NEXT;
}

static void shrink_fully(const Params *p, Tree *args, Goal *g)
{
    uint32_t steps = 0;
    while (shrink_step(p->arena, &p->signature, args, judge, g))
        assert_true(++steps < 5000);
    assert_true(g->fails(args));
}

static bool always(const Tree *args) { return args != NULL; }

/* Everything fails: what is left is the simplest of the type. */
static void test_shrinks_to_simplest(void **state)
{
    (void)state;
    for (size_t k = 0; k < SIGNATURES; k++) {
        Params p = params_of(signatures[k]);
        bool sized = strstr(signatures[k], "[3]") != NULL;
        for (uint32_t i = 0; i < 20; i++) {
            Tree *args = random_arguments(p.arena, &p.signature, (RandomCase){3, "f", i, 20});
            Goal g = {&p, always, 0};
            shrink_fully(&p, args, &g);
            for (uint32_t j = 0; !sized && j < p.signature.nparams; j++) {
                Tree simplest = tree_simplest(p.arena, p.types[j]);
                assert_true(tree_equal(&args[j], &simplest));
            }
        }
        free_params(&p);
    }
}

static void assert_smallest(const char *definition, bool (*fails)(const Tree *args), const char *smallest)
{
    Params p = params_of(definition);
    uint32_t found = 0;
    for (uint32_t i = 0; i < 400; i++) {
        Tree *args = random_arguments(p.arena, &p.signature, (RandomCase){9, "f", i, 400});
        if (!fails(args))
            continue;
        found++;
        Goal g = {&p, fails, 0};
        StrBuf text = {0};
        shrink_fully(&p, args, &g);
        print_args(&text, &p, args);
        assert_string_equal(text.text, smallest);
        strbuf_free(&text);
    }
    assert_true(found > 0);
    free_params(&p);
}

static bool is_large(const Tree *args) { return (int64_t)args[0].bits > 1000; }
static bool is_low(const Tree *args) { return (int64_t)args[0].bits < -3; }
static bool has_six(const Tree *args) { return args[0].n >= 6; }
static bool is_unsorted(const Tree *args)
{
    for (uint64_t i = 1; i < args[0].n; i++)
        if ((int64_t)args[0].items[i - 1].bits > (int64_t)args[0].items[i].bits)
            return true;
    return false;
}
static bool has_equal(const Tree *args)
{
    for (uint64_t i = 1; i < args[0].n; i++)
        if (args[0].items[i - 1].bits == args[0].items[i].bits && args[0].items[i].bits > 2)
            return true;
    return false;
}
static bool has_nan(const Tree *args) { return isnan(float_of_bits(DP_F64, args[0].bits)); }
static bool is_fraction(const Tree *args)
{
    double x = float_of_bits(DP_F64, args[0].bits);
    return isfinite(x) && x > 1 && x != trunc(x);
}
static bool has_long_text(const Tree *args)
{
    for (uint64_t i = 0; i < args[0].n; i++)
        if (args[0].items[i].bits == 1 && args[0].items[i].items[0].n > 2)
            return true;
    return false;
}
static bool is_wide(const Tree *args) { return args[0].n > 1 && args[1].n > 2; }

static void test_shrinks_to_smallest(void **state)
{
    (void)state;
    assert_smallest("def f (x: i64) = true", is_large, "1001");
    assert_smallest("def f (x: i8) = true", is_low, "-4");
    assert_smallest("def f (xs: [f32]) = true", has_six, "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]");
    assert_smallest("def f (xs: [u16]) = true", is_unsorted, "[1, 0]");
    assert_smallest("def f (xs: [u32]) = true", has_equal, "[3, 3]");
    assert_smallest("def f (x: f64) = true", has_nan, "nan");
    assert_smallest("def f (x: f64) = true", is_fraction, "1.5");
    assert_smallest("def f (xs: [#a | #b [u8] | #c i32]) = true", has_long_text, "[#b \"aaa\"]");
    assert_smallest("def f (m: [r][c]f32) (x: [c]i32) (n: [r]u8) = true", is_wide,
                    "[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]] [0, 0, 0] \"aa\"");
}

/* The order is one: nothing is simpler than itself, and no two are simpler than each other. */
static void test_order_of_scalars(void **state)
{
    (void)state;
    Params p = params_of("def f (a: i32) (b: i32) (c: f64) (d: f64) (e: u8) (g: u8) = true");
    for (uint32_t i = 0; i < 2000; i++) {
        Tree *args = random_arguments(p.arena, &p.signature, (RandomCase){5, "f", i, 2000});
        static const DpScalar scalars[] = {DP_I32, DP_F64, DP_U8};
        for (uint32_t k = 0; k < 3; k++)
            for (int text = 0; text <= (k == 2); text++) {
                uint64_t a = args[2 * k].bits, b = args[2 * k + 1].bits;
                assert_false(scalar_is_simpler(scalars[k], text, a, a));
                assert_false(scalar_is_simpler(scalars[k], text, a, b) && scalar_is_simpler(scalars[k], text, b, a));
            }
    }
    free_params(&p);
}

/* ---- mutated comments: a message or a test, never a crash ---- */

static uint64_t step(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static void test_mutated_comments(void **state)
{
    (void)state;
    static const char source[] = "-- test main\n-- input [1] -- c\n--  2\n-- output 3\n-- error \"a\"\n-- property x\n"
                                 "-- input 3\n\ndef x = 1\nentry main = 2\n-- input\n-- output\n";
    uint64_t seed = 7;
    for (int round = 0; round < 20000; round++) {
        char text[sizeof source];
        memcpy(text, source, sizeof source);
        for (uint64_t k = 1 + step(&seed) % 4; k > 0; k--) {
            static const char bytes[] = "- \n\"\\[@x3tiopr\r\xff";
            text[step(&seed) % (sizeof source - 1)] = bytes[step(&seed) % (sizeof bytes - 1)];
        }
        Program p = parse(text);
        for (uint32_t i = 0; i < p.tests->blocks.n; i++)
            for (uint32_t c = 0; c < p.tests->blocks.at[i]->cases.n; c++) {
                DpType *t = dp_type_parse("[i32]");
                DpLeaf leaf = {0};
                if (read_test_values(p.session, &p.tests->blocks.at[i]->cases.at[c].input, &t, NULL, 1, &leaf))
                    dp_leaves_free(&leaf, 1);
                dp_type_free(t);
            }
        free(messages(p.session));
        session_destroy(p.session);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comments),
        cmocka_unit_test(test_mistakes_in_comments),
        cmocka_unit_test(test_prose_in_comments),
        cmocka_unit_test(test_values_in_comments),
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_long_differences),
        cmocka_unit_test(test_equal_trees),
        cmocka_unit_test(test_simplest_trees),
        cmocka_unit_test(test_random_arguments),
        cmocka_unit_test(test_random_coverage),
        cmocka_unit_test(test_random_round_trips),
        cmocka_unit_test(test_shrinks_to_simplest),
        cmocka_unit_test(test_shrinks_to_smallest),
        cmocka_unit_test(test_order_of_scalars),
        cmocka_unit_test(test_mutated_comments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
