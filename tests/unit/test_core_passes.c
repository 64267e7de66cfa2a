/* The passes over core: what they make of small programs, and that the programs still mean the same. */
#include "core_builder.h"

#include "compile_text.h"

static void simplify_checked(B *b)
{
    assert_valid(b->p);
    core_simplify(b->p);
    assert_valid(b->p);
}

static void fuse_checked(B *b)
{
    simplify_checked(b);
    core_fuse(b->p);
    assert_valid(b->p);
    core_simplify(b->p);
    assert_valid(b->p);
}

static CoreValue run1(B *b, const CoreFn *fn, const CoreValue *args)
{
    CoreValue results[8];
    EvalError error;
    assert_true(run_fn(b, fn, args, results, &error));
    return results[0];
}

static bool fails_with(B *b, const CoreFn *fn, const CoreValue *args, ErrorKind kind)
{
    CoreValue results[8];
    EvalError error;
    return !run_fn(b, fn, args, results, &error) && error.site != CORE_NO_SITE &&
           b->p->sites.at[error.site].kind == kind;
}

/* ---- simplify ---- */

static void test_fold_identities(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom x = b_param(&b, T_I64), y = b_param(&b, T_I64);
    CoreAtom a = b_prim(&b, PRIM_ADD, x, core_i64(0));
    CoreAtom c = b_prim(&b, PRIM_MUL, core_i64(1), a);
    CoreAtom d = b_prim(&b, PRIM_ADD, b_prim(&b, PRIM_ADD, c, core_i64(3)), core_i64(4)); /* x + 7 */
    CoreAtom e = b_prim(&b, PRIM_SUB, b_prim(&b, PRIM_ADD, d, y), d);                     /* y */
    CoreAtom z = b_prim(&b, PRIM_SUB, y, y);                                              /* 0 */
    b_return(&b, ATOMS(c, d, e, z));
    simplify_checked(&b);
    assert_int_equal(count_kind(fn, CORE_PRIM), 1);
    assert_true(!fn->body->results[0].is_const && fn->body->results[0].var == fn->params[0]);
    assert_true(!fn->body->results[2].is_const && fn->body->results[2].var == fn->params[1]);
    assert_true(fn->body->results[3].is_const && fn->body->results[3].bits == 0);
    CoreStmt *s = fn->body->stmts.at[0];
    assert_int_equal(s->prim.args[1].bits, 7);
    b_close(&b);
}

/* -0 + 0 = 0: no identity. 0 * x = 0 does not hold for nan. */
static void test_fold_floats_exactly(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    CoreAtom x = b_param(&b, T_F64);
    CoreAtom zero = core_const(SC_F64, 0), one = core_const(SC_F64, UINT64_C(0x3ff0000000000000));
    CoreAtom a = b_prim(&b, PRIM_ADD, x, zero), m = b_prim(&b, PRIM_MUL, x, zero), k = b_prim(&b, PRIM_MUL, x, one);
    CoreAtom same = b_prim(&b, PRIM_EQ, x, x);
    b_return(&b, ATOMS(a, m, k, same));
    b_entry(&b, fn);
    simplify_checked(&b);
    assert_int_equal(count_kind(fn, CORE_PRIM), 3);
    assert_int_equal(fn->body->results[2].var, fn->params[0]);
    b_close(&b);
}

static void test_zero_divisor_stays(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    b_prim(&b, PRIM_DIV, core_i64(1), core_i64(0)); /* unused, but DP is strict */
    b_prim(&b, PRIM_DIV, core_i64(7), core_i64(2)); /* cannot fail: goes */
    b_return(&b, ATOMS(core_i64(5)));
    simplify_checked(&b);
    assert_int_equal(count_kind(fn, CORE_PRIM), 1);
    assert_true(fails_with(&b, fn, NULL, ERR_DIVISION));
    b_close(&b);
}

static void test_common_subexpressions(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom xs = b_param(&b, T_SEQ), i = b_param(&b, T_I64);
    CoreAtom x = b_index(&b, xs, i), y = b_index(&b, xs, i); /* the second cannot fail any more */
    CoreAtom n = b_length(&b, xs), m = b_length(&b, xs);
    CoreAtom p = b_prim(&b, PRIM_ADD, x, n), q = b_prim(&b, PRIM_ADD, m, y);
    b_return(&b, ATOMS(b_prim(&b, PRIM_SUB, p, q)));
    simplify_checked(&b);
    assert_int_equal(count_kind(fn, CORE_INDEX), 1);
    assert_int_equal(count_kind(fn, CORE_PRIM), 0);
    assert_true(fn->body->results[0].is_const);
    b_close(&b);
}

