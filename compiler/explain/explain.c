#include "explain/explain.h"

#include "explain/explain_internal.h"

#include "dp_value.h"
#include "support/memory.h"
#include "testing/value_tree.h"

#include <stdlib.h>
#include <string.h>

/* The page stays small: what is longer is cut, and says so. */
enum { MOST_STAGE_BYTES = 400000, MOST_PASS_BYTES = 700000, PAGE_EVENTS = 4000, PAGE_BYTES = 1200000, PAGE_ITEMS = 48 };
enum { MOST_RESULT_BYTES = 4000 };

Explanation *explanation_create(Compilation *c)
{
    Arena *arena = arena_create();
    Explanation *x = arena_new(arena, Explanation);
    x->arena = arena;
    x->c = c;
    trace_start(&x->trace, c->session, NULL);
    x->trace.most_events = PAGE_EVENTS;
    x->trace.most_bytes = PAGE_BYTES;
    x->trace.most_items = PAGE_ITEMS;
    return x;
}

void explanation_destroy(Explanation *x)
{
    trace_free(&x->trace);
    strbuf_free(&x->remarks);
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

/* Cut behind a line. */
static void keep_stage(Explanation *x, Stage s)
{
    ExplainedStage stage = {.stage = s, .marks = {.arena = x->arena}};
    StrBuf text = {.marks = &stage.marks};
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

bool explanation_reach(Explanation *x, Stage stage)
{
    const char *name = "";
    while (name && compilation_stage(x->c) != stage) {
        if (!compile_pass(x->c, &name))
            return false;
        if (name && compilation_stage(x->c) < STAGE_OPENCL)
            keep_pass(x, name);
        if (is_shown(compilation_stage(x->c)))
            keep_stage(x, compilation_stage(x->c));
        if (compilation_stage(x->c) == STAGE_PLAN)
            plan_remarks(&x->remarks, x->c->plan, true);
    }
    return true;
}

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

void explanation_run(Explanation *x, const EntryTypes *t, const DpLeaf *args, const char *input)
{
    EvalError error;
    const uint32_t n = dp_type_leaves(t->result);
    DpLeaf *result = memory_alloc(n, sizeof *result);
    x->entry = t->entry;
    x->input = input;
    x->c->limits.trace = &x->trace;
    bool ok = entry_eval(x->c, t, args, result, &error);
    x->c->limits.trace = NULL;
    if (ok) {
        keep_result(x, t->result, result);
        dp_leaves_free(result, n);
    }
    free(result);
}
