#!/bin/sh
# The files for editors: the words of the scanner are those that they highlight; JSON is JSON; Vim takes what is for it. editors.sh DPC
set -u
dpc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")/.." || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
fail() { failed=1; echo "FAILED: $*"; }

words=$(sed -n 's/^"\([a-z]\{2,\}\)" .*/\1/p' compiler/syntax/lexer.l)
[ "$(echo "$words" | wc -l)" -ge 18 ] || fail "the scanner has only the words $words"
for word in $words; do
    for file in editors/vscode/syntaxes/dp.tmLanguage.json editors/vim/syntax/dp.vim; do
        grep -qE "(^|[^a-z])$word([^a-z]|\$)" "$file" || fail "$file does not know $word"
    done
done
if command -v python3 >/dev/null 2>&1; then
    for file in editors/vscode/*.json editors/vscode/syntaxes/*.json; do
        python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$file" || fail "$file"
    done
else
    echo "python3 is not installed: the JSON files are not read"
fi
if command -v node >/dev/null 2>&1; then
    node --check editors/vscode/extension.js || fail "extension.js"
else
    echo "node is not installed: extension.js is not read"
fi

if ! command -v vim >/dev/null 2>&1; then
    echo "vim is not installed: its files are not tried"
    exit $failed
fi
cat >"$folder/f.dp" <<'END'
-- test main
entry main (xs: [f64]) : i64 =
let n = length xs -- a comment
in n + 0x1f + (if true then 'a' else #leaf)
def f (x: 'a) = "text \n" + x
END
cat >"$folder/script.vim" <<END
set nocompatible
set runtimepath^=$PWD/editors/vim
filetype plugin indent on
syntax on
edit $folder/f.dp
function Group(line, word)
  return synIDattr(synID(a:line, matchend(getline(a:line), a:word), 1), 'name')
endfunction
let lines = [Group(1, 'test'), Group(2, 'entry'), Group(2, 'main'), Group(2, 'f64'), Group(3, 'comment'), Group(3, 'let'), Group(4, '0x1f'),
  \\ Group(4, 'true'), Group(4, "'a"), Group(4, '#leaf'), Group(5, "'a"), Group(5, 'text'), Group(5, 'text .')]
call writefile(lines, '$folder/groups')
normal gg=G
call writefile(getline(1, '\$'), '$folder/indented')
edit! $folder/wrong.dp
let &l:makeprg = '$dpc check %:S'
silent make
call writefile(map(getqflist(), 'v:val.lnum . ":" . v:val.col . ":" . v:val.type . ":" . v:val.valid'), '$folder/errors')
quitall!
END
printf 'def a = 1\nentry main = a +\n  true\n' >"$folder/wrong.dp"
HOME=$folder vim -u NONE -i NONE -n -e -s -S "$folder/script.vim" </dev/null >"$folder/said" 2>&1
wanted='dpTest dpDefinition dpName dpType dpComment dpKeyword dpNumber dpBoolean dpCharacter dpConstructor dpTypeVariable dpString dpEscape'
[ "$(tr '\n' ' ' <"$folder/groups" 2>/dev/null)" = "$wanted " ] || fail "groups of Vim: $(tr '\n' ' ' <"$folder/groups" 2>&1)"
cat >"$folder/wanted" <<'END'
-- test main
entry main (xs: [f64]) : i64 =
  let n = length xs -- a comment
  in n + 0x1f + (if true then 'a' else #leaf)
def f (x: 'a) = "text \n" + x
END
cmp -s "$folder/wanted" "$folder/indented" || { fail "indentation of Vim"; cat "$folder/indented" "$folder/said"; }
grep -q '^3:3:[eE]:1' "$folder/errors" 2>/dev/null || fail "errors in Vim: $(cat "$folder/errors" 2>&1)"
exit $failed
