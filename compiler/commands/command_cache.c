/* dpc cache [--clear]: the folder of built kernels that executables share (runtime/cache.h). */
#include "commands/commands.h"

#include "../runtime/cache.h"

#include <inttypes.h>
#include <stdlib.h>

static int show(const char *folder)
{
    CacheUse use = dp_cache_use(folder);
    printf("%s\n%" PRIu64 " entries, %" PRIu64 " bytes of %" PRIu64 "\n", folder, use.entries, use.bytes,
           dp_cache_limit());
    return EXIT_OK;
}

static int clear(const char *folder)
{
    dp_cache_clear(folder);
    if (dp_cache_use(folder).entries == 0)
        return EXIT_OK;
    fprintf(stderr, "dpc: error: %s: not everything can be removed\n", folder);
    return EXIT_OUTPUT;
}

int command_cache(const CommandLine *a)
{
    char *folder = dp_cache_directory();
    if (!folder) {
        fprintf(stderr, "dpc: error: no folder for built kernels in HOME, XDG_CACHE_HOME or TMPDIR can be used\n");
        return EXIT_OUTPUT;
    }
    int status = a->values[OPTION_CLEAR] ? clear(folder) : show(folder);
    free(folder);
    return status;
}
