#!/usr/bin/env python3
"""Makes random programs (generate.py) and compares their results on all evaluators.

    fuzz_device.py DPC [--seconds S] [--seed N] [--keep FOLDER] [--shapes cpu,gpu] [--entries N] [--first K] [--print]

Core is the truth: what `dpc run --eval=core` gives for an entry's inputs becomes the program's own tests; they then have to pass
on fused, on flat, and on the device in the given shapes of the kernels (none: --shapes ''). Programs that the compiler refuses are
failures, too. A failing program is made smaller and goes to the --keep folder, as it was and as it became.
Equal seeds give equal programs: --seed N --first K begins with program K of seed N; --print only prints it.
Inputs on which core takes more than a few seconds, or too much memory, are left out.
"""
import argparse
import os
import random
import re
import sys
import tempfile
import time

from generate import Generator, Node, is_scalar, is_seq, parts_of, value_text
from harness import finish

CORE_LIMIT, DEVICE_LIMIT = 4, 400
MEMORY = 3 << 30


class Runner:
    def __init__(self, dpc, folder, shapes):
        self.dpc, self.folder, self.shapes = dpc, folder, shapes
        self.environment = {"DP_NO_CACHE": "1", "POCL_CACHE_DIR": folder + "/pocl", "DP_HEAP": str(1 << 30), "DP_POISON": "1"}
        self.memory = None if b"__asan_init" in open(dpc, "rb").read() else MEMORY # its shadow is terabytes

    def core(self, path, entry, args):
        """The line that core prints, "error" for a run-time error, None if it takes too much; or a Failure."""
        files = []
        for i, a in enumerate(args):
            files.append("%s/arg%d.in" % (self.folder, i))
            with open(files[-1], "w") as f:
                f.write(a)
        status, out, said = finish([self.dpc, "run", "--no-warnings", "--eval=core", path, "--entry", entry] + files, self.environment, CORE_LIMIT, self.memory)
        if status is None or status == 3 or "Cannot allocate" in said:
            return None
        if status == 1 and "error: " in said:
            return "error"
        if status == 0:
            return out.strip()
        raise Failure("core", "status %d: %s" % (status, said[-300:]))

    def test(self, path, evaluators, shape):
        """Raises a Failure if the program's tests do not pass."""
        environment = dict(self.environment)
        if shape:
            environment["DP_SHAPE"] = shape
        status, out, said = finish([self.dpc, "test", "--no-warnings", "--eval=" + evaluators, path], environment, DEVICE_LIMIT, None)
        name = shape or evaluators
        if status is None:
            raise Failure(name, "more than %d seconds" % DEVICE_LIMIT)
        if status:
            said += out
            where = re.search(r"failed: \w+ on [^\n]*", said)
            raise Failure(name + (" " + where.group(0) if where else ""), said[-1500:])

    def examine(self, program):
        """None or a Failure. The file with the program and its tests is self.path."""
        self.path = self.folder + "/program.dp"
        text = program.text()
        with open(self.path, "w") as f:
            f.write(text)
        try:
            status, _, said = finish([self.dpc, "check", "--no-warnings", self.path], self.environment, 20, None)
            if status:
                raise Failure("refused" if status == 2 else "check", said[:600])
            tests = self.tests(program)
            with open(self.path, "w") as f:
                f.write(text + "\n" + tests)
            self.test(self.path, "fused,flat", None)
            for shape in self.shapes if tests else []:
                self.test(self.path, "device", shape)
        except Failure as failure:
            return failure
        return None

    def tests(self, program):
        lines = []
        for e in program.entries:
            block = []
            for args in e.inputs:
                texts = [value_text(a, t, program.sums) for a, t in zip(args, e.types)]
                got = self.core(self.path, e.name, texts)
                if got is not None and len(got) < 400000:
                    block += ["-- input  " + " ".join(texts), ANY_ERROR if got == "error" else "-- output " + got]
            if block:
                lines += ["-- test " + e.name] + block + [""]
        return "\n".join(lines)


# Which error of several is reported is not determined. All messages of programs have an e, and no other failure is accepted.
ANY_ERROR = '-- error  "e"'


class Failure(Exception):
    def __init__(self, where, said):
        super().__init__(where)
        self.where, self.said = where, said

    def kind(self):
        if self.where in ("refused", "core", "check"):
            return self.where + re.sub(r"[\w/.]*:\d+:\d+", "", self.said)[:60]
        return self.where.split(" ")[0]


