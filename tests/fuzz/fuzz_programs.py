#!/usr/bin/env python3
"""Mutates programs and runs dpc on them.

    fuzz_programs.py DPC [--seconds S] [--seed N] [--keep FOLDER] [PROGRAM...]
    fuzz_programs.py DPC --reduce PROGRAM      makes the smallest program with the same failure

Three in five programs are damaged at random, two are rewritten so that they mean the same: then their own tests have to
pass on the interpreters, too. Every mutated program has to end with status 0, or with status 2 and a diagnostic; any other status, a signal,
a sanitizer's report, an internal error or more than 5 seconds is a bug: the program goes to the --keep folder.
The programs default to tests/run, tests/diag, examples and stdlib. Equal seeds give equal programs.
"""
import argparse
import glob
import os
import random
import re
import shutil
import sys
import tempfile
import time

from harness import run

TOKEN = re.compile(r"""--[^\n]*|\s+|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\[^\n]+?)'|[#']?[A-Za-z_][A-Za-z0-9_']*
                     |[0-9][0-9A-Za-z_]*(?:\.[0-9][0-9_]*(?:[eE][+-]?[0-9]+)?)?(?:i|u|f)?
                     |\.\.<|\.\.\.|->|\|>|<\||\|\||&&|==|!=|<=|>=|<<|>>|\+\+|\*\*|.""", re.X | re.S)
OPEN, CLOSE = "([{", ")]}"
GROUPS = [["+", "-", "*", "/", "%", "**"], ["==", "!=", "<", "<=", ">", ">="], ["&&", "||"], ["&", "|", "^", "<<", ">>"],
          ["..<", "..."], ["|>", "<|"], [":", "=", ";", ","], ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "bool"],
          ["map", "filter", "reduce", "scan", "scanx", "sort", "sort_by", "argsort", "reduce_comm", "partition", "group_by"],
          ["sum", "product", "minimum", "maximum", "argmin", "argmax", "head", "last", "length", "reverse", "flatten", "transpose", "unique"],
          ["take", "drop", "rotate", "replicate", "nest", "gather", "index"], ["if", "loop", "let", "match", "\\"],
          ["then", "else", "in", "do", "case", "for", "while", "with"], ["def", "entry", "type", "import"]]
LITERALS = ["0", "1", "-1", "2", "1.5", "1e300", "9223372036854775807", "18446744073709551615", "0xff", "1f32", "2u8", "3i32", "true",
            "false", '""', '"ab"', "'c'", "[]", "()", "nan", "inf", "max_i64", "1000000"]


# Around an expression these change nothing, whatever its type is; where one does not fit, the program is refused. No
# program has the names they bind.
SAME = [("(let x'fuzz = 1 in ", ")"), ("(if 1 < 2 then ", " else %s)"), ("(loop s'fuzz = ", " for _ < 3 do s'fuzz)"), ("((\\x'fuzz -> x'fuzz) ", ")"), ("(match ", " case x'fuzz -> x'fuzz)"),
        ("(assert (1 < 2) ", ")"), ("(map (\\x'fuzz -> x'fuzz) ", ")"), ("(reverse (reverse ", "))"), ("(", " ++ [])"), ("({ x'fuzz in ", " | 1 < 2 })"), ("((", ", 1).0)"),
        ("({a = ", ", b = 2}).a"), ("([", "])[0]"), ("(let f'fuzz x'fuzz = x'fuzz in f'fuzz ", ")"), ("(flatten [", "])"), ("(if 1 > 2 then %s else ", ")"), ("({ ", " : x'fuzz in 2 })[1]"),
        ("(let x'fuzz = ", " in x'fuzz)"), ("(", " |> (\\x'fuzz -> x'fuzz))"), ("(0 + ", ")"), ("(", " && true)"), ("(take 1 { ", " : x'fuzz in 3 })[0]"), ("(loop s'fuzz = ", " while false do s'fuzz)"),
        ("(last { let y'fuzz = ", " in y'fuzz : x'fuzz in 1..<3 })"), ("(match (", ", 1) case (y'fuzz, 2) -> y'fuzz case (x'fuzz, _) -> x'fuzz)"), ("(filter (\\x'fuzz -> true) ", ")")]


def tokens(text):
    return TOKEN.findall(text)


def is_word(t):
    return re.match(r"[A-Za-z_]", t) is not None


def solid(ts):
    return [i for i, t in enumerate(ts) if not t.isspace() and not t.startswith("--")]


def bracketed(ts, rng):
    """The range of a random bracketed piece, or of one token."""
    opens = [i for i, t in enumerate(ts) if t in OPEN and t]
    if not opens or rng.random() < 0.3:
        i = rng.choice(solid(ts))
        return i, i + 1
    i = rng.choice(opens)
    depth = 0
    for j in range(i, len(ts)):
        depth += (ts[j] in OPEN) - (ts[j] in CLOSE)
        if depth == 0:
            return i, j + 1
    return i, i + 1


