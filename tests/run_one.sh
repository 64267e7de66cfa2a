#!/bin/sh
# One program's tests on the given evaluators, and all kernels its device runs were made of through clang's OpenCL front
# end (where clang is installed): run_one.sh DPC PROGRAM EVALUATORS. Prints only what went wrong, beginning with FAILED.
dpc=$1 program=$2 evaluators=$3
kernels=$(mktemp -d)
trap 'rm -rf "$kernels"' EXIT
out=$(DP_DUMP_KERNELS=$kernels timeout 300 "$dpc" test --eval="$evaluators" "$program" 2>&1) || printf 'FAILED: dpc test %s\n%s\n' "$program" "$out"
command -v clang >/dev/null 2>&1 || exit 0
for k in "$kernels"/*.cl; do
    [ -e "$k" ] || continue
    errors=$(clang -x cl -cl-std=CL1.2 -target spir64 -fsyntax-only "$k" 2>&1) && continue
    printf 'FAILED: clang refuses %s of %s\n%s\n' "$(basename "$k")" "$program" "$(echo "$errors" | head -n 6)"
done
