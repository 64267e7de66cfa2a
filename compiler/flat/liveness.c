/* Liveness: where each variable that owns memory is used last.
 *
 * A backward walk over structured code with sets of variables. The rules:
 *   - A variable dies at the statement that reads it last; one that is never read dies at its own statement.
 *   - Reading a column, or a context, also reads the context's ancestors: paths lead through them, and keeping
 *     the names costs nothing, since a context holds references to its ups.
 *   - IF: a variable whose last use is inside dies in the branch, and at the entry of the branch that does not use it.
 *   - Loops: a variable of outside dies at the loop statement, never in a round. State belongs to the body's block;
 * what the body does not use dies at its entry. The condition reads the state first, so nothing of it dies there.
 *   - A block's results are live to its end. Those that nobody needs afterwards are its `ends`: they move. */
#include "flat/flat.h"
#include "support/sets.h"

#include <stdlib.h>
#include <string.h>

typedef struct Liveness {
    Arena *arena;
    FlatFn *fn;
    Sets sets; /* of variables */
} Liveness;

/* A set to which a traversal adds. */
typedef struct Marker {
    const Liveness *l;
    Set set;
} Marker;

typedef VEC(FlatVar) FlatVars;

/* ---- what dies ---- */

static bool owns(const FlatFn *fn, FlatVar v)
{
    const FlatVarInfo *info = &fn->vars.at[v];
    return info->kind != FLAT_HOST || info->type.rank > 0;
}

static void list_add(const Liveness *l, FlatVars *list, FlatVar v)
{
    if (owns(l->fn, v))
        vec_push(l->arena, list, v);
}

/* Adds to `list` the members of `a` that are not in `b`, in the order of their numbers. */
static void list_difference(const Liveness *l, FlatVars *list, const uint64_t *a, const uint64_t *b)
{
    for (uint32_t w = 0; w < l->sets.words; w++) {
        uint64_t bits = a[w] & ~b[w];
        for (uint32_t i = 0; bits; i++, bits >>= 1)
            if (bits & 1)
                list_add(l, list, w * 64 + i);
    }
}

/* ---- marking ---- */

static void mark_read(void *ctx, FlatVar v)
{
    const Marker *m = ctx;
    while (v != FLAT_ROOT && v != FLAT_NO_VAR) {
        set_add(m->set, v);
        const FlatVarInfo *info = &m->l->fn->vars.at[v];
        v = info->kind == FLAT_HOST ? FLAT_NO_VAR : info->ctx;
    }
}

static void mark_one(void *ctx, FlatVar v)
{
    const Marker *m = ctx;
    set_add(m->set, v);
}

typedef struct Uses {
    Marker read, bound;
} Uses;

static void collect_block(void *ctx, FlatBlock *b)
{
    Uses *u = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const FlatStmt *s = b->stmts.at[i];
        flat_stmt_reads(s, mark_read, &u->read);
        flat_stmt_binds(s, mark_one, &u->bound);
        flat_stmt_params(s, mark_one, &u->bound);
        flat_stmt_blocks(s, collect_block, u);
    }
    for (uint32_t i = 0; i < b->nresults; i++)
        mark_one(&u->read, b->results[i]);
}

/* The variables of outside that the blocks of a loop use. */
static Set loop_uses(Liveness *l, const FlatStmt *s)
{
    Uses u = {{l, set_new(&l->sets)}, {l, set_new(&l->sets)}};
    flat_stmt_params(s, mark_one, &u.bound);
    flat_stmt_blocks(s, collect_block, &u);
    set_subtract(&l->sets, u.read.set, u.bound.set);
    set_drop(&l->sets, u.bound.set);
    return u.read.set;
}

/* ---- the walk ---- */

static void live_block(Liveness *l, FlatBlock *b, Set live);

static void block_set_dies(FlatBlock *b, const FlatVars *dies)
{
    b->dies = dies->at;
    b->ndies = dies->n;
}

/* Both branches; `live` holds what is live after the statement, and then what is before the branches. */
static void live_if(Liveness *l, FlatStmt *s, Set live)
{
    Set then_in = set_copy(&l->sets, live), else_in = set_copy(&l->sets, live);
    live_block(l, s->if_.then_b, then_in);
    live_block(l, s->if_.else_b, else_in);
    FlatVars then_dies = {0}, else_dies = {0};
    list_difference(l, &then_dies, else_in, then_in);
    list_difference(l, &else_dies, then_in, else_in);
    block_set_dies(s->if_.then_b, &then_dies);
    block_set_dies(s->if_.else_b, &else_dies);
    set_unite(&l->sets, live, then_in, NULL);
    set_unite(&l->sets, live, else_in, NULL);
    set_drop(&l->sets, then_in);
    set_drop(&l->sets, else_in);
}

