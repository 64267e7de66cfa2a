#!/bin/sh
# What cmake --install makes works from any place, one with a blank in its name, too: install.sh BUILD CMAKE
set -u
build=$1 cmake=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
fail() { failed=$((failed + 1)); echo "FAILED: $*"; }

DESTDIR="$folder/a root" "$cmake" --install "$build" --prefix /usr >"$folder/log" 2>&1 || { cat "$folder/log"; fail "cmake --install"; }
root="$folder/a root/usr"
for file in bin/dpc lib/dpc/libdpruntime.a include/dpc/dp_rt.h share/doc/dpc/README.md share/doc/dpc/docs/language.md \
    share/doc/dpc/examples/spmv/spmv.dp share/man/man1/dpc.1.gz share/man/man1/dpc-program.1.gz \
    include/dpc.h lib/libdpc.so lib/libdpc.a lib/pkgconfig/dpc.pc share/dpc/dp-0.1.0.vsix share/vim/vimfiles/syntax/dp.vim \
    share/nvim/site/ftdetect/dp.vim share/nvim/site/queries/dp/highlights.scm share/dpc/tree-sitter-dp/grammar.js \
    share/bash-completion/completions/dpc share/zsh/vendor-completions/_dpc share/fish/vendor_completions.d/dpc.fish; do
    [ -s "$root/$file" ] || fail "$file is not installed"
done
grep -q '^complete -F _dpc dpc' "$root/share/bash-completion/completions/dpc" || fail "the completion for bash is another file"
cd "$folder" || exit 1
echo 'entry main (n: i64) : i64 = sum { x * x : x in n }' >squares.dp
"$root/bin/dpc" build squares.dp || fail "the installed dpc does not build a program"
[ "$(./squares 10)" = 285 ] || fail "a program of the installed dpc is wrong"
cc=${CC:-cc}
$cc "$root/share/doc/dpc/examples/embedding/c/rows.c" -I"$root/include" -L"$root/lib" -ldpc -o rows || fail "the C program does not build"
[ "$(LD_LIBRARY_PATH="$root/lib" ./rows | tr '\n' ' ')" = "12 30 " ] || fail "the C program is wrong"
[ $failed -eq 0 ]