/* Written twice, computed once, whatever the variables in it are called; another operator is another reduction. */
static void test_common_reductions(void **state)
{
    (void)state;
    Session *s = session_create();
    CoreProgram *p = compile_text(
        s, "entry main (v: [i64]) : i64 = sum v * v[0] + sum v + reduce (*) 1 v + reduce (*) 2 v + sum (scan (+) 0 v)\n"
           "  + maximum (scan (+) 0 v)\n");
    const CoreFn *fn = p->entries.at[0].fn;
    assert_int_equal(count_kind(fn, CORE_SCAN), 1);
    assert_int_equal(count_kind(fn, CORE_REDUCE), 5);
    session_destroy(s);
}

/* check (eq n m) makes the two lengths one: the second check goes, and so does what guards on it. */
static void test_checks_teach(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom xs = b_param(&b, T_SEQ), ys = b_param(&b, T_SEQ);
    CoreAtom n = b_length(&b, xs), m = b_length(&b, ys);
    b_check(&b, b_prim(&b, PRIM_EQ, n, m), ERR_LENGTHS, ATOMS(n, m));
    b_check(&b, b_prim(&b, PRIM_EQ, m, n), ERR_LENGTHS, ATOMS(n, m));
    b_check(&b, b_prim(&b, PRIM_LE, core_i64(0), n), ERR_NEGATIVE, ATOMS(n));
    b_return(&b, ATOMS(b_prim(&b, PRIM_SUB, n, m)));
    simplify_checked(&b);
    assert_int_equal(count_kind(fn, CORE_CHECK), 1);
    assert_true(fn->body->results[0].is_const);
    assert_true(fails_with(&b, fn, (CoreValue[]){SEQ(&b, 1), SEQ(&b, 1, 2)}, ERR_LENGTHS));
    b_close(&b);
}

/* { xs[i] : i in length xs } needs no bounds checks. */
static void test_bounds_that_hold(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom xs = b_param(&b, T_SEQ);
    CoreAtom n = b_length(&b, xs);
    CoreStmt *s = b_stmt(&b, CORE_MAP, 1, &T_SEQ);
    s->soac = b_soac(&b, n, true, 0, NULL);
    b.b = s->soac.body;
    CoreAtom x = b_index(&b, xs, b_position(&s->soac));
    b_results(&b, s->soac.body, ATOMS(x));
    b.b = fn->body;
    CoreAtom ys = b_push(&b, s);
    b_return(&b, ATOMS(ys, b_length(&b, ys)));
    simplify_checked(&b);
    assert_int_equal(count_kind(fn, CORE_LENGTH), 1);
    const CoreStmt *map = fn->body->stmts.at[1];
    assert_int_equal(map->kind, CORE_MAP);
    assert_int_equal(map->soac.body->stmts.at[0]->site, CORE_NO_SITE);
    b_close(&b);
}

/* How many checks of lengths does the program's only function keep? */
static uint32_t checks_of(const char *program)
{
    Session *s = session_create();
    const CoreProgram *p = compile_text(s, program);
    assert_int_equal(p->fns.n, 1);
    uint32_t n = count_kind(p->fns.at[0], CORE_CHECK);
    session_destroy(s);
    return n;
}

/* What the elaborator asks naively is proved here: lengths that follow from how sequences are made. */
static void test_lengths_that_follow(void **state)
{
    (void)state;
    /* the components of one sequence */
    assert_int_equal(
        checks_of("entry main (ps : [(f64, f64)]) = let (xs, ys) = unzip ps in { x * y : x in xs; y in ys }"), 0);
    /* one that is as long as another, and what one check has shown */
    assert_int_equal(checks_of("entry main (xs : [i64]) (ys : [i64]) = "
                               "let zs = { x + y : x in xs; y in ys } in { z * y + length xs : z in zs; y in ys }"),
                     1);
    assert_int_equal(checks_of("entry main (xs : [i64]) = { x + y : x in sort xs; y in xs }"), 0);
    /* a slice of b - a elements: its bounds are in order once it has been taken */
    assert_int_equal(checks_of("entry main (xs : [i64]) (a : i64) (b : i64) = { x * i : x in xs[a:b]; i in b - a }"),
                     0);
    assert_int_equal(checks_of("entry main (xs : [i64]) (a : i64) (b : i64) = { x * i : x in xs[0:b]; i in b - a }"),
                     1);
}

static CoreStmt *b_if(B *b, CoreAtom cond, CoreType t)
{
    CoreStmt *s = b_stmt(b, CORE_IF, 1, &t);
    s->if_.cond = cond;
    s->if_.then_b = core_new_block(b->p);
    s->if_.else_b = core_new_block(b->p);
    return s;
}

