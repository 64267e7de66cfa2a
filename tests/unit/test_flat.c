/* The flat checker, liveness, and the flat interpreter, on programs built by hand. */
#include "flat_builder.h"

/* ---- segmented operations ---- */

/* { sum row : row in rows } */
static F row_sums(void)
{
    F f = f_open();
    FlatVar rows = f_param(&f, T_SEQ2);
    FlatVar c1 = f_nested(&f, FLAT_ROOT, rows);
    FlatVar row = f_elems(&f, c1, rows);
    FlatVar c2 = f_nested(&f, c1, row);
    FlatVar out = f_views(&f, c1, f_sum(&f, c2, row));
    f_results(&f, f.fn->body, VARS(out));
    return f;
}

static void check_row_sums(uint32_t n, const uint32_t *lens)
{
    F f = row_sums();
    CoreValue arg = v_rows(&f.b, n, lens), result;
    f_run(&f, &arg, &result);
    assert_int_equal(result.n, n);
    int64_t next = 1;
    for (uint32_t i = 0; i < n; i++) {
        int64_t sum = 0;
        for (uint32_t j = 0; j < lens[i]; j++)
            sum += next++;
        assert_int_equal((int64_t)result.scalars[i], sum);
    }
    f_close(&f);
}
#define CHECK_ROW_SUMS(...) check_row_sums(sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

static void test_reduce_segments(void **state)
{
    (void)state;
    CHECK_ROW_SUMS(3, 2, 1);
    CHECK_ROW_SUMS(0, 2, 1);       /* empty first */
    CHECK_ROW_SUMS(3, 0, 0, 1);    /* middle */
    CHECK_ROW_SUMS(3, 2, 0);       /* last */
    CHECK_ROW_SUMS(0, 0, 0);       /* all */
    CHECK_ROW_SUMS(0, 5000, 1, 0); /* one giant */
    check_row_sums(0, NULL);       /* none */
    uint32_t tiny[1000];
    for (uint32_t i = 0; i < 1000; i++)
        tiny[i] = i % 3;
    check_row_sums(1000, tiny);
}

/* The views of a map's results lie one behind the other, so nothing moves. */
static void test_contiguous_is_alias(void **state)
{
    (void)state;
    F f = row_sums();
    CoreValue arg = ROWS(&f.b, 3, 0, 4), result;
    assert_int_equal(f_run(&f, &arg, &result).moved, 0);
    ASSERT_SEQ(result, 6, 0, 22);
    f_close(&f);
}

/* reduce (\(a, b) (c, d) -> (a * c, a * d + b)): not commutative; k = 2, the operator reads a variable of the row. */
static void test_reduce_noncommutative(void **state)
{
    (void)state;
    F f = f_open();
    FlatVar rows = f_param(&f, T_SEQ2);
    FlatVar c1 = f_nested(&f, FLAT_ROOT, rows);
    FlatVar row = f_elems(&f, c1, rows);
    FlatVar c2 = f_nested(&f, c1, row);
    Body x = f_begin(&f, c2);
    CoreAtom e = f_elem(&f, &x, row, c2), p = f_pos(&f, &x, c1);
    CoreAtom two = core_i64(2), shifted = b_prim(&f.b, PRIM_ADD, e, p);
    FlatBody body = f_end(&f, &x, ATOMS(two, shifted));
    FlatOp op = {.k = 2, .neutral = b_atoms(&f.b, ATOMS(core_i64(1), core_i64(0)))};
    op.op = (CoreLambda){.nparams = 4, .params = arena_array(f.p->arena, CoreVar, 4), .body = core_new_block(f.b.p)};
    CoreAtom v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = b_var(&f.b, T_I64);
        op.op.params[i] = v[i].var;
    }
    CoreBlock *outer = f.b.b;
    f.b.b = op.op.body;
    CoreAtom a = b_prim(&f.b, PRIM_MUL, v[0], v[2]);
    CoreAtom b = b_prim(&f.b, PRIM_ADD, b_prim(&f.b, PRIM_MUL, v[2], v[1]), v[3]); /* Horner */
    b_results(&f.b, op.op.body, ATOMS(a, b));
    f.b.b = outer;
    FlatVar outs[2] = {f_in(&f, T_I64, c1), f_in(&f, T_I64, c1)};
    FlatStmt *s = f_stmt(&f, FLAT_S_REDUCE, 2, outs);
    s->body = body;
    s->reduce.op = op;
    FlatVar r0 = f_views(&f, c1, outs[0]), r1 = f_views(&f, c1, outs[1]);
    f_results(&f, f.fn->body, VARS(r0, r1));
    CoreValue arg = ROWS(&f.b, 3, 0, 2), results[2];
    f_run(&f, &arg, results);
    ASSERT_SEQ(results[0], 8, 1, 4);
    ASSERT_SEQ(results[1], 1 * 4 + 2 * 2 + 3, 0, 6 * 2 + 7);
    f_close(&f);
}

