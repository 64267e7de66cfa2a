/* What a reduction goes over is made, and stored for others, by the reduction.
 *
 *     y = kernel c { x <- elem a in c; … f x }        s, y = reduce c { x <- elem a in c; … -> g (f x), f x } op
 *     b = views c (y)                            ==>   b = views c (y)
 *     s = reduce c { q <- elem b in c; … g q } op
 *
 * Likewise where both read the same elements, whichever comes first: `(sum xs, map f xs)` reads xs once. The second
 * one moves up to the first: nothing between may fail, and what it reads must be there already. Both are short and
 * without loops, so that they still go by vectors. A reduction that might end early (`any`) sees all elements then:
 * that costs less than a launch and reading them. Not where lengths are summed (plan/lower_lengths.c) or asked for
 * (plan/row_checks.c). */
#include "core/build.h"
#include "flat/neighbours.h"

enum {
    MOST_COLUMNS = 40, /* that are read and written: arguments of a kernel are few on some devices */
    NEAR = 12          /* statements between both */
};

/* ---- what goes together ---- */

static bool are_numbers(const FlatNeighbours *near, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++)
        if (near->fn->vars.at[s->outs[i]].type.rank > 0)
            return false;
    for (uint32_t i = 0; i < s->body.inputs.n; i++) {
        const FlatInput *in = &s->body.inputs.at[i];
        if (in->kind != IN_HOST && core_var_type(near->fn->scope, in->as).rank > 0)
            return false;
    }
    return s->nouts > 0;
}

static bool sums_lengths(const FlatOp *op)
{
    for (uint32_t i = 0; i < op->k; i++)
        if (core_op_part(&op->op, i) == PRIM_SIZE_ADD)
            return true;
    return false;
}

static bool may_keep(const FlatNeighbours *near, const FlatStmt *reduce)
{
    const FlatOp *op = &reduce->reduce.op;
    return are_numbers(near, reduce) && !sums_lengths(op);
}

static bool may_be_kept(const FlatNeighbours *near, const FlatStmt *kernel)
{
    return are_numbers(near, kernel) && !flat_loads_go_across(near->fn, kernel);
}

static uint32_t columns_of(const FlatStmt *s) { return s->body.inputs.n + s->nouts; }

/* Is one a reduction, the other a kernel over the same instances, and both fit for one kernel? */
static bool are_alike(const FlatNeighbours *near, const FlatStmt *first, const FlatStmt *second)
{
    const bool reduces = first->kind == FLAT_S_REDUCE;
    const FlatStmt *reduce = reduces ? first : second, *kernel = reduces ? second : first;
    uint32_t n = 0;
    return reduce->kind == FLAT_S_REDUCE && kernel->kind == FLAT_S_KERNEL && reduce->body.ctx == kernel->body.ctx &&
           flat_is_short(first->body.block, FLAT_SHORT_BRANCHES, &n) &&
           flat_is_short(second->body.block, FLAT_SHORT_BRANCHES, &n) &&
           columns_of(first) + columns_of(second) <= MOST_COLUMNS && may_keep(near, reduce) &&
           may_be_kept(near, kernel);
}

/* ---- what the second one reads ---- */

/* Which result of the first one the input is; first->nouts if none. */
static uint32_t result_read(const FlatNeighbours *near, const FlatStmt *first, const FlatStmt *second,
                            const FlatInput *in)
{
    const FlatVar column = flat_column_read(near, &second->body, in);
    uint32_t i = 0;
    while (i < first->nouts && first->outs[i] != column)
        i++;
    return i;
}

static bool binds(const FlatStmt *s, FlatVar v)
{
    for (uint32_t i = 0; i < s->nouts; i++)
        if (s->outs[i] == v)
            return true;
    return false;
}

