#!/bin/sh
# Both versions of parallel code inside parallel code, forced, compute what the interpreters do, in both shapes of the kernels:
# lanes.sh DPC [FILE.dp…]. Without files: some programs that have such code; with DPC_LONG=1 all of these with all parameters. A lane
# that has too little memory leaves its nest to the other version: 64 bytes are enough for some.
set -u
dpc=$1
shift
cd "$(dirname "$0")/.."
given=$#
all="tests/run/lanes.dp tests/run/stack_lanes.dp tests/run/strips.dp tests/run/early_end.dp tests/run/lane_vectors.dp tests/run/sim_kmeans.dp tests/run/loop_lanes.dp"
strips="tests/run/lanes.dp tests/run/stack_lanes.dp tests/run/strips.dp" # of what a lane has memory for
with_loops="tests/run/flat_tables.dp tests/run/loop_lanes.dp tests/run/loop_branches.dp" limits=tests/run/loop_lanes.dp
[ -z "${DPC_LONG:-}" ] || strips=$all with_loops=$all limits=$all
[ $# -eq 0 ] || all=$* strips=$* with_loops=$* limits=$*
whole=${DPC_LONG:-}$* # in the GPU's shape, too
failed=0
force() { # SHAPE PARAMETERS FILES
    # shellcheck disable=SC2086
    DP_SHAPE=$1 "$dpc" test --eval=plan --param $2 $3 >/tmp/lanes.$$ 2>&1 || {
        failed=1
        echo "FAILED: $1, $2"
        grep -v -E 'passed$|expected (kernels|launches)|  got [0-9]+$' /tmp/lanes.$$
    }
}
for shape in cpu gpu; do
    for nest in flat lane; do
        [ $nest = lane ] || [ $shape = cpu ] || [ -n "$whole" ] || continue # minutes of OpenCL's for templates that ways.sh forces
        force $shape nest=$nest "$all"
    done
    if [ $shape = gpu ] && [ -z "$whole" ]; then
        force gpu "nest=lane --param lane-memory=64 --only=deep" "tests/run/stack_lanes.dp tests/run/strips.dp"
        strips=tests/run/lanes.dp with_loops=$limits
    fi
    for memory in lane-memory=64 lane-memory=0 lane-given=16 lane-given=0; do force $shape "nest=lane --param $memory" "$strips"; done
    # Loops outside parallel code: launches, or one lane, which may find that it has too little memory, or too much to do.
    for loops in flat lane; do force $shape loops=$loops "$with_loops"; done
    for loops in "lane --param loop-memory=64" "lane --param loop-memory=4096" auto "auto --param loop-lane=1" "auto --param loop-lane=40"; do
        force $shape "loops=$loops" "$limits"
    done
done
# In vectors, which only optimised kernels have.
export DP_TIER=optimised
force cpu "nest=lane --param vectors=on" "$all"
unset DP_TIER
# With nest=flat nothing is left to a lane, also where there is one version only. (oclgrind, which gives files, has no times.)
launches() { "$dpc" run tests/run/lanes.dp --entry squares 6 --profile "$@" 2>&1 | sed -n 's/.* all: \([0-9]*\) launches.*/\1/p'; }
if [ $given -eq 0 ]; then
    [ "$(launches)" = 1 ] && [ "$(launches --param nest=flat)" -gt 1 ] && [ "$(DP_PARAMS=nest=flat launches --eval=device)" -gt 1 ] || {
        failed=1
        echo "FAILED: nest=flat: $(launches), $(launches --param nest=flat) launches"
    }
fi
rm -f /tmp/lanes.$$
exit $failed
