/* What is known of the lengths of rows: the elements of a sequence of sequences.
 *
 *     xss = map n at i { row = map m at j { … } -> row }      -- m from outside: all rows have length m
 *     row <- xss, or xss[i]                                    -- has length m
 *     check that all rows of xss have length m                 -- from there on they have
 *
 * So the sizes of `[n][m]t` are proved where they can be, and a loop over a row has a length from outside: a regular
 * dimension. Of an `if` is known what both branches give, of a loop what its rounds keep (loop_shapes.c), nothing of
 * calls' results.
 *
 * The shape of a value is what would be known of it as an element: its length, and its rows'. */
#include "core/simplify_internal.h"

/* Of a sequence's elements, and of theirs. */
struct RowFacts {
    bool known;
    CoreAtom length;
    const RowFacts *below;
};

static const RowFacts *new_rows(Simplifier *s, bool known, CoreAtom length, const RowFacts *below)
{
    if (!known && !below)
        return NULL;
    RowFacts *r = arena_new(s->scratch, RowFacts);
    *r = (RowFacts){known, length, below};
    return r;
}

static const RowFacts *rows_of(Simplifier *s, CoreAtom xs) { return xs.is_const ? NULL : facts_of(s, xs.var)->rows; }

/* ---- elements ---- */

void rows_bind_element(Simplifier *s, CoreVar element, CoreAtom xs)
{
    const RowFacts *rows = rows_of(s, xs);
    if (!rows)
        return;
    if (rows->known)
        facts_learn_length(s, core_var_atom(element, core_var_type(s->fn, element)), rows->length);
    facts_of(s, element)->rows = rows->below;
}

/* ---- shapes ---- */

const RowFacts *rows_shape(Simplifier *s, CoreAtom xs)
{
    CoreAtom n = core_i64(0);
    const bool known = core_atom_type(s->fn, xs).rank > 0 && facts_length(s, xs, &n);
    return new_rows(s, known, n, rows_of(s, xs));
}

static bool same_length(Simplifier *s, const RowFacts *x, const RowFacts *y)
{
    return x->known && y->known && core_atom_equal(facts_resolve(s, x->length), facts_resolve(s, y->length));
}

const RowFacts *rows_common(Simplifier *s, const RowFacts *x, const RowFacts *y)
{
    if (!x || !y)
        return NULL;
    return new_rows(s, same_length(s, x, y), x->length, rows_common(s, x->below, y->below));
}

bool rows_know_as_much(const RowFacts *x, const RowFacts *y)
{
    for (; y; x = x ? x->below : NULL, y = y->below)
        if (y->known && (!x || !x->known))
            return false;
    return true;
}

void rows_learn_shape(Simplifier *s, CoreVar v, const RowFacts *shape)
{
    if (shape && shape->known)
        facts_learn_length(s, core_var_atom(v, core_var_type(s->fn, v)), shape->length);
    if (shape && shape->below)
        facts_learn_rows(s, v, shape->below);
}

bool rows_shape_length(Simplifier *s, const RowFacts *shape, CoreAtom *n)
{
    if (shape && shape->known)
        *n = facts_resolve(s, shape->length);
    return shape && shape->known;
}

/* ---- results ---- */

static const RowFacts *rows_of_items(Simplifier *s, const CoreStmt *stmt)
{
    const RowFacts *all = stmt->array.n ? rows_shape(s, stmt->array.items[0]) : NULL;
    for (uint32_t i = 1; i < stmt->array.n; i++)
        all = rows_common(s, all, rows_shape(s, stmt->array.items[i]));
    return all;
}

/* Of what a map's body, or a scatter's, gives. */
static const RowFacts *rows_of_body(Simplifier *s, CoreAtom r)
{
    return r.is_const ? NULL : facts_of(s, r.var)->as_rows;
}

static const RowFacts *rows_of_result(Simplifier *s, const CoreStmt *stmt, uint32_t i)
{
    const RowFacts *rows;
    switch (stmt->kind) {
    case CORE_PRIM:
        if (stmt->prim.op != PRIM_SELECT)
            return NULL;
        return rows_common(s, rows_of(s, stmt->prim.args[1]), rows_of(s, stmt->prim.args[2]));
    case CORE_UPDATE: return rows_common(s, rows_of(s, stmt->update.array), rows_shape(s, stmt->update.value));
    case CORE_SCATTER:
        rows = rows_of_body(s, stmt->soac.body->results[i + 1]);
        return rows_common(s, rows_of(s, stmt->soac.dests[i]), rows);
    case CORE_SLICE: return rows_of(s, stmt->slice.array);
    case CORE_ARRAY: return rows_of_items(s, stmt);
    case CORE_FLATTEN: rows = rows_of(s, stmt->length.array); return rows ? rows->below : NULL;
    case CORE_MAP: return rows_of_body(s, stmt->soac.body->results[i]);
    default: return NULL;
    }
}

