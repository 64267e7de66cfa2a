/* Lengths that are known from checks in front: of sequences with sizes in their types (elaborate_sizes.c), whose checks
 * have become reductions by now (lower_rows.c):
 *
 *     w = reduce (row <- xs) { m = length row; -> if m == n then -1 else m } max -1;  check w < 0
 *
 * Only such checks count as are neither in branches nor in loops: all that stands behind one runs only if it holds. So
 * a pass that asks has to have the statements behind what it is at work on still out of the function's body. */
#include "core/choose_lanes_internal.h"

/* DEPTH: of conditions' parts, and of arrays that others are parts of. */
enum { DEPTH = 8 };

/* Is `length` that of an element of `xs`, in the operation? */
static bool is_row_length(const CoreSoac *soac, CoreAtom length, CoreVar xs)
{
    const CoreStmt *s = core_block_def(soac->body, length);
    for (uint32_t i = 0; s && s->kind == CORE_LENGTH && i < soac->ninputs; i++)
        if (!s->length.array.is_const && s->length.array.var == soac->elements[i])
            return soac->inputs[i].var == xs;
    return false;
}

/* Does the reduction give -1 if all rows of xs have this length? */
static bool finds_other_lengths(const CoreStmt *s, CoreAtom wrong, CoreVar xs, CoreAtom *n)
{
    if (!s || s->kind != CORE_REDUCE || s->soac.guard)
        return false;
    const uint32_t k = core_stmt_result(s, wrong);
    const CoreStmt *which = core_as_prim(core_block_def(s->soac.body, s->soac.body->results[k]), PRIM_SELECT);
    const CoreStmt *equal = which ? core_as_prim(core_block_def(s->soac.body, which->prim.args[0]), PRIM_EQ) : NULL;
    if (!equal || core_op_part(&s->soac.op, k) != PRIM_MAX || !core_atom_equal(which->prim.args[1], core_i64(-1)))
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        *n = equal->prim.args[1 - i];
        if (is_row_length(&s->soac, equal->prim.args[i], xs) && !core_soac_binds(s, *n) &&
            core_atom_equal(which->prim.args[2], equal->prim.args[i])) /* at least 0 */
            return true;
    }
    return false;
}

/* Does the condition say so? */
static bool says_rows(const CoreBlock *body, CoreAtom cond, CoreVar xs, uint32_t depth, CoreAtom *n)
{
    const CoreStmt *s = core_block_def(body, cond);
    if (depth == 0 || !s || s->kind != CORE_PRIM)
        return false;
    if (s->prim.op == PRIM_AND)
        return says_rows(body, s->prim.args[0], xs, depth - 1, n) || says_rows(body, s->prim.args[1], xs, depth - 1, n);
    return s->prim.op == PRIM_LT && core_atom_equal(s->prim.args[1], core_i64(0)) &&
           finds_other_lengths(core_block_def(body, s->prim.args[0]), s->prim.args[0], xs, n);
}

static bool rows_checked(const CoreBlock *body, CoreVar xs, CoreAtom *n)
{
    for (uint32_t i = 0; i < body->stmts.n; i++) {
        const CoreStmt *s = body->stmts.at[i];
        if (s->kind == CORE_CHECK && says_rows(body, s->check.cond, xs, DEPTH, n))
            return true;
    }
    return false;
}

/* A variable that is its length. */
static bool length_taken(const CoreFn *fn, CoreAtom xs, CoreAtom *n)
{
    for (uint32_t i = 0; i < fn->body->stmts.n; i++) {
        const CoreStmt *s = fn->body->stmts.at[i];
        *n = core_var_atom(s->nvars ? s->vars[0] : 0, core_scalar(SC_I64));
        if (s->kind == CORE_LENGTH && core_atom_equal(s->length.array, xs))
            return true;
    }
    return false;
}

bool core_made_length(const CoreStmt *s, CoreAtom xs, uint32_t levels, CoreAtom *n)
{
    const CoreStmt *around[DEPTH];
    uint32_t depth = 0;
    for (; s && s->kind == CORE_MAP && !s->soac.guard && depth < DEPTH; levels--) {
        const uint32_t k = core_stmt_result(s, xs);
        *n = s->soac.domain;
        for (uint32_t i = 0; i < depth; i++)
            if (core_soac_binds(around[i], *n))
                return false;
        if (levels == 0)
            return true;
        around[depth++] = s;
        xs = s->soac.body->results[k];
        s = core_block_def(s->soac.body, xs);
    }
    return false;
}

static bool known_below(const CoreFn *fn, CoreAtom xs, uint32_t levels, uint32_t depth, CoreAtom *n)
{
    const CoreBlock *body = fn->body;
    if (xs.is_const || depth == 0)
        return false;
    const CoreStmt *part = core_fn_def(fn, xs);
    if (core_made_length(part, xs, levels, n) || (levels == 0 && length_taken(fn, xs, n)) ||
        (levels == 1 && rows_checked(body, xs.var, n)))
        return true;
    if (part && part->kind == CORE_ATOM)
        return known_below(fn, part->atom, levels, depth - 1, n);
    if (part && part->kind == CORE_INDEX)
        return known_below(fn, part->index.array, levels + 1, depth - 1, n);
    for (uint32_t i = 0; levels > 1 && i < body->stmts.n; i++) {
        const CoreStmt *s = body->stmts.at[i];
        if (s->kind == CORE_FLATTEN && core_atom_equal(s->length.array, xs) &&
            known_below(fn, core_var_atom(s->vars[0], core_var_type(fn, s->vars[0])), levels - 1, depth - 1, n))
            return true;
    }
    return false;
}

bool core_checked_length(const CoreFn *fn, CoreAtom xs, uint32_t levels, CoreAtom *n)
{
    return known_below(fn, xs, levels, DEPTH, n);
}
