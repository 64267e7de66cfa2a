#include "commands/program_options.h"

#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

/* Where the option's value goes: to *passed if nothing here depends on it, NULL for a flag. False: there is no such
 * option. */
static bool find_option(ProgramOptions *o, const char *arg, const char **passed, const char ***value)
{
    const struct {
        const char *name, **value;
    } options[] = {{"--entry", &o->entry},
                   {"-o", &o->output},
                   {"-t", &o->times},
                   {"-r", passed},
                   {"--device", passed},
                   {"--platform", passed},
                   {"--batch", passed},
                   {"--profile", NULL},
                   {"--profile=json", NULL},
                   {"--list-devices", NULL},
                   {"--help", NULL},
                   {"-h", NULL},
                   {"--timeout", &o->limits.timeout},
                   {"--memory", &o->limits.memory}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(arg, options[i].name) == 0) {
            *value = options[i].value;
            o->help = o->help || strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0;
            return true;
        }
    return false;
}

int program_options_read(ProgramOptions *o, int argc, char **argv)
{
    bool options = true;
    *o = (ProgramOptions){.args = memory_alloc((size_t)argc + 1, sizeof *o->args)};
    for (int i = 0; i < argc; i++) {
        const char *passed = NULL, **value = NULL;
        if (!at_option(argc, argv, &i, &options)) {
            if (i < argc)
                o->args[o->nargs++] = argv[i];
            continue;
        }
        if (!find_option(o, argv[i], &passed, &value))
            return usage_error("there is no option %s", argv[i]);
        if (value && *value)
            return usage_error("%s is given twice", argv[i]);
        if (value && ++i == argc)
            return usage_error("%s takes a value", argv[i - 1]);
        if (value)
            *value = argv[i];
    }
    return read_limits(&o->limits);
}

void program_options_free(ProgramOptions *o)
{
    free(o->args);
    *o = (ProgramOptions){0};
}
