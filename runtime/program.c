/* dp_main: what an executable made by `dpc build` does. Options, arguments, runs, result, exit status.
 *
 * All of it runs on a thread of its own with a large stack, for recursion at depth 0 is the host's, and opening a
 * device and building kernels take as much as they like. After a failure of the run nothing is written to the
 * output. */
#include "dp_activity.h"
#include "dp_args.h"
#include "dp_options.h"
#include "dp_output.h"
#include "dp_status.h"
#include "internal.h"
#include "run_limits.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 1024, MOST_RUNS = 1000000000 };

typedef struct Options {
    const char *entry, *output, *times, *batch;
    DpOpenOptions open;
    uint64_t runs;  /* 0: -r was not given */
    double timeout; /* seconds; 0: no limit */
    bool list, help, version, params_help;
    bool json;         /* of the profile */
    const char *trace; /* its timeline's file; or NULL */
    char *tune;        /* the text of --tune; owned */
} Options;

/* What the last run took. */
typedef struct RunFacts {
    uint64_t launches, read_backs, stored;
} RunFacts;

typedef struct Session {
    const DpProgram *program;
    const DpEntry *entry;
    Options options;
    int argc;
    char **argv;
    const char *name; /* of the executable */
    DpRt *rt;
    FILE *report;   /* of the profile */
    bool no_result; /* without --output it is not written */
    DpOutput times; /* file: NULL without -t */
    DpOutput trace; /* likewise, of the timeline */
    DpType **types; /* of the parameters */
    DpType *result_type;
    DpLeaf *args, *results;
    RunFacts facts;
    uintptr_t stack_end; /* of the thread that runs */
    bool lost;           /* the device */
    int status;
} Session;

/* ---- options ---- */
static int usage(const char *format, const char *what)
{
    fprintf(stderr, format, what);
    fprintf(stderr, "; --help shows the options\n");
    return EXIT_USAGE;
}

static void print_help(const DpProgram *p, const char *name)
{
    printf("Usage: %s [OPTION]... [ARG]...\n\n", name);
    for (uint32_t i = 0; i < p->nentries; i++)
        printf("  entry %s\n", p->entries[i].signature);
    putchar('\n');
    dp_print_wrapped(
        stdout,
        "An ARG is a literal or the name of a file, in the format of its ending or a prefix (csv:FILE); - is "
        "standard input, as are those left out. Options stand anywhere; -- ends them. Numbers such as -3 are "
        "arguments.",
        0, 0);
    putchar('\n');
    dp_options_print(stdout, dp_program_options, DP_OPTIONS, DP_IN_PROGRAM);
}

/* The options of which a value has to be made. */
static int parse_values(Options *o, const char *const *given)
{
    char error[MESSAGE_BYTES];
    const char *runs = given[DP_OPTION_RUNS];
    if (runs && (!dp_parse_count(runs, MOST_RUNS, &o->runs) || o->runs == 0))
        return usage("error: --runs takes a number of runs, not %s", runs);
    bool ok = dp_parse_limits(given[DP_OPTION_TIMEOUT], given[DP_OPTION_MEMORY], &o->timeout, &o->open.memory, error,
                              sizeof error) &&
              (o->params_help || dp_params_check(o->open.params, error, sizeof error));
    return ok ? 0 : usage("error: %s", error);
}

/* --tune, else what the program was made with. */
static int choose_tune(Session *s, const char *const *given)
{
    Options *o = &s->options;
    char error[MESSAGE_BYTES];
    const char *name = given[DP_OPTION_TUNE];
    if (given[DP_OPTION_NO_TUNE])
        return name ? usage("error: --tune goes with no %s", "--no-tune") : 0;
    o->open.tune = s->program->tune;
    if (!name)
        return 0;
    o->tune = dp_tune_load(name, error, sizeof error);
    o->open.tune = (DpTune){name, o->tune};
    o->open.tune_required = true;
    if (!o->tune)
        fprintf(stderr, "error: %s\n", error);
    return o->tune ? 0 : EXIT_USAGE;
}

