/* Arrays of few numbers, made anew in parallel code, are their elements:
 *
 *     y = map 2 at i (a <- [p, q]) { B -> e }            ==>   y = array e0, e1              B for each position
 *     y = loop (x = xs) … { B -> array e0, e1 }          ==>   (y0, y1) = loop (x0 = xs[0], x1 = xs[1]) …
 *                                                                { x = array x0, x1; B -> e0, e1 };  y = array y0, y1
 *     y = if c then { A -> array d0, d1 } else { B -> xs }   ==>   … { A -> d0, d1 } else { B -> xs[0], xs[1] }; …
 *     y = reduce of such rows                                ==>   one of their elements, as tuples
 *
 * where it is known that xs has as many. What reads x at known positions reads variables then, and the array is made
 * only where it is wanted as a whole: so points that are written as arrays of three cost what triples do. An array that
 * rounds update, or a piece of, stays one. */
#include "core/build.h"
#include "core/simplify_internal.h"

#include <string.h>

/* MOST_STATEMENTS: of all copies of a map's body. */
enum { MOST_STATEMENTS = 96 };

/* ---- which ---- */

bool few_is(CoreAtom n, uint32_t *count)
{
    if (!n.is_const || n.bits == 0 || n.bits > MOST_FEW)
        return false;
    *count = (uint32_t)n.bits;
    return true;
}

bool few_is_numbers(const Simplifier *s, CoreVar v) { return core_var_type(s->fn, v).rank == 1; }

/* A map that gives numbers by scalar code. */
static bool few_in_map(Simplifier *s, const CoreStmt *stmt, uint32_t *count)
{
    bool ok = stmt->kind == CORE_MAP && !stmt->soac.guard && few_is(stmt->soac.domain, count) &&
              stmt->soac.body->stmts.n * *count <= MOST_STATEMENTS;
    for (uint32_t i = 0; ok && i < stmt->nvars; i++)
        ok = few_is_numbers(s, stmt->vars[i]);
    for (uint32_t i = 0; ok && i < stmt->soac.body->stmts.n; i++)
        ok = core_stmt_is_scalar(stmt->soac.body->stmts.at[i]);
    return ok;
}

/* How many elements it has, if the statement lists them; or makes them. */
static bool lists(const CoreStmt *def, uint32_t *count)
{
    return def && def->kind == CORE_ARRAY && few_is(core_i64(def->array.n), count);
}

static bool makes(Simplifier *s, const CoreStmt *def, uint32_t *count)
{
    return lists(def, count) || (def && few_in_map(s, def, count));
}

/* The same of a block's result. */
static bool lists_few(const CoreBlock *block, CoreAtom xs, uint32_t *count)
{
    return lists(core_block_def(block, xs), count);
}

static bool makes_few(Simplifier *s, const CoreBlock *block, CoreAtom xs, uint32_t *count)
{
    const CoreStmt *def = core_block_def(block, xs);
    if (def && def->kind == CORE_ARGSORT) /* few_sorts.c */
        return makes_few(s, block, def->argsort.keys[0], count);
    return makes(s, def, count);
}

static bool known_few(Simplifier *s, CoreAtom xs, uint32_t *count)
{
    CoreAtom n;
    return facts_length(s, xs, &n) && few_is(n, count);
}

/* ---- elements ---- */

const CoreAtom *few_at_position(Simplifier *s, CoreBuilder *b, CoreStmt *map, const CoreBlock *block, CoreAtom position)
{
    core_copy_map_note(&s->copied, s->fn, s->scratch);
    build_enter(b, &map->soac, position, s->copied.at);
    const CoreAtom *made = build_copy(b, s->fn, block, s->copied.at);
    core_copy_map_forget(&s->copied, s->fn, map);
    return made;
}

/* The elements of xs, which `def` binds, if that is known. */
static void emit_elements(Simplifier *s, CoreBuilder *b, const CoreStmt *def, CoreAtom xs, uint32_t count, CoreAtom *to)
{
    CoreStmt *map = def && def->kind == CORE_MAP ? (CoreStmt *)(uintptr_t)def : NULL;
    for (uint32_t i = 0; i < count; i++) {
        const CoreAtom at = core_i64(i);
        if (def && def->kind == CORE_ARRAY)
            to[i] = def->array.items[i];
        else if (map)
            to[i] = few_at_position(s, b, map, map->soac.body, at)[core_stmt_result(map, xs)];
        else
            to[i] = build_index(b, xs, at, CORE_NO_SITE);
    }
}

