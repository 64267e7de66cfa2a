#!/usr/bin/env python3
"""Large inputs for the examples of files, to standard output, the same each time: inputs.py words|trades BYTES"""
import random
import sys


def words(r):
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    vocabulary = ["".join(r.choices(letters, weights=range(26, 0, -1), k=r.randint(1, 10))) for _ in range(20000)]
    weights = [1 / (i + 1) for i in range(len(vocabulary))]
    yield ""
    while True:
        yield " ".join(r.choices(vocabulary, weights=weights, k=12)) + ".\n"


def trades(r):
    symbols = ["".join(r.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ", k=r.randint(1, 4))) for _ in range(500)]
    yield "time,symbol,price,quantity\n"
    time = 1700000000
    while True:
        time += r.randint(0, 2)
        yield f"{time},{r.choice(symbols)},{r.uniform(1, 500):.2f},{r.randint(1, 1000)}\n"


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("words", "trades"):
        sys.exit(__doc__)
    left = int(sys.argv[2])
    lines = {"words": words, "trades": trades}[sys.argv[1]](random.Random(1))
    while left > 0:
        line = next(lines)
        sys.stdout.write(line)
        left -= len(line)


main()
