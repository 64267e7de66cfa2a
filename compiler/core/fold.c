/* Scalar rules. Each holds for all values of its type: integers wrap, floats keep nan, infinities and the
 * sign of zero. A rule either finds the result among the atoms at hand or rewrites the statement to a
 * cheaper one, which is then looked at again. */
#include "core/simplify_internal.h"

#include <string.h>

typedef struct Fold {
    Simplifier *s;
    CoreStmt *stmt;
    CorePrim op;
    CoreAtom *args;
    Scalar type; /* of the operands */
} Fold;

typedef enum Outcome { NOTHING, FOUND, REWRITTEN } Outcome;

static Outcome found(CoreAtom *out, CoreAtom a)
{
    *out = a;
    return FOUND;
}

static Outcome rewrite(Fold *f, CorePrim op, CoreAtom x, CoreAtom y)
{
    CoreAtom args[2] = {x, y};
    uint32_t n = core_prim_arity(op);
    f->stmt->prim.op = op;
    f->stmt->prim.nargs = n;
    f->stmt->prim.args = arena_array(f->s->p->arena, CoreAtom, n);
    memcpy(f->stmt->prim.args, args, n * sizeof *args);
    f->s->changed = true;
    return REWRITTEN;
}

static CoreAtom constant(Fold *f, uint64_t bits) { return core_const(f->type, bits); }
static CoreAtom truth(bool holds) { return core_const(SC_BOOL, holds); }

/* The PRIM that computed the atom, if it is `op`; its operands resolved. */
static bool came_from(Fold *f, CoreAtom a, CorePrim op, CoreAtom *x, CoreAtom *y)
{
    const CoreStmt *def = facts_def(f->s, a);
    if (!def || def->kind != CORE_PRIM || def->prim.op != op)
        return false;
    *x = facts_resolve(f->s, def->prim.args[0]);
    *y = def->prim.nargs > 1 ? facts_resolve(f->s, def->prim.args[1]) : *x;
    return true;
}

static uint64_t apply2(Fold *f, CorePrim op, uint64_t x, uint64_t y)
{
    return core_prim_apply(op, f->type, f->type, (uint64_t[]){x, y});
}

static uint64_t all_ones(Fold *f) { return core_prim_apply(PRIM_COMPLEMENT, f->type, f->type, (uint64_t[]){0}); }

/* ---- constants, order of operands ---- */

static bool all_const(const Fold *f)
{
    for (uint32_t i = 0; i < f->stmt->prim.nargs; i++)
        if (!f->args[i].is_const)
            return false;
    return true;
}

static Outcome fold_constants(Fold *f, CoreAtom *out)
{
    uint64_t bits[3] = {0, 0, 0};
    if (!all_const(f) || (core_prim_fallible(f->op, f->type) && f->args[1].bits == 0))
        return NOTHING;
    for (uint32_t i = 0; i < f->stmt->prim.nargs; i++)
        bits[i] = f->args[i].bits;
    Scalar result = core_var_type(f->s->fn, f->stmt->vars[0]).scalar;
    Scalar operand = f->op == PRIM_SELECT ? result : f->type;
    return found(out, core_const(result, core_prim_apply(f->op, operand, result, bits)));
}

static bool commutes(const Fold *f) { return core_prim_commutes(f->op, f->type); }

static void swap_operands(Fold *f, CorePrim op)
{
    CoreAtom x = f->args[0], y = f->args[1];
    bool changed = f->s->changed;
    rewrite(f, op, y, x);
    f->s->changed = changed; /* a normal form, not progress */
    f->op = op;
    f->args = f->stmt->prim.args;
}

/* Constants to the right, else the lower number first; > and >= as < and <=. */
static void normalise(Fold *f)
{
    if (f->op == PRIM_GT)
        swap_operands(f, PRIM_LT);
    else if (f->op == PRIM_GE)
        swap_operands(f, PRIM_LE);
    if (!commutes(f) || f->args[1].is_const)
        return;
    if (f->args[0].is_const || f->args[0].var > f->args[1].var)
        swap_operands(f, f->op);
}

/* ---- integers ---- */

/* The sum's operands: of numbers, or of sizes, which add up as numbers do wherever there is a sequence of that length.
 */
static bool came_from_sum(Fold *f, CoreAtom a, CoreAtom *x, CoreAtom *y)
{
    return came_from(f, a, PRIM_ADD, x, y) || came_from(f, a, PRIM_SIZE_ADD, x, y);
}

