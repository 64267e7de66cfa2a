/* dpc profile: a program, run on the device for its profile (docs/tools.md). */
#include "commands/commands.h"
#include "driver/in_process.h"

static int profile(Compilation *c, const CommandLine *a)
{
    char **words = program_words(c->session->arena, c->path, a);
    return run_status(c, c->path, profile_in_process(c, words));
}

/* What --profile of the program is to say (dp_profile_form). */
static const char *form_of(Arena *arena, const CommandLine *a)
{
    const char *json = a->values[OPTION_PROFILE_JSON] ? "json" : "", *trace = a->values[OPTION_PROFILE_TRACE];
    return trace ? arena_printf(arena, "%s%strace:%s", json, *json ? "," : "", trace) : json;
}

int command_profile(const CommandLine *a)
{
    CommandLine run = *a;
    run.values[DP_OPTION_OUTPUT] = a->values[OPTION_PROFILE_OUTPUT];
    run.values[DP_OPTION_RUNS] = a->values[OPTION_PROFILE_RUNS];
    Compilation *c = create_program(&run);
    run.values[DP_OPTION_PROFILE] = form_of(c->session->arena, a);
    c->flat_nests = wants_flat_nests(a->values[DP_OPTION_PARAM]);
    int status = EXIT_USAGE;
    if (compile_to(c, STAGE_PLAN) && has_entry(c) && outputs_are_free(c, &run) &&
        (a->values[OPTION_BUILD_NO_TUNE] || take_tune(c, a->values[OPTION_BUILD_TUNE])))
        status = profile(c, &run);
    compilation_destroy(c);
    return status;
}
