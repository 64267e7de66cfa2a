/* Sizes in types: `[n][m]f32`. The first type that mentions a name binds it to the length found there,
 * every other mention is compared with it, as are literals and earlier integer parameters.
 *
 * A sized dimension under others is compared in every row: a leaf of the sequence, at some depth, has
 * all its lengths there equal. That is one reduction per dimension, the maximum over the rows of "-1 if
 * the length is right, else the length", followed by one check. */
#include "core/elaborate_internal.h"

/* A place in a nested sequence: the lengths at `depth` below `leaf`. */
typedef struct Dimension { CoreAtom leaf; uint32_t depth; } Dimension;

/* The first length at that depth, or 0 where there is no row to ask. */
static CoreAtom first_length(Elab *e, CoreAtom leaf, uint32_t depth)
{
    CoreAtom n = anf_length(e, leaf);
    if (depth == 0)
        return n;
    CoreAtom zero = core_i64(0);
    CoreAtom some = anf_compare(e, PRIM_GT, n, zero);
    if (some.is_const)
        return some.bits ? first_length(e, anf_index(e, leaf, zero, CORE_NO_SITE), depth - 1) : zero;
    OpenBlock o = anf_block_open(e);
    CoreAtom inner = first_length(e, anf_index(e, leaf, zero, CORE_NO_SITE), depth - 1);
    CoreBlock *then_b = anf_block_close(e, o, &inner, 1);
    o = anf_block_open(e);
    CoreBlock *else_b = anf_block_close(e, o, &zero, 1);
    return val_atom(elab_if_parts(e, some, then_b, else_b, type_scalar(e->arena, SC_I64)));
}

/* The largest length that is not `size`, or -1. */
static CoreAtom wrong_length(Elab *e, CoreAtom leaf, uint32_t depth, CoreAtom size)
{
    CoreAtom n = anf_length(e, leaf);
    if (depth == 0)
        return anf_select(e, anf_compare(e, PRIM_EQ, n, size), core_i64(-1), n);
    Soac b = anf_soac_over(n);
    CoreVar row = anf_var(e, core_element(leaf.type), NULL);
    vec_push(e->arena, &b.inputs, leaf);
    vec_push(e->arena, &b.elements, row);
    OpenBlock o = anf_block_open(e);
    CoreAtom wrong = wrong_length(e, core_var_atom(row, core_element(leaf.type)), depth - 1, size);
    CoreBlock *body = anf_block_close(e, o, &wrong, 1);
    return anf_soac_reduce_prim(e, &b, body, PRIM_MAX, core_i64(-1));
}

static void check_dimension(Elab *e, Dimension d, CoreAtom size, const char *text)
{
    if (d.depth == 0) {
        CoreAtom n = anf_length(e, d.leaf);
        CoreAtom values[] = {size, n};
        if (!anf_atom_equal(size, n))
            anf_check(e, anf_compare(e, PRIM_EQ, size, n), ERR_SIZE, text, values, 2);
        anf_know_length(e, d.leaf, size);
        return;
    }
    if (anf_rows_known(e, d.leaf, d.depth, size))
        return;
    CoreAtom wrong;
    if (!anf_rows_wrong(e, d.leaf, d.depth, size, &wrong))
        wrong = wrong_length(e, d.leaf, d.depth, size);
    CoreAtom values[] = {size, wrong};
    anf_check(e, anf_compare(e, PRIM_LT, wrong, core_i64(0)), ERR_SIZE, text, values, 2);
    anf_know_rows(e, d.leaf, d.depth, size);
}

static void sized_array(Elab *e, Scope *sc, const TypeExpr *te, Dimension d)
{
    if (te->array.size_kind == SIZE_LITERAL) {
        check_dimension(e, d, core_i64(te->array.size), "the size");
        return;
    }
    Env *known = env_find_size(sc->env, te->array.size_name);
    if (known) {
        check_dimension(e, d, anf_convert(e, val_atom(known->value), SC_I64), te->array.size_name);
        return;
    }
    CoreAtom size = first_length(e, d.leaf, d.depth);
    anf_know_not_negative(e, size);
    if (!size.is_const && !e->fn->vars.at[size.var].hint)
        e->fn->vars.at[size.var].hint = te->array.size_name;
    env_bind_size(e, sc, te->array.size_name, size);
    if (d.depth > 0)
        check_dimension(e, d, size, te->array.size_name);
}

