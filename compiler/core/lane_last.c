/* Which reads of arrays are the last, in code of a lane: an update, a loop, or an `if` that only hands an array on may
 * take it over then. Found backwards; of two branches one is executed, so that neither sees what the other reads:
 *
 *     ys = if c then { y = update xs i v; -> y } else { -> xs }        -- both are the last to read xs
 *
 * What is read again in the next round of a repetition is left to lane_analyse(), which knows where arrays are bound.
 */
#include "core/lane.h"

typedef struct Backwards {
    const Lane *l;
    VEC(CoreVar) marked; /* what is read behind the current point, oldest first */
} Backwards;

static bool is_read_later(const Backwards *b, CoreAtom a) { return a.is_const || lane_var(b->l, a.var)->read_later; }

static void mark(void *ctx, CoreAtom *a)
{
    Backwards *b = ctx;
    if (is_read_later(b, *a))
        return;
    lane_var(b->l, a->var)->read_later = true;
    vec_push(b->l->vars.arena, &b->marked, a->var);
}

static void go_over(Backwards *b, const CoreBlock *block);

/* The results are the last to read what they are, if both branches' are. */
static void go_over_branch(Backwards *b, const CoreStmt *s, const CoreBlock *branch)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        if (is_read_later(b, branch->results[i]))
            lane_var(b->l, s->vars[i])->reads_last = false;
    go_over(b, branch);
}

static void go_over_if(Backwards *b, const CoreStmt *s)
{
    const uint32_t before = b->marked.n;
    for (uint32_t i = 0; i < s->nvars; i++)
        lane_var(b->l, s->vars[i])->reads_last = true;
    go_over_branch(b, s, s->if_.else_b);
    const uint32_t n = b->marked.n - before;
    CoreAtom *by_else = arena_array(b->l->vars.arena, CoreAtom, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const CoreVar v = b->marked.at[before + i];
        by_else[i] = core_var_atom(v, core_var_type(b->l->fn, v));
        lane_var(b->l, v)->read_later = false;
    }
    b->marked.n = before;
    go_over_branch(b, s, s->if_.then_b);
    for (uint32_t i = 0; i < n; i++)
        mark(b, &by_else[i]);
}

/* After the last condition the parameters are the results. */
static void go_over_loop(Backwards *b, const CoreStmt *s)
{
    go_over(b, s->loop.body);
    for (uint32_t i = 0; s->loop.cond && i < s->loop.nparams; i++) {
        CoreAtom a = core_var_atom(s->loop.params[i], core_var_type(b->l->fn, s->loop.params[i]));
        mark(b, &a);
    }
    if (s->loop.cond)
        go_over(b, s->loop.cond);
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        lane_var(b->l, s->loop.params[i])->reads_last = !is_read_later(b, s->loop.inits[i]);
}

static bool is_input(const CoreStmt *s, CoreAtom a)
{
    const CoreSoac *soac = core_stmt_soac(s);
    for (uint32_t i = 0; soac && i < soac->ninputs; i++)
        if (core_atom_equal(soac->inputs[i], a))
            return true;
    return false;
}

/* Scatters: the old elements that the body reads are not those that others' values have taken the place of. */
static bool reads_own_place(const CoreStmt *s, CoreAtom changed)
{
    return s->kind == CORE_SCATTER && core_reads_own_place(s, changed);
}

static void go_over_inner(void *ctx, CoreBlock *block) { go_over(ctx, block); }

static void go_over_stmt(Backwards *b, CoreStmt *s)
{
    const CoreAtom changed = core_stmt_changes(s);
    const bool own = !changed.is_const && !is_read_later(b, changed) && reads_own_place(s, changed);
    if (s->kind == CORE_IF)
        go_over_if(b, s);
    else if (s->kind == CORE_LOOP)
        go_over_loop(b, s);
    else
        core_stmt_blocks(s, go_over_inner, b);
    if (!changed.is_const)
        lane_var(b->l, s->vars[0])->reads_last = (own || !is_read_later(b, changed)) && !is_input(s, changed);
    core_stmt_atoms(s, mark, b);
}

static void go_over(Backwards *b, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->nresults; i++)
        mark(b, &block->results[i]);
    for (uint32_t i = block->stmts.n; i-- > 0;)
        go_over_stmt(b, block->stmts.at[i]);
}

void lane_find_last_reads(Lane *l, const CoreBlock *block)
{
    Backwards b = {.l = l};
    go_over(&b, block);
}
