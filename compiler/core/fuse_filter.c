/* A filter is a map with a guard: it keeps a part of the elements. Its consumer can go over all of them and do
 * nothing where the guard does not hold, if it does not ask for positions:
 *
 *     ys = map n (x <- xs) guard { g x } { -> f x }
 *     m  = length ys
 *     zs = map m (y <- ys) { -> h y }              ==>   zs = map n (x <- xs) guard { g x } { -> h (f x) }
 *     s  = reduce m (y <- ys) { -> h y } neutral e ==>   s  = reduce n (x <- xs) { -> if g x then h (f x) else e }
 *     hist, scatter                                ==>   … else position -1, which they ignore
 *     several reductions, m                        ==>   each goes over all of it, if the condition is cheap; the
 *                                                          first that can gives m, too
 *     m alone                                      ==>   m  = reduce n (x <- xs) { -> i64 (g x) } neutral 0 add    */
#include "core/fuse_internal.h"

#include <string.h>

/* ---- conditions ---- */

static bool is_filter(const CoreStmt *s) { return s && s->kind == CORE_MAP && s->soac.guard; }

/* Does anything read the filter but the consumer's inputs and one `length`? Then that `length`, else NULL. */
static CoreStmt *only_length(Fuser *f, const CoreStmt *filter, const CoreSoac *c)
{
    uint32_t lengths = 0, which;
    CoreStmt *length = fuse_def(f, fuse_resolve(f, c->domain));
    for (uint32_t i = 0; i < filter->nvars; i++) {
        const VarUses *v = fuse_var(f, filter->vars[i]);
        lengths += v->lengths;
        if (v->all != v->lengths + fuse_times_input(f, c, filter->vars[i]))
            return NULL;
    }
    if (lengths != 1 || !length || length->kind != CORE_LENGTH ||
        !fuse_is_result_of(f, filter, length->length.array, &which))
        return NULL;
    return length;
}

static bool takes_only(Fuser *f, const CoreStmt *filter, const CoreSoac *c)
{
    uint32_t which;
    for (uint32_t i = 0; i < c->ninputs; i++)
        if (!fuse_is_result_of(f, filter, c->inputs[i], &which))
            return false;
    return c->ninputs > 0;
}

static bool can_take_kind(Fuser *f, const CoreStmt *s, const CoreStmt *filter)
{
    const CoreSoac *c = core_stmt_soac(s);
    if (s->kind == CORE_MAP)
        return !c->guard || filter->soac.body->stmts.n == 0;
    if (s->kind == CORE_SCAN || !core_block_is_scalar(c->body) || !core_block_is_scalar(filter->soac.body))
        return false;
    for (uint32_t i = 0; i < c->body->nresults; i++) /* what was filtered out has no sequence to give */
        if (core_atom_type(f->fn, fuse_resolve(f, c->body->results[i])).rank > 0)
            return false;
    return true;
}

/* ---- joining ---- */

/* The condition is counted as the guard's result. */
static void push_if(Fuser *f, CoreBlock *b, Span span, CoreAtom cond, CoreBlock *then_b, CoreBlock *else_b)
{
    CoreBuilder builder = {.p = f->p, .fn = f->fn, .out = b, .span = span};
    b->results = build_if(&builder, cond, then_b, else_b);
    b->nresults = then_b->nresults;
    for (uint32_t i = 0; i < b->nresults; i++)
        fuse_count_atom(f, b->results[i], 1);
}

/* { guard's statements; -> if its result then `inner` else `otherwise` } */
static CoreBlock *guarded(Fuser *f, Span span, CoreBlock *guard, CoreBlock *inner, uint32_t n, CoreAtom *otherwise)
{
    CoreBlock *b = core_new_block(f->p), *else_b = core_new_block(f->p);
    else_b->results = otherwise;
    else_b->nresults = n;
    for (uint32_t i = 0; i < n; i++)
        fuse_count_atom(f, otherwise[i], 1);
    fuse_prepend(f, b, guard);
    push_if(f, b, span, fuse_resolve(f, guard->results[0]), inner, else_b);
    return b;
}

/* What the body gives for an element that was filtered out. */
static CoreAtom *nothing(Fuser *f, const CoreStmt *s)
{
    uint32_t places = core_stmt_places(s);
    CoreAtom *results = arena_array(f->p->arena, CoreAtom, s->nvars + places + 1);
    if (places)
        results[0] = core_i64(-1);
    for (uint32_t i = 0; i < s->nvars; i++)
        results[places + i] =
            s->soac.neutral ? s->soac.neutral[i] : core_const(core_var_type(f->fn, s->vars[i]).scalar, 0);
    return results;
}

