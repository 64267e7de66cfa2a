/* `dump --stage=plan`: see the example in plan.h. */
#include "plan/plan.h"

#include "params.h"
#include "plan/emit_text.h"
#include "support/marks.h"

#include <inttypes.h>

typedef struct PlanPrinter {
    StrBuf *out;
    const Plan *plan;
    const PlanFn *fn;
    int depth;
    uint32_t line; /* of the last instruction */
    bool waits;    /* the next await: something was begun since the last */
} PlanPrinter;

/* ---- operands ---- */

static void print_operand(PlanPrinter *pr, const PlanOperand *o)
{
    switch (o->kind) {
    case OPERAND_REG: plan_reg_name(pr->out, pr->fn, o->reg); break;
    case OPERAND_CONST: emit_literal(pr->out, o->scalar, o->bits); break;
    case OPERAND_NUMBER: strbuf_printf(pr->out, "%" PRIu64, o->bits); break;
    case OPERAND_TEXT: strbuf_add(pr->out, o->text); break;
    case OPERAND_LIST: break;
    }
    if (o->given)
        strbuf_add(pr->out, " in place");
}

static void print_register(PlanPrinter *pr, PlanReg r)
{
    const PlanRegInfo *info = &pr->fn->regs.at[r];
    plan_reg_name(pr->out, pr->fn, r);
    if (info->type > PLAN_COL)
        return;
    strbuf_add(pr->out, " : ");
    for (uint32_t i = 0; i < info->core.rank; i++)
        strbuf_add(pr->out, "[");
    strbuf_add(pr->out, scalar_name(info->core.scalar));
    for (uint32_t i = 0; i < info->core.rank; i++)
        strbuf_add(pr->out, "]");
}

static void print_registers(PlanPrinter *pr, const PlanReg *regs, uint32_t n)
{
    strbuf_add(pr->out, "(");
    for (uint32_t i = 0; i < n; i++) {
        strbuf_add(pr->out, i ? ", " : "");
        print_register(pr, regs[i]);
    }
    strbuf_add(pr->out, ")");
}

static void print_list(PlanPrinter *pr, const PlanOperand *o, bool written)
{
    strbuf_add(pr->out, "(");
    for (uint32_t k = 0; k < o->list.n; k++) {
        strbuf_add(pr->out, k ? ", " : "");
        if (written)
            print_register(pr, o->list.at[k].reg);
        else
            print_operand(pr, &o->list.at[k]);
    }
    strbuf_add(pr->out, ")");
}

/* Those that the instruction writes, or the others. How many. */
static uint32_t print_operands(PlanPrinter *pr, const PlanInstr *in, bool written)
{
    const char *at = plan_ops[in->op].operands;
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->nargs; i++) {
        const PlanOperand *o = &in->args[i];
        if ((*at == '=') == written) {
            strbuf_add(pr->out, !written ? " " : n > 0 ? ", " : "");
            n++;
            if (o->kind == OPERAND_LIST)
                print_list(pr, o, written);
            else if (written)
                print_register(pr, o->reg);
            else
                print_operand(pr, o);
        }
        at += at[2] == '*' ? 4 : 3;
    }
    return n;
}

/* ---- words ---- */

static void print_word(PlanPrinter *pr, const PlanArgument *w)
{
    static const char *const names[] = {"scalar", "length", "address", "rows",    "row length", "column",
                                        "kept",   "elems",  "views",   "offsets", "path"};
    strbuf_add(pr->out, names[w->kind]);
    if (w->kind <= WORD_VIEWS) {
        strbuf_add(pr->out, " ");
        print_operand(pr, &w->value);
    }
    if (w->level > 0)
        strbuf_printf(pr->out, " below %u", w->level);
    const PlanReg contexts[2] = {w->from, w->to};
    for (uint32_t i = 0; i < 2; i++) {
        if (contexts[i] == PLAN_NO_REG)
            continue;
        strbuf_add(pr->out, i == 0 ? " " : w->kind == WORD_PATH ? " to " : w->kind == WORD_OFFSETS ? " " : " in ");
        plan_reg_name(pr->out, pr->fn, contexts[i]);
    }
    if (w->bit != PLAN_NO_BIT)
        strbuf_printf(pr->out, ", bit %u", w->bit);
    if (w->unless)
        strbuf_printf(pr->out, ", unless 0x%x", w->unless);
}

