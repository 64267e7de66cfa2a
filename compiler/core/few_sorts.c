/* Sorts of few numbers, made anew in parallel code, are comparisons and exchanges of their elements:
 *
 *     y = argsort k of v      ==>   k0', k1' = if k1 < k0 then k1, k0 else k0, k1, likewise v; …; y = array v0', v1', …
 *
 * of neighbours, from the front to the back again and again, each time to one less: equal ones stay in order. */
#include "core/build.h"
#include "core/simplify_internal.h"

/* MOST_EXCHANGED: of all arrays that are exchanged, times pairs. */
enum { MOST_ARRAYS = 4, MOST_EXCHANGED = 96 };

typedef struct FewSort {
    CoreBuilder b;
    uint32_t count, narrays;
    CoreAtom arrays[MOST_ARRAYS]; /* the last may be positions, which are none */
    CoreAtom at[MOST_ARRAYS][MOST_FEW];
} FewSort;

/* Which of the arrays it is, a new one if it is none yet; or MOST_ARRAYS. */
static uint32_t array_of(FewSort *f, CoreAtom a)
{
    for (uint32_t i = 0; i < f->narrays; i++)
        if (core_atom_equal(f->arrays[i], a))
            return i;
    if (f->narrays == MOST_ARRAYS)
        return MOST_ARRAYS;
    f->arrays[f->narrays] = a;
    return f->narrays++;
}

static bool note_arrays(FewSort *f, const CoreAtom *atoms, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (array_of(f, atoms[i]) == MOST_ARRAYS)
            return false;
    return true;
}

/* Are elements i + 1 in front of elements i? */
static CoreAtom is_behind(FewSort *f, const CoreStmt *s, uint32_t key, uint32_t i)
{
    const CoreAtom *k = f->at[array_of(f, s->argsort.keys[key])];
    const CoreAtom less = build_prim2(&f->b, PRIM_LESS_NAN_LAST, k[i + 1], k[i]);
    if (key + 1 == s->argsort.nkeys)
        return less;
    const CoreAtom more = build_prim2(&f->b, PRIM_LESS_NAN_LAST, k[i], k[i + 1]);
    const CoreAtom equal = build_prim1(&f->b, PRIM_NOT, more), next = is_behind(f, s, key + 1, i);
    return build_prim2(&f->b, PRIM_OR, less, build_prim2(&f->b, PRIM_AND, equal, next));
}

static void exchange(FewSort *f, const CoreStmt *s, uint32_t i)
{
    const CoreAtom behind = is_behind(f, s, 0, i);
    for (uint32_t k = 0; k < f->narrays; k++) {
        CoreAtom *at = f->at[k];
        const CoreAtom first = build_select(&f->b, behind, at[i + 1], at[i]);
        at[i + 1] = build_select(&f->b, behind, at[i], at[i + 1]);
        at[i] = first;
    }
}

bool few_sort(Simplifier *s, CoreStmt *stmt)
{
    FewSort f = {.narrays = 0};
    CoreBlock *made = arena_new(s->p->arena, CoreBlock);
    const uint32_t positions = core_argsort_positions(stmt);
    if (!s->few || s->nest == 0 || stmt->argsort.nends > 0 ||
        !note_arrays(&f, stmt->argsort.keys, stmt->argsort.nkeys) ||
        !note_arrays(&f, stmt->argsort.columns, stmt->argsort.ncolumns) || f.narrays + positions > MOST_ARRAYS)
        return false;
    for (uint32_t k = 0; k < f.narrays; k++)
        if (!few_known(s, f.arrays[k], &f.count))
            return false;
    if (f.count * (f.count - 1) / 2 * (f.narrays + positions) > MOST_EXCHANGED)
        return false;
    f.b = few_builder(s, made, stmt->span);
    for (uint32_t k = 0; k < f.narrays; k++)
        few_elements_of(s, &f.b, f.arrays[k], f.count, f.at[k]);
    for (uint32_t i = 0; positions && i < f.count; i++)
        f.at[f.narrays][i] = core_i64(i);
    const uint32_t of_positions = f.narrays;
    f.narrays += positions;
    for (uint32_t last = f.count; last > 1; last--)
        for (uint32_t i = 0; i + 1 < last; i++)
            exchange(&f, stmt, i);
    for (uint32_t v = 0; v < stmt->nvars; v++) {
        const CoreAtom *items =
            v < positions ? f.at[of_positions] : f.at[array_of(&f, stmt->argsort.columns[v - positions])];
        core_push(s->p, made, few_array_into(&f.b, stmt->vars[v], items, f.count));
    }
    simplify_again(s, made);
    s->rewritten = true;
    return true;
}
