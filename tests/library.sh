#!/bin/sh
# What `dpc library` makes: a static and a shared library of forms.dp, called from C and, if there is a compiler, from
# C++ with the compiler's library beside it. library.sh BUILD
set -u
build=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$0")/library" || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
case $(sed -n 's/^DPC_SANITIZE[^=]*=//p' "$build/CMakeCache.txt") in
    ON) flags='-fsanitize=address,undefined' ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0; export ASAN_OPTIONS ;;
    thread) flags=-fsanitize=thread ;;
    *) flags= ;;
esac
failed=0
wrong() { echo "FAILED: $*"; failed=1; }
all_right() { [ "$("$@" 2>&1 | tail -1)" = "all right" ] || wrong "$*: $("$@" 2>&1 | tail -3)"; }
warn='-Wall -Wextra -Wconversion -Wshadow -Werror'

mkdir "$tmp/a folder" && cd "$tmp/a folder" || exit 2
CFLAGS=$flags "$build/dpc" library "$OLDPWD/forms.dp" -o forms || wrong "no static library"
CFLAGS=$flags "$build/dpc" library "$OLDPWD/forms.dp" -o ./forms --shared || wrong "no shared library"
[ -f forms.h ] && [ -f forms.c ] && [ -f libforms.a ] && [ -f libforms.so ] || wrong "files are missing: $(ls)"
libs=$(sed -n "s/^Libs.private: *//p" "$build/dpc-runtime.pc")
# shellcheck disable=SC2086 # words
{
    cc $flags $warn -I. -I"$build/include" "$OLDPWD/forms_test.c" libforms.a "$build/libdpruntime.a" $libs -o static ||
        wrong "static: does not build"
    cc $flags $warn -I. -I"$build/include" "$OLDPWD/forms_test.c" -L. -lforms -Wl,-rpath,. -o shared ||
        wrong "shared: does not build"
}
all_right ./static
all_right ./shared
others=$(nm -D --defined-only libforms.so | awk '{ print $3 }' | grep -v -E '^(forms_|dpc_|__(asan|odr)|_+sancov)')
[ -z "$others" ] || wrong "libforms.so has other names: $others"
if command -v c++ >/dev/null 2>&1; then
    # shellcheck disable=SC2086
    {
        c++ -std=c++17 $flags -Wall -Wextra -Werror -I. -I"$build/include" "$OLDPWD/forms_test.cpp" libforms.a -L"$build" \
            -ldpc -Wl,-rpath,"$build" "$build/libdpruntime.a" $libs -o both || wrong "C++: does not build"
        c++ -std=c++17 $flags -Wall -Wextra -Werror -DDPC_WITHOUT_COMPILER -I. -I"$build/include" "$OLDPWD/forms_test.cpp" \
            -L. -lforms -Wl,-rpath,. -o alone || wrong "C++ alone: does not build"
    }
    all_right ./both "$OLDPWD/forms.dp"
    all_right ./alone
else
    echo "no c++: dpc.hpp is not tested"
fi
"$build/dpc" library "$OLDPWD/forms.dp" -o 'my forms' >err 2>&1 && wrong "a name with a blank is taken"
grep -q 'my forms is no name for C: name the library with -o' err || wrong "$(cat err)"
CC=false "$build/dpc" library "$OLDPWD/forms.dp" -o other >err 2>&1 && wrong "a failing compiler is ignored"
[ ! -e libother.a ] || wrong "a library without a compiler"
exit $failed
