/* Formats that other programs write in many ways: each file with the literal of its value, or with what is said about it. */
#include "../../runtime/values/values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_LEAVES = 16, TEXT_BYTES = 2048 };

typedef struct Case { const char *type, *file, *wanted; } Case;

/* The literal of what is read, behind the notes if there are any, or the message. */
static void read_case(const char *name, const char *type, const char *file, size_t n, char out[TEXT_BYTES])
{
    bool known;
    char error[512] = "", *copy = malloc(n ? n : 1); /* exactly n bytes, so that the sanitizer sees any access behind them */
    memcpy(copy, file, n);
    DpType *t = dp_type_parse(type);
    assert_non_null(t);
    DpLeaf leaves[MAX_LEAVES];
    FILE *text = fmemopen(out, TEXT_BYTES, "w");
    if (dp_format_of(name, &known)->read(name, copy, n, t, leaves, (DpError){error, sizeof error, text})) {
        dp_write_text(text, t, leaves);
        dp_leaves_free(leaves, dp_type_leaves(t));
    } else {
        fputs(error, text);
    }
    fputc('\0', text);
    fclose(text);
    dp_type_free(t);
    free(copy);
}

static void check_reading(const char *name, const Case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char got[TEXT_BYTES];
        read_case(name, cases[i].type, cases[i].file, strlen(cases[i].file), got);
        if (strcmp(got, cases[i].wanted) != 0)
            fail_msg("%s: %s\nwanted: %s\ngot:    %s", cases[i].type, cases[i].file, cases[i].wanted, got);
    }
}

/* Literals as files of the format, or what is said against it. */
static void check_writing(const char *name, const Case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool known;
        char error[512] = "", *got = NULL;
        size_t length = 0;
        DpType *t = dp_type_parse(cases[i].type);
        DpLeaf leaves[MAX_LEAVES];
        DpReader r = {"text", cases[i].file, strlen(cases[i].file), 0};
        if (!dp_read_text(&r, t, leaves, error, sizeof error))
            fail_msg("%s", error);
        FILE *out = open_memstream(&got, &length);
        if (!dp_format_of(name, &known)->write(out, t, leaves, (DpError){error, sizeof error, NULL}))
            fputs(error, out);
        fclose(out);
        if (strcmp(got, cases[i].wanted) != 0)
            fail_msg("%s: %s\nwanted: %s\ngot:    %s", cases[i].type, cases[i].file, cases[i].wanted, got);
        free(got);
        dp_leaves_free(leaves, dp_type_leaves(t));
        dp_type_free(t);
    }
}

#define CHECK_READING(name, cases) check_reading(name, cases, sizeof cases / sizeof *cases)
#define CHECK_WRITING(name, cases) check_writing(name, cases, sizeof cases / sizeof *cases)

/* ---- JSON ---- */

static void json_values(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"i64", " -9223372036854775808 ", "-9223372036854775808"},
        {"u64", "18446744073709551615", "18446744073709551615"},
        {"[i8]", "\xef\xbb\xbf[1,\r\n\t-128 , 127]\n", "[1, -128, 127]"},
        {"[f64]", "[0.1, 1, -0.0, 1E3, 5e-324, 1.7976931348623157e308]", "[0.1, 1.0, -0.0, 1000.0, 5e-324, 1.7976931348623157e308]"},
        {"[f32]", "[\"nan\", \"inf\", \"-inf\", NaN, Infinity, -Infinity]", "[nan, inf, -inf, nan, inf, -inf]"},
        {"(bool, [bool])", "[true, [false]]", "(true, [false])"},
        {"[u8]", "\"a\\u00e9\\ud83d\\ude00\\/\\\"\\\\\\b\\f\\n\\r\\t\\u0000\"", "\"a\u00e9\U0001f600/\\\"\\\\\\b\\f\\n\\r\\t\\x00\""},
        {"[u8]", "[97, 255]", "\"a\\xff\""},
        {"[[u8]]", "[\"\", \"b\", [99]]", "[\"\", \"b\", \"c\"]"},
        {"{b: i32, a: (i32,)}", "{\"a\": [1], \"b\": 2}", "{a = (1,), b = 2}"},
        {"[[[i16]]]", "[[[1], []], []]", "[[[1], []], []]"},
        {"[()]", "[[], []]", "[(), ()]"},
        {"{}", "{}", "{}"},
        {"[#a | #b (i32, [u8]) | #c {x: f32}]", "[\"#a\", {\"#b\": [1, \"x\"]}, {\"#c\": {\"x\": 1}}]",
         "[#a, #b (1, \"x\"), #c {x = 1.0}]"},
        {"[#none | #some i32]", "[null, 1, \"#none\", {\"#some\": 2}]", "[#none, #some 1, #none, #some 2]"},
        {"[#none | #is [u8]]", "[null, \"a\", \"#none\", \"#is\", {\"#is\": \"#none\"}]", "[#none, #is \"a\", #none, #is \"#is\", #is \"#none\"]"},
        {"[#none | #some {x: i8}]", "[{\"x\": 1}, {\"#some\": {\"x\": 2}}]", "[#some {x = 1}, #some {x = 2}]"},
        {"[{x: #none | #some i8, y: i8}]", "[{\"y\": 1}, {\"x\": 2, \"y\": 3}]", "[{x = #none, y = 1}, {x = #some 2, y = 3}]"},
        {"[{x: i8}]", "[{\"q\": {\"x\": [1, {\"r\": [], \"s\": {}}, \"]\"], \"t\": -1.5e3}, \"x\": 1}, {\"x\": 2, \"q\": null, \"w\": NaN}]",
         "note: a.json: the field q is not read\nnote: a.json: the field w is not read\n[{x = 1}, {x = 2}]"},
    };
    CHECK_READING("a.json", cases);
}

