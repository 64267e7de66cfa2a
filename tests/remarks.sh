#!/bin/sh
# dpc check --remarks: what it says of some lines, and that it is JSON for all examples. remarks.sh DPC
set -u
dpc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
examples=$(cd "$(dirname "$0")/../examples" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

cat >f.dp <<'END'
def norm (v: [f64]) : f64 =
  sqrt (sum { x * x : x in v })
entry main (vs: [[f64]]) (rounds: i64) : [[f64]] =
  loop vs = vs for _ < rounds do
    let norms = map norm vs
    in { { x / n : x in v } : v in vs; n in norms }
entry grid (n: i64) (m: i64) (xs: [i32]) : ([[i64]], i32) =
  ({ { i * m + j : j in m * 2 } : i in n },
   xs[{ i : x in xs; i in length xs | x > 0 }[0]])
entry nearest (points: [n][m]i64) (centres: [k][m]i64) : [n]i64 =
  { minimum { sum { (x - c) * (x - c) : x in p; c in q } : q in centres } : p in points }
entry kept (xs: [f64]) : ([f64], f64) =
  let ys = { x + 1.0 : x in xs }
  let zs = { exp y : y in ys }
  let halves = { z * 0.5 : z in zs }
  in (halves, sum halves)
entry costly (xs: [f64]) : [f64] =
  let ys = { x + 1.0 : x in xs }
  let zs = { exp y : y in ys }
  in { z * 0.5 : z in zs }
END
"$dpc" check --remarks f.dp >said || failed=1

says() { # says TEXT: it is a line
    grep -qxF -- "$1" said || { echo "FAILED: no remark: $1"; failed=1; }
}
says 'f.dp:4: loop of the host; in a round 3 kernels and 1 read-back'
says 'f.dp:8: map over n * m * 2, kernel grid_0_map'
says '  stores i64, 8 * n * m * 2 bytes: the result'
says 'f.dp:9: pack over length(xs), kernel grid_1_pack'
says '  one of these ways, as its segments are: path, lane, team, split, rows, tile, batches'
says '  stores f64, 8 * length(xs) bytes: the result'
says 'f.dp:16: reduce over length(xs), kernel kept_0_reduce, of `sum` (stdlib/prelude.dp:82)'
says 'f.dp:19: map over length(xs), kernel costly_0_map' # the line that costs most
says 'f.dp:11: nest of length(points) instances, two versions'
says '  each in a lane, from nest-lanes on (64, on a GPU 16384), where its reductions, which share what they read, are shorter than nest-shared (8): nearest_2_map'
"$dpc" dump --stage=plan f.dp | grep -q 's21_many : bool = many x10 [0-9]* 0 s18_k s5_m -- from nest-lanes on, below nest-shared: the version by lanes' ||
    { echo "FAILED: the plan does not show the condition of a version"; failed=1; }

"$dpc" build --remarks -o f f.dp >built || failed=1
cmp -s said built || { echo "FAILED: dpc build --remarks says something else"; failed=1; }
if command -v python3 >/dev/null 2>&1; then
    "$dpc" check --remarks=json f.dp "$examples"/*/*.dp >json || failed=1
    python3 - <<'END' || failed=1
import json
remarks = [json.loads(line) for line in open("json")]
mine = [r for r in remarks if r["place"]["file"] == "f.dp"]
kernels = {r["kernel"]: r for r in mine if r["remark"] == "kernel"}
totals = [r for r in kernels.values() if r["place"]["line"] == 2 and r["operation"] == "reduce"]
assert sorted(r["regular"] for r in totals) == [False, True], totals # a version for rows of one length, and one for others
total = next(r for r in totals if not r["regular"])
assert total["library"]["function"] == "sum", total
assert (total["types"], total["bytes"]) == ("f64", "8 * length(vs)"), total
assert kernels["grid_0_map"]["regular"], kernels["grid_0_map"]
assert kernels["nearest_2_map"]["lane"] and not kernels["nearest_3_map"]["lane"], kernels
assert kernels["nearest_2_map"]["ways"] is None and kernels["nearest_4_reduce"]["ways"] == ["path", "lane", "team", "split", "rows", "tile", "batches"]
nest = next(r for r in mine if r["remark"] == "nest" and r["place"]["line"] == 11)
assert (nest["elements"], nest["lane_from"], nest["lane_below"]) == ("length(points)", "nest-lanes", "nest-shared"), nest
assert nest["lane"] == ["nearest_2_map"] and "nearest_4_reduce" in nest["flat"], nest
assert len({r["place"]["file"] for r in remarks}) > 50
END
fi
exit $failed
