#!/bin/sh
# The indexes of the documentation are complete and true: docs.sh DPC
#
# For each module of stdlib, the section of its name in docs/library.md lists exactly its public definitions with their
# parameters, as the source calls them, and the types that the compiler infers, one a line, as | `name x y : type` | …, and its types as
# they are defined. The index at the end of docs/prelude.md does so for the prelude. Prints what is missing (+) and what is too much (-).
# And each public definition of the library has a documentation comment. Files of the sources that documents speak of are there.
set -u
dpc=$1
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

documented() { # documented FILE HEADING: the first columns of the tables below it
    awk -v heading="## $2" '/^## /{inside = ($0 == heading)} inside' "$1" | sed -n 's/^| `\([^`]*\)` |.*/\1/p' | sort
}

compare() { # compare NAME: what is documented (then what is defined) is in $work
    if ! diff "$work/documented" "$work/defined" >"$work/diff"; then
        echo "FAILED: the index of $1"
        sed -n 's/^</-/p; s/^>/+/p' "$work/diff"
        failed=1
    fi
}

# `name : type` on standard input as `name x y : type`, with the parameters of the sources.
name_parameters() { # name_parameters SOURCE…
    awk -f tests/parameters.awk "$@" >"$work/parameters"
    awk 'NR == FNR { full[$1] = $0; next } $2 == ":" && $1 in full { sub(/^[^ ]+/, full[$1]) } { print }' "$work/parameters" -
}

for module in stdlib/*.dp; do
    name=$(basename "$module" .dp)
    [ "$name" = prelude ] && continue
    "$dpc" dump --stage=types "$module" >"$work/types" || failed=1
    {
        # behind the module's own definitions the dump has those of imported modules
        sed -n 's/^def \([^ ]*[^_ ]\) .*/\1/p' "$module" | sed 's/.*/def & :/' >"$work/names"
        grep -F -f "$work/names" "$work/types" | awk '!seen[$2]++' | sed -n 's/^def //p' | name_parameters "$module"
        sed -n 's/^\(type [^ ]*[^_ ] .*=.*\)/\1/p' "$module"
    } | sort >"$work/defined"
    documented docs/library.md "$name" >"$work/documented"
    compare "$name"
done

# Names that end in two underscores are the library's own; tests come last and have none.
awk 'FNR == 1 { comment = 0 } /^--\|/ { comment = 1; next }
     /^def / && $2 !~ /__$/ && !comment { print "FAILED: " FILENAME ":" FNR ": " $2 " has no documentation comment" }
     { comment = 0 }' stdlib/*.dp >"$work/bare"
[ -s "$work/bare" ] && { cat "$work/bare"; failed=1; }

{
    sed -n 's/^BUILTIN(\([^ ]*[^_ ]\), .*/\1/p' compiler/types/builtins.def
    sed -n 's/^def \([^ ]*[^_ ]\) .*/\1/p' stdlib/prelude.dp
} | sed 's/.*/def q_& = &/' >"$work/prelude.dp"
"$dpc" dump --stage=types "$work/prelude.dp" >"$work/types" || failed=1
sed -n 's/^def q_//p' "$work/types" | name_parameters compiler/types/builtins.def stdlib/prelude.dp | sort >"$work/defined"
documented docs/prelude.md Index >"$work/documented"
compare prelude
[ "$(wc -l <"$work/defined")" -gt 130 ] || { echo "FAILED: the prelude has lost its functions"; failed=1; }

# docs/reading.md: its files are there, and the steps, and all of them, are about as long as it says.
for file in $(grep -oE '`(compiler|runtime|tests|docs)/[^` ]*\.[a-z]+`' docs/reading.md docs/design.md docs/flattening.md | sed 's/.*`\(.*\)`/\1/'); do
    [ -e "$file" ] || { echo "FAILED: the documents speak of $file, which is not there"; failed=1; }
done
grep -E '^\| [0-9]+\. ' docs/reading.md | while IFS='|' read -r _ step files lines _; do
    # shellcheck disable=SC2046 # one word a file
    is=$(cat $(echo "$files" | grep -oE '`[a-z]+/[^`]*`' | tr -d '`') | wc -l)
    [ $((is * 4)) -le $((lines * 5)) ] && [ $((is * 5)) -ge $((lines * 4)) ] || echo "FAILED: docs/reading.md:$step: $is lines"
done >"$work/steps"
told=$(sed -n 's/^The idea of dpc is in about \([0-9]*\),\([0-9]*\) lines.*/\1\2/p' docs/reading.md)
all=$(grep -E '^\| [0-9]+\. ' docs/reading.md | awk -F'|' '{ n += $4 } END { print n }')
[ $((all * 20)) -le $((told * 21)) ] && [ $((all * 21)) -ge $((told * 20)) ] || echo "FAILED: docs/reading.md: $told lines, but $all in its steps" >>"$work/steps"
[ -s "$work/steps" ] && { cat "$work/steps"; failed=1; }
exit "$failed"
