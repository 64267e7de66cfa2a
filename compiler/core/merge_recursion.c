/* Mutually recursive groups become one function:
 *
 *     rec fn even (n: i64) : bool                rec fn even+odd (tag: u8, n: i64) : bool
 *     rec fn odd  (n: i64) : bool                  = if tag < 1 then even's body else odd's body
 *
 * where a call of odd is a call with tag 1 (u16 or u32 where members are many). Members share parameters and results of
 * equal types ("slots"): each takes the first slots of its types, in order; the rest is zero or empty. As a tail call
 * returns the caller's types, it returns them in the caller's slots, and stays a tail call.
 *
 * Before that, members that are small or called once, and do not call themselves, go into their callers:
 * often one function is left, calling itself. */
#include "core/callgraph.h"
#include "core/passes.h"
#include "core/tail.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_MEMBER 40u
#define MOST_GROWTH 2000u /* statements that dissolving members may add to the program in all */
#define MOST_DEPTH 1000u  /* of the blocks that it nests: passes recurse over them */
#define MOST_NAMED 4u     /* members whose names are in the merged function's */

/* ---- fewer members ---- */

typedef struct Dissolver {
    const CallGraph *g;
    bool *chosen;    /* by function: goes into its callers in this round */
    bool *called;    /* by function: a chosen one calls it */
    uint64_t growth; /* of the program, so far */
} Dissolver;

static bool is_chosen(void *ctx, const CoreFn *callee)
{
    const Dissolver *d = ctx;
    return d->chosen[callee->index];
}

static uint64_t growth_of(const CallGraphNode *n) { return n->calls ? (uint64_t)n->size * (n->calls - 1) : 0; }

static int by_growth(const void *a, const void *b)
{
    const CallGraphNode *x = *(const CallGraphNode *const *)a, *y = *(const CallGraphNode *const *)b;
    uint64_t m = growth_of(x), n = growth_of(y);
    return m != n ? (m < n ? -1 : 1) : x->fn->index < y->fn->index ? -1 : x->fn->index > y->fn->index;
}

static bool calls_chosen(const Dissolver *d, const CallGraphNode *n)
{
    for (uint32_t i = 0; i < n->callees.n; i++)
        if (d->chosen[n->callees.at[i]])
            return true;
    return false;
}

/* No two of one round call each other: so what is copied has no call that is to be replaced, and is counted right. */
static bool may_dissolve(const Dissolver *d, const CallGraphNode *n)
{
    return n->group_size > 1 && n->self_calls == 0 && !n->is_entry && n->reachable &&
           (n->calls == 1 || n->size <= SMALL_MEMBER) && n->depth <= MOST_DEPTH &&
           d->growth + growth_of(n) <= MOST_GROWTH && !d->called[n->fn->index] && !calls_chosen(d, n);
}

static bool choose_members(Dissolver *d, Arena *scratch)
{
    const CallGraphNode **order = arena_array(scratch, const CallGraphNode *, d->g->n + 1);
    bool any = false;
    for (uint32_t i = 0; i < d->g->n; i++)
        order[i] = &d->g->nodes[i];
    qsort(order, d->g->n, sizeof *order, by_growth);
    for (uint32_t i = 0; i < d->g->n; i++) {
        const CallGraphNode *n = order[i];
        if (!may_dissolve(d, n))
            continue;
        any = d->chosen[n->fn->index] = true;
        d->growth += growth_of(n);
        for (uint32_t j = 0; j < n->callees.n; j++)
            d->called[n->callees.at[j]] = true;
    }
    return any;
}

/* One round: inlines as many members as may go at once. False if there are none. */
static bool dissolve_members(CoreProgram *p, uint64_t *growth)
{
    Arena *scratch = arena_create();
    Dissolver d = {.g = callgraph_of(p, scratch), .growth = *growth};
    d.chosen = arena_array(scratch, bool, p->fns.n + 1);
    d.called = arena_array(scratch, bool, p->fns.n + 1);
    bool any = choose_members(&d, scratch);
    for (uint32_t i = 0; i < d.g->n && any; i++)
        if (calls_chosen(&d, &d.g->nodes[i]))
            core_expand_calls(p, d.g->nodes[i].fn, EXPAND_ONCE, is_chosen, &d);
    *growth = d.growth;
    arena_destroy(scratch);
    if (any)
        core_drop_unreachable(p);
    return any;
}

/* ---- slots ---- */

/* The slot of each of the n types: the first of that type that is free. Adds slots where there is none. */
static void assign_slots(Arena *a, CoreTypes *slots, const CoreType *types, uint32_t n, uint32_t *slot_of)
{
    bool *taken = arena_array(a, bool, slots->n + n + 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t s = 0;
        while (s < slots->n && (taken[s] || !core_type_equal(slots->at[s], types[i])))
            s++;
        if (s == slots->n)
            vec_push(a, slots, types[i]);
        taken[s] = true;
        slot_of[i] = s;
    }
}

