/* The OpenCL back end on flat programs built by hand: the C program compiles without warnings, every kernel compiles in
 * every shape and in several variants (where clang is installed), and constants are exact. Run in the repository's
 * root. */
#include "emit_programs.h"

#include "plan/emit_text.h"

/* ---- programs ---- */

/* { sum { v * x[j] : (j, v) in row } : row in rows }, the example of flat.h. */
static void test_spmv(void **state)
{
    (void)state;
    F f = f_open();
    f_fn(&f, "main", false);
    FlatVar rows_j = f_param(&f, f_host(&f, T_SEQ2)), rows_v = f_param(&f, f_host(&f, T_F32SS)),
            x = f_param(&f, f_host(&f, T_F32S));
    FlatVar c1 = f_nested(&f, FLAT_ROOT, rows_j);
    FlatVar r_j = f_elems(&f, c1, rows_j), r_v = f_elems(&f, c1, rows_v);
    FlatVar c2 = f_nested(&f, c1, r_j), sum = f_col(&f, c1, T_F32);
    FlatStmt *s = f_fold(&f, FLAT_S_REDUCE, c2, sum, PRIM_ADD, T_F32, core_const(SC_F32, 0));
    CoreAtom j = f_in(&f, &s->body.inputs, IN_ELEM, r_j, c2), v = f_in(&f, &s->body.inputs, IN_ELEM, r_v, c2);
    CoreAtom t = b_index(&f.b, f_in(&f, &s->body.inputs, IN_HOST, x, FLAT_NO_VAR), j);
    f_results(&f, s, ATOMS(b_prim(&f.b, PRIM_MUL, v, t)));
    f_return(&f, VARS(f_views(&f, c1, FLAT_ROOT, sum)));
    StrBuf text = compile_all(&f);
    assert_has(&text, "#define DP_ELEM0 (w0 + i * 8)");
    assert_has(&text, "#define DP_USES_SEG ((DP_VARIANT & 0x3U) != 0x3U)");
    assert_null(strstr(text.text, "DP_SHAPE")); /* nothing is shared */
    f_close(&f, &text);
}

/* A product of matrices, of which the second one is given in columns: what is shared by rows, by columns, and the rest.
 * Then the same of one row: a stream. */
static void test_tile(void **state)
{
    (void)state;
    F f = f_open();
    f_fn(&f, "main", false);
    FlatVar rows = f_param(&f, f_host(&f, T_F32SS)), columns = f_param(&f, f_host(&f, T_F32SS)),
            n = f_param(&f, f_host(&f, T_I64)), xs = f_param(&f, f_host(&f, T_F32S));
    FlatVar c1 = f_nested(&f, FLAT_ROOT, rows), c2 = f_nested(&f, c1, n), c3 = f_nested(&f, c2, n);
    FlatVar product = f_col(&f, c2, T_F32);
    FlatStmt *s = f_fold(&f, FLAT_S_REDUCE, c3, product, PRIM_ADD, T_F32, core_const(SC_F32, 0));
    CoreAtom k = f_in(&f, &s->body.inputs, IN_POS, FLAT_NO_VAR, c3),
             j = f_in(&f, &s->body.inputs, IN_POS, FLAT_NO_VAR, c2);
    CoreAtom x = b_index(&f.b, f_in(&f, &s->body.inputs, IN_ELEM, rows, c1), k);
    CoreAtom column = b_index(&f.b, f_in(&f, &s->body.inputs, IN_HOST, columns, FLAT_NO_VAR), j);
    f_results(&f, s, ATOMS(b_prim(&f.b, PRIM_MUL, x, b_index(&f.b, column, k))));
    FlatVar c4 = f_nested(&f, c1, n), dot = f_col(&f, c1, T_F32);
    s = f_fold(&f, FLAT_S_REDUCE, c4, dot, PRIM_ADD, T_F32, core_const(SC_F32, 0));
    k = f_in(&f, &s->body.inputs, IN_POS, FLAT_NO_VAR, c4);
    x = b_index(&f.b, f_in(&f, &s->body.inputs, IN_HOST, xs, FLAT_NO_VAR), k);
    f_results(&f, s, ATOMS(b_prim(&f.b, PRIM_MUL, x, b_index(&f.b, f_in(&f, &s->body.inputs, IN_ELEM, rows, c1), k))));
    FlatVar views = f_views(&f, c2, c1, product);
    f_return(&f, VARS(f_views(&f, c1, FLAT_ROOT, views), f_views(&f, c1, FLAT_ROOT, dot)));
    StrBuf text = compile_all(&f);
    assert_has(&text, "#define DP_SHAPE 3\n#define DP_COLUMN_BY_K 1\n#define DP_HAS_STREAM 0\n#define DP_HAS_ROW_K 1\n"
                      "#define DP_HAS_COLUMN_K 1\n");
    assert_has(&text, "#define DP_SHAPE 1\n#define DP_COLUMN_BY_K 0\n#define DP_HAS_STREAM 1\n#define DP_HAS_ROW_K 0\n"
                      "#define DP_HAS_COLUMN_K 0\n");
    f_close(&f, &text);
}

