/* Sorts of so few elements that a network of comparisons is less than any other way:
 *
 *     ys = argsort xs of xs                       -- xs = array a, b, c, or a map over three
 *   ==>
 *     a1 = min a b;  b1 = max a b;  b2 = min b1 c;  c1 = max b1 c;  a2 = min a1 b2;  b3 = max a1 b2
 *     ys = array a2, b3, c1
 *
 * Neighbours are exchanged only if they are in the wrong order, so that equal ones stay as they are. What nobody reads,
 * such as all but the middle for a median, goes away. Rows of which a block gives all, and reads nothing, are sorted
 * together, by the runtime. */
#include "core/append.h"
#include "core/passes.h"

/* Elements; statements of all exchanges, of which several keys are KEY each. */
enum { MOST_SORTED = 12, MOST_EXCHANGED = 200, KEY = 4 };

typedef struct Sorts {
    CoreBuilder b;
    CoreMakers makers;
    uint32_t *uses; /* by variable */
    bool any;
} Sorts;

/* How many elements the array has, if that is known to be few; else MOST_SORTED + 1. */
static uint32_t few_elements(const Sorts *s, CoreAtom a)
{
    const CoreStmt *made = core_maker(&s->makers, a);
    uint64_t n = MOST_SORTED + 1;
    if (made && made->kind == CORE_ARRAY) {
        n = made->array.n;
    } else if (made && made->kind == CORE_MAP && !made->soac.guard && made->soac.domain.is_const) {
        n = made->soac.domain.bits;
    } else if (made && made->kind == CORE_FLATTEN) {
        const CoreStmt *rows = core_maker(&s->makers, made->length.array);
        if (rows && rows->kind == CORE_MAP && rows->soac.body->nresults == 1)
            n = (uint64_t)few_elements(s, made->length.array) * few_elements(s, rows->soac.body->results[0]);
    }
    return n <= MOST_SORTED ? (uint32_t)n : MOST_SORTED + 1;
}

/* Is element j less than element i, by the keys from k on? */
static CoreAtom is_less(CoreBuilder *b, CoreAtom *const *keys, uint32_t nkeys, uint32_t j, uint32_t i)
{
    const CoreAtom less = build_prim2(b, PRIM_LESS_NAN_LAST, keys[0][j], keys[0][i]);
    if (nkeys == 1)
        return less;
    const CoreAtom more = build_prim2(b, PRIM_LESS_NAN_LAST, keys[0][i], keys[0][j]);
    const CoreAtom rest = is_less(b, keys + 1, nkeys - 1, j, i);
    return build_prim2(b, PRIM_OR, less, build_prim2(b, PRIM_AND, build_prim1(b, PRIM_NOT, more), rest));
}

static void exchange(CoreBuilder *b, CoreAtom *x, CoreAtom wrong, uint32_t i, uint32_t j)
{
    const CoreAtom low = build_select(b, wrong, x[j], x[i]);
    x[j] = build_select(b, wrong, x[i], x[j]);
    x[i] = low;
}

/* Of whole numbers that are all that there is. */
static void exchange_numbers(CoreBuilder *b, CoreAtom *x, uint32_t i, uint32_t j)
{
    const CoreAtom low = build_prim2(b, PRIM_MIN, x[i], x[j]);
    x[j] = build_prim2(b, PRIM_MAX, x[i], x[j]);
    x[i] = low;
}

static bool same_columns(const CoreStmt *s)
{
    bool same = s->argsort.nkeys == 1 && core_argsort_positions(s) == 0;
    for (uint32_t k = 0; k < s->argsort.ncolumns; k++)
        same &= core_atom_equal(s->argsort.columns[k], s->argsort.keys[0]);
    return same;
}

static CoreAtom *elements(Sorts *s, CoreAtom array, uint32_t n)
{
    CoreAtom *x = arena_array(s->b.p->arena, CoreAtom, n + 1);
    const CoreStmt *made = core_maker(&s->makers, array);
    for (uint32_t i = 0; i < n; i++)
        x[i] = made && made->kind == CORE_ARRAY ? made->array.items[i]
                                                : build_index(&s->b, array, core_i64(i), CORE_NO_SITE);
    return x;
}