/* Is the variable bound by statement `from` of the block, or by one between it and statement `to`? */
static bool bound_between(const FlatBlock *b, uint32_t from, uint32_t to, FlatVar v)
{
    for (uint32_t i = from; i < to; i++)
        if (binds(b->stmts.at[i], v))
            return true;
    return false;
}

static bool inputs_are_there(const FlatNeighbours *near, const FlatBlock *b, uint32_t j, uint32_t i,
                             const FlatInputs *inputs)
{
    const FlatStmt *first = b->stmts.at[j], *second = b->stmts.at[i];
    for (uint32_t n = 0; n < inputs->n; n++) {
        const FlatInput *in = &inputs->at[n];
        if (inputs == &second->body.inputs && result_read(near, first, second, in) < first->nouts)
            continue;
        if (in->kind != IN_POS && bound_between(b, j, i, in->var))
            return false;
        if ((in->kind == IN_ELEM || in->kind == IN_POS) && bound_between(b, j, i, in->ctx))
            return false;
    }
    return true;
}

static bool is_ready(const FlatNeighbours *near, const FlatBlock *b, uint32_t j, uint32_t i)
{
    const FlatStmt *second = b->stmts.at[i];
    return inputs_are_there(near, b, j, i, &second->body.inputs) &&
           (second->kind != FLAT_S_REDUCE || (inputs_are_there(near, b, j, i, &second->reduce.op.inputs) &&
                                              inputs_are_there(near, b, j, i, &second->reduce.op.neutral_inputs)));
}

/* Does it save reading something? */
static bool is_shared(const FlatNeighbours *near, const FlatStmt *first, const FlatStmt *second)
{
    for (uint32_t i = 0; i < second->body.inputs.n; i++) {
        const FlatInput *in = &second->body.inputs.at[i];
        const bool own = in->kind == IN_ELEM ? in->ctx == second->body.ctx
                                             : in->kind == IN_COL && flat_ctx(near->fn, in->var) == second->body.ctx;
        if (result_read(near, first, second, in) < first->nouts ||
            (own && flat_body_input(&first->body, in) != CORE_NO_VAR))
            return true;
    }
    return false;
}

/* The statement before number i that it goes together with; i if there is none. */
static uint32_t find_first(const FlatNeighbours *near, const FlatBlock *b, uint32_t i)
{
    const FlatStmt *second = b->stmts.at[i];
    if (second->kind != FLAT_S_REDUCE && second->kind != FLAT_S_KERNEL)
        return i;
    for (uint32_t j = i; j-- > 0 && i - j <= NEAR;) {
        const FlatStmt *first = b->stmts.at[j];
        if (are_alike(near, first, second) && is_ready(near, b, j, i) && is_shared(near, first, second))
            return j;
        if (flat_stmt_fallible(near, first))
            break;
    }
    return i;
}

/* ---- joining ---- */

/* The second one's code behind the first one's, whose results it knows by its own names. */
static void add_code(FlatNeighbours *near, FlatStmt *first, const FlatStmt *second)
{
    CoreBuilder b = {.p = near->p->core, .fn = near->fn->scope, .out = first->body.block};
    FlatBody rest = {second->body.ctx, {0}, second->body.block};
    for (uint32_t i = 0; i < second->body.inputs.n; i++) {
        const FlatInput in = second->body.inputs.at[i];
        const uint32_t at = result_read(near, first, second, &in);
        if (at == first->nouts) {
            vec_push(near->p->arena, &rest.inputs, in);
        } else if (!flat_body_binds(&first->body, in.as)) {
            CoreStmt *same = build_stmt_into(&b, CORE_ATOM, 1, &in.as);
            same->atom = first->body.block->results[at];
            build_emit(&b, same);
        }
    }
    flat_body_add(near->p->core, near->fn->scope, &first->body, &rest);
}

