/* Rules for operations on sequences: lengths that are known, elements that are known, bounds that hold. */
#include "core/simplify_internal.h"

enum { MOST_STEPS = 2 }; /* from + i * step */

static bool found(CoreAtom *out, CoreAtom a)
{
    *out = a;
    return true;
}

/* ---- length ---- */

static const CoreAtom *operands(const CoreStmt *s, uint32_t *n)
{
    return core_field_atoms(s, core_kind(s->kind)->fields, n);
}

/* Updating keeps the length: of which sequence is it asked in the end? */
static bool same_length_as(const CoreStmt *def, CoreVar v, CoreAtom *other)
{
    uint32_t n;
    CoreLength length = core_kind(def->kind)->length;
    if (length == LENGTH_OPERAND)
        return found(other, operands(def, &n)[0]);
    for (uint32_t i = 0; length == LENGTH_DESTS && i < def->nvars; i++)
        if (def->vars[i] == v)
            return found(other, def->soac.dests[i]);
    return false;
}

/* The length of xs[0:n], and of xs[a:a+n]. */
static bool slice_length(Simplifier *s, const CoreStmt *slice, CoreAtom *n)
{
    CoreAtom from = facts_resolve(s, slice->slice.from), to = facts_resolve(s, slice->slice.to);
    const CoreStmt *sum = facts_def(s, to);
    if (atom_is(from, 0))
        return found(n, to);
    if (!sum || sum->kind != CORE_PRIM || sum->prim.op != PRIM_ADD)
        return false;
    CoreAtom a = facts_resolve(s, sum->prim.args[0]), b = facts_resolve(s, sum->prim.args[1]);
    return (core_atom_equal(a, from) && found(n, b)) || (core_atom_equal(b, from) && found(n, a));
}

static bool choice_length(Simplifier *s, const CoreStmt *stmt, CoreAtom *n)
{
    if (stmt->kind != CORE_PRIM || stmt->prim.op != PRIM_SELECT)
        return false;
    const RowFacts *x = rows_shape(s, stmt->prim.args[1]), *y = rows_shape(s, stmt->prim.args[2]);
    return rows_shape_length(s, rows_common(s, x, y), n);
}

bool result_length(Simplifier *s, const CoreStmt *stmt, CoreVar v, CoreAtom *n)
{
    CoreAtom other;
    uint32_t items;
    switch (core_kind(stmt->kind)->length) {
    case LENGTH_DOMAIN: return !stmt->soac.guard && found(n, stmt->soac.domain);
    case LENGTH_SIZE: return found(n, stmt->soac.size);
    case LENGTH_ITEMS: operands(stmt, &items); return found(n, core_i64(items));
    case LENGTH_SLICE: return slice_length(s, stmt, n);
    case LENGTH_OPERAND:
    case LENGTH_DESTS: return same_length_as(stmt, v, &other) && facts_length(s, facts_resolve(s, other), n);
    case LENGTH_UNKNOWN: return choice_length(s, stmt, n);
    }
    return false;
}

static bool simplify_length(Simplifier *s, CoreStmt *stmt, CoreAtom *out)
{
    CoreAtom xs = stmt->length.array, other, n;
    if (facts_length(s, xs, &n))
        return found(out, n);
    const CoreStmt *def = facts_def(s, xs);
    while (def && same_length_as(def, xs.var, &other)) {
        xs = stmt->length.array = facts_resolve(s, other);
        s->changed = true;
        if (facts_length(s, xs, &n))
            return found(out, n);
        def = facts_def(s, xs);
    }
    if (def && def->kind == CORE_SLICE) { /* to - from */
        CoreAtom from = facts_resolve(s, def->slice.from), to = facts_resolve(s, def->slice.to);
        found(out, simplify_emit_prim(s, stmt->span, PRIM_SUB, to, from));
        facts_learn_length(s, xs, *out);
        return true;
    }
    return false;
}

/* ---- index ---- */

/* The element of a literal, or of the sequence before an update elsewhere. */
static bool index_of_known(Simplifier *s, CoreStmt *stmt, CoreAtom *out)
{
    CoreAtom i = stmt->index.index;
    const CoreStmt *def = facts_def(s, stmt->index.array);
    while (def && def->kind == CORE_UPDATE) {
        CoreAtom at = facts_resolve(s, def->update.index);
        if (core_atom_equal(at, i)) /* the update has checked it */
            return found(out, facts_resolve(s, def->update.value));
        if (!at.is_const || !i.is_const)
            return false;
        stmt->index.array = facts_resolve(s, def->update.array);
        s->changed = true;
        def = facts_def(s, stmt->index.array);
    }
    if (def && def->kind == CORE_ARRAY && i.is_const && i.bits < def->array.n)
        return found(out, facts_resolve(s, def->array.items[i.bits]));
    return false;
}

/* xs[a:b][i] = xs[a + i] where i is known to be in bounds. */
static void index_of_slice(Simplifier *s, CoreStmt *stmt)
{
    const CoreStmt *def = facts_def(s, stmt->index.array);
    if (!def || def->kind != CORE_SLICE || stmt->site != CORE_NO_SITE)
        return;
    CoreAtom from = facts_resolve(s, def->slice.from);
    stmt->index.index = simplify_emit_prim(s, stmt->span, PRIM_ADD, from, stmt->index.index);
    stmt->index.array = facts_resolve(s, def->slice.array);
    s->changed = true;
}

