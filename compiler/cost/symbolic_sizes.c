#include "cost/symbolic_internal.h"

/* ---- symbols ---- */

static Symbol *new_symbol(Symbolic *x, SymbolKind kind, const char *hint, Span span)
{
    Symbol *s = arena_new(x->arena, Symbol);
    *s = (Symbol){.id = x->next_symbol++, .kind = kind, .scope = x->scope, .hint = hint, .span = span};
    return s;
}

const Formula *size_fresh(Symbolic *x, SymbolKind kind, const char *hint, Span span)
{
    return formula_symbol(x->arena, new_symbol(x, kind, hint, span));
}

/* The sum of one that differs from instance to instance, or the largest of them. */
static Symbol *fresh_over(void *ctx, const Symbol *of, bool most)
{
    Symbolic *x = ctx;
    Symbol *s = new_symbol(x, of->kind, of->hint, of->span);
    s->scope = of->scope->outer;
    s->negative = of->negative;
    s->all = of->all || !most;
    s->most = of->most || most;
    return s;
}

/* ---- shapes ---- */

static Shape *new_shape(Symbolic *x, uint32_t rank)
{
    Shape *s = arena_new(x->arena, Shape);
    s->rank = rank;
    s->total = arena_array(x->arena, const Formula *, rank + 1);
    s->longest = arena_array(x->arena, const Formula *, rank + 1);
    return s;
}

const Shape *shape_fresh(Symbolic *x, uint32_t rank, SymbolKind kind, const char *hint, Span span)
{
    Shape *s = new_shape(x, rank);
    const bool param = kind == SYMBOL_LENGTH;
    for (uint32_t k = 0; k < rank; k++) {
        s->total[k] = size_fresh(x, param && k > 0 ? SYMBOL_TOTAL : kind, hint, span);
        s->longest[k] = k > 0 ? size_fresh(x, param ? SYMBOL_LONGEST : kind, hint, span) : x->one;
        formula_is_symbol(s->total[k])->depth = k;
        if (k > 0)
            formula_is_symbol(s->longest[k])->depth = k;
    }
    return s;
}

const Shape *shape_of_length(Symbolic *x, const Formula *n)
{
    Shape *s = new_shape(x, 1);
    s->total[0] = n;
    return s;
}

Known known_fresh(Symbolic *x, CoreType t, SymbolKind kind, const char *hint, Span span)
{
    Known k = {.owned = OWNED_MAYBE};
    if (t.rank > 0) {
        k.shape = shape_fresh(x, t.rank, kind, hint, span);
    } else if (!scalar_is_float(t.scalar) && t.scalar != SC_BOOL) {
        Symbol *s = new_symbol(x, kind, hint, span);
        s->negative = scalar_is_signed(t.scalar);
        k.value = formula_symbol(x->arena, s);
    }
    return k;
}

const Shape *shape_over(Symbolic *x, const Scope *scope, const Formula *kept, const Known *element, uint32_t rank,
                        Span span)
{
    Shape *s = new_shape(x, rank);
    s->total[0] = kept ? kept : scope->count;
    for (uint32_t k = 1; k < rank; k++) {
        const Formula *inner = element->shape->total[k - 1];
        const Formula *longest = k == 1 ? inner : element->shape->longest[k - 1];
        const bool some = kept && formula_varies(inner, scope), unclear = some || !max_is_exact(longest, scope);
        s->total[k] = some   ? size_fresh(x, SYMBOL_COMPUTED, NULL, span)
                      : kept ? formula_mul(x->arena, kept, inner)
                             : sum_over(x, inner, scope);
        s->longest[k] = unclear ? size_fresh(x, SYMBOL_COMPUTED, NULL, span) : max_over(x, longest, scope);
    }
    return s;
}

const Shape *shape_of_items(Symbolic *x, const Shape **items, uint32_t n, uint32_t rank)
{
    Shape *s = arena_new(x->arena, Shape);
    *s = *shape_fresh(x, rank, SYMBOL_COMPUTED, NULL, SPAN_NONE);
    s->total[0] = formula_number(x->arena, n);
    for (uint32_t k = 1; k < rank; k++) {
        s->total[k] = s->longest[k] = x->zero;
        for (uint32_t i = 0; i < n; i++) {
            s->total[k] = formula_add(x->arena, s->total[k], items[i]->total[k - 1]);
            s->longest[k] =
                formula_max(x->arena, s->longest[k], k == 1 ? items[i]->total[0] : items[i]->longest[k - 1]);
        }
    }
    s->items = rank > 1 ? items : NULL;
    s->nitems = rank > 1 ? n : 0;
    return s;
}

/* Do all sequences at depths 1 to k have one length each? */
static bool regular_to(Symbolic *x, const Shape *s, uint32_t k)
{
    bool regular = true;
    for (uint32_t j = 1; regular && j <= k; j++)
        regular = formula_equal(size_resolve(x, s->total[j]),
                                size_resolve(x, formula_mul(x->arena, s->total[j - 1], s->longest[j])));
    return regular;
}

