#!/bin/sh
# Each way of segmented reductions and scans, forced, computes what the interpreters do, in both shapes of the kernels:
# ways.sh DPC [FILE.dp…]. Without files: the programs made for it; ways.sh DPC tests/run/*.dp takes an hour.
set -u
dpc=$1
shift
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- tests/run/segment_ways.dp tests/run/scan_ways.dp tests/run/tiles.dp
failed=0
for shape in cpu gpu; do
    for ways in segreduce=path,segscan=path,look-back=always segreduce=path,segscan=path segreduce=lane,segscan=lane,reduce=two segreduce=team,team-bytes=8 segreduce=split,split-length=4 \
        segreduce=tile,tile-unroll=2; do
        DP_SHAPE=$shape "$dpc" test --eval=plan --param "$ways" "$@" >/tmp/ways.$$ 2>&1 || {
            failed=1
            echo "FAILED: $shape, $ways"
            grep -v -E 'passed$|expected (kernels|launches)|  got [0-9]+$' /tmp/ways.$$
        }
    done
done
rm -f /tmp/ways.$$
exit $failed