/* What stands for it, if it is one of these variables. */
static CoreAtom range_atom(Simplifier *s, CoreAtom a, const CoreVar *vars, const CoreAtom *values, uint32_t n)
{
    for (uint32_t i = 0; i < n && !a.is_const; i++)
        if (a.var == vars[i])
            return values[i];
    return facts_resolve(s, a);
}

static bool is_step(const CoreStmt *s)
{
    return s->kind == CORE_PRIM && (s->prim.op == PRIM_ADD || s->prim.op == PRIM_SUB || s->prim.op == PRIM_MUL);
}

/* The element of a range, map n at i { -> from + i * step }, where i is known to be in bounds. */
static bool index_of_range(Simplifier *s, CoreStmt *stmt, CoreAtom *out)
{
    const CoreStmt *def = facts_def(s, stmt->index.array);
    if (!def || def->kind != CORE_MAP || def->nvars != 1 || def->soac.guard || def->soac.ninputs > 0 ||
        def->soac.index == CORE_NO_VAR || stmt->site != CORE_NO_SITE || def->soac.body->stmts.n > MOST_STEPS)
        return false;
    const CoreBlock *body = def->soac.body;
    CoreAtom values[MOST_STEPS + 1] = {stmt->index.index};
    CoreVar vars[MOST_STEPS + 1] = {def->soac.index};
    for (uint32_t i = 0; i < body->stmts.n; i++)
        if (!is_step(body->stmts.at[i]))
            return false;
    for (uint32_t i = 0; i < body->stmts.n; i++) {
        const CoreStmt *step = body->stmts.at[i];
        CoreAtom args[] = {range_atom(s, step->prim.args[0], vars, values, i + 1),
                           range_atom(s, step->prim.args[1], vars, values, i + 1)};
        vars[i + 1] = step->vars[0];
        values[i + 1] = simplify_emit_prim(s, stmt->span, step->prim.op, args[0], args[1]);
    }
    return found(out, range_atom(s, body->results[0], vars, values, body->stmts.n + 1));
}

static bool simplify_index(Simplifier *s, CoreStmt *stmt, CoreAtom *out)
{
    CoreAtom n;
    if (index_of_known(s, stmt, out) || index_of_range(s, stmt, out))
        return true;
    if (stmt->site != CORE_NO_SITE && facts_length(s, stmt->index.array, &n) &&
        order_in_bounds(s, stmt->index.index, n)) {
        stmt->site = CORE_NO_SITE;
        s->changed = true;
    }
    index_of_slice(s, stmt);
    return false;
}

/* ---- slice, flatten ---- */

static bool simplify_slice(Simplifier *s, CoreStmt *stmt, CoreAtom *out)
{
    CoreAtom n, from = stmt->slice.from, to = stmt->slice.to;
    if (!facts_length(s, stmt->slice.array, &n))
        return false;
    if (atom_is(from, 0) && core_atom_equal(to, n))
        return found(out, stmt->slice.array);
    if (stmt->site != CORE_NO_SITE && order_not_negative(s, from) && order_at_most(s, from, to) &&
        order_at_most(s, to, n)) {
        stmt->site = CORE_NO_SITE;
        s->changed = true;
    }
    return false;
}

static bool simplify_update(Simplifier *s, CoreStmt *stmt, CoreAtom *out)
{
    CoreAtom n;
    const CoreStmt *value = facts_def(s, stmt->update.value);
    if (value && value->kind == CORE_INDEX && core_atom_equal(value->index.array, stmt->update.array) &&
        core_atom_equal(value->index.index, stmt->update.index)) /* what is there; the index has been checked */
        return found(out, stmt->update.array);
    if (stmt->update.holds || !facts_length(s, stmt->update.array, &n) || !order_in_bounds(s, stmt->update.index, n))
        return false;
    stmt->update.holds = true;
    stmt->site = CORE_NO_SITE;
    s->changed = true;
    return false;
}

/* flatten [xs] = xs */
static bool simplify_flatten(Simplifier *s, CoreStmt *stmt, CoreAtom *out)
{
    const CoreStmt *def = facts_def(s, stmt->length.array);
    if (def && def->kind == CORE_ARRAY && def->array.n == 1)
        return found(out, facts_resolve(s, def->array.items[0]));
    return simplify_small_nest(s, stmt, out);
}

bool simplify_seq(Simplifier *s, CoreStmt *stmt, CoreAtom *out)
{
    switch (stmt->kind) {
    case CORE_LENGTH: return simplify_length(s, stmt, out);
    case CORE_INDEX: return simplify_index(s, stmt, out);
    case CORE_SLICE: return simplify_slice(s, stmt, out);
    case CORE_UPDATE: return simplify_update(s, stmt, out);
    case CORE_FLATTEN: return simplify_flatten(s, stmt, out);
    case CORE_CHECK_ROWS: return rows_simplify_check(s, stmt, out);
    default: return false;
    }
}