/* m: the filter's, or a copy. */
static void take_filter(Fuser *f, CoreStmt *s, const CoreStmt *filter, const CoreSoac *m)
{
    CoreSoac *c = core_stmt_soac(s);
    fuse_count_atom(f, c->domain, -1);
    c->domain = m->domain;
    fuse_join_inputs(f, c, filter, m);
    if (s->kind == CORE_MAP && !c->guard) {
        c->guard = m->guard;
        fuse_prepend(f, c->body, m->body);
    } else if (s->kind == CORE_MAP) {
        CoreAtom *no = arena_array(f->p->arena, CoreAtom, 1);
        *no = core_const(SC_BOOL, 0);
        c->guard = guarded(f, s->span, m->guard, c->guard, 1, no);
    } else {
        fuse_prepend(f, c->body, m->body);
        c->body = guarded(f, s->span, m->guard, c->body, c->body->nresults, nothing(f, s));
    }
}

/* ---- the length, if it is wanted as well ---- */

/* Only a map has the filter's length; the `length` moves behind it, if nothing needs it before. */
static bool length_can_wait(Fuser *f, CoreStmt **stmts, uint32_t at, const CoreStmt *length)
{
    FuseSought sought = {f, length->vars[0]};
    uint32_t from = at;
    if (stmts[at]->kind != CORE_MAP || stmts[at]->soac.guard)
        return false;
    while (stmts[from] != length)
        from--;
    for (uint32_t i = from + 1; i < at; i++)
        if (stmts[i] && core_stmt_reads(stmts[i], fuse_is_sought, &sought))
            return false;
    return !core_block_reads(stmts[at]->soac.body, fuse_is_sought, &sought);
}

static void move_length_behind(Fuser *f, CoreStmt **stmts, uint32_t at, CoreStmt *length)
{
    uint32_t from = at;
    CoreStmt *map = stmts[at];
    while (stmts[from] != length)
        from--;
    memmove(&stmts[from], &stmts[from + 1], (at - from) * sizeof *stmts);
    stmts[at] = length;
    length->length.array = core_var_atom(map->vars[0], core_var_type(f->fn, map->vars[0]));
    fuse_count_atom(f, length->length.array, 1);
    fuse_var(f, map->vars[0])->lengths++;
}

/* ---- several reductions ---- */

/* Of all results. */
static uint32_t uses_of(Fuser *f, const CoreStmt *filter)
{
    uint32_t uses = 0;
    for (uint32_t i = 0; i < filter->nvars; i++)
        uses += fuse_var(f, filter->vars[i])->all;
    return uses;
}

/* Does nothing read the filter but reductions that may take it, and lengths, in this block? */
static bool is_only_reduced(Fuser *f, CoreStmt **stmts, uint32_t n, const CoreStmt *filter)
{
    uint32_t uses = 0, which;
    for (uint32_t i = 0; i < n; i++) {
        const CoreSoac *c = stmts[i] ? core_stmt_soac(stmts[i]) : NULL;
        uint32_t inputs = 0;
        for (uint32_t k = 0; c && k < c->ninputs; k++)
            inputs += fuse_is_result_of(f, filter, c->inputs[k], &which);
        if (inputs > 0 && (stmts[i]->kind != CORE_REDUCE || c->index != CORE_NO_VAR || !takes_only(f, filter, c) ||
                           !can_take_kind(f, stmts[i], filter)))
            return false;
        uses += inputs + (stmts[i] && stmts[i]->kind == CORE_LENGTH &&
                          fuse_is_result_of(f, filter, stmts[i]->length.array, &which));
    }
    return uses == uses_of(f, filter);
}

/* The reduction gives how many elements there are, where the length was taken. */
static void count_elements(Fuser *f, CoreStmt *s, CoreVar length)
{
    const CoreAtom one = core_i64(1);
    CORE_JOIN(f->p, s->soac.body->results, s->soac.body->nresults, &one, 1);
    s->soac.body->nresults++;
    fuse_add_length(f, s, length);
}

static bool reduce_filtered(Fuser *f, const CoreBlock *b, CoreStmt **stmts, uint32_t at, CoreStmt *filter)
{
    CoreStmt *s = stmts[at], *length = fuse_def(f, fuse_resolve(f, s->soac.domain));
    uint32_t which;
    if (length && (length->kind != CORE_LENGTH || !fuse_is_result_of(f, filter, length->length.array, &which) ||
                   fuse_var(f, length->vars[0])->block != b))
        length = NULL;
    const bool counts = length && fuse_var(f, length->vars[0])->all > 1 && fuse_may_move_up(f, b, s, length);
    const bool unasked = counts || (length && fuse_var(f, length->vars[0])->all == 1);
    const bool last = uses_of(f, filter) == s->soac.ninputs + unasked;
    if (!last && !(fuse_is_cheap(f, filter->soac.guard, 8, 2) && fuse_is_cheap(f, filter->soac.body, 8, 2)))
        return false;
    const CoreSoac m = last ? filter->soac : fuse_copy_soac(f, &filter->soac);
    if (!last)
        fuse_count_atom(f, m.domain, 1);
    if (counts)
        count_elements(f, s, length->vars[0]);
    take_filter(f, s, filter, &m);
    if (counts) {
        fuse_move_up(f, b, stmts, at, length);
    } else if (unasked) {
        fuse_uncount_length(f, length);
        fuse_forget(stmts, at, length);
    }
    if (last)
        fuse_forget(stmts, at, filter);
    return true;
}

