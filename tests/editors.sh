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
    node tests/vscode.js "$dpc" "$folder" || fail "the extension for Visual Studio Code"
else
    echo "node is not installed: extension.js is not read"
fi

if command -v python3 >/dev/null 2>&1; then # as cmake packs it: all that the manifest names is there
    cmake -DSOURCE="$PWD/editors/vscode" -DLICENSE="$PWD/LICENSE" -DOUTPUT="$folder/dp.vsix" -P cmake/vsix.cmake || fail "vsix.cmake"
    python3 - "$folder/dp.vsix" <<'END' || fail "the .vsix"
import json, re, sys, xml.etree.ElementTree as tree, zipfile
packed = zipfile.ZipFile(sys.argv[1])
assert packed.testzip() is None
names = set(packed.namelist())
manifest = tree.fromstring(packed.read('extension.vsixmanifest'))
space = {'v': 'http://schemas.microsoft.com/developer/vsx-schema/2011'}
package = json.loads(packed.read('extension/package.json'))
identity = manifest.find('v:Metadata/v:Identity', space).attrib
assert (identity['Id'], identity['Version'], identity['Publisher']) == (package['name'], package['version'], package['publisher']), identity
assert manifest.find('v:Metadata/v:Properties/v:Property', space).attrib['Value'] == package['engines']['vscode']
for asset in manifest.iterfind('v:Assets/v:Asset', space):
    assert asset.attrib['Path'] in names, asset.attrib
types = {t.attrib['Extension'] for t in tree.fromstring(packed.read('[Content_Types].xml'))}
for name in names:
    assert name.endswith('/') or name == '[Content_Types].xml' or re.search(r'\.\w+$', name).group() in types, name
def there(path):
    path = 'extension/' + path.removeprefix('./')
    assert path in names, path
    return packed.read(path)
there(package['main'])
contributed = package['contributes']
for language in contributed['languages']:
    assert language['extensions'] == ['.dp'] and json.loads(there(language['configuration']))['comments']['lineComment'] == '--'
for grammar in contributed['grammars']:
    assert json.loads(there(grammar['path']))['scopeName'] == grammar['scopeName'], grammar
END
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
wanted='dpTest dpDefinition dpName dpType dpComment dpKeyword dpNumber dpBoolean dpCharacter dpConstructor dpTypeVariable dpString dpEscape'
cat >"$folder/wanted" <<'END'
-- test main
entry main (xs: [f64]) : i64 =
  let n = length xs -- a comment
  in n + 0x1f + (if true then 'a' else #leaf)
def f (x: 'a) = "text \n" + x
END
for editor in vim nvim; do
    if ! command -v $editor >/dev/null 2>&1; then
        echo "$editor is not installed: the files for it are not tried"
        continue
    fi
    rm -f "$folder/groups" "$folder/indented" "$folder/errors"
    HOME=$folder timeout 60 $editor -u NONE -i NONE -n -e -s -S "$folder/script.vim" </dev/null >"$folder/said" 2>&1
    [ "$(tr '\n' ' ' <"$folder/groups" 2>/dev/null)" = "$wanted " ] || fail "groups of $editor: $(tr '\n' ' ' <"$folder/groups" 2>&1)"
    cmp -s "$folder/wanted" "$folder/indented" || { fail "indentation of $editor"; cat "$folder/indented" "$folder/said"; }
    grep -q '^3:3:[eE]:1' "$folder/errors" 2>/dev/null || fail "errors in $editor: $(cat "$folder/errors" 2>&1)"
done
exit $failed
