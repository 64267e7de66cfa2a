/* Blocks, branches, loops and calls. */
#include "plan/lower_internal.h"

#include "plan/emit_text.h"

void lower_block(Lower *w, const FlatBlock *b)
{
    Span span = w->span;
    w->here = 0;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        lower_stmt(w, b, i);
    w->span = span;
}

/* The operands that stand for the variables. */
static PlanOperand *values_of(Lower *w, const FlatVar *vars, uint32_t n) { return lower_vars(w, vars, n).list.at; }

/* ---- failures ---- */

PlanOperand lower_running(Lower *w)
{
    PlanOperand ok = lower_scalar(w, SC_BOOL, "ok");
    EMIT(w, RUNNING, ok);
    return ok;
}

static bool may_fail(const PlanBlock *b)
{
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        const PlanInstr *in = b->instrs.at[i];
        bool inside = in->blocks[0] && (may_fail(in->blocks[0]) || may_fail(in->blocks[1]));
        if (inside || (!in->blocks[0] && plan_ops[in->op].effects))
            return true;
    }
    return false;
}

void lower_guard(Lower *w, PlanInstr *loop, PlanOperand ok, bool counted)
{
    PlanBlock *outer = w->block;
    bool fails = may_fail(loop->blocks[0]) || may_fail(loop->blocks[1]);
    w->block = loop->blocks[0];
    if (fails || !counted)
        lower_prim(w, loop->args[0], PRIM_AND, loop->args[0], ok);
    w->block = loop->blocks[1];
    if (fails)
        EMIT(w, RUNNING, ok);
    w->block = outer;
}

/* ---- if ---- */

void lower_if(Lower *w, const FlatStmt *s)
{
    const FlatBlock *const branches[2] = {s->if_.then_b, s->if_.else_b};
    PlanOperand outs = lower_new_vars(w, s->outs, s->nouts);
    PlanInstr *in = EMIT(w, IF, w->vars[s->if_.cond]);
    for (uint32_t b = 0; b < 2; b++) {
        PlanBlock *outer = lower_begin(w);
        in->blocks[b] = w->block;
        lower_block(w, branches[b]);
        for (uint32_t i = 0; i < s->nouts; i++)
            lower_copy(w, outs.list.at[i], w->vars[branches[b]->results[i]]);
        lower_end(w, outer);
    }
}

/* ---- loops ---- */

static PlanOperand *initial_state(Lower *w, const FlatVar *params, const FlatVar *inits, uint32_t n)
{
    PlanOperand *from = values_of(w, inits, n), *state = lower_new_vars(w, params, n).list.at;
    for (uint32_t i = 0; i < n; i++)
        lower_copy(w, state[i], from[i]);
    return state;
}

static bool compactible(const Lower *w, PlanOperand state)
{
    PlanRegInfo info = w->fn->regs.at[state.reg];
    return (info.type == PLAN_ARR || info.type == PLAN_COL) && info.core.rank > 0;
}

/* Room is measured before the loop if part of its state can be stored anew. */
static bool lower_limit(Lower *w, const PlanOperand *state, uint32_t n, PlanOperand *limit)
{
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
        any = any || compactible(w, state[i]);
    if (any)
        EMIT(w, LIMIT, *limit = lower_reg(w, PLAN_LIMIT, core_scalar(SC_I64), NULL));
    return any;
}

/* Between two rounds: the state's dead data may go. */
static void lower_compaction(Lower *w, const PlanOperand *state, uint32_t n, PlanOperand limit)
{
    PlanOperand crowded = lower_scalar(w, SC_BOOL, "crowded");
    EMIT(w, CROWDED, crowded, limit);
    PlanInstr *in = EMIT(w, IF, crowded);
    PlanBlock *outer = lower_begin(w);
    in->blocks[0] = w->block;
    for (uint32_t i = 0; i < n; i++) {
        if (!compactible(w, state[i]))
            continue;
        PlanRegInfo info = w->fn->regs.at[state[i].reg];
        PlanOperand rank = lower_number(info.core.rank), bytes = lower_number(scalar_bytes(info.core.scalar));
        if (info.type == PLAN_ARR)
            EMIT(w, COMPACT_ROOT, state[i], rank, bytes);
        else
            EMIT(w, COMPACT, state[i], rank, bytes);
    }
    EMIT(w, LIMIT, limit);
    lower_end(w, outer);
    lower_begin(w);
    in->blocks[1] = w->block;
    lower_end(w, outer);
}

