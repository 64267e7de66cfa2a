/* The k-th malloc, calloc, realloc or strdup of the program's own code fails: ENOMEM. */
#define _GNU_SOURCE
#include "attack.h"

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static bool fails(const char *name, const void *caller)
{
    bool yes = attack_hits(name, caller);
    if (yes)
        errno = ENOMEM;
    return yes;
}

void *malloc(size_t n) { return fails("malloc", CALLER) ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return fails("calloc", CALLER) ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t n) { return fails("realloc", CALLER) ? NULL : __libc_realloc(old, n); }

char *strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *copy = fails("strdup", CALLER) ? NULL : __libc_malloc(n);
    return copy ? memcpy(copy, s, n) : NULL;
}
