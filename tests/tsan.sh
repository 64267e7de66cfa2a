#!/bin/sh
# The tests of libdpc, and those of several runtimes in threads, under ThreadSanitizer. tsan.sh BUILD, one of
# -DDPC_SANITIZE=thread
set -u
build=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$0")/.." || exit 2
grep -q '^DPC_SANITIZE[^=]*=thread' "$build/CMakeCache.txt" || { echo "$build is built without ThreadSanitizer"; exit 2; }
failed=0
for test in test_embed test_embed_buffers test_embed_misuse test_threads; do
    TSAN_OPTIONS="suppressions=tests/tsan.supp halt_on_error=0 exitcode=66 allocator_may_return_null=1" "$build/$test" >"$build/$test.tsan" 2>&1 ||
        { failed=1; echo "FAILED: $test under ThreadSanitizer, status $?"; cat "$build/$test.tsan"; }
done
exit $failed
