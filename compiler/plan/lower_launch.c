/* Statements that launch kernels: their words, the launch, and what the new columns' views may point into. */
#include "plan/lower_internal.h"

#include "core/lane.h"
#include "plan/emit_text.h"
#include "params.h"

/* ---- words ---- */

/* The bits that, all set, make the word unnecessary. */
static uint32_t unless_bits(const PlanKernel *k, const PlanWord *word)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; !word->always && i < word->elems.n; i++)
        mask |= (uint32_t)1 << k->words.at[word->elems.at[i]].bit;
    return mask;
}

static PlanReg ctx_reg(const Lower *w, FlatVar ctx)
{
    return ctx == FLAT_NO_VAR || ctx == FLAT_ROOT ? PLAN_NO_REG : w->vars[ctx].reg;
}

static PlanArgument lower_word(const Lower *w, const PlanKernel *k, const PlanWord *word)
{
    PlanArgument a = {.kind = word->kind,
                      .from = ctx_reg(w, word->from),
                      .to = ctx_reg(w, word->to),
                      .level = word->level,
                      .bit = word->bit,
                      .unless = unless_bits(k, word)};
    if (word->var != FLAT_NO_VAR)
        a.value = w->vars[word->var];
    if (word->kind == WORD_ELEMS)
        a.bytes = emit_element_bytes(lower_info(w, word->var)->type);
    return a;
}

static void set_words(Lower *w, PlanInstr *in, const PlanKernel *k)
{
    in->nwords = k->words.n;
    in->words = arena_array(w->plan->arena, PlanArgument, k->words.n + 1);
    for (uint32_t i = 0; i < k->words.n; i++)
        in->words[i] = lower_word(w, k, &k->words.at[i]);
}

#define LAUNCH(w, OP, k, ...) set_words((w), EMIT((w), OP, lower_number((k)->index), __VA_ARGS__), (k))

/* ---- what views may point into ---- */

PlanOperand lower_refs_none(Lower *w)
{
    PlanOperand none = lower_reg(w, PLAN_REFS, core_scalar(SC_BOOL), NULL);
    EMIT(w, REFS_NONE, none);
    return none;
}

PlanOperand lower_refs_add(Lower *w, PlanOperand set, PlanOperand of, uint32_t depth)
{
    PlanOperand more = lower_reg(w, PLAN_REFS, core_scalar(SC_BOOL), NULL), both = lower_like(w, more);
    if (lower_type(w, of) == PLAN_COL)
        EMIT(w, REFS_OF_COL, more, of, lower_number(depth));
    else
        EMIT(w, REFS_OF_ARR, more, of, lower_number(depth));
    EMIT(w, REFS_UNION, both, set, more);
    return both;
}

/* May a view of this type stem from the input? Then *depth says how many indexings of the variable lead to it. */
static bool may_stem_from(const Lower *w, const FlatInput *in, CoreType view, uint32_t *depth)
{
    if (in->kind == IN_POS)
        return false;
    CoreType t = lower_info(w, in->var)->type;
    uint32_t least = view.rank + (in->kind == IN_ELEM ? 1U : 0U); /* an element is one indexing further */
    if (t.scalar != view.scalar || t.rank < least)
        return false;
    *depth = (uint32_t)t.rank - view.rank;
    return true;
}

/* Has an earlier input of the same variable been counted? */
static bool counted_before(const Lower *w, const FlatInputs *inputs, uint32_t i, CoreType view)
{
    uint32_t depth;
    for (uint32_t j = 0; j < i; j++)
        if (may_stem_from(w, &inputs->at[j], view, &depth) && inputs->at[j].var == inputs->at[i].var)
            return true;
    return false;
}

/* Are arrays of the body's made there? */
static bool is_lane_memory(const CoreBlock *b, CoreVar v)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (b->stmts.at[i]->kind == CORE_LANE && !b->stmts.at[i]->lane.memory.is_const &&
            b->stmts.at[i]->lane.memory.var == v)
            return true;
    return false;
}

