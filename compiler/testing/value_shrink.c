#include "testing/value_shrink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Shrink {
    Arena *arena;
    const Signature *signature;
    Tree *args;
    ShrinkJudge *judge;
    void *data;
    bool stopped;
} Shrink;

/* Of s->args as they are now, changed in place by the caller: who undoes the change if this is false. */
static bool taken(Shrink *s)
{
    if (s->stopped || !sizes_hold(s->signature, s->args))
        return false;
    ShrinkVerdict verdict = s->judge(s->data, s->args);
    s->stopped = verdict == SHRINK_STOP;
    return verdict == SHRINK_TAKE;
}

/* ---- sequences ---- */

static Tree without(Arena *arena, const Tree *v, uint64_t from, uint64_t count)
{
    Tree shorter = {v->bits, v->n - count, arena_array(arena, Tree, v->n - count)};
    if (from)
        memcpy(shorter.items, v->items, (size_t)from * sizeof(Tree));
    if (v->n > from + count)
        memcpy(shorter.items + from, v->items + from + count, (size_t)(v->n - from - count) * sizeof(Tree));
    return shorter;
}

/* The value with [from, from + count) taken out of every sequence of size `name`, which is less by count. */
static Tree without_size(Shrink *s, const SizedType *t, const Tree *v, uint32_t name, uint64_t from, uint64_t count)
{
    bool named = t->rule == SIZED_NAME && t->name == name;
    Tree out = *v;
    if (t->type->kind == DP_T_SUM)
        return out;
    if (t->type->kind == DP_T_SCALAR) {
        out.bits -= named ? count : 0;
        return out;
    }
    bool is_array = t->type->kind == DP_T_ARRAY;
    out = named && is_array ? without(s->arena, v, from, count) : tree_copy(s->arena, v);
    for (uint64_t i = 0; i < out.n; i++)
        out.items[i] = without_size(s, &t->items[is_array ? 0 : i], &out.items[i], name, from, count);
    return out;
}

static bool try_size(Shrink *s, uint32_t name, uint64_t from, uint64_t count)
{
    uint32_t n = s->signature->nparams;
    Tree *old = arena_array(s->arena, Tree, n);
    memcpy(old, s->args, n * sizeof *old);
    for (uint32_t i = 0; i < n; i++)
        s->args[i] = without_size(s, &s->signature->params[i], &old[i], name, from, count);
    if (taken(s))
        return true;
    memcpy(s->args, old, n * sizeof *old);
    return false;
}

/* The length that has the name, or 0 if none is there. */
static uint64_t size_in(const SizedType *t, const Tree *v, uint32_t name)
{
    if (t->type->kind == DP_T_SUM)
        return 0;
    if (t->rule == SIZED_NAME && t->name == name)
        return t->type->kind == DP_T_SCALAR ? v->bits : v->n;
    bool is_array = t->type->kind == DP_T_ARRAY;
    uint64_t size = 0;
    for (uint64_t i = 0; size == 0 && i < v->n; i++)
        size = size_in(&t->items[is_array ? 0 : i], &v->items[i], name);
    return size;
}

static bool shorter_sizes(Shrink *s)
{
    for (uint32_t name = 0; name < s->signature->nsizes; name++) {
        uint64_t n = 0;
        for (uint32_t i = 0; n == 0 && i < s->signature->nparams; i++)
            n = size_in(&s->signature->params[i], &s->args[i], name);
        for (uint64_t chunk = n; chunk > 0; chunk /= 2)
            for (uint64_t from = 0; !s->stopped && from < n; from += chunk)
                if (try_size(s, name, from, n - from < chunk ? n - from : chunk))
                    return true;
    }
    return false;
}

static bool shorter_array(Shrink *s, Tree *v)
{
    Tree old = *v;
    for (uint64_t chunk = old.n; chunk > 0; chunk /= 2)
        for (uint64_t from = 0; !s->stopped && from < old.n; from += chunk) {
            *v = without(s->arena, &old, from, old.n - from < chunk ? old.n - from : chunk);
            if (taken(s))
                return true;
            *v = old;
        }
    return false;
}

/* ---- constructors ---- */

/* Constructors without payloads are simpler than those with one, earlier ones than later ones. */
static uint32_t constructor_rank(const DpType *t, uint32_t tag) { return (t->items[tag] ? t->n : 0) + tag; }

