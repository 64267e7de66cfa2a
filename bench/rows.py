"""The rows of the tables of docs/performance.md: what is measured, on which data, beside which peers, and how fast it shall be.

n is the number of elements that a row works on. An input is a kind of `data` with its numbers, {n} and so on being replaced, or a plain number.
A peer is BACKEND:ROW, where BACKEND is openmp, opencl, cuda, libraries (cuSPARSE and cuBLAS) or futhark (ROW is then FILE or FILE:ENTRY);
opencl/gpu and opencl/cpu are for devices of that class only. check is the tolerance of `compare` (see compare.c).
A mark is the time in milliseconds that the row shall not exceed at the size of its class; `passes` multiplies the bytes, where all are
needed several times. Rows of which only the arithmetic counts have moved = False.
"""
import math
from dataclasses import dataclass, field


@dataclass
class Row:
    name: str
    work: str  # for readers
    program: str
    inputs: list
    gpu: int  # n on a GPU
    cpu: int  # n on a CPU
    peers: str = ""
    check: str = "0"
    mark: dict = field(default_factory=dict)
    passes: int = 1
    moved: bool = True
    extra: bool = False  # only with --all: another type, operator or shape of segments
    untuned: bool = False  # only with --untuned: a program of another table
    param: str = ""  # of dpc: NAME=VALUE

    def sizes(self, n):
        """What the inputs' placeholders stand for."""
        return {
            "n": n,
            "side": max(1, round(math.sqrt(n))),
            "rows": max(1, n // 16),
            "short_rows": max(1, n // 50),
            "fifteenth": max(1, n // 15),
            "longest": max(1, n // 40),
            "rows_longest": max(1, n // 50),
            "eighth": max(1, n // 8),
            "columns": max(1, n // 512),
            "batch": max(1, n // 64),
            "triangle": max(0, 8 * n - 36) if n > 8 else n * (n - 1) // 2,
            "scale": max(1, round(math.log2(max(2, n)))),
            "stencil": max(1, 5 * round(math.sqrt(n / 5)) ** 2 - 4 * round(math.sqrt(n / 5))),
            "stencil_side": max(1, round(math.sqrt(n / 5))),
            "stencil_rows": max(1, round(math.sqrt(n / 5)) ** 2),
        }

    def arguments(self, n):
        return [text.format(**self.sizes(n)) for text in self.inputs]


def both(name, *rest):
    """The same row of several backends."""
    return " ".join(f"{backend}:{name}" for backend in rest)


M = 10 ** 6
SEGSUM = "openmp:segsum cuda:segsum_1_lane cuda:segsum_8_lanes cuda:segsum_32_lanes cuda:segsum_tiles cuda:segsum_cub futhark:segsum futhark:segsum:flags"
SPMV = "openmp:spmv libraries:spmv_cusparse libraries:spmv_1_lane libraries:spmv_8_lanes futhark:spmv futhark:spmv:flags"
QUICKHULL = "openmp:quickhull cuda:quickhull"

ROWS = [
    Row("sum", "sum i32", "sum", ["ints {n}"], 100 * M, 10 * M,
        both("sum", "openmp", "opencl", "cuda", "futhark"), mark={"gpu": 0.11, "cpu": 0.8}),
    Row("mssp", "maximum segment sum", "mssp", ["ints {n}"], 100 * M, 10 * M,
        both("mssp", "openmp", "opencl", "cuda", "futhark"), mark={"gpu": 0.11, "cpu": 2.0}),
    Row("saxpy", "saxpy f32", "saxpy", ["floats {n} 0", "floats {n} 1"], 100 * M, 10 * M,
        both("saxpy", "openmp", "cuda", "futhark"), check="1e-6", mark={"gpu": 0.29, "cpu": 2.4}),
    Row("scan", "inclusive scan i32", "scan", ["ints {n}"], 100 * M, 10 * M,
        both("scan", "openmp", "opencl", "cuda", "futhark"), mark={"gpu": 0.29, "cpu": 2.7}),
    Row("segscan_flags", "segmented scan, flags and i32, user's operator", "segscan_flags", ["flags {n}", "ints {n}"], 100 * M, 10 * M,
        "openmp:segscan_flags opencl/gpu:segscan_flags cuda:segscan_flags futhark:segscan_flags", mark={"gpu": 0.38, "cpu": 5}),
    Row("segscan", "segmented scan over rows, mean 100", "segscan", ["lengths {n} 100", "ints {n}"], 100 * M, 10 * M,
        both("segscan", "openmp", "cuda"), mark={"gpu": 0.40}),
    Row("segsum_10", "segmented sum f32, mean 10", "segsum", ["lengths {n} 10", "floats {n} 0"], 100 * M, 10 * M, SEGSUM,
        check="1e-3", mark={"gpu": 0.18, "cpu": 7}),
    Row("segsum_1000", "… mean 1000", "segsum", ["lengths {n} 1000", "floats {n} 0"], 100 * M, 10 * M, SEGSUM,
        check="1e-3", mark={"gpu": 0.11, "cpu": 2}),
    Row("segsum_power", "… power law, longest n / 50", "segsum", ["lengths-power {n} {short_rows} {rows_longest}", "floats {n} 0"],
        100 * M, 10 * M, SEGSUM, check="1e-3", mark={"gpu": 0.30, "cpu": 4}),
    Row("filter", "filter, half kept", "filter", ["ints {n}"], 100 * M, 10 * M,
        "openmp:filter opencl/cpu:filter cuda:filter futhark:filter", mark={"gpu": 0.26, "cpu": 3.2}),
    Row("partition", "partition", "partition", ["ints {n}"], 100 * M, 10 * M, both("partition", "openmp", "cuda", "futhark"),
        mark={"gpu": 0.38, "cpu": 7}),
    Row("sort", "sort u32", "sort", ["random-keys {n}"], 100 * M, 10 * M, both("sort", "openmp", "cuda", "futhark"),
        mark={"gpu": 2.9, "cpu": 70}),
    Row("segsort_10", "segmented sort u32, rows of 10", "segsort", ["lengths {n} 10", "random-keys {n}"], 10 * M, M,
        both("segsort", "openmp", "cuda"), mark={"gpu": 0.12}),
    Row("segsort_1000", "… rows of 1000", "segsort", ["lengths {n} 1000", "random-keys {n}"], 10 * M, M,
        both("segsort", "openmp", "cuda"), mark={"gpu": 0.42}),
    Row("medians", "median of each short row", "medians", ["lengths {n} 10", "random-keys {n}"], 10 * M, M, "openmp:medians"),
    Row("histogram_256", "histogram, 256 bins", "histogram256", ["below {n} 256"], 100 * M, 10 * M,
        both("histogram256", "openmp", "cuda", "futhark"), mark={"gpu": 0.12, "cpu": 2.4}),
    Row("histogram_1m", "histogram, 2²⁰ bins", "histogram1m", ["below {n} 1048576"], 100 * M, 10 * M,
        both("histogram1m", "openmp", "cuda", "futhark"), mark={"gpu": 1.06, "cpu": 9}),
    Row("histograms", "8 histograms of floats, 16 bins", "histograms", ["below-matrix 8 {eighth} 16", "matrix 8 {eighth} 3"],
        16 * M, 16 * M // 10, both("histograms", "openmp", "cuda"), check="1e-3", mark={"gpu": 0.2}),
    Row("scatter", "scatter, random permutation", "scatter", ["permutation {n}", "ints {n}"], 100 * M, 10 * M,
        "openmp:scatter cuda:scatter cuda:scatter_sorted futhark:scatter", mark={"gpu": 2.3, "cpu": 20}),
    Row("gather", "gather, random permutation", "gather", ["permutation {n}", "ints {n}"], 100 * M, 10 * M,
        both("gather", "openmp", "cuda", "futhark"), mark={"gpu": 2.53, "cpu": 30}),
    Row("spmv_random", "SpMV, 16 random a row", "spmv",
        ["lengths-equal {n} 16", "below {n} {rows}", "floats {n} 0", "floats {rows} 1"], 16 * M, 3200000, SPMV,
        check="1e-4", mark={"gpu": 0.13, "cpu": 4}),
    Row("spmv_power", "SpMV, power-law rows, mean 16", "spmv",
        ["lengths-power {n} {rows} {longest}", "below {n} {rows}", "floats {n} 0", "floats {rows} 1"], 16 * M, 3200000, SPMV,
        check="1e-3", mark={"gpu": 0.13, "cpu": 4.5}),
    Row("spmv_stencil", "SpMV, 5-point", "spmv",
        ["stencil-lengths {stencil_side}", "stencil-columns {stencil_side}", "floats {stencil} 0", "floats {stencil_rows} 1"],
        5 * 2048 ** 2, 5 * 724 ** 2, SPMV, check="1e-4", mark={"gpu": 0.07, "cpu": 2.2}),
    Row("spmv_large", "SpMV, power-law rows, mean 15", "spmv",
        ["lengths-power {n} {fifteenth} {longest}", "below {n} {fifteenth}", "floats {n} 0", "floats {fifteenth} 1"], 30 * M, 3 * M,
        SPMV, check="1e-3", mark={"gpu": 0.25}),
    Row("groupby", "group by 2²⁰ keys and sum", "groupby", ["below {n} 1048576", "ints {n}"], 100 * M, 10 * M,
        both("groupby", "openmp", "cuda"), mark={"gpu": 2.7}),
    Row("blackscholes", "Black–Scholes f64", "blackscholes",
        ["doubles {n} 0 500 3000", "doubles {n} 1 100 10000", "doubles {n} 2 25 1000"], 25 * M, 2500000,
        both("blackscholes", "openmp", "cuda", "futhark"), check="1e-9", mark={"gpu": 0.42, "cpu": 40}),
    Row("mandel", "Mandelbrot, 255 rounds", "mandel", ["{side}"], 4096 ** 2, 1024 ** 2, both("mandel", "openmp", "cuda", "futhark"),
        check="1%", mark={"gpu": 0.34, "cpu": 40}, moved=False),
    Row("jacobi", "Jacobi f32", "jacobi", ["matrix {side} {side} 0"], 8192 ** 2, 2048 ** 2, both("jacobi", "openmp", "cuda", "futhark"),
        check="1e-6", mark={"gpu": 0.25, "cpu": 1.5}),
    Row("integral", "integral image f32", "integral", ["matrix {side} {side} 0"], 8192 ** 2, 2048 ** 2,
        both("integral", "openmp", "futhark"), check="1e-3", mark={"gpu": 0.5, "cpu": 6}, passes=2),
    Row("nbody", "n-body f32", "nbody", ["floats {n} 0", "floats {n} 1", "floats {n} 2", "floats {n} 3"], 65536, 8192,
        both("nbody", "openmp", "cuda", "futhark"), check="1e-3", mark={"gpu": 3.2, "cpu": 8}, moved=False),
    Row("matmul", "matrix product f32", "matmul", ["matrix {side} {side} 0", "matrix {side} {side} 1"], 2048 ** 2, 512 ** 2,
        "openmp:matmul libraries:matmul libraries:matmul_cublas futhark:matmul", check="1e-4", mark={"gpu": 0.5, "cpu": 4},
        moved=False),
    Row("varloop", "loop over an array of 8, 0–63 rounds", "varloop", ["{n}"], M, M // 10, both("varloop", "openmp", "cuda", "futhark"),
        mark={"gpu": 0.5, "cpu": 10}, moved=False),
    Row("pagerank", "PageRank, 10 rounds, RMAT", "pagerank", ["rmat-lengths {scale}", "rmat-targets {scale}"], 2 ** 20, 2 ** 17,
        both("pagerank", "openmp", "futhark"), check="1e-3", mark={"gpu": 3, "cpu": 25}, passes=10),
    Row("bfs", "BFS, the same graph", "bfs", ["rmat-lengths {scale}", "rmat-targets {scale}"], 2 ** 20, 2 ** 17, "openmp:bfs",
        mark={"gpu": 1}),
    Row("quickhull", "quickhull f64, disc", "quickhull", ["disc {n} 0", "disc {n} 1"], M, M, QUICKHULL, check="set",
        mark={"gpu": 1.5, "cpu": 30}),
    Row("quickhull_large", "quickhull f64, disc, ten times as many", "quickhull", ["disc {n} 0", "disc {n} 1"], 10 * M, 10 * M,
        QUICKHULL, check="set", mark={"gpu": 3}),
    Row("quicksort", "quicksort i32 (recursion, three filters)", "quicksort", ["random-ints {n}"], 10 * M, M, "openmp:quicksort",
        mark={"gpu": 15, "cpu": 200}),

    # other types, operators and shapes of segments
    Row("sum_f64", "sum f64", "sum_f64", ["doubles {n} 0 0 100"], 100 * M, 10 * M, "openmp:sum_f64", check="1e-9", extra=True),
    Row("max_i64", "maximum i64", "max_i64", ["random-longs {n}"], 100 * M, 10 * M, "openmp:max_i64", extra=True),
    Row("scan_f64", "scan f64", "scan_f64", ["doubles {n} 0 0 100"], 100 * M, 10 * M, "openmp:scan_f64", check="1e-9", extra=True),
    Row("scan_max", "scan max i32", "scan_max", ["random-ints {n}"], 100 * M, 10 * M, "openmp:scan_max", extra=True),
    Row("saxpy_f64", "saxpy f64", "saxpy_f64", ["doubles {n} 0 0 100", "doubles {n} 1 0 100"], 100 * M, 10 * M, "openmp:saxpy_f64",
        check="1e-12", extra=True),
    Row("filter_f64", "filter f64, half kept", "filter_f64", ["doubles {n} 0 0 100"], 100 * M, 10 * M, "openmp:filter_f64", extra=True),
    Row("gather_f64", "gather f64", "gather_f64", ["permutation {n}", "doubles {n} 0 0 100"], 100 * M, 10 * M, "openmp:gather_f64",
        extra=True),
    Row("scatter_f64", "scatter f64", "scatter_f64", ["permutation {n}", "doubles {n} 0 0 100"], 100 * M, 10 * M,
        "openmp:scatter_f64", extra=True),
    Row("sort_i64", "sort i64", "sort_i64", ["random-longs {n}"], 100 * M, 10 * M, "openmp:sort_i64", extra=True),
    Row("sort_f32", "sort f32", "sort_f32", ["floats {n} 0"], 100 * M, 10 * M, "openmp:sort_f32", extra=True),
    Row("histogram_max", "maximum by index, 256 bins", "histogram_max", ["below {n} 256", "random-ints {n}"], 100 * M, 10 * M,
        "openmp:histogram_max", extra=True),
    Row("spmv_f64", "SpMV f64, power-law rows", "spmv_f64",
        ["lengths-power {n} {rows} {longest}", "below {n} {rows}", "doubles {n} 0 0 100", "doubles {rows} 1 0 100"], 16 * M, 3200000,
        "openmp:spmv_f64", check="1e-9", extra=True),
    # as their peers are
    Row("nbody_contracted", "n-body f32, contracted", "nbody", ["floats {n} 0", "floats {n} 1", "floats {n} 2", "floats {n} 3"], 65536, 8192,
        both("nbody", "openmp", "cuda", "futhark"), check="1e-3", moved=False, extra=True, param="contract=1"),
    Row("matmul_contracted", "matrix product f32, contracted", "matmul", ["matrix {side} {side} 0", "matrix {side} {side} 1"],
        2048 ** 2, 512 ** 2, "openmp:matmul libraries:matmul libraries:matmul_cublas futhark:matmul", check="1e-4", moved=False,
        extra=True, param="contract=1"),
] + [
    Row(f"{name}_{shape}", f"{work}, {text}", program, [lengths, data], 100 * M // less, 10 * M // less, peers, check=check, extra=True)
    for name, work, program, data, peers, check, less in [
        ("segsum", "segmented sum f32", "segsum", "floats {n} 0", SEGSUM, "1e-3", 1),
        ("segmax", "segmented maximum i32", "segmax_i32", "random-ints {n}", "openmp:segmax_i32", "0", 1),
        ("segscan", "segmented scan i32", "segscan", "ints {n}", both("segscan", "openmp", "cuda"), "0", 1),
        ("segsort", "segmented sort u32", "segsort", "random-keys {n}", both("segsort", "openmp", "cuda"), "0", 10)]
    for shape, text, lengths in [
        ("empty", "nine rows in ten empty", "lengths-empty {n} 30"),
        ("equal", "rows of 32", "lengths-equal {n} 32"),
        ("geometric", "geometric, mean 50", "lengths {n} 50"),
        ("powerlaw", "power law, mean 50", "lengths-power {n} {short_rows} {rows_longest}")]
] + [
    # programs nobody tuned for: written in plain style by one who knew only the language, measured before anything was done about them
    Row(name, work, name, inputs, gpu, cpu, f"openmp:{name.split('_')[0]}", check=check, moved=False, untuned=True)
    for name, work, inputs, gpu, cpu, check in [
        ("lu", "LU decomposition f32, no pivots", ["matrix {side} {side} 0"], 1024 ** 2, 384 ** 2, "1e-3"),
        ("kmeans", "k-means, 8 dimensions, 16 centres, 5 rounds", ["matrix {eighth} 8 0", "16", "5"], 16 * M, 8 * 50000, "1e-3"),
        ("hotspot", "hot spot f32, 20 steps", ["matrix {side} {side} 0", "matrix {side} {side} 1", "20"], 4096 ** 2, 1024 ** 2, "1e-4"),
        ("raycast", "rays through n pixels, 100 spheres", ["{side}", "floats 100 0", "floats 100 1", "floats 100 2", "floats 100 3"],
         2048 ** 2, 256 ** 2, "0.1%"),
        ("smithwaterman", "Smith–Waterman, pairs of 64 and 48 letters", ["below-matrix {batch} 64 4", "below-matrix {batch} 48 4"],
         64 * 65536, 64 * 2048, "0"),
        ("diffusion", "alternating directions, 16 grids of n / 16, 10 steps", ["floats 16 2", "matrix 32 {columns} 0", "10"],
         64 * 16384, 16 * 32 * 64, "1e-3"),
        ("trisolve", "sparse triangular system, 8 a row", ["triangle-lengths {n} 8", "triangle-columns {n} 8", "floats {triangle} 0",
         "floats {n} 1"], M, 100000, "1e-3"),
        ("trisolve_rows", "… the same, row by row", ["triangle-lengths {n} 8", "triangle-columns {n} 8", "floats {triangle} 0",
         "floats {n} 1"], 20000, 100000, "1e-3"),
        ("barneshut", "Barnes–Hut f64, theta 0.5", ["doubles {n} 0 0 100", "doubles {n} 1 0 100", "doubles {n} 2 100 300"],
         100000, 5000, "1e-6"),
        ("smallsorts", "n / 8 small sorts by an f32 key", ["lengths {n} 8", "floats {n} 0", "below {n} 1000000"], 8 * M, 2 * M, "0"),
        ("smallffts", "power spectra of signals of 64, f64", ["matrix {batch} 64 0"], 64 * 65536, 64 * 8192, "1e-6"),
        ("inverses", "inverses of 8 × 8 matrices f32", ["8", "matrix {batch} 64 0"], 64 * 65536, 64 * 4096, "1e-3"),
        ("triangles", "triangles of an RMAT graph", ["rmat-lengths {scale}", "rmat-targets {scale}"], 2 ** 16, 2 ** 11, "0"),
        ("suffixarray", "suffix array of a text of 4 letters", ["below {n} 4"], M, 100000, "0"),
    ]
]
