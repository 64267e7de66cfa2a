#!/bin/sh
# What the compiler advises is right: advice.sh DPC
#
# 1. tests/advice.txt: a wrong program, what is advised, and the program that follows it, which compiles.
# 2. Every function and type that docs/library.md lists and the prelude lacks: undefined, it names the module to import; with the import it is defined.
set -u
dpc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cases=$PWD/tests/advice.txt
page=$PWD/docs/library.md
prelude=$PWD/stdlib/prelude.dp
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export NO_COLOR=1
failed=0

fail() {
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
}

# ---- first mistakes: NUMBER.title, NUMBER.wrong.dp, NUMBER.advice, NUMBER.right.dp ----
awk '/^=== / { n++; part = "wrong.dp"; print substr($0, 5) >(n ".title"); next }
     /^--- / { part = "right.dp"; print substr($0, 5) >(n ".advice"); next }
     n && NF { print >(n "." part) }' "$cases"

tried=0
for title in *.title; do
    n=${title%.title}
    tried=$((tried + 1))
    "$dpc" check "$n.wrong.dp" >messages 2>&1 && fail "$(cat "$title"): it compiles"
    while read -r advice; do
        grep -qF -- "$advice" messages || fail "$(cat "$title"): no \`$advice\` in: $(cat messages)"
    done <"$n.advice"
    "$dpc" check "$n.right.dp" >messages 2>&1 || fail "$(cat "$title"): the mended program is wrong: $(cat messages)"
done
[ "$tried" -ge 60 ] || fail "only $tried first mistakes were tried"

# ---- names of the library: MODULE WORD NAME ----
awk '/^## / { module = $2 }
     module && /^\| `[a-z]/ { name = $2; sub(/^`/, "", name)
                              if (name == "type") { word = "type"; name = $3 } else word = "def"
                              sub(/`.*/, "", name); print module, word, name }' "$page" >names
while read -r module word name; do
    grep -q "^$word $name " "$prelude" && continue
    case $word in
    def) program="def f = $name" ;;
    type) program="def f (x: $name) = x" ;;
    esac
    printf '%s\n' "$program" >wrong.dp
    "$dpc" check wrong.dp >messages 2>&1 && fail "$name of $module is defined without an import"
    grep -qF "\`import \"$module\"\`" messages || fail "$name: no import of $module in: $(cat messages)"
    printf 'import "%s"\n%s\n' "$module" "$program" >right.dp
    "$dpc" check right.dp 2>&1 | grep -E 'E020[12]' && fail "$name of $module is not defined with the import"
done <names
[ "$(wc -l <names)" -ge 200 ] || fail "only $(wc -l <names) names of the library were tried"

# A file beside the program hides the library's module of that name: no advice then.
echo 'def f = median' >wrong.dp
: >stats.dp
"$dpc" check wrong.dp 2>&1 | grep 'import' && fail "the import would be that of the file beside"

[ "$failed" -eq 0 ] && echo "advice: all passed ($tried mistakes, $(wc -l <names) names)"
exit $((failed > 0))