/* (x + c) + d = x + (c + d), and with subtractions; (x + y) - y = x; x - (x - y) = y. */
static Outcome fold_sum(Fold *f, CoreAtom *out)
{
    CoreAtom x = f->args[0], y = f->args[1], a, b;
    bool minus = f->op == PRIM_SUB;
    if (atom_is(y, 0))
        return found(out, x);
    if (minus && core_atom_equal(x, y))
        return found(out, constant(f, 0));
    if (y.is_const && came_from_sum(f, x, &a, &b) && b.is_const)
        return rewrite(f, PRIM_ADD, a, constant(f, apply2(f, f->op, b.bits, y.bits)));
    if (y.is_const && came_from(f, x, PRIM_SUB, &a, &b) && b.is_const)
        return rewrite(f, PRIM_ADD, a, constant(f, apply2(f, PRIM_SUB, minus ? 0 - y.bits : y.bits, b.bits)));
    if (minus && came_from_sum(f, x, &a, &b)) {
        if (core_atom_equal(a, y))
            return found(out, b);
        if (core_atom_equal(b, y))
            return found(out, a);
    }
    if (minus && came_from(f, y, PRIM_SUB, &a, &b) && core_atom_equal(a, x))
        return found(out, b);
    if (!minus && came_from(f, x, PRIM_SUB, &a, &b) && core_atom_equal(b, y))
        return found(out, a);
    if (!minus && came_from(f, y, PRIM_SUB, &a, &b) && core_atom_equal(b, x))
        return found(out, a);
    return NOTHING;
}

/* x + 0, (x + c) + d; x * 1, x * 0. */
static Outcome fold_size(Fold *f, CoreAtom *out)
{
    CoreAtom x = f->args[0], y = f->args[1], a, b;
    if (!y.is_const)
        return NOTHING;
    if (f->op == PRIM_SIZE_MUL)
        return atom_is(y, 1) ? found(out, x) : atom_is(y, 0) ? found(out, y) : NOTHING;
    if (atom_is(y, 0))
        return found(out, x);
    if (came_from(f, x, PRIM_SIZE_ADD, &a, &b) && b.is_const)
        return rewrite(f, PRIM_SIZE_ADD, a, constant(f, apply2(f, PRIM_SIZE_ADD, b.bits, y.bits)));
    return NOTHING;
}

static Outcome fold_int_product(Fold *f, CoreAtom *out)
{
    CoreAtom x = f->args[0], y = f->args[1];
    switch (f->op) {
    case PRIM_MUL: return atom_is(y, 1) ? found(out, x) : atom_is(y, 0) ? found(out, y) : NOTHING;
    case PRIM_DIV: return atom_is(y, 1) ? found(out, x) : NOTHING;
    case PRIM_MOD: return atom_is(y, 1) ? found(out, constant(f, 0)) : NOTHING;
    case PRIM_POW:
        if (atom_is(y, 0))
            return found(out, constant(f, 1));
        return atom_is(y, 1) ? found(out, x) : atom_is(y, 2) ? rewrite(f, PRIM_MUL, x, x) : NOTHING;
    default: return NOTHING;
    }
}

static Outcome fold_bits(Fold *f, CoreAtom *out)
{
    CoreAtom x = f->args[0], y = f->args[1];
    bool zero = atom_is(y, 0), ones = y.is_const && y.bits == all_ones(f), same = core_atom_equal(x, y);
    switch (f->op) {
    case PRIM_AND: return zero ? found(out, y) : ones || same ? found(out, x) : NOTHING;
    case PRIM_OR: return ones ? found(out, y) : zero || same ? found(out, x) : NOTHING;
    case PRIM_XOR:
        if (ones)
            return rewrite(f, PRIM_COMPLEMENT, x, x);
        return same ? found(out, constant(f, 0)) : zero ? found(out, x) : NOTHING;
    case PRIM_SHL:
    case PRIM_SHR: return y.is_const && (y.bits & (8 * scalar_bytes(f->type) - 1)) == 0 ? found(out, x) : NOTHING;
    default: return NOTHING;
    }
}

