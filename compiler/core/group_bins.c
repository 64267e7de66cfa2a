/* Groups that are only reduced need not be made. What `group_by` makes of its elements
 *
 *     sorted = argsort keys of keys, xs
 *     starts = map n at k (x <- sorted) guard { no tie with the one before } { -> k }
 *     ks, groups = map m at g (s <- starts) { sorted[s], xs[s : the next start, or n] }
 *     … = map m (k <- ks, xs <- groups) { r = reduce (x <- xs) { f x } op …; … }
 *
 * becomes a histogram over the range of the keys, where that is small for so many elements when the program runs:
 *
 *     lo, hi = the least key, the greatest
 *     m, ks, rs = if hi - lo < a part of n then { bins = hist (k <- keys, x <- xs) { k - lo, f x } op;
 *                                                 those of the bins that have elements, with their keys }
 *                 else { the same as before, rs = map (xs <- groups) { reduce … } }
 *     … = map m (k <- ks, r <- rs) { … }
 *
 * Keys are integers; operators commute, and their order does not matter: one primitive. The reductions may
 * read their elements and what is bound in front of the sort. */
#include "core/group_bins_internal.h"

#include <string.h>

/* ---- definitions and uses ---- */

static void note_use(void *ctx, CoreAtom *a)
{
    GroupPass *p = ctx;
    if (!a->is_const)
        p->uses[a->var]++;
}

static void note_block(void *ctx, CoreBlock *b)
{
    GroupPass *p = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        for (uint32_t k = 0; k < b->stmts.at[i]->nvars; k++)
            p->defs[b->stmts.at[i]->vars[k]] = b->stmts.at[i];
        core_stmt_blocks(b->stmts.at[i], note_block, p);
    }
}

static void note_function(GroupPass *p)
{
    p->nvars = p->fn->vars.n;
    p->defs = arena_array(p->scratch, CoreStmt *, p->nvars + 1);
    p->uses = arena_array(p->scratch, uint32_t, p->nvars + 1);
    p->bound = arena_array(p->scratch, bool, p->nvars + 1);
    p->copies = (CoreCopyMap){0};
    note_block(p, p->fn->body);
    core_block_atoms(p->fn->body, note_use, p);
}

static CoreStmt *def_of(const GroupPass *p, CoreAtom a)
{
    return a.is_const || a.var >= p->nvars ? NULL : p->defs[a.var];
}

static bool is_index(const GroupPass *p, CoreAtom a, CoreAtom array, CoreAtom at)
{
    const CoreStmt *s = def_of(p, a);
    return s && s->kind == CORE_INDEX && core_atom_equal(s->index.array, array) && core_atom_equal(s->index.index, at);
}

CoreAtom group_var(const GroupPass *p, CoreVar v) { return core_var_atom(v, core_var_type(p->fn, v)); }

/* How often the statement, or what is in it, reads v. */
static uint32_t reads(CoreStmt *s, CoreVar v)
{
    CoreUses uses = {v, 0};
    core_stmt_all_atoms(s, core_count_use, &uses);
    return uses.n;
}

/* ---- the sort, and where groups start ---- */

static bool sorts_by_one_integer(const CoreStmt *s, const CoreFn *fn)
{
    return s->kind == CORE_ARGSORT && s->argsort.nkeys == 1 && core_argsort_positions(s) == 0 &&
           scalar_is_int(core_atom_type(fn, s->argsort.keys[0]).scalar);
}

