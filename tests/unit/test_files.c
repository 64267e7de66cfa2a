/* Formats that other programs write in many ways: each file with the literal of its value, or with what is said about
 * it. */
#include "../../runtime/values/values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_LEAVES = 16, TEXT_BYTES = 2048 };

typedef struct Case {
    const char *type, *file, *wanted;
} Case;

/* The literal of what is read, behind the notes if there are any, or the message. */
static void read_case(const char *name, const char *type, const char *file, size_t n, char out[TEXT_BYTES])
{
    DpPlace place = dp_place_of(name, NULL);
    char error[512] = "",
         *copy = malloc(n ? n : 1); /* exactly n bytes, so that the sanitizer sees any access behind them */
    memcpy(copy, file, n);
    DpType *t = dp_type_parse(type);
    assert_non_null(t);
    DpLeaf leaves[MAX_LEAVES];
    FILE *text = fmemopen(out, TEXT_BYTES, "w");
    if (place.format->read(name, copy, n, t, leaves, (DpError){error, sizeof error, text})) {
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
        DpPlace place = dp_place_of(name, NULL);
        char error[512] = "", *got = NULL;
        size_t length = 0;
        DpType *t = dp_type_parse(cases[i].type);
        DpLeaf leaves[MAX_LEAVES];
        DpReader r = {"text", cases[i].file, strlen(cases[i].file), 0};
        if (!dp_read_text(&r, t, leaves, error, sizeof error))
            fail_msg("%s", error);
        FILE *out = open_memstream(&got, &length);
        if (!place.format->write(out, t, leaves, (DpError){error, sizeof error, NULL}))
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

#define CONSTRUCTOR "a.json:"
#define WANTED ": expected a constructor of the type: \"#name\", or {\"#name\": \u2026} with its payload, found "

static void json_values(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"i64", " -9223372036854775808 ", "-9223372036854775808"},
        {"u64", "18446744073709551615", "18446744073709551615"},
        {"[i8]", "\xef\xbb\xbf[1,\r\n\t-128 , 127]\n", "[1, -128, 127]"},
        {"[f64]", "[0.1, 1, -0.0, 1E3, 5e-324, 1.7976931348623157e308]",
         "[0.1, 1.0, -0.0, 1000.0, 5e-324, 1.7976931348623157e308]"},
        {"[f32]", "[\"nan\", \"inf\", \"-inf\", NaN, Infinity, -Infinity]", "[nan, inf, -inf, nan, inf, -inf]"},
        {"(bool, [bool])", "[true, [false]]", "(true, [false])"},
        {"[u8]", "\"a\\u00e9\\ud83d\\ude00\\/\\\"\\\\\\b\\f\\n\\r\\t\\u0000\"",
         "\"a\u00e9\U0001f600/\\\"\\\\\\b\\f\\n\\r\\t\\x00\""},
        {"[u8]", "[97, 255]", "\"a\\xff\""},
        {"[[u8]]", "[\"\", \"b\", [99]]", "[\"\", \"b\", \"c\"]"},
        {"{b: i32, a: (i32,)}", "{\"a\": [1], \"b\": 2}", "{a = (1,), b = 2}"},
        {"[[[i16]]]", "[[[1], []], []]", "[[[1], []], []]"},
        {"[()]", "[[], []]", "[(), ()]"},
        {"{}", "{}", "{}"},
        {"[#a | #b (i32, [u8]) | #c {x: f32}]", "[\"#a\", {\"#b\": [1, \"x\"]}, {\"#c\": {\"x\": 1}}]",
         "[#a, #b (1, \"x\"), #c {x = 1.0}]"},
        {"[#none | #some i32]", "[null, 1, \"#none\", {\"#some\": 2}]", "[#none, #some 1, #none, #some 2]"},
        {"[#none | #is [u8]]", "[null, \"a\", \"#none\", \"#is\", {\"#is\": \"#none\"}]",
         "[#none, #is \"a\", #none, #is \"#is\", #is \"#none\"]"},
        {"[#none | #some {x: i8}]", "[{\"x\": 1}, {\"#some\": {\"x\": 2}}]", "[#some {x = 1}, #some {x = 2}]"},
        {"[{x: #none | #some i8, y: i8}]", "[{\"y\": 1}, {\"x\": 2, \"y\": 3}]",
         "[{x = #none, y = 1}, {x = #some 2, y = 3}]"},
        {"[{x: i8}]",
         "[{\"q\": {\"x\": [1, {\"r\": [], \"s\": {}}, \"]\"], \"t\": -1.5e3}, \"x\": 1}, {\"x\": 2, \"q\": null, "
         "\"w\": NaN}]",
         "note: a.json: the field q is not read\nnote: a.json: the field w is not read\n[{x = 1}, {x = 2}]"},
    };
    CHECK_READING("a.json", cases);
}

