#include "cost/formula.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers that stop ---- */

static int64_t add_numbers(int64_t x, int64_t y)
{
    if (y > 0 ? x > INT64_MAX - y : x < -INT64_MAX - y)
        return y > 0 ? INT64_MAX : -INT64_MAX;
    return x + y;
}

static int64_t mul_numbers(int64_t x, int64_t y)
{
    const uint64_t a = (uint64_t)(x < 0 ? -x : x), b = (uint64_t)(y < 0 ? -y : y);
    const int64_t product = a && b > INT64_MAX / a ? INT64_MAX : (int64_t)(a * b);
    return (x < 0) != (y < 0) ? -product : product;
}

/* ---- one form ---- */

static int compare_factors(const Factor *x, const Factor *y) { return strcmp(x->key, y->key); }

static int by_key(const void *a, const void *b)
{
    return compare_factors(*(const Factor *const *)a, *(const Factor *const *)b);
}

/* Terms of more factors come first. */
static int compare_terms(const Term *x, const Term *y)
{
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    int order = 0;
    for (uint32_t i = 0; i < x->n && order == 0; i++)
        order = compare_factors(x->factors[i], y->factors[i]);
    return order;
}

static int by_terms(const void *a, const void *b) { return compare_terms(a, b); }

/* The sum of n terms, which are the formula's from now on. */
static const Formula *make(Arena *a, Term *terms, uint32_t n)
{
    Formula *f = arena_new(a, Formula);
    f->terms = terms;
    qsort(terms, n, sizeof *terms, by_terms);
    for (uint32_t i = 0; i < n; i++) {
        if (f->n > 0 && compare_terms(&terms[f->n - 1], &terms[i]) == 0)
            terms[f->n - 1].number = add_numbers(terms[f->n - 1].number, terms[i].number);
        else
            terms[f->n++] = terms[i];
        if (terms[f->n - 1].number == 0)
            f->n--;
    }
    return f;
}

const Formula *formula_number(Arena *a, int64_t x)
{
    Term *t = arena_new(a, Term);
    t->number = x;
    return make(a, t, 1);
}

static const Formula *of_factor(Arena *a, const Factor *factor)
{
    Term *t = arena_new(a, Term);
    *t = (Term){1, arena_array(a, const Factor *, 1), 1};
    t->factors[0] = factor;
    return make(a, t, 1);
}

const Formula *formula_symbol(Arena *a, Symbol *s)
{
    Factor *f = arena_new(a, Factor);
    f->kind = FACTOR_SYMBOL;
    f->symbol = s;
    f->key = arena_printf(a, "%08u", s->id);
    return of_factor(a, f);
}

/* ---- sums and products ---- */

static const Formula *add_scaled(Arena *a, const Formula *x, const Formula *y, int64_t number)
{
    Term *terms = arena_array(a, Term, x->n + y->n + 1);
    for (uint32_t i = 0; i < x->n; i++)
        terms[i] = x->terms[i];
    for (uint32_t i = 0; i < y->n; i++) {
        terms[x->n + i] = y->terms[i];
        terms[x->n + i].number = mul_numbers(number, y->terms[i].number);
    }
    return make(a, terms, x->n + y->n);
}

const Formula *formula_add(Arena *a, const Formula *x, const Formula *y) { return add_scaled(a, x, y, 1); }
const Formula *formula_sub(Arena *a, const Formula *x, const Formula *y) { return add_scaled(a, x, y, -1); }

static Term mul_terms(Arena *a, const Term *x, const Term *y)
{
    Term t = {mul_numbers(x->number, y->number), arena_array(a, const Factor *, x->n + y->n + 1), x->n + y->n};
    for (uint32_t i = 0; i < x->n; i++)
        t.factors[i] = x->factors[i];
    for (uint32_t i = 0; i < y->n; i++)
        t.factors[x->n + i] = y->factors[i];
    qsort(t.factors, t.n, sizeof *t.factors, by_key);
    return t;
}

const Formula *formula_mul(Arena *a, const Formula *x, const Formula *y)
{
    Term *terms = arena_array(a, Term, x->n * y->n + 1);
    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t j = 0; j < y->n; j++)
            terms[i * y->n + j] = mul_terms(a, &x->terms[i], &y->terms[j]);
    return make(a, terms, x->n * y->n);
}

/* ---- questions ---- */

bool formula_equal(const Formula *x, const Formula *y)
{
    bool same = x->n == y->n;
    for (uint32_t i = 0; same && i < x->n; i++)
        same = x->terms[i].number == y->terms[i].number && compare_terms(&x->terms[i], &y->terms[i]) == 0;
    return same;
}

bool formula_is_number(const Formula *x, int64_t *number)
{
    *number = x->n ? x->terms[0].number : 0;
    return x->n == 0 || (x->n == 1 && x->terms[0].n == 0);
}

