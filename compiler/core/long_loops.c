/* Loops of numbers outside parallel code are the host's, which an executable compiles, but `dpc run` interprets: some
 * 50 times as slow. From `--param host-rounds` on the device goes on with them, as one instance:
 *
 *     xs = loop (a = x) while c a do B   ==>
 *         xs = if host-rounds is any number then { loop (a = x) while c a do B } else {
 *             ys, k = loop (a = x, k = 0) while c a && k < host-rounds do { B; k + 1 }
 *             if c ys then { map 1 { loop (a = ys) while c a do B }, and index 0 } else { -> ys } }
 *
 * A loop with loops in it goes over to the device earlier, by the number of their rounds. Likewise, a call of a
 * function whose calls branch is a loop with a stack there (stack_loops.c) from the beginning. */
#include "core/callgraph.h"
#include "core/choose_lanes_internal.h"
#include "core/passes.h"
#include "params.h"

/* MOST_STATEMENTS: of a loop; SHORT: rounds, where their number shows; DEEP: rounds of a loop inside, where it does
 * not; MOST_ROUNDS: that are told apart from more. */
enum { MOST_STATEMENTS = 200, SHORT = 1000, DEEP = 64, MOST_ROUNDS = 1 << 30, MOST_SHARES = 18 };
#define ANY_ROUNDS (INT64_C(1) << 62) /* host-rounds of an executable, at least */

typedef struct LongLoops {
    CoreBuilder b;
    StackLoops *stacks; /* or NULL: nothing is recursive */
    Arena *scratch;
    CoreCopyMap map;
    uint32_t budget; /* of statements */
} LongLoops;

/* ---- what the device may do as well, to the last bit ---- */

typedef struct Glance {
    const CoreFn *fn;
    bool loops, other; /* loops; what the device's library computes in another way, or arrays */
} Glance;

static bool is_elementary(CorePrim op, Scalar type)
{
    return scalar_is_float(type) && (op == PRIM_POW || op == PRIM_MOD || op == PRIM_HYPOT || op == PRIM_FMA ||
                                     (op >= PRIM_EXP && op <= PRIM_TANH));
}

static void look_at_block(void *ctx, CoreBlock *block)
{
    Glance *g = ctx;
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        g->loops |= s->kind == CORE_LOOP;
        g->other |= s->kind == CORE_PRIM && is_elementary(s->prim.op, core_atom_type(g->fn, s->prim.args[0]).scalar);
        for (uint32_t k = 0; k < s->nvars; k++)
            g->other |= core_var_type(g->fn, s->vars[k]).rank > 0;
        core_stmt_blocks(s, look_at_block, g);
    }
}

static void look_for_array(void *ctx, CoreAtom *a)
{
    Glance *g = ctx;
    g->other |= core_atom_type(g->fn, *a).rank > 0;
}

static bool is_long(LongLoops *l, CoreStmt *s)
{
    CoreBlock alone = {.stmts = {.at = &s, .n = 1, .cap = 1}};
    Glance g = {.fn = l->b.fn};
    uint32_t statements = 0;
    if (!core_stmt_is_scalar(s))
        return false;
    core_stmt_blocks(s, look_at_block, &g);
    core_stmt_all_atoms(s, look_for_array, &g);
    choose_count(&statements, &alone);
    const uint32_t rounds = g.loops ? SHORT / DEEP : SHORT;
    const bool few = !s->loop.cond && s->loop.count.is_const && (int64_t)s->loop.count.bits <= rounds;
    if (g.other || few || statements > MOST_STATEMENTS || 3 * statements > l->budget)
        return false;
    l->budget -= 3 * statements;
    return true;
}

/* ---- loops ---- */

static CoreStmt *copy_loop(LongLoops *l, CoreStmt *s)
{
    CoreBlock alone = {.stmts = {.at = &s, .n = 1, .cap = 1}};
    return core_copy_within(l->b.p, l->b.fn, &alone, l->scratch, &l->map)->stmts.at[0];
}

/* The rounds of a counted loop from `done` on. */
static void begin_later(LongLoops *l, CoreStmt *s, CoreAtom done)
{
    CoreBlock *body = s->loop.body, first = {0}, *outer = l->b.out;
    s->loop.count = build_prim2(&l->b, PRIM_SUB, s->loop.count, done);
    if (s->loop.index == CORE_NO_VAR)
        return;
    const CoreVar index = s->loop.index;
    s->loop.index = build_var(&l->b, core_scalar(SC_I64), NULL).var;
    l->b.out = &first;
    const CoreAtom sum = build_prim2(&l->b, PRIM_ADD, build_atom(&l->b, s->loop.index), done);
    build_named(&l->b, index, sum);
    l->b.out = outer;
    core_put_in_front(l->b.p, body, &first);
}