/* What may write over what it reads promises nothing of its pointers; others do. */
static void test_over(void **state)
{
    (void)state;
    static const char *const shapes[] = {"-DDP_CPU=1 -DDP_WAY=0", "-DDP_CPU=1 -DDP_WAY=1", "-DDP_GPU=1 -DDP_WAY=0",
                                         "-DDP_GPU=1 -DDP_WAY=1", "-DDP_GPU=1 -DDP_WAY=2"};
    F f = f_open();
    f_fn(&f, "main", false);
    FlatVar xss = f_param(&f, f_host(&f, T_F32SS)), xs = f_param(&f, f_host(&f, T_F32S));
    FlatVar c1 = f_nested(&f, FLAT_ROOT, xss), rows = f_elems(&f, c1, xss), c2 = f_nested(&f, c1, rows);
    const FlatStays none = {.bound = FLAT_NO_VAR};
    const FlatOver over = {rows, xss, none, none};
    FlatVar ys[2];
    for (uint32_t i = 0; i < 2; i++) {
        FlatStmt *s = f_stmt(&f, FLAT_S_KERNEL, VARS(ys[i] = f_col(&f, c2, T_F32)));
        f_body(&f, s, c2);
        CoreAtom x = f_in(&f, &s->body.inputs, IN_ELEM, rows, c2),
                 p = f_in(&f, &s->body.inputs, IN_POS, FLAT_NO_VAR, c1);
        x = b_prim(&f.b, PRIM_ADD, x, b_index(&f.b, f_in(&f, &s->body.inputs, IN_HOST, xs, FLAT_NO_VAR), p));
        f_results(&f, s, ATOMS(x));
        s->kernel.over = i ? &over : NULL;
    }
    FlatVar first = f_views(&f, c2, c1, ys[0]), second = f_views(&f, c2, c1, ys[1]);
    f_return(&f, VARS(f_views(&f, c1, FLAT_ROOT, first), f_views(&f, c1, FLAT_ROOT, second)));
    StrBuf text = compile_all(&f);
    const Plan *plan = plan_of(&f);
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t k = 0; k < sizeof shapes / sizeof *shapes && has_clang(); k++)
            assert_int_equal(kernel_promises(plan, plan->kernels.at[i], shapes[k]), i == 0);
    f_close(&f, &text);
}

/* Every kind of input, from a context two levels below: paths, positions, elements of an ancestor's array. */
static void test_inputs(void **state)
{
    (void)state;
    F f = f_open();
    f_fn(&f, "main", false);
    FlatVar xss = f_param(&f, f_host(&f, T_F32SS)), n = f_param(&f, f_host(&f, T_I64));
    FlatVar c1 = f_nested(&f, FLAT_ROOT, xss), xs = f_elems(&f, c1, xss), c2 = f_nested(&f, c1, xs);
    FlatVar sizes = f_col(&f, c2, T_I64);
    FlatStmt *s = f_stmt(&f, FLAT_S_KERNEL, VARS(sizes));
    f_body(&f, s, c2);
    CoreAtom pos = f_in(&f, &s->body.inputs, IN_POS, FLAT_NO_VAR, c2);
    f_results(&f, s, ATOMS(b_prim(&f.b, PRIM_DIV, f_in(&f, &s->body.inputs, IN_HOST, n, FLAT_NO_VAR), pos)));
    FlatVar c3 = f_nested(&f, c2, sizes), c4 = f_ctx(&f, CTX_SELECTED, c3);
    s = f_stmt(&f, FLAT_S_PACK, VARS(c4));
    s->pack.nways = 1;
    f_body(&f, s, c3);
    pos = f_in(&f, &s->body.inputs, IN_POS, FLAT_NO_VAR, c3);
    CoreAtom row = f_in(&f, &s->body.inputs, IN_ELEM, xss, c1), up = f_in(&f, &s->body.inputs, IN_POS, FLAT_NO_VAR, c1);
    CoreAtom e = f_in(&f, &s->body.inputs, IN_ELEM, xs, c2),
             size = f_in(&f, &s->body.inputs, IN_COL, sizes, FLAT_NO_VAR);
    b_check(&f.b, b_prim(&f.b, PRIM_LT, pos, size), ERR_LENGTHS, ATOMS(pos, up));
    CoreAtom y = b_index(&f.b, row, pos);
    f_results(&f, s, ATOMS(b_prim(&f.b, PRIM_LT, y, e)));
    FlatVar out = f_col(&f, c4, T_F32), view = f_col(&f, c4, T_F32S);
    s = f_stmt(&f, FLAT_S_KERNEL, VARS(out, view));
    f_body(&f, s, c4);
    e = f_in(&f, &s->body.inputs, IN_ELEM, xs, c2);
    f_results(&f, s, ATOMS(e, f_in(&f, &s->body.inputs, IN_COL, xs, FLAT_NO_VAR)));
    FlatVar packed = f_views(&f, c4, c2, out), packed2 = f_views(&f, c4, c2, view);
    f_return(&f, VARS(f_views(&f, c2, c1, packed), f_views(&f, c2, c1, packed2)));
    f.fn->lifted = false;
    f.fn->body->nresults = 0; /* columns: only for this test */
    StrBuf text = compile_all(&f);
    assert_has(&text, "DP_PATH");
    f_close(&f, &text);
}

