/* Counted loops whose rounds are one map over their state go into that map:
 *
 *     xs = loop (xs = init) for k < t do { B; ys = map n at i (x <- xs, w <- ws) { F -> y }; -> ys }
 *   ==>
 *     xs = map n at i (x0 <- init) { x = loop (x = x0) for k < t do { B; w = ws[i]; F -> y }; -> x }
 *
 * where n is the same in all rounds, and of the state F has its own elements only; ws that B does not make is gone
 * over, too. So the steps of many points, each by itself, are one operation instead of one a step, and what a step
 * hands on stays in a register. B, what rounds compute beside the map, is repeated for each element: it is cheap, and
 * cannot fail. Outside parallel code F may be anything but a call: flattened, a map of such loops is that loop of maps
 * again, and lanes may have the loop as a whole. In parallel code F is scalar, or one map, of which the same is to be
 * said; arrays of few elements stay there, as they become tuples (few_elements.c). */
#include "core/build.h"
#include "core/passes.h"
#include "core/simplify_internal.h"

enum { MOST_BESIDE = 8, FEW = 8 };

typedef struct Inside {
    CoreProgram *p;
    CoreFn *fn;
    CoreBuilder b;
    Arena *scratch;
    CoreCopyMap copies;
    uint32_t nest;
    /* By input of the map: its element in all rounds. A constant: it is the state's, or another in each round. */
    const CoreAtom *given;
    bool changed;
} Inside;

/* ---- which ---- */

/* What a round, or its part for one element, hands on: these variables become the block's results. */
typedef struct Round {
    const CoreVar *state;
    uint32_t n;
    CoreBlock *block;
} Round;

static bool is_state(void *round, CoreAtom a)
{
    const Round *r = round;
    uint32_t i = 0;
    while (i < r->n && (a.is_const || r->state[i] != a.var))
        i++;
    return i < r->n;
}

/* Which input is it; or ninputs. */
static uint32_t input_number(const CoreSoac *soac, CoreVar v)
{
    uint32_t i = 0;
    while (i < soac->ninputs && soac->inputs[i].var != v)
        i++;
    return i;
}

static void look_for_calls(void *calls, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n && !*(bool *)calls; i++) {
        *(bool *)calls = b->stmts.at[i]->kind == CORE_CALL;
        core_stmt_blocks(b->stmts.at[i], look_for_calls, calls);
    }
}

static void look_at_code(void *simple, CoreBlock *b);

/* Scalar code, but for arrays of few elements. */
static bool is_simple(CoreStmt *s)
{
    const CoreSoac *soac = core_stmt_soac(s);
    bool simple = s->kind == CORE_IF || s->kind == CORE_LOOP || core_stmt_is_scalar(s);
    if (s->kind == CORE_ARRAY)
        simple = s->array.n <= FEW;
    else if (soac)
        simple = (s->kind == CORE_MAP || s->kind == CORE_REDUCE) && soac->domain.is_const && soac->domain.bits <= FEW;
    if (simple && s->kind != CORE_LANE)
        core_stmt_blocks(s, look_at_code, &simple);
    return simple;
}

static void look_at_code(void *simple, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n && *(bool *)simple; i++)
        *(bool *)simple = is_simple(b->stmts.at[i]);
}

/* The one map of the round, which makes the state; but for what becomes another part of it. */
static const CoreStmt *find_map(const Inside *in, Round *r)
{
    const CoreBlock *body = r->block;
    const CoreStmt *map = NULL;
    for (uint32_t i = 0; i < r->n && !map; i++)
        map = core_block_def(body, body->results[i]);
    if (!map || map->kind != CORE_MAP || map->soac.guard || body->stmts.n > MOST_BESIDE)
        return NULL;
    for (uint32_t i = 0; i < body->stmts.n; i++) {
        CoreStmt *s = body->stmts.at[i];
        if (s != map && (!simplify_is_light(in->p, in->fn, s) || core_stmt_reads(s, is_state, r)))
            return NULL;
    }
    for (uint32_t i = 0; i < r->n; i++) {
        const bool made = core_block_def(body, body->results[i]) == map || is_state(r, body->results[i]);
        if (!made || input_number(&map->soac, r->state[i]) == map->soac.ninputs)
            return NULL;
    }
    return map;
}

