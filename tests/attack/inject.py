#!/usr/bin/env python3
"""Short commands with one call failing: inject.py DPC [--all] [--seed N] [--jobs N] [--shard K/N] [--without WHAT | --only WHAT]
                                              [--keep FILE] [NAME…]

The modules beside this file (in BUILD/attack) let the k-th allocation (mfail), the k-th call that writes (wfail) or the k-th
OpenCL call (clfail) of a command fail, once or from then on (sticky). Whatever fails, a command
  ends, by a status that docs/tools.md gives for it, with a message; or as if nothing had failed;
  leaves each output as it was before or complete, and nothing else: no file in its folder, in TMPDIR or the cache.
By default a sample of the k is tried, chosen by the seed; --all tries every one. NAME: only cases whose name begins so, or
case:module. VERBOSE=1 prints a line for each case.

Shard K of N tries every N-th injection: on one machine or on several, the N shards together try all of them, once. Cases need
`cc` where they link a program and `opencl` where they run one: --without leaves out those that need it, --only the others."""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

SECONDS = 60  # a command's limit: all of them take less than one on a quiet machine, once
FIRST_SECONDS = 600  # kernels have been compiled
GIVES_UP = 124
# The statuses of a command in which such a call fails (0 where it can do without).
STATUSES = {"mfail": (0, 3), "wfail": (0, 3, 5), "clfail": (0, 3, 4)}

MAP = "-- test main\n-- input  [1, 2] 3\n-- output [4, 5]\nentry main (xs: [i32]) (k: i32) : [i32] = { x + k : x in xs }\n"
WRONG = "entry main (xs: [i32]) : i32 = sum { x + y : x in xs }\ndef f (x: i64) : bool = x\n"
LOOPS = "entry main (xs: [[i64]]) : [[i64]] = loop a = xs for i < 3 do { sort (r ++ [i]) : r in a }\n"
PROPERTY = "-- property same\ndef same (xs: [[i32]]) = length (concat xs) < 5\nentry main (n: i64) : i64 = n\n"
IMPORTS = 'import "order"\nentry main (xs: [i64]) : [i64] = merge xs xs\n'
TYPES = {"numbers": "[i64]", "matrix": "[[f64]]", "sparse": "[[(i32, f64)]]", "table": "[{id: i32, name: [u8], size: f32}]",
         "grey": "[[u8]]", "colour": "[[(u8, u8, u8)]]", "sum": "[#x (i64, [u8]) | #y]"}
VALUES = {"numbers": "[1, -2, 3]", "matrix": "[[1.5, 2], [3, -4]]", "sparse": "[[(0, 1.5)], [], [(1, 2), (2, 3)]]",
          "table": '[{id = 1, name = "one, two", size = 0.5}, {id = 2, name = "", size = 3}]', "grey": "[[1, 2, 3], [4, 5, 6]]",
          "colour": "[[(1, 2, 3), (4, 5, 6)]]", "sum": '[#x (1, "text"), #y]'}
FORMATS = {"numbers": "txt npy csv dpv", "matrix": "txt npy mtx dpv", "sparse": "mtx dpv", "table": "csv dpv txt",
           "grey": "pgm png npy", "colour": "ppm png", "sum": "txt dpv"}


class Case:
    """A command in a folder of its own. `inside`: the program whose calls fail; `status`: the one without a failure; `quick`:
    how many injections a sample has, of the `last` calls only, where those before are another case's; `volatile`: files whose
    text is never the same; `needs`: "cc", "cc opencl" or nothing, as for what is `built`; `each`: a sample has the first
    call of each OpenCL function, too."""

    def __init__(self, name, *command, inside="dpc", files=None, built=(), modules=("mfail", "wfail"), status=0, stdin=None,
                 quick=12, last=0, env=None, volatile=(), needs="", each=False):
        self.name, self.command, self.inside, self.files, self.built = name, command, inside, files or {}, built
        self.modules, self.status, self.stdin, self.env, self.volatile = modules, status, stdin, env or {}, volatile
        self.quick, self.last, self.each = quick, last, each
        self.needs = ("cc opencl" if built else needs).split()


