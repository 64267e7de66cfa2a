/* The interpreter's arrays: each in a Storage of its own, which is garbage collected. A collection marks what the
 * variables of the calls under way hold, dead ones included, and what C code holds meanwhile (Roots). Slices name their
 * Storage, so that marking needs no search. */
#include "core/eval_internal.h"

#include <stdlib.h>
#include <string.h>

#ifndef FIRST_COLLECTION /* 1: before every array, to find what the collector misses */
#define FIRST_COLLECTION ((uint64_t)1 << 23)
#endif

typedef struct CoreStorage Storage;
struct CoreStorage {
    Storage *next;
    uint64_t n; /* elements, which follow */
    uint32_t element_bytes;
    bool marked, nested;
};

/* Elements are numbers of 64 bits or values. */
static void *elements_of(Storage *s) { return s + 1; }

static uint64_t bytes_of(const Storage *s) { return sizeof *s + s->n * s->element_bytes; }

/* ---- collecting ---- */

static void mark(const CoreValue *v)
{
    Storage *s = v->type.rank > 0 ? v->storage : NULL;
    if (!s || s->marked)
        return;
    s->marked = true;
    if (!s->nested)
        return;
    const CoreValue *items = elements_of(s);
    for (uint64_t i = 0; i < s->n; i++)
        mark(&items[i]);
}

static uint64_t sweep(Eval *e)
{
    uint64_t live = 0;
    for (Storage **at = &e->storage, *s; (s = *at);) {
        if (s->marked) {
            s->marked = false;
            live += bytes_of(s);
            at = &s->next;
        } else {
            *at = s->next;
            free(s);
        }
    }
    return live;
}

static void collect(Eval *e)
{
    for (const Frame *f = e->frame; f; f = f->caller)
        for (uint32_t v = 0; v < f->fn->vars.n; v++)
            mark(&f->vars[v]);
    for (const Roots *r = e->roots; r; r = r->outer)
        for (uint32_t i = 0; i < r->n; i++)
            mark(&r->values[i]);
    budget_collected(&e->budget, sweep(e), FIRST_COLLECTION);
}

/* ---- making ---- */

static Storage *storage_new(Eval *e, CoreType type, uint64_t n)
{
    size_t each = type.rank == 1 ? sizeof(uint64_t) : sizeof(CoreValue);
    uint64_t bytes = dp_size_add(dp_size_mul(n, each), sizeof(Storage));
    if (budget_is_due(&e->budget) || !budget_has_room(&e->budget, bytes))
        collect(e);
    if (!budget_has_room(&e->budget, bytes))
        return NULL;
    Storage *s = eval_zeroed(bytes);
    if (!s) {
        collect(e);
        s = eval_zeroed(bytes);
    }
    if (!s)
        return NULL;
    *s = (Storage){e->storage, n, (uint32_t)each, false, type.rank > 1};
    e->storage = s;
    budget_take(&e->budget, bytes);
    return s;
}

bool eval_new_seq(Eval *e, Span span, CoreType type, uint64_t n, CoreValue *out)
{
    Storage *s = storage_new(e, type, n);
    if (!s)
        return eval_fail_memory(e, span, dp_size_mul(n, type.rank == 1 ? sizeof(uint64_t) : sizeof(CoreValue)));
    *out = (CoreValue){.type = type, .n = n, .owned = true, .storage = s};
    if (type.rank == 1)
        out->scalars = elements_of(s);
    else
        out->items = elements_of(s);
    return true;
}

void storage_begin(Eval *e, const EvalLimits *limits) { budget_begin(&e->budget, limits, FIRST_COLLECTION); }

void storage_free_all(Eval *e) { (void)sweep(e); }

/* ---- results, which outlive the evaluation ---- */

CoreValue eval_copy_out(Arena *arena, const CoreValue *v)
{
    CoreValue copy = *v;
    copy.owned = false;
    if (v->type.rank == 0 || !v->storage)
        return copy;
    copy.storage = NULL;
    if (v->type.rank == 1) {
        copy.scalars = arena_array(arena, uint64_t, v->n + 1);
        memcpy(copy.scalars, v->scalars, v->n * sizeof *v->scalars);
        return copy;
    }
    copy.items = arena_array(arena, CoreValue, v->n + 1);
    for (uint64_t i = 0; i < v->n; i++)
        copy.items[i] = eval_copy_out(arena, &v->items[i]);
    return copy;
}
