/* Operators, ranges, and element access on sequences of products. */
#include "core/elaborate_internal.h"

#include "dp_size.h"

#include <assert.h>

/* ---- binary operators ---- */

static CorePrim prim_of(BinaryOp op)
{
    switch (op) {
    case BIN_OR:
    case BIN_BITOR: return PRIM_OR;
    case BIN_AND:
    case BIN_BITAND: return PRIM_AND;
    case BIN_BITXOR: return PRIM_XOR;
    case BIN_EQ: return PRIM_EQ;
    case BIN_NE: return PRIM_NE;
    case BIN_LT: return PRIM_LT;
    case BIN_LE: return PRIM_LE;
    case BIN_GT: return PRIM_GT;
    case BIN_GE: return PRIM_GE;
    case BIN_SHL: return PRIM_SHL;
    case BIN_SHR: return PRIM_SHR;
    case BIN_ADD: return PRIM_ADD;
    case BIN_SUB: return PRIM_SUB;
    case BIN_MUL: return PRIM_MUL;
    case BIN_DIV: return PRIM_DIV;
    case BIN_MOD: return PRIM_MOD;
    case BIN_POW: return PRIM_POW;
    case BIN_APPEND: break;
    }
    assert(0 && "elaborate: no scalar operator");
    return PRIM_COUNT;
}

/* A negative power of 0 is 1 / 0. */
static void check_power(Elab *e, CoreAtom x, CoreAtom exponent)
{
    Scalar s = x.type.scalar;
    if (!scalar_is_int(s) || !scalar_is_signed(s))
        return;
    CoreAtom zero = core_const(s, 0), whole = anf_compare(e, PRIM_GE, exponent, zero);
    if (anf_atom_is_int(whole, 1))
        return;
    CoreAtom inverse = anf_compare(e, PRIM_NE, x, zero);
    if (!anf_atom_is_int(inverse, 1))
        anf_check(e, anf_binary(e, PRIM_OR, whole, inverse), ERR_DIVISION, NULL, NULL, 0);
}

Value *elab_binary_values(Elab *e, BinaryOp op, Value *l, Value *r)
{
    switch (op) {
    case BIN_APPEND: return elab_append(e, l, r);
    case BIN_EQ: return val_scalar(e, elab_equal(e, l, r));
    case BIN_NE:
        if (ty_is_scalar(l->type))
            return val_scalar(e, anf_compare(e, PRIM_NE, val_atom(l), val_atom(r)));
        return val_scalar(e, anf_unary(e, PRIM_NOT, elab_equal(e, l, r)));
    case BIN_SHL:
    case BIN_SHR: { /* modulo the width: wrapping to the left side's type keeps that */
        CoreAtom count = anf_convert(e, val_atom(r), val_atom(l).type.scalar);
        return val_scalar(e, anf_binary(e, prim_of(op), val_atom(l), count));
    }
    case BIN_LT:
    case BIN_LE:
    case BIN_GT:
    case BIN_GE: return val_scalar(e, elab_ordered(e, prim_of(op), l, r));
    case BIN_OR:
    case BIN_AND:
    case BIN_BITOR:
    case BIN_BITXOR:
    case BIN_BITAND:
    case BIN_ADD:
    case BIN_SUB:
    case BIN_MUL:
    case BIN_DIV:
    case BIN_MOD:
    case BIN_POW: break;
    }
    CoreAtom a = val_atom(l), b = val_atom(r);
    if (op == BIN_POW)
        check_power(e, a, b);
    return val_scalar(e, anf_binary(e, prim_of(op), a, b));
}

/* `text == "literal"`, on either side: NULL for other operations. */
static Value *equal_literal(Elab *e, const Scope *sc, const Expr *x)
{
    Expr *l = x->binary.left, *r = x->binary.right;
    if ((x->binary.op != BIN_EQ && x->binary.op != BIN_NE) || (l->kind != E_STRING && r->kind != E_STRING))
        return NULL;
    bool right = r->kind == E_STRING;
    CoreAtom equal = elab_equal_text(e, sc, elab_expr(e, sc, right ? l : r), right ? r : l);
    return val_scalar(e, x->binary.op == BIN_NE ? anf_unary(e, PRIM_NOT, equal) : equal);
}

Value *elab_binary(Elab *e, const Scope *sc, Expr *x)
{
    Value *text = equal_literal(e, sc, x);
    if (text)
        return text;
    Value *l = elab_expr(e, sc, x->binary.left), *r = elab_expr(e, sc, x->binary.right);
    e->at = elab_place(e, sc, x->binary.op_span);
    return elab_binary_values(e, x->binary.op, l, r);
}

