#!/bin/sh
# One program's tests on the given evaluators, and all kernels its device runs were made of through clang's OpenCL front
# end (where clang is installed): run_one.sh DPC PROGRAM EVALUATORS. The evaluator `gpu` is the device with the kernels' shape for
# GPUs, poisoned memory, and numbers posted to the host's; `quick` and `optimised` are the device with all kernels compiled so. Prints what went wrong, beginning with FAILED, and `done`.
dpc=$1 program=$2 evaluators=$3
kernels=$(mktemp -d)
trap 'rm -rf "$kernels"' EXIT
case $evaluators in
    gpu)
        evaluators=device
        export DP_SHAPE=gpu DP_POISON=1 DP_SPACES=posts
        program_is="$program (DP_SHAPE=gpu DP_POISON=1 DP_SPACES=posts)" ;;
    quick|optimised)
        export DP_TIER=$evaluators
        evaluators=device
        program_is="$program (DP_TIER=$DP_TIER)" ;;
esac

run() {
    out=$(DP_DUMP_KERNELS=$kernels timeout 300 "$dpc" test --eval="$evaluators" "$program" 2>&1) ||
        printf 'FAILED: dpc test --eval=%s %s\n%s\n' "$evaluators" "${program_is:-$program}" "$out"
    refused=$(sh tests/front_end.sh "$kernels") || printf 'FAILED: %s\n%s\n' "${program_is:-$program}" "$refused"
}
printf '%s\ndone\n' "$(run)" # at once: several of these write to one stream
