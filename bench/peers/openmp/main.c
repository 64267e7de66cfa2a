#include "openmp.h"
#include <stdlib.h>

void blocks_offsets(const int64_t *lengths, size_t rows, size_t *offsets)
{
    size_t blocks = blocks_of(rows);
#pragma omp parallel for
    for (size_t b = 0; b < blocks; b++) {
        size_t end = (b + 1) * ROWS_BLOCK < rows ? (b + 1) * ROWS_BLOCK : rows;
        int64_t sum = 0;
        for (size_t r = b * ROWS_BLOCK; r < end; r++)
            sum += lengths[r];
        offsets[b + 1] = (size_t)sum;
    }
    offsets[0] = 0;
    for (size_t b = 0; b < blocks; b++)
        offsets[b + 1] += offsets[b];
}

void prepare_like(Job *job, const Array *array)
{
    if (array->rank == 2)
        job_result_matrix(job, array->type, array->dims[0], array->dims[1]);
    else
        job_result(job, array->type, array->count);
}

void prepare_like_first(Job *job) { prepare_like(job, &job->in[0]); }
void prepare_like_second(Job *job) { prepare_like(job, &job->in[1]); }

void prepare_rows(Job *job)
{
    job_result(job, job->in[1].type, job->in[0].count);
    job->scratch[0] = bench_allocate(sizeof(size_t) * (blocks_of(job->in[0].count) + 1));
}

void prepare_rows_elements(Job *job)
{
    job_result(job, job->in[1].type, job->in[1].count);
    job->scratch[0] = bench_allocate(sizeof(size_t) * (blocks_of(job->in[0].count) + 1));
}

int main(int argc, char **argv)
{
    const struct {
        const Peer *rows;
        size_t count;
    } parts[] = {{rows_of_maps, rows_of_maps_count},
                 {rows_of_folds, rows_of_folds_count},
                 {rows_of_selections, rows_of_selections_count},
                 {rows_of_sorts, rows_of_sorts_count},
                 {rows_of_graphs, rows_of_graphs_count},
                 {rows_of_dense, rows_of_dense_count},
                 {rows_of_apps, rows_of_apps_count},
                 {rows_of_irregular, rows_of_irregular_count}};
    Peer all[128];
    size_t count = 0;
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        if (count + parts[p].count > sizeof all / sizeof *all)
            bench_fail("peer", "more rows than room");
        memcpy(all + count, parts[p].rows, parts[p].count * sizeof *all);
        count += parts[p].count;
    }
    return peer_main(argc, argv, all, count);
}
