/* Entries whose parameters have rows of unknown lengths, `[[f32]]`, and that had better know that all rows of each are
 * equally long: two versions of the body, of which the run takes one.
 *
 *     main (xss : [[f32]]) { B }
 *   ==>
 *     main (xss : [[f32]]) {
 *         n = the first row's length; regular = check_rows 1 below xss, n < 0
 *         if regular then { B, knowing that } else { B' }
 *     }
 *
 * So what is written without sizes is as fast as `[n][m]f32` where the data have them: nests become regular (tiles,
 * strides instead of offsets). The runtime mostly knows how long rows are. That pays where reductions share what they
 * read (lane_shares.c), each row makes for itself what depends on its length only (hoist_operations.c), or a loop
 * outside parallel code goes over rows in each round. Bodies have to be small, for the program's size.
 *
 * A square matrix is often written with one number, `{ f a[i][j] : j in n }` with n = length a. Where the body compares
 * a row's length with that number, or has indices below it in rows, the condition asks that, too: that there are as
 * many rows as a row has elements, or not more. */
#include "core/choose_lanes_internal.h"
#include "core/lane.h"

/* MOST_STATEMENTS: of a body, to be there twice. MOST_RANK: of what is asked about. */
enum { MOST_STATEMENTS = 400, MOST_RANK = 4 };

/* ---- does it pay? ---- */

typedef struct Look {
    const CoreFn *fn;
    uint32_t nest; /* parallel operations around */
    bool in_loop;  /* of rows */
    bool pays;
} Look;

static bool keeps_rows(const CoreFn *fn, const CoreStmt *s)
{
    for (uint32_t i = 0; s->kind == CORE_LOOP && i < s->loop.nparams; i++)
        if (core_var_type(fn, s->loop.params[i]).rank > 1)
            return true;
    return false;
}

/* A row that is not the old one updated: it has to be as long as that one (flat_tables.c). */
static bool replaces_row(const CoreFn *fn, const CoreBlock *b, const CoreStmt *s)
{
    if (s->kind != CORE_UPDATE || core_atom_type(fn, s->update.value).rank == 0)
        return false;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (core_stmt_binds(b->stmts.at[i], s->update.value.var))
            return b->stmts.at[i]->kind != CORE_UPDATE;
    return true;
}

static void look_at_block(void *ctx, CoreBlock *b)
{
    Look *l = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !l->pays; i++) {
        CoreStmt *s = b->stmts.at[i];
        const CoreSoac *soac = core_stmt_soac(s);
        const Look before = *l;
        l->pays = (l->in_loop && replaces_row(l->fn, b, s)) ||
                  (soac && ((l->in_loop && l->nest > 0) || lane_shares(l->fn, soac, soac->body, true).any));
        l->nest += soac != NULL;
        l->in_loop |= l->nest == 0 && keeps_rows(l->fn, s);
        core_stmt_blocks(s, look_at_block, l);
        l->nest = before.nest;
        l->in_loop = before.in_loop;
    }
}

static bool pays(CoreProgram *p, CoreFn *fn)
{
    Look l = {.fn = fn};
    uint32_t statements = 0;
    choose_count(&statements, fn->body);
    if (statements > MOST_STATEMENTS)
        return false;
    look_at_block(&l, fn->body);
    return l.pays || core_hoists_of_equal_rows(p, fn);
}

/* ---- asking ---- */

/* x = if 0 < length xs then (the first length in xs[0]) else 0 */
static CoreAtom first_length(CoreBuilder *b, CoreAtom xs, uint32_t depth)
{
    const CoreAtom n = build_length(b, xs), zero = core_i64(0);
    if (depth == 0)
        return n;
    const CoreAtom some = build_prim2(b, PRIM_LT, zero, n);
    CoreBlock *outer = build_begin(b);
    const CoreAtom inner = first_length(b, build_index(b, xs, zero, CORE_NO_SITE), depth - 1);
    CoreBlock *then_b = build_end(b, outer, &inner, 1);
    outer = build_begin(b);
    return build_if(b, some, then_b, build_end(b, outer, &zero, 1))[0];
}

