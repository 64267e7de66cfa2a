#include "driver/driver.h"
#include "dp_stack.h"
#include "dp_status.h"
#include "embed/context.h"
#include "embed/entries.h"
#include "opencl/program.h"
#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

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
    p->guard = memory_guard;
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
    if (!job->path) {
        dpc_fail(error, EXIT_USAGE, "the name or the source of a program is NULL");
        return NULL;
    }
    job->program = calloc(1, sizeof *job->program);
    job->messages = open_memstream(&text, &bytes);
    if (job->program && job->messages)
        dp_stack_run(compile_on_stack, job);
    bool told = job->messages && fclose(job->messages) == 0;
    if (!job->sufficed || !told)
        dpc_fail_memory(error);
    else if (!job->compiled)
        dpc_fail(error, EXIT_USAGE, "%s", text);
    if (job->sufficed && told && job->compiled) {
        job->program->warnings = text;
        return job->program;
    }
    free(text);
    dpc_program_free(job->program);
    return NULL;
}

DpcProgram *dpc_compile(const char *name, const char *source, DpcError *error)
{
    Job job = {.path = source ? name : NULL, .text = source};
    return compile_job(&job, error);
}

DpcProgram *dpc_compile_file(const char *path, DpcError *error)
{
    Job job = {.path = path};
    return compile_job(&job, error);
}

const char *dpc_warnings(const DpcProgram *program) { return program ? program->warnings : ""; }

void dpc_program_free(DpcProgram *program)
{
    if (program) {
        compilation_destroy(program->compilation);
        free(program->warnings);
    }
    free(program);
}
