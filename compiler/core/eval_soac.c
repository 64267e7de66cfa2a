/* The interpreter's parallel operations, one element after the other, in order. */
#include "core/eval_internal.h"

#include "dp_limits.h"

#include <stdlib.h>
#include <string.h>

/* ---- what all of them do ---- */

typedef struct Walk {
    Eval *e;
    Frame *f;
    const CoreStmt *s;
    const CoreSoac *soac;
    uint64_t n; /* the domain */
    CoreValue *inputs;
    CoreValue *row; /* the body's results for one element, and room for as many again */
    Roots roots;    /* all of these values */
} Walk;

static bool walk_begin(Walk *w, Eval *e, Frame *f, const CoreStmt *s)
{
    const CoreSoac *soac = core_stmt_soac(s);
    uint32_t width = soac->body->nresults + s->nvars;
    *w = (Walk){.e = e, .f = f, .s = s, .soac = soac, .n = eval_peek(f, soac->domain).bits};
    w->inputs = calloc(soac->ninputs + width + 1u, sizeof(CoreValue));
    if (!w->inputs)
        return eval_fail_memory(e, s->span, sizeof(CoreValue) * (soac->ninputs + width + 1u));
    w->row = w->inputs + soac->ninputs;
    w->roots = (Roots){w->inputs, soac->ninputs + width, e->roots};
    if ((int64_t)w->n < 0)
        return eval_fail_text(e, EVAL_INTERNAL, s->span, "internal: a negative domain");
    for (uint32_t i = 0; i < soac->ninputs; i++) {
        w->inputs[i] = eval_peek(f, soac->inputs[i]);
        if (w->inputs[i].n != w->n)
            return eval_fail_text(e, EVAL_INTERNAL, s->span, "internal: an input's length is not the domain");
    }
    return true;
}

static void walk_bind(Walk *w, uint64_t i)
{
    const CoreSoac *soac = w->soac;
    if (soac->index != CORE_NO_VAR)
        w->f->vars[soac->index] = (CoreValue){.type = {SC_I64, 0}, .bits = i};
    for (uint32_t j = 0; j < soac->ninputs; j++)
        w->f->vars[soac->elements[j]] = eval_load(&w->inputs[j], i);
    w->e->work += soac->ninputs;
}

/* The body's results for element i, into w->row. */
static bool walk_step(Walk *w, uint64_t i)
{
    walk_bind(w, i);
    return eval_part(w->e, w->f, w->s, PART_BODY, i, w->soac->body, w->row);
}

/* acc = op acc row */
static bool apply_operator(Walk *w, uint64_t i, const CoreLambda *op, CoreValue *acc, const CoreValue *row, uint32_t k)
{
    for (uint32_t j = 0; j < k; j++) {
        w->f->vars[op->params[j]] = acc[j];
        w->f->vars[op->params[k + j]] = row[j];
    }
    return eval_part(w->e, w->f, w->s, PART_OPERATOR, i, op->body, acc);
}

static bool new_results(Walk *w, uint64_t n)
{
    for (uint32_t j = 0; j < w->s->nvars; j++) {
        CoreVar v = w->s->vars[j];
        if (!eval_new_seq(w->e, w->s->span, core_var_type(w->f->fn, v), n, &w->f->vars[v]))
            return false;
    }
    return true;
}

static void store_results(Walk *w, uint64_t i, const CoreValue *row)
{
    for (uint32_t j = 0; j < w->s->nvars; j++)
        eval_store(&w->f->vars[w->s->vars[j]], i, row[j]);
    w->e->work += w->s->nvars;
}

/* ---- map ---- */

