#include "support/memory.h"

#include "dp_status.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local jmp_buf *guard;

bool memory_guard(void (*work)(void *data), void *data)
{
    jmp_buf here, *outer = guard;
    if (setjmp(here) == 0) {
        guard = &here;
        work(data);
        guard = outer;
        return true;
    }
    guard = outer;
    return false;
}

_Noreturn void memory_out(void)
{
    if (guard)
        longjmp(*guard, 1);
    fputs("dpc: error: out of memory\n", stderr);
    exit(EXIT_MEMORY);
}

void *memory_alloc(size_t n, size_t bytes)
{
    void *p = calloc(n ? n : 1, bytes ? bytes : 1);
    if (!p)
        memory_out();
    return p;
}

void *memory_resize(void *at, size_t n, size_t bytes)
{
    void *p = bytes && n > SIZE_MAX / bytes ? NULL : realloc(at, n && bytes ? n * bytes : 1);
    if (!p)
        memory_out();
    return p;
}
