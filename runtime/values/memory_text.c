#include "dp_limits.h"

#include <stdio.h>

static int print_bytes(char *to, size_t room, uint64_t bytes)
{
    double x = (double)bytes;
    const char *unit = x >= 1e8 ? "GB" : x >= 1e5 ? "MB" : "kB";
    x /= x >= 1e8 ? 1e9 : x >= 1e5 ? 1e6 : 1e3;
    return snprintf(to, room, "%.1f %s", x, unit);
}

void dp_memory_text(char to[DP_MEMORY_TEXT], uint64_t requested, uint64_t there, uint32_t level, const char *function)
{
    char wanted[32], left[32];
    print_bytes(wanted, sizeof wanted, requested);
    int n = snprintf(to, DP_MEMORY_TEXT, "out of memory: %s requested", wanted);
    if (there != DP_UNKNOWN_BYTES) {
        print_bytes(left, sizeof left, there);
        n += snprintf(to + n, DP_MEMORY_TEXT - (size_t)n, ", %s there", left);
    }
    if (level)
        snprintf(to + n, DP_MEMORY_TEXT - (size_t)n, ", in level %u of the recursion of %.80s", level, function);
}
