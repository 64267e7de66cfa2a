#!/bin/sh
# Writes the expected files of tests/diag, tests/golden and tests/unit/elaborate, and what docs/passes.md shows, anew from what the compiler says now.
# Read the difference before you commit it: rebase.sh BUILD_DIR
set -u
cd "$(dirname "$0")/.."
dpc=$(cd "$1" && pwd)/dpc
export NO_COLOR=1
sh tests/diag.sh "$dpc" --write
for f in tests/golden/*.dp; do
    for stage in ast types core fused flat plan opencl host; do
        mkdir -p "tests/golden/$stage"
        "$dpc" dump --stage=$stage "$f" >"tests/golden/$stage/$(basename "$f" .dp).txt" 2>&1
    done
done
python3 tests/passes.py "$dpc" --write
DPC_REBASE=1 "$(dirname "$dpc")/test_elaborate" >/dev/null 2>&1
