#!/usr/bin/env python3
"""Extreme sizes, indices, counts and numbers: the evaluators agree on every result and every message.

    edges.py DPC [--all] [--seed N] [--cases N] [--eval LIST] [--show]

For each function that takes a size, an index or a count, and each operator and conversion of numbers, this makes entries that
call it: at depth 0, inside an apply-to-each, and (for operators) with the numbers as constants. Their arguments are the extremes of
their types. All evaluators run all of it as `dpc test`s of one file a function, each with a message that nothing has, so that `dpc test`
reports what each evaluator made of each input: there has to be one report per input, for all of them.

Memory is the one thing that may differ: a program that keeps less than another one may get further. So "out of memory" agrees with a
result, and its numbers do not count; but no evaluator says so where core has another error.

A sample by default, everything with --all. --show prints what came out.
"""
import argparse
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile

SECONDS = 240 # for one file
NOTHING = "nothing says this"
BITS = {"i8": 7, "i16": 15, "i32": 31, "i64": 63, "u8": 8, "u16": 16, "u32": 32, "u64": 64}


def numbers(t):
    """The extremes of an integer type, and what is next to them and to the extremes of narrower types."""
    low, high = (-(1 << BITS[t]) if t[0] == "i" else 0), (1 << BITS[t]) - 1
    found = {low, low + 1, -1, 0, 1, 3, high - 1, high}
    for k in (7, 8, 31, 32, 62, 63):
        found |= {(1 << k) - 1, 1 << k, (1 << k) + 1}
    return sorted(x for x in found if low <= x <= high)


def lengths(t):
    """Lengths that either fit into any memory, or into none."""
    return [x for x in numbers(t) if x < 300 or x > (1 << 36)] + ([1 << 40] if t in ("i64", "u64") else [])


# Kinds of parameters: their type, and the values to try.
KINDS = {"xs": ("[i64]", ["[]", "[5]", "[5, 6, 7]"]), "xss": ("[[i64]]", ["[]", "[[]]", "[[5, 6], [7, 8]]"]),
         "text": ("[u8]", ['""', '"ab"']), "v": ("i64", ["9"]),
         "ls": ("[i64]", ["[]", "[0]", "[-1]", "[3]", "[1, 2]", "[9223372036854775807, 9223372036854775807, 4]",
                          "[9223372036854775807, -9223372036854775808]", "[4611686018427387904, 4611686018427387904]"]),
         "ls8": ("[u8]", ["[]", "[255, 255]", "[1, 2]"]),
         "lsu": ("[u64]", ["[]", "[18446744073709551615, 4]", "[9223372036854775808, 9223372036854775808]", "[1, 2]"]),
         "small": ("i64", ["-1", "0", "1", "5"]), "f": ("f64", ["0.5", "nan", "inf"])}
for integer in BITS:
    KINDS[integer] = (integer, [str(x) for x in numbers(integer)])
    KINDS["n" + integer] = (integer, [str(x) for x in lengths(integer)])

