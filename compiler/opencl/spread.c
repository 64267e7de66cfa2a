#include "opencl/spread.h"

#include "opencl/abreast.h"
#include "opencl/emit_scalar_internal.h"
#include "opencl/packs.h"

enum {
    MOST_NESTED = 24,
    SOME_TIMES = 16, /* an operation or a loop of a lane with memory goes on, where only the run tells */
    GATHER_COST = 3,
    DIVERGING_COST = 4,
    OWN_COST = 6,
    PACK_COST = 2,
    MOST_TIMES = 1 << 20,
    CHECK_COST = 2,
    WRAP_COST = 8,
    CHEAP_BRANCH = 8,
    LEAST_LANES = 8,
    MOST_LANES = 16,
    LEAST_SHIFT = 3
};

typedef struct Analysis {
    const CoreFn *fn;
    SpreadTable *table;
    SpreadFacts *facts;
    const Lane *lane;   /* the code is a lane's; or NULL */
    const Packs *packs; /* likewise, when it is measured */
    uint32_t depth, loops;
    bool first;         /* in a lane with memory that is looked at for the first time */
    uint32_t diverging; /* loops around what is measured whose lanes leave when what they read says so */
    uint64_t times;     /* an instance is at what is measured: as far as constants say */
} Analysis;

Spread spread_of(const SpreadTable *table, CoreAtom a)
{
    return a.is_const ? SPREAD_UNIFORM : (Spread)spread_var(table, a.var)->spread;
}

static bool is_agreed(const SpreadTable *table, CoreAtom a) { return !a.is_const && spread_var(table, a.var)->agreed; }

void spread_as_vector(const SpreadTable *table, CoreAtom a, SpreadFacts *facts)
{
    const Spread spread = spread_of(table, a);
    facts->wide |= spread == SPREAD_NEAR || spread == SPREAD_SECOND;
}

/* ---- what variables are ---- */

static bool is_private(const Analysis *a, CoreVar v) { return a->lane && lane_var(a->lane, v)->rank > 0; }

/* ---- arrays that lanes make in memory ---- */

static bool has_memory(const Analysis *a) { return a->lane && a->lane->strip; }

bool spread_is_shared(const CoreFn *fn, const Lane *lane, CoreAtom x)
{
    return lane && lane->strip && !x.is_const && core_var_type(fn, x.var).rank > 0 &&
           lane_place(lane, x) == LANE_IN_SHARE;
}

static bool is_shared(const Analysis *a, CoreAtom x) { return spread_is_shared(a->fn, a->lane, x); }

/* What it is in the lane at hand: one that this has taken is of vectors. */
static Spread spread_here(const Analysis *a, CoreAtom x)
{
    return is_shared(a, x) ? SPREAD_UNIFORM : spread_of(a->table, x);
}

static CoreAtom atom_of(const Analysis *a, CoreVar v) { return core_var_atom(v, core_var_type(a->fn, v)); }

/* The array in whose memory it lies. */
static CoreVar memory_of(const Analysis *a, CoreVar v)
{
    for (;;) {
        v = lane_memory(a->lane, v);
        const SpreadVar *info = spread_var(a->table, v);
        if (!info->hands_on)
            return v;
        v = info->of;
    }
}

static bool lies_where(const Analysis *a, CoreAtom x, CoreVar v)
{
    return is_shared(a, x) && memory_of(a, x.var) == memory_of(a, v);
}

static bool may_be_ragged(const Analysis *a) { return has_memory(a) && a->table->ragged; }

/* Each lane's length of an array that lies in their memory, or will: CORE_NO_VAR if all have the same. */
static CoreVar length_of(Analysis *a, CoreAtom x)
{
    const SpreadVar *v = x.is_const ? NULL : spread_var(a->table, x.var);
    if (may_be_ragged(a) && !x.is_const && lane_var(a->lane, x.var)->taken)
        return x.var;
    if (v && v->ragged)
        return v->length;
    a->facts->refused |= v && !a->first && may_be_ragged(a) && !is_shared(a, x) && v->spread == SPREAD_VARYING;
    return CORE_NO_VAR;
}

/* The array whose length it is, or the number itself. */
static CoreVar number_of(const Analysis *a, CoreVar n)
{
    return spread_var(a->table, n)->ragged ? spread_var(a->table, n)->length : n;
}

static void set_length(Analysis *a, CoreVar v, CoreVar length)
{
    spread_var(a->table, v)->ragged = length != CORE_NO_VAR;
    spread_var(a->table, v)->length = length;
}

/* An array lies in the lanes' memory, with scalars as elements, or in the heap: in one of these for certain. */
static bool lies_well(const Analysis *a, CoreVar v, Spread to)
{
    const LanePlace place = lane_place(a->lane, atom_of(a, v));
    return place == LANE_IN_HEAP ||
           (place == LANE_IN_SHARE && core_var_type(a->fn, v).rank == 1 && to == SPREAD_UNIFORM);
}

