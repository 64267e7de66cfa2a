#define _GNU_SOURCE /* pthread_setattr_default_np: glibc and musl */
#include "dp_stack.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define MOST_BYTES ((size_t)1 << 30)
#define RESERVE ((size_t)1 << 18) /* for what runs between two looks */
#define LEAST_BYTES (4 * RESERVE)
#define USUAL_BYTES ((size_t)8 << 20)

typedef struct Job {
    DpStackWork *work;
    void *data;
    size_t bytes;
} Job;

static void *run_job(void *arg)
{
    Job *job = arg;
    char here;
    job->work(job->data, (uintptr_t)&here - job->bytes + RESERVE);
    return NULL;
}

static bool run_on_stack(Job *job)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    bool started = pthread_attr_setstacksize(&attributes, job->bytes) == 0 &&
                   pthread_create(&thread, &attributes, run_job, job) == 0;
    pthread_attr_destroy(&attributes);
    return started && pthread_join(thread, NULL) == 0;
}

bool dp_stack_run(DpStackWork *work, void *data)
{
    uint64_t left = dp_address_space_left();
    for (size_t bytes = MOST_BYTES; bytes >= LEAST_BYTES; bytes /= 2) {
        Job job = {work, data, bytes};
        if ((bytes <= left / 16 || bytes <= USUAL_BYTES) && run_on_stack(&job))
            return true;
    }
    return false;
}

/* Threads without a size of their own get what the limit was when the process began, or less if there was none. */
void dp_stack_prepare(void)
{
    struct rlimit limit;
    pthread_attr_t attributes;
    size_t bytes = 0;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < USUAL_BYTES && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max < USUAL_BYTES ? limit.rlim_max : USUAL_BYTES;
        setrlimit(RLIMIT_STACK, &limit);
    }
    if (pthread_getattr_default_np(&attributes) != 0)
        return;
    if (pthread_attr_getstacksize(&attributes, &bytes) == 0 && bytes < USUAL_BYTES &&
        pthread_attr_setstacksize(&attributes, USUAL_BYTES) == 0)
        pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

uint64_t dp_address_space_left(void)
{
    struct rlimit limit;
    unsigned long long pages = 0;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%llu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    uint64_t used = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return used < limit.rlim_cur ? limit.rlim_cur - used : 0;
}
