#!/bin/sh
# dpc cost: what is counted for expressions, by the rules of docs/language.md, and that lines and definitions add up.
# cost.sh DPC
set -u
dpc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export NO_COLOR=1
failed=0

# counts WORK SPAN EXPRESSION: over xs of 8 elements, xss of 3 rows with 4, and k = 3
counts() {
    printf 'def inc (x: i64) : i64 = x + 1\nentry main (xs: [i64]) (k: i64) (xss: [[i64]]) = %s\n' "$3" >f.dp
    got=$("$dpc" cost --no-warnings f.dp '[5, 6, 7, 8, 1, 2, 3, 4]' 3 '[[1, 2, 3], [], [4]]' 2>&1 | head -n 1)
    case $got in
        "main: work $1, span $2, "*) ;;
        *) echo "FAILED: $3: wanted work $1, span $2: $got"; failed=1 ;;
    esac
}
counts 0 0 '7'
counts 0 0 '(k, length xs).0'
counts 1 1 'k + 1'
counts 2 2 'inc (inc k)'
counts 1 1 'xs[k]'
counts 1 1 'xs[1:k]'
counts 1 1 'if k > 1 then 1 else k + 1'
counts 2 2 'if k < 1 then 1 else k + 1'
counts 2 2 'match k case 1 -> 2 case 3 -> 4 case _ -> 5'
counts 4 1 '[k, 1, 2]'
counts 17 2 '{ x + 1 : x in xs }'       # 1 + 8 + 8 bodies
counts 17 5 '{ x : x in xs | x < 3 }'   # 1 + 8 + 8 guards; 1 + 1 + log 8
counts 9 4 'sum xs'                     # 1 + 8 operators; 1 + log 8
counts 9 4 'scan (+) 0 xs'
counts 17 11 'reduce (\a b -> min a b + 0 * a) 0 xs[:5]' # the slice, 1 + 5 * 3 operators; 1 + 1 + log 5 * 3
counts 27 7 '{ x * y : x in xs; y in xs } |> sum' # equal lengths 1, 1 + 8 + 8 bodies, 1 + 8 operators
counts 5 1 'flatten xss'
counts 11 4 '{ sum xs : xs in xss }'    # 1 + 3 rows, 3 reductions 1 each, 4 elements; the longest row has 3
counts 9 1 'xs with [1] = 2'            # others look at xs: 8 are copied
counts 10 2 '(xs with [1] = 2) with [2] = 3' # nobody looks at the first
counts 5 2 'iota k'
counts 25 4 'argsort xs'                # 1 + 8 log 8; 1 + log 8
counts 17 5 'reduce_by_index (+) 0 4 xs xs'
counts 3 3 'loop s = 0 for i < k do s + i'
counts 7 7 'loop s = 0 while s < k do s + 1'

# The longest of the instances is what counts, and its lines: of row 3 here, through line 3.
cat >rows.dp <<'END'
def down (n: i64) : i64 = if n == 0 then 0
                          else 1 << down (n - 1)
entry main (ns: [i64]) : [i64] =
  { down n
  : n in ns }
END
"$dpc" cost rows.dp '[1, 5, 0, 2]' >said || failed=1
says() { # says TEXT: it is a line, up to blanks
    tr -s ' ' <said | grep -qxF -- "$1" || { echo "FAILED: not said: $1"; cat said; failed=1; }
}
says 'main: work 33, span 17, parallelism 1.9'
says ' 1 33 5 17 main (rows.dp:3)'
says ' 12 28 28 16 down (rows.dp:1)'
says ' 12 12 6 rows.dp:1: def down (n: i64) : i64 = if n == 0 then 0'
says ' 8 16 10 rows.dp:2: else 1 << down (n - 1)'

# As JSON the same.
"$dpc" cost --json rows.dp '[1, 5, 0, 2]' >said || failed=1
case $(cat said) in
    '{"entry":"main","work":33,"span":17,"definitions":[{"name":"main","file":"rows.dp","line":3,"calls":1,"work":33,"own_work":5,"span":17},'*) ;;
    *) echo "FAILED: JSON: $(cat said)"; failed=1 ;;
esac

# What fails has no counts, and the program's status.
printf 'entry main (n: i64) : i64 = 1 / n\n' >fails.dp
"$dpc" cost fails.dp 0 >said 2>&1
[ $? -eq 1 ] && grep -q 'division by zero' said && ! grep -q work said || { echo "FAILED: fails.dp: $(cat said)"; failed=1; }
exit $failed