typedef struct Member {
    CoreFn *fn;
    bool is_entry;
    uint32_t *param_slots, *result_slots;
} Member;

typedef struct Group {
    CoreProgram *p;
    Arena *scratch;
    VEC(Member) members;
    CoreTypes params, results; /* slots; the tag is not among them */
    Scalar tag;                /* the type of the number that says which member */
    const uint32_t *member_at; /* by CoreFn.index: 1 + position in members, or 0 */
    uint32_t nfns;             /* entries of member_at */
    CoreFn *merged;
    CoreFn *fn; /* whose calls are being rewritten */
} Group;

static const Member *member_of(const Group *g, const CoreFn *fn)
{
    uint32_t at = fn->index < g->nfns ? g->member_at[fn->index] : 0;
    return at ? &g->members.at[at - 1] : NULL;
}

static CoreAtom tag_of(const Group *g, const Member *m) { return core_const(g->tag, (uint64_t)(m - g->members.at)); }

static void plan_slots(Group *g)
{
    for (uint32_t i = 0; i < g->members.n; i++) {
        Member *m = &g->members.at[i];
        CoreType *types = arena_array(g->scratch, CoreType, m->fn->nparams + 1);
        for (uint32_t j = 0; j < m->fn->nparams; j++)
            types[j] = core_var_type(m->fn, m->fn->params[j]);
        m->param_slots = arena_array(g->scratch, uint32_t, m->fn->nparams + 1);
        m->result_slots = arena_array(g->scratch, uint32_t, m->fn->nresults + 1);
        assign_slots(g->scratch, &g->params, types, m->fn->nparams, m->param_slots);
        assign_slots(g->scratch, &g->results, m->fn->results, m->fn->nresults, m->result_slots);
    }
}

static CoreBuilder builder(const Group *g, CoreFn *fn, CoreBlock *out, Span span)
{
    return (CoreBuilder){.p = g->p, .fn = fn, .out = out, .span = span};
}

/* ---- calls ---- */

/* Turns `s`, which calls a member, into a call of the merged function; what the arguments need goes to the end
 * of `before`. */
static void redirect_call(Group *g, CoreBlock *before, CoreStmt *s)
{
    uint32_t nargs = 1 + g->params.n;
    const Member *m = member_of(g, s->call.fn);
    CoreAtom *args = arena_array(g->p->arena, CoreAtom, nargs);
    bool *given = arena_array(g->scratch, bool, nargs);
    const CoreVar *vars = s->vars;
    CoreBuilder b = builder(g, g->fn, before, s->span);
    args[0] = tag_of(g, m);
    for (uint32_t i = 0; i < s->call.nargs; i++) {
        args[1 + m->param_slots[i]] = s->call.args[i];
        given[1 + m->param_slots[i]] = true;
    }
    for (uint32_t i = 1; i < nargs; i++)
        if (!given[i])
            args[i] = build_nothing(&b, g->params.at[i - 1]);
    uint32_t nvars = s->nvars;
    build_fresh(&b, s, g->results.n, g->results.at);
    for (uint32_t i = 0; i < nvars; i++)
        s->vars[m->result_slots[i]] = vars[i];
    s->call.fn = g->merged;
    s->call.args = args;
    s->call.nargs = nargs;
}

static void redirect_block(void *ctx, CoreBlock *b)
{
    Group *g = ctx;
    CoreBlock old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        if (s->kind == CORE_CALL && member_of(g, s->call.fn))
            redirect_call(g, b, s);
        core_stmt_blocks(s, redirect_block, g);
        core_push(g->p, b, s);
    }
}

/* ---- bodies ---- */

/* From a member's results to all slots. In tail position the slots are handed through. */
static void widen_block(Group *g, CoreBlock *b, const Member *m)
{
    CoreStmt *s = tail_stmt(b);
    CoreBuilder at = builder(g, g->fn, b, g->fn->span);
    if (s && s->kind == CORE_CALL && member_of(g, s->call.fn)) {
        b->stmts.n--;
        redirect_call(g, b, s);
        core_push(g->p, b, s);
        build_return(&at, b, s);
    } else if (s && s->kind == CORE_IF) {
        widen_block(g, s->if_.then_b, m);
        widen_block(g, s->if_.else_b, m);
        build_fresh(&at, s, g->results.n, g->results.at);
        build_return(&at, b, s);
    } else {
        CoreAtom *results = arena_array(g->p->arena, CoreAtom, g->results.n + 1);
        bool *given = arena_array(g->scratch, bool, g->results.n + 1);
        for (uint32_t i = 0; i < b->nresults; i++) {
            results[m->result_slots[i]] = b->results[i];
            given[m->result_slots[i]] = true;
        }
        for (uint32_t i = 0; i < g->results.n; i++)
            if (!given[i])
                results[i] = build_nothing(&at, g->results.at[i]);
        b->results = results;
        b->nresults = g->results.n;
    }
}

