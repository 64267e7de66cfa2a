/* The checker of plans, on plans written by hand: what is in order passes, and every way to lose or to double a
 * reference is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

/* ---- plans by hand ---- */

typedef struct P {
    Arena *arena;
    Plan plan;
    PlanFn *fn;
    PlanBlock *block;
} P;

static P p_open(void)
{
    P p = {.arena = arena_create()};
    p.plan.arena = p.arena;
    p.fn = arena_new(p.arena, PlanFn);
    p.fn->name = "f";
    p.fn->body = p.block = arena_new(p.arena, PlanBlock);
    vec_push(p.arena, &p.plan.fns, p.fn);
    return p;
}

/* A register of the block at hand. */
static PlanOperand reg(P *p, PlanType type, Scalar s, uint8_t rank)
{
    PlanRegInfo info = {type, {s, rank}, NULL};
    vec_push(p->arena, &p->fn->regs, info);
    vec_push(p->arena, &p->block->regs, p->fn->regs.n - 1);
    return (PlanOperand){.reg = p->fn->regs.n - 1};
}
static PlanOperand arr(P *p) { return reg(p, PLAN_ARR, SC_I64, 1); }
static PlanOperand scalar(P *p) { return reg(p, PLAN_SCALAR, SC_I64, 0); }
static PlanOperand number(uint64_t n) { return (PlanOperand){.kind = OPERAND_NUMBER, .bits = n}; }
static PlanOperand list(P *p, uint32_t n, const PlanOperand *at)
{
    PlanOperand made = {.kind = OPERAND_LIST, .list = {arena_array(p->arena, PlanOperand, n + 1), n}};
    for (uint32_t i = 0; i < n; i++)
        made.list.at[i] = at[i];
    return made;
}

/* The function's only parameter. */
static PlanOperand param(P *p, PlanOperand o)
{
    p->fn->params = arena_new(p->arena, PlanReg);
    p->fn->params[0] = o.reg;
    p->fn->nparams = 1;
    return o;
}
static void result(P *p, PlanOperand o)
{
    p->fn->results = arena_new(p->arena, PlanReg);
    p->fn->results[0] = o.reg;
    p->fn->nresults = 1;
}

static PlanInstr *add(P *p, PlanOp op, uint32_t n, const PlanOperand *args)
{
    PlanInstr *in = arena_new(p->arena, PlanInstr);
    in->op = op;
    in->nargs = n;
    in->args = arena_array(p->arena, PlanOperand, n + 1);
    memcpy(in->args, args, n * sizeof *args);
    vec_push(p->arena, &p->block->instrs, in);
    return in;
}
#define ADD(p, OP, ...)                                                                                                \
    add((p), PLAN_OP_##OP, sizeof((PlanOperand[]){__VA_ARGS__}) / sizeof(PlanOperand), (PlanOperand[]){__VA_ARGS__})

/* The instruction's block i is what follows, until the block `outer` goes on. */
static PlanBlock *begin(P *p, PlanInstr *in, int i)
{
    PlanBlock *outer = p->block;
    p->block = in->blocks[i] = arena_new(p->arena, PlanBlock);
    return outer;
}

/* what: NULL if the plan is in order, else what the checker says. */
static void p_close(P *p, const char *what)
{
    StrBuf why = {0};
    bool ok = plan_check(&p->plan, &why);
    if (ok == (what != NULL) || (what && !strstr(why.text, what)))
        fail_msg("expected: %s\nchecker: %s", what ? what : "no fault", ok ? "no fault" : why.text);
    strbuf_free(&why);
    arena_destroy(p->arena);
}

/* ---- ownership ---- */

static void test_in_order(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p)), n = scalar(&p), b = arr(&p), c = arr(&p);
    ADD(&p, LENGTH, n, a);
    ADD(&p, RETAIN_ARR, b, a);
    PlanInstr *in = ADD(&p, IF, n);
    PlanBlock *outer = begin(&p, in, 0);
    ADD(&p, RELEASE_ARR, a);
    ADD(&p, MOVE_ARR, c, b);
    p.block = outer;
    begin(&p, in, 1);
    ADD(&p, RELEASE_ARR, b);
    ADD(&p, MOVE_ARR, c, a);
    p.block = outer;
    result(&p, c);
    p_close(&p, NULL);
}

static void test_double_release(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p));
    ADD(&p, RELEASE_ARR, a);
    ADD(&p, RELEASE_ARR, a);
    p_close(&p, "`release`: a0 holds nothing that could be read or taken");
}

static void test_use_behind_move(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p)), b = arr(&p), n = scalar(&p);
    ADD(&p, MOVE_ARR, b, a);
    ADD(&p, LENGTH, n, a);
    ADD(&p, RELEASE_ARR, b);
    p_close(&p, "`length`: a0 holds nothing");
}

static void test_leak(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p)), b = arr(&p);
    ADD(&p, RETAIN_ARR, b, a);
    ADD(&p, RELEASE_ARR, a);
    p_close(&p, "a1 is never released");
}

