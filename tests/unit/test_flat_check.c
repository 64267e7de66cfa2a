/* The flat checker: each row breaks one promise of flat.h in a good program, and the checker must name it. */
#include "flat_builder.h"

#include "compile_text.h"
#include "lower_core.h"

#define UNKNOWN 9999 /* a variable's number that no function has */

static const char program[] =
    "def fib (x: i64) : i64 = if x < 2 then x else fib (x - 1) + fib (x - 2)\n"
    "def down (x: i64) (n: i64) : i64 = if n <= 0 then x else 1 + down (x + 1) (n - 1)\n"
    "entry sums (rows: [[i64]]) (k: i64) : [i64] = { sum { x * k : x in row } : row in rows }\n"
    "entry joined (rows: [[i64]]) (k: i64) : [i64] = flatten (if k > 0 then rows else [iota 3])\n"
    "entry keep (rows: [[i64]]) : [[i64]] = { { x + 1 : x in row | x > 2 } : row in rows }\n"
    "entry deep (xs: [i64]) : [i64] =\n"
    "  { let y = x * x\n"
    "    in if x > 3 then (if x > 9 then sum (iota y) else fib y) else y : x in xs }\n"
    "entry fibs (xs: [i64]) : [i64] = { fib x + fib (x + 1) : x in xs }\n"
    "entry one (n: i64) : i64 = down n n\n"
    "entry order (xs: [i64]) : [i64] = { xs[i] : i in argsort xs }\n"
    "entry sorted (xs: [i64]) : [i64] = sort xs\n"
    "entry bins (xs: [i64]) : [i64] = histogram 10 xs\n"
    "entry put (xs: [i64]) (ys: [i64]) : [i64] = scatter xs ys { 1 : _ in ys }\n"
    "entry prefix (xs: [i64]) : [i64] = scan (+) 0 xs\n"
    "entry set (xs: [i64]) (n: i64) : [i64] = loop ys = xs for i < n do ys with [i] = i\n"
    "entry wait (xs: [i64]) : [i64] = loop ys = xs while length ys < 9 do ys ++ ys\n"
    "entry steps (xs: [i64]) : [i64] = { loop y = x while y > 1 do sum (iota y) : x in xs }\n"
    "entry twins (xs: [i64]) : [[i64]] = { [x, x + 1] : x in xs }\n"
    "entry choose (c: bool) (xs: [i64]) : i64 = if c then sum xs else 1\n"
    "entry table (xs: [i64]) (k: i64) : [[i64]] = { { x * j : j in iota k } : x in xs }\n"
    "entry two (xs: [i64]) (ys: [i64]) : ([i64], [i64]) = ({ x + 1 : x in xs }, { y + 2 : y in ys })\n"
    "entry over (xs: [i64]) (k: i64) : i64 = reduce (\\a b -> max a (min b k)) (k + 1) xs\n"
    "entry code (rows: [[i64]]) : [i64] =\n"
    "  { if length row > 3 then row[1] else loop y = row[0] for i < length row do y * i : row in rows }\n"
    "entry more (rows: [[i64]]) : [i64] = { loop y = row[0] while y > 10 do y / 2 : row in rows }\n"
    "entry part (rows: [[i64]]) (k: i64) : [[i64]] = { row[1:k] : row in rows }\n"
    "def walk (xs: [i64]) (n: i64) : i64 = if n < 1 then sum xs else walk xs (n - 1) + walk xs (n - 2)\n"
    "entry picks (rows: [[i64]]) : [i64] =\n"
    "  { let ys = scan (+) 0 row in if length row > 3 then walk ys 2 else ys[0] : row in rows }\n";

/* What a row spoils: a statement of a function. */
typedef struct Place {
    const FlatProgram *p;
    FlatFn *fn;
    FlatStmt *s;
} Place;

typedef struct Search {
    FlatKind kind;
    uint32_t skip;
    FlatStmt *found;
} Search;

static void search_block(void *ctx, FlatBlock *b)
{
    Search *search = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !search->found; i++) {
        if (b->stmts.at[i]->kind == search->kind && search->skip-- == 0)
            search->found = b->stmts.at[i];
        else
            flat_stmt_blocks(b->stmts.at[i], search_block, ctx);
    }
}

/* The nth statement of that kind in the function, blocks inside included. */
static FlatStmt *stmt_of(const FlatFn *fn, FlatKind kind, uint32_t nth)
{
    Search search = {kind, nth, NULL};
    search_block(&search, fn->body);
    assert_non_null(search.found);
    return search.found;
}

/* What it binds. */
static FlatVar bound(const Place *at, FlatKind kind, uint32_t nth) { return stmt_of(at->fn, kind, nth)->outs[0]; }
static FlatVar param(const Place *at, uint32_t i) { return at->fn->params[i]; }
static FlatVarInfo *info(const Place *at, FlatVar v) { return &at->fn->vars.at[v]; }
static FlatVarInfo *out(const Place *at, uint32_t i) { return info(at, at->s->outs[i]); }
static FlatInput *input(const Place *at, uint32_t i) { return &at->s->body.inputs.at[i]; }

/* A variable that nothing binds. */
static FlatVar ghost(const Place *at, FlatVarInfo what)
{
    vec_push(at->p->arena, &at->fn->vars, what);
    return at->fn->vars.n - 1;
}

static CoreStmt *code(const Place *at, CoreKind kind) { return find_kind(at->s->body.block, kind, 0); }

static const CoreAtom a_bool = {true, {SC_BOOL, 0}, {.bits = 1}}, a_number = {true, {SC_I64, 0}, {.bits = 1}},
                      a_stranger = {false, {SC_I64, 0}, {.var = UNKNOWN}};

