/* Flat programs by hand, for unit tests: on top of core_builder.h, which builds the scalar code of bodies. Each
 * function appends one statement to the block at hand and returns what it binds. */
#ifndef DPC_TEST_FLAT_BUILDER_H
#define DPC_TEST_FLAT_BUILDER_H

#include "core_builder.h"

#include "flat/flat_eval.h"

typedef struct F {
    B b;
    FlatProgram *p;
    FlatFn *fn;
    FlatBlock *at;    /* where statements go */
    Span span;        /* of statements */
    const char *hint; /* of variables at depth 0 */
} F;

static inline FlatBlock *f_block(F *f) { return arena_new(f->p->arena, FlatBlock); }

static inline FlatFn *f_fn(F *f, const char *name)
{
    FlatFn *fn = arena_new(f->p->arena, FlatFn);
    fn->name = name;
    fn->index = f->p->fns.n;
    fn->ctx = FLAT_NO_VAR;
    fn->scope = b_fn(&f->b, name);
    fn->body = f_block(f);
    vec_push(f->p->arena, &f->p->fns, fn);
    f->fn = fn;
    f->at = fn->body;
    return fn;
}

static inline F f_open(void)
{
    F f = {.b = b_open()};
    f.p = arena_new(f.b.p->arena, FlatProgram);
    f.p->arena = f.b.p->arena;
    f.p->core = f.b.p;
    f_fn(&f, "main");
    return f;
}

static inline void f_close(F *f) { b_close(&f->b); }

/* ---- variables ---- */

static inline FlatVar f_var(F *f, FlatVarInfo info)
{
    vec_push(f->p->arena, &f->fn->vars, info);
    return f->fn->vars.n - 1;
}

/* A variable of a context, or of depth 0 for FLAT_ROOT. */
static inline FlatVar f_in(F *f, CoreType t, FlatVar ctx)
{
    bool host = ctx == FLAT_ROOT;
    return f_var(f, (FlatVarInfo){.kind = host ? FLAT_HOST : FLAT_COL,
                                  .type = t,
                                  .ctx = host ? FLAT_NO_VAR : ctx,
                                  .hint = host ? f->hint : NULL});
}

static inline FlatVar f_ctx(F *f, FlatCtxKind kind, FlatVar up)
{
    return f_var(f, (FlatVarInfo){.kind = FLAT_CTX, .ctx_kind = kind, .ctx = up});
}

static inline FlatVar f_up(F *f, FlatVar ctx) { return f->fn->vars.at[ctx].ctx; }
static inline CoreType f_type(F *f, FlatVar v) { return f->fn->vars.at[v].type; }

static inline FlatVar *f_vars(F *f, uint32_t n, const FlatVar *at)
{
    FlatVar *copy = arena_array(f->p->arena, FlatVar, n + 1);
    if (n)
        memcpy(copy, at, n * sizeof *copy);
    return copy;
}
#define VARS(...) (sizeof((FlatVar[]){__VA_ARGS__}) / sizeof(FlatVar)), ((FlatVar[]){__VA_ARGS__})

static inline FlatVar f_param(F *f, CoreType t)
{
    FlatVar v = f_in(f, t, f->fn->lifted ? f->fn->ctx : FLAT_ROOT);
    FlatVar *params = arena_array(f->p->arena, FlatVar, f->fn->nparams + 1);
    for (uint32_t i = 0; i < f->fn->nparams; i++)
        params[i] = f->fn->params[i];
    params[f->fn->nparams++] = v;
    f->fn->params = params;
    return v;
}

static inline void f_results(F *f, FlatBlock *b, uint32_t n, const FlatVar *results)
{
    b->results = f_vars(f, n, results);
    b->nresults = n;
}

/* ---- bodies ---- */

typedef struct Body {
    FlatBody body;
    CoreBlock *outer;
} Body;

/* Opens a body: core statements go into it until f_end. */
static inline Body f_begin(F *f, FlatVar ctx)
{
    Body x = {.body = {.ctx = ctx, .block = core_new_block(f->b.p)}, .outer = f->b.b};
    f->b.b = x.body.block;
    return x;
}

static inline CoreAtom f_input(F *f, FlatInputs *inputs, FlatInputKind kind, FlatVar var, FlatVar ctx)
{
    CoreType t = kind == IN_POS ? T_I64 : kind == IN_ELEM ? core_element(f_type(f, var)) : f_type(f, var);
    CoreAtom a = b_var(&f->b, t);
    FlatInput in = {kind, a.var, var, ctx};
    vec_push(f->p->arena, inputs, in);
    return a;
}

