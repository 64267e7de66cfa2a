/* What the flat interpreter does, written down: docs/traces.md. */
#include "flat/eval_internal.h"

#include <string.h>

/* ---- what the program's statements are, before the run ---- */

typedef struct Listing {
    Eval *e;
    const FlatFn *fn;
    const FlatStmt *within;
} Listing;

static void list_block(void *ctx, FlatBlock *b);

/* The first line of a statement that has blocks, for these are statements of their own. */
static void put_statement_text(const Listing *l, const FlatStmt *s)
{
    StrBuf text = {0};
    flat_print_stmt(&text, l->e->program, l->fn, s);
    const bool has_blocks = s->kind == FLAT_S_IF || s->kind == FLAT_S_LOOP || s->kind == FLAT_S_LOOP_LIFTED;
    size_t n = has_blocks ? strcspn(text.text, "\n") : text.n;
    while (n > 0 && text.text[n - 1] == '\n')
        n--;
    text.text[n] = '\0';
    trace_text(l->e->trace, "text", text.text);
    strbuf_free(&text);
}

static void put_read(void *ctx, FlatVar v)
{
    const Listing *l = ctx;
    Trace *t = l->e->trace;
    if (v == FLAT_ROOT || v == FLAT_NO_VAR)
        return;
    strbuf_add(&t->text, t->text.text[t->text.n - 1] == '[' ? "\"" : ",\"");
    flat_print_var(&t->text, l->fn, v);
    strbuf_add(&t->text, "\"");
}

/* What it reads, and the context that its body is evaluated in. */
static void put_reads(const Listing *l, const FlatStmt *s)
{
    Trace *t = l->e->trace;
    if (flat_kind_has_body(s->kind) && s->body.ctx != FLAT_ROOT) {
        trace_key(t, "context");
        strbuf_add(&t->text, "\"");
        flat_print_var(&t->text, l->fn, s->body.ctx);
        strbuf_add(&t->text, "\"");
    }
    trace_key(t, "reads");
    strbuf_add(&t->text, "[");
    flat_stmt_reads(s, put_read, (void *)(uintptr_t)l);
    strbuf_add(&t->text, "]");
}

static void list_block(void *ctx, FlatBlock *b)
{
    const Listing *l = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        FlatStmt *s = b->stmts.at[i];
        trace_statement(l->e->trace, s, l->within, flat_kind(s->kind)->word, s->span);
        trace_text(l->e->trace, "function", l->fn->name);
        put_statement_text(l, s);
        put_reads(l, s);
        trace_end(l->e->trace);
        flat_stmt_blocks(s, list_block, &(Listing){l->e, l->fn, s});
    }
}

void flat_trace_program(Eval *e)
{
    for (uint32_t i = 0; e->trace && i < e->program->fns.n; i++) {
        const FlatFn *fn = e->program->fns.at[i];
        list_block(&(Listing){e, fn, NULL}, fn->body);
    }
}

/* ---- values ---- */

static void put_name(Eval *e, const char *key, FlatVar v)
{
    StrBuf name = {0};
    flat_print_var(&name, e->frame->fn, v);
    trace_text(e->trace, key, name.text);
    strbuf_free(&name);
}

static void put_elem(Eval *e, CoreType t, Elem x);

/* Columns that nobody looks at hold anything (NOTHING): such a view is null. */
static const Stored *block_of(const Eval *e, CoreType array, View v)
{
    const Stored *s = v.len ? stored_at(e, v.addr) : NULL;
    const CoreType t = core_element(array);
    if (!s || !core_type_equal(s->type, t))
        return NULL;
    uint64_t at = v.addr - (uintptr_t)s->data;
    return at % elem_bytes(t) == 0 && v.len <= s->n - at / elem_bytes(t) ? s : NULL;
}

