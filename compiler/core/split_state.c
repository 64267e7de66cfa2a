#include "core/split_state.h"

CoreVar *split_vars(const SplitState *s, const CoreVar *vars, uint32_t n, uint32_t *count)
{
    CoreVar *out = arena_array(s->b->p->arena, CoreVar, s->nparts * n + 1);
    *count = 0;
    for (uint32_t k = 0; k < n; k++) {
        const bool splits = s->is_split(s->ctx, vars[k]);
        if (splits)
            s->make(s->ctx, vars[k], out + *count);
        else
            out[*count] = vars[k];
        *count += splits ? s->nparts : 1;
    }
    return out;
}

CoreAtom *split_atoms(const SplitState *s, const CoreVar *vars, const CoreAtom *atoms, uint32_t n)
{
    CoreAtom *out = arena_array(s->b->p->arena, CoreAtom, s->nparts * n + 1);
    uint32_t count = 0;
    for (uint32_t k = 0; k < n; k++) {
        const bool splits = s->is_split(s->ctx, vars[k]);
        if (splits)
            s->parts(s->ctx, vars[k], atoms[k], out + count);
        else
            out[count] = s->other ? s->other(s->ctx, atoms[k]) : atoms[k];
        count += splits ? s->nparts : 1;
    }
    return out;
}

void split_block(const SplitState *s, CoreBlock *block, const CoreVar *vars, uint32_t n)
{
    CoreBlock *outer = s->b->out, old = core_take_stmts(block);
    s->b->out = block;
    for (uint32_t i = 0; i < old.stmts.n; i++)
        s->rewrite(s->ctx, old.stmts.at[i]);
    if (vars) {
        uint32_t count = 0;
        block->results = split_atoms(s, vars, old.results, n);
        for (uint32_t k = 0; k < n; k++)
            count += s->is_split(s->ctx, vars[k]) ? s->nparts : 1;
        block->nresults = count;
    }
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
    loop->loop.inits = inits;
    loop->loop.params = split_vars(s, params, n, &loop->loop.nparams);
    if (loop->loop.cond)
        split_block(s, loop->loop.cond, NULL, 0);
    split_block(s, loop->loop.body, params, n);
    loop->vars = split_vars(s, vars, n, &loop->nvars);
    core_push(s->b->p, s->b->out, loop);
}
