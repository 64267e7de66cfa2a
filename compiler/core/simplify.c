#include "core/build.h"
#include "core/passes.h"
#include "core/simplify_internal.h"

#include <string.h>

#define MOST_ROUNDS 12
#define MERGED 64    /* statements of an if that may be walked again to take another one in */
#define SPECULATED 4 /* statements of two branches that are worth computing both */

static void simplify_block(Simplifier *s, CoreBlock *b);
static void simplify_stmt(Simplifier *s, CoreStmt *stmt);

static void resolve_atom(void *ctx, CoreAtom *a) { *a = facts_resolve(ctx, *a); }

static void resolve_results(Simplifier *s, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->nresults; i++)
        b->results[i] = facts_resolve(s, b->results[i]);
}

/* ---- emission ---- */

/* Lengths that follow from the statement. */
static void learn_result_lengths(Simplifier *s, const CoreStmt *stmt)
{
    CoreAtom n;
    for (uint32_t i = 0; i < stmt->nvars; i++)
        if (result_length(s, stmt, stmt->vars[i], &n))
            facts_learn_length(s, core_var_atom(stmt->vars[i], core_var_type(s->fn, stmt->vars[i])), n);
    if (stmt->kind == CORE_SLICE)
        facts_learn_slice(s, stmt->slice.from, stmt->slice.to);
    if (stmt->kind == CORE_LENGTH) {
        facts_of(s, stmt->vars[0])->not_negative = facts_of(s, stmt->vars[0])->is_size = true;
        const CoreAtom length = core_var_atom(stmt->vars[0], core_scalar(SC_I64));
        const CoreStmt *def = facts_def(s, stmt->length.array);
        facts_learn_length(s, stmt->length.array, length);
        if (def && def->kind == CORE_MAP && def->soac.guard) /* not more are kept than there are */
            order_learn(s, length, facts_resolve(s, def->soac.domain), false);
    }
}

void simplify_emit(Simplifier *s, CoreStmt *stmt)
{
    for (uint32_t i = 0; i < stmt->nvars; i++)
        facts_bind(s, stmt->vars[i], stmt);
    learn_result_lengths(s, stmt);
    rows_bind_results(s, stmt);
    core_push(s->p, s->out, stmt);
}

static void simplify_built(void *ctx, CoreBlock *out, CoreStmt *stmt)
{
    (void)out; /* it is s->out */
    simplify_stmt(ctx, stmt);
}

static CoreBuilder builder(Simplifier *s, Span span)
{
    return (CoreBuilder){.p = s->p, .fn = s->fn, .span = span, .emit = simplify_built, .ctx = s};
}

CoreAtom simplify_emit_prim(Simplifier *s, Span span, CorePrim op, CoreAtom x, CoreAtom y)
{
    CoreBuilder b = builder(s, span);
    return facts_resolve(s, build_prim2(&b, op, x, y));
}

CoreAtom simplify_emit_select(Simplifier *s, Span span, CoreAtom cond, CoreAtom x, CoreAtom y)
{
    CoreBuilder b = builder(s, span);
    return facts_resolve(s, build_select(&b, cond, x, y));
}

CoreAtom simplify_emit_index(Simplifier *s, Span span, CoreAtom xs, CoreAtom i)
{
    CoreBuilder b = builder(s, span);
    return facts_resolve(s, build_index(&b, xs, i, CORE_NO_SITE));
}

void simplify_again(Simplifier *s, const CoreBlock *made)
{
    for (uint32_t i = 0; i < made->stmts.n; i++)
        simplify_stmt(s, made->stmts.at[i]);
}

/* ---- dropping positions ---- */

/* Removes entry i of an array of n. The array may be shared with another statement: a copy. */
static void *without(Simplifier *s, const void *at, uint32_t n, uint32_t i, size_t bytes)
{
    char *copy = arena_alloc(s->p->arena, (n ? n : 1) * bytes);
    memcpy(copy, at, i * bytes);
    memcpy(copy + i * bytes, (const char *)at + (i + 1) * bytes, (n - 1 - i) * bytes);
    return copy;
}
#define DROP(s, at, n, i) ((at) = without((s), (at), (n), (i), sizeof *(at)))

static void drop_result(Simplifier *s, CoreBlock *b, uint32_t i)
{
    DROP(s, b->results, b->nresults, i);
    b->nresults--;
}

