/* Lifetimes: who owns what, made explicit.
 *
 * A backward walk over structured code with the set of the registers that are live, of those that own something:
 *   - What an instruction reads for the last time is released behind it; so is what it writes and nobody reads. One
 * that does nothing else than write such is removed.
 *   - What it takes is given to it if that is its last use. Else it gets a reference of its own, retained before.
 *   - A copy of what ends there is a move. An operand that may be written over is, where it ends and stands there once.
 *   - IF: what only one branch uses is released where the other begins.
 *   - LOOP: what a round uses is live all around. What ends with the loop is released behind it. */
#include "plan/plan.h"
#include "support/sets.h"

#include <assert.h>
#include <string.h>

#define NOT_OWNED UINT32_MAX

typedef struct Lifetimes {
    Arena *arena;
    PlanFn *fn;
    uint32_t *number; /* by register: its number among those that own, or NOT_OWNED */
    PlanReg *owned;   /* the other way round */
    uint32_t nowned, room;
    Set done;                /* empty but within release_ended */
    Sets sets;               /* of what is owned */
    PlanBlock *block;        /* at hand */
    VEC(PlanInstr *) behind; /* the block's instructions so far, the last first */
} Lifetimes;

/* ---- operands ---- */

typedef struct Use {
    PlanOperand *operand;
    char mode;
    bool needed; /* behind the instruction */
} Use;

typedef struct Uses {
    const Lifetimes *l;
    VEC(Use) list; /* operands that own */
    bool writes_others;
} Uses;

static void note_use(void *ctx, PlanOperand *o, PlanUse use)
{
    Uses *u = ctx;
    bool owned = o->kind == OPERAND_REG && use.mode != '#' && u->l->number[o->reg] != NOT_OWNED;
    u->writes_others = u->writes_others || use.mode == '~' || (!owned && use.mode == '=');
    /* those of words are copies that do not outlive the visit: only their registers count */
    if (!owned)
        return;
    PlanOperand *kept = o;
    if (use.mode == '<') {
        kept = arena_new(u->l->arena, PlanOperand);
        *kept = *o;
    }
    Use noted = {kept, use.mode, false};
    vec_push(u->l->arena, &u->list, noted);
}

static Uses uses_of(const Lifetimes *l, const PlanInstr *in)
{
    Uses u = {.l = l};
    plan_operands(in, note_use, &u);
    return u;
}

static uint32_t number_of(const Lifetimes *l, const Use *use) { return l->number[use->operand->reg]; }

static uint32_t occurrences(const Uses *u, PlanReg r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < u->list.n; i++)
        n += u->list.at[i].operand->reg == r;
    return n;
}

/* ---- what is added ---- */

static PlanInstr *new_instr(Lifetimes *l, PlanOp op, Span span, uint32_t n, const PlanOperand *args)
{
    PlanInstr *in = arena_new(l->arena, PlanInstr);
    in->op = op;
    in->span = span;
    in->nargs = n;
    in->args = arena_array(l->arena, PlanOperand, n + 1);
    memcpy(in->args, args, n * sizeof *args);
    return in;
}

static PlanInstr *release(Lifetimes *l, uint32_t number, Span span)
{
    static const PlanOp ops[] = {[PLAN_ARR] = PLAN_OP_RELEASE_ARR,
                                 [PLAN_COL] = PLAN_OP_RELEASE_COL,
                                 [PLAN_CTX] = PLAN_OP_RELEASE_CTX,
                                 [PLAN_REFS] = PLAN_OP_RELEASE_REFS};
    PlanReg r = l->owned[number];
    PlanType type = l->fn->regs.at[r].type;
    assert(type != PLAN_LEVEL && "plan: a level is entered and not left");
    return new_instr(l, ops[type], span, 1, &(PlanOperand){.reg = r});
}

/* Behind the instruction at hand. */
static void release_behind(Lifetimes *l, uint32_t number, Span span)
{
    PlanInstr *in = release(l, number, span);
    vec_push(l->arena, &l->behind, in);
}

