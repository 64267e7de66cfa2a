#!/bin/sh
# What dpc and its executables write: complete or not at all, in the place that was named, and never lost in silence; what signals leave
# behind; limits of time and memory. outputs.sh DPC
set -u
dpc=$(realpath "$1")
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export NO_COLOR=1
exec 3>&- # the tests open it where they mean it
failed=0

fail() {
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
}
# expect STATUS 'TEXT' COMMAND…: standard error contains TEXT, and the status is right.
expect() {
    status=$1 text=$2
    shift 2
    got=$("$@" 2>&1 >/dev/null </dev/null)
    rc=$?
    case $got in
        *"$text"*) [ $rc -eq "$status" ] && return ;;
    esac
    fail "$*
  status $rc, wanted $status; wanted the text: $text
$got"
}
# holds FILE TEXT: it is a regular file, and this is in it.
holds() {
    [ -f "$1" ] && [ "$(cat "$1")" = "$2" ] || fail "$1 must hold $2, but holds: $(cat "$1" 2>&1)"
}
nothing_left() {
    for left in .dpc-* tmp/dpc-* tmp/cc*; do [ -e "$left" ] && fail "$1 leaves $left behind" && rm -rf "$left"; done
}

cat >f.dp <<'END2'
import "lib"
-- test main
-- input  [1, 2] 3
-- output [4, 5]
entry main (xs: [i32]) (k: i32) : [i32] = { add x k : x in xs }
entry long (n: i64) : [i64] = reverse (iota n)
entry text (s: [u8]) : [u8] = s
entry endless (n: i64) : i64 = loop s = n while s > 0 do if s % 7 == 3 then s + 4 else s + 1 - s % 2 + (s + 1) % 2
END2
echo 'def add (x: i32) (k: i32) = x + k' >lib.dp
printf 'def  k=1\n' >messy.dp
cp messy.dp messy.orig

have_device=no
"$dpc" devices 2>/dev/null | grep -q "^#0" && have_device=yes
core="$dpc run --eval=core f.dp"
makers=$core
if [ $have_device = yes ]; then
    "$dpc" build f.dp || fail "f.dp does not build"
    makers="$core:./f"
else
    echo "no OpenCL device: executables are not tested"
fi

# ---- streams that are full, closed, or nobody's ----
if [ -c /dev/full ]; then
    full() { # STATUS COMMAND…
        status=$1
        shift
        got=$("$@" 2>&1 >/dev/full </dev/null)
        rc=$?
        case $got in *"cannot write: No space left on device"*) [ $rc -eq "$status" ] && return ;; esac
        fail "$* >/dev/full: status $rc, wanted $status: $got"
    }
    full 5 "$dpc" help
    full 5 "$dpc" --version
    full 5 "$dpc" explain-error
    full 5 "$dpc" explain-error E0301
    full 5 "$dpc" devices
    full 5 "$dpc" test --eval=core f.dp
    full 1 "$dpc" fmt --check messy.dp
    full 5 sh -c '"$0" fmt - <messy.dp' "$dpc"
    for stage in ast types core fused flat plan opencl host; do full 5 "$dpc" dump --stage=$stage f.dp; done
    full 5 $core --help
    full 5 $core --entry long 100000
    full 5 $core '[1]' 2
    expect 5 '/dev/full: cannot write: No space left on device' $core -o /dev/full '[1]' 2
    if [ $have_device = yes ]; then
        full 5 ./f --help
        full 5 ./f --list-devices
        full 5 ./f '[1]' 2
        full 5 ./f --entry long 100000
        full 5 "$dpc" run f.dp '[1]' 2
        expect 5 '/dev/full: cannot write' ./f -o /dev/full '[1]' 2
        expect 5 '/dev/full: cannot write' ./f -t /dev/full '[1]' 2
        expect 5 '/dev/full: cannot write' "$dpc" build f.dp -o /dev/full
        sh -c './f --profile "[1]" 2 >/dev/null 2>/dev/full'
        [ $? -eq 5 ] || fail "--profile on a full disk"
    fi