static void drop_var(Simplifier *s, CoreStmt *stmt, uint32_t i)
{
    DROP(s, stmt->vars, stmt->nvars, i);
    stmt->nvars--;
}

/* ---- if ---- */

/* The statements of a branch that is known to be taken; its results are the if's. */
static void splice(Simplifier *s, CoreBlock *b)
{
    simplify_again(s, b);
    resolve_results(s, b);
}

static void replace_all(Simplifier *s, const CoreStmt *stmt, const CoreAtom *by)
{
    for (uint32_t i = 0; i < stmt->nvars; i++)
        facts_replace(s, stmt->vars[i], by[i]);
    s->changed = true;
}

static RowsLeaving simplify_branch(Simplifier *s, CoreBlock *b, CoreAtom cond, bool holds, uint32_t first)
{
    uint32_t mark = facts_mark(s);
    facts_learn(s, cond, holds);
    RowsLeaving shapes = simplify_rows_block(s, b, first);
    facts_undo(s, mark);
    return shapes;
}

/* Both branches; the shapes of what they give. The first `nwas` results are known in the branches. */
static RowsLeaving simplify_branches(Simplifier *s, CoreStmt *stmt, uint32_t nwas)
{
    CoreBlock *branches[2] = {stmt->if_.else_b, stmt->if_.then_b};
    RowsLeaving shapes[2];
    uint32_t first = s->next_order;
    for (uint32_t holds = 2; holds-- > 0;) {
        uint32_t mark = facts_mark(s);
        for (uint32_t i = 0; i < nwas; i++)
            facts_learn_value(s, stmt->vars[i], branches[holds]->results[i]);
        shapes[holds] = simplify_branch(s, branches[holds], stmt->if_.cond, holds, first);
        facts_undo(s, mark);
    }
    for (uint32_t i = 0; i < stmt->nvars; i++)
        shapes[1][i] = rows_common(s, shapes[0][i], shapes[1][i]);
    return shapes[1];
}

/* Where both branches give the same, or exactly the condition or its opposite, there is nothing to choose. */
static void drop_equal_results(Simplifier *s, CoreStmt *stmt, RowsLeaving *shapes)
{
    CoreBlock *t = stmt->if_.then_b, *e = stmt->if_.else_b;
    for (uint32_t i = 0; i < stmt->nvars;) {
        CoreAtom x = t->results[i], y = e->results[i];
        bool is_bool = x.is_const && y.is_const && core_type_equal(x.type, core_scalar(SC_BOOL));
        bool is_cond = is_bool && x.bits && !y.bits;
        if (!core_atom_equal(x, y) && !is_cond) {
            i++;
            continue;
        }
        facts_replace(s, stmt->vars[i], is_cond ? stmt->if_.cond : x);
        drop_result(s, t, i);
        drop_result(s, e, i);
        DROP(s, *shapes, stmt->nvars, i);
        drop_var(s, stmt, i);
    }
}

bool simplify_is_cheap(const CoreProgram *p, const CoreFn *fn, const CoreStmt *stmt)
{
    return stmt->kind == CORE_PRIM && !core_stmt_fallible(p, fn, stmt) &&
           core_prim_cost(stmt->prim.op, core_atom_type(fn, stmt->prim.args[0]).scalar) <= CORE_CHEAP;
}

bool simplify_is_light(const CoreProgram *p, const CoreFn *fn, const CoreStmt *stmt)
{
    const bool element = stmt->kind == CORE_INDEX || stmt->kind == CORE_SLICE || stmt->kind == CORE_LENGTH;
    return simplify_is_cheap(p, fn, stmt) || (element && stmt->site == CORE_NO_SITE);
}

static bool is_cheap_branch(const Simplifier *s, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (!simplify_is_cheap(s->p, s->fn, b->stmts.at[i]))
            return false;
    return true;
}

/* Branches that are a few operations on scalars, none of which can fail, are computed both. With no
 * statements at all, this also chooses between sequences: those are views. */
static bool is_select(const Simplifier *s, const CoreStmt *stmt)
{
    const CoreBlock *t = stmt->if_.then_b, *e = stmt->if_.else_b;
    uint32_t n = t->stmts.n + e->stmts.n;
    if (n > SPECULATED || !is_cheap_branch(s, t) || !is_cheap_branch(s, e))
        return false;
    for (uint32_t i = 0; n && i < stmt->nvars; i++)
        if (core_var_type(s->fn, stmt->vars[i]).rank > 0)
            return false;
    return stmt->nvars > 0;
}

