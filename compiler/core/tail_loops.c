/* Functions all of whose self calls are tail calls become loops:
 *
 *     rec fn f (p) = { … if c then { -> r } else { … q = call f (e); -> q } … }
 *
 *     fn f (p0) = {
 *       (run, p, res) = loop (run = true, p = p0, res = 0) while run do {
 *         … if c then { -> false, p, r } else { … -> true, e, res } …
 *       }
 *       -> res }
 *
 * The state is: go on?, the parameters, the results; a return leaves the parameters as they are, a call leaves
 * the results. An array that is given takes the place of the parameter that it begins as (`up (heap with …) …` ends
 * with the heap): so nothing else holds it. In the common case of one return in front of all calls, behind little code,
 * the condition itself is the loop's, and the code in front (S) is repeated:
 *
 *     rec fn f (p) = { S; if c then { T -> r } else { U; q = call f (e); -> q } }
 *
 *     fn f (p0) = { p = loop (p = p0) while { S -> not c } do { S; U -> e };  S; T -> r }             */
#include "core/append.h"
#include "core/callgraph.h"
#include "core/passes.h"
#include "core/tail.h"

#include <string.h>

/* ---- tail positions ---- */

CoreStmt *tail_stmt(const CoreBlock *b)
{
    if (b->stmts.n == 0)
        return NULL;
    CoreStmt *s = b->stmts.at[b->stmts.n - 1];
    if (s->nvars != b->nresults)
        return NULL;
    for (uint32_t i = 0; i < s->nvars; i++)
        if (b->results[i].is_const || b->results[i].var != s->vars[i])
            return NULL;
    return s;
}

CoreBlock *tail_choose(CoreBuilder *b, CorePrim op, CoreAtom x, CoreAtom constant, CoreBlock *then_b, CoreBlock *else_b)
{
    CoreBlock *outer = build_begin(b);
    CoreAtom holds = build_prim2(b, op, x, constant);
    return build_end(b, outer, build_if(b, holds, then_b, else_b), then_b->nresults);
}

/* ---- the loop ---- */

typedef struct Looper {
    CoreProgram *p;
    CoreFn *fn;
    CoreBuilder b;   /* of fn */
    uint32_t nstate; /* 1 + parameters + results that have no parameter's place */
    uint32_t *place; /* by result: in the state */
    CoreType *types; /* of the state */
    CoreVar *state;  /* the loop's parameters */
} Looper;

uint32_t tail_calls(const CoreFn *fn, const CoreBlock *b)
{
    const CoreStmt *s = tail_stmt(b);
    if (!s)
        return 0;
    if (s->kind == CORE_IF)
        return tail_calls(fn, s->if_.then_b) + tail_calls(fn, s->if_.else_b);
    return s->kind == CORE_CALL && s->call.fn == fn;
}

static CoreAtom state_atom(const Looper *l, uint32_t i) { return core_var_atom(l->state[i], l->types[i]); }

/* The state from now: run, parameters, results; NULL: as they are. */
static void set_state(Looper *l, CoreBlock *b, bool run, const CoreAtom *params, const CoreAtom *results)
{
    CoreAtom *next = arena_array(l->p->arena, CoreAtom, l->nstate);
    next[0] = core_const(SC_BOOL, run);
    for (uint32_t i = 1; i < l->nstate; i++)
        next[i] = params && i <= l->fn->nparams ? params[i - 1] : state_atom(l, i);
    for (uint32_t i = 0; results && i < l->fn->nresults; i++)
        next[l->place[i]] = results[i];
    b->results = next;
    b->nresults = l->nstate;
}

static void loop_block(Looper *l, CoreBlock *b)
{
    CoreStmt *s = tail_stmt(b);
    if (s && s->kind == CORE_CALL && s->call.fn == l->fn) {
        b->stmts.n--;
        set_state(l, b, true, s->call.args, NULL);
    } else if (s && s->kind == CORE_IF && tail_calls(l->fn, b) > 0) {
        loop_block(l, s->if_.then_b);
        loop_block(l, s->if_.else_b);
        build_fresh(&l->b, s, l->nstate, l->types);
        build_return(&l->b, b, s);
    } else {
        set_state(l, b, false, NULL, b->results);
    }
}

/* ---- which parameter's place ---- */

/* By result: 1 + the parameter that it begins as, or 0. */
static void find_places(const CoreFn *fn, uint32_t *of, const CoreBlock *b, Arena *scratch)
{
    const CoreStmt *s = tail_stmt(b);
    if (s && s->kind == CORE_CALL && s->call.fn == fn)
        return;
    if (s && s->kind == CORE_IF && tail_calls(fn, b) > 0) {
        find_places(fn, of, s->if_.then_b, scratch);
        find_places(fn, of, s->if_.else_b, scratch);
        return;
    }
    for (uint32_t j = 0; j < fn->nresults; j++)
        if (fn->results[j].rank > 0 && of[j] == 0)
            of[j] = (core_param_behind(fn, b->results[j], scratch) + 1) % (fn->nparams + 1);
}

