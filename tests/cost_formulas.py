"""dpc cost without arguments: are the formulas what is counted? Each program's formulas, with the sizes of an input put in for
the names of its parameters, must be equal to the counts of a run where they say so, and bound them else.

    cost_formulas.py DPC              programs made for this, on growing inputs; and those of tests/run and examples with
                                      inputs that are numbers and sequences of them
    cost_formulas.py DPC FILE.dp...   these only
"""
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

PROGRAMS = r'''
def dot (a: [i64]) (b: [i64]) : i64 = sum { x * y : x in a; y in b }
def add1 (x: i64) : i64 = x + 1
entry scalar (x: i64) (y: i64) : i64 = add1 (x * y) - x
entry dots (a: [i64]) : i64 = dot a a
entry twice (a: [i64]) : i64 = dot a a + dot a a * sum a
entry rows (m: [[i64]]) : [i64] = { sum row : row in m }
entry dotrows (m: [[i64]]) (v: [i64]) : [i64] = { dot row row + sum v : row in m }
entry nested (m: [[i64]]) : [[i64]] = { { x + length row : x in row } : row in m }
entry flat (m: [[i64]]) : [i64] = { x + 1 : x in flatten m }
entry scans (a: [i64]) : [i64] = scan (+) 0 { x * 2 : x in a }
entry sorted (a: [i64]) : [i64] = argsort a
entry prefixes (a: [i64]) : [i64] = { sum a[:i] : i in length a }
entry halves (a: [i64]) : i64 = sum a[:length a / 2] + sum a[length a / 2:]
entry counted (a: [i64]) (k: i64) : i64 = loop s = 0 for i < k do s + sum a
entry triangle (k: i64) : i64 = loop s = 0 for i < k do s + sum (iota i)
entry table (k: i64) : [[i64]] = { { i * j : j in k } : i in k }
entry writes (a: [i64]) (k: i64) : [i64] = loop b = a for i < k do b with [i % max 1 (length b)] = i
entry reads (a: [i64]) : [i64] = { a[0 * i] : i in length a }
entry bins (a: [i64]) : [i64] = reduce_by_index (+) 0 10 a a
entry puts (a: [i64]) : [i64] = scatter a a a
entry choice (a: [i64]) : i64 = if sum a > 10 then sum a else length a
entry choices (a: [i64]) : [i64] = { if x > 3 then x * x * x else x : x in a }
entry cubes (c: [[[i64]]]) : [[i64]] = { { sum row : row in m } : m in c }
entry pairs (a: [i64]) : [[i64]] = { { x * y : x in a } : y in a }
entry append (a: [i64]) (b: [i64]) : [i64] = a ++ b
entry tails (a: [i64]) : i64 = sum { length xs : xs in [a, a, { x + 1 : x in a }] }
'''

