#!/bin/sh
# Every kernel template in every way (ways.sh, lanes.sh), in both shapes, simulated by oclgrind, which finds data races and accesses
# out of bounds: oclgrind.sh DPC [--long | PARAMS FILE.dp…]. By itself of few elements (tests/run/tiny_ways.dp): minutes; --long: the programs made for
# each way, an hour. With PARAMS ("segreduce=team,team-bytes=8") only these, for the files. No part of ctest.
#
# Look-back (kernels/scan.cl, lengths.cl) hands words from work-group to work-group by volatile loads and stores of 64 bits, each
# whole by itself, and combining (combine.cl) looks at a word before it compares and swaps: OpenCL 1.2 has no other words for that, and oclgrind
# takes it for races. Those of which both sides are volatile or atomic are left out.
set -u
command -v oclgrind >/dev/null || { echo "oclgrind was not found: nothing checked"; exit 0; }
dpc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkfifo "$folder/log"
# Each process begins its log anew: what all of them write is read from a pipe. The simulator keeps a shadow of each byte of the heap, and
# knows no intrinsics that clang makes when it optimises, or inlines what has to be.
cat >"$folder/dpc" <<END
#!/bin/sh
DP_HEAP=4000000 DP_HEAP_START=4000000 DP_NO_CACHE=1 exec oclgrind --num-threads 1 --local-mem-size 49152 \
    --build-options "-O0 -Dalways_inline=unused" --max-errors 1000000 --data-races --log "$folder/log" "$dpc" "\$@"
END
chmod +x "$folder/dpc"
cat "$folder/log" >"$folder/all" &
exec 9>"$folder/log"
failed=0
if [ $# -gt 1 ]; then
    params=$1
    shift
    for shape in cpu gpu; do
        DP_SHAPE=$shape "$folder/dpc" test --eval=plan --param "$params" "$@" || failed=1
    done
else
    set -- "${1:-tests/run/tiny_ways.dp}"
    [ "$1" = --long ] && shift
    sh tests/ways.sh "$folder/dpc" "$@" || failed=1 # vectors.sh forces what only PoCL has
    sh tests/lanes.sh "$folder/dpc" "$@" || failed=1
fi
exec 9>&-
wait
# A report is two lines and more with blanks or tabs before them, up to an empty line behind its second side.
awk '
    function done() {
        if (report ~ /[^\n]/ && !(report ~ /data race/ && sides == 2 && volatile == 2)) { printf "%s", report; found = 1 }
        report = ""; sides = volatile = 0
    }
    /^[^ \t]/ { done() }
    { report = report $0 "\n" }
    /entity:/ { sides++ }
    /^\t.*( (load|store) volatile |@_Z[0-9]+atom)/ { volatile++ }
    END { done(); exit found }' "$folder/all" >"$folder/found" || { failed=1; head -100 "$folder/found"; echo "FAILED: oclgrind has found this"; }
[ $failed -eq 0 ] && echo "oclgrind: all passed"
exit $failed
