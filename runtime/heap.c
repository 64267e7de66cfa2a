/* The heap: one buffer of the device (heap_buffer.c) and, on the host, the ledger of its blocks.
 *
 * Segregated good fit: a size's class is its leading bit and the three bits below; a block is taken from the first
 * class all of whose blocks fit, or from the request's own class if one there is large enough. Neighbours are joined
 * when freed. Low addresses are used again first, which keeps touched memory small. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static uint32_t class_of(uint64_t bytes)
{
    uint64_t units = bytes / DP_BLOCK_ALIGN; /* at least 1 */
    uint32_t top = 63 - (uint32_t)__builtin_clzll(units);
    uint32_t low = top >= 3 ? (uint32_t)(units >> (top - 3)) & 7 : (uint32_t)(units << (3 - top)) & 7;
    return top * 8 + low; /* below 8 * 32: heaps are smaller than 2^40 bytes */
}

static void free_list_add(Heap *h, DpBlock *b)
{
    uint32_t c = class_of(b->bytes);
    b->next_free = h->classes[c];
    b->link_free = &h->classes[c];
    if (b->next_free)
        b->next_free->link_free = &b->next_free;
    h->classes[c] = b;
    h->occupied[c / 64] |= UINT64_C(1) << (c % 64);
}

static void free_list_remove(Heap *h, DpBlock *b)
{
    *b->link_free = b->next_free;
    if (b->next_free)
        b->next_free->link_free = b->link_free;
    uint32_t c = class_of(b->bytes);
    if (!h->classes[c])
        h->occupied[c / 64] &= ~(UINT64_C(1) << (c % 64));
}

/* The best of a class's first few blocks. */
static DpBlock *best_in_class(const Heap *h, uint32_t c, uint64_t bytes)
{
    DpBlock *best = NULL;
    uint32_t tries = 16;
    for (DpBlock *b = h->classes[c]; b && tries; b = b->next_free, tries--)
        if (b->bytes >= bytes && (!best || b->bytes < best->bytes || (b->bytes == best->bytes && b->addr < best->addr)))
            best = b;
    return best;
}

static DpBlock *find_free(const Heap *h, uint64_t bytes)
{
    uint32_t c = class_of(bytes);
    DpBlock *found = best_in_class(h, c, bytes);
    for (uint32_t word = (c + 1) / 64; !found && word < HEAP_CLASSES / 64; word++) {
        uint64_t set = h->occupied[word];
        if (word == (c + 1) / 64)
            set &= UINT64_MAX << ((c + 1) % 64);
        if (set)
            found = best_in_class(h, word * 64 + (uint32_t)__builtin_ctzll(set), bytes);
    }
    if (!found) /* the own class once more, all of it */
        for (DpBlock *b = h->classes[c]; b && !found; b = b->next_free)
            if (b->bytes >= bytes)
                found = b;
    return found;
}

/* Cuts what lies behind `bytes` off as a free block of its own. False where the host has no memory for it. */
static bool split_block(DpRt *rt, DpBlock *b, uint64_t bytes)
{
    if (b->bytes == bytes)
        return true;
    DpBlock *rest = calloc(1, sizeof *rest);
    if (!rest) {
        dp_rt_fail_host_memory(rt, sizeof *rest);
        return false;
    }
    rest->addr = b->addr + bytes;
    rest->bytes = b->bytes - bytes;
    rest->before = b;
    rest->behind = b->behind;
    if (rest->behind)
        rest->behind->before = rest;
    b->behind = rest;
    b->bytes = bytes;
    free_list_add(&rt->heap, rest);
    return true;
}

static uint64_t rounded(uint64_t bytes) { return (bytes + DP_BLOCK_ALIGN - 1) / DP_BLOCK_ALIGN * DP_BLOCK_ALIGN; }

/* With DP_POISON, what nobody has written and what nobody may read any more is no value that a program would miss. */
static void poison(DpRt *rt, const DpBlock *b)
{
    const unsigned char pattern = 0xa5; /* in views: addresses far outside of the heap */
    if (rt->heap.poisoned && !dp_failed(rt))
        dp_rt_check_device(rt, rt->device->backend->fill(rt->device, &rt->heap.buffer, b->addr, b->bytes, pattern));
}

/* b takes over the bytes of the block behind it, which is in no list. */
static void absorb(DpBlock *b)
{
    DpBlock *next = b->behind;
    b->bytes += next->bytes;
    b->behind = next->behind;
    if (b->behind)
        b->behind->before = b;
    free(next);
}

bool dp_heap_grow(DpRt *rt, uint64_t bytes)
{
    Heap *h = &rt->heap;
    if (rt->lent) { /* whose addresses go from the buffer at hand */
        h->wanted = bytes;
        return false;
    }
    DpBlock *last = h->blocks, *more = calloc(1, sizeof *more);
    if (!more) {
        dp_rt_fail_host_memory(rt, sizeof *more);
        return false;
    }
    while (last->behind)
        last = last->behind;
    uint64_t before = h->buffer.bytes, contents = last->count ? before : last->addr;
    if (!dp_buffer_grow(rt, contents + bytes, contents)) {
        free(more);
        return false;
    }
    more->addr = before;
    more->bytes = h->buffer.bytes - before;
    more->before = last;
    last->behind = more;
    if (last->count) {
        free_list_add(h, more);
    } else {
        free_list_remove(h, last);
        absorb(last);
        free_list_add(h, last);
    }
    return true;
}

