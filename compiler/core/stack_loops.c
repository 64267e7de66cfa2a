/* Recursion that is no tail call as a `while` loop with a stack of its own, for a lane that executes it from beginning
 * to end (docs/flattening.md, 12). A function is cut into *points*: its beginning, what comes behind each self call,
 * loops around self calls, and what several branches with self calls go on with. A round of the loop executes one:
 *
 *     rec fn fib (n) = { c = lt n 2;  r = if c then { -> n } else { a = call fib (n - 1); b = call fib (n - 2); s = add
 * a b; -> s };  -> r }
 *
 *     pc, depth, r0, stack = loop (pc = 0, depth = 1, r0 = n, stack) while pc != END && depth < capacity do {
 *       point 0:  if lt r0 2 then return r0 else push (1; r0), r0 = r0 - 1, pc = 0
 *       point 1:  pop (n);  a = r0;                             push (2; a), r0 = n - 2, pc = 0
 *       point 2:  pop (a);  b = r0;                             return a + b }
 *
 * A frame of the stack is the number of the point behind the call, and what that reads of before; to return is to go on
 * at the point of the topmost frame, results in registers. The lowest frame's point is END. Where the stack is full, a
 * loop around this one doubles it, so that what bounds the depth is the memory of the lane: where that is too small,
 * the lane gives up, as always (choose_lanes.c).
 *
 * Values are scalars. Arrays are parameters that all calls hand on as they are, or are made and used between two calls,
 * or go through all calls (stack_threads.c, stack_undo.c), or lie in registers as scalars do; in frames only if there
 * is no other way: these are copies. */
#include "core/append.h"
#include "core/choose_lanes_internal.h"
#include "core/stack_loops_internal.h"
#include "params.h"
#include "support/ptrmap.h"

#include <assert.h>
#include <string.h>

struct StackLoop {
    bool tried, wide; /* there are operations of more elements, or of nobody knows how many */
    bool chain;       /* calls that wait for others */
    bool threads;     /* arrays that go through all calls, */
    bool undone;      /* some of them as whoever changes them undoes that */
    bool by_value;    /* frames have arrays */
    CoreFn *fn;       /* or NULL */
    uint32_t statements;
};

/* ---- functions ---- */

/* Rows and slices are found anew where they are read, and short literals made. */
static void note_parts(void *ctx, CoreBlock *b)
{
    Machine *m = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        const bool literal = s->kind == CORE_ARRAY && s->array.n <= MOST_ITEMS;
        if ((s->kind == CORE_INDEX || s->kind == CORE_SLICE || s->kind == CORE_ATOM || literal) &&
            core_var_type(m->from, s->vars[0]).rank > 0)
            m->parts[s->vars[0]] = s;
        core_stmt_blocks(s, note_parts, m);
    }
}

typedef struct Fixed {
    const CoreFn *fn;
    bool *fixed;
} Fixed;

static void note_fixed(void *ctx, CoreBlock *b)
{
    const Fixed *f = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        for (uint32_t k = 0; s->kind == CORE_CALL && k < s->call.nargs; k++)
            if (s->call.args[k].is_const || s->call.args[k].var != f->fn->params[k])
                f->fixed[f->fn->params[k]] = false;
        core_stmt_blocks(s, note_fixed, ctx);
    }
}

void stack_note_fixed(const CoreFn *from, bool *fixed)
{
    for (uint32_t i = 0; i < from->nparams; i++)
        fixed[from->params[i]] = true;
    note_fixed(&(Fixed){from, fixed}, from->body);
}