static bool simpler_constructor(Shrink *s, const DpType *t, Tree *v)
{
    Tree old = *v;
    for (uint32_t rank = 0; rank < constructor_rank(t, (uint32_t)old.bits); rank++) {
        uint32_t tag = rank % t->n;
        if (s->stopped || constructor_rank(t, tag) != rank)
            continue;
        *v = (Tree){.bits = tag, .n = t->items[tag] != NULL};
        v->items = arena_array(s->arena, Tree, v->n);
        if (v->n)
            v->items[0] = tree_simplest(s->arena, t->items[tag]);
        if (taken(s))
            return true;
        *v = old;
    }
    return false;
}

/* Arrays and sums from the outside inwards. */
static bool simpler_structure(Shrink *s, const SizedType *t, Tree *v)
{
    switch (t->type->kind) {
    case DP_T_SCALAR: return false;
    case DP_T_ARRAY:
        if (t->rule == SIZED_FREE && shorter_array(s, v))
            return true;
        break;
    case DP_T_SUM:
        if (simpler_constructor(s, t->type, v))
            return true;
        return v->n && simpler_structure(s, &t->items[v->bits], &v->items[0]);
    case DP_T_TUPLE:
    case DP_T_RECORD: break;
    }
    for (uint64_t i = 0; !s->stopped && i < v->n; i++)
        if (simpler_structure(s, &t->items[t->type->kind == DP_T_ARRAY ? 0 : i], &v->items[i]))
            return true;
    return false;
}

/* ---- scalars: the order ---- */

static bool is_float(DpScalar s) { return s == DP_F32 || s == DP_F64; }

/* 0 an integer, 1 a fraction, 2 inf, 3 nan. */
static int float_class(double x) { return isnan(x) ? 3 : isinf(x) ? 2 : x != trunc(x); }

/* Of the shortest decimal number that reads back as x. */
static int decimal_digits(DpScalar s, double x)
{
    char text[40];
    int digits = 1;
    for (; digits < 17; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, x);
        if (s == DP_F32 ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x)
            break;
    }
    return digits;
}

static bool float_is_simpler(DpScalar s, double b, double a)
{
    int left = float_class(b), right = float_class(a);
    if (left != right || left == 3)
        return left < right;
    if (left == 1) {
        int db = decimal_digits(s, b), da = decimal_digits(s, a);
        if (db != da)
            return db < da;
    }
    return fabs(b) < fabs(a) || (fabs(b) == fabs(a) && !signbit(b) && signbit(a));
}

static int character_rank(uint64_t c) { return c == 'a' ? 0 : c == 'b' ? 1 : c >= 0x20 && c < 0x7f ? 2 : 3; }

static uint64_t magnitude(DpScalar s, uint64_t bits)
{
    return dp_scalar_limit(s, true) && bits >> 63 ? 0 - bits : bits;
}

bool scalar_is_simpler(DpScalar s, bool text, uint64_t b, uint64_t a)
{
    if (s == DP_BOOL)
        return b < a;
    if (is_float(s))
        return float_is_simpler(s, float_of_bits(s, b), float_of_bits(s, a));
    if (text)
        return character_rank(b) < character_rank(a);
    uint64_t mb = magnitude(s, b), ma = magnitude(s, a);
    return mb < ma || (mb == ma && mb == b && ma != a);
}

/* ---- scalars: the candidates ---- */

enum { MOST_CANDIDATES = 96 };
typedef struct Candidates {
    uint64_t at[MOST_CANDIDATES];
    uint32_t n;
    DpScalar scalar;
    bool text;
    uint64_t from;
} Candidates;

static void candidate(Candidates *c, uint64_t bits)
{
    if (c->n < MOST_CANDIDATES && scalar_is_simpler(c->scalar, c->text, bits, c->from))
        c->at[c->n++] = bits;
}

/* From 0 to the one before x, by halving the distance: as in a binary search for the least that fails. */
static void integer_candidates(Candidates *c)
{
    uint64_t m = magnitude(c->scalar, c->from);
    bool negative = m != c->from;
    for (uint64_t d = m; d > 0; d /= 2) {
        candidate(c, m - d);
        if (negative)
            candidate(c, 0 - (m - d));
    }
    if (negative && m <= dp_scalar_limit(c->scalar, false))
        candidate(c, m);
}

static void float_candidate(Candidates *c, double x) { candidate(c, bits_of_float(c->scalar, x)); }

