/* flatten (map n at i () { ys = map m at j () { B -> y }; -> ys })   ==>   map (n * m) at p () { i = p / m; j = p % m;
 * B -> y }
 *
 * where n and m are constants and small: so the pairs of `cartesian [-1, 0, 1] [-1, 0, 1]` are computed where they are
 * read, and what goes over them is one operation over a constant number of elements. Bodies are scalar code that cannot
 * fail; what stands beside the inner map is cheap, as it is repeated. ys may be a sequence from outside, too. */
#include "core/build.h"
#include "core/simplify_internal.h"

enum { MOST_ELEMENTS = 64 };

typedef struct Nest {
    const CoreSoac *outer;
    const CoreSoac *inner; /* or NULL */
    CoreAtom rows;         /* without an inner map: what each element of the outer one is */
    uint32_t which;        /* of the inner map's results */
    uint64_t n, m;
    CoreBlock beside; /* the outer body without maps */
} Nest;

static bool is_simple(const Simplifier *s, CoreStmt *stmt)
{
    return core_stmt_is_scalar(stmt) && !core_stmt_fallible(s->p, s->fn, stmt);
}

static bool is_free(const Simplifier *s, CoreStmt *stmt)
{
    return simplify_is_cheap(s->p, s->fn, stmt) ||
           ((stmt->kind == CORE_INDEX || stmt->kind == CORE_LENGTH) && is_simple(s, stmt));
}

static uint64_t constant_domain(Simplifier *s, const CoreSoac *soac)
{
    const CoreAtom n = facts_resolve(s, soac->domain);
    return n.is_const && !soac->guard && n.bits <= MOST_ELEMENTS ? n.bits : 0;
}

/* The map in the outer body that makes the rows. */
static bool find_inner(Simplifier *s, Nest *nest)
{
    const CoreBlock *body = nest->outer->body;
    for (uint32_t i = 0; i < body->stmts.n; i++) {
        CoreStmt *stmt = body->stmts.at[i];
        const uint32_t which = core_stmt_result(stmt, nest->rows);
        if (stmt->kind == CORE_MAP && which < stmt->nvars) {
            nest->inner = &stmt->soac;
            nest->which = which;
        } else if (which < stmt->nvars) {
            return false;
        } else if (stmt->kind != CORE_MAP && !is_free(s, stmt)) {
            return false;
        } else if (stmt->kind != CORE_MAP) {
            core_push(s->p, &nest->beside, stmt);
        }
    }
    for (uint32_t i = 0; nest->inner && i < nest->inner->body->stmts.n; i++)
        if (!is_simple(s, nest->inner->body->stmts.at[i]))
            return false;
    return true;
}

static bool is_element(const CoreSoac *soac, CoreAtom a)
{
    for (uint32_t i = 0; i < soac->ninputs; i++)
        if (soac->elements[i] == a.var)
            return true;
    return false;
}

static bool find_nest(Simplifier *s, const CoreStmt *flatten, Nest *nest)
{
    const CoreStmt *def = facts_def(s, flatten->length.array);
    CoreAtom m;
    if (!def || def->kind != CORE_MAP)
        return false;
    *nest = (Nest){.outer = &def->soac, .n = constant_domain(s, &def->soac)};
    nest->rows = def->soac.body->results[core_stmt_result(def, flatten->length.array)];
    if (nest->n == 0 || nest->rows.is_const || is_element(nest->outer, nest->rows) || !find_inner(s, nest))
        return false;
    if (nest->inner)
        nest->m = constant_domain(s, nest->inner);
    else if (facts_length(s, nest->rows, &m) && m.is_const && m.bits <= MOST_ELEMENTS)
        nest->m = m.bits;
    return nest->m > 0 && nest->n * nest->m <= MOST_ELEMENTS;
}

static CoreAtom build_element(CoreBuilder *b, const Nest *nest, CoreAtom p, Arena *scratch)
{
    const CoreAtom m = core_i64((int64_t)nest->m);
    const CoreAtom i = build_prim2(b, PRIM_DIV, p, m), j = build_prim2(b, PRIM_MOD, p, m);
    CoreAtom *map = core_identity_map(scratch, b->fn);
    build_enter(b, nest->outer, i, map);
    build_copy(b, b->fn, &nest->beside, map);
    if (!nest->inner)
        return build_index(b, nest->rows, j, CORE_NO_SITE);
    build_enter(b, nest->inner, j, map);
    const CoreAtom y = nest->inner->body->results[nest->which];
    build_copy(b, b->fn, nest->inner->body, map);
    return y.is_const ? y : map[y.var];
}

bool simplify_small_nest(Simplifier *s, const CoreStmt *flatten, CoreAtom *out)
{
    Nest nest;
    if (!find_nest(s, flatten, &nest))
        return false;
    Arena *scratch = arena_create();
    CoreBuilder b = {.p = s->p, .fn = s->fn, .span = flatten->span};
    const CoreAtom p = build_var(&b, core_scalar(SC_I64), NULL);
    CoreBlock *outer = build_begin(&b);
    const CoreAtom element = build_element(&b, &nest, p, scratch);
    const CoreSoac soac = {
        .domain = core_i64((int64_t)(nest.n * nest.m)), .index = p.var, .body = build_end(&b, outer, &element, 1)};
    const CoreType type = core_var_type(s->fn, flatten->vars[0]);
    CoreStmt *map = build_stmt(&b, CORE_MAP, 1, &type);
    map->soac = soac;
    simplify_emit(s, map);
    s->changed = true;
    *out = build_atom(&b, map->vars[0]);
    arena_destroy(scratch);
    return true;
}
