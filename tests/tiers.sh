#!/bin/sh
# When kernels are compiled quickly, when they are optimised, and when contracted, and that all do the same: tiers.sh DPC. On PoCL only, for other devices
# have one tier.
dpc=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
fail() { echo "FAILED: $*"; failed=1; }
export XDG_CACHE_HOME="$folder/cache"
unset POCL_CACHE_DIR DP_TIER DP_NO_CACHE

cat >"$folder/tiers.dp" <<'DP'
entry grad (n: i64): [f64] = { let x = f64 i / 7.0 in x * x * x + 3.0 * x + sqrt x : i in n }
entry sums (n: i64): [f64] =
  let rows = { { f64 (i * 7 + j) / 3.0 : j in i % 5 } : i in n }
  in { sum r : r in rows } ++ [sum { 1.0 / f64 (i + 1) : i in n }] ++ scan (+) 0.0 { sin (f64 i) : i in n }
entry sorted (n: i64): [i64] = sort { i * 7919 % 10007 : i in n }
entry looped (n: i64): i64 = sum { loop x = i for j < 10 do x * 3 + j : i in n }
DP
"$dpc" build "$folder/tiers.dp" -o "$folder/tiers" || exit 1
"$folder/tiers" --list-devices | grep -q '^#0 Portable Computing Language' || { echo "no PoCL: nothing tested"; exit 0; }

# built ENTRY N: what is built for it, as words; the result is in $folder/result.
built() {
    rm -rf "$folder/kernels"
    mkdir "$folder/kernels"
    DP_DUMP_KERNELS="$folder/kernels" "$folder/tiers" --entry "$1" "$2" >"$folder/result" || fail "$1 $2 does not run"
    ls "$folder/kernels" | sed 's/_[cg]pu.*//' | sort -u | tr '\n' ' '
}
expect() { # expect WHAT FOUND WANTED
    [ "$2" = "$3" ] || fail "$1: built '$2', not '$3'"
}

# Little work is done by quick code, a lot of it by optimised code.
expect "a small map" "$(built grad 1000)" "dp_quick "
expect "a large map" "$(built grad 3000000)" "grad_0_map "
expect "the small map again" "$(built grad 1000)" "grad_0_map "
expect "a loop" "$(built looped 10)" "looped_0_reduce "
# The work of several runs adds up.
times=0
while ! built sorted 100000 | grep -q dp_sort && [ $times -lt 20 ]; do times=$((times + 1)); done
[ $times -gt 1 ] || fail "sorted 100000 is optimised after $times runs"
[ $times -lt 20 ] || fail "sorted 100000 is never optimised"
# DP_TIER forces one, and -r takes the times of optimised code.
expect "DP_TIER=quick" "$(DP_TIER=quick built looped 3000000)" "dp_quick "
expect "DP_TIER=optimised" "$(DP_TIER=optimised built sums 10)" "dp_lengths sums_0_map sums_1_reduce sums_2_reduce sums_3_scan sums_4_map "
mkdir "$folder/timed"
DP_DUMP_KERNELS="$folder/timed" "$folder/tiers" --entry sums -r 1 10 >/dev/null
ls "$folder/timed" | grep -q quick && fail "-r 1 runs quick code"
# Both give the same bits.
for case in 'cpu grad 100000' 'cpu sums 100000' 'cpu sorted 100000' 'cpu looped 1000' 'gpu sums 1000' 'gpu sorted 1000'; do
    set -- $case
    export DP_SHAPE=$1
    DP_TIER=quick built "$2" "$3" >/dev/null
    mv "$folder/result" "$folder/quick"
    DP_TIER=optimised built "$2" "$3" >/dev/null
    cmp "$folder/quick" "$folder/result" || fail "$case: the tiers differ"
done
# In the GPU's shape each kernel is a program of its own, by the same text in both tiers, in which there is no other.
single() { [ "$(grep -o '^DP_KERNEL void [A-Z_(]*[a-z0-9_]*' "$folder/kernels/$1" | sort -u | wc -l)" = 1 ] || fail "$1 has not one kernel"; }
for tier in quick optimised; do
    expect "DP_SHAPE=gpu DP_TIER=$tier" "$(DP_TIER=$tier built sums 10)" "dp_lengths sums_0_map sums_1_reduce sums_2_reduce sums_3_scan sums_4_map "
    for text in "$folder"/kernels/sums_*; do single "${text##*/}"; done
    single dp_lengths_gpu_v0_m0.dp_lengths_write.cl