/* ---- as many rows as a row has elements? ---- */

typedef struct Shape {
    const CoreFn *fn;
    CoreVar xs;
    bool *within, *made;     /* by variable: it begins as xs, or is a part of that; likewise, or a map over it */
    bool *rows, *below;      /* it is how many rows xs has; a position less than that */
    const CoreStmt **makers; /* by variable, or NULL */
    bool equal, not_more;    /* the body asks for it */
} Shape;

static bool has_mark(const bool *marks, CoreAtom a) { return !a.is_const && marks[a.var]; }

static bool is_row_length(const Shape *s, CoreAtom a)
{
    const CoreStmt *def = a.is_const ? NULL : s->makers[a.var];
    return def && def->kind == CORE_LENGTH && has_mark(s->within, def->length.array) &&
           core_atom_type(s->fn, def->length.array).rank == 1;
}

static void look_at_check(Shape *s, const CoreStmt *check)
{
    const CoreStmt *def = check->check.cond.is_const ? NULL : s->makers[check->check.cond.var];
    if (!def || def->kind != CORE_PRIM || def->prim.op != PRIM_EQ)
        return;
    const CoreAtom x = def->prim.args[0], y = def->prim.args[1];
    s->equal |= (has_mark(s->rows, x) && is_row_length(s, y)) || (has_mark(s->rows, y) && is_row_length(s, x));
}

static void note_part(Shape *s, CoreVar part, CoreAtom of)
{
    s->within[part] = has_mark(s->within, of);
    s->made[part] = has_mark(s->made, of);
}

static void note_parts(Shape *s, const CoreStmt *stmt)
{
    const CoreSoac *soac = core_stmt_soac(stmt);
    for (uint32_t i = 0; soac && i < soac->ninputs; i++) {
        note_part(s, soac->elements[i], soac->inputs[i]);
        for (uint32_t k = 0; stmt->kind == CORE_MAP && k < stmt->nvars; k++)
            s->made[stmt->vars[k]] |= has_mark(s->made, soac->inputs[i]);
    }
    if (soac && soac->index != CORE_NO_VAR)
        s->below[soac->index] = has_mark(s->rows, soac->domain);
    for (uint32_t i = 0; stmt->kind == CORE_LOOP && i < stmt->loop.nparams; i++) {
        note_part(s, stmt->loop.params[i], stmt->loop.inits[i]);
        note_part(s, stmt->vars[i], stmt->loop.inits[i]);
    }
    if (stmt->kind == CORE_LOOP && stmt->loop.index != CORE_NO_VAR)
        s->below[stmt->loop.index] = has_mark(s->rows, stmt->loop.count);
    if (stmt->kind == CORE_INDEX)
        note_part(s, stmt->vars[0], stmt->index.array);
    if (stmt->kind == CORE_UPDATE)
        note_part(s, stmt->vars[0], stmt->update.array);
    if (stmt->kind == CORE_LENGTH)
        s->rows[stmt->vars[0]] = !stmt->length.array.is_const && stmt->length.array.var == s->xs;
}

/* An index that may be out of bounds, but hardly is. */
static bool is_index_below(const Shape *s, const CoreStmt *stmt)
{
    return stmt->kind == CORE_INDEX && stmt->site != CORE_NO_SITE && has_mark(s->below, stmt->index.index) &&
           has_mark(s->made, stmt->index.array) && core_atom_type(s->fn, stmt->index.array).rank == 1;
}

static void look_for_shape(void *ctx, CoreBlock *b)
{
    Shape *s = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *stmt = b->stmts.at[i];
        for (uint32_t k = 0; k < stmt->nvars; k++)
            s->makers[stmt->vars[k]] = stmt;
        note_parts(s, stmt);
        if (stmt->kind == CORE_CHECK)
            look_at_check(s, stmt);
        s->not_more |= is_index_below(s, stmt);
        core_stmt_blocks(stmt, look_for_shape, s);
    }
}

