#!/bin/sh
# Every kernel text that the runtime's tests build, in both shapes and tiers, is checked by clang's OpenCL front end. kernels.sh TEST…
set -u
command -v clang >/dev/null || { echo "clang was not found: nothing checked"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for test in "$@"; do
    for tier in quick optimised; do
        DP_TIER=$tier DP_DUMP_KERNELS=$folder "$test" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
    done
done
sh tests/front_end.sh "$folder" -Wall -Werror -Wno-unused-function -Wno-unused-variable -Wno-unused-but-set-variable
