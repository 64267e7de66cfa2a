/* Writing files: see dp_output.h. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "dp_output.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_LINKS = 40, MOST_NAMES = 100 };

/* ---- names: what stands behind all links ---- */

typedef struct Place {
    char path[PATH_MAX]; /* no link */
    size_t folder;       /* path[0..folder) */
    bool in_place;       /* an open stream of some process */
    int stream;          /* of this process: its number, else -1 */
} Place;

static const char *skip_digits(const char *s)
{
    while (isdigit((unsigned char)*s))
        s++;
    return s;
}

/* "/proc/PID/fd" is a folder of open streams. A new open of such a stream would begin at its file's start. */
static void find_stream(Place *p)
{
    const char *pid = p->path + 6, *fd = "/fd/", *number = p->path + p->folder + 1;
    if (strncmp(p->path, "/proc/", 6) != 0 || strncmp(skip_digits(pid), fd, strlen(fd)) != 0 ||
        !isdigit((unsigned char)*number) || *skip_digits(number))
        return;
    p->in_place = true;
    if (strtol(pid, NULL, 10) == (long)getpid())
        p->stream = (int)strtol(number, NULL, 10);
}

/* Puts folder/name into p->path, the folder by its real name. */
static bool set_path(Place *p, const char *path)
{
    char folder[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int n = snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - path) : 2, slash ? path : "./");
    if (n < 0 || (size_t)n >= sizeof folder || !realpath(folder, real)) {
        errno = n < 0 || (size_t)n >= sizeof folder ? ENAMETOOLONG : errno;
        return false;
    }
    p->folder = strcmp(real, "/") == 0 ? 0 : strlen(real);
    n = snprintf(p->path, sizeof p->path, "%.*s/%s", (int)p->folder, real, name);
    if (n >= 0 && (size_t)n < sizeof p->path)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

/* The last link may lead to a file that is not there. */
static bool resolve(Place *p, const char *path)
{
    char link[PATH_MAX], next[2 * PATH_MAX];
    *p = (Place){.stream = -1};
    if (!set_path(p, path))
        return false;
    for (int links = 0; links < MOST_LINKS; links++) {
        find_stream(p);
        ssize_t n = p->in_place ? -1 : readlink(p->path, link, sizeof link - 1);
        if (n < 0)
            return p->in_place || errno == EINVAL || errno == ENOENT; /* EINVAL: no link */
        link[n] = '\0';
        snprintf(next, sizeof next, "%.*s%s", link[0] == '/' ? 0 : (int)p->folder + 1, p->path, link);
        if (!set_path(p, next))
            return false;
    }
    errno = ELOOP;
    return false;
}

/* What an output of this name would replace: a regular file, or none. */
static bool find_replaced(Place *p, const char *path, struct stat *old, bool *exists)
{
    if (!resolve(p, path) || p->in_place)
        return false;
    *exists = stat(p->path, old) == 0;
    return *exists ? S_ISREG(old->st_mode) : errno == ENOENT;
}

bool dp_output_same(const char *a, const char *b)
{
    Place p, q;
    struct stat s, t;
    bool s_exists, t_exists;
    if (!find_replaced(&p, a, &s, &s_exists) || !find_replaced(&q, b, &t, &t_exists))
        return false;
    return strcmp(p.path, q.path) == 0 || (s_exists && t_exists && s.st_dev == t.st_dev && s.st_ino == t.st_ino);
}

bool dp_output_replaces(const char *output, const char *file)
{
    struct stat s;
    return stat(file, &s) == 0 && dp_output_same(output, file);
}

/* ---- signals: the only state that is not passed along, as handlers get none ---- */

static const int ending[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGALRM, SIGVTALRM,
                             SIGPROF, SIGUSR1, SIGUSR2, SIGPIPE, SIGXCPU};
enum { ENDING = sizeof ending / sizeof *ending, MOST_OPEN = 4 };
static char *volatile temporaries[MOST_OPEN];
static struct sigaction before[ENDING]; /* what signals did before: OpenCL implementations have handlers, too */
static bool handled[ENDING];

void dp_outputs_remove(void)
{
    for (int i = 0; i < MOST_OPEN; i++)
        if (temporaries[i])
            unlink(temporaries[i]);
}

/* Then what would have happened without this handler. */
static void remove_and_end(int number)
{
    dp_outputs_remove();
    for (int i = 0; i < ENDING; i++)
        if (ending[i] == number)
            sigaction(number, &before[i], NULL);
    raise(number);
}

static bool any_open(void)
{
    bool any = false;
    for (int i = 0; i < MOST_OPEN; i++)
        any = any || temporaries[i];
    return any;
}

/* Signals that are ignored stay so. */
static void handle_signals(bool on)
{
    struct sigaction new = {0};
    new.sa_handler = remove_and_end;
    for (int i = 0; i < ENDING; i++) {
        bool ignored = on && (sigaction(ending[i], NULL, &before[i]) != 0 || before[i].sa_handler == SIG_IGN);
        if (on ? !ignored : handled[i])
            sigaction(ending[i], on ? &new : &before[i], NULL);
        handled[i] = on && !ignored;
    }
}

static void begin_temporary(DpOutput *o)
{
    if (!any_open())
        handle_signals(true);
    for (o->slot = MOST_OPEN - 1; o->slot >= 0 && temporaries[o->slot]; o->slot--) {
    }
    if (o->slot >= 0)
        temporaries[o->slot] = o->temporary;
}

/* The name has been removed, or has become the file's. */
static void end_temporary(DpOutput *o)
{
    if (o->slot >= 0)
        temporaries[o->slot] = NULL;
    if (!any_open())
        handle_signals(false);
    free(o->temporary);
    free(o->target);
    *o = (DpOutput){.slot = -1};
}

