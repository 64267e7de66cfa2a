/* Sideways: two maps, two reductions or two scans over the same domain that share an input become one, and read it
 * once.
 *
 *     a = reduce n (x <- xs) { -> f x } neutral e op p
 *     b = reduce n (x <- xs) { -> g x } neutral d op q
 *   ==>
 *     a, b = reduce n (x <- xs) { -> f x, g x } neutral (e, d) op (p and q side by side)
 *
 * Scans only outside of parallel code: within it, those of columns are stored as columns (flat/turn_scans.c) one by
 * one.
 *
 * The second moves up to the first. So whatever it reads must be bound above the first, and it must not fail, or
 * not overtake anything that fails in between: that may be a check that it trusts in, too.
 * Then the first moves down to the second, if nothing in between reads what it gives. */
#include "core/fuse_internal.h"

#include <string.h>

#define MOST_RESULTS 8u

/* ---- may the second move up? ---- */

typedef struct Reading {
    Fuser *f;
    const CoreBlock *b;
    uint32_t above;
} Reading;

static bool is_not_above(void *ctx, CoreAtom a)
{
    const Reading *r = ctx;
    const CoreAtom x = fuse_resolve(r->f, a);
    const VarUses *v = x.is_const ? NULL : fuse_var(r->f, x.var);
    return v && v->block == r->b && v->def->mark >= r->above;
}

bool fuse_reads_only_above(Fuser *f, const CoreBlock *b, CoreStmt *s, uint32_t above)
{
    return !core_stmt_reads(s, is_not_above, &(Reading){f, b, above});
}

static bool shares_input(Fuser *f, const CoreSoac *a, const CoreSoac *b)
{
    for (uint32_t i = 0; i < a->ninputs; i++)
        if (fuse_times_input(f, b, fuse_resolve(f, a->inputs[i]).var) > 0)
            return true;
    return false;
}

/* Scalar code without loops or branches. */
static bool is_straight(const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (b->stmts.at[i]->kind != CORE_ATOM && b->stmts.at[i]->kind != CORE_PRIM)
            return false;
    return true;
}

static bool is_wanted(Fuser *f, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        if (fuse_var(f, s->vars[i])->all > 0)
            return true;
    return false;
}

/* Of scans: not running sums of lengths, which may be offsets (plan/lower_lengths.c), and nothing that keeps both from
 * going by vectors. */
static bool may_be_joined(const Fuser *f, const CoreSoac *scan)
{
    const bool offsets = scan->exclusive && scan->body->stmts.n == 0 && core_op_part(&scan->op, 0) == PRIM_ADD;
    return f->level == 0 && !offsets && is_straight(scan->body) && is_straight(scan->op.body);
}

static bool is_alike(Fuser *f, const CoreStmt *a, const CoreStmt *b)
{
    if (!a || a->kind != b->kind || !is_wanted(f, a) || !is_wanted(f, b) || a->nvars + b->nvars > MOST_RESULTS)
        return false;
    const CoreSoac *x = core_stmt_soac(a), *y = core_stmt_soac(b);
    if (x->guard || y->guard || !core_atom_equal(fuse_resolve(f, x->domain), fuse_resolve(f, y->domain)))
        return false;
    if (a->kind != CORE_MAP &&
        core_combines_in_rounds(f->fn, &a->soac.op) != core_combines_in_rounds(f->fn, &b->soac.op))
        return false;
    if (a->kind == CORE_SCAN && (x->exclusive != y->exclusive || !may_be_joined(f, x) || !may_be_joined(f, y)))
        return false;
    return shares_input(f, x, y);
}

/* ---- joining ---- */

/* (a, a') (b, b') -> …: the accumulators of both, then the elements of both. */
void fuse_join_operator(Fuser *f, CoreLambda *to, const CoreLambda *op, uint32_t n, uint32_t m)
{
    CoreVar *params = arena_array(f->p->arena, CoreVar, 2 * (n + m) + 1);
    memcpy(params, to->params, n * sizeof *params);
    memcpy(params + n, op->params, m * sizeof *params);
    memcpy(params + n + m, to->params + n, n * sizeof *params);
    memcpy(params + 2 * n + m, op->params + m, m * sizeof *params);
    to->params = params;
    to->nparams = 2 * (n + m);
    core_append_block(f->p, to->body, op->body);
}

static void join_soac(Fuser *f, CoreSoac *to, const CoreSoac *c)
{
    CORE_JOIN(f->p, to->elements, to->ninputs, c->elements, c->ninputs);
    CORE_JOIN(f->p, to->inputs, to->ninputs, c->inputs, c->ninputs); /* twice the same: simplify makes it one */
    to->ninputs += c->ninputs;
    if (to->index == CORE_NO_VAR)
        to->index = c->index;
    else if (c->index != CORE_NO_VAR)
        fuse_replace(f, c->index, core_var_atom(to->index, core_scalar(SC_I64)));
    fuse_count_atom(f, c->domain, -1);
    core_append_block(f->p, to->body, c->body);
}