Symbol *formula_is_symbol(const Formula *x)
{
    const bool one = x->n == 1 && x->terms[0].number == 1 && x->terms[0].n == 1;
    return one ? x->terms[0].factors[0]->symbol : NULL;
}

static bool factor_not_negative(const Factor *f)
{
    switch (f->kind) {
    case FACTOR_SYMBOL: return !f->symbol->negative;
    case FACTOR_MAX: return formula_not_negative(f->a) || formula_not_negative(f->b);
    case FACTOR_MIN: return formula_not_negative(f->a) && formula_not_negative(f->b);
    case FACTOR_SUM: return formula_not_negative(f->a);
    case FACTOR_LOG:
    case FACTOR_HALVES:
    case FACTOR_CALL: return true;
    }
    return false;
}

bool formula_not_negative(const Formula *x)
{
    bool sure = true;
    for (uint32_t i = 0; sure && i < x->n; i++) {
        sure = x->terms[i].number > 0;
        for (uint32_t j = 0; sure && j < x->terms[i].n; j++)
            sure = factor_not_negative(x->terms[i].factors[j]);
    }
    return sure;
}

bool formula_at_most(Arena *a, const Formula *x, const Formula *y)
{
    return formula_not_negative(formula_sub(a, y, x));
}

void formula_symbols(const Formula *x, VisitSymbol *f, void *ctx)
{
    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t j = 0; j < x->terms[i].n; j++) {
            const Factor *factor = x->terms[i].factors[j];
            if (factor->symbol)
                f(ctx, factor->symbol);
            if (factor->a)
                formula_symbols(factor->a, f, ctx);
            if (factor->b)
                formula_symbols(factor->b, f, ctx);
            for (uint32_t k = 0; k < factor->nargs; k++)
                formula_symbols(factor->args[k], f, ctx);
            if (factor->scope)
                formula_symbols(factor->scope->count, f, ctx);
        }
}

typedef struct Search {
    const Symbol *symbol;
    const Scope *scope;
    bool found;
} Search;

static void look_for(void *ctx, Symbol *s)
{
    Search *search = ctx;
    search->found |= search->symbol ? s == search->symbol : s->scope == search->scope;
}

bool formula_mentions(const Formula *x, const Symbol *s)
{
    Search search = {.symbol = s};
    formula_symbols(x, look_for, &search);
    return search.found;
}

bool formula_varies(const Formula *x, const Scope *scope)
{
    Search search = {.scope = scope};
    formula_symbols(x, look_for, &search);
    return search.found;
}

/* ---- factors of formulas ---- */

static void add_key(StrBuf *out, const Formula *x)
{
    for (uint32_t i = 0; i < x->n; i++) {
        strbuf_printf(out, "+%" PRId64, x->terms[i].number);
        for (uint32_t j = 0; j < x->terms[i].n; j++)
            strbuf_printf(out, "*%s", x->terms[i].factors[j]->key);
    }
}

/* With its key; words of later letters stand behind symbols. */
static const Formula *with_key(Arena *a, Factor f)
{
    static const char *const words[] = {"s", "log", "max", "min", "div", "sum", "call"};
    Factor *factor = arena_new(a, Factor);
    StrBuf key = {0};
    *factor = f;
    strbuf_printf(&key, "%s", words[f.kind]);
    if (f.fn)
        strbuf_printf(&key, " %s %d", f.fn->name, f.span);
    if (f.scope)
        strbuf_printf(&key, " %p", (const void *)f.scope);
    strbuf_printf(&key, " %" PRId64 "(", f.divisor);
    if (f.a)
        add_key(&key, f.a);
    strbuf_add(&key, ",");
    if (f.b)
        add_key(&key, f.b);
    for (uint32_t i = 0; i < f.nargs; i++) {
        strbuf_add(&key, ",");
        add_key(&key, f.args[i]);
    }
    strbuf_add(&key, ")");
    factor->key = arena_strndup(a, key.text, key.n);
    strbuf_free(&key);
    return of_factor(a, factor);
}

static int64_t log_of_number(int64_t n)
{
    int64_t k = 0;
    while (k < 63 && (int64_t)1 << k < n)
        k++;
    return k;
}

const Formula *formula_log(Arena *a, const Formula *x)
{
    int64_t n;
    if (formula_is_number(x, &n))
        return formula_number(a, log_of_number(n));
    return with_key(a, (Factor){.kind = FACTOR_LOG, .a = x});
}

