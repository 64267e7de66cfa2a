#!/bin/sh
# The documents and the course as a site to browse: build.sh DPC FOLDER
#
# Each .md becomes a page beside those it links to, with cmark-gfm (a package of Debian); links into the sources lead to copies. Each program of the
# course and the tutorial that has a name and a test gets a page made by `dpc explain`, with a link below it. No page needs a network or a script.
set -eu
command -v cmark-gfm >/dev/null || { echo "cmark-gfm is not installed, which makes pages of documents: apt-get install cmark-gfm" >&2; exit 2; }
dpc=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$2"
site=$(realpath "$2")
cd "$root"

# The named programs of a document, each into its file: programs DOCUMENT FOLDER
programs() {
    awk -v folder="$2" '
        /^```dp$/ { inside = 1; first = 1; file = ""; next }
        /^```/ { if (file) close(file); inside = 0 }
        inside && first { first = 0; if ($0 ~ /^-- [A-Za-z0-9_]+\.dp$/) { file = folder "/" $2; printf "" >file } }
        inside && file { print >file }' "$1"
}

# A page of dpc explain for each of them that has a test to take the arguments from, and that compiles alone: explain FOLDER
explain() {
    for program in "$1"/*.dp; do
        grep -q '^-- test ' "$program" 2>/dev/null || continue
        entry=$(sed -n 's/^-- test  *\([A-Za-z0-9_]*\).*/\1/p' "$program" | head -n 1)
        (cd "$1" && timeout 60 "$dpc" explain --no-warnings --entry "$entry" "$(basename "$program")" -o "$(basename "$program" .dp).html") >/dev/null 2>&1 ||
            rm -f "${program%.dp}.html"
    done
}

# The text between the page's frame: links to .md lead to pages; programs link to theirs: body DOCUMENT PROGRAMS
body() {
    cmark-gfm --extension table --unsafe "$1" | sed -E 's/(href="[^":]*)\.md(["#])/\1.html\2/g; s/<pre><code class="language-(sh|text)">/<pre class="says"><code>/' |
        awk -v programs="$2" '
            /<pre><code class="language-dp">/ { name = ""; if (match($0, /-- [A-Za-z0-9_]+\.dp$/)) name = substr($0, RSTART + 3, RLENGTH - 6) }
            { print }
            /<\/code><\/pre>/ && name != "" {
                page = programs "/" name ".html"
                if ((getline line < page) > 0) printf "<p class=\"see\"><a href=\"%s\">See what becomes of %s</a></p>\n", page, name
                close(page)
                name = ""
            }'
}

page() { # page DOCUMENT
    to=$site/${1%.md}.html
    folder=$(dirname "$to")
    up=$(dirname "$1" | sed -E 's,[^/]+,..,g; s,^\.\.$,..,')
    [ "$(dirname "$1")" = . ] && up=.
    seen=$(basename "$1" .md)-programs
    mkdir -p "$folder/$seen"
    case $1 in docs/course/* | docs/tutorial/*) programs "$1" "$folder/$seen"; explain "$folder/$seen" ;; esac
    title=$(sed -n 's/^# *//p' "$1" | head -n 1 | sed 's/[*`]//g; s/&/\&amp;/g; s/</\&lt;/g')
    {
        printf '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">\n'
        printf '<title>%s</title>\n<link rel="stylesheet" href="%s/site.css"></head>\n<body>\n' "$title" "$up"
        printf '<header><nav aria-label="site"><a href="%s/README.html">dpc</a> <a href="%s/docs/course/README.html">Course</a> ' "$up" "$up"
        printf '<a href="%s/docs/tutorial/README.html">Tutorial</a> <a href="%s/docs/language.html">Language</a> ' "$up" "$up"
        printf '<a href="%s/docs/library.html">Library</a> <a href="%s/docs/modules.html">Modules</a>' "$up" "$up"
        [ ! -e "$site/playground.html" ] || printf ' <a href="%s/playground.html">Playground</a>' "$up"
        printf '</nav></header>\n<main>\n'
        (cd "$folder" && body "$root/$1" "$seen")
        printf '</main>\n</body>\n</html>\n'
    } >"$to"
    rm -f "$folder/$seen"/*.dp
    rmdir "$folder/$seen" 2>/dev/null || true
}

cp docs/site/site.css "$site/"
playground=$(dirname "$dpc")/playground.html # where it was built
if [ -e "$playground" ]; then cp "$playground" "$site/"; else rm -f "$site/playground.html"; fi
for document in README.md SECURITY.md editors/README.md editors/tree-sitter-dp/README.md bench/README.md tests/README.md examples/README.md $(find docs -name '*.md'); do page "$document"; done
# what documents link to besides each other: programs, pictures
for file in LICENSE $(find examples docs stdlib \( -name '*.dp' -o -name '*.c' -o -name '*.py' -o -name '*.png' -o -name '*.svg' \)); do
    mkdir -p "$site/$(dirname "$file")"
    cp "$file" "$site/$file"
done
# the library's modules, with a search
"$dpc" doc $(ls stdlib/*.dp | grep -vx stdlib/prelude.dp) --title "The modules of DP's library" -o "$site/docs/modules.html"
pages=$(find "$site" -name '*.html' | wc -l)
echo "$pages pages: $site/docs/course/README.html"