/* Loops and branches in a kernel, views as state; loops that may fail leave when they have failed. */
static void test_scalar_control(void **state)
{
    (void)state;
    F f = f_open();
    f_fn(&f, "main", false);
    FlatVar xss = f_param(&f, f_host(&f, T_F32SS)), c = f_nested(&f, FLAT_ROOT, xss);
    FlatVar count = f_col(&f, c, T_I64), rest = f_col(&f, c, T_F32S);
    FlatStmt *s = f_stmt(&f, FLAT_S_KERNEL, VARS(count, rest));
    f_body(&f, s, c);
    CoreAtom xs = f_in(&f, &s->body.inputs, IN_ELEM, xss, c);
    CoreStmt *loop = b_stmt(&f.b, CORE_LOOP, 3, (CoreType[]){T_I64, T_I64, T_F32S});
    loop->loop.nparams = 3;
    CoreAtom p0 = b_var(&f.b, T_I64), p1 = b_var(&f.b, T_I64), p2 = b_var(&f.b, T_F32S);
    CoreVar *params = arena_array(f.p->arena, CoreVar, 3);
    params[0] = p0.var, params[1] = p1.var, params[2] = p2.var;
    loop->loop.params = params;
    loop->loop.inits = b_atoms(&f.b, ATOMS(core_i64(0), core_i64(1), xs));
    loop->loop.index = CORE_NO_VAR;
    CoreBlock *outer = f.b.b;
    f.b.b = loop->loop.cond = core_new_block(f.b.p);
    b_results(&f.b, f.b.b, ATOMS(b_prim(&f.b, PRIM_LT, p0, b_length(&f.b, p2))));
    f.b.b = loop->loop.body = core_new_block(f.b.p);
    CoreStmt *slice = b_stmt(&f.b, CORE_SLICE, 1, &T_F32S);
    slice->slice.array = p2, slice->slice.from = p1, slice->slice.to = b_length(&f.b, p2);
    slice->site = core_new_site(f.b.p, ERR_SLICE, no_span, NULL);
    CoreAtom tail = b_push(&f.b, slice);
    CoreStmt *branch = b_stmt(&f.b, CORE_IF, 1, &T_F32S);
    branch->if_.cond = b_prim(&f.b, PRIM_LT, b_index(&f.b, p2, p0), core_const(SC_F32, 0x7fc00000));
    branch->if_.then_b = core_new_block(f.b.p), branch->if_.else_b = core_new_block(f.b.p);
    b_results(&f.b, branch->if_.then_b, ATOMS(tail));
    b_results(&f.b, branch->if_.else_b, ATOMS(p2));
    CoreAtom next = b_push(&f.b, branch);
    b_results(&f.b, loop->loop.body, ATOMS(p1, b_prim(&f.b, PRIM_MOD, p0, p1), next)); /* p0 and p1 change places */
    f.b.b = outer;
    b_push(&f.b, loop);
    f_results(&f, s, ATOMS(b_result(&f.b, loop, 0), b_result(&f.b, loop, 2)));
    f_return(&f, VARS(f_views(&f, c, FLAT_ROOT, count), f_views(&f, c, FLAT_ROOT, rest)));
    StrBuf text = compile_all(&f);
    assert_has(&text, "dp_bool failed = *DP_AT(int, 0) != 0;");
    assert_has(&text, "if (failed || !");
    f_close(&f, &text);
}

