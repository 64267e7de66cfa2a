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

/* Steps in a row, steps in all, relations that are looked at (the newest of a variable first), and how large a constant
 * counts as small: sums of a few of these do not overflow, nor does one of these and a length. */
enum { MOST_DEEP = 6, MOST_STEPS = 400, MOST_LOOKS = 4000 };
#define SMALL (INT64_C(1) << 40)

typedef struct Order {
    Simplifier *s;
    uint32_t steps, looks;
} Order;

static bool at_most(Order *o, CoreAtom x, CoreAtom y, int64_t c, int deep);

/* The relation, or NULL if there is none, or too many have been looked at. */
static const Relation *look_at(Order *o, const Relation *r)
{
    if (!r || o->looks == 0)
        return NULL;
    o->looks--;
    return r;
}

/* x <= y + c, of constants. */
static bool constants_at_most(int64_t x, int64_t y, int64_t c)
{
    if (c >= 0)
        return y > INT64_MAX - c || x <= y + c;
    return y >= INT64_MIN - c && x <= y + c;
}

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

static bool one_step(Order *o, int deep)
{
    if (deep <= 0 || o->steps == 0)
        return false;
    o->steps--;
    return true;
}

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
    for (const Relation *r = look_at(o, f.relations); r; r = look_at(o, r->next))
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

/* ---- ranges ---- */

static bool range_of(Order *o, CoreAtom x, int64_t *most, int deep);

/* Of an unsigned number of few bits, as an i64. */
static bool converted_range(Order *o, CoreAtom x, int64_t *most)
{
    const Scalar type = core_atom_type(o->s->fn, x).scalar;
    const uint32_t bits = type == SC_BOOL ? 1 : 8 * scalar_bytes(type);
    if (type != SC_BOOL && (!scalar_is_int(type) || scalar_is_signed(type) || bits >= 40))
        return false;
    *most = (INT64_C(1) << bits) - 1;
    const CoreStmt *def = facts_def(o->s, x);
    if (!def || def->kind != CORE_PRIM || def->prim.nargs != 2 || type == SC_BOOL)
        return true;
    const CoreAtom by = facts_resolve(o->s, def->prim.args[1]);
    if (!by.is_const)
        return true;
    if (def->prim.op == PRIM_AND)
        *most = (int64_t)by.bits;
    else if (def->prim.op == PRIM_MOD && by.bits > 0)
        *most = (int64_t)by.bits - 1;
    else if (def->prim.op == PRIM_SHR)
        *most >>= by.bits % bits;
    return true;
}

static bool prim_range(Order *o, CoreAtom x, int64_t *most, int deep)
{
    CoreAtom a[3];
    int64_t m[2] = {0, 0};
    const CoreStmt *def = prim_of(o, x, a);
    if (!def || !one_step(o, deep))
        return false;
    const bool by_constant = def->prim.nargs == 2 && is_small(a[1]) && (int64_t)a[1].bits > 0;
    switch (def->prim.op) {
    case PRIM_ADD:
        *most = range_of(o, a[0], &m[0], deep - 1) && range_of(o, a[1], &m[1], deep - 1) ? m[0] + m[1] : SMALL;
        return *most < SMALL;
    case PRIM_MUL:
        if (!range_of(o, a[0], &m[0], deep - 1) || !range_of(o, a[1], &m[1], deep - 1))
            return false;
        *most = m[0] == 0 || m[1] <= SMALL / m[0] ? m[0] * m[1] : SMALL;
        return *most < SMALL;
    case PRIM_DIV:
        *most = by_constant && range_of(o, a[0], &m[0], deep - 1) ? m[0] / (int64_t)a[1].bits : SMALL;
        return *most < SMALL;
    case PRIM_MOD:
        *most = by_constant ? (int64_t)a[1].bits - 1 : SMALL;
        return by_constant && not_negative(o, a[0], deep - 1);
    case PRIM_AND: *most = by_constant ? (int64_t)a[1].bits : SMALL; return by_constant;
    case PRIM_CONVERT: return converted_range(o, a[0], most);
    default: return false;
    }
}

