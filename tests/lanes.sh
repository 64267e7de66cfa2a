#!/bin/sh
# Both versions of parallel code inside parallel code, forced, compute what the interpreters do, in both shapes of the kernels:
# lanes.sh DPC [FILE.dp…]. Without files: some programs that have such code. A lane that has too little memory leaves its
# nest to the other version: 64 bytes are enough for some.
set -u
dpc=$1
shift
cd "$(dirname "$0")/.."
given=$#
[ $# -gt 0 ] || set -- tests/run/lanes.dp tests/run/strips.dp tests/run/early_end.dp tests/run/lane_vectors.dp tests/run/sim_kmeans.dp tests/run/loop_lanes.dp
failed=0
for shape in cpu gpu; do
    for nest in flat lane "lane --param lane-memory=64" "lane --param lane-memory=0" \
        "lane --param lane-given=16" "lane --param lane-given=0"; do
        # shellcheck disable=SC2086
        DP_SHAPE=$shape "$dpc" test --eval=plan --param nest=$nest "$@" >/tmp/lanes.$$ 2>&1 || {
            failed=1
            echo "FAILED: $shape, nest=$nest"
            grep -v -E 'passed$|expected (kernels|launches)|  got [0-9]+$' /tmp/lanes.$$
        }
    done
done
# Loops outside parallel code: launches, or one lane, which may find that it has too little memory, or too much to do.
for shape in cpu gpu; do
    for loops in flat lane "lane --param loop-memory=64" "lane --param loop-memory=4096" auto "auto --param loop-lane=1" \
        "auto --param loop-lane=40"; do
        # shellcheck disable=SC2086
        DP_SHAPE=$shape "$dpc" test --eval=plan --param loops=$loops "$@" >/tmp/lanes.$$ 2>&1 || {
            failed=1
            echo "FAILED: $shape, loops=$loops"
            grep -v -E 'passed$|expected (kernels|launches)|  got [0-9]+$' /tmp/lanes.$$
        }
    done
done
# In vectors, which only optimised kernels have.
DP_TIER=optimised "$dpc" test --eval=plan --param nest=lane --param vectors=on "$@" >/tmp/lanes.$$ 2>&1 || {
    failed=1
    echo "FAILED: nest=lane, vectors=on"
    grep -v -E 'passed$|expected (kernels|launches)|  got [0-9]+$' /tmp/lanes.$$
}
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