static void test_branches(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom c = b_param(&b, T_BOOL), x = b_param(&b, T_I64);
    CoreStmt *s = b_if(&b, c, T_I64); /* if c then x / 1 + (if c then 1 else 2) else x */
    b.b = s->if_.then_b;
    CoreStmt *inner = b_if(&b, c, T_I64);
    b_results(&b, inner->if_.then_b, ATOMS(core_i64(1)));
    b_results(&b, inner->if_.else_b, ATOMS(core_i64(2)));
    CoreAtom k = b_push(&b, inner);
    b_results(&b, s->if_.then_b, ATOMS(b_prim(&b, PRIM_ADD, b_prim(&b, PRIM_DIV, x, core_i64(1)), k)));
    b_results(&b, s->if_.else_b, ATOMS(x));
    b.b = fn->body;
    b_return(&b, ATOMS(b_push(&b, s)));
    simplify_checked(&b);
    assert_int_equal(count_kind(fn, CORE_IF), 0);
    assert_int_equal(count_kind(fn, CORE_PRIM), 2); /* add, select */
    assert_int_equal(run1(&b, fn, (CoreValue[]){{.type = T_BOOL, .bits = 1}, v_i64(4)}).bits, 5);
    assert_int_equal(run1(&b, fn, (CoreValue[]){{.type = T_BOOL, .bits = 0}, v_i64(4)}).bits, 4);
    b_close(&b);
}

/* if (x op y) then x else y, or the other way round: of integers one primitive, of floats not (nan, zeros of both
 * signs). */
static void test_choice_of_extreme(void **state)
{
    (void)state;
    const struct {
        CorePrim compare;
        bool swapped, is_float;
        CorePrim expected;
    } cases[] = {{PRIM_LT, false, false, PRIM_MIN},
                 {PRIM_LE, true, false, PRIM_MAX},
                 {PRIM_GT, false, false, PRIM_MAX},
                 {PRIM_GE, true, false, PRIM_MIN},
                 {PRIM_LT, false, true, PRIM_COUNT}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        B b = b_open();
        CoreFn *fn = b_fn(&b, "f");
        b_entry(&b, fn);
        CoreType t = cases[i].is_float ? T_F64 : T_I64;
        CoreAtom x = b_param(&b, t), y = b_param(&b, t);
        CoreStmt *s = b_if(&b, b_prim(&b, cases[i].compare, x, y), t);
        b_results(&b, s->if_.then_b, ATOMS(cases[i].swapped ? y : x));
        b_results(&b, s->if_.else_b, ATOMS(cases[i].swapped ? x : y));
        b_return(&b, ATOMS(b_push(&b, s)));
        simplify_checked(&b);
        assert_int_equal(count_kind(fn, CORE_PRIM), cases[i].expected == PRIM_COUNT ? 2 : 1);
        if (cases[i].expected != PRIM_COUNT)
            assert_int_equal(fn->body->stmts.at[0]->prim.op, cases[i].expected);
        b_close(&b);
    }
}

/* What may fail stays behind its condition. */
static void test_guarded_failure_stays(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom x = b_param(&b, T_I64);
    CoreStmt *s = b_if(&b, b_prim(&b, PRIM_NE, x, core_i64(0)), T_I64);
    b.b = s->if_.then_b;
    b_results(&b, s->if_.then_b, ATOMS(b_prim(&b, PRIM_DIV, core_i64(100), x)));
    b_results(&b, s->if_.else_b, ATOMS(core_i64(0)));
    b.b = fn->body;
    b_return(&b, ATOMS(b_push(&b, s)));
    simplify_checked(&b);
    assert_int_equal(count_kind(fn, CORE_IF), 1);
    assert_int_equal(run1(&b, fn, (CoreValue[]){v_i64(0)}).bits, 0);
    assert_int_equal(run1(&b, fn, (CoreValue[]){v_i64(5)}).bits, 20);
    b_close(&b);
}

/* A loop's state that feeds only itself, and one that never changes. */
static void test_loop_state(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom n = b_param(&b, T_I64), step = b_param(&b, T_I64);
    CoreStmt *s = b_stmt(&b, CORE_LOOP, 3, (CoreType[]){T_I64, T_I64, T_I64});
    CoreAtom sum = b_var(&b, T_I64), useless = b_var(&b, T_I64), fixed = b_var(&b, T_I64);
    s->loop.nparams = 3;
    s->loop.params = arena_array(b.p->arena, CoreVar, 3);
    s->loop.params[0] = sum.var;
    s->loop.params[1] = useless.var;
    s->loop.params[2] = fixed.var;
    s->loop.inits = b_atoms(&b, ATOMS(core_i64(0), core_i64(1), step));
    s->loop.index = CORE_NO_VAR;
    s->loop.count = n;
    b.b = s->loop.body = core_new_block(b.p);
    CoreAtom next = b_prim(&b, PRIM_ADD, sum, fixed), more = b_prim(&b, PRIM_MUL, useless, core_i64(3));
    b_results(&b, s->loop.body, ATOMS(next, more, fixed));
    b.b = fn->body;
    CoreAtom total = b_push(&b, s);
    b_return(&b, ATOMS(total));
    simplify_checked(&b);
    assert_int_equal(fn->body->stmts.at[0]->loop.nparams, 1);
    assert_int_equal(count_kind(fn, CORE_PRIM), 1);
    assert_int_equal(run1(&b, fn, (CoreValue[]){v_i64(4), v_i64(5)}).bits, 20);
    b_close(&b);
}

