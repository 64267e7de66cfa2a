/* Innermost counted loops of lanes with memory: what does not change in them goes in front, and so do their checks, as
 * one comparison that says whether any round's would fail. Where it does not hold, the loop runs with its checks:
 *
 *     xs = loop … for i < n do { w = index ws, k; x = index a (i + w) !site; … }
 *   ==>
 *     xs = if 0 < n then { w = index ws, k; c = 0 <= w and n - 1 < length a - w
 *                          ys = if c then { loop … { x = index a (i + w); … } } else { loop … { … !site; … } } }
 *          else { inits }
 *
 * So the compiler of the kernel gets a loop in which nothing can fail. Places are sums and multiples of the counter
 * (places.h); what a branch's condition says of a difference is taken into account. All checks go, or none. */
#include "core/choose_lanes_internal.h"
#include "core/lane.h"
#include "core/places.h"

/* MOST_CHECKS: of a loop. MOST_CONDITIONS: of branches around one of them. */
enum { MOST_CHECKS = 32, MOST_CONDITIONS = 8 };

typedef struct LoopMover {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    CoreCopyMap map;
    uint32_t budget; /* of statements */
    uint32_t nvars;
    bool *inside;            /* by variable: an innermost loop binds it */
    const CoreStmt **makers; /* and by this statement */
    CoreBuilder b;
    /* of the loop at hand */
    const CoreStmt *loop;
    CoreAtom conditions[MOST_CONDITIONS]; /* that hold at the current point */
    uint32_t nconditions, checks;
    struct Found {
        CoreAtom at, array;
    } found[MOST_CHECKS]; /* places in arrays that have been compared */
    uint32_t nfound;
    CoreAtom holds;
    bool lost, reads,
        writes; /* lost: a check cannot go in front; reads: something in front may fail; writes: or checks */
} LoopMover;

/* ---- what is known ---- */

static bool is_outside(void *ctx, CoreAtom a)
{
    const LoopMover *m = ctx;
    return a.is_const || a.var >= m->nvars || !m->inside[a.var];
}

static const CoreStmt *def_of(void *ctx, CoreAtom a)
{
    const LoopMover *m = ctx;
    return a.is_const || a.var >= m->nvars ? NULL : m->makers[a.var];
}

static const CoreAtom *counted_to(void *ctx, CoreAtom a)
{
    const LoopMover *m = ctx;
    return !a.is_const && a.var == m->loop->loop.index ? &m->loop->loop.count : NULL;
}

static PlaceScope scope_of(LoopMover *m) { return (PlaceScope){m, is_outside, counted_to, def_of}; }

static void note_binder(void *ctx, CoreVar *v)
{
    if (*v != CORE_NO_VAR)
        ((LoopMover *)ctx)->inside[*v] = true;
}

static void note_block(void *ctx, CoreBlock *block)
{
    LoopMover *m = ctx;
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        for (uint32_t k = 0; k < s->nvars; k++) {
            m->inside[s->vars[k]] = true;
            m->makers[s->vars[k]] = s;
        }
        core_stmt_blocks(s, note_block, m);
    }
}

/* The array that has the same length in all rounds as this one: an update's is the old array's, the state's what it
 * begins as, if rounds only update it. `state`: the one that is followed, or CORE_NO_VAR. False: that is not known. */
static bool as_long_as(const LoopMover *m, CoreAtom array, CoreVar state, CoreAtom *same)
{
    const CoreStmt *loop = m->loop, *s;
    for (; !is_outside((void *)(uintptr_t)m, array) && (s = def_of((void *)(uintptr_t)m, array));) {
        if (s->kind == CORE_UPDATE) {
            array = s->update.array;
        } else if (s->kind == CORE_ATOM) {
            array = s->atom;
        } else if (s->kind == CORE_IF) {
            uint32_t k = 0;
            CoreAtom other;
            while (s->vars[k] != array.var)
                k++;
            if (!as_long_as(m, s->if_.else_b->results[k], state, &other) ||
                !as_long_as(m, s->if_.then_b->results[k], state, same) || !core_atom_equal(*same, other))
                return false;
            return true;
        } else {
            return false;
        }
    }
    *same = array;
    if (is_outside((void *)(uintptr_t)m, array) || array.var == state)
        return true;
    for (uint32_t i = 0; i < loop->loop.nparams; i++)
        if (loop->loop.params[i] == array.var) {
            CoreAtom next;
            *same = loop->loop.inits[i];
            return state == CORE_NO_VAR && as_long_as(m, loop->loop.body->results[i], array.var, &next) &&
                   !next.is_const && next.var == array.var;
        }
    return false;
}