/* The forms of strings and numbers, also in what is not wanted. */
static void json_forms(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"[u8]", "\"\\u20ac\\ue000\\uFFFF\\u000A\"", "\"\u20ac\ue000\uffff\\n\""},
        {"[u8]", "\"\\u12\"", "a.json:1:6: `\\u` takes four hexadecimal digits"},
        {"[u8]", "\"\\u12", "a.json:1:6: `\\u` takes four hexadecimal digits"},
        {"[u8]", "\"\\u12 4\"", "a.json:1:6: `\\u` takes four hexadecimal digits"},
        {"[u8]", "\"\\u12:4\"", "a.json:1:6: `\\u` takes four hexadecimal digits"},
        {"[u8]", "\"\\ud800", "a.json:1:2: half of a pair of surrogates stands alone"},
        {"[u8]", "\"\\ud800xx\"", "a.json:1:2: half of a pair of surrogates stands alone"},
        {"[u8]", "\"\\ud800\\u12\"", "a.json:1:12: `\\u` takes four hexadecimal digits"},
        {"[u8]", "\"\\ud83d\\uffff\"", "a.json:1:2: half of a pair of surrogates stands alone"},
        {"[u8]", "\"\\", "a.json:1:2: unknown escape"},
        {"[f64]", "[1e5, 1E-2, 1.5e+3]", "[100000.0, 0.01, 1500.0]"},
        {"f64", "1e", "a.json:1:1: expected a number of type f64, found 1e"},
        {"f64", "1e+", "a.json:1:1: expected a number of type f64, found 1e+"},
        {"f64", "1e-x", "a.json:1:1: expected a number of type f64, found 1e-x"},
        {"f64", "-", "a.json:1:1: expected a number of type f64, found -"},
        {"[i8]", "[1", "a.json:1:3: expected ] or a comma, found the end of the input"},
        {"{a: i8}",
         "{\"b\": false, \"b\": true, \"b\": Infinity, \"b\": -Infinity, \"b\": \"\\u00e9\", \"b\": {\"c\": {\"d\": "
         "1}, \"e\": 2}, "
         "\"a\": 1}",
         "note: a.json: the field b is not read\n{a = 1}"},
        {"{a: i8}", "{\"b\": {\"c\" 1}, \"a\": 1}", "a.json:1:12: expected :, found 1"},
        {"{a: i8}", "{\"b\": {\"c\": 1, d}, \"a\": 1}", "a.json:1:16: expected a string in double quotes, found d"},
        {"{a: i8}", "{\"b\": \"x", "a.json:1:9: the closing quote is missing"},
        {"{a: i8}", "{\"b\": -, \"a\": 1}", "a.json:1:7: expected a value, found -"},
        {"{a: i8}", "{\"a", "a.json:1:4: the closing quote is missing"},
        {"{a: i8}", "{\"\\x\": 1}", "a.json:1:3: unknown escape"},
        {"{a: i8}", "{\"a\" 1}", "a.json:1:6: expected :, found 1"},
        {"{a: i8}", "{\"a\": 1 \"b\": 2}", "a.json:1:9: expected } or a comma, found \""},
        {"{a: i8}", "[1]", "a.json:1:1: expected {, found ["},
        {"{a: i8}", "{\"a\\u0000\": 2, \"a\": 1}", "note: a.json: the field a\xff is not read\n{a = 1}"},
        {"(i8, i8)", "1", "a.json:1:1: expected [, found 1"},
        {"(i8, i8)", "[1 2]", "a.json:1:4: expected ,, found 2"},
        {"#a | #b i8", "\"", CONSTRUCTOR "1:1" WANTED "\""},
        {"#a | #b i8", "\"a\"", CONSTRUCTOR "1:1" WANTED "\""},
        {"#a | #b i8", "\"#a", CONSTRUCTOR "1:1" WANTED "\""},
        {"#a | #b i8", "\"#c\"", CONSTRUCTOR "1:1" WANTED "\""},
        {"#a | #b i8", "{\"#b\" 1}", CONSTRUCTOR "1:1" WANTED "{"},
        {"#a | #b i8", "{\"#b\": x}", "a.json:1:8: expected a number of type i8, found x"},
    };
    CHECK_READING("a.json", cases);
}