/* A loop's blocks; `live` gains what they use. Adds to *dies what is used in the loop and not after it. */
static void live_loop(Liveness *l, FlatStmt *s, Set live, FlatVars *dies)
{
    Set uses = loop_uses(l, s), params = set_new(&l->sets);
    Marker reads = {l, set_copy(&l->sets, uses)}, binds = {l, params};
    flat_stmt_reads(s, mark_read, &reads);
    list_difference(l, dies, reads.set, live);
    flat_stmt_params(s, mark_one, &binds);
    set_unite(&l->sets, live, uses, NULL);

    bool lifted = s->kind == FLAT_S_LOOP_LIFTED;
    FlatBlock *cond = lifted ? s->loop_lifted.cond : s->loop.index == FLAT_NO_VAR ? s->loop.cond : NULL;
    FlatBlock *body = lifted ? s->loop_lifted.body : s->loop.body;
    if (cond) {
        Set out = set_copy(&l->sets, live);
        set_unite(&l->sets, out, params, NULL);
        live_block(l, cond, out);
        set_drop(&l->sets, out);
    }
    Set in = set_copy(&l->sets, live);
    live_block(l, body, in);
    FlatVars unused = {0};
    list_difference(l, &unused, params, in);
    block_set_dies(body, &unused);
    set_drop(&l->sets, uses);
    set_drop(&l->sets, reads.set);
    set_drop(&l->sets, params);
    set_drop(&l->sets, in);
}

typedef struct OutsPass {
    Liveness *l;
    Set live;
    FlatVars *dies;
} OutsPass;

static void bind_out(void *ctx, FlatVar v)
{
    OutsPass *o = ctx;
    if (!set_has(o->live, v))
        list_add(o->l, o->dies, v);
    set_remove(o->live, v);
}

/* What a statement reads and nobody reads after it dies; and is live before it. */
static void read_last(void *ctx, FlatVar v)
{
    const OutsPass *o = ctx;
    while (v != FLAT_ROOT && v != FLAT_NO_VAR) {
        if (!set_has(o->live, v))
            list_add(o->l, o->dies, v);
        set_add(o->live, v);
        const FlatVarInfo *info = &o->l->fn->vars.at[v];
        v = info->kind == FLAT_HOST ? FLAT_NO_VAR : info->ctx;
    }
}

static int compare_vars(const void *a, const void *b)
{
    const FlatVar x = *(const FlatVar *)a, y = *(const FlatVar *)b;
    return (x > y) - (x < y);
}

static void live_stmt(Liveness *l, FlatStmt *s, Set live)
{
    FlatVars dies = {0};
    OutsPass outs = {l, live, &dies};
    flat_stmt_binds(s, bind_out, &outs);
    bool is_loop = s->kind == FLAT_S_LOOP || s->kind == FLAT_S_LOOP_LIFTED;
    if (is_loop)
        live_loop(l, s, live, &dies);
    if (s->kind == FLAT_S_IF)
        live_if(l, s, live);
    uint32_t bound = dies.n;
    Marker reads = {l, live};
    flat_stmt_reads(s, is_loop ? mark_read : read_last, is_loop ? (void *)&reads : (void *)&outs);
    if (!is_loop && dies.n > bound)
        qsort(dies.at + bound, dies.n - bound, sizeof *dies.at, compare_vars);
    s->dies = dies.at;
    s->ndies = dies.n;
}

/* `live`: on entry what is live after the block, on return what is live before it. */
static void live_block(Liveness *l, FlatBlock *b, Set live)
{
    FlatVars ends = {0};
    block_set_dies(b, &ends);
    for (uint32_t i = 0; i < b->nresults; i++) {
        if (set_has(live, b->results[i]))
            continue;
        set_add(live, b->results[i]);
        list_add(l, &ends, b->results[i]);
    }
    b->ends = ends.at;
    b->nends = ends.n;
    for (uint32_t i = b->stmts.n; i-- > 0;)
        live_stmt(l, b->stmts.at[i], live);
}

static void live_fn(FlatProgram *p, FlatFn *fn)
{
    Liveness l = {.arena = p->arena, .fn = fn, .sets = sets_of(p->arena, fn->vars.n)};
    Set live = set_new(&l.sets), bound = set_new(&l.sets);
    live_block(&l, fn->body, live);
    for (uint32_t i = 0; i < fn->nparams; i++)
        set_add(bound, fn->params[i]);
    if (fn->lifted)
        set_add(bound, fn->ctx);
    FlatVars unused = {0};
    list_difference(&l, &unused, bound, live);
    block_set_dies(fn->body, &unused);
}

void flat_liveness(FlatProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++)
        live_fn(p, p->fns.at[i]);
}