static void json_errors(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"i64", "", "a.json:1:1: expected a number of type i64, found the end of the input"},
        {"i64", "1 2", "a.json:1:3: expected the end of the input, found 2"},
        {"i64", "01", "a.json:1:1: expected a number of type i64, found 01"},
        {"i64", "+1", "a.json:1:1: expected a number of type i64, found +1"},
        {"i64", "1_000", "a.json:1:2: expected the end of the input, found _000"},
        {"i64", "0x10", "a.json:1:2: expected the end of the input, found x10"},
        {"i64", "1.0", "a.json:1:1: expected a number of type i64, found 1.0"},
        {"f64", "1.", "a.json:1:1: expected a number of type f64, found 1."},
        {"f64", "1e400", "a.json:1:1: 1e400 is out of the range of f64"},
        {"f64", "\"1\"", "a.json:1:1: expected a number of type f64, found \""},
        {"[i8]", "[1,\n 128]", "a.json:2:2: 128 is out of the range of i8"},
        {"[u8]", "[-1]", "a.json:1:2: -1 is out of the range of u8"},
        {"u64", "18446744073709551616", "a.json:1:1: 18446744073709551616 is out of the range of u64"},
        {"[i8]", "[1, 2", "a.json:1:6: expected ] or a comma, found the end of the input"},
        {"[i8]", "[1, ]", "a.json:1:5: expected a number of type i8, found ]"},
        {"[i8]", "null", "a.json:1:1: expected [, found null"},
        {"bool", "1", "a.json:1:1: expected true or false, found 1"},
        {"[u8]", "\"a", "a.json:1:3: the closing quote is missing"},
        {"[u8]", "\"a\n\"", "a.json:1:3: a control character in a string has to be an escape"},
        {"[u8]", "\"\\x41\"", "a.json:1:2: unknown escape"},
        {"[u8]", "\"\\u12g4\"", "a.json:1:6: `\\u` takes four hexadecimal digits"},
        {"[u8]", "\"\\udc00\"", "a.json:1:2: half of a pair of surrogates stands alone"},
        {"[u8]", "\"\\ud800\\u0041\"", "a.json:1:2: half of a pair of surrogates stands alone"},
        {"{a: i8, b: i8}", "{\"a\": 1}", "a.json:1:8: the field b is missing"},
        {"{a: i8}", "{\"a\": 1, \"a\": 2}", "a.json:1:10: the field a stands twice"},
        {"{a: i8}", "{\"a\": 1, }", "a.json:1:10: expected a string in double quotes, found }"},
        {"{a: i8}", "{a: 1}", "a.json:1:2: expected a string in double quotes, found a"},
        {"{a: i8}", "{\"b\": [1, }, \"a\": 1}", "a.json:1:11: expected a value, found }"},
        {"{a: i8}", "{\"b\": {1}, \"a\": 1}", "a.json:1:8: expected a string in double quotes, found 1"},
        {"{a: i8}", "{\"b\": [1}, \"a\": 1}", "a.json:1:9: expected ], found }"},
        {"(i8, i8)", "[1]", "a.json:1:3: expected ,, found ]"},
        {"#a | #b i8", "\"#b\"", "a.json:1:1: expected a constructor of the type: \"#name\", or {\"#name\": \u2026} with its payload, found \""},
        {"#a | #b i8", "{\"#a\": 1}", "a.json:1:1: expected a constructor of the type: \"#name\", or {\"#name\": \u2026} with its payload, found {"},
        {"#a | #b i8", "{\"#b\": 1, \"c\": 2}", "a.json:1:9: expected }, found ,"},
        {"i8", "\xff\xfe\x31", "a.json: at byte 0: the text is in UTF-16; it has to be in UTF-8"},
    };
    CHECK_READING("a.json", cases);
}

static void json_writing(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"{b: text, a: [(i32, #x | #y bool)]}", "{a = [(1, #x), (2, #y true)], b = \"q\\\"\\\\\\n\\t\\x01\\xc3\\xa9\"}",
         "{\"b\": \"q\\\"\\\\\\n\\t\\u0001\u00e9\", \"a\": [[1, \"#x\"], [2, {\"#y\": true}]]}\n"},
        {"[[u8]]", "[\"\\xff\", \"\\xed\\xa0\\x80\", \"\", \"\\x7f\"]", "[[255], [237, 160, 128], \"\", \"\x7f\"]\n"},
        {"[f32]", "[0.1, nan, -inf, inf, 1e30]", "[0.1, \"nan\", \"-inf\", \"inf\", 1e30]\n"},
        {"((), (u64,), {}, [[i8]])", "((), (18446744073709551615,), {}, [[], [1]])", "[[], [18446744073709551615], {}, [[], [1]]]\n"},
        {"[#none | #some [u8]]", "[#none, #some \"#none\"]", "[\"#none\", {\"#some\": \"#none\"}]\n"},
    };
    CHECK_WRITING("a.json", cases);
}

/* Values that are not read may be nested deeper than a stack is. */
static void json_depth(void **state)
{
    (void)state;
    enum { DEPTH = 1000000 };
    char got[TEXT_BYTES], *file = malloc(DEPTH + 16);
    strcpy(file, "{\"b\": ");
    memset(file + 6, '[', DEPTH);
    read_case("a.json", "{a: i8}", file, DEPTH + 6, got);
    assert_string_equal(got, "a.json:1:4103: the values are nested too deep");
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(json_values), cmocka_unit_test(json_errors), cmocka_unit_test(json_writing),
                                       cmocka_unit_test(json_depth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
