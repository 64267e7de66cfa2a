/* Missing and redundant cases, against trying all values of small types; and what matches evaluate to.
 *
 * Random matches over random types are checked as programs. The types have few values: numbers are taken from
 * literals that patterns use and some beyond them. For each match
 *     a case is redundant exactly when no value reaches it
 *     an earlier case covers it alone exactly when that case takes all its values
 *     the match is exhaustive exactly when every value has a case
 *     what is shown as missed is a pattern, takes at least one value, and none that has a case
 *     if nothing more is missed, the shown patterns take all the values without a case
 * and, run by the interpreter on core, each value comes to its first case, or to the error. */
#include "syntax/ast_walk.h"
#include "types/check.h"
#include "types/usefulness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "elaborate_run.h"

static uint32_t state = 1;

static uint32_t below(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

/* ---- programs ---- */

typedef struct Program {
    Session *s;
    AstIds ids;
    Checked *checked;
    const Expr *match; /* the first */
} Program;

static void find_match(void *context, Expr *e)
{
    if (e->kind == E_MATCH)
        ((Program *)context)->match = e;
}

static Program check_text(const char *text)
{
    Program p = {.s = session_create()};
    Module **modules = arena_array(p.s->arena, Module *, 2);
    modules[0] = parse_module(p.s, source_add_text(p.s, "prelude.dp", "", 0, true), &p.ids);
    modules[1] = parse_module(p.s, source_add_text(p.s, "t.dp", text, strlen(text), false), &p.ids);
    assert_int_equal(p.s->error_count, 0);
    p.checked = check_program(p.s, modules, 2, &p.ids);
    if (p.s->error_count) {
        print_error("%s", text);
        diag_print(p.s, stderr, false);
    }
    assert_int_equal(p.s->error_count, 0);
    for (uint32_t i = 0; i < modules[1]->ndefs; i++) {
        AstVisitor visitor = {.context = &p, .expr = find_match};
        if (modules[1]->defs[i]->kind == DEF_VALUE)
            ast_walk(modules[1]->defs[i], &visitor);
    }
    assert_non_null(p.match);
    return p;
}

static MatchFacts facts_of(const Program *p)
{
    uint64_t work = PROGRAM_WORK;
    Type *subject = p->checked->expr_types[p->match->match.subject->id];
    return usefulness_of_cases(p->s->arena, subject, p->match->match.cases, p->match->match.n, &work);
}

/* ---- random types and patterns, as text ---- */

typedef struct Shape Shape;
struct Shape {
    enum { SHAPE_BOOL, SHAPE_INT, SHAPE_FLOAT, SHAPE_TUPLE, SHAPE_RECORD, SHAPE_SUM } kind;
    uint32_t n;
    Shape *parts[3]; /* SHAPE_SUM: NULL without a payload */
};

static Shape *random_shape(Arena *a, uint32_t depth)
{
    Shape *t = arena_new(a, Shape);
    uint32_t kind = below(depth == 0 ? 4 : 8);
    t->kind = kind == 0 ? SHAPE_INT : kind == 1 && below(2) ? SHAPE_FLOAT : kind < 3 ? SHAPE_BOOL : SHAPE_SUM;
    if (depth > 0 && kind >= 6)
        t->kind = kind == 6 ? SHAPE_TUPLE : SHAPE_RECORD;
    if (t->kind < SHAPE_TUPLE)
        return t;
    t->n = t->kind == SHAPE_SUM ? 1 + below(3) : 2;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->kind != SHAPE_SUM || (depth > 0 && below(2)))
            t->parts[i] = random_shape(a, depth - 1);
    return t;
}

static void print_shape(StrBuf *out, const Shape *t)
{
    static const char *const leaves[] = {"bool", "i64", "f64"};
    if (t->kind < SHAPE_TUPLE) {
        strbuf_add(out, leaves[t->kind]);
        return;
    }
    strbuf_add(out, t->kind == SHAPE_RECORD ? "{" : "(");
    for (uint32_t i = 0; i < t->n; i++) {
        strbuf_add(out, i == 0 ? "" : t->kind == SHAPE_SUM ? " | " : ", ");
        if (t->kind == SHAPE_RECORD)
            strbuf_printf(out, "%c: ", "zab"[i]);
        if (t->kind == SHAPE_SUM)
            strbuf_printf(out, "#%c ", "qpr"[i]);
        if (t->parts[i])
            print_shape(out, t->parts[i]);
    }
    strbuf_add(out, t->kind == SHAPE_RECORD ? "}" : ")");
}