/* What both have, term by term: the smaller number of terms that are positive in both. */
static const Formula *common_part(Arena *a, const Formula *x, const Formula *y)
{
    Term *terms = arena_array(a, Term, x->n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t j = 0; j < y->n; j++)
            if (compare_terms(&x->terms[i], &y->terms[j]) == 0 && x->terms[i].number > 0 && y->terms[j].number > 0) {
                terms[n] = x->terms[i];
                if (y->terms[j].number < terms[n].number)
                    terms[n].number = y->terms[j].number;
                n++;
            }
    return make(a, terms, n);
}

const Formula *formula_max(Arena *a, const Formula *x, const Formula *y)
{
    if (formula_at_most(a, x, y))
        return y;
    if (formula_at_most(a, y, x))
        return x;
    const Formula *both = common_part(a, x, y);
    const Formula *l = formula_sub(a, x, both), *r = formula_sub(a, y, both);
    return formula_add(a, both, with_key(a, (Factor){.kind = FACTOR_MAX, .a = l, .b = r}));
}

const Formula *formula_min(Arena *a, const Formula *x, const Formula *y)
{
    if (formula_at_most(a, x, y))
        return x;
    if (formula_at_most(a, y, x))
        return y;
    return with_key(a, (Factor){.kind = FACTOR_MIN, .a = x, .b = y});
}

const Formula *formula_div(Arena *a, const Formula *x, int64_t divisor)
{
    int64_t n;
    if (formula_is_number(x, &n))
        return formula_number(a, n / divisor);
    return divisor == 1 ? x : with_key(a, (Factor){.kind = FACTOR_HALVES, .a = x, .divisor = divisor});
}

const Formula *formula_call(Arena *a, const CoreFn *fn, bool span, const Formula **args, uint32_t nargs)
{
    return with_key(a, (Factor){.kind = FACTOR_CALL, .fn = fn, .span = span, .args = args, .nargs = nargs});
}

/* ---- replacing symbols ---- */

static const Formula *replace_in_factor(Arena *a, const Factor *f, ReplaceSymbol *replace, void *ctx)
{
    switch (f->kind) {
    case FACTOR_SYMBOL: {
        const Formula *x = replace(ctx, f->symbol);
        return x ? x : of_factor(a, f);
    }
    case FACTOR_LOG: return formula_log(a, formula_replace(a, f->a, replace, ctx));
    case FACTOR_MAX:
        return formula_max(a, formula_replace(a, f->a, replace, ctx), formula_replace(a, f->b, replace, ctx));
    case FACTOR_MIN:
        return formula_min(a, formula_replace(a, f->a, replace, ctx), formula_replace(a, f->b, replace, ctx));
    case FACTOR_HALVES: return formula_div(a, formula_replace(a, f->a, replace, ctx), f->divisor);
    case FACTOR_SUM:
    case FACTOR_CALL: break;
    }
    Factor copy = *f;
    if (f->a)
        copy.a = formula_replace(a, f->a, replace, ctx);
    copy.args = arena_array(a, const Formula *, f->nargs + 1);
    for (uint32_t i = 0; i < f->nargs; i++)
        copy.args[i] = formula_replace(a, f->args[i], replace, ctx);
    return with_key(a, copy);
}

const Formula *formula_replace(Arena *a, const Formula *x, ReplaceSymbol *replace, void *ctx)
{
    const Formula *sum = formula_number(a, 0);
    for (uint32_t i = 0; i < x->n; i++) {
        const Formula *product = formula_number(a, x->terms[i].number);
        for (uint32_t j = 0; j < x->terms[i].n; j++)
            product = formula_mul(a, product, replace_in_factor(a, x->terms[i].factors[j], replace, ctx));
        sum = formula_add(a, sum, product);
    }
    return sum;
}

/* ---- over all instances ---- */

typedef struct Over {
    Arena *a;
    const Scope *scope;
    FreshSymbol *fresh;
    void *ctx;
} Over;

static const Formula *sum_of_symbol(const Over *o, Symbol *s)
{
    if (!s->sum)
        s->sum = formula_symbol(o->a, o->fresh(o->ctx, s, false));
    return s->sum;
}

/* A term is what all instances have times what is each one's. */
static const Formula *sum_of_term(const Over *o, const Term *t)
{
    const Formula *same = formula_number(o->a, t->number), *own = formula_number(o->a, 1);
    for (uint32_t i = 0; i < t->n; i++) {
        const Formula *f = of_factor(o->a, t->factors[i]);
        const Formula **part = formula_varies(f, o->scope) ? &own : &same;
        *part = formula_mul(o->a, *part, f);
    }
    int64_t one;
    if (formula_is_number(own, &one))
        return formula_mul(o->a, same, o->scope->count);
    Symbol *s = formula_is_symbol(own);
    const Formula *sum = s && s->kind != SYMBOL_INDEX
                             ? sum_of_symbol(o, s)
                             : with_key(o->a, (Factor){.kind = FACTOR_SUM, .a = own, .scope = o->scope});
    return formula_mul(o->a, same, sum);
}

