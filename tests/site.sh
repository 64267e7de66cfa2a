#!/bin/sh
# The site of the documents is built, its links lead somewhere, and the course's programs have their pages: site.sh DPC
set -u
dpc=$1
command -v cmark-gfm >/dev/null || { echo "cmark-gfm is not installed: the site is not built"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
sh docs/site/build.sh "$dpc" "$work/site" >"$work/said" 2>&1 || { echo "FAILED: docs/site/build.sh"; cat "$work/said"; exit 1; }
find "$work/site" -name '*.html' ! -path '*-programs/*' >"$work/pages"
while read -r page; do
    grep -oE '(href|src)="[^"#:]+[#"]' "$page" | sed 's/[#"]$//'  | sed 's/^[a-z]*="//' | sort -u | while read -r link; do
        [ -e "$(dirname "$page")/$link" ] || echo "FAILED: ${page#"$work/site/"} leads to $link, which is not there"
    done
done <"$work/pages" >"$work/broken"
[ -s "$work/broken" ] && { cat "$work/broken"; failed=1; }
for lesson in docs/course/*/lesson.md; do
    grep -q 'class="see"' "$work/site/${lesson%.md}.html" || { echo "FAILED: no program of $lesson has a page"; failed=1; }
done
[ $failed -eq 0 ] && echo "site: $(wc -l <"$work/pages") pages, all links lead somewhere"
exit $failed
