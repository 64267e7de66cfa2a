#!/bin/sh
# Instances side by side (runtime/kernels/vector.cl), wherever it is possible and never, compute what the interpreters do; and the kernels
# go through clang's OpenCL front end. vectors.sh DPC [FILE.dp…]. Without files: the programs made for it.
set -u
dpc=$1
shift
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- tests/run/vector_values.dp tests/run/vector_control.dp tests/run/vector_inside.dp
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
for vectors in on off; do
    DP_TIER=optimised DP_DUMP_KERNELS=$folder "$dpc" test --eval=plan --param vectors=$vectors "$@" >"$folder/out" 2>&1 || {
        failed=1
        echo "FAILED: vectors=$vectors"
        grep -v -E 'passed$|expected (kernels|launches)|  got [0-9]+$' "$folder/out"
    }
    [ $vectors = off ] || grep -q 'dp_body_w' "$folder"/*.cl || { failed=1; echo "FAILED: no kernel has a vector form"; }
    command -v clang >/dev/null && for f in "$folder"/*.cl; do
        clang -x cl -cl-std=CL1.2 -target spir64 -fsyntax-only -Wall -Werror -Wno-unused-function -Wno-unused-variable "$f" || failed=1
    done
    rm -f "$folder"/*.cl
done
exit $failed
