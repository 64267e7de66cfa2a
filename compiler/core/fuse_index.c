/* ys = map n at p (x <- xs) { -> f p x }            x = xs[i]
 * y  = ys[i]                                 ==>    y = f i x
 *
 * Done if f is a handful of cheap operations and ys then need not be stored, because nothing but `index` reads it; or
 * because it is an index function like iota or replicate, which reads nothing. Inside a loop or a parallel
 * operation that ys stands outside of, y may be wanted more often than there are elements: there, f must read no more
 * than the one element that would be loaded otherwise. In the body of a parallel operation beside ys it is wanted once
 * an element, and may take more comparisons: so appends are never stored for other appends. Where the places that it is
 * wanted from are all different, as in an append, a reversal or a shift, f is any scalar code that cannot fail: no
 * element is computed twice. The rounds of a counted loop in parallel code are such places, too, for what is cheap: a
 * column of a matrix, or pairs, that a loop goes through.
 *
 * An array of a few scalars is none where only its elements are wanted: they are chosen between. */
#include "core/fuse_internal.h"

enum {
    APPEND_OPERATIONS = 20,
    MOVED_STATEMENTS = 256,
    ROUND_OPERATIONS = 8,
    ROUND_READS = 3,
    FEW_ITEMS = 4,
    MOST_LOOKS = 64
};

static bool is_only_indexed(Fuser *f, const CoreStmt *producer)
{
    for (uint32_t i = 0; i < producer->nvars; i++) {
        const VarUses *v = fuse_var(f, producer->vars[i]);
        if (v->all != v->indexed)
            return false;
    }
    return true;
}

/* Is its value the same for all elements of the parallel operation at hand? */
static bool is_fixed(Fuser *f, CoreAtom a)
{
    a = fuse_resolve(f, a);
    if (a.is_const)
        return true;
    if (fuse_def(f, a))
        return fuse_var(f, a.var)->level < f->level;
    for (uint32_t i = 0; i < f->fn->nparams; i++)
        if (f->fn->params[i] == a.var)
            return true;
    return false;
}

/* The position of the element, to or from which something fixed is added or subtracted: different elements have
 * different ones. */
static bool is_place_of_its_own(Fuser *f, CoreAtom i)
{
    i = fuse_resolve(f, i);
    if (i.is_const || f->position == CORE_NO_VAR)
        return false;
    if (i.var == f->position)
        return true;
    const CoreStmt *s = fuse_def(f, i);
    if (!s || s->kind != CORE_PRIM || (s->prim.op != PRIM_ADD && s->prim.op != PRIM_SUB))
        return false;
    const CoreAtom x = s->prim.args[0], y = s->prim.args[1];
    return (is_fixed(f, y) && is_place_of_its_own(f, x)) || (is_fixed(f, x) && is_place_of_its_own(f, y));
}

/* Does nothing read the producer but the `index` at hand, and such as go to the same place right behind it? */
static bool is_only_read_here(Fuser *f, const CoreStmt *producer, CoreAtom at)
{
    uint32_t reads = 1, uses = 0, which;
    for (uint32_t i = 0; i < f->nrest; i++) {
        const CoreStmt *s = f->rest[i];
        reads += s && s->kind == CORE_INDEX && fuse_is_result_of(f, producer, s->index.array, &which) &&
                 core_atom_equal(fuse_resolve(f, s->index.index), fuse_resolve(f, at));
    }
    for (uint32_t i = 0; i < producer->nvars; i++)
        uses += fuse_var(f, producer->vars[i])->all;
    return uses == reads;
}

static void add_statements(void *n, CoreBlock *b)
{
    *(uint32_t *)n += b->stmts.n;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        core_stmt_blocks(b->stmts.at[i], add_statements, n);
}

static uint32_t statements_of(CoreBlock *b)
{
    uint32_t n = 0;
    add_statements(&n, b);
    return n;
}

/* Is it computed once, and for one element, wherever f is put here? Not if it is much: a chain of appends would be the
 * sum of all. */
