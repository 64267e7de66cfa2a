/* Branches that are maps over equally many elements become a map of branches:
 *
 *     ys = if c then { S -> map n at j { B } } else { T -> map n at j { C } }
 *   ==>
 *     s, t = if c then { S -> s, 0 } else { T -> 0, t };   ys = map n at j { if c then B else C }
 *
 * where B reads s and C reads t. Flattened, instances need not part ways and their rows be joined again, and the rows
 * of the result lie at a stride. A branch may be a sequence of n elements that is there already, a row that stays as it
 * is. Then these are copied, which the program does not ask for: only in a parallel operation outside all others, in a
 * version that is taken where few rows stay, by what the conditions say of the position (branch_versions). There a
 * cheap reduction of so many elements in one branch, `let d = dot row u in …`, is made for all instances, too. */
#include "core/build.h"
#include "core/choose_lanes_internal.h"
#include "core/simplify_internal.h"

/* MOST_BRANCH: statements of a branch. MOST_DOUBLED: statements of a function's operations that have two versions.
 * MOST_ELEMENT: what an element of a reduction may cost, in additions, that is made for all instances.
 * Rows that stay may be copied if they are at most COPIES times as many as the others and have WASTED elements more. */
enum { MOST_BRANCH = 64, MOST_DOUBLED = 1000, MOST_ELEMENT = 16, COPIES = 7, WASTED = 1 << 16 };

/* What a branch's elements read of its statements: scalars, given by the first if. */
typedef struct Export {
    CoreVar var;
    CoreAtom given;
} Export;

typedef struct Side {
    CoreBlock *block; /* of the if */
    bool holds;
    VEC(Export) exports;
    VEC(CoreStmt *) maps;  /* statements of the block that give results */
    VEC(CoreStmt *) ahead; /* and reductions that may go in front of the if */
    bool stays;            /* a result is there already */
} Side;

typedef struct Merge {
    Simplifier *s;
    CoreStmt *stmt;
    CoreAtom length;
    Side sides[2];
    CoreBuilder b;
    CoreAtom *map; /* for copies */
    CoreSoac soac;
    VEC(CoreAtom) inputs;
    VEC(CoreVar) elements;
} Merge;

/* ---- may it be done? ---- */

static bool is_result(void *stmt, CoreAtom a) { return core_stmt_binds(stmt, a.var); }

/* Of a statement's results, by the other statements. */
static bool is_used_in(const CoreBlock *b, CoreStmt *s)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (core_stmt_reads(b->stmts.at[i], is_result, s))
            return true;
    return false;
}

/* A view that is made again for each element: part of what is there already. */
static bool is_view(const CoreBlock *b, CoreAtom xs)
{
    const CoreStmt *s = core_block_def(b, xs);
    for (; s && (s->kind == CORE_INDEX || s->kind == CORE_SLICE); s = core_block_def(b, xs))
        xs = s->kind == CORE_INDEX ? s->index.array : s->slice.array;
    return !s;
}

typedef struct Branch {
    const Merge *m;
    const CoreBlock *block;
} Branch;

static bool is_made_array(void *ctx, CoreAtom a)
{
    const Branch *branch = ctx;
    return core_atom_type(branch->m->s->fn, a).rank > 0 && !is_view(branch->block, a);
}

static bool is_element_map(const Merge *m, const CoreBlock *b, CoreStmt *s)
{
    if (s->kind != CORE_MAP || s->soac.guard || !core_block_is_scalar(s->soac.body) ||
        !core_atom_equal(facts_resolve(m->s, s->soac.domain), m->length) || is_used_in(b, s))
        return false;
    for (uint32_t i = 0; i < s->soac.ninputs; i++)
        if (!is_view(b, s->soac.inputs[i]))
            return false;
    return !core_block_reads(s->soac.body, is_made_array, &(Branch){m, b});
}

