#include "dp_limits.h"

#include <stdio.h>

static void print_bytes(char *to, size_t room, uint64_t bytes)
{
    double x = (double)bytes;
    const char *unit = x >= 1e8 ? "GB" : x >= 1e5 ? "MB" : "kB";
    x /= x >= 1e8 ? 1e9 : x >= 1e5 ? 1e6 : 1e3;
    snprintf(to, room, "%.1f %s", x, unit);
}

void dp_memory_text(char to[DP_MEMORY_TEXT], uint64_t requested, uint64_t free, uint64_t all)
{
    char wanted[32], left[32], whole[32];
    print_bytes(wanted, sizeof wanted, requested);
    print_bytes(left, sizeof left, free);
    print_bytes(whole, sizeof whole, all);
    if (free == DP_UNKNOWN_BYTES)
        snprintf(to, DP_MEMORY_TEXT, "out of memory: %s requested", wanted);
    else
        snprintf(to, DP_MEMORY_TEXT, "out of memory: %s requested, %s free of %s", wanted, left, whole);
}

void dp_level_text(char to[DP_LEVEL_TEXT], uint32_t level, const char *function)
{
    if (level)
        snprintf(to, DP_LEVEL_TEXT, ", in level %u of the recursion of %.60s", level, function);
    else
        *to = 0;
}
