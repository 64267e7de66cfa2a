/* A row that the host holds keeps its array's elements from being changed in place: by an update, or by a map of the
 * same round (flat/in_place.c). One that is read before an update, and needed afterwards, is copied:
 *
 *     r = index a, k                                  r = index a, k;  r2 = update r, -1, 0
 *     b = update a, p, v;  c = update b, k, r  ==>    b = update a, p, v;  c = update b, k, r2
 *
 * Nothing is changed out of range, but by an update an array holds its elements alone (as by those of mask_updates.c).
 * A row for each time that a matrix is changed, instead of the matrix. A map that may leave the row as it is reads it
 * of the array:
 *
 *     r = index a, k;  ys = map n at i (x <- a) { c = le i, k; … index r, j … }
 *   ==>
 *     r = index a, k;  ys = map n at i (x <- a) { c = le i, k; r2 = index a, k; … index r2, j … }
 *
 * In rounds of loops outside of parallel code. */
#include "core/build.h"
#include "core/callgraph.h"
#include "core/passes.h"

typedef struct Rows {
    CoreBuilder b;
    bool in_loop;
    CoreVar row;       /* this one is */
    CoreAtom copy;     /* replaced by this */
    CoreAtom array, k; /* whose element it is */
} Rows;

static bool is_var(CoreAtom a, CoreVar v) { return !a.is_const && a.var == v; }

static bool is_sought(void *v, CoreAtom a) { return is_var(a, *(const CoreVar *)v); }

static bool is_result(const CoreBlock *b, CoreVar v)
{
    bool is = false;
    for (uint32_t i = 0; i < b->nresults && !is; i++)
        is = is_var(b->results[i], v);
    return is;
}

/* Statement `at` reads a row. Is its array changed later, not looked at again, and the row needed then? */
static bool outlives_change(const CoreBlock *b, uint32_t at)
{
    CoreVar row = b->stmts.at[at]->vars[0], array = b->stmts.at[at]->index.array.var;
    bool changed = false, needed = false;
    for (uint32_t i = at + 1; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        if (changed && core_stmt_reads(s, is_sought, &array))
            return false;
        needed |= changed && core_stmt_reads(s, is_sought, &row);
        changed |= s->kind == CORE_UPDATE && is_var(s->update.array, array);
    }
    return changed && !is_result(b, array) && (needed || is_result(b, row));
}

static void replace(void *ctx, CoreAtom *a)
{
    const Rows *r = ctx;
    if (is_var(*a, r->row))
        *a = r->copy;
}

/* The statements from here on read a copy of the row. */
static void copy_row(Rows *r, CoreBlock *b, CoreBlock *old, uint32_t from, CoreAtom row)
{
    const CoreType type = core_atom_type(r->b.fn, row);
    r->b.out = b;
    r->b.span = old->stmts.at[from - 1]->span;
    r->row = row.var;
    r->copy = build_changed(&r->b, row, core_i64(-1), build_nothing(&r->b, core_element(type)));
    for (uint32_t i = from; i < old->stmts.n; i++)
        core_stmt_all_atoms(old->stmts.at[i], replace, r);
    for (uint32_t i = 0; i < old->nresults; i++)
        replace(r, &old->results[i]);
}

/* ---- rows that a map over their array reads ---- */

/* Does the body compare the position with the row's? Then that row may stay as it is. */
static bool compares(const CoreBlock *b, CoreVar position, CoreAtom k)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        const CoreAtom *args = s->kind == CORE_PRIM && s->prim.nargs == 2 ? s->prim.args : NULL;
        if (args && ((is_var(args[0], position) && core_atom_equal(args[1], k)) ||
                     (is_var(args[1], position) && core_atom_equal(args[0], k))))
            return true;
    }
    return false;
}

static bool goes_over(const CoreStmt *s, CoreVar array)
{
    bool over = false;
    for (uint32_t i = 0; s->kind == CORE_MAP && s->soac.index != CORE_NO_VAR && i < s->soac.ninputs && !over; i++)
        over = is_var(s->soac.inputs[i], array);
    return over;
}