/* The arguments are then argv[1..argc]. */
static int parse_options(Session *s)
{
    Options *o = &s->options;
    const char *given[DP_OPTIONS] = {NULL}, *profile;
    char error[MESSAGE_BYTES];
    s->argc =
        dp_options_parse(dp_program_options, DP_OPTIONS, DP_IN_PROGRAM, s->argc, s->argv, given, error, sizeof error);
    if (s->argc < 0)
        return usage("error: %s", error);
    profile = given[DP_OPTION_PROFILE];
    *o = (Options){.entry = given[DP_OPTION_ENTRY],
                   .output = given[DP_OPTION_OUTPUT],
                   .times = given[DP_OPTION_TIMES],
                   .batch = given[DP_OPTION_BATCH],
                   .open = {.device = given[DP_OPTION_DEVICE],
                            .platform = given[DP_OPTION_PLATFORM],
                            .profile = profile != NULL,
                            .params = given[DP_OPTION_PARAM]},
                   .list = given[DP_OPTION_LIST_DEVICES] != NULL,
                   .help = given[DP_OPTION_HELP] != NULL,
                   .version = given[DP_OPTION_VERSION] != NULL,
                   .params_help = given[DP_OPTION_PARAM] && strcmp(given[DP_OPTION_PARAM], "help") == 0};
    if (profile && !dp_profile_form(profile, &o->json, &o->trace))
        return usage("error: --profile takes json, trace:FILE or json,trace:FILE, not %s", profile);
    int status = parse_values(o, given);
    status = status ? status : choose_tune(s, given);
    if (status)
        return status;
    if (o->batch && (o->entry || o->output || o->times || o->runs || s->argc > 0))
        return usage("error: --batch goes with no %s", "entry, argument, output or number of runs");
    if (o->times && o->output && dp_output_same(o->times, dp_file_path(o->output)))
        return usage("error: -o and -t would write the same file: %s", o->times);
    const char *others[] = {o->times, o->output ? dp_file_path(o->output) : NULL};
    for (int i = 0; o->trace && i < 2; i++)
        if (others[i] && dp_output_same(o->trace, others[i]))
            return usage("error: the timeline would be in the same file as something else: %s", o->trace);
    return 0;
}

static int out_of_memory(void)
{
    fputs("error: out of memory\n", stderr);
    return EXIT_MEMORY;
}

/* --entry, else main, else the only one. */
static int choose_entry(Session *s)
{
    const DpProgram *p = s->program;
    const char *name = s->options.entry ? s->options.entry : "main";
    for (uint32_t i = 0; i < p->nentries; i++)
        if (strcmp(p->entries[i].name, name) == 0)
            s->entry = &p->entries[i];
    if (!s->entry && !s->options.entry && p->nentries == 1)
        s->entry = &p->entries[0];
    return s->entry ? 0 : usage("error: there is no entry %s", name);
}

/* ---- arguments ---- */
static uint32_t count_leaves(const Session *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->entry->nparams; i++)
        n += dp_type_leaves(s->types[i]);
    return n;
}

static bool parse_types(Session *s)
{
    const DpEntry *e = s->entry;
    s->types = calloc(e->nparams + 1, sizeof *s->types);
    s->result_type = dp_type_parse(e->result_type);
    bool ok = s->types && s->result_type;
    for (uint32_t i = 0; ok && i < e->nparams; i++)
        ok = (s->types[i] = dp_type_parse(e->param_types[i])) != NULL;
    return ok && count_leaves(s) == e->nargs && dp_type_leaves(s->result_type) == e->nresults;
}