static bool is_moved_here(Fuser *f, const CoreStmt *producer, CoreAtom at)
{
    CoreBlock *body = producer->soac.body;
    return core_block_is_scalar(body) && !core_block_fallible(f->p, f->fn, body) &&
           (f->in_rounds ? fuse_is_cheap(f, body, ROUND_OPERATIONS, ROUND_READS)
                         : statements_of(body) <= MOVED_STATEMENTS) &&
           is_place_of_its_own(f, at) && is_only_read_here(f, producer, at);
}

/* Does the statement change an array in place that the producer reads, or is it a loop that begins with it? */
static bool changes_what(Fuser *f, CoreStmt *s, CoreStmt *producer)
{
    const uint32_t n = s->kind == CORE_LOOP ? s->loop.nparams : 1;
    for (uint32_t i = 0; i < n; i++) {
        const CoreAtom a = fuse_resolve(f, s->kind == CORE_LOOP ? s->loop.inits[i] : core_stmt_changes(s));
        FuseSought sought = {f, a.is_const ? CORE_NO_VAR : a.var};
        if (!a.is_const && core_atom_type(f->fn, a).rank > 0 && core_stmt_reads(producer, fuse_is_sought, &sought))
            return true;
    }
    return false;
}

/* Would the producer, here, read an array as it was before a change, so that this cannot be in place? */
static bool crosses_change(Fuser *f, CoreStmt *producer)
{
    const CoreBlock *made = fuse_var(f, producer->vars[0])->block;
    CoreStmt *around = NULL;
    for (uint32_t i = 0; i < f->around.n && !around; i++)
        around = f->around.at[i].block == made ? f->around.at[i].stmt : NULL;
    for (uint32_t i = 0; i < f->around.n; i++)
        if (f->around.at[i].stmt->kind == CORE_LOOP && changes_what(f, f->around.at[i].stmt, producer))
            return true;
    uint32_t to = made->stmts.n;
    while (around && to > 0 && made->stmts.at[to - 1] != around)
        to--;
    to -= around && to > 0;
    for (uint32_t looks = 0; to > 0 && looks < MOST_LOOKS && made->stmts.at[to - 1] != producer; looks++, to--)
        if (made->stmts.at[to - 1] && changes_what(f, made->stmts.at[to - 1], producer))
            return true;
    return false;
}

static bool is_better_computed(Fuser *f, const CoreStmt *producer, const CoreBlock *b, CoreAtom at)
{
    if (!producer || producer->kind != CORE_MAP || producer->soac.guard)
        return false;
    const CoreSoac *m = &producer->soac;
    if (fuse_is_index_function(f, producer))
        return true;
    if (!is_only_indexed(f, producer))
        return false;
    const CoreBlock *made = fuse_var(f, producer->vars[0])->block;
    if (made == b && m->ninputs <= 2 && fuse_is_cheap(f, m->body, 4, 1))
        return true;
    const bool once = made == f->soac_beside;
    if (once && is_moved_here(f, producer, at))
        return true;
    const bool appends = once && !f->in_rounds;
    return m->ninputs <= 1 && fuse_is_cheap(f, m->body, appends ? APPEND_OPERATIONS : 3, 1 - m->ninputs);
}

bool fuse_is_few_scalars(Fuser *f, const CoreStmt *producer)
{
    return producer && producer->kind == CORE_ARRAY && producer->array.n > 0 && producer->array.n <= FEW_ITEMS &&
           core_var_type(f->fn, producer->vars[0]).rank == 1;
}

CoreAtom fuse_choose_item(Fuser *f, CoreBlock *b, const CoreStmt *array, CoreAtom i, Span span)
{
    CoreBuilder builder = fuse_builder(f, b, span);
    const CoreAtom *items = array->array.items;
    CoreAtom chosen = fuse_resolve(f, items[array->array.n - 1]);
    for (uint32_t k = array->array.n - 1; k-- > 0;) {
        CoreAtom here = build_prim2(&builder, PRIM_EQ, i, core_i64(k));
        chosen = build_select(&builder, here, fuse_resolve(f, items[k]), chosen);
    }
    return chosen;
}

