#!/bin/sh
# Builds the data generator and the peers that this machine has the tools for: build.sh FOLDER
# Says for each of the others what is missing. Builds again only what is older than its sources. CC, NVCC: the compilers; MARCH: the
# processor, if it is another's (native); CUDA_ARCH: the GPU; FUTHARK: the back end.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?a folder}
mkdir -p "$out" || exit 2
cc=${CC:-cc} nvcc=${NVCC:-nvcc}
flags="-std=c11 -O3 -march=${MARCH:-native} -ffp-contract=off -fno-math-errno -fno-trapping-math -D_POSIX_C_SOURCE=200809L -Wall -Wextra"
failed=0

newer() { # newer TARGET SOURCE…: is TARGET there, and no source younger?
    target=$1; shift
    [ -x "$target" ] && [ -z "$(find "$@" -newer "$target")" ]
}

build() { # build NAME SOURCES -- COMMAND…: makes $out/NAME, in the background where it takes long
    name=$1 sources=$2; shift 3
    newer "$out/$name" $sources && return 0
    "$@" -o "$out/$name.new" >"$out/$name.log" 2>&1 && mv "$out/$name.new" "$out/$name" && return 0
    echo "$name: it does not build:" >&2
    head -20 "$out/$name.log" >&2
    return 1
}

common="$here/../npy.c $here/../npy.h"
build data "$common $here/../data.c" -- $cc $flags -fopenmp "$here/../data.c" "$here/../npy.c" -lm || failed=1
build compare "$common $here/../compare.c" -- $cc $flags "$here/../compare.c" "$here/../npy.c" -lm || failed=1

# OpenMP: one file is compiled with -ffast-math
openmp=$here/openmp
if echo 'int main(void) { return 0; }' | $cc -fopenmp -x c - -o "$out/probe" 2>/dev/null; then
    dense() { # the command of `build`
        $cc $flags -fopenmp -ffast-math -ffp-contract=fast -c "$openmp/dense.c" -o "$out/dense.o" &&
            $cc $flags -fopenmp $(ls "$openmp"/*.c | grep -v dense.c) "$here/peer.c" "$here/../npy.c" "$out/dense.o" -lm "$@"
    }
    build openmp "$common $here/peer.c $here/peer.h $openmp" -- dense || failed=1
else
    echo "openmp: $cc has no OpenMP"
fi

if echo '#include <CL/cl.h>
int main(void) { return clFinish(0) != 0; }' | $cc -DCL_TARGET_OPENCL_VERSION=120 -x c - -lOpenCL -o "$out/probe" 2>/dev/null; then
    build opencl "$common $here/peer.c $here/peer.h $here/opencl" -- $cc $flags -DCL_TARGET_OPENCL_VERSION=120 \
        "$here"/opencl/*.c "$here/peer.c" "$here/../npy.c" -lOpenCL -lm || failed=1
    cp "$here"/opencl/*.cl "$out"
else
    echo "opencl: there are no headers and library of OpenCL (Debian: opencl-headers ocl-icd-opencl-dev)"
fi
# CUDA: the files of the one program are compiled side by side
cuda=$here/cuda
nvflags="-O3 -std=c++17 --extended-lambda -arch=${CUDA_ARCH:-sm_90} -diag-suppress 177"
if command -v "$nvcc" >/dev/null 2>&1; then
    objects() { # the command of `build`
        $cc $flags -c "$here/peer.c" -o "$out/peer.o" && $cc $flags -c "$here/../npy.c" -o "$out/npy.o" || return 1
        for f in main folds sorts maps hull; do
            "$nvcc" $nvflags -c "$cuda/$f.cu" -o "$out/$f.o" &
        done
        wait
        "$nvcc" $nvflags "$out/main.o" "$out/folds.o" "$out/sorts.o" "$out/maps.o" "$out/hull.o" "$out/peer.o" "$out/npy.o" "$@"
    }
    libraries() {
        "$nvcc" $nvflags "$cuda/libraries.cu" "$out/peer.o" "$out/npy.o" -lcusparse -lcublas "$@"
    }
    sources="$common $here/peer.c $here/peer.h $cuda"
    build cuda "$sources" -- objects || failed=1
    build libraries "$sources" -- libraries || failed=1
else
    echo "cuda: there is no nvcc, or the device is a CPU"
fi

if command -v futhark >/dev/null 2>&1; then
    mkdir -p "$out/futhark"
    for f in "$here"/futhark/*.fut; do
        build "futhark/$(basename "$f" .fut)" "$f" -- futhark "${FUTHARK:-multicore}" "$f" || failed=1
    done
else
    echo "futhark: it is not installed"
fi
rm -f "$out/probe"
exit $failed