/* ---- what may be wrong ---- */

#define SPOIL(name, ...)                                                                                               \
    static void name(Place *at) { __VA_ARGS__; }

SPOIL(binds_nothing, at->s->nouts = 0)
SPOIL(binds_stranger, at->s->outs[0] = UNKNOWN)
SPOIL(packs_none, at->s->pack.nways = 0)
SPOIL(packs_many, at->s->pack.nways = at->s->nouts + 1)
SPOIL(packs_elsewhere, out(at, 1)->ctx = at->s->body.ctx)
SPOIL(packs_host, out(at, 1)->kind = FLAT_HOST)
SPOIL(packs_bool, out(at, 1)->type = T_BOOL)
SPOIL(binds_bool, out(at, 0)->type = T_BOOL)
SPOIL(binds_number, out(at, 0)->type = T_I64)
SPOIL(binds_host, out(at, 0)->kind = FLAT_HOST)
SPOIL(binds_in_host, out(at, 0)->ctx = at->s->body.ctx = param(at, 0))
SPOIL(binds_function_ctx, out(at, 0)->ctx_kind = CTX_FN)
SPOIL(second_binds_host, out(at, 1)->kind = FLAT_HOST)
SPOIL(below_number, out(at, 0)->ctx = param(at, 1))
SPOIL(below_stranger, out(at, 0)->ctx = UNKNOWN)
SPOIL(below_first, out(at, 0)->ctx = bound(at, FLAT_S_NESTED, 0))
SPOIL(second_below_itself, out(at, 1)->ctx = at->s->outs[1])
SPOIL(below_ghost, FlatVar up = ghost(at, (FlatVarInfo){.kind = FLAT_CTX, .ctx = FLAT_ROOT}); out(at, 0)->ctx = up)

SPOIL(ctx_stranger, at->s->ctx = UNKNOWN)
SPOIL(ctx_is_param, at->s->ctx = param(at, 0))
SPOIL(ctx_of_inner_split, at->s->ctx = bound(at, FLAT_S_SPLIT, 1))
SPOIL(body_ctx_stranger, at->s->body.ctx = UNKNOWN)
SPOIL(body_ctx_root, at->s->body.ctx = FLAT_ROOT)
SPOIL(body_ctx_split, at->s->body.ctx = bound(at, FLAT_S_SPLIT, 0))
SPOIL(no_block, at->s->body.block = NULL)
SPOIL(gives_bool, at->s->body.block->results[0] = a_bool)
SPOIL(gives_number, at->s->body.block->results[0] = a_number)
SPOIL(gives_stranger, at->s->body.block->results[0] = a_stranger)
SPOIL(gives_unbound, at->s->body.block->results[0].var = at->fn->scope->vars.n - 1)
SPOIL(gives_nothing, at->s->body.block->nresults = 0)

SPOIL(input_stranger, input(at, 0)->var = UNKNOWN)
SPOIL(input_col_as_host, input(at, 0)->kind = IN_HOST)
SPOIL(input_host_as_col, input(at, 0)->kind = IN_COL)
SPOIL(input_col_stranger, input(at, 0)->kind = IN_COL, input(at, 0)->var = UNKNOWN)
static void write_over(const Place *at, FlatVar rows, FlatVar array, FlatVar bound)
{
    FlatOver *over = arena_new(at->p->arena, FlatOver);
    *over = (FlatOver){rows, array, {0, bound, 0}, {0, FLAT_NO_VAR, 0}};
    at->s->kernel.over = over;
}
SPOIL(over_stranger, write_over(at, FLAT_NO_VAR, UNKNOWN, FLAT_NO_VAR))
SPOIL(over_nothing, write_over(at, FLAT_NO_VAR, FLAT_NO_VAR, FLAT_NO_VAR))
SPOIL(over_number, write_over(at, FLAT_NO_VAR, at->fn->params[1], FLAT_NO_VAR))
SPOIL(over_no_rows, write_over(at, UNKNOWN, FLAT_NO_VAR, FLAT_NO_VAR))
SPOIL(over_to_array, write_over(at, FLAT_NO_VAR, at->fn->params[0], at->fn->params[0]))
SPOIL(input_other_col, input(at, 0)->kind = IN_COL, input(at, 0)->var = bound(at, FLAT_S_KERNEL, 0))
SPOIL(input_other_ctx, input(at, 0)->ctx = bound(at, FLAT_S_NESTED, 0))
SPOIL(input_of_split, input(at, 0)->ctx = bound(at, FLAT_S_SPLIT, 1))
SPOIL(input_of_outer_array, input(at, 1)->var = param(at, 0))
SPOIL(input_as_stranger, input(at, 0)->as = UNKNOWN)
SPOIL(input_twice, input(at, 1)->as = input(at, 0)->as)
SPOIL(inputs_swapped, CoreVar as = input(at, 0)->as; input(at, 0)->as = input(at, 1)->as; input(at, 1)->as = as)

SPOIL(operator_unary, at->s->reduce.op.op.nparams = 1)
SPOIL(operator_gives_bool, at->s->reduce.op.op.body->results[0] = a_bool)
SPOIL(operator_twice, at->s->reduce.op.op.params[1] = at->s->reduce.op.op.params[0])
SPOIL(operator_of_two, at->s->reduce.op.k = 2)
SPOIL(neutral_bool, at->s->reduce.op.neutral[0] = a_bool)
SPOIL(neutral_position, at->s->reduce.op.neutral_inputs.at[0].kind = IN_POS)
SPOIL(neutral_column, at->s->reduce.op.neutral_inputs.at[0].kind = IN_COL)
SPOIL(size_is_array, at->s->reduce.size = param(at, 0))
SPOIL(size_is_bool, info(at, at->s->reduce.size)->type = T_BOOL;
      stmt_of(at->fn, FLAT_S_HOST, 0)->body.block->results[0] = a_bool)