static CoreBlock *member_body(Group *g, const Member *m)
{
    CoreAtom *map = arena_array(g->scratch, CoreAtom, m->fn->vars.n + 1);
    for (uint32_t i = 0; i < m->fn->nparams; i++) {
        CoreVar v = g->merged->params[1 + m->param_slots[i]];
        map[m->fn->params[i]] = core_var_atom(v, core_var_type(g->merged, v));
    }
    CoreBlock *b = core_copy_block(g->p, g->merged, m->fn, m->fn->body, map);
    widen_block(g, b, m);
    return b;
}

/* Members first .. first + n:  if tag < middle then (those before the middle) else (the others) */
static CoreBlock *dispatch(Group *g, uint32_t first, uint32_t n)
{
    if (n == 1)
        return member_body(g, &g->members.at[first]);
    uint32_t middle = first + n / 2;
    CoreAtom tag = core_var_atom(g->merged->params[0], core_scalar(g->tag));
    CoreBlock *low = dispatch(g, first, middle - first), *high = dispatch(g, middle, first + n - middle);
    CoreBuilder b = builder(g, g->merged, NULL, g->merged->span);
    return tail_choose(&b, PRIM_LT, tag, tag_of(g, &g->members.at[middle]), low, high);
}

static const char *merged_name(const Group *g)
{
    const char *name = g->members.at[0].fn->name;
    uint32_t n = g->members.n;
    for (uint32_t i = 1; i < n && i < MOST_NAMED; i++)
        name = arena_printf(g->p->arena, "%s+%s", name, g->members.at[i].fn->name);
    return n > MOST_NAMED ? arena_printf(g->p->arena, "%s+%u", name, n - MOST_NAMED) : name;
}

static void make_merged(Group *g)
{
    const CoreFn *first = g->members.at[0].fn;
    CoreFn *fn = arena_new(g->p->arena, CoreFn);
    *fn = (CoreFn){.name = merged_name(g), .index = g->p->fns.n, .recursive = true, .span = first->span};
    vec_push(g->p->arena, &g->p->fns, fn);
    g->merged = g->fn = fn;
    fn->nparams = 1 + g->params.n;
    fn->params = arena_array(g->p->arena, CoreVar, fn->nparams);
    fn->params[0] = core_new_var(g->p, fn, core_scalar(g->tag), "tag");
    for (uint32_t i = 0; i < g->params.n; i++)
        fn->params[1 + i] = core_new_var(g->p, fn, g->params.at[i], NULL);
    fn->nresults = g->results.n;
    fn->results = arena_array(g->p->arena, CoreType, g->results.n + 1);
    for (uint32_t i = 0; i < g->results.n; i++)
        fn->results[i] = g->results.at[i];
    fn->body = dispatch(g, 0, g->members.n);
}

/* An entry keeps its function: it calls the merged one. */
static void make_wrapper(Group *g, const Member *m)
{
    CoreFn *fn = m->fn;
    CoreBuilder b = builder(g, fn, NULL, fn->span);
    CoreBlock *none = build_begin(&b);
    CoreAtom *results = build_call(&b, fn, build_atoms(&b, fn->params, fn->nparams));
    fn->body = build_end(&b, none, results, fn->nresults);
}

static void merge(CoreProgram *p, const CallGraph *graph, uint32_t group)
{
    Group g = {.p = p, .scratch = arena_create(), .nfns = graph->n};
    uint32_t first_new = p->fns.n, *member_at = arena_array(g.scratch, uint32_t, graph->n + 1);
    for (uint32_t i = 0; i < graph->n; i++)
        if (graph->nodes[i].group == group) {
            vec_push(g.scratch, &g.members, ((Member){.fn = graph->nodes[i].fn, .is_entry = graph->nodes[i].is_entry}));
            member_at[i] = g.members.n;
        }
    g.member_at = member_at;
    g.tag = core_tag_type(g.members.n);
    plan_slots(&g);
    make_merged(&g);
    for (uint32_t i = 0; i < g.members.n; i++)
        make_wrapper(&g, &g.members.at[i]);
    for (uint32_t i = 0; i <= first_new; i++) {
        g.fn = p->fns.at[i];
        redirect_block(&g, g.fn->body);
    }
    arena_destroy(g.scratch);
}

void core_merge_recursion(CoreProgram *p)
{
    core_refresh(p);
    uint64_t growth = 0;
    while (dissolve_members(p, &growth))
        continue;
    Arena *scratch = arena_create();
    const CallGraph *g = callgraph_of(p, scratch);
    bool *merged = arena_array(scratch, bool, g->n + 1);
    for (uint32_t i = 0; i < g->n; i++) {
        const CallGraphNode *node = &g->nodes[i];
        if (node->group_size > 1 && !merged[node->group]) {
            merged[node->group] = true;
            merge(p, g, node->group);
        }
    }
    core_drop_unreachable(p);
    callgraph_set_recursive(callgraph_of(p, scratch));
    arena_destroy(scratch);
}
