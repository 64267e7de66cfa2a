#include "cost/symbolic_report.h"

#include <inttypes.h>
#include <string.h>

enum { TEXT_BYTES = 60 }; /* of the program's text that a name stands for */

typedef struct Report {
    StrBuf *out;
    const CoreProgram *p;
    Arena *arena;
    const FnCost *costs;
    const FnCost *at; /* the definition at hand */
    VEC(Symbol *) named;
} Report;

/* ---- which sizes matter ---- */

enum { MOST_CALLS = 4 }; /* one in the sizes of another, when functions call each other */

static bool size_of_fn_matters(const Report *r, const CoreFn *fn, uint32_t arg, uint32_t depth);

/* In a call of the function itself only what changes there matters, in others what matters to them. */
static bool matters_in_call(const Report *r, const FnCost *c, const Factor *call, uint32_t arg, uint32_t depth)
{
    bool matters = false;
    if (call->fn == c->fn)
        return formula_is_symbol(call->args[arg]) != c->sizes[arg] && formula_mentions(call->args[arg], c->sizes[arg]);
    for (uint32_t i = 0; depth < MOST_CALLS && !matters && i < call->nargs; i++)
        matters = formula_mentions(call->args[i], c->sizes[arg]) && size_of_fn_matters(r, call->fn, i, depth + 1);
    return matters;
}

static bool matters_in(const Report *r, const FnCost *c, const Formula *x, uint32_t arg, uint32_t depth)
{
    bool matters = false;
    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t j = 0; !matters && j < x->terms[i].n; j++) {
            const Factor *f = x->terms[i].factors[j];
            matters = f->symbol == c->sizes[arg] || (f->a && matters_in(r, c, f->a, arg, depth)) ||
                      (f->b && matters_in(r, c, f->b, arg, depth)) ||
                      (f->kind == FACTOR_CALL && matters_in_call(r, c, f, arg, depth));
        }
    return matters;
}

static bool size_of_fn_matters(const Report *r, const CoreFn *fn, uint32_t arg, uint32_t depth)
{
    const FnCost *c = &r->costs[fn->index];
    return matters_in(r, c, c->work, arg, depth) || matters_in(r, c, c->span, arg, depth);
}

static bool size_matters(void *ctx, const CoreFn *fn, uint32_t arg) { return size_of_fn_matters(ctx, fn, arg, 0); }

/* ---- names ---- */

static bool is_taken(const Report *r, const char *name)
{
    bool taken = false;
    for (uint32_t i = 0; i < r->named.n; i++)
        taken |= strcmp(r->named.at[i]->name, name) == 0;
    return taken;
}

static const char *free_name(const Report *r, const char *base)
{
    const char *name = base;
    for (uint32_t k = 2; is_taken(r, name); k++)
        name = arena_printf(r->arena, "%s%u", base, k);
    return name;
}

/* Lengths take letters one after the other; the sizes of rows have that of their parameter. */
static const char *length_name(const Report *r)
{
    static const char *const letters[] = {"n", "m", "p", "q", "u", "v"};
    for (uint32_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (!is_taken(r, letters[i]))
            return letters[i];
    return free_name(r, "n");
}

static const char *name_for(const Report *r, const Symbol *s)
{
    switch (s->kind) {
    case SYMBOL_LENGTH: return length_name(r);
    case SYMBOL_TOTAL: return free_name(r, "N");
    case SYMBOL_LONGEST: return free_name(r, "w");
    case SYMBOL_NUMBER: return free_name(r, s->hint ? s->hint : "a");
    case SYMBOL_INDEX: return free_name(r, s->hint ? s->hint : "i");
    case SYMBOL_ROW: return free_name(r, "l");
    case SYMBOL_KEPT: return free_name(r, "k");
    case SYMBOL_ROUNDS: return free_name(r, "r");
    case SYMBOL_COMPUTED: return free_name(r, "c");
    case SYMBOL_STATE: return free_name(r, "s");
    case SYMBOL_RESULT: return free_name(r, "z");
    }
    return "";
}

static void name_symbol(void *ctx, Symbol *s)
{
    Report *r = ctx;
    for (uint32_t i = 0; i < r->named.n; i++)
        if (r->named.at[i] == s)
            return;
    s->name = name_for(r, s);
    vec_push(r->arena, &r->named, s);
}

/* Numbers that are parameters keep their names. */
static void name_all(Report *r, const FnCost *c)
{
    r->at = c;
    r->named.n = 0;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < c->nsizes; i++)
            if ((c->sizes[i]->kind == SYMBOL_NUMBER) == (pass == 0) && size_matters(r, c->fn, i))
                name_symbol(r, c->sizes[i]);
    formula_symbols(c->work, name_symbol, r);
    formula_symbols(c->span, name_symbol, r);
}