void rows_bind_results(Simplifier *s, const CoreStmt *stmt)
{
    if (stmt->kind == CORE_INDEX)
        rows_bind_element(s, stmt->vars[0], stmt->index.array);
    for (uint32_t i = 0; stmt->kind != CORE_INDEX && i < stmt->nvars; i++) {
        const RowFacts *rows = rows_of_result(s, stmt, i);
        facts_of(s, stmt->vars[i])->rows = rows;
    }
}

/* ---- leaving a block ---- */

/* Known outside, where the variables bound so far have smaller numbers than `first`? */
static bool is_from_outside(Simplifier *s, CoreAtom a, uint32_t first)
{
    return a.is_const || facts_of(s, a.var)->order < first;
}

/* The part of the facts that only speaks of outer variables. */
static const RowFacts *rows_outside(Simplifier *s, const RowFacts *rows, uint32_t first)
{
    if (!rows)
        return NULL;
    bool known = rows->known && is_from_outside(s, rows->length, first);
    return new_rows(s, known, rows->length, rows_outside(s, rows->below, first));
}

RowsLeaving rows_leave(Simplifier *s, const CoreBlock *body, uint32_t first)
{
    const RowFacts **rows = arena_array(s->scratch, const RowFacts *, body->nresults + 1);
    for (uint32_t i = 0; i < body->nresults; i++) {
        CoreAtom r = body->results[i], n = core_i64(0);
        bool known = core_atom_type(s->fn, r).rank > 0 && facts_length(s, r, &n) && is_from_outside(s, n, first);
        rows[i] = new_rows(s, known, n, rows_outside(s, rows_of(s, r), first));
    }
    return rows;
}

void rows_left(Simplifier *s, const CoreBlock *body, RowsLeaving rows)
{
    for (uint32_t i = 0; i < body->nresults; i++)
        if (!body->results[i].is_const)
            facts_of(s, body->results[i].var)->as_rows = rows[i];
}

/* ---- checks of all rows ---- */

static const RowFacts *with_length(Simplifier *s, const RowFacts *rows, uint32_t depth, CoreAtom size)
{
    const RowFacts *below = rows ? rows->below : NULL;
    if (depth > 1)
        return new_rows(s, rows && rows->known, rows ? rows->length : size, with_length(s, below, depth - 1, size));
    return new_rows(s, true, size, below);
}

void rows_learn_check(Simplifier *s, CoreAtom cond)
{
    const CoreStmt *less = facts_def(s, cond);
    if (!less || less->kind != CORE_PRIM || less->prim.op != PRIM_LT ||
        !atom_is(facts_resolve(s, less->prim.args[1]), 0))
        return;
    const CoreStmt *check = facts_def(s, facts_resolve(s, less->prim.args[0]));
    if (!check || check->kind != CORE_CHECK_ROWS || check->rows.nargs > 2)
        return;
    CoreAtom xs = facts_resolve(s, check->rows.args[0]), size = facts_resolve(s, check->rows.args[1]);
    if (!xs.is_const && check->rows.depth > 0)
        facts_learn_rows(s, xs.var, with_length(s, rows_of(s, xs), check->rows.depth, size));
}

static CoreAtom and_some(Simplifier *s, Span span, CoreAtom some, CoreAtom n)
{
    return simplify_emit_prim(s, span, PRIM_AND, some, simplify_emit_prim(s, span, PRIM_LT, core_i64(0), n));
}

bool rows_simplify_check(Simplifier *s, const CoreStmt *stmt, CoreAtom *out)
{
    CoreAtom n, size = stmt->rows.args[1], some = core_const(SC_BOOL, 1), none = core_i64(-1);
    const RowFacts *rows = rows_of(s, stmt->rows.args[0]);
    if (stmt->rows.nargs > 2 || stmt->rows.depth == 0)
        return false;
    for (uint32_t k = 1; k < stmt->rows.depth && rows; k++)
        rows = rows->below;
    if (rows && rows->known && core_atom_equal(facts_resolve(s, rows->length), size)) {
        *out = none;
        return true;
    }
    rows = rows_of(s, stmt->rows.args[0]);
    for (uint32_t k = 1; k < stmt->rows.depth && rows && rows->known; k++)
        rows = rows->below;
    if (!rows || !rows->known || !facts_length(s, stmt->rows.args[0], &n))
        return false;
    CoreAtom length = facts_resolve(s, rows->length);
    rows = rows_of(s, stmt->rows.args[0]);
    for (uint32_t k = 0; k < stmt->rows.depth; k++) {
        some = and_some(s, stmt->span, some, n);
        n = facts_resolve(s, rows->length);
        rows = rows->below;
    }
    CoreAtom right = simplify_emit_prim(s, stmt->span, PRIM_EQ, length, size);
    CoreAtom wrong = simplify_emit_select(s, stmt->span, right, none, length);
    *out = simplify_emit_select(s, stmt->span, some, wrong, none);
    return true;
}