static bool eval_map(Walk *w)
{
    uint64_t kept = 0;
    if (!new_results(w, w->n))
        return false;
    for (uint64_t i = 0; i < w->n; i++) {
        walk_bind(w, i);
        if (w->soac->guard) {
            CoreValue holds;
            if (!eval_part(w->e, w->f, w->s, PART_GUARD, i, w->soac->guard, &holds))
                return false;
            if (!holds.bits)
                continue;
        }
        if (!eval_part(w->e, w->f, w->s, PART_BODY, i, w->soac->body, w->row))
            return false;
        store_results(w, kept++, w->row);
    }
    for (uint32_t j = 0; j < w->s->nvars; j++)
        w->f->vars[w->s->vars[j]].n = kept;
    return true;
}

/* ---- reduce, scan ---- */

static void take_neutral(Walk *w, CoreValue *acc)
{
    for (uint32_t j = 0; j < w->s->nvars; j++)
        acc[j] = eval_take(w->e, w->f, &w->s->soac.neutral[j]);
}

/* What nothing is stored of has no limit of memory. */
static bool check_countable(const Walk *w)
{
    char text[DP_MEMORY_TEXT];
    if (w->n <= DP_MAX_COUNTED)
        return true;
    dp_elements_text(text, w->n, DP_MAX_COUNTED, "counted");
    return eval_fail_text(w->e, EVAL_NO_MEMORY, w->s->span, text);
}

/* Sequences may have a neutral element that is none, as in `reduce (map2 (+)) [] rows`: the first element starts. */
static bool starts_with_first(const Walk *w)
{
    for (uint32_t j = 0; j < w->s->nvars; j++)
        if (core_var_type(w->f->fn, core_stmt_operator(w->s)->params[j]).rank > 0)
            return true;
    return false;
}

/* acc = op acc row; the first row if there is nothing to combine it with. */
static bool combine(Walk *w, uint64_t i, CoreValue *acc, const CoreValue *row, bool first)
{
    const CoreLambda *op = core_stmt_operator(w->s);
    if (!first)
        return apply_operator(w, i, op, acc, row, w->s->nvars);
    for (uint32_t j = 0; j < w->s->nvars; j++)
        acc[j] = row[j];
    return true;
}

static bool eval_reduce(Walk *w)
{
    uint32_t k = w->s->nvars;
    CoreValue *acc = w->row + w->soac->body->nresults;
    bool skips = starts_with_first(w);
    if (!check_countable(w))
        return false;
    take_neutral(w, acc);
    for (uint64_t i = 0; i < w->n; i++)
        if (!walk_step(w, i) || !combine(w, i, acc, w->row, skips && i == 0))
            return false;
    if (w->soac->stays) {
        if (!new_results(w, 1))
            return false;
        store_results(w, 0, acc);
        return true;
    }
    for (uint32_t j = 0; j < k; j++)
        w->f->vars[w->s->vars[j]] = acc[j];
    return true;
}

static void disown(CoreValue *values, uint32_t k)
{
    for (uint32_t j = 0; j < k; j++)
        values[j].owned = false;
}

/* Inclusive: out[i] = x0 op … op xi. Exclusive: out[i] = neutral op x0 op … op x(i-1). */
static bool eval_scan(Walk *w)
{
    uint32_t k = w->s->nvars;
    CoreValue *acc = w->row + w->soac->body->nresults;
    bool skips = starts_with_first(w);
    if (!new_results(w, w->n))
        return false;
    take_neutral(w, acc);
    for (uint64_t i = 0; i < w->n; i++) {
        disown(acc, k); /* the result holds it as well */
        if (!walk_step(w, i))
            return false;
        if (w->s->soac.exclusive)
            store_results(w, i, acc);
        if (!combine(w, i, acc, w->row, skips && i == 0))
            return false;
        if (!w->s->soac.exclusive)
            store_results(w, i, acc);
    }
    return true;
}

/* ---- scatter, hist ---- */