/* What a block of scalar operations costs that cannot fail, in additions; MOST_ELEMENT + 1 for any other. */
static uint32_t element_cost(const Merge *m, const CoreBlock *b)
{
    uint32_t cost = 0;
    for (uint32_t i = 0; i < b->stmts.n && cost <= MOST_ELEMENT; i++) {
        const CoreStmt *s = b->stmts.at[i];
        if (s->kind == CORE_PRIM && !core_stmt_fallible(m->s->p, m->s->fn, s))
            cost += core_prim_cost(s->prim.op, core_atom_type(m->s->fn, s->prim.args[0]).scalar);
        else
            cost += MOST_ELEMENT + 1;
    }
    return cost <= MOST_ELEMENT ? cost : MOST_ELEMENT + 1;
}

static bool is_bound_in(void *block, CoreAtom a) { return core_block_def(block, a) != NULL; }

/* Known in front of the branch, not by a check in it? */
static bool has_elements(const Merge *m, CoreAtom xs)
{
    CoreAtom n;
    return facts_length(m->s, xs, &n) && core_atom_equal(n, m->length);
}

/* A reduction of as many elements as the map has, that reads nothing which the branch makes. */
static bool may_go_ahead(const Merge *m, CoreBlock *b, CoreStmt *s)
{
    if (s->kind != CORE_REDUCE || !core_atom_equal(facts_resolve(m->s, s->soac.domain), m->length) ||
        element_cost(m, s->soac.body) + element_cost(m, s->soac.op.body) > MOST_ELEMENT)
        return false;
    for (uint32_t i = 0; i < s->soac.ninputs; i++)
        if (!has_elements(m, s->soac.inputs[i]))
            return false;
    return !core_stmt_reads(s, is_bound_in, b);
}

static void find_ahead(Merge *m, Side *side, Side *other)
{
    for (uint32_t i = 0; i < side->block->stmts.n; i++)
        if (may_go_ahead(m, side->block, side->block->stmts.at[i])) {
            vec_push(m->s->scratch, &side->ahead, side->block->stmts.at[i]);
            other->stays = true; /* where nothing need be reduced */
        }
}

/* Is each sequence that the branch gives a map's result, or there already? */
static bool side_fits(Merge *m, Side *side)
{
    const CoreBlock *b = side->block;
    if (b->stmts.n > MOST_BRANCH)
        return false;
    for (uint32_t i = 0; i < b->nresults; i++) {
        const uint32_t rank = core_atom_type(m->s->fn, b->results[i]).rank;
        CoreStmt *s = core_block_def(b, b->results[i]);
        if (rank > 1 || (rank && !(s && s->kind == CORE_MAP) && !is_view(b, b->results[i])))
            return false;
        if (rank && s && s->kind == CORE_MAP && !is_element_map(m, b, s))
            return false;
        if (rank && s && s->kind == CORE_MAP)
            vec_push(m->s->scratch, &side->maps, s);
        side->stays |= rank && !(s && s->kind == CORE_MAP);
    }
    return true;
}

/* The one length of all sequences that the if gives. */
static bool find_length(Merge *m, RowsLeaving shapes)
{
    CoreAtom n;
    bool any = false;
    for (uint32_t i = 0; i < m->stmt->nvars; i++) {
        if (core_var_type(m->s->fn, m->stmt->vars[i]).rank == 0)
            continue;
        if (!rows_shape_length(m->s, shapes[i], &n) || (any && !core_atom_equal(n, m->length)))
            return false;
        m->length = n;
        any = true;
    }
    return any;
}

/* ---- the elements ---- */

static CoreAtom export_scalar(Merge *m, Side *side, CoreVar v)
{
    for (uint32_t i = 0; i < side->exports.n; i++)
        if (side->exports.at[i].var == v)
            return side->exports.at[i].given;
    const CoreAtom given = build_var(&m->b, core_var_type(m->s->fn, v), m->s->fn->vars.at[v].hint);
    vec_push(m->s->scratch, &side->exports, ((Export){v, given}));
    return given;
}

static bool is_copied(const Merge *m, CoreVar v) { return m->map[v].is_const || m->map[v].var != v; }

typedef struct Importer {
    Merge *m;
    Side *side;
} Importer;

