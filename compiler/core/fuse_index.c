/* ys = map n at p (x <- xs) { -> f p x }            x = xs[i]
 * y  = ys[i]                                 ==>    y = f i x
 *
 * Done if f is a handful of cheap operations and ys then need not be stored, because nothing but `index` reads it; or
 * because it is an index function like iota or replicate, which reads nothing. Inside a loop or a parallel
 * operation that ys stands outside of, y may be wanted more often than there are elements: there, f must read no more
 * than the one element that would be loaded otherwise. So appends are never stored for other appends. */
#include "core/fuse_internal.h"

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
    return m->ninputs <= 1 && fuse_is_cheap(f, m->body, 3, 1 - m->ninputs);
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
