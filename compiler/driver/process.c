#define _XOPEN_SOURCE 700 /* realpath */

#include "driver/process.h"

#include "dp_output.h"
#include "dp_status.h"
#include "support/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { GRACE = 2 }; /* seconds that a program has to clean up in */

/* What a signal finds: the only state that is not passed along. */
static struct {
    pthread_mutex_t mutex;
    pid_t child; /* the program that runs, or 0 */
    bool own_group, ending;
    bool spares_interrupt;
    unsigned interrupts; /* that were spared while nothing ran */
    TempFolder folder;   /* path: "" if there is none */
    sigset_t before;     /* the mask that dpc was started with */
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static time_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* Looks every millisecond. Has the program ended in time? */
static bool ends_within(pid_t pid, unsigned seconds)
{
    const struct timespec millisecond = {0, 1000000};
    time_t end = now() + (time_t)seconds;
    siginfo_t info = {0};
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0) {
        if (now() >= end)
            return false;
        nanosleep(&millisecond, NULL);
    }
    return true;
}

static void kill_program(pid_t pid, bool own_group, int number) { kill(own_group ? -pid : pid, number); }

/* ---- signals ---- */

static const int held_signals[] = {SIGPIPE, SIGXFSZ,   SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                   SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGXCPU};
enum { HELD_SIGNALS = sizeof held_signals / sizeof *held_signals, FIRST_WAITED = 2 };

/* Those from `first` on that are not ignored. */
static sigset_t signal_set(int first)
{
    sigset_t set;
    struct sigaction action;
    sigemptyset(&set);
    for (int i = first; i < HELD_SIGNALS; i++)
        if (sigaction(held_signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&set, held_signals[i]);
    return set;
}

void signals_end_by_pipe(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* it may be waiting for this thread */
}

void signals_spare_interrupt(void)
{
    pthread_mutex_lock(&state.mutex);
    state.spares_interrupt = true;
    pthread_mutex_unlock(&state.mutex);
}

unsigned signals_interrupts(void)
{
    pthread_mutex_lock(&state.mutex);
    const unsigned n = state.interrupts;
    pthread_mutex_unlock(&state.mutex);
    return n;
}

/* If so, the program that runs gets it. */
static bool is_spared(int number)
{
    pthread_mutex_lock(&state.mutex);
    const bool spared = number == SIGINT && state.spares_interrupt;
    if (spared && state.child)
        kill_program(state.child, state.own_group, SIGINT);
    else if (spared)
        state.interrupts++;
    pthread_mutex_unlock(&state.mutex);
    return spared;
}

static void *wait_for_signals(void *data)
{
    (void)data;
    sigset_t set = signal_set(FIRST_WAITED), one;
    int number = 0;
    while (sigwait(&set, &number) != 0 || number == 0 || is_spared(number)) {
    }
    pthread_mutex_lock(&state.mutex);
    state.ending = true;
    pid_t child = state.child;
    pthread_mutex_unlock(&state.mutex);
    if (child) {
        kill_program(child, state.own_group, SIGTERM);
        ends_within(child, GRACE);
        kill_program(child, state.own_group, SIGKILL); /* or what is left of its group */
        ends_within(child, GRACE);
        waitpid(child, NULL, WNOHANG);
    }
    if (state.folder.path[0])
        temp_folder_remove(&state.folder);
    dp_outputs_remove();
    signal(number, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    kill(getpid(), number);
    _exit(128 + number);
}

/* Without a thread to wait, signals end dpc as they would have without this. */
void signals_start(void)
{
    sigset_t set = signal_set(0);
    pthread_t thread;
    pthread_sigmask(SIG_BLOCK, &set, &state.before);
    if (pthread_create(&thread, NULL, wait_for_signals, NULL) == 0)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_SETMASK, &state.before, NULL);
}

/* ---- processes ---- */

typedef struct ProcessWork {
    int (*run)(void *data);
    void *data;
} ProcessWork;

static int open_stream(posix_spawn_file_actions_t *actions, int fd, const char *path)
{
    int flags = fd == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
    return path ? posix_spawn_file_actions_addopen(actions, fd, path, flags, 0600) : 0;
}

/* The environment with another TMPDIR; free() it and its first word. */
static char **environment(const char *tmp)
{
    static const char name[] = "TMPDIR=";
    size_t n = 0, used = 1, bytes = sizeof name + strlen(tmp);
    while (environ && environ[n])
        n++;
    char **words = memory_alloc(n + 2, sizeof *words);
    words[0] = memory_alloc(bytes, 1);
    snprintf(words[0], bytes, "%s%s", name, tmp);
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], name, sizeof name - 1) != 0)
            words[used++] = environ[i];
    return words;
}

/* The program gets the signals that are held here. */
static int set_attributes(posix_spawnattr_t *attributes, bool own_group)
{
    int why = posix_spawnattr_setsigmask(attributes, &state.before);
    why = why ? why : posix_spawnattr_setpgroup(attributes, 0);
    return why ? why
               : posix_spawnattr_setflags(attributes,
                                          (short)(POSIX_SPAWN_SETSIGMASK | (own_group ? POSIX_SPAWN_SETPGROUP : 0)));
}