/* What an element reads: from outside, given by the first if, or a view made again. */
static void import_atom(void *ctx, CoreAtom *a)
{
    const Importer *in = ctx;
    Merge *m = in->m;
    CoreStmt *s = core_block_def(in->side->block, *a);
    if (!s || is_copied(m, a->var))
        return;
    if (core_atom_type(m->s->fn, *a).rank == 0) {
        m->map[a->var] = export_scalar(m, in->side, a->var);
        return;
    }
    core_stmt_atoms(s, import_atom, ctx);
    CoreBlock one = {.stmts = {.at = &s, .n = 1, .cap = 1}};
    build_copy(&m->b, m->s->fn, &one, m->map);
}

static CoreAtom imported(Merge *m, Side *side, CoreAtom a)
{
    import_atom(&(Importer){m, side}, &a);
    return a.is_const ? a : m->map[a.var];
}

static CoreAtom element_of(Merge *m, Side *side, CoreAtom xs);

/* (xs with [i] = v)[j], where the index is known to be in bounds. */
static CoreAtom element_of_update(Merge *m, Side *side, const CoreStmt *update)
{
    const CoreAtom at = facts_resolve(m->s, update->update.index), value = facts_resolve(m->s, update->update.value);
    const CoreAtom x = element_of(m, side, facts_resolve(m->s, update->update.array));
    const CoreAtom here = build_prim2(&m->b, PRIM_EQ, build_atom(&m->b, m->soac.index), at);
    return build_select(&m->b, here, value, x);
}

/* xs[j]: an element of the map where xs is known to have so many. */
static CoreAtom element_of(Merge *m, Side *side, CoreAtom xs)
{
    CoreAtom n;
    Simplifier *s = m->s;
    const CoreStmt *def = facts_def(s, xs);
    if (def && def->kind == CORE_UPDATE && def->site == CORE_NO_SITE && !core_block_def(side->block, xs))
        return element_of_update(m, side, def);
    if (core_block_def(side->block, xs) || !facts_length(s, xs, &n) || !core_atom_equal(n, m->length))
        return build_index(&m->b, imported(m, side, xs), build_atom(&m->b, m->soac.index), CORE_NO_SITE);
    for (uint32_t i = 0; i < m->inputs.n; i++)
        if (m->inputs.at[i].var == xs.var)
            return build_atom(&m->b, m->elements.at[i]);
    const CoreAtom x = build_var(&m->b, core_element(core_atom_type(s->fn, xs)), NULL);
    vec_push(s->p->arena, &m->inputs, xs);
    vec_push(s->p->arena, &m->elements, x.var);
    return x;
}

/* The body, once; then its results are in the map. */
static void copy_elements(Merge *m, Side *side, CoreStmt *s)
{
    CoreSoac *soac = &s->soac;
    Importer in = {m, side};
    for (uint32_t i = 0; i < soac->ninputs; i++)
        m->map[soac->elements[i]] = element_of(m, side, soac->inputs[i]);
    if (soac->index != CORE_NO_VAR)
        m->map[soac->index] = build_atom(&m->b, m->soac.index);
    core_block_atoms(soac->body, import_atom, &in);
    const CoreAtom *results = build_copy(&m->b, m->s->fn, soac->body, m->map);
    for (uint32_t i = 0; i < s->nvars; i++)
        m->map[s->vars[i]] = results[i];
}

static CoreBlock *elements_of_side(Merge *m, Side *side)
{
    const CoreBlock *b = side->block;
    CoreBlock *outer = build_begin(&m->b);
    CoreAtom *results = arena_array(m->s->scratch, CoreAtom, b->nresults + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->nresults; i++) {
        if (core_atom_type(m->s->fn, b->results[i]).rank == 0)
            continue;
        CoreStmt *s = core_block_def(b, b->results[i]);
        const bool by_map = s && s->kind == CORE_MAP;
        if (by_map && !is_copied(m, s->vars[0]))
            copy_elements(m, side, s);
        results[n++] = by_map ? m->map[b->results[i].var] : element_of(m, side, b->results[i]);
    }
    return build_end(&m->b, outer, results, n);
}

/* ---- the two statements ---- */

