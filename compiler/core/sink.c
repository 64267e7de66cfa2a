/* What parallel code computes cheaply of positions and of what is the same for all instances, and operations in it
 * read, is computed there:
 *
 *     map n at i { c = le i k; -> map m at j { … c … } }   ==>   map n at i { -> map m at j { c' = le i k; … c' … } }
 *
 * Else a launch of its own would store it for each instance, and each element would load it. */
#include "core/build.h"
#include "core/callgraph.h"
#include "core/passes.h"

typedef enum Known { KNOWN_NOT, KNOWN_TO_ALL, KNOWN_POSITION, KNOWN_COMPUTED } Known;

typedef struct Sinker {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    uint32_t nvars;
    Known *known;     /* by variable */
    CoreStmt **defs;  /* of what is computed, */
    uint32_t *cost;   /* and how much that is with what it needs */
    CoreAtom *copies; /* in the body at hand, or constants */
    VEC(CoreVar) copied;
    uint32_t nest; /* parallel operations around */
    CoreBuilder b;
} Sinker;

/* ---- what is cheap ---- */

static void note_binder(void *ctx, CoreVar *v)
{
    Sinker *k = ctx;
    if (*v == CORE_NO_VAR || *v >= k->nvars)
        return;
    k->known[*v] = k->nest ? KNOWN_NOT : KNOWN_TO_ALL;
}

static bool is_known(const Sinker *k, CoreAtom a) { return a.is_const || (a.var < k->nvars && k->known[a.var]); }

static void note_results(Sinker *k, CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        note_binder(k, &s->vars[i]);
    if (k->nest == 0 || s->kind != CORE_PRIM || core_stmt_fallible(k->p, k->fn, s) ||
        core_var_type(k->fn, s->vars[0]).rank > 0 || s->vars[0] >= k->nvars) /* a copy */
        return;
    uint32_t cost = core_prim_cost(s->prim.op, core_atom_type(k->fn, s->prim.args[0]).scalar);
    for (uint32_t i = 0; i < s->prim.nargs; i++) {
        const CoreAtom a = s->prim.args[i];
        if (!is_known(k, a))
            return;
        cost += !a.is_const && k->known[a.var] == KNOWN_COMPUTED ? k->cost[a.var] : 0;
    }
    if (cost > CORE_MODERATE)
        return;
    k->known[s->vars[0]] = KNOWN_COMPUTED;
    k->defs[s->vars[0]] = s;
    k->cost[s->vars[0]] = cost;
}

/* ---- into a body ---- */

static CoreAtom copied(Sinker *k, CoreAtom a)
{
    if (a.is_const || a.var >= k->nvars || k->known[a.var] != KNOWN_COMPUTED)
        return a;
    if (!k->copies[a.var].is_const)
        return k->copies[a.var];
    const CoreStmt *def = k->defs[a.var];
    CoreAtom args[3];
    for (uint32_t i = 0; i < def->prim.nargs; i++)
        args[i] = copied(k, def->prim.args[i]);
    k->b.span = def->span;
    vec_push(k->scratch, &k->copied, a.var);
    return k->copies[a.var] = build_prim(&k->b, def->prim.op, core_var_type(k->fn, a.var).scalar, args);
}

static void sink_atom(void *ctx, CoreAtom *a) { *a = copied(ctx, *a); }

/* Copies of what the block reads from the operations around it go to its front. */
static void sink_into(Sinker *k, CoreBlock *b)
{
    build_in_front(&k->b, b, sink_atom, k);
    for (; k->copied.n; k->copied.n--)
        k->copies[k->copied.at[k->copied.n - 1]] = core_const(SC_BOOL, 0);
}

static void sink_block(void *ctx, CoreBlock *b);

static void sink_in_body(Sinker *k, CoreBlock *b, CoreVar index)
{
    if (k->nest > 0)
        sink_into(k, b);
    k->nest++;
    if (index != CORE_NO_VAR && index < k->nvars)
        k->known[index] = KNOWN_POSITION;
    sink_block(k, b);
    k->nest--;
}

static void sink_block(void *ctx, CoreBlock *b)
{
    Sinker *k = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        CoreSoac *soac = core_stmt_soac(s);
        k->nest += soac != NULL;
        core_stmt_binders(s, note_binder, k);
        k->nest -= soac != NULL;
        if (soac && soac->guard)
            sink_in_body(k, soac->guard, soac->index);
        if (soac)
            sink_in_body(k, soac->body, soac->index);
        else if (s->kind != CORE_LANE)
            core_stmt_blocks(s, sink_block, k);
        note_results(k, s);
    }
}

static void sink_in_fn(CoreProgram *p, CoreFn *fn, Arena *scratch)
{
    Sinker k = {.p = p, .fn = fn, .scratch = scratch, .nvars = fn->vars.n, .b = {.p = p, .fn = fn}};
    k.known = arena_array(scratch, Known, k.nvars + 1);
    k.defs = arena_array(scratch, CoreStmt *, k.nvars + 1);
    k.cost = arena_array(scratch, uint32_t, k.nvars + 1);
    k.copies = arena_array(scratch, CoreAtom, k.nvars + 1);
    for (uint32_t v = 0; v < k.nvars; v++)
        k.copies[v] = core_const(SC_BOOL, 0);
    for (uint32_t v = 0; v < fn->nparams; v++)
        note_binder(&k, &fn->params[v]);
    sink_block(&k, fn->body);
}

void core_sink(CoreProgram *p) { core_each_host_function(p, sink_in_fn); }
