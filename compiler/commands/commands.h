/* The commands of dpc. Each returns the exit status. */
#ifndef DPC_COMMANDS_H
#define DPC_COMMANDS_H

#include "commands/options.h"
#include "dp_status.h"
#include "driver/entry.h"

/* The command line, behind the command's name. */
typedef struct CommandLine {
    const char *values[OPTION_COUNT]; /* as given; "" for those that take no value, NULL for those that are not there */
    char **words;                     /* n of them: what is no option */
    int n;
    MessageOptions messages;
    const SourcePart *parts; /* nparts of them: the program, where words[0] is not its file's name; or NULL */
    uint32_t nparts;
} CommandLine;

int command_new(const CommandLine *a);
int command_build(const CommandLine *a);
int command_library(const CommandLine *a);
int command_run(const CommandLine *a);
int command_eval(const CommandLine *a);
int command_repl(const CommandLine *a);
int command_lsp(const CommandLine *a);
int command_check(const CommandLine *a);
int command_tune(const CommandLine *a);
int command_profile(const CommandLine *a);
int command_cost(const CommandLine *a);
int command_step(const CommandLine *a);
int command_test(const CommandLine *a);
int command_bench(const CommandLine *a);
int command_doc(const CommandLine *a);
int command_fmt(const CommandLine *a);
int command_dump(const CommandLine *a);
int command_devices(const CommandLine *a);
int command_cache(const CommandLine *a);
int command_explain(const CommandLine *a);
int command_explain_error(const CommandLine *a);
int command_completion(const CommandLine *a);
int command_manual(const CommandLine *a);
int command_help(const CommandLine *a);

/* Prints "dpc: error: …" and a hint; returns EXIT_USAGE. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
int usage_error(const char *format, ...);
int unknown_command(const char *name); /* likewise, with a guess */
void print_overview(FILE *out);
void print_command_help(CommandId c);

/* "path/f.dp" gives "path/f"; NULL for other endings. */
char *name_without_ending(Arena *arena, const char *path);
/* The program that the command line names, or that it has, and how it reports. */
Compilation *create_program(const CommandLine *a);
/* The options of the program and its arguments, as it reads them: argv, with `program` for its name. */
char **program_words(Arena *arena, const char *program, const CommandLine *a);
/* Would no result replace one of the program's files? Else a message says so. */
bool outputs_are_free(Compilation *c, const CommandLine *a);
/* The status of a run of the program; negative where there was none, which a message says. */
int run_status(Compilation *c, const char *program, int status);
/* Programs without entries are libraries: there is nothing to run. Else false after a message. */
bool has_entry(Compilation *c);
/* --entry, else main, else the only one. */
const char *entry_name(const Compilation *c, const CommandLine *a);
/* The words behind the file as the entry's arguments. EXIT_OK, or another status after a message. */
int read_arguments(Compilation *c, const EntryTypes *t, const CommandLine *a, struct DpLeaf *leaves);
/* Runs the entry on the interpreter of the stage reached, with the words as its arguments. Its result, to be freed, if
 * it is EXIT_OK, else a message has been given. */
int eval_entry(Compilation *c, const EntryTypes *t, const CommandLine *a, struct DpLeaf *result);
/* Would the output replace one of the program's files? Then a message says so. */
bool replaces_source(Compilation *c, const char *output);

/* f.tune beside the source, or what --tune says (NULL: nothing), becomes the program's. False after a message. */
bool take_tune(Compilation *c, const char *given);
/* What has been made in a temporary folder takes its place. EXIT_OK, or another status after a message, as below. */
int install_file(Compilation *c, const char *made, const char *output, unsigned mode);
int temporary_failed(Compilation *c);

/* Do DP_PARAMS, or the settings (or NULL), say nest=flat? Then programs that run here have no other version. */
bool wants_flat_nests(const char *params);

/* Reads both texts; EXIT_OK, or EXIT_USAGE after a message. */
int read_limits(RunLimits *limits, const char *timeout, const char *memory);

/* The stage that an evaluator's name stands for: core, fused or flat; else STAGE_NONE. */
Stage evaluator_stage(const char *name, size_t n);

#endif