static void put_array(Eval *e, CoreType t, View v)
{
    const CoreType element = core_element(t);
    if (v.len && !block_of(e, t, v)) {
        strbuf_add(&e->trace->text, "null");
        return;
    }
    trace_list(e->trace);
    for (uint64_t i = 0; trace_item(e->trace, i, v.len); i++)
        put_elem(e, element, elem_load(element, (const char *)(uintptr_t)v.addr + i * elem_bytes(element)));
    trace_list_end(e->trace);
}

static void put_elem(Eval *e, CoreType t, Elem x)
{
    if (t.rank)
        put_array(e, t, x.view);
    else
        trace_scalar(e->trace, t.scalar, x.bits);
}

/* Where a view begins: [length, block, element of it]. */
static void put_view(Eval *e, CoreType array, View v)
{
    const Stored *s = block_of(e, array, v);
    strbuf_printf(&e->trace->text, "[%llu", (unsigned long long)v.len);
    if (s)
        strbuf_printf(&e->trace->text, ",%u,%llu", s->number,
                      (unsigned long long)((v.addr - (uintptr_t)s->data) / elem_bytes(s->type)));
    strbuf_add(&e->trace->text, "]");
}

/* The n views at `data`, an array's elements or a column. */
static void put_views(Eval *e, CoreType t, const char *data, uint64_t n)
{
    trace_key(e->trace, "views");
    trace_list(e->trace);
    e->trace->left = e->trace->most_items;
    for (uint64_t i = 0; trace_item(e->trace, i, n); i++)
        put_view(e, t, elem_load(t, data + i * sizeof(View)).view);
    trace_list_end(e->trace);
}

static void begin_value(Trace *t)
{
    trace_key(t, "value");
    t->left = t->most_items * TRACE_SCALARS;
}

static void put_host(Eval *e, const Value *x)
{
    trace_type(e->trace, x->type);
    if (x->type.rank) {
        trace_count(e->trace, "length", x->host.view.len);
        trace_key(e->trace, "view");
        put_view(e, x->type, x->host.view);
    }
    if (x->type.rank > 1 && block_of(e, x->type, x->host.view))
        put_views(e, core_element(x->type), (const char *)(uintptr_t)x->host.view.addr, x->host.view.len);
    begin_value(e->trace);
    put_elem(e, x->type, x->host);
}

static void put_column(Eval *e, FlatVar v, const Value *x)
{
    const uint64_t n = x->col.ctx->n;
    trace_text(e->trace, "kind", "column");
    trace_type(e->trace, x->type);
    put_name(e, "context", flat_ctx(e->frame->fn, v));
    trace_count(e->trace, "length", n);
    const Stored *s = n ? stored_at(e, (uintptr_t)x->col.data) : NULL;
    if (s) {
        trace_count(e->trace, "block", s->number);
        trace_count(e->trace, "at", (uint64_t)(x->col.data - s->data) / elem_bytes(x->type));
    }
    if (x->type.rank)
        put_views(e, x->type, x->col.data, n);
    begin_value(e->trace);
    trace_list(e->trace);
    for (uint64_t i = 0; trace_item(e->trace, i, n); i++)
        put_elem(e, x->type, elem_load(x->type, x->col.data + i * elem_bytes(x->type)));
    trace_list_end(e->trace);
}

/* Do all segments have one length because the program says so? */
static bool has_stride(const Eval *e, const FlatStmt *s)
{
    return s && s->kind == FLAT_S_NESTED && s->nouts == 1 && flat_ctx(e->frame->fn, s->outs[0]) != FLAT_ROOT &&
           e->frame->fn->vars.at[s->nested.source].kind == FLAT_HOST;
}

static void put_context(Eval *e, FlatVar v, const Ctx *c)
{
    static const char *const forms[] = {[CTX_FN] = "instances", [CTX_NESTED] = "nested", [CTX_SELECTED] = "selected"};
    trace_text(e->trace, "kind", "context");
    trace_text(e->trace, "form", forms[c->kind]);
    if (c->kind != CTX_FN)
        put_name(e, "parent", flat_ctx(e->frame->fn, v));
    trace_count(e->trace, "length", c->n);
    if (c->offsets && has_stride(e, e->stmt) && e->stmt->outs[0] == v)
        trace_count(e->trace, "stride", c->offsets->n > 1 ? c->offsets->at[1] : 0);
    if (c->offsets)
        trace_numbers(e->trace, "offsets", c->offsets->at, ctx_segments(c) + 1);
    if (c->map)
        trace_numbers(e->trace, "map", c->map->at, c->n);
}