/* Its values, and of the kernel's columns those that somebody still reads. */
static void set_results(const FlatNeighbours *near, FlatStmt *to, const FlatStmt *reduce, const FlatStmt *kernel)
{
    const CoreAtom *values = reduce->body.block->results, *made = kernel->body.block->results;
    FlatVar *outs = arena_array(near->p->arena, FlatVar, reduce->nouts + kernel->nouts);
    CoreAtom *results = arena_array(near->p->arena, CoreAtom, reduce->nouts + kernel->nouts);
    uint32_t n = 0;
    for (; n < reduce->nouts; n++) {
        outs[n] = reduce->outs[n];
        results[n] = values[n];
    }
    for (uint32_t i = 0; i < kernel->nouts; i++)
        if (near->reads[kernel->outs[i]] > 0) {
            outs[n] = kernel->outs[i];
            results[n++] = made[i];
        }
    to->outs = outs;
    to->nouts = to->body.block->nresults = n;
    to->body.block->results = results;
}

/* Views that nobody reads any more, of statements j + 1 … i - 1. */
static void drop_views(FlatNeighbours *near, FlatBlock *b, uint32_t j, uint32_t i)
{
    for (uint32_t n = j + 1; n < i; n++) {
        FlatStmt *s = b->stmts.at[n];
        if (s->kind != FLAT_S_VIEWS)
            continue;
        FlatVar *columns = arena_array(near->p->arena, FlatVar, s->nouts + 1);
        uint32_t kept = 0;
        for (uint32_t o = 0; o < s->nouts; o++) {
            if (near->reads[s->outs[o]] == 0) {
                near->reads[s->arrays.arrays[o]]--;
                continue;
            }
            s->outs[kept] = s->outs[o];
            columns[kept++] = s->arrays.arrays[o];
        }
        s->arrays.arrays = columns;
        s->nouts = s->arrays.n = kept;
    }
}

/* Takes out of the block what drop_views has left empty, and statement i. */
static void remove_statements(FlatNeighbours *near, FlatBlock *b, uint32_t j, uint32_t i)
{
    uint32_t n = j + 1;
    for (uint32_t m = j + 1; m < b->stmts.n; m++) {
        FlatStmt *s = b->stmts.at[m];
        const bool empty = m < i && s->kind == FLAT_S_VIEWS && s->nouts == 0;
        if (empty)
            flat_stmt_reads(s, flat_uncount_read, near->reads);
        else if (m != i)
            b->stmts.at[n++] = s;
    }
    b->stmts.n = n;
}

static void join(FlatNeighbours *near, FlatBlock *b, uint32_t j, uint32_t i)
{
    FlatStmt *first = b->stmts.at[j], *second = b->stmts.at[i];
    const FlatStmt old = *first;
    const CoreBlock old_block = *first->body.block;
    flat_stmt_reads(first, flat_uncount_read, near->reads);
    flat_stmt_reads(second, flat_uncount_read, near->reads);
    add_code(near, first, second);
    if (second->kind == FLAT_S_REDUCE) {
        first->kind = FLAT_S_REDUCE;
        first->span = second->span;
        first->ctx = second->ctx;
        first->reduce = second->reduce;
    }
    drop_views(near, b, j, i);
    FlatStmt was = old;
    CoreBlock results = old_block;
    was.body.block = &results;
    set_results(near, first, second->kind == FLAT_S_REDUCE ? second : &was,
                second->kind == FLAT_S_REDUCE ? &was : second);
    flat_stmt_reads(first, flat_count_read, near->reads);
    flat_note_defs(near, first);
    remove_statements(near, b, j, i);
}

/* ---- blocks ---- */

static void join_block(void *ctx, FlatBlock *b)
{
    FlatNeighbours *near = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        FlatStmt *s = b->stmts.at[i];
        flat_stmt_blocks(s, join_block, near);
        flat_note_defs(near, s);
        const uint32_t j = find_first(near, b, i);
        if (j < i) {
            join(near, b, j, i);
            i = j;
        }
    }
}

void flat_keep_columns(FlatProgram *p) { flat_each_body(p, join_block); }