done
DP_TIER=quick built sorted 1000 >/dev/null
for text in "$folder"/kernels/dp_sort_gpu_v0_m0.*; do single "${text##*/}"; done
unset DP_SHAPE
# Kernels that are the same but for names and places are built once, and profiles call them by their own.
cat >"$folder/same.dp" <<'DP'
entry main (n: i64): (f64, f64) =
  (sum (sort { sqrt (f64 i) : i in n }),
   sum (sort { cos (f64 i) : i in n + 1 }))
DP
mv "$folder/tiers" "$folder/kept"
"$dpc" build "$folder/same.dp" -o "$folder/tiers" || exit 1
for shape in cpu gpu; do
    export DP_SHAPE=$shape
    DP_TIER=optimised built main 10 | grep -q 'main_1_reduce main_2_map $' || fail "$shape: the second sum is built, too"
    DP_TIER=optimised "$folder/tiers" 10 --profile 2>&1 >/dev/null | grep -q '1 x main_3_reduce' || fail "$shape: the second sum is not in the profile"
done
unset DP_SHAPE
mv "$folder/kept" "$folder/tiers"
# Without a cache nothing is remembered.
export DP_NO_CACHE=1
expect "the small map without a cache" "$(built grad 1000)" "dp_quick "
unset DP_NO_CACHE

# contract=1: a product less what it is when rounded is not zero any more, where the device has such an instruction; nothing that is
# decided by floats is contracted, nor are functions, nor is anything by itself; what is exact stays so, in all evaluators.
cat >"$folder/contract.dp" <<'DP'
def xs (n: i64) : [f32] = { f32 (i % 1000) / 7.0 : i in n }
entry rest (n: i64) (squares: [f32]) : [f32] = { x * x - y : x in xs n; y in squares }
entry squares (n: i64) : [f32] = { x * x : x in xs n }
entry kept (n: i64) (squares: [f32]) : [f32] = { x * x - y : x in xs n; y in squares | x * x - y >= 0.0 }
entry places (n: i64) (squares: [f32]) : [f32] = { squares[max 0 (i64 (x * x + y) % n)] : x in xs n; y in squares }
entry chosen (n: i64) (squares: [f32]) : [f32] = { if x > 3.0 then x * x - y else 1.0 : x in xs n; y in squares }
entry functions (n: i64) (_: [f32]) : [f64] = { let x = f64 i / 7.0 in exp (x - 70.0) * sin x * log (x + 0.5) : i in 20 * n }
entry products (n: i64) (_: [f32]) : [[f32]] = let a = { { f32 ((i * j + i) % 9 - 4) : j in n } : i in n } in
  { { sum { x * y : x in r; y in s } : s in a } : r in a }
-- test products
-- input 4 []
-- output [[64.0, 24.0, -16.0, 16.0], [24.0, 14.0, 4.0, 3.0], [-16.0, 4.0, 24.0, -10.0], [16.0, 3.0, -10.0, 22.0]]
DP
"$dpc" build "$folder/contract.dp" -o "$folder/contract" || exit 1
export DP_DUMP_KERNELS="$folder/contracted"
contracts() { # contracts ENTRY CONTRACT: its result is in $folder/result; how many texts are contracted?
    rm -rf "$folder/contracted"
    mkdir "$folder/contracted"
    "$folder/contract" --entry "$1" --param "contract=$2" 13 "$(cat "$folder/squares")" >"$folder/result" || fail "$1 does not run"
    cat "$folder/contracted"/*.cl | grep -c '^#define DP_CONTRACT 1'
}
# 13: by scalar code; in vectors the conversion of positions is a branch, which the product goes into, away from the difference
fused=$(grep -cw -m1 fma /proc/cpuinfo)
export DP_TIER=optimised
"$folder/contract" --entry squares 13 >"$folder/squares"
for case in cpu:rest=1 gpu:rest=1 cpu:kept=0 cpu:places=0 cpu:chosen=1 cpu:functions=1 cpu:products=1; do
    export DP_SHAPE=${case%:*}
    entry=${case#*:} entry=${entry%=*}
    expect "$entry as it is" "$(contracts $entry 0)" 0
    mv "$folder/result" "$folder/rounded"
    expect "$entry contracted" "$(contracts $entry 1)" "${case#*=}"
    case $entry in kept|places|functions|products) cmp "$folder/rounded" "$folder/result" || fail "$entry differs, contracted" ;; esac
    [ $entry != rest ] || [ "$fused" = 0 ] || ! cmp -s "$folder/rounded" "$folder/result" || fail "$DP_SHAPE: contract=1 does nothing"
done
expect "contracted, but quick" "$(DP_TIER=quick contracts rest 1)" 0
"$dpc" test --eval=core,fused,flat,plan --param contract=1 "$folder/contract.dp" >"$folder/said" || { fail "products are not exact, contracted"; cat "$folder/said"; }
exit $failed
