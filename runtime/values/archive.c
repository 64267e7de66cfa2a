/* Files of several arrays (.npz, .h5): which member goes to which part of a value. */
#include "values.h"

#include <stdio.h>

/* Arrays have one leaf each. */
static bool holds_arrays(const DpType *t)
{
    DpScalar scalar;
    uint32_t rank;
    bool many = (t->kind == DP_T_TUPLE || t->kind == DP_T_RECORD) && t->n > 0;
    for (uint32_t i = 0; many && i < t->n; i++)
        if (!dp_type_is_regular(t->items[i], &scalar, &rank))
            return false;
    return many || dp_type_is_regular(t, &scalar, &rank);
}

bool dp_archive_takes(const DpArchive *a, const DpType *t, bool writing)
{
    if (holds_arrays(t))
        return true;
    if (writing)
        return dp_error(a->error, "a %s file holds arrays of scalars, in a record or a tuple, which the result is not",
                        a->kind);
    return dp_error(a->error,
                    "%s: a %s file holds arrays of scalars, for the fields of a record or the items of a tuple",
                    a->path, a->kind);
}

static bool any_named(DpArchive *a, const DpType *t, bool *any)
{
    *any = false;
    for (uint32_t i = 0; t->kind == DP_T_RECORD && !*any && i < t->n; i++)
        if (!a->find(a, t->names[i], 0, any))
            return false;
    return true;
}

static bool read_items(DpArchive *a, const DpType *t, DpLeaf *leaves)
{
    bool named, found;
    if (!any_named(a, t, &named))
        return false;
    if (!named && a->members != t->n)
        return dp_error(a->error, "%s: expected %u arrays, found %u", a->path, (unsigned)t->n, (unsigned)a->members);
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t item = t->order ? t->order[i] : i;
        if (!a->find(a, named ? t->names[item] : NULL, i, &found))
            return false;
        if (!found) /* by its name */
            return dp_error(a->error, "%s: there is no array %s", a->path, t->names[item]);
        if (!a->read(a, t->items[item], &leaves[item]))
            return false;
    }
    return true;
}

bool dp_archive_read(DpArchive *a, const DpType *t, DpLeaf *leaves)
{
    bool found, single = t->kind != DP_T_TUPLE && t->kind != DP_T_RECORD;
    if (single && a->members != 1)
        return dp_error(a->error, "%s: expected one array, found %u", a->path, (unsigned)a->members);
    dp_leaves_init(leaves, t);
    bool ok = single ? a->find(a, NULL, 0, &found) && a->read(a, t, leaves) : read_items(a, t, leaves);
    if (!ok)
        dp_leaves_free(leaves, dp_type_leaves(t));
    return ok;
}

bool dp_archive_write(DpArchive *a, const DpType *t, const DpLeaf *leaves)
{
    if (t->kind != DP_T_TUPLE && t->kind != DP_T_RECORD)
        return a->write(a, "arr_0", t, leaves);
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t item = t->order ? t->order[i] : i;
        char number[32];
        snprintf(number, sizeof number, "arr_%u", (unsigned)i);
        if (!a->write(a, t->kind == DP_T_RECORD ? t->names[item] : number, t->items[item], &leaves[item]))
            return false;
    }
    return true;
}
