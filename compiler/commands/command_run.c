/* dpc build, run, check, dump and devices. */
#include "commands/commands.h"
#include "dp_activity.h"
#include "dp_args.h"
#include "dp_output.h"
#include "dp_rt.h"
#include "params.h"
#include "driver/in_process.h"
#include "driver/toolchain.h"
#include "support/memory.h"
#include "trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files ---- */

char *name_without_ending(Arena *arena, const char *path)
{
    size_t n = strlen(path);
    bool is_dp = n > 3 && strcmp(path + n - 3, ".dp") == 0 && path[n - 4] != '/';
    return is_dp ? arena_strndup(arena, path, n - 3) : NULL;
}

int temporary_failed(Compilation *c)
{
    int status = (int)dp_write_status();
    report_error(c->session, "cannot make a temporary folder in %s: %s", temp_folder_base(), strerror(errno));
    return status;
}

bool replaces_source(Compilation *c, const char *output)
{
    for (uint32_t i = 0; i < c->session->files.n; i++) {
        const SourceFile *file = c->session->files.at[i];
        if (!file->is_stdlib && dp_output_replaces(output, file->path)) {
            report_error(c->session, "the output %s would replace the program's file %s", output, file->path);
            return true;
        }
    }
    return false;
}

/* ---- dpc build ---- */

int install_file(Compilation *c, const char *program, const char *output, unsigned mode)
{
    char part[1 << 14];
    DpOutput out;
    FILE *in = fopen(program, "rb");
    bool opened = in && dp_output_open(&out, output, mode), ok = opened;
    for (size_t n; ok && (n = fread(part, 1, sizeof part, in)) > 0;)
        ok = fwrite(part, 1, n, out.file) == n;
    ok = ok && !ferror(in);
    if (opened && !ok)
        dp_output_discard(&out);
    ok = ok && dp_output_close(&out);
    int status = ok ? EXIT_OK : (int)dp_write_status();
    if (!ok)
        report_error(c->session, "%s: cannot write: %s", output, strerror(errno));
    if (in)
        fclose(in);
    return status;
}

static int build_in(Compilation *c, const TempFolder *folder, const char *output)
{
    char program[sizeof folder->path + 16];
    temp_folder_file(folder, "program", program, sizeof program);
    int status = toolchain_build(c, folder, program);
    return status ? status : install_file(c, program, output, 0777);
}

bool has_entry(Compilation *c)
{
    if (c->core->entries.n == 0)
        report_error(c->session, "%s has no entry: nothing can be run", c->path);
    return c->core->entries.n > 0;
}

/* --remarks, of a program that has reached its plan. */
static void print_remarks(Compilation *c, const char *form)
{
    StrBuf text = {0};
    plan_remarks(&text, c->plan, *form != '\0');
    if (text.n)
        fwrite(text.text, 1, text.n, stdout);
    strbuf_free(&text);
}

bool take_tune(Compilation *c, const char *given)
{
    char *stem = name_without_ending(c->session->arena, c->path), error[512];
    const char *beside = stem ? arena_printf(c->session->arena, "%s.tune", stem) : NULL;
    const char *name = given ? given : beside && access(beside, F_OK) == 0 ? beside : NULL;
    if (!name)
        return true;
    char *text = dp_tune_load(name, error, sizeof error);
    if (text)
        c->tune = (DpTune){name, arena_strndup(c->session->arena, text, strlen(text))};
    else
        report_error(c->session, "%s", error);
    free(text);
    return c->tune.text != NULL;
}

