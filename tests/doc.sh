#!/bin/sh
# dpc doc: what is on the page; its HTML is well-formed; the library's modules have one. doc.sh DPC
set -u
dpc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export NO_COLOR=1
failed=0
fail() { failed=1; echo "FAILED: $*"; }
has() { grep -qF -- "$1" page.html || fail "the page has no $1"; }
not() { grep -qF -- "$1" page.html && fail "the page has $1"; }

cat >f.dp <<'END'
-- Rows, & what `sum`s they have.
import "order"
type row = [f64]
--| The sum of squares; `a < b` & "c".
def squares (row: row) = sum { x * x : x in row }
def _helper x = x
def apart__ x = x
-- property always
def always (b: bool) = b || !b
-- test main
-- input  [[1, 2]]
-- output [5.0]
-- input  []
-- output []
entry main (rows: [row]) : [f64] = { squares row : row in rows }
END
"$dpc" doc f.dp -o page.html --title 'Rows & <sums>' >said 2>&1 || fail "dpc doc f.dp: $(cat said)"
has '<title>Rows &amp; &lt;sums></title>'
has '<p> Rows, &amp; what <code>sum</code>s they have.'
has '<pre class=head>type row = [f64]</pre>'
has '<pre class=head>def squares (row: row)</pre>'
has '<p class=type>[f64] -> f64</p>'
has '<p>The sum of squares; <code>a &lt; b</code> &amp; &quot;c&quot;.</p>'
has 'work = 3 n + 2'
has '<pre class=head>entry main (rows: [row]) : [f64]</pre>'
has '<pre class=example>main [[1, 2]]'
not '_helper'
not 'apart__'
not 'always'
not 'import'
[ "$("$dpc" doc f.dp --title 'Rows & <sums>' | cmp - page.html 2>&1)" = '' ] || fail "standard output has another page"
if command -v python3 >/dev/null 2>&1; then
    python3 - page.html <<'END' || fail "the page is not well-formed"
import html.parser, sys
open_tags, void = [], {"meta", "input", "!doctype", "html"}
class Parser(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        if tag not in void and tag != "p": open_tags.append(tag)
    def handle_endtag(self, tag):
        if tag not in void and tag != "p" and open_tags.pop() != tag: sys.exit(tag)
Parser().feed(open(sys.argv[1]).read())
sys.exit(bool(open_tags))
END
else
    echo "python3 is not installed: the page is not parsed"
fi
"$dpc" doc $(ls "$root"/stdlib/*.dp | grep -v prelude.dp) -o library.html >said 2>&1 || fail "the library: $(cat said)"
[ "$(grep -c '<section class=module>' library.html)" -ge 15 ] && grep -q 'data-name="solve"' library.html || fail "the library's page"
echo 'def a = 1 + true' >wrong.dp
"$dpc" doc f.dp wrong.dp -o page.html >said 2>&1
[ $? -eq 2 ] && grep -q 'wrong.dp:1:13: error' said || fail "a mistake: $(cat said)"
has 'squares' # it is the old page
exit $failed
