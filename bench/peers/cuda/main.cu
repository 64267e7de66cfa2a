// The rows in CUDA: calls of CUB, and kernels by hand.
#include "cuda.cuh"
#include <cstring>

int main(int argc, char **argv)
{
    const struct {
        const Peer *rows;
        size_t count;
    } parts[] = {{rows_of_folds, rows_of_folds_count},
                 {rows_of_sorts, rows_of_sorts_count},
                 {rows_of_maps, rows_of_maps_count},
                 {rows_of_hull, rows_of_hull_count}};
    Peer all[128];
    size_t count = 0;
    for (const auto &part : parts) {
        if (count + part.count > sizeof all / sizeof *all)
            bench_fail("peer", "more rows than room");
        std::memcpy(all + count, part.rows, part.count * sizeof *all);
        count += part.count;
    }
    return peer_main(argc, argv, all, count);
}
