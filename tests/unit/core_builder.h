/* Core programs by hand, for unit tests: each function appends one statement to the block at hand and returns
 * what it binds. */
#ifndef DPC_TEST_CORE_BUILDER_H
#define DPC_TEST_CORE_BUILDER_H

#include "core/core.h"
#include "core/core_eval.h"
#include "core/passes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct B {
    Session *session;
    CoreProgram *p;
    CoreFn *fn;
    CoreBlock *b; /* where statements go */
} B;

static const CoreType T_I64 = {SC_I64, 0}, T_BOOL = {SC_BOOL, 0}, T_F64 = {SC_F64, 0}, T_SEQ = {SC_I64, 1},
                      T_SEQ2 = {SC_I64, 2};
static const Span no_span = {0};

static inline B b_open(void)
{
    B b = {0};
    b.session = session_create();
    b.p = arena_new(b.session->arena, CoreProgram);
    b.p->session = b.session;
    b.p->arena = b.session->arena;
    return b;
}

static inline void b_close(B *b) { session_destroy(b->session); }

static inline CoreFn *b_fn(B *b, const char *name)
{
    CoreFn *fn = arena_new(b->p->arena, CoreFn);
    fn->name = name;
    fn->index = b->p->fns.n;
    fn->body = core_new_block(b->p);
    vec_push(b->p->arena, &b->p->fns, fn);
    b->fn = fn;
    b->b = fn->body;
    return fn;
}

static inline void b_entry(B *b, CoreFn *fn)
{
    CoreEntry entry = {.name = fn->name, .fn = fn};
    vec_push(b->p->arena, &b->p->entries, entry);
}

static inline CoreAtom *b_atoms(B *b, uint32_t n, const CoreAtom *at)
{
    CoreAtom *copy = arena_array(b->p->arena, CoreAtom, n + 1);
    if (n)
        memcpy(copy, at, n * sizeof *copy);
    return copy;
}
#define ATOMS(...) (sizeof((CoreAtom[]){__VA_ARGS__}) / sizeof(CoreAtom)), ((CoreAtom[]){__VA_ARGS__})

static inline CoreAtom b_var(B *b, CoreType t) { return core_var_atom(core_new_var(b->p, b->fn, t, NULL), t); }

static inline CoreAtom b_param(B *b, CoreType t)
{
    CoreAtom v = b_var(b, t);
    CoreVar *params = arena_array(b->p->arena, CoreVar, b->fn->nparams + 1);
    for (uint32_t i = 0; i < b->fn->nparams; i++)
        params[i] = b->fn->params[i];
    params[b->fn->nparams++] = v.var;
    b->fn->params = params;
    return v;
}

static inline void b_results(B *b, CoreBlock *block, uint32_t n, const CoreAtom *results)
{
    block->nresults = n;
    block->results = b_atoms(b, n, results);
}

/* Ends the function at hand. */
static inline void b_return(B *b, uint32_t n, const CoreAtom *results)
{
    b_results(b, b->fn->body, n, results);
    b->fn->nresults = n;
    b->fn->results = arena_array(b->p->arena, CoreType, n + 1);
    for (uint32_t i = 0; i < n; i++)
        b->fn->results[i] = core_atom_type(b->fn, results[i]);
}

static inline CoreStmt *b_stmt(B *b, CoreKind kind, uint32_t n, const CoreType *types)
{
    CoreStmt *s = core_new_stmt(b->p, kind, no_span);
    s->nvars = n;
    s->vars = arena_array(b->p->arena, CoreVar, n + 1);
    for (uint32_t i = 0; i < n; i++)
        s->vars[i] = core_new_var(b->p, b->fn, types[i], NULL);
    return s;
}

static inline CoreAtom b_result(B *b, const CoreStmt *s, uint32_t i)
{
    return core_var_atom(s->vars[i], core_var_type(b->fn, s->vars[i]));
}

static inline CoreAtom b_push(B *b, CoreStmt *s)
{
    core_push(b->p, b->b, s);
    return s->nvars ? b_result(b, s, 0) : core_i64(0);
}

static inline CoreAtom b_prim_as(B *b, CoreType result, CorePrim op, uint32_t n, const CoreAtom *args)
{
    CoreStmt *s = b_stmt(b, CORE_PRIM, 1, &result);
    s->prim.op = op;
    s->prim.nargs = n;
    s->prim.args = b_atoms(b, n, args);
    s->site = op == PRIM_DIV || op == PRIM_MOD ? core_new_site(b->p, ERR_DIVISION, no_span, NULL) : CORE_NO_SITE;
    return b_push(b, s);
}

