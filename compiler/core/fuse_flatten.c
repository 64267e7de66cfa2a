/* A reduction of a flattened nest goes row by row, and stores no row:
 *
 *     xss = map n at i { … -> xs }                 s = reduce n at i {
 *     ys  = flatten xss                                …
 *     m   = length ys                      ==>         k = length xs
 *     s   = reduce m (y <- ys) { … } op                t = reduce k (y <- xs) { … } op
 *                                                      -> t } op
 *     m alone                              ==>     m = reduce n at i { … k = length xs; -> k } size_add
 *
 * where nobody else wants xss or ys. Operators are associative with their neutral element: that is the language's
 * demand; but a sum or product that begins with something else stays as it is. Where m is wanted, too, the reduction
 * gives it as one more result, in the place of `length`. */
#include "core/fuse_internal.h"

#include <string.h>

enum { MOST_FLATTENED = 8 }; /* sequences beside each other: a nest's results */

typedef struct FlatNest {
    CoreStmt *map;
    CoreStmt *flattens[MOST_FLATTENED];
    uint32_t n;
} FlatNest;

/* ---- conditions ---- */

static CoreStmt *def_here(Fuser *f, const CoreBlock *b, CoreAtom a, CoreKind kind)
{
    a = fuse_resolve(f, a);
    CoreStmt *s = fuse_def(f, a);
    return s && s->kind == kind && fuse_var(f, a.var)->block == b ? s : NULL;
}

/* One more sequence that is read flattened; false where it cannot be one of the nest's. */
static bool add_flattened(Fuser *f, const CoreBlock *b, FlatNest *nest, CoreAtom a)
{
    CoreStmt *flatten = def_here(f, b, a, CORE_FLATTEN);
    CoreStmt *map = flatten ? def_here(f, b, flatten->length.array, CORE_MAP) : NULL;
    if (!map || map->soac.guard || (nest->n > 0 && map != nest->map))
        return false;
    nest->map = map;
    for (uint32_t i = 0; i < nest->n; i++)
        if (nest->flattens[i] == flatten)
            return true;
    if (nest->n == MOST_FLATTENED)
        return false;
    nest->flattens[nest->n++] = flatten;
    return true;
}

/* Does nothing but these statements read the nest, and nothing but `reads` places what they give? */
static bool is_only_flattened(Fuser *f, const FlatNest *nest, uint32_t reads)
{
    uint32_t rows = 0, all = 0;
    for (uint32_t i = 0; i < nest->map->nvars; i++)
        rows += fuse_var(f, nest->map->vars[i])->all;
    for (uint32_t i = 0; i < nest->n; i++)
        all += fuse_var(f, nest->flattens[i]->vars[0])->all;
    return rows == nest->n && all == reads;
}

/* May the neutral element be combined with once for each row? */
static bool is_neutral(const CoreLambda *op, uint32_t i, CoreAtom neutral, Scalar t)
{
    switch (core_op_part(op, i)) {
    case PRIM_ADD:
    case PRIM_XOR: return neutral.is_const && neutral.bits == 0;
    case PRIM_MUL: return neutral.is_const && !scalar_is_float(t) && neutral.bits == 1;
    default: return true;
    }
}

static bool is_reduction_of_scalars(Fuser *f, const CoreStmt *s)
{
    const CoreSoac *c = &s->soac;
    if (s->kind != CORE_REDUCE || c->index != CORE_NO_VAR || c->ninputs == 0)
        return false;
    for (uint32_t i = 0; i < s->nvars; i++) {
        const CoreType t = core_var_type(f->fn, s->vars[i]);
        if (t.rank > 0 || !is_neutral(&c->op, i, fuse_resolve(f, c->neutral[i]), t.scalar))
            return false;
    }
    return core_block_is_scalar(c->body) && core_block_is_scalar(c->op.body);
}

static bool is_arithmetic(const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (b->stmts.at[i]->kind != CORE_ATOM && b->stmts.at[i]->kind != CORE_PRIM)
            return false;
    return true;
}

/* To where the length is taken: the reduction trusts in no check between, and what it needs is there. */
bool fuse_may_move_up(Fuser *f, const CoreBlock *b, CoreStmt *s, const CoreStmt *length)
{
    const CoreAtom domain = s->soac.domain;
    s->soac.domain = core_i64(0);
    const bool ready = is_arithmetic(s->soac.body) && is_arithmetic(s->soac.op.body) &&
                       !core_stmt_fallible(f->p, f->fn, s) && fuse_reads_only_above(f, b, s, length->mark);
    s->soac.domain = domain;
    return ready;
}

