#!/usr/bin/env python3
"""Random loops at depth 0, and random recursion, that change two arrays, or two tables, also of rows that grow, and read older ones behind their changes, at times
in wrong places.

    fuzz_changes.py DPC [--seconds S] [--seed N] [--keep FOLDER]

Core is the truth, of results and of messages: loops by one lane, flattened loops and the flat evaluator must agree with it.
Check that it can fail: two of six seeds did while core/own_places.c put reads in front of the check that there is what they read.
"""
import random
import sys

from harness import finish, fuzz

LIMIT = 60
ENTRIES = 8
ARRAYS = ["[1,2,3,4,5,6]", "[9,8,7,6,5,4]"]
TABLES = ["[[1,2],[3,4],[5,6],[7,8],[9,10]]", "[[2,1],[0,3],[1,1],[4,2],[5,5]]"]
AT = "def at (xs: [i64]) (k: i64) : i64 = if length xs == 0 then 0 - 1 else xs[(k % length xs + length xs) % length xs]\n"
WAYS = ([], ["--param", "nest=lane,loops=lane"], ["--param", "nest=flat,loops=flat"], ["--eval=flat"])


class Loop:
    """One entry: arrays a and b of n numbers, or of n rows of m; each step of a round makes a newer a or b of any that there are."""

    def __init__(self, random):
        self.r = random
        self.rows = random.random() < 0.5
        self.of = {"a": ["a"], "b": ["b"]}

    def place(self):
        return self.r.choice(["k", "(k + 1)", "(k + 2)", "0", "1", "(4 - k)", "(max 0 (k - 1))"] + ["(k * 2)", "(k - 1)"] * (self.r.random() < 0.1))

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

    def calls(self, number):
        for rounds in "23":
            yield "e%d" % number, (TABLES if self.rows else ARRAYS) + [rounds]


class Stacks:
    """A table, or two, whose rows a loop's rounds append to, shorten, replace and look at, in older versions, too, and in branches."""

    def __init__(self, random):
        self.r = random
        self.of = {"a": ["a"], "b": ["b"]}

    def table(self, old=0.25):
        versions = self.of[self.r.choice("ab")]
        return self.r.choice(versions) if self.r.random() < old else versions[-1]

    def place(self, table):
        return self.r.choice(["(k %% length %s)" % table, "((k * 3 + s) %% length %s)" % table, "0", "1"] + ["k"] * (self.r.random() < 0.1))

    def row(self, table=None):
        table = table or self.table()
        return "%s[%s]" % (table, self.place(table))

    def number(self):
        row = self.row()
        return self.r.choice(["k", "s", "length " + row, "at %s s" % row, "sum " + row, "last " + row if self.r.random() < 0.2 else "k * 2"])

    def new_row(self, table, place):
        row = "%s[%s]" % (self.r.choice([table] * 4 + [self.table()]), place)
        kind = self.r.random()
        if kind < 0.5:
            return "%s ++ [%s]" % (row, ", ".join(self.number() for _ in range(self.r.choice([1, 1, 1, 2]))))
        if kind < 0.65:
            return "take (max 0 (length %s - 1)) %s" % (row, row)
        if kind < 0.7:
            return "init " + row
        if kind < 0.78:
            return "take (min 1 (length %s)) %s ++ [%s]" % (row, row, self.number())
        return self.r.choice(["%s ++ %s" % (row, self.row()), "[%s]" % self.number(), self.row(), "{ x + 1 : x in %s }" % row, "reverse " + row])

    def changed(self, name):
        table = self.r.choice(self.of[name]) if self.r.random() < 0.2 else self.of[name][-1]
        place = self.place(table)
        kind = self.r.random()
        if kind < 0.1:
            return "if length %s[%s] > 0 then %s with [%s, 0] = %s else %s" % (table, place, table, place, self.number(), table)
        if kind < 0.25:
            return "%s with [%s] = (if %s %% 2 == 0 then %s else %s[%s])" % (table, place, self.number(), self.new_row(table, place), table, place)
        change = "%s with [%s] = %s" % (table, place, self.new_row(table, place))
        if kind < 0.45:
            other = self.place(table)
            change += " with [%s] = %s" % (other, self.new_row(table, other))
        if kind > 0.8:
            return "if %s %% 3 == 0 then %s else %s" % (self.number(), change, self.r.choice(self.of[name]))
        return change

    def entry(self, number):
        steps = ""
        for i in range(self.r.randint(1, 4)):
            name, kind = self.r.choice("ab"), self.r.random()
            if kind < 0.2:
                steps += "    let s = (s + %s) %% 1000\n" % self.number()
            elif kind < 0.3:
                steps += "    let %s%d = loop %s = %s for k < 3 do %s\n" % (name, i, name, self.of[name][-1], self.changed(name).replace(
                    self.of[name][-1], name))
                self.of[name].append("%s%d" % (name, i))
            else:
                steps += "    let %s%d = %s\n" % (name, i, self.changed(name))
                self.of[name].append("%s%d" % (name, i))
        a, b = (self.r.choice(self.of[x][1:] or [x]) if self.r.random() < 0.2 else self.of[x][-1] for x in "ab")
        return ("entry e%d (a: [[i64]]) (b: [[i64]]) (t: i64) : ([[i64]], [[i64]], i64) =\n  loop (a, b, s) = (a, b, 1) for k < t do\n%s    in (%s, %s, s)\n"
                "entry p%d (a: [[i64]]) (b: [[i64]]) (ts: [i64]) : [([[i64]], [[i64]], i64)] = { e%d a b t : t in ts }\n"
                % (number, steps or "    let s = s + k\n", a, b, number, number))

    def calls(self, number):
        tables = ["[[1,2],[],[3,4,5],[7]]", "[[2,1],[0,3],[]]"]
        yield "e%d" % number, tables + ["7"]
        yield "e%d" % number, ["[[],[],[]]", "[[1]]", "25"]
        yield "p%d" % number, tables + ["[3,0,9]"]


