/* What the peers share: one process measures one row of the tables.
 *
 *     peer ROW RESULT REPEATS ARGUMENT…
 *
 * An argument is a .npy file or a number, in the order in which dpc's program takes them. The row's `prepare` allocates
 * the result and what the work needs besides (not timed), `run` does the work and waits for it, `collect`, if there is
 * one, fetches the result. After two runs that are not counted come REPEATS that are. Prints the medians in
 * milliseconds, `DEVICE WALL`: the device's own clock, where a row has one, and the host's. The result goes to
 * RESULT.0.npy, RESULT.1.npy …
 *
 * `peer` alone lists the rows. Statuses: 0; 1: there is no such row; 2: data or memory; 3: not for data like
 * these; 4: the device. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "../npy.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { JOB_MAX = 6 };

typedef struct {
    Array in[JOB_MAX];       /* the arguments that are arrays; count 0 and no data: a number */
    int64_t number[JOB_MAX]; /* the arguments that are numbers */
    Array out[JOB_MAX];      /* the result; `run` may make its count smaller */
    int outs;
    void *scratch[JOB_MAX];
    double device_ms; /* of this run; negative: the host's clock counts */
} Job;

typedef struct {
    const char *name;
    void (*prepare)(Job *);
    void (*run)(Job *);
    void (*collect)(Job *); /* or NULL */
} Peer;

/* Adds an array to the result. */
void *job_result(Job *job, const char *type, size_t count);
/* Likewise a matrix. */
void *job_result_matrix(Job *job, const char *type, size_t rows, size_t columns);

int peer_main(int argc, char **argv, const Peer *peers, size_t count);

#ifdef __cplusplus
}
#endif
#endif
