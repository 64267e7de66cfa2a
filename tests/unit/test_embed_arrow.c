/* Arrow's C data interface of libdpc: arrays made by hand, right ones and malformed ones, and each released once. */
#include "dpc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- arrays by hand ---- */
static int released, schemas_released;

static void release(struct ArrowArray *a)
{
    assert_non_null(a->release);
    released++;
    a->release = NULL;
}

static void release_schema(struct ArrowSchema *s)
{
    schemas_released++;
    s->release = NULL;
}

enum { CHILDREN = 4 };
typedef struct Made {
    struct ArrowSchema schema;
    struct ArrowArray array;
    const void *buffers[8];
    struct ArrowSchema *schemas[CHILDREN];
    struct ArrowArray *arrays[CHILDREN];
} Made;

static void make(Made *m, const char *format, const char *name, int64_t length, int64_t buffers)
{
    *m = (Made){.schema = {.format = format, .name = name, .release = release_schema}};
    m->array = (struct ArrowArray){.length = length, .n_buffers = buffers, .release = release};
    m->schema.children = m->schemas;
    m->array.children = m->arrays;
    m->array.buffers = m->buffers;
}

static void add_child(Made *m, Made *child)
{
    m->schemas[m->schema.n_children++] = &child->schema;
    m->arrays[m->array.n_children++] = &child->array;
}

static void make_numbers(Made *m, const char *format, const char *name, const void *data, int64_t n)
{
    make(m, format, name, n, 2);
    m->buffers[1] = data;
}

static char *own_text(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    return strcpy(copy, text);
}

/* The value as a literal, or the error; it is freed. */
static char *imported(const char *type, Made *m)
{
    DpcError error = {0};
    const int before = released;
    DpcValue *v = dpc_from_arrow(type, &m->schema, &m->array, &error);
    if (!v) {
        char *text = own_text(error.text ? error.text : "no error");
        assert_int_equal(error.status, 2);
        assert_non_null(m->array.release); /* still the caller's */
        assert_int_equal(released, before);
        dpc_error_clear(&error);
        return text;
    }
    assert_int_equal(error.status, 0);
    assert_null(m->array.release);
    assert_int_equal(released, before);
    char *text = dpc_text(v);
    dpc_value_free(v);
    assert_int_equal(released, before + 1);
    m->array.release = release; /* to be used once more */
    return text;
}

static void expect(const char *type, Made *m, const char *wanted)
{
    char *got = imported(type, m);
    if (!got || !strstr(got, wanted) || (*wanted == '[' && strcmp(got, wanted) != 0))
        fail_msg("%s: %s, not %s", type, got ? got : "NULL", wanted);
    free(got);
}

/* ---- columns ---- */
static const int64_t longs[] = {1, 2, -3, 300, 5};
static const int32_t offsets[] = {0, 2, 2, 5};
static const uint8_t second_is_null[] = {0x1d}; /* 0 2 3 4 */

static void test_numbers(void **state)
{
    (void)state;
    static const double reals[] = {0.5, 2, 3};
    Made m;
    make_numbers(&m, "l", "x", longs, 5);
    expect("[i64]", &m, "[1, 2, -3, 300, 5]");
    expect("[i16]", &m, "[1, 2, -3, 300, 5]");
    expect("[f32]", &m, "[1.0, 2.0, -3.0, 300.0, 5.0]");
    expect("[f64]", &m, "[1.0, 2.0, -3.0, 300.0, 5.0]");
    expect("[i8]", &m, "column x: value 3 is no i8");
    expect("[u64]", &m, "column x: value 2 is no u64");
    expect("[bool]", &m, "column x: bool is wanted, not i64");
    expect("[[i64]]", &m, "column x: lists are wanted, not i64");
    expect("[{a: i64}]", &m, "column x: structs are wanted, not i64");
    expect("[#a i64 | #b i64]", &m, "column x: a union is wanted, not i64");
    expect("i64", &m, "a column is an array");
    expect("[i64", &m, "not a type");
    m.array.offset = 1;
    m.array.length = 2;
    expect("[i64]", &m, "[2, -3]");
    make_numbers(&m, "g", "", reals, 3);
    expect("[f64]", &m, "[0.5, 2.0, 3.0]");
    expect("[f32]", &m, "[0.5, 2.0, 3.0]");
    expect("[i64]", &m, "the column: i64 is wanted, not f64");
    make_numbers(&m, "tsu:UTC", "when", longs, 2);
    expect("[i64]", &m, "[1, 2]");
    make_numbers(&m, "tdD", NULL, offsets, 4);
    expect("[i32]", &m, "[0, 2, 2, 5]");
    make_numbers(&m, "l", "x", NULL, 0);
    expect("[i64]", &m, "[]");
    make_numbers(&m, "b", "x", second_is_null, 5);
    expect("[bool]", &m, "[true, false, true, true, true]");
    m.array.offset = 1;
    m.array.length = 3;
    expect("[bool]", &m, "[false, true, true]");
    expect("[u8]", &m, "u8 is wanted, not bool");
    make_numbers(&m, "C", "x", second_is_null, 1);
    expect("[bool]", &m, "bool is wanted, not u8");
}