/* Notes name the first few fields, and the beginnings of their names. */
static void json_many_ignored(void **state)
{
    (void)state;
    char got[TEXT_BYTES], file[2000] = "{\"a\": 1", *at = file + strlen(file);
    for (int i = 0; i < 10; i++)
        at += sprintf(at, ", \"field%d\": 1", i);
    at += sprintf(at, ", \"%0300d\": 2}", 7);
    read_case("a.json", "{a: i8}", file, strlen(file), got);
    assert_non_null(strstr(got, "note: a.json: the field field7 is not read\n{a = 1}"));
    assert_null(strstr(got, "field8"));
    sprintf(file, "{\"%0300d\": 2, \"a\": 1}", 7);
    read_case("a.json", "{a: i8}", file, strlen(file), got);
    assert_string_equal(got,
                        "note: a.json: the field 000000000000000000000000000000000000000000000000000000000000000 is "
                        "not read\n{a = 1}");
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
        {"#a | #b i8", "\"#b\"",
         "a.json:1:1: expected a constructor of the type: \"#name\", or {\"#name\": \u2026} with its payload, found "
         "\""},
        {"#a | #b i8", "{\"#a\": 1}",
         "a.json:1:1: expected a constructor of the type: \"#name\", or {\"#name\": \u2026} with its payload, found {"},
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
        {"((), (u64,), {}, [[i8]])", "((), (18446744073709551615,), {}, [[], [1]])",
         "[[], [18446744073709551615], {}, [[], [1]]]\n"},
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

/* ---- CSV ---- */

static void csv_dialects(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"[(i32, f64)]", "1;2.5\n3;4\n", "[(1, 2.5), (3, 4.0)]"},
        {"[(i32, f64)]", "1\t2.5\r\n", "[(1, 2.5)]"},
        {"[(i32, f64)]", "1|2.5", "[(1, 2.5)]"},
        {"[([u8], [u8])]", "a;b;c,d\n", "[(\"a;b;c\", \"d\")]"},
        {"[([u8], [u8])]", "\"a,b\";c\n", "[(\"a,b\", \"c\")]"},
        {"[[u8]]", "a;b\n\"c\nd\"", "[\"a;b\", \"c\\nd\"]"},
        {"[{a: i8, b: i8}]", "b;a\n1;2\n", "[{a = 2, b = 1}]"},
        {"[{a: i8}]", "a,b\n1,2\n", "note: a.csv: the column b is not read\n[{a = 1}]"},
        {"[{a: i8}]", "\"x \"\"y\"\"\"\ta\tz\n\"p\nq\"\t1\t\n",
         "note: a.csv: the column x \"\"y\"\" is not read\nnote: a.csv: the column z is not read\n[{a = 1}]"},
        {"[[f64]]", "1,2\n\n3,4,5\n6", "[[1.0, 2.0], [3.0, 4.0, 5.0], [6.0]]"},
        {"[[i32]]", "1;2\n3;4\n", "[[1, 2], [3, 4]]"},
        {"[[bool]]", "", "[]"},
        {"[[[u8]]]", "a,\n\"b,\"\"\",c", "[[\"a\", \"\"], [\"b,\\\"\", \"c\"]]"},
        {"[(#none | #some f32, #none | #is [u8])]", "1,x\n,\n ,\"\"\n",
         "[(#some 1.0, #is \"x\"), (#none, #none), (#none, #is \"\")]"},
        {"[#none | #some i8]", "1\n\n2\n\n", "[#some 1, #none, #some 2, #none]"},
        {"[{a: #none | #some i8}]", "\na\n\n2", "[{a = #none}, {a = #some 2}]"},
        {"[{a: i8, b: #none | #some [u8], c: #none | #some bool}]", "a,b\n1,x\n2,\n",
         "note: a.csv: there is no column c: it is #none everywhere\n[{a = 1, b = #some \"x\", c = #none}, {a = 2, b = "
         "#none, c = #none}]"},
    };
    CHECK_READING("a.csv", cases);
    static const Case tabs[] = {{"[([u8], i8)]", "a,b|c\t1\n", "[(\"a,b|c\", 1)]"},
                                {"[(i8, i8)]", "1,2\n", "a.tsv:1: column 1: expected a number of type i8, found 1"}};
    CHECK_READING("a.tsv", tabs);
    static const Case bars[] = {
        {"[([u8], i8)]", "a,b;c|1\n", "[(\"a,b;c\", 1)]"},
        {"[(i8, bool)]", " \t1\t |\tTRUE\n2|0\n-3|False\n", "[(1, true), (2, false), (-3, false)]"},
        {"[(bool, bool)]", "yes|1\n", "csv|:a:1: column 1: expected true or false, found yes"}};
    CHECK_READING("csv|:a", bars);
}

