#include "testing/test_run.h"

#include "testing/value_diff.h"
#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

enum { INPUT_SHOWN = 300, DIFFERENCES_SHOWN = 5, WATCHED_SHOWN = 200 };

const char *evaluator_name(int e) { return e == DEVICE ? "device" : stage_name(evaluator_runs(e)); }

/* ---- failures ---- */

void add_failure(TestRun *t, Failures *to, int evaluator, const char *text)
{
    for (uint32_t i = 0; i < to->n; i++)
        if (strcmp(to->at[i].text, text) == 0) {
            to->at[i].on[evaluator] = true;
            return;
        }
    Failure f = {.text = arena_strndup(t->arena, text, strlen(text))};
    f.on[evaluator] = true;
    vec_push(t->arena, to, f);
}

void print_arguments(StrBuf *out, const Subject *s, const DpLeaf *args, size_t most)
{
    StrBuf text = {0};
    for (uint32_t i = 0; i < s->types.entry->nparams; i++) {
        Arena *arena = arena_create();
        Tree v = tree_of_leaves(arena, s->types.params[i], args);
        strbuf_add(&text, i ? " " : "");
        tree_print(&text, s->types.params[i], &v);
        args += dp_type_leaves(s->types.params[i]);
        arena_destroy(arena);
    }
    bool cut = most && text.n > most;
    strbuf_addn(out, text.n ? text.text : "", cut ? most - 3 : text.n);
    strbuf_add(out, cut ? "..." : "");
    strbuf_free(&text);
}

static void begin_failure(StrBuf *out, const Subject *s, const Input *input)
{
    if (s->types.entry->nparams == 0)
        return;
    strbuf_add(out, "  input ");
    print_arguments(out, s, input->args, INPUT_SHOWN);
    strbuf_add(out, "\n");
}

/* ---- judging ---- */

const char *outcome_message(const Outcome *o)
{
    const char *text = o->error.text ? o->error.text : "", *mark = strstr(text, ": error: ");
    return mark ? mark + strlen(": error: ") : text;
}

static void judge_value(TestRun *t, Subject *s, Input *input, int e, const Outcome *o)
{
    Arena *scratch = arena_create();
    StrBuf text = {0};
    begin_failure(&text, s, input);
    Tree got = tree_of_leaves(scratch, s->types.result, o->leaves);
    Tree expected = tree_of_leaves(scratch, s->types.result, input->expected);
    if (value_diff(&text, s->types.result, &expected, &got, DIFFERENCES_SHOWN, 2) > 0)
        add_failure(t, &input->failures, e, text.text);
    strbuf_free(&text);
    arena_destroy(scratch);
}

/* Of a run on the device, whatever its result. */
static void judge_facts(TestRun *t, Subject *s, Input *input, int e, const Outcome *o)
{
    for (int i = 0; i < FACT_COUNT; i++) {
        const TestFact *fact = &input->from->facts[o->shape][i];
        if (!fact->stated || (fact->at_most ? o->facts[i] <= fact->n : o->facts[i] == fact->n))
            continue;
        StrBuf text = {0};
        begin_failure(&text, s, input);
        strbuf_printf(&text, "  expected %s %s%llu\n  got %llu\n", test_fact_names[i], fact->at_most ? "<= " : "",
                      (unsigned long long)fact->n, (unsigned long long)o->facts[i]);
        add_failure(t, &input->failures, e, text.text);
        strbuf_free(&text);
    }
}

void print_result(StrBuf *out, const Subject *s, const DpLeaf *leaves, size_t most)
{
    Arena *scratch = arena_create();
    StrBuf text = {0};
    Tree v = tree_of_leaves(scratch, s->types.result, leaves);
    tree_print(&text, s->types.result, &v);
    strbuf_addn(out, text.text, text.n > most ? most : text.n);
    strbuf_add(out, text.n > most ? "..." : "");
    strbuf_free(&text);
    arena_destroy(scratch);
}

