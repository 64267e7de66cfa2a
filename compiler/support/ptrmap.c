#include "support/ptrmap.h"

/* Open addressing with linear probing; at most half full. */

static uint32_t slot_of(const PtrMap *m, const void *key)
{
    uint64_t h = (uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t i = (uint32_t)(h >> 32) & (m->cap - 1);
    while (m->keys[i] && m->keys[i] != key)
        i = (i + 1) & (m->cap - 1);
    return i;
}

void *ptrmap_get(const PtrMap *m, const void *key) { return m->cap ? m->values[slot_of(m, key)] : NULL; }

static void grow(Arena *a, PtrMap *m)
{
    PtrMap old = *m;
    m->cap = old.cap ? 2 * old.cap : 64;
    m->keys = arena_array(a, const void *, m->cap);
    m->values = arena_array(a, void *, m->cap);
    for (uint32_t i = 0; i < old.cap; i++) {
        if (old.keys[i]) {
            uint32_t slot = slot_of(m, old.keys[i]);
            m->keys[slot] = old.keys[i];
            m->values[slot] = old.values[i];
        }
    }
}

void ptrmap_put(Arena *a, PtrMap *m, const void *key, void *value)
{
    if (2 * (m->n + 1) > m->cap)
        grow(a, m);
    uint32_t slot = slot_of(m, key);
    if (!m->keys[slot])
        m->n++;
    m->keys[slot] = key;
    m->values[slot] = value;
}