/* Numbers are read where they lie, if these are the right ones. */
static void test_without_copies(void **state)
{
    (void)state;
    DpcError error = {0};
    Made m;
    make_numbers(&m, "l", "x", longs, 5);
    m.array.offset = 2;
    m.array.length = 3;
    DpcValue *v = dpc_from_arrow("[i64]", &m.schema, &m.array, &error);
    assert_ptr_equal(dpc_leaf(v, 0).data, longs + 2);
    dpc_value_free(v);
    Made list;
    make(&list, "+l", "rows", 3, 2);
    list.buffers[1] = offsets;
    m.array.release = release;
    m.array.offset = 0;
    m.array.length = 5;
    add_child(&list, &m);
    v = dpc_from_arrow("[[i64]]", &list.schema, &list.array, &error);
    assert_ptr_equal(dpc_leaf(v, 0).data, longs);
    dpc_value_free(v);
    make_numbers(&m, "l", "x", (const char *)longs + 1, 2); /* does not lie well */
    v = dpc_from_arrow("[i64]", &m.schema, &m.array, &error);
    assert_non_null(v);
    assert_int_equal((uintptr_t)dpc_leaf(v, 0).data % 8, 0);
    dpc_value_free(v);
}

static void test_missing(void **state)
{
    (void)state;
    Made m, list;
    make_numbers(&m, "l", "x", longs, 5);
    m.buffers[0] = second_is_null;
    m.array.null_count = -1;
    expect("[i64]", &m, "column x: 1 values are missing, the first is number 1: a type #none | #some t");
    expect("[#none | #some i64]", &m, "[#some 1, #none, #some -3, #some 300, #some 5]");
    expect("[#some f32 | #none]", &m, "[#some 1.0, #none, #some -3.0, #some 300.0, #some 5.0]");
    m.array.offset = 2;
    m.array.length = 3;
    expect("[i64]", &m, "[-3, 300, 5]");
    expect("[#none | #some i64]", &m, "[#some -3, #some 300, #some 5]");
    m.array.offset = 0;
    m.array.length = 5;
    m.array.null_count = 0; /* then the bitmap is not asked */
    expect("[i64]", &m, "[1, 2, -3, 300, 5]");
    make(&list, "+l", "rows", 3, 2);
    list.buffers[1] = offsets;
    list.buffers[0] = (const uint8_t[]){0x03}; /* the third has values behind it, which do not count */
    list.array.null_count = 1;
    add_child(&list, &m);
    expect("[[i64]]", &list, "column rows: 1 values are missing, the first is number 2");
    expect("[#none | #some [i64]]", &list, "[#some [1, 2], #some [], #none]");
    m.array.null_count = 1;
    list.array.null_count = 0;
    expect("[[i64]]", &list, "column rows.x: 1 values are missing, the first is number 1");
    expect("[[#none | #some i64]]", &list, "[[#some 1, #none], [], [#some -3, #some 300, #some 5]]");
    make(&m, "n", "nothing", 2, 0);
    expect("[#none | #some [[i64]]]", &m, "[#none, #none]");
    expect("[i64]", &m, "column nothing: 2 values are missing");
    m.array.length = 0;
    expect("[i64]", &m, "[]");
    expect("[#a [i64] | #b]", &m, "[]");
}

