#include "playground.h"

#include "driver/entry.h"
#include "explain/explain.h"
#include "support/memory.h"
#include "testing/test_comments.h"
#include "testing/value_tree.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((uint64_t)1 << 29) /* of a program's values */
enum { ARGUMENT_ERROR_BYTES = 512, MOST_RESULT_BYTES = 200000 };

/* ---- reports ---- */

/* A compilation of a text, and what it says. */
typedef struct Play {
    Compilation *c;
    char *messages; /* objects of JSON, a line each */
    size_t bytes;
} Play;

static void play_begin(Play *p, const char *program)
{
    Compilation *c = p->c = compilation_create("program.dp");
    p->messages = NULL;
    c->text = program;
    c->text_bytes = strlen(program);
    c->limits.bytes = MOST_BYTES;
    c->session->messages = open_memstream(&p->messages, &p->bytes);
    if (!c->session->messages)
        memory_out();
    set_messages(c->session, (MessageOptions){.json = true});
}

/* Ends the compilation. The report is left open. */
static void play_end(Play *p, StrBuf *out)
{
    fclose(p->c->session->messages);
    strbuf_add(out, "{\"diagnostics\":[");
    for (size_t i = 0; i < p->bytes; i++)
        strbuf_addn(out, p->messages[i] == '\n' ? "," : &p->messages[i], i + 1 < p->bytes || p->messages[i] != '\n');
    strbuf_add(out, "]");
    free(p->messages);
    compilation_destroy(p->c);
}

static void put_key_text(StrBuf *out, const char *key, const char *text)
{
    strbuf_printf(out, ",\"%s\":", key);
    if (text)
        diag_json_string(out, text);
    else
        strbuf_add(out, "null");
}

/* ---- checking ---- */

static void put_entries(StrBuf *out, Compilation *c)
{
    for (uint32_t i = 0; i < c->core->entries.n; i++) {
        const CoreEntry *e = &c->core->entries.at[i];
        const TestCase *test = find_first_case(c->session, c->modules.list.at[1], e->name);
        const TestText none = {.text = "", .n = 0}, *input = test ? &test->input : &none;
        strbuf_printf(out, "%s{\"params\":%u", i ? "," : "", e->nparams);
        put_key_text(out, "name", e->name);
        put_key_text(out, "signature", e->signature);
        put_key_text(out, "input", test ? arena_printf(c->session->arena, "%.*s", (int)input->n, input->text) : NULL);
        strbuf_add(out, "}");
    }
}

char *play_check(const char *program)
{
    Play p;
    StrBuf out = {0}, entries = {0};
    play_begin(&p, program);
    if (compile_to(p.c, STAGE_PLAN))
        put_entries(&entries, p.c);
    report_diagnostics(p.c->session); /* mistakes in tests */
    play_end(&p, &out);
    strbuf_printf(&out, ",\"entries\":[%s]}", entries.n ? entries.text : "");
    strbuf_free(&entries);
    return out.text;
}

/* ---- running ---- */

/* The values of the entry's parameters. False after a message. */
static bool read_arguments_text(Compilation *c, const EntryTypes *t, const char *text, DpLeaf *leaves)
{
    DpReader r = {"arguments", text, strlen(text), 0};
    char error[ARGUMENT_ERROR_BYTES] = "";
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->entry->nparams; i++) {
        if (dp_reader_done(&r))
            snprintf(error, sizeof error, "arguments: the value of the parameter %s is missing",
                     t->entry->param_names[i]);
        if (*error || !dp_read_text(&r, t->params[i], leaves + n, error, sizeof error))
            break;
        n += dp_type_leaves(t->params[i]);
    }
    if (!*error && !dp_reader_done(&r))
        snprintf(error, sizeof error, "arguments: there are more values than parameters");
    if (!*error)
        return true;
    report_error(c->session, "%s", error);
    dp_leaves_free(leaves, n);
    return false;
}

/* What is done with an entry and its arguments at the stage reached. */
typedef void EntryWork(void *data, const EntryTypes *t, const DpLeaf *args);

static void with_arguments(Compilation *c, const char *entry, const char *arguments, EntryWork *work, void *data)
{
    EntryTypes t;
    if (!entry_types_make(&t, c, entry))
        return;
    const uint32_t n = entry_arg_leaves(&t);
    DpLeaf *args = memory_alloc((size_t)n + 1, sizeof *args);
    if (read_arguments_text(c, &t, arguments, args)) {
        work(data, &t, args);
        dp_leaves_free(args, n);
    }
    free(args);
    entry_types_free(&t);
}

typedef struct Run {
    Compilation *c;
    StrBuf result;
} Run;

static void run_entry(void *data, const EntryTypes *t, const DpLeaf *args)
{
    Run *run = data;
    EvalError error;
    const uint32_t n = dp_type_leaves(t->result);
    DpLeaf *result = memory_alloc(n, sizeof *result);
    if (entry_eval(run->c, t, args, result, &error)) {
        Tree tree = tree_of_leaves(run->c->session->arena, t->result, result);
        tree_print(&run->result, t->result, &tree);
        dp_leaves_free(result, n);
    } else {
        compilation_report(run->c, &error);
    }
    free(result);
}

char *play_run(const char *program, const char *entry, const char *arguments, const char *stage)
{
    Play p;
    StrBuf out = {0};
    play_begin(&p, program);
    p.c->session->warnings = WARNINGS_HIDDEN; /* play_check shows them */
    Run run = {p.c, {0}};
    if (compile_to(p.c, stage_find(stage)))
        with_arguments(p.c, entry, arguments, run_entry, &run);
    play_end(&p, &out);
    const bool is_long = run.result.n > MOST_RESULT_BYTES;
    if (is_long)
        run.result.text[MOST_RESULT_BYTES] = '\0';
    put_key_text(&out, "result", run.result.text);
    strbuf_printf(&out, ",\"cut\":%s}", is_long ? "true" : "false");
    strbuf_free(&run.result);
    return out.text;
}

/* ---- the page of dpc explain ---- */

typedef struct Explaining {
    Explanation *x;
    const char *arguments;
} Explaining;

static void explain_run(void *data, const EntryTypes *t, const DpLeaf *args)
{
    Explaining *e = data;
    explanation_count(e->x, t, args);
    const Stage stages[] = {STAGE_CORE, STAGE_FLAT};
    for (uint32_t i = 0; i < sizeof stages / sizeof *stages && explanation_reach(e->x, stages[i]); i++)
        explanation_run(e->x, t, args, e->arguments);
}

char *play_explain(const char *program, const char *entry, const char *arguments)
{
    Play p;
    char *page = NULL;
    size_t bytes = 0;
    play_begin(&p, program);
    p.c->session->warnings = WARNINGS_HIDDEN;
    Explaining e = {explanation_create(p.c), arguments};
    if (explanation_reach(e.x, STAGE_ELABORATED) && p.c->core->entries.n > 0)
        with_arguments(p.c, entry, arguments, explain_run, &e);
    FILE *out = open_memstream(&page, &bytes);
    if (!out)
        memory_out();
    if (p.c->session->error_count == 0 && explanation_reach(e.x, STAGE_OPENCL))
        explanation_write(e.x, out);
    fclose(out);
    explanation_destroy(e.x);
    StrBuf unused = {0};
    play_end(&p, &unused);
    strbuf_free(&unused);
    return page;
}