static void emit_as_select(Simplifier *s, CoreStmt *stmt)
{
    splice(s, stmt->if_.then_b);
    splice(s, stmt->if_.else_b);
    CoreBuilder b = builder(s, stmt->span);
    for (uint32_t i = 0; i < stmt->nvars; i++) {
        const CoreAtom args[] = {stmt->if_.cond, stmt->if_.then_b->results[i], stmt->if_.else_b->results[i]};
        CoreStmt *select = build_stmt_into(&b, CORE_PRIM, 1, &stmt->vars[i]);
        select->prim.op = PRIM_SELECT;
        select->prim.nargs = 3;
        select->prim.args = build_atoms_copy(&b, args, 3, 3);
        build_emit(&b, select);
    }
    s->changed = true;
}

static void swap_if_negated(Simplifier *s, CoreStmt *stmt)
{
    const CoreStmt *def = facts_def(s, stmt->if_.cond);
    if (!def || def->kind != CORE_PRIM || def->prim.op != PRIM_NOT)
        return;
    CoreBlock *t = stmt->if_.then_b;
    stmt->if_.cond = facts_resolve(s, def->prim.args[0]);
    stmt->if_.then_b = stmt->if_.else_b;
    stmt->if_.else_b = t;
}

/* What both branches give is a length, say. */
static void learn_sizes(Simplifier *s, const CoreStmt *stmt)
{
    for (uint32_t i = 0; i < stmt->nvars; i++) {
        if (!core_type_equal(core_var_type(s->fn, stmt->vars[i]), core_scalar(SC_I64)))
            continue;
        CoreAtom x = stmt->if_.then_b->results[i], y = stmt->if_.else_b->results[i];
        bool not_negative = order_not_negative(s, x) && order_not_negative(s, y);
        bool is_size = order_is_size(s, x) && order_is_size(s, y);
        facts_of(s, stmt->vars[i])->not_negative = not_negative;
        facts_of(s, stmt->vars[i])->is_size = is_size;
    }
}

/* The if right before, if it has the same condition and is small enough to be walked again. */
static CoreStmt *mergeable_if(Simplifier *s, const CoreStmt *stmt)
{
    CoreStmt *last = s->out->stmts.n ? s->out->stmts.at[s->out->stmts.n - 1] : NULL;
    if (!last || last->kind != CORE_IF || !core_atom_equal(last->if_.cond, stmt->if_.cond))
        return NULL;
    return last->if_.then_b->stmts.n + last->if_.else_b->stmts.n <= MERGED ? last : NULL;
}

/* x = if c then A else B;  y = if c then C else D    ==>    x, y = if c then { A; C } else { B; D }
 * where in C, x is what A gives. */
static void merge_ifs(Simplifier *s, CoreStmt *first, CoreStmt *stmt)
{
    uint32_t n = first->nvars;
    s->out->stmts.n--;
    core_append_block(s->p, first->if_.then_b, stmt->if_.then_b);
    core_append_block(s->p, first->if_.else_b, stmt->if_.else_b);
    stmt->vars = core_joined(s->p, first->vars, n, stmt->vars, stmt->nvars, sizeof *stmt->vars);
    stmt->nvars += n;
    stmt->if_.then_b = first->if_.then_b;
    stmt->if_.else_b = first->if_.else_b;
    s->changed = true;
}

/* For the variables that are left. */
static void learn_shapes(Simplifier *s, const CoreVar *vars, uint32_t n, RowsLeaving shapes)
{
    for (uint32_t i = 0; i < n; i++)
        if (!facts_of(s, vars[i])->replaced)
            rows_learn_shape(s, vars[i], shapes[i]);
}

static void simplify_if(Simplifier *s, CoreStmt *stmt)
{
    swap_if_negated(s, stmt);
    CoreAtom cond = stmt->if_.cond;
    if (cond.is_const) {
        CoreBlock *taken = cond.bits ? stmt->if_.then_b : stmt->if_.else_b;
        splice(s, taken);
        replace_all(s, stmt, taken->results);
        return;
    }
    CoreStmt *first = mergeable_if(s, stmt);
    const uint32_t was = first ? first->nvars : 0;
    if (first)
        merge_ifs(s, first, stmt);
    RowsLeaving shapes = simplify_branches(s, stmt, was);
    drop_equal_results(s, stmt, &shapes);
    const CoreVar *vars = stmt->vars;
    const uint32_t nvars = stmt->nvars;
    CoreBlock arrays = {0};
    few_if(s, stmt, &arrays);
    if (is_select(s, stmt)) {
        emit_as_select(s, stmt);
    } else if (!branch_maps(s, stmt, shapes)) {
        simplify_emit(s, stmt);
        learn_sizes(s, stmt);
    }
    simplify_again(s, &arrays);
    learn_shapes(s, vars, nvars, shapes);
}

