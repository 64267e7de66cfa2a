/* Programs and contexts, as calls see them. Private to the library. */
#ifndef DPC_EMBED_CONTEXT_H
#define DPC_EMBED_CONTEXT_H

#include "dp_embed.h"
#include "values.h"

#include <pthread.h>
#include <sys/types.h>

struct DpcContext {
    const DpcProgram *program;
    DpRt *rt;
    pid_t process;          /* that has opened it */
    bool lost;              /* host memory ended in the middle of a call: what that held is never released */
    pthread_mutex_t lock;   /* of what is below: values are freed in any thread */
    uint32_t users;         /* the caller, until it is closed, and values that stay on the device */
    DpcKept *dropped;       /* values that were freed, and whose arrays are still there */
    struct DpcTask *tasks;  /* begun and not done, the one at hand first */
    pthread_cond_t changed; /* tasks, or closing */
    bool works, closing;    /* it has a thread; that is to end */
    pthread_t worker;
};

void dpc_fail_memory(DpcError *error);
/* Has this process opened it, or has it been forked since? Threads and locks are not there in a forked one. */
bool dpc_context_is_ours(const DpcContext *context);
/* Is there one, and ours? Else the error says so. */
bool dpc_context_serves(const DpcContext *context, DpcError *error);
/* calls.c: a call, by the thread that uses the context. keep: as dpc_call_device. */
DpcValue *dpc_call_entry(DpcContext *context, const char *entry, const DpcValue *const *args, unsigned count, bool keep,
                         DpcError *error);
/* tasks.c: waits until no task uses the context; ends its thread. */
void dpc_tasks_settle(DpcContext *context);
void dpc_tasks_end(DpcContext *context);
/* One user less; the last one closes it. */
void dpc_context_leave(DpcContext *context);

#endif