static void print_pattern(StrBuf *out, const Shape *t)
{
    if (below(3) == 0) {
        strbuf_add(out, "_");
        return;
    }
    switch (t->kind) {
    case SHAPE_BOOL: strbuf_add(out, below(2) ? "true" : "false"); return;
    case SHAPE_INT: strbuf_printf(out, "%u", below(3)); return;
    case SHAPE_FLOAT: strbuf_add(out, below(2) ? "0.0" : "1.0"); return;
    case SHAPE_TUPLE:
        strbuf_add(out, "(");
        for (uint32_t i = 0; i < t->n; i++) {
            strbuf_add(out, i ? ", " : "");
            print_pattern(out, t->parts[i]);
        }
        strbuf_add(out, ")");
        return;
    case SHAPE_RECORD: /* in another order than that of the names */
        strbuf_add(out, "{");
        for (uint32_t i = 0; i < t->n; i++) {
            strbuf_printf(out, "%s%c = ", i ? ", " : "", "zab"[i]);
            print_pattern(out, t->parts[i]);
        }
        strbuf_add(out, "}");
        return;
    case SHAPE_SUM: {
        uint32_t k = below(t->n);
        strbuf_printf(out, "#%c", "qpr"[k]);
        if (t->parts[k]) {
            strbuf_add(out, t->parts[k]->kind == SHAPE_SUM ? " (" : " ");
            print_pattern(out, t->parts[k]);
            strbuf_add(out, t->parts[k]->kind == SHAPE_SUM ? ")" : "");
        }
        return;
    }
    }
}

/* ---- all values of a type ---- */

typedef struct Datum Datum;
struct Datum {
    uint32_t tag;
    const Datum *parts[3];
}; /* tag: constructor, truth, number */
typedef VEC(const Datum *) Data;

enum { NUMBERS = 8, MOST_VALUES = 4000 };

static Data all_values(Arena *a, const Type *t);

static void add_datum(Arena *a, Data *out, uint32_t tag, const Datum *x, const Datum *y)
{
    Datum *d = arena_new(a, Datum);
    *d = (Datum){tag, {x, y, NULL}};
    vec_push(a, out, d);
}

static Data all_pairs(Arena *a, Type *const *types)
{
    Data out = {0}, left = all_values(a, types[0]), right = all_values(a, types[1]);
    for (uint32_t i = 0; i < left.n; i++)
        for (uint32_t j = 0; j < right.n && out.n <= MOST_VALUES; j++)
            add_datum(a, &out, 0, left.at[i], right.at[j]);
    return out;
}

static Data all_values(Arena *a, const Type *t)
{
    Data out = {0};
    if (t->kind == TY_TUPLE || t->kind == TY_RECORD)
        return all_pairs(a, t->kind == TY_TUPLE ? t->tuple.items : t->record.items);
    uint32_t n = t->kind == TY_SUM ? t->record.n : t->scalar == SC_BOOL ? 2 : NUMBERS;
    for (uint32_t k = 0; k < n; k++) {
        Data payload = {0};
        if (t->kind == TY_SUM && t->record.items[k])
            payload = all_values(a, t->record.items[k]);
        else
            add_datum(a, &out, k, NULL, NULL);
        for (uint32_t i = 0; i < payload.n; i++)
            add_datum(a, &out, k, payload.at[i], NULL);
    }
    return out;
}

/* ---- what a pattern means ---- */

static uint32_t index_of(const Type *t, Name name)
{
    for (uint32_t i = 0; i < t->record.n; i++)
        if (t->record.names[i] == name)
            return i;
    fail();
    return 0;
}

static bool literal_takes(const Expr *e, const Datum *d)
{
    if (e->kind == E_BOOL)
        return e->boolean == (d->tag == 1);
    if (e->kind == E_FLOAT)
        return e->floating.value == d->tag;
    return !e->integer.negative && e->integer.magnitude == d->tag;
}

static bool pattern_takes(const Pat *p, const Type *t, const Datum *d)
{
    switch (p->kind) {
    case PAT_NAME:
    case PAT_WILD: return true;
    case PAT_ASCRIBE: return pattern_takes(p->ascribe.pat, t, d);
    case PAT_LITERAL: return literal_takes(p->literal, d);
    case PAT_TUPLE:
        for (uint32_t i = 0; i < p->tuple.n; i++)
            if (!pattern_takes(p->tuple.items[i], t->tuple.items[i], d->parts[i]))
                return false;
        return true;
    case PAT_RECORD:
        for (uint32_t i = 0; i < p->record.n; i++) {
            uint32_t k = index_of(t, p->record.fields[i].name);
            if (!pattern_takes(p->record.fields[i].pat, t->record.items[k], d->parts[k]))
                return false;
        }
        return true;
    case PAT_CTOR: {
        uint32_t k = index_of(t, p->ctor.name);
        return d->tag == k && (!p->ctor.arg || pattern_takes(p->ctor.arg, t->record.items[k], d->parts[0]));
    }
    }
    return false;
}

