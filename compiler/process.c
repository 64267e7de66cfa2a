#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* ---- a signal that ends dpc: the only state that is not passed along, as handlers get none ---- */

enum { FOLDER_BYTES = sizeof ((TempFolder *)0)->path };
static const char *const temp_names[] = {"program.c", "program", "in", "out", "err"};
enum { TEMP_NAMES = sizeof temp_names / sizeof *temp_names };
static char doomed_folder[FOLDER_BYTES], doomed_files[TEMP_NAMES][FOLDER_BYTES + 16];
static volatile sig_atomic_t has_doomed, child; /* child: the process that runs, or 0 */

/* Only what a handler may call. */
static void clean_up_and_end(int signal_number)
{
    if (child)
        kill((pid_t)child, SIGKILL);
    for (int i = 0; has_doomed && i < TEMP_NAMES; i++) unlink(doomed_files[i]);
    if (has_doomed)
        rmdir(doomed_folder);
    _exit(128 + signal_number);
}

static void doom_folder(const TempFolder *f)
{
    static const int signals[] = {SIGTERM, SIGHUP, SIGINT};
    memcpy(doomed_folder, f->path, sizeof doomed_folder);
    for (int i = 0; i < TEMP_NAMES; i++) temp_folder_file(f, temp_names[i], doomed_files[i], sizeof doomed_files[i]);
    has_doomed = 1;
    struct sigaction action = {0};
    action.sa_handler = clean_up_and_end;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &action, NULL);
}

/* ---- processes ---- */

static int open_stream(posix_spawn_file_actions_t *actions, int fd, const char *path)
{
    int flags = fd == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
    return path ? posix_spawn_file_actions_addopen(actions, fd, path, flags, 0600) : 0;
}

/* The child gets the signals that the parent ignores while it waits. */
static int set_signals(posix_spawnattr_t *attributes)
{
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGQUIT);
    sigaddset(&defaults, SIGTERM);
    int why = posix_spawnattr_setsigdefault(attributes, &defaults);
    return why ? why : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF);
}

static int spawn(pid_t *pid, char *const *argv, ProcessStreams streams)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int why = posix_spawn_file_actions_init(&actions);
    if (why)
        return why;
    why = posix_spawnattr_init(&attributes);
    if (!why) {
        why = set_signals(&attributes);
        why = why ? why : open_stream(&actions, STDIN_FILENO, streams.in);
        why = why ? why : open_stream(&actions, STDOUT_FILENO, streams.out);
        why = why ? why : open_stream(&actions, STDERR_FILENO, streams.err);
        why = why ? why : posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return why;
}

static time_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* Looks every millisecond; only tests run with a limit. Did it take too long? */
static bool watch(pid_t pid, unsigned seconds)
{
    const struct timespec millisecond = {0, 1000000};
    time_t end = now() + (time_t)seconds;
    siginfo_t info = {0};
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0) {
        if (now() >= end) {
            kill(pid, SIGKILL);
            return true;
        }
        nanosleep(&millisecond, NULL);
    }
    return false;
}

static int wait_for(pid_t pid, unsigned seconds)
{
    int status;
    bool late = seconds && watch(pid, seconds);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    if (late && WIFSIGNALED(status))
        return PROCESS_LATE;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int process_run(char *const *argv, ProcessStreams streams)
{
    /* The terminal's interrupt is for the child; dpc still has to remove its files. */
    struct sigaction ignore = {0}, old_int, old_quit;
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &old_int);
    sigaction(SIGQUIT, &ignore, &old_quit);
    pid_t pid = 0;
    fflush(NULL);
    int why = spawn(&pid, argv, streams);
    child = why ? 0 : (sig_atomic_t)pid;
    int status = why ? -1 : wait_for(pid, streams.seconds);
    child = 0;
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGQUIT, &old_quit, NULL);
    if (why)
        errno = why;
    return status;
}

/* ---- folders ---- */

bool temp_folder_create(TempFolder *f)
{
    const char *tmp = getenv("TMPDIR");
    int n = snprintf(f->path, sizeof f->path - 64, "%s/dpc-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (n < 0 || (size_t)n >= sizeof f->path - 64) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (!mkdtemp(f->path))
        return false;
    doom_folder(f);
    return true;
}

void temp_folder_file(const TempFolder *f, const char *name, char *out, unsigned long bytes)
{
    snprintf(out, bytes, "%s/%s", f->path, name);
}

void temp_folder_remove(const TempFolder *f)
{
    DIR *dir = opendir(f->path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[sizeof f->path + 256];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", f->path, entry->d_name);
        unlink(path);
    }
    if (dir)
        closedir(dir);
    rmdir(f->path);
    has_doomed = 0;
}
