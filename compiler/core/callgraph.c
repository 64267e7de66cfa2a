#include "core/callgraph.h"

/* ---- the graph ---- */

typedef struct Builder {
    Arena *arena;
    CallGraph *g;
    CallGraphNode *node; /* whose body is walked */
    uint32_t depth;      /* of the block that is walked */
    /* Tarjan's algorithm */
    uint32_t *number, *low; /* of visiting, from 1 */
    bool *on_stack;
    VEC(uint32_t) stack;
    uint32_t next_number, next_group, next_order;
} Builder;

static void walk_block(void *ctx, CoreBlock *b)
{
    Builder *w = ctx;
    w->depth++;
    if (w->node->depth < w->depth)
        w->node->depth = w->depth;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        w->node->size++;
        if (s->kind == CORE_CALL) {
            CallGraphNode *callee = &w->g->nodes[s->call.fn->index];
            callee->calls++;
            w->node->self_calls += callee == w->node;
            vec_push(w->arena, &w->node->callees, s->call.fn->index);
        }
        core_stmt_blocks(s, walk_block, w);
    }
    w->depth--;
}

/* All of the stack above and including v is one group. */
static void close_group(Builder *w, uint32_t v)
{
    uint32_t first = w->next_order, member;
    do {
        member = w->stack.at[--w->stack.n];
        w->on_stack[member] = false;
        w->g->nodes[member].group = w->next_group;
        w->g->order[w->next_order++] = member;
    } while (member != v);
    for (uint32_t i = first; i < w->next_order; i++)
        w->g->nodes[w->g->order[i]].group_size = w->next_order - first;
    w->next_group++;
}

static void visit(Builder *w, uint32_t v)
{
    const CallGraphNode *node = &w->g->nodes[v];
    w->number[v] = w->low[v] = ++w->next_number;
    vec_push(w->arena, &w->stack, v);
    w->on_stack[v] = true;
    for (uint32_t i = 0; i < node->callees.n; i++) {
        uint32_t u = node->callees.at[i];
        if (!w->number[u])
            visit(w, u);
        if (w->on_stack[u] && w->low[u] < w->low[v])
            w->low[v] = w->low[u];
    }
    if (w->low[v] == w->number[v])
        close_group(w, v);
}

static void reach(CallGraph *g, uint32_t v)
{
    CallGraphNode *node = &g->nodes[v];
    if (node->reachable)
        return;
    node->reachable = true;
    for (uint32_t i = 0; i < node->callees.n; i++)
        reach(g, node->callees.at[i]);
}

CallGraph *callgraph_of(const CoreProgram *p, Arena *arena)
{
    uint32_t n = p->fns.n;
    CallGraph *g = arena_new(arena, CallGraph);
    *g = (CallGraph){arena_array(arena, CallGraphNode, n + 1), n, arena_array(arena, uint32_t, n + 1)};
    Builder w = {.arena = arena, .g = g};
    w.number = arena_array(arena, uint32_t, n + 1);
    w.low = arena_array(arena, uint32_t, n + 1);
    w.on_stack = arena_array(arena, bool, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        w.node = &g->nodes[i];
        w.node->fn = p->fns.at[i];
        walk_block(&w, p->fns.at[i]->body);
    }
    for (uint32_t i = 0; i < n; i++)
        if (!w.number[i])
            visit(&w, i);
    for (uint32_t i = 0; i < p->entries.n; i++) {
        g->nodes[p->entries.at[i].fn->index].is_entry = true;
        reach(g, p->entries.at[i].fn->index);
    }
    return g;
}

void callgraph_set_recursive(const CallGraph *g)
{
    for (uint32_t i = 0; i < g->n; i++)
        g->nodes[i].fn->recursive = callgraph_recursive(&g->nodes[i]);
}

void core_drop_unreachable(CoreProgram *p)
{
    Arena *scratch = arena_create();
    const CallGraph *g = callgraph_of(p, scratch);
    uint32_t n = p->fns.n;
    if (p->entries.n)
        p->fns.n = 0;
    for (uint32_t i = 0; i < n && p->entries.n; i++)
        if (g->nodes[i].reachable) {
            CoreFn *fn = g->nodes[i].fn;
            fn->index = p->fns.n;
            p->fns.at[p->fns.n++] = fn;
        }
    arena_destroy(scratch);
}

/* ---- calls in a row ---- */

static void count_calls(void *ctx, CoreBlock *b) { *(uint32_t *)ctx += core_calls_in_sequence(b); }

static uint32_t calls_in_stmt(const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_CALL: return s->call.fn->recursive ? 1 : 0;
    case CORE_IF: {
        uint32_t a = core_calls_in_sequence(s->if_.then_b), b = core_calls_in_sequence(s->if_.else_b);
        return a > b ? a : b;
    }
    case CORE_LOOP:
        return (s->loop.cond ? core_calls_in_sequence(s->loop.cond) : 0) + core_calls_in_sequence(s->loop.body);
    default: { /* those of an apply-to-each are made together */
        uint32_t n = 0;
        core_stmt_blocks((CoreStmt *)s, count_calls, &n);
        return n;
    }
    }
}

uint32_t core_calls_in_sequence(const CoreBlock *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        n += calls_in_stmt(b->stmts.at[i]);
    return n;
}

typedef struct ParallelCalls {
    bool parallel, found;
} ParallelCalls;

