#include "cost/recurrence.h"

#include <math.h>
#include <string.h>

/* Numbers that are computed are equal if they are so close. */
#define CLOSE 1e-9
enum { MOST_CALLS = 8, MOST_WAYS = 16 };

static const Growth bounded = {1, 0, 0};

/* ---- growths ---- */

static bool grows_less(Growth a, Growth b)
{
    if (fabs(a.base - b.base) > CLOSE)
        return a.base < b.base;
    if (fabs(a.power - b.power) > CLOSE)
        return a.power < b.power;
    return a.logs < b.logs;
}

static Growth faster(Growth a, Growth b) { return grows_less(a, b) ? b : a; }

static Growth product(Growth a, Growth b) { return (Growth){a.base * b.base, a.power + b.power, a.logs + b.logs}; }

static bool is_bounded(Growth g) { return !grows_less(bounded, g); }

/* log g(n): of what is exponential it is n, of powers log n. */
static Growth logarithm(Growth g)
{
    if (g.base > 1)
        return (Growth){1, 1, 0};
    return (Growth){1, 0, is_bounded(g) ? 0 : 1};
}

/* ---- the growth of a formula ---- */

typedef struct Solver {
    Arena *a;
    const Solved *fn;
    Symbol *size;
    uint32_t arg; /* of the calls: the size's */
    FindSolved *of;
    void *ctx;
} Solver;

static bool growth_of(const Solver *s, const Formula *x, Growth *g);

/* The other definition's growth where its size is the call's argument; what is exponential in it, of the size and a
 * number alone. */
static bool growth_of_call(const Solver *s, const Factor *f, Growth *g)
{
    const Solved *callee = f->fn == s->fn->fn ? NULL : s->of(s->ctx, f->fn);
    const Order *o = !callee ? NULL : f->span ? &callee->span : &callee->work;
    Growth arg;
    int64_t number;
    *g = bounded;
    if (!o || o->constant || !o->size)
        return o && o->constant;
    uint32_t k = 0;
    while (k < callee->nsizes && callee->sizes[k] != o->size)
        k++;
    if (k == callee->nsizes || !growth_of(s, f->args[k], &arg) || arg.base > 1)
        return false;
    if (formula_is_number(formula_sub(s->a, f->args[k], formula_symbol(s->a, s->size)), &number)) {
        *g = o->growth;
        return true;
    }
    const double logs = o->growth.power * arg.logs + (is_bounded(arg) ? 0 : o->growth.logs);
    *g = (Growth){1, o->growth.power * arg.power, (uint32_t)ceil(logs - CLOSE)};
    return o->growth.base <= 1;
}

static bool growth_of_factor(const Solver *s, const Factor *f, Growth *g)
{
    Growth b;
    *g = bounded;
    switch (f->kind) {
    case FACTOR_SYMBOL: g->power = 1; return f->symbol == s->size;
    case FACTOR_HALVES: return growth_of(s, f->a, g);
    case FACTOR_CALL: return growth_of_call(s, f, g);
    case FACTOR_LOG:
        if (!growth_of(s, f->a, g))
            return false;
        *g = logarithm(*g);
        return true;
    case FACTOR_MAX:
        if (!growth_of(s, f->a, g) || !growth_of(s, f->b, &b))
            return false;
        *g = faster(*g, b);
        return true;
    case FACTOR_MIN: return growth_of(s, f->a, g) || growth_of(s, f->b, g);
    case FACTOR_SUM: return false;
    }
    return false;
}

static bool growth_of_term(const Solver *s, const Term *t, Growth *g)
{
    Growth f;
    *g = bounded;
    for (uint32_t i = 0; i < t->n; i++) {
        if (!growth_of_factor(s, t->factors[i], &f))
            return false;
        *g = product(*g, f);
    }
    return true;
}

/* A term that is taken away may be nothing; the size is not negative. */
static bool is_taken_away(const Solver *s, const Term *t)
{
    bool sure = t->number < 0;
    for (uint32_t i = 0; sure && i < t->n; i++) {
        Term factor = {1, &t->factors[i], 1};
        sure = t->factors[i]->symbol == s->size || formula_not_negative(&(Formula){&factor, 1});
    }
    return sure;
}

