#!/bin/sh
# The command line: options, where arguments come from, exit statuses. cli.sh DPC
set -u
dpc=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export NO_COLOR=1
failed=0

# expect STATUS 'TEXT' COMMAND…: standard output and error together contain TEXT, and the status is right.
expect() {
    status=$1 text=$2
    shift 2
    got=$("$@" 2>&1 </dev/null)
    rc=$?
    case $got in
        *"$text"*) [ $rc -eq "$status" ] && return ;;
    esac
    failed=$((failed + 1))
    printf 'FAILED: %s\n  status %s, wanted %s; wanted the text: %s\n%s\n' "$*" "$rc" "$status" "$text" "$got"
}
# feed INPUT STATUS TEXT COMMAND…
feed() {
    printf '%s' "$1" >input
    shift
    status=$1 text=$2
    shift 2
    expect "$status" "$text" sh -c '"$@" <input' sh "$@"
}

cat >f.dp <<'END'
-- test main
-- input  [1, 2] 3
-- output [4, 5]
entry main (xs: [i32]) (k: i32) : [i32] = { x + k : x in xs }
-- test at
-- input  [1.5] 1
-- error  "out of bounds"
entry at (xs: [f64]) (i: i64) : f64 = xs[i]
entry matrix (m: [[f32]]) : [[f32]] = { { 2 * x : x in row } : row in m }
entry constant : (i32, [u8]) = (-1, "x\n")
END
echo 'entry main = 1 + true' >type.dp
echo 'entry main (' >syntax.dp
mkdir modules modules/inner
echo 'import "linalg"
import "modules/a"
entry main (xs: [[f64]]) : [f64] = solve xs { 1.0 : _ in xs }
entry other (xs: [i64]) : i64 =
  at xs 4' >imports.dp
echo 'import "inner/b"
def at (xs: [i64]) i = pick xs i' >modules/a.dp
echo 'import "a" as A -- the file beside this one
def pick (xs: [i64]) (i: i64) = xs[i + A.zero]' >modules/inner/b.dp
echo 'def zero = 0' >modules/inner/a.dp
echo 'def down (n: i64) : i64 = if n < 0 then 0 else 1 / down (n + 1)
entry main (n: i64) : i64 = down n
entry memory (n: i64) : [i64] = reverse (replicate n 1)
entry each (ns: [i64]) : [[i64]] = { reverse (replicate n 1) : n in ns }
entry late (xs: [i64]) : [i64] = { 10 / x : x in xs }' >fails.dp
printf -- '-- test main\n-- input 1\n-- output 3\nentry main (x: i64) = x + 1\n' >wrong.dp
printf -- '-- test main\n-- input 1\nentry main (x: i64) = x + 1\n' >nothing.dp

expect 2 'makes an executable' "$dpc"
expect 0 'dpc ' "$dpc" --version
expect 2 'frobnicate is no command' "$dpc" frobnicate
expect 2 'dpc run takes the name' "$dpc" run
expect 2 'no option --fast' "$dpc" run --fast f.dp
expect 2 '--eval takes' "$dpc" run --eval=nothing f.dp
expect 2 'cannot read none.dp' "$dpc" check none.dp
expect 2 'type.dp:1:' "$dpc" check type.dp
expect 2 'syntax.dp:1:' "$dpc" check f.dp syntax.dp
expect 0 '' "$dpc" check f.dp
expect 2 'type.dp:1:' "$dpc" build type.dp
printf 'entry main (n: i64) : i64 = let x = 3 in n\n-- test main\n-- input 4\n-- output 4\n' >unused.dp
expect 0 'unused.dp:1:33: warning: `x` is not used [W0201]' "$dpc" check unused.dp
expect 0 'warning: `x` is not used' "$dpc" run --eval=core unused.dp 4
expect 0 'warning: `x` is not used' "$dpc" dump --stage=core unused.dp
expect 0 '1 passed, on core, fused and flat' "$dpc" test --eval=core,fused,flat unused.dp
[ "$("$dpc" test --eval=core,fused,flat unused.dp 2>&1 | grep -c warning)" -eq 1 ] || expect 0 'one warning' false
for flag in '--no-warnings' '--no-warnings --werror' '--werror --no-warnings'; do
    [ -z "$("$dpc" check $flag unused.dp 2>&1)" ] || expect 0 "nothing with $flag" false
    [ "$("$dpc" run $flag --eval=core unused.dp 4 2>&1)" = 4 ] || expect 0 "4 with $flag" false
