#include "testing/sizes.h"

void sizes_bind_empty(const SizedType *t, int64_t *sizes)
{
    if (!t->type || t->type->kind == DP_T_SCALAR)
        return;
    if (t->type->kind == DP_T_ARRAY) {
        if (t->rule == SIZED_NAME && sizes[t->name] == SIZE_UNBOUND)
            sizes[t->name] = 0;
        sizes_bind_empty(t->items, sizes);
        return;
    }
    for (uint32_t i = 0; i < t->type->n; i++)
        sizes_bind_empty(&t->items[i], sizes);
}

static bool size_is(const SizedType *t, int64_t n, int64_t *sizes)
{
    if (t->rule == SIZED_NAME && sizes[t->name] == SIZE_UNBOUND)
        sizes[t->name] = n;
    return t->rule == SIZED_FREE || n == (t->rule == SIZED_LITERAL ? t->literal : sizes[t->name]);
}

static bool hold(const SizedType *t, const Tree *v, int64_t *sizes)
{
    switch (t->type->kind) {
    case DP_T_SCALAR: return t->rule == SIZED_FREE || ((int64_t)v->bits >= 0 && size_is(t, (int64_t)v->bits, sizes));
    case DP_T_SUM: return true;
    case DP_T_TUPLE:
    case DP_T_RECORD:
        for (uint32_t i = 0; i < t->type->n; i++)
            if (!hold(&t->items[i], &v->items[i], sizes))
                return false;
        return true;
    case DP_T_ARRAY: break;
    }
    if (!size_is(t, (int64_t)v->n, sizes))
        return false;
    if (v->n == 0)
        sizes_bind_empty(t->items, sizes);
    for (uint64_t i = 0; i < v->n; i++)
        if (!hold(t->items, &v->items[i], sizes))
            return false;
    return true;
}

bool sizes_hold(const Signature *s, const Tree *args)
{
    enum { SOME = 32 };
    int64_t some[SOME];
    Arena *arena = s->nsizes > SOME ? arena_create() : NULL;
    int64_t *sizes = arena ? arena_array(arena, int64_t, s->nsizes) : some;
    for (uint32_t i = 0; i < s->nsizes; i++)
        sizes[i] = SIZE_UNBOUND;
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->nparams; i++)
        ok = hold(&s->params[i], &args[i], sizes);
    arena_destroy(arena);
    return ok;
}