static bool growth_of(const Solver *s, const Formula *x, Growth *g)
{
    Growth t;
    *g = bounded;
    for (uint32_t i = 0; i < x->n; i++) {
        if (is_taken_away(s, &x->terms[i]))
            continue;
        if (!growth_of_term(s, &x->terms[i], &t))
            return false;
        *g = faster(*g, t);
    }
    return true;
}

bool formula_has_call(const Formula *x)
{
    bool has = false;
    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t j = 0; !has && j < x->terms[i].n; j++) {
            const Factor *f = x->terms[i].factors[j];
            has = f->kind == FACTOR_CALL || (f->a && formula_has_call(f->a)) || (f->b && formula_has_call(f->b));
        }
    return has;
}

/* ---- the calls of itself ---- */

/* So many calls, each on a part of the size, or on so much less. */
typedef struct SelfCall {
    int64_t times;
    double part;     /* below 1; or 1: */
    int64_t less;    /* at least 1 */
    int64_t divisor; /* the part is one of so many; or 0 */
} SelfCall;

/* One of the sums whose maximum the cost is. */
typedef struct Way {
    SelfCall calls[MOST_CALLS];
    uint32_t n;
    Growth rest;
} Way;

typedef struct Ways {
    Way at[MOST_WAYS];
    uint32_t n;
} Ways;

/* floor((n + c)/b): b; else 0. */
static int64_t divisor_of(const Solver *s, const Factor *f)
{
    int64_t number;
    if (f->kind != FACTOR_HALVES || f->divisor < 2)
        return 0;
    const Formula *besides = formula_sub(s->a, f->a, formula_symbol(s->a, s->size));
    return formula_is_number(besides, &number) ? f->divisor : 0;
}

/* The argument as n - c, floor(n/b) or n - floor(n/b), numbers besides left out of the last two. */
static bool read_argument(const Solver *s, const Formula *x, SelfCall *call)
{
    int64_t number = 0, whole = 0, part = 0, divisor = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        const Term *t = &x->terms[i];
        const Factor *f = t->n == 1 ? t->factors[0] : NULL;
        const int64_t b = f ? divisor_of(s, f) : 0;
        if (t->n == 0)
            number = t->number;
        else if (f && f->symbol == s->size)
            whole = t->number;
        else if (b && !divisor)
            part = t->number, divisor = b;
        else
            return false;
    }
    call->part = (double)whole + (divisor ? (double)part / (double)divisor : 0);
    call->less = divisor ? 0 : -number;
    call->divisor = call->part * (double)divisor == 1 ? divisor : 0;
    return divisor ? call->part > 0 && call->part < 1 : whole == 1 && number < 0;
}

/* max(x, number) as x: a size that is cut at a number. */
static const Formula *without_floor(const Formula *x)
{
    int64_t number;
    const Factor *f = x->n == 1 && x->terms[0].number == 1 && x->terms[0].n == 1 ? x->terms[0].factors[0] : NULL;
    if (!f || f->kind != FACTOR_MAX)
        return x;
    return formula_is_number(f->b, &number) ? f->a : formula_is_number(f->a, &number) ? f->b : x;
}

/* The other sizes of the call are what they were, or the same as the one at hand, as those of arrays of tuples. */
static bool in_step(const Solver *s, const Factor *f)
{
    bool all = true;
    for (uint32_t i = 0; all && i < f->nargs; i++)
        all = formula_is_symbol(f->args[i]) == s->fn->sizes[i] || formula_equal(f->args[i], f->args[s->arg]);
    return all;
}

static bool add_call(const Solver *s, Ways *ways, uint32_t from, const Factor *f, int64_t times)
{
    SelfCall call = {.times = times};
    if (times < 1 || !in_step(s, f) || !read_argument(s, without_floor(f->args[s->arg]), &call))
        return false;
    for (uint32_t i = from; i < ways->n; i++) {
        Way *w = &ways->at[i];
        uint32_t k = 0;
        while (k < w->n && (fabs(w->calls[k].part - call.part) > CLOSE || w->calls[k].less != call.less))
            k++;
        if (k == MOST_CALLS)
            return false;
        if (k == w->n)
            w->calls[w->n++] = call;
        else
            w->calls[k].times += times;
    }
    return true;
}

static bool add_sum(const Solver *s, Ways *ways, uint32_t from, const Formula *x, int64_t times);

