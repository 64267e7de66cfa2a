/* Branches in parallel code that take one position out of a nest:
 *
 *     map n at j (b <- rows) { c = eq i j;  x = if c then { -> 1 } else { s = reduce m (x <- a, y <- b) { … }; -> s } }
 *   ==>
 *     some = lt 1 n
 *     map n at j (b <- rows) {
 *       c = eq i j
 *       x = if some then { s = reduce m …;  z = if c then { -> 1 } else { -> s }; -> z } else { … as it was … }
 *     }
 *
 * where i is the same for all j: then the branch is not taken for one of n positions at most. Instances need not part
 * ways, and the reduction goes over a regular nest, by tiles if its instances share what they read. With one position
 * more than half of the work might be in vain: so there are two versions, of which the host takes one.
 *
 * What goes in front of the branch cannot fail, and looks at no element but those of the sequences that it goes over:
 * an index may have no check for being known to differ from i. A sequence's length is known whatever the condition is,
 * for that two numbers differ proves no length. */
#include "core/build.h"
#include "core/callgraph.h"
#include "core/choose_lanes_internal.h"
#include "core/open_branches.h"
#include "core/passes.h"

enum { MOST_DOUBLED = 1000 }; /* statements of a function's branches that have two versions */

typedef struct Diagonals {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    CoreCopyMap copied;
    CoreStmt **defs;  /* by variable: what binds it, or NULL */
    uint32_t *levels; /* by variable: in so many parallel operations */
    bool *stays;      /* by variable: bound in the branch looked at, by what does not go in front of it */
    uint32_t level;
    CoreBlock *front;          /* what stands in front of the outermost of them */
    const CoreSoac *innermost; /* whose body this is; NULL: none, or an operator or a guard of one */
    uint32_t doubled;
    bool changed;
} Diagonals;

static uint32_t level_of(const Diagonals *d, CoreAtom a) { return a.is_const ? 0 : d->levels[a.var]; }

/* ---- the condition ---- */

/* The branch that is taken for all positions but one at most; NULL: it may be any. */
static CoreBlock *usual_branch(const Diagonals *d, const CoreStmt *s)
{
    const CoreSoac *soac = d->innermost;
    const CoreStmt *c = s->if_.cond.is_const ? NULL : d->defs[s->if_.cond.var];
    if (!soac || soac->index == CORE_NO_VAR || soac->guard || level_of(d, soac->domain) > 0 || !c ||
        c->kind != CORE_PRIM || (c->prim.op != PRIM_EQ && c->prim.op != PRIM_NE))
        return NULL;
    const CoreAtom *x = c->prim.args;
    const bool first = !x[0].is_const && x[0].var == soac->index;
    if ((!first && (x[1].is_const || x[1].var != soac->index)) || level_of(d, x[first]) >= d->level)
        return NULL;
    return c->prim.op == PRIM_EQ ? s->if_.else_b : s->if_.then_b;
}

/* ---- what goes in front ---- */

static void note_elements(void *found, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        *(bool *)found |= s->kind == CORE_INDEX || s->kind == CORE_SLICE;
        core_stmt_blocks(s, note_elements, found);
    }
}

static bool is_reduction(CoreStmt *s)
{
    bool looks_at_elements = false;
    core_stmt_blocks(s, note_elements, &looks_at_elements);
    return s->kind == CORE_REDUCE && !looks_at_elements;
}

static bool stays(void *diagonals, CoreAtom a) { return ((const Diagonals *)diagonals)->stays[a.var]; }

/* Binds what the branch does. False: something parallel has to stay. */
static bool look_at_branch(Diagonals *d, CoreBlock *b)
{
    bool fallible = false, opens = true;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        const bool fails = core_stmt_fallible(d->p, d->fn, s);
        const bool goes = !fails && (s->kind == CORE_PRIM || (is_reduction(s) && !fallible));
        const bool there = goes && !core_stmt_reads(s, stays, d);
        opens &= there || core_stmt_is_scalar(s);
        fallible |= fails;
        for (uint32_t k = 0; k < s->nvars; k++) {
            d->defs[s->vars[k]] = s;
            d->stays[s->vars[k]] = !there;
        }
    }
    return opens;
}