# module, parameters, expression. The first parameter is the one that an apply-to-each goes over.
SIZES = [
    ("", "n:ni64", "iota n"), ("", "n:ni64 v:v", "replicate n v"), ("", "n:ni64 xs:xs", "replicate n xs"),
    ("", "k:i64 xs:xs", "take k xs"), ("", "k:i64 xs:xs", "drop k xs"), ("", "k:i64 xss:xss", "take k xss"),
    ("", "k:i64 xs:xs", "xs[k]"), ("", "k:u64 xs:xs", "xs[k]"), ("", "k:i8 xs:xs", "xs[k]"), ("", "k:i64 xss:xss", "xss[k]"),
    ("", "a:i64 b:i64 xs:xs", "xs[a:b]"), ("", "a:u64 b:u64 xs:xs", "xs[a:b]"), ("", "a:i32 b:i32 xs:xs", "xs[a:b]"),
    ("", "a:i64 xs:xs", "xs[a:]"), ("", "a:i64 xs:xs", "xs[:a]"), ("", "a:i64 xss:xss", "xss[a:]"),
    ("", "k:i64 xs:xs", "xs with [k] = 9"), ("", "k:u64 xs:xs", "xs with [k] = 9"), ("", "k:i64 xss:xss", "xss with [k] = [9]"),
    ("", "k:i64 xs:xs", "rotate k xs"), ("", "k:u64 xs:xs", "rotate k xs"), ("", "k:i8 xs:xs", "rotate k xs"), ("", "k:u8 xs:xs", "rotate k xs"),
    ("", "k:i64 n:ni64 j:small", "(rotate k (iota n))[j]"), ("", "n:ni64 m:ni64 j:i64", "(iota n ++ iota m)[j]"),
    ("", "n:ni64 m:ni64", "length (iota n ++ iota m)"), ("", "n:ni64 m:ni64", "iota n ++ iota m"),
    ("", "n:ni64 m:ni64 xs:xs", "unflatten n m xs"), ("", "n:i64 m:i64 xs:xs", "length (unflatten n m xs)"),
    ("", "ls:ls xs:xs", "nest xs ls"), ("", "ls:ls8 xs:xs", "nest xs ls"), ("", "ls:lsu xs:xs", "nest xs ls"),
    ("", "ls:ls", "segment_flags ls"), ("", "ls:lsu", "segment_flags ls"), ("", "ls:ls", "replicated_iota ls"), ("", "ls:ls8", "length (replicated_iota ls)"),
    ("", "a:i64 b:i64", "length (a..<b)"), ("", "a:i64 b:i64", "length (a...b)"), ("", "a:u64 b:u64", "length (a..<b)"),
    ("", "a:u64 b:u64", "length (a...b)"), ("", "a:i8 b:i8", "(sum { i64 x : x in a..<b }, length (a...b))"), ("", "a:u8 b:u8", "length (a...b)"),
    ("", "a:i32 b:i32", "length (a...b)"), ("", "a:i64 b:i64 k:i64", "(a...b)[k]"), ("", "n:ni64", "{ i in n }"), ("", "n:nu64", "{ i in n }"),
    ("", "n:i8", "{ i in n }"), ("", "n:u8", "length { i in n }"), ("", "n:ni64 m:ni64", "{ iota m : _ in n }"),
    ("", "n:ni64 m:ni64", "flatten { iota m : _ in n }"), ("", "n:ni64 m:ni64", "{ i + j : i in n; j in m }"),
    ("", "n:ni64 xs:xs", "reduce_by_index (+) 0 n xs xs"), ("", "n:ni64 xs:xs", "histogram n xs"),
    ("", "n:ni64 xs:xs", "reduce_by_index (++) [] n xs { [x] : x in xs }"),
    ("", "i:i64 xs:xs", "reduce_by_index (+) 0 3 [i] [7]"), ("", "i:u64 xs:xs", "scatter xs [i] [7]"), ("", "i:i64 xs:xs", "scatter xs [i] [7]"),
    ("", "i:i64 xs:xs", "gather xs [i]"), ("", "n:ni64 m:ni64", "cartesian (iota n) (iota m)"), ("", "n:ni64 m:ni64 j:small", "(interleave (iota n) (iota m))[j]"),
    ("", "n:ni64", "(reverse (iota n))[0]"), ("", "n:ni64", "length (pairs (iota n))"), ("", "n:ni64", "transpose [iota n]"),
    ("", "n:ni64", "reduce (++) [] { [i] : i in n }"), ("", "n:ni64", "scan (++) [] { [i] : i in n }"), ("", "n:ni64", "sort (iota n)"),
    ("", "n:ni64", "{ i in n | i % 2 == 0 }"), ("", "n:small", "loop s = 0 for i < n do s + i"),
    ("segments", "k:i64 xs:xs", "M.chunks k xs"), ("segments", "k:ni64 xs:xs", "M.split_into k xs"), ("segments", "k:i64 xs:xs", "M.windows k xs"),
    ("segments", "k:i64 xs:xs", "M.split_at k xs"), ("segments", "ls:ls xs:xs", "M.sum_lengths ls xs"), ("segments", "r:small xs:xs", "M.stencil r sum xs"),
    ("segments", "r:small xs:xs", "M.stencil_ring r sum xs"), ("segments", "ls:ls", "M.replicate_each ls ls"), ("segments", "ls:ls8", "length (M.replicate_each ls ls)"),
    ("segments", "ls:lsu", "M.replicate_each ls ls"), ("segments", "ls:ls", "M.expand (\\l -> l) (\\_ i -> i) ls"),
    ("order", "k:i64 xs:xs", "M.kth_smallest k xs"), ("order", "k:i64 xs:xs", "M.bottom_k k xs"), ("order", "k:i64 xs:xs", "M.top_k k xs"),
    ("grids", "h:ni64 w:ni64", "M.tabulate_2d h w (+)"), ("grids", "h:ni64 w:ni64", "M.fill_2d h w 1"), ("grids", "k:i64 l:i64 xss:xss", "M.rotate_2d k l xss"),
    ("grids", "k:u64 l:u64 xss:xss", "M.rotate_2d k l xss"), ("grids", "r:i64 xss:xss", "M.crop 0 r 0 1 xss"), ("grids", "r:i64 xss:xss", "M.crop r 1 1 r xss"),
    ("grids", "k:ni64 xss:xss", "M.pad_2d k 1 xss"), ("grids", "h:i64 w:i64 xss:xss", "M.blocks h w xss"), ("grids", "r:small xss:xss", "M.stencil_2d r (\\g -> sum (flatten g)) xss"),
    ("grids", "r:i64 c:i64 xss:xss", "M.gather_2d xss [(r, c)]"), ("grids", "r:i64 c:u64 xss:xss", "M.scatter_2d xss [(r, c)] [9]"),
    ("text", "n:ni64 s:text", "M.repeat n s"), ("text", "n:ni64 s:text", "M.pad_left n s"), ("text", "n:ni64 s:text", "M.pad_right n s"),
    ("text", "n:i64", "M.format_int n"), ("text", "n:i64", "M.parse_int (M.format_int n) == n"), ("text", "k:i64 x:f", "M.format_fixed k x"),
    ("stats", "k:i64 xs:xs", "M.moving_average k { f64 x : x in xs }"), ("stats", "n:ni64 xs:xs", "M.histogram_range 0 10 n { f64 x : x in xs }"),
    ("random", "n:ni64", "length (M.permutation 1 n)"), ("random", "k:i64 xs:xs", "length (M.sample 1 k xs)"), ("random", "n:i64", "M.random_below 1 n 3 >= 0"),
    ("random", "a:i64 b:i64", "M.random_int 1 a b 3"), ("random", "k:ni64", "M.weighted_choices 1 k [0.5, 0.5]"), ("random", "a:i64 b:i64", "M.random_u64 a b"),
    ("linalg", "n:ni64", "(M.identity n : [[i64]])"), ("linalg", "k:small", "M.mat_power [[1, 1], [1, 0]] k"),
    ("sparse", "n:ni64", "M.from_triples n [(1, 1, 5)]"), ("sparse", "n:ni64", "M.to_dense n [[(1, 5)]]"), ("sparse", "n:ni64", "M.sparse_transpose n [[(1, 5)]]"),
    ("sparse", "n:ni64", "M.vec_spm n [5] [[(1, 5)]]"), ("fft", "n:i64", "M.next_power_of_two n"),
    ("integers", "a:i64 b:i64", "(M.gcd a b, M.lcm a b)"), ("integers", "a:i64 m:i64", "M.modulo a m"), ("integers", "n:i64", "M.integer_root n"),
    ("integers", "n:i64 k:small", "M.digits_of n k"), ("integers", "n:small", "(M.factors n, M.divisors n, M.factorial n, M.fibonacci n, M.is_prime n)"),
    ("integers", "n:small k:i64", "M.nth_permutation n k"), ("integers", "n:small k:small", "(M.combinations n k, M.binomial n k)"),
    ("integers", "n:small", "(M.permutations n, M.pascal n, M.primes_below n)"),
    ("bignum", "n:i64", "M.big_from n"), ("bignum", "k:small", "M.big_power [3] k"), ("bignum", "k:i64", "M.big_divide_small [3, 4] k"),
    ("graph", "n:ni64", "M.from_edges n [(0, 1)]"), ("graph", "s:i64", "M.bfs_levels [[1], [0]] s"), ("graph", "s:i64", "M.bfs_parents [[1], [0]] s"),
    ("graph", "n:ni64", "M.spanning_forest n [(0, 1, 2)]"), ("graph", "k:small", "M.pagerank [[1], [0]] 0.5 k"),
    ("image", "k:i64", "M.downsample k [[1, 2], [3, 4]]"), ("image", "k:i64", "M.box_blur k [[1, 2], [3, 4]]"),
    ("sets", "n:small", "M.subsets (iota n)"),
]
FLOATS = ["0.0", "-0.0", "1.5", "-1.5", "127.9", "128.0", "-128.9", "-129.0", "255.9", "256.0", "2147483648.0", "-2147483649.0", "4294967296.0",
          "9223372036854774784.0", "9223372036854775808.0", "-9223372036854775808.0", "18446744073709551616.0", "1e300", "inf", "-inf", "nan"]
