/* What is accumulated in a new array, all of whose elements are the operator's neutral one, is a histogram:
 *
 *     xs = map n () { -> 0 };  ys = accumulate into (xs) m … { … -> i, v } op (add)
 *   ==>
 *     ys = hist n m … { … -> i, v } neutral (0) op (add)
 *
 * whose bins may have copies near the units, where an accumulation changes the array itself, element by element. Of
 * operators like max any element does: it may be combined with several times. */
#include "core/append.h"
#include "core/passes.h"

/* Combined with x any number of times, is `from` as combined once, or not at all where it is neutral? */
static bool begins_bins(CorePrim op, CoreAtom from)
{
    switch (op) {
    case PRIM_MIN:
    case PRIM_MAX:
    case PRIM_AND:
    case PRIM_OR: return true;
    case PRIM_ADD:
    case PRIM_XOR: return from.is_const && from.bits == 0;
    default: return false;
    }
}

/* The operator's one statement, of its two parameters. */
static const CoreStmt *primitive(const CoreLambda *op)
{
    const CoreStmt *s = op->body->stmts.n == 1 ? op->body->stmts.at[0] : NULL;
    const bool plain = s && s->kind == CORE_PRIM && s->prim.nargs == 2 && op->nparams == 2 &&
                       !op->body->results[0].is_const && op->body->results[0].var == s->vars[0];
    const CoreAtom *a = plain ? s->prim.args : NULL;
    const bool both = a && !a[0].is_const && !a[1].is_const && a[0].var != a[1].var;
    for (uint32_t i = 0; both && i < 2; i++)
        if (a[i].var != op->params[0] && a[i].var != op->params[1])
            return NULL;
    return both ? s : NULL;
}

typedef struct Bins {
    CoreProgram *p;
    CoreMakers makers;
} Bins;

static void look_in_block(void *ctx, CoreBlock *b)
{
    const Bins *bins = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        core_stmt_blocks(s, look_in_block, ctx);
        if (s->kind != CORE_ACCUMULATE || s->nvars != 1)
            continue;
        const CoreStmt *op = primitive(&s->soac.op), *made = core_maker(&bins->makers, s->soac.dests[0]);
        if (!op || !made || made->kind != CORE_MAP || made->soac.guard || made->soac.body->stmts.n > 0)
            continue;
        const CoreAtom from = made->soac.body->results[core_stmt_result(made, s->soac.dests[0])];
        const bool bound = !from.is_const && core_stmt_binds(made, from.var);
        if (bound || core_soac_binds(made, from) || !begins_bins(op->prim.op, from))
            continue;
        s->kind = CORE_HIST;
        s->soac.size = made->soac.domain;
        s->soac.neutral = arena_new(bins->p->arena, CoreAtom);
        s->soac.neutral[0] = from;
        s->soac.dests = NULL;
    }
}

void core_fresh_bins(CoreProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++) {
        Arena *scratch = arena_create();
        Bins bins = {p, core_makers_of(p->fns.at[i], scratch)};
        look_in_block(&bins, p->fns.at[i]->body);
        arena_destroy(scratch);
    }
}
