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
    F f = emit_open();
    FlatVar rows_j = f_param(&f, T_SEQ2), rows_v = f_param(&f, T_F32SS), x = f_param(&f, T_F32S);
    FlatVar c1 = f_nested(&f, FLAT_ROOT, rows_j);
    FlatVar r_j = f_elems(&f, c1, rows_j), r_v = f_elems(&f, c1, rows_v), c2 = f_nested(&f, c1, r_j);
    Body b = f_begin(&f, c2);
    CoreAtom j = f_elem(&f, &b, r_j, c2), v = f_elem(&f, &b, r_v, c2);
    CoreAtom product = b_prim(&f.b, PRIM_MUL, v, b_index(&f.b, f_host(&f, &b, x), j));
    FlatVar sum = f_reduce(&f, f_end(&f, &b, ATOMS(product)), f_op(&f, PRIM_ADD, T_F32, core_const(SC_F32, 0)));
    f_results(&f, f.fn->body, VARS(f_views(&f, c1, sum)));
    StrBuf text = compile_all(&f);
    assert_has(&text, "#define DP_ELEM0 (w0 + i * 8)");
    assert_has(&text, "#define DP_USES_SEG ((DP_VARIANT & 0x3U) != 0x3U)");
    assert_null(strstr(text.text, "DP_SHAPE")); /* nothing is shared */
    emit_close(&f, &text);
}

/* A product of matrices, of which the second one is given in columns: what is shared by rows, by columns, and the rest.
 * Then the same of one row: a stream. */
static void test_tile(void **state)
{
    (void)state;
    F f = emit_open();
    FlatVar rows = f_param(&f, T_F32SS), columns = f_param(&f, T_F32SS), n = f_param(&f, T_I64),
            xs = f_param(&f, T_F32S);
    FlatVar c1 = f_nested(&f, FLAT_ROOT, rows), c2 = f_nested(&f, c1, n), c3 = f_nested(&f, c2, n);
    Body b = f_begin(&f, c3);
    CoreAtom k = f_pos(&f, &b, c3), j = f_pos(&f, &b, c2);
    CoreAtom x = b_index(&f.b, f_elem(&f, &b, rows, c1), k);
    CoreAtom column = b_index(&f.b, f_host(&f, &b, columns), j);
    FlatBody body = f_end(&f, &b, ATOMS(b_prim(&f.b, PRIM_MUL, x, b_index(&f.b, column, k))));
    FlatVar product = f_reduce(&f, body, f_op(&f, PRIM_ADD, T_F32, core_const(SC_F32, 0)));
    FlatVar c4 = f_nested(&f, c1, n);
    b = f_begin(&f, c4);
    k = f_pos(&f, &b, c4);
    x = b_index(&f.b, f_host(&f, &b, xs), k);
    body = f_end(&f, &b, ATOMS(b_prim(&f.b, PRIM_MUL, x, b_index(&f.b, f_elem(&f, &b, rows, c1), k))));
    FlatVar dot = f_reduce(&f, body, f_op(&f, PRIM_ADD, T_F32, core_const(SC_F32, 0)));
    f_results(&f, f.fn->body, VARS(f_views(&f, c1, f_views(&f, c2, product)), f_views(&f, c1, dot)));
    StrBuf text = compile_all(&f);
    assert_has(&text, "#define DP_SHAPE 3\n#define DP_COLUMN_BY_K 1\n#define DP_HAS_STREAM 0\n#define DP_HAS_ROW_K 1\n"
                      "#define DP_HAS_COLUMN_K 1\n");
    assert_has(&text, "#define DP_SHAPE 1\n#define DP_COLUMN_BY_K 0\n#define DP_HAS_STREAM 1\n#define DP_HAS_ROW_K 0\n"
                      "#define DP_HAS_COLUMN_K 0\n");
    emit_close(&f, &text);
}