/* A loop that does not look at its index, within another such; what stands in it relies on a check before it. */
static void test_counting(void **state)
{
    (void)state;
    F f = f_open();
    f_fn(&f, "main", false);
    FlatVar xs = f_param(&f, f_host(&f, T_F32S)), n = f_param(&f, f_host(&f, T_I64)), c = f_nested(&f, FLAT_ROOT, xs);
    FlatVar out = f_col(&f, c, T_F32);
    FlatStmt *s = f_stmt(&f, FLAT_S_KERNEL, VARS(out));
    f_body(&f, s, c);
    CoreAtom x = f_in(&f, &s->body.inputs, IN_HOST, xs, FLAT_NO_VAR),
             m = f_in(&f, &s->body.inputs, IN_HOST, n, FLAT_NO_VAR);
    b_check(&f.b, b_prim(&f.b, PRIM_LT, m, b_length(&f.b, x)), ERR_ASSERT, 0, NULL);
    CoreStmt *loops[2];
    CoreBlock *outer = f.b.b;
    for (int i = 0; i < 2; i++) {
        CoreStmt *loop = loops[i] = b_stmt(&f.b, CORE_LOOP, 1, &T_F32);
        CoreAtom p = b_var(&f.b, T_F32);
        loop->loop.nparams = 1, loop->loop.params = arena_array(f.p->arena, CoreVar, 1);
        loop->loop.params[0] = p.var;
        loop->loop.inits = b_atoms(&f.b, ATOMS(core_const(SC_F32, 0)));
        loop->loop.index = CORE_NO_VAR, loop->loop.count = m;
        f.b.b = loop->loop.body = core_new_block(f.b.p);
    }
    CoreStmt *at = b_stmt(&f.b, CORE_INDEX, 1, &T_F32); /* unchecked */
    at->index.array = x, at->index.index = m;
    b_results(&f.b, f.b.b, ATOMS(b_push(&f.b, at)));
    f.b.b = loops[0]->loop.body;
    b_results(&f.b, f.b.b, ATOMS(b_push(&f.b, loops[1])));
    f.b.b = outer;
    f_results(&f, s, ATOMS(b_push(&f.b, loops[0])));
    f_return(&f, VARS(f_views(&f, c, FLAT_ROOT, out)));
    StrBuf text = compile_all(&f);
    assert_has(&text, "if (!failed)\n        for (dp_i64 round = 0; ");
    f_close(&f, &text);
}

/* The same kinds of code at depth 0, where views are counted. */
static void test_host_code(void **state)
{
    (void)state;
    F f = f_open();
    f_fn(&f, "main", false);
    FlatVar xss = f_param(&f, f_host(&f, T_F32SS)), i = f_param(&f, f_host(&f, T_I64));
    FlatVar xs = f_host(&f, T_F32S), x = f_host(&f, T_F32);
    FlatStmt *s = f_stmt(&f, FLAT_S_HOST, VARS(xs, x));
    f_body(&f, s, FLAT_ROOT);
    CoreAtom all = f_in(&f, &s->body.inputs, IN_HOST, xss, FLAT_NO_VAR),
             k = f_in(&f, &s->body.inputs, IN_HOST, i, FLAT_NO_VAR);
    CoreAtom row = b_index(&f.b, all, k), other = b_index(&f.b, all, b_prim(&f.b, PRIM_DIV, k, k));
    CoreStmt *select = b_stmt(&f.b, CORE_PRIM, 1, &T_F32S);
    select->prim.op = PRIM_SELECT, select->prim.nargs = 3;
    select->prim.args = b_atoms(&f.b, ATOMS(core_const(SC_BOOL, 1), row, other));
    row = b_push(&f.b, select);
    f_results(&f, s, ATOMS(row, b_index(&f.b, row, core_i64(INT64_MIN))));
    FlatVar pair = f_host(&f, T_F32SS), none = f_host(&f, T_F32S);
    s = f_stmt(&f, FLAT_S_ARRAY, VARS(pair));
    f_body(&f, s, FLAT_ROOT);
    all = f_in(&f, &s->body.inputs, IN_HOST, xs, FLAT_NO_VAR);
    f_results(&f, s, ATOMS(all, all));
    s = f_stmt(&f, FLAT_S_ARRAY, VARS(none));
    f_body(&f, s, FLAT_ROOT);
    f_results(&f, s, 0, NULL);
    FlatVar changed = f_host(&f, T_F32SS), changed2 = f_host(&f, T_F32S);
    s = f_stmt(&f, FLAT_S_UPDATE, VARS(changed));
    s->update.array = pair, s->update.index = i, s->update.value = none;
    s = f_stmt(&f, FLAT_S_UPDATE, VARS(changed2));
    s->update.array = xs, s->update.index = i, s->update.value = x;
    FlatVar flat = f_arrays(&f, FLAT_S_FLATTEN, FLAT_ROOT, f_host(&f, T_F32S), changed);
    FlatVar order = f_arrays(&f, FLAT_S_ARGSORT, FLAT_ROOT, f_host(&f, T_SEQ), flat);
    f_return(&f, VARS(order, changed2));
    StrBuf text = compile_all(&f);
    f_close(&f, &text);
}