SPOIL(source_stranger, at->s->nested.source = UNKNOWN)
SPOIL(source_of_outside, at->s->nested.source = param(at, 0))
SPOIL(source_is_bool, at->s->nested.source = bound(at, FLAT_S_HOST, 0))
SPOIL(cond_is_param, at->s->split.cond = param(at, 0))
SPOIL(array_stranger, at->s->arrays.arrays[0] = UNKNOWN)
SPOIL(array_is_second_param, at->s->arrays.arrays[0] = param(at, 1))
SPOIL(array_is_param, at->s->arrays.arrays[0] = param(at, 0))
SPOIL(array_nested, info(at, at->s->arrays.arrays[0])->type = T_SEQ2)
SPOIL(array_scalar, info(at, at->s->arrays.arrays[0])->type = T_I64)
SPOIL(array_of_inside, at->s->arrays.arrays[0] = bound(at, FLAT_S_SCAN, 0))
SPOIL(no_arrays, at->s->arrays.n = 0)
SPOIL(no_keys, at->s->arrays.nkeys = 0)
SPOIL(part_stranger, at->s->merge.parts[0].ctx = UNKNOWN)
SPOIL(part_of_sum, at->s->merge.parts[0].ctx = bound(at, FLAT_S_NESTED, 1))
SPOIL(part_column_bool, at->s->merge.parts[0].cols[0] = stmt_of(at->fn, FLAT_S_SPLIT, 1)->split.cond;
      at->s->merge.parts[0].ctx = stmt_of(at->fn, FLAT_S_SPLIT, 1)->ctx)
SPOIL(dest_is_other, at->s->reduce.dests[0] = ghost(at, (FlatVarInfo){.kind = FLAT_HOST, .type = T_SEQ}))
SPOIL(dest_nested, info(at, at->s->reduce.dests[0])->type = T_SEQ2)
SPOIL(no_dests, at->s->reduce.ndests = 0)
SPOIL(update_number, at->s->update.array = at->s->update.index)
SPOIL(update_at_array, at->s->update.index = at->s->update.array)
SPOIL(update_with_array, at->s->update.value = at->s->update.array)

SPOIL(no_else, at->s->if_.else_b = NULL)
SPOIL(then_gives_nothing, at->s->if_.then_b->nresults = 0)
SPOIL(then_gives_ctx, at->s->if_.then_b->results[0] = bound(at, FLAT_S_NESTED, 0))
SPOIL(then_gives_stranger, at->s->if_.then_b->results[0] = UNKNOWN)
SPOIL(then_gives_array, at->s->if_.then_b->results[0] = param(at, 1))
SPOIL(if_array, at->s->if_.cond = param(at, 1))
SPOIL(count_is_array, at->s->loop.count = param(at, 0))
SPOIL(index_stranger, at->s->loop.index = UNKNOWN)
SPOIL(index_bool, info(at, at->s->loop.index)->type = T_BOOL)
SPOIL(param_stranger, at->s->loop.params[0] = UNKNOWN)
SPOIL(param_twice, at->s->loop.params[0] = at->s->loop.inits[0])
SPOIL(no_loop_body, at->s->loop.body = NULL)
SPOIL(no_loop_cond, at->s->loop.cond = NULL)
SPOIL(two_loop_conds, at->s->loop.cond->nresults = 2)
SPOIL(loop_while_array, at->s->loop.cond->results[0] = at->s->loop.params[0])
SPOIL(act_host, info(at, at->s->loop_lifted.active)->kind = FLAT_HOST)
SPOIL(act_below_itself, info(at, at->s->loop_lifted.active)->ctx = at->s->loop_lifted.active)
SPOIL(init_host, at->s->loop_lifted.inits[0] = param(at, 0))
SPOIL(lifted_param_outside, info(at, at->s->loop_lifted.params[0])->ctx = at->s->ctx)
SPOIL(lifted_while_number, at->s->loop_lifted.cond->results[0] = at->s->loop_lifted.params[0])

SPOIL(calls_nothing, at->s->call.fn = NULL)
SPOIL(calls_copy, FlatFn *copy = arena_new(at->p->arena, FlatFn); *copy = *at->s->call.fn; at->s->call.fn = copy)
SPOIL(calls_outside, calls_copy(at); at->s->call.fn->index = UNKNOWN)
SPOIL(calls_lifted, at->s->call.fn->lifted = true)
SPOIL(calls_with_one, at->s->call.nargs = 1)
SPOIL(call_gives_two, at->s->call.fn->body->nresults = 2)
SPOIL(call_on_stranger, at->s->call.args[0] = UNKNOWN)
SPOIL(lifted_calls_host, at->s->call_lifted.fn->lifted = false)
SPOIL(lifted_call_binds, at->s->nouts = 1)
SPOIL(site_stranger, at->s->call_lifted.sites[0].ctx = UNKNOWN)
SPOIL(site_on_host, at->s->call_lifted.sites[0].args[0] = param(at, 0))
SPOIL(site_gives_bool, info(at, at->s->call_lifted.sites[0].outs[0])->type = T_BOOL)
SPOIL(site_binds_twice, at->s->call_lifted.sites[1].outs[0] = at->s->call_lifted.sites[0].outs[0])

