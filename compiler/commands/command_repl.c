/* dpc repl: expressions and definitions, one after the other. */
#include "commands/commands.h"
#include "commands/line_input.h"
#include "driver/process.h"
#include "repl/repl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Terminal {
    LineInput in;
    Repl *repl;
} Terminal;

static char *read_terminal(void *ctx, const char *prompt) { return line_input_read(&((Terminal *)ctx)->in, prompt); }

static const char *const *words_of(void *ctx, const char *before)
{
    return repl_words(((Terminal *)ctx)->repl, before);
}

static char *history_path(void)
{
    const char *home = getenv("HOME");
    if (!home || !*home)
        return NULL;
    const size_t bytes = strlen(home) + sizeof "/.dpc_history";
    char *path = malloc(bytes);
    if (path)
        snprintf(path, bytes, "%s/.dpc_history", home);
    return path;
}

int command_repl(const CommandLine *a)
{
    const char *eval = a->values[OPTION_REPL_EVAL];
    Terminal t = {.in = {.words = words_of}};
    ReplOptions options = {.stage = eval ? stage_find(eval) : STAGE_PLAN,
                           .device = a->values[DP_OPTION_DEVICE],
                           .params = a->values[DP_OPTION_PARAM],
                           .read = read_terminal,
                           .ctx = &t};
    char *history = history_path();
    t.in.history = history;
    t.in.ctx = &t;
    line_input_open(&t.in);
    options.prompts = t.in.is_terminal;
    signals_spare_interrupt();
    t.repl = repl_create(&options);
    int status = EXIT_OK;
    for (int i = 0; i < a->n && status == EXIT_OK; i++)
        status = repl_load(t.repl, a->words[i]) ? EXIT_OK : EXIT_USAGE;
    if (status == EXIT_OK)
        repl_run(t.repl);
    line_input_close(&t.in);
    repl_destroy(t.repl);
    free(history);
    return status;
}