static void run_scan(bool exclusive, CoreValue *result, B *keep)
{
    F f = f_open();
    FlatVar rows = f_param(&f, T_SEQ2);
    FlatVar c1 = f_nested(&f, FLAT_ROOT, rows);
    FlatVar row = f_elems(&f, c1, rows);
    FlatVar c2 = f_nested(&f, c1, row);
    Body x = f_begin(&f, c2);
    CoreAtom e = f_elem(&f, &x, row, c2);
    FlatVar sums = f_scan(&f, f_end(&f, &x, ATOMS(e)), f_op(&f, PRIM_ADD, T_I64, core_i64(0)), exclusive);
    FlatVar out = f_views(&f, c1, f_views(&f, c2, sums));
    f_results(&f, f.fn->body, VARS(out));
    CoreValue arg = ROWS(&f.b, 0, 3, 0, 2);
    f_run(&f, &arg, result);
    *keep = f.b;
}

static void test_scan(void **state)
{
    (void)state;
    CoreValue r;
    B keep;
    run_scan(false, &r, &keep);
    assert_int_equal(r.n, 4);
    assert_int_equal(r.items[0].n, 0);
    ASSERT_SEQ(r.items[1], 1, 3, 6);
    ASSERT_SEQ(r.items[3], 4, 9);
    b_close(&keep);
    run_scan(true, &r, &keep);
    ASSERT_SEQ(r.items[1], 0, 1, 3);
    ASSERT_SEQ(r.items[3], 0, 4);
    b_close(&keep);
}

/* { { x : x in row | x > t } : row in rows } */
static void test_pack_views(void **state)
{
    (void)state;
    for (int64_t t = 0; t <= 9; t += 3) { /* 0: all remain; 9: none */
        F f = f_open();
        FlatVar rows = f_param(&f, T_SEQ2);
        FlatVar c1 = f_nested(&f, FLAT_ROOT, rows);
        FlatVar row = f_elems(&f, c1, rows);
        FlatVar c2 = f_nested(&f, c1, row);
        Body x = f_begin(&f, c2);
        CoreAtom e = f_elem(&f, &x, row, c2);
        FlatVar c3 = f_pack(&f, f_end(&f, &x, ATOMS(b_prim(&f.b, PRIM_GT, e, core_i64(t)))));
        Body y = f_begin(&f, c3);
        CoreAtom e2 = f_elem(&f, &y, row, c2);
        FlatVar kept = f_map(&f, f_end(&f, &y, ATOMS(e2)));
        FlatVar out = f_views(&f, c1, f_views(&f, c3, kept));
        f_results(&f, f.fn->body, VARS(out));
        CoreValue arg = ROWS(&f.b, 2, 0, 4), r;
        f_run(&f, &arg, &r);
        assert_int_equal(r.n, 3);
        int64_t next = 1;
        for (uint32_t i = 0; i < 3; i++) {
            uint64_t k = 0;
            for (uint64_t j = 0; j < arg.items[i].n; j++, next++)
                if (next > t)
                    assert_int_equal((int64_t)r.items[i].scalars[k++], next);
            assert_int_equal(r.items[i].n, k);
        }
        f_close(&f);
    }
}

/* ---- branches ---- */

/* { if x > t then x * 10 else -x : x in xs }; with counts */
static FlatCounts run_branches(int64_t t, int64_t expected[4])
{
    F f = f_open();
    FlatVar xs = f_param(&f, T_SEQ);
    FlatVar c = f_nested(&f, FLAT_ROOT, xs);
    FlatVar x = f_elems(&f, c, xs);
    Body b = f_begin(&f, c);
    CoreAtom v = f_col(&f, &b, x);
    FlatVar cond = f_map(&f, f_end(&f, &b, ATOMS(b_prim(&f.b, PRIM_GT, v, core_i64(t)))));
    FlatVar parts[2], cols[2];
    f_split(&f, c, cond, parts);
    for (int i = 0; i < 2; i++) {
        b = f_begin(&f, parts[i]);
        v = f_col(&f, &b, x);
        cols[i] = f_map(&f, f_end(&f, &b, ATOMS(b_prim(&f.b, PRIM_MUL, v, core_i64(i ? -1 : 10)))));
    }
    FlatVar out = f_views(&f, c, f_merge(&f, c, 2, parts, cols));
    f_results(&f, f.fn->body, VARS(out));
    CoreValue arg = SEQ(&f.b, 3, 1, 4, 2), r;
    FlatCounts counts = f_run(&f, &arg, &r);
    assert_seq(r, 4, expected);
    f_close(&f);
    return counts;
}

static void test_split_merge(void **state)
{
    (void)state;
    FlatCounts mixed = run_branches(2, (int64_t[]){30, -1, 40, -2});
    FlatCounts all = run_branches(0, (int64_t[]){30, 10, 40, 20});
    FlatCounts none = run_branches(9, (int64_t[]){-3, -1, -4, -2});
    assert_int_equal(mixed.moved, 4);
    assert_int_equal(all.moved + none.moved, 0);
    assert_true(all.launches < mixed.launches);
}

/* ---- views ---- */