static bool index_few_scalars(Fuser *f, CoreBlock *b, const CoreStmt *stmt)
{
    const CoreStmt *array = fuse_def(f, stmt->index.array);
    if (!fuse_is_few_scalars(f, array) || !is_only_indexed(f, array))
        return false;
    CoreBuilder builder = fuse_builder(f, b, stmt->span);
    build_check_bounds(&builder, stmt->site, stmt->index.index, core_i64(array->array.n));
    fuse_replace(f, stmt->vars[0], fuse_choose_item(f, b, array, stmt->index.index, stmt->span));
    fuse_count_atom(f, stmt->index.array, -1);
    fuse_var(f, stmt->index.array.var)->indexed--;
    fuse_count_atom(f, stmt->index.index, -1);
    return true;
}

static CoreAtom push_element(Fuser *f, CoreBlock *b, Span span, CoreAtom xs, CoreAtom i)
{
    CoreType t = core_element(core_atom_type(f->fn, xs));
    CoreBuilder builder = fuse_builder(f, b, span);
    CoreStmt *s = build_stmt(&builder, CORE_INDEX, 1, &t);
    s->index.array = xs;
    s->index.index = i;
    fuse_count_atom(f, xs, 1);
    fuse_count_atom(f, i, 1);
    fuse_var(f, xs.var)->indexed++;
    fuse_emit(f, b, s);
    return core_var_atom(s->vars[0], t);
}

/* The variable of `index` is x, which is computed. */
static void replace_index(Fuser *f, const CoreStmt *stmt, CoreAtom x)
{
    fuse_replace(f, stmt->vars[0], x);
    fuse_count_atom(f, stmt->index.array, -1);
    fuse_var(f, stmt->index.array.var)->indexed--;
    fuse_count_atom(f, stmt->index.index, -1);
}

/* The map's body for element i: its statements at the end of b. Returns its results. */
static const CoreAtom *compute_element(Fuser *f, CoreBlock *b, const CoreSoac *m, CoreAtom i, Span span)
{
    if (m->index != CORE_NO_VAR)
        fuse_set_copy(f, m->index, i);
    for (uint32_t j = 0; j < m->ninputs; j++)
        fuse_set_copy(f, m->elements[j], push_element(f, b, span, fuse_resolve(f, m->inputs[j]), i));
    CoreBlock *body = fuse_copy_block(f, m->body);
    if (m->index != CORE_NO_VAR)
        fuse_set_copy(f, m->index, core_var_atom(m->index, core_scalar(SC_I64)));
    for (uint32_t j = 0; j < m->ninputs; j++)
        fuse_set_copy(f, m->elements[j], core_var_atom(m->elements[j], core_var_type(f->fn, m->elements[j])));
    for (uint32_t j = 0; j < body->stmts.n; j++)
        fuse_emit(f, b, body->stmts.at[j]);
    return body->results;
}

bool fuse_index(Fuser *f, CoreBlock *b, const CoreStmt *stmt)
{
    CoreStmt *producer = fuse_def(f, stmt->index.array);
    uint32_t which;
    if (index_few_scalars(f, b, stmt))
        return true;
    CoreAtom i = stmt->index.index;
    if (!producer || !fuse_is_result_of(f, producer, stmt->index.array, &which))
        return false;
    if (f->element.producer == producer && f->element.block == b && core_atom_equal(f->element.index, i)) {
        replace_index(f, stmt, f->element.results[which]);
        return true;
    }
    if (!is_better_computed(f, producer, b, i) || crosses_change(f, producer))
        return false;
    const CoreSoac *m = &producer->soac;
    CoreBuilder builder = fuse_builder(f, b, stmt->span);
    build_check_bounds(&builder, stmt->site, i, fuse_resolve(f, m->domain));
    const CoreAtom *results = compute_element(f, b, m, i, stmt->span);
    f->element.producer = producer;
    f->element.block = b;
    f->element.index = i;
    f->element.results = results;
    replace_index(f, stmt, results[which]);
    for (uint32_t j = 0; j < producer->nvars; j++)
        fuse_count_atom(f, results[j], -1);
    return true;
}
