/* Loops outside parallel code that one lane had better execute from beginning to end (docs/flattening.md, 12), as each
 * launch of a round costs as much as some thousand statements:
 *
 *     xs = loop … do B   ==>   t = few work
 *                              x1, f = if t then { ys, fs = map 1 { m = memory; y = lane in m { loop … do B' };
 *                                                                   f = fitted y; -> y, f }; -> ys[0], fs[0] }
 *                                           else { -> nothing, false }
 *                              xs = if f then { -> x1 } else { loop … do B -> xs }
 *
 * Loops in the rounds of the second version are chosen for in the same way.
 *
 * `work` is what a round has to do, in statements, as far as that is known before the loop: elements of the parallel
 * operations by what one of them costs, and how much of that a CPU's lane may do by vectors. Where only the rounds
 * know, the lane counts, and gives up. */
#include "core/callgraph.h"
#include "core/choose_lanes_internal.h"
#include "core/lane.h"

#include <string.h>

/* WIDEST: elements as which longer operations count; those of nests are multiplied, DEEPEST of them. FEWEST: launches
 * and reads of all rounds, where their number is known, below which the lane's memory, its launch and the look at it
 * cost more. */
enum { WIDEST = 1 << 20, DEEPEST = 3, FEWEST = 32 };

/* A loop that has two versions: loops in its rounds are looked at when all others have been, with what is known of the
 * function's variables. */
typedef struct Later {
    CoreFn *fn;
    CoreStmt *loop;
    uint32_t nvars;
    bool *inside;
    CoreStmt **makers;
} Later;

typedef struct LoopChooser {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    uint32_t budget;    /* of statements */
    StackLoops *stacks; /* or NULL: nothing is recursive */
    CoreCopyMap map;
    uint32_t nvars;
    bool *inside;      /* by variable: the loop that is looked at binds it */
    CoreStmt **makers; /* and by this statement; as state: the loop */
    VEC(Later) later;
    CoreBuilder b;
} LoopChooser;

/* ---- what a round has to do ---- */

static void note_binder(void *ctx, CoreVar *v) { ((LoopChooser *)ctx)->inside[*v] = true; }

static void note_block(void *ctx, CoreBlock *block)
{
    LoopChooser *c = ctx;
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        core_stmt_binders(s, note_binder, c);
        for (uint32_t k = 0; k < s->nvars; k++) {
            c->inside[s->vars[k]] = true;
            c->makers[s->vars[k]] = s;
        }
        for (uint32_t k = 0; s->kind == CORE_LOOP && k < s->loop.nparams; k++)
            c->makers[s->loop.params[k]] = s;
        core_stmt_blocks(s, note_block, c);
    }
}

static bool is_outside(const LoopChooser *c, CoreAtom a)
{
    return a.is_const || a.var >= c->nvars || !c->inside[a.var];
}

/* The number, or the array's length, as it is before the loop; false if that is not known. Arrays of a loop's state are
 * taken to stay as long as they begin. */
static bool number_before(LoopChooser *c, CoreAtom a, CoreAtom *n);

static bool length_before(LoopChooser *c, CoreAtom array, CoreAtom *n)
{
    if (is_outside(c, array)) {
        *n = build_length(&c->b, array);
        return true;
    }
    const CoreStmt *s = c->makers[array.var];
    for (uint32_t i = 0; s && s->kind == CORE_LOOP && i < s->nvars; i++)
        if (s->vars[i] == array.var || s->loop.params[i] == array.var)
            return length_before(c, s->loop.inits[i], n);
    for (uint32_t i = 0; s && s->kind == CORE_SCATTER && i < s->nvars; i++)
        if (s->vars[i] == array.var)
            return length_before(c, s->soac.dests[i], n);
    switch (s ? s->kind : CORE_PRIM) {
    case CORE_MAP:
    case CORE_SCAN: return number_before(c, s->soac.domain, n);
    case CORE_UPDATE: return length_before(c, s->update.array, n);
    case CORE_ATOM: return length_before(c, s->atom, n);
    default: return false;
    }
}