static int spawn(pid_t *pid, char *const *argv, const ProcessOptions *o)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int why = posix_spawn_file_actions_init(&actions);
    if (why)
        return why;
    why = posix_spawnattr_init(&attributes);
    if (!why) {
        char **own = o->tmp ? environment(o->tmp) : NULL;
        why = set_attributes(&attributes, o->own_group);
        why = why ? why : open_stream(&actions, STDIN_FILENO, o->in);
        why = why ? why : open_stream(&actions, STDOUT_FILENO, o->out);
        why = why ? why : open_stream(&actions, STDERR_FILENO, o->err);
        why = why ? why : posix_spawnp(pid, argv[0], &actions, &attributes, argv, own ? own : environ);
        posix_spawnattr_destroy(&attributes);
        if (own)
            free(own[0]);
        free(own);
    }
    posix_spawn_file_actions_destroy(&actions);
    return why;
}

/* While dpc ends, its other threads do nothing more. */
static void lock(void)
{
    pthread_mutex_lock(&state.mutex);
    while (state.ending) {
        pthread_mutex_unlock(&state.mutex);
        pause();
        pthread_mutex_lock(&state.mutex);
    }
}

static int wait_for(pid_t pid, const ProcessOptions *o)
{
    int status;
    bool late = o->seconds && !ends_within(pid, o->seconds);
    if (late)
        kill_program(pid, o->own_group, SIGKILL);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    if (late && WIFSIGNALED(status))
        return PROCESS_LATE;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void open_in_child(int fd, const char *path)
{
    int flags = fd == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
    int opened = path ? open(path, flags, 0600) : fd;
    if (opened < 0 || dup2(opened, fd) < 0)
        _exit(EXIT_OUTPUT);
    if (opened != fd)
        close(opened);
}

/* What a program of its own would begin with. What is registered for dpc's end is none of its business. */
static _Noreturn void be_child(const ProcessWork *work, const ProcessOptions *o)
{
    if (o->own_group)
        setpgid(0, 0);
    pthread_sigmask(SIG_SETMASK, &state.before, NULL);
    open_in_child(STDIN_FILENO, o->in);
    open_in_child(STDOUT_FILENO, o->out);
    open_in_child(STDERR_FILENO, o->err);
    int status = work->run(work->data);
    fflush(NULL);
    _exit(status);
}

static int fork_child(pid_t *pid, const ProcessWork *work, const ProcessOptions *o)
{
    *pid = fork();
    if (*pid == 0)
        be_child(work, o);
    if (*pid > 0 && o->own_group)
        setpgid(*pid, *pid); /* whoever comes first */
    return *pid < 0 ? errno : 0;
}

/* The program argv, or without it the work. */
static int run(char *const *argv, const ProcessWork *work, ProcessOptions options)
{
    pid_t pid = 0;
    fflush(NULL);
    lock();
    int why = argv ? spawn(&pid, argv, &options) : fork_child(&pid, work, &options);
    state.child = why ? 0 : pid;
    state.own_group = options.own_group;
    pthread_mutex_unlock(&state.mutex);
    int status = why ? -1 : wait_for(pid, &options);
    lock();
    state.child = 0;
    pthread_mutex_unlock(&state.mutex);
    if (why)
        errno = why;
    return status;
}

int process_run(char *const *argv, ProcessOptions options) { return run(argv, NULL, options); }

int process_call(int (*work)(void *data), void *data, ProcessOptions options)
{
    return run(NULL, &(ProcessWork){work, data}, options);
}

/* ---- folders ---- */

const char *temp_folder_base(void)
{
    const char *tmp = getenv("TMPDIR");
    return tmp && *tmp ? tmp : "/tmp";
}

static void remove_at_exit(void)
{
    if (state.folder.path[0])
        temp_folder_remove(&state.folder);
}

bool temp_folder_create(TempFolder *f)
{
    static bool registered;
    char base[PATH_MAX]; /* absolute: a name that begins with '-' would be an option of the C compiler */
    if (!realpath(temp_folder_base(), base))
        return false;
    int n = snprintf(f->path, sizeof f->path - 64, "%s/dpc-XXXXXX", base);
    if (n < 0 || (size_t)n >= sizeof f->path - 64) {
        errno = ENAMETOOLONG;
        return false;
    }
    lock();
    bool made = mkdtemp(f->path) != NULL;
    if (made)
        state.folder = *f;
    pthread_mutex_unlock(&state.mutex);
    if (made && !registered)
        registered = atexit(remove_at_exit) == 0;
    return made;
}

void temp_folder_file(const TempFolder *f, const char *name, char *out, unsigned long bytes)
{
    snprintf(out, bytes, "%s/%s", f->path, name);
}

static void remove_files(const TempFolder *f)
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
}

void temp_folder_remove(const TempFolder *f)
{
    enum { TRIES = 10 }; /* while dpc ends, another thread may still be making files */
    for (int i = 0; i < TRIES; i++) {
        remove_files(f);
        if (rmdir(f->path) == 0 || errno != ENOTEMPTY)
            break;
    }
    state.folder.path[0] = '\0';
}
