/* Opening and closing the runtime. */
#include "internal.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

bool dp_open_fails(DpOpenError *error, ExitStatus status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(error->text, sizeof error->text, format, list);
    va_end(list);
    error->status = (int)status;
    return false;
}

/* Before PoCL is called: it ends the process where it gets no memory. */
static bool address_space_suffices(DpOpenError *error)
{
    uint64_t left = dp_address_space_left();
    return left >= OPEN_SPACE || dp_open_fails(error, EXIT_MEMORY,
                                               "out of memory: opening a device takes %llu MB of address space, "
                                               "and the limit (ulimit -v) leaves %llu",
                                               (unsigned long long)OPEN_SPACE >> 20, (unsigned long long)left >> 20);
}

/* Likewise: it also does where the linker that it starts crashes. */
static bool stack_suffices(DpOpenError *error)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= OPEN_STACK)
        return true;
    return dp_open_fails(
        error, EXIT_MEMORY,
        "out of memory: building kernels takes %llu kB of stack, and the limit (ulimit -s) leaves %llu",
        (unsigned long long)OPEN_STACK >> 10, (unsigned long long)limit.rlim_cur >> 10);
}

/* The variable is for tests: whatever opens a runtime is asked. */
static bool read_params(DpRt *rt, const DpOpenOptions *options, DpOpenError *error)
{
    char text[256];
    return (dp_params_read(&rt->params, getenv("DP_PARAMS"), text, sizeof text) &&
            dp_params_read(&rt->params, options->params, text, sizeof text)) ||
           dp_open_fails(error, EXIT_USAGE, "%s", text);
}

static bool open_all(DpRt *rt, const DpOpenOptions *options, DpOpenError *error)
{
    return read_params(rt, options, error) && address_space_suffices(error) && stack_suffices(error) &&
           dp_device_open(rt, options, error) && dp_tune_apply(rt, options, error) && dp_heap_open(rt, error);
}

/* PoCL catches SIGFPE for the whole process when it is first called; kernels never divide by zero, and the host's
 * signals are none of its business. One runtime is opened after the other, so that each finds the process's own. */
static bool open_alone(DpRt *rt, const DpOpenOptions *options, DpOpenError *error)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct sigaction floating;
    pthread_mutex_lock(&mutex);
    sigaction(SIGFPE, NULL, &floating);
    bool opened = open_all(rt, options, error);
    sigaction(SIGFPE, &floating, NULL);
    pthread_mutex_unlock(&mutex);
    return opened;
}

DpRt *dp_rt_open(const DpProgram *program, const DpOpenOptions *options, DpOpenError *error)
{
    DpRt *rt = calloc(1, sizeof *rt);
    uint32_t n = OWN_COUNT + program->nkernels;
    Program **programs = calloc(n, sizeof *programs);
    bool *announced = calloc(n, sizeof *announced);
    if (!rt || !programs || !announced) {
        dp_open_fails(error, EXIT_MEMORY, "out of memory");
        free(rt);
        free(programs);
        free(announced);
        return NULL;
    }
    rt->program = program;
    rt->programs = programs;
    rt->announced = announced;
    rt->nprograms = n;
    rt->profile.on = options->profile;
    rt->memory_limit = options->memory;
    rt->asked = options->asked;
    rt->dump_dir = getenv("DP_DUMP_KERNELS");
    rt->cache_dir = getenv("DP_NO_CACHE") ? NULL : dp_cache_directory();
    dp_process_prepare();
    dp_activity("opening the device");
    bool opened = open_alone(rt, options, error);
    dp_activity_end();
    if (!opened) {
        dp_rt_close(rt);
        return NULL;
    }
    if (rt->cache_dir)
        dp_cache_trim(rt->cache_dir);
    dp_mailbox_open(rt);
    dp_lookback_open(rt);
    dp_words_open(rt);
    dp_quick_open(rt, options);
    return rt;
}

void dp_rt_end_calls(DpRt *rt)
{
    dp_starts_forget(rt);
    dp_moves_flush(rt);
    rt->device->backend->finish(rt->device);
    dp_quick_close(rt); /* its records are of the program's kernels */
    rt->program = NULL;
}

void dp_rt_close(DpRt *rt)
{
    dp_starts_forget(rt);
    dp_moves_flush(rt);
    if (rt->device)
        rt->device->backend->finish(rt->device);
    dp_profile_close(rt);
    dp_quick_close(rt);
    dp_launch_close(rt);
    dp_looks_close(rt);
    dp_lookback_close(rt);
    dp_words_close(rt);
    dp_mailbox_close(rt);
    dp_forget_args(rt);
    dp_heap_close(rt);
    if (rt->device)
        rt->device->backend->close(rt->device);
    free(rt->build_log);
    free(rt->cache_dir);
    free(rt);
}
