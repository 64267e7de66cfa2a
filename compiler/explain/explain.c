#include "explain/explain.h"

#include "explain/explain_internal.h"

#include "cost/meter_report.h"
#include "cost/symbolic_report.h"
#include "dp_value.h"
#include "support/memory.h"
#include "syntax/ast_walk.h"
#include "testing/value_tree.h"

#include <stdlib.h>
#include <string.h>

/* The page stays small: what is longer is cut, and says so. */
enum {
    MOST_STAGE_BYTES = 400000,
    MOST_PASS_BYTES = 700000,
    PAGE_EVENTS = 4000,
    PAGE_BYTES = 1200000,
    CORE_BYTES = 500000,
    PAGE_ITEMS = 48
};
enum { MOST_RESULT_BYTES = 4000 };

Explanation *explanation_create(Compilation *c)
{
    Arena *arena = arena_create();
    Explanation *x = arena_new(arena, Explanation);
    x->arena = arena;
    x->c = c;
    for (uint32_t i = 0; i < EXPLAINED_RUNS; i++) {
        trace_start(&x->traces[i], c->session, NULL);
        x->traces[i].most_events = PAGE_EVENTS;
        x->traces[i].most_bytes = i == RUN_CORE ? CORE_BYTES : PAGE_BYTES;
        x->traces[i].most_items = PAGE_ITEMS;
    }
    return x;
}

void explanation_destroy(Explanation *x)
{
    for (uint32_t i = 0; i < EXPLAINED_RUNS; i++)
        trace_free(&x->traces[i]);
    strbuf_free(&x->remarks);
    strbuf_free(&x->formulas);
    strbuf_free(&x->meter);
    arena_destroy(x->arena);
}

/* ---- the passes ---- */

/* The number of a line, which is kept once however often it occurs. */
static uint32_t line_number(Explanation *x, const char *text, size_t n)
{
    Name name = intern(x->c->session, text, n);
    void *known = ptrmap_get(&x->line_numbers, name);
    if (known)
        return (uint32_t)(uintptr_t)known - 1;
    vec_push(x->arena, &x->lines, name);
    ptrmap_put(x->arena, &x->line_numbers, name, (void *)(uintptr_t)x->lines.n);
    x->line_bytes += n;
    return x->lines.n - 1;
}

static void keep_pass(Explanation *x, const char *name)
{
    StrBuf text = {0};
    ExplainedPass pass = {.name = name};
    pass.level = x->c->plan ? "plan" : x->c->flat ? "flat" : x->c->core ? "core" : x->c->checked ? "types" : "ast";
    compilation_print_now(&text, x->c);
    pass.is_left_out = x->line_bytes > MOST_PASS_BYTES;
    for (const char *at = text.text; at && *at && !pass.is_left_out;) {
        size_t n = strcspn(at, "\n");
        vec_push(x->arena, &pass.lines, line_number(x, at, n));
        at += n + (at[n] == '\n');
    }
    vec_push(x->arena, &x->passes, pass);
    strbuf_free(&text);
}

/* ---- the stages ---- */

static bool is_shown(Stage s)
{
    return s == STAGE_TYPES || s == STAGE_CORE || s == STAGE_FUSED || s == STAGE_FLAT || s == STAGE_PLAN ||
           s == STAGE_OPENCL;
}

/* The variables of a definition, below its type, and where they are bound. */
typedef struct Variables {
    StrBuf *out;
    const Checked *checked;
} Variables;

static void print_variable(void *context, const Pat *p)
{
    const Variables *v = context;
    if (p->kind != PAT_NAME || p->span.end == 0)
        return;
    strbuf_add(v->out, "  ");
    marks_begin(v->out, p->span, p);
    strbuf_printf(v->out, "%s : ", p->name);
    type_print(v->out, v->checked->pat_types[p->id]);
    marks_end(v->out);
    strbuf_add(v->out, "\n");
}

