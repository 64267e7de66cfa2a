/* A filter is counted and stored: on a CPU in two passes, each of which asks its condition. Where this has a loop, or
 * parallel operations, it is asked once:
 *
 *     ys = map n if { G -> g } { B }     ==>     gs = map n { G -> g };  ys = map n (g <- gs) if { -> g } { B }
 *
 * Only outside of parallel code: inside, lanes filter in one pass. */
#include "core/build.h"
#include "core/callgraph.h"
#include "core/passes.h"

typedef struct Conditions {
    CoreBuilder b;
    Arena *scratch;
    CoreCopyMap map;
} Conditions;

static void look_for_work(void *ctx, CoreBlock *b)
{
    bool *works = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !*works; i++) {
        CoreStmt *s = b->stmts.at[i];
        *works |= s->kind == CORE_LOOP || core_stmt_soac(s);
        core_stmt_blocks(s, look_for_work, works);
    }
}

static bool takes_long(const CoreStmt *s)
{
    bool works = false;
    if (s->kind == CORE_MAP && s->soac.guard)
        look_for_work(&works, s->soac.guard);
    return works;
}

/* The guard as the body of a map over the same, with variables of its own. */
static CoreBlock *guard_as_body(Conditions *c, CoreSoac *soac, CoreStmt *s)
{
    CoreBuilder *b = &c->b;
    const CoreSoac *old = &s->soac;
    core_copy_map_note(&c->map, b->fn, c->scratch);
    soac->inputs = old->inputs;
    soac->elements = build_vars_copy(b, old->elements, old->ninputs, old->ninputs);
    for (uint32_t i = 0; i < old->ninputs; i++) {
        const CoreAtom x = build_var(b, core_var_type(b->fn, old->elements[i]), NULL);
        soac->elements[i] = x.var;
        c->map.at[old->elements[i]] = x;
    }
    if (old->index != CORE_NO_VAR) {
        const CoreAtom x = build_var(b, core_scalar(SC_I64), NULL);
        soac->index = x.var;
        c->map.at[old->index] = x;
    }
    CoreBlock *body = core_copy_block(b->p, b->fn, b->fn, old->guard, c->map.at);
    core_copy_map_forget(&c->map, b->fn, s);
    return body;
}

static void part(Conditions *c, CoreStmt *s)
{
    CoreBuilder *b = &c->b;
    CoreSoac *old = &s->soac, first = {.domain = old->domain, .index = CORE_NO_VAR, .ninputs = old->ninputs};
    b->span = s->span;
    first.body = guard_as_body(c, &first, s);
    const CoreAtom holds = build_map(b, first)[0], g = build_var(b, core_scalar(SC_BOOL), NULL);
    old->inputs = build_atoms_copy(b, old->inputs, old->ninputs + 1, old->ninputs);
    old->elements = build_vars_copy(b, old->elements, old->ninputs + 1, old->ninputs);
    old->inputs[old->ninputs] = holds;
    old->elements[old->ninputs++] = g.var;
    CoreBlock *outer = build_begin(b);
    old->guard = build_end(b, outer, &g, 1);
}

static void part_in_block(void *ctx, CoreBlock *block)
{
    Conditions *c = ctx;
    CoreBlock *outer = c->b.out, old = core_take_stmts(block);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        c->b.out = block;
        if (takes_long(s))
            part(c, s);
        else if (!core_stmt_soac(s))
            core_stmt_blocks(s, part_in_block, c);
        core_push(c->b.p, block, s);
    }
    c->b.out = outer;
}

void core_long_conditions(CoreProgram *p)
{
    Arena *scratch = arena_create();
    const bool *lifted = core_lifted_functions(p, scratch);
    for (uint32_t i = 0; i < p->fns.n; i++) {
        Conditions c = {.b = {.p = p, .fn = p->fns.at[i]}, .scratch = scratch};
        if (!lifted[i])
            part_in_block(&c, p->fns.at[i]->body);
    }
    arena_destroy(scratch);
}
