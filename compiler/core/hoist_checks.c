/* Checks of positions, and of sums and multiples of them, go in front of the parallel operations that count them, where
 * that takes them out of all parallel code: one comparison on the host instead of one for each element, and bodies that
 * cannot fail (tiles, vectors).
 *
 *     map n at i () { map p at j () { reduce q at k () { r = index a, i; x = index r, k !site; … } } }
 *   ==>
 *     c = le q m; c' = or c (eq p 0); c'' = or c' (eq n 0); check c'' (m, m) !site
 *     map n at i () { map p at j () { reduce q at k () { r = index a, i; x = index r, k; … } } }
 *
 * m is the length of the array, which stands outside, or of all of its rows, where these have been looked at
 * (CORE_CHECK_ROWS: types with sizes, regular_versions.c). The check fails with what a failing element says. It passes
 * nothing that may fail, no branch and no guard. A slice's is one, too, where all are as long (windows: xs[i:i + k]).
 */
#include "core/passes.h"
#include "core/places.h"

/* A block around the current point. */
typedef struct Level {
    const CoreSoac *soac; /* the block is the body of this, which has no guard; or NULL */
    bool in_parallel;     /* it, or one around it, is in parallel code */
    bool fails;           /* may anything fail that stands in it so far? */
    CoreBlock *out;       /* where the block's statements go */
} Level;

/* All sequences `depth` below the array have this length. */
typedef struct Rows {
    CoreVar array;
    uint32_t depth;
    CoreAtom length;
} Rows;

/* The sequence that a variable is an element of, or a piece; or NULL. A window is a piece that begins so many elements
 * further for each position, and is good. */
typedef struct Source {
    const CoreAtom *of;
    bool piece;
    const CoreStmt *window; /* the slice, or NULL */
} Source;

/* What is known of a variable. */
typedef struct Known {
    uint32_t bound_at;   /* the level of its binder; NOWHERE: that has not been passed */
    const CoreStmt *def; /* what binds it, or NULL */
    Source source;
} Known;
enum { NOWHERE = UINT32_MAX };

typedef struct Mover {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    VEC(Known) known; /* by variable */
    VEC(Level) levels;
    VEC(Rows) rows;
    bool changed;
} Mover;

static uint32_t here(const Mover *m) { return m->levels.n - 1; }

static Known known_of(const Mover *m, CoreVar v)
{
    return v < m->known.n ? m->known.at[v] : (Known){.bound_at = NOWHERE};
}

static void note(Mover *m, CoreVar v, Known known)
{
    while (m->known.n <= v)
        vec_push(m->scratch, &m->known, ((Known){.bound_at = NOWHERE}));
    m->known.at[v] = known;
}

static bool is_outside(const Mover *m, CoreAtom a, uint32_t level)
{
    return a.is_const || known_of(m, a.var).bound_at <= level;
}

/* ---- lengths of rows ---- */

static const CoreStmt *def_of(const Mover *m, CoreAtom a) { return a.is_const ? NULL : known_of(m, a.var).def; }

static void learn_rows(Mover *m, CoreAtom cond)
{
    const CoreStmt *s = def_of(m, cond);
    if (!s || s->kind != CORE_PRIM)
        return;
    if (s->prim.op == PRIM_AND) {
        learn_rows(m, s->prim.args[0]);
        learn_rows(m, s->prim.args[1]);
    }
    const CoreStmt *rows = s->prim.op == PRIM_LT ? def_of(m, s->prim.args[0]) : NULL;
    if (rows && rows->kind == CORE_CHECK_ROWS && rows->rows.nargs == 2 && !rows->rows.args[0].is_const &&
        core_atom_equal(s->prim.args[1], core_i64(0)))
        vec_push(m->scratch, &m->rows, ((Rows){rows->rows.args[0].var, rows->rows.depth, rows->rows.args[1]}));
}

