/* Read-backs, brought together: in straight-line code what the host does not wait for goes ahead of what it does.
 *
 *     p1 = pack …                            p1 = pack …
 *     x2 = await p1    -- reads back         p4 = pack …
 *     c3 = map over x2                ->     x2 = await p1    -- reads back
 *     p4 = pack …                            x5 = await p4
 *     x5 = await p4    -- reads back         c3 = map over x2
 *
 * In rounds: an await is put off, and so is what needs what was put off; the rest goes on in its order. Then come all
 * awaits of what has been begun, of which the first waits for all, and the next round takes what was put off.
 *
 * Nothing crosses an instruction that is ORDERED (plan_ops.def) or has blocks, so that nothing is pending where other
 * code runs.
 *
 * Checks that were put off hold back what may trust in them: other checks, so that the first that fails is reported;
 * what makes memory or parts of arrays, by sizes that may be wrong; and launches, but those that read all elements of
 * one array and look at nothing else. Elements are read ahead: out of range nothing is read. */
#include "plan/plan.h"

#include <string.h>

/* Instructions looked at beyond the first that was put off: this bounds the time that a long block takes. */
enum { WINDOW = 400 };

typedef struct Item {
    PlanInstr *in;
    const PlanInstr *at; /* the AT before it, or NULL */
} Item;

typedef struct Batching {
    const Plan *plan;
    Arena *arena;
    uint32_t round;
    uint32_t *put_off_read, *put_off_written; /* by register: the last round in which such an instruction does */
    uint8_t *begun;                           /* by register: is it pending? */
    bool check_put_off;
    uint32_t segment;          /* of straight-line code: its number */
    PlanReg *made_from;        /* by register, see note_source, */
    uint32_t *made_in;         /* and in which segment that holds */
    VEC(Item) items;           /* since the last instruction that nothing crosses */
    VEC(PlanInstr *) done;     /* the block's */
    const PlanInstr *named_at; /* the AT that holds behind these, or NULL */
} Batching;

/* ---- what an instruction is ---- */

static bool checks(PlanOp op)
{
    return op == PLAN_OP_CHECK || op == PLAN_OP_CHECK_INDEX || op == PLAN_OP_CHECK_SLICE ||
           op == PLAN_OP_CHECK_DIVISOR || op == PLAN_OP_STARTS;
}

/* Of `reg`, in the straight-line code at hand: what it was made from. */
static PlanReg source_of(const Batching *b, PlanReg reg)
{
    return b->made_in[reg] == b->segment ? b->made_from[reg] : PLAN_NO_REG;
}

/* The length of an array, and a context of its elements, are made from it. */
static void note_source(Batching *b, const PlanInstr *in)
{
    if (in->op != PLAN_OP_LENGTH && in->op != PLAN_OP_NESTED_ROOT)
        return;
    const PlanOperand *out = &in->args[0], *from = &in->args[1];
    PlanReg source = from->kind != OPERAND_REG  ? PLAN_NO_REG
                     : in->op == PLAN_OP_LENGTH ? from->reg
                                                : source_of(b, from->reg);
    b->made_from[out->reg] = source;
    b->made_in[out->reg] = b->segment;
}

static bool is_of_array(PlanWordKind kind)
{
    return kind == WORD_ADDRESS || kind == WORD_ROWS || kind == WORD_ROW_LENGTH;
}

/* Does the launch read elements of the array that its context is made from, and nothing else? */
static bool reads_one_array(const Batching *b, const PlanInstr *in)
{
    PlanReg array = source_of(b, in->args[1].reg);
    bool one = array != PLAN_NO_REG && !b->plan->kernels.at[in->args[0].bits]->trusting;
    for (uint32_t i = 0; one && i < in->nwords; i++)
        one = in->words[i].kind == WORD_SCALAR || (is_of_array(in->words[i].kind) && in->words[i].value.reg == array);
    return one;
}

/* May it go wrong where a check that stood before it would have failed? */
static bool trusts_checks(const Batching *b, const PlanInstr *in)
{
    if (in->op == PLAN_OP_READ || in->op == PLAN_OP_READ_VIEW)
        return false;
    if (in->op == PLAN_OP_NESTED_ROOT)
        return source_of(b, in->args[0].reg) == PLAN_NO_REG;
    if (plan_ops[in->op].effects & PLAN_LAUNCHES)
        return !reads_one_array(b, in);
    return plan_ops[in->op].effects != 0 || in->op == PLAN_OP_PART;
}

/* ---- what it needs ---- */

typedef struct Needs {
    const Batching *b;
    bool put_off; /* does it need what was put off, or change what that needs? */
} Needs;

static void note_need(void *ctx, PlanOperand *o, PlanUse use)
{
    Needs *n = ctx;
    const Batching *b = n->b;
    if (o->kind != OPERAND_REG || use.mode == '#')
        return;
    bool writes = use.mode != '<';
    n->put_off =
        n->put_off || b->put_off_written[o->reg] == b->round || (writes && b->put_off_read[o->reg] == b->round);
}

static bool needs_what_was_put_off(const Batching *b, const PlanInstr *in)
{
    Needs n = {b, b->check_put_off && trusts_checks(b, in)};
    plan_operands(in, note_need, &n);
    return n.put_off;
}

