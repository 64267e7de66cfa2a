/* What belongs to the process and not to one of its runtimes: what PoCL is told by environment variables. The folder in
 * which it keeps its kernels: without another place one that ends with the process. And that each of its threads has a
 * core of its own. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Written once, under `once`. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct Folder {
    char path[512]; /* "": PoCL has a lasting one */
    pid_t cleaner;  /* the process that removes it when the pipe's end `alive` is closed; 0: there is none */
    int alive;
} folder = {.alive = -1};

static bool make_own(void)
{
    const char *tmp = getenv("TMPDIR");
    const char *const parents[] = {tmp && tmp[0] == '/' ? tmp : "/tmp", "/tmp", "/dev/shm"};
    for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++) {
        int n = snprintf(folder.path, sizeof folder.path, "%s/dpc-XXXXXX", parents[i]);
        if (n < (int)sizeof folder.path && mkdtemp(folder.path))
            return true;
    }
    folder.path[0] = 0;
    return false;
}

/* The end of a process that was made to clean up: its one open file is the pipe, which ends with the process that
 * writes to it. */
static _Noreturn void clean_later(int pipe_end)
{
    enum { MOST_FILES = 1024 };
    char byte;
    setsid(); /* a terminal's signals, and those to the group, are not meant for it */
    dup2(pipe_end, STDIN_FILENO);
    for (int fd = STDIN_FILENO + 1; fd < MOST_FILES; fd++)
        close(fd);
    while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {
    }
    dp_folder_remove(folder.path);
    _exit(0);
}

/* A process of its own removes the folder when this one has ended, in whatever way. Without it dp_process_end does. */
static void start_cleaner(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    folder.cleaner = fork();
    if (folder.cleaner == 0)
        clean_later(ends[0]);
    close(ends[0]);
    folder.alive = ends[1];
}

/* PoCL hides itself where it cannot make a folder for its kernels, and loads what it finds there: so it gets one that
 * others cannot enter. POCL_CACHE_DIR is the user's to set. */
static void find_folder(void)
{
    if (getenv("POCL_CACHE_DIR"))
        return;
    char *lasting = dp_cache_directory(), path[4200];
    if (lasting) {
        snprintf(path, sizeof path, "%s/pocl", lasting);
        setenv("POCL_CACHE_DIR", path, 1);
    } else if (make_own()) {
        setenv("POCL_CACHE_DIR", folder.path, 1);
        start_cleaner();
    }
    free(lasting);
}

/* Linux often wakes PoCL's threads on one core, the host's being the other, and evens that out only after some
 * milliseconds: a launch of one takes two. So each gets a core, thread i core i, as far as PoCL goes; where the user
 * has limited the process to some cores, or PoCL to some threads, that would be against it. POCL_AFFINITY is the user's
 * to set, too. */
static void spread_threads(void)
{
    const long configured = sysconf(_SC_NPROCESSORS_CONF), online = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t allowed;
    if (getenv("POCL_MAX_PTHREAD_COUNT") || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    long core = 0;
    while (core < online && core < CPU_SETSIZE && CPU_ISSET((size_t)core, &allowed))
        core++;
    if (core == online && core == configured)
        setenv("POCL_AFFINITY", "1", 0);
}

static void prepare(void)
{
    find_folder();
    spread_threads();
}

bool dp_process_prepare(void)
{
    pthread_once(&once, prepare);
    return !folder.path[0];
}

void dp_process_end(void)
{
    if (!folder.path[0])
        return;
    if (folder.alive >= 0)
        close(folder.alive);
    if (folder.cleaner <= 0 || waitpid(folder.cleaner, NULL, 0) != folder.cleaner)
        dp_folder_remove(folder.path);
    folder.path[0] = 0;
}