bool few_known(Simplifier *s, CoreAtom xs, uint32_t *count)
{
    const CoreStmt *def = facts_def(s, xs);
    return def && few_is_numbers(s, xs.var) && makes(s, def, count);
}

void few_elements_of(Simplifier *s, CoreBuilder *b, CoreAtom xs, uint32_t count, CoreAtom *to)
{
    emit_elements(s, b, facts_def(s, xs), xs, count, to);
}

/* The elements of a block's result, at the block's end. */
static void append_elements(Simplifier *s, CoreBlock *block, CoreAtom xs, uint32_t count, Span span, CoreAtom *to)
{
    CoreBuilder b = few_builder(s, block, span);
    emit_elements(s, &b, core_block_def(block, xs), xs, count, to);
}

CoreStmt *few_array_into(CoreBuilder *b, CoreVar v, const CoreAtom *items, uint32_t n)
{
    CoreStmt *array = build_stmt_into(b, CORE_ARRAY, 1, &v);
    array->array.items = build_atoms_copy(b, items, n, n);
    array->array.n = n;
    return array;
}

/* The array as items[i], …: entry i of an array of n becomes `by`, of k. */
static CoreAtom *spliced_atoms(CoreBuilder *b, const CoreAtom *at, uint32_t n, uint32_t i, const CoreAtom *by,
                               uint32_t k)
{
    CoreAtom *to = build_atoms_copy(b, at, n + k, i);
    memcpy(to + i, by, k * sizeof *by);
    memcpy(to + i + k, at + i + 1, (n - i - 1) * sizeof *at);
    return to;
}

static CoreVar *spliced_vars(CoreBuilder *b, const CoreVar *at, uint32_t n, uint32_t i, const CoreAtom *by, uint32_t k)
{
    CoreVar *to = build_vars_copy(b, at, n + k, i);
    for (uint32_t j = 0; j < k; j++)
        to[i + j] = by[j].var;
    memcpy(to + i + k, at + i + 1, (n - i - 1) * sizeof *at);
    return to;
}

static void new_elements(CoreBuilder *b, CoreVar array, uint32_t count, CoreAtom *to)
{
    for (uint32_t j = 0; j < count; j++)
        to[j] = build_var(b, core_element(core_var_type(b->fn, array)), NULL);
}

static void results_become(CoreBuilder *b, CoreBlock *block, uint32_t i, const CoreAtom *by, uint32_t count)
{
    block->results = spliced_atoms(b, block->results, block->nresults, i, by, count);
    block->nresults += count - 1;
}

/* ---- maps ---- */

bool few_map(Simplifier *s, CoreStmt *stmt)
{
    uint32_t count;
    bool known = false;
    if (!s->few || s->nest == 0 || !few_in_map(s, stmt, &count))
        return false;
    for (uint32_t i = 0; i < stmt->soac.ninputs && !known; i++) {
        const CoreStmt *def = facts_def(s, stmt->soac.inputs[i]);
        for (uint32_t j = 0; def && def->kind == CORE_ARRAY && j < def->array.n; j++)
            known |= !def->array.items[j].is_const; /* a table of constants is as good as it is */
    }
    if (!known)
        return false;
    CoreBlock *made = arena_new(s->p->arena, CoreBlock);
    CoreBuilder b = few_builder(s, made, stmt->span);
    CoreAtom(*items)[MOST_FEW] = arena_alloc(s->scratch, (stmt->nvars + 1) * sizeof *items);
    for (uint32_t j = 0; j < count; j++) {
        const CoreAtom *at = few_at_position(s, &b, stmt, stmt->soac.body, core_i64(j));
        for (uint32_t i = 0; i < stmt->nvars; i++)
            items[i][j] = at[i];
    }
    for (uint32_t i = 0; i < stmt->nvars; i++)
        core_push(s->p, made, few_array_into(&b, stmt->vars[i], items[i], count));
    simplify_again(s, made);
    s->rewritten = true;
    return true;
}

/* The state's array, in a block of the loop, of its elements. */
static void put_array(CoreBuilder *b, CoreBlock *block, CoreVar array, const CoreAtom *items, uint32_t count)
{
    CoreBlock old = core_take_stmts(block);
    core_push(b->p, block, few_array_into(b, array, items, count));
    for (uint32_t i = 0; i < old.stmts.n; i++)
        core_push(b->p, block, old.stmts.at[i]);
}

/* ---- loops ---- */

typedef struct Renamed {
    CoreVar from;
    CoreAtom to;
} Renamed;

static void rename_atom(void *ctx, CoreAtom *a)
{
    const Renamed *r = ctx;
    if (!a->is_const && a->var == r->from)
        *a = r->to;
}