/* ---- opening ---- */

static bool open_stream(DpOutput *o, int fd)
{
    o->file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (o->file)
        return true;
    int why = errno == EINVAL ? EBADF : errno; /* EINVAL: the stream is not for writing */
    if (fd >= 0)
        close(fd);
    errno = why;
    return false;
}

/* What is there is overwritten; pipes wait for a reader. */
static bool open_in_place(DpOutput *o, const Place *p)
{
    *o = (DpOutput){.slot = -1};
    fflush(stdout); /* which may be the same stream */
    return open_stream(o, p->stream >= 0 ? dup(p->stream) : open(p->path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC));
}

/* A new file beside the target. Its name does not depend on the target's, which may be as long as names can be. */
static int create_beside(DpOutput *o, const Place *p, mode_t mode)
{
    enum { NAME_BYTES = 64 };
    struct timespec t;
    o->target = strdup(p->path);
    o->temporary = malloc(p->folder + NAME_BYTES);
    if (!o->target || !o->temporary)
        return -1;
    clock_gettime(CLOCK_REALTIME, &t);
    o->temporary[0] = '\0';
    begin_temporary(o); /* before there is a file that a signal would leave */
    for (int i = 0; i < MOST_NAMES; i++) {
        snprintf(o->temporary, p->folder + NAME_BYTES, "%.*s/.dpc-%ld-%lx-%x", (int)p->folder, p->path, (long)getpid(),
                 (unsigned long)t.tv_nsec, (unsigned)i);
        int fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Gives the new file the old one's owner and mode. */
static bool keep_owner(int fd, const struct stat *old, mode_t mode)
{
    struct stat new;
    mode_t executable = mode & 0111 ? (old->st_mode & 0444) >> 2 : 0;
    if (fstat(fd, &new) != 0)
        return false;
    bool same = new.st_uid == old->st_uid &&new.st_gid == old->st_gid;
    return (same || fchown(fd, old->st_uid, old->st_gid) == 0) && fchmod(fd, (old->st_mode & 0777) | executable) == 0;
}

static bool open_temporary(DpOutput *o, const Place *p, const struct stat *old, mode_t mode)
{
    *o = (DpOutput){.slot = -1};
    int fd = create_beside(o, p, old ? 0600 : mode);
    bool kept = fd >= 0 && (!old || keep_owner(fd, old, mode));
    if (kept && open_stream(o, fd)) /* else it has closed it */
        return true;
    int why = errno;
    if (fd >= 0)
        unlink(o->temporary);
    if (fd >= 0 && !kept)
        close(fd);
    end_temporary(o);
    errno = why;
    return false;
}

bool dp_output_open(DpOutput *o, const char *path, mode_t mode)
{
    Place p;
    struct stat old;
    *o = (DpOutput){.slot = -1};
    if (!resolve(&p, path))
        return false;
    bool exists = p.stream < 0 && stat(p.path, &old) == 0;
    if (p.stream >= 0 || (exists && !S_ISREG(old.st_mode)) || p.in_place)
        return open_in_place(o, &p);
    if (exists ? access(p.path, W_OK) != 0 : errno != ENOENT) /* a file that is not writable is not replaced either */
        return false;
    if (open_temporary(o, &p, exists ? &old : NULL, mode))
        return true;
    /* ENOENT: a folder such as those of /proc has no room for new files. */
    bool not_allowed = errno == EACCES || errno == EPERM || errno == EROFS || errno == EINVAL || errno == ENOENT;
    return exists && not_allowed && open_in_place(o, &p);
}

/* ---- closing ---- */

bool dp_stream_done(FILE *stream)
{
    if (fflush(stream) != 0)
        return false;
    if (!ferror(stream))
        return true;
    /* An earlier write failed, and its reason is gone: another one has the same. What is there is no result anyhow. */
    if (write(fileno(stream), "\n", 1) == 1)
        errno = EIO;
    return false;
}

/* A file that cannot be renamed over, such as one that is mounted by itself: its bytes are replaced. */
static bool copy_over(const char *from, const char *to)
{
    char part[1 << 14];
    FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "r+b") : NULL;
    bool ok = out && ftruncate(fileno(out), 0) == 0;
    for (size_t n; ok && (n = fread(part, 1, sizeof part, in)) > 0;)
        ok = fwrite(part, 1, n, out) == n;
    ok = ok && !ferror(in);
    if (out)
        ok = fclose(out) == 0 && ok;
    if (in)
        fclose(in);
    return ok && unlink(from) == 0;
}

static bool take_name(const DpOutput *o)
{
    if (rename(o->temporary, o->target) == 0)
        return true;
    struct stat old;
    bool there = errno == EBUSY || errno == EPERM || errno == EACCES || errno == EXDEV;
    int why = errno;
    if (there && stat(o->target, &old) == 0 && S_ISREG(old.st_mode))
        return copy_over(o->temporary, o->target);
    errno = why;
    return false;
}

bool dp_output_close(DpOutput *o)
{
    bool ok = dp_stream_done(o->file);
    int why = errno;
    if (fclose(o->file) != 0 && ok) {
        ok = false;
        why = errno;
    }
    o->file = NULL;
    if (ok && o->temporary && !take_name(o)) {
        ok = false;
        why = errno;
    }
    if (!ok && o->temporary)
        unlink(o->temporary);
    end_temporary(o);
    errno = why;
    return ok;
}

void dp_output_discard(DpOutput *o)
{
    int why = errno;
    if (o->temporary)
        unlink(o->temporary);
    if (o->file)
        fclose(o->file);
    end_temporary(o);
    errno = why;
}

/* ---- standard streams ---- */

/* They are opened the wrong way round, so that using them fails. */
void dp_streams_guard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}