/* !(0 < k && x <= sorted[k - 1]) */
static bool is_no_tie(const Grouping *g, CoreAtom holds, CoreAtom k, CoreAtom x)
{
    const GroupPass *p = g->pass;
    const CoreStmt *no = core_as_prim(def_of(p, holds), PRIM_NOT), *tie = no ? def_of(p, no->prim.args[0]) : NULL;
    if (!tie || tie->kind != CORE_IF || tie->nvars != 1 ||
        !core_is_prim2(def_of(p, tie->if_.cond), PRIM_LT, core_i64(0), k))
        return false;
    CoreAtom at_first = tie->if_.else_b->results[0];
    const CoreStmt *le = core_as_prim(def_of(p, tie->if_.then_b->results[0]), PRIM_LE);
    const CoreStmt *before = le ? def_of(p, le->prim.args[1]) : NULL;
    return le && at_first.is_const && !at_first.bits && core_atom_equal(le->prim.args[0], x) && before &&
           before->kind == CORE_INDEX && core_atom_equal(before->index.array, g->sorted_keys) &&
           core_is_prim2(def_of(p, before->index.index), PRIM_SUB, k, core_i64(1));
}

static bool is_starts(Grouping *g, const CoreStmt *s)
{
    const CoreSoac *m = &s->soac;
    if (s->kind != CORE_MAP || !m->guard || m->ninputs != 1 || m->index == CORE_NO_VAR || s->nvars != 1 ||
        m->body->stmts.n > 0)
        return false;
    const CoreStmt *sort = def_of(g->pass, m->inputs[0]);
    CoreAtom k = group_var(g->pass, m->index), kept = m->body->results[0];
    if (!sort || !sorts_by_one_integer(sort, g->pass->fn) || !core_atom_equal(kept, k))
        return false;
    g->sort = g->pass->defs[m->inputs[0].var];
    g->sorted_keys = m->inputs[0];
    g->n = m->domain;
    bool keys = false;
    for (uint32_t i = 0; i < sort->nvars; i++)
        keys |= sort->vars[i] == m->inputs[0].var && core_atom_equal(sort->argsort.columns[i], sort->argsort.keys[0]);
    return keys && is_no_tie(g, m->guard->results[0], k, group_var(g->pass, m->elements[0]));
}

/* ---- the groups ---- */

/* if i + 1 < m then starts[i + 1] else n */
static bool is_end(const Grouping *g, CoreAtom end)
{
    const GroupPass *p = g->pass;
    const CoreStmt *s = def_of(p, end);
    if (!s || s->kind != CORE_IF || s->nvars != 1 || g->number == CORE_NO_VAR)
        return false;
    const CoreStmt *more = core_as_prim(def_of(p, s->if_.cond), PRIM_LT);
    CoreAtom starts = group_var(p, g->starts->vars[0]);
    return more && core_is_prim2(def_of(p, more->prim.args[0]), PRIM_ADD, group_var(p, g->number), core_i64(1)) &&
           core_atom_equal(more->prim.args[1], g->groups->soac.domain) &&
           is_index(p, s->if_.then_b->results[0], starts, more->prim.args[0]) &&
           core_atom_equal(s->if_.else_b->results[0], g->n);
}

/* An element of the consumer that the groups' map gives, as what it is there. */
static CoreAtom made_from(const Grouping *g, CoreAtom a)
{
    const CoreSoac *c = &g->consumer->soac;
    for (uint32_t i = 0; i < c->ninputs && !a.is_const && g->consumer != g->groups; i++)
        for (uint32_t j = 0; j < g->groups->nvars && c->elements[i] == a.var; j++)
            if (g->groups->vars[j] == c->inputs[i].var)
                return g->groups->soac.body->results[j];
    return a;
}

/* A slice of the sort's column, from the start to the end? */
bool group_is_slice(const Grouping *g, CoreAtom a, uint32_t *column)
{
    const CoreStmt *s = def_of(g->pass, made_from(g, a));
    if (!s || s->kind != CORE_SLICE || !core_atom_equal(s->slice.from, group_var(g->pass, g->start)) ||
        !is_end(g, s->slice.to))
        return false;
    for (uint32_t i = 0; i < g->sort->nvars; i++)
        if (g->sort->vars[i] == s->slice.array.var) {
            *column = i;
            return true;
        }
    return false;
}