static Type *subject_type(const Program *p) { return type_prune(p->checked->expr_types[p->match->match.subject->id]); }

/* The first of the cases before `end` that takes the value, or `end`. */
static uint32_t first_case(const Program *p, const Datum *d, uint32_t end)
{
    for (uint32_t i = 0; i < end; i++)
        if (pattern_takes(p->match->match.cases[i].pat, subject_type(p), d))
            return i;
    return end;
}

/* ---- the comparison ---- */

static bool covers(const Program *p, const Data *values, uint32_t by, uint32_t i)
{
    const MatchCase *cases = p->match->match.cases;
    for (uint32_t v = 0; v < values->n; v++)
        if (pattern_takes(cases[i].pat, subject_type(p), values->at[v]) &&
            !pattern_takes(cases[by].pat, subject_type(p), values->at[v]))
            return false;
    return true;
}

static void compare_redundant(const Program *p, const Data *values, const MatchFacts *facts)
{
    for (uint32_t i = 0; i < p->match->match.n; i++) {
        bool reached = false;
        for (uint32_t v = 0; v < values->n && !reached; v++)
            reached = first_case(p, values->at[v], i + 1) == i;
        assert_int_equal(facts->redundant[i], !reached);
        uint32_t by = 0;
        while (by < i && !covers(p, values, by, i))
            by++;
        assert_int_equal(facts->covered_by[i], by < i && i > 0 ? by : UINT32_MAX);
    }
}

/* The shown patterns, as the cases of another match on the same type. */
static void compare_missed(const Program *p, const Shape *shape, const Data *values, const MatchFacts *facts)
{
    StrBuf text = {0};
    strbuf_add(&text, "def f (x: ");
    print_shape(&text, shape);
    strbuf_add(&text, ") = match x");
    for (uint32_t i = 0; i < facts->nmissed; i++)
        strbuf_printf(&text, " case %s -> %u", facts->missed[i], i);
    Program shown = check_text(text.text);
    bool used[MOST_MISSED] = {false};
    for (uint32_t v = 0; v < values->n; v++) {
        bool has_case = first_case(p, values->at[v], p->match->match.n) < p->match->match.n;
        uint32_t k = first_case(&shown, values->at[v], facts->nmissed);
        if (k < facts->nmissed)
            used[k] = true;
        assert_false(has_case && k < facts->nmissed);
        assert_false(!has_case && k == facts->nmissed && !facts->more_missed);
    }
    for (uint32_t i = 0; i < facts->nmissed; i++)
        assert_true(used[i]);
    strbuf_free(&text);
    session_destroy(shown.s);
}

static void compare(const Program *p, const Shape *shape, uint32_t *misses, uint32_t *redundant)
{
    Data values = all_values(p->s->arena, subject_type(p));
    if (values.n > MOST_VALUES)
        return;
    MatchFacts facts = facts_of(p);
    assert_true(facts.known);
    bool all = true;
    for (uint32_t v = 0; v < values.n && all; v++)
        all = first_case(p, values.at[v], p->match->match.n) < p->match->match.n;
    assert_int_equal(facts.exhaustive, all);
    assert_int_equal(facts.nmissed == 0, all);
    compare_redundant(p, &values, &facts);
    if (!all)
        compare_missed(p, shape, &values, &facts);
    *misses += !all;
    for (uint32_t i = 0; i < p->match->match.n; i++)
        *redundant += facts.redundant[i];
}

/* "def f (x: TYPE) = match x case …" with up to seven cases, the k-th giving k. */
static void print_random_match(StrBuf *out, const Shape *shape)
{
    strbuf_add(out, "def f (x: ");
    print_shape(out, shape);
    strbuf_add(out, ") : i64 = match x");
    for (uint32_t n = 1 + below(7), k = 0; k < n; k++) {
        strbuf_add(out, " case ");
        print_pattern(out, shape);
        strbuf_printf(out, " -> %u", k);
    }
    strbuf_add(out, "\n");
}

