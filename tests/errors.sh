#!/bin/sh
# docs/errors.md against the compiler: errors.sh DPC
#
# Every code of diag_codes.def has its section, with the same title; the section's wrong program gives that code
# and no other error; the mended one passes. Each block of the page is
#   ```dp wrong    a program with the error       ```dp warned   one with the warning
#   ```dp right    the mended one                 ```dp file=F   a module of both
set -u
dpc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
page=$PWD/docs/errors.md
codes=$PWD/compiler/support/diag_codes.def
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export NO_COLOR=1
failed=0

# In the table, but not yet reported by the compiler. As soon as one is, this list has to lose it.
pending=""
# Found only when code for a device is made.
device="E0403"
# Without programs in the page: E0108 is tried below.
without="E0108"

fail() {
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
}
has() { case " $1 " in *" $2 "*) return 0 ;; esac; return 1; }

# ---- the sections ----
sed -n 's/^DIAG_CODE([A-Z_]*, "\(.*\)", "\(.*\)")$/\1 \2/p' "$codes" >table
sed -n 's/^## \([EW][0-9]\{4\} .*\)$/\1/p' "$page" >sections
[ -s table ] || fail "no codes were found in $codes"
[ "$(grep -c '^DIAG_CODE(' "$codes")" -eq "$(wc -l <table)" ] || fail "a row of $codes was not understood"
cmp -s table sections || fail "the sections are not those of the table: $(diff table sections)"

# ---- their programs ----
awk '/^## [EW][0-9]/ { code = $2; next }
     /^# / { code = "" }
     code && /^```dp/ { kind = $2; name = kind ~ /^file=/ ? substr(kind, 6) : kind ".dp"; inside = 1
                        system("mkdir -p " code); next }
     /^```/ { inside = 0; next }
     inside { print >(code "/" name) }' "$page"

check_wrong() { # CODE FILE
    expected=2
    set -- "$1" "$2" dump --stage=flat
    has "$device" "$1" && set -- "$1" "$2" dump --stage=host
    case $1 in
        W*) expected=0 ;;
        E05*) set -- "$1" "$2" test --eval=core ;; # about the tests in comments
    esac
    "$dpc" "$3" "$4" "$2" >/dev/null 2>messages
    status=$?
    if has "$pending" "$1"; then
        grep -q "\[$1\]" messages && fail "$1 is reported now: it is no longer pending"
        echo "pending: $1"
        return
    fi
    [ $status -eq $expected ] || fail "$1: the wrong program's status is $status, not $expected"
    grep -q "\[$1\]" messages || fail "$1: the wrong program does not give it: $(cat messages)"
    grep ': error:' messages | grep -v "\[$1\]" && fail "$1: the wrong program gives other errors, too"
    [ "$("$dpc" explain-error "$1" | head -n 1)" = "## $(grep "^$1 " table)" ] || fail "$1: explain-error"
}

tried=0
for code in $(cut -d' ' -f1 table); do
    if has "$without" "$code"; then
        [ -d "$code" ] && fail "$code has programs now"
        continue
    fi
    cd "$folder/$code" 2>/dev/null || { fail "$code has no programs"; continue; }
    cp ../table .
    wrong=wrong.dp
    [ "${code#W}" = "$code" ] || wrong=warned.dp
    [ -e $wrong ] && [ -e right.dp ] || { fail "$code lacks $wrong or right.dp"; continue; }
    mv $wrong main.dp
    check_wrong "$code" main.dp
    mv right.dp main.dp
    "$dpc" check main.dp >messages 2>&1 || fail "$code: the mended program is wrong: $(cat messages)"
    grep -q "\[$code\]" messages && fail "$code: the mended program still gives it"
    tried=$((tried + 1))
done
cd "$folder" || exit 1
[ "$tried" -gt 50 ] || fail "only $tried sections were tried"

{ printf 'entry main = '; head -c 100000 /dev/zero | tr '\0' '['; head -c 100000 /dev/zero | tr '\0' ']'; } >deep.dp
"$dpc" check deep.dp 2>&1 | grep -q '\[E0108\]' || fail "E0108: deep nesting does not give it"

# ---- explain-error ----
[ "$("$dpc" explain-error e0301 | head -n 1)" = '## E0301 type mismatch' ] || fail "lower case"
"$dpc" explain-error E0301 | grep -q '^## E0302' && fail "a section goes on into the next one"
"$dpc" explain-error E0399 >out 2>&1 && fail "E0399 is a code"
grep -q 'no code E0399; the nearest are' out && grep -q '^  E0401 ' out || fail "the nearest of E0399: $(cat out)"
"$dpc" explain-error nonsense >out 2>&1 && fail "nonsense is a code"
[ "$("$dpc" explain-error | wc -l)" -eq "$(wc -l <table)" ] || fail "the list of codes"

[ "$failed" -eq 0 ] && echo "errors: all passed"
exit $((failed > 0))