/* ---- what a name stands for ---- */

/* The program's text there, if it is in one line. */
static void add_text(Report *r, Span span)
{
    const SourceFile *file = r->p->session->files.at[span.file];
    const uint32_t n = span.end > span.start ? span.end - span.start : 0;
    const char *text = file->text + span.start;
    strbuf_printf(r->out, "line %u", source_linecol(r->p->session, span.file, span.start).line);
    if (n > 0 && n <= TEXT_BYTES && !memchr(text, '\n', n)) {
        strbuf_add(r->out, ": ");
        strbuf_addn(r->out, text, n);
    }
}

static void add_meaning(Report *r, const Symbol *s)
{
    static const char *const words[] = {[SYMBOL_LENGTH] = "the length of",
                                        [SYMBOL_TOTAL] = "the elements of all rows of",
                                        [SYMBOL_LONGEST] = "the longest row of",
                                        [SYMBOL_NUMBER] = "the parameter",
                                        [SYMBOL_INDEX] = "the index",
                                        [SYMBOL_ROW] = "the length of",
                                        [SYMBOL_KEPT] = "the elements kept",
                                        [SYMBOL_ROUNDS] = "the rounds",
                                        [SYMBOL_COMPUTED] = "the number or length",
                                        [SYMBOL_STATE] = "the state",
                                        [SYMBOL_RESULT] = "the result, or its length, of"};
    strbuf_add(r->out, words[s->kind]);
    for (uint32_t k = 1; k < s->depth; k++)
        strbuf_add(r->out, " rows of");
    if (s->hint && s->kind != SYMBOL_INDEX)
        strbuf_printf(r->out, " %s", s->hint);
    if (s->all)
        strbuf_add(r->out, ", of all together");
    else if (s->most)
        strbuf_add(r->out, ", of one at most");
    if (s->kind >= SYMBOL_INDEX && s->span.file != UINT32_MAX) {
        strbuf_add(r->out, ", ");
        add_text(r, s->span);
    }
}

/* ---- text ---- */

static void print_head(Report *r, const FnCost *c)
{
    const Span at = c->fn->span;
    uint32_t n = 0;
    strbuf_printf(r->out, "%s(", c->fn->name);
    for (uint32_t i = 0; i < c->nsizes; i++)
        if (size_matters(r, c->fn, i))
            strbuf_printf(r->out, "%s%s", n++ ? ", " : "", c->sizes[i]->name);
    strbuf_printf(r->out, "), %s:%u\n", r->p->session->files.at[at.file]->path,
                  source_linecol(r->p->session, at.file, at.start).line);
}

/* How a recurrence, or what calls one, grows. */
static void print_order(Report *r, const FnCost *c, const Formula *f, const Order *o)
{
    const bool known = o->constant || o->size;
    if (!formula_has_call(f) || !(known || c->recursive))
        return;
    strbuf_add(r->out, known ? "\n       in O(" : "\n       a recurrence that is not solved");
    if (known) {
        order_print(r->out, o);
        strbuf_add(r->out, o->recurrence ? "), as " : ")");
        if (o->recurrence)
            recurrence_print(r->out, o);
    }
}

static void print_definition(Report *r, const FnCost *c)
{
    name_all(r, c);
    print_head(r, c);
    strbuf_printf(r->out, "  work %s ", c->work_exact ? "=" : "<=");
    formula_print(r->out, c->work, false, size_matters, r);
    print_order(r, c, c->work, &c->solved.work);
    strbuf_printf(r->out, "\n  span %s ", c->span_exact ? "=" : "<=");
    formula_print(r->out, c->span, false, size_matters, r);
    print_order(r, c, c->span, &c->solved.span);
    for (uint32_t i = 0; i < r->named.n; i++) {
        if (r->named.at[i]->kind == SYMBOL_NUMBER)
            continue;
        strbuf_printf(r->out, "\n    %s: ", r->named.at[i]->name);
        add_meaning(r, r->named.at[i]);
    }
    strbuf_add(r->out, "\n");
}

