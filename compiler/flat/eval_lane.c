/* Code that a lane executes from beginning to end (core/lane.h): parallel operations one element after the other, on
 * arrays that only this instance sees. These lie in a memory of their own, a stack: what a repetition leaves behind is
 * dropped behind it. */
#include "core/lane.h"
#include "flat/eval_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

struct LaneChunk {
    LaneChunk *below;
    size_t used, size;
    uint64_t data[];
};

enum { CHUNK_BYTES = 1 << 16 };

static bool holds(const LaneChunk *memory, uint64_t addr)
{
    for (const LaneChunk *c = memory; c; c = c->below)
        if (addr >= (uintptr_t)c->data && addr < (uintptr_t)c->data + c->used)
            return true;
    return false;
}

bool lane_holds(const Eval *e, uint64_t addr) { return holds(e->lane, addr); }

static void *lane_alloc(Eval *e, LaneChunk **memory, uint64_t bytes)
{
    bytes = (bytes + 15) / 16 * 16;
    if (!*memory || (*memory)->size - (*memory)->used < bytes) {
        size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        LaneChunk *c = scratch_alloc(e, 1, sizeof *c + size);
        c->below = *memory;
        c->size = size;
        *memory = c;
    }
    char *at = (char *)(*memory)->data + (*memory)->used;
    (*memory)->used += bytes;
    return at;
}

LaneMark lane_mark(const Eval *e) { return (LaneMark){e->lane, e->lane ? e->lane->used : 0}; }

static void drop_chunks(LaneChunk **memory, const LaneChunk *down_to)
{
    while (*memory != down_to) {
        LaneChunk *c = *memory;
        *memory = c->below;
        free(c);
    }
}

static void lane_reset(Eval *e, LaneMark m)
{
    drop_chunks(&e->lane, m.top);
    if (e->lane)
        e->lane->used = m.used;
}

void lane_free_all(Eval *e) { drop_chunks(&e->lane, NULL); }

/* The value with its arrays in `from`, rows included, copied to another memory. */
static Elem lane_copy(Eval *e, const LaneChunk *from, LaneChunk **to, CoreType t, Elem x)
{
    if (t.rank == 0 || x.view.len == 0 || !holds(from, x.view.addr))
        return x;
    CoreType el = core_element(t);
    uint64_t n = x.view.len, bytes = elem_bytes(el);
    char *data = lane_alloc(e, to, n * bytes);
    for (uint64_t i = 0; i < n; i++) {
        Elem item = elem_load(el, (const char *)(uintptr_t)x.view.addr + i * bytes);
        elem_store(el, data + i * bytes, lane_copy(e, from, to, el, item));
    }
    return (Elem){.view = view_of(data, n)};
}

void lane_tidy(Eval *e, LaneMark m, const CoreVar *state, uint32_t n)
{
    LaneChunk *aside = NULL;
    if (e->lane == m.top)
        return;
    for (uint32_t i = 0; i < n; i++)
        e->env[state[i]] =
            lane_copy(e, e->lane, &aside, core_var_type(e->frame->fn->scope, state[i]), e->env[state[i]]);
    lane_reset(e, m);
    for (uint32_t i = 0; i < n; i++)
        e->env[state[i]] =
            lane_copy(e, aside, &e->lane, core_var_type(e->frame->fn->scope, state[i]), e->env[state[i]]);
    drop_chunks(&aside, NULL);
}

/* ---- pieces ---- */

static CoreType type_of(const Eval *e, CoreAtom a) { return core_atom_type(e->frame->fn->scope, a); }
static CoreType var_type(const Eval *e, CoreVar v) { return core_var_type(e->frame->fn->scope, v); }

static Elem load(Eval *e, CoreAtom array, uint64_t i)
{
    CoreType t = type_of(e, array);
    e->counts.work++;
    return elem_load(core_element(t), view_at(e, t, atom_value(e, array).view, i));
}

static void store(Eval *e, CoreVar array, uint64_t i, Elem x)
{
    CoreType el = core_element(var_type(e, array));
    e->counts.work++;
    elem_store(el, (char *)(uintptr_t)e->env[array].view.addr + i * elem_bytes(el), x);
}

static void new_array(Eval *e, CoreVar v, uint64_t n)
{
    char *data = lane_alloc(e, &e->lane, n * elem_bytes(core_element(var_type(e, v))));
    e->env[v] = (Elem){.view = view_of(data, n)};
}