static void test_lists(void **state)
{
    (void)state;
    static const int64_t large[] = {1, 1, 4};
    static const int32_t starts[] = {3, 0}, sizes[] = {2, 2};
    Made numbers, m, outer;
    make_numbers(&numbers, "l", "item", longs, 5);
    make(&m, "+l", "rows", 3, 2);
    m.buffers[1] = offsets;
    add_child(&m, &numbers);
    expect("[[i64]]", &m, "[[1, 2], [], [-3, 300, 5]]");
    m.array.offset = 1;
    m.array.length = 2;
    expect("[[i64]]", &m, "[[], [-3, 300, 5]]");
    expect("[#none | #some [i64]]", &m, "[#some [], #some [-3, 300, 5]]");
    make(&outer, "+L", "deep", 2, 2);
    outer.buffers[1] = large;
    m.array.offset = 0;
    m.array.length = 4;
    m.buffers[1] = (const int32_t[]){0, 2, 2, 5, 5};
    add_child(&outer, &m);
    expect("[[[i64]]]", &outer, "[[], [[], [-3, 300, 5], []]]");
    make(&m, "+w:2", "pairs", 2, 1);
    add_child(&m, &numbers);
    expect("[[i64]]", &m, "[[1, 2], [-3, 300]]");
    m.array.offset = 1;
    m.array.length = 1;
    expect("[[i64]]", &m, "[[-3, 300]]");
    make(&m, "+vl", "views", 2, 3);
    m.buffers[1] = starts;
    m.buffers[2] = sizes;
    add_child(&m, &numbers);
    expect("[[i64]]", &m, "[[300, 5], [1, 2]]");
}

static void test_texts(void **state)
{
    (void)state;
    static const int64_t large[] = {0, 2, 2, 5};
    struct {
        int32_t length;
        char prefix[4];
        int32_t buffer, at;
    } views[] = {{3, "abc", 0, 0}, {14, "fo", 1, 2}, {0, "", 0, 0}};
    static const int64_t bytes[] = {3, 16};
    Made m;
    make(&m, "u", "names", 3, 3);
    m.buffers[1] = offsets;
    m.buffers[2] = "abcde";
    expect("[text]", &m, "[\"ab\", \"\", \"cde\"]");
    expect("[[i64]]", &m, "column names: lists are wanted, not texts");
    m.array.offset = 2;
    m.array.length = 1;
    expect("[[u8]]", &m, "[\"cde\"]");
    make(&m, "Z", "names", 3, 3);
    m.buffers[0] = (const uint8_t[]){0x05};
    m.buffers[1] = large;
    m.buffers[2] = "abcde";
    m.array.null_count = 1;
    expect("[#none | #some text]", &m, "[#some \"ab\", #none, #some \"cde\"]");
    make(&m, "w:2", "codes", 2, 2);
    m.buffers[1] = "abcd";
    expect("[text]", &m, "[\"ab\", \"cd\"]");
    make(&m, "vu", "names", 3, 5);
    m.buffers[1] = views;
    m.buffers[2] = "xyz";
    m.buffers[3] = "..four seasons..";
    m.buffers[4] = bytes;
    expect("[text]", &m, "[\"abc\", \"four seasons..\", \"\"]");
    m.array.offset = 1;
    m.array.length = 2;
    expect("[text]", &m, "[\"four seasons..\", \"\"]");
    views[1].at = 3;
    expect("[text]", &m, "column names: the Arrow array is malformed: a view leaves its buffer");
    views[1].buffer = 2;
    expect("[text]", &m, "a view is of no buffer");
}