/* { { x : x in row[1:] } : row in rows }: the sliced rows are not contiguous, so their elements are gathered. */
static void test_elems_of_slices(void **state)
{
    (void)state;
    F f = f_open();
    FlatVar rows = f_param(&f, T_SEQ2);
    FlatVar c1 = f_nested(&f, FLAT_ROOT, rows);
    FlatVar row = f_elems(&f, c1, rows);
    Body b = f_begin(&f, c1);
    CoreAtom v = f_col(&f, &b, row), n = b_length(&f.b, v);
    CoreStmt *slice = b_stmt(&f.b, CORE_SLICE, 1, &T_SEQ);
    slice->slice.array = v;
    slice->slice.from = core_i64(1);
    slice->slice.to = n;
    slice->site = core_new_site(f.b.p, ERR_SLICE, no_span, NULL);
    FlatVar rest = f_map(&f, f_end(&f, &b, ATOMS(b_push(&f.b, slice))));
    FlatVar c2 = f_nested(&f, c1, rest);
    FlatVar out = f_views(&f, c1, f_views(&f, c2, f_elems(&f, c2, rest)));
    f_results(&f, f.fn->body, VARS(out));
    CoreValue arg = ROWS(&f.b, 3, 1, 2), r;
    assert_int_equal(f_run(&f, &arg, &r).moved, 3);
    ASSERT_SEQ(r.items[0], 2, 3);
    assert_int_equal(r.items[1].n, 0);
    ASSERT_SEQ(r.items[2], 6);
    CoreValue bad = ROWS(&f.b, 3, 0, 2); /* [1:0] */
    EvalError error = {0};
    assert_false(f_try(&f, &bad, &r, &error, NULL));
    assert_int_equal(f.b.p->sites.at[error.site].kind, ERR_SLICE);
    assert_int_equal(error.values[0], 1);
    assert_int_equal(error.values[2], 0);
    f_close(&f);
}

/* flatten rows, where the rows are as read (contiguous), and permuted (copied) */
static void test_flatten(void **state)
{
    (void)state;
    F f = f_open();
    FlatVar rows = f_param(&f, T_SEQ2);
    FlatVar flat = f_arrays(&f, FLAT_S_FLATTEN, FLAT_ROOT, T_SEQ, FLAT_ROOT, VARS(rows));
    FlatVar c = f_nested(&f, FLAT_ROOT, rows);
    Body b = f_begin(&f, c);
    CoreAtom all = f_host(&f, &b, rows), i = f_pos(&f, &b, c), n = b_length(&f.b, all);
    CoreAtom j = b_prim(&f.b, PRIM_SUB, b_prim(&f.b, PRIM_SUB, n, i), core_i64(1));
    FlatVar turned = f_views(&f, c, f_map(&f, f_end(&f, &b, ATOMS(b_index(&f.b, all, j)))));
    FlatVar flat2 = f_arrays(&f, FLAT_S_FLATTEN, FLAT_ROOT, T_SEQ, FLAT_ROOT, VARS(turned));
    f_results(&f, f.fn->body, VARS(flat, flat2));
    CoreValue arg = ROWS(&f.b, 2, 0, 3), r[2];
    assert_int_equal(f_run(&f, &arg, r).moved, 5);
    ASSERT_SEQ(r[0], 1, 2, 3, 4, 5);
    ASSERT_SEQ(r[1], 3, 4, 5, 1, 2);
    f_close(&f);
}

/* { flatten x : x in xsss }: in a context, contiguous rows */
static void test_flatten_in_context(void **state)
{
    (void)state;
    F f = f_open();
    CoreType seq3 = {SC_I64, 3};
    FlatVar xs = f_param(&f, seq3);
    FlatVar c = f_nested(&f, FLAT_ROOT, xs);
    FlatVar x = f_elems(&f, c, xs);
    FlatVar out = f_views(&f, c, f_arrays(&f, FLAT_S_FLATTEN, c, T_SEQ, c, VARS(x)));
    f_results(&f, f.fn->body, VARS(out));
    CoreValue arg = {.type = seq3, .n = 3, .items = arena_array(f.p->arena, CoreValue, 3)}, r;
    arg.items[0] = ROWS(&f.b, 1, 2);
    arg.items[1] = v_rows(&f.b, 0, NULL);
    arg.items[2] = ROWS(&f.b, 0, 3);
    assert_int_equal(f_run(&f, &arg, &r).moved, 0);
    ASSERT_SEQ(r.items[0], 1, 2, 3);
    assert_int_equal(r.items[1].n, 0);
    ASSERT_SEQ(r.items[2], 1, 2, 3);
    f_close(&f);
}

static void test_argsort(void **state)
{
    (void)state;
    F f = f_open();
    FlatVar xs = f_param(&f, T_SEQ), ys = f_param(&f, T_SEQ), rows = f_param(&f, T_SEQ2);
    FlatVar perm = f_arrays(&f, FLAT_S_ARGSORT, FLAT_ROOT, T_SEQ, FLAT_ROOT, VARS(xs, ys));
    FlatVar c = f_nested(&f, FLAT_ROOT, rows);
    FlatVar row = f_elems(&f, c, rows);
    FlatVar perms = f_views(&f, c, f_arrays(&f, FLAT_S_ARGSORT, c, T_SEQ, c, VARS(row)));
    f_results(&f, f.fn->body, VARS(perm, perms));
    CoreValue args[3] = {SEQ(&f.b, 2, 1, 2, 1, 2), SEQ(&f.b, 5, 7, 5, 3, 4), ROWS(&f.b, 3, 0, 2)}, r[2];
    args[2].items[0].scalars[0] = 100;
    f_run(&f, args, r);
    ASSERT_SEQ(r[0], 3, 1, 4, 0, 2);
    ASSERT_SEQ(r[1].items[0], 1, 2, 0);
    assert_int_equal(r[1].items[1].n, 0);
    ASSERT_SEQ(r[1].items[2], 0, 1);
    f_close(&f);
}