else
    echo "there is no /dev/full: full disks are not tested"
fi
expect 5 'standard output: cannot write: Bad file descriptor' sh -c '"$0" help >&-' "$dpc"
( ulimit -f 1; $core --entry long -o limited.txt 100000 2>errors; echo $? >status )
[ "$(cat status)" = 5 ] && grep -q 'cannot write: File too large' errors && [ ! -e limited.txt ] || fail "a file that is too large: $(cat errors)"
nothing_left "a file that is too large"
head_status() { ( ( "$@" 2>errors; echo $? >status ) | head -c 1 >/dev/null ); [ "$(cat status)" = 141 ] && [ ! -s errors ] || fail "$* | head: $(cat status errors)"; }
awk 'BEGIN { for (i = 0; i < 400; i++) printf "entry e%d (x: i64) : i64 = x + %d\n", i, i }' >many.dp # more than a pipe holds
head_status "$dpc" dump --stage=host many.dp
head_status $core --entry long 100000
[ $have_device = yes ] && head_status ./f --entry long 100000

# ---- where it goes: links, modes, pipes, streams ----
IFS=:
for maker in $makers; do
    unset IFS
    rm -f new.txt && ( umask 027; $maker -o new.txt '[1]' 2 ) && holds new.txt '[3]'
    [ "$(stat -c %a new.txt)" = 640 ] || fail "$maker: the umask counts for new files"
    chmod 600 new.txt && $maker -o new.txt '[2]' 2 && holds new.txt '[4]'
    [ "$(stat -c %a new.txt)" = 600 ] || fail "$maker: the mode of a file is kept"
    mkdir -p sub && ln -sfn sub folder && ln -sf ../new.txt sub/link && ln -sf folder/link chain
    $maker -o chain '[3]' 2 && holds new.txt '[5]'
    [ -L chain ] && [ -L sub/link ] || fail "$maker: links stay links"
    rm -f there.txt && ln -sf there.txt dangling && $maker -o dangling '[1]' 2 && holds there.txt '[3]'
    [ -L dangling ] || fail "$maker: a link to nothing stays a link"
    ln -sf ring2 ring1 && ln -sf ring1 ring2
    expect 5 'ring1: cannot write: Too many levels of symbolic links' $maker -o ring1 '[1]' 2
    expect 5 'cannot write: Is a directory' $maker -o sub '[1]' 2
    expect 5 'cannot write: No such file or directory' $maker -o none/x.txt '[1]' 2
    expect 2 'which the result is not' $maker -o new.png --entry long 3
    holds new.txt '[5]'
    mkfifo pipe && { cat pipe >piped & } && $maker -o pipe '[1]' 2 && wait && holds piped '[3]'
    [ -p pipe ] || fail "$maker: a pipe stays a pipe"
    rm -f pipe
    if [ -e /proc/self/fd ]; then # through links of our own: nothing may happen to the machine's
        ln -sf /dev/stdout out && ln -sf /dev/fd/3 three
        { echo before; $maker -o out '[1]' 2; echo behind; } >log && holds log "$(printf 'before\n[3]\nbehind')"
        [ -L out ] || fail "$maker: a link to standard output stays one"
        $maker -o three '[1]' 2 3>log && holds log '[3]'
        expect 5 'cannot write: Bad file descriptor' $maker -o three '[1]' 2 3>&-
    fi
    echo '[1, 2]' >in.txt && $maker -o in.txt in.txt 1 && $maker -o in.txt in.txt 1 && holds in.txt '[3, 4]'
    long=$(printf '%0250d' 0).txt && $maker -o "$long" '[1]' 2 && holds "$long" '[3]'
    expect 2 'twice' $maker -o a -o b '[1]' 2
    nothing_left "$maker -o"
    IFS=:
