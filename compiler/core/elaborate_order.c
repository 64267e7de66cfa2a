/* Equality and order of values of any type that holds no functions: by components, and of sequences by the prelude's
 * functions, which compare element by element in parallel and are expanded for the elements' type. So core has no
 * comparison but that of scalars, and none of its passes knows of others.
 *
 *     equal      scalars by ==, so that nan is not equal to itself; products by components, sums by constructor and
 *                payload (the other payloads are zeros), sequences by length and elements
 *     compare    the order of sorting: scalars with nan last and -0 equal to 0; everything else lexicographic
 *     sort keys  each sequence among the columns is replaced by its rank, so that sorting knows scalars only */
#include "core/elaborate_internal.h"

#include <assert.h>

/* ---- sequences: the prelude's functions ---- */

static CoreAtom scalar_call(Elab *e, const char *name, Value **args, uint32_t n, Scalar result)
{
    const Value *v = elab_library_call(e, name, args, n);
    return e->gave_up ? core_const(result, 0) : val_atom(v);
}

/* Is it the same sequence, and are its elements equal to themselves? */
static bool is_same(const Value *l, const Value *r)
{
    for (uint32_t i = 0; i < l->leaves.n; i++)
        if (!core_atom_equal(l->leaves.atoms[i], r->leaves.atoms[i]) || scalar_is_float(l->leaves.atoms[i].type.scalar))
            return false;
    return true;
}

/* No element is looked at where the lengths differ; inside parallel code that needs no branch. */
static CoreAtom equal_sequences(Elab *e, const Value *l, const Value *r)
{
    if (is_same(l, r))
        return core_const(SC_BOOL, 1);
    CoreAtom n = anf_length(e, l);
    CoreAtom same_length = anf_compare(e, PRIM_EQ, n, anf_length(e, r));
    CoreAtom looked_at = anf_select(e, same_length, n, core_i64(0));
    Value *args[] = {val_scalar(e, looked_at), (Value *)l, (Value *)r};
    return anf_and(e, same_length, scalar_call(e, "equal_prefixes__", args, 3, SC_BOOL));
}

static CoreAtom compare_scalars(Elab *e, CoreAtom a, CoreAtom b)
{
    CorePrim less = scalar_is_float(a.type.scalar) ? PRIM_LESS_NAN_LAST : PRIM_LT;
    CoreAtom behind = anf_convert(e, anf_compare(e, less, b, a), SC_I8);
    return anf_binary(e, PRIM_SUB, behind, anf_convert(e, anf_compare(e, less, a, b), SC_I8));
}

/* The first comparison, unless that gives 0. */
static CoreAtom or_else(Elab *e, CoreAtom first, CoreAtom second)
{
    return anf_select(e, anf_compare(e, PRIM_NE, first, core_const(SC_I8, 0)), first, second);
}

/* The first elements that differ decide, then the lengths. */
static CoreAtom compare_sequences(Elab *e, const Value *l, const Value *r)
{
    CoreAtom n = anf_length(e, l), m = anf_length(e, r);
    CoreAtom both = anf_binary(e, PRIM_MIN, n, m);
    Value *args[] = {val_scalar(e, both), (Value *)l, (Value *)r};
    CoreAtom elements = scalar_call(e, "compare_prefixes__", args, 3, SC_I8);
    return or_else(e, elements, compare_scalars(e, n, m));
}

/* ---- all values ---- */

/* The parts that decide one behind the other: components, or the tag and the payloads of a sum. */
static Values parts_of(Elab *e, const Value *v)
{
    Values parts = {0};
    if (v->kind == VALUE_PRODUCT) {
        for (uint32_t i = 0; i < v->product.n; i++)
            vec_push(e->arena, &parts, v->product.items[i]);
        return parts;
    }
    const Type *t = type_prune(v->type);
    assert(t->kind == TY_SUM && "elaborate: neither a product nor a sum is compared by parts");
    vec_push(e->arena, &parts, val_scalar(e, v->leaves.atoms[0]));
    for (uint32_t i = 0; i < t->record.n; i++)
        if (t->record.items[i])
            vec_push(e->arena, &parts, elab_sum_payload(e, v, i));
    return parts;
}