static void test_random(void **unused)
{
    (void)unused;
    uint32_t misses = 0, redundant = 0, rounds = 4000;
    for (uint32_t i = 0; i < rounds; i++) {
        Arena *a = arena_create();
        state = i + 1;
        below(2);
        Shape *shape = random_shape(a, 1 + below(3));
        StrBuf text = {0};
        print_random_match(&text, shape);
        Program p = check_text(text.text);
        compare(&p, shape, &misses, &redundant);
        session_destroy(p.s);
        strbuf_free(&text);
        arena_destroy(a);
    }
    assert_true(misses > rounds / 10 && misses < rounds - rounds / 10); /* both happen */
    assert_true(redundant > rounds / 10);
}

/* ---- running ---- */

static void print_datum(StrBuf *out, const Type *t, const Datum *d)
{
    if (t->kind == TY_SCALAR) {
        if (t->scalar == SC_BOOL)
            strbuf_add(out, d->tag ? "true" : "false");
        else
            strbuf_printf(out, "%u%s", d->tag, t->scalar == SC_F64 ? ".0" : "");
        return;
    }
    if (t->kind == TY_SUM) {
        Type *payload = t->record.items[d->tag];
        strbuf_printf(out, "#%s%s", t->record.names[d->tag], payload ? " (" : "");
        if (payload)
            print_datum(out, payload, d->parts[0]);
        strbuf_add(out, payload ? ")" : "");
        return;
    }
    bool record = t->kind == TY_RECORD;
    strbuf_add(out, record ? "{" : "(");
    for (uint32_t i = 0; i < 2; i++) {
        strbuf_add(out, i ? ", " : "");
        if (record)
            strbuf_printf(out, "%s = ", t->record.names[i]);
        print_datum(out, record ? t->record.items[i] : t->tuple.items[i], d->parts[i]);
    }
    strbuf_add(out, record ? "}" : ")");
}

/* Applies the match to these values, one beside the other. */
static void expect_results(const Program *p, const char *match, const Shape *shape, const Data *values,
                           const char *expected)
{
    StrBuf text = {0}, got = {0};
    strbuf_printf(&text, "%sentry main : [i64] =\n  let xs : [", match);
    print_shape(&text, shape);
    strbuf_add(&text, "] = [");
    for (uint32_t i = 0; i < values->n; i++) {
        strbuf_add(&text, i ? ", " : "");
        print_datum(&text, subject_type(p), values->at[i]);
    }
    strbuf_add(&text, "]\n  in { f x : x in xs }\n");
    run_program(text.text, &got);
    if (strcmp(got.text, expected) != 0)
        print_error("%s", text.text);
    assert_string_equal(got.text, expected);
    strbuf_free(&text);
    strbuf_free(&got);
}

static void compare_run(const Program *p, const char *match, const Shape *shape, uint32_t *missed)
{
    enum { MOST = 60 };
    StrBuf expected = {0};
    Arena *a = p->s->arena;
    Data all = all_values(a, subject_type(p)), good = {0}, bad = {0};
    for (uint32_t i = 0; i < all.n && good.n < MOST; i += 1 + below(all.n / MOST + 1)) {
        uint32_t k = first_case(p, all.at[i], p->match->match.n);
        if (k == p->match->match.n) {
            bad.n = 0;
            vec_push(a, &bad, all.at[i]);
            continue;
        }
        strbuf_printf(&expected, "%s%u", good.n ? ", " : "[", k);
        vec_push(a, &good, all.at[i]);
    }
    strbuf_add(&expected, good.n ? "]" : "[]");
    expect_results(p, match, shape, &good, expected.text);
    strbuf_free(&expected);
    if (bad.n == 0)
        return;
    LineCol at = source_linecol(p->s, p->match->span.file, p->match->span.start);
    strbuf_printf(&expected, "t.dp:%u:%u: error: no case matches", at.line, at.col);
    expect_results(p, match, shape, &bad, expected.text);
    strbuf_free(&expected);
    *missed += 1;
}

static void test_run(void **unused)
{
    (void)unused;
    uint32_t missed = 0, rounds = 300;
    for (uint32_t i = 0; i < rounds; i++) {
        Arena *a = arena_create();
        state = 100000 + i;
        below(2);
        Shape *shape = random_shape(a, 1 + below(3));
        StrBuf text = {0};
        print_random_match(&text, shape);
        Program p = check_text(text.text);
        compare_run(&p, text.text, shape, &missed);
        session_destroy(p.s);
        strbuf_free(&text);
        arena_destroy(a);
    }
    assert_true(missed > rounds / 10);
}

/* ---- by hand ---- */