/* A histogram per row: bin x mod 3 of as many bins as the row is long; out of range ignored. */
static void test_hist(void **state)
{
    (void)state;
    F f = f_open();
    FlatVar rows = f_param(&f, T_SEQ2);
    FlatVar c1 = f_nested(&f, FLAT_ROOT, rows);
    FlatVar row = f_elems(&f, c1, rows);
    Body b = f_begin(&f, c1);
    CoreAtom v = f_col(&f, &b, row);
    FlatVar size = f_map(&f, f_end(&f, &b, ATOMS(b_length(&f.b, v))));
    FlatVar c2 = f_nested(&f, c1, row);
    b = f_begin(&f, c2);
    v = f_elem(&f, &b, row, c2);
    CoreAtom bin = b_prim(&f.b, PRIM_SUB, b_prim(&f.b, PRIM_MOD, v, core_i64(4)), core_i64(1)), one = core_i64(1);
    FlatVar h = f_hist(&f, size, f_end(&f, &b, ATOMS(bin, one)), f_op(&f, PRIM_ADD, T_I64, core_i64(0)));
    FlatVar out = f_views(&f, c1, h);
    f_results(&f, f.fn->body, VARS(out));
    CoreValue arg = ROWS(&f.b, 4, 0, 2), r;
    f_run(&f, &arg, &r);
    ASSERT_SEQ(r.items[0], 1, 1, 1, 0); /* 1 2 3 4: bins 0 1 2 -1 */
    assert_int_equal(r.items[1].n, 0);
    ASSERT_SEQ(r.items[2], 1, 1); /* 5 6: bins 0 1 */
    f_close(&f);
}

/* scatter at depth 0: in place when the destination dies and is held by nothing else, a copy otherwise. */
static FlatCounts run_scatter(bool keep, bool reads)
{
    F f = f_open();
    FlatVar xs = f_param(&f, T_SEQ);
    FlatVar c = f_nested(&f, FLAT_ROOT, xs);
    Body b = f_begin(&f, c);
    CoreAtom p = f_pos(&f, &b, c);
    CoreAtom at = b_prim(&f.b, PRIM_SUB, core_i64(3), p), value = p;
    if (reads)
        value = b_index(&f.b, f_host(&f, &b, xs), p);
    FlatVar out = f_scatter(&f, xs, f_end(&f, &b, ATOMS(at, value)));
    if (keep)
        f_results(&f, f.fn->body, VARS(out, xs));
    else
        f_results(&f, f.fn->body, VARS(out));
    CoreValue arg = SEQ(&f.b, 10, 11, 12, 13, 14), r[2];
    FlatCounts counts = f_run(&f, &arg, r);
    if (reads)
        ASSERT_SEQ(r[0], 13, 12, 11, 10, 14);
    else
        ASSERT_SEQ(r[0], 3, 2, 1, 0, 14);
    if (keep)
        ASSERT_SEQ(r[1], 10, 11, 12, 13, 14);
    f_close(&f);
    return counts;
}

static void test_scatter(void **state)
{
    (void)state;
    assert_int_equal(run_scatter(false, false).moved, 4);
    assert_int_equal(run_scatter(true, false).moved, 9);
    assert_int_equal(run_scatter(false, true).moved, 9);
}

/* { [x, x + 1] : x in xs }, then each with [i] = 0 */
static void test_array_and_update(void **state)
{
    (void)state;
    F f = f_open();
    FlatVar xs = f_param(&f, T_SEQ);
    FlatVar c = f_nested(&f, FLAT_ROOT, xs);
    Body b = f_begin(&f, c);
    CoreAtom v = f_elem(&f, &b, xs, c);
    FlatVar pair = f_array(&f, T_SEQ, f_end(&f, &b, ATOMS(v, b_prim(&f.b, PRIM_ADD, v, core_i64(1)))));
    b = f_begin(&f, c);
    v = f_pos(&f, &b, c);
    FlatVar i = f_map(&f, f_end(&f, &b, ATOMS(v)));
    b = f_begin(&f, c);
    FlatVar zero = f_map(&f, f_end(&f, &b, ATOMS(core_i64(0))));
    FlatVar out = f_views(&f, c, f_update(&f, c, pair, i, zero));
    f_results(&f, f.fn->body, VARS(out));
    CoreValue arg = SEQ(&f.b, 7, 8, 9), r; /* index 2 is out of range: unchanged */
    f_run(&f, &arg, &r);
    ASSERT_SEQ(r.items[0], 0, 8);
    ASSERT_SEQ(r.items[1], 8, 0);
    ASSERT_SEQ(r.items[2], 9, 10);
    f_close(&f);
}

/* ---- host control ---- */

