#!/bin/sh
# Kernels whose argument words are all in the heap (DP_ARGUMENTS=buffer) do the same, in both shapes: arguments.sh DPC
dpc=$1
failed=0
kernels=$(mktemp -d)
trap 'rm -rf "$kernels"' EXIT
for shape in cpu gpu; do
    for program in tests/golden/spmv.dp tests/run/many_arguments.dp tests/run/elaborate_histogram.dp tests/run/elaborate_scatters.dp; do
        out=$(DP_DUMP_KERNELS=$kernels DP_SHAPE=$shape DP_ARGUMENTS=buffer timeout 300 "$dpc" test --eval=core,device "$program" 2>&1) && continue
        printf 'FAILED: %s, %s\n%s\n' "$program" "$shape" "$out"
        failed=1
    done
done
# … and it is this form that was run
grep -q 'define w0 (DP_AT(ulong, dp_words)' "$kernels"/*.cl || { echo "FAILED: no kernel has its words in the heap"; failed=1; }
exit $failed
