/* Which places of the program a kernel's code comes from. */
#include "plan/plan.h"

#include <string.h>

typedef struct Search {
    Plan *plan;
    const PlanKernel *k;
    PlanContents found;
} Search;

bool plan_same_place(const PlanPlace *a, const PlanPlace *b)
{
    return a->file && b->file && a->line == b->line && strcmp(a->file, b->file) == 0;
}

static void add_place(Search *s, Span at)
{
    const PlanPlace place = plan_place_of(s->plan, at);
    bool known = plan_same_place(&place, &s->k->place) || plan_same_place(&place, &s->k->library);
    for (uint32_t i = 0; i < s->found.fused.n && !known; i++)
        known = plan_same_place(&place, &s->found.fused.at[i]);
    if (!known)
        vec_push(s->plan->arena, &s->found.fused, place);
}

static void add_block(void *ctx, CoreBlock *b)
{
    Search *s = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *stmt = b->stmts.at[i];
        s->found.by_lanes |= stmt->kind == CORE_LANE;
        if (plan_has_place(stmt->span))
            add_place(s, stmt->span);
        if (plan_has_place(stmt->span) && stmt->span.origin)
            add_place(s, source_of_origin(s->plan->program->core->session, stmt->span.origin));
        core_stmt_blocks(stmt, add_block, s);
    }
}

PlanContents plan_contents(Plan *plan, const PlanKernel *k)
{
    Search s = {.plan = plan, .k = k};
    add_block(&s, k->stmt->body.block);
    if (plan_has_op(k))
        add_block(&s, k->stmt->reduce.op.op.body);
    if (plan_maps(k))
        add_block(&s, k->stmt->reduce.then.block);
    return s.found;
}