static void note_put_off(void *ctx, PlanOperand *o, PlanUse use)
{
    Batching *b = ctx;
    if (o->kind != OPERAND_REG || use.mode == '#')
        return;
    b->put_off_read[o->reg] = b->round;
    if (use.mode != '<')
        b->put_off_written[o->reg] = b->round;
}

static void put_off(Batching *b, const PlanInstr *in)
{
    plan_operands(in, note_put_off, b);
    b->check_put_off = b->check_put_off || checks(in->op);
}

/* ---- rounds ---- */

static void note_pending(void *ctx, PlanOperand *o, PlanUse use)
{
    Batching *b = ctx;
    if (use.type == 'p')
        b->begun[o->reg] = use.mode == '=';
}

/* The place of the program is named again where the order has changed. */
static void go_on_with(Batching *b, Item item)
{
    bool named = b->named_at && item.at && b->named_at->args[0].bits == item.at->args[0].bits;
    if (item.at && !named && plan_ops[item.in->op].effects) {
        PlanInstr *at = arena_new(b->arena, PlanInstr);
        *at = *item.at;
        vec_push(b->arena, &b->done, at);
        b->named_at = at;
    }
    vec_push(b->arena, &b->done, item.in);
    plan_operands(item.in, note_pending, b);
}

/* Of the items [first, end): those that wait for nothing go on, the others stay, just before `end`. Where they begin.
 */
static uint32_t go_ahead(Batching *b, uint32_t first, uint32_t end)
{
    uint32_t kept = first, pending = 0;
    b->round++;
    b->check_put_off = false;
    for (uint32_t i = first; i < end; i++) {
        Item item = b->items.at[i];
        uint32_t words = plan_pending_words(b->plan, item.in);
        if (plan_awaited(item.in) != PLAN_NO_REG || pending + words > PLAN_MOST_PENDING ||
            needs_what_was_put_off(b, item.in)) {
            put_off(b, item.in);
            b->items.at[kept++] = item;
        } else {
            pending += words;
            go_on_with(b, item);
        }
    }
    uint32_t n = kept - first;
    memmove(b->items.at + end - n, b->items.at + first, n * sizeof *b->items.at);
    return end - n;
}

/* The awaits among these of what is pending. */
static uint32_t await_begun(Batching *b, uint32_t first, uint32_t end)
{
    uint32_t kept = end;
    for (uint32_t i = first; i < end; i++) {
        Item item = b->items.at[i];
        PlanReg awaited = plan_awaited(item.in);
        if (awaited != PLAN_NO_REG && b->begun[awaited]) {
            go_on_with(b, item);
            b->items.at[i].in = NULL;
        }
    }
    for (uint32_t i = end; i-- > first;)
        if (b->items.at[i].in)
            b->items.at[--kept] = b->items.at[i];
    return kept;
}

static void order_items(Batching *b)
{
    for (uint32_t first = 0, n = b->items.n; first < n;) {
        uint32_t end = n - first > WINDOW ? first + WINDOW : n;
        first = go_ahead(b, first, end);
        first = await_begun(b, first, end);
    }
    b->items.n = 0;
}

/* ---- blocks ---- */

static void batch_block(Batching *b, PlanBlock *block)
{
    Batching outer = *b;
    const PlanInstr *at = NULL;
    b->items.at = NULL;
    b->items.n = b->items.cap = 0;
    b->done.at = NULL;
    b->done.n = b->done.cap = 0;
    b->named_at = NULL;
    for (uint32_t i = 0; i < block->instrs.n; i++) {
        PlanInstr *in = block->instrs.at[i];
        Item item = {in, at};
        if (in->op == PLAN_OP_AT) {
            at = in;
        } else if (plan_ops[in->op].effects & PLAN_ORDERED) {
            order_items(b);
            b->segment++;
            go_on_with(b, item);
            for (uint32_t k = 0; in->blocks[0] && k < 2; k++)
                batch_block(b, in->blocks[k]);
            if (plan_ops[in->op].effects & PLAN_CONTROL)
                b->named_at = NULL;
        } else {
            note_source(b, in);
            vec_push(b->arena, &b->items, item);
        }
    }
    order_items(b);
    b->segment++;
    block->instrs.at = b->done.at;
    block->instrs.n = b->done.n;
    block->instrs.cap = b->done.cap;
    outer.round = b->round;
    outer.segment = b->segment;
    *b = outer;
}

void plan_batch_reads(Plan *plan)
{
    for (uint32_t i = 0; i < plan->fns.n; i++) {
        PlanFn *fn = plan->fns.at[i];
        Batching b = {.plan = plan, .arena = plan->arena, .segment = 1};
        b.made_from = arena_array(plan->arena, PlanReg, fn->regs.n + 1);
        b.made_in = arena_array(plan->arena, uint32_t, fn->regs.n + 1);
        b.put_off_read = arena_array(plan->arena, uint32_t, fn->regs.n + 1);
        b.put_off_written = arena_array(plan->arena, uint32_t, fn->regs.n + 1);
        b.begun = arena_array(plan->arena, uint8_t, fn->regs.n + 1);
        batch_block(&b, fn->body);
    }
}
