#!/usr/bin/env python3
"""What the compiler itself takes, without the C compiler: compile_times.py DPC [FILE.dp...]

User and system time of `dpc dump --stage=host`, the least of five, in milliseconds: of each example (aim: 10 ms), and of a
generated program of 5,000 lines (aim: 2 s). Exits 1 where an aim is missed."""
import glob
import os
import subprocess
import sys
import tempfile

RUNS = 5


def cpu_ms(dpc, path):
    child = subprocess.Popen([dpc, "dump", "--stage=host", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read().decode()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = status
    if status:
        sys.exit(f"{path}: {said}")
    return 1000 * (used.ru_utime + used.ru_stime)


def long_program(lines):
    """Functions of sequences, and a main that chains reductions: each needs what the last gave."""
    text = []
    for i in range(lines // 8):
        text += [f"def f{i} (xs: [i64]) (n: i64) : i64 =", f"  let ys = {{ x * {i + 1} + n : x in xs | x > {i % 7} }} in",
                 f"  let zs = {{ y / {i + 2} : y in ys }}", "  in sum ys + maximum ([0] ++ zs)"]
    text += ["entry main (xs: [i64]) : i64 ="]
    for i in range(lines - len(text) - 1):
        last = f"v{i - 1}" if i else "1"
        call = f"f{i} xs {last}" if i < lines // 8 else f"sum {{ x * {last} + {i} : x in xs }}"
        text += [f"  let v{i} = {call} in"]
    return "\n".join(text + [f"  v{i}"]) + "\n"


def main():
    dpc, *paths = sys.argv[1:]
    here = os.path.dirname(os.path.abspath(__file__))
    paths = paths or sorted(glob.glob(f"{here}/../examples/*/*.dp"))
    with tempfile.TemporaryDirectory() as folder:
        long = os.path.join(folder, "long.dp")
        with open(long, "w") as out:
            out.write(long_program(5000))
        missed = 0
        for path, aim in [(path, 10) for path in paths] + [(long, 2000)]:
            took = min(cpu_ms(dpc, path) for _ in range(RUNS))
            missed += took > aim
            print(f"{took:8.1f} ms{' > ' + str(aim) if took > aim else ''}  {os.path.basename(path)}")
    sys.exit(1 if missed else 0)


main()