/* The set and what views of this type that the body makes may point into. */
static PlanOperand add_body_refs(Lower *w, PlanOperand set, const FlatBody *body, CoreType view)
{
    for (uint32_t i = 0; i < body->inputs.n; i++) {
        uint32_t depth;
        if (is_lane_memory(body->block, body->inputs.at[i].as))
            set = lower_refs_add(w, set, w->vars[body->inputs.at[i].var], 0);
        else if (may_stem_from(w, &body->inputs.at[i], view, &depth) && !counted_before(w, &body->inputs, i, view))
            set = lower_refs_add(w, set, w->vars[body->inputs.at[i].var], depth);
    }
    return set;
}

/* ---- launches ---- */

static const FlatInput *input_as(const FlatInputs *inputs, CoreAtom a)
{
    for (uint32_t i = 0; i < inputs->n; i++)
        if (!a.is_const && inputs->at[i].as == a.var)
            return &inputs->at[i];
    return NULL;
}

typedef struct Begins {
    Lower *w;
    const FlatInputs *inputs;
    PlanOperand memory;
} Begins;

static void begin_as(void *ctx, CoreAtom array)
{
    const Begins *b = ctx;
    const FlatInput *in = input_as(b->inputs, array);
    if (in && in->kind == IN_HOST)
        EMIT(b->w, LANE_BEGINS, b->memory, b->w->vars[in->var],
             lower_number(emit_bytes(core_element(lower_info(b->w, in->var)->type))));
}

/* What the lane of a loop begins with. */
static void lower_begins(Lower *w, const PlanKernel *k)
{
    const FlatBody *body = &k->stmt->body;
    for (uint32_t i = 0; i < body->block->stmts.n; i++) {
        const CoreStmt *s = body->block->stmts.at[i];
        if (s->kind != CORE_LANE || s->lane.of != LANE_OF_LOOP || s->lane.memory.is_const)
            continue;
        Begins b = {w, &body->inputs, w->vars[input_as(&body->inputs, s->lane.memory)->var]};
        Lane lane = lane_open(k->fn->scope, true);
        if (lane_analyse(&lane, s->lane.block))
            lane_each_begin(&lane, s->lane.block, begin_as, &b);
        lane_close(&lane);
    }
}

static bool over_root(const PlanKernel *k) { return plan_up(k->fn, k->stmt->body.ctx) == FLAT_ROOT; }

static PlanOperand kernel_outs(Lower *w, const PlanKernel *k)
{
    return lower_new_vars(w, k->stmt->outs + k->first * (k->kind == PLAN_MAP), k->nouts);
}

/* Of the columns that hold views. */
static void set_column_refs(Lower *w, const PlanKernel *k, PlanOperand outs)
{
    for (uint32_t i = 0; i < outs.list.n; i++) {
        CoreType t = w->fn->regs.at[outs.list.at[i].reg].core;
        if (t.rank > 0)
            EMIT(w, COL_SET_REFS, outs.list.at[i], add_body_refs(w, lower_refs_none(w), &k->stmt->body, t));
    }
}

static void lower_array(Lower *w, const PlanKernel *k, PlanOperand ctx)
{
    CoreType element = core_element(lower_info(w, k->stmt->outs[0])->type);
    PlanOperand refs = lower_refs_none(w);
    if (element.rank > 0)
        refs = add_body_refs(w, refs, &k->stmt->body, element);
    LAUNCH(w, ARRAY, k, ctx, lower_new_var(w, k->stmt->outs[0]), lower_number(k->nvalues), refs);
}

static bool is_position(const FlatBody *body, CoreAtom a)
{
    const FlatInput *in = input_as(&body->inputs, a);
    return in && in->kind == IN_POS && in->ctx == body->ctx;
}

static bool is_same_for_all(const FlatBody *body, CoreAtom a)
{
    const FlatInput *in = input_as(&body->inputs, a);
    return a.is_const || (in && in->kind == IN_HOST);
}

/* Does each instance store at a place of its own, and read of the destination, if at all, what is there? Then that may
 * be written over though the body reads it. */