/* The function's parameters; those that calls change are what the first point is given. */
static void begin_machine(Machine *m)
{
    CoreFn *fn = m->fn, *from = m->from;
    CoreVar *given = arena_array(m->scratch, CoreVar, from->nparams + 1);
    uint32_t n = 0;
    fn->params = arena_array(m->p->arena, CoreVar, from->nparams + 1);
    for (uint32_t i = 0; i < from->nparams; i++) {
        const CoreVarInfo info = from->vars.at[from->params[i]];
        fn->params[i] = core_new_var(m->p, fn, info.type, info.hint);
        m->map[from->params[i]] = var_atom(m, fn->params[i]);
    }
    stack_note_fixed(from, m->fixed);
    note_parts(m, from->body);
    stack_find_threads(m);
    for (uint32_t i = 0; i < from->nparams; i++)
        if (!m->fixed[from->params[i]])
            given[n++] = from->params[i];
    m->floats = SC_F32;
    for (uint32_t i = 0; i < from->vars.n; i++)
        m->floats = from->vars.at[i].type.scalar == SC_F64 ? SC_F64 : m->floats;
    stack_first_point(m, given, n);
    m->pc = core_new_var(m->p, fn, core_scalar(SC_I64), "point");
    m->depth = core_new_var(m->p, fn, core_scalar(SC_I64), "depth");
    for (int k = 0; k < SCALAR_COUNT; k++) {
        m->used[k] = core_new_var(m->p, fn, core_scalar(SC_I64), "used");
        m->kept[k] = core_new_var(m->p, fn, (CoreType){(Scalar)k, 1}, "kept");
    }
    m->stacks[PART_INTEGERS] = core_new_var(m->p, fn, (CoreType){SC_I64, 1}, "stack");
    m->stacks[PART_FLOATS] = core_new_var(m->p, fn, (CoreType){m->floats, 1}, "stack");
}

/* What to do with arrays: THREADS: they are what becomes of parameters; HELD: those that are given are not; BY_VALUE:
 * none is. */
typedef enum StackArrays { ARRAYS_THREADS, ARRAYS_HELD, ARRAYS_BY_VALUE, ARRAYS_COUNT } StackArrays;

static CoreFn *make_loops(StackLoops *l, const CoreFn *self, CoreFn *from, StackArrays arrays, struct StackLoop *loop)
{
    const uint32_t held = arrays == ARRAYS_THREADS ? 0 : from->nresults;
    loop->undone = false;
    if (arrays != ARRAYS_BY_VALUE && !stack_undo(l->p, self, from, held, l->scratch, &loop->undone))
        return NULL;
    const uint32_t nvars = from->vars.n + 1;
    Machine m = {.p = l->p, .scratch = l->scratch, .self = self, .from = from, .fn = arena_new(l->p->arena, CoreFn)};
    *m.fn = (CoreFn){.name = self->name,
                     .results = from->results,
                     .nresults = from->nresults,
                     .nparams = from->nparams,
                     .span = from->span};
    m.b = (CoreBuilder){.p = l->p, .fn = m.fn, .span = from->span};
    m.map = arena_array(l->scratch, CoreAtom, nvars);
    m.held = held;
    m.by_value = arrays == ARRAYS_BY_VALUE;
    m.parts = arena_array(l->scratch, CoreStmt *, nvars);
    m.fixed = arena_array(l->scratch, bool, nvars);
    m.thread = arena_array(l->scratch, uint32_t, nvars);
    m.bound = arena_array(l->scratch, uint32_t, nvars);
    m.seen = arena_array(l->scratch, uint32_t, nvars);
    begin_machine(&m);
    stack_emit_points(&m);
    if (m.impossible)
        return NULL;
    loop->threads = m.nthreads > 0;
    loop->by_value = m.by_value;
    stack_build_loops(&m);
    m.fn->nresults = m.fn->body->nresults = self->nresults;
    return m.fn;
}

/* ---- other calls, and reductions around calls ---- */

typedef struct Expander {
    StackLoops *l;
    const CoreFn *self; /* whose calls stay; or NULL */
    CoreFn *fn;
    PtrMap results; /* what a call's result became: a CoreAtom */
    bool impossible;
} Expander;

/* Variables as keys: as many as there are calls, however many the function has. */
static const void *key_of(CoreVar v) { return (const void *)((uintptr_t)v + 1); }

static void replace_result(void *ctx, CoreAtom *a)
{
    const Expander *e = ctx;
    for (const CoreAtom *to; !a->is_const && (to = ptrmap_get(&e->results, key_of(a->var)));)
        *a = *to;
}

static void expand_block(void *ctx, CoreBlock *b);

