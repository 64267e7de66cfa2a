#include "flat/eval_internal.h"

#include "flat/ref.h"
#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

#ifndef FIRST_COLLECTION /* 1: before every statement, to find what the collector misses */
#define FIRST_COLLECTION ((uint64_t)1 << 26)
#endif
#define LARGEST_FILL ((uint64_t)1 << 20)
#define RESERVE_BYTES ((size_t)1 << 18)

/* ---- memory that no collection frees ---- */

void memory_begin(Eval *e, const EvalLimits *limits)
{
    budget_begin(&e->budget, limits, FIRST_COLLECTION);
    e->reserve = malloc(RESERVE_BYTES);
}

void *scratch_alloc(Eval *e, uint64_t n, size_t bytes)
{
    void *p = eval_zeroed((n ? n : 1) * bytes);
    if (!p) {
        free(e->reserve);
        e->reserve = NULL;
        p = eval_zeroed((n ? n : 1) * bytes);
    }
    if (!p)
        memory_out();
    return p;
}

void *elements_alloc(Eval *e, uint64_t n, size_t bytes)
{
    uint64_t wanted = dp_size_mul(n, bytes);
    void *p = budget_has_room(&e->budget, wanted) ? eval_zeroed(wanted ? wanted : 1) : NULL;
    if (!p)
        flat_eval_fail_memory(e, n, bytes);
    return p;
}

/* ---- the search tree of blocks: a treap by address ---- */

static uint32_t next_random(Eval *e) { return e->random = e->random * 1664525u + 1013904223u; }

/* Splits into blocks below and from `key`. */
static void tree_split(Stored *t, uintptr_t key, Stored **below, Stored **above)
{
    if (!t) {
        *below = *above = NULL;
    } else if ((uintptr_t)t->data < key) {
        tree_split(t->right, key, &t->right, above);
        *below = t;
    } else {
        tree_split(t->left, key, below, &t->left);
        *above = t;
    }
}

static void tree_insert(Stored **t, Stored *s)
{
    while (*t && (*t)->priority >= s->priority)
        t = (uintptr_t)s->data < (uintptr_t)(*t)->data ? &(*t)->left : &(*t)->right;
    tree_split(*t, (uintptr_t)s->data, &s->left, &s->right);
    *t = s;
}

static bool stored_holds(const Stored *s, uint64_t addr)
{
    uintptr_t from = (uintptr_t)s->data;
    return addr >= from && addr < from + s->n * elem_bytes(s->type);
}

Stored *stored_at(const Eval *e, uint64_t addr)
{
    Stored *t = e->tree, *last = NULL;
    while (t) {
        if ((uintptr_t)t->data <= addr) {
            last = t;
            t = t->right;
        } else {
            t = t->left;
        }
    }
    return last && stored_holds(last, addr) ? last : NULL;
}

/* ---- allocation ---- */

Stored *stored_new(Eval *e, CoreType element, uint64_t n)
{
    uint64_t size = elem_bytes(element);
    char *data = elements_alloc(e, n, size);
    if (!data)
        return NULL;
    Stored *s = scratch_alloc(e, 1, sizeof *s);
    s->type = element;
    s->n = n;
    s->number = e->nstored++;
    s->data = data;
    if (n * size <= LARGEST_FILL)
        memset(s->data, 0xDB, n * size); /* so that what was never written shows */
    s->priority = next_random(e);
    s->next = e->blocks;
    e->blocks = s;
    tree_insert(&e->tree, s);
    budget_take(&e->budget, n * size);
    return s;
}

void stored_set_contig(Stored *s, Index *offsets, char *base)
{
    s->offsets = offsets;
    s->base = base;
}

Index *index_new(Eval *e, uint64_t n)
{
    Index *x = elements_alloc(e, n + sizeof *x / sizeof x->at[0], sizeof x->at[0]);
    if (!x)
        return NULL;
    x->n = n;
    x->next = e->indices;
    e->indices = x;
    budget_take(&e->budget, n * sizeof x->at[0]);
    return x;
}

/* ---- contexts ---- */

Ctx *eval_ctx_new(Eval *e, FlatCtxKind kind, Ctx *parent, uint64_t n)
{
    Ctx *c = scratch_alloc(e, 1, sizeof *c);
    c->kind = kind;
    c->parent = parent;
    c->n = n;
    c->next = e->ctxs;
    e->ctxs = c;
    return c;
}

