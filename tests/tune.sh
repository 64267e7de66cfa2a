#!/bin/sh
# dpc tune, and who reads its files. Times are counted (DP_TUNE_TIMES), so that nothing depends on a clock. tune.sh DPC
set -u
dpc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export NO_COLOR=1
failed=0
fail() { failed=1; echo "FAILED: $*"; }
# expect STATUS 'TEXT' COMMAND…: standard output and error together contain TEXT, and the status is right.
expect() {
    status=$1 text=$2
    shift 2
    got=$("$@" 2>&1 </dev/null)
    rc=$?
    case $got in
        *"$text"*) [ $rc -eq "$status" ] && return ;;
    esac
    fail "$* (status $rc, wanted $status; wanted the text: $text)
$got"
}
has() { grep -qxE -- "$2" "$1" || fail "$1 has no line $2
$(cat "$1")"; }
has_not() { ! grep -qE -- "$2" "$1" || fail "$1 has a line $2"; }

cat >f.dp <<'END'
entry main (rows: [[f64]]) : [f64] = { sum { x * x : x in row } : row in rows }
entry fails (xs: [i64]) : i64 = xs[9]
entry plain (x: i64) : i64 = x + 1
END
rows='[[1, 2], [], [3]]'
ways() { "$dpc" run f.dp "$rows" --profile "$@" 2>&1 | grep -o '\[[a-z]*:\|\[[a-z]* of'; }

# ---- the search ----
tune() { "$dpc" tune f.dp "$rows" "$@" >said 2>&1 || fail "dpc tune f.dp $*: $(cat said)"; }
DP_TUNE_TIMES=segreduce=lane:0.5,segreduce=path:0.8,chunk-elements=8192:0.99,segreduce-path=0:0.9 tune
has said 'main of f\.dp:'
has said '  segreduce=path +800\.0 us, taken'
has said '  segreduce=lane +500\.0 us, taken'
has said '  segreduce=split +1000\.0 us'
has said '  chunk-elements=8192 +990\.0 us' # not enough to be taken
has said 'f\.tune: [0-9.]+ us, 1000\.0 us without it'
has f.tune 'segreduce=lane # 800\.0 -> 500\.0 us'
has f.tune 'device=.+'
has f.tune '# driver: .*'
has_not f.tune chunk
has_not said 'histogram|nest' # this program asks for none of them
cp f.tune again
DP_TUNE_TIMES=segreduce=lane:0.5,segreduce=path:0.8,chunk-elements=8192:0.99,segreduce-path=0:0.9 tune
cmp -s f.tune again || fail 'the same measurements give another file'
DP_TUNE_TIMES=segreduce=lane:0.5,chunk-elements=65536:0.5 tune --param segreduce=team -o fixed.tune
has_not fixed.tune segreduce # what the user has set is not varied
has fixed.tune 'chunk-elements=65536 # .*'
DP_TUNE_TIMES=segreduce=lane:0.5 tune --budget 4 -o short.tune
has said '.*; the budget has ended the search'
[ "$(grep -c ' us$' said)" = 2 ] || fail "four measurements, of which two are of something else: $(cat said)"
# a float sum whose order is seen: a value with another result is not taken
echo 'entry main (rows: [[f32]]) : [f32] = { sum row : row in rows }' >order.dp
awk 'BEGIN { printf "["; for (i = 0; i < 3; i++) { printf "%s[", i ? ", " : ""
    for (j = 0; j < 100; j++) printf "%s%s", j ? ", " : "", j == 1 ? "1e10" : j == 9 ? "-1e10" : j
    printf "]" } print "]" }' >order.txt