static bool is_key(const Grouping *g, CoreAtom a)
{
    return is_index(g->pass, made_from(g, a), g->sorted_keys, group_var(g->pass, g->start));
}

bool group_is_length(const Grouping *g, CoreAtom a)
{
    a = made_from(g, a);
    const CoreStmt *s = def_of(g->pass, a), *difference = core_as_prim(def_of(g->pass, a), PRIM_SUB);
    uint32_t column;
    return (s && s->kind == CORE_LENGTH && group_is_slice(g, s->length.array, &column)) ||
           (difference && is_end(g, difference->prim.args[0]) &&
            core_atom_equal(difference->prim.args[1], group_var(g->pass, g->start)));
}

/* Does the map make groups, and nothing else? */
static bool makes_groups(const Grouping *g)
{
    const CoreSoac *m = &g->groups->soac;
    uint32_t column;
    if (g->groups->kind != CORE_MAP || m->guard || m->ninputs != 1)
        return false;
    for (uint32_t i = 0; i < g->groups->nvars; i++) {
        CoreAtom a = m->body->results[i];
        if (!is_key(g, a) && !group_is_length(g, a) && !group_is_slice(g, a, &column))
            return false;
    }
    return true;
}

/* Nothing else reads what is to be in one branch only. */
static bool is_closed(const Grouping *g)
{
    const CoreVar starts = g->starts->vars[0];
    for (uint32_t i = 0; i < g->sort->nvars; i++) {
        CoreVar v = g->sort->vars[i];
        if (g->pass->uses[v] != reads(g->starts, v) + reads(g->groups, v))
            return false;
    }
    if (g->pass->uses[starts] != reads(g->length, starts) + reads(g->groups, starts))
        return false;
    for (uint32_t i = 0; i < g->groups->nvars && g->consumer != g->groups; i++) {
        const CoreVar v = g->groups->vars[i];
        uint32_t inputs = 0, column;
        for (uint32_t j = 0; j < g->consumer->soac.ninputs; j++)
            inputs += g->consumer->soac.inputs[j].var == v;
        if (group_is_slice(g, g->groups->soac.body->results[i], &column) && g->pass->uses[v] != inputs)
            return false;
    }
    return true;
}

/* ---- what becomes of a group ---- */