static void set_agreed(Analysis *a, CoreVar v, Spread to, bool agreed)
{
    CoreType t = core_var_type(a->fn, v);
    a->facts->refused |= t.rank > 0 && has_memory(a) && !lies_well(a, v, to);
    SpreadVar *var = spread_var(a->table, v);
    *var = (SpreadVar){.spread = (uint8_t)to,
                       .agreed = agreed && to == SPREAD_UNIFORM,
                       .in_loop = a->loops > 0,
                       .compared = var->compared};
    a->facts->assumes |= agreed;
    if (to == SPREAD_VARYING && t.rank > 0 && !a->lane)
        a->facts->refused = true;
}

/* A view for each lane: of an array of the heap. */
static bool is_own_view(const Analysis *a, CoreAtom array)
{
    return !array.is_const && !is_private(a, array.var) && spread_here(a, array) == SPREAD_VARYING;
}

/* What lanes choose or hand on may not be views of their own. */
static void refuse_views(Analysis *a, CoreVar v, Spread to)
{
    a->facts->refused |= to == SPREAD_VARYING && core_var_type(a->fn, v).rank > 0 && !is_private(a, v);
}

static void set_value(Analysis *a, CoreVar v, Spread to)
{
    set_agreed(a, v, to, false);
    refuse_views(a, v, to);
}

static void set(Analysis *a, CoreVar v, Spread to) { set_agreed(a, v, to, false); }

static bool divides(CorePrim op) { return op == PRIM_DIV || op == PRIM_MOD; }
static bool compares(CorePrim op) { return op >= PRIM_EQ && op <= PRIM_GE; }

bool spread_near_prim(const SpreadTable *table, const CoreStmt *s)
{
    Spread x = spread_of(table, s->prim.args[0]), y = s->prim.nargs > 1 ? spread_of(table, s->prim.args[1]) : x;
    if (compares(s->prim.op))
        return (x == SPREAD_NEAR && y == SPREAD_UNIFORM) || (x == SPREAD_UNIFORM && y == SPREAD_NEAR);
    return s->prim.op == PRIM_CONVERT && x == SPREAD_NEAR;
}

Spread spread_choice(const SpreadTable *table, CoreAtom cond, CoreAtom a, CoreAtom b)
{
    Spread x = spread_of(table, a), y = spread_of(table, b);
    if (spread_of(table, cond) != SPREAD_UNIFORM)
        return SPREAD_VARYING;
    if (x == y)
        return x;
    return is_agreed(table, cond) && x <= SPREAD_NEAR && y <= SPREAD_NEAR ? SPREAD_NEAR : SPREAD_VARYING;
}

/* A position's bits: the lowest ones are a position again, those above the lanes' the same in all. */
static Spread masked(const Analysis *a, CoreAtom mask, CoreVar to)
{
    const bool low = mask.is_const ? (mask.bits & (mask.bits + 1)) == 0 : !spread_var(a->table, to)->compared;
    if (mask.is_const && (low ? mask.bits < LEAST_LANES - 1 : mask.bits % LEAST_LANES != 0))
        return SPREAD_VARYING;
    return low ? SPREAD_NEAR : SPREAD_UNIFORM;
}

/* Of a position and a bound that all lanes have in common: what it is where no such bound lies among the lanes. */
static Spread inside_prim(const Analysis *a, const CoreStmt *s)
{
    if (!a->table->inside || s->prim.nargs != 2)
        return SPREAD_VARYING;
    bool first = spread_of(a->table, s->prim.args[0]) == SPREAD_NEAR;
    CoreAtom bound = s->prim.args[first];
    if (spread_of(a->table, bound) != SPREAD_UNIFORM || (!bound.is_const && spread_var(a->table, bound.var)->in_loop))
        return SPREAD_VARYING;
    if (divides(s->prim.op) && bound.is_const && bound.bits < MOST_LANES)
        return SPREAD_VARYING; /* a multiple of it lies among any lanes */
    switch (s->prim.op) {
    case PRIM_MIN:
    case PRIM_MAX: return SPREAD_NEAR;
    case PRIM_MOD: return first ? SPREAD_NEAR : SPREAD_VARYING;
    case PRIM_DIV: return first ? SPREAD_UNIFORM : SPREAD_VARYING;
    case PRIM_SHR: return first && !(bound.is_const && bound.bits < LEAST_SHIFT) ? SPREAD_UNIFORM : SPREAD_VARYING;
    case PRIM_AND: return masked(a, bound, s->vars[0]);
    default: return compares(s->prim.op) ? SPREAD_UNIFORM : SPREAD_VARYING;
    }
}

