#include "flat/ref.h"

#include <string.h>

/* ---- segments ---- */

uint64_t ref_offsets(const uint64_t *lens, uint64_t n, uint64_t *off)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t len = lens[i]; /* lens may be off */
        off[i] = sum;
        sum += len;
    }
    off[n] = sum;
    return sum;
}

bool ref_offsets_valid(const uint64_t *off, uint64_t nseg)
{
    if (off[0] != 0)
        return false;
    for (uint64_t s = 0; s < nseg; s++)
        if (off[s] > off[s + 1])
            return false;
    return true;
}

void ref_segments(const uint64_t *off, uint64_t nseg, uint64_t *seg)
{
    for (uint64_t s = 0; s < nseg; s++)
        for (uint64_t i = off[s]; i < off[s + 1]; i++)
            seg[i] = s;
}

uint64_t ref_segment_of(const uint64_t *off, uint64_t nseg, uint64_t i)
{
    uint64_t low = 0, high = nseg; /* off[low] <= i < off[high] */
    while (high - low > 1) {
        uint64_t mid = low + (high - low) / 2;
        if (off[mid] <= i)
            low = mid;
        else
            high = mid;
    }
    return low;
}

void ref_fold_segments(const uint64_t *off, uint64_t nseg, const RefFold *fold)
{
    for (uint64_t s = 0; s < nseg; s++) {
        if (fold->begin)
            fold->begin(fold->data, s);
        for (uint64_t i = off[s]; i < off[s + 1]; i++)
            if (fold->element)
                fold->element(fold->data, s, i);
        if (fold->end)
            fold->end(fold->data, s);
    }
}

/* ---- selecting ---- */

uint64_t ref_pack(const uint8_t *flags, uint64_t n, uint64_t *idx)
{
    uint64_t k = 0;
    for (uint64_t i = 0; i < n; i++)
        if (flags[i])
            idx[k++] = i;
    return k;
}

uint64_t ref_partition(const uint8_t *flags, uint64_t n, uint64_t *yes, uint64_t *no)
{
    uint64_t nyes = 0, nno = 0;
    for (uint64_t i = 0; i < n; i++)
        if (flags[i])
            yes[nyes++] = i;
        else
            no[nno++] = i;
    return nyes;
}

void ref_pack_offsets(const uint64_t *off, uint64_t nseg, const uint64_t *idx, uint64_t n, uint64_t *packed)
{
    uint64_t k = 0;
    for (uint64_t s = 0; s < nseg; s++) {
        packed[s] = k;
        while (k < n && idx[k] < off[s + 1])
            k++;
    }
    packed[nseg] = k;
}

/* ---- moving ---- */

void ref_gather(void *dst, const void *src, size_t bytes, const uint64_t *idx, uint64_t n)
{
    char *to = dst;
    const char *from = src;
    for (uint64_t i = 0; i < n; i++)
        memcpy(to + i * bytes, from + idx[i] * bytes, bytes);
}

void ref_scatter(void *dst, const void *src, size_t bytes, const uint64_t *idx, uint64_t n)
{
    char *to = dst;
    const char *from = src;
    for (uint64_t i = 0; i < n; i++)
        memcpy(to + idx[i] * bytes, from + i * bytes, bytes);
}

void ref_compose(uint64_t *out, const uint64_t *outer, const uint64_t *inner, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        out[i] = outer[inner[i]];
}

bool ref_mark_once(uint8_t *seen, uint64_t limit, const uint64_t *idx, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (idx[i] >= limit || seen[idx[i]])
            return false;
        seen[idx[i]] = 1;
    }
    return true;
}

/* ---- sorting ---- */

/* Merges the sorted halves [0, mid) and [mid, n) of idx; of equals the left one goes first. */
static void merge(uint64_t *idx, uint64_t mid, uint64_t n, uint64_t *scratch, RefLess less, void *data)
{
    uint64_t a = 0, b = mid;
    for (uint64_t k = 0; k < n; k++) {
        bool right = a == mid || (b < n && less(data, idx[b], idx[a]));
        scratch[k] = right ? idx[b++] : idx[a++];
    }
    memcpy(idx, scratch, n * sizeof *idx);
}

void ref_sort(uint64_t *idx, uint64_t n, uint64_t *scratch, RefLess less, void *data)
{
    if (n < 2)
        return;
    uint64_t mid = n / 2;
    ref_sort(idx, mid, scratch, less, data);
    ref_sort(idx + mid, n - mid, scratch, less, data);
    merge(idx, mid, n, scratch, less, data);
}
