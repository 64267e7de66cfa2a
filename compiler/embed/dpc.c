#define _GNU_SOURCE /* vasprintf */
#include "embed/dpc.h"

#include "driver/driver.h"
#include "dp_rt.h"
#include "dp_stack.h"
#include "dp_status.h"
#include "embed/context.h"
#include "embed/entries.h"
#include "opencl/program.h"
#include "support/memory.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

void dpc_error_clear(DpcError *error)
{
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

typedef struct Job {
    const char *path, *text; /* text: NULL to read the file */
    DpcProgram *program;
    FILE *messages;
    bool compiled, sufficed;
} Job;

static void compile(void *data)
{
    Job *job = data;
    DpcProgram *p = job->program;
    Compilation *c = p->compilation = compilation_create(job->path);
    c->path = arena_strndup(c->session->arena, job->path, strlen(job->path));
    c->session->messages = job->messages;
    if (job->text) {
        c->text_bytes = strlen(job->text);
        c->text = arena_strndup(c->session->arena, job->text, c->text_bytes);
    }
    p->entries = compile_to(c, STAGE_PLAN) ? dpc_entries(c) : NULL;
    c->session->messages = NULL;
    job->compiled = p->entries != NULL;
    if (!job->compiled)
        return;
    p->made = opencl_program(c->plan, c->path);
    p->recurses = c->plan->fns.n > p->made->nentries;
}

static void compile_on_stack(void *data, uintptr_t stack_end)
{
    Job *job = data;
    (void)stack_end; /* the parser bounds how deep passes recurse */
    job->sufficed = memory_guard(compile, job);
}

static DpcProgram *compile_job(Job *job, DpcError *error)
{
    char *text = NULL;
    size_t bytes = 0;
    job->program = calloc(1, sizeof *job->program);
    job->messages = open_memstream(&text, &bytes);
    if (job->program && job->messages)
        dp_stack_run(compile_on_stack, job);
    bool told = job->messages && fclose(job->messages) == 0;
    if (!job->sufficed || !told)
        dpc_fail_memory(error);
    else if (!job->compiled)
        dpc_fail(error, EXIT_USAGE, "%s", text);
    free(text);
    if (job->sufficed && told && job->compiled)
        return job->program;
    dpc_program_free(job->program);
    return NULL;
}

DpcProgram *dpc_compile(const char *name, const char *source, DpcError *error)
{
    Job job = {.path = name, .text = source};
    return compile_job(&job, error);
}

DpcProgram *dpc_compile_file(const char *path, DpcError *error)
{
    Job job = {.path = path};
    return compile_job(&job, error);
}

void dpc_program_free(DpcProgram *program)
{
    if (program)
        compilation_destroy(program->compilation);
    free(program);
}

unsigned dpc_entry_count(const DpcProgram *program) { return program->made->nentries; }

DpcEntry dpc_entry(const DpcProgram *program, unsigned index)
{
    return index < program->made->nentries ? program->entries[index] : (DpcEntry){0};
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
    *c = (DpcContext){.program = program, .rt = rt, .users = 1};
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

static DpcContext *open_with(const DpcProgram *program, void *queue, const DpcOptions *options, DpcError *error)
{
    const DpcOptions none = {0}, *o = options ? options : &none;
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

void dpc_close(DpcContext *context)
{
    if (context)
        dpc_context_leave(context);
}