static void float_candidates(Candidates *c)
{
    double x = float_of_bits(c->scalar, c->from);
    static const double simple[] = {0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 1.5, -1.5, (double)INFINITY};
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        float_candidate(c, simple[i]);
    if (!isfinite(x))
        return;
    float_candidate(c, fabs(x));
    float_candidate(c, trunc(x));
    float_candidate(c, trunc(x) + (x < 0 ? -1 : 1));
    float_candidate(c, trunc(x) + (x < 0 ? -0.5 : 0.5));
    for (double d = trunc(x); fabs(d) >= 1 && x - d != x; d = trunc(d / 2))
        float_candidate(c, trunc(x) - d);
    for (int digits = 1; float_class(x) == 1 && digits < 9; digits++) {
        char text[40];
        snprintf(text, sizeof text, "%.*e", digits - 1, x);
        float_candidate(c, strtod(text, NULL));
    }
}

static Candidates scalar_candidates(DpScalar s, bool text, uint64_t bits)
{
    Candidates c = {.scalar = s, .text = text, .from = bits};
    if (s == DP_BOOL)
        candidate(&c, 0);
    else if (is_float(s))
        float_candidates(&c);
    else if (text)
        for (size_t i = 0; i < 3; i++)
            candidate(&c, (uint8_t) "ab "[i]);
    else
        integer_candidates(&c);
    return c;
}

/* ---- scalars: one by one, and equal ones together ---- */

typedef struct Place {
    Tree *at;
    DpScalar scalar;
    bool text;
    uint64_t bits;
    uint32_t order;
} Place;
typedef VEC(Place) Places;

static void collect(Shrink *s, const SizedType *t, Tree *v, bool text, Places *out)
{
    switch (t->type->kind) {
    case DP_T_SCALAR:
        if (t->rule == SIZED_FREE)
            vec_push(s->arena, out, ((Place){v, t->type->scalar, text, v->bits, out->n}));
        return;
    case DP_T_SUM:
        if (v->n)
            collect(s, &t->items[v->bits], &v->items[0], false, out);
        return;
    case DP_T_ARRAY:
        for (uint64_t i = 0; i < v->n; i++)
            collect(s, t->items, &v->items[i], dp_type_is_string(t->type), out);
        return;
    case DP_T_TUPLE:
    case DP_T_RECORD:
        for (uint64_t i = 0; i < v->n; i++)
            collect(s, &t->items[i], &v->items[i], false, out);
        return;
    }
}

static int compare_places(const void *left, const void *right)
{
    const Place *a = left, *b = right;
    if (a->scalar != b->scalar || a->text != b->text)
        return a->scalar * 2 + a->text < b->scalar * 2 + b->text ? -1 : 1;
    if (a->bits != b->bits)
        return a->bits < b->bits ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* All of n places, which are equal. */
static bool simpler_scalars(Shrink *s, Place *places, uint32_t n)
{
    Candidates c = scalar_candidates(places->scalar, places->text, places->bits);
    for (uint32_t k = 0; !s->stopped && k < c.n; k++) {
        for (uint32_t i = 0; i < n; i++)
            places[i].at->bits = c.at[k];
        if (taken(s))
            return true;
    }
    for (uint32_t i = 0; i < n; i++)
        places[i].at->bits = places[i].bits;
    return false;
}

static bool equal_scalars(Shrink *s, const Places *places)
{
    Place *sorted = arena_array(s->arena, Place, places->n);
    if (places->n)
        memcpy(sorted, places->at, places->n * sizeof *sorted);
    qsort(sorted, places->n, sizeof *sorted, compare_places);
    for (uint32_t i = 0, end; i < places->n; i = end) {
        for (end = i + 1; end < places->n && sorted[end].scalar == sorted[i].scalar &&
                          sorted[end].text == sorted[i].text && sorted[end].bits == sorted[i].bits;)
            end++;
        if (end - i > 1 && simpler_scalars(s, sorted + i, end - i))
            return true;
    }
    return false;
}

bool shrink_step(Arena *arena, const Signature *signature, Tree *args, ShrinkJudge *judge, void *data)
{
    Shrink s = {arena, signature, args, judge, data, false};
    if (shorter_sizes(&s))
        return true;
    for (uint32_t i = 0; i < signature->nparams; i++)
        if (simpler_structure(&s, &signature->params[i], &args[i]))
            return true;
    Places places = {0};
    for (uint32_t i = 0; i < signature->nparams; i++)
        collect(&s, &signature->params[i], &args[i], false, &places);
    if (equal_scalars(&s, &places))
        return true;
    for (uint32_t i = 0; i < places.n; i++)
        if (!s.stopped && simpler_scalars(&s, &places.at[i], 1))
            return true;
    return false;
}
