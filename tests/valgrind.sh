#!/bin/sh
# The tests of libdpc under valgrind: accesses that are none of ours, and memory that nobody refers to any more.
# valgrind.sh BUILD [TEST...], a build without sanitizers; ten minutes
set -u
build=$(cd "$1" && pwd) || exit 2
shift
cd "$(dirname "$0")/.." || exit 2
command -v valgrind >/dev/null 2>&1 || { echo "skipped: valgrind is not installed"; exit 77; }
[ $# -gt 0 ] || set -- test_embed test_embed_buffers test_embed_misuse
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT
failed=0
for test; do
    DPC_FEW_ROUNDS=1 valgrind --quiet --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --error-exitcode=9 \
        --suppressions=tests/valgrind.supp --log-file="$log" "$build/$test" >/dev/null 2>&1
    status=$?
    # PoCL's heap of many GB is no reason to warn
    if [ $status -ne 0 ] || grep -v 'Warning: set address range perms' "$log" | grep -q .; then
        failed=1
        echo "FAILED: $test under valgrind, status $status"
        cat "$log"
    fi
done
exit $failed