/* ---- loop ---- */

static void drop_param(Simplifier *s, CoreStmt *stmt, uint32_t i)
{
    CoreAtom init = stmt->loop.inits[i];
    facts_replace(s, stmt->loop.params[i], init);
    facts_replace(s, stmt->vars[i], init);
    DROP(s, stmt->loop.params, stmt->loop.nparams, i);
    DROP(s, stmt->loop.inits, stmt->loop.nparams, i);
    stmt->loop.nparams--;
    drop_var(s, stmt, i);
    drop_result(s, stmt->loop.body, i);
}

/* A parameter whose next value is itself, or what it started with, never changes. */
static void drop_constant_params(Simplifier *s, CoreStmt *stmt)
{
    for (uint32_t i = 0; i < stmt->loop.nparams;) {
        CoreAtom next = facts_resolve(s, stmt->loop.body->results[i]);
        bool itself = !next.is_const && next.var == stmt->loop.params[i];
        if (itself || core_atom_equal(next, stmt->loop.inits[i]))
            drop_param(s, stmt, i);
        else
            i++;
    }
}

/* One round: the body with the initial values. */
static void unroll_once(Simplifier *s, CoreStmt *stmt)
{
    for (uint32_t i = 0; i < stmt->loop.nparams; i++)
        facts_replace(s, stmt->loop.params[i], stmt->loop.inits[i]);
    if (stmt->loop.index != CORE_NO_VAR)
        facts_replace(s, stmt->loop.index, core_i64(0));
    splice(s, stmt->loop.body);
    replace_all(s, stmt, stmt->loop.body->results);
}

static void bind_position(Simplifier *s, CoreVar v, CoreAtom bound)
{
    if (v == CORE_NO_VAR)
        return;
    facts_bind(s, v, NULL);
    VarFacts *f = facts_of(s, v);
    f->has_bound = f->not_negative = true;
    f->bound = bound;
}

RowsLeaving simplify_round(Simplifier *s, const CoreStmt *loop, RowsLeaving shapes, CoreBlock *block)
{
    const uint32_t mark = facts_mark(s), first = s->next_order;
    for (uint32_t i = 0; i < loop->loop.nparams; i++)
        facts_bind(s, loop->loop.params[i], NULL);
    learn_shapes(s, loop->loop.params, loop->loop.nparams, shapes);
    if (!loop->loop.cond) {
        bind_position(s, loop->loop.index, loop->loop.count);
        facts_learn_positive(s, loop->loop.count);
    }
    RowsLeaving after = simplify_rows_block(s, block, first);
    facts_undo(s, mark);
    return after;
}

static void simplify_loop(Simplifier *s, CoreStmt *stmt)
{
    for (uint32_t i = 0; i < stmt->loop.nparams; i++)
        facts_bind(s, stmt->loop.params[i], NULL);
    if (!stmt->loop.cond && stmt->loop.count.is_const && (int64_t)stmt->loop.count.bits <= 0) {
        replace_all(s, stmt, stmt->loop.inits);
        return;
    }
    if (!stmt->loop.cond && atom_is(stmt->loop.count, 1)) {
        unroll_once(s, stmt);
        return;
    }
    drop_constant_params(s, stmt);
    RowsLeaving shapes = loop_shapes(s, stmt);
    if (stmt->loop.cond)
        simplify_round(s, stmt, shapes, stmt->loop.cond);
    simplify_round(s, stmt, shapes, stmt->loop.body);
    const CoreVar *vars = stmt->vars;
    const uint32_t nvars = stmt->nvars;
    CoreBlock arrays = {0};
    if (written_loop(s, stmt))
        return;
    few_loop(s, stmt, &arrays);
    simplify_emit(s, stmt);
    simplify_again(s, &arrays);
    learn_shapes(s, vars, nvars, shapes);
}

/* ---- parallel operations ---- */

