#include "testing/value_diff.h"

#include <math.h>
#include <string.h>

enum { TEXT_SHOWN = 60, TEXT_BEFORE = 20, VALUE_SHOWN = 200 };

typedef struct Diff {
    StrBuf *out;
    StrBuf path;
    StrBuf *first; /* gets the place of the first difference; or NULL */
    uint64_t count;
    uint32_t lines;
    int indent;
} Diff;

/* ---- lines ---- */

static void add_place(Diff *d, bool of_length)
{
    if (of_length)
        strbuf_printf(d->first, d->path.n ? "in the length of %s" : "in its length", d->path.text);
    else if (d->path.n)
        strbuf_printf(d->first, "at %s", d->path.text);
}

/* Begins the line of a difference; false if enough have been shown. */
static bool begin_of(Diff *d, bool of_length)
{
    if (++d->count == 1 && d->first)
        add_place(d, of_length);
    if (d->count > d->lines)
        return false;
    for (int i = 0; i < d->indent; i++)
        strbuf_add(d->out, " ");
    if (d->path.n)
        strbuf_printf(d->out, "at %s: ", d->path.text);
    return true;
}

static bool begin(Diff *d) { return begin_of(d, false); }

static void add_value(StrBuf *out, const DpType *t, const Tree *v)
{
    StrBuf text = {0};
    tree_print(&text, t, v);
    if (text.n > VALUE_SHOWN)
        strbuf_addn(out, text.text, VALUE_SHOWN - 3);
    strbuf_add(out, text.n > VALUE_SHOWN ? "..." : text.text);
    strbuf_free(&text);
}

static void add_both(Diff *d, const DpType *t, const Tree *expected, const Tree *got)
{
    strbuf_add(d->out, "expected ");
    add_value(d->out, t, expected);
    strbuf_add(d->out, ", got ");
    add_value(d->out, t, got);
}

static void differ(Diff *d, const DpType *t, const Tree *expected, const Tree *got)
{
    if (!begin(d))
        return;
    add_both(d, t, expected, got);
    strbuf_add(d->out, "\n");
}

/* ---- scalars ---- */

static void compare_floats(Diff *d, const DpType *t, const Tree *expected, const Tree *got)
{
    double a = float_of_bits(t->scalar, expected->bits), b = float_of_bits(t->scalar, got->bits);
    double tolerance = t->scalar == DP_F32 ? TOLERANCE_F32 : TOLERANCE_F64;
    if (dp_close(a, b, tolerance) || !begin(d))
        return;
    add_both(d, t, expected, got);
    double error = fabs(a - b) / fmax(fabs(a), fabs(b));
    if (isfinite(error))
        strbuf_printf(d->out, " (relative error %.2g, %g is allowed)", error, tolerance);
    strbuf_add(d->out, "\n");
}

static void compare_scalars(Diff *d, const DpType *t, const Tree *expected, const Tree *got)
{
    if (t->scalar == DP_F32 || t->scalar == DP_F64)
        compare_floats(d, t, expected, got);
    else if (expected->bits != got->bits)
        differ(d, t, expected, got);
}

/* ---- texts ---- */

/* The part of a long text around its byte `at`. */
static void add_excerpt(StrBuf *out, const DpType *t, const Tree *v, uint64_t at)
{
    uint64_t from = at > TEXT_BEFORE ? at - TEXT_BEFORE : 0;
    if (v->n <= TEXT_SHOWN || from > v->n)
        from = 0;
    uint64_t n = v->n - from < TEXT_SHOWN ? v->n - from : TEXT_SHOWN;
    Tree part = {0, n, v->items + from};
    strbuf_add(out, from ? "..." : "");
    tree_print(out, t, &part);
    strbuf_add(out, from + n < v->n ? "..." : "");
}