/* ---- rounds before the host looks ---- */

static bool reads_back(const PlanBlock *b)
{
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        const PlanInstr *in = b->instrs.at[i];
        if ((plan_ops[in->op].effects & PLAN_READS_BACK) || in->op == PLAN_OP_CALL ||
            (in->blocks[0] && (reads_back(in->blocks[0]) || reads_back(in->blocks[1]))))
            return true;
    }
    return false;
}

/* Which state the words of an await become: the number of the state, that of the word, and so on. */
static PlanOperand late_state(Lower *w, const PlanInstr *in, const PlanOperand *next, uint32_t n)
{
    PlanOperand list = {.kind = OPERAND_LIST};
    uint32_t m = 0;
    for (uint32_t i = 0; in->op == PLAN_OP_AWAIT && i < n; i++)
        for (uint32_t k = 0; k < in->args[0].list.n; k++) {
            if (next[i].kind != OPERAND_REG || next[i].reg != in->args[0].list.at[k].reg)
                continue;
            list = m ? list : lower_list(w, 2 * n);
            list.list.at[m++] = lower_number(i);
            list.list.at[m++] = lower_number(k);
        }
    list.list.n = m;
    return list;
}

/* Does the host wait for nothing in a round but for what becomes state? */
static bool is_ahead(Lower *w, const FlatBlock *cond, const PlanBlock *body, const PlanOperand *next, uint32_t n)
{
    bool ahead = true;
    for (uint32_t i = 0; i < cond->stmts.n; i++)
        ahead = ahead && cond->stmts.at[i]->kind == FLAT_S_HOST;
    PlanBlock rest = {0};
    for (uint32_t i = 0; i < body->instrs.n; i++)
        if (late_state(w, body->instrs.at[i], next, n).list.n == 0)
            vec_push(w->plan->arena, &rest.instrs, body->instrs.at[i]);
    return ahead && !reads_back(&rest);
}

/* What has been reduced is awaited when the host looks; the rest of the state is there. */
static void lower_late_state(Lower *w, uint32_t n, const PlanOperand *state, const PlanOperand *next)
{
    PlanOperand *to = arena_array(w->plan->arena, PlanOperand, n + 1),
                *from = arena_array(w->plan->arena, PlanOperand, n + 1);
    uint32_t m = 0;
    bool *late = arena_array(w->plan->arena, bool, n + 1);
    for (uint32_t i = 0; i < w->block->instrs.n; i++) {
        PlanInstr *in = w->block->instrs.at[i];
        const PlanOperand words = late_state(w, in, next, n);
        if (words.list.n == 0)
            continue;
        for (uint32_t k = 0; k < words.list.n; k += 2)
            late[words.list.at[k].bits] = true;
        in->op = PLAN_OP_LATE;
        in->args[0] = words;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!late[i]) {
            to[m] = state[i];
            from[m++] = next[i];
        }
    lower_next_state(w, m, to, from);
}

/* Where the host may look, at all rounds since it did. */
static void lower_look(Lower *w, const FlatStmt *s, const PlanOperand *state, uint32_t n, PlanOperand go)
{
    PlanOperand goes = lower_scalar(w, SC_BOOL, "goes"), more = lower_scalar(w, SC_BOOL, "more");
    PlanOperand scalars = lower_list(w, n), numbers = lower_list(w, n);
    scalars.list.n = 0;
    EMIT(w, LOOK, goes);
    for (uint32_t i = 0; i < n; i++) {
        if (lower_type(w, state[i]) == PLAN_ARR) {
            EMIT(w, KEEP_ARR, lower_number(i), state[i]);
            continue;
        }
        EMIT(w, KEEP, lower_number(i), state[i]);
        numbers.list.at[scalars.list.n] = lower_number(i);
        scalars.list.at[scalars.list.n++] = state[i];
    }
    numbers.list.n = scalars.list.n;
    PlanInstr *in = EMIT(w, LOOP, more);
    PlanBlock *outer = lower_begin(w);
    in->blocks[0] = w->block;
    EMIT(w, LOOK_NEXT, more, goes);
    lower_end(w, outer);
    lower_begin(w);
    in->blocks[1] = w->block;
    EMIT(w, LOOKED, scalars, numbers);
    lower_block(w, s->loop.cond);
    lower_copy(w, goes, w->vars[s->loop.cond->results[0]]);
    lower_end(w, outer);
    for (uint32_t i = 0; i < n; i++)
        if (lower_type(w, state[i]) == PLAN_ARR)
            EMIT(w, LOOKED_ARR, lower_number(i), state[i]);
    EMIT(w, LOOK_GOES, go);
}

