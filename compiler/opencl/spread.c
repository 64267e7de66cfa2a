#include "opencl/spread.h"

enum { MOST_NESTED = 24, GATHER_COST = 3, CHEAP_BRANCH = 8 };

typedef struct Analysis {
    const CoreFn *fn;
    Spread *spread;
    SpreadFacts *facts;
    uint32_t depth;
    bool changed;
} Analysis;

Spread spread_of(const Spread *spread, CoreAtom a) { return a.is_const ? SPREAD_UNIFORM : spread[a.var]; }

static Spread join(Spread a, Spread b) { return a == b ? a : SPREAD_VARYING; }

void spread_as_vector(const Spread *spread, CoreAtom a, SpreadFacts *facts)
{
    if (spread_of(spread, a) == SPREAD_NEAR)
        facts->wide = true;
}

/* ---- what variables are ---- */

static void set(Analysis *a, CoreVar v, Spread to)
{
    CoreType t = core_var_type(a->fn, v);
    a->spread[v] = to;
    if (to == SPREAD_VARYING && t.rank > 0)
        a->facts->refused = true;
}

static bool is_i64(const CoreFn *fn, CoreAtom x) { return core_atom_type(fn, x).scalar == SC_I64; }

static bool compares(CorePrim op) { return op >= PRIM_EQ && op <= PRIM_GE; }

bool spread_near_prim(const Spread *spread, const CoreStmt *s)
{
    Spread x = spread_of(spread, s->prim.args[0]), y = s->prim.nargs > 1 ? spread_of(spread, s->prim.args[1]) : x;
    if (compares(s->prim.op))
        return (x == SPREAD_NEAR && y == SPREAD_UNIFORM) || (x == SPREAD_UNIFORM && y == SPREAD_NEAR);
    return s->prim.op == PRIM_CONVERT && x == SPREAD_NEAR;
}

static Spread prim_spread(const Analysis *a, const CoreStmt *s)
{
    Spread all = SPREAD_UNIFORM;
    for (uint32_t i = 0; i < s->prim.nargs; i++) {
        Spread x = spread_of(a->spread, s->prim.args[i]);
        all = x > all ? x : all;
    }
    if (all != SPREAD_NEAR)
        return all;
    Spread x = spread_of(a->spread, s->prim.args[0]);
    Spread y = s->prim.nargs > 1 ? spread_of(a->spread, s->prim.args[1]) : x;
    if (s->prim.op == PRIM_CONVERT && core_var_type(a->fn, s->vars[0]).scalar == SC_I64)
        return SPREAD_NEAR;
    bool moves = (s->prim.op == PRIM_ADD && (x == SPREAD_UNIFORM || y == SPREAD_UNIFORM)) ||
                 (s->prim.op == PRIM_SUB && y == SPREAD_UNIFORM);
    return moves && is_i64(a->fn, s->prim.args[0]) ? SPREAD_NEAR : SPREAD_VARYING;
}

static void block(Analysis *a, const CoreBlock *b);

static void if_spread(Analysis *a, const CoreStmt *s)
{
    block(a, s->if_.then_b);
    block(a, s->if_.else_b);
    bool varies = spread_of(a->spread, s->if_.cond) != SPREAD_UNIFORM;
    for (uint32_t i = 0; i < s->nvars; i++) {
        Spread x = spread_of(a->spread, s->if_.then_b->results[i]), y = spread_of(a->spread, s->if_.else_b->results[i]);
        set(a, s->vars[i], varies ? SPREAD_VARYING : join(x, y));
    }
}

bool spread_loop_diverges(const Spread *spread, const CoreStmt *loop)
{
    return spread_of(spread, loop->loop.cond ? loop->loop.cond->results[0] : loop->loop.count) != SPREAD_UNIFORM;
}

static bool keeps(const CoreStmt *s, uint32_t i)
{
    CoreAtom next = s->loop.body->results[i];
    return !next.is_const && next.var == s->loop.params[i];
}

static bool loop_round(Analysis *a, const CoreStmt *s)
{
    bool changed = false;
    if (s->loop.index != CORE_NO_VAR)
        set(a, s->loop.index, SPREAD_UNIFORM);
    if (s->loop.cond)
        block(a, s->loop.cond);
    block(a, s->loop.body);
    bool diverges = spread_loop_diverges(a->spread, s);
    for (uint32_t i = 0; i < s->loop.nparams; i++) {
        Spread was = a->spread[s->loop.params[i]];
        Spread now = keeps(s, i) ? was
                     : diverges  ? SPREAD_VARYING
                                 : join(was, spread_of(a->spread, s->loop.body->results[i]));
        set(a, s->loop.params[i], now);
        changed |= now != was;
    }
    return changed;
}

static void loop_spread(Analysis *a, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        set(a, s->loop.params[i], spread_of(a->spread, s->loop.inits[i]));
    while (loop_round(a, s) && !a->facts->refused)
        ;
    for (uint32_t i = 0; i < s->nvars; i++)
        set(a, s->vars[i], a->spread[s->loop.params[i]]);
}

static void index_spread(Analysis *a, const CoreStmt *s)
{
    if (spread_of(a->spread, s->index.array) != SPREAD_UNIFORM)
        a->facts->refused = true;
    Spread at = spread_of(a->spread, s->index.index);
    set(a, s->vars[0], at == SPREAD_UNIFORM ? at : SPREAD_VARYING);
}