/* scan, scatter, histogram, array, split, merge, update, flatten, argsort in a context. */
static void test_segmented(void **state)
{
    (void)state;
    F f = f_open();
    f_fn(&f, "main", false);
    FlatVar xss = f_param(&f, f_host(&f, T_SEQ2)), c1 = f_nested(&f, FLAT_ROOT, xss), xs = f_elems(&f, c1, xss);
    FlatVar c2 = f_nested(&f, c1, xs), sums = f_col(&f, c2, T_I64);
    FlatStmt *s = f_fold(&f, FLAT_S_SCAN, c2, sums, PRIM_ADD, T_I64, core_i64(0));
    s->reduce.exclusive = true;
    f_results(&f, s, ATOMS(f_in(&f, &s->body.inputs, IN_ELEM, xs, c2)));
    FlatVar size = f_col(&f, c1, T_I64), yes = f_col(&f, c1, T_BOOL);
    s = f_stmt(&f, FLAT_S_KERNEL, VARS(size, yes));
    f_body(&f, s, c1);
    CoreAtom n = b_length(&f.b, f_in(&f, &s->body.inputs, IN_COL, xs, FLAT_NO_VAR));
    f_results(&f, s, ATOMS(n, b_prim(&f.b, PRIM_LT, n, core_i64(10))));
    FlatVar counts = f_col(&f, c1, T_SEQ);
    s = f_fold(&f, FLAT_S_HIST, c2, counts, PRIM_ADD, T_I64, core_i64(0));
    s->reduce.size = size;
    CoreAtom x = f_in(&f, &s->body.inputs, IN_ELEM, xs, c2);
    f_results(&f, s, ATOMS(x, core_i64(1)));
    FlatVar moved = f_col(&f, c1, T_SEQ);
    s = f_stmt(&f, FLAT_S_SCATTER, VARS(moved));
    f_body(&f, s, c2);
    s->reduce.dests = f_vars(&f, VARS(counts));
    s->reduce.ndests = 1;
    x = f_in(&f, &s->body.inputs, IN_COL, sums, FLAT_NO_VAR);
    f_results(&f, s, ATOMS(f_in(&f, &s->body.inputs, IN_POS, FLAT_NO_VAR, c2), x));
    FlatVar a = f_ctx(&f, CTX_SELECTED, c1), b = f_ctx(&f, CTX_SELECTED, c1);
    s = f_stmt(&f, FLAT_S_SPLIT, VARS(a, b));
    s->ctx = c1, s->split.cond = yes;
    FlatVar in_a = f_col(&f, a, T_SEQ), in_b = f_col(&f, b, T_SEQ), both = f_col(&f, c1, T_SEQ);
    s = f_stmt(&f, FLAT_S_ARRAY, VARS(in_a));
    f_body(&f, s, a);
    x = f_in(&f, &s->body.inputs, IN_COL, size, FLAT_NO_VAR);
    f_results(&f, s, ATOMS(x, core_i64(-1), x));
    s = f_stmt(&f, FLAT_S_KERNEL, VARS(in_b));
    f_body(&f, s, b);
    f_results(&f, s, ATOMS(f_in(&f, &s->body.inputs, IN_COL, moved, FLAT_NO_VAR)));
    s = f_stmt(&f, FLAT_S_MERGE, VARS(both));
    s->ctx = c1, s->merge.nparts = 2;
    s->merge.parts = arena_array(f.p->arena, FlatPart, 2);
    s->merge.parts[0] = (FlatPart){a, f_vars(&f, VARS(in_a))};
    s->merge.parts[1] = (FlatPart){b, f_vars(&f, VARS(in_b))};
    FlatVar updated = f_col(&f, c1, T_SEQ);
    s = f_stmt(&f, FLAT_S_UPDATE, VARS(updated));
    s->ctx = c1, s->update.array = both, s->update.index = size, s->update.value = size;
    FlatVar order = f_arrays(&f, FLAT_S_ARGSORT, c1, f_col(&f, c1, T_SEQ), updated);
    FlatVar out = f_views(&f, c1, FLAT_ROOT, order), total = f_host(&f, T_I64);
    s = f_fold(&f, FLAT_S_REDUCE, c1, total, PRIM_ADD, T_I64, core_i64(0));
    s->reduce.op.commutative = true;
    f_results(&f, s, ATOMS(f_in(&f, &s->body.inputs, IN_COL, size, FLAT_NO_VAR)));
    FlatVar bins = f_host(&f, T_SEQ), result = f_host(&f, T_SEQ);
    s = f_fold(&f, FLAT_S_HIST, c1, bins, PRIM_MIN, T_I64, core_i64(INT64_MAX));
    s->reduce.size = total;
    x = f_in(&f, &s->body.inputs, IN_COL, size, FLAT_NO_VAR);
    f_results(&f, s, ATOMS(x, x));
    s = f_stmt(&f, FLAT_S_SCATTER, VARS(result));
    f_body(&f, s, c1);
    s->reduce.dests = f_vars(&f, VARS(bins));
    s->reduce.ndests = 1;
    x = f_in(&f, &s->body.inputs, IN_COL, size, FLAT_NO_VAR);
    f_results(&f, s, ATOMS(x, x));
    f_return(&f, VARS(out, total, result));
    StrBuf text = compile_all(&f);
    assert_has(&text, "#define DP_EXCLUSIVE 1");
    assert_has(&text, "atom_add");
    assert_has(&text, "o0 + (i * 3 + 1) * 8");
    f_close(&f, &text);
}