static bool reads_own_place(const Lower *w, const FlatStmt *s)
{
    const FlatBody *body = &s->body;
    const CoreAtom at = body->block->results[0];
    const CoreStmt *sum = at.is_const ? NULL : core_as_prim(core_block_def(body->block, at), PRIM_ADD);
    const bool single = w->single[body->ctx];
    bool own = s->reduce.ndests == 1 && (single || sum != NULL || is_position(body, at)), reads = false;
    if (own && sum && !single)
        own = (is_position(body, sum->prim.args[0]) && is_same_for_all(body, sum->prim.args[1])) ||
              (is_position(body, sum->prim.args[1]) && is_same_for_all(body, sum->prim.args[0]));
    for (uint32_t i = 0; own && i < body->inputs.n; i++) {
        const FlatInput *in = &body->inputs.at[i];
        if (in->var != s->reduce.dests[0] || in->kind == IN_POS)
            continue;
        reads = true;
        own = in->kind == IN_HOST && core_reads_only_at(body->block, in->as, at);
    }
    return own && reads;
}

/* Rows moved as views: the new arrays' elements may point where the old ones' and the values do. This is asked for
 * before the launch, for the destinations may end there. */
static void lower_scatter(Lower *w, const PlanKernel *k, PlanOperand ctx)
{
    const FlatStmt *s = k->stmt;
    PlanOperand dests = lower_vars(w, s->reduce.dests, s->reduce.ndests);
    PlanOperand *refs = arena_array(w->plan->arena, PlanOperand, k->nouts + 1);
    for (uint32_t i = 0; i < k->nouts; i++) {
        CoreType element = core_element(lower_info(w, s->outs[i])->type);
        if (element.rank == 0)
            continue;
        refs[i] = lower_refs_add(w, lower_refs_none(w), dests.list.at[i], 1);
        refs[i] = add_body_refs(w, refs[i], &s->body, element);
    }
    PlanOperand outs = kernel_outs(w, k);
    if (over_root(k) && reads_own_place(w, s))
        LAUNCH(w, SCATTER_OVER, k, ctx, outs, dests);
    else if (over_root(k))
        LAUNCH(w, SCATTER_ROOT, k, ctx, outs, dests);
    else
        LAUNCH(w, SCATTER, k, ctx, outs, dests);
    for (uint32_t i = 0; i < k->nouts; i++) {
        if (lower_info(w, s->outs[i])->type.rank < 2)
            continue;
        if (over_root(k))
            EMIT(w, ARR_SET_REFS, outs.list.at[i], refs[i]);
        else
            EMIT(w, COL_SET_REFS, outs.list.at[i], refs[i]);
    }
}

/* Room for the columns that the reduction stores beside. */
static void lower_kept(Lower *w, const PlanKernel *k, PlanOperand ctx)
{
    PlanOperand n = {0};
    if (flat_kept(k->stmt) > 0)
        EMIT(w, CTX_N, n = lower_scalar(w, SC_I64, "n"), ctx);
    for (uint32_t i = 0; i < flat_kept(k->stmt); i++) {
        const FlatVar kept = plan_kept(k, i);
        EMIT(w, NEW_COL, lower_new_var(w, kept), n, lower_number(emit_bytes(lower_info(w, kept)->type)));
    }
}

static void lower_reduce(Lower *w, const PlanKernel *k, PlanOperand ctx)
{
    lower_kept(w, k, ctx);
    PlanOperand outs = kernel_outs(w, k);
    PlanRowCheck check;
    if (flat_reduce_stays(k->stmt)) {
        LAUNCH(w, REDUCE_STAYS, k, ctx, outs);
        return;
    }
    if (over_root(k)) {
        PlanOperand p = lower_pending(w);
        if (plan_is_row_check(k, &check))
            LAUNCH(w, CHECK_ROWS, k, ctx, p, w->vars[check.rows],
                   check.host_size == FLAT_NO_VAR ? lower_const(SC_I64, check.size.bits) : w->vars[check.host_size]);
        else
            LAUNCH(w, REDUCE_ROOT, k, ctx, p);
        EMIT(w, AWAIT, outs, p);
        return;
    }
    LAUNCH(w, REDUCE, k, ctx, outs);
    set_column_refs(w, k, outs);
}