CL = ("mfail", "wfail", "clfail")


def cases_of_commands():
    program = {"p.dp": MAP}
    yield Case("check", "dpc", "check", "p.dp", files=program, quick=60)
    yield Case("check_wrong", "dpc", "check", "w.dp", files={"w.dp": WRONG}, status=2)
    yield Case("check_imports", "dpc", "check", "p.dp", files={"p.dp": IMPORTS})
    for stage in ("ast", "types", "core", "fused", "flat", "plan", "opencl", "host"):
        yield Case("dump_" + stage, "dpc", "dump", "--stage=" + stage, "p.dp", files={"p.dp": LOOPS}, quick=6)
    for evaluator in ("core", "fused", "flat"):
        yield Case("run_" + evaluator, "dpc", "run", "--eval=" + evaluator, "p.dp", "[[3,1],[2]]", files={"p.dp": LOOPS}, last=80)
        yield Case("run_o_" + evaluator, "dpc", "run", "--eval=" + evaluator, "p.dp", "[[3,1],[2]]", "-o", "o.txt",
                   files={"p.dp": LOOPS, "o.txt": "old\n"}, quick=6)
    yield Case("run_stdin", "dpc", "run", "--eval=core", "p.dp", files=program, stdin="[1, 2] 3", quick=6)
    yield Case("run_help", "dpc", "run", "--eval=core", "p.dp", "--help", files=program, quick=6)
    yield Case("run_device", "dpc", "run", "p.dp", "[1,2]", "3", files=program, quick=4, needs="cc opencl")
    yield Case("run_device_inside", "dpc", "run", "p.dp", "[1,2]", "3", files=program, inside="program", modules=CL, quick=4,
               needs="cc opencl")
    yield Case("build", "dpc", "build", "p.dp", files={"p.dp": MAP, "p": "old"}, quick=4, needs="cc")
    yield Case("build_o", "dpc", "build", "p.dp", "-o", "other", files=program, quick=3, needs="cc")
    yield Case("test", "dpc", "test", "--eval=core,flat", "p.dp", files=program, quick=40, last=120)
    yield Case("test_device", "dpc", "test", "--eval=device", "p.dp", files=program, quick=4, last=40, needs="cc opencl")
    yield Case("test_property", "dpc", "test", "--eval=core", "p.dp", files={"p.dp": PROPERTY}, status=1)
    yield Case("fmt", "dpc", "fmt", "p.dp", files={"p.dp": MAP.replace("{ x + k", "{x+k")}, quick=60)
    yield Case("fmt_check", "dpc", "fmt", "--check", "p.dp", files={"p.dp": MAP.replace("{ x + k", "{x+k")}, status=1)
    yield Case("fmt_stdin", "dpc", "fmt", "-", stdin=LOOPS)
    yield Case("explain", "dpc", "explain-error", "E0301")
    yield Case("explain_all", "dpc", "explain-error")
    yield Case("help", "dpc", "help")
    yield Case("version", "dpc", "--version")
    yield Case("devices", "dpc", "devices", modules=CL, needs="opencl")


def cases_of_formats(files_of):
    """Each format read and written by an interpreter, and a few by an executable."""
    for kind, formats in FORMATS.items():
        for ending in formats.split():
            name = "%s.%s" % (kind, ending)
            files = {"x.dp": "entry main (x: %s) : %s = x\n" % (TYPES[kind], TYPES[kind]), name: files_of[name]}
            yield Case("read_" + name, "dpc", "run", "--eval=core", "x.dp", name, files=files, modules=("mfail",), quick=8, last=30)
            yield Case("write_" + name, "dpc", "run", "--eval=core", "x.dp", name, "-o", "o." + ending,
                       files={**files, "o." + ending: "old"}, quick=8, last=40)
            if ending in ("dpv", "csv", "png"):
                yield Case("device_" + name, "./" + kind, name, "-o", "o." + ending, inside=kind, files={name: files_of[name]},
                           built=[(kind, files["x.dp"])], modules=CL, quick=4)


