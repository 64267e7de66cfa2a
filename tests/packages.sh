#!/bin/sh
# The Debian packages: each has its own first line, and lintian says of all no more than docs/embedding.md says. packages.sh BUILD
set -u
build=$(cd "$1" && pwd) || exit 2
for tool in cpack dpkg-deb dpkg-shlibdeps lintian; do
    command -v $tool >/dev/null 2>&1 || { echo "skipped: $tool is not installed"; exit 77; }
done
grep -q '^DPC_SANITIZE[^=]*=OFF' "$build/CMakeCache.txt" || { echo "skipped: packages are made without sanitizers"; exit 77; }
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
failed=0
wrong() { echo "FAILED: $*"; failed=1; }

cpack -G DEB --config "$build/CPackConfig.cmake" -B "$tmp" >"$tmp/log" 2>&1 || wrong "cpack: $(tail -5 "$tmp/log")"
[ "$(ls "$tmp"/*.deb | wc -l)" -eq 6 ] || wrong "packages: $(ls "$tmp")"
lines=$(for f in "$tmp"/*.deb; do dpkg-deb -f "$f" Description | head -1; done)
[ "$(echo "$lines" | sort -u | wc -l)" -eq 6 ] || wrong "packages have the same first line: $lines"
for f in "$tmp"/*.deb; do dpkg-deb -c "$f"; done >"$tmp/list"
grep -q '/usr/share/vim/vimfiles/syntax/dp.vim' "$tmp/list" || wrong "no files for Vim"
grep -q '/usr/lib/libdpc.a' "$tmp/list" || wrong "no archive"
lintian "$tmp"/*.deb 2>/dev/null | sed 's/ \[.*//' | sort -u >"$tmp/said"
cat >"$tmp/wanted" <<'END'
W: libdpc-dev: pkg-config-unavailable-for-cross-compilation
W: libdpc0: maintscript-calls-ldconfig
END
cmp -s "$tmp/said" "$tmp/wanted" || wrong "lintian: $(cat "$tmp/said")"
exit $failed
