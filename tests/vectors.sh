#!/bin/sh
# Instances side by side (runtime/kernels/vector.cl), wherever it is possible and never, compute what the interpreters do; and the kernels
# go through clang's OpenCL front end. vectors.sh DPC [FILE.dp…]. Without files: the programs made for it. OpenCL's compiler takes nearly
# all of the time: it optimises only the few of $optimised, and with vectors=off, which is what all other tests run, goes only $off;
# DPC_LONG=1 and given files: everything, all optimised.
set -u
dpc=$1
shift
cd "$(dirname "$0")/.."
whole=${DPC_LONG:-}$*
optimised="tests/run/vector_inside.dp tests/run/vector_elementary.dp tests/run/vector_steps.dp"
off="tests/run/vector_values.dp tests/run/tiles.dp"
[ $# -gt 0 ] || set -- tests/run/vector_values.dp tests/run/vector_control.dp tests/run/vector_inside.dp tests/run/tiles.dp \
    tests/run/scan_columns.dp tests/run/vector_elementary.dp tests/run/vector_scans.dp tests/run/scan_maps.dp tests/run/keep_columns.dp tests/run/vector_gather.dp \
    tests/run/vector_edges.dp tests/run/vector_rows.dp tests/run/vector_steps.dp tests/run/map_ways.dp
[ -z "$whole" ] || off=$*
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/read"
export DPC_READ="$folder/read" # front_end.sh
failed=0
force() { # TIER PARAMETERS FILE…
    tier=$1 params=$2
    shift 2
    DP_TIER=$tier DP_DUMP_KERNELS=$folder "$dpc" test --eval=plan --param "$params" "$@" >"$folder/out" 2>&1 || {
        failed=1
        echo "FAILED: $tier, $params"
        grep -v -E 'passed$|expected (kernels|launches)|  got [0-9]+$' "$folder/out"
    }
    case $params in
    vectors=on) grep -q 'dp_vec dp_body_w' "$folder"/*.cl || { failed=1; echo "FAILED: no kernel has a vector form"; } ;;
    *tile) grep -q 'dp_vec dp_tile_body_w' "$folder"/*.cl || { failed=1; echo "FAILED: no tile has a vector form"; } ;;
    *grid) grep -q 'define DP_W 8' "$folder"/*.cl && grep -q 'define DP_W 4' "$folder"/*.cl || { failed=1; echo "FAILED: no vectors are narrow"; } ;;
    *batches) grep -q 'define DP_WAY 8' "$folder"/*.cl || { failed=1; echo "FAILED: nothing goes by batches"; } ;;
    esac
    sh tests/front_end.sh "$folder" -Wall -Werror -Wno-unused-function -Wno-unused-variable || failed=1
    rm -f "$folder"/*.cl
}
# shellcheck disable=SC2086
if [ -n "$whole" ]; then
    force optimised vectors=on "$@"
    tier=optimised
else
    force unoptimised vectors=on "$@"
    force optimised vectors=on $optimised
    tier=unoptimised
fi
# shellcheck disable=SC2086
force $tier vectors=off $off
force $tier vectors=on,segreduce=tile "$@"
force $tier vectors=on,segreduce=lane tests/run/vector_rows.dp tests/run/vector_values.dp tests/run/vector_apart.dp
force $tier vectors=on,nest=flat,segreduce=batches tests/run/batches.dp
force $tier vectors=on,map=grid tests/run/map_ways.dp
# What these forms are for is there, and some of them without being asked for.
has() { # WHAT PROGRAM ARGUMENTS [PARAMETERS]
    DP_NO_CACHE=1 DP_TIER=optimised DP_DUMP_KERNELS=$folder "$dpc" run --no-warnings --param "${4:-vectors=on,segreduce=lane}" "tests/run/$2.dp" $3 >/dev/null || failed=1
    grep -q -e "$1" "$folder"/*.cl || { failed=1; echo "FAILED: no kernel of $2 has $1"; }
    rm -f "$folder"/*.cl
}
has '= dp_load_second_f64_w' vector_steps '--entry pairs 64'
has 'define DP_APART 1' vector_apart '40 3'
has 'dp_pack1\[' lane_views '--entry products 100'
has 'dp_load_rows_f64_w(heap, &' lane_views '--entry products 100'
has 'dp_pack1.* = x' lane_views '--entry corners 100'
has 'dp_i32_w x.* = dp_mod_i32_w(' vector_values '--entry quotients 40 5' vectors=auto
has 'dp_vec dp_body_across' map_ways '--entry stored 65 70'
exit $failed