Value *elab_unary(Elab *e, const Scope *sc, Expr *x)
{
    static const CorePrim prims[] = {[UN_NEG] = PRIM_NEG, [UN_NOT] = PRIM_NOT, [UN_COMPLEMENT] = PRIM_COMPLEMENT};
    CoreAtom a = elab_scalar(e, sc, x->unary.arg);
    return val_scalar(e, anf_unary(e, prims[x->unary.op], a));
}

/* ---- && and || ---- */

/* Small scalar expressions that cannot fail: evaluating them always is as good, and cheaper than a
 * branch. *budget bounds how much is evaluated for nothing. */
static bool is_total(Elab *e, const Scope *sc, const Expr *x, uint32_t *budget);

static bool is_total_call(Elab *e, const Scope *sc, const Expr *x, uint32_t *budget)
{
    const Expr *f = x->apply.fn;
    const Ref *ref = &e->checked->refs[f->id];
    if (f->kind != E_NAME || ref->kind != REF_PRIM)
        return false;
    if (ref->builtin != BI_length && !(elab_builtin_is_scalar(ref->builtin) && ty_is_scalar(elab_expr_type(e, sc, x))))
        return false;
    for (uint32_t i = 0; i < x->apply.nargs; i++)
        if (!is_total(e, sc, x->apply.args[i], budget))
            return false;
    return true;
}

static bool is_total_name(Elab *e, const Expr *x)
{
    RefKind kind = e->checked->refs[x->id].kind;
    return kind == REF_LOCAL || kind == REF_SIZE ||
           (kind == REF_PRIM && elab_builtin_arity(e->checked->refs[x->id].builtin) == 0);
}

static bool is_total(Elab *e, const Scope *sc, const Expr *x, uint32_t *budget)
{
    if (*budget == 0)
        return false;
    --*budget;
    switch (x->kind) {
    case E_INT:
    case E_FLOAT:
    case E_BOOL:
    case E_CHAR: return true;
    case E_NAME: return is_total_name(e, x);
    case E_UNARY: return is_total(e, sc, x->unary.arg, budget);
    case E_PROJECT: return is_total(e, sc, x->project.value, budget);
    case E_FIELD: return e->checked->refs[x->id].kind == REF_NONE && is_total(e, sc, x->field.value, budget);
    case E_APPLY: return is_total_call(e, sc, x, budget);
    case E_TUPLE:
        for (uint32_t i = 0; i < x->items.n; i++)
            if (!is_total(e, sc, x->items.items[i], budget))
                return false;
        return true;
    case E_BINARY:
        if (!ty_leaves_all_scalar(e, elab_expr_type(e, sc, x->binary.left)))
            return false;
        if ((x->binary.op == BIN_DIV || x->binary.op == BIN_MOD || x->binary.op == BIN_POW) &&
            !scalar_is_float(ty_scalar(elab_expr_type(e, sc, x))))
            return false;
        return is_total(e, sc, x->binary.left, budget) && is_total(e, sc, x->binary.right, budget);
    case E_STRING:
    case E_RECORD:
    case E_ARRAY:
    case E_CTOR:
    case E_PIPE:
    case E_RANGE:
    case E_OP_SECTION:
    case E_LEFT_SECTION:
    case E_RIGHT_SECTION:
    case E_INDEX:
    case E_SLICE:
    case E_UPDATE_INDEX:
    case E_UPDATE_FIELD:
    case E_UPDATE_PART:
    case E_LET:
    case E_LET_FUN:
    case E_IF:
    case E_MATCH:
    case E_LAMBDA:
    case E_LOOP:
    case E_ASCRIBE:
    case E_EACH: return false;
    }
    return false;
}

Value *elab_short_circuit(Elab *e, const Scope *sc, Expr *x)
{
    bool is_and = x->binary.op == BIN_AND;
    CoreAtom left = elab_scalar(e, sc, x->binary.left);
    if (left.is_const)
        return (left.bits != 0) == is_and ? elab_expr(e, sc, x->binary.right) : val_scalar(e, left);
    uint32_t budget = 12;
    if (is_total(e, sc, x->binary.right, &budget)) {
        CoreAtom right = elab_scalar(e, sc, x->binary.right);
        return val_scalar(e, anf_binary(e, is_and ? PRIM_AND : PRIM_OR, left, right));
    }
    CoreBlock *outer = anf_block_open(e);
    CoreBlock *right = anf_block_close_value(e, outer, elab_expr(e, sc, x->binary.right));
    CoreAtom known = core_const(SC_BOOL, !is_and);
    outer = anf_block_open(e);
    CoreBlock *skip = anf_block_close(e, outer, &known, 1);
    Type *type = elab_expr_type(e, sc, x);
    return is_and ? elab_if_parts(e, left, right, skip, type) : elab_if_parts(e, left, skip, right, type);
}