static void lower_while(Lower *w, const FlatBlock *cond, PlanOperand go)
{
    lower_block(w, cond);
    lower_copy(w, go, w->vars[cond->results[0]]);
}

/* Rounds may be begun that are not there: looks.c sees to that. */
static void lower_loop_ahead(Lower *w, const FlatStmt *s)
{
    const uint32_t n = s->loop.nparams;
    PlanOperand *state = initial_state(w, s->loop.params, s->loop.inits, n), limit = {0};
    PlanOperand go = lower_scalar(w, SC_BOOL, "go");
    const bool limited = lower_limit(w, state, n, &limit);
    PlanBlock *outer = lower_begin(w), *body = w->block;
    lower_block(w, s->loop.body);
    const PlanOperand *next = values_of(w, s->loop.body->results, n);
    const bool ahead = is_ahead(w, s->loop.cond, body, next, n);
    if (ahead)
        lower_late_state(w, n, state, next);
    else
        lower_next_state(w, n, state, next);
    if (limited)
        lower_compaction(w, state, n, limit);
    lower_end(w, outer);
    PlanOperand ok = ahead ? go : lower_running(w);
    if (ahead)
        EMIT(w, LOOKS, lower_number(n));
    PlanInstr *in = EMIT(w, LOOP, go);
    lower_begin(w);
    in->blocks[0] = w->block;
    in->blocks[1] = body;
    if (ahead)
        lower_look(w, s, state, n, go);
    else
        lower_while(w, s->loop.cond, go);
    lower_end(w, outer);
    if (!ahead)
        lower_guard(w, in, ok, false);
    for (uint32_t i = 0; i < s->nouts; i++)
        w->vars[s->outs[i]] = state[i];
}

/* A counted loop counts; a while loop evaluates its condition. */
void lower_loop(Lower *w, const FlatStmt *s)
{
    if (s->loop.looks_ahead) {
        lower_loop_ahead(w, s);
        return;
    }
    uint32_t n = s->loop.nparams;
    bool counted = s->loop.index != FLAT_NO_VAR;
    PlanOperand *state = initial_state(w, s->loop.params, s->loop.inits, n);
    PlanOperand index = {0}, limit = {0}, go = lower_scalar(w, SC_BOOL, "go");
    bool limited = lower_limit(w, state, n, &limit);
    if (counted)
        lower_copy(w, index = lower_new_var(w, s->loop.index), lower_const(SC_I64, 0));
    PlanOperand ok = lower_running(w);
    PlanInstr *in = EMIT(w, LOOP, go);
    PlanBlock *outer = lower_begin(w);
    in->blocks[0] = w->block;
    if (counted) {
        lower_prim(w, go, PRIM_LT, index, w->vars[s->loop.count]);
    } else {
        lower_while(w, s->loop.cond, go);
    }
    lower_end(w, outer);
    lower_begin(w);
    in->blocks[1] = w->block;
    lower_block(w, s->loop.body);
    lower_next_state(w, n, state, values_of(w, s->loop.body->results, n));
    if (limited)
        lower_compaction(w, state, n, limit);
    if (counted)
        lower_prim(w, index, PRIM_ADD, index, lower_const(SC_I64, 1));
    lower_end(w, outer);
    lower_guard(w, in, ok, counted);
    for (uint32_t i = 0; i < s->nouts; i++)
        w->vars[s->outs[i]] = state[i];
}

/* ---- loops in a context ---- */