done
expect 2 'unused.dp:1:33: error: `x` is not used [W0201]' "$dpc" check --werror unused.dp
expect 2 'error: `x` is not used' "$dpc" run --werror --eval=core unused.dp 4
expect 2 'error: `x` is not used' "$dpc" run --werror unused.dp 4
expect 2 'error: `x` is not used' "$dpc" build --werror unused.dp
expect 2 'error: `x` is not used' "$dpc" test --werror --eval=core unused.dp
expect 2 'error: `x` is not used' "$dpc" dump --stage=types unused.dp --werror
expect 0 '' "$dpc" check --werror f.dp
printf 'def  k=1' >messy.dp
expect 2 'takes the names' "$dpc" fmt
expect 2 'no option --fast' "$dpc" fmt --fast messy.dp
expect 2 'cannot read none.dp' "$dpc" fmt none.dp
expect 2 'syntax.dp:1:' "$dpc" fmt syntax.dp
expect 1 'messy.dp' "$dpc" fmt --check f.dp messy.dp
expect 0 'def  k=1' cat messy.dp
expect 0 '' "$dpc" fmt messy.dp
expect 0 'def k = 1' cat messy.dp
expect 0 '' "$dpc" fmt --check messy.dp
feed 'def  k=1' 0 'def k = 1' "$dpc" fmt -
expect 2 'does not end in .dp' "$dpc" build f
expect 2 '--stage takes' "$dpc" dump --stage=none f.dp
place='"file":"type.dp","line":1,"column":18,"end_line":1,"end_column":22,"notes":[{"level":"note","code":null,'
for command in check build "dump --stage=core" "run --eval=flat" "test --eval=core"; do
    expect 2 '{"level":"error","code":"E0301","message":"expected a number, found bool",'"$place" "$dpc" $command --diagnostics=json type.dp
done
expect 2 '"message":"cannot read none.dp: No such file or directory","file":null,"line":null,' "$dpc" check --diagnostics=json none.dp
expect 1 '"code":null,"message":"index 4 out of bounds for length 1","file":"f.dp","line":8,"column":41,' \
    "$dpc" run --diagnostics=json --eval=core f.dp --entry at '[1.5]' 4
expect 2 'parameter k is missing","file":null,' "$dpc" run --diagnostics=json --eval=core f.dp '[1]'
expect 2 'type.dp:1:18: error' "$dpc" check --diagnostics=text type.dp
expect 2 '--diagnostics takes one of these: text, json, not xml' "$dpc" check --diagnostics=xml type.dp
expect 0 '## E0301 type mismatch' "$dpc" explain-error e0301
expect 2 'they look like E0301' "$dpc" explain-error E301x
expect 1 'imports.dp:3:36: error: assertion failed' "$dpc" run --eval=core imports.dp '[[0]]'
expect 1 'modules/inner/b.dp:2:35: error: index 4 out of bounds for length 2' "$dpc" run --eval=flat imports.dp --entry other '[1, 2]'
expect 0 'other' "$dpc" dump --stage=types imports.dp
expect 0 '[0.5]' "$dpc" run --eval=fused modules/../imports.dp '[[2]]'
expect 0 'map' "$dpc" dump --before=fuse f.dp
expect 0 'main' "$dpc" dump --after=liveness f.dp
expect 2 'there is no pass `fusion`; in order they are' "$dpc" dump --after=fusion f.dp
for stage in ast types elaborated core fused lowered flat plan opencl host; do expect 0 'main' "$dpc" dump --stage=$stage f.dp; done

