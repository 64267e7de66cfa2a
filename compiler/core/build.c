#include "core/build.h"

#include <assert.h>
#include <string.h>

/* ---- variables and atoms ---- */

CoreAtom build_var(CoreBuilder *b, CoreType type, const char *hint)
{
    return core_var_atom(core_new_var(b->p, b->fn, type, hint), type);
}

CoreAtom *build_atoms(const CoreBuilder *b, const CoreVar *vars, uint32_t n)
{
    CoreAtom *atoms = arena_array(b->p->arena, CoreAtom, n + 1);
    for (uint32_t i = 0; i < n; i++)
        atoms[i] = build_atom(b, vars[i]);
    return atoms;
}

CoreVar *build_vars_copy(const CoreBuilder *b, const CoreVar *vars, uint32_t room, uint32_t n)
{
    CoreVar *copy = arena_array(b->p->arena, CoreVar, room + 1);
    if (n)
        memcpy(copy, vars, n * sizeof *copy);
    return copy;
}

CoreAtom *build_atoms_copy(const CoreBuilder *b, const CoreAtom *atoms, uint32_t room, uint32_t n)
{
    CoreAtom *copy = arena_array(b->p->arena, CoreAtom, room + 1);
    if (n)
        memcpy(copy, atoms, n * sizeof *copy);
    return copy;
}

/* ---- statements ---- */

void build_fresh(CoreBuilder *b, CoreStmt *s, uint32_t n, const CoreType *types)
{
    s->nvars = n;
    s->vars = arena_array(b->p->arena, CoreVar, n + 1);
    for (uint32_t i = 0; i < n; i++)
        s->vars[i] = core_new_var(b->p, b->fn, types[i], NULL);
}

CoreStmt *build_stmt(CoreBuilder *b, CoreKind kind, uint32_t n, const CoreType *types)
{
    CoreStmt *s = core_new_stmt(b->p, kind, b->span);
    build_fresh(b, s, n, types);
    return s;
}

CoreStmt *build_stmt_into(CoreBuilder *b, CoreKind kind, uint32_t n, const CoreVar *vars)
{
    CoreStmt *s = core_new_stmt(b->p, kind, b->span);
    s->nvars = n;
    s->vars = build_vars_copy(b, vars, n, n);
    return s;
}

void build_emit(CoreBuilder *b, CoreStmt *s)
{
    if (b->emit)
        b->emit(b->ctx, b->out, s);
    else
        core_push(b->p, b->out, s);
}

/* Emits a statement that binds one variable. */
static CoreAtom emit_one(CoreBuilder *b, CoreStmt *s)
{
    CoreAtom result = build_atom(b, s->vars[0]);
    build_emit(b, s);
    return result;
}

static CoreAtom emit_prim(CoreBuilder *b, CorePrim op, CoreType result, const CoreAtom *args)
{
    CoreStmt *s = build_stmt(b, CORE_PRIM, 1, &result);
    s->prim.op = op;
    s->prim.nargs = core_prim_arity(op);
    s->prim.args = build_atoms_copy(b, args, s->prim.nargs, s->prim.nargs);
    return emit_one(b, s);
}

CoreAtom build_prim(CoreBuilder *b, CorePrim op, Scalar result, const CoreAtom *args)
{
    return emit_prim(b, op, core_scalar(result), args);
}

CoreAtom build_prim1(CoreBuilder *b, CorePrim op, CoreAtom x)
{
    return emit_prim(b, op, core_prim_gives_bool(op) ? core_scalar(SC_BOOL) : core_atom_type(b->fn, x), &x);
}

CoreAtom build_prim2(CoreBuilder *b, CorePrim op, CoreAtom x, CoreAtom y)
{
    CoreType result = core_prim_gives_bool(op) ? core_scalar(SC_BOOL) : core_atom_type(b->fn, x);
    return emit_prim(b, op, result, (const CoreAtom[]){x, y});
}

CoreAtom build_select(CoreBuilder *b, CoreAtom cond, CoreAtom x, CoreAtom y)
{
    return emit_prim(b, PRIM_SELECT, core_atom_type(b->fn, x), (const CoreAtom[]){cond, x, y});
}

CoreAtom build_length(CoreBuilder *b, CoreAtom xs)
{
    CoreType i64 = core_scalar(SC_I64);
    CoreStmt *s = build_stmt(b, CORE_LENGTH, 1, &i64);
    s->length.array = xs;
    return emit_one(b, s);
}

CoreAtom build_index(CoreBuilder *b, CoreAtom xs, CoreAtom i, uint32_t site)
{
    CoreType element = core_element(core_atom_type(b->fn, xs));
    CoreStmt *s = build_stmt(b, CORE_INDEX, 1, &element);
    s->site = site;
    s->index.array = xs;
    s->index.index = i;
    return emit_one(b, s);
}