OPERATORS = ["+", "-", "*", "/", "%", "**", "<<", ">>"]


def literal(x, t):
    return x if t[0] == "f" and x in ("inf", "nan") else "(%s)" % x if x in ("-inf",) else "(%s%s)" % (x, t if t[0] != "f" else "")


class File:
    """One program: a function, its entries and their inputs."""

    def __init__(self, name, module=""):
        self.name, self.head, self.entries = name, 'import "%s" as M\n' % module if module else "", []

    def entry(self, parameters, body, inputs):
        name = "e%d" % len(self.entries)
        self.entries.append((name, "entry %s %s = %s\n" % (name, parameters, body), inputs))

    def text(self):
        return self.head + "".join(line + "-- test %s\n" % name + "".join('-- input  %s\n-- error  "%s"\n' % (i, NOTHING) for i in inputs) + "\n"
                                   for name, line, inputs in self.entries)


def sized(module, parameters, body):
    names = [p.split(":") for p in parameters.split()]
    types, values = [KINDS[k][0] for _, k in names], [KINDS[k][1] for _, k in names]
    f = File(module + " " + body + "  -- " + ", ".join(types), module)
    rows = list(itertools.product(*values))
    f.entry(" ".join("(%s: %s)" % (n, t) for (n, _), t in zip(names, types)), body, [" ".join(row) for row in rows])
    rest = " ".join("(%s: %s)" % (n, t) for (n, _), t in zip(names[1:], types[1:]))
    f.entry("(es: [%s]) %s" % (types[0], rest), "{ %s : %s in es }" % (body, names[0][0]),
            ["[%s%s] %s" % (row[0], "" if i % 2 else ", " + values[0][-1 - i % len(values[0])], " ".join(row[1:])) for i, row in enumerate(rows)])
    return f