static inline CoreAtom f_host(F *f, Body *x, FlatVar v) { return f_input(f, &x->body.inputs, IN_HOST, v, FLAT_NO_VAR); }
static inline CoreAtom f_col(F *f, Body *x, FlatVar v) { return f_input(f, &x->body.inputs, IN_COL, v, FLAT_NO_VAR); }
static inline CoreAtom f_elem(F *f, Body *x, FlatVar array, FlatVar ctx)
{
    return f_input(f, &x->body.inputs, IN_ELEM, array, ctx);
}
static inline CoreAtom f_pos(F *f, Body *x, FlatVar ctx)
{
    return f_input(f, &x->body.inputs, IN_POS, FLAT_NO_VAR, ctx);
}

static inline FlatBody f_end(F *f, Body *x, uint32_t n, const CoreAtom *results)
{
    b_results(&f->b, x->body.block, n, results);
    f->b.b = x->outer;
    return x->body;
}

/* ---- statements ---- */

static inline FlatStmt *f_stmt(F *f, FlatKind kind, uint32_t n, const FlatVar *outs)
{
    FlatStmt *s = arena_new(f->p->arena, FlatStmt);
    s->kind = kind;
    s->outs = f_vars(f, n, outs);
    s->nouts = n;
    s->ctx = FLAT_NO_VAR;
    s->span = f->span;
    vec_push(f->p->arena, &f->at->stmts, s);
    return s;
}
static inline FlatStmt *f_last(F *f) { return f->at->stmts.at[f->at->stmts.n - 1]; }

/* HOST, KERNEL (by the context). */
static inline void f_maps(F *f, FlatBody body, FlatVar *outs)
{
    for (uint32_t i = 0; i < body.block->nresults; i++)
        outs[i] = f_in(f, core_atom_type(f->fn->scope, body.block->results[i]), body.ctx);
    f_stmt(f, body.ctx == FLAT_ROOT ? FLAT_S_HOST : FLAT_S_KERNEL, body.block->nresults, outs)->body = body;
}

/* The same with one result. */
static inline FlatVar f_map(F *f, FlatBody body)
{
    FlatVar out;
    f_maps(f, body, &out);
    return out;
}

static inline FlatVar f_const(F *f, int64_t x)
{
    Body h = f_begin(f, FLAT_ROOT);
    return f_map(f, f_end(f, &h, ATOMS(core_i64(x))));
}

static inline FlatVar f_array(F *f, CoreType t, FlatBody body)
{
    FlatVar out = f_in(f, t, body.ctx);
    f_stmt(f, FLAT_S_ARRAY, VARS(out))->body = body;
    return out;
}

static inline FlatVar f_nested(F *f, FlatVar up, FlatVar source)
{
    FlatVar out = f_ctx(f, CTX_NESTED, up);
    f_stmt(f, FLAT_S_NESTED, VARS(out))->nested.source = source;
    return out;
}

static inline FlatVar f_pack(F *f, FlatBody body)
{
    FlatVar out = f_ctx(f, CTX_SELECTED, body.ctx);
    FlatStmt *s = f_stmt(f, FLAT_S_PACK, VARS(out));
    s->body = body;
    s->pack.nways = 1;
    return out;
}

static inline FlatStmt *f_split(F *f, FlatVar ctx, FlatVar cond, FlatVar outs[2])
{
    outs[0] = f_ctx(f, CTX_SELECTED, ctx);
    outs[1] = f_ctx(f, CTX_SELECTED, ctx);
    FlatStmt *s = f_stmt(f, FLAT_S_SPLIT, 2, outs);
    s->ctx = ctx;
    s->split.cond = cond;
    return s;
}

/* ELEMS, VIEWS, ARGSORT, FLATTEN of one array. */
static inline FlatVar f_arrays(F *f, FlatKind kind, FlatVar ctx, CoreType t, FlatVar out_ctx, uint32_t n,
                               const FlatVar *arrays)
{
    FlatVar out = f_in(f, t, out_ctx);
    FlatStmt *s = f_stmt(f, kind, VARS(out));
    s->ctx = ctx;
    s->arrays.arrays = f_vars(f, n, arrays);
    s->arrays.n = n;
    s->arrays.nkeys = kind == FLAT_S_ARGSORT ? n : 0;
    return out;
}

static inline FlatVar f_elems(F *f, FlatVar ctx, FlatVar array)
{
    return f_arrays(f, FLAT_S_ELEMS, ctx, core_element(f_type(f, array)), ctx, VARS(array));
}

static inline FlatVar f_views(F *f, FlatVar ctx, FlatVar col)
{
    FlatVar nested = f->fn->vars.at[ctx].ctx_kind == CTX_NESTED ? ctx : f_up(f, ctx);
    return f_arrays(f, FLAT_S_VIEWS, ctx, core_seq(f_type(f, col)), f_up(f, nested), VARS(col));
}

static inline FlatVar f_merge(F *f, FlatVar ctx, uint32_t n, const FlatVar *parts, const FlatVar *cols)
{
    FlatVar out = f_in(f, f_type(f, cols[0]), ctx);
    FlatStmt *s = f_stmt(f, FLAT_S_MERGE, VARS(out));
    s->ctx = ctx;
    s->merge.parts = arena_array(f->p->arena, FlatPart, n);
    s->merge.nparts = n;
    for (uint32_t i = 0; i < n; i++)
        s->merge.parts[i] = (FlatPart){parts[i], f_vars(f, 1, &cols[i])};
    return out;
}