/* ---- taking apart ---- */

void fuse_uncount_length(Fuser *f, const CoreStmt *length)
{
    const CoreAtom array = fuse_resolve(f, length->length.array);
    fuse_count_atom(f, array, -1);
    fuse_var(f, array.var)->lengths--;
}

static void forget_length(Fuser *f, CoreStmt **stmts, uint32_t n, CoreStmt *length)
{
    fuse_uncount_length(f, length);
    fuse_forget(stmts, n, length);
}

static void forget_nest(Fuser *f, CoreStmt **stmts, uint32_t n, const FlatNest *nest)
{
    for (uint32_t i = 0; i < nest->n; i++) {
        fuse_count_atom(f, nest->flattens[i]->length.array, -1);
        fuse_forget(stmts, n, nest->flattens[i]);
    }
    fuse_forget(stmts, n, nest->map);
}

/* The row that the nest's body gives, of which `a` is the flattened sequence. */
static CoreAtom row_of(Fuser *f, const FlatNest *nest, CoreAtom a)
{
    const CoreStmt *flatten = fuse_def(f, fuse_resolve(f, a));
    uint32_t which = 0;
    fuse_is_result_of(f, nest->map, flatten->length.array, &which);
    return fuse_resolve(f, nest->map->soac.body->results[which]);
}

static CoreAtom length_of_row(Fuser *f, CoreBuilder *builder, CoreAtom row)
{
    const CoreAtom n = build_length(builder, row);
    fuse_var(f, row.var)->lengths++;
    return n;
}

static CoreLambda copy_operator(Fuser *f, const CoreLambda *op)
{
    CoreLambda copy = {arena_array(f->p->arena, CoreVar, op->nparams + 1), op->nparams, NULL};
    for (uint32_t i = 0; i < op->nparams; i++) {
        const CoreVarInfo info = f->fn->vars.at[op->params[i]];
        copy.params[i] = core_new_var(f->p, f->fn, info.type, info.hint);
        fuse_set_copy(f, op->params[i], core_var_atom(copy.params[i], info.type));
    }
    copy.body = fuse_copy_block(f, op->body);
    for (uint32_t i = 0; i < op->nparams; i++)
        fuse_set_copy(f, op->params[i], core_var_atom(op->params[i], f->fn->vars.at[op->params[i]].type));
    return copy;
}

/* The nest's body gives `n` results instead of its rows. */
static void set_results(Fuser *f, CoreBuilder *builder, CoreBlock *body, const CoreAtom *results, uint32_t n)
{
    for (uint32_t i = 0; i < body->nresults; i++)
        fuse_count_atom(f, body->results[i], -1);
    build_results(builder, body, results, n);
    for (uint32_t i = 0; i < n; i++)
        fuse_count_atom(f, body->results[i], 1);
}

/* ---- reductions ---- */

/* The reduction of a row, at the end of the nest's body; how long the row is. */
static CoreStmt *reduce_row(Fuser *f, CoreBuilder *builder, const FlatNest *nest, const CoreStmt *s, CoreAtom *length)
{
    CoreType *types = arena_array(f->p->arena, CoreType, s->nvars + 1);
    for (uint32_t i = 0; i < s->nvars; i++)
        types[i] = core_var_type(f->fn, s->vars[i]);
    CoreSoac c = s->soac;
    c.inputs = build_atoms_copy(builder, c.inputs, c.ninputs, c.ninputs);
    c.neutral = build_atoms_copy(builder, c.neutral, s->nvars, s->nvars);
    for (uint32_t i = 0; i < c.ninputs; i++)
        c.inputs[i] = row_of(f, nest, c.inputs[i]);
    c.domain = *length = length_of_row(f, builder, c.inputs[0]);
    CoreStmt *inner = build_stmt(builder, CORE_REDUCE, s->nvars, types);
    inner->soac = c;
    build_emit(builder, inner);
    return inner;
}

/* The length as one more result of s. */
void fuse_add_length(Fuser *f, CoreStmt *s, CoreVar length)
{
    CoreBuilder builder = fuse_builder(f, s->soac.body, s->span);
    const CoreLambda add = build_operator(&builder, PRIM_SIZE_ADD, core_scalar(SC_I64));
    const CoreAtom zero = core_i64(0);
    const uint32_t n = s->nvars;
    fuse_count_atom(f, add.body->results[0], 1);
    CORE_JOIN(f->p, s->soac.neutral, n, &zero, 1);
    fuse_join_operator(f, &s->soac.op, &add, n, 1);
    CORE_JOIN(f->p, s->vars, n, &length, 1);
    s->nvars = n + 1;
}