CoreAtom build_array(CoreBuilder *b, CoreType type, const CoreAtom *items, uint32_t n)
{
    CoreStmt *s = build_stmt(b, CORE_ARRAY, 1, &type);
    s->array.items = build_atoms_copy(b, items, n, n);
    s->array.n = n;
    return emit_one(b, s);
}

CoreAtom build_nothing(CoreBuilder *b, CoreType type)
{
    return type.rank == 0 ? core_const(type.scalar, 0) : build_array(b, type, NULL, 0);
}

void build_check(CoreBuilder *b, uint32_t site, CoreAtom cond, const CoreAtom *values, uint32_t n)
{
    CoreStmt *s = build_stmt(b, CORE_CHECK, 0, NULL);
    assert(n <= sizeof s->check.values / sizeof *s->check.values);
    s->site = site;
    s->check.cond = cond;
    s->check.nvalues = n;
    for (uint32_t i = 0; i < n; i++)
        s->check.values[i] = values[i];
    build_emit(b, s);
}

void build_check_bounds(CoreBuilder *b, uint32_t site, CoreAtom i, CoreAtom n)
{
    if (site == CORE_NO_SITE)
        return;
    CoreAtom low = build_prim2(b, PRIM_LE, core_i64(0), i), high = build_prim2(b, PRIM_LT, i, n);
    build_check(b, site, build_prim2(b, PRIM_AND, low, high), (const CoreAtom[]){i, n}, 2);
}

void build_check_slice(CoreBuilder *b, uint32_t site, CoreAtom from, CoreAtom to, CoreAtom n)
{
    if (site == CORE_NO_SITE)
        return;
    CoreAtom first = build_prim2(b, PRIM_LE, core_i64(0), from), last = build_prim2(b, PRIM_LE, to, n);
    CoreAtom inside = build_prim2(b, PRIM_AND, first, last), order = build_prim2(b, PRIM_LE, from, to);
    build_check(b, site, build_prim2(b, PRIM_AND, inside, order), (const CoreAtom[]){from, to, n}, 3);
}

/* ---- blocks ---- */

CoreBlock *build_begin(CoreBuilder *b)
{
    CoreBlock *outer = b->out;
    b->out = core_new_block(b->p);
    return outer;
}

void build_results(const CoreBuilder *b, CoreBlock *block, const CoreAtom *results, uint32_t n)
{
    block->results = build_atoms_copy(b, results, n, n);
    block->nresults = n;
}

void build_return(const CoreBuilder *b, CoreBlock *block, const CoreStmt *s)
{
    block->results = build_atoms(b, s->vars, s->nvars);
    block->nresults = s->nvars;
}

CoreBlock *build_end(CoreBuilder *b, CoreBlock *outer, const CoreAtom *results, uint32_t n)
{
    CoreBlock *block = b->out;
    build_results(b, block, results, n);
    b->out = outer;
    return block;
}

CoreStmt *build_instead(CoreBuilder *b, CoreStmt *s, CoreAtom cond)
{
    CoreStmt *chosen = build_stmt_into(b, CORE_IF, s->nvars, s->vars);
    chosen->if_.cond = cond;
    s->vars = arena_array(b->p->arena, CoreVar, s->nvars + 1);
    for (uint32_t i = 0; i < s->nvars; i++)
        s->vars[i] = core_new_var(b->p, b->fn, core_var_type(b->fn, chosen->vars[i]), NULL);
    return chosen;
}

CoreBlock *build_alone(CoreBuilder *b, CoreStmt *s)
{
    CoreBlock *outer = build_begin(b);
    build_emit(b, s);
    return build_end(b, outer, build_atoms(b, s->vars, s->nvars), s->nvars);
}

void build_in_front(CoreBuilder *b, CoreBlock *block, void (*f)(void *ctx, CoreAtom *a), void *ctx)
{
    CoreBlock *outer = b->out, rest = core_take_stmts(block);
    b->out = block;
    for (uint32_t i = 0; i < rest.stmts.n; i++)
        core_stmt_all_atoms(rest.stmts.at[i], f, ctx);
    for (uint32_t i = 0; i < block->nresults; i++)
        f(ctx, &block->results[i]);
    for (uint32_t i = 0; i < rest.stmts.n; i++)
        core_push(b->p, block, rest.stmts.at[i]);
    b->out = outer;
}

