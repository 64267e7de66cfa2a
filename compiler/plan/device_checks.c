/* Checks that the device may make: whether lengths are those of an array's pieces.
 *
 *     s1, s2, c3 = lengths x a4   -- reads back            s6 = length a5
 *     s7 = le (0, s1)                                      c3 = starts x a4 s6 0 1
 *     check s7 0 s1                              ->        c8 = pieces x c3 a5
 *     s6 = length a5
 *     s9 = eq (s2, s6)
 *     check s9 1 s2 s6
 *     c8 = pieces x c3 a5
 *
 * Behind a failure that the device has found the pieces are made to fit (dp_starts), so that nothing is read beyond the
 * array until the host sees it. This is only so where nothing else goes by the lengths: neither they nor what the host
 * would have been told is used elsewhere. */
#include "plan/plan.h"

typedef struct Uses {
    uint32_t *reads, *writes, *pieces; /* by register; reads: but for lengths of arrays; pieces: starts of such */
    const PlanInstr *in;
} Uses;

static void note_use(void *ctx, PlanOperand *o, PlanUse use)
{
    Uses *u = ctx;
    if (o->kind != OPERAND_REG || use.mode == '#')
        return;
    u->reads[o->reg] += use.mode != '=' && u->in->op != PLAN_OP_LENGTH;
    u->writes[o->reg] += use.mode == '=' || use.mode == '~';
    u->pieces[o->reg] += u->in->op == PLAN_OP_PIECES && o == &u->in->args[2];
}

static void note_block(Uses *u, const PlanBlock *b)
{
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        u->in = b->instrs.at[i];
        plan_operands(u->in, note_use, u);
        for (uint32_t k = 0; k < 2; k++)
            if (b->instrs.at[i]->blocks[k])
                note_block(u, b->instrs.at[i]->blocks[k]);
    }
}

/* Arrays made of a column that nobody uses: lifetime.c leaves them out. */
static void forget_dead_views(Uses *u, const PlanBlock *b)
{
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        const PlanInstr *in = b->instrs.at[i];
        if (in->op == PLAN_OP_VIEWS_ROOT && u->reads[in->args[0].reg] == 0)
            u->reads[in->args[2].reg]--;
        for (uint32_t k = 0; k < 2; k++)
            if (in->blocks[k])
                forget_dead_views(u, in->blocks[k]);
    }
}

/* The instructions, by their places; 0: not found. */
typedef struct Found {
    uint32_t le, negative, eq, nest;
    PlanOperand total; /* what the sum has to be */
} Found;

static bool is_reg(const PlanOperand *o, PlanReg reg) { return o->kind == OPERAND_REG && o->reg == reg; }

/* 0 <= least */
static bool is_le(const PlanInstr *in, PlanReg least)
{
    const PlanOperand *args = in->op == PLAN_OP_PRIM && in->prim == PRIM_LE ? in->args[1].list.at : NULL;
    return args && args[0].kind == OPERAND_CONST && args[0].bits == 0 && is_reg(&args[1], least);
}

/* sum == total */
static bool is_eq(const PlanInstr *in, PlanReg sum, PlanOperand *total)
{
    const PlanOperand *args = in->op == PLAN_OP_PRIM && in->prim == PRIM_EQ ? in->args[1].list.at : NULL;
    const bool first = args && is_reg(&args[0], sum), second = args && is_reg(&args[1], sum);
    if (first != second)
        *total = args[first];
    return first != second;
}

