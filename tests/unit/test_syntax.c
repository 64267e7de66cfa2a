/* The scanner, the parser and the diagnostics' form: source text in, tree or messages out. */
#include "syntax/ast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The diagnostics if there are any, else the tree. The caller frees it. */
static char *parse_bytes(const char *source, size_t n)
{
    Session *s = session_create();
    AstIds ids = {0};
    const Module *m = parse_module(s, source_add_text(s, "t.dp", source, n, false), &ids);
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    if (s->error_count) {
        diag_print(s, out, false);
    } else {
        StrBuf tree = {0};
        ast_print(&tree, m);
        if (tree.n)
            fwrite(tree.text, 1, tree.n, out);
        strbuf_free(&tree);
    }
    fclose(out);
    session_destroy(s);
    return text;
}

static void expect(const char *source, const char *wanted)
{
    char *found = parse_bytes(source, strlen(source));
    if (strcmp(found, wanted) != 0)
        print_error("source:\n%s\n", source);
    assert_string_equal(found, wanted);
    free(found);
}

/* The tree of an expression. */
static void expect_expr(const char *expr, const char *wanted)
{
    StrBuf source = {0}, tree = {0};
    strbuf_printf(&source, "def f = %s", expr);
    strbuf_printf(&tree, "def f\n%s", wanted);
    expect(source.text, tree.text);
    strbuf_free(&source);
    strbuf_free(&tree);
}

/* The first message, without the excerpt. */
static void expect_error(const char *source, const char *wanted)
{
    char *found = parse_bytes(source, strlen(source));
    found[strcspn(found, "\n")] = '\0';
    if (strcmp(found, wanted) != 0)
        print_error("source:\n%s\n", source);
    assert_string_equal(found, wanted);
    free(found);
}

#define SAME(a, b) expect_same("def f = " a, "def f = " b)
static void expect_same(const char *a, const char *b)
{
    char *tree = parse_bytes(b, strlen(b));
    assert_null(strstr(tree, "error:"));
    expect(a, tree);
    free(tree);
}

static void test_literals(void **state)
{
    (void)state;
    expect_expr("[42, 0xff, 0b101, 1_000_000, 42i32, 0x1f32, 0xffu8]", "  array 42 255 5 1000000 42i32 7986 255u8\n");
    expect_expr("[1.0, 2e-3, 1f32, 1_0.5_0e1, 1.5f64]", "  array 1.0 2e-3 1:f32 10.50e1 1.5:f64\n");
    expect_expr("(-128i8, -1.5, - 3, -(1))", "  tuple\n    -128i8\n    -1.5\n    -3\n    unary - 1\n");
    expect_expr("['a', '\\n', '\\'', '\"', '\\x41', '\\0', ' ']", "  array 'a' '\\n' '\\'' '\"' 'A' '\\x00' ' '\n");
    expect_expr("\"a\\n\\x412\\101\\\"\"", "  \"a\\nA2A\\\"\"\n");
    expect_expr("(true, false, ())", "  tuple\n    true\n    false\n    tuple\n");
    expect_expr("1..<2", "  range ..< 1 2\n");
    expect_expr("18446744073709551615", "  18446744073709551615\n");
}

static void test_ranges_of_literals(void **state)
{
    (void)state;
    expect_error("def f = 128i8", "t.dp:1:9: error: the literal does not fit: i8 goes from -128 to 127 [E0106]");
    expect_error("def f = -129i8", "t.dp:1:9: error: the literal does not fit: i8 goes from -128 to 127 [E0106]");
    expect_error("def f = -(128i8)", "t.dp:1:11: error: the literal does not fit: i8 goes from -128 to 127 [E0106]");
    expect_error("def f = -1u8", "t.dp:1:9: error: the literal does not fit: u8 goes from 0 to 255 [E0106]");
    expect_error(
        "def f = 18446744073709551616",
        "t.dp:1:9: error: the literal is larger than every integer type: u64 goes to 18446744073709551615 [E0106]");
    expect_error("def f = 1e39f32", "t.dp:1:9: error: the literal is larger than every number of type f32 [E0106]");
    expect_error("def f = 12abc", "t.dp:1:9: error: malformed number [E0105]");
    expect_error("def f = 0b2", "t.dp:1:9: error: malformed number [E0105]");
    expect_error("def f = .5", "t.dp:1:9: error: expected an expression, found `.` [E0101]");
}

