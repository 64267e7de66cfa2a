#define _GNU_SOURCE /* open_memstream, asprintf */
#include "dp_stack.h"
#include "dp_status.h"
#include "embed/values.h"
#include "explain/explain.h"
#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_INPUT_BYTES = 2000 }; /* of the arguments, as the page shows them */

typedef struct Explain {
    const char *name, *source, *entry;
    const DpcValue *const *args;
    unsigned count;
    FILE *messages, *page;
    bool done, sufficed;
} Explain;

static const CoreEntry *shown_entry(const Compilation *c, const char *name)
{
    const CoreEntry *main = compilation_entry(c, name ? name : "main");
    return main || name || c->core->entries.n == 0 ? main : &c->core->entries.at[0];
}

/* The arguments' leaves one behind the other, of which nothing is to be freed but the array; NULL after a message. */
static DpLeaf *take_arguments(const Explain *x, Compilation *c, const EntryTypes *t)
{
    const CoreEntry *e = t->entry;
    DpLeaf *leaves = memory_alloc((size_t)entry_arg_leaves(t) + 1, sizeof *leaves), *at = leaves;
    bool fit = x->count == e->nparams;
    for (unsigned i = 0; fit && i < x->count; i++) {
        fit = x->args[i] && dpc_value_is(x->args[i], e->param_texts[i]);
        for (uint32_t k = 0; fit && k < x->args[i]->n; k++) {
            *at = x->args[i]->leaves[k];
            fit = at->data || at->ndata == 0; /* else it is in a buffer */
            at++;
        }
    }
    if (fit)
        return leaves;
    free(leaves);
    report_error(c->session, "these are no arguments of %s, on the host", e->signature);
    return NULL;
}

/* The arguments as the page shows them. */
static const char *shown_arguments(const Explain *x, Arena *arena)
{
    const char *shown = "";
    for (unsigned i = 0; i < x->count; i++) {
        char *text = dpc_text(x->args[i]);
        shown = arena_printf(arena, "%s%s%s", shown, i ? " " : "", text ? text : "…");
        free(text);
    }
    const bool is_long = strlen(shown) > MOST_INPUT_BYTES;
    return arena_printf(arena, "%.*s%s", is_long ? MOST_INPUT_BYTES : (int)strlen(shown), shown, is_long ? " …" : "");
}

static bool run_entry(const Explain *x, Compilation *c, Explanation *page, const CoreEntry *entry)
{
    EntryTypes t;
    if (!entry_types_make(&t, c, entry->name))
        return false;
    DpLeaf *args = x->args ? take_arguments(x, c, &t) : NULL;
    bool ok = args || !x->args;
    if (args)
        explanation_count(page, &t, args);
    ok = ok && explanation_reach(page, STAGE_FLAT);
    if (ok && args)
        explanation_run(page, &t, args, shown_arguments(x, c->session->arena));
    free(args);
    entry_types_free(&t);
    return ok;
}

static bool explain_program(const Explain *x, Compilation *c, Explanation *page)
{
    if (!explanation_reach(page, STAGE_ELABORATED))
        return false;
    const CoreEntry *entry = shown_entry(c, x->entry);
    if (x->entry && !entry)
        report_error(c->session, "there is no entry %s", x->entry);
    if (x->entry && !entry)
        return false;
    if ((entry && !run_entry(x, c, page, entry)) || !explanation_reach(page, STAGE_OPENCL))
        return false;
    explanation_write(page, x->page);
    return true;
}

static void explain(void *data)
{
    Explain *x = data;
    Compilation *c = compilation_create(x->name);
    c->path = arena_strndup(c->session->arena, x->name, strlen(x->name));
    c->session->messages = x->messages;
    if (x->source) {
        c->text_bytes = strlen(x->source);
        c->text = arena_strndup(c->session->arena, x->source, c->text_bytes);
    }
    Explanation *page = explanation_create(c);
    x->done = explain_program(x, c, page);
    explanation_destroy(page);
    compilation_destroy(c);
}

static void explain_on_stack(void *data, uintptr_t stack_end)
{
    Explain *x = data;
    (void)stack_end;
    x->sufficed = memory_guard(explain, x);
}

char *dpc_explain(const char *name, const char *source, const char *entry, const DpcValue *const *args, unsigned count,
                  DpcError *error)
{
    char *text = NULL, *html = NULL;
    size_t bytes = 0, html_bytes = 0;
    if (!name) {
        dpc_fail(error, EXIT_USAGE, "the name of the program is NULL");
        return NULL;
    }
    Explain x = {.name = name, .source = source, .entry = entry, .args = args, .count = count};
    x.messages = open_memstream(&text, &bytes);
    x.page = open_memstream(&html, &html_bytes);
    if (x.messages && x.page)
        dp_stack_run(explain_on_stack, &x);
    bool told = x.messages && fclose(x.messages) == 0;
    told = x.page && fclose(x.page) == 0 && told;
    if (!x.sufficed || !told)
        dpc_fail(error, EXIT_MEMORY, "out of memory");
    else if (!x.done)
        dpc_fail(error, EXIT_USAGE, "%s", text);
    free(text);
    if (x.sufficed && told && x.done)
        return html;
    free(html);
    return NULL;
}
