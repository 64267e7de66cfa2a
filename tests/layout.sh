#!/bin/sh
# Is all C laid out as .clang-format says? `layout.sh --write` lays it out.
set -u
cd "$(dirname "$0")/.." || exit 2
files=$(find bench compiler playground runtime tests -name '*.[ch]')
if [ "${1:-}" = --write ]; then
    exec clang-format -i $files
fi
command -v clang-format >/dev/null || { echo "skipped: clang-format is not there"; exit 0; }
clang-format --dry-run -Werror $files 2>&1 | grep -F ': error:' | head -20 | grep . && exit 1
exit 0
