/* The command behind a lens: `dpc test --only=NAME FILE`, as a process of its own, while the server goes on. */
#ifndef DPC_LSP_RUN_TEST_H
#define DPC_LSP_RUN_TEST_H

#include "driver/process.h"
#include "support/strbuf.h"

#include <pthread.h>

typedef struct TestRun {
    bool is_running;
    int done; /* can be read from when it has ended */
    char *id; /* of the request, as JSON */
    char *name;
    /* The thread's, until then. */
    char *path;
    int done_end;
    TempFolder folder;
    int status; /* as process_run */
    pthread_t thread;
} TestRun;

/* False: it cannot be started. */
bool test_run_start(TestRun *t, const char *id, const char *path, const char *name);
/* When it has ended: what it printed, and its status. */
int test_run_finish(TestRun *t, StrBuf *output);

#endif