/* What may write over what it reads promises nothing of its pointers; others do. */
static void test_over(void **state)
{
    (void)state;
    static const char *const shapes[] = {"-DDP_CPU=1 -DDP_WAY=0", "-DDP_CPU=1 -DDP_WAY=1", "-DDP_GPU=1 -DDP_WAY=0",
                                         "-DDP_GPU=1 -DDP_WAY=1", "-DDP_GPU=1 -DDP_WAY=2"};
    F f = emit_open();
    FlatVar xss = f_param(&f, T_F32SS), xs = f_param(&f, T_F32S);
    FlatVar c1 = f_nested(&f, FLAT_ROOT, xss), rows = f_elems(&f, c1, xss), c2 = f_nested(&f, c1, rows);
    const FlatStays none = {.bound = FLAT_NO_VAR};
    const FlatOver over = {rows, xss, none, none};
    FlatVar ys[2];
    for (uint32_t i = 0; i < 2; i++) {
        Body b = f_begin(&f, c2);
        CoreAtom x = f_elem(&f, &b, rows, c2), p = f_pos(&f, &b, c1);
        x = b_prim(&f.b, PRIM_ADD, x, b_index(&f.b, f_host(&f, &b, xs), p));
        ys[i] = f_map(&f, f_end(&f, &b, ATOMS(x)));
        f_last(&f)->kernel.over = i ? &over : NULL;
    }
    f_results(&f, f.fn->body, VARS(f_views(&f, c1, f_views(&f, c2, ys[0])), f_views(&f, c1, f_views(&f, c2, ys[1]))));
    StrBuf text = compile_all(&f);
    const Plan *plan = plan_of(&f);
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t k = 0; k < sizeof shapes / sizeof *shapes && has_clang(); k++)
            assert_int_equal(kernel_promises(plan, plan->kernels.at[i], shapes[k]), i == 0);
    emit_close(&f, &text);
}

/* Every kind of input, from a context two levels below: paths, positions, elements of an ancestor's array. */
static void test_inputs(void **state)
{
    (void)state;
    F f = emit_open();
    FlatVar xss = f_param(&f, T_F32SS), n = f_param(&f, T_I64);
    FlatVar c1 = f_nested(&f, FLAT_ROOT, xss), xs = f_elems(&f, c1, xss), c2 = f_nested(&f, c1, xs);
    Body b = f_begin(&f, c2);
    CoreAtom pos = f_pos(&f, &b, c2);
    FlatVar sizes = f_map(&f, f_end(&f, &b, ATOMS(b_prim(&f.b, PRIM_DIV, f_host(&f, &b, n), pos))));
    FlatVar c3 = f_nested(&f, c2, sizes);
    b = f_begin(&f, c3);
    pos = f_pos(&f, &b, c3);
    CoreAtom row = f_elem(&f, &b, xss, c1), up = f_pos(&f, &b, c1), e = f_elem(&f, &b, xs, c2);
    b_check(&f.b, b_prim(&f.b, PRIM_LT, pos, f_col(&f, &b, sizes)), ERR_LENGTHS, ATOMS(pos, up));
    CoreAtom y = b_index(&f.b, row, pos);
    FlatVar c4 = f_pack(&f, f_end(&f, &b, ATOMS(b_prim(&f.b, PRIM_LT, y, e)))), outs[2];
    b = f_begin(&f, c4);
    e = f_elem(&f, &b, xs, c2);
    f_maps(&f, f_end(&f, &b, ATOMS(e, f_col(&f, &b, xs))), outs);
    for (uint32_t i = 0; i < 2; i++)
        f_views(&f, c2, f_views(&f, c4, outs[i])); /* columns: nobody wants them */
    StrBuf text = compile_all(&f);
    assert_has(&text, "DP_PATH");
    emit_close(&f, &text);
}

/* Loops and branches in a kernel, views as state; loops that may fail leave when they have failed. */
static void test_scalar_control(void **state)
{
    (void)state;
    F f = emit_open();
    FlatVar xss = f_param(&f, T_F32SS), c = f_nested(&f, FLAT_ROOT, xss), outs[2];
    Body b = f_begin(&f, c);
    CoreAtom xs = f_elem(&f, &b, xss, c);
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
    f_maps(&f, f_end(&f, &b, ATOMS(b_result(&f.b, loop, 0), b_result(&f.b, loop, 2))), outs);
    f_results(&f, f.fn->body, VARS(f_views(&f, c, outs[0]), f_views(&f, c, outs[1])));
    StrBuf text = compile_all(&f);
    assert_has(&text, "dp_bool failed = *DP_AT(volatile int, 0) != 0;");
    assert_has(&text, "if (failed || !");
    emit_close(&f, &text);
}