/* Has each element of the state to do with itself only, in a map over so many in all rounds? Their elements may be rows
 * of which the same is to be said. */
static bool fits(const Inside *in, Round *r, const CoreStmt *map, CoreVar k)
{
    const CoreSoac *soac = &map->soac;
    const CoreAtom n = soac->domain;
    bool simple = true, calls = false;
    if (!n.is_const && (n.var == k || is_state(r, n) || core_block_def(r->block, n)))
        return false;
    if ((in->nest > 0 && n.is_const && n.bits <= FEW) || core_block_reads(soac->body, is_state, r))
        return false;
    look_at_code(&simple, soac->body);
    look_for_calls(&calls, soac->body);
    if (simple || (in->nest == 0 && !calls))
        return true;
    CoreVar *elements = arena_array(in->scratch, CoreVar, r->n + 1);
    for (uint32_t i = 0; i < r->n; i++)
        elements[i] = soac->elements[input_number(soac, r->state[i])];
    Round inner = {elements, r->n, soac->body};
    const CoreStmt *rows = find_map(in, &inner);
    return rows && fits(in, &inner, rows, k);
}

/* ---- the other way around ---- */

/* The elements that the map's body gets of arrays, in a round. */
static void enter(Inside *in, const CoreStmt *loop, const CoreSoac *soac, CoreAtom i, const CoreVar *state)
{
    for (uint32_t j = 0; j < soac->ninputs; j++) {
        const CoreAtom xs = soac->inputs[j];
        uint32_t k = 0;
        while (k < loop->loop.nparams && loop->loop.params[k] != xs.var)
            k++;
        in->copies.at[soac->elements[j]] = k < loop->loop.nparams ? build_atom(&in->b, state[k])
                                           : !in->given[j].is_const
                                               ? in->given[j]
                                               : build_index(&in->b, in->copies.at[xs.var], i, CORE_NO_SITE);
    }
    if (soac->index != CORE_NO_VAR)
        in->copies.at[soac->index] = i;
}

/* B and F, for element i. */
static CoreBlock *round_of(Inside *in, const CoreStmt *loop, const CoreStmt *map, CoreAtom i, const CoreVar *state,
                           CoreAtom k)
{
    CoreBuilder *b = &in->b;
    const CoreBlock *body = loop->loop.body;
    CoreBlock *outer = build_begin(b), beside = {0};
    CoreAtom *next = arena_array(in->p->arena, CoreAtom, body->nresults + 1);
    core_copy_map_note(&in->copies, in->fn, in->scratch);
    if (loop->loop.index != CORE_NO_VAR)
        in->copies.at[loop->loop.index] = k;
    for (uint32_t j = 0; j < body->stmts.n; j++)
        if (body->stmts.at[j] != map)
            core_push(in->p, &beside, body->stmts.at[j]);
    build_copy(b, in->fn, &beside, in->copies.at);
    enter(in, loop, &map->soac, i, state);
    const CoreAtom *made = build_copy(b, in->fn, map->soac.body, in->copies.at);
    for (uint32_t j = 0; j < body->nresults; j++) {
        for (uint32_t l = 0; l < map->nvars; l++)
            if (body->results[j].var == map->vars[l])
                next[j] = made[l];
        for (uint32_t l = 0; l < loop->loop.nparams; l++)
            if (body->results[j].var == loop->loop.params[l])
                next[j] = build_atom(b, state[l]);
    }
    core_copy_map_forget(&in->copies, in->fn, (CoreStmt *)(uintptr_t)loop);
    return build_end(b, outer, next, body->nresults);
}

/* How the map calls the elements of this state. */
static const char *hint_of(const Inside *in, const CoreStmt *map, CoreVar state)
{
    return in->fn->vars.at[map->soac.elements[input_number(&map->soac, state)]].hint;
}