# Of a definition and an entry of the same name behind "run_": what its recurrence gives, its argument as a function of the
# size, and sizes for runs.
RECURRENCES = r'''
def fact (n: i64) : i64 = if n == 0 then 1 else n * fact (n - 1)
def fib (n: i64) : i64 = if n < 2 then n else fib (n - 1) + fib (n - 2)
def hanoi (n: i64) : i64 = if n == 0 then 0 else 1 + hanoi (n - 1) + hanoi (n - 1)
def every (n: i64) : i64 = if n <= 0 then 0 else sum (iota n) + every (n - 2)
def total (xs: [i64]) : i64 = let n = length xs in if n == 0 then 0 else if n == 1 then xs[0] else total xs[:n/2] + total xs[n/2:]
def both (xs: [i64]) : i64 = let n = length xs in if n <= 1 then 0 else sum xs + both xs[:n/2] + both xs[n/2:]
def pair (xs: [i64]) : i64 = let n = length xs in if n <= 1 then 0 else sum { sum p : p in [xs[:n/2], xs[n/2:]] } + sum { pair p : p in [xs[:n/2], xs[n/2:]] }
def thirds (xs: [i64]) : i64 = let n = length xs in if n <= 2 then 1 else sum xs + thirds xs[:n/3] + thirds xs[n/3:]
def karatsuba (xs: [i64]) : i64 = let n = length xs in if n <= 1 then 1 else sum xs + karatsuba xs[:n/2] + karatsuba xs[n/2:] + karatsuba xs[:n/2]
def search (xs: [i64]) (x: i64) : i64 =
  let n = length xs in if n == 0 then 0 else if xs[n/2] < x then search xs[n/2+1:] x else search xs[:n/2] x
def counted (n: i64) (k: i64) : i64 = if k == 0 then n else counted (n - 1) (k - 1)
def some (xs: [i64]) : i64 = if length xs <= 1 then 0 else some { x in xs | x > xs[0] }
'''
ORDERS = {  # work and span, sizes
    "fact": ("n", "n", (32, 64, 128, 256)), "fib": ("1.62^n", "1.62^n", (10, 13, 16, 19)), "hanoi": ("2^n", "2^n", (6, 8, 10, 12)),
    "every": ("n^2", "n log n", (64, 128, 256, 512)), "total": ("n", "n", (64, 128, 256, 512)), "both": ("n log n", "n", (128, 256, 512, 1024)),
    "pair": ("n log n", "log^2 n", (64, 256, 1024, 4096)), "thirds": ("n log n", "n", (128, 256, 512, 1024)), "karatsuba": ("n^1.59", "n^1.59", (64, 128, 256, 512)),
    "search": ("log n", "log n", (64, 256, 1024, 4096)), "counted": (None, None, ()), "some": (None, None, ())}


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def level(value, depth):
    """The sequences `depth` levels below it."""
    return [value] if depth == 0 else [inner for row in value for inner in level(row, depth - 1)]


def size_of(size, value):
    if size["is"] == "number":
        return value
    lengths = [len(xs) for xs in level(value, size["depth"])]
    return max(lengths, default=0) if size["is"] == "longest" else sum(lengths)


def evaluate(formula, values):
    log = lambda n: math.ceil(math.log2(n)) if n > 1 else 0
    return eval(formula, {"log": log, "max": max, "min": min, "floor": math.floor, "__builtins__": {}}, dict(values))


def has_empty(value):
    return isinstance(value, list) and (value == [] or any(has_empty(x) for x in value))


class Checker:
    def __init__(self, dpc):
        self.dpc, self.failed, self.equal, self.bounded, self.left = dpc, 0, 0, 0, 0

    def fail(self, text):
        self.failed += 1
        print("FAILED:", text)

    def formulas(self, path):
        got = run([self.dpc, "cost", "--json", "--no-warnings", path])
        if got.returncode != 0:
            if "no entry" not in got.stderr:
                self.fail(f"{path}: {got.returncode}: {got.stderr[:200]}")
            return {}
        return {f["name"]: f for f in json.loads(got.stdout)}

    def check(self, path, formula, args, names, made=False):
        """names: of the entry's parameters, in order."""
        by_name = dict(zip(names, args))
        if any("parameter" not in s or s["parameter"] not in by_name for s in formula["sizes"]):
            self.left += 1
            return
        values = {s["name"]: size_of(s, by_name[s["parameter"]]) for s in formula["sizes"]}
        counted = run([self.dpc, "cost", "--json", "--no-warnings", "--count", "--timeout", "20", path, "--entry",
                       formula["name"], *[json.dumps(a) for a in args]])
        if counted.returncode != 0:
            return
        counts = json.loads(counted.stdout)
        for what in "work", "span":
            try:
                value = evaluate(formula[what], values)
            except (NameError, TypeError, SyntaxError):  # a sum over rows, a recursive call
                self.left += 1
                continue
            exact = formula[what + "_exact"] and not (what == "span" and (not made or any(has_empty(a) for a in args)))
            good = counts[what] == value if exact else counts[what] <= value  # spans: sequences inside may be empty, too
            self.equal += good and exact
            self.bounded += good and not exact
            if not good:
                self.fail(f"{path}: {what} of {formula['name']} {json.dumps(args)[:200]}: {formula[what]} is {value} "
                          f"with {values}, but {counts[what]} are counted")