static void test_structs(void **state)
{
    (void)state;
    static const float floats[] = {0, 1.5, 2.5};
    Made x, y, m;
    make_numbers(&x, "l", "x", longs, 3);
    make_numbers(&y, "f", "y", floats, 3);
    make(&m, "+s", "", 3, 1);
    add_child(&m, &x);
    add_child(&m, &y);
    expect("[{y: f32, x: i64}]", &m, "[{x = 1, y = 0.0}, {x = 2, y = 1.5}, {x = -3, y = 2.5}]");
    expect("[(i64, f32)]", &m, "[(1, 0.0), (2, 1.5), (-3, 2.5)]");
    expect("[{y: f32}]", &m, "[{y = 0.0}, {y = 1.5}, {y = 2.5}]");
    expect("({y: [f32], x: [i64]})", &m, "{x = [1, 2, -3], y = [0.0, 1.5, 2.5]}");
    expect("([i64], [f32])", &m, "([1, 2, -3], [0.0, 1.5, 2.5])");
    expect("{y: [f32], x: i64}", &m, "column x: a column is an array");
    expect("[{y: f32, z: f32}]", &m, "the column: there is no field z");
    expect("[(i64, f32, i64)]", &m, "3 fields are wanted, not 2");
    expect("[{x: bool}]", &m, "column x: bool is wanted, not i64");
    m.array.offset = 1;
    m.array.length = 2;
    x.array.null_count = 1;
    x.buffers[0] = (const uint8_t[]){0x06};
    expect("[(i64, f32)]", &m, "[(2, 1.5), (-3, 2.5)]"); /* the null is in front */
    m.array.null_count = 1;
    m.buffers[0] = (const uint8_t[]){0x05};
    expect("[#none | #some (i64, f32)]", &m, "[#none, #some (-3, 2.5)]");
    y.schema.name = "x";
    expect("[{x: i64}]", &m, "missing");
    m.array.null_count = 0;
    expect("[{x: i64}]", &m, "there is more than one field x");
    make(&m, "+s", "", 2, 1);
    expect("[()]", &m, "[(), ()]");
}

static void test_dictionaries(void **state)
{
    (void)state;
    static const int8_t indices[] = {2, 0, 0, 1};
    Made texts, m;
    make(&texts, "u", "", 3, 3);
    texts.buffers[1] = offsets;
    texts.buffers[2] = "abcde";
    make_numbers(&m, "c", "kind", indices, 4);
    m.schema.dictionary = &texts.schema;
    m.array.dictionary = &texts.array;
    expect("[text]", &m, "[\"cde\", \"ab\", \"ab\", \"\"]");
    m.buffers[0] = (const uint8_t[]){0x0d};
    m.array.null_count = 1;
    texts.buffers[0] = (const uint8_t[]){0x05};
    texts.array.null_count = 1;
    expect("[#none | #some text]", &m, "[#some \"cde\", #none, #some \"ab\", #none]");
    texts.array.length = 2;
    expect("[#none | #some text]", &m, "column kind: the Arrow array is malformed: it has 2 values");
    m.array.dictionary = NULL;
    expect("[text]", &m, "the dictionary is missing");
}

static void test_unions(void **state)
{
    (void)state;
    static const int8_t types[] = {5, 0, 5};
    static const int32_t places[] = {1, 3, 0};
    Made a, b, m;
    make_numbers(&a, "l", "whole", longs, 5);
    make_numbers(&b, "l", "part", longs, 3);
    make(&m, "+us:0,5", "u", 3, 1);
    m.buffers[0] = types;
    add_child(&m, &a);
    add_child(&m, &b);
    expect("[#whole i64 | #part f64]", &m, "[#part 1.0, #whole 2, #part -3.0]");
    expect("[#whole i64 | #part f64 | #other text]", &m, "[#part 1.0, #whole 2, #part -3.0]");
    expect("[#whole i64 | #other]", &m, "there is no constructor part");
    expect("[#whole i64 | #part]", &m, "[#part, #whole 2, #part]");
    m.schema.format = "+ud:0,5";
    m.array.n_buffers = 2;
    m.buffers[1] = places;
    expect("[#whole i64 | #part f64]", &m, "[#part 2.0, #whole 300, #part 1.0]");
    b.array.length = 1;
    expect("[#whole i64 | #part f64]", &m, "column u.part: the Arrow array is malformed");
    m.schema.format = "+ud:0,6";
    expect("[#whole i64 | #part f64]", &m, "there is no type 5");
    m.schema.format = "+ud:0";
    expect("[#whole i64 | #part f64]", &m, "the Arrow schema is malformed");
}