/* The results begin as the destinations. */
static bool take_dests(Walk *w)
{
    if (!check_countable(w))
        return false;
    for (uint32_t j = 0; j < w->s->nvars; j++) {
        CoreValue dest = eval_take(w->e, w->f, &w->s->soac.dests[j]);
        if (!eval_make_owned(w->e, w->s->span, &dest))
            return false;
        w->f->vars[w->s->vars[j]] = dest;
    }
    return true;
}

static bool eval_scatter(Walk *w)
{
    if (!take_dests(w))
        return false;
    for (uint64_t i = 0; i < w->n; i++) {
        if (!walk_step(w, i))
            return false;
        for (uint32_t j = 0; j < w->s->nvars; j++) {
            CoreValue *out = &w->f->vars[w->s->vars[j]];
            if (w->row[0].bits < out->n) /* a negative index is huge */
                eval_store(out, w->row[0].bits, w->row[j + 1]);
        }
        w->e->work += w->s->nvars;
    }
    return true;
}

static bool hist_fill(Walk *w, uint64_t size)
{
    if (!new_results(w, size))
        return false;
    for (uint32_t j = 0; j < w->s->nvars; j++) {
        CoreValue neutral = eval_take(w->e, w->f, &w->s->soac.neutral[j]);
        for (uint64_t i = 0; i < size; i++)
            eval_store(&w->f->vars[w->s->vars[j]], i, neutral);
    }
    w->e->work += size * w->s->nvars;
    return true;
}

/* Element i into its bin. `filled`, by bin, or NULL: does it have a value yet? */
static bool hist_step(Walk *w, uint64_t i, uint64_t size, bool *filled)
{
    CoreValue *acc = w->row + w->soac->body->nresults;
    if (!walk_step(w, i))
        return false;
    uint64_t bin = w->row[0].bits;
    if (bin >= size)
        return true;
    for (uint32_t j = 0; j < w->s->nvars; j++)
        acc[j] = eval_load(&w->f->vars[w->s->vars[j]], bin);
    if (!combine(w, i, acc, w->row + 1, filled && !filled[bin]))
        return false;
    store_results(w, bin, acc);
    if (filled)
        filled[bin] = true;
    return true;
}

static bool eval_hist(Walk *w)
{
    int64_t wanted = (int64_t)eval_peek(w->f, w->s->soac.size).bits;
    uint64_t size = wanted < 0 ? 0 : (uint64_t)wanted;
    if (!check_countable(w) || !hist_fill(w, size))
        return false;
    bool *filled = starts_with_first(w) ? calloc(size + 1, sizeof *filled) : NULL, ok = true;
    if (starts_with_first(w) && !filled)
        return eval_fail_memory(w->e, w->s->span, size);
    for (uint64_t i = 0; i < w->n && ok; i++)
        ok = hist_step(w, i, size, filled);
    free(filled);
    return ok;
}

static bool eval_accumulate(Walk *w)
{
    bool ok = take_dests(w);
    for (uint64_t i = 0; i < w->n && ok; i++)
        ok = hist_step(w, i, w->f->vars[w->s->vars[0]].n, NULL);
    return ok;
}

static bool eval_walk(Walk *w)
{
    switch (w->s->kind) {
    case CORE_MAP: return eval_map(w);
    case CORE_REDUCE: return eval_reduce(w);
    case CORE_SCAN: return eval_scan(w);
    case CORE_SCATTER: return eval_scatter(w);
    case CORE_ACCUMULATE: return eval_accumulate(w);
    default: return eval_hist(w);
    }
}

bool eval_soac(Eval *e, Frame *f, const CoreStmt *s)
{
    Walk w;
    bool ok = walk_begin(&w, e, f, s);
    if (ok) {
        e->roots = &w.roots;
        ok = eval_walk(&w);
        e->roots = w.roots.outer;
    }
    free(w.inputs);
    return ok;
}

/* ---- argsort ---- */

typedef struct Sorter {
    const CoreValue *keys;
    uint32_t nkeys;
    uint64_t comparisons;
} Sorter;