/* Host loops and branches, whose state moves. */
static void test_host_control(void **state)
{
    (void)state;
    F f = f_open();
    f_fn(&f, "main", false);
    FlatVar xs = f_param(&f, f_host(&f, T_F32S)), ys = f_param(&f, f_host(&f, T_F32S)),
            n = f_param(&f, f_host(&f, T_I64));
    FlatVar flag = f_param(&f, f_host(&f, T_BOOL)), p = f_host(&f, T_F32S), q = f_host(&f, T_F32S),
            i = f_host(&f, T_I64);
    FlatVar out1 = f_host(&f, T_F32S), out2 = f_host(&f, T_F32S);
    FlatStmt *loop = f_stmt(&f, FLAT_S_LOOP, VARS(out1, out2));
    loop->loop.nparams = 2;
    loop->loop.params = f_vars(&f, VARS(p, q));
    loop->loop.inits = f_vars(&f, VARS(xs, xs));
    loop->loop.index = i, loop->loop.count = n;
    FlatBlock *outer, *inner;
    loop->loop.body = f_begin(&f, &outer);
    FlatVar r = f_host(&f, T_F32S);
    FlatStmt *s = f_stmt(&f, FLAT_S_IF, VARS(r));
    s->if_.cond = flag;
    s->if_.then_b = f_begin(&f, &inner);
    f_end(&f, inner, VARS(ys));
    s->if_.else_b = f_begin(&f, &inner);
    f_end(&f, inner, VARS(p));
    f_end(&f, outer, VARS(q, r));
    FlatVar w = f_host(&f, T_F32S), done = f_host(&f, T_F32S);
    s = f_stmt(&f, FLAT_S_LOOP, VARS(done));
    s->loop.nparams = 1, s->loop.params = f_vars(&f, VARS(w)), s->loop.inits = f_vars(&f, VARS(out1));
    s->loop.index = s->loop.count = FLAT_NO_VAR;
    s->loop.cond = f_begin(&f, &outer);
    f_end(&f, outer, VARS(flag));
    s->loop.body = f_begin(&f, &outer);
    f_end(&f, outer, VARS(w));
    f_return(&f, VARS(done, out2, n, flag));
    f_entry(&f);
    StrBuf text = {0};
    StrBuf host = {0};
    emit_host_c(&host, plan_of(&f), "x.dp", (DpTune){0}, true);
    compile_host(&host);
    strbuf_free(&host);
    f_close(&f, &text);
}