/* acc, x -> op acc x, with a constant neutral element */
static inline FlatOp f_op(F *f, CorePrim op, CoreType t, CoreAtom neutral)
{
    return (FlatOp){.op = b_operator(&f->b, op, t), .neutral = b_atoms(&f->b, ATOMS(neutral)), .k = 1};
}

static inline FlatVar f_reduce(F *f, FlatBody body, FlatOp op)
{
    FlatVar out = f_in(f, core_atom_type(f->fn->scope, body.block->results[0]), f_up(f, body.ctx));
    FlatStmt *s = f_stmt(f, FLAT_S_REDUCE, VARS(out));
    s->body = body;
    s->reduce.op = op;
    return out;
}

static inline FlatVar f_scan(F *f, FlatBody body, FlatOp op, bool exclusive)
{
    FlatVar out = f_in(f, core_atom_type(f->fn->scope, body.block->results[0]), body.ctx);
    FlatStmt *s = f_stmt(f, FLAT_S_SCAN, VARS(out));
    s->body = body;
    s->reduce.op = op;
    s->reduce.exclusive = exclusive;
    return out;
}

static inline FlatVar f_hist(F *f, FlatVar size, FlatBody body, FlatOp op)
{
    CoreType t = core_seq(core_atom_type(f->fn->scope, body.block->results[1]));
    FlatVar out = f_in(f, t, f_up(f, body.ctx));
    FlatStmt *s = f_stmt(f, FLAT_S_HIST, VARS(out));
    s->body = body;
    s->reduce.op = op;
    s->reduce.size = size;
    return out;
}

static inline FlatVar f_scatter(F *f, FlatVar dest, FlatBody body)
{
    FlatVar out = f_in(f, f_type(f, dest), f_up(f, body.ctx));
    FlatStmt *s = f_stmt(f, FLAT_S_SCATTER, VARS(out));
    s->body = body;
    s->reduce.dests = f_vars(f, VARS(dest));
    s->reduce.ndests = 1;
    return out;
}

static inline FlatVar f_update(F *f, FlatVar ctx, FlatVar array, FlatVar index, FlatVar value)
{
    FlatVar out = f_in(f, f_type(f, array), ctx);
    FlatStmt *s = f_stmt(f, FLAT_S_UPDATE, VARS(out));
    s->ctx = ctx;
    s->update.array = array;
    s->update.index = index;
    s->update.value = value;
    return out;
}

/* Sum of the elements of `array` in each segment of ctx. */
static inline FlatVar f_sum(F *f, FlatVar ctx, FlatVar array)
{
    Body x = f_begin(f, ctx);
    CoreAtom e = f_elem(f, &x, array, ctx);
    return f_reduce(f, f_end(f, &x, ATOMS(e)), f_op(f, PRIM_ADD, T_I64, core_i64(0)));
}

/* ---- running ---- */

static inline void assert_flat_valid(F *f)
{
    StrBuf why = {0};
    bool ok = flat_check(f->p, &why);
    if (!ok) {
        strbuf_add(&why, "\n");
        flat_print(&why, f->p);
        print_error("%s\n", why.text);
    }
    strbuf_free(&why);
    assert_true(ok);
}

/* Checks, computes liveness, prints (for the sanitizers), and runs main (fns[0]). */
static inline bool f_try(F *f, const CoreValue *args, CoreValue *results, EvalError *error, FlatCounts *counts)
{
    StrBuf text = {0};
    assert_flat_valid(f);
    flat_liveness(f->p);
    flat_print(&text, f->p);
    strbuf_free(&text);
    return flat_eval(f->p, f->p->fns.at[0], f->p->arena, args, results, NULL, error, counts);
}

static inline FlatCounts f_run(F *f, const CoreValue *args, CoreValue *results)
{
    EvalError error = {0};
    FlatCounts counts = {0};
    assert_true(f_try(f, args, results, &error, &counts));
    return counts;
}

/* A sequence of sequences of i64 from lengths; the elements are 1, 2, 3 … */
static inline CoreValue v_rows(B *b, uint32_t n, const uint32_t *lens)
{
    CoreValue v = {.type = {SC_I64, 2}, .n = n, .items = arena_array(b->p->arena, CoreValue, n + 1)};
    uint64_t k = 1;
    for (uint32_t i = 0; i < n; i++) {
        v.items[i] =
            (CoreValue){.type = {SC_I64, 1}, .n = lens[i], .scalars = arena_array(b->p->arena, uint64_t, lens[i] + 1)};
        for (uint32_t j = 0; j < lens[i]; j++)
            v.items[i].scalars[j] = k++;
    }
    return v;
}
#define ROWS(b, ...) v_rows((b), sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

#endif
