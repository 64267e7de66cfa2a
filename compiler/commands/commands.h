/* The commands of dpc. Each takes the words behind its name and returns the exit status. */
#ifndef DPC_COMMANDS_H
#define DPC_COMMANDS_H

#include "dp_status.h"
#include "commands/driver.h"

int command_build(int argc, char **argv);
int command_run(int argc, char **argv);
int command_check(int argc, char **argv);
int command_test(int argc, char **argv);
int command_fmt(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_devices(int argc, char **argv);
int command_cache(int argc, char **argv);
int command_explain_error(int argc, char **argv);

/* Prints "dpc: error: …" and a hint; returns EXIT_USAGE. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
int usage_error(const char *format, ...);

/* Is argv[*i] an option of the command? "--" ends them and is passed over; *options is then false. */
bool at_option(int argc, char **argv, int *i, bool *options);
/* The value of an option: `arg` is "--name=value" or "--name". NULL if it is another one; "" without a value. */
const char *option_value(const char *arg, const char *name);

/* How a command reports: --diagnostics=FORM, --no-warnings, --werror. */
typedef struct MessageOptions {
    bool json;
    WarningMode warnings;
} MessageOptions;
/* Is it one of them, which every command that compiles takes? Sets *messages, or *status after a message. Without
 * warnings there are none to be errors. */
bool diagnostics_option(const char *arg, MessageOptions *messages, int *status);
void set_messages(Session *s, MessageOptions messages);

/* What a run may take: --timeout and --memory. */
typedef struct RunLimits {
    const char *timeout, *memory; /* as given, for executables; or NULL */
    EvalLimits eval;              /* for interpreters */
} RunLimits;
/* Reads both texts into limits->eval; EXIT_OK, or EXIT_USAGE after a message. */
int read_limits(RunLimits *limits);

/* The stage that an evaluator's name stands for: core, fused or flat; else STAGE_NONE. */
Stage evaluator_stage(const char *name, size_t n);

/* ---- entries, for the interpreters ---- */
/* An entry's types as values outside see them, and room for its arguments and result. */
typedef struct EntryTypes {
    const CoreEntry *entry;
    struct DpType **params;
    struct DpType *result;
} EntryTypes;
/* False after a message: no such entry, or a type too large. */
bool entry_types_make(EntryTypes *t, const Compilation *c, const char *name);
void entry_types_free(EntryTypes *t);

struct DpLeaf;
/* Runs the entry at the stage reached. args: the leaves of all parameters; result: the result's leaves, to be freed.
 * False if the program fails, with *error. */
bool entry_eval(const Compilation *c, const EntryTypes *t, const struct DpLeaf *args, struct DpLeaf *result,
                EvalError *error);
uint32_t entry_arg_leaves(const EntryTypes *t);

#endif
