/* Rows that are pieces of a sequence. The lengths come from the program: they are checked, all of them, before the
 * first piece is made, and added up and multiplied as sizes (dp_size.h), which do not wrap. */
#include "core/elaborate_internal.h"

Value *elab_indices_i64(Elab *e, Value *is)
{
    if (ty_scalar(type_prune(type_prune(is->type)->element)) == SC_I64)
        return is;
    Soac b = anf_soac_over(anf_length(e, is));
    Value *i = anf_soac_input(e, &b, is);
    CoreBlock *outer = anf_block_open(e);
    return anf_soac_map(e, &b, outer, val_scalar(e, elab_index_i64(e, i)));
}

/* ---- lengths ---- */

static CoreBlock *identity_body(Elab *e, Soac *b, const Value *xs)
{
    Value *x = anf_soac_input(e, b, xs);
    CoreBlock *outer = anf_block_open(e);
    return anf_block_close_value(e, outer, x);
}

static CoreAtom reduce_lengths(Elab *e, const Value *ls, CorePrim op)
{
    Soac b = anf_soac_over(anf_length(e, ls));
    CoreBlock *body = identity_body(e, &b, ls);
    return anf_soac_reduce_prim(e, &b, body, op, core_i64(0));
}

/* ls: [i64] */
static CoreAtom checked_total(Elab *e, const Value *ls)
{
    anf_check_not_negative(e, reduce_lengths(e, ls, PRIM_MIN));
    return reduce_lengths(e, ls, PRIM_SIZE_ADD);
}

CoreAtom elab_total_length(Elab *e, Value *lengths) { return checked_total(e, elab_indices_i64(e, lengths)); }

static CoreAtom starts_of(Elab *e, const Value *ls)
{
    Soac b = anf_soac_over(anf_length(e, ls));
    CoreBlock *body = identity_body(e, &b, ls);
    CoreBuilder builder = anf_builder(e);
    CoreLambda f = build_operator(&builder, PRIM_ADD, core_scalar(SC_I64));
    CoreAtom zero = core_i64(0);
    CoreAtom starts = anf_soac_reduce(e, &b, body, CORE_SCAN, f, &zero, 1)[0];
    e->block->stmts.at[e->block->stmts.n - 1]->soac.exclusive = true;
    return starts;
}

/* ---- pieces ---- */

static void check_fits(Elab *e, CoreAtom total, const Value *xs)
{
    CoreAtom n = anf_length(e, xs), values[] = {total, n};
    anf_check(e, anf_compare(e, PRIM_EQ, total, n), ERR_NEST, NULL, values, 2);
}

/* nest xs ls: slices of xs at the running sums of ls. Once none is negative and their sum is xs's length, no slice can
 * leave it. */
Value *elab_nest(Elab *e, const Value *xs, Value *lengths)
{
    Value *ls = elab_indices_i64(e, lengths);
    check_fits(e, checked_total(e, ls), xs);
    CoreAtom starts = starts_of(e, ls);
    Value *start_values = val_as_long(e, ls->type, &starts, 1, ls);
    Soac b = anf_soac_over(anf_length(e, ls));
    CoreAtom start = val_atom(anf_soac_input(e, &b, start_values)), length = val_atom(anf_soac_input(e, &b, ls));
    CoreBlock *outer = anf_block_open(e);
    CoreAtom end = anf_binary(e, PRIM_ADD, start, length);
    return anf_soac_map(e, &b, outer, elab_slice_value(e, xs, start, end, false));
}

/* unflatten n m xs: slices of xs at the multiples of m. */
Value *elab_unflatten(Elab *e, CoreAtom n, CoreAtom m, const Value *xs)
{
    anf_check_not_negative(e, n);
    anf_check_not_negative(e, m);
    check_fits(e, anf_binary(e, PRIM_SIZE_MUL, n, m), xs);
    Soac b = anf_soac_over(n);
    CoreAtom i = anf_soac_index(e, &b);
    CoreBlock *outer = anf_block_open(e);
    CoreAtom start = anf_binary(e, PRIM_MUL, i, m);
    CoreAtom end = anf_binary(e, PRIM_ADD, start, m);
    Value *row = elab_slice_value(e, xs, start, end, false);
    return anf_soac_map(e, &b, outer, row);
}