int command_build(const CommandLine *a)
{
    const char *file = a->words[0], *output = a->values[OPTION_EXECUTABLE];
    int status = EXIT_USAGE;
    Compilation *c = compilation_create(file);
    set_messages(c->session, a->messages);
    if (!output)
        output = name_without_ending(c->session->arena, file);
    TempFolder folder;
    if (!output) {
        usage_error("%s does not end in .dp: name the executable with -o", file);
    } else if (compile_to(c, STAGE_FLAT) && has_entry(c) && !replaces_source(c, output) &&
               (a->values[OPTION_BUILD_NO_TUNE] || take_tune(c, a->values[OPTION_BUILD_TUNE]))) {
        if (temp_folder_create(&folder)) {
            status = build_in(c, &folder, output);
            temp_folder_remove(&folder);
        } else {
            status = temporary_failed(c);
        }
        if (status == EXIT_OK && a->values[OPTION_REMARKS])
            print_remarks(c, a->values[OPTION_REMARKS]);
    }
    compilation_destroy(c);
    return status;
}

/* ---- dpc run, on a device ---- */

Compilation *create_program(const CommandLine *a)
{
    Compilation *c = compilation_create(a->parts ? a->parts[a->nparts - 1].path : a->words[0]);
    c->parts = a->parts;
    c->nparts = a->nparts;
    set_messages(c->session, a->messages);
    return c;
}

char **program_words(Arena *arena, const char *program, const CommandLine *a)
{
    char **words = arena_array(arena, char *, DP_OPTIONS + a->n + 2);
    int n = 0;
    words[n++] = arena_printf(arena, "%s", program);
    for (int i = 0; i < DP_OPTIONS; i++)
        if (a->values[i])
            words[n++] =
                arena_printf(arena, "--%s%s%s", option_table[i].name, a->values[i][0] ? "=" : "", a->values[i]);
    words[n++] = arena_printf(arena, "--");
    for (int i = 1; i < a->n; i++)
        words[n++] = a->words[i];
    return words;
}

bool outputs_are_free(Compilation *c, const CommandLine *a)
{
    const char *output = a->values[DP_OPTION_OUTPUT], *times = a->values[DP_OPTION_TIMES];
    const char *trace = a->values[OPTION_TRACE], *form = a->values[DP_OPTION_PROFILE], *timeline = NULL;
    bool json;
    if (form && dp_profile_form(form, &json, &timeline) && timeline && replaces_source(c, timeline))
        return false;
    return !(output && replaces_source(c, dp_file_path(output))) && !(times && replaces_source(c, times)) &&
           !(trace && replaces_source(c, trace));
}

/* The program itself reads what --tune says. */
static bool take_tune_beside(Compilation *c, const CommandLine *a)
{
    return a->values[DP_OPTION_TUNE] || a->values[DP_OPTION_NO_TUNE] || take_tune(c, NULL);
}

int run_status(Compilation *c, const char *program, int status)
{
    if (status < 0)
        report_error(c->session, "cannot run %s: %s", program, strerror(errno));
    return status < 0 ? EXIT_USAGE : status;
}

bool wants_flat_nests(const char *params)
{
    DpTunings p = {{false}, {0}};
    char unused[256]; /* whoever opens a device says what is wrong */
    return dp_params_read(&p, getenv("DP_PARAMS"), unused, sizeof unused) &&
           dp_params_read(&p, params, unused, sizeof unused) && p.value[PARAM_NEST] == NEST_FLAT;
}

static int trace_failed(Compilation *c, const char *path)
{
    int status = (int)dp_write_status();
    report_error(c->session, "%s: cannot write: %s", path, strerror(errno));
    return status;
}

/* Another file than the result's? Else a message says so. */
static bool trace_file_is_free(Compilation *c, const CommandLine *a)
{
    const char *path = a->values[OPTION_TRACE], *output = a->values[DP_OPTION_OUTPUT];
    if (!output || !dp_output_same(dp_file_path(output), path))
        return true;
    report_error(c->session, "the result and the trace would both be %s", path);
    return false;
}

