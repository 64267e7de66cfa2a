/* Runs a DP program through parser, checker, elaborator and core interpreter, for tests: the result is the
 * printed value of `main` (which takes no arguments), or the text of whatever went wrong. */
#ifndef DPC_TEST_ELABORATE_RUN_H
#define DPC_TEST_ELABORATE_RUN_H

#include "core/core_eval.h"
#include "core/passes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the elaborator expects of the library, and a few functions that go through inlining. */
static const char *const test_prelude =
    "def sum xs = reduce (+) 0 xs\n"
    "def maximum xs = reduce max (head (check_nonempty__ \"maximum\" xs)) xs\n"
    "def head xs = index xs 0\n"
    "def concat xss = flatten xss\n"
    "def any 'a (p: a -> bool) (xs: [a]) : bool = reduce (||) false (map p xs)\n"
    "def sort_by 'a 'o (f: a -> o) (xs: [a]) : [a] = { xs[i] : i in argsort (map f xs) }\n"
    "def transpose 'a (m: [r][c]a) : [c][r]a = { { m[i][j] : i in r } : j in c }\n"
    "def is_less 'o (a: o) (b: o) : bool = less__ a b\n"
    "def check_same 'a 'b (xs: [a]) (ys: [b]) : i64 = check_lengths__ (length xs) (length ys) (length xs)\n";

/* ---- printing a value by its source type ---- */

/* The fewest digits that read back the same, and a point in what looks like an integer. */
static void print_float(StrBuf *out, double x, bool single)
{
    char text[64];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (single ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x)
            break;
    }
    strbuf_add(out, text);
    strbuf_add(out, isfinite(x) && !strpbrk(text, ".e") ? ".0" : "");
}

static void print_scalar(StrBuf *out, Scalar s, uint64_t bits)
{
    double x = 0;
    float f = 0;
    if (s == SC_BOOL) {
        strbuf_add(out, bits ? "true" : "false");
    } else if (s == SC_F32) {
        uint32_t low = (uint32_t)bits;
        memcpy(&f, &low, sizeof f);
        print_float(out, (double)f, true);
    } else if (s == SC_F64) {
        memcpy(&x, &bits, sizeof x);
        print_float(out, x, false);
    } else if (scalar_is_signed(s)) {
        strbuf_printf(out, "%" PRId64, (int64_t)bits);
    } else {
        strbuf_printf(out, "%" PRIu64, bits);
    }
}

static void print_string(StrBuf *out, const CoreValue *v)
{
    strbuf_add(out, "\"");
    for (uint64_t i = 0; i < v->n; i++) {
        if (v->scalars[i] == '\n')
            strbuf_add(out, "\\n");
        else
            strbuf_printf(out, v->scalars[i] >= ' ' && v->scalars[i] < 127 ? "%c" : "\\x%02x", (int)v->scalars[i]);
    }
    strbuf_add(out, "\"");
}

static void print_value(StrBuf *out, Arena *a, Type *t, const CoreValue *leaves);

static uint32_t count_leaves(Arena *a, Type *t)
{
    CoreTypes types = {0};
    core_leaves(a, t, &types);
    return types.n;
}

static void print_parts(StrBuf *out, Arena *a, Name *names, Type **items, uint32_t n, const CoreValue *leaves)
{
    strbuf_add(out, names ? "{" : "(");
    for (uint32_t i = 0; i < n; i++) {
        strbuf_add(out, i ? ", " : "");
        if (names)
            strbuf_printf(out, "%s = ", names[i]);
        print_value(out, a, items[i], leaves);
        leaves += count_leaves(a, items[i]);
    }
    strbuf_add(out, names ? "}" : ")");
}

static CoreValue element_of(const CoreValue *v, uint64_t i)
{
    if (v->type.rank > 1)
        return v->items[i];
    CoreValue x = {.type = core_element(v->type), .bits = v->scalars[i]};
    return x;
}

