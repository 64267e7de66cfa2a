/* dpc explain: a page about a program and its run. */
#include "commands/commands.h"
#include "dp_args.h"
#include "dp_output.h"
#include "explain/explain.h"
#include "support/memory.h"
#include "testing/test_comments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INPUT_BYTES = 2000 };

static const char *shown_input(Arena *arena, const char *text, size_t n)
{
    const bool is_long = n > MOST_INPUT_BYTES;
    return arena_printf(arena, "%.*s%s", is_long ? MOST_INPUT_BYTES : (int)n, text, is_long ? " …" : "");
}

/* The words behind the file. */
static const char *shown_words(Arena *arena, const CommandLine *a)
{
    StrBuf text = {0};
    for (int i = 1; i < a->n; i++) {
        strbuf_add(&text, i > 1 ? " " : "");
        strbuf_add(&text, a->words[i]);
    }
    const char *shown = shown_input(arena, text.text ? text.text : "", text.n);
    strbuf_free(&text);
    return shown;
}

/* The arguments: those behind the file, or else what the program's comments test the entry with; *shown stays NULL
 * where there are neither. */
static int find_arguments(Compilation *c, const EntryTypes *t, const CommandLine *a, DpLeaf *args, const char **shown)
{
    Arena *arena = c->session->arena;
    if (a->n > 1) {
        int status = read_arguments(c, t, a, args);
        *shown = status == EXIT_OK ? shown_words(arena, a) : NULL;
        return status;
    }
    const TestCase *test = find_first_case(c->session, c->modules.list.at[1], t->entry->name);
    if (c->session->error_count > 0 || !(test || t->entry->nparams == 0))
        return EXIT_OK;
    const char *const *names = (const char *const *)t->entry->param_names;
    if (test && t->entry->nparams > 0 &&
        !read_test_values(c->session, &test->input, t->params, names, t->entry->nparams, args))
        return EXIT_OK;
    *shown = test && test->input.text ? shown_input(arena, test->input.text, test->input.n) : "";
    return EXIT_OK;
}

/* Runs the entry, as it is written, as core, and flat. */
static int run_entry(Explanation *x, Compilation *c, const CommandLine *a)
{
    EntryTypes t;
    const char *shown = NULL;
    if (!entry_types_make(&t, c, entry_name(c, a)))
        return EXIT_USAGE;
    const uint32_t n = entry_arg_leaves(&t);
    DpLeaf *args = memory_alloc((size_t)n + 1, sizeof *args);
    int status = find_arguments(c, &t, a, args, &shown);
    if (status == EXIT_OK && shown)
        explanation_count(x, &t, args);
    const Stage stages[] = {STAGE_CORE, STAGE_FLAT};
    for (uint32_t i = 0; i < sizeof stages / sizeof *stages && status == EXIT_OK; i++) {
        if (!explanation_reach(x, stages[i]))
            status = EXIT_USAGE;
        else if (shown)
            explanation_run(x, &t, args, shown);
    }
    dp_leaves_free(args, n);
    free(args);
    entry_types_free(&t);
    report_diagnostics(c->session);
    return c->session->error_count > 0 ? EXIT_USAGE : status;
}

static int write_page(const Explanation *x, Compilation *c, const char *path)
{
    DpOutput out;
    bool ok = dp_output_open(&out, path, 0666);
    if (ok) {
        explanation_write(x, out.file);
        ok = dp_output_close(&out);
    }
    int status = ok ? EXIT_OK : (int)dp_write_status();
    if (!ok)
        report_error(c->session, "%s: cannot write: %s", path, strerror(errno));
    return status;
}

static int explain(Explanation *x, Compilation *c, const CommandLine *a, const char *path)
{
    if (!explanation_reach(x, STAGE_ELABORATED) || replaces_source(c, path))
        return EXIT_USAGE;
    int status = c->core->entries.n > 0 ? run_entry(x, c, a) : EXIT_OK;
    if (status == EXIT_OK && !explanation_reach(x, STAGE_OPENCL))
        status = EXIT_USAGE;
    return status ? status : write_page(x, c, path);
}

int command_explain(const CommandLine *a)
{
    RunLimits limits;
    int status = read_limits(&limits, a->values[DP_OPTION_TIMEOUT], a->values[DP_OPTION_MEMORY]);
    if (status)
        return status;
    Compilation *c = compilation_create(a->words[0]);
    const char *path = a->values[OPTION_PAGE], *stem = name_without_ending(c->session->arena, a->words[0]);
    set_messages(c->session, a->messages);
    c->limits = limits.eval;
    if (!path && stem)
        path = arena_printf(c->session->arena, "%s.html", stem);
    if (!path) {
        status = usage_error("%s does not end in .dp: name the page with -o", a->words[0]);
    } else {
        Explanation *x = explanation_create(c);
        status = explain(x, c, a, path);
        explanation_destroy(x);
    }
    compilation_destroy(c);
    return status;
}