SPOIL(fn_gives_stranger, at->fn->body->results[0] = UNKNOWN)
SPOIL(fn_gives_ghost, at->fn->body->results[0] = ghost(at, (FlatVarInfo){.kind = FLAT_HOST, .type = T_SEQ}))
SPOIL(fn_gives_column, at->fn->body->results[0] = bound(at, FLAT_S_SCAN, 0))
SPOIL(fn_takes_stranger, at->fn->params[0] = UNKNOWN)
SPOIL(fn_takes_column, info(at, param(at, 0))->kind = FLAT_COL)
SPOIL(fn_of_host, info(at, at->fn->ctx)->kind = FLAT_HOST)
SPOIL(fn_misplaced, at->fn->index++)
SPOIL(entry_is_lifted, at->p->entries.at[0].fn = stmt_of(at->fn, FLAT_S_CALL_LIFTED, 0)->call_lifted.fn)

/* Code of bodies. */
SPOIL(code_binds_input, code(at, CORE_PRIM)->vars[0] = input(at, 0)->as)
SPOIL(code_binds_stranger, code(at, CORE_PRIM)->vars[0] = UNKNOWN)
SPOIL(code_reads_unbound, code(at, CORE_PRIM)->prim.args[0] = core_var_atom(code(at, CORE_PRIM)->vars[0], T_I64))
SPOIL(code_copies_bool, code(at, CORE_PRIM)->kind = CORE_ATOM; code(at, CORE_ATOM)->atom = a_bool)
SPOIL(code_not_scalar, code(at, CORE_PRIM)->kind = CORE_ARGSORT)
SPOIL(length_of_number, code(at, CORE_LENGTH)->length.array = a_number)
SPOIL(index_bool_in_code, code(at, CORE_INDEX)->index.index = a_bool)
SPOIL(index_number, code(at, CORE_INDEX)->index.array = a_number)
SPOIL(index_gives_stranger, code(at, CORE_INDEX)->vars[0] = UNKNOWN)
SPOIL(slice_from_bool, code(at, CORE_SLICE)->slice.from = a_bool)
SPOIL(slice_to_bool, code(at, CORE_SLICE)->slice.to = a_bool)
SPOIL(slice_of_bool, code(at, CORE_SLICE)->slice.array = a_bool)
SPOIL(checks_number, code(at, CORE_CHECK)->check.cond = a_number)
SPOIL(check_says_bool, code(at, CORE_CHECK)->check.values[0] = a_bool)
SPOIL(code_if_number, code(at, CORE_IF)->if_.cond = a_number)
SPOIL(code_if_binds_stranger, code(at, CORE_IF)->vars[0] = UNKNOWN)
SPOIL(code_no_else, code(at, CORE_IF)->if_.else_b = NULL)
SPOIL(code_reads_branch, at->s->body.block->results[0] = code(at, CORE_IF)->if_.then_b->results[0])
SPOIL(code_loop_from_bool, code(at, CORE_LOOP)->loop.inits[0] = a_bool)
SPOIL(code_loop_counts_bool, code(at, CORE_LOOP)->loop.count = a_bool)
SPOIL(code_loop_index_twice, code(at, CORE_LOOP)->loop.index = code(at, CORE_LOOP)->loop.params[0])
SPOIL(code_loop_param_twice, code(at, CORE_LOOP)->loop.params[0] = input(at, 0)->as;
      code(at, CORE_LOOP)->loop.inits[0] = core_var_atom(input(at, 0)->as, T_SEQ))
SPOIL(code_loop_gives_bool, code(at, CORE_LOOP)->loop.body->results[0] = a_bool)
SPOIL(code_while_number, code(at, CORE_LOOP)->loop.cond->results[0] = a_number)

typedef struct Row {
    const char *fn;
    FlatKind kind;
    uint32_t nth;
    void (*spoil)(Place *at);
    const char *expected;
} Row;

static const char *const out_of_range = "a variable's number is out of range",
                         *const wrong_place = "does not belong to the right context";

static Place compile_fn(Session *session, const char *name)
{
    CoreProgram *p = compile_text(session, program);
    core_fuse(p);
    core_simplify(p);
    lower_core(p);
    Place at = {.p = flatten(p)};
    for (uint32_t i = 0; i < at.p->fns.n; i++)
        if (strcmp(at.p->fns.at[i]->name, name) == 0)
            at.fn = at.p->fns.at[i];
    assert_non_null(at.fn);
    return at;
}

static void check_row(const Row *row)
{
    Session *session = session_create();
    Place at = compile_fn(session, row->fn);
    at.s = stmt_of(at.fn, row->kind, row->nth);
    StrBuf why = {0};
    assert_true(flat_check(at.p, &why));
    row->spoil(&at);
    bool accepted = flat_check(at.p, &why);
    char begin[100];
    snprintf(begin, sizeof begin, "flat_check: function %s", row->fn);
    if (accepted || strncmp(why.text, begin, strlen(begin)) != 0 || !strstr(why.text, row->expected)) {
        print_error("expected of %s: %s\nfound: %s\n", row->fn, row->expected, accepted ? "nothing" : why.text);
        fail();
    }
    strbuf_free(&why);
    session_destroy(session);
}
#define CHECK_ROWS(rows)                                                                                               \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++)                                                         \
    check_row(&(rows)[i])

