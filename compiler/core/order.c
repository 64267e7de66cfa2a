/* Which of two numbers is the smaller one: is x - y <= c, for i64 x and y and a small constant c?
 *
 * Known are relations (what a condition says that holds here, a slice, a position below its bound) and what operations
 * say of their results (i - 1, min, n / 2, i mod n). A question is answered by going from x up or from y down, one
 * relation or operation a step, to where both are the same or constants:
 *
 *     { if i == 0 || i == n - 1 then … else u[i + 1] … : i in n }     i + 1 < n?
 *     i + 1 - n <= -1     <=  i - n <= -2
 *                         <=  i <= t, which is not i, so i <= t - 1, where t = n - 1:   t - n <= -1   <=   n - n <= 0
 *
 * Operations wrap around, so a sum or difference only says something of numbers that are known to be far from the ends.
 */
#include "core/simplify_internal.h"

/* Of the variable that has it. */
typedef enum RelationKind {
    REL_AT_MOST /* it <= other + most */,
    REL_AT_LEAST /* other <= it + most */,
    REL_DIFFERS
} RelationKind;
struct Relation {
    const Relation *next;
    RelationKind kind;
    CoreAtom other;
    int64_t most;
};

/* Steps in a row, steps in all, and how large a constant counts as small: sums of a few of these do not overflow, nor
 * does one of these and a length. */
enum { MOST_DEEP = 6, MOST_STEPS = 400 };
#define SMALL (INT64_C(1) << 40)

typedef struct Order {
    Simplifier *s;
    uint32_t steps;
} Order;

static bool at_most(Order *o, CoreAtom x, CoreAtom y, int64_t c, int deep);

/* ---- learning ---- */

static bool is_i64(Simplifier *s, CoreAtom x) { return core_type_equal(core_atom_type(s->fn, x), core_scalar(SC_I64)); }

static void relate(Simplifier *s, CoreAtom x, RelationKind kind, CoreAtom other, int64_t most)
{
    if (x.is_const)
        return;
    Relation *r = arena_new(s->scratch, Relation);
    VarFacts *f = facts_touch(s, x.var);
    *r = (Relation){f->relations, kind, other, most};
    f->relations = r;
}

void order_learn(Simplifier *s, CoreAtom x, CoreAtom y, bool less)
{
    if (!is_i64(s, x) || (x.is_const && y.is_const))
        return;
    relate(s, x, REL_AT_MOST, y, less ? -1 : 0);
    relate(s, y, REL_AT_LEAST, x, less ? -1 : 0);
}

void order_learn_different(Simplifier *s, CoreAtom x, CoreAtom y)
{
    if (!is_i64(s, x))
        return;
    relate(s, x, REL_DIFFERS, y, 0);
    relate(s, y, REL_DIFFERS, x, 0);
}

/* ---- numbers far from the ends ---- */

static bool is_small(CoreAtom x) { return x.is_const && (int64_t)x.bits > -SMALL && (int64_t)x.bits < SMALL; }

static const CoreStmt *prim_of(Order *o, CoreAtom x, CoreAtom a[3])
{
    const CoreStmt *def = facts_def(o->s, x);
    if (!def || def->kind != CORE_PRIM || !is_i64(o->s, x))
        return NULL;
    for (uint32_t i = 0; i < def->prim.nargs; i++)
        a[i] = facts_resolve(o->s, def->prim.args[i]);
    return def;
}

static bool not_negative(Order *o, CoreAtom x, int deep) { return at_most(o, core_i64(0), x, 0, deep); }

/* Not above a sequence's length and a small constant: no memory is as large as half of what there is above. */
static bool is_size(Order *o, CoreAtom x, int deep)
{
    CoreAtom a[3];
    if (x.is_const)
        return (int64_t)x.bits < SMALL;
    if (deep <= 0)
        return false;
    const VarFacts f = *facts_of(o->s, x.var);
    if (f.is_size || (f.has_bound && is_size(o, facts_resolve(o->s, f.bound), deep - 1)))
        return true;
    for (const Relation *r = f.relations; r; r = r->next)
        if (r->kind == REL_AT_MOST && is_size(o, facts_resolve(o->s, r->other), deep - 1))
            return true;
    const CoreStmt *def = prim_of(o, x, a);
    if (!def)
        return false;
    switch (def->prim.op) {
    case PRIM_SUB:
    case PRIM_DIV:
        return is_size(o, a[0], deep - 1) && not_negative(o, a[0], deep - 1) && not_negative(o, a[1], deep - 1);
    case PRIM_MIN: return is_size(o, a[0], deep - 1) || is_size(o, a[1], deep - 1);
    default: return false;
    }
}