/* The first rounds, at most so many; are there more? A while loop counts them in one more variable. */
static CoreAtom first_rounds(LongLoops *l, CoreStmt *s, CoreAtom most)
{
    CoreBuilder *b = &l->b;
    const uint32_t n = s->nvars;
    if (!s->loop.cond) {
        const CoreAtom count = s->loop.count;
        s->loop.count = build_prim2(b, PRIM_MIN, count, most);
        build_emit(b, s);
        return build_prim2(b, PRIM_LT, most, count);
    }
    const CoreAtom k = build_var(b, core_scalar(SC_I64), NULL), last = build_var(b, core_scalar(SC_I64), NULL);
    s->loop.params = build_vars_copy(b, s->loop.params, n + 1, n);
    s->loop.inits = build_atoms_copy(b, s->loop.inits, n + 1, n);
    s->vars = build_vars_copy(b, s->vars, n + 1, n);
    s->loop.params[n] = k.var;
    s->loop.inits[n] = core_i64(0);
    s->vars[n] = last.var;
    CoreBlock *body = s->loop.body, *cond = s->loop.cond, *outer = b->out;
    CoreStmt before = *s; /* of the state, as it was */
    before.loop.cond = core_copy_within(b->p, b->fn, cond, l->scratch, &l->map);
    s->nvars = s->loop.nparams = n + 1;
    b->out = body;
    body->results = build_atoms_copy(b, body->results, n + 1, n);
    body->results[n] = build_prim2(b, PRIM_ADD, k, core_i64(1));
    body->nresults = n + 1;
    b->out = outer;
    b->out = cond;
    const CoreAtom both[] = {build_prim2(b, PRIM_AND, cond->results[0], build_prim2(b, PRIM_LT, k, most))};
    build_results(b, cond, both, 1);
    b->out = outer;
    build_emit(b, s);
    return build_condition(b, &before, build_atoms(b, s->vars, n), l->scratch, &l->map);
}

typedef struct Binding {
    CoreVar var;
    bool found;
} Binding;

static void look_at_binder(void *ctx, CoreVar *v) { ((Binding *)ctx)->found |= *v == ((Binding *)ctx)->var; }

static void look_for_binding(void *ctx, CoreBlock *block)
{
    Binding *of = ctx;
    for (uint32_t i = 0; i < block->stmts.n && !of->found; i++) {
        of->found |= core_stmt_binds(block->stmts.at[i], of->var);
        core_stmt_binders(block->stmts.at[i], look_at_binder, of);
        core_stmt_blocks(block->stmts.at[i], look_for_binding, of);
    }
}

/* Is the number there in front of the loop? */
static bool is_there(CoreStmt *loop, CoreAtom a)
{
    Binding of = {.var = a.is_const ? CORE_NO_VAR : a.var};
    core_stmt_binders(loop, look_at_binder, &of);
    core_stmt_blocks(loop, look_for_binding, &of);
    return a.is_const || !of.found;
}

static CoreAtom sum_of(CoreBuilder *b, CoreAtom x, CoreAtom y)
{
    const CoreAtom none = core_i64(0);
    return core_atom_equal(x, none) ? y : core_atom_equal(y, none) ? x : build_prim2(b, PRIM_ADD, x, y);
}

/* How many rounds the loops in the block have, those of loops in them, too. All numbers are from outside of `around`.
 */
static CoreAtom rounds_in(LongLoops *l, CoreBlock *block, CoreStmt *around)
{
    CoreBuilder *b = &l->b;
    CoreAtom all = core_i64(0);
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        if (s->kind != CORE_IF && s->kind != CORE_LOOP)
            continue;
        CoreAtom rounds;
        if (s->kind == CORE_IF) {
            rounds = build_prim2(b, PRIM_ADD, rounds_in(l, s->if_.then_b, around), rounds_in(l, s->if_.else_b, around));
        } else {
            const bool known = !s->loop.cond && is_there(around, s->loop.count);
            const CoreAtom n = known ? build_prim2(b, PRIM_MAX, s->loop.count, core_i64(0)) : core_i64(DEEP);
            const CoreAtom each = sum_of(b, rounds_in(l, s->loop.body, around), core_i64(1));
            rounds = build_prim2(b, PRIM_MIN, build_prim2(b, PRIM_SIZE_MUL, n, each), core_i64(MOST_ROUNDS));
        }
        all = sum_of(b, all, rounds);
    }
    return all;
}

/* So many rounds, if each has others in it: divided by the next power of eight. */
static CoreAtom shared_by(CoreBuilder *b, CoreAtom most, CoreAtom inside)
{
    CoreAtom rounds = inside.is_const && inside.bits == 0 ? most : core_i64(0);
    for (int64_t log = rounds.is_const ? MOST_SHARES : -1; log >= 0; log -= 3) {
        const CoreAtom part = build_prim2(b, PRIM_SHR, most, core_i64(log));
        rounds = build_select(b, build_prim2(b, PRIM_LT, inside, core_i64(INT64_C(1) << log)), part, rounds);
    }
    return rounds;
}