/* A recursive lifted function that calls itself from two places, and a loop in a context. */
static void test_lifted(void **state)
{
    (void)state;
    F f = f_open();
    FlatFn *fn = f_fn(&f, "half", true);
    fn->recursive = true;
    FlatVar c = fn->ctx = f_ctx(&f, CTX_FN, FLAT_NO_VAR);
    FlatVar n = f_param(&f, f_col(&f, c, T_I64)), xs = f_param(&f, f_col(&f, c, T_SEQ)), stop = f_col(&f, c, T_BOOL);
    FlatStmt *s = f_stmt(&f, FLAT_S_KERNEL, VARS(stop));
    f_body(&f, s, c);
    f_results(&f, s, ATOMS(b_prim(&f.b, PRIM_LT, f_in(&f, &s->body.inputs, IN_COL, n, FLAT_NO_VAR), core_i64(1))));
    FlatVar yes = f_ctx(&f, CTX_SELECTED, c), no = f_ctx(&f, CTX_SELECTED, c);
    s = f_stmt(&f, FLAT_S_SPLIT, VARS(yes, no));
    s->ctx = c, s->split.cond = stop;
    FlatVar end = f_col(&f, yes, T_I64), act = f_ctx(&f, CTX_SELECTED, yes), p = f_col(&f, act, T_I64),
            start = f_col(&f, yes, T_I64);
    s = f_stmt(&f, FLAT_S_KERNEL, VARS(start));
    f_body(&f, s, yes);
    f_results(&f, s, ATOMS(f_in(&f, &s->body.inputs, IN_COL, n, FLAT_NO_VAR)));
    FlatStmt *loop = f_stmt(&f, FLAT_S_LOOP_LIFTED, VARS(end));
    loop->ctx = yes;
    loop->loop_lifted.active = act, loop->loop_lifted.nparams = 1;
    loop->loop_lifted.params = f_vars(&f, VARS(p)), loop->loop_lifted.inits = f_vars(&f, VARS(start));
    FlatBlock *outer;
    loop->loop_lifted.cond = f_begin(&f, &outer);
    FlatVar go = f_col(&f, act, T_BOOL), next = f_col(&f, act, T_I64);
    s = f_stmt(&f, FLAT_S_KERNEL, VARS(go));
    f_body(&f, s, act);
    f_results(&f, s, ATOMS(b_prim(&f.b, PRIM_LT, f_in(&f, &s->body.inputs, IN_COL, p, FLAT_NO_VAR), core_i64(100))));
    f_end(&f, outer, VARS(go));
    loop->loop_lifted.body = f_begin(&f, &outer);
    s = f_stmt(&f, FLAT_S_KERNEL, VARS(next));
    f_body(&f, s, act);
    CoreAtom m = b_length(&f.b, f_in(&f, &s->body.inputs, IN_COL, xs, FLAT_NO_VAR));
    f_results(&f, s, ATOMS(b_prim(&f.b, PRIM_ADD, f_in(&f, &s->body.inputs, IN_COL, p, FLAT_NO_VAR), m)));
    f_end(&f, outer, VARS(next));
    FlatVar less = f_col(&f, no, T_I64), views = f_col(&f, no, T_SEQ), r1 = f_col(&f, no, T_I64),
            r2 = f_col(&f, yes, T_I64);
    s = f_stmt(&f, FLAT_S_KERNEL, VARS(less, views));
    f_body(&f, s, no);
    CoreAtom x = f_in(&f, &s->body.inputs, IN_COL, n, FLAT_NO_VAR);
    f_results(&f, s, ATOMS(b_prim(&f.b, PRIM_DIV, x, core_i64(2)), f_in(&f, &s->body.inputs, IN_COL, xs, FLAT_NO_VAR)));
    FlatVar views2 = f_col(&f, yes, T_SEQ);
    s = f_stmt(&f, FLAT_S_KERNEL, VARS(views2));
    f_body(&f, s, yes);
    f_results(&f, s, ATOMS(f_in(&f, &s->body.inputs, IN_COL, xs, FLAT_NO_VAR)));
    s = f_stmt(&f, FLAT_S_CALL_LIFTED, 0, NULL);
    s->call_lifted.fn = fn, s->call_lifted.nargs = 2, s->call_lifted.nresults = 1, s->call_lifted.nsites = 2;
    s->call_lifted.sites = arena_array(f.p->arena, FlatSite, 2);
    s->call_lifted.sites[0] = (FlatSite){no, f_vars(&f, VARS(less, views)), f_vars(&f, VARS(r1))};
    s->call_lifted.sites[1] = (FlatSite){yes, f_vars(&f, VARS(end, views2)), f_vars(&f, VARS(r2))};
    FlatVar out = f_col(&f, c, T_I64);
    s = f_stmt(&f, FLAT_S_MERGE, VARS(out));
    s->ctx = c, s->merge.nparts = 2;
    s->merge.parts = arena_array(f.p->arena, FlatPart, 2);
    s->merge.parts[0] = (FlatPart){no, f_vars(&f, VARS(r1))};
    s->merge.parts[1] = (FlatPart){yes, f_vars(&f, VARS(r2))};
    f_return(&f, VARS(out));
    StrBuf text = compile_all(&f);
    f_close(&f, &text);
}