/* By the plan, in a process of its own, which writes the trace, if there is to be one. */
static int run_plan_traced(Compilation *c, const CommandLine *a)
{
    const char *path = a->values[OPTION_TRACE];
    char **words = program_words(c->session->arena, c->path, a);
    DpOutput out;
    Trace trace;
    if (!path)
        return run_status(c, c->path, run_in_process(c, words, (ProcessOptions){0}));
    if (!trace_file_is_free(c, a))
        return EXIT_USAGE;
    if (!dp_output_open(&out, path, 0666))
        return trace_failed(c, path);
    trace_start(&trace, c->session, out.file);
    c->plan->trace = &trace;
    int status = run_status(c, c->path, run_in_process(c, words, (ProcessOptions){0}));
    trace_free(&trace);
    if (status == EXIT_USAGE || status == EXIT_DEVICE) /* nothing has been run */
        dp_output_discard(&out);
    else if (!dp_output_close(&out))
        return trace_failed(c, path);
    return status;
}

/* On a device, by the plan. */
static int run_plan(const CommandLine *a)
{
    Compilation *c = create_program(a);
    c->flat_nests = wants_flat_nests(a->values[DP_OPTION_PARAM]);
    int status = EXIT_USAGE;
    if (compile_to(c, STAGE_PLAN) && has_entry(c) && outputs_are_free(c, a) && take_tune_beside(c, a))
        status = run_plan_traced(c, a);
    compilation_destroy(c);
    return status;
}

static int run_executable_in(Compilation *c, const TempFolder *folder, const CommandLine *a)
{
    char program[sizeof folder->path + 16];
    temp_folder_file(folder, "program", program, sizeof program);
    int status = toolchain_build(c, folder, program);
    if (status)
        return status;
    char **words = program_words(c->session->arena, program, a);
    return run_status(c, program, process_run(words, (ProcessOptions){0}));
}

/* By the executable that dpc build makes. */
static int run_executable(const CommandLine *a)
{
    Compilation *c = create_program(a);
    c->flat_nests = wants_flat_nests(a->values[DP_OPTION_PARAM]);
    TempFolder folder;
    int status = EXIT_USAGE;
    if (compile_to(c, STAGE_FLAT) && has_entry(c) && outputs_are_free(c, a) && take_tune_beside(c, a)) {
        if (temp_folder_create(&folder)) {
            status = run_executable_in(c, &folder, a);
            temp_folder_remove(&folder);
        } else {
            status = temporary_failed(c);
        }
    }
    compilation_destroy(c);
    return status;
}

/* ---- dpc run --eval ---- */

static int print_entries(const Compilation *c)
{
    for (uint32_t i = 0; i < c->core->entries.n; i++)
        printf("entry %s\n", c->core->entries.at[i].signature);
    return EXIT_OK;
}

int read_arguments(Compilation *c, const EntryTypes *t, const CommandLine *a, DpLeaf *leaves)
{
    DpParam *params = memory_alloc((size_t)t->entry->nparams + 1, sizeof *params);
    char error[512];
    for (uint32_t i = 0; i < t->entry->nparams; i++) {
        params[i] = (DpParam){t->entry->param_names[i], t->params[i], leaves, false};
        leaves += dp_type_leaves(t->params[i]);
    }
    bool ok = dp_read_args(a->n - 1, a->words + 1, params, t->entry->nparams, error, sizeof error);
    int status = ok ? EXIT_OK : (int)dp_read_status();
    if (!ok)
        report_error(c->session, "%s", error);
    free(params);
    return status;
}

static int write_result(Compilation *c, const EntryTypes *t, const CommandLine *a, const DpLeaf *result)
{
    const char *output = a->values[DP_OPTION_OUTPUT];
    char error[512];
    if (dp_write_file(output ? output : "-", t->result, result, error, sizeof error))
        return EXIT_OK;
    int status = (int)dp_write_status();
    report_error(c->session, "%s", error);
    return status;
}

static int eval_with(Compilation *c, const EntryTypes *t, const CommandLine *a, DpLeaf *args, DpLeaf *result)
{
    EvalError error;
    int read = read_arguments(c, t, a, args);
    if (read)
        return read;
    dp_activity("running");
    bool ok = entry_eval(c, t, args, result, &error);
    dp_activity_end();
    dp_leaves_free(args, entry_arg_leaves(t));
    if (ok)
        return EXIT_OK;
    compilation_report(c, &error);
    return error.kind == EVAL_NO_MEMORY ? EXIT_MEMORY : error.kind == EVAL_NO_TIME ? EXIT_TIME : EXIT_PROGRAM;
}

