#!/bin/sh
# Measures dpc's programs beside plain sequential C, in one run: run.sh DPC [N] [DEVICE OPTIONS…]
# Device time (-t: kernels and sizes, no transfers of arguments and results), medians, in milliseconds.
set -eu
cd "$(dirname "$0")"
dpc=$1
n=${2:-10000000}
shift; [ $# -gt 0 ] && shift
work=${BENCH_DIR:-/tmp/dpc-bench}
mkdir -p "$work"

"$dpc" build programs/generate.dp -o "$work/generate"
for entry in ints xs ys lengths columns values; do
    [ -e "$work/$entry.$n" ] || {
        "$work/generate" "$@" --entry "$entry" "$n" -o "$work/$entry.npy"; touch "$work/$entry.$n"; }
done
"$work/generate" "$@" --entry floats "$((n / 16))" -o "$work/floats.npy"

${CC:-cc} -O3 -march=native -o "$work/sequential" sequential.c
"$work/sequential" "$work" >"$work/sequential.txt"

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { printf "%.2f", v[int((NR + 1) / 2)] / 1000 }'; }

measure() { # measure NAME ARGUMENT…
    name=$1; shift
    "$dpc" build "programs/$name.dp" -o "$work/$name"
    "$work/$name" $device -r 7 -t "$work/$name.times" "$@" -o "$work/$name.out.txt"
    plain=$(awk -v p="$name" '$1 == p { printf "%.2f", $2 / 1000 }' "$work/sequential.txt")
    printf '| %s | %s | %s |\n' "$name" "$(median "$work/$name.times")" "${plain:-–}"
}

device="$*"
echo "| n = $n | dpc, ms | sequential C, ms |"
echo "|---|---|---|"
measure sum "$work/ints.npy"
measure scan "$work/ints.npy"
measure mssp "$work/ints.npy"
measure filter "$work/ints.npy"
measure spmv "$work/lengths.npy" "$work/columns.npy" "$work/values.npy" "$work/floats.npy"
measure quickhull "$work/xs.npy" "$work/ys.npy"
measure quicksort "$work/ints.npy"