/* Results that begin as a parameter take its place, each another one's. */
static void plan_places(Looper *l)
{
    const CoreFn *fn = l->fn;
    Arena *scratch = arena_create();
    uint32_t *places = arena_array(scratch, uint32_t, fn->nresults + 1);
    bool *taken = arena_array(scratch, bool, fn->nparams + 1);
    find_places(fn, places, fn->body, scratch);
    l->nstate = 1 + fn->nparams;
    l->place = arena_array(l->p->arena, uint32_t, fn->nresults + 1);
    for (uint32_t j = 0; j < fn->nresults; j++) {
        const uint32_t of = places[j];
        const bool takes =
            of > 0 && !taken[of - 1] && core_type_equal(core_var_type(fn, fn->params[of - 1]), fn->results[j]);
        l->place[j] = takes ? of : l->nstate++;
        taken[takes ? of - 1 : fn->nparams] = true;
    }
    arena_destroy(scratch);
}

/* The old parameters become the loop's; the function gets new ones. */
static void plan_state(Looper *l, CoreVar *new_params)
{
    CoreFn *fn = l->fn;
    plan_places(l);
    l->types = arena_array(l->p->arena, CoreType, l->nstate);
    l->state = arena_array(l->p->arena, CoreVar, l->nstate);
    l->types[0] = core_scalar(SC_BOOL);
    l->state[0] = core_new_var(l->p, fn, l->types[0], "run");
    for (uint32_t i = 0; i < fn->nparams; i++) {
        CoreVarInfo info = fn->vars.at[fn->params[i]];
        l->types[1 + i] = info.type;
        l->state[1 + i] = fn->params[i];
        new_params[i] = core_new_var(l->p, fn, info.type, info.hint);
    }
    for (uint32_t i = 0; i < fn->nresults; i++) {
        if (l->place[i] <= fn->nparams)
            continue;
        l->types[l->place[i]] = fn->results[i];
        l->state[l->place[i]] = core_new_var(l->p, fn, fn->results[i], "result");
    }
}

static void make_loop(CoreProgram *p, CoreFn *fn)
{
    Looper l = {.p = p, .fn = fn, .b = {.p = p, .fn = fn, .span = fn->span}};
    CoreVar *params = arena_array(p->arena, CoreVar, fn->nparams + 1);
    CoreBlock *body = fn->body, *none = build_begin(&l.b), *outer = l.b.out;
    plan_state(&l, params);
    CoreStmt *s = build_stmt(&l.b, CORE_LOOP, l.nstate, l.types);
    CoreAtom run = state_atom(&l, 0);
    loop_block(&l, body);
    s->loop.nparams = l.nstate;
    s->loop.params = l.state;
    s->loop.inits = arena_array(p->arena, CoreAtom, l.nstate);
    s->loop.inits[0] = core_const(SC_BOOL, 1);
    for (uint32_t i = 0; i < fn->nparams; i++)
        s->loop.inits[1 + i] = core_var_atom(params[i], l.types[1 + i]);
    for (uint32_t i = 1 + fn->nparams; i < l.nstate; i++)
        s->loop.inits[i] = build_nothing(&l.b, l.types[i]);
    s->loop.index = CORE_NO_VAR;
    s->loop.cond = build_end(&l.b, build_begin(&l.b), &run, 1);
    s->loop.body = body;
    build_emit(&l.b, s);
    CoreAtom *results = arena_array(p->arena, CoreAtom, fn->nresults + 1);
    for (uint32_t i = 0; i < fn->nresults; i++)
        results[i] = build_atom(&l.b, s->vars[l.place[i]]);
    build_end(&l.b, none, results, fn->nresults);
    fn->params = params;
    fn->body = outer;
    fn->recursive = false;
}

/* ---- one return, in front of the calls ---- */

#define MOST_REPEATED 8u

static bool is_simple(const CoreBlock *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        CoreKind k = b->stmts.at[i]->kind;
        if (k != CORE_PRIM && k != CORE_LENGTH && k != CORE_INDEX)
            return false;
    }
    return n <= MOST_REPEATED;
}

/* Does it end with a call, whichever branches it takes? */
static bool only_calls(const CoreFn *fn, const CoreBlock *b)
{
    const CoreStmt *s = tail_stmt(b);
    if (s && s->kind == CORE_IF)
        return only_calls(fn, s->if_.then_b) && only_calls(fn, s->if_.else_b);
    return s && s->kind == CORE_CALL && s->call.fn == fn;
}

/* The `if` at the end of such a body, or NULL. */
static CoreStmt *single_exit(const CoreFn *fn)
{
    CoreStmt *s = tail_stmt(fn->body);
    if (!s || s->kind != CORE_IF || !is_simple(fn->body, fn->body->stmts.n - 1))
        return NULL;
    const bool then_calls = only_calls(fn, s->if_.then_b);
    const CoreBlock *leave = then_calls ? s->if_.else_b : s->if_.then_b;
    return (then_calls || only_calls(fn, s->if_.else_b)) && tail_calls(fn, leave) == 0 ? s : NULL;
}