/* x = *a + *k, which does not wrap around? */
static bool is_shifted(Order *o, CoreAtom x, CoreAtom *a, int64_t *k, int deep)
{
    CoreAtom args[3];
    const CoreStmt *def = prim_of(o, x, args);
    if (!def || (def->prim.op != PRIM_ADD && def->prim.op != PRIM_SUB) || !is_small(args[1]))
        return false;
    *a = args[0];
    *k = def->prim.op == PRIM_ADD ? (int64_t)args[1].bits : -(int64_t)args[1].bits;
    bool below_another = *k == 1 && !a->is_const && facts_of(o->s, a->var)->has_bound;
    return below_another || (*k < 0 ? not_negative(o, *a, deep) : is_size(o, *a, deep));
}

/* ---- x going up ---- */

/* The one of two numbers that is chosen under the condition a[0]. */
static bool chosen_at_most(Order *o, const CoreAtom a[3], bool holds, CoreAtom y, int64_t c, int deep)
{
    uint32_t mark = facts_mark(o->s);
    facts_learn(o->s, a[0], holds);
    bool answer = at_most(o, a[holds ? 1 : 2], y, c, deep);
    facts_undo(o->s, mark);
    return answer;
}

static bool prim_at_most(Order *o, CoreAtom x, CoreAtom y, int64_t c, int deep)
{
    CoreAtom a[3];
    int64_t k;
    const CoreStmt *def = prim_of(o, x, a);
    if (!def)
        return false;
    switch (def->prim.op) {
    case PRIM_ADD:
    case PRIM_SUB:
        if (is_shifted(o, x, &a[0], &k, deep))
            return at_most(o, a[0], y, c - k, deep);
        return def->prim.op == PRIM_SUB && not_negative(o, a[0], deep) && not_negative(o, a[1], deep) &&
               at_most(o, a[0], y, c, deep);
    case PRIM_MIN: return at_most(o, a[0], y, c, deep) || at_most(o, a[1], y, c, deep);
    case PRIM_MAX: return at_most(o, a[0], y, c, deep) && at_most(o, a[1], y, c, deep);
    case PRIM_SELECT: return chosen_at_most(o, a, true, y, c, deep) && chosen_at_most(o, a, false, y, c, deep);
    case PRIM_AND:
        return (not_negative(o, a[0], deep) && at_most(o, a[0], y, c, deep)) ||
               (not_negative(o, a[1], deep) && at_most(o, a[1], y, c, deep));
    case PRIM_MOD: /* the operation itself has excluded a divisor 0 */
        if (not_negative(o, a[0], deep) && not_negative(o, a[1], deep) && at_most(o, a[1], y, c + 1, deep))
            return true;
        return not_negative(o, a[0], deep) && not_negative(o, a[1], deep) && at_most(o, a[0], y, c, deep);
    case PRIM_DIV:
    case PRIM_SHR: return not_negative(o, a[0], deep) && not_negative(o, a[1], deep) && at_most(o, a[0], y, c, deep);
    case PRIM_CONVERT: {
        Scalar from = core_atom_type(o->s->fn, a[0]).scalar;
        uint32_t bits = from == SC_BOOL ? 1 : 8 * scalar_bytes(from);
        bool narrow = scalar_is_int(from) && !scalar_is_signed(from) && bits < 40;
        return (from == SC_BOOL || narrow) && at_most(o, core_i64((INT64_C(1) << bits) - 1), y, c, deep);
    }
    default: return false;
    }
}

static bool going_up(Order *o, CoreAtom x, CoreAtom y, int64_t c, int deep)
{
    if (x.is_const)
        return false;
    const VarFacts f = *facts_of(o->s, x.var);
    if (f.has_bound && at_most(o, facts_resolve(o->s, f.bound), y, c + 1, deep))
        return true;
    for (const Relation *r = f.relations; r; r = r->next) {
        CoreAtom other = facts_resolve(o->s, r->other);
        if (r->kind == REL_AT_MOST && at_most(o, other, y, c - r->most, deep))
            return true;
        if (r->kind == REL_DIFFERS && at_most(o, other, y, c + 1, deep) && at_most(o, x, other, 0, deep))
            return true;
    }
    return prim_at_most(o, x, y, c, deep);
}

/* ---- y going down ---- */

