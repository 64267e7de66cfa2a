#include "core/append.h"

enum { LEAST_ROOM = 16 };

/* The array of which result k of the block is the element at `at`; all statements but the first `but` are such
 * elements, and there are no more than results. Else a constant. */
static CoreAtom only_element(const CoreBlock *b, uint32_t but, uint32_t k, CoreAtom at)
{
    bool only = b->stmts.n <= b->nresults + but;
    for (uint32_t i = but; only && i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        only = s->kind == CORE_INDEX && s->site == CORE_NO_SITE && core_atom_equal(s->index.index, at);
    }
    const CoreStmt *def = only && !b->results[k].is_const ? core_block_def(b, b->results[k]) : NULL;
    return def && def->kind == CORE_INDEX ? def->index.array : core_i64(0);
}

/* The branch whose result is result k of the map, elements of append->left in front of append->length and others behind
 * that, for which it computes their place first; or NULL. */
static const CoreStmt *append_sides(const CoreStmt *map, uint32_t k, CoreAppend *append)
{
    const CoreBlock *body = map->kind == CORE_MAP ? map->soac.body : NULL;
    if (!body || map->soac.guard || map->soac.ninputs > 0 || map->soac.index == CORE_NO_VAR || body->stmts.n != 2)
        return NULL;
    const CoreStmt *left = core_as_prim(body->stmts.at[0], PRIM_LT), *side = body->stmts.at[1];
    const CoreAtom i = core_var_atom(map->soac.index, core_scalar(SC_I64)), result = body->results[k];
    if (!left || !core_atom_equal(left->prim.args[0], i) || side->kind != CORE_IF || side->if_.cond.is_const ||
        !core_stmt_binds(left, side->if_.cond.var) || result.is_const || !core_stmt_binds(side, result.var))
        return NULL;
    const CoreBlock *behind = side->if_.else_b;
    append->length = left->prim.args[1];
    append->left = only_element(side->if_.then_b, 0, core_stmt_result(side, result), i);
    const bool places = behind->stmts.n && core_is_prim2(behind->stmts.at[0], PRIM_SUB, i, append->length);
    return places && !append->left.is_const ? side : NULL;
}

bool core_as_append(const CoreStmt *map, uint32_t k, CoreAppend *append)
{
    const CoreStmt *side = append_sides(map, k, append);
    if (!side)
        return false;
    const CoreBlock *behind = side->if_.else_b;
    const CoreAtom place = core_var_atom(behind->stmts.at[0]->vars[0], core_scalar(SC_I64));
    append->right = only_element(behind, 1, core_stmt_result(side, map->soac.body->results[k]), place);
    return !append->right.is_const;
}

static bool is_index(void *ctx, CoreAtom a)
{
    const CoreStmt *map = ctx;
    return !a.is_const && a.var == map->soac.index;
}

CoreBlock *core_as_open_append(CoreStmt *map, CoreAppend *append)
{
    const CoreStmt *side = NULL;
    for (uint32_t k = 0; k < map->nvars; k++) {
        side = append_sides(map, k, append);
        if (!side || side->nvars != map->nvars || core_stmt_result(side, map->soac.body->results[k]) != k)
            return NULL;
    }
    if (!side)
        return NULL;
    CoreBlock *behind = side->if_.else_b;
    for (uint32_t i = 1; i < behind->stmts.n; i++)
        if (core_stmt_reads(behind->stmts.at[i], is_index, map))
            return NULL;
    return behind;
}

/* a is base + offset. */
static CoreAtom base_of(const CoreMakers *m, CoreAtom a, int64_t *offset)
{
    const CoreStmt *s = core_maker(m, a);
    *offset = a.is_const ? (int64_t)a.bits : 0;
    if (a.is_const)
        return core_i64(0);
    if (!s || s->kind != CORE_PRIM || (s->prim.op != PRIM_SIZE_ADD && s->prim.op != PRIM_ADD) ||
        !s->prim.args[1].is_const)
        return a;
    *offset = (int64_t)s->prim.args[1].bits;
    return s->prim.args[0];
}

bool core_append_more(const CoreMakers *m, CoreAtom domain, CoreAtom length, CoreAtom *more)
{
    const CoreStmt *sum = core_as_prim(core_maker(m, domain), PRIM_SIZE_ADD);
    for (uint32_t k = 0; sum && k < 2; k++)
        if (core_atom_equal(sum->prim.args[k], length)) {
            *more = sum->prim.args[1 - k];
            return true;
        }
    int64_t of_domain, of_length;
    if (!core_atom_equal(base_of(m, domain, &of_domain), base_of(m, length, &of_length)) || of_domain < of_length)
        return false;
    *more = core_i64(of_domain - of_length);
    return true;
}

bool core_is_length(const CoreMakers *m, CoreAtom xs, CoreAtom n)
{
    const CoreStmt *length = core_maker(m, n), *made = core_maker(m, xs);
    for (;; made = core_maker(m, xs)) { /* updates leave it as it is */
        if ((made && made->kind == CORE_MAP && core_atom_equal(made->soac.domain, n)) ||
            (length && length->kind == CORE_LENGTH && core_atom_equal(length->length.array, xs)))
            return true;
        if (!made || made->kind != CORE_UPDATE)
            return false;
        xs = made->update.array;
    }
}

typedef struct Origin {
    const CoreFn *fn;
    CoreMakers makers;
    bool *seen; /* by variable: it does not show there */
} Origin;