static CoreStmt *new_loop(Inside *in, const CoreStmt *loop, const CoreStmt *map, CoreAtom i, const CoreAtom *begin)
{
    CoreBuilder *b = &in->b;
    const uint32_t n = loop->loop.nparams;
    CoreType *types = arena_array(in->p->arena, CoreType, n + 1);
    for (uint32_t j = 0; j < n; j++)
        types[j] = core_element(core_var_type(in->fn, loop->vars[j]));
    CoreStmt *to = build_stmt(b, CORE_LOOP, n, types);
    const CoreAtom k = build_var(b, core_scalar(SC_I64), NULL);
    to->loop = loop->loop;
    to->site = loop->site;
    to->loop.index = loop->loop.index == CORE_NO_VAR ? CORE_NO_VAR : k.var;
    to->loop.params = arena_array(in->p->arena, CoreVar, n + 1);
    to->loop.inits = build_atoms_copy(b, begin, n, n);
    for (uint32_t j = 0; j < n; j++)
        to->loop.params[j] = build_var(b, types[j], hint_of(in, map, loop->loop.params[j])).var;
    to->loop.body = round_of(in, loop, map, i, to->loop.params, k);
    return to;
}

/* The map goes over what its rounds begin with, and over what they all go over. */
static void go_over(Inside *in, CoreSoac *soac, const CoreStmt *loop, const CoreStmt *map)
{
    CoreBuilder *b = &in->b;
    const uint32_t n = loop->loop.nparams, all = n + map->soac.ninputs;
    CoreAtom *given = arena_array(in->scratch, CoreAtom, all + 1);
    soac->inputs = build_atoms_copy(b, loop->loop.inits, all, n);
    soac->elements = arena_array(in->p->arena, CoreVar, all + 1);
    soac->ninputs = n;
    for (uint32_t j = 0; j < n; j++)
        soac->elements[j] =
            build_var(b, core_element(core_var_type(in->fn, loop->vars[j])), hint_of(in, map, loop->loop.params[j]))
                .var;
    for (uint32_t j = 0; j < map->soac.ninputs; j++) {
        const CoreAtom xs = map->soac.inputs[j];
        const Round r = {loop->loop.params, n, loop->loop.body};
        given[j] = core_i64(0);
        if (is_state((void *)(uintptr_t)&r, xs) || core_block_def(loop->loop.body, xs))
            continue;
        given[j] = build_var(b, core_var_type(in->fn, map->soac.elements[j]), NULL);
        soac->inputs[soac->ninputs] = xs;
        soac->elements[soac->ninputs++] = given[j].var;
    }
    in->given = given;
}

static CoreStmt *rewritten(Inside *in, const CoreStmt *loop, const CoreStmt *map)
{
    CoreBuilder *b = &in->b;
    b->span = loop->span;
    CoreStmt *to = build_stmt_into(b, CORE_MAP, loop->nvars, loop->vars);
    const CoreAtom i = build_var(b, core_scalar(SC_I64), "i");
    to->soac = (CoreSoac){.domain = map->soac.domain, .index = i.var};
    go_over(in, &to->soac, loop, map);
    CoreBlock *outer = build_begin(b);
    CoreStmt *inner = new_loop(in, loop, map, i, build_atoms(b, to->soac.elements, loop->loop.nparams));
    build_emit(b, inner);
    to->soac.body = build_end(b, outer, build_atoms(b, inner->vars, inner->nvars), inner->nvars);
    in->changed = true;
    return to;
}

/* ---- all of it ---- */

static CoreStmt *look_at_loop(Inside *in, CoreStmt *s)
{
    Round r = {s->loop.params, s->loop.nparams, s->loop.body};
    const CoreStmt *map = find_map(in, &r);
    return map && fits(in, &r, map, s->loop.index) ? rewritten(in, s, map) : s;
}

static void look_at_block(void *ctx, CoreBlock *block)
{
    Inside *in = ctx;
    CoreBlock *outer = in->b.out, old = core_take_stmts(block);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        in->b.out = block;
        if (s->kind == CORE_LOOP && !s->loop.cond)
            s = look_at_loop(in, s);
        core_push(in->p, block, s);
        const bool parallel = core_stmt_soac(s) != NULL;
        in->nest += parallel;
        core_stmt_blocks(s, look_at_block, in);
        in->nest -= parallel;
    }
    in->b.out = outer;
}

bool core_loops_inside(CoreProgram *p)
{
    bool changed = false;
    for (uint32_t i = 0; i < p->fns.n; i++) {
        CoreFn *fn = p->fns.at[i];
        Inside in = {.p = p, .fn = fn, .b = {.p = p, .fn = fn}, .scratch = arena_create()};
        look_at_block(&in, fn->body);
        arena_destroy(in.scratch);
        changed |= in.changed;
    }
    return changed;
}