static bool number_before(LoopChooser *c, CoreAtom a, CoreAtom *n)
{
    *n = a;
    if (is_outside(c, a))
        return true;
    const CoreStmt *s = c->makers[a.var];
    return s && s->kind == CORE_LENGTH && length_before(c, s->length.array, n);
}

static CoreAtom times(LoopChooser *c, CoreAtom x, CoreAtom y)
{
    if (x.is_const && y.is_const)
        return core_i64((int64_t)(x.bits * y.bits));
    return build_prim2(&c->b, PRIM_MUL, x, y);
}

static CoreAtom plus(LoopChooser *c, CoreAtom x, CoreAtom y)
{
    if (x.is_const && y.is_const)
        return core_i64((int64_t)(x.bits + y.bits));
    if (x.is_const && x.bits == 0)
        return y;
    return build_prim2(&c->b, PRIM_ADD, x, y);
}

/* How many elements the operation has, WIDEST at most; 1 where that is not known. */
static CoreAtom elements_of(LoopChooser *c, const CoreSoac *soac)
{
    CoreAtom n;
    if (!number_before(c, soac->domain, &n))
        return core_i64(1);
    if (n.is_const)
        return core_i64((int64_t)n.bits < WIDEST ? (int64_t)n.bits : WIDEST);
    return build_prim2(&c->b, PRIM_MIN, n, core_i64(WIDEST));
}

typedef struct Round {
    LoopChooser *c;
    CoreAtom work, wide, width; /* so many statements, some of them side by side; elements of the operations around */
    uint32_t depth;
} Round;

static void add_block(void *ctx, CoreBlock *block)
{
    Round *r = ctx;
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        const CoreSoac *soac = core_stmt_soac(s);
        const CoreAtom width = r->width;
        if (soac) {
            if (r->depth < DEEPEST)
                r->width = times(r->c, width, elements_of(r->c, soac));
            const LaneCost cost = lane_cost(s);
            CoreAtom work = times(r->c, r->width, core_i64(cost.statements));
            if (cost.elements > 1)
                work = build_prim2(&r->c->b, PRIM_DIV, work, core_i64(cost.elements));
            r->work = plus(r->c, r->work, work);
            if (lane_goes_wide(r->c->fn, s)) /* a sum's vectors are added up in the end */
                r->wide = plus(r->c, r->wide,
                               s->kind == CORE_REDUCE ? build_prim2(&r->c->b, PRIM_DIV, work, core_i64(2)) : work);
        }
        r->depth += soac != NULL;
        core_stmt_blocks(s, add_block, r);
        r->depth -= soac != NULL;
        r->width = width;
    }
}

static void look_for_loop(void *ctx, CoreBlock *block)
{
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        *(bool *)ctx |= s->kind == CORE_LOOP && !core_stmt_is_scalar(s);
        if (!core_stmt_soac(s))
            core_stmt_blocks(s, look_for_loop, ctx);
    }
}

/* Rounds up to which a loop is short: none where they are loops themselves. */
static uint32_t few_rounds(const CoreStmt *loop)
{
    bool loops = false;
    const RoundCost round = round_cost(loop, true);
    look_for_loop(&loops, loop->loop.body);
    return loops ? 0 : (FEWEST - 1) / (round.launches + round.reads);
}

/* ---- the two versions ---- */

static bool lane_can(const LoopChooser *c, CoreBlock *code)
{
    Lane lane = lane_open(c->fn, true);
    const bool can = lane_analyse(&lane, code) && lane_rows_can_be_given(c->fn, code);
    lane_close(&lane);
    return can;
}

/* Rows of rows are one array in the lane, and leave it so. NULL: that cannot be. */
static CoreBlock *without_rows(LoopChooser *c, CoreBlock *code, GivenRows **given)
{
    const CoreStmt once = {.kind = CORE_MAP, .soac = {.domain = core_i64(1), .index = CORE_NO_VAR, .body = code}};
    Lane lane = lane_open(c->fn, true);
    const bool none = lane_analyse(&lane, code) && lane_keeps_arrays(&lane, code);
    lane_close(&lane);
    *given = arena_array(c->p->arena, GivenRows, code->nresults + 1);
    return none ? code : lane_tables(&c->b, code, &once, true, c->scratch, &c->map, given);
}

