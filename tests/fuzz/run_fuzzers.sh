#!/bin/sh
# Runs the fuzz targets, one after the other:
#
#     run_fuzzers.sh BUILD SECONDS [JOBS] [TARGET...]
#
# BUILD is a build folder of -DDPC_FUZZ=ON, or a copy of its folder fuzz; the stored inputs are read from corpus/ beside this
# script. Nothing else is needed, so that the two folders may be copied to another machine. Each target runs for SECONDS in JOBS
# (1) processes, with an hour's findings in BUILD/found/TARGET: inputs that crash, take more than 20 s or 2 GB. Prints executions and
# findings for each target; status 1 if there are any findings, 2 if a target is missing or did not run.
set -u
[ $# -ge 2 ] || { sed -n '2,10p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd) || exit 2
build=$1 seconds=$2 jobs=${3:-1}
[ $# -ge 3 ] && shift 3 || shift 2
[ -d "$build/fuzz" ] && build=$build/fuzz
build=$(cd "$build" && pwd) || exit 2
[ $# -gt 0 ] || set -- $(cd "$build" && ls fuzz_* | sed 's/^fuzz_//')
[ $# -gt 0 ] || { echo "$build has no fuzz targets" >&2; exit 2; }
LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
UBSAN_OPTIONS=print_stacktrace=1
export LD_LIBRARY_PATH UBSAN_OPTIONS
status=0
for target; do
    found=$build/found/$target grown=$build/grown/$target
    mkdir -p "$found" "$grown"
    rm -f "$found"/fuzz-*.log
    most=4096 dictionary=
    case $target in program | evaluators | fmt) dictionary=-dict=$build/dp.dict most=2048 ;; esac
    [ -x "$build/fuzz_$target" ] || { echo "$target: there is no $build/fuzz_$target"; status=2; continue; }
    # Each job is started anew after a finding, until the time is over.
    (cd "$found" && "$build/fuzz_$target" -max_total_time="$seconds" -jobs="$jobs" -workers="$jobs" -max_len=$most $dictionary \
        -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$found/" \
        "$grown" "$here/corpus/$target") > "$found/jobs.out" 2>&1
    runs=$(cat "$found"/fuzz-*.log 2>/dev/null | awk '/stat::number_of_executed_units/ { n += $2 } END { print n + 0 }')
    findings=$(find "$found" -name 'crash-*' -o -name 'timeout-*' -o -name 'oom-*' -o -name 'leak-*' | wc -l)
    echo "$target: $runs executions, $findings findings"
    if [ "$findings" -gt 0 ]; then
        find "$found" -name 'crash-*' -o -name 'timeout-*' -o -name 'oom-*' -o -name 'leak-*' | sed 's/^/    /'
        [ $status -ne 0 ] || status=1
    elif [ "$runs" -eq 0 ]; then
        tail -n 3 "$found"/fuzz-*.log "$found/jobs.out"
        status=2
    fi
done
exit $status