/* A map whose result nobody wants still fails. */
static void test_unused_map_still_fails(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom xs = b_param(&b, T_SEQ);
    CoreAtom n = b_length(&b, xs);
    b_map_op(&b, n, xs, PRIM_ADD, core_i64(1)); /* goes */
    CoreStmt *s = b_stmt(&b, CORE_MAP, 2, (CoreType[]){T_SEQ, T_SEQ});
    s->soac = b_soac(&b, n, true, ATOMS(xs));
    b.b = s->soac.body;
    CoreAtom q = b_prim(&b, PRIM_DIV, core_i64(1), b_element(&b, &s->soac, 0));
    b_results(&b, s->soac.body, ATOMS(q, b_position(&s->soac)));
    b.b = fn->body;
    b_push(&b, s);
    b_return(&b, ATOMS(n));
    simplify_checked(&b);
    assert_int_equal(count_kind(fn, CORE_MAP), 1);
    assert_int_equal(fn->body->stmts.at[1]->nvars, 0);
    assert_int_equal(fn->body->stmts.at[1]->soac.index, CORE_NO_VAR);
    assert_true(fails_with(&b, fn, (CoreValue[]){SEQ(&b, 1, 0)}, ERR_DIVISION));
    assert_int_equal(run1(&b, fn, (CoreValue[]){SEQ(&b, 1, 2)}).bits, 2);
    b_close(&b);
}

/* Operands kept in one array by two statements must not influence each other. */
static void test_shared_operands(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom c = b_param(&b, T_BOOL);
    CoreStmt *s = b_if(&b, c, T_BOOL);
    s->if_.then_b->results = s->if_.else_b->results = b_atoms(&b, ATOMS(c));
    s->if_.then_b->nresults = s->if_.else_b->nresults = 1;
    b_return(&b, ATOMS(b_push(&b, s)));
    simplify_checked(&b);
    assert_int_equal(run1(&b, fn, (CoreValue[]){{.type = T_BOOL, .bits = 0}}).bits, 0);
    assert_int_equal(run1(&b, fn, (CoreValue[]){{.type = T_BOOL, .bits = 1}}).bits, 1);
    b_close(&b);
}

/* ---- functions ---- */

/* rec name n = if n == 0 then base else other (n - 1), or 1 + other (n - 1) */
static CoreFn *countdown(B *b, CoreFn *fn, CoreFn *other, int64_t base, bool tail)
{
    b->fn = fn;
    b->b = fn->body;
    fn->recursive = true;
    CoreAtom n = b_param(b, T_I64);
    CoreStmt *s = b_if(b, b_prim(b, PRIM_EQ, n, core_i64(0)), T_I64);
    b_results(b, s->if_.then_b, ATOMS(core_i64(base)));
    b->b = s->if_.else_b;
    CoreAtom less = b_prim(b, PRIM_SUB, n, core_i64(1));
    CoreStmt *call = b_stmt(b, CORE_CALL, 1, &T_I64);
    call->call.fn = other;
    call->call.nargs = 1;
    call->call.args = b_atoms(b, ATOMS(less));
    CoreAtom r = b_push(b, call);
    b_results(b, s->if_.else_b, ATOMS(tail ? r : b_prim(b, PRIM_ADD, r, core_i64(1))));
    b->b = fn->body;
    b_return(b, ATOMS(b_push(b, s)));
    return fn;
}

static CoreFn *caller(B *b, const char *name, CoreFn *callee)
{
    CoreFn *fn = b_fn(b, name);
    b_entry(b, fn);
    CoreAtom n = b_param(b, T_I64);
    CoreStmt *call = b_stmt(b, CORE_CALL, 1, &T_I64);
    call->call.fn = callee;
    call->call.nargs = 1;
    call->call.args = b_atoms(b, ATOMS(n));
    b_return(b, ATOMS(b_push(b, call)));
    return fn;
}

static void test_tail_loop(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *f = b_fn(&b, "f");
    countdown(&b, f, f, 7, true);
    CoreFn *main_fn = caller(&b, "main", f);
    assert_valid(b.p);
    core_tail_loops(b.p);
    assert_valid(b.p);
    assert_false(f->recursive);
    assert_int_equal(count_kind(f, CORE_CALL), 0);
    assert_int_equal(count_kind(f, CORE_LOOP), 1);
    assert_int_equal(f->body->stmts.at[0]->loop.nparams, 1); /* one return, one call: no more state than before */
    core_inline(b.p);
    simplify_checked(&b);
    assert_int_equal(b.p->fns.n, 1);
    assert_int_equal(run1(&b, main_fn, (CoreValue[]){v_i64(100000)}).bits, 7); /* deeper than calls may be */
    b_close(&b);
}