/* A loop that does not look at its index, within another such; what stands in it relies on a check before it. */
static void test_counting(void **state)
{
    (void)state;
    F f = emit_open();
    FlatVar xs = f_param(&f, T_F32S), n = f_param(&f, T_I64), c = f_nested(&f, FLAT_ROOT, xs);
    Body b = f_begin(&f, c);
    CoreAtom x = f_host(&f, &b, xs), m = f_host(&f, &b, n);
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
    FlatVar out = f_map(&f, f_end(&f, &b, ATOMS(b_push(&f.b, loops[0]))));
    f_results(&f, f.fn->body, VARS(f_views(&f, c, out)));
    StrBuf text = compile_all(&f);
    assert_has(&text, "if (!failed)\n        for (dp_i64 round = 0; ");
    emit_close(&f, &text);
}

/* The same kinds of code at depth 0, where views are counted. */
static void test_host_code(void **state)
{
    (void)state;
    F f = emit_open();
    FlatVar xss = f_param(&f, T_F32SS), i = f_param(&f, T_I64), outs[2];
    Body b = f_begin(&f, FLAT_ROOT);
    CoreAtom all = f_host(&f, &b, xss), k = f_host(&f, &b, i);
    CoreAtom row = b_index(&f.b, all, k), other = b_index(&f.b, all, b_prim(&f.b, PRIM_DIV, k, k));
    CoreStmt *select = b_stmt(&f.b, CORE_PRIM, 1, &T_F32S);
    select->prim.op = PRIM_SELECT, select->prim.nargs = 3;
    select->prim.args = b_atoms(&f.b, ATOMS(core_const(SC_BOOL, 1), row, other));
    row = b_push(&f.b, select);
    f_maps(&f, f_end(&f, &b, ATOMS(row, b_index(&f.b, row, core_i64(INT64_MIN)))), outs);
    FlatVar xs = outs[0], x = outs[1];
    b = f_begin(&f, FLAT_ROOT);
    all = f_host(&f, &b, xs);
    FlatVar pair = f_array(&f, T_F32SS, f_end(&f, &b, ATOMS(all, all)));
    b = f_begin(&f, FLAT_ROOT);
    FlatVar none = f_array(&f, T_F32S, f_end(&f, &b, 0, NULL));
    FlatVar changed = f_update(&f, FLAT_ROOT, pair, i, none), changed2 = f_update(&f, FLAT_ROOT, xs, i, x);
    FlatVar flat = f_arrays(&f, FLAT_S_FLATTEN, FLAT_ROOT, T_F32S, FLAT_ROOT, VARS(changed));
    FlatVar order = f_arrays(&f, FLAT_S_ARGSORT, FLAT_ROOT, T_SEQ, FLAT_ROOT, VARS(flat));
    f_results(&f, f.fn->body, VARS(order, changed2));
    StrBuf text = compile_all(&f);
    emit_close(&f, &text);
}

/* scan, scatter, histogram, array, split, merge, update, flatten, argsort in a context. */
static void test_segmented(void **state)
{
    (void)state;
    F f = emit_open();
    FlatVar xss = f_param(&f, T_SEQ2), c1 = f_nested(&f, FLAT_ROOT, xss), xs = f_elems(&f, c1, xss);
    FlatVar c2 = f_nested(&f, c1, xs), split[2], sizes[2];
    Body b = f_begin(&f, c2);
    CoreAtom x = f_elem(&f, &b, xs, c2);
    FlatVar sums = f_scan(&f, f_end(&f, &b, ATOMS(x)), f_op(&f, PRIM_ADD, T_I64, core_i64(0)), true);
    b = f_begin(&f, c1);
    CoreAtom n = b_length(&f.b, f_col(&f, &b, xs));
    f_maps(&f, f_end(&f, &b, ATOMS(n, b_prim(&f.b, PRIM_LT, n, core_i64(10)))), sizes);
    const FlatVar size = sizes[0];
    b = f_begin(&f, c2);
    x = f_elem(&f, &b, xs, c2);
    FlatBody body = f_end(&f, &b, ATOMS(x, core_i64(1)));
    FlatVar counts = f_hist(&f, size, body, f_op(&f, PRIM_ADD, T_I64, core_i64(0)));
    b = f_begin(&f, c2);
    FlatVar moved = f_scatter(&f, counts, f_end(&f, &b, ATOMS(f_pos(&f, &b, c2), f_col(&f, &b, sums))));
    f_split(&f, c1, sizes[1], split);
    b = f_begin(&f, split[0]);
    x = f_col(&f, &b, size);
    FlatVar in_a = f_array(&f, T_SEQ, f_end(&f, &b, ATOMS(x, core_i64(-1), x)));
    b = f_begin(&f, split[1]);
    FlatVar in_b = f_map(&f, f_end(&f, &b, ATOMS(f_col(&f, &b, moved))));
    FlatVar both = f_merge(&f, c1, 2, split, (FlatVar[]){in_a, in_b});
    FlatVar updated = f_update(&f, c1, both, size, size);
    FlatVar out = f_views(&f, c1, f_arrays(&f, FLAT_S_ARGSORT, c1, T_SEQ, c1, VARS(updated)));
    FlatOp commutative = f_op(&f, PRIM_ADD, T_I64, core_i64(0));
    commutative.commutative = true;
    b = f_begin(&f, c1);
    FlatVar total = f_reduce(&f, f_end(&f, &b, ATOMS(f_col(&f, &b, size))), commutative);
    b = f_begin(&f, c1);
    x = f_col(&f, &b, size);
    body = f_end(&f, &b, ATOMS(x, x));
    FlatVar bins = f_hist(&f, total, body, f_op(&f, PRIM_MIN, T_I64, core_i64(INT64_MAX)));
    b = f_begin(&f, c1);
    x = f_col(&f, &b, size);
    FlatVar result = f_scatter(&f, bins, f_end(&f, &b, ATOMS(x, x)));
    f_results(&f, f.fn->body, VARS(out, total, result));
    StrBuf text = compile_all(&f);
    assert_has(&text, "#define DP_EXCLUSIVE 1");
    assert_has(&text, "atom_add");
    assert_has(&text, "o0 + (i * 3 + 1) * 8");
    emit_close(&f, &text);
}

