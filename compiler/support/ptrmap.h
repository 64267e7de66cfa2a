/* Maps from pointers (names, nodes) to pointers. A map of zeros is empty; it lives in the arena. */
#ifndef DPC_PTRMAP_H
#define DPC_PTRMAP_H

#include "support/arena.h"

typedef struct PtrMap {
    const void **keys;
    void **values;
    uint32_t n, cap;
} PtrMap;

void *ptrmap_get(const PtrMap *m, const void *key); /* NULL when absent */
void ptrmap_put(Arena *a, PtrMap *m, const void *key, void *value);

#endif
