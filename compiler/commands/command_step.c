/* dpc step: a run, recorded and walked through forwards and backwards. */
#include "commands/commands.h"
#include "commands/line_input.h"
#include "dp_activity.h"
#include "dp_args.h"
#include "step/step.h"
#include "support/memory.h"
#include "trace/trace.h"

#include <stdlib.h>

static char *read_command(void *ctx) { return line_input_read(ctx, "(step) "); }

/* ---- the run ---- */

static int record_run(Compilation *c, const EntryTypes *t, const CommandLine *a, Trace *trace)
{
    DpLeaf *result = memory_alloc(dp_type_leaves(t->result), sizeof *result);
    trace_start(trace, c->session, NULL);
    c->limits.trace = trace;
    int status = eval_entry(c, t, a, result);
    c->limits.trace = NULL;
    if (status == EXIT_OK)
        dp_leaves_free(result, dp_type_leaves(t->result));
    free(result);
    return status;
}

/* What fails is walked through, too. */
static int step_entry(Compilation *c, const EntryTypes *t, const CommandLine *a)
{
    Trace trace;
    Record record;
    LineInput in = {0};
    const int status = record_run(c, t, a, &trace);
    if (trace.events > 0 && record_read(&record, c->session->arena, trace.text.text)) {
        printf("%s on %s, %u events; help lists the commands\n", t->entry->signature,
               a->values[OPTION_STEP_FLAT] ? "flat" : "core", record.events.n);
        line_input_open(&in);
        step_through(c->session, &record, stdout, read_command, &in);
        line_input_close(&in);
    }
    trace_free(&trace);
    return status;
}

static int step_compiled(Compilation *c, const CommandLine *a)
{
    EntryTypes t;
    int status = EXIT_USAGE;
    if (!entry_types_make(&t, c, entry_name(c, a)))
        return status;
    if (a->n - 1 < (int)t.entry->nparams)
        status = usage_error("dpc step takes all arguments on the command line: %s", t.entry->signature);
    else
        status = step_entry(c, &t, a);
    entry_types_free(&t);
    return status;
}

int command_step(const CommandLine *a)
{
    RunLimits limits;
    int status = read_limits(&limits, a->values[DP_OPTION_TIMEOUT], a->values[DP_OPTION_MEMORY]);
    if (status == EXIT_OK && a->values[OPTION_STEP_CORE] && a->values[OPTION_STEP_FLAT])
        status = usage_error("dpc step runs on core or on flat: --core or --flat");
    if (status)
        return status;
    dp_activity_start();
    Compilation *c = compilation_create(a->words[0]);
    set_messages(c->session, a->messages);
    c->limits = limits.eval;
    c->flat_nests = a->values[OPTION_STEP_FLAT] != NULL; /* what is nested is what there is to see */
    const bool compiled = compile_to(c, a->values[OPTION_STEP_FLAT] ? STAGE_FLAT : STAGE_ELABORATED);
    status = compiled && has_entry(c) ? step_compiled(c, a) : EXIT_USAGE;
    compilation_destroy(c);
    return status;
}