done
unset IFS
ln -sf messy.dp messy_link && chmod 640 messy.dp && "$dpc" fmt messy_link && holds messy.dp 'def k = 1'
[ -L messy_link ] && [ "$(stat -c %a messy.dp)" = 640 ] || fail "fmt keeps links and modes"

# ---- folders and files of others ----
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && setpriv --reuid=65534 --clear-groups "$dpc" --version >/dev/null 2>&1; then
    as="setpriv --reuid=65534 --regid=65534 --clear-groups"
    chmod 711 .
    mkdir closed open && echo old >closed/mine && chown 65534 closed/mine && chmod 755 closed && chmod 1777 open
    $as $core -o closed/mine '[1]' 2 && holds closed/mine '[3]'
    expect 5 'cannot write: Permission denied' $as $core -o closed/new '[1]' 2
    echo old >open/others && chmod 666 open/others && $as $core -o open/others '[1]' 2
    holds open/others '[3]'
    [ "$(stat -c %u open/others)" = 0 ] || fail "the owner of a file is kept"
    echo old >open/readable && chmod 644 open/readable
    expect 5 'cannot write: Permission denied' $as $core -o open/readable '[1]' 2
    holds open/readable old
    echo old >theirs && chown 65534:65534 theirs && $core -o theirs '[1]' 2 && holds theirs '[3]'
    [ "$(stat -c %u:%g theirs)" = 65534:65534 ] || fail "root keeps the owner of a file"
    rm -f tmp_refused && mkdir -m 700 tmp_refused
    expect 5 'cannot make a temporary folder in tmp_refused: Permission denied' env TMPDIR=tmp_refused $as "$dpc" build f.dp -o open/f
else
    echo "not root: files of others are not tested"
fi
# a small disk of its own, where mounting is allowed
mkdir small
if unshare -m true 2>/dev/null; then
    cat >small.sh <<'END2'
mount -t tmpfs -o size=16k none small || exit 77
maker=$1; shift
echo old >small/out.txt
for i in 1 2 3 4; do head -c 4096 /dev/zero >small/fill$i 2>/dev/null; done
$maker "$@" -o small/out.txt 2>errors; echo $? >status
cat small/out.txt >kept; ls -A small | grep -v -e fill -e out.txt >left
END2
    for maker in "$core" "./f"; do
        [ "$maker" = ./f ] && [ $have_device = no ] && continue
        unshare -m sh small.sh "$maker" --entry long 100000
        case $? in
            77) echo "no tmpfs can be mounted: full disks are tested with /dev/full only" ;;
            *) [ "$(cat status)" = 5 ] && grep -q 'No space left' errors && [ "$(cat kept)" = old ] && [ ! -s left ] ||
                fail "$maker on a full disk: $(cat status errors kept left)" ;;
        esac
    done
fi

# ---- an output that is an input ----
cp f.dp f.orig && cp lib.dp lib.orig
ln -sf f.dp alias && ln f.dp hard && mkdir -p sub
for output in f.dp alias hard sub/../f.dp "$folder/f.dp"; do
    expect 2 "would replace the program's file f.dp" "$dpc" build f.dp -o "$output"
    expect 2 "would replace the program's file f.dp" $core '[1]' 2 -o "$output"
    expect 2 "would replace the program's file f.dp" "$dpc" run f.dp '[1]' 2 -o "$output"
done
expect 2 "would replace the program's file lib.dp" "$dpc" build f.dp -o lib.dp
expect 2 "would replace the program's file lib.dp" $core '[1]' 2 -o lib.dp
cmp -s f.dp f.orig && cmp -s lib.dp lib.orig || fail "a source was replaced"
if [ $have_device = yes ]; then
    expect 2 '-o and -t would write the same file' ./f -o x.txt -t ./x.txt '[1]' 2
    expect 0 '' ./f -t times -r 3 '[1]' 2
    [ "$(wc -l <times)" -eq 3 ] || fail "-t writes a line a run"
    echo old >times
    expect 1 'division by zero' sh -c 'echo "entry main (x: i64) : i64 = 1 / x" >div.dp && "$0" build div.dp && ./div -t times 0' "$dpc"
    holds times old
    expect 2 'is given twice' ./f -t a -t b '[1]' 2
    expect 2 'is given twice' "$dpc" build f.dp -o a -o b
    chmod 644 f && "$dpc" build f.dp && [ -x f ] || fail "an executable can be executed"
