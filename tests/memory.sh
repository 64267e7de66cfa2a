#!/bin/sh
# Memory: a heap that grows, one that may not, and limits on the address space: the right result, or a message and status 3.
# memory.sh DPC [FAKEPLAT]
set -u
dpc=$1 shim=${2-}
tests=$PWD/tests/run
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0
"$dpc" devices 2>/dev/null | grep -q "^#0" || { echo "no OpenCL device: nothing tested"; exit 0; }
export ASAN_OPTIONS=detect_leaks=0

wrong() {
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$*"
}
expect() { # STATUS 'TEXT' COMMAND…
    status=$1 text=$2
    shift 2
    got=$(timeout 120 "$@" 2>&1 </dev/null)
    rc=$?
    case $got in
        *"$text"*) [ $rc -eq "$status" ] && return ;;
    esac
    wrong "$*: status $rc, wanted $status and $text; got: $got"
}

cat >grow.dp <<'END'
entry main (n: i64) : i64 = let a = loop a = iota 10 for i < n do flatten [a, map (+ i) a] in length a + min 0 a[0]
entry many (n: i64) : [i64] = reverse (replicate n 1)
entry rows (ns: [i64]) : i64 =
  let start = { iota n : n in ns }
  in sum { sum row : row in (loop a = start for i < 10 do { row ++ { x + i : x in row } : row in a }) }
def depth (n: i64) : i64 = if n == 0 then 0 else (1 + depth (n - 1)) % 1000003
entry deep (n: i64) : i64 = depth n
END
"$dpc" build grow.dp || exit 1
rows=$("$dpc" run --eval=core grow.dp --entry rows '[3, 0, 50, 1]')
for start in 4096 100000 3000000; do
    expect 0 10485760 env DP_HEAP_START=$start ./grow 20
    expect 0 10485760 env DP_HEAP_START=$start DP_ARGUMENTS=buffer DP_POISON=1 ./grow 20
    expect 0 "$rows" env DP_HEAP_START=$start DP_POISON=1 DP_COMPACT=1 ./grow --entry rows '[3, 0, 50, 1]'
done
# The heap grows, and the host looks, while a filter's columns become arrays of rows.
cat >sorts.dp <<'END'
def quick (xs: [i32]) : [i32] =
  if length xs < 2 then xs
  else let p = xs[length xs / 2]
       let parts = { quick ys : ys in [{ x in xs | x < p }, { x in xs | x > p }] }
       in parts[0] ++ { x in xs | x == p } ++ parts[1]
entry main (n: i64) : i64 =
  let rows = { { i32 ((x * x * 7919 + x * 7) % 601) : x in { i * 37 + j : j in i * 31 % 27 } } : i in iota n }
  in sum { if all (\(a, b) -> a == b) (zip (quick r) (sort r)) then 0 else 1 : r in rows }
END
"$dpc" build sorts.dp || exit 1
for n in 225 300 400; do
    for start in 12288 16384 18432 21504 24576 32768; do
        got=$(DP_HEAP_START=$start ./sorts $n)
        [ "$got" = 0 ] || wrong "sorts $n with a heap of $start bytes: $got rows"
    done
done
# Views, updates in place, compaction and recursion while the heap grows.
for program in $(cd "$tests" && grep -L '^-- expect' *.dp | awk 'NR % 30 == 7'); do # compaction takes launches
    expect 0 ' on device' env DP_HEAP_START=4096 DP_POISON=1 DP_COMPACT=1 "$dpc" test --eval=device "$tests/$program"
done

# A device of its own memory, which has no room for the old heap and the new one: the contents wait on the host.
if [ -n "$shim" ] && [ -z "${DPC_SANITIZED-}" ]; then # a sanitizer has to be the first library
    for most in 180000000 220000000 300000000; do
        expect 0 10485760 env LD_PRELOAD="$shim" FAKEPLAT_MEMORY=$most DP_HEAP=$most DP_HEAP_START=1000000 ./grow 20
    done
    expect 3 'grow.dp:1:67: error: out of memory: 83.9 MB requested, ' \
        env LD_PRELOAD="$shim" FAKEPLAT_MEMORY=150000000 DP_HEAP_START=1000000 ./grow 20
    expect 0 "$rows" env LD_PRELOAD="$shim" FAKEPLAT_MEMORY=1000000 DP_HEAP_START=100000 DP_POISON=1 ./grow --entry rows '[3, 0, 50, 1]'
fi