static void expand_call(Expander *e, CoreBlock *out, CoreStmt *s)
{
    const CoreFn *code = stack_loops_of(e->l, s->call.fn);
    if (!code) {
        e->impossible = true;
        return;
    }
    CoreAtom *map = arena_array(e->l->scratch, CoreAtom, code->vars.n + 1);
    for (uint32_t i = 0; i < code->nparams; i++)
        map[code->params[i]] = s->call.args[i];
    CoreBlock *body = core_copy_block(e->l->p, e->fn, code, code->body, map);
    for (uint32_t i = 0; i < body->stmts.n; i++)
        core_push(e->l->p, out, body->stmts.at[i]);
    for (uint32_t i = 0; i < s->nvars; i++)
        ptrmap_put(e->l->scratch, &e->results, key_of(s->vars[i]), &body->results[i]);
}

/* reduce n at i (x <- xs) { B -> v } neutral (z) op (a, b) { C -> c }
 *     ==>  loop (a = z) for i < n do { x = index xs i; B; b = v; C -> c } */
static void make_loop_of_reduce(const Expander *e, CoreStmt *s)
{
    const CoreSoac soac = s->soac;
    const uint32_t n = s->nvars;
    CoreBuilder b = {.p = e->l->p, .fn = e->fn, .span = s->span};
    const CoreVar index = soac.index == CORE_NO_VAR ? build_var(&b, core_scalar(SC_I64), NULL).var : soac.index;
    CoreBlock *outer = build_begin(&b);
    for (uint32_t i = 0; i < soac.ninputs; i++) {
        CoreStmt *element = build_stmt_into(&b, CORE_INDEX, 1, &soac.elements[i]);
        element->index.array = soac.inputs[i];
        element->index.index = core_var_atom(index, core_scalar(SC_I64));
        build_emit(&b, element);
    }
    core_append_block(b.p, b.out, soac.body);
    for (uint32_t i = 0; i < n; i++)
        build_named(&b, soac.op.params[n + i], soac.body->results[i]);
    core_append_block(b.p, b.out, soac.op.body);
    CoreBlock *body = build_end(&b, outer, soac.op.body->results, n);
    s->kind = CORE_LOOP;
    s->site = CORE_NO_SITE;
    memset(&s->loop, 0, sizeof s->loop);
    s->loop.params = build_vars_copy(&b, soac.op.params, n, n);
    s->loop.inits = build_atoms_copy(&b, soac.neutral, n, n);
    s->loop.nparams = n;
    s->loop.index = index;
    s->loop.count = soac.domain;
    s->loop.body = body;
}

static void expand_block(void *ctx, CoreBlock *b)
{
    Expander *e = ctx;
    CoreBlock old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n && !e->impossible; i++) {
        CoreStmt *s = old.stmts.at[i];
        core_stmt_atoms(s, replace_result, e);
        if (s->kind == CORE_CALL && s->call.fn != e->self) {
            expand_call(e, b, s);
            continue;
        }
        core_stmt_blocks(s, expand_block, e);
        const bool calls = e->self && stack_calls(e->self, s);
        if (calls && s->kind == CORE_REDUCE)
            make_loop_of_reduce(e, s);
        if (calls && s->kind == CORE_LOOP && !s->loop.cond &&
            s->loop.index == CORE_NO_VAR) /* points count its rounds */
            s->loop.index = core_new_var(e->l->p, e->fn, core_scalar(SC_I64), NULL);
        core_push(e->l->p, b, s);
    }
    for (uint32_t i = 0; i < b->nresults; i++)
        replace_result(e, &b->results[i]);
}

static bool expand_all(StackLoops *l, const CoreFn *self, CoreFn *fn, CoreBlock *b)
{
    Expander e = {.l = l, .self = self, .fn = fn};
    expand_block(&e, b);
    return !e.impossible;
}

/* A copy of the function, in which only calls of itself are left. */
static CoreFn *copy_alone(StackLoops *l, const CoreFn *fn)
{
    CoreFn *copy = core_copy_fn(l->p, fn, l->scratch);
    return expand_all(l, fn, copy, copy->body) ? copy : NULL;
}