static void test_scopes(void **state)
{
    (void)state;
    const Row rows[] = {
        {"fibs", FLAT_S_CALL_LIFTED, 0, site_binds_twice, "is bound twice"},
        {"fibs", FLAT_S_KERNEL, 0, binds_stranger, out_of_range},
        {"prefix", FLAT_S_SCAN, 0, fn_gives_stranger, out_of_range},
        {"prefix", FLAT_S_SCAN, 0, fn_gives_ghost, "is used out of scope"},
        {"table", FLAT_S_NESTED, 1, below_number, "the parent of a context is not a context"},
        {"table", FLAT_S_NESTED, 1, below_stranger, "the parent of a context is not a context"},
        {"table", FLAT_S_NESTED, 1, below_ghost, "is not in scope"},
        {"prefix", FLAT_S_SCAN, 0, fn_gives_column, "a result, %2, does not belong"},
        {"prefix", FLAT_S_SCAN, 0, fn_takes_stranger, out_of_range},
        {"prefix", FLAT_S_SCAN, 0, fn_takes_column, "a parameter, %0, does not belong"},
        {"prefix", FLAT_S_SCAN, 0, fn_misplaced, "a function's index is not its place"},
        {"fib_lifted", FLAT_S_SPLIT, 0, fn_of_host, "what it binds is no context"},
    };
    CHECK_ROWS(rows);
}

static void test_inputs(void **state)
{
    (void)state;
    const Row rows[] = {
        {"order", FLAT_S_KERNEL, 0, input_stranger, out_of_range},
        {"order", FLAT_S_KERNEL, 0, input_host_as_col, "a column is expected"},
        {"order", FLAT_S_KERNEL, 0, input_as_stranger, "core variable 9999 is out of range"},
        {"order", FLAT_S_KERNEL, 0, input_twice, "is bound twice"},
        {"order", FLAT_S_KERNEL, 0, inputs_swapped, "an input is i64 of rank 0 instead of i64 of rank 1"},
        {"fibs", FLAT_S_KERNEL, 1, input_col_as_host, "a host input, %4, does not belong"},
        {"fibs", FLAT_S_KERNEL, 1, input_col_stranger, out_of_range},
        {"two", FLAT_S_KERNEL, 1, input_other_col, "a column of no ancestor"},
        {"table", FLAT_S_KERNEL, 0, over_stranger, out_of_range},
        {"table", FLAT_S_KERNEL, 0, over_nothing, out_of_range},
        {"table", FLAT_S_KERNEL, 0, over_number, "an array is expected"},
        {"table", FLAT_S_KERNEL, 0, over_no_rows, out_of_range},
        {"table", FLAT_S_KERNEL, 0, over_to_array, "a bound of what stays as it is is i64 of rank 1"},
        {"two", FLAT_S_KERNEL, 1, input_other_ctx, "elements of no ancestor"},
        {"sums", FLAT_S_REDUCE, 0, input_of_outer_array, "an array of elements, %0, does not belong"},
        {"deep", FLAT_S_REDUCE, 0, input_of_split, "a nested context is expected"},
    };
    CHECK_ROWS(rows);
}

static void test_bodies(void **state)
{
    (void)state;
    const Row rows[] = {
        {"bins", FLAT_S_HOST, 0, body_ctx_stranger, "a host body has a context"},
        {"fibs", FLAT_S_KERNEL, 0, body_ctx_root, "a kernel at depth 0"},
        {"fibs", FLAT_S_KERNEL, 0, binds_host, wrong_place},
        {"fibs", FLAT_S_KERNEL, 0, binds_in_host, "a context is expected"},
        {"fibs", FLAT_S_KERNEL, 0, no_block, "a body has 0 results instead of 1"},
        {"fibs", FLAT_S_KERNEL, 0, gives_nothing, "a body has 0 results instead of 1"},
        {"fibs", FLAT_S_KERNEL, 0, gives_bool, "a body's result is bool of rank 0 instead of i64 of rank 0"},
        {"fibs", FLAT_S_KERNEL, 0, gives_stranger, "core variable 9999 is out of range"},
        {"fibs", FLAT_S_KERNEL, 0, gives_unbound, "is no input"},
        {"twins", FLAT_S_ARRAY, 0, binds_nothing, "an array literal binds one variable"},
        {"twins", FLAT_S_ARRAY, 0, no_block, "an array literal binds one variable"},
        {"twins", FLAT_S_ARRAY, 0, binds_number, "an array literal is no array"},
        {"twins", FLAT_S_ARRAY, 0, binds_host, wrong_place},
        {"twins", FLAT_S_ARRAY, 0, gives_bool, "a body's result is bool"},
    };
    CHECK_ROWS(rows);
}

static void test_contexts(void **state)
{
    (void)state;
    const Row rows[] = {
        {"keep", FLAT_S_NESTED, 0, binds_nothing, "it binds one context"},
        {"keep", FLAT_S_NESTED, 0, binds_stranger, "what it binds is no context"},
        {"keep", FLAT_S_NESTED, 0, binds_host, "what it binds is no context"},
        {"keep", FLAT_S_NESTED, 0, binds_function_ctx, "a context of another kind"},
        {"keep", FLAT_S_NESTED, 0, source_stranger, out_of_range},
        {"keep", FLAT_S_NESTED, 1, source_of_outside, "the source of lengths, %0, does not belong"},
        {"table", FLAT_S_NESTED, 1, source_is_bool, "neither an array nor a length"},
        {"keep", FLAT_S_PACK, 0, binds_nothing, "it binds no context, or too many"},
        {"keep", FLAT_S_PACK, 0, packs_none, "it binds no context, or too many"},
        {"keep", FLAT_S_PACK, 0, packs_many, "it binds no context, or too many"},
        {"keep", FLAT_S_PACK, 0, packs_elsewhere, "a packed column belongs to none of its contexts"},
        {"keep", FLAT_S_PACK, 0, packs_host, "what it packs is no column"},
        {"keep", FLAT_S_PACK, 0, packs_bool, "a body's result is"},
        {"keep", FLAT_S_PACK, 0, body_ctx_root, out_of_range},
        {"keep", FLAT_S_PACK, 0, binds_function_ctx, "a context of another kind"},
        {"keep", FLAT_S_PACK, 0, below_first, "not selected from the body's"},
        {"keep", FLAT_S_PACK, 0, gives_number, "a body's result is i64 of rank 0 instead of bool of rank 0"},
        {"deep", FLAT_S_SPLIT, 0, binds_nothing, "it binds two contexts"},
        {"deep", FLAT_S_SPLIT, 0, ctx_is_param, "a context is expected"},
        {"deep", FLAT_S_SPLIT, 0, second_binds_host, "what it binds is no context"},
        {"deep", FLAT_S_SPLIT, 0, second_below_itself, "not selected from the old one"},
        {"fib_lifted", FLAT_S_SPLIT, 0, cond_is_param, "the condition is i64 of rank 0 instead of bool of rank 0"},
    };
    CHECK_ROWS(rows);
}