/* Of an i64 operation on positions: stays it one in all lanes? */
static bool keeps_near(const Analysis *a, const CoreStmt *s)
{
    Spread x = spread_of(a->table, s->prim.args[0]);
    Spread y = s->prim.nargs > 1 ? spread_of(a->table, s->prim.args[1]) : x;
    switch (s->prim.op) {
    case PRIM_CONVERT: return core_var_type(a->fn, s->vars[0]).scalar == SC_I64;
    case PRIM_ADD: return x == SPREAD_UNIFORM || y == SPREAD_UNIFORM;
    case PRIM_SUB: return y == SPREAD_UNIFORM;
    case PRIM_SELECT: return spread_choice(a->table, s->prim.args[0], s->prim.args[1], s->prim.args[2]) == SPREAD_NEAR;
    default: return false;
    }
}

static bool is_const(CoreAtom x, uint64_t bits) { return x.is_const && x.bits == bits; }

static bool is_nowhere(CoreAtom at) { return at.is_const && (int64_t)at.bits < 0; }

/* "if c then i else -1": where an update behind a condition stores. */
static void note_place(const Analysis *a, CoreVar v, CoreAtom cond, CoreAtom yes, CoreAtom no)
{
    SpreadVar *place = spread_var(a->table, v);
    const CoreAtom there = is_nowhere(no) ? yes : no;
    if (place->spread != SPREAD_VARYING || cond.is_const || spread_of(a->table, cond) != SPREAD_VARYING ||
        spread_of(a->table, there) != SPREAD_UNIFORM || is_nowhere(yes) == is_nowhere(no))
        return;
    place->chosen = true;
    place->unless = is_nowhere(yes);
    place->there = there;
    place->when = cond.var;
}

/* Of an i64 operation on positions: every second place in turn? */
static bool is_second(const Analysis *a, const CoreStmt *s)
{
    if (s->prim.nargs != 2)
        return false;
    const CoreAtom *args = s->prim.args;
    const Spread x = spread_of(a->table, args[0]), y = spread_of(a->table, args[1]);
    switch (s->prim.op) {
    case PRIM_MUL: return (x == SPREAD_NEAR && is_const(args[1], 2)) || (y == SPREAD_NEAR && is_const(args[0], 2));
    case PRIM_SHL: return x == SPREAD_NEAR && is_const(args[1], 1);
    case PRIM_ADD:
        return (x == SPREAD_NEAR && y == SPREAD_NEAR) || (x == SPREAD_SECOND && y == SPREAD_UNIFORM) ||
               (x == SPREAD_UNIFORM && y == SPREAD_SECOND);
    case PRIM_SUB: return x == SPREAD_SECOND && y == SPREAD_UNIFORM;
    default: return false;
    }
}

static void prim_spread(Analysis *a, const CoreStmt *s)
{
    Spread all = SPREAD_UNIFORM;
    bool agreed = false;
    for (uint32_t i = 0; i < s->prim.nargs; i++) {
        Spread x = spread_of(a->table, s->prim.args[i]);
        all = x > all ? x : all;
        agreed |= is_agreed(a->table, s->prim.args[i]);
    }
    if ((all == SPREAD_NEAR || all == SPREAD_SECOND) && is_second(a, s)) {
        set(a, s->vars[0], SPREAD_SECOND);
    } else if (all == SPREAD_SECOND) {
        set(a, s->vars[0], SPREAD_VARYING);
    } else if (all == SPREAD_NEAR && keeps_near(a, s)) {
        set_agreed(a, s->vars[0], SPREAD_NEAR, s->prim.op == PRIM_SELECT && agreed);
    } else if (all == SPREAD_NEAR) {
        Spread inside = inside_prim(a, s);
        set_agreed(a, s->vars[0], inside, inside != SPREAD_VARYING);
    } else {
        set_agreed(a, s->vars[0], all, agreed && all == SPREAD_UNIFORM);
        refuse_views(a, s->vars[0], all);
        if (s->prim.op == PRIM_SELECT)
            note_place(a, s->vars[0], s->prim.args[0], s->prim.args[1], s->prim.args[2]);
    }
}

static void block(Analysis *a, const CoreBlock *b);

/* An array of the lanes' own. */
static bool is_own_array(const Analysis *a, CoreVar v)
{
    return is_private(a, v) || (spread_var(a->table, v)->spread == SPREAD_VARYING && core_var_type(a->fn, v).rank > 0);
}

