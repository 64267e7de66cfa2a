/* Which bodies of parallel operations become a lane's code, which get a second version, and which stay (core/lane.h).
 */
#include "core_builder.h"

#include "compile_text.h"

#include "core/lane.h"

/* Statements of the two kinds in the first entry. */
static void expect_lanes(const char *program, uint32_t lanes, uint32_t manys)
{
    Session *s = session_create();
    CoreProgram *p = compile_text(s, program);
    core_fuse(p);
    core_simplify(p);
    core_choose_lanes(p);
    StrBuf why = {0};
    if (!core_check(p, &why))
        fail_msg("%s: %s", program, why.text);
    uint32_t found_lanes = count_kind(p->entries.at[0].fn, CORE_LANE);
    uint32_t found_manys = count_kind(p->entries.at[0].fn, CORE_MANY);
    if (found_lanes != lanes || found_manys != manys)
        fail_msg("%s: %u lanes, %u choices", program, found_lanes, found_manys);
    strbuf_free(&why);
    session_destroy(s);
}

static void test_small(void **state)
{
    (void)state;
    expect_lanes("entry main (n: i64) = { sum { k * i : k in 8 } : i in n }", 1, 0);
    expect_lanes(
        "entry main (n: i64) = { sum (loop a = { k * i : k in 8 } for _ < i do { a[7 - k] + k : k in 8 }) : i in n }",
        1, 0);
    /* a sum alone, of as many as fill a device's group */
    expect_lanes("entry main (n: i64) = { sum { k * i : k in 100 } : i in n }", 0, 0);
}

static void test_versions(void **state)
{
    (void)state;
    expect_lanes("entry main (xs: [[i64]]) (ys: [i64]) = { sum { sum { x * y : x in row } : y in ys } : row in xs }", 1,
                 1);
    expect_lanes(
        "entry main (xs: [[i64]]) (ys: [i64]) = { minimum { sum { x * y : x in row } : y in ys } : row in xs }", 1, 1);
    /* one reduction of a row each stays the runtime's */
    expect_lanes("entry main (xs: [[i64]]) = { sum row : row in xs }", 0, 0);
}

/* A device may have no f64: recursion on f32 has none, but where the program has. */
static uint32_t doubles_of(const char *program)
{
    Session *s = session_create();
    CoreProgram *p = compile_text(s, program);
    core_choose_lanes(p);
    const CoreFn *fn = p->entries.at[0].fn;
    uint32_t n = 0;
    assert_int_equal(count_kind(fn, CORE_LANE), 1);
    for (CoreVar v = 0; v < fn->vars.n; v++)
        n += core_var_type(fn, v).scalar == SC_F64;
    session_destroy(s);
    return n;
}

static void test_floats_of_recursion(void **state)
{
    (void)state;
    assert_int_equal(
        doubles_of("def f (n: i64) (x: f32) : f32 = if n < 2 then x else f (n - 1) (x * 0.5) + f (n - 2) x + x\n"
                   "entry main (n: i64) = { f i 1.5 : i in n }"),
        0);
    assert_true(
        doubles_of("def f (n: i64) (x: f32) : f64 = if n < 2 then 0.5 else f (n - 1) (x * 0.5) + f (n - 2) x + f64 x\n"
                   "entry main (n: i64) = { f i 1.5 : i in n }") > 0);
}

static void test_impossible(void **state)
{
    (void)state;
    /* sequences are what flattening makes well; sorts */
    expect_lanes("entry main (n: i64) = { { k * i : k in 8 } : i in n }", 0, 0);
    expect_lanes("entry main (n: i64) = { sum { x * y : x in sort { (k * i) % 5 : k in 8 }; y in 8 } : i in n }", 0, 0);
}

/* Versions with memory, for lengths that only the run tells, and for what is too much for private arrays. */
static void test_memory(void **state)
{
    (void)state;
    expect_lanes("entry main (xs: [[i64]]) = { sum (loop a = row for _ < 3 do { x + sum row : x in a }) : row in xs }",
                 1, 1);
    expect_lanes("entry main (n: i64) = { sum (loop a = { k * i : k in 1000 } for _ < i do { a[999 - k] + k : k in "
                 "1000 }) : i in n }",
                 1, 1);
    /* no loop, and one level: it stays flat */
    expect_lanes("entry main (xs: [[i64]]) = { sum (row with [0] = 1) : row in xs }", 0, 0);
}

