/* dpc cost: work and span, as formulas of sizes, or counted in a run. */
#include "commands/commands.h"
#include "cost/meter_report.h"
#include "cost/symbolic_report.h"
#include "dp_activity.h"
#include "dp_args.h"
#include "support/memory.h"

#include <stdlib.h>

static int count_entry(Compilation *c, const EntryTypes *t, const CommandLine *a)
{
    Meter *meter = meter_create(c->core);
    const EvalObserver observer = meter_observer(meter);
    DpLeaf *result = memory_alloc(dp_type_leaves(t->result), sizeof *result);
    c->observer = &observer;
    const int status = eval_entry(c, t, a, result);
    if (status == EXIT_OK) {
        StrBuf text = {0};
        (a->values[OPTION_COST_JSON] ? meter_print_json : meter_print)(&text, c->session, meter, t->entry->name);
        fwrite(text.text, 1, text.n, stdout);
        strbuf_free(&text);
        dp_leaves_free(result, dp_type_leaves(t->result));
    }
    free(result);
    meter_destroy(meter);
    return status;
}

static int print_formulas(const Compilation *c, const CommandLine *a)
{
    StrBuf text = {0};
    FnCost *costs = symbolic_costs(c->core, c->session->arena);
    (a->values[OPTION_COST_JSON] ? symbolic_print_json : symbolic_print)(&text, c->core, costs, c->session->arena);
    fwrite(text.text, 1, text.n, stdout);
    strbuf_free(&text);
    return EXIT_OK;
}

int command_cost(const CommandLine *a)
{
    RunLimits limits;
    EntryTypes t;
    int status = read_limits(&limits, a->values[DP_OPTION_TIMEOUT], a->values[DP_OPTION_MEMORY]);
    if (status)
        return status;
    status = EXIT_USAGE;
    dp_activity_start();
    Compilation *c = compilation_create(a->words[0]);
    set_messages(c->session, a->messages);
    c->limits = limits.eval;
    if (!compile_to(c, STAGE_ELABORATED) || !has_entry(c)) {
        status = EXIT_USAGE;
    } else if (a->n == 1 && !a->values[OPTION_COST_COUNT]) {
        status = print_formulas(c, a);
    } else if (entry_types_make(&t, c, entry_name(c, a))) {
        status = count_entry(c, &t, a);
        entry_types_free(&t);
    }
    compilation_destroy(c);
    return status;
}