for type in '[u8]' text; do
    echo "entry main (t: $type) : i64 = length t" >words.dp
    expect 2 "abc: No such file or directory (t: $type); a text stands in quotes that the shell leaves: '\"abc\"'" "$dpc" run --eval=core words.dp abc
    expect 0 3 "$dpc" run --eval=core words.dp '"abc"'
    expect 2 "abc/d.csv: No such file or directory (t: $type)" "$dpc" run --eval=core words.dp abc/d.csv
done
expect 2 "No such file or directory (t: text); a text stands in quotes that the shell leaves: '\"…\"'" "$dpc" run --eval=core words.dp "it's"

for e in core fused flat; do
    run="$dpc run --eval=$e f.dp"
    expect 0 '[3, 4]' $run '[1, 2]' 2
    expect 0 '[-2, -1]' $run '[1, 2]' -3
    feed '[1, 2] -- xs' 2 'k is missing' $run
    feed '[1, 2] 5' 0 '[6, 7]' $run
    feed '7' 0 '[8, 9]' $run '[1, 2]'
    feed '[1, 2]' 0 '[3, 4]' $run - 2
    feed '1 2' 2 'expected the end of the input, found 2' $run '[1]'
    echo '[10, 20]' >xs.in
    expect 0 '[11, 21]' $run xs.in 1
    expect 2 'xs.txt: No such file or directory (xs: [i32])' $run xs.txt 1
    expect 2 'abc: No such file or directory (xs: [i32])' $run abc 1
    expect 2 'expected ], found 2' $run '[1 2]' 1
    expect 2 'out of the range of i32' $run '[99999999999]' 1
    expect 2 'too many arguments' $run '[1]' 1 2
    expect 2 'there is no entry other' $run --entry other
    expect 2 'no option --wrong' $run --wrong
    expect 0 '(-1, "x\n")' $run --entry constant
    expect 0 'at (xs: [f64]) (i: i64) : f64' $run --help
    expect 1 'f.dp:8:' $run --entry at '[1.5]' 4
    expect 1 'error: index 4 out of bounds for length 1' $run --entry at '[1.5]' 4
    expect 0 '' $run --entry matrix -o out.npy '[[1, 2], [3, 4]]'
    expect 0 '[[4.0, 8.0], [12.0, 16.0]]' $run --entry matrix out.npy
    for ending in dpv mtx; do
        expect 0 '' $run --entry matrix -o out.$ending '[[1, 2], [3, 4]]'
        expect 0 '[[4.0, 8.0], [12.0, 16.0]]' $run --entry matrix out.$ending
    done
    printf '1\n2\n' >xs.csv
    expect 0 '[3, 4]' $run xs.csv 2
    expect 2 'differ in length' $run --entry matrix -o ragged.npy '[[1], [3, 4]]'
    [ -e ragged.npy ] && expect 0 'ragged.npy must not be left behind' false
done

# What a failing program writes: its message at the place, nothing else.
fails() {
    status=$1 text=$2
    shift 2
    rm -f result.txt
    expect "$status" "fails.dp:$text" "$@" -o result.txt
    [ -e result.txt ] && expect 0 'result.txt must not be left behind' false
    out=$("$@" 2>/dev/null) && expect 0 'a failure' false
    [ -n "$out" ] && expect 0 'nothing on standard output' echo "$out"
}
for e in core flat; do
    fails 1 '1:52: error: recursion too deep' "$dpc" run --eval=$e fails.dp 0
    fails 3 '3:' "$dpc" run --eval=$e fails.dp --entry memory 1000000000000
    fails 3 '4:' "$dpc" run --eval=$e fails.dp --entry each '[3, 1000000000000]'
    fails 1 '5:39: error: division by zero' "$dpc" run --eval=$e fails.dp --entry late '[1, 0]'