/* The branch without these statements. */
static void leave_out(Merge *m, Side *side, CoreStmt *const *stmts, uint32_t n)
{
    CoreBlock old = core_take_stmts(side->block);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        bool out = false;
        for (uint32_t k = 0; k < n; k++)
            out |= stmts[k] == old.stmts.at[i];
        if (!out)
            core_push(m->s->p, side->block, old.stmts.at[i]);
    }
}

/* The branch without the maps: its scalars, then what elements read of both sides. */
static void leave_scalars(Merge *m, Side *side)
{
    Simplifier *s = m->s;
    VEC(CoreAtom) results = {0};
    leave_out(m, side, side->maps.at, side->maps.n);
    for (uint32_t i = 0; i < side->block->nresults; i++)
        if (core_atom_type(s->fn, side->block->results[i]).rank == 0)
            vec_push(s->scratch, &results, side->block->results[i]);
    for (uint32_t holds = 0; holds < 2; holds++)
        for (uint32_t i = 0; i < m->sides[holds].exports.n; i++) {
            const Export *e = &m->sides[holds].exports.at[i];
            const CoreType t = core_var_type(s->fn, e->var);
            vec_push(s->scratch, &results, side->holds == holds ? core_var_atom(e->var, t) : core_const(t.scalar, 0));
        }
    build_results(&m->b, side->block, results.at, results.n);
}

static void emit_scalars(Merge *m, const CoreVar *vars, uint32_t nvars)
{
    Simplifier *s = m->s;
    VEC(CoreVar) given = {0};
    for (uint32_t i = 0; i < nvars; i++)
        if (core_var_type(s->fn, vars[i]).rank == 0)
            vec_push(s->scratch, &given, vars[i]);
    for (uint32_t holds = 0; holds < 2; holds++)
        for (uint32_t i = 0; i < m->sides[holds].exports.n; i++)
            vec_push(s->scratch, &given, m->sides[holds].exports.at[i].given.var);
    leave_scalars(m, &m->sides[0]);
    leave_scalars(m, &m->sides[1]);
    if (!given.n && !m->sides[0].block->stmts.n && !m->sides[1].block->stmts.n)
        return;
    CoreStmt *scalars = build_stmt_into(&m->b, CORE_IF, given.n, given.at);
    scalars->if_.cond = m->stmt->if_.cond;
    scalars->if_.then_b = m->sides[1].block;
    scalars->if_.else_b = m->sides[0].block;
    simplify_emit(s, scalars);
}

static void emit_map(Merge *m, const CoreVar *vars, uint32_t nvars, CoreBlock *body)
{
    VEC(CoreVar) arrays = {0};
    for (uint32_t i = 0; i < nvars; i++)
        if (core_var_type(m->s->fn, vars[i]).rank > 0)
            vec_push(m->s->scratch, &arrays, vars[i]);
    CoreStmt *map = build_stmt_into(&m->b, CORE_MAP, arrays.n, arrays.at);
    m->soac.domain = m->length;
    m->soac.inputs = m->inputs.at;
    m->soac.elements = m->elements.at;
    m->soac.ninputs = m->inputs.n;
    m->soac.body = body;
    map->soac = m->soac;
    simplify_emit(m->s, map);
}

static void emit_ahead(Merge *m, Side *side)
{
    leave_out(m, side, side->ahead.at, side->ahead.n);
    for (uint32_t i = 0; i < side->ahead.n; i++)
        simplify_emit(m->s, side->ahead.at[i]);
}

static void emit_merged(Merge *m)
{
    CoreStmt *stmt = m->stmt;
    emit_ahead(m, &m->sides[1]);
    emit_ahead(m, &m->sides[0]);
    m->map = core_identity_map(m->s->scratch, m->s->fn);
    m->soac.index = build_var(&m->b, core_scalar(SC_I64), "j").var;
    CoreBlock *outer = build_begin(&m->b);
    CoreBlock *then_b = elements_of_side(m, &m->sides[1]), *else_b = elements_of_side(m, &m->sides[0]);
    const CoreAtom *elements = build_if(&m->b, stmt->if_.cond, then_b, else_b);
    CoreBlock *body = build_end(&m->b, outer, elements, then_b->nresults);
    emit_scalars(m, stmt->vars, stmt->nvars);
    emit_map(m, stmt->vars, stmt->nvars, body);
    m->s->changed = m->s->rewritten = true;
}