/* Host loops and branches, whose state moves. */
static void test_host_control(void **state)
{
    (void)state;
    F f = emit_open();
    FlatVar xs = f_param(&f, T_F32S), ys = f_param(&f, T_F32S), n = f_param(&f, T_I64), flag = f_param(&f, T_BOOL);
    FlatVar p = f_in(&f, T_F32S, FLAT_ROOT), q = f_in(&f, T_F32S, FLAT_ROOT), i = f_in(&f, T_I64, FLAT_ROOT);
    FlatVar out1 = f_in(&f, T_F32S, FLAT_ROOT), out2 = f_in(&f, T_F32S, FLAT_ROOT);
    FlatStmt *loop = f_stmt(&f, FLAT_S_LOOP, VARS(out1, out2));
    loop->loop.nparams = 2;
    loop->loop.params = f_vars(&f, VARS(p, q));
    loop->loop.inits = f_vars(&f, VARS(xs, xs));
    loop->loop.index = i, loop->loop.count = n;
    loop->loop.body = f.at = f_block(&f);
    FlatVar r = f_in(&f, T_F32S, FLAT_ROOT);
    FlatStmt *s = f_stmt(&f, FLAT_S_IF, VARS(r));
    s->if_.cond = flag;
    s->if_.then_b = f_block(&f), s->if_.else_b = f_block(&f);
    f_results(&f, s->if_.then_b, VARS(ys));
    f_results(&f, s->if_.else_b, VARS(p));
    f_results(&f, f.at, VARS(q, r));
    f.at = f.fn->body;
    FlatVar w = f_in(&f, T_F32S, FLAT_ROOT), done = f_in(&f, T_F32S, FLAT_ROOT);
    s = f_stmt(&f, FLAT_S_LOOP, VARS(done));
    s->loop.nparams = 1, s->loop.params = f_vars(&f, VARS(w)), s->loop.inits = f_vars(&f, VARS(out1));
    s->loop.index = s->loop.count = FLAT_NO_VAR;
    s->loop.cond = f_block(&f), s->loop.body = f_block(&f);
    f_results(&f, s->loop.cond, VARS(flag));
    f_results(&f, s->loop.body, VARS(w));
    f_results(&f, f.at, VARS(done, out2, n, flag));
    emit_entry(&f);
    StrBuf text = {0};
    StrBuf host = {0};
    emit_host_c(&host, plan_of(&f), "x.dp", (DpTune){0}, true);
    compile_host(&host);
    strbuf_free(&host);
    emit_close(&f, &text);
}

/* A column of the context. */
static FlatVar copy_of(F *f, FlatVar ctx, FlatVar col)
{
    Body b = f_begin(f, ctx);
    return f_map(f, f_end(f, &b, ATOMS(f_col(f, &b, col))));
}