void fuse_move_up(Fuser *f, const CoreBlock *b, CoreStmt **stmts, uint32_t at, const CoreStmt *length)
{
    CoreStmt *s = stmts[at];
    uint32_t up = at;
    while (stmts[up] != length)
        up--;
    fuse_uncount_length(f, length);
    stmts[at] = NULL;
    stmts[up] = s;
    s->mark = length->mark;
    fuse_note_def(f, b, s);
}

static void reduce_rows(Fuser *f, const CoreBlock *b, CoreStmt **stmts, uint32_t at, const FlatNest *nest,
                        CoreStmt *length)
{
    CoreStmt *s = stmts[at];
    CoreBlock *body = nest->map->soac.body;
    CoreBuilder builder = fuse_builder(f, body, s->span);
    const bool wanted = fuse_var(f, length->vars[0])->all > 1; /* but as the reduction's domain */
    const CoreSoac old = s->soac;
    CoreAtom n;
    const CoreStmt *inner = reduce_row(f, &builder, nest, s, &n);
    CoreAtom *results = build_atoms(&builder, inner->vars, inner->nvars);
    for (uint32_t i = 0; i < old.ninputs; i++)
        fuse_count_atom(f, old.inputs[i], -1);
    fuse_count_atom(f, old.domain, -1);
    s->soac = nest->map->soac;
    s->soac.neutral = old.neutral;
    s->soac.commutative = old.commutative;
    s->soac.op = copy_operator(f, &old.op);
    results[inner->nvars] = n;
    set_results(f, &builder, body, results, inner->nvars + wanted);
    forget_nest(f, stmts, at, nest);
    if (!wanted) {
        forget_length(f, stmts, at, length);
        return;
    }
    fuse_add_length(f, s, length->vars[0]);
    fuse_move_up(f, b, stmts, at, length);
}

static bool flatten_reduction(Fuser *f, const CoreBlock *b, CoreStmt **stmts, uint32_t at)
{
    CoreStmt *s = stmts[at], *length = def_here(f, b, s->soac.domain, CORE_LENGTH);
    FlatNest nest = {NULL, {NULL}, 0};
    if (!length || !is_reduction_of_scalars(f, s) || !add_flattened(f, b, &nest, length->length.array))
        return false;
    for (uint32_t i = 0; i < s->soac.ninputs; i++)
        if (!add_flattened(f, b, &nest, s->soac.inputs[i]))
            return false;
    if (!is_only_flattened(f, &nest, s->soac.ninputs + 1) ||
        (fuse_var(f, length->vars[0])->all > 1 && !fuse_may_move_up(f, b, s, length)))
        return false;
    reduce_rows(f, b, stmts, at, &nest, length);
    return true;
}

/* ---- lengths ---- */

static bool flatten_length(Fuser *f, const CoreBlock *b, CoreStmt **stmts, uint32_t at)
{
    CoreStmt *length = stmts[at];
    FlatNest nest = {NULL, {NULL}, 0};
    if (!add_flattened(f, b, &nest, length->length.array) || !is_only_flattened(f, &nest, 1))
        return false;
    const CoreType t = core_scalar(SC_I64);
    CoreBlock *body = nest.map->soac.body;
    CoreBuilder builder = fuse_builder(f, body, length->span);
    const CoreAtom zero = core_i64(0), n = length_of_row(f, &builder, row_of(f, &nest, length->length.array));
    CoreStmt *sum = build_stmt_into(&builder, CORE_REDUCE, 1, length->vars);
    sum->soac = nest.map->soac;
    sum->soac.neutral = build_atoms_copy(&builder, &zero, 1, 1);
    sum->soac.op = build_operator(&builder, PRIM_SIZE_ADD, t);
    sum->soac.commutative = true;
    fuse_count_atom(f, sum->soac.op.body->results[0], 1);
    set_results(f, &builder, body, &n, 1);
    forget_nest(f, stmts, at, &nest);
    forget_length(f, stmts, at + 1, length);
    stmts[at] = sum;
    sum->mark = length->mark;
    fuse_note_def(f, b, sum);
    return true;
}

bool fuse_flatten(Fuser *f, const CoreBlock *b, CoreStmt **stmts, uint32_t at)
{
    switch (stmts[at]->kind) {
    case CORE_REDUCE: return flatten_reduction(f, b, stmts, at);
    case CORE_LENGTH: return flatten_length(f, b, stmts, at);
    default: return false;
    }
}
