#include "dp_limits.h"
#include "dp_size.h"

#include <stdio.h>

void dp_size_print(char *to, size_t room, dp_size bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    double x = (double)bytes / 1e3;
    int unit = 0;
    for (; x >= 100 && unit < 5; unit++)
        x /= 1e3;
    snprintf(to, room, "%s%.1f %s", bytes >= DP_SIZE_MAX ? "more than " : "", x, units[unit]);
}

void dp_memory_text(char to[DP_MEMORY_TEXT], uint64_t requested, uint64_t free, uint64_t all)
{
    char wanted[32], left[32], whole[32];
    dp_size_print(wanted, sizeof wanted, requested);
    dp_size_print(left, sizeof left, free);
    dp_size_print(whole, sizeof whole, all);
    if (free == DP_UNKNOWN_BYTES)
        snprintf(to, DP_MEMORY_TEXT, "out of memory: %s requested", wanted);
    else
        snprintf(to, DP_MEMORY_TEXT, "out of memory: %s requested, %s free of %s", wanted, left, whole);
}

void dp_elements_text(char to[DP_MEMORY_TEXT], uint64_t n, uint64_t most, const char *what)
{
    snprintf(to, DP_MEMORY_TEXT, "too many elements: %llu%s in one operation, at most %llu are %s",
             (unsigned long long)n, n >= DP_SIZE_MAX ? " or more" : "", (unsigned long long)most, what);
}

void dp_level_text(char to[DP_LEVEL_TEXT], uint32_t level, const char *function)
{
    if (level)
        snprintf(to, DP_LEVEL_TEXT, ", in level %u of the recursion of %.60s", level, function);
    else
        *to = 0;
}