static void put_value(Eval *e, FlatVar v, const Value *x)
{
    strbuf_add(&e->trace->text, "{\"name\":");
    StrBuf name = {0};
    flat_print_var(&name, e->frame->fn, v);
    diag_json_string(&e->trace->text, name.text);
    strbuf_free(&name);
    if (x->kind == FLAT_CTX)
        put_context(e, v, x->ctx);
    else if (x->kind == FLAT_COL)
        put_column(e, v, x);
    else {
        trace_text(e->trace, "kind", "host");
        put_host(e, x);
    }
    strbuf_add(&e->trace->text, "}");
}

/* ---- events ---- */

static void put_counts(Eval *e)
{
    trace_count(e->trace, "depth", e->depth);
    trace_key(e->trace, "counts");
    strbuf_printf(
        &e->trace->text, "{\"work\":%llu,\"moved\":%llu,\"launches\":%llu,\"read_backs\":%llu,\"bytes\":%llu}",
        (unsigned long long)e->counts.work, (unsigned long long)e->counts.moved, (unsigned long long)e->counts.launches,
        (unsigned long long)e->counts.readbacks, (unsigned long long)e->budget.live);
}

static bool begin_event(Eval *e, const char *event, const FlatStmt *s)
{
    if (!trace_event(e->trace, event))
        return false;
    if (s)
        trace_count(e->trace, "statement", trace_number(e->trace, s));
    put_counts(e);
    return true;
}

/* The variables as they are, one after the other, in a list that is open. */
typedef struct Listed {
    Eval *e;
    bool any;
} Listed;

static void put_bound(void *ctx, FlatVar v)
{
    Listed *l = ctx;
    if (v == FLAT_NO_VAR || !l->e->frame->bound[v])
        return;
    strbuf_add(&l->e->trace->text, l->any ? "," : "");
    l->any = true;
    put_value(l->e, v, &l->e->frame->vars[v]);
}

static void put_dead(Eval *e, const FlatVar *vars, uint32_t n)
{
    if (n == 0)
        return;
    StrBuf names = {0};
    for (uint32_t i = 0; i < n; i++) {
        strbuf_add(&names, i ? ",\"" : "\"");
        flat_print_var(&names, e->frame->fn, vars[i]);
        strbuf_add(&names, "\"");
    }
    trace_key(e->trace, "dies");
    strbuf_printf(&e->trace->text, "[%s]", names.text);
    strbuf_free(&names);
}

/* The contexts whose instances a joined call brings together, in their order. */
static void put_sites(Eval *e, const FlatStmt *s, const Frame *caller)
{
    trace_key(e->trace, "sites");
    strbuf_add(&e->trace->text, "[");
    for (uint32_t i = 0; i < s->call_lifted.nsites; i++) {
        const FlatVar ctx = s->call_lifted.sites[i].ctx;
        StrBuf name = {0};
        flat_print_var(&name, caller->fn, ctx);
        strbuf_printf(&e->trace->text, "%s{\"context\":\"%s\",\"length\":%llu}", i ? "," : "", name.text,
                      (unsigned long long)caller->vars[ctx].ctx->n);
        strbuf_free(&name);
    }
    strbuf_add(&e->trace->text, "]");
}