/* In place of the sort: its keys, columns and positions, element by element. */
static void emit_network(Sorts *s, const CoreStmt *sort, uint32_t n)
{
    CoreBuilder *b = &s->b;
    s->any = true;
    const uint32_t nkeys = sort->argsort.nkeys, positions = core_argsort_positions(sort);
    const uint32_t ncolumns = sort->argsort.ncolumns, all = nkeys + positions + ncolumns;
    const bool alone =
        same_columns(sort) && !scalar_is_float(core_element(core_atom_type(b->fn, sort->argsort.keys[0])).scalar);
    CoreAtom **x = arena_array(b->p->arena, CoreAtom *, all + 1);
    for (uint32_t k = 0; k < nkeys; k++)
        x[k] = elements(s, sort->argsort.keys[k], n);
    for (uint32_t k = 0; k < ncolumns; k++)
        x[nkeys + positions + k] = elements(s, sort->argsort.columns[k], n);
    if (positions) {
        x[nkeys] = arena_array(b->p->arena, CoreAtom, n + 1);
        for (uint32_t i = 0; i < n; i++)
            x[nkeys][i] = core_i64(i);
    }
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t j = i; j > 0; j--) {
            if (alone) {
                exchange_numbers(b, x[0], j - 1, j);
                continue;
            }
            const CoreAtom wrong = is_less(b, x, nkeys, j, j - 1);
            for (uint32_t k = 0; k < all; k++)
                exchange(b, x[k], wrong, j - 1, j);
        }
    for (uint32_t k = 0; k < sort->nvars; k++)
        build_named(b, sort->vars[k], build_array(b, core_var_type(b->fn, sort->vars[k]), x[alone ? 0 : nkeys + k], n));
}

static void count_use(void *ctx, CoreAtom *a)
{
    if (!a->is_const)
        ((Sorts *)ctx)->uses[a->var]++;
}

/* Is nothing done with what is sorted, but that the block gives it? */
static bool is_given(const Sorts *s, const CoreBlock *block, const CoreStmt *sort)
{
    uint32_t uses = 0, given = 0;
    for (uint32_t k = 0; k < sort->nvars; k++) {
        uses += s->uses[sort->vars[k]];
        for (uint32_t i = 0; i < block->nresults; i++)
            given += !block->results[i].is_const && block->results[i].var == sort->vars[k];
    }
    return uses == given;
}

static void sort_in_block(void *ctx, CoreBlock *block)
{
    Sorts *s = ctx;
    CoreBlock *outer = s->b.out, old = core_take_stmts(block);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *stmt = old.stmts.at[i];
        core_stmt_blocks(stmt, sort_in_block, s);
        s->b.out = block;
        s->b.span = stmt->span;
        const bool sorts = stmt->kind == CORE_ARGSORT && !is_given(s, block, stmt);
        const uint32_t n = sorts ? few_elements(s, stmt->argsort.keys[0]) : MOST_SORTED + 1;
        const uint32_t keys = sorts && stmt->argsort.nkeys > 1 ? KEY * stmt->argsort.nkeys : 1;
        const uint32_t each = keys + 2 * stmt->nvars;
        if (n <= MOST_SORTED && n * (n - 1) / 2 * each <= MOST_EXCHANGED)
            emit_network(s, stmt, n);
        else
            core_push(s->b.p, block, stmt);
    }
    s->b.out = outer;
}

bool core_small_sorts(CoreProgram *p)
{
    bool any = false;
    for (uint32_t i = 0; i < p->fns.n; i++) {
        Arena *scratch = arena_create();
        CoreFn *fn = p->fns.at[i];
        Sorts s = {.b = {.p = p, .fn = fn}, .makers = core_makers_of(fn, scratch)};
        s.uses = arena_array(scratch, uint32_t, fn->vars.n + 1);
        core_block_atoms(fn->body, count_use, &s);
        sort_in_block(&s, fn->body);
        any |= s.any;
        arena_destroy(scratch);
    }
    return any;
}