static int read_arguments(Session *s)
{
    const DpEntry *e = s->entry;
    char error[MESSAGE_BYTES];
    errno = 0;
    if (!parse_types(s)) {
        if (errno == ENOMEM)
            return out_of_memory();
        fprintf(stderr, "%s: error: the types of entry %s are malformed\n", s->program->file, e->name);
        return EXIT_USAGE;
    }
    if (s->options.output && !dp_output_format_known(s->options.output, s->result_type, error, sizeof error)) {
        fprintf(stderr, "error: %s\n", error);
        return EXIT_USAGE;
    }
    s->args = calloc(e->nargs + 1, sizeof *s->args);
    s->results = calloc(e->nresults + 1, sizeof *s->results);
    DpParam *params = calloc(e->nparams + 1, sizeof *params);
    if (!s->args || !s->results || !params) {
        free(params);
        return out_of_memory();
    }
    DpLeaf *leaves = s->args;
    for (uint32_t i = 0; i < e->nparams; i++) {
        params[i] = (DpParam){e->param_names[i], s->types[i], leaves, s->options.batch != NULL};
        leaves += dp_type_leaves(s->types[i]);
    }
    bool ok = dp_read_args(s->argc, s->argv + 1, params, e->nparams, error, sizeof error);
    ExitStatus status = ok ? EXIT_OK : dp_read_status();
    free(params);
    if (status)
        fprintf(stderr, "error: %s\n", error);
    return (int)status;
}

/* ---- runs ---- */
/* Uploads the arguments, for a run takes them over; returns its time. */
static double run_once(Session *s, DpArg *args, DpArg *results)
{
    dp_upload_args(s->rt, s->entry, s->args, args);
    dp_settle(s->rt);
    Profile *p = &s->rt->profile;
    p->launches = p->looks = p->blocks = 0;
    double start = dp_profile_now();
    dp_span_begin(s->rt, &(DpSpan){.name = s->entry->name});
    dp_run(s->rt, s->entry, args, results);
    dp_check(s->rt);
    dp_span_end(s->rt);
    double us = dp_profile_now() - start;
    s->facts = (RunFacts){p->launches, p->looks, p->blocks};
    return us;
}

/* What has failed below; the status. */
static int report_failure(const Session *s)
{
    const DpFailure failure = dp_failure(s->rt);
    if (failure.log)
        fprintf(stderr, "%s\n", failure.log);
    fprintf(stderr, "%s\n", failure.message);
    return failure.status;
}

static int run_all(Session *s)
{
    DpArg *args = calloc(s->entry->nargs + 1, sizeof *args), *results = calloc(s->entry->nresults + 1, sizeof *results);
    int status = args && results ? 0 : EXIT_MEMORY;
    uint64_t runs = s->options.runs ? s->options.runs + 1 : 1; /* with -r the first one warms up */
    dp_leaves_init(s->results, s->result_type);
    dp_activity("running");
    if (!status && runs > 1)
        dp_keep_args(s->rt, s->entry, s->args);
    for (uint64_t i = 0; !status && !dp_failed(s->rt) && i < runs; i++) {
        double us = run_once(s, args, results);
        if (i == 0 && runs > 1)
            dp_profile_restart(s->rt);
        if (s->times.file && (i > 0 || runs == 1))
            fprintf(s->times.file, "%.1f\n", us);
        if (i + 1 < runs)
            dp_release_results(s->rt, s->entry, s->results, results);
    }
    if (runs > 1)
        dp_profile_stop(s->rt);
    dp_forget_args(s->rt);
    if (!status) {
        dp_download_results(s->rt, s->entry, results, s->results);
        dp_release_results(s->rt, s->entry, s->results, results);
    }
    dp_activity_end();
    free(args);
    free(results);
    if (dp_failed(s->rt))
        return report_failure(s);
    return status == EXIT_MEMORY ? out_of_memory() : status;
}

/* ---- results ---- */
static int cannot_write(const char *what)
{
    int status = (int)dp_write_status();
    fprintf(stderr, "error: %s: cannot write: %s\n", what, strerror(errno));
    return status;
}

static int write_result(Session *s)
{
    char error[MESSAGE_BYTES];
    const char *name = s->options.output ? s->options.output : "-";
    if (!s->options.output && s->no_result)
        return 0;
    if (!dp_write_file(name, s->result_type, s->results, error, sizeof error)) {
        int status = (int)dp_write_status();
        fprintf(stderr, "error: %s\n", error);
        return status;
    }
    return dp_stream_done(stdout) ? 0 : cannot_write("standard output");
}

