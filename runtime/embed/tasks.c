/* Calls that go on while their caller does: a context's thread takes them one by one. */
#include "context.h"
#include "dp_status.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct DpcTask {
    DpcTask *next;
    DpcContext *context; /* of which it is a user */
    char *entry;
    const DpcValue **args;
    void **events;
    unsigned count, waits;
    bool keep, done; /* done: guarded by the context's lock */
    void *event;
    DpcValue *result;
    DpcError error;
};

/* ---- the thread ---- */
static void run_task(DpcTask *t)
{
    char why[96];
    if (dp_wait_for(t->context->rt, t->waits, t->events, why))
        t->result = dpc_call_entry(t->context, t->entry, t->args, t->count, t->keep, &t->error);
    else
        dpc_fail(&t->error, EXIT_DEVICE, "an event that the call waits for has failed: %s", why);
    dp_event_end(t->context->rt, t->event, t->result != NULL);
}

static void *work(void *data)
{
    DpcContext *c = data;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!c->tasks && !c->closing)
            pthread_cond_wait(&c->changed, &c->lock);
        DpcTask *t = c->tasks;
        if (!t)
            break;
        pthread_mutex_unlock(&c->lock);
        run_task(t);
        pthread_mutex_lock(&c->lock);
        c->tasks = t->next;
        t->done = true;
        pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Signals are the other threads'. */
static bool start_thread(DpcContext *c)
{
    sigset_t all, before;
    if (c->works)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    c->works = pthread_create(&c->worker, NULL, work, c) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return c->works;
}

void dpc_tasks_settle(DpcContext *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->tasks)
        pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

void dpc_tasks_end(DpcContext *c)
{
    dpc_tasks_settle(c);
    if (!c->works)
        return;
    pthread_mutex_lock(&c->lock);
    c->closing = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->worker, NULL);
}

/* ---- tasks ---- */
static void free_task(DpcTask *t)
{
    if (t->event)
        dp_event_release(t->context->rt, t->event);
    free(t->entry);
    free(t->args);
    free(t->events);
    free(t);
}

static DpcTask *new_task(DpcContext *c, const char *entry, const DpcValue *const *args, unsigned count,
                         const DpcStart *how)
{
    DpcTask *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    *t = (DpcTask){.context = c, .count = count, .waits = how->waits, .keep = how->on_device != 0};
    t->entry = strdup(entry);
    t->args = calloc((size_t)count + 1, sizeof *t->args);
    t->events = calloc((size_t)how->waits + 1, sizeof *t->events);
    t->event = dp_event_new(c->rt);
    if (t->entry && t->args && t->events && t->event) {
        if (count)
            memcpy(t->args, args, count * sizeof *t->args);
        if (how->waits)
            memcpy(t->events, how->events, how->waits * sizeof *t->events);
        return t;
    }
    free_task(t);
    return NULL;
}

static void enqueue(DpcTask *t)
{
    DpcContext *c = t->context;
    pthread_mutex_lock(&c->lock);
    DpcTask **last = &c->tasks;
    while (*last)
        last = &(*last)->next;
    *last = t;
    c->users++;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

DpcTask *dpc_start(DpcContext *context, const char *entry, const DpcValue *const *args, unsigned count,
                   const DpcStart *how, DpcError *error)
{
    const DpcStart plain = {0};
    if (!dpc_context_serves(context, error))
        return NULL;
    if (!entry || (count && !args) || (how && how->waits && !how->events)) {
        dpc_fail(error, EXIT_USAGE, "the entry, the arguments or the events of a task are NULL");
        return NULL;
    }
    DpcTask *t = new_task(context, entry, args, count, how ? how : &plain);
    if (t && start_thread(context)) {
        enqueue(t);
        return t;
    }
    if (t)
        free_task(t);
    dpc_fail(error, EXIT_MEMORY, "no memory, thread or event for a call");
    return NULL;
}

/* What is NULL will not be any more done. */
int dpc_is_done(const DpcTask *task)
{
    if (!task)
        return true;
    pthread_mutex_lock(&task->context->lock);
    const bool done = task->done;
    pthread_mutex_unlock(&task->context->lock);
    return done;
}

struct _cl_event *dpc_event(const DpcTask *task) { return task ? task->event : NULL; }

DpcValue *dpc_finish(DpcTask *task, DpcError *error)
{
    if (!task || !dpc_context_serves(task->context, error)) {
        if (!task)
            dpc_fail(error, EXIT_USAGE, "the task is NULL");
        return NULL;
    }
    DpcContext *c = task->context;
    pthread_mutex_lock(&c->lock);
    while (!task->done)
        pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
    DpcValue *result = task->result;
    if (!result && error) {
        dpc_error_clear(error);
        *error = task->error;
    } else {
        dpc_error_clear(&task->error);
    }
    free_task(task);
    dpc_context_leave(c);
    return result;
}