static void split_loop(LongLoops *l, CoreStmt *s)
{
    CoreBuilder *b = &l->b;
    b->span = s->span;
    CoreAtom most = build_param(b, PARAM_HOST_ROUNDS);
    CoreStmt *first = copy_loop(l, s), *later = copy_loop(l, s);
    CoreStmt *chosen = build_instead(b, s, build_prim2(b, PRIM_LE, core_i64(ANY_ROUNDS), most));
    chosen->if_.then_b = build_alone(b, s);
    CoreBlock *outer = build_begin(b);
    most = shared_by(b, most, rounds_in(l, s->loop.body, s));
    const CoreAtom more = first_rounds(l, first, most);
    const uint32_t n = s->nvars;
    CoreBlock *between = build_begin(b);
    CoreBlock *inside = build_begin(b);
    for (uint32_t i = 0; i < n; i++)
        later->loop.inits[i] = build_atom(b, first->vars[i]);
    if (!later->loop.cond)
        begin_later(l, later, most);
    build_emit(b, later);
    CoreBlock *code = build_end(b, inside, build_atoms(b, later->vars, n), n);
    CoreBlock *goes_on = build_end(b, between, build_once(b, code), n);
    (void)build_begin(b);
    CoreBlock *ends = build_end(b, between, build_atoms(b, first->vars, n), n);
    chosen->if_.else_b = build_end(b, outer, build_if(b, more, goes_on, ends), n);
    build_emit(b, chosen);
}

/* ---- calls ---- */

/* Calls that branch: in rounds of a loop, or several. */
static bool is_branching(const LongLoops *l, const CoreStmt *s)
{
    if (s->kind != CORE_CALL || !l->stacks || !s->call.fn->recursive || core_recurs_together(s->call.fn))
        return false;
    for (uint32_t i = 0; i < s->nvars; i++)
        if (core_var_type(l->b.fn, s->vars[i]).rank > 0)
            return false;
    return stack_loops_scalar(l->stacks, s->call.fn) && stack_loops_chain(l->stacks, s->call.fn);
}

static void call_on_device(LongLoops *l, CoreStmt *s)
{
    CoreBuilder *b = &l->b;
    b->span = s->span;
    const CoreAtom most = build_param(b, PARAM_HOST_ROUNDS);
    CoreStmt *chosen = build_instead(b, s, build_prim2(b, PRIM_LE, core_i64(ANY_ROUNDS), most));
    chosen->if_.then_b = build_alone(b, s);
    CoreBlock *outer = build_begin(b);
    CoreStmt *call = build_stmt(b, CORE_CALL, s->nvars, s->call.fn->results);
    call->call = s->call;
    chosen->if_.else_b = build_end(b, outer, build_once(b, build_alone(b, call)), s->nvars);
    build_emit(b, chosen);
}

static void look_in_block(void *ctx, CoreBlock *block)
{
    LongLoops *l = ctx;
    CoreBlock *outer = l->b.out, old = core_take_stmts(block);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        l->b.out = block;
        if (s->kind == CORE_LOOP && is_long(l, s)) {
            split_loop(l, s);
        } else if (is_branching(l, s)) {
            call_on_device(l, s);
        } else {
            const bool whole = s->kind == CORE_LOOP && core_stmt_is_scalar(s); /* of arrays: the device's, as it is */
            if (!core_stmt_soac(s) && s->kind != CORE_LANE && !whole)
                core_stmt_blocks(s, look_in_block, l);
            core_push(l->b.p, block, s);
        }
    }
    l->b.out = outer;
}

void core_long_loops(CoreProgram *p)
{
    Arena *scratch = arena_create();
    const bool *lifted = core_lifted_functions(p, scratch);
    StackLoops stacks;
    LongLoops l = {.scratch = scratch, .budget = CHOOSE_COPIED};
    for (uint32_t i = 0; i < p->fns.n; i++) {
        choose_count(&l.budget, p->fns.at[i]->body);
        if (p->fns.at[i]->recursive && !l.stacks) {
            stacks = stack_loops_open(p, scratch);
            l.stacks = &stacks;
        }
    }
    for (uint32_t i = 0; i < p->fns.n; i++) {
        if (lifted[i] || p->fns.at[i]->recursive)
            continue;
        l.b = (CoreBuilder){.p = p, .fn = p->fns.at[i]};
        l.map = (CoreCopyMap){0};
        look_in_block(&l, p->fns.at[i]->body);
    }
    arena_destroy(scratch);
}