done
expect 3 'error: out of memory: 8.0 TB requested' "$dpc" run --eval=flat fails.dp --entry each '[3, 1000000000000]'

expect 0 '2 passed, on core, fused and flat;' "$dpc" test --eval=core,fused,flat f.dp
expect 1 'wrong.dp:2:4: failed: main on core and flat
  input 1
  expected 3, got 2
0 passed, 1 failed, on core and flat;' "$dpc" test --eval=core,flat wrong.dp
expect 1 'f.dp: 2 passed
wrong.dp:2:4: failed: main on core
  input 1
  expected 3, got 2
wrong.dp: 0 passed, 1 failed
2 passed, 1 failed, on core;' "$dpc" test --eval=core f.dp wrong.dp
expect 2 'neither' "$dpc" test --eval=core nothing.dp
expect 2 'type.dp:1:' "$dpc" test --eval=core type.dp
expect 2 'type.dp: not tested, because of errors
2 passed, on core; 1 file not tested, because of errors;' "$dpc" test --eval=core f.dp type.dp
expect 0 'modules/inner/a.dp: no tests' "$dpc" test --eval=core modules/inner/a.dp
expect 2 'no option --fast' "$dpc" test --fast f.dp
expect 2 '--eval takes' "$dpc" test --eval=core,gpu f.dp
expect 2 '--cases takes' "$dpc" test --cases=0 f.dp
expect 2 '--seed takes' "$dpc" test --seed=x f.dp

# values and errors that differ, and inputs from files
cat >failing.dp <<'END'
-- test main
-- input  [{x = 1, s = "left"}, {x = 2, s = ""}]
-- output [{x = 1, s = "right"}, {x = 3, s = ""}]
-- input  @in.csv
-- output @folder/out.dpv
-- test at
-- input [1.5]
--       3
-- error "out of sight"
entry main (rs: [{x: i32, s: [u8]}]) : [{x: i32, s: [u8]}] = rs
entry at (xs: [f64]) (i: i64) : f64 = xs[i]
END
printf 's,x\nabc,4\n' >in.csv
mkdir folder
expect 0 '' "$dpc" run --eval=core failing.dp -o folder/out.dpv '[{x = 4, s = "abc"}]'
expect 1 '../failing.dp:2:4: failed: main on fused
  input [{s = "left", x = 1}, {s = "", x = 2}]
  at [0].s: expected "right", got "left"
  at [1].x: expected 3, got 2
../failing.dp:7:4: failed: at on fused
  input [1.5] 3
  expected an error with "out of sight"
  got ../failing.dp:11:41: error: index 3 out of bounds for length 1
1 passed, 2 failed' sh -c 'cd folder && "$0" test --eval=fused ../failing.dp' "$dpc"

# properties
cat >property.dp <<'END'
-- property sorted
def sorted (xs: [u8]) : bool = all (\(a, b) -> a <= b) (pairs xs)
-- property twice
-- input  [1, 2] 3
def twice (xs: [n]i32) (k: i64) = length (reverse xs) == n && k == k
-- property short
-- input [1, 2, 3, 4, 5, 6]
def short (xs: [i32]) = assert (length xs < 4) true
END
expect 1 'property.dp:1:13: failed: property sorted on flat
  false for
  -- input "ba"
  found by case' "$dpc" test --eval=flat property.dp
expect 1 'property.dp:6:13: failed: property short on core
  fails for
  -- input [0, 0, 0, 0]
  with property.dp:8:25: error: assertion failed
  found by an input in the comment, made smaller in' "$dpc" test --eval=core,fused property.dp