typedef struct LiftedLoop {
    const FlatStmt *s;
    PlanOperand active, *state, *outs;
    uint32_t n;
    bool limited;
    PlanOperand limit, room; /* room stays as it was before the loop */
} LiftedLoop;

/* some = c has instances */
static PlanOperand has_instances(Lower *w, PlanOperand ctx, PlanOperand some)
{
    PlanOperand n = lower_scalar(w, SC_I64, "n");
    EMIT(w, CTX_N, n, ctx);
    lower_prim(w, some, PRIM_NE, n, lower_const(SC_I64, 0));
    return some;
}

/* The state of the instances that stop goes where they belong; the others' becomes the state. */
static void lower_retiring(Lower *w, const LiftedLoop *l, PlanOperand yes, PlanOperand no)
{
    for (uint32_t i = 0; i < l->n; i++) {
        CoreType t = w->fn->regs.at[l->state[i].reg].core;
        PlanOperand crowded = lower_const(SC_BOOL, 0);
        if (t.rank > 0)
            EMIT(w, CROWDED, crowded = lower_scalar(w, SC_BOOL, "crowded"), l->room);
        EMIT(w, RETIRE_INSTANCES, l->state[i], l->active, no, yes, l->outs[i], w->vars[l->s->ctx], crowded,
             lower_number(t.rank), lower_number(scalar_bytes(t.scalar)));
    }
}

/* After the condition: which instances go on. The active set hangs on the loop's context, however many rounds there
 * were. */
static void lower_round_split(Lower *w, const LiftedLoop *l, PlanOperand go)
{
    PlanOperand yes = lower_reg(w, PLAN_CTX, core_scalar(SC_BOOL), "yes"),
                no = lower_reg(w, PLAN_CTX, core_scalar(SC_BOOL), "no"), stop = lower_scalar(w, SC_BOOL, "stop");
    lower_split(w, l->active, go, lower_sums_of_state(w, l->s), yes, no);
    PlanInstr *in = EMIT(w, IF, has_instances(w, no, stop));
    PlanBlock *outer = lower_begin(w);
    in->blocks[0] = w->block;
    lower_retiring(w, l, yes, no);
    EMIT(w, CTX_BELOW, l->active, yes, w->vars[l->s->ctx]);
    lower_end(w, outer);
    lower_begin(w);
    in->blocks[1] = w->block;
    lower_end(w, outer);
}

/* All instances begin as the active ones; the outs have a place for each. */
static LiftedLoop lifted_start(Lower *w, const FlatStmt *s)
{
    LiftedLoop l = {.s = s, .n = s->loop_lifted.nparams};
    PlanOperand ctx = w->vars[s->ctx], n = lower_scalar(w, SC_I64, "n");
    lower_copy(w, l.active = lower_new_var(w, s->loop_lifted.active), ctx);
    l.state = initial_state(w, s->loop_lifted.params, s->loop_lifted.inits, l.n);
    l.limited = lower_limit(w, l.state, l.n, &l.limit);
    if (l.limited)
        EMIT(w, LIMIT, l.room = lower_like(w, l.limit));
    EMIT(w, CTX_N, n, ctx);
    l.outs = lower_new_vars(w, s->outs, s->nouts).list.at;
    for (uint32_t i = 0; i < s->nouts; i++)
        EMIT(w, NEW_COL, l.outs[i], n, lower_number(emit_bytes(lower_info(w, s->outs[i])->type)));
    return l;
}

/* A round: the condition, who goes on, and if there is anyone the body. */
static void lower_lifted_round(Lower *w, const LiftedLoop *l)
{
    const FlatStmt *s = l->s;
    lower_block(w, s->loop_lifted.cond);
    lower_round_split(w, l, w->vars[s->loop_lifted.cond->results[0]]);
    PlanInstr *in = EMIT(w, IF, has_instances(w, l->active, lower_scalar(w, SC_BOOL, "more")));
    PlanBlock *outer = lower_begin(w);
    in->blocks[0] = w->block;
    lower_block(w, s->loop_lifted.body);
    lower_next_state(w, l->n, l->state, values_of(w, s->loop_lifted.body->results, l->n));
    if (l->limited)
        lower_compaction(w, l->state, l->n, l->limit);
    lower_end(w, outer);
    lower_begin(w);
    in->blocks[1] = w->block;
    lower_end(w, outer);
}

