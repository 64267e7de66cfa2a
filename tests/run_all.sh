#!/bin/sh
# All tests: run_all.sh BUILD_DIR [--quick | --long]
#
#   playground  the compiler made into a page, where emscripten is installed
#   unit     cmocka tests of the parts, the command line, every block of the documentation, hostile input (robust.py), extreme
#            sizes and numbers on the interpreters (edges.py), the Python package (python.sh), calls that fail (attack), a few
#            seconds of fuzzing (ctest)
#   diag     wrong programs against their expected diagnostics
#   golden   dumps of the stages
#   warnings the examples, the library and the programs of tests/run have none
#   run      programs with inputs: those of tests/run on every evaluator (core, fused, flat, plan, device), and their kernels
#            through clang's OpenCL front end, where clang is installed; those of sample.txt also with the kernels' shape for
#            GPUs, with all kernels compiled quickly, and all optimised; examples, library, tests/prelude and tests/wild
#            (written from the language's reference alone) on the interpreters
#
#   The in-process fuzz targets of tests/fuzz, which need a build of their own, run by tests/fuzz/run_fuzzers.sh; here (ctest) they
#   go through their stored inputs.
#
#   --quick  of unit the cmocka tests and the command line; of run the programs of sample.txt
#   --long   all but tests/prelude on the device, too, and tests/run in the GPU's shape and optimised; forced ways with more programs; twenty minutes of
#            fuzzing (best with a build of -DDPC_SANITIZE=ON)
set -u
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd) || exit 2
how=${2:-}
case $how in ''|--quick|--long) ;; *) echo "run_all.sh has no flag $how: --quick or --long" >&2; exit 2 ;; esac
dpc=$build/dpc
export DPC_CHECK=1
[ "$how" != --long ] || export DPC_LONG=1 # ways.sh, lanes.sh, vectors.sh
failed=0 passed=0 part='' spent=''
began=$(date +%s)

count() { # count OK NAME
    if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $2"; fi
}
begin() { # begin PART, or nothing
    now=$(date +%s)
    [ -z "$part" ] || spent="$spent$part $((now - since)) s, "
    part=$1 since=$now
    [ -z "$part" ] || echo "== $part"
}
# Passes on what went wrong as it comes, and says how many lines `done` have come, of TOTAL: on a terminal in one line.
progress() {
    n=0 said=$(date +%s)
    while IFS= read -r line; do
        case $line in
            done) n=$((n + 1)) ;;
            '') continue ;;
            *) [ ! -t 2 ] || printf '\r\033[K' >&2
               printf '%s\n' "$line"
               printf '%s\n' "$line" >>"$build/run.failed" ;;
        esac
        if [ -t 2 ]; then
            printf '\r%d of %d ' "$n" "$1" >&2
        elif now=$(date +%s) && [ $((now - said)) -ge 30 ]; then
            said=$now
            echo "$n of $1"
        fi
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
}

command -v python3 >/dev/null 2>&1 || echo "python3 is not installed: no tests of hostile input (robust.py), no fuzzing"
sh tests/python3.sh numpy pytest >/dev/null ||
    echo "numpy or pytest is not installed: no tests of the Python package (python.sh)"
command -v chromium >/dev/null 2>&1 || echo "chromium is not installed: the pages of dpc explain and the playground are not tried in a browser"
pkg-config --exists tree-sitter 2>/dev/null || echo "libtree-sitter-dev is not installed: the tree-sitter grammar is not tried"
command -v clang >/dev/null 2>&1 || echo "clang is not installed: the kernels do not go through its OpenCL front end"
if [ "$how" != --quick ]; then
    begin playground # which ctest tries then; a minute on two cores
    if command -v emcmake >/dev/null 2>&1; then
        cmake --build "$build" --target playground >"$build/playground.log" 2>&1
        count $? "cmake --build $build --target playground (see $build/playground.log)"
    else
        echo "emscripten is not installed: the playground is not built and not tried"
    fi
fi
begin unit
only='.'
[ "$how" = --quick ] && only='^(unit/.*|cli|errors|outputs|docs)$'
(cd "$build" && ctest --output-on-failure -j "$(nproc)" --timeout 600 -R "$only") || failed=$((failed + 1))

begin diag
sh tests/diag.sh "$dpc" >"$build/diag.failed"
while read -r f; do count 1 "$f"; done <"$build/diag.failed"
passed=$((passed + $(ls tests/diag/[EWa]*/*.dp | wc -l) - $(wc -l <"$build/diag.failed")))

begin golden
for expected in tests/golden/*/*; do
    [ -e "$expected" ] || continue
    stage=$(basename "$(dirname "$expected")")
    program=$(basename "$expected" .txt)
    NO_COLOR=1 "$dpc" dump --stage="$stage" "tests/golden/$program.dp" 2>&1 | cmp -s - "$expected"
    count $? "$expected"
done

begin warnings # none, but in programs that say so
for f in examples/*/*.dp $(ls stdlib/*.dp | grep -v "^stdlib/prelude.dp$") $(grep -L '^-- warns' tests/run/*.dp) tests/golden/*.dp; do
    "$dpc" check --werror "$f" >/dev/null 2>&1
    count $? "dpc check --werror $f"
done

begin run
sh tests/sample.sh "$dpc"
count $? "tests/sample.txt"
evaluators=core,fused,flat gpu=$(sed 's|.*|tests/run/&.dp|' tests/sample.txt)
[ "$how" = --long ] && evaluators=core,fused,flat,plan,device gpu=$(ls tests/run/*.dp)
if [ "$how" = --quick ]; then
    for f in $gpu; do printf '%s core,fused,flat,plan,device\n%s gpu\n%s quick\n%s optimised\n' "$f" "$f" "$f" "$f"; done
else
    for f in $gpu; do printf '%s gpu\n%s optimised\n' "$f" "$f"; done
    sed 's|.*|tests/run/&.dp quick|' tests/sample.txt
    ls tests/run/*.dp | sed 's/$/ core,fused,flat,plan,device/'
    ls tests/prelude/*.dp | sed 's/$/ core,fused,flat/' # thousands of kernels; tests/run/prelude_*.dp have them in small
    ls examples/*/*.dp stdlib/*.dp tests/wild/*.dp | grep -v "^stdlib/prelude.dp$" | sed "s/$/ $evaluators/"
fi >"$build/programs.txt"
: >"$build/run.failed"
DPC_READ=$(mktemp -d)
export DPC_READ # front_end.sh
total=$(wc -l <"$build/programs.txt")
xargs -P "$(nproc)" -n 2 sh tests/run_one.sh "$dpc" <"$build/programs.txt" | progress "$total"
rm -rf "$DPC_READ"
wrong=$(grep -c '^FAILED: ' "$build/run.failed")
failed=$((failed + wrong))
passed=$((passed + total - wrong))

if [ "$how" = --long ]; then
    begin edges
    seed=$(date +%j%H%M)
    python3 tests/edges.py "$dpc" --files 60 --seed "$seed"
    count $? "tests/edges.py --files 60 --seed $seed"
    begin fuzz
    for fuzzer in programs values device updates; do
        python3 tests/fuzz/fuzz_$fuzzer.py "$dpc" --seconds 300 --seed "$seed" --keep "$build/fuzz"
        count $? "tests/fuzz/fuzz_$fuzzer.py --seed $seed (what failed is in $build/fuzz)"
    done
fi

begin ''
echo "time: $spent$(($(date +%s) - began)) s in all"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
