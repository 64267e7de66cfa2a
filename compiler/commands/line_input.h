/* Lines that a person types, or that come from a pipe: dpc step, dpc repl. On a terminal there is a prompt and, where
 * dpc is built with libedit, editing, a history and completion. */
#ifndef DPC_LINE_INPUT_H
#define DPC_LINE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct LineInput {
    char *line;
    size_t bytes;
    bool is_terminal;
    const char *history; /* the file that keeps it, which is the user's alone; or NULL */
    /* The words that may stand behind the part `before` of a line, up to NULL; or NULL. They stay as they are until it
     * is asked again. */
    const char *const *(*words)(void *ctx, const char *before);
    void *ctx;
} LineInput;

void line_input_open(LineInput *in);
/* The next line, without its end, until the next call; NULL at the end. */
char *line_input_read(LineInput *in, const char *prompt);
void line_input_close(LineInput *in);

#endif