static bool may_open(Diagonals *d, CoreStmt *s, CoreBlock *usual)
{
    const CoreBlock *other = usual == s->if_.then_b ? s->if_.else_b : s->if_.then_b;
    uint32_t statements = d->doubled;
    choose_count(&statements, usual);
    if (core_stmt_is_scalar(s) || !core_block_is_scalar(other) || statements > MOST_DOUBLED ||
        !look_at_branch(d, usual))
        return false;
    d->doubled = statements;
    return true;
}

/* ---- two versions ---- */

/* Appends what becomes of s. False: nothing does. */
static bool open_if(Diagonals *d, CoreStmt *s, CoreBlock *out)
{
    CoreBlock *usual = usual_branch(d, s);
    if (!usual || !may_open(d, s, usual))
        return false;
    CoreBuilder b = {.p = d->p, .fn = d->fn, .out = d->front, .span = s->span};
    const uint32_t n = s->nvars;
    const CoreVar *vars = s->vars;
    CoreType *types = arena_array(d->scratch, CoreType, n + 1);
    const CoreAtom some = build_prim2(&b, PRIM_LT, core_i64(1), d->innermost->domain);
    CoreBlock *opened = core_new_block(d->p), *whole = core_new_block(d->p);
    for (uint32_t i = 0; i < n; i++)
        types[i] = core_var_type(d->fn, vars[i]);
    b.out = whole;
    build_fresh(&b, s, n, types);
    core_push(d->p, whole, s);
    build_return(&b, whole, s);
    CoreBlock *as_it_was = core_copy_within(d->p, d->fn, whole, d->scratch, &d->copied);
    open_move_out(d->p, d->defs, usual, opened);
    core_push(d->p, opened, s);
    build_return(&b, opened, s);
    b.out = out;
    CoreStmt *versions = build_stmt_into(&b, CORE_IF, n, vars);
    versions->if_.cond = some;
    versions->if_.then_b = opened;
    versions->if_.else_b = as_it_was;
    build_emit(&b, versions);
    return d->changed = true;
}

/* ---- finding them: what is opened is not looked into again ---- */

static void bind(Diagonals *d, CoreVar v, CoreStmt *def)
{
    d->levels[v] = d->level;
    d->defs[v] = def;
}

static void bind_inside(void *diagonals, CoreVar *v) { bind(diagonals, *v, NULL); }

static void open_in_block(void *diagonals, CoreBlock *b);

static void open_in_soac(Diagonals *d, CoreStmt *s, CoreSoac *soac)
{
    const CoreLambda *op = core_stmt_operator(s);
    const CoreSoac *outer = d->innermost;
    d->level++;
    core_stmt_binders(s, bind_inside, d);
    d->innermost = soac;
    open_in_block(d, soac->body);
    d->innermost = NULL;
    if (soac->guard)
        open_in_block(d, soac->guard);
    if (op)
        open_in_block(d, op->body);
    d->innermost = outer;
    d->level--;
}

static void open_in_stmt(Diagonals *d, CoreStmt *s)
{
    core_stmt_binders(s, bind_inside, d);
    core_stmt_blocks(s, open_in_block, d);
}

static void open_in_block(void *diagonals, CoreBlock *b)
{
    Diagonals *d = diagonals;
    const CoreBlock old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        CoreSoac *soac = core_stmt_soac(s);
        if (d->level == 0)
            d->front = b;
        const bool opened = s->kind == CORE_IF && d->level > 0 && open_if(d, s, b);
        if (opened)
            s = b->stmts.at[b->stmts.n - 1];
        else if (soac)
            open_in_soac(d, s, soac);
        else
            open_in_stmt(d, s);
        for (uint32_t k = 0; k < s->nvars; k++)
            bind(d, s->vars[k], s);
        if (!opened)
            core_push(d->p, b, s);
    }
}

bool core_open_diagonals(CoreProgram *p)
{
    bool changed = false;
    Arena *arena = arena_create();
    const bool *lifted = core_lifted_functions(p, arena); /* there the host could not choose */
    for (uint32_t i = 0; i < p->fns.n; i++) {
        if (lifted[i])
            continue;
        Diagonals d = {.p = p, .fn = p->fns.at[i], .scratch = arena_create()};
        d.defs = arena_array(d.scratch, CoreStmt *, d.fn->vars.n + 1);
        d.levels = arena_array(d.scratch, uint32_t, d.fn->vars.n + 1);
        d.stays = arena_array(d.scratch, bool, d.fn->vars.n + 1);
        open_in_block(&d, d.fn->body);
        changed |= d.changed;
        arena_destroy(d.scratch);
    }
    arena_destroy(arena);
    return changed;
}
