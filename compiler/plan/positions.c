/* Which packed contexts need the positions of their instances: those on a way that something goes up. What a PACK
 * stores of the instances that it keeps, and the views of whole segments, need none. */
#include "plan/lower_internal.h"

typedef struct Ways {
    const FlatFn *fn;
    bool *up; /* by variable: a context whose instances are looked for in its up */
} Ways;

static void add_way(const Ways *w, FlatVar from, FlatVar to)
{
    for (; from != to && from != FLAT_ROOT && from != FLAT_NO_VAR; from = plan_up(w->fn, from))
        w->up[from] = true;
}

static void add_inputs(const Ways *w, FlatVar ctx, const FlatInputs *inputs)
{
    for (uint32_t i = 0; i < inputs->n; i++) {
        const FlatInput *in = &inputs->at[i];
        if (in->kind != IN_HOST)
            add_way(w, ctx, in->kind == IN_COL ? flat_ctx(w->fn, in->var) : plan_up(w->fn, in->ctx));
    }
}

static void add_block(void *ctx, FlatBlock *b);
static void add_stmt(Ways *w, const FlatStmt *s)
{
    if (flat_kind_has_body(s->kind))
        add_inputs(w, s->body.ctx, &s->body.inputs);
    if (flat_kind_has_op(s->kind)) {
        add_inputs(w, plan_up(w->fn, s->body.ctx), &s->reduce.op.inputs);
        add_inputs(w, plan_up(w->fn, s->body.ctx), &s->reduce.op.neutral_inputs);
    }
    if (s->kind == FLAT_S_SCAN && flat_scan_maps(s))
        add_inputs(w, s->body.ctx, &s->reduce.then.inputs);
    for (uint32_t i = 0; s->kind == FLAT_S_SELECT && i < s->arrays.n; i++)
        add_way(w, s->ctx, flat_ctx(w->fn, s->arrays.arrays[i]));
    for (uint32_t i = 0; s->kind == FLAT_S_MERGE && i < s->merge.nparts; i++)
        add_way(w, s->merge.parts[i].ctx, s->ctx);
    flat_stmt_blocks(s, add_block, w);
}

static void add_block(void *ctx, FlatBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        add_stmt(ctx, b->stmts.at[i]);
}

bool *lower_positions(Arena *arena, const FlatFn *fn)
{
    Ways w = {fn, arena_array(arena, bool, fn->vars.n + 1)};
    add_block(&w, fn->body);
    return w.up;
}
