/* Values between host and device. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#define STACK_SPARE ((size_t)1 << 20) /* for what OpenCL does below a level of the program's recursion */

void dp_rt_read(DpRt *rt, uint64_t addr, void *to, uint64_t bytes)
{
    if (!dp_rt_see(rt))
        rt->profile.looks++; /* this is the one */
    dp_rt_fetch(rt, addr, to, bytes);
}

void dp_rt_fetch(DpRt *rt, uint64_t addr, void *to, uint64_t bytes)
{
    dp_starts_settle(rt);
    dp_moves_flush(rt);
    if (bytes == 0)
        return;
    if (dp_failed(rt)) {
        memset(to, 0, bytes);
        return;
    }
    ProfilePhase before = rt->profile.phase, phase = before == PHASE_HOST ? PHASE_LOOK : before;
    dp_profile_switch(rt, phase);
    dp_profile_count(rt, phase, bytes);
    dp_stretch_ends(rt);
    if (!dp_lent_read(rt, addr, to, bytes))
        dp_rt_check_device(rt, rt->device->backend->read(rt->device, &rt->heap.buffer, addr, bytes, to));
    if (dp_failed(rt))
        memset(to, 0, bytes);
    dp_profile_switch(rt, before);
}

void dp_rt_write(DpRt *rt, uint64_t addr, const void *from, uint64_t bytes)
{
    dp_moves_flush(rt);
    if (bytes && !dp_failed(rt))
        dp_rt_check_device(rt, rt->device->backend->write(rt->device, &rt->heap.buffer, addr, bytes, from));
}

void dp_rt_copy(DpRt *rt, const DpBuffer *from, uint64_t at, uint64_t to, uint64_t bytes)
{
    dp_moves_flush(rt);
    if (bytes && !dp_failed(rt))
        dp_rt_check_device(rt, rt->device->backend->copy(rt->device, from, at, &rt->heap.buffer, to, bytes));
}

DpArr dp_array_root(DpRt *rt, const void *elements, uint32_t bytes, uint64_t count, DpRefs *element_refs)
{
    DpBlock *b = dp_block_new(rt, count, bytes);
    if (b)
        dp_rt_write(rt, b->addr, elements, bytes * count);
    dp_block_add_refs(rt, b, element_refs);
    return dp_arr_of_block(rt, b, count);
}

/* ---- whole values in ---- */
/* Never NULL but in a failed state. */
static void *host_memory(DpRt *rt, uint64_t n, uint64_t bytes)
{
    uint64_t all = dp_size_mul(n, bytes);
    void *p = all < SIZE_MAX / 2 && !dp_failed(rt) ? malloc(all + 1) : NULL;
    if (!p)
        dp_rt_fail_host_memory(rt, all);
    return p;
}

/* A level of n views over the data below, which it describes as contiguous. Takes the reference to the data. */
static DpBlock *upload_level(DpRt *rt, const uint64_t *lens, uint64_t n, DpBlock *data, uint64_t total, uint32_t bytes)
{
    if (n == 0) {
        dp_block_release(rt, data);
        return NULL;
    }
    uint64_t *offsets = host_memory(rt, n + 1, 8), at = 0;
    bool regular = true;
    for (uint64_t i = 0; offsets && i < n; i++) {
        regular = regular && lens[i] == lens[0];
        offsets[i] = at;
        at += lens[i];
    }
    DpBlock *b = dp_block_new(rt, n, 16), *o = regular ? NULL : dp_block_new(rt, n + 1, 8);
    if (o) {
        offsets[n] = at;
        dp_rt_write(rt, o->addr, offsets, 8 * (n + 1));
    }
    free(offsets);
    if (dp_failed(rt)) {
        dp_block_release(rt, b);
        dp_block_release(rt, o);
        dp_block_release(rt, data);
        return NULL;
    }
    const Offsets layout = o ? (Offsets){o, 0} : offsets_regular(lens[0]);
    dp_block_be_lazy(b, (DpContig){layout, data ? data->addr : 0, n, total, bytes});
    dp_block_add_refs(rt, b, dp_refs_one(rt, data));
    return b;
}

