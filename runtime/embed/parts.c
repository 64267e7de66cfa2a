/* Values as the typed functions of `dpc library` have them: arrays of C with lengths and offsets (dp_embed.h). */
#include "context.h"
#include "dp_size.h"
#include "dp_status.h"

#include <stdlib.h>
#include <string.h>

/* The sequences of a level, of n above. False: out of memory, or no offsets. */
static bool make_level(DpLeaf *leaf, uint32_t level, const DpcLevel *from, uint64_t n, uint64_t *total)
{
    *total = from->offsets ? from->offsets[n] : dp_size_mul(n, from->length);
    if (!dp_leaf_make_level(leaf, level, n, from->length) || *total == DP_SIZE_MAX)
        return false;
    for (uint64_t i = 0; from->offsets && i < n; i++) {
        if (from->offsets[i + 1] < from->offsets[i])
            return false;
        leaf->lens[level][i] = from->offsets[i + 1] - from->offsets[i];
    }
    return !from->offsets || from->offsets[0] == 0;
}

DpcValue *dpc_of_parts(const char *type, const DpcPart *parts)
{
    DpcValue *v = dpc_value_new(type);
    bool ok = v != NULL;
    if (v)
        v->borrowed = true;
    for (uint32_t i = 0; ok && i < v->n; i++) {
        uint64_t n = 1;
        for (uint32_t level = 0; ok && level < v->leaves[i].rank; level++)
            ok = make_level(&v->leaves[i], level, &parts[i].levels[level], n, &n);
        ok = ok && (parts[i].data || n == 0);
        memcpy(&v->leaves[i].data, &parts[i].data, sizeof(void *)); /* it is only read */
        v->leaves[i].ndata = n;
    }
    if (ok)
        return v;
    dpc_value_free(v);
    return NULL;
}

uint64_t *dpc_new_offsets(const DpcLeaf *leaf, unsigned level, DpcError *error)
{
    const uint64_t n = leaf->sequences[level];
    uint64_t *offsets = n < SIZE_MAX / sizeof *offsets ? malloc((n + 1) * sizeof *offsets) : NULL;
    if (!offsets) {
        dpc_fail_memory(error);
        return NULL;
    }
    offsets[0] = 0;
    for (uint64_t i = 0; i < n; i++)
        offsets[i + 1] = offsets[i] + leaf->lengths[level][i];
    return offsets;
}

uint64_t dpc_first_length(const DpcLeaf *leaf, unsigned level)
{
    return leaf->sequences[level] ? leaf->lengths[level][0] : 0;
}
