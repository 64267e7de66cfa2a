/* Counted loops whose count differs between the instances of parallel code become while loops: the position becomes
 * state, and an instance leaves when it has come to its count. While loops in parallel code ask at the end of a round
 * whether there is another one.
 *
 *     xs = loop (a = x) for i < n do body        ==>     xs, _ = loop (a = x, i = 0) while i < n do { body; i + 1 }
 *
 * A count that is the same for all of them is known to the host, which then counts: a constant, what is bound outside
 * of parallel code, or the position of such a loop. Loops of scalar code stay: they run inside one kernel. */
#include "core/build.h"
#include "core/callgraph.h"
#include "core/passes.h"

typedef struct Lowering {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    CoreCopyMap map;
    bool *varies;   /* by variable: may differ between instances */
    bool parallel;  /* in parallel code */
    CoreBlock *out; /* the block at hand, as it becomes */
} Lowering;

/* ---- the loops ---- */

static void note_binder(void *ctx, CoreVar *v)
{
    Lowering *l = ctx;
    l->varies[*v] = l->parallel;
}

static bool is_uniform(const Lowering *l, CoreAtom count) { return count.is_const || !l->varies[count.var]; }

static void to_while(Lowering *l, CoreStmt *s)
{
    CoreBuilder b = {.p = l->p, .fn = l->fn, .span = s->span};
    uint32_t n = s->loop.nparams;
    CoreType i64 = core_scalar(SC_I64);
    CoreAtom index = s->loop.index != CORE_NO_VAR ? build_atom(&b, s->loop.index) : build_var(&b, i64, "i");
    s->loop.params = build_vars_copy(&b, s->loop.params, n + 1, n);
    s->loop.params[n] = index.var;
    s->loop.inits = build_atoms_copy(&b, s->loop.inits, n + 1, n);
    s->loop.inits[n] = core_i64(0);
    s->vars = build_vars_copy(&b, s->vars, n + 1, n);
    s->vars[n] = build_var(&b, i64, NULL).var;
    CoreBlock *none = build_begin(&b);
    CoreAtom less = build_prim2(&b, PRIM_LT, index, s->loop.count);
    s->loop.cond = build_end(&b, none, &less, 1);
    b.out = s->loop.body;
    CoreAtom next = build_prim2(&b, PRIM_ADD, index, core_i64(1));
    s->loop.body->results = build_atoms_copy(&b, s->loop.body->results, n + 1, n);
    s->loop.body->results[n] = next;
    s->loop.body->nresults = s->loop.nparams = s->nvars = n + 1;
    s->loop.index = CORE_NO_VAR;
    s->loop.count = core_i64(0);
}

/* The loop's condition of a state. */
static CoreAtom condition_of(Lowering *l, CoreBlock *out, const CoreStmt *s, const CoreAtom *state)
{
    CoreBuilder b = {.p = l->p, .fn = l->fn, .out = out};
    return build_condition(&b, s, state, l->scratch, &l->map);
}

/* xs = loop (a = x) while c a do body      ==>      xs, _ = loop (a = x, go = c x) while go do { body; c a' }
 *
 * What a round computes last and the next condition are then one kernel. Only for conditions of scalar code. */
static void ask_ahead(Lowering *l, CoreStmt *s)
{
    CoreBuilder b = {.p = l->p, .fn = l->fn, .span = s->span};
    uint32_t n = s->loop.nparams;
    CoreBlock *body = s->loop.body;
    CoreAtom go = build_var(&b, core_scalar(SC_BOOL), "go"), unused = build_var(&b, core_scalar(SC_BOOL), NULL);
    const CoreAtom first = condition_of(l, l->out, s, s->loop.inits), next = condition_of(l, body, s, body->results);
    s->loop.params = build_vars_copy(&b, s->loop.params, n + 1, n);
    s->loop.params[n] = go.var;
    s->loop.inits = build_atoms_copy(&b, s->loop.inits, n + 1, n);
    s->loop.inits[n] = first;
    s->vars = build_vars_copy(&b, s->vars, n + 1, n);
    s->vars[n] = unused.var;
    body->results = build_atoms_copy(&b, body->results, n + 1, n);
    body->results[n] = next;
    body->nresults = s->loop.nparams = s->nvars = n + 1;
    CoreBlock *none = build_begin(&b);
    s->loop.cond = build_end(&b, none, &go, 1);
}

static void lower_block(void *ctx, CoreBlock *b);

static void lower_stmt(Lowering *l, CoreStmt *s)
{
    bool outer = l->parallel, counted = s->kind == CORE_LOOP && !s->loop.cond;
    l->parallel = outer || core_stmt_soac(s);
    core_stmt_binders(s, note_binder, l);
    if (counted && s->loop.index != CORE_NO_VAR)
        l->varies[s->loop.index] = !is_uniform(l, s->loop.count);
    if (s->kind != CORE_LANE)
        core_stmt_blocks(s, lower_block, l);
    l->parallel = outer;
    for (uint32_t i = 0; i < s->nvars; i++)
        note_binder(l, &s->vars[i]);
    if (s->kind != CORE_LOOP || core_stmt_is_scalar(s))
        return;
    if (counted && !is_uniform(l, s->loop.count))
        to_while(l, s);
    if (outer && s->loop.cond && s->loop.cond->stmts.n && core_block_is_scalar(s->loop.cond))
        ask_ahead(l, s);
}

static void lower_block(void *ctx, CoreBlock *b)
{
    Lowering *l = ctx;
    CoreBlock *outer = l->out, old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        l->out = b;
        lower_stmt(l, old.stmts.at[i]);
        core_push(l->p, b, old.stmts.at[i]);
    }
    l->out = outer;
}

void core_lower_loops(CoreProgram *p)
{
    Arena *scratch = arena_create();
    const bool *lifted = core_lifted_functions(p, scratch);
    for (uint32_t i = 0; i < p->fns.n; i++) {
        CoreFn *fn = p->fns.at[i];
        Lowering l = {.p = p, .fn = fn, .scratch = scratch, .parallel = lifted[i]};
        l.varies = arena_array(scratch, bool, fn->vars.n + 1);
        for (uint32_t j = 0; j < fn->nparams; j++)
            note_binder(&l, &fn->params[j]);
        lower_block(&l, fn->body);
    }
    arena_destroy(scratch);
}