/* ---- ranges ---- */

/* Types whose differences may leave i64. */
static bool is_wide(Scalar s) { return s == SC_I64 || s == SC_U64; }

/* max(to - from, 0), saturating: the difference of two 64-bit numbers may need 65 bits, so it is taken
 * as u64 once the order is known. Inclusive: one more. */
static CoreAtom wide_length(Elab *e, CoreAtom from, CoreAtom to, bool inclusive)
{
    CoreAtom some = anf_compare(e, inclusive ? PRIM_LE : PRIM_LT, from, to);
    CoreAtom difference = anf_convert(e, anf_binary(e, PRIM_SUB, to, from), SC_U64);
    CoreAtom most = core_const(SC_U64, (uint64_t)INT64_MAX - (inclusive ? 1 : 0));
    CoreAtom n = anf_convert(e, anf_binary(e, PRIM_MIN, difference, most), SC_I64);
    if (inclusive)
        n = anf_binary(e, PRIM_ADD, n, core_i64(1));
    return anf_select(e, some, n, core_i64(0));
}

static CoreAtom narrow_length(Elab *e, CoreAtom from, CoreAtom to, bool inclusive)
{
    CoreAtom n = anf_binary(e, PRIM_SUB, anf_convert(e, to, SC_I64), anf_convert(e, from, SC_I64));
    if (inclusive)
        n = anf_binary(e, PRIM_ADD, n, core_i64(1));
    return anf_max0(e, n);
}

/* Steps that fit between the ends, in u64, where no difference wraps. A step of 0 is a division by zero. */
static CoreAtom stepped_length(Elab *e, CoreAtom from, CoreAtom second, CoreAtom to, bool inclusive)
{
    CoreAtom a = anf_convert(e, from, SC_U64), b = anf_convert(e, second, SC_U64), c = anf_convert(e, to, SC_U64);
    CoreAtom up = anf_compare(e, PRIM_LE, from, second);
    CoreAtom step = anf_select(e, up, anf_binary(e, PRIM_SUB, b, a), anf_binary(e, PRIM_SUB, a, b));
    CoreAtom far = anf_select(e, up, anf_binary(e, PRIM_SUB, c, a), anf_binary(e, PRIM_SUB, a, c));
    CoreAtom some = anf_select(e, up, anf_compare(e, inclusive ? PRIM_LE : PRIM_LT, from, to),
                               anf_compare(e, inclusive ? PRIM_GE : PRIM_GT, from, to));
    CoreAtom reach = inclusive ? far : anf_binary(e, PRIM_SUB, far, core_const(SC_U64, 1));
    CoreAtom steps = anf_binary(e, PRIM_DIV, reach, step);
    CoreAtom most = anf_binary(e, PRIM_MIN, steps, core_const(SC_U64, (uint64_t)INT64_MAX - 1));
    CoreAtom n = anf_binary(e, PRIM_ADD, anf_convert(e, most, SC_I64), core_i64(1));
    return anf_select(e, some, n, core_i64(0));
}

Range elab_range_parts(Elab *e, const Scope *sc, Expr *x)
{
    CoreAtom from = elab_scalar(e, sc, x->range.from);
    if (x->range.second) {
        CoreAtom second = elab_scalar(e, sc, x->range.second), end = elab_scalar(e, sc, x->range.to);
        CoreAtom length = stepped_length(e, from, second, end, x->range.inclusive);
        return (Range){from, anf_binary(e, PRIM_SUB, second, from), length};
    }
    CoreAtom to = elab_scalar(e, sc, x->range.to);
    Scalar s = from.type.scalar;
    bool inclusive = x->range.inclusive;
    bool from_small = s == SC_I64 && from.is_const && (int64_t)from.bits >= (inclusive ? 1 : 0);
    bool narrow = !is_wide(s) || from_small;
    Range r = {from, core_const(s, 1), core_i64(0)};
    r.length = narrow ? narrow_length(e, from, to, inclusive) : wide_length(e, from, to, inclusive);
    return r;
}

