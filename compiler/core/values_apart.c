/* What is stored into an array, or accumulated in one, cannot change it in place where its values read the array:
 * others may have been stored by then. So it goes into a copy, however few values there are. Where there are fewer of
 * them than places they are computed first, outside of parallel code, if nobody reads the array afterwards:
 *
 *     ys = scatter into (xs) n at k { … xs … -> i, v }
 *
 * ==>  ys = if n < length xs then { is, vs = map n at k { … xs … -> i, v };
 *                                   zs = scatter into (xs) n (i <- is, v <- vs) { -> i, v } -> zs }
 *                            else { the same as above } */
#include "core/build.h"
#include "core/callgraph.h"
#include "core/passes.h"

typedef struct Apart {
    Arena *scratch;
    uint32_t nvars;
    const CoreBlock **binder; /* by variable: the block that binds it, as its loop or itself */
    uint32_t *last;           /* and where it is used last there, from 1 */
    uint32_t at;
    CoreCopyMap map;
    CoreBuilder b;
} Apart;

/* ---- who reads what ---- */

static void note_use(void *ctx, CoreAtom *a)
{
    const Apart *p = ctx;
    if (!a->is_const && a->var < p->nvars)
        p->last[a->var] = p->at;
}

static void note_binders(const Apart *p, const CoreBlock *b, const CoreVar *vars, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (vars[i] < p->nvars)
            p->binder[vars[i]] = b;
}

/* Is `xs`, of this block, read by the statement, number `at` of it, not only at its values' own places (own_places.c),
 * and by nothing behind that? */
static bool is_read_last(const Apart *p, const CoreBlock *b, CoreStmt *s, uint32_t at, CoreAtom xs)
{
    CoreUses uses = {xs.var, 0};
    if (xs.is_const || xs.var >= p->nvars || core_atom_type(p->b.fn, xs).rank != 1 || p->binder[xs.var] != b ||
        p->last[xs.var] != at || (s->kind == CORE_SCATTER && core_reads_own_place(s, xs)))
        return false;
    core_block_atoms(s->soac.body, core_count_use, &uses);
    return uses.n > 0;
}

static bool has_numbers(const Apart *p, const CoreBlock *body)
{
    for (uint32_t i = 0; i < body->nresults; i++)
        if (core_atom_type(p->b.fn, body->results[i]).rank > 0)
            return false;
    return true;
}

static bool is_apart(const Apart *p, const CoreBlock *b, CoreStmt *s, uint32_t at)
{
    if ((s->kind != CORE_SCATTER && s->kind != CORE_ACCUMULATE) || !has_numbers(p, s->soac.body))
        return false;
    for (uint32_t i = 0; i < s->nvars; i++)
        if (is_read_last(p, b, s, at, s->soac.dests[i]))
            return true;
    return false;
}

/* ---- rewriting ---- */

/* By a copy of the statement: what it stores and where, and then it without anything else to do. */
static CoreBlock *values_first(Apart *p, CoreStmt *s)
{
    CoreBuilder *b = &p->b;
    CoreBlock one = {0};
    vec_push(p->scratch, &one.stmts, s);
    core_copy_map_note(&p->map, b->fn, p->scratch);
    CoreStmt *values = core_copy_within(b->p, b->fn, &one, p->scratch, &p->map)->stmts.at[0];
    core_copy_map_forget(&p->map, b->fn, s);
    CoreStmt *stored = build_stmt_into(b, s->kind, values->nvars, values->vars);
    const uint32_t n = values->soac.body->nresults;
    CoreVar *elements = arena_array(b->p->arena, CoreVar, n + 1);
    for (uint32_t i = 0; i < n; i++)
        elements[i] = build_var(b, core_atom_type(b->fn, values->soac.body->results[i]), NULL).var;
    CoreBlock *outer = build_begin(b);
    stored->soac = values->soac;
    stored->soac.index = CORE_NO_VAR;
    stored->soac.inputs = build_map(b, core_soac_of_map(values->soac));
    stored->soac.elements = elements;
    stored->soac.ninputs = n;
    CoreBlock *version = build_begin(b);
    stored->soac.body = build_end(b, version, build_atoms(b, elements, n), n);
    build_emit(b, stored);
    return build_end(b, outer, build_atoms(b, stored->vars, stored->nvars), stored->nvars);
}

static void emit_versions(Apart *p, CoreStmt *s)
{
    CoreBuilder *b = &p->b;
    b->span = s->span;
    const CoreAtom few = build_prim2(b, PRIM_LT, s->soac.domain, build_length(b, s->soac.dests[0]));
    CoreStmt *chosen = build_instead(b, s, few);
    chosen->if_.then_b = values_first(p, s);
    chosen->if_.else_b = build_alone(b, s);
    build_emit(b, chosen);
}

static void rewrite_block(void *ctx, CoreBlock *block)
{
    Apart *p = ctx;
    CoreBlock *outer = p->b.out, old = core_take_stmts(block);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        note_binders(p, block, s->vars, s->nvars);
        if (s->kind == CORE_LOOP)
            note_binders(p, s->loop.body, s->loop.params, s->loop.nparams);
        if (!core_stmt_soac(s))
            core_stmt_blocks(s, rewrite_block, p);
    }
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        p->at = i + 1;
        core_stmt_all_atoms(old.stmts.at[i], note_use, p);
    }
    p->at = old.stmts.n + 1;
    for (uint32_t i = 0; i < block->nresults; i++)
        note_use(p, &block->results[i]);
    p->b.out = block;
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        if (is_apart(p, block, s, i + 1))
            emit_versions(p, s);
        else
            core_push(p->b.p, block, s);
    }
    p->b.out = outer;
}

static void rewrite_fn(CoreProgram *program, CoreFn *fn, Arena *scratch)
{
    Apart p = {.scratch = scratch, .nvars = fn->vars.n, .b = {.p = program, .fn = fn}};
    p.binder = arena_array(scratch, const CoreBlock *, p.nvars + 1);
    p.last = arena_array(scratch, uint32_t, p.nvars + 1);
    note_binders(&p, fn->body, fn->params, fn->nparams);
    rewrite_block(&p, fn->body);
}

void core_values_apart(CoreProgram *p) { core_each_host_function(p, rewrite_fn); }