/* False: it is not known at this level. Emits what it takes. */
static bool length_of(Mover *m, CoreAtom xs, uint32_t level, CoreBuilder *b, CoreAtom *length)
{
    uint32_t depth = 0;
    bool piece = false;
    while (!is_outside(m, xs, level) && known_of(m, xs.var).source.of) {
        const Source source = known_of(m, xs.var).source;
        xs = *source.of;
        depth += !source.piece;
        piece |= source.piece && depth == 0;
    }
    if (!is_outside(m, xs, level) || piece)
        return false;
    if (depth == 0) {
        *length = build_length(b, xs);
        return true;
    }
    for (uint32_t i = m->rows.n; i-- > 0;) {
        const Rows *r = &m->rows.at[i];
        if (r->array == xs.var && r->depth == depth && is_outside(m, r->length, level)) {
            *length = r->length;
            return true;
        }
    }
    return false;
}

/* ---- where to ---- */

/* The innermost level around that is not parallel, if nothing is in the way; else this one. */
static uint32_t landing(const Mover *m)
{
    uint32_t to = here(m);
    for (; m->levels.at[to].in_parallel; to--)
        if (!m->levels.at[to].soac || m->levels.at[to].fails)
            return here(m);
    for (uint32_t i = to + 1; i <= here(m); i++)
        if (!is_outside(m, m->levels.at[i].soac->domain, to))
            return here(m);
    return to;
}

/* The level whose operation counts this, or that of its operands; NULL if it is the same for all elements. */
static const CoreSoac *counted_by(const Mover *m, CoreAtom position, uint32_t level)
{
    for (uint32_t i = level + 1; !position.is_const && i <= here(m); i++)
        if (m->levels.at[i].soac && m->levels.at[i].soac->index == position.var)
            return m->levels.at[i].soac;
    return NULL;
}

/* ---- places ---- */

/* A place is to be found at `to`. */
typedef struct Aim {
    const Mover *m;
    uint32_t to;
} Aim;

static bool aim_is_outside(void *ctx, CoreAtom a)
{
    const Aim *aim = ctx;
    return is_outside(aim->m, a, aim->to);
}

static const CoreAtom *aim_counted_to(void *ctx, CoreAtom a)
{
    const Aim *aim = ctx;
    const CoreSoac *soac = counted_by(aim->m, a, aim->to);
    return soac ? &soac->domain : NULL;
}

static const CoreStmt *aim_def(void *ctx, CoreAtom a) { return def_of(((const Aim *)ctx)->m, a); }

static PlaceScope scope_of(Aim *aim) { return (PlaceScope){aim, aim_is_outside, aim_counted_to, aim_def}; }

/* ---- moving ---- */

/* The place that fails, if one does: above, unless it fails below. */
static CoreAtom failing_place(CoreBuilder *b, const Place *place, Reach r, CoreAtom low)
{
    if (place->n == 0)
        return place->base;
    return build_select(b, low, place_plus(b, place->base, r.above), build_prim2(b, PRIM_SUB, place->base, r.below));
}

/* Is no element's place out of bounds? `values` are those that an element fails with. A place that is in bounds for all
 * is computed without wrapping; where it is not, it fails for the one that is reached, or on the way there. */
static CoreAtom index_holds(CoreBuilder *b, const Place *place, CoreAtom length, CoreAtom *values)
{
    values[1] = length;
    if (place_is_counter(place)) {
        values[0] = length;
        return build_prim2(b, PRIM_LE, place->terms[0].count, length);
    }
    const Reach r = place_reach(b, place);
    const CoreAtom low = build_prim2(b, PRIM_LE, r.below, place->base);
    const CoreAtom rest = build_prim2(b, PRIM_SUB, length, place->base);
    values[0] = failing_place(b, place, r, low);
    return build_prim2(b, PRIM_AND, low, build_prim2(b, PRIM_LT, r.above, rest));
}