static void test_leak_on_one_path(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p)), n = scalar(&p);
    ADD(&p, LENGTH, n, a);
    PlanInstr *in = ADD(&p, IF, n);
    PlanBlock *outer = begin(&p, in, 0);
    ADD(&p, RELEASE_ARR, a);
    p.block = outer;
    begin(&p, in, 1);
    p.block = outer;
    p_close(&p, "`if`: a0 is held on one path and not on the other");
}

/* What a branch declares ends with it. */
static void test_leak_in_a_block(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p)), n = scalar(&p);
    ADD(&p, LENGTH, n, a);
    PlanInstr *in = ADD(&p, IF, n);
    PlanBlock *outer = begin(&p, in, 0);
    PlanOperand b = arr(&p);
    ADD(&p, RETAIN_ARR, b, a);
    p.block = outer;
    begin(&p, in, 1);
    p.block = outer;
    ADD(&p, RELEASE_ARR, a);
    p_close(&p, "a2 is never released");
}

static void test_overwritten(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p)), b = arr(&p);
    ADD(&p, RETAIN_ARR, b, a);
    ADD(&p, RETAIN_ARR, b, a);
    p_close(&p, "`retain`: a1 is written, and what it holds is never released");
}

static void test_taken_twice(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand r = reg(&p, PLAN_REFS, SC_BOOL, 0), both = reg(&p, PLAN_REFS, SC_BOOL, 0);
    ADD(&p, REFS_NONE, r);
    ADD(&p, REFS_UNION, both, r, r);
    ADD(&p, RELEASE_REFS, both);
    p_close(&p, "`union`: r0 is taken twice");
}

/* A round that ends without the state it began with. */
static void test_loop_loses_state(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p)), n = scalar(&p);
    PlanInstr *in = ADD(&p, LOOP, n);
    PlanBlock *outer = begin(&p, in, 0);
    ADD(&p, LENGTH, n, a);
    p.block = outer;
    begin(&p, in, 1);
    ADD(&p, RELEASE_ARR, a);
    p.block = outer;
    ADD(&p, RELEASE_ARR, a);
    p_close(&p, "`loop`: a0 is held on one path and not on the other");
}

static void test_level_not_left(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand level = reg(&p, PLAN_LEVEL, SC_I64, 0);
    ADD(&p, ENTER, level, (PlanOperand){.kind = OPERAND_TEXT, .text = "f"});
    p_close(&p, "v0 is never released");
}

/* ---- registers and operands ---- */

static void test_read_before_write(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand n = scalar(&p), m = scalar(&p);
    ADD(&p, SET, m, n);
    p_close(&p, "`set`: s0 is read before it is written");
}

/* Written in one branch only. */
static void test_read_where_perhaps_written(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand n = param(&p, scalar(&p)), m = scalar(&p);
    PlanInstr *in = ADD(&p, IF, n);
    PlanBlock *outer = begin(&p, in, 0);
    ADD(&p, SET, m, n);
    p.block = outer;
    begin(&p, in, 1);
    p.block = outer;
    ADD(&p, SET, n, m);
    p_close(&p, "`set`: s1 is read before it is written");
}

static void test_wrong_operands(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p)), n = scalar(&p);
    ADD(&p, LENGTH, a, n);
    p_close(&p, "`length`: a0 is of the wrong type");
    p = p_open();
    n = scalar(&p);
    ADD(&p, SET, n, number(1));
    p_close(&p, "`set`: an operand is of the wrong kind");
}

static void test_out_of_scope(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand n = param(&p, scalar(&p));
    PlanInstr *in = ADD(&p, IF, n);
    PlanBlock *outer = begin(&p, in, 0);
    PlanOperand m = scalar(&p);
    ADD(&p, SET, m, n);
    p.block = outer;
    begin(&p, in, 1);
    p.block = outer;
    ADD(&p, SET, n, m);
    p_close(&p, "`set`: a register is not declared here");
}

static void test_results(void **state)
{
    (void)state;
    P p = p_open();
    result(&p, arr(&p));
    p_close(&p, "a0 is a result, and not written");
}

static void test_calls(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p));
    ADD(&p, CALL, list(&p, 0, NULL), list(&p, 0, NULL))->fn = p.fn;
    ADD(&p, RELEASE_ARR, a);
    p_close(&p, "`call`: the operands are not those of the function");
}

/* ---- what the host waits for ---- */

/* n = the element of a at `index`: begun and awaited. */
static PlanOperand read_now(P *p, PlanOperand a, PlanOperand index)
{
    PlanOperand n = scalar(p), pending = reg(p, PLAN_PENDING, SC_BOOL, 0);
    ADD(p, READ, pending, a, index);
    ADD(p, AWAIT, list(p, 1, &n), pending);
    return n;
}