/* As an operator on numbers that may go in any order. */
static CorePrim commuting_op(const GroupPass *p, CoreAtom result, CoreAtom x, CoreAtom y)
{
    static const CorePrim ops[] = {PRIM_ADD, PRIM_MUL, PRIM_MIN, PRIM_MAX, PRIM_AND, PRIM_OR, PRIM_XOR};
    for (uint32_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (core_is_prim2(def_of(p, result), ops[i], x, y) || core_is_prim2(def_of(p, result), ops[i], y, x))
            return ops[i];
    return PRIM_COUNT;
}

/* Of numbers of 4 and 8 bytes, whose histograms need no sort. */
CoreAtom group_identity(CorePrim op, Scalar t)
{
    const bool wide = t == SC_F64;
    if (scalar_is_float(t) && (op == PRIM_MIN || op == PRIM_MAX)) /* nan: a number wins */
        return core_const(t, wide ? UINT64_C(0x7ff8000000000000) : UINT64_C(0x7fc00000));
    if (scalar_is_float(t) && op == PRIM_MUL)
        return core_const(t, wide ? UINT64_C(0x3ff0000000000000) : UINT64_C(0x3f800000));
    const uint32_t bits = 8 * scalar_bytes(t);
    const uint64_t ones = UINT64_MAX >> (64 - bits), half = ones >> 1;
    switch (op) {
    case PRIM_MUL: return core_const(t, 1);
    case PRIM_AND: return core_const(t, scalar_is_signed(t) ? UINT64_MAX : ones);
    case PRIM_MIN: return core_const(t, scalar_is_signed(t) ? half : ones);
    case PRIM_MAX: return core_const(t, scalar_is_signed(t) ? ~half : 0);
    default: return core_const(t, 0);
    }
}

/* Of a block: is it bound inside, or by what is to be in one branch only? */
typedef struct Scope {
    const GroupPass *pass;
    bool value;
} Scope;

static void bind_var(void *ctx, CoreVar *v)
{
    const Scope *scope = ctx;
    if (*v < scope->pass->nvars)
        scope->pass->bound[*v] = scope->value;
}

static void bind_block(void *ctx, CoreBlock *b);
static void bind_stmt(Scope *scope, CoreStmt *s)
{
    core_stmt_binders(s, bind_var, scope);
    core_stmt_blocks(s, bind_block, scope);
    for (uint32_t k = 0; k < s->nvars; k++)
        bind_var(scope, &s->vars[k]);
}

static void bind_block(void *ctx, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        bind_stmt(ctx, b->stmts.at[i]);
}

static bool is_bound(void *pass, CoreAtom a)
{
    const GroupPass *p = pass;
    return a.var >= p->nvars || p->bound[a.var];
}

static void bind_parts(const Grouping *g, bool value)
{
    CoreStmt *const parts[] = {g->consumer, g->groups, g->starts, g->length, g->sort};
    Scope scope = {g->pass, value};
    for (uint32_t i = 0; i < sizeof parts / sizeof *parts; i++)
        bind_stmt(&scope, parts[i]);
}

/* Does the reduction's body read what is bound in the consumer, but for its own elements? */
static bool reads_consumer(const Grouping *g, CoreStmt *s)
{
    Scope own = {g->pass, false};
    bind_parts(g, true);
    bind_stmt(&own, s);
    const bool found = core_block_reads(s->soac.body, is_bound, g->pass);
    bind_parts(g, false);
    return found;
}

/* May it be computed for groups that the consumer's guard leaves out? */
static bool is_harmless(const Grouping *g, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        if ((s->kind != CORE_PRIM && s->kind != CORE_ATOM) || core_stmt_fallible(g->pass->p, g->pass->fn, s))
            return false;
    }
    return true;
}

/* The bins begin as it: as the identity, where the reduction begins with the group's first element. */
static bool neutral_of(const Grouping *g, CoreAtom given, CorePrim op, Scalar t, CoreAtom *neutral)
{
    const bool settles = op == PRIM_MIN || op == PRIM_MAX || op == PRIM_AND || op == PRIM_OR;
    const CoreStmt *first = def_of(g->pass, given);
    uint32_t column;
    *neutral = given.is_const ? given : group_identity(op, t);
    if (given.is_const)
        return settles || core_atom_equal(given, group_identity(op, t));
    return settles && first && first->kind == CORE_INDEX && first->index.index.is_const &&
           first->index.index.bits == 0 && group_is_slice(g, first->index.array, &column);
}

static bool add_part(Grouping *g, CoreStmt *s, bool stays)
{
    vec_push(g->pass->scratch, &g->parts, ((Part){s, stays}));
    return true;
}

static bool add_reduction(Grouping *g, CoreStmt *s, bool guarded)
{
    const GroupPass *p = g->pass;
    const uint32_t k = s->nvars;
    uint32_t column;
    bool ok = s->soac.index == CORE_NO_VAR && core_block_is_scalar(s->soac.body) && !reads_consumer(g, s) &&
              (!guarded || is_harmless(g, s->soac.body));
    for (uint32_t i = 0; i < s->soac.ninputs && ok; i++)
        ok = group_is_slice(g, s->soac.inputs[i], &column);
    for (uint32_t j = 0; j < k && ok; j++) {
        const CoreType t = core_var_type(p->fn, s->vars[j]);
        Want r = {WANT_REDUCTION, s->vars[j], s, j, PRIM_COUNT, {0}};
        r.op = commuting_op(p, s->soac.op.body->results[j], group_var(p, s->soac.op.params[j]),
                            group_var(p, s->soac.op.params[k + j]));
        ok = t.rank == 0 && t.scalar != SC_BOOL && scalar_bytes(t.scalar) >= 4 && r.op != PRIM_COUNT &&
             neutral_of(g, s->soac.neutral[j], r.op, t.scalar, &r.neutral);
        g->floats |= scalar_is_float(t.scalar);
        vec_push(p->scratch, &g->wants, r);
    }
    return ok && add_part(g, s, false);
}

