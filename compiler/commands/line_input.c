#include "commands/line_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef DPC_HAVE_EDIT
#include <editline/readline.h>

enum { MOST_LINES = 1000 };

/* libedit passes nothing along. */
static const LineInput *completed;
static char *line_before; /* the word that is completed */

static char *next_word(const char *text, int state)
{
    static const char *const *at;
    if (state == 0)
        at = completed->words(completed->ctx, line_before ? line_before : "");
    for (; at && *at; at++)
        if (strncmp(*at, text, strlen(text)) == 0)
            return strdup(*at++);
    return NULL;
}

static char **complete(const char *text, int start, int end)
{
    (void)end;
    free(line_before);
    line_before = rl_line_buffer ? strndup(rl_line_buffer, (size_t)start) : NULL;
    rl_attempted_completion_over = 1; /* files are not meant */
    return rl_completion_matches(text, next_word);
}

static void open_editor(LineInput *in)
{
    if (in->words) {
        static char breaks[] = " \t\n\"\\'`<>=;|&{}()[]+-*/%!~^,.";
        completed = in;
        rl_basic_word_break_characters = breaks;
        rl_attempted_completion_function = complete;
    }
    using_history();
    stifle_history(MOST_LINES);
    if (in->history)
        read_history(in->history);
}

static char *edit_line(LineInput *in, const char *prompt)
{
    free(in->line);
    in->line = readline(prompt);
    if (in->line && *in->line)
        add_history(in->line);
    return in->line;
}

static void close_editor(const LineInput *in)
{
    const mode_t mask = umask(077);
    if (in->history && write_history(in->history) == 0)
        chmod(in->history, 0600); /* one that was there before */
    umask(mask);
    free(line_before);
    line_before = NULL;
}
#else
static void open_editor(LineInput *in) { (void)in; }
static void close_editor(const LineInput *in) { (void)in; }
static char *edit_line(LineInput *in, const char *prompt)
{
    fputs(prompt, stdout);
    fflush(stdout);
    return getline(&in->line, &in->bytes, stdin) < 0 ? NULL : in->line;
}
#endif

void line_input_open(LineInput *in)
{
    in->is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (in->is_terminal)
        open_editor(in);
}

char *line_input_read(LineInput *in, const char *prompt)
{
    char *line = in->is_terminal ? edit_line(in, prompt) : getline(&in->line, &in->bytes, stdin) < 0 ? NULL : in->line;
    if (line)
        line[strcspn(line, "\n")] = '\0';
    return line;
}

void line_input_close(LineInput *in)
{
    if (in->is_terminal)
        close_editor(in);
    free(in->line);
    in->line = NULL;
}
