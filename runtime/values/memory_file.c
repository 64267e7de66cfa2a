/* A file in memory: see dp_output.h. POSIX's open_memstream will not do: where its memory cannot grow, glibc's says
 * nothing of what it has lost. */
#define _GNU_SOURCE /* fopencookie: glibc and musl */
#include "dp_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* With room for a NUL behind them. */
static ssize_t add_bytes(void *file, const char *bytes, size_t n)
{
    DpMemoryFile *m = file;
    if (n >= m->room - m->n) {
        size_t room = 2 * (m->n + n + 1);
        char *grown = realloc(m->bytes, room);
        if (!grown) {
            m->failed = true;
            return 0;
        }
        m->bytes = grown;
        m->room = room;
    }
    memcpy(m->bytes + m->n, bytes, n);
    m->n += n;
    return (ssize_t)n;
}

bool dp_memory_open(DpMemoryFile *m)
{
    *m = (DpMemoryFile){0};
    m->file = fopencookie(m, "w", (cookie_io_functions_t){.write = add_bytes});
    return m->file != NULL;
}

char *dp_memory_close(DpMemoryFile *m)
{
    fclose(m->file);
    add_bytes(m, "", 0); /* nothing may have been written */
    if (m->failed) {
        free(m->bytes);
        errno = ENOMEM;
        return NULL;
    }
    m->bytes[m->n] = '\0';
    return m->bytes;
}
