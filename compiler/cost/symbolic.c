#include "cost/symbolic_internal.h"

#include "core/callgraph.h"

enum { FUEL = 200000 }; /* statements of a function: nested loops look at theirs several times */

/* ---- costs ---- */

Costs cost_of(Symbolic *x, int64_t work, int64_t span)
{
    return (Costs){formula_number(x->arena, work), formula_number(x->arena, span)};
}

Costs cost_add(Symbolic *x, Costs a, Costs b)
{
    return (Costs){formula_add(x->arena, a.work, b.work), formula_add(x->arena, a.span, b.span)};
}

static Costs linear(Symbolic *x, const Formula *n) { return (Costs){formula_add(x->arena, x->one, n), x->one}; }

/* ---- what is known of variables ---- */

Known known_atom(const Symbolic *x, CoreAtom a)
{
    if (!a.is_const)
        return x->vars[a.var];
    const bool integer = !scalar_is_float(a.type.scalar) && a.type.scalar != SC_BOOL;
    return (Known){.value = integer ? formula_number(x->arena, (int64_t)a.bits) : NULL};
}

Known known_take(Symbolic *x, const CoreAtom *a)
{
    if (!a->is_const && !last_use_is(x->uses, a))
        x->vars[a->var].owned = OWNED_NO;
    return known_atom(x, *a);
}

void known_bind(Symbolic *x, CoreVar v, Known k) { x->vars[v] = k; }

const char *var_hint(const Symbolic *x, CoreVar v) { return x->cost->fn->vars.at[v].hint; }

const Formula *copied(Symbolic *x, Known k)
{
    if (k.owned == OWNED_YES)
        return x->zero;
    x->cost->work_exact &= k.owned == OWNED_NO;
    return k.shape->total[0];
}

static void bind_unknown(Symbolic *x, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        known_bind(
            x, s->vars[i],
            known_fresh(x, core_var_type(x->cost->fn, s->vars[i]), SYMBOL_COMPUTED, var_hint(x, s->vars[i]), s->span));
}

/* ---- scalars ---- */

static const Formula *value_of(Symbolic *x, const CoreStmt *s, const Formula *l, const Formula *r)
{
    int64_t n = 0;
    switch (s->prim.op) {
    case PRIM_ADD:
    case PRIM_SIZE_ADD: return formula_add(x->arena, l, r);
    case PRIM_SUB: return formula_sub(x->arena, l, r);
    case PRIM_MUL:
    case PRIM_SIZE_MUL: return formula_mul(x->arena, l, r);
    case PRIM_MAX: return formula_max(x->arena, l, r);
    case PRIM_MIN: return formula_min(x->arena, l, r);
    case PRIM_DIV:
        return formula_is_number(r, &n) && n > 0 && formula_not_negative(l) ? formula_div(x->arena, l, n) : NULL;
    default: return NULL;
    }
}

static Costs cost_prim(Symbolic *x, const CoreStmt *s)
{
    const CoreType t = core_var_type(x->cost->fn, s->vars[0]);
    const Formula *l = known_atom(x, s->prim.args[0]).value;
    const Formula *r = s->prim.nargs > 1 ? known_atom(x, s->prim.args[1]).value : NULL, *value = NULL;
    bind_unknown(x, s);
    if (s->prim.op == PRIM_SELECT) {
        known_take(x, &s->prim.args[1]);
        known_take(x, &s->prim.args[2]);
    } else if (s->prim.op == PRIM_CONVERT && t.scalar == SC_I64) {
        value = l;
    } else if (l && r && t.rank == 0 && t.scalar == SC_I64) {
        value = value_of(x, s, l, r);
    }
    if (value)
        known_bind(x, s->vars[0], (Known){.value = value});
    return cost_of(x, 1, 1);
}

/* What the program goes on with is known to hold. */
static Costs cost_check(Symbolic *x, const CoreStmt *s)
{
    const ErrorKind kind = s->site == CORE_NO_SITE ? ERR_ASSERT : x->p->sites.at[s->site].kind;
    const Formula *v[3] = {NULL, NULL, NULL};
    for (uint32_t i = 0; i < s->check.nvalues; i++)
        v[i] = known_atom(x, s->check.values[i]).value;
    if ((kind == ERR_LENGTHS || kind == ERR_SIZE || kind == ERR_NEST) && v[0] && v[1])
        size_equate(x, v[0], v[1]);
    Symbol *n = kind == ERR_NEGATIVE && v[0] ? formula_is_symbol(size_resolve(x, v[0])) : NULL;
    if (n && x->conditions == 0)
        n->negative = false;
    return cost_of(x, 0, 0);
}

