#include "core/lane.h"

typedef struct Counter {
    RoundCost cost;
    bool loops;
    uint32_t depth; /* of operations */
} Counter;

static void count(void *ctx, CoreBlock *block)
{
    Counter *c = ctx;
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        const bool operation = core_stmt_soac(s) != NULL;
        if (core_kind(s->kind)->code == CODE_PARALLEL || s->kind == CORE_CALL)
            (*(c->depth ? &c->cost.inside : &c->cost.launches))++;
        c->cost.reads += !c->depth && s->kind == CORE_INDEX;
        if (s->kind == CORE_LOOP && !c->loops)
            continue;
        c->depth += operation;
        core_stmt_blocks(s, count, c);
        c->depth -= operation;
    }
}

RoundCost round_cost(const CoreStmt *loop, bool loops)
{
    Counter c = {.loops = loops};
    count(&c, loop->loop.body);
    c.cost.launches += !c.cost.launches;
    return c.cost;
}
