#!/bin/sh
# All tests: run_all.sh BUILD_DIR [--long]
#
#   unit     cmocka tests of the parts (ctest)
#   diag     wrong programs against their expected diagnostics
#   golden   dumps of the stages
#   run      programs with inputs, on every evaluator: core, fused, flat, device
#   kernels  every emitted kernel through clang's OpenCL front end, where clang is installed
#   --long   adds the larger inputs of tests/long
set -u
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
shift
dpc=$build/dpc
export DPC_CHECK=1
failed=0 passed=0

count() { # count OK NAME
    if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $2"; fi
}

echo "== unit"
(cd "$build" && ctest --output-on-failure -j "$(nproc)" --timeout 600) || failed=$((failed + 1))

echo "== diag"
(cd tests/diag && for f in *.dp; do
    [ -e "$f" ] || continue
    NO_COLOR=1 "$dpc" check "$f" 2>&1 | cmp -s - "${f%.dp}.err" || echo "$f"
done) >"$build/diag.failed"
while read -r f; do count 1 "tests/diag/$f"; done <"$build/diag.failed"
passed=$((passed + $(ls tests/diag/*.dp 2>/dev/null | wc -l) - $(wc -l <"$build/diag.failed")))

echo "== golden"
for expected in tests/golden/*/*; do
    [ -e "$expected" ] || continue
    stage=$(basename "$(dirname "$expected")")
    program=$(basename "$expected" .txt)
    NO_COLOR=1 "$dpc" dump --stage="$stage" "tests/golden/$program.dp" 2>&1 | cmp -s - "$expected"
    count $? "$expected"
done

echo "== run"
programs="$(ls tests/run/*.dp examples/*/*.dp 2>/dev/null)"
[ "${1:-}" = --long ] && programs="$programs $(ls tests/long/*.dp 2>/dev/null)"
for f in $programs; do
    timeout 300 "$dpc" test "$f" >"$build/test.log" 2>&1
    rc=$?
    [ $rc -eq 0 ] || cat "$build/test.log"
    count $rc "dpc test $f"
done

echo "== kernels"
if command -v clang >/dev/null 2>&1; then
    sh tests/check_kernels.sh "$dpc" $programs
    count $? "kernels accepted by clang"
else
    echo "clang is not installed: skipped"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