/* ---- sequences ---- */

static Costs cost_index(Symbolic *x, const CoreStmt *s)
{
    const CoreType t = core_var_type(x->cost->fn, s->vars[0]);
    const Shape *array = known_atom(x, s->index.array).shape;
    const Formula *at = known_atom(x, s->index.index).value;
    int64_t i;
    if (array->items && at && formula_is_number(at, &i) && i >= 0 && i < (int64_t)array->nitems)
        known_bind(x, s->vars[0], (Known){.shape = array->items[i]});
    else
        known_bind(x, s->vars[0], shape_some_element(x, array, t, var_hint(x, s->vars[0]), s->span));
    return cost_of(x, 1, 1);
}

static Shape *copy_shape(Symbolic *x, const Shape *of)
{
    Shape *s = arena_new(x->arena, Shape);
    *s = *of;
    s->items = NULL;
    s->nitems = 0;
    s->total = arena_array(x->arena, const Formula *, of->rank + 1);
    for (uint32_t k = 0; k < of->rank; k++)
        s->total[k] = of->total[k];
    return s;
}

static Costs cost_slice(Symbolic *x, const CoreStmt *s)
{
    const Known array = known_take(x, &s->slice.array);
    const Formula *from = known_atom(x, s->slice.from).value, *to = known_atom(x, s->slice.to).value;
    Shape *shape = copy_shape(x, array.shape);
    shape->total[0] = formula_sub(x->arena, to, from);
    for (uint32_t k = 1; k < shape->rank; k++)
        shape->total[k] = size_fresh(x, SYMBOL_COMPUTED, var_hint(x, s->vars[0]), s->span);
    known_bind(x, s->vars[0], (Known){.shape = shape, .owned = array.owned});
    return cost_of(x, 1, 1);
}

static Costs cost_update(Symbolic *x, const CoreStmt *s)
{
    const Known array = known_take(x, &s->update.array);
    known_take(x, &s->update.value);
    Shape *shape = copy_shape(x, array.shape);
    for (uint32_t k = 1; k < shape->rank; k++)
        shape->total[k] = size_fresh(x, SYMBOL_COMPUTED, var_hint(x, s->vars[0]), s->span);
    known_bind(x, s->vars[0], (Known){.shape = shape, .owned = OWNED_YES});
    return linear(x, copied(x, array));
}

