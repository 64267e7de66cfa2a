/* ys = map n at p (x <- xs) { -> f p x }            x = xs[i]
 * y  = ys[i]                                 ==>    y = f i x
 *
 * Done if f is a handful of cheap operations and ys then need not be stored, because nothing but `index` reads it; or
 * because it is an index function like iota or replicate, which reads nothing. Inside a loop or a parallel
 * operation that ys stands outside of, y may be wanted more often than there are elements: there, f must read no more
 * than the one element that would be loaded otherwise. In the body of a map beside ys it is wanted once an element, and
 * may take more comparisons: so appends are never stored for other appends.
 *
 * An array of a few scalars is none where only its elements are wanted: they are chosen between. */
#include "core/fuse_internal.h"

enum { APPEND_OPERATIONS = 20, FEW_ITEMS = 4 };

static bool is_only_indexed(Fuser *f, const CoreStmt *producer)
{
    for (uint32_t i = 0; i < producer->nvars; i++) {
        const VarUses *v = fuse_var(f, producer->vars[i]);
        if (v->all != v->indexed)
            return false;
    }
    return true;
}

static bool is_better_computed(Fuser *f, const CoreStmt *producer, const CoreBlock *b)
{
    if (!producer || producer->kind != CORE_MAP || producer->soac.guard)
        return false;
    const CoreSoac *m = &producer->soac;
    if (fuse_is_index_function(f, producer))
        return true;
    if (!is_only_indexed(f, producer))
        return false;
    if (fuse_var(f, producer->vars[0])->block == b && m->ninputs <= 2 && fuse_is_cheap(f, m->body, 4, 1))
        return true;
    const bool once = fuse_var(f, producer->vars[0])->block == f->map_beside;
    return m->ninputs <= 1 && fuse_is_cheap(f, m->body, once ? APPEND_OPERATIONS : 3, 1 - m->ninputs);
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

bool fuse_index(Fuser *f, CoreBlock *b, const CoreStmt *stmt)
{
    CoreStmt *producer = fuse_def(f, stmt->index.array);
    uint32_t which;
    if (index_few_scalars(f, b, stmt))
        return true;
    if (!is_better_computed(f, producer, b) || !fuse_is_result_of(f, producer, stmt->index.array, &which))
        return false;
    CoreSoac *m = &producer->soac;
    CoreAtom i = stmt->index.index;
    CoreBuilder builder = fuse_builder(f, b, stmt->span);
    build_check_bounds(&builder, stmt->site, i, fuse_resolve(f, m->domain));
    if (m->index != CORE_NO_VAR)
        fuse_set_copy(f, m->index, i);
    for (uint32_t j = 0; j < m->ninputs; j++)
        fuse_set_copy(f, m->elements[j], push_element(f, b, stmt->span, fuse_resolve(f, m->inputs[j]), i));
    CoreBlock *body = fuse_copy_block(f, m->body);
    if (m->index != CORE_NO_VAR)
        fuse_set_copy(f, m->index, core_var_atom(m->index, core_scalar(SC_I64)));
    for (uint32_t j = 0; j < m->ninputs; j++)
        fuse_set_copy(f, m->elements[j], core_var_atom(m->elements[j], core_var_type(f->fn, m->elements[j])));
    for (uint32_t j = 0; j < body->stmts.n; j++)
        fuse_emit(f, b, body->stmts.at[j]);
    fuse_replace(f, stmt->vars[0], body->results[which]);
    for (uint32_t j = 0; j < body->nresults; j++)
        fuse_count_atom(f, body->results[j], -1);
    fuse_count_atom(f, stmt->index.array, -1);
    fuse_var(f, stmt->index.array.var)->indexed--;
    fuse_count_atom(f, i, -1);
    return true;
}