/* The domain is the length of every input: the one known first is written, so that equal domains look equal. */
static void unify_domain(Simplifier *s, CoreSoac *soac)
{
    CoreAtom n;
    for (uint32_t i = 0; i < soac->ninputs; i++)
        if (facts_length(s, soac->inputs[i], &n)) {
            s->changed |= !core_atom_equal(soac->domain, n);
            soac->domain = n;
            break;
        }
    for (uint32_t i = 0; i < soac->ninputs; i++)
        if (!facts_length(s, soac->inputs[i], &n))
            facts_learn_length(s, soac->inputs[i], soac->domain);
}

static void drop_input(Simplifier *s, CoreSoac *soac, uint32_t i)
{
    DROP(s, soac->inputs, soac->ninputs, i);
    DROP(s, soac->elements, soac->ninputs, i);
    soac->ninputs--;
}

static void bind_elements(Simplifier *s, CoreSoac *soac)
{
    for (uint32_t i = 0; i < soac->ninputs;) {
        uint32_t j = 0;
        facts_bind(s, soac->elements[i], NULL);
        while (j < i && soac->inputs[j].var != soac->inputs[i].var)
            j++;
        if (j == i) {
            rows_bind_element(s, soac->elements[i], soac->inputs[i]);
            i++;
            continue;
        }
        CoreType t = core_var_type(s->fn, soac->elements[j]);
        facts_replace(s, soac->elements[i], core_var_atom(soac->elements[j], t));
        drop_input(s, soac, i);
    }
}

static void simplify_soac(Simplifier *s, CoreSoac *soac)
{
    unify_domain(s, soac);
    uint32_t mark = facts_mark(s), first = s->next_order;
    facts_learn_positive(s, soac->domain);
    bind_position(s, soac->index, soac->domain);
    bind_elements(s, soac);
    const CoreSoac *around = s->around;
    s->around = soac;
    s->nest++;
    if (soac->guard)
        simplify_block(s, soac->guard);
    RowsLeaving rows = simplify_rows_block(s, soac->body, first);
    s->nest--;
    s->around = around;
    facts_undo(s, mark);
    rows_left(s, soac->body, rows);
}

static void simplify_operator(Simplifier *s, CoreStmt *stmt)
{
    CoreLambda *op = core_stmt_operator(stmt);
    for (uint32_t i = 0; i < op->nparams; i++)
        facts_bind(s, op->params[i], NULL);
    few_operands(s, stmt);
    s->nest++;
    simplify_block(s, op->body);
    s->nest--;
}

/* What an unguarded map's result i is, if it need not be computed: an input, or an earlier result. */
static bool known_map_result(Simplifier *s, const CoreStmt *stmt, uint32_t i, CoreAtom *out)
{
    const CoreSoac *m = &stmt->soac;
    CoreAtom r = m->body->results[i];
    for (uint32_t j = 0; j < m->ninputs && !m->guard && !r.is_const; j++)
        if (r.var == m->elements[j]) {
            *out = m->inputs[j];
            return true;
        }
    for (uint32_t j = 0; j < i; j++)
        if (core_atom_equal(r, m->body->results[j])) {
            *out = core_var_atom(stmt->vars[j], core_var_type(s->fn, stmt->vars[j]));
            return true;
        }
    return false;
}

/* A guard that always holds is none: what it computes, which may fail, goes to the front of the body. One that
 * never does leaves nothing to compute. */
static void simplify_guard(Simplifier *s, CoreSoac *m)
{
    CoreBlock *guard = m->guard;
    if (!guard || !guard->results[0].is_const || (!guard->results[0].bits && guard->stmts.n))
        return;
    s->changed = true;
    m->guard = NULL;
    if (!guard->results[0].bits)
        m->domain = core_i64(0);
    for (uint32_t i = 0; i < m->body->stmts.n; i++)
        core_push(s->p, guard, m->body->stmts.at[i]);
    m->body->stmts.at = guard->stmts.at;
    m->body->stmts.n = guard->stmts.n;
    m->body->stmts.cap = guard->stmts.cap;
}

static void simplify_map(Simplifier *s, CoreStmt *stmt)
{
    CoreAtom by;
    simplify_soac(s, &stmt->soac);
    for (uint32_t i = 0; i < stmt->nvars;) {
        if (!known_map_result(s, stmt, i, &by)) {
            i++;
            continue;
        }
        facts_replace(s, stmt->vars[i], by);
        drop_result(s, stmt->soac.body, i);
        drop_var(s, stmt, i);
    }
}