static CoreStmt *loop_state(Simplifier *s, CoreStmt *stmt, uint32_t i, uint32_t count)
{
    CoreBuilder b = few_builder(s, s->out, stmt->span);
    const CoreVar param = stmt->loop.params[i];
    CoreAtom inits[MOST_FEW], params[MOST_FEW], next[MOST_FEW], made[MOST_FEW];
    for (uint32_t j = 0; j < count; j++)
        inits[j] = simplify_emit_index(s, stmt->span, stmt->loop.inits[i], core_i64(j));
    new_elements(&b, param, count, params);
    new_elements(&b, param, count, made);
    append_elements(s, stmt->loop.body, stmt->loop.body->results[i], count, stmt->span, next);
    results_become(&b, stmt->loop.body, i, next, count);
    put_array(&b, stmt->loop.body, param, params, count);
    if (stmt->loop.cond) {
        Renamed r = {param, build_var(&b, core_var_type(s->fn, param), NULL)};
        core_block_atoms(stmt->loop.cond, rename_atom, &r);
        put_array(&b, stmt->loop.cond, r.to.var, params, count);
    }
    CoreStmt *array = few_array_into(&b, stmt->vars[i], made, count);
    stmt->loop.inits = spliced_atoms(&b, stmt->loop.inits, stmt->loop.nparams, i, inits, count);
    stmt->loop.params = spliced_vars(&b, stmt->loop.params, stmt->loop.nparams, i, params, count);
    stmt->vars = spliced_vars(&b, stmt->vars, stmt->nvars, i, made, count);
    stmt->loop.nparams += count - 1;
    stmt->nvars += count - 1;
    return array;
}

void few_loop(Simplifier *s, CoreStmt *stmt, CoreBlock *after)
{
    uint32_t count, begin;
    for (uint32_t i = 0; s->few && s->nest > 0 && i < stmt->loop.nparams; i++) {
        if (!few_is_numbers(s, stmt->loop.params[i]) ||
            !makes_few(s, stmt->loop.body, stmt->loop.body->results[i], &count) ||
            !known_few(s, stmt->loop.inits[i], &begin) || begin != count)
            continue;
        core_push(s->p, after, loop_state(s, stmt, i, count));
        s->rewritten = true;
        i += count - 1;
    }
}

/* ---- reductions ---- */

/* How long each row is that the operation's body gives. */
static bool row_length(Simplifier *s, CoreAtom row, CoreAtom *n)
{
    return !row.is_const && rows_shape_length(s, facts_of(s, row.var)->as_rows, n);
}

/* Has the operator's result so many elements, if all its operands are as long as their neutral ones? */
static bool keeps_few(Simplifier *s, const CoreSoac *soac, CoreAtom xs, uint32_t count)
{
    uint32_t is;
    const CoreLambda *op = &soac->op;
    const CoreStmt *def = core_block_def(op->body, xs);
    if (lists_few(op->body, xs, &is))
        return is == count;
    for (uint32_t i = 0; def && def->kind == CORE_MAP && !def->soac.guard && i < def->soac.ninputs; i++)
        for (uint32_t j = 0; j < op->nparams; j++)
            if (def->soac.inputs[i].var == op->params[j])
                return known_few(s, soac->neutral[j % (op->nparams / 2)], &is) && is == count;
    return false;
}

void few_operands(Simplifier *s, const CoreStmt *stmt)
{
    const CoreSoac *soac = &stmt->soac;
    uint32_t all = 0, count, row;
    CoreAtom n;
    if (!s->few || s->nest == 0 || stmt->kind != CORE_REDUCE)
        return;
    for (uint32_t i = 0; i < stmt->nvars; i++) {
        if (core_var_type(s->fn, stmt->vars[i]).rank == 0)
            continue;
        if (!few_is_numbers(s, stmt->vars[i]) || !known_few(s, soac->neutral[i], &count) ||
            !row_length(s, soac->body->results[i], &n) || !few_is(n, &row) || row != count ||
            !keeps_few(s, soac, soac->op.body->results[i], count))
            return;
        all += count;
    }
    for (uint32_t i = 0; i < 2 * stmt->nvars && all <= MOST_FEW; i++) {
        const CoreVar operand = soac->op.params[i];
        if (few_is_numbers(s, operand) && known_few(s, soac->neutral[i % stmt->nvars], &count))
            facts_learn_length(s, core_var_atom(operand, core_var_type(s->fn, operand)), core_i64(count));
    }
}