typedef struct WideSearch {
    StackLoops *l;
    const CoreFn *self;
    CoreMakers makers;
    bool found;
} WideSearch;

/* A list that gets a few elements grows in place (growing_lists.c). */
static bool is_short_append(const WideSearch *w, const CoreStmt *s)
{
    CoreAppend append;
    for (uint32_t k = 0; k < s->nvars; k++) {
        CoreAtom more;
        if (!core_as_append(s, k, &append) || !core_append_more(&w->makers, s->soac.domain, append.length, &more) ||
            !more.is_const || (int64_t)more.bits > FEW_ELEMENTS)
            return false;
    }
    return true;
}

/* Operations around self calls are loops of the recursion. */
static void find_wide(void *ctx, CoreBlock *b)
{
    WideSearch *w = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !w->found; i++) {
        CoreStmt *s = b->stmts.at[i];
        const CoreSoac *soac = core_stmt_soac(s);
        const bool few = soac && soac->domain.is_const && soac->domain.bits <= FEW_ELEMENTS;
        w->found = (soac && !few && !stack_calls(w->self, s) && !is_short_append(w, s)) ||
                   (s->kind == CORE_CALL && w->l->loops[s->call.fn->index].wide);
        core_stmt_blocks(s, find_wide, w);
    }
}

/* What depends on what a call gives. */
typedef struct ChainSearch {
    bool *late;               /* by variable */
    bool found, calls, waits; /* calls, and what is late, in the statement at hand */
} ChainSearch;

static void note_late(void *ctx, CoreAtom *a)
{
    ChainSearch *c = ctx;
    c->waits |= !a->is_const && c->late[a->var];
}

/* Blocks see what is late outside; what they bind is late if their statement is. */
static void find_chain(void *ctx, CoreBlock *b)
{
    ChainSearch *c = ctx;
    const ChainSearch outer = *c;
    bool calls = false, waits = false;
    for (uint32_t i = 0; i < b->stmts.n && !c->found; i++) {
        CoreStmt *s = b->stmts.at[i];
        c->waits = false;
        c->calls = s->kind == CORE_CALL && s->call.fn->recursive;
        core_stmt_atoms(s, note_late, c);
        const bool before = c->waits;
        core_stmt_blocks(s, find_chain, c);
        c->found |= c->calls && (before || s->kind == CORE_LOOP);
        for (uint32_t k = 0; k < s->nvars; k++)
            c->late[s->vars[k]] = c->calls || c->waits;
        calls |= c->calls;
        waits |= c->waits;
    }
    c->calls = outer.calls || calls;
    c->waits = outer.waits || waits;
}

static bool gives_arrays(const CoreFn *fn)
{
    for (uint32_t i = 0; i < fn->nresults; i++)
        if (fn->results[i].rank > 0)
            return true;
    return false;
}

const CoreFn *stack_loops_of(StackLoops *l, const CoreFn *fn)
{
    struct StackLoop *loop = &l->loops[fn->index];
    uint32_t statements = 0;
    if (loop->tried)
        return loop->fn;
    loop->tried = true;
    choose_count(&statements, fn->body);
    CoreFn *alone = statements > MOST_STATEMENTS ? NULL : copy_alone(l, fn);
    WideSearch w = {.l = l, .self = fn, .makers = core_makers_of(fn, l->scratch)};
    find_wide(&w, fn->body);
    loop->wide = w.found;
    ChainSearch chain = {.late = arena_array(l->scratch, bool, fn->vars.n + 1)};
    find_chain(&chain, fn->body);
    loop->chain = chain.found;
    if (alone && !fn->recursive)
        loop->fn = alone;
    for (StackArrays arrays = ARRAYS_THREADS; alone && !loop->fn && arrays < ARRAYS_COUNT; arrays++)
        if (arrays == ARRAYS_THREADS || (arrays == ARRAYS_HELD ? gives_arrays(fn) : loop->chain))
            loop->fn = make_loops(l, fn, copy_alone(l, fn), arrays, loop);
    if (loop->fn)
        choose_count(&loop->statements, loop->fn->body);
    return loop->fn;
}