static void if_spread(Analysis *a, const CoreStmt *s)
{
    block(a, s->if_.then_b);
    block(a, s->if_.else_b);
    for (uint32_t i = 0; i < s->nvars; i++) {
        CoreAtom x = s->if_.then_b->results[i], y = s->if_.else_b->results[i];
        if (is_shared(a, x) && lies_where(a, y, x.var)) { /* lanes write into it, or do not */
            set(a, s->vars[i], SPREAD_UNIFORM);
            spread_var(a->table, s->vars[i])->hands_on = true;
            spread_var(a->table, s->vars[i])->of = memory_of(a, x.var);
            set_length(a, s->vars[i], length_of(a, x));
            continue;
        }
        if (is_shared(a, x) && is_shared(a, y) && spread_of(a->table, s->if_.cond) == SPREAD_UNIFORM) {
            set(a, s->vars[i], SPREAD_UNIFORM);
            set_length(a, s->vars[i], length_of(a, x));
            a->facts->refused |= length_of(a, x) != length_of(a, y);
            continue;
        }
        bool agreed = is_agreed(a->table, s->if_.cond) || is_agreed(a->table, x) || is_agreed(a->table, y);
        set_agreed(a, s->vars[i], spread_choice(a->table, s->if_.cond, x, y), agreed);
        a->facts->refused |= is_own_array(a, s->vars[i]);
        if (core_var_type(a->fn, s->vars[i]).rank == 0 && !core_block_def(s->if_.then_b, x) &&
            !core_block_def(s->if_.else_b, y))
            note_place(a, s->vars[i], s->if_.cond, x, y);
    }
}

bool spread_loop_diverges(const SpreadTable *table, const CoreStmt *loop)
{
    return spread_of(table, loop->loop.cond ? loop->loop.cond->results[0] : loop->loop.count) != SPREAD_UNIFORM;
}

static bool keeps(const CoreStmt *s, uint32_t i)
{
    CoreAtom next = s->loop.body->results[i];
    return !next.is_const && next.var == s->loop.params[i];
}

static Spread join(Spread a, Spread b) { return a == b ? a : SPREAD_VARYING; }

/* Where it is in the lanes' memory, it begins as a copy there, or was. */
static Spread begins_as(const Analysis *a, const CoreStmt *loop, uint32_t i)
{
    return is_shared(a, atom_of(a, loop->loop.params[i])) ? SPREAD_UNIFORM : spread_here(a, loop->loop.inits[i]);
}

/* Of a loop that lanes leave at different times: may the array that a round makes get the old elements of those that
 * have left? Not what another state is, too. */
static bool can_be_mixed(const Analysis *a, const CoreStmt *s, uint32_t i)
{
    const CoreAtom next = s->loop.body->results[i];
    if (!is_shared(a, next) || !is_shared(a, atom_of(a, s->loop.params[i])) ||
        !lane_var(a->lane, s->loop.params[i])->owned)
        return false;
    for (uint32_t k = 0; k < s->loop.nparams; k++)
        if (lies_where(a, next, s->loop.params[k]))
            return false;
    return true;
}

static bool stays_where_it_is(const Analysis *a, const CoreStmt *s, uint32_t i)
{
    return keeps(s, i) || (has_memory(a) && lies_where(a, s->loop.body->results[i], s->loop.params[i]));
}

static bool loop_round(Analysis *a, const CoreStmt *s)
{
    bool changed = false;
    if (s->loop.index != CORE_NO_VAR)
        set(a, s->loop.index, SPREAD_UNIFORM);
    if (s->loop.cond)
        block(a, s->loop.cond);
    block(a, s->loop.body);
    bool diverges = spread_loop_diverges(a->table, s);
    for (uint32_t i = 0; i < s->loop.nparams; i++) {
        Spread was = (Spread)spread_var(a->table, s->loop.params[i])->spread;
        Spread now = stays_where_it_is(a, s, i) || (diverges && can_be_mixed(a, s, i)) ? was
                     : diverges                                                        ? SPREAD_VARYING
                                : join(was, spread_here(a, s->loop.body->results[i]));
        const bool shared = is_shared(a, atom_of(a, s->loop.params[i]));
        const CoreVar length = shared ? length_of(a, atom_of(a, s->loop.params[i])) : CORE_NO_VAR;
        set_value(a, s->loop.params[i], now);
        if (shared) {
            set_length(a, s->loop.params[i], length);
            a->facts->refused |= length_of(a, s->loop.body->results[i]) != length;
        }
        changed |= now != was;
    }
    return changed;
}

static void begin_state(Analysis *a, const CoreStmt *s, uint32_t i)
{
    set_value(a, s->loop.params[i], begins_as(a, s, i));
    if (is_shared(a, atom_of(a, s->loop.params[i])))
        set_length(a, s->loop.params[i], length_of(a, s->loop.inits[i]));
}

static void loop_spread(Analysis *a, const CoreStmt *s)
{
    a->loops++;
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        begin_state(a, s, i);
    while (loop_round(a, s) && !a->facts->refused)
        ;
    a->loops--;
    for (uint32_t i = 0; i < s->nvars; i++) {
        set(a, s->vars[i], (Spread)spread_var(a->table, s->loop.params[i])->spread);
        if (is_shared(a, atom_of(a, s->vars[i])))
            set_length(a, s->vars[i], length_of(a, atom_of(a, s->loop.params[i])));
    }
}

