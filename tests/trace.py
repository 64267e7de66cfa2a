#!/usr/bin/env python3
"""dpc run --trace: docs/traces.md holds, on programs of all kinds. trace.py path/to/dpc"""
import json
import os
import subprocess
import sys
import tempfile

DPC = sys.argv[1]
SCRATCH = tempfile.mkdtemp()
FILE = os.path.join(SCRATCH, "t.jsonl")
failures = 0


def check(what, holds):
    global failures
    if not holds:
        failures += 1
        print("FAILED:", what)


def trace(program, words, evaluator, status=0, stdin=""):
    if os.path.exists(FILE):
        os.remove(FILE)
    run = subprocess.run([DPC, "run", "--eval=" + evaluator, "--trace", FILE, program, *words], input=stdin,
                         capture_output=True, text=True, timeout=120)
    check(f"{program} on {evaluator}: status {run.returncode}: {run.stderr}", run.returncode == status)
    with open(FILE, encoding="utf-8") as f:
        return [json.loads(line) for line in f], run.stdout


def whole(items):
    return not any(isinstance(x, dict) for x in items)


def check_value(v, contexts):
    """A value agrees with itself, and with its context as it was bound last."""
    if v["kind"] == "context":
        contexts[v["name"]] = v
        offsets = v.get("offsets")
        if offsets and whole(offsets):
            check("offsets ascend to the length", offsets == sorted(offsets) and offsets[-1] == v["length"])
        if "map" in v and whole(v["map"]):
            check("a map has its context's length", len(v["map"]) == v["length"])
        return
    value = v.get("value")
    if v["kind"] == "column" and "context" in v:  # not of a plan
        context = contexts.get(v["context"])
        check("a column is as long as its context", context is None or context["length"] == v["length"])
    if "views" in v and whole(v["views"]) and whole(value):
        for view, part in zip(v["views"], value):
            if part is not None and whole(part):
                check("a view is as long as its array", view[0] == len(part))
    if isinstance(value, list) and whole(value):  # a plan's arrays have none
        check("a value is as long as it says", v["length"] == len(value))


def check_trace(lines, evaluator):
    check("the head is first", lines[0]["event"] == "trace" and lines[0]["evaluator"] == evaluator)
    statements = [x for x in lines if x["event"] == "statement"]
    check("statements are numbered", [s["id"] for s in statements] == list(range(len(statements))))
    check("statements lie in earlier ones", all(s["within"] is None or s["within"] < s["id"] for s in statements))
    events = lines[1 + len(statements):]
    check("events are numbered", [e["n"] for e in events] == list(range(len(events))))
    depth, contexts = 0, [{}]
    for e in events:
        check("a statement is one that was listed", e.get("statement", 0) < max(len(statements), 1))
        if e["event"] == "call":
            contexts.append({})
        for v in e.get("params", []) + e.get("outs", []) + (e.get("results", []) if e["event"] == "return" else []):
            check_value(v, contexts[-1])
        depth += {"call": 1, "return": -1}.get(e["event"], 0)
        if e["event"] == "return":
            contexts.pop()
    cut = any(e["event"] == "cut" for e in events)
    failed = events[-1]["event"] == "failure"
    check("calls return", cut or failed or depth == 0)
    check("the end is last", events[-1]["event"] in ("result", "failure"))
    return statements, events