/* 0 <= x <= *most, a small number? */
static bool range_of(Order *o, CoreAtom x, int64_t *most, int deep)
{
    if (x.is_const) {
        *most = (int64_t)x.bits;
        return is_small(x) && *most >= 0;
    }
    const VarFacts f = *facts_of(o->s, x.var);
    const CoreAtom bound = f.has_bound ? facts_resolve(o->s, f.bound) : x;
    if (is_small(bound) && (int64_t)bound.bits > 0) {
        *most = (int64_t)bound.bits - 1;
        return true;
    }
    return prim_range(o, x, most, deep);
}

/* ---- up to a difference ---- */

/* d = *n - b, of numbers that are not negative, or d is the larger one of that and 0? */
static bool is_difference(Order *o, CoreAtom d, CoreAtom b, CoreAtom *n, int deep)
{
    CoreAtom a[3];
    const CoreStmt *def = prim_of(o, d, a);
    if (def && def->prim.op == PRIM_MAX && a[1].is_const && a[1].bits == 0)
        def = prim_of(o, a[0], a);
    *n = a[0];
    return def && def->prim.op == PRIM_SUB && core_atom_equal(a[1], b) && not_negative(o, b, deep) &&
           not_negative(o, *n, deep);
}

/* a + b <= *n + *e, without wrapping around: a, which is not negative, is below n - b, or not far above. */
static bool is_up_to_difference(Order *o, CoreAtom a, CoreAtom b, CoreAtom *n, int64_t *e, int deep)
{
    if (a.is_const || b.is_const || !not_negative(o, a, deep))
        return false;
    const VarFacts f = *facts_of(o->s, a.var);
    CoreAtom m;
    *e = -1;
    if (f.has_bound && is_difference(o, facts_resolve(o->s, f.bound), b, n, deep))
        return true;
    *e = 1;
    for (const Relation *r = look_at(o, f.relations); r; r = look_at(o, r->next))
        if (r->kind == REL_AT_MOST && r->most < *e && r->most > -SMALL &&
            is_difference(o, facts_resolve(o->s, r->other), b, &m, deep)) {
            *n = m;
            *e = r->most;
        }
    return *e < 1;
}

static bool sum_is_up_to(Order *o, const CoreAtom a[2], CoreAtom *n, int64_t *e, int deep)
{
    return is_up_to_difference(o, a[0], a[1], n, e, deep) || is_up_to_difference(o, a[1], a[0], n, e, deep);
}

/* ---- multiples ---- */

/* x = k * a + e, up to multiples of 2^64. */
typedef struct Multiple {
    CoreAtom a;
    int64_t k, e;
} Multiple;

enum { MOST_TIMES = 1 << 20 };

static Multiple multiple_of(Order *o, CoreAtom x)
{
    Multiple m = {x, 1, 0};
    for (int i = 0; i < 4; i++) {
        CoreAtom a[3];
        const CoreStmt *def = prim_of(o, m.a, a);
        if (!def || def->prim.nargs != 2 || !is_small(a[1]))
            break;
        const int64_t c = (int64_t)a[1].bits, sum = def->prim.op == PRIM_SUB ? -c : c;
        if ((def->prim.op == PRIM_ADD || def->prim.op == PRIM_SUB) && sum > -MOST_TIMES && sum < MOST_TIMES)
            m = (Multiple){a[0], m.k, m.e + m.k * sum};
        else if (def->prim.op == PRIM_MUL && c > 0 && m.k * c < MOST_TIMES)
            m = (Multiple){a[0], m.k * c, m.e};
        else
            break;
    }
    return m;
}

/* k * a <= y + c, without wrapping around, for k > 0; or, if there is no y, than some number and c? So is k * (n / k).
 */