/* ---- comparisons ---- */

static void also(LoopMover *m, CoreAtom condition)
{
    m->holds = m->holds.is_const ? condition : build_prim2(&m->b, PRIM_AND, m->holds, condition);
}

static void also_not_negative(LoopMover *m, CoreAtom x)
{
    if (!x.is_const || (int64_t)x.bits < 0)
        also(m, build_prim2(&m->b, PRIM_LE, core_i64(0), x));
}

static CoreAtom minus(LoopMover *m, CoreAtom x, CoreAtom y)
{
    return place_is_value(y, 0) ? x : build_prim2(&m->b, PRIM_SUB, x, y);
}

static bool is_known_below(const LoopMover *m, CoreAtom x, CoreAtom y)
{
    for (uint32_t i = 0; i < m->nconditions; i++) {
        const CoreStmt *s = def_of((void *)(uintptr_t)m, m->conditions[i]);
        if (s && s->kind == CORE_PRIM && (s->prim.op == PRIM_LE || s->prim.op == PRIM_LT) &&
            core_atom_equal(s->prim.args[0], x) && core_atom_equal(s->prim.args[1], y))
            return true;
    }
    return false;
}

/* x = high - low, where a condition has low <= high: not negative, if low is not. */
static bool difference_in_bounds(LoopMover *m, CoreAtom x, CoreAtom n)
{
    const CoreStmt *s = def_of(m, x);
    const PlaceScope scope = scope_of(m);
    Place high;
    if (!s || s->kind != CORE_PRIM || s->prim.op != PRIM_SUB || !is_outside(m, s->prim.args[1]) ||
        !is_known_below(m, s->prim.args[1], s->prim.args[0]) || !place_of(&scope, &m->b, &high, s->prim.args[0]))
        return false;
    const CoreAtom low = s->prim.args[1];
    const Reach r = place_reach(&m->b, &high);
    const CoreAtom base = build_prim2(&m->b, PRIM_SUB, high.base, low);
    also_not_negative(m, low);
    also_not_negative(m, high.base);
    also_not_negative(m, n);
    also(m, build_prim2(&m->b, PRIM_LT, r.above, minus(m, n, base)));
    return true;
}

/* 0 <= x < n in all rounds that come there, if there are any. */
static bool in_bounds(LoopMover *m, CoreAtom x, CoreAtom n)
{
    const PlaceScope scope = scope_of(m);
    Place place;
    if (!is_outside(m, n))
        return false;
    if (difference_in_bounds(m, x, n))
        return true;
    if (!place_of(&scope, &m->b, &place, x))
        return false;
    const Reach r = place_reach(&m->b, &place);
    if (place_is_value(r.below, 0))
        also_not_negative(m, place.base);
    else
        also(m, build_prim2(&m->b, PRIM_LE, r.below, place.base));
    also_not_negative(m, n);
    also(m, build_prim2(&m->b, PRIM_LT, r.above, minus(m, n, place.base)));
    return true;
}

static bool in_array(LoopMover *m, CoreAtom x, CoreAtom array)
{
    CoreAtom same;
    if (!as_long_as(m, array, CORE_NO_VAR, &same))
        return false;
    for (uint32_t i = 0; i < m->nfound; i++)
        if (core_atom_equal(m->found[i].at, x) && core_atom_equal(m->found[i].array, same))
            return true;
    if (m->nconditions == 0) /* so that it holds in all branches */
        m->found[m->nfound++] = (struct Found){x, same};
    return in_bounds(m, x, build_length(&m->b, same));
}