/* Before the run, which may take long. */
static int open_output(DpOutput *out, const char *name)
{
    return !name || dp_output_open(out, name, 0666) ? 0 : cannot_write(name);
}

static int close_output(DpOutput *out, const char *name, int status)
{
    if (out->file && status)
        dp_output_discard(out);
    else if (out->file && !dp_output_close(out))
        status = cannot_write(name);
    return status;
}

static int write_profile(Session *s, int status)
{
    const bool whole = dp_profile_print(s->rt, s->options.json, s->options.runs ? s->options.runs : 1, s->report);
    const bool there = dp_stream_done(s->report);
    if (s->trace.file)
        dp_timeline_print(s->rt, s->entry->name, s->trace.file);
    if (status)
        return status;
    return !whole ? out_of_memory() : there ? 0 : EXIT_OUTPUT;
}

static void prepare_process(void)
{
    if (!dp_process_prepare())
        fputs("note: no folder for built kernels in HOME, XDG_CACHE_HOME or TMPDIR can be used: each run "
              "builds its own\n",
              stderr);
}

static int open_runtime(Session *s)
{
    DpOpenError error;
    prepare_process();
    s->options.open.optimised = s->options.open.profile || s->options.runs;
    s->rt = dp_rt_open(s->program, &s->options.open, &error);
    if (s->rt) {
        dp_set_stack(s->rt, s->stack_end);
        if (dp_tune_note(s->rt))
            fprintf(stderr, "note: %s\n", dp_tune_note(s->rt));
        return 0;
    }
    fprintf(stderr, "error: %s\n", error.text);
    return error.status;
}

/* A device that has failed may not end what it does, nor bear being closed: then the process just ends, see dp_main. */
static void close_runtime(Session *s)
{
    s->lost = dp_failure(s->rt).status == EXIT_DEVICE;
    if (!s->lost)
        dp_rt_close(s->rt);
}

static int run_session(Session *s)
{
    double begin = dp_profile_now();
    int status = choose_entry(s);
    status = status ? status : read_arguments(s);
    double read = dp_profile_now();
    status = status ? status : open_output(&s->times, s->options.times);
    status = status ? status : open_output(&s->trace, s->options.trace);
    status = status ? status : open_runtime(s);
    if (status)
        return status;
    dp_profile_start(s->rt, begin, read, s->trace.file != NULL);
    status = run_all(s);
    dp_profile_switch(s->rt, PHASE_WRITING);
    status = status ? status : write_result(s);
    if (s->options.open.profile && !dp_failed(s->rt))
        status = write_profile(s, status);
    close_runtime(s);
    return status;
}

static void free_values(Session *s)
{
    if (s->args)
        dp_leaves_free(s->args, s->entry->nargs);
    if (s->results)
        dp_leaves_free(s->results, s->entry->nresults);
    for (uint32_t i = 0; s->types && i < s->entry->nparams; i++)
        dp_type_free(s->types[i]);
    dp_type_free(s->result_type);
    free(s->types);
    free(s->args);
    free(s->results);
    s->types = NULL;
    s->result_type = NULL;
    s->args = s->results = NULL;
}

/* ---- batches ---- */
enum { CASE_INPUT, CASE_OUTPUT, CASE_FACTS, CASE_WORDS };
/* "entry, input, output, facts": the words behind the tabs. */
static bool split_case(char *line, char **words)
{
    line[strcspn(line, "\n")] = 0;
    for (int i = 0; i < CASE_WORDS; i++) {
        line = strchr(line, '\t');
        if (!line)
            return false;
        *line++ = 0;
        words[i] = line;
    }
    return true;
}