/* ---- what is malformed ---- */
static void test_malformed(void **state)
{
    (void)state;
    Made numbers, m;
    make_numbers(&m, "l", "x", longs, 5);
    m.array.length = -1;
    expect("[i64]", &m, "column x: the Arrow array is malformed: the length or offset is wrong");
    m.array.length = INT64_MAX;
    expect("[i64]", &m, "the length or offset is wrong");
    m.array.length = 5;
    m.array.offset = -1;
    expect("[i64]", &m, "the length or offset is wrong");
    m.array.offset = 0;
    m.array.null_count = 6;
    expect("[i64]", &m, "the number of nulls is wrong");
    m.array.null_count = 1;
    expect("[i64]", &m, "the bitmap of validity is NULL");
    m.array.null_count = 0;
    m.array.n_buffers = 1;
    expect("[i64]", &m, "the number of buffers is wrong");
    m.array.n_buffers = 2;
    m.buffers[1] = NULL;
    expect("[i64]", &m, "a buffer is NULL");
    m.array.buffers = NULL;
    expect("[i64]", &m, "the buffers are NULL");
    make_numbers(&m, "e", "half", longs, 5);
    expect("[f32]", &m, "column half: Arrow's format e is not read");
    m.schema.format = NULL;
    expect("[f32]", &m, "Arrow's format NULL is not read");
    m.schema.format = "+w:x";
    expect("[f32]", &m, "Arrow's format +w:x is not read");
    make_numbers(&numbers, "l", "item", longs, 5);
    make(&m, "+l", "rows", 3, 2);
    m.buffers[1] = offsets;
    expect("[[i64]]", &m, "the number of children is wrong");
    add_child(&m, &numbers);
    numbers.array.length = 4;
    expect("[[i64]]", &m, "column rows.item: the Arrow array is malformed: it has 4 values, and more are wanted");
    numbers.array.length = 5;
    m.buffers[1] = (const int32_t[]){0, 3, 2, 5};
    expect("[[i64]]", &m, "column rows: the Arrow array is malformed: the offsets go down");
    m.buffers[1] = (const int32_t[]){-1, 3, 3, 5};
    expect("[[i64]]", &m, "the offsets go down");
    m.arrays[0] = NULL;
    expect("[[i64]]", &m, "a child is NULL");
    m.arrays[0] = &numbers.array;
    m.schemas[0] = NULL;
    expect("[[i64]]", &m, "the Arrow schema is malformed: a child is NULL");
    make(&m, "+s", "", 6, 1);
    add_child(&m, &numbers);
    expect("[(i64)]", &m, "a child is shorter");
    make(&m, "+w:2000000000", "wide", INT64_C(1) << 40, 1);
    add_child(&m, &numbers);
    expect("[[i64]]", &m, "the length or offset is wrong");
    make(&m, "u", "names", 1, 3);
    m.buffers[1] = (const int32_t[]){0, 5};
    expect("[text]", &m, "a buffer is NULL");
}

static void test_released(void **state)
{
    (void)state;
    DpcError error = {0};
    Made m;
    make_numbers(&m, "l", "x", longs, 5);
    m.array.release = NULL;
    assert_null(dpc_from_arrow("[i64]", &m.schema, &m.array, &error));
    assert_non_null(strstr(error.text, "the Arrow array is NULL, or has been released"));
    assert_null(dpc_from_arrow("[i64]", &m.schema, NULL, &error));
    m.array.release = release;
    m.schema.release = NULL;
    assert_null(dpc_from_arrow("[i64]", &m.schema, &m.array, &error));
    assert_non_null(strstr(error.text, "the Arrow schema is NULL, or has been released"));
    assert_null(dpc_from_arrow("[i64]", NULL, &m.array, &error));
    assert_null(dpc_from_arrow(NULL, &m.schema, &m.array, NULL));
    assert_null(dpc_from_arrow_stream("[i64]", NULL, &error));
    dpc_error_clear(&error);
}

/* ---- streams ---- */
typedef struct Stream {
    int at, n, fails_at;
} Stream;

static int next_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    (void)s;
    *out = (struct ArrowSchema){.format = "l", .name = "x", .release = release_schema};
    return 0;
}

static int next_array(struct ArrowArrayStream *s, struct ArrowArray *out)
{
    static const void *buffers[] = {NULL, longs};
    Stream *stream = s->private_data;
    *out = (struct ArrowArray){0};
    if (stream->at == stream->fails_at)
        return 5;
    if (stream->at < stream->n)
        *out = (struct ArrowArray){
            .length = 2, .offset = stream->at, .n_buffers = 2, .buffers = buffers, .release = release};
    stream->at++;
    return 0;
}

static const char *last_error(struct ArrowArrayStream *s)
{
    return ((Stream *)s->private_data)->n ? "it has ended badly" : NULL;
}

static void release_stream(struct ArrowArrayStream *s) { s->release = NULL; }