/* loop ys = xs for i < n do ys with [i] = i: one copy (the first round), then in place. */
static void test_host_loop_in_place(void **state)
{
    (void)state;
    F f = f_open();
    FlatVar xs = f_param(&f, T_SEQ);
    FlatVar n = f_const(&f, 4);
    FlatVar ys = f_in(&f, T_SEQ, FLAT_ROOT), i = f_in(&f, T_I64, FLAT_ROOT), out = f_in(&f, T_SEQ, FLAT_ROOT);
    FlatStmt *loop = f_stmt(&f, FLAT_S_LOOP, VARS(out));
    loop->loop.params = f_vars(&f, VARS(ys));
    loop->loop.inits = f_vars(&f, VARS(xs));
    loop->loop.nparams = 1;
    loop->loop.index = i;
    loop->loop.count = n;
    loop->loop.body = f.at = f_block(&f);
    FlatVar next = f_update(&f, FLAT_ROOT, ys, i, i);
    f_results(&f, f.at, VARS(next));
    f.at = f.fn->body;
    f_results(&f, f.at, VARS(out, xs));
    CoreValue arg = SEQ(&f.b, 9, 9, 9, 9, 9), r[2];
    FlatCounts counts = f_run(&f, &arg, r);
    ASSERT_SEQ(r[0], 0, 1, 2, 3, 9);
    ASSERT_SEQ(r[1], 9, 9, 9, 9, 9);
    assert_int_equal(counts.moved, 5);
    f_close(&f);
}

/* loop ys = xs for i < 120 do { y + 1 : y in ys }: what earlier rounds stored is collected. */
static void test_dead_blocks_are_collected(void **state)
{
    (void)state;
    enum { N = 100000, ROUNDS = 120 };
    F f = f_open();
    FlatVar xs = f_param(&f, T_SEQ);
    FlatVar n = f_const(&f, ROUNDS);
    FlatVar ys = f_in(&f, T_SEQ, FLAT_ROOT), i = f_in(&f, T_I64, FLAT_ROOT), out = f_in(&f, T_SEQ, FLAT_ROOT);
    FlatStmt *loop = f_stmt(&f, FLAT_S_LOOP, VARS(out));
    loop->loop.params = f_vars(&f, VARS(ys));
    loop->loop.inits = f_vars(&f, VARS(xs));
    loop->loop.nparams = 1;
    loop->loop.index = i;
    loop->loop.count = n;
    loop->loop.body = f.at = f_block(&f);
    FlatVar c = f_nested(&f, FLAT_ROOT, ys);
    Body b = f_begin(&f, c);
    CoreAtom y = f_elem(&f, &b, ys, c);
    FlatVar next = f_views(&f, c, f_map(&f, f_end(&f, &b, ATOMS(b_prim(&f.b, PRIM_ADD, y, core_i64(1))))));
    f_results(&f, f.at, VARS(next));
    f.at = f.fn->body;
    f_results(&f, f.at, VARS(out));
    CoreValue arg = {.type = T_SEQ, .n = N, .scalars = arena_array(f.p->arena, uint64_t, N)}, r;
    FlatCounts counts = f_run(&f, &arg, &r);
    assert_int_equal(r.scalars[N - 1], ROUNDS);
    assert_true(counts.live_bytes_max < (uint64_t)ROUNDS * N * 8 / 4 * 3);
    f_close(&f);
}

/* ---- lifted loops ---- */

/* { collatz steps of x : x in xs }: loop (y, k) = (x, 0) while y > 1 */
static void test_loop_lifted(void **state)
{
    (void)state;
    F f = f_open();
    FlatVar xs = f_param(&f, T_SEQ);
    FlatVar c = f_nested(&f, FLAT_ROOT, xs);
    FlatVar x = f_elems(&f, c, xs);
    Body b = f_begin(&f, c);
    FlatVar zero = f_map(&f, f_end(&f, &b, ATOMS(core_i64(0))));
    FlatVar outs[2] = {f_in(&f, T_I64, c), f_in(&f, T_I64, c)};
    FlatStmt *s = f_stmt(&f, FLAT_S_LOOP_LIFTED, 2, outs);
    FlatVar act = f_ctx(&f, CTX_SELECTED, c);
    FlatVar y = f_in(&f, T_I64, act), k = f_in(&f, T_I64, act);
    s->ctx = c;
    s->loop_lifted.active = act;
    s->loop_lifted.params = f_vars(&f, VARS(y, k));
    s->loop_lifted.inits = f_vars(&f, VARS(x, zero));
    s->loop_lifted.nparams = 2;
    s->loop_lifted.cond = f.at = f_block(&f);
    b = f_begin(&f, act);
    CoreAtom v = f_col(&f, &b, y);
    FlatVar more = f_map(&f, f_end(&f, &b, ATOMS(b_prim(&f.b, PRIM_GT, v, core_i64(1)))));
    f_results(&f, f.at, VARS(more));
    s->loop_lifted.body = f.at = f_block(&f);
    b = f_begin(&f, act);
    v = f_col(&f, &b, y);
    CoreAtom odd = b_prim(&f.b, PRIM_EQ, b_prim(&f.b, PRIM_AND, v, core_i64(1)), core_i64(1));
    CoreAtom up = b_prim(&f.b, PRIM_ADD, b_prim(&f.b, PRIM_MUL, v, core_i64(3)), core_i64(1));
    CoreAtom down = b_prim(&f.b, PRIM_SHR, v, core_i64(1));
    FlatVar y2 = f_map(&f, f_end(&f, &b, ATOMS(b_prim_as(&f.b, T_I64, PRIM_SELECT, ATOMS(odd, up, down)))));
    b = f_begin(&f, act);
    v = f_col(&f, &b, k);
    FlatVar k2 = f_map(&f, f_end(&f, &b, ATOMS(b_prim(&f.b, PRIM_ADD, v, core_i64(1)))));
    f_results(&f, f.at, VARS(y2, k2));
    f.at = f.fn->body;
    FlatVar steps = f_views(&f, c, outs[1]);
    f_results(&f, f.at, VARS(steps));
    CoreValue arg = SEQ(&f.b, 6, 1, 7, 27, 1, 2), r;
    f_run(&f, &arg, &r);
    ASSERT_SEQ(r, 8, 0, 16, 111, 0, 1);
    CoreValue same = SEQ(&f.b, 7, 7, 7); /* all stop together: nothing is selected or retired */
    assert_int_equal(f_run(&f, &same, &r).moved, 0);
    ASSERT_SEQ(r, 16, 16, 16);
    CoreValue none = v_seq(&f.b, 0, NULL);
    f_run(&f, &none, &r);
    assert_int_equal(r.n, 0);
    f_close(&f);
}

