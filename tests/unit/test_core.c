/* Core: scalar semantics, the checker, the interpreter. */
#include "core_builder.h"
#include "sanitized.h"

#include <math.h>

/* ---- scalar semantics ---- */

static uint64_t bits_f64(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static uint64_t bits_f32(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

typedef struct PrimCase {
    CorePrim op;
    Scalar operand, result;
    uint64_t a, b, expected;
} PrimCase;
#define NEG(x) ((uint64_t)-INT64_C(x))

static void check_prims(const PrimCase *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t args[3] = {cases[i].a, cases[i].b, 0};
        uint64_t found = core_prim_apply(cases[i].op, cases[i].operand, cases[i].result, args);
        if (found != cases[i].expected)
            print_error("case %zu: %s %s\n", i, core_prim_name(cases[i].op), scalar_name(cases[i].operand));
        assert_int_equal(found, cases[i].expected);
    }
}
#define CHECK_PRIMS(cases) check_prims((cases), sizeof(cases) / sizeof *(cases))

static void test_prim_integers(void **state)
{
    (void)state;
    const uint64_t min64 = UINT64_C(1) << 63;
    const PrimCase cases[] = {
        {PRIM_ADD, SC_I8, SC_I8, 127, 1, NEG(128)},
        {PRIM_ADD, SC_U8, SC_U8, 255, 1, 0},
        {PRIM_SUB, SC_U32, SC_U32, 0, 1, UINT32_MAX},
        {PRIM_MUL, SC_I32, SC_I32, 65536, 65536, 0},
        {PRIM_MUL, SC_I64, SC_I64, min64, NEG(1), min64},
        {PRIM_DIV, SC_I64, SC_I64, min64, NEG(1), min64},
        {PRIM_MOD, SC_I64, SC_I64, min64, NEG(1), 0},
        {PRIM_DIV, SC_I8, SC_I8, NEG(128), NEG(1), NEG(128)},
        {PRIM_DIV, SC_I32, SC_I32, NEG(7), 2, NEG(3)},
        {PRIM_MOD, SC_I32, SC_I32, NEG(7), 2, NEG(1)},
        {PRIM_MOD, SC_I32, SC_I32, 7, NEG(2), 1},
        {PRIM_DIV, SC_U64, SC_U64, UINT64_MAX, 2, UINT64_MAX / 2},
        {PRIM_POW, SC_I64, SC_I64, 3, 4, 81},
        {PRIM_POW, SC_I64, SC_I64, 0, 0, 1},
        {PRIM_POW, SC_I32, SC_I32, 2, NEG(1), 0},
        {PRIM_POW, SC_I32, SC_I32, 1, NEG(5), 1},
        {PRIM_POW, SC_I32, SC_I32, NEG(1), NEG(5), NEG(1)},
        {PRIM_POW, SC_I32, SC_I32, NEG(1), NEG(4), 1},
        {PRIM_POW, SC_I32, SC_I32, 2, 31, NEG(2147483648)},
        {PRIM_POW, SC_U8, SC_U8, 2, 8, 0},
        {PRIM_SHL, SC_I32, SC_I32, 1, 31, NEG(2147483648)},
        {PRIM_SHL, SC_I32, SC_I32, 1, 32, 1},
        {PRIM_SHL, SC_U8, SC_U8, 1, 9, 2},
        {PRIM_SHR, SC_I8, SC_I8, NEG(128), 7, NEG(1)},
        {PRIM_SHR, SC_U8, SC_U8, 128, 7, 1},
        {PRIM_SHR, SC_I64, SC_I64, min64, 63, UINT64_MAX},
        {PRIM_SHR, SC_I64, SC_I64, NEG(5), 64, NEG(5)},
        {PRIM_SHL, SC_I32, SC_I32, 1, NEG(1), NEG(2147483648)},
        {PRIM_NEG, SC_I8, SC_I8, NEG(128), 0, NEG(128)},
        {PRIM_ABS, SC_I16, SC_I16, NEG(32768), 0, NEG(32768)},
        {PRIM_ABS, SC_I64, SC_I64, NEG(3), 0, 3},
        {PRIM_SIGN, SC_I32, SC_I32, NEG(9), 0, NEG(1)},
        {PRIM_SIGN, SC_U64, SC_U64, UINT64_MAX, 0, 1},
        {PRIM_SIGN, SC_I8, SC_I8, 0, 0, 0},
        {PRIM_COMPLEMENT, SC_U16, SC_U16, 0, 0, 65535},
        {PRIM_COMPLEMENT, SC_I16, SC_I16, 0, 0, NEG(1)},
        {PRIM_LT, SC_I64, SC_BOOL, NEG(1), 0, 1},
        {PRIM_LT, SC_U64, SC_BOOL, UINT64_MAX, 0, 0},
        {PRIM_GE, SC_I8, SC_BOOL, NEG(1), NEG(1), 1},
        {PRIM_LE, SC_BOOL, SC_BOOL, 0, 1, 1},
        {PRIM_MIN, SC_I32, SC_I32, NEG(1), 1, NEG(1)},
        {PRIM_MAX, SC_U32, SC_U32, UINT32_MAX, 1, UINT32_MAX},
        {PRIM_POPCOUNT, SC_I8, SC_I8, NEG(1), 0, 8},
        {PRIM_CLZ, SC_I16, SC_I16, 1, 0, 15},
        {PRIM_CLZ, SC_U64, SC_U64, 0, 0, 64},
        {PRIM_CTZ, SC_I32, SC_I32, 0, 0, 32},
        {PRIM_CTZ, SC_I32, SC_I32, NEG(8), 0, 3},
        {PRIM_AND, SC_I8, SC_I8, NEG(2), 127, 126},
        {PRIM_XOR, SC_BOOL, SC_BOOL, 1, 1, 0},
        {PRIM_NOT, SC_BOOL, SC_BOOL, 0, 0, 1},
    };
    CHECK_PRIMS(cases);
}

static void test_prim_floats(void **state)
{
    (void)state;
    const double quiet = (double)NAN, infinite = (double)INFINITY;
    const PrimCase cases[] = {
        {PRIM_ADD, SC_F32, SC_F32, bits_f32(16777216.0f), bits_f32(1.0f), bits_f32(16777216.0f)},
        {PRIM_DIV, SC_F32, SC_F32, bits_f32(1.0f), bits_f32(3.0f), bits_f32(1.0f / 3.0f)},
        {PRIM_DIV, SC_F64, SC_F64, bits_f64(1), bits_f64(0), bits_f64(infinite)},
        {PRIM_MOD, SC_F64, SC_F64, bits_f64(-5.5), bits_f64(2), bits_f64(-1.5)},
        {PRIM_MIN, SC_F64, SC_F64, bits_f64(quiet), bits_f64(1), bits_f64(1)},
        {PRIM_MIN, SC_F64, SC_F64, bits_f64(1), bits_f64(quiet), bits_f64(1)},
        {PRIM_MAX, SC_F32, SC_F32, bits_f32(NAN), bits_f32(2), bits_f32(2)},
        {PRIM_LT, SC_F64, SC_BOOL, bits_f64(quiet), bits_f64(1), 0},
        {PRIM_NE, SC_F64, SC_BOOL, bits_f64(quiet), bits_f64(quiet), 1},
        {PRIM_EQ, SC_F64, SC_BOOL, bits_f64(0.0), bits_f64(-0.0), 1},
        {PRIM_LESS_NAN_LAST, SC_F64, SC_BOOL, bits_f64(infinite), bits_f64(quiet), 1},
        {PRIM_LESS_NAN_LAST, SC_F64, SC_BOOL, bits_f64(quiet), bits_f64(quiet), 0},
        {PRIM_LESS_NAN_LAST, SC_F64, SC_BOOL, bits_f64(quiet), bits_f64(1), 0},
        {PRIM_ROUND, SC_F64, SC_F64, bits_f64(2.5), 0, bits_f64(2)},
        {PRIM_ROUND, SC_F64, SC_F64, bits_f64(3.5), 0, bits_f64(4)},
        {PRIM_ROUND, SC_F64, SC_F64, bits_f64(-0.5), 0, bits_f64(-0.0)},
        {PRIM_ROUND, SC_F64, SC_F64, bits_f64(-2.5), 0, bits_f64(-2)},
        {PRIM_ROUND, SC_F64, SC_F64, bits_f64(0.49999999999999994), 0, bits_f64(0)},
        {PRIM_ROUND, SC_F64, SC_F64, bits_f64(infinite), 0, bits_f64(infinite)},
        {PRIM_ROUND, SC_F32, SC_F32, bits_f32(8388609.0f), 0, bits_f32(8388609.0f)},
        {PRIM_SIGN, SC_F64, SC_F64, bits_f64(quiet), 0, bits_f64(0)},
        {PRIM_SIGN, SC_F32, SC_F32, bits_f32(-2), 0, bits_f32(-1)},
        {PRIM_ISNAN, SC_F32, SC_BOOL, bits_f32(NAN), 0, 1},
        {PRIM_ISINF, SC_F64, SC_BOOL, bits_f64(-infinite), 0, 1},
        {PRIM_ISINF, SC_F64, SC_BOOL, bits_f64(quiet), 0, 0},
        {PRIM_NEG, SC_F64, SC_F64, bits_f64(0.0), 0, bits_f64(-0.0)},
    };
    CHECK_PRIMS(cases);
}

static void test_prim_convert(void **state)
{
    (void)state;
    const double quiet = (double)NAN, infinite = (double)INFINITY;
    const PrimCase cases[] = {
        {PRIM_CONVERT, SC_F64, SC_I8, bits_f64(300), 0, 127},
        {PRIM_CONVERT, SC_F64, SC_I8, bits_f64(-300), 0, NEG(128)},
        {PRIM_CONVERT, SC_F64, SC_I8, bits_f64(-128.9), 0, NEG(128)},
        {PRIM_CONVERT, SC_F64, SC_U8, bits_f64(-0.5), 0, 0},
        {PRIM_CONVERT, SC_F64, SC_U8, bits_f64(255.9), 0, 255},
        {PRIM_CONVERT, SC_F64, SC_I64, bits_f64(9.3e18), 0, INT64_MAX},
        {PRIM_CONVERT, SC_F64, SC_I64, bits_f64(-infinite), 0, UINT64_C(1) << 63},
        {PRIM_CONVERT, SC_F64, SC_U64, bits_f64(1.9e19), 0, UINT64_MAX},
        {PRIM_CONVERT, SC_F64, SC_U64, bits_f64(infinite), 0, UINT64_MAX},
        {PRIM_CONVERT, SC_F32, SC_I32, bits_f32(2147483648.0f), 0, INT32_MAX},
        {PRIM_CONVERT, SC_F64, SC_I32, bits_f64(quiet), 0, 0},
        {PRIM_CONVERT, SC_I64, SC_I8, 384, 0, NEG(128)},
        {PRIM_CONVERT, SC_I64, SC_U8, NEG(1), 0, 255},
        {PRIM_CONVERT, SC_I8, SC_U64, NEG(1), 0, UINT64_MAX},
        {PRIM_CONVERT, SC_U8, SC_I8, 255, 0, NEG(1)},
        {PRIM_CONVERT, SC_I64, SC_F32, 16777217, 0, bits_f32(16777216.0f)},
        {PRIM_CONVERT, SC_I64, SC_F32, 9007199791611905, 0, bits_f32(9007200328482816.0f)}, /* one rounding, not two */
        {PRIM_CONVERT, SC_U64, SC_F64, UINT64_MAX, 0, bits_f64(18446744073709551616.0)},
        {PRIM_CONVERT, SC_F64, SC_F32, bits_f64(1e300), 0, bits_f32(INFINITY)},
        {PRIM_CONVERT, SC_F64, SC_BOOL, bits_f64(quiet), 0, 1},
        {PRIM_CONVERT, SC_F64, SC_BOOL, bits_f64(-0.0), 0, 0},
        {PRIM_CONVERT, SC_BOOL, SC_F64, 1, 0, bits_f64(1)},
        {PRIM_CONVERT, SC_BOOL, SC_U8, 1, 0, 1},
        {PRIM_CONVERT, SC_I32, SC_BOOL, 256, 0, 1},
    };
    CHECK_PRIMS(cases);
    assert_int_equal(core_prim_apply(PRIM_SELECT, SC_I64, SC_I64, (uint64_t[]){0, 7, 8}), 8);
}

static void test_error_text(void **state)
{
    (void)state;
    StrBuf b = {0};
    core_error_text(&b, &(CoreSite){ERR_INDEX, no_span, NULL}, (int64_t[]){12, 10, 0});
    assert_string_equal(b.text, "index 12 out of bounds for length 10");
    strbuf_free(&b);
    b = (StrBuf){0};
    core_error_text(&b, &(CoreSite){ERR_SIZE, no_span, "n"}, (int64_t[]){3, 4, 0});
    assert_string_equal(b.text, "size mismatch: n is 3, but this length is 4");
    strbuf_free(&b);
    b = (StrBuf){0};
    core_error_text(&b, &(CoreSite){ERR_EMPTY, no_span, "minimum"}, (int64_t[]){0, 0, 0});
    assert_string_equal(b.text, "minimum of an empty sequence");
    strbuf_free(&b);
}

/* ---- the checker ---- */

static void assert_invalid(const CoreProgram *p, const char *part)
{
    StrBuf why = {0};
    assert_false(core_check(p, &why));
    assert_non_null(strstr(why.text, part));
    strbuf_free(&why);
}

static void test_check_scope(void **state)
{
    (void)state;
    B b = b_open();
    b_fn(&b, "f");
    CoreAtom x = b_param(&b, T_I64);
    CoreStmt *s = b_stmt(&b, CORE_IF, 1, &T_I64);
    CoreBlock *outer = b.b;
    s->if_.cond = core_const(SC_BOOL, 1);
    b.b = s->if_.then_b = core_new_block(b.p);
    CoreAtom inner = b_prim(&b, PRIM_ADD, x, x);
    b_results(&b, s->if_.then_b, ATOMS(inner));
    s->if_.else_b = core_new_block(b.p);
    b_results(&b, s->if_.else_b, ATOMS(x));
    b.b = outer;
    CoreAtom y = b_push(&b, s);
    b_return(&b, ATOMS(y));
    assert_valid(b.p);
    b_results(&b, s->if_.else_b, ATOMS(inner)); /* bound in the other branch */
    assert_invalid(b.p, "out of scope");
    b_close(&b);
}

static void test_check_types(void **state)
{
    (void)state;
    B b = b_open();
    b_fn(&b, "f");
    CoreAtom x = b_param(&b, T_I64), z = b_param(&b, T_F64);
    CoreAtom y = b_prim(&b, PRIM_ADD, x, x);
    b_return(&b, ATOMS(y));
    assert_valid(b.p);
    b.fn->body->stmts.at[0]->prim.args[1] = z;
    assert_invalid(b.p, "add is f64 of rank 0 instead of i64");
    b.fn->body->stmts.at[0]->prim.args[1] = x;
    b.fn->body->stmts.at[0]->vars[0] = x.var;
    assert_invalid(b.p, "bound twice");
    b_close(&b);
}

/* ---- the interpreter ---- */

static void test_eval_map_reduce_scan(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    CoreAtom xs = b_param(&b, T_SEQ);
    CoreAtom n = b_length(&b, xs);
    CoreAtom ys = b_map_op(&b, n, xs, PRIM_MUL, core_i64(3));
    CoreAtom sum = b_fold(&b, CORE_REDUCE, n, ys, PRIM_ADD, core_i64(0));
    CoreAtom sums = b_fold(&b, CORE_SCAN, n, ys, PRIM_ADD, core_i64(0));
    CoreAtom before = b_fold(&b, CORE_SCAN, n, ys, PRIM_ADD, core_i64(5));
    b.b->stmts.at[b.b->stmts.n - 1]->soac.exclusive = true;
    b_return(&b, ATOMS(sum, sums, before, b_iota(&b, n)));
    assert_valid(b.p);
    CoreValue args[] = {SEQ(&b, 1, 2, 3)}, results[4];
    EvalError error;
    assert_true(run_fn(&b, fn, args, results, &error));
    assert_int_equal(results[0].bits, 18);
    ASSERT_SEQ(results[1], 3, 9, 18);
    ASSERT_SEQ(results[2], 5, 8, 14);
    ASSERT_SEQ(results[3], 0, 1, 2);
    args[0].n = 0;
    assert_true(run_fn(&b, fn, args, results, &error));
    assert_int_equal(results[0].bits, 0);
    assert_int_equal(results[1].n, 0);
    b_close(&b);
}

static void test_eval_errors_in_order(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    CoreAtom xs = b_param(&b, T_SEQ), i = b_param(&b, T_I64), d = b_param(&b, T_I64);
    CoreAtom x = b_index(&b, xs, i);
    CoreAtom q = b_prim(&b, PRIM_DIV, x, d);
    b_return(&b, ATOMS(q));
    assert_valid(b.p);
    CoreValue results[1];
    EvalError error;
    assert_false(run_fn(&b, fn, (CoreValue[]){SEQ(&b, 1, 2), v_i64(-1), v_i64(0)}, results, &error));
    assert_int_equal(b.p->sites.at[error.site].kind, ERR_INDEX);
    assert_int_equal(error.values[0], -1);
    assert_int_equal(error.values[1], 2);
    assert_false(run_fn(&b, fn, (CoreValue[]){SEQ(&b, 1, 2), v_i64(1), v_i64(0)}, results, &error));
    assert_int_equal(b.p->sites.at[error.site].kind, ERR_DIVISION);
    assert_true(run_fn(&b, fn, (CoreValue[]){SEQ(&b, 1, 8), v_i64(1), v_i64(2)}, results, &error));
    assert_int_equal(results[0].bits, 4);
    b_close(&b);
}

/* An updated sequence must not change what others hold. */
static void test_eval_update_keeps_the_old(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    CoreAtom n = b_param(&b, T_I64);
    CoreAtom xs = b_iota(&b, n);
    CoreAtom ys = b_update(&b, xs, core_i64(0), core_i64(9));
    CoreAtom zs = b_update(&b, ys, core_i64(1), core_i64(8));
    CoreAtom ws = b_update(&b, zs, core_i64(2), core_i64(7)); /* the last use of zs: in place */
    b_return(&b, ATOMS(xs, ys, ws));
    assert_valid(b.p);
    CoreValue results[3];
    EvalError error;
    assert_true(run_fn(&b, fn, (CoreValue[]){v_i64(3)}, results, &error));
    ASSERT_SEQ(results[0], 0, 1, 2);
    ASSERT_SEQ(results[1], 9, 1, 2);
    ASSERT_SEQ(results[2], 9, 8, 7);
    b_close(&b);
}

/* loop ys = iota n for i < n do ys with [i] = n - i */
static CoreAtom update_loop(B *b, CoreAtom n)
{
    CoreAtom start = b_iota(b, n);
    CoreStmt *s = b_stmt(b, CORE_LOOP, 1, &T_SEQ);
    CoreAtom ys = b_var(b, T_SEQ), i = b_var(b, T_I64);
    CoreBlock *outer = b->b;
    s->loop.nparams = 1;
    s->loop.params = arena_array(b->p->arena, CoreVar, 1);
    s->loop.params[0] = ys.var;
    s->loop.inits = b_atoms(b, ATOMS(start));
    s->loop.index = i.var;
    s->loop.count = n;
    b->b = s->loop.body = core_new_block(b->p);
    CoreAtom v = b_prim(b, PRIM_SUB, n, i);
    CoreAtom next = b_update(b, ys, i, v);
    b_results(b, s->loop.body, ATOMS(next));
    b->b = outer;
    return b_push(b, s);
}

static void test_eval_update_in_loops_is_linear(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    CoreAtom n = b_param(&b, T_I64);
    CoreAtom ys = update_loop(&b, n);
    b_return(&b, ATOMS(ys));
    assert_valid(b.p);
    CoreValue results[1];
    EvalError error;
    /* Quadratic copying would move 320 GB. */
    const EvalLimits limits = {.seconds = 10};
    assert_true(core_eval(b.p, fn, b.p->arena, (CoreValue[]){v_i64(200000)}, results, &limits, NULL, &error, NULL));
    assert_int_equal(results[0].scalars[0], 200000);
    assert_int_equal(results[0].scalars[199999], 1);
    b_close(&b);
}

/* rec f n = if n == 0 then 0 else 1 + f (n - 1); with `tail`: else f (n - 1) */
static CoreFn *countdown(B *b, const char *name, bool tail, CoreFn *other)
{
    CoreFn *fn = b_fn(b, name);
    fn->recursive = true;
    CoreAtom n = b_param(b, T_I64);
    CoreAtom zero = b_prim(b, PRIM_EQ, n, core_i64(0));
    CoreStmt *s = b_stmt(b, CORE_IF, 1, &T_I64);
    s->if_.cond = zero;
    s->if_.then_b = core_new_block(b->p);
    b_results(b, s->if_.then_b, ATOMS(core_i64(other ? 2 : 0)));
    b->b = s->if_.else_b = core_new_block(b->p);
    CoreAtom less = b_prim(b, PRIM_SUB, n, core_i64(1));
    CoreStmt *call = b_stmt(b, CORE_CALL, 1, &T_I64);
    call->call.fn = other ? other : fn;
    call->call.nargs = 1;
    call->call.args = b_atoms(b, ATOMS(less));
    CoreAtom r = b_push(b, call);
    if (!tail)
        r = b_prim(b, PRIM_ADD, r, core_i64(1));
    b_results(b, s->if_.else_b, ATOMS(r));
    b->b = fn->body;
    CoreAtom result = b_push(b, s);
    b_return(b, ATOMS(result));
    return fn;
}

static void test_eval_recursion(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = countdown(&b, "f", false, NULL);
    assert_valid(b.p);
    CoreValue results[1];
    EvalError error;
    assert_true(run_fn(&b, fn, (CoreValue[]){v_i64(10000)}, results, &error));
    assert_int_equal(results[0].bits, 10000);
#ifndef FRAMES_ARE_COUNTED
    assert_false(run_fn(&b, fn, (CoreValue[]){v_i64(-1)}, results, &error));
    assert_int_equal(error.kind, EVAL_TOO_DEEP);
    assert_string_equal(error.text, "recursion too deep");
#endif
    b_close(&b);
}

static void test_eval_out_of_memory(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    CoreAtom n = b_param(&b, T_I64);
    b_return(&b, ATOMS(b_iota(&b, n)));
    CoreValue results[1];
    EvalError error;
    assert_false(run_fn(&b, fn, (CoreValue[]){v_i64(INT64_MAX)}, results, &error));
    assert_int_equal(error.kind, EVAL_NO_MEMORY);
    assert_non_null(strstr(error.text, "out of memory"));
    b_close(&b);
}

static void test_eval_argsort(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    CoreAtom xs = b_param(&b, T_SEQ), ys = b_param(&b, T_SEQ);
    CoreStmt *s = b_stmt(&b, CORE_ARGSORT, 1, &T_SEQ);
    s->argsort.nkeys = 2;
    s->argsort.keys = b_atoms(&b, ATOMS(xs, ys));
    CoreAtom order = b_push(&b, s);
    b_return(&b, ATOMS(order));
    assert_valid(b.p);
    CoreValue results[1];
    EvalError error;
    CoreValue args[] = {SEQ(&b, 2, 1, 2, 1, 2), SEQ(&b, 5, -1, 4, -1, 4)};
    assert_true(run_fn(&b, fn, args, results, &error));
    ASSERT_SEQ(results[0], 1, 3, 2, 4, 0);
    b_close(&b);
}

static void test_eval_scatter_hist(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    CoreAtom xs = b_param(&b, T_SEQ), is = b_param(&b, T_SEQ);
    CoreAtom n = b_length(&b, xs);
    CoreStmt *s = b_stmt(&b, CORE_SCATTER, 1, &T_SEQ);
    s->soac = b_soac(&b, n, false, ATOMS(is, xs));
    s->soac.dests = b_atoms(&b, ATOMS(xs)); /* read and overwritten at once */
    b_results(&b, s->soac.body, ATOMS(b_element(&b, &s->soac, 0), b_element(&b, &s->soac, 1)));
    CoreAtom scattered = b_push(&b, s);
    CoreStmt *h = b_stmt(&b, CORE_HIST, 1, &T_SEQ);
    h->soac = b_soac(&b, n, false, ATOMS(is));
    h->soac.size = core_i64(2);
    h->soac.neutral = b_atoms(&b, ATOMS(core_i64(0)));
    h->soac.op = b_operator(&b, PRIM_ADD, T_I64);
    b_results(&b, h->soac.body, ATOMS(b_element(&b, &h->soac, 0), core_i64(1)));
    CoreAtom bins = b_push(&b, h);
    b_return(&b, ATOMS(scattered, bins));
    assert_valid(b.p);
    CoreValue results[2];
    EvalError error;
    CoreValue args[] = {SEQ(&b, 10, 20, 30, 40), SEQ(&b, 1, 1, -1, 9)};
    assert_true(run_fn(&b, fn, args, results, &error));
    ASSERT_SEQ(results[0], 10, 20, 30, 40); /* the last write to 1 wins: 20 */
    ASSERT_SEQ(results[1], 0, 2);
    b_close(&b);
}

static void test_copy_block(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *f = b_fn(&b, "f");
    CoreAtom n = b_param(&b, T_I64);
    CoreAtom ys = update_loop(&b, n);
    b_return(&b, ATOMS(ys));
    CoreFn *g = b_fn(&b, "g");
    b_param(&b, T_BOOL);
    CoreAtom m = b_param(&b, T_I64);
    CoreAtom *map = core_identity_map(b.p->arena, f);
    map[n.var] = m;
    g->body = core_copy_block(b.p, g, f, f->body, map);
    g->results = f->results;
    g->nresults = f->nresults;
    assert_valid(b.p);
    f->body->stmts.at[0]->soac.domain = core_i64(1); /* the copy shares nothing */
    CoreValue results[1];
    EvalError error;
    assert_true(run_fn(&b, g, (CoreValue[]){{.type = T_BOOL}, v_i64(3)}, results, &error));
    ASSERT_SEQ(results[0], 3, 2, 1);
    b_close(&b);
}

static void test_print(void **state)
{
    (void)state;
    B b = b_open();
    b_fn(&b, "f");
    CoreAtom xs = b_param(&b, T_SEQ);
    CoreAtom n = b_length(&b, xs);
    CoreAtom ys = b_map_op(&b, n, xs, PRIM_ADD, core_i64(1));
    b_return(&b, ATOMS(ys));
    StrBuf out = {0};
    core_print(&out, b.p);
    assert_string_equal(out.text, "\nfn f (%0 : [i64]) : ([i64]) = {\n"
                                  "  %1 : i64 = length %0\n"
                                  "  %2 : [i64] = map %1 (%3 : i64 <- %0) {\n"
                                  "    %4 : i64 = add %3, 1\n"
                                  "    -> %4\n"
                                  "  }\n"
                                  "  -> %2\n"
                                  "}\n");
    strbuf_free(&out);
    b_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prim_integers),
        cmocka_unit_test(test_prim_floats),
        cmocka_unit_test(test_prim_convert),
        cmocka_unit_test(test_error_text),
        cmocka_unit_test(test_check_scope),
        cmocka_unit_test(test_check_types),
        cmocka_unit_test(test_eval_map_reduce_scan),
        cmocka_unit_test(test_eval_errors_in_order),
        cmocka_unit_test(test_eval_update_keeps_the_old),
        cmocka_unit_test(test_eval_update_in_loops_is_linear),
        cmocka_unit_test(test_eval_recursion),
        cmocka_unit_test(test_eval_out_of_memory),
        cmocka_unit_test(test_eval_argsort),
        cmocka_unit_test(test_eval_scatter_hist),
        cmocka_unit_test(test_copy_block),
        cmocka_unit_test(test_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