static void new_arrays(Eval *e, const CoreStmt *s, uint64_t n)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        new_array(e, s->vars[i], n);
}

static void bind_elements(Eval *e, const CoreSoac *soac, uint64_t i)
{
    for (uint32_t j = 0; j < soac->ninputs; j++)
        e->env[soac->elements[j]] = load(e, soac->inputs[j], i);
    if (soac->index != CORE_NO_VAR)
        e->env[soac->index] = (Elem){.bits = i};
}

/* ---- operations ---- */

static bool has_rows(const Eval *e, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        if (var_type(e, s->vars[i]).rank > 1)
            return true;
    return false;
}

static bool run_map(Eval *e, const CoreStmt *s, Elem *row)
{
    uint64_t n = atom_value(e, s->soac.domain).bits;
    new_arrays(e, s, n);
    LaneMark m = lane_mark(e);
    for (uint64_t i = 0; i < n && !lane_is_room(s); i++) {
        bind_elements(e, &s->soac, i);
        if (!body_run(e, s->soac.body, row))
            return false;
        for (uint32_t j = 0; j < s->nvars; j++)
            store(e, s->vars[j], i, row[j]);
        if (!has_rows(e, s))
            lane_reset(e, m);
    }
    return true;
}

static bool run_filter(Eval *e, const CoreStmt *s, Elem *row)
{
    uint64_t n = atom_value(e, s->soac.domain).bits, kept = 0;
    new_arrays(e, s, n);
    LaneMark m = lane_mark(e);
    for (uint64_t i = 0; i < n; i++) {
        Elem holds;
        bind_elements(e, &s->soac, i);
        if (!body_run(e, s->soac.guard, &holds) || (holds.bits && !body_run(e, s->soac.body, row)))
            return false;
        for (uint32_t j = 0; holds.bits && j < s->nvars; j++)
            store(e, s->vars[j], kept, row[j]);
        kept += holds.bits;
        if (!has_rows(e, s))
            lane_reset(e, m);
    }
    for (uint32_t j = 0; j < s->nvars; j++)
        e->env[s->vars[j]].view.len = kept;
    return true;
}

/* REDUCE, SCAN: acc = op acc row */
static bool run_fold(Eval *e, const CoreStmt *s, Elem *row)
{
    const CoreLambda *op = &s->soac.op;
    uint64_t n = atom_value(e, s->soac.domain).bits;
    uint32_t k = s->nvars;
    Elem *acc = row + k;
    bool scan = s->kind == CORE_SCAN;
    if (scan)
        new_arrays(e, s, n);
    LaneMark m = lane_mark(e);
    for (uint32_t j = 0; j < k; j++)
        acc[j] = atom_value(e, s->soac.neutral[j]);
    for (uint64_t i = 0; i < n; i++) {
        bind_elements(e, &s->soac, i);
        if (!body_run(e, s->soac.body, row))
            return false;
        for (uint32_t j = 0; j < k; j++) {
            if (scan && s->soac.exclusive)
                store(e, s->vars[j], i, acc[j]);
            e->env[op->params[j]] = acc[j];
            e->env[op->params[k + j]] = row[j];
        }
        if (!body_run(e, op->body, acc))
            return false;
        for (uint32_t j = 0; scan && !s->soac.exclusive && j < k; j++)
            store(e, s->vars[j], i, acc[j]);
        lane_reset(e, m);
    }
    for (uint32_t j = 0; !scan && j < k; j++)
        e->env[s->vars[j]] = acc[j];
    return true;
}

static void copy_array(Eval *e, CoreVar v, View from)
{
    new_array(e, v, from.len);
    if (from.len)
        view_copy(e, var_type(e, v), from, (char *)(uintptr_t)e->env[v].view.addr);
}

static bool run_scatter(Eval *e, const CoreStmt *s, Elem *row)
{
    uint64_t n = atom_value(e, s->soac.domain).bits;
    for (uint32_t j = 0; j < s->nvars; j++)
        copy_array(e, s->vars[j], atom_value(e, s->soac.dests[j]).view);
    LaneMark m = lane_mark(e);
    for (uint64_t i = 0; i < n; i++) {
        bind_elements(e, &s->soac, i);
        if (!body_run(e, s->soac.body, row))
            return false;
        for (uint32_t j = 0; j < s->nvars; j++)
            if (row[0].bits < e->env[s->vars[j]].view.len) /* a negative index is huge */
                store(e, s->vars[j], row[0].bits, row[j + 1]);
        lane_reset(e, m);
    }
    return true;
}

