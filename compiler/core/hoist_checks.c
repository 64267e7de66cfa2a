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
#include "core/build.h"
#include "core/passes.h"

/* MOST_TERMS: operations that a place counts with; MOST_DEPTH: of the sums and products that it is. */
enum { MOST_TERMS = 4, MOST_DEPTH = 8 };

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

/* `base`, and of each operation that counts, its position times `factor`: modulo 2^64, as positions are computed. */
typedef struct Term {
    const CoreSoac *soac;
    CoreAtom factor;
} Term;
typedef struct Place {
    CoreAtom base;
    Term terms[MOST_TERMS];
    uint32_t n;
} Place;

static bool is_value(CoreAtom a, int64_t value) { return core_atom_equal(a, core_i64(value)); }

static CoreAtom plus(CoreBuilder *b, CoreAtom x, CoreAtom y)
{
    if (x.is_const && y.is_const)
        return core_i64((int64_t)(x.bits + y.bits));
    return is_value(x, 0) ? y : is_value(y, 0) ? x : build_prim2(b, PRIM_ADD, x, y);
}

static CoreAtom times(CoreBuilder *b, CoreAtom x, CoreAtom y)
{
    if (x.is_const && y.is_const)
        return core_i64((int64_t)(x.bits * y.bits));
    return is_value(x, 1) ? y : is_value(y, 1) ? x : build_prim2(b, PRIM_MUL, x, y);
}

static bool add_term(CoreBuilder *b, Place *place, const CoreSoac *soac, CoreAtom factor)
{
    for (uint32_t i = 0; i < place->n; i++)
        if (place->terms[i].soac == soac) {
            place->terms[i].factor = plus(b, place->terms[i].factor, factor);
            return true;
        }
    if (place->n == MOST_TERMS)
        return false;
    place->terms[place->n++] = (Term){soac, factor};
    return true;
}

/* Adds `factor` times the value to the place. False: it is no such sum. */
static bool add_part(const Mover *m, CoreBuilder *b, Place *place, CoreAtom value, CoreAtom factor, uint32_t to,
                     uint32_t depth)
{
    const CoreStmt *s = def_of(m, value);
    const CoreSoac *counts = counted_by(m, value, to);
    if (is_outside(m, value, to)) {
        place->base = plus(b, place->base, times(b, value, factor));
        return true;
    }
    if (counts)
        return add_term(b, place, counts, factor);
    if (!s || s->kind != CORE_PRIM || depth == 0)
        return false;
    const CoreAtom *args = s->prim.args;
    switch (s->prim.op) {
    case PRIM_ADD:
    case PRIM_SUB: {
        const CoreAtom second = s->prim.op == PRIM_ADD ? factor : times(b, factor, core_i64(-1));
        return add_part(m, b, place, args[0], factor, to, depth - 1) &&
               add_part(m, b, place, args[1], second, to, depth - 1);
    }
    case PRIM_MUL:
        if (is_outside(m, args[1], to))
            return add_part(m, b, place, args[0], times(b, factor, args[1]), to, depth - 1);
        return is_outside(m, args[0], to) && add_part(m, b, place, args[1], times(b, factor, args[0]), to, depth - 1);
    default: return false;
    }
}

static bool place_of(const Mover *m, CoreBuilder *b, Place *place, CoreAtom value, uint32_t to)
{
    *place = (Place){.base = core_i64(0)};
    return core_atom_type(m->fn, value).scalar == SC_I64 && add_part(m, b, place, value, core_i64(1), to, MOST_DEPTH);
}

/* How far the place goes above its base and below it: sizes, each at some element if all operations have any. */
typedef struct Reach {
    CoreAtom above, below;
} Reach;

static CoreAtom size_plus(CoreBuilder *b, CoreAtom x, CoreAtom y)
{
    return is_value(x, 0) ? y : is_value(y, 0) ? x : build_prim2(b, PRIM_SIZE_ADD, x, y);
}

static Reach reach_of(CoreBuilder *b, const Place *place)
{
    Reach r = {core_i64(0), core_i64(0)};
    for (uint32_t i = 0; i < place->n; i++) {
        const CoreAtom f = place->terms[i].factor, zero = core_i64(0);
        const CoreAtom last = plus(b, place->terms[i].soac->domain, core_i64(-1));
        const CoreAtom far = f.is_const ? core_i64((int64_t)f.bits < 0 ? (int64_t)-f.bits : (int64_t)f.bits)
                                        : build_prim1(b, PRIM_ABS, f);
        const CoreAtom size = is_value(far, 1) ? last : build_prim2(b, PRIM_SIZE_MUL, far, last);
        if (!f.is_const) {
            const CoreAtom down = build_prim2(b, PRIM_LT, f, zero);
            r.above = size_plus(b, r.above, build_select(b, down, zero, size));
            r.below = size_plus(b, r.below, build_select(b, down, size, zero));
        } else if ((int64_t)f.bits < 0) {
            r.below = size_plus(b, r.below, size);
        } else {
            r.above = size_plus(b, r.above, size);
        }
    }
    return r;
}