static void test_no_tail_call_no_loop(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *f = b_fn(&b, "f");
    countdown(&b, f, f, 0, false);
    CoreFn *main_fn = caller(&b, "main", f);
    core_tail_loops(b.p);
    core_inline(b.p);
    simplify_checked(&b);
    assert_true(f->recursive);
    assert_int_equal(b.p->fns.n, 2);
    assert_int_equal(run1(&b, main_fn, (CoreValue[]){v_i64(100)}).bits, 100);
    b_close(&b);
}

/* even and odd, both entries, so that neither dissolves in the other. */
static void test_merge_groups(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *even = b_fn(&b, "even"), *odd = b_fn(&b, "odd");
    countdown(&b, even, odd, 1, true);
    countdown(&b, odd, even, 0, true);
    b_entry(&b, even);
    b_entry(&b, odd);
    assert_valid(b.p);
    core_merge_recursion(b.p);
    assert_valid(b.p);
    assert_int_equal(b.p->fns.n, 3);
    assert_false(even->recursive);
    assert_int_equal(run1(&b, even, (CoreValue[]){v_i64(7)}).bits, 0);
    assert_int_equal(run1(&b, odd, (CoreValue[]){v_i64(7)}).bits, 1);
    core_tail_loops(b.p);
    assert_valid(b.p);
    core_inline(b.p);
    simplify_checked(&b);
    assert_int_equal(b.p->fns.n, 2);
    assert_int_equal(run1(&b, even, (CoreValue[]){v_i64(100001)}).bits, 0);
    assert_int_equal(run1(&b, odd, (CoreValue[]){v_i64(100001)}).bits, 1);
    b_close(&b);
}

static void test_small_members_dissolve(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *even = b_fn(&b, "even"), *odd = b_fn(&b, "odd");
    countdown(&b, even, odd, 1, false);
    countdown(&b, odd, even, 0, false);
    b_entry(&b, even);
    core_merge_recursion(b.p);
    assert_valid(b.p);
    assert_int_equal(b.p->fns.n, 1);
    assert_true(even->recursive);
    assert_int_equal(run1(&b, even, (CoreValue[]){v_i64(6)}).bits, 7);
    b_close(&b);
}

static void test_inline(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *g = b_fn(&b, "g");
    CoreAtom x = b_param(&b, T_I64);
    b_return(&b, ATOMS(b_prim(&b, PRIM_MUL, x, x)));
    CoreFn *unused = caller(&b, "unused", g);
    b.p->entries.n = 0;
    CoreFn *main_fn = caller(&b, "main", g);
    (void)unused;
    core_inline(b.p);
    assert_valid(b.p);
    assert_int_equal(b.p->fns.n, 1);
    assert_int_equal(count_kind(main_fn, CORE_CALL), 0);
    assert_int_equal(run1(&b, main_fn, (CoreValue[]){v_i64(9)}).bits, 81);
    b_close(&b);
}

/* A function's result that no caller uses, and the parameter only it needs. */
static void test_unused_signature(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *g = b_fn(&b, "g");
    CoreAtom x = b_param(&b, T_I64), y = b_param(&b, T_I64);
    b_return(&b, ATOMS(b_prim(&b, PRIM_MUL, x, x), b_prim(&b, PRIM_MUL, y, y)));
    CoreFn *main_fn = b_fn(&b, "main");
    b_entry(&b, main_fn);
    CoreAtom n = b_param(&b, T_I64);
    CoreStmt *call = b_stmt(&b, CORE_CALL, 2, (CoreType[]){T_I64, T_I64});
    call->call.fn = g;
    call->call.nargs = 2;
    call->call.args = b_atoms(&b, ATOMS(n, n));
    b_push(&b, call);
    b_return(&b, ATOMS(b_result(&b, call, 1)));
    simplify_checked(&b);
    assert_int_equal(g->nparams, 1);
    assert_int_equal(g->nresults, 1);
    assert_int_equal(run1(&b, main_fn, (CoreValue[]){v_i64(6)}).bits, 36);
    b_close(&b);
}

/* ---- fusion ---- */

static void test_fuse_chain(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom xs = b_param(&b, T_SEQ);
    CoreAtom n = b_length(&b, xs);
    CoreAtom ys = b_map_op(&b, n, xs, PRIM_MUL, core_i64(3));
    CoreAtom zs = b_map_op(&b, b_length(&b, ys), ys, PRIM_SUB, core_i64(1));
    CoreAtom total = b_fold(&b, CORE_REDUCE, b_length(&b, zs), zs, PRIM_ADD, core_i64(0));
    b_return(&b, ATOMS(total));
    fuse_checked(&b);
    assert_int_equal(count_kind(fn, CORE_MAP), 0);
    assert_int_equal(count_kind(fn, CORE_REDUCE), 1);
    assert_int_equal(fn->body->stmts.n, 2); /* length, reduce */
    assert_int_equal(run1(&b, fn, (CoreValue[]){SEQ(&b, 1, 2, 3)}).bits, 15);
    b_close(&b);
}