/* 0 < length: no group is empty. */
bool group_asks_whether_empty(const Grouping *g, const CoreStmt *s)
{
    return core_as_prim(s, PRIM_LT) && core_atom_equal(s->prim.args[0], core_i64(0)) &&
           group_is_length(g, s->prim.args[1]);
}

static void add_want(Grouping *g, WantKind kind, CoreVar v)
{
    vec_push(g->pass->scratch, &g->wants, ((Want){.kind = kind, .element = v}));
}

/* i + 1, and whether it is below the number of groups. */
static bool is_next(const Grouping *g, const CoreStmt *s)
{
    if (s->kind != CORE_PRIM || g->number == CORE_NO_VAR)
        return false;
    CoreAtom next = s->prim.op == PRIM_LT ? s->prim.args[0] : group_var(g->pass, s->vars[0]);
    return core_is_prim2(def_of(g->pass, next), PRIM_ADD, group_var(g->pass, g->number), core_i64(1));
}

/* What the statement of the consumer has to do with a group; false: what cannot be helped. */
static bool add_stmt(Grouping *g, CoreStmt *s, bool guarded)
{
    CoreAtom it = s->nvars ? group_var(g->pass, s->vars[0]) : core_i64(0);
    uint32_t column;
    if (s->kind == CORE_REDUCE && group_is_length(g, s->soac.domain))
        return add_reduction(g, s, guarded);
    if (group_is_length(g, it)) {
        add_want(g, WANT_LENGTH, s->vars[0]);
        return add_part(g, s, false);
    }
    if (s->kind == CORE_INDEX && is_key(g, it)) {
        add_want(g, WANT_KEY, s->vars[0]);
        return add_part(g, s, false);
    }
    if (is_end(g, it) || group_is_slice(g, it, &column))
        return add_part(g, s, false);
    if (s->kind == CORE_INDEX && group_is_slice(g, s->index.array, &column))
        return s->site == CORE_NO_SITE && add_part(g, s, false);
    return g->consumer != g->groups || !is_next(g, s) || add_part(g, s, true);
}

static bool add_block(Grouping *g, const CoreBlock *b, bool guarded)
{
    for (uint32_t i = 0; b && i < b->stmts.n; i++)
        if (!add_stmt(g, b->stmts.at[i], guarded))
            return false;
    return true;
}

static uint32_t reads_of_parts(const Grouping *g, CoreVar v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->parts.n; i++)
        n += g->parts.at[i].stays ? 0 : reads(g->parts.at[i].stmt, v);
    return n;
}

static uint32_t asked_whether_empty(const Grouping *g, const CoreBlock *b, CoreVar length)
{
    uint32_t n = 0;
    for (uint32_t i = 0; b && i < b->stmts.n; i++)
        n += group_asks_whether_empty(g, b->stmts.at[i]) && b->stmts.at[i]->prim.args[1].var == length;
    return n;
}

static bool is_wanted(const Grouping *g, CoreVar v)
{
    for (uint32_t i = 0; i < g->wants.n; i++)
        if (g->wants.at[i].element == v)
            return true;
    return false;
}

