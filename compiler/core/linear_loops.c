/* Functions with one self call, in front of which each parameter stays, changes by a constant, is divided by one or
 * loses elements at its front, become two loops: down to the call that makes none, and up again.
 *
 *     rec fn f (n, xs) = { S; if c then { T -> r } else { U; q = call f (n - 1, xs); V -> r' } }
 *
 *     fn f (n0, xs) = {
 *       n1, depth = loop (n = n0, d = 0) while { S -> not c } do { -> n - 1, d + 1 }
 *       (S; T) of n1
 *       res, n2 = loop (q = r, n = n1) for d < depth do { n' = n + 1; (S; U; V) of n' -> r', n' }
 *       -> res }
 *
 * So nothing is kept for each level, and loops are what lanes execute. What may fail in front of the call (S, U) is
 * there in both loops, as the first failure is that of the outermost level. */
#include "core/append.h"
#include "core/callgraph.h"
#include "core/passes.h"
#include "core/tail.h"
#include "dp_limits.h"

enum { MOST_REPEATED = 64 }; /* statements in front of the call */

/* What a call does with a parameter. */
typedef enum StepKind { STEP_NONE, STEP_ADD, STEP_DIVIDE, STEP_CUT } StepKind;
typedef struct Step {
    StepKind kind;
    CoreAtom by; /* what is added; how many elements go */
    CorePrim op; /* ADD or SUB; DIVIDE: DIV or SHR, which leave nothing to divide after MOST_DIVIDED steps */
} Step;
enum { MOST_DIVIDED = 64 };

typedef struct Linear {
    CoreProgram *p;
    CoreFn *fn;
    CoreBuilder b;
    Arena *scratch;
    CoreStmt *exit; /* the `if` at its end */
    CoreBlock *leave, *again;
    uint32_t call_at; /* in `again` */
    bool *down;       /* by statement in front of it: is it evaluated on the way down? */
    Step *steps;      /* by parameter */
    uint32_t nsteps;  /* of a kind */
    CoreVar *params;  /* the function's new ones */
} Linear;

/* ---- may it? ---- */

/* Does that make less of a number, unless nothing is left of it, 0 or -1? */
static bool is_less(Scalar type, CorePrim op, uint64_t by)
{
    if (op == PRIM_SHR)
        return by > 0 && by < 8u * scalar_bytes(type);
    return by > 1 && (!scalar_is_signed(type) || (int64_t)by > 1);
}

static bool find_step(const Linear *l, const CoreMakers *m, uint32_t i, CoreAtom arg)
{
    Step *step = &l->steps[i];
    const CoreVar v = l->fn->params[i];
    const CoreType type = core_var_type(l->fn, v);
    const CoreAtom p = core_var_atom(v, type);
    const CoreStmt *s = core_maker(m, arg);
    if (core_atom_equal(arg, p))
        return true;
    if (type.rank == 0 && scalar_is_int(type.scalar) && (core_as_prim(s, PRIM_ADD) || core_as_prim(s, PRIM_SUB))) {
        const CoreAtom by = s->prim.args[1];
        if (!by.is_const || !core_atom_equal(s->prim.args[0], p))
            return false;
        *step = (Step){STEP_ADD, by, s->prim.op};
        return true;
    }
    if (type.rank == 0 && scalar_is_int(type.scalar) && (core_as_prim(s, PRIM_DIV) || core_as_prim(s, PRIM_SHR))) {
        const CoreAtom by = s->prim.args[1];
        *step = (Step){STEP_DIVIDE, by, s->prim.op};
        return by.is_const && core_atom_equal(s->prim.args[0], p) && is_less(type.scalar, s->prim.op, by.bits);
    }
    if (s && s->kind == CORE_SLICE && core_atom_equal(s->slice.array, p) && s->slice.from.is_const &&
        (int64_t)s->slice.from.bits >= 0 && core_is_length(m, p, s->slice.to)) {
        *step = (Step){STEP_CUT, s->slice.from, PRIM_ADD};
        return true;
    }
    return false;
}

static bool is_missing(void *missing, CoreAtom a) { return ((const bool *)missing)[a.var]; }

/* What stands in front of the call will be there twice, if it may fail or the condition needs it; else it may be
 * missing on the way down. */