/* Notes name the first few columns, and the beginnings of their names. */
static void csv_many_ignored(void **state)
{
    (void)state;
    char got[TEXT_BYTES], file[2000] = "a", *at = file + 1;
    for (int i = 0; i < 30; i++)
        at += sprintf(at, ",column%d", i);
    read_case("a.csv", "[{a: i8}]", file, strlen(file), got);
    assert_non_null(strstr(got, "note: a.csv: nor are more columns\n[]"));
    assert_null(strstr(got, "column29"));
    sprintf(file, "a,%0300d", 7);
    read_case("a.csv", "[{a: i8}]", file, strlen(file), got);
    assert_true(strstr(got, "is not read\n[]") && strlen(got) < 200);
}

static void csv_errors(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"[{a: i8, b: i8}]", "a;c\n1;2\n", "note: a.csv: the column c is not read\na.csv:1: there is no column b"},
        {"[{a: i8}]", "c,a\n1\n", "note: a.csv: the column c is not read\na.csv:2: the line ends after 1 of 2 columns"},
        {"[{a: i8}]", "c,a\n1,2,3\n", "note: a.csv: the column c is not read\na.csv:2: more than 2 columns"},
        {"[{a: i8}]", "c,a\n\"1,2\n",
         "note: a.csv: the column c is not read\na.csv:2: column 1: the closing quote is missing"},
        {"[{a: #none | #some i8}]", "a\nx\n", "a.csv:2: column 1: expected a number of type i8, found x"},
        {"[[i8]]", "1,,2\n", "a.csv:1: column 2: expected a number of type i8, found nothing"},
        {"[[i8]]", "1,\"2\n", "a.csv:1: column 2: the closing quote is missing"},
        {"[[i8]]", "1,\"2\"x\n", "a.csv:1: column 2: expected a comma or the end of the line behind the closing quote"},
        {"[(i8, i8)]", "1;2\n\"3\"x;4",
         "a.csv:2: column 1: expected the delimiter or the end of the line behind the closing quote"},
    };
    CHECK_READING("a.csv", cases);
}