static Costs cost_array(Symbolic *x, const CoreStmt *s)
{
    const uint32_t n = s->array.n;
    const Shape **items = arena_array(x->arena, const Shape *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        items[i] = known_take(x, &s->array.items[i]).shape;
    const uint32_t rank = core_var_type(x->cost->fn, s->vars[0]).rank;
    known_bind(x, s->vars[0], (Known){.shape = shape_of_items(x, items, n, rank), .owned = OWNED_YES});
    return cost_of(x, 1 + (int64_t)n, 1);
}

static Costs cost_flatten(Symbolic *x, const CoreStmt *s)
{
    const Shape *of = known_atom(x, s->length.array).shape;
    Shape *shape = arena_new(x->arena, Shape);
    *shape = (Shape){.rank = of->rank - 1, .total = of->total + 1, .longest = of->longest + 1};
    known_bind(x, s->vars[0], (Known){.shape = shape, .owned = OWNED_YES});
    return linear(x, of->total[1]);
}

/* Rows of one length, unless they are those of some constructor only. */
static Costs cost_check_rows(Symbolic *x, const CoreStmt *s)
{
    const Shape *of = known_atom(x, s->rows.args[0]).shape;
    const Formula *size = known_atom(x, s->rows.args[1]).value;
    const uint32_t depth = s->rows.depth;
    const Formula *rows = depth ? of->total[depth - 1] : x->one;
    if (s->rows.nargs == 2 && depth > 0 && depth < of->rank) {
        /* an instance's rows stand for the longest of all instances' */
        if (x->scope && formula_varies(size, x->scope) && !formula_varies(of->longest[depth], x->scope))
            x->cost->work_exact = false;
        size_equate(x, of->longest[depth], size);
        size_equate(x, of->total[depth], formula_mul(x->arena, of->total[depth - 1], size));
    }
    bind_unknown(x, s);
    return (Costs){formula_add(x->arena, x->one, rows), formula_add(x->arena, x->one, formula_log(x->arena, rows))};
}

static Costs cost_argsort(Symbolic *x, const CoreStmt *s)
{
    const Formula *n = known_atom(x, s->argsort.keys[0]).shape->total[0], *log = formula_log(x->arena, n);
    const Formula *rounds = formula_mul(x->arena, formula_number(x->arena, s->argsort.nkeys), log);
    const Formula *each = formula_add(x->arena, rounds, formula_number(x->arena, s->argsort.ncolumns));
    for (uint32_t i = 0; i < s->nvars; i++)
        known_bind(x, s->vars[i], (Known){.shape = shape_of_length(x, n), .owned = OWNED_YES});
    return (Costs){formula_add(x->arena, x->one, formula_mul(x->arena, n, each)), formula_add(x->arena, x->one, log)};
}

/* ---- control ---- */

static Costs cost_block(Symbolic *x, const CoreBlock *b, Known *results);

Costs cost_inside(Symbolic *x, const CoreBlock *b, Known *results)
{
    const uint32_t shown = x->equated.n;
    x->conditions++;
    Costs c = cost_block(x, b, results);
    x->conditions--;
    c = (Costs){size_resolve(x, c.work), size_resolve(x, c.span)};
    for (uint32_t i = 0; i < b->nresults; i++)
        results[i] = known_resolve(x, results[i]);
    size_forget(x, shown);
    return c;
}

static bool known_same(Symbolic *x, const Known *a, const Known *b)
{
    if (a->shape)
        return shape_equal(x, a->shape, b->shape);
    return a->value ? b->value && formula_equal(size_resolve(x, a->value), size_resolve(x, b->value)) : true;
}

static Owned join_owned(Owned a, Owned b) { return a == b ? a : OWNED_MAYBE; }

/* What the branches take is taken. */
static Costs cost_if(Symbolic *x, const CoreStmt *s)
{
    const uint32_t n = x->cost->fn->vars.n;
    Known *then_r = arena_array(x->arena, Known, s->nvars + 1), *else_r = arena_array(x->arena, Known, s->nvars + 1);
    Owned *before = arena_array(x->arena, Owned, n);
    for (uint32_t v = 0; v < n; v++)
        before[v] = x->vars[v].owned;
    const Costs a = cost_inside(x, s->if_.then_b, then_r);
    for (uint32_t v = 0; v < n; v++) {
        const Owned after = x->vars[v].owned;
        x->vars[v].owned = before[v];
        before[v] = after;
    }
    const Costs b = cost_inside(x, s->if_.else_b, else_r);
    for (uint32_t v = 0; v < n; v++)
        x->vars[v].owned = join_owned(x->vars[v].owned, before[v]);
    bind_unknown(x, s);
    for (uint32_t i = 0; i < s->nvars; i++) {
        if (known_same(x, &then_r[i], &else_r[i]))
            x->vars[s->vars[i]] = then_r[i];
        x->vars[s->vars[i]].owned = join_owned(then_r[i].owned, else_r[i].owned);
    }
    x->cost->work_exact &= formula_equal(a.work, b.work);
    x->cost->span_exact &= formula_equal(a.span, b.span);
    return (Costs){formula_max(x->arena, a.work, b.work), formula_max(x->arena, a.span, b.span)};
}

typedef struct State {
    Known now;    /* when a round begins */
    Known after;  /* and when it ends */
    bool unclear; /* it differs from round to round */
    bool once;    /* it is copied in the first round, if at all, and belongs to the loop from then on */
    bool shared;  /* it may be shared in any round */
} State;

typedef struct Loop {
    Scope *scope;
    State *state;
    Costs body, cond;
    const Formula *shared_work; /* of a round, if what belongs to the loop did not; or NULL */
} Loop;

/* One round from the state. */
static void cost_round(Symbolic *x, const CoreStmt *s, Loop *l)
{
    Known holds, *results = arena_array(x->arena, Known, s->loop.nparams + 1);
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        known_bind(x, s->loop.params[i], l->state[i].now);
    if (s->loop.index != CORE_NO_VAR)
        known_bind(x, s->loop.index, (Known){.value = size_fresh(x, SYMBOL_INDEX, "i", s->span)});
    l->cond = s->loop.cond ? cost_inside(x, s->loop.cond, &holds) : cost_of(x, 0, 0);
    l->body = cost_inside(x, s->loop.body, results);
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        l->state[i].after = results[i];
}

/* Has the round shown that the state is not what was thought? */
static bool correct_state(Symbolic *x, const CoreStmt *s, Loop *l, uint32_t i)
{
    State *state = &l->state[i];
    const CoreVar v = s->loop.params[i];
    const Owned owned = state->now.owned;
    if (!state->unclear && !known_same(x, &state->now, &state->after)) {
        state->unclear = true;
        state->now = known_fresh(x, core_var_type(x->cost->fn, v), SYMBOL_STATE, var_hint(x, v), s->span);
        state->now.owned = owned;
        return true;
    }
    if (owned == state->after.owned || state->shared)
        return false;
    state->once = owned != OWNED_YES && !state->once;
    state->shared = !state->once;
    state->now.owned = state->once ? OWNED_YES : OWNED_MAYBE;
    l->shared_work = state->once ? l->body.work : l->shared_work;
    return true;
}

/* The state of any round: what a round leaves as it is, stays. */
static void find_state(Symbolic *x, const CoreStmt *s, Loop *l)
{
    const bool work_exact = x->cost->work_exact, span_exact = x->cost->span_exact;
    for (bool changed = true; changed;) {
        changed = false;
        x->cost->work_exact = work_exact;
        x->cost->span_exact = span_exact;
        cost_round(x, s, l);
        for (uint32_t i = 0; i < s->loop.nparams; i++)
            changed |= correct_state(x, s, l, i);
    }
}

/* What is copied in the first round, at most. */
static const Formula *first_copies(Symbolic *x, const CoreStmt *s, const Loop *l)
{
    const Formula *n = x->zero;
    if (!l->shared_work || formula_equal(l->shared_work, l->body.work))
        return n;
    x->cost->work_exact = false;
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        if (l->state[i].once && l->state[i].now.shape)
            n = formula_add(x->arena, n, max_over(x, l->state[i].now.shape->total[0], l->scope));
    return n;
}

static void bind_state(Symbolic *x, const CoreStmt *s, const Loop *l)
{
    bind_unknown(x, s);
    for (uint32_t i = 0; i < s->loop.nparams; i++) {
        if (!l->state[i].unclear)
            x->vars[s->vars[i]] = l->state[i].now;
        x->vars[s->vars[i]].owned = l->state[i].now.owned;
    }
}

static Costs cost_loop(Symbolic *x, const CoreStmt *s)
{
    Loop l = {.scope = arena_new(x->arena, Scope)};
    l.state = arena_array(x->arena, State, s->loop.nparams + 1);
    const Formula *count = s->loop.cond ? size_fresh(x, SYMBOL_ROUNDS, NULL, s->span)
                                        : size_positive(x, known_atom(x, s->loop.count).value);
    *l.scope = (Scope){x->scope, size_resolve(x, count)};
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        l.state[i].now = known_take(x, &s->loop.inits[i]);
    x->scope = l.scope;
    find_state(x, s, &l);
    x->scope = l.scope->outer;
    const Costs round = cost_add(x, l.body, l.cond);
    Costs c = {sum_over(x, round.work, l.scope), sum_over(x, round.span, l.scope)};
    if (s->loop.cond) /* once more than there are rounds */
        c = cost_add(x, c, (Costs){max_over(x, l.cond.work, l.scope), max_over(x, l.cond.span, l.scope)});
    c.work = formula_add(x->arena, c.work, first_copies(x, s, &l));
    bind_state(x, s, &l);
    return c;
}

/* ---- calls ---- */

typedef struct Instantiation {
    Symbolic *x;
    const FnCost *callee;
    const Formula **sizes;
    VEC(Symbol *) unknown; /* the callee's own */
    VEC(const Formula *) fresh;
} Instantiation;

static const Formula *instantiate(void *ctx, Symbol *s)
{
    Instantiation *in = ctx;
    for (uint32_t i = 0; i < in->callee->nsizes; i++)
        if (in->callee->sizes[i] == s)
            return in->sizes[i];
    if (s->scope)
        return NULL; /* of a sum */
    for (uint32_t i = 0; i < in->unknown.n; i++)
        if (in->unknown.at[i] == s)
            return in->fresh.at[i];
    const Formula *fresh = size_fresh(in->x, s->kind, s->hint, s->span);
    Symbol *copy = formula_is_symbol(fresh);
    copy->negative = s->negative;
    copy->all = s->all;
    copy->most = s->most;
    vec_push(in->x->arena, &in->unknown, s);
    vec_push(in->x->arena, &in->fresh, fresh);
    return fresh;
}

static Known instantiate_known(Instantiation *in, Known k)
{
    Arena *a = in->x->arena;
    if (k.value)
        k.value = formula_replace(a, k.value, instantiate, in);
    if (!k.shape)
        return k;
    Shape *s = copy_shape(in->x, k.shape);
    s->longest = arena_array(a, const Formula *, s->rank + 1);
    for (uint32_t i = 0; i < s->rank; i++) {
        s->total[i] = formula_replace(a, k.shape->total[i], instantiate, in);
        s->longest[i] = i ? formula_replace(a, k.shape->longest[i], instantiate, in) : in->x->one;
    }
    k.shape = s;
    return k;
}

/* The sizes of parameters, or of the arguments for them, in order. */
static uint32_t add_sizes(const Known *k, const Formula **sizes, uint32_t n)
{
    if (k->value)
        sizes[n++] = k->value;
    for (uint32_t i = 0; k->shape && i < k->shape->rank; i++) {
        sizes[n++] = k->shape->total[i];
        if (i > 0)
            sizes[n++] = k->shape->longest[i];
    }
    return n;
}

static uint32_t count_sizes(const CoreFn *fn)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < fn->nparams; i++)
        n += 2u * core_var_type(fn, fn->params[i]).rank + 1;
    return n;
}

