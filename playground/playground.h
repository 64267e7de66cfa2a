/* The compiler as the playground's page calls it, compiled by emscripten. Each function makes a text, which the caller
 * frees; none keeps anything between two calls. A call may also end the whole instance (out of memory, a recursion
 * deeper than the browser's stack): then the page starts a new one.
 *
 * A *report* is an object of JSON with `diagnostics`, a list of what dpc says with --diagnostics=json. */
#ifndef DPC_PLAYGROUND_H
#define DPC_PLAYGROUND_H

#include "driver/driver.h"

/* What `dpc check` says. The report's `entries`, none after errors: {name, signature, params, input}; params: how many;
 * input: the arguments of the first case that the program's comments test the entry with, or null. */
char *play_check(const char *program);
/* Runs the entry at the stage ("core", "fused", "flat") on the arguments, literals one after another. The
 * report's `result` is a literal, or null: then the diagnostics say why. */
char *play_run(const char *program, const char *entry, const char *arguments, const char *stage);
/* The page of `dpc explain`; empty after errors, which play_run reports. */
char *play_explain(const char *program, const char *entry, const char *arguments);

#endif
