#include "values.h"

#include <math.h>
#include <string.h>

bool dp_close(double a, double b, double tolerance)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (a == b)
        return true;
    if (isinf(a) || isinf(b))
        return false;
    return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

static double float_at(const DpLeaf *leaf, uint64_t i)
{
    return leaf->scalar == DP_F32 ? (double)((const float *)leaf->data)[i] : ((const double *)leaf->data)[i];
}

static bool same_data(const DpLeaf *a, const DpLeaf *b, double tolerance)
{
    if (a->ndata != b->ndata)
        return false;
    if (!dp_scalar_is_float(a->scalar))
        return a->ndata == 0 || memcmp(a->data, b->data, (size_t)a->ndata * dp_scalar_bytes(a->scalar)) == 0;
    for (uint64_t i = 0; i < a->ndata; i++)
        if (!dp_close(float_at(a, i), float_at(b, i), tolerance))
            return false;
    return true;
}

bool dp_leaf_equal(const DpLeaf *a, const DpLeaf *b, double tolerance)
{
    if (a->scalar != b->scalar || a->rank != b->rank)
        return false;
    for (uint32_t level = 0; level < a->rank; level++) {
        if (a->nlens[level] != b->nlens[level])
            return false;
        if (a->nlens[level] && memcmp(a->lens[level], b->lens[level], (size_t)a->nlens[level] * sizeof(uint64_t)) != 0)
            return false;
    }
    return same_data(a, b, tolerance);
}

bool dp_leaves_equal(const DpType *t, const DpLeaf *a, const DpLeaf *b, double tolerance)
{
    uint32_t n = dp_type_leaves(t);
    for (uint32_t i = 0; i < n; i++)
        if (!dp_leaf_equal(&a[i], &b[i], tolerance))
            return false;
    return true;
}