/* Used twice and cheap: computed twice, never stored. Used otherwise as well: stored. */
static void test_fuse_copies_what_is_cheap(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom xs = b_param(&b, T_SEQ);
    CoreAtom n = b_length(&b, xs);
    CoreAtom ys = b_map_op(&b, n, xs, PRIM_MUL, core_i64(3));
    CoreAtom kept = b_map_op(&b, n, xs, PRIM_MUL, core_i64(5));
    CoreAtom sum = b_fold(&b, CORE_REDUCE, n, ys, PRIM_ADD, core_i64(0));
    CoreAtom sums = b_fold(&b, CORE_SCAN, n, ys, PRIM_ADD, core_i64(0));
    CoreAtom most = b_fold(&b, CORE_REDUCE, n, kept, PRIM_MAX, core_i64(0));
    b_return(&b, ATOMS(sum, sums, most, kept));
    fuse_checked(&b);
    assert_int_equal(count_kind(fn, CORE_MAP), 1);
    CoreValue results[4];
    EvalError error;
    assert_true(run_fn(&b, fn, (CoreValue[]){SEQ(&b, 1, 2, 3)}, results, &error));
    assert_int_equal(results[0].bits, 18);
    ASSERT_SEQ(results[1], 3, 9, 18);
    assert_int_equal(results[2].bits, 15);
    ASSERT_SEQ(results[3], 5, 10, 15);
    b_close(&b);
}

/* iota is an index function: never stored for a consumer, inner blocks included. */
static void test_fuse_iota(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom n = b_param(&b, T_I64);
    CoreAtom is = b_iota(&b, n);
    CoreStmt *s = b_stmt(&b, CORE_MAP, 1, &T_SEQ);
    s->soac = b_soac(&b, n, false, ATOMS(is));
    b.b = s->soac.body;
    CoreAtom inner = b_fold(&b, CORE_REDUCE, n, is, PRIM_ADD, b_element(&b, &s->soac, 0));
    b_results(&b, s->soac.body, ATOMS(b_prim(&b, PRIM_ADD, inner, b_index(&b, is, core_i64(1)))));
    b.b = fn->body;
    b_return(&b, ATOMS(b_push(&b, s)));
    fuse_checked(&b);
    assert_int_equal(count_kind(fn, CORE_MAP), 1);
    assert_int_equal(count_kind(fn, CORE_INDEX), 0);
    ASSERT_SEQ(run1(&b, fn, (CoreValue[]){v_i64(3)}), 4, 5, 6);
    assert_true(fails_with(&b, fn, (CoreValue[]){v_i64(1)}, ERR_INDEX));
    b_close(&b);
}

/* xs filtered by x % 2 == 1, through `map`: { x op c : x in xs | odd x } */
static CoreAtom odd_only(B *b, CoreAtom n, CoreAtom xs, CorePrim op, CoreAtom c)
{
    CoreStmt *s = b_stmt(b, CORE_MAP, 1, &T_SEQ);
    s->soac = b_soac(b, n, false, ATOMS(xs));
    CoreBlock *outer = b->b;
    CoreAtom x = b_element(b, &s->soac, 0);
    b->b = s->soac.guard = core_new_block(b->p);
    b_results(b, b->b, ATOMS(b_prim(b, PRIM_EQ, b_prim(b, PRIM_AND, x, core_i64(1)), core_i64(1))));
    b->b = s->soac.body;
    b_results(b, b->b, ATOMS(b_prim(b, op, x, c)));
    b->b = outer;
    return b_push(b, s);
}

/* A producer that may fail runs for every element: not under the guard. */
static void test_fuse_into_guard(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom xs = b_param(&b, T_SEQ), d = b_param(&b, T_I64);
    CoreAtom n = b_length(&b, xs);
    CoreAtom doubled = b_map_op(&b, n, xs, PRIM_ADD, core_i64(2)); /* cheap: in guard and body */
    CoreAtom odds = odd_only(&b, n, doubled, PRIM_MUL, core_i64(10));
    CoreAtom quotients = b_map_op(&b, n, xs, PRIM_DIV, d); /* may fail: stays outside */
    CoreAtom more = odd_only(&b, n, quotients, PRIM_MUL, core_i64(10));
    b_return(&b, ATOMS(odds, more));
    fuse_checked(&b);
    assert_int_equal(count_kind(fn, CORE_MAP), 3);
    CoreValue results[2];
    EvalError error;
    assert_true(run_fn(&b, fn, (CoreValue[]){SEQ(&b, 1, 2, 3), v_i64(1)}, results, &error));
    ASSERT_SEQ(results[0], 30, 50);
    ASSERT_SEQ(results[1], 10, 30);
    assert_true(fails_with(&b, fn, (CoreValue[]){SEQ(&b, 2), v_i64(0)}, ERR_DIVISION));
    b_close(&b);
}

