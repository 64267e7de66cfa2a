#define _GNU_SOURCE /* vasprintf */
#include "embed/dpc.h"

#include "driver/driver.h"
#include "dp_rt.h"
#include "dp_stack.h"
#include "dp_status.h"
#include "embed/entries.h"
#include "embed/values.h"
#include "opencl/program.h"
#include "support/memory.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct DpcProgram {
    Compilation *compilation;
    const DpProgram *made;
    const DpcEntry *entries;
    bool recurses; /* may: it has functions that are called */
};

struct DpcContext {
    const DpcProgram *program;
    DpRt *rt;
    bool lost; /* host memory ended in the middle of a call: what that held is never released */
};

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

static void fail_memory(DpcError *error) { dpc_fail(error, EXIT_MEMORY, "out of memory"); }

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
        fail_memory(error);
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

DpcContext *dpc_open(const DpcProgram *program, const DpcOptions *options, DpcError *error)
{
    const DpcOptions none = {0}, *o = options ? options : &none;
    char text[512];
    char *tune = o->tune ? dp_tune_load(o->tune, text, sizeof text) : NULL;
    const DpOpenOptions open = {.device = o->device,
                                .platform = o->platform,
                                .memory = o->memory,
                                .params = o->params,
                                .tune = {o->tune, tune},
                                .tune_required = true};
    DpOpenError why;
    if (o->tune && !tune) {
        dpc_fail(error, EXIT_USAGE, "%s", text);
        return NULL;
    }
    DpcContext *c = calloc(1, sizeof *c);
    if (!c) {
        free(tune);
        fail_memory(error);
        return NULL;
    }
    *c = (DpcContext){program, dp_rt_open(program->made, &open, &why), false};
    free(tune);
    if (c->rt)
        return c;
    dpc_fail(error, why.status, "%s", why.text);
    free(c);
    return NULL;
}

void dpc_close(DpcContext *context)
{
    if (context)
        dp_rt_close(context->rt);
    free(context);
}

/* ---- calls ---- */

typedef struct Call {
    DpcContext *context;
    const DpEntry *entry;
    DpLeaf *leaves; /* of the arguments, one behind the other */
    DpArg *args, *results;
    DpcValue *value;
} Call;

static const DpEntry *find_entry(const DpcProgram *p, const char *name, DpcError *error)
{
    for (uint32_t i = 0; i < p->made->nentries; i++)
        if (strcmp(p->made->entries[i].name, name) == 0)
            return &p->made->entries[i];
    dpc_fail(error, EXIT_USAGE, "there is no entry %s", name);
    return NULL;
}

static bool take_args(Call *call, const DpcValue *const *args, unsigned count, DpcError *error)
{
    const DpEntry *e = call->entry;
    if (count != e->nparams) {
        dpc_fail(error, EXIT_USAGE, "%s takes %u arguments, not %u: %s", e->name, e->nparams, count, e->signature);
        return false;
    }
    uint32_t leaves = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!args[i] || !dpc_value_is(args[i], e->param_types[i])) {
            dpc_fail(error, EXIT_USAGE, "argument %s of %s: %s is wanted, not %s", e->param_names[i], e->name,
                     e->param_types[i], args[i] ? args[i]->text : "NULL");
            return false;
        }
        memcpy(call->leaves + leaves, args[i]->leaves, args[i]->n * sizeof *call->leaves);
        leaves += args[i]->n;
    }
    return true;
}

static void run_call(void *data)
{
    Call *call = data;
    DpRt *rt = call->context->rt;
    dp_upload_args(rt, call->entry, call->leaves, call->args);
    dp_run(rt, call->entry, call->args, call->results);
    dp_download_results(rt, call->entry, call->results, call->value->leaves);
    dp_release_results(rt, call->entry, call->value->leaves, call->results);
}

static void guard_call(void *data, uintptr_t stack_end)
{
    Call *call = data;
    dp_set_stack(call->context->rt, stack_end);
    call->context->lost = !memory_guard(run_call, call);
}

/* How a call has ended; the runtime can be used again after failures of the program and of memory. */
static bool succeeded(DpcContext *context, DpcError *error)
{
    if (context->lost) {
        fail_memory(error);
        return false;
    }
    const DpFailure failure = dp_failure(context->rt);
    if (!failure.status)
        return true;
    dpc_fail(error, failure.status, "%s%s%s", failure.log ? failure.log : "", failure.log ? "\n" : "", failure.message);
    dp_clear_failure(context->rt);
    return false;
}

static bool make_call(Call *call, const DpcValue *const *args, unsigned count, DpcError *error)
{
    DpcContext *c = call->context;
    if (c->lost)
        return succeeded(c, error);
    call->value = dpc_value_new(call->entry->result_type);
    call->leaves = calloc((size_t)call->entry->nargs + 1, sizeof *call->leaves);
    call->args = calloc((size_t)call->entry->nargs + 1, sizeof *call->args);
    call->results = calloc((size_t)call->entry->nresults + 1, sizeof *call->results);
    if (!call->value || !call->leaves || !call->args || !call->results) {
        fail_memory(error);
        return false;
    }
    if (!take_args(call, args, count, error))
        return false;
    if (!c->program->recurses)
        guard_call(call, 0);
    else if (!dp_stack_run(guard_call, call)) {
        fail_memory(error);
        return false;
    }
    return succeeded(c, error);
}

DpcValue *dpc_call(DpcContext *context, const char *entry, const DpcValue *const *args, unsigned count, DpcError *error)
{
    Call call = {.context = context, .entry = find_entry(context->program, entry, error)};
    bool done = call.entry && make_call(&call, args, count, error);
    if (!done) {
        dpc_value_free(call.value);
        call.value = NULL;
    }
    free(call.leaves);
    free(call.args);
    free(call.results);
    return call.value;
}