typedef struct Copies {
    const Lane *lane;
    uint32_t states, updates;
} Copies;

static void count_copies(void *ctx, CoreBlock *b)
{
    Copies *c = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        c->updates += s->kind == CORE_UPDATE && lane_owns(c->lane, s->vars[0]);
        for (uint32_t k = 0; s->kind == CORE_LOOP && k < s->loop.nparams; k++)
            c->states += lane_copies_state(c->lane, s, k);
        core_stmt_blocks(b->stmts.at[i], count_copies, ctx);
    }
}

/* Loops that copy what a state begins as, and updates that copy, in the first lane with memory. */
static void expect_copies(const char *program, uint32_t states, uint32_t updates)
{
    Session *s = session_create();
    CoreProgram *p = compile_text(s, program);
    core_choose_lanes(p);
    CoreFn *fn = p->entries.at[0].fn;
    CoreStmt *lane = find_kind(fn->body, CORE_LANE, 0);
    assert_false(lane->lane.memory.is_const);
    Lane l = lane_open(fn, true);
    assert_true(lane_analyse(&l, lane->lane.block));
    Copies c = {.lane = &l};
    count_copies(&c, lane->lane.block);
    if (c.states != states || c.updates != updates)
        fail_msg("%s: %u states, %u updates", program, c.states, c.updates);
    lane_close(&l);
    session_destroy(s);
}

static void test_ownership(void **state)
{
    (void)state;
    /* handed from loop to loop; an argument; two from one; the old state is looked at */
    expect_copies(
        "entry main (n: i64) = { sum (loop a = { 0 : _ in i } for j < i do loop a = a for k < j do a with [k] "
        "= j) : i in n }",
        0, 0);
    expect_copies("entry main (xs: [[i64]]) = { sum (loop a = r for j < 3 do a with [j] = j) : r in xs }", 1, 0);
    expect_copies("entry main (n: i64) = { let z = { 0 : _ in i } let (a, b) = loop (a, b) = (z, z) for j < i do (a "
                  "with [j] = j, b with [j] = 1) in sum a + sum b : i in n }",
                  2, 0);
    expect_copies("entry main (n: i64) = { sum (loop a = { k : k in i } for j < i do let b = a with [j] = 2 in b with "
                  "[0] = a[j]) : i in n }",
                  0, 1);
    /* a state that a round may take from elsewhere; arrays that change places */
    expect_copies("entry main (xs: [[i64]]) = { sum (loop a = { 0 : _ in r } for j < 3 do if j == 1 then r else a with "
                  "[j] = j) : r in xs }",
                  0, 1);
    expect_copies("entry main (xs: [[i64]]) = { sum (loop (a, b) = (r, r) for j < 3 do (b with [j] = j, a)).0 : r in "
                  "xs }",
                  2, 0);
    /* in branches, also by loops there; where the old array is looked at behind them */
    expect_copies(
        "entry main (xs: [[i64]]) = { sum (loop a = r for j < length r do if r[j] > 1 then loop a = a for k < j "
        "do a with [k] = j else if r[j] > 0 then a with [0] = j else a) : r in xs }",
        1, 0);
    expect_copies(
        "entry main (xs: [[i64]]) = { sum (loop a = r for j < length r do let b = if r[j] > 1 then a with [j] "
        "= 2 else a in b with [0] = a[j]) : r in xs }",
        0, 2);
    /* two in exchange */
    expect_copies("entry main (xs: [[i64]]) = { sum (loop (a, b) = (r, r) for j < length r do let (a, b) = if r[j] > 1 "
                  "then (b with [0] = 1, a) else (a, b) in (a with [j] = j, b)).0 : r in xs }",
                  2, 0);
}