DP_TUNE_TIMES=vectors=off:0.5 "$dpc" tune order.dp order.txt >said || fail "$(cat said)"
has said '  vectors=off +has another result: not taken'
has_not order.tune vectors
expect 1 'out of bounds' "$dpc" tune f.dp --entry fails '[1]'
expect 0 'f.tune: ' "$dpc" tune f.dp --entry plain 3 -o ./plain-f.tune
expect 2 'there is no entry none' "$dpc" tune f.dp --entry none
expect 2 'would replace the program' "$dpc" tune f.dp "$rows" -o f.dp
expect 2 '--budget takes a number of seconds, not much' "$dpc" tune f.dp "$rows" --budget much
expect 5 'cannot write' "$dpc" tune f.dp "$rows" --budget 0.001 -o none/f.tune

# ---- who reads it ----
cp again f.tune
"$dpc" build f.dp -o tuned && "$dpc" build --no-tune f.dp -o plain && "$dpc" build --tune again f.dp -o other
[ "$(ways)" = '[lane:' ] || fail "dpc run takes f.tune: $(ways)"
[ "$(ways --eval=device)" = '[lane:' ] || fail "and makes executables with it"
[ "$(ways --no-tune)" = '[path:' ] || fail "dpc run --no-tune: $(ways --no-tune)"
[ "$(ways --param segreduce=path)" = '[path:' ] || fail '--param comes first'
[ "$(DP_PARAMS=segreduce=path ways)" = '[path:' ] || fail 'DP_PARAMS comes first'
way_of() { "$@" "$rows" --profile 2>&1 | grep -o '\[[a-z]*:'; }
[ "$(way_of ./tuned)" = '[lane:' ] || fail 'dpc build takes f.tune into the executable'
[ "$(way_of ./other)" = '[lane:' ] || fail 'dpc build --tune'
[ "$(way_of ./plain)" = '[path:' ] || fail 'dpc build --no-tune'
[ "$(way_of ./plain --tune f.tune)" = '[lane:' ] || fail 'an executable takes --tune'
[ "$(way_of ./tuned --no-tune)" = '[path:' ] || fail 'an executable takes --no-tune'
[ "$(way_of ./tuned --param segreduce=path)" = '[path:' ] || fail '--param comes first in an executable'
expect 2 '--tune goes with no --no-tune' ./tuned "$rows" --tune f.tune --no-tune
expect 2 'is about a device' "$dpc" run --eval=core f.dp "$rows" --tune f.tune

# ---- files that are wrong, or for something else ----
sed 's/^device=/device=Another /' again >f.tune
expect 0 'note: f.tune:2: not used: it is for the device Another ' "$dpc" run f.dp "$rows"
expect 0 '[5.0, 0.0, 9.0]' "$dpc" run f.dp "$rows" --no-tune
expect 2 'error: f.tune:2: it is for the device Another ' ./plain --tune f.tune "$rows"
wrong() { # wrong TEXT-OF-THE-FILE MESSAGE
    printf "$1" >f.tune
    expect 2 "error: $2" "$dpc" run f.dp "$rows"
    expect 2 "error: $2" "$dpc" build f.dp -o unwanted
    expect 2 "error: $2" ./plain --tune f.tune "$rows"
}
wrong 'device=x\nnests=lane\n' 'f.tune:2: there is no parameter nests; did you mean nest?'
wrong 'device=x\n\n nest = lanes # x\n' 'f.tune:3: there is no parameter'
wrong 'device=x\nnest=lanes # x\n' 'f.tune:2: the parameter nest takes one of these: auto flat lane'
wrong 'device=x\nnest=lane,reduce=one\n' 'f.tune:2: one setting a line'
wrong 'device=x\ndevice=y\n' 'f.tune:2: a second device'
wrong 'nest=lane\n' 'f.tune:1: no line "device=NAME" before it'
wrong '' 'f.tune:1: no line "device=NAME": this is no file of dpc tune'
[ ! -e unwanted ] || fail 'an executable was made with a wrong file'
expect 2 'error: none.tune: cannot read: No such file' "$dpc" build --tune none.tune f.dp -o unwanted
expect 2 'error: none.tune: cannot read: No such file' ./plain --tune none.tune "$rows"
exit $failed