const CoreAtom *build_copy(CoreBuilder *b, const CoreFn *from, const CoreBlock *block, CoreAtom *map)
{
    const CoreBlock *fresh = core_copy_block(b->p, b->fn, from, block, map);
    for (uint32_t i = 0; i < fresh->stmts.n; i++)
        build_emit(b, fresh->stmts.at[i]);
    return fresh->results;
}

typedef struct States {
    const CoreStmt *loop;
    const CoreAtom *values;
} States;

static void put_state(void *ctx, CoreAtom *a)
{
    const States *state = ctx;
    for (uint32_t i = 0; i < state->loop->loop.nparams && !a->is_const; i++)
        if (a->var == state->loop->loop.params[i]) {
            *a = state->values[i];
            return;
        }
}

void build_enter(CoreBuilder *b, const CoreSoac *soac, CoreAtom position, CoreAtom *map)
{
    if (soac->index != CORE_NO_VAR)
        map[soac->index] = position;
    for (uint32_t i = 0; i < soac->ninputs; i++) {
        const CoreAtom xs = soac->inputs[i].is_const ? soac->inputs[i] : map[soac->inputs[i].var];
        map[soac->elements[i]] = build_index(b, xs, position, CORE_NO_SITE);
    }
}

CoreAtom build_condition(CoreBuilder *b, const CoreStmt *s, const CoreAtom *state, Arena *scratch, CoreCopyMap *map)
{
    CoreBlock *copy = core_copy_within(b->p, b->fn, s->loop.cond, scratch, map);
    core_block_atoms(copy, put_state, &(States){s, state});
    for (uint32_t i = 0; i < copy->stmts.n; i++)
        build_emit(b, copy->stmts.at[i]);
    return copy->results[0];
}

/* ---- control and parallel operations ---- */

static CoreAtom *emit_all(CoreBuilder *b, CoreStmt *s)
{
    CoreAtom *results = build_atoms(b, s->vars, s->nvars);
    build_emit(b, s);
    return results;
}

/* The types of a block's results; as sequences of them if so wanted. */
static CoreType *result_types(const CoreBuilder *b, const CoreBlock *block, bool sequences)
{
    CoreType *types = arena_array(b->p->arena, CoreType, block->nresults + 1);
    for (uint32_t i = 0; i < block->nresults; i++) {
        types[i] = core_atom_type(b->fn, block->results[i]);
        if (sequences)
            types[i] = core_seq(types[i]);
    }
    return types;
}

CoreAtom *build_if(CoreBuilder *b, CoreAtom cond, CoreBlock *then_b, CoreBlock *else_b)
{
    CoreStmt *s = build_stmt(b, CORE_IF, then_b->nresults, result_types(b, then_b, false));
    s->if_.cond = cond;
    s->if_.then_b = then_b;
    s->if_.else_b = else_b;
    return emit_all(b, s);
}

CoreAtom *build_call(CoreBuilder *b, CoreFn *fn, const CoreAtom *args)
{
    CoreStmt *s = build_stmt(b, CORE_CALL, fn->nresults, fn->results);
    s->call.fn = fn;
    s->call.nargs = fn->nparams;
    s->call.args = build_atoms_copy(b, args, fn->nparams, fn->nparams);
    return emit_all(b, s);
}

CoreAtom *build_map(CoreBuilder *b, CoreSoac soac)
{
    CoreStmt *s = build_stmt(b, CORE_MAP, soac.body->nresults, result_types(b, soac.body, true));
    s->soac = core_soac_of_map(soac);
    return emit_all(b, s);
}

CoreLambda build_operator(CoreBuilder *b, CorePrim op, CoreType type)
{
    CoreLambda lambda = {arena_array(b->p->arena, CoreVar, 2), 2, NULL};
    CoreAtom x = build_var(b, type, NULL), y = build_var(b, type, NULL);
    lambda.params[0] = x.var;
    lambda.params[1] = y.var;
    CoreBlock *outer = build_begin(b);
    CoreAtom result = build_prim2(b, op, x, y);
    lambda.body = build_end(b, outer, &result, 1);
    return lambda;
}

CoreAtom build_fold(CoreBuilder *b, CoreKind kind, CoreSoac soac, CorePrim op, CoreAtom neutral, bool exclusive)
{
    CoreStmt *s = build_stmt(b, kind, 1, result_types(b, soac.body, kind == CORE_SCAN));
    s->soac = soac;
    s->soac.neutral = build_atoms_copy(b, &neutral, 1, 1);
    s->soac.op = build_operator(b, op, neutral.type);
    s->soac.exclusive = exclusive;
    return emit_one(b, s);
}

CoreAtom build_repeated(CoreBuilder *b, CoreAtom x, CoreAtom n)
{
    CoreBlock *outer = build_begin(b);
    CoreSoac soac = {.domain = n, .index = CORE_NO_VAR, .body = build_end(b, outer, &x, 1)};
    return build_map(b, soac)[0];
}

