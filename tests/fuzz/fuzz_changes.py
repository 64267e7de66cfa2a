#!/usr/bin/env python3
"""Random loops at depth 0 that change two arrays, or two tables, and read older ones behind their changes, at times in wrong places.

    fuzz_changes.py DPC [--seconds S] [--seed N] [--keep FOLDER]

Core is the truth, of results and of messages: loops by one lane, flattened loops and the flat evaluator must agree with it.
Check that it can fail: with `return true;` first in may_fail_in_front (core/own_places.c) one seed in six does.
"""
import argparse
import os
import random
import sys
import tempfile
import time

from harness import finish

LIMIT = 300
ENTRIES = 8
WAYS = (["--param", "nest=lane,loops=lane"], ["--param", "nest=flat,loops=flat"], ["--eval=flat"])


class Loop:
    """One entry: arrays a and b of n numbers, or of n rows of m; each step of a round makes a newer a or b of any that there are."""

    def __init__(self, random):
        self.r = random
        self.rows = random.random() < 0.5
        self.of = {"a": ["a"], "b": ["b"]}

    def place(self):
        return self.r.choice(["k", "(k + 1)", "(k + 2)", "0", "1", "(k * 2)", "(4 - k)", "(k - 1)"])

    def element(self):
        return "%s[%s]" % (self.r.choice(self.of[self.r.choice("ab")]), self.place())

    def step(self, number):
        name = self.r.choice("ab")
        old, kind = self.r.choice(self.of[name]), self.r.random()
        if self.rows:
            row = "{ p * %d + q : p in %s; q in %s }" % (self.r.randint(1, 3), self.element(), self.element())
            new = "%s with [%s] = %s" % (old, self.place(), row if kind < 0.7 else self.element())
        elif kind < 0.6:
            new = "%s with [%s] = %s * 3 - %s" % (old, self.place(), self.element(), self.element())
        elif kind < 0.8:
            new = "%s with [0:3] = { p + %s : p in %s[1:4] }" % (old, self.element(), old)
        else:
            new = "{ p - q : p in %s; q in %s }" % (old, self.r.choice(self.of[self.r.choice("ab")]))
        self.of[name].append("%s%d" % (name, number))
        return "    let %s%d = %s\n" % (name, number, new)

    def entry(self, number):
        steps = "".join(self.step(i) for i in range(self.r.randint(2, 6)))
        taken, given = ("[n][m]i64", "[[i64]]") if self.rows else ("[n]i64", "[i64]")
        a, b = (self.r.choice(self.of[x][1:] or [x]) for x in "ab")
        return ("entry e%d (a: %s) (b: %s) (t: i64) : (%s, %s) =\n  loop (a, b) = (a, b) for k < t do\n%s    in (%s, %s)\n"
                % (number, taken, taken, given, given, steps, a, b))

    def arguments(self):
        if self.rows:
            return ["[[1,2],[3,4],[5,6],[7,8],[9,10]]", "[[2,1],[0,3],[1,1],[4,2],[5,5]]"]
        return ["[1,2,3,4,5,6]", "[9,8,7,6,5,4]"]


def judge(dpc, path, rng):
    """Writes the program of a few entries; returns what is wrong, or ''."""
    loops = [Loop(rng) for _ in range(ENTRIES)]
    with open(path, "w") as f:
        f.write("".join(loop.entry(i) for i, loop in enumerate(loops)))
    for i, loop in enumerate(loops):
        for rounds in "23":
            ask = [dpc, "run", "--no-warnings", "--entry", "e%d" % i, path]
            args = loop.arguments() + [rounds]
            truth = finish(ask + ["--eval=core"] + args, {}, LIMIT, None)
            if truth[0] not in (0, 1):
                return "e%d: core: status %s: %s" % (i, truth[0], truth[2])
            for way in WAYS:
                got = finish(ask + way + args, {}, LIMIT, None)
                if got != truth:
                    return "e%d, %s rounds: core says %s\n%s say %s" % (i, rounds, truth, " ".join(way), got)
    return ""


def main():
    options = argparse.ArgumentParser()
    options.add_argument("dpc")
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--keep", default="")
    o = options.parse_args()
    end, number, failed = time.time() + o.seconds, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.time() < end:
            number += 1
            path = os.path.join(folder, "changes.dp")
            wrong = judge(os.path.abspath(o.dpc), path, random.Random("%d/%d" % (o.seed, number)))
            if not wrong:
                continue
            failed += 1
            print("program %d of seed %d: %s" % (number, o.seed, wrong[:1000]))
            if o.keep:
                os.makedirs(o.keep, exist_ok=True)
                os.replace(path, os.path.join(o.keep, "changes_%d_%d.dp" % (o.seed, number)))
    print("%d programs, %d failed" % (number, failed))
    return failed > 0


sys.exit(main())
