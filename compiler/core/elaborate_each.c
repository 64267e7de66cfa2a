/* Apply-to-each: `{ e : p in xs; q in ys | c }` is a map with a guard.
 *
 * Sequences become inputs; integers and ranges become the position. All lengths are checked against the
 * first binder's. Guard and body are separate blocks, and both bind the patterns. */
#include "core/elaborate_internal.h"

#include <assert.h>

typedef enum SourceKind { SOURCE_ARRAY, SOURCE_COUNT, SOURCE_RANGE } SourceKind;

typedef struct Source {
    SourceKind kind;
    const Pat *pat;
    Value *array;   /* SOURCE_ARRAY */
    Value *element; /* SOURCE_ARRAY */
    Scalar scalar;  /* SOURCE_COUNT */
    Range range;    /* SOURCE_RANGE */
    CoreAtom length;
} Source;

static Source source(Elab *e, const Scope *sc, const Binder *binder)
{
    Source s = {.pat = binder->pat};
    if (binder->sequence->kind == E_RANGE) {
        s.kind = SOURCE_RANGE;
        s.range = elab_range_parts(e, sc, binder->sequence);
        s.length = s.range.length;
        return s;
    }
    Value *v = elab_expr(e, sc, binder->sequence);
    if (ty_is_scalar(v->type)) {
        s.kind = SOURCE_COUNT;
        s.scalar = ty_scalar(v->type);
        s.length = anf_max0(e, elab_index_i64(e, v));
        return s;
    }
    s.kind = SOURCE_ARRAY;
    s.array = v;
    s.length = anf_length(e, v);
    return s;
}

/* The element at the position at hand; conversions are emitted into the open block. */
static Value *element(Elab *e, const Source *s, Soac *b)
{
    switch (s->kind) {
    case SOURCE_ARRAY: return s->element;
    case SOURCE_COUNT: return val_scalar(e, anf_convert(e, anf_soac_index(e, b), s->scalar));
    case SOURCE_RANGE: return val_scalar(e, elab_range_element(e, s->range, anf_soac_index(e, b)));
    }
    return NULL;
}

static bool only_ignores(const Pat *p)
{
    return p->kind == PAT_WILD || (p->kind == PAT_ASCRIBE && only_ignores(p->ascribe.pat));
}

static Scope bind_all(Elab *e, const Scope *sc, const Source *sources, uint32_t n, Soac *b)
{
    Scope inner = *sc;
    for (uint32_t i = 0; i < n; i++)
        if (sources[i].kind == SOURCE_ARRAY || !only_ignores(sources[i].pat))
            elab_bind_pattern(e, &inner, sources[i].pat, element(e, &sources[i], b));
    return inner;
}

Value *elab_each(Elab *e, const Scope *sc, Expr *x)
{
    uint32_t n = x->each.nbinders;
    Source *sources = arena_array(e->arena, Source, n);
    for (uint32_t i = 0; i < n; i++)
        sources[i] = source(e, sc, &x->each.binders[i]);
    for (uint32_t i = 1; i < n; i++)
        anf_check_lengths(e, sources[0].length, sources[i].length);
    Soac b = anf_soac_over(sources[0].length);
    for (uint32_t i = 0; i < n; i++)
        if (sources[i].kind == SOURCE_ARRAY)
            sources[i].element = anf_soac_input(e, &b, sources[i].array);
    if (x->each.guard) {
        CoreBlock *outer = anf_block_open(e);
        Scope inner = bind_all(e, sc, sources, n, &b);
        CoreAtom holds = elab_scalar(e, &inner, x->each.guard);
        b.guard = anf_block_close(e, outer, &holds, 1);
    }
    CoreBlock *outer = anf_block_open(e);
    Value *result;
    if (x->each.body) {
        Scope inner = bind_all(e, sc, sources, n, &b);
        result = elab_expr(e, &inner, x->each.body);
    } else {
        if (!b.guard)
            bind_all(e, sc, sources, n, &b); /* for the sizes in the patterns */
        result = element(e, &sources[0], &b);
    }
    return anf_soac_map(e, &b, outer, result);
}