static bool multiple_at_most(Order *o, CoreAtom a, int64_t k, const CoreAtom *y, int64_t c, int deep)
{
    CoreAtom x[3];
    int64_t e;
    if (c <= -SMALL || c >= SMALL || !one_step(o, deep))
        return false;
    if (a.is_const)
        return is_small(a) && (!y || at_most(o, core_i64(k * (int64_t)a.bits), *y, c, deep - 1));
    const CoreStmt *product = y ? prim_of(o, *y, x) : NULL;
    if (product && product->prim.op == PRIM_SIZE_MUL && x[1].is_const && (int64_t)x[1].bits == k &&
        is_size(o, x[0], deep - 1) && at_most(o, a, x[0], c / k - (c % k < 0), deep - 1))
        return true;
    const VarFacts f = *facts_of(o->s, a.var);
    if (f.has_bound && multiple_at_most(o, facts_resolve(o->s, f.bound), k, y, c + k, deep - 1))
        return true;
    for (const Relation *r = look_at(o, f.relations); r; r = look_at(o, r->next))
        if (r->kind == REL_AT_MOST && is_small(core_i64(r->most)) && r->most > -MOST_TIMES && r->most < MOST_TIMES &&
            multiple_at_most(o, facts_resolve(o->s, r->other), k, y, c - k * r->most, deep - 1))
            return true;
    if (is_shifted(o, a, &x[0], &e, deep - 1) && e > -MOST_TIMES && e < MOST_TIMES)
        return multiple_at_most(o, x[0], k, y, c - k * e, deep - 1);
    const CoreStmt *def = prim_of(o, a, x);
    return def && def->prim.op == PRIM_DIV && x[1].is_const && (int64_t)x[1].bits >= k &&
           not_negative(o, x[0], deep - 1) && (y ? at_most(o, x[0], *y, c, deep - 1) : c >= 0);
}

/* a + b is no more than twice b, and one less if a < b: x = 2 * b + e. */
static bool twice_of(Order *o, CoreAtom a, CoreAtom b, Multiple *m, int deep)
{
    const bool less = at_most(o, a, b, -1, deep);
    *m = (Multiple){b, 2, less ? -1 : 0};
    return less || at_most(o, a, b, 0, deep);
}

/* x <= m.k * m.a + m.e, where all that is added up in x is not negative, or is in m.e? */
static bool multiple_above(Order *o, CoreAtom x, Multiple *m, int deep)
{
    CoreAtom a[3];
    *m = multiple_of(o, x);
    if (m->k > 1)
        return not_negative(o, m->a, deep);
    const int64_t e = m->e;
    const CoreStmt *def = prim_of(o, m->a, a);
    if (!def || def->prim.op != PRIM_ADD || a[0].is_const || a[1].is_const || !not_negative(o, a[0], deep) ||
        !not_negative(o, a[1], deep) || !(twice_of(o, a[0], a[1], m, deep) || twice_of(o, a[1], a[0], m, deep)))
        return false;
    m->e += e;
    return true;
}

/* What is not above a number, but for a constant that is not positive, has not wrapped around. */
static bool is_below_by_multiples(Order *o, CoreAtom x, CoreAtom y, int64_t c, int deep)
{
    Multiple m;
    return multiple_above(o, x, &m, deep) && (c <= 0 || multiple_at_most(o, m.a, m.k, NULL, -m.e, deep)) &&
           multiple_at_most(o, m.a, m.k, &y, c - m.e, deep);
}