/* Of a private array all lanes look at the same place: elements are vectors. */
static void private_place(Analysis *a, const CoreStmt *s, CoreAtom index)
{
    a->facts->refused |= spread_of(a->table, index) != SPREAD_UNIFORM;
    set(a, s->vars[0], SPREAD_VARYING);
}

static void index_spread(Analysis *a, const CoreStmt *s)
{
    if (!s->index.array.is_const && is_private(a, s->index.array.var)) {
        private_place(a, s, s->index.index);
        return;
    }
    const Spread at = spread_of(a->table, s->index.index);
    const bool own = is_own_view(a, s->index.array) || is_shared(a, s->index.array);
    set(a, s->vars[0], !own && at == SPREAD_UNIFORM ? at : SPREAD_VARYING);
}

/* With memory, lanes with different lengths do not go side by side, or their arrays are ragged. */
static void length_spread(Analysis *a, const CoreStmt *s)
{
    const CoreAtom array = s->length.array;
    const bool own = is_own_view(a, array);
    const CoreVar length = is_shared(a, array) ? length_of(a, array) : CORE_NO_VAR;
    const bool same = array.is_const || is_private(a, array.var) || spread_here(a, array) == SPREAD_UNIFORM;
    a->facts->agrees |= own && has_memory(a) && !a->table->ragged;
    const bool common = (same && length == CORE_NO_VAR) || (has_memory(a) && !a->table->ragged);
    set(a, s->vars[0], common ? SPREAD_UNIFORM : SPREAD_VARYING);
    set_length(a, s->vars[0], length); /* it is that */
}

static void slice_spread(Analysis *a, const CoreStmt *s)
{
    bool same = true;
    const CoreAtom bounds[] = {s->slice.from, s->slice.to};
    for (uint32_t i = 0; i < 2; i++)
        same &= spread_of(a->table, bounds[i]) == SPREAD_UNIFORM;
    const Spread array = spread_here(a, s->slice.array);
    const bool ragged = is_shared(a, s->slice.array) && length_of(a, s->slice.array) != CORE_NO_VAR;
    a->facts->refused |= is_private(a, s->vars[0]) || ragged || (array != SPREAD_UNIFORM && !has_memory(a));
    a->facts->refused |= !same && (!may_be_ragged(a) || is_shared(a, s->slice.array));
    set(a, s->vars[0], same ? array : SPREAD_VARYING);
}

/* All lanes go through the elements together. */
static void soac_spread(Analysis *a, const CoreStmt *s)
{
    const CoreLambda *op = core_stmt_operator(s);
    const Spread domain = spread_of(a->table, s->soac.domain);
    const bool ragged = domain == SPREAD_VARYING && may_be_ragged(a);
    a->facts->refused |= (domain != SPREAD_UNIFORM && !ragged) || s->soac.guard;
    if (s->soac.index != CORE_NO_VAR)
        set(a, s->soac.index, SPREAD_UNIFORM);
    a->loops++;
    for (uint32_t i = 0; i < s->soac.ninputs; i++)
        set(a, s->soac.elements[i],
            is_shared(a, s->soac.inputs[i]) ? SPREAD_VARYING : spread_of(a->table, s->soac.inputs[i]));
    if (!lane_is_room(s))
        block(a, s->soac.body);
    for (uint32_t i = 0; op && i < op->nparams; i++)
        set(a, op->params[i], SPREAD_VARYING);
    if (op)
        block(a, op->body);
    a->loops--;
    for (uint32_t i = 0; i < s->nvars; i++) {
        set(a, s->vars[i], has_memory(a) && s->kind != CORE_REDUCE ? SPREAD_UNIFORM : SPREAD_VARYING);
        if (has_memory(a) && s->kind != CORE_REDUCE)
            set_length(a, s->vars[i],
                       s->kind == CORE_SCATTER ? length_of(a, s->soac.dests[i])
                       : ragged                ? number_of(a, s->soac.domain.var)
                                               : CORE_NO_VAR);
    }
}

/* known: it has been looked at before. */
static void in_lane(Analysis *a, const CoreStmt *s, bool known, void (*look)(Analysis *, const CoreStmt *))
{
    Lane lane;
    a->facts->memory |= !s->lane.memory.is_const;
    if (abreast_open(&lane, a->fn, s, a->table, known)) {
        a->lane = &lane;
        look(a, s);
        a->lane = NULL;
    } else {
        a->facts->refused = true;
    }
    lane_close(&lane);
}

