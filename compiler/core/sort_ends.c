/* Of a sort of which only the first elements are read, or the last, no others need be in order:
 *
 *     s = argsort xs of xs; t = slice s 0 k; …     ==>     s = argsort xs of xs first k last 0; t = slice s 0 k; …
 *
 * Elements at other places may be any. All that reads s has to be a slice from its beginning, an element at a constant
 * place or at a position of an operation over so many elements, or the same from the end: n - 1 - i, for n elements.
 * How many that are is a constant, or known in front of the sort. */
#include "core/build.h"
#include "core/passes.h"
#include "support/paged.h"

enum { MOST_WISHES = 4, MOST_STEPS = 8 };

/* What is read of a sort. */
typedef struct SortReads {
    uint32_t time; /* when it was met */
    CoreAtom key;
    CoreAtom first[MOST_WISHES], last[MOST_WISHES];
    uint32_t nfirst, nlast;
} SortReads;

typedef struct EndsVar {
    uint32_t uses, reads; /* all occurrences; those that say what they read */
    uint32_t time, depth; /* when it was bound, and inside of how many operations */
    CoreStmt *def;        /* or NULL: it is a parameter, or bound by an operation for its blocks: */
    CoreStmt *within;     /* by this one: its position, or its element of `input` */
    bool is_position;
    CoreAtom input;
    SortReads *sort; /* it is a column of */
} EndsVar;

typedef struct Ends {
    CoreBuilder b;
    Arena *scratch;
    PagedTable vars; /* EndsVar */
    uint32_t time, depth;
} Ends;

static EndsVar *ends_var(const Ends *e, CoreVar v) { return paged_at(&e->vars, v); }
static CoreStmt *def_of(const Ends *e, CoreAtom a) { return a.is_const ? NULL : ends_var(e, a.var)->def; }

/* ---- lengths ---- */

static uint32_t which_of(const CoreStmt *s, CoreVar v)
{
    uint32_t k = 0;
    while (k < s->nvars && s->vars[k] != v)
        k++;
    return k;
}

/* Are both sequences equally long for certain? */
static bool same_length(const Ends *e, CoreAtom x, CoreAtom y, uint32_t steps)
{
    if (core_atom_equal(x, y))
        return true;
    if (x.is_const || y.is_const || steps == 0)
        return false;
    const EndsVar *a = ends_var(e, x.var), *b = ends_var(e, y.var);
    if (a->def && a->def->kind == CORE_ARGSORT)
        return same_length(e, a->def->argsort.keys[0], y, steps - 1);
    if (b->def && b->def->kind == CORE_ARGSORT)
        return same_length(e, x, b->def->argsort.keys[0], steps - 1);
    if (a->within && a->within == b->within && !a->def && !b->def) { /* rows of what one map has made */
        const CoreStmt *m = def_of(e, a->input);
        return m && m == def_of(e, b->input) && m->kind == CORE_MAP &&
               same_length(e, m->soac.body->results[which_of(m, a->input.var)],
                           m->soac.body->results[which_of(m, b->input.var)], steps - 1);
    }
    if (!a->def || !b->def || a->def->kind != b->def->kind)
        return false;
    if (a->def->kind == CORE_SLICE)
        return core_atom_equal(a->def->slice.from, b->def->slice.from) &&
               core_atom_equal(a->def->slice.to, b->def->slice.to);
    return a->def->kind == CORE_MAP &&
           (a->def == b->def ||
            (!a->def->soac.guard && !b->def->soac.guard && core_atom_equal(a->def->soac.domain, b->def->soac.domain)));
}

/* Is n the sequence's length? */
static bool is_length_of(const Ends *e, CoreAtom n, CoreAtom xs)
{
    const CoreStmt *length = def_of(e, n), *def = def_of(e, xs);
    if (length && length->kind == CORE_LENGTH && same_length(e, length->length.array, xs, MOST_STEPS))
        return true;
    if (def && def->kind == CORE_ARGSORT)
        return is_length_of(e, n, def->argsort.keys[0]);
    if (def && def->kind == CORE_MAP)
        return !def->soac.guard && core_atom_equal(def->soac.domain, n);
    return def && def->kind == CORE_SLICE &&
           (core_is_prim2(def_of(e, n), PRIM_SUB, def->slice.to, def->slice.from) ||
            core_is_prim2(def_of(e, def->slice.to), PRIM_ADD, def->slice.from, n));
}

