/* The tables of options.def: dpc's commands, and their options together with those of executables (dp_options.h). */
#ifndef DPC_OPTIONS_H
#define DPC_OPTIONS_H

#include "dp_options.h"

typedef enum CommandId {
#define COMMAND(id, ...) COMMAND_##id,
#include "commands/options.def"
    COMMAND_COUNT
} CommandId;

/* Behind those of executables, DP_OPTION_…. */
enum {
    OPTION_NONE = DP_OPTIONS - 1,
#define OPTION(id, ...) OPTION_##id,
#include "commands/options.def"
    OPTION_COUNT
};

typedef struct Command {
    const char *name;
    int least, most;   /* words, options aside */
    const char *words; /* what help calls them */
    const char *takes; /* what they are, for messages */
    const char *summary, *text;
} Command;
typedef struct Variable {
    const char *name; /* or several */
    unsigned scope;   /* DP_IN_PROGRAM: of executables; else of dpc */
    const char *text;
} Variable;
typedef struct StatusText {
    int number;
    const char *text;
} StatusText;

extern const Command command_table[COMMAND_COUNT];
extern const DpOption option_table[OPTION_COUNT];
extern const Variable variable_table[]; /* up to one without a name */
extern const StatusText status_table[]; /* up to one without a text */

CommandId command_find(const char *name); /* COMMAND_COUNT: there is none */
unsigned command_scope(CommandId c);      /* of its options */

#endif
