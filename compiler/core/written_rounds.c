/* Operations over few known positions are written out, a round for each:
 *
 *     s = reduce 3 (a <- [-1, 0, 1]) { i = add p, a; … index xs, i … }
 *     s = loop (s = 0) for k < 3 { i = add p, k; … index xs, i … }
 *   ==>
 *     i0 = add p, -1; … index xs, i0 …;  … index xs, p …;  i1 = add p, 1; … index xs, i1 …
 *
 *     ys = map 3 (a <- [-1, 0, 1]) guard { a != 0 } { -> a }   ==>   ys = array -1, 1
 *
 * in parallel code, where they only read and compute: what is read then lies at places that differ by constants, and
 * needs no loop in each lane. So sums over lists of offsets, loops over an element's neighbours and neighbours written
 * one by one are the same. */
#include "core/build.h"
#include "core/simplify_internal.h"

/* MOST_WRITTEN: statements of all rounds; MOST_STATEMENTS: of reductions of few numbers. MOST_KNOWN: a round's
 * constants. */
enum { MOST_STATEMENTS = 96, MOST_ROUNDS = 64, MOST_WRITTEN = 480, MOST_KNOWN = 48 };

/* ---- rounds ---- */

/* One of a reduction's or loop's rounds, for a known position. */
typedef struct Round {
    CoreVar known[MOST_KNOWN]; /* constants then */
    uint32_t nknown;
    uint32_t n; /* statements that are left */
    bool reads; /* elements */
} Round;

static bool is_known(const Round *r, CoreAtom a)
{
    bool known = a.is_const;
    for (uint32_t i = 0; !known && i < r->nknown; i++)
        known = r->known[i] == a.var;
    return known;
}

static void know(Round *r, CoreVar v)
{
    if (r->nknown < MOST_KNOWN)
        r->known[r->nknown++] = v;
}

static bool folds(const Round *r, const CoreStmt *s)
{
    bool all = s->kind == CORE_PRIM && s->site == CORE_NO_SITE;
    for (uint32_t i = 0; all && i < s->prim.nargs; i++)
        all = is_known(r, s->prim.args[i]);
    return all;
}

/* Only reads and computes? */
static bool enter_round(Round *r, const CoreBlock *b)
{
    bool only = true;
    for (uint32_t i = 0; only && i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        if (folds(r, s)) {
            know(r, s->vars[0]);
            continue;
        }
        r->n++;
        r->reads |= s->kind == CORE_INDEX;
        if (s->kind == CORE_IF)
            only = enter_round(r, s->if_.then_b) && enter_round(r, s->if_.else_b);
        else
            only = s->kind == CORE_PRIM || s->kind == CORE_INDEX || s->kind == CORE_LENGTH || s->kind == CORE_CHECK;
    }
    return only;
}

static bool are_few(const Round *r, CoreAtom count)
{
    return count.is_const && count.bits > 0 && count.bits <= MOST_ROUNDS && r->n * count.bits <= MOST_WRITTEN;
}

/* The position is known, and elements of literals of constants; false: there are others. */
static bool know_elements(Simplifier *s, Round *r, const CoreSoac *soac)
{
    bool all = soac->ninputs < MOST_KNOWN;
    if (soac->index != CORE_NO_VAR)
        know(r, soac->index);
    for (uint32_t i = 0; all && i < soac->ninputs; i++) {
        const CoreStmt *def = facts_def(s, soac->inputs[i]);
        all = def && def->kind == CORE_ARRAY;
        for (uint32_t k = 0; all && k < def->array.n; k++)
            all = facts_resolve(s, def->array.items[k]).is_const;
        know(r, soac->elements[i]);
    }
    return all;
}

/* Over positions or literals of constants, such as the offsets of an element's neighbours: written out, the places that
 * are read differ by constants. */
static bool over_constants(Simplifier *s, const CoreSoac *soac)
{
    Round r = {.n = soac->op.body->stmts.n};
    return core_block_is_scalar(soac->op.body) && know_elements(s, &r, soac) && enter_round(&r, soac->body) &&
           are_few(&r, soac->domain);
}

/* The statement is what was made of its rounds. */
static void become(Simplifier *s, const CoreStmt *stmt, CoreBlock *made, const CoreAtom *results)
{
    simplify_again(s, made);
    for (uint32_t i = 0; i < stmt->nvars; i++)
        facts_replace(s, stmt->vars[i], facts_resolve(s, results[i]));
    s->rewritten = true;
}