/* ---- what is read ---- */

static bool is_known(const Ends *e, CoreAtom n, uint32_t time) { return n.is_const || ends_var(e, n.var)->time < time; }

/* How far inside of parallel code it is bound: what is further out may be the same for all. */
static uint32_t depth_of(const Ends *e, CoreAtom a) { return a.is_const ? 0 : 1 + ends_var(e, a.var)->depth; }

/* What is known at that time to be no less than n, as far out as there is any: *bound. */
static bool bound_of(const Ends *e, CoreAtom n, uint32_t time, uint32_t steps, CoreAtom *bound)
{
    const CoreStmt *min = steps > 0 ? core_as_prim(def_of(e, n), PRIM_MIN) : NULL;
    bool found = is_known(e, n, time);
    *bound = n;
    for (uint32_t i = 0; min && i < 2; i++) {
        CoreAtom other;
        if (!bound_of(e, min->prim.args[i], time, steps - 1, &other) ||
            (found && depth_of(e, other) >= depth_of(e, *bound)))
            continue;
        *bound = other;
        found = true;
    }
    return found;
}

static bool wish(const Ends *e, SortReads *r, CoreAtom n, bool last)
{
    CoreAtom *wishes = last ? r->last : r->first, bound;
    uint32_t *count = last ? &r->nlast : &r->nfirst;
    if (!bound_of(e, n, r->time, MOST_STEPS, &bound) || is_length_of(e, bound, r->key))
        return false;
    for (uint32_t i = 0; i < *count; i++)
        if (core_atom_equal(wishes[i], bound))
            return true;
    if (*count == MOST_WISHES)
        return false;
    wishes[(*count)++] = bound;
    return true;
}

static bool is_small(CoreAtom a) { return a.is_const && (int64_t)a.bits >= 0 && (int64_t)a.bits < INT32_MAX; }

/* One at n - i, or at n - 1 - i where i is below a bound. */
static bool reads_from_end(const Ends *e, const CoreStmt *s, SortReads *r)
{
    const CoreStmt *back = core_as_prim(def_of(e, s->index.index), PRIM_SUB);
    if (!back)
        return false;
    const CoreAtom i = back->prim.args[1], from = back->prim.args[0];
    if (i.is_const)
        return is_small(i) && is_length_of(e, from, s->index.array) && wish(e, r, i, true);
    const CoreStmt *end = core_as_prim(def_of(e, from), PRIM_SUB);
    return end && core_atom_equal(end->prim.args[1], core_i64(1)) &&
           is_length_of(e, end->prim.args[0], s->index.array) && ends_var(e, i.var)->is_position &&
           wish(e, r, ends_var(e, i.var)->within->soac.domain, true);
}

static bool reads_index(const Ends *e, const CoreStmt *s, SortReads *r)
{
    const CoreAtom i = s->index.index;
    if (i.is_const)
        return is_small(i) && wish(e, r, core_i64((int64_t)i.bits + 1), false);
    const EndsVar *v = ends_var(e, i.var);
    if (v->is_position)
        return wish(e, r, v->within->soac.domain, false);
    return reads_from_end(e, s, r);
}

static bool reads_slice(const Ends *e, const CoreStmt *s, SortReads *r)
{
    if (core_atom_equal(s->slice.from, core_i64(0)))
        return wish(e, r, s->slice.to, false);
    const CoreStmt *from = core_as_prim(def_of(e, s->slice.from), PRIM_SUB);
    return from && is_length_of(e, s->slice.to, s->slice.array) && core_atom_equal(from->prim.args[0], s->slice.to) &&
           wish(e, r, from->prim.args[1], true);
}

static void note_read(const Ends *e, const CoreStmt *s)
{
    CoreAtom array;
    switch (s->kind) {
    case CORE_LENGTH: array = s->length.array; break;
    case CORE_INDEX: array = s->index.array; break;
    case CORE_SLICE: array = s->slice.array; break;
    default: return;
    }
    EndsVar *v = ends_var(e, array.var);
    if (v->sort)
        v->reads += s->kind == CORE_LENGTH || (s->kind == CORE_INDEX && reads_index(e, s, v->sort)) ||
                    (s->kind == CORE_SLICE && reads_slice(e, s, v->sort));
}

