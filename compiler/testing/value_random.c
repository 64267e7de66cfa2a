#include "testing/value_random.h"

#include <float.h>
#include <math.h>

enum {
    LENGTH = 40,         /* of sequences in most cases */
    LONG_LENGTH = 300,   /* in the last tenth */
    MOST_ELEMENTS = 4000 /* of a case; lengths that sizes ask for may exceed it */
};

typedef struct Gen {
    Arena *arena;
    uint64_t state;
    const Signature *signature;
    int64_t *sizes;  /* by name; SIZE_UNBOUND */
    uint32_t length; /* of sequences, at most */
    uint32_t few;    /* > 0: integers and floats come from so many values */
    bool extreme;
    uint32_t elements; /* made so far */
} Gen;

/* ---- numbers ---- */

static uint64_t next(Gen *g)
{
    uint64_t z = g->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Below n, which is small. */
static uint64_t below(Gen *g, uint64_t n) { return next(g) % n; }
static bool one_in(Gen *g, uint64_t n) { return below(g, n) == 0; }

static void start(Gen *g, RandomCase which)
{
    g->state = which.seed;
    for (const char *c = which.name; *c; c++)
        g->state = next(g) ^ (uint64_t)(unsigned char)*c;
    g->state = next(g) ^ which.number;
    next(g);
}

/* ---- scalars ---- */

static bool is_signed(DpScalar s) { return dp_scalar_limit(s, true) > 0; }

/* Two's complement, extended to 64 bits from the type's width. */
static uint64_t fit(DpScalar s, uint64_t bits)
{
    uint64_t most = dp_scalar_limit(s, false), mask = is_signed(s) ? 2 * most + 1 : most;
    bits &= mask;
    return is_signed(s) && bits > most ? bits | ~mask : bits;
}

static uint64_t extreme_integer(Gen *g, DpScalar s)
{
    uint64_t most = dp_scalar_limit(s, false), least = 0 - dp_scalar_limit(s, true);
    switch (below(g, 8)) {
    case 0: return most;
    case 1: return least;
    case 2: return most - 1;
    case 3: return least + 1;
    case 4: return fit(s, UINT64_MAX); /* -1 */
    case 5: return fit(s, (uint64_t)1 << below(g, 64));
    default: return fit(s, next(g) >> below(g, 64));
    }
}

static uint64_t random_integer(Gen *g, DpScalar s)
{
    if (g->few)
        return below(g, g->few);
    if (g->extreme && one_in(g, 4))
        return extreme_integer(g, s);
    uint64_t range = g->length + 2, most = dp_scalar_limit(s, false);
    uint64_t x = below(g, range < most ? range : most);
    return is_signed(s) && one_in(g, 2) ? 0 - x : x;
}

static double extreme_float(Gen *g, DpScalar s)
{
    bool single = s == DP_F32;
    double sign = one_in(g, 2) ? -1 : 1;
    switch (below(g, 8)) {
    case 0: return (double)NAN;
    case 1: return sign * (double)INFINITY;
    case 2: return sign * 0.0;
    case 3: return sign * (single ? (double)FLT_MAX : DBL_MAX);
    case 4: return sign * (single ? (double)FLT_MIN : DBL_MIN);
    case 5: return sign * (single ? 0x1p-149 : 0x1p-1074);
    case 6: return sign;
    default: return float_of_bits(s, single ? next(g) >> 32 : next(g));
    }
}

static uint64_t random_float(Gen *g, DpScalar s)
{
    double range = (double)g->length + 1, x;
    if (g->few)
        x = (double)below(g, g->few);
    else if (g->extreme && one_in(g, 6))
        x = extreme_float(g, s);
    else if (one_in(g, 2))
        x = (double)below(g, 4 * (uint64_t)range) / 2 - range;
    else
        x = ((double)(next(g) >> 11) * 0x1p-53 - 0.5) * 2 * range;
    return bits_of_float(s, x);
}

static uint64_t random_scalar(Gen *g, DpScalar s)
{
    g->elements++;
    if (s == DP_BOOL)
        return below(g, 2);
    return s == DP_F32 || s == DP_F64 ? random_float(g, s) : random_integer(g, s);
}

/* ---- lengths ---- */

/* Sequences inside of others are shorter: the sum of lengths stays of the same order. */
static uint64_t longest(const Gen *g, uint32_t depth)
{
    double n = pow((double)g->length, 1.0 / (1.0 + (double)depth));
    return depth == 0 ? g->length : g->length < 2 ? 1 : 1 + (uint64_t)(1.5 * n);
}

static uint64_t random_length(Gen *g, uint32_t depth)
{
    uint64_t most = longest(g, depth);
    switch (g->elements < MOST_ELEMENTS ? below(g, 8) : 0) {
    case 0: return 0;
    case 1: return most > 0;
    default: return below(g, most + 1);
    }
}

static int64_t named_length(Gen *g, uint32_t name, uint64_t most)
{
    int64_t *size = &g->sizes[name];
    if (*size == SIZE_UNBOUND) {
        uint64_t n = random_length(g, g->signature->size_depths[name]);
        *size = (int64_t)(n < most ? n : most);
    }
    return *size;
}

static uint64_t length_of(Gen *g, const SizedType *t, uint32_t depth)
{
    switch (t->rule) {
    case SIZED_FREE: return random_length(g, depth);
    case SIZED_LITERAL: return (uint64_t)t->literal;
    case SIZED_NAME: return (uint64_t)named_length(g, t->name, UINT64_MAX);
    }
    return 0;
}

/* ---- values ---- */

static Tree generate(Gen *g, const SizedType *t, uint32_t depth);

static uint64_t random_character(Gen *g)
{
    static const char usual[] = "aaaabbcdexyzABZ0129 \n\t.,-_\"\\";
    return (uint8_t)usual[below(g, sizeof usual - 1)];
}

static void fill_text(Gen *g, Tree *v)
{
    bool any_bytes = one_in(g, 4);
    for (uint64_t i = 0; i < v->n; i++)
        v->items[i].bits = any_bytes ? below(g, 256) : random_character(g);
    g->elements += (uint32_t)v->n;
}

static Tree random_array(Gen *g, const SizedType *t, uint32_t depth)
{
    Tree v = {.n = length_of(g, t, depth)};
    v.items = arena_array(g->arena, Tree, v.n);
    if (v.n == 0)
        sizes_bind_empty(t->items, g->sizes);
    uint32_t few = g->few;
    if (!few && one_in(g, 4))
        g->few = 1 + (uint32_t)below(g, 4);
    if (dp_type_is_string(t->type) && !g->few)
        fill_text(g, &v);
    else
        for (uint64_t i = 0; i < v.n; i++)
            v.items[i] = generate(g, t->items, depth + 1);
    g->few = few;
    return v;
}

static Tree generate(Gen *g, const SizedType *t, uint32_t depth)
{
    Tree v = {0};
    switch (t->type->kind) {
    case DP_T_SCALAR:
        v.bits = t->rule == SIZED_NAME ? (uint64_t)named_length(g, t->name, dp_scalar_limit(t->type->scalar, false))
                                       : random_scalar(g, t->type->scalar);
        return v;
    case DP_T_ARRAY: return random_array(g, t, depth);
    case DP_T_TUPLE:
    case DP_T_RECORD:
        v.n = t->type->n;
        v.items = arena_array(g->arena, Tree, v.n);
        for (uint32_t i = 0; i < v.n; i++)
            v.items[i] = generate(g, &t->items[i], depth);
        return v;
    case DP_T_SUM:
        v.bits = below(g, t->type->n);
        v.n = t->type->items[v.bits] != NULL;
        v.items = arena_array(g->arena, Tree, v.n);
        if (v.n)
            v.items[0] = generate(g, &t->items[v.bits], depth);
        return v;
    }
    return v;
}

Tree *random_arguments(Arena *arena, const Signature *s, RandomCase which)
{
    Gen g = {.arena = arena, .signature = s, .sizes = arena_array(arena, int64_t, s->nsizes)};
    start(&g, which);
    uint64_t tenth = which.count / 10;
    bool is_long = which.number + tenth >= which.count && tenth > 0;
    g.length = is_long ? LONG_LENGTH : (uint32_t)((uint64_t)LENGTH * which.number / (which.count ? which.count : 1));
    g.extreme = which.number % 2 == 1;
    for (uint32_t i = 0; i < s->nsizes; i++)
        g.sizes[i] = SIZE_UNBOUND;
    Tree *args = arena_array(arena, Tree, s->nparams);
    for (uint32_t i = 0; i < s->nparams; i++)
        args[i] = generate(&g, &s->params[i], 0);
    return args;
}