/* y <- row, in front of the body:  y = index (index array k) position */
static void take_inputs(Rows *r, CoreSoac *soac)
{
    uint32_t kept = 0;
    CoreBlock *outer = r->b.out, old = core_take_stmts(soac->body);
    r->b.out = soac->body;
    for (uint32_t i = 0; i < soac->ninputs; i++) {
        const CoreVar element = soac->elements[i];
        if (!is_var(soac->inputs[i], r->row)) {
            soac->inputs[kept] = soac->inputs[i];
            soac->elements[kept++] = element;
            continue;
        }
        if (soac->index == CORE_NO_VAR)
            soac->index = build_var(&r->b, core_scalar(SC_I64), NULL).var;
        CoreStmt *s = build_stmt_into(&r->b, CORE_INDEX, 1, &element);
        s->index.array = build_index(&r->b, r->array, r->k, CORE_NO_SITE);
        s->index.index = build_atom(&r->b, soac->index);
        build_emit(&r->b, s);
    }
    soac->ninputs = kept;
    for (uint32_t i = 0; i < old.stmts.n; i++)
        core_push(r->b.p, soac->body, old.stmts.at[i]);
    r->b.out = outer;
}

static bool uses_row(const CoreBlock *b, CoreVar row)
{
    CoreUses uses = {.var = row};
    for (uint32_t i = 0; i < b->stmts.n; i++)
        core_stmt_atoms(b->stmts.at[i], core_count_use, &uses);
    return uses.n > 0 || is_result(b, row);
}

/* Each block that uses the row reads it of the array, which bodies go over anyway. */
static void read_in_block(void *ctx, CoreBlock *b)
{
    Rows *r = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        if (core_stmt_soac(s) && !s->soac.guard)
            take_inputs(r, &s->soac);
        core_stmt_blocks(s, read_in_block, r);
    }
    if (!uses_row(b, r->row))
        return;
    CoreBlock *outer = r->b.out, old = core_take_stmts(b);
    r->b.out = b;
    r->copy = build_index(&r->b, r->array, r->k, CORE_NO_SITE);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        core_stmt_atoms(old.stmts.at[i], replace, r);
        core_push(r->b.p, b, old.stmts.at[i]);
    }
    for (uint32_t i = 0; i < b->nresults; i++)
        replace(r, &b->results[i]);
    r->b.out = outer;
}

/* In maps over the row's array that may leave the row as it is, in this block and in branches. */
static void read_in_maps(void *ctx, CoreBlock *b)
{
    Rows *r = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        r->b.span = s->span;
        if (s->kind == CORE_IF)
            core_stmt_blocks(s, read_in_maps, r);
        else if (goes_over(s, r->array.var) && !s->soac.guard && compares(s->soac.body, s->soac.index, r->k))
            read_in_block(r, s->soac.body);
    }
}

/* Statement `at` reads a row. */
static void part_row(Rows *r, CoreBlock *b, CoreBlock *old, uint32_t at)
{
    const CoreStmt *s = old->stmts.at[at];
    if (outlives_change(old, at)) {
        copy_row(r, b, old, at + 1, build_atom(&r->b, s->vars[0]));
        return;
    }
    r->row = s->vars[0];
    r->array = s->index.array;
    r->k = s->index.index;
    read_in_maps(r, old);
}

static void part_in_block(void *ctx, CoreBlock *b)
{
    Rows *r = ctx;
    const bool outer = r->in_loop;
    CoreBlock old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        r->in_loop = outer || s->kind == CORE_LOOP;
        if (!core_stmt_soac(s))
            core_stmt_blocks(s, part_in_block, r);
        r->in_loop = outer;
        core_push(r->b.p, b, s);
        if (outer && s->kind == CORE_INDEX && core_var_type(r->b.fn, s->vars[0]).rank == 1)
            part_row(r, b, &old, i);
    }
}

static void part_in_function(CoreProgram *p, CoreFn *fn, Arena *scratch)
{
    (void)scratch;
    part_in_block(&(Rows){.b = {.p = p, .fn = fn}}, fn->body);
}

void core_rows_apart(CoreProgram *p) { core_each_host_function(p, part_in_function); }