static void test_fuse_filter(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom xs = b_param(&b, T_SEQ);
    CoreAtom n = b_length(&b, xs);
    CoreAtom odds = odd_only(&b, n, xs, PRIM_MUL, core_i64(10));
    CoreAtom m = b_length(&b, odds);
    CoreAtom more = b_map_op(&b, m, odds, PRIM_ADD, core_i64(1));
    CoreAtom sum = b_fold(&b, CORE_REDUCE, m, more, PRIM_ADD, core_i64(0)); /* all one reduce */
    CoreAtom others = odd_only(&b, n, xs, PRIM_SUB, core_i64(1));
    CoreAtom k = b_length(&b, others);
    CoreAtom kept = b_map_op(&b, k, others, PRIM_MUL, core_i64(2));            /* one map with a guard */
    CoreAtom count = b_length(&b, odd_only(&b, n, xs, PRIM_ADD, core_i64(2))); /* a count */
    b_return(&b, ATOMS(sum, kept, b_length(&b, kept), count));
    fuse_checked(&b);
    assert_int_equal(count_kind(fn, CORE_MAP), 1);
    assert_int_equal(count_kind(fn, CORE_REDUCE), 1); /* sum and count */
    CoreValue results[4];
    EvalError error;
    assert_true(run_fn(&b, fn, (CoreValue[]){SEQ(&b, 1, 2, 3, 5)}, results, &error));
    assert_int_equal(results[0].bits, 93);
    ASSERT_SEQ(results[1], 0, 4, 8);
    assert_int_equal(results[2].bits, 3);
    assert_int_equal(results[3].bits, 3);
    b_close(&b);
}

/* ys[j] where ys is a cheap map that only indices read: computed there, with the bounds check. */
static void test_fuse_index(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom xs = b_param(&b, T_SEQ), j = b_param(&b, T_I64);
    CoreAtom ys = b_map_op(&b, b_length(&b, xs), xs, PRIM_MUL, core_i64(2));
    b_return(&b, ATOMS(b_index(&b, ys, j)));
    fuse_checked(&b);
    assert_int_equal(count_kind(fn, CORE_MAP), 0);
    assert_int_equal(run1(&b, fn, (CoreValue[]){SEQ(&b, 4, 5), v_i64(1)}).bits, 10);
    assert_true(fails_with(&b, fn, (CoreValue[]){SEQ(&b, 4, 5), v_i64(2)}, ERR_INDEX));
    assert_true(fails_with(&b, fn, (CoreValue[]){SEQ(&b, 4, 5), v_i64(-1)}, ERR_INDEX));
    b_close(&b);
}

/* ---- invariant code, merged branches, sideways ---- */

/* Scalars of the function's level leave all parallel bodies; those of a row stay in the inner one. */
static void test_hoist(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom xs = b_param(&b, T_SEQ), k = b_param(&b, T_I64);
    CoreStmt *outer = b_stmt(&b, CORE_MAP, 1, &T_SEQ2);
    outer->soac = b_soac(&b, b_length(&b, xs), false, ATOMS(xs));
    b.b = outer->soac.body;
    CoreStmt *inner = b_stmt(&b, CORE_MAP, 1, &T_SEQ);
    inner->soac = b_soac(&b, b_length(&b, xs), false, ATOMS(xs));
    b.b = inner->soac.body;
    CoreAtom square = b_prim(&b, PRIM_MUL, k, k);
    CoreAtom of_row = b_prim(&b, PRIM_MUL, b_element(&b, &outer->soac, 0), square);
    CoreAtom y = b_prim(&b, PRIM_ADD, of_row, b_element(&b, &inner->soac, 0));
    b_results(&b, inner->soac.body, ATOMS(y));
    b.b = outer->soac.body;
    CoreAtom row = b_push(&b, inner);
    b_results(&b, outer->soac.body, ATOMS(row));
    b.b = fn->body;
    CoreAtom rows = b_push(&b, outer);
    b_return(&b, ATOMS(rows));
    simplify_checked(&b);
    assert_int_equal(fn->body->stmts.n, 3); /* length, mul, map */
    const CoreStmt *map = fn->body->stmts.at[2];
    assert_int_equal(map->soac.body->stmts.n, 1);
    assert_int_equal(map->soac.body->stmts.at[0]->soac.body->stmts.n, 2);
    CoreValue v = run1(&b, fn, (CoreValue[]){SEQ(&b, 1, 2), v_i64(3)});
    ASSERT_SEQ(v.items[1], 19, 20);
    b_close(&b);
}