static void test_indexing_and_arrays(void **state)
{
    (void)state;
    expect_expr("f xs[i][j]", "  apply\n    f\n    index\n      index xs i\n      j\n");
    expect_expr("f(x)[i]", "  apply\n    f\n    index x i\n");
    expect_expr("f [1, 2,]", "  apply\n    f\n    array 1 2\n");
    expect_expr("#a[1]", "  #a\n    array 1\n");
    expect_expr("\"abc\"[0]", "  index \"abc\" 0\n");
    expect_expr("t.0.1[2]", "  index\n    project 1\n      project 0 t\n    2\n");
    expect_expr(
        "(xs[a:b], xs[a:], xs[:b], xs[:])",
        "  tuple\n    slice xs a b\n    slice xs a nothing\n    slice xs nothing b\n    slice xs nothing nothing\n");
    expect_expr("M.x.y z", "  apply\n    field y\n      field x M\n    z\n");
    SAME("[[1],[2]][0]", "([[1],[2]])[0]");
    SAME("f x [i]", "f x ([i])");
    SAME("a -- xs\n [i]", "a ([i])");
}

static void test_operators(void **state)
{
    (void)state;
    SAME("f -1", "f - (1)");
    SAME("a |> f |> g <| x <| y", "(a |> f) |> (g <| (x <| y))");
    SAME("a || b && c == d | e ^ g & h << 1", "a || (b && (c == (d | (e ^ (g & (h << 1))))))");
    SAME("0..<n ++ i + 1...j * 2", "(0..<n) ++ ((i + 1)...(j * 2))");
    SAME("-x ** 2 ** y", "(-x) ** (2 ** y)");
    SAME("a * b ** c % d - e", "((a * (b ** c)) % d) - e");
    SAME("!a && ~b == c", "(!a) && ((~b) == c)");
    SAME("1 + if c then a else b + 2", "1 + (if c then a else (b + 2))");
    SAME("1 + \\x -> x |> f", "1 + (\\x -> (x |> f))");
    SAME("a |> b || c with x = d || e |> g", "a |> ((b || c) with x = (d || e)) |> g");
    SAME("(a < b) == (c < d)", "(a < b) == ((c < d))");
}

static void test_sections(void **state)
{
    (void)state;
    expect_expr("[(+), (-), (**), (|)]", "  array\n    section +\n    section -\n    section **\n    section |\n");
    expect_expr("(+ a * b)", "  right section +\n    binary * a b\n");
    expect_expr("(- e)", "  unary - e\n");
    expect_expr("(a * b +)", "  left section +\n    binary * a b\n");
    expect_expr("(a - b -)", "  left section -\n    binary - a b\n");
    expect_expr("(a ** b ** -- comment\n )", "  left section **\n    binary ** a b\n");
    expect_expr("(-a **)", "  left section **\n    unary - a\n");
    expect_error("def f = (a + b *)", "t.dp:1:17: error: expected an expression, found `)` [E0101]");
    expect_error("def f = (a * b **)", "t.dp:1:18: error: expected an expression, found `)` [E0101]");
}