/* What `-- expect` of `dpc test` compares. */
static int write_facts(const Session *s, const char *path)
{
    FILE *out = fopen(path, "w");
    bool ok = out && fprintf(out, "%d %u %llu %llu %llu\n", s->rt->gpu, s->program->nkernels,
                             (unsigned long long)s->facts.launches, (unsigned long long)s->facts.read_backs,
                             (unsigned long long)s->facts.stored) > 0;
    return (out ? fclose(out) == 0 : ok) && ok ? 0 : cannot_write(path);
}

static int run_case(Session *s, char *line)
{
    char *words[CASE_WORDS];
    if (!split_case(line, words) || !freopen(words[CASE_INPUT], "r", stdin))
        return usage("error: the batch has no such case: %s", line);
    s->argc = 0;
    s->entry = NULL;
    s->options.entry = line;
    s->options.output = words[CASE_OUTPUT];
    dp_limit_time(s->options.timeout);
    int status = choose_entry(s);
    status = status ? status : read_arguments(s);
    status = status ? status : run_all(s);
    status = status ? status : write_facts(s, words[CASE_FACTS]);
    status = status ? status : write_result(s);
    dp_limit_time(0);
    free_values(s);
    return status;
}

/* Cases one after another on one open device; the first that fails ends the process, as any run. */
static int run_batch(Session *s)
{
    FILE *list = fopen(s->options.batch, "r");
    if (!list)
        return usage("error: cannot read %s", s->options.batch);
    char *line = NULL;
    size_t room = 0;
    int status = open_runtime(s);
    while (!status && getline(&line, &room, list) > 0)
        status = run_case(s, line);
    if (!status && ferror(list))
        status = usage("error: cannot read %s", s->options.batch);
    free(line);
    fclose(list);
    if (s->rt)
        close_runtime(s);
    return status;
}

static int list_devices(void)
{
    prepare_process();
    const char *why;
    if (dp_device_list(stdout, &why))
        return 0;
    fprintf(stderr, "error: %s\n", why);
    return EXIT_DEVICE;
}

static int run_program(Session *s)
{
    const Options *o = &s->options;
    if (o->help) {
        print_help(s->program, s->name);
        return 0;
    }
    if (o->version) {
        printf("%s, a DP program, made by dpc %s\n", s->program->file, DPC_VERSION);
        return 0;
    }
    if (o->params_help) {
        dp_params_print(stdout);
        return 0;
    }
    if (o->list)
        return list_devices();
    dp_activity_start();
    if (o->open.memory && !dp_limit_memory(o->open.memory))
        return out_of_memory();
    if (o->batch)
        return run_batch(s);
    dp_limit_time(o->timeout);
    const int status = close_output(&s->trace, o->trace, run_session(s));
    return close_output(&s->times, o->times, status);
}

static void run_options(void *data, uintptr_t stack_end)
{
    Session *s = data;
    s->stack_end = stack_end;
    s->status = parse_options(s);
    s->status = s->status ? s->status : run_program(s);
    if (!dp_stream_done(stdout) && !s->status)
        s->status = cannot_write("standard output");
}

static int run_main(Session s)
{
    const DpProgram *program = s.program;
    dp_streams_guard();
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error of writing */
    if (program->version != DP_RT_VERSION) {
        fprintf(stderr, "error: the program was made for version %u of the runtime, this is version %u\n",
                program->version, DP_RT_VERSION);
        return EXIT_USAGE;
    }
    dp_stack_prepare();
    if (!dp_stack_run(run_options, &s)) {
        fputs("error: no thread to run on\n", stderr);
        return EXIT_MEMORY;
    }
    free_values(&s);
    free(s.options.tune);
    dp_process_end();
    if (s.lost)
        _exit(s.status);
    return s.status;
}

int dp_main(int argc, char **argv, const DpProgram *program)
{
    return run_main((Session){.program = program, .argc = argc, .argv = argv, .name = argv[0], .report = stderr});
}

int dp_profile_main(int argc, char **argv, const DpProgram *program)
{
    return run_main((Session){
        .program = program, .argc = argc, .argv = argv, .name = argv[0], .report = stdout, .no_result = true});
}