/* In an order that one needs, both are combined. */
static bool commutes(const Fuser *f, const CoreStmt *reduce)
{
    return reduce->soac.commutative || core_op_commutes(f->fn, &reduce->soac.op);
}

static void join_stmts(Fuser *f, CoreStmt *to, CoreStmt *s)
{
    uint32_t n = to->nvars, m = s->nvars;
    join_soac(f, core_stmt_soac(to), core_stmt_soac(s));
    if (to->kind != CORE_MAP) {
        to->soac.commutative = commutes(f, to) && commutes(f, s);
        CORE_JOIN(f->p, to->soac.neutral, n, s->soac.neutral, m);
        fuse_join_operator(f, &to->soac.op, &s->soac.op, n, m);
    }
    CORE_JOIN(f->p, to->vars, n, s->vars, m);
    to->nvars = n + m;
    for (uint32_t i = 0; i < m; i++)
        fuse_var(f, s->vars[i])->def = to;
}

/* ---- the search ---- */

#define MOST_DISTANCE 64u /* statements looked back over */

/* Are all its inputs as long as the domain, whatever is checked between the first and it? The first's are, and what is
 * made over the domain. */
static bool has_lengths(Fuser *f, CoreStmt *first, CoreStmt *s)
{
    const CoreSoac *x = core_stmt_soac(first), *y = core_stmt_soac(s);
    const CoreAtom domain = fuse_resolve(f, y->domain);
    for (uint32_t i = 0; i < y->ninputs; i++) {
        const CoreAtom input = fuse_resolve(f, y->inputs[i]);
        const CoreStmt *def = fuse_def(f, input);
        const bool made = def && (def->kind == CORE_MAP || def->kind == CORE_SCAN) && !def->soac.guard &&
                          core_atom_equal(fuse_resolve(f, def->soac.domain), domain);
        if (!made && fuse_times_input(f, x, input.var) == 0)
            return false;
    }
    return true;
}

/* May code in it rely on a check: that an index is in bounds, or that several sequences are equally long? */
static void find_trust(void *ctx, CoreBlock *b)
{
    bool *trusts = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !*trusts; i++) {
        CoreStmt *s = b->stmts.at[i];
        const CoreSoac *soac = core_stmt_soac(s);
        *trusts = s->kind == CORE_INDEX || s->kind == CORE_SLICE || (soac && soac->ninputs > 1);
        core_stmt_blocks(s, find_trust, ctx);
    }
}

/* May it stand in front of the checks between the first and it? */
static bool trusts_no_check(Fuser *f, CoreStmt *first, CoreStmt *s)
{
    bool trusts = !has_lengths(f, first, s);
    core_stmt_blocks(s, find_trust, &trusts);
    return !trusts;
}

typedef struct Wanting {
    Fuser *f;
    const CoreStmt *of;
} Wanting;

static bool is_of_first(void *ctx, CoreAtom a)
{
    const Wanting *w = ctx;
    const CoreAtom x = fuse_resolve(w->f, a);
    return !x.is_const && fuse_var(w->f, x.var)->def == w->of;
}

/* Does a statement between read what the first gives? */
static bool is_read_between(Fuser *f, CoreStmt **stmts, uint32_t first, uint32_t at)
{
    Wanting w = {f, stmts[first]};
    for (uint32_t i = first + 1; i < at; i++)
        if (stmts[i] && core_stmt_reads(stmts[i], is_of_first, &w))
            return true;
    return false;
}

static bool join_upwards(Fuser *f, const CoreBlock *b, CoreStmt **stmts, uint32_t at)
{
    CoreStmt *s = stmts[at];
    bool fallible = core_stmt_fallible(f->p, f->fn, s), overtakes = false;
    for (uint32_t i = at; i-- > 0 && at - i <= MOST_DISTANCE;) {
        if (!stmts[i])
            continue;
        const bool alike = is_alike(f, stmts[i], s) && !(fallible && overtakes) && fuse_reads_only_above(f, b, s, i);
        const bool down = alike && overtakes && !trusts_no_check(f, stmts[i], s);
        if (alike && !(down && (core_stmt_fallible(f->p, f->fn, stmts[i]) || is_read_between(f, stmts, i, at)))) {
            CoreStmt *first = stmts[i];
            join_stmts(f, first, s);
            stmts[i] = stmts[at] = NULL;
            stmts[down ? at : i] = first;
            first->mark = down ? at : i;
            return true;
        }
        overtakes |= core_stmt_fallible(f->p, f->fn, stmts[i]);
    }
    return false;
}

void fuse_horizontal(Fuser *f, const CoreBlock *b, CoreStmt **stmts, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (stmts[i])
            stmts[i]->mark = i;
    for (uint32_t i = 1; i < n; i++)
        if (stmts[i] && (stmts[i]->kind == CORE_MAP || stmts[i]->kind == CORE_REDUCE || stmts[i]->kind == CORE_SCAN))
            join_upwards(f, b, stmts, i);
}
