/* The tables: see options.h. */
#include "commands/options.h"

#include <limits.h>
#include <string.h>

const Command command_table[COMMAND_COUNT] = {
#define COMMAND(id, ...) [COMMAND_##id] = {__VA_ARGS__},
#include "commands/options.def"
};

const DpOption option_table[OPTION_COUNT] = {
#define OPTION(id, ...) [DP_OPTION_##id] = {__VA_ARGS__},
#include "dp_options.def"
#undef OPTION
#define OPTION(id, ...) [OPTION_##id] = {__VA_ARGS__},
#include "commands/options.def"
};

const Variable variable_table[] = {
#define VARIABLE(...) {__VA_ARGS__},
#include "commands/options.def"
    {NULL, 0, NULL},
};

const StatusText status_table[] = {
#define STATUS(...) {__VA_ARGS__},
#include "commands/options.def"
    {0, NULL},
};

CommandId command_find(const char *name)
{
    CommandId c = 0;
    while (c < COMMAND_COUNT && strcmp(command_table[c].name, name) != 0)
        c++;
    return c;
}

/* `dpc run` takes those of the program, too, and others some of them. */
unsigned command_scope(CommandId c)
{
    const unsigned own = (unsigned)DP_FIRST_COMMAND << c;
    switch (c) {
    case COMMAND_RUN:
    case COMMAND_EVAL: return own | (unsigned)DP_IN_PROGRAM;
    case COMMAND_TUNE: return own | (unsigned)DP_IN_TUNING;
    case COMMAND_PROFILE: return own | (unsigned)DP_IN_TUNING | (unsigned)DP_IN_INTERPRETING;
    case COMMAND_BENCH:
    case COMMAND_REPL: return own | (unsigned)DP_IN_SESSIONS;
    case COMMAND_EXPLAIN:
    case COMMAND_COST:
    case COMMAND_STEP: return own | (unsigned)DP_IN_INTERPRETING;
    default: return own;
    }
}