static inline CoreAtom b_prim(B *b, CorePrim op, CoreAtom x, CoreAtom y)
{
    bool compares = op >= PRIM_EQ && op <= PRIM_LESS_NAN_LAST;
    return b_prim_as(b, compares ? T_BOOL : core_atom_type(b->fn, x), op, ATOMS(x, y));
}

static inline CoreAtom b_length(B *b, CoreAtom xs)
{
    CoreStmt *s = b_stmt(b, CORE_LENGTH, 1, &T_I64);
    s->length.array = xs;
    return b_push(b, s);
}

static inline CoreAtom b_index(B *b, CoreAtom xs, CoreAtom i)
{
    CoreType t = core_element(core_atom_type(b->fn, xs));
    CoreStmt *s = b_stmt(b, CORE_INDEX, 1, &t);
    s->index.array = xs;
    s->index.index = i;
    s->site = core_new_site(b->p, ERR_INDEX, no_span, NULL);
    return b_push(b, s);
}

static inline CoreAtom b_update(B *b, CoreAtom xs, CoreAtom i, CoreAtom v)
{
    CoreType t = core_atom_type(b->fn, xs);
    CoreStmt *s = b_stmt(b, CORE_UPDATE, 1, &t);
    s->update.array = xs;
    s->update.index = i;
    s->update.value = v;
    s->site = core_new_site(b->p, ERR_INDEX, no_span, NULL);
    return b_push(b, s);
}

static inline CoreAtom b_array(B *b, CoreType t, uint32_t n, const CoreAtom *items)
{
    CoreStmt *s = b_stmt(b, CORE_ARRAY, 1, &t);
    s->array.n = n;
    s->array.items = b_atoms(b, n, items);
    return b_push(b, s);
}

static inline void b_check(B *b, CoreAtom cond, ErrorKind kind, uint32_t n, const CoreAtom *values)
{
    CoreStmt *s = b_stmt(b, CORE_CHECK, 0, NULL);
    s->check.cond = cond;
    s->check.nvalues = n;
    for (uint32_t i = 0; i < n; i++)
        s->check.values[i] = values[i];
    s->site = core_new_site(b->p, kind, no_span, NULL);
    b_push(b, s);
}

/* A statement with blocks: open it, build the blocks with b->b set to them, then b_push it. */
static inline CoreSoac b_soac(B *b, CoreAtom domain, bool index, uint32_t n, const CoreAtom *inputs)
{
    CoreSoac soac = {.domain = domain, .ninputs = n, .inputs = b_atoms(b, n, inputs)};
    soac.index = index ? core_new_var(b->p, b->fn, T_I64, "i") : CORE_NO_VAR;
    soac.elements = arena_array(b->p->arena, CoreVar, n + 1);
    for (uint32_t i = 0; i < n; i++)
        soac.elements[i] = core_new_var(b->p, b->fn, core_element(core_atom_type(b->fn, inputs[i])), NULL);
    soac.body = core_new_block(b->p);
    return soac;
}

static inline CoreAtom b_element(B *b, const CoreSoac *soac, uint32_t i)
{
    return core_var_atom(soac->elements[i], core_var_type(b->fn, soac->elements[i]));
}

static inline CoreAtom b_position(const CoreSoac *soac) { return core_var_atom(soac->index, T_I64); }

/* acc, x -> acc `op` x */
static inline CoreLambda b_operator(B *b, CorePrim op, CoreType t)
{
    CoreLambda f = {.nparams = 2, .params = arena_array(b->p->arena, CoreVar, 2), .body = core_new_block(b->p)};
    CoreBlock *outer = b->b;
    f.params[0] = core_new_var(b->p, b->fn, t, "a");
    f.params[1] = core_new_var(b->p, b->fn, t, "b");
    b->b = f.body;
    CoreAtom sum = b_prim(b, op, core_var_atom(f.params[0], t), core_var_atom(f.params[1], t));
    b_results(b, f.body, ATOMS(sum));
    b->b = outer;
    return f;
}