def program(name, text):
    path = os.path.join(SCRATCH, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def check_examples():
    for name, words in (("spmv", ["[[(0, 2), (2, 1)], [], [(1, 3)]]", "[1, 2, 3]"]), ("quicksort", ["[3, 1, 2, 9, 3]"]),
                        ("quickhull", ["[(0,0), (4,0), (4,3), (0,3), (2,1), (1,2)]"]), ("collatz", []), ("mergesort", [])):
        path = f"examples/{name}/{name}.dp"
        stdin = "" if words else open(f"examples/{name}/{name}.in", encoding="utf-8").read()
        results = []
        for evaluator in ("core", "fused", "flat"):
            lines, _ = trace(path, words, evaluator, stdin=stdin)
            _, events = check_trace(lines, evaluator)
            results.append([r["value"] for r in events[-1].get("results", [])])
        check(f"{name}: the evaluators have one result", results[0] == results[1] == results[2] and results[0])


def check_details():
    spmv = ("examples/spmv/spmv.dp", ["[[(0, 2), (2, 1)], [], [(1, 3)]]", "[1, 2, 3]"])
    lines, _ = trace(*spmv, "flat")
    again, _ = trace(*spmv, "flat")
    check("two runs write the same", lines == again)
    reduce = next(x for x in lines if x["event"] == "step" and "body" in x)
    check("the products before they are summed", reduce["body"] == [[0, 2.0], [1, 3.0], [2, 6.0]])
    check("the sums", reduce["outs"][0]["value"] == [5.0, 0.0, 6.0])
    sites = [len(x["sites"]) for x in trace("examples/quickhull/quickhull.dp", ["[(0,0), (4,0), (4,3), (0,3), (2,1)]"],
                                             "flat")[0] if x.get("sites")]
    check("the first call joins two sites, those below one", sites and sites[0] == 2 and set(sites[1:]) <= {1})
    lines, _ = trace("examples/spmv/spmv.dp", ["[[(7, 2)]]", "[1, 2, 3]"], "flat", status=1)
    check("a failure has its message and place", lines[-1]["message"] == "index 7 out of bounds for length 3" and
          lines[-1]["place"]["line"] == 3)
    path = program("many.dp", "entry main (n: i64) : [i64] = { x * 9007199254740993 : x in n }\n")
    lines, _ = trace(path, ["1000"], "flat")
    value = lines[-1]["results"][0]["value"]
    check("large values are cut with the count said", value[-1] == {"more": 936} and len(value) == 65)
    check("large numbers are texts", value[1] == "9007199254740993")
    path = program("long.dp", "entry main (n: i64) : i64 = loop a = 0 for i < n do a + sum (sort { x : x in i % 3 })\n")
    lines, out = trace(path, ["100000"], "flat")
    _, events = check_trace(lines, "flat")
    check("a long run is cut, and ends with its result", events[-2]["event"] == "cut" and
          events[-2]["limit"] == 100000 and str(events[-1]["results"][0]["value"]) == out.strip())


def check_plan():
    lines, _ = trace("examples/quickhull/quickhull.dp", ["[(0,0), (4,0), (4,3), (0,3), (2,1), (1,2)]"], "plan")
    _, events = check_trace(lines, "plan")
    check("the plan's run has launches and read-backs", events[-1]["counts"]["launches"] > 5 and
          events[-1]["counts"]["read_backs"] > 1 and events[-1]["event"] == "result")
    check("its recursion is called", sum(e["event"] == "call" for e in events) > 2)
    lines, _ = trace("examples/spmv/spmv.dp", ["[[(7, 2)]]", "[1, 2, 3]"], "plan", status=1)
    check("a failure on the device ends it", lines[-1]["event"] == "failure" and "index 7" in lines[-1]["message"])


def check_usage():
    path = "examples/spmv/spmv.dp"
    for words, status in ((["--eval=device", "--trace", FILE, path], 2), (["--trace", FILE, path, "[", "[]"], 2), (["--eval=flat", "--trace", path, path, "[]", "[]"], 2),
                          (["--eval=flat", "--trace", FILE, "-o", FILE, path, "[]", "[]"], 2),
                          (["--eval=flat", "--trace", "/no/such/folder/t", path, "[]", "[]"], 5),
                          (["--eval=flat", "--trace", FILE, path, "[", "[]"], 2)):
        if os.path.exists(FILE):
            os.remove(FILE)
        run = subprocess.run([DPC, "run", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
        check(f"{words}: status {run.returncode}", run.returncode == status and not os.path.exists(FILE))


check_examples()
check_details()
check_plan()
check_usage()
subprocess.run(["rm", "-r", SCRATCH], check=True)
print("traces:", "FAILED" if failures else "ok")
sys.exit(failures > 0)