static Costs cost_recursive(Symbolic *x, const CoreStmt *s, const Formula **sizes, uint32_t n)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        known_bind(x, s->vars[i],
                   known_fresh(x, core_var_type(x->cost->fn, s->vars[i]), SYMBOL_RESULT, s->call.fn->name, s->span));
    return (Costs){formula_call(x->arena, s->call.fn, false, sizes, n),
                   formula_call(x->arena, s->call.fn, true, sizes, n)};
}

static Costs cost_call(Symbolic *x, const CoreStmt *s)
{
    const FnCost *callee = &x->fns[s->call.fn->index];
    const Formula **sizes = arena_array(x->arena, const Formula *, count_sizes(s->call.fn) + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->call.nargs; i++) {
        Known k = known_take(x, &s->call.args[i]);
        n = add_sizes(&k, sizes, n);
    }
    if (callee->recursive)
        return cost_recursive(x, s, sizes, n);
    Instantiation in = {.x = x, .callee = callee, .sizes = sizes};
    for (uint32_t i = 0; i < n; i++) /* what the callee has checked */
        if (callee->sizes[i]->alias)
            size_equate(x, sizes[i], formula_replace(x->arena, callee->sizes[i]->alias, instantiate, &in));
    for (uint32_t i = 0; i < s->nvars; i++)
        known_bind(x, s->vars[i], instantiate_known(&in, callee->results[i]));
    x->cost->work_exact &= callee->work_exact;
    x->cost->span_exact &= callee->span_exact;
    return (Costs){formula_replace(x->arena, callee->work, instantiate, &in),
                   formula_replace(x->arena, callee->span, instantiate, &in)};
}

