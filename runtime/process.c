/* What belongs to the process and not to one of its runtimes: the folder in which PoCL keeps its kernels, for it is
 * told by an environment variable. Without another place it is a folder that ends with the process. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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
static void prepare(void)
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