static void judge(TestRun *t, Subject *s, Input *input, int e, const Outcome *o)
{
    const char *wanted = input->from->error;
    if (o->ok && input->expected) {
        judge_value(t, s, input, e, o);
        if (e >= PLAN)
            judge_facts(t, s, input, e, o);
        return;
    }
    if (!o->ok && wanted && o->expectable && strstr(outcome_message(o), wanted))
        return;
    StrBuf text = {0};
    begin_failure(&text, s, input);
    strbuf_add(&text, "  expected ");
    if (wanted)
        strbuf_printf(&text, "an error with \"%s\"", wanted);
    else
        print_result(&text, s, input->expected, INPUT_SHOWN);
    strbuf_add(&text, "\n  got ");
    if (o->ok)
        print_result(&text, s, o->leaves, INPUT_SHOWN);
    else
        strbuf_add(&text, o->error.text ? o->error.text : "no result");
    strbuf_add(&text, "\n");
    add_failure(t, &input->failures, e, text.text);
    strbuf_free(&text);
}

/* ---- evaluating ---- */

static void add_place(StrBuf *out, const Compilation *c, const EvalError *error)
{
    Span at = error->site == CORE_NO_SITE ? error->span : c->core->sites.at[error->site].span;
    if (at.end == 0 || at.file >= c->session->files.n)
        return;
    LineCol place = source_linecol(c->session, at.file, at.start);
    strbuf_printf(out, "%s:%u:%u: error: ", c->session->files.at[at.file]->path, place.line, place.col);
}

static void begin_watching(const TestRun *t, const Subject *s, const DpLeaf *args)
{
    StrBuf text = {0};
    strbuf_printf(&text, "%s, %s", t->c->path, s->block->name);
    strbuf_add(&text, s->types.entry->nparams ? " with " : "");
    print_arguments(&text, s, args, WATCHED_SHOWN);
    watch_begin(t->watch, text.text);
    strbuf_free(&text);
}

Outcome run_interpreter(const TestRun *t, const Subject *s, const DpLeaf *args)
{
    Outcome o = {.leaves = memory_alloc(s->nresults, sizeof(DpLeaf))};
    EvalError error;
    begin_watching(t, s, args);
    o.ok = entry_eval(t->c, &s->types, args, o.leaves, &error);
    watch_end(t->watch);
    if (!o.ok && error.machine) { /* says nothing about the program */
        compilation_report(t->c, &error);
        exit(EXIT_MEMORY);
    }
    if (!o.ok) {
        add_place(&o.error, t->c, &error);
        compilation_error_text(&o.error, t->c, &error);
        o.expectable = error.kind != EVAL_INTERNAL;
    }
    return o;
}

static void run_test(TestRun *t, Subject *s, int e)
{
    for (uint32_t i = 0; i < s->ninputs; i++) {
        Input *input = &s->inputs[i];
        Outcome o = e >= PLAN ? device_result(&t->device, input->job, t->jobs, s->types.result)
                              : run_interpreter(t, s, input->args);
        if (!t->device.unusable)
            (t->options->exercise ? judge_exercise : judge)(t, s, input, e, &o);
        outcome_free(&o, s->types.result);
    }
}

static void plan_device(TestRun *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        Subject *s = &t->subjects[i];
        const CoreEntry *entry = s->types.entry;
        for (uint32_t k = 0; k < s->ninputs; k++)
            s->inputs[k].job = device_add(&t->device, entry->name, s->types.params, entry->nparams, s->inputs[k].args);
        if (s->block->is_property)
            plan_property(t, s);
    }
    t->jobs = t->device.n;
}

/* False after a compile error: no further evaluator will do. */
static bool run_evaluator(TestRun *t, int e)
{
    if (!compile_to(t->c, evaluator_runs(e)))
        return false;
    for (uint32_t i = 0; i < t->n; i++) /* passes may have made other entries of the old ones */
        t->subjects[i].types.entry = compilation_entry(t->c, t->subjects[i].block->name);
    if (e >= PLAN) {
        device_close(&t->device); /* of the one before */
        t->status = device_open(&t->device, t->c, t->options->limits, t->options->params, e == DEVICE);
        if (t->status)
            return false;
        plan_device(t);
    }
    for (uint32_t i = 0; i < t->n && !t->device.unusable; i++) {
        Subject *s = &t->subjects[i];
        if (!s->block->is_property)
            run_test(t, s, e);
        else if (s->failures.n == 0)
            run_property(t, s, e);
    }
    if (t->device.unusable)
        fprintf(stderr, "dpc: error: %s is not tested on the device: %s\n", t->c->path, t->device.failed_error.text);
    return true;
}

/* ---- what is to be run ---- */