fi
nothing_left "an output"

# ---- text of the program in messages and in generated C ----
mkdir 'x*' && printf 'entry main (x: i64) : i64 = assert (x > 0) x -- \033[31m \342\200\256 ??/' >'x*/"\n??.dp'
shown() { # the executable's message, without control characters
    case $1 in *"$(printf '\033')"* | *"$(printf '\342\200\256')"*) fail "control characters in a message: $1" ;; esac
    case $1 in *':1:29: error: assertion failed'*) ;; *) fail "a message: $1" ;; esac
}
shown "$("$dpc" run --eval=core 'x*/"\n??.dp' 0 2>&1)"
[ $have_device = yes ] && shown "$("$dpc" run 'x*/"\n??.dp' 0 2>&1)"
mkfifo endless.txt
printf -- '-- test main\n-- input @endless.txt\n-- output 1\nentry main (x: i64) : i64 = x\n' >reads.dp
"$dpc" test --eval=core reads.dp 2>&1 | grep -q 'endless.txt: not a regular file' || fail "dpc test reads a pipe"

# ---- temporary folders ----
if [ $have_device = yes ]; then
    mkdir -p tmp ./-x 'b l'
    for base in -x 'b l' ./tmp "$folder/tmp"; do
        expect 0 '' env TMPDIR="$base" "$dpc" build f.dp -o g
        rmdir -- "$base"/* 2>/dev/null
        [ -z "$(ls -A -- "$base")" ] || fail "TMPDIR=$base: left $(ls -- "$base")"
    done
    expect 5 'cannot make a temporary folder in /nowhere: No such file or directory' env TMPDIR=/nowhere "$dpc" build f.dp
    cp f.dp ./-f.dp
    expect 0 '' "$dpc" build -- -f.dp
    [ -x ./-f ] || fail "build -- -f.dp makes ./-f"
    expect 0 '' "$dpc" build -o -g f.dp
    [ -x ./-g ] || fail "build -o -g"
fi
cp f.dp ./-f.dp
expect 0 '' "$dpc" check -- -f.dp
expect 0 '' "$dpc" test --eval=core -- -f.dp
expect 0 '' "$dpc" fmt --check -- -f.dp
expect 0 '' "$dpc" dump --stage=core -- -f.dp
expect 0 '' "$dpc" run --eval=core -- -f.dp '[1]' 2
cp in.txt ./-in.txt
expect 0 '' $core -- -in.txt 2

# ---- signals ----
cat >slow_cc <<'END'
#!/bin/sh
: >"$TMPDIR/cc_temporary.s"
sleep 100 &
echo $! >sleeping
echo $$ >started
wait
END
chmod +x slow_cc
# by_signal NAME NUMBER COMMAND…: its status, and what it leaves, when it is ended while the C compiler runs.
by_signal() {
    name=$1 number=$2
    shift 2
    rm -f started sleeping
    rm -rf tmp && mkdir tmp
    env --default-signal TMPDIR=tmp CC=./slow_cc "$@" >errors 2>&1 </dev/null &
    pid=$!
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ -e started ] && break
        sleep 0.2
    done
    kill -"$name" $pid
    wait $pid
    rc=$?
    [ $rc -eq $((128 + number)) ] || fail "$* and SIG$name: status $rc, $(cat errors)"
    [ -s errors ] && fail "$* and SIG$name: $(cat errors)"
    [ -z "$(ls -A tmp)" ] || fail "$* and SIG$name: leaves $(ls -A tmp)"
    for i in 1 2 3 4 5 6 7 8 9 10; do # it has been killed, but may not be dead yet
        state=$(sed -n 's/^State:[[:space:]]*//p' "/proc/$(cat sleeping)/status" 2>/dev/null)
        case $state in R* | S* | D*) sleep 0.2 ;; *) return ;; esac
    done
    fail "$* and SIG$name: a process goes on"
}
if env --default-signal true 2>/dev/null; then
    for signal in "HUP 1" "INT 2" "QUIT 3" "TERM 15"; do by_signal $signal "$dpc" build f.dp -o g; done
    by_signal USR1 10 "$dpc" run --eval=device f.dp '[1]' 2
    by_signal XCPU 24 "$dpc" test --eval=device f.dp
    nothing_left "a signal"
    if [ $have_device = yes ]; then
        for run in ./f "$dpc run f.dp"; do
            env --default-signal $run --entry long 30000000 -o result.txt 2>errors &
            pid=$!
            for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
                ls .dpc-* >/dev/null 2>&1 && break
                sleep 0.1
            done
            kill -TERM $pid
            wait $pid
            [ $? -eq 143 ] && [ ! -e result.txt ] || fail "SIGTERM while $run writes a result"
        done
        nothing_left "SIGTERM while a result is written"
    fi