/* Nothing but neutral elements to combine, and nothing that could fail: checks of sizes that are proved. */
static bool simplify_neutral(Simplifier *s, const CoreStmt *stmt)
{
    const CoreBlock *body = core_stmt_soac(stmt)->body;
    if (stmt->kind != CORE_REDUCE)
        return false;
    for (uint32_t i = 0; i < stmt->nvars; i++)
        if (!body->results[i].is_const || !core_atom_equal(body->results[i], stmt->soac.neutral[i]))
            return false;
    if (core_block_fallible(s->p, s->fn, body))
        return false;
    replace_all(s, stmt, stmt->soac.neutral);
    s->changed = true;
    return true;
}

/* Nothing to go over. */
static bool simplify_empty(Simplifier *s, const CoreStmt *stmt)
{
    const CoreSoac *soac = core_stmt_soac(stmt);
    CoreBuilder b = builder(s, stmt->span);
    if (!atom_is(soac->domain, 0))
        return false;
    CoreLength length = core_kind(stmt->kind)->length;
    if (length == LENGTH_SIZE)
        return false;
    if (length != LENGTH_DOMAIN)
        replace_all(s, stmt, soac->dests ? soac->dests : soac->neutral);
    for (uint32_t i = 0; length == LENGTH_DOMAIN && i < stmt->nvars; i++)
        simplify_emit(s, build_stmt_into(&b, CORE_ARRAY, 1, &stmt->vars[i]));
    s->changed = true;
    return true;
}

/* Was it computed before? */
static bool reuse(Simplifier *s, const CoreStmt *stmt)
{
    const CoreAtom *before = facts_find(s, stmt);
    for (uint32_t i = 0; before && i < stmt->nvars; i++)
        facts_replace(s, stmt->vars[i], facts_resolve(s, before[i]));
    return before != NULL;
}

/* The operator's result i is the one or the other of what it combines? */
static bool is_selection(Simplifier *s, const CoreLambda *op, uint32_t i)
{
    const uint32_t n = op->nparams / 2;
    const CoreAtom r = op->body->results[i];
    const CoreStmt *def = facts_def(s, r);
    if (r.is_const || !def || def->kind != CORE_PRIM || def->prim.nargs < 2)
        return false;
    const CoreAtom *two = def->prim.args + def->prim.nargs - 2;
    const bool either = !two[0].is_const && !two[1].is_const && two[0].var != two[1].var &&
                        (two[0].var == op->params[i] || two[0].var == op->params[n + i]) &&
                        (two[1].var == op->params[i] || two[1].var == op->params[n + i]);
    return either && (def->prim.op == PRIM_SELECT || def->prim.op == PRIM_MIN || def->prim.op == PRIM_MAX);
}

/* (_, k) = reduce n at i { … -> x, i } by an operator that keeps one of both (argmin): 0 <= k < n, if there is any. */
static void learn_position(Simplifier *s, const CoreStmt *stmt)
{
    const CoreSoac *soac = &stmt->soac;
    for (uint32_t i = 0; i < stmt->nvars; i++) {
        const CoreAtom r = soac->body->results[i];
        if (!r.is_const && r.var == soac->index && order_in_bounds(s, soac->neutral[i], soac->domain) &&
            is_selection(s, &soac->op, i)) {
            VarFacts *f = facts_touch(s, stmt->vars[i]);
            f->has_bound = f->not_negative = true;
            f->bound = soac->domain;
        }
    }
}

static void simplify_parallel(Simplifier *s, CoreStmt *stmt)
{
    if (branch_versions(s, stmt))
        return;
    if (stmt->kind == CORE_MAP)
        simplify_map(s, stmt);
    else
        simplify_soac(s, core_stmt_soac(stmt));
    if (core_stmt_operator(stmt))
        simplify_operator(s, stmt);
    else if (stmt->kind == CORE_MAP)
        simplify_guard(s, &stmt->soac);
    if (stmt->kind == CORE_MAP && (few_map(s, stmt) || written_filter(s, stmt)))
        return;
    if (simplify_empty(s, stmt) || simplify_neutral(s, stmt) || (stmt->kind != CORE_MAP && reuse(s, stmt)))
        return;
    if (written_fold(s, stmt))
        return;
    CoreBlock arrays = {0};
    few_reduce(s, stmt, &arrays);
    if (arrays.stmts.n == 0 && few_columns(s, stmt))
        return;
    simplify_emit(s, stmt);
    facts_add(s, stmt);
    if (stmt->kind == CORE_REDUCE)
        learn_position(s, stmt);
    simplify_again(s, &arrays);
}