static void csv_writing(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"[{b: i8, a: text}]", "[{a = \"x;y\", b = 1}]", "b,a\n1,\"x;y\"\n"},
        {"[[f32]]", "[[1, 0.1], [2]]", "1.0,0.1\n2.0\n"},
        {"[[i8]]", "[[1], []]", "a .csv file cannot hold an empty row, as row 1 of the result is"},
        {"[[[u8]]]", "[[\"a\", \"\"], [\"\"]]", "a,\n\"\"\n"},
        {"[(#none | #some i8, #none | #is [u8])]", "[(#none, #none), (#some 1, #is \"\"), (#none, #is \"x\")]",
         ",\n1,\"\"\n,x\n"},
        {"[#none | #some i8]", "[#none, #some 1]", "\n1\n"},
    };
    CHECK_WRITING("a.csv", cases);
    static const Case tabs[] = {{"[(i8, [u8])]", "[(1, \"a b\"), (2, \"c\\td\")]", "1\ta b\n2\t\"c\td\"\n"}};
    CHECK_WRITING("a.tsv", tabs);
    static const Case semicolons[] = {{"[([u8], i8)]", "[(\"a;b\", 1), (\"c,d\", 2)]", "\"a;b\";1\n\"c,d\";2\n"}};
    CHECK_WRITING("csv;:a", semicolons);
}

/* ---- raw bytes and lines ---- */

static void raw_and_lines(void **state)
{
    (void)state;
    static const Case raw[] = {
        {"[u8]", "a\n", "\"a\\n\""},
        {"[i8]", "a", "raw:a: the bytes of a file are a text, which is not this parameter's type"}};
    static const Case lines[] = {
        {"i8", "a", "lines:a: the lines of a file are a sequence of texts, which is not this parameter's type"},
        {"[[u8]]", "a\r\n\nb\r", "[\"a\", \"\", \"b\\r\"]"},
        {"[u8]", "a", "lines:a: the lines of a file are a sequence of texts, which is not this parameter's type"}};
    CHECK_READING("raw:a", raw);
    CHECK_READING("lines:a", lines);
    static const Case written_raw[] = {{"[u8]", "\"\"", ""},
                                       {"[i8]", "[1]", "a raw file holds a text, which the result is not"}};
    static const Case written_lines[] = {
        {"[[u8]]", "[]", ""},
        {"[[u8]]", "[\"\", \"a\"]", "\na\n"},
        {"[[u8]]", "[\"a\\r\"]",
         "the text 0 of the result has a line's end in it, and cannot be a line of a file: the format `text:` has "
         "literals instead"},
        {"[i8]", "[1]", "a file of lines holds a sequence of texts, which the result is not"}};
    CHECK_WRITING("raw:a", written_raw);
    CHECK_WRITING("lines:a", written_lines);
}

/* ---- Matrix Market ---- */