/* Likewise for a slice, which has the same width, `to` less `from`, everywhere. */
static CoreAtom slice_holds(CoreBuilder *b, const Place *from, CoreAtom width, CoreAtom length, CoreAtom *values)
{
    const Reach r = place_reach(b, from);
    const CoreAtom good = build_prim2(b, PRIM_LE, core_i64(0), width);
    const CoreAtom low = build_prim2(b, PRIM_AND, good, build_prim2(b, PRIM_LE, r.below, from->base));
    const CoreAtom rest = build_prim2(b, PRIM_SUB, length, place_size_plus(b, from->base, width));
    values[0] = failing_place(b, from, r, low);
    values[1] = build_prim2(b, PRIM_ADD, values[0], width);
    values[2] = length;
    return build_prim2(b, PRIM_AND, low, build_prim2(b, PRIM_LE, r.above, rest));
}

/* How far the slice goes, which is at `from`, if that is the same for all elements. */
static bool width_of(Mover *m, CoreBuilder *b, const CoreStmt *s, const Place *from, uint32_t to, CoreAtom *width)
{
    Aim aim = {m, to};
    const PlaceScope scope = scope_of(&aim);
    const CoreStmt *sum = def_of(m, s->slice.to);
    Place rest = {.base = place_times(b, from->base, core_i64(-1)), .n = from->n};
    for (uint32_t i = 0; core_as_prim(sum, PRIM_ADD) && i < 2; i++)
        if (core_atom_equal(sum->prim.args[i], s->slice.from) && is_outside(m, sum->prim.args[1 - i], to)) {
            *width = sum->prim.args[1 - i];
            return true;
        }
    for (uint32_t i = 0; i < rest.n; i++)
        rest.terms[i] = (struct PlaceTerm){from->terms[i].counter, from->terms[i].count,
                                           place_times(b, from->terms[i].factor, core_i64(-1))};
    if (!place_add(&scope, b, &rest, s->slice.to, core_i64(1)))
        return false;
    for (uint32_t i = 0; i < rest.n; i++)
        if (!place_is_value(rest.terms[i].factor, 0))
            return false;
    *width = rest.base;
    return true;
}

/* The check of s for all its elements, with its values; false: there is none. */
static bool whole_check(Mover *m, CoreBuilder *b, const CoreStmt *s, uint32_t to, Place *place, CoreAtom *holds,
                        CoreAtom *values)
{
    Aim aim = {m, to};
    const PlaceScope scope = scope_of(&aim);
    CoreAtom length, width;
    if (s->kind == CORE_INDEX) {
        if (!place_of(&scope, b, place, s->index.index) || !length_of(m, s->index.array, to, b, &length))
            return false;
        *holds = index_holds(b, place, length, values);
        return true;
    }
    if (!place_of(&scope, b, place, s->slice.from) || !width_of(m, b, s, place, to, &width) ||
        !length_of(m, s->slice.array, to, b, &length))
        return false;
    *holds = slice_holds(b, place, width, length, values);
    return true;
}

static void move_check(Mover *m, CoreStmt *s)
{
    const uint32_t to = landing(m);
    CoreBlock *block = core_new_block(m->p);
    CoreBuilder b = {.p = m->p, .fn = m->fn, .out = block, .span = s->span};
    CoreAtom holds, values[3];
    Place place;
    if (to == here(m) || !whole_check(m, &b, s, to, &place, &holds, values))
        return;
    const CoreSoac *counts = s->kind == CORE_INDEX && place_is_counter(&place)
                                 ? counted_by(m, core_var_atom(place.terms[0].counter, core_scalar(SC_I64)), to)
                                 : NULL;
    for (uint32_t i = here(m); i > to; i--)
        if (m->levels.at[i].soac != counts)
            holds =
                build_prim2(&b, PRIM_OR, holds, build_prim2(&b, PRIM_EQ, m->levels.at[i].soac->domain, core_i64(0)));
    build_check(&b, s->site, holds, values, s->kind == CORE_SLICE ? 3 : 2);
    core_append_block(m->p, m->levels.at[to].out, block);
    s->site = CORE_NO_SITE;
    m->changed = true;
}

