#!/bin/sh
# dpc eval: expressions, what they are applied to, mistakes. eval.sh DPC
set -u
dpc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export NO_COLOR=1
failed=0

# expect STATUS 'OUTPUT' WORD…: dpc eval WORD… prints exactly this, standard error included
expect() {
    status=$1 text=$2
    shift 2
    got=$("$dpc" eval "$@" 2>&1 </dev/null)
    rc=$?
    [ "$got" = "$text" ] && [ $rc -eq "$status" ] && return
    failed=1
    printf 'FAILED: dpc eval %s: status %s, wanted %s\n%s\nbut wanted\n%s\n' "$*" "$rc" "$status" "$got" "$text"
}

for e in core fused flat plan device; do
    expect 0 '285' --eval=$e 'sum { x * x : x in 10 }'
done
# Lengths stop at 2^63 - 1, where what is so long need not be stored.
for e in fused plan; do
    expect 0 '9223372036854775807' --eval=$e '\(n: i64) -> length (flatten { { i * j : j in n } : i in 4 })' 4611686018427387904
done
expect 0 '(3, "ab", {x = 1.5})' '(1 + 2, "ab", {x = 1.5})'
expect 0 '2.0' '\(xs: [f64]) -> mean xs' '[1, 2, 3]'
expect 0 '[11, 12]' '\(xs: [i64]) k -> { x + k : x in xs }' '[1, 2]' 10
expect 0 '-3' '-3'
printf '1\n2\n6\n' >xs.csv
expect 0 '3.0' '\(xs: [f64]) -> mean xs' xs.csv
[ "$(echo '[4, 5]' | "$dpc" eval '\(xs: [i64]) -> sum xs')" = 9 ] || { echo 'FAILED: an argument from standard input'; failed=1; }
expect 0 '{"x": 1, "ys": [2]}' -o json:- '{x = 1, ys = [2]}'
expect 0 '' -o out.npy '[1.5, 2.5]'
expect 0 '4.0' '\(xs: [f64]) -> sum xs' out.npy
expect 0 '3' 'let x = 1 -- a comment
in x + 2'
# Names of the library's modules and of files; those of its own file are no entries, and may be `main`.
expect 0 '[2.0]' --import linalg 'solve [[2.0]] [4.0]'
echo 'import "order"
def twice (x: i64) = 2 * x
entry main (x: i64) : i64 = twice x' >twice.dp
expect 0 '(6, [2.0])' --import twice.dp,linalg '(main 3, solve [[2.0]] [4.0])'
# Mistakes stand where they were made.
expect 2 'expression:1:5: error: expected a number, found bool [E0301]
  1 + true
      ^^^^
expression:1:1: note: the left side is a number
  1 + true
  ^' '1 + true'
expect 2 'expression:1:4: error: expected an expression, found the end of the file [E0101]
  1 +
     ^' '1 +'
expect 2 'expression:2:3: error: `x` is not defined [E0201]
  + x
    ^' '1
+ x'
expect 2 'expression:1:3: error: expected the end of the file, found `def` [E0101]
  1 def x = 2
    ^^^' '1 def x = 2'
expect 2 'expression:1:1: error: what is evaluated cannot be a function, but this is f64 -> f64 [E0318]
  sqrt
  ^^^^' sqrt
expect 2 'expression:1:1: error: the types of what is evaluated have to be known, but this is [a]; annotate it [E0318]
  []
  ^^' '[]'
expect 2 'error: too many arguments: 1 given, 0 wanted' 1 2
for e in core plan device; do
    expect 1 'expression:1:7: error: index 5 out of bounds for length 2
  [1, 2][5]
        ^^^' --eval=$e '[1, 2][5]'
done
got=$("$dpc" eval --import nowhere 1 2>&1 | head -n 1)
[ "$got" = '--import:1:1: error: there is no module `nowhere`: no file nowhere.dp, and none in the standard library [E0212]' ] ||
    { echo "FAILED: --import nowhere: $got"; failed=1; }
expect 2 'dpc: error: dpc eval takes an expression
Try `dpc help`.'
exit $failed