static void find_parallel_calls(void *ctx, CoreBlock *b)
{
    ParallelCalls *c = ctx, inside;
    for (uint32_t i = 0; i < b->stmts.n && !c->found; i++) {
        CoreStmt *s = b->stmts.at[i];
        inside = (ParallelCalls){c->parallel || core_stmt_soac(s), false};
        core_stmt_blocks(s, find_parallel_calls, &inside);
        c->found = inside.found || (c->parallel && s->kind == CORE_CALL && s->call.fn->recursive);
    }
}

bool core_recurs_together(const CoreFn *fn)
{
    ParallelCalls c = {false, false};
    if (fn->recursive)
        find_parallel_calls(&c, fn->body);
    return c.found || core_joins_calls(fn);
}

/* ---- expanding calls ---- */

typedef struct Replacement {
    bool set;
    CoreAtom by;
} Replacement;

typedef struct Expander {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    ExpandDepth depth;
    ExpandCall *expand;
    void *ctx;
    VEC(Replacement) results; /* by variable: what a call's result became */
} Expander;

static void expand_block(void *ctx, CoreBlock *b);

static void expand_atom(void *ctx, CoreAtom *a)
{
    Expander *e = ctx;
    while (!a->is_const && a->var < e->results.n && e->results.at[a->var].set)
        *a = e->results.at[a->var].by;
}

static void note_result(Expander *e, CoreVar v, CoreAtom by)
{
    while (e->results.n <= v)
        vec_push(e->scratch, &e->results, ((Replacement){0}));
    e->results.at[v] = (Replacement){true, by};
}

static void expand_call(Expander *e, CoreBlock *out, const CoreStmt *s)
{
    const CoreFn *callee = s->call.fn;
    CoreAtom *map = arena_array(e->scratch, CoreAtom, callee->vars.n + 1);
    for (uint32_t i = 0; i < callee->nparams; i++)
        map[callee->params[i]] = s->call.args[i];
    CoreBlock *body = core_copy_block(e->p, e->fn, callee, callee->body, map);
    if (e->depth == EXPAND_ALL)
        expand_block(e, body);
    for (uint32_t i = 0; i < body->stmts.n; i++)
        core_push(e->p, out, body->stmts.at[i]);
    for (uint32_t i = 0; i < s->nvars; i++)
        note_result(e, s->vars[i], body->results[i]);
}

static void expand_block(void *ctx, CoreBlock *b)
{
    Expander *e = ctx;
    CoreBlock old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        core_stmt_atoms(s, expand_atom, e);
        if (s->kind == CORE_CALL && e->expand(e->ctx, s->call.fn)) {
            expand_call(e, b, s);
            continue;
        }
        core_stmt_blocks(s, expand_block, e);
        core_push(e->p, b, s);
    }
    for (uint32_t i = 0; i < b->nresults; i++)
        expand_atom(e, &b->results[i]);
}

void core_expand_calls(CoreProgram *p, CoreFn *fn, ExpandDepth depth, ExpandCall *expand, void *ctx)
{
    Expander e = {.p = p, .fn = fn, .scratch = arena_create(), .depth = depth, .expand = expand, .ctx = ctx};
    expand_block(&e, fn->body);
    arena_destroy(e.scratch);
}

/* ---- which functions are called in parallel code, and which by the host ---- */

typedef struct Calls {
    bool *called;
    bool parallel, changed;
} Calls;

static void calls_in_block(void *ctx, CoreBlock *b)
{
    Calls *c = ctx;
    bool outer = c->parallel;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        if (s->kind == CORE_CALL && !c->called[s->call.fn->index] && (c->parallel || core_joins_calls(s->call.fn)))
            c->called[s->call.fn->index] = c->changed = true;
        c->parallel = outer || core_stmt_soac(s);
        core_stmt_blocks(s, calls_in_block, c);
        c->parallel = outer;
    }
}

const bool *core_lifted_functions(const CoreProgram *p, Arena *scratch)
{
    Calls c = {.called = arena_array(scratch, bool, p->fns.n + 1), .changed = true};
    while (c.changed) {
        c.changed = false;
        for (uint32_t i = 0; i < p->fns.n; i++) {
            c.parallel = c.called[i];
            calls_in_block(&c, p->fns.at[i]->body);
        }
    }
    return c.called;
}

static void host_calls(void *ctx, CoreBlock *b)
{
    Calls *c = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        if (s->kind == CORE_CALL && !core_joins_calls(s->call.fn) && !c->called[s->call.fn->index])
            c->called[s->call.fn->index] = c->changed = true;
        if (!core_stmt_soac(s))
            core_stmt_blocks(s, host_calls, c);
    }
}

const bool *core_host_functions(const CoreProgram *p, Arena *scratch)
{
    Calls c = {.called = arena_array(scratch, bool, p->fns.n + 1), .changed = true};
    for (uint32_t i = 0; i < p->entries.n; i++)
        c.called[p->entries.at[i].fn->index] = true;
    while (c.changed) {
        c.changed = false;
        for (uint32_t i = 0; i < p->fns.n; i++)
            if (c.called[i])
                host_calls(&c, p->fns.at[i]->body);
    }
    return c.called;
}

void core_each_host_function(CoreProgram *p, void (*f)(CoreProgram *p, CoreFn *fn, Arena *scratch))
{
    Arena *scratch = arena_create();
    const bool *lifted = core_lifted_functions(p, scratch);
    for (uint32_t i = 0; i < p->fns.n; i++)
        if (!lifted[i])
            f(p, p->fns.at[i], scratch);
    arena_destroy(scratch);
}
