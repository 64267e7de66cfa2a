#!/bin/sh
# Built kernels on disk: stored and loaded, refused where they are not whole or not ours, and never in the way of a run.
# cache.sh DPC FAKEPLAT, the shim that gives PoCL another name, so that the runtime keeps the kernels itself.
set -u
dpc=$1 shim=$2
folder=$(mktemp -d)
trap 'chmod -R u+rwx "$folder"; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0
"$dpc" devices 2>/dev/null | grep -q "^#0" || { echo "no OpenCL device: nothing tested"; exit 0; }
export HOME="$folder/home" ASAN_OPTIONS=detect_leaks=0
unset XDG_CACHE_HOME POCL_CACHE_DIR
mkdir home
cache=$HOME/.cache/dpc

wrong() {
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$*"
}
check() { # WHAT COMMAND…
    what=$1
    shift
    "$@" || wrong "$what"
}
run() { # WHAT RESULT [VARIABLE=VALUE]…: the program under the platform's other name
    what=$1 result=$2
    shift 2
    got=$(env LD_PRELOAD="$shim" "$@" timeout 60 ./sum 10 2>error)
    status=$?
    [ "$got" = "$result" ] && [ $status -eq 0 ] && [ ! -s error ] || wrong "$what: status $status, $got $(cat error)"
}
entries() { find "$cache" -maxdepth 1 -name '*.bin' | wc -l; }
one() { find "$cache" -maxdepth 1 -name '*.bin' | sort | head -n 1; }
no_leftovers() { check "$1: files are left behind" [ -z "$(find "$cache" -maxdepth 1 -name '*.bin.*')" ]; }
# What is in the entry's place was not used: a whole one has replaced it.
stored_anew() {
    check "$1: is stored anew" [ -f "$entry" ]
    check "$1: is whole" [ ! -p "$entry" -a "$(stat -c %s "$entry")" -ge "$size" ]
    touch -d '2 days ago' "$entry"
    run "$1, then" 285
    check "$1: is good" [ -n "$(find "$entry" -mmin -60)" -a "$(stat -c %h "$entry")" -eq 1 ]
    no_leftovers "$1"
}

echo 'entry main (n: i64) : i64 = sum { x * x : x in n }' >sum.dp
"$dpc" build sum.dp || exit 1

run "a cold run" 285
[ "$(entries)" -gt 0 ] || wrong "a cold run stores its kernels"
check "the folder is closed to others" [ "$(stat -c %a "$cache")" = 700 ]
no_leftovers "a cold run"
shown=$("$dpc" cache)
case $shown in
    "$cache
"[1-9]*" entries, "[1-9]*" bytes of 1073741824") ;; # PoCL's own are entries, too
    *) wrong "dpc cache shows $shown" ;;
esac
check "dpc cache --clear" "$dpc" cache --clear
check "dpc cache --clear leaves nothing" [ "$(entries)" -eq 0 ]
case $("$dpc" cache) in *"
0 entries, 0 bytes of "*) ;; *) wrong "dpc cache shows something in an empty folder" ;; esac
"$dpc" cache all 2>/dev/null
check "dpc cache all" [ $? -eq 2 ]
run "after dpc cache --clear" 285
entry=$(one)
number=$(stat -c %i "$entry") size=$(($(stat -c %s "$entry") / 2))
touch -d '2 days ago' "$entry"
run "a warm run" 285
check "a warm run stores nothing" [ "$(stat -c %i "$entry")" = "$number" ]
check "a warm run says that the entry is used" [ -n "$(find "$entry" -mmin -60)" ]

run "texts of kernels into a folder that is not there" 285 DP_DUMP_KERNELS="$folder/nowhere"
printf 'xxxx' | dd of="$entry" bs=1 seek=60 conv=notrunc 2>/dev/null
run "a corrupt entry" 285
stored_anew "a corrupt entry"
head -c 100 "$entry" >short && cat short >"$entry"
run "a truncated entry" 285
stored_anew "a truncated entry"
: >"$entry"
run "an empty entry" 285
stored_anew "an empty entry"
rm "$entry" && mkfifo "$entry"
run "a pipe in place of an entry" 285
stored_anew "a pipe in place of an entry"
cp "$entry" elsewhere && ln -sf "$folder/elsewhere" "$entry"
run "a link in place of an entry" 285
check "a link in place of an entry is replaced" [ ! -L "$entry" ]
rm "$entry" && mkdir "$entry"
run "a folder in place of an entry" 285
no_leftovers "a folder in place of an entry"
rmdir "$entry"

run "a cold run again" 285
run "another version of the driver" 285 FAKEPLAT_NAME="Another CL, newer"
check "another version has entries of its own" [ "$(entries)" -gt 1 ]

rm -rf "$cache"
for i in 1 2; do
    LD_PRELOAD=$shim timeout 60 ./sum 10 >"out$i" 2>&1 &
