#include "dp_progress.h"

#include <string.h>

/* False for an array that is not empty. An empty one is a row of zeros, wherever it lies. */
static bool add_argument(unsigned char *row, size_t *at, const DpArguments *a, uint64_t instance)
{
    const unsigned char *value = (const unsigned char *)a->values + instance * a->bytes;
    if (a->views) {
        uint64_t length;
        memcpy(&length, value, sizeof length);
        return length == 0;
    }
    memcpy(row + *at, value, a->bytes);
    *at += a->bytes;
    return true;
}

static bool is_among(const DpProgress *p, const unsigned char *row)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (memcmp(p->rows[i], row, p->bytes) == 0)
            return true;
    return false;
}

bool dp_arguments_distinct(DpProgress *to, const DpArguments *arguments, uint32_t count, uint64_t n)
{
    unsigned char row[DP_ARGUMENT_BYTES];
    to->n = 0;
    to->bytes = 0;
    for (uint32_t k = 0; k < count; k++) to->bytes += arguments[k].views ? 0 : arguments[k].bytes;
    if (to->bytes > DP_ARGUMENT_BYTES)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        size_t at = 0;
        for (uint32_t k = 0; k < count; k++)
            if (!add_argument(row, &at, &arguments[k], i))
                return false;
        if (is_among(to, row))
            continue;
        if (to->n == DP_DISTINCT)
            return false;
        memcpy(to->rows[to->n++], row, at);
    }
    return true;
}

static bool same_rows(const DpProgress *a, const DpProgress *b)
{
    bool same = a->n == b->n && a->bytes == b->bytes;
    for (uint32_t i = 0; same && i < a->n; i++) same = is_among(b, a->rows[i]);
    return same;
}

bool dp_progress_stuck(DpProgress *p, const void *function, uint32_t level, const DpArguments *arguments, uint32_t count,
                       uint64_t n)
{
    DpProgress now = {.function = function, .level = level};
    if (!dp_arguments_distinct(&now, arguments, count, n)) {
        p->function = NULL;
        return false;
    }
    bool stuck = p->function == function && p->level + 1 == level && same_rows(p, &now);
    *p = now;
    return stuck;
}