static PlanOperand bound_of(const Lower *w, const FlatStays *stays)
{
    return stays->bound == FLAT_NO_VAR ? lower_const(SC_I64, (uint64_t)stays->at) : w->vars[stays->bound];
}

static void lower_map_over(Lower *w, const PlanKernel *k, PlanOperand ctx, PlanOperand outs)
{
    const FlatOver *over = k->stmt->kernel.over;
    LAUNCH(w, MAP_OVER, k, ctx, outs, lower_vars(w, &over->rows, over->rows != FLAT_NO_VAR),
           lower_vars(w, &over->array, over->array != FLAT_NO_VAR), lower_number(over->stays.how),
           bound_of(w, &over->stays), lower_number(over->in_rows.how), bound_of(w, &over->in_rows));
}

static void lower_columns(Lower *w, const PlanKernel *k, PlanOperand ctx)
{
    PlanOperand outs = kernel_outs(w, k);
    if (k->kind == PLAN_MAP && k->stmt->kind == FLAT_S_KERNEL && k->stmt->kernel.over)
        lower_map_over(w, k, ctx, outs);
    else if (k->kind == PLAN_MAP) {
        lower_begins(w, k);
        LAUNCH(w, MAP, k, ctx, outs);
    } else if (flat_scan_turns(k->fn, k->stmt))
        LAUNCH(w, SCAN_TURNED, k, ctx, outs);
    else
        LAUNCH(w, SCAN, k, ctx, outs);
    set_column_refs(w, k, outs);
}

static void lower_hist(Lower *w, const PlanKernel *k, PlanOperand ctx)
{
    PlanOperand size = w->vars[k->stmt->reduce.size], outs = kernel_outs(w, k);
    if (over_root(k))
        LAUNCH(w, HIST_ROOT, k, ctx, outs, size);
    else if (k->fn->vars.at[k->stmt->reduce.size].kind == FLAT_HOST)
        LAUNCH(w, HIST_REGULAR, k, ctx, outs, size);
    else
        LAUNCH(w, HIST, k, ctx, outs, size);
}

/* Of each context the bit of the kernel says whether the positions are stored; of each column, which context it is of.
 */
static void lower_pack(Lower *w, const PlanKernel *k, PlanOperand ctx)
{
    const FlatStmt *s = k->stmt;
    uint32_t ways = s->pack.nways, n = s->nouts - ways;
    PlanOperand of = lower_list(w, n), contexts = lower_new_vars(w, s->outs, ways);
    for (uint32_t j = 0; j < n; j++) {
        uint32_t i = 0;
        while (s->outs[i] != lower_info(w, s->outs[ways + j])->ctx)
            i++;
        of.list.at[j] = lower_number(i);
    }
    PlanOperand columns = lower_new_vars(w, s->outs + ways, n), p = lower_pending(w);
    LAUNCH(w, PACK, k, ctx, p, lower_number(ways), lower_number(k->positions));
    EMIT(w, AWAIT_PACK, columns, contexts, of, p);
    set_column_refs(w, k, columns);
}

static void lower_launch(Lower *w, const PlanKernel *k)
{
    PlanOperand ctx = w->vars[k->stmt->body.ctx];
    switch (k->kind) {
    case PLAN_MAP:
    case PLAN_SCAN: lower_columns(w, k, ctx); break;
    case PLAN_ARRAY: lower_array(w, k, ctx); break;
    case PLAN_PACK: lower_pack(w, k, ctx); break;
    case PLAN_REDUCE: lower_reduce(w, k, ctx); break;
    case PLAN_SCATTER: lower_scatter(w, k, ctx); break;
    case PLAN_HIST: lower_hist(w, k, ctx); break;
    }
}

void lower_launches(Lower *w, const FlatStmt *s)
{
    uint32_t first = w->plan->kernels.n, n = plan_add_kernels(w->plan, w->flat, s, &w->nkernels);
    for (uint32_t i = 0; s->kind == FLAT_S_PACK && i < s->pack.nways; i++)
        w->plan->kernels.at[first]->positions |= (uint32_t)w->positions[s->outs[i]] << i;
    for (uint32_t i = 0; i < n; i++)
        lower_launch(w, w->plan->kernels.at[first + i]);
}