Ctx *ctx_select(Eval *e, Ctx *parent, Index *idx, uint64_t n)
{
    Ctx *c = eval_ctx_new(e, CTX_SELECTED, parent, n);
    if (n == parent->n)
        return c;
    c->map = idx;
    for (uint64_t i = 0; i < n; i++)
        FLAT_ASSERT(e, idx->at[i] < parent->n && (i == 0 || idx->at[i - 1] < idx->at[i]),
                    "a selection does not ascend");
    return c;
}

/* at(c -> c->parent) */
static bool ctx_step(Eval *e, Ctx *c, Index **step)
{
    *step = c->kind == CTX_SELECTED ? c->map : index_new(e, c->n);
    if (c->kind == CTX_SELECTED || !*step)
        return c->kind == CTX_SELECTED;
    ref_segments(c->offsets->at, ctx_segments(c), (*step)->at);
    e->counts.work += c->n;
    return true;
}

static bool path_compose(Eval *e, Index *outer, Index *inner, uint64_t n, Index **path)
{
    *path = outer ? outer : inner;
    if (!outer || !inner)
        return true;
    *path = index_new(e, n);
    if (!*path)
        return false;
    ref_compose((*path)->at, outer->at, inner->at, n);
    e->counts.work += n;
    return true;
}

static bool path_map(Eval *e, Ctx *from, const Ctx *to, Index **map);

static bool path_make(Eval *e, Ctx *from, const Ctx *to, Index **map)
{
    Index *step, *rest;
    if (from->parent == to)
        return ctx_step(e, from, map);
    return path_map(e, from, from->parent, &step) && path_map(e, from->parent, to, &rest) &&
           path_compose(e, rest, step, from->n, map);
}

/* Computed once per pair, at each context on the way (docs/flattening.md, 2). */
static bool path_map(Eval *e, Ctx *from, const Ctx *to, Index **map)
{
    *map = NULL;
    if (from == to)
        return true;
    FLAT_ASSERT(e, from->parent, "no path to a context that is no ancestor");
    for (uint32_t i = 0; i < from->npaths; i++)
        if (from->paths[i].to == to) {
            *map = from->paths[i].map;
            return true;
        }
    if (!path_make(e, from, to, map))
        return false;
    Path *paths = realloc(from->paths, (from->npaths + 1u) * sizeof *paths);
    if (!paths)
        return flat_eval_fail_memory(e, from->npaths + 1u, sizeof *paths);
    from->paths = paths;
    from->paths[from->npaths++] = (Path){to, *map};
    return true;
}

bool ctx_path(Eval *e, Ctx *from, const Ctx *to, const uint64_t **path)
{
    Index *map;
    if (!path_map(e, from, to, &map))
        return false;
    *path = map ? map->at : NULL;
    return true;
}

/* ---- elements ---- */

#define LOAD_AS(T, into)                                                                                               \
    do {                                                                                                               \
        T x;                                                                                                           \
        memcpy(&x, at, sizeof x);                                                                                      \
        into;                                                                                                          \
    } while (0)

Elem elem_load(CoreType t, const char *at)
{
    Elem r = {0};
    if (t.rank) {
        memcpy(&r.view, at, sizeof r.view);
        return r;
    }
    switch (t.scalar) {
    case SC_BOOL:
    case SC_U8: LOAD_AS(uint8_t, r.bits = x); break;
    case SC_I8: LOAD_AS(int8_t, r.bits = (uint64_t)(int64_t)x); break;
    case SC_I16: LOAD_AS(int16_t, r.bits = (uint64_t)(int64_t)x); break;
    case SC_I32: LOAD_AS(int32_t, r.bits = (uint64_t)(int64_t)x); break;
    case SC_U16: LOAD_AS(uint16_t, r.bits = x); break;
    case SC_U32:
    case SC_F32: LOAD_AS(uint32_t, r.bits = x); break;
    case SC_I64:
    case SC_U64:
    case SC_F64: LOAD_AS(uint64_t, r.bits = x); break;
    case SCALAR_COUNT: break;
    }
    return r;
}

