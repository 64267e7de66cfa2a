#!/bin/sh
# dpc new: what it makes is right; find_package.sh builds it by CMake. new.sh DPC
set -u
dpc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export NO_COLOR=1
failed=0
fail() { failed=1; echo "FAILED: $*"; }

[ "$("$dpc" new rows)" = 'rows/rows.dp
rows/CMakeLists.txt
rows/README.md
rows/.gitignore' ] || fail "dpc new rows"
grep -rq '@' rows && fail "marks are left: $(grep -r '@' rows)"
"$dpc" check --werror rows/rows.dp || fail "rows.dp has warnings"
"$dpc" fmt --check rows/rows.dp || fail "rows.dp is not formatted"
"$dpc" test --eval=core,fused,flat,plan rows/rows.dp >said 2>&1 || { fail "its tests"; cat said; }
[ "$("$dpc" run rows/rows.dp '[[1, 2], [], [3]]')" = '[5.0, 0.0, 9.0]' ] || fail "dpc run rows/rows.dp"
mkdir deep && "$dpc" new deep/my-rows_2 >/dev/null && [ -f deep/my-rows_2/my-rows_2.dp ] || fail "a folder in another"

refused() { # refused STATUS 'TEXT' NAME
    "$dpc" new "$3" >said 2>&1
    [ $? -eq "$1" ] && grep -qF "$2" said || { fail "dpc new $3: no $2"; cat said; }
}
refused 2 'rows is there already' rows
refused 2 'a b is no name of a project' 'a b'
refused 2 'no name of a project' 'rows/'
refused 2 'is no name of a project' '../x;y'
refused 5 'nowhere/rows: cannot write: No such file' nowhere/rows
[ "$(ls rows -A | wc -l)" -eq 4 ] || fail "rows has changed"

exit $failed
