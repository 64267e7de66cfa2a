#!/bin/sh
# The course: its texts' programs run, each exercise is wrong as it is given and gets a hint, and each solution passes the exercise's tests.
#
# course.sh DPC [core,fused,flat]: the evaluators of the solutions
set -u
here=$(cd "$(dirname "$0")" && pwd)
course=$(dirname "$here")/docs/course
dpc=$1 on=${2:-core,fused,flat}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0 n=0

fail() {
    failures=$((failures + 1))
    echo "FAILED: $1"
    cat "$work/said"
}

for exercise in "$course"/*/exercises/*.dp; do
    n=$((n + 1))
    name=$(basename "$exercise")
    solution=$(dirname "$(dirname "$exercise")")/solutions/$name
    grep -q 'YOUR WORK' "$exercise" || { : >"$work/said"; fail "$exercise does not say where the work is"; }
    timeout 60 "$dpc" test --exercise "$exercise" >"$work/said" 2>&1
    [ $? -eq 1 ] && grep -q '^  hint: ' "$work/said" || fail "$exercise, as it is given, should fail with a hint"
    # the solution's definitions with the exercise's tests, which are at its end
    [ -e "$solution" ] || { : >"$work/said"; fail "there is no $solution"; continue; }
    sed -n '/^-- test /,$p' "$exercise" >"$work/tests"
    cat "$solution" "$work/tests" >"$work/$name"
    (cd "$work" && timeout 120 "$dpc" test --eval="$on" "$name") >"$work/said" 2>&1 || fail "$solution with the tests of its exercise"
done
[ "$n" -gt 0 ] || { : >"$work/said"; fail "no exercises found"; }
for lesson in "$course"/*/lesson.md; do
    for part in teacher.md exercises solutions; do
        [ -e "$(dirname "$lesson")/$part" ] || { : >"$work/said"; fail "$lesson has no $part"; }
    done
done
[ $failures -eq 0 ] && echo "course: $n exercises, all as they should be"
exit $((failures > 0))