/* Integers and bools: equal bits are equal values. */
static Outcome fold_comparison(Fold *f, CoreAtom *out)
{
    CoreAtom x = f->args[0], y = f->args[1];
    bool wide_signed = f->type == SC_I64; /* what lengths and positions are */
    if (core_atom_equal(x, y))
        return found(out, truth(f->op == PRIM_EQ || f->op == PRIM_LE));
    switch (f->op) {
    case PRIM_LT:
    case PRIM_LESS_NAN_LAST:
        if ((atom_is(y, 0) && !scalar_is_signed(f->type)) || (wide_signed && order_at_most(f->s, y, x)))
            return found(out, truth(false));
        return wide_signed && order_less(f->s, x, y) ? found(out, truth(true)) : NOTHING;
    case PRIM_LE:
        if ((atom_is(x, 0) && !scalar_is_signed(f->type)) || (wide_signed && order_at_most(f->s, x, y)))
            return found(out, truth(true));
        return wide_signed && order_less(f->s, y, x) ? found(out, truth(false)) : NOTHING;
    case PRIM_EQ:
    case PRIM_NE: return wide_signed && order_different(f->s, x, y) ? found(out, truth(f->op == PRIM_NE)) : NOTHING;
    default: return NOTHING;
    }
}

/* max x 0 = x of a length: that is how a range's length is written. */
static Outcome fold_extreme(Fold *f, CoreAtom *out)
{
    CoreAtom x = f->args[0], y = f->args[1];
    if (core_atom_equal(x, y))
        return found(out, x);
    if (f->type == SC_I64 && order_at_most(f->s, y, x))
        return found(out, f->op == PRIM_MAX ? x : y);
    if (f->type == SC_I64 && order_at_most(f->s, x, y))
        return found(out, f->op == PRIM_MAX ? y : x);
    return NOTHING;
}

static Outcome fold_int(Fold *f, CoreAtom *out)
{
    CoreAtom a, b;
    switch (f->op) {
    case PRIM_ADD:
    case PRIM_SUB: return fold_sum(f, out);
    case PRIM_MUL:
    case PRIM_DIV:
    case PRIM_MOD:
    case PRIM_POW: return fold_int_product(f, out);
    case PRIM_SIZE_ADD:
    case PRIM_SIZE_MUL: return fold_size(f, out);
    case PRIM_AND:
    case PRIM_OR:
    case PRIM_XOR:
    case PRIM_SHL:
    case PRIM_SHR: return fold_bits(f, out);
    case PRIM_EQ:
    case PRIM_NE:
    case PRIM_LT:
    case PRIM_LE:
    case PRIM_LESS_NAN_LAST: return fold_comparison(f, out);
    case PRIM_MIN:
    case PRIM_MAX: return fold_extreme(f, out);
    case PRIM_ABS: return f->type == SC_I64 && order_not_negative(f->s, f->args[0]) ? found(out, f->args[0]) : NOTHING;
    case PRIM_NEG:
    case PRIM_COMPLEMENT: return came_from(f, f->args[0], f->op, &a, &b) ? found(out, a) : NOTHING;
    default: return NOTHING;
    }
}

/* ---- bool ---- */

static Outcome fold_bool(Fold *f, CoreAtom *out)
{
    CoreAtom x = f->args[0], y = f->stmt->prim.nargs > 1 ? f->args[1] : x;
    switch (f->op) {
    case PRIM_AND:
        return atom_is(y, 0) ? found(out, y) : atom_is(y, 1) || core_atom_equal(x, y) ? found(out, x) : NOTHING;
    case PRIM_OR:
        return atom_is(y, 1) ? found(out, y) : atom_is(y, 0) || core_atom_equal(x, y) ? found(out, x) : NOTHING;
    case PRIM_XOR:
    case PRIM_NE:
        if (atom_is(y, 1))
            return rewrite(f, PRIM_NOT, x, x);
        return core_atom_equal(x, y) ? found(out, truth(false)) : atom_is(y, 0) ? found(out, x) : NOTHING;
    case PRIM_EQ:
        if (atom_is(y, 0))
            return rewrite(f, PRIM_NOT, x, x);
        return core_atom_equal(x, y) ? found(out, truth(true)) : atom_is(y, 1) ? found(out, x) : NOTHING;
    case PRIM_MIN: return rewrite(f, PRIM_AND, x, y);
    case PRIM_MAX: return rewrite(f, PRIM_OR, x, y);
    default: return fold_comparison(f, out);
    }
}