int eval_entry(Compilation *c, const EntryTypes *t, const CommandLine *a, DpLeaf *result)
{
    DpLeaf *args = memory_alloc((size_t)entry_arg_leaves(t) + 1, sizeof *args);
    int status = eval_with(c, t, a, args, result);
    free(args);
    return status;
}

const char *entry_name(const Compilation *c, const CommandLine *a)
{
    const char *entry = a->values[DP_OPTION_ENTRY];
    if (entry || compilation_entry(c, "main") || c->core->entries.n != 1)
        return entry ? entry : "main";
    return c->core->entries.at[0].name;
}

static int run_entry(Compilation *c, const CommandLine *a)
{
    EntryTypes t;
    if (!entry_types_make(&t, c, entry_name(c, a)))
        return EXIT_USAGE;
    const char *output = a->values[DP_OPTION_OUTPUT];
    char error[512];
    if (output && !dp_output_format_known(output, t.result, error, sizeof error)) {
        report_error(c->session, "%s", error);
        entry_types_free(&t);
        return EXIT_USAGE;
    }
    DpLeaf *result = memory_alloc(dp_type_leaves(t.result), sizeof *result);
    int status = eval_entry(c, &t, a, result);
    if (status == EXIT_OK) {
        status = write_result(c, &t, a, result);
        dp_leaves_free(result, dp_type_leaves(t.result));
    }
    free(result);
    entry_types_free(&t);
    return status;
}

/* What an interpreter cannot serve. */
static int refuse_options(const char *const *given, Stage stage)
{
    for (int i = 0; i < DP_OPTIONS; i++)
        if (given[i] && option_table[i].scope & DP_ON_DEVICE)
            return usage_error("--%s is about a device, and --eval=%s uses none", option_table[i].name,
                               stage_name(stage));
    return EXIT_OK;
}

/* Runs the entry, with a trace where one is wanted. What fails leaves one, too, if it has begun. */
static int run_traced(Compilation *c, const CommandLine *a)
{
    const char *path = a->values[OPTION_TRACE];
    DpOutput out;
    Trace trace;
    if (!path)
        return run_entry(c, a);
    if (!trace_file_is_free(c, a))
        return EXIT_USAGE;
    if (!dp_output_open(&out, path, 0666))
        return trace_failed(c, path);
    trace_start(&trace, c->session, out.file);
    c->limits.trace = &trace;
    int status = run_entry(c, a);
    const bool begun = trace.events > 0;
    trace_free(&trace);
    if (!begun)
        dp_output_discard(&out);
    else if (!dp_output_close(&out))
        return trace_failed(c, path);
    return status;
}

static int run_interpreted(Stage stage, const CommandLine *a)
{
    RunLimits limits;
    int status = refuse_options(a->values, stage);
    if (status == EXIT_OK)
        status = read_limits(&limits, a->values[DP_OPTION_TIMEOUT], a->values[DP_OPTION_MEMORY]);
    if (status)
        return status;
    Compilation *c = create_program(a);
    c->limits = limits.eval;
    if (!compile_to(c, stage) || !has_entry(c) || !outputs_are_free(c, a))
        status = EXIT_USAGE;
    else if (a->values[DP_OPTION_HELP] || a->values[DP_OPTION_VERSION])
        status = print_entries(c);
    else
        status = run_traced(c, a);
    compilation_destroy(c);
    return status;
}

Stage evaluator_stage(const char *name, size_t n)
{
    for (Stage s = STAGE_CORE; s <= STAGE_PLAN; s++)
        if (s != STAGE_LOWERED && n == strlen(stage_name(s)) && memcmp(name, stage_name(s), n) == 0)
            return s;
    return STAGE_NONE;
}