static bool less(Sorter *s, uint64_t i, uint64_t j)
{
    s->comparisons++;
    for (uint32_t k = 0; k < s->nkeys; k++) {
        Scalar type = s->keys[k].type.scalar;
        uint64_t x = s->keys[k].scalars[i], y = s->keys[k].scalars[j];
        if (core_prim_apply(PRIM_LESS_NAN_LAST, type, SC_BOOL, (uint64_t[]){x, y}))
            return true;
        if (core_prim_apply(PRIM_LESS_NAN_LAST, type, SC_BOOL, (uint64_t[]){y, x}))
            return false;
    }
    return false;
}

/* Merges from[lo, mid) and from[mid, hi) into `to`; of equals the left one first. */
static void merge(Sorter *s, const uint64_t *from, uint64_t *to, uint64_t lo, uint64_t mid, uint64_t hi)
{
    uint64_t i = lo, j = mid;
    for (uint64_t at = lo; at < hi; at++)
        to[at] = i < mid && (j == hi || !less(s, from[j], from[i])) ? from[i++] : from[j++];
}

static bool merge_sort(Eval *e, Sorter *s, uint64_t *order, uint64_t *room, uint64_t n)
{
    for (uint64_t width = 1; width < n; width *= 2) {
        for (uint64_t lo = 0; lo < n; lo += 2 * width) {
            uint64_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n;
            if (!eval_tick(e))
                return false;
            merge(s, order, room, lo, mid, hi);
        }
        memcpy(order, room, n * sizeof *order);
    }
    return true;
}

/* The statement's variables; the order becomes the positions, if these are wanted. */
static bool sorted_columns(Eval *e, Frame *f, const CoreStmt *s, const CoreValue *order)
{
    const uint32_t positions = core_argsort_positions(s);
    if (positions)
        f->vars[s->vars[0]] = *order;
    for (uint32_t k = 0; k < s->argsort.ncolumns; k++) {
        const CoreValue from = eval_peek(f, s->argsort.columns[k]);
        CoreValue *to = &f->vars[s->vars[positions + k]];
        if (from.n != order->n)
            return eval_fail_text(e, EVAL_INTERNAL, s->span, "internal: sorted columns of different lengths");
        if (!eval_new_seq(e, s->span, from.type, order->n, to))
            return false;
        for (uint64_t i = 0; i < order->n; i++)
            to->scalars[i] = from.scalars[order->scalars[i]];
        e->work += order->n;
    }
    return true;
}

bool eval_argsort(Eval *e, Frame *f, const CoreStmt *s)
{
    uint32_t nkeys = s->argsort.nkeys;
    uint64_t n = eval_peek(f, s->argsort.keys[0]).n;
    CoreValue made[2] = {0}, *keys = malloc(sizeof *keys * nkeys); /* the order, and as much room for merging */
    Sorter sorter = {keys, nkeys, 0};
    if (!keys)
        return eval_fail_memory(e, s->span, sizeof *keys * nkeys);
    const Roots roots = {made, 2, e->roots};
    e->roots = &roots;
    bool ok = true;
    for (uint32_t i = 0; ok && i < 2; i++)
        ok = eval_new_seq(e, s->span, (CoreType){SC_I64, 1}, n, &made[i]);
    for (uint32_t k = 0; ok && k < nkeys; k++) {
        keys[k] = eval_peek(f, s->argsort.keys[k]);
        if (keys[k].n != n)
            ok = eval_fail_text(e, EVAL_INTERNAL, s->span, "internal: sort keys of different lengths");
    }
    for (uint64_t i = 0; ok && i < n; i++)
        made[0].scalars[i] = i;
    ok = ok && merge_sort(e, &sorter, made[0].scalars, made[1].scalars, n) && sorted_columns(e, f, s, &made[0]);
    e->work += ok ? n + sorter.comparisons : 0;
    e->roots = roots.outer;
    free(keys);
    return ok;
}