uint32_t stack_loops_size(StackLoops *l, const CoreFn *fn)
{
    return stack_loops_of(l, fn) ? l->loops[fn->index].statements : 0;
}

bool stack_loops_scalar(StackLoops *l, const CoreFn *fn) { return stack_loops_of(l, fn) && !l->loops[fn->index].wide; }

bool stack_loops_chain(StackLoops *l, const CoreFn *fn) { return stack_loops_of(l, fn) && l->loops[fn->index].chain; }

StackLoops stack_loops_open(CoreProgram *p, Arena *scratch)
{
    StackLoops l = {.p = p, .scratch = scratch, .n = p->fns.n};
    l.loops = arena_array(scratch, struct StackLoop, l.n + 1);
    for (uint32_t i = 0; i < l.n; i++)
        if (p->fns.at[i]->recursive)
            stack_loops_of(&l, p->fns.at[i]);
    return l;
}

void stack_loops_expand(StackLoops *l, CoreFn *fn, CoreBlock *b)
{
    const bool all = expand_all(l, NULL, fn, b);
    assert(all && "asked before");
    (void)all;
}

/* ---- outside parallel code ---- */

/* Calls of fn, which become calls of `lane` where the arrays they are given have call-elements at most. */
typedef struct Instead {
    CoreFn *fn, *lane;
    CoreBuilder b;
} Instead;

static CoreAtom few_arguments(CoreBuilder *b, const CoreStmt *call)
{
    CoreAtom n = core_i64(0);
    for (uint32_t i = 0; i < call->call.nargs; i++)
        if (core_atom_type(b->fn, call->call.args[i]).rank > 0)
            n = build_prim2(b, PRIM_ADD, n, build_length(b, call->call.args[i]));
    return build_prim2(b, PRIM_LE, n, build_param(b, PARAM_CALL_ELEMENTS));
}

static void put_instead(void *ctx, CoreBlock *block)
{
    Instead *to = ctx;
    const CoreBlock old = core_take_stmts(block);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        if (!core_stmt_soac(s))
            core_stmt_blocks(s, put_instead, to);
        to->b.out = block;
        to->b.span = s->span;
        if (s->kind != CORE_CALL || s->call.fn != to->fn) {
            build_emit(&to->b, s);
            continue;
        }
        CoreStmt *chosen = build_instead(&to->b, s, few_arguments(&to->b, s)),
                 *lane = build_stmt(&to->b, CORE_CALL, s->nvars, to->fn->results);
        lane->call = s->call;
        lane->call.fn = to->lane;
        chosen->if_.then_b = build_alone(&to->b, lane);
        chosen->if_.else_b = build_alone(&to->b, s);
        build_emit(&to->b, chosen);
    }
}

/* Where a call's operations have few elements, one lane had better do all of it than launches for each. */
static void choose_by_arguments(CoreProgram *p, CoreFn *fn, CoreFn *lane)
{
    const uint32_t n = p->fns.n;
    lane->index = n;
    for (uint32_t i = 0; i < n; i++) {
        Instead to = {.fn = fn, .lane = lane, .b = {.p = p, .fn = p->fns.at[i]}};
        if (!p->fns.at[i]->recursive)
            put_instead(&to, p->fns.at[i]->body);
    }
    vec_push(p->arena, &p->fns, lane);
}

void core_stack_recursion(CoreProgram *p)
{
    Arena *scratch = arena_create();
    const StackLoops l = stack_loops_open(p, scratch);
    for (uint32_t i = 0; i < l.n; i++) {
        CoreFn *fn = p->fns.at[i];
        const struct StackLoop *loop = &l.loops[i];
        if (!fn->recursive || !loop->fn || !(loop->threads || loop->by_value) || (loop->undone && !loop->chain))
            continue;
        if (loop->wide) {
            choose_by_arguments(p, fn, loop->fn);
            continue;
        }
        fn->vars = loop->fn->vars;
        fn->params = loop->fn->params;
        fn->body = loop->fn->body;
        fn->recursive = false;
    }
    arena_destroy(scratch);
}
