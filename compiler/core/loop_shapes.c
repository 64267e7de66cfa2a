/* What of its state's shapes a loop keeps:
 *
 *     xs' = loop (xs = init) … { B -> ys }
 *
 * Where init has length n, and, if xs has it, ys has it, too, xs has length n in each round, and xs' behind them;
 * likewise the rows of xs. That is found by trying: a copy of B is simplified as if xs had whatever init has. What its
 * results have not is given up, and the rest tried again. So a step of Gaussian elimination knows that rows stay
 * equally long. */
#include "core/build.h"
#include "core/choose_lanes_internal.h"
#include "core/simplify_internal.h"

/* MOST_TRIED: statements of all copies for a function, those for loops in copies included. MOST_TRIES: for a loop. */
enum { MOST_TRIED = 4000, MOST_TRIES = 3 };

/* ---- what the state begins with ---- */

typedef struct Asked {
    CoreVar array;
    bool found;
} Asked;

static void look_for_length(void *ctx, CoreBlock *b)
{
    Asked *asked = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !asked->found; i++) {
        CoreStmt *s = b->stmts.at[i];
        asked->found = s->kind == CORE_LENGTH && s->length.array.var == asked->array;
        core_stmt_blocks(s, look_for_length, asked);
    }
}

/* Makes the initial length known, where the body asks for that of the parameter. */
static void ask_length(Simplifier *s, const CoreStmt *loop, uint32_t i)
{
    CoreAtom n, init = loop->loop.inits[i];
    Asked asked = {.array = loop->loop.params[i]};
    if (init.is_const || core_atom_type(s->fn, init).rank == 0 || facts_length(s, init, &n))
        return;
    look_for_length(&asked, loop->loop.body);
    if (loop->loop.cond)
        look_for_length(&asked, loop->loop.cond);
    if (!asked.found)
        return;
    CoreBuilder b = {.p = s->p, .fn = s->fn, .span = loop->span};
    const CoreType i64 = core_scalar(SC_I64);
    CoreStmt *length = build_stmt(&b, CORE_LENGTH, 1, &i64);
    length->length.array = init;
    simplify_emit(s, length);
    facts_add(s, length);
}

/* ---- what it keeps ---- */

/* What the results of a round have, if the state has these shapes. */
static RowsLeaving shapes_after(Simplifier *s, const CoreStmt *loop, RowsLeaving shapes)
{
    const bool changed = s->changed, merges = s->merges;
    s->merges = false;
    CoreBlock *copy = core_copy_within(s->p, s->fn, loop->loop.body, s->scratch, &s->copied);
    RowsLeaving after = simplify_round(s, loop, shapes, copy);
    s->changed = changed;
    s->merges = merges;
    return after;
}

static bool knows_any(const CoreStmt *loop, RowsLeaving shapes)
{
    for (uint32_t i = 0; i < loop->loop.nparams; i++)
        if (shapes[i])
            return true;
    return false;
}

/* Keeps what is known of both; true if that is all. */
static bool keep_common(Simplifier *s, const CoreStmt *loop, RowsLeaving shapes, RowsLeaving after)
{
    bool all = true;
    for (uint32_t i = 0; i < loop->loop.nparams; i++) {
        const RowFacts *both = rows_common(s, shapes[i], after[i]);
        all &= rows_know_as_much(both, shapes[i]);
        shapes[i] = both;
    }
    return all;
}

static bool may_try(Simplifier *s, const CoreStmt *loop)
{
    uint32_t statements = 1;
    choose_count(&statements, loop->loop.body);
    s->tried += statements;
    return s->tried <= MOST_TRIED;
}

static bool are_kept(Simplifier *s, const CoreStmt *loop, RowsLeaving shapes)
{
    for (uint32_t tries = 0; tries < MOST_TRIES && knows_any(loop, shapes) && may_try(s, loop); tries++)
        if (keep_common(s, loop, shapes, shapes_after(s, loop, shapes)))
            return true;
    return false;
}

RowsLeaving loop_shapes(Simplifier *s, const CoreStmt *loop)
{
    const uint32_t n = loop->loop.nparams, mark = facts_mark(s), emitted = s->out->stmts.n;
    const RowFacts **shapes = arena_array(s->scratch, const RowFacts *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        ask_length(s, loop, i);
        shapes[i] = rows_shape(s, loop->loop.inits[i]);
    }
    if (are_kept(s, loop, shapes))
        return shapes;
    facts_undo(s, mark);
    s->out->stmts.n = emitted;
    return arena_array(s->scratch, const RowFacts *, n + 1);
}
