/* Packs whose sizes nobody waits for.
 *
 *     (c15), (x14) = await (0) p17 -- reads back
 *     c21 : [f64] = views x14 c15                     ->     (c21) = packed views (0) p17
 *
 * Where nobody wants the columns of a pack but as the arrays of the segments that it packs, and the contexts for
 * nothing else, the host need not know how many elements were kept: the arrays are views by the offsets that the pack
 * leaves on the device. The runtime hears of the number when the host looks next, for whatever reason. */
#include "plan/plan.h"

typedef struct Views {
    const PlanFn *fn;
    Arena *arena;
    uint32_t *reads;    /* by register: operands that read it */
    PlanInstr **by_col; /* by register: the VIEWS of the column */
    uint32_t *as_views; /* by register: VIEWS that the context is read by */
} Views;

static void note_read(void *ctx, PlanOperand *o, PlanUse use)
{
    Views *v = ctx;
    if (o->kind == OPERAND_REG && use.mode != '=' && use.mode != '#')
        v->reads[o->reg]++;
}

static void note_block(Views *v, const PlanBlock *b)
{
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        PlanInstr *in = b->instrs.at[i];
        plan_operands(in, note_read, v);
        for (uint32_t k = 0; in->blocks[0] && k < 2; k++)
            note_block(v, in->blocks[k]);
    }
}

/* Those of one block: what is made in it is read there. */
static void note_views(Views *v, const PlanBlock *b)
{
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        PlanInstr *in = b->instrs.at[i];
        if (in->op != PLAN_OP_VIEWS)
            continue;
        v->by_col[in->args[2].reg] = in;
        v->as_views[in->args[1].reg]++;
    }
}

/* Views are always written where they are stored, and then their layout is looked at: only columns of scalars. */
static bool only_views(const Views *v, const PlanInstr *await)
{
    const PlanOperand *columns = &await->args[0], *contexts = &await->args[1], *of = &await->args[2];
    bool only = columns->list.n > 0;
    for (uint32_t j = 0; only && j < columns->list.n; j++) {
        PlanReg c = columns->list.at[j].reg;
        const PlanInstr *views = v->by_col[c];
        only = views && v->reads[c] == 1 && v->fn->regs.at[c].core.rank == 0 &&
               views->args[1].reg == contexts->list.at[of->list.at[j].bits].reg;
    }
    for (uint32_t w = 0; only && w < contexts->list.n; w++)
        only = v->reads[contexts->list.at[w].reg] == v->as_views[contexts->list.at[w].reg];
    return only;
}

static void become_packed_views(const Views *v, PlanInstr *in)
{
    const PlanOperand columns = in->args[0], contexts = in->args[1];
    PlanOperand *args = arena_array(v->arena, PlanOperand, 4);
    args[0] = (PlanOperand){.kind = OPERAND_LIST};
    args[0].list.n = columns.list.n;
    args[0].list.at = arena_array(v->arena, PlanOperand, columns.list.n);
    for (uint32_t j = 0; j < columns.list.n; j++) {
        PlanInstr *views = v->by_col[columns.list.at[j].reg];
        args[0].list.at[j] = views->args[0];
        views->nargs = 0; /* it goes */
    }
    args[1] = in->args[2];
    args[2] = (PlanOperand){.kind = OPERAND_NUMBER, .bits = contexts.list.n};
    args[3] = in->args[3];
    in->op = PLAN_OP_PACKED_VIEWS;
    in->args = args;
    in->nargs = 4;
}

static void pack_views_in(Views *v, PlanBlock *b)
{
    uint32_t kept = 0;
    note_views(v, b);
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        PlanInstr *in = b->instrs.at[i];
        if (in->op == PLAN_OP_AWAIT_PACK && only_views(v, in))
            become_packed_views(v, in);
        for (uint32_t k = 0; in->blocks[0] && k < 2; k++)
            pack_views_in(v, in->blocks[k]);
        if (in->op != PLAN_OP_VIEWS || in->nargs > 0)
            b->instrs.at[kept++] = in;
    }
    b->instrs.n = kept;
}

void plan_pack_views(Plan *plan)
{
    for (uint32_t i = 0; i < plan->fns.n; i++) {
        PlanFn *fn = plan->fns.at[i];
        Views v = {.fn = fn, .arena = plan->arena};
        v.reads = arena_array(plan->arena, uint32_t, fn->regs.n + 1);
        v.by_col = arena_array(plan->arena, PlanInstr *, fn->regs.n + 1);
        v.as_views = arena_array(plan->arena, uint32_t, fn->regs.n + 1);
        note_block(&v, fn->body);
        pack_views_in(&v, fn->body);
    }
}
