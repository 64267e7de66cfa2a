/* Errors, what is known of a program, and its contexts. */
#define _GNU_SOURCE /* vasprintf */
#include "context.h"
#include "dp_status.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- errors ---- */

void dpc_error_clear(DpcError *error)
{
    if (!error)
        return;
    free(error->text);
    *error = (DpcError){0};
}

void dpc_fail(DpcError *error, int status, const char *format, ...)
{
    if (!error)
        return;
    va_list args;
    va_start(args, format);
    dpc_error_clear(error);
    if (vasprintf(&error->text, format, args) < 0)
        error->text = NULL;
    error->status = status;
    va_end(args);
}

void dpc_fail_memory(DpcError *error) { dpc_fail(error, EXIT_MEMORY, "out of memory"); }

/* ---- programs ---- */
unsigned dpc_entry_count(const DpcProgram *program) { return program ? program->made->nentries : 0; }

DpcEntry dpc_entry(const DpcProgram *program, unsigned index)
{
    return index < dpc_entry_count(program) ? program->entries[index] : (DpcEntry){0};
}

/* ---- contexts ---- */

static DpcContext *open_context(const DpcProgram *program, const DpOpenOptions *open, DpcError *error)
{
    DpOpenError why = {EXIT_MEMORY, "out of memory"};
    DpcContext *c = calloc(1, sizeof *c);
    DpRt *rt = c ? dp_rt_open(program->made, open, &why) : NULL;
    if (!rt) {
        dpc_fail(error, why.status, "%s", why.text);
        free(c);
        return NULL;
    }
    *c = (DpcContext){.program = program, .rt = rt, .process = getpid(), .users = 1};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    return c;
}

/* OpenCL's threads are not there in a process that is forked from one with a context: waiting for them never ends. */
static bool is_first_process(DpcError *error)
{
    static atomic_long first; /* that has opened a context; 0: none */
    long none = 0;
    if (atomic_compare_exchange_strong(&first, &none, (long)getpid()) || none == (long)getpid())
        return true;
    dpc_fail(error, EXIT_DEVICE, "OpenCL is in use by the process that this one was forked from");
    return false;
}

static DpcContext *open_with(const DpcProgram *program, void *queue, const DpcOptions *options, DpcError *error)
{
    const DpcOptions none = {0}, *o = options ? options : &none;
    if (program && !is_first_process(error))
        return NULL;
    if (!program) {
        dpc_fail(error, EXIT_USAGE, "the program is NULL");
        return NULL;
    }
    char text[512];
    char *tune = o->tune ? dp_tune_load(o->tune, text, sizeof text) : NULL;
    const DpOpenOptions open = {.device = o->device,
                                .platform = o->platform,
                                .memory = o->memory,
                                .params = o->params,
                                .tune = {o->tune, tune},
                                .tune_required = true,
                                .queue = queue};
    if (o->tune && !tune) {
        dpc_fail(error, EXIT_USAGE, "%s", text);
        return NULL;
    }
    DpcContext *c = open_context(program, &open, error);
    free(tune);
    return c;
}

DpcContext *dpc_open(const DpcProgram *program, const DpcOptions *options, DpcError *error)
{
    return open_with(program, NULL, options, error);
}

DpcContext *dpc_open_queue(const DpcProgram *program, struct _cl_command_queue *queue, const DpcOptions *options,
                           DpcError *error)
{
    if (queue)
        return open_with(program, queue, options, error);
    dpc_fail(error, EXIT_USAGE, "the queue is NULL");
    return NULL;
}

bool dpc_context_is_ours(const DpcContext *context) { return context->process == getpid(); }

bool dpc_context_serves(const DpcContext *context, DpcError *error)
{
    if (!context)
        dpc_fail(error, EXIT_USAGE, "the context is NULL");
    else if (!dpc_context_is_ours(context))
        dpc_fail(error, EXIT_DEVICE, "the context is of the process that this one was forked from");
    else
        return true;
    return false;
}

/* What OpenCL has in threads is not there in a forked process: it is left as it is. */
void dpc_close(DpcContext *context)
{
    if (!context || !dpc_context_is_ours(context))
        return;
    dpc_tasks_end(context);
    dp_rt_end_calls(context->rt);
    dpc_context_leave(context);
}