class Recursion:
    """A function that calls itself in branches and loops with arrays that it has changed, and goes on with these or older ones. Its arrays
    are changed by elements only, also of rows, or are any; it gives a number, or an array, too."""

    def __init__(self, random):
        self.r = random
        self.kind = self.r.choice(["elements", "elements", "rows", "any"])
        self.gives = self.kind != "rows" and self.r.random() < 0.4
        self.names = 0

    def array(self, scope):
        return scope[-1] if self.r.random() < 0.5 else self.r.choice(scope)

    def place(self):
        return self.r.choice(["i", "k", "(i + k)", "(k * 2)"] if self.r.random() < 0.1 else ["(i % 5)", "(k % 5)", "((i + k) % 5)", "0", "4"])

    def read(self, scope):
        if self.kind == "rows":
            return "%s[%s][%s]" % (self.array(scope), self.place(), self.r.choice(["0", "1", "(k % 2)"]))
        return "at %s (%s)" % (self.array(scope), self.r.choice(["i", "k", "s", "i + k"])) if self.r.random() < 0.9 else "%s[0]" % self.array(scope)

    def scalar(self, scope):
        whole = "sum (flatten %s)" if self.kind == "rows" else "sum %s"
        return self.r.choice(["i", "k", "s", self.read(scope), self.read(scope) + " * 3 - s", whole % self.array(scope)])

    def change(self, scope):
        kind = self.r.random() if self.kind == "any" else 1
        if kind < 0.6:
            return self.r.choice(["{ x + i : x in %s | x %% 3 != k %% 3 }", "%s ++ [s]", "drop (min 1 (length %s)) %s", "reverse %s", "[k, i] ++ %s"]).replace(
                "%%", "%").replace("%s", self.array(scope))
        if self.kind == "rows":
            return "%s with [%s, %s] = %s" % (self.array(scope), self.place(), self.r.choice(["0", "1", "(k % 2)"]), self.scalar(scope))
        return "%s with [%s] = %s" % (self.array(scope), self.place(), self.scalar(scope))

    def call(self, a, b):
        return "f (i - 1) %s %s %s" % (self.r.choice(["k", "(k + 1)", "(s % 5)"]), self.array(a), self.array(b))

    def result(self, a, b):
        return "(s, %s)" % self.array(self.r.choice([a, b])) if self.gives else "s"

    def steps(self, a, b, depth, indent):
        """Lines that end with the result; deeper ones give the number alone."""
        out, a, b, outermost = "", list(a), list(b), indent == "  "
        for _ in range(self.r.randint(2, 5)):
            kind, arrays, self.names = self.r.random(), self.r.choice([a, b]), self.names + 1
            name = "v%d" % self.names
            if kind < 0.4:
                out += "%slet %s = %s\n" % (indent, name, self.change(arrays))
                arrays.append(name)
            elif kind < 0.7 and self.gives:
                out += "%slet (t, %s) = %s\n%slet s = s + t\n" % (indent, name, self.call(a, b), indent)
                arrays.append(name)
            elif kind < 0.7:
                out += "%slet s = s + %s\n" % (indent, self.call(a, b))
            elif kind < 0.78:
                out += "%slet s = (s + %s) %% 1000003\n" % (indent, self.scalar(arrays))
            elif kind < 0.88 and depth:
                inner = [self.steps(a, b, depth - 1, indent + "  ") for _ in range(2)]
                out += "%slet s = if %s > %s then\n%s%selse\n%s" % (indent, self.scalar(a), self.scalar(b), inner[0], indent, inner[1])
            elif depth:
                out += "%slet s = loop s = s for k < %d do\n%s" % (indent, self.r.randint(1, 3), self.steps(a, b, depth - 1, indent + "  "))
        last = self.result(a, b) if outermost else "s"
        return out + "%s%s%s\n" % (indent, "in " if out else "", last)

    def entry(self, number):
        f, array = "f%d" % number, "[[i64]]" if self.kind == "rows" else "[i64]"
        given = "(i64, [i64])" if self.gives else "i64"
        end = "(k + %s, b)" % self.read("a") if self.gives else "k + %s - %s" % (self.read("a"), self.read("b"))
        body = self.steps(["a"], ["b"], 2, "  ").replace("f (i - 1)", f + " (i - 1)")
        return ("def %s (i: i64) (k: i64) (a: %s) (b: %s) : %s =\n  let s = i * k\n  in if i <= 0 then %s else\n%s"
                "entry e%d (a: %s) (b: %s) (n: i64) : %s = %s n 1 a b\nentry p%d (a: %s) (b: %s) (ns: [i64]) : [%s] = { %s n 1 a b : n in ns }\n"
                % (f, array, array, given, end, body, number, array, array, given, f, number, array, array, given, f))

    def calls(self, number):
        arrays = TABLES if self.kind == "rows" else ARRAYS
        return ("e%d" % number, arrays + ["3"]), ("p%d" % number, arrays + ["[2,0,3,1]"])