/* Each way once with either. */
static bool add_maximum(const Solver *s, Ways *ways, uint32_t from, const Factor *f, int64_t times)
{
    const uint32_t n = ways->n, more = n - from;
    if (n + more > MOST_WAYS)
        return false;
    Ways other = {.n = more};
    memcpy(other.at, ways->at + from, more * sizeof *other.at);
    if (!add_sum(s, ways, from, f->a, times) || !add_sum(s, &other, 0, f->b, times) || ways->n + other.n > MOST_WAYS)
        return false;
    memcpy(ways->at + ways->n, other.at, other.n * sizeof *other.at);
    ways->n += other.n;
    return true;
}

static bool add_sum(const Solver *s, Ways *ways, uint32_t from, const Formula *x, int64_t times)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const Term *t = &x->terms[i];
        const Factor *f = t->n == 1 ? t->factors[0] : NULL;
        const Formula one = {&x->terms[i], 1};
        Growth g;
        if (f && f->kind == FACTOR_CALL && f->fn == s->fn->fn) {
            if (!add_call(s, ways, from, f, times * t->number))
                return false;
        } else if (f && f->kind == FACTOR_MAX && t->number > 0 && formula_has_call(&one)) {
            if (!add_maximum(s, ways, from, f, times * t->number))
                return false;
        } else if (!growth_of(s, &one, &g)) {
            return false;
        } else {
            for (uint32_t k = from; k < ways->n; k++)
                ways->at[k].rest = faster(ways->at[k].rest, g);
        }
    }
    return true;
}

/* ---- solving ---- */

/* sum of times * part^p, or of times * x^-less: falls as p or x grows. */
static double characteristic(const Way *w, bool divides, double p)
{
    double sum = 0;
    for (uint32_t i = 0; i < w->n; i++)
        sum += (double)w->calls[i].times * (divides ? pow(w->calls[i].part, p) : pow(p, -(double)w->calls[i].less));
    return sum;
}

/* Where it is 1; whole numbers are found exactly. */
static double root(const Way *w, bool divides, double low)
{
    double high = low + 1;
    while (characteristic(w, divides, high) > 1 && high < 1e6)
        high *= 2;
    for (int i = 0; i < 200; i++) {
        const double middle = (low + high) / 2;
        if (characteristic(w, divides, middle) > 1)
            low = middle;
        else
            high = middle;
    }
    return fabs(high - round(high)) < 1e-6 ? round(high) : high;
}

/* a T(n/b) + f: f, or the leaves n^p, or both alike on each level. */
static Growth solve_division(const Way *w)
{
    const Growth leaves = {1, root(w, true, 0), 0};
    if (w->rest.base > 1 || w->rest.power > leaves.power + CLOSE)
        return w->rest;
    if (w->rest.power < leaves.power - CLOSE)
        return leaves;
    return (Growth){1, leaves.power, w->rest.logs + 1};
}

/* a T(n - c) + f: as many rounds as n, or as the leaves double. */
static Growth solve_subtraction(const Way *w)
{
    const double base = root(w, false, 1);
    if (base - 1 < CLOSE)
        return w->rest.base > 1 ? w->rest : (Growth){1, w->rest.power + 1, w->rest.logs};
    if (fabs(base - w->rest.base) < CLOSE)
        return (Growth){base, w->rest.power + 1, w->rest.logs};
    return w->rest.base > base ? w->rest : (Growth){base, 0, 0};
}

/* All divide, or all subtract. */
static bool solve_way(const Way *w, Growth *g)
{
    uint32_t dividing = 0;
    for (uint32_t i = 0; i < w->n; i++)
        dividing += w->calls[i].part < 1;
    if (dividing != 0 && dividing != w->n)
        return false;
    *g = w->n == 0 ? w->rest : dividing ? solve_division(w) : solve_subtraction(w);
    return true;
}

/* ---- words ---- */

/* Powers and bases are rounded up: it stays a bound. */
static void print_number(StrBuf *out, double x)
{
    if (fabs(x - round(x)) < CLOSE)
        strbuf_printf(out, "%.0f", x);
    else
        strbuf_printf(out, "%.2f", ceil(x * 100) / 100);
}

static void print_growth(StrBuf *out, Growth g, const char *name)
{
    const char *between = "";
    if (is_bounded(g))
        strbuf_add(out, "1");
    if (g.base > 1) {
        print_number(out, g.base);
        strbuf_printf(out, "^%s", name);
        between = " ";
    }
    if (g.power > CLOSE) {
        strbuf_printf(out, "%s%s", between, name);
        if (fabs(g.power - 1) > CLOSE) {
            strbuf_add(out, "^");
            print_number(out, g.power);
        }
        between = " ";
    }
    if (g.logs == 1)
        strbuf_printf(out, "%slog %s", between, name);
    else if (g.logs > 1)
        strbuf_printf(out, "%slog^%u %s", between, g.logs, name);
}