/* A copy of `front`'s statements but the last, and of all of `back`'s, in which the parameters are `values`. */
static CoreBlock *copy_path(CoreProgram *p, CoreFn *fn, const CoreBlock *front, const CoreBlock *back,
                            const CoreVar *values)
{
    CoreBlock path = {.results = back->results, .nresults = back->nresults};
    Arena *scratch = arena_create();
    CoreAtom *map = core_identity_map(scratch, fn);
    for (uint32_t i = 0; i < fn->nparams; i++)
        map[fn->params[i]] = core_var_atom(values[i], core_var_type(fn, values[i]));
    for (uint32_t i = 0; i + 1 < front->stmts.n; i++)
        core_push(p, &path, front->stmts.at[i]);
    for (uint32_t i = 0; i < back->stmts.n; i++)
        core_push(p, &path, back->stmts.at[i]);
    CoreBlock *copy = core_copy_block(p, fn, fn, &path, map);
    arena_destroy(scratch);
    return copy;
}

/* { S -> c }, or not c */
static CoreBlock *condition_block(CoreProgram *p, CoreFn *fn, const CoreStmt *exit, bool negate)
{
    CoreAtom cond = exit->if_.cond;
    const CoreBlock result = {.results = &cond, .nresults = 1};
    CoreBlock *block = copy_path(p, fn, fn->body, &result, fn->params);
    CoreBuilder b = {.p = p, .fn = fn, .out = block, .span = exit->span};
    if (negate)
        block->results[0] = build_prim1(&b, PRIM_NOT, block->results[0]);
    return block;
}

/* The arguments of the calls that it ends with become what it gives. */
static void give_arguments(CoreBuilder *b, CoreBlock *block, const CoreType *types)
{
    CoreStmt *s = tail_stmt(block);
    if (s->kind == CORE_CALL) {
        block->stmts.n--;
        block->results = s->call.args;
        block->nresults = s->call.nargs;
        return;
    }
    give_arguments(b, s->if_.then_b, types);
    give_arguments(b, s->if_.else_b, types);
    build_fresh(b, s, b->fn->nparams, types);
    build_return(b, block, s);
}

static void make_while(CoreProgram *p, CoreFn *fn, CoreStmt *exit)
{
    bool then_calls = only_calls(fn, exit->if_.then_b);
    CoreBlock *again = then_calls ? exit->if_.then_b : exit->if_.else_b;
    const CoreBlock *leave = then_calls ? exit->if_.else_b : exit->if_.then_b;
    CoreBuilder b = {.p = p, .fn = fn, .span = fn->span};
    CoreStmt *s = build_stmt(&b, CORE_LOOP, 0, NULL);
    CoreVar *params = arena_array(p->arena, CoreVar, fn->nparams + 1);
    CoreType *types = arena_array(p->arena, CoreType, fn->nparams + 1);
    s->loop.nparams = fn->nparams;
    s->loop.inits = arena_array(p->arena, CoreAtom, fn->nparams + 1);
    s->loop.params = fn->params;
    s->loop.index = CORE_NO_VAR;
    for (uint32_t i = 0; i < fn->nparams; i++) {
        CoreVarInfo info = fn->vars.at[fn->params[i]];
        types[i] = info.type;
        params[i] = core_new_var(p, fn, info.type, info.hint);
        s->loop.inits[i] = core_var_atom(params[i], info.type);
    }
    build_fresh(&b, s, fn->nparams, types);
    s->loop.cond = condition_block(p, fn, exit, !then_calls);
    CoreBlock *after = copy_path(p, fn, fn->body, leave, s->vars), *outer = core_new_block(p);
    core_push(p, outer, s);
    for (uint32_t i = 0; i < after->stmts.n; i++)
        core_push(p, outer, after->stmts.at[i]);
    outer->results = after->results;
    outer->nresults = after->nresults;
    give_arguments(&b, again, types);
    CoreBlock *body = s->loop.body = fn->body; /* S, then U instead of the `if` */
    body->stmts.n--;
    for (uint32_t i = 0; i < again->stmts.n; i++)
        core_push(p, body, again->stmts.at[i]);
    body->results = again->results;
    body->nresults = again->nresults;
    fn->params = params;
    fn->body = outer;
    fn->recursive = false;
}

static void make_iterative(CoreProgram *p, CoreFn *fn)
{
    CoreStmt *exit = single_exit(fn);
    if (exit)
        make_while(p, fn, exit);
    else
        make_loop(p, fn);
}

void core_tail_loops(CoreProgram *p)
{
    Arena *scratch = arena_create();
    core_refresh(p);
    const CallGraph *g = callgraph_of(p, scratch);
    callgraph_set_recursive(g);
    for (uint32_t i = 0; i < g->n; i++) {
        const CallGraphNode *node = &g->nodes[i];
        if (node->self_calls > 0 && node->group_size == 1 && tail_calls(node->fn, node->fn->body) == node->self_calls)
            make_iterative(p, node->fn);
    }
    arena_destroy(scratch);
}
