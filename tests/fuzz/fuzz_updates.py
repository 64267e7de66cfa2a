#!/usr/bin/env python3
"""Random loops in parallel code whose state is arrays that are changed, exchanged, shared and left behind by instances that stop.

    fuzz_updates.py DPC [--seconds S] [--seed N] [--keep FOLDER]

What the runtime may change in place is decided by who else holds the elements; a wrong decision shows as another instance's, or an
older, array. Core is the truth: its result becomes the program's test on fused, flat and the device, with DP_POISON.
Check that it can fail: with `return true;` first in holds_alone (runtime/ops.c) every second program does.
"""
import sys

from harness import finish, fuzz

LIMIT = 300


class Loop:
    """One program: instances k with their rows, states a and b, m elements each."""

    def __init__(self, random):
        self.r = random

    def index(self):
        return self.r.choice(["i % m", "k % m", "(i + k) % m", "0", "m - 1", "(a[0] % m + m) % m"])

    def value(self):
        return self.r.choice(["i", "k * 10", "a[i % m] + 1", "b[k % m]", "a[0] + b[m - 1]", "-1"])

    def condition(self):
        return self.r.choice(["i % 2 == 0", "k % 3 == 1", "a[i % m] > b[0]", "a[0] % 2 == 0", "i > k", "b[i % m] < 3"])

    def update(self, array):
        return "%s with [%s] = %s" % (array, self.index(), self.value())

    def array(self, depth):
        kind = self.r.randrange(9) if depth > 0 else 8
        if kind < 3:
            return "(%s)" % self.update(self.array(depth - 1) if kind else self.r.choice("ab"))
        if kind == 3:
            return "(if %s then %s else %s)" % (self.condition(), self.array(depth - 1), self.array(depth - 1))
        if kind == 4:
            return "(if %s then %s else a)" % (self.condition(), self.update("a"))
        if kind == 5:
            return "(if %s then %s else b)" % (self.condition(), self.update("b") + " with [%s] = %s" % (self.index(), self.value()))
        if kind == 6:
            inner = "if %s then c with [%s] = c[%s] + 1 else c" % (self.condition(), self.index(), self.index())
            return "(loop c = %s for _ < (i + k) %% 3 do %s)" % (self.array(depth - 1), inner)
        if kind == 7:
            return "(match (i + k) %% 3 case 0 -> %s case 1 -> %s case _ -> %s)" % (self.array(depth - 1), self.array(0), self.array(depth - 1))
        return self.r.choice(["a", "b", "a", "b", "xs", "rows[k]", "rows[(k + 1) % length rows]"])

    def program(self):
        first = self.r.choice(["(xs, xs)", "(rows[k], xs)", "(rows[k], rows[k])", "(rows[k], reverse xs)", "(rows[0], rows[k])"])
        lets = "".join("let %s = %s in " % (name, self.array(2)) for name in "ab" if self.r.random() < 0.35)
        return ("entry main (rows: [[i64]]) (xs: [i64]) (stops: [i64]) : [([i64], [i64])] =\n  let m = length xs\n"
                "  in { (loop (a, b) = %s for i < s do %s(%s, %s)) : s in stops; k in length stops }\n"
                % (first, lets, self.array(3), self.array(3)))

    def arguments(self):
        n, m = self.r.randrange(3, 7), self.r.randrange(1, 5)
        rows = [[self.r.randrange(9) for _ in range(m)] for _ in range(n)]
        return [str(x) for x in (rows, [self.r.randrange(9) for _ in range(m)], [self.r.choice([0, 1, 2, 3, 5, 7]) for _ in range(n)])]


# Which error of several is reported is not determined. All messages of programs have an e, and no other failure is accepted.
ANY_ERROR = 'error "e"'


def judge(dpc, path, rng):
    """Writes the program with its test; returns what is wrong, or ''."""
    loop = Loop(rng)
    text, args = loop.program(), loop.arguments()
    with open(path, "w") as f:
        f.write(text)
    status, out, said = finish([dpc, "run", "--no-warnings", "--eval=core", path] + args, {}, LIMIT, None)
    if status not in (0, 1):
        return "core: status %s: %s" % (status, said)
    with open(path, "a") as f:
        f.write("\n-- test main\n-- input  %s\n-- %s\n" % (" ".join(args), "output " + out.strip() if status == 0 else ANY_ERROR))
    status, out, said = finish([dpc, "test", "--no-warnings", "--eval=fused,flat,device", path], {"DP_POISON": "1"}, LIMIT, None)
    return "" if status == 0 else out + said


sys.exit(fuzz("updates", judge))