/* The one lane's: what it gives, and whether that means something. */
static CoreBlock *by_lane(CoreBuilder *b, CoreBlock *code)
{
    CoreBlock *outer = build_begin(b);
    CoreBlock *lane = choose_in_memory(b, code, LANE_OF_LOOP);
    return build_end(b, outer, build_once(b, lane), lane->nresults);
}

static CoreBlock *by_nobody(CoreBuilder *b, const CoreBlock *code)
{
    CoreBlock *outer = build_begin(b);
    CoreAtom *results = arena_array(b->p->arena, CoreAtom, code->nresults + 1);
    for (uint32_t i = 0; i < code->nresults; i++)
        results[i] = build_nothing(b, core_atom_type(b->fn, code->results[i]));
    results[code->nresults] = core_const(SC_BOOL, 0);
    return build_end(b, outer, results, code->nresults + 1);
}

/* The loop's variables are what the version gives that was taken. */
static void emit_versions(LoopChooser *c, CoreStmt *s, CoreBlock *code, const GivenRows *given, CoreAtom few)
{
    CoreBuilder *b = &c->b;
    const uint32_t n = s->nvars;
    CoreBlock *nothing = by_nobody(b, code);
    const uint32_t fitted = code->nresults;
    const CoreAtom *tried = build_if(b, few, by_lane(b, code), nothing);
    CoreStmt *chosen = build_instead(b, s, tried[fitted]);
    CoreBlock *outer = build_begin(b);
    CoreAtom *joined = arena_array(c->p->arena, CoreAtom, n + 1);
    for (uint32_t i = 0; i < n; i++)
        joined[i] = lane_rows_join(b, &given[i], tried[i], tried);
    chosen->if_.then_b = build_end(b, outer, joined, n);
    chosen->if_.else_b = build_alone(b, s);
    build_emit(b, chosen);
}

/* Too much work for any lane where rounds are few. */
static CoreAtom unless_short(LoopChooser *c, const CoreStmt *s, CoreAtom work)
{
    if (s->loop.cond || s->loop.count.is_const)
        return work;
    const CoreAtom some = build_prim2(&c->b, PRIM_LT, core_i64(few_rounds(s)), s->loop.count);
    return build_select(&c->b, some, work, core_i64(INT64_MAX));
}

static bool is_short(const CoreStmt *s)
{
    return !s->loop.cond && s->loop.count.is_const && (int64_t)s->loop.count.bits <= few_rounds(s);
}

static CoreAtom ask(LoopChooser *c, CoreStmt *s)
{
    CoreBlock alone = {0};
    Round r = {.c = c, .work = core_i64(1), .wide = core_i64(0), .width = core_i64(1)};
    const CoreType type_bool = core_scalar(SC_BOOL);
    vec_push(c->scratch, &alone.stmts, s);
    memset(c->inside, 0, c->nvars * sizeof *c->inside);
    note_block(c, &alone);
    add_block(&r, s->loop.body);
    CoreStmt *few = build_stmt(&c->b, CORE_FEW, 1, &type_bool);
    const RoundCost round = round_cost(s, true);
    few->few.launches = round.launches;
    few->few.on_gpu = round_on_gpu(round);
    few->few.work = unless_short(c, s, r.work);
    few->few.wide = r.wide;
    build_emit(&c->b, few);
    return build_atom(&c->b, few->vars[0]);
}

typedef struct Calls {
    StackLoops *stacks;
    bool any, other;
} Calls;

static void look_for_calls(void *ctx, CoreBlock *block)
{
    Calls *calls = ctx;
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        if (s->kind == CORE_CALL) {
            calls->any = true;
            calls->other |= !calls->stacks || !stack_loops_scalar(calls->stacks, s->call.fn);
        }
        core_stmt_blocks(s, look_for_calls, ctx);
    }
}