static void test_control(void **state)
{
    (void)state;
    SAME("let a = 1 let b = 2 in let c = 3 in a", "let a = 1 in let b = 2 in let c = 3 in a");
    SAME("match x case 1 -> match y case 2 -> 3 case _ -> 4", "match x case 1 -> (match y case 2 -> 3 case _ -> 4)");
    SAME("xs with [i] = v with [j] = w", "(xs with [i] = v) with [j] = w");
    expect_expr("let (x: i32, _) = p let g 'a (y: a) : a = y in g x",
                "  let ((x: i32), _)\n    p\n  let function g 'a (y: a) : a\n    y\n  apply g x\n");
    expect_expr("loop (i, s : i32) = z for _ < n do s",
                "  loop (i, (s: i32))\n    z\n  for below _\n    n\n  do\n    s\n");
    expect_expr("loop s = 0 for (a, b) in xs do s", "  loop s\n    0\n  for in (a, b)\n    xs\n  do\n    s\n");
    expect_expr("loop s : i64 = 0 while s < 9 do s",
                "  loop (s: i64)\n    0\n  while\n    binary < s 9\n  do\n    s\n");
    expect_expr("match x case #a (p, -1) -> 1 case {u = 'c', v} -> 2 case -2.5 -> 3",
                "  match\n    x\n  case (#a (p, -1))\n    1\n  case {u = 'c', v = v}\n    2\n  case -2.5\n    3\n");
    expect_error("def f = loop x = 0 for (a, b) < 3 do x",
                 "t.dp:1:24: error: the counter of a loop is a name or `_` [E0112]");
    expect_error("def f = let 1 = x in x", "t.dp:1:13: error: a literal pattern may only stand in `match` [E0113]");
    expect_error("def f (#a x) = x", "t.dp:1:8: error: a constructor pattern may only stand in `match` [E0113]");
}

static void test_braces(void **state)
{
    (void)state;
    expect_expr("{y}", "  record\n    field y\n      y\n");
    expect_expr("{x = 1, y,}", "  record\n    field x\n      1\n    field y\n      y\n");
    expect_expr("{ x in xs | x > 0 }", "  each\n  in x\n    xs\n  where\n    binary > x 0\n");
    expect_expr("{ (x, {u, v = _}, w: i32) in ps; k in n | x }",
                "  each\n  in (x, {u = u, v = _}, (w: i32))\n    ps\n  in k\n    n\n  where\n    x\n");
    expect_expr("{ (a | b) : (a, _) in xs | f (a | b) }",
                "  each\n    binary | a b\n  in (a, _)\n    xs\n  where\n    apply\n      f\n      binary | a b\n");
    expect_expr("{ x || y : x in xs[a|b] }",
                "  each\n    binary || x y\n  in x\n    index\n      xs\n      binary | a b\n");
    expect_error("def f = { a | b : a in xs }", "t.dp:1:13: error: unexpected `|` [E0101]");
    expect_error(
        "def f = { f x in xs }",
        "t.dp:1:11: error: expected a pattern before `in`, or `:` and the binders behind this expression [E0112]");
    expect_error("def f = g _", "t.dp:1:11: error: `_` is a pattern, it has no value [E0114]");
}

static void test_types(void **state)
{
    (void)state;
    expect("def f 'a 'b (x: [n][m]a) (y: [3]pair i32 [b]) : a -> (b -> a) -> b = x",
           "def f 'a 'b (x: [n][m]a) (y: [3](pair i32 [b])) : (a -> ((b -> a) -> b))\n  x\n");
    expect("type t = #a i32 -> i32 | #b | #c (i32, M.u)", "type t = (#a (i32 -> i32) | #b | #c (i32, M.u))\n");
    expect("type r 'a = {x: #a | #b, y: [pair([n]a)],}", "type r 'a = {x: (#a | #b), y: [(pair [n]a)]}\n");
    expect_error("type t = [3i32]u8", "t.dp:1:11: error: a size is an integer of type i64, without a suffix [E0116]");
    expect_error("type t = [[u8]]u8", "t.dp:1:11: error: a size is a name or an integer [E0116]");
    expect_error("def f (x: 'a) = x", "t.dp:1:11: error: a type variable is used without its quote: write `a` [E0115]");
}