def same(got, truth, entry):
    """Of several instances that fail, another one may be reported."""
    return got == truth or (entry[0] == "p" and got[0] == truth[0] == 1)


def judge(dpc, path, rng):
    """Writes the program of a few entries; returns what is wrong, or ''."""
    parts = [rng.choice([Loop, Recursion, Stacks, Stacks])(rng) for _ in range(ENTRIES)]
    with open(path, "w") as f:
        f.write(AT + "".join(part.entry(i) for i, part in enumerate(parts)))
    status, _, said = finish([dpc, "check", "--no-warnings", path], {}, LIMIT, None)
    if status != 0:
        return "does not compile: " + said
    for i, part in enumerate(parts):
        for entry, args in part.calls(i):
            ask = [dpc, "run", "--no-warnings", "--entry", entry, path]
            truth = finish(ask + ["--eval=core"] + args, {}, LIMIT, None)
            if truth[0] is None:
                continue
            if truth[0] not in (0, 1):
                return "%s: core: status %s: %s" % (entry, truth[0], truth[2])
            for way in WAYS:
                got = finish(ask + way + args, {}, LIMIT, None)
                if not same(got, truth, entry):
                    return "%s %s: core says %s\n%s say %s" % (entry, " ".join(args), truth, " ".join(way), got)
    return ""


sys.exit(fuzz("changes", judge))