/* Lengths that are only asked for as parts, or whether they are 0, are not wanted. */
static void drop_lengths(Grouping *g)
{
    const CoreSoac *c = &g->consumer->soac;
    uint32_t left = 0;
    for (uint32_t i = 0; i < g->wants.n; i++) {
        const Want w = g->wants.at[i];
        const uint32_t parts = reads_of_parts(g, w.element);
        if (w.kind == WANT_LENGTH && g->pass->uses[w.element] == parts + asked_whether_empty(g, c->guard, w.element) +
                                                                     asked_whether_empty(g, c->body, w.element))
            continue;
        g->counts |= w.kind == WANT_LENGTH;
        g->wants.at[left++] = w;
    }
    g->wants.n = left;
}

/* Is it the groups', and not read by what stays? */
static bool is_taken(const Grouping *g, CoreVar v) { return g->pass->uses[v] == reads_of_parts(g, v); }

/* Nothing but the parts reads groups, where they start and end, and their first elements. */
static bool is_reduced(Grouping *g)
{
    const CoreSoac *c = &g->consumer->soac;
    uint32_t column;
    for (uint32_t i = 0; i < c->ninputs; i++) {
        CoreAtom a = group_var(g->pass, c->elements[i]);
        if ((group_is_slice(g, a, &column) || a.var == g->start) && !is_taken(g, a.var))
            return false;
    }
    for (uint32_t i = 0; i < g->parts.n; i++) {
        const CoreStmt *s = g->parts.at[i].stmt;
        if (!g->parts.at[i].stays && s->kind != CORE_REDUCE && !is_wanted(g, s->vars[0]) && !is_taken(g, s->vars[0]) &&
            !group_is_length(g, group_var(g->pass, s->vars[0])))
            return false;
    }
    drop_lengths(g);
    for (uint32_t i = 0; i < g->groups->nvars && g->consumer != g->groups; i++)
        g->counts |= group_is_length(g, g->groups->soac.body->results[i]);
    return g->wants.n > 0;
}

static bool consumes_well(Grouping *g)
{
    const CoreSoac *c = &g->consumer->soac;
    return core_atom_equal(c->domain, g->groups->soac.domain) && add_block(g, c->guard, false) &&
           add_block(g, c->body, c->guard != NULL) && is_closed(g) && is_reduced(g);
}

/* ---- finding them ---- */

static CoreStmt *reader_behind(const CoreBlock *b, uint32_t from, CoreVar v, uint32_t *at)
{
    for (uint32_t i = from + 1; i < b->stmts.n; i++)
        if (reads(b->stmts.at[i], v)) {
            *at = i;
            return b->stmts.at[i];
        }
    return NULL;
}

/* Is it one of those that go from where they are? */
static bool is_moved(const Grouping *g, const CoreStmt *s)
{
    return s == g->sort || s == g->starts || s == g->length || (s == g->groups && s != g->consumer);
}

/* Does it read how many groups there are, or what their map gives besides them? */
static bool reads_early(const Grouping *g, CoreStmt *s)
{
    bool found = reads(s, g->length->vars[0]) > 0;
    for (uint32_t i = 0; i < g->groups->nvars && g->consumer != g->groups; i++)
        found |= reads(s, g->groups->vars[i]) > 0;
    return found;
}

/* The map that goes over where groups start, and what goes over its groups, number *last of the block, or itself. */
static bool find_consumer(Grouping *g, const CoreBlock *b, uint32_t from, uint32_t *last)
{
    g->groups = g->consumer = reader_behind(b, from, g->starts->vars[0], last);
    CoreSoac *m = g->groups ? core_stmt_soac(g->groups) : NULL;
    if (!m || !core_atom_equal(m->domain, group_var(g->pass, g->length->vars[0])))
        return false;
    uint32_t starts = m->ninputs;
    for (uint32_t i = 0; i < m->ninputs; i++)
        starts = m->inputs[i].var == g->starts->vars[0] ? i : starts;
    if (starts == m->ninputs)
        return false;
    g->start = m->elements[starts];
    g->number = m->index;
    if (!makes_groups(g))
        return true;
    for (uint32_t i = 0, column; i < g->groups->nvars && g->consumer == g->groups; i++)
        if (group_is_slice(g, m->body->results[i], &column))
            g->consumer = reader_behind(b, *last, g->groups->vars[i], last);
    return g->consumer && core_stmt_soac(g->consumer);
}

