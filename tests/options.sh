#!/bin/sh
# What comes from the tables of options: parsing, guesses, help, manual pages, completion. options.sh DPC
set -u
dpc=$1
readme=$(cd "$(dirname "$0")/.." && pwd)/README.md
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export NO_COLOR=1
failed=0
fail() { failed=$((failed + 1)); echo "FAILED: $*"; }
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

cat >f.dp <<'END'
entry main (xs: [i32]) (k: i32) : [i32] = { x + k : x in xs }
entry other (x: f64) : f64 = x
END
echo 'def one : i64 = 1' >library.dp
echo 'entry main (t: text) (n: i64) : i64 = length t + n' >h.dp

# ---- options stand anywhere, in all forms ----
for words in "--eval=core f.dp [1,2] -3" "f.dp --eval=core [1,2] -3" "--eval core f.dp [1,2] -3" "f.dp [1,2] -3 --eval core" \
    "--eval=core -- f.dp [1,2] -3" "f.dp [1,2] --eval core -- -3" "--ev=core f.dp [1,2] -3" "--entry main --eval=core f.dp [1,2] -3"; do
    expect 0 '[-2, -1]' "$dpc" run $words
done
for number in -3 -0.5 -inf; do
    expect 0 "$number" "$dpc" run --eval=core f.dp --entry other $number
done
expect 0 '' "$dpc" run --eval=core f.dp '[1]' 2 -oout.txt
expect 0 '[3]' cat out.txt
expect 2 'there is no test or property of main' "$dpc" test f.dp --only=main --eval=core
expect 0 '' "$dpc" check f.dp --werror
expect 2 'cannot read --werror' "$dpc" check -- --werror
expect 2 'dpc run: --eval takes one of these: core, fused, flat, plan, device, not gpu' "$dpc" run f.dp --eval gpu
expect 2 'dpc run: --eval takes a value, E' "$dpc" run f.dp --eval
expect 2 'dpc test: --only takes a value, NAME' "$dpc" test f.dp --only=
expect 2 'dpc test: --eval takes a list of these: core, fused, flat, plan, device, not core,' "$dpc" test --eval=core, f.dp
expect 2 'dpc fmt: --check takes no value' "$dpc" fmt --check=yes f.dp
expect 2 '--eval is given twice' "$dpc" run --eval=core f.dp --eval=flat
expect 2 'takes the name of a .dp file, but h.dp is one too many' "$dpc" build f.dp h.dp
expect 2 'takes no argument, but f.dp is one too many' "$dpc" devices f.dp
for option in "-t times" "-r 2" "--profile" "--device=0" "--list-devices"; do
    expect 2 'is about a device, and --eval=fused uses none' "$dpc" run --eval=fused f.dp '[1]' 2 $option
done

# ---- tuning parameters ----
expect 0 '[3]' "$dpc" run f.dp '[1]' 2 --param map-elements=2 --param chunk-elements=9,chunks-per-unit=1
expect 0 '2.5' "$dpc" run --eval=device f.dp --entry other 2.5 --param=map-elements=2 --param=chunk-elements=3
expect 2 'there is no parameter map-element; did you mean map-elements?' "$dpc" run f.dp '[1]' 2 --param map-elements=2 --param map-element=2
expect 2 'the parameter map-elements takes a number from 1 to 1000000000' "$dpc" run f.dp '[1]' 2 --param map-elements=0
expect 2 'the parameter map-elements takes a number' "$dpc" run f.dp '[1]' 2 --param map-elements
expect 2 'there is no parameter x; --param help lists them' env DP_PARAMS=x=1 "$dpc" run f.dp '[1]' 2
expect 2 'there is no parameter x' "$dpc" test f.dp --param x=1
expect 0 'map-elements' "$dpc" run f.dp --param help
expect 0 'map-elements' "$dpc" help params
expect 2 'is about a device, and --eval=core uses none' "$dpc" run --eval=core f.dp '[1]' 2 --param map-elements=2
expect 2 '--remarks takes one of these: json, not xml' "$dpc" check --remarks=xml f.dp

# ---- guesses and what is wanted ----
expect 2 'rum is no command; did you mean run?' "$dpc" rum
expect 2 'there is no option --evla; did you mean --eval?' "$dpc" run --evla=core f.dp
expect 2 'there is no option --p; did you mean --platform?' "$dpc" run --p f.dp
expect 2 'did you mean `dpc run f.dp`?' "$dpc" f.dp
expect 0 '## E0301 type mismatch' "$dpc" explain-error E301
expect 2 'library.dp has no entry' "$dpc" build library.dp
expect 2 'library.dp has no entry' "$dpc" run --eval=core library.dp
expect 2 'too many arguments: 3 given, 2 wanted: (xs: [i32]) (k: i32)' "$dpc" run --eval=core f.dp '[1]' 2 3
expect 2 "abc: No such file or directory (t: text); a text stands in quotes that the shell leaves: '\"abc\"'" "$dpc" run --eval=core h.dp abc 1
expect 2 'abc: No such file or directory (n: i64)' "$dpc" run --eval=core h.dp '"a"' abc