static void print_types(StrBuf *out, const Compilation *c)
{
    Variables variables = {out, c->checked};
    const AstVisitor visitor = {.context = &variables, .pat = print_variable};
    checked_print(out, c->checked);
    for (uint32_t i = 1; i < c->checked->nmodules; i++) {
        const Module *m = c->checked->modules[i];
        for (uint32_t k = 0; k < m->ndefs && !c->session->files.at[m->file]->is_stdlib; k++) {
            if (m->defs[k]->kind != DEF_VALUE)
                continue;
            strbuf_printf(out, "\nvariables of %s\n", m->defs[k]->name);
            ast_walk(m->defs[k], &visitor);
        }
    }
}

/* Cut behind a line. */
static void keep_stage(Explanation *x, Stage s)
{
    ExplainedStage stage = {.stage = s, .marks = {.arena = x->arena}};
    StrBuf text = {.marks = &stage.marks};
    if (s == STAGE_TYPES)
        print_types(&text, x->c);
    else
        compilation_print(&text, x->c, s);
    size_t n = text.n;
    while (n > MOST_STAGE_BYTES || (n < text.n && n > 0 && text.text[n - 1] != '\n'))
        n--;
    for (size_t i = n; i < text.n; i++)
        stage.lines_cut += text.text[i] == '\n';
    stage.text = arena_strndup(x->arena, text.text ? text.text : "", n);
    stage.bytes = n;
    vec_push(x->arena, &x->stages, stage);
    strbuf_free(&text);
}

static bool keep_what_is_seen(void *ctx, const char *pass)
{
    Explanation *x = ctx;
    const Stage stage = compilation_stage(x->c);
    if (stage < STAGE_OPENCL)
        keep_pass(x, pass);
    if (is_shown(stage))
        keep_stage(x, stage);
    if (stage == STAGE_ELABORATED)
        symbolic_print_json(&x->formulas, x->c->core, symbolic_costs(x->c->core, x->arena), x->arena);
    if (stage == STAGE_PLAN)
        plan_remarks(&x->remarks, x->c->plan, true);
    return true;
}

bool explanation_reach(Explanation *x, Stage stage) { return compile_seen(x->c, stage, keep_what_is_seen, x); }

/* ---- the run ---- */

static void keep_result(Explanation *x, const DpType *type, const DpLeaf *leaves)
{
    StrBuf text = {0};
    Tree tree = tree_of_leaves(x->arena, type, leaves);
    tree_print(&text, type, &tree);
    const bool is_long = text.n > MOST_RESULT_BYTES;
    x->result = arena_printf(x->arena, "%.*s%s", is_long ? MOST_RESULT_BYTES : (int)text.n, text.text ? text.text : "",
                             is_long ? " …" : "");
    strbuf_free(&text);
}

void explanation_count(Explanation *x, const EntryTypes *t, const DpLeaf *args)
{
    EvalError error;
    Meter *meter = meter_create(x->c->core);
    const EvalObserver observer = meter_observer(meter);
    const uint32_t n = dp_type_leaves(t->result);
    DpLeaf *result = memory_alloc(n, sizeof *result);
    x->c->observer = &observer;
    if (entry_eval(x->c, t, args, result, &error)) {
        meter_print_json(&x->meter, x->c->session, meter, t->entry->name);
        dp_leaves_free(result, n);
    }
    x->c->observer = NULL;
    free(result);
    meter_destroy(meter);
}

void explanation_run(Explanation *x, const EntryTypes *t, const DpLeaf *args, const char *input)
{
    EvalError error;
    const uint32_t n = dp_type_leaves(t->result);
    DpLeaf *result = memory_alloc(n, sizeof *result);
    x->entry = t->entry;
    x->input = input;
    x->c->limits.trace = &x->traces[x->c->flat ? RUN_FLAT : RUN_CORE];
    bool ok = entry_eval(x->c, t, args, result, &error);
    x->c->limits.trace = NULL;
    if (ok) {
        keep_result(x, t->result, result);
        dp_leaves_free(result, n);
    }
    free(result);
}