# What is said: how much was wanted, how much there is.
expect 3 'grow.dp:1:67: error: out of memory: 41.9 MB requested, 8.1 MB free of 50.0 MB' env DP_HEAP=50000000 DP_HEAP_START=4096 ./grow 20
expect 3 'grow.dp:2:31: error: out of memory: 8.0 PB requested, 0.1 GB free of 0.1 GB' env DP_HEAP=100000000 ./grow --entry many 1000000000000000
expect 3 'out of memory: more than 9.2 EB requested' ./grow --entry many 4611686018427387904

# A recursion that grows without an end: the level that cannot be complete is not begun; one that just fits is.
cat >grows.dp <<'END'
def t (x: i64) (y: i64) (z: i64) : i64 = if y == x then z else t (t (x+1) y z) (t (y-1) z x) (t (z-1) x y)
entry main (xs: [i64]) : [i64] = { t x 3 4 : x in xs }
def tree (n: i64) (x: i64) : i64 = if n == 0 then x else tree (n - 1) (x + 1) + tree (n - 1) (x * 2) + tree (n - 1) (x - 1)
entry fits (n: i64) : [i64] = { tree n i : i in 2 }
END
"$dpc" build grows.dp || exit 1
expect 3 'grows.dp:1:67: error: out of memory: 0.1 GB requested, 92.5 MB free of 0.1 GB, in level 14 of the recursion of t' ./grows --memory 100000000 '[1, 2]'
expect 3 'grows.dp:1:67: error: out of memory: 0.1 GB requested, 27.3 MB free of 0.1 GB, in level 14 of the recursion of t' \
    "$dpc" run --eval=flat grows.dp --memory 100000000 '[1, 2]'
for eval in core fused; do
    expect 1 'recursion too deep' "$dpc" run --eval=$eval grows.dp --memory 100000000 '[1, 2]'
done
fits=$("$dpc" run --eval=core grows.dp --entry fits 10)
expect 0 "$fits" env DP_PARAMS=nest=flat DP_HEAP=6000000 DP_POISON=1 ./grows --entry fits 10
expect 3 'grows.dp:3:58: error: out of memory: 3.1 MB requested, 2.1 MB free of 2.7 MB, in level 10 of the recursion of tree' \
    env DP_PARAMS=nest=flat DP_HEAP=2700000 ./grows --entry fits 10

# Nothing is stored of what is summed up: as much as can be counted in a reasonable time, and no more.
cat >count.dp <<'END'
entry main (n: u64) : i64 = sum { 1 : _i in n }
entry rows (ns: [i64]) : [i64] = { sum { i : i in n } : n in ns }
entry bins (n: i64) : [i64] = histogram 2 { i % 2 : i in n }
END
"$dpc" build count.dp || exit 1
for n in 281474976710657 9223372036854775808; do
    for run in './count' "$dpc run --eval=fused count.dp"; do
        expect 3 'count.dp:1:29: error: too many elements: ' $run $n
        expect 3 'at most 281474976710656 are counted' $run $n
        expect 3 'count.dp:2:36: error: too many elements: ' $run --entry rows '[1, 703687441776640]'
        expect 3 'are counted' $run --entry bins 4611686018427387904
    done
    for eval in core flat; do
        expect 3 'error: out of memory: ' "$dpc" run --eval=$eval count.dp $n
    done
done
for run in './count' "$dpc run --eval=fused count.dp"; do
    expect 6 'time limit of 0.5 s reached' $run --timeout 0.5 281474976710656
done

# ulimit -v, in MB. PoCL ends the process where it gets no memory, so there is a message before.
for limit in 100 400 700; do
    expect 3 'out of memory: opening a device takes 680 MB of address space' sh -c "ulimit -v ${limit}000; ./grow 5"
done
for limit in 850 1200 2500 6000; do
    expect 0 320 sh -c "ulimit -v ${limit}000; ./grow 5"
done
expect 3 'grow.dp:1:67: error: out of memory: ' sh -c 'ulimit -v 1200000; ./grow 25'

# ulimit -s, in kB: cold kernels, too.
for limit in 32 64 128 1024 unlimited; do
    wanted='0 [1]'
    if [ $limit = 32 ]; then wanted='3 out of memory: building kernels takes 64 kB of stack'; fi
    expect "${wanted%% *}" "${wanted#* }" sh -c "ulimit -s $limit; DP_NO_CACHE=1 POCL_CACHE_DIR=$folder/cold$limit ./grow --entry many 1"
    for eval in core flat; do
        expect 0 320 sh -c "ulimit -s $limit; '$dpc' run --eval=$eval grow.dp 5"
    done
done
expect 1 'recursion too deep' sh -c 'ulimit -s 64; ./grow --entry deep 100000000'

[ "$failed" -eq 0 ] && echo "memory: all passed"
exit $((failed > 0))