DpArr dp_arr_over(DpRt *rt, const DpLeaf *leaf, DpBlock *numbers)
{
    uint32_t bytes = dp_scalar_bytes(leaf->scalar);
    uint64_t n = leaf->ndata;
    for (uint32_t level = leaf->rank; level-- > 1; bytes = 16) {
        numbers = upload_level(rt, leaf->lens[level], leaf->nlens[level], numbers, n, bytes);
        n = leaf->nlens[level];
    }
    return dp_arr_of_block(rt, numbers, n);
}

/* ---- whole values out ---- */
static uint64_t *download_lengths(DpRt *rt, const DpCol *views)
{
    uint64_t *cells = host_memory(rt, views->n, 16);
    if (!cells)
        return NULL;
    dp_rt_read(rt, dp_col_addr(rt, views), cells, 16 * views->n);
    for (uint64_t i = 0; i < views->n; i++)
        cells[i] = cells[2 * i];
    return cells;
}

/* Level by level: lengths, then the elements made contiguous. */
DpCol dp_lay_out(DpRt *rt, const DpArr *a, DpLeaf *leaf)
{
    uint32_t bytes = dp_scalar_bytes(leaf->scalar);
    ProfilePhase before = dp_profile_switch(rt, PHASE_DOWNLOAD);
    DpCtx *c = dp_nested_root(rt, a->len);
    DpCol col = dp_elems_root(rt, a, c, leaf->rank > 1 ? 16 : bytes);
    leaf->lens[0] = host_memory(rt, 1, 8);
    if (leaf->lens[0])
        leaf->lens[0][0] = a->len;
    leaf->nlens[0] = 1;
    for (uint32_t level = 1; level < leaf->rank && !dp_failed(rt); level++) {
        leaf->lens[level] = download_lengths(rt, &col);
        leaf->nlens[level] = col.n;
        DpCtx *below = dp_nested_views(rt, c, &col);
        DpCol elements = dp_elems(rt, &col, below, level + 1 < leaf->rank ? 16 : bytes);
        dp_col_release(rt, &col);
        dp_ctx_release(rt, &c);
        col = elements;
        c = below;
    }
    leaf->ndata = col.n;
    dp_ctx_release(rt, &c);
    dp_moves_flush(rt); /* others look there */
    if (dp_failed(rt)) {
        dp_leaves_free(leaf, 1);
        dp_col_release(rt, &col);
    }
    dp_profile_switch(rt, before);
    return col;
}

void dp_fetch(DpRt *rt, const DpCol *numbers, DpLeaf *leaf)
{
    ProfilePhase before = dp_profile_switch(rt, PHASE_DOWNLOAD);
    leaf->data = host_memory(rt, numbers->n, numbers->bytes);
    if (leaf->data)
        dp_rt_read(rt, numbers->addr, leaf->data, numbers->n * numbers->bytes);
    dp_profile_switch(rt, before);
}

void dp_download(DpRt *rt, const DpArr *a, DpLeaf *leaf)
{
    DpCol numbers = dp_lay_out(rt, a, leaf);
    dp_fetch(rt, &numbers, leaf);
    dp_col_release(rt, &numbers);
    if (dp_failed(rt))
        dp_leaves_free(leaf, 1);
}

/* ---- calls of entries ---- */
void dp_set_stack(DpRt *rt, uintptr_t stack_end) { rt->stack_limit = stack_end ? stack_end + STACK_SPARE : 0; }

void dp_run(DpRt *rt, const DpEntry *entry, DpArg *args, DpArg *results)
{
    entry->run(rt, entry, args, results);
    dp_profile_place(rt, 0);
    rt->at = 0;
    dp_rt_see(rt);
}

void dp_scalar_result(DpRt *rt, uint64_t bits, DpLeaf *leaf)
{
    leaf->data = host_memory(rt, 1, sizeof bits);
    leaf->ndata = 1;
    if (leaf->data)
        memcpy(leaf->data, &bits, sizeof bits);
}

void dp_download_results(DpRt *rt, const DpEntry *entry, const DpArg *results, DpLeaf *leaves)
{
    for (uint32_t i = 0; i < entry->nresults; i++) {
        if (leaves[i].rank)
            dp_download(rt, &results[i].arr, &leaves[i]);
        else
            dp_scalar_result(rt, results[i].bits, &leaves[i]);
    }
}

void dp_release_results(DpRt *rt, const DpEntry *entry, const DpLeaf *leaves, DpArg *results)
{
    for (uint32_t i = 0; i < entry->nresults; i++)
        if (leaves[i].rank)
            dp_arr_release(rt, &results[i].arr);
}