static void test_type_text(void **state)
{
    (void)state;
    Session *s = session_create();
    AstIds ids = {0};
    const TypeExpr *t = parse_type_text(s, "'a -> ['b]", &ids);
    assert_int_equal(t->kind, TE_FUN);
    assert_string_equal(t->fun.from->name.name, "'a");
    assert_int_equal(t->fun.to->kind, TE_ARRAY);
    assert_int_equal(s->error_count, 0);
    assert_int_equal(parse_type_text(s, "->", &ids)->kind, TE_TUPLE);
    assert_int_equal(s->error_count, 1);
    session_destroy(s);
}

static void test_definitions(void **state)
{
    (void)state;
    expect("--| one\n-- two\n\n-- other\nimport \"a/b\" as M\nimport \"c\"\nentry main = 1\n--| last\ndef as = as",
           "--| one\n--| two\nimport \"a/b\" as M\nimport \"c\"\nentry main\n  1\n--| last\ndef as\n  as\n");
    expect("", "");
    expect("\xef\xbb\xbf-- only a comment", "");
    expect("def a'b=a--b\r\n", "def a'b\n  a\n");
    expect_error("import \"a\" of M", "t.dp:1:12: error: expected `as` or the next definition, found `of` [E0117]");
}

static void test_message_form(void **state)
{
    (void)state;
    expect("def f =\n\tg then", "t.dp:2:4: error: unexpected `then` [E0101]\n  \tg then\n  \t  ^^^^\n");
    expect("def f = (1 + 2\ndef g = 3",
           "t.dp:2:1: error: expected `)`, `:` or `,`, found `def` [E0101]\n  def g = 3\n  ^^^\n"
           "t.dp:1:9: note: this `(` is not closed\n  def f = (1 + 2\n          ^\n");
    expect("def f = if a then b\n\n", "t.dp:1:20: error: expected `else`, found the end of the file [E0101]\n  def f = "
                                      "if a then b\n                     ^\n"
                                      "t.dp:1:9: note: this `if` has no `else`\n  def f = if a then b\n          ^^\n");
    expect("def f = \xff",
           "t.dp:1:9: error: unexpected byte 0xff: this is not UTF-8 text [E0102]\n  def f = \\xff\n          ^^^^\n");
}

static void test_hints(void **state)
{
    (void)state;
    expect("def f = g !x",
           "t.dp:1:11: error: unexpected `!` [E0101]\n  def f = g !x\n            ^\n"
           "t.dp:1:11: note: as an argument it needs parentheses: `f (!x)`\n  def f = g !x\n            ^\n");
    expect_error("def f = 1 < 2 < 3",
                 "t.dp:1:15: error: comparisons do not chain; combine them with `&&`, or use parentheses [E0109]");
    expect_error("def f = 1..<2..<3", "t.dp:1:9: error: ranges do not chain [E0109]");
    expect_error("def f = (1,)", "t.dp:1:9: error: a tuple has at least two components [E0110]");
    expect_error("def f = #a 1 2", "t.dp:1:14: error: a constructor takes one value: write a tuple, or put the "
                                   "constructor in parentheses [E0111]");
    expect_error("def f = 'ab'", "t.dp:1:9: error: a character is one byte (u8); a string has room for more [E0107]");
    expect_error("def f = \"ab\n", "t.dp:1:9: error: unterminated string: `\"` is missing at the end [E0103]");
    expect_error("def f = \"\\q\"", "t.dp:1:10: error: unknown escape [E0104]");
    expect_error("def f = \"\\x4g\"", "t.dp:1:10: error: `\\x` takes two hexadecimal digits [E0104]");
}

static void test_recovery(void **state)
{
    (void)state;
    static const char source[] = "def a = )\ndef b = 1\nentry c = then\nfoo\ntype = 3\nimport 4";
    char *found = parse_bytes(source, sizeof source - 1);
    uint32_t errors = 0;
    for (const char *at = found; (at = strstr(at, "error:")); at++)
        errors++;
    assert_int_equal(errors, 4);
    free(found);
}

