#!/bin/sh
# The names that the runtime brings into users' programs begin with dp_, or dpc_ (dpc.h); what ends a process or prints messages belongs to
# the program and to the reading of its arguments (notes), not to the library. The shared library's names begin with dpc_.
# The archive's are those of dpc.h and dp_embed.h.
# OpenCL is behind runtime/device.h: one file includes its headers and calls it. symbols.sh LIBRARY SHARED [STATIC]
set -u
command -v nm >/dev/null 2>&1 || { echo "no nm: nothing tested"; exit 0; }
failed=0
wrong() {
    echo "FAILED: $1"
    failed=1
}

names=$(nm -g --defined-only "$1" 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }' | sort -u)
[ "$(echo "$names" | grep -c '^dp_')" -gt 100 ] || wrong "$1 has no names"
others=$(echo "$names" | grep -v '^dpc\?_' | grep -v -E '^(__(asan|odr|gcov|llvm|wrap)|_+sancov|DW\.ref)')
[ -z "$others" ] || wrong "names without dp_ or dpc_: $(echo "$others" | tr '\n' ' ')"

# dp_main, its limits, the process's own; output.c: temporary files go when a signal ends the process.
allowed='^(program|run_limits|process|output)\.c\.o$'
ends=$(nm "$1" 2>/dev/null | awk '
    /^[^ ]*\.o:$/ { object = substr($1, 1, length($1) - 1) }
    $1 == "U" && $2 ~ /^(exit|_exit|_Exit|abort|quick_exit|__assert_fail|longjmp|_longjmp|signal|sigaction|stderr|printf|puts)(@|$)/ { print object, $2 }')
for line in $(echo "$ends" | tr ' ' ':'); do
    object=${line%%:*} call=${line##*:}
    case $object:$call in
        runtime.c.o:sigaction) ;; # what PoCL sets is undone
        ownership.c.o:__assert_fail | outside.c.o:__assert_fail) ;; # in builds with DPC_CHECKS
        jpeg.c.o:*longjmp) ;;     # libjpeg's way out
        args.c.o:stderr | file.c.o:stderr) ;;
        *) echo "$object" | grep -q -E "$allowed" || wrong "$object calls $call" ;;
    esac
done
shared=$(nm -D --defined-only "$2" | awk 'NF == 3 && $2 != "A" { sub("@.*", "", $3); print $3 }' | sort)
declared=$(grep -o '\bdpc_[a-z_]*(' runtime/embed/dpc.h | tr -d '(' | sort -u)
exported=$(echo "$shared" | grep '^dpc_')
[ "$exported" = "$declared" ] || wrong "dpc.h declares $(echo $declared), the library exports $(echo $exported)"
others=$(echo "$shared" | grep -v '^dpc_' | grep -v -E '^(__(asan|ubsan|odr|gcov|llvm)|_+sancov)')
[ -z "$others" ] || wrong "names without dpc_: $(echo $others)"

if [ -n "${3:-}" ]; then
    shown=$(nm -g --defined-only "$3" | awk 'NF == 3 { print $3 }' | sort | grep -v -E '^(__(asan|ubsan|odr|gcov|llvm)|_+sancov)')
    both=$( (echo "$declared"; grep -o '\bdpc_[a-z_]*(' runtime/include/dp_embed.h | tr -d '(') | sort -u)
    [ "$shown" = "$both" ] || wrong "the headers declare $(echo $both), $3 shows $(echo $shown)"
fi

including=$(grep -rlE '#[[:space:]]*include[[:space:]]*[<"](CL|OpenCL)/' runtime compiler --include='*.[ch]')
[ "$including" = runtime/device_opencl.c ] || wrong "OpenCL's headers are included by: $(echo "$including" | tr '\n' ' ')"
calling=$(nm "$1" 2>/dev/null | awk '
    /^[^ ]*\.o:$/ { object = substr($1, 1, length($1) - 1) }
    $1 == "U" && $2 ~ /^cl[A-Z]/ { print object }' | sort -u)
[ "$calling" = device_opencl.c.o ] || wrong "OpenCL is called by: $(echo "$calling" | tr '\n' ' ')"
exit $failed