static void print_array(StrBuf *out, Arena *a, Type *element, const CoreValue *leaves)
{
    uint32_t k = count_leaves(a, element);
    CoreValue *row = arena_array(a, CoreValue, k);
    element = type_prune(element);
    if (element->kind == TY_SCALAR && element->scalar == SC_U8) {
        print_string(out, leaves);
        return;
    }
    strbuf_add(out, "[");
    for (uint64_t i = 0; i < leaves[0].n; i++) {
        strbuf_add(out, i ? ", " : "");
        for (uint32_t j = 0; j < k; j++)
            row[j] = element_of(&leaves[j], i);
        print_value(out, a, element, row);
    }
    strbuf_add(out, "]");
}

static void print_sum(StrBuf *out, Arena *a, Type *t, const CoreValue *leaves)
{
    const CoreValue *at = leaves + 1;
    for (uint32_t i = 0; i < t->record.n; i++) {
        if (i == leaves[0].bits) {
            strbuf_printf(out, "#%s", t->record.names[i]);
            strbuf_add(out, t->record.items[i] ? " " : "");
            if (t->record.items[i])
                print_value(out, a, t->record.items[i], at);
        }
        at += t->record.items[i] ? count_leaves(a, t->record.items[i]) : 0;
    }
}

static void print_value(StrBuf *out, Arena *a, Type *t, const CoreValue *leaves)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_SCALAR: print_scalar(out, t->scalar, leaves[0].bits); return;
    case TY_TUPLE: print_parts(out, a, NULL, t->tuple.items, t->tuple.n, leaves); return;
    case TY_RECORD: print_parts(out, a, t->record.names, t->record.items, t->record.n, leaves); return;
    case TY_ARRAY: print_array(out, a, t->element, leaves); return;
    case TY_SUM: print_sum(out, a, t, leaves); return;
    case TY_FUN:
    case TY_VAR:
    case TY_RIGID:
    case TY_ERROR: strbuf_add(out, "?"); return;
    }
}

/* ---- running ---- */

/* The core program of a source text, or NULL with the diagnostics' text in *why. */
static CoreProgram *program_of(Session *s, const char *text, StrBuf *why)
{
    AstIds ids = {0};
    Module *modules[2];
    modules[0] = parse_module(s, source_add_text(s, "prelude.dp", test_prelude, strlen(test_prelude), true), &ids);
    modules[1] = parse_module(s, source_add_text(s, "t.dp", text, strlen(text), false), &ids);
    Checked *checked = s->error_count ? NULL : check_program(s, modules, 2, &ids);
    CoreProgram *p = s->error_count ? NULL : elaborate(s, checked);
    if (s->error_count || !p) {
        char *buffer = NULL;
        size_t n = 0;
        FILE *f = open_memstream(&buffer, &n);
        diag_print(s, f, false);
        fclose(f);
        strbuf_add(why, buffer);
        free(buffer);
        return NULL;
    }
    if (!core_check(p, why)) {
        strbuf_add(why, "\n");
        core_print(why, p);
        return NULL;
    }
    return p;
}

static void print_failure(StrBuf *out, Session *s, const CoreProgram *p, const EvalError *error)
{
    if (error->site == CORE_NO_SITE) {
        strbuf_printf(out, "error: %s", error->text);
        return;
    }
    const CoreSite *site = &p->sites.at[error->site];
    LineCol at = source_linecol(s, site->span.file, site->span.start);
    strbuf_printf(out, "%s:%u:%u: error: ", s->files.at[site->span.file]->path, at.line, at.col);
    core_error_text(out, site, error->values);
}

static void run_program(const char *text, StrBuf *out)
{
    Session *s = session_create();
    CoreProgram *p = program_of(s, text, out);
    if (p) {
        const CoreEntry *entry = &p->entries.at[0];
        CoreValue *results = arena_array(p->arena, CoreValue, entry->fn->nresults);
        EvalError error = {0};
        if (core_eval(p, entry->fn, p->arena, NULL, results, NULL, NULL, &error, NULL))
            print_value(out, p->arena, entry->result_type, results);
        else
            print_failure(out, s, p, &error);
    }
    session_destroy(s);
}

#endif