static void mtx_forms(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"[[i8]]", "%%MatrixMarket MATRIX Array Integer General\n\f\v1\t2\r\n+1\n-2\n", "[[1, -2]]"},
        {"[[i8]]", "%%MatrixMarket matrix array integer general\n1 1\n+\n", "a.mtx:3:1: expected an integer, found +"},
        {"[[i8]]", "%%MatrixMarket matrix array integer general\n1 1\n\n", "a.mtx:4:1: the file ends early"},
        {"[[i8]]", "%%MatrixMarket matrix array pattern general\n1 1\n1\n",
         "a.mtx:1:29: expected real, integer or pattern, found pattern"},
        {"[[(i8, f32)]]", "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", "[[(0, 1.0)]]"},
        {"[[(i8, i8)]]", "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1    \n",
         "a.mtx:3:8: expected an integer, found the end of the line"},
        {"[[(i8, i8)]]", "%%MatrixMarket matrix coordinate integer general\n1 2 4\n1 1 1\n1 1 2\n1 2 3\n1 1 4\n",
         "[[(0, 1), (0, 2), (0, 4), (1, 3)]]"},
        {"[[f32]]", "%%MatrixMarket matrix coordinate real general\n1 1 0\n",
         "a.mtx: a Matrix Market file in coordinate format gives rows [[(i, t)]] of column and number, which is not "
         "this parameter's type"},
        {"[[(i8, f32)]]", "%%MatrixMarket matrix array real general\n1 1\n1\n",
         "a.mtx: a Matrix Market file in array format gives [[t]] of numbers, which is not this parameter's type"},
        {"[[(f32, f32)]]", "%%MatrixMarket matrix coordinate real general\n1 1 0\n",
         "a.mtx: a Matrix Market file in coordinate format gives rows [[(i, t)]] of column and number, which is not "
         "this parameter's type"},
        {"[[(bool, f32)]]", "%%MatrixMarket matrix coordinate real general\n1 1 0\n",
         "a.mtx: a Matrix Market file in coordinate format gives rows [[(i, t)]] of column and number, which is not "
         "this parameter's type"},
        {"[[([i8], f32)]]", "%%MatrixMarket matrix coordinate real general\n1 1 0\n",
         "a.mtx: a Matrix Market file in coordinate format gives rows [[(i, t)]] of column and number, which is not "
         "this parameter's type"},
        {"[[(i8, i8, f32)]]", "%%MatrixMarket matrix coordinate real general\n1 1 0\n",
         "a.mtx: a Matrix Market file in coordinate format gives rows [[(i, t)]] of column and number, which is not "
         "this parameter's type"},
    };
    CHECK_READING("a.mtx", cases);
    static const Case written[] = {
        {"[[(i8, f32)]]", "[[(-1, 1)]]", "a .mtx file cannot hold the column with a negative number"},
        {"[[(u64, f32)]]", "[[(18446744073709551615, 1)]]", "a .mtx file cannot hold the column 2^64 - 1"},
    };
    CHECK_WRITING("a.mtx", written);
}

/* What the short way through most numbers gives is what the general way does: that of a number with a zero in front. */
static void plain_numbers(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        char text[64], long_text[96];
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int digits = (int)(seed >> 60) + 1, places = (int)(seed >> 56 & 15);
        unsigned long long whole = (seed >> 3) % (unsigned long long)1e9;
        int n = places ? snprintf(text, sizeof text, "%llu.%0*llu", whole % (digits > 9 ? 1000000000ull : 1000ull),
                                  places, (seed >> 20) % (places > 8 ? 100000000ull : 10ull))
                       : snprintf(text, sizeof text, "%llu", whole);
        snprintf(long_text, sizeof long_text, "0000000000000000000%s", text); /* too long for the short way */
        for (DpScalar s = DP_I8; s < DP_SCALAR_COUNT; s++) {
            uint64_t a = 0, b = 0;
            DpLiteral is = dp_parse_number(text, (size_t)n, seed & 1, s, &a);
            assert_int_equal(is, dp_parse_number(long_text, (size_t)n + 19, seed & 1, s, &b));
            if (is == DP_LIT_OK && a != b)
                fail_msg("%s as %s: %llx and %llx", text, dp_scalar_name(s), (unsigned long long)a,
                         (unsigned long long)b);
        }
    }
}

/* ---- NumPy ---- */

static void npy_case(int version, const char *header, size_t n, const char *type, const char *wanted)
{
    char file[512] = "\x93NUMPY", got[TEXT_BYTES];
    size_t length = strlen(header), start = version == 1 ? 10 : 12;
    file[6] = (char)version;
    file[8] = (char)length;
    memcpy(file + start, header, length);
    memcpy(file + start + length, "\1\2\3\4", 4);
    read_case("a.npy", type, file, n ? n : start + length + 4, got);
    if (!strstr(got, wanted))
        fail_msg("%s: wanted: %s\ngot: %s", header, wanted, got);
}

static void npy_headers(void **state)
{
    (void)state;
#define DESCR "'descr': '|i1', "
#define ORDER "'fortran_order': True, "
    npy_case(1, "{" DESCR ORDER "'shape': (4,)}", 0, "[i8]", "[1, 2, 3, 4]");
    npy_case(2, "{" DESCR ORDER "'shape': (2, 2)}", 0, "[[i8]]", "[[1, 3], [2, 4]]");
    npy_case(2, "{}", 11, "[i8]", "it is cut off");
    npy_case(1, "{" ORDER "'shape': (4,)}", 0, "[i8]", "the header is incomplete");
    npy_case(1, "{" DESCR "'shape': (4,)}", 0, "[i8]", "the header is incomplete");
    npy_case(1, "{" DESCR ORDER "}", 0, "[i8]", "the header is incomplete");
    npy_case(1, "{" DESCR ORDER "'shape': (2 2)}", 0, "[[i8]]", "malformed shape");
    npy_case(1, "{" DESCR ORDER "'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}", 0, "[i8]", "too many dimensions");
}