static CoreStmt *reduced(Simplifier *s, CoreStmt *stmt, uint32_t i, uint32_t count)
{
    CoreSoac *soac = &stmt->soac;
    CoreLambda *op = &soac->op;
    CoreBuilder b = few_builder(s, s->out, stmt->span);
    CoreAtom neutral[MOST_FEW], operands[2][MOST_FEW], items[MOST_FEW], made[MOST_FEW];
    for (uint32_t j = 0; j < count; j++)
        neutral[j] = simplify_emit_index(s, stmt->span, soac->neutral[i], core_i64(j));
    append_elements(s, soac->body, soac->body->results[i], count, stmt->span, items);
    results_become(&b, soac->body, i, items, count);
    append_elements(s, op->body, op->body->results[i], count, stmt->span, items);
    results_become(&b, op->body, i, items, count);
    for (uint32_t k = 2; k-- > 0;) {
        const uint32_t at = k * stmt->nvars + i;
        new_elements(&b, op->params[at], count, operands[k]);
        put_array(&b, op->body, op->params[at], operands[k], count);
        op->params = spliced_vars(&b, op->params, op->nparams, at, operands[k], count);
        op->nparams += count - 1;
    }
    new_elements(&b, stmt->vars[i], count, made);
    CoreStmt *array = few_array_into(&b, stmt->vars[i], made, count);
    soac->neutral = spliced_atoms(&b, soac->neutral, stmt->nvars, i, neutral, count);
    stmt->vars = spliced_vars(&b, stmt->vars, stmt->nvars, i, made, count);
    stmt->nvars += count - 1;
    return array;
}

void few_reduce(Simplifier *s, CoreStmt *stmt, CoreBlock *after)
{
    uint32_t count;
    for (uint32_t i = 0; s->few && s->nest > 0 && stmt->kind == CORE_REDUCE && i < stmt->nvars; i++) {
        const CoreAtom operand = core_var_atom(stmt->soac.op.params[i], core_var_type(s->fn, stmt->soac.op.params[i]));
        if (!few_is_numbers(s, stmt->vars[i]) || !known_few(s, operand, &count))
            continue;
        core_push(s->p, after, reduced(s, stmt, i, count));
        s->rewritten = true;
        i += count - 1;
    }
}

bool few_columns(Simplifier *s, CoreStmt *stmt)
{
    CoreAtom n, other;
    if (!s->few || stmt->kind != CORE_REDUCE || !facts_length(s, stmt->soac.neutral[0], &n))
        return false;
    for (uint32_t i = 0; i < stmt->nvars; i++) {
        if (core_var_type(s->fn, stmt->vars[i]).rank + s->nest < 2 || !facts_length(s, stmt->soac.neutral[i], &other) ||
            !core_atom_equal(n, other) || !row_length(s, stmt->soac.body->results[i], &other) ||
            !core_atom_equal(n, other))
            return false;
    }
    CoreBlock *made = arena_new(s->p->arena, CoreBlock);
    if (!core_of_columns(s->p, s->fn, stmt, n, made))
        return false;
    simplify_again(s, made);
    s->rewritten = true;
    return true;
}

/* ---- branches ---- */

/* Has the branch's result so many elements? */
static bool gives_few(Simplifier *s, const CoreBlock *branch, CoreAtom xs, uint32_t count)
{
    uint32_t is;
    return (core_block_def(branch, xs) ? makes_few(s, branch, xs, &is) : known_few(s, xs, &is)) && is == count;
}

void few_if(Simplifier *s, CoreStmt *stmt, CoreBlock *after)
{
    CoreBlock *a = stmt->if_.then_b, *b = stmt->if_.else_b;
    CoreBuilder builds = few_builder(s, s->out, stmt->span);
    for (uint32_t i = 0; s->few && s->nest > 0 && i < stmt->nvars; i++) {
        uint32_t count;
        if (!few_is_numbers(s, stmt->vars[i]) ||
            (!lists_few(a, a->results[i], &count) && !lists_few(b, b->results[i], &count)) ||
            !gives_few(s, a, a->results[i], count) || !gives_few(s, b, b->results[i], count))
            continue;
        CoreAtom items[MOST_FEW];
        append_elements(s, a, a->results[i], count, stmt->span, items);
        results_become(&builds, a, i, items, count);
        append_elements(s, b, b->results[i], count, stmt->span, items);
        results_become(&builds, b, i, items, count);
        new_elements(&builds, stmt->vars[i], count, items);
        core_push(s->p, after, few_array_into(&builds, stmt->vars[i], items, count));
        stmt->vars = spliced_vars(&builds, stmt->vars, stmt->nvars, i, items, count);
        stmt->nvars += count - 1;
        s->rewritten = true;
        i += count - 1;
    }
}