typedef struct Places {
    const Lane *lane;
    uint32_t reads[3]; /* of elements, by LanePlace */
} Places;

static void count_places(void *ctx, CoreBlock *b)
{
    Places *p = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        if (s->kind == CORE_INDEX)
            p->reads[lane_place(p->lane, s->index.array)]++;
        core_stmt_blocks(b->stmts.at[i], count_places, ctx);
    }
}

static void expect_places(const char *program, uint32_t heap, uint32_t share, uint32_t either)
{
    Session *s = session_create();
    CoreProgram *p = compile_text(s, program);
    core_choose_lanes(p);
    CoreFn *fn = p->entries.at[0].fn;
    CoreStmt *lane = find_kind(fn->body, CORE_LANE, 0);
    Lane l = lane_open(fn, true);
    assert_true(lane_analyse(&l, lane->lane.block));
    lane_find_places(&l, lane->lane.block);
    Places c = {.lane = &l};
    count_places(&c, lane->lane.block);
    if (c.reads[LANE_IN_HEAP] != heap || c.reads[LANE_IN_SHARE] != share || c.reads[LANE_IN_EITHER] != either)
        fail_msg("%s: %u in the heap, %u in the share, %u in either", program, c.reads[LANE_IN_HEAP],
                 c.reads[LANE_IN_SHARE], c.reads[LANE_IN_EITHER]);
    lane_close(&l);
    session_destroy(s);
}

static void test_places(void **state)
{
    (void)state;
    /* a state that is written begins as a copy; one that is not begins as it is, and becomes what a round makes */
    expect_places("entry main (xs: [[i64]]) = { sum (loop a = r for j < 3 do a with [j] = a[j] + r[2]) : r in xs }", 1,
                  1, 0);
    expect_places("entry main (xs: [[i64]]) = { sum (loop a = r for j < length r do { x + a[j] : x in a }) : r in xs }",
                  0, 0, 1);
    /* rows of the lane's array lie where they were made: here in the heap, and one of them in the share */
    expect_places("entry main (xs: [[i64]]) = { let t = [r, xs[0]] in loop k = 0 while k < 9 do k + sum t[k % 2] + "
                  "t[(k + 1) % 2][k] "
                  ": r in xs }",
                  2, 2, 0);
    expect_places(
        "entry main (xs: [[i64]]) = { let t = [r, { x * 2 : x in r }] in loop k = 0 while k < 9 do k + sum t[k "
        "% 2] + t[(k + 1) % 2][k] : r in xs }",
        0, 2, 1);
}

/* An update is made in the array's memory if that is not looked at any more. */
static uint32_t arrays_of(const char *program)
{
    Session *s = session_create();
    CoreProgram *p = compile_text(s, program);
    core_choose_lanes(p);
    CoreFn *fn = p->entries.at[0].fn;
    CoreStmt *lane = find_kind(fn->body, CORE_LANE, 0);
    assert_non_null(lane);
    Lane l = lane_open(fn, false);
    assert_true(lane_analyse(&l, lane->lane.block));
    uint32_t n = 0;
    for (CoreVar v = 0; v < fn->vars.n; v++)
        n += lane_var(&l, v)->rank > 0 && lane_owns(&l, v);
    lane_close(&l);
    session_destroy(s);
    return n;
}

static void test_in_place(void **state)
{
    (void)state;
    /* the first value, the state */
    assert_int_equal(
        arrays_of("entry main (n: i64) = { (loop a = { k * i : k in 8 } for j < 8 do a with [j] = a[7 - j] + 1)[i % 8]"
                  " : i in n }"),
        2);
    assert_int_equal(arrays_of("entry main (n: i64) = { (loop a = { k * i : k in 8 } for j < 8 do"
                               " let b = a with [j] = 1 in b with [a[j] % 8] = 2)[i % 8] : i in n }"),
                     3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),      cmocka_unit_test(test_versions),
        cmocka_unit_test(test_impossible), cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_memory),     cmocka_unit_test(test_ownership),
        cmocka_unit_test(test_places),     cmocka_unit_test(test_floats_of_recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