/* Negations move into comparisons; of order only where there is no nan. */
static Outcome fold_not(Fold *f, CoreAtom *out)
{
    CoreAtom x = f->args[0], a, b;
    if (came_from(f, x, PRIM_NOT, &a, &b))
        return found(out, a);
    if (came_from(f, x, PRIM_EQ, &a, &b))
        return rewrite(f, PRIM_NE, a, b);
    if (came_from(f, x, PRIM_NE, &a, &b))
        return rewrite(f, PRIM_EQ, a, b);
    if (came_from(f, x, PRIM_LT, &a, &b) && !scalar_is_float(core_atom_type(f->s->fn, a).scalar))
        return rewrite(f, PRIM_LE, b, a);
    if (came_from(f, x, PRIM_LE, &a, &b) && !scalar_is_float(core_atom_type(f->s->fn, a).scalar))
        return rewrite(f, PRIM_LT, b, a);
    return NOTHING;
}

/* ---- floats ---- */

static uint64_t float_bits(Fold *f, int64_t x)
{
    return core_prim_apply(PRIM_CONVERT, SC_I64, f->type, (uint64_t[]){(uint64_t)x});
}

/* x * 1, x / 1, x - 0 and x + -0 are exact (x + 0 is not: -0 + 0 = 0). x * x is x ** 2 rounded correctly. */
static Outcome fold_float(Fold *f, CoreAtom *out)
{
    CoreAtom x = f->args[0], y = f->stmt->prim.nargs > 1 ? f->args[1] : x, a, b;
    uint64_t minus_zero = f->type == SC_F32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    switch (f->op) {
    case PRIM_ADD: return atom_is(y, minus_zero) ? found(out, x) : NOTHING;
    case PRIM_SUB: return atom_is(y, 0) ? found(out, x) : NOTHING;
    case PRIM_MUL:
    case PRIM_DIV: return atom_is(y, float_bits(f, 1)) ? found(out, x) : NOTHING;
    case PRIM_POW:
        if (atom_is(y, float_bits(f, 2)))
            return rewrite(f, PRIM_MUL, x, x);
        return atom_is(y, float_bits(f, 1)) ? found(out, x) : NOTHING;
    case PRIM_MIN:
    case PRIM_MAX: return core_atom_equal(x, y) ? found(out, x) : NOTHING;
    case PRIM_NEG: return came_from(f, x, PRIM_NEG, &a, &b) ? found(out, a) : NOTHING;
    case PRIM_ABS: return came_from(f, x, PRIM_NEG, &a, &b) ? rewrite(f, PRIM_ABS, a, a) : NOTHING;
    default: return NOTHING;
    }
}

/* ---- conversions, choices ---- */

/* Does every value of `from` exist in the integer type `to`? */
static bool fits(Scalar from, Scalar to)
{
    if (from == SC_BOOL)
        return true;
    if (!scalar_is_int(from))
        return false;
    uint32_t from_bytes = scalar_bytes(from), to_bytes = scalar_bytes(to);
    if (scalar_is_signed(from) == scalar_is_signed(to))
        return from_bytes <= to_bytes;
    return scalar_is_signed(to) && from_bytes < to_bytes;
}

/* convert (convert x): the middle type `via` does not matter if it holds all of x, or if both steps wrap. */
static Outcome fold_convert(Fold *f, CoreAtom *out)
{
    Scalar via = f->type, to = core_var_type(f->s->fn, f->stmt->vars[0]).scalar;
    CoreAtom x, y;
    if (via == to)
        return found(out, f->args[0]);
    if (!scalar_is_int(via) || !came_from(f, f->args[0], PRIM_CONVERT, &x, &y))
        return NOTHING;
    Scalar from = core_atom_type(f->s->fn, x).scalar;
    bool wraps = scalar_is_int(from) && scalar_is_int(to) && scalar_bytes(to) <= scalar_bytes(via);
    return fits(from, via) || wraps ? rewrite(f, PRIM_CONVERT, x, x) : NOTHING;
}

static bool is_of_both(Fold *f, CoreAtom c, CorePrim op, CoreAtom x, CoreAtom y)
{
    CoreAtom a, b;
    return came_from(f, c, op, &a, &b) && core_atom_equal(a, x) && core_atom_equal(b, y);
}

