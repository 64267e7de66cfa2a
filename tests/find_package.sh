#!/bin/sh
# Installs into a folder with a blank, and below DESTDIR; from there the CMake example is built and tested, a C program
# with pkg-config, and the simulation. find_package.sh BUILD
set -u
build=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$0")/.." || exit 2
examples=$PWD/examples/embedding
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
failed=0
wrong() { echo "FAILED: $*"; failed=1; }
case $(sed -n 's/^DPC_SANITIZE[^=]*=//p' "$build/CMakeCache.txt") in
    ON | thread) echo "skipped: installed programs are built without sanitizers"; exit 77 ;;
esac

prefix="$tmp/a prefix"
cmake --install "$build" --prefix "$prefix" >"$tmp/log" 2>&1 || wrong "cmake --install: $(tail -3 "$tmp/log")"
DESTDIR=$tmp/dest cmake --install "$build" --prefix /usr >"$tmp/log" 2>&1 || wrong "DESTDIR: $(tail -3 "$tmp/log")"
(cd "$prefix" && find . | sort) >"$tmp/one"
(cd "$tmp/dest/usr" && find . | sort) | cmp -s - "$tmp/one" || wrong "below DESTDIR other files are installed"
grep -rIl "$tmp\|$PWD" "$prefix/lib/cmake" "$prefix/lib/pkgconfig" && wrong "installed files name folders of the build"

for root in "$prefix" "$tmp/dest/usr"; do
    cmake -S "$examples/cmake" -B "$tmp/project" -DCMAKE_PREFIX_PATH="$root" >"$tmp/log" 2>&1 &&
        cmake --build "$tmp/project" >>"$tmp/log" 2>&1 && (cd "$tmp/project" && ctest) >>"$tmp/log" 2>&1 ||
        wrong "the CMake example, from $root: $(tail -20 "$tmp/log")"
    rm -rf "$tmp/project"
done

# A project of dpc new, in a folder with a blank; what it installs runs.
mkdir "$tmp/a project" || exit 2
for root in "$prefix" "$tmp/dest/usr"; do
    rm -rf "$tmp/a project/rows" "$tmp/installed"
    (cd "$tmp/a project" && "$root/bin/dpc" new rows && cmake -S rows -B rows/build -DCMAKE_PREFIX_PATH="$root" &&
        cmake --build rows/build && cmake --install rows/build --prefix "$tmp/installed" && cd rows/build && ctest --output-on-failure) >"$tmp/log" 2>&1 &&
        grep -q '100% tests passed, 0 tests failed out of 2' "$tmp/log" && [ "$("$tmp/installed/bin/rows" '[[2]]')" = '[4.0]' ] ||
        wrong "a project of dpc new, from $root: $(tail -20 "$tmp/log")"
done

# The archive alone: one program with it and a library of dpc library, by CMake and by pkg-config.
rm "$prefix"/lib/libdpc.so*
mkdir "$tmp/alone" || exit 2
cp "$examples/c/rows.c" "$examples/cmake/portfolio.c" "$examples/cmake/finance.dp" "$tmp/alone"
cat >"$tmp/alone/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(alone LANGUAGES C)
find_package(dpc REQUIRED COMPONENTS static)
dpc_add_library(finance finance.dp)
add_executable(rows rows.c)
target_link_libraries(rows PRIVATE dpc::static)
add_executable(portfolio portfolio.c)
target_link_libraries(portfolio PRIVATE finance dpc::static)
END
cmake -S "$tmp/alone" -B "$tmp/alone/build" -DCMAKE_PREFIX_PATH="$prefix" >"$tmp/log" 2>&1 && cmake --build "$tmp/alone/build" >>"$tmp/log" 2>&1 &&
    [ "$("$tmp/alone/build/rows" | tr '\n' ' ')" = "12 30 " ] && "$tmp/alone/build/portfolio" >/dev/null ||
    wrong "dpc::static: $(tail -20 "$tmp/log")"
sed -i 's/COMPONENTS static/COMPONENTS statics/' "$tmp/alone/CMakeLists.txt"
cmake -S "$tmp/alone" -B "$tmp/alone/build" >"$tmp/log" 2>&1 && wrong "there is a component statics"

if command -v pkg-config >/dev/null 2>&1; then
    flags=$(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --cflags --libs --static dpc) # with blanks behind backslashes
    eval "cc '$examples/c/rows.c' $flags -o '$tmp/rows'" && [ "$("$tmp/rows" | tr '\n' ' ')" = "12 30 " ] ||
        wrong "the C example with libdpc.a and pkg-config --static"
    cd "$tmp" || exit 2
    export PKG_CONFIG_PATH="$tmp/dest/usr/lib/pkgconfig" LD_LIBRARY_PATH="$tmp/dest/usr/lib"
    # shellcheck disable=SC2046 # words
    cc "$examples/c/rows.c" $(pkg-config --cflags --libs dpc) -o rows && [ "$(./rows | tr '\n' ' ')" = "12 30 " ] ||
        wrong "the C example: $(./rows 2>&1)"
    # shellcheck disable=SC2046
    cc "$examples/simulation/simulation.c" $(pkg-config --cflags --libs dpc) -lOpenCL -o simulation ||
        wrong "the simulation does not build"
    ./simulation "$examples/simulation/heat.dp" | tail -1 | grep -q '^step 100: at most 777.78 degrees$' ||
        wrong "the simulation: $(./simulation "$examples/simulation/heat.dp" 2>&1 | tail -1)"
    "$tmp/dest/usr/bin/dpc" library "$examples/cmake/finance.dp" -o finance || wrong "dpc library, installed"
    # shellcheck disable=SC2046
    cc "$examples/cmake/portfolio.c" -I. libfinance.a $(pkg-config --cflags --libs --static dpc-runtime) -o portfolio &&
        ./portfolio >/dev/null || wrong "a library with pkg-config"
else
    echo "no pkg-config: dpc.pc is not tested"
fi
exit $failed
