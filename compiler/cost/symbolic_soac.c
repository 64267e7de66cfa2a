/* Parallel operations: what an instance costs, over all instances. */
#include "cost/symbolic_internal.h"

/* Operations over few elements that are known one by one are looked at one by one. */
enum { MOST_ITEMS = 8 };

typedef struct Walk {
    Symbolic *x;
    const CoreStmt *s;
    const CoreSoac *soac;
    Scope *scope;
    Known *row;          /* what the body gives */
    const Formula *kept; /* of a filter, or NULL */
} Walk;

static void bind_elements(Walk *w)
{
    Symbolic *x = w->x;
    const CoreSoac *soac = w->soac;
    if (soac->index != CORE_NO_VAR)
        known_bind(x, soac->index, (Known){.value = size_fresh(x, SYMBOL_INDEX, "i", w->s->span)});
    for (uint32_t i = 0; i < soac->ninputs; i++) {
        const CoreVar v = soac->elements[i];
        const Shape *input = known_atom(x, soac->inputs[i]).shape;
        known_bind(x, v, shape_element(x, input, core_var_type(x->cost->fn, v), var_hint(x, v), w->s->span));
    }
}

/* The largest of the instances; `some`: of those that a guard lets through. */
static const Formula *longest(Walk *w, const Formula *span, bool some)
{
    const bool varies = formula_varies(span, w->scope);
    w->x->cost->span_exact &= !varies || (!some && max_is_exact(span, w->scope));
    return max_over(w->x, span, w->scope);
}

static const Formula *sum(Walk *w, const Formula *work)
{
    if (!w->kept)
        return sum_over(w->x, work, w->scope);
    if (!formula_varies(work, w->scope))
        return formula_mul(w->x->arena, w->kept, work);
    w->x->cost->work_exact = false;
    return sum_over(w->x, work, w->scope);
}

static Costs over_instances(Walk *w, Costs c) { return (Costs){sum(w, c.work), longest(w, c.span, w->kept != NULL)}; }

/* The operator, applied once for each element. */
static Costs operator_costs(Walk *w)
{
    Symbolic *x = w->x;
    const CoreLambda *op = core_stmt_operator(w->s);
    Known *results = arena_array(x->arena, Known, op->body->nresults + 1);
    bool sequences = false;
    for (uint32_t i = 0; i < op->nparams; i++) {
        const CoreType t = core_var_type(x->cost->fn, op->params[i]);
        sequences |= t.rank > 0;
        known_bind(x, op->params[i], known_fresh(x, t, SYMBOL_COMPUTED, var_hint(x, op->params[i]), w->s->span));
    }
    Costs c = cost_inside(x, op->body, results);
    const bool some = w->s->kind == CORE_HIST || w->s->kind == CORE_ACCUMULATE; /* positions may be out of range */
    x->cost->work_exact &= !(sequences || (some && c.work->n > 0));
    const Formula *levels = formula_log(x->arena, w->scope->count);
    return (Costs){sum_over(x, c.work, w->scope), formula_mul(x->arena, levels, longest(w, c.span, false))};
}

static const Formula *copied_dests(Walk *w)
{
    const Formula *n = w->x->zero;
    for (uint32_t i = 0; i < w->s->nvars; i++) {
        const Known dest = known_take(w->x, &w->s->soac.dests[i]);
        n = formula_add(w->x->arena, n, copied(w->x, dest));
        known_bind(w->x, w->s->vars[i], (Known){.shape = dest.shape, .owned = OWNED_YES});
    }
    return n;
}

/* ---- results ---- */

static void bind_sequences(Walk *w, const Formula *n)
{
    for (uint32_t i = 0; i < w->s->nvars; i++) {
        const CoreType t = core_var_type(w->x->cost->fn, w->s->vars[i]);
        Known k = known_fresh(w->x, t, SYMBOL_COMPUTED, var_hint(w->x, w->s->vars[i]), w->s->span);
        Shape *s = arena_new(w->x->arena, Shape);
        *s = *k.shape;
        s->total[0] = n;
        known_bind(w->x, w->s->vars[i], (Known){.shape = s, .owned = OWNED_YES});
    }
}

static void bind_map(Walk *w)
{
    for (uint32_t i = 0; i < w->s->nvars; i++) {
        const CoreType t = core_var_type(w->x->cost->fn, w->s->vars[i]);
        known_bind(
            w->x, w->s->vars[i],
            (Known){.shape = shape_over(w->x, w->scope, w->kept, &w->row[i], t.rank, w->s->span), .owned = OWNED_YES});
    }
}

/* A sum of sizes is known. */
static bool is_sum(const CoreStmt *s)
{
    const CoreLambda *op = &s->soac.op;
    int64_t start = 1;
    if (s->nvars != 1 || op->body->stmts.n != 1 || !s->soac.neutral[0].is_const)
        return false;
    start = (int64_t)s->soac.neutral[0].bits;
    const CoreStmt *add = op->body->stmts.at[0];
    return start == 0 && add->kind == CORE_PRIM && (add->prim.op == PRIM_ADD || add->prim.op == PRIM_SIZE_ADD) &&
           core_atom_equal(op->body->results[0], core_var_atom(add->vars[0], core_scalar(SC_I64)));
}

static void bind_reduced(Walk *w)
{
    for (uint32_t i = 0; i < w->s->nvars; i++) {
        const CoreVar v = w->s->vars[i];
        const CoreType t = core_var_type(w->x->cost->fn, v);
        Known k = known_fresh(w->x, t, SYMBOL_COMPUTED, var_hint(w->x, v), w->s->span);
        if (t.rank == 0 && t.scalar == SC_I64 && w->row[i].value && is_sum(w->s))
            k.value = sum_over(w->x, w->row[i].value, w->scope);
        known_bind(w->x, v, k);
    }
}

