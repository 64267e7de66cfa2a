#!/bin/sh
# Each way of segmented reductions, scans, maps, sorts, groups, histograms and scatters, forced, computes what the interpreters do, in both shapes of the kernels:
# ways.sh DPC [FILE.dp…]. Without files: the programs made for it; ways.sh DPC tests/run/*.dp takes an hour. WAYS=reduce: only those of
# segmented reductions and scans; WAYS=other: only the others. Nearly all of the time goes into kernels that OpenCL compiles anew: it does not
# optimise those of the GPU's shape, as run_all.sh lets it do for those of sample.txt. DPC_LONG=1: it does, and each way of segmented
# reductions goes with tiles' programs, too, and of scans with maps behind them.
set -u
dpc=$1
shift
cd "$(dirname "$0")/.."
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
force() { # SHAPE WAYS FILE…: another way may take other numbers of launches than the file expects
    shape=$1 ways=$2
    shift 2
    case $ways in segreduce=*|segscan=*|check-lengths=*) topic=reduce ;; *) topic=other ;; esac
    [ "${WAYS:-$topic}" = $topic ] || return
    tier=
    [ "$shape" = cpu ] || [ -n "${DPC_LONG:-}" ] || tier=unoptimised
    rm -f "$work"/*.dp
    for file; do sed '/^-- expect /d' "$file" >"$work/${file##*/}"; done
    DP_SHAPE=$shape DP_TIER=$tier "$dpc" test --eval=plan --param "$ways" "$work"/*.dp >"$work/said" 2>&1 || {
        failed=1
        echo "FAILED: $shape, $ways"
        grep -v 'passed$' "$work/said"
    }
}
reduces="tests/run/segment_ways.dp tests/run/keep_columns.dp tests/run/split_ways.dp" tiles=tests/run/tiles.dp scans=tests/run/scan_ways.dp scan_maps=tests/run/scan_maps.dp sorts="tests/run/sort_ways.dp tests/run/sort_ends.dp tests/run/length_ways.dp" maps="tests/run/map_ways.dp tests/run/scan_columns.dp" \
    scatters=tests/run/scatter_ways.dp groups="tests/run/group_ways.dp tests/run/group_floats.dp" histograms=tests/run/hist_ways.dp \
    rows="tests/run/segment_ways.dp tests/run/row_ways.dp tests/run/split_ways.dp tests/run/length_ways.dp"
[ -z "${DPC_LONG:-}" ] || reduces="$reduces $tiles" scans="$scans $scan_maps"
for shape in cpu gpu; do
    for ways in segreduce=path,segscan=path,look-back=always check-lengths=device,look-back=always \
        segreduce=path,segscan=path,look-back=never segreduce=lane,segscan=lane,reduce=two check-lengths=host,reduce=one; do
        force $shape $ways ${@:-$reduces $scans}
    done
    force $shape segscan=path,look-back=never ${@:-$scan_maps}
    for ways in check-lengths=device,look-back=always,segreduce=split,split-rows=32,split-heavy=1 segreduce=team,team-bytes=8; do
        force $shape $ways ${@:-$reduces}
    done
    for ways in segreduce=split segreduce=tile,tile-unroll=2 segreduce=tile,tile-pieces=1,vectors=off,tile-depth=8 \
        segreduce=tile,tile-straight=on segreduce=tile,tile-straight=off segreduce=tile,tile-words=4 segreduce=tile,tile-cut=2; do
        force $shape $ways ${@:-$tiles}
    done
    force $shape sort-segment=0 ${@:-$sorts}
    force $shape split-sums=0 ${@:-tests/run/split_totals.dp}
    for ways in loops=flat,loop-looks=1 loops=flat,loop-looks=3 loops=flat,loop-looks=32; do
        force $shape $ways ${@:-tests/run/looks.dp}
    done
    for ways in group-bins=0,group-bins-floats=0 group-bins=1000000,group-bins-floats=1000000; do
        force $shape $ways ${@:-$groups}
    done
    for ways in map=linear map=grid map=turned column-rows=1; do
        force $shape $ways ${@:-$maps}
    done
done
for ways in call-us=0 call-us=1000000000; do
    force cpu $ways ${@:-tests/run/looks.dp tests/run/tiny_ways.dp tests/run/few_scalars.dp}
done
force cpu sort-buckets=2,sort-segment=16 ${@:-$sorts}
force gpu sort-segment=300,sort-ranked=16 ${@:-$sorts}
force gpu sort-groups=1,sort-ranked=16 ${@:-$sorts}
force gpu sort-groups=1024,look-back=always ${@:-$sorts}
for ways in segreduce=rows segreduce=rows,look-back=always segreduce=rows,split-rows=64,split-heavy=1 segreduce=rows,split-rows=2048 segreduce=split,split-rows=32,split-heavy=1; do
    force gpu $ways ${@:-$rows}
done
for ways in scatter=windows scatter-large=0 scatter=direct; do
    force gpu $ways ${@:-$scatters}
done
for ways in histogram=chunks histogram=chunks,histogram-copies=1 histogram=add histogram=hot histogram=hot,histogram-common=1 histogram=sort; do
    force gpu $ways ${@:-$histograms}
done
# Several rounds between two looks.
readbacks() { "$dpc" run --profile tests/run/looks.dp --entry halves --param loops=flat "$@" '[3]' 0 2>&1 | sed -n 's/.* all: .* \([0-9]*\) read-backs.*/\1/p'; }
if [ $# -eq 0 ] && [ "${WAYS:-other}" = other ]; then
    [ "$(readbacks)" -lt 70 ] && [ "$(readbacks --param loop-looks=1)" -gt 1000 ] || {
        failed=1
        echo "FAILED: loop-looks: $(readbacks), $(readbacks --param loop-looks=1) read-backs"
    }
fi
# Whoever adds a way forces it.
forced=$(cat tests/ways.sh tests/lanes.sh tests/vectors.sh)
for choice in $(sed -n 's/^CHOICE([A-Z_]*, "\([a-z-]*\)", "[a-z]* \([a-z ]*\)".*/\1 \2/p' runtime/params.def | tr ' ' '=' ); do
    name=${choice%%=*}
    for word in $(echo "${choice#*=}" | tr '=' ' '); do
        case $forced in *"$name=$word"*|*"for $name in "*"$word"*"$name=\$$name"*) ;; *) failed=1; echo "FAILED: no test forces $name=$word" ;; esac
    done
done
exit $failed
