#!/usr/bin/env python3
"""Damages files of values and lets `dpc run --eval=core` read them.

    fuzz_values.py DPC [--seconds S] [--seed N] [--keep FOLDER]

Every file has to be read (status 0), or to be refused with a message (status 1 or 2); any other status, a signal, a
sanitizer's report, or more than 5 seconds is a bug: the file goes to the --keep folder. Equal seeds give equal files.
"""
import argparse
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib

from harness import run

# format: types with a value each
VALUES = {
    "txt": [("[[i64]]", "[[1, 2], []]"), ("[(i64, {x: f64, y: [u8]})]", '[(1, {x = 1.5, y = "ab\\n"})]'),
            ("(#none | #some [bool], u8)", "(#some [true], 'c')"), ("([3]f32, (), i8)", "([1.5, nan, -inf], (), -7)")],
    "npy": [("[f64]", "[1.5, 2.5]"), ("[2][3]i32", "[[1, 2, 3], [4, 5, 6]]"), ("u8", "7"), ("[bool]", "[true]")],
    "dpv": [("[[i16]]", "[[1, 2], [-1]]"), ("[(i64, {x: f64, y: [u8]})]", '[(1, {x = 1.5, y = "ab"})]'),
            ("[#none | #some [bool]]", "[#some [true], #none]"), ("[[[[u8]]]]", '[[["ab"], []], []]')],
    "mtx": [("[[(i64, f64)]]", "[[(0, 1.5)], [], [(2, 2.5)]]"), ("[2][2]f32", "[[1, 2], [3, 4]]"), ("[[(u8, i64)]]", "[[(1, 5)]]")],
    "csv": [("[(i64, f64, [u8])]", '[(1, 2.5, "a,b"), (2, inf, "")]'), ("[{x: i8, y: bool}]", "[{x = 1, y = true}]"), ("[u64]", "[1, 2]")],
    "pgm": [("[2][3]u8", "[[1, 2, 3], [4, 5, 6]]")],
    "ppm": [("[1][2](u8, u8, u8)", "[[(1, 2, 3), (4, 5, 6)]]")],
    "png": [("[2][3]u8", "[[1, 2, 3], [4, 5, 6]]"), ("[1][2](u8, u8, u8)", "[[(1, 2, 3), (4, 5, 6)]]")],
}
PIECES = [b"0", b"-1", b"1e999", b"99999999999999999999", b"4294967296", b"2147483648", b"[", b"]", b"[[[[[[[[", b"(", b")", b"{", b"}", b"\"",
          b"'", b",", b"\n", b"\r", b"\0", b"\xff", b"#", b"%", b"nan", b"--", b"=", b":", b";", b"\\x", b"empty", b"<f8", b"|b1", b">i8",
          b"symmetric", b"skew-symmetric", b"pattern", b"array", b"complex", b"P1", b"P5", b"65535", b"shape", b"True", b"1 1 1\n", b"u8", b"[i64]"]
NUMBERS = [0, 1, 2, 7, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1]


def damage(data, rng):
    data = bytearray(data)
    i = rng.randrange(len(data) + 1)
    kind = rng.randrange(8)
    if kind == 0:
        del data[i:]
    elif kind == 1 and i < len(data):
        data[i] ^= 1 << rng.randrange(8)
    elif kind == 2:
        data[i:i] = rng.choice(PIECES) * rng.choice([1, 1, 1, 50])
    elif kind == 3:
        del data[i:i + rng.randrange(1, 9)]
    elif kind == 4:
        width = rng.choice([1, 2, 4, 8])
        number = rng.choice(NUMBERS) % (1 << 8 * width)
        data[i:i + width] = number.to_bytes(width, rng.choice(["little", "big"]))
    elif kind == 5:
        j = rng.randrange(len(data) + 1)
        data[i:i] = data[min(i, j):max(i, j)]
    elif kind == 6:
        starts = [k for k in range(len(data)) if 48 <= data[k] <= 57]
        if starts:
            k = rng.choice(starts)
            data[k:k + 1] = str(rng.choice(NUMBERS)).encode()
    else:
        data += data[i:]
    return bytes(data)


def with_checksums(data, ending):
    """The checksums put right, so that what lies behind them is read."""
    if ending == "dpv" and len(data) > 4:
        return data[:-4] + struct.pack("<I", zlib.crc32(data[:-4]))
    if ending == "png":
        out, at = data[:8], 8
        while at + 12 <= len(data):
            n = struct.unpack(">I", data[at:at + 4])[0]
            if at + 12 + n > len(data):
                break
            body = data[at + 4:at + 8 + n]
            out += data[at:at + 4] + body + struct.pack(">I", zlib.crc32(body))
            at += 12 + n
        return out + data[at:]
    return data


def make_seeds(dpc, folder):
    seeds = []
    for ending, values in VALUES.items():
        for i, (type_, literal) in enumerate(values):
            program = "%s/%s%d.dp" % (folder, ending, i)
            file = "%s/seed.%s" % (folder, ending)
            with open(program, "w") as f:
                f.write("entry main (x: %s) : %s = x\n" % (type_, type_))
            made = subprocess.run([dpc, "run", "--eval=core", program, literal, "-o", file], capture_output=True)
            if made.returncode:
                if ending == "png" and b"libspng" in made.stderr:
                    continue
                sys.exit("FAILED: %s\n%s" % (literal, made.stderr.decode()))
            with open(file, "rb") as f:
                seeds.append((ending, program, f.read()))
    return seeds


def main():
    options = argparse.ArgumentParser()
    options.add_argument("dpc")
    options.add_argument("--seconds", type=float, default=5)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--keep", default="")
    o = options.parse_args()
    o.dpc = os.path.abspath(o.dpc)
    rng = random.Random(o.seed)
    count, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        seeds = make_seeds(o.dpc, folder)
        end = time.time() + o.seconds
        while time.time() < end:
            ending, program, data = rng.choice(seeds)
            for _ in range(rng.choice([1, 1, 2, 3])):
                data = damage(data, rng)
            if rng.random() < 0.7:
                data = with_checksums(data, ending)
            file = "%s/in.%s" % (folder, ending)
            with open(file, "wb") as f:
                f.write(data)
            _, failure = run([o.dpc, "run", "--eval=core", program, file], (0, 1, 2))
            count += 1
            if failure:
                failed += 1
                print("FAILED: file %d of seed %d (%s): %s" % (count, o.seed, os.path.basename(program), failure), flush=True)
                if o.keep:
                    os.makedirs(o.keep, exist_ok=True)
                    shutil.copy(file, "%s/v%d_%d.%s" % (o.keep, o.seed, count, ending))
                    shutil.copy(program, "%s/v%d_%d_%s.dp" % (o.keep, o.seed, count, ending))
    print("%d files, %d failed" % (count, failed))
    sys.exit(failed > 0)


main()