done
wait
check "two processes at once" [ "$(cat out1 out2)" = "285
285" ]
no_leftovers "two processes at once"

rm -rf "$cache"
(ulimit -f 1; LD_PRELOAD=$shim timeout 60 ./sum 10 >out 2>error) # files of 512 bytes at most
no_leftovers "a file that cannot be written"

# ---- which folder ----
planted() { # WHAT [VARIABLE=VALUE]…: the folder in the home is not used, but one for temporary files
    what=$1
    shift
    run "$what" 285 TMPDIR="$folder/tmp" "$@"
    check "$what: the other folder is used" [ "$(ls tmp)" = "$last" ]
    check "$what: the other folder has the kernels" [ -n "$(find "tmp/$last" -maxdepth 1 -name '*.bin')" ]
}
gone() { # WHAT: another process removes it
    for i in $(seq 100); do [ "$(ls tmp)" = "$last" ] && return; sleep 0.05; done
    wrong "$1 is not removed: $(ls tmp)"
}
nowhere() { # WHAT: nor can that be used, so that PoCL gets one of the process
    got=$(env -u HOME TMPDIR="$folder/tmp" timeout 60 ./sum 10 2>error)
    check "$1: the result" [ "$got" = 285 ]
    check "$1: is said" grep -q '^note: no folder for built kernels' error
    check "$1: the folder of the process is removed" [ "$(ls tmp)" = "$last" ]
    env -u HOME TMPDIR="$folder/tmp" timeout 60 ./fails 1 >out 2>error
    check "$1: the failure is said" grep -q 'division by zero' error
    check "$1: the folder of a process that fails is removed" [ "$(ls tmp)" = "$last" ]
    env -u HOME TMPDIR="$folder/tmp" timeout 60 ./endless 1 --timeout 1 >out 2>error
    check "$1: the limit is said" grep -q 'time limit of 1 s' error
    gone "$1: the folder of a process at its limit"
    for signal in TERM KILL; do
        env -u HOME TMPDIR="$folder/tmp" ./endless 1 >out 2>error &
        for i in $(seq 200); do [ "$(ls tmp)" = "$last" ] || break; sleep 0.05; done
        check "$1: a process has a folder" [ "$(ls tmp)" != "$last" ]
        kill -$signal $!
        wait $! 2>/dev/null
        gone "$1: the folder of a process ended by $signal"
    done
}
last=dpc-$(id -u)
mkdir tmp
rm -rf "$cache" && mkdir -m 755 "$cache"
planted "a folder open to others"
check "a folder open to others is not used" [ -z "$(ls "$cache")" ]
rm -rf "$cache" && mkdir -m 700 other && ln -s "$folder/other" "$cache"
planted "a link in place of the folder"
check "a link in place of the folder is not followed" [ -z "$(ls other)" ]
rm -f "$cache" && : >"$cache"
planted "a file in place of the folder"
rm -f "$cache"
if [ "$(id -u)" -eq 0 ]; then
    mkdir -m 700 "$cache" && chown 65534 "$cache"
    planted "a folder of somebody else"
    check "a folder of somebody else is not used" [ -z "$(ls "$cache")" ]
    rm -rf "$cache" && mkdir -m 700 "$cache"
    if mount -t tmpfs -o size=64k none "$cache" 2>/dev/null; then
        chmod 700 "$cache"
        planted "a full disk"
        umount "$cache"
    else
        echo "no tmpfs can be mounted: no full disk is tested"
    fi
else
    mkdir -m 500 "$cache"
    planted "a folder that cannot be written"
fi
rm -rf "$cache"

planted "a home that is not there" HOME=/nowhere/at/all
planted "a home that cannot be written" HOME=/proc
planted "no home" HOME=

echo 'entry main (n: i64) : i64 = sum { 1 / x : x in n }' >fails.dp
"$dpc" build fails.dp || exit 1
echo 'entry main (n: i64) : i64 = loop s = n while s > 0 do if s % 7 == 3 then s + 4 else s + 1 - s % 2 + (s + 1) % 2' >endless.dp
"$dpc" build endless.dp || exit 1
mkdir -p other
rm -rf "tmp/$last" && : >"tmp/$last"
nowhere "a planted file"
rm "tmp/$last" && ln -s "$folder/other" "tmp/$last"
nowhere "a planted link"
rm "tmp/$last" && mkdir "tmp/$last" && chmod 777 "tmp/$last"
nowhere "a planted folder"
check "what is planted is not touched" [ -z "$(ls -A "tmp/$last" other | grep -v :)" ]
rm -rf "tmp/$last"

# ---- its size ----
"$dpc" run sum.dp 10 >/dev/null # under its own name: PoCL's cache is in the folder, too
programs() { find "$cache"/pocl -mindepth 2 -maxdepth 2 -type d | wc -l; }
check "PoCL's kernels are in the folder" [ "$(programs)" -gt 0 ]
run "a cold run" 285
for i in 1 2 3 4 5; do
    head -c 100000 /dev/zero >"$cache/$i.bin"
    touch -d "$i days ago" "$cache/$i.bin"
done
: >"$cache/6.bin.abcdef" && touch -d '2 hours ago' "$cache/6.bin.abcdef"
: >"$cache/7.bin.abcdef"
touch -d '11 minutes ago' "$cache/trimmed"
run "a full cache" 285 DP_CACHE_BYTES="$(($(du -sB1 "$cache" | cut -f1) - 300000))"
check "the oldest go first" [ "$(cd "$cache" && echo [1-9].bin)" = "1.bin 2.bin" ]
check "leftovers go" [ ! -e "$cache/6.bin.abcdef" ]
check "what is being written stays" [ -e "$cache/7.bin.abcdef" ]
check "what is in use stays" [ -e "$(one)" ]
run "looked through a moment ago" 285 DP_CACHE_BYTES=1
check "not looked through again" [ -e "$cache/2.bin" ]
touch -d '11 minutes ago' "$cache/trimmed"
mkdir -p "$cache/pocl/XX/UNUSED/kernel" && : >"$cache/pocl/XX/UNUSED/kernel/k.so"
: >"$cache/pocl/XX/UNUSED/last_accessed" && touch -d '1 day ago' "$cache/pocl/XX/UNUSED/last_accessed"
run "a limit of nothing" 285 DP_CACHE_BYTES=0
check "PoCL's entries count, too" [ ! -e "$cache/pocl/XX/UNUSED" ]
check "what is in use stays" [ -e "$(one)" ]

[ "$failed" -eq 0 ] && echo "cache: all passed"
exit $((failed > 0))