expect 1 '1 passed, 2 failed, on core and fused;' "$dpc" test --eval=core,fused property.dp
cat >property_types.dp <<'END'
-- property of_function
def of_function (f: i64 -> i64) : bool = f 1 > 0
-- property of_open
def of_open xs = length xs >= 0
-- property of_number
def of_number (x: i64) : i64 = x
-- property inferred
def inferred (x: i64) = x + 1
END
expect 2 "property_types.dp:2:5: error: a property's parameters cannot be functions" "$dpc" test --eval=core property_types.dp
expect 2 'property_types.dp:4:5: error: the types of a property have to be known, but this is [a] -> bool; annotate it' "$dpc" test --eval=core property_types.dp
expect 2 "property_types.dp:6:26: error: a property's result has to be a bool, but this is i64" "$dpc" test --eval=core property_types.dp
expect 2 "property_types.dp:8:5: error: a property's result has to be a bool, but this is i64" "$dpc" test --eval=core property_types.dp
if OCL_ICD_VENDORS=/nowhere/ "$dpc" devices 2>&1 | grep -q "no OpenCL device"; then # where the loader looks there
    expect 4 'install PoCL (Debian, Ubuntu: apt install pocl-opencl-icd), or run without one: dpc run --eval=core' env OCL_ICD_VENDORS=/nowhere/ "$dpc" devices
    expect 4 'install PoCL' env OCL_ICD_VENDORS=/nowhere/ "$dpc" run f.dp '[1]' 2
    expect 0 '[3]' env OCL_ICD_VENDORS=/nowhere/ "$dpc" run --eval=core f.dp '[1]' 2
    expect 4 'wrong.dp is not tested on the device: error: no OpenCL device' env OCL_ICD_VENDORS=/nowhere/ "$dpc" test wrong.dp
    expect 4 '0 passed, 1 failed, on core, fused and flat;' env OCL_ICD_VENDORS=/nowhere/ "$dpc" test wrong.dp
    expect 4 '0 passed, on no evaluator' env OCL_ICD_VENDORS=/nowhere/ "$dpc" test --eval=device f.dp
