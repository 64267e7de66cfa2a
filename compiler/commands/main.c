/* dpc: the command line. */
#include "commands/commands.h"
#include "dp_args.h"
#include "dp_output.h"
#include "dp_stack.h"
#include "commands/process.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#ifndef DPC_VERSION
#define DPC_VERSION "0.1"
#endif

static const char help[] =
    "dpc, a compiler for DP, a nested data-parallel language\n"
    "\n"
    "  dpc build f.dp [-o FILE]        makes an executable (f, beside the source)\n"
    "  dpc run f.dp ARG...             builds and runs; the program's own options stand behind the file\n"
    "  dpc run --eval=E f.dp ARG...    runs on an interpreter: E is core, fused or flat\n"
    "  dpc check f.dp...               reports errors and warnings only\n"
    "  dpc test [--eval=E,...] f.dp... runs the tests in the comments: on core, fused, flat and device;\n"
    "                                  properties on --cases=N (100) inputs of --seed=S (1); --only=NAME;\n"
    "                                  --timeout=SECONDS and --memory=BYTES for each test\n"
    "  dpc fmt [--check] f.dp...       formats in place (- is standard input); --check lists what would change\n"
    "  dpc dump --stage=S f.dp         prints a stage: ast types core fused flat plan opencl host\n"
    "  dpc devices                     lists the OpenCL devices\n"
    "  dpc cache [--clear]             shows, or empties, the folder of built kernels: its path, entries, bytes and "
    "limit\n"
    "  dpc explain-error CODE          explains an error or a warning: E0301\n"
    "  dpc --version | help\n"
    "\n"
    "An ARG is a literal ('[1, 2, 3]') or a file (.txt .in .npy .mtx .csv .pgm .ppm .png .dpv); what the command\n"
    "line leaves out is read from standard input. Options of programs: --entry NAME, -o FILE, --device NAME,\n"
    "--platform NAME, --list-devices, -r N, -t FILE, --profile, --timeout SECONDS, --memory BYTES, --help.\n"
    "-- ends the options: what follows may begin with '-'.\n"
    "All that compile take, in front of the file: --diagnostics=json (messages as JSON, one a line), --no-warnings,\n"
    "and --werror, which makes warnings errors.\n"
    "Exit status: 0, 1 the program's own error or a failing test, 2 usage or compile error, 3 out of memory,\n"
    "4 device error, 5 a result that cannot be written, 6 --timeout. Environment: CC, CFLAGS, DPC_HOME, DPC_CHECK=1 "
    "(checks after every pass), NO_COLOR.\n";

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

bool at_option(int argc, char **argv, int *i, bool *options)
{
    if (*options && *i < argc && strcmp(argv[*i], "--") == 0) {
        *options = false;
        ++*i;
    }
    return *options && *i < argc && dp_arg_is_option(argv[*i]);
}

int read_limits(RunLimits *limits)
{
    if (limits->timeout && !dp_parse_seconds(limits->timeout, &limits->eval.seconds))
        return usage_error("--timeout takes a number of seconds, not %s", limits->timeout);
    if (limits->memory && !dp_parse_bytes(limits->memory, &limits->eval.bytes))
        return usage_error("--memory takes a number of bytes such as 100M or 2G, not %s", limits->memory);
    return EXIT_OK;
}

const char *option_value(const char *arg, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(arg, name, n) != 0 || (arg[n] && arg[n] != '='))
        return NULL;
    return arg[n] ? arg + n + 1 : "";
}

bool diagnostics_option(const char *arg, MessageOptions *messages, int *status)
{
    const char *form = option_value(arg, "--diagnostics");
    if (form) {
        messages->json = strcmp(form, "json") == 0;
        if (!messages->json && strcmp(form, "text") != 0)
            *status = usage_error("--diagnostics takes text or json");
    } else if (strcmp(arg, "--no-warnings") == 0) {
        messages->warnings = WARNINGS_HIDDEN;
    } else if (strcmp(arg, "--werror") == 0) {
        if (messages->warnings == WARNINGS_SHOWN)
            messages->warnings = WARNINGS_AS_ERRORS;
    } else {
        return false;
    }
    return true;
}

void set_messages(Session *s, MessageOptions messages)
{
    s->diag_json = messages.json;
    s->warnings = messages.warnings;
}

static int command_help(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    fputs(help, stdout);
    return EXIT_OK;
}

static int command_version(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    printf("dpc %s\n", DPC_VERSION);
    return EXIT_OK;
}

typedef struct Command {
    const char *name;
    int (*run)(int argc, char **argv);
} Command;

static const Command commands[] = {
    {"build", command_build},
    {"run", command_run},
    {"check", command_check},
    {"test", command_test},
    {"dump", command_dump},
    {"devices", command_devices},
    {"explain-error", command_explain_error},
    {"cache", command_cache},
    {"fmt", command_fmt},
    {"help", command_help},
    {"--help", command_help},
    {"-h", command_help},
    {"version", command_version},
    {"--version", command_version},
};

/* ---- the passes recurse over syntax trees as deep as the parser lets through: a stack of their own ---- */

typedef struct Job {
    int argc;
    char **argv;
    int status;
} Job;

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

static void run_command(void *data, uintptr_t stack_end)
{
    Job *job = data;
    (void)stack_end;
    if (job->argc < 2) {
        fputs(help, stderr);
        job->status = EXIT_USAGE;
        return;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(job->argv[1], commands[i].name) == 0) {
            job->status = finish_output(commands[i].run(job->argc - 2, job->argv + 2));
            return;
        }
    job->status = usage_error("%s is no command", job->argv[1]);
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