static void slice_spread(Analysis *a, const CoreStmt *s)
{
    const CoreAtom parts[] = {s->slice.array, s->slice.from, s->slice.to};
    for (uint32_t i = 0; i < 3; i++)
        if (spread_of(a->spread, parts[i]) != SPREAD_UNIFORM)
            a->facts->refused = true;
    set(a, s->vars[0], SPREAD_UNIFORM);
}

static void stmt(Analysis *a, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_ATOM: set(a, s->vars[0], spread_of(a->spread, s->atom)); break;
    case CORE_PRIM: set(a, s->vars[0], prim_spread(a, s)); break;
    case CORE_LENGTH: set(a, s->vars[0], SPREAD_UNIFORM); break;
    case CORE_INDEX: index_spread(a, s); break;
    case CORE_SLICE: slice_spread(a, s); break;
    case CORE_CHECK: break;
    case CORE_IF: if_spread(a, s); break;
    case CORE_LOOP: loop_spread(a, s); break;
    case CORE_LANE:
    case CORE_PARALLEL: a->facts->refused = true; break;
    }
}

static void block(Analysis *a, const CoreBlock *b)
{
    a->facts->refused |= ++a->depth > MOST_NESTED;
    for (uint32_t i = 0; i < b->stmts.n && !a->facts->refused; i++)
        stmt(a, b->stmts.at[i]);
    a->depth--;
}

/* ---- what they cost ---- */

static void measure_block(Analysis *a, const CoreBlock *b);

static void measure_use(Analysis *a, CoreAtom x) { spread_as_vector(a->spread, x, a->facts); }

/* Operations for which there is no vector form that gives the same bits (kernels/vector.cl). */
static bool goes_by_lane(CorePrim op, Scalar operand)
{
    switch (op) {
    case PRIM_DIV: return !scalar_is_float(operand);
    case PRIM_MOD:
    case PRIM_POW:
    case PRIM_POPCOUNT:
    case PRIM_CLZ:
    case PRIM_CTZ:
    case PRIM_SIZE_ADD:
    case PRIM_SIZE_MUL: return true;
    default: return core_prim_cost(op, operand) > CORE_MODERATE && op != PRIM_SQRT;
    }
}

static void measure_prim(Analysis *a, const CoreStmt *s)
{
    Scalar operand = core_atom_type(a->fn, s->prim.args[0]).scalar;
    if (a->spread[s->vars[0]] != SPREAD_VARYING)
        return;
    if (goes_by_lane(s->prim.op, operand))
        a->facts->lanes += core_prim_cost(s->prim.op, operand);
    else
        a->facts->vectors += core_prim_cost(s->prim.op, operand);
    if (spread_near_prim(a->spread, s))
        return;
    for (uint32_t i = 0; i < s->prim.nargs; i++)
        measure_use(a, s->prim.args[i]);
}

static void measure_results(Analysis *a, const CoreVar *vars, uint32_t n, const CoreAtom *atoms)
{
    for (uint32_t i = 0; i < n; i++)
        if (a->spread[vars[i]] == SPREAD_VARYING)
            measure_use(a, atoms[i]);
}

static void measure_stmt(Analysis *a, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_PRIM: measure_prim(a, s); break;
    case CORE_INDEX:
        if (spread_of(a->spread, s->index.index) == SPREAD_VARYING)
            a->facts->lanes += GATHER_COST;
        else if (a->spread[s->vars[0]] == SPREAD_VARYING)
            a->facts->vectors += GATHER_COST;
        break;
    case CORE_IF:
        measure_block(a, s->if_.then_b);
        measure_block(a, s->if_.else_b);
        measure_results(a, s->vars, s->nvars, s->if_.then_b->results);
        measure_results(a, s->vars, s->nvars, s->if_.else_b->results);
        break;
    case CORE_LOOP:
        if (s->loop.cond)
            measure_block(a, s->loop.cond);
        else
            measure_use(a, s->loop.count);
        measure_block(a, s->loop.body);
        measure_results(a, s->loop.params, s->loop.nparams, s->loop.inits);
        measure_results(a, s->loop.params, s->loop.nparams, s->loop.body->results);
        break;
    default: break;
    }
}

static void measure_block(Analysis *a, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        for (uint32_t j = 0; j < s->nvars; j++) {
            CoreType t = core_var_type(a->fn, s->vars[j]);
            a->facts->wide |= a->spread[s->vars[j]] == SPREAD_VARYING && scalar_bytes(t.scalar) == 8;
        }
        measure_stmt(a, s);
    }
}

void spread_block(const CoreFn *fn, const CoreBlock *b, Spread *spread, SpreadFacts *facts)
{
    Analysis a = {.fn = fn, .spread = spread, .facts = facts};
    block(&a, b);
    if (!facts->refused)
        measure_block(&a, b);
}

bool spread_is_cheap(const CoreFn *fn, const CoreBlock *b)
{
    uint32_t cost = 0;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        if (s->kind == CORE_PRIM && s->site == CORE_NO_SITE)
            cost += core_prim_cost(s->prim.op, core_atom_type(fn, s->prim.args[0]).scalar);
        else if (s->kind != CORE_ATOM && s->kind != CORE_LENGTH)
            return false;
    }
    return cost <= CHEAP_BRANCH;
}