def cases_of_devices(build):
    """Executables; with PoCL's own name, and with another, so that kernels are cached."""
    platforms = [("pocl", {})]
    if os.path.exists(os.path.join(build, "attack", "fakeplat.so")):
        platforms.append(("fake", {"PRELOAD": "fakeplat"}))
    for name, env in platforms:
        # asked for a binary, PoCL compiles all kernels of a program: under its other name, one with few of them
        program, text, args = ("loops", LOOPS, ["[[3,1],[2]]"]) if name == "pocl" else ("map", MAP, ["[1,2]", "3"])
        for cache in ("warm", "cold"):
            yield Case("device_%s_%s" % (name, cache), "./" + program, *args, "-o", "o.txt", inside=program, files={"o.txt": "old\n"},
                       built=[(program, text)], modules=CL, quick=6, env={**env, "CACHE": cache}, each=name == "fake")
    yield Case("device_gpu", "./loops", "[[3,1],[2]]", inside="loops", built=[("loops", LOOPS)], modules=CL, quick=4,
               env={"DP_SHAPE": "gpu"}, each=True)
    yield Case("device_times", "./loops", "[[3,1],[2]]", "-r", "2", "-t", "times", inside="loops", built=[("loops", LOOPS)], modules=CL, quick=6,
               volatile=["times"])
    yield Case("device_profile", "./loops", "[[3,1],[2]]", "--profile", inside="loops", built=[("loops", LOOPS)], modules=CL, quick=6,
               each=True)
    yield Case("device_help", "./loops", "--help", inside="loops", built=[("loops", LOOPS)])


