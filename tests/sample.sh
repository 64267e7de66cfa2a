#!/bin/sh
# Whether the programs of tests/sample.txt use every operation of the runtime and every kind of kernel that the programs of
# tests/run use: sample.sh DPC
set -u
export LC_ALL=C
dpc=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

grep -oE '\bdp_[a-z_]+\(' runtime/include/dp_rt.h | sort -u >"$folder/runtime"
operations() { # of the host programs of FILE…
    for f in "$@"; do "$dpc" dump --stage=host "$f" 2>/dev/null; done >"$folder/host"
    { grep -oE '\bdp_[a-z_]+\(' "$folder/host" | sort -u | comm -12 - "$folder/runtime"; grep -oE '\bDP_K_[A-Z]+' "$folder/host"; } | sort -u
}
operations tests/run/*.dp >"$folder/all"
operations $(sed 's|.*|tests/run/&.dp|' tests/sample.txt) >"$folder/sample"
[ "$(wc -l <"$folder/all")" -gt 50 ] || { echo "FAILED: no operations were found"; exit 1; }
missing=$(comm -23 "$folder/all" "$folder/sample")
[ -z "$missing" ] && exit 0
echo "FAILED: no program of tests/sample.txt uses" $missing
exit 1