def random_value(rng, type_text, n):
    if type_text == "i64":
        return rng.randint(0, n)
    return [random_value(rng, type_text[1:-1], n if type_text == "[i64]" else max(1, n // 2))
            for _ in range(rng.randint(1 if rng.random() < 0.8 else 0, n))]


def check_made(checker, folder):
    path = str(folder / "made.dp")
    pathlib.Path(path).write_text(PROGRAMS)
    formulas = checker.formulas(path)
    rng = random.Random(1)
    for name, params in re.findall(r"entry (\w+) (.*?) :", PROGRAMS):
        names, types = zip(*re.findall(r"\((\w+): ([^)]*)\)", params))
        for n in (1, 2, 5, 9, 17):
            checker.check(path, formulas[name], [random_value(rng, t, n) for t in types], names, made=True)


def check_tests(checker, path):
    """The inputs in a program's comments that are JSON, too."""
    formulas = checker.formulas(path)
    text = pathlib.Path(path).read_text()
    for entry, block in re.findall(r"^-- test (\w+)[^\n]*\n((?:--(?! test | property )[^\n]*\n?)*)", text, re.M):
        head = re.search(r"^entry " + entry + r"\b(.*?)=", text, re.M | re.S)
        names = re.findall(r"\((\w+): ", head.group(1)) if head else []
        for line in re.findall(r"^-- input +(.*?)(?: --.*)?$", block, re.M)[:3]:
            try:
                args, at, decoder = [], 0, json.JSONDecoder()
                while at < len(line):
                    value, at = decoder.raw_decode(line, at)
                    args.append(value)
                    while at < len(line) and line[at] == " ":
                        at += 1
            except ValueError:
                continue
            if entry in formulas and len(args) == len(names):
                checker.check(path, formulas[entry], args, names)


def order_value(order, n):
    """n^1.59 log^2 n at n."""
    text = re.sub(r"log\^(\d+) n", r"L**\1", order).replace("log n", "L").replace("^", "**")
    return eval(re.sub(r"(?<=[\w)]) (?=[(nL])", "*", text), {"n": float(n), "L": math.log2(n), "__builtins__": {}})


def check_orders(checker, folder):
    """Counts of growing runs over what was solved: neither grows nor goes away."""
    path = str(folder / "recurrences.dp")
    heads = dict(re.findall(r"def (\w+) (.*?) =", RECURRENCES))
    words = {name: " ".join(re.findall(r"[(](\w+):", head)) for name, head in heads.items()}
    entries = [f"entry run_{name} {head} = {name} {words[name]}\n" for name, head in heads.items()]
    pathlib.Path(path).write_text(RECURRENCES + "".join(entries))
    formulas = checker.formulas(path)
    for name, (work, span, sizes) in ORDERS.items():
        f = formulas[name]
        if (f["work_order"], f["span_order"], f["recursive"]) != (work, span, True):
            checker.fail(f"{name} is in O({f['work_order']}), O({f['span_order']}), not O({work}), O({span})")
        shares = {"work": [], "span": []}
        for n in sizes:
            args = [json.dumps(list(range(n)) if "[" in t else n) for t in re.findall(r": (\[?i64)", heads[name])[:-1]]
            counted = run([checker.dpc, "cost", "--json", "--no-warnings", "--count", path, "--entry", "run_" + name, *args])
            if counted.returncode != 0:
                checker.fail(f"run_{name} {n}: {counted.stderr[:300]}")
                continue
            counts = json.loads(counted.stdout)
            for what, order in ("work", work), ("span", span):
                if order:
                    shares[what].append(counts[what] / order_value(order, n))
        for what, shown in shares.items():
            if shown and not 0.5 * shown[0] < shown[-1] < 1.35 * shown[0]:
                checker.fail(f"{name}: {what} over what was solved: {shown}")


def main():
    checker = Checker(sys.argv[1])
    root = pathlib.Path(__file__).resolve().parent.parent
    files = sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        if not files:
            check_made(checker, pathlib.Path(folder))
            check_orders(checker, pathlib.Path(folder))
            files = sorted(str(p) for p in root.glob("tests/run/*.dp"))[::9] + sorted(str(p) for p in root.glob("examples/*/*.dp"))
        for path in files:
            check_tests(checker, path)
    print(f"formulas: {checker.equal} equal, {checker.bounded} bounds, {checker.left} with sizes that only a run knows, "
          f"{checker.failed} failed")
    if not sys.argv[2:] and (checker.equal < 150 or checker.bounded < 20):
        sys.exit("FAILED: hardly anything was compared")
    sys.exit(checker.failed > 0)


main()