# ---- making it smaller ----
class Reducer:
    def __init__(self, runner, program, failure, seconds):
        self.runner, self.program, self.kind, self.end = runner, program, failure.kind(), time.time() + seconds
        if self.kind != "gpu" and self.kind != "cpu":
            runner.shapes = []
        else:
            runner.shapes = [self.kind]
        self.failure = failure

    def fails(self):
        if time.time() > self.end:
            return False
        found = self.runner.examine(self.program)
        if found and found.kind() == self.kind:
            self.failure = found
            return True
        return False

    def without(self, items):
        """Drops what may go from a list: halves first."""
        step = max(1, len(items) // 2)
        while step:
            i = 0
            while i < len(items):
                gone = items[i:i + step]
                del items[i:i + step]
                if not self.fails():
                    items[i:i] = gone
                    i += step
            step //= 2

    def run(self):
        named = re.search(r"failed: (\w+) on", self.failure.said)
        if named:
            kept = list(self.program.entries)
            self.program.entries[:] = [e for e in kept if e.name == named.group(1)]
            if not self.fails():
                self.program.entries[:] = kept
        self.without(self.program.entries)
        for e in self.program.entries:
            self.without(e.inputs)
        self.without(self.program.definitions)
        again = True
        while again and time.time() < self.end:
            again = False
            for root in [e.body for e in self.program.entries] + self.program.definitions:
                again = self.shrink(root) or again
            for e in self.program.entries:
                for args in e.inputs:
                    again = self.shrink_values(args, e.types) or again
            self.without(self.program.definitions)

    def shrink(self, node):
        """Tries something smaller of the same type for the node, then the same below it."""
        changed = False
        if node.type and len(node.parts) and node.size() + len(node.text()) > 5:
            for other in self.smaller(node):
                if len(other.text()) >= len(node.text()):
                    continue
                kept = node.parts
                node.parts = list(other.parts)
                if self.fails():
                    return self.shrink(node) or True
                node.parts = kept
        for p in list(node.parts):
            if not isinstance(p, str):
                changed = self.shrink(p) or changed
        return changed

    def smaller(self, node):
        yield Node(node.type, least(node.type, self.program.sums))
        stack = [p for p in node.parts if not isinstance(p, str)]
        while stack:
            p = stack.pop(0)
            if p.type == node.type:
                yield p
            stack += [q for q in p.parts if not isinstance(q, str)]

    def shrink_values(self, values, types):
        changed = False
        for i, (v, t) in enumerate(zip(values, types)):
            for w in simpler(v, t):
                values[i] = w
                if self.fails():
                    changed = True
                    break
                values[i] = v
        return changed


def least(t, sums):
    if t == "bool":
        return "false"
    if is_scalar(t):
        return "(0 : %s)" % t if t in ("f32", "f64") else "0" + t
    if is_seq(t):
        from generate import type_text
        return "([] : %s)" % type_text(t)
    if t[0] == "tup":
        return "(%s)" % ", ".join(least(u, sums) for u in t[1])
    if t[0] == "rec":
        return "{%s}" % ", ".join("%s = %s" % (n, least(u, sums)) for n, u in t[1])
    c, p = sums[t[1]][0]
    return "(#%s : %s)" % (c + (" " + least(p, sums) if p else ""), t[1])


def simpler(v, t):
    if is_scalar(t):
        if v:
            yield type(v)(0)
            if t != "bool" and abs(v) > 1:
                yield type(v)(1)
    elif is_seq(t):
        if v:
            yield []
        n = len(v)
        for step in (n // 2, n // 4, 1):
            if step and n > 1:
                for i in range(0, min(n, 12 * step), step):
                    yield v[:i] + v[i + step:]
        for i in range(min(n, 8)):
            for w in simpler(v[i], t[1]):
                yield v[:i] + [w] + v[i + 1:]
    elif t[0] in ("tup", "rec"):
        for i, u in enumerate(parts_of(t)):
            for w in simpler(v[i], u):
                yield v[:i] + (w,) + v[i + 1:]


def keep(o, runner, name, failure):
    if not o.keep:
        return
    os.makedirs(o.keep, exist_ok=True)
    with open(runner.path) as f, open("%s/%s.dp" % (o.keep, name), "w") as to:
        to.write("-- %s\n%s\n%s" % (failure.where, "".join("-- | %s\n" % line for line in failure.said.splitlines()[:30]), f.read()))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("dpc")
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--first", type=int, default=1)
    options.add_argument("--entries", type=int, default=5)
    options.add_argument("--shapes", default="cpu,gpu")
    options.add_argument("--reduce-seconds", type=float, default=240)
    options.add_argument("--keep", default="")
    options.add_argument("--verbose", action="store_true")
    options.add_argument("--print", action="store_true")
    o = options.parse_args()
    end, number, failed, tested = time.time() + o.seconds, o.first, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.time() < end:
            program = Generator(random.Random("%d %d" % (o.seed, number))).make(o.entries)
            if o.print:
                print(program.text())
                return
            runner = Runner(os.path.abspath(o.dpc), folder, [s for s in o.shapes.split(",") if s])
            failure = runner.examine(program)
            tested += 1
            if failure:
                failed += 1
                print("FAILED: program %d of seed %d: %s: %s" % (number, o.seed, failure.where, failure.said[-300:].strip()), flush=True)
                keep(o, runner, "d%d_%d" % (o.seed, number), failure)
                if o.reduce_seconds:
                    reducer = Reducer(runner, program, failure, o.reduce_seconds)
                    reducer.run()
                    reducer.end = time.time() + 60
                    if reducer.fails():
                        keep(o, runner, "d%d_%d_small" % (o.seed, number), reducer.failure)
            number += 1
            if o.verbose:
                print("%.0f s: %d programs, %d failed" % (o.seconds - end + time.time(), tested, failed), flush=True)
    print("%d programs, %d failed" % (tested, failed))
    sys.exit(failed > 0)


main()
