#include "core/split_state.h"

CoreVar *split_vars(const SplitState *s, const CoreVar *vars, uint32_t n, uint32_t *count)
{
    CoreVar *out = arena_array(s->b->p->arena, CoreVar, MOST_PARTS * n + 1);
    *count = 0;
    for (uint32_t k = 0; k < n; k++)
        if (s->is_split(s->ctx, vars[k]))
            *count += s->make(s->ctx, vars[k], out + *count);
        else
            out[(*count)++] = vars[k];
    return out;
}

CoreAtom *split_atoms(const SplitState *s, const CoreVar *vars, const CoreAtom *atoms, uint32_t n, uint32_t *count)
{
    CoreAtom *out = arena_array(s->b->p->arena, CoreAtom, MOST_PARTS * n + 1);
    *count = 0;
    for (uint32_t k = 0; k < n; k++)
        if (s->is_split(s->ctx, vars[k]))
            *count += s->parts(s->ctx, vars[k], atoms[k], out + *count);
        else
            out[(*count)++] = s->other ? s->other(s->ctx, atoms[k]) : atoms[k];
    return out;
}

void split_block(const SplitState *s, CoreBlock *block, const CoreVar *vars, uint32_t n)
{
    CoreBlock *outer = s->b->out, old = core_take_stmts(block);
    s->b->out = block;
    for (uint32_t i = 0; i < old.stmts.n; i++)
        s->rewrite(s->ctx, old.stmts.at[i]);
    if (vars)
        block->results = split_atoms(s, vars, old.results, n, &block->nresults);
    s->b->out = outer;
}

void split_if(const SplitState *s, CoreStmt *branch)
{
    const CoreVar *vars = branch->vars;
    const uint32_t n = branch->nvars;
    split_block(s, branch->if_.then_b, vars, n);
    split_block(s, branch->if_.else_b, vars, n);
    branch->vars = split_vars(s, vars, n, &branch->nvars);
    core_push(s->b->p, s->b->out, branch);
}

void split_loop(const SplitState *s, CoreStmt *loop, CoreAtom *inits)
{
    const CoreVar *vars = loop->vars, *params = loop->loop.params;
    const uint32_t n = loop->loop.nparams;
    uint32_t count;
    loop->loop.inits = inits ? inits : split_atoms(s, params, loop->loop.inits, n, &count);
    loop->loop.params = split_vars(s, params, n, &loop->loop.nparams);
    if (loop->loop.cond)
        split_block(s, loop->loop.cond, NULL, 0);
    split_block(s, loop->loop.body, params, n);
    loop->vars = split_vars(s, vars, n, &loop->nvars);
    core_push(s->b->p, s->b->out, loop);
}