static void test_columns(void **state)
{
    (void)state;
    const Row rows[] = {
        {"sums", FLAT_S_ELEMS, 0, ctx_stranger, out_of_range},
        {"sums", FLAT_S_ELEMS, 0, no_arrays, "as many arrays as columns"},
        {"sums", FLAT_S_ELEMS, 0, array_stranger, out_of_range},
        {"sums", FLAT_S_ELEMS, 0, array_is_second_param, "an array is expected"},
        {"sums", FLAT_S_ELEMS, 0, binds_bool, "a column of elements is bool"},
        {"picks", FLAT_S_SELECT, 0, ctx_stranger, out_of_range},
        {"picks", FLAT_S_SELECT, 0, no_arrays, "as many columns selected as given"},
        {"picks", FLAT_S_SELECT, 0, array_stranger, out_of_range},
        {"picks", FLAT_S_SELECT, 0, array_of_inside, "only selections may lie between the contexts"},
        {"picks", FLAT_S_SELECT, 0, binds_number, "a column is i64 of rank 0 instead of i64 of rank 1"},
        {"sums", FLAT_S_VIEWS, 0, ctx_is_param, "a context is expected"},
        {"sums", FLAT_S_VIEWS, 0, no_arrays, "as many arrays as columns"},
        {"sums", FLAT_S_VIEWS, 0, array_stranger, out_of_range},
        {"sums", FLAT_S_VIEWS, 0, array_is_param, "a column, %0, does not belong"},
        {"sums", FLAT_S_VIEWS, 0, binds_bool, "an array is bool of rank 0 instead of i64 of rank 1"},
        {"deep", FLAT_S_VIEWS, 0, ctx_of_inner_split, "a nested context is expected"},
        {"deep", FLAT_S_MERGE, 0, ctx_stranger, out_of_range},
        {"deep", FLAT_S_MERGE, 0, binds_host, wrong_place},
        {"deep", FLAT_S_MERGE, 1, part_stranger, out_of_range},
        {"deep", FLAT_S_MERGE, 1, part_of_sum, "a part is not selected from the whole"},
        {"deep", FLAT_S_MERGE, 1, part_column_bool, "a part's column is bool"},
    };
    CHECK_ROWS(rows);
}

static void test_operations(void **state)
{
    (void)state;
    const Row rows[] = {
        {"deep", FLAT_S_REDUCE, 0, body_ctx_split, "a nested context is expected"},
        {"sums", FLAT_S_REDUCE, 0, binds_host, wrong_place},
        {"sums", FLAT_S_REDUCE, 0, operator_of_two, "as many results as the operator has"},
        {"sums", FLAT_S_REDUCE, 0, gives_bool, "a body's result is bool"},
        {"sums", FLAT_S_REDUCE, 0, operator_unary, "an operator has the wrong number of parameters"},
        {"sums", FLAT_S_REDUCE, 0, operator_gives_bool, "a body's result is bool"},
        {"sums", FLAT_S_REDUCE, 0, operator_twice, "is bound twice"},
        {"sums", FLAT_S_REDUCE, 0, neutral_bool, "a neutral element is bool of rank 0 instead of i64"},
        {"over", FLAT_S_REDUCE, 0, neutral_position, "a neutral element's input is no variable"},
        {"over", FLAT_S_REDUCE, 0, neutral_column, "a column is expected"},
        {"prefix", FLAT_S_SCAN, 0, binds_bool, "a body's result is i64 of rank 0 instead of bool"},
        {"bins", FLAT_S_HIST, 0, binds_number, "what it binds is no array"},
        {"bins", FLAT_S_HIST, 0, size_is_array, "the size is i64 of rank 1 instead of i64 of rank 0"},
        {"bins", FLAT_S_HIST, 0, size_is_bool, "the size is bool"},
        {"put", FLAT_S_SCATTER, 0, body_ctx_stranger, out_of_range},
        {"put", FLAT_S_SCATTER, 0, no_dests, "as many destinations as results"},
        {"put", FLAT_S_SCATTER, 0, dest_is_other, "is used out of scope"},
        {"put", FLAT_S_SCATTER, 0, dest_nested, "a destination is i64 of rank 2 instead of i64 of rank 1"},
        {"put", FLAT_S_SCATTER, 0, binds_number, "what it binds is no array"},
        {"order", FLAT_S_ARGSORT, 0, ctx_stranger, out_of_range},
        {"order", FLAT_S_ARGSORT, 0, no_keys, "it sorts by one key or more"},
        {"order", FLAT_S_ARGSORT, 0, binds_nothing, "it binds an array for each column, and perhaps the permutation"},
        {"sorted", FLAT_S_ARGSORT, 0, binds_nothing, "it binds an array for each column, and perhaps the permutation"},
        {"sorted", FLAT_S_ARGSORT, 0, binds_bool, "a sorted column is bool"},
        {"order", FLAT_S_ARGSORT, 0, array_nested, "a key or column is no sequence of scalars"},
        {"order", FLAT_S_ARGSORT, 0, array_scalar, "an array is expected"},
        {"order", FLAT_S_ARGSORT, 0, binds_bool, "the permutation is bool"},
        {"joined", FLAT_S_FLATTEN, 0, ctx_stranger, out_of_range},
        {"joined", FLAT_S_FLATTEN, 0, binds_nothing, "it binds one array from one"},
        {"joined", FLAT_S_FLATTEN, 0, no_arrays, "it binds one array from one"},
        {"joined", FLAT_S_FLATTEN, 0, array_is_second_param, "an array is expected"},
        {"joined", FLAT_S_FLATTEN, 0, binds_bool, "the result is bool"},
        {"set", FLAT_S_UPDATE, 0, ctx_stranger, out_of_range},
        {"set", FLAT_S_UPDATE, 0, binds_nothing, "it binds one array"},
        {"set", FLAT_S_UPDATE, 0, update_number, "an array is expected"},
        {"set", FLAT_S_UPDATE, 0, update_at_array, "the index is i64 of rank 1"},
        {"set", FLAT_S_UPDATE, 0, update_with_array, "the value is i64 of rank 1"},
        {"set", FLAT_S_UPDATE, 0, binds_bool, "the result is bool"},
    };
    CHECK_ROWS(rows);
}