static bool is_sequence(const Value *v) { return type_prune(v->type)->kind == TY_ARRAY; }

/* Of one scalar; so is the unit. */
static bool is_atom(const Value *v)
{
    return v->kind == VALUE_LEAVES && !is_sequence(v) && type_prune(v->type)->kind != TY_SUM;
}

CoreAtom elab_equal(Elab *e, const Value *l, const Value *r)
{
    if (is_atom(l))
        return anf_compare(e, PRIM_EQ, val_atom(l), val_atom(r));
    if (is_sequence(l))
        return equal_sequences(e, l, r);
    Values a = parts_of(e, l), b = parts_of(e, r);
    CoreAtom all = core_const(SC_BOOL, 1);
    for (uint32_t i = 0; i < a.n; i++)
        all = anf_and(e, all, elab_equal(e, a.at[i], b.at[i]));
    return all;
}

enum { SHORT_TEXT = 64 };

/* With a short literal of the program: by one loop over its bytes, which one work-item or one kernel does. */
CoreAtom elab_equal_text(Elab *e, const Scope *sc, const Value *v, Expr *text)
{
    CoreAtom n = core_i64(text->string.n);
    if (text->string.n == 0)
        return anf_compare(e, PRIM_EQ, anf_length(e, v), n);
    Value *literal = elab_expr(e, sc, text);
    if (text->string.n > SHORT_TEXT)
        return elab_equal(e, v, literal);
    Value *args[] = {val_scalar(e, n), (Value *)v, literal};
    return scalar_call(e, "equal_text__", args, 3, SC_BOOL);
}

CoreAtom elab_compare(Elab *e, const Value *l, const Value *r)
{
    if (is_atom(l))
        return compare_scalars(e, val_atom(l), val_atom(r));
    if (is_sequence(l))
        return compare_sequences(e, l, r);
    Values a = parts_of(e, l), b = parts_of(e, r);
    CoreAtom sign = elab_compare(e, a.at[a.n - 1], b.at[b.n - 1]);
    for (uint32_t i = a.n - 1; i-- > 0;)
        sign = or_else(e, elab_compare(e, a.at[i], b.at[i]), sign);
    return sign;
}

/* a < b in the first leaf, or not b < a there and less in the rest. */
static CoreAtom less_scalars(Elab *e, const Atoms *a, const Atoms *b)
{
    CoreAtom is_less = core_const(SC_BOOL, 0);
    for (uint32_t i = a->n; i-- > 0;) {
        CorePrim op = scalar_is_float(a->at[i].type.scalar) ? PRIM_LESS_NAN_LAST : PRIM_LT;
        CoreAtom here = anf_compare(e, op, a->at[i], b->at[i]);
        if (i + 1 == a->n) {
            is_less = here;
            continue;
        }
        CoreAtom not_greater = anf_unary(e, PRIM_NOT, anf_compare(e, op, b->at[i], a->at[i]));
        is_less = anf_binary(e, PRIM_OR, here, anf_and(e, not_greater, is_less));
    }
    return is_less;
}

CoreAtom elab_less(Elab *e, const Value *l, const Value *r)
{
    if (!ty_leaves_all_scalar(e, l->type))
        return anf_compare(e, PRIM_LT, elab_compare(e, l, r), core_const(SC_I8, 0));
    Atoms a = {0}, b = {0};
    val_atoms(e, l, &a);
    val_atoms(e, r, &b);
    return less_scalars(e, &a, &b);
}

/* `< <= > >=`: scalars as IEEE 754 has it, everything else in the order of sorting. */
CoreAtom elab_ordered(Elab *e, CorePrim op, const Value *l, const Value *r)
{
    if (ty_is_scalar(l->type))
        return anf_compare(e, op, val_atom(l), val_atom(r));
    bool swapped = op == PRIM_GT || op == PRIM_LE;
    CoreAtom less = swapped ? elab_less(e, r, l) : elab_less(e, l, r);
    return op == PRIM_LT || op == PRIM_GT ? less : anf_unary(e, PRIM_NOT, less);
}

/* ---- sorting ---- */

