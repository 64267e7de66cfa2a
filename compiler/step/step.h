/* `dpc step`: a recorded run, walked through by commands, a line each. See docs/tools.md. */
#ifndef DPC_STEP_H
#define DPC_STEP_H

#include "step/record.h"
#include "support/session.h"

#include <stdio.h>

/* The next line of commands, without its newline, until the next call; NULL at the end. */
typedef char *ReadCommand(void *ctx);
/* Until the end of the commands, or `quit`. Of each command that moves, the event where one is then is shown. */
void step_through(Session *s, const Record *r, FILE *out, ReadCommand *read, void *ctx);

#endif
