/* The k-th call that writes fails, as on a full disk: on streams (but standard error, where the message goes),
 * descriptors, and what makes, closes or renames files.
 *
 * On a stream the failure is a real one: for that call, /dev/full stands behind its descriptor. */
#define _GNU_SOURCE
#include "attack.h"

#include <stdarg.h>
#include <sys/stat.h>

/* ---- streams ---- */

typedef struct Full {
    int fd, saved;
} Full; /* fd: -1 where nothing stands in */

static bool stream_fails(const char *name, FILE *f, const void *caller)
{
    int fd = fileno(f);
    return fd >= 0 && fd != STDERR_FILENO && attack_hits(name, caller);
}

static Full put_full(FILE *f)
{
    Full full = {fileno(f), -1};
    full.saved = dup(full.fd);
    long device = syscall(SYS_openat, AT_FDCWD, "/dev/full", O_WRONLY | O_CLOEXEC);
    dup2((int)device, full.fd);
    syscall(SYS_close, device);
    return full;
}

static int flush_stream(FILE *f)
{
    ATTACK_REAL(fflush);
    return real(f);
}

/* What is in the buffer cannot be written: the stream's error mark is set. */
static void fail_stream(FILE *f)
{
    Full full = put_full(f);
    flush_stream(f);
    dup2(full.saved, full.fd);
    syscall(SYS_close, full.saved);
    errno = ENOSPC;
}

static int close_stream(FILE *f, bool fails)
{
    ATTACK_REAL(fclose);
    if (fails)
        fail_stream(f);
    int result = real(f);
    errno = fails ? ENOSPC : errno;
    return fails ? EOF : result;
}

size_t fwrite(const void *from, size_t size, size_t n, FILE *f)
{
    ATTACK_REAL(fwrite);
    bool fails = stream_fails("fwrite", f, CALLER);
    size_t result = real(from, size, n, f);
    if (fails)
        fail_stream(f);
    return fails ? 0 : result;
}

static int print(FILE *f, bool fails, const char *format, va_list args)
{
    ATTACK_REAL(vfprintf);
    int result = real(f, format, args);
    if (fails)
        fail_stream(f);
    return fails ? -1 : result;
}

int vfprintf(FILE *f, const char *format, va_list args)
{
    return print(f, stream_fails("vfprintf", f, CALLER), format, args);
}

int fprintf(FILE *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = print(f, stream_fails("fprintf", f, CALLER), format, args);
    va_end(args);
    return result;
}

int printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = print(stdout, stream_fails("printf", stdout, CALLER), format, args);
    va_end(args);
    return result;
}

int fputs(const char *s, FILE *f)
{
    ATTACK_REAL(fputs);
    bool fails = stream_fails("fputs", f, CALLER);
    int result = real(s, f);
    if (fails)
        fail_stream(f);
    return fails ? EOF : result;
}

static int put_char(int c, FILE *f, bool fails)
{
    ATTACK_REAL(fputc);
    int result = real(c, f);
    if (fails)
        fail_stream(f);
    return fails ? EOF : result;
}

int fputc(int c, FILE *f) { return put_char(c, f, stream_fails("fputc", f, CALLER)); }
int putc(int c, FILE *f) { return put_char(c, f, stream_fails("putc", f, CALLER)); }
int putchar(int c) { return put_char(c, stdout, stream_fails("putchar", stdout, CALLER)); }

int puts(const char *s)
{
    ATTACK_REAL(puts);
    bool fails = stream_fails("puts", stdout, CALLER);
    int result = real(s);
    if (fails)
        fail_stream(stdout);
    return fails ? EOF : result;
}

/* Of all streams: standard output's is the one that fails. */
int fflush(FILE *f)
{
    bool fails = stream_fails("fflush", f ? f : stdout, CALLER);
    if (fails)
        fail_stream(f ? f : stdout);
    int result = flush_stream(f);
    return fails ? EOF : result;
}

int fclose(FILE *f) { return close_stream(f, stream_fails("fclose", f, CALLER)); }

static bool is_for_writing(const char *mode) { return strpbrk(mode, "wa+") != NULL; }

FILE *fopen(const char *path, const char *mode)
{
    ATTACK_REAL(fopen);
    if (!is_for_writing(mode) || !attack_hits("fopen", CALLER))
        return real(path, mode);
    errno = EACCES;
    return NULL;
}

FILE *fdopen(int fd, const char *mode)
{
    ATTACK_REAL(fdopen);
    if (!is_for_writing(mode) || !attack_hits("fdopen", CALLER))
        return real(fd, mode);
    errno = ENOMEM;
    return NULL;
}

FILE *open_memstream(char **text, size_t *n)
{
    ATTACK_REAL(open_memstream);
    if (!attack_hits("open_memstream", CALLER))
        return real(text, n);
    errno = ENOMEM;
    return NULL;
}

/* ---- descriptors and names ---- */

#define FAILS_WITH(code, type, name, parameters, arguments)                                                            \
    type name parameters                                                                                               \
    {                                                                                                                  \
        ATTACK_REAL(name);                                                                                             \
        if (!attack_hits(#name, CALLER))                                                                               \
            return real arguments;                                                                                     \
        errno = code;                                                                                                  \
        return (type)-1;                                                                                               \
    }

ssize_t write(int fd, const void *from, size_t n)
{
    ATTACK_REAL(write);
    if (fd == STDERR_FILENO || !attack_hits("write", CALLER))
        return real(fd, from, n);
    errno = ENOSPC;
    return -1;
}

int close(int fd) /* it is closed all the same */
{
    ATTACK_REAL(close);
    bool fails = attack_hits("close", CALLER);
    int result = real(fd);
    errno = fails ? EIO : errno;
    return fails ? -1 : result;
}

char *mkdtemp(char *path)
{
    ATTACK_REAL(mkdtemp);
    if (!attack_hits("mkdtemp", CALLER))
        return real(path);
    errno = ENOSPC;
    return NULL;
}

FAILS_WITH(ENOSPC, int, mkstemp, (char *path), (path))
FAILS_WITH(ENOSPC, int, mkdir, (const char *path, mode_t mode), (path, mode))
FAILS_WITH(EIO, int, rename, (const char *from, const char *to), (from, to))
FAILS_WITH(ENOSPC, int, ftruncate, (int fd, off_t n), (fd, n))
FAILS_WITH(EIO, int, fsync, (int fd), (fd))
FAILS_WITH(EIO, int, fchmod, (int fd, mode_t mode), (fd, mode))
FAILS_WITH(ENFILE, int, pipe, (int fds[2]), (fds))