def constants(pairs, t, make):
    """Entries of one constant expression each: for the folding of constants."""
    return [("", make(*[literal(x, t) for x in pair]), [""]) for pair in pairs]


def operators(rng, most):
    for t in BITS:
        for op in OPERATORS:
            f = File("%s %s" % (t, op))
            pairs = [(str(a), str(b)) for a, b in itertools.product(numbers(t), numbers(t))]
            f.entry("(a: %s) (b: %s)" % (t, t), "a %s b" % op, [" ".join(p) for p in pairs])
            f.entry("(as: [%s]) (b: %s)" % (t, t), "{ a %s b : a in as }" % op, ["[%s] %s" % p for p in pairs])
            f.constant = (pairs, t, lambda a, b, op=op: "%s %s %s" % (a, op, b))
            yield f
        f = File(t + " unary")
        f.entry("(a: %s)" % t, "(-a, ~a, abs a, sign a, popcount a, clz a, ctz a, min a 1, max a 1)", [str(a) for a in numbers(t)])
        f.entry("(as: [%s])" % t, "{ (-a, ~a, abs a, sign a, popcount a, clz a, ctz a) : a in as }", ["[%s]" % a for a in numbers(t)])
        f.constant = ([(str(a),) for a in numbers(t)], t, lambda a: "(-(%s), ~%s, abs %s, sign %s, popcount %s, clz %s, ctz %s, min %s 1, max %s 1)" % ((a,) * 9))
        yield f
    all_types = "(bool a, i8 a, i16 a, i32 a, i64 a, u8 a, u16 a, u32 a, u64 a, f32 a, f64 a)"
    for t in list(BITS) + ["f32", "f64"]:
        values = [x for x in FLOATS if t != "f32" or x != "1e300"] if t[0] == "f" else [str(x) for x in numbers(t)]
        f = File(t + " conversions")
        f.entry("(a: %s)" % t, all_types, values)
        f.entry("(as: [%s])" % t, "{ %s : a in as }" % all_types, ["[%s]" % v for v in values])
        f.constant = ([(v,) for v in values], t, lambda a, t=t: "(let a : %s = %s in %s)" % (t, a, all_types))
        yield f


def same_inputs(f):
    """An operator's constants are compared with its first entry, too."""
    pairs, t, make = f.constant
    return {i: make(*[literal(x, t) for x in pair]) for i, pair in enumerate(pairs)}


def take_sample(f, rng, most):
    """At most `most` inputs of each entry; of operators, constants for the inputs of the first."""
    expressions = same_inputs(f) if hasattr(f, "constant") else {}
    chosen = None
    for k, (name, line, inputs) in enumerate(f.entries):
        chosen = range(len(inputs)) if most >= len(inputs) else sorted(rng.sample(range(len(inputs)), most))
        f.entries[k] = (name, line, [inputs[i] for i in chosen])
        if k == 0:
            expressions = {i: e for i, e in expressions.items() if i in set(chosen)}
    f.pairs = []
    for place, e in enumerate(expressions.values()):
        f.pairs.append((place, len(f.entries)))
        f.entry("", e, [""])


