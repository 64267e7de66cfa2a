#!/bin/sh
# The Python package: python.sh BUILD_DIR [TEST...], without names all of python/tests. Status 77: skipped, there is no
# Python with numpy and pytest, or not what the tests are about.
set -u
build=$(cd "$1" && pwd) || exit 2
shift
cd "$(dirname "$0")/../python" || exit 2

python=$(sh ../tests/python3.sh numpy pytest) ||
    { echo "skipped: no python3 with numpy and pytest (Debian: python3-numpy python3-pytest)"; exit 77; }
if ldd "$build/libdpc.so" | grep -qE 'lib(a|t|ub)san'; then
    echo "skipped: Python cannot load a library that is built with sanitizers"
    exit 77
fi
export DPC_LIBRARY="$build/libdpc.so" PYTHONPATH="$PWD" PYTHONDONTWRITEBYTECODE=1
"$python" -m pytest -q -p no:cacheprovider -rs ${*:-tests}
status=$?
[ $status -ne 5 ] || exit 77 # what these tests are about is not installed: it says what
exit $status