/* The condition that the body asks for, or a constant. */
static CoreAtom is_as_long(CoreBuilder *b, CoreBlock *body, CoreAtom xs, CoreAtom length)
{
    Arena *scratch = arena_create();
    const uint32_t n = b->fn->vars.n;
    Shape s = {.fn = b->fn, .xs = xs.var};
    s.within = arena_array(scratch, bool, n);
    s.made = arena_array(scratch, bool, n);
    s.rows = arena_array(scratch, bool, n);
    s.below = arena_array(scratch, bool, n);
    s.makers = arena_array(scratch, const CoreStmt *, n);
    s.within[xs.var] = s.made[xs.var] = true;
    look_for_shape(&s, body);
    arena_destroy(scratch);
    if (!s.equal && !s.not_more)
        return core_const(SC_BOOL, 1);
    return build_prim2(b, s.equal ? PRIM_EQ : PRIM_LE, build_length(b, xs), length);
}

/* Have all sequences `depth` below xs one length? */
static CoreAtom is_regular(CoreBuilder *b, CoreBlock *body, CoreAtom xs, uint32_t depth)
{
    const CoreType i64 = core_scalar(SC_I64);
    const CoreAtom args[] = {xs, first_length(b, xs, depth)};
    CoreStmt *s = build_stmt(b, CORE_CHECK_ROWS, 1, &i64);
    s->rows.args = build_atoms_copy(b, args, 2, 2);
    s->rows.nargs = 2;
    s->rows.depth = depth;
    build_emit(b, s);
    const CoreAtom regular = build_prim2(b, PRIM_LT, build_atom(b, s->vars[0]), core_i64(0));
    if (core_atom_type(b->fn, xs).rank > 2)
        return regular;
    const CoreAtom as_long = is_as_long(b, body, xs, args[1]);
    return as_long.is_const ? regular : build_prim2(b, PRIM_AND, as_long, regular);
}

/* Does the body ask that itself, as the parameter's type has sizes? */
static bool has_size(const CoreBlock *body, CoreVar xs, uint32_t depth)
{
    for (uint32_t i = 0; i < body->stmts.n; i++) {
        const CoreStmt *s = body->stmts.at[i];
        if (s->kind == CORE_CHECK_ROWS && s->rows.nargs == 2 && s->rows.depth == depth && s->rows.args[0].var == xs)
            return true;
    }
    return false;
}

/* A constant: there is nothing to be asked. */
static CoreAtom are_regular(CoreBuilder *b, CoreBlock *body)
{
    CoreAtom all = core_const(SC_BOOL, 1);
    for (uint32_t i = 0; i < b->fn->nparams; i++) {
        const CoreAtom xs = build_atom(b, b->fn->params[i]);
        const uint32_t rank = core_atom_type(b->fn, xs).rank;
        for (uint32_t depth = 1; depth < rank && depth < MOST_RANK; depth++) {
            if (has_size(body, xs.var, depth))
                continue;
            const CoreAtom regular = is_regular(b, body, xs, depth);
            all = all.is_const ? regular : build_prim2(b, PRIM_AND, all, regular);
        }
    }
    return all;
}

/* False: all is known. */
static bool make_versions(CoreProgram *p, CoreFn *fn)
{
    CoreBlock *body = fn->body, *all = core_new_block(p);
    CoreBuilder b = {.p = p, .fn = fn, .out = all, .span = fn->span};
    const CoreAtom regular = are_regular(&b, body);
    if (regular.is_const)
        return false;
    Arena *scratch = arena_create();
    CoreBlock *other = core_copy_block(p, fn, fn, body, core_identity_map(scratch, fn));
    arena_destroy(scratch);
    build_results(&b, all, build_if(&b, regular, body, other), fn->nresults);
    fn->body = all;
    return true;
}

bool core_regular_versions(CoreProgram *p)
{
    bool any = false;
    for (uint32_t i = 0; i < p->entries.n; i++) {
        CoreFn *fn = p->entries.at[i].fn;
        if (!fn->recursive && pays(p, fn))
            any |= make_versions(p, fn);
    }
    return any;
}