# ---- running ----
def outcomes(dpc, path, evaluators):
    environment = dict(os.environ, DP_HEAP=str(1 << 26), NO_COLOR="1")
    try:
        run = subprocess.run([dpc, "test", "--no-warnings", "--eval=" + evaluators, path], capture_output=True, text=True, env=environment,
                             timeout=SECONDS)
    except subprocess.TimeoutExpired as late:
        return {}, "no end after %d seconds\n" % SECONDS + (late.stderr or b"").decode()
    said, found = run.stdout, {}
    for report in re.finditer(r"^[^\n]*?:(\d+):\d+: failed: \w+ on ([^\n]*)\n(.*?)(?=^[^\n ]|\Z)", said, re.M | re.S):
        got = report.group(3).split("\n  got ", 1)[-1].strip() if "\n  got " in report.group(3) else report.group(3).split("  got ", 1)[-1].strip()
        for e in re.split(r", | and ", report.group(2)):
            found.setdefault(int(report.group(1)), {})[e] = got
    return found, run.stderr


MEMORY = "error: out of memory"


def without_place(text):
    return text.split(": error: ", 1)[-1]


def disagreement(of, evaluators, mixed):
    """What is wrong with the outcomes of one input, or None. mixed: of several elements, which may all fail in their own ways."""
    if set(of) != set(evaluators):
        return "not all evaluators said something"
    rest = {text for text in of.values() if MEMORY not in text}
    wrong = [text for text in of.values() if "internal" in text or "ended " in text or "device error" in text or "says this" in text]
    if wrong:
        return "no answer"
    for text in of.values():
        if MEMORY in text and not re.search(r":\d+:\d+: error: out of memory: [^\n]* requested", text):
            return "out of memory without a place or a size"
    if mixed and rest and all(": error: " in text for text in rest):
        return None
    if len(rest) > 1:
        return "different"
    if rest and "error: " in next(iter(rest)) and len(set(of.values())) > 1 and MEMORY not in of.get("core", ""):
        return "different"
    return None


def examine(dpc, folder, number, f, evaluators, show):
    path = "%s/edge%d.dp" % (folder, number)
    text = f.text()
    with open(path, "w") as out:
        out.write(text)
    found, said = outcomes(dpc, path, ",".join(evaluators))
    lines = text.split("\n")
    inputs, entry, bad, by_place = [], "", [], {}
    for i, line in enumerate(lines, 1):
        if line.startswith("entry "):
            entry, at = line, 0
            name = line.split()[1]
        if line.startswith("-- input"):
            of = found.get(i, {})
            by_place[(name, at)] = of
            at += 1
            first = re.match(r"-- input  \[([^][]*), ([^][]*)\]", line)
            why = disagreement(of, evaluators, name == "e1" and first and first.group(1) != first.group(2))
            inputs.append(line)
            if show:
                print("  %s %s: %s" % (name, line[9:], sorted(set(of.values()))))
            if why:
                bad.append("%s: %s\n  %s\n%s" % (why, entry, line, "".join("    %-7s %s\n" % x for x in sorted(of.items())) or said[-1500:]))
    if not found:
        return len(inputs), ["%s\n%s" % (said, text[:400])]
    for place, constant in f.pairs:
        a, b = by_place[("e0", place)], by_place[("e%d" % constant, 0)]
        if {without_place(x) for x in a.values()} != {without_place(x) for x in b.values()}:
            bad.append("constants: %s  %s\n  %s\n" % (f.entries[constant][1], a, b))
    return len(inputs), bad


def main():
    options = argparse.ArgumentParser()
    options.add_argument("dpc")
    options.add_argument("--all", action="store_true")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--cases", type=int, default=6, help="of each entry, without --all")
    options.add_argument("--files", type=int, default=30, help="functions and operators, without --all")
    options.add_argument("--eval", default="core,fused,flat,device")
    options.add_argument("--only", default="", help="those whose names contain this")
    options.add_argument("--show", action="store_true")
    o = options.parse_args()
    rng = random.Random(o.seed)
    files = [sized(*x) for x in SIZES] + list(operators(rng, o.cases))
    files = [f for f in files if o.only in f.name]
    if not o.all and len(files) > o.files:
        files = rng.sample(files, o.files)
    total, failures = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for number, f in enumerate(files):
            take_sample(f, rng, 1 << 30 if o.all else o.cases)
            if o.show:
                print(f.name)
            n, bad = examine(os.path.abspath(o.dpc), folder, number, f, o.eval.split(","), o.show)
            total += n
            failures += [f.name + "\n  " + b for b in bad]
            for b in bad:
                print("FAILED: %s\n  %s" % (f.name, b), flush=True)
    print("edges: %d inputs of %d functions and operators on %s: %d failures" % (total, len(files), o.eval, len(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
