/* Jobs on the device, for `dpc test`: one executable for all of a file's entries, or their plan, and as few runs of it
 * as possible.
 *
 * The program's `--batch` takes a list of jobs and runs them in one process; the first run-time error ends it. So a
 * batch is run when the result of a job is asked for that no earlier run has left, and from that job on. */
#ifndef DPC_TEST_DEVICE_H
#define DPC_TEST_DEVICE_H

#include "driver/entry.h"
#include "driver/process.h"

#include "testing/test_comments.h"

/* What an evaluator made of an input. */
typedef struct Outcome {
    bool ok;
    DpLeaf *leaves;             /* ok: the result's, owned */
    StrBuf error;               /* else: "f.dp:3:9: error: …", or a text without place */
    unsigned shape;             /* ok, on the device: SHAPE_CPU or SHAPE_GPU */
    uint64_t facts[FACT_COUNT]; /* and what the run took */
    bool expectable; /* else: the program itself has failed, or met a limit; not a device, an evaluator or this machine
                      */
} Outcome;
void outcome_free(Outcome *o, const DpType *type);

typedef struct DeviceJob {
    const char *entry;
    char *input; /* owned */
} DeviceJob;

typedef struct DeviceBatch {
    TempFolder folder;
    Compilation *compilation; /* whose plan is run; NULL: the folder has the executable */
    DeviceJob *jobs;
    uint32_t n, cap;
    uint32_t failed_job; /* that ended the last run; UINT32_MAX: none did */
    StrBuf failed_error;
    RunLimits limits;   /* of each job */
    const char *params; /* tuning parameters, or NULL; borrowed */
    bool failed_itself; /* by an error of its own, or at a limit of memory or time */
    bool works;         /* some job has had a result, or an error of its own */
    int unusable; /* a status: EXIT_OUTPUT where jobs cannot be written, EXIT_DEVICE where none works and there is no
                     device, or it does not take the program. failed_error says why */
} DeviceBatch;

/* EXIT_OK, or another status after a message. */
int device_open(DeviceBatch *b, Compilation *c, RunLimits limits, const char *params, bool executable);
void device_close(DeviceBatch *b);
/* The job's number. The input's values are the leaves of the types. */
uint32_t device_add(DeviceBatch *b, const char *entry, DpType *const *types, uint32_t ntypes, const DpLeaf *leaves);
/* A run made for it goes up to job `end`. */
Outcome device_result(DeviceBatch *b, uint32_t job, uint32_t end, const DpType *type);

#endif