/* ---- statements ---- */

/* Everything without blocks: rules, then: was it computed before? */
static void simplify_operation(Simplifier *s, CoreStmt *stmt)
{
    CoreAtom by;
    bool known = stmt->kind == CORE_PRIM ? fold_prim(s, stmt, &by) : simplify_seq(s, stmt, &by);
    if (known) {
        facts_replace(s, stmt->vars[0], by);
        return;
    }
    if (reuse(s, stmt) || (stmt->kind == CORE_ARGSORT && few_sort(s, stmt)))
        return;
    if (stmt->kind == CORE_PRIM && !core_stmt_fallible(s->p, s->fn, stmt))
        stmt->site = CORE_NO_SITE; /* a constant divisor */
    simplify_emit(s, stmt);
    facts_add(s, stmt);
}

static void simplify_check(Simplifier *s, CoreStmt *stmt)
{
    if (atom_is(stmt->check.cond, 1)) {
        s->changed = true;
        return;
    }
    simplify_emit(s, stmt);
    facts_learn(s, stmt->check.cond, true);
}

static void simplify_stmt(Simplifier *s, CoreStmt *stmt)
{
    core_stmt_atoms(stmt, resolve_atom, s);
    switch (stmt->kind) {
    case CORE_ATOM: facts_replace(s, stmt->vars[0], stmt->atom); break;
    case CORE_CHECK: simplify_check(s, stmt); break;
    case CORE_IF: simplify_if(s, stmt); break;
    case CORE_LOOP: simplify_loop(s, stmt); break;
    default:
        if (!core_stmt_soac(stmt))
            simplify_operation(s, stmt);
        else if (stmt->kind != CORE_MAP || !reuse(s, stmt))
            simplify_parallel(s, stmt);
    }
}

RowsLeaving simplify_rows_block(Simplifier *s, CoreBlock *b, uint32_t first)
{
    CoreBlock *outer = s->out;
    uint32_t mark = facts_mark(s);
    CoreStmt **stmts = b->stmts.at;
    uint32_t n = b->stmts.n;
    b->stmts.at = NULL;
    b->stmts.n = b->stmts.cap = 0;
    s->out = b;
    for (uint32_t i = 0; i < n; i++)
        simplify_stmt(s, stmts[i]);
    resolve_results(s, b);
    RowsLeaving rows = rows_leave(s, b, first);
    facts_undo(s, mark);
    s->out = outer;
    return rows;
}

static void simplify_block(Simplifier *s, CoreBlock *b) { simplify_rows_block(s, b, UINT32_MAX); }

static void simplify_fn(Simplifier *s, CoreFn *fn)
{
    s->scratch = arena_create();
    facts_begin(s, fn);
    simplify_block(s, fn->body);
    arena_destroy(s->scratch);
}

static void simplify_rounds(CoreProgram *p)
{
    for (uint32_t round = 0; round < MOST_ROUNDS; round++) {
        bool changed = false;
        for (uint32_t i = 0; i < p->fns.n; i++) {
            Simplifier s = {.p = p};
            simplify_fn(&s, p->fns.at[i]);
            changed |= s.changed;
        }
        if (!dead_code(p) && !changed)
            return;
    }
}

void core_simplify(CoreProgram *p)
{
    core_refresh(p); /* rules change operands in place: none may be shared */
    simplify_rounds(p);
    if (hoist_invariants(p))
        simplify_rounds(p);
    core_refresh(p);
}

/* One round, with the rules of merges or few. */
static bool rewrite_once(CoreProgram *p, bool merges, bool few)
{
    bool rewritten = false;
    core_refresh(p);
    for (uint32_t i = 0; i < p->fns.n; i++) {
        Simplifier s = {.p = p, .merges = merges, .few = few};
        simplify_fn(&s, p->fns.at[i]);
        rewritten |= s.rewritten;
    }
    core_refresh(p);
    return rewritten;
}

bool core_merge_branches(CoreProgram *p) { return rewrite_once(p, true, false); }
bool core_few_elements(CoreProgram *p) { return rewrite_once(p, false, true); }