static bool may_repeat(Linear *l)
{
    bool *missing = arena_array(l->scratch, bool, l->fn->vars.n + 1);
    const CoreBlock *front = l->fn->body;
    if (front->stmts.n + l->call_at > MOST_REPEATED)
        return false;
    for (uint32_t i = 0; i + 1 < front->stmts.n; i++)
        if (!core_stmt_is_scalar(front->stmts.at[i]) || front->stmts.at[i]->kind == CORE_LOOP)
            return false;
    l->down = arena_array(l->scratch, bool, l->call_at + 1);
    for (uint32_t i = 0; i < l->call_at; i++) {
        CoreStmt *s = l->again->stmts.at[i];
        l->down[i] = core_stmt_is_scalar(s) && s->kind != CORE_LOOP && !core_stmt_reads(s, is_missing, missing);
        if (!l->down[i] && core_stmt_fallible(l->p, l->fn, s))
            return false;
        for (uint32_t k = 0; k < s->nvars; k++)
            missing[s->vars[k]] = !l->down[i];
    }
    return true;
}

/* The one self call, in the branch itself. */
static bool find_call(Linear *l)
{
    l->exit = tail_stmt(l->fn->body);
    if (!l->exit || l->exit->kind != CORE_IF)
        return false;
    CoreBlock *branches[] = {l->exit->if_.then_b, l->exit->if_.else_b};
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t i = 0; i < branches[k]->stmts.n; i++) {
            const CoreStmt *s = branches[k]->stmts.at[i];
            if (s->kind != CORE_CALL || s->call.fn != l->fn)
                continue;
            l->again = branches[k];
            l->leave = branches[1 - k];
            l->call_at = i;
            return true;
        }
    return false;
}

static bool is_linear(Linear *l)
{
    if (!find_call(l) || !may_repeat(l))
        return false;
    const CoreMakers m = core_makers_of(l->fn, l->scratch);
    const CoreStmt *call = l->again->stmts.at[l->call_at];
    l->steps = arena_array(l->scratch, Step, l->fn->nparams + 1);
    for (uint32_t i = 0; i < l->fn->nparams; i++) {
        if (!find_step(l, &m, i, call->call.args[i]))
            return false;
        l->nsteps += l->steps[i].kind != STEP_NONE;
    }
    return l->nsteps > 0;
}

/* ---- the loops ---- */

static CoreAtom new_param(const Linear *l, uint32_t i)
{
    return core_var_atom(l->params[i], core_var_type(l->fn, l->params[i]));
}

/* A map in which the old parameters have the values that this state stands for. */
static CoreAtom *enter_level(Linear *l, const CoreAtom *state)
{
    CoreAtom *map = core_identity_map(l->scratch, l->fn);
    for (uint32_t i = 0, at = 0; i < l->fn->nparams; i++) {
        const CoreAtom p = new_param(l, i);
        CoreAtom *value = &map[l->fn->params[i]];
        *value = p;
        if (l->steps[i].kind == STEP_ADD || l->steps[i].kind == STEP_DIVIDE)
            *value = state[at];
        if (l->steps[i].kind == STEP_CUT)
            *value = build_piece(&l->b, p, state[at], build_prim2(&l->b, PRIM_SUB, build_length(&l->b, p), state[at]));
        at += l->steps[i].kind != STEP_NONE;
    }
    return map;
}

/* Copies statements [from, to) of the block. */
static void copy_stmts(Linear *l, const CoreBlock *b, uint32_t from, uint32_t to, CoreAtom *map)
{
    CoreBlock part = {.nresults = 0};
    for (uint32_t i = from; i < to; i++)
        core_push(l->p, &part, b->stmts.at[i]);
    build_copy(&l->b, l->fn, &part, map);
}

static void copy_front(Linear *l, CoreAtom *map) /* S */
{
    copy_stmts(l, l->fn->body, 0, l->fn->body->stmts.n - 1, map);
}

static CoreAtom value_of(const CoreAtom *map, CoreAtom a) { return a.is_const ? a : map[a.var]; }