fi
# A program that says the expected text and crashes has not failed as expected. Its compiler here makes a script of it.
cat >crashing_cc <<'END'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\necho "divides.dp:1:28: error: division by zero" >&2\nkill -SEGV $$\n' >"$2"
chmod +x "$2"
END
chmod +x crashing_cc
cat >divides.dp <<'END'
entry main (x: i64) : i64 = 1 / x
-- test main
-- input 0
-- error "division by zero"
END
expect 0 '1 passed, on core, fused and flat;' "$dpc" test --eval=core,fused,flat divides.dp
expect 1 'expected an error with "division by zero"
  got (the program ended with status' env CC=./crashing_cc "$dpc" test --eval=device divides.dp
expect 0 '1 passed, on core;' "$dpc" test --eval=core --only=twice property.dp
cat >taken.dp <<'EOF'
-- test main
-- input  [1, 2, 3]
-- output 12
-- expect kernels 1, cpu launches 1, gpu launches <= 2 stored <= 1 -- a comment
-- input  []
-- output 0
-- expect launches 77
entry main (xs: [i64]) : i64 = sum { x * 2 : x in xs }
EOF
expect 0 '2 passed, on core;' "$dpc" test --eval=core taken.dp
expect 1 'taken.dp:5:4: failed: main on device
  input []
  expected launches 77
  got 1
1 passed, 1 failed, on device;' env DP_SHAPE=cpu "$dpc" test --eval=device taken.dp
for facts in 'launches' 'launches <=' 'launches 1x' 'lunches 1' ''; do
    printf -- '-- test main\n-- output 3\n-- expect %s\nentry main = 3\n' "$facts" >taken.dp
    expect 2 ' error: `-- expect` takes numbers of kernels, launches' "$dpc" test --eval=core taken.dp
done
printf -- '-- test main\n-- expect launches 1\n-- output 3\nentry main = 3\n' >taken.dp
expect 2 'taken.dp:2:4: error: `-- expect` stands behind an `-- output`' "$dpc" test --eval=core taken.dp
printf -- '-- expect nothing\nentry main = 3\n-- test main\n-- output 3\n' >taken.dp
expect 0 '1 passed, on core;' "$dpc" test --eval=core taken.dp
printf -- '-- test main\n-- hint no\n-- output 3\nentry main = 3\n' >taken.dp
expect 2 'taken.dp:2:4: error: `-- hint` stands behind an `-- output` or an `-- error`' "$dpc" test --eval=core taken.dp
cat >task.dp <<'EOF'
entry first (xs: [i64]) : i64 = xs[0]
-- test first
-- input  [4, 5]
-- output 4
-- input  []
-- output -1
-- hint   What is the first of nothing?
--        The task says it.
-- input  [0]
-- error  "zero"
-- property small
def small (n: i64) = n < 10
entry rows : [[i64]] = [[1], [2, 4]]
-- test rows
-- output [[1], [2]]
EOF
expect 1 'task.dp: first: 1 of 3 cases are right
  with [] your program ends with task.dp:1:35: error: index 0 out of bounds for length 0
  hint: What is the first of nothing? The task says it.' "$dpc" test --exercise task.dp
expect 1 'task.dp: rows: 0 of 1 case is right
  your program gives [[1], [2, 4]], which is wrong in the length of [1]
1 passed, 4 failed, on core;' "$dpc" test --exercise task.dp
sed 's/xs\[0\]/7/' task.dp >task2.dp
expect 1 'with [4, 5] your program gives 7, which is wrong
0 passed, 3 failed, on core;' "$dpc" test --exercise --only=first task2.dp
expect 2 'there is no test or property of thrice' "$dpc" test --eval=core --only=thrice property.dp f.dp
expect 1 'of 1000 with --seed=7' "$dpc" test --eval=core --seed=7 --cases=1000 property.dp
printf -- '-- property p\ndef p xs = length xs >= 0\n' >polymorphic.dp
expect 2 'polymorphic.dp:2:5: error: the types of a property have to be known' "$dpc" test --eval=core polymorphic.dp
expect 0 '' "$dpc" check polymorphic.dp

if "$dpc" devices 2>/dev/null | grep -q "^#0"; then
    expect 0 '2 passed, on core, fused, flat, plan and device;' "$dpc" test f.dp
    expect 1 'failed: property sorted on device
  false for
  -- input "ba"' "$dpc" test --eval=device property.dp
    expect 1 '1 passed, 2 failed, on device' "$dpc" test --eval=device property.dp
    expect 0 '[3, 4]' "$dpc" run f.dp '[1, 2]' 2
    expect 0 '[-2, -1]' "$dpc" run f.dp '[1, 2]' -3
    feed '[1, 2] 5' 0 '[6, 7]' "$dpc" run f.dp
    expect 1 'error: index 4 out of bounds for length 1' "$dpc" run f.dp --entry at '[1.5]' 4
    { # a long line is quoted around the place, by all evaluators alike
        printf 'entry main (i: i64) : i64 = 0'
        for _ in 1 2 3 4 5 6 7 8 9 10; do printf ' + i * 3 + i * 3'; done
        printf ' + [1, 2, 3][i]'
        for _ in 1 2 3 4 5 6 7 8 9 10; do printf ' + i * 3 + i * 3'; done
    } >wide.dp
    for e in core plan; do
        expect 1 'wide.dp:1:202: error: index 7 out of bounds for length 3
  ... * 3 + i * 3 + i * 3 + i * 3 + [1, 2, 3][i] + i * 3 + i * 3 + i * 3 + i * 3 + i * 3 + i * 3 + i * 3 ...
                                             ^^^' "$dpc" run --eval=$e wide.dp 7
    done
    expect 0 '' "$dpc" build fails.dp
    fails 1 '1:52: error: recursion too deep' ./fails 0
    fails 3 '3:33: error: out of memory: 8.0 TB requested, ' ./fails --entry memory 1000000000000
    fails 3 '4:' ./fails --entry each '[3, 1000000000000]'
    fails 1 '5:39: error: division by zero' ./fails --entry late '[1, 0]'
    expect 0 '' "$dpc" build f.dp
    expect 0 '[3, 4]' ./f '[1, 2]' 2
    expect 0 '' "$dpc" build -o g f.dp
    expect 0 '(-1, "x\n")' ./g --entry constant
    expect 0 'at (xs: [f64]) (i: i64) : f64' ./g --help
    expect 2 'too many arguments' ./g '[1]' 1 2
    expect 2 'cannot run the C compiler' env CC=/nowhere/cc "$dpc" build f.dp
    expect 2 'was not found' env DPC_HOME=/nowhere "$dpc" build f.dp
else
    echo "no OpenCL device: executables are not tested"
fi

# Of a scan of pairs the column that nobody reads is not stored.
cat >unread.dp <<'DP'
def since ((f, a): (bool, i32)) ((g, b): (bool, i32)) : (bool, i32) = (f || g, if g then b else a + b)
entry main (fs: [bool]) (xs: [i32]) : [i32] = { v : (_, v) in scan since (false, 0) (zip fs xs) }
entry both (fs: [bool]) (xs: [i32]) : ([bool], [i32]) = unzip (scan since (false, 0) (zip fs xs))
DP
stores=$("$dpc" dump --stage=opencl unread.dp | grep -c '^ *[*]DP_AT(.*= v[.]v')
[ "$stores" = 3 ] || { failed=$((failed + 1)) && echo "FAILED: $stores columns are stored, not 3"; }

# Sums of f64 in bins are told apart: a device may have an instruction for these.
cat >bins.dp <<'DP'
entry main (is: [i64]) (xs: [f64]) : [f64] = reduce_by_index (+) 0.0 10 is xs
entry products (is: [i64]) (xs: [f64]) : [f64] = reduce_by_index (*) 1.0 10 is xs
DP
adds=$("$dpc" dump --stage=opencl bins.dp | grep -c 'define DP_HIST_ADDS_F64 1')
[ "$adds" = 1 ] || { failed=$((failed + 1)) && echo "FAILED: $adds histograms add f64, not 1"; }

# A lane's innermost loop over a table looks at no failure in its rounds, ends no memory and counts nothing; in front of it is one comparison.
cat >rounds.dp <<'DP'
entry main (ws: [i64]) (most: i64) : i64 =
  let t = { { 0 : _ in most + 1 } : _ in length ws + 1 }
  let t = loop t = t for i < length ws do
            loop t = t for c < most + 1 do
              t with [i + 1, c] = if ws[i] <= c then max t[i][c] (t[i][c - ws[i]] + 1) else t[i][c]
  in t[length ws][most]
DP
inner=$("$dpc" dump --stage=opencl rounds.dp | sed -n '/DP_LANE_OPEN/,/dp_lane_give/p;/dp_lane_give/q' | sed -n '/for .*c < x[0-9]*; /,/^                    }/p')
[ "$(echo "$inner" | grep -c 'for (')" = 1 ] && ! echo "$inner" | grep -q 'failed\|dp_top\|DP_LANE_ROUND' || { failed=$((failed + 1)) && echo "FAILED: rounds of a lane: $inner"; }

# For measurements: checks of bounds and sizes are taken for granted, others stay.
echo 'entry main (xs: [i64]) (is: [i64]) (ys: [i64]) : [i64] = { xs[i] / y : i in is; y in ys }' >checks.dp
expect 0 '!index' "$dpc" dump --stage=core checks.dp
expect 0 '!lengths' "$dpc" dump --stage=core checks.dp
got=$(DPC_UNCHECKED=1 "$dpc" dump --stage=core checks.dp)
case $got in
    *'!index'* | *'!lengths'*) failed=$((failed + 1)) && echo "FAILED: checks with DPC_UNCHECKED=1: $got" ;;
    *'!division'*) ;;
    *) failed=$((failed + 1)) && echo "FAILED: no division is checked: $got" ;;
esac

[ "$failed" -eq 0 ] && echo "cli: all passed"
exit $((failed > 0))
