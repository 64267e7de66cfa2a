#!/bin/sh
# --profile: rows by lines, which add up to the run's time; the result is the same. profile.sh DPC
set -u
dpc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
"$dpc" devices >/dev/null 2>&1 || { echo "no OpenCL device: profiles are not tested"; exit 0; }
command -v python3 >/dev/null 2>&1 || { echo "python3 is not installed: profiles are not tested"; exit 0; }
library=$(cd "$(dirname "$0")/../stdlib" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export DP_PARAMS=loops=flat # rounds of loops are launches, which is what is counted here

cat >steps.dp <<'END'
import "module"
def squares (xs: [f64]) : [f64] = { x * x : x in xs }
entry main (n: i64) (xs: [f64]) : [f64] =
  let (ys, _) = loop (ys, k) = (xs, 0) while k < n do (twice ys, k + 1)
  in { y + sum ys : y in squares ys }
entry fails (n: i64) : i64 = { i / (i - 3) : i in n }[0]
entry nothing : i64 = 1
entry sorts (xss: [[i32]]) : [i32] =
  let yss = { unique xs : xs in xss }
  in { max (largest ys) ys[length ys - 1] : ys in yss }
entry nests (n: i64) (rows: [[i64]]) : [i64] =
  loop sums = [0] for i < n do
    { minimum { sum { (x - y) * (x - y) : x in p; y in q } : q in rows } : p in if i == 0 then rows[:1] else rows }
entry sums (n: i64) (rows: [[i64]]) : i64 = loop s = 0 for i < n do s + sum { sum row : row in rows[i:] }
entry scans (n: i64) (each: i64) : i64 =
  let xs = iota (n * each)
  let lens = scan (\_a b -> b) 0 { each : _ in n }
  in last (flatten { scan (+) 0 row : row in nest xs lens })
entry product (n: i64) : f32 =
  let a = { { f32 (i + j) : j in n } : i in n }
  in (matmul a a)[n - 1][0]
entry near (n: i64) (k: i64) : f32 =
  let ps = { { f32 (i * (j + 3) % 97) : j in k } : i in n }
  in maximum { minimum { sum { (x - y) * (x - y) : x in p; y in q } : q in ps } : p in ps }
entry columns (n: i64) (m: i64) : f32 =
  let a = { { f32 (i * (j + 3) % 97) : j in m } : i in n }
  in maximum { sum column : column in transpose a }
END
echo 'def twice (xs: [f64]) : [f64] = { if x > 1e6 then x else 2.0 * x : x in xs }' >module.dp
echo 'def largest (xs: [i32]) : i32 = maximum xs' >>module.dp
"$dpc" build steps.dp || exit 1
cat >check.py <<'END'
import json, os, subprocess, sys, time

def run(*words, **shape):
    begin = time.monotonic()
    env = {**os.environ, **{"DP_" + k.upper(): v for k, v in shape.items()}}
    p = subprocess.run(["./steps", *words], capture_output=True, text=True, env=env)
    return p.returncode, p.stdout, p.stderr, (time.monotonic() - begin) * 1e6

def line_of(text):
    return next(i for i, line in enumerate(open(sys.argv[1] + "/prelude.dp"), 1) if line.startswith(text))

plain = run("20", "[1, 2, 3]")
status, out, text, wall = run("20", "[1, 2, 3]", "--profile=json")
assert (status, out) == plain[:2] and status == 0, (status, out, plain)
p = json.loads(text)
rows = p["rows"]
total = sum(r["us"] for r in rows)
assert abs(total - p["us"]) <= 0.05 * p["us"], (total, p["us"])
spent = total + p["copy"]["us"]  # measuring a copy is no part of the run
assert 0.5 * wall <= spent <= wall, (total, p["copy"], wall)
assert abs(sum(l["us"] for l in p["lines"]) - total) <= 0.1 + 0.1 * len(p["lines"]), (p["lines"], total)
for l in p["lines"]:
    assert abs(l["us"] - l["kernels_us"] - l["waits_us"] - l["host_us"]) <= 0.3, l
    assert l["us"] >= 0, l
assert all(r["us"] >= 0 for r in rows), rows
lines = [(r["file"], r["line"], str(r.get("library")), r.get("runtime")) for r in rows if "file" in r]
assert len(set(lines)) == len(lines), lines
by_line = {(r["file"], r["line"]): r for r in rows if "function" in r}
twice = by_line[("module.dp", 1)]
assert (twice["function"], twice["count"]) == ("twice", 20), twice
assert (twice["read"], twice["written"], twice["bytes"]) == (20 * 3 * 8, 20 * 3 * 8, 20 * 3 * 16), twice
line = next(l for l in p["lines"] if (l.get("file"), l.get("line")) == ("module.dp", 1))
assert (line["launches"], line["read"], line["function"]) == (20, 20 * 3 * 8, "twice"), line
assert line["text"].startswith("def twice (xs"), line
assert ("steps.dp", 5) in by_line and by_line[("steps.dp", 5)]["function"] == "main", by_line
phases = {r["phase"]: r for r in rows if "phase" in r}
for phase in "host", "reading arguments", "opening the device", "compiling kernels", "read-backs", "writing the result":
    assert phases[phase]["us"] > 0, (phase, phases)
assert phases["arguments to the device"]["bytes"] == 24 and phases["result from the device"]["bytes"] == 24, phases
assert sum(r["count"] for r in rows if "phase" not in r) == p["launches"], p

status, out, text, _ = run("20", "[1, 2, 3]", "--profile")
assert (status, out) == plain[:2] and "module.dp:1 twice  def twice" in text and "(compiling kernels)" in text, text
# What the library does for a line names the library's line, too: of the innermost definition.
status, out, text, _ = run("--entry", "sorts", "[[3, 1, 2], [2, 1]]", "--profile=json")
assert (status, out) == (0, "[3, 2]\n"), (status, out, text)
calls = {(r["file"], r["line"], r["function"]): r["library"] for r in json.loads(text)["rows"] if "library" in r}
prelude = {"file": "stdlib/prelude.dp", "line": line_of("def unique") + 2, "function": "unique"}
assert calls[("steps.dp", 9, "sorts")] == prelude, calls
# … and what the runtime does is at the line that needs it.
sorting = [r for r in json.loads(text)["rows"] if "runtime" in r and r.get("line") == 9]
assert sorting and all(r["file"] == "steps.dp" for r in sorting), text
assert calls[("module.dp", 2, "largest")]["function"] == "maximum", calls
status, out, text, _ = run("--entry", "sorts", "[[3, 1, 2], [2, 1]]", "--profile")
assert "steps.dp:9 sorts  let yss" in text and ", stdlib/prelude.dp:%d unique" % prelude["line"] in text, text

# Which version of a nest ran how often, and which way a segmented reduction went.
def ways(line, *words):
    status, _, text, _ = run(*words, "--profile=json")
    assert status == 0, text
    return [(w["way"].split(":")[0], w["count"]) for r in json.loads(text)["rows"] if r.get("line") == line
            for w in r.get("ways", []) if ("nest" in r or words[1] == "sums") and not w["way"].startswith("loop of ")]

rows = "[[1, 2], [3, 4], [5, 6]]"
assert ways(13, "--entry", "nests", "4", rows) == [("flat", 4)], ways(13, "--entry", "nests", "4", rows)
assert ways(13, "--entry", "nests", "4", rows, "--param", "nest=lane") == [("lane", 4)]
assert sorted(ways(13, "--entry", "nests", "4", rows, "--param", "nest-lanes=2")) == [("flat", 1), ("lane", 3)]
assert ways(14, "--entry", "sums", "3", rows, "--param", "segreduce=lane") == [("lane", 3)]
status, out, text, _ = run("--entry", "nests", "4", rows, "--profile", "--param", "nest-lanes=2")
assert "- versions of a nest [1 x flat: 1 instances; 3 x lane: 3 instances]\n" in text, text
status, out, text, _ = run("--entry", "nests", "1", rows, "--profile")
assert "- versions of a nest [flat: 1 instances]\n" in text, text

# Products of matrices go by the tiles that they fill, and that fill the device.
def tiles(n):
    status, _, text, _ = run("--entry", "product", n, "--profile=json", shape="gpu")
    assert status == 0, text
    return [w["way"].split(":")[0] for r in json.loads(text)["rows"] for w in r.get("ways", []) if "tile" in w["way"]]

def ways_near(shape):
    status, _, text, _ = run("--entry", "near", "200", "3", "--profile=json", "--param", "nest=flat", shape=shape)
    assert status == 0, text
    return [w["way"].split(" ")[0] for r in json.loads(text)["rows"] for w in r.get("ways", []) if "3.0" in w["way"]]

assert ways_near("cpu") == ["tile"], ways_near("cpu")  # of rows of 3: a CPU's tiles are worth it for any length
status, _, text, _ = run("--entry", "columns", "100", "300", "--profile=json", shape="cpu")
by = {w["way"].split(" ")[0] for r in json.loads(text)["rows"] for w in r.get("ways", [])}
assert status == 0 and "tile" in by and "flat:" in by, text  # of columns that lie side by side
assert tiles("80") == ["tile of 32 x 32"], tiles("80")  # 64 x 64 would stay empty by more than half

# dpc profile: the same table on standard output, the result only where -o says; failures and statuses as of dpc run.
def dpc(*words):
    p = subprocess.run([sys.argv[2], *words], capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr

status, out, err = dpc("profile", "steps.dp", "20", "[1, 2, 3]", "-o", "result")
assert (status, err, open("result").read()) == (0, "", plain[1]), (status, err)
assert "module.dp:1 twice  def twice" in out and "(opening the device)" in out and "GB/s, read and written" in out, out
status, out, err = dpc("profile", "steps.dp", "20", "[1, 2, 3]", "-r", "4", "--json")
p = json.loads(out)
phases = {l["phase"] for l in p["lines"] if "phase" in l}
assert "opening the device" not in phases and "writing the result" not in phases, phases
twice = next(l for l in p["lines"] if l.get("function") == "twice")
assert (twice["launches"], twice["read"], twice["written"]) == (20, 20 * 3 * 8, 20 * 3 * 8), twice
assert {"file": "module.dp", "line": 1, "function": "twice"} not in [f for r in p["rows"] for f in r.get("fused", [])]
n = 1 << 16
open("saxpy.dp", "w").write("entry main (xs: [f32]) (ys: [f32]) : [f32] = { 2.0 * x + y : x in xs; y in ys }\n")
open("sums.dp", "w").write("entry main (n: i64) (ks: [f32]) : [[f32]] =\n  { { f32 j * k : j in n } : k in ks }\n"
                           "entry kept (xs: [i64]) : [i64] = { x in xs | x > 1 }\n"
                           "entry sorted (xs: [i32]) : [i32] = sort xs\n"
                           "entry corner (m: [r][c]f32) : [f32] = { m[i][1] : i in r }\n"
                           "entry both (xs: [f64]) : ([f64], f64) = let ys = { 2.0 * x : x in xs } in (ys, sum ys)\n")
assert dpc("eval", "\\(n: i64) -> { f32 i : i in n }", str(n), "-o", "xs.npy")[0] == 0
def line(number, *words):
    status, out, err = dpc("profile", *words, "--json")
    assert (status, err) == (0, ""), (words, err)
    return next(l for l in json.loads(out)["lines"] if l.get("line") == number)
one = line(1, "saxpy.dp", "xs.npy", "xs.npy")
assert (one["read"], one["written"], one["launches"]) == (8 * n, 4 * n, 1), one
assert 0 < one["of_copy"], one
rows = line(2, "sums.dp", "8", "[1, 2, 3]")  # k is read once a segment
assert (rows["read"], rows["written"]) == (3 * 4, 3 * 8 * 4), rows
kept = line(3, "sums.dp", "--entry", "kept", "[1, 2, 3, 4]")  # what is kept is written, and no more
assert (kept["read"], kept["written"]) == (4 * 8, 3 * 8), kept
sort = line(4, "sums.dp", "--entry", "sorted", "[3, 1, 2]")  # of the runtime, too
assert sort["read"] >= 3 * 4 and sort["written"] >= 3 * 4, sort
corner = line(5, "sums.dp", "--entry", "corner", "[[1, 2, 3], [4, 5, 6]]")  # rows of one length: no views
assert (corner["read"], corner["written"]) == (2 * 4, 2 * 4), corner
both = line(6, "sums.dp", "--entry", "both", "[1, 2, 3]")  # what a reduction keeps is written
assert (both["read"], both["written"]) == (3 * 8, 3 * 8), both
assert dpc("profile", "steps.dp", "--entry", "fails", "5") == (1, "", dpc("run", "steps.dp", "--entry", "fails", "5")[2])
assert dpc("profile", "steps.dp", "--entry", "nothing")[0] == 0
assert dpc("profile", "steps.dp", "--entry", "nil")[::2] == (2, "error: there is no entry nil; --help shows the options\n")
assert dpc("profile", "steps.dp", "--eval=core")[0] == 2 and dpc("profile", "steps.dp", "-r", "0")[0] == 2
assert dpc("profile", "steps.dp", "20", "[1]", "-o", "steps.dp")[0] == 2 and "import" in open("steps.dp").read()

# Timelines: the format of trace events; what lies within something ends within it; durations are those of the table.
def events(path):
    t = json.load(open(path))
    all, ends = t["traceEvents"], {}
    assert t["otherData"]["missing_events"] == 0 and t["otherData"].get("clock_known_to_us", 0) >= 0, t["otherData"]
    assert [e["ts"] for e in all] == sorted(e["ts"] for e in all)
    assert {e["ph"] for e in all} == {"M", "X"}
    for e in all:
        if e["ph"] == "X":
            stack = ends.setdefault(e["tid"], [])
            end = e["ts"] + e["dur"]
            while stack and stack[-1] <= e["ts"] + 1e-6:
                stack.pop()
            assert not stack or end <= stack[-1] + 1e-6, (e, stack)
            assert e["tid"] == 1 or not stack, ("overlap on a track without nesting", e)
            stack.append(end)
    names = {e["tid"]: e["args"]["name"] for e in all if e["name"] == "thread_name"}
    return [(names[e["tid"]], e) for e in all if e["ph"] == "X"]

def traced(*words, runs=1):
    status, out, err = dpc("profile", *words, "--json", "--trace", "t.json")
    assert (status, err) == (0, ""), (words, status, err)
    table, found = json.loads(out), events("t.json")
    for line in {(e["args"]["at"]) for track, e in found if track == "kernels"}:
        l = next((l for l in table["lines"] if f"{l.get('file')}:{l.get('line')}" == line), None)
        us = sum(e["dur"] for track, e in found if track == "kernels" and e["args"]["at"] == line) / runs
        assert l is None or abs(us - l["kernels_us"]) <= 0.06 + 0.002 * l["launches"], (line, us, l)
        assert l or not line, line
    kernels = [e for track, e in found if track == "kernels"]
    assert len(kernels) == runs * sum(l["launches"] for l in table["lines"]), (len(kernels), table)
    for track in "compiling kernels", "arguments to the device", "result from the device":
        us = sum(e["dur"] for _, e in found if e["name"] == track) / runs
        said = next((r["us"] for r in table["rows"] if r.get("phase") == track), 0)
        assert abs(us - said) <= 1 + 2 * len(kernels), (track, us, said)
    return found

found = traced("steps.dp", "20", "[1, 2, 3]")
kernels = [e for track, e in found if track == "kernels"]
assert all(e["args"]["line"] > 0 and e["args"]["elements"] > 0 for e in kernels), kernels
assert [e["name"] for track, e in found if track == "host" and e["name"].startswith("round")] == [f"round {i}" for i in range(20)]
loop = next(e for _, e in found if e["name"] == "loop")
assert loop["args"]["at"] == "steps.dp:4" and loop["dur"] >= sum(e["dur"] for _, e in found if e["name"].startswith("round ")), loop
first = next(e for e in kernels if e["args"]["at"] == "module.dp:1")
assert (first["args"]["read"], first["args"]["written"], first["args"]["function"]) == (24, 24, "twice"), first
open("hull.dp", "w").write("""def quick (xs: [i64]) : [i64] =
  if length xs < 2 then xs
  else
    let p = xs[length xs / 2]
    in flatten { quick part : part in [{ x in xs | x < p }, { x in xs | x > p }] }
entry main (n: i64) : [i64] = quick { (i * 37) % 101 : i in n }
entry spmv (rows: [[(i64, f64)]]) (x: [f64]) : [f64] = { sum { v * x[j] : (j, v) in row } : row in rows }
""")
levels = {e["name"] for track, e in traced("hull.dp", "100") if track == "host"}
assert {"main", "reading arguments", "opening the device"} <= levels, levels
assert any(name.startswith("quick") and name.endswith(" 3") for name in levels), levels
ways = [e["args"].get("way") for t, e in traced("hull.dp", "--entry", "spmv", "[[(0, 1), (1, 2)], [(1, 3)]]", "[1, 2]") if t == "kernels"]
assert any(w and ": mean" in w for w in ways), ways
assert not [e for track, e in traced("steps.dp", "--entry", "nothing") if track == "kernels"]
assert [e["name"] for t, e in traced("steps.dp", "2", "[1]", "-r", "3", runs=3) if t == "host"].count("main") == 3
assert dpc("profile", "steps.dp", "--entry", "fails", "5", "--trace", "none.json")[0] == 1 and not os.path.exists("none.json")
assert dpc("profile", "steps.dp", "20", "[1]", "--trace", "steps.dp")[0] == 2 and "import" in open("steps.dp").read()
assert dpc("profile", "steps.dp", "20", "[1]", "--trace", "r.txt", "-o", "r.txt")[0] == 2
assert run("20", "[1, 2, 3]", "--profile=json,trace:own.json")[:2] == plain[:2]
assert "kernels" in {track for track, _ in events("own.json")}



# A scan over rows that are too long for an item each does not ask how long they are: the host waits once less.
def waits(n, each):
    status, out, text, _ = run("--entry", "scans", n, each, "--profile=json", "--param", "look-back=always", shape="gpu")
    assert (status, int(out)) == (0, sum(range(int(n) * int(each))[-int(each):])), (n, each, out, text)
    return json.loads(text)["read_backs"]

assert waits("600", "100") < waits("6000", "10"), (waits("600", "100"), waits("6000", "10"))
assert run("--entry", "fails", "5", "--profile")[:2] == run("--entry", "fails", "5")[:2] == (1, ""), "a failing run"
assert run("--entry", "nothing", "--profile=json")[:2] == (0, "1\n")
assert run("--entry", "nothing", "--profile=xml")[0] == 2
END
python3 check.py "$library" "$dpc" && echo "profile: all passed"