static void test_control(void **state)
{
    (void)state;
    const Row rows[] = {
        {"choose", FLAT_S_IF, 0, if_array, "the condition is i64 of rank 1 instead of bool"},
        {"choose", FLAT_S_IF, 0, no_else, "a block is missing"},
        {"choose", FLAT_S_IF, 0, then_gives_nothing, "the number of results is wrong"},
        {"choose", FLAT_S_IF, 0, then_gives_stranger, out_of_range},
        {"choose", FLAT_S_IF, 0, then_gives_ctx, "a result is of the wrong kind"},
        {"choose", FLAT_S_IF, 0, then_gives_array, "a result is i64 of rank 1 instead of i64 of rank 0"},
        {"choose", FLAT_S_IF, 0, binds_stranger, out_of_range},
        {"set", FLAT_S_LOOP, 0, count_is_array, "the count is i64 of rank 1"},
        {"set", FLAT_S_LOOP, 0, index_stranger, out_of_range},
        {"set", FLAT_S_LOOP, 0, index_bool, "the index is bool"},
        {"set", FLAT_S_LOOP, 0, param_stranger, out_of_range},
        {"set", FLAT_S_LOOP, 0, param_twice, "is bound twice"},
        {"set", FLAT_S_LOOP, 0, no_loop_body, "a block is missing"},
        {"wait", FLAT_S_LOOP, 0, no_loop_cond, "a condition has one result"},
        {"wait", FLAT_S_LOOP, 0, two_loop_conds, "a condition has one result"},
        {"wait", FLAT_S_LOOP, 0, loop_while_array, "the condition is i64 of rank 1"},
        {"wait", FLAT_S_LOOP, 0, binds_bool, "a result is i64 of rank 1 instead of bool"},
        {"steps", FLAT_S_LOOP_LIFTED, 0, ctx_stranger, out_of_range},
        {"steps", FLAT_S_LOOP_LIFTED, 0, binds_nothing, "as many results as parameters"},
        {"steps", FLAT_S_LOOP_LIFTED, 0, act_host, "what it binds is no context"},
        {"steps", FLAT_S_LOOP_LIFTED, 0, act_below_itself, "not selected from the loop's"},
        {"steps", FLAT_S_LOOP_LIFTED, 0, init_host, "an initial value, %0, does not belong"},
        {"steps", FLAT_S_LOOP_LIFTED, 0, lifted_param_outside, "a parameter, %5, does not belong"},
        {"steps", FLAT_S_LOOP_LIFTED, 0, lifted_while_number, "the condition is i64 of rank 0 instead of bool"},
        {"steps", FLAT_S_LOOP_LIFTED, 0, binds_bool, "a result is bool"},
    };
    CHECK_ROWS(rows);
}

/* A loop whose state is a context and a column of it, in either order: what moves must keep them together. */
typedef struct Moved {
    F f;
    FlatStmt *loop;
    FlatVar params[2], outs[2];
} Moved;

static Moved moved(bool column_first)
{
    Moved m = {.f = f_open()};
    uint32_t c = column_first ? 1 : 0, e = 1 - c;
    FlatVar xs = f_param(&m.f, T_SEQ), inits[2];
    inits[c] = f_nested(&m.f, FLAT_ROOT, xs);
    inits[e] = f_elems(&m.f, inits[c], xs);
    m.params[c] = f_ctx(&m.f, CTX_NESTED, FLAT_ROOT);
    m.params[e] = f_in(&m.f, T_I64, m.params[c]);
    m.outs[c] = f_ctx(&m.f, CTX_NESTED, FLAT_ROOT);
    m.outs[e] = f_in(&m.f, T_I64, m.outs[c]);
    FlatVar n = f_const(&m.f, 3);
    m.loop = f_stmt(&m.f, FLAT_S_LOOP, 2, m.outs);
    m.loop->loop.inits = f_vars(&m.f, 2, inits);
    m.loop->loop.params = f_vars(&m.f, 2, m.params);
    m.loop->loop.nparams = 2;
    m.loop->loop.index = f_in(&m.f, T_I64, FLAT_ROOT);
    m.loop->loop.count = n;
    m.loop->loop.body = f_block(&m.f);
    f_results(&m.f, m.loop->loop.body, 2, m.params);
    f_results(&m.f, m.f.fn->body, VARS(xs));
    assert_flat_valid(&m.f);
    return m;
}

