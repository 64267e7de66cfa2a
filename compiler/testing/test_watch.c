#include "testing/test_watch.h"

#include "dp_activity.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PATIENCE = 20, TEXT_BYTES = 512 }; /* seconds; said again after twice the time, and so on */

struct Watch {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool running, stopped; /* running: a case is */
    time_t start;
    unsigned patience;
    char text[TEXT_BYTES];
};

static time_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t); /* the clock of conditions */
    return t.tv_sec;
}

/* Until the case has taken as long as it may, or something changes. */
static void wait_for_case(Watch *w)
{
    struct timespec until = {w->start + (time_t)w->patience, 0};
    if (pthread_cond_timedwait(&w->changed, &w->mutex, &until) == 0 || !w->running || now() < until.tv_sec)
        return;
    dp_activity_end();
    fprintf(stderr, "dpc: running for %u s: %s\n", w->patience, w->text);
    w->patience *= 2;
}

static void *watch(void *data)
{
    Watch *w = data;
    pthread_mutex_lock(&w->mutex);
    while (!w->stopped) {
        if (w->running)
            wait_for_case(w);
        else
            pthread_cond_wait(&w->changed, &w->mutex);
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

Watch *watch_start(void)
{
    Watch *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->changed, NULL);
    if (pthread_create(&w->thread, NULL, watch, w) == 0)
        return w;
    free(w);
    return NULL;
}

static void set_running(Watch *w, bool running, bool stopped)
{
    w->running = running;
    w->stopped = stopped;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->mutex);
}

void watch_begin(Watch *w, const char *text)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->mutex);
    snprintf(w->text, sizeof w->text, "%s", text);
    w->start = now();
    w->patience = PATIENCE;
    set_running(w, true, false);
    dp_activity("testing %s", text);
}

void watch_end(Watch *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->mutex);
    set_running(w, false, false);
    dp_activity_end();
}

void watch_stop(Watch *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->mutex);
    set_running(w, false, true);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->mutex);
    free(w);
}
