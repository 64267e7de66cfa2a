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
has '<pre class=head>type <a class=name href="#f.row">row</a> = [f64]</pre>'
has '<pre class=head>def <a class=name href="#f.squares">squares</a> (row: <a href="#f.row">row</a>)</pre>' # types lead to theirs
has '<p class=type>[f64] -> f64</p>'
has '<p>The sum of squares; <code>a &lt; b</code> &amp; &quot;c&quot;.</p>'
has 'work = 3 n + 2'
has '<pre class=head>entry <a class=name href="#f.main">main</a> (rows: [<a href="#f.row">row</a>]) : [f64]</pre>'
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

# A folder of modules: costs of what no entry uses, properties, links into other modules, two of one name.
mkdir -p app/geo app/.git
cat >app/geo/shapes.dp <<'END'
type box = {w: f64, h: f64}
--| As of `grown`, but `nothing`.
def area (b: box) : f64 = b.w * b.h
def grown (b: box) (k: f64) : box = {w = b.w * k, h = b.h}
def each f (b: box) : f64 = f b.w
-- property grows
def grows (b: box) = area (grown b 1.0) == area b
END
cat >app/main.dp <<'END'
import "geo/shapes" as S
--| See `S.area`.
def total (bs: [S.box]) : f64 = sum { S.area b : b in bs }
END
echo 'def main = 1' >app/geo/main.dp
echo 'def a = 1 + true' >app/.git/wrong.dp
"$dpc" doc app -o page.html --title app >said 2>&1 || fail "dpc doc app: $(cat said)"
has '<section class=def data-name="total" id="app/main.dp.total">'
has '<section class=def data-name="main" id="app/geo/main.dp.main">'
has '(bs: [<a href="#shapes.box">S.box</a>])'
has 'See <code><a href="#shapes.area">S.area</a></code>.'
has '<code><a href="#shapes.grown">grown</a></code>, but <code>nothing</code>'
has '<pre class=example>def grows (b: <a href="#shapes.box">box</a>) = area (grown b 1.0) == area b</pre>'
[ "$(grep -c '<pre class=cost>' page.html)" -eq 4 ] || fail "costs of $(grep -c '<pre class=cost>' page.html) definitions"
mkdir empty
for words in empty nowhere.dp ''; do
    "$dpc" doc $words >said 2>&1
    [ $? -eq 2 ] && grep -q '^dpc: error: ' said || fail "dpc doc $words: $(cat said)"
done

# The library, all of whose links lead somewhere.
XDG_CACHE_HOME=$folder/cache
export XDG_CACHE_HOME
mkdir -m 700 cache
"$dpc" doc --library -o library.html >said 2>&1 || fail "the library: $(cat said)"
[ "$(grep -c '<section class=module>' library.html)" -ge 19 ] && grep -q 'id="linalg.solve"' library.html || fail "the library's page"
[ "$(grep -c '<pre class=cost>' library.html)" -ge 200 ] || fail "the library has only $(grep -c '<pre class=cost>' library.html) costs"
for page in page.html library.html; do
    grep -oE ' id="?[^" >]+' "$page" | sed 's/ id="*//' | sort >ids
    uniq -d ids | grep . && fail "$page has these places twice"
    grep -oE 'href="[^"]*"' "$page" | sed 's/href="//; s/"$//; s/&quot;/"/g' | sort -u >links
    [ -s links ] && grep -v '^#' links && fail "$page leads elsewhere"
    sed 's/^#//' links | comm -23 - ids | grep . && fail "$page has no such places"
done

# With a browser: the search, by keys alone.
if command -v chromium >/dev/null 2>&1; then
    cat >keys.js <<'END'
const key=(k,at)=>at.dispatchEvent(new KeyboardEvent('keydown',{key:k,bubbles:true,cancelable:true}));
key('/',document.body);const said=[document.activeElement.id];
box.value='median [f64]';box.dispatchEvent(new Event('input'));
const shown=()=>[...document.querySelectorAll('.def')].filter(d=>d.checkVisibility()).length;
said.push(shown()>0&&shown()<5,count.textContent===shown()+(shown()===1?' definition':' definitions'));
key('Enter',box);said.push(document.activeElement.textContent);
key('Escape',box);said.push(shown()>300);
document.title=said.join(' ');
END
    { sed 's|</html>||' library.html; echo '<script>'; cat keys.js; echo '</script></html>'; } >tried.html
    timeout 60 chromium --headless=new --no-sandbox --disable-gpu --dump-dom "file://$folder/tried.html" 2>/dev/null >dom.html
    grep -q '<title>search true true median true</title>' dom.html || fail "keys: $(grep -o '<title>[^<]*' dom.html)"
else
    echo "chromium is not installed: the search is not tried"
fi
echo 'def a = 1 + true' >wrong.dp
"$dpc" doc f.dp wrong.dp -o page.html >said 2>&1
[ $? -eq 2 ] && grep -q 'wrong.dp:1:13: error' said || fail "a mistake: $(cat said)"
has 'data-name="total"' # it is the old page
exit $failed