static CoreAtom *values_of(const Linear *l, const CoreAtom *map, const CoreBlock *b, uint32_t room)
{
    CoreAtom *values = arena_array(l->p->arena, CoreAtom, b->nresults + (size_t)room + 1);
    for (uint32_t i = 0; i < b->nresults; i++)
        values[i] = value_of(map, b->results[i]);
    return values;
}

/* The state one level further down. */
static void step_down(Linear *l, const CoreAtom *state, CoreAtom *next)
{
    for (uint32_t i = 0, at = 0; i < l->fn->nparams; i++)
        if (l->steps[i].kind != STEP_NONE) {
            next[at] = build_prim2(&l->b, l->steps[i].op, state[at], l->steps[i].by);
            at++;
        }
}

/* A loop, not emitted yet, with these inits; its parameters as atoms. */
static CoreStmt *new_loop(Linear *l, const CoreAtom *inits, uint32_t n, CoreAtom **state)
{
    CoreType *types = arena_array(l->p->arena, CoreType, n + 1);
    for (uint32_t i = 0; i < n; i++)
        types[i] = core_atom_type(l->fn, inits[i]);
    CoreStmt *s = build_stmt(&l->b, CORE_LOOP, n, types);
    s->loop.nparams = n;
    s->loop.inits = build_atoms_copy(&l->b, inits, n, n);
    s->loop.params = arena_array(l->p->arena, CoreVar, n + 1);
    s->loop.index = CORE_NO_VAR;
    s->loop.count = core_i64(0);
    *state = arena_array(l->p->arena, CoreAtom, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        (*state)[i] = build_var(&l->b, types[i], NULL);
        s->loop.params[i] = (*state)[i].var;
    }
    return s;
}

/* The parameter in so many calls from the outermost one on: divided as often, anew. */
static CoreAtom divided(Linear *l, uint32_t i, CoreAtom level)
{
    CoreAtom x = new_param(l, i), *state;
    const CoreAtom times = build_prim2(&l->b, PRIM_MIN, level, core_i64(MOST_DIVIDED));
    CoreStmt *s = new_loop(l, &x, 1, &state);
    s->loop.index = build_var(&l->b, core_scalar(SC_I64), NULL).var;
    s->loop.count = times;
    CoreBlock *outer = build_begin(&l->b);
    x = build_prim2(&l->b, l->steps[i].op, state[0], l->steps[i].by);
    s->loop.body = build_end(&l->b, outer, &x, 1);
    build_emit(&l->b, s);
    return build_atom(&l->b, s->vars[0]);
}

/* The state one level further up, where there are `level` calls around. */
static void step_up(Linear *l, const CoreAtom *state, CoreAtom level, CoreAtom *next)
{
    for (uint32_t i = 0, at = 0; i < l->fn->nparams; i++) {
        const Step *step = &l->steps[i];
        if (step->kind == STEP_NONE)
            continue;
        const CorePrim back = step->op == PRIM_ADD ? PRIM_SUB : PRIM_ADD;
        next[at] = step->kind == STEP_DIVIDE ? divided(l, i, level) : build_prim2(&l->b, back, state[at], step->by);
        at++;
    }
}

/* Down: the loop's results are the state of the innermost call, and how many there are around it. */
static CoreAtom *build_descent(Linear *l)
{
    CoreBuilder *b = &l->b;
    CoreAtom *inits = arena_array(l->scratch, CoreAtom, l->nsteps + 1), *state;
    for (uint32_t i = 0, at = 0; i < l->fn->nparams; i++)
        if (l->steps[i].kind != STEP_NONE)
            inits[at++] = l->steps[i].kind == STEP_CUT ? core_i64(0) : new_param(l, i);
    inits[l->nsteps] = core_i64(0);
    CoreStmt *s = new_loop(l, inits, l->nsteps + 1, &state);

    CoreBlock *outer = build_begin(b);
    CoreAtom *map = enter_level(l, state);
    copy_front(l, map);
    CoreAtom again = value_of(map, l->exit->if_.cond);
    again = l->again == l->exit->if_.then_b ? again : build_prim1(b, PRIM_NOT, again);
    s->loop.cond = build_end(b, outer, &again, 1);

    build_begin(b);
    map = enter_level(l, state);
    copy_front(l, map);
    for (uint32_t i = 0; i < l->call_at; i++)
        if (l->down[i])
            copy_stmts(l, l->again, i, i + 1, map);
    const CoreAtom depth = state[l->nsteps], most = core_i64(DP_MOST_ROUNDS);
    build_check(b, core_new_site(l->p, ERR_DEPTH, l->again->stmts.at[l->call_at]->span, NULL),
                build_prim2(b, PRIM_LT, depth, most), NULL, 0);
    CoreAtom *next = arena_array(l->scratch, CoreAtom, l->nsteps + 1);
    step_down(l, state, next);
    next[l->nsteps] = build_prim2(b, PRIM_ADD, depth, core_i64(1));
    s->loop.body = build_end(b, outer, next, l->nsteps + 1);
    build_emit(b, s);
    return build_atoms(b, s->vars, s->nvars);
}