/* Arrays that are given are one for each lane. */
static void lane_block_spread(Analysis *a, const CoreStmt *s)
{
    block(a, s->lane.block);
    for (uint32_t i = 0; i < s->nvars && !a->facts->refused; i++)
        if (has_memory(a) && core_var_type(a->fn, s->vars[i]).rank > 0)
            *spread_var(a->table, s->vars[i]) = (SpreadVar){.spread = SPREAD_VARYING};
        else
            set_value(a, s->vars[i], spread_of(a->table, s->lane.block->results[i]));
}

/* With memory a second time, with what it takes there. */
static void lane_spread(Analysis *a, const CoreStmt *s)
{
    a->first = true;
    in_lane(a, s, false, lane_block_spread);
    a->first = false;
    if (!s->lane.memory.is_const && !a->facts->refused)
        in_lane(a, s, true, lane_block_spread);
}

/* Where rows of all lanes are as many, and of one length, or the lanes do not go side by side. */
static void table_spread(Analysis *a, const CoreStmt *s)
{
    a->facts->refused |= !has_memory(a) || a->table->ragged;
    a->facts->agrees = true;
    set(a, s->vars[0], SPREAD_UNIFORM);
    set(a, s->vars[1], SPREAD_UNIFORM);
}

static void parallel_spread(Analysis *a, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_SCATTER:
        a->facts->refused |= !has_memory(a);
        soac_spread(a, s);
        break;
    case CORE_MAP:
    case CORE_REDUCE:
    case CORE_SCAN: soac_spread(a, s); break;
    case CORE_ARRAY: set(a, s->vars[0], has_memory(a) ? SPREAD_UNIFORM : SPREAD_VARYING); break;
    case CORE_TABLE: table_spread(a, s); break;
    case CORE_UPDATE:
        if (has_memory(a)) {
            set(a, s->vars[0], SPREAD_UNIFORM);
            set_length(a, s->vars[0], length_of(a, s->update.array));
        } else
            private_place(a, s, s->update.index);
        break;
    default: a->facts->refused = true;
    }
}

static void stmt(Analysis *a, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_ATOM:
        set(a, s->vars[0], spread_here(a, s->atom));
        if (is_shared(a, atom_of(a, s->vars[0])))
            set_length(a, s->vars[0], length_of(a, s->atom));
        break;
    case CORE_PRIM: prim_spread(a, s); break;
    case CORE_LENGTH: length_spread(a, s); break;
    case CORE_INDEX: index_spread(a, s); break;
    case CORE_SLICE: slice_spread(a, s); break;
    case CORE_CHECK: break;
    case CORE_IF: if_spread(a, s); break;
    case CORE_LOOP: loop_spread(a, s); break;
    case CORE_LANE: lane_spread(a, s); break;
    case CORE_PARALLEL: parallel_spread(a, s); break;
    }
}

static void block(Analysis *a, const CoreBlock *b)
{
    a->facts->refused |= ++a->depth > MOST_NESTED;
    for (uint32_t i = 0; i < b->stmts.n && !a->facts->refused; i++)
        stmt(a, b->stmts.at[i]);
    a->depth--;
}

/* ---- what they cost ---- */

static void measure_block(Analysis *a, const CoreBlock *b);

static void measure_use(Analysis *a, CoreAtom x) { spread_as_vector(a->table, x, a->facts); }

static void add_vectors(Analysis *a, uint32_t cost) { a->facts->vectors += cost * a->times; }

/* Where what they read says when lanes leave a loop they wait for one another, and ask in each round who is still
 * there. */
static void add_lanes(Analysis *a, uint32_t cost)
{
    a->facts->lanes += cost * (a->diverging ? DIVERGING_COST : 1) * a->times;
}

/* Operations for which there is no vector form that gives the same bits (kernels/vector.cl). */
static bool goes_by_lane(CorePrim op, Scalar operand)
{
    switch (op) {
    case PRIM_DIV: return !scalar_is_float(operand);
    case PRIM_MOD:
    case PRIM_POPCOUNT:
    case PRIM_CLZ:
    case PRIM_CTZ:
    case PRIM_SIZE_ADD:
    case PRIM_SIZE_MUL: return true;
    case PRIM_SQRT:
    case PRIM_EXP:
    case PRIM_LOG:
    case PRIM_LOG2:
    case PRIM_LOG10:
    case PRIM_SIN:
    case PRIM_COS:
    case PRIM_TAN:
    case PRIM_ASIN:
    case PRIM_ACOS:
    case PRIM_ATAN:
    case PRIM_ATAN2:
    case PRIM_SINH:
    case PRIM_COSH:
    case PRIM_TANH:
    case PRIM_HYPOT:
    case PRIM_POW: return !scalar_is_float(operand); /* kernels/elementary.cl */
    default: return core_prim_cost(op, operand) > CORE_MODERATE;
    }
}