CoreAtom *build_once(CoreBuilder *b, CoreBlock *block)
{
    CoreSoac soac = {.domain = core_i64(1), .index = build_var(b, core_scalar(SC_I64), NULL).var, .body = block};
    const uint32_t n = block->nresults;
    const CoreAtom *arrays = build_map(b, soac);
    CoreAtom *results = arena_array(b->p->arena, CoreAtom, n + 1);
    for (uint32_t i = 0; i < n; i++)
        results[i] = build_index(b, arrays[i], core_i64(0), CORE_NO_SITE);
    return results;
}

CoreAtom build_room(CoreBuilder *b, CoreAtom n, CoreType element)
{
    CoreBlock *outer = build_begin(b);
    CoreStmt *nothing = build_stmt(b, CORE_NOTHING, 1, &element);
    build_emit(b, nothing);
    const CoreAtom x = build_atom(b, nothing->vars[0]);
    CoreSoac soac = {.domain = n, .index = CORE_NO_VAR, .body = build_end(b, outer, &x, 1)};
    return build_map(b, soac)[0];
}

CoreAtom build_param(CoreBuilder *b, uint32_t of)
{
    const CoreType i64 = core_scalar(SC_I64);
    CoreStmt *s = build_stmt(b, CORE_PARAM, 1, &i64);
    s->param.of = of;
    build_emit(b, s);
    return build_atom(b, s->vars[0]);
}

void build_named(CoreBuilder *b, CoreVar v, CoreAtom a)
{
    CoreStmt *s = build_stmt_into(b, CORE_ATOM, 1, &v);
    s->atom = a;
    build_emit(b, s);
}

/* ---- rows ---- */
CoreAtom build_changed(CoreBuilder *b, CoreAtom xs, CoreAtom i, CoreAtom value)
{
    const CoreType type = core_atom_type(b->fn, xs);
    CoreStmt *s = build_stmt(b, CORE_UPDATE, 1, &type);
    s->update.array = xs;
    s->update.index = i;
    s->update.value = value;
    build_emit(b, s);
    return build_atom(b, s->vars[0]);
}

CoreAtom build_piece(CoreBuilder *b, CoreAtom xs, CoreAtom from, CoreAtom length)
{
    const CoreType type = core_atom_type(b->fn, xs);
    CoreStmt *s = build_stmt(b, CORE_SLICE, 1, &type);
    s->slice.array = xs;
    s->slice.from = from;
    s->slice.to = build_prim2(b, PRIM_ADD, from, length);
    build_emit(b, s);
    return build_atom(b, s->vars[0]);
}

CoreAtom build_flatten(CoreBuilder *b, CoreAtom rows)
{
    const CoreType type = core_element(core_atom_type(b->fn, rows));
    CoreStmt *s = build_stmt(b, CORE_FLATTEN, 1, &type);
    s->length.array = rows;
    build_emit(b, s);
    return build_atom(b, s->vars[0]);
}

CoreAtom build_row_lengths(CoreBuilder *b, CoreAtom rows, CoreAtom n)
{
    const CoreAtom i = build_var(b, core_scalar(SC_I64), NULL);
    CoreBlock *outer = build_begin(b);
    const CoreAtom length = build_length(b, build_index(b, rows, i, CORE_NO_SITE));
    CoreSoac soac = {.domain = n, .index = i.var, .body = build_end(b, outer, &length, 1)};
    return build_map(b, soac)[0];
}

CoreAtom build_row_starts(CoreBuilder *b, CoreAtom lengths, CoreAtom n)
{
    const CoreAtom i = build_var(b, core_scalar(SC_I64), NULL);
    CoreBlock *outer = build_begin(b);
    const CoreAtom length = build_index(b, lengths, i, CORE_NO_SITE);
    CoreSoac soac = {.domain = n, .index = i.var, .body = build_end(b, outer, &length, 1)};
    return build_fold(b, CORE_SCAN, soac, PRIM_ADD, core_i64(0), true);
}

CoreAtom build_rows(CoreBuilder *b, CoreAtom xs, CoreAtom starts, CoreAtom lengths, CoreAtom n)
{
    const CoreAtom i = build_var(b, core_scalar(SC_I64), NULL);
    CoreSoac soac = {.domain = n, .index = i.var};
    CoreBlock *outer = build_begin(b);
    const CoreAtom row =
        build_piece(b, xs, build_index(b, starts, i, CORE_NO_SITE), build_index(b, lengths, i, CORE_NO_SITE));
    soac.body = build_end(b, outer, &row, 1);
    return build_map(b, soac)[0];
}