/* Up: from the innermost call's results, the function's. */
static CoreStmt *build_ascent(Linear *l, const CoreAtom *inner)
{
    CoreBuilder *b = &l->b;
    const uint32_t nresults = l->fn->nresults;
    CoreAtom *map = enter_level(l, inner), *state;
    copy_front(l, map);
    copy_stmts(l, l->leave, 0, l->leave->stmts.n, map);
    CoreAtom *inits = values_of(l, map, l->leave, l->nsteps);
    for (uint32_t i = 0; i < l->nsteps; i++)
        inits[nresults + i] = inner[i];
    CoreStmt *s = new_loop(l, inits, nresults + l->nsteps, &state);
    s->loop.index = build_var(b, core_scalar(SC_I64), NULL).var;
    s->loop.count = inner[l->nsteps];

    CoreBlock *outer = build_begin(b);
    CoreAtom *up = arena_array(l->scratch, CoreAtom, l->nsteps + 1);
    const CoreAtom around = build_prim2(b, PRIM_SUB, s->loop.count, core_i64(1));
    const CoreAtom level = build_prim2(b, PRIM_SUB, around, build_atom(b, s->loop.index));
    step_up(l, state + nresults, level, up);
    map = enter_level(l, up);
    copy_front(l, map);
    copy_stmts(l, l->again, 0, l->call_at, map);
    const CoreStmt *call = l->again->stmts.at[l->call_at];
    for (uint32_t k = 0; k < nresults; k++)
        map[call->vars[k]] = state[k];
    copy_stmts(l, l->again, l->call_at + 1, l->again->stmts.n, map);
    CoreAtom *next = values_of(l, map, l->again, l->nsteps);
    for (uint32_t i = 0; i < l->nsteps; i++)
        next[nresults + i] = up[i];
    s->loop.body = build_end(b, outer, next, nresults + l->nsteps);
    build_emit(b, s);
    return s;
}

static void make_loops(Linear *l)
{
    CoreFn *fn = l->fn;
    CoreBuilder *b = &l->b;
    l->params = arena_array(l->p->arena, CoreVar, fn->nparams + 1);
    for (uint32_t i = 0; i < fn->nparams; i++) {
        const CoreVarInfo info = fn->vars.at[fn->params[i]];
        l->params[i] = core_new_var(l->p, fn, info.type, info.hint);
    }
    CoreBlock *none = build_begin(b);
    const CoreAtom *inner = build_descent(l);
    const CoreStmt *ascent = build_ascent(l, inner);
    fn->body = build_end(b, none, build_atoms(b, ascent->vars, fn->nresults), fn->nresults);
    fn->params = l->params;
    fn->recursive = false;
}

void core_linear_loops(CoreProgram *p)
{
    Arena *scratch = arena_create();
    core_refresh(p);
    const CallGraph *g = callgraph_of(p, scratch);
    for (uint32_t i = 0; i < g->n; i++) {
        const CallGraphNode *node = &g->nodes[i];
        Linear l = {.p = p, .fn = node->fn, .scratch = scratch};
        l.b = (CoreBuilder){.p = p, .fn = node->fn, .span = node->fn->span};
        const bool tail = tail_calls(node->fn, node->fn->body) > 0; /* one loop (tail_loops.c) */
        if (node->self_calls == 1 && node->group_size == 1 && !tail && is_linear(&l))
            make_loops(&l);
    }
    arena_destroy(scratch);
}