/* ---- moving ---- */

/* Just what an operation counts. */
static bool is_position(const Place *place)
{
    return place->n == 1 && is_value(place->base, 0) && is_value(place->terms[0].factor, 1);
}

/* The place that fails, if one does: above, unless it fails below. */
static CoreAtom failing_place(CoreBuilder *b, const Place *place, Reach r, CoreAtom low)
{
    if (place->n == 0)
        return place->base;
    return build_select(b, low, plus(b, place->base, r.above), build_prim2(b, PRIM_SUB, place->base, r.below));
}

/* Is no element's place out of bounds? `values` are those that an element fails with. A place that is in bounds for all
 * is computed without wrapping; where it is not, it fails for the one that is reached, or on the way there. */
static CoreAtom index_holds(CoreBuilder *b, const Place *place, CoreAtom length, CoreAtom *values)
{
    values[1] = length;
    if (is_position(place)) {
        values[0] = length;
        return build_prim2(b, PRIM_LE, place->terms[0].soac->domain, length);
    }
    const Reach r = reach_of(b, place);
    const CoreAtom low = build_prim2(b, PRIM_LE, r.below, place->base);
    const CoreAtom rest = build_prim2(b, PRIM_SUB, length, place->base);
    values[0] = failing_place(b, place, r, low);
    return build_prim2(b, PRIM_AND, low, build_prim2(b, PRIM_LT, r.above, rest));
}

/* Likewise for a slice, which has the same width, `to` less `from`, everywhere. */
static CoreAtom slice_holds(CoreBuilder *b, const Place *from, CoreAtom width, CoreAtom length, CoreAtom *values)
{
    const Reach r = reach_of(b, from);
    const CoreAtom good = build_prim2(b, PRIM_LE, core_i64(0), width);
    const CoreAtom low = build_prim2(b, PRIM_AND, good, build_prim2(b, PRIM_LE, r.below, from->base));
    const CoreAtom rest = build_prim2(b, PRIM_SUB, length, size_plus(b, from->base, width));
    values[0] = failing_place(b, from, r, low);
    values[1] = build_prim2(b, PRIM_ADD, values[0], width);
    values[2] = length;
    return build_prim2(b, PRIM_AND, low, build_prim2(b, PRIM_LE, r.above, rest));
}

/* How far the slice goes, which is at `from`, if that is the same for all elements. */
static bool width_of(Mover *m, CoreBuilder *b, const CoreStmt *s, const Place *from, uint32_t to, CoreAtom *width)
{
    const CoreStmt *sum = def_of(m, s->slice.to);
    Place rest = {.base = times(b, from->base, core_i64(-1)), .n = from->n};
    for (uint32_t i = 0; sum && sum->kind == CORE_PRIM && sum->prim.op == PRIM_ADD && i < 2; i++)
        if (core_atom_equal(sum->prim.args[i], s->slice.from) && is_outside(m, sum->prim.args[1 - i], to)) {
            *width = sum->prim.args[1 - i];
            return true;
        }
    for (uint32_t i = 0; i < rest.n; i++)
        rest.terms[i] = (Term){from->terms[i].soac, times(b, from->terms[i].factor, core_i64(-1))};
    if (!add_part(m, b, &rest, s->slice.to, core_i64(1), to, MOST_DEPTH))
        return false;
    for (uint32_t i = 0; i < rest.n; i++)
        if (!is_value(rest.terms[i].factor, 0))
            return false;
    *width = rest.base;
    return true;
}

/* The check of s for all its elements, with its values; false: there is none. */
static bool whole_check(Mover *m, CoreBuilder *b, const CoreStmt *s, uint32_t to, Place *place, CoreAtom *holds,
                        CoreAtom *values)
{
    CoreAtom length, width;
    if (s->kind == CORE_INDEX) {
        if (!place_of(m, b, place, s->index.index, to) || !length_of(m, s->index.array, to, b, &length))
            return false;
        *holds = index_holds(b, place, length, values);
        return true;
    }
    if (!place_of(m, b, place, s->slice.from, to) || !width_of(m, b, s, place, to, &width) ||
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
    const CoreSoac *counts = s->kind == CORE_INDEX && is_position(&place) ? place.terms[0].soac : NULL;
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
    return level > 0 && is_of_positions(m, s->slice.from, level, MOST_DEPTH, &counts) &&
           is_of_positions(m, s->slice.to, level, MOST_DEPTH, &any) && counts;
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
    read->index.index = plus(&b, window->slice.from, build_atom(&b, soac->index));
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
