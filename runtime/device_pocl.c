#define _GNU_SOURCE /* dl_iterate_phdr, pthread_getattr_np */
#include "device_pocl.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

enum { NAME_BYTES = 200, PATH_BYTES = 1100, ARGUMENTS = 256, LEAST_STACK = 4 << 20 };

bool dp_pocl_is_known(const char *version) { return strncmp(version, "3.1", 3) == 0 && sizeof(size_t) == 8; }

/* ---- finding ---- */
typedef struct Search {
    char ending[NAME_BYTES]; /* of its path */
    char path[PATH_BYTES];   /* empty: not found */
} Search;

static int look_at_library(struct dl_phdr_info *library, size_t size, void *data)
{
    Search *s = data;
    const size_t path = strlen(library->dlpi_name), ending = strlen(s->ending);
    (void)size;
    if (path < ending || path >= PATH_BYTES || strcmp(library->dlpi_name + path - ending, s->ending) != 0)
        return 0;
    memcpy(s->path, library->dlpi_name, path + 1);
    return 1;
}

DpPoclFunction *dp_pocl_find(const char *kernel, void **library)
{
    Search s = {.path = ""};
    char name[NAME_BYTES];
    *library = NULL;
    if (strlen(kernel) > NAME_BYTES - 30)
        return NULL;
    snprintf(s.ending, sizeof s.ending, "/%s.so", kernel);
    snprintf(name, sizeof name, "_pocl_kernel_%s_workgroup", kernel);
    if (!dl_iterate_phdr(look_at_library, &s))
        return NULL;
    *library = dlopen(s.path, RTLD_NOW | RTLD_NOLOAD);
    DpPoclFunction *function = NULL;
    void *const symbol = *library ? dlsym(*library, name) : NULL;
    memcpy(&function, &symbol, sizeof symbol); /* C has no conversion between these pointers */
    return function;
}

void dp_pocl_release(void *library)
{
    if (library)
        dlclose(library);
}

/* ---- calling ---- */
bool dp_pocl_computes_alike(void)
{
#ifdef __SSE__
    const unsigned flags = _MM_EXCEPT_MASK;
    return (_mm_getcsr() & ~flags) == _MM_MASK_MASK;
#else
    return false;
#endif
}

/* Where the calling thread's stack ends; asked once, as the first thread's takes the system long. */
static uintptr_t stack_end(void)
{
    static _Thread_local uintptr_t end = UINTPTR_MAX;
    pthread_attr_t attributes;
    void *lowest;
    size_t bytes;
    if (end == UINTPTR_MAX && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0)
            end = (uintptr_t)lowest;
        pthread_attr_destroy(&attributes);
    }
    return end;
}

bool dp_pocl_has_stack(void)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0), end = stack_end();
    return end < here && here - end >= LEAST_STACK;
}

/* The context begins with the numbers of work-groups, the offsets and the work-items of a group in three dimensions. */
bool dp_pocl_call(DpPoclFunction *function, const DpLaunch *launch)
{
    size_t context[32] = {launch->groups, 1, 1, 0, 0, 0, 1, 1, 1};
    void *arguments[ARGUMENTS];
    void *const heap = launch->heap->memory;
    if (launch->heaps + launch->n > ARGUMENTS)
        return false;
    for (uint32_t i = 0; i < launch->heaps; i++)
        arguments[i] = (void *)&heap;
    for (uint32_t i = 0; i < launch->n; i++)
        arguments[launch->heaps + i] = (void *)&launch->numbers[i];
    for (size_t g = 0; g < launch->groups; g++)
        function(arguments, context, g, 0, 0);
    return true;
}