/* ---- rows that stay ---- */

typedef struct Stay {
    CoreAtom cond;
    bool holds;
} Stay;

struct Stays {
    CoreVar index;  /* of the outermost operation */
    uint32_t first; /* the number of the first variable bound in it */
    CoreAtom length;
    VEC(Stay) where;
};

static bool is_outside(Simplifier *s, const Stays *stays, CoreAtom a)
{
    return a.is_const || facts_of(s, a.var)->order < stays->first;
}

/* Is there a version for few instances in which something is made that the program does not ask for? */
static bool has_version(const Merge *m)
{
    Simplifier *s = m->s;
    const Stays *stays = s->stays;
    return s->nest == 1 && stays && is_outside(s, stays, m->length) &&
           (!stays->where.n || core_atom_equal(stays->length, m->length));
}

static bool may_stay(Merge *m)
{
    Simplifier *s = m->s;
    Stays *stays = s->stays;
    if (has_version(m)) {
        find_ahead(m, &m->sides[0], &m->sides[1]);
        find_ahead(m, &m->sides[1], &m->sides[0]);
    }
    if (!m->sides[0].stays && !m->sides[1].stays)
        return true;
    if (!has_version(m))
        return false;
    stays->length = m->length;
    for (uint32_t holds = 0; holds < 2; holds++)
        if (m->sides[holds].stays)
            vec_push(s->scratch, &stays->where, ((Stay){m->stmt->if_.cond, holds}));
    return true;
}

bool branch_maps(Simplifier *s, CoreStmt *stmt, RowsLeaving shapes)
{
    Merge m = {.s = s, .stmt = stmt, .b = {.p = s->p, .fn = s->fn, .span = stmt->span}};
    m.sides[0] = (Side){.block = stmt->if_.else_b, .holds = false};
    m.sides[1] = (Side){.block = stmt->if_.then_b, .holds = true};
    if (!s->merges || s->nest == 0 || !find_length(&m, shapes) || !side_fits(&m, &m.sides[0]) ||
        !side_fits(&m, &m.sides[1]) || m.sides[0].maps.n + m.sides[1].maps.n == 0 || !may_stay(&m))
        return false;
    emit_merged(&m);
    return true;
}

/* ---- two versions ---- */

typedef struct Versions {
    Simplifier *s;
    Stays stays;
    CoreBuilder b;
    CoreAtom n; /* instances */
} Versions;

static bool is_position(const Versions *v, CoreAtom a) { return !a.is_const && a.var == v->stays.index; }

/* How many positions are less than x, or at most x. */
static CoreAtom positions_up_to(Versions *v, CoreAtom x, bool less)
{
    CoreBuilder *b = &v->b;
    if (less)
        return build_prim2(b, PRIM_MIN, build_prim2(b, PRIM_MAX, x, core_i64(0)), v->n);
    const CoreAtom last = build_prim2(b, PRIM_MIN, x, build_prim2(b, PRIM_SUB, v->n, core_i64(1)));
    return build_prim2(b, PRIM_MAX, build_prim2(b, PRIM_ADD, last, core_i64(1)), core_i64(0));
}

/* At most so many positions fulfil it, or do not. */
static CoreAtom most_positions(Versions *v, CoreAtom cond, bool holds)
{
    Simplifier *s = v->s;
    const CoreStmt *def = facts_def(s, facts_resolve(s, cond));
    if (!def || def->kind != CORE_PRIM)
        return v->n;
    const CorePrim op = def->prim.op;
    const CoreAtom x = facts_resolve(s, def->prim.args[0]);
    const CoreAtom y = def->prim.nargs > 1 ? facts_resolve(s, def->prim.args[1]) : x;
    const bool from_left = is_position(v, x) && is_outside(s, &v->stays, y);
    if (op == PRIM_NOT)
        return most_positions(v, x, !holds);
    if (!from_left && !(is_position(v, y) && is_outside(s, &v->stays, x)))
        return v->n;
    if (op == PRIM_EQ || op == PRIM_NE)
        return (op == PRIM_EQ) == holds ? core_i64(1) : v->n;
    if (op != PRIM_LT && op != PRIM_LE)
        return v->n;
    /* i < y, i <= y; not x < i, which is i <= x; not x <= i */
    const CoreAtom below = positions_up_to(v, from_left ? y : x, (op == PRIM_LT) == from_left);
    return holds == from_left ? below : build_prim2(&v->b, PRIM_SUB, v->n, below);
}