/* ---- statements and blocks ---- */

static Costs cost_nothing(Symbolic *x, const CoreStmt *s)
{
    bind_unknown(x, s);
    return cost_of(x, 0, 0);
}

static Costs cost_stmt(Symbolic *x, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_ATOM: known_bind(x, s->vars[0], known_take(x, &s->atom)); return cost_of(x, 0, 0);
    case CORE_PRIM: return cost_prim(x, s);
    case CORE_LENGTH:
        known_bind(x, s->vars[0], (Known){.value = known_atom(x, s->length.array).shape->total[0]});
        return cost_of(x, 0, 0);
    case CORE_INDEX: return cost_index(x, s);
    case CORE_SLICE: return cost_slice(x, s);
    case CORE_UPDATE: return cost_update(x, s);
    case CORE_ARRAY: return cost_array(x, s);
    case CORE_CHECK: return cost_check(x, s);
    case CORE_CHECK_ROWS: return cost_check_rows(x, s);
    case CORE_IF: return cost_if(x, s);
    case CORE_LOOP: return cost_loop(x, s);
    case CORE_CALL: return cost_call(x, s);
    case CORE_ARGSORT: return cost_argsort(x, s);
    case CORE_FLATTEN: return cost_flatten(x, s);
    case CORE_SOAC: return cost_soac(x, s);
    case CORE_LANE:
    case CORE_MANY:
    case CORE_PARAM:
    case CORE_FEW:
    case CORE_MEMORY:
    case CORE_TABLE:
    case CORE_FITTED:
    case CORE_NOTHING: return cost_nothing(x, s); /* not in a program as it is written */
    }
    return cost_of(x, 0, 0);
}

