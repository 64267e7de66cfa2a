/* The line belongs to the process's terminal: so there is one of it, and a handler gets no state. */
#include "dp_activity.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_BYTES = 256, THREAD_STACK = 64 << 10 };
static const struct timespec patience = {0, 500000000}, pause_between = {0, 100000000};
static const char eraser[] = "\r\033[K";

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char text[TEXT_BYTES]; /* "": nothing is going on */
static bool changed;          /* since it was shown */
static volatile sig_atomic_t shown;

static void put(const char *bytes, size_t n)
{
    ssize_t written = write(STDERR_FILENO, bytes, n);
    (void)written; /* there is nobody to tell */
}

/* Bytes of it that fit on one line: so many characters of UTF-8 as there are columns, but one. */
static size_t fitting(const char *line)
{
    struct winsize size;
    size_t columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79, n = 0;
    for (; line[n]; n++)
        if (((unsigned char)line[n] & 0xc0) != 0x80 && columns-- == 0)
            break;
    return n;
}

static void show_line(void)
{
    char line[sizeof eraser + TEXT_BYTES];
    snprintf(line, sizeof line, "%s%.*s", eraser, (int)fitting(text), text);
    shown = 1; /* before it is: a handler that comes in between erases what may be there */
    put(line, strlen(line));
    changed = false;
}

static void *watch(void *data)
{
    nanosleep(&patience, NULL);
    for (;;) {
        pthread_mutex_lock(&mutex);
        if (changed)
            show_line();
        pthread_mutex_unlock(&mutex);
        nanosleep(&pause_between, NULL);
    }
    return data;
}

/* A child process has no thread that could unlock it. */
static void lock(void) { pthread_mutex_lock(&mutex); }
static void unlock(void) { pthread_mutex_unlock(&mutex); }

void dp_activity_start(void)
{
    const char *terminal = getenv("TERM");
    pthread_attr_t small;
    pthread_t thread;
    if (!isatty(STDERR_FILENO) || !terminal || strcmp(terminal, "dumb") == 0 || pthread_attr_init(&small) != 0)
        return;
    pthread_atfork(lock, unlock, unlock);
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&small, THREAD_STACK);
    pthread_create(&thread, &small, watch, NULL); /* without one nothing is shown */
    pthread_attr_destroy(&small);
}

void dp_activity(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    pthread_mutex_lock(&mutex);
    vsnprintf(text, sizeof text, format, list);
    changed = true;
    pthread_mutex_unlock(&mutex);
    va_end(list);
}

void dp_activity_end(void)
{
    pthread_mutex_lock(&mutex);
    if (shown)
        put(eraser, strlen(eraser));
    text[0] = 0;
    changed = false;
    shown = 0;
    pthread_mutex_unlock(&mutex);
}

const char *dp_activity_eraser(void) { return shown ? eraser : ""; }