bool spread_divides(const CoreFn *fn, const CoreStmt *s)
{
    return divides(s->prim.op) && s->prim.args[1].is_const && core_atom_type(fn, s->prim.args[0]).scalar == SC_I64 &&
           (int64_t)s->prim.args[1].bits > 1;
}

/* Of numbers of at most 32 bits OpenCL's compiler makes products of a quotient or remainder by a constant. */
static bool divides_short(const CoreFn *fn, const CoreStmt *s)
{
    const Scalar operand = core_atom_type(fn, s->prim.args[0]).scalar;
    if (!divides(s->prim.op) || !s->prim.args[1].is_const || scalar_is_float(operand) || scalar_bytes(operand) > 4)
        return false;
    const uint64_t all = UINT64_MAX >> (64 - 8 * scalar_bytes(operand)), divisor = s->prim.args[1].bits & all;
    return divisor != 0 && divisor != all; /* vector.cl asks for 0 and for -1 */
}

static void measure_prim(Analysis *a, const CoreStmt *s)
{
    Scalar operand = core_atom_type(a->fn, s->prim.args[0]).scalar;
    if (spread_var(a->table, s->vars[0])->spread != SPREAD_VARYING)
        return;
    if (scalar_wraps(a->fn, s))
        add_vectors(a, WRAP_COST);
    else if (goes_by_lane(s->prim.op, operand) && !spread_divides(a->fn, s) && !divides_short(a->fn, s))
        add_lanes(a, core_prim_cost(s->prim.op, operand));
    else
        add_vectors(a, core_prim_cost(s->prim.op, operand));
    if (spread_near_prim(a->table, s))
        return;
    for (uint32_t i = 0; i < s->prim.nargs; i++)
        measure_use(a, s->prim.args[i]);
}

static void measure_results(Analysis *a, const CoreVar *vars, uint32_t n, const CoreAtom *atoms)
{
    for (uint32_t i = 0; i < n; i++)
        if (spread_var(a->table, vars[i])->spread == SPREAD_VARYING)
            measure_use(a, atoms[i]);
}

/* Of an array in the lanes' memory: a vector, or an element of each lane's. */
static void measure_place(Analysis *a, CoreAtom index)
{
    if (spread_of(a->table, index) == SPREAD_UNIFORM)
        add_vectors(a, GATHER_COST);
    else
        add_lanes(a, GATHER_COST);
}

/* An element of an array, or of one for each lane. */
static void measure_read(Analysis *a, CoreVar x, CoreAtom array, CoreAtom index)
{
    const bool own = is_own_view(a, array);
    if (is_shared(a, array)) {
        measure_place(a, index);
        return;
    }
    if ((own && core_var_type(a->fn, x).rank > 0) || (a->packs && packs_of(a->packs, x)))
        return;
    if (own || spread_of(a->table, index) == SPREAD_VARYING)
        add_lanes(a, own ? OWN_COST : GATHER_COST);
    else if (spread_var(a->table, x)->spread == SPREAD_VARYING)
        add_vectors(a, GATHER_COST);
}

static void measure_index(Analysis *a, const CoreStmt *s)
{
    measure_read(a, s->vars[0], s->index.array, s->index.index);
    if (s->site != CORE_NO_SITE && spread_of(a->table, s->index.index) == SPREAD_VARYING)
        add_vectors(a, CHECK_COST); /* one comparison for all lanes */
}

/* Inside of what goes on n times, if that is known. Returns how often it is outside. */
static uint64_t enter(Analysis *a, CoreAtom n)
{
    const uint64_t outside = a->times;
    int64_t known;
    if (lane_constant(a->lane, n, &known))
        a->times *= known > 0 ? (uint64_t)known : 0;
    else if (has_memory(a))
        a->times *= SOME_TIMES;
    a->times = a->times < MOST_TIMES ? a->times : MOST_TIMES;
    return outside;
}

static void measure_soac(Analysis *a, const CoreStmt *s)
{
    const CoreLambda *op = core_stmt_operator(s);
    const uint64_t times = enter(a, s->soac.domain);
    for (uint32_t i = 0; i < s->soac.ninputs; i++)
        if (is_own_view(a, s->soac.inputs[i]) || is_shared(a, s->soac.inputs[i]))
            measure_read(a, s->soac.elements[i], s->soac.inputs[i], core_i64(0));
    if (!lane_is_room(s))
        measure_block(a, s->soac.body);
    if (s->kind == CORE_SCATTER) {
        for (uint32_t i = 0; i < s->nvars; i++)
            measure_place(a, s->soac.body->results[0]);
        a->times = times;
        return;
    }
    measure_results(a, s->vars, s->nvars, s->soac.body->results);
    if (op) {
        measure_block(a, op->body);
        measure_results(a, s->vars, s->nvars, op->body->results);
    }
    a->times = times;
}