CoreAtom elab_range_element(Elab *e, Range r, CoreAtom i)
{
    CoreAtom offset = anf_convert(e, i, r.from.type.scalar);
    if (!anf_atom_is_int(r.step, 1))
        offset = anf_binary(e, PRIM_MUL, offset, r.step);
    if (anf_atom_is_int(r.from, 0))
        return offset;
    return anf_binary(e, PRIM_ADD, r.from, offset);
}

/* ---- elements ---- */

/* u64 beyond i64 becomes the largest i64: out of bounds, and longer than anything can be. */
CoreAtom elab_index_i64(Elab *e, const Value *index)
{
    CoreAtom i = val_atom(index);
    if (i.type.scalar == SC_U64)
        i = anf_binary(e, PRIM_MIN, i, core_const(SC_U64, DP_SIZE_MAX));
    return anf_convert(e, i, SC_I64);
}

/* All leaves are equally long: the first one's check is enough. */
Value *elab_index_value(Elab *e, const Value *array, CoreAtom i, bool checked)
{
    CoreAtom *atoms = arena_array(e->arena, CoreAtom, array->leaves.n);
    for (uint32_t k = 0; k < array->leaves.n; k++) {
        uint32_t site = checked && k == 0 ? anf_site(e, ERR_INDEX, NULL) : CORE_NO_SITE;
        atoms[k] = anf_index(e, array->leaves.atoms[k], i, site);
    }
    return val_from_atoms(e, type_prune(type_prune(array->type)->element), atoms);
}

Value *elab_slice_value(Elab *e, const Value *array, CoreAtom from, CoreAtom to, bool checked)
{
    CoreAtom *atoms = arena_array(e->arena, CoreAtom, array->leaves.n);
    for (uint32_t k = 0; k < array->leaves.n; k++) {
        uint32_t site = checked && k == 0 ? anf_site(e, ERR_SLICE, NULL) : CORE_NO_SITE;
        atoms[k] = anf_slice(e, array->leaves.atoms[k], from, to, site);
    }
    return val_leaves(e, array->type, atoms, array->leaves.n);
}

Value *elab_update_value(Elab *e, const Value *array, CoreAtom i, const Value *v)
{
    Atoms values = {0};
    val_atoms(e, v, &values);
    CoreAtom *atoms = arena_array(e->arena, CoreAtom, array->leaves.n);
    for (uint32_t k = 0; k < array->leaves.n; k++) {
        CoreStmt *s = anf_stmt(e, CORE_UPDATE);
        s->site = k == 0 ? anf_site(e, ERR_INDEX, NULL) : CORE_NO_SITE;
        s->update.array = array->leaves.atoms[k];
        s->update.index = i;
        s->update.value = values.at[k];
        CoreType type = array->leaves.atoms[k].type;
        atoms[k] = anf_bind(e, s, &type, 1)[0];
        anf_push(e, s);
    }
    return val_as_long(e, array->type, atoms, array->leaves.n, array);
}

static CoreBlock *append_side(Elab *e, const Value *array, CoreAtom i)
{
    CoreBlock *outer = anf_block_open(e);
    return anf_block_close_value(e, outer, elab_index_value(e, array, i, false));
}

/* A map over both lengths that picks from either side: nothing is copied if its consumer fuses with it. */
Value *elab_append(Elab *e, const Value *l, const Value *r)
{
    CoreAtom n = anf_length(e, l);
    CoreAtom m = anf_length(e, r);
    if (anf_atom_is_int(n, 0))
        return (Value *)r;
    if (anf_atom_is_int(m, 0))
        return (Value *)l;
    Type *element = type_prune(type_prune(l->type)->element);
    Soac b = anf_soac_over(anf_binary(e, PRIM_SIZE_ADD, n, m));
    CoreAtom i = anf_soac_index(e, &b);
    CoreBlock *outer = anf_block_open(e);
    CoreAtom in_left = anf_compare(e, PRIM_LT, i, n);
    CoreBlock *left = append_side(e, l, i);
    CoreBlock *outer_right = anf_block_open(e);
    CoreAtom j = anf_binary(e, PRIM_SUB, i, n);
    CoreBlock *right = anf_block_close_value(e, outer_right, elab_index_value(e, r, j, false));
    return anf_soac_map(e, &b, outer, elab_if_parts(e, in_left, left, right, element));
}
