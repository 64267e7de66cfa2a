#!/bin/sh
# Kernels' texts through clang's OpenCL front end, where clang is installed: front_end.sh FOLDER [FLAG…]. Prints what it refuses, and why.
# DPC_READ is a folder that keeps the sums of texts that were accepted, for each is read once: programs share the runtime's own kernels,
# and ways most of a program's.
folder=$1
shift
command -v clang >/dev/null 2>&1 || exit 0
failed=0
for text in "$folder"/*.cl; do
    [ -e "$text" ] || continue
    sum=$(cksum <"$text" | tr ' ' '_')
    [ -z "${DPC_READ:-}" ] || [ ! -e "$DPC_READ/$sum" ] || continue
    if errors=$(clang -x cl -cl-std=CL1.2 -target spir64 -fsyntax-only "$@" "$text" 2>&1); then
        [ -z "${DPC_READ:-}" ] || : >"$DPC_READ/$sum"
    else
        failed=1
        printf 'clang refuses %s\n%s\n' "$(basename "$text")" "$(echo "$errors" | head -n 6)"
    fi
done
exit $failed