void order_print(StrBuf *out, const Order *o) { print_growth(out, o->growth, o->size ? o->size->name : ""); }

static void print_part(StrBuf *out, const SelfCall *c, const char *name)
{
    if (c->less)
        strbuf_printf(out, "%s - %d", name, (int)c->less);
    else if (c->divisor)
        strbuf_printf(out, "%s/%d", name, (int)c->divisor);
    else
        strbuf_printf(out, "%.2f %s", c->part, name);
}

void recurrence_print(StrBuf *out, const Order *o)
{
    const char *name = o->size->name;
    strbuf_printf(out, "T(%s) = ", name);
    for (uint32_t i = 0; i < o->recurrence->n; i++) {
        const SelfCall *c = &o->recurrence->calls[i];
        if (c->times > 1)
            strbuf_printf(out, "%d ", (int)c->times);
        strbuf_add(out, "T(");
        print_part(out, c, name);
        strbuf_add(out, ") + ");
    }
    strbuf_add(out, "O(");
    print_growth(out, o->recurrence->rest, name);
    strbuf_add(out, ")");
}

/* ---- orders ---- */

/* Of the ways with calls the one that grows fastest. */
static bool solve_ways(const Solver *s, const Ways *ways, Order *o)
{
    const Way *best = NULL;
    *o = (Order){.size = s->size, .growth = bounded};
    for (uint32_t i = 0; i < ways->n; i++) {
        const Way *w = &ways->at[i];
        Growth g;
        if (!solve_way(w, &g))
            return false;
        if (w->n > 0 && (!best || !grows_less(g, o->growth)))
            best = w;
        o->growth = faster(o->growth, g);
    }
    if (best) {
        Way *kept = arena_new(s->a, Way);
        *kept = *best;
        o->recurrence = kept;
    }
    o->constant = is_bounded(o->growth);
    return true;
}

/* ---- what ends the recursion ---- */

typedef struct Passing {
    const CoreFn *fn;
    uint32_t param;   /* that may change */
    bool others_stay; /* numbers, truth values; of arrays the sizes tell (in_step) */
} Passing;

static void look_at_calls(void *ctx, CoreBlock *b)
{
    Passing *p = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        for (uint32_t k = 0; s->kind == CORE_CALL && s->call.fn == p->fn && k < s->call.nargs; k++)
            p->others_stay &= k == p->param || core_var_type(p->fn, p->fn->params[k]).rank > 0 ||
                              (!s->call.args[k].is_const && s->call.args[k].var == p->fn->params[k]);
        core_stmt_blocks(s, look_at_calls, p);
    }
}

/* Sizes are those of the parameters in order: of integers the value, of arrays two a level but for the first. */
static uint32_t param_of_size(const CoreFn *fn, uint32_t size)
{
    uint32_t param = 0;
    for (uint32_t n = 0; param < fn->nparams; param++) {
        const CoreType t = core_var_type(fn, fn->params[param]);
        n += t.rank ? 2u * t.rank - 1 : !scalar_is_float(t.scalar) && t.scalar != SC_BOOL;
        if (size < n)
            break;
    }
    return param;
}

static bool only_size_changes(const CoreFn *fn, uint32_t size)
{
    Passing p = {fn, param_of_size(fn, size), true};
    look_at_calls(&p, fn->body);
    return p.others_stay;
}

/* ---- orders ---- */

Order recurrence_solve(Arena *a, const Formula *x, const Solved *fn, FindSolved *of, void *ctx)
{
    Solver s = {.a = a, .fn = fn, .of = of, .ctx = ctx};
    Order o;
    for (s.arg = 0; s.arg < fn->nsizes; s.arg++) {
        s.size = fn->sizes[s.arg];
        Ways ways = {.n = 1};
        ways.at[0].rest = bounded;
        if (add_sum(&s, &ways, 0, x, 1) && solve_ways(&s, &ways, &o) &&
            (!o.recurrence || only_size_changes(fn->fn, s.arg)))
            return o;
    }
    int64_t number;
    return (Order){.constant = formula_is_number(x, &number), .growth = bounded};
}