static uint32_t result_leaves(const Subject *s) { return dp_type_leaves(s->types.result); }

static bool read_input(TestRun *t, Subject *s, Input *input)
{
    const CoreEntry *entry = s->types.entry;
    Session *session = t->c->session;
    input->args = arena_array(t->arena, DpLeaf, s->nargs + 1);
    bool ok = read_test_values(session, &input->from->input, s->types.params, entry->param_names, entry->nparams,
                               input->args);
    if (s->block->is_property || input->from->error)
        return ok;
    input->expected = arena_array(t->arena, DpLeaf, s->nresults);
    return read_test_values(session, &input->from->output, &s->types.result, NULL, 1, input->expected) && ok;
}

/* False after mistakes, which have been reported. */
static bool make_subject(TestRun *t, Subject *s, const TestBlock *block)
{
    s->block = block;
    if (!entry_types_make(&s->types, t->c, block->name))
        return false;
    s->nargs = entry_arg_leaves(&s->types);
    s->nresults = result_leaves(s);
    s->signature = signature_of(t->arena, t->c->checked, block->def, s->types.params, s->types.entry->nparams, NULL);
    s->inputs = arena_array(t->arena, Input, block->cases.n);
    bool ok = true;
    for (; s->ninputs < block->cases.n; s->ninputs++) {
        s->inputs[s->ninputs].from = &block->cases.at[s->ninputs];
        ok = read_input(t, s, &s->inputs[s->ninputs]) && ok;
    }
    return ok;
}

static void free_subject(Subject *s)
{
    for (uint32_t i = 0; i < s->ninputs; i++) {
        dp_leaves_free(s->inputs[i].args, s->nargs);
        if (s->inputs[i].expected)
            dp_leaves_free(s->inputs[i].expected, s->nresults);
    }
    if (s->types.entry)
        entry_types_free(&s->types);
}

/* Up to the point where tests can run; false after errors, which have been printed. */
static bool prepare(TestRun *t)
{
    Compilation *c = t->c;
    if (!compile_to(c, STAGE_AST))
        return false;
    TestFile *file = find_tests(c->session, c->modules.list.at[1]);
    if (!compile_to(c, STAGE_CORE))
        return false;
    t->subjects = arena_array(t->arena, Subject, file->blocks.n);
    bool ok = true;
    for (uint32_t i = 0; i < file->blocks.n; i++)
        if (!t->options->only || strcmp(file->blocks.at[i]->name, t->options->only) == 0)
            ok = make_subject(t, &t->subjects[t->n++], file->blocks.at[i]) && ok;
    diag_print(c->session, stderr, use_colour());
    return ok;
}

static bool run_all(TestRun *t)
{
    for (int e = 0; t->n > 0 && e < EVALUATORS && !t->device.unusable; e++)
        if (t->options->wanted[e] && !run_evaluator(t, e))
            return false;
    return compile_to(t->c, STAGE_PLAN); /* so that its checker has seen it, too */
}

/* Without a device there may be nothing that could have passed. */
static bool something_ran(const TestRun *t)
{
    bool interpreted = false;
    for (int e = 0; e < PLAN; e++)
        interpreted = interpreted || t->options->wanted[e];
    return interpreted || !t->device.unusable;
}

int test_file(const char *path, const TestOptions *options, TestCounts *counts)
{
    TestRun t = {.options = options, .c = compilation_create(path), .arena = arena_create()};
    t.c->flat_nests = options->flat_nests;
    t.c->check = true;
    t.c->limits = options->limits.eval;
    set_messages(t.c->session, options->messages);
    t.watch = watch_start();
    bool ok = prepare(&t) && run_all(&t);
    for (uint32_t i = 0; ok && something_ran(&t) && i < t.n; i++)
        (options->exercise && !t.subjects[i].block->is_property ? report_exercise : report_subject)(&t, &t.subjects[i],
                                                                                                    counts);
    int unusable = t.device.unusable;
    watch_stop(t.watch);
    for (uint32_t i = 0; i < t.n; i++)
        free_subject(&t.subjects[i]);
    device_close(&t.device);
    compilation_destroy(t.c);
    arena_destroy(t.arena);
    return !ok ? (t.status ? t.status : EXIT_USAGE) : unusable ? unusable : counts->failed ? EXIT_PROGRAM : EXIT_OK;
}