/* The condition is the same in all rounds, or 0 <= x and x < n, or one of these. */
static bool condition_holds(LoopMover *m, CoreAtom condition)
{
    const CoreStmt *s = def_of(m, condition);
    if (is_outside(m, condition)) {
        also(m, condition);
        return true;
    }
    if (!s || s->kind != CORE_PRIM)
        return false;
    const CoreAtom x = s->prim.args[0], y = s->prim.args[s->prim.nargs - 1];
    const CoreStmt *low = def_of(m, x), *high = def_of(m, y);
    switch (s->prim.op) {
    case PRIM_LT: return core_type_equal(core_atom_type(m->fn, x), core_scalar(SC_I64)) && in_bounds(m, x, y);
    case PRIM_LE: return place_is_value(x, 0) && in_bounds(m, y, core_i64(INT64_MAX));
    case PRIM_AND:
        if (core_as_prim(low, PRIM_LE) && core_as_prim(high, PRIM_LT) && place_is_value(low->prim.args[0], 0) &&
            core_atom_equal(low->prim.args[1], high->prim.args[0]))
            return condition_holds(m, y);
        return condition_holds(m, x) && condition_holds(m, y);
    default: return false;
    }
}

/* ---- the checks ---- */

/* Is there something in the statement itself that a comparison in front may make unnecessary? */
static bool is_check(const LoopMover *m, const CoreStmt *s)
{
    return s->kind == CORE_CHECK || (s->kind == CORE_UPDATE && !s->update.holds) ||
           (s->kind != CORE_IF && core_stmt_fallible(m->p, m->fn, s));
}

static bool goes_in_front(LoopMover *m, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_CHECK: return condition_holds(m, s->check.cond);
    case CORE_INDEX: return in_array(m, s->index.index, s->index.array);
    case CORE_UPDATE: return in_array(m, s->update.index, s->update.array);
    default: return false;
    }
}

static void look_at_checks(LoopMover *m, CoreBlock *block);

static void look_at_branches(LoopMover *m, const CoreStmt *s)
{
    const uint32_t outer = m->nconditions;
    if (outer < MOST_CONDITIONS)
        m->conditions[m->nconditions++] = s->if_.cond;
    look_at_checks(m, s->if_.then_b);
    m->nconditions = outer;
    look_at_checks(m, s->if_.else_b);
}

static void look_at_checks(LoopMover *m, CoreBlock *block)
{
    for (uint32_t i = 0; i < block->stmts.n && !m->lost; i++) {
        const CoreStmt *s = block->stmts.at[i];
        if (s->kind == CORE_IF)
            look_at_branches(m, s);
        else if (is_check(m, s))
            m->lost = ++m->checks > MOST_CHECKS || !goes_in_front(m, s);
    }
}

static void drop_checks(void *ctx, CoreBlock *block)
{
    const CoreBlock old = core_take_stmts(block);
    const LoopMover *m = ctx;
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        core_stmt_blocks(s, drop_checks, ctx);
        if (s->kind == CORE_CHECK)
            continue;
        s->site = CORE_NO_SITE;
        if (s->kind == CORE_UPDATE)
            s->update.holds = true;
        core_push(m->p, block, s);
    }
}

/* ---- what does not change ---- */

typedef struct Stays {
    LoopMover *m;
    bool all;
} Stays;

static void look_at_operand(void *ctx, CoreAtom *a)
{
    Stays *stays = ctx;
    stays->all &= is_outside(stays->m, *a);
}

/* One that fails, fails in the first round. What reads an element without a check stays behind checks: passed. */
static bool stays(LoopMover *m, CoreStmt *s, bool passed)
{
    Stays operands = {m, true};
    const bool is_element = s->kind == CORE_INDEX && (s->site != CORE_NO_SITE || !passed);
    const bool is_number = s->kind == CORE_LENGTH || (s->kind == CORE_PRIM && !core_stmt_fallible(m->p, m->fn, s));
    if (!is_element && !is_number && s->kind != CORE_CHECK)
        return false;
    core_stmt_atoms(s, look_at_operand, &operands);
    return operands.all;
}

/* What stands in all rounds, not in a branch. */
static void move_what_stays(LoopMover *m, CoreBlock *body)
{
    const CoreBlock old = core_take_stmts(body);
    bool passed = false;
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        if (!stays(m, s, passed)) {
            passed |= core_stmt_fallible(m->p, m->fn, s);
            core_push(m->p, body, s);
            continue;
        }
        for (uint32_t k = 0; k < s->nvars; k++)
            m->inside[s->vars[k]] = false;
        m->reads |= s->kind == CORE_INDEX || s->kind == CORE_CHECK;
        build_emit(&m->b, s);
    }
}

/* ---- the loop ---- */

/* Of the scalar code of a body; loops and parallel operations are not. */
static void look_inside(void *ctx, CoreBlock *block)
{
    LoopMover *m = ctx;
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        m->writes |= s->kind == CORE_UPDATE || is_check(m, s);
        m->lost |= s->kind == CORE_LOOP || (s->kind != CORE_UPDATE && core_kind(s->kind)->code == CODE_PARALLEL);
        core_stmt_blocks(s, look_inside, m);
    }
}