/* ---- windows ---- */

/* Is the value computed, by a few operations, from positions and from what is bound outside of the level? */
static bool is_of_positions(const Mover *m, CoreAtom a, uint32_t level, uint32_t depth, bool *counts)
{
    const CoreStmt *s = def_of(m, a);
    if (counted_by(m, a, 0)) {
        *counts = true;
        return true;
    }
    if (!s || s->kind != CORE_PRIM || depth == 0 || core_stmt_fallible(m->p, m->fn, s))
        return is_outside(m, a, level - 1);
    for (uint32_t i = 0; i < s->prim.nargs; i++)
        if (!is_of_positions(m, s->prim.args[i], level, depth - 1, counts))
            return false;
    return core_prim_cost(s->prim.op, SC_I64) <= CORE_CHEAP;
}

/* Is the slice a window of the sequence, for the operations around it? */
static bool is_window(const Mover *m, const CoreStmt *s)
{
    uint32_t level = here(m);
    bool counts = false, any = false;
    while (level > 0 && !m->levels.at[level].soac)
        level--;
    return level > 0 && is_of_positions(m, s->slice.from, level, PLACES_DEPTH, &counts) &&
           is_of_positions(m, s->slice.to, level, PLACES_DEPTH, &any) && counts;
}

/* What nobody has checked in front is checked here, so that the window need not be made. */
static void check_window(Mover *m, CoreStmt *s)
{
    CoreBuilder b = {.p = m->p, .fn = m->fn, .out = m->levels.at[here(m)].out, .span = s->span};
    if (s->site == CORE_NO_SITE)
        return;
    m->levels.at[here(m)].fails = true;
    build_check_slice(&b, s->site, s->slice.from, s->slice.to, build_length(&b, s->slice.array));
    s->site = CORE_NO_SITE;
}

/* element = xs[from + position], in front of the body */
static void read_window(Mover *m, CoreSoac *soac, uint32_t input, const CoreStmt *window, Span span)
{
    const CoreBlock old = core_take_stmts(soac->body);
    CoreBuilder b = {.p = m->p, .fn = m->fn, .out = soac->body, .span = span};
    if (soac->index == CORE_NO_VAR)
        soac->index = build_var(&b, core_scalar(SC_I64), NULL).var;
    CoreStmt *read = build_stmt_into(&b, CORE_INDEX, 1, &soac->elements[input]);
    read->index.array = window->slice.array;
    read->index.index = place_plus(&b, window->slice.from, build_atom(&b, soac->index));
    build_emit(&b, read);
    for (uint32_t i = 0; i < old.stmts.n; i++)
        core_push(m->p, soac->body, old.stmts.at[i]);
    soac->ninputs--;
    for (uint32_t i = input; i < soac->ninputs; i++) {
        soac->inputs[i] = soac->inputs[i + 1];
        soac->elements[i] = soac->elements[i + 1];
    }
    m->changed = true;
}

/* What goes over windows goes over places of the sequence: a window is neither a segment nor stored. */
static void read_windows(Mover *m, CoreSoac *soac, Span span)
{
    for (uint32_t i = soac->guard ? 0 : soac->ninputs; i-- > 0;) {
        const CoreAtom xs = soac->inputs[i];
        const CoreStmt *window = xs.is_const ? NULL : known_of(m, xs.var).source.window;
        if (window)
            read_window(m, soac, i, window, span);
    }
}

/* ---- the walk ---- */

static void note_binder(void *ctx, CoreVar *v)
{
    Mover *m = ctx;
    if (*v != CORE_NO_VAR)
        note(m, *v, (Known){.bound_at = here(m), .source = known_of(m, *v).source});
}

