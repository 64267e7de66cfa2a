/* Limits of time and memory: see run_limits.h. */
#include "run_limits.h"

#include "dp_activity.h"
#include "dp_output.h"
#include "dp_size.h"
#include "dp_status.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* ---- time: a signal, whose handler gets no state ---- */

static char late[80];

/* Only what a handler may call. */
static void end_late(int number)
{
    (void)number;
    dp_outputs_remove();
    const char *const parts[] = {dp_activity_eraser(), late};
    for (int i = 0; i < 2; i++) {
        ssize_t n = write(STDERR_FILENO, parts[i], strlen(parts[i]));
        (void)n;
    }
    _exit(EXIT_TIME);
}

void dp_limit_time(double seconds)
{
    struct itimerval timer = {0};
    struct sigaction action = {0};
    action.sa_handler = end_late;
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
    if (seconds > 0 && timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)
        timer.it_value.tv_usec = 1;
    snprintf(late, sizeof late, "error: time limit of %g s reached\n", seconds);
    if (seconds > 0)
        sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- memory ---- */

static uint64_t resident(void)
{
    unsigned long long all = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f)
        return 0;
    int n = fscanf(f, "%llu %llu", &all, &pages);
    fclose(f);
    return n == 2 ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static void *watch_memory(void *data)
{
    const uint64_t *limit = data;
    const struct timespec pause = {0, 10000000};
    for (;;) {
        uint64_t bytes = resident();
        if (bytes > *limit + LIMIT_OPENCL_BYTES) {
            char taken[32], allowed[32], opencl[32];
            dp_size_print(taken, sizeof taken, bytes);
            dp_size_print(allowed, sizeof allowed, *limit);
            dp_size_print(opencl, sizeof opencl, LIMIT_OPENCL_BYTES);
            dp_activity_end();
            fprintf(stderr, "error: out of memory: the process takes %s, --memory allows %s and %s for OpenCL\n", taken,
                    allowed, opencl);
            dp_outputs_remove();
            _exit(EXIT_MEMORY);
        }
        nanosleep(&pause, NULL);
    }
    return NULL;
}

bool dp_limit_memory(uint64_t bytes)
{
    static uint64_t limit;
    pthread_t thread;
    limit = bytes < UINT64_MAX - LIMIT_OPENCL_BYTES ? bytes : UINT64_MAX - LIMIT_OPENCL_BYTES;
    return pthread_create(&thread, NULL, watch_memory, &limit) == 0 && pthread_detach(thread) == 0;
}