/* The bits of a scalar as an unsigned number in the scalars' order. */
CoreAtom elab_order_bits(Elab *e, CoreAtom a)
{
    static const Scalar unsigned_of[] = {[SC_I8] = SC_U8, [SC_I16] = SC_U16, [SC_I32] = SC_U32, [SC_I64] = SC_U64};
    Scalar s = a.type.scalar;
    assert(!scalar_is_float(s) && "elaborate: floats have no bits in core");
    if (!scalar_is_signed(s))
        return anf_convert(e, a, SC_U64);
    Scalar u = unsigned_of[s];
    CoreAtom sign = core_const(u, (uint64_t)1 << (8 * scalar_bytes(s) - 1));
    return anf_convert(e, anf_binary(e, PRIM_XOR, anf_convert(e, a, u), sign), SC_U64);
}

enum { BLOCK_BYTES = 7 }; /* of the elements in a word; the eighth byte has their number */

/* (order, ties) */
static Value *argsort_sequences(Elab *e, Value *xss)
{
    Type *element = type_prune(type_prune(type_prune(xss->type)->element)->element);
    uint32_t bytes = ty_is_scalar(element) ? scalar_bytes(ty_scalar(element)) : 0;
    if (bytes == 0 || bytes > BLOCK_BYTES || scalar_is_float(ty_scalar(element)))
        return elab_library_call(e, "argsort_by_elements__", &xss, 1);
    Value *args[] = {val_scalar(e, core_i64(BLOCK_BYTES / bytes)), val_scalar(e, core_const(SC_U64, 8 * bytes)), xss};
    return elab_library_call(e, "argsort_by_blocks__", args, 3);
}

/* The leaves of a sequence that are still to be looked at. */
typedef struct Columns {
    const CoreAtom *next;
    CoreAtom length;
} Columns;

static void add_keys(Elab *e, Type *t, Columns *columns, Atoms *keys);

static void add_keys_of_parts(Elab *e, Type *const *types, uint32_t n, Columns *columns, Atoms *keys)
{
    for (uint32_t i = 0; i < n; i++)
        if (types[i])
            add_keys(e, types[i], columns, keys);
}

/* The scalar columns that a sequence of t is sorted by, from its leaves. */
static void add_keys(Elab *e, Type *t, Columns *columns, Atoms *keys)
{
    t = type_prune(t);
    if (t->kind == TY_ARRAY) {
        uint32_t n = ty_leaf_count(e, t);
        Value *column = val_sequence(e, type_array(e->arena, t), columns->next, n, columns->length);
        columns->next += n;
        vec_push(e->arena, keys, val_first_leaf(elab_library_call(e, "dense_ranks__", &column, 1)));
        return;
    }
    bool is_product = (t->kind == TY_TUPLE && t->tuple.n > 0) || (t->kind == TY_RECORD && t->record.n > 0);
    if (!is_product) /* a scalar, the unit, a sum's tag */
        vec_push(e->arena, keys, *columns->next++);
    if (t->kind == TY_TUPLE)
        add_keys_of_parts(e, t->tuple.items, t->tuple.n, columns, keys);
    else if (t->kind == TY_RECORD || t->kind == TY_SUM)
        add_keys_of_parts(e, t->record.items, t->record.n, columns, keys);
}

static bool of_sequences(const Value *xs) { return type_prune(type_prune(xs->type)->element)->kind == TY_ARRAY; }

/* The sequence with its columns as one product of scalars. */
static Value *scalar_columns(Elab *e, Value *xs)
{
    Type *element = type_prune(type_prune(xs->type)->element);
    if (ty_leaves_all_scalar(e, element))
        return xs;
    Atoms keys = {0};
    Columns columns = {xs->leaves.atoms, anf_length(e, xs)};
    add_keys(e, element, &columns, &keys);
    Type **types = arena_array(e->arena, Type *, keys.n);
    for (uint32_t i = 0; i < keys.n; i++)
        types[i] = type_scalar(e->arena, keys.at[i].type.scalar);
    Type *product = keys.n == 1 ? types[0] : type_tuple(e->arena, types, keys.n);
    return val_as_long(e, type_array(e->arena, product), keys.at, keys.n, xs);
}

