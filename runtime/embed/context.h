/* Programs and contexts, as calls see them. Private to the library. */
#ifndef DPC_EMBED_CONTEXT_H
#define DPC_EMBED_CONTEXT_H

#include "dp_embed.h"
#include "values.h"

#include <pthread.h>

struct DpcContext {
    const DpcProgram *program;
    DpRt *rt;
    bool lost;            /* host memory ended in the middle of a call: what that held is never released */
    pthread_mutex_t lock; /* of what is below: values are freed in any thread */
    uint32_t users;       /* the caller, until it is closed, and values that stay on the device */
    DpcKept *dropped;     /* values that were freed, and whose arrays are still there */
};

void dpc_fail_memory(DpcError *error);
/* One user less; the last one closes it. */
void dpc_context_leave(DpcContext *context);

#endif