static uint32_t origin_of(const Origin *o, CoreAtom a)
{
    const CoreFn *fn = o->fn;
    for (uint32_t i = 0; i < fn->nparams && !a.is_const; i++)
        if (fn->params[i] == a.var)
            return i;
    const CoreStmt *s = core_maker(&o->makers, a);
    if (!s || o->seen[a.var])
        return fn->nparams;
    o->seen[a.var] = true;
    const uint32_t k = core_stmt_result(s, a);
    CoreAppend append;
    uint32_t way;
    switch (s->kind) {
    case CORE_ATOM: return origin_of(o, s->atom);
    case CORE_UPDATE: return origin_of(o, s->update.array);
    case CORE_SLICE: return origin_of(o, s->slice.array);
    case CORE_MAP: return core_as_append(s, k, &append) ? origin_of(o, append.left) : fn->nparams;
    case CORE_LOOP: return origin_of(o, s->loop.inits[k]);
    case CORE_IF:
        way = origin_of(o, s->if_.then_b->results[k]);
        return way < fn->nparams ? way : origin_of(o, s->if_.else_b->results[k]);
    default: return fn->nparams;
    }
}

uint32_t core_param_behind(const CoreFn *fn, CoreAtom a, Arena *scratch)
{
    const Origin o = {fn, core_makers_of(fn, scratch), arena_array(scratch, bool, fn->vars.n + 1)};
    return origin_of(&o, a);
}

CoreAtom build_append(CoreBuilder *b, CoreAtom n, CoreAtom xs, CoreAtom length, const CoreAtom *ys)
{
    const CoreAtom i = build_var(b, core_scalar(SC_I64), NULL);
    CoreSoac soac = {.domain = n, .index = i.var, .grows = !ys};
    CoreBlock *outer = build_begin(b), *body = b->out;
    const CoreAtom there = build_prim2(b, PRIM_LT, i, length);
    build_begin(b);
    const CoreAtom x = build_index(b, xs, i, CORE_NO_SITE);
    CoreBlock *first = build_end(b, body, &x, 1);
    build_begin(b);
    const CoreAtom y = ys ? build_index(b, *ys, build_prim2(b, PRIM_SUB, i, length), CORE_NO_SITE)
                          : build_nothing(b, core_element(core_atom_type(b->fn, xs)));
    CoreBlock *behind = build_end(b, body, &y, 1);
    const CoreAtom *element = build_if(b, there, first, behind);
    soac.body = build_end(b, outer, element, 1);
    return build_map(b, soac)[0];
}

CoreAtom build_appended(CoreBuilder *b, CoreAtom xs, CoreAtom ys, CoreAtom more)
{
    const CoreAtom n = build_length(b, xs);
    return build_append(b, build_prim2(b, PRIM_SIZE_ADD, n, more), xs, n, &ys);
}

static void note_makers(void *ctx, CoreBlock *b)
{
    const CoreMakers *m = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        for (uint32_t k = 0; k < b->stmts.at[i]->nvars; k++)
            m->at[b->stmts.at[i]->vars[k]] = b->stmts.at[i];
        core_stmt_blocks(b->stmts.at[i], note_makers, ctx);
    }
}

CoreMakers core_makers_of(const CoreFn *fn, Arena *scratch)
{
    CoreMakers m = {arena_array(scratch, CoreStmt *, fn->vars.n + 1), fn->vars.n};
    note_makers(&m, fn->body);
    return m;
}

CoreAtom build_room_for(CoreBuilder *b, CoreAtom buffer, CoreAtom used, CoreAtom needed)
{
    const CoreAtom has = build_length(b, buffer), full = build_prim2(b, PRIM_LT, has, needed);
    CoreBlock *outer = build_begin(b);
    const CoreAtom twice = build_prim2(b, PRIM_ADD, needed, needed);
    const CoreAtom room = build_prim2(b, PRIM_MAX, twice, core_i64(LEAST_ROOM));
    const CoreAtom grown = build_append(b, room, buffer, used, NULL);
    CoreBlock *grows = build_end(b, outer, &grown, 1);
    build_begin(b);
    CoreBlock *stays = build_end(b, outer, &buffer, 1);
    return build_if(b, full, grows, stays)[0];
}

CoreAtom build_stored(CoreBuilder *b, CoreAtom buffer, CoreAtom from, CoreAtom xs, CoreAtom n)
{
    const CoreType type = core_atom_type(b->fn, buffer);
    const CoreAtom i = build_var(b, core_scalar(SC_I64), NULL), x = build_var(b, core_element(type), NULL);
    CoreStmt *s = build_stmt(b, CORE_SCATTER, 1, &type);
    CoreBlock *outer = build_begin(b);
    const CoreAtom results[] = {build_prim2(b, PRIM_ADD, from, i), x};
    s->soac = (CoreSoac){.domain = n, .index = i.var, .ninputs = 1, .body = build_end(b, outer, results, 2)};
    s->soac.inputs = build_atoms_copy(b, &xs, 1, 1);
    s->soac.elements = build_vars_copy(b, &x.var, 1, 1);
    s->soac.dests = build_atoms_copy(b, &buffer, 1, 1);
    build_emit(b, s);
    return build_atom(b, s->vars[0]);
}

bool core_shown_length(const CoreStmt *s, CoreAtom *n)
{
    if (s && s->kind == CORE_ARRAY)
        *n = core_i64(s->array.n);
    else if (s && (s->kind == CORE_MAP || s->kind == CORE_SCAN) && !s->soac.guard)
        *n = s->soac.domain;
    else
        return false;
    return true;
}