void symbolic_print(StrBuf *out, const CoreProgram *p, FnCost *costs, Arena *arena)
{
    Report r = {.out = out, .p = p, .arena = arena, .costs = costs};
    for (uint32_t i = 0; i < p->fns.n; i++)
        print_definition(&r, &costs[i]);
}

void symbolic_print_one(StrBuf *out, const CoreProgram *p, FnCost *costs, uint32_t fn, Arena *arena)
{
    Report r = {.out = out, .p = p, .arena = arena, .costs = costs};
    print_definition(&r, &costs[fn]);
}

/* ---- JSON ---- */

static void add_json_text(StrBuf *out, const char *key, StrBuf *text)
{
    strbuf_printf(out, ",\"%s\":", key);
    diag_json_string(out, text->text ? text->text : "");
    strbuf_free(text);
}

static void add_json_formula(Report *r, const char *key, const Formula *f)
{
    StrBuf text = {0};
    formula_print(&text, f, true, size_matters, r);
    add_json_text(r->out, key, &text);
}

/* "n log n" and "T(n) = 2 T(n/2) + O(n)", or null. */
static void add_json_order(Report *r, const char *what, const Formula *f, const Order *o)
{
    StrBuf order = {0}, recurrence = {0};
    if (formula_has_call(f) && (o->constant || o->size))
        order_print(&order, o);
    if (order.n && o->recurrence)
        recurrence_print(&recurrence, o);
    strbuf_printf(r->out, ",\"%s_order\":", what);
    if (order.n)
        diag_json_string(r->out, order.text);
    strbuf_printf(r->out, "%s,\"%s_recurrence\":", order.n ? "" : "null", what);
    if (recurrence.n)
        diag_json_string(r->out, recurrence.text);
    strbuf_add(r->out, recurrence.n ? "" : "null");
    strbuf_free(&order);
    strbuf_free(&recurrence);
}

/* What of which parameter, for those that are sizes of parameters. */
static void add_json_parameter(StrBuf *out, const Symbol *s)
{
    static const char *const what[] = {"length", "total", "longest", "number"};
    if (s->kind > SYMBOL_NUMBER)
        return;
    strbuf_add(out, ",\"parameter\":");
    diag_json_string(out, s->hint ? s->hint : "");
    strbuf_printf(out, ",\"is\":\"%s\",\"depth\":%u", what[s->kind], s->depth);
}

static void add_json_sizes(Report *r)
{
    StrBuf *out = r->out;
    strbuf_add(out, ",\"sizes\":[");
    for (uint32_t i = 0; i < r->named.n; i++) {
        StrBuf meaning = {0};
        strbuf_add(out, i ? ",{\"name\":" : "{\"name\":");
        diag_json_string(out, r->named.at[i]->name);
        r->out = &meaning;
        add_meaning(r, r->named.at[i]);
        r->out = out;
        add_json_text(out, "meaning", &meaning);
        add_json_parameter(out, r->named.at[i]);
        strbuf_add(out, "}");
    }
    strbuf_add(out, "]");
}

void symbolic_print_json(StrBuf *out, const CoreProgram *p, FnCost *costs, Arena *arena)
{
    Report r = {.out = out, .p = p, .arena = arena, .costs = costs};
    strbuf_add(out, "[");
    for (uint32_t i = 0; i < p->fns.n; i++) {
        const FnCost *c = &costs[i];
        const Span at = c->fn->span;
        name_all(&r, c);
        strbuf_add(out, i ? ",\n{\"name\":" : "{\"name\":");
        diag_json_string(out, c->fn->name);
        strbuf_add(out, ",\"file\":");
        diag_json_string(out, p->session->files.at[at.file]->path);
        strbuf_printf(out, ",\"line\":%u", source_linecol(p->session, at.file, at.start).line);
        add_json_formula(&r, "work", c->work);
        add_json_formula(&r, "span", c->span);
        strbuf_printf(out, ",\"work_exact\":%s,\"span_exact\":%s", c->work_exact ? "true" : "false",
                      c->span_exact ? "true" : "false");
        add_json_order(&r, "work", c->work, &c->solved.work);
        add_json_order(&r, "span", c->span, &c->solved.span);
        strbuf_printf(out, ",\"recursive\":%s", c->recursive ? "true" : "false");
        add_json_sizes(&r);
        strbuf_add(out, "}");
    }
    strbuf_add(out, "]\n");
}