static bool run_soac(Eval *e, const CoreStmt *s)
{
    Elem *row = scratch_alloc(e, 2 * (uint64_t)s->nvars + 1, sizeof *row);
    bool ok = s->kind == CORE_MAP       ? (s->soac.guard ? run_filter : run_map)(e, s, row)
              : s->kind == CORE_SCATTER ? run_scatter(e, s, row)
                                        : run_fold(e, s, row);
    free(row);
    return ok;
}

static bool run_update(Eval *e, const CoreStmt *s)
{
    View from = atom_value(e, s->update.array).view;
    uint64_t i = atom_value(e, s->update.index).bits;
    if (i >= from.len && (s->site != CORE_NO_SITE || s->update.holds))
        return flat_eval_fail(e, s->site, s->span, (int64_t)i, (int64_t)from.len, 0);
    copy_array(e, s->vars[0], from);
    if (i < from.len)
        store(e, s->vars[0], i, atom_value(e, s->update.value));
    return true;
}

static bool run_array(Eval *e, const CoreStmt *s)
{
    new_array(e, s->vars[0], s->array.n);
    for (uint32_t i = 0; i < s->array.n; i++)
        store(e, s->vars[0], i, atom_value(e, s->array.items[i]));
    return true;
}

static bool run_flatten(Eval *e, const CoreStmt *s)
{
    CoreType rows = type_of(e, s->length.array), row = core_element(rows);
    View from = atom_value(e, s->length.array).view;
    uint64_t n = 0, at = 0;
    for (uint64_t i = 0; i < from.len; i++)
        n += load(e, s->length.array, i).view.len;
    new_array(e, s->vars[0], n);
    for (uint64_t i = 0; i < from.len; i++) {
        View v = load(e, s->length.array, i).view;
        for (uint64_t j = 0; j < v.len; j++)
            store(e, s->vars[0], at++, elem_load(core_element(row), view_at(e, row, v, j)));
    }
    return true;
}

static bool run_table(Eval *e, const CoreStmt *s)
{
    const View rows = atom_value(e, s->length.array).view;
    const uint64_t n = rows.len ? load(e, s->length.array, 0).view.len : 0;
    for (uint64_t i = 1; i < rows.len && !e->gave_up; i++)
        e->gave_up = load(e, s->length.array, i).view.len != n;
    e->env[s->vars[1]].bits = n;
    return !e->gave_up && run_flatten(e, s);
}

bool lane_run_parallel(Eval *e, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_MAP:
    case CORE_REDUCE:
    case CORE_SCATTER:
    case CORE_SCAN: return run_soac(e, s);
    case CORE_UPDATE: return run_update(e, s);
    case CORE_ARRAY: return run_array(e, s);
    case CORE_FLATTEN: return run_flatten(e, s);
    case CORE_TABLE: return run_table(e, s);
    default: break;
    }
    flat_eval_broken(e, "a body has a statement that no lane can do");
}

/* An array that the lane made, in the heap. */
static bool give(Eval *e, CoreType t, Elem *x)
{
    const uint64_t n = x->view.len;
    if (t.rank == 0 || n == 0 || !lane_holds(e, x->view.addr))
        return true;
    Stored *s = stored_new(e, core_element(t), n);
    if (!s)
        return false;
    view_copy(e, t, x->view, s->data);
    x->view = view_of(s->data, n);
    return true;
}

bool lane_run(Eval *e, const CoreStmt *s)
{
    LaneMark m = lane_mark(e);
    Elem *results = scratch_alloc(e, s->nvars, sizeof *results);
    bool ok = body_run(e, s->lane.block, results);
    if (!ok && e->gave_up) { /* nobody looks at what it gives */
        memset(results, 0, s->nvars * sizeof *results);
        ok = true;
    }
    for (uint32_t i = 0; ok && i < s->nvars; i++) {
        ok = give(e, var_type(e, s->vars[i]), &results[i]);
        e->env[s->vars[i]] = results[i];
    }
    free(results);
    lane_reset(e, m);
    return ok;
}
