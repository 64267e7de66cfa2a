/* Images, between the samples of a file (pixel by pixel) and leaves (one for each channel). */
#include "values.h"

#include <stdlib.h>

static bool is_byte(const DpType *t) { return t->kind == DP_T_SCALAR && t->scalar == DP_U8; }

bool dp_image_type(const DpType *t, uint32_t *channels)
{
    const DpType *pixel = t->kind == DP_T_ARRAY && t->element->kind == DP_T_ARRAY ? t->element->element : NULL;
    if (!pixel)
        return false;
    *channels = is_byte(pixel) ? 1 : 3;
    return is_byte(pixel) || (pixel->kind == DP_T_TUPLE && pixel->n == 3 && is_byte(pixel->items[0]) &&
                              is_byte(pixel->items[1]) && is_byte(pixel->items[2]));
}

bool dp_image_make(uint64_t h, uint64_t w, uint32_t channels, DpLeaf *leaves)
{
    uint64_t shape[] = {h, w};
    bool ok = true;
    for (uint32_t k = 0; k < channels; k++) {
        leaves[k] = (DpLeaf){.scalar = DP_U8, .rank = 2};
        ok = ok && dp_leaf_make(&leaves[k], shape);
    }
    if (!ok)
        dp_leaves_free(leaves, channels);
    return ok;
}

bool dp_image_store(const char *path, const uint8_t *samples, uint64_t h, uint64_t w, uint32_t channels, DpLeaf *leaves,
                    DpError e)
{
    if (!dp_image_make(h, w, channels, leaves))
        return dp_error_memory(e, path);
    for (uint32_t k = 0; k < channels; k++) {
        uint8_t *plane = leaves[k].data;
        for (uint64_t i = 0; i < h * w; i++)
            plane[i] = samples[i * channels + k];
    }
    return true;
}

uint8_t *dp_image_load(const DpLeaf *leaves, uint32_t channels, uint64_t *h, uint64_t *w, DpError e)
{
    uint64_t shape[2];
    if (!dp_leaf_shape(&leaves[0], shape)) {
        dp_error(e, "rows of the image differ in length");
        return NULL;
    }
    *h = shape[0];
    *w = shape[1];
    uint8_t *samples = dp_alloc_array(leaves[0].ndata, channels);
    if (!samples)
        dp_error_memory(e, "");
    for (uint32_t k = 0; samples && k < channels; k++) {
        const uint8_t *plane = leaves[k].data;
        for (uint64_t i = 0; i < leaves[0].ndata; i++)
            samples[i * channels + k] = plane[i];
    }
    return samples;
}