/* Behind instruction i, which finds the lengths' least and sum; between these nothing has effects. */
static bool find_checks(const PlanBlock *b, uint32_t i, Found *f)
{
    const PlanReg least = b->instrs.at[i]->args[0].reg, sum = b->instrs.at[i]->args[1].reg;
    *f = (Found){.le = 0};
    for (uint32_t k = i + 1; k < b->instrs.n; k++) {
        const PlanInstr *in = b->instrs.at[k];
        if (!f->le && is_le(in, least))
            f->le = k;
        else if (!f->eq && is_eq(in, sum, &f->total))
            f->eq = k;
        else if (f->le && !f->negative && in->op == PLAN_OP_CHECK &&
                 is_reg(&in->args[0], b->instrs.at[f->le]->args[0].reg))
            f->negative = k;
        else if (f->eq && f->negative && in->op == PLAN_OP_CHECK &&
                 is_reg(&in->args[0], b->instrs.at[f->eq]->args[0].reg))
            f->nest = k;
        else if (plan_ops[in->op].effects && in->op != PLAN_OP_AT)
            return false;
        if (f->nest)
            return true;
    }
    return false;
}

static bool is_used_so(const Uses *u, PlanReg reg, uint32_t reads)
{
    return u->reads[reg] == reads && u->writes[reg] == 1;
}

/* Are the numbers used by the checks alone, the lengths by nothing else, and where they start by pieces? */
static bool may_check_later(const Uses *u, const PlanBlock *b, uint32_t i, const Found *f)
{
    const PlanOperand *args = b->instrs.at[i]->args;
    return is_used_so(u, args[0].reg, 2) && is_used_so(u, args[1].reg, 2) &&
           is_used_so(u, args[2].reg, u->pieces[args[2].reg]) && u->reads[args[4].reg] == 1 &&
           is_used_so(u, b->instrs.at[f->le]->args[0].reg, 1) && is_used_so(u, b->instrs.at[f->eq]->args[0].reg, 1) &&
           (f->total.kind != OPERAND_REG || u->writes[f->total.reg] == 1);
}

static void check_on_device(Arena *arena, PlanBlock *b, uint32_t i, const Found *f)
{
    const PlanOperand *found = b->instrs.at[i]->args;
    PlanInstr *starts = arena_new(arena, PlanInstr);
    *starts = *b->instrs.at[i];
    starts->op = PLAN_OP_STARTS;
    starts->span = b->instrs.at[f->nest]->span;
    starts->nargs = 6;
    starts->args = arena_array(arena, PlanOperand, 6);
    for (uint32_t k = 0; k < 3; k++)
        starts->args[k] = found[2 + k];
    starts->args[3] = f->total;
    starts->args[4] = b->instrs.at[f->negative]->args[1];
    starts->args[5] = b->instrs.at[f->nest]->args[1];
    b->instrs.at[f->nest] = starts;
    uint32_t n = i;
    for (uint32_t k = i; k < b->instrs.n; k++)
        if (k != i && k != f->le && k != f->eq && k != f->negative)
            b->instrs.at[n++] = b->instrs.at[k];
    b->instrs.n = n;
}

static void check_block(Arena *arena, const Uses *u, PlanBlock *b)
{
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        PlanInstr *in = b->instrs.at[i];
        Found f;
        for (uint32_t k = 0; k < 2; k++)
            if (in->blocks[k])
                check_block(arena, u, in->blocks[k]);
        if (in->op == PLAN_OP_LENGTHS && find_checks(b, i, &f) && may_check_later(u, b, i, &f))
            check_on_device(arena, b, i, &f);
    }
}

void plan_check_on_device(Plan *plan)
{
    for (uint32_t i = 0; i < plan->fns.n; i++) {
        PlanFn *fn = plan->fns.at[i];
        Uses u = {.in = NULL};
        u.reads = arena_array(plan->arena, uint32_t, fn->regs.n + 1);
        u.writes = arena_array(plan->arena, uint32_t, fn->regs.n + 1);
        u.pieces = arena_array(plan->arena, uint32_t, fn->regs.n + 1);
        for (uint32_t k = 0; k < fn->nresults; k++)
            u.reads[fn->results[k]]++;
        note_block(&u, fn->body);
        forget_dead_views(&u, fn->body);
        check_block(plan->arena, &u, fn->body);
    }
}