/* `expected`: the missed patterns with blanks between, "..." behind them if there are more. */
static void expect_missed(const char *type, const char *cases, const char *expected)
{
    StrBuf text = {0}, got = {0};
    strbuf_add(&text, "type option 'a = #none | #some a\ntype abc = #a | #b | #c\n");
    strbuf_printf(&text, "def f 'z (x: %s) (z: z) = (z, match x %s)", type, cases);
    Program p = check_text(text.text);
    MatchFacts facts = facts_of(&p);
    assert_true(facts.known);
    strbuf_add(&got, "");
    for (uint32_t i = 0; i < facts.nmissed; i++)
        strbuf_printf(&got, "%s%s", i ? " " : "", facts.missed[i]);
    strbuf_add(&got, facts.more_missed ? " ..." : "");
    assert_string_equal(got.text ? got.text : "", expected);
    strbuf_free(&text);
    strbuf_free(&got);
    session_destroy(p.s);
}

static void test_missed(void **unused)
{
    (void)unused;
    expect_missed("bool", "case true -> 1", "false");
    expect_missed("bool", "case true -> 1 case false -> 2", "");
    expect_missed("abc", "case #b -> 1", "#a #c");
    expect_missed("option abc", "case #some #a -> 1", "#none #some #b #some #c");
    expect_missed("option (option abc)", "case #some #none -> 1 case #none -> 2", "#some (#some _)");
    expect_missed("(abc, abc)", "case (#a, #a) -> 1", "(#a, #b) (#a, #c) (#b, _) ...");
    expect_missed("{x: bool, y: abc}", "case {y = #a, x} -> 1 case {x = true, y} -> 2",
                  "{x = false, y = #b} {x = false, y = #c}");
    expect_missed("()", "case () -> 1", "");
    expect_missed("([i64], z)", "case (_, y) -> 1", "");
    expect_missed("(i64 -> i64, bool)", "case (f, true) -> f 1", "(_, false)");
}

static void test_numbers(void **unused)
{
    (void)unused;
    expect_missed("i64", "case 0 -> 1 case 2 -> 2", "1 ...");
    expect_missed("i64", "case -1 -> 1", "0 ...");
    expect_missed("u8", "case 'a' -> 1 case 'b' -> 2", "'c' ...");
    expect_missed("f64", "case 0.0 -> 1", "1.0 ...");
    expect_missed("f64", "case -0.0 -> 1", "1.0 ...");
    expect_missed("f32", "case 0 -> 1 case 1 -> 2", "2.0 ...");
    expect_missed("(i64, bool)", "case (0, true) -> 1 case (_, false) -> 2", "(1, true) ...");
    expect_missed("option i64", "case #some 0 -> 1 case #none -> 2", "#some 1 ...");
    expect_missed("option i64", "case #some k -> k case #none -> 2", "");
}

/* All values of the narrow integers can be written down. */
static void test_narrow(void **unused)
{
    (void)unused;
    StrBuf text = {0};
    for (int i = 0; i < 128; i++)
        strbuf_printf(&text, "case %d -> 0 ", i);
    for (int i = 1; i < 128; i++)
        strbuf_printf(&text, "case %d -> 0 ", -i);
    expect_missed("i8", text.text, "-128");
    expect_missed("option i8", "case #none -> 1 case #some 0 -> 2", "#some 1 ...");
    strbuf_add(&text, "case -128 -> 0");
    expect_missed("i8", text.text, "");
    strbuf_free(&text);
}

/* Whether a set of clauses holds for all truth values takes exponential time here: it has to end. */
static void test_bound(void **unused)
{
    (void)unused;
    enum { COLUMNS = 40 };
    StrBuf text = {0};
    strbuf_add(&text, "def f (x: (");
    for (int i = 0; i < COLUMNS; i++)
        strbuf_add(&text, i ? ", bool" : "bool");
    strbuf_add(&text, ")) = match x");
    for (int i = 0; i < 4 * COLUMNS; i++) {
        strbuf_add(&text, " case (");
        for (int j = 0; j < COLUMNS; j++) {
            uint32_t kind = below(16);
            strbuf_printf(&text, "%s%s", j ? ", " : "", kind == 0 ? "true" : kind == 1 ? "false" : "_");
        }
        strbuf_printf(&text, ") -> %d", i);
    }
    Program p = check_text(text.text);
    uint64_t work = PROGRAM_WORK;
    for (int i = 0; i < 20; i++) {
        const Expr *e = p.match;
        MatchFacts facts = usefulness_of_cases(p.s->arena, subject_type(&p), e->match.cases, e->match.n, &work);
        assert_false(facts.known && i == 19); /* by then all is spent */
        assert_false(facts.exhaustive);
    }
    session_destroy(p.s);
    strbuf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missed), cmocka_unit_test(test_numbers), cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_random), cmocka_unit_test(test_run),     cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