static void expect_stream(const char *type, Stream stream, int arrays, const char *wanted)
{
    struct ArrowArrayStream s = {next_schema, next_array, last_error, release_stream, &stream};
    DpcError error = {0};
    const int before = released, schemas = schemas_released;
    DpcValue *v = dpc_from_arrow_stream(type, &s, &error);
    char *text = v ? dpc_text(v) : NULL;
    assert_non_null(strstr(text ? text : error.text, wanted));
    free(text);
    dpc_value_free(v);
    assert_int_equal(released, before + arrays);
    assert_int_equal(schemas_released, schemas + 1);
    assert_non_null(s.release);
    dpc_error_clear(&error);
}

static void test_streams(void **state)
{
    (void)state;
    expect_stream("[i64]", (Stream){0, 3, -1}, 3, "[1, 2, 2, -3, -3, 300]");
    expect_stream("[i64]", (Stream){0, 1, -1}, 1, "[1, 2]");
    expect_stream("[i64]", (Stream){0, 0, -1}, 0, "[]");
    expect_stream("[bool]", (Stream){0, 2, -1}, 2, "column x: bool is wanted, not i64");
    expect_stream("[i64]", (Stream){0, 3, 2}, 2, "the Arrow stream has failed: it has ended badly");
    expect_stream("[i64]", (Stream){0, 0, 0}, 0, "the Arrow stream has failed: ");
}

/* ---- the other way ---- */
static int owners_released;
static void release_owner(void *owner)
{
    assert_ptr_equal(owner, &owners_released);
    owners_released++;
}

/* A literal, to Arrow and back. */
static void round_trip(const char *type, const char *text, const char *format)
{
    DpcError error = {0};
    struct ArrowSchema schema;
    struct ArrowArray array;
    const int before = owners_released;
    DpcValue *v = dpc_literal(type, text, &error);
    assert_non_null(v);
    dpc_value_own(v, release_owner, &owners_released);
    if (!dpc_to_arrow(v, &schema, &array, &error))
        fail_msg("%s: %s", type, error.text);
    assert_string_equal(schema.format, format);
    DpcValue *back = dpc_from_arrow(type, &schema, &array, &error);
    if (!back)
        fail_msg("%s: %s", type, error.text);
    schema.release(&schema);
    assert_null(schema.release);
    char *got = dpc_text(back);
    if (strcmp(got, text) != 0)
        fail_msg("%s: %s, not %s", type, got, text);
    free(got);
    assert_int_equal(owners_released, before);
    dpc_value_free(back);
    assert_int_equal(owners_released, before + 1);
}

static void test_round_trips(void **state)
{
    (void)state;
    round_trip("[i64]", "[1, 2, -3]", "l");
    round_trip("[i64]", "[]", "l");
    round_trip("[u16]", "[1, 2]", "S");
    round_trip("[f32]", "[1.5, -2.5]", "f");
    round_trip("[bool]", "[true, false, true, true, false, false, false, false, true]", "b");
    round_trip("[[f64]]", "[[1.0], [], [2.0, 3.0]]", "+L");
    round_trip("[[[u8]]]", "[[\"ab\", \"\"], [], [\"c\"]]", "+L");
    round_trip("[text]", "[\"ab\", \"\", \"\xc3\xa9\"]", "U");
    round_trip("[[u8]]", "[\"ab\", \"\\xff\"]", "Z");
    round_trip("[(i64, [bool])]", "[(1, [true]), (2, [])]", "+s");
    round_trip("[{b: i64, a: {c: f32}}]", "[{a = {c = 1.5}, b = 2}]", "+s");
    round_trip("[()]", "[(), ()]", "+s");
    round_trip("([i64], [text])", "([1, 2], [\"a\", \"b\"])", "+s");
    round_trip("{y: [f32], x: [i64]}", "{x = [1], y = [2.0]}", "+s");
    round_trip("[#none | #some i64]", "[#some 1, #none, #some 3]", "l");
    round_trip("[#none | #some [i64]]", "[#some [1], #none, #some []]", "+L");
    round_trip("[#none | #some bool]", "[#some true, #none]", "b");
    round_trip("[#none | #some (#none | #some i64)]", "[#some #some 1, #none, #some #none]", "+us:0,1");
    round_trip("[#circle f64 | #box (f64, i64) | #point]", "[#point, #circle 1.5, #box (2.0, 3)]", "+us:0,1,2");
    round_trip("[[#none | #some {name: text, ns: [i32]}]]", "[[#some {name = \"a\", ns = [1, 2]}, #none], []]", "+L");
}