/* In front of the block: the members of `held` that are not in `live`. */
static void release_at_entry(Lifetimes *l, PlanBlock *b, const uint64_t *held, const uint64_t *live)
{
    PlanBlock made = {.regs = {b->regs.at, b->regs.n, b->regs.cap}};
    Span span = b->instrs.n ? b->instrs.at[0]->span : SPAN_NONE;
    for (uint32_t w = 0; w < l->sets.words; w++)
        for (uint64_t bits = held[w] & ~live[w]; bits; bits &= bits - 1)
            vec_push(l->arena, &made.instrs, release(l, w * 64 + (uint32_t)__builtin_ctzll(bits), span));
    if (made.instrs.n == 0)
        return;
    for (uint32_t i = 0; i < b->instrs.n; i++)
        vec_push(l->arena, &made.instrs, b->instrs.at[i]);
    b->instrs.at = made.instrs.at;
    b->instrs.n = made.instrs.n;
    b->instrs.cap = made.instrs.cap;
}

/* A register of the block at hand, like r. */
static PlanReg new_reg(Lifetimes *l, PlanReg r)
{
    PlanReg made = l->fn->regs.n;
    vec_push(l->arena, &l->fn->regs, l->fn->regs.at[r]);
    vec_push(l->arena, &l->block->regs, made);
    return made;
}

static bool retains(PlanOp op)
{
    return op == PLAN_OP_RETAIN_ARR || op == PLAN_OP_RETAIN_COL || op == PLAN_OP_RETAIN_CTX;
}

static PlanOp retain_op(PlanType type)
{
    assert(type == PLAN_ARR || type == PLAN_COL || type == PLAN_CTX);
    return type == PLAN_ARR ? PLAN_OP_RETAIN_ARR : type == PLAN_COL ? PLAN_OP_RETAIN_COL : PLAN_OP_RETAIN_CTX;
}

/* ---- instructions ---- */

/* Does it only write what nobody reads? */
static bool is_useless(const Lifetimes *l, const PlanInstr *in, const Uses *u, const uint64_t *live)
{
    bool writes = false;
    if (u->writes_others || plan_ops[in->op].effects & PLAN_FAILS)
        return false;
    for (uint32_t i = 0; i < u->list.n; i++) {
        if (u->list.at[i].mode != '=')
            continue;
        if (set_has(live, number_of(l, &u->list.at[i])))
            return false;
        writes = true;
    }
    return writes;
}

/* A register that is taken more than once, or lives on: the operand gets a reference of its own. */
static void retain_for(Lifetimes *l, Span span, PlanOperand *o)
{
    PlanOperand of = {.reg = o->reg};
    o->reg = new_reg(l, of.reg);
    PlanInstr *in = new_instr(l, retain_op(l->fn->regs.at[of.reg].type), span, 2, (PlanOperand[]){{.reg = o->reg}, of});
    vec_push(l->arena, &l->behind, in); /* the instruction at hand is there already */
}

/* Is operand i the one that really takes its register? */
static bool takes(const Uses *u, uint32_t i)
{
    PlanReg r = u->list.at[i].operand->reg;
    if (u->list.at[i].needed)
        return false;
    for (uint32_t k = 0; k < u->list.n; k++)
        if (u->list.at[k].operand->reg == r && k != i && (u->list.at[k].mode != '!' || k > i))
            return false;
    return true;
}

/* What ends at the instruction, and does not go into it. */
static void release_ended(Lifetimes *l, const PlanInstr *in, const Uses *u)
{
    for (uint32_t i = 0; i < u->list.n; i++) {
        uint32_t n = number_of(l, &u->list.at[i]);
        if (u->list.at[i].mode == '!' || u->list.at[i].needed || set_has(l->done, n))
            continue;
        set_add(l->done, n);
        release_behind(l, n, in->span);
    }
    for (uint32_t i = 0; i < u->list.n; i++)
        set_remove(l->done, number_of(l, &u->list.at[i]));
}