/* loop p = start while p < 100 do p + length xs, in a context. */
static FlatVar lifted_loop(F *f, FlatVar ctx, FlatVar start, FlatVar xs)
{
    FlatBlock *outer = f->at;
    FlatVar end = f_in(f, T_I64, ctx), act = f_ctx(f, CTX_SELECTED, ctx), p = f_in(f, T_I64, act);
    FlatStmt *loop = f_stmt(f, FLAT_S_LOOP_LIFTED, VARS(end));
    loop->ctx = ctx;
    loop->loop_lifted.active = act, loop->loop_lifted.nparams = 1;
    loop->loop_lifted.params = f_vars(f, VARS(p)), loop->loop_lifted.inits = f_vars(f, VARS(start));
    loop->loop_lifted.cond = f->at = f_block(f);
    Body b = f_begin(f, act);
    FlatBody body = f_end(f, &b, ATOMS(b_prim(&f->b, PRIM_LT, f_col(f, &b, p), core_i64(100))));
    f_results(f, f->at, VARS(f_map(f, body)));
    loop->loop_lifted.body = f->at = f_block(f);
    b = f_begin(f, act);
    CoreAtom m = b_length(&f->b, f_col(f, &b, xs));
    body = f_end(f, &b, ATOMS(b_prim(&f->b, PRIM_ADD, f_col(f, &b, p), m)));
    f_results(f, f->at, VARS(f_map(f, body)));
    f->at = outer;
    return end;
}

/* A recursive lifted function that calls itself from two places, and a loop in a context. */
static void test_lifted(void **state)
{
    (void)state;
    F f = emit_open();
    FlatFn *fn = f_fn(&f, "half_lifted");
    fn->recursive = fn->lifted = true;
    FlatVar c = fn->ctx = f_ctx(&f, CTX_FN, FLAT_NO_VAR), ways[2], less[2];
    FlatVar n = f_param(&f, T_I64), xs = f_param(&f, T_SEQ);
    Body b = f_begin(&f, c);
    FlatBody stop = f_end(&f, &b, ATOMS(b_prim(&f.b, PRIM_LT, f_col(&f, &b, n), core_i64(1))));
    f_split(&f, c, f_map(&f, stop), ways);
    const FlatVar yes = ways[0], no = ways[1];
    FlatVar end = lifted_loop(&f, yes, copy_of(&f, yes, n), xs);
    b = f_begin(&f, no);
    CoreAtom half = b_prim(&f.b, PRIM_DIV, f_col(&f, &b, n), core_i64(2));
    f_maps(&f, f_end(&f, &b, ATOMS(half, f_col(&f, &b, xs))), less);
    FlatVar xs_yes = copy_of(&f, yes, xs), r1 = f_in(&f, T_I64, no), r2 = f_in(&f, T_I64, yes);
    FlatStmt *s = f_stmt(&f, FLAT_S_CALL_LIFTED, 0, NULL);
    s->call_lifted.fn = fn, s->call_lifted.nargs = 2, s->call_lifted.nresults = 1, s->call_lifted.nsites = 2;
    s->call_lifted.sites = arena_array(f.p->arena, FlatSite, 2);
    s->call_lifted.sites[0] = (FlatSite){no, f_vars(&f, 2, less), f_vars(&f, VARS(r1))};
    s->call_lifted.sites[1] = (FlatSite){yes, f_vars(&f, VARS(end, xs_yes)), f_vars(&f, VARS(r2))};
    f_results(&f, f.at, VARS(f_merge(&f, c, 2, (FlatVar[]){no, yes}, (FlatVar[]){r1, r2})));
    StrBuf text = compile_all(&f);
    emit_close(&f, &text);
}

/* More columns than one kernel may have: several kernels. */
static void test_many_outs(void **state)
{
    (void)state;
    enum { N = 2 * PLAN_MAX_OUTS + 1 };
    F f = emit_open();
    FlatVar xs = f_param(&f, T_F32S), c = f_nested(&f, FLAT_ROOT, xs), outs[N];
    CoreAtom results[N];
    Body b = f_begin(&f, c);
    CoreAtom x = f_elem(&f, &b, xs, c);
    for (int i = 0; i < N; i++)
        results[i] = b_prim(&f.b, PRIM_MUL, x, x);
    f_maps(&f, f_end(&f, &b, N, results), outs);
    f_results(&f, f.fn->body, VARS(f_views(&f, c, outs[N - 1])));
    assert_int_equal(plan_of(&f)->kernels.n, 3);
    StrBuf text = compile_all(&f);
    emit_close(&f, &text);
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