/* The positions, then the columns in the order of the keys. */
static CoreAtom *sorted_columns(Elab *e, const Value *keys, const Atoms *columns)
{
    CoreStmt *s = anf_stmt(e, CORE_ARGSORT);
    CoreType *types = arena_array(e->arena, CoreType, columns->n + 1);
    s->argsort.keys = keys->leaves.atoms;
    s->argsort.nkeys = keys->leaves.n;
    s->argsort.columns = columns->at;
    s->argsort.ncolumns = columns->n;
    types[0] = (CoreType){SC_I64, 1};
    for (uint32_t i = 0; i < columns->n; i++)
        types[i + 1] = columns->at[i].type;
    CoreAtom *outs = anf_bind(e, s, types, columns->n + 1);
    anf_push(e, s);
    return outs;
}

/* As long as the keys. */
static Value *positions_of(Elab *e, const CoreAtom *sorted, const Value *keys)
{
    return val_as_long(e, type_array(e->arena, type_scalar(e->arena, SC_I64)), sorted, 1, keys);
}

static Value *argsort_columns(Elab *e, const Value *columns)
{
    const Atoms none = {0};
    return positions_of(e, sorted_columns(e, columns, &none), columns);
}

Value *elab_argsort(Elab *e, Value *xs)
{
    if (!of_sequences(xs))
        return argsort_columns(e, scalar_columns(e, xs));
    const Value *sorted = argsort_sequences(e, xs);
    return e->gave_up ? xs : sorted->product.items[0];
}

/* The number of the column among the first `n`, or n. */
static uint32_t column_of(const Atoms *columns, CoreAtom a)
{
    uint32_t i = 0;
    while (i < columns->n && !core_atom_equal(columns->at[i], a))
        i++;
    return i;
}

/* The leaves of scalars that no column is yet. */
static void add_columns(Elab *e, const Value *xs, Atoms *columns)
{
    for (uint32_t i = 0; i < xs->leaves.n; i++)
        if (xs->leaves.atoms[i].type.rank == 1 && column_of(columns, xs->leaves.atoms[i]) == columns->n)
            vec_push(e->arena, columns, xs->leaves.atoms[i]);
}

/* xs in a new order: of leaves that are columns the sorted ones, of others the elements at the positions. */
static Value *in_order(Elab *e, Value *xs, Value *order, const Atoms *columns, const CoreAtom *sorted)
{
    CoreAtom *atoms = arena_array(e->arena, CoreAtom, xs->leaves.n + 1);
    bool all = true;
    for (uint32_t i = 0; i < xs->leaves.n; i++)
        all = all && column_of(columns, xs->leaves.atoms[i]) < columns->n;
    const Value *gathered = all ? xs : elab_library_call(e, "gather__", (Value *[]){order, xs}, 2);
    if (e->gave_up)
        return xs;
    for (uint32_t i = 0; i < xs->leaves.n; i++) {
        uint32_t column = column_of(columns, xs->leaves.atoms[i]);
        atoms[i] = column < columns->n ? sorted[column] : gathered->leaves.atoms[i];
    }
    return val_as_long(e, xs->type, atoms, xs->leaves.n, xs);
}

/* Columns of scalars are moved along with keys that are such. */
Value *elab_sort_with(Elab *e, Value *keys, Value *xs, Type *result)
{
    Value **items = arena_array(e->arena, Value *, 3);
    Atoms columns = {0};
    if (of_sequences(keys)) {
        const Value *found = argsort_sequences(e, keys);
        if (e->gave_up)
            return val_default(e, result);
        items[0] = in_order(e, keys, found->product.items[0], &columns, NULL);
        items[1] = in_order(e, xs, found->product.items[0], &columns, NULL);
        items[2] = found->product.items[1];
        return val_product(e, result, items);
    }
    add_columns(e, keys, &columns);
    add_columns(e, xs, &columns);
    const CoreAtom *sorted = sorted_columns(e, scalar_columns(e, keys), &columns);
    Value *order = positions_of(e, sorted, keys);
    items[0] = in_order(e, keys, order, &columns, sorted + 1);
    items[1] = in_order(e, xs, order, &columns, sorted + 1);
    items[2] = elab_library_call(e, "ties__", items, 1);
    return val_product(e, result, items);
}