/* ---- lifted calls ---- */

/* fib x = if x < 2 then x else fib (x - 1) + fib (x - 2); both calls joined into one a level. */
static F fibs(void)
{
    F f = f_open();
    FlatFn *main_fn = f.fn, *fib = f_fn(&f, "fib_lifted");
    fib->lifted = fib->recursive = true;
    fib->ctx = f_ctx(&f, CTX_FN, FLAT_NO_VAR);
    FlatVar x = f_param(&f, T_I64);
    Body b = f_begin(&f, fib->ctx);
    CoreAtom v = f_col(&f, &b, x);
    FlatVar small = f_map(&f, f_end(&f, &b, ATOMS(b_prim(&f.b, PRIM_LT, v, core_i64(2)))));
    FlatVar parts[2], args[2], outs[2], cols[2];
    f_split(&f, fib->ctx, small, parts);
    b = f_begin(&f, parts[0]);
    v = f_col(&f, &b, x);
    cols[0] = f_map(&f, f_end(&f, &b, ATOMS(v)));
    for (int i = 0; i < 2; i++) {
        b = f_begin(&f, parts[1]);
        v = f_col(&f, &b, x);
        args[i] = f_map(&f, f_end(&f, &b, ATOMS(b_prim(&f.b, PRIM_SUB, v, core_i64(i + 1)))));
        outs[i] = f_in(&f, T_I64, parts[1]);
    }
    FlatStmt *s = f_stmt(&f, FLAT_S_CALL_LIFTED, 0, NULL);
    s->call_lifted.fn = fib;
    s->call_lifted.nargs = s->call_lifted.nresults = 1;
    s->call_lifted.nsites = 2;
    s->call_lifted.sites = arena_array(f.p->arena, FlatSite, 2);
    for (int i = 0; i < 2; i++)
        s->call_lifted.sites[i] = (FlatSite){parts[1], f_vars(&f, VARS(args[i])), f_vars(&f, VARS(outs[i]))};
    b = f_begin(&f, parts[1]);
    CoreAtom p = f_col(&f, &b, outs[0]), q = f_col(&f, &b, outs[1]);
    cols[1] = f_map(&f, f_end(&f, &b, ATOMS(b_prim(&f.b, PRIM_ADD, p, q))));
    FlatVar out = f_merge(&f, fib->ctx, 2, parts, cols);
    f_results(&f, fib->body, VARS(out));

    f.fn = main_fn;
    f.at = main_fn->body;
    f.b.fn = f.b.p->fns.at[0];
    f.b.b = f.b.fn->body;
    FlatVar xs = f_param(&f, T_SEQ);
    FlatVar c = f_nested(&f, FLAT_ROOT, xs);
    FlatVar e = f_elems(&f, c, xs), r = f_in(&f, T_I64, c);
    s = f_stmt(&f, FLAT_S_CALL_LIFTED, 0, NULL);
    s->call_lifted.fn = fib;
    s->call_lifted.nargs = s->call_lifted.nresults = s->call_lifted.nsites = 1;
    s->call_lifted.sites = arena_array(f.p->arena, FlatSite, 1);
    s->call_lifted.sites[0] = (FlatSite){c, f_vars(&f, VARS(e)), f_vars(&f, VARS(r))};
    FlatVar res = f_views(&f, c, r);
    f_results(&f, f.at, VARS(res));
    return f;
}

static void test_call_lifted(void **state)
{
    (void)state;
    F f = fibs();
    CoreValue arg = SEQ(&f.b, 10, 0, 1, 12), r;
    FlatCounts counts = f_run(&f, &arg, &r);
    ASSERT_SEQ(r, 55, 0, 1, 144);
    assert_int_equal(counts.lifted_calls, 12); /* levels 12 … 1: not one for each call */
    assert_int_equal(counts.max_depth, 13);
    CoreValue none = v_seq(&f.b, 0, NULL);
    assert_int_equal(f_run(&f, &none, &r).lifted_calls, 0);
    f_close(&f);
}