static void live_instr(Lifetimes *l, PlanInstr *in, Set live)
{
    Uses u = uses_of(l, in);
    if (is_useless(l, in, &u, live))
        return;
    if (retains(in->op) && !set_has(live, number_of(l, &u.list.at[1]))) {
        in->op = (PlanOp)(in->op - PLAN_OP_RETAIN_ARR + PLAN_OP_MOVE_ARR); /* the rows stand in the same order */
        u = uses_of(l, in);
    }
    for (uint32_t i = 0; i < u.list.n; i++)
        u.list.at[i].needed = set_has(live, number_of(l, &u.list.at[i]));
    release_ended(l, in, &u);
    vec_push(l->arena, &l->behind, in);
    for (uint32_t i = 0; i < u.list.n; i++)
        if (u.list.at[i].mode == '=')
            set_remove(live, number_of(l, &u.list.at[i]));
    for (uint32_t i = 0; i < u.list.n; i++) {
        Use *use = &u.list.at[i];
        uint32_t n = number_of(l, use);
        if (use->mode == '=')
            continue;
        if (use->mode == '^')
            use->operand->given = !use->needed && occurrences(&u, use->operand->reg) == 1;
        if (use->mode == '@')
            use->operand->given = !use->needed;
        set_add(live, n);
    }
    for (uint32_t i = 0; i < u.list.n; i++)
        if (u.list.at[i].mode == '!' && !takes(&u, i))
            retain_for(l, in->span, u.list.at[i].operand);
}

/* ---- what a block reads before it writes it, and what it surely writes ---- */

typedef struct Summary {
    Lifetimes *l;
    Set reads, writes;
} Summary;

static Summary summary_new(Lifetimes *l) { return (Summary){l, set_new(&l->sets), set_new(&l->sets)}; }

static void summary_drop(Summary *s)
{
    set_drop(&s->l->sets, s->reads);
    set_drop(&s->l->sets, s->writes);
}

static void summarise(Summary *s, const PlanBlock *b);

static void note_summary(void *ctx, PlanOperand *o, PlanUse use)
{
    Summary *s = ctx;
    uint32_t n = o->kind == OPERAND_REG && use.mode != '#' ? s->l->number[o->reg] : NOT_OWNED;
    if (n != NOT_OWNED && use.mode == '=')
        set_add(s->writes, n);
    else if (n != NOT_OWNED && !set_has(s->writes, n))
        set_add(s->reads, n);
}

static Summary summary_behind(const Summary *s, const PlanBlock *b)
{
    Summary inner = {s->l, set_new(&s->l->sets), set_copy(&s->l->sets, s->writes)};
    summarise(&inner, b);
    set_unite(&s->l->sets, s->reads, inner.reads, NULL);
    return inner;
}

static void summarise(Summary *s, const PlanBlock *b)
{
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        const PlanInstr *in = b->instrs.at[i];
        plan_operands(in, note_summary, s);
        if (in->op == PLAN_OP_IF) {
            Summary yes = summary_behind(s, in->blocks[0]), no = summary_behind(s, in->blocks[1]);
            for (uint32_t k = 0; k < s->l->sets.words; k++)
                s->writes[k] |= yes.writes[k] & no.writes[k];
            summary_drop(&yes);
            summary_drop(&no);
        } else if (in->op == PLAN_OP_LOOP) {
            Summary head = summary_behind(s, in->blocks[0]), body = summary_behind(&head, in->blocks[1]);
            set_unite(&s->l->sets, s->reads, head.reads, NULL);
            set_assign(&s->l->sets, s->writes, head.writes);
            summary_drop(&head);
            summary_drop(&body);
        }
    }
}

/* ---- control ---- */

static void live_block(Lifetimes *l, PlanBlock *b, Set live);