/* ---- filters of constants ---- */
bool written_filter(Simplifier *s, CoreStmt *stmt)
{
    Round r = {.n = 0};
    const CoreSoac *soac = &stmt->soac;
    if (!s->few || !soac->guard || !know_elements(s, &r, soac) || !enter_round(&r, soac->guard) ||
        !enter_round(&r, soac->body) || r.n > 0 || !are_few(&r, soac->domain))
        return false;
    CoreBlock *made = arena_new(s->p->arena, CoreBlock);
    CoreBuilder b = few_builder(s, made, stmt->span);
    CoreAtom(*items)[MOST_ROUNDS] = arena_alloc(s->scratch, (stmt->nvars + 1) * sizeof *items);
    uint32_t kept = 0;
    for (uint32_t j = 0; j < soac->domain.bits; j++) {
        const CoreAtom *keeps = few_at_position(s, &b, stmt, soac->guard, core_i64(j));
        simplify_again(s, made);
        made->stmts.n = 0;
        if (!facts_resolve(s, keeps[0]).is_const)
            return false;
        if (facts_resolve(s, keeps[0]).bits == 0)
            continue;
        const CoreAtom *at = few_at_position(s, &b, stmt, soac->body, core_i64(j));
        simplify_again(s, made);
        made->stmts.n = 0;
        for (uint32_t i = 0; i < stmt->nvars; i++)
            items[i][kept] = facts_resolve(s, at[i]);
        kept++;
    }
    for (uint32_t i = 0; i < stmt->nvars; i++)
        core_push(s->p, made, few_array_into(&b, stmt->vars[i], items[i], kept));
    simplify_again(s, made);
    s->rewritten = true;
    return true;
}

/* ---- reductions: over constants, and of few numbers ---- */

/* Scalar code that cannot fail, and takes no rows. */
static bool is_plain(const Simplifier *s, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const CoreStmt *stmt = b->stmts.at[i];
        const bool row = stmt->kind == CORE_INDEX && core_var_type(s->fn, stmt->vars[0]).rank > 0;
        if (row || !core_stmt_is_scalar(stmt) || core_stmt_fallible(s->p, s->fn, stmt))
            return false;
    }
    return true;
}

static bool are_numbers(const Simplifier *s, const CoreSoac *soac)
{
    for (uint32_t i = 0; i < soac->ninputs; i++)
        if (!few_is_numbers(s, soac->inputs[i].var))
            return false;
    return true;
}

/* What the operator makes of both. */
static const CoreAtom *combined(Simplifier *s, CoreBuilder *b, CoreStmt *stmt, const CoreAtom *x, const CoreAtom *y)
{
    const CoreLambda *op = &stmt->soac.op;
    core_copy_map_note(&s->copied, s->fn, s->scratch);
    for (uint32_t i = 0; i < stmt->nvars; i++) {
        s->copied.at[op->params[i]] = x[i];
        s->copied.at[op->params[stmt->nvars + i]] = y[i];
    }
    const CoreAtom *made = build_copy(b, s->fn, op->body, s->copied.at);
    core_copy_map_forget(&s->copied, s->fn, stmt);
    return made;
}

/* In a map over few elements, which a lane had better execute as a whole, reductions stay. */
static bool over_few(Simplifier *s, const CoreSoac *soac)
{
    uint32_t count, around;
    return few_is(soac->domain, &count) && !(s->around && few_is(s->around->domain, &around)) &&
           (soac->body->stmts.n + soac->op.body->stmts.n) * count <= MOST_STATEMENTS && are_numbers(s, soac) &&
           is_plain(s, soac->body) && is_plain(s, soac->op.body);
}

bool written_fold(Simplifier *s, CoreStmt *stmt)
{
    const CoreSoac *soac = &stmt->soac;
    if (!s->few || s->nest == 0 || stmt->kind != CORE_REDUCE || soac->stays || soac->guard ||
        (!over_constants(s, soac) && !over_few(s, soac)))
        return false;
    const uint32_t count = (uint32_t)soac->domain.bits;
    CoreBlock *made = arena_new(s->p->arena, CoreBlock);
    CoreBuilder b = few_builder(s, made, stmt->span);
    const CoreAtom *sum = soac->neutral;
    for (uint32_t j = 0; j < count; j++)
        sum = combined(s, &b, stmt, sum, few_at_position(s, &b, stmt, stmt->soac.body, core_i64(j)));
    become(s, stmt, made, sum);
    return true;
}

/* ---- loops of few rounds ---- */

bool written_loop(Simplifier *s, CoreStmt *stmt)
{
    Round r = {.n = 0};
    if (!s->few || s->nest == 0 || stmt->loop.cond || stmt->loop.index == CORE_NO_VAR)
        return false;
    know(&r, stmt->loop.index);
    if (!enter_round(&r, stmt->loop.body) || !r.reads || !are_few(&r, stmt->loop.count))
        return false;
    const uint32_t count = (uint32_t)stmt->loop.count.bits;
    CoreBlock *made = arena_new(s->p->arena, CoreBlock);
    CoreBuilder b = few_builder(s, made, stmt->span);
    const CoreAtom *state = stmt->loop.inits;
    for (uint32_t j = 0; j < count; j++) {
        core_copy_map_note(&s->copied, s->fn, s->scratch);
        for (uint32_t i = 0; i < stmt->loop.nparams; i++)
            s->copied.at[stmt->loop.params[i]] = state[i];
        s->copied.at[stmt->loop.index] = core_i64((int64_t)j);
        state = build_copy(&b, s->fn, stmt->loop.body, s->copied.at);
        core_copy_map_forget(&s->copied, s->fn, stmt);
    }
    become(s, stmt, made, state);
    return true;
}