static bool multiple_not_negative(Order *o, CoreAtom x, int deep)
{
    Multiple m;
    if (!multiple_above(o, x, &m, deep) || !multiple_at_most(o, m.a, m.k, NULL, -m.e, deep))
        return false;
    const Multiple exact = multiple_of(o, x);
    return exact.e >= 0 || (exact.k > 1 && at_most(o, core_i64((exact.k - 1 - exact.e) / exact.k), exact.a, 0, deep));
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
    CoreAtom a[3], n;
    int64_t k;
    const CoreStmt *def = prim_of(o, x, a);
    if (!def)
        return false;
    if (y.is_const && range_of(o, x, &k, deep) && constants_at_most(k, (int64_t)y.bits, c))
        return true;
    switch (def->prim.op) {
    case PRIM_MUL: return is_below_by_multiples(o, x, y, c, deep);
    case PRIM_ADD:
    case PRIM_SUB:
        if (is_shifted(o, x, &a[0], &k, deep) && at_most(o, a[0], y, c - k, deep))
            return true;
        if (def->prim.op == PRIM_ADD && sum_is_up_to(o, a, &n, &k, deep) && at_most(o, n, y, c - k, deep))
            return true;
        if (is_below_by_multiples(o, x, y, c, deep))
            return true;
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
    case PRIM_CONVERT: return converted_range(o, a[0], &k) && at_most(o, core_i64(k), y, c, deep);
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
    for (const Relation *r = look_at(o, f.relations); r; r = look_at(o, r->next)) {
        if (r->kind == REL_AT_LEAST)
            continue;
        CoreAtom other = facts_resolve(o->s, r->other);
        if (r->kind == REL_AT_MOST && at_most(o, other, y, c - r->most, deep))
            return true;
        if (r->kind == REL_DIFFERS && at_most(o, other, y, c + 1, deep) && at_most(o, x, other, 0, deep))
            return true;
    }
    return prim_at_most(o, x, y, c, deep);
}

/* ---- y going down ---- */

static bool prim_not_negative(Order *o, CoreAtom x, const CoreStmt *def, const CoreAtom a[3], int deep)
{
    CoreAtom n;
    int64_t most;
    if (range_of(o, x, &most, deep))
        return true;
    switch (def->prim.op) {
    case PRIM_MUL: return multiple_not_negative(o, x, deep);
    case PRIM_ADD:
        if (sum_is_up_to(o, a, &n, &most, deep) || multiple_not_negative(o, x, deep))
            return true;
        return is_size(o, a[0], deep) && is_size(o, a[1], deep) && not_negative(o, a[0], deep) &&
               not_negative(o, a[1], deep);
    case PRIM_SUB:
        return (not_negative(o, a[1], deep) && at_most(o, a[1], a[0], 0, deep)) || multiple_not_negative(o, x, deep);
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
    default: return at_most(o, x, core_i64(0), c, deep) && prim_not_negative(o, y, def, a, deep);
    }
}

static bool going_down(Order *o, CoreAtom x, CoreAtom y, int64_t c, int deep)
{
    if (y.is_const)
        return false;
    const VarFacts f = *facts_of(o->s, y.var);
    if ((f.not_negative || f.has_bound) && at_most(o, x, core_i64(0), c, deep))
        return true;
    for (const Relation *r = look_at(o, f.relations); r; r = look_at(o, r->next)) {
        if (r->kind == REL_AT_MOST)
            continue;
        CoreAtom other = facts_resolve(o->s, r->other);
        if (r->kind == REL_AT_LEAST && at_most(o, x, other, c - r->most, deep))
            return true;
        if (r->kind == REL_DIFFERS && at_most(o, x, other, c + 1, deep) && at_most(o, other, y, 0, deep))
            return true;
    }
    return prim_at_least(o, x, y, c, deep);
}

/* ---- asking ---- */

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
    Order o = {s, MOST_STEPS, MOST_LOOKS};
    return at_most(&o, x, y, c, MOST_DEEP);
}

bool order_not_negative(Simplifier *s, CoreAtom x) { return ask(s, core_i64(0), x, 0); }
bool order_at_most(Simplifier *s, CoreAtom x, CoreAtom n) { return ask(s, x, n, 0); }
bool order_less(Simplifier *s, CoreAtom x, CoreAtom n) { return ask(s, x, n, -1); }
bool order_in_bounds(Simplifier *s, CoreAtom i, CoreAtom n) { return order_less(s, i, n) && order_not_negative(s, i); }

bool order_is_size(Simplifier *s, CoreAtom x)
{
    Order o = {s, MOST_STEPS, MOST_LOOKS};
    return is_size(&o, x, MOST_DEEP);
}

bool order_different(Simplifier *s, CoreAtom x, CoreAtom y)
{
    for (const Relation *r = x.is_const ? NULL : facts_of(s, x.var)->relations; r; r = r->next)
        if (r->kind == REL_DIFFERS && core_atom_equal(facts_resolve(s, r->other), y))
            return true;
    return order_less(s, x, y) || order_less(s, y, x);
}