static void test_cap(void **state)
{
    (void)state;
    StrBuf source = {0};
    strbuf_add(&source, "def f = 1");
    for (int i = 0; i < 30; i++)
        strbuf_add(&source, " @");
    char *found = parse_bytes(source.text, source.n);
    assert_non_null(strstr(found, "and 10 more errors\n"));
    free(found);
    strbuf_free(&source);
}

/* Nesting of any depth ends in one message. */
static void add_times(StrBuf *out, const char *text, int n)
{
    while (n-- > 0)
        strbuf_add(out, text);
}

static void expect_one_too_deep(StrBuf *source)
{
    char *found = parse_bytes(source->text, source->n);
    assert_non_null(strstr(found, "error: nesting too deep [E0108]\n"));
    assert_null(strstr(strstr(found, "error:") + 1, "error:"));
    assert_true(strlen(found) < 1000); /* the line is shown in part */
    free(found);
    strbuf_free(source);
}

static void expect_too_deep(const char *before, const char *repeated, const char *after)
{
    StrBuf source = {0};
    strbuf_add(&source, before);
    add_times(&source, repeated, 300000);
    strbuf_add(&source, after);
    expect_one_too_deep(&source);
}

/* Deeper than a tree may be, though not than the parser's stack. */
static void expect_tree_too_deep(const char *before, const char *open, const char *middle, const char *close,
                                 const char *after)
{
    enum { LEVELS = 30000 };
    StrBuf source = {0};
    strbuf_add(&source, before);
    add_times(&source, open, LEVELS);
    strbuf_add(&source, middle);
    add_times(&source, close, LEVELS);
    strbuf_add(&source, after);
    expect_one_too_deep(&source);
}

static void test_deep_nesting(void **state)
{
    (void)state;
    expect_too_deep("def f = ", "(", "1");
    expect_too_deep("def f = 1", "+1", "");
    expect_too_deep("def f = ", "let x = 1 ", "in 1");
    expect_too_deep("def f = x", "[1]", "");
    expect_too_deep("def f : ", "i32 -> ", "i32 = 1");
    expect_too_deep("def f ", "(", "x) = 1");
    expect_too_deep("type t = ", "[", "i32");
    expect_tree_too_deep("type t = ", "[", "i32", "]", "");
    expect_tree_too_deep("def f x = match x case ", "#a (", "y", ")", " -> y");
    expect_tree_too_deep("def f = ", "[", "1", "]", "");
}

static void test_binary_file(void **state)
{
    (void)state;
    char *found = parse_bytes("def f = 1\0\0\0", 12);
    assert_string_equal(
        found,
        "t.dp:1:10: error: a NUL byte: this is not a text file [E0102]\n  def f = 1\\x00\\x00\\x00\n           ^^^^\n");
    free(found);
}

/* Where the offending place of a long line is shown, and tabs, and wide text before it. */
static void test_long_line(void **state)
{
    (void)state;
    StrBuf source = {0};
    strbuf_add(&source, "def f = ");
    for (int i = 0; i < 1000; i++)
        strbuf_add(&source, "1 + ");
    strbuf_add(&source, "@ 1");
    for (int i = 0; i < 1000; i++)
        strbuf_add(&source, " + 1");
    char *found = parse_bytes(source.text, source.n);
    char *note = strstr(found, "t.dp:1:4009: note:");
    assert_non_null(note);
    *note = '\0';
    assert_string_equal(
        found, "t.dp:1:4009: error: unexpected character `@` [E0102]\n"
               "  ...1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + @ 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 "
               "+ 1 ...\n"
               "                                             ^\n");
    free(found);
    strbuf_free(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals),
        cmocka_unit_test(test_ranges_of_literals),
        cmocka_unit_test(test_indexing_and_arrays),
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_control),
        cmocka_unit_test(test_braces),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_type_text),
        cmocka_unit_test(test_definitions),
        cmocka_unit_test(test_message_form),
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_binary_file),
        cmocka_unit_test(test_long_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