/* The loop without its checks, if they hold; else as it is. */
static void emit_versions(LoopMover *m, CoreStmt *s)
{
    CoreStmt *chosen = build_instead(&m->b, s, m->holds);
    CoreBlock *fast = build_alone(&m->b, s);
    chosen->if_.else_b = core_copy_within(m->p, m->fn, fast, m->scratch, &m->map);
    drop_checks(m, s->loop.body);
    chosen->if_.then_b = fast;
    build_emit(&m->b, chosen);
}

static void emit_loop(LoopMover *m, CoreStmt *s)
{
    uint32_t statements = 0;
    CoreBlock *around = build_begin(&m->b);
    look_at_checks(m, s->loop.body);
    CoreBlock *front = build_end(&m->b, around, NULL, 0);
    choose_count(&statements, s->loop.body);
    if (m->lost || m->checks == 0 || statements > m->budget) {
        build_emit(&m->b, s);
        return;
    }
    m->budget -= statements;
    core_append_block(m->p, m->b.out, front);
    emit_versions(m, s);
}

static void rewrite_loop(LoopMover *m, CoreStmt *s)
{
    CoreBlock *around = build_begin(&m->b);
    m->b.span = s->span;
    m->reads = false;
    note_block(m, s->loop.body);
    core_stmt_binders(s, note_binder, m);
    move_what_stays(m, s->loop.body);
    CoreBlock *front = build_end(&m->b, around, NULL, 0);
    if (!m->reads) {
        core_append_block(m->p, m->b.out, front);
        emit_loop(m, s);
        return;
    }
    const CoreAtom some = build_prim2(&m->b, PRIM_LT, core_i64(0), s->loop.count);
    CoreStmt *chosen = build_instead(&m->b, s, some);
    const uint32_t n = s->nvars;
    CoreVar *vars = build_vars_copy(&m->b, s->vars, n, n);
    m->b.out = front;
    emit_loop(m, s);
    m->b.out = around;
    build_results(&m->b, front, build_atoms(&m->b, vars, n), n);
    chosen->if_.then_b = front;
    build_begin(&m->b);
    chosen->if_.else_b = build_end(&m->b, around, s->loop.inits, n);
    build_emit(&m->b, chosen);
}

static bool is_innermost(LoopMover *m, CoreStmt *s)
{
    m->lost = m->writes = false;
    m->checks = m->nconditions = m->nfound = 0;
    m->holds = core_const(SC_BOOL, 1);
    m->loop = s;
    if (s->kind != CORE_LOOP || s->loop.cond || s->loop.index == CORE_NO_VAR)
        return false;
    look_inside(m, s->loop.body);
    return !m->lost && m->writes;
}

static void rewrite_block(void *ctx, CoreBlock *block)
{
    LoopMover *m = ctx;
    CoreBlock *outer = m->b.out, old = core_take_stmts(block);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        m->b.out = block;
        if (is_innermost(m, s)) {
            rewrite_loop(m, s);
            continue;
        }
        core_stmt_blocks(s, rewrite_block, m);
        core_push(m->p, block, s);
    }
    m->b.out = outer;
}

static void find_lanes(void *ctx, CoreBlock *block)
{
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        core_stmt_blocks(s, s->kind == CORE_LANE && !s->lane.memory.is_const ? rewrite_block : find_lanes, ctx);
    }
}

void core_lane_loops(CoreProgram *p)
{
    LoopMover m = {.p = p, .budget = CHOOSE_COPIED, .scratch = arena_create()};
    for (uint32_t i = 0; i < p->fns.n; i++)
        choose_count(&m.budget, p->fns.at[i]->body);
    for (uint32_t i = 0; i < p->fns.n; i++) {
        m.fn = p->fns.at[i];
        m.nvars = m.fn->vars.n;
        m.map = (CoreCopyMap){0};
        m.inside = arena_array(m.scratch, bool, m.nvars + 1);
        m.makers = arena_array(m.scratch, const CoreStmt *, m.nvars + 1);
        m.b = (CoreBuilder){.p = p, .fn = m.fn};
        find_lanes(&m, m.fn->body);
    }
    arena_destroy(m.scratch);
}