/* More columns than one kernel may have: several kernels. */
static void test_many_outs(void **state)
{
    (void)state;
    enum { N = 2 * PLAN_MAX_OUTS + 1 };
    F f = f_open();
    f_fn(&f, "main", false);
    FlatVar xs = f_param(&f, f_host(&f, T_F32S)), c = f_nested(&f, FLAT_ROOT, xs), outs[N];
    CoreAtom results[N];
    for (int i = 0; i < N; i++)
        outs[i] = f_col(&f, c, T_F32);
    FlatStmt *s = f_stmt(&f, FLAT_S_KERNEL, N, outs);
    f_body(&f, s, c);
    CoreAtom x = f_in(&f, &s->body.inputs, IN_ELEM, xs, c);
    for (int i = 0; i < N; i++)
        results[i] = b_prim(&f.b, PRIM_MUL, x, x);
    f_results(&f, s, N, results);
    f_return(&f, VARS(f_views(&f, c, FLAT_ROOT, outs[N - 1])));
    assert_int_equal(plan_of(&f)->kernels.n, 3);
    StrBuf text = compile_all(&f);
    f_close(&f, &text);
}

/* ---- constants ---- */

static void add_constants(StrBuf *out, Scalar s, uint32_t n, const uint64_t *bits)
{
    for (uint32_t i = 0; i < n; i++) {
        strbuf_printf(out, "    if (dp_to_bits_%s(", scalar_name(s));
        emit_literal(out, s, bits[i]);
        strbuf_printf(out, ") != 0x%llxUL) return 1;\n", (unsigned long long)bits[i]);
    }
}
#define BITS(...) (sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)), ((uint64_t[]){__VA_ARGS__})

static void test_constants(void **state)
{
    (void)state;
    StrBuf text = {0};
    strbuf_add(&text, "#include \"dp_scalar.h\"\nint main(void)\n{\n");
    add_constants(&text, SC_BOOL, BITS(0, 1));
    add_constants(&text, SC_I8, BITS(0, 127, (uint64_t)-128, (uint64_t)-1));
    add_constants(&text, SC_I32, BITS(0, INT32_MAX, (uint64_t)INT32_MIN, (uint64_t)-7));
    add_constants(&text, SC_I64, BITS(0, INT64_MAX, (uint64_t)INT64_MIN, (uint64_t)-1));
    add_constants(&text, SC_U8, BITS(0, 255));
    add_constants(&text, SC_U32, BITS(0, UINT32_MAX));
    add_constants(&text, SC_U64, BITS(0, UINT64_MAX));
    /* 0, -0, 1, 0.1, the smallest subnormal, the largest, inf, -inf, nan */
    add_constants(&text, SC_F32,
                  BITS(0, 0x80000000, 0x3f800000, 0x3dcccccd, 1, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000));
    add_constants(&text, SC_F64,
                  BITS(0, 0x8000000000000000, 0x3ff0000000000000, 0x3fb999999999999a, 1, 0x7fefffffffffffff,
                       0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000));
    strbuf_add(&text, "    return 0;\n}\n");
    write_file("constants.c", &text);
    strbuf_free(&text);
    assert_true(run("${CC:-cc} -std=c11 -Wall -Wextra -Werror -Wno-unused-function -I runtime/include %s/constants.c "
                    "-o %s/constants -lm"));
    assert_true(run("%s/constants"));
}

/* Strings survive the C compiler, whatever is in them. */
static void test_strings(void **state)
{
    (void)state;
    static const char bytes[] = "\"\\ \n\t\a\0011 ?"
                                "?/ %s \xc3\xa9";
    StrBuf text = {0};
    strbuf_add(&text, "int main(void)\n{\n    const unsigned char s[] = ");
    emit_string(&text, bytes, sizeof bytes - 1);
    strbuf_add(&text, ";\n    const unsigned char t[] = {");
    for (size_t i = 0; i < sizeof bytes; i++)
        strbuf_printf(&text, "%u,", (unsigned)(unsigned char)bytes[i]);
    strbuf_add(&text, "};\n    for (unsigned i = 0; i < sizeof t; i++) if (s[i] != t[i]) return 1;\n    return sizeof "
                      "s != sizeof t;\n}\n");
    write_file("strings.c", &text);
    strbuf_free(&text);
    assert_true(run("${CC:-cc} -std=c11 -Wall -Wextra -Werror %s/strings.c -o %s/strings"));
    assert_true(run("%s/strings"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spmv),      cmocka_unit_test(test_over),           cmocka_unit_test(test_tile),
        cmocka_unit_test(test_inputs),    cmocka_unit_test(test_scalar_control), cmocka_unit_test(test_counting),
        cmocka_unit_test(test_host_code), cmocka_unit_test(test_segmented),      cmocka_unit_test(test_host_control),
        cmocka_unit_test(test_lifted),    cmocka_unit_test(test_many_outs),      cmocka_unit_test(test_constants),
        cmocka_unit_test(test_strings),
    };
    return cmocka_run_group_tests(tests, open_directory, close_directory);
}
