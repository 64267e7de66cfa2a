/* What the core interpreter does, written down: docs/traces.md. */
#include "core/eval_internal.h"
#include "trace/trace.h"

#include <string.h>

/* ---- what the program's statements are, before the run ---- */

typedef struct Listing {
    Eval *e;
    const CoreFn *fn;
    const CoreStmt *within;
} Listing;

/* The first line of a statement that has blocks, for these are statements of their own. */
static void put_statement_text(const Listing *l, const CoreStmt *s)
{
    StrBuf text = {0};
    core_print_stmt(&text, l->e->program, l->fn, s);
    text.text[strcspn(text.text, "\n")] = '\0';
    trace_text(l->e->trace, "text", text.text);
    strbuf_free(&text);
}

static void list_block(void *ctx, CoreBlock *b)
{
    const Listing *l = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        trace_statement(l->e->trace, s, l->within, core_kind(s->kind)->word, s->span);
        trace_text(l->e->trace, "function", l->fn->name);
        put_statement_text(l, s);
        trace_end(l->e->trace);
        core_stmt_blocks(s, list_block, &(Listing){l->e, l->fn, s});
    }
}

void eval_trace_program(Eval *e)
{
    for (uint32_t i = 0; e->trace && i < e->program->fns.n; i++) {
        const CoreFn *fn = e->program->fns.at[i];
        list_block(&(Listing){e, fn, NULL}, fn->body);
    }
}

/* ---- values ---- */

static void put_value(Trace *t, const CoreValue *x)
{
    if (x->type.rank == 0) {
        trace_scalar(t, x->type.scalar, x->bits);
        return;
    }
    trace_list(t);
    for (uint64_t i = 0; trace_item(t, i, x->n); i++) {
        const CoreValue item = eval_load(x, i);
        put_value(t, &item);
    }
    trace_list_end(t);
}

/* Its members, behind those that are there. */
static void put_host(Trace *t, const CoreValue *x)
{
    trace_text(t, "kind", "host");
    trace_type(t, x->type);
    if (x->type.rank)
        trace_count(t, "length", x->n);
    trace_key(t, "value");
    t->left = t->most_items * TRACE_SCALARS;
    put_value(t, x);
}

static void put_vars(Eval *e, const char *key, const CoreFn *fn, const CoreValue *values, const CoreVar *vars,
                     uint32_t n)
{
    Trace *t = e->trace;
    trace_key(t, key);
    strbuf_add(&t->text, "[");
    for (uint32_t i = 0; i < n; i++) {
        StrBuf name = {0};
        core_print_var(&name, fn, vars[i]);
        strbuf_add(&t->text, i ? ",{\"name\":" : "{\"name\":");
        diag_json_string(&t->text, name.text);
        strbuf_free(&name);
        put_host(t, &values[vars[i]]);
        strbuf_add(&t->text, "}");
    }
    strbuf_add(&t->text, "]");
}

/* ---- events ---- */

static void put_counts(Eval *e)
{
    trace_count(e->trace, "depth", e->depth);
    trace_key(e->trace, "counts");
    strbuf_printf(&e->trace->text, "{\"work\":%llu,\"bytes\":%llu}", (unsigned long long)e->work,
                  (unsigned long long)e->budget.live);
}

static bool begin_event(Eval *e, const char *event, const CoreStmt *s)
{
    if (!trace_event(e->trace, event))
        return false;
    if (s)
        trace_count(e->trace, "statement", trace_number(e->trace, s));
    put_counts(e);
    return true;
}

static void put_call(Eval *e, const CoreFn *fn, const CoreStmt *s, const CoreValue *vars)
{
    if (!begin_event(e, "call", s))
        return;
    trace_text(e->trace, "function", fn->name);
    put_vars(e, "params", fn, vars, fn->params, fn->nparams);
    trace_end(e->trace);
}

static void put_branch(Eval *e, const CoreStmt *s, uint64_t index)
{
    if (s->kind != CORE_IF || !begin_event(e, "branch", s))
        return;
    trace_text(e->trace, "taken", index == 0 ? "then" : "else");
    trace_end(e->trace);
}

static void put_round(Eval *e, const CoreFn *fn, const CoreStmt *s, uint64_t round, const CoreValue *vars)
{
    if (!begin_event(e, "round", s))
        return;
    trace_count(e->trace, "round", round);
    put_vars(e, "params", fn, vars, s->loop.params, s->loop.nparams);
    trace_end(e->trace);
}

static void put_instance(Eval *e, const CoreFn *fn, const CoreStmt *s, uint64_t i, const CoreValue *vars)
{
    const CoreSoac *soac = core_stmt_soac(s);
    if (!begin_event(e, "instance", s))
        return;
    trace_count(e->trace, "instance", i);
    put_vars(e, "params", fn, vars, soac->elements, soac->ninputs);
    trace_end(e->trace);
}

static void note_start(void *ctx, const CoreFn *fn, const CoreStmt *s, const CoreValue *vars)
{
    (void)ctx, (void)fn, (void)s, (void)vars;
}

/* An instance begins with its guard, if it has one, and a round with its condition. */
static void note_part(void *ctx, const CoreFn *fn, const CoreStmt *s, EvalPart part, uint64_t index,
                      const CoreValue *vars)
{
    switch (part) {
    case PART_CALL: put_call(ctx, fn, s, vars); return;
    case PART_BRANCH: put_branch(ctx, s, index); return;
    case PART_ROUND:
        if (s->loop.cond)
            return;
        put_round(ctx, fn, s, index, vars);
        return;
    case PART_CONDITION: put_round(ctx, fn, s, index, vars); return;
    case PART_BODY:
        if (s->soac.guard)
            return;
        put_instance(ctx, fn, s, index, vars);
        return;
    case PART_GUARD: put_instance(ctx, fn, s, index, vars); return;
    case PART_OPERATOR: return;
    }
}

static void note_part_end(void *ctx, const CoreFn *fn, const CoreStmt *s, EvalPart part)
{
    Eval *e = ctx;
    (void)s;
    if (part != PART_CALL || !begin_event(e, "return", NULL))
        return;
    trace_text(e->trace, "function", fn->name);
    trace_end(e->trace);
}

static void note_stmt(void *ctx, const CoreFn *fn, const CoreStmt *s, const CoreValue *vars, uint64_t copied)
{
    Eval *e = ctx;
    (void)copied;
    if (!begin_event(e, "step", s))
        return;
    put_vars(e, "outs", fn, vars, s->vars, s->nvars);
    trace_end(e->trace);
}

EvalObserver eval_trace_observer(Eval *e) { return (EvalObserver){e, note_start, note_part, note_part_end, note_stmt}; }

void eval_trace_end(Eval *e, bool ok, const CoreValue *results, uint32_t n)
{
    Trace *t = e->trace;
    if (!trace_last_event(t, ok ? "result" : "failure"))
        return;
    put_counts(e);
    if (ok) {
        trace_key(t, "results");
        strbuf_add(&t->text, "[");
        for (uint32_t i = 0; i < n; i++) {
            strbuf_printf(&t->text, "%s{\"index\":%u", i ? "," : "", i);
            put_host(t, &results[i]);
            strbuf_add(&t->text, "}");
        }
        strbuf_add(&t->text, "]");
    } else {
        trace_failure(t, e->program, e->error);
    }
    trace_end(t);
}