/* { x op c : x in xs } */
static inline CoreAtom b_map_op(B *b, CoreAtom n, CoreAtom xs, CorePrim op, CoreAtom c)
{
    CoreType t = core_atom_type(b->fn, xs);
    CoreStmt *s = b_stmt(b, CORE_MAP, 1, &t);
    s->soac = b_soac(b, n, false, ATOMS(xs));
    CoreBlock *outer = b->b;
    b->b = s->soac.body;
    CoreAtom y = b_prim(b, op, b_element(b, &s->soac, 0), c);
    b_results(b, s->soac.body, ATOMS(y));
    b->b = outer;
    return b_push(b, s);
}

static inline CoreAtom b_iota(B *b, CoreAtom n)
{
    CoreStmt *s = b_stmt(b, CORE_MAP, 1, &T_SEQ);
    s->soac = b_soac(b, n, true, 0, NULL);
    b_results(b, s->soac.body, ATOMS(b_position(&s->soac)));
    return b_push(b, s);
}

/* REDUCE or SCAN of xs by a primitive. */
static inline CoreAtom b_fold(B *b, CoreKind kind, CoreAtom n, CoreAtom xs, CorePrim op, CoreAtom neutral)
{
    CoreType t = core_atom_type(b->fn, xs), e = core_element(t);
    CoreStmt *s = b_stmt(b, kind, 1, kind == CORE_SCAN ? &t : &e);
    s->soac = b_soac(b, n, false, ATOMS(xs));
    b_results(b, s->soac.body, ATOMS(b_element(b, &s->soac, 0)));
    s->soac.neutral = b_atoms(b, ATOMS(neutral));
    s->soac.op = b_operator(b, op, e);
    return b_push(b, s);
}

/* ---- running ---- */

static inline void assert_valid(const CoreProgram *p)
{
    StrBuf why = {0};
    if (!core_check(p, &why)) {
        core_print(&why, p);
        print_error("%s\n", why.text);
        fail();
    }
    strbuf_free(&why);
}

static inline CoreValue v_i64(int64_t x) { return (CoreValue){.type = {SC_I64, 0}, .bits = (uint64_t)x}; }

static inline CoreValue v_seq(B *b, uint32_t n, const int64_t *at)
{
    CoreValue v = {.type = {SC_I64, 1}, .n = n, .scalars = arena_array(b->p->arena, uint64_t, n + 1)};
    for (uint32_t i = 0; i < n; i++)
        v.scalars[i] = (uint64_t)at[i];
    return v;
}
#define SEQ(b, ...) v_seq((b), sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__})

static inline bool run_fn(B *b, const CoreFn *fn, const CoreValue *args, CoreValue *results, EvalError *error)
{
    return core_eval(b->p, fn, b->p->arena, args, results, NULL, NULL, error, NULL);
}

static inline void assert_seq(CoreValue v, uint32_t n, const int64_t *expected)
{
    assert_int_equal(v.type.rank, 1);
    assert_int_equal(v.n, n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal((int64_t)v.scalars[i], expected[i]);
}
#define ASSERT_SEQ(v, ...) assert_seq((v), sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__})

typedef struct KindCount {
    CoreKind kind;
    uint32_t n;
} KindCount;

static inline void count_kind_in(void *ctx, CoreBlock *b)
{
    KindCount *count = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        count->n += b->stmts.at[i]->kind == count->kind;
        core_stmt_blocks(b->stmts.at[i], count_kind_in, ctx);
    }
}

/* How many statements of this kind the function has, nested ones included. */
static inline uint32_t count_kind(const CoreFn *fn, CoreKind kind)
{
    KindCount count = {kind, 0};
    count_kind_in(&count, fn->body);
    return count.n;
}

typedef struct KindSearch {
    CoreKind kind;
    uint32_t skip;
    CoreStmt *found;
} KindSearch;

static inline void find_kind_in(void *ctx, CoreBlock *b)
{
    KindSearch *search = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !search->found; i++) {
        if (b->stmts.at[i]->kind == search->kind && search->skip-- == 0)
            search->found = b->stmts.at[i];
        else
            core_stmt_blocks(b->stmts.at[i], find_kind_in, ctx);
    }
}

/* The nth statement of that kind in the block, blocks inside included. */
static inline CoreStmt *find_kind(CoreBlock *b, CoreKind kind, uint32_t nth)
{
    KindSearch search = {kind, nth, NULL};
    find_kind_in(&search, b);
    assert_non_null(search.found);
    return search.found;
}

#endif
