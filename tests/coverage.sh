#!/bin/sh
# Which lines and branches of the compiler and the runtime the tests run: coverage.sh BUILD_DIR [--report | FLAG…]
#
#   cmake -S . -B build-coverage -DDPC_COVERAGE=ON && cmake --build build-coverage
#   sh tests/coverage.sh build-coverage           counts anew: runs tests/run_all.sh, then prints the table
#   sh tests/coverage.sh build-coverage --quick   the same with the flags of run_all.sh
#   sh tests/coverage.sh build-coverage --report  the table of the counts that are there; a single test adds to them
#
# The table ends with what misses the targets (coverage_table.py); BUILD_DIR/coverage-gaps.txt has each gap with its
# text. What cannot happen is left out by a comment with its reason: GCOVR_EXCL_LINE: why, or GCOVR_EXCL_BR_LINE: why.
set -u
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
shift
grep -q '^DPC_COVERAGE:BOOL=ON$' "$build/CMakeCache.txt" || { echo "$build was made without -DDPC_COVERAGE=ON"; exit 2; }
command -v gcovr >/dev/null || { echo "gcovr is not installed"; exit 2; }

failed=0
if [ "${1:-}" != --report ]; then
    find "$build" -name '*.gcda' -delete
    sh tests/run_all.sh "$build" "$@" || failed=1
fi
# A process that a signal or a time limit ends in the midst of counting leaves counts that do not add up: gcov may compute a
# negative one, whose branch gcovr leaves out then, with a message.
gcovr --gcov-ignore-parse-errors --root . --object-directory "$build" --filter compiler/ --filter runtime/ --json "$build/coverage.json" "$build" || exit 2
python3 tests/coverage_table.py "$build/coverage.json" "$build/coverage-gaps.txt" || failed=1
exit $failed