/* ---- literals ---- */

static void text_forms(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"[i8]", " \t\n\r\f\v[1]", "[1]"},
        {"()", "( )", "()"},
        {"()", "(1)", "a.txt:1:2: expected ), found 1"},
        {"{}", "{ }", "{}"},
        {"{}", "{x", "a.txt:1:2: expected the name of a field, found x"},
        {"[f64]", "[1e-5, 1E+5, 0b1]", "[0.00001, 100000.0, 1.0]"},
        {"[f64]", "[1-5]", "a.txt:1:3: expected ], found -5"},
        {"[f64]", "[-]", "a.txt:1:2: expected an f64, found -"},
        {"[f64]", "[0xe-1]", "a.txt:1:5: expected ], found -1"},
        {"u8", "0xu8", "a.txt:1:1: expected a u8, found 0xu8"},
        {"u8", "''", "a.txt:1:1: a character is missing between the quotes"},
        {"u8", "'", "a.txt:1:1: "},
        {"u8", "'a", "a.txt:1:1: a character is one byte (u8); a string has room for more"},
        {"u8", "'ab'", "a.txt:1:1: a character is one byte (u8); a string has room for more"},
        {"u8", "'\\1", "a.txt:1:1: a character is one byte (u8); a string has room for more"},
        {"u8", "'\\x", "a.txt:1:1: "},
        {"u8", "'\\x4", "a.txt:1:1: "},
        {"u8", "'\\x41'", "65"},
        {"u8", "'\\x4g'", "a.txt:1:1: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[TEXT_BYTES];
        read_case("a.txt", cases[i].type, cases[i].file, strlen(cases[i].file), got);
        if (strncmp(got, cases[i].wanted, strlen(cases[i].wanted)) != 0)
            fail_msg("%s: %s\nwanted: %s\ngot:    %s", cases[i].type, cases[i].file, cases[i].wanted, got);
    }
    static const Case shown[] = {
        {"[u8]", "\"\u00e9\u20ac\U0001f600\"", "\"\u00e9\u20ac\U0001f600\"\n"},
        {"[[u8]]",
         "[\"\xc2\x85\", \"\xe2\x80\x8b\", \"\xe2\x80\xa8\", \"\xe2\x81\xa6\", \"\xd8\x9c\", \"\xef\xbb\xbf\"]",
         "[\"\\xc2\\x85\", \"\\xe2\\x80\\x8b\", \"\\xe2\\x80\\xa8\", \"\\xe2\\x81\\xa6\", \"\\xd8\\x9c\", "
         "\"\\xef\\xbb\\xbf\"]\n"},
        {"[[u8]]", "[\"\xe2\x80\x90\", \"\xe2\x80\xaf\", \"\xe2\x81\xaa\"]",
         "[\"\xe2\x80\x90\", \"\xe2\x80\xaf\", \"\xe2\x81\xaa\"]\n"},
    };
    CHECK_WRITING("a.txt", shown);
}