int command_run(const CommandLine *a)
{
    const char *eval = a->values[OPTION_EVAL];
    Stage stage = eval ? evaluator_stage(eval, strlen(eval)) : STAGE_PLAN;
    if (a->values[OPTION_TRACE] && stage == STAGE_NONE)
        return usage_error("an executable writes no trace: --trace goes with --eval=core, fused, flat or plan");
    if (stage == STAGE_PLAN)
        return run_plan(a); /* its process says what is going on */
    dp_activity_start();
    return stage ? run_interpreted(stage, a) : run_executable(a);
}

/* ---- dpc check, dump, devices ---- */

int command_check(const CommandLine *a)
{
    int status = EXIT_OK;
    for (int i = 0; i < a->n; i++) {
        Compilation *c = compilation_create(a->words[i]);
        set_messages(c->session, a->messages);
        if (!compile_to(c, STAGE_PLAN))
            status = EXIT_USAGE;
        else if (a->values[OPTION_REMARKS])
            print_remarks(c, a->values[OPTION_REMARKS]);
        compilation_destroy(c);
    }
    return status;
}

static int dump_stage(Stage stage, const char *file, MessageOptions messages)
{
    Compilation *c = compilation_create(file);
    set_messages(c->session, messages);
    StrBuf text = {0};
    bool ok = compile_to(c, stage);
    if (ok)
        compilation_print(&text, c, stage);
    ok = ok && c->session->error_count == 0;
    report_diagnostics(c->session);
    if (ok && text.n)
        fwrite(text.text, 1, text.n, stdout);
    strbuf_free(&text);
    compilation_destroy(c);
    return ok ? EXIT_OK : EXIT_USAGE;
}

/* The program before the pass, or after it. */
typedef struct PassDump {
    const Compilation *c;
    const char *wanted;
    bool after, found;
    StrBuf text; /* of the program, before the pass or after it */
} PassDump;

static bool keep_text(void *ctx, const char *pass)
{
    PassDump *d = ctx;
    d->found = strcmp(pass, d->wanted) == 0;
    if (d->found == d->after) {
        d->text.n = 0;
        compilation_print_now(&d->text, d->c);
    }
    return !d->found;
}

static int dump_pass(const char *wanted, bool after, const CommandLine *a)
{
    StrBuf names = {0};
    if (!pass_exists(wanted)) {
        pass_names(&names);
        fprintf(stderr, "dpc: error: there is no pass `%s`; in order they are\n%s", wanted, names.text);
        strbuf_free(&names);
        return EXIT_USAGE;
    }
    Compilation *c = compilation_create(a->words[0]);
    PassDump d = {.c = c, .wanted = wanted, .after = after};
    set_messages(c->session, a->messages);
    const bool ok = compile_seen(c, STAGE_HOST, keep_text, &d);
    if (ok && d.text.n)
        fwrite(d.text.text, 1, d.text.n, stdout);
    strbuf_free(&d.text);
    compilation_destroy(c);
    return ok ? EXIT_OK : EXIT_USAGE;
}

int command_dump(const CommandLine *a)
{
    const char *before = a->values[OPTION_BEFORE], *after = a->values[OPTION_AFTER];
    if (before || after)
        return dump_pass(before ? before : after, after != NULL, a);
    const char *stage = a->values[OPTION_STAGE];
    return stage ? dump_stage(stage_find(stage), a->words[0], a->messages)
                 : usage_error("dpc dump takes --stage=S: %s; or --before=PASS or --after=PASS",
                               option_table[OPTION_STAGE].choices);
}

/* The runtime library knows the devices; a program without entries asks it. */
int command_devices(const CommandLine *a)
{
    (void)a;
    static const DpProgram nothing = {.version = DP_RT_VERSION, .file = "dpc"};
    char *words[] = {(char[]){"dpc"}, (char[]){"--list-devices"}, NULL};
    return dp_main(2, words, &nothing);
}