static Costs cost_block(Symbolic *x, const CoreBlock *b, Known *results)
{
    Costs c = cost_of(x, 0, 0);
    x->fuel -= b->stmts.n;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        c = cost_add(x, c, cost_stmt(x, b->stmts.at[i]));
    for (uint32_t i = 0; i < b->nresults; i++)
        results[i] = known_take(x, &b->results[i]);
    return c;
}

/* ---- functions ---- */

static bool is_called(const CallGraph *g, const CoreFn *fn) { return g->nodes[fn->index].calls > 0; }

static void begin_params(Symbolic *x, FnCost *cost, bool called)
{
    const CoreFn *fn = cost->fn;
    const Formula **sizes = arena_array(x->arena, const Formula *, count_sizes(fn) + 1);
    cost->params = arena_array(x->arena, Known, fn->nparams + 1);
    for (uint32_t i = 0; i < fn->nparams; i++) {
        const CoreType t = core_var_type(fn, fn->params[i]);
        Known k = known_fresh(x, t, t.rank ? SYMBOL_LENGTH : SYMBOL_NUMBER, fn->vars.at[fn->params[i]].hint, fn->span);
        k.owned = called ? OWNED_MAYBE : OWNED_NO;
        cost->params[i] = k;
        cost->nsizes = add_sizes(&k, sizes, cost->nsizes);
    }
    cost->sizes = arena_array(x->arena, Symbol *, cost->nsizes + 1);
    for (uint32_t i = 0; i < cost->nsizes; i++)
        cost->sizes[i] = formula_is_symbol(sizes[i]);
}

static void cost_function(Symbolic *x, CoreFn *fn, bool called)
{
    FnCost *cost = &x->fns[fn->index];
    x->cost = cost;
    x->vars = arena_array(x->arena, Known, fn->vars.n + 1);
    x->scope = NULL;
    x->equated.n = 0;
    x->conditions = 0;
    x->fuel = FUEL;
    cost->work_exact = cost->span_exact = true;
    begin_params(x, cost, called);
    for (uint32_t i = 0; i < fn->nparams; i++)
        known_bind(x, fn->params[i], cost->params[i]);
    cost->results = arena_array(x->arena, Known, fn->nresults + 1);
    const Costs c = cost_block(x, fn->body, cost->results);
    for (uint32_t i = 0; i < fn->nresults; i++)
        cost->results[i] = known_resolve(x, cost->results[i]);
    cost->span = size_resolve(x, c.span);
    cost->work = size_resolve(x, c.work);
}

static const Solved *find_solved(void *ctx, const CoreFn *fn)
{
    const Symbolic *x = ctx;
    const Solved *solved = &x->fns[fn->index].solved;
    return solved->fn ? solved : NULL;
}

static void solve_function(Symbolic *x, FnCost *cost)
{
    cost->solved = (Solved){.sizes = cost->sizes, .nsizes = cost->nsizes, .fn = cost->fn};
    cost->solved.work = recurrence_solve(x->arena, cost->work, &cost->solved, find_solved, x);
    cost->solved.span = recurrence_solve(x->arena, cost->span, &cost->solved, find_solved, x);
}

FnCost *symbolic_costs(const CoreProgram *p, Arena *arena)
{
    Symbolic *x = arena_new(arena, Symbolic);
    x->p = p;
    x->arena = arena;
    x->uses = last_use_of_program(p, arena);
    x->fns = arena_array(arena, FnCost, p->fns.n + 1);
    x->zero = formula_number(arena, 0);
    x->one = formula_number(arena, 1);
    const CallGraph *g = callgraph_of(p, arena);
    for (uint32_t i = 0; i < p->fns.n; i++)
        x->fns[i] = (FnCost){.fn = p->fns.at[i], .recursive = callgraph_recursive(&g->nodes[i])};
    for (uint32_t i = 0; i < g->n; i++) {
        cost_function(x, g->nodes[g->order[i]].fn, is_called(g, g->nodes[g->order[i]].fn));
        solve_function(x, &x->fns[g->nodes[g->order[i]].fn->index]);
    }
    return x->fns;
}
