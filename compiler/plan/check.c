/* The checker of plans: a forward walk with what each register holds.
 *
 * A register that owns (an array, a column …) holds something or not; this has to be the same on all paths that meet,
 * and at the beginning and the end of a round. A scalar is written or not: where paths meet, if it was on both. */
#include "plan/plan.h"

#include "plan/emit_text.h"

#include <string.h>

typedef struct PlanChecker {
    const Plan *plan;
    const PlanFn *fn;
    const PlanInstr *in; /* at hand */
    StrBuf *why;
    bool ok;
    uint8_t *holds;       /* by register: is something in it? */
    uint8_t *declared;    /* by register: is it in scope? */
    uint8_t *words;       /* by register: of the mailbox that it stands for, pending */
    uint32_t pending;     /* such words */
    uint8_t *used;        /* by register: how often the instruction at hand takes or writes it */
    VEC(uint8_t *) spare; /* states that nobody has: as many as control is nested, not as there is control */
    Arena *arena;
} PlanChecker;

static void fail(PlanChecker *c, const char *what, PlanReg r)
{
    if (!c->ok)
        return;
    c->ok = false;
    strbuf_printf(c->why, "function %s: ", c->fn->name);
    if (c->in)
        strbuf_printf(c->why, "`%s`: ", plan_ops[c->in->op].name);
    if (r != PLAN_NO_REG) {
        plan_reg_name(c->why, c->fn, r);
        strbuf_add(c->why, " ");
    }
    strbuf_add(c->why, what);
}

/* ---- operands ---- */

static bool has_type(const PlanChecker *c, PlanReg r, char letter)
{
    static const char letters[] = "sacxrlvp";
    return letter == '.' || letters[c->fn->regs.at[r].type] == letter;
}

static bool is_known(PlanChecker *c, const PlanOperand *o, PlanUse use)
{
    PlanOperandKind wanted = use.mode != '#' ? OPERAND_REG : use.type == 'n' ? OPERAND_NUMBER : OPERAND_TEXT;
    bool constant = o->kind == OPERAND_CONST && (use.mode == '<' || use.mode == '!') && strchr("s.", use.type);
    if (o->kind != wanted && !constant)
        fail(c, "an operand is of the wrong kind", PLAN_NO_REG);
    else if (o->kind == OPERAND_REG && (o->reg >= c->fn->regs.n || !c->declared[o->reg]))
        fail(c, "a register is not declared here", PLAN_NO_REG);
    else if (o->kind == OPERAND_REG && !has_type(c, o->reg, use.type))
        fail(c, "is of the wrong type", o->reg);
    return c->ok && o->kind == OPERAND_REG;
}

/* Before the instruction: what it reads and takes is there. */
static void check_read(void *ctx, PlanOperand *o, PlanUse use)
{
    PlanChecker *c = ctx;
    if (!is_known(c, o, use))
        return;
    bool owns = plan_owns(c->fn->regs.at[o->reg].type);
    if (use.mode != '=' && !c->holds[o->reg])
        fail(c, owns ? "holds nothing that could be read or taken" : "is read before it is written", o->reg);
    if (use.mode == '!' && owns && c->used[o->reg]++)
        fail(c, "is taken twice", o->reg);
}

/* Where other code runs nothing is pending. */
static void note_pending(void *ctx, PlanOperand *o, PlanUse use)
{
    PlanChecker *c = ctx;
    if (!c->ok || use.type != 'p')
        return;
    if (use.mode == '=') {
        c->words[o->reg] = (uint8_t)plan_pending_words(c->plan, c->in);
        c->pending += c->words[o->reg];
    } else {
        c->pending -= c->words[o->reg];
    }
    if (c->pending > PLAN_MOST_PENDING)
        fail(c, "is more than may be pending", o->reg);
}

static void take(void *ctx, PlanOperand *o, PlanUse use)
{
    PlanChecker *c = ctx;
    if (o->kind != OPERAND_REG || use.mode != '!')
        return;
    c->used[o->reg] = 0;
    if (plan_owns(c->fn->regs.at[o->reg].type))
        c->holds[o->reg] = 0;
}

static void write(void *ctx, PlanOperand *o, PlanUse use)
{
    PlanChecker *c = ctx;
    if (o->kind != OPERAND_REG || use.mode != '=')
        return;
    if (c->holds[o->reg] && plan_owns(c->fn->regs.at[o->reg].type))
        fail(c, "is written, and what it holds is never released", o->reg);
    c->holds[o->reg] = 1;
}

/* ---- what the table cannot say ---- */

static bool same_core(const PlanRegInfo *a, const PlanFn *f, const PlanOperand *o)
{
    return o->kind == OPERAND_CONST ? a->type == PLAN_SCALAR && a->core.scalar == o->scalar
                                    : a->type == f->regs.at[o->reg].type &&
                                          (a->type == PLAN_CTX || core_type_equal(a->core, f->regs.at[o->reg].core));
}

static void check_call(PlanChecker *c)
{
    const PlanFn *to = c->in->fn;
    const PlanOperand *args = &c->in->args[0], *outs = &c->in->args[1];
    bool ok = args->list.n == to->nparams && outs->list.n == to->nresults;
    for (uint32_t i = 0; ok && i < to->nparams; i++)
        ok = same_core(&to->regs.at[to->params[i]], c->fn, &args->list.at[i]);
    for (uint32_t i = 0; ok && i < to->nresults; i++)
        ok = same_core(&to->regs.at[to->results[i]], c->fn, &outs->list.at[i]);
    if (!ok)
        fail(c, "the operands are not those of the function", PLAN_NO_REG);
}