/* f x = f x, on the host */
static void test_recursion_too_deep(void **state)
{
    (void)state;
    F f = f_open();
    FlatVar x = f_param(&f, T_I64), out = f_in(&f, T_I64, FLAT_ROOT);
    FlatStmt *s = f_stmt(&f, FLAT_S_CALL, VARS(out));
    s->call.fn = f.fn;
    s->call.args = f_vars(&f, VARS(x));
    s->call.nargs = 1;
    f_results(&f, f.at, VARS(out));
    CoreValue arg = v_i64(1), r;
    EvalError error = {0};
    FlatCounts counts;
    assert_false(f_try(&f, &arg, &r, &error, &counts));
    assert_int_equal(error.site, CORE_NO_SITE);
    assert_string_equal(error.text, "recursion too deep");
    assert_int_equal(counts.max_depth, 20000);
    f_close(&f);
}

/* ---- errors ---- */

/* { 10 / x : x in xs }, and xs[x] */
static void test_errors(void **state)
{
    (void)state;
    F f = f_open();
    FlatVar xs = f_param(&f, T_SEQ);
    FlatVar c = f_nested(&f, FLAT_ROOT, xs);
    Body b = f_begin(&f, c);
    CoreAtom v = f_elem(&f, &b, xs, c), all = f_host(&f, &b, xs);
    CoreAtom q = b_prim(&f.b, PRIM_DIV, core_i64(10), v);
    FlatVar out = f_views(&f, c, f_map(&f, f_end(&f, &b, ATOMS(b_prim(&f.b, PRIM_ADD, q, b_index(&f.b, all, v))))));
    f_results(&f, f.at, VARS(out));
    CoreValue good = SEQ(&f.b, 1, 2, 1), zero = SEQ(&f.b, 1, 0, 1), far = SEQ(&f.b, 1, 5, 1), r;
    f_run(&f, &good, &r);
    ASSERT_SEQ(r, 12, 6, 12);
    EvalError error = {0};
    assert_false(f_try(&f, &zero, &r, &error, NULL));
    assert_int_equal(f.b.p->sites.at[error.site].kind, ERR_DIVISION);
    assert_false(f_try(&f, &far, &r, &error, NULL));
    assert_int_equal(f.b.p->sites.at[error.site].kind, ERR_INDEX);
    assert_int_equal(error.values[0], 5);
    assert_int_equal(error.values[1], 3);
    f_close(&f);
}

/* ---- the checker ---- */

static void assert_rejected(F *f, const char *expected)
{
    StrBuf why = {0};
    assert_false(flat_check(f->p, &why));
    if (!strstr(why.text, expected))
        print_error("%s\n", why.text);
    assert_non_null(strstr(why.text, expected));
    strbuf_free(&why);
}

static void test_check_rejects(void **state)
{
    (void)state;
    F f = f_open(); /* an input that belongs to a context beside the body's */
    FlatVar xs = f_param(&f, T_SEQ);
    FlatVar c1 = f_nested(&f, FLAT_ROOT, xs), c2 = f_nested(&f, FLAT_ROOT, xs);
    FlatVar x = f_elems(&f, c1, xs);
    Body b = f_begin(&f, c2);
    CoreAtom v = f_col(&f, &b, x);
    FlatVar y = f_map(&f, f_end(&f, &b, ATOMS(v)));
    f_results(&f, f.at, VARS(f_views(&f, c2, y)));
    assert_rejected(&f, "a column of no ancestor");
    f_close(&f);

    f = f_open(); /* out of scope */
    xs = f_param(&f, T_SEQ);
    FlatVar ghost = f_in(&f, T_SEQ, FLAT_ROOT);
    f_nested(&f, FLAT_ROOT, ghost);
    f_results(&f, f.at, VARS(xs));
    assert_rejected(&f, "used out of scope");
    f_close(&f);

    f = f_open(); /* a body whose result is a variable that is no input */
    xs = f_param(&f, T_SEQ);
    c1 = f_nested(&f, FLAT_ROOT, xs);
    b = f_begin(&f, c1);
    f_map(&f, f_end(&f, &b, ATOMS(b_var(&f.b, T_I64))));
    f_results(&f, f.at, VARS(xs));
    assert_rejected(&f, "is no input");
    f_close(&f);
}

/* ---- liveness ---- */

static bool dies_at(const FlatStmt *s, FlatVar v)
{
    for (uint32_t i = 0; i < s->ndies; i++)
        if (s->dies[i] == v)
            return true;
    return false;
}

static bool is_in(const FlatVar *vars, uint32_t n, FlatVar v)
{
    for (uint32_t i = 0; i < n; i++)
        if (vars[i] == v)
            return true;
    return false;
}

static void test_liveness_straight(void **state)
{
    (void)state;
    F f = f_open();
    FlatVar rows = f_param(&f, T_SEQ2), unused = f_param(&f, T_SEQ);
    FlatVar c1 = f_nested(&f, FLAT_ROOT, rows);
    FlatVar row = f_elems(&f, c1, rows);
    FlatVar c2 = f_nested(&f, c1, row);
    FlatVar s = f_sum(&f, c2, row);
    FlatVar out = f_views(&f, c1, s);
    FlatVar never = f_nested(&f, FLAT_ROOT, out);
    f_results(&f, f.at, VARS(out));
    assert_flat_valid(&f);
    flat_liveness(f.p);
    FlatStmt **at = f.at->stmts.at;
    assert_true(is_in(f.at->dies, f.at->ndies, unused));
    assert_true(dies_at(at[1], rows));
    assert_true(dies_at(at[3], row) && dies_at(at[3], c2));
    assert_true(dies_at(at[4], s) && dies_at(at[4], c1));
    assert_true(dies_at(at[5], never) && !dies_at(at[5], out));
    assert_true(is_in(f.at->ends, f.at->nends, out));
    f_close(&f);
}

