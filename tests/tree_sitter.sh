#!/bin/sh
# The tree-sitter grammar against dpc's own: tree_sitter.sh DPC
#
# It finds no mistake in any program that dpc accepts, and groups it as dpc does: with parentheses around all that its tree has, a program is
# the same. It finds the mistakes of grammar of tests/diag; those that it leaves to dpc (reserved words as names,
# second conditions) are in tree_sitter.txt. Its trees are those of
# test/corpus, and its queries are well-formed and say of a program what they should.
set -u
dpc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")/.." || exit 1
grammar=editors/tree-sitter-dp
if ! pkg-config --exists tree-sitter 2>/dev/null; then
    echo "libtree-sitter-dev is not installed: the tree-sitter grammar is not tried"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
fail() { failed=1; echo "FAILED: $*"; }

(cd $grammar && sha256sum --quiet -c src/made.sha256) || fail "src/parser.c is not of this grammar.js: $grammar/generate makes it"
# The tables are generated, the scanner is ours.
cc=${CC:-cc}
$cc -O1 -c -I$grammar/src $grammar/src/parser.c -o "$folder/parser.o" &&
    $cc -O1 -Wall -Wextra -Werror -I$grammar/src $grammar/src/scanner.c tests/tree_sitter.c "$folder/parser.o" -o "$folder/tree" \
        $(pkg-config --cflags --libs tree-sitter) || { echo "FAILED: it does not compile"; exit 1; }
tree=$folder/tree

# All programs but those that are wrong.
find bench docs examples stdlib tests -name '*.dp' ! -path 'tests/diag/*' >"$folder/programs"
mkdir "$folder/snippets"
find README.md docs editors python -name '*.md' | while read -r page; do
    awk -v to="$folder/snippets/$(echo "$page" | tr / _)" '/^```/ { inside = $0 == "```dp"; n += inside; next } inside { print >(to n ".dp") }' "$page"
done
find "$folder/snippets" -name '*.dp' >>"$folder/programs"
[ "$(wc -l <"$folder/programs")" -ge 600 ] || fail "there are only $(wc -l <"$folder/programs") programs"
xargs "$tree" <"$folder/programs" >"$folder/said" || fail "the programs cannot be read"
while IFS=: read -r file place; do # some of these are wrong on purpose
    "$dpc" dump --stage=ast --no-warnings "$file" >/dev/null 2>&1 && fail "$file:$place"
done <"$folder/said"

# Grouped as by dpc. Imports lead to the same places.
mkdir "$folder/bench"
cp -r tests examples stdlib "$folder"
cp -r bench/programs "$folder/bench"
for file in tests/run/*.dp examples/*/*.dp stdlib/*.dp; do
    "$tree" -p "$folder/$file"
    "$dpc" dump --stage=ast --no-warnings "$file" >"$folder/wanted" 2>&1
    "$dpc" dump --stage=ast --no-warnings "$folder/$file" >"$folder/got" 2>&1
    cmp -s "$folder/wanted" "$folder/got" || { fail "$file is another program with the tree's parentheses"; diff "$folder/wanted" "$folder/got" | head -5; }
done

# Mistakes: of the grammar, characters, brackets and comments.
find tests/diag/E010[1-3] tests/diag/E0110 -name '*.dp' | sort | while read -r file; do
    [ -n "$("$tree" "$file")" ] || echo "$file"
done >"$folder/missed"
cmp -s tests/tree_sitter.txt "$folder/missed" || { fail "mistakes that are not found (tests/tree_sitter.txt has those that need not be)"; diff tests/tree_sitter.txt "$folder/missed"; }
find tests/diag -name '*.dp' ! -path 'tests/diag/E01*' -exec "$tree" {} + >"$folder/said"
[ ! -s "$folder/said" ] || { fail "no mistake of grammar:"; cat "$folder/said"; }

# Trees.
awk -v to="$folder/case" '/^====/ { heading = !heading; if (heading) { n++; part = "" } else part = "text"; next }
    /^----/ { part = "tree"; next } part { print >(to n "." part) }' $grammar/test/corpus/expressions.txt
[ -f "$folder/case6.tree" ] || fail "test/corpus has too few cases"
for text in "$folder"/case*.text; do
    "$tree" -t "$text" >"$folder/got"
    tr -s ' \n' ' ' <"${text%text}tree" | sed 's/^ //; s/ $//' >"$folder/wanted"
    [ "$(cat "$folder/got")" = "$(cat "$folder/wanted")" ] || { fail "a tree of test/corpus"; cat "$folder/wanted" "$folder/got"; }
done

# Queries.
cat >"$folder/f.dp" <<'END'
--| What it is.
import "linalg" as L
def f (x: 'a) y : [i64] = { L.g p.0 with [i] = #leaf "a\n" : p in 0x1f..<1.5 | b }
END
for queries in $grammar/queries/*.scm; do
    "$tree" -q "$queries" "$folder/f.dp" >"$folder/$(basename "$queries").found" || fail "$queries"
done
for wanted in '1:1 @comment.documentation --| What it is.' '2:20 @module L' '3:5 @function f' '3:11 @type.parameter '"'a" '3:15 @variable.parameter y' \
    '3:20 @type.builtin i64' '3:31 @function.call g' '3:35 @property 0' '3:37 @keyword with' '3:48 @constructor #leaf' '3:56 @string.escape \n' \
    '3:60 @punctuation.delimiter :'; do
    grep -qxF "$wanted" "$folder/highlights.scm.found" || fail "highlights have no $wanted"
done
for wanted in '3:1 @local.scope def' '3:5 @local.definition.function f' '3:15 @local.definition.parameter y' '3:62 @local.definition.var p' '3:33 @local.reference p'; do
    grep -qF "$wanted" "$folder/locals.scm.found" || fail "locals have no $wanted"
done
exit $failed
