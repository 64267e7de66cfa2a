#include "dp_progress.h"

#include <string.h>

typedef struct Row {
    size_t n;
    unsigned char bytes[DP_ARGUMENT_BYTES];
} Row;

static bool add_bytes(Row *row, const void *bytes, size_t n)
{
    if (n > sizeof row->bytes - row->n)
        return false;
    memcpy(row->bytes + row->n, bytes, n);
    row->n += n;
    return true;
}

/* Its length and, if they are wanted, its elements, wherever they lie. */
static bool add_array(const DpProgress *p, Row *row, const void *value, uint32_t element_bytes, bool elements)
{
    uint64_t view[2];
    memcpy(view, value, sizeof view);
    if (!add_bytes(row, &view[0], sizeof view[0]))
        return false;
    if (view[0] == 0)
        return true;
    if (element_bytes == DP_VIEW_BYTES || view[0] > (sizeof row->bytes - row->n) / element_bytes)
        return false;
    if (!elements)
        return true;
    p->fetch(p->fetch_data, view[1], view[0] * element_bytes, row->bytes + row->n);
    row->n += view[0] * element_bytes;
    return true;
}

static bool is_among(const DpProgress *p, const void *row, size_t bytes)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->bytes[i] == bytes && memcmp(p->rows[i], row, bytes) == 0)
            return true;
    return false;
}

static bool add_row(const DpProgress *p, Row *row, const DpArguments *arguments, uint32_t count, uint64_t instance,
                    bool elements)
{
    bool fits = true;
    row->n = 0;
    for (uint32_t k = 0; fits && k < count; k++) {
        const DpArguments *a = &arguments[k];
        const unsigned char *value = (const unsigned char *)a->values + instance * a->bytes;
        fits =
            a->element_bytes ? add_array(p, row, value, a->element_bytes, elements) : add_bytes(row, value, a->bytes);
    }
    return fits;
}

static bool note_rows(DpProgress *to, const DpArguments *arguments, uint32_t count, uint64_t n, bool elements)
{
    Row row;
    to->n = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (!add_row(to, &row, arguments, count, i, elements))
            return false;
        if (is_among(to, row.bytes, row.n))
            continue;
        if (to->n == DP_DISTINCT)
            return false;
        memcpy(to->rows[to->n], row.bytes, row.n);
        to->bytes[to->n++] = row.n;
    }
    return true;
}

/* Elements are fetched, one array after the other, only where scalars and lengths leave few. */
bool dp_arguments_distinct(DpProgress *to, const DpArguments *arguments, uint32_t count, uint64_t n)
{
    bool arrays = false;
    for (uint32_t k = 0; k < count; k++)
        arrays |= arguments[k].element_bytes > 0;
    return note_rows(to, arguments, count, n, false) && (!arrays || note_rows(to, arguments, count, n, true));
}

static bool same_rows(const DpProgress *a, const DpProgress *b)
{
    bool same = a->n == b->n;
    for (uint32_t i = 0; same && i < a->n; i++)
        same = is_among(b, a->rows[i], a->bytes[i]);
    return same;
}

bool dp_progress_stuck(DpProgress *p, const void *function, uint32_t level, const DpArguments *arguments,
                       uint32_t count, uint64_t n)
{
    DpProgress now = {.function = function, .level = level, .fetch = p->fetch, .fetch_data = p->fetch_data};
    if (!dp_arguments_distinct(&now, arguments, count, n)) {
        p->function = NULL;
        return false;
    }
    bool stuck = p->function == function && p->level + 1 == level && same_rows(p, &now);
    *p = now;
    return stuck;
}