# ---- help: each command has one, which names its options ----
commands=$("$dpc" help | sed -n 's/^  dpc \([a-z-]*\).*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 13 ] || fail "dpc help lists no commands"
version=$("$dpc" --version)
for command in $commands; do
    expect 0 "Usage: dpc $command" "$dpc" help "$command"
    [ "$("$dpc" "$command" --help)" = "$("$dpc" help "$command")" ] || fail "dpc $command --help is not dpc help $command"
    [ "$("$dpc" "$command" --version)" = "$version" ] || fail "dpc $command --version"
    "$dpc" help "$command" | grep -nE '.{101}| $' && fail "lines of dpc help $command are too long, or end in blanks"
done
# README's table of commands: all of them but what prints pages for others, and no others; with options that they have.
sed -n 's/^| `dpc \([^`]*\)`.*/\1/p' "$readme" >shown
[ "$(sed 's/ .*//' shown | sort)" = "$(echo "$commands" | grep -vx -e manual -e version | sort)" ] || fail "README's table of commands: $(cat shown)"
while read -r command words; do
    for option in $(echo "$words" | grep -o -e '-[-a-z]*[a-z]'); do
        "$dpc" help "$command" | grep -q -e " $option" || fail "README: dpc $command has no $option"
    done
done <shown
expect 0 'DP_DEVICE' "$dpc" help run
expect 0 'DP_DEVICE' "$dpc" help
if "$dpc" devices >/dev/null 2>&1; then
    expect 0 '' "$dpc" build f.dp
    expect 0 'entry main (xs: [i32]) (k: i32) : [i32]' ./f --help
    expect 0 'DP_DEVICE' ./f -h
    ./f --help | grep -nE '.{101}| $' && fail "lines of ./f --help are too long, or end in blanks"
    expect 0 "f.dp, a DP program, made by $version" ./f --version
    expect 0 '[-2]' ./f '[1]' --device 0 -3
    expect 0 '[-2]' ./f --device=#0 '[1]' -r1 -- -3
    expect 4 'no such device' ./f --device 99 '[1]' 3
    expect 4 'no such device' ./f --device '#x' '[1]' 3
    expect 4 'no such device' env DP_DEVICE=nothing ./f '[1]' 3
    expect 2 'there is no option --enrty; did you mean --entry?' ./f --enrty other
    expect 2 '--runs takes a number of runs, not 0' ./f -r 0 '[1]' 3
    expect 2 '--profile takes json, trace:FILE or json,trace:FILE, not xml' ./f --profile=xml '[1]' 3
    expect 2 'too many arguments: 3 given, 2 wanted: (xs: [i32]) (k: i32)' ./f '[1]' 2 3
    expect 0 'entry other' "$dpc" run f.dp --help
    expect 0 '[4]' "$dpc" run f.dp '[1]' --entry main -- 3
fi

# ---- manual pages ----
for page in dpc dpc-program; do
    "$dpc" manual $page >$page.1 || fail "dpc manual $page"
    if command -v man >/dev/null; then
        LC_ALL=C.UTF-8 man -l --warnings $page.1 >$page.txt 2>warnings || fail "man -l $page.1"
        [ ! -s warnings ] || fail "$page.1: $(cat warnings)"
        grep -q -e '--help' $page.txt || fail "$page.1 shows no options"
    fi
done
for command in $commands; do
    grep -qF ".SS \\fBdpc $(echo "$command" | sed 's/-/\\-/g')" dpc.1 || fail "dpc.1 has no $command"
done

# ---- completion ----
for shell in bash zsh fish; do
    "$dpc" completion $shell >dpc.$shell || fail "dpc completion $shell"
    for command in $commands; do grep -q -e "$command" dpc.$shell || fail "$shell does not complete $command"; done
    command -v $shell >/dev/null || continue
    $shell -n dpc.$shell || fail "dpc.$shell is no script"
done
cat >complete.bash <<'END'
. ./dpc.bash
compopt() { :; } # works only while bash completes
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_dpc dpc "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | tr '\n' ' '
END
completes() { # completes 'WHAT ' WORD…
    wanted=$1
    shift
    got=$(bash complete.bash "$@")
    [ "$got" = "$wanted" ] || fail "completion of '$*' is '$got', not '$wanted'"
}
rm -f f
mkdir folder
if command -v bash >/dev/null; then
    completes 'run ' dpc ru
    completes 'cache check completion cost ' dpc c
    completes '--entry --eval ' dpc run --e
    completes 'flat fused ' dpc run --eval f
    completes 'flat fused ' dpc run --eval = f
    completes 'core device flat fused plan ' dpc test f.dp --eval ''
    completes 'core device flat fused plan ' dpc test f.dp --eval =
    completes 'f.dp folder ' dpc check f
    completes 'f.dp ' dpc build -o f.d
    completes ' ' dpc test --only f
    completes 'out.txt ' dpc run f.dp o
    completes '--stage ' dpc dump --s
    completes 'W0101 W0102 ' dpc explain-error W01
    completes 'explain explain-error ' dpc help ex
fi
[ $failed -eq 0 ] && echo "options: all passed"
exit $((failed > 0))
