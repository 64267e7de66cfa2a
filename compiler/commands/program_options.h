/* The options of programs, as `dpc run` sees them: behind the file. On a device the executable reads all of them again.
 */
#ifndef DPC_PROGRAM_OPTIONS_H
#define DPC_PROGRAM_OPTIONS_H

#include "commands/commands.h"

#include <stdbool.h>

typedef struct ProgramOptions {
    const char *entry, *output, *times; /* as they stand there, or NULL */
    RunLimits limits;
    char **args; /* what is no option; owned */
    int nargs;
    bool help;
} ProgramOptions;

/* An ExitStatus, after a message. To be freed in any case. */
int program_options_read(ProgramOptions *o, int argc, char **argv);
void program_options_free(ProgramOptions *o);

#endif
