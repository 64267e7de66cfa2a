/* What a program would be whose bounds and sizes nobody has to check: to measure what checks cost (DPC_UNCHECKED=1).
 * They become checks that are known to hold. Programs that would fail read and write anywhere. */
#include "core/passes.h"

static bool is_bound_or_size(const CoreProgram *p, uint32_t site)
{
    switch (p->sites.at[site].kind) {
    case ERR_INDEX:
    case ERR_SLICE:
    case ERR_LENGTHS:
    case ERR_SIZE: return true;
    case ERR_NEGATIVE: /* these come with the sums of lengths, for nothing: without them `nest` would be no such pass */
    case ERR_NEST:
    case ERR_DIVISION:
    case ERR_ASSERT:
    case ERR_MATCH:
    case ERR_EMPTY:
    case ERR_DEPTH: break;
    }
    return false;
}

/* An update stays as it is: without a site it may be out of range. */
static void drop_in_block(void *ctx, CoreBlock *b)
{
    const CoreProgram *p = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        const bool checks = s->kind == CORE_INDEX || s->kind == CORE_SLICE || s->kind == CORE_CHECK;
        if (checks && s->site != CORE_NO_SITE && is_bound_or_size(p, s->site))
            s->site = CORE_NO_SITE;
        core_stmt_blocks(s, drop_in_block, ctx);
    }
}

void core_drop_checks(CoreProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++)
        drop_in_block(p, p->fns.at[i]->body);
}
