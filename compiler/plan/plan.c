#include "plan/plan.h"

#include "params.h"
#include "plan/emit_text.h"

#include <assert.h>
#include <string.h>

enum {
    ALLOCATES = PLAN_ALLOCATES,
    READS_BACK = PLAN_READS_BACK,
    FAILS = PLAN_FAILS,
    LAUNCHES = PLAN_LAUNCHES | PLAN_ALLOCATES | PLAN_FAILS,
    CONTROL = PLAN_CONTROL | PLAN_FAILS | PLAN_ORDERED,
    ORDERED = PLAN_ORDERED
};

const PlanOpInfo plan_ops[PLAN_OP_COUNT] = {
#define PLAN_OP(NAME, text, operands, effects, ...) {text, operands, effects, #__VA_ARGS__},
#include "plan/plan_ops.def"
#undef PLAN_OP
};

void plan_reg_name(StrBuf *out, const PlanFn *fn, PlanReg r)
{
    static const char *const letters[] = {"s", "a", "c", "x", "r", "l", "v", "p"};
    const PlanRegInfo *info = &fn->regs.at[r];
    emit_name(out, letters[info->type], r, info->hint);
}

uint32_t plan_line(const Plan *plan, const PlanInstr *in)
{
    if (in->span.end == 0 || in->span.file == SPAN_NONE.file)
        return 0;
    return source_linecol(plan->program->core->session, in->span.file, in->span.start).line;
}

const PlanOperand *plan_outs(const PlanInstr *in)
{
    const char *at = plan_ops[in->op].operands;
    for (uint32_t i = 0; i < in->nargs; i++, at += at[2] == '*' ? 4 : 3)
        if (at[0] == '=' && at[2] == '*')
            return &in->args[i];
    return NULL;
}

uint32_t plan_pending_words(const Plan *plan, const PlanInstr *in)
{
    switch (in->op) {
    case PLAN_OP_REDUCE_ROOT: return plan->kernels.at[in->args[0].bits]->nouts;
    case PLAN_OP_PACK: return (uint32_t)in->args[3].bits;
    case PLAN_OP_SPLIT: return 2 + 4 * in->args[3].list.n;
    case PLAN_OP_NESTED_VIEWS:
    case PLAN_OP_NESTED_LENS: return PLAN_PENDING_LENGTHS;
    default: return strstr(plan_ops[in->op].operands, "=p") ? 1 : 0;
    }
}

bool plan_many_shares(const PlanInstr *in) { return in->args[5].kind != OPERAND_CONST || in->args[5].bits != 0; }

unsigned plan_many_param(const PlanInstr *in) { return dp_nest_param((NestOf)in->args[3].bits); }

PlanReg plan_awaited(const PlanInstr *in)
{
    const char *pending = strstr(plan_ops[in->op].operands, "!p"); /* the last operand */
    bool waits = plan_ops[in->op].effects & PLAN_READS_BACK;
    return pending && waits ? in->args[in->nargs - 1].reg : PLAN_NO_REG;
}

static void visit_words(const PlanInstr *in, void (*f)(void *ctx, PlanOperand *o, PlanUse use), void *ctx)
{
    for (uint32_t i = 0; i < in->nwords; i++) {
        PlanArgument *w = &in->words[i];
        PlanOperand from = {.reg = w->from}, to = {.reg = w->to};
        switch (w->kind) {
        case WORD_SCALAR: f(ctx, &w->value, (PlanUse){'<', 's'}); break;
        case WORD_LENGTH:
        case WORD_ADDRESS:
        case WORD_ROWS:
        case WORD_ROW_LENGTH: f(ctx, &w->value, (PlanUse){'<', 'a'}); break;
        case WORD_COLUMN: f(ctx, &w->value, (PlanUse){'<', 'c'}); break;
        case WORD_KEPT: f(ctx, &w->value, (PlanUse){'~', 'c'}); break;
        case WORD_ELEMS:
        case WORD_VIEWS:
            f(ctx, &w->value, (PlanUse){'<', 'c'});
            f(ctx, &to, (PlanUse){'<', 'x'});
            break;
        case WORD_OFFSETS: f(ctx, &to, (PlanUse){'<', 'x'}); break;
        case WORD_PATH:
            f(ctx, &from, (PlanUse){'<', 'x'});
            f(ctx, &to, (PlanUse){'<', 'x'});
            break;
        }
    }
}

void plan_operands(const PlanInstr *in, void (*f)(void *ctx, PlanOperand *o, PlanUse use), void *ctx)
{
    const char *at = plan_ops[in->op].operands;
    for (uint32_t i = 0; i < in->nargs; i++) {
        assert(*at && "plan: more operands than the table has");
        PlanUse use = {at[0], at[1]};
        bool list = at[2] == '*';
        PlanOperand *o = &in->args[i];
        for (uint32_t k = 0; list && k < o->list.n; k++)
            f(ctx, &o->list.at[k], use);
        if (!list)
            f(ctx, o, use);
        at += list ? 3 : 2;
        at += *at == ' ';
    }
    assert(!*at && "plan: fewer operands than the table has");
    visit_words(in, f, ctx);
}