void flat_trace_call(Eval *e, const FlatStmt *call)
{
    const Frame *f = e->frame;
    if (!begin_event(e, "call", call))
        return;
    trace_text(e->trace, "function", f->fn->name);
    trace_count(e->trace, "level", f->run);
    if (call && call->kind == FLAT_S_CALL_LIFTED)
        put_sites(e, call, f->caller);
    trace_key(e->trace, "params");
    strbuf_add(&e->trace->text, "[");
    Listed l = {e, false};
    if (f->fn->lifted)
        put_bound(&l, f->fn->ctx);
    for (uint32_t i = 0; i < f->fn->nparams; i++)
        put_bound(&l, f->fn->params[i]);
    strbuf_add(&e->trace->text, "]");
    put_dead(e, f->fn->body->dies, f->fn->body->ndies);
    trace_end(e->trace);
}

void flat_trace_return(Eval *e, const Value *results)
{
    const FlatFn *fn = e->frame->fn;
    if (!begin_event(e, "return", NULL))
        return;
    trace_text(e->trace, "function", fn->name);
    trace_key(e->trace, "results");
    strbuf_add(&e->trace->text, "[");
    for (uint32_t i = 0; i < fn->body->nresults; i++) {
        strbuf_add(&e->trace->text, i ? "," : "");
        put_value(e, fn->body->results[i], &results[i]);
    }
    strbuf_add(&e->trace->text, "]");
    trace_end(e->trace);
}

void flat_trace_branch(Eval *e, const FlatStmt *s, bool holds)
{
    const FlatBlock *b = holds ? s->if_.then_b : s->if_.else_b;
    if (!begin_event(e, "branch", s))
        return;
    trace_text(e->trace, "taken", holds ? "then" : "else");
    put_dead(e, b->dies, b->ndies);
    trace_end(e->trace);
}

void flat_trace_round(Eval *e, const FlatStmt *s, uint64_t round)
{
    if (!begin_event(e, "round", s))
        return;
    trace_count(e->trace, "round", round);
    trace_key(e->trace, "params");
    strbuf_add(&e->trace->text, "[");
    flat_stmt_params(s, put_bound, &(Listed){e, false});
    strbuf_add(&e->trace->text, "]");
    trace_end(e->trace);
}

/* Of a segmented operation, a pack or a scatter: elsewhere the outs are what the body has given. */
void flat_trace_body(Eval *e, uint64_t instance, const Elem *results)
{
    Trace *t = e->trace;
    if (!t || t->cut || e->stmt->kind == FLAT_S_KERNEL || instance >= t->most_items)
        return;
    const CoreBlock *b = e->stmt->body.block;
    trace_body_begin(t, instance);
    for (uint32_t i = 0; i < b->nresults; i++) {
        strbuf_add(&t->text, i ? "," : "");
        put_elem(e, core_atom_type(e->frame->fn->scope, b->results[i]), results[i]);
    }
    trace_body_end(t);
}

void flat_trace_step(Eval *e, const FlatStmt *s)
{
    if (!begin_event(e, "step", s))
        return;
    trace_body(e->trace);
    trace_key(e->trace, "outs");
    strbuf_add(&e->trace->text, "[");
    flat_stmt_binds(s, put_bound, &(Listed){e, false});
    strbuf_add(&e->trace->text, "]");
    put_dead(e, s->dies, s->ndies);
    trace_end(e->trace);
}

/* ---- the end ---- */

void flat_trace_result(Eval *e, const Value *results)
{
    if (!trace_last_event(e->trace, "result"))
        return;
    put_counts(e);
    trace_key(e->trace, "results");
    strbuf_add(&e->trace->text, "[");
    for (uint32_t i = 0; i < e->entry->body->nresults; i++) {
        strbuf_add(&e->trace->text, i ? ",{" : "{");
        strbuf_add(&e->trace->text, "\"kind\":\"host\"");
        put_host(e, &results[i]);
        strbuf_add(&e->trace->text, "}");
    }
    strbuf_add(&e->trace->text, "]");
    trace_end(e->trace);
}

void flat_trace_failure(Eval *e)
{
    if (!trace_last_event(e->trace, "failure"))
        return;
    if (e->stmt)
        trace_count(e->trace, "statement", trace_number(e->trace, e->stmt));
    put_counts(e);
    trace_failure(e->trace, e->program->core, e->error);
    trace_end(e->trace);
}
