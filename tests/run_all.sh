#!/bin/sh
# All tests: run_all.sh BUILD_DIR [--long]
#
#   unit     cmocka tests of the parts, the command line, every block of the documentation, hostile input (robust.py), a few
#            seconds of fuzzing (ctest)
#   diag     wrong programs against their expected diagnostics
#   golden   dumps of the stages
#   warnings the examples, the library and the programs of tests/run have none
#   run      programs with inputs: those of tests/run on every evaluator (core, fused, flat, device), and their kernels
#            through clang's OpenCL front end, where clang is installed; examples, library, tests/prelude and tests/wild
#            (written from the language's reference alone) on the interpreters
#            The in-process fuzz targets of tests/fuzz, which need a build of their own, run by tests/fuzz/run_fuzzers.sh; here
#            (ctest) they go through their stored inputs.
#   --long   all but tests/prelude on the device, too; twenty minutes of fuzzing (best with a build of -DDPC_SANITIZE=ON)
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

command -v python3 >/dev/null 2>&1 || echo "python3 is not installed: no tests of hostile input (robust.py), no fuzzing"
command -v clang >/dev/null 2>&1 || echo "clang is not installed: the kernels do not go through its OpenCL front end"
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

echo "== warnings" # none, but in programs that say so
for f in examples/*/*.dp $(ls stdlib/*.dp | grep -v "^stdlib/prelude.dp$") $(grep -L '^-- warns' tests/run/*.dp) tests/golden/*.dp; do
    "$dpc" check --werror "$f" >/dev/null 2>&1
    count $? "dpc check --werror $f"
done

echo "== run"
evaluators=core,fused,flat
[ "${1:-}" = --long ] && evaluators=core,fused,flat,device
{
    ls tests/run/*.dp | sed 's/$/ core,fused,flat,device/'
    ls tests/prelude/*.dp | sed 's/$/ core,fused,flat/' # thousands of kernels; tests/run/prelude_*.dp have them in small
    ls examples/*/*.dp stdlib/*.dp tests/wild/*.dp | grep -v "^stdlib/prelude.dp$" | sed "s/$/ $evaluators/"
} >"$build/programs.txt"
xargs -P "$(nproc)" -n 2 sh tests/run_one.sh "$dpc" <"$build/programs.txt" >"$build/run.failed"
cat "$build/run.failed"
wrong=$(grep -c '^FAILED: ' "$build/run.failed")
failed=$((failed + wrong))
passed=$((passed + $(wc -l <"$build/programs.txt") - wrong))

if [ "${1:-}" = --long ]; then
    echo "== fuzz"
    seed=$(date +%j%H%M)
    for fuzzer in programs values device updates; do
        python3 tests/fuzz/fuzz_$fuzzer.py "$dpc" --seconds 300 --seed "$seed" --keep "$build/fuzz"
        count $? "tests/fuzz/fuzz_$fuzzer.py --seed $seed (what failed is in $build/fuzz)"
    done
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