class Driver:
    def __init__(self, options):
        self.options = options
        self.dpc = os.path.abspath(options.dpc)
        self.build = os.path.dirname(self.dpc)
        self.top = tempfile.mkdtemp(prefix="inject.")
        self.executables = {}
        self.kept = open(options.keep, "w") if options.keep else None

    # ---- what stays the same for all injections ----

    def make(self, name, text):
        """An executable, built once, beside a cache with its kernels."""
        if name not in self.executables:
            folder = os.path.join(self.top, "built", name)
            os.makedirs(folder)
            with open(os.path.join(folder, name + ".dp"), "w") as f:
                f.write(text)
            subprocess.run([self.dpc, "build", name + ".dp"], cwd=folder, check=True)
            self.executables[name] = os.path.join(folder, name)
        return self.executables[name]

    def make_values(self):
        folder = os.path.join(self.top, "values")
        os.makedirs(folder)
        made = {}
        for kind, formats in FORMATS.items():
            with open(os.path.join(folder, "x.dp"), "w") as f:
                f.write("entry main (x: %s) : %s = x\n" % (TYPES[kind], TYPES[kind]))
            for ending in formats.split():
                name = "%s.%s" % (kind, ending)
                subprocess.run([self.dpc, "run", "--eval=core", "x.dp", VALUES[kind], "-o", name], cwd=folder, check=True)
                with open(os.path.join(folder, name), "rb") as f:
                    made[name] = f.read()
        return made

    # ---- one run ----

    def prepare(self, case, folder):
        work = os.path.join(folder, "work")
        for name in (work, os.path.join(folder, "tmp"), os.path.join(folder, "cache")):
            os.makedirs(name, mode=0o700)
        for name, content in case.files.items():
            with open(os.path.join(work, name), "wb") as f:
                f.write(content if isinstance(content, bytes) else content.encode())
        for name, text in case.built:
            os.link(self.make(name, text), os.path.join(work, name)) # a copy that a child holds open would be busy
        warm = self.warm(case)
        if warm and os.path.exists(warm):
            shutil.copytree(warm, os.path.join(folder, "cache", "dpc"))
        return work

    def warm(self, case):
        """Where the kernels of a case lie that it finds in the cache."""
        return os.path.join(self.top, "warm", case.name) if case.env.get("CACHE") == "warm" else None

    def run(self, case, module, k, sticky, call=None):
        """Call k fails, of the function `call` if that is given. Status, what it printed, its files afterwards, strays, the module's log."""
        folder = tempfile.mkdtemp(dir=self.top)
        work = self.prepare(case, folder)
        log = os.path.join(folder, "log")
        preload = [os.path.join(self.build, "attack", m + ".so") for m in (case.env.get("PRELOAD"), module) if m]
        env = dict(os.environ, NO_COLOR="1", TMPDIR=os.path.join(folder, "tmp"), XDG_CACHE_HOME=os.path.join(folder, "cache"),
                   POCL_CACHE_DIR=os.path.join(self.top, "pocl"), ATTACK_IN=case.inside, ATTACK_LOG=log,
                   LD_PRELOAD=":".join(preload), ASAN_OPTIONS="detect_leaks=0")
        env.update({name: value for name, value in case.env.items() if name.startswith("DP_")})
        if k:
            env["ATTACK_AT"] = str(k)
        else:
            env["ATTACK_NAMES"] = "1"
        if call:
            env["ATTACK_CALL"] = call
        if sticky:
            env["ATTACK_STICKY"] = "1"
        command = [self.dpc if word == "dpc" and i == 0 else word for i, word in enumerate(case.command)]
        if case.stdin is not None:
            with open(os.path.join(folder, "in"), "w") as f:
                f.write(case.stdin)
        with open(os.path.join(folder, "in") if case.stdin is not None else os.devnull) as stdin:
            try:
                done = subprocess.run(command, cwd=work, env=env, stdin=stdin, capture_output=True,
                                      timeout=SECONDS if k else FIRST_SECONDS)
                status, out, err = done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")
            except subprocess.TimeoutExpired:
                status, out, err = GIVES_UP, b"", ""
        out = re.sub(rb"; [0-9.]+ s\n$", b"\n", out) # how long `dpc test` took
        files = {name: content for name, content in contents(work).items() if name not in case.volatile}
        result = (status, out, err, files, strays(folder), read(log))
        if case.env.get("CACHE") == "warm" and not k and os.path.exists(os.path.join(folder, "cache", "dpc")):
            shutil.copytree(os.path.join(folder, "cache", "dpc"), self.warm(case), dirs_exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        return result

    def outcome(self, case, module, clean, k, sticky, call=None):
        """How the run ends in which call k fails, and what is wrong with it, or None."""
        status, out, err, files, stray, log = self.run(case, module, k, sticky, call)
        good_status, good_out, _, good_files, _, _ = clean
        before = {name: content if isinstance(content, bytes) else content.encode() for name, content in case.files.items()}
        end = err.strip().split("\n")[-1][-160:]
        reached = log.split("\n")[0] or "not reached"
        problem = None
        if status == GIVES_UP:
            problem = "HANG"
        elif status < 0 or status >= 128:
            problem = "SIGNAL %d" % (-status if status < 0 else status - 128)
        elif stray:
            problem = "LEFT BEHIND %s" % " ".join(stray)
        elif status == good_status and out == good_out and files == good_files:
            return "as if nothing had failed", None
        elif status == good_status and status == 0:
            problem = "STATUS 0, WRONG RESULT"
        elif status not in STATUSES[module] and not (status == good_status and err.strip()):
            problem = "STATUS %d" % status
        elif not err.strip():
            problem = "SILENT, status %d" % status
        elif module != "wfail" and not good_out.startswith(out):
            problem = "OTHER OUTPUT, status %d" % status
        else:
            for name in sorted(set(files) | set(before)):
                built = name in [b for b, _ in case.built]
                if not built and files.get(name) not in (before.get(name), good_files.get(name)):
                    problem = "FILE %s, status %d" % (name, status)
        if not problem:
            return "status %d" % status, None
        return "wrong", "%s [%s %d %s%s] %s" % (problem, module, k, reached, ", sticky" if sticky else "", end)

    # ---- a case ----

    def injections(self, case, module, names):
        calls = len(names)
        every = [(k, sticky) for sticky in (False, True) for k in range(1, calls + 1)]
        if case.last and not self.options.all:
            every = [i for i in every if i[0] > calls - case.last]
        if not self.options.all and len(every) > case.quick:
            chance = random.Random(zlib.crc32(("%s %s %d" % (case.name, module, self.options.seed)).encode()))
            every = chance.sample(every, case.quick)
            if case.each and module == "clfail":
                every += [(1, sticky, name) for name in sorted(set(names)) for sticky in (False, True)]
        shard, shards = self.options.shard
        return every[shard - 1::shards]

    def attack(self, pool, case, module):
        """How often which outcome was met, and what was wrong."""
        if case.env.get("CACHE") == "warm":
            self.run(case, module, 0, False)
        clean = self.run(case, module, 0, False)
        status, _, err, _, stray, log = clean
        names = log.split("\n")[:-2] # and how many there were
        if status != case.status or stray:
            return {"wrong": 1}, ["without a failure: status %d, %s %s" % (status, stray, err[-200:])]
        tried = self.injections(case, module, names)
        ends = list(pool.map(lambda i: self.outcome(case, module, clean, *i), tried))
        found = [wrong for _, wrong in ends if wrong]
        if os.environ.get("VERBOSE"):
            print("%-28s %-6s %4d calls, %4d tried, %d wrong" % (case.name, module, len(names), len(tried), len(found)), flush=True)
        return collections.Counter(end for end, _ in ends), found

    def report(self, case, module, found):
        command = " ".join(case.command)
        for line in found:
            if self.kept:
                self.kept.write("%s: %s: %s\n" % (case.name, command, line))
                self.kept.flush()
        for line in found[:5]:
            print("FAILED: %s: %s: %s" % (case.name, command, line), flush=True)
        if len(found) > 5:
            print("FAILED: %s: and %d more with %s" % (case.name, len(found) - 5, module), flush=True)

    def chosen(self, case, module):
        without, only, names = self.options.without, self.options.only, self.options.names
        if (without and without in case.needs) or (only and only not in case.needs):
            return False
        return not names or module in names or ("%s:%s" % (case.name, module)).startswith(tuple(names))

    def main(self):
        outcomes = collections.Counter()
        cases = [*cases_of_commands(), *cases_of_formats(self.make_values()), *cases_of_devices(self.build)]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for case in cases:
                for module in case.modules:
                    if self.chosen(case, module):
                        ends, found = self.attack(pool, case, module)
                        outcomes.update(ends)
                        self.report(case, module, found)
        tried, wrong = sum(outcomes.values()), outcomes.pop("wrong", 0)
        print("outcomes: " + ", ".join("%d %s" % (n, end) for end, n in sorted(outcomes.items())))
        print("%d injections, %d failed" % (tried, wrong))
        return wrong > 0 or tried == 0


def read(path):
    try:
        with open(path) as f:
            return f.read()
    except FileNotFoundError:
        return ""


def contents(folder):
    found = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as f:
            found[name] = f.read()
    return found


def strays(folder):
    """Files that should not be there any more: all in TMPDIR, and what is half written in the cache."""
    found = ["tmp/" + name for name in os.listdir(os.path.join(folder, "tmp"))]
    for place, _, names in os.walk(os.path.join(folder, "cache")):
        found += [os.path.relpath(os.path.join(place, name), folder) for name in names
                  if not name.endswith(".bin") and name != "trimmed"]
    return found


def shard(text):
    """(K, N) of K/N."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError("%s is not K/N with 1 <= K <= N" % text)
    return int(match[1]), int(match[2])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dpc")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--shard", type=shard, default=(1, 1), metavar="K/N")
    parser.add_argument("--without", choices=("cc", "opencl"))
    parser.add_argument("--only", choices=("cc", "opencl"))
    parser.add_argument("--keep", help="a file for everything that was wrong")
    parser.add_argument("names", nargs="*")
    driver = Driver(parser.parse_intermixed_args())
    try:
        failed = driver.main()
    finally:
        shutil.rmtree(driver.top, ignore_errors=True)
    sys.exit(failed)


main()