/* From stmts[at], where groups start, on: the statements that belong to it, all in this block; none between them and
 * the consumer that cannot do without them. first: the sort; last: the consumer. */
static bool find_parts(Grouping *g, const CoreBlock *b, uint32_t at, uint32_t *first, uint32_t *last)
{
    g->starts = b->stmts.at[at];
    if (!is_starts(g, g->starts))
        return false;
    for (*first = at; *first > 0 && b->stmts.at[*first] != g->sort;)
        --*first;
    g->length = reader_behind(b, at, g->starts->vars[0], last);
    if (b->stmts.at[*first] != g->sort || !g->length || g->length->kind != CORE_LENGTH ||
        !find_consumer(g, b, *last, last))
        return false;
    for (uint32_t i = *first; i < *last; i++)
        if (!is_moved(g, b->stmts.at[i]) && reads_early(g, b->stmts.at[i]))
            return false;
    return true;
}

/* Statements first to last of the block become those of `by`. */
static void replace_stmts(const CoreProgram *p, CoreBlock *b, uint32_t first, uint32_t last, const CoreBlock *by)
{
    const uint32_t behind = b->stmts.n - last - 1, n = first + by->stmts.n;
    while (b->stmts.n < n + behind)
        core_push(p, b, NULL);
    memmove(b->stmts.at + n, b->stmts.at + last + 1, behind * sizeof *b->stmts.at);
    memcpy(b->stmts.at + first, by->stmts.at, by->stmts.n * sizeof *by->stmts.at);
    b->stmts.n = n + behind;
}

/* The block's groupings, of which those that lie in others wait for the next round. */
static bool rewrite_block(GroupPass *p, CoreBlock *b)
{
    bool found = false;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        Grouping g = {.pass = p};
        CoreBlock made = {0};
        uint32_t first = 0, last = 0;
        if (b->stmts.at[i]->kind != CORE_MAP || !find_parts(&g, b, i, &first, &last) || !consumes_well(&g))
            continue;
        for (uint32_t k = first; k < last; k++)
            if (!is_moved(&g, b->stmts.at[k]))
                core_push(p->p, &made, b->stmts.at[k]);
        group_emit_versions(&g, &made);
        core_push(p->p, &made, b->stmts.at[last]);
        replace_stmts(p->p, b, first, last, &made);
        i = first + made.stmts.n - 1;
        found = true;
    }
    return found;
}

static bool is_version(const GroupPass *p, const CoreStmt *s)
{
    for (uint32_t i = 0; i < p->versions.n; i++)
        if (p->versions.at[i] == s)
            return true;
    return false;
}

/* Host code only: in parallel code groups are many and small. */
static bool rewrite_in(GroupPass *p, CoreBlock *b)
{
    bool found = rewrite_block(p, b);
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        if (s->kind == CORE_IF && !is_version(p, s)) {
            found |= rewrite_in(p, s->if_.then_b);
            found |= rewrite_in(p, s->if_.else_b);
        } else if (s->kind == CORE_LOOP) {
            found |= rewrite_in(p, s->loop.body);
        }
    }
    return found;
}

bool core_group_bins(CoreProgram *p)
{
    GroupPass pass = {.p = p};
    for (uint32_t i = 0; i < p->fns.n; i++) {
        pass.fn = p->fns.at[i];
        do {
            pass.scratch = arena_create();
            note_function(&pass);
            const bool more = rewrite_in(&pass, pass.fn->body);
            arena_destroy(pass.scratch);
            if (!more)
                break;
            pass.changed = true;
        } while (true);
    }
    return pass.changed;
}