/* ---- walking ---- */

static void count_use(void *ctx, CoreAtom *a)
{
    if (!a->is_const)
        ends_var(ctx, a->var)->uses++;
}

static void note_binder(void *ctx, CoreVar *v)
{
    const Ends *e = ctx;
    if (*v == CORE_NO_VAR)
        return;
    ends_var(e, *v)->time = e->time;
    ends_var(e, *v)->depth = e->depth;
}

/* What the statement binds for its own blocks. */
static void note_binders(Ends *e, CoreStmt *s)
{
    const CoreSoac *m = core_stmt_soac(s);
    e->time++;
    e->depth += m != NULL;
    core_stmt_binders(s, note_binder, e);
    if (m && m->index != CORE_NO_VAR) {
        ends_var(e, m->index)->within = s;
        ends_var(e, m->index)->is_position = true;
    }
    for (uint32_t i = 0; m && i < m->ninputs; i++) {
        ends_var(e, m->elements[i])->within = s;
        ends_var(e, m->elements[i])->input = m->inputs[i];
    }
}

static void note_block(void *ctx, CoreBlock *block)
{
    Ends *e = ctx;
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        note_binders(e, s);
        note_read(e, s);
        core_stmt_blocks(s, note_block, e);
        e->depth -= core_stmt_soac(s) != NULL;
        e->time++;
        SortReads *sort = s->kind == CORE_ARGSORT ? arena_new(e->scratch, SortReads) : NULL;
        if (sort) {
            sort->time = e->time;
            sort->key = s->argsort.keys[0];
        }
        for (uint32_t k = 0; k < s->nvars; k++) {
            EndsVar *v = ends_var(e, s->vars[k]);
            v->def = s;
            v->time = e->time;
            v->depth = e->depth;
            v->sort = sort;
        }
    }
}

/* ---- rewriting ---- */

static CoreAtom greatest(CoreBuilder *b, const CoreAtom *wishes, uint32_t n)
{
    CoreAtom most = core_i64(0);
    for (uint32_t i = 0; i < n; i++)
        if (wishes[i].is_const && most.is_const)
            most = (int64_t)wishes[i].bits > (int64_t)most.bits ? wishes[i] : most;
        else
            most = core_atom_equal(most, core_i64(0)) ? wishes[i] : build_prim2(b, PRIM_MAX, most, wishes[i]);
    return most;
}

static bool reads_ends(const Ends *e, const CoreStmt *s)
{
    const SortReads *r = ends_var(e, s->vars[0])->sort;
    for (uint32_t k = 0; k < s->nvars; k++)
        if (ends_var(e, s->vars[k])->uses != ends_var(e, s->vars[k])->reads)
            return false;
    return r->nfirst + r->nlast > 0;
}

static void rewrite_block(void *ctx, CoreBlock *block)
{
    Ends *e = ctx;
    CoreBlock *outer = e->b.out, old = core_take_stmts(block);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        core_stmt_blocks(s, rewrite_block, e);
        e->b.out = block;
        if (s->kind == CORE_ARGSORT && reads_ends(e, s)) {
            const SortReads *r = ends_var(e, s->vars[0])->sort;
            e->b.span = s->span;
            const CoreAtom ends[2] = {greatest(&e->b, r->first, r->nfirst), greatest(&e->b, r->last, r->nlast)};
            s->argsort.ends = build_atoms_copy(&e->b, ends, 2, 2);
            s->argsort.nends = 2;
        }
        core_push(e->b.p, block, s);
    }
    e->b.out = outer;
}

void core_sort_ends(CoreProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++) {
        CoreFn *fn = p->fns.at[i];
        Arena *scratch = arena_create();
        Ends e = {
            .b = {.p = p, .fn = fn}, .scratch = scratch, .vars = paged_create(scratch, fn->vars.n, sizeof(EndsVar))};
        core_block_atoms(fn->body, count_use, &e);
        note_block(&e, fn->body);
        rewrite_block(&e, fn->body);
        arena_destroy(scratch);
    }
}