static void compare_texts(Diff *d, const DpType *t, const Tree *expected, const Tree *got)
{
    uint64_t same = 0;
    while (same < expected->n && same < got->n && expected->items[same].bits == got->items[same].bits)
        same++;
    if ((same == expected->n && same == got->n) || !begin(d))
        return;
    if (expected->n > TEXT_SHOWN || got->n > TEXT_SHOWN)
        strbuf_printf(d->out, "from byte %llu: ", (unsigned long long)same);
    strbuf_add(d->out, "expected ");
    add_excerpt(d->out, t, expected, same);
    strbuf_add(d->out, ", got ");
    add_excerpt(d->out, t, got, same);
    strbuf_add(d->out, "\n");
}

/* ---- composites ---- */

static void compare(Diff *d, const DpType *t, const Tree *expected, const Tree *got);

static void compare_part(Diff *d, const char *step, const DpType *t, const Tree *expected, const Tree *got)
{
    size_t n = d->path.n;
    strbuf_add(&d->path, step);
    compare(d, t, expected, got);
    d->path.n = n;
    if (d->path.text)
        d->path.text[n] = '\0';
}

static void compare_items(Diff *d, const DpType *t, const Tree *expected, const Tree *got)
{
    for (uint32_t i = 0; i < t->n; i++) {
        StrBuf step = {0};
        if (t->kind == DP_T_RECORD)
            strbuf_printf(&step, ".%s", t->names[i]);
        else
            strbuf_printf(&step, ".%u", i);
        compare_part(d, step.text, t->items[i], &expected->items[i], &got->items[i]);
        strbuf_free(&step);
    }
}

static void compare_sums(Diff *d, const DpType *t, const Tree *expected, const Tree *got)
{
    if (expected->bits != got->bits) {
        differ(d, t, expected, got);
    } else if (expected->n) {
        StrBuf step = {0};
        strbuf_printf(&step, ".#%s", t->names[expected->bits]);
        compare_part(d, step.text, t->items[expected->bits], &expected->items[0], &got->items[0]);
        strbuf_free(&step);
    }
}

static void compare_arrays(Diff *d, const DpType *t, const Tree *expected, const Tree *got)
{
    uint64_t n = expected->n < got->n ? expected->n : got->n;
    if (expected->n != got->n && begin_of(d, true))
        strbuf_printf(d->out, "expected %llu element%s, got %llu\n", (unsigned long long)expected->n,
                      expected->n == 1 ? "" : "s", (unsigned long long)got->n);
    for (uint64_t i = 0; i < n; i++) {
        char step[32];
        snprintf(step, sizeof step, "[%llu]", (unsigned long long)i);
        compare_part(d, step, t->element, &expected->items[i], &got->items[i]);
    }
}

static void compare(Diff *d, const DpType *t, const Tree *expected, const Tree *got)
{
    switch (t->kind) {
    case DP_T_SCALAR: compare_scalars(d, t, expected, got); return;
    case DP_T_TUPLE:
    case DP_T_RECORD: compare_items(d, t, expected, got); return;
    case DP_T_SUM: compare_sums(d, t, expected, got); return;
    case DP_T_ARRAY: (dp_type_is_string(t) ? compare_texts : compare_arrays)(d, t, expected, got); return;
    }
}

uint64_t value_diff(StrBuf *out, const DpType *t, const Tree *expected, const Tree *got, uint32_t lines, int indent)
{
    Diff d = {.out = out, .lines = lines, .indent = indent};
    compare(&d, t, expected, got);
    if (d.count > lines) {
        for (int i = 0; i < indent; i++)
            strbuf_add(out, " ");
        uint64_t others = d.count - lines;
        strbuf_printf(out, "and %llu other difference%s\n", (unsigned long long)others, others == 1 ? "" : "s");
    }
    strbuf_free(&d.path);
    return d.count;
}

bool value_diff_place(StrBuf *out, const DpType *t, const Tree *expected, const Tree *got)
{
    Diff d = {.first = out};
    compare(&d, t, expected, got);
    strbuf_free(&d.path);
    return d.count > 0;
}
