/* Checks of positions go in front of the parallel operations that count them, where that takes them out of all parallel
 * code: one comparison on the host instead of one for each element, and bodies that cannot fail (tiles, vectors).
 *
 *     map n at i () { map p at j () { reduce q at k () { r = index a, i; x = index r, k !site; … } } }
 *   ==>
 *     c = le q m; c' = or c (eq p 0); c'' = or c' (eq n 0); check c'' (m, m) !site
 *     map n at i () { map p at j () { reduce q at k () { r = index a, i; x = index r, k; … } } }
 *
 * m is the length of the array, which stands outside, or of all of its rows, where these have been looked at
 * (CORE_CHECK_ROWS: types with sizes, regular_versions.c). The check fails with what the first failing element says. It
 * passes nothing that may fail, no branch and no guard. */
#include "core/build.h"
#include "core/passes.h"

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

typedef struct Mover {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    uint32_t nvars;           /* that there were before */
    const CoreStmt **defs;    /* by variable: what binds it, if that has been passed */
    const CoreAtom **sources; /* by variable: the sequence that it is an element of, or NULL */
    uint32_t *bound_at;       /* by variable: the level of its binder */
    VEC(Level) levels;
    VEC(Rows) rows;
} Mover;

static uint32_t here(const Mover *m) { return m->levels.n - 1; }

/* Variables that this pass makes are bound where it needs them. */
static bool is_outside(const Mover *m, CoreAtom a, uint32_t level)
{
    return a.is_const || (a.var < m->nvars && m->bound_at[a.var] <= level);
}

/* ---- lengths of rows ---- */

static const CoreStmt *def_of(const Mover *m, CoreAtom a)
{
    return a.is_const || a.var >= m->nvars ? NULL : m->defs[a.var];
}

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
    while (!is_outside(m, xs, level) && m->sources[xs.var]) {
        xs = *m->sources[xs.var];
        depth++;
    }
    if (!is_outside(m, xs, level))
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

/* ---- moving ---- */

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
        if (m->levels.at[i].soac->index == position.var)
            return m->levels.at[i].soac;
    return NULL;
}

/* What holds if no element's position is out of bounds; the values that the first one fails with. */
static CoreAtom all_below(CoreBuilder *b, const CoreSoac *counts, CoreAtom position, CoreAtom length, CoreAtom *failing)
{
    *failing = counts ? length : position;
    if (counts)
        return build_prim2(b, PRIM_LE, counts->domain, length);
    const CoreAtom low = build_prim2(b, PRIM_LE, core_i64(0), position);
    return build_prim2(b, PRIM_AND, low, build_prim2(b, PRIM_LT, position, length));
}

static void move_check(Mover *m, CoreStmt *s)
{
    const uint32_t to = landing(m);
    const CoreAtom position = s->index.index;
    CoreBlock *block = core_new_block(m->p);
    CoreBuilder b = {.p = m->p, .fn = m->fn, .out = block, .span = s->span};
    if (to == here(m))
        return;
    const CoreSoac *counts = counted_by(m, position, to);
    CoreAtom length;
    if ((!counts && !is_outside(m, position, to)) || !length_of(m, s->index.array, to, &b, &length))
        return;
    CoreAtom values[] = {position, length};
    CoreAtom holds = all_below(&b, counts, position, length, &values[0]);
    for (uint32_t i = here(m); i > to; i--)
        if (m->levels.at[i].soac != counts)
            holds =
                build_prim2(&b, PRIM_OR, holds, build_prim2(&b, PRIM_EQ, m->levels.at[i].soac->domain, core_i64(0)));
    build_check(&b, s->site, holds, values, 2);
    core_append_block(m->p, m->levels.at[to].out, block);
    s->site = CORE_NO_SITE;
}

/* ---- the walk ---- */

static void note_binder(void *ctx, CoreVar *v)
{
    Mover *m = ctx;
    if (*v != CORE_NO_VAR)
        m->bound_at[*v] = here(m);
}

static void note_elements(Mover *m, const CoreSoac *soac)
{
    for (uint32_t i = 0; i < soac->ninputs; i++)
        m->sources[soac->elements[i]] = &soac->inputs[i];
}

static void move_in_block(Mover *m, CoreBlock *b, CoreStmt *binders, const CoreSoac *soac, bool parallel);

static void move_in_parts(Mover *m, CoreStmt *s)
{
    CoreSoac *soac = core_stmt_soac(s);
    const CoreLambda *op = core_stmt_operator(s);
    const uint32_t known = m->rows.n;
    if (soac) {
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

static void move_in_stmt(Mover *m, CoreStmt *s)
{
    if (s->kind == CORE_INDEX && s->site != CORE_NO_SITE && m->levels.at[here(m)].in_parallel)
        move_check(m, s);
    move_in_parts(m, s);
    if (s->kind == CORE_CHECK)
        learn_rows(m, s->check.cond);
    for (uint32_t i = 0; i < s->nvars; i++) {
        m->defs[s->vars[i]] = s;
        m->bound_at[s->vars[i]] = here(m);
        m->sources[s->vars[i]] = s->kind == CORE_INDEX ? &s->index.array : NULL;
    }
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

void core_hoist_checks(CoreProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++) {
        CoreFn *fn = p->fns.at[i];
        Mover m = {.p = p, .fn = fn, .scratch = arena_create(), .nvars = fn->vars.n};
        m.defs = arena_array(m.scratch, const CoreStmt *, fn->vars.n + 1);
        m.sources = arena_array(m.scratch, const CoreAtom *, fn->vars.n + 1);
        m.bound_at = arena_array(m.scratch, uint32_t, fn->vars.n + 1);
        move_in_block(&m, fn->body, NULL, NULL, false);
        arena_destroy(m.scratch);
    }
}