/* Two ifs on one condition become one, and the second sees what the first gives in its branch. */
static void test_merge_ifs(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom xs = b_param(&b, T_SEQ), c = b_param(&b, T_BOOL);
    CoreStmt *first = b_if(&b, c, T_I64);
    b.b = first->if_.then_b;
    CoreAtom x = b_index(&b, xs, core_i64(0));
    b_results(&b, first->if_.then_b, ATOMS(x));
    b_results(&b, first->if_.else_b, ATOMS(core_i64(5)));
    b.b = fn->body;
    CoreAtom one = b_push(&b, first);
    CoreStmt *second = b_if(&b, c, T_I64);
    b.b = second->if_.then_b;
    CoreAtom again = b_index(&b, xs, core_i64(0));
    b_results(&b, second->if_.then_b, ATOMS(b_prim(&b, PRIM_ADD, again, one)));
    b.b = second->if_.else_b;
    b_results(&b, second->if_.else_b, ATOMS(b_prim(&b, PRIM_MUL, one, core_i64(2))));
    b.b = fn->body;
    CoreAtom two = b_push(&b, second);
    b_return(&b, ATOMS(two, one));
    simplify_checked(&b);
    assert_int_equal(count_kind(fn, CORE_IF), 1);
    assert_int_equal(count_kind(fn, CORE_INDEX), 1);
    assert_int_equal(count_kind(fn, CORE_PRIM), 1); /* 5 * 2 is known */
    assert_int_equal(run1(&b, fn, (CoreValue[]){SEQ(&b, 4), {.type = T_BOOL, .bits = 1}}).bits, 8);
    assert_int_equal(run1(&b, fn, (CoreValue[]){SEQ(&b, 4), {.type = T_BOOL, .bits = 0}}).bits, 10);
    b_close(&b);
}

static void test_fuse_horizontal(void **state)
{
    (void)state;
    B b = b_open();
    CoreFn *fn = b_fn(&b, "f");
    b_entry(&b, fn);
    CoreAtom xs = b_param(&b, T_SEQ), ys = b_param(&b, T_SEQ);
    CoreAtom n = b_length(&b, xs);
    CoreAtom sum = b_fold(&b, CORE_REDUCE, n, xs, PRIM_ADD, core_i64(0));
    CoreAtom first = b_index(&b, ys, core_i64(0));
    CoreAtom most = b_fold(&b, CORE_REDUCE, n, xs, PRIM_MAX, first); /* its neutral element comes too late */
    CoreAtom least = b_fold(&b, CORE_REDUCE, n, xs, PRIM_MIN, core_i64(100));
    CoreAtom up = b_map_op(&b, n, xs, PRIM_ADD, core_i64(1)), down = b_map_op(&b, n, xs, PRIM_SUB, core_i64(1));
    b_return(&b, ATOMS(sum, most, least, up, down));
    fuse_checked(&b);
    assert_int_equal(count_kind(fn, CORE_REDUCE), 2);
    assert_int_equal(count_kind(fn, CORE_MAP), 1);
    CoreValue results[5];
    EvalError error;
    assert_true(run_fn(&b, fn, (CoreValue[]){SEQ(&b, 3, 1, 2), SEQ(&b, -9)}, results, &error));
    assert_int_equal(results[0].bits, 6);
    assert_int_equal(results[1].bits, 3);
    assert_int_equal(results[2].bits, 1);
    ASSERT_SEQ(results[3], 4, 2, 3);
    ASSERT_SEQ(results[4], 2, 0, 1);
    b_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fold_identities),
        cmocka_unit_test(test_fold_floats_exactly),
        cmocka_unit_test(test_zero_divisor_stays),
        cmocka_unit_test(test_common_subexpressions),
        cmocka_unit_test(test_common_reductions),
        cmocka_unit_test(test_checks_teach),
        cmocka_unit_test(test_bounds_that_hold),
        cmocka_unit_test(test_lengths_that_follow),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_choice_of_extreme),
        cmocka_unit_test(test_guarded_failure_stays),
        cmocka_unit_test(test_loop_state),
        cmocka_unit_test(test_unused_map_still_fails),
        cmocka_unit_test(test_shared_operands),
        cmocka_unit_test(test_tail_loop),
        cmocka_unit_test(test_no_tail_call_no_loop),
        cmocka_unit_test(test_merge_groups),
        cmocka_unit_test(test_small_members_dissolve),
        cmocka_unit_test(test_inline),
        cmocka_unit_test(test_unused_signature),
        cmocka_unit_test(test_fuse_chain),
        cmocka_unit_test(test_fuse_copies_what_is_cheap),
        cmocka_unit_test(test_fuse_iota),
        cmocka_unit_test(test_fuse_into_guard),
        cmocka_unit_test(test_fuse_filter),
        cmocka_unit_test(test_fuse_index),
        cmocka_unit_test(test_hoist),
        cmocka_unit_test(test_merge_ifs),
        cmocka_unit_test(test_fuse_horizontal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
