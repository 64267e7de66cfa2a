#include "support/big_stack.h"

#include <pthread.h>
#include <stddef.h>

#define MOST_BYTES ((size_t)1 << 30)
#define RESERVE ((size_t)1 << 18) /* for what runs between two looks */
#define LEAST_BYTES (4 * RESERVE)

typedef struct Job {
    StackWork *work;
    void *data;
    size_t bytes;
} Job;

static void *run_job(void *arg) {
    Job *job = arg;
    char here;
    job->work(job->data, (uintptr_t)&here - job->bytes + RESERVE);
    return NULL;
}

static bool run_on_stack(Job *job) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) return false;
    bool started = pthread_attr_setstacksize(&attributes, job->bytes) == 0 &&
                   pthread_create(&thread, &attributes, run_job, job) == 0;
    pthread_attr_destroy(&attributes);
    return started && pthread_join(thread, NULL) == 0;
}

bool big_stack_run(StackWork *work, void *data) {
    for (size_t bytes = MOST_BYTES; bytes >= LEAST_BYTES; bytes /= 2) {
        Job job = {work, data, bytes};
        if (run_on_stack(&job)) return true;
    }
    return false;
}