static void check_launch(PlanChecker *c)
{
    uint64_t number = c->in->args[0].bits;
    const PlanKernel *k = number < c->plan->kernels.n ? c->plan->kernels.at[number] : NULL;
    if (!k || c->in->nwords != k->words.n)
        fail(c, "the words are not those of the kernel", PLAN_NO_REG);
    for (uint32_t i = 0; c->ok && i < k->words.n; i++)
        if (c->in->words[i].kind != k->words.at[i].kind)
            fail(c, "a word is not the kernel's", PLAN_NO_REG);
    if (c->ok && k->nouts > PLAN_MAX_OUTS)
        fail(c, "has more outputs than a kernel may", PLAN_NO_REG);
}

/* ---- control ---- */

static void check_block(PlanChecker *c, const PlanBlock *b);

static uint8_t *copy_state(PlanChecker *c)
{
    uint8_t *copy = c->spare.n > 0 ? c->spare.at[--c->spare.n] : arena_array(c->arena, uint8_t, c->fn->regs.n + 1);
    memcpy(copy, c->holds, c->fn->regs.n);
    return copy;
}

/* Two paths meet: c->holds and `other`, which nobody has any more. */
static void meet(PlanChecker *c, uint8_t *other)
{
    enum { STEP = 64 };
    for (PlanReg r = 0, n = c->fn->regs.n; r < n; r++) {
        while (r + STEP < n && memcmp(c->holds + r, other + r, STEP * sizeof *other) == 0)
            r += STEP; /* most are the same: two paths of thousands */
        bool owns = plan_owns(c->fn->regs.at[r].type);
        if (owns && c->holds[r] != other[r])
            fail(c, "is held on one path and not on the other", r);
        c->holds[r] = c->holds[r] && other[r];
    }
    vec_push(c->arena, &c->spare, other);
}

static void check_if(PlanChecker *c, const PlanInstr *in)
{
    uint8_t *before = copy_state(c);
    check_block(c, in->blocks[0]);
    uint8_t *then = c->holds;
    c->holds = before;
    check_block(c, in->blocks[1]);
    c->in = in;
    meet(c, then);
}

static void check_loop(PlanChecker *c, const PlanInstr *in)
{
    uint8_t *before = copy_state(c);
    check_block(c, in->blocks[0]);
    c->in = in;
    plan_operands(in, check_read, c); /* the condition, behind the head */
    uint8_t *behind = copy_state(c);
    check_block(c, in->blocks[1]);
    c->in = in;
    meet(c, before);
    vec_push(c->arena, &c->spare, c->holds);
    c->holds = behind;
}

static void check_instr(PlanChecker *c, const PlanInstr *in)
{
    c->in = in;
    if (c->pending > 0 && plan_ops[in->op].effects & PLAN_CONTROL)
        fail(c, "something is pending here", PLAN_NO_REG);
    if (in->op == PLAN_OP_LOOP) {
        check_loop(c, in);
        return;
    }
    plan_operands(in, check_read, c);
    plan_operands(in, note_pending, c);
    plan_operands(in, take, c);
    plan_operands(in, write, c);
    if (c->ok && in->op == PLAN_OP_CALL)
        check_call(c);
    if (c->ok && plan_ops[in->op].effects & PLAN_LAUNCHES)
        check_launch(c);
    if (c->ok && in->op == PLAN_OP_IF)
        check_if(c, in);
}

/* At the end of a block its registers are gone. */
static void check_block(PlanChecker *c, const PlanBlock *b)
{
    for (uint32_t i = 0; i < b->regs.n; i++)
        c->declared[b->regs.at[i]] = 1;
    for (uint32_t i = 0; c->ok && i < b->instrs.n; i++)
        check_instr(c, b->instrs.at[i]);
    c->in = NULL;
    for (uint32_t i = 0; c->ok && i < b->regs.n; i++) {
        PlanReg r = b->regs.at[i];
        if (b != c->fn->body && c->holds[r] && plan_owns(c->fn->regs.at[r].type))
            fail(c, "is never released", r);
        c->declared[r] = 0;
        if (b != c->fn->body)
            c->holds[r] = 0;
    }
}

static bool check_fn(const Plan *plan, const PlanFn *fn, StrBuf *why)
{
    Arena *arena = arena_create();
    PlanChecker c = {.plan = plan, .fn = fn, .why = why, .ok = true, .arena = arena};
    c.holds = arena_array(arena, uint8_t, fn->regs.n + 1);
    c.declared = arena_array(arena, uint8_t, fn->regs.n + 1);
    c.words = arena_array(arena, uint8_t, fn->regs.n + 1);
    c.used = arena_array(arena, uint8_t, fn->regs.n + 1);
    for (uint32_t i = 0; i < fn->nparams; i++)
        c.holds[fn->params[i]] = c.declared[fn->params[i]] = 1;
    check_block(&c, fn->body);
    for (uint32_t i = 0; c.ok && i < fn->nresults; i++) {
        if (!c.holds[fn->results[i]])
            fail(&c, "is a result, and not written", fn->results[i]);
        c.holds[fn->results[i]] = 0;
    }
    for (PlanReg r = 0; c.ok && r < fn->regs.n; r++)
        if (c.holds[r] && plan_owns(fn->regs.at[r].type))
            fail(&c, "is never released", r);
    arena_destroy(arena);
    return c.ok;
}

bool plan_check(const Plan *plan, StrBuf *why)
{
    for (uint32_t i = 0; i < plan->fns.n; i++)
        if (!check_fn(plan, plan->fns.at[i], why))
            return false;
    return true;
}
