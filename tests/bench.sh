#!/bin/sh
# The rows of bench/ agree with the peers that build here, on little data: bench.sh DPC FOLDER
# FOLDER keeps the peers from one time to the next. No times are taken.
set -u
dpc=$1 folder=$2
cd "$(dirname "$0")/.." || exit 1
failed=0

bench/run --check --dpc "$dpc" --folder "$folder" --timeout 300 >"$folder.txt" 2>&1 || failed=1
rows=$(bench/run --list | wc -l)
# Each row has a peer in C, and some have others.
grep -q "^$rows rows beside .* peers: all agree" "$folder.txt" || failed=1
beside=$(sed -n 's/.* rows beside \([0-9]*\) peers.*/\1/p' "$folder.txt")
grep -q '^openmp:' "$folder.txt" || [ "${beside:-0}" -ge "$rows" ] || failed=1
[ $failed -eq 0 ] || { echo "FAILED: bench/run --check:"; cat "$folder.txt"; }

# What compares them sees a difference: in a number, in how many there are, in a set.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
peers=$folder/peers
cat >"$work/f.dp" <<'END'
entry ints (xs: [i32]) (k: i32) : [i32] = { if i == 7 then x + k else x : x in xs; i in length xs }
entry floats (xs: [f32]) (d: f32) : [f32] = { x * (1.0 + d) : x in xs }
entry reversed (xs: [i32]) : [i32] = reverse xs
END
"$peers/data" "$work/i.npy" ints 100
"$peers/data" "$work/j.npy" ints 99
"$peers/data" "$work/x.npy" floats 100 0
expect() { # expect STATUS TOLERANCE FILE ENTRY ARGUMENT…
    want=$1 tolerance=$2 file=$3 entry=$4; shift 4
    "$dpc" run --eval core "$work/f.dp" --entry "$entry" "$@" -o "$work/a.dpv" || failed=1
    "$peers/compare" "$tolerance" "$work/a.dpv" "$file" >"$work/said"
    [ $? -eq "$want" ] || { echo "FAILED: compare $tolerance of $entry $*: not status $want"; cat "$work/said"; failed=1; }
}
expect 0 0 "$work/i.npy" ints "$work/i.npy" 0
expect 1 0 "$work/i.npy" ints "$work/i.npy" 1
expect 0 1% "$work/i.npy" ints "$work/i.npy" 1
expect 1 0.1% "$work/i.npy" ints "$work/i.npy" 1
expect 1 0 "$work/j.npy" ints "$work/i.npy" 0
expect 0 1e-3 "$work/x.npy" floats "$work/x.npy" 0.0001
expect 1 1e-3 "$work/x.npy" floats "$work/x.npy" 0.01
expect 1 0 "$work/i.npy" reversed "$work/i.npy"
expect 0 set "$work/i.npy" reversed "$work/i.npy"
expect 1 set "$work/i.npy" ints "$work/i.npy" 1

# A file of --json becomes a table, and rows of three sizes plots, where gnuplot is.
cat >"$work/r.json" <<'END'
{"date": "2026-01-01", "machine": "m", "device": "p: a device", "class": "CPU", "commit": "c", "repeat": 3, "ceiling_gbs": 10, "rows": [
 {"row": "sum", "work": "sum i32", "n": 1000, "dpc_ms": 0.002, "bytes": 4004, "peers": {"openmp:sum": {"ms": 0.004}}},
 {"row": "sum", "work": "sum i32", "n": 10000, "dpc_ms": 0.004, "bytes": 40004, "peers": {"openmp:sum": {"ms": 0.008}}},
 {"row": "sum", "work": "sum i32", "n": 100000, "dpc_ms": 0.05, "bytes": 400004, "peers": {"openmp:sum": {"ms": 0.02}}}]}
END
bench/run --from "$work/r.json" --plots "$work/plots" >"$work/table" 2>"$work/said" || failed=1
grep -q '^| sum i32 | 10⁵ | 0.05 | 8 | 80 % | 0.04 | 0.02 |  | openmp:sum | 2.5 |' "$work/table" || { echo "FAILED: the table:"; cat "$work/table"; failed=1; }
if command -v gnuplot >/dev/null; then
    grep -q 'sum i32' "$work/plots/cpu.svg" && grep -q 'openmp:sum' "$work/plots/cpu.svg" || { echo "FAILED: no plots"; failed=1; }
else
    grep -q 'gnuplot is not installed' "$work/said" || { echo "FAILED: nobody says that gnuplot is missing"; failed=1; }
fi
exit $failed