static void expect_order(P *p, uint32_t n, const PlanOp *ops)
{
    plan_batch_reads(&p->plan);
    assert_int_equal(p->block->instrs.n, n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(p->block->instrs.at[i]->op, ops[i]);
}

/* Two elements arrive together; the third is that at the first. */
static void test_reads_together(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p)), zero = {.kind = OPERAND_CONST, .scalar = SC_I64};
    PlanOperand first = read_now(&p, a, zero);
    read_now(&p, a, first);
    read_now(&p, a, zero);
    ADD(&p, RELEASE_ARR, a);
    expect_order(&p, 7,
                 (const PlanOp[]){PLAN_OP_READ, PLAN_OP_READ, PLAN_OP_AWAIT, PLAN_OP_AWAIT, PLAN_OP_READ,
                                  PLAN_OP_RELEASE_ARR, PLAN_OP_AWAIT});
    p_close(&p, NULL);
}

/* The first check that fails is reported; elements are read ahead of checks, parts of arrays are not made. */
static void test_checks_stay_in_order(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p)), zero = {.kind = OPERAND_CONST, .scalar = SC_I64}, part = arr(&p);
    PlanOperand first = read_now(&p, a, zero);
    ADD(&p, CHECK_DIVISOR, first, number(0));
    ADD(&p, CHECK_INDEX, zero, a, number(1));
    read_now(&p, a, zero);
    ADD(&p, PART, part, a, zero, zero, number(8));
    expect_order(&p, 7,
                 (const PlanOp[]){PLAN_OP_READ, PLAN_OP_READ, PLAN_OP_AWAIT, PLAN_OP_AWAIT, PLAN_OP_CHECK_DIVISOR,
                                  PLAN_OP_CHECK_INDEX, PLAN_OP_PART});
    ADD(&p, RELEASE_ARR, part);
    ADD(&p, RELEASE_ARR, a);
    p_close(&p, NULL);
}

/* Not across what is ORDERED. */
static void test_reads_apart(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p)), zero = {.kind = OPERAND_CONST, .scalar = SC_I64};
    read_now(&p, a, zero);
    ADD(&p, RUNNING, scalar(&p));
    read_now(&p, a, zero);
    expect_order(&p, 5, (const PlanOp[]){PLAN_OP_READ, PLAN_OP_AWAIT, PLAN_OP_RUNNING, PLAN_OP_READ, PLAN_OP_AWAIT});
    ADD(&p, RELEASE_ARR, a);
    p_close(&p, NULL);
}

static void test_never_awaited(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p)), zero = {.kind = OPERAND_CONST, .scalar = SC_I64};
    ADD(&p, READ, reg(&p, PLAN_PENDING, SC_BOOL, 0), a, zero);
    ADD(&p, RELEASE_ARR, a);
    p_close(&p, "p1 is never released");
}

static void test_pending_at_a_branch(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p)), zero = {.kind = OPERAND_CONST, .scalar = SC_I64};
    PlanOperand n = scalar(&p), pending = reg(&p, PLAN_PENDING, SC_BOOL, 0);
    ADD(&p, READ, pending, a, zero);
    PlanInstr *in = ADD(&p, IF, zero);
    PlanBlock *outer = begin(&p, in, 0);
    p.block = outer;
    begin(&p, in, 1);
    p.block = outer;
    ADD(&p, AWAIT, list(&p, 1, &n), pending);
    ADD(&p, RELEASE_ARR, a);
    p_close(&p, "`if`: something is pending here");
}

static void test_too_much_pending(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p)), zero = {.kind = OPERAND_CONST, .scalar = SC_I64};
    for (int i = 0; i <= PLAN_MOST_PENDING; i++)
        ADD(&p, READ, reg(&p, PLAN_PENDING, SC_BOOL, 0), a, zero);
    ADD(&p, RELEASE_ARR, a);
    p_close(&p, "is more than may be pending");
}

/* As many as there is room for go ahead. */
static void test_many_reads(void **state)
{
    (void)state;
    P p = p_open();
    PlanOperand a = param(&p, arr(&p)), zero = {.kind = OPERAND_CONST, .scalar = SC_I64};
    for (int i = 0; i <= PLAN_MOST_PENDING; i++)
        read_now(&p, a, zero);
    plan_batch_reads(&p.plan);
    ADD(&p, RELEASE_ARR, a);
    p_close(&p, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_order),
        cmocka_unit_test(test_double_release),
        cmocka_unit_test(test_use_behind_move),
        cmocka_unit_test(test_leak),
        cmocka_unit_test(test_leak_on_one_path),
        cmocka_unit_test(test_leak_in_a_block),
        cmocka_unit_test(test_overwritten),
        cmocka_unit_test(test_taken_twice),
        cmocka_unit_test(test_loop_loses_state),
        cmocka_unit_test(test_level_not_left),
        cmocka_unit_test(test_read_before_write),
        cmocka_unit_test(test_read_where_perhaps_written),
        cmocka_unit_test(test_wrong_operands),
        cmocka_unit_test(test_out_of_scope),
        cmocka_unit_test(test_reads_together),
        cmocka_unit_test(test_checks_stay_in_order),
        cmocka_unit_test(test_reads_apart),
        cmocka_unit_test(test_never_awaited),
        cmocka_unit_test(test_pending_at_a_branch),
        cmocka_unit_test(test_too_much_pending),
        cmocka_unit_test(test_many_reads),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
