/* dpc: the command line. */
#include "commands/commands.h"
#include "driver/process.h"
#include "dp_guess.h"
#include "dp_output.h"
#include "dp_stack.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int usage_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "dpc: error: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nTry `dpc help`.\n");
    va_end(args);
    return EXIT_USAGE;
}

int read_limits(RunLimits *limits, const char *timeout, const char *memory)
{
    char error[256];
    *limits = (RunLimits){.timeout = timeout, .memory = memory};
    bool ok = dp_parse_limits(timeout, memory, &limits->eval.seconds, &limits->eval.bytes, error, sizeof error);
    return ok ? EXIT_OK : usage_error("%s", error);
}

int unknown_command(const char *name)
{
    size_t n = strlen(name);
    if (n > 3 && strcmp(name + n - 3, ".dp") == 0)
        return usage_error("%s is no command; did you mean `dpc run %s`?", name, name);
    DpGuess g = dp_guess_start(name);
    for (CommandId c = 0; c < COMMAND_COUNT; c++)
        dp_guess_consider(&g, command_table[c].name);
    return g.best ? usage_error("%s is no command; did you mean %s?", name, g.best)
                  : usage_error("%s is no command", name);
}

static int command_version(const CommandLine *a)
{
    (void)a;
    printf("dpc %s\n", DPC_VERSION);
    return EXIT_OK;
}

static int (*const runs[COMMAND_COUNT])(const CommandLine *a) = {
    [COMMAND_NEW] = command_new,
    [COMMAND_BUILD] = command_build,
    [COMMAND_LIBRARY] = command_library,
    [COMMAND_RUN] = command_run,
    [COMMAND_EVAL] = command_eval,
    [COMMAND_REPL] = command_repl,
    [COMMAND_LSP] = command_lsp,
    [COMMAND_CHECK] = command_check,
    [COMMAND_TUNE] = command_tune,
    [COMMAND_PROFILE] = command_profile,
    [COMMAND_COST] = command_cost,
    [COMMAND_STEP] = command_step,
    [COMMAND_TEST] = command_test,
    [COMMAND_BENCH] = command_bench,
    [COMMAND_DOC] = command_doc,
    [COMMAND_FMT] = command_fmt,
    [COMMAND_DUMP] = command_dump,
    [COMMAND_DEVICES] = command_devices,
    [COMMAND_CACHE] = command_cache,
    [COMMAND_EXPLAIN] = command_explain,
    [COMMAND_EXPLAIN_ERROR] = command_explain_error,
    [COMMAND_COMPLETION] = command_completion,
    [COMMAND_MANUAL] = command_manual,
    [COMMAND_HELP] = command_help,
    [COMMAND_VERSION] = command_version,
};

/* Without warnings there are none to be errors. */
static MessageOptions message_options(const char *const *values)
{
    const char *form = values[OPTION_DIAGNOSTICS];
    return (MessageOptions){.json = form && strcmp(form, "json") == 0,
                            .warnings = values[OPTION_NO_WARNINGS] ? WARNINGS_HIDDEN
                                        : values[OPTION_WERROR]    ? WARNINGS_AS_ERRORS
                                                                   : WARNINGS_SHOWN};
}

/* argv[0] is the command's name. */
static int run_with(CommandId c, int argc, char **argv)
{
    const Command *row = &command_table[c];
    CommandLine a = {.words = argv + 1};
    char error[512];
    a.n = dp_options_parse(option_table, OPTION_COUNT, command_scope(c), argc, argv, a.values, error, sizeof error);
    if (a.n < 0)
        return usage_error("dpc %s: %s", row->name, error);
    bool of_program = c == COMMAND_RUN && a.n > 0; /* `dpc run f.dp --help` */
    if (a.values[DP_OPTION_HELP] && !of_program) {
        print_command_help(c);
        return EXIT_OK;
    }
    if (a.values[DP_OPTION_VERSION] && !of_program)
        return command_version(&a);
    if (a.n < row->least)
        return usage_error("dpc %s takes %s", row->name, row->takes);
    if (a.n > row->most)
        return usage_error("dpc %s takes %s, but %s is one too many", row->name, row->takes, a.words[row->most]);
    a.messages = message_options(a.values);
    return runs[c](&a);
}

/* What the command has printed has to have arrived. */
static int finish_output(int status)
{
    if (dp_stream_done(stdout))
        return status;
    int why = errno;
    signals_end_by_pipe();
    fprintf(stderr, "dpc: error: standard output: cannot write: %s\n", strerror(why));
    return status ? status : EXIT_OUTPUT;
}

/* The passes recurse over syntax trees as deep as the parser lets through: a stack of their own. */
typedef struct Job {
    int argc;
    char **argv;
    int status;
} Job;

static void run_command(void *data, uintptr_t stack_end)
{
    Job *job = data;
    (void)stack_end;
    const char *name = job->argc > 1 ? job->argv[1] : NULL;
    if (!name) {
        print_overview(stderr);
        return;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = command_table[COMMAND_HELP].name;
    else if (strcmp(name, "--version") == 0)
        name = command_table[COMMAND_VERSION].name;
    CommandId c = command_find(name);
    job->status = c == COMMAND_COUNT ? unknown_command(name) : run_with(c, job->argc - 1, job->argv + 1);
    job->status = finish_output(job->status);
}

int main(int argc, char **argv)
{
    Job job = {argc, argv, EXIT_USAGE};
    dp_streams_guard();
    signals_start();
    dp_stack_prepare();
    if (!dp_stack_run(run_command, &job))
        run_command(&job, 0);
    return job.status;
}