static void live_if(Lifetimes *l, PlanInstr *in, Set live)
{
    Set in_then = set_copy(&l->sets, live), in_else = set_copy(&l->sets, live);
    live_block(l, in->blocks[0], in_then);
    live_block(l, in->blocks[1], in_else);
    release_at_entry(l, in->blocks[0], in_else, in_then);
    release_at_entry(l, in->blocks[1], in_then, in_else);
    set_assign(&l->sets, live, in_then);
    set_unite(&l->sets, live, in_else, NULL);
    set_drop(&l->sets, in_then);
    set_drop(&l->sets, in_else);
    vec_push(l->arena, &l->behind, in);
}

static void live_loop(Lifetimes *l, PlanInstr *in, Set live)
{
    PlanBlock *head = in->blocks[0], *body = in->blocks[1];
    Summary h = summary_new(l), b = summary_new(l);
    summarise(&h, head);
    summarise(&b, body);
    Set start = h.reads; /* live where a round begins */
    set_unite(&l->sets, start, b.reads, h.writes);
    set_unite(&l->sets, start, live, h.writes);
    Set in_body = set_copy(&l->sets, start);
    live_block(l, body, in_body);
    Set between = set_copy(&l->sets, in_body);
    set_unite(&l->sets, between, live, NULL);
    release_at_entry(l, body, between, in_body);
    for (uint32_t i = 0; i < l->nowned; i++)
        if (set_has(between, i) && !set_has(live, i))
            release_behind(l, i, in->span);
    live_block(l, head, between);
    release_at_entry(l, head, start, between); /* what only instructions read that turned out useless */
    set_assign(&l->sets, live, start);
    set_drop(&l->sets, in_body);
    set_drop(&l->sets, between);
    summary_drop(&h);
    summary_drop(&b);
    vec_push(l->arena, &l->behind, in);
}

/* `live`: on entry what is live after the block, on return what is live before it. */
static void live_block(Lifetimes *l, PlanBlock *b, Set live)
{
    Lifetimes outer = *l;
    l->block = b;
    l->behind.at = NULL;
    l->behind.n = l->behind.cap = 0;
    for (uint32_t i = b->instrs.n; i-- > 0;) {
        PlanInstr *in = b->instrs.at[i];
        if (in->op == PLAN_OP_IF)
            live_if(l, in, live);
        else if (in->op == PLAN_OP_LOOP)
            live_loop(l, in, live);
        else
            live_instr(l, in, live);
    }
    b->instrs.at = arena_array(l->arena, PlanInstr *, l->behind.n + 1);
    b->instrs.n = b->instrs.cap = l->behind.n;
    for (uint32_t i = 0; i < b->instrs.n; i++)
        b->instrs.at[i] = l->behind.at[b->instrs.n - 1 - i];
    l->block = outer.block;
    l->behind.at = outer.behind.at;
    l->behind.n = outer.behind.n;
    l->behind.cap = outer.behind.cap;
}

static void live_fn(Arena *arena, PlanFn *fn)
{
    Lifetimes l = {.arena = arena, .fn = fn};
    l.number = arena_array(arena, uint32_t, fn->regs.n + 1);
    l.owned = arena_array(arena, PlanReg, fn->regs.n + 1);
    for (PlanReg r = 0; r < fn->regs.n; r++) {
        bool owns = plan_owns(fn->regs.at[r].type);
        l.number[r] = owns ? l.nowned : NOT_OWNED;
        if (owns)
            l.owned[l.nowned++] = r;
    }
    l.sets = sets_of(l.arena, l.nowned);
    l.done = set_new(&l.sets);
    Set live = set_new(&l.sets), params = set_new(&l.sets);
    for (uint32_t i = 0; i < fn->nresults; i++)
        if (l.number[fn->results[i]] != NOT_OWNED)
            set_add(live, l.number[fn->results[i]]);
    for (uint32_t i = 0; i < fn->nparams; i++)
        if (l.number[fn->params[i]] != NOT_OWNED)
            set_add(params, l.number[fn->params[i]]);
    live_block(&l, fn->body, live);
    release_at_entry(&l, fn->body, params, live);
}

void plan_lifetimes(Plan *plan)
{
    for (uint32_t i = 0; i < plan->fns.n; i++)
        live_fn(plan->arena, plan->fns.at[i]);
}
