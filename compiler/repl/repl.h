/* dpc repl: a session. What is typed is one of
 *
 *     an expression       is evaluated, in a process of its own, and its value is written
 *     definitions         are kept, and stand for those of the same names from there on
 *     :command …          see repl_commands.def
 *
 * The program of an expression is the session's parts (load.h): the files that were loaded, what was typed, and the
 * expression. A part that would make an error is not kept. Places in messages are `input:LINE:COLUMN`, by the lines of
 * the session. Input goes on in further lines while the grammar wants more, up to an empty line, and between :{ and :}.
 */
#ifndef DPC_REPL_H
#define DPC_REPL_H

#include "driver/driver.h"

typedef struct ReplOptions {
    Stage stage;                 /* STAGE_PLAN: on a device; else on the interpreter of STAGE_CORE, FUSED or FLAT */
    const char *device, *params; /* --device, --param; or NULL */
    bool prompts;                /* somebody reads what it says of itself */
    char *(*read)(void *ctx, const char *prompt); /* the next line, without its end; NULL at the end */
    void *ctx;
} ReplOptions;

typedef struct Repl Repl;
Repl *repl_create(const ReplOptions *options);
void repl_destroy(Repl *r);
/* False after a message. */
bool repl_load(Repl *r, const char *path);
/* Up to :quit, or the end of the input. */
void repl_run(Repl *r);
/* What may be typed behind that part of a line, up to NULL: names, words and commands, or behind `x.` the fields of x
 * or the names of the module x; until the next call. */
const char *const *repl_words(Repl *r, const char *before);

#endif