static bool prim_not_negative(Order *o, const CoreStmt *def, const CoreAtom a[3], int deep)
{
    switch (def->prim.op) {
    case PRIM_ADD:
        return is_size(o, a[0], deep) && is_size(o, a[1], deep) && not_negative(o, a[0], deep) &&
               not_negative(o, a[1], deep);
    case PRIM_SUB: return not_negative(o, a[1], deep) && at_most(o, a[1], a[0], 0, deep);
    case PRIM_AND: return not_negative(o, a[0], deep) || not_negative(o, a[1], deep);
    case PRIM_SIZE_ADD:
    case PRIM_SIZE_MUL:
    case PRIM_DIV: return not_negative(o, a[0], deep) && not_negative(o, a[1], deep);
    case PRIM_MOD:
    case PRIM_SHR: return not_negative(o, a[0], deep);
    case PRIM_CONVERT: {
        Scalar from = core_atom_type(o->s->fn, a[0]).scalar;
        return from == SC_BOOL || (scalar_is_int(from) && !scalar_is_signed(from) && from != SC_U64);
    }
    default: return false;
    }
}

static bool chosen_at_least(Order *o, const CoreAtom a[3], bool holds, CoreAtom x, int64_t c, int deep)
{
    uint32_t mark = facts_mark(o->s);
    facts_learn(o->s, a[0], holds);
    bool answer = at_most(o, x, a[holds ? 1 : 2], c, deep);
    facts_undo(o->s, mark);
    return answer;
}

static bool prim_at_least(Order *o, CoreAtom x, CoreAtom y, int64_t c, int deep)
{
    CoreAtom a[3];
    int64_t k;
    const CoreStmt *def = prim_of(o, y, a);
    if (!def)
        return false;
    if (is_shifted(o, y, &a[0], &k, deep) && at_most(o, x, a[0], c + k, deep))
        return true;
    switch (def->prim.op) {
    case PRIM_MAX: return at_most(o, x, a[0], c, deep) || at_most(o, x, a[1], c, deep);
    case PRIM_MIN: return at_most(o, x, a[0], c, deep) && at_most(o, x, a[1], c, deep);
    case PRIM_SELECT: return chosen_at_least(o, a, true, x, c, deep) && chosen_at_least(o, a, false, x, c, deep);
    default: return at_most(o, x, core_i64(0), c, deep) && prim_not_negative(o, def, a, deep);
    }
}

static bool going_down(Order *o, CoreAtom x, CoreAtom y, int64_t c, int deep)
{
    if (y.is_const)
        return false;
    const VarFacts f = *facts_of(o->s, y.var);
    if ((f.not_negative || f.has_bound) && at_most(o, x, core_i64(0), c, deep))
        return true;
    for (const Relation *r = f.relations; r; r = r->next) {
        CoreAtom other = facts_resolve(o->s, r->other);
        if (r->kind == REL_AT_LEAST && at_most(o, x, other, c - r->most, deep))
            return true;
        if (r->kind == REL_DIFFERS && at_most(o, x, other, c + 1, deep) && at_most(o, other, y, 0, deep))
            return true;
    }
    return prim_at_least(o, x, y, c, deep);
}

/* ---- asking ---- */

/* x <= y + c, of constants. */
static bool constants_at_most(int64_t x, int64_t y, int64_t c)
{
    if (c >= 0)
        return y > INT64_MAX - c || x <= y + c;
    return y >= INT64_MIN - c && x <= y + c;
}

/* x <= y + c? */
static bool at_most(Order *o, CoreAtom x, CoreAtom y, int64_t c, int deep)
{
    if (x.is_const && y.is_const)
        return constants_at_most((int64_t)x.bits, (int64_t)y.bits, c);
    if (core_atom_equal(x, y))
        return c >= 0;
    if (deep <= 0 || o->steps == 0)
        return false;
    o->steps--;
    return going_up(o, x, y, c, deep - 1) || going_down(o, x, y, c, deep - 1);
}

static bool ask(Simplifier *s, CoreAtom x, CoreAtom y, int64_t c)
{
    Order o = {s, MOST_STEPS};
    return at_most(&o, x, y, c, MOST_DEEP);
}

bool order_not_negative(Simplifier *s, CoreAtom x) { return ask(s, core_i64(0), x, 0); }
bool order_at_most(Simplifier *s, CoreAtom x, CoreAtom n) { return ask(s, x, n, 0); }
bool order_less(Simplifier *s, CoreAtom x, CoreAtom n) { return ask(s, x, n, -1); }
bool order_in_bounds(Simplifier *s, CoreAtom i, CoreAtom n) { return order_less(s, i, n) && order_not_negative(s, i); }

bool order_is_size(Simplifier *s, CoreAtom x)
{
    Order o = {s, MOST_STEPS};
    return is_size(&o, x, MOST_DEEP);
}

bool order_different(Simplifier *s, CoreAtom x, CoreAtom y)
{
    for (const Relation *r = x.is_const ? NULL : facts_of(s, x.var)->relations; r; r = r->next)
        if (r->kind == REL_DIFFERS && core_atom_equal(facts_resolve(s, r->other), y))
            return true;
    return order_less(s, x, y) || order_less(s, y, x);
}
