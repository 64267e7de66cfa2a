/* dpc tune: measures the tuning parameters that matter for a program and its data, and writes f.tune. */
#include "commands/commands.h"
#include "dp_activity.h"
#include "dp_args.h"
#include "dp_output.h"
#include "dp_stack.h"
#include "opencl/program.h"
#include "support/memory.h"
#include "tuning/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct TuneJob {
    const CommandLine *a;
    Compilation *c;
    const char *output;
    EntryTypes types;
    DpLeaf *args;
    Tuner tuner;
    TuneSearch search;
    TuneFound found;
    int status;
} TuneJob;

/* ---- what is said ---- */

static void tell(void *listener, const TuneStep *step)
{
    TuneJob *job = listener;
    char setting[128];
    dp_activity_end();
    dp_params_print_setting(step->id, step->value, setting, sizeof setting);
    printf("  %-30s ", setting);
    if (step->verdict == TUNE_REFUSED && step->measured->outcome == TUNE_DIFFERS)
        printf("has another result: not taken\n");
    else if (step->verdict == TUNE_REFUSED)
        printf("fails: not taken\n    %s\n", job->tuner.failure);
    else
        printf("%10.1f us%s\n", step->measured->us, step->verdict == TUNE_TAKEN ? ", taken" : "");
    fflush(stdout);
    dp_activity("measuring");
}

/* ---- the file ---- */

static void print_file(FILE *out, const TuneJob *job)
{
    const TuneFound *f = &job->found;
    char setting[128];
    fprintf(out, "# dpc tune %s, entry %s: %.1f us, %.1f us without these\n", job->c->path, job->tuner.entry->name,
            f->last_us, f->first_us);
    fprintf(out, "device=%s\n# driver: %s\n", job->tuner.device, job->tuner.driver);
    for (DpTuning i = 0; i < PARAM_COUNT; i++) {
        if (!f->found[i])
            continue;
        dp_params_print_setting(i, f->value[i], setting, sizeof setting);
        fprintf(out, "%s # %.1f -> %.1f us\n", setting, f->before_us[i], f->after_us[i]);
    }
}

static int write_file(TuneJob *job)
{
    DpOutput out;
    bool opened = dp_output_open(&out, job->output, 0666);
    if (opened)
        print_file(out.file, job);
    if (opened && dp_output_close(&out)) {
        printf("%s: %.1f us, %.1f us without it%s\n", job->output, job->found.last_us, job->found.first_us,
               job->found.complete ? "" : "; the budget has ended the search");
        return EXIT_OK;
    }
    int status = (int)dp_write_status();
    report_error(job->c->session, "%s: cannot write: %s", job->output, strerror(errno));
    return status;
}

/* ---- the search ---- */

static void tune(TuneJob *job)
{
    tuner_start(&job->tuner);
    printf("%s of %s:\n", job->tuner.entry->name, job->c->path);
    dp_activity("measuring");
    TuneOutcome outcome = tune_search(&job->search, &job->found);
    dp_activity_end();
    if (outcome == TUNE_RUNS) {
        job->status = write_file(job);
    } else {
        fprintf(stderr, "%s\n", job->tuner.failure);
        job->status = job->tuner.status;
    }
    tuner_end(&job->tuner);
}

static void tune_on_stack(void *data, uintptr_t stack_end)
{
    TuneJob *job = data;
    job->tuner.stack_end = stack_end;
    tune(job);
}

static const DpEntry *find_entry(const DpProgram *p, const char *name)
{
    for (uint32_t i = 0; i < p->nentries; i++)
        if (strcmp(p->entries[i].name, name) == 0)
            return &p->entries[i];
    return NULL;
}

static void tune_entry(TuneJob *job)
{
    const char *const *given = job->a->values;
    const DpProgram *program = opencl_program(job->c->plan, job->c->path);
    job->tuner = (Tuner){.program = program,
                         .entry = find_entry(program, job->types.entry->name),
                         .args = job->args,
                         .result_type = job->types.result,
                         .open = {.device = given[DP_OPTION_DEVICE], .platform = given[DP_OPTION_PLATFORM]}};
    job->search.measure = tuner_measure;
    job->search.seconds = tuner_seconds;
    job->search.tell = tell;
    job->search.data = &job->tuner;
    job->search.listener = job;
    if (!dp_stack_run(tune_on_stack, job))
        tune_on_stack(job, 0);
    dp_process_end();
}

/* ---- options ---- */

static int read_options(TuneJob *job)
{
    const char *const *given = job->a->values;
    char error[256];
    job->search.budget = 60;
    if (given[OPTION_BUDGET] && !dp_parse_seconds(given[OPTION_BUDGET], &job->search.budget))
        return usage_error("--budget takes a number of seconds, not %s", given[OPTION_BUDGET]);
    const char *settings[] = {getenv("DP_PARAMS"), given[DP_OPTION_PARAM]};
    for (int i = 0; i < 2; i++)
        if (!dp_params_read(&job->search.fixed, settings[i], error, sizeof error))
            return usage_error("%s", error);
    return EXIT_OK;
}

static bool choose_output(TuneJob *job)
{
    char *stem = name_without_ending(job->c->session->arena, job->a->words[0]);
    job->output = job->a->values[OPTION_TUNE_FILE];
    if (!job->output && stem)
        job->output = arena_printf(job->c->session->arena, "%s.tune", stem);
    if (!job->output)
        usage_error("%s does not end in .dp: name the file with -o", job->a->words[0]);
    return job->output && !replaces_source(job->c, job->output);
}

static void tune_compiled(TuneJob *job)
{
    if (!entry_types_make(&job->types, job->c, entry_name(job->c, job->a)))
        return;
    const uint32_t leaves = entry_arg_leaves(&job->types);
    job->args = memory_alloc((size_t)leaves + 1, sizeof *job->args);
    job->status = read_arguments(job->c, &job->types, job->a, job->args);
    if (job->status == EXIT_OK) {
        tune_entry(job);
        dp_leaves_free(job->args, leaves);
    }
    free(job->args);
    entry_types_free(&job->types);
}

int command_tune(const CommandLine *a)
{
    TuneJob job = {.a = a};
    job.status = read_options(&job);
    if (job.status)
        return job.status;
    job.status = EXIT_USAGE;
    job.c = compilation_create(a->words[0]);
    set_messages(job.c->session, a->messages);
    dp_activity_start();
    if (compile_to(job.c, STAGE_PLAN) && has_entry(job.c) && choose_output(&job))
        tune_compiled(&job);
    compilation_destroy(job.c);
    return job.status;
}