static void print_words(PlanPrinter *pr, const PlanInstr *in)
{
    for (uint32_t i = 0; i < in->nwords; i++) {
        strbuf_indent(pr->out, pr->depth + 2);
        strbuf_printf(pr->out, "w%u ", i);
        print_word(pr, &in->words[i]);
        strbuf_add(pr->out, "\n");
    }
}

/* ---- instructions ---- */

static void print_block(PlanPrinter *pr, const PlanBlock *b);

static void print_line(PlanPrinter *pr, const PlanInstr *in)
{
    uint32_t line = plan_line(pr->plan, in);
    if (line == 0 || line == pr->line)
        return;
    strbuf_indent(pr->out, pr->depth);
    strbuf_printf(pr->out, "-- line %u\n", line);
    pr->line = line;
}

static void print_name(PlanPrinter *pr, const PlanInstr *in)
{
    strbuf_add(pr->out, in->op == PLAN_OP_PRIM ? core_prim_name(in->prim) : plan_ops[in->op].name);
    if (in->op == PLAN_OP_CALL)
        strbuf_printf(pr->out, " %s", in->fn->name);
    if (plan_ops[in->op].effects & PLAN_LAUNCHES) {
        const PlanKernel *k = pr->plan->kernels.at[in->args[0].bits];
        strbuf_printf(pr->out, " %s", k->name);
    }
}

static void print_control(PlanPrinter *pr, const PlanInstr *in)
{
    const char *const names[2][2] = {{"then", "else"}, {"before", "do"}};
    for (uint32_t i = 0; i < 2; i++) {
        if (in->blocks[i]->instrs.n == 0)
            continue;
        strbuf_indent(pr->out, pr->depth);
        strbuf_printf(pr->out, "%s\n", names[in->op == PLAN_OP_LOOP][i]);
        print_block(pr, in->blocks[i]);
    }
}

static void print_instr(PlanPrinter *pr, const PlanInstr *in)
{
    print_line(pr, in);
    strbuf_indent(pr->out, pr->depth);
    marks_begin(pr->out, in->span, in);
    if (print_operands(pr, in, true) > 0)
        strbuf_add(pr->out, " = ");
    print_name(pr, in);
    print_operands(pr, in, false);
    bool reads = plan_ops[in->op].effects & PLAN_READS_BACK;
    if (in->op == PLAN_OP_MANY)
        strbuf_printf(pr->out, " -- from %s on%s%s: the version by lanes", dp_params_name(plan_many_param(in)),
                      plan_many_shares(in) ? ", below " : "",
                      plan_many_shares(in) ? dp_params_name(PARAM_NEST_SHARED) : "");
    if (reads && (pr->waits || plan_awaited(in) == PLAN_NO_REG))
        strbuf_add(pr->out, " -- reads back");
    pr->waits = !reads && (pr->waits || plan_pending_words(pr->plan, in) > 0);
    strbuf_add(pr->out, "\n");
    print_words(pr, in);
    if (in->blocks[0])
        print_control(pr, in);
    marks_end(pr->out);
}

static void print_block(PlanPrinter *pr, const PlanBlock *b)
{
    pr->depth++;
    for (uint32_t i = 0; i < b->instrs.n; i++)
        if (b->instrs.at[i]->op != PLAN_OP_AT)
            print_instr(pr, b->instrs.at[i]);
    pr->depth--;
}

void plan_print_instr(StrBuf *out, const Plan *plan, const PlanFn *fn, const PlanInstr *in)
{
    PlanPrinter pr = {.out = out, .plan = plan, .fn = fn, .line = plan_line(plan, in)};
    print_instr(&pr, in);
}

void plan_print(StrBuf *out, const Plan *plan)
{
    PlanPrinter pr = {.out = out, .plan = plan};
    for (uint32_t i = 0; i < plan->fns.n; i++) {
        pr.fn = plan->fns.at[i];
        pr.line = 0;
        strbuf_printf(out, "%sfn %s ", i ? "\n" : "", pr.fn->name);
        print_registers(&pr, pr.fn->params, pr.fn->nparams);
        strbuf_add(out, " -> ");
        print_registers(&pr, pr.fn->results, pr.fn->nresults);
        strbuf_add(out, "\n");
        print_block(&pr, pr.fn->body);
    }
}