void elem_store(CoreType t, char *at, Elem x)
{
    if (t.rank) {
        memcpy(at, &x.view, sizeof x.view);
        return;
    }
    switch (scalar_bytes(t.scalar)) { /* sizes that the compiler knows */
    case 1: *at = (char)(uint8_t)x.bits; break;
    case 2: memcpy(at, &(uint16_t){(uint16_t)x.bits}, 2); break;
    case 4: memcpy(at, &(uint32_t){(uint32_t)x.bits}, 4); break;
    default: memcpy(at, &x.bits, 8);
    }
}

View view_of(const char *data, uint64_t len) { return (View){len, len ? (uint64_t)(uintptr_t)data : 0}; }

char *no_elements(void)
{
    static char none[1];
    return none;
}

/* Asserts that the view's elements lie in one block of their type. */
static void view_check(const Eval *e, CoreType array, View v)
{
    if (v.len == 0 || lane_holds(e, v.addr))
        return;
    CoreType t = core_element(array);
    const Stored *s = stored_at(e, v.addr);
    FLAT_ASSERT(e, s, "a view lies in no block");
    FLAT_ASSERT(e, core_type_equal(s->type, t), "a view lies in a block of another element type");
    uint64_t at = v.addr - (uintptr_t)s->data;
    FLAT_ASSERT(e, at % elem_bytes(t) == 0 && v.len <= s->n - at / elem_bytes(t), "a view reaches out of its block");
}

char *view_at(const Eval *e, CoreType array, View v, uint64_t i)
{
    FLAT_ASSERT(e, i < v.len, "an element out of bounds");
    view_check(e, array, v);
    return (char *)(uintptr_t)v.addr + i * elem_bytes(core_element(array));
}

void view_copy(const Eval *e, CoreType array, View v, char *to)
{
    view_check(e, array, v);
    if (v.len)
        memcpy(to, (const char *)(uintptr_t)v.addr, v.len * elem_bytes(core_element(array)));
}

/* ---- the collector ---- */

static void mark_index(Index *x)
{
    if (x)
        x->marked = true;
}

static void mark_addr(const Eval *e, uint64_t addr);

static void mark_stored(const Eval *e, Stored *s)
{
    if (s->marked)
        return;
    s->marked = true;
    mark_index(s->offsets);
    if (s->type.rank == 0)
        return;
    if (s->offsets)
        mark_addr(e, (uintptr_t)s->base);
    for (uint64_t i = 0; i < s->n; i++) {
        View v = elem_load(s->type, s->data + i * sizeof v).view;
        if (v.len)
            mark_addr(e, v.addr);
    }
}

static void mark_addr(const Eval *e, uint64_t addr)
{
    Stored *s = stored_at(e, addr);
    if (s)
        mark_stored(e, s);
}

static void mark_ctx(Ctx *c)
{
    for (; c && !c->marked; c = c->parent) {
        c->marked = true;
        mark_index(c->offsets);
        mark_index(c->map);
        for (uint32_t i = 0; i < c->npaths; i++)
            mark_index(c->paths[i].map);
    }
}

static void mark_value(const Eval *e, const Value *v)
{
    if (v->kind == FLAT_CTX) {
        mark_ctx(v->ctx);
    } else if (v->kind == FLAT_COL) {
        mark_ctx(v->col.ctx);
        mark_addr(e, (uintptr_t)v->col.data);
    } else if (v->type.rank && v->host.view.len) {
        mark_addr(e, v->host.view.addr);
    }
}

/* The bytes that go on living. */
static uint64_t sweep_blocks(Eval *e)
{
    Stored *all = e->blocks;
    uint64_t live = 0;
    e->blocks = e->tree = NULL;
    for (Stored *s = all, *next; s; s = next) {
        next = s->next;
        if (!s->marked) {
            free(s->data);
            free(s);
            continue;
        }
        s->marked = false;
        s->left = s->right = NULL;
        s->next = e->blocks;
        e->blocks = s;
        tree_insert(&e->tree, s);
        live += s->n * elem_bytes(s->type);
    }
    return live;
}

static void sweep_ctxs(Eval *e)
{
    for (Ctx **at = &e->ctxs; *at;) {
        Ctx *c = *at;
        if (c->marked) {
            c->marked = false;
            at = &c->next;
        } else {
            *at = c->next;
            free(c->paths);
            free(c);
        }
    }
}