const Formula *formula_sum_over(Arena *a, const Formula *x, const Scope *scope, FreshSymbol *fresh, void *ctx)
{
    const Over o = {a, scope, fresh, ctx};
    const Formula *sum = formula_number(a, 0);
    for (uint32_t i = 0; i < x->n; i++)
        sum = formula_add(a, sum, sum_of_term(&o, &x->terms[i]));
    return sum;
}

static const Formula *largest(void *ctx, Symbol *s)
{
    const Over *o = ctx;
    if (s->scope != o->scope)
        return NULL;
    if (!s->max && s->kind == SYMBOL_INDEX)
        s->max = formula_sub(o->a, o->scope->count, formula_number(o->a, 1));
    if (!s->max)
        s->max = formula_symbol(o->a, o->fresh(o->ctx, s, true));
    return s->max;
}

/* What varies and is taken away may be nothing. */
const Formula *formula_max_over(Arena *a, const Formula *x, const Scope *scope, FreshSymbol *fresh, void *ctx)
{
    Over o = {a, scope, fresh, ctx};
    Term *terms = arena_array(a, Term, x->n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        const Formula one = {&x->terms[i], 1};
        if (x->terms[i].number > 0 || !formula_varies(&one, scope))
            terms[n++] = x->terms[i];
    }
    return formula_replace(a, make(a, terms, n), largest, &o);
}

/* ---- printing ---- */

typedef struct Print {
    StrBuf *out;
    bool for_programs;
    ShowArgument *show;
    void *ctx;
} Print;

static void print_formula(const Print *p, const Formula *x);

static void print_two(const Print *p, const char *word, const Factor *f)
{
    strbuf_printf(p->out, "%s(", word);
    print_formula(p, f->a);
    strbuf_add(p->out, ", ");
    print_formula(p, f->b);
    strbuf_add(p->out, ")");
}

static void print_call(const Print *p, const Factor *f)
{
    uint32_t shown = 0;
    strbuf_printf(p->out, "%s(", f->fn->name);
    for (uint32_t i = 0; i < f->nargs; i++) {
        if (p->show && !p->show(p->ctx, f->fn, i))
            continue;
        strbuf_add(p->out, shown++ ? ", " : "");
        print_formula(p, f->args[i]);
    }
    strbuf_add(p->out, ")");
}

/* A symbol or the like: nothing that needs brackets. */
static bool is_word(const Formula *x) { return x->n == 1 && x->terms[0].n == 1 && x->terms[0].number == 1; }

static void print_log(const Print *p, const Factor *f)
{
    const bool bare = !p->for_programs && is_word(f->a);
    strbuf_add(p->out, bare ? "log " : "log(");
    print_formula(p, f->a);
    strbuf_add(p->out, bare ? "" : ")");
}

static void print_factor(const Print *p, const Factor *f)
{
    switch (f->kind) {
    case FACTOR_SYMBOL: strbuf_add(p->out, f->symbol->name); return;
    case FACTOR_LOG: print_log(p, f); return;
    case FACTOR_MAX: print_two(p, "max", f); return;
    case FACTOR_MIN: print_two(p, "min", f); return;
    case FACTOR_CALL: print_call(p, f); return;
    case FACTOR_HALVES:
        strbuf_add(p->out, is_word(f->a) ? "floor(" : "floor((");
        print_formula(p, f->a);
        strbuf_printf(p->out, "%s/%" PRId64 ")", is_word(f->a) ? "" : ")", f->divisor);
        return;
    case FACTOR_SUM:
        strbuf_add(p->out, "sum(");
        print_formula(p, f->a);
        strbuf_add(p->out, ")");
        return;
    }
}

static void print_term(const Print *p, const Term *t, bool first)
{
    const uint64_t number = (uint64_t)(t->number < 0 ? -t->number : t->number);
    strbuf_add(p->out, t->number < 0 ? (first ? "-" : " - ") : first ? "" : " + ");
    const bool has_number = number != 1 || t->n == 0;
    if (has_number)
        strbuf_printf(p->out, "%" PRIu64, number);
    for (uint32_t i = 0; i < t->n; i++) {
        strbuf_add(p->out, i || has_number ? (p->for_programs ? "*" : " ") : "");
        print_factor(p, t->factors[i]);
    }
}

static void print_formula(const Print *p, const Formula *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        print_term(p, &x->terms[i], i == 0);
    if (x->n == 0)
        strbuf_add(p->out, "0");
}

void formula_print(StrBuf *out, const Formula *x, bool for_programs, ShowArgument *show, void *ctx)
{
    print_formula(&(Print){out, for_programs, show, ctx}, x);
}