/* ---- abbreviations ---- */

typedef struct Args { const struct Args *outer; const Def *def; const TypeExpr *use; } Args;

/* What a type's name stands for, with the arguments in force there; NULL if nothing with sizes. */
static const TypeExpr *resolve(const Elab *e, const TypeExpr *te, const Args **args, Args *fresh)
{
    const Args *a = *args;
    if (a && te->name.nargs == 0 && !te->name.module)
        for (uint32_t i = 0; i < a->def->ntype_params && i < a->use->name.nargs; i++)
            if (a->def->type_params[i] == te->name.name) {
                *args = a->outer;
                return a->use->name.args[i];
            }
    const Def *def = checked_type_def(e->checked, te);
    if (!def)
        return NULL;
    *fresh = (Args){a, def, te};
    *args = fresh;
    return def->result;
}

static bool has_sizes(const Elab *e, const TypeExpr *te, const Args *args, uint32_t depth)
{
    Args fresh;
    if (!te || depth > 64)
        return false;
    switch (te->kind) {
    case TE_NAME:
        te = resolve(e, te, &args, &fresh);
        return has_sizes(e, te, args, depth + 1);
    case TE_TUPLE:
        for (uint32_t i = 0; i < te->tuple.n; i++)
            if (has_sizes(e, te->tuple.items[i], args, depth + 1))
                return true;
        return false;
    case TE_RECORD:
        for (uint32_t i = 0; i < te->record.n; i++)
            if (has_sizes(e, te->record.fields[i].type, args, depth + 1))
                return true;
        return false;
    case TE_ARRAY:
        return te->array.size_kind != SIZE_NONE || has_sizes(e, te->array.element, args, depth + 1);
    case TE_FUN:
    case TE_SUM:
        return false;
    }
    return false;
}

bool elab_type_has_sizes(const Elab *e, const TypeExpr *te)
{
    return has_sizes(e, te, NULL, 0);
}

/* ---- the walk ---- */

/* Over the components that stand side by side in `atoms`, each under `depth` sequences; advances *atoms. */
static void walk(Elab *e, Scope *sc, const TypeExpr *te, const Args *args, Type *t, const CoreAtom *atoms,
                 uint32_t depth)
{
    Args fresh;
    if (!has_sizes(e, te, args, 0))
        return;
    t = type_prune(t);
    switch (te->kind) {
    case TE_NAME:
        te = resolve(e, te, &args, &fresh);
        walk(e, sc, te, args, t, atoms, depth);
        return;
    case TE_TUPLE:
        for (uint32_t i = 0; t->kind == TY_TUPLE && i < te->tuple.n && i < t->tuple.n; i++) {
            walk(e, sc, te->tuple.items[i], args, t->tuple.items[i], atoms, depth);
            atoms += ty_leaf_count(e, t->tuple.items[i]);
        }
        return;
    case TE_RECORD:
        for (uint32_t i = 0; t->kind == TY_RECORD && i < t->record.n; i++) {
            for (uint32_t j = 0; j < te->record.n; j++)
                if (te->record.fields[j].name == t->record.names[i])
                    walk(e, sc, te->record.fields[j].type, args, t->record.items[i], atoms, depth);
            atoms += ty_leaf_count(e, t->record.items[i]);
        }
        return;
    case TE_ARRAY:
        if (t->kind != TY_ARRAY)
            return;
        if (te->array.size_kind != SIZE_NONE)
            sized_array(e, sc, te, (Dimension){atoms[0], depth});
        walk(e, sc, te->array.element, args, t->element, atoms, depth + 1);
        return;
    case TE_FUN:
    case TE_SUM:
        return;
    }
}

void elab_sizes(Elab *e, Scope *sc, const TypeExpr *te, const Value *v)
{
    if (!elab_type_has_sizes(e, te))
        return;
    if (val_has_function(v)) { /* sizes beside functions: only components without them */
        if (te->kind == TE_TUPLE && v->kind == VALUE_PRODUCT)
            for (uint32_t i = 0; i < te->tuple.n && i < v->product.n; i++)
                elab_sizes(e, sc, te->tuple.items[i], v->product.items[i]);
        return;
    }
    Atoms atoms = {0};
    val_atoms(e, v, &atoms);
    walk(e, sc, te, NULL, v->type, atoms.at, 0);
}