/* The element's sizes; `sum`: do those of all instances add up to the whole? */
static Known element_of(Symbolic *x, const Shape *s, CoreType t, const char *hint, Span span, bool sum)
{
    if (t.rank == 0)
        return known_fresh(x, t, SYMBOL_COMPUTED, hint, span);
    Shape *e = new_shape(x, t.rank);
    const Formula *most = x->one;
    for (uint32_t k = 0; k < t.rank; k++) {
        most = formula_mul(x->arena, most, s->longest[k + 1]);
        e->longest[k] = s->longest[k + 1];
        if (regular_to(x, s, k + 1)) {
            e->total[k] = most;
            continue;
        }
        Symbol *row = new_symbol(x, SYMBOL_ROW, hint, span);
        row->sum = sum ? s->total[k + 1] : NULL;
        row->max = most;
        e->total[k] = formula_symbol(x->arena, row);
    }
    return (Known){.shape = e, .owned = OWNED_NO};
}

Known shape_element(Symbolic *x, const Shape *s, CoreType t, const char *hint, Span span)
{
    return element_of(x, s, t, hint, span, true);
}

Known shape_some_element(Symbolic *x, const Shape *s, CoreType t, const char *hint, Span span)
{
    return element_of(x, s, t, hint, span, false);
}

bool shape_equal(Symbolic *x, const Shape *a, const Shape *b)
{
    bool same = true;
    for (uint32_t k = 0; same && k < a->rank; k++)
        same = formula_equal(size_resolve(x, a->total[k]), size_resolve(x, b->total[k])) &&
               (k == 0 || formula_equal(size_resolve(x, a->longest[k]), size_resolve(x, b->longest[k])));
    return same;
}

/* ---- what is known to be equal ---- */

static const Formula *alias_of(void *ctx, Symbol *s) { return s->alias ? size_resolve(ctx, s->alias) : NULL; }

const Formula *size_resolve(Symbolic *x, const Formula *f) { return formula_replace(x->arena, f, alias_of, x); }

Known known_resolve(Symbolic *x, Known k)
{
    if (k.value)
        k.value = size_resolve(x, k.value);
    if (!k.shape)
        return k;
    Shape *s = new_shape(x, k.shape->rank);
    for (uint32_t i = 0; i < s->rank; i++) {
        s->total[i] = size_resolve(x, k.shape->total[i]);
        s->longest[i] = i ? size_resolve(x, k.shape->longest[i]) : x->one;
    }
    s->nitems = k.shape->items ? k.shape->nitems : 0;
    s->items = k.shape->items ? arena_array(x->arena, const Shape *, s->nitems + 1) : NULL;
    for (uint32_t i = 0; i < s->nitems; i++)
        s->items[i] = known_resolve(x, (Known){.shape = k.shape->items[i]}).shape;
    k.shape = s;
    return k;
}

typedef struct Seen {
    const Scope *from;
    bool all;
} Seen;

static void look_out(void *ctx, Symbol *s)
{
    Seen *seen = ctx;
    const Scope *scope = seen->from;
    while (scope && scope != s->scope)
        scope = scope->outer;
    seen->all &= scope == s->scope;
}

/* May the symbol be replaced by it? It has to be there wherever the symbol is. */
static bool may_stand_for(const Symbol *s, const Formula *f)
{
    Seen seen = {s->scope, true};
    if (s->kind == SYMBOL_INDEX || formula_mentions(f, s))
        return false;
    formula_symbols(f, look_out, &seen);
    return seen.all;
}

static bool equate(Symbolic *x, Symbol *s, const Formula *f)
{
    if (!s || !may_stand_for(s, f))
        return false;
    s->alias = f;
    vec_push(x->arena, &x->equated, s);
    return true;
}

/* A computed number rather than a length, and the later one. */
static bool goes_first(const Symbol *s, const Symbol *t)
{
    const bool computed = s->negative, other = t->negative;
    return computed != other ? computed : s->id > t->id;
}

void size_equate(Symbolic *x, const Formula *a, const Formula *b)
{
    a = size_resolve(x, a);
    b = size_resolve(x, b);
    Symbol *s = formula_is_symbol(a), *t = formula_is_symbol(b);
    if (formula_equal(a, b))
        return;
    if (s && t && goes_first(s, t)) {
        if (!equate(x, s, b))
            equate(x, t, a);
    } else if (!equate(x, t, a)) {
        equate(x, s, b);
    }
}

void size_forget(Symbolic *x, uint32_t from)
{
    while (x->equated.n > from)
        x->equated.at[--x->equated.n]->alias = NULL;
}

const Formula *size_positive(Symbolic *x, const Formula *f)
{
    return formula_not_negative(f) ? f : formula_max(x->arena, x->zero, f);
}

/* ---- over the instances of a scope ---- */

const Formula *sum_over(Symbolic *x, const Formula *f, const Scope *scope)
{
    return formula_sum_over(x->arena, f, scope, fresh_over, x);
}

const Formula *max_over(Symbolic *x, const Formula *f, const Scope *scope)
{
    return formula_max_over(x->arena, f, scope, fresh_over, x);
}

typedef struct One {
    const Scope *scope;
    const Symbol *symbol;
    bool several;
} One;

static void count_symbol(void *ctx, Symbol *s)
{
    One *one = ctx;
    if (s->scope != one->scope)
        return;
    one->several |= one->symbol && one->symbol != s;
    one->symbol = s;
}

bool max_is_exact(const Formula *f, const Scope *scope)
{
    One one = {.scope = scope};
    formula_symbols(f, count_symbol, &one);
    for (uint32_t i = 0; i < f->n; i++) {
        const Formula term = {&f->terms[i], 1};
        one.several |= f->terms[i].number < 0 && formula_varies(&term, scope);
    }
    return !one.several;
}