static void note_elements(Mover *m, const CoreSoac *soac)
{
    for (uint32_t i = 0; i < soac->ninputs; i++)
        note(m, soac->elements[i], (Known){NOWHERE, NULL, {&soac->inputs[i], false, NULL}});
}

static void move_in_block(Mover *m, CoreBlock *b, CoreStmt *binders, const CoreSoac *soac, bool parallel);

static void move_in_parts(Mover *m, CoreStmt *s)
{
    CoreSoac *soac = core_stmt_soac(s);
    const CoreLambda *op = core_stmt_operator(s);
    const uint32_t known = m->rows.n;
    if (soac) {
        read_windows(m, soac, s->span);
        note_elements(m, soac);
        if (soac->guard)
            move_in_block(m, soac->guard, s, NULL, true);
        move_in_block(m, soac->body, s, soac->guard ? NULL : soac, true);
        if (op)
            move_in_block(m, op->body, s, NULL, true);
    } else if (s->kind == CORE_IF) {
        learn_rows(m, s->if_.cond);
        move_in_block(m, s->if_.then_b, s, NULL, false);
        m->rows.n = known;
        move_in_block(m, s->if_.else_b, s, NULL, false);
    } else if (s->kind == CORE_LOOP) {
        if (s->loop.cond)
            move_in_block(m, s->loop.cond, s, NULL, false);
        move_in_block(m, s->loop.body, s, NULL, false);
    }
}

static Source source_of(const Mover *m, const CoreStmt *s)
{
    if (s->kind == CORE_INDEX)
        return (Source){&s->index.array, false, NULL};
    if (s->kind == CORE_SLICE)
        return (Source){&s->slice.array, true, is_window(m, s) ? s : NULL};
    return (Source){NULL, false, NULL};
}

static void move_in_stmt(Mover *m, CoreStmt *s)
{
    if ((s->kind == CORE_INDEX || s->kind == CORE_SLICE) && s->site != CORE_NO_SITE &&
        m->levels.at[here(m)].in_parallel)
        move_check(m, s);
    if (s->kind == CORE_SLICE && is_window(m, s))
        check_window(m, s);
    move_in_parts(m, s);
    if (s->kind == CORE_CHECK)
        learn_rows(m, s->check.cond);
    for (uint32_t i = 0; i < s->nvars; i++)
        note(m, s->vars[i], (Known){here(m), s, source_of(m, s)});
    m->levels.at[here(m)].fails |= core_stmt_fallible(m->p, m->fn, s);
    core_push(m->p, m->levels.at[here(m)].out, s);
}

/* The block gets a new list of statements; `binders` is the statement that it belongs to. What is learned of rows in it
 * holds in it. */
static void move_in_block(Mover *m, CoreBlock *b, CoreStmt *binders, const CoreSoac *soac, bool parallel)
{
    const CoreBlock old = core_take_stmts(b);
    const uint32_t known = m->rows.n;
    const bool in_parallel = parallel || (m->levels.n && m->levels.at[here(m)].in_parallel);
    vec_push(m->scratch, &m->levels, ((Level){soac, in_parallel, false, b}));
    if (binders)
        core_stmt_binders(binders, note_binder, m);
    for (uint32_t i = 0; i < old.stmts.n; i++)
        move_in_stmt(m, old.stmts.at[i]);
    m->rows.n = known;
    m->levels.n--;
}

bool core_hoist_checks(CoreProgram *p)
{
    bool changed = false;
    for (uint32_t i = 0; i < p->fns.n; i++) {
        CoreFn *fn = p->fns.at[i];
        Mover m = {.p = p, .fn = fn, .scratch = arena_create()};
        for (uint32_t j = 0; j < fn->nparams; j++)
            note(&m, fn->params[j], (Known){0});
        move_in_block(&m, fn->body, NULL, NULL, false);
        changed |= m.changed;
        arena_destroy(m.scratch);
    }
    return changed;
}