/* y < x by the order of sorting, and x is a number */
static bool is_less_than_number(Fold *f, CoreAtom c, CoreAtom y, CoreAtom x)
{
    CoreAtom p, q;
    if (!came_from(f, c, PRIM_AND, &p, &q))
        return false;
    return (is_of_both(f, p, PRIM_LESS_NAN_LAST, y, x) && is_of_both(f, q, PRIM_EQ, x, x)) ||
           (is_of_both(f, q, PRIM_LESS_NAN_LAST, y, x) && is_of_both(f, p, PRIM_EQ, x, x));
}

/* As the prelude's minimum and maximum choose, of floats: the other one where one is no number, the second of equals.
 */
static Outcome fold_choice_of_number(Fold *f, CoreAtom c, CoreAtom x, CoreAtom y)
{
    CoreAtom p, q;
    if (is_of_both(f, c, PRIM_LESS_NAN_LAST, x, y))
        return rewrite(f, PRIM_MIN, y, x);
    if (!came_from(f, c, PRIM_OR, &p, &q))
        return NOTHING;
    if ((is_less_than_number(f, p, y, x) && is_of_both(f, q, PRIM_NE, y, y)) ||
        (is_less_than_number(f, q, y, x) && is_of_both(f, p, PRIM_NE, y, y)))
        return rewrite(f, PRIM_MAX, y, x);
    return NOTHING;
}

/* select (a < b) b a = max a b of integers, and the like. */
static Outcome fold_choice_of_extreme(Fold *f, CoreAtom c, CoreAtom x, CoreAtom y)
{
    CoreAtom a, b;
    if (core_type_equal(core_atom_type(f->s->fn, x), core_scalar(SC_F32)) ||
        core_type_equal(core_atom_type(f->s->fn, x), core_scalar(SC_F64)))
        return fold_choice_of_number(f, c, x, y); /* others fail with nan, or with zeros of both signs */
    if (!came_from(f, c, PRIM_LT, &a, &b) && !came_from(f, c, PRIM_LE, &a, &b))
        return NOTHING;
    if (core_atom_equal(a, x) && core_atom_equal(b, y))
        return rewrite(f, PRIM_MIN, x, y);
    return core_atom_equal(a, y) && core_atom_equal(b, x) ? rewrite(f, PRIM_MAX, x, y) : NOTHING;
}

static Outcome fold_select(Fold *f, CoreAtom *out)
{
    CoreAtom c = f->args[0], x = f->args[1], y = f->args[2], a, b;
    bool is_bool = core_type_equal(core_var_type(f->s->fn, f->stmt->vars[0]), core_scalar(SC_BOOL));
    if (c.is_const)
        return found(out, c.bits ? x : y);
    if (core_atom_equal(x, y))
        return found(out, x);
    if (came_from(f, c, PRIM_NOT, &a, &b)) {
        f->stmt->prim.args = arena_array(f->s->p->arena, CoreAtom, 3);
        memcpy(f->stmt->prim.args, (CoreAtom[]){a, y, x}, 3 * sizeof a);
        return REWRITTEN;
    }
    if (!is_bool)
        return fold_choice_of_extreme(f, c, x, y);
    if (atom_is(x, 1))
        return rewrite(f, PRIM_OR, c, y);
    if (atom_is(y, 0))
        return rewrite(f, PRIM_AND, c, x);
    return atom_is(x, 0) && atom_is(y, 1) ? rewrite(f, PRIM_NOT, c, c) : NOTHING;
}

/* ---- all together ---- */

static Outcome fold_by_type(Fold *f, CoreAtom *out)
{
    switch (f->op) {
    case PRIM_CONVERT: return fold_convert(f, out);
    case PRIM_SELECT: return fold_select(f, out);
    case PRIM_NOT: return fold_not(f, out);
    default: break;
    }
    if (f->type == SC_BOOL)
        return fold_bool(f, out);
    return scalar_is_float(f->type) ? fold_float(f, out) : fold_int(f, out);
}

bool fold_prim(Simplifier *s, CoreStmt *stmt, CoreAtom *out)
{
    for (;;) {
        Fold f = {s, stmt, stmt->prim.op, stmt->prim.args, core_atom_type(s->fn, stmt->prim.args[0]).scalar};
        Outcome outcome = fold_constants(&f, out);
        if (outcome == NOTHING) {
            normalise(&f);
            outcome = fold_by_type(&f, out);
        }
        if (outcome != REWRITTEN)
            return outcome == FOUND;
    }
}