void lower_lifted_loop(Lower *w, const FlatStmt *s)
{
    LiftedLoop l = lifted_start(w, s);
    PlanOperand go = lower_scalar(w, SC_BOOL, "go"), ok = lower_running(w);
    PlanInstr *in = EMIT(w, LOOP, go);
    PlanBlock *outer = lower_begin(w);
    in->blocks[0] = w->block;
    has_instances(w, l.active, go);
    lower_end(w, outer);
    lower_begin(w);
    in->blocks[1] = w->block;
    lower_lifted_round(w, &l);
    lower_end(w, outer);
    lower_guard(w, in, ok, false);
}

/* ---- calls ---- */

void lower_call(Lower *w, const FlatStmt *s)
{
    PlanOperand args = lower_vars(w, s->call.args, s->call.nargs), outs = lower_new_vars(w, s->outs, s->nouts);
    EMIT(w, CALL, args, outs)->fn = w->plan->fns.at[s->call.fn->index];
}

/* Where each site's instances begin among those of all, and behind the last their number. */
static PlanOperand *site_starts(Lower *w, const FlatStmt *s, PlanOperand *sizes)
{
    uint32_t n = s->call_lifted.nsites;
    PlanOperand *starts = arena_array(w->plan->arena, PlanOperand, n + 1);
    starts[0] = lower_const(SC_I64, 0);
    for (uint32_t i = 0; i < n; i++) {
        sizes[i] = lower_scalar(w, SC_I64, "n");
        EMIT(w, CTX_N, sizes[i], w->vars[s->call_lifted.sites[i].ctx]);
        starts[i + 1] = sizes[i];
        if (i > 0)
            lower_prim(w, starts[i + 1] = lower_scalar(w, SC_I64, "n"), PRIM_ADD, starts[i], sizes[i]);
    }
    return starts;
}

/* Argument j: the sites' columns, one behind the other. */
static PlanOperand site_argument(Lower *w, const FlatStmt *s, uint32_t j)
{
    uint32_t n = s->call_lifted.nsites;
    PlanOperand cols = lower_list(w, n);
    for (uint32_t i = 0; i < n; i++)
        cols.list.at[i] = w->vars[s->call_lifted.sites[i].args[j]];
    if (n == 1)
        return cols.list.at[0];
    PlanOperand all = lower_like(w, cols.list.at[0]);
    EMIT(w, CONCAT, all, cols);
    return all;
}

/* Result j: each site gets its slice. */
static void site_results(Lower *w, const FlatStmt *s, uint32_t j, PlanOperand all, const PlanOperand *starts,
                         const PlanOperand *sizes)
{
    for (uint32_t i = 0; i < s->call_lifted.nsites; i++)
        EMIT(w, SLICE_COL, lower_new_var(w, s->call_lifted.sites[i].outs[j]), all, starts[i], sizes[i]);
}

void lower_call_lifted(Lower *w, const FlatStmt *s)
{
    uint32_t nargs = s->call_lifted.nargs, nresults = s->call_lifted.nresults, nsites = s->call_lifted.nsites;
    PlanOperand *sizes = arena_array(w->plan->arena, PlanOperand, nsites + 1), *starts = site_starts(w, s, sizes);
    PlanOperand args = lower_list(w, nargs + 1), outs = lower_list(w, nresults);
    args.list.at[0] = lower_reg(w, PLAN_CTX, core_scalar(SC_BOOL), "callers");
    EMIT(w, CTX_FN, args.list.at[0], starts[nsites]);
    for (uint32_t j = 0; j < nargs; j++)
        args.list.at[1 + j] = site_argument(w, s, j);
    for (uint32_t j = 0; j < nresults; j++) {
        FlatVar first = s->call_lifted.sites[0].outs[j];
        outs.list.at[j] = lower_new_var(w, first);
    }
    EMIT(w, CALL, args, outs)->fn = w->plan->fns.at[s->call_lifted.fn->index];
    for (uint32_t j = 0; nsites > 1 && j < nresults; j++)
        site_results(w, s, j, outs.list.at[j], starts, sizes);
}
