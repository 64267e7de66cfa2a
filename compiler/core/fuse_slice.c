/* ys = map n at p (x <- xs) { -> f p x }            xs' = xs[a:b]
 * zs = ys[a:b]                               ==>    zs  = map (b - a) at q (x <- xs') { p = q + a; -> f p x }
 *
 * Done if nobody wants more of ys than this piece, in the block that makes ys, and f cannot fail: what lies outside of
 * the piece is not computed. xs and ys have one length, so the slice of xs fails where that of ys did. */
#include "core/fuse_internal.h"

/* Is s the same piece of another result of the map? */
static bool is_same_piece(Fuser *f, const CoreStmt *map, const CoreStmt *s, const CoreStmt *stmt)
{
    uint32_t which;
    return s && s->kind == CORE_SLICE && fuse_is_result_of(f, map, s->slice.array, &which) &&
           core_atom_equal(fuse_resolve(f, s->slice.from), stmt->slice.from) &&
           core_atom_equal(fuse_resolve(f, s->slice.to), stmt->slice.to);
}

/* Does nothing read the map's results but slices like this one, right behind it? */
static bool is_only_sliced(Fuser *f, const CoreStmt *map, const CoreStmt *stmt)
{
    uint32_t reads = 1, uses = 0;
    for (uint32_t i = 0; i < f->nrest; i++)
        reads += is_same_piece(f, map, f->rest[i], stmt);
    for (uint32_t i = 0; i < map->nvars; i++)
        uses += fuse_var(f, map->vars[i])->all;
    return uses == reads;
}

/* The map moves behind the slices: out of the block, to be appended again. */
static void take_out(CoreBlock *b, const CoreStmt *s)
{
    uint32_t at = b->stmts.n - 1;
    while (b->stmts.at[at] != s)
        at--;
    for (; at + 1 < b->stmts.n; at++)
        b->stmts.at[at] = b->stmts.at[at + 1];
    b->stmts.n--;
}

/* The same piece of xs as stmt is of another sequence. */
static CoreAtom slice_likewise(Fuser *f, CoreBlock *b, const CoreStmt *stmt, uint32_t site, CoreAtom xs)
{
    const CoreType t = core_atom_type(f->fn, xs);
    CoreBuilder builder = fuse_builder(f, b, stmt->span);
    CoreStmt *piece = build_stmt(&builder, CORE_SLICE, 1, &t);
    piece->slice = stmt->slice;
    piece->slice.array = xs;
    piece->site = site;
    fuse_count_atom(f, xs, 1);
    fuse_count_atom(f, stmt->slice.from, 1);
    fuse_count_atom(f, stmt->slice.to, 1);
    fuse_emit(f, b, piece); /* xs may be a map, too */
    return fuse_resolve(f, core_var_atom(piece->vars[0], t));
}

/* The body's position counts from the beginning of ys. */
static void shift_position(Fuser *f, CoreSoac *m, CoreAtom from, Span span)
{
    if (m->index == CORE_NO_VAR || (from.is_const && from.bits == 0))
        return;
    const CoreVar old = m->index;
    CoreBlock front = {0};
    CoreBuilder builder = fuse_builder(f, &front, span);
    m->index = core_new_var(f->p, f->fn, core_scalar(SC_I64), f->fn->vars.at[old].hint);
    const CoreAtom p = build_prim2(&builder, PRIM_ADD, core_var_atom(m->index, core_scalar(SC_I64)), from);
    fuse_prepend(f, m->body, &front);
    fuse_replace(f, old, p);
}

/* The inputs' pieces instead of the inputs; the first is checked as stmt is. */
static void slice_inputs(Fuser *f, CoreBlock *b, CoreSoac *m, const CoreStmt *stmt)
{
    for (uint32_t i = 0; i < m->ninputs; i++) {
        fuse_count_atom(f, m->inputs[i], -1);
        m->inputs[i] = slice_likewise(f, b, stmt, i ? CORE_NO_SITE : stmt->site, fuse_resolve(f, m->inputs[i]));
        fuse_count_atom(f, m->inputs[i], 1);
    }
    CoreBuilder builder = fuse_builder(f, b, stmt->span);
    if (m->ninputs == 0)
        build_check_slice(&builder, stmt->site, stmt->slice.from, stmt->slice.to, fuse_resolve(f, m->domain));
    fuse_count_atom(f, m->domain, -1);
    m->domain = build_prim2(&builder, PRIM_SUB, stmt->slice.to, stmt->slice.from);
    fuse_count_atom(f, m->domain, 1);
}

/* What the slice binds is the map's result. */
static void replace_slice(Fuser *f, const CoreStmt *s, CoreVar result)
{
    fuse_count_atom(f, s->slice.array, -1);
    fuse_count_atom(f, s->slice.from, -1);
    fuse_count_atom(f, s->slice.to, -1);
    fuse_replace(f, s->vars[0], core_var_atom(result, core_var_type(f->fn, result)));
}

/* The map binds new variables, for the pieces; stmt and those like it are gone. */
static void bind_pieces(Fuser *f, CoreStmt *map, const CoreStmt *stmt)
{
    const CoreStmt whole = *map;
    uint32_t which;
    map->vars = arena_array(f->p->arena, CoreVar, whole.nvars + 1);
    for (uint32_t i = 0; i < whole.nvars; i++) {
        const CoreVarInfo info = f->fn->vars.at[whole.vars[i]];
        map->vars[i] = core_new_var(f->p, f->fn, info.type, info.hint);
    }
    for (uint32_t i = 0; i < f->nrest; i++)
        if (is_same_piece(f, &whole, f->rest[i], stmt) &&
            fuse_is_result_of(f, &whole, f->rest[i]->slice.array, &which)) {
            replace_slice(f, f->rest[i], map->vars[which]);
            f->rest[i] = NULL;
        }
    if (fuse_is_result_of(f, &whole, stmt->slice.array, &which))
        replace_slice(f, stmt, map->vars[which]);
}

bool fuse_slice(Fuser *f, CoreBlock *b, const CoreStmt *stmt)
{
    CoreStmt *map = fuse_def(f, stmt->slice.array);
    if (!map || map->kind != CORE_MAP || map->soac.guard || fuse_var(f, map->vars[0])->block != b ||
        core_block_fallible(f->p, f->fn, map->soac.body) || !is_only_sliced(f, map, stmt))
        return false;
    take_out(b, map);
    slice_inputs(f, b, &map->soac, stmt);
    shift_position(f, &map->soac, stmt->slice.from, stmt->span);
    bind_pieces(f, map, stmt);
    fuse_note_def(f, b, map);
    core_push(f->p, b, map);
    return true;
}