/* The loop, alone, with loops for what it calls; NULL: there are calls of what goes over many elements, or of what
 * cannot be a loop, or it is a part of what is recursive. */
static CoreBlock *alone_without_calls(LoopChooser *c, CoreStmt *s)
{
    CoreBlock *alone = core_new_block(c->p);
    Calls calls = {.stacks = c->fn->recursive ? NULL : c->stacks};
    core_push(c->p, alone, s);
    build_results(&c->b, alone, build_atoms(&c->b, s->vars, s->nvars), s->nvars);
    look_for_calls(&calls, alone);
    if (!calls.any || calls.other)
        return calls.other ? NULL : alone;
    CoreBlock *code = core_copy_within(c->p, c->fn, alone, c->scratch, &c->map);
    stack_loops_expand(c->stacks, c->fn, code);
    return code;
}

/* Emits both, or nothing. */
static bool choose_for_loop(LoopChooser *c, CoreStmt *s)
{
    uint32_t statements = 0;
    if (core_stmt_is_scalar(s) || is_short(s))
        return false;
    CoreBlock *alone = alone_without_calls(c, s);
    if (!alone || !choose_is_possible(NULL, 0, alone))
        return false;
    choose_count(&statements, alone);
    if (statements > c->budget || !lane_can(c, alone))
        return false;
    CoreBlock *code = core_copy_within(c->p, c->fn, alone, c->scratch, &c->map);
    lane_fuse(c->p, c->fn, code);
    GivenRows *given;
    c->b.span = s->span;
    code = lane_can(c, code) ? without_rows(c, code, &given) : NULL;
    if (!code)
        return false;
    c->budget -= statements;
    emit_versions(c, s, code, given, ask(c, s));
    return true;
}

/* ---- finding them ---- */

static void choose_in_block(void *ctx, CoreBlock *block)
{
    LoopChooser *c = ctx;
    CoreBlock *outer = c->b.out, old = core_take_stmts(block);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        c->b.out = block;
        const bool chosen = s->kind == CORE_LOOP && choose_for_loop(c, s);
        if (chosen) /* rounds that are launches have loops, too */
            vec_push(c->scratch, &c->later, ((Later){c->fn, s, c->nvars, c->inside, c->makers}));
        else if (!core_stmt_soac(s))
            core_stmt_blocks(s, choose_in_block, c);
        if (!chosen)
            core_push(c->p, block, s);
    }
    c->b.out = outer;
}

static void begin_function(LoopChooser *c, CoreFn *fn, uint32_t nvars, bool *inside, CoreStmt **makers)
{
    c->fn = fn;
    c->nvars = nvars;
    c->inside = inside;
    c->makers = makers;
    c->map = (CoreCopyMap){0};
    c->b = (CoreBuilder){.p = c->p, .fn = fn};
}

void core_choose_loops(CoreProgram *p)
{
    LoopChooser c = {.p = p, .budget = CHOOSE_COPIED, .scratch = arena_create()};
    StackLoops stacks;
    bool recursive = false;
    for (uint32_t i = 0; i < p->fns.n; i++) {
        choose_count(&c.budget, p->fns.at[i]->body);
        recursive |= p->fns.at[i]->recursive;
    }
    if (recursive)
        stacks = stack_loops_open(p, c.scratch);
    c.stacks = recursive ? &stacks : NULL;
    const bool *lifted = core_lifted_functions(p, c.scratch);
    for (uint32_t i = 0; i < p->fns.n; i++) {
        CoreFn *fn = p->fns.at[i];
        const uint32_t n = fn->vars.n;
        if (lifted[i])
            continue;
        begin_function(&c, fn, n, arena_array(c.scratch, bool, n + 1), arena_array(c.scratch, CoreStmt *, n + 1));
        choose_in_block(&c, fn->body);
    }
    for (uint32_t i = 0; i < c.later.n; i++) {
        const Later later = c.later.at[i];
        begin_function(&c, later.fn, later.nvars, later.inside, later.makers);
        core_stmt_blocks(later.loop, choose_in_block, &c);
    }
    arena_destroy(c.scratch);
}
