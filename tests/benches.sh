#!/bin/sh
# dpc bench: the benches in comments, their inputs, and what has become slower. benches.sh DPC
set -u
dpc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export NO_COLOR=1
failed=0
fail() { failed=1; echo "FAILED: $*"; cat said; }
bench() { # bench STATUS WORD…
    wanted=$1
    shift
    "$dpc" bench "$@" >said 2>&1
    rc=$?
    [ $rc -eq "$wanted" ] || fail "dpc bench $*: status $rc, not $wanted"
}

cat >f.dp <<'END'
def scale = 2.0
-- bench main
-- input  = { f64 i : i in 1000 }, 3 -- a comment
-- input  [1, 2] 3
-- input  @xs.csv 3
entry main (xs: [f64]) (k: i32) : f64 = scale * sum xs * f64 k
-- bench constant
entry constant : i64 = sum { x * x : x in 1000 }
-- bench one
-- input = { { i32 x : x in y } : y in
--           length (replicate 10 scale) }
entry one (xs: [[i32]]) : i32 = sum { sum x : x in xs }
-- test one
-- input  [[1]]
-- output 1
END
printf '1\n2\n' >xs.csv
bench 0 f.dp -r 5 --save now
time='[0-9.]* [um]*s'
for row in 'main 1' 'main 2' 'main 3' 'constant 1' 'one 1'; do
    grep -qE "^f.dp $row: $time \($time to $time\)\$" said || fail "no times of $row"
done
[ "$(wc -l <said)" -eq 5 ] || fail "other lines than five"
[ "$(grep -c '"runs":5}$' now)" -eq 5 ] || fail "what is saved: $(cat now)"
# Faster and slower are what lies apart: times that no machine takes.
sed 's/_us":[0-9.]*/_us":0.001/g' now >fast
sed 's/_us":[0-9.]*/_us":99999999/g' now >slow
bench 1 f.dp -r 5 --against fast
grep -q '^5 of 5 slower$' said || fail "not all are slower"
grep -qE '  SLOWER, was 0.0 us \(\+[0-9]+ %\)$' said || fail "by how much"
bench 0 f.dp -r 5 --against slow
[ "$(grep -c '  faster, was 100.000 s (-100 %)$' said)" -eq 5 ] || fail "not all are faster"
sed 's/low_us":[0-9.]*/low_us":0.001/; s/high_us":[0-9.]*/high_us":99999999/' now >wide
bench 0 f.dp -r 5 --against wide --only one
[ "$(grep -c '  as before, was ' said)" -eq 1 ] && [ "$(wc -l <said)" -eq 1 ] || fail "within the bounds"
grep -v constant now >less
bench 0 f.dp -r 3 --only constant --against less
grep -q '  new$' said || fail "what is new"
# Benches are no tests; tests stay tests.
"$dpc" test --eval=core f.dp >said 2>&1 && grep -q '^1 passed' said || fail "dpc test f.dp"

bench 2 f.dp --runs 0
bench 2 f.dp --against none
grep -q 'cannot read none' said || fail "a file that is not there"
echo nonsense >none
bench 2 f.dp --against none
grep -q 'none:1: this is no line of dpc bench --save' said || fail "a file of something else"
cp now kept
bench 2 --save kept f.dp --only nothing
grep -q 'there is no bench of nothing' said || fail "--only of nothing"
sed 's/f64 i :/f65 i :/' f.dp >wrong.dp
bench 2 wrong.dp --save kept
grep -q '^wrong.dp:3:15: error: `f65` is not defined' said || fail "a mistake in an expression"
cmp -s now kept || fail "a failure has changed the saved file"
printf -- '-- bench main\n-- input true\nentry main (x: i64) = 1 / x\n-- bench nobody\n' >wrong.dp
bench 2 wrong.dp
grep -q 'wrong.dp:4:10: error: there is no entry `nobody`' said || fail "a bench of nothing"
printf -- '-- bench main\n-- input true\n-- input 0\nentry main (x: i64) = 1 / x\n' >wrong.dp
bench 2 wrong.dp
grep -q 'wrong.dp:2:10: error: expected an i64, found true' said || fail "a value of another type"
grep -q 'wrong.dp:4:25: error: division by zero' said || fail "a program that fails"
printf -- '-- bench main\n-- input 1\n-- output 1\nentry main (x: i64) = x\n' >wrong.dp
bench 2 wrong.dp
grep -q 'a bench has inputs only' said || fail "an output"
echo 'entry main (x: i64) = x -- bench main of it' >wrong.dp
bench 0 wrong.dp
grep -q 'wrong.dp: no benches' said || fail "no benches"
exit $failed