/* What no reader gives: elements of what is absent, and a constructor that is none. */
static void text_of_odd_leaves(void **state)
{
    (void)state;
    DpType *t = dp_type_parse("#a | #b ([i8], [u8])");
    static char name[20000];
    char got[TEXT_BYTES];
    for (uint8_t tag = 0; tag < 3; tag++) {
        uint64_t two = 2, zero = 0;
        uint8_t bytes[2] = {'x', 'y'};
        DpLeaf leaves[] = {{.scalar = DP_U8, .data = &tag, .ndata = 1},
                           {.scalar = DP_I8, .rank = 1, .lens = {&two}, .nlens = {1}, .data = bytes, .ndata = 2},
                           {.scalar = DP_U8, .rank = 1, .lens = {&two}, .nlens = {1}, .data = bytes, .ndata = 2}};
        FILE *out = fmemopen(got, sizeof got, "w");
        assert_true(dp_write_text(out, t, leaves));
        fputc(0, out);
        fclose(out);
        assert_string_equal(got, tag == 0 ? "#a" : tag == 1 ? "#b ([120, 121], \"xy\")" : "");
        (void)zero;
    }
    dp_type_free(t);
    /* a name that is longer than what is written at once */
    memset(name, 'n', sizeof name - 1);
    static char type[sizeof name + 16];
    snprintf(type, sizeof type, "{%s: i8}", name);
    t = dp_type_parse(type);
    int8_t seven = 7;
    DpLeaf leaf = {.scalar = DP_I8, .data = &seven, .ndata = 1};
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    assert_true(dp_write_text(out, t, &leaf));
    fclose(out);
    assert_int_equal(n, sizeof name - 1 + strlen("{ = 7}"));
    free(text);
    dp_type_free(t);
}

/* ---- types ---- */

static void odd_types(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    static const char *const images[] = {"[[i8]]",
                                         "[[(u8, u8)]]",
                                         "[[(u8, u8, u8, u8)]]",
                                         "[[(i8, u8, u8)]]",
                                         "[[(u8, i8, u8)]]",
                                         "[[(u8, u8, i8)]]",
                                         "[u8]",
                                         "u8",
                                         "[[[u8]]]"};
    static const char *const no_options[] = {
        "#none i8 | #some i8", "#none | #some", "#a | #b i8", "#none i8", "#none | #a i8 | #b i8", "i8"};
    uint32_t channels, none, some;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        DpType *t = dp_type_parse(images[i]);
        assert_false(dp_image_type(t, &channels));
        dp_type_free(t);
    }
    for (size_t i = 0; i < sizeof no_options / sizeof *no_options; i++) {
        DpType *t = dp_type_parse(no_options[i]);
        assert_false(dp_type_is_option(t, &none, &some));
        dp_type_free(t);
    }
    char *text = malloc(16 * MANY), *at = text + 1;
    strcpy(text, "(");
    for (int i = 0; i < MANY; i++)
        at += sprintf(at, "i8, ");
    strcpy(at, ")");
    assert_null(dp_type_parse(text));
    for (int i = 0, n = 0; i < MANY; i++)
        n += sprintf(text + n, "%s#c%d", i ? "|" : "", i);
    assert_null(dp_type_parse(text));
    free(text);
    assert_int_equal(dp_tag_scalar(256), DP_U8);
    assert_int_equal(dp_tag_scalar(257), DP_U16);
    assert_int_equal(dp_tag_scalar((1u << 16) + 1), DP_U32);
    assert_null(dp_alloc_array(UINT64_MAX, 8));
    DpLeaf empty = {.scalar = DP_I8, .rank = 1, .lens = {&(uint64_t){0}}, .nlens = {1}};
    assert_true(dp_leaf_equal(&empty, &empty, 0));
    DpType *t = dp_type_parse("#a | #b i8 | #c i8");
    assert_int_equal(dp_type_leaves_before(t, 2), 1);
    dp_type_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_values),      cmocka_unit_test(json_errors),   cmocka_unit_test(json_writing),
        cmocka_unit_test(json_depth),       cmocka_unit_test(json_forms),    cmocka_unit_test(json_many_ignored),
        cmocka_unit_test(csv_many_ignored), cmocka_unit_test(raw_and_lines), cmocka_unit_test(mtx_forms),
        cmocka_unit_test(npy_headers),      cmocka_unit_test(text_forms),    cmocka_unit_test(text_of_odd_leaves),
        cmocka_unit_test(odd_types),        cmocka_unit_test(csv_dialects),  cmocka_unit_test(csv_errors),
        cmocka_unit_test(csv_writing),      cmocka_unit_test(plain_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
