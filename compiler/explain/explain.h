/* `dpc explain`: a program's way through the compiler, and its run on the flat interpreter, as one page of HTML that
 * needs nothing else. What it shows is collected while the passes run:
 *
 *     Explanation *x = explanation_create(c);
 *     if (explanation_reach(x, STAGE_ELABORATED) && …)  -- every pass up to there is seen
 *     explanation_count(x, …);                    -- work and span, of the program as it is written
 *     if (explanation_reach(x, STAGE_CORE) && …)
 *     explanation_run(x, …);                      -- while it is core
 *     if (explanation_reach(x, STAGE_FLAT) && …)
 *     explanation_run(x, …);                      -- and while it is flat
 *     explanation_reach(x, STAGE_OPENCL);
 *     explanation_write(x, file);
 *     explanation_destroy(x);                     -- before the compilation
 *
 * The page itself, its script and its style are the files of explain/page. */
#ifndef DPC_EXPLAIN_H
#define DPC_EXPLAIN_H

#include "driver/entry.h"

typedef struct Explanation Explanation;

Explanation *explanation_create(Compilation *c);
void explanation_destroy(Explanation *x);
/* Runs the passes up to the stage, and keeps what each has made. False after errors, which have been printed. */
bool explanation_reach(Explanation *x, Stage stage);
/* Runs the entry at STAGE_ELABORATED, and counts work and span. Of a run that fails there are none. */
void explanation_count(Explanation *x, const EntryTypes *t, const struct DpLeaf *args);
/* Runs the entry at STAGE_CORE or STAGE_FLAT, with a trace. A failure of the program is part of the page. `input`: the
 * arguments as the page shows them. */
void explanation_run(Explanation *x, const EntryTypes *t, const struct DpLeaf *args, const char *input);
/* The page. Whether all has been written the file knows. */
void explanation_write(const Explanation *x, FILE *out);

#endif