else
    echo "env cannot reset signals: signals are not tested"
fi

# ---- limits ----
for maker in "$core" "$dpc run f.dp" ./f; do
    case $maker in *core*) ;; *) [ $have_device = yes ] || continue ;; esac
    for wrong in 0 -1 nan 1e3 1s; do expect 2 'of seconds, not' $maker --timeout "$wrong" --entry constant; done
    for wrong in 0 -1 1.5G 10X M 10MB 99999999999999999999 20000000T; do expect 2 'bytes such as' $maker --memory "$wrong" --entry constant; done
done
if [ $have_device = yes ]; then
    expect 6 'error: time limit of 0.3 s reached' ./f --timeout 0.3 --entry endless 5 -o late.txt -t late_times
    [ -e late.txt ] || [ -e late_times ] && fail "what is late is written"
    expect 6 'time limit of 1 s reached' "$dpc" run f.dp --timeout 1 --entry endless 5
    expect 0 '' ./f --timeout 100 --memory 1G '[1]' 2
    expect 3 "f.dp:6:31: error: out of memory: 0.8 GB requested" ./f --memory 100M --entry long 100000000 -o late.txt
    nothing_left "a limit"
fi
for e in core fused flat; do
    expect 6 'time limit of 0.1 s reached' "$dpc" run --eval=$e f.dp --timeout 0.1 --entry endless 5 -o late.txt
    expect 3 'f.dp:6:' "$dpc" run --eval=$e f.dp --memory 1M --entry long 1000000 -o late.txt
    [ -e late.txt ] && fail "what is late is written"
done
cat >slow.dp <<'END'
-- test main
-- input  0
-- output 0
-- input  5
-- error  "time limit of 0.4 s reached"
-- input  1
-- output 4
-- input  5
-- output 5
-- test large
-- input 1000000
-- error "out of memory: 8.0 MB requested"
entry main (n: i64) : i64 = if n == 1 then 4 else loop s = n while s > 0 do if s % 7 == 3 then s + 4 else s + 1 - s % 2 + (s + 1) % 2
entry large (n: i64) : [i64] = reverse (iota n)
END
evaluators=core,flat
[ $have_device = yes ] && evaluators=core,flat,device
"$dpc" test --eval=$evaluators --timeout=0.4 --memory=1M slow.dp >tested 2>&1
[ $? -eq 1 ] && grep -q '4 passed, 1 failed' tested && grep -q 'got .*time limit of 0.4 s reached' tested || fail "dpc test --timeout: $(cat tested)"

[ "$failed" -eq 0 ] && echo "outputs: all passed"
exit $((failed > 0))