/* ---- the operations ---- */

static Costs cost_map(Walk *w)
{
    Symbolic *x = w->x;
    const Formula *n = w->scope->count;
    Costs c = {formula_add(x->arena, x->one, n), x->one}, body;
    if (w->soac->guard) {
        Known holds;
        c = cost_add(x, c, over_instances(w, cost_inside(x, w->soac->guard, &holds)));
        c.span = formula_add(x->arena, c.span, formula_log(x->arena, n));
    }
    body = cost_inside(x, w->soac->body, w->row);
    x->scope = w->scope->outer;
    if (w->soac->guard)
        w->kept = size_fresh(x, SYMBOL_KEPT, NULL, w->s->span);
    c = cost_add(x, c, over_instances(w, body));
    bind_map(w);
    return c;
}

static Costs cost_fold(Walk *w)
{
    Symbolic *x = w->x;
    Costs c = {x->one, x->one};
    c = cost_add(x, c, over_instances(w, cost_inside(x, w->soac->body, w->row)));
    c = cost_add(x, c, operator_costs(w));
    x->scope = w->scope->outer;
    if (w->s->kind == CORE_REDUCE)
        bind_reduced(w);
    else
        bind_sequences(w, w->scope->count);
    return c;
}

static Costs cost_put(Walk *w)
{
    Symbolic *x = w->x;
    const Scope *inner = x->scope;
    Costs c = {formula_add(x->arena, x->one, w->scope->count), x->one};
    if (w->s->kind == CORE_HIST)
        c.work = formula_add(x->arena, c.work, size_positive(x, known_atom(x, w->soac->size).value));
    x->scope = w->scope->outer;
    if (w->s->kind == CORE_HIST)
        bind_sequences(w, size_positive(x, known_atom(x, w->soac->size).value));
    else
        c.work = formula_add(x->arena, c.work, copied_dests(w));
    x->scope = inner;
    c = cost_add(x, c, over_instances(w, cost_inside(x, w->soac->body, w->row)));
    if (w->s->kind != CORE_SCATTER)
        c = cost_add(x, c, operator_costs(w));
    x->scope = w->scope->outer;
    return c;
}

/* ---- elements one by one ---- */

static bool has_items(const Symbolic *x, const CoreStmt *s, int64_t *n)
{
    const CoreSoac *soac = &s->soac;
    if (s->kind != CORE_MAP || soac->guard || x->fuel < 0 || soac->ninputs == 0 ||
        !formula_is_number(known_atom(x, soac->domain).value, n) || *n > MOST_ITEMS)
        return false;
    for (uint32_t i = 0; i < soac->ninputs; i++) {
        const Shape *input = known_atom(x, soac->inputs[i]).shape;
        if (input->rank > 1 && (!input->items || (int64_t)input->nitems != *n))
            return false;
    }
    return true;
}

static void bind_item(Walk *w, uint32_t item)
{
    Symbolic *x = w->x;
    if (w->soac->index != CORE_NO_VAR)
        known_bind(x, w->soac->index, (Known){.value = formula_number(x->arena, item)});
    for (uint32_t i = 0; i < w->soac->ninputs; i++) {
        const CoreVar v = w->soac->elements[i];
        const Shape *input = known_atom(x, w->soac->inputs[i]).shape;
        known_bind(x, v,
                   input->rank > 1
                       ? (Known){.shape = input->items[item]}
                       : known_fresh(x, core_var_type(x->cost->fn, v), SYMBOL_COMPUTED, var_hint(x, v), w->s->span));
    }
}

static Costs cost_items(Walk *w, uint32_t n)
{
    Symbolic *x = w->x;
    const uint32_t k = w->s->nvars;
    Costs c = cost_of(x, 1 + (int64_t)n, 1);
    const Formula *span = x->zero;
    const Shape **shapes = arena_array(x->arena, const Shape *, k *n + 1);
    for (uint32_t i = 0; i < n; i++) {
        bind_item(w, i);
        const Costs body = cost_inside(x, w->soac->body, w->row);
        const Formula *larger = formula_max(x->arena, span, body.span);
        c.work = formula_add(x->arena, c.work, body.work);
        span = larger;
        for (uint32_t j = 0; j < k; j++)
            shapes[j * n + i] = w->row[j].shape;
    }
    c.span = formula_add(x->arena, c.span, span);
    for (uint32_t j = 0; j < k; j++) {
        const uint32_t rank = core_var_type(x->cost->fn, w->s->vars[j]).rank;
        known_bind(x, w->s->vars[j], (Known){.shape = shape_of_items(x, shapes + j * n, n, rank), .owned = OWNED_YES});
    }
    return c;
}

Costs cost_soac(Symbolic *x, const CoreStmt *s)
{
    Walk w = {.x = x, .s = s, .soac = &s->soac};
    int64_t n;
    w.row = arena_array(x->arena, Known, w.soac->body->nresults + 1);
    for (uint32_t i = 0; i < w.soac->ninputs; i++) /* that is what an operation is */
        size_equate(x, known_atom(x, w.soac->domain).value, known_atom(x, w.soac->inputs[i]).shape->total[0]);
    if (has_items(x, s, &n))
        return cost_items(&w, (uint32_t)n);
    w.scope = arena_new(x->arena, Scope);
    *w.scope = (Scope){x->scope, size_resolve(x, known_atom(x, w.soac->domain).value)};
    x->scope = w.scope;
    bind_elements(&w);
    switch (s->kind) {
    case CORE_MAP: return cost_map(&w);
    case CORE_REDUCE:
    case CORE_SCAN: return cost_fold(&w);
    default: return cost_put(&w);
    }
}
