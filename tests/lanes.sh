#!/bin/sh
# Both versions of parallel code inside parallel code, forced, compute what the interpreters do, in both shapes of the kernels:
# lanes.sh DPC [FILE.dp…]. Without files: some programs that have such code, in the GPU's shape not optimised by OpenCL's compiler, which
# takes most of the time; with DPC_LONG=1 all of these with all parameters, and optimised. A lane
# that has too little memory leaves its nest to the other version: 64 bytes are enough for some.
set -u
dpc=$1
shift
cd "$(dirname "$0")/.."
given=$#
views=/tmp/lane_views.$$.dp
sed "/^-- expect /d" tests/run/lane_views.dp >$views
all="tests/run/lanes.dp tests/run/stack_lanes.dp tests/run/strips.dp tests/run/early_end.dp tests/run/lane_vectors.dp $views tests/run/sim_kmeans.dp tests/run/loop_lanes.dp"
strips="tests/run/lanes.dp tests/run/stack_lanes.dp tests/run/strips.dp" # of what a lane has memory for
rounds=/tmp/loop_rounds.$$.dp
sed "/^-- expect /d" tests/run/loop_rounds.dp >$rounds
with_loops="$rounds tests/run/flat_tables.dp tests/run/lane_checks.dp tests/run/loop_lanes.dp tests/run/loop_branches.dp" limits=tests/run/loop_lanes.dp
tries=/tmp/lanes_apart.$$.dp
sed "/^-- expect /d" tests/run/lanes_apart.dp >$tries
[ -z "${DPC_LONG:-}" ] || strips=$all with_loops=$all limits=$all tries=$all
abreast="tests/lanes/abreast.dp tests/lanes/tables.dp"
[ $# -eq 0 ] || all=$* strips=$* with_loops=$* limits=$* tries=$* abreast=
whole=${DPC_LONG:-}$* # in the GPU's shape, too
failed=0
force() { # SHAPE PARAMETERS FILES
    tier=${DP_TIER:-}
    [ "$1" = cpu ] || [ -n "$whole" ] || tier=unoptimised
    # shellcheck disable=SC2086
    DP_SHAPE=$1 DP_TIER=$tier "$dpc" test --eval=plan --param $2 $3 >/tmp/lanes.$$ 2>&1 || {
        failed=1
        echo "FAILED: $1, $2"
        grep -v -E 'passed$|expected (kernels|launches)|  got [0-9]+$' /tmp/lanes.$$
    }
}
for shape in cpu gpu; do
    for nest in flat lane; do
        [ $nest = lane ] || [ $shape = cpu ] || [ -n "$whole" ] || continue # minutes of OpenCL's for templates that ways.sh forces
        force $shape nest=$nest,lane-turns=0 "$all" # arrays of lanes by turns; below in one piece, unless instances are many
    done
    if [ $shape = gpu ] && [ -z "$whole" ]; then
        force gpu "nest=lane --param loop-memory=0 --param lane-memory=64 --only=deep" "tests/run/stack_lanes.dp tests/run/strips.dp"
        strips=tests/run/lanes.dp with_loops=$limits
    fi
    for memory in lane-memory=64 lane-memory=0 lane-given=16 lane-given=0; do force $shape "nest=lane --param loop-memory=0 --param $memory" "$strips"; done
    # Few instances: lanes that count what loops have to do, and leave it to launches at once, later or never.
    for spends in 0 20 1000000; do force $shape "nest-tries=1 --param loop-lane=$spends" "$tries"; done
    # Loops outside parallel code: launches, or one lane, which may find that it has too little memory, or too much to do.
    for loops in flat lane; do force $shape loops=$loops "$with_loops"; done
    for loops in "lane --param loop-memory=64" "lane --param loop-memory=4096" auto "auto --param loop-lane=1" "auto --param loop-lane=40"; do
        force $shape "loops=$loops" "$limits"
    done
done
# In vectors, which only optimised kernels have; those of lanes with memory with too little of it, too.
export DP_TIER=optimised
force cpu "nest=lane --param vectors=on" "$all $abreast"
[ -z "$abreast" ] || "$dpc" test --eval=core,fused,flat,plan $abreast >/tmp/lanes.$$ 2>&1 || {
    failed=1
    echo "FAILED: $abreast"
    cat /tmp/lanes.$$
}
for memory in lane-memory=64 lane-memory=4096 lane-given=0; do
    force cpu "nest=lane --param vectors=on --param loop-memory=0 --param $memory" "$abreast"
done
# The operations of a loop's one lane, and the same by launches.
for params in "lane --param vectors=on" "lane --param vectors=off" "lane --param vectors=on --param loop-memory=4096" \
    "flat --param vectors=on"; do
    [ -z "$abreast" ] || force cpu "loops=$params" tests/lanes/wide.dp
done
unset DP_TIER
# With nest=flat nothing is left to a lane, also where there is one version only. (oclgrind, which gives files, has no times.)
launched() { "$dpc" run --profile "$@" 2>&1 | sed -n 's/.* all: \([0-9]*\) launches.*/\1/p'; }
launches() { launched tests/run/lanes.dp --entry squares 6 "$@"; }
if [ $given -eq 0 ]; then
    [ "$(launches)" = 1 ] && [ "$(launches --param nest=flat)" -gt 1 ] && [ "$(DP_PARAMS=nest=flat launches --eval=device)" -gt 1 ] || {
        failed=1
        echo "FAILED: nest=flat: $(launches), $(launches --param nest=flat) launches"
    }
fi
# A GPU launches nothing for rounds of small loops, and calls that wait for others, of however few instances; a lane that may spend
# nothing is tried all the same.
few() { DP_SHAPE=gpu launched "$@"; }
if [ $given -eq 0 ]; then
    rows="[[0,3,1,5],[5,8,6,1]]"
    votes="tests/run/lanes_apart.dp --entry votes 5 9" chain="tests/run/stack_lanes.dp --entry boards [4,5]"
    tries="tests/run/lanes_apart.dp --entry distances $rows $rows"
    # shellcheck disable=SC2086
    found="$(few $votes) $(few $votes --param nest-steps=100) $(few $chain) $(few $chain --param nest-chains=3) $(few $tries) \
$(few $tries --param nest-tries=100) $(few $tries --param loop-lane=0)"
    # shellcheck disable=SC2086
    set -- $found
    [ "$1" -lt 30 ] && [ "$2" -gt 100 ] && [ "$3" -lt 4 ] && [ "$4" -gt 20 ] && [ "$5" -lt "$6" ] && [ "$6" -lt "$7" ] || {
        failed=1
        echo "FAILED: few instances: $found launches"
    }
fi
rm -f /tmp/lanes.$$ /tmp/lanes_apart.$$.dp $rounds $views
exit $failed