def mutate(ts, other, rng):
    places = solid(ts)
    if not places:
        return ts + ["("]
    kind = rng.randrange(11)
    i = rng.choice(places)
    ts = list(ts)
    if kind == 0:
        del ts[i]
    elif kind == 1:
        ts.insert(i, ts[i] + " ")
    elif kind == 2:
        j = rng.choice(places)
        ts[i], ts[j] = ts[j], ts[i]
    elif kind in (3, 4):
        words = [k for k in places if is_word(ts[k])]
        if words:
            ts[rng.choice(words)] = ts[rng.choice(words)]
    elif kind == 5:
        near = [k for k in places if any(ts[k] in g for g in GROUPS)]
        if near:
            k = rng.choice(near)
            ts[k] = rng.choice(next(g for g in GROUPS if ts[k] in g))
    elif kind == 6:
        numbers = [k for k in places if re.match(r"[0-9]|true|false", ts[k])]
        if numbers:
            ts[rng.choice(numbers)] = rng.choice(LITERALS)
    elif kind == 7:
        a, b = bracketed(ts, rng)
        c, d = bracketed(other, rng)
        ts[a:b] = [" "] + other[c:d] + [" "]
    elif kind == 8:
        a, b = bracketed(ts, rng)
        c, d = bracketed(ts, rng)
        ts[a:b] = ts[c:d]
    elif kind == 9:
        a, b = bracketed(ts, rng)
        del ts[a:b]
    else:
        a, b = bracketed(ts, rng)
        wrap = rng.choice([("(", ")"), ("[", "]"), ("{ ", " : i0 in 3 }"), ("(if true then ", " else ())"), ("(", ", 1)"), ("(\\x0 -> ", ")"),
                           ("(let x0 = 1 in ", ")"), ("(loop s0 = ", " for i0 < 3 do s0)"), ("(", ").0"), ("(", ")[0]"), ("(", " with [0] = 1)"),
                           ("(match ", " case x0 -> x0)"), ("(assert (1 < 2) ", ")"), ("(map (\\x0 -> x0) ", ")"), ("(-", ")"), ("(", " |> length)")])
        ts[a:b] = [wrap[0]] + ts[a:b] + [wrap[1]]
    return ts


def rewrite(ts, rng):
    """The same program in other words, or one that is refused."""
    a, b = bracketed(ts, rng)
    before, after = rng.choice(SAME)
    text = "".join(ts[a:b])
    return ts[:a] + [before.replace("%s", text)] + ts[a:b] + [after.replace("%s", text)] + ts[b:]


def examine_same(dpc, path):
    status, failure = run([dpc, "check", path], (0, 2))
    if status != 0 or failure:
        return failure
    status, failure = run([dpc, "test", "--eval=core,fused,flat", path], (0, 1, 2, 3))
    if status == 1:
        return "its tests fail"
    return failure if status is not None else None # some tests are long


def examine(dpc, path):
    status, failure = run([dpc, "check", path], (0, 2))
    if status == 0 and not failure:
        _, failure = run([dpc, "dump", "--stage=flat", path], (0, 2))
    if status == 0 and not failure:
        _, failure = run([dpc, "dump", "--stage=host", path], (0, 2))
    return failure or formatting_failure(dpc, path)


def formatting_failure(dpc, path):
    """dpc fmt ends well, and what it has formatted it leaves as it is."""
    copy = path + ".fmt.dp"
    shutil.copy(path, copy)
    status, failure = run([dpc, "fmt", copy], (0, 2))
    if status == 0 and not failure:
        status, failure = run([dpc, "fmt", "--check", copy], (0,))
    return failure and "dpc fmt: " + failure


def reduce(dpc, path):
    """Deletes pieces as long as the failure stays the same, by its first words."""
    here = os.path.dirname(os.path.abspath(path))
    name = os.path.join(here, "reducing.dp")
    wanted = examine(dpc, path)
    if not wanted:
        sys.exit("there is no failure")
    print(wanted)
    key = wanted[:40]
    ts = [t for t in tokens(open(path, encoding="utf-8", errors="surrogateescape").read()) if not t.startswith("--")]

    def fails(candidate):
        with open(name, "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write("".join(candidate))
        return (examine(dpc, name) or "").startswith(key)

    step = len(ts) // 2
    while step:
        i = 0
        while i < len(ts):
            shorter = ts[:i] + ts[i + step:]
            if fails(shorter):
                ts = shorter
            else:
                i += step
        step //= 2
    os.remove(name)
    print("".join(ts))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("dpc")
    options.add_argument("programs", nargs="*")
    options.add_argument("--seconds", type=float, default=5)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--keep", default="")
    options.add_argument("--reduce", default="")
    o = options.parse_args()
    o.dpc = os.path.abspath(o.dpc)
    if o.reduce:
        return reduce(o.dpc, o.reduce)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    paths = o.programs or sorted(glob.glob(root + "/tests/run/*.dp") + glob.glob(root + "/tests/diag/*/*.dp") + glob.glob(root + "/examples/*/*.dp") + glob.glob(root + "/stdlib/*.dp"))
    texts = [tokens(open(p, encoding="utf-8", errors="surrogateescape").read()) for p in paths]
    texts = [t for t in texts if solid(t)]
    rng = random.Random(o.seed)
    end, count, failed = time.time() + o.seconds, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(root + "/tests/run/modules", folder + "/modules")
        shutil.copytree(root + "/tests/diag/modules", folder + "/modules", dirs_exist_ok=True)
        path = os.path.join(folder, "f.dp")
        while time.time() < end:
            ts = rng.choice(texts)
            same = rng.random() < 0.4
            for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 6])):
                ts = rewrite(ts, rng) if same else mutate(ts, rng.choice(texts), rng)
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
                f.write("".join(ts))
            failure = (examine_same if same else examine)(o.dpc, path)
            count += 1
            if failure:
                failed += 1
                print("FAILED: program %d of seed %d: %s" % (count, o.seed, failure), flush=True)
                if o.keep:
                    os.makedirs(o.keep, exist_ok=True)
                    shutil.copy(path, "%s/p%d_%d.dp" % (o.keep, o.seed, count))
    print("%d programs, %d failed" % (count, failed))
    sys.exit(failed > 0)


main()
