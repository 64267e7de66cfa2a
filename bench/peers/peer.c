#include "peer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM_UP = 2 };

void *job_result(Job *job, const char *type, size_t count)
{
    Array *array = &job->out[job->outs++];
    *array = array_new(type, count);
    return array->data;
}

void *job_result_matrix(Job *job, const char *type, size_t rows, size_t columns)
{
    void *data = job_result(job, type, rows * columns);
    Array *array = &job->out[job->outs - 1];
    array->rank = 2;
    array->dims[0] = rows;
    array->dims[1] = columns;
    return data;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

static void measure(const Peer *peer, Job *job, int repeats)
{
    double *wall = bench_allocate(sizeof(double) * (size_t)repeats),
           *device = bench_allocate(sizeof(double) * (size_t)repeats);
    for (int i = -WARM_UP; i < repeats; i++) {
        job->device_ms = -1;
        double start = now_ms();
        peer->run(job);
        double spent = now_ms() - start;
        if (i >= 0) {
            wall[i] = spent;
            device[i] = job->device_ms < 0 ? spent : job->device_ms;
        }
    }
    double of_device = median(device, repeats);
    printf("%.6f %.6f\n", of_device, median(wall, repeats));
    free(wall);
    free(device);
}

static void results_write(const Job *job, const char *prefix)
{
    for (int i = 0; i < job->outs; i++) {
        char path[4096];
        Array array = job->out[i];
        if (array.rank == 1)
            array.dims[0] = array.count;
        snprintf(path, sizeof path, "%s.%d.npy", prefix, i);
        array_write(path, &array);
    }
}

int peer_main(int argc, char **argv, const Peer *peers, size_t count)
{
    if (argc < 4 || argc > 4 + JOB_MAX) {
        for (size_t i = 0; i < count; i++)
            puts(peers[i].name);
        return argc == 1 ? 0 : 1;
    }
    for (size_t k = 0; k < count; k++) {
        if (strcmp(peers[k].name, argv[1]) != 0)
            continue;
        Job job = {.device_ms = -1};
        int repeats = atoi(argv[3]);
        for (int i = 4; i < argc; i++)
            if (strstr(argv[i], ".npy"))
                job.in[i - 4] = array_read(argv[i]);
            else
                job.number[i - 4] = atoll(argv[i]);
        peers[k].prepare(&job);
        measure(&peers[k], &job, repeats > 0 ? repeats : 1);
        if (peers[k].collect)
            peers[k].collect(&job);
        results_write(&job, argv[2]);
        return 0;
    }
    fprintf(stderr, "there is no row %s\n", argv[1]);
    return 1;
}
