#!/usr/bin/env python3
"""Lines and branches per folder and file, from gcovr's counts: coverage_table.py COUNTS.json GAPS.txt

Not counted are branches that no program text asks for: the two of an assertion, and the way past a `switch` without `default`
(one that names every constructor) with the `return` behind it, nor, in `ok || fail(…)`, that the function that tells of a
failure returns true. Lines with GCOVR_EXCL_LINE or GCOVR_EXCL_BR_LINE are left out by gcovr; the marker must be
followed by a colon and a reason. GAPS.txt gets every line and branch that never ran, with its text."""
import json
import os
import re
import sys

LINES, BRANCHES = 97.0, 92.0  # percent, over everything
# Readers and writers of values, the cache, compaction, errors. What the process itself needs, and what only one of many machines
# can show (a full name, a mounted file, a terminal, no threads), has the targets of everything.
PROCESS = "activity|compare|guess|memory_text|options|output|stack"
ALL_BRANCHES = re.compile(r"runtime/(values/(?!(%s)\.).*|cache|compact|error)\.[ch]$" % PROCESS)
ASSERTION = re.compile(r"\b(FLAT_ASSERT|assert)\(")
ALWAYS_FALSE = re.compile(r"(?:\|\||&& !) ?(?:fail\w*|dp_error\w*|dp_expected|bad_header|open_fails)\(")
NEVER = re.compile(r"\bassert\((false|0) &&")
MARKER = re.compile(r"GCOVR_EXCL_(BR_)?(LINE|START)")


class Count:
    def __init__(self):
        self.lines = self.branches = self.lines_run = self.branches_run = 0

    def add(self, other):
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def share(self, what):
        total, run = getattr(self, what), getattr(self, what + "_run")
        return 100.0 * run / total if total else 100.0

    def columns(self):
        return "%6d %6.1f %7d %6.1f" % (self.lines, self.share("lines"), self.branches, self.share("branches"))


def end_of_total(text, at):
    """The index of the line that ends the `switch` of line `at`, if that has no `default` at its own level; else None."""
    depth = len(text[at]) - len(text[at].lstrip())
    for end, line in enumerate(text[at + 1:], at + 1):
        inner = line.strip()
        if len(line) - len(line.lstrip()) == depth and inner.startswith("default:"):
            return None
        if len(line) - len(line.lstrip()) == depth and inner.startswith("}"):
            return end
    return None


def returns_past_switches(text):
    """The line numbers of each `return` that stands behind a `switch` that names every constructor."""
    ends = [end_of_total(text, at) for at, line in enumerate(text) if "switch (" in line]
    return {end + 2 for end in ends if end is not None and text[end + 1].strip().startswith("return")}


def branches_of(line, text, at):
    """The branches that count, as a list of whether each was taken."""
    if ASSERTION.search(text[at]):
        return []
    taken = [b["count"] > 0 for b in line["branches"]]
    # clang-format may have broken the line in front of the call
    statement = text[at] + " " + text[at + 1].strip() if text[at].endswith("||") else text[at]
    for _ in ALWAYS_FALSE.findall(statement):
        if False in taken:
            taken.remove(False)
    if "switch (" in text[at] and False in taken and end_of_total(text, at) is not None:
        taken.remove(False)
    return taken


def read_file(entry, text):
    """The counts of one file, and its gaps: the lines that never ran, (line, taken, all) for branches of those that did."""
    count, lines, branches, past = Count(), [], [], returns_past_switches(text)
    for line in entry["lines"]:
        number = line["line_number"]
        at = number - 1
        if line["gcovr/noncode"] or line["gcovr/excluded"] or at >= len(text) or NEVER.search(text[at]):
            continue
        if number in past and not line["count"]:
            continue
        count.lines += 1
        count.lines_run += line["count"] > 0
        taken = branches_of(line, text, at)
        count.branches += len(taken)
        count.branches_run += sum(taken)
        if not line["count"]:
            lines.append(number)
        elif not all(taken):
            branches.append((number, sum(taken), len(taken)))
    return count, lines, branches


def ranges(numbers):
    """1-3,7 of [1, 2, 3, 7]."""
    parts = []
    for n in numbers:
        if parts and parts[-1][1] == n - 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return ",".join("%d" % a if a == b else "%d-%d" % (a, b) for a, b in parts)


def write_gaps(out, name, text, lines, branches):
    taken = {number: "%d/%d" % (run, total) for number, run, total in branches}
    taken.update({number: "never" for number in lines})
    for number in sorted(taken):
        out.write("%s:%d: %-6s %s\n" % (name, number, taken[number], text[number - 1].strip()))


def markers_without_reason(name, text):
    return ["%s:%d: GCOVR_EXCL without `: reason`" % (name, n) for n, line in enumerate(text, 1)
            if MARKER.search(line) and not re.search(r"GCOVR_EXCL_\w+: \w", line)]


def main():
    counts, wrong, files = Count(), [], {}
    with open(sys.argv[1]) as f:
        entries = json.load(f)["files"]
    with open(sys.argv[2], "w") as out:
        for entry in entries:
            name = entry["file"]
            with open(name) as f:
                text = f.read().split("\n")
            count, lines, branches = read_file(entry, text)
            counts.add(count)
            files.setdefault(os.path.dirname(name), []).append((name, count, lines))
            write_gaps(out, name, text, lines, branches)
            wrong += markers_without_reason(name, text)
            if ALL_BRANCHES.match(name) and count.branches_run < count.branches:
                wrong.append("%s: %d of %d branches, wanted all" % (name, count.branches_run, count.branches))
    print("%-40s %6s %6s %7s %6s  %s" % ("", "lines", "%", "branch", "%", "lines that never ran"))
    for folder in sorted(files):
        total = Count()
        for _, count, _ in files[folder]:
            total.add(count)
        print("%-40s %s" % (folder + "/", total.columns()))
        for name, count, lines in sorted(files[folder]):
            print("  %-38s %s  %s" % (os.path.basename(name), count.columns(), ranges(lines)))
    print("%-40s %s" % ("all", counts.columns()))
    for what, target in (("lines", LINES), ("branches", BRANCHES)):
        if counts.share(what) < target:
            wrong.append("%.1f %% of the %s, wanted %.0f" % (counts.share(what), what, target))
    print("\n".join("MISSED: " + w for w in wrong) or "every target is met")
    sys.exit(len(wrong) > 0)


main()