static uint64_t sweep_indices(Eval *e)
{
    uint64_t live = 0;
    for (Index **at = &e->indices; *at;) {
        Index *x = *at;
        if (x->marked) {
            x->marked = false;
            live += x->n * sizeof x->at[0];
            at = &x->next;
        } else {
            *at = x->next;
            free(x);
        }
    }
    return live;
}

static uint64_t sweep(Eval *e)
{
    uint64_t live = sweep_blocks(e) + sweep_indices(e);
    sweep_ctxs(e);
    return live;
}

void collect_if_due(Eval *e)
{
    if (!budget_is_due(&e->budget))
        return;
    for (const Frame *f = e->frame; f; f = f->caller)
        for (uint32_t v = 0; v < f->fn->vars.n; v++)
            if (f->bound[v])
                mark_value(e, &f->vars[v]);
    for (const Roots *r = e->roots; r; r = r->outer)
        for (uint32_t i = 0; i < r->n; i++)
            mark_value(e, &r->values[i]);
    budget_collected(&e->budget, sweep(e), FIRST_COLLECTION);
}

void memory_free_all(Eval *e)
{
    (void)sweep(e);
    lane_free_all(e);
    free(e->reserve);
}

/* ---- values in and out ---- */

/* Stores `count` sequences of type t one behind the other; returns the block of their elements. */
static Stored *store_seqs(Eval *e, CoreType t, const CoreValue *const *seqs, uint64_t count)
{
    uint64_t total = 0, k = 0;
    for (uint64_t i = 0; i < count; i++)
        total += seqs[i]->n;
    Stored *s = stored_new(e, core_element(t), total);
    if (!s)
        return NULL;
    if (t.rank == 1) {
        for (uint64_t i = 0; i < count; i++)
            for (uint64_t j = 0; j < seqs[i]->n; j++)
                elem_store(s->type, s->data + k++ * elem_bytes(s->type), (Elem){.bits = seqs[i]->scalars[j]});
        return s;
    }
    const CoreValue **rows = elements_alloc(e, total, sizeof *rows);
    Index *offsets = rows ? index_new(e, total + 1) : NULL;
    if (!offsets) {
        free(rows);
        return NULL;
    }
    for (uint64_t i = 0; i < count; i++)
        for (uint64_t j = 0; j < seqs[i]->n; j++)
            rows[k++] = &seqs[i]->items[j];
    for (k = 0; k < total; k++)
        offsets->at[k] = rows[k]->n;
    ref_offsets(offsets->at, total, offsets->at);
    Stored *inner = store_seqs(e, core_element(t), rows, total);
    free(rows);
    if (!inner)
        return NULL;
    for (k = 0; k < total; k++) {
        View v = view_of(inner->data + offsets->at[k] * elem_bytes(inner->type), offsets->at[k + 1] - offsets->at[k]);
        elem_store(s->type, s->data + k * sizeof v, (Elem){.view = v});
    }
    stored_set_contig(s, offsets, inner->data);
    return s;
}

bool value_from_core(Eval *e, const CoreValue *v, Value *out)
{
    *out = (Value){.kind = FLAT_HOST, .type = v->type, .host.bits = v->bits};
    if (v->type.rank == 0)
        return true;
    Stored *s = store_seqs(e, v->type, &v, 1);
    if (!s)
        return false;
    out->host = (Elem){.view = view_of(s->data, v->n)};
    out->owned = true;
    return true;
}

CoreValue value_to_core(const Eval *e, Arena *arena, CoreType t, Elem x)
{
    CoreValue out = {.type = t, .bits = x.bits};
    if (t.rank == 0)
        return out;
    out.bits = 0;
    out.n = x.view.len;
    CoreType el = core_element(t);
    if (el.rank)
        out.items = arena_array(arena, CoreValue, out.n + 1);
    else
        out.scalars = arena_array(arena, uint64_t, out.n + 1);
    for (uint64_t i = 0; i < out.n; i++) {
        Elem item = elem_load(el, view_at(e, t, x.view, i));
        if (el.rank)
            out.items[i] = value_to_core(e, arena, el, item);
        else
            out.scalars[i] = item.bits;
    }
    return out;
}