static DpBlock *find_or_grow(DpRt *rt, uint64_t bytes)
{
    DpBlock *b = find_free(&rt->heap, bytes);
    if (!b && rt->moves.freed) {
        dp_moves_flush(rt);
        b = find_free(&rt->heap, bytes);
    }
    if (!b && rt->unsettled.n) { /* what was packed takes less than it may */
        dp_rt_look(rt);
        b = find_free(&rt->heap, bytes);
    }
    return !b && dp_heap_grow(rt, bytes) ? find_free(&rt->heap, bytes) : b;
}

bool dp_heap_has(DpRt *rt, uint64_t bytes) { return dp_failed(rt) || rt->lent || find_or_grow(rt, rounded(bytes)); }

DpBlock *dp_block_new(DpRt *rt, uint64_t n, uint64_t element_bytes)
{
    Heap *h = &rt->heap;
    const uint64_t wanted = dp_size_mul(n, element_bytes), bytes = wanted > h->limit ? wanted : rounded(wanted);
    if (wanted == 0 || dp_failed(rt))
        return NULL;
    DpBlock *b = bytes > h->limit ? NULL : find_or_grow(rt, bytes);
    if (!b) {
        dp_rt_fail_memory(rt, wanted);
        return NULL;
    }
    free_list_remove(h, b);
    if (!split_block(rt, b, bytes)) {
        free_list_add(h, b);
        return NULL;
    }
    b->count = 1;
    dp_block_forget_total(rt, b);
    dp_block_become(b, BLOCK_PLAIN);
    h->live++;
    rt->profile.blocks++;
    h->used += bytes;
    if (h->used > h->most_used)
        h->most_used = h->used;
    poison(rt, b);
    if (!dp_failed(rt))
        return b;
    dp_block_release(rt, b);
    return NULL;
}

static void join_behind(Heap *h, DpBlock *b)
{
    if (!b->behind || b->behind->count)
        return;
    free_list_remove(h, b->behind);
    absorb(b);
}

void dp_heap_free(DpRt *rt, DpBlock *b)
{
    Heap *h = &rt->heap;
    if (b->unsettled)
        dp_unsettled_forget(rt, b);
    b->unsettled = false;
    if (dp_moves_keep(rt, b))
        return;
    poison(rt, b);
    h->used -= b->bytes;
    h->live--;
    b->count = 0;
    b->refs_are_element_refs = b->argument = false;
    b->refs = b->shared = NULL;
    b->retired = NULL;
    b->contig = (DpContig){{NULL, 0}, 0, 0, 0, 0};
    b->lengths = (DpLengths){.known = false};
    b->splits = (SplitsKept){.list = NULL};
    dp_block_become(b, BLOCK_FREE);
    join_behind(h, b);
    if (b->before && !b->before->count) {
        b = b->before;
        free_list_remove(h, b);
        absorb(b);
    }
    free_list_add(h, b);
}

void dp_block_shrink(DpRt *rt, DpBlock *b, uint64_t bytes)
{
    if (!b || rounded(bytes) >= b->bytes)
        return;
    bytes = rounded(bytes);
    uint64_t before = b->bytes;
    if (!split_block(rt, b, bytes))
        return;
    rt->heap.used -= before - bytes;
    DpBlock *rest = b->behind;
    free_list_remove(&rt->heap, rest);
    join_behind(&rt->heap, rest);
    free_list_add(&rt->heap, rest);
}

/* ---- opening ---- */
bool dp_heap_open(DpRt *rt, DpOpenError *error)
{
    Heap *h = &rt->heap;
    if (!dp_buffer_open(rt, error))
        return false;
    DpBlock *all = calloc(1, sizeof *all);
    if (!all)
        return dp_open_fails(error, EXIT_MEMORY, "out of memory");
    h->always_compact = getenv("DP_COMPACT") != NULL;
    h->poisoned = getenv("DP_POISON") != NULL;
    all->addr = DP_HEAP_START;
    all->bytes = h->buffer.bytes - DP_HEAP_START;
    h->blocks = all;
    free_list_add(h, all);
    return true;
}

void dp_heap_close(DpRt *rt)
{
    Heap *h = &rt->heap;
    for (DpBlock *b = h->blocks, *next; b; b = next) {
        next = b->behind;
        free(b);
    }
    dp_buffer_close(rt);
    memset(h, 0, sizeof *h);
}

bool dp_heap_check(const Heap *h)
{
    uint64_t at = DP_HEAP_START, used = 0, live = 0;
    const DpBlock *before = NULL;
    for (const DpBlock *b = h->blocks; b; before = b, b = b->behind) {
        bool two_free = before && !before->count && !b->count;
        if (b->addr != at || b->before != before || b->bytes == 0 || b->bytes % DP_BLOCK_ALIGN || two_free ||
            !dp_block_is_sound(b))
            return false;
        at += b->bytes;
        used += b->count ? b->bytes : 0;
        live += b->count != 0;
    }
    return at == h->buffer.bytes && used == h->used && live == h->live;
}
