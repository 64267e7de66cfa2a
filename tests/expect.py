#!/usr/bin/env python3
"""Measures what `-- expect` lines state: expect.py DPC FILE.dp...

Exact numbers are rewritten to what a run takes, in both shapes of the kernels where these differ; bounds (`<=`) stay, and are
reported where they do not hold. With --add, a file without such a line gets one behind its first output. Read the difference
before you commit it: more launches than before need a reason."""
import os
import re
import subprocess
import sys

FACTS = ("kernels", "launches", "readbacks", "stored")
NONE = 999999999  # a number that no run has


def measure(dpc, path, text, line):
    """What the run behind line number `line` takes, in each shape: by failing on purpose."""
    lines = text.split("\n")
    lines[line] = "-- expect " + ", ".join(f"{fact} {NONE}" for fact in FACTS)
    probe = path[:-3] + ".probe.dp"
    with open(probe, "w") as out:
        out.write("\n".join(lines))
    taken = {}
    try:
        for shape in ("cpu", "gpu"):
            env = dict(os.environ, DP_SHAPE=shape)
            said = subprocess.run([dpc, "test", "--eval=device", probe], capture_output=True, text=True, env=env).stdout
            found = dict(re.findall(rf"expected (\w+) {NONE}\n  got (\d+)", said))
            if set(found) != set(FACTS):
                sys.exit(f"{path}: no numbers on the shape {shape}:\n{said}")
            taken[shape] = {fact: int(n) for fact, n in found.items()}
    finally:
        os.remove(probe)
    return taken


def stated(line):
    """(shape or "", fact, sign, number) of each."""
    return re.findall(r"(?:(cpu|gpu)\s+)?(\w+)\s+(<=\s*)?(\d+)", line[len("-- expect"):])


def rewrite(path, line, taken):
    bounds = [(shape, fact, int(n)) for shape, fact, sign, n in stated(line) if sign]
    for shape, fact, most in bounds:
        for one in [shape] if shape else taken:
            if taken[one][fact] > most:
                print(f"{path}: {one} {fact} {taken[one][fact]}, not <= {most}")
    wanted = {fact for _, fact, sign, _ in stated(line) if not sign}
    parts = [f"{shape + ' ' if shape else ''}{fact} <= {n}" for shape, fact, n in bounds]
    for fact in (f for f in FACTS if f in wanted):
        cpu, gpu = taken["cpu"][fact], taken["gpu"][fact]
        parts.append(f"{fact} {cpu}" if cpu == gpu else f"cpu {fact} {cpu}, gpu {fact} {gpu}")
    return "-- expect " + ", ".join(parts)


def first_result_end(lines):
    """The line behind the first output and its continuations."""
    for i, line in enumerate(lines):
        if re.match(r"-- output\b", line):
            end = i + 1
            while end < len(lines) and re.match(r"--\s", lines[end]) and not re.match(r"-- (input|test|property|output|error)\b", lines[end]):
                end += 1
            return end
    return None


def main():
    add = "--add" in sys.argv
    dpc, *paths = [word for word in sys.argv[1:] if word != "--add"]
    for path in paths:
        with open(path) as source:
            text = source.read()
        lines = text.split("\n")
        places = [i for i, line in enumerate(lines) if line.startswith("-- expect ")]
        if add and not places and (end := first_result_end(lines)) is not None:
            lines.insert(end, "-- expect " + ", ".join(f"{fact} 0" for fact in FACTS))
            places = [end]
        for i in places:
            bare = [line if not line.startswith("-- expect ") or k == i else "--" for k, line in enumerate(lines)]
            lines[i] = rewrite(path, lines[i], measure(dpc, path, "\n".join(bare), i))
        if places:
            with open(path, "w") as out:
                out.write("\n".join(lines))
            print(f"{path}: {', '.join(lines[i][len('-- expect '):] for i in places)}")


main()