static void measure_lane(Analysis *a, const CoreStmt *s)
{
    if (has_memory(a)) {
        add_vectors(a, a->lane->taken.n * SOME_TIMES * PACK_COST);
        measure_block(a, s->lane.block);
        return;
    }
    const Packs packs = packs_find(a->fn, a->lane, a->table, s->lane.block);
    for (uint32_t i = 0; i < packs.n; i++)
        add_lanes(a, PACK_COST * (uint32_t)packs.at[i].cells);
    a->packs = &packs;
    measure_block(a, s->lane.block);
    a->packs = NULL;
    packs_close(&packs);
}

static void look_for_reads(void *reads, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        *(bool *)reads |= b->stmts.at[i]->kind == CORE_INDEX;
        core_stmt_blocks(b->stmts.at[i], look_for_reads, reads);
    }
}

static bool ends_by_reads(const Analysis *a, const CoreStmt *loop)
{
    bool reads = false;
    if (loop->loop.cond && spread_loop_diverges(a->table, loop))
        look_for_reads(&reads, loop->loop.cond);
    return reads;
}

static void measure_loop(Analysis *a, const CoreStmt *s)
{
    const bool diverging = ends_by_reads(a, s);
    const uint64_t times = a->times;
    if (has_memory(a))
        enter(a, s->loop.cond ? core_i64(SOME_TIMES) : s->loop.count);
    a->diverging += diverging;
    if (s->loop.cond)
        measure_block(a, s->loop.cond);
    else
        measure_use(a, s->loop.count);
    measure_block(a, s->loop.body);
    a->diverging -= diverging;
    a->times = times;
    measure_results(a, s->loop.params, s->loop.nparams, s->loop.inits);
    measure_results(a, s->loop.params, s->loop.nparams, s->loop.body->results);
}

static CoreAtom place_of_update(const Analysis *a, const CoreStmt *s)
{
    const SpreadVar *place = s->update.index.is_const ? NULL : spread_var(a->table, s->update.index.var);
    return place && place->chosen && s->site == CORE_NO_SITE ? place->there : s->update.index;
}

static void measure_stmt(Analysis *a, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_PRIM: measure_prim(a, s); break;
    case CORE_MAP:
    case CORE_REDUCE:
    case CORE_SCATTER:
    case CORE_SCAN: measure_soac(a, s); break;
    case CORE_LANE:
        in_lane(a, s, true, measure_lane);
        measure_results(a, s->vars, s->nvars, s->lane.block->results);
        break;
    case CORE_ARRAY:
        for (uint32_t i = 0; i < s->array.n; i++)
            measure_use(a, s->array.items[i]);
        break;
    case CORE_UPDATE:
        if (has_memory(a))
            measure_place(a, place_of_update(a, s));
        measure_use(a, s->update.value);
        break;
    case CORE_INDEX: measure_index(a, s); break;
    case CORE_IF:
        measure_block(a, s->if_.then_b);
        measure_block(a, s->if_.else_b);
        measure_results(a, s->vars, s->nvars, s->if_.then_b->results);
        measure_results(a, s->vars, s->nvars, s->if_.else_b->results);
        break;
    case CORE_LOOP: measure_loop(a, s); break;
    default: break;
    }
}

static void measure_block(Analysis *a, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        for (uint32_t j = 0; j < s->nvars; j++) {
            CoreType t = core_var_type(a->fn, s->vars[j]);
            a->facts->wide |= spread_var(a->table, s->vars[j])->spread == SPREAD_VARYING && scalar_bytes(t.scalar) == 8;
        }
        measure_stmt(a, s);
    }
}

static void note_compared(void *ctx, CoreBlock *b)
{
    const SpreadTable *table = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        for (uint32_t j = 0; s->kind == CORE_PRIM && compares(s->prim.op) && j < s->prim.nargs; j++)
            if (!s->prim.args[j].is_const)
                spread_var(table, s->prim.args[j].var)->compared = true;
        core_stmt_blocks(s, note_compared, ctx);
    }
}

void spread_block(const CoreFn *fn, const CoreBlock *b, SpreadTable *table, SpreadFacts *facts)
{
    Analysis a = {.fn = fn, .table = table, .facts = facts, .times = 1};
    note_compared(table, (CoreBlock *)b);
    block(&a, b);
    if (!facts->refused)
        measure_block(&a, b);
}

bool spread_is_cheap(const CoreFn *fn, const CoreBlock *b)
{
    uint32_t cost = 0;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        if (s->kind == CORE_PRIM && s->site == CORE_NO_SITE)
            cost += core_prim_cost(s->prim.op, core_atom_type(fn, s->prim.args[0]).scalar);
        else if (s->kind != CORE_ATOM && s->kind != CORE_LENGTH)
            return false;
    }
    return cost <= CHEAP_BRANCH;
}