static void test_no_column(void **state)
{
    (void)state;
    static const char *const values[][3] = {
        {"i64", "1", "a column of Arrow is an array"},
        {"#a | #b", "#a", "a column of Arrow is an array"},
        {"(i64, [i64])", "(1, [2])", "a table of Arrow has arrays"},
        {"([i64], [i64])", "([1], [2, 3])", "columns of one length, not 1 and 2"},
        {"[text]", "[\"a\", \"\\xff\"]", "text 1 is not UTF-8"},
        {"{a: [[text]]}", "{a = [[\"\\xed\\xa0\\x80\"]]}", "item: text 0 is not UTF-8"},
        {"([i64], [text])", "([1], [\"\\xc0\\x80\"])", "f1: text 0 is not UTF-8"},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        DpcError error = {0};
        struct ArrowSchema schema;
        struct ArrowArray array;
        DpcValue *v = dpc_literal(values[i][0], values[i][1], &error);
        assert_non_null(v);
        assert_int_equal(dpc_to_arrow(v, &schema, &array, &error), 0);
        if (!strstr(error.text, values[i][2]))
            fail_msg("%s: %s", values[i][0], error.text);
        char *text = dpc_text(v); /* still there */
        assert_non_null(text);
        free(text);
        dpc_value_free(v);
        dpc_error_clear(&error);
    }
}

/* A child that has been moved out lives on when the rest is released. */
static void test_moved_child(void **state)
{
    (void)state;
    DpcError error = {0};
    struct ArrowSchema schema;
    struct ArrowArray array, child;
    DpcValue *v = dpc_literal("[[i64]]", "[[1, 2], [3]]", &error);
    dpc_value_own(v, release_owner, &owners_released);
    const int before = owners_released;
    assert_int_equal(dpc_to_arrow(v, &schema, &array, &error), 1);
    child = *array.children[0];
    array.children[0]->release = NULL;
    array.release(&array);
    assert_null(array.release);
    assert_int_equal(owners_released, before);
    assert_int_equal(((const int64_t *)child.buffers[1])[2], 3);
    child.release(&child);
    assert_int_equal(owners_released, before + 1);
    struct ArrowSchema inner = *schema.children[0];
    schema.children[0]->release = NULL;
    schema.release(&schema);
    assert_string_equal(inner.format, "l");
    inner.release(&inner);
}

/* A result of a call, handed over. */
static void test_calls(void **state)
{
    (void)state;
    DpcError error = {0};
    struct ArrowSchema schema;
    struct ArrowArray array;
    Made numbers, rows;
    make_numbers(&numbers, "l", "item", longs, 5);
    make(&rows, "+l", "rows", 3, 2);
    rows.buffers[1] = offsets;
    add_child(&rows, &numbers);
    DpcProgram *p = dpc_compile("test.dp", "entry main (m: [[i64]]) : [i64] = map sum m\n", &error);
    DpcContext *c = p ? dpc_open(p, NULL, &error) : NULL;
    assert_non_null(c);
    DpcValue *m = dpc_from_arrow("[[i64]]", &rows.schema, &rows.array, &error);
    DpcValue *sums = dpc_call(c, "main", (const DpcValue *const[]){m}, 1, &error);
    assert_non_null(sums);
    assert_int_equal(dpc_to_arrow(sums, &schema, &array, &error), 1);
    assert_int_equal(array.length, 3);
    assert_int_equal(((const int64_t *)array.buffers[1])[2], 302);
    dpc_value_free(m);
    dpc_close(c);
    dpc_program_free(p);
    array.release(&array);
    schema.release(&schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),      cmocka_unit_test(test_without_copies), cmocka_unit_test(test_missing),
        cmocka_unit_test(test_lists),        cmocka_unit_test(test_texts),          cmocka_unit_test(test_structs),
        cmocka_unit_test(test_dictionaries), cmocka_unit_test(test_unions),         cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_released),     cmocka_unit_test(test_streams),        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_no_column),    cmocka_unit_test(test_moved_child),    cmocka_unit_test(test_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