bool fuse_filter(Fuser *f, const CoreBlock *b, CoreStmt **stmts, uint32_t at, uint32_t n)
{
    CoreSoac *c = core_stmt_soac(stmts[at]);
    if (!c || c->index != CORE_NO_VAR || c->ninputs == 0 || stmts[at]->nvars == 0)
        return false;
    CoreAtom first = fuse_resolve(f, c->inputs[0]);
    CoreStmt *filter = fuse_def(f, first);
    if (!is_filter(filter) || fuse_var(f, first.var)->block != b)
        return false;
    if (!takes_only(f, filter, c) || !can_take_kind(f, stmts[at], filter))
        return false;
    CoreStmt *length = only_length(f, filter, c);
    if (length && fuse_var(f, length->vars[0])->block != b)
        return false;
    bool unused = length && fuse_var(f, length->vars[0])->all == 1; /* but as the consumer's domain */
    if (!length || (!unused && !length_can_wait(f, stmts, at, length)))
        return stmts[at]->kind == CORE_REDUCE && is_only_reduced(f, stmts, n, filter) &&
               reduce_filtered(f, b, stmts, at, filter);
    take_filter(f, stmts[at], filter, &filter->soac);
    fuse_uncount_length(f, length);
    if (unused)
        fuse_forget(stmts, at, length);
    fuse_forget(stmts, at, filter);
    if (!unused)
        move_length_behind(f, stmts, at, length);
    return true;
}

/* ---- counting ---- */

static CoreStmt *count_stmt(Fuser *f, const CoreStmt *filter)
{
    CoreType t = core_scalar(SC_I64);
    CoreBlock *body = filter->soac.guard;
    CoreBuilder b = fuse_builder(f, body, filter->span);
    CoreStmt *s = build_stmt(&b, CORE_REDUCE, 1, &t);
    CoreAtom zero = core_i64(0), holds = body->results[0];
    s->soac = filter->soac;
    s->soac.body = body;
    s->soac.guard = NULL;
    fuse_count_atom(f, holds, -1);
    CoreAtom one = build_prim(&b, PRIM_CONVERT, SC_I64, &holds);
    build_results(&b, body, &one, 1);
    fuse_count_atom(f, one, 1);
    fuse_count_block(f, filter->soac.body, -1);
    s->soac.neutral = build_atoms_copy(&b, &zero, 1, 1);
    s->soac.op = build_operator(&b, PRIM_ADD, t);
    fuse_count_atom(f, s->soac.op.body->results[0], 1);
    s->soac.commutative = true;
    return s;
}

/* How many statements of this block, behind `at`, ask for the filter's length? */
static uint32_t lengths_here(Fuser *f, CoreStmt **stmts, uint32_t at, uint32_t n)
{
    uint32_t count = 0, which;
    for (uint32_t i = at + 1; i < n; i++)
        count += stmts[i] && stmts[i]->kind == CORE_LENGTH &&
                 fuse_is_result_of(f, stmts[at], stmts[i]->length.array, &which);
    return count;
}

void fuse_count(Fuser *f, CoreBlock *b, CoreStmt **stmts, uint32_t at, uint32_t n)
{
    CoreStmt *filter = stmts[at];
    uint32_t lengths = 0, which;
    if (!is_filter(filter) || core_block_fallible(f->p, f->fn, filter->soac.body))
        return;
    for (uint32_t i = 0; i < filter->nvars; i++) {
        const VarUses *v = fuse_var(f, filter->vars[i]);
        lengths += v->lengths;
        if (v->all != v->lengths)
            return;
    }
    if (lengths == 0 || lengths_here(f, stmts, at, n) != lengths)
        return;
    CoreStmt *count = count_stmt(f, filter);
    stmts[at] = count;
    fuse_note_def(f, b, count);
    for (uint32_t i = at + 1; i < n; i++)
        if (stmts[i] && stmts[i]->kind == CORE_LENGTH && fuse_is_result_of(f, filter, stmts[i]->length.array, &which)) {
            fuse_replace(f, stmts[i]->vars[0], core_var_atom(count->vars[0], core_scalar(SC_I64)));
            fuse_uncount_length(f, stmts[i]);
            stmts[i] = NULL;
        }
}