static void assert_moved_badly(Moved *m, const char *expected)
{
    StrBuf why = {0};
    assert_false(flat_check(m->f.p, &why));
    assert_non_null(strstr(why.text, expected));
    strbuf_free(&why);
    f_close(&m->f);
}

static void test_moves(void **state)
{
    (void)state;
    for (int column_first = 0; column_first < 2; column_first++) {
        uint32_t c = column_first ? 1 : 0, e = 1 - c;
        Moved m = moved(column_first);
        m.f.fn->vars.at[m.params[c]].ctx_kind = CTX_SELECTED;
        assert_moved_badly(&m, "a context of the wrong kind");
        m = moved(column_first);
        m.f.fn->vars.at[m.params[e]].ctx = m.outs[c];
        assert_moved_badly(&m, "does not belong to the context of");
        m = moved(column_first); /* its context is the loop's own */
        m.f.fn->vars.at[m.outs[e]].ctx = m.params[c];
        assert_moved_badly(&m, "the context of a column, %3, is not in scope");
    }
}

static void test_calls(void **state)
{
    (void)state;
    const Row rows[] = {
        {"one", FLAT_S_CALL, 0, calls_nothing, "the function is not of the program"},
        {"one", FLAT_S_CALL, 0, calls_copy, "the function is not of the program"},
        {"one", FLAT_S_CALL, 0, calls_outside, "the function is not of the program"},
        {"one", FLAT_S_CALL, 0, calls_lifted, "not of the right version"},
        {"one", FLAT_S_CALL, 0, calls_with_one, "another arity"},
        {"one", FLAT_S_CALL, 0, call_gives_two, "another arity"},
        {"one", FLAT_S_CALL, 0, call_on_stranger, out_of_range},
        {"one", FLAT_S_CALL, 0, binds_bool, "a result is bool"},
        {"deep", FLAT_S_CALL_LIFTED, 0, lifted_calls_host, "not of the right version"},
        {"fibs", FLAT_S_CALL_LIFTED, 0, lifted_call_binds, "outs belong to the sites"},
        {"fibs", FLAT_S_CALL_LIFTED, 0, site_stranger, out_of_range},
        {"fibs", FLAT_S_CALL_LIFTED, 0, site_on_host, "an argument, %0, does not belong"},
        {"fibs", FLAT_S_CALL_LIFTED, 0, site_gives_bool, "a result is bool"},
        {"fib_lifted", FLAT_S_CALL_LIFTED, 0, entry_is_lifted, "an entry is lifted"},
    };
    CHECK_ROWS(rows);
}

static void test_code(void **state)
{
    (void)state;
    const Row rows[] = {
        {"fibs", FLAT_S_KERNEL, 0, code_binds_input, "is bound twice"},
        {"fibs", FLAT_S_KERNEL, 0, code_binds_stranger, "core variable 9999 is out of range"},
        {"fibs", FLAT_S_KERNEL, 0, code_reads_unbound, "is no input"},
        {"fibs", FLAT_S_KERNEL, 0, code_copies_bool, "a copy is bool"},
        {"fibs", FLAT_S_KERNEL, 0, code_not_scalar, "a statement that is not scalar code"},
        {"code", FLAT_S_KERNEL, 0, length_of_number, "an array is expected"},
        {"code", FLAT_S_KERNEL, 0, index_bool_in_code, "an index is bool"},
        {"code", FLAT_S_KERNEL, 0, index_number, "an array is expected"},
        {"code", FLAT_S_KERNEL, 0, index_gives_stranger, "core variable 9999 is out of range"},
        {"part", FLAT_S_KERNEL, 0, slice_from_bool, "a slice's start is bool"},
        {"part", FLAT_S_KERNEL, 0, slice_to_bool, "a slice's end is bool"},
        {"part", FLAT_S_KERNEL, 0, slice_of_bool, "an array is expected"},
        {"table", FLAT_S_KERNEL, 0, checks_number, "a check is i64"},
        {"table", FLAT_S_KERNEL, 0, check_says_bool, "a check's value is bool"},
        {"code", FLAT_S_KERNEL, 0, code_if_number, "a condition is i64"},
        {"code", FLAT_S_KERNEL, 0, code_if_binds_stranger, "core variable 9999 is out of range"},
        {"code", FLAT_S_KERNEL, 0, code_no_else, "a body has 0 results instead of 1"},
        {"code", FLAT_S_KERNEL, 0, code_reads_branch, "is no input"},
        {"code", FLAT_S_KERNEL, 0, code_loop_from_bool, "a loop's initial value is bool"},
        {"code", FLAT_S_KERNEL, 0, code_loop_counts_bool, "a loop's count is bool"},
        {"code", FLAT_S_KERNEL, 0, code_loop_index_twice, "is bound twice"},
        {"code", FLAT_S_KERNEL, 0, code_loop_param_twice, "is bound twice"},
        {"code", FLAT_S_KERNEL, 0, code_loop_gives_bool, "a body's result is bool"},
        {"more", FLAT_S_KERNEL, 0, code_while_number, "a body's result is i64"},
    };
    CHECK_ROWS(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scopes),   cmocka_unit_test(test_inputs),  cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_contexts), cmocka_unit_test(test_columns), cmocka_unit_test(test_operations),
        cmocka_unit_test(test_control),  cmocka_unit_test(test_moves),   cmocka_unit_test(test_calls),
        cmocka_unit_test(test_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