static CoreAtom few_stay(Versions *v)
{
    CoreBuilder *b = &v->b;
    CoreAtom stay = core_i64(0);
    for (uint32_t i = 0; i < v->stays.where.n; i++)
        stay = build_prim2(b, PRIM_ADD, stay, most_positions(v, v->stays.where.at[i].cond, v->stays.where.at[i].holds));
    stay = build_prim2(b, PRIM_MIN, stay, v->n);
    const CoreAtom change = build_prim2(b, PRIM_SUB, v->n, stay);
    const CoreAtom over = build_prim2(b, PRIM_SUB, stay, build_prim2(b, PRIM_MUL, change, core_i64(COPIES)));
    const CoreAtom length =
        build_prim2(b, PRIM_MIN, v->stays.length, core_i64(WASTED + 1)); /* no product is too large */
    return build_prim2(b, PRIM_LE, build_prim2(b, PRIM_MUL, over, length), core_i64(WASTED));
}

static bool gives_sequence(const CoreFn *fn, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        if (core_var_type(fn, s->vars[i]).rank == 1)
            return true;
    return false;
}

static bool has_choice(const CoreFn *fn, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (b->stmts.at[i]->kind == CORE_IF && gives_sequence(fn, b->stmts.at[i]))
            return true;
    return false;
}

static bool is_affordable(Simplifier *s, CoreBlock *whole)
{
    choose_count(&s->doubled, whole);
    return s->doubled <= MOST_DOUBLED;
}

static void emit_built(void *ctx, CoreBlock *out, CoreStmt *stmt)
{
    (void)out; /* it is s->out */
    simplify_emit(ctx, stmt);
}

bool branch_versions(Simplifier *s, CoreStmt *stmt)
{
    CoreBlock whole = {.stmts = {.at = &stmt, .n = 1, .cap = 1}, .nresults = stmt->nvars};
    if (!s->merges || s->nest > 0 || s->stays || stmt->kind != CORE_MAP || stmt->soac.guard ||
        stmt->soac.index == CORE_NO_VAR || !has_choice(s->fn, stmt->soac.body) || !is_affordable(s, &whole))
        return false;
    Versions v = {.s = s, .b = {.p = s->p, .fn = s->fn, .span = stmt->span, .emit = emit_built, .ctx = s}};
    whole.results = build_atoms(&v.b, stmt->vars, stmt->nvars);
    CoreBlock *copying = core_copy_within(s->p, s->fn, &whole, s->scratch, &s->copied);
    v.n = stmt->soac.domain;
    v.stays = (Stays){.index = copying->stmts.at[0]->soac.index, .first = s->next_order};
    s->stays = &v.stays;
    simplify_rows_block(s, copying, s->next_order);
    if (v.stays.where.n) {
        CoreBlock *parting = core_copy_within(s->p, s->fn, &whole, s->scratch, &s->copied);
        s->stays = NULL;
        s->nest++; /* no versions of that */
        simplify_rows_block(s, parting, s->next_order);
        s->nest--;
        const CoreAtom few = few_stay(&v);
        CoreStmt *chosen = build_stmt_into(&v.b, CORE_IF, stmt->nvars, stmt->vars);
        chosen->if_.cond = few;
        chosen->if_.then_b = copying;
        chosen->if_.else_b = parting;
        simplify_emit(s, chosen);
        s->changed = true;
    }
    s->stays = NULL;
    return v.stays.where.n > 0;
}