/* if cond then sum xs else sum ys: xs dies in one branch and at the entry of the other; zs lives on. */
static void test_liveness_if(void **state)
{
    (void)state;
    F f = f_open();
    FlatVar cond = f_param(&f, T_BOOL), xs = f_param(&f, T_SEQ), ys = f_param(&f, T_SEQ), zs = f_param(&f, T_SEQ);
    FlatVar outs[2] = {f_in(&f, T_I64, FLAT_ROOT), f_in(&f, T_SEQ, FLAT_ROOT)};
    FlatStmt *s = f_stmt(&f, FLAT_S_IF, 2, outs);
    s->if_.cond = cond;
    s->if_.then_b = f.at = f_block(&f);
    FlatVar c1 = f_nested(&f, FLAT_ROOT, xs), t = f_sum(&f, c1, xs);
    f_results(&f, f.at, VARS(t, zs));
    s->if_.else_b = f.at = f_block(&f);
    FlatVar c2 = f_nested(&f, FLAT_ROOT, ys), e = f_sum(&f, c2, ys);
    f_results(&f, f.at, VARS(e, ys));
    f.at = f.fn->body;
    f_results(&f, f.at, VARS(outs[0], outs[1], zs));
    CoreValue args[4] = {{.type = T_BOOL, .bits = 1}, SEQ(&f.b, 1, 2), SEQ(&f.b, 5), SEQ(&f.b, 6)}, r[3];
    f_run(&f, args, r);
    assert_int_equal(r[0].bits, 3);
    args[0].bits = 0;
    f_run(&f, args, r);
    assert_int_equal(r[0].bits, 5);
    ASSERT_SEQ(r[1], 5);
    FlatBlock *then_b = s->if_.then_b, *else_b = s->if_.else_b;
    assert_true(dies_at(then_b->stmts.at[1], xs) && is_in(else_b->dies, else_b->ndies, xs));
    assert_true(is_in(then_b->dies, then_b->ndies, ys) && is_in(else_b->ends, else_b->nends, ys));
    assert_false(is_in(then_b->ends, then_b->nends, zs) || dies_at(s, zs) || dies_at(s, xs) || dies_at(s, ys));
    f_close(&f);
}

/* Outer variables die at the loop; a parameter that the body does not use dies at its entry. */
static void test_liveness_loop(void **state)
{
    (void)state;
    F f = f_open();
    FlatVar xs = f_param(&f, T_SEQ), ys = f_param(&f, T_SEQ);
    FlatVar n = f_const(&f, 3);
    FlatVar p = f_in(&f, T_SEQ, FLAT_ROOT), i = f_in(&f, T_I64, FLAT_ROOT), out = f_in(&f, T_SEQ, FLAT_ROOT);
    FlatStmt *loop = f_stmt(&f, FLAT_S_LOOP, VARS(out));
    loop->loop.params = f_vars(&f, VARS(p));
    loop->loop.inits = f_vars(&f, VARS(xs));
    loop->loop.nparams = 1;
    loop->loop.index = i;
    loop->loop.count = n;
    loop->loop.body = f.at = f_block(&f);
    FlatVar c = f_nested(&f, FLAT_ROOT, ys);
    FlatVar next = f_views(&f, c, f_elems(&f, c, ys));
    f_results(&f, f.at, VARS(next));
    f.at = f.fn->body;
    f_results(&f, f.at, VARS(out));
    CoreValue args[2] = {SEQ(&f.b, 1), SEQ(&f.b, 2, 3)}, r;
    f_run(&f, args, &r);
    ASSERT_SEQ(r, 2, 3);
    FlatBlock *body = loop->loop.body;
    assert_true(dies_at(loop, xs) && dies_at(loop, ys));
    assert_true(is_in(body->dies, body->ndies, p));
    for (uint32_t k = 0; k < body->stmts.n; k++)
        assert_false(dies_at(body->stmts.at[k], ys));
    f_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reduce_segments),
        cmocka_unit_test(test_contiguous_is_alias),
        cmocka_unit_test(test_reduce_noncommutative),
        cmocka_unit_test(test_scan),
        cmocka_unit_test(test_pack_views),
        cmocka_unit_test(test_split_merge),
        cmocka_unit_test(test_elems_of_slices),
        cmocka_unit_test(test_flatten),
        cmocka_unit_test(test_flatten_in_context),
        cmocka_unit_test(test_argsort),
        cmocka_unit_test(test_hist),
        cmocka_unit_test(test_scatter),
        cmocka_unit_test(test_array_and_update),
        cmocka_unit_test(test_host_loop_in_place),
        cmocka_unit_test(test_dead_blocks_are_collected),
        cmocka_unit_test(test_loop_lifted),
        cmocka_unit_test(test_call_lifted),
        cmocka_unit_test(test_recursion_too_deep),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_check_rejects),
        cmocka_unit_test(test_liveness_straight),
        cmocka_unit_test(test_liveness_if),
        cmocka_unit_test(test_liveness_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
